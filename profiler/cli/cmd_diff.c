/* `probeprof diff`: what a change to the program changed in its profile. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/command.h"
#include "profiler/cli/input.h"
#include "profiler/cli/report_marks.h"
#include "profiler/cli/view.h"
#include "profiler/profile/naming.h"
#include "profiler/views/report_diff.h"

enum { DIFF_OPT_MARKS, DIFF_OPT_FAIL, DIFF_OPT_FROM, DIFF_OPT_LIMIT, DIFF_OPT_JSON, DIFF_OPT_HELP };

static const struct opt diff_opts[] = {
    { "fail-if", 0, "slower[:N%]", "exit 1 if a function is surely slower, by N % or more",
      DIFF_OPT_FAIL },
    { "from", 0, "FORMAT", "what a file that is no recording is: `help convert`", DIFF_OPT_FROM },
    { "marks", 0, "F",
      "names and groups of functions in both; default: probeprof.marks beside each ELF",
      DIFF_OPT_MARKS },
    { "limit", 0, "N", "the N most important rows only", DIFF_OPT_LIMIT },
    { "json", 0, NULL, "print one JSON document", DIFF_OPT_JSON },
    { "help", 'h', NULL, "this text", DIFF_OPT_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

/* One of the two files. */
struct diff_file {
    struct capture capture;
    struct profile *profile;
    struct symbols *symbols;
    struct replicates replicates;
    struct replicate *of; /* by function of the profile */
};

struct diffing {
    struct cli *cli;
    const char *name[2];
    const char *from;  /* NULL: by content */
    const char *marks; /* "off": none; NULL: those beside each ELF */
    unsigned long limit;
    bool json, fails;
    double least; /* part of the old mean from which it fails */
    struct diff_file file[2];
    struct diff diff;
};

static int take_fail_if(struct diffing *d, const char *value, struct err *err)
{
    static const char word[] = "slower";
    char *end = NULL;
    d->fails = true;
    d->least = 0;
    if (strcmp(value, word) == 0)
        return 0;
    if (strncmp(value, "slower:", sizeof word) == 0 && strchr("0123456789", value[sizeof word]))
        d->least = strtod(value + sizeof word, &end) / 100;
    if (end && end != value + sizeof word && strcmp(end, "%") == 0 && isfinite(d->least))
        return 0;
    return err_set(err, ERR_USAGE, "--fail-if slower:5%", "--fail-if: \"%s\" is not slower:N%%",
                   value);
}

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    struct diffing *d = ctx;
    switch (id) {
    case DIFF_OPT_FAIL: return take_fail_if(d, value, err);
    case DIFF_OPT_MARKS: d->marks = value; return 0;
    case DIFF_OPT_FROM: d->from = value; return 0;
    case DIFF_OPT_LIMIT: return opt_count("--limit", value, 1, 1000000, &d->limit, err);
    case DIFF_OPT_JSON: d->json = true; return 0;
    default: return 0;
    }
}

/* ---- files ---- */

static long function_of(void *ctx, uint32_t node)
{
    const struct diff_file *f = ctx;
    size_t n;
    const struct calltree_node *all = calltree_nodes(f->capture.tree, &n);
    if (!f->capture.symbols || node >= n || !naming_is_plain(&all[node]))
        return -1;
    return symbols_find(f->capture.symbols, all[node].addr);
}

/* From the symbols' numbers to the profile's. */
static int sort_replicates(struct diff_file *f, struct err *err)
{
    replicates_end(&f->replicates);
    f->of = calloc(f->profile->nfunctions + 1, sizeof *f->of);
    if (!f->of || f->replicates.failed)
        return err_set(err, ERR_NOMEM, "close other programs", "diff: out of memory");
    for (size_t i = 0; i < f->profile->nfunctions; i++) {
        const struct profile_function *is = &f->profile->functions[i];
        long s = -1;
        if (is->high > is->low)
            s = symbols_find(f->symbols, profile_place(is));
        if (s >= 0 && (size_t)s < f->replicates.n)
            f->of[i] = f->replicates.of[s];
    }
    return 0;
}

/* is: what it is, by input_kinds(). */
static int read_file(const struct diffing *d, const char *path, const struct importer *is,
                     struct diff_file *f, struct diff_side *out, struct err *err)
{
    struct cli *cli = d->cli;
    int ret = is ? input_profile(cli, path, is->name, NULL, &f->profile, &f->symbols, err)
                 : input_watched(cli, &path, 1, NULL, &f->capture, &f->profile, &f->symbols, err);
    if (ret == 0)
        ret = report_marks_partly(cli, d->marks, f->profile, f->symbols, err);
    if (ret < 0)
        return ret;
    *out = (struct diff_side){ .profile = f->profile, .name = path };
    /* an estimated counter is corrected as a whole, not pass by pass */
    if (is || !f->symbols || f->capture.rates.given)
        return 0;
    ret = sort_replicates(f, err);
    out->replicate = f->of;
    out->passes = f->replicates.passes;
    return ret;
}

static void close_file(struct diff_file *f)
{
    free(f->of);
    profile_free(f->profile);
    capture_close(&f->capture);
    symbols_close(f->symbols);
    replicates_fini(&f->replicates);
}

/* ---- the answer ---- */

static int fail_if_slower(const struct diffing *d, struct err *err)
{
    size_t n = 0;
    const struct diff_row *worst = NULL;
    for (size_t i = 0; d->fails && i < d->diff.n; i++) {
        const struct diff_row *r = &d->diff.row[i];
        if (r->result.verdict != DIFF_SLOWER || r->result.change < d->least)
            continue;
        worst = EITHER(worst, r);
        n++;
    }
    if (!worst)
        return 0;
    return err_set(err, ERR_STATE, "the rows that say \"slower\" are above",
                   "%zu function%s slower: %s%s", n, n == 1 ? " is" : "s are",
                   profile_shown_name(worst->is), text_if(n > 1, " and others"));
}

static int compare_files(struct diffing *d, struct err *err)
{
    struct diff_side side[2];
    struct text_sink out = file_sink(d->cli->out);
    const struct report_options o = { .limit = d->limit };
    const struct importer *is[2];
    int ret = input_kinds(d->name, 2, d->from, is, err);
    for (int i = 0; ret == 0 && i < 2; i++)
        ret = read_file(d, d->name[i], is[i], &d->file[i], &side[i], err);
    if (ret == 0)
        ret = diff_make(side, &d->diff, err);
    if (ret < 0)
        return ret;
    if (d->json)
        report_diff_json(&d->diff, side, &out);
    else
        report_diff(&d->diff, side, &o, &out);
    return fail_if_slower(d, err);
}

static int run_diff(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct diffing d = { .cli = cli };
    int ret = opts_parse(diff_opts, argc, argv, take_option, &d, d.name, 2, err);
    if (ret >= 0 && ret < 2)
        ret = err_set(err, ERR_USAGE, "probeprof diff old.rec new.rec",
                      "diff needs two files: the old one and the new one");
    if (ret > 0 && d.json && d.limit)
        ret = err_set(err, ERR_USAGE, "leave it out", "--limit has no effect with --json");
    if (ret < 0)
        return ret;
    for (int i = 0; i < 2; i++) {
        replicates_init(&d.file[i].replicates, function_of, &d.file[i]);
        d.file[i].capture.watch = &d.file[i].replicates.watch;
    }
    ret = compare_files(&d, err);
    for (int i = 0; i < 2; i++)
        close_file(&d.file[i]);
    diff_fini(&d.diff);
    return ret;
}

const struct command command_diff = {
    "diff",
    "diff OLD NEW [OPTIONS]",
    "compare two profiles: slower, faster, new, gone",
    diff_opts,
    "OLD and NEW are recordings, of any builds of a program, or other files\n"
    "that convert reads. Of recordings the means of what counter 1 counted in each\n"
    "function's own code are compared: by pass if both have three or more and nothing\n"
    "was lost, else by call. There is the change, its 95 % interval, and a verdict;\n"
    "of twenty comparisons of equal programs one at most has a false one. \"exact\":\n"
    "each pass or call took the same. \"same\": within 1 %. Other files have sums only,\n"
    "which say how large a change is and not how sure. DCPI is the difference of the\n"
    "shares over their sum, from -1 (gone) to 1 (new).\n\n"
    "Examples:\n"
    "  probeprof diff before.rec after.rec\n"
    "  probeprof diff before.rec after.rec --fail-if slower:5%\n",
    run_diff,
};
