/* The DBG module. Only this file writes its registers, for the debugger and for a profile (the
 * rules are in s12z/driver/driver.h, "the DBG module"). Source: ZVHL p.191-226, HDR. */
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

#define PTACT_LIMIT_NS 50000000u
#define PTACT_LOOK_NS  200000u
#define C1(f)          REG_MASK(S12Z_DBGC1_##f)
#define CTL(f)         REG_MASK(S12Z_DBGXCTL_##f)

static uint8_t *place_of(uint8_t *image, unsigned reg) { return image + (reg - S12Z_DBGC1); }

static void put_comparator(uint8_t *image, unsigned n, const struct s12z_comparator *c)
{
    uint8_t *r = place_of(image, S12Z_DBGACTL + n * S12Z_COMPARATOR_STEP);
    r[0] = c->ctl;
    r[S12Z_COMPARATOR_ADDRESS] = (uint8_t)(c->addr >> 16);
    put_be16(r + S12Z_COMPARATOR_ADDRESS + 1, (uint16_t)c->addr);
    if (n & 1)
        return;
    memcpy(r + S12Z_COMPARATOR_DATA, c->data, 4);
    memcpy(r + S12Z_COMPARATOR_MASK, c->mask, 4);
}

/* The value's bytes go on the lanes of their addresses. Across a multiple of four only one side can
 * be compared: the low-order one, if the mask leaves anything of it. */
static void put_data(const struct s12z_hard *h, struct s12z_comparator *c)
{
    unsigned split = s12z_watch_split(h->addr, h->len), from = 0, to = h->len;
    if (!h->has_data)
        return;
    if (split && h->data_mask & (0xFFFFFFFFu >> (32 - 8 * (h->len - split))))
        from = split;
    else if (split)
        to = split;
    c->addr = h->addr + from;
    for (unsigned k = from; k < to; k++) {
        unsigned lane = (h->addr + k) & 3, shift = 8 * (h->len - 1 - k);
        c->data[lane] = (uint8_t)(h->data >> shift);
        c->mask[lane] = (uint8_t)(h->data_mask >> shift);
    }
}

static void put_hard(uint8_t *image, const struct s12z_hard *h)
{
    static const uint8_t ctl[] = {
        [BP_SOFT] = CTL(COMPE) | CTL(INST),       [BP_HARD] = CTL(COMPE) | CTL(INST),
        [BP_WATCH_WRITE] = CTL(COMPE) | CTL(RWE), [BP_WATCH_READ] = CTL(COMPE) | CTL(RWE) | CTL(RW),
        [BP_WATCH_ACCESS] = CTL(COMPE),
    };
    struct s12z_comparator c = { .ctl = ctl[h->kind], .addr = h->addr };
    put_data(h, &c);
    put_comparator(image, h->first, &c);
    /* in every state of the sequencer a match is Final State; a pair answers as its first */
    for (unsigned s = 0; s < 3; s++)
        *place_of(image, S12Z_DBGSCR1 + s) |= (uint8_t)(S12Z_SCR_FINAL << (2 * h->first));
    if (!h->pair)
        return;
    c = (struct s12z_comparator){ .ctl = CTL(COMPE), .addr = h->addr + h->len - 1 };
    put_comparator(image, h->first + 1, &c);
    *place_of(image, S12Z_DBGC2) |= (uint8_t)(S12Z_RANGE_INSIDE << h->first);
}

static void compose_registers(const struct s12z_target *t, uint8_t *image)
{
    bool breaks = s12z_comparators_held(t) != 0;
    memset(image, 0, S12Z_DBG_BYTES);
    if (t->dbg.has_profile) {
        const struct s12z_dbg_profile *p = &t->dbg.profile;
        *place_of(image, S12Z_DBGTCRH) = p->tcrh;
        *place_of(image, S12Z_DBGTCRL) = p->tcrl;
        *place_of(image, S12Z_DBGC2) = p->range;
        memcpy(place_of(image, S12Z_DBGSCR1), p->scr, 3);
        for (unsigned n = 0; n < S12Z_COMPARATORS; n++)
            if (p->comparators >> n & 1)
                put_comparator(image, n, &p->comparator[n]);
        breaks = breaks || p->halt_on_overflow;
    }
    for (size_t k = 0; k < S12Z_COMPARATORS; k++)
        if (t->breaks.hard[k].used)
            put_hard(image, &t->breaks.hard[k]);
    *place_of(image, S12Z_DBGC1) = (uint8_t)(C1(ARM) | (breaks ? C1(BRKCPU) | C1(BDMBP) : 0));
}

/* Registers that take what is written: not the buffer port, the counter, the flags. */
static bool is_settable(const struct s12z_target *t, unsigned off)
{
    unsigned reg = S12Z_DBGC1 + off, n = (reg - S12Z_DBGACTL) / S12Z_COMPARATOR_STEP,
             field = reg % S12Z_COMPARATOR_STEP;
    if (reg < S12Z_DBGACTL)
        return reg == S12Z_DBGC2 || (reg >= S12Z_DBGSCR1 && reg <= S12Z_DBGSCR3) ||
               (t->part.full_dbg && (reg == S12Z_DBGTCRH || reg == S12Z_DBGTCRL));
    return n < S12Z_COMPARATORS && s12z_comparator_exists(t, n) &&
           (field == 0 || (field >= S12Z_COMPARATOR_ADDRESS && field < S12Z_COMPARATOR_DATA) ||
            (field >= S12Z_COMPARATOR_DATA && !(n & 1)));
}

static int write_module(struct s12z_target *t, const uint8_t *image, struct err *err)
{
    for (unsigned off = 1; off < S12Z_DBG_BYTES;) {
        unsigned n = 0;
        while (off + n < S12Z_DBG_BYTES && is_settable(t, off + n) &&
               (!t->dbg.have_valid || image[off + n] != t->dbg.have[off + n]))
            n++;
        int ret = 0;
        if (n)
            ret = s12z_write_raw(t, S12Z_DBGC1 + off, 1, image + off, n, err);
        if (ret < 0) {
            t->dbg.have_valid = false;
            return err_prefix(err, ret, "DBG");
        }
        off += n + 1;
    }
    memcpy(t->dbg.have, image, S12Z_DBG_BYTES);
    t->dbg.have_valid = true;
    return 0;
}

bool s12z_dbg_wanted(const struct s12z_target *t)
{
    return t->dbg.has_profile || s12z_comparators_held(t);
}

int s12z_dbg_arm(struct s12z_target *t, struct err *err)
{
    uint8_t image[S12Z_DBG_BYTES];
    if (t->dbg.armed || !s12z_dbg_wanted(t))
        return 0;
    compose_registers(t, image);
    int ret = write_module(t, image, err);
    if (ret == 0)
        ret = s12z_poke8(t, S12Z_DBGC1, image[0], err);
    t->dbg.armed = ret == 0;
    t->dbg.efr_seen = 0;
    return ret;
}

/* Lines that wait to be sent keep the registers locked, for 64 lines of 128 bus clocks at most. */
static int wait_until_sent(struct s12z_target *t, struct err *err)
{
    uint64_t since = s12z_now(t);
    uint8_t sr = 0;
    for (unsigned looks = 1;; looks++) {
        int ret = s12z_peek8(t, S12Z_DBGSR, &sr, err);
        if (ret < 0 || !REG_GET(sr, S12Z_DBGSR_PTACT))
            return ret;
        if (s12z_overdue(t, since, PTACT_LIMIT_NS, looks))
            return err_set(err, ERR_TIMEOUT, "monitor reset halt",
                           "DBG: the profile is still being sent (PTACT) after 50 ms");
        if ((ret = s12z_wait(t, PTACT_LOOK_NS, err)) < 0)
            return ret;
    }
}

int s12z_dbg_disarm(struct s12z_target *t, uint8_t *efr, struct err *err)
{
    uint8_t flags = t->dbg.efr_seen;
    if (t->dbg.armed) {
        int ret = s12z_poke8(t, S12Z_DBGC1, 0, err);
        if (ret == 0 && t->part.full_dbg && t->dbg.has_profile)
            ret = wait_until_sent(t, err);
        if (ret == 0)
            ret = s12z_peek8(t, S12Z_DBGEFR, &flags, err);
        if (ret < 0)
            return ret;
        t->dbg.armed = false;
        t->dbg.efr_seen = flags;
    }
    if (efr)
        *efr = flags;
    return 0;
}

int s12z_dbg_forget(struct s12z_target *t, struct err *err)
{
    uint8_t c1;
    t->dbg.armed = t->dbg.have_valid = false;
    int ret = s12z_peek8(t, S12Z_DBGC1, &c1, err);
    if (ret < 0 || !REG_GET(c1, S12Z_DBGC1_ARM))
        return ret;
    ret = s12z_poke8(t, S12Z_DBGC1, 0, err); /* a session that was lost left it armed */
    if (ret < 0)
        return ret;
    return wait_until_sent(t, err);
}

int s12z_dbg_claim(struct s12z_target *t, const struct s12z_dbg_profile *p, struct err *err)
{
    struct s12z_dbg_profile old = t->dbg.profile;
    bool had = t->dbg.has_profile,
         begin = p && REG_GET(p->tcrh, S12Z_DBGTCRH_TALIGN) == S12Z_TALIGN_BEGIN;
    char names[16];
    if (p && !t->part.full_dbg)
        return err_set(err, ERR_UNSUPPORTED, "--sample looks at the PC instead",
                       "this part's DBG module has no trace buffer");
    if (begin && s12z_comparators_held(t))
        return err_set(
            err, ERR_RESOURCE, "delete them, or profile without a start point",
            "a profile with a start point leaves no comparator working, and breakpoints hold %s",
            s12z_comparator_names(s12z_comparators_held(t), names));
    t->dbg.has_profile = p != NULL;
    if (p)
        t->dbg.profile = *p;
    if (!s12z_comparators_deal(t)) {
        t->dbg.profile = old;
        t->dbg.has_profile = had;
        return err_set(err, ERR_RESOURCE,
                       "delete breakpoints, or profile without start and stop points",
                       "the profile needs comparators %s, and breakpoints hold %s",
                       s12z_comparator_names(p->comparators, names), "the rest");
    }
    return s12z_dbg_disarm(t, NULL, err);
}
