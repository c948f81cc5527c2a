/* Programs that copy code of theirs while it is patched, and run the copy: our traps are then where
 * no site is. The agent asks about such a trap. The place it was copied from is found by what
 * stands around the trap, and the program's instructions are put into the copy. The copied place is
 * not patched any more. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

enum {
    AROUND = 1024 /* bytes before and behind the trap that are looked at */,
    NEAR = 4,
    LINE = 32
};
#define P2 0xA0000000u

/* The program has such a TRAPA itself: calls of its system, perhaps (newlib's are). Then none is
 * asked about. */
bool sh4_trace_programs_traps(const struct sh4_trace *tr)
{
    for (size_t i = 0; i < tr->now.image.nsections; i++) {
        const struct image_section *s = &tr->now.section[i];
        for (uint64_t off = 0; s->code && s->data && off + 2 <= s->size; off += 2)
            if (get16(s->data + off, tr->t->base.big_endian) == SH4_TRACE_TRAP &&
                sh4_sites_code(&tr->sites, (uint32_t)(s->addr + off)) & SH4_CODE_INSN)
                return true;
    }
    return false;
}

static int answer_agent(struct sh4_trace *tr, enum sh4_trace_stray what, struct err *err)
{
    uint32_t word = what;
    return sh4_trace_put(tr, sh4_trace_blob.rom + 4 * SH4_TRACE_R_STRAY, &word, 1, err);
}

int sh4_trace_stray_init(struct sh4_trace *tr, struct err *err)
{
    return answer_agent(
        tr, sh4_trace_programs_traps(tr) ? SH4_TRACE_STRAY_NOBODY : SH4_TRACE_STRAY_HOST, err);
}

/* The memory around a trap at `at`, as instructions are fetched from it. */
struct copy {
    uint32_t at, low, high; /* physical; [low, high) is known */
    uint8_t byte[2 * AROUND + LINE];
};

static int read_around(struct sh4_trace *tr, uint32_t around, struct copy *c, struct err *err)
{
    uint32_t words[sizeof c->byte / 4];
    c->low = (c->at - around) & ~(LINE - 1u);
    c->high = ((c->at + around) & ~(LINE - 1u)) + LINE;
    int ret = sh4_agent_sync_caches(tr->t, c->low | 0x80000000, c->high - c->low, err);
    if (ret == 0)
        ret = sh4_agent_try_read(tr->t, c->low | P2, 4, words, (c->high - c->low) / 4, err);
    for (uint32_t i = 0; ret > 0 && i < (c->high - c->low) / 4; i++)
        put32(c->byte + 4 * i, words[i], tr->t->base.big_endian);
    return ret;
}

/* 1: read; 0: nothing is there. */
static int read_copy(struct sh4_trace *tr, struct copy *c, struct err *err)
{
    int ret = read_around(tr, AROUND - LINE, c, err);
    if (ret)
        return ret;
    return read_around(tr, 0, c, err); /* at an end of memory */
}

/* A stretch of the program around patch i, as memory has it. */
struct source {
    uint32_t addr, low, high;
    uint8_t byte[2 * AROUND + LINE];
};

static bool source_of(const struct sh4_trace *tr, size_t i, uint32_t around, struct source *s)
{
    s->addr = tr->plan.patch[i].addr;
    for (size_t k = 0; k < tr->now.image.nsections; k++) {
        const struct image_section *sec = &tr->now.section[k];
        uint32_t off = (s->addr & SH4_PHYS) - ((uint32_t)sec->addr & SH4_PHYS);
        if (!sec->code || !sec->data || off >= sec->size)
            continue;
        uint32_t from = EXCESS(off, around),
                 to = (uint32_t)MIN((uint64_t)off + around, sec->size & ~1ull);
        s->low = (uint32_t)sec->addr + from;
        s->high = (uint32_t)sec->addr + to;
        sh4_trace_expect(tr, s->low, sec->data + from, s->byte, to - from);
        return true;
    }
    return false;
}

static bool are_alike(const struct copy *c, const struct source *s, int32_t off)
{
    uint32_t a = c->at + (uint32_t)off, b = s->addr + (uint32_t)off;
    return a >= c->low && a + 2 <= c->high && b >= s->low && b + 2 <= s->high &&
           memcmp(c->byte + (a - c->low), s->byte + (b - s->low), 2) == 0;
}

/* The run of halfwords around the trap that are the same in both: [*from, *to), against the trap.
 */
static int32_t run_of(const struct copy *c, const struct source *s, int32_t *from, int32_t *to)
{
    for (*from = 0; are_alike(c, s, *from - 2);)
        *from -= 2;
    for (*to = 2; are_alike(c, s, *to);)
        *to += 2;
    return *to - *from;
}

/* The patch the trap was copied from: the one with the longest run. False: none, or two that are as
 * good and stood over different instructions. */
static bool find_source(const struct sh4_trace *tr, const struct copy *c, size_t *best)
{
    int32_t most = 0, from, to;
    bool sure = false;
    for (size_t i = 0; i < tr->plan.npatches; i++) {
        struct source s;
        if (!tr->patches.mark[i].in_memory || !source_of(tr, i, NEAR, &s) ||
            !(are_alike(c, &s, 2) || are_alike(c, &s, -2)))
            continue;
        source_of(tr, i, AROUND, &s);
        int32_t n = run_of(c, &s, &from, &to);
        if (n == most)
            sure &= tr->plan.patch[i].orig == tr->plan.patch[*best].orig;
        if (n <= most)
            continue;
        most = n;
        sure = true;
        *best = i;
    }
    return sure;
}

/* Code that is copied runs elsewhere: traps in it would go along again. Start and stop points stay,
 * and what keeps others from being run with BL=1. */
static int leave_source(struct sh4_trace *tr, size_t i, struct err *err)
{
    struct sh4_site *s =
        (struct sh4_site *)(uintptr_t)sh4_sites_at(&tr->sites, tr->plan.patch[i].addr);
    bool stays = !s || sh4_site_is_sr(s->kind);
    int ret = 0;
    if (!stays)
        ret = sh4_trace_patch(tr, i, false, err);
    if (ret < 0 || stays || tr->patches.mark[i].dead)
        return ret;
    tr->patches.mark[i] = (struct sh4_trace_mark){ .dead = true };
    s->why = SH4_UNTRACED_COPIED;
    return 0;
}

/* Each trap of the run becomes what its source was. */
static int repair_copy(struct sh4_trace *tr, const struct copy *c, size_t best, struct err *err)
{
    struct sh4_trace_half half[AROUND];
    struct source s;
    int32_t from, to;
    size_t n = 0;
    int ret = 0;
    source_of(tr, best, AROUND, &s);
    run_of(c, &s, &from, &to);
    size_t first = sh4_trace_first_in(&tr->plan, s.addr + (uint32_t)from);
    for (size_t i = first; ret == 0 && i < tr->plan.npatches; i++) {
        int32_t off = (int32_t)((tr->plan.patch[i].addr & SH4_PHYS) - (s.addr & SH4_PHYS));
        if (off >= to)
            break;
        if (off < from || !tr->patches.mark[i].in_memory)
            continue;
        half[n++] = (struct sh4_trace_half){ .addr = (c->at + (uint32_t)off) | P2,
                                             .value = tr->plan.patch[i].orig };
        ret = leave_source(tr, i, err);
    }
    if (ret == 0)
        ret = sh4_trace_write_halves(tr->t, half, n, err);
    if (ret == 0)
        ret = sh4_agent_sync_caches(tr->t, c->low | 0x80000000, c->high - c->low, err);
    tr->patches.strays += n;
    return ret;
}

int sh4_trace_stray(struct sh4_trace *tr, struct err *err)
{
    uint32_t asked, spc;
    struct copy c;
    size_t best = 0;
    uint16_t op;
    int ret = sh4_trace_get(tr, sh4_trace_blob.rom + 4 * SH4_TRACE_R_STRAY, &asked, 1, err);
    if (ret < 0 || asked != SH4_TRACE_STRAY_ASKED)
        return ret;
    ret = sh4_trace_get(tr, sh4_trace_blob.ext + 4 * SH4_TRACE_X_SPC, &spc, 1, err);
    if (ret < 0)
        return ret;
    if (sh4_trace_asks_at(tr, spc - 2)) {
        tr->dec.disturbed = SH4_TRACE_DISTURBED;
        ret = sh4_trace_overlays_changed(tr, err);
        if (ret < 0)
            return ret;
        return answer_agent(tr, SH4_TRACE_STRAY_HOST, err);
    }
    c.at = (spc - 2) & SH4_PHYS;
    bool own = tr->request.translated ||
               (sh4_sites_opcode(&tr->sites, spc - 2, &op) && op == SH4_TRACE_TRAP);
    if (own)
        ret = 0;
    else
        ret = read_copy(tr, &c, err);
    bool found = ret > 0 && find_source(tr, &c, &best);
    if (found)
        ret = repair_copy(tr, &c, best, err);
    if (ret < 0)
        return ret;
    tr->dec.disturbed = SH4_TRACE_DISTURBED;
    tr->coverage.next = 0; /* the list of what is not seen has become longer */
    sh4_trace_find_blind(tr);
    sh4_trace_note(tr);
    return answer_agent(tr, found ? SH4_TRACE_STRAY_HOST : SH4_TRACE_STRAY_PROGRAMS, err);
}
