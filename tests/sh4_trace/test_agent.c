#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/isa.h"
#include "tests/sh4_trace/rig.h"

/* One event as single-stepping the unpatched program sees it. */
struct seen {
    uint32_t pc, target, sp;
    uint64_t insns;
    uint8_t kind;
};
enum { MAX_SEEN = 20000 };

static uint8_t kind_of(const struct sh4_flow *f, struct rig *r, uint32_t pc)
{
    const struct sh4_site *s = r->armed ? sh4_sites_at(&r->sites, pc) : NULL;
    switch (f->kind) {
    case SH4_FLOW_CALL:
    case SH4_FLOW_CALL_REG:
    case SH4_FLOW_CALL_REL: return EVENT_CALL;
    case SH4_FLOW_JMP_REG: return EVENT_JUMP;
    case SH4_FLOW_RTS: return EVENT_RETURN;
    default: return s ? EVENT_JUMP : EVENT_NONE;
    }
}

static size_t run_reference(struct rig *r, const char *end, struct seen *out)
{
    uint32_t stop = asm_label(r->prog, end);
    size_t n = 0;
    for (int i = 0; i < 2000000 && r->cpu.pc != stop; i++) {
        uint8_t b[2];
        struct seen s = { .pc = r->cpu.pc,
                          .sp = r->cpu.r[15],
                          .insns = sh4_cpu_total(&r->cpu, 0x13) };
        assert_true(sh4_cpu_peek(&r->cpu, r->cpu.pc, b, 2));
        struct sh4_flow f = sh4_flow((uint16_t)(b[0] | b[1] << 8), r->cpu.pc);
        s.kind = kind_of(&f, r, s.pc);
        sh4_cpu_step(&r->cpu);
        s.target = r->cpu.pc;
        if (s.kind && n < MAX_SEEN)
            out[n++] = s;
    }
    assert_int_equal(r->cpu.pc, stop);
    return n;
}

static const char nested[] =
    "main: mov #0,r8\n mov.l l_n,r9\n"
    "m_loop: mov.l l_f,r1\n jsr @r1\n mov r9,r4\n add r0,r8\n"
    "mov #5,r4\n bsr fact\n nop\n add r0,r8\n"
    "mov.l l_t,r1\n jsr @r1\n mov #3,r4\n add r0,r8\n"
    "bsr leaf\n add #1,r8\n"
    "dt r9\n bf m_loop\n"
    "m_end: bra m_end\n nop\n"
    ".align 2\n l_n: .long 20\n l_f: .long f\n l_t: .long tail\n"
    "f: sts.l pr,@-r15\n mov.l r8,@-r15\n bsr g\n mov r4,r8\n add r8,r0\n mov.l @r15+,r8\n lds.l "
    "@r15+,pr\n rts\n nop\n"
    "g: mov r4,r0\n shll r0\n rts\n add #1,r0\n"
    "fact: sts.l pr,@-r15\n mov.l r4,@-r15\n tst r4,r4\n bt f_one\n"
    "bsr fact\n add #-1,r4\n mov.l @r15,r4\n mul.l r0,r4\n sts macl,r0\n bra f_out\n nop\n"
    "f_one: mov #1,r0\n"
    "f_out: add #4,r15\n lds.l @r15+,pr\n rts\n nop\n"
    "tail: mov.l t_g,r1\n jmp @r1\n add #1,r4\n .align 2\n t_g: .long g\n"
    "leaf: rts\n nop\n";

static void compare_runs(struct rig *a, struct rig *b, const struct seen *ref, size_t nref,
                         const int32_t residue[2], unsigned c1, bool exact)
{
    struct sh4_trace_decoder d = { .plan = &b->plan,
                                   .code = { (uint16_t)c1, 0x13 },
                                   .residue16 = { residue[0], residue[1] },
                                   .first = { 12, 7 } };
    static struct event ev[MAX_SEEN];
    size_t used;
    d.target = calloc(b->plan.nids, sizeof *d.target);
    size_t n = sh4_trace_decode(&d, b->words, b->nwords, 0, ev, MAX_SEEN, &used);
    assert_int_equal(used, b->nwords);
    assert_int_equal(n, nref);
    for (size_t i = 0; i < n; i++) {
        if (ev[i].kind != ref[i].kind || ev[i].pc != ref[i].pc)
            print_message("event %zu: kind %u pc %08x, expected %u %08x\n", i, ev[i].kind,
                          (unsigned)ev[i].pc, ref[i].kind, ref[i].pc);
        assert_int_equal(ev[i].kind, ref[i].kind);
        assert_int_equal(ev[i].pc, ref[i].pc);
        assert_int_equal(ev[i].sp, ref[i].sp);
        assert_true(ev[i].flags & EVENT_HAS_TARGET);
        assert_int_equal(ev[i].target, ref[i].target);
        if (exact) {
            if (ev[i].c2 != ref[i].insns)
                print_message("event %zu at %08x: %u, expected %u\n", i, (unsigned)ev[i].pc,
                              (unsigned)ev[i].c2, (unsigned)ref[i].insns);
            assert_int_equal(ev[i].c2, ref[i].insns);
        }
    }
    print_message("  %zu events, %zu words, doubtful %u, c1 %u of %u\n", n, b->nwords,
                  (unsigned)d.doubtful, (unsigned)ev[n - 1].c1,
                  (unsigned)sh4_cpu_total(&a->cpu, c1));
    free(d.target);
}

static void same_result(struct rig *a, struct rig *b)
{
    for (int i = 0; i < 16; i++)
        assert_int_equal(a->cpu.r[i], b->cpu.r[i]);
    assert_int_equal(a->cpu.macl, b->cpu.macl);
    assert_int_equal(a->cpu.pr, b->cpu.pr);
    assert_int_equal(sh4_get_sr(&a->cpu), sh4_get_sr(&b->cpu));
}

/* Runs src traced and untraced; same result, same events, exact instruction counts. */
static void expect_exact(const char *src, uint32_t ring_limit, size_t *drains)
{
    static struct rig a, b;
    static struct asm_prog pa, pb;
    static struct seen ref[MAX_SEEN];
    int32_t residue[2];
    rig_residue(0x23, 0x13, residue);
    rig_open(&b, &pb, src, 0x23, 0x13);
    rig_arm(&b, &(struct sh4_trace_request){ .ring_limit = ring_limit });
    rig_run(&b, "m_end", 4000000);
    rig_take(&b);
    rig_open(&a, &pa, src, 0x23, 0x13);
    a.sites = b.sites;
    a.armed = true;
    size_t n = run_reference(&a, "m_end", ref);
    a.armed = false;
    print_message("  %.1f cycles an event, residue %.2f cycles, %.2f instructions\n",
                  (double)(b.cpu.cycle - a.cpu.cycle) / (double)n, residue[0] / 16.0,
                  residue[1] / 16.0);
    same_result(&a, &b);
    compare_runs(&a, &b, ref, n, residue, 0x23, true);
    assert_int_equal(b.lost, 0);
    *drains = b.drains;
    rig_close(&a);
    rig_close(&b);
}

static void agent__calls_recursion_tail_calls__stream_is_exact(void **state)
{
    size_t drains;
    (void)state;
    expect_exact(nested, 0, &drains);
    assert_int_equal(drains, 1);
}

static void agent__ring_full__waits_for_the_host_and_loses_nothing(void **state)
{
    size_t drains;
    (void)state;
    expect_exact(nested, 256, &drains);
    assert_true(drains > 10);
}

/* Over a million cycles between events, and stacks 256 KB apart. */
static const char wide[] = "main: mov.l l_n,r9\n m_wait: dt r9\n bf m_wait\n bsr f\n nop\n"
                           "mov.l l_s,r15\n bsr f\n nop\n mov.l l_t,r15\n bsr f\n nop\n"
                           "m_end: bra m_end\n nop\n .align 2\n l_n: .long 450000\n l_s: .long "
                           "0x0C05FFF8\n l_t: .long 0x0C0EFFF8\n"
                           "f: rts\n nop\n";

static void agent__deltas_and_stacks_beyond_the_short_record__are_exact(void **state)
{
    size_t drains;
    (void)state;
    expect_exact(wide, 0, &drains);
}

/* Returns whose slots move the stack pointer, of functions that learn their own address, that
 * change PR, that go on another stack. */
static const char returning[] =
    "main: mov.l l_n,r9\n mov #0,r8\n mov.l l_co,r11\n mov.l l_s,r0\n mov.l l_other,r1\n mov.l "
    "r1,@-r0\n mov.l r0,@r11\n"
    "m_loop: bsr popping\n nop\n bsr adding\n nop\n bsr learning\n nop\n bsr hasty\n nop\n bsr "
    "jumping\n nop\n"
    "bsr leaf\n mov.l r8,@-r15\n add #4,r15\n bsr swap\n nop\n bsr leaf\n nop\n bsr swap\n nop\n"
    "dt r9\n bf m_loop\n nop\n"
    "m_end: bra m_end\n nop\n .align 2\n l_n: .long 40\n l_co: .long 0x0C0B0000\n l_s: .long "
    "0x0C0A0400\n l_other: .long other\n"
    "popping: mov.l r8,@-r15\n add #1,r8\n rts\n mov.l @r15+,r8\n"
    "adding: add #-16,r15\n add #1,r8\n rts\n add #16,r15\n"
    "learning: sts.l pr,@-r15\n bsr l_here\n nop\n l_here: sts pr,r0\n bsr leaf\n nop\n rts\n "
    "lds.l @r15+,pr\n"
    "hasty: sts pr,r1\n bsr h_here\n nop\n h_here: sts pr,r0\n lds r1,pr\n rts\n nop\n"
    "jumping: sts pr,r1\n tst r15,r15\n bt j_on\n mov.l j_to,r0\n lds r0,pr\n rts\n nop\n j_on: "
    "jmp @r1\n nop\n .align 2\n j_to: .long j_on\n"
    "leaf: rts\n add #1,r8\n"
    "swap: sts.l pr,@-r15\n mov r15,r0\n mov.l @r11,r15\n mov.l r0,@r11\n lds.l @r15+,pr\n rts\n "
    "nop\n"
    "other: bsr leaf\n nop\n bsr swap\n nop\n bra other\n nop\n";

static void agent__returns_of_every_kind__targets_are_exact(void **state)
{
    size_t drains;
    (void)state;
    expect_exact(returning, 0, &drains);
    expect_exact(returning, 256, &drains);
}

static bool same_event(const struct event *e, const struct seen *s)
{
    return e->kind == s->kind && e->pc == s->pc && e->sp == s->sp && e->flags & EVENT_HAS_TARGET &&
           e->target == s->target;
}

/* Live: a small ring is read now and then, what finds no room is lost on both sides. */
static void agent__ring_overflows_under_live_policy__returns_that_arrive_are_exact(void **state)
{
    static struct rig a, b;
    static struct asm_prog pa, pb;
    static struct seen ref[MAX_SEEN];
    static struct event ev[MAX_SEEN];
    size_t used, at = 0;
    (void)state;
    rig_open(&b, &pb, returning, 0x23, 0x13);
    rig_arm(&b, &(struct sh4_trace_request){ .ring_limit = 512, .state = SH4_TRACE_LIVE });
    uint32_t end = asm_label(&pb, "m_end");
    for (int i = 0; i < 4000000 && b.cpu.pc != end; i++) {
        sh4_cpu_step(&b.cpu);
        if (i % 20000 > 10000 && (b.cpu.pc & 0x1FFFFFFF) < RIG_TEXT + 4096) {
            rig_take(&b);
            i += 20000 - i % 20000;
        }
    }
    assert_int_equal(b.cpu.pc, end);
    rig_take(&b);
    rig_open(&a, &pa, returning, 0x23, 0x13);
    a.sites = b.sites;
    a.armed = true;
    size_t n = run_reference(&a, "m_end", ref);
    a.armed = false;
    struct sh4_trace_decoder d = { .plan = &b.plan, .code = { 0x23, 0x13 } };
    d.target = calloc(b.plan.nids, sizeof *d.target);
    size_t got = sh4_trace_decode(&d, b.words, b.nwords, 0, ev, MAX_SEEN, &used);
    print_message("  %zu of %zu events, %u lost, %zu drains\n", got, n, b.lost, b.drains);
    assert_true(b.lost > 100 && b.drains > 3);
    for (size_t i = 0; i < got; i++, at++) {
        while (at < n && !same_event(&ev[i], &ref[at]))
            at++;
        if (at == n)
            fail_msg("event %zu: kind %u pc %08x target %08x never happened", i, ev[i].kind,
                     (unsigned)ev[i].pc, (unsigned)ev[i].target);
    }
    free(d.target);
    rig_close(&a);
    rig_close(&b);
}

static void agent__host_lost_while_the_ring_is_full__program_goes_on_and_losses_count(void **state)
{
    (void)state;
    static struct rig a, b;
    static struct asm_prog pa, pb;
    static struct seen ref[MAX_SEEN];
    rig_open(&b, &pb, nested, 0x23, 0x13);
    b.host_lost = true;
    rig_arm(&b, &(struct sh4_trace_request){ .ring_limit = 256, .wait_loops = 100 });
    rig_run(&b, "m_end", 4000000);
    rig_take(&b);
    rig_open(&a, &pa, nested, 0x23, 0x13);
    a.sites = b.sites;
    a.armed = true;
    size_t n = run_reference(&a, "m_end", ref);
    a.armed = false;
    same_result(&a, &b);
    assert_true(b.lost > 0);
    /* the first record is a long one: the stack was not known */
    assert_int_equal((b.nwords - 4) / 2 + b.lost, n);
    rig_close(&a);
    rig_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agent__calls_recursion_tail_calls__stream_is_exact),
        cmocka_unit_test(agent__ring_full__waits_for_the_host_and_loses_nothing),
        cmocka_unit_test(agent__deltas_and_stacks_beyond_the_short_record__are_exact),
        cmocka_unit_test(agent__returns_of_every_kind__targets_are_exact),
        cmocka_unit_test(agent__ring_overflows_under_live_policy__returns_that_arrive_are_exact),
        cmocka_unit_test(agent__host_lost_while_the_ring_is_full__program_goes_on_and_losses_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
