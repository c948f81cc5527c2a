/* The four comparators of the DBG module: who uses which, and what the debugger's match. Source:
 * ZVHL p.191-226. */
#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

enum { A, B, C, D };

bool s12z_comparator_exists(const struct s12z_target *t, unsigned n)
{
    return n != C || t->part.full_dbg;
}

const char *s12z_comparator_names(unsigned set, char buf[16])
{
    size_t len = 0;
    buf[0] = 0;
    for (unsigned n = 0; n < S12Z_COMPARATORS; n++)
        if (set >> n & 1)
            len +=
                (size_t)snprintf(buf + len, 16 - len, "%s%c", text_if(len, ", "), (char)('A' + n));
    return buf;
}

bool s12z_is_watch(const struct s12z_hard *h) { return h->kind != BP_SOFT && h->kind != BP_HARD; }

bool s12z_needs_pair(const struct s12z_hard *h)
{
    return s12z_is_watch(h) && h->len > 1 && !h->has_data;
}

/* The first of `order` that is free in *taken; -1 if none. Pairs take two. */
static int take_comparator(const struct s12z_target *t, const uint8_t *order, size_t n, bool pair,
                           unsigned *taken)
{
    for (size_t k = 0; k < n; k++) {
        unsigned first = order[k], mask = pair ? 3u << first : 1u << first;
        if (*taken & mask || !s12z_comparator_exists(t, first) ||
            (pair && !s12z_comparator_exists(t, first + 1)))
            continue;
        *taken |= mask;
        return (int)first;
    }
    return -1;
}

enum dealing_round { PAIRS, VALUES, THE_REST, ROUNDS };

static enum dealing_round round_of(const struct s12z_hard *h)
{
    if (s12z_needs_pair(h))
        return PAIRS;
    if (h->has_data)
        return VALUES;
    return THE_REST;
}

/* Gives the comparators that the profile leaves to everything in hard[]: pairs first, then values,
 * which only A and C compare, then the rest. Code takes A and C last. If they do not suffice,
 * nothing is changed. */
bool s12z_comparators_deal(struct s12z_target *t)
{
    static const struct {
        uint8_t order[S12Z_COMPARATORS], n;
    } choice[ROUNDS] = {
        [PAIRS] = { { C, A }, 2 }, [VALUES] = { { C, A }, 2 }, [THE_REST] = { { B, D, A, C }, 4 }
    };
    int first[S12Z_COMPARATORS];
    unsigned taken = s12z_profile_comparators(t);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t k = 0; k < S12Z_COMPARATORS; k++) {
            const struct s12z_hard *h = &t->breaks.hard[k];
            if (!h->used || (int)round_of(h) != round)
                continue;
            first[k] =
                take_comparator(t, choice[round].order, choice[round].n, round == PAIRS, &taken);
            if (first[k] < 0)
                return false;
        }
    for (size_t k = 0; k < S12Z_COMPARATORS; k++)
        if (t->breaks.hard[k].used) {
            t->breaks.hard[k].first = (unsigned)first[k];
            t->breaks.hard[k].pair = s12z_needs_pair(&t->breaks.hard[k]);
        }
    return true;
}

unsigned s12z_comparators_held(const struct s12z_target *t)
{
    unsigned set = 0;
    for (size_t k = 0; k < S12Z_COMPARATORS; k++)
        if (t->breaks.hard[k].used)
            set |= s12z_hard_mask(&t->breaks.hard[k]);
    return set;
}

int s12z_comparators_used_up(const struct s12z_target *t, bool pair, struct err *err)
{
    char own[16], profiles[16], held[64] = "";
    unsigned set = s12z_profile_comparators(t);
    const char *missing = "no comparator", *hint = "delete one; breakpoints in RAM need none",
               *users = "none";
    if (set)
        snprintf(held, sizeof held, "; the profile holds %s", s12z_comparator_names(set, profiles));
    if (pair) {
        missing = "no pair of comparators";
        hint = "delete a breakpoint; a single byte takes one comparator, monitor watchdata makes a "
               "word take one";
    }
    if (s12z_comparators_held(t))
        users = s12z_comparator_names(s12z_comparators_held(t), own);
    return err_set(err, ERR_RESOURCE, hint,
                   "%s of the DBG module is left: breakpoints and watchpoints hold %s%s", missing,
                   users, held);
}

const struct s12z_hard *s12z_hard_hit(const struct s12z_target *t, uint8_t efr)
{
    for (size_t k = S12Z_COMPARATORS; k-- > 0;) {
        const struct s12z_hard *h = &t->breaks.hard[k];
        if (h->used && efr & s12z_hard_mask(h))
            return h;
    }
    return NULL;
}

bool s12z_watches(const struct s12z_target *t)
{
    bool any = false;
    for (size_t k = 0; k < S12Z_COMPARATORS; k++)
        any = any || (t->breaks.hard[k].used && s12z_is_watch(&t->breaks.hard[k]));
    return any;
}

/* Compares as the comparator would: an access of its own size, with this value in it. The value is
 * what memory holds after the instruction. */
static bool value_matches(struct s12z_target *t, const struct s12z_hard *h, uint32_t addr,
                          unsigned bytes)
{
    uint8_t raw[4] = { 0 };
    uint32_t v = 0;
    if (!h->has_data)
        return true;
    if (addr != h->addr || bytes != h->len || s12z_read_raw(t, addr, 0, raw, bytes, NULL) < 0)
        return false;
    for (unsigned k = 0; k < bytes; k++)
        v = v << 8 | raw[k];
    return ((v ^ h->data) & h->data_mask & (0xFFFFFFFFu >> (32 - 8 * bytes))) == 0;
}

static bool watches_kind(const struct s12z_hard *h, bool read, bool write)
{
    switch (h->kind) {
    case BP_WATCH_WRITE: return write;
    case BP_WATCH_READ: return read;
    case BP_WATCH_ACCESS: return true;
    default: return false; /* a breakpoint */
    }
}

const struct s12z_hard *s12z_watch_meets(struct s12z_target *t, uint32_t addr, unsigned bytes,
                                         bool read, bool write)
{
    for (size_t k = 0; k < S12Z_COMPARATORS; k++) {
        const struct s12z_hard *h = &t->breaks.hard[k];
        bool overlaps = addr < h->addr + h->len && h->addr < addr + bytes;
        if (h->used && watches_kind(h, read, write) && overlaps && value_matches(t, h, addr, bytes))
            return h;
    }
    return NULL;
}

const struct s12z_hard *s12z_code_break_at(const struct s12z_target *t, uint32_t addr)
{
    for (size_t k = 0; k < S12Z_COMPARATORS; k++)
        if (t->breaks.hard[k].used && !s12z_is_watch(&t->breaks.hard[k]) &&
            t->breaks.hard[k].addr == addr)
            return &t->breaks.hard[k];
    return NULL;
}

/* How many of the value's bytes lie before the next multiple of four, if not all do: accesses are
 * compared per aligned long. */
unsigned s12z_watch_split(uint32_t addr, unsigned len)
{
    unsigned room = 4 - (addr & 3);
    if (len > room)
        return room;
    return 0;
}
