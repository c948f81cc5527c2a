/* The states of run control: every change that the table allows is made by the driver on a
 * simulated board, everything else is refused, and docs/sh4-run-states.md shows the table as it is.
 * With
 * --print the block for that page is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/log.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/isa/regs.h"
#include "tests/sh4/bad_wire.h"
#include "tests/run_table_docs.h"
#include "tests/state_table.h"
#include "tests/sh4/fixture.h"
#include "tests/sh4/serial_rig.h"

/* `turns` goes round for ever; `hit` meets two TLB entries, which resets any CPU; `odd` raises an
 * address error, which resets one with SR.BL=1; the handler of TRAPA is `general`. */
static const char program[] = "turns: add #1,r0\n bra turns\n nop\n"
                              "hit: mov.l @r4,r2\n nop\n"
                              "odd: mov #1,r1\n mov.l @r1,r2\n n: nop\n e: nop\n"
                              "free: ldc r5,sr\n f: bra f\n nop\n"
                              "trap: nop\n trapa #5\n back: bra back\n nop\n"
                              "vbr: .space 256\n general: mov.l @r1,r2\n rte\n nop\n";
#define SR_BL 0x700000F0u

/* ---- what was seen, by the driver's log ---- */

static bool met[SH4_NRUN_STATES][SH4_NRUN_EVENTS];

static void note_change(void *ctx, enum log_subject subject, const char *line)
{
    (void)ctx;
    (void)subject;
    run_table_met(&sh4_run_table, line, &met[0][0]);
}

static const struct log log = { .enabled = 1u << LOG_TARGET, .write = note_change };

static struct board *start_board(void)
{
    struct board *b = board_start("sh7750", program);
    bad_wire_take(b);
    b->probe->log = &log;
    set_reg(b, R_PC, label_address(b, "turns"));
    return b;
}

static enum sh4_run_state run_state(struct board *b) { return sh4_of(b->t)->run.state; }

/* ---- the ways into each state ---- */

static int poll_once(struct board *b, uint64_t ns)
{
    struct target_stop stop;
    return b->t->ops->poll(b->t, ns, &stop, &b->err);
}

static void poll_until_late(struct board *b)
{
    int ret = 0;
    for (int k = 0; k < 400 && ret == 0; k++)
        ret = poll_once(b, 10000000);
    assert_int_equal(ret, -ERR_TIMEOUT);
}

static void resume_board(struct board *b, enum resume_kind kind, const char *lo, const char *hi)
{
    struct resume how = { .kind = kind,
                          .range_lo = lo ? label_address(b, lo) : 0,
                          .range_hi = hi ? label_address(b, hi) : 0 };
    MUST(b, b->t->ops->resume(b->t, &how, &b->err));
}

static void soft_break(struct board *b, const char *at)
{
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, at), 2, &b->err));
}

/* Two entries of the TLB have the page that r4 points into. */
static void make_double_hit(struct board *b)
{
    for (uint32_t entry = 0; entry < 2; entry++) {
        set32at(b, 0xF6000000u | entry << 8, 0x00001000u | 3u << 8);
        set32at(b, 0xF7000000u | entry << 8, (DATA & SH4_PHYS & ~0xFFFu) | 0x17Cu);
    }
    set32at(b, SH4_MMUCR, 1);
    set_reg(b, 4, 0x1000);
}

static void begin_step(struct board *b, const char *at, bool off)
{
    set_reg(b, R_PC, label_address(b, at));
    if (off)
        soft_break(b, at);
    resume_board(b, off ? RESUME_CONTINUE : RESUME_STEP, NULL, NULL);
}

/* One of which the agent does not say that it is over. */
static void begin_long_step(struct board *b, bool off)
{
    begin_step(b, "turns", off);
    sh4_of(b->t)->regs.loaded = false;
    bad_wire.mute = true;
}

static void lose_board(struct board *b)
{
    struct target_stop stop;
    bool stands = run_state(b) == SH4_RUN_STOPPED || sh4_host_steps(sh4_of(b->t));
    int ret = 0;
    bad_wire.gone = true;
    for (int k = 0; k < 50 && ret == 0 && !stands;
         k++) /* a look at a program that is silent may be due later */
        ret = b->t->ops->poll(b->t, 10000000, &stop, &b->err);
    if (b->t->ops->state(b->t) != TARGET_GONE)
        b->t->ops->reset(b->t, RESET_RUN, &b->err);
}

/* It resets itself as soon as it runs; vectors of ours are in, so that it is looked for. */
static void run_into_reset(struct board *b)
{
    MUST(b, b->t->ops->semihosting(b->t, true, &b->err));
    set_reg(b, R_PC, label_address(b, "odd"));
    set_reg(b, R_SR, SR_BL);
    resume_board(b, RESUME_CONTINUE, NULL, NULL);
}

static void host_steps_from(struct board *b, const char *at)
{
    soft_break(b, "e");
    set_reg(b, R_PC, label_address(b, at));
    set_reg(b, R_SR, SR_BL);
    resume_board(b, RESUME_CONTINUE, NULL, NULL);
}

static void ask_deaf(struct board *b)
{
    bad_wire.deaf = true;
    MUST(b, b->t->ops->halt(b->t, &b->err));
}

static void reach_reset_halting(struct board *b)
{
    run_into_reset(b);
    bad_wire.deaf = true;
    for (int k = 0; k < 100 && run_state(b) != SH4_RUN_RESET_HALTING; k++)
        MUST(b, poll_once(b, 1000000));
}

static void reach_state(struct board *b, enum sh4_run_state state)
{
    switch (state) {
    case SH4_RUN_DETACHED: MUST(b, b->t->ops->detach(b->t, &b->err)); break;
    case SH4_RUN_GONE: lose_board(b); break;
    case SH4_RUN_STOPPED:
        set_reg(b, R_SR, SR_BL);
        resume_board(b, RESUME_STEP, NULL, NULL);
        break;
    case SH4_RUN_RUNS: resume_board(b, RESUME_CONTINUE, NULL, NULL); break;
    case SH4_RUN_HALTING:
        resume_board(b, RESUME_CONTINUE, NULL, NULL);
        ask_deaf(b);
        break;
    case SH4_RUN_STEP: begin_long_step(b, false); break;
    case SH4_RUN_STEP_HALTING:
        begin_long_step(b, false);
        ask_deaf(b);
        break;
    case SH4_RUN_STEP_OFF: begin_long_step(b, true); break;
    case SH4_RUN_STEP_OFF_HALTING:
        begin_long_step(b, true);
        ask_deaf(b);
        break;
    case SH4_RUN_HOST_STEPS: host_steps_from(b, "turns"); break;
    case SH4_RUN_HOST_STEPS_HALTING:
        host_steps_from(b, "turns");
        MUST(b, b->t->ops->halt(b->t, &b->err));
        break;
    case SH4_RUN_RESET:
        reach_reset_halting(b);
        poll_until_late(b);
        break;
    case SH4_RUN_RESET_HALTING: reach_reset_halting(b); break;
    default: break;
    }
    if (run_state(b) != state)
        fail_msg("%s instead of %s", sh4_run_table.states[run_state(b)],
                 sh4_run_table.states[state]);
}

/* ---- the events of states that last from call to call ---- */

static void cause_reset(struct board *b, enum sh4_run_state state)
{
    bool step = state == SH4_RUN_STEP || state == SH4_RUN_STEP_HALTING;
    bool off = state == SH4_RUN_STEP_OFF || state == SH4_RUN_STEP_OFF_HALTING;
    if (step || off) {
        make_double_hit(b);
        begin_step(b, "hit", off);
    } else
        run_into_reset(b);
    if (sh4_run_halting(state))
        ask_deaf(b);
    assert_int_equal(run_state(b), state);
    for (int k = 0; k < 100 && !sh4_reset_unreported(sh4_of(b->t)); k++)
        MUST(b, poll_once(b, 1000000));
}

static void cause_found_running(struct board *b, enum sh4_run_state state)
{
    struct err err;
    if (state == SH4_RUN_DETACHED)
        b->t->ops->attach(b->t, &err);
    else
        b->t->ops->reset(b->t, RESET_RUN, &err);
}

static void cause_lost(struct board *b, enum sh4_run_state state)
{
    struct err err;
    if (state ==
        SH4_RUN_GONE) { /* found by the halt, and told again by the detach that wanted it */
        soft_break(b, "e");
        resume_board(b, RESUME_CONTINUE, NULL, NULL);
        bad_wire.gone = true;
        b->t->ops->detach(b->t, &err);
        return;
    }
    reach_state(b, state);
    if (state != SH4_RUN_DETACHED) {
        lose_board(b);
        return;
    }
    bad_wire.gone = true;
    b->t->ops->attach(b->t, &err);
}

static void cause_event(struct board *b, enum sh4_run_state state, enum sh4_run_event event)
{
    struct err err;
    if (event == SH4_ON_RESET_SEEN && state != SH4_RUN_HALTED) {
        cause_reset(b, state);
        return;
    }
    if (event == SH4_ON_LOST) {
        cause_lost(b, state);
        return;
    }
    reach_state(b, state);
    bad_wire.mute = bad_wire.mute && event == SH4_ON_HALT_LATE;
    switch (event) {
    case SH4_ON_LEFT: b->t->ops->attach(b->t, &err); break;
    case SH4_ON_FOUND_RUNNING: cause_found_running(b, state); break;
    case SH4_ON_STANDS:
        if (state == SH4_RUN_DETACHED) /* a session before stood, and was lost */
            reach_state(b, SH4_RUN_RUNS);
        if (!sh4_stepping(sh4_of(b->t)))
            break_by_hand(b);
        poll_once(b, 0);
        break;
    case SH4_ON_STOP: poll_once(b, 0); break;
    case SH4_ON_STOP_FOUND: reach_state(b, SH4_RUN_STOPPED); break;
    case SH4_ON_STOP_REPORTED: assert_int_equal(poll_once(b, 0), 1); break;
    case SH4_ON_GO: reach_state(b, SH4_RUN_RUNS); break;
    case SH4_ON_STEP_BEGINS: reach_state(b, SH4_RUN_STEP); break;
    case SH4_ON_STEP_OFF_BEGINS: reach_state(b, SH4_RUN_STEP_OFF); break;
    case SH4_ON_HOST_STEPS_BEGIN: reach_state(b, SH4_RUN_HOST_STEPS); break;
    case SH4_ON_HELD: get32at(b, DATA); break;
    case SH4_ON_HALT_ASKED: b->t->ops->halt(b->t, &err); break;
    case SH4_ON_HALT_LATE: poll_until_late(b); break;
    case SH4_ON_RESET_SEEN: /* of a step on the host's side */
        set_reg(b, R_PC, label_address(b, "odd") + 2);
        set_reg(b, R_SR, SR_BL);
        set_reg(b, 1, 1);
        resume_board(b, RESUME_STEP, NULL, NULL);
        break;
    default: fail_msg("event %d", event);
    }
}

/* ---- the events of states within a call ---- */

static void stands_when_attached(struct board *b)
{
    lose_board(b);
    bad_wire.gone = false;
    MUST(b, b->t->ops->attach(b->t, &b->err));
    assert_int_equal(run_state(b), SH4_RUN_HALTED);
}

/* Each transfer of a call fails in turn; `what` makes it, from a fresh board. */
static void fail_each(void (*what)(struct board *), enum err_code with)
{
    for (unsigned k = 1; k < 400; k++) {
        struct board *b = start_board();
        bad_wire.after = k;
        bad_wire.with = with;
        what(b);
        bool over = bad_wire.after != 0;
        board_close(b);
        if (over)
            return;
    }
    fail_msg("the call has more transfers than are tried");
}

/* Its end puts the breakpoint back. */
static void end_step_off(struct board *b)
{
    unsigned after = bad_wire.after;
    bad_wire.after = 0;
    begin_step(b, "turns", true);
    bad_wire.after = after;
    poll_once(b, 100000);
}

static void steps_by_host(struct board *b)
{
    unsigned after = bad_wire.after;
    bad_wire.after = 0;
    host_steps_from(b, "turns");
    bad_wire.after = after;
    poll_once(b, 100000);
}

static void attach_to_halted(struct board *b)
{
    struct err err;
    unsigned after = bad_wire.after;
    bad_wire.after = 0;
    lose_board(b);
    bad_wire.gone = false;
    bad_wire.after = after;
    b->t->ops->attach(b->t, &err);
}

static void handler_of_trapa(struct board *b, const char *breakpoint)
{
    MUST(b, b->t->ops->semihosting(b->t, true, &b->err));
    if (breakpoint)
        soft_break(b, breakpoint);
    set_reg(b, R_R0B1 + 1, DATA);
    set_reg(b, R_PC, label_address(b, "trap"));
    resume_board(b, RESUME_CONTINUE, NULL, NULL);
    poll_once(b, 100000);
}

/* A word that nobody meant has the agent leave a range step: it is begun again. */
static void stray_word(struct board *b)
{
    uint32_t halt = SH4_AGENT_HALT;
    resume_board(b, RESUME_RANGE, "turns", "hit");
    for (int k = 0; k < 10; k++) {
        MUST(b, sh4_link_words(&sh4_of(b->t)->link, &halt, NULL, 1, &b->err));
        MUST(b, bad_wire.own->wait(b->probe, 20000, &b->err));
    }
    poll_once(b, 100000);
}

static void wait_on_the_line(struct board *b)
{
    enum { LOOKS = 600 }; /* its board runs by this machine's clock */
    int ret = 0;
    for (int k = 0; k < LOOKS && ret == 0; k++)
        ret = poll_once(b, 100000000);
    assert_int_equal(ret, 1);
}

/* Over a serial line: a byte that nobody sent interrupts a step off a breakpoint, which is begun
 * again. */
static void stray_byte_in_a_step_off(void)
{
    struct serial_rig *r = serial_rig_start(&(struct serial_rig_options){ .big = false });
    struct board *b = calloc(1, sizeof *b);
    struct probe_config cfg = { .log = &log };
    char name[100];
    snprintf(name, sizeof name, "serial:%s,baud=1500000,timeout=60000", serial_rig_port(r));
    MUST(b, probe_open(name, &cfg, &b->probe, &b->err));
    MUST(b, sh4_open(b->probe, &(struct sh4_options){ .allow_private = true }, &b->t, &b->err));
    MUST(b, b->t->ops->attach(b->t, &b->err));
    MUST(b, b->t->ops->halt(b->t, &b->err));
    wait_on_the_line(b);
    load_text(b, "turns: add #1,r0\n bra turns\n nop\n");
    serial_rig_stray_behind_go(r, 0);
    begin_step(b, "turns", true);
    wait_on_the_line(b);
    board_close(b);
    serial_rig_stop(r);
}

/* A range that goes into a handler, whose first instruction resets the CPU. */
static void range_into_reset(struct board *b)
{
    set_reg(b, R_R0B1 + 1, 1);
    set_reg(b, R_PC, label_address(b, "trap"));
    MUST(b, b->t->ops->semihosting(b->t, true, &b->err));
    struct resume how = { .kind = RESUME_RANGE, .range_lo = CODE, .range_hi = CODE + 0x1000 };
    MUST(b, b->t->ops->resume(b->t, &how, &b->err));
    assert_int_equal(wait_stop(b).reason, STOP_RESET);
}

static void within_calls(void)
{
    static const struct {
        const char *name;
        void (*run)(struct board *);
    } rows[] = { { "attached to one that stands", stands_when_attached },
                 { "a word that nobody meant", stray_word },
                 { "a range into a reset", range_into_reset } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct board *b = start_board();
        rows[i].run(b);
        board_close(b);
    }
    stray_byte_in_a_step_off();
    struct board *b = start_board();
    handler_of_trapa(b, NULL);
    board_close(b);
    b = start_board();
    handler_of_trapa(b, "e");
    board_close(b);
    b = start_board(); /* between two steps: memory, SR.BL is cleared, a breakpoint, a reset */
    host_steps_from(b, "turns");
    get32at(b, DATA);
    board_close(b);
    b = start_board();
    set_reg(b, 5, SR_PLAIN);
    host_steps_from(b, "free");
    MUST(b, poll_once(b, 100000));
    assert_int_equal(run_state(b), SH4_RUN_RUNS);
    board_close(b);
    b = start_board();
    host_steps_from(b, "odd");
    assert_int_equal(wait_stop(b).reason, STOP_RESET);
    board_close(b);
    b = start_board();
    host_steps_from(b, "n");
    assert_int_equal(wait_stop(b).reason, STOP_SWBREAK);
    board_close(b);
    fail_each(end_step_off, ERR_PROTOCOL);
    fail_each(end_step_off, ERR_USB);
    fail_each(steps_by_host, ERR_PROTOCOL);
    fail_each(steps_by_host, ERR_USB);
    fail_each(attach_to_halted, ERR_PROTOCOL);
}

static bool within_a_call(enum sh4_run_state s)
{
    return s == SH4_RUN_SETTLING || s == SH4_RUN_HOST_STEP;
}

static void states__each_change_of_the_table__is_made_by_the_driver(void **state)
{
    unsigned changes = 0, missing = 0;
    (void)state;
    memset(met, 0, sizeof met);
    within_calls();
    for (enum sh4_run_state s = SH4_RUN_REFUSED + 1; s < SH4_NRUN_STATES; s++)
        for (enum sh4_run_event e = 0; e < SH4_NRUN_EVENTS; e++) {
            if (run_table_next(&sh4_run_table, s, e) == SH4_RUN_REFUSED)
                continue;
            bool attached_to = s == SH4_RUN_DETACHED && e == SH4_ON_STANDS;
            if (!within_a_call(s) && !attached_to) {
                struct board *b = start_board();
                met[s][e] = false;
                cause_event(b, s, e);
                board_close(b);
            }
            if (!met[s][e])
                print_message("  in %s, %s was not met\n", sh4_run_table.states[s],
                              sh4_run_table.events[e]);
            changes++;
            missing += !met[s][e];
        }
    print_message("  %u changes\n", changes);
    assert_true(changes > SH4_NRUN_STATES);
    assert_int_equal(missing, 0);
}

struct pair {
    struct board *b;
    enum sh4_run_state state;
    enum sh4_run_event event;
};

static bool takes_event(void *ctx)
{
    struct pair *p = ctx;
    met[p->state][p->event] = false;
    sh4_of(p->b->t)->run.state = p->state;
    sh4_run_event(sh4_of(p->b->t), p->event);
    return met[p->state][p->event];
}

static bool is_refused(struct board *b, enum sh4_run_state s, enum sh4_run_event e)
{
    return state_table_refuses(takes_event, &(struct pair){ b, s, e });
}

static void states__every_other_event__is_refused_by_an_assertion(void **state)
{
    struct board *b = start_board();
    unsigned refused = 0;
    (void)state;
    for (enum sh4_run_state s = SH4_RUN_REFUSED + 1; s < SH4_NRUN_STATES; s++)
        for (enum sh4_run_event e = 0; e < SH4_NRUN_EVENTS; e++) {
            bool wants = run_table_next(&sh4_run_table, s, e) == SH4_RUN_REFUSED;
            if (is_refused(b, s, e) != wants)
                fail_msg("%s in %s", sh4_run_table.events[e], sh4_run_table.states[s]);
            refused += wants;
        }
    print_message("  %u refused\n", refused);
    board_close(b);
}

/* ---- the table in words ---- */

static void print_table(FILE *out) { run_table_print(&sh4_run_table, out); }

static void page__in_docs__shows_the_table_as_it_is(void **state)
{
    (void)state;
    state_table_page("docs/sh4-run-states.md", "<!-- the table: test_sh4_run_states --print -->\n",
                     "<!-- end of the table -->\n", print_table);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states__each_change_of_the_table__is_made_by_the_driver),
        cmocka_unit_test(states__every_other_event__is_refused_by_an_assertion),
        cmocka_unit_test(page__in_docs__shows_the_table_as_it_is),
    };
    if (argc > 1 && !strcmp(argv[1], "--print")) {
        print_table(stdout);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
