/* sh4-qemu-cross [--programs N] [--seed S]: random programs on the model and on qemu-system-sh4.
 *
 * Each batch also runs on the model's single-step path: state, memory, cycles and every performance
 * event must be those of the fast path. The same chained batch of programs (qemu_gen.h) runs on
 * both; every register after each program and its page of data are compared. Each batch runs under
 * another cache setting on the model. On a difference the program is cut item by item to find the
 * first instruction that differs. Exit: 0 no unexplained difference, 1 there is, 2 usage, 77 no
 * qemu. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sim/sh4/cpu.h"
#include "targets/sim/sh4/mmu.h"
#include "tests/sim_sh4/qemu_gen.h"
#include "tests/sim_sh4/qemu_rsp.h"

/* clang-format off */
enum {
    RAM = 0x0C000000, RAM_BYTES = 0x200000, MAX_CYCLES = 10000000,
    SCRATCH_BYTES = GEN_PAGES * GEN_PAGE, RESULT_BYTES = GEN_BATCH * GEN_PAGE,
    DUMP_BYTES = GEN_PAGE - GEN_DUMP, TIMEOUT_MS = 20000, MAX_REPORTS = 12,
};
/* clang-format on */

struct model {
    struct sh4_cpu cpu;
    struct sh4_mmu mmu;
    uint64_t events[SH4_NEVENTS]; /* of the last run; [0] its cycles */
    uint8_t ram[RAM_BYTES];
};
struct cross {
    struct gen_template tmpl;
    struct gen_options opt;
    struct model model, stepped;     /* the latter without the fast path */
    uint8_t image[RAM_BYTES];        /* what both start from */
    uint8_t from_qemu[RESULT_BYTES]; /* its data pages */
    struct qemu qemu;
    uint32_t regs[QEMU_NREGS];
    struct gen_program prog[GEN_BATCH];
    uint32_t ids[(SH4_NINSNS + 31) / 32];
    unsigned ran, excused_denormal, excused_other, excused_after, failed, paths;
    bool verbose, big;
};

static uint64_t no_read(void *ctx, uint32_t addr, unsigned size)
{
    (void)ctx, (void)addr, (void)size;
    return 0;
}
static void no_write(void *ctx, uint32_t addr, unsigned size, uint64_t value)
{
    (void)ctx, (void)addr, (void)size, (void)value;
}

static int model_open(struct model *m, bool big, bool stepped)
{
    struct sh4_config cfg = { .variant = SH4_VARIANT_7750, .big = big, .no_fast_path = stepped };
    struct sh4_bus bus = {
        .window = { { .base = RAM,
                      .size = RAM_BYTES,
                      .host = m->ram,
                      .mask = RAM_BYTES - 1,
                      .writable = true } },
        .nwindows = 1,
        .read = no_read,
        .write = no_write,
        .io_read = no_read,
        .io_write = no_write,
    };
    int ret = sh4_cpu_init(&m->cpu, &cfg, &bus);
    sh4_mmu_init(&m->mmu, &m->cpu.ccn);
    m->cpu.mmu = &m->mmu;
    return ret;
}

/* ---- one batch on both sides ---- */

static void place_program(struct cross *x, unsigned slot)
{
    const struct gen_program *p = &x->prog[slot];
    memcpy(x->image + gen_code_addr(slot) - RAM, p->code, GEN_PAGE);
    memcpy(x->image + GEN_DATA - RAM + slot * GEN_PAGE, p->data, GEN_PAGE);
}

static uint64_t event_count(struct model *m, unsigned code)
{
    return code ? sh4_cpu_total(&m->cpu, code) : m->cpu.cycle;
}

static const char *run_model(struct cross *x, struct model *m)
{
    memcpy(m->ram, x->image, GEN_DATA + RESULT_BYTES - RAM);
    sh4_cpu_reset(&m->cpu, SH4_RESET_POWER_ON, false);
    m->cpu.pc = GEN_BOOT | 0xA0000000;
    for (unsigned code = 0; code < SH4_NEVENTS; code++)
        m->events[code] = event_count(m, code);
    for (uint64_t end = m->cpu.cycle + MAX_CYCLES; m->cpu.cycle < end;) {
        sh4_cpu_run(&m->cpu, m->cpu.cycle + 20000);
        if (m->cpu.pc != GEN_END)
            continue;
        for (unsigned code = 0; code < SH4_NEVENTS; code++)
            m->events[code] = event_count(m, code) - m->events[code];
        return NULL;
    }
    snprintf(x->qemu.error, sizeof x->qemu.error,
             "the model did not reach the end: PC %08x EXPEVT %03x SPC %08x", m->cpu.pc,
             m->cpu.ccn.expevt, m->cpu.spc);
    return x->qemu.error;
}

/* What the fast path must have in common with the single-step path: everything. */
static const char *paths_differ(struct cross *x)
{
    struct sh4_cpu *a = &x->model.cpu, *b = &x->stepped.cpu;
    if (x->model.events[0] != x->stepped.events[0])
        return "cycles";
    if (memcmp(a->r, b->r, sizeof a->r) || memcmp(a->rb, b->rb, sizeof a->rb) ||
        memcmp(a->fr, b->fr, sizeof a->fr) || memcmp(a->xf, b->xf, sizeof a->xf) ||
        sh4_get_sr(a) != sh4_get_sr(b) || a->fpscr != b->fpscr ||
        memcmp(&a->ccn, &b->ccn, sizeof a->ccn))
        return "registers";
    for (unsigned code = 1; code < SH4_NEVENTS; code++)
        if (x->model.events[code] != x->stepped.events[code])
            return "performance events";
    return memcmp(x->model.ram, x->stepped.ram, GEN_DATA + RESULT_BYTES - RAM) ? "memory" : NULL;
}

static const char *run_qemu(struct cross *x, unsigned first, unsigned n)
{
    struct qemu *q = &x->qemu;
    uint32_t at = first * GEN_PAGE, len = (n - first) * GEN_PAGE;
    x->regs[16] = GEN_BOOT | 0xA0000000;
    x->regs[22] = 0x700000F0;
    if (qemu_write_mem(q, GEN_BOOT, x->image + GEN_BOOT - RAM, GEN_BOOT_BYTES) ||
        qemu_write_mem(q, GEN_CODE + at, x->image + GEN_CODE - RAM + at, len) ||
        qemu_write_mem(q, GEN_DATA + at, x->image + GEN_DATA - RAM + at, len) ||
        (x->opt.mmu &&
         qemu_write_mem(q, GEN_SCRATCH, x->image + GEN_SCRATCH - RAM, SCRATCH_BYTES)) ||
        qemu_write_regs(q, x->regs) || qemu_continue(q, TIMEOUT_MS) ||
        qemu_read_mem(q, GEN_DATA + at, x->from_qemu + at, len))
        return q->error;
    return NULL;
}

/* Programs first..n-1 of x->prog, chained. */
static const char *run_both(struct cross *x, unsigned first, unsigned n)
{
    for (uint32_t at = 0; x->opt.mmu && at < SCRATCH_BYTES; at += 2)
        put16(x->image + GEN_SCRATCH - RAM + at, 0x8200,
              x->big); /* an illegal instruction, not of the FPU */
    gen_boot(&x->tmpl, &x->opt, first, n, x->image + GEN_BOOT - RAM);
    for (unsigned i = first; i < n; i++)
        place_program(x, i);
    const char *why = run_qemu(x, first, n);
    return why ? why : run_model(x, &x->model);
}

static uint32_t dump_word(const struct cross *x, const uint8_t *result, unsigned slot, unsigned i)
{
    return get32(result + (slot + 1) * GEN_PAGE - 4 * (GEN_NDUMP - i), x->big);
}

/* Index of a dumped word by name. */
static unsigned dump_index(const char *name)
{
    unsigned i = 0;
    while (strcmp(gen_dump_name(i), name) != 0)
        i++;
    return i;
}

/* After an address error qemu leaves PTEH; manual: VPN of the address. Made equal before comparing.
 */
static void forget_pteh(struct cross *x, unsigned slot)
{
    uint32_t code = dump_word(x, x->from_qemu, slot, dump_index("EXPEVT"));
    size_t at = (slot + 1) * GEN_PAGE - 4 * (GEN_NDUMP - dump_index("PTEH"));
    if (code == 0x0E0 || code == 0x100)
        memcpy(x->from_qemu + at, x->model.ram + GEN_DATA - RAM + at, 4);
}

static bool same_data(struct cross *x, unsigned slot)
{
    const uint8_t *ours = x->model.ram + GEN_DATA - RAM;
    forget_pteh(x, slot);
    return memcmp(ours + slot * GEN_PAGE, x->from_qemu + slot * GEN_PAGE, GEN_PAGE) == 0;
}

/* ---- explaining a difference ---- */

static void print_difference(const struct cross *x, unsigned slot)
{
    const uint8_t *ours = x->model.ram + GEN_DATA - RAM;
    for (unsigned i = 0; i < GEN_NDUMP; i++) {
        uint32_t a = dump_word(x, x->from_qemu, slot, i), b = dump_word(x, ours, slot, i);
        if (a != b)
            printf("    %-6s qemu %08x, model %08x\n", gen_dump_name(i), a, b);
    }
    for (unsigned i = 0; i < GEN_DUMP; i += 4) {
        uint32_t a = get32(x->from_qemu + slot * GEN_PAGE + i, x->big),
                 b = get32(ours + slot * GEN_PAGE + i, x->big);
        if (a != b)
            printf("    [%08x] qemu %08x, model %08x\n", GEN_DATA + slot * GEN_PAGE + i, a, b);
    }
}

static uint32_t dumped_word(const uint8_t *words, const char *name)
{
    for (unsigned i = 0; i < GEN_NDUMP; i++)
        if (strcmp(gen_dump_name(i), name) == 0)
            return le32(words + 4 * i);
    return 0;
}

static uint32_t item_end(const struct gen_program *p, size_t item)
{
    return item + 1 < p->nitems ? p->items[item + 1].at : p->end;
}

static void print_item(const struct gen_program *p, unsigned slot, size_t item,
                       const uint8_t *before)
{
    uint32_t fpscr = dumped_word(before, "FPSCR");
    printf("  FPSCR before: %08x\n", fpscr);
    for (uint32_t at = p->items[item].at; at < item_end(p, item); at += 2) {
        char text[64];
        uint16_t op = get16(p->code + at, p->big);
        printf("    %04x: %04x  %s\n", at, op,
               sh4_disasm(op, gen_code_addr(slot) + at, fpscr >> 19 & 1, fpscr >> 20 & 1, text,
                          sizeof text));
    }
}

/* Is FRn or DRn denormal in the dump? FP0-15 are bank 0, FP16-31 bank 1. */
static bool is_denormal(const uint8_t *before, uint32_t fpscr, unsigned n)
{
    char name[8], low[8];
    unsigned at = (fpscr >> 21 & 1) * 16;
    bool twice = fpscr >> 19 & 1;
    snprintf(name, sizeof name, "FP%u", at + (twice ? n & 14 : n));
    snprintf(low, sizeof low, "FP%u", at + (n | 1));
    uint32_t v = dumped_word(before, name) & 0x7FFFFFFF;
    return twice ? v < 0x00100000 && (v || dumped_word(before, low)) : v && v < 0x00800000;
}

/* Does an FPU operation of the item have a denormal operand, by these register contents? */
static bool denormal_in(const struct gen_program *p, size_t item, const uint8_t *words)
{
    uint32_t fpscr = dumped_word(words, "FPSCR"), fpul = dumped_word(words, "FPUL") & 0x7FFFFFFF;
    for (uint32_t at = p->items[item].at; at < item_end(p, item); at += 2) {
        uint16_t op = get16(p->code + at, p->big);
        unsigned low = op & 15;
        if (op < 0xF000 || (low > 5 && low < 13))
            continue;
        if (is_denormal(words, fpscr, op >> 8 & 15) ||
            (low != 13 && is_denormal(words, fpscr, op >> 4 & 15)) ||
            (low == 14 && is_denormal(words, fpscr, 0)) ||
            ((op & 0xFF) == 0xAD && fpul && fpul < 0x00800000))
            return true;
    }
    return false;
}

static bool is_loop(const struct gen_program *p, size_t item)
{
    for (uint32_t at = p->items[item].at; at < item_end(p, item); at += 2)
        if (get16(p->code + at, p->big) == 0x4D10) /* dt r13 */
            return true;
    return false;
}

static void dump_all(const struct cross *x, const uint8_t *result, unsigned slot,
                     uint8_t words[DUMP_BYTES])
{
    for (unsigned i = 0; i < GEN_NDUMP; i++)
        put_le32(words + 4 * i, dump_word(x, result, slot, i));
}

/* qemu neither flushes denormal operands (DN=1) nor raises the FPU error for them (DN=0). A loop
 * may have made the operand: then it is still there on one side, or the model's cause E, which
 * nothing else sets, tells. */
static bool denormal_operand(const struct cross *x, unsigned slot, const struct gen_program *p,
                             size_t item, const uint8_t *before)
{
    const uint8_t *ours = x->model.ram + GEN_DATA - RAM;
    uint8_t after[2][DUMP_BYTES] = { { 0 }, { 0 } };
    uint32_t now = dump_word(x, ours, slot, dump_index("FPSCR"));
    if (dump_word(x, ours, slot, dump_index("EXPEVT")) == 0x120 && (now & 0x60000) == 0x20000)
        return true;
    if (denormal_in(p, item, before))
        return true;
    dump_all(x, ours, slot, after[0]);
    dump_all(x, x->from_qemu, slot, after[1]);
    return is_loop(p, item) && (denormal_in(p, item, after[0]) || denormal_in(p, item, after[1]));
}

/* With DN=1 qemu flushes a result without cause U and I; everything else agrees. */
static bool silent_underflow(const struct cross *x, unsigned slot)
{
    const uint8_t *ours = x->model.ram + GEN_DATA - RAM;
    for (unsigned i = 0; i < GEN_NDUMP; i++) {
        uint32_t a = dump_word(x, x->from_qemu, slot, i), b = dump_word(x, ours, slot, i);
        bool fpscr = strcmp(gen_dump_name(i), "FPSCR") == 0;
        if (a != b && !(fpscr && (a ^ b) == 0x3000 && (b & 0x43000) == 0x43000))
            return false;
    }
    return memcmp(ours + slot * GEN_PAGE, x->from_qemu + slot * GEN_PAGE, GEN_DUMP) == 0;
}

static bool is_nan(const uint8_t *before, uint32_t fpscr, unsigned n)
{
    char name[8], low[8];
    unsigned at = (fpscr >> 21 & 1) * 16;
    snprintf(name, sizeof name, "FP%u", at + (fpscr >> 19 & 1 ? n & 14 : n));
    snprintf(low, sizeof low, "FP%u", at + (n | 1));
    uint32_t v = dumped_word(before, name) & 0x7FFFFFFF;
    return fpscr >> 19 & 1 ? v > 0x7FF00000 || (v == 0x7FF00000 && dumped_word(before, low))
                           : v > 0x7F800000;
}

/* FCMP/EQ with a quiet NaN: qemu raises V. FMAC of infinity times zero plus a quiet NaN: qemu does
 * not, the manual does. Nothing else may differ. */
static bool nan_cause(const struct cross *x, unsigned slot, const struct gen_program *p,
                      size_t item, const uint8_t *before)
{
    const uint8_t *ours = x->model.ram + GEN_DATA - RAM;
    uint32_t fpscr = dumped_word(before, "FPSCR");
    bool found = false;
    for (uint32_t at = p->items[item].at; at < item_end(p, item); at += 2) {
        uint16_t op = get16(p->code + at, p->big);
        bool n = is_nan(before, fpscr, op >> 8 & 15), m = is_nan(before, fpscr, op >> 4 & 15);
        found |= ((op & 0xF00F) == 0xF004 && (n || m)) || ((op & 0xF00F) == 0xF00E && n);
    }
    for (unsigned i = 0; found && i < GEN_NDUMP; i++) {
        uint32_t a = dump_word(x, x->from_qemu, slot, i), b = dump_word(x, ours, slot, i);
        if (a != b && (strcmp(gen_dump_name(i), "FPSCR") != 0 || (a ^ b) != 0x10000))
            return false;
    }
    return found;
}

/* FSCHG, FRCHG, STS FPSCR: qemu works on an FPSCR without the cause of an operation in the same
 * translation block. Nothing but cause and flag bits differs, in FPSCR or in the place they were
 * stored to. */
static bool lost_cause(const struct cross *x, unsigned slot, const struct gen_program *p,
                       size_t item)
{
    const uint8_t *ours = x->model.ram + GEN_DATA - RAM + slot * GEN_PAGE,
                  *theirs = x->from_qemu + slot * GEN_PAGE;
    bool found = false;
    for (uint32_t at = p->items[item].at; at < item_end(p, item); at += 2) {
        uint16_t op = get16(p->code + at, p->big);
        found |= (op & 0xF7FF) == 0xF3FD || (op & 0xF0FF) == 0x006A || (op & 0xF0FF) == 0x4062;
    }
    for (unsigned i = 0; found && i < GEN_PAGE; i += 4)
        if ((get32(ours + i, x->big) ^ get32(theirs + i, x->big)) & ~0x3F07Cu)
            return false;
    return found;
}

/* FTRC of a NaN: qemu gives 7FFFFFFF; manual: 80000000. */
static bool ftrc_nan(const struct gen_program *p, size_t item, const uint8_t *before)
{
    uint16_t op = get16(p->code + p->items[item].at, p->big);
    return (op & 0xF0FF) == 0xF03D && is_nan(before, dumped_word(before, "FPSCR"), op >> 8 & 15);
}

static void report_difference(struct cross *x, uint64_t seed, unsigned slot, size_t item,
                              const uint8_t *before, const char *why)
{
    x->failed++;
    if (x->failed > MAX_REPORTS)
        return;
    printf("program %llu differs (slot %u, CCR %04x, MMU %s):\n", (unsigned long long)seed, slot,
           x->opt.ccr, x->opt.mmu ? "on" : "off");
    print_item(&x->prog[slot], slot, item, before);
    if (why)
        printf("    %s\n", why);
    else
        print_difference(x, slot);
    for (unsigned i = 0; x->verbose && !why && i < GEN_NDUMP; i++)
        printf("%s%-6s %08x%s", i % 6 ? "  " : "    ", gen_dump_name(i), le32(before + 4 * i),
               i % 6 == 5 || i + 1 == GEN_NDUMP ? "\n" : "");
}

/* Runs the program alone, cut before `item`; item = nitems: whole. Returns true if both sides
 * agree. */
static bool prefix_agrees(struct cross *x, uint64_t seed, unsigned slot, size_t item,
                          const char **why)
{
    struct gen_program *p = &x->prog[slot];
    gen_program(&x->tmpl, seed, slot, GEN_FLUSH, &x->opt, p);
    if (item < p->nitems)
        gen_cut(p, item);
    *why = run_both(x, slot, slot + 1);
    return !*why && same_data(x, slot);
}

/* Finds an item after which the sides differ and before which they agree, by halving. */
static void isolate_item(struct cross *x, uint64_t seed, unsigned slot, bool first_of_batch)
{
    uint8_t before[DUMP_BYTES] = { 0 };
    struct gen_program *p = &x->prog[slot];
    const char *why;
    if (x->verbose && first_of_batch)
        print_difference(x, slot);
    if (prefix_agrees(x, seed, slot, GEN_MAX_ITEMS, &why)) {
        if (first_of_batch) {
            x->failed++;
            printf("program %llu differs, but not when it runs alone\n", (unsigned long long)seed);
        } else { /* it read scratch pages an earlier, differing program wrote */
            x->excused_after++;
        }
        return;
    }
    size_t good = 0, bad = p->nitems;
    while (bad - good > 1) {
        size_t mid = (good + bad) / 2;
        *(prefix_agrees(x, seed, slot, mid, &why) ? &good : &bad) = mid;
    }
    if (!prefix_agrees(x, seed, slot, good, &why))
        memset(before, 0, sizeof before); /* start-up itself differs */
    else
        dump_all(x, x->from_qemu, slot, before);
    prefix_agrees(x, seed, slot, bad, &why);
    gen_program(&x->tmpl, seed, slot, GEN_FLUSH, &x->opt, p);
    if (!why && denormal_operand(x, slot, p, good, before))
        x->excused_denormal++;
    else if (!why && (silent_underflow(x, slot) || lost_cause(x, slot, p, good) ||
                      ftrc_nan(p, good, before) || nan_cause(x, slot, p, good, before)))
        x->excused_other++;
    else
        report_difference(x, seed, slot, good, before, why);
}

/* ---- the run ---- */

static const uint32_t cache_settings[] = {
    0x0808, /* off */
    0x090D, /* instruction and operand cache, copy-back everywhere */
    0x090B, /* write-through in P0, copy-back off in P1 */
    0x898D, /* other index bits: IIX, OIX */
    0x092D, /* half the operand cache as RAM */
};

static int run_batch(struct cross *x, uint64_t seed, unsigned n)
{
    unsigned bad[GEN_BATCH];
    unsigned nbad = 0;
    x->opt.ccr = cache_settings[seed / GEN_BATCH % ARRAY_LEN(cache_settings)];
    x->opt.mmu = seed / GEN_BATCH % 2;
    for (unsigned i = 0; i < n; i++) {
        gen_program(&x->tmpl, seed + i, i, i + 1 < n ? gen_code_addr(i + 1) : GEN_FLUSH, &x->opt,
                    &x->prog[i]);
        for (size_t k = 0; k < ARRAY_LEN(x->ids); k++)
            x->ids[k] |= x->prog[i].ids[k];
    }
    x->stepped.cpu.sgr = x->model.cpu.sgr; /* reset leaves it; the first program may read it */
    const char *why = run_both(x, 0, n);
    x->ran += n;
    if (why) {
        printf("batch %llu (%u programs, CCR %04x): %s\n", (unsigned long long)seed, n, x->opt.ccr,
               why);
        x->failed += n;
        return -1;
    }
    why = run_model(x, &x->stepped);
    why = why ? why : paths_differ(x);
    if (why) {
        printf("batch %llu: fast path and single-step path differ in %s\n",
               (unsigned long long)seed, why);
        x->paths++;
    }
    for (unsigned i = 0; i < n; i++)
        if (!same_data(x, i))
            bad[nbad++] = i;
    for (unsigned i = 0; i < nbad; i++)
        isolate_item(x, seed + bad[i], bad[i], i == 0);
    return 0;
}

/* Instructions the generator covers but no program had: with some hundreds of programs there are
 * none. */
static unsigned count_uncovered(const struct cross *x)
{
    unsigned n = 0;
    for (unsigned id = 1; id < SH4_NINSNS; id++)
        if (gen_covers(id) && !(x->big && id == SH4_MAC_W_INC_INC) &&
            !(x->ids[id / 32] >> id % 32 & 1)) {
            printf("not in any program: %s\n", sh4_insns[id].text);
            n++;
        }
    return n;
}

static int print_usage(int code)
{
    fprintf(code ? stderr : stdout,
            "usage: sh4-qemu-cross [--programs N] [--seed S] [--big] [--known] [--verbose] "
            "[--list-excluded]\n"
            "Runs random programs on the SH-4 model and on qemu-system-sh4, compares registers and "
            "memory.\n"
            "  --big            big-endian, against qemu-system-sh4eb\n"
            "  --known          include what qemu 7.2 is known to get wrong (it will differ)\n"
            "  --list-excluded  what is left out and why\n"
            "example: sh4-qemu-cross --programs 10000 --seed 7\n");
    return code;
}

static int list_excluded(void)
{
    for (size_t i = 0; i < gen_nexcluded; i++)
        printf("%-42s %s\n", gen_excluded[i].what, gen_excluded[i].reason);
    return 0;
}

static int cross_main(struct cross *x, unsigned programs, uint64_t seed)
{
    if (model_open(&x->model, x->big, false) || model_open(&x->stepped, x->big, true)) {
        fprintf(stderr, "sh4-qemu-cross: no memory for the model\n");
        return 1;
    }
    if (qemu_start(&x->qemu, x->big) || qemu_read_regs(&x->qemu, x->regs) ||
        qemu_break(&x->qemu, GEN_END)) {
        fprintf(stderr, "sh4-qemu-cross: %s\n", x->qemu.error);
        return 1;
    }
    gen_template(&x->tmpl, x->big);
    for (unsigned at = 0; at < programs; at += GEN_BATCH)
        if (run_batch(x, seed * 1000000 + at, MIN(programs - at, (unsigned)GEN_BATCH)))
            break;
    unsigned excused = x->excused_denormal + x->excused_other + x->excused_after;
    printf(
        "%u programs: %u agree, %u excused, %u differ\n"
        "excused: %u denormal operand (DN=1: manual flushes it; DN=0: manual raises FPU error; "
        "qemu computes),\n"
        "         %u underflow with DN=1 (qemu sets no cause), NaN in FTRC, FCMP/EQ, FMAC, cause\n"
        "         lost before FSCHG or STS FPSCR; %u read what an excused one had written\n",
        x->ran, x->ran - excused - x->failed, excused, x->failed, x->excused_denormal,
        x->excused_other, x->excused_after);
    unsigned missing = programs >= 400 ? count_uncovered(x) : 0;
    return x->failed || x->paths || missing || x->ran < programs ? 1 : 0;
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {
        { "programs", 1, NULL, 'n' }, { "seed", 1, NULL, 's' },
        { "known", 0, NULL, 'k' },    { "verbose", 0, NULL, 'v' },
        { "big", 0, NULL, 'b' },      { "list-excluded", 0, NULL, 'x' },
        { "help", 0, NULL, 'h' },     { 0 }
    };
    unsigned programs = 480;
    uint64_t seed = 1;
    struct gen_options opt = { 0 };
    bool verbose = false, big = false;
    int c;
    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (c) {
        case 'n': programs = (unsigned)strtoul(optarg, NULL, 0); break;
        case 's': seed = strtoull(optarg, NULL, 0); break;
        case 'k': opt.known = true; break;
        case 'v': verbose = true; break;
        case 'b': big = true; break;
        case 'x': return list_excluded();
        default: return print_usage(c == 'h' ? 0 : 2);
        }
    }
    if (optind != argc || !programs)
        return print_usage(2);
    if (!qemu_present(big)) {
        printf("SKIPPED: qemu-system-sh4%s not found (package qemu-system-misc)\n",
               big ? "eb" : "");
        return 77;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct cross *x = calloc(1, sizeof *x);
    if (!x)
        return 1;
    x->opt = opt;
    x->verbose = verbose;
    x->big = big;
    x->qemu.fd = -1;
    int ret = cross_main(x, programs, seed);
    qemu_stop(&x->qemu);
    sh4_cpu_fini(&x->model.cpu);
    sh4_cpu_fini(&x->stepped.cpu);
    free(x);
    return ret;
}
