/* Breakpoints: BGND in RAM, comparators of the DBG module elsewhere. Source: ZVHL p.191-226, HDR.
 */
#include <string.h>

#include "targets/s12z/driver/driver.h"

enum { OPCODE_BGND = 0x00 };

/* hard[] has changed: updates the module, at once if the program runs. */
static int update_module(struct s12z_target *t, struct err *err)
{
    if (s12z_state(t) != TARGET_RUNNING)
        return s12z_dbg_disarm(t, NULL, err); /* armed again when it goes on */
    int ret = s12z_dbg_disarm(t, NULL, err);
    if (ret < 0)
        return ret;
    return s12z_dbg_arm(t, err);
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
    uint8_t opcode = p->orig;
    if (p->in_memory == in_memory)
        return 0;
    if (in_memory)
        opcode = OPCODE_BGND;
    int ret = s12z_write_raw(t, p->addr, 1, &opcode, 1, err);
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
        return err_set(err, ERR_RESOURCE, "delete some", "all %d software breakpoints are used",
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

static bool takes_data(const struct s12z_hard *h) { return s12z_is_watch(h) && h->len <= 4; }

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
    bool running = s12z_state(t) == TARGET_RUNNING;
    bool have = find_hard(t, wanted->kind, wanted->addr, wanted->len) != NULL;
    if (have && running)
        return s12z_dbg_arm(t, err);
    if (have)
        return 0;
    if (t->dbg.has_profile &&
        REG_GET(t->dbg.profile.tcrh, S12Z_DBGTCRH_TALIGN) == S12Z_TALIGN_BEGIN)
        return err_set(
            err, ERR_RESOURCE,
            "end the profile, or profile without a start point; breakpoints in RAM need none",
            "no comparator works while a profile with a start point is armed");
    if (t->dbg.has_profile && t->dbg.armed && running)
        return err_set(err, ERR_STATE, "halt the target first",
                       "the DBG module is locked while it profiles");
    for (size_t k = 0; k < S12Z_COMPARATORS && !h; k++)
        if (!t->breaks.hard[k].used)
            h = &t->breaks.hard[k];
    if (!h)
        return s12z_comparators_used_up(t, false, err);
    bool value = t->breaks.watch_has_data && takes_data(wanted) && !data_in_use(t);
    *h = *wanted;
    give_data(t, h, value);
    if (!s12z_comparators_deal(t)) {
        h->used = false;
        return s12z_comparators_used_up(t, s12z_needs_pair(wanted), err);
    }
    int ret = update_module(t, err);
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
    if (s12z_state(t) == TARGET_RUNNING)
        return 0;
    return s12z_need_halted(t, err, what);
}

static bool is_code_bp(enum bp_kind kind) { return kind == BP_SOFT || kind == BP_HARD; }

/* Bytes to be watched: of an instruction the first, whatever GDB says. */
static unsigned hard_len(enum bp_kind kind, unsigned len)
{
    if (is_code_bp(kind))
        return 1;
    return len;
}

int s12z_insert_bp(struct target *target, enum bp_kind kind, uint64_t where, unsigned len,
                   struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    uint32_t addr = (uint32_t)where & S12Z_ADDRESS;
    bool code = is_code_bp(kind);
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
    struct s12z_hard h = { .kind = kind, .addr = addr, .len = hard_len(kind, len), .used = true };
    return s12z_lost(t, insert_hard(t, &h, err));
}

int s12z_remove_bp(struct target *target, enum bp_kind kind, uint64_t where, unsigned len,
                   struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    uint32_t addr = (uint32_t)where & S12Z_ADDRESS;
    struct s12z_hard *h = find_hard(t, kind, addr, hard_len(kind, len));
    struct s12z_patch *p = NULL;
    if (kind == BP_SOFT)
        p = s12z_patch_at(t, addr);
    if (!h && !p)
        return 0;
    int ret = need_attached(t, "breakpoint", err);
    if (ret < 0)
        return ret;
    if (p)
        return s12z_lost(t, remove_patch(t, p, err));
    h->used = false;
    s12z_comparators_deal(t);
    if (t->dbg.has_profile && s12z_state(t) == TARGET_RUNNING)
        return 0; /* it stays in the module until the profile is armed again; until then hits are
                     passed over */
    return s12z_lost(t, update_module(t, err));
}

int s12z_breaks_remove_all(struct s12z_target *t, struct err *err)
{
    int ret = 0;
    while (t->breaks.npatches && ret == 0)
        ret = remove_patch(t, &t->breaks.patch[t->breaks.npatches - 1], err);
    memset(t->breaks.hard, 0, sizeof t->breaks.hard);
    int bad = 0;
    if (!t->dbg.has_profile)
        bad = s12z_dbg_disarm(t, NULL, err);
    if (ret < 0)
        return ret;
    return bad;
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
    if (!s12z_comparators_deal(t)) {
        *h = old;
        t->breaks.watch_has_data = false;
        return err_set(err, ERR_RESOURCE, "delete another breakpoint",
                       "watchdata: comparators A and C, which compare values, are taken");
    }
    *which = h;
    return s12z_lost(t, update_module(t, err));
}
