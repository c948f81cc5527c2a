#include "profiler/bridge/presence.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

struct transition {
    bool may_come;
    enum presence to;
    const char *why;
};

/* What is not written cannot come. */
static const struct transition table[PRESENCE_STATES][PRESENCE_EVENTS] = {
    [PRESENCE_HERE] = {
        [PRESENCE_LOSS] = { true, PRESENCE_LOST, "" },
    },
    [PRESENCE_LOST] = {
        [PRESENCE_LOSS] = { true, PRESENCE_LOST, "the first reason counts" },
        [PRESENCE_LOSS_REPORTED] = { true, PRESENCE_AWAY, "" },
        [PRESENCE_RETURN_REPORTED] = { true, PRESENCE_LOST, "lost again by what a client did" },
    },
    [PRESENCE_AWAY] = {
        [PRESENCE_LOSS] = { true, PRESENCE_AWAY, "known" },
        [PRESENCE_TRY_FAILED] = { true, PRESENCE_AWAY, "the next try comes later" },
        [PRESENCE_TRY_WORKED] = { true, PRESENCE_BACK, "" },
    },
    [PRESENCE_BACK] = {
        [PRESENCE_LOSS] = { true, PRESENCE_LOST, "the other clients are notified of the return first" },
        [PRESENCE_RETURN_REPORTED] = { true, PRESENCE_HERE, "" },
    },
};

enum presence presence_next(enum presence from, enum presence_event event)
{
    const struct transition *row = &table[from][event];
    if (row->may_come)
        return row->to;
    return PRESENCE_REFUSED;
}

void presence_take(enum presence *p, enum presence_event event)
{
    enum presence next = presence_next(*p, event);
    assert(next != PRESENCE_REFUSED);
    *p = next;
}

const char *presence_name(enum presence p)
{
    static const char *const names[] = {
        [PRESENCE_HERE] = "here",
        [PRESENCE_LOST] = "lost",
        [PRESENCE_AWAY] = "away",
        [PRESENCE_BACK] = "back",
    };
    return names[p];
}

const char *presence_event_name(enum presence_event event)
{
    static const char *const names[] = {
        [PRESENCE_LOSS] = "a loss is stated",
        [PRESENCE_LOSS_REPORTED] = "clients know of the loss",
        [PRESENCE_TRY_FAILED] = "a try fails",
        [PRESENCE_TRY_WORKED] = "a try succeeds",
        [PRESENCE_RETURN_REPORTED] = "clients know of the return",
    };
    return names[event];
}

const char *presence_why(enum presence from, enum presence_event event)
{
    const struct transition *row = &table[from][event];
    if (row->may_come)
        return row->why;
    return "";
}
