/* `probeprof annotate`: the source lines and instructions of a recording's functions beside what
 * was measured on them. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/annotate.h"
#include "profiler/cli/annotate_bridge.h"
#include "profiler/cli/command.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/input.h"
#include "profiler/cli/input_url.h"
#include "profiler/cli/report_marks.h"
#include "profiler/cli/view.h"
#include "profiler/views/json_writer.h"

enum {
    ANNOTATE_OPT_SOURCE,
    ANNOTATE_OPT_ASM,
    ANNOTATE_OPT_BOTH,
    ANNOTATE_OPT_LIMIT,
    ANNOTATE_OPT_ELF,
    ANNOTATE_OPT_DIR,
    ANNOTATE_OPT_MARKS,
    ANNOTATE_OPT_JSON,
    ANNOTATE_OPT_HELP
};

static const struct opt annotate_opts[] = {
    { "both", 0, NULL, "instructions by address, under their source lines; default",
      ANNOTATE_OPT_BOTH },
    { "source", 0, NULL, "source lines only", ANNOTATE_OPT_SOURCE },
    { "asm", 0, NULL, "instructions only", ANNOTATE_OPT_ASM },
    { "limit", 0, "N", "the N heaviest functions only", ANNOTATE_OPT_LIMIT },
    { "elf", 'e', "E", "ELF to name the functions with", ANNOTATE_OPT_ELF },
    { "source-dir", 0, "OLD=NEW", "sources whose names begin with OLD are at NEW",
      ANNOTATE_OPT_DIR },
    { "marks", 0, "F", "names of functions; default: probeprof.marks beside the ELF",
      ANNOTATE_OPT_MARKS },
    { "json", 0, NULL, "print one JSON document", ANNOTATE_OPT_JSON },
    { "help", 'h', NULL, "this text", ANNOTATE_OPT_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

struct annotating {
    struct cli *cli;
    struct annotate show;
    const char *elf;
    const char *marks;   /* "off": none; NULL: those beside the ELF */
    const char *name[2]; /* FILE, WHERE */
    unsigned long limit; /* 0: all */
    bool json;
    const char *way;         /* the option that chose it; NULL: none did */
    char moved[2][PATH_MAX]; /* OLD, NEW */
    struct annotate_sources sources;
    struct profile *profile;
    struct symbols *symbols;
    size_t *chosen; /* functions of the profile, the heaviest first */
    size_t nchosen;
};

static int take_source_dir(struct annotating *a, const char *value, struct err *err)
{
    const char *equals = strchr(value, '=');
    size_t n = 0;
    if (equals)
        n = (size_t)(equals - value);
    if (!n || n >= sizeof a->moved[0])
        return err_set(err, ERR_USAGE, "--source-dir /build/game=/home/me/game",
                       "--source-dir: \"%s\" is not OLD=NEW", value);
    if (!realpath(equals + 1, a->moved[1]))
        return err_set(err, ERR_USAGE, "give the folder that has the sources now",
                       "--source-dir: %s: %s", equals + 1, strerror(errno));
    snprintf(a->moved[0], sizeof a->moved[0], "%.*s", (int)n, value);
    a->show.source_old = a->moved[0];
    a->show.source_new = a->moved[1];
    return 0;
}

static int take_way(struct annotating *a, const char *option, enum annotate_way way,
                    struct err *err)
{
    if (a->way && strcmp(a->way, option))
        return err_set(err, ERR_USAGE, "leave one of them out",
                       "--%s and --%s are two ways to show it", a->way, option);
    a->way = option;
    a->show.way = way;
    return 0;
}

/* What is given and has no effect. */
static int refuse_useless(const struct annotating *a, struct err *err)
{
    if (a->json && a->way && a->show.way == ANNOTATE_SOURCE)
        return err_set(err, ERR_USAGE, "leave one of them out",
                       "--json has every instruction with its source line: it has no use for "
                       "--source");
    if (a->show.way == ANNOTATE_ASM && a->show.source_old)
        return err_set(err, ERR_USAGE, "leave one of them out",
                       "--asm shows no sources: it has no use for --source-dir");
    return 0;
}

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    struct annotating *a = ctx;
    switch (id) {
    case ANNOTATE_OPT_SOURCE: return take_way(a, "source", ANNOTATE_SOURCE, err);
    case ANNOTATE_OPT_ASM: return take_way(a, "asm", ANNOTATE_ASM, err);
    case ANNOTATE_OPT_BOTH: return take_way(a, "both", ANNOTATE_BOTH, err);
    case ANNOTATE_OPT_LIMIT: return opt_count("--limit", value, 1, 1000000, &a->limit, err);
    case ANNOTATE_OPT_MARKS: a->marks = value; return 0;
    case ANNOTATE_OPT_ELF: a->elf = value; return 0;
    case ANNOTATE_OPT_DIR: return take_source_dir(a, value, err);
    case ANNOTATE_OPT_JSON: a->json = true; return 0;
    default: return 0;
    }
}

/* ---- which functions ---- */

/* What WHERE means: a function, a place in one, or the end of a source file's name. */
struct where {
    const char *file; /* NULL: the addresses */
    uint64_t low, high;
    bool all;
};

static bool is_end_of(const char *name, const char *end)
{
    const size_t n = strlen(text_or(name, "")), m = strlen(end);
    if (!name || n < m || strcmp(name + n - m, end) != 0)
        return false;
    return n == m || name[n - m - 1] == '/';
}

/* By probeprof.marks: the program has no such name. */
static bool is_renamed(const struct annotating *a, size_t i)
{
    const struct profile_function *f = &a->profile->functions[i];
    long s = -1;
    if (f->high > f->low)
        s = symbols_find(a->symbols, profile_place(f));
    return s >= 0 && strcmp(symbols_function(a->symbols, (size_t)s)->name, f->name) != 0;
}

/* A name that the program's symbols do not have, or that they have at an address where other
 * overlays' functions are, too. */
static bool names_one(const struct annotating *a, size_t i, const char *text)
{
    const struct profile_function *f = &a->profile->functions[i];
    if (f->overlay || f->either)
        return strcmp(profile_shown_name(f), text) == 0;
    return strcmp(f->name, text) == 0 && is_renamed(a, i);
}

static int parse_where(const struct annotating *a, const char *text, struct where *out,
                       struct err *err)
{
    *out = (struct where){ .all = !text };
    if (!text)
        return 0;
    for (size_t i = 0; i < a->profile->nfunctions; i++)
        if (is_end_of(a->profile->functions[i].file, text)) {
            out->file = text;
            return 0;
        }
    for (size_t i = 0; i < a->profile->nfunctions; i++)
        if (names_one(a, i, text)) {
            const struct profile_function *f = &a->profile->functions[i];
            out->low = profile_place(f);
            out->high = out->low + (f->high - f->low);
            return 0;
        }
    int ret = symbols_parse(a->symbols, text, &out->low, err);
    if (ret < 0)
        return ret;
    long f = symbols_find(a->symbols, out->low);
    if (f < 0)
        return err_set(err, ERR_NOT_FOUND, "name a function, or an address within one",
                       "%s: no function is there", text);
    out->low = symbols_function(a->symbols, (size_t)f)->low;
    out->high = symbols_function(a->symbols, (size_t)f)->high;
    return 0;
}

static bool is_wanted(const struct annotating *a, const struct where *w, size_t i)
{
    const struct profile_function *f = &a->profile->functions[i];
    if (f->high <= f->low || f->task)
        return false;
    if (w->file)
        return is_end_of(f->file, w->file);
    if (w->all)
        return f->hits > 0;
    uint64_t low = profile_place(f);
    if (w->low == symbols_plain(a->symbols, w->low)) /* of no overlay */
        low = f->low;
    return low >= w->low && low < w->high;
}

static uint64_t weight_of(const struct profile *p, size_t i)
{
    if (p->type == PROFILE_STATISTICAL)
        return p->functions[i].hits;
    return p->functions[i].c1;
}

/* The heaviest first, and the order of the profile among equals. */
static int by_weight(const void *a, const void *b, void *profile)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return EITHER(COMPARE(weight_of(profile, y), weight_of(profile, x)), COMPARE(x, y));
}

static int choose_functions(struct annotating *a, struct err *err)
{
    struct where w;
    int ret = parse_where(a, a->name[1], &w, err);
    if (ret < 0)
        return ret;
    a->chosen = calloc(a->profile->nfunctions + 1, sizeof *a->chosen);
    if (!a->chosen)
        return err_set(err, ERR_NOMEM, "close other programs", "annotate: out of memory");
    for (size_t i = 0; i < a->profile->nfunctions; i++)
        if (is_wanted(a, &w, i))
            a->chosen[a->nchosen++] = i;
    qsort_r(a->chosen, a->nchosen, sizeof *a->chosen, by_weight, a->profile);
    if (a->limit)
        a->nchosen = MIN(a->nchosen, (size_t)a->limit);
    if (a->nchosen)
        return 0;
    if (w.all)
        return err_set(err, ERR_NOT_FOUND, "probeprof report shows what is in it",
                       "%s: nothing was counted", a->name[0]);
    return err_set(err, ERR_NOT_FOUND, "probeprof report lists what ran", "%s did not run",
                   a->name[1]);
}

/* ---- on the way out ---- */

static void tell_note(void *ctx, const char *file, const char *note)
{
    cli_warn(ctx, "%s: %s", file, note);
}

static int show_text(struct annotating *a, struct err *err)
{
    struct text_sink out = file_sink(a->cli->out);
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < a->nchosen; i++) {
        if (i)
            sink_printf(&out, "\n");
        ret = annotate_function(&a->show, a->chosen[i], &out, err);
    }
    return ret;
}

static int show_json(struct annotating *a, struct err *err)
{
    struct text_sink out = file_sink(a->cli->out);
    struct json_writer j = { .out = &out };
    int ret = 0;
    const char *type = "trace";
    if (a->profile->type == PROFILE_STATISTICAL)
        type = "statistical";
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.annotate/1");
    json_member_string(&j, "type", type);
    json_write_key(&j, "functions");
    json_write_array(&j, false);
    for (size_t i = 0; ret == 0 && i < a->nchosen; i++)
        ret = annotate_function_json(&a->show, a->chosen[i], &j, err);
    json_write_end(&j);
    json_write_end(&j);
    sink_printf(&out, "\n");
    return ret;
}

static int read_recording(struct annotating *a, struct err *err)
{
    int ret = input_profile_watched(a->cli, a->name, 1, a->elf, &a->profile, &a->symbols, err);
    if (ret == 0 && !a->symbols)
        return err_set(err, ERR_USAGE, "give --elf", "%s: its program is not there to be shown",
                       a->name[0]);
    return ret;
}

static int read_input(struct annotating *a, struct err *err)
{
    int ret = 0;
    if (input_is_url(a->name[0]))
        ret = annotate_bridge_read(a->cli, a->name[0], a->elf, &a->profile, &a->symbols, err);
    else
        ret = read_recording(a, err);
    if (ret == 0)
        a->show.code = annotate_code(a->profile, a->symbols);
    a->show.profile = a->profile;
    a->show.symbols = a->symbols;
    a->show.sources = &a->sources;
    a->show.note = tell_note;
    a->show.note_ctx = a->cli;
    return ret;
}

static int run_annotate(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct annotating a = { .cli = cli };
    int ret = opts_parse(annotate_opts, argc, argv, take_option, &a, a.name, 2, err);
    if (ret == 0)
        ret = err_set(err, ERR_USAGE, "probeprof annotate run.rec main",
                      "annotate needs a recording");
    if (ret > 0)
        ret = refuse_useless(&a, err);
    if (ret == 0)
        ret = read_input(&a, err);
    if (ret == 0)
        ret = report_marks_names(cli, a.elf, a.marks, a.profile, a.symbols, err);
    if (ret == 0)
        ret = choose_functions(&a, err);
    if (ret == 0 && a.json)
        ret = show_json(&a, err);
    else if (ret == 0)
        ret = show_text(&a, err);
    free(a.chosen);
    annotate_sources_fini(&a.sources);
    profile_free(a.profile);
    symbols_close(a.symbols);
    return ret;
}

const struct command command_annotate = {
    "annotate",
    "annotate FILE [WHERE] [OPTIONS]",
    "show source and instructions beside what was measured on them",
    annotate_opts,
    "FILE is a recording, or the address of a running bridge; WHERE a function, a\n"
    "place in one, or a source file; without it all that ran is shown, the heaviest\n"
    "first. What was not measured on an instruction is not spread over it: a trace\n"
    "of calls has figures where something is called, with what the callee took, and\n"
    "below the function its stretches between two events; an S12Z's trace how often\n"
    "each instruction ran; --sample where the program was found. A bridge has the\n"
    "first of these if it was started with --watch. ? is doubtful, > the start\n"
    "point, # a stop point, x a place that is not traced.\n\n"
    "Examples:\n  probeprof annotate run.rec main\n"
    "  probeprof annotate run.rec profexam.c --source\n",
    run_annotate,
};
