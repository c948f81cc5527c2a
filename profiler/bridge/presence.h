/* Is the board there? One state, its events, and one table of transitions, which docs/recovery.md
 * shows. The worker keeps the state; every loss comes in through worker_lost(). */
#ifndef PROFILER_BRIDGE_PRESENCE_H
#define PROFILER_BRIDGE_PRESENCE_H

enum presence {
    PRESENCE_HERE, /* it answers, as far as is known */
    PRESENCE_LOST, /* a call found that it does not answer; the clients do not know yet */
    PRESENCE_AWAY, /* the clients know; the worker tries to get it back */
    PRESENCE_BACK, /* it is attached again; the clients are being notified */
    PRESENCE_STATES,
    PRESENCE_REFUSED = PRESENCE_STATES
};

enum presence_event {
    PRESENCE_LOSS,            /* a call found that it does not answer */
    PRESENCE_LOSS_REPORTED,   /* the clients have been notified of the loss */
    PRESENCE_TRY_FAILED,      /* a try to get it back failed */
    PRESENCE_TRY_WORKED,      /* it is attached */
    PRESENCE_RETURN_REPORTED, /* the clients have been notified of the return */
    PRESENCE_EVENTS
};

/* presence_next - the state after an event; PRESENCE_REFUSED where it cannot come. */
enum presence presence_next(enum presence from, enum presence_event event);

/* presence_take - the event has come: *p becomes the next state. An event that cannot come in that
 * state is a bug of the caller. */
void presence_take(enum presence *p, enum presence_event event);

/* presence_name, presence_event_name - names for people. presence_why - the reason for the result
 * of a pair, "" if it is plain. */
const char *presence_name(enum presence p);
const char *presence_event_name(enum presence_event event);
const char *presence_why(enum presence from, enum presence_event event);

#endif
