#include <inttypes.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/cli/command.h"
#include "profiler/cli/explain.h"
#include "profiler/cli/parts.h"
#include "targets/s12z/offline/trace_input.h"
#include "profiler/core/symbols.h"
#include "targets/s12z/trace/events.h"
#include "targets/s12z/offline/explain.h"

enum {
    OPT_FORMAT,
    OPT_ELF,
    OPT_EXPLAIN,
    OPT_SETTING,
    OPT_SIGNALS,
    OPT_UNIT,
    OPT_IVBR,
    OPT_JSON,
    OPT_HELP
};

static const struct opt dump_opts[] = {
    { "format", 'f', "FORM", "what the file is: " TRACE_FORMATS "; default lines", OPT_FORMAT },
    { "elf", 'e', "E", "the program that was traced; events and flow need it", OPT_ELF },
    { "explain", 0, NULL,
      "try the unconfirmed encodings, together too, and say which fit; wants --elf", OPT_EXPLAIN },
    { "setting", 0, "NAME=VALUE", "an unconfirmed encoding; may be given again", OPT_SETTING },
    { "signals", 0, "CLK,DATA",
      "names of the two signals in a capture, default PDOCLK,PDO; of raw samples their bits, "
      "default 1,0",
      OPT_SIGNALS },
    { "unit", 0, "BYTES", "bytes a sample, of raw samples; default 1", OPT_UNIT },
    { "ivbr", 0, "N", "where the program's vector table was, register IVBR; default 0xFFFE",
      OPT_IVBR },
    { "json", 0, NULL, "of --explain: print one JSON document", OPT_JSON },
    { "help", 'h', NULL, "this text", OPT_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

enum what { DUMP_LINES, DUMP_BITS, DUMP_EVENTS, DUMP_FLOW };

struct dump {
    FILE *out;
    enum what what;
    const char *path, *elf;
    struct trace_input in;
    bool explain, json;
    unsigned long ivbr;
    struct symbols *syms;
    struct s12z_flow *flow;
    uint64_t number; /* of the line */
};

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    struct dump *d = ctx;
    switch (id) {
    case OPT_FORMAT: return trace_format_parse(value, &d->in.format, err);
    case OPT_ELF: d->elf = value; return 0;
    case OPT_EXPLAIN: d->explain = true; return 0;
    case OPT_JSON: d->json = true; return 0;
    case OPT_SETTING: return s12z_setting_parse(&d->in.settings, value, err);
    case OPT_IVBR: return opt_count("ivbr", value, 0, 0xFFFF, &d->ivbr, err);
    case OPT_SIGNALS: return trace_signals_parse(value, &d->in, err);
    case OPT_UNIT: return opt_count("unit", value, 1, 16, &d->in.unit, err);
    default: return 0;
    }
}

/* ---- what is shown ---- */

static void bits_text(const struct s12z_line *l, char out[33])
{
    for (unsigned k = 0; k < l->nbranches; k++)
        out[k] = l->branches >> (l->nbranches - 1 - k) & 1 ? 'T' : 'n';
    out[l->nbranches] = 0;
}

static void show_line(struct dump *d, const struct s12z_item *i)
{
    const struct s12z_line *l = &i->line;
    char bits[33], place[96] = "";
    bits_text(l, bits);
    if (l->format == S12Z_PTS || l->format == S12Z_PTIB)
        symbols_describe(d->syms, l->address, place, sizeof place);
    text_print(d->out, "%8" PRIu64 " %016" PRIX64 " %-4s", i->offset, i->raw,
               s12z_line_name(l->format));
    if (l->format != S12Z_PTS)
        text_print(d->out, " %s", text_or(text_given(bits), "-"));
    if (l->format == S12Z_PTS || l->format == S12Z_PTIB)
        text_print(d->out, " -> %06" PRIX32 "%s%s", l->address, text_if(d->syms, " "),
                   text_if(d->syms, place));
    if (l->format == S12Z_PTVB)
        fprintf(d->out, " vector %u", (0xFEu - l->vector) / 2);
    if (l->format == S12Z_PTVB || l->format == S12Z_PTW)
        fprintf(d->out, " +%u", l->stamp);
    text_print(d->out, "%s%s%s\n", text_if(l->stamp_overflow, " TSOVF"),
               text_if(l->overflow, " TBOVF"), text_if(l->end, " TERM"));
}

static void on_event(void *ctx, const struct event *e)
{
    struct dump *d = ctx;
    static const char *const names[] = {
        [EVENT_START] = "start",         [EVENT_STOP] = "stop",     [EVENT_CALL] = "call",
        [EVENT_JUMP] = "jump",           [EVENT_RETURN] = "return", [EVENT_INTERRUPT] = "interrupt",
        [EVENT_EXCEPTION] = "exception", [EVENT_RTE] = "rti"
    };
    char from[96] = "", to[96] = "";
    if (d->what != DUMP_EVENTS || e->kind >= ARRAY_LEN(names) || !names[e->kind])
        return;
    if (e->flags & EVENT_HAS_PC)
        symbols_describe(d->syms, e->pc, from, sizeof from);
    if (e->flags & EVENT_HAS_TARGET)
        symbols_describe(d->syms, e->target, to, sizeof to);
    text_print(d->out, "%8" PRIu64 " %10" PRIu64 " %-9s %s%s%s\n", d->number,
               s12z_flow_totals(d->flow)->core_cycles / 2, names[e->kind], from,
               text_if(*to, " -> "), to);
}

static void show_flow(struct dump *d, bool fits, const struct err *why)
{
    char place[96];
    const struct s12z_flow_totals *t = s12z_flow_totals(d->flow);
    if (!fits)
        text_print(d->out, "%8" PRIu64 " does not fit: %s\n", d->number, why->what);
    else if (d->what == DUMP_FLOW && s12z_flow_synchronised(d->flow))
        text_print(d->out,
                   "%8" PRIu64 " %06" PRIX32 " %-32s branches %" PRIu64 " instructions %" PRIu64
                   "\n",
                   d->number, s12z_flow_pc(d->flow),
                   symbols_describe(d->syms, s12z_flow_pc(d->flow), place, sizeof place),
                   t->branches, t->instructions);
    else if (d->what == DUMP_FLOW)
        fprintf(d->out, "%8" PRIu64 " position not known\n", d->number);
}

static int walk_line(struct dump *d, const struct s12z_item *i)
{
    struct err why = { .code = ERR_OK };
    int ret = s12z_flow_line(d->flow, &i->line, &why);
    if (ret == -ERR_NOMEM)
        return ret;
    show_flow(d, ret == 0, &why);
    return 0;
}

static int on_item(void *ctx, const struct s12z_item *i)
{
    struct dump *d = ctx;
    char bits[33];
    if (i->kind == S12Z_ITEM_BAD) {
        text_print(d->out, "%8" PRIu64 " %" PRIu32 " bytes are no lines: %s\n", i->offset, i->bytes,
                   i->why);
        if (d->flow)
            s12z_flow_lost(d->flow);
        return 0;
    }
    d->number++;
    if (d->what == DUMP_LINES)
        show_line(d, i);
    bits_text(&i->line, bits);
    if (d->what == DUMP_BITS && *bits)
        text_print(d->out, "%s\n", bits);
    if (d->what != DUMP_EVENTS && d->what != DUMP_FLOW)
        return 0;
    return walk_line(d, i);
}

static int open_flow(struct dump *d, const struct s12z_settings *s, struct err *err)
{
    int ret = s12z_flow_new(symbols_image(d->syms), s, on_event, d, &d->flow, err);
    if (ret == 0 && d->ivbr)
        s12z_flow_set_vectors(d->flow, (uint16_t)d->ivbr);
    return ret;
}

/* ---- the command ---- */

static int prepare_input(struct dump *d, struct err *err)
{
    bool walks = d->what == DUMP_EVENTS || d->what == DUMP_FLOW || d->explain;
    int ret = 0;
    if (d->json && !d->explain)
        return err_set(err, ERR_USAGE, "add --explain, or leave --json out",
                       "--json is for --explain");
    if (walks && !d->elf)
        return err_set(err, ERR_USAGE, "add --elf FILE",
                       "events, flow and --explain follow the program, so they need it");
    if (d->elf)
        ret = symbols_open(d->elf, &d->syms, err);
    if (ret == 0 && d->elf && symbols_machine(d->syms) != 249)
        ret = err_set(err, ERR_FORMAT, "give the ELF of the S12Z program", "%s is for another CPU",
                      d->elf);
    if (ret == 0 && walks && !d->explain)
        ret = open_flow(d, &d->in.settings, err);
    return ret;
}

static int run_dump(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct dump d = { .out = cli->out, .in.settings = s12z_settings_default() };
    struct trace_input_stats stats = { 0 };
    const char *args[2];
    int what = 0, ret = opts_parse(dump_opts, argc, argv, take_option, &d, args, 2, err);
    if (ret < 0)
        return ret;
    if (ret < 2)
        return err_set(err, ERR_USAGE, "probeprof dump lines run.lines",
                       "dump needs what to show (lines, bits, events, flow) and a file");
    ret = opt_word("dump", args[0], "lines bits events flow", &what, err); /* enum what */
    if (ret < 0)
        return ret;
    d.what = (enum what)what;
    d.path = args[1];
    ret = prepare_input(&d, err);
    if (ret == 0)
        ret = d.explain ? explain_file(cli,
                                       &(struct explain_config){ d.path, d.in, d.syms,
                                                                 (uint16_t)d.ivbr, d.json },
                                       err)
                        : trace_input_read(d.path, &d.in, on_item, &d, &stats, err);
    if (ret == 0 && !d.explain && !stats.lines)
        ret = err_set(err, ERR_FORMAT, "check --format", "%s holds no trace line", d.path);
    s12z_flow_free(d.flow);
    symbols_close(d.syms);
    return ret;
}

const struct command command_dump = {
    "dump",
    "dump lines|bits|events|flow FILE [OPTIONS]",
    "show S12Z profiling lines, or what follows from them",
    dump_opts,
    "Example:\n  probeprof dump lines run.lines\n  probeprof dump lines capture.vcd --format vcd "
    "--elf motor.elf --explain\n",
    run_dump,
};
