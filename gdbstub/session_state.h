/* The state of a GDB session: what this GDB waits for, and what the stub owes it. The second,
 * smaller state is shared by all sessions: for what the running target is to be halted.
 *
 * Both are tables without side effects: which state follows which, or that an event cannot happen
 * there. docs/gdb-session-states.md shows them. */
#ifndef GDBSTUB_SESSION_STATE_H
#define GDBSTUB_SESSION_STATE_H

#include <stdbool.h>

struct session;
struct stub;

/* clang-format off */
/* name, what it means */
#define SESSION_STATES(S)                                                                         \
    S(READY,               "no reply is owed")                                                    \
    S(BREAK_QUEUED,        "the same; a Ctrl-C came while the target stood, and ends the next resume at once") \
    S(QUERY,               "a stop is the only reply to `?`, `vAttach` or `vRun`: no console text before it") \
    S(RESUMED,             "a stop is the reply to `c`, `s` or `vCont`; console text may come before it") \
    S(INTERRUPTED,         "the same, and a Ctrl-C came")                                         \
    S(FILE_IO,             "the program's request for a file was sent; GDB answers with `F`")     \
    S(FILE_IO_INTERRUPTED, "the same, and a Ctrl-C came")                                         \
    S(STOPPING,            "non-stop: `vCont;t` asked for a stop, which has no signal")           \
    S(NOTIFIED,            "non-stop: a stop was notified; `vStopped` is to come")                \
    S(NO_PROGRAM,          "extended mode: the program ended, was killed or detached, or cannot be reached") \
    S(NO_PROGRAM_NOTIFIED, "non-stop: its end was notified; `vStopped` is to come")               \
    S(CLOSING,             "after `D` or `k`: the connection is to be closed")
/* name, what happens */
#define SESSION_EVENTS(E)                                                                         \
    E(QUERIED,       "`?`, `vAttach` or `vRun`, and the target runs")                             \
    E(RESUME,        "`c`, `s`, `vCont` in all-stop mode, and the target runs or is told to")     \
    E(BREAK,         "Ctrl-C or `vCtrlC`, and the target runs")                                   \
    E(BREAK_EARLY,   "Ctrl-C, and the target stands")                                             \
    E(STOP_ASKED,    "`vCont;t` in non-stop mode, and the target runs")                           \
    E(HALT_FAILED,   "the target does not halt, and GDB's console says so")                       \
    E(FILE_ASKED,    "the program asks for a file")                                               \
    E(FILE_ANSWERED, "`F`")                                                                       \
    E(FILE_LOST,     "the target is gone; `F` will come too late")                                \
    E(REPLIED,       "a stop was the reply: one that was asked for, or the state as it is")       \
    E(OWN_REPLIED,   "a stop of the program's own was the reply: a breakpoint, the end of a step") \
    E(EXIT_REPLIED,  "the program's end was the reply")                                           \
    E(NOTIFY,        "non-stop: a stop is notified")                                              \
    E(NOTIFY_EXIT,   "non-stop: the program's end is notified")                                   \
    E(NOTICED,       "`vStopped`")                                                                \
    E(MODE_SET,      "`QNonStop`")                                                                \
    E(PROGRAM,       "`vAttach`, `vRun` or `R` has a program again")                              \
    E(PROGRAM_GONE,  "`vKill`, `k` or `D` in extended mode, or the part turns out to be secured") \
    E(CLOSE,         "`D`, or `k`")
/* name, what it means */
#define HALT_PURPOSES(S)                                                                          \
    S(NONE,     "it is not to be halted")                                                         \
    S(SNAPSHOT, "an observer wants its registers; it runs on after that")                         \
    S(USER,     "a user wants it halted")                                                         \
    S(START,    "a program is begun: PC is to be set to its entry")
/* name, what happens */
#define HALT_EVENTS(E)                                                                            \
    E(SNAPSHOT_ASKED, "an observer interrupts, or asks for the state")                            \
    E(ASKED,          "the controller interrupts, or the stub itself")                            \
    E(START_ASKED,    "`vRun` or `R` has reset the board")                                        \
    E(OVER,           "it stands and the sessions know, or it does not halt")                     \
    E(LOST,           "the target is gone")
/* clang-format on */

#define SESSION_STATE(name, text) SESSION_##name,
#define SESSION_EVENT(name, text) SESSION_ON_##name,
enum session_state { SESSION_REFUSED, SESSION_STATES(SESSION_STATE) SESSION_NSTATES };
enum session_event { SESSION_EVENTS(SESSION_EVENT) SESSION_NEVENTS };
#undef SESSION_STATE
#undef SESSION_EVENT

#define HALT_PURPOSE(name, text) HALT_##name,
#define HALT_EVENT(name, text)   HALT_ON_##name,
enum halt_purpose { HALT_REFUSED, HALT_PURPOSES(HALT_PURPOSE) HALT_NPURPOSES };
enum halt_event { HALT_EVENTS(HALT_EVENT) HALT_NEVENTS };
#undef HALT_PURPOSE
#undef HALT_EVENT

/* session_state_next, halt_purpose_next - what follows; REFUSED (0): the event cannot happen there.
 */
enum session_state session_state_next(enum session_state state, enum session_event event);
enum halt_purpose halt_purpose_next(enum halt_purpose purpose, enum halt_event event);

/* Names as in the lists above, for logs and the tables in docs/. */
const char *session_state_name(enum session_state state);
const char *session_event_name(enum session_event event);
const char *halt_purpose_name(enum halt_purpose purpose);
const char *halt_event_name(enum halt_event event);

/* session_event, halt_event - the only ways by which the two states change: each is logged (`rsp`).
 * An event that cannot happen in the state is a mistake of ours, and changes nothing. */
void session_event(struct session *s, enum session_event event);
void halt_event(struct stub *stub, enum halt_event event);

/* ---- what the states mean for others ---- */

/* session_waits - GDB takes the next stop, or request for a file, as the reply to a packet. */
bool session_waits(const struct session *s);

/* session_hears - GDB shows console text now: it waits, and understands other packets before the
 * stop. */
bool session_hears(const struct session *s);

/* session_has_break - a Ctrl-C is queued: the next resume ends at once. */
bool session_has_break(const struct session *s);

/* session_has_program - there is a program to debug. */
bool session_has_program(const struct session *s);

#endif
