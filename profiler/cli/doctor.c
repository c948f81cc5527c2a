#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/bridge/board_io.h"
#include "profiler/cli/chain.h"
#include "profiler/cli/doctor_priv.h"
#include "profiler/core/symbols.h"

/* ---- the part ---- */

static const char *state_text(const struct target *t)
{
    static const char *const text[] = {
        [TARGET_RUNNING] = ", its program runs", [TARGET_HALTED] = ", halted"
    };
    unsigned s = t->ops->state((struct target *)t);
    if (s >= ARRAY_LEN(text))
        return "";
    return text_or(text[s], "");
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
    bool simulated = !strncmp(d->report->probe, "sim:", 4);
    d->private_allowed = simulated;
    if (d->set->origin[SET_PRIVATE] != ORIGIN_NONE)
        d->private_allowed = d->set->allow_private;
    struct part_options opt = { .allow_private = d->private_allowed,
                                .bdc_fast = d->set->bdc_fast,
                                .found_hz = d->found_hz,
                                .big_endian = big_endian(d->set) };
    if (!*d->set->target && !simulated) {
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
                 text_or(strrchr(chain, ';'), ""));
    if (ret == 0)
        tell_clock(d, detail, cap);
    if (ret == 0 && d->target->ops->remark && d->target->ops->remark(d->target))
        snprintf(detail + strlen(detail), cap - strlen(detail), "; %s",
                 d->target->ops->remark(d->target));
    if (ret == 0 && is_serial(d) && d->target->ops->state(d->target) == TARGET_RUNNING) {
        snprintf(detail, cap, "nothing is heard, as of a program that runs%s",
                 text_if(!d->set->halt, "; --halt finds out whether an agent is there"));
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
        text_if(!*d->set->elf, "; if the board is big-endian name its program: --elf FILE");
    if (!d->private_allowed)
        more = "; or no agent is needed: --private";
    snprintf(err->hint + strlen(err->hint), sizeof err->hint - strlen(err->hint), "%s", more);
}

static int look_cpu(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    uint8_t pc[16] = { 0 };
    if (!d->target || !d->set->halt) {
        snprintf(detail, cap, "not looked at%s",
                 text_if(d->target, ": --halt holds the program for a moment"));
        return 1;
    }
    const struct target_ops *ops = d->target->ops;
    bool ran = ops->state(d->target) == TARGET_RUNNING;
    int ret = 0;
    if (ran)
        ret = board_halt(d->target, err);
    if (ret == 0)
        ret = ops->read_reg(d->target, ops->pc_reg, pc, err);
    if (ret == 0 && ran)
        ret = ops->resume(d->target, &(struct resume){ .kind = RESUME_CONTINUE }, err);
    snprintf(detail, cap, "halts, shows its registers%s", text_if(ran, ", and goes on"));
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

/* Watches the edges for a moment. Until a profile is armed the part keeps both pins still. */
static int watch_pins(struct probe *p, char *detail, size_t cap, struct err *err)
{
    enum { MOST = 4096 };
    const struct pdo_ops *o = p->driver->pdo;
    pdo_edge *edge = malloc(MOST * sizeof *edge);
    uint64_t tick_hz, lost, edges = 0;
    int ret, n = 1;
    if (!edge)
        return err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    ret = o->start(p, &tick_hz, err);
    if (ret == 0 && o->catch_up)
        ret = o->catch_up(p, err);
    for (; ret == 0 && n > 0 && edges < 100 * MOST; edges += (uint64_t)MAX(n, 0))
        n = o->read(p, edge, MOST, &lost, err);
    if (ret == 0)
        ret = MIN(n, 0);
    if (edge)
        o->stop(p, NULL);
    free(edge);
    uint64_t hz = 0;
    if (o->sample_hz)
        hz = o->sample_hz(p);
    size_t at = (size_t)snprintf(detail, cap, "%s: ", p->name);
    if (hz && at < cap)
        at += (size_t)snprintf(detail + at, cap - at, "%.4g MHz samples; ", (double)hz / 1e6);
    const char *words = "PDO and PDOCLK stand still, as they do until a profile is armed";
    if (edges > 1)
        words = "PDO and PDOCLK move";
    if (at < cap)
        snprintf(detail + at, cap - at, "%s", words);
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
    if (p->driver->pdo)
        ret = watch_pins(p, detail, cap, err);
    else
        ret = err_set(err, ERR_USAGE, "--pdo sigrok:DRIVER,... or file:PATH,...",
                      "--pdo %s: it cannot capture PDO and PDOCLK", p->name);
    probe_close(p);
    return ret;
}

/* ---- */

struct step {
    const char *name;
    int (*look)(struct doctor *d, char *detail, size_t cap, struct err *err);
};

static const struct step steps[] = {
    { "adapter", doctor_adapter }, { "access", doctor_access }, { "firmware", doctor_firmware },
    { "power", doctor_power },     { "pins", doctor_pins },     { "clock", doctor_clock },
    { "wire", doctor_wire },       { "part", look_part },       { "cpu", look_cpu },
    { "pdo", look_pdo },
};
_Static_assert(ARRAY_LEN(steps) == DOCTOR_STEPS, "a step without a place in the report");

/* If a later step failed because target power is missing or a pin is held low, that is the step to
 * report. */
static void blame_earlier(struct doctor *d, const struct doctor_step *failed)
{
    enum { POWER = 3, PINS = 4 };
    struct doctor_step *cause = &d->report->step[PINS];
    if (d->unpowered)
        cause = &d->report->step[POWER];
    else if (d->pin.code == ERR_OK)
        return;
    if (failed <= cause || failed->problem.code == ERR_USB)
        return;
    cause->state = DOCTOR_WRONG;
    cause->problem = d->pin;
    if (d->unpowered)
        doctor_no_power(&cause->problem);
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
        s->state = DOCTOR_OK;
        if (ret > 0)
            s->state = DOCTOR_SKIPPED;
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
