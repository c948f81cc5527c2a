#include "tests/sh4_trace/generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"

/* clang-format off */
enum {
    NOP = 0x0009, RTS = 0x000B, PUSH_PR = 0x4F22, POP_PR = 0x4F26, NAME = 24,
    MOST_BYTES = 96 /* of a function without its pad */
};
/* clang-format on */

struct emit {
    struct gen_program *p;
    const struct gen_config *cfg;
    uint32_t n; /* bytes of code */
    /* loads whose literal is still to come */
    struct {
        uint32_t at, value;
    } literal[GEN_GROUP + 4];
    size_t nliterals;
};

static uint32_t next_address(const struct emit *e) { return e->cfg->base + e->n; }

static void put_insn(struct emit *e, unsigned insn)
{
    put16(e->p->code + e->n, (uint16_t)insn, e->cfg->big);
    e->n += 2;
}

static void load_literal(struct emit *e, unsigned reg, uint32_t value)
{
    e->literal[e->nliterals].at = e->n;
    e->literal[e->nliterals++].value = value;
    put_insn(e, 0xD000 | reg << 8);
}

static void put_literals(struct emit *e)
{
    while (e->n % 4)
        put_insn(e, NOP);
    for (size_t i = 0; i < e->nliterals; i++) {
        uint32_t at = e->literal[i].at, pc = (at & ~3u) + 4;
        assert_true((e->n - pc) / 4 < 256);
        put16(e->p->code + at, (uint16_t)(get16(e->p->code + at, e->cfg->big) | (e->n - pc) / 4),
              e->cfg->big);
        put32(e->p->code + e->n, e->literal[i].value, e->cfg->big);
        e->n += 4;
    }
    e->nliterals = 0;
}

static void put_padding(struct emit *e)
{
    for (uint32_t i = 0; i < e->cfg->pad / 2; i++)
        put_insn(e, NOP);
}

static void put_call(struct emit *e, enum gen_kind kind, uint32_t target)
{
    if (kind == GEN_BSR) {
        put_insn(e, 0xB000 | ((target - (next_address(e) + 4)) / 2 & 0xFFF));
    } else if (kind == GEN_BSRF) {
        load_literal(e, 1, target - (next_address(e) + 2 + 4));
        put_insn(e, 0x0103);
    } else {
        load_literal(e, 1, target);
        put_insn(e, 0x410B);
    }
    put_insn(e, NOP);
    e->p->calls++;
}

static void put_jump(struct emit *e, enum gen_kind kind, uint32_t target)
{
    if (kind == GEN_BRA) {
        put_insn(e, 0xA000 | ((target - (next_address(e) + 4)) / 2 & 0xFFF));
    } else if (kind == GEN_BRAF) {
        load_literal(e, 1, target - (next_address(e) + 2 + 4));
        put_insn(e, 0x0123);
    } else {
        load_literal(e, 1, target);
        put_insn(e, 0x412B);
    }
    put_insn(e, NOP);
    e->p->jumps++;
}

static bool is_jump(enum gen_kind kind)
{
    return kind == GEN_JMP || kind == GEN_BRA || kind == GEN_BRAF;
}

/* One function of a group of n, all of them `size` bytes long. */
static void put_function(struct emit *e, enum gen_kind kind, size_t k, size_t n, uint32_t size)
{
    uint32_t from = e->n, at = next_address(e);
    put_padding(e);
    if (k == 0 && n > 1) {
        put_insn(e, PUSH_PR);
        for (size_t i = 1; i < (is_jump(kind) ? 2 : n); i++)
            put_call(e, kind, at + (uint32_t)i * size);
        put_insn(e, POP_PR);
    }
    if (k && k + 1 < n && is_jump(kind)) {
        put_jump(e, kind, at + size);
    } else {
        put_insn(e, RTS);
        put_insn(e, NOP);
        e->p->hits_returns++;
    }
    put_literals(e);
    assert_true(e->n - from <= size);
    while (e->n - from < size)
        put_insn(e, NOP);
}

static void make_main(struct emit *e, uint32_t table, size_t groups)
{
    e->p->main = next_address(e);
    load_literal(e, 10, (uint32_t)e->cfg->rounds);
    load_literal(e, 8, table);
    load_literal(e, 9, (uint32_t)groups);
    put_insn(e, 0x6086); /* mov.l @r8+,r0 */
    put_insn(e, 0x400B); /* jsr @r0 */
    put_insn(e, NOP);
    put_insn(e, 0x4910);                /* dt r9 */
    put_insn(e, 0x8B00 | (uint8_t)-6);  /* bf: the next group */
    put_insn(e, 0x4A10);                /* dt r10 */
    put_insn(e, 0x8B00 | (uint8_t)-10); /* bf: the next round */
    e->p->end = next_address(e);
    put_insn(e, 0xAFFE);
    put_insn(e, NOP);
    put_literals(e);
    e->p->calls++;
}

static void name_function(struct gen_program *p, size_t i, uint32_t low, uint32_t high)
{
    snprintf(p->names + i * NAME, NAME, "f%zu", i);
    p->fn[i] = (struct image_function){ p->names + i * NAME, low, high };
}

static void finish_program(struct emit *e, uint32_t table, size_t groups)
{
    struct gen_program *p = e->p;
    const struct gen_config *cfg = e->cfg;
    uint64_t calls = p->calls - 1 + groups, rounds = cfg->rounds;
    p->hits_calls = calls * rounds;
    p->hits_jumps = p->jumps * rounds;
    p->hits_returns *= rounds;
    name_function(p, cfg->functions, p->main, next_address(e));
    p->sec[0] = (struct image_section){ ".text", cfg->base, e->n, p->code, true, false };
    p->sec[1] = (struct image_section){ ".rodata", table, groups * 4, p->table, false, false };
    p->im = (struct image){ .path = "generated",
                            .big_endian = cfg->big,
                            .entry = p->main,
                            .sections = p->sec,
                            .nsections = 2,
                            .functions = p->fn,
                            .nfunctions = cfg->functions + 1 };
}

void gen_open(struct gen_program *p, const struct gen_config *cfg)
{
    struct emit e = { .p = p, .cfg = cfg };
    size_t groups = (cfg->functions + GEN_GROUP - 1) / GEN_GROUP;
    uint32_t size = MOST_BYTES + cfg->pad,
             table = cfg->base + (uint32_t)cfg->functions * size + MOST_BYTES;
    memset(p, 0, sizeof *p);
    p->code = calloc(cfg->functions + 1, size);
    p->table = calloc(groups, 4);
    p->fn = calloc(cfg->functions + 1, sizeof *p->fn);
    p->names = calloc(cfg->functions + 1, NAME);
    assert_true(p->code && p->table && p->fn && p->names);
    for (size_t i = 0; i < cfg->functions; i++) {
        size_t k = i % GEN_GROUP, n = MIN((size_t)GEN_GROUP, cfg->functions - (i - k));
        enum gen_kind kind =
            cfg->kind == GEN_MIXED ? (enum gen_kind)(i / GEN_GROUP % GEN_MIXED) : cfg->kind;
        name_function(p, i, next_address(&e), next_address(&e) + size);
        if (k == 0)
            put32(p->table + i / GEN_GROUP * 4, next_address(&e), cfg->big);
        put_function(&e, kind, k, n, size);
    }
    make_main(&e, table, groups);
    finish_program(&e, table, groups);
}

void gen_close(struct gen_program *p)
{
    free(p->code);
    free(p->table);
    free(p->fn);
    free(p->names);
}
