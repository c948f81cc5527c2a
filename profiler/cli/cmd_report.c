#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/command.h"
#include "profiler/cli/input.h"
#include "profiler/cli/outputs.h"
#include "profiler/cli/replay.h"
#include "profiler/cli/report_marks.h"
#include "profiler/cli/saved_page.h"
#include "profiler/cli/settings.h"
#include "profiler/cli/useless.h"
#include "profiler/cli/view.h"
#include "profiler/core/file_atomic.h"
#include "profiler/profile/watched.h"
#include "profiler/views/report_calls.h"
#include "profiler/views/report_live.h"
#include "profiler/views/report_prof.h"

enum {
    OPT_CALLERS = SET_COUNT,
    OPT_CALLEES,
    OPT_FUNCTION,
    OPT_LIMIT,
    OPT_MARKS,
    OPT_LIVE,
    OPT_PROF,
    OPT_GPROF,
    OPT_COLUMNS,
    OPT_HOT,
    OPT_FAIL,
    OPT_SHOW,
    OPT_TAG,
    OPT_UNTAG,
    OPT_UNTAG_ALL,
    OPT_FROM,
    OPT_HTML
};

static const struct opt report_opts[] = {
    { "elf", 'e', "E", "ELF to name the functions of a recording with", SET_ELF },
    { "from", 0, "FORMAT", "what FILE is, where its content does not tell: `help convert`",
      OPT_FROM },
    { "output", 'o', "F.prf", "write the profile in CodeScape's format; F.json: in JSON",
      SET_OUTPUT },
    { "json", 0, NULL, "print the profile as one JSON document", SET_JSON },
#define SETTING SETTING_OPT
#include "profiler/cli/settings_view.def"
#undef SETTING
    { "callers", 0, "F", "show who called the function F, and what F took for each", OPT_CALLERS },
    { "callees", 0, "F", "show what F called, and what that took", OPT_CALLEES },
    { "live", 0, NULL,
      "show how long functions live: calls, live, work, least, mean, most; of a bridge with "
      "--watch",
      OPT_LIVE },
    { "prof", 0, NULL, "show prof's list: share, running sum, C1 (of samples: seconds), calls",
      OPT_PROF },
    { "gprof", 0, NULL, "show gprof's graph: what it charges to callers, and what was measured",
      OPT_GPROF },
    { "function", 0, "RE", "show only functions whose name matches, and call paths to them",
      OPT_FUNCTION },
    { "limit", 0, "N", "show the first N rows", OPT_LIMIT },
    { "columns", 0, "LIST",
      "of functions or the tree, in that order: hits,c1%,c1+ch (`help columns`)", OPT_COLUMNS },
    { "hot", 0, "WHICH",
      "mark rows with !, in colour on a terminal, by any column: 'c1>=10%', 'hits>100'; may be "
      "given many times",
      OPT_HOT },
    { "fail-if-any", 0, "WHICH", "the same, and exit 1 if there is one; may be given many times",
      OPT_FAIL },
    { "marks", 0, "F",
      "tags, names and groups of functions; default: probeprof.marks beside the ELF", OPT_MARKS },
    { "tag", 0, "WHICH",
      "tag functions in that file: a name, or '/EXPRESSION/'; may be given many times", OPT_TAG },
    { "untag", 0, "WHICH", "take their tags away; may be given many times", OPT_UNTAG },
    { "untag-all", 0, NULL, "take all tags away", OPT_UNTAG_ALL },
    { "show", 0, "WHICH", "tagged or untagged functions only, and call paths to them; default all",
      OPT_SHOW },
    { "html", 0, "F.html",
      "write the page with the profile in it: one file for any browser, without a server",
      OPT_HTML },
    { "help", 'h', NULL, "this text", SET_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

struct report {
    struct cli *cli;
    struct settings set;
    const char *calls[2]; /* --callers, --callees; NULL: not asked for */
    bool live, prof, gprof;
    const char *html;     /* --html; NULL: not asked for */
    const char *other;    /* an option that is there, and that --html has no use for */
    const char *matching; /* --function */
    regex_t function;     /* compiled, if there is one */
    unsigned long limit;
    struct cell_list columns; /* n 0: not said */
    struct hot_list hot;
    struct hot_failures failures;
    const char *from;  /* NULL: by content */
    const char *marks; /* "off": none; NULL: those beside the ELF */
    struct report_edits edits;
    int show; /* enum report_show */
    const char **path;
    struct profile *p;
    struct symbols *syms;
};

/* ---- options ---- */

static int compile_pattern(struct report *r, const char *text, struct err *err)
{
    char why[128];
    if (r->matching)
        return err_set(err, ERR_USAGE, "one expression with both: 'one|other'",
                       "--function is given twice");
    int ret = regcomp(&r->function, text, REG_EXTENDED | REG_NOSUB);
    if (ret) {
        regerror(ret, &r->function, why, sizeof why);
        return err_set(err, ERR_USAGE, "an extended regular expression: '^sort_', 'crc|sum'",
                       "--function %.80s: %s", text, why);
    }
    r->matching = text;
    return 0;
}

static const char *option_name(int id)
{
    const struct opt *o = report_opts;
    while (o->name && o->id != id)
        o++;
    return o->name;
}

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    struct report *r = ctx;
    if (id != OPT_HTML && id != SET_ELF && id != OPT_FROM && id != OPT_MARKS)
        r->other = option_name(id);
    switch (id) {
    case OPT_CALLERS:
    case OPT_CALLEES:
        if (r->calls[id - OPT_CALLERS])
            return err_set(err, ERR_USAGE, "one function at a time", "--%s is given twice",
                           option_name(id));
        r->calls[id - OPT_CALLERS] = value;
        return 0;
    case OPT_FUNCTION: return compile_pattern(r, value, err);
    case OPT_MARKS: r->marks = value; return 0;
    case OPT_LIVE: r->live = true; return 0;
    case OPT_PROF: r->prof = true; return 0;
    case OPT_GPROF: r->gprof = true; return 0;
    case OPT_SHOW: return opt_word("show", value, "all tagged untagged", &r->show, err);
    case OPT_TAG: return report_marks_edit(&r->edits, MARKS_TAG, value, err);
    case OPT_UNTAG: return report_marks_edit(&r->edits, MARKS_UNTAG, value, err);
    case OPT_UNTAG_ALL: return report_marks_edit(&r->edits, MARKS_UNTAG_ALL, NULL, err);
    case OPT_HOT: return hot_add(&r->hot, "--hot", value, false, err);
    case OPT_FAIL: return hot_add(&r->hot, "--fail-if-any", value, true, err);
    case OPT_HTML: r->html = value; return 0;
    case OPT_COLUMNS: return cell_list_parse(value, &r->columns, err);
    case OPT_FROM: r->from = value; return 0;
    case OPT_LIMIT: return opt_count("limit", value, 1, 1000000000, &r->limit, err);
    default: return settings_set(&r->set, (enum setting)id, ORIGIN_FLAG, value, err);
    }
}

static bool shows_calls(const struct report *r) { return r->calls[0] || r->calls[1]; }

/* What is shown, and options that have nothing to say of it. */
enum shown {
    SHOWN_JSON = 1 << 0,
    SHOWN_LIVE = 1 << 1,
    SHOWN_CALLS = 1 << 2,
    SHOWN_ALL = 1 << 3,
    SHOWN_PROF = 1 << 4
};

/* The first option that is given and that this has no use for, or NULL. */
static const char *first_useless(const struct report *r, enum shown shown)
{
    const bool fails = r->hot.n && r->hot.of[0].fails;
    const struct {
        const char *name;
        bool given;
        unsigned useless; /* enum shown */
    } rows[] = {
        { "callers or --callees", shows_calls(r), SHOWN_LIVE | SHOWN_PROF },
        { "live", r->live, SHOWN_PROF },
        { "gprof", r->prof && r->gprof, SHOWN_PROF },
        { "output", *r->set.output, SHOWN_LIVE },
        { "function", r->matching, SHOWN_JSON | SHOWN_CALLS },
        { "limit", r->limit, SHOWN_JSON },
        { "columns", r->columns.n, SHOWN_JSON | SHOWN_LIVE | SHOWN_CALLS | SHOWN_PROF },
        { "hot", r->hot.n && !fails, SHOWN_LIVE | SHOWN_CALLS | SHOWN_PROF },
        { "fail-if-any", fails, SHOWN_LIVE | SHOWN_CALLS | SHOWN_PROF },
        { "show", r->show, SHOWN_LIVE | SHOWN_CALLS | SHOWN_ALL | SHOWN_PROF },
        { "marks", r->marks, SHOWN_LIVE },
        { "from", r->from, SHOWN_LIVE },
        { "tag, --untag, --untag-all", r->edits.n, SHOWN_LIVE },
        { "tree", r->set.tree, SHOWN_LIVE | SHOWN_CALLS | SHOWN_PROF },
        { "all", r->set.all, SHOWN_LIVE | SHOWN_CALLS | SHOWN_PROF },
        { "hits", r->set.origin[SET_HITS], SHOWN_LIVE | SHOWN_PROF },
        { "sort", r->set.origin[SET_SORT], SHOWN_LIVE | SHOWN_PROF },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].given && rows[i].useless & shown)
            return rows[i].name;
    return NULL;
}

/* What is given and has no effect. */
static int refuse_useless(const struct report *r, struct err *err)
{
    const struct {
        bool is;
        enum shown shown;
        const char *why;
    } rows[] = {
        { r->set.json, SHOWN_JSON, "--json has all rows and columns: it has" },
        { r->prof, SHOWN_PROF, "--prof has" },
        { r->gprof, SHOWN_PROF, "--gprof has" },
        { r->live, SHOWN_LIVE, "--live has" },
        { shows_calls(r), SHOWN_CALLS,
          "--callers and --callees show one function, in columns of their own: they have" },
        { r->set.all, SHOWN_ALL,
          "--all lists functions that never ran, which marks do not reach: it has" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *other = NULL;
        if (rows[i].is)
            other = first_useless(r, rows[i].shown);
        if (other)
            return err_set(err, ERR_USAGE, "leave one of them out", "%s no use for --%s",
                           rows[i].why, other);
    }
    if (shows_calls(r) && r->set.sort == REPORT_SORT_CACHE_LINE)
        return err_set(err, ERR_USAGE, "sort by hits, c1, c1+children, c2, c2+children, name",
                       "callers and callees have no column for cache lines");
    if (r->edits.n && r->marks && !strcmp(r->marks, "off"))
        return err_set(err, ERR_USAGE, "leave it out, or name a file",
                       "--tag, --untag and --untag-all change the file that --marks off does "
                       "without");
    return 0;
}

/* ---- showing ---- */

static int check_show(const struct report *r, const struct report_options *o, struct err *err)
{
    const struct report_options by_tag = { .show = o->show };
    for (size_t i = 0; i < r->p->nfunctions; i++)
        if (report_wants(&by_tag, &r->p->functions[i]))
            return 0;
    switch (o->show) {
    case REPORT_SHOW_TAGGED:
        return err_set(err, ERR_NOT_FOUND, "tag some: --tag NAME",
                       "--show: no function of this profile is tagged");
    case REPORT_SHOW_UNTAGGED:
        return err_set(err, ERR_NOT_FOUND, "leave --show out",
                       "--show: every function of this profile is tagged");
    default: return 0;
    }
}

static int check_matches(const struct report *r, const struct report_options *o, struct err *err)
{
    if (!o->function)
        return 0;
    for (size_t i = 0; i < r->p->nfunctions; i++)
        if (report_wants(o, &r->p->functions[i]))
            return 0;
    for (size_t i = 0; o->all && r->syms && i < symbols_nfunctions(r->syms); i++)
        if (regexec(o->function, symbols_function(r->syms, i)->name, 0, NULL, 0) == 0)
            return 0;
    return err_set(err, ERR_USAGE, "without --function all are listed",
                   "--function %.80s: no function of this profile has such a name", r->matching);
}

static int show_calls(struct report *r, const struct report_options *o, struct err *err)
{
    struct text_sink sink = file_sink(r->cli->out);
    uint32_t function[2] = { PROFILE_NO_PARENT, PROFILE_NO_PARENT };
    int ret = 0;
    if (r->p->type == PROFILE_STATISTICAL)
        return err_set(err, ERR_USAGE, "profile without --sample",
                       "--callers, --callees: samples do not know who called: there are none");
    for (int side = 0; side < 2 && ret == 0; side++)
        if (r->calls[side])
            ret = calls_find(r->p, r->calls[side], &function[side], err);
    if (ret < 0)
        return ret;
    if (r->set.json)
        return report_calls_json(r->p, function, &sink, err);
    report_header(r->p, o, &sink);
    ret = report_calls(r->p, function, o, &sink, err);
    if (ret == 0)
        report_summary(r->p, o, &sink);
    return ret;
}

/* Functions that were never hit are the program's, or a file's that lists them. */
static int check_all(const struct report *r, const struct report_options *o, struct err *err)
{
    if (!o->all || o->symbols)
        return 0;
    for (size_t i = 0; i < r->p->nfunctions; i++)
        if (!r->p->functions[i].hits)
            return 0;
    return err_set(err, ERR_USAGE, "give a recording, and its ELF",
                   "--all: the program is not known here, and all functions of the file were hit");
}

/* What asks for numbers that the file does not tell. */
static int check_known(const struct report *r, const struct report_options *o, struct err *err)
{
    const char *what = NULL;
    if (o->sort == REPORT_SORT_HITS)
        what = "--sort hits";
    else if (r->set.origin[SET_HITS])
        what = "--hits";
    if (what && !profile_knows(r->p, PROFILE_HITS))
        return err_set(err, ERR_USAGE, "leave it out",
                       "%s: how often functions were called is not known in this file", what);
    bool children = o->sort == REPORT_SORT_C1_CHILDREN || o->sort == REPORT_SORT_C2_CHILDREN;
    if (children && r->set.origin[SET_SORT] && !profile_knows(r->p, PROFILE_CHILDREN))
        return err_set(
            err, ERR_USAGE, "--sort c1",
            "--sort: what functions took with all they called is not known in this file");
    return 0;
}

/* Samples beside a trace are columns of the table of functions, and members of JSON's. */
static int check_sampled(const struct report *r, struct err *err)
{
    const struct {
        bool given;
        const char *name;
    } useless[] = {
        { r->gprof, "--gprof" },
        { r->prof, "--prof" },
        { shows_calls(r), "--callers and --callees" },
        { r->set.tree, "--tree" },
    };
    if (!r->p->sampled.total)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(useless); i++)
        if (useless[i].given)
            return err_set(err, ERR_USAGE, "leave the samples, or the option, out",
                           "samples beside a trace are of functions: %s has no use for them",
                           useless[i].name);
    return 0;
}

static int show_prof_json(const struct report *r, const struct text_sink *sink, struct err *err)
{
    if (r->prof)
        return report_prof_json(r->p, sink, err);
    return report_gprof_json(r->p, sink, err);
}

/* As prof and gprof show theirs. */
static int show_prof(const struct report *r, const struct report_options *o, struct err *err)
{
    struct text_sink sink = file_sink(r->cli->out);
    int ret;
    if (r->set.json)
        return show_prof_json(r, &sink, err);
    if (r->prof)
        ret = report_prof(r->p, o, &sink, err);
    else
        ret = report_gprof(r->p, o, &sink, err);
    if (ret == 0) {
        sink_printf(&sink, "\n");
        report_summary(r->p, o, &sink);
    }
    return ret;
}

/* NULL: --function is not there. */
static const regex_t *function_pattern(const struct report *r)
{
    if (r->matching)
        return &r->function;
    return NULL;
}

static int show_report(struct report *r, struct err *err)
{
    struct report_options o = view_options(&r->set, r->syms, r->cli->out);
    struct text_sink sink = file_sink(r->cli->out);
    o.limit = r->limit;
    if (shows_calls(r) && !r->set.origin[SET_SORT])
        o.sort = REPORT_SORT_C1_CHILDREN;
    o.function = function_pattern(r);
    o.columns = r->columns;
    o.hot = r->hot;
    o.failures = &r->failures;
    o.show = (enum report_show)r->show;
    int ret = check_show(r, &o, err);
    if (ret == 0)
        ret = check_matches(r, &o, err);
    if (ret == 0)
        ret = check_known(r, &o, err);
    if (ret == 0)
        ret = check_all(r, &o, err);
    if (ret == 0)
        ret = check_sampled(r, err);
    if (ret == 0)
        ret = report_check_columns(r->p, &o, r->set.tree, err);
    if (ret < 0)
        return ret;
    if (shows_calls(r))
        return show_calls(r, &o, err);
    if (r->prof || r->gprof)
        return show_prof(r, &o, err);
    if (!r->set.json)
        report_header(r->p, &o, &sink);
    return view_exporter(&r->set)->write(r->p, &o, &sink, err);
}

static int check_live(const struct report *r, struct err *err)
{
    if (r->p->type == PROFILE_STATISTICAL)
        return err_set(err, ERR_USAGE, "profile without --sample",
                       "--live: samples do not know when a function was entered");
    if (r->p->watched)
        return 0;
    return err_set(err, ERR_UNSUPPORTED,
                   "start the bridge with --watch, or give a recording of it: --record F",
                   "--live: %s does not watch how long calls take", r->path[0]);
}

/* Of one run, since an activation has to be followed from its beginning to its end. */
static int show_live(struct report *r, size_t n, struct err *err)
{
    struct text_sink sink = file_sink(r->cli->out);
    struct report_options o = { .limit = r->limit, .function = function_pattern(r) };
    int ret = input_profile_watched(r->cli, r->path, n, r->set.elf, &r->p, &r->syms, err);
    if (ret == 0)
        ret = check_live(r, err);
    if (ret < 0)
        return ret;
    if (r->set.json) {
        report_live_json(r->p, &sink);
        return 0;
    }
    report_header(r->p, &o, &sink);
    report_live(r->p, &o, &sink);
    return 0;
}

static int fail_if_any(const struct report *r, struct err *err)
{
    char conditions[100];
    const size_t n = r->failures.n;
    const char *rows = "function";
    if (r->set.tree)
        rows = "call path";
    if (!n)
        return 0;
    hot_text(&r->hot, true, conditions, sizeof conditions);
    return err_set(err, ERR_STATE, "they are marked ! above; --json has \"hot\"",
                   "%zu %s%s by %s: %s%s", n, rows, n == 1 ? " fails" : "s fail", conditions,
                   r->failures.names, text_if(n > HOT_NAMED, ", ..."));
}

/* The page has every view, and asks which of them itself. */
static int save_page(struct report *r, size_t n, struct err *err)
{
    const char *elf = text_given(r->set.elf);
    if (r->other)
        return err_set(err, ERR_USAGE, "leave one of them out", "--html has no use for --%s",
                       r->other);
    if (n > 1)
        return err_set(err, ERR_USAGE, "name one file", "--html shows one file, and %zu are named",
                       n);
    if (file_same(r->html, r->path[0]))
        return err_set(err, ERR_USAGE, "name another file", "--html %s is the file that is read",
                       r->html);
    int ret = file_writable(r->html, err);
    if (ret < 0)
        return err_prefix(err, ret, "--html");
    return saved_page_write(r->cli, r->path[0], r->from, elf, r->marks, r->html, err);
}

static int report_paths(struct report *r, int argc, char **argv, struct err *err)
{
    int n = opts_parse(report_opts, argc, argv, take_option, r, r->path, (size_t)argc, err);
    if (n < 0)
        return n;
    if (n == 0)
        return err_set(err, ERR_USAGE, "probeprof report run.prf",
                       "report needs a recording, or another file with a profile");
    if (r->html)
        return save_page(r, (size_t)n, err);
    int ret = useless_view(&r->set, err);
    if (ret == 0)
        ret = refuse_useless(r, err);
    if (ret == 0 && r->live)
        return show_live(r, (size_t)n, err);
    for (int i = 0; ret == 0 && i < n; i++)
        ret = outputs_check(&r->set, r->path[i], err);
    if (ret == 0)
        ret = input_profiles(r->cli, r->path, (size_t)n, r->from, r->set.elf, &r->p, &r->syms, err);
    if (ret == 0)
        ret = report_marks(r->cli, &r->set, r->marks, &r->edits, r->p, r->syms, err);
    if (ret == 0)
        ret = show_report(r, err);
    if (ret == 0 && *r->set.output)
        ret = view_save(r->set.output, r->p, err);
    if (ret == 0)
        ret = fail_if_any(r, err);
    return ret;
}

static int run_report(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct report r = { .cli = cli, .path = calloc((size_t)argc, sizeof *r.path) };
    if (!r.path)
        return err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    int ret = report_paths(&r, argc, argv, err);
    if (r.matching)
        regfree(&r.function);
    profile_free(r.p);
    symbols_close(r.syms);
    free(r.path);
    return ret;
}

const struct command command_report = {
    "report",
    "report FILE... [OPTIONS]",
    "show a profile from a recording or another file again",
    report_opts,
    "FILE is a recording, a .prf, or of a format that convert reads, or the\n"
    "address of a running bridge.\n"
    "Recordings of several runs of one build are added up; what was recorded with\n"
    "--sample stands beside a trace of that build, in columns of its own.\n"
    "`probeprof help columns` says what the columns mean.\n\n"
    "Examples:\n"
    "  probeprof report run.prf --tree\n"
    "  probeprof report run.rec --callers MallocNode --callees main\n"
    "  probeprof report run.rec --gprof --function GetNewNode\n"
    "  probeprof report run.rec --function '^Get' --sort hits --limit 10\n"
    "  probeprof report run.rec --columns c1,c1+ch,c1+ch%,hits\n"
    "  probeprof report run.rec --hot 'c1+ch>=10%' --tree\n"
    "  probeprof report run.rec --tag '/^Get/' --show tagged\n"
    "  probeprof report run.rec samples.rec\n"
    "  probeprof report run.rec --html run.html\n",
    run_report,
};
