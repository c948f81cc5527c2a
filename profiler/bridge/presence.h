/* Is the board there? One state, what changes it, and one table of what follows from what, which
 * docs/recovery.md shows. The worker keeps the state; worker_lost() is the only door by which a
 * loss comes in. */
#ifndef PROFILER_BRIDGE_PRESENCE_H
#define PROFILER_BRIDGE_PRESENCE_H

enum presence {
    PRESENCE_HERE, /* it answers, as far as anybody knows */
    PRESENCE_LOST, /* somebody has found that it does not; the clients do not know yet */
    PRESENCE_AWAY, /* the clients know; it is looked for */
    PRESENCE_BACK, /* it is attached again; the clients are being told */
    PRESENCE_STATES,
    PRESENCE_REFUSED = PRESENCE_STATES
};

enum presence_event {
    PRESENCE_LOSS,        /* somebody has found that it does not answer */
    PRESENCE_TOLD_LOSS,   /* the clients have been told of the loss */
    PRESENCE_TRY_FAILED,  /* to get it back */
    PRESENCE_TRY_WORKED,  /* it is attached */
    PRESENCE_TOLD_RETURN, /* the clients have been told of the return */
    PRESENCE_EVENTS
};

/* presence_next - the state after an event; PRESENCE_REFUSED where it cannot come. */
enum presence presence_next(enum presence from, enum presence_event event);

/* presence_take - the event has come: *p becomes the next state. One that cannot come is a mistake
 * of the caller. */
void presence_take(enum presence *p, enum presence_event event);

/* presence_name, presence_event_name - for people; why a pair is as it is, "" if that is plain. */
const char *presence_name(enum presence p);
const char *presence_event_name(enum presence_event event);
const char *presence_why(enum presence from, enum presence_event event);

#endif
