#include "targets/run_table.h"

#include <assert.h>

unsigned run_table_change(const struct run_table *t, unsigned state, unsigned event,
                          const struct log *log, const char *name)
{
    unsigned to = run_table_next(t, state, event);
    assert(to != 0);
    if (to)
        log_msg(log, LOG_TARGET, "%s: run control: %s, %s -> %s", name, t->events[event],
                t->states[state], t->states[to]);
    return to;
}
