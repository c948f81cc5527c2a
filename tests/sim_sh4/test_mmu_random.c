/* The MMU against a naive one: random TLB contents and control writes, then random accesses. The
 * reference looks every access up in plain tables, remembers nothing, and keeps the ITLB's order of
 * use as a list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/sim/sh4/mmu.h"
#include "targets/sh4/isa/regs.h"

struct entry {
    uint32_t vpn, ppn, size; /* size of the page in bytes */
    unsigned asid, pr;
    bool v, sh, c, d, wt;
};
struct ref {
    struct entry utlb[64], itlb[4];
    unsigned oldest[4]; /* ITLB entries, least recently used first */
    unsigned urc, urb, asid;
    bool at, sv, sqmd;
};
struct answer {
    uint32_t paddr;
    unsigned fault;
    bool c, wt, itlb_miss, utlb_miss;
};

static uint32_t next_random(uint64_t *s)
{
    uint64_t z = *s += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)(z >> 32);
}

/* ---- the reference ---- */

static bool entry_hits(const struct ref *f, const struct entry *e, uint32_t va, bool user)
{
    bool page = e->v && va / e->size == e->vpn / e->size;
    return page && (e->sh || (f->sv && !user) || e->asid == f->asid);
}

/* How many entries hit; *which: the last of them. */
static unsigned search_tlb(const struct ref *f, const struct entry *tlb, unsigned n, uint32_t va,
                           bool user, unsigned *which)
{
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++)
        if (entry_hits(f, &tlb[i], va, user)) {
            *which = i;
            count++;
        }
    return count;
}

static void mark_used(struct ref *f, unsigned entry)
{
    unsigned at = 0;
    while (f->oldest[at] != entry)
        at++;
    for (; at < 3; at++)
        f->oldest[at] = f->oldest[at + 1];
    f->oldest[3] = entry;
}

static void utlb_accessed(struct ref *f)
{
    f->urc = f->urc == 63 || (f->urb && f->urc + 1 == f->urb) ? 0 : f->urc + 1;
}

static const struct entry *find_entry(struct ref *f, uint32_t va, enum sh4_access access, bool user,
                                      struct answer *a)
{
    unsigned u = 0, i = 0, n;
    if (access != SH4_ACCESS_FETCH) {
        utlb_accessed(f);
        n = search_tlb(f, f->utlb, 64, va, user, &u);
        a->fault = n > 1 ? 0x140 : n == 1 ? 0 : access == SH4_ACCESS_WRITE ? 0x060 : 0x040;
        a->utlb_miss = n == 0;
        return n == 1 ? &f->utlb[u] : NULL;
    }
    n = search_tlb(f, f->itlb, 4, va, user, &i);
    if (n == 0) {
        a->itlb_miss = true;
        utlb_accessed(f);
        n = search_tlb(f, f->utlb, 64, va, user, &u);
        a->utlb_miss = n == 0;
        if (n == 1) {
            i = f->oldest[0];
            f->itlb[i] = f->utlb[u];
        }
    }
    a->fault = n > 1 ? 0x140 : n == 0 ? 0x040 : 0;
    if (n != 1)
        return NULL;
    mark_used(f, i);
    return &f->itlb[i];
}

/* Protection key: bit 1 user may, bit 0 may be written. */
static unsigned judge_access(const struct entry *e, enum sh4_access access, bool user)
{
    bool write = access == SH4_ACCESS_WRITE;
    if (user && e->pr < 2)
        return write ? 0x0C0 : 0x0A0;
    if (write && !(e->pr & 1))
        return 0x0C0;
    return write && !e->d ? 0x080 : 0;
}

static struct answer ref_translate(struct ref *f, uint32_t va, enum sh4_access access, bool user)
{
    struct answer a = { .paddr = va % 0x20000000 };
    bool queue = va >= 0xE0000000 && va < 0xE4000000, p4 = va >= 0xE0000000, p1 = va >> 29 == 4,
         p2 = va >> 29 == 5;
    if (user && va >= 0x80000000 && (!queue || f->sqmd)) {
        a.fault = access == SH4_ACCESS_WRITE ? 0x100 : 0x0E0;
        return a;
    }
    a.c = !p2 && !p4;
    if (!f->at || p1 || p2 || (p4 && !queue))
        return a;
    const struct entry *e = find_entry(f, va, access, user, &a);
    if (!e)
        return a;
    a.fault = judge_access(e, access, user);
    a.paddr = e->ppn / e->size * e->size + va % e->size;
    a.c = e->c;
    a.wt = e->wt;
    return a;
}

/* ---- random pages and control writes, to both ---- */

struct pair {
    struct ref f;
    struct sh4_ccn ccn;
    struct sh4_mmu mmu;
    uint64_t seed;
};

static const uint32_t sizes[4] = { 0x400, 0x1000, 0x10000, 0x100000 };

/* Few addresses, so that pages meet: in P0, P3 and where the store queues are. */
static uint32_t draw_address(uint64_t *s)
{
    static const uint32_t area[] = { 0x00400000, 0x00400000, 0x00400000, 0xC0000000, 0x7C000000,
                                     0xE0000000, 0x8C000000, 0xA0000000, 0xFF000000 };
    uint32_t v = next_random(s);
    return area[v % ARRAY_LEN(area)] + (next_random(s) & (v & 0x1000000 ? 0x3FFFFF : 0x3FFF));
}

static uint32_t draw_page(uint64_t *s, struct entry *e)
{
    uint32_t v = next_random(s), vpn = draw_address(s) & ~0x3FFu, ppn = next_random(s) & 0x1FFFFC00;
    unsigned sz = v & 3;
    *e = (struct entry){ vpn,
                         ppn,
                         sizes[sz],
                         (v >> 8 & 1) + 5,
                         v >> 4 & 3,
                         (v >> 16 & 7) != 0,
                         (v >> 20 & 7) == 0,
                         v >> 24 & 1,
                         v >> 25 & 1,
                         v >> 26 & 1 };
    return ppn | e->v << 8 | (sz >> 1) << 7 | e->pr << 5 | (sz & 1) << 4 | e->c << 3 | e->d << 2 |
           e->sh << 1 | e->wt;
}

static void write_mmucr(struct pair *p)
{
    struct ref *f = &p->f;
    uint32_t v = next_random(&p->seed);
    uint32_t lrui = REG_GET(p->ccn.mmucr, SH4_MMUCR_LRUI); /* written back as it was */
    bool ti = v % 16 == 0;
    f->at = v >> 8 & 7;
    f->sv = v >> 12 & 1;
    f->sqmd = v >> 13 & 1;
    f->urc = v >> 16 & 63;
    f->urb = v >> 24 & 3 ? 0 : v >> 26 & 63;
    for (unsigned i = 0; ti && i < 64; i++)
        f->utlb[i].v = false;
    for (unsigned i = 0; ti && i < 4; i++)
        f->itlb[i].v = false;
    sh4_mmu_write_mmucr(&p->mmu, REG_PUT(lrui, SH4_MMUCR_LRUI) | REG_PUT(f->urb, SH4_MMUCR_URB) |
                                     REG_PUT(f->urc, SH4_MMUCR_URC) |
                                     REG_PUT(f->sqmd, SH4_MMUCR_SQMD) |
                                     REG_PUT(f->sv, SH4_MMUCR_SV) | REG_PUT(ti, SH4_MMUCR_TI) |
                                     REG_PUT(f->at, SH4_MMUCR_AT));
}

static void set_asid(struct pair *p, unsigned asid)
{
    p->f.asid = asid;
    p->ccn.pteh = asid;
    sh4_mmu_changed(&p->mmu);
}

static void load_tlb(struct pair *p)
{
    struct entry e;
    uint32_t ptel = draw_page(&p->seed, &e), was = p->f.asid;
    p->ccn.pteh = e.vpn | e.asid;
    p->ccn.ptel = ptel;
    sh4_mmu_ldtlb(&p->mmu);
    p->f.utlb[p->f.urc] = e;
    set_asid(p, was);
}

static void write_arrays(struct pair *p)
{
    struct entry e;
    uint32_t data = draw_page(&p->seed, &e);
    unsigned u = next_random(&p->seed) & 63, i = next_random(&p->seed) & 3;
    if (next_random(&p->seed) & 1) {
        p->f.utlb[u] = e;
        sh4_mmu_array_write(&p->mmu, 0xF7000000 | u << 8, data, false);
        sh4_mmu_array_write(&p->mmu, 0xF6000000 | u << 8, e.vpn | e.d << 9 | e.v << 8 | e.asid,
                            false);
        return;
    }
    p->f.itlb[i] = e;
    p->f.itlb[i].d = p->f.itlb[i].wt = false;
    sh4_mmu_array_write(&p->mmu, 0xF3000000 | i << 8, data, false);
    sh4_mmu_array_write(&p->mmu, 0xF2000000 | i << 8, e.vpn | e.v << 8 | e.asid, false);
}

static void associative_write(struct pair *p)
{
    struct ref *f = &p->f;
    uint32_t va = draw_address(&p->seed) & ~0x3FFu, flags = next_random(&p->seed);
    bool v = flags & 1, d = flags & 2;
    unsigned u = 0, i = 0, nu = search_tlb(f, f->utlb, 64, va, false, &u),
             ni = search_tlb(f, f->itlb, 4, va, false, &i);
    uint16_t fault = sh4_mmu_array_write(&p->mmu, 0xF6000080, va | d << 9 | v << 8, false);
    assert_int_equal(fault, nu > 1 || ni > 1 ? 0x140 : 0);
    if (fault)
        return;
    if (nu)
        f->utlb[u].v = v, f->utlb[u].d = d;
    if (ni)
        f->itlb[i].v = v;
}

static void one_access(struct pair *p, unsigned seen[16])
{
    uint32_t va = draw_address(&p->seed);
    bool user = next_random(&p->seed) & 1;
    enum sh4_access access = (enum sh4_access)(next_random(&p->seed) % 3);
    /* what is remembered must not differ */
    for (unsigned again = 0; again < 1 + next_random(&p->seed) % 3; again++) {
        struct sh4_xlat x;
        struct answer a = ref_translate(&p->f, va, access, user);
        sh4_mmu_translate(&p->mmu, va, access, user, &x);
        seen[a.fault >> 5 & 15]++;
        if (x.fault != a.fault || x.utlb_miss != a.utlb_miss || x.itlb_miss != a.itlb_miss)
            fail_msg("%08x access %d user %d: fault %03x, reference %03x", va, access, user,
                     x.fault, a.fault);
        if (!a.fault && (x.paddr != a.paddr || x.cacheable != a.c ||
                         (access != SH4_ACCESS_FETCH && x.write_through != a.wt)))
            fail_msg("%08x access %d user %d: %08x, reference %08x", va, access, user, x.paddr,
                     a.paddr);
        assert_int_equal(REG_GET(p->ccn.mmucr, SH4_MMUCR_URC), p->f.urc);
        va ^= next_random(&p->seed) & 0xFF;
    }
}

static void random__tables_and_accesses__as_the_naive_translator(void **state)
{
    struct pair p = { .seed = 20000101 };
    unsigned seen[16] = { 0 };
    (void)state;
    sh4_mmu_init(&p.mmu, &p.ccn);
    for (unsigned i = 0; i < 64; i++)
        p.f.utlb[i].size = 0x400;
    for (unsigned i = 0; i < 4; i++) {
        p.f.itlb[i].size = 0x400;
        p.f.oldest[i] = 3 - i; /* LRUI = 0 */
    }
    for (unsigned step = 0; step < 300000; step++) {
        switch (next_random(&p.seed) % 40) {
        case 0: write_mmucr(&p); break;
        case 1: set_asid(&p, 5 + (next_random(&p.seed) & 1)); break;
        case 2: load_tlb(&p); break;
        case 3: write_arrays(&p); break;
        case 4: associative_write(&p); break;
        default: one_access(&p, seen); break;
        }
    }
    static const unsigned faults[] = { 0, 0x040, 0x060, 0x080, 0x0A0, 0x0C0, 0x0E0, 0x100, 0x140 };
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        print_message("  %03x: %u times\n", faults[i], seen[faults[i] >> 5]);
        assert_true(seen[faults[i] >> 5] > 500);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random__tables_and_accesses__as_the_naive_translator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
