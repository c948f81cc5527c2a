#include "profiler/profile/untraced.h"

#include <stdlib.h>

#include "probe/base/array.h"
#include "probe/base/err.h"

int untraced_add(struct untraced *u, const struct event *e)
{
    if (e->kind != EVENT_UNTRACED)
        return 0;
    if (!(e->flags & EVENT_HAS_PC)) {
        u->n = 0;
        return 0;
    }
    if (!array_room(&u->row, u->n, &u->cap, sizeof *u->row))
        return -ERR_NOMEM;
    u->row[u->n++] = (struct coverage_row){
        .address = e->pc,
        .by = e->flags & EVENT_HAS_TARGET ? e->by : 0,
        .amount = e->code_bytes,
        .kind = (uint8_t)(e->place_kind < COVERAGE_NPLACES ? e->place_kind : COVERAGE_JUMP),
        .cause = (uint8_t)(e->place_cause < COVERAGE_NCAUSES ? e->place_cause : COVERAGE_OTHER),
    };
    return 0;
}

void untraced_fini(struct untraced *u)
{
    free(u->row);
    *u = (struct untraced){ 0 };
}
