/* `probeprof stat`: two counters over stretches of a program that is neither patched nor traced. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/host_time.h"
#include "profiler/bridge/counting.h"
#include "profiler/cli/ending.h"
#include "profiler/cli/input.h"
#include "profiler/cli/run.h"
#include "profiler/cli/useless.h"
#include "profiler/cli/view.h"
#include "profiler/views/report_stat.h"

enum { COMPARE_BYTES = 1 << 20 };

struct stat_command {
    struct cli *cli;
    struct run *run;
    struct counting_config counting;
    struct trace_config points;
    struct stat_result result;
    const char *stop_text[TRACE_MAX_STOPS];
    struct profile *traced;
};

/* ---- what was asked ---- */

static int check_settings(const struct settings *s, struct err *err)
{
    bool flagged = s->origin[SET_START] == ORIGIN_FLAG || s->origin[SET_STOP] == ORIGIN_FLAG;
    if (!*s->elf && (flagged || s->load))
        return err_set(err, ERR_USAGE, "name the program: probeprof stat PROGRAM --stop B",
                       "--load, --start and --stop need the program");
    if (s->origin[SET_PASSES] == ORIGIN_FLAG && !s->nstops && !s->for_ns)
        return err_set(err, ERR_USAGE, "add --stop B, or --for TIME",
                       "--passes says how many stretches, and nothing ends one");
    if (*s->beside && !(*s->start && s->nstops))
        return err_set(err, ERR_USAGE, "add --start A and --stop B",
                       "--beside compares with the passes of a recording");
    return 0;
}

static bool same_counter(const struct stat_event *e, const struct profile_counter *c)
{
    return !e->counter.name || (c->name && e->counter.code == c->code);
}

/* What tracing shows of the same, before the board is touched. */
static int read_traced(struct stat_command *c, struct err *err)
{
    const char *path = c->run->set.beside;
    struct symbols *syms = NULL;
    if (!*path)
        return 0;
    int ret = input_profile(c->cli, path, NULL, NULL, &c->traced, &syms, err);
    symbols_close(syms);
    if (ret < 0)
        return err_prefix(err, ret, "--beside");
    const struct profile_info *info = &c->traced->info;
    if (info->sums_only || !info->passes)
        return err_set(err, ERR_USAGE, "record one: probeprof --start A --stop B --record F",
                       "--beside %s: it holds no passes", path);
    c->result.traced = path;
    c->result.traced_passes = info->passes;
    return 0;
}

static int take_traced(struct stat_command *c, struct err *err)
{
    if (!c->traced)
        return 0;
    const uint64_t total[2] = { c->traced->total_c1, c->traced->total_c2 };
    for (int i = 0; i < 2; i++) {
        struct stat_event *e = &c->result.event[i];
        if (!same_counter(e, &c->traced->info.counter[i]))
            return err_set(err, ERR_USAGE, "give the recording's --c1 and --c2",
                           "--beside %s: its counter %d is %s", c->result.traced, i + 1,
                           text_or(c->traced->info.counter[i].name, "not used"));
        e->has_traced = true;
        e->traced = (double)total[i] / (double)c->result.traced_passes;
    }
    return 0;
}

/* Events and points as they have been found out: names for the table, codes for the board. */
static void take_settings(struct stat_command *c)
{
    const struct settings *s = &c->run->set;
    const struct trace_config *t = &c->points;
    c->counting.has_start = t->has_start;
    c->counting.start = t->start;
    c->counting.stop = t->stops;
    c->counting.nstops = t->nstops;
    for (int i = 0; i < 2; i++) {
        const struct counter_event *e = part_counter(c->run->part, c->run->counter[i]);
        c->counting.event[i] = c->run->counter[i];
        if (e)
            c->result.event[i].counter = (struct profile_counter){ e->code, e->name, e->unit };
    }
    for (size_t i = 0; i < s->nstops; i++)
        c->stop_text[i] = s->stop[i];
    c->result.program = text_given(s->elf);
    c->result.target = c->run->part->name;
    c->result.probe = c->run->probe->name;
    c->result.start = text_given(s->start);
    c->result.stop = c->stop_text;
    c->result.nstops = s->nstops;
}

/* ---- on the board ---- */

static bool asked_to_end(void *ctx)
{
    struct stat_command *c = ctx;
    return ending_look(c->cli->ending).asked > 0;
}

static void show_load(void *ctx, const struct load_progress *now)
{
    struct stat_command *c = ctx;
    if (c->run->set.quiet)
        return;
    progress_tell(&c->run->progress, now);
    progress_tick(&c->run->progress, host_ns());
}

/* The program is in memory, and halted. */
static int prepare_program(struct stat_command *c, struct err *err)
{
    struct run *r = c->run;
    const struct image *im = NULL;
    if (r->symbols)
        im = symbols_image(r->symbols);
    struct board_io io = { .cancelled = asked_to_end, .ctx = c, .tell = show_load };
    uint64_t loaded;
    progress_init(&r->progress, c->cli->err_out, r->set.elf, view_columns(c->cli->err_out));
    if (r->set.load)
        return board_load(r->target, im, &io, &loaded, err);
    int ret = 0;
    if (r->target->ops->state(r->target) == TARGET_RUNNING)
        ret = board_halt(r->target, err);
    if (ret == 0 && im)
        ret = board_compare(r->target, im, &io, COMPARE_BYTES, err);
    if (ret == 0 && im && r->target->ops->set_image)
        ret = r->target->ops->set_image(r->target, im, err);
    return ret;
}

static int ended_early(struct stat_command *c, const struct counted *s, struct err *err)
{
    char where[160];
    const char *at = "before the start point";
    if (s->begun)
        at = "before a stop point";
    if (s->end != COUNTED_PROGRAM)
        return err_set(err, ERR_CANCELLED, "give it more time", "%s: that stretch is not counted",
                       s->end == COUNTED_TIME ? "--for was over" : "ended on request");
    if (s->stop.reason == STOP_EXIT)
        return err_set(err, ERR_STATE, "check the points", "the program ended %s, with status %d",
                       at, s->stop.exit_status);
    symbols_describe(c->run->symbols, s->stop.pc, where, sizeof where);
    return err_set(err, ERR_STATE, "see what happens there: probeprof PROGRAM, and GDB",
                   "the program stopped %s, at %s%s%s", at, where, text_if(*s->stop.text, ": "),
                   s->stop.text);
}

/* Is it one that was asked for, from its beginning to its end? */
static bool is_whole(const struct stat_command *c, const struct counted *s)
{
    return s->begun && (s->end == COUNTED_STOP || !c->counting.nstops);
}

static int count_stretches(struct stat_command *c, struct err *err)
{
    const struct settings *s = &c->run->set;
    struct target *t = c->run->target;
    uint64_t begun = t->ops->now_ns(t), most = EITHER(s->passes, 1);
    struct counted one = { .begun = true };
    int ret = 0;
    for (uint64_t i = 0; ret == 0 && i < most && one.end != COUNTED_ASKED; i++) {
        /* with stop points it is the time for all of them */
        uint64_t from = s->nstops ? begun : t->ops->now_ns(t);
        c->counting.until_ns = number_if(s->for_ns, from + s->for_ns);
        ret = counting_stretch(&c->counting, t, &one, err);
        if (ret == 0 && !is_whole(c, &one))
            return ended_early(c, &one, err);
        if (ret == 0)
            stat_add(&c->result, one.value, one.least_ns, one.most_ns, one.steps);
        if (one.end == COUNTED_PROGRAM) /* it does not go on */
            break;
    }
    return ret;
}

/* What there is, whatever has ended it. */
static int count_all(struct stat_command *c, struct err *err)
{
    uint64_t own[2] = { 0 };
    c->counting.io = (struct board_io){ .cancelled = asked_to_end, .ctx = c };
    int ret = count_stretches(c, err);
    if (!c->result.most_s.n)
        return ret;
    struct err why = { .code = ERR_OK };
    int seen = counting_residue(&c->counting, c->run->target, own, &why);
    if (seen < 0 && ret == 0)
        *err = why;
    for (int i = 0; i < 2; i++)
        c->result.event[i].own = own[i];
    const struct text_sink out = file_sink(c->cli->out);
    progress_clear(&c->run->progress);
    if (seen >= 0 && c->run->set.json)
        report_stat_json(&c->result, &out);
    else if (seen >= 0)
        report_stat(&c->result, &out);
    if (ret < 0)
        return ret;
    return seen;
}

static int count_program(struct stat_command *c, struct err *err)
{
    struct run *r = c->run;
    int ret = read_traced(c, err);
    if (ret == 0)
        ret = ending_start(fileno(c->cli->err_out), &c->cli->ending, err);
    if (ret == 0)
        ret = run_board_parts(r, &c->points, err);
    if (ret == 0)
        take_settings(c);
    if (ret == 0)
        ret = take_traced(c, err);
    ending_stage(c->cli->ending, RUN_USING_BOARD);
    if (ret == 0)
        ret = prepare_program(c, err);
    if (ret == 0)
        ret = count_all(c, err);
    return ret;
}

static const struct opt stat_opts[];

static int run_stat(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct stat_command c = { .cli = cli, .run = calloc(1, sizeof *c.run) };
    struct err left = { .code = ERR_OK };
    if (!c.run)
        return err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    c.run->cli = cli;
    int ret = settings_read(&c.run->set, stat_opts, argc, argv, cli->probe_env, err);
    if (ret == 0)
        ret = check_settings(&c.run->set, err);
    c.run->set.sample = false; /* what the conf file says of that does not hold */
    c.run->profile = true;     /* a part that cannot be reached is an error */
    if (ret == 0)
        ret = count_program(&c, err);
    run_fini(c.run, &left);
    profile_free(c.traced);
    free(c.run);
    return ret;
}

#define STAT_SETTING(id, name, letter, arg, help) \
    {                                             \
        name, letter, arg, help, SET_##id         \
    }
static const struct opt stat_opts[] = {
    STAT_SETTING(PROBE, "probe", 'p', "P", SETTINGS_PROBE_HELP),
    STAT_SETTING(TARGET, "target", 0, "T",
                 "part behind the adapter, where the adapter does not imply it: sh7750, ... "
                 "(probeprof list)"),
    STAT_SETTING(SPEED, "speed", 0, "HZ", "wire clock: 10M, 500k, or auto"),
    STAT_SETTING(CHAIN, "chain", 0, "LIST",
                 "IR lengths of the JTAG chain from TDI to TDO, the part marked: 4,16*,8"),
    STAT_SETTING(PRIVATE, "private", 0, NULL,
                 "use private H-UDI commands: unverified on silicon; default on simulated boards "
                 "only"),
    STAT_SETTING(NO_PRIVATE, "no-private", 0, NULL, "documented commands only"),
    STAT_SETTING(ELF, "elf", 'e', "E", "the program, with symbols"),
    STAT_SETTING(LOAD, "load", 0, NULL, "reset the board, load the ELF into it, start it"),
    STAT_SETTING(NO_LOAD, "no-load", 0, NULL,
                 "attach to what is running, whatever probeprof.conf says"),
    STAT_SETTING(START, "start", 's', "A",
                 "count from here on: 0x..., symbol, symbol+off, file.c:line"),
    STAT_SETTING(STOP, "stop", 't', "B", "and up to here; may be given many times"),
    STAT_SETTING(C1, "c1", 0, "EVENT",
                 "what counter 1 counts (probeprof events); default elapsed-time"),
    STAT_SETTING(C2, "c2", 0, "EVENT", "what counter 2 counts; default icache-miss"),
    STAT_SETTING(PASSES, "passes", 'n', "N", "how many stretches; default 1"),
    STAT_SETTING(FOR, "for", 0, "TIME",
                 "how long a stretch is; with --stop, how long all may take: 30s, 500ms"),
    STAT_SETTING(BESIDE, "beside", 0, "F",
                 "a recording of the same counters, start and stop points: what tracing has "
                 "changed"),
    STAT_SETTING(JSON, "json", 0, NULL, "print one JSON document"),
    STAT_SETTING(LOG, "log", 0, "WHAT", "log to stderr: usb,wire,target or all"),
    STAT_SETTING(QUIET, "quiet", 'q', NULL, "no progress of a download"),
    STAT_SETTING(CONF, "conf", 0, "F", "read this file instead of ./probeprof.conf; off: none"),
    STAT_SETTING(HELP, "help", 'h', NULL, "this text"),
    { NULL, 0, NULL, NULL, 0 },
};

const struct command command_stat = {
    "stat",
    "stat [PROGRAM] [OPTIONS]",
    "count two events of a program that is neither patched nor traced",
    stat_opts,
    "PROGRAM stands for --elf PROGRAM --load.\n\n"
    "What a program costs by itself, for comparing before and after: a trace is\n"
    "exact in its hits and costs cache misses. Start and stop points are hardware\n"
    "breakpoints, at most two stop points; the counters are set at the start and\n"
    "read at the stop. With neither, the program is counted from where it stands\n"
    "until --for, Ctrl-C or its end. What the debugger counts of itself is a\n"
    "constant, which is told as a bound. SH-4 only: an S12Z has no such counters.\n"
    "Settings of ./probeprof.conf hold here, too.\n\n"
    "Examples:\n"
    "  probeprof stat --probe sim:sh7750 --start main+8 --stop 0x0C010030 -n 3\n"
    "  probeprof stat --probe sim:sh7750 --c1 operand-access --c2 none --for 1s\n",
    run_stat,
};
