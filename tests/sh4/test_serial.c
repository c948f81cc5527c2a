/* The agent over its serial port: a board that runs by itself at the far end of a pseudo terminal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/agent.h"
#include "targets/sh4/driver/driver.h"
#include "tests/sh4/fixture.h"
#include "tests/sh4/serial_rig.h"

struct line {
    struct serial_rig *rig;
    struct board b;
    struct log log;
    char said[4096]; /* log lines of the target */
};

enum { LOOKS = 100000 };

static void take_log(void *ctx, enum log_subject subject, const char *text)
{
    struct line *l = ctx;
    size_t n = strlen(l->said);
    (void)subject;
    snprintf(l->said + n, sizeof l->said - n, "%s\n", text);
}

/* more: options of the adapter. */
static struct line *connect_with(const struct serial_rig_options *o, const char *more, bool log)
{
    struct line *l = calloc(1, sizeof *l);
    char name[100];
    l->rig = serial_rig_start(o);
    l->log = (struct log){ .enabled = log ? 1u << LOG_TARGET : 0, .write = take_log, .ctx = l };
    struct probe_config cfg = { .log = &l->log };
    snprintf(name, sizeof name, "serial:%s,baud=%u%s", serial_rig_port(l->rig),
             o->brr ? 57600u : 1500000u, more);
    MUST(&l->b, probe_open(name, &cfg, &l->b.probe, &l->b.err));
    MUST(&l->b,
         sh4_open(l->b.probe, &(struct sh4_options){ .big_endian = o->big, .allow_private = true },
                  &l->b.t, &l->b.err));
    l->b.prog.big = o->big;
    return l;
}

static struct line *connect_rig(const struct serial_rig_options *o, bool log)
{
    return connect_with(o, o->dcload ? ",loader=dcload,timeout=10000" : "", log);
}

static struct line *attach_running(struct line *l)
{
    MUST(&l->b, l->b.t->ops->attach(l->b.t, &l->b.err));
    assert_int_equal(l->b.t->ops->state(l->b.t), TARGET_RUNNING);
    return l;
}

static struct line *start_attached(const struct serial_rig_options *o)
{
    return attach_running(connect_rig(o, false));
}
/* Its board runs by this machine's clock, which may have other things to do: where nothing is lost,
 * nothing is given up either. */
static struct line *start_patient(const struct serial_rig_options *o)
{
    return attach_running(connect_with(o, ",timeout=60000", false));
}

static void finish_rig(struct line *l)
{
    l->b.t->ops->close(l->b.t);
    probe_close(l->b.probe);
    serial_rig_stop(l->rig);
    free(l);
}

#define ADDS                                                                                   \
    "add #1,r1\n add #1,r1\n add #1,r1\n add #1,r1\n add #1,r1\n add #1,r1\n add #1,r1\n add " \
    "#1,r1\n"
static const char loop[] = "start: mov #0,r1\n again: add #1,r1\n nop\n bsr leaf\n nop\n bra "
                           "again\n nop\n leaf: rts\n add #2,r2\n";

/* ---- it debugs ---- */

static void serial__both_orders_and_rates__halts_moves_memory_and_runs_on(void **state)
{
    static const struct serial_rig_options rows[] = { { .big = false },
                                                      { .big = true },
                                                      { .brr = 26 } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct line *l = start_patient(&rows[i]);
        struct board *b = &l->b;
        uint8_t out[4096], in[4096];
        size_t len = rows[i].brr ? 512 : sizeof out;
        halt_it(b);
        assert_int_equal(get_reg(b, R_VBR), 0x8C030000); /* the program's, not ours */
        assert_int_equal(get_reg(b, R_SR) & 0x70000000, 0x40000000);
        uint32_t r8 = get_reg(b, 8);
        for (size_t k = 0; k < len; k++)
            out[k] = (uint8_t)(k * 7 + (k >> 8));
        MUST(b, b->t->ops->write_mem(b->t, DATA + 1, 0, out, len, &b->err));
        MUST(b, b->t->ops->read_mem(b->t, DATA + 1, 0, in, len, &b->err));
        assert_memory_equal(in, out, len);
        set_reg(b, 9, 0x12345678);
        for (int i = 0; i < LOOKS && get_reg(b, 8) == r8; i++) { /* the board's thread has to run */
            continue_board(b);
            usleep(1000);
            halt_it(b);
        }
        assert_int_equal(get_reg(b, 9), 0x12345678);
        assert_true(get_reg(b, 8) != r8); /* it counts on */
        finish_rig(l);
    }
}

static void serial__steps_and_breakpoints__stop_where_asked(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct line *l = start_patient(&(struct serial_rig_options){ .big = big });
        struct board *b = &l->b;
        halt_it(b);
        load_text(b, loop);
        assert_int_equal(step_it(b).pc, label_address(b, "again"));
        assert_int_equal(step_it(b).pc, label_address(b, "again") + 2);
        for (int kind = 0; kind < 2; kind++) {
            enum bp_kind bp = kind ? BP_HARD : BP_SOFT;
            MUST(b, b->t->ops->insert_bp(b->t, bp, label_address(b, "leaf"), 2, &b->err));
            for (int i = 0; i < 3; i++) {
                uint32_t r2 = get_reg(b, 2);
                continue_board(b);
                struct target_stop stop = wait_for_stop(b);
                assert_int_equal(stop.reason, kind ? STOP_HWBREAK : STOP_SWBREAK);
                assert_int_equal(stop.pc, label_address(b, "leaf"));
                assert_int_equal(get_reg(b, 2), i ? r2 + 2 : get_reg(b, 2));
            }
            MUST(b, b->t->ops->remove_bp(b->t, bp, label_address(b, "leaf"), 2, &b->err));
            assert_int_equal(step_it(b).reason, STOP_STEP);
        }
        MUST(b, b->t->ops->resume(b->t,
                                  &(struct resume){ .kind = RESUME_RANGE,
                                                    .range_lo = CODE,
                                                    .range_hi = CODE + 0x100 },
                                  &b->err));
        halt_it(b); /* the range is never left: the kernel asks the line */
        finish_rig(l);
    }
}

static void serial__bl_set__steps_inside_the_agent(void **state)
{
    (void)state;
    struct line *l = start_patient(&(struct serial_rig_options){ .big = false });
    struct board *b = &l->b;
    halt_it(b);
    load_text(b, loop);
    set_reg(b, R_SR, SR_PLAIN | 0x10000000);
    assert_int_equal(step_it(b).pc, CODE + 2);
    assert_int_equal(step_it(b).pc, CODE + 4);
    assert_int_equal(get_reg(b, 1), 1);
    finish_rig(l);
}

static void serial__detach_and_attach_again__program_goes_on(void **state)
{
    (void)state;
    struct line *l = start_patient(&(struct serial_rig_options){ .big = false });
    struct board *b = &l->b;
    halt_it(b);
    load_text(b, loop);
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "leaf"), 2, &b->err));
    continue_board(b);
    wait_for_stop(b);
    MUST(b, b->t->ops->detach(b->t, &b->err));
    MUST(b, b->t->ops->attach(b->t, &b->err));
    assert_int_equal(b->t->ops->state(b->t), TARGET_RUNNING);
    halt_it(b);
    assert_true(get_reg(b, 1) > 1);
    /* Left halted: the next session hears that by itself. */
    MUST(b, b->t->ops->attach(b->t, &b->err));
    assert_int_equal(b->t->ops->state(b->t), TARGET_HALTED);
    finish_rig(l);
}

/* ---- what a line does to it ---- */

static void serial__noise__memory_arrives_whole(void **state)
{
    static const struct {
        unsigned flip, drop;
    } rows[] = { { 400, 0 }, { 0, 400 }, { 700, 700 } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct line *l = start_patient(&(struct serial_rig_options){ .big = false });
        struct board *b = &l->b;
        uint8_t out[2048], in[2048];
        halt_it(b);
        load_text(b, loop);
        for (size_t k = 0; k < sizeof out; k++)
            out[k] = (uint8_t)(k * 13 + (k >> 8));
        serial_rig_damage(l->rig, rows[i].flip, rows[i].drop);
        MUST(b, b->t->ops->write_mem(b->t, DATA, 0, out, sizeof out, &b->err));
        MUST(b, b->t->ops->read_mem(b->t, DATA, 0, in, sizeof in, &b->err));
        assert_memory_equal(in, out, sizeof out);
        MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "leaf"), 2, &b->err));
        for (int k = 0; k < 5; k++) { /* each turn once, whatever was damaged on the way */
            continue_board(b);
            assert_int_equal(wait_for_stop(b).pc, label_address(b, "leaf"));
            assert_int_equal(get_reg(b, 1), k + 1);
        }
        finish_rig(l);
    }
}

/* The registers, lines of the cache, memory: whatever of it is first comes in pieces. */
static void serial__what_is_long_is_damaged__comes_in_pieces(void **state)
{
    enum { MOST = 170 }; /* more than 32 words take, less than 43, which the registers are */
    static const uint32_t rows[] = { 0, 0xA0000000 | DATA, DATA };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct line *l = start_patient(&(struct serial_rig_options){ .big = false });
        struct board *b = &l->b;
        uint8_t out[2048], in[2048];
        halt_it(b);
        load_text(b, loop);
        for (size_t k = 0; k < sizeof out; k++)
            out[k] = (uint8_t)(k * 13 + (k >> 8));
        MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "leaf"), 2, &b->err));
        serial_rig_damage_long(l->rig, MOST);
        if (rows[i]) {
            MUST(b, b->t->ops->write_mem(b->t, rows[i], 0, out, sizeof out, &b->err));
            MUST(b, b->t->ops->read_mem(b->t, rows[i], 0, in, sizeof in, &b->err));
            assert_memory_equal(in, out, sizeof out);
        }
        for (int k = 0; k < 2; k++) {
            continue_board(b);
            assert_int_equal(wait_for_stop(b).pc, label_address(b, "leaf"));
            assert_int_equal(get_reg(b, 1), k + 1);
        }
        assert_in_range(sh4_of(b->t)->link.block, 16, 32);
        assert_true(sh4_of(b->t)->link.retries < 200); /* a minute of tries is far more */
        finish_rig(l);
    }
}

/* Its count of halts is set when it is met; where only the answer to that is lost, the count is not
 * taken for the agent's own. */
static void serial__answer_to_the_mark_lost__nothing_is_made_up(void **state)
{
    (void)state;
    struct line *l = start_patient(&(struct serial_rig_options){ .big = false });
    serial_rig_lose_mark(l->rig);
    halt_it(&l->b);
    assert_true(sh4_of(l->b.t)->link.retries > 0);
    finish_rig(l);
}

/* "Halted" is heard again and again while op_go is under way, so it is sent again: the board gets
 * it several times. */
static void serial__op_go_late_and_repeated__each_step_is_one(void **state)
{
    (void)state;
    struct line *l = start_patient(&(struct serial_rig_options){ .big = false });
    struct board *b = &l->b;
    halt_it(b);
    load_text(b, "start: mov #0,r1\n" ADDS ADDS);
    assert_int_equal(step_it(b).pc, CODE + 2);
    for (int k = 1; k <= 8; k++) {
        serial_rig_hold_go(l->rig, k == 4 ? 900 : 80);
        assert_int_equal(step_it(b).pc, CODE + 2 + 2 * k);
        assert_int_equal(get_reg(b, 1), k);
    }
    finish_rig(l);
}

/* The copies come when nobody is there any more to let the program go once more. */
static void serial__detach_with_op_go_late_and_repeated__program_goes_on(void **state)
{
    (void)state;
    struct line *l = start_patient(&(struct serial_rig_options){ .big = false });
    struct board *b = &l->b;
    halt_it(b);
    load_text(b, loop);
    serial_rig_hold_one_go(l->rig, 900);
    MUST(b, b->t->ops->detach(b->t, &b->err));
    MUST(b, b->t->ops->attach(b->t, &b->err));
    assert_int_equal(b->t->ops->state(b->t), TARGET_RUNNING);
    halt_it(b);
    assert_true(get_reg(b, 1) > 1);
    finish_rig(l);
}

static void serial__stray_byte_in_a_step__it_goes_on(void **state)
{
    static const uint8_t bytes[] = { 0x00, 0x40, SH4_AGENT_START };
    enum { TURNS = 20000, BYTES = 6 };
    (void)state;
    struct line *l = start_patient(&(struct serial_rig_options){ .big = false });
    struct board *b = &l->b;
    halt_it(b);
    load_text(b,
              "mov.l turns,r2\n again: add #1,r1\n dt r2\n bf again\n out: bra out\n nop\n .align "
              "2\n turns: .long 20000\n");
    for (unsigned i = 0; i < ARRAY_LEN(bytes); i++) {
        set_reg(b, 1, 0);
        set_reg(b, R_PC, CODE);
        MUST(b, b->t->ops->resume(b->t,
                                  &(struct resume){ .kind = RESUME_RANGE,
                                                    .range_lo = CODE,
                                                    .range_hi = label_address(b, "out") },
                                  &b->err));
        struct target_stop stop;
        int stopped = 0; /* on a busy machine the board is through before the last byte has come */
        for (unsigned k = 0; k < BYTES && !stopped; k++) {
            serial_rig_stray(l->rig, bytes[i]);
            stopped = b->t->ops->poll(b->t, 1000000, &stop, &b->err);
            assert_true(stopped >= 0);
        }
        if (!stopped)
            stop = wait_for_stop(b);
        assert_int_equal(stop.reason, STOP_STEP);
        assert_int_equal(stop.pc, label_address(b, "out"));
        assert_int_equal(get_reg(b, 1), TURNS);
    }
    finish_rig(l);
}

/* Let go where it stood, the program would meet the breakpoint that it was to be stepped off. */
static void serial__stray_byte_in_a_step_off_a_breakpoint__it_goes_on(void **state)
{
    static const uint8_t bytes[] = { 0x00, SH4_AGENT_START };
    (void)state;
    for (unsigned kind = 0; kind < 2; kind++) {
        enum bp_kind bp = kind ? BP_HARD : BP_SOFT;
        struct line *l = start_patient(&(struct serial_rig_options){ .big = false });
        struct board *b = &l->b;
        halt_it(b);
        load_text(b, loop);
        MUST(b, b->t->ops->insert_bp(b->t, bp, label_address(b, "leaf"), 2, &b->err));
        for (unsigned turn = 1; turn <= 6; turn++) {
            if (turn > 1)
                serial_rig_stray_behind_go(l->rig, bytes[turn % 2]);
            continue_board(b);
            struct target_stop stop = wait_for_stop(b);
            assert_int_equal(stop.reason, kind ? STOP_HWBREAK : STOP_SWBREAK);
            assert_int_equal(stop.pc, label_address(b, "leaf"));
            assert_int_equal(get_reg(b, 1), turn);
        }
        finish_rig(l);
    }
}

static void serial__nobody_there__says_so_in_time(void **state)
{
    (void)state;
    struct line *l = start_attached(&(struct serial_rig_options){ .no_agent = true });
    struct target_stop stop;
    MUST(&l->b, l->b.t->ops->halt(l->b.t, &l->b.err));
    int ret = 0;
    for (int i = 0; i < TURNS_TO_WAIT && ret == 0; i++)
        ret = l->b.t->ops->poll(l->b.t, 100000000, &stop, &l->b.err);
    assert_int_equal(ret, -ERR_TIMEOUT);
    assert_non_null(strstr(l->b.err.hint, "agent_init"));
    assert_int_equal(l->b.t->ops->reset(l->b.t, RESET_RUN, &l->b.err), -ERR_UNSUPPORTED);
    finish_rig(l);
}

static void serial__board_reset__request_fails_then_attach_works(void **state)
{
    (void)state;
    struct line *l = start_attached(&(struct serial_rig_options){ .big = false });
    struct board *b = &l->b;
    uint8_t byte[4];
    halt_it(b);
    serial_rig_reset(l->rig);
    assert_int_equal(b->t->ops->read_mem(b->t, DATA, 0, byte, 4, &b->err), -ERR_NO_TARGET);
    assert_non_null(strstr(b->err.what, "reset"));
    MUST(b, b->t->ops->attach(b->t, &b->err));
    if (b->t->ops->state(b->t) == TARGET_RUNNING)
        halt_it(b);
    MUST(b, b->t->ops->read_mem(b->t, DATA, 0, byte, 4, &b->err));
    finish_rig(l);
}

static void serial__cable_pulled__is_gone_at_once(void **state)
{
    (void)state;
    for (int running = 0; running < 2; running++) {
        struct line *l = start_attached(&(struct serial_rig_options){ .big = false });
        struct board *b = &l->b;
        struct target_stop stop;
        uint8_t byte[4];
        halt_it(b);
        if (running)
            continue_board(b);
        serial_rig_pull(l->rig);
        int ret = 0;
        for (int i = 0; i < TURNS_TO_WAIT && ret >= 0; i++)
            nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL),
                ret = b->t->ops->poll(b->t, 10000000, &stop, &b->err);
        assert_true(b->t->ops->read_mem(b->t, DATA, 0, byte, 4, &b->err) < 0);
        assert_int_equal(ret, -ERR_USB);
        assert_int_equal(b->t->ops->state(b->t), TARGET_GONE);
        finish_rig(l);
    }
}

static void serial__program_prints__text_is_reported_and_halts_come_through(void **state)
{
    (void)state;
    struct line *l = connect_rig(&(struct serial_rig_options){ .print = "hello, line\n" }, true);
    struct board *b = &l->b;
    struct target_stop stop;
    MUST(b, b->t->ops->attach(b->t, &b->err));
    for (int i = 0; i < 5; i++) {
        halt_it(b);
        continue_board(b);
        assert_int_equal(b->t->ops->poll(b->t, 20000000, &stop, &b->err), 0);
    }
    assert_non_null(strstr(l->said, "the program says: hello, line\n"));
    finish_rig(l);
}

/* ---- dcload ---- */

/* The board runs by the host's clock: how far it has come when the halt arrives is not known. */
static void run_until_counted(struct board *b)
{
    enum { TRIES = 1000 };
    for (int i = 0; i < TRIES && get_reg(b, 1) == 0; i++) {
        continue_board(b);
        halt_it(b);
    }
    assert_true(get_reg(b, 1) > 0);
}

static void dcload__every_rate__loads_the_agent_and_starts_it(void **state)
{
    static const struct serial_rig_options rows[] = { { .dcload = true },
                                                      { .dcload = true, .brr = 26 },
                                                      { .dcload = true, .deaf = 5 },
                                                      { .dcload = true, .late = 2500 } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct line *l = connect_rig(&rows[i], false);
        struct board *b = &l->b;
        MUST(b, b->t->ops->attach(b->t, &b->err));
        assert_int_equal(b->t->ops->state(b->t), TARGET_HALTED);
        load_text(b, loop);
        assert_int_equal(step_it(b).pc, CODE + 2);
        run_until_counted(b);
        MUST(b, b->t->ops->resume(b->t, &(struct resume){ .kind = RESUME_CONTINUE }, &b->err));
        MUST(b, b->t->ops->attach(b->t, &b->err)); /* the agent is there: nothing is loaded again */
        assert_int_equal(b->t->ops->state(b->t), TARGET_HALTED);
        assert_in_range(get_reg(b, R_PC), CODE, CODE + b->prog.len);
        finish_rig(l);
    }
}

static void dcload__nobody_there_or_no_such_rate__says_what_to_do(void **state)
{
    static const struct serial_rig_options nobody = { .no_agent = true };
    char name[100];
    struct err err = { .code = ERR_OK };
    struct probe *p;
    struct target *t;
    (void)state;
    struct serial_rig *r = serial_rig_start(&nobody);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "serial:%s,baud=%s,loader=dcload", serial_rig_port(r),
                 i ? "921600" : "115200");
        assert_int_equal(probe_open(name, &(struct probe_config){ .spec = "" }, &p, NULL), 0);
        assert_int_equal(sh4_open(p, NULL, &t, NULL), 0);
        assert_int_equal(t->ops->attach(t, &err), i ? -ERR_USAGE : -ERR_NO_TARGET);
        assert_string_not_equal(err.hint, "");
        t->ops->close(t);
        probe_close(p);
    }
    serial_rig_stop(r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serial__both_orders_and_rates__halts_moves_memory_and_runs_on),
        cmocka_unit_test(serial__steps_and_breakpoints__stop_where_asked),
        cmocka_unit_test(serial__bl_set__steps_inside_the_agent),
        cmocka_unit_test(serial__detach_and_attach_again__program_goes_on),
        cmocka_unit_test(serial__noise__memory_arrives_whole),
        cmocka_unit_test(serial__what_is_long_is_damaged__comes_in_pieces),
        cmocka_unit_test(serial__answer_to_the_mark_lost__nothing_is_made_up),
        cmocka_unit_test(serial__op_go_late_and_repeated__each_step_is_one),
        cmocka_unit_test(serial__detach_with_op_go_late_and_repeated__program_goes_on),
        cmocka_unit_test(serial__stray_byte_in_a_step__it_goes_on),
        cmocka_unit_test(serial__stray_byte_in_a_step_off_a_breakpoint__it_goes_on),
        cmocka_unit_test(serial__nobody_there__says_so_in_time),
        cmocka_unit_test(serial__board_reset__request_fails_then_attach_works),
        cmocka_unit_test(serial__cable_pulled__is_gone_at_once),
        cmocka_unit_test(serial__program_prints__text_is_reported_and_halts_come_through),
        cmocka_unit_test(dcload__every_rate__loads_the_agent_and_starts_it),
        cmocka_unit_test(dcload__nobody_there_or_no_such_rate__says_what_to_do),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
