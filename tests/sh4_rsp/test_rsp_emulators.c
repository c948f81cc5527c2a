/* The RSP target against models of the stubs that Dreamcast emulators have: a whole session with
 * each, and what each does wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "targets/sh4/rsp/rsp.h"
#include "tests/sh4_rsp/emu.h"
#include "tests/sh4_rsp/walks.h"

#define MS 1000000ull
enum { TURNS_TO_WAIT = 6000 }; /* of 100 ms: this machine may have other things to do */
enum { PR = 17, DATA = 0x8C020000 };

static const struct emu_kind *const kinds[] = { &emu_flycast, &emu_lxdream, &emu_redream,
                                                &emu_washingtondc };

struct rig {
    struct emu *e;
    struct probe *probe;
    struct target *t;
};

static void done_or_say(int ret, const struct err *err)
{
    if (ret < 0)
        print_message("  %s; %s\n", err->what, err->hint);
    assert_int_equal(ret, 0);
}

static struct rig open_attached(const struct emu_kind *kind, const char *program, bool halted)
{
    struct rig r = { .e = calloc(1, sizeof *r.e) };
    struct err err = { .code = ERR_OK };
    assert_non_null(r.e);
    emu_start(r.e, kind, program, halted);
    assert_int_equal(probe_open(r.e->probe, &(struct probe_config){ .spec = "" }, &r.probe, NULL),
                     0);
    assert_int_equal(sh4_rsp_open(r.probe, NULL, &r.t, NULL), 0);
    done_or_say(r.t->ops->attach(r.t, &err), &err);
    assert_int_equal(r.t->ops->state(r.t), TARGET_HALTED);
    return r;
}

static void rig_close(struct rig *r)
{
    assert_int_equal(atomic_load(&r->e->refused), 0); /* nothing that the original would die of */
    r->t->ops->close(r->t);
    probe_close(r->probe);
    emu_stop(r->e);
    free(r->e);
}

static uint32_t reg_value(struct rig *r, unsigned n)
{
    uint8_t b[4] = { 0 };
    struct err err = { .code = ERR_OK };
    done_or_say(r->t->ops->read_reg(r->t, n, b, &err), &err);
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
        print_message("  %s; %s\n", err.what, err.hint);
    assert_int_equal(ret, 1);
    assert_int_equal(r->t->ops->state(r->t), TARGET_HALTED);
    return stop;
}

static struct target_stop resume_to_stop(struct rig *r, enum resume_kind kind)
{
    struct err err = { .code = ERR_OK };
    done_or_say(r->t->ops->resume(r->t, &(struct resume){ .kind = kind }, &err), &err);
    return wait_stop(r);
}

static struct target_stop go_on(struct rig *r)
{
    resume_to_stop(r, RESUME_STEP);
    return resume_to_stop(r, RESUME_CONTINUE);
}

#define LOOP "start: mov #0,r8\n loop: add #1,r8\n a: bra loop\n add #1,r9\n"

/* ---- each ---- */

static void registers__each__read_and_written_or_refused_with_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct rig r = open_attached(kinds[i], LOOP, true);
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", kinds[i]->name);
        assert_int_equal(reg_value(&r, EMU_PC), EMU_CODE);
        assert_int_equal(reg_value(&r, 15), 0x8C800000);
        assert_int_equal(reg_value(&r, EMU_SR), 0x400000F0);
        r.e->cpu.spc = 0x8C0100A4; /* it stands: the thread reads nothing */
        r.e->cpu.fr[3] = 0x40490FDB;
        assert_int_equal(r.t->ops->resume(r.t, &(struct resume){ .kind = RESUME_STEP }, NULL), 0);
        wait_stop(&r);
        assert_int_equal(reg_value(&r, EMU_SPC), 0x8C0100A4);
        assert_int_equal(reg_value(&r, EMU_FPSCR + 1 + 3), 0x40490FDB);
        if (kinds[i]->reads_only) {
            assert_int_equal(set_reg(&r, 3, 1, &err), -ERR_FAULT);
            assert_string_not_equal(err.hint, "");
            rig_close(&r);
            continue;
        }
        for (unsigned n = 0; n < 16; n++)
            assert_int_equal(set_reg(&r, n, 0x12345600 + n, NULL), 0);
        assert_int_equal(set_reg(&r, PR, 0x8C010002, NULL), 0);
        assert_int_equal(set_reg(&r, EMU_FPSCR + 1 + 5, 0x3F800000, NULL), 0);
        for (unsigned n = 0; n < 16; n++)
            assert_int_equal(reg_value(&r, n), 0x12345600 + n);
        assert_int_equal(reg_value(&r, PR), 0x8C010002);
        assert_int_equal(reg_value(&r, EMU_FPSCR + 1 + 5), 0x3F800000);
        assert_int_equal(reg_value(&r, EMU_PC), EMU_CODE + 2);
        rig_close(&r);
    }
}

static void memory__each__any_length_and_alignment_or_refused_with_words(void **state)
{
    static const uint32_t at[] = { DATA, DATA + 1, DATA + 3 };
    static uint8_t in[20000], back[20000];
    (void)state;
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i * 7 + (i >> 5)); /* all of # $ } * and 0x03 */
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct rig r = open_attached(kinds[i], LOOP, true);
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", kinds[i]->name);
        if (kinds[i]->reads_only) {
            memcpy(r.e->ram + (DATA & 0xFFFFFF), in, sizeof in);
            assert_int_equal(r.t->ops->read_mem(r.t, DATA, 0, back, sizeof back, NULL), 0);
            assert_memory_equal(in, back, sizeof in);
            assert_int_equal(r.t->ops->write_mem(r.t, DATA, 0, in, 4, &err), -ERR_FAULT);
            assert_non_null(strstr(err.hint, "emulator"));
            rig_close(&r);
            continue;
        }
        for (size_t k = 0; k < ARRAY_LEN(at); k++)
            for (size_t n = 1; n <= sizeof in; n = n * 5 + 2) {
                memset(back, 0, sizeof back);
                done_or_say(r.t->ops->write_mem(r.t, at[k], 0, in, n, &err), &err);
                done_or_say(r.t->ops->read_mem(r.t, at[k], 0, back, n, &err), &err);
                assert_memory_equal(in, back, n);
            }
        rig_close(&r);
    }
}

static void step_along(const struct emu_kind *kind, const struct walk *w, bool on_breakpoint)
{
    struct rig r = open_attached(kind, w->program, true);
    if (on_breakpoint) /* off one and onto others, slots too */
        for (size_t k = 0; k < 2 * ARRAY_LEN(w->path) && w->path[k / 2]; k++) {
            uint32_t at = emu_label(r.e, w->path[k / 2]) + 2 * (k & 1);
            if (!strstr(w->program, "lit:") || at != emu_label(r.e, "lit"))
                assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, at, 2, NULL), 0);
        }
    for (size_t k = 0; k < ARRAY_LEN(w->path) && w->path[k]; k++) {
        struct target_stop stop = resume_to_stop(&r, RESUME_STEP);
        if (stop.pc != emu_label(r.e, w->path[k]) || reg_value(&r, EMU_PC) != stop.pc ||
            stop.reason != STOP_STEP)
            print_message("  %s: %s: step %zu to %08x, reason %d\n", kind->name, w->name, k,
                          (unsigned)stop.pc, stop.reason);
        assert_int_equal(stop.pc, emu_label(r.e, w->path[k]));
        assert_int_equal(reg_value(&r, EMU_PC), stop.pc);
        assert_int_equal(stop.reason, STOP_STEP);
    }
    for (size_t k = 0; k < ARRAY_LEN(w->regs); k++)
        if (w->regs[k].reg && strcmp(w->name, "rts, PR changed in the slot"))
            assert_int_equal(reg_value(&r, w->regs[k].reg), w->regs[k].value);
    rig_close(&r);
}

static void step__each_branch_on_each__arrives_where_the_cpu_goes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        for (size_t k = 0; k < ARRAY_LEN(walks); k++)
            for (int on_bp = 0; on_bp < 2; on_bp++)
                step_along(kinds[i], &walks[k], on_bp);
}

static void breakpoint__each__hits_again_and_again_and_never_shows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct rig r = open_attached(kinds[i], LOOP, true);
        uint32_t a = emu_label(r.e, "a"), loop = emu_label(r.e, "loop"), base;
        uint8_t code[8], now[8];
        print_message("  %s\n", kinds[i]->name);
        assert_int_equal(r.t->ops->read_mem(r.t, EMU_CODE, 0, code, sizeof code, NULL), 0);
        assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, a, 2, NULL), 0);
        assert_int_equal(resume_to_stop(&r, RESUME_CONTINUE).pc, a);
        base = reg_value(&r, 8);
        assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, loop, 2, NULL), 0);
        for (unsigned n = 1; n <= 5; n++) {
            struct target_stop stop = go_on(&r);
            assert_int_equal(stop.reason, STOP_SWBREAK);
            assert_int_equal(stop.pc, loop);
            stop = go_on(&r);
            assert_int_equal(stop.pc, a);
            assert_int_equal(reg_value(&r, 8), base + n);
            assert_int_equal(reg_value(&r, EMU_PC), a);
            assert_int_equal(r.t->ops->read_mem(r.t, EMU_CODE, 0, now, sizeof now, NULL), 0);
            assert_memory_equal(code, now, sizeof code);
        }
        assert_int_equal(r.t->ops->remove_bp(r.t, BP_SOFT, loop, 2, NULL), 0);
        assert_int_equal(go_on(&r).pc, a);
        assert_int_equal(reg_value(&r, 8), base + 6);
        rig_close(&r);
    }
}

static void hbreak__each__hits_or_is_refused_and_never_shows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct rig r = open_attached(kinds[i], LOOP, true);
        struct err err = { .code = ERR_OK };
        uint32_t a = emu_label(r.e, "a");
        uint8_t code[8], now[8];
        print_message("  %s\n", kinds[i]->name);
        assert_int_equal(r.t->ops->read_mem(r.t, EMU_CODE, 0, code, sizeof code, NULL), 0);
        int ret = r.t->ops->insert_bp(r.t, BP_HARD, a, 2, &err);
        if (kinds[i] == &emu_flycast) {
            assert_int_equal(ret, -ERR_UNSUPPORTED);
            assert_string_not_equal(err.hint, "");
        } else {
            done_or_say(ret, &err);
            struct target_stop stop = resume_to_stop(&r, RESUME_CONTINUE);
            assert_int_equal(stop.pc, a);
            assert_int_equal(stop.reason, STOP_HWBREAK);
        }
        assert_int_equal(r.t->ops->read_mem(r.t, EMU_CODE, 0, now, sizeof now, NULL), 0);
        assert_memory_equal(code, now, sizeof code);
        rig_close(&r);
    }
}

/* The program runs when the debugger comes: it stands then, whatever the stub says of it. */
static void attach__program_runs__stands_for_certain(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct rig r = open_attached(kinds[i], LOOP, false);
        uint8_t before[4], after[4];
        print_message("  %s\n", kinds[i]->name);
        assert_int_equal(r.t->ops->why_halted(r.t).reason, STOP_REQUEST);
        assert_int_equal(r.t->ops->why_halted(r.t).pc, reg_value(&r, EMU_PC));
        uint32_t pc = reg_value(&r, EMU_PC);
        for (int n = 0; n < 20; n++) { /* questions, so that it would have had time */
            assert_int_equal(r.t->ops->read_mem(r.t, DATA, 0, n ? after : before, 4, NULL), 0);
            assert_false(r.e->running);
        }
        assert_int_equal(resume_to_stop(&r, RESUME_STEP).reason, STOP_STEP);
        assert_true(reg_value(&r, EMU_PC) != pc || pc == emu_label(r.e, "start"));
        assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, emu_label(r.e, "a"), 2, NULL), 0);
        assert_int_equal(resume_to_stop(&r, reg_value(&r, EMU_PC) == emu_label(r.e, "a")
                                                ? RESUME_STEP
                                                : RESUME_CONTINUE)
                             .signal,
                         5);
        rig_close(&r);
    }
}

static void running__each__halts_samples_and_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct rig r = open_attached(kinds[i], LOOP, false);
        const struct target_ops *o = r.t->ops;
        struct err err = { .code = ERR_OK };
        uint64_t pc = 0;
        uint8_t b[4];
        print_message("  %s\n", kinds[i]->name);
        assert_int_equal(o->insert_bp(r.t, BP_SOFT, EMU_CODE + 0x100, 2, NULL), 0);
        assert_int_equal(o->resume(r.t, &(struct resume){ .kind = RESUME_CONTINUE }, NULL), 0);
        for (int n = 0; n < 20; n++) {
            int ret = o->sample_pc(r.t, &pc, &err);
            done_or_say(MIN(ret, 0), &err);
            assert_int_equal(ret, 1);
            assert_in_range(pc, EMU_CODE, EMU_CODE + 8);
            assert_int_equal(o->state(r.t), TARGET_RUNNING);
        }
        assert_int_equal(o->read_mem(r.t, EMU_CODE, 0, b, 4, NULL), 0);
        assert_int_equal(o->insert_bp(r.t, BP_SOFT, EMU_CODE + 0x200, 2, NULL), 0);
        assert_int_equal(o->state(r.t), TARGET_RUNNING);
        assert_int_equal(o->halt(r.t, NULL), 0);
        struct target_stop stop = wait_stop(&r);
        assert_int_equal(stop.reason, STOP_REQUEST);
        assert_int_equal(stop.signal, 2);
        done_or_say(o->detach(r.t, &err), &err);
        rig_close(&r);
    }
}

/* Detached, the program runs, without breakpoints; then another session. */
static void detach__each__runs_on_and_is_attached_anew(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct rig r = open_attached(kinds[i], LOOP, true);
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", kinds[i]->name);
        assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, emu_label(r.e, "a"), 2, NULL), 0);
        assert_int_equal(resume_to_stop(&r, RESUME_CONTINUE).reason, STOP_SWBREAK);
        uint32_t then = reg_value(&r, 8);
        done_or_say(r.t->ops->detach(r.t, &err), &err);
        assert_int_equal(r.t->ops->state(r.t), TARGET_DETACHED);
        if (kinds[i]->ends_with_client) {
            rig_close(&r);
            continue;
        }
        assert_int_equal(probe_reopen(r.probe, &err), 0);
        for (int n = 0; n < 1000; n++) {
            done_or_say(r.t->ops->attach(r.t, &err), &err);
            if (reg_value(&r, 8) > then + 2)
                break;
            done_or_say(r.t->ops->detach(r.t, &err), &err);
            assert_int_equal(probe_reopen(r.probe, &err), 0);
        }
        assert_true(reg_value(&r, 8) > then + 2);
        rig_close(&r);
    }
}

/* The connection is lost with a breakpoint set, and had again: the breakpoint is met, and its code
 * is right. */
static void gone__each_that_outlives_it__attached_anew_with_its_breakpoints(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kinds[i]->ends_with_client)
            continue;
        struct rig r = open_attached(kinds[i], LOOP, true);
        struct err err = { .code = ERR_OK };
        uint32_t a = emu_label(r.e, "a");
        uint8_t code[8], now[8];
        print_message("  %s\n", kinds[i]->name);
        assert_int_equal(r.t->ops->read_mem(r.t, EMU_CODE, 0, code, sizeof code, NULL), 0);
        assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, a, 2, NULL), 0);
        assert_int_equal(probe_reopen(r.probe, &err), 0);
        done_or_say(r.t->ops->attach(r.t, &err), &err);
        assert_int_equal(resume_to_stop(&r, RESUME_CONTINUE).pc, a);
        assert_int_equal(go_on(&r).pc, a);
        assert_int_equal(r.t->ops->remove_bp(r.t, BP_SOFT, a, 2, NULL), 0);
        assert_int_equal(r.t->ops->read_mem(r.t, EMU_CODE, 0, now, sizeof now, NULL), 0);
        assert_memory_equal(code, now, sizeof code);
        rig_close(&r);
        /* and of an emulator that was started anew meanwhile: it knows of no breakpoint */
        r = open_attached(kinds[i], LOOP, true);
        assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, a, 2, NULL), 0);
        r.e->nbp = 0; /* it stands and waits for a packet */
        memcpy(r.e->ram + (EMU_CODE & 0xFFFFFF), code, sizeof code);
        assert_int_equal(probe_reopen(r.probe, &err), 0);
        done_or_say(r.t->ops->attach(r.t, &err), &err);
        assert_int_equal(resume_to_stop(&r, RESUME_CONTINUE).pc, a);
        rig_close(&r);
    }
}

static void counters__each__refused_with_words(void **state)
{
    static const uint16_t code[2] = { 0x23, 0x13 };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct rig r = open_attached(kinds[i], LOOP, true);
        struct err err = { .code = ERR_OK };
        assert_true(r.t->ops->counters_arm(r.t, code, &err) < 0);
        print_message("  %s: %s; %s\n", kinds[i]->name, err.what, err.hint);
        assert_string_not_equal(err.hint, "");
        rig_close(&r);
    }
}

static void watch__each__refused_with_words_and_data_is_whole(void **state)
{
    static const uint8_t data[4] = { 1, 2, 3, 4 };
    static const enum bp_kind watches[] = { BP_WATCH_WRITE, BP_WATCH_READ, BP_WATCH_ACCESS };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kinds[i] == &emu_washingtondc) /* it has them, where it is built with them */
            continue;
        struct rig r = open_attached(kinds[i], LOOP, true);
        memcpy(r.e->ram + (DATA & 0xFFFFFF), data, 4);
        for (size_t k = 0; k < ARRAY_LEN(watches); k++) {
            struct err err = { .code = ERR_OK };
            assert_int_equal(r.t->ops->insert_bp(r.t, watches[k], DATA, 4, &err), -ERR_UNSUPPORTED);
            assert_string_not_equal(err.what, "");
        }
        assert_memory_equal(r.e->ram + (DATA & 0xFFFFFF), data, 4);
        atomic_store(&r.e->refused, 0); /* redream's was found out by it, and undone */
        rig_close(&r);
    }
}

/* ---- one ---- */

/* A session that died left a breakpoint with the emulator; the next one knows nothing of it. */
static void stale_session__its_breakpoint__stops_once(void **state)
{
    (void)state;
    struct rig r = open_attached(&emu_flycast, LOOP, true);
    struct err err = { .code = ERR_OK };
    uint32_t a = emu_label(r.e, "a"), loop = emu_label(r.e, "loop");
    assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, a, 2, NULL), 0);
    r.t->ops->close(r.t);
    assert_int_equal(probe_reopen(r.probe, &err), 0);
    assert_int_equal(sh4_rsp_open(r.probe, NULL, &r.t, NULL), 0);
    done_or_say(r.t->ops->attach(r.t, &err), &err);
    struct target_stop stop = resume_to_stop(&r, RESUME_CONTINUE);
    assert_int_equal(stop.pc, a);
    assert_int_equal(stop.reason, STOP_SIGNAL);
    assert_int_equal(r.t->ops->insert_bp(r.t, BP_SOFT, loop, 2, NULL), 0);
    assert_int_equal(resume_to_stop(&r, RESUME_CONTINUE).pc, loop);
    assert_int_equal(r.t->ops->remove_bp(r.t, BP_SOFT, loop, 2, NULL), 0);
    assert_int_equal(r.t->ops->resume(r.t, &(struct resume){ .kind = RESUME_CONTINUE }, NULL), 0);
    assert_int_equal(r.t->ops->halt(r.t, NULL), 0);
    assert_int_equal(wait_stop(&r).reason, STOP_REQUEST);
    rig_close(&r);
}

/* lxdream's interpreter goes on where it would have gone before the PC was written. */
static void pc__written_before_a_step__step_goes_on_from_there(void **state)
{
    static const char program[] = "start: nop\n nop\n a: add #1,r8\n add #2,r8\n bra t\n add "
                                  "#4,r8\n nop\n t: add #8,r8\n e: bt e\n nop\n .space 64\n"
                                  "far: sett\n bf start\n bt/s a\n add #16,r8\n";
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kinds[i]->reads_only)
            continue;
        struct rig r = open_attached(kinds[i], program, true);
        uint32_t a = emu_label(r.e, "a"), t = emu_label(r.e, "t");
        print_message("  %s\n", kinds[i]->name);
        assert_int_equal(set_reg(&r, 8, 0, NULL), 0);
        assert_int_equal(set_reg(&r, EMU_PC, a, NULL), 0);
        assert_int_equal(resume_to_stop(&r, RESUME_STEP).pc, a + 2);
        assert_int_equal(resume_to_stop(&r, RESUME_STEP).pc, a + 4);
        assert_int_equal(reg_value(&r, 8), 3);
        assert_int_equal(resume_to_stop(&r, RESUME_STEP).pc, t); /* bra, its slot */
        assert_int_equal(reg_value(&r, 8), 7);
        assert_int_equal(set_reg(&r, EMU_PC, a + 4, NULL), 0);
        assert_int_equal(resume_to_stop(&r, RESUME_STEP).pc, t); /* the branch itself is first */
        assert_int_equal(reg_value(&r, 8), 11);
        assert_int_equal(set_reg(&r, EMU_PC, emu_label(r.e, "far"), NULL), 0);
        assert_int_equal(resume_to_stop(&r, RESUME_STEP).pc, emu_label(r.e, "far") + 2);
        assert_int_equal(resume_to_stop(&r, RESUME_STEP).pc, emu_label(r.e, "far") + 4);
        assert_int_equal(resume_to_stop(&r, RESUME_STEP).pc, a);
        assert_int_equal(reg_value(&r, 8), 27);
        rig_close(&r);
    }
}

/* Flycast shows r0-r7 as bank 0 even when SR.RB says that they are bank 1. */
static void banks__in_an_exception_handler__are_in_their_places(void **state)
{
    static const unsigned shows[] = { 0, 2, 3 };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(shows); k++) {
        struct rig r = open_attached(kinds[shows[k]], LOOP, true);
        print_message("  %s\n", kinds[shows[k]]->name);
        sh4_set_sr(&r.e->cpu, 0x700000F0); /* it stands */
        for (unsigned n = 0; n < 8; n++) {
            r.e->cpu.r[n] = 0x1000 + n;
            r.e->cpu.rb[n] = 0x2000 + n;
        }
        resume_to_stop(&r, RESUME_STEP);
        for (unsigned n = 0; n < 8; n++) {
            assert_int_equal(reg_value(&r, n), 0x1000 + n);
            assert_int_equal(reg_value(&r, EMU_BANK1 + n), 0x1000 + n);
            assert_int_equal(reg_value(&r, EMU_BANK0 + n), 0x2000 + n);
        }
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers__each__read_and_written_or_refused_with_words),
        cmocka_unit_test(memory__each__any_length_and_alignment_or_refused_with_words),
        cmocka_unit_test(step__each_branch_on_each__arrives_where_the_cpu_goes),
        cmocka_unit_test(breakpoint__each__hits_again_and_again_and_never_shows),
        cmocka_unit_test(hbreak__each__hits_or_is_refused_and_never_shows),
        cmocka_unit_test(attach__program_runs__stands_for_certain),
        cmocka_unit_test(running__each__halts_samples_and_is_read),
        cmocka_unit_test(detach__each__runs_on_and_is_attached_anew),
        cmocka_unit_test(gone__each_that_outlives_it__attached_anew_with_its_breakpoints),
        cmocka_unit_test(counters__each__refused_with_words),
        cmocka_unit_test(watch__each__refused_with_words_and_data_is_whole),
        cmocka_unit_test(stale_session__its_breakpoint__stops_once),
        cmocka_unit_test(pc__written_before_a_step__step_goes_on_from_there),
        cmocka_unit_test(banks__in_an_exception_handler__are_in_their_places),
    };
    return cmocka_run_group_tests_name("rsp_emulators", tests, NULL, NULL);
}
