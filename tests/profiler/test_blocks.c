/* Sums of block and branch events, in any order and number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/core/blocks.h"
#include "profiler/profile/profile.h"

static void blocks__overlapping_events__counts_add_up_per_address(void **state)
{
    static const struct event in[] = {
        { .kind = EVENT_BLOCK, .pc = 0x100, .target = 0x120, .amount = 5 },
        { .kind = EVENT_BRANCH, .pc = 0x11E, .c1 = 3, .c2 = 2 },
        /* none of its business */
        { .kind = EVENT_CALL, .pc = 0x50, .target = 0x60, .amount = 9 },
        /* entered in the middle */
        { .kind = EVENT_BLOCK, .pc = 0x110, .target = 0x120, .amount = 2 },
        { .kind = EVENT_BLOCK, .pc = 0x100, .target = 0x120, .amount = 1 },
        { .kind = EVENT_BLOCK, .pc = 0x80, .target = 0x80, .amount = 4 }, /* empty */
        /* as often as the one before, a block of its own */
        { .kind = EVENT_BLOCK, .pc = 0x120, .target = 0x124, .amount = 8 },
        { .kind = EVENT_BRANCH, .pc = 0x10, .c1 = 0, .c2 = 7 },
        { .kind = EVENT_BRANCH, .pc = 0x11E, .c1 = 1, .c2 = 0 },
        { .kind = EVENT_BLOCK, .pc = 0x200, .target = 0x202, .amount = UINT64_C(1) << 40 }
    };
    static const struct block_count blocks[] = { { 0x100, 0x110, 6 },
                                                 { 0x110, 0x120, 8 },
                                                 { 0x120, 0x124, 8 },
                                                 { 0x200, 0x202, UINT64_C(1) << 40 } };
    static const struct branch_count branches[] = { { 0x10, 0, 7 }, { 0x11E, 4, 2 } };
    struct blocks b = { 0 };
    struct block_count *list;
    struct branch_count *blist;
    size_t n;
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(in); k++)
        assert_int_equal(blocks_add(&b, &in[k]), 0);
    assert_int_equal(blocks_list(&b, &list, &n, NULL), 0);
    assert_int_equal(n, ARRAY_LEN(blocks));
    assert_memory_equal(list, blocks, sizeof blocks);
    assert_int_equal(branches_list(&b, &blist, &n, NULL), 0);
    assert_int_equal(n, ARRAY_LEN(branches));
    assert_memory_equal(blist, branches, sizeof branches);
    free(list);
    free(blist);
    blocks_fini(&b);
}

static void blocks__many__all_found_again_and_taken_into_a_profile(void **state)
{
    enum { MANY = 20000 };
    struct blocks b = { 0 };
    struct profile *p;
    (void)state;
    for (unsigned round = 1; round <= 3; round++)
        for (uint32_t k = 0; k < MANY; k++)
            assert_int_equal(blocks_add(&b, &(struct event){ .kind = EVENT_BLOCK,
                                                             .pc = 4 * k,
                                                             .target = 4 * k + 4,
                                                             .amount = round * (k + 1) }),
                             0);
    assert_int_equal(profile_new(&p, NULL), 0);
    assert_int_equal(profile_take_blocks(p, &b, NULL), 0);
    assert_int_equal(p->nblocks, MANY);
    for (uint32_t k = 0; k < MANY; k++) {
        assert_int_equal(p->blocks[k].low, 4 * k);
        assert_int_equal(p->blocks[k].count, 6 * (k + 1));
    }
    profile_free(p);
    blocks_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks__overlapping_events__counts_add_up_per_address),
        cmocka_unit_test(blocks__many__all_found_again_and_taken_into_a_profile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
