/* The agent by a network loader: a board that runs by itself at the far end of UDP, with a
 * loader that does what dcload-ip does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "tests/sh4/dcip_rig.h"
#include "tests/sh4/fixture.h"

struct net {
    struct dcip_rig *rig;
    struct board b;
    struct log log;
    char said[8192]; /* log lines of the target */
};

static void take_log(void *ctx, enum log_subject subject, const char *text)
{
    struct net *n = ctx;
    size_t at = strlen(n->said);
    (void)subject;
    if (getenv("DCIP_WIRE"))
        fprintf(stderr, "%s\n", text);
    snprintf(n->said + at, sizeof n->said - at, "%s\n", text);
}

static void connect_to(struct net *n)
{
    char name[60];
    struct probe_config cfg = { .log = &n->log };
    n->log = (struct log){ .enabled = 1u << LOG_TARGET | (getenv("DCIP_WIRE") ? 1u << LOG_WIRE : 0),
                           .write = take_log,
                           .ctx = n };
    snprintf(name, sizeof name, "dcload-ip:127.0.0.1:%u,timeout=10000", dcip_rig_port(n->rig));
    MUST(&n->b, probe_open(name, &cfg, &n->b.probe, &n->b.err));
    MUST(&n->b,
         sh4_open(n->b.probe, &(struct sh4_options){ .allow_private = true }, &n->b.t, &n->b.err));
}

static void attach_halted(struct net *n)
{
    MUST(&n->b, n->b.t->ops->attach(n->b.t, &n->b.err));
    assert_int_equal(n->b.t->ops->state(n->b.t), TARGET_HALTED);
}

static struct net *start_rig(const struct dcip_rig_options *o)
{
    struct net *n = calloc(1, sizeof *n);
    n->rig = dcip_rig_start(o);
    connect_to(n);
    return n;
}

static struct net *start_attached(const struct dcip_rig_options *o)
{
    struct net *n = start_rig(o);
    attach_halted(n);
    return n;
}

static void hang_up(struct net *n)
{
    n->b.t->ops->close(n->b.t);
    probe_close(n->b.probe);
}

static void finish_rig(struct net *n)
{
    hang_up(n);
    dcip_rig_stop(n->rig);
    free(n);
}

/* Several of the agent's looks. */
static void runs_for_a_while(struct board *b)
{
    struct target_stop stop;
    for (int i = 0; i < 10; i++)
        assert_int_equal(b->t->ops->poll(b->t, 100000000, &stop, &b->err), 0);
}

/* Until the program has changed r1: the board's thread has to run for that. */
static void runs_on(struct board *b)
{
    enum { LOOKS = 600 };
    const uint32_t r1 = get_reg(b, 1);
    for (int k = 0; k < LOOKS && get_reg(b, 1) == r1; k++) {
        continue_board(b);
        runs_for_a_while(b);
        halt_it(b);
    }
    assert_int_not_equal(get_reg(b, 1), r1);
}

static const char loop[] = "start: mov #0,r1\n again: add #1,r1\n nop\n bsr leaf\n nop\n bra "
                           "again\n nop\n leaf: rts\n add #2,r2\n";
/* call: r4 number, r5 to r7. */
#define CALL \
    "call: mov.l where,r0\n mov.l @r0,r0\n jmp @r0\n nop\n .align 2\n where: .long 0x8C004008\n"

/* ---- it debugs ---- */

static void dcip__attached__moves_memory_steps_breaks_and_halts(void **state)
{
    static const struct dcip_rig_options rows[] = { { .newer = false },
                                                    { .newer = true, .lan = true } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct net *n = start_attached(&rows[i]);
        struct board *b = &n->b;
        uint8_t out[4096], in[4096];
        for (size_t k = 0; k < sizeof out; k++)
            out[k] = (uint8_t)(k * 7 + (k >> 8));
        MUST(b, b->t->ops->write_mem(b->t, DATA + 1, 0, out, sizeof out, &b->err));
        MUST(b, b->t->ops->read_mem(b->t, DATA + 1, 0, in, sizeof in, &b->err));
        assert_memory_equal(in, out, sizeof out);
        load_text(b, loop);
        assert_int_equal(step_it(b).pc, label_address(b, "again"));
        for (int kind = 0; kind < 2; kind++) {
            enum bp_kind bp = kind ? BP_HARD : BP_SOFT;
            MUST(b, b->t->ops->insert_bp(b->t, bp, label_address(b, "leaf"), 2, &b->err));
            continue_board(b);
            struct target_stop stop = wait_for_stop(b);
            assert_int_equal(stop.reason, kind ? STOP_HWBREAK : STOP_SWBREAK);
            assert_int_equal(stop.pc, label_address(b, "leaf"));
            MUST(b, b->t->ops->remove_bp(b->t, bp, label_address(b, "leaf"), 2, &b->err));
        }
        runs_on(b); /* it runs: the agent asks by itself */
        MUST(b, b->t->ops->resume(b->t,
                                  &(struct resume){ .kind = RESUME_RANGE,
                                                    .range_lo = CODE,
                                                    .range_hi = CODE + 0x100 },
                                  &b->err));
        halt_it(b); /* the range is never left */
        finish_rig(n);
    }
}

/* The loader's code uses registers as C code does, those of the FPU among them. */
static void dcip__halted_and_looked_at__no_register_changes(void **state)
{
    (void)state;
    struct net *n = start_attached(&(struct dcip_rig_options){ .lose = 0 });
    struct board *b = &n->b;
    load_text(b, "start: bra start\n nop\n");
    for (unsigned r = 0; r < 15; r++)
        set_reg(b, r, 0x11110000u + r);
    for (unsigned r = 0; r < 16; r++)
        set_reg(b, R_FR0 + r, 0x40000000u + r);
    set_reg(b, R_FPSCR, 0x000C0001); /* double precision */
    set_reg(b, R_FPUL, 0x12345678);
    for (int i = 0; i < 2; i++) { /* by a halt, and by looks that nobody notices */
        continue_board(b);
        runs_for_a_while(b);
        halt_it(b);
    }
    for (unsigned r = 0; r < 15; r++)
        assert_int_equal(get_reg(b, r), 0x11110000u + r);
    for (unsigned r = 0; r < 16; r++)
        assert_int_equal(get_reg(b, R_FR0 + r), 0x40000000u + r);
    assert_int_equal(get_reg(b, R_FPSCR), 0x000C0001);
    assert_int_equal(get_reg(b, R_FPUL), 0x12345678);
    finish_rig(n);
}

/* ---- a network that loses, repeats and delays ---- */

static void dcip__bad_network__every_step_is_one(void **state)
{
    static const struct dcip_rig_options bad = { .lose = 6, .twice = 6, .late = 6 };
    (void)state;
    struct net *n = start_attached(&bad);
    struct board *b = &n->b;
    load_text(b,
              "start: add #1,r1\n add #1,r1\n add #1,r1\n add #1,r1\n add #1,r1\n add #1,r1\n add "
              "#1,r1\n add #1,r1\n bra start\n nop\n");
    set_reg(b, 1, 0);
    for (uint32_t i = 1; i <= 8; i++) {
        assert_int_equal(step_it(b).pc, CODE + 2 * i);
        assert_int_equal(get_reg(b, 1), i);
        set32at(b, DATA, i);
        assert_int_equal(get32at(b, DATA), i);
    }
    struct dcip_rig_counts c = dcip_rig_counts(n->rig);
    assert_true(c.lost && c.twice && c.late);
    finish_rig(n);
}

/* What the loader says once and never again. */
static void dcip__an_answer_is_lost__found_where_it_lies(void **state)
{
    static const char *const ids[] = { "VERS", "LBIN", "DBIN", "SBIN", "EXEC", "RETV", "DC20" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct net *n = start_rig(&(struct dcip_rig_options){ .lose = 0 });
        struct board *b = &n->b;
        print_message("  %s\n", ids[i]);
        dcip_rig_lose_next(n->rig, ids[i], 2);
        attach_halted(n);
        load_text(b, loop);
        dcip_rig_lose_next(n->rig, ids[i], 2);
        assert_int_equal(step_it(b).pc, label_address(b, "again"));
        assert_int_equal(step_it(b).pc, label_address(b, "again") + 2);
        assert_int_equal(get_reg(b, 1), 1);
        continue_board(b);
        dcip_rig_lose_next(n->rig, ids[i], 2);
        halt_it(b);
        finish_rig(n);
    }
}

/* ---- the program and its loader ---- */

static void dcip__program_calls__text_is_reported_files_are_refused(void **state)
{
    (void)state;
    struct net *n = start_attached(&(struct dcip_rig_options){ .lose = 0 });
    struct board *b = &n->b;
    load_text(
        b, "start: mov #1,r4\n mov #1,r5\n mov.l text,r6\n bsr call\n mov #6,r7\n mov r0,r8\n mov "
           "#1,r4\n mov #2,r5\n mov.l text,r6\n bsr call\n mov #6,r7\n mov r0,r9\n"
           "mov #2,r4\n mov.l name,r5\n mov #0,r6\n bsr call\n mov #0,r7\n mov r0,r10\n"
           "mov #1,r4\n mov #5,r5\n mov.l text,r6\n bsr call\n mov #6,r7\n mov r0,r11\n"
           "mov #11,r4\n bsr call\n mov #0,r5\n mov r0,r12\n end: bra end\n nop\n" CALL
           ".align 2\n text: .long said\n name: .long file\n said: .long 0x6C6C6568\n"
           ".long 0x00000A6F\n file: .long 0x0000612F\n");
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "end"), 2, &b->err));
    continue_board(b);
    assert_int_equal(wait_for_stop(b).reason, STOP_SWBREAK);
    assert_int_equal(get_reg(b, 8), 6);
    assert_int_equal(get_reg(b, 9), 6);
    assert_int_equal(get_reg(b, 10), 0xFFFFFFFF); /* open */
    assert_int_equal(get_reg(b, 11), 0xFFFFFFFF); /* write to a file */
    assert_true(get_reg(b, 12) - (uint32_t)time(NULL) + 600 < 1200);
    char *first = strstr(n->said, "the program says: hello");
    assert_non_null(first);
    /* the same call again is another */
    assert_non_null(strstr(first + 1, "the program says: hello"));
    assert_null(
        strstr(strstr(first + 1, "the program says: hello") + 1, "the program says: hello"));
    assert_non_null(strstr(n->said, "DC04 of its loader is refused"));
    finish_rig(n);
}

/* dcload-ip tells of a call once: nobody knows what was wanted, and it must not wait for ever. */
static void dcip__call_is_lost__fails_and_the_program_goes_on(void **state)
{
    (void)state;
    struct net *n = start_attached(&(struct dcip_rig_options){ .lose = 0 });
    struct board *b = &n->b;
    load_text(
        b, "start: mov #1,r4\n mov #1,r5\n mov.l text,r6\n bsr call\n mov #4,r7\n mov r0,r8\n end: "
           "bra end\n nop\n" CALL ".align 2\n text: .long 0x8C020000\n");
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "end"), 2, &b->err));
    dcip_rig_lose_next(n->rig, "DD02", 1);
    continue_board(b);
    assert_int_equal(wait_for_stop(b).reason, STOP_SWBREAK);
    assert_int_equal(get_reg(b, 8), 0xFFFFFFFF);
    assert_non_null(strstr(n->said, "was lost on the network"));
    finish_rig(n);
}

/* By a call, by one that is not heard, or by a return to who has started it. */
static void dcip__program_ends__is_an_exit_and_another_can_be_run(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct net *n = start_attached(&(struct dcip_rig_options){ .lose = 0 });
        struct board *b = &n->b;
        uint32_t pr = get_reg(b, R_PR);
        assert_int_equal(pr & 0x1FFFFFFF, 0x0C004000); /* the loader's start */
        load_text(
            b, how == 2
                   ? "start: rts\n nop\n"
                   : "start: mov #15,r4\n bsr call\n nop\n mov.l loader,r0\n jmp @r0\n nop\n" CALL
                     "loader: .long 0x8C004000\n");
        set_reg(b, R_SR, 0x500000F0); /* as the loader executes programs */
        if (how == 1)
            dcip_rig_lose_next(n->rig, "DC00", 1);
        continue_board(b);
        assert_int_equal(wait_for_stop(b).reason, STOP_EXIT);
        assert_int_equal(b->t->ops->state(b->t), TARGET_HALTED);
        assert_int_equal(dcip_rig_counts(n->rig).executed, 2);
        load_text(b, loop);
        assert_int_equal(step_it(b).pc, label_address(b, "again"));
        finish_rig(n);
    }
}

/* ---- sessions ---- */

static void dcip__reset_halt__loader_begins_anew(void **state)
{
    (void)state;
    struct net *n = start_attached(&(struct dcip_rig_options){ .lose = 0 });
    struct board *b = &n->b;
    load_text(b, loop);
    continue_board(b);
    MUST(b, b->t->ops->reset(b->t, RESET_HALT, &b->err));
    assert_int_equal(wait_for_stop(b).reason, STOP_RESET);
    assert_int_equal(b->t->ops->reset(b->t, RESET_RUN, &b->err), -ERR_UNSUPPORTED);
    load_text(b, loop);
    assert_int_equal(step_it(b).pc, label_address(b, "again"));
    finish_rig(n);
}

static void dcip__session_is_lost__the_next_finds_the_program_halted(void **state)
{
    (void)state;
    for (int halted = 0; halted < 2; halted++) {
        struct net *n = start_attached(&(struct dcip_rig_options){ .lose = 0 });
        struct board *b = &n->b;
        load_text(b, loop);
        set_reg(b, 9, 0x12345678);
        continue_board(b);
        if (halted)
            halt_it(b);
        hang_up(n); /* without a word */
        connect_to(n);
        attach_halted(n);
        assert_in_range(get_reg(b, R_PC), CODE, CODE + b->prog.len);
        assert_int_equal(get_reg(b, 9), 0x12345678);
        assert_int_equal(dcip_rig_counts(n->rig).executed, 1);
        runs_on(b); /* the loader talks to the port of before still */
        finish_rig(n);
    }
}

static void dcip__detach__nothing_is_asked_any_more(void **state)
{
    (void)state;
    struct net *n = start_attached(&(struct dcip_rig_options){ .lose = 0 });
    struct board *b = &n->b;
    load_text(b, "start: mov #1,r4\n mov #1,r5\n mov.l text,r6\n bsr call\n mov #4,r7\n bra start\n"
                 "nop\n" CALL ".align 2\n text: .long 0x8C020000\n");
    MUST(b, b->t->ops->detach(b->t, &b->err));
    uint64_t from = dcip_rig_counts(n->rig).from;
    for (int i = 0; i < 20; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    assert_int_equal(dcip_rig_counts(n->rig).from, from);
    /* The button brings the loader back. */
    dcip_rig_reset(n->rig);
    attach_halted(n);
    finish_rig(n);
}

static void dcip__nobody_there__says_what_to_do(void **state)
{
    struct err err = { .code = ERR_OK };
    struct probe *p;
    struct target *t;
    (void)state;
    assert_int_equal(
        probe_open("dcload-ip:127.0.0.1:1", &(struct probe_config){ .spec = "" }, &p, &err), 0);
    assert_int_equal(sh4_open(p, NULL, &t, &err), 0);
    assert_int_equal(t->ops->attach(t, &err), -ERR_NO_TARGET);
    assert_string_not_equal(err.hint, "");
    t->ops->close(t);
    assert_int_equal(sh4_open(p, &(struct sh4_options){ .big_endian = true }, &t, &err), 0);
    assert_int_equal(t->ops->attach(t, &err), -ERR_USAGE);
    t->ops->close(t);
    probe_close(p);
    static const char *const wrong[] = { "dcload-ip", "dcload-ip:", "dcload-ip:host,baud=1",
                                         "dcload-ip:[::1]:2,timeout=1", "dcload-ip:host:" };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_int_equal(probe_open(wrong[i], &(struct probe_config){ .spec = "" }, &p, &err),
                         -ERR_USAGE);
        assert_string_not_equal(err.hint, "");
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dcip__attached__moves_memory_steps_breaks_and_halts),
        cmocka_unit_test(dcip__halted_and_looked_at__no_register_changes),
        cmocka_unit_test(dcip__bad_network__every_step_is_one),
        cmocka_unit_test(dcip__an_answer_is_lost__found_where_it_lies),
        cmocka_unit_test(dcip__program_calls__text_is_reported_files_are_refused),
        cmocka_unit_test(dcip__call_is_lost__fails_and_the_program_goes_on),
        cmocka_unit_test(dcip__program_ends__is_an_exit_and_another_can_be_run),
        cmocka_unit_test(dcip__reset_halt__loader_begins_anew),
        cmocka_unit_test(dcip__session_is_lost__the_next_finds_the_program_halted),
        cmocka_unit_test(dcip__detach__nothing_is_asked_any_more),
        cmocka_unit_test(dcip__nobody_there__says_what_to_do),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
