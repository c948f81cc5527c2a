/* Two profiles compared, function by function: how much slower or faster the new one is, how sure
 * that is, and what is new or gone. Means of what counter 1 counted in a function's own code, by
 * pass or by call (replicates.h), are compared by Welch's t test, and Holm's correction holds the
 * chance of any false alarm among all functions at 5 %. */
#ifndef PROFILER_PROFILE_DIFF_H
#define PROFILER_PROFILE_DIFF_H

#include "profiler/profile/profile.h"
#include "profiler/profile/replicates.h"

/* With fewer passes than this calls are compared. */
enum { DIFF_LEAST_PASSES = 3 };

enum diff_verdict {
    DIFF_UNCLEAR, /* neither a difference nor that there is none is shown */
    DIFF_SAME,    /* within DIFF_SAME_PART, by the interval */
    DIFF_SLOWER,
    DIFF_FASTER,
    DIFF_NEW,
    DIFF_GONE
};

/* The part of the old mean that is no difference: 1 %. */
#define DIFF_SAME_PART 0.01

struct diff_result {
    double change; /* of the mean, as a part of the old one; infinite if that was 0 */
    double spread; /* the 95 % interval is change +- spread; NAN: not known */
    double chance; /* of such a difference without a cause, after Holm; NAN: not known */
    bool exact;    /* the same in all replicates, on both sides */
    enum diff_verdict verdict;
};

struct diff_row {
    const struct profile_function *was, *is; /* NULL: new, gone */
    struct moments of[2];                    /* old, new; n 0: the mean of a sum, or nothing */
    double dcpi;   /* difference of shares over their sum, -1 to 1, as DCPI's dcpidiff */
    double weight; /* for sorting: the part of the profile that the change is, at most */
    struct diff_result result;
};

/* One of the two. */
struct diff_side {
    const struct profile *profile;
    const char *name; /* for messages */
    /* by function of the profile; NULL: not known, sums only */
    const struct replicate *replicate;
    uint64_t passes;
};

struct diff {
    struct diff_row *row; /* by weight, the heaviest first */
    size_t n;
    bool by_pass;      /* else by call */
    bool by_run;       /* how many calls there were is not known: sums of the run */
    double change;     /* of the total: by pass; else of all calls, NAN where not comparable */
    double total[2];   /* C1 by pass, or of the run */
    bool sums_only[2]; /* no replicates: verdicts are unclear */
};

/* diff_compare - two sets of replicates; chance is not corrected yet, and the verdict is without
 * it. */
void diff_compare(const struct moments *was, const struct moments *is, struct diff_result *out);

/* diff_judge - corrects the chances of n comparisons by Holm and gives each its verdict.
 * Returns 0 or -ERR_NOMEM. */
int diff_judge(struct diff_result *const *result, size_t n, struct err *err);

/* diff_make - functions are the same if their names are (profile_shown_name())
 * out    zeroed; borrows both sides until diff_fini()
 * Returns 0; -ERR_USAGE: they counted other things, or are samples; -ERR_NOMEM. */
int diff_make(const struct diff_side side[2], struct diff *out, struct err *err);

/* diff_fini - frees; a zeroed struct is fine. */
void diff_fini(struct diff *d);

#endif
