/* The SH-4 target: its table of operations, and opening it. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/driver/dcip.h"
#include "targets/sh4/driver/driver.h"

/* No manual has this; owners of such a part are asked to report it (docs/unverified.md). */
static const char *op_remark(struct target *target)
{
    if (sh4_of(target)->link.alternates)
        return "data scans of this part alternate between SDDR and a status register: words take "
               "twice as long (please report the part)";
    return NULL;
}

static struct target_stop op_why_halted(struct target *target) { return sh4_of(target)->stop; }
static enum target_state op_state(struct target *target) { return sh4_state(sh4_of(target)); }
static uint64_t op_now(struct target *target) { return sh4_now(sh4_of(target)); }
static uint64_t op_canonical(uint64_t addr) { return sh4_canonical32((uint32_t)addr); }

static size_t op_memory_map(struct target *target, const struct memory_region **out)
{
    /* Everything but the boot ROM may be written; on-chip registers and the store queues are "RAM"
     * to GDB. */
    static const struct memory_region map[] = {
        { 0x00000000, 0x00200000, MEMORY_ROM, 0 },
        { 0x00200000, 0x7FE00000, MEMORY_RAM, 0 },
        { 0x80000000, 0x00200000, MEMORY_ROM, 0 },
        { 0x80200000, 0x1FE00000, MEMORY_RAM, 0 },
        { 0xA0000000, 0x00200000, MEMORY_ROM, 0 },
        { 0xA0200000, 0x5FE00000, MEMORY_RAM, 0 },
        /* GDB takes the PC for a signed number: `x/i $pc` asks for these, and sends the lower half.
         */
        { 0xFFFFFFFF80000000, 0x00200000, MEMORY_ROM, 0 },
        { 0xFFFFFFFF80200000, 0x1FE00000, MEMORY_RAM, 0 },
        { 0xFFFFFFFFA0000000, 0x00200000, MEMORY_ROM, 0 },
        { 0xFFFFFFFFA0200000, 0x5FDFF000, MEMORY_RAM, 0 },
    };
    (void)target;
    *out = map;
    return ARRAY_LEN(map);
}

static int op_semihosting(struct target *target, bool on, struct err *err)
{
    (void)err;
    sh4_of(target)->breaks.semihosting = on;
    return 0;
}

static int op_syscall_return(struct target *target, int64_t result, int32_t error, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    int ret = sh4_need_halted(t, "system call", err);
    if (ret < 0)
        return ret;
    *sh4_reg_r(t, 0) = (uint32_t)result;
    *sh4_reg_r(t, 1) = (uint32_t)error;
    return 0;
}

static void op_close(struct target *target)
{
    struct sh4_target *t = NULL;
    if (target)
        t = sh4_of(target);
    if (!t)
        return;
    t->plug.tracing->close(t);
    sh4_link_fini(&t->link);
    free(t->code.vbr_sites);
    free(t->plug.found);
    sh4_image_forget_written(t);
    free(t);
}

static void op_wire(struct target *target, struct target_wire *out)
{
    const struct sh4_clock *c = &sh4_of(target)->link.clock;
    *out = (struct target_wire){
        .damaged = c->damaged, .hz = c->hz, .from_hz = c->from_hz, .disturbed = c->disturbed
    };
}

static const struct target_ops table = {
    .name = "sh7750",
    .gdb_arch = "sh4",
    .regs = sh4_target_regs,
    .nregs = SH4_NREGS,
    .pc_reg = SH4_REG_PC,
    .sp_reg = SH4_REG_SP,
    .bp_size = 2,
    .canonical = op_canonical,
    .attach = sh4_attach,
    .detach = sh4_detach,
    .state = op_state,
    .halt = sh4_halt,
    .resume = sh4_resume,
    .poll = sh4_poll,
    .reset = sh4_reset,
    .why_halted = op_why_halted,
    .remark = op_remark,
    .read_reg = sh4_read_reg,
    .write_reg = sh4_write_reg,
    .read_mem = sh4_read_mem,
    .write_mem = sh4_write_mem,
    .same_mem = sh4_same_mem,
    .sample_pc = sh4_sample_pc,
    .insert_bp = sh4_insert_bp,
    .remove_bp = sh4_remove_bp,
    .memory_map = op_memory_map,
    .monitor = sh4_monitor,
    .events = sh4_events,
    .default_events = { 0x23, 0x08 },
    .exception_text = sh4_exception_text,
    .insn = sh4_insn,
    .graph = sh4_graph,
    .counters_arm = sh4_counters_arm,
    .counters_read = sh4_counters_read,
    .semihosting = op_semihosting,
    .syscall_return = op_syscall_return,
    .trace = NULL,
    .now_ns = op_now,
    .set_image = sh4_set_image,
    .expect_halts = sh4_expect_halts,
    .wire = op_wire,
    .close = op_close,
};

const struct target_ops *sh4_target_ops(void) { return &table; }

static const char *variant_name(const char *name)
{
    static const char *const known[] = { "sh7750", "sh7091" };
    for (size_t i = 0; name && i < ARRAY_LEN(known); i++)
        if (!strcmp(name, known[i]))
            return known[i];
    if (name)
        return NULL;
    return known[0];
}

/* A network loader lies where the agent usually is. */
static void choose_ram(struct sh4_target *t, bool loader)
{
    uint32_t at = SH4_AGENT_RAM_DEFAULT, bytes = SH4_AGENT_RAM_BYTES;
    if (loader) {
        at = SH4_DCIP_RAM;
        bytes = SH4_DCIP_RAM_BYTES;
    }
    t->opt.agent_ram = EITHER(t->opt.agent_ram, at);
    t->opt.agent_ram_bytes = EITHER(t->opt.agent_ram_bytes, bytes);
    t->own_ram = t->opt.agent_ram != at || t->opt.agent_ram_bytes != bytes;
}

int sh4_driver_open(struct probe *p, const struct sh4_options *opt,
                    const struct sh4_tracing *tracing, struct target **out, struct err *err)
{
    const char *name = variant_name(opt ? opt->variant : NULL);
    if (!name)
        return err_set(err, ERR_USAGE, "sh7750 or sh7091", "no SH-4 part \"%s\" is known",
                       opt->variant);
    const struct stream_ops *stream = p->driver->stream;
    if (!p->driver->jtag && !stream)
        return err_set(err, ERR_UNSUPPORTED, "use an adapter with JTAG", "%s has no JTAG pins",
                       p->name);
    struct sh4_target *t = calloc(1, sizeof *t);
    if (!t)
        return err_set(err, ERR_NOMEM, "close other programs", "SH-4 target: no memory");
    if (opt)
        t->opt = *opt;
    t->opt.variant = name;
    t->opt.allow_private = t->opt.allow_private && p->driver->jtag;
    choose_ram(t, !p->driver->jtag && stream->traits(p) & STREAM_DATAGRAMS);
    t->ops = table;
    t->ops.name = name;
    t->plug.tracing = tracing;
    t->ops.trace = tracing->ops;
    t->base.ops = &t->ops;
    t->base.big_endian = t->opt.big_endian;
    t->probe = p;
    t->run.state = SH4_RUN_DETACHED;
    t->agent.nonce = 0x2545F491;
    int ret = sh4_link_init(&t->link, p, err);
    uint32_t hz = 0;
    if (ret == 0 && t->opt.tck_hz && p->driver->jtag && p->driver->jtag->set_clock)
        ret = p->driver->jtag->set_clock(p, t->opt.tck_hz, &hz, err);
    if (ret == 0 && t->opt.tck_auto)
        t->link.clock.hz = hz;
    if (ret < 0) {
        op_close(&t->base);
        return ret;
    }
    *out = &t->base;
    return 0;
}
