#include "tests/sim_sh4/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"

static uint64_t no_read(void *ctx, uint32_t addr, unsigned size)
{
    (void)ctx, (void)addr, (void)size;
    return 0;
}
static void no_write(void *ctx, uint32_t addr, unsigned size, uint64_t value)
{
    (void)ctx, (void)addr, (void)size, (void)value;
}

static uint64_t io_read(void *ctx, uint32_t addr, unsigned size)
{
    struct rig *r = ctx;
    uint32_t v = 0;
    (void)size;
    sh4_ubc_read(&r->ubc, addr, &v);
    return v;
}
static void io_write(void *ctx, uint32_t addr, unsigned size, uint64_t value)
{
    (void)size;
    rig_ubc(ctx, addr, (uint32_t)value);
}

static void irq_ack(void *ctx, unsigned level, uint16_t intevt)
{
    struct rig *r = ctx;
    (void)level, (void)intevt;
    r->acks++;
    sh4_cpu_set_irq(&r->cpu, 0, 0);
}

static void self_reset(void *ctx, uint16_t expevt)
{
    struct rig *r = ctx;
    (void)expevt;
    r->resets++;
}

struct rig *rig_open(enum rig_mode mode)
{
    struct rig *r = calloc(1, sizeof *r);
    assert_non_null(r);
    struct sh4_config cfg = { .variant = SH4_VARIANT_7091, .no_fast_path = mode == RIG_STEP };
    struct sh4_bus bus = {
        .ctx = r,
        .window = { { .base = RIG_RAM,
                      .size = RIG_RAM_BYTES,
                      .host = r->ram,
                      .mask = RIG_RAM_BYTES - 1,
                      .writable = true } },
        .nwindows = 1,
        .read = no_read,
        .write = no_write,
        .io_read = io_read,
        .io_write = io_write,
        .irq_ack = irq_ack,
        .self_reset = self_reset,
    };
    r->mode = mode;
    assert_int_equal(sh4_cpu_init(&r->cpu, &cfg, &bus), 0);
    sh4_mmu_init(&r->mmu, &r->cpu.ccn);
    sh4_ubc_reset(&r->ubc);
    r->cpu.mmu = &r->mmu;
    r->cpu.ubc = &r->ubc;
    return r;
}

void rig_close(struct rig *r)
{
    sh4_cpu_fini(&r->cpu);
    free(r);
}

void rig_put(struct rig *r, uint32_t addr, uint32_t value)
{
    put_le32(r->ram + (addr & (RIG_RAM_BYTES - 1)), value);
}

uint32_t rig_word(const struct rig *r, uint32_t addr)
{
    return le32(r->ram + (addr & (RIG_RAM_BYTES - 1)));
}

void rig_load(struct rig *r, uint32_t origin, uint32_t sr, const char *text)
{
    static const uint32_t park = 0x0009AFFE; /* bra .; nop */
    sh4_cpu_reset(&r->cpu, SH4_RESET_POWER_ON, false);
    sh4_set_sr(&r->cpu, sr);
    r->prog.nlabels = 0;
    asm_define(&r->prog, "DATA", RIG_DATA);
    asm_define(&r->prog, "VBR", RIG_VBR);
    char whole[8192];
    snprintf(whole, sizeof whole, "%s%s", text,
             strstr(text, "end:") ? "" : "\nend: bra end\n nop\n");
    asm_text(&r->prog, origin, whole);
    memcpy(r->ram + (origin & (RIG_RAM_BYTES - 1)), r->prog.code, r->prog.len);
    for (uint32_t v = RIG_VBR; v <= RIG_VBR + 0x800; v += 0x100)
        rig_put(r, v, park);
    for (unsigned i = 0; i < 15; i++)
        r->cpu.r[i] = 0x1000 + i;
    r->cpu.r[15] = RIG_STACK;
    r->cpu.vbr = RIG_VBR;
    r->cpu.pc = origin;
}

uint32_t rig_label(const struct rig *r, const char *name) { return asm_label(&r->prog, name); }

static bool is_parked(const struct rig *r)
{
    uint32_t pc = r->cpu.pc;
    return pc == r->cpu.vbr + 0x100 || pc == r->cpu.vbr + 0x400 || pc == r->cpu.vbr + 0x600 ||
           pc == 0xA0000000 || pc == 0xFC000000 || pc == r->cpu.dbr ||
           pc == asm_label(&r->prog, "end");
}

uint32_t rig_go(struct rig *r)
{
    for (unsigned n = 0; n < 100000; n++) {
        if (r->mode == RIG_STEP)
            sh4_cpu_step(&r->cpu);
        else
            sh4_cpu_run(&r->cpu, r->cpu.cycle + 3000);
        if (is_parked(r))
            return r->cpu.pc;
    }
    fail_msg("the program did not park: PC %08x", r->cpu.pc);
    return 0;
}

void rig_ubc(struct rig *r, uint32_t reg, uint32_t value)
{
    if (sh4_ubc_write(&r->ubc, reg, value))
        sh4_cpu_ubc_armed(&r->cpu, r->ubc.armed);
}
