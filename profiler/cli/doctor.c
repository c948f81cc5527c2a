#include "profiler/cli/doctor.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/jtag_chain.h"
#include "probe/link.h"
#include "probe/probe.h"
#include "probe/usb.h"
#include "profiler/bridge/board_io.h"
#include "profiler/cli/chain.h"
#include "profiler/cli/parts.h"
#include "profiler/core/symbols.h"

enum { CHECK_BITS = 8192, HUB_CLASS = 9 /* USB 2.0, 11.23.1 */ };

struct doctor {
    struct cli *cli;
    const struct settings *set;
    const struct log *log;
    struct doctor_report *report;
    struct adapter_list list;
    const struct adapter *row; /* in list; NULL for adapters that are not listed: boards, hosts */
    struct probe *probe;
    struct target *target;
    const struct part *part;
    bool private_allowed;
    bool unpowered;    /* the adapter sees no target power */
    bool power_known;  /* it can tell */
    struct err pin;    /* of a pin that it sees held low; code ERR_OK: none */
    uint32_t found_hz; /* by --speed auto; 0: not looked for */
};

/* A step fills `detail`. Returns 0, 1 if it does not apply here, or what is wrong. */
struct step {
    const char *name;
    int (*look)(struct doctor *d, char *detail, size_t cap, struct err *err);
};

/* ---- the adapter ---- */

/* Devices but for hubs, or a failure. */
static int count_devices(struct err *err)
{
    enum { MAX = 64 };
    struct usb_info *dev = calloc(MAX, sizeof *dev);
    int n = dev ? usb_list(NULL, dev, MAX, err) : err_set(err, ERR_NOMEM, "", "out of memory"),
        count = 0;
    for (int i = 0; i < MIN(n, MAX); i++)
        count += !dev[i].nitfs || dev[i].itf[0].cls != HUB_CLASS;
    free(dev);
    return n < 0 ? n : count;
}

/* Nothing that a driver knows: is there anything on the bus at all? */
static int no_adapter(struct err *err)
{
    char what[sizeof err->what];
    snprintf(what, sizeof what, "%s", err->what);
    int n = count_devices(err);
    if (n < 0)
        return n;
    if (n == 0)
        return err_set(err, ERR_NOT_FOUND,
                       "is it plugged in? try another cable (some only charge) and another port; "
                       "in a container or virtual "
                       "machine USB must be passed in",
                       "%s: nothing at all is on the USB bus", what);
    return err_set(err, ERR_NOT_FOUND,
                   "is it plugged in, and one of those that `probeprof list` looks for? without "
                   "one: --probe sim:sh7750",
                   "%s, among %d device%s on the USB bus", what, n, n == 1 ? "" : "s");
}

static bool is_listed(const char *name)
{
    size_t len = strcspn(name, ":,");
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++)
        if (strlen((*d)->name) == len && !strncmp((*d)->name, name, len))
            return (*d)->list && !(*d)->own_spec;
    return true;
}

/* Serial ports are on every machine, and say nothing. */
static bool any_listed(const struct adapter_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (!list->row[i].driver->own_spec)
            return true;
    return false;
}

static int choose_adapter(struct doctor *d, const char *name, struct err *err)
{
    char driver[32];
    size_t len = strcspn(name, ":,");
    struct adapter_spec spec = { 0 };
    int ret = *name ? adapter_spec_parse(name + len + (name[len] == ':'), &spec, err) : 0;
    snprintf(driver, sizeof driver, "%.*s", (int)MIN(len, sizeof driver - 1), name);
    spec.need = part_needs(d->set->target);
    if (ret == 0)
        ret = adapters_find(true, &d->list, err);
    for (size_t i = 0; i < d->list.n && d->report->nserials < DOCTOR_SERIALS; i++)
        if (*d->list.row[i].serial)
            snprintf(d->report->serial[d->report->nserials++], sizeof d->report->serial[0], "%s",
                     d->list.row[i].serial);
    return ret < 0 ? ret : adapter_choose(&d->list, *name ? driver : NULL, &spec, err);
}

static int look_adapter(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    const char *name = d->set->probe;
    int ret = *name ? probe_named(name, err) : 0;
    if (ret < 0)
        return ret;
    if (*name && !is_listed(name)) {
        snprintf(d->report->probe, sizeof d->report->probe, "%s", name);
        snprintf(detail, cap, "%s, as named", name);
        return 0;
    }
    ret = choose_adapter(d, name, err);
    if (ret == -ERR_NOT_FOUND && !any_listed(&d->list))
        return no_adapter(err);
    if (ret < 0)
        return ret;
    d->row = &d->list.row[ret];
    if (*name) /* its options are in it */
        snprintf(d->report->probe, sizeof d->report->probe, "%s", name);
    else
        adapter_name(&d->list, (size_t)ret, d->report->probe, sizeof d->report->probe);
    snprintf(detail, cap, "%s%s%s, at %s", d->report->probe, *d->row->product ? ", " : "",
             d->row->product, d->row->bus_path);
    return 0;
}

static int look_access(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    struct probe_config cfg = {
        .spec = "", .speed_hz = d->set->speed_hz, .boards = d->cli->boards, .log = d->log
    };
    if (d->row && d->row->problem.code != ERR_OK) {
        *err = d->row->problem;
        return -(int)err->code;
    }
    if (d->row && !d->row->can)
        return err_set(err, ERR_UNSUPPORTED,
                       "it takes an adapter with JTAG for SH-4, with BDC for S12Z",
                       "this adapter cannot serve: %s", d->row->note);
    int ret = probe_open(d->report->probe, &cfg, &d->probe, err);
    snprintf(detail, cap, "open%s", d->row ? ", and no other program's" : "");
    return ret;
}

static int look_firmware(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    (void)err;
    if (!d->row || (!*d->row->firmware && !*d->row->note)) {
        snprintf(detail, cap, "this adapter does not tell");
        return 1;
    }
    snprintf(detail, cap, "%s%s%s", d->row->firmware,
             *d->row->firmware && *d->row->note ? "; " : "", d->row->note);
    return 0;
}

/* ---- the wire ---- */

static int no_power(struct err *err)
{
    return err_set(
        err, ERR_NO_TARGET,
        "switch the board on; check the cable's orientation, and pin VTref of the debug connector",
        "the adapter sees no target power");
}

static int look_power(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    unsigned mv = 0, wanted = d->set->voltage_mv;
    int power = link_power(d->probe, &mv, err);
    if (power < 0)
        return power;
    d->unpowered = power == LINK_POWER_OFF;
    d->power_known = power != LINK_POWER_UNKNOWN;
    if (power == LINK_POWER_UNKNOWN) {
        snprintf(detail, cap, "this adapter cannot tell");
        return 1;
    }
    if (d->unpowered) /* wrong only if nothing answers: the pin may be open */
        snprintf(detail, cap, "not seen, though the board answers: pin VTref may be open");
    else if (mv)
        snprintf(detail, cap, "%u.%02u V", mv / 1000, mv % 1000 / 10);
    else
        snprintf(detail, cap, "the target has power");
    if (wanted && mv && (mv * 10 < wanted * 9 || mv * 10 > wanted * 11))
        return err_set(err, ERR_NO_TARGET, "check the board's supply and pin VTref",
                       "the target has %s, not %u.%02u V", detail, wanted / 1000,
                       wanted % 1000 / 10);
    return 0;
}

/* Pins that should be high and that the adapter sees low although it does not drive them. */
static int look_pins(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    static const struct {
        bool bdc;
        unsigned pin;
        const char *what, *hint;
    } rows[] = {
        { false, JTAG_PIN_NTRST, "nTRST is low: the TAP is held in reset",
          "find what pulls it low: a jumper, a pull-down, the wiring" },
        { false, JTAG_PIN_NRESET, "nRESET is low: the board is held in reset",
          "switch the board on; let go of the reset button; look at what drives the pin" },
        { true, BDC_PIN_RESET, "RESET is low: the part is held in reset",
          "switch the board on; let go of the reset button; look at what drives the pin" },
        { true, BDC_PIN_BKGD, "BKGD is low",
          "look for a short to ground, or another pod on the line" },
    };
    const struct jtag_ops *j = d->probe->driver->jtag;
    const struct bdc_ops *b = d->probe->driver->bdc;
    unsigned value = 0, known = 0;
    int (*get)(struct probe *, unsigned *, unsigned *, struct err *) = b ? b->get_pins : NULL;
    if (j)
        get = j->get_pins;
    bool seen = false, all = true;
    int ret = get && !d->unpowered ? get(d->probe, &value, &known, err) : -ERR_UNSUPPORTED;
    if (ret < 0 && ret != -ERR_UNSUPPORTED)
        return ret;
    for (size_t i = 0; ret == 0 && i < ARRAY_LEN(rows); i++) {
        if (rows[i].bdc != !j)
            continue;
        seen |= known & rows[i].pin;
        all = all && known & rows[i].pin;
        if (known & ~value & rows[i].pin) {
            err_set(&d->pin, ERR_NO_TARGET, rows[i].hint, "%s%s", rows[i].what,
                    d->power_known ? "" : ", or has no power, which this adapter cannot tell");
            snprintf(detail, cap, "%s, says the adapter", rows[i].what);
            return 0; /* some adapters say so whatever is there: what comes next shows it */
        }
    }
    const char *words =
        d->unpowered ? "not looked at without power" : "this adapter does not see them";
    if (seen)
        words = all ? "none is held low" : "none of those it sees is held low";
    snprintf(detail, cap, "%s", words);
    return !seen;
}

/* The clock that was found or asked for. */
static int clock_found(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    const struct part *part;
    struct link_speed s;
    char hz[24], failed[24];
    uint32_t most =
        part_choose(d->set->target, d->report->probe, &part, NULL) == 0 ? part->most_tck_hz : 0;
    int ret = link_speed_auto(d->probe, most, &s, err);
    if (ret < 0)
        return ret;
    d->found_hz = s.hz;
    link_hz_text(s.hz, hz, sizeof hz);
    if (s.failed_hz)
        snprintf(detail, cap, "%s; bits are lost at %s", hz,
                 link_hz_text(s.failed_hz, failed, sizeof failed));
    else
        snprintf(detail, cap, "%s, the most of adapter and part; no bit was lost", hz);
    return 0;
}

static int clock_asked(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    char hz[24], wanted[24];
    uint32_t got = 0;
    int ret = d->probe->driver->jtag->set_clock(d->probe, d->set->speed_hz, &got, err);
    bool other = got < d->set->speed_hz / 10 * 9 || got > d->set->speed_hz;
    link_hz_text(got, hz, sizeof hz);
    snprintf(detail, cap, other ? "%s, what this adapter makes of %s" : "%s", hz,
             link_hz_text(d->set->speed_hz, wanted, sizeof wanted));
    return ret;
}

static int look_clock(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    const struct jtag_ops *j = d->probe->driver->jtag;
    if (d->unpowered || !j) {
        const char *words = d->probe->driver->stream
                                ? "bytes have none; of a serial port it is baud= in --probe"
                                : "the part sets it";
        snprintf(detail, cap, "%s", j ? "looked at below, without power" : words);
        return 1;
    }
    if (!d->set->speed_auto && !d->set->speed_hz) {
        snprintf(detail, cap, "the adapter's default; --speed auto finds the most");
        return 1;
    }
    return d->set->speed_auto ? clock_found(d, detail, cap, err) : clock_asked(d, detail, cap, err);
}

static int look_jtag(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    struct jtag_chain chain;
    char text[160];
    uint32_t rate = 0;
    int ret = link_check(d->probe, CHECK_BITS, NULL, err);
    if (ret == 0)
        ret = link_rate(d->probe, &rate, err);
    if (ret == 0)
        ret = jtag_chain_scan(d->probe, &chain, err);
    if (ret == 0)
        snprintf(detail, cap, "bits pass unharmed, %u %sbit/s; %s",
                 (unsigned)(rate < 10000 ? rate : rate / 1000), rate < 10000 ? "" : "k",
                 jtag_chain_text(&chain, text, sizeof text));
    return ret;
}

static int look_bdc(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    uint32_t hz = 0;
    int ret = d->probe->driver->bdc->sync(d->probe, &hz, err);
    if (ret == 0)
        snprintf(detail, cap, "the part answers SYNC: BDC clock %u kHz", (unsigned)(hz / 1000));
    return ret;
}

/* The board may hang at another channel of the adapter. */
static void hint_channel(const struct doctor *d, struct err *err)
{
    char name[PROBE_NAME_MAX];
    size_t at = strlen(err->hint);
    for (size_t i = 0; d->row && *d->row->channel && i < d->list.n; i++) {
        const struct adapter *a = &d->list.row[i];
        if (a == d->row || a->driver != d->row->driver || strcmp(a->bus_path, d->row->bus_path) ||
            !a->can)
            continue;
        adapter_name(&d->list, i, name, sizeof name);
        if (at + strlen(name) + 40 < sizeof err->hint)
            snprintf(err->hint + at, sizeof err->hint - at,
                     "; is the board at its other channel? --probe %s", name);
        return;
    }
}

static int look_wire(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    const struct probe_driver *drv = d->probe->driver;
    if (!drv->jtag && !drv->bdc) {
        snprintf(detail, cap,
                 drv->stream ? "bytes: what answers them is looked at next"
                             : "neither JTAG nor BDC");
        return 1;
    }
    int ret = drv->jtag ? look_jtag(d, detail, cap, err) : look_bdc(d, detail, cap, err);
    if (ret == -ERR_NO_TARGET)
        hint_channel(d, err);
    return ret;
}

/* ---- the part ---- */

static const char *state_text(const struct target *t)
{
    static const char *const text[] = {
        [TARGET_RUNNING] = ", its program runs", [TARGET_HALTED] = ", halted"
    };
    unsigned s = t->ops->state((struct target *)t);
    return s < ARRAY_LEN(text) && text[s] ? text[s] : "";
}

/* The program's byte order is the part's; without a program that can be read, little-endian. */
static bool big_endian(const struct settings *set)
{
    struct symbols *syms;
    if (!*set->elf || symbols_open(set->elf, &syms, NULL) < 0)
        return false;
    bool big = symbols_image(syms)->big_endian;
    symbols_close(syms);
    return big;
}

/* The part's own registers may want a lower clock than its BYPASS. */
static void tell_clock(struct doctor *d, char *detail, size_t cap)
{
    struct target_wire w = { .hz = 0 };
    char hz[24], from[24];
    size_t at = strlen(detail);
    if (d->target->ops->wire)
        d->target->ops->wire(d->target, &w);
    if (w.from_hz)
        snprintf(detail + at, cap - at, "; at %s: its own registers lose bits at %s",
                 link_hz_text(w.hz, hz, sizeof hz), link_hz_text(w.from_hz, from, sizeof from));
}

/* The agent at the far end of bytes: silent while the program runs. */
static bool is_serial(const struct doctor *d)
{
    const struct stream_ops *s = d->probe->driver->stream;
    return s && !(s->traits(d->probe) & (STREAM_RSP | STREAM_DATAGRAMS));
}

static int look_part(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    bool asked = d->set->origin[SET_PRIVATE] != ORIGIN_NONE;
    d->private_allowed = asked ? d->set->allow_private : !strncmp(d->report->probe, "sim:", 4);
    struct part_options opt = { .allow_private = d->private_allowed,
                                .bdc_fast = d->set->bdc_fast,
                                .found_hz = d->found_hz,
                                .big_endian = big_endian(d->set) };
    if (!*d->set->target && strncmp(d->report->probe, "sim:", 4)) {
        snprintf(detail, cap, "not looked at: --target says which it is (probeprof list)");
        return 1;
    }
    char chain[200] = "";
    int ret = part_choose(d->set->target, d->report->probe, &d->part, err);
    if (ret == 0)
        ret = chain_find_part(&d->probe, d->part, d->set->chain, chain, sizeof chain, err);
    if (ret == 0)
        ret = d->part->open(d->part, d->probe, &opt, &d->target, err);
    if (ret == 0)
        ret = d->target->ops->attach(d->target, err);
    if (ret == 0)
        snprintf(detail, cap, "%s%s%s", d->target->ops->name, state_text(d->target),
                 *chain && strrchr(chain, ';') ? strrchr(chain, ';') : "");
    if (ret == 0)
        tell_clock(d, detail, cap);
    if (ret == 0 && d->target->ops->remark && d->target->ops->remark(d->target))
        snprintf(detail + strlen(detail), cap - strlen(detail), "; %s",
                 d->target->ops->remark(d->target));
    if (ret == 0 && is_serial(d) && d->target->ops->state(d->target) == TARGET_RUNNING) {
        snprintf(detail, cap, "nothing is heard, as of a program that runs%s",
                 d->set->halt ? "" : "; --halt finds out whether an agent is there");
        return 1;
    }
    if (ret == -ERR_SECURED)
        snprintf(err->hint, sizeof err->hint,
                 "if all of its flash and EEPROM may go: `probeprof --no-profile` with these "
                 "options, then in GDB "
                 "`target extended-remote :3333` and `monitor unsecure`");
    return ret;
}

/* What else there is to try with an SH-4 over JTAG. */
static void add_way_out(const struct doctor *d, struct err *err)
{
    const char *more =
        *d->set->elf ? "" : "; if the board is big-endian name its program: --elf FILE";
    if (!d->private_allowed)
        more = "; or no agent is needed: --private";
    snprintf(err->hint + strlen(err->hint), sizeof err->hint - strlen(err->hint), "%s", more);
}

static int look_cpu(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    uint8_t pc[16] = { 0 };
    if (!d->target || !d->set->halt) {
        snprintf(detail, cap,
                 d->target ? "not looked at: --halt holds the program for a moment"
                           : "not looked at");
        return 1;
    }
    const struct target_ops *ops = d->target->ops;
    bool ran = ops->state(d->target) == TARGET_RUNNING;
    int ret = ran ? board_halt(d->target, err) : 0;
    if (ret == 0)
        ret = ops->read_reg(d->target, ops->pc_reg, pc, err);
    if (ret == 0 && ran)
        ret = ops->resume(d->target, &(struct resume){ .kind = RESUME_CONTINUE }, err);
    snprintf(detail, cap, "halts, shows its registers%s", ran ? ", and goes on" : "");
    if (ret < 0 && is_serial(d))
        snprintf(err->hint, sizeof err->hint,
                 "is the agent linked in and called, its baud rate this one (baud= in --probe), "
                 "are RX and TX crossed? does the program "
                 "mask interrupts?");
    else if (ret < 0 && d->part->elf_machine == EM_SH && d->probe->driver->jtag)
        add_way_out(d, err);
    return MIN(ret, 0);
}

/* ---- beside the adapter ---- */

/* Edges of a moment. Until a profile is armed the part keeps both pins still. */
static int watch_pins(struct probe *p, char *detail, size_t cap, struct err *err)
{
    enum { MOST = 4096 };
    const struct pdo_ops *o = p->driver->pdo;
    pdo_edge *edge = malloc(MOST * sizeof *edge);
    uint64_t tick_hz, lost, edges = 0;
    int ret = edge ? o->start(p, &tick_hz, err)
                   : err_set(err, ERR_NOMEM, "close other programs", "out of memory"),
        n = 1;
    if (ret == 0 && o->catch_up)
        ret = o->catch_up(p, err);
    for (; ret == 0 && n > 0 && edges < 100 * MOST; edges += (uint64_t)MAX(n, 0))
        n = o->read(p, edge, MOST, &lost, err);
    ret = ret == 0 && n < 0 ? n : ret;
    if (edge)
        o->stop(p, NULL);
    free(edge);
    uint64_t hz = o->sample_hz ? o->sample_hz(p) : 0;
    size_t at = (size_t)snprintf(detail, cap, "%s: ", p->name);
    at += hz && at < cap
              ? (size_t)snprintf(detail + at, cap - at, "%.4g MHz samples; ", (double)hz / 1e6)
              : 0;
    if (at < cap)
        snprintf(detail + at, cap - at,
                 edges > 1 ? "PDO and PDOCLK move"
                           : "PDO and PDOCLK stand still, as they do until a profile is armed");
    return ret;
}

static int look_pdo(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    const struct probe_config cfg = { .spec = "", .boards = d->cli->boards, .log = d->log };
    struct probe *p;
    if (!*d->set->pdo)
        return 1;
    int ret = probe_open(d->set->pdo, &cfg, &p, err);
    if (ret < 0)
        return err_prefix(err, ret, "--pdo");
    ret = p->driver->pdo ? watch_pins(p, detail, cap, err)
                         : err_set(err, ERR_USAGE, "--pdo sigrok:DRIVER,... or file:PATH,...",
                                   "--pdo %s: it cannot capture PDO and PDOCLK", p->name);
    probe_close(p);
    return ret;
}

/* ---- */

static const struct step steps[] = {
    { "adapter", look_adapter }, { "access", look_access }, { "firmware", look_firmware },
    { "power", look_power },     { "pins", look_pins },     { "clock", look_clock },
    { "wire", look_wire },       { "part", look_part },     { "cpu", look_cpu },
    { "pdo", look_pdo },
};
_Static_assert(ARRAY_LEN(steps) == DOCTOR_STEPS, "a step without a place in the report");

/* A missing target power, or a pin that is held low, that explains what came after it is what is
 * wrong first. */
static void blame_earlier(struct doctor *d, const struct doctor_step *failed)
{
    enum { POWER = 3, PINS = 4 };
    struct doctor_step *cause = &d->report->step[d->unpowered ? POWER : PINS];
    if ((!d->unpowered && d->pin.code == ERR_OK) || failed <= cause ||
        failed->problem.code == ERR_USB)
        return;
    cause->state = DOCTOR_WRONG;
    cause->problem = d->pin;
    if (d->unpowered)
        no_power(&cause->problem);
    cause->detail[0] = 0;
    for (struct doctor_step *s = cause + 1; s < d->report->step + DOCTOR_STEPS; s++) {
        s->state = DOCTOR_NOT_REACHED;
        s->detail[0] = 0;
    }
}

static void leave_board(struct doctor *d)
{
    if (d->target) {
        enum target_state s = d->target->ops->state(d->target);
        if (s != TARGET_DETACHED && s != TARGET_GONE)
            d->target->ops->detach(d->target, NULL);
        d->target->ops->close(d->target);
    }
    probe_close(d->probe);
    adapter_list_free(&d->list);
}

bool doctor(struct cli *cli, const struct settings *set, const struct doctor_watch *watch,
            const struct log *log, struct doctor_report *out)
{
    struct doctor d = { .cli = cli, .set = set, .log = log, .report = out };
    bool well = true;
    *out = (struct doctor_report){ 0 };
    for (size_t i = 0; i < DOCTOR_STEPS; i++)
        out->step[i].name = steps[i].name;
    for (size_t i = 0; well && i < DOCTOR_STEPS; i++) {
        struct doctor_step *s = &out->step[i];
        if (watch)
            watch->looking(watch->ctx, s->name);
        int ret = steps[i].look(&d, s->detail, sizeof s->detail, &s->problem);
        s->state = ret > 0 ? DOCTOR_SKIPPED : DOCTOR_OK;
        if (ret < 0)
            s->state = DOCTOR_WRONG;
        well = ret >= 0;
        if (!well) {
            s->detail[0] = 0;
            blame_earlier(&d, s);
        }
    }
    leave_board(&d);
    return well;
}
