#include "tests/sh4_trace/rig.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/pages.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"

enum { SDDR = 0xFFF00008, PHYS = 0x1FFFFFFF };

static uint64_t bus_read(void *ctx, uint32_t paddr, unsigned size)
{
    (void)ctx, (void)paddr, (void)size;
    return 0;
}
static void bus_write(void *ctx, uint32_t paddr, unsigned size, uint64_t value)
{
    (void)ctx, (void)paddr, (void)size, (void)value;
}
static uint64_t io_read(void *ctx, uint32_t addr, unsigned size)
{
    struct rig *r = ctx;
    (void)size;
    return addr == SDDR ? r->sddr : 0;
}
/* The host answers a full ring at once, unless it is lost. */
static void io_write(void *ctx, uint32_t addr, unsigned size, uint64_t value)
{
    struct rig *r = ctx;
    (void)size;
    if (addr == SDDR)
        r->sddr = value == SH4_TRACE_RING && !r->host_lost ? 0 : (uint32_t)value;
}

uint32_t rig_word(struct rig *r, uint32_t addr)
{
    uint8_t b[4];
    assert_true(sh4_cpu_peek(&r->cpu, addr, b, 4));
    return le32(b);
}

void rig_set_word(struct rig *r, uint32_t addr, uint32_t value)
{
    uint8_t b[4];
    put_le32(b, value);
    assert_true(sh4_cpu_poke(&r->cpu, addr, b, 4));
}

static void write_bytes(struct rig *r, uint32_t addr, const uint8_t *p, size_t n)
{
    memcpy(r->ram + ((addr & PHYS) - RIG_RAM), p, n);
}

static void set_pmc(struct rig *r, int n, unsigned code)
{
    r->cpu.pmc[n] = (struct sh4_pmc){ .pmcr = (uint16_t)(code ? 0xC000 | code : 0),
                                      .running = code != 0,
                                      .base = code ? sh4_cpu_total(&r->cpu, code) : 0 };
}

void rig_open(struct rig *r, struct asm_prog *prog, const char *src, unsigned c1, unsigned c2)
{
    struct sh4_bus bus = { .ctx = r,
                           .nwindows = 1,
                           .read = bus_read,
                           .write = bus_write,
                           .io_read = io_read,
                           .io_write = io_write };
    struct sh4_config cfg = { .variant = SH4_VARIANT_7750 };
    memset(r, 0, sizeof *r);
    r->ram = pages_new(RIG_RAM_BYTES);
    r->words = pages_new(RIG_MAX_WORDS * sizeof *r->words);
    assert_true(r->ram && r->words);
    bus.window[0] = (struct sh4_window){ .base = RIG_RAM,
                                         .size = RIG_RAM_BYTES,
                                         .host = r->ram,
                                         .mask = RIG_RAM_BYTES - 1,
                                         .writable = true };
    assert_int_equal(sh4_cpu_init(&r->cpu, &cfg, &bus), 0);
    r->prog = prog;
    memset(prog, 0, sizeof *prog);
    asm_text(prog, RIG_TEXT, src);
    write_bytes(r, RIG_TEXT, prog->code, prog->len);
    r->sec = (struct image_section){ ".text", RIG_TEXT, prog->len, prog->code, true, false };
    size_t n = 0;
    for (size_t i = 0; i < prog->nlabels; i++)
        if (!strchr(prog->labels[i].name, '_') && prog->labels[i].value >= RIG_TEXT) {
            assert_true(n < ARRAY_LEN(r->fn));
            r->fn[n++] = (struct image_function){ prog->labels[i].name, prog->labels[i].value, 0 };
        }
    for (size_t i = 0; i < n; i++)
        r->fn[i].high = i + 1 < n ? r->fn[i + 1].low : RIG_TEXT + prog->len;
    r->im = (struct image){ .path = "test",
                            .entry = RIG_TEXT,
                            .sections = &r->sec,
                            .nsections = 1,
                            .functions = r->fn,
                            .nfunctions = n };
    sh4_cpu_reset(&r->cpu, SH4_RESET_POWER_ON, false);
    sh4_set_sr(&r->cpu, 0x400000F0);
    r->cpu.ccn.ccr = 0x0105; /* both caches on, P1 copy-back */
    r->cpu.pc = RIG_TEXT;
    r->cpu.r[15] = RIG_STACK;
    r->cpu.vbr = RIG_VBR;
    set_pmc(r, 0, c1);
    set_pmc(r, 1, c2);
}

void rig_close(struct rig *r)
{
    if (r->armed) {
        sh4_sites_fini(&r->sites);
        sh4_trace_plan_fini(&r->plan);
    }
    sh4_cpu_fini(&r->cpu);
    pages_free(r->ram, RIG_RAM_BYTES);
    pages_free(r->words, RIG_MAX_WORDS * sizeof *r->words);
}

void rig_arm(struct rig *r, const struct sh4_trace_request *given)
{
    struct sh4_sites_config cfg = { 0 };
    struct sh4_trace_request rq = *given;
    struct err err = { .code = ERR_OK };
    assert_int_equal(sh4_sites_find(&r->im, &cfg, &r->sites, &err), 0);
    rq.sites = &r->sites;
    rq.ram = RIG_AGENT;
    rq.ram_bytes = RIG_AGENT_BYTES;
    rq.kernel_entry = RIG_KERNEL;
    rq.next_vbr = RIG_VBR;
    if (!rq.wait_loops)
        rq.wait_loops = 1000;
    if (sh4_trace_plan(&rq, &r->plan, &err) < 0)
        fail_msg("plan: %s", err.what);
    r->armed = true;
    write_bytes(r, r->plan.base, r->plan.image, r->plan.image_len);
    for (size_t i = 0; i < r->plan.npatches; i++) {
        uint8_t trap[2];
        put_le16(trap, SH4_TRACE_TRAP);
        write_bytes(r, r->plan.patch[i].addr, trap, 2);
    }
    r->cpu.dbr = r->cpu.vbr;
    r->cpu.vbr = r->plan.base;
    rig_set_word(r, r->plan.base + sh4_trace_blob.save + 4 * SH4_TRACE_S_LAST1,
                 (uint32_t)sh4_cpu_perf(&r->cpu, 0));
    rig_set_word(r, r->plan.base + sh4_trace_blob.save + 4 * SH4_TRACE_S_LAST2,
                 (uint32_t)sh4_cpu_perf(&r->cpu, 1));
}

void rig_take(struct rig *r)
{
    uint32_t save = r->plan.base + sh4_trace_blob.save, cold = r->plan.base + sh4_trace_blob.cold;
    uint32_t end = rig_word(r, save + 4 * SH4_TRACE_S_WPTR),
             state = rig_word(r, cold + 4 * SH4_TRACE_C_STATE);
    for (uint32_t a = r->plan.ring; a < end; a += 4)
        if (r->nwords < RIG_MAX_WORDS)
            r->words[r->nwords++] = rig_word(r, a);
    r->lost += rig_word(r, cold + 4 * SH4_TRACE_C_LOST);
    rig_set_word(r, cold + 4 * SH4_TRACE_C_LOST, 0);
    rig_set_word(r, save + 4 * SH4_TRACE_S_WPTR, r->plan.ring);
    state &= ~(uint32_t)SH4_TRACE_FULL;
    rig_set_word(r, cold + 4 * SH4_TRACE_C_STATE, state);
    rig_set_word(r, save + 4 * SH4_TRACE_S_SIZE,
                 state & SH4_TRACE_ODD ? 0 : rig_word(r, cold + 4 * SH4_TRACE_C_SIZE));
    r->drains++;
}

/* The debug kernel's part: the ring is read, then an RTE as the agent left it. Registers are
 * clobbered the way a kernel that saves and restores them all does not, so R0-R3 are destroyed to
 * prove that the agent copes. */
static void run_kernel(struct rig *r)
{
    uint64_t c[2] = { r->cpu.pmc[0].count, r->cpu.pmc[1].count };
    (void)c;
    rig_take(r);
    r->cpu.r[15] = r->cpu.sgr;
    r->cpu.pc = r->cpu.spc;
    sh4_set_sr(&r->cpu, r->cpu.ssr);
}

void rig_run(struct rig *r, const char *end, uint64_t max_steps)
{
    uint32_t stop = asm_label(r->prog, end);
    for (uint64_t i = 0; i < max_steps; i++) {
        if (r->cpu.pc == stop)
            return;
        if (r->cpu.pc == RIG_KERNEL)
            run_kernel(r);
        else
            sh4_cpu_step(&r->cpu);
        if (r->cpu.pc == 0xA0000000)
            fail_msg("the core has reset itself (EXPEVT %03x)", r->cpu.ccn.expevt);
    }
    fail_msg("did not reach %s: pc %08x", end, r->cpu.pc);
}

/* One run of the calibration loop: what the counters moved by (plain) or the records say (traced).
 */
static void calibrate_run(unsigned c1, unsigned c2, bool traced, uint32_t rounds, uint32_t d[2])
{
    static struct asm_prog prog;
    const struct sh4_trace_blob *b = &sh4_trace_blob;
    struct rig r;
    rig_open(&r, &prog, "main: bsr f\n nop\n m_end: bra m_end\n nop\nf: rts\n nop\n", c1, c2);
    rig_arm(&r, &(struct sh4_trace_request){ 0 });
    uint32_t base = r.plan.base, t = RIG_AGENT + RIG_AGENT_BYTES,
             table = t + 8 + 4 * SH4_TRACE_KEPT_RETURNS,
             far = (uint32_t)(b->calib_f - b->calib_call);
    /* The calibration's two sites take the place of the program's tables. */
    const struct {
        uint32_t at, value;
    } words[] = {
        { base + b->save + 4u * SH4_TRACE_S_TEXT, base + b->calib_call },
        { base + b->save + 4u * SH4_TRACE_S_SIZE, far + 4 },
        { base + b->save + 4u * SH4_TRACE_S_BASE, table },
        { t, 0x0009412B },
        { t + 4, 0x0009000B },
        { table, (0x10000 - (table - t) + SH4_TRACE_CALL) << 16 },
        { table + far, (0x10000 - (table - t - 4) + SH4_TRACE_RETURN) << 16 },
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        rig_set_word(&r, words[i].at, words[i].value);
    if (traced) {
        rig_set_word(&r, base + b->calib_call, 0x00090000u | SH4_TRACE_TRAP);
        rig_set_word(&r, base + b->calib_f, 0x00090000u | SH4_TRACE_TRAP);
    }
    r.cpu.pc = base + b->calib;
    r.cpu.r[4] = rounds;
    uint32_t end = base + b->calib_f - 4;
    for (int i = 0; i < 100000 && r.cpu.pc != end; i++)
        sh4_cpu_step(&r.cpu);
    assert_int_equal(r.cpu.pc, end);
    rig_take(&r);
    d[0] = r.cpu.r[11] - r.cpu.r[9];
    d[1] = r.cpu.r[12] - r.cpu.r[10];
    /* the first is a long one: the stack was not known */
    for (size_t i = 6; i + 1 < r.nwords; i += 2) {
        d[0] = (i > 6 ? d[0] : 0) + (r.words[i + 1] >> 16);
        d[1] = (i > 6 ? d[1] : 0) + (r.words[i + 1] & 0xFFFF);
    }
    rig_close(&r);
}

void rig_residue(unsigned c1, unsigned c2, int32_t residue16[2])
{
    uint32_t d[2][2][2];
    for (int traced = 0; traced < 2; traced++)
        for (int twice = 0; twice < 2; twice++)
            calibrate_run(c1, c2, traced, twice ? 128 : 64, d[traced][twice]);
    for (int n = 0; n < 2; n++)
        residue16[n] =
            16 * ((int32_t)(d[1][1][n] - d[1][0][n]) - (int32_t)(d[0][1][n] - d[0][0][n])) / 128;
}
