#include "profiler/cli/settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/base/log.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "profiler/cli/conf.h"
#include "profiler/cli/project.h"
#include "profiler/bridge/sampler.h"
#include "probe/base/nearest.h"

const struct opt settings_opts[] = {
    SETTINGS_PROBE_OPT,
    { "target", 0, "T",
      "part behind the adapter, where the adapter does not imply it: sh7750, s12zvml128, ... "
      "(probeprof list)",
      SET_TARGET },
    { "speed", 0, "HZ",
      "wire clock: 10M, 500k, or auto: as fast as the wires allow (an S12Z sets its own: "
      "--bdc-fast)",
      SET_SPEED },
    { "chain", 0, "LIST",
      "IR lengths of the JTAG chain from TDI to TDO, the part marked: 4,16*,8; only where it "
      "cannot be told otherwise",
      SET_CHAIN },
    { "voltage", 0, "V", "what the target's supply must be, where the adapter measures it: 3.3, 5",
      SET_VOLTAGE },
    { "reset", 0, NULL, "pulse the board's reset pin before attaching", SET_RESET },
    { "bdc-fast", 0, NULL,
      "S12Z: BDC on the program's clock instead of 1 MHz: some fifty times faster, unless the "
      "program changes it often",
      SET_BDC_FAST },
    { "private", 0, NULL,
      "use private H-UDI commands: unverified on silicon; default on simulated boards only",
      SET_PRIVATE },
    { "no-private", 0, NULL, "documented commands only: needs the agent in the program",
      SET_NO_PRIVATE },
    { "elf", 'e', "E", "the program, with symbols", SET_ELF },
    { "load", 0, NULL, "reset the board, load the ELF into it, start it", SET_LOAD },
    { "no-load", 0, NULL, "attach to what is running, whatever probeprof.conf says", SET_NO_LOAD },
    { "allow-security", 0, NULL, "S12Z: load also a program whose security byte locks the part",
      SET_ALLOW_SECURITY },
    { "start", 's', "A",
      "profile from here on: 0x..., symbol, symbol+off, file.c:line (does not halt)", SET_START },
    { "stop", 't', "B", "pause profiling here; may be given many times (does not halt)", SET_STOP },
    { "c1", 0, "EVENT", "what counter 1 counts (probeprof events); default elapsed-time", SET_C1 },
    { "c2", 0, "EVENT", "what counter 2 counts; default icache-miss", SET_C2 },
    { "ratio", 0, NULL,
      "count cycles in bus clock units (CLKF), for programs that change the CPU clock", SET_RATIO },
    { "passes", 'n', "N", "end after N passes from start to stop", SET_PASSES },
    { "for", 0, "TIME", "end after this much target time: 30s, 500ms", SET_FOR },
    { "sample", 0, NULL,
      "statistical profile: look at the PC of the running program now and then, without tracing",
      SET_SAMPLE },
    { "rate", 0, "HZ", "how often --sample looks, on average; default 1k", SET_RATE },
    { "irq-filter", 0, "F", "off, auto, calls, shinobi or shinobi:SYMBOL", SET_IRQ_FILTER },
    { "policy", 0, "P",
      "lossless (stall the program when the trace is full) or live (drop and count)", SET_POLICY },
    { "capture", 0, "C",
      "where S12Z trace lines come from: pdo (pins, continuous), bdc (bursts), or auto",
      SET_CAPTURE },
    { "pdo", 0, "P",
      "what captures S12Z's pins PDO and PDOCLK, where the adapter does not: "
      "sigrok:DRIVER,pdo=D0,pdoclk=D1,rate=24M or file:F,...",
      SET_PDO },
    { "trace-lines", 0, NULL, "print the raw trace lines as they come (S12Z)", SET_TRACE_LINES },
    { "agent-ram", 0, "A:SIZE", "target RAM the trace agent may use", SET_AGENT_RAM },
    { "no-patch", 0, "RANGE",
      "SH-4: leave code as it is, untraced: LOW:HIGH (addresses or symbols), or a function; may be "
      "given many times",
      SET_NO_PATCH },
    { "stack", 0, "LOW:HIGH",
      "SH-4: a task's stack (addresses or symbols), where what runs does not tell tasks apart; may "
      "be given many times",
      SET_STACK },
    { "output", 'o', "F.prf", "write the profile in CodeScape's format", SET_OUTPUT },
    { "record", 'r', "F", "write the raw events; `probeprof report F` gives the same result again",
      SET_RECORD },
    { "gdb", 'g', "ADDR", "where GDB may connect: PORT, HOST:PORT, a /path, or off; default 3333",
      SET_GDB },
    { "no-profile", 0, NULL, "bridge for GDB only", SET_NO_PROFILE },
    { "json", 0, NULL, "print the profile as one JSON document", SET_JSON },
    SETTINGS_VIEW_OPTS,
    { "log", 0, "WHAT", "log to stderr: usb,wire,target,rsp,prof or all", SET_LOG },
    { "conf", 0, "F", "read this file instead of probeprof.conf, here or above; off: none",
      SET_CONF },
    { "help", 'h', NULL, "this text", SET_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

static int copy(char *to, size_t cap, const char *name, const char *text, struct err *err)
{
    if (!*text)
        return err_set(err, ERR_USAGE, "give it a value", "%s: empty", name);
    if (strlen(text) >= cap)
        return err_set(err, ERR_USAGE, "shorten it", "%s: longer than %zu characters", name,
                       cap - 1);
    strcpy(to, text);
    return 0;
}

static int set_bool(bool *to, const char *name, const char *text, struct err *err)
{
    static const char *const words[] = {
        "no", "yes", "off", "on", "0", "1", "false", "true", NULL
    };
    int at = 1;
    int ret = text ? opt_word(name, text, words, &at, err) : 0;
    if (ret == 0)
        *to = at & 1;
    return ret;
}

static int set_irq_filter(struct settings *s, const char *text, struct err *err)
{
    static const char *const words[] = { "off", "auto", "calls", "shinobi", NULL };
    int at;
    if (!strncmp(text, "shinobi:", 8)) {
        s->irq_filter = IRQ_FILTER_SHINOBI;
        return copy(s->shinobi_routine, sizeof s->shinobi_routine, "irq-filter shinobi", text + 8,
                    err);
    }
    int ret = opt_word("irq-filter", text, words, &at, err);
    if (ret == 0)
        s->irq_filter = (enum irq_filter)at;
    return ret;
}

/* ADDRESS:SIZE, both numbers, size with k or M. */
static int set_agent_ram(struct settings *s, const char *text, struct err *err)
{
    const char *at = text;
    uint64_t base, size;
    if (options_number(&at, 0, &base) && *at++ == ':' && options_number(&at, 0, &size)) {
        unsigned shift = *at == 'k' || *at == 'K' ? 10 : *at == 'M' ? 20 : 0;
        at += shift != 0;
        if (!*at && size && size << shift >> shift == size && size << shift <= 1u << 30 &&
            base <= (1ull << 32) - (size << shift)) {
            s->ram_base = base;
            s->ram_bytes = (uint32_t)(size << shift);
            return 0;
        }
    }
    return err_set(err, ERR_USAGE, "for example 0x8CF00000:64k",
                   "agent-ram: '%s' is not ADDRESS:SIZE", text);
}

/* Elsewhere a wire clock is said in kHz: so low a number without a unit is a mistake. */
enum { SPEED_BARE_LEAST_HZ = 100000 };

static int set_speed(struct settings *s, const char *text, struct err *err)
{
    unsigned hz = 0;
    char hint[64];
    bool bare = strspn(text, "0123456789") == strlen(text);
    s->speed_auto = !strcmp(text, "auto");
    int ret = s->speed_auto ? 0 : opt_hz("speed", text, &hz, err);
    if (ret == -ERR_USAGE && err)
        snprintf(err->hint, sizeof err->hint,
                 "10M, 500k, 1000000 (hertz), or auto: as fast as the wires allow");
    if (ret == 0 && bare && !s->speed_auto && hz < SPEED_BARE_LEAST_HZ) {
        snprintf(hint, sizeof hint, "write %sk for kilohertz, %sHz if that is meant", text, text);
        return err_set(err, ERR_USAGE, hint,
                       "speed: %s without a unit is hertz, which is very slow", text);
    }
    if (ret == 0)
        s->speed_hz = hz;
    return ret;
}

/* Volts: "3.3", "5V"; the supplies of parts are between 1 and 6. */
static int set_voltage(struct settings *s, const char *text, struct err *err)
{
    char *end;
    double v = strtod(text, &end);
    if ((!isdigit((unsigned char)*text) && *text != '.') || end == text ||
        (*end && strcmp(end, "V") && strcmp(end, "v")) || !(v >= 1 && v <= 6))
        return err_set(err, ERR_USAGE, "volts, for example 3.3",
                       "voltage: '%s' is not a number between 1 and 6", text);
    s->voltage_mv = (unsigned)(v * 1000 + 0.5);
    return 0;
}

static int set_rate(struct settings *s, const char *text, struct err *err)
{
    unsigned hz = 0;
    int ret = strtod(text, NULL) == 0 && strspn(text, "0.")
                  ? err_set(err, ERR_USAGE, "1 to 1M looks a second; 1k if not given",
                            "rate: %s: that would never look", text)
                  : opt_hz("rate", text, &hz, err);
    if (ret == 0 && hz > SAMPLE_RATE_MAX)
        return err_set(err, ERR_USAGE, "1M is the most", "rate: '%s' is more than any wire can do",
                       text);
    if (ret == 0)
        s->rate_hz = hz;
    return ret;
}

static int set_log(struct settings *s, const char *text, struct err *err)
{
    static const char *const words[] = { "usb", "wire", "target", "rsp", "prof", "all", NULL };
    char list[128], *rest = NULL;
    int at, ret = copy(list, sizeof list, "log", text, err);
    for (char *word = ret < 0 ? NULL : strtok_r(list, ",", &rest); word;
         word = strtok_r(NULL, ",", &rest)) {
        ret = opt_word("log", word, words, &at, err);
        if (ret < 0)
            return ret;
        s->log |= at == LOG_NSUBJECTS ? (1u << LOG_NSUBJECTS) - 1 : 1u << at;
    }
    return ret;
}

static int add_stop(struct settings *s, enum origin origin, const char *text, struct err *err)
{
    if (s->origin[SET_STOP] < origin)
        s->nstops = 0;
    if (s->nstops == TRACE_MAX_STOPS)
        return err_set(err, ERR_USAGE, "use fewer", "stop: more than %d stop points",
                       TRACE_MAX_STOPS);
    int ret = copy(s->stop[s->nstops], sizeof s->stop[0], "stop", text, err);
    s->nstops += ret == 0;
    return ret;
}

/* afresh: those that were there are of something that has less to say. */
static int add_range(struct settings_ranges *r, bool afresh, const char *name, const char *text,
                     struct err *err)
{
    if (afresh)
        r->n = 0;
    if (r->n == TRACE_MAX_RANGES)
        return err_set(err, ERR_USAGE, "name larger ranges", "%s: more than %d ranges", name,
                       TRACE_MAX_RANGES);
    int ret = copy(r->text[r->n], sizeof r->text[0], name, text, err);
    r->n += ret == 0;
    return ret;
}

static int set_policy(struct settings *s, const char *text, struct err *err)
{
    static const char *const words[] = { "lossless", "live", NULL };
    int at, ret = opt_word("policy", text, words, &at, err);
    if (ret == 0)
        s->policy = (enum trace_policy)at;
    return ret;
}

static int set_capture(struct settings *s, const char *text, struct err *err)
{
    static const char *const words[] = { "auto", "pdo", "bdc", NULL };
    int at, ret = opt_word("capture", text, words, &at, err);
    if (ret == 0)
        s->capture = (enum trace_capture)at;
    return ret;
}

static int apply(struct settings *s, enum setting id, enum origin origin, const char *v,
                 struct err *err)
{
    switch (id) {
    case SET_PROBE: return copy(s->probe, sizeof s->probe, "probe", v, err);
    case SET_TARGET: return copy(s->target, sizeof s->target, "target", v, err);
    case SET_SPEED: return set_speed(s, v, err);
    case SET_CHAIN: return copy(s->chain, sizeof s->chain, "chain", v, err);
    case SET_VOLTAGE: return set_voltage(s, v, err);
    case SET_RESET: return set_bool(&s->reset, "reset", v, err);
    case SET_BDC_FAST: return set_bool(&s->bdc_fast, "bdc-fast", v, err);
    case SET_ALLOW_SECURITY: return set_bool(&s->allow_security, "allow-security", v, err);
    case SET_ELF: return copy(s->elf, sizeof s->elf, "elf", v, err);
    case SET_LOAD: return set_bool(&s->load, "load", v, err);
    case SET_START: return copy(s->start, sizeof s->start, "start", v, err);
    case SET_STOP: return add_stop(s, origin, v, err);
    case SET_C1: return copy(s->counter[0], sizeof s->counter[0], "c1", v, err);
    case SET_C2: return copy(s->counter[1], sizeof s->counter[1], "c2", v, err);
    case SET_RATIO: return set_bool(&s->ratio, "ratio", v, err);
    case SET_PASSES: return opt_count("passes", v, 1, 1000000000, &s->passes, err);
    case SET_FOR: return opt_ns("for", v, &s->for_ns, err);
    case SET_SAMPLE: return set_bool(&s->sample, "sample", v, err);
    case SET_RATE: return set_rate(s, v, err);
    case SET_IRQ_FILTER: return set_irq_filter(s, v, err);
    case SET_POLICY: return set_policy(s, v, err);
    case SET_CAPTURE: return set_capture(s, v, err);
    case SET_PDO: return copy(s->pdo, sizeof s->pdo, "pdo", v, err);
    case SET_TRACE_LINES: return set_bool(&s->trace_lines, "trace-lines", v, err);
    case SET_AGENT_RAM: return set_agent_ram(s, v, err);
    case SET_NO_PATCH:
        return add_range(&s->no_patch, s->origin[SET_NO_PATCH] < origin, "no-patch", v, err);
    case SET_STACK: return add_range(&s->stack, s->origin[SET_STACK] < origin, "stack", v, err);
    case SET_OUTPUT: return copy(s->output, sizeof s->output, "output", v, err);
    case SET_RECORD: return copy(s->record, sizeof s->record, "record", v, err);
    case SET_GDB: return copy(s->gdb, sizeof s->gdb, "gdb", v, err);
    case SET_NO_PROFILE: return set_bool(&s->no_profile, "no-profile", v, err);
    case SET_JSON: return set_bool(&s->json, "json", v, err);
    case SET_TREE: return set_bool(&s->tree, "tree", v, err);
    case SET_HITS: return err_prefix(err, threshold_parse(v, &s->hits, err), "hits");
    case SET_ALL: return set_bool(&s->all, "all", v, err);
    case SET_SORT: return err_prefix(err, report_sort_parse(v, &s->sort, err), "sort");
    case SET_LOG: return set_log(s, v, err);
    case SET_CONF: return copy(s->conf, sizeof s->conf, "conf", v, err);
    case SET_HELP: return set_bool(&s->help, "help", v, err);
    case SET_REPORT: return copy(s->report, sizeof s->report, "report", v, err);
    case SET_HALT: return set_bool(&s->halt, "halt", v, err);
    case SET_PRIVATE: return set_bool(&s->allow_private, "private", v, err);
    case SET_NO_PRIVATE:
    case SET_NO_LOAD:
    case SET_COUNT: break;
    }
    return 0;
}

int settings_set(struct settings *s, enum setting id, enum origin origin, const char *value,
                 struct err *err)
{
    if (id == SET_NO_LOAD || id == SET_NO_PRIVATE) {
        id = id == SET_NO_LOAD ? SET_LOAD : SET_PRIVATE;
        value = "no";
    }
    if (s->origin[id] > origin)
        return 0;
    if (id == SET_START && s->origin[id] == origin)
        return err_set(err, ERR_USAGE, "one start point, as many stop points as you like",
                       "start: given twice, %s and %s", s->start, value);
    int ret = apply(s, id, origin, value, err);
    if (ret == 0)
        s->origin[id] = origin;
    return ret;
}

int settings_blame(const struct settings *s, enum setting id, int ret, struct err *err)
{
    char place[SETTINGS_TEXT + 16];
    if (ret >= 0 || s->origin[id] != ORIGIN_CONF)
        return ret;
    snprintf(place, sizeof place, "%s:%d", s->conf_path, s->conf_line[id]);
    return err_prefix(err, ret, place);
}

/* --load and --no-load are one setting; the same for --private. */
static int contradicts(const struct settings *s, int id, struct err *err)
{
    bool load = id == SET_LOAD || id == SET_NO_LOAD, yes = id == SET_LOAD || id == SET_PRIVATE;
    enum setting one = load ? SET_LOAD : SET_PRIVATE;
    if ((!load && id != SET_PRIVATE && id != SET_NO_PRIVATE) || s->origin[one] != ORIGIN_FLAG ||
        (load ? s->load : s->allow_private) == yes)
        return 0;
    return err_set(err, ERR_USAGE, "leave one of them out",
                   load ? "--load and --no-load contradict each other"
                        : "--private and --no-private contradict each other");
}

static int take_flag(void *ctx, int id, const char *value, struct err *err)
{
    int ret = contradicts(ctx, id, err);
    if (ret < 0)
        return ret;
    return settings_set(ctx, (enum setting)id, ORIGIN_FLAG, value, err);
}

/* Where the file is, and what it sets. */
struct conf_reader {
    const struct project *project;
    struct settings *settings;
};

static int take_value(struct conf_reader *c, enum setting id, int line, const char *value,
                      struct err *err)
{
    char text[SETTINGS_TEXT];
    if (c->settings->origin[id] > ORIGIN_CONF) /* it does not count: nor does what it could do */
        return 0;
    int ret = project_value(c->project, id, value, text, err);
    if (ret == 0)
        ret = settings_set(c->settings, id, ORIGIN_CONF, text, err);
    c->settings->conf_line[id] = line;
    return ret;
}

static int take_conf(void *ctx, int line, const char *section, const char *key, const char *value,
                     struct err *err)
{
    char hint[NEAREST_TEXT];
    struct nearest near = { .wanted = key };
    if (strcmp(section, "probeprof") && strcmp(section, "profile"))
        return err_set(err, ERR_USAGE, "settings go under [probeprof] or [profile]",
                       "%s stands in section [%s]", key, section);
    for (const struct opt *o = settings_opts; o->name; o++) {
        if (o->id == SET_HELP || o->id == SET_CONF || o->id == SET_NO_LOAD ||
            o->id == SET_NO_PRIVATE)
            continue;
        if (!strcmp(o->name, key))
            return take_value(ctx, (enum setting)o->id, line, value, err);
        nearest_offer(&near, o->name);
    }
    return err_set(
        err, ERR_USAGE,
        nearest_text(&near, "`probeprof run --help` lists the settings", hint, sizeof hint),
        "unknown setting '%s'", key);
}

/* One that was only found may be anything: a pipe that nobody writes would hold the program for
 * ever. errno is 0: it is no file. */
static FILE *open_conf(const char *path, bool found)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | (found ? O_NONBLOCK : 0));
    bool fit =
        fd >= 0 && fstat(fd, &st) == 0 && (found ? S_ISREG(st.st_mode) : !S_ISDIR(st.st_mode));
    FILE *in = fit ? fdopen(fd, "r") : NULL;
    int why = fd >= 0 && !fit ? 0 : errno;
    if (fd >= 0 && !in)
        close(fd);
    errno = why;
    return in;
}

static int read_conf(struct settings *s, struct err *err)
{
    struct project p;
    int ret = project_find(s->conf, &p, err);
    if (ret < 0 || !*p.conf)
        return ret;
    FILE *in = open_conf(p.conf, !*s->conf);
    if (!in)
        return err_set(err, ERR_NOT_FOUND,
                       errno ? "check the path, or --conf off" : "name a file, or --conf off",
                       "conf %s: %s", p.conf, errno ? strerror(errno) : "not a regular file");
    strcpy(s->conf_path, p.conf);
    ret = conf_parse(in, p.conf, take_conf, &(struct conf_reader){ &p, s }, err);
    fclose(in);
    return ret;
}

/* "probeprof fw.elf": load it, and profile it. */
static int take_program(struct settings *s, const char *program, struct err *err)
{
    if (s->origin[SET_ELF] == ORIGIN_FLAG)
        return err_set(err, ERR_USAGE, "name one program", "%s and --elf %s", program, s->elf);
    int ret = settings_set(s, SET_ELF, ORIGIN_FLAG, program, err);
    if (ret == 0 && s->origin[SET_LOAD] != ORIGIN_FLAG)
        ret = settings_set(s, SET_LOAD, ORIGIN_FLAG, "yes", err);
    return ret;
}

int settings_read(struct settings *s, const struct opt *opts, int argc, char **argv,
                  const char *probe_env, struct err *err)
{
    const char *program = NULL;
    *s = (struct settings){ 0 };
    int ret = opts_parse(opts, argc, argv, take_flag, s, &program, opts == settings_opts, err);
    if (ret > 0)
        ret = take_program(s, program, err);
    if (ret >= 0 && !s->help && probe_env && *probe_env)
        ret = settings_set(s, SET_PROBE, ORIGIN_ENV, probe_env, err);
    if (ret >= 0 && !s->help)
        ret = read_conf(s, err);
    return ret < 0 ? ret : 0;
}
