#include <string.h>
#include <unistd.h>

#include "probe/base/util.h"
#include "profiler/cli/buckets.h"
#include "profiler/cli/command.h"
#include "profiler/cli/input.h"
#include "profiler/cli/replay.h"
#include "profiler/cli/view.h"
#include "profiler/views/notes.h"

enum { OPT_TO, OPT_FROM, OPT_OUTPUT, OPT_VALUE, OPT_ELF, OPT_HELP };
enum { OPT_RANGE = OPT_HELP + 1, OPT_SCALE, OPT_BUCKETS, OPT_BUFFER, OPT_BUCKET_BYTES };

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
    { "elf", 'e', "E", "ELF to name the functions of a recording with", OPT_ELF },
    { "help", 'h', NULL, "this text", OPT_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

struct convert {
    const struct exporter *to;
    const char *from, *output, *elf;
    struct buckets buckets;
    int value; /* 1 hits, 2 c1, 3 c2; 0: not said */
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
    case OPT_RANGE: return buckets_take(&c->buckets, "range", value, err);
    case OPT_SCALE: return buckets_take(&c->buckets, "scale", value, err);
    case OPT_BUCKETS: return buckets_take(&c->buckets, "buckets", value, err);
    case OPT_BUFFER: return buckets_take(&c->buckets, "buffer", value, err);
    case OPT_BUCKET_BYTES: return buckets_take(&c->buckets, "bucket-bytes", value, err);
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
static int convert_profile(struct cli *cli, struct convert *c, const struct profile *p,
                           const struct symbols *syms, const struct export_recording *from,
                           struct err *err)
{
    const struct note_taker notes = { warn_of, cli };
    struct report_options o = { .ascii = true,
                                .symbols = syms,
                                .value = (unsigned)c->value,
                                .notes = &notes,
                                .recording = from };
    int ret = buckets_resolve(&c->buckets, syms, &o.buckets, err);
    if (ret < 0)
        return ret;
    return c->output ? exporter_save(c->to, p, &o, c->output, err)
                     : write_to_output(cli, c, p, &o, err);
}

/* ---- once more, for formats that show when what ran ---- */

struct again {
    const char *path, *elf;
};

static int play_again(void *ctx, const struct calltree_watch *watch, struct err *err)
{
    const struct again *a = ctx;
    struct profile *p = NULL;
    struct symbols *syms = NULL;
    struct capture c = { .watch = watch };
    int ret = replay_watched(&a->path, 1, a->elf, &c, &p, &syms, err);
    if (ret < 0)
        return ret;
    calltree_watch_end(c.tree);
    profile_free(p);
    capture_close(&c);
    symbols_close(syms);
    return 0;
}

static void look_for_time(void *ctx, const struct event *e)
{
    bool *timed = ctx;
    *timed |= (e->flags & EVENT_HAS_TIME) != 0;
}

/* timed: do its events have the target's time? */
static int read_recording(struct cli *cli, const struct convert *c, const char *path,
                          struct profile **p, struct symbols **syms, bool *timed, struct err *err)
{
    const struct calltree_watch look = { .ctx = timed, .on_event = look_for_time };
    struct capture of = { .watch = &look };
    const struct importer *is;
    *timed = false;
    int ret = input_kind(path, c->from, &is, err);
    if (ret == 0 && is)
        ret = err_set(err, ERR_USAGE, "give a recording: run with --record",
                      "--to %s has when what ran, and %s is a file with sums only", c->to->name,
                      path);
    if (ret == 0)
        ret = input_watched(cli, &path, 1, c->elf, &of, p, syms, err);
    if (ret == 0)
        capture_close(&of);
    return ret;
}

static int convert_path(struct cli *cli, struct convert *c, const char *path, struct err *err)
{
    struct profile *p = NULL;
    struct symbols *syms = NULL;
    struct again again = { path, c->elf };
    struct export_recording from = { play_again, &again, false };
    bool played = c->to->needs & EXPORT_NEEDS_RECORDING;
    int ret = played ? read_recording(cli, c, path, &p, &syms, &from.timed, err)
                     : input_profile(cli, path, c->from, c->elf, &p, &syms, err);
    if (ret == 0)
        ret = convert_profile(cli, c, p, syms, played ? &from : NULL, err);
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
    return ret == 0 ? convert_path(cli, &c, path, err) : ret;
}

const struct command command_convert = {
    "convert",
    "convert FILE --to FORMAT [-o F]",
    "a profile for pprof, KCachegrind, speedscope, timelines",
    convert_opts,
    "FILE is a recording, or of format prf, json, prof1, pprof, callgrind or folded,\n"
    "as its content tells, or the address of a running bridge. What it does not tell\n"
    "stays unknown. Each format keeps hits and both counters, call paths where it\n"
    "knows them, and what was not seen (docs/formats.md).\n\n"
    "Of a recording, chrome, perfetto and ctf have when what ran.\n\n"
    "Examples:\n"
    "  probeprof convert run.rec --to pprof -o run.pb.gz\n"
    "  probeprof convert run.rec --to chrome -o run.trace.json\n"
    "  probeprof convert run.rec --to prof1 -o run.prof1\n"
    "then:\n"
    "  go tool pprof run.pb.gz\n",
    run_convert,
};
