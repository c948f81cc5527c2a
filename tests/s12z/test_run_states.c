/* The states of run control: every change that the table allows is made by the driver on a
 * simulated board, everything else is refused, and docs/s12z-run-states.md shows the table as it
 * is. With
 * --print the block for that page is printed. */

#include "targets/s12z/driver/driver.h"
#include "tests/s12z/target_rig.h"
#include "tests/run_table_docs.h"
#include "tests/state_table.h"

/* 1100 inc d2 | 1101 st d2,2000 | 1104 bra 1100 */
static const uint8_t program[] = { 0x30, 0xC0, 0x20, 0x00, 0x20, 0x7C };

/* ---- an adapter whose part answers when the test wants it to ---- */

static struct {
    const struct bdc_ops *own;
    struct bdc_ops ops;
    bool gone;           /* transfers fail */
    bool late;           /* BDCCSR does not show BDMACT yet, as of a CPU that sleeps */
    bool reset_enabling; /* RESET is pulsed once BDCCSR was written, before it is read */
    bool enabling;       /* BDCCSR was written last */
    bool cannot_sync_pc; /* as adapters that do whole actions only */
} pod;

static void press_reset(struct probe *p)
{
    struct err err;
    if (pod.own->set_pins(p, BDC_PIN_RESET, 0, &err) < 0 || pod.own->wait(p, 1000000, &err) < 0 ||
        pod.own->set_pins(p, BDC_PIN_RESET, BDC_PIN_RESET, &err) < 0)
        fail_msg("RESET: %s", err.what);
}

static bool is_csr(const struct bdc_op *op)
{
    return op->kind == BDC_COMMAND && op->opcode == BDC_READ_BDCCSR;
}

static int pod_execute(struct probe *p, struct bdc_op *ops, size_t n, bool stop_on_long,
                       struct err *err)
{
    if (pod.gone)
        return err_set(err, ERR_USB, "plug it in", "the adapter is gone");
    if (n && is_csr(&ops[0]) && pod.reset_enabling && pod.enabling) {
        pod.reset_enabling = false;
        press_reset(p);
    }
    pod.enabling = n && ops[0].kind == BDC_COMMAND && ops[0].opcode == BDC_WRITE_BDCCSR;
    int ret = pod.own->execute(p, ops, n, stop_on_long, err);
    for (int k = 0; k < ret; k++)
        if (is_csr(&ops[k]) && pod.late)
            ops[k].rx[0] &= (uint8_t) ~(REG_MASK(S12Z_BDCCSR_BDMACT) >> 8);
    return ret;
}

static int pod_sync(struct probe *p, uint32_t *hz, struct err *err)
{
    return pod.gone ? err_set(err, ERR_USB, "plug it in", "the adapter is gone")
                    : pod.own->sync(p, hz, err);
}

static bool pod_can(struct probe *p, enum bdc_op_kind kind, uint8_t opcode)
{
    bool refused = pod.cannot_sync_pc && kind == BDC_COMMAND && opcode == BDC_SYNC_PC;
    return !refused && pod.own->can(p, kind, opcode);
}

/* ---- what was seen, by the driver's log ---- */

static bool met[S12Z_NSTATES][S12Z_NEVENTS];

static void note_change(void *ctx, enum log_subject subject, const char *line)
{
    (void)ctx;
    (void)subject;
    run_table_met(&s12z_run_table, line, &met[0][0]);
}

static enum s12z_run_state run_state(struct board *b) { return s12z_of(b->t)->run.state; }

/* ---- the ways into each state; the board stands at CODE ---- */

static int poll_once(struct board *b, uint64_t ns)
{
    struct target_stop stop;
    return b->ops->poll(b->t, ns, &stop, &b->err);
}

static void poll_until_late(struct board *b)
{
    int ret = 0;
    for (int k = 0; k < 2000 && ret == 0; k++)
        ret = poll_once(b, 2000000);
    assert_int_equal(ret, -ERR_TIMEOUT);
}

static void resume_board(struct board *b, enum resume_kind kind)
{
    MUST(b, b->ops->resume(b->t,
                           &(struct resume){ .kind = kind, .range_lo = CODE, .range_hi = CODE + 6 },
                           &b->err));
}

static void find_reset(struct board *b)
{
    press_reset(b->probe);
    MUST(b, s12z_read_csr(s12z_of(b->t), &b->err));
}

static void lose_board(struct board *b)
{
    uint8_t v;
    pod.gone = true;
    if (b->ops->read_mem(b->t, DATA, 0, &v, 1, &b->err) >= 0)
        fail_msg("a board that is gone was read");
}

static void reach_looked_at(struct board *b)
{
    uint64_t pc;
    resume_board(b, RESUME_CONTINUE);
    pod.cannot_sync_pc = pod.late = true;
    assert_int_equal(b->ops->sample_pc(b->t, &pc, &b->err), 0);
}

static void reach_reset_halting(struct board *b)
{
    find_reset(b);
    pod.late = true;
    MUST(b, poll_once(b, 1000000));
}

static void reach_state(struct board *b, enum s12z_run_state state)
{
    pod.late = state >= S12Z_STEP && state <= S12Z_STEP_HALTING;
    switch (state) {
    case S12Z_DETACHED: MUST(b, b->ops->detach(b->t, &b->err)); break;
    case S12Z_GONE: lose_board(b); break;
    case S12Z_STOPPED: resume_board(b, RESUME_STEP); break;
    case S12Z_RUNS: resume_board(b, RESUME_CONTINUE); break;
    case S12Z_LOOKED_AT: reach_looked_at(b); break;
    case S12Z_HALTING:
        resume_board(b, RESUME_CONTINUE);
        pod.late = true;
        MUST(b, b->ops->halt(b->t, &b->err));
        break;
    case S12Z_STEP: resume_board(b, RESUME_STEP); break;
    case S12Z_STEP_OFF:
        MUST(b, b->ops->insert_bp(b->t, BP_SOFT, CODE, 1, &b->err));
        resume_board(b, RESUME_CONTINUE);
        break;
    case S12Z_STEP_HALTING:
        resume_board(b, RESUME_STEP);
        MUST(b, b->ops->halt(b->t, &b->err));
        break;
    case S12Z_RANGE: resume_board(b, RESUME_RANGE); break;
    case S12Z_RANGE_HALTING:
        resume_board(b, RESUME_RANGE);
        MUST(b, b->ops->halt(b->t, &b->err));
        break;
    case S12Z_RESET:
        resume_board(b, RESUME_CONTINUE);
        find_reset(b);
        break;
    case S12Z_RESET_OURS: find_reset(b); break;
    case S12Z_RESET_HALTING: reach_reset_halting(b); break;
    case S12Z_RESET_ASLEEP:
        reach_reset_halting(b);
        poll_until_late(b);
        break;
    default: break;
    }
    if (run_state(b) != state)
        fail_msg("%s instead of %s", s12z_run_table.states[run_state(b)],
                 s12z_run_table.states[state]);
}

/* ---- the events, as callers and boards cause them; what the calls return does not matter ---- */

static void attach_again(struct board *b)
{
    struct err err;
    b->ops->attach(b->t, &err);
}

static void cause_found(struct board *b, enum s12z_run_state state, bool halted)
{
    struct err err;
    if (state != S12Z_DETACHED)
        b->ops->reset(b->t, halted ? RESET_HALT : RESET_RUN, &err);
    else if (!halted)
        attach_again(b);
    else { /* a part that stood when it was lost */
        attach_again(b);
        MUST(b, s12z_halt_now(s12z_of(b->t), &b->err));
        lose_board(b);
        pod.gone = false;
        attach_again(b);
    }
}

static void cause_stand(struct board *b, enum s12z_run_state state)
{
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = BDC_BACKGROUND };
    struct err err;
    if (state == S12Z_RUNS)
        pod.own->execute(b->probe, &op, 1, false, &err);
    poll_once(b, 1000000);
}

/* While the driver enables a part, it is reset by its watchdog. */
static void cause_reset_found(struct board *b, enum s12z_run_state state)
{
    struct err err;
    pod.reset_enabling = state == S12Z_DETACHED || state == S12Z_GONE;
    if (state == S12Z_DETACHED)
        attach_again(b);
    else if (state == S12Z_GONE)
        b->ops->reset(b->t, RESET_RUN, &err);
    else
        find_reset(b);
}

static void cause_event(struct board *b, enum s12z_run_state state, enum s12z_run_event event)
{
    uint64_t pc;
    struct err err;
    pod.gone = event == S12Z_ON_LOST;
    pod.late = event == S12Z_ON_HALT_LATE || event == S12Z_ON_STEP_SLEEPS ||
               event == S12Z_ON_OFF_SLEEPS || event == S12Z_ON_LOOK_ASKED ||
               event == S12Z_ON_RESET_HALTS;
    switch (event) {
    case S12Z_ON_LEFT: attach_again(b); break;
    case S12Z_ON_LOST:
        if (state == S12Z_DETACHED)
            attach_again(b);
        else if (state == S12Z_GONE)
            b->ops->reset(b->t, RESET_RUN, &err);
        else
            lose_board(b);
        break;
    case S12Z_ON_FOUND_HALTED: cause_found(b, state, true); break;
    case S12Z_ON_FOUND_RUNNING: cause_found(b, state, false); break;
    case S12Z_ON_GO: reach_state(b, S12Z_RUNS); break;
    case S12Z_ON_STEP_SLEEPS: reach_state(b, S12Z_STEP); break;
    case S12Z_ON_OFF_SLEEPS: reach_state(b, S12Z_STEP_OFF); break;
    case S12Z_ON_RANGE_BEGINS: reach_state(b, S12Z_RANGE); break;
    case S12Z_ON_HALT_ASKED: b->ops->halt(b->t, &err); break;
    case S12Z_ON_HALT_LATE: poll_until_late(b); break;
    case S12Z_ON_STANDS: cause_stand(b, state); break;
    case S12Z_ON_STOP_FOUND: reach_state(b, S12Z_STOPPED); break;
    case S12Z_ON_STOP_REPORTED: assert_int_equal(poll_once(b, 0), 1); break;
    case S12Z_ON_RESET_FOUND: cause_reset_found(b, state); break;
    case S12Z_ON_RESET_PASSED: poll_once(b, 1000000); break;
    case S12Z_ON_RESET_HALTS:
        MUST(b, b->ops->insert_bp(b->t, BP_HARD, CODE, 1, &b->err));
        poll_once(b, 1000000);
        break;
    case S12Z_ON_LOOK_ASKED:
        pod.cannot_sync_pc = true;
        b->ops->sample_pc(b->t, &pc, &err);
        break;
    case S12Z_ON_LOOK_OVER: assert_int_equal(b->ops->sample_pc(b->t, &pc, &err), 1); break;
    default: fail_msg("event %d", event);
    }
}

static struct board *start_board(void)
{
    static const struct log log = { .enabled = 1u << LOG_TARGET, .write = note_change };
    struct board *b = board_start("s12zvml128", program, sizeof program);
    memset(&pod, 0, sizeof pod);
    pod.own = s12z_of(b->t)->bdc;
    pod.ops = *pod.own;
    pod.ops.execute = pod_execute;
    pod.ops.sync = pod_sync;
    pod.ops.can = pod_can;
    s12z_of(b->t)->bdc = &pod.ops;
    b->probe->log = &log;
    return b;
}

static void states__each_change_of_the_table__is_made_by_the_driver(void **state)
{
    unsigned changes = 0, missing = 0;
    (void)state;
    for (enum s12z_run_state s = S12Z_REFUSED + 1; s < S12Z_NSTATES; s++)
        for (enum s12z_run_event e = 0; e < S12Z_NEVENTS; e++) {
            if (run_table_next(&s12z_run_table, s, e) == S12Z_REFUSED)
                continue;
            struct board *b = start_board();
            reach_state(b, s);
            met[s][e] = false;
            cause_event(b, s, e);
            if (!met[s][e])
                print_message("  in %s, %s was not met\n", s12z_run_table.states[s],
                              s12z_run_table.events[e]);
            changes++;
            missing += !met[s][e];
            board_close(b);
        }
    print_message("  %u changes\n", changes);
    assert_true(changes > S12Z_NSTATES);
    assert_int_equal(missing, 0);
}

struct pair {
    struct board *b;
    enum s12z_run_state state;
    enum s12z_run_event event;
};

static bool takes_event(void *ctx)
{
    struct pair *p = ctx;
    met[p->state][p->event] = false;
    s12z_of(p->b->t)->run.state = p->state;
    s12z_run_event(s12z_of(p->b->t), p->event);
    return met[p->state][p->event];
}

static bool is_refused(struct board *b, enum s12z_run_state s, enum s12z_run_event e)
{
    return state_table_refuses(takes_event, &(struct pair){ b, s, e });
}

static void states__every_other_event__is_refused_by_an_assertion(void **state)
{
    struct board *b = start_board();
    (void)state;
    for (enum s12z_run_state s = S12Z_REFUSED + 1; s < S12Z_NSTATES; s++)
        for (enum s12z_run_event e = 0; e < S12Z_NEVENTS; e++)
            if (is_refused(b, s, e) != (run_table_next(&s12z_run_table, s, e) == S12Z_REFUSED))
                fail_msg("%s in %s", s12z_run_table.events[e], s12z_run_table.states[s]);
    board_close(b);
}

/* The halt takes the place of the look: BACKGROUND is sent again for the next one. */
static void look__asleep_and_then_halted__the_next_one_is_answered(void **state)
{
    struct board *b = start_board();
    uint64_t pc;
    (void)state;
    reach_state(b, S12Z_LOOKED_AT);
    MUST(b, b->ops->halt(b->t, &b->err));
    pod.late = false;
    assert_int_equal(wait_stop(b).reason, STOP_REQUEST);
    resume_board(b, RESUME_CONTINUE);
    assert_int_equal(b->ops->sample_pc(b->t, &pc, &b->err), 1);
    assert_in_range(pc, CODE, CODE + sizeof program);
    board_close(b);
}

/* ---- the table in words ---- */

static void print_table(FILE *out) { run_table_print(&s12z_run_table, out); }

static void page__in_docs__shows_the_table_as_it_is(void **state)
{
    (void)state;
    state_table_page("docs/s12z-run-states.md",
                     "<!-- the table: test_s12z_run_states --print -->\n",
                     "<!-- end of the table -->\n", print_table);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states__each_change_of_the_table__is_made_by_the_driver),
        cmocka_unit_test(states__every_other_event__is_refused_by_an_assertion),
        cmocka_unit_test(look__asleep_and_then_halted__the_next_one_is_answered),
        cmocka_unit_test(page__in_docs__shows_the_table_as_it_is),
    };
    if (argc > 1 && !strcmp(argv[1], "--print")) {
        print_table(stdout);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
