/* Slices of the last events, and a recording in numbered files: what is in them, and their names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/cli/rotation.h"
#include "profiler/cli/slices.h"

struct fixture {
    char folder[32], path[64];
    struct slices slices;
    uint64_t fed;
};

static int set_up_folder(void **state)
{
    struct fixture *fx = test_calloc(1, sizeof *fx);
    *state = fx;
    strcpy(fx->folder, "/tmp/slices.XXXXXX");
    if (!mkdtemp(fx->folder))
        return -1;
    snprintf(fx->path, sizeof fx->path, "%s/s", fx->folder);
    return 0;
}

static int tear_down_folder(void **state)
{
    struct fixture *fx = *state;
    char command[64];
    slices_fini(&fx->slices);
    snprintf(command, sizeof command, "rm -r %s", fx->folder);
    int ret = system(command);
    test_free(fx);
    return ret;
}

/* Events that say their own number. */
static void feed_numbered(struct fixture *fx, size_t n, enum event_kind last)
{
    for (size_t i = 0; i < n; i++) {
        struct event e = { .kind = i + 1 == n ? (uint8_t)last : EVENT_CALL, .pc = fx->fed++ };
        slices_feed(&fx->slices, &e, 1);
    }
}

static char *write_slice(struct fixture *fx, uint64_t now_ns)
{
    static const struct recording_header h = { .target = "sh7750", .max_passes = 3 };
    struct err err = { .code = ERR_OK };
    char *name = test_malloc(SLICE_PATH);
    assert_true(slices_due(&fx->slices, now_ns));
    if (slices_write(&fx->slices, &h, &(struct recording_end){ .lost = 1 }, now_ns, name, &err) < 0)
        fail_msg("%s", err.what);
    return name;
}

/* The file has events [from, to); returns whether it is resumed. */
static bool check_slice(char *name, uint64_t from, uint64_t to)
{
    struct recording *r;
    struct event e;
    assert_int_equal(recording_open(name, &r, NULL), 0);
    bool resumed = recording_header(r)->resumed;
    assert_int_equal(recording_header(r)->max_passes, 0);
    for (uint64_t k = from; k < to; k++) {
        assert_int_equal(recording_read(r, &e, 1, NULL), 1);
        assert_int_equal(e.pc, k);
    }
    assert_int_equal(recording_read(r, &e, 1, NULL), 0);
    assert_null(recording_damage(r));
    recording_close(r);
    test_free(name);
    return resumed;
}

static void slices__on_an_exception__hold_the_last_events(void **state)
{
    struct fixture *fx = *state;
    const uint64_t second = 1000000000;
    assert_int_equal(slices_open(&fx->slices, fx->path, 0, NULL), 0);
    feed_numbered(fx, 1, EVENT_START);
    feed_numbered(fx, 99, EVENT_CALL);
    feed_numbered(fx, 1, EVENT_STOP); /* not asked for */
    assert_false(slices_due(&fx->slices, second));
    feed_numbered(fx, 1, EVENT_START);
    feed_numbered(fx, 1, EVENT_EXCEPTION);
    assert_false(check_slice(write_slice(fx, second), 0, 103));
    assert_false(slices_due(&fx->slices, 10 * second));
    feed_numbered(fx, SLICE_EVENTS - 2,
                  EVENT_LOST); /* the second start is the oldest kept but one */
    assert_false(check_slice(write_slice(fx, 2 * second), fx->fed - SLICE_EVENTS, fx->fed));
    feed_numbered(fx, 5, EVENT_LOST);
    assert_true(check_slice(write_slice(fx, 3 * second), fx->fed - SLICE_EVENTS, fx->fed));
}

static void slices__too_soon_or_too_many__are_counted(void **state)
{
    struct fixture *fx = *state;
    uint64_t at = 1000000000;
    assert_int_equal(slices_open(&fx->slices, fx->path, SLICE_AT_STOP | SLICE_AT_SAVE, NULL), 0);
    slices_save(&fx->slices); /* nothing has come yet */
    assert_false(slices_due(&fx->slices, at));
    feed_numbered(fx, 10, EVENT_STOP);
    test_free(write_slice(fx, at));
    feed_numbered(fx, 10, EVENT_STOP);
    assert_false(slices_due(&fx->slices, at + 999999999));
    assert_int_equal(fx->slices.passed_over, 1);
    while (fx->slices.written < SLICES_MOST) {
        slices_save(&fx->slices);
        test_free(write_slice(fx, at += 1000000000));
    }
    slices_save(&fx->slices);
    assert_false(slices_due(&fx->slices, at + 2000000000));
    assert_int_equal(fx->slices.passed_over, 2);
}

static void slices__names_that_are_taken__are_left_alone(void **state)
{
    struct fixture *fx = *state;
    char other[72];
    snprintf(other, sizeof other, "%s.001", fx->path);
    assert_int_equal(symlink("/nowhere/at/all", other), 0);
    assert_int_equal(slices_open(&fx->slices, fx->path, 0, NULL), 0);
    feed_numbered(fx, 3, EVENT_LOST);
    char *name = write_slice(fx, 1000000000);
    assert_string_equal(name + strlen(name) - 4, ".002");
    check_slice(name, 0, 3);
}

static void make_file(const char *path, const char *suffix)
{
    char name[96];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
}

static void rotation__numbers__go_on_behind_those_that_are_there(void **state)
{
    static const char *const names[] = { ".002",        ".010", ".1000", ".011.part", ".010.part",
                                         ".012.part.1", ".12",  ".abc",  ".013x",     "" };
    struct fixture *fx = *state;
    struct rotation r;
    unsigned *number = NULL;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        make_file(fx->path, names[i]);
    assert_int_equal(rotation_numbers(fx->path, &number, NULL), 4);
    assert_int_equal(number[0], 2);
    assert_int_equal(number[1], 10);
    assert_int_equal(number[2], 11);
    assert_int_equal(number[3], 1000);
    free(number);
    assert_int_equal(rotation_begin(&r, fx->path, 5000, 0, NULL), 0);
    assert_string_equal(r.name + strlen(r.name) - 5, ".1001");
    assert_false(rotation_due(&r, 4999, UINT64_MAX));
    assert_true(rotation_due(&r, 5000, 0));
    assert_int_equal(rotation_begin(&r, fx->path, 0, 100, NULL), 0);
    rotation_file_begun(&r, 7);
    assert_false(rotation_due(&r, UINT64_MAX, 106));
    assert_true(rotation_due(&r, 0, 107));
    assert_int_equal(rotation_next(&r, NULL), 0);
    rotation_file_begun(&r, 300);
    assert_string_equal(r.name + strlen(r.name) - 5, ".1002");
    assert_false(rotation_due(&r, 0, 399));
    assert_true(rotation_due(&r, 0, 400));
    assert_false(rotation_due(&(struct rotation){ .path = NULL }, UINT64_MAX, UINT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slices__on_an_exception__hold_the_last_events,
                                        set_up_folder, tear_down_folder),
        cmocka_unit_test_setup_teardown(slices__too_soon_or_too_many__are_counted, set_up_folder,
                                        tear_down_folder),
        cmocka_unit_test_setup_teardown(slices__names_that_are_taken__are_left_alone, set_up_folder,
                                        tear_down_folder),
        cmocka_unit_test_setup_teardown(rotation__numbers__go_on_behind_those_that_are_there,
                                        set_up_folder, tear_down_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
