#include "profiler/views/report_columns.h"

#include <stddef.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

struct column_row {
    const char *name; /* NULL: a heading */
    const char *text; /* what is behind \n stands below the first line's */
};

static const struct column_row rows[] = {
    { NULL, "In every table of a profile; the names of report --columns, case apart" },
    { "hits", "times it was entered; of --sample: how often it was found running" },
    { "hits%", "its part of all hits" },
    { "C1", "what counter 1 counted in its own code, without what it called" },
    { "C1%", "its part of all that counter 1 counted; 100 % is what was seen" },
    { "C1+ch", "C1 with all that it called; a function below itself counts once" },
    { "C1+ch%", "its part of all that counter 1 counted" },
    { "C2", "what counter 2 counted in its own code" },
    { "C2%", "its part of all that counter 2 counted" },
    { "C2+ch", "C2 with all that it called" },
    { "C2+ch%", "its part of all that counter 2 counted" },
    { "cache", "the line of SH-4's instruction cache that the function begins in" },
    { "?%", "how much of it at most may belong to a neighbour" },
    { "?", "in front of a name: some of it may" },
    { "!", "in front of a name: it meets a threshold of --hot or --fail-if-any" },
    { "*", "in front of a name: tagged in probeprof.marks" },
    { "+-%", "of an estimated C1: the true one is within that, 95 times in 100" },
    { "seen%", "its part of C1 without what was counted while events were lost" },
    { "C1+-", "with losses: seen% is right within so many points, 95 times in 100" },
    { "hits+-", "the same of hits%" },
    { "smp%", "of a sampled run beside it: its part of those samples; >: C1% is more" },
    { "smp+-", "smp% is right within so many points, 95 times in 100" },
    { "+-", "of samples: hits% is right within so many points, 95 times in 100" },
    { "function", "its name, with its file where several have that name" },
    { NULL, "report --callers, --callees" },
    { "%", "of C1+ch: its part of that of the function that was asked for" },
    { "caller", "(begins here): nobody called it, or nobody saw it" },
    { "called", "(itself): its own code, without what it called" },
    { NULL, "report --live" },
    { "calls", "that were seen from entry to end, without loss or doubt" },
    { "cut", "the others: they are in no sum of these columns" },
    { "live", "what counter 1 counted from entry to end, whatever ran meanwhile" },
    { "work", "what it counted in the function's own code" },
    { "least", "live of the shortest call" },
    { "mean", "live of all calls by their number" },
    { "most", "live of the longest call" },
    { "spread", "calls by their live time, least to most; # is the highest" },
    { NULL, "report --prof, --gprof" },
    { "cum", "C1 or seconds of this row and of those above it" },
    { "seconds", "the samples by their rate" },
    { "C1/call", "C1 by calls; ms/call, of samples: not known" },
    { "<1>", "behind a name: the number of its cycle" },
    { "index", "a function's number; its callers are above, what it called is below" },
    { "charged", "by the number of calls, as gprof does it, to callers" },
    { "measured", "what was counted on these call paths; behind a *: much more or less" },
    { "below", "what the function called took" },
    { "calls", "by this one / by all others; + by the function itself" },
    { NULL, "annotate" },
    { "calls", "made from there" },
    { "C1+ch", "what they took; where the function calls itself through there, once" },
    { "C2+ch", "the same of counter 2" },
    { "count", "how often an S12Z executed it; of a line the highest of its own" },
    { "taken", "how often the branch was taken" },
    { "samples", "how often the program was found at this instruction" },
    { "%", "the samples' part of those of the function" },
    { "from", "where a stretch began: behind an event" },
    { "to", "the event that ended it" },
    { "times", "how often the program went that way" },
};

void report_columns_text(const struct text_sink *out)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].name)
            sink_printf(out, "  %-8s %s\n", rows[i].name, rows[i].text);
        else
            sink_printf(out, "%s%s:\n", text_if(i, "\n"), rows[i].text);
}
