/* The state of a session, and for what a target is to be halted: every change of both tables is
 * made by packets and news, everything else is refused, and docs/gdb-session-states.md shows the
 * tables as they are. With --print the block for that page is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/gdbstub/session_rig.h"
#include "tests/state_table.h"

#define TEXT(name, text) text,
static const char *const state_texts[] = { "", SESSION_STATES(TEXT) };
static const char *const event_texts[] = { SESSION_EVENTS(TEXT) };
static const char *const purpose_texts[] = { "", HALT_PURPOSES(TEXT) };
static const char *const halt_texts[] = { HALT_EVENTS(TEXT) };

static int next_state(int s, int e) { return (int)session_state_next((enum session_state)s, e); }
static const char *name_of_state(int s) { return session_state_name((enum session_state)s); }
static const char *name_of_event(int e) { return session_event_name((enum session_event)e); }
static int next_purpose(int s, int e) { return (int)halt_purpose_next((enum halt_purpose)s, e); }
static const char *name_of_purpose(int s) { return halt_purpose_name((enum halt_purpose)s); }
static const char *name_of_halt(int e) { return halt_event_name((enum halt_event)e); }

static const struct state_table sessions = {
    .first = SESSION_REFUSED + 1,
    .nstates = SESSION_NSTATES,
    .nevents = SESSION_NEVENTS,
    .next = next_state,
    .state_name = name_of_state,
    .event_name = name_of_event,
    .state_texts = state_texts,
    .event_texts = event_texts,
};
static const struct state_table halts = {
    .first = HALT_REFUSED + 1,
    .nstates = HALT_NPURPOSES,
    .nevents = HALT_NEVENTS,
    .next = next_purpose,
    .state_name = name_of_purpose,
    .event_name = name_of_halt,
    .state_texts = purpose_texts,
    .event_texts = halt_texts,
};

/* ---- a session whose log is read ---- */

static bool met[SESSION_NSTATES][SESSION_NEVENTS], met_halt[HALT_NPURPOSES][HALT_NEVENTS];

static void note_change(void *ctx, enum log_subject subject, const char *line)
{
    const struct fixture *fx = ctx;
    char own[32];
    (void)subject;
    snprintf(own, sizeof own, "session %u: ", fx->s ? fx->s->number : 1);
    state_table_met(&sessions, own, line, &met[0][0]);
    state_table_met(&halts, "halt: ", line, &met_halt[0][0]);
}

static struct fixture *start_session(void)
{
    struct fixture *fx;
    assert_int_equal(rig_setup((void **)&fx), 0);
    fx->log = (struct log){ .enabled = 1u << LOG_RSP, .write = note_change, .ctx = fx };
    no_acks(fx);
    fx->ram.words_per_poll = 1;
    return fx;
}

static void feed_packet(struct fixture *fx, const char *payload)
{
    send_packet(fx->s, payload, strlen(payload));
}

static void ctrl_c(struct fixture *fx) { feed_bytes(fx->s, "\003", 1); }

/* The target as it may be when a packet comes, whatever the session believes: reset by somebody, or
 * stopped a moment ago. */
static void target_is(struct fixture *fx, enum target_state state) { fx->ram.state = state; }

static void report_stop(struct fixture *fx, enum stop_reason reason)
{
    const struct target_stop stop = { .reason = reason, .pc = 0x1000, .signal = 5 };
    target_is(fx, TARGET_HALTED);
    stub_stopped(fx->stub, &stop);
}

/* ---- the ways into each state ---- */

static void ask_for_a_file(struct fixture *fx)
{
    struct target_stop stop = { .reason = STOP_SYSCALL, .syscall = { 3, { 3, 0x3000, 16, 0 } } };
    fx->stub->fileio = true;
    target_is(fx, TARGET_HALTED);
    stub_stopped(fx->stub, &stop);
}

static void reach_non_stop(struct fixture *fx)
{
    feed_packet(fx, "QNonStop:1");
    feed_packet(fx, "vCont;c");
}

static void reach_state(struct fixture *fx, enum session_state state)
{
    switch (state) {
    case SESSION_BREAK_QUEUED: ctrl_c(fx); break;
    case SESSION_QUERY:
        target_is(fx, TARGET_RUNNING);
        feed_packet(fx, "?");
        break;
    case SESSION_RESUMED: feed_packet(fx, "c"); break;
    case SESSION_INTERRUPTED:
        feed_packet(fx, "c");
        ctrl_c(fx);
        break;
    case SESSION_FILE_IO:
        feed_packet(fx, "c");
        ask_for_a_file(fx);
        break;
    case SESSION_FILE_IO_INTERRUPTED:
        feed_packet(fx, "c");
        ask_for_a_file(fx);
        ctrl_c(fx);
        break;
    case SESSION_STOPPING:
        reach_non_stop(fx);
        feed_packet(fx, "vCont;t");
        break;
    case SESSION_NOTIFIED:
        reach_non_stop(fx);
        report_stop(fx, STOP_STEP);
        break;
    case SESSION_NO_PROGRAM:
        feed_packet(fx, "!");
        feed_packet(fx, "vKill;1");
        break;
    case SESSION_NO_PROGRAM_NOTIFIED:
        feed_packet(fx, "!");
        reach_non_stop(fx);
        report_stop(fx, STOP_EXIT);
        break;
    case SESSION_CLOSING: feed_packet(fx, "D"); break;
    default: break;
    }
    if (fx->s->state != state)
        fail_msg("%s instead of %s", session_state_name(fx->s->state), session_state_name(state));
}

/* ---- the events, as GDB and the target cause them ---- */

/* In non-stop mode only `vRun` is answered by the stop. */
static void ask_with_a_stop(struct fixture *fx)
{
    target_is(fx, TARGET_RUNNING);
    feed_packet(fx, fx->s->non_stop ? "vRun;" : "?");
}

static void ask_of_a_halted_one(struct fixture *fx)
{
    if (session_waits(fx->s)) {
        report_stop(fx, STOP_REQUEST);
    } else {
        target_is(fx, TARGET_HALTED);
        feed_packet(fx, "?");
    }
}

static void let_the_halt_fail(struct fixture *fx)
{
    struct err err;
    session_tick(fx->s, 1, &err);
    session_tick(fx->s, 1 + (uint64_t)HALT_PATIENCE_MS * 1000001u, &err);
}

static void end_the_program(struct fixture *fx)
{
    feed_packet(fx, "!");
    feed_packet(fx, "vKill;1");
}

static void cause_event(struct fixture *fx, enum session_event event)
{
    switch (event) {
    case SESSION_ON_QUERIED: ask_with_a_stop(fx); break;
    case SESSION_ON_RESUME: feed_packet(fx, "c"); break;
    case SESSION_ON_BREAK:
        target_is(fx, TARGET_RUNNING);
        feed_packet(fx, "vCtrlC");
        break;
    case SESSION_ON_BREAK_EARLY:
        target_is(fx, TARGET_HALTED);
        ctrl_c(fx);
        break;
    case SESSION_ON_STOP_ASKED:
        if (!fx->s->non_stop)
            reach_non_stop(fx);
        target_is(fx, TARGET_RUNNING);
        feed_packet(fx, "vCont;t");
        break;
    case SESSION_ON_HALT_FAILED: let_the_halt_fail(fx); break;
    case SESSION_ON_FILE_ASKED: ask_for_a_file(fx); break;
    case SESSION_ON_FILE_ANSWERED: feed_packet(fx, "F10"); break;
    case SESSION_ON_FILE_LOST: lose_target(fx); break;
    case SESSION_ON_REPLIED: ask_of_a_halted_one(fx); break;
    case SESSION_ON_OWN_REPLIED: report_stop(fx, STOP_SWBREAK); break;
    case SESSION_ON_EXIT_REPLIED: report_stop(fx, STOP_EXIT); break;
    case SESSION_ON_NOTIFY:
        if (!fx->s->non_stop)
            reach_non_stop(fx);
        report_stop(fx, STOP_STEP);
        break;
    case SESSION_ON_NOTIFY_EXIT:
        if (!fx->s->non_stop)
            reach_non_stop(fx);
        report_stop(fx, STOP_EXIT);
        break;
    case SESSION_ON_NOTICED: feed_packet(fx, "vStopped"); break;
    case SESSION_ON_MODE_SET: feed_packet(fx, "QNonStop:0"); break;
    case SESSION_ON_PROGRAM: feed_packet(fx, "vAttach;1"); break;
    case SESSION_ON_PROGRAM_GONE: end_the_program(fx); break;
    case SESSION_ON_CLOSE:
        fx->s->extended = false;
        feed_packet(fx, "D");
        break;
    default: fail_msg("event %d", event);
    }
}

static void session__each_change_of_the_table__is_made_by_packets_and_news(void **state)
{
    unsigned changes = 0, missing = 0;
    (void)state;
    for (enum session_state s = SESSION_REFUSED + 1; s < SESSION_NSTATES; s++)
        for (enum session_event e = 0; e < SESSION_NEVENTS; e++) {
            if (session_state_next(s, e) == SESSION_REFUSED)
                continue;
            struct fixture *fx = start_session();
            reach_state(fx, s);
            met[s][e] = false;
            cause_event(fx, e);
            if (!met[s][e])
                print_message("  in %s, %s was not met\n", session_state_name(s),
                              session_event_name(e));
            changes++;
            missing += !met[s][e];
            rig_teardown((void **)&fx);
        }
    print_message("  %u changes\n", changes);
    assert_true(changes > SESSION_NSTATES);
    assert_int_equal(missing, 0);
}

/* ---- for what the target is halted ---- */

static void reach_purpose(struct fixture *fx, struct session *o, enum halt_purpose purpose)
{
    target_is(fx, TARGET_RUNNING);
    if (purpose == HALT_SNAPSHOT)
        feed_bytes(o, "\003", 1);
    else if (purpose == HALT_USER)
        ctrl_c(fx);
    else if (purpose == HALT_START)
        feed_packet(fx, "vRun;");
    if (fx->stub->purpose != purpose)
        fail_msg("%s instead of %s", halt_purpose_name(fx->stub->purpose),
                 halt_purpose_name(purpose));
}

static void cause_halt(struct fixture *fx, struct session *o, enum halt_event event)
{
    target_is(fx, TARGET_RUNNING);
    switch (event) {
    case HALT_ON_SNAPSHOT_ASKED: feed_bytes(o, "\003", 1); break;
    case HALT_ON_ASKED: ctrl_c(fx); break;
    case HALT_ON_START_ASKED: feed_packet(fx, "vRun;"); break;
    case HALT_ON_OVER: report_stop(fx, STOP_REQUEST); break;
    default: lose_target(fx);
    }
}

static void halt__each_change_of_the_table__is_made_by_packets_and_news(void **state)
{
    (void)state;
    for (enum halt_purpose p = HALT_REFUSED + 1; p < HALT_NPURPOSES; p++)
        for (enum halt_event e = 0; e < HALT_NEVENTS; e++) {
            struct fixture *fx = start_session();
            struct session *o = open_second(fx);
            reach_purpose(fx, o, p);
            met_halt[p][e] = false;
            cause_halt(fx, o, e);
            if (!met_halt[p][e])
                fail_msg("in %s, %s was not met", halt_purpose_name(p), halt_event_name(e));
            rig_teardown((void **)&fx);
        }
}

/* ---- what is not in the table ---- */

struct pair {
    struct fixture *fx;
    enum session_state state;
    enum session_event event;
};

static bool takes_event(void *ctx)
{
    struct pair *p = ctx;
    p->fx->s->state = p->state;
    met[p->state][p->event] = false;
    session_event(p->fx->s, p->event);
    return met[p->state][p->event];
}

static void session__every_other_event__is_refused_by_an_assertion(void **state)
{
    struct fixture *fx = start_session();
    (void)state;
    for (enum session_state s = SESSION_REFUSED + 1; s < SESSION_NSTATES; s++)
        for (enum session_event e = 0; e < SESSION_NEVENTS; e++) {
            struct pair pair = { fx, s, e };
            if (state_table_refuses(takes_event, &pair) !=
                (session_state_next(s, e) == SESSION_REFUSED))
                fail_msg("%s in %s", session_event_name(e), session_state_name(s));
        }
    rig_teardown((void **)&fx);
}

/* ---- the page ---- */

static void print_tables(FILE *out)
{
    state_table_print(&sessions, out);
    fprintf(out, "\nFor what the target is to be halted:\n\n");
    state_table_print(&halts, out);
}

static void page__in_docs__shows_the_tables_as_they_are(void **state)
{
    (void)state;
    state_table_page("docs/gdb-session-states.md",
                     "<!-- the tables: test_session_states --print -->\n",
                     "<!-- end of the tables -->\n", print_tables);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session__each_change_of_the_table__is_made_by_packets_and_news),
        cmocka_unit_test(halt__each_change_of_the_table__is_made_by_packets_and_news),
        cmocka_unit_test(session__every_other_event__is_refused_by_an_assertion),
        cmocka_unit_test(page__in_docs__shows_the_tables_as_they_are),
    };
    if (argc > 1 && !strcmp(argv[1], "--print")) {
        print_tables(stdout);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
