#include "profiler/core/overlays.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/core/symbols_priv.h"

int overlays_init(struct overlays *o, const struct symbols *symbols, struct err *err)
{
    if (!symbols || !symbols->noverlays)
        return 0;
    o->here = calloc(symbols->image.nsections, sizeof *o->here);
    if (!o->here)
        return err_set(err, ERR_NOMEM, "close other programs", "overlays: out of memory");
    o->symbols = symbols;
    return 0;
}

/* How far a plain address is into section k, or would be behind its end. */
static uint64_t offset_in(const struct symbols *s, uint64_t addr, size_t k)
{
    return sym_key(s, addr) - sym_key(s, s->sections[k].addr);
}

static bool share_addresses(const struct symbols *s, size_t a, size_t b)
{
    return offset_in(s, s->sections[a].addr, b) < s->sections[b].size ||
           offset_in(s, s->sections[b].addr, a) < s->sections[a].size;
}

/* What shares addresses with section k is not there any more. */
static void clear_around(struct overlays *o, size_t k)
{
    for (size_t i = 0; i < o->symbols->image.nsections; i++)
        if (o->symbols->overlay[i] && share_addresses(o->symbols, i, k))
            o->here[i] = false;
}

/* Two that are loaded at one address, too, cannot be told apart. */
static void take_overlay(struct overlays *o, const struct event *e)
{
    const struct symbols *s = o->symbols;
    size_t found = 0, n = 0;
    for (size_t k = 0; k < s->image.nsections; k++) {
        if (!s->overlay[k] || offset_in(s, e->pc, k) != 0)
            continue;
        clear_around(o, k);
        if (e->flags & EVENT_HAS_TARGET && image_load_addr(&s->image, k) == e->target) {
            found = k;
            n++;
        }
    }
    if (n == 1)
        o->here[found] = true;
}

static void place_address(const struct overlays *o, uint64_t *addr)
{
    const struct symbols *s = o->symbols;
    for (size_t k = 0; k < s->image.nsections; k++)
        if (o->here[k] && offset_in(s, *addr, k) < s->sections[k].size) {
            *addr = overlay_address(*addr, k + 1);
            return;
        }
}

/* Not of code at an address, or not for the call tree. */
static bool has_places(const struct event *e)
{
    switch (e->kind) {
    case EVENT_LINE:
    case EVENT_BLOCK:
    case EVENT_BRANCH:
    case EVENT_RATE:
    case EVENT_UNTRACED:
    case EVENT_TASK:
    case EVENT_POINT: return false;
    default: return true;
    }
}

bool overlays_take(struct overlays *o, struct event *e)
{
    if (e->kind == EVENT_OVERLAY) {
        if (o->symbols && e->flags & EVENT_HAS_PC)
            take_overlay(o, e);
        return false;
    }
    if (!o->symbols)
        return true;
    if (e->kind == EVENT_LOST && e->cause != EVENT_CAUSE_RING_FULL)
        memset(o->here, 0, o->symbols->image.nsections * sizeof *o->here);
    if (has_places(e) && e->flags & EVENT_HAS_PC)
        place_address(o, &e->pc);
    if (has_places(e) && e->flags & EVENT_HAS_TARGET)
        place_address(o, &e->target);
    return true;
}

void overlays_fini(struct overlays *o)
{
    free(o->here);
    *o = (struct overlays){ .symbols = NULL };
}
