/* The RSP target against a stub with the board model's CPU in it: every known stub's layout, gaps
 * and errors, and faults. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "targets/sh4/rsp/rsp.h"
#include "tests/sh4_rsp/stub.h"
#include "tests/sh4_rsp/walks.h"

enum { PR = 17, PC = 16, SR = 22, R_R0B0 = 43 };
#define MS 1000000ull
enum { TURNS_TO_WAIT = 6000 }; /* of 100 ms: this machine may have other things to do */

/* What is known of stubs that exist (their sources, docs/sources.md). */
static const struct {
    const char *name;
    struct stub_quirks q;
} stubs[] = {
    { "QEMU", { .words = 59, .vcont = true, .qemu = true, .no_P = true, .no_X = true } },
    { "both banks, vCont announced", { .words = 59, .vcont_silent = true, .no_P = true } },
    { "23 registers", { .words = 23, .says_05 = true, .no_X = true } },
    { "KallistiOS",
      { .words = 67,
        .no_ack_mode = true,
        .vcont = true,
        .wrong_step = true,
        .no_p4 = true,
        .deaf = true,
        .insists = true,
        .tells_all = true,
        .shows_z = true } },
    { "sh-stub.c",
      { .words = 28,
        .wrong_step = true,
        .no_z = true,
        .no_X = true,
        .no_P = true,
        .says_05 = true,
        .insists = true,
        .runs_of_99 = true } },
    { "sh-stub.c, PC behind",
      { .words = 28,
        .wrong_step = true,
        .no_z = true,
        .no_X = true,
        .no_P = true,
        .says_05 = true,
        .behind = true } },
    { "no step", { .words = 59, .no_step = true } },
    { "no step, no Z", { .words = 59, .no_step = true, .no_z = true, .behind = true } },
    { "KallistiOS until 2025",
      { .words = 41,
        .wrong_step = true,
        .ubc = true,
        .no_X = true,
        .no_P = true,
        .says_05 = true,
        .deaf = true,
        .insists = true,
        .runs_of_99 = true } },
};

struct rig {
    struct stub *stub;
    struct probe *probe;
    struct target *t;
};

static struct rig rig_open(const struct stub_quirks *q, const char *program, bool pty)
{
    struct rig r = { .stub = calloc(1, sizeof *r.stub) };
    assert_non_null(r.stub);
    r.stub->q = *q;
    stub_start(r.stub, program, pty);
    assert_int_equal(
        probe_open(r.stub->probe, &(struct probe_config){ .spec = "" }, &r.probe, NULL), 0);
    assert_int_equal(sh4_rsp_open(r.probe, NULL, &r.t, NULL), 0);
    return r;
}

static void rig_close(struct rig *r)
{
    r->t->ops->close(r->t);
    probe_close(r->probe);
    stub_stop(r->stub);
    free(r->stub);
}

static struct rig open_attached(const struct stub_quirks *q, const char *program)
{
    struct rig r = rig_open(q, program, false);
    struct err err = { .code = ERR_OK };
    int ret = r.t->ops->attach(r.t, &err);
    if (ret < 0)
        print_message("  %s; %s\n", err.what, err.hint);
    assert_int_equal(ret, 0);
    assert_int_equal(r.t->ops->state(r.t), TARGET_HALTED);
    return r;
}

static uint32_t reg_value(struct rig *r, unsigned n)
{
    uint8_t b[4] = { 0 };
    assert_int_equal(r->t->ops->read_reg(r->t, n, b, NULL), 0);
    return le32(b);
}

static int set_reg(struct rig *r, unsigned n, uint32_t v, struct err *err)
{
    uint8_t b[4];
    put_le32(b, v);
    return r->t->ops->write_reg(r->t, n, b, err);
}

static struct target_stop wait_stop(struct rig *r)
{
    struct target_stop stop = { .reason = STOP_NONE };
    struct err err = { .code = ERR_OK };
    int ret = 0;
    for (int i = 0; i < TURNS_TO_WAIT && ret == 0; i++)
        ret = r->t->ops->poll(r->t, 100 * MS, &stop, &err);
    if (ret < 0)
        print_message("  %s\n", err.what);
    assert_int_equal(ret, 1);
    assert_int_equal(r->t->ops->state(r->t), TARGET_HALTED);
    return stop;
}

static struct target_stop resume_to_stop(struct rig *r, enum resume_kind kind)
{
    struct err err = { .code = ERR_OK };
    int ret = r->t->ops->resume(r->t, &(struct resume){ .kind = kind }, &err);
    if (ret < 0)
        print_message("  %s\n", err.what);
    assert_int_equal(ret, 0);
    return wait_stop(r);
}

/* Off the breakpoint and on, as GDB does. */
static struct target_stop go_on(struct rig *r)
{
    resume_to_stop(r, RESUME_STEP);
    return resume_to_stop(r, RESUME_CONTINUE);
}

#define LOOP "start: mov #0,r8\n loop: add #1,r8\n a: bra loop\n add #1,r9\n"

/* ---- every stub ---- */

static void registers__each_known_stub__read_written_and_absent(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(stubs); i++) {
        struct err err = { .code = ERR_OK };
        uint8_t b[4];
        struct rig r = open_attached(&stubs[i].q, LOOP);
        print_message("  %s\n", stubs[i].name);
        assert_int_equal(reg_value(&r, PC), STUB_CODE);
        assert_int_equal(reg_value(&r, 15), 0x8C100000);
        assert_int_equal(reg_value(&r, SR), 0x400000F0);
        for (unsigned n = 0; n < 16; n++)
            assert_int_equal(set_reg(&r, n, 0x12345600 + n, NULL), 0);
        assert_int_equal(set_reg(&r, PR, 0x8C010002, NULL), 0);
        for (unsigned n = 0; n < 16; n++)
            assert_int_equal(reg_value(&r, n), 0x12345600 + n);
        assert_int_equal(reg_value(&r, PR), 0x8C010002);
        assert_int_equal(reg_value(&r, PC), STUB_CODE);
        bool whole = stubs[i].q.words == 59;
        assert_int_equal(r.t->ops->read_reg(r.t, R_R0B0 + 3, b, &err), whole ? 0 : -ERR_NOT_FOUND);
        if (stubs[i].q.words == 59) /* one register, two numbers */
            assert_int_equal(le32(b), 0x12345603);
        assert_int_equal(r.t->ops->detach(r.t, NULL), 0);
        rig_close(&r);
    }
}

static void memory__each_known_stub__any_length_and_alignment(void **state)
{
    static const uint32_t at[] = { 0x8C020000, 0x8C020001, 0x8C020003 };
    uint8_t in[3000], back[3000];
    (void)state;
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i * 7 + (i >> 5)); /* all of # $ } * and 0x03 */
    for (size_t i = 0; i < ARRAY_LEN(stubs); i++) {
        struct rig r = open_attached(&stubs[i].q, LOOP);
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", stubs[i].name);
        for (size_t k = 0; k < ARRAY_LEN(at); k++)
            for (size_t n = 1; n <= sizeof in; n = n * 5 + 2) {
                memset(back, 0, sizeof back);
                assert_int_equal(r.t->ops->write_mem(r.t, at[k], 0, in, n, NULL), 0);
                assert_int_equal(r.t->ops->read_mem(r.t, at[k], 0, back, n, NULL), 0);
                assert_memory_equal(in, back, n);
            }
        assert_int_equal(r.t->ops->read_mem(r.t, 0x00000000, 0, back, 4, &err), -ERR_FAULT);
        assert_string_not_equal(err.hint, "");
        rig_close(&r);
    }
}

static void step_along(const char *stub, const struct stub_quirks *q, const struct walk *w,
                       bool on_breakpoint)
{
    struct rig r = open_attached(q, w->program);
    if (on_breakpoint) /* off one and onto others, slots too */
        for (size_t k = 0; k < 2 * ARRAY_LEN(w->path) && w->path[k / 2]; k++) {
            uint32_t at = stub_label(r.stub, w->path[k / 2]) + 2 * (k & 1);
            if (!strstr(w->program, "lit:") || at != stub_label(r.stub, "lit"))
                assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, at, 2, NULL), 0);
        }
    for (size_t k = 0; k < ARRAY_LEN(w->path) && w->path[k]; k++) {
        struct target_stop stop = resume_to_stop(&r, RESUME_STEP);
        if (stop.pc != stub_label(r.stub, w->path[k]) || reg_value(&r, PC) != stop.pc ||
            stop.reason != STOP_STEP)
            print_message("  %s: %s: step %zu to %08x, reason %d\n", stub, w->name, k,
                          (unsigned)stop.pc, stop.reason);
        assert_int_equal(stop.pc, stub_label(r.stub, w->path[k]));
        assert_int_equal(reg_value(&r, PC), stop.pc);
        assert_int_equal(stop.reason, STOP_STEP);
    }
    for (size_t k = 0; k < ARRAY_LEN(w->regs); k++)
        if (w->regs[k].reg && strcmp(w->name, "rts, PR changed in the slot"))
            assert_int_equal(reg_value(&r, w->regs[k].reg), w->regs[k].value);
    rig_close(&r);
}

static void step__each_branch_on_each_stub__arrives_where_the_cpu_goes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(stubs); i++)
        for (size_t k = 0; k < ARRAY_LEN(walks); k++)
            for (int on_bp = 0; on_bp < 2; on_bp++)
                step_along(stubs[i].name, &stubs[i].q, &walks[k], on_bp);
}

static void rte__stub_without_spc__says_what_to_do(void **state)
{
    struct err err = { .code = ERR_OK };
    (void)state;
    struct rig r = open_attached(&stubs[4].q, "start: rte\n nop\n");
    assert_int_equal(r.t->ops->resume(r.t, &(struct resume){ .kind = RESUME_STEP }, &err),
                     -ERR_UNSUPPORTED);
    assert_string_not_equal(err.hint, "");
    assert_int_equal(r.t->ops->state(r.t), TARGET_HALTED);
    rig_close(&r);
    r = open_attached(&stubs[6].q, "start: rte\n mov #3,r5\n nop\n t: nop\n"); /* shows SPC */
    r.stub->cpu.spc = stub_label(r.stub, "t");
    r.stub->cpu.ssr = 0x400000F0;
    assert_int_equal(set_reg(&r, 42, stub_label(r.stub, "t"), NULL), 0);
    assert_int_equal(resume_to_stop(&r, RESUME_STEP).pc, stub_label(r.stub, "t"));
    assert_int_equal(reg_value(&r, 5), 3);
    rig_close(&r);
}

static void range__loop__steps_until_outside(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(stubs); i++) {
        struct rig r =
            open_attached(&stubs[i].q, "start: mov #3,r8\n l: dt r8\n bf l\n e: nop\n f: nop");
        struct resume how = { .kind = RESUME_RANGE,
                              .range_lo = stub_label(r.stub, "start"),
                              .range_hi = stub_label(r.stub, "e") };
        assert_int_equal(r.t->ops->resume(r.t, &how, NULL), 0);
        assert_int_equal(wait_stop(&r).pc, stub_label(r.stub, "e"));
        assert_int_equal(reg_value(&r, 8), 0);
        rig_close(&r);
    }
}

static void breakpoint__each_known_stub__hits_again_and_again_and_never_shows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(stubs); i++) {
        struct rig r = open_attached(&stubs[i].q, LOOP);
        uint32_t a = stub_label(r.stub, "a"), loop = stub_label(r.stub, "loop");
        uint8_t code[8], now[8];
        print_message("  %s\n", stubs[i].name);
        assert_int_equal(r.t->ops->read_mem(r.t, STUB_CODE, 0, code, sizeof code, NULL), 0);
        assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, a, 2, NULL), 0);
        assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, a, 2, NULL), 0);
        assert_int_equal(resume_to_stop(&r, RESUME_CONTINUE).pc, a);
        assert_int_equal(set_reg(&r, 8, 0, NULL), 0);
        /* next to it: whose PC is it? */
        assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, loop, 2, NULL), 0);
        for (unsigned n = 1; n <= 5; n++) {
            struct target_stop stop = go_on(&r);
            assert_int_equal(stop.reason, STOP_SWBREAK);
            assert_int_equal(stop.pc, loop);
            stop = go_on(&r);
            assert_int_equal(stop.pc, a);
            assert_int_equal(reg_value(&r, 8), n);
            assert_int_equal(reg_value(&r, PC), a);
            assert_int_equal(r.t->ops->read_mem(r.t, STUB_CODE, 0, now, sizeof now, NULL), 0);
            assert_memory_equal(code, now, sizeof code);
        }
        assert_int_equal(r.t->ops->remove_bp(r.t, BP_SOFT, loop, 2, NULL), 0);
        assert_int_equal(resume_to_stop(&r, RESUME_CONTINUE).reason,
                         STOP_SWBREAK); /* where it stands */
        assert_int_equal(reg_value(&r, 8), 5);
        assert_int_equal(go_on(&r).pc, a);
        assert_int_equal(reg_value(&r, 8), 6);
        assert_int_equal(r.t->ops->detach(r.t, NULL), 0);
        rig_close(&r);
    }
}

static void breakpoint__code_rewritten_under_it__new_code_runs(void **state)
{
    static const uint8_t two[] = { 0x02, 0x78 }; /* add #2,r8 */
    uint8_t now[2];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(stubs); i++) {
        struct rig r = open_attached(&stubs[i].q, LOOP);
        uint32_t loop = stub_label(r.stub, "loop");
        assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, loop, 2, NULL), 0);
        assert_int_equal(r.t->ops->write_mem(r.t, loop, 0, two, 2, NULL), 0);
        assert_int_equal(resume_to_stop(&r, RESUME_CONTINUE).pc, loop);
        assert_int_equal(go_on(&r).pc, loop);
        assert_int_equal(reg_value(&r, 8), 2);
        assert_int_equal(r.t->ops->remove_bp(r.t, BP_SOFT, loop, 2, NULL), 0);
        assert_int_equal(r.t->ops->read_mem(r.t, loop, 0, now, 2, NULL), 0);
        assert_memory_equal(now, two, 2);
        rig_close(&r);
    }
}

/* A program that has gdb_breakpoint() or the like compiled in must get past it, whatever the stub
 * does to the PC. */
static void trapa__compiled_in__stops_once_and_is_passed(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(stubs); i++) {
        if (stubs[i].q.qemu) /* there it is an exception like any other */
            continue;
        struct rig r = open_attached(
            &stubs[i].q, "start: mov #0,r8\n t: trapa #32\n a: add #1,r8\n b: bra a\n nop\n");
        uint32_t t = stub_label(r.stub, "t"), b = stub_label(r.stub, "b");
        print_message("  %s\n", stubs[i].name);
        struct target_stop stop = resume_to_stop(&r, RESUME_CONTINUE);
        assert_int_equal(stop.reason, STOP_SIGNAL);
        assert_int_equal(stop.pc, stubs[i].q.behind ? t + 2 : t);
        assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, b, 2, NULL), 0);
        if (i % 2)
            assert_int_equal(resume_to_stop(&r, RESUME_STEP).pc, stubs[i].q.behind ? t + 4 : t + 2);
        stop = resume_to_stop(&r, RESUME_CONTINUE);
        assert_int_equal(stop.pc, b);
        assert_int_equal(reg_value(&r, 8), 1);
        rig_close(&r);
    }
}

static void user_break__kallistios_says_signal_7__reported_as_what_was_set(void **state)
{
    (void)state;
    struct rig r = open_attached(
        &stubs[8].q, "start: mov.l at,r1\n mov #9,r2\n n: nop\n mov.l r2,@r1\n w: nop\n "
                     "e: bra e\n nop\n .align 2\n at: .long 0x8C020000");
    assert_true(stubs[8].q.ubc);
    assert_int_equal(r.t->ops->insert_bp(r.t, BP_HARD, stub_label(r.stub, "n"), 2, NULL), 0);
    assert_int_equal(resume_to_stop(&r, RESUME_CONTINUE).reason, STOP_HWBREAK);
    assert_int_equal(reg_value(&r, PC), stub_label(r.stub, "n"));
    assert_int_equal(r.t->ops->remove_bp(r.t, BP_HARD, stub_label(r.stub, "n"), 2, NULL), 0);
    assert_int_equal(r.t->ops->insert_bp(r.t, BP_WATCH_WRITE, 0x8C020000, 4, NULL), 0);
    struct target_stop stop = resume_to_stop(&r, RESUME_CONTINUE);
    assert_int_equal(stop.reason, STOP_WATCH);
    assert_int_equal(stop.watch_addr, 0x8C020000);
    assert_int_equal(stop.pc, stub_label(r.stub, "w"));
    rig_close(&r);
}

static void watchpoint__stub_without__is_refused_with_words(void **state)
{
    struct err err = { .code = ERR_OK };
    (void)state;
    struct rig r = open_attached(&stubs[4].q, LOOP);
    assert_int_equal(r.t->ops->insert_bp(r.t, BP_WATCH_WRITE, 0x8C020000, 4, &err),
                     -ERR_UNSUPPORTED);
    assert_int_equal(r.t->ops->insert_bp(r.t, BP_HARD, STUB_CODE, 2, &err), -ERR_UNSUPPORTED);
    assert_string_not_equal(err.hint, "");
    rig_close(&r);
}

/* ---- running ---- */

static void running__each_known_stub__halts_samples_and_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(stubs); i++) {
        struct rig r = open_attached(&stubs[i].q, LOOP);
        const struct target_ops *o = r.t->ops;
        uint64_t pc = 0;
        uint8_t b[4];
        if (stubs[i].q.deaf) { /* running__stub_that_does_not_listen */
            rig_close(&r);
            continue;
        }
        print_message("  %s\n", stubs[i].name);
        assert_int_equal(o->insert_bp(r.t, BP_SOFT, STUB_CODE + 0x100, 2, NULL), 0);
        assert_int_equal(o->resume(r.t, &(struct resume){ .kind = RESUME_CONTINUE }, NULL), 0);
        for (int n = 0; n < 20; n++) {
            assert_int_equal(o->sample_pc(r.t, &pc, NULL), 1);
            assert_in_range(pc, STUB_CODE, STUB_CODE + 8);
            assert_int_equal(o->state(r.t), TARGET_RUNNING);
        }
        assert_int_equal(o->read_mem(r.t, STUB_CODE, 0, b, 4, NULL), 0);
        assert_int_equal(o->insert_bp(r.t, BP_SOFT, STUB_CODE + 0x200, 2, NULL), 0);
        assert_int_equal(o->state(r.t), TARGET_RUNNING);
        assert_int_equal(o->halt(r.t, NULL), 0);
        struct target_stop stop = wait_stop(&r);
        assert_int_equal(stop.reason, STOP_REQUEST);
        assert_int_equal(stop.signal, 2);
        assert_int_equal(o->detach(r.t, NULL), 0);
        rig_close(&r);
    }
}

/* It has listened before: what is lost on a serial line is no sign that it does not. */
static void running__interrupt_or_its_answer_lost__is_asked_again(void **state)
{
    static const struct stub_quirks rows[] = { { .words = 67, .lost_03 = 3 },
                                               { .words = 67, .lost_stop = 3 },
                                               { .words = 67, .lost_03 = 6 },
                                               { .words = 67, .lost_stop = 6 } };
    enum { SAMPLES = 5 };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r = open_attached(&rows[i], LOOP);
        const struct target_ops *o = r.t->ops;
        uint64_t pc = 0;
        assert_int_equal(o->resume(r.t, &(struct resume){ .kind = RESUME_CONTINUE }, NULL), 0);
        for (int n = 0; n < SAMPLES; n++) {
            assert_int_equal(o->sample_pc(r.t, &pc, NULL), 1);
            assert_in_range(pc, STUB_CODE, STUB_CODE + 8);
        }
        assert_int_equal(o->halt(r.t, NULL), 0);
        assert_int_equal(wait_stop(&r).reason, STOP_REQUEST);
        rig_close(&r);
    }
}

static void running__stub_that_does_not_listen__says_so_in_time(void **state)
{
    struct stub_quirks deaf = { .words = 67, .deaf = true };
    struct err err = { .code = ERR_OK };
    struct target_stop stop;
    uint64_t pc;
    (void)state;
    struct rig r = open_attached(&deaf, LOOP);
    assert_int_equal(r.t->ops->resume(r.t, &(struct resume){ .kind = RESUME_CONTINUE }, NULL), 0);
    assert_int_equal(r.t->ops->sample_pc(r.t, &pc, &err), -ERR_UNSUPPORTED);
    assert_string_not_equal(err.hint, "");
    assert_int_equal(r.t->ops->halt(r.t, &err), 0);
    int ret = 0;
    for (int i = 0; i < TURNS_TO_WAIT && ret == 0; i++)
        ret = r.t->ops->poll(r.t, 100 * MS, &stop, &err);
    assert_int_equal(ret, -ERR_TIMEOUT);
    assert_string_not_equal(err.hint, "");
    assert_int_equal(r.t->ops->state(r.t), TARGET_RUNNING);
    rig_close(&r);
}

static void counters__stub_with_p4_and_without__read_or_refused(void **state)
{
    static const uint16_t code[2] = { 0x23, 0x13 };
    struct counter_values v;
    struct err err = { .code = ERR_OK };
    (void)state;
    struct rig r =
        open_attached(&stubs[1].q, "start: mov #10,r8\n l: dt r8\n bf l\n e: bra e\n nop");
    assert_int_equal(r.t->ops->counters_arm(r.t, code, NULL), 0);
    assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, stub_label(r.stub, "e"), 2, NULL), 0);
    assert_int_equal(resume_to_stop(&r, RESUME_CONTINUE).reason, STOP_SWBREAK);
    assert_int_equal(r.t->ops->counters_read(r.t, &v, NULL), 0);
    assert_int_equal(v.value[1], 21);
    assert_true(v.value[0] >= 21 && v.running[0] && v.code[1] == 0x13);
    rig_close(&r);
    r = open_attached(&stubs[3].q, LOOP);
    assert_int_equal(r.t->ops->counters_arm(r.t, code, &err), -ERR_FAULT);
    assert_string_not_equal(err.hint, "");
    rig_close(&r);
}

static void collect_text(void *ctx, const char *text, size_t n) { strncat(ctx, text, n); }

static void monitor__stub_command__passes_through(void **state)
{
    char text[2000] = "", *show[] = { "stub" }, *ask[] = { "stub", "help" };
    const struct text_sink sink = { collect_text, text };
    (void)state;
    struct rig r = open_attached(&stubs[0].q, LOOP);
    const struct monitor_command *m = r.t->ops->monitor;
    assert_string_equal(m->name, "stub");
    assert_int_equal(m->run(r.t, 2, ask, &sink, NULL), 0);
    assert_string_equal(text, "hi\n");
    assert_int_equal(m->run(r.t, 1, show, &sink, NULL), 0);
    assert_non_null(strstr(text, "59 registers"));
    rig_close(&r);
}

/* ---- faults ---- */

/* What a session does; 0 if all of it was right. */
static int run_session(struct rig *r, struct err *err)
{
    const struct target_ops *o = r->t->ops;
    uint8_t b[600], back[600];
    struct target_stop stop = { .reason = STOP_NONE };
    uint32_t a = stub_label(r->stub, "a");
    for (size_t i = 0; i < sizeof b; i++)
        b[i] = (uint8_t)(i * 3);
    int ret = o->attach(r->t, err);
    if (ret == 0)
        ret = o->write_mem(r->t, 0x8C020000, 0, b, sizeof b, err);
    if (ret == 0)
        ret = o->read_mem(r->t, 0x8C020000, 0, back, sizeof back, err);
    if (ret == 0 && memcmp(b, back, sizeof b))
        return 1;
    if (ret == 0)
        ret = set_reg(r, 3, 77, err);
    if (ret == 0)
        ret = o->insert_bp(r->t, BP_SOFT, a, 2, err);
    if (ret == 0)
        ret = o->resume(r->t, &(struct resume){ .kind = RESUME_CONTINUE }, err);
    for (int i = 0; i < 40 && ret == 0; i++)
        ret = o->poll(r->t, 50 * MS, &stop, err);
    if (ret == 0) /* a stop reply was lost: Ctrl-C makes the stub say it again */
        ret = o->halt(r->t, err);
    for (int i = 0; i < 40 && ret == 0; i++)
        ret = o->poll(r->t, 50 * MS, &stop, err);
    if (ret == 1)
        ret = stop.pc == a ? 0 : 1;
    else if (ret == 0)
        return err_set(err, ERR_TIMEOUT, "test", "no stop");
    if (ret == 0)
        ret = o->read_reg(r->t, 3, back, err);
    if (ret == 0 && le32(back) != 77)
        return 1;
    return ret ? ret : o->detach(r->t, err);
}

/* Nothing may hang (ctest ends what does), and a result that is given is right. Faults of one
 * packet on a line that is acknowledged are recovered from. */
static bool strike_packet(enum stub_fault f, unsigned at, bool pty, bool must_recover)
{
    struct stub_quirks q = {
        .words = 59, .no_P = at % 2, .no_ack_mode = !pty, .insists = pty, .runs_of_99 = pty
    };
    struct rig r = { .stub = calloc(1, sizeof *r.stub) };
    struct err err = { .code = ERR_OK };
    r.stub->q = q;
    r.stub->fault = f;
    r.stub->fault_at = at;
    stub_start(r.stub, LOOP, pty);
    if (probe_open(r.stub->probe, &(struct probe_config){ .spec = "" }, &r.probe, NULL) < 0 ||
        sh4_rsp_open(r.probe, NULL, &r.t, NULL) < 0)
        return false;
    int ret = run_session(&r, &err);
    /* A packet whose checksum is right is believed if it makes sense. */
    bool right = ret <= 0 || f == STUB_GARBAGE || f == STUB_SHORT;
    bool good = right && (ret >= 0 || *err.hint) && (ret == 0 || !must_recover);
    if (!good)
        print_message("  fault %d at packet %u%s: %d: %s; %s\n", f, at, pty ? ", serial" : "", ret,
                      err.what, err.hint);
    rig_close(&r);
    return good;
}

/* A fault's cost is deadlines waited for, so many are struck at once, each in a process of its own.
 */
enum { AT_ONCE = 24 };

struct strike {
    enum stub_fault f;
    unsigned at;
    bool pty, must_recover;
};

static size_t all_strikes(struct strike *out)
{
    static const struct {
        enum stub_fault f;
        bool recovers, slow;
    } rows[] = {
        { STUB_DROP_ACK, true, false }, { STUB_DROP_REPLY, true, true },
        { STUB_BAD_SUM, true, false },  { STUB_NAK, true, false },
        { STUB_TWICE, true, false },    { STUB_NOISE, true, false },
        { STUB_LONG, true, false },     { STUB_GARBAGE, false, false },
        { STUB_EMPTY, false, false },   { STUB_SHORT, false, false },
        { STUB_STALL, false, true },
    };
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (unsigned at = 1; at < 20; at += rows[i].slow ? 8 : 1)
            out[n++] = (struct strike){ rows[i].f, at, true, rows[i].recovers };
    /* without acknowledgement a lost packet is an error */
    for (unsigned f = STUB_DROP_ACK; f < STUB_NFAULTS; f++)
        for (unsigned at = 1; at < 20; at += f == STUB_CLOSE ? 1 : 7)
            if (f != STUB_NAK && f != STUB_TWICE) /* nothing asks for them there */
                out[n++] = (struct strike){ (enum stub_fault)f, at, false, f == STUB_DROP_ACK };
    return n;
}

static unsigned one_ended(void)
{
    int status = 0;
    assert_true(wait(&status) > 0);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void fault__any_at_many_packets_of_a_session__recovers_or_says_so(void **state)
{
    struct strike all[STUB_NFAULTS * 2 * 20];
    size_t n = all_strikes(all), running = 0;
    unsigned failed = 0;
    (void)state;
    fflush(NULL);
    for (size_t i = 0; i < n; i++) {
        if (running == AT_ONCE) {
            failed += one_ended();
            running--;
        }
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            exit(strike_packet(all[i].f, all[i].at, all[i].pty, all[i].must_recover) ? 0 : 1);
        running++;
    }
    for (; running; running--)
        failed += one_ended();
    assert_int_equal(failed, 0);
}

static void lose_and_attach(struct rig *r)
{
    struct target_stop stop;
    struct err err = { .code = ERR_OK };
    atomic_store(&r->stub->hit, false);
    r->stub->fault = STUB_CLOSE;
    r->stub->fault_at = atomic_load(&r->stub->packets) + 1;
    uint8_t byte;
    assert_true(r->t->ops->read_mem(r->t, stub_label(r->stub, "a"), 1, &byte, 1, &err) < 0);
    assert_int_equal(r->t->ops->state(r->t), TARGET_GONE);
    assert_int_equal(r->t->ops->poll(r->t, MS, &stop, &err), -ERR_NO_TARGET);
    assert_int_equal(probe_reopen(r->probe, &err), 0);
    assert_int_equal(r->t->ops->attach(r->t, &err), 0);
}

static void gone__stub_closes_and_comes_back__attached_anew_with_its_breakpoints(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(stubs); i++) {
        struct rig r = open_attached(&stubs[i].q, LOOP);
        uint32_t a = stub_label(r.stub, "a");
        assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, a, 2, NULL), 0);
        lose_and_attach(&r);
        assert_int_equal(r.t->ops->why_halted(r.t).reason, STOP_REQUEST);
        assert_int_equal(resume_to_stop(&r, RESUME_CONTINUE).pc, a);
        lose_and_attach(&r);
        assert_int_equal(r.t->ops->why_halted(r.t).reason, STOP_SWBREAK);
        assert_int_equal(resume_to_stop(&r, RESUME_CONTINUE).pc, a); /* the loop's next round */
        rig_close(&r);
    }
}

static void gone__halted_stub_on_a_line_falls_silent__noticed_without_a_question(void **state)
{
    struct target_stop stop;
    struct err err = { .code = ERR_OK };
    (void)state;
    struct rig r = rig_open(&stubs[4].q, LOOP, true);
    assert_int_equal(r.t->ops->attach(r.t, &err), 0);
    for (int i = 0; i < 50; i++) { /* longer than it takes to be asked: it is there */
        assert_int_equal(r.t->ops->poll(r.t, 100 * MS, &stop, &err), 0);
        nanosleep(&(struct timespec){ .tv_nsec = 80000000 }, NULL);
    }
    r.stub->fault_at = atomic_load(&r.stub->packets) + 1;
    r.stub->fault = STUB_STALL;
    int ret = 0;
    for (int i = 0; i < TURNS_TO_WAIT && ret == 0; i++) {
        ret = r.t->ops->poll(r.t, 100 * MS, &stop, &err);
        nanosleep(&(struct timespec){ .tv_nsec = 80000000 }, NULL);
    }
    assert_int_equal(ret, -ERR_NO_TARGET);
    assert_string_not_equal(err.hint, "");
    assert_int_equal(r.t->ops->state(r.t), TARGET_GONE);
    rig_close(&r);
}

static void attach__program_runs_or_nobody_there__interrupted_or_reported(void **state)
{
    struct stub_quirks q = { .words = 59, .runs = true };
    struct err err = { .code = ERR_OK };
    (void)state;
    struct rig r = open_attached(&q, LOOP);
    rig_close(&r);
    q = (struct stub_quirks){ .words = 12 };
    r = rig_open(&q, LOOP, false);
    assert_int_equal(r.t->ops->attach(r.t, &err), -ERR_PROTOCOL);
    assert_string_not_equal(err.hint, "");
    rig_close(&r);
    r = rig_open(&stubs[0].q, LOOP, false);
    r.stub->fault = STUB_STALL;
    r.stub->fault_at = 1;
    assert_int_equal(r.t->ops->attach(r.t, &err), -ERR_NO_TARGET);
    assert_string_not_equal(err.hint, "");
    assert_int_equal(r.t->ops->state(r.t), TARGET_DETACHED);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers__each_known_stub__read_written_and_absent),
        cmocka_unit_test(memory__each_known_stub__any_length_and_alignment),
        cmocka_unit_test(step__each_branch_on_each_stub__arrives_where_the_cpu_goes),
        cmocka_unit_test(rte__stub_without_spc__says_what_to_do),
        cmocka_unit_test(range__loop__steps_until_outside),
        cmocka_unit_test(breakpoint__each_known_stub__hits_again_and_again_and_never_shows),
        cmocka_unit_test(breakpoint__code_rewritten_under_it__new_code_runs),
        cmocka_unit_test(trapa__compiled_in__stops_once_and_is_passed),
        cmocka_unit_test(user_break__kallistios_says_signal_7__reported_as_what_was_set),
        cmocka_unit_test(watchpoint__stub_without__is_refused_with_words),
        cmocka_unit_test(running__each_known_stub__halts_samples_and_is_read),
        cmocka_unit_test(running__interrupt_or_its_answer_lost__is_asked_again),
        cmocka_unit_test(running__stub_that_does_not_listen__says_so_in_time),
        cmocka_unit_test(counters__stub_with_p4_and_without__read_or_refused),
        cmocka_unit_test(monitor__stub_command__passes_through),
        cmocka_unit_test(fault__any_at_many_packets_of_a_session__recovers_or_says_so),
        cmocka_unit_test(gone__stub_closes_and_comes_back__attached_anew_with_its_breakpoints),
        cmocka_unit_test(gone__halted_stub_on_a_line_falls_silent__noticed_without_a_question),
        cmocka_unit_test(attach__program_runs_or_nobody_there__interrupted_or_reported),
    };
    signal(SIGPIPE, SIG_IGN); /* as probeprof does: an end that left is an error of one write */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
