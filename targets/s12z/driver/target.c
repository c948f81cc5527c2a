/* The S12Z target: attach, reset, detach, and the table. Source: HDR, ZVHL p.143-227, ZVM p.163. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/counters.h"
#include "targets/s12z/driver/driver.h"

#define CSR(t, f)  REG_GET((t)->link.csr, S12Z_BDCCSR_##f)
#define CSR_BIT(f) REG_MASK(S12Z_BDCCSR_##f)

/* ---- attach ---- */

/* It was lost while it ran, and stands now. If only its full trace buffer has halted it, or a look
 * at its PC, it runs on. */
static int see_why_halted(struct s12z_target *t, struct err *err)
{
    uint8_t efr = 0;
    int ret = s12z_found_halted(t, &efr, err);
    bool profile = efr & (REG_MASK(S12Z_DBGEFR_PTBOVF) | s12z_profile_comparators(t));
    if (ret < 0 || !t->lost.ran || t->run.stop.reason != STOP_REQUEST || !(t->lost.look || profile))
        return ret;
    log_msg(t->probe->log, LOG_TARGET,
            "%s: only the lost session's trace has halted it: it runs on", t->probe->name);
    ret = s12z_command(t, BDC_GO, err);
    if (ret == 0)
        s12z_run_event(t, S12Z_ON_FOUND_RUNNING);
    return ret;
}

int s12z_attach(struct target *target, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    log_msg(t->probe->log, LOG_TARGET, "%s: attach", t->probe->name);
    t->lost.ran = t->lost.ran && (t->hooks || t->lost.look);
    s12z_run_reset(t);
    s12z_run_event(t, S12Z_ON_LEFT);
    s12z_regs_forget(t);
    s12z_dbg_unknown(t);
    bool fast_left = s12z_flash_broken_off(t, "the loss of the board");
    t->part.secured = t->part.known = false;
    t->link.control = 0;
    int ret = s12z_connect(t, err);
    if (ret < 0)
        return ret;
    if (!CSR(t, UNSEC))
        return s12z_found_secured(t, err);
    t->part.attach_control =
        t->link.csr & (CSR_BIT(ENBDC) | CSR_BIT(BDCCIS) | CSR_BIT(STEAL) | CSR_BIT(CLKSW));
    ret = s12z_enable(t, err);
    if (ret == 0 && fast_left && CSR(t, CLKSW))
        ret = s12z_clock_source(t, false, err);
    if (ret < 0)
        return ret;
    if (fast_left)
        t->part.attach_control &= (uint16_t)~CSR_BIT(CLKSW);
    s12z_run_event(t, CSR(t, BDMACT) ? S12Z_ON_FOUND_HALTED : S12Z_ON_FOUND_RUNNING);
    struct err why = { .code = ERR_OK };
    ret = s12z_identify(t, &why);
    /* asleep: it is looked at when it is halted */
    if (ret == -ERR_STATE && (CSR(t, STOP) || CSR(t, WAIT))) {
        log_msg(t->probe->log, LOG_TARGET, "%s: %s", t->probe->name, why.what);
        ret = 0;
    }
    if (ret == 0 && s12z_state(t) == TARGET_HALTED)
        ret = see_why_halted(t, &why);
    if (ret == 0)
        t->lost.ran = t->lost.look = false;
    if (ret == 0)
        s12z_patches_gone(t); /* the board was away: they are written again */
    if (ret < 0) {
        if (err)
            *err = why;
        if (s12z_state(t) != TARGET_GONE)
            s12z_run_event(t, S12Z_ON_LEFT);
        return err_prefix(err, ret, "attach");
    }
    return 0;
}

/* ---- reset ---- */

/* To run from reset with breakpoints the part starts halted, so that none is missed. It then runs
 * in special mode. */
static int op_reset(struct target *target, enum reset_mode mode, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    bool breaks = t->breaks.npatches || s12z_dbg_wanted(t);
    uint32_t pc;
    log_msg(t->probe->log, LOG_TARGET, "%s: reset %s", t->probe->name,
            mode == RESET_HALT ? "halt" : "run");
    if (s12z_state(t) == TARGET_DETACHED || t->part.secured)
        return s12z_need_halted(t, err, "reset");
    s12z_flash_broken_off(t, "a reset");
    int ret = s12z_reset_pins(t, mode == RESET_HALT || breaks, err);
    if (ret == 0)
        s12z_patches_gone(t); /* RAM keeps them, but a power-on reset does not */
    if (ret < 0)
        return s12z_lost(t, err_prefix(err, ret, "reset"));
    if (mode == RESET_RUN && breaks)
        return s12z_lost(t, s12z_run_freely(t, err));
    if (mode == RESET_RUN)
        return 0;
    ret = s12z_get_reg(t, S12Z_REG_PC, &pc, err);
    s12z_stop_is(t, STOP_RESET, S12Z_SIGNAL_TRAP);
    if (ret == 0)
        s12z_run_event(t, S12Z_ON_STOP_FOUND);
    return s12z_lost(t, ret);
}

/* ---- detach ---- */

static int give_part_back(struct s12z_target *t, struct err *err)
{
    struct bdc_op off = { .kind = BDC_COMMAND, .opcode = BDC_ACK_DISABLE };
    int ret = 0;
    if (s12z_state(t) == TARGET_HALTED)
        ret = s12z_command(t, BDC_GO, err);
    if (ret == 0 && (t->link.control ^ t->part.attach_control) & CSR_BIT(CLKSW))
        ret = s12z_clock_source(t, t->part.attach_control & CSR_BIT(CLKSW), err);
    t->link.control =
        t->part.attach_control & (uint16_t)~CSR_BIT(ENBDC); /* BGND is a no-op again */
    if (ret == 0)
        ret = s12z_write_csr(t, err);
    if (ret == 0 && s12z_can(t, BDC_ACK_DISABLE))
        ret = t->bdc->execute(t->probe, &off, 1, false, err);
    if (ret >= 0)
        ret = t->bdc->set_ack(t->probe, false, err);
    return MIN(ret, 0);
}

static int op_detach(struct target *target, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    log_msg(t->probe->log, LOG_TARGET, "%s: detach", t->probe->name);
    if (s12z_state(t) == TARGET_DETACHED || s12z_state(t) == TARGET_GONE)
        return 0;
    s12z_flash_broken_off(t, "detaching");
    int ret = 0;
    if (t->dbg.has_profile && t->ops.trace)
        ret = t->ops.trace->disarm(target, err);
    if (ret == 0 && (t->run.state == S12Z_RANGE || t->run.state == S12Z_RANGE_HALTING))
        ret = s12z_halt_now(t, err); /* stepped from here */
    if (ret == 0)
        ret = s12z_end_step(t, err);
    if (ret == 0)
        ret = s12z_breaks_remove_all(t, err);
    if (ret == 0)
        ret = give_part_back(t, err);
    if (ret < 0)
        return s12z_lost(t, err_prefix(err, ret, "detach"));
    s12z_run_reset(t);
    s12z_regs_forget(t);
    s12z_run_event(t, S12Z_ON_LEFT);
    t->link.up = t->part.same = false;
    return 0;
}

/* ---- the rest of the interface ---- */

static const char *op_remark(struct target *target)
{
    const struct s12z_target *t = s12z_of(target);
    if (t->link.no_ack)
        return "this adapter knows no ACK pulses: every access to the running program takes bus "
               "cycles from it";
    if (t->link.needs_fast)
        return "this adapter does whole actions only and needs the fast BDC clock, which follows "
               "the PLL: failed accesses read EE and are not reported, "
               "--sample halts the program for each look, and the trace buffer is read word by "
               "word";
    if (t->bdc->no_flags)
        return "this adapter does whole actions only: failed accesses read EE and are not "
               "reported, "
               "--sample halts the program for each look, "
               "and the trace buffer is read word by word";
    return NULL;
}

static struct target_stop op_why_halted(struct target *target) { return s12z_of(target)->run.stop; }
static enum target_state op_state(struct target *target) { return s12z_state(s12z_of(target)); }
static uint64_t op_now(struct target *target) { return s12z_now(s12z_of(target)); }
static uint64_t op_canonical(uint64_t addr) { return addr & S12Z_ADDRESS; }

static int op_set_image(struct target *target, const struct image *image, struct err *err)
{
    (void)err;
    s12z_of(target)->image = image;
    return 0;
}

static size_t op_memory_map(struct target *target, const struct memory_region **out)
{
    *out = s12z_of(target)->map;
    return s12z_of(target)->nmap;
}

static void op_close(struct target *target)
{
    struct s12z_target *t = NULL;
    if (target)
        t = s12z_of(target);
    if (!t)
        return;
    if (t->tracing)
        t->tracing->close(t);
    s12z_flash_close(t);
    free(t);
}

static const struct target_ops table = {
    .name = "s12zvml128",
    .gdb_arch = "s12z",
    .regs = s12z_target_regs,
    .nregs = S12Z_NREGS,
    .pc_reg = S12Z_REG_PC,
    .sp_reg = S12Z_REG_SP,
    .bp_size = 1,
    .canonical = op_canonical,
    .attach = s12z_attach,
    .detach = op_detach,
    .state = op_state,
    .halt = s12z_halt,
    .resume = s12z_resume,
    .poll = s12z_poll,
    .why_halted = op_why_halted,
    .reset = op_reset,
    .read_reg = s12z_read_reg,
    .write_reg = s12z_write_reg,
    .read_mem = s12z_read_mem,
    .write_mem = s12z_write_mem,
    .flash_erase = s12z_flash_erase,
    .flash_write = s12z_flash_write,
    .flash_done = s12z_flash_done,
    .sample_pc = s12z_sample_pc,
    .sample_held_ns = s12z_sample_held_ns,
    .remark = op_remark,
    .insert_bp = s12z_insert_bp,
    .remove_bp = s12z_remove_bp,
    .memory_map = op_memory_map,
    .monitor = s12z_monitor,
    .now_ns = op_now,
    .set_image = op_set_image,
    .close = op_close,
    .events = s12z_counter_events,
    .default_events = { S12Z_COUNT_BUS_CYCLES, S12Z_COUNT_BRANCHES },
    .trace = NULL,
    .insn = s12z_insn_text,
    .graph = s12z_graph,
};

const struct target_ops *s12z_target_ops(void) { return &table; }

static const struct s12z_chip *find_chip(const char *name)
{
    for (const struct s12z_chip *c = s12z_chips(); c->name; c++)
        if (!name || !strcmp(c->name, name))
            return c;
    return NULL;
}

static void make_map(struct s12z_target *t)
{
    const struct s12z_chip *c = t->chip;
    const struct memory_region map[] = {
        { 0, S12Z_RAM_START, MEMORY_RAM, 0 }, /* registers */
        { S12Z_RAM_START, c->ram_end + 1 - S12Z_RAM_START, MEMORY_RAM, 0 },
        { S12Z_EEPROM_START, c->eeprom_end + 1 - S12Z_EEPROM_START, MEMORY_FLASH,
          S12Z_EEPROM_SECTOR },
        { c->flash_start, S12Z_ADDRESS + 1 - c->flash_start, MEMORY_FLASH, S12Z_FLASH_SECTOR },
    };
    memcpy(t->map, map, sizeof map);
    t->nmap = ARRAY_LEN(map);
}

int s12z_driver_open(struct probe *p, const struct s12z_options *opt,
                     const struct s12z_tracing *tracing, struct target **out, struct err *err)
{
    const struct s12z_chip *chip = find_chip(opt ? opt->chip : NULL);
    if (!chip)
        return err_set(err, ERR_USAGE, "probeprof list shows them", "no S12Z part \"%s\" is known",
                       opt->chip);
    if (!p->driver->bdc)
        return err_set(err, ERR_UNSUPPORTED, "use an adapter with BDC (USBDM, OSBDM)",
                       "%s has no BKGD pin", p->name);
    struct s12z_target *t = calloc(1, sizeof *t);
    if (!t)
        return err_set(err, ERR_NOMEM, "close other programs", "S12Z target: no memory");
    if (opt)
        t->opt = *opt;
    t->chip = chip;
    t->ops = table;
    t->ops.name = chip->name;
    t->tracing = tracing;
    t->ops.trace = NULL;
    if (tracing)
        t->ops.trace = tracing->ops;
    t->base.ops = &t->ops;
    t->base.big_endian = true;
    t->probe = p;
    t->bdc = p->driver->bdc;
    t->run.state = S12Z_DETACHED;
    s12z_run_reset(t);
    make_map(t);
    *out = &t->base;
    return 0;
}
