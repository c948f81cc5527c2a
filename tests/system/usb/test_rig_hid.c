/* The rig's hidraw nodes: real hidapi on the loop model. Run inside usb_rig --control SOCKET
 * loop-hid. */
#include <hidapi.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

#include "tests/system/usb/rig_tell.h"

enum { VID = 0x1209, PID = 2, REPORT = 64, LONG_MS = 5000 };

static int open_hid(void **state)
{
    *state = hid_open(VID, PID, NULL);
    return *state ? 0 : -1;
}

static int close_hid(void **state)
{
    hid_close(*state);
    return hid_exit();
}

static void send_report(hid_device *h, uint8_t first)
{
    uint8_t out[1 + REPORT] = { 0, first, 2, 3 };
    assert_int_equal(hid_write(h, out, sizeof out), sizeof out);
}

static void device__enumerated__has_its_strings_and_usage(void **state)
{
    struct hid_device_info *all = hid_enumerate(VID, PID);
    (void)state;
    assert_non_null(all);
    assert_int_equal(wcscmp(all->serial_number, L"LOOP0001"), 0);
    assert_int_equal(wcscmp(all->product_string, L"Loop"), 0);
    assert_int_equal(all->usage_page, 0xFF00);
    assert_int_equal(all->interface_number, 0);
    hid_free_enumeration(all);
    hid_exit();
}

static void reports__several_written__come_back_one_by_one(void **state)
{
    hid_device *h = *state;
    uint8_t in[REPORT];
    for (uint8_t i = 0; i < 5; i++)
        send_report(h, i);
    for (uint8_t i = 0; i < 5; i++) {
        assert_int_equal(hid_read_timeout(h, in, sizeof in, LONG_MS), REPORT);
        assert_int_equal(in[0], i);
        assert_int_equal(in[2], 3);
    }
    assert_int_equal(hid_read_timeout(h, in, sizeof in, 100), 0);
    assert_int_equal(hid_set_nonblocking(h, 1), 0);
    assert_int_equal(hid_read(h, in, sizeof in), 0);
}

static void reports__more_than_the_kernel_keeps__newest_are_dropped(void **state)
{
    hid_device *h = *state;
    uint8_t in[REPORT];
    int n = 0;
    for (uint8_t i = 0; i < 80; i++)
        send_report(h, i);
    while (hid_read_timeout(h, in, sizeof in, 300) == REPORT) {
        assert_int_equal(in[0], n);
        n++;
    }
    assert_int_equal(n, 64);
}

static void unplug__opened__errors_until_opened_again(void **state)
{
    hid_device *h = *state;
    uint8_t in[REPORT], out[1 + REPORT] = { 0 };
    assert_int_equal(rig_tell("unplug", NULL, 0), 0);
    assert_int_equal(hid_read_timeout(h, in, sizeof in, LONG_MS), -1);
    assert_int_equal(hid_write(h, out, sizeof out), -1);
    assert_null(hid_open(VID, PID, NULL));
    assert_int_equal(rig_tell("plug", NULL, 0), 0);
    hid_close(h);
    *state = h = hid_open(VID, PID, NULL);
    assert_non_null(h);
    send_report(h, 9);
    assert_int_equal(hid_read_timeout(h, in, sizeof in, LONG_MS), REPORT);
    assert_int_equal(in[0], 9);
}

/* Late answers, halts and repetitions look to a HID program as on a real machine: reports come
 * later, twice or not. */
static void fault__on_the_way_in__next_reports_come(void **state)
{
    static const char *const kinds[] = { "stall", "short", "stale", "timeout" };
    hid_device *h = *state;
    uint8_t in[REPORT];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char line[40];
        print_message("  %s\n", kinds[k]);
        send_report(h, 1);
        assert_int_equal(hid_read_timeout(h, in, sizeof in, LONG_MS), REPORT);
        snprintf(line, sizeof line, "strike %s 2", kinds[k]); /* the write is the first */
        assert_int_equal(rig_tell(line, NULL, 0), 0);
        send_report(h, 2);
        send_report(h, 3);
        int n = 0, last = 0;
        while (last != 3 && hid_read_timeout(h, in, sizeof in, LONG_MS) > 0) {
            last = in[0];
            n++;
        }
        assert_int_equal(last, 3);
        assert_in_range(n, 1, 3);
    }
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_hid, close_hid)
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device__enumerated__has_its_strings_and_usage),
        CASE(reports__several_written__come_back_one_by_one),
        CASE(reports__more_than_the_kernel_keeps__newest_are_dropped),
        CASE(fault__on_the_way_in__next_reports_come),
        CASE(unplug__opened__errors_until_opened_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
