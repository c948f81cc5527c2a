/* Programs from one function to a hundred thousand: what a plan holds, what it says when it cannot,
 * and one of 20,000 on the board. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/trace/trace.h"
#include "tests/sh4_trace/board.h"
#include "tests/sh4_trace/generate.h"

enum { TEXT = 0x8C020000, STACK = TEXT - 256, RAM = 0x8C800000, SPECIAL = 16 };

static const char *const kind_names[GEN_NKINDS] = { "jsr", "bsr",  "bsrf", "jmp",
                                                    "bra", "braf", "mixed" };

static void find_sites(const struct gen_program *g, struct sh4_sites *s)
{
    struct sh4_sites_config cfg = { 0 };
    struct err err = { .code = ERR_OK };
    if (sh4_sites_find(&g->im, &cfg, s, &err) < 0)
        fail_msg("sites: %s", err.what);
}

/* Where the agent would send the program from this place: as trace.S looks it up. */
static uint32_t stub_by_table(const struct sh4_trace_plan *p, const struct sh4_trace_patch *x)
{
    uint32_t off = (x->addr & 0x1FFFFFFF) + 2 - p->text;
    int16_t entry = (int16_t)get16(p->image + p->table + off, p->big);
    if (entry < 0)
        return (p->base + p->table + (uint32_t)(int32_t)entry) & ~3u;
    uint32_t pages = get32(p->image + sh4_trace_blob.l_specials, p->big) - p->base;
    uint32_t at =
        get32(p->image + pages + off / SH4_TRACE_PAGE * 4, p->big) + (uint32_t)entry * SPECIAL;
    return get32(p->image + (at - p->base), p->big) & ~3u;
}

static void check_plan(const struct gen_program *g, const struct sh4_sites *s,
                       const struct sh4_trace_plan *p, const char *name)
{
    size_t traced = 0, untraced = 0;
    for (size_t i = 0; i < s->nsites; i++) {
        traced += s->site[i].why == SH4_TRACED;
        untraced += s->site[i].why != SH4_TRACED;
    }
    if (untraced || traced != p->npatches || traced < g->calls + g->jumps)
        fail_msg("%s: %zu calls, %zu jumps; %zu places traced, %zu patched, %zu not", name,
                 g->calls, g->jumps, traced, p->npatches, untraced);
    for (size_t i = 0; i < p->npatches; i++) {
        const struct sh4_trace_patch *x = &p->patch[i];
        const struct sh4_trace_id *id = &p->id[x->id];
        if (id->addr != x->addr || stub_by_table(p, x) != id->stub)
            fail_msg("%s: patch %zu at %08x: its number means %08x, stub %08x; the table says %08x",
                     name, i, x->addr, id->addr, id->stub, stub_by_table(p, x));
    }
    assert_true(p->ring_bytes + SH4_TRACE_RESERVE <= 4 * SH4_TRACE_MOST_WORDS);
    assert_true(p->ring_bytes >= SH4_TRACE_MIN_RING - 64);
}

/* With the RAM it says it needs a plan holds every place; with less it says how much, and the other
 * way out. */
static void plan_one(const struct gen_config *cfg)
{
    struct gen_program g;
    struct sh4_sites s;
    struct sh4_trace_plan p;
    struct err err = { .code = ERR_OK };
    uint32_t need = 0;
    char name[64];
    snprintf(name, sizeof name, "%s %zu, %u", kind_names[cfg->kind], cfg->functions, cfg->pad);
    gen_open(&g, cfg);
    find_sites(&g, &s);
    struct sh4_trace_request rq = {
        .sites = &s, .big = cfg->big, .ram = RAM, .ram_bytes = 64 << 20
    };
    assert_int_equal(sh4_trace_plan_needs(&rq, &need, &err), 0);
    rq.ram_bytes = need;
    if (sh4_trace_plan(&rq, &p, &err) < 0)
        fail_msg("%s: %u bytes: %s (%s)", name, need, err.what, err.hint);
    check_plan(&g, &s, &p, name);
    sh4_trace_plan_fini(&p);
    rq.ram_bytes = need - 64;
    assert_int_equal(sh4_trace_plan(&rq, &p, &err), -ERR_RESOURCE);
    assert_non_null(strstr(err.hint, "--agent-ram"));
    assert_non_null(strstr(err.hint, "--no-patch"));
    sh4_sites_fini(&s);
    gen_close(&g);
}

static void plan__programs_of_any_size__hold_every_place(void **state)
{
    static const size_t sizes[] = { 1, 2, 9, 100, 1000, 10000 };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (int k = 0; k < GEN_NKINDS; k++)
            plan_one(&(struct gen_config){ .kind = (enum gen_kind)k,
                                           .functions = sizes[i],
                                           .base = TEXT,
                                           .rounds = 1,
                                           .big = k & 1 });
}

static void plan__a_hundred_thousand_functions__hold_every_place(void **state)
{
    (void)state;
    plan_one(
        &(struct gen_config){ .kind = GEN_MIXED, .functions = 100000, .base = TEXT, .rounds = 1 });
    plan_one(
        &(struct gen_config){ .kind = GEN_BSR, .functions = 100000, .base = TEXT, .rounds = 1 });
}

/* 1 KB to 4 MB of code in a few functions. */
static void plan__functions_far_apart__hold_every_place(void **state)
{
    (void)state;
    for (uint32_t bytes = 1 << 10; bytes <= 4 << 20; bytes *= 4)
        plan_one(&(struct gen_config){
            .kind = GEN_JSR, .functions = 8, .base = TEXT, .rounds = 1, .pad = (bytes / 8) & ~3u });
}

static void plan__more_ram_than_the_ring_can_use__ring_is_what_the_host_reads(void **state)
{
    struct gen_program g;
    struct sh4_sites s;
    (void)state;
    gen_open(&g,
             &(struct gen_config){ .kind = GEN_MIXED, .functions = 64, .base = TEXT, .rounds = 1 });
    for (uint32_t ram = 64 << 10; ram <= 16 << 20; ram *= 2) {
        struct sh4_trace_plan p;
        struct err err = { .code = ERR_OK };
        find_sites(&g, &s);
        struct sh4_trace_request rq = { .sites = &s, .ram = RAM, .ram_bytes = ram };
        assert_int_equal(sh4_trace_plan(&rq, &p, &err), 0);
        check_plan(&g, &s, &p, "ring");
        sh4_trace_plan_fini(&p);
        sh4_sites_fini(&s);
    }
    gen_close(&g);
}

/* Code in two places that are further apart than the RAM is large: the part with most sites is
 * traced, the other reported. */
static void plan__code_further_apart_than_ram_is_large__most_is_traced(void **state)
{
    struct gen_program g;
    struct sh4_sites s;
    struct sh4_trace_plan p;
    struct err err = { .code = ERR_OK };
    static uint8_t far[8];
    size_t given_up = 0;
    (void)state;
    gen_open(&g,
             &(struct gen_config){ .kind = GEN_JSR, .functions = 16, .base = TEXT, .rounds = 1 });
    put_le16(far, 0x000B); /* rts */
    put_le16(far + 2, 0x0009);
    struct image_section sec[] = { g.sec[0],
                                   g.sec[1],
                                   { ".far", 0x8CE00000, 4, far, true, false } };
    struct image_function fn[32];
    memcpy(fn, g.fn, g.im.nfunctions * sizeof *fn);
    fn[g.im.nfunctions] = (struct image_function){ "far", 0x8CE00000, 0x8CE00004 };
    struct image im = g.im;
    im.sections = sec;
    im.nsections = 3;
    im.functions = fn;
    im.nfunctions++;
    struct sh4_sites_config cfg = { 0 };
    assert_int_equal(sh4_sites_find(&im, &cfg, &s, &err), 0);
    struct sh4_trace_request rq = { .sites = &s, .ram = RAM, .ram_bytes = 64 << 10 };
    assert_int_equal(sh4_trace_plan(&rq, &p, &err), 0);
    for (size_t i = 0; i < s.nsites; i++)
        given_up += s.site[i].why == SH4_UNTRACED_LIMIT;
    assert_int_equal(given_up, 1);
    assert_int_equal(sh4_sites_at(&s, 0x8CE00000)->why, SH4_UNTRACED_LIMIT);
    assert_int_equal(p.npatches, s.nsites - 1);
    sh4_trace_plan_fini(&p);
    sh4_sites_fini(&s);
    gen_close(&g);
}

/* ---- on the board ---- */

struct traced {
    struct board b;
    struct asm_prog prog;
    struct gen_program g;
};

static void load_traced(struct traced *x, const struct gen_config *cfg)
{
    struct err err = { .code = ERR_OK };
    board_open(&x->b, &x->prog, "", "wait: bra wait\n nop\n");
    gen_open(&x->g, cfg);
    const struct target_ops *ops = x->b.t->ops;
    for (size_t i = 0; i < x->g.im.nsections; i++)
        assert_int_equal(
            ops->write_mem(x->b.t, x->g.sec[i].addr, 0, x->g.sec[i].data, x->g.sec[i].size, &err),
            0);
    asm_define(&x->prog, "end_", x->g.end);
    x->b.im = x->g.im;
    assert_int_equal(ops->set_image(x->b.t, &x->b.im, &err), 0);
    board_set_reg(&x->b, 16, x->g.main);
    board_set_reg(&x->b, 15, STACK);
}

static void unload_traced(struct traced *x)
{
    board_close(&x->b);
    gen_close(&x->g);
    free(x);
}

/* Each function returns or jumps on as often as main has rounds. */
static void check_hits(const struct traced *x, size_t rounds)
{
    uint32_t *hits = calloc(x->g.im.nfunctions, sizeof *hits),
             size = (uint32_t)(x->g.fn[0].high - x->g.fn[0].low);
    for (size_t i = 0; i < x->b.nev; i++) {
        const struct event *e = &x->b.ev[i];
        if (e->kind == EVENT_RETURN || e->kind == EVENT_JUMP)
            hits[((uint32_t)e->pc - TEXT) / size]++;
    }
    for (size_t i = 0; i + 1 < x->g.im.nfunctions; i++)
        if (hits[i] != rounds)
            fail_msg("%s left %u times, not %zu", x->g.fn[i].name, hits[i], rounds);
    free(hits);
}

/* The program's code is what it was. */
static void check_memory(struct traced *x)
{
    enum { PART = 32768 };
    static uint8_t buf[PART];
    for (size_t i = 0; i < x->g.sec[0].size; i += PART) {
        size_t n = MIN((size_t)PART, (size_t)x->g.sec[0].size - i);
        uint32_t at = TEXT + (uint32_t)i;
        if (x->b.t->ops->same_mem(x->b.t, at, x->g.code + i, n & ~(size_t)3, NULL) > 0)
            continue;
        assert_int_equal(x->b.t->ops->read_mem(x->b.t, at, 0, buf, n, NULL), 0);
        for (size_t k = 0; k < n; k++)
            if (buf[k] != x->g.code[i + k])
                fail_msg("0x%08x is not what it was", at + (unsigned)k);
    }
}

static void run_one(const struct gen_config *cfg, const struct trace_config *tc)
{
    struct traced *x = calloc(1, sizeof *x);
    struct trace_status st;
    load_traced(x, cfg);
    board_arm(&x->b, tc);
    board_run(&x->b, "end_", 120000000000);
    assert_int_equal(x->b.t->ops->trace->status(x->b.t, &st, NULL), 0);
    assert_int_equal(st.untraced_sites, 0);
    assert_int_equal(st.lost, 0);
    assert_int_equal(board_count(&x->b, EVENT_CALL), x->g.hits_calls);
    assert_int_equal(board_count(&x->b, EVENT_JUMP), x->g.hits_jumps);
    assert_int_equal(board_count(&x->b, EVENT_RETURN), x->g.hits_returns);
    check_hits(x, cfg->rounds);
    board_disarm(&x->b);
    check_memory(x);
    unload_traced(x);
}

static void board__twenty_thousand_functions__every_call_is_seen(void **state)
{
    (void)state;
    run_one(
        &(struct gen_config){ .kind = GEN_MIXED, .functions = 20000, .base = TEXT, .rounds = 2 },
        &(struct trace_config){ .counter = { 0x23, 0x13 } });
}

static void board__more_agent_ram_than_a_ring_can_use__every_call_is_seen(void **state)
{
    (void)state;
    run_one(&(struct gen_config){ .kind = GEN_MIXED, .functions = 400, .base = TEXT, .rounds = 50 },
            &(struct trace_config){
                .counter = { 0x23, 0x13 }, .ram_base = RAM, .ram_bytes = 512 << 10 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan__programs_of_any_size__hold_every_place),
        cmocka_unit_test(plan__a_hundred_thousand_functions__hold_every_place),
        cmocka_unit_test(plan__functions_far_apart__hold_every_place),
        cmocka_unit_test(plan__more_ram_than_the_ring_can_use__ring_is_what_the_host_reads),
        cmocka_unit_test(plan__code_further_apart_than_ram_is_large__most_is_traced),
        cmocka_unit_test(board__twenty_thousand_functions__every_call_is_seen),
        cmocka_unit_test(board__more_agent_ram_than_a_ring_can_use__every_call_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
