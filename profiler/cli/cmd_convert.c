#include <limits.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "probe/base/util.h"
#include "profiler/cli/buckets.h"
#include "profiler/cli/command.h"
#include "profiler/cli/input.h"
#include "profiler/cli/opts.h"
#include "profiler/cli/replay.h"
#include "profiler/cli/report_marks.h"
#include "profiler/cli/view.h"
#include "profiler/views/notes.h"

enum { OPT_TO, OPT_FROM, OPT_OUTPUT, OPT_VALUE, OPT_ELF, OPT_HELP };
enum {
    OPT_RANGE = OPT_HELP + 1,
    OPT_SCALE,
    OPT_BUCKETS,
    OPT_BUFFER,
    OPT_BUCKET_BYTES,
    OPT_NFUNC,
    OPT_MARKS
};

static const struct opt convert_opts[] = {
    { "to", 0, "FORMAT",
      "pprof, callgrind, speedscope, folded, gmon, prof1, lcov, chrome, perfetto, ctf, prf, json",
      OPT_TO },
    { "from", 0, "FORMAT", "what FILE is, where its content does not tell: formats below",
      OPT_FROM },
    { "output", 'o', "F", "where to; default: standard output, if the format is text", OPT_OUTPUT },
    { "value", 0, "WHICH",
      "of folded and gmon: hits, c1 or c2; default c1, or hits without counters", OPT_VALUE },
    { "range", 0, "LOW..HIGH", "samples of gmon and prof1: of this code only; default: all code",
      OPT_RANGE },
    { "scale", 0, "S",
      "bytes of buckets for a byte of code: 0.0 to 1.0, or 2 to 65536; default 1.0", OPT_SCALE },
    { "buckets", 0, "N", "so many buckets: the scale that comes of it", OPT_BUCKETS },
    { "buffer", 0, "BYTES", "so many bytes of buckets", OPT_BUFFER },
    { "bucket-bytes", 0, "N",
      "2, or 4 (prof1); default: 2, and 4 if one would be full; with 2, what finds no room is lost",
      OPT_BUCKET_BYTES },
    { "nfunc", 0, "N",
      "counters of calls in prof1, for the N functions called most often; default: for all",
      OPT_NFUNC },
    { "elf", 'e', "E", "ELF to name the functions of a recording with", OPT_ELF },
    { "marks", 0, "F", "names and groups of functions; default: probeprof.marks beside the ELF",
      OPT_MARKS },
    { "help", 'h', NULL, "this text", OPT_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

struct convert {
    const struct exporter *to;
    const char *from, *output, *elf;
    const char *marks; /* "off": none; NULL: those beside the ELF */
    struct buckets buckets;
    int value;              /* 1 hits, 2 c1, 3 c2; 0: not said */
    unsigned long counters; /* --nfunc; 0: not said */
};

static int take_value(struct convert *c, const char *text, struct err *err)
{
    int value;
    int ret = opt_word("value", text, "hits c1 c2", &value, err);
    c->value = ret == 0 ? value + 1 : c->value;
    return ret;
}

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    struct convert *c = ctx;
    switch (id) {
    case OPT_TO: return exporter_find(value, &c->to, err);
    case OPT_FROM: c->from = value; return 0;
    case OPT_OUTPUT: c->output = value; return 0;
    case OPT_VALUE: return take_value(c, value, err);
    case OPT_ELF: c->elf = value; return 0;
    case OPT_MARKS: c->marks = value; return 0;
    case OPT_RANGE: return buckets_take(&c->buckets, "range", value, err);
    case OPT_SCALE: return buckets_take(&c->buckets, "scale", value, err);
    case OPT_BUCKETS: return buckets_take(&c->buckets, "buckets", value, err);
    case OPT_BUFFER: return buckets_take(&c->buckets, "buffer", value, err);
    case OPT_BUCKET_BYTES: return buckets_take(&c->buckets, "bucket-bytes", value, err);
    case OPT_NFUNC: return opt_count("nfunc", value, 1, INT_MAX, &c->counters, err);
    default: return 0;
    }
}

static int check_request(const struct convert *c, const char *path, struct err *err)
{
    if (!path)
        return err_set(err, ERR_USAGE, "probeprof convert run.rec --to pprof -o run.pb.gz",
                       "convert needs a recording, or another file with a profile");
    if (!c->to)
        return err_set(err, ERR_USAGE,
                       "--to pprof, callgrind, speedscope, folded, gmon, prof1, lcov, chrome, "
                       "perfetto, ctf, prf or json",
                       "convert needs a format");
    if (c->value && strcmp(c->to->name, "folded") != 0 && strcmp(c->to->name, "gmon") != 0)
        return err_set(err, ERR_USAGE, "leave it out",
                       "--value is for folded and gmon: %s has every counter", c->to->name);
    if (c->buckets.said && !(c->to->needs & EXPORT_HAS_BUCKETS))
        return err_set(err, ERR_USAGE, "leave it out",
                       "--%s is for gmon and prof1: %s has no buckets", c->buckets.said,
                       c->to->name);
    if (c->marks && c->to->needs & EXPORT_BY_ADDRESS)
        return err_set(err, ERR_USAGE, "leave it out",
                       "--marks is for names of functions: %s has addresses or lines", c->to->name);
    if (c->counters && strcmp(c->to->name, "prof1") != 0)
        return err_set(err, ERR_USAGE, "leave it out",
                       "--nfunc is for prof1: %s has no counters of calls", c->to->name);
    if (c->output && !strcmp(c->output, path))
        return err_set(err, ERR_USAGE, "choose another name for -o",
                       "-o %s is the file that is read", path);
    return 0;
}

/* Binary formats are refused on a terminal; text is cleaned there like any other. */
static int write_to_output(struct cli *cli, const struct convert *c, const struct profile *p,
                           const struct report_options *o, struct err *err)
{
    struct text_sink sink = file_sink(cli->out);
    if (exporter_files(c->to))
        return err_set(err, ERR_USAGE, "add -o FOLDER", "%s is a folder of files", c->to->name);
    if (c->to->needs & EXPORT_NEEDS_FILE && isatty(fileno(cli->out)))
        return err_set(err, ERR_USAGE, "add -o FILE", "%s is nothing for a terminal", c->to->name);
    return c->to->write(p, o, &sink, err);
}

static void warn_of(void *ctx, const char *text) { cli_warn(ctx, "%s", text); }

/* from: the recording, for formats that need it; else NULL. */
static int convert_profile(struct cli *cli, struct convert *c, struct profile *p,
                           const struct symbols *syms, const struct export_recording *from,
                           struct err *err)
{
    const struct note_taker notes = { warn_of, cli };
    struct report_options o = { .ascii = true,
                                .symbols = syms,
                                .value = (unsigned)c->value,
                                .counters = c->counters,
                                .notes = &notes,
                                .recording = from };
    int ret = 0;
    if (!(c->to->needs & EXPORT_BY_ADDRESS))
        ret = report_marks_of(cli, c->elf, c->marks, p, syms, err);
    if (ret == 0)
        ret = buckets_resolve(&c->buckets, syms, &o.buckets, err);
    if (ret < 0)
        return ret;
    if (c->output)
        return exporter_save(c->to, p, &o, c->output, err);
    return write_to_output(cli, c, p, &o, err);
}

/* ---- once more, for formats that show when what ran ---- */

struct again {
    const char *path, *elf;
    FILE *shown;          /* a terminal that is shown how far it is; NULL: none is */
    uint64_t total, done; /* events: found the first time, played the second */
    uint64_t next_ns;     /* when that is shown again */
    bool timed;           /* they have the target's time */
};

/* The first time. */
static void count_events(void *ctx, const struct event *events, size_t n)
{
    struct again *a = ctx;
    a->total += n;
    for (size_t i = 0; i < n && !a->timed; i++)
        a->timed = (events[i].flags & EVENT_HAS_TIME) != 0;
}

static void show_done(void *ctx, const struct event *events, size_t n)
{
    static const uint64_t each_ns = 200000000;
    struct again *a = ctx;
    (void)events;
    if (a->shown && uv_hrtime() >= a->next_ns) {
        view_clear_line(a->shown);
        fprintf(a->shown, "converting: %.0f %%", 100 * (double)a->done / (double)a->total);
        fflush(a->shown);
        a->next_ns = uv_hrtime() + each_ns;
    }
    a->done = MIN(a->done + n, a->total);
}

static int play_again(void *ctx, const struct calltree_watch *watch, struct err *err)
{
    struct again *a = ctx;
    struct profile *p = NULL;
    struct symbols *syms = NULL;
    struct capture c = { .watch = watch };
    const struct replay_tap tap = { show_done, a };
    int ret = replay_keep(a->path, a->elf, &tap, &c, &p, &syms, err);
    if (a->shown && a->done) {
        view_clear_line(a->shown);
        fflush(a->shown);
    }
    if (ret < 0)
        return ret;
    calltree_watch_end(c.tree);
    profile_free(p);
    capture_close(&c);
    symbols_close(syms);
    return 0;
}

static int read_recording(struct cli *cli, const struct convert *c, struct again *a,
                          struct profile **p, struct symbols **syms, struct err *err)
{
    struct capture of = { .tree = NULL };
    const struct replay_tap tap = { count_events, a };
    const struct importer *is;
    int ret = input_kind(a->path, c->from, &is, err);
    if (ret == 0 && is)
        ret = err_set(err, ERR_USAGE, "give a recording: run with --record",
                      "--to %s has when what ran, and %s has sums only", c->to->name, a->path);
    if (ret == 0)
        ret = replay_keep(a->path, a->elf, &tap, &of, p, syms, err);
    if (ret < 0)
        return ret;
    capture_close(&of);
    input_remarks(cli, *p);
    return 0;
}

static int convert_recording(struct cli *cli, struct convert *c, const char *path, struct err *err)
{
    struct profile *p = NULL;
    struct symbols *syms = NULL;
    struct again again = { .path = path, .elf = c->elf };
    if (c->output && view_columns(cli->err_out))
        again.shown = cli->err_out;
    int ret = read_recording(cli, c, &again, &p, &syms, err);
    const struct export_recording from = { play_again, &again, again.timed };
    if (ret == 0)
        ret = convert_profile(cli, c, p, syms, &from, err);
    profile_free(p);
    symbols_close(syms);
    return ret;
}

static int convert_sums(struct cli *cli, struct convert *c, const char *path, struct err *err)
{
    struct profile *p = NULL;
    struct symbols *syms = NULL;
    int ret = input_profile(cli, path, c->from, c->elf, &p, &syms, err);
    if (ret == 0)
        ret = convert_profile(cli, c, p, syms, NULL, err);
    profile_free(p);
    symbols_close(syms);
    return ret;
}

static int run_convert(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct convert c = { 0 };
    const char *path = NULL;
    int ret = opts_parse(convert_opts, argc, argv, take_option, &c, &path, 1, err);
    if (ret < 0)
        return ret;
    ret = check_request(&c, ret ? path : NULL, err);
    if (ret < 0)
        return ret;
    if (c.to->needs & EXPORT_NEEDS_RECORDING)
        return convert_recording(cli, &c, path, err);
    return convert_sums(cli, &c, path, err);
}

const struct command command_convert = {
    "convert",
    "convert FILE --to FORMAT [-o F]",
    "a profile for pprof, KCachegrind, speedscope, timelines",
    convert_opts,
    "FILE is a recording, or of format prf, json, gmon, prof1, pprof, callgrind or\n"
    "folded, as its content tells, or the address of a running bridge. What it does\n"
    "not tell stays unknown. Each format keeps hits and both counters, call paths\n"
    "where it knows them, and what was not seen (docs/formats.md).\n\n"
    "Of a recording, chrome, perfetto and ctf have when what ran.\n\n"
    "Examples:\n"
    "  probeprof convert run.rec --to pprof -o run.pb.gz\n"
    "  probeprof convert run.rec --to chrome -o run.trace.json\n"
    "  probeprof convert run.rec --to prof1 -o run.prof1\n"
    "then:\n"
    "  go tool pprof run.pb.gz\n",
    run_convert,
};
