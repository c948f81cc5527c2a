/* Bytes and arrays that grow, and lists through members. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/array.h"
#include "probe/base/buffer.h"
#include "probe/base/list.h"

static void buffer__many_pieces__all_of_them_in_order(void **state)
{
    struct buffer b = { 0 };
    struct text_sink sink = buffer_sink(&b);
    (void)state;
    buffer_add(&b, NULL, 0);
    assert_null(b.data);
    for (size_t i = 0; i < 1000; i++) {
        const char piece[3] = { (char)i, (char)(i >> 8), 'x' };
        if (i % 2)
            buffer_add(&b, piece, sizeof piece);
        else
            sink.write(sink.ctx, piece, sizeof piece);
    }
    assert_false(b.failed);
    assert_int_equal(b.size, 3000);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal((unsigned char)b.data[3 * i], i & 0xFF);
        assert_int_equal((unsigned char)b.data[3 * i + 1], i >> 8);
        assert_int_equal(b.data[3 * i + 2], 'x');
    }
    buffer_fini(&b);
    assert_null(b.data);
    assert_int_equal(b.size, 0);
}

static void buffer__more_than_it_may_hold__failed_from_then_on(void **state)
{
    struct buffer b = { .most = 10 };
    (void)state;
    buffer_add(&b, "0123456789", 10);
    assert_false(b.failed);
    buffer_add(&b, "x", 1);
    assert_true(b.failed);
    assert_int_equal(b.size, 10);
    b.size = 5; /* room again: but what was lost is lost */
    buffer_add(&b, "x", 1);
    assert_int_equal(b.size, 5);
    buffer_fini(&b);
    assert_false(b.failed);
    buffer_add(&b, "0123456789a", 11);
    assert_true(b.failed);
    buffer_fini(&b);
}

static void array__one_more_each_time__items_stay(void **state)
{
    struct triple {
        uint16_t a, b, c;
    } *item = NULL;
    size_t cap = 0, moves = 0;
    (void)state;
    for (size_t n = 0; n < 1000; n++) {
        size_t before = cap;
        assert_true(array_room(&item, n, &cap, sizeof *item));
        assert_true(cap > n);
        moves += cap != before;
        item[n] = (struct triple){ (uint16_t)n, (uint16_t)(n + 1), (uint16_t)(n + 2) };
    }
    for (size_t n = 0; n < 1000; n++)
        assert_int_equal(item[n].b, n + 1);
    assert_true(moves < 12);
    free(item);
}

struct item {
    struct item *next, **at;
};

static void list__added_and_removed_in_any_order__the_rest_in_order(void **state)
{
    struct item *first = NULL, one, two, three;
    (void)state;
    LIST_ADD(&first, &one);
    LIST_ADD(&first, &two);
    LIST_ADD(&first, &three);
    LIST_REMOVE(&two); /* from the middle */
    assert_ptr_equal(first, &three);
    assert_ptr_equal(three.next, &one);
    LIST_REMOVE(&three); /* the first */
    assert_ptr_equal(first, &one);
    LIST_ADD(&first, &two);
    LIST_REMOVE(&one); /* the last */
    assert_ptr_equal(first, &two);
    assert_null(two.next);
    LIST_REMOVE(&two);
    assert_null(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffer__many_pieces__all_of_them_in_order),
        cmocka_unit_test(buffer__more_than_it_may_hold__failed_from_then_on),
        cmocka_unit_test(array__one_more_each_time__items_stay),
        cmocka_unit_test(list__added_and_removed_in_any_order__the_rest_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
