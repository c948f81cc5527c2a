/* MMU by itself: matching, sizes, faults, replacement, memory-mapped arrays. Expectations: SH7750
 * manual, section 3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/sim/sh4/mmu.h"
#include "targets/sh4/isa/regs.h"

enum {
    V = 0x100,
    C = 8,
    D = 4,
    SH = 2,
    WT = 1,
    PR_R = 0 << 5,
    PR_RW = 1 << 5,
    PR_UR = 2 << 5,
    PR_URW = 3 << 5
};
enum { K1 = 0x00, K4 = 0x10, K64 = 0x80, M1 = 0x90 };
#define FETCH SH4_ACCESS_FETCH
#define READ  SH4_ACCESS_READ
#define WRITE SH4_ACCESS_WRITE

struct fixture {
    struct sh4_ccn ccn;
    struct sh4_mmu mmu;
};
static int set_up_mmu(void **state)
{
    static struct fixture fx;
    fx = (struct fixture){ 0 };
    sh4_mmu_init(&fx.mmu, &fx.ccn);
    sh4_mmu_write_mmucr(&fx.mmu, REG_MASK(SH4_MMUCR_AT));
    *state = &fx;
    return 0;
}
static void load_entry(struct fixture *fx, unsigned entry, uint32_t pteh, uint32_t ptel)
{
    uint32_t keep = fx->ccn.pteh;
    fx->ccn.mmucr = (fx->ccn.mmucr & ~REG_MASK(SH4_MMUCR_URC)) | REG_PUT(entry, SH4_MMUCR_URC);
    fx->ccn.pteh = pteh;
    fx->ccn.ptel = ptel;
    sh4_mmu_ldtlb(&fx->mmu);
    fx->ccn.pteh = keep;
    sh4_mmu_changed(&fx->mmu);
}
static struct sh4_xlat ask_translation(struct fixture *fx, uint32_t vaddr, enum sh4_access access,
                                       bool user)
{
    struct sh4_xlat x;
    sh4_mmu_translate(&fx->mmu, vaddr, access, user, &x);
    return x;
}

static void translate__faults_by_protection_and_privilege__codes(void **state)
{
    static const struct {
        const char *name;
        uint32_t ptel, vaddr;
        enum sh4_access access;
        bool user;
        uint16_t fault;
    } rows[] = {
        { "miss, read", V | K4 | PR_URW | D, 0x00500000, READ, false, 0x040 },
        { "miss, write", V | K4 | PR_URW | D, 0x00500000, WRITE, false, 0x060 },
        { "miss, fetch", V | K4 | PR_URW | D, 0x00500000, FETCH, false, 0x040 },
        { "invalid entry is a miss", K4 | PR_URW | D, 0x00400010, READ, false, 0x040 },
        { "privileged read-only: read", V | K4 | PR_R | D, 0x00400010, READ, false, 0 },
        { "privileged read-only: write", V | K4 | PR_R | D, 0x00400010, WRITE, false, 0x0C0 },
        { "privileged only: user read", V | K4 | PR_RW | D, 0x00400010, READ, true, 0x0A0 },
        { "privileged only: user write", V | K4 | PR_RW | D, 0x00400010, WRITE, true, 0x0C0 },
        { "privileged only: user fetch", V | K4 | PR_RW | D, 0x00400010, FETCH, true, 0x0A0 },
        { "user read-only: user read", V | K4 | PR_UR | D, 0x00400010, READ, true, 0 },
        { "user read-only: user write", V | K4 | PR_UR | D, 0x00400010, WRITE, true, 0x0C0 },
        { "user read-only: privileged write", V | K4 | PR_UR | D, 0x00400010, WRITE, false, 0x0C0 },
        { "all: user write", V | K4 | PR_URW | D, 0x00400010, WRITE, true, 0 },
        { "not dirty: write", V | K4 | PR_URW, 0x00400010, WRITE, true, 0x080 },
        { "not dirty: read", V | K4 | PR_URW, 0x00400010, READ, true, 0 },
        { "protection before initial write", V | K4 | PR_R, 0x00400010, WRITE, false, 0x0C0 },
        { "user in P1: read", V | K4 | PR_URW | D, 0x80000000, READ, true, 0x0E0 },
        { "user in P2: write", V | K4 | PR_URW | D, 0xA0000000, WRITE, true, 0x100 },
        { "user in P3: fetch", V | K4 | PR_URW | D, 0xC0000000, FETCH, true, 0x0E0 },
        { "user in P4: read", V | K4 | PR_URW | D, 0xFF000000, READ, true, 0x0E0 },
        { "user at a store queue: through the TLB", V | K4 | PR_URW | D, 0xE0000000, WRITE, true,
          0x060 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        set_up_mmu(state);
        struct fixture *fx = *state;
        print_message("  %s\n", rows[i].name);
        load_entry(fx, 5, 0x00400000, 0x0C000000 | rows[i].ptel);
        struct sh4_xlat x = ask_translation(fx, rows[i].vaddr, rows[i].access, rows[i].user);
        assert_int_equal(x.fault, rows[i].fault);
        if (!x.fault)
            assert_int_equal(x.paddr, 0x0C000010);
    }
}

static void translate__page_sizes__offset_and_reach(void **state)
{
    static const struct {
        uint32_t sz, mask;
    } rows[] = { { K1, 0x3FF }, { K4, 0xFFF }, { K64, 0xFFFF }, { M1, 0xFFFFF } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        set_up_mmu(state);
        struct fixture *fx = *state;
        load_entry(fx, 0, 0x40300000, 0x0CA00000 | V | PR_RW | D | C | rows[i].sz);
        struct sh4_xlat x = ask_translation(fx, 0x40300000 + rows[i].mask, READ, false);
        assert_int_equal(x.fault, 0);
        assert_int_equal(x.paddr, 0x0CA00000 + rows[i].mask);
        assert_int_equal(x.page_mask, rows[i].mask);
        assert_true(x.translated && x.cacheable && !x.write_through);
        assert_int_equal(ask_translation(fx, 0x40300000 + rows[i].mask + 1, READ, false).fault,
                         0x040);
        assert_int_equal(ask_translation(fx, 0x40300000, FETCH, false).paddr, 0x0CA00000);
    }
}

static void translate__asid_shared_sv__who_matches(void **state)
{
    static const struct {
        const char *name;
        bool shared, sv, user, hit;
    } rows[] = {
        { "other ASID", false, false, false, false },
        { "shared page", true, false, false, true },
        { "single virtual memory, privileged", false, true, false, true },
        { "single virtual memory, user", false, true, true, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        set_up_mmu(state);
        struct fixture *fx = *state;
        print_message("  %s\n", rows[i].name);
        load_entry(fx, 0, 0x00400000 | 7,
                   0x0C000000 | V | K4 | PR_URW | D | (rows[i].shared ? SH : 0));
        fx->ccn.pteh = 8;
        sh4_mmu_write_mmucr(&fx->mmu,
                            REG_MASK(SH4_MMUCR_AT) | (rows[i].sv ? REG_MASK(SH4_MMUCR_SV) : 0));
        assert_int_equal(ask_translation(fx, 0x00400000, READ, rows[i].user).fault,
                         rows[i].hit ? 0 : 0x040);
        assert_int_equal(ask_translation(fx, 0x00400000, FETCH, rows[i].user).fault,
                         rows[i].hit ? 0 : 0x040);
        fx->ccn.pteh = 7;
        sh4_mmu_changed(&fx->mmu);
        assert_int_equal(ask_translation(fx, 0x00400000, READ, rows[i].user).fault, 0);
    }
}

static void translate__two_entries_match__multiple_hit(void **state)
{
    struct fixture *fx = *state;
    load_entry(fx, 3, 0x00400000, 0x0C000000 | V | K4 | PR_RW | D);
    load_entry(fx, 9, 0x00400000, 0x0C800000 | V | K1 | PR_RW | D);
    assert_int_equal(ask_translation(fx, 0x00400000, READ, false).fault, 0x140);
    assert_int_equal(ask_translation(fx, 0x00400000, FETCH, false).fault, 0x140);
    assert_int_equal(ask_translation(fx, 0x00400400, WRITE, false).fault,
                     0); /* beyond the 1 KB page */
}

static void translate__untranslated_segments__fixed_mapping(void **state)
{
    struct fixture *fx = *state;
    assert_int_equal(ask_translation(fx, 0x8C010000, FETCH, false).paddr, 0x0C010000);
    assert_true(ask_translation(fx, 0x8C010000, READ, false).cacheable);
    assert_int_equal(ask_translation(fx, 0xAC010000, READ, false).paddr, 0x0C010000);
    assert_false(ask_translation(fx, 0xAC010000, READ, false).cacheable);
    sh4_mmu_write_mmucr(&fx->mmu, 0);
    assert_int_equal(ask_translation(fx, 0x0C010000, READ, false).paddr, 0x0C010000);
    assert_int_equal(ask_translation(fx, 0xCC010000, WRITE, false).paddr, 0x0C010000);
    assert_false(ask_translation(fx, 0xCC010000, WRITE, false).translated);
    sh4_mmu_write_mmucr(&fx->mmu, REG_MASK(SH4_MMUCR_SQMD));
    assert_int_equal(ask_translation(fx, 0xE0000000, WRITE, true).fault, 0x100);
}

static void fault__tea_and_pteh__asid_stays(void **state)
{
    struct fixture *fx = *state;
    fx->ccn.pteh = 0x11111042;
    sh4_mmu_fault(&fx->mmu, 0x12345678);
    assert_int_equal(fx->ccn.tea, 0x12345678);
    assert_int_equal(fx->ccn.pteh, 0x12345442);
}

static void itlb__fifth_page__replaces_the_least_recently_used(void **state)
{
    struct fixture *fx = *state;
    for (unsigned i = 0; i < 5; i++)
        load_entry(fx, i, 0x00400000 + (i << 12), 0x0C000000 | i << 12 | V | K4 | PR_RW | D);
    for (unsigned i = 0; i < 4; i++)
        assert_true(ask_translation(fx, 0x00400000 + (i << 12), FETCH, false).itlb_miss);
    assert_false(
        ask_translation(fx, 0x00400000, FETCH, false).itlb_miss); /* 0 is fresh now, 1 the oldest */
    assert_true(ask_translation(fx, 0x00404000, FETCH, false).itlb_miss);
    assert_false(ask_translation(fx, 0x00400000, FETCH, false).itlb_miss);
    assert_false(ask_translation(fx, 0x00402000, FETCH, false).itlb_miss);
    assert_false(ask_translation(fx, 0x00403000, FETCH, false).itlb_miss);
    struct sh4_xlat x = ask_translation(fx, 0x00401000, FETCH, false);
    assert_true(x.itlb_miss && !x.utlb_miss && x.fault == 0);
    assert_true(ask_translation(fx, 0x00450000, FETCH, false).utlb_miss);
}

static void urc__accesses__count_and_start_over_at_urb(void **state)
{
    struct fixture *fx = *state;
    load_entry(fx, 0, 0x00400000, 0x0C000000 | V | K4 | PR_RW | D);
    sh4_mmu_write_mmucr(&fx->mmu, REG_MASK(SH4_MMUCR_AT) | REG_PUT(3, SH4_MMUCR_URB));
    static const unsigned want[] = { 1, 2, 0, 1, 2, 0 };
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        ask_translation(fx, 0x00400000, i & 1 ? READ : WRITE, false);
        assert_int_equal(REG_GET(fx->ccn.mmucr, SH4_MMUCR_URC), want[i]);
    }
    sh4_mmu_write_mmucr(&fx->mmu, REG_MASK(SH4_MMUCR_AT) | REG_PUT(63, SH4_MMUCR_URC));
    ask_translation(fx, 0x00400000, READ, false);
    assert_int_equal(REG_GET(fx->ccn.mmucr, SH4_MMUCR_URC), 0);
}

static void mmucr__ti__invalidates_both_tlbs_and_reads_0(void **state)
{
    struct fixture *fx = *state;
    load_entry(fx, 0, 0x00400000, 0x0C000000 | V | K4 | PR_RW | D);
    assert_int_equal(ask_translation(fx, 0x00400000, FETCH, false).fault, 0);
    sh4_mmu_write_mmucr(&fx->mmu, REG_MASK(SH4_MMUCR_AT) | REG_MASK(SH4_MMUCR_TI));
    assert_int_equal(REG_GET(fx->ccn.mmucr, SH4_MMUCR_TI), 0);
    assert_int_equal(ask_translation(fx, 0x00400000, FETCH, false).fault, 0x040);
    assert_int_equal(ask_translation(fx, 0x00400000, READ, false).fault, 0x040);
}

static void arrays__write_and_read_back__each_field(void **state)
{
    static const struct {
        const char *name;
        uint32_t addr, value, back;
    } rows[] = {
        { "UTLB address", 0xF6000000 | 37 << 8, 0x123457FF, 0x123457FF }, /* VPN, D, V, ASID */
        { "UTLB data 1", 0xF7000000 | 37 << 8, 0xFFFFFFFF, 0x1FFFFDFF },
        { "UTLB data 2", 0xF7800000 | 37 << 8, 0xFFFFFFFF, 0x0000000F },
        { "ITLB address", 0xF2000000 | 2 << 8, 0x123457FF, 0x123455FF },
        /* PR[1] only, no D, no WT */
        { "ITLB data 1", 0xF3000000 | 2 << 8, 0xFFFFFFFF, 0x1FFFFDDA },
        { "ITLB data 2", 0xF3800000 | 2 << 8, 0xFFFFFFFF, 0x0000000F },
    };
    struct fixture *fx = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %s\n", rows[i].name);
        assert_int_equal(sh4_mmu_array_write(&fx->mmu, rows[i].addr, rows[i].value, false), 0);
        assert_int_equal(sh4_mmu_array_read(&fx->mmu, rows[i].addr), rows[i].back);
    }
}

static void arrays__associative_write__sets_v_and_d_where_it_matches(void **state)
{
    struct fixture *fx = *state;
    load_entry(fx, 11, 0x00400000 | 5, 0x0C000000 | V | K64 | PR_RW);
    fx->ccn.pteh = 5;
    sh4_mmu_changed(&fx->mmu);
    assert_int_equal(ask_translation(fx, 0x00408000, FETCH, false).fault,
                     0); /* into the ITLB, too */
    assert_int_equal(ask_translation(fx, 0x00408000, WRITE, false).fault, 0x080);
    assert_int_equal(sh4_mmu_array_write(&fx->mmu, 0xF6000080, 0x00408000 | 0x200 | 0x100, false),
                     0);
    assert_int_equal(ask_translation(fx, 0x00408000, WRITE, false).fault, 0); /* D is set now */
    assert_int_equal(sh4_mmu_array_write(&fx->mmu, 0xF6000080, 0x00408000, false), 0);
    assert_int_equal(ask_translation(fx, 0x00408000, READ, false).fault, 0x040);
    assert_int_equal(ask_translation(fx, 0x00408000, FETCH, false).fault, 0x040);
    /* matches nothing */
    assert_int_equal(sh4_mmu_array_write(&fx->mmu, 0xF6000080, 0x70000000 | 0x100, false), 0);
    load_entry(fx, 20, 0x00400000 | 5, 0x0C000000 | V | K4 | PR_RW);
    load_entry(fx, 21, 0x00400000 | 5, 0x0C000000 | V | K4 | PR_RW);
    assert_int_equal(sh4_mmu_array_write(&fx->mmu, 0xF6000080, 0x00400000, false), 0x140);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, set_up_mmu)
    const struct CMUnitTest tests[] = {
        T(translate__faults_by_protection_and_privilege__codes),
        T(translate__page_sizes__offset_and_reach),
        T(translate__asid_shared_sv__who_matches),
        T(translate__two_entries_match__multiple_hit),
        T(translate__untranslated_segments__fixed_mapping),
        T(fault__tea_and_pteh__asid_stays),
        T(itlb__fifth_page__replaces_the_least_recently_used),
        T(urc__accesses__count_and_start_over_at_urb),
        T(mmucr__ti__invalidates_both_tlbs_and_reads_0),
        T(arrays__write_and_read_back__each_field),
        T(arrays__associative_write__sets_v_and_d_where_it_matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
