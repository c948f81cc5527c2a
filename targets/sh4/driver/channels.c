/* The two channels of the user break controller: which has what of the user's hardware breakpoints
 * and watchpoints. A channel watches one address exactly, or a window of 1 KB, 4 KB, 64 KB, 1 MB or
 * all there is, in which any number of objects lie. What it matches beside them, watch.c finds
 * out.
 * Source: SH7750 hardware manual, section 20, BAMRA and BBRA. */
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/isa/regs.h"

static const struct {
    uint32_t bytes; /* 0: all addresses */
    uint8_t code;   /* of BAMR */
} windows[] = { { 1u << 10, 1 }, { 1u << 12, 2 }, { 1u << 16, 8 }, { 1u << 20, 9 }, { 0, 3 } };

/* What one channel would have to match. */
struct cover {
    bool used, exact;
    bool same, whole; /* all objects are these bytes; all are accessed as one, or in two halves */
    uint32_t lo, hi;  /* first and last byte; of use if `used` */
    unsigned objects;
    bool reads, writes;
    uint32_t base, bytes; /* bytes 0: all addresses */
    uint8_t code;
};

/* The boot ROM, as in the memory map. What a program writes there changes nothing, and GDB watches
 * such a place for every pointer on the way to an object that is still NULL. */
static bool never_changes(const struct sh4_hard *h)
{
    enum { ROM_BYTES = 0x200000 };
    uint32_t at = sh4_canonical32(h->addr);
    return h->kind == BP_WATCH_WRITE && at < ROM_BYTES && h->len <= ROM_BYTES - at;
}

static bool is_watch(const struct sh4_hard *h) { return h->kind != BP_HARD && !never_changes(h); }

uint16_t sh4_ubc_bbr(bool operand, bool read, bool write)
{
    uint32_t cycle = operand ? 2 : 1, direction = bits_if(read, 1) | bits_if(write, 2);
    return (uint16_t)(REG_PUT(cycle, SH4_BBR_ID) | REG_PUT(direction, SH4_BBR_RW));
}

/* Whether accesses to the object are taken to be of its own size, or of its halves if it has 8
 * bytes. One that is not aligned is accessed in pieces. */
static bool as_a_whole(const struct sh4_target *t, const struct sh4_hard *h)
{
    if (h->len == 1)
        return true;
    if (t->breaks.watch_parts)
        return false;
    return (h->len == 2 || h->len == 4 || h->len == 8) && h->addr % MIN(h->len, 4u) == 0;
}

/* Adds the part of an object that lies in [from, to]. */
static void add_part(const struct sh4_target *t, struct cover *c, const struct sh4_hard *h,
                     uint32_t from, uint32_t to)
{
    uint32_t lo = MAX(h->addr, from), hi = MIN(h->addr + (h->len - 1), to);
    bool whole = as_a_whole(t, h);
    if (h->addr > to || h->addr + (h->len - 1) < from)
        return;
    if (!c->used)
        *c = (struct cover){ .used = true, .whole = true, .same = true, .lo = lo, .hi = hi };
    c->whole = c->whole && whole;
    c->same = c->same && c->lo == lo && c->hi == hi;
    c->lo = MIN(c->lo, lo);
    c->hi = MAX(c->hi, hi);
    c->objects++;
    c->reads = c->reads || h->kind != BP_WATCH_WRITE;
    c->writes = c->writes || h->kind != BP_WATCH_READ;
}

/* Finds the smallest thing that a channel can match and that has all of c. */
static void find_window(struct cover *c)
{
    uint32_t len = c->hi - c->lo + 1;
    bool one = c->objects == 1;
    if (c->same && c->whole && (len == 1 || len == 2 || len == 4) && c->lo % len == 0) {
        c->exact = one;
        c->base = c->lo;
        c->bytes = len;
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(windows); i++) {
        uint32_t mask = 0;
        if (windows[i].bytes)
            mask = ~(windows[i].bytes - 1);
        if ((c->lo & mask) != (c->hi & mask))
            continue;
        c->base = c->lo & mask;
        c->bytes = windows[i].bytes;
        c->code = windows[i].code;
        c->exact = one && len == c->bytes;
        return;
    }
}

/* Covers what is watched by one channel up to the byte before `at` and another one from there on.
 * 0 for `at`: all by one. Returns how many bytes they match. */
static uint64_t cover_split(const struct sh4_target *t, uint32_t at, struct cover out[2])
{
    memset(out, 0, 2 * sizeof out[0]);
    for (size_t i = 0; i < t->breaks.nhard; i++) {
        const struct sh4_hard *h = &t->breaks.hard[i];
        if (is_watch(h) && at)
            add_part(t, &out[1], h, 0, at - 1);
        if (is_watch(h))
            add_part(t, &out[0], h, at, 0xFFFFFFFFu);
    }
    uint64_t sum = 0;
    for (int n = 0; n < 2; n++) {
        if (!out[n].used)
            continue;
        find_window(&out[n]);
        sum += EITHER(out[n].bytes, 1ull << 32);
    }
    return sum;
}

struct best {
    struct cover cover[2];
    uint64_t bytes; /* 0: none was found yet */
};

static void try_split(const struct sh4_target *t, uint32_t at, struct best *best)
{
    struct cover c[2];
    uint64_t bytes = cover_split(t, at, c);
    if (best->bytes && bytes >= best->bytes)
        return;
    memcpy(best->cover, c, sizeof c);
    best->bytes = bytes;
}

/* The fewest bytes that up to `most` channels can match and still see all that is watched. Two are
 * divided where an object begins, or within one where a window, or its second long, does. */
static void best_cover(const struct sh4_target *t, unsigned most, struct best *best)
{
    best->bytes = 0;
    try_split(t, 0, best);
    for (size_t i = 0; most == 2 && i < t->breaks.nhard; i++) {
        const struct sh4_hard *h = &t->breaks.hard[i];
        if (!is_watch(h))
            continue;
        try_split(t, h->addr, best);
        if (h->len == 8)
            try_split(t, h->addr + 4, best);
        for (size_t k = 0; k < ARRAY_LEN(windows); k++) {
            uint32_t edge = (h->addr + (h->len - 1)) & ~(windows[k].bytes - 1);
            if (windows[k].bytes && edge > h->addr)
                try_split(t, edge, best);
        }
    }
}

/* Whether this cover is to have channel B: steps take A, and only B compares values. */
static bool wants_b(const struct sh4_target *t, const struct cover *c)
{
    const struct sh4_hard *first = NULL;
    for (size_t i = 0; i < t->breaks.nhard; i++) {
        const struct sh4_hard *h = &t->breaks.hard[i];
        bool in = is_watch(h) && h->addr <= c->hi && h->addr + (h->len - 1) >= c->lo;
        if (in && h->has_data)
            return true;
        if (is_watch(h) && !first)
            first = h;
    }
    return first && first->addr >= c->lo && first->addr <= c->hi;
}

static const struct sh4_hard *only_object(const struct sh4_target *t, uint32_t addr)
{
    for (size_t i = 0; i < t->breaks.nhard; i++)
        if (is_watch(&t->breaks.hard[i]) && t->breaks.hard[i].addr == addr)
            return &t->breaks.hard[i];
    return NULL;
}

static struct sh4_ubc_channel watch_channel(const struct sh4_target *t, const struct cover *c)
{
    struct sh4_ubc_channel ch = { .used = true,
                                  .kind = BP_WATCH_ACCESS,
                                  .addr = c->base,
                                  .len = c->bytes,
                                  .exact = c->exact,
                                  .bamr = (uint8_t)(c->code | REG_MASK(SH4_BAMR_BASM)),
                                  .bbr = sh4_ubc_bbr(true, c->reads, c->writes) };
    const struct sh4_hard *h = NULL;
    if (c->exact)
        h = only_object(t, c->lo);
    if (h && h->has_data && h->len == c->bytes) {
        ch.has_data = true;
        ch.data = h->data;
        ch.data_mask = h->data_mask;
    }
    return ch;
}

static struct sh4_ubc_channel code_channel(uint32_t addr)
{
    return (struct sh4_ubc_channel){ .used = true,
                                     .kind = BP_HARD,
                                     .addr = addr,
                                     .len = 2,
                                     .exact = true,
                                     .bamr = REG_MASK(SH4_BAMR_BASM),
                                     .bbr = sh4_ubc_bbr(false, true, false) };
}

/* Deals the channels to all of hard[]. If they do not suffice nothing is changed. */
static bool deal_channels(struct sh4_target *t)
{
    struct sh4_ubc_channel got[SH4_UBC_CHANNELS] = { 0 };
    size_t codes = 0, watches = 0;
    struct best best = { .bytes = 0 };
    for (size_t i = 0; i < t->breaks.nhard; i++)
        if (is_watch(&t->breaks.hard[i]))
            watches++;
        else
            codes += t->breaks.hard[i].kind == BP_HARD;
    if (codes + (watches > 0) > SH4_UBC_CHANNELS)
        return false;
    if (watches)
        best_cover(t, SH4_UBC_CHANNELS - (unsigned)codes, &best);
    bool data = false;
    for (size_t i = 0; i < t->breaks.nhard; i++)
        data = data || t->breaks.hard[i].has_data;
    bool code_first = codes && !(watches && (data || is_watch(&t->breaks.hard[0])));
    unsigned next = SH4_UBC_CHANNELS;
    for (size_t i = 0; code_first && i < t->breaks.nhard; i++)
        if (t->breaks.hard[i].kind == BP_HARD)
            got[--next] = code_channel(t->breaks.hard[i].addr);
    unsigned first = 0;
    if (watches && best.cover[1].used && wants_b(t, &best.cover[1]))
        first = 1;
    for (unsigned n = 0; watches && n < 2; n++)
        if (best.cover[(first + n) % 2].used)
            got[--next] = watch_channel(t, &best.cover[(first + n) % 2]);
    for (size_t i = 0; !code_first && i < t->breaks.nhard; i++)
        if (t->breaks.hard[i].kind == BP_HARD)
            got[--next] = code_channel(t->breaks.hard[i].addr);
    memcpy(t->breaks.ubc, got, sizeof got);
    return true;
}

void sh4_channels_deal_again(struct sh4_target *t) { (void)deal_channels(t); }

struct sh4_hard *sh4_hard_find(struct sh4_target *t, enum bp_kind kind, uint32_t addr, uint32_t len)
{
    for (size_t i = 0; i < t->breaks.nhard; i++) {
        struct sh4_hard *h = &t->breaks.hard[i];
        if (h->kind == kind && h->addr == addr && (kind == BP_HARD || h->len == len))
            return h;
    }
    return NULL;
}

int sh4_hard_insert(struct sh4_target *t, enum bp_kind kind, uint32_t addr, uint32_t len,
                    struct err *err)
{
    if (sh4_hard_find(t, kind, addr, len))
        return 0;
    if (t->breaks.nhard == SH4_MAX_HARD)
        return err_set(err, ERR_RESOURCE, "delete some",
                       "all %d hardware breakpoints and watchpoints are used", SH4_MAX_HARD);
    struct sh4_hard h = { .kind = kind, .addr = addr, .len = len };
    if (kind == BP_HARD)
        h.len = 2; /* an instruction */
    t->breaks.hard[t->breaks.nhard++] = h;
    if (deal_channels(t))
        return 0;
    t->breaks.nhard--;
    const char *what = "hardware breakpoints have both channels of the user break controller";
    if (kind == BP_HARD)
        what = "both channels of the user break controller are in use";
    return err_set(err, ERR_RESOURCE, "delete a hardware breakpoint or a watchpoint", "%s", what);
}

void sh4_hard_remove(struct sh4_target *t, enum bp_kind kind, uint32_t addr, uint32_t len)
{
    struct sh4_hard *h = sh4_hard_find(t, kind, addr, len);
    if (!h)
        return;
    size_t behind = (size_t)(&t->breaks.hard[--t->breaks.nhard] - h);
    memmove(h, h + 1, behind * sizeof *h);
    (void)deal_channels(t); /* fewer fit always */
}

void sh4_hard_remove_all(struct sh4_target *t)
{
    t->breaks.nhard = 0;
    memset(t->breaks.ubc, 0, sizeof t->breaks.ubc);
}

struct sh4_hard *sh4_hard_valued(struct sh4_target *t)
{
    const struct sh4_ubc_channel *b = &t->breaks.ubc[1];
    for (size_t i = 0; b->used && b->exact && i < t->breaks.nhard; i++) {
        struct sh4_hard *h = &t->breaks.hard[i];
        if (is_watch(h) && h->addr == b->addr && h->len == b->len)
            return h;
    }
    return NULL;
}
