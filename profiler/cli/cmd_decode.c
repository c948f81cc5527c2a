#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/capture.h"
#include "profiler/cli/command.h"
#include "profiler/cli/marks_file.h"
#include "profiler/cli/outputs.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/settings.h"
#include "targets/s12z/offline/trace_input.h"
#include "profiler/cli/useless.h"
#include "profiler/cli/view.h"
#include "targets/s12z/trace/events.h"
#include "targets/s12z/offline/explain.h"

enum { OPT_FORMAT = SET_COUNT, OPT_SETTING, OPT_SIGNALS, OPT_UNIT, OPT_IVBR };

static const struct opt decode_opts[] = {
    { "format", 'f', "FORM", "what the file is: " TRACE_FORMATS, OPT_FORMAT },
    { "elf", 'e', "E", "the program that was traced", SET_ELF },
    { "start", 's', "A", "count from here on", SET_START },
    { "stop", 't', "B",
      "stop counting here, until the start point is met again; may be given 64 times", SET_STOP },
    { "passes", 'n', "N", "count the first N rounds from the start point to a stop point only",
      SET_PASSES },
    { "c2", 0, "EVENT",
      "what C2 counts: branches (default), taken-branches, instructions, calls or interrupts",
      SET_C2 },
    { "irq-filter", 0, "F", "auto keeps interrupt handlers out of their victims' numbers",
      SET_IRQ_FILTER },
    { "setting", 0, "NAME=VALUE",
      "an unconfirmed encoding, see `probeprof dump lines --explain`; may be given again",
      OPT_SETTING },
    { "signals", 0, "CLK,DATA",
      "names of the two signals in a capture, default PDOCLK,PDO; of raw samples their bits, "
      "default 1,0",
      OPT_SIGNALS },
    { "unit", 0, "BYTES", "bytes a sample, of raw samples; default 1", OPT_UNIT },
    { "ivbr", 0, "N", "where the program's vector table was, register IVBR; default 0xFFFE",
      OPT_IVBR },
    { "record", 'r', "F", "write the events, for `probeprof report`", SET_RECORD },
    { "output", 'o', "F.prf", "write the profile in CodeScape's format; F.json: in JSON",
      SET_OUTPUT },
    { "json", 0, NULL, "print the profile as one JSON document, with blocks and branches",
      SET_JSON },
#define SETTING SETTING_OPT
#include "profiler/cli/settings_view.def"
#undef SETTING
    { "help", 'h', NULL, "this text", SET_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

enum { MAX_REMARKS = RECORDING_MAX_REMARKS, SHOWN_LOOPS = 3 };
struct remarks {
    struct profile_remark row[MAX_REMARKS];
    char text[MAX_REMARKS][400];
    size_t n, nloops;
};

struct decode {
    struct settings set;
    struct trace_input in;
    bool has_format;
    unsigned long ivbr;
    struct symbols *syms;
    struct s12z_events_config cfg;
    uint64_t stops[TRACE_MAX_STOPS];
    const struct counter_event *counter[2];
    struct s12z_events *events;
    struct capture capture;
    struct trace_input_stats stats;
    /* so far; of the first that is none, that does not fit: 0 none */
    uint64_t lines, first_bad, first_misfit;
    uint64_t first_headless, first_unended; /* of the first behind a line that is missing */
    bool middle, open; /* the first line begins no session; the last one ends none */
    struct remarks remarks;
    char blocks[512];   /* what is to be said of them */
    struct err failure; /* of a callback */
};

/* ---- options ---- */

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    struct decode *d = ctx;
    switch (id) {
    case OPT_FORMAT: d->has_format = true; return trace_format_parse(value, &d->in.format, err);
    case OPT_SETTING: return s12z_setting_parse(&d->in.settings, value, err);
    case OPT_SIGNALS: return trace_signals_parse(value, &d->in, err);
    case OPT_UNIT: return opt_count("unit", value, 1, 16, &d->in.unit, err);
    case OPT_IVBR: return opt_count("ivbr", value, 0, 0xFFFF, &d->ivbr, err);
    default: return settings_set(&d->set, (enum setting)id, ORIGIN_FLAG, value, err);
    }
}

static const struct counter_event *counter_named(const char *name)
{
    for (const struct counter_event *e = s12z_counter_events; e->name; e++)
        if (!strcmp(e->name, name))
            return e;
    return NULL;
}

static int prepare_input(struct decode *d, struct err *err)
{
    uint64_t start = 0;
    int ret = symbols_open(d->set.elf, &d->syms, err);
    if (ret == 0 && symbols_machine(d->syms) != 249)
        ret = err_set(err, ERR_USAGE, "give the ELF of the S12Z program", "%s is for another CPU",
                      d->set.elf);
    if (ret == 0)
        ret = marks_file_blocks(d->set.elf, d->syms, d->blocks, err);
    if (ret == 0 && *d->set.start)
        ret = err_prefix(err, symbols_parse(d->syms, d->set.start, &start, err), "--start");
    for (size_t k = 0; k < d->set.nstops && ret == 0; k++)
        ret = err_prefix(err, symbols_parse(d->syms, d->set.stop[k], &d->stops[k], err), "--stop");
    d->counter[0] = counter_named("bus-cycles");
    d->counter[1] = counter_named(text_or(text_given(d->set.counter[1]), "branches"));
    if (ret == 0 && !d->counter[1])
        ret = err_set(err, ERR_USAGE, "branches, taken-branches, instructions, calls or interrupts",
                      "--c2: no event '%s'", d->set.counter[1]);
    if (ret < 0)
        return ret;
    d->cfg = (struct s12z_events_config){ .image = symbols_image(d->syms),
                                          .settings = d->in.settings,
                                          .ivbr = (uint16_t)d->ivbr,
                                          .has_start = *d->set.start != 0,
                                          .start = (uint32_t)start,
                                          .stops = d->stops,
                                          .nstops = d->set.nstops,
                                          .counter = { d->counter[0]->code, d->counter[1]->code } };
    return 0;
}

/* ---- the pass ---- */

static int pass_events(struct decode *d)
{
    struct event batch[256];
    size_t n;
    int ret = 0;
    while (ret == 0 && (n = s12z_events_take(d->events, batch, ARRAY_LEN(batch))))
        ret = capture_feed(&d->capture, batch, n, &d->failure);
    return ret;
}

static void note_first(const struct decode *d, uint64_t times, uint64_t *first)
{
    if (times && !*first)
        *first = d->lines;
}

/* Where in the file something was wrong, for people: by the line. */
static void note_place(struct decode *d, const struct s12z_item *i)
{
    bool line = i->kind == S12Z_ITEM_LINE;
    d->lines += line;
    d->middle |= line && d->lines == 1 && i->line.format != S12Z_PTS;
    if (!line && !d->first_bad)
        d->first_bad = d->lines + 1;
    const struct s12z_events_totals *t = s12z_events_totals(d->events);
    note_first(d, t->misfits, &d->first_misfit);
    note_first(d, t->headless, &d->first_headless);
    note_first(d, t->unended, &d->first_unended);
    d->open = !line || !(i->line.end || i->line.overflow);
}

static int on_item(void *ctx, const struct s12z_item *i)
{
    struct decode *d = ctx;
    const struct s12z_arrival at = { i->tick, i->bus_ticks, i->prompt };
    int ret;
    if (i->kind == S12Z_ITEM_LINE)
        ret = s12z_events_line(d->events, i->raw, &i->line, &at, 0, &d->failure);
    else
        ret = s12z_events_gap(d->events, i->bytes / 8 + 1, 0, EVENT_CAUSE_CORRUPT, &d->failure);
    note_place(d, i);
    if (ret != 0)
        return ret;
    return pass_events(d);
}

static struct recording_header fill_header(const struct decode *d)
{
    const struct image *im = symbols_image(d->syms);
    struct recording_header h = { .program = "probeprof " PROBEPROF_VERSION,
                                  .target = "s12z",
                                  .elf = d->set.elf,
                                  .has_start = d->cfg.has_start,
                                  .start = d->cfg.start,
                                  .nstops = d->cfg.nstops,
                                  .irq_filter = d->set.irq_filter,
                                  .max_passes = d->set.passes };
    memcpy(h.stops, d->stops, sizeof d->stops);
    memcpy(h.build_id, im->build_id, im->build_id_len);
    h.build_id_len = im->build_id_len;
    h.blocks = symbols_blocks(d->syms, &h.nblocks);
    h.code_sum = recording_code_sum(im);
    for (unsigned k = 0; k < 2; k++)
        h.counter[k] = (struct profile_counter){ d->counter[k]->code, d->counter[k]->name,
                                                 d->counter[k]->unit };
    return h;
}

/* Nothing of the stream fitted the program: an error is better than a wrong profile. */
static int judge_loops(const struct decode *d, const char *path, struct err *err)
{
    const struct s12z_events_totals *t = s12z_events_totals(d->events);
    const struct s12z_flow_totals *f = s12z_flow_totals(s12z_events_flow(d->events));
    if (!d->stats.lines)
        return err_set(err, ERR_FORMAT,
                       "check --format; `probeprof dump lines` shows what is in the file",
                       "%s holds no trace line", path);
    if (!t->sessions)
        return err_set(err, ERR_FORMAT, "start the capture before the trace, or take a longer one",
                       "%s: no line says where the program was", path);
    if (t->misfits * 4 > t->lines)
        return err_set(err, ERR_FORMAT,
                       "is this the ELF that ran? `probeprof dump lines FILE --explain --elf E` "
                       "tries other encodings",
                       "%s: %llu of %llu lines do not fit the program; the first: %.90s", path,
                       (unsigned long long)t->misfits, (unsigned long long)t->lines,
                       t->first_misfit.what);
    (void)f;
    return 0;
}

/* What C1 is worth. */
static void time_note(const struct decode *d, char *note, size_t cap)
{
    double factor, spread;
    const struct s12z_time *t = s12z_events_time(d->events);
    if (s12z_time_factor(t, &factor, &spread))
        snprintf(note, cap,
                 "%llu stretches of known length took %.2f of what the cycle table says (scatter "
                 "%.2f); %llu more bus cycles were waited",
                 (unsigned long long)(t->stretches + t->arrivals), factor, spread,
                 (unsigned long long)t->waited);
    else
        snprintf(note, cap, "the trace has too few time stamps to judge the cycle table");
}

/* ---- what is wrong with it ---- */

static const char *plural_of(uint64_t n, const char *one, const char *many)
{
    if (n == 1)
        return one;
    return many;
}

/* Kept for the document and for standard error. */
__attribute__((format(printf, 4, 5))) static void add_remark(struct remarks *r, const char *kind,
                                                             uint64_t count, const char *fmt, ...)
{
    va_list ap;
    if (r->n == MAX_REMARKS)
        return;
    va_start(ap, fmt);
    vsnprintf(r->text[r->n], sizeof r->text[0], fmt, ap);
    va_end(ap);
    r->row[r->n] = (struct profile_remark){ kind, r->text[r->n], count };
    r->n++;
}

static int remark_loop(void *ctx, uint32_t low, uint32_t high, uint64_t entered)
{
    struct remarks *r = ctx;
    if (r->nloops++ < SHOWN_LOOPS)
        add_remark(
            r, "endless-loop", entered,
            "%06X..%06X goes round without a traced instruction: entered %llu times, how often "
            "it went round no trace can tell",
            low, high - 1, (unsigned long long)entered);
    return 0;
}

static void remark_overflows(const struct decode *d, struct remarks *r, uint64_t times)
{
    struct s12z_culprit c[1];
    char range[80] = "--start and --stop around less code avoid that";
    uint32_t start, stop;
    bool named = s12z_events_culprits(d->events, c, ARRAY_LEN(c)) && c[0].name;
    if (s12z_events_range(d->events, &start, &stop))
        snprintf(range, sizeof range, "--start 0x%06X --stop 0x%06X leaves that out", start, stop);
    add_remark(r, "overflow", times, "the trace buffer overflowed %llu time%s%s%s: %s",
               (unsigned long long)times, plural_of(times, "", "s"),
               text_if(named, ", mostly filled by returns of "), text_if(named, c[0].name), range);
}

/* Lines that are missing, or should be others. */
static void remark_lines(const struct decode *d, struct remarks *r)
{
    const struct s12z_events_totals *t = s12z_events_totals(d->events);
    if (d->stats.bad)
        add_remark(
            r, "bad-bytes", d->stats.bad_bytes,
            "%llu bytes in %llu place%s are no lines, first behind line %llu: what ran there is "
            "missing; `probeprof dump lines` shows where",
            (unsigned long long)d->stats.bad_bytes, (unsigned long long)d->stats.bad,
            plural_of(d->stats.bad, "", "s"), (unsigned long long)d->first_bad - 1);
    if (t->misfits)
        add_remark(r, "misfit", t->misfits,
                   "%llu line%s not fit the program, something was lost before; the first is line "
                   "%llu: %s; `probeprof dump flow` shows all",
                   (unsigned long long)t->misfits, plural_of(t->misfits, " does", "s do"),
                   (unsigned long long)d->first_misfit, t->first_misfit.what);
    if (d->middle)
        add_remark(
            r, "no-beginning", t->unplaced,
            "the capture begins in the middle, what ran before is missing: start it before the "
            "trace (%llu line%s came before an address)",
            (unsigned long long)t->unplaced, plural_of(t->unplaced, "", "s"));
    if (t->headless)
        add_remark(r, "no-first-line", t->headless,
                   "%llu session%s no first line, the first of them begins with line %llu: it was "
                   "lost, and what ran until the next address with it",
                   (unsigned long long)t->headless, plural_of(t->headless, " has", "s have"),
                   (unsigned long long)d->first_headless);
    if (t->unended)
        add_remark(
            r, "no-last-line", t->unended,
            "%llu session%s no last line, the first of them ends before line %llu: it was lost, "
            "or the part was reset",
            (unsigned long long)t->unended, plural_of(t->unended, " has", "s have"),
            (unsigned long long)d->first_unended);
    if (d->open)
        add_remark(
            r, "no-end", 0,
            "the capture is cut short: its last line ends no session; what ran then is missing");
}

static void remark_all(const struct decode *d, struct remarks *r)
{
    const struct s12z_events_totals *t = s12z_events_totals(d->events);
    const struct s12z_flow_totals *f = s12z_flow_totals(s12z_events_flow(d->events));
    uint32_t pc = 0;
    size_t open = s12z_flow_check(s12z_events_flow(d->events), &pc);
    remark_lines(d, r);
    if (t->overflows)
        remark_overflows(d, r, t->overflows);
    s12z_flow_loops(s12z_events_flow(d->events), remark_loop, r);
    if (r->nloops > SHOWN_LOOPS)
        add_remark(r, "endless-loop", r->nloops - SHOWN_LOOPS,
                   "%zu more places go round without a traced instruction",
                   r->nloops - SHOWN_LOOPS);
    if (f->unpaired)
        add_remark(
            r, "astray", f->unpaired,
            "%llu return%s went elsewhere than back, the first at %06X: so do task switches and "
            "long jumps; otherwise lines are missing or "
            "wrong before it",
            (unsigned long long)f->unpaired, plural_of(f->unpaired, "", "s"), f->first_unpaired);
    if (open)
        add_remark(r, "unbalanced", open,
                   "counts do not add up at %zu places, first at %06X: a loss nobody noticed", open,
                   pc);
}

static int finish_file(struct cli *cli, struct decode *d, const char *path, struct err *err)
{
    struct profile *p = NULL;
    struct profile_info info = { .target = "s12z", .elf = d->set.elf };
    struct recording_end end = {
        .time.target_cycles = s12z_flow_totals(s12z_events_flow(d->events))->core_cycles / 2 +
                              s12z_events_totals(d->events)->gap_cycles
    }; /* bus cycles, as of a live run */
    int ret = judge_loops(d, path, err);
    if (ret < 0)
        return ret;
    remark_all(d, &d->remarks);
    info.remarks = d->remarks.row;
    info.nremarks = end.nremarks = d->remarks.n;
    memcpy(end.remark, d->remarks.row, sizeof end.remark);
    time_note(d, end.note, sizeof end.note);
    info.note = end.note;
    info.time = end.time;
    for (unsigned k = 0; k < 2; k++)
        info.counter[k] = (struct profile_counter){ d->counter[k]->code, d->counter[k]->name,
                                                    d->counter[k]->unit };
    ret = capture_finish_recording(&d->capture, &end, err);
    if (ret > 0)
        outputs_tell_empty(cli, d->set.record);
    if (ret >= 0)
        ret = capture_profile(&d->capture, &info, &p, err);
    if (ret == 0) {
        for (size_t k = 0; k < d->remarks.n; k++)
            cli_warn(cli, "%s", d->remarks.text[k]);
        ret = view_show(&d->set, p, d->syms, cli->out, err);
    }
    if (ret == 0 && *d->set.output)
        ret = view_save(d->set.output, p, err);
    profile_free(p);
    return ret;
}

static int decode_file(struct cli *cli, struct decode *d, const char *path, struct err *err)
{
    struct recording_header h = fill_header(d);
    int ret = s12z_events_new(&d->cfg, &d->events, err);
    if (ret == 0)
        ret = capture_open(&d->capture, d->syms, &h, text_given(d->set.record), err);
    if (ret == 0)
        outputs_tell_kept(cli, &d->capture);
    if (ret == 0)
        ret = trace_input_read(path, &d->in, on_item, d, &d->stats, err);
    if (ret == 0)
        ret = s12z_events_end(d->events, err);
    if (ret == 0)
        ret = pass_events(d);
    if (ret < 0 && d->failure.code)
        *err = d->failure;
    if (ret < 0)
        return ret;
    return finish_file(cli, d, path, err);
}

static int run_decode(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct decode d = { .in.settings = s12z_settings_default() };
    const char *path;
    int ret = opts_parse(decode_opts, argc, argv, take_option, &d, &path, 1, err);
    if (ret < 0)
        return ret;
    if (ret == 0 || !d.has_format || !*d.set.elf)
        return err_set(err, ERR_USAGE, "probeprof decode run.lines --format lines --elf motor.elf",
                       "decode needs a file, --format and --elf");
    ret = useless_view(&d.set, err);
    if (ret == 0)
        ret = useless_passes(&d.set, err);
    if (ret == 0)
        ret = outputs_check(&d.set, path, err);
    if (ret == 0)
        ret = prepare_input(&d, err);
    if (ret == 0 && *d.blocks)
        cli_warn(cli, "%s", d.blocks);
    if (ret == 0)
        ret = decode_file(cli, &d, path, err);
    capture_close(&d.capture);
    s12z_events_free(d.events);
    symbols_close(d.syms);
    return ret;
}

const struct command command_decode = {
    "decode",
    "decode FILE --format FORM --elf E [OPTIONS]",
    "profile from a file of S12Z profiling lines",
    decode_opts,
    "C1 is bus clock cycles, estimated.\n\nExample:\n  probeprof decode capture.vcd --format vcd "
    "--elf motor.elf --tree\n",
    run_decode,
};
