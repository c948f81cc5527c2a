/* Breakpoints: BGND in RAM, comparators of the DBG module elsewhere; and that module, which a
 * profile shares (see s12z/driver/driver.h). Source: ZVHL p.191-226, HDR. */
#include <stdio.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

enum { A, B, C, D, OPCODE_BGND = 0x00, PTACT_LIMIT_NS = 50000000, PTACT_LOOK_NS = 200000 };
#define C1(f)  REG_MASK(S12Z_DBGC1_##f)
#define CTL(f) REG_MASK(S12Z_DBGXCTL_##f)

/* ---- which comparator does what ---- */

static bool exists(const struct s12z_target *t, unsigned n) { return n != C || t->part.full_dbg; }

const char *s12z_comparator_names(unsigned set, char buf[16])
{
    size_t len = 0;
    buf[0] = 0;
    for (unsigned n = 0; n < S12Z_COMPARATORS; n++)
        if (set >> n & 1)
            len += (size_t)snprintf(buf + len, 16 - len, "%s%c", len ? ", " : "", (char)('A' + n));
    return buf;
}

static bool is_watch(const struct s12z_hard *h) { return h->kind != BP_SOFT && h->kind != BP_HARD; }
static bool needs_pair(const struct s12z_hard *h)
{
    return is_watch(h) && h->len > 1 && !h->has_data;
}

/* The first of `order` that is free in *taken; -1 if none. Pairs take two. */
static int take(const struct s12z_target *t, const uint8_t *order, size_t n, bool pair,
                unsigned *taken)
{
    for (size_t k = 0; k < n; k++) {
        unsigned first = order[k], mask = pair ? 3u << first : 1u << first;
        if (*taken & mask || !exists(t, first) || (pair && !exists(t, first + 1)))
            continue;
        *taken |= mask;
        return (int)first;
    }
    return -1;
}

/* Deals the comparators the profile leaves to everything in hard[]: pairs first, then values, which
 * only A and C compare, then the rest, code last to take those. Nothing is changed if they do not
 * suffice. */
static bool deal(struct s12z_target *t)
{
    static const uint8_t pairs[] = { C, A }, data[] = { C, A }, any[] = { B, D, A, C };
    int first[S12Z_COMPARATORS];
    unsigned taken = t->dbg.has_profile ? t->dbg.profile.comparators : 0;
    for (int round = 0; round < 3; round++)
        for (size_t k = 0; k < S12Z_COMPARATORS; k++) {
            const struct s12z_hard *h = &t->breaks.hard[k];
            int turn = needs_pair(h) ? 0 : h->has_data ? 1 : 2;
            if (!h->used || turn != round)
                continue;
            first[k] = round == 0   ? take(t, pairs, ARRAY_LEN(pairs), true, &taken)
                       : round == 1 ? take(t, data, ARRAY_LEN(data), false, &taken)
                                    : take(t, any, ARRAY_LEN(any), false, &taken);
            if (first[k] < 0)
                return false;
        }
    for (size_t k = 0; k < S12Z_COMPARATORS; k++)
        if (t->breaks.hard[k].used) {
            t->breaks.hard[k].first = (unsigned)first[k];
            t->breaks.hard[k].pair = needs_pair(&t->breaks.hard[k]);
        }
    return true;
}

static unsigned held_by_debugger(const struct s12z_target *t)
{
    unsigned set = 0;
    for (size_t k = 0; k < S12Z_COMPARATORS; k++)
        if (t->breaks.hard[k].used)
            set |= (t->breaks.hard[k].pair ? 3u : 1u) << t->breaks.hard[k].first;
    return set;
}

static int used_up(const struct s12z_target *t, bool pair, struct err *err)
{
    char own[16], profiles[16], held[64] = "";
    unsigned set = t->dbg.has_profile ? t->dbg.profile.comparators : 0;
    if (set)
        snprintf(held, sizeof held, "; the profile holds %s", s12z_comparator_names(set, profiles));
    return err_set(err, ERR_RESOURCE,
                   pair ? "delete a breakpoint; a single byte takes one comparator, monitor "
                          "watchdata makes a word take one"
                        : "delete one; breakpoints in RAM need none",
                   "%s of the DBG module is left: breakpoints and watchpoints hold %s%s",
                   pair ? "no pair of comparators" : "no comparator",
                   held_by_debugger(t) ? s12z_comparator_names(held_by_debugger(t), own) : "none",
                   held);
}

const struct s12z_hard *s12z_hard_hit(const struct s12z_target *t, uint8_t efr)
{
    for (size_t k = S12Z_COMPARATORS; k-- > 0;) {
        const struct s12z_hard *h = &t->breaks.hard[k];
        if (h->used && efr & ((h->pair ? 3u : 1u) << h->first))
            return h;
    }
    return NULL;
}

bool s12z_watches(const struct s12z_target *t)
{
    bool any = false;
    for (size_t k = 0; k < S12Z_COMPARATORS; k++)
        any = any || (t->breaks.hard[k].used && is_watch(&t->breaks.hard[k]));
    return any;
}

/* As the comparator would: an access of its own size, with this value in it. The value is what
 * memory holds after the instruction. */
static bool value_fits(struct s12z_target *t, const struct s12z_hard *h, uint32_t addr,
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

const struct s12z_hard *s12z_watch_meets(struct s12z_target *t, uint32_t addr, unsigned bytes,
                                         bool read, bool write)
{
    for (size_t k = 0; k < S12Z_COMPARATORS; k++) {
        const struct s12z_hard *h = &t->breaks.hard[k];
        bool kind = h->kind == BP_WATCH_ACCESS || (h->kind == BP_WATCH_WRITE ? write : read);
        if (h->used && is_watch(h) && kind && addr < h->addr + h->len && h->addr < addr + bytes &&
            value_fits(t, h, addr, bytes))
            return h;
    }
    return NULL;
}

const struct s12z_hard *s12z_code_break_at(const struct s12z_target *t, uint32_t addr)
{
    for (size_t k = 0; k < S12Z_COMPARATORS; k++)
        if (t->breaks.hard[k].used && !is_watch(&t->breaks.hard[k]) &&
            t->breaks.hard[k].addr == addr)
            return &t->breaks.hard[k];
    return NULL;
}

/* ---- the module's registers ---- */

static uint8_t *at(uint8_t *image, unsigned reg) { return image + (reg - S12Z_DBGC1); }

static void put_comparator(uint8_t *image, unsigned n, const struct s12z_comparator *c)
{
    uint8_t *r = at(image, S12Z_DBGACTL + n * S12Z_COMPARATOR_STEP);
    r[0] = c->ctl;
    r[S12Z_COMPARATOR_ADDRESS] = (uint8_t)(c->addr >> 16);
    put_be16(r + S12Z_COMPARATOR_ADDRESS + 1, (uint16_t)c->addr);
    if (n & 1)
        return;
    memcpy(r + S12Z_COMPARATOR_DATA, c->data, 4);
    memcpy(r + S12Z_COMPARATOR_MASK, c->mask, 4);
}

/* How many of the value's bytes lie before the next multiple of four, if not all do: accesses are
 * compared per aligned long. */
unsigned s12z_watch_split(uint32_t addr, unsigned len)
{
    unsigned room = 4 - (addr & 3);
    return len > room ? room : 0;
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
    static const uint8_t watch[] = {
        [BP_WATCH_WRITE] = CTL(RWE), [BP_WATCH_READ] = CTL(RWE) | CTL(RW), [BP_WATCH_ACCESS] = 0
    };
    struct s12z_comparator c = {
        .ctl = (uint8_t)(CTL(COMPE) | (is_watch(h) ? watch[h->kind] : CTL(INST))), .addr = h->addr
    };
    put_data(h, &c);
    put_comparator(image, h->first, &c);
    /* in every state of the sequencer a match is Final State; a pair answers as its first */
    for (unsigned s = 0; s < 3; s++)
        *at(image, S12Z_DBGSCR1 + s) |= (uint8_t)(S12Z_SCR_FINAL << (2 * h->first));
    if (!h->pair)
        return;
    c = (struct s12z_comparator){ .ctl = CTL(COMPE), .addr = h->addr + h->len - 1 };
    put_comparator(image, h->first + 1, &c);
    *at(image, S12Z_DBGC2) |= (uint8_t)(S12Z_RANGE_INSIDE << h->first);
}

static void compose(const struct s12z_target *t, uint8_t *image)
{
    bool breaks = held_by_debugger(t) != 0;
    memset(image, 0, S12Z_DBG_BYTES);
    if (t->dbg.has_profile) {
        const struct s12z_dbg_profile *p = &t->dbg.profile;
        *at(image, S12Z_DBGTCRH) = p->tcrh;
        *at(image, S12Z_DBGTCRL) = p->tcrl;
        *at(image, S12Z_DBGC2) = p->range;
        memcpy(at(image, S12Z_DBGSCR1), p->scr, 3);
        for (unsigned n = 0; n < S12Z_COMPARATORS; n++)
            if (p->comparators >> n & 1)
                put_comparator(image, n, &p->comparator[n]);
        breaks = breaks || p->halt_on_overflow;
    }
    for (size_t k = 0; k < S12Z_COMPARATORS; k++)
        if (t->breaks.hard[k].used)
            put_hard(image, &t->breaks.hard[k]);
    *at(image, S12Z_DBGC1) = (uint8_t)(C1(ARM) | (breaks ? C1(BRKCPU) | C1(BDMBP) : 0));
}

/* Registers that take what is written: not the buffer port, the counter, the flags. */
static bool settable(const struct s12z_target *t, unsigned off)
{
    unsigned reg = S12Z_DBGC1 + off, n = (reg - S12Z_DBGACTL) / S12Z_COMPARATOR_STEP,
             field = reg % S12Z_COMPARATOR_STEP;
    if (reg < S12Z_DBGACTL)
        return reg == S12Z_DBGC2 || (reg >= S12Z_DBGSCR1 && reg <= S12Z_DBGSCR3) ||
               (t->part.full_dbg && (reg == S12Z_DBGTCRH || reg == S12Z_DBGTCRL));
    return n < S12Z_COMPARATORS && exists(t, n) &&
           (field == 0 || (field >= S12Z_COMPARATOR_ADDRESS && field < S12Z_COMPARATOR_DATA) ||
            (field >= S12Z_COMPARATOR_DATA && !(n & 1)));
}

static int write_module(struct s12z_target *t, const uint8_t *image, struct err *err)
{
    for (unsigned off = 1; off < S12Z_DBG_BYTES;) {
        unsigned n = 0;
        while (off + n < S12Z_DBG_BYTES && settable(t, off + n) &&
               (!t->dbg.have_valid || image[off + n] != t->dbg.have[off + n]))
            n++;
        int ret = n ? s12z_write_raw(t, S12Z_DBGC1 + off, 1, image + off, n, err) : 0;
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
    return t->dbg.has_profile || held_by_debugger(t);
}

int s12z_dbg_arm(struct s12z_target *t, struct err *err)
{
    uint8_t image[S12Z_DBG_BYTES];
    if (t->dbg.armed || !s12z_dbg_wanted(t))
        return 0;
    compose(t, image);
    int ret = write_module(t, image, err);
    if (ret == 0)
        ret = s12z_poke8(t, S12Z_DBGC1, image[0], err);
    t->dbg.armed = ret == 0;
    t->dbg.efr_seen = 0;
    return ret;
}

/* Lines that wait to be sent keep the registers locked, for 64 lines of 128 bus clocks at most. */
static int wait_sent(struct s12z_target *t, struct err *err)
{
    uint64_t since = s12z_now(t);
    uint8_t sr = 0;
    for (;;) {
        int ret = s12z_peek8(t, S12Z_DBGSR, &sr, err);
        if (ret < 0 || !REG_GET(sr, S12Z_DBGSR_PTACT))
            return ret;
        if (s12z_now(t) - since > PTACT_LIMIT_NS)
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
            ret = wait_sent(t, err);
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

void s12z_dbg_unknown(struct s12z_target *t)
{
    t->dbg.armed = t->dbg.have_valid = false;
    t->dbg.efr_seen = 0;
}

int s12z_dbg_forget(struct s12z_target *t, struct err *err)
{
    uint8_t c1;
    t->dbg.armed = t->dbg.have_valid = false;
    int ret = s12z_peek8(t, S12Z_DBGC1, &c1, err);
    if (ret < 0 || !REG_GET(c1, S12Z_DBGC1_ARM))
        return ret;
    ret = s12z_poke8(t, S12Z_DBGC1, 0, err); /* a session that was lost left it armed */
    return ret < 0 ? ret : wait_sent(t, err);
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
    if (begin && held_by_debugger(t))
        return err_set(
            err, ERR_RESOURCE, "delete them, or profile without a start point",
            "a profile with a start point leaves no comparator working, and breakpoints hold %s",
            s12z_comparator_names(held_by_debugger(t), names));
    t->dbg.has_profile = p != NULL;
    if (p)
        t->dbg.profile = *p;
    if (!deal(t)) {
        t->dbg.profile = old;
        t->dbg.has_profile = had;
        return err_set(err, ERR_RESOURCE,
                       "delete breakpoints, or profile without start and stop points",
                       "the profile needs comparators %s, and breakpoints hold %s",
                       s12z_comparator_names(p->comparators, names), "the rest");
    }
    return s12z_dbg_disarm(t, NULL, err);
}

/* hard[] has changed: the module follows, at once if the program runs. */
static int follow(struct s12z_target *t, struct err *err)
{
    if (s12z_state(t) != TARGET_RUNNING)
        return s12z_dbg_disarm(t, NULL, err); /* armed again when it goes on */
    int ret = s12z_dbg_disarm(t, NULL, err);
    return ret < 0 ? ret : s12z_dbg_arm(t, err);
}

/* ---- BGND in RAM ---- */

struct s12z_patch *s12z_patch_at(struct s12z_target *t, uint32_t addr)
{
    for (size_t k = 0; k < t->breaks.npatches; k++)
        if (t->breaks.patch[k].addr == addr)
            return &t->breaks.patch[k];
    return NULL;
}

int s12z_patch_set(struct s12z_target *t, struct s12z_patch *p, bool in_memory, struct err *err)
{
    static const uint8_t bgnd = OPCODE_BGND;
    if (p->in_memory == in_memory)
        return 0;
    int ret = s12z_write_raw(t, p->addr, 1, in_memory ? &bgnd : &p->orig, 1, err);
    if (ret == 0)
        p->in_memory = in_memory;
    return ret;
}

int s12z_patches_write(struct s12z_target *t, struct err *err)
{
    int ret = 0;
    for (size_t k = 0; ret == 0 && k < t->breaks.npatches; k++)
        ret = s12z_patch_set(t, &t->breaks.patch[k], true, err);
    return ret;
}

void s12z_patches_gone(struct s12z_target *t)
{
    for (size_t k = 0; k < t->breaks.npatches; k++)
        t->breaks.patch[k].in_memory = false;
}

static int insert_patch(struct s12z_target *t, uint32_t addr, struct err *err)
{
    struct s12z_patch *p = s12z_patch_at(t, addr);
    if (p)
        return s12z_patch_set(t, p, true, err);
    if (t->breaks.npatches == S12Z_MAX_SOFT_BREAKS)
        return err_set(err, ERR_RESOURCE, "delete some", "%d breakpoints are set",
                       S12Z_MAX_SOFT_BREAKS);
    p = &t->breaks.patch[t->breaks.npatches];
    *p = (struct s12z_patch){ .addr = addr };
    int ret = s12z_read_raw(t, addr, 1, &p->orig, 1, err);
    if (ret == 0)
        ret = s12z_patch_set(t, p, true, err);
    if (ret == 0)
        t->breaks.npatches++;
    return ret;
}

static int remove_patch(struct s12z_target *t, struct s12z_patch *p, struct err *err)
{
    int ret = s12z_patch_set(t, p, false, err);
    if (ret == 0)
        *p = t->breaks.patch[--t->breaks.npatches];
    return ret;
}

/* ---- the interface ---- */

static struct s12z_hard *find_hard(struct s12z_target *t, enum bp_kind kind, uint32_t addr,
                                   unsigned len)
{
    for (size_t k = 0; k < S12Z_COMPARATORS; k++)
        if (t->breaks.hard[k].used && t->breaks.hard[k].kind == kind &&
            t->breaks.hard[k].addr == addr && t->breaks.hard[k].len == len)
            return &t->breaks.hard[k];
    return NULL;
}

static bool takes_data(const struct s12z_hard *h) { return is_watch(h) && h->len <= 4; }

static void give_data(const struct s12z_target *t, struct s12z_hard *h, bool has_data)
{
    h->has_data = has_data;
    h->data = t->breaks.watch_data;
    h->data_mask = t->breaks.watch_mask;
}

static bool data_in_use(const struct s12z_target *t)
{
    for (size_t k = 0; k < S12Z_COMPARATORS; k++)
        if (t->breaks.hard[k].used && t->breaks.hard[k].has_data)
            return true;
    return false;
}

static int insert_hard(struct s12z_target *t, const struct s12z_hard *wanted, struct err *err)
{
    struct s12z_hard *h = NULL;
    if (find_hard(t, wanted->kind, wanted->addr, wanted->len))
        return s12z_state(t) == TARGET_RUNNING ? s12z_dbg_arm(t, err) : 0;
    if (t->dbg.has_profile &&
        REG_GET(t->dbg.profile.tcrh, S12Z_DBGTCRH_TALIGN) == S12Z_TALIGN_BEGIN)
        return err_set(
            err, ERR_RESOURCE,
            "end the profile, or profile without a start point; breakpoints in RAM need none",
            "no comparator works while a profile with a start point is armed");
    if (t->dbg.has_profile && t->dbg.armed && s12z_state(t) == TARGET_RUNNING)
        return err_set(err, ERR_STATE, "halt the target first",
                       "the DBG module is locked while it profiles");
    for (size_t k = 0; k < S12Z_COMPARATORS && !h; k++)
        h = t->breaks.hard[k].used ? NULL : &t->breaks.hard[k];
    if (!h)
        return used_up(t, false, err);
    bool value = t->breaks.watch_has_data && takes_data(wanted) && !data_in_use(t);
    *h = *wanted;
    give_data(t, h, value);
    if (!deal(t)) {
        h->used = false;
        return used_up(t, needs_pair(wanted), err);
    }
    int ret = follow(t, err);
    if (ret < 0)
        h->used = false;
    return ret;
}

static bool is_code(const struct s12z_target *t, uint32_t addr)
{
    return (addr >= S12Z_RAM_START && addr <= t->chip->ram_end) || s12z_in_flash(t, addr);
}

static int need_attached(struct s12z_target *t, const char *what, struct err *err)
{
    return s12z_state(t) == TARGET_RUNNING ? 0 : s12z_need_halted(t, err, what);
}

int s12z_insert_bp(struct target *target, enum bp_kind kind, uint64_t where, unsigned len,
                   struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    uint32_t addr = (uint32_t)where & S12Z_ADDRESS;
    bool code = kind == BP_SOFT || kind == BP_HARD;
    int ret = need_attached(t, "breakpoint", err);
    if (ret < 0)
        return ret;
    if (code && !is_code(t, addr))
        return err_set(err, ERR_FAULT, "code lies in RAM, EEPROM or flash",
                       "breakpoint at %06X: no instruction is executed there", addr);
    if (!code && (len == 0 || len > S12Z_ADDRESS + 1 - addr))
        return err_set(err, ERR_USAGE, "", "a watchpoint of %u bytes at %06X", len, addr);
    if (kind == BP_SOFT && !s12z_in_flash(t, addr))
        return s12z_lost(t, insert_patch(t, addr, err));
    struct s12z_hard h = { .kind = kind, .addr = addr, .len = code ? 1 : len, .used = true };
    return s12z_lost(t, insert_hard(t, &h, err));
}

int s12z_remove_bp(struct target *target, enum bp_kind kind, uint64_t where, unsigned len,
                   struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    uint32_t addr = (uint32_t)where & S12Z_ADDRESS;
    bool code = kind == BP_SOFT || kind == BP_HARD;
    struct s12z_hard *h = find_hard(t, kind, addr, code ? 1 : len);
    struct s12z_patch *p = kind == BP_SOFT ? s12z_patch_at(t, addr) : NULL;
    if (!h && !p)
        return 0;
    int ret = need_attached(t, "breakpoint", err);
    if (ret < 0)
        return ret;
    if (p)
        return s12z_lost(t, remove_patch(t, p, err));
    h->used = false;
    deal(t);
    if (t->dbg.has_profile && s12z_state(t) == TARGET_RUNNING)
        return 0; /* it stays in the module until the profile is armed anew; a hit is passed over */
    return s12z_lost(t, follow(t, err));
}

int s12z_breaks_remove_all(struct s12z_target *t, struct err *err)
{
    int ret = 0;
    while (t->breaks.npatches && ret == 0)
        ret = remove_patch(t, &t->breaks.patch[t->breaks.npatches - 1], err);
    memset(t->breaks.hard, 0, sizeof t->breaks.hard);
    int bad = t->dbg.has_profile ? 0 : s12z_dbg_disarm(t, NULL, err);
    return ret < 0 ? ret : bad;
}

/* ---- values of watchpoints ---- */

int s12z_watch_data(struct s12z_target *t, bool has_data, uint32_t data, uint32_t mask,
                    const struct s12z_hard **which, struct err *err)
{
    struct s12z_hard *h = NULL;
    *which = NULL;
    t->breaks.watch_has_data = has_data;
    t->breaks.watch_data = data;
    t->breaks.watch_mask = mask;
    for (size_t k = 0; k < S12Z_COMPARATORS && !h; k++)
        if (t->breaks.hard[k].used && takes_data(&t->breaks.hard[k]))
            h = &t->breaks.hard[k];
    if (!h)
        return 0;
    struct s12z_hard old = *h;
    give_data(t, h, has_data);
    if (!deal(t)) {
        *h = old;
        t->breaks.watch_has_data = false;
        return err_set(err, ERR_RESOURCE, "delete another breakpoint",
                       "watchdata: comparators A and C, which compare values, are taken");
    }
    *which = h;
    return s12z_lost(t, follow(t, err));
}
