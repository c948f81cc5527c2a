#include "gdbstub/session_state.h"

#include <assert.h>

#include "gdbstub/state.h"

#define TO(event, state) [SESSION_ON_##event] = SESSION_##state
/* what may happen in every state of a connection that goes on */
#define PACKETS TO(PROGRAM_GONE, NO_PROGRAM), TO(CLOSE, CLOSING)
/* the target may run, and GDB ask again, although a reply is owed or a notification is out */
#define WAITS PACKETS, TO(QUERIED, QUERY), TO(REPLIED, READY), TO(EXIT_REPLIED, NO_PROGRAM)

/* What is not here is refused. */
static const uint8_t states[SESSION_NSTATES][SESSION_NEVENTS] = {
    [SESSION_READY] = { PACKETS, TO(QUERIED, QUERY), TO(RESUME, RESUMED), TO(BREAK, READY),
                        TO(BREAK_EARLY, BREAK_QUEUED), TO(STOP_ASKED, STOPPING), TO(REPLIED, READY),
                        TO(NOTIFY, NOTIFIED), TO(NOTIFY_EXIT, NO_PROGRAM_NOTIFIED),
                        TO(MODE_SET, READY) },
    [SESSION_BREAK_QUEUED] = { PACKETS, TO(QUERIED, QUERY), TO(RESUME, INTERRUPTED),
                               TO(BREAK, READY), TO(BREAK_EARLY, BREAK_QUEUED), TO(REPLIED, READY),
                               TO(MODE_SET, READY) },
    [SESSION_QUERY] = { WAITS, TO(RESUME, QUERY), TO(BREAK, QUERY), TO(BREAK_EARLY, QUERY),
                        TO(OWN_REPLIED, READY), TO(MODE_SET, QUERY) },
    [SESSION_RESUMED] = { WAITS, TO(RESUME, RESUMED), TO(BREAK, INTERRUPTED),
                          TO(BREAK_EARLY, INTERRUPTED), TO(FILE_ASKED, FILE_IO),
                          TO(OWN_REPLIED, READY), TO(MODE_SET, RESUMED) },
    [SESSION_INTERRUPTED] = { WAITS, TO(RESUME, INTERRUPTED), TO(BREAK, INTERRUPTED),
                              TO(BREAK_EARLY, INTERRUPTED), TO(HALT_FAILED, RESUMED),
                              TO(FILE_ASKED, FILE_IO_INTERRUPTED), TO(OWN_REPLIED, BREAK_QUEUED),
                              TO(MODE_SET, INTERRUPTED) },
    [SESSION_FILE_IO] = { WAITS, TO(RESUME, RESUMED), TO(BREAK, FILE_IO_INTERRUPTED),
                          TO(BREAK_EARLY, FILE_IO_INTERRUPTED), TO(FILE_ANSWERED, RESUMED),
                          TO(FILE_LOST, RESUMED), TO(OWN_REPLIED, READY), TO(MODE_SET, FILE_IO) },
    [SESSION_FILE_IO_INTERRUPTED] = { WAITS, TO(RESUME, INTERRUPTED),
                                      TO(BREAK, FILE_IO_INTERRUPTED),
                                      TO(BREAK_EARLY, FILE_IO_INTERRUPTED),
                                      TO(FILE_ANSWERED, INTERRUPTED), TO(FILE_LOST, INTERRUPTED),
                                      TO(OWN_REPLIED, BREAK_QUEUED),
                                      TO(MODE_SET, FILE_IO_INTERRUPTED) },
    [SESSION_STOPPING] = { PACKETS, TO(QUERIED, QUERY), TO(BREAK, STOPPING),
                           TO(STOP_ASKED, STOPPING), TO(REPLIED, READY), TO(NOTIFY, NOTIFIED),
                           TO(NOTIFY_EXIT, NO_PROGRAM_NOTIFIED), TO(MODE_SET, READY) },
    [SESSION_NOTIFIED] = { PACKETS, TO(QUERIED, QUERY), TO(BREAK, NOTIFIED), TO(REPLIED, NOTIFIED),
                           TO(NOTICED, READY), TO(MODE_SET, READY) },
    [SESSION_NO_PROGRAM] = { PACKETS, TO(BREAK, NO_PROGRAM), TO(MODE_SET, NO_PROGRAM),
                             TO(PROGRAM, READY) },
    [SESSION_NO_PROGRAM_NOTIFIED] = { TO(BREAK, NO_PROGRAM_NOTIFIED), TO(NOTICED, NO_PROGRAM),
                                      TO(MODE_SET, NO_PROGRAM), TO(PROGRAM, NOTIFIED),
                                      TO(PROGRAM_GONE, NO_PROGRAM_NOTIFIED), TO(CLOSE, CLOSING) },
};

#define HALT_TO(event, purpose) [HALT_ON_##event] = HALT_##purpose

static const uint8_t purposes[HALT_NPURPOSES][HALT_NEVENTS] = {
    [HALT_NONE] = { HALT_TO(SNAPSHOT_ASKED, SNAPSHOT), HALT_TO(ASKED, USER),
                    HALT_TO(START_ASKED, START), HALT_TO(OVER, NONE), HALT_TO(LOST, NONE) },
    [HALT_SNAPSHOT] = { HALT_TO(SNAPSHOT_ASKED, SNAPSHOT), HALT_TO(ASKED, USER),
                        HALT_TO(START_ASKED, START), HALT_TO(OVER, NONE), HALT_TO(LOST, NONE) },
    [HALT_USER] = { HALT_TO(SNAPSHOT_ASKED, USER), HALT_TO(ASKED, USER),
                    HALT_TO(START_ASKED, START), HALT_TO(OVER, NONE), HALT_TO(LOST, USER) },
    [HALT_START] = { HALT_TO(SNAPSHOT_ASKED, START), HALT_TO(ASKED, START),
                     HALT_TO(START_ASKED, START), HALT_TO(OVER, NONE), HALT_TO(LOST, USER) },
};

enum session_state session_state_next(enum session_state state, enum session_event event)
{
    return (enum session_state)states[state][event];
}

enum halt_purpose halt_purpose_next(enum halt_purpose purpose, enum halt_event event)
{
    return (enum halt_purpose)purposes[purpose][event];
}

#define NAME(name, text) #name,

const char *session_state_name(enum session_state state)
{
    static const char *const names[SESSION_NSTATES] = { "refused", SESSION_STATES(NAME) };
    return names[state];
}

const char *session_event_name(enum session_event event)
{
    static const char *const names[SESSION_NEVENTS] = { SESSION_EVENTS(NAME) };
    return names[event];
}

const char *halt_purpose_name(enum halt_purpose purpose)
{
    static const char *const names[HALT_NPURPOSES] = { "refused", HALT_PURPOSES(NAME) };
    return names[purpose];
}

const char *halt_event_name(enum halt_event event)
{
    static const char *const names[HALT_NEVENTS] = { HALT_EVENTS(NAME) };
    return names[event];
}

/* ---- the states of a session and of a stub ---- */

void session_event(struct session *s, enum session_event event)
{
    enum session_state from = s->state, to = session_state_next(from, event);
    assert(to != SESSION_REFUSED);
    if (to == SESSION_REFUSED)
        return;
    s->state = to;
    log_msg(s->stub->cfg.log, LOG_RSP, "session %u: %s, %s -> %s", s->number,
            session_event_name(event), session_state_name(from), session_state_name(to));
}

void halt_event(struct stub *stub, enum halt_event event)
{
    enum halt_purpose from = stub->purpose, to = halt_purpose_next(from, event);
    assert(to != HALT_REFUSED);
    if (to == HALT_REFUSED)
        return;
    stub->purpose = to;
    log_msg(stub->cfg.log, LOG_RSP, "halt: %s, %s -> %s", halt_event_name(event),
            halt_purpose_name(from), halt_purpose_name(to));
}

/* ---- what the states mean for others ---- */

bool session_waits(const struct session *s)
{
    return s->state == SESSION_QUERY || session_hears(s);
}

bool session_hears(const struct session *s)
{
    return s->state == SESSION_RESUMED || s->state == SESSION_INTERRUPTED ||
           s->state == SESSION_FILE_IO || s->state == SESSION_FILE_IO_INTERRUPTED;
}

bool session_has_break(const struct session *s)
{
    return s->state == SESSION_BREAK_QUEUED || s->state == SESSION_FILE_IO_INTERRUPTED;
}

bool session_has_program(const struct session *s)
{
    return s->state != SESSION_NO_PROGRAM && s->state != SESSION_NO_PROGRAM_NOTIFIED &&
           s->state != SESSION_CLOSING;
}
