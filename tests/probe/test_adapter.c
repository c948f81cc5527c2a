/* Which adapter --probe means. Origin: probe/adapter.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/adapter.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/usb.h"

static void spec_parse__texts__parts(void **state)
{
    static const struct {
        const char *text, *serial, *path, *channel, *options;
    } rows[] = {
        { "", "", "", "", "" },
        { "FT1ABC", "FT1ABC", "", "", "" },
        { "FT1ABC:B", "FT1ABC", "", "B", "" },
        { "FT1ABC:B,layout=jtagkey,tms=5", "FT1ABC", "", "B", "layout=jtagkey,tms=5" },
        { "@1-2.3", "", "1-2.3", "", "" },
        { "@1-2.3:A,x", "", "1-2.3", "A", "x" },
        { ":B", "", "", "B", "" },
        { ",layout=a", "", "", "", "layout=a" },
        { "layout=a,b=c", "", "", "", "layout=a,b=c" },
        { "layout=a:b", "", "", "", "layout=a:b" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct adapter_spec s;
        print_message("  '%s'\n", rows[i].text);
        assert_int_equal(adapter_spec_parse(rows[i].text, &s, NULL), 0);
        assert_string_equal(s.serial, rows[i].serial);
        assert_string_equal(s.bus_path, rows[i].path);
        assert_string_equal(s.channel, rows[i].channel);
        assert_string_equal(s.options, rows[i].options);
    }
}

static void spec_parse__what_does_not_fit__usage_and_untouched(void **state)
{
    char long_serial[200], long_options[400];
    const char *rows[] = { "@",
                           "@:A",
                           "A:channel-that-is-too-long",
                           "@1-2.3.4.5.6.7.8.9.1.2.3.4.5.6.7.8.9",
                           long_serial,
                           long_options };
    (void)state;
    memset(long_serial, 'x', sizeof long_serial);
    memset(long_options, 'y', sizeof long_options);
    long_serial[150] = long_options[399] = 0;
    memcpy(long_options, "a=", 2);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct adapter_spec s = { .serial = "kept" };
        struct err err = { .code = ERR_OK };
        assert_int_equal(adapter_spec_parse(rows[i], &s, &err), -ERR_USAGE);
        assert_string_equal(s.serial, "kept");
        assert_string_not_equal(err.hint, "");
    }
}

static const struct probe_driver ftdi = { .name = "ftdi" }, jlink = { .name = "jlink" },
                                 dap = { .name = "cmsis-dap" }, usbdm = { .name = "usbdm" },
                                 tty = { .name = "serial", .own_spec = true };
enum { FT_A, FT_B, FT_OLD, J1, J2, D1, TTY, UART, TIG_A, TIG_B, POD, ALL };
static const struct adapter found[ALL] = {
    [FT_A] = { .driver = &ftdi,
               .serial = "FT1ABC",
               .bus_path = "1-1",
               .channel = "A",
               .can = ADAPTER_JTAG },
    [FT_B] = { .driver = &ftdi,
               .serial = "FT1ABC",
               .bus_path = "1-1",
               .channel = "B",
               .can = ADAPTER_JTAG },
    [FT_OLD] = { .driver = &ftdi, .bus_path = "1-2.3", .channel = "A", .can = ADAPTER_JTAG },
    [J1] = { .driver = &jlink, .serial = "000123456789", .bus_path = "2-1", .can = ADAPTER_JTAG },
    [J2] = { .driver = &jlink, .serial = "000123456780", .bus_path = "2-2", .can = ADAPTER_JTAG },
    [D1] = { .driver = &dap, .serial = "E66", .bus_path = "3-1", .note = "SWD only" },
    [UART] = { .driver = &ftdi,
               .serial = "U1",
               .bus_path = "4-1",
               .channel = "A",
               .can = ADAPTER_JTAG,
               .doubtful = true },
    [TIG_A] = { .driver = &ftdi,
                .serial = "TG",
                .bus_path = "4-2",
                .channel = "A",
                .note = "its JTAG is on B" },
    [TIG_B] = { .driver = &ftdi,
                .serial = "TG",
                .bus_path = "4-2",
                .channel = "B",
                .can = ADAPTER_JTAG },
    [POD] = { .driver = &usbdm, .serial = "P1", .bus_path = "5-1", .can = ADAPTER_BDC },
    [TTY] = { .driver = &tty, .bus_path = "/dev/ttyS0", .can = ADAPTER_STREAM },
};

/* rows: letters a.. of the table above. */
static struct adapter_list take_rows(const char *rows, struct adapter *to)
{
    size_t n = 0;
    for (; rows[n]; n++)
        to[n] = found[rows[n] - 'a'];
    return (struct adapter_list){ .row = to, .n = n, .cap = n };
}

static void choose__what_is_there_and_what_is_meant__one_or_a_sentence(void **state)
{
    static const struct {
        const char *label, *rows, *driver, *spec;
        int ret;
        const char *what, *hint;
    } rows[] = {
        { "nothing there", "", NULL, "", -ERR_NOT_FOUND, "no adapter found", "plugged in" },
        { "one alone", "d", NULL, "", 0, "", "" },
        { "one alone, two channels: the first", "ab", NULL, "", 0, "", "" },
        { "the other channel", "ab", "ftdi", ":B", 1, "", "" },
        { "a channel it lacks", "ab", "ftdi", ":C", -ERR_NOT_FOUND, "with channel C",
          "its channels: A B" },
        { "a channel where there are none", "d", "jlink", ":B", -ERR_NOT_FOUND, "with channel B",
          "leave :B out" },
        { "a place without its @", "abd", "jlink", "2-1", -ERR_NOT_FOUND, "with serial number 2-1",
          "did you mean jlink:000123456789?" },
        { "another driver's serial number", "abd", "ftdi", "123456789", -ERR_NOT_FOUND,
          "no ftdi adapter found", "did you mean jlink:000123456789?" },
        { "a doubtful one of this driver is shown", "hd", "ftdi", "XY", -ERR_NOT_FOUND,
          "with serial number XY", "ftdi:U1:A, jlink:" },
        { "a serial port is never taken", "dg", NULL, "", 0, "", "" },
        { "only a serial port", "g", NULL, "", -ERR_NOT_FOUND, "no adapter found", "" },
        { "one that cannot serve does not count", "fd", NULL, "", 1, "", "" },
        { "only one that cannot serve", "f", NULL, "", -ERR_NOT_FOUND, "SWD only", "" },
        { "named it is meant", "fd", "cmsis-dap", "E66", 0, "", "" },
        { "two devices", "abd", NULL, "", -ERR_USAGE,
          "2 adapters fit: ftdi:FT1ABC:A, jlink:000123456789", "--probe ftdi:FT1ABC:A" },
        { "two of a driver", "de", "jlink", "", -ERR_USAGE, "2 adapters fit",
          "--probe jlink:000123456789" },
        { "by serial number", "de", "jlink", "000123456780", 1, "", "" },
        { "without its zeros", "de", "jlink", "123456780", 1, "", "" },
        { "unknown serial number", "de", "jlink", "99", -ERR_NOT_FOUND,
          "no jlink adapter found with serial number 99", "jlink:000123456789" },
        { "by place", "abc", "ftdi", "@1-2.3", 2, "", "" },
        { "empty place", "abc", "ftdi", "@1-9", -ERR_NOT_FOUND, "at 1-9", "ftdi:@1-2.3:A" },
        { "none of this driver", "abc", "jlink", "", -ERR_NOT_FOUND, "no jlink adapter found",
          "ftdi:FT1ABC:A, ftdi:@1-2.3:A" },
        { "a doubtful one is not taken", "h", NULL, "", -ERR_NOT_FOUND,
          "ftdi:U1:A may be something else", "--probe ftdi:U1:A" },
        { "nor makes a choice of it", "hd", NULL, "", 1, "", "" },
        { "its driver named", "hd", "ftdi", "", 0, "", "" },
        { "JTAG on the second channel", "ij", NULL, "", 1, "", "" },
        { "and so by serial number", "ij", "ftdi", "TG", 1, "", "" },
        { "but a channel that is named", "ij", "ftdi", "TG:A", 0, "", "" },
        { "more than can be told", "abcdefg", NULL, "", -ERR_USAGE, "4 adapters fit", "" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct adapter row[ALL];
        struct adapter_list list = take_rows(rows[i].rows, row);
        struct adapter_spec spec;
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", rows[i].label);
        assert_int_equal(adapter_spec_parse(rows[i].spec, &spec, NULL), 0);
        assert_int_equal(adapter_choose(&list, rows[i].driver, &spec, &err), rows[i].ret);
        assert_non_null(strstr(err.what, rows[i].what));
        assert_non_null(strstr(err.hint, rows[i].hint));
    }
}

static void choose__what_the_part_needs__only_those_count_unless_named(void **state)
{
    struct adapter row[ALL];
    const struct adapter_list both = take_rows("dk", row);
    struct err err = { .code = ERR_OK };
    (void)state;
    assert_int_equal(
        adapter_choose(&both, NULL, &(struct adapter_spec){ .need = ADAPTER_JTAG }, NULL), 0);
    assert_int_equal(
        adapter_choose(&both, NULL, &(struct adapter_spec){ .need = ADAPTER_BDC }, NULL), 1);
    assert_int_equal(adapter_choose(&both, NULL, &(struct adapter_spec){ 0 }, NULL), -ERR_USAGE);
    assert_int_equal(
        adapter_choose(&both, "jlink", &(struct adapter_spec){ .need = ADAPTER_BDC }, NULL), 0);
    const struct adapter_list one = take_rows("d", row);
    assert_int_equal(
        adapter_choose(&one, NULL, &(struct adapter_spec){ .need = ADAPTER_BDC }, &err),
        -ERR_NOT_FOUND);
    assert_string_equal(err.what, "no adapter with BDC found");
    assert_non_null(strstr(err.hint, "there is jlink:000123456789"));
}

static void choose__a_driver_that_failed__its_reason(void **state)
{
    struct adapter row = { .driver = &jlink,
                           .problem = { ERR_USB, "libusb does not start", "mount it" } };
    const struct adapter_list list = { .row = &row, .n = 1, .cap = 1 };
    struct err err = { .code = ERR_OK };
    (void)state;
    assert_int_equal(adapter_choose(&list, NULL, &(struct adapter_spec){ 0 }, &err),
                     -ERR_NOT_FOUND);
    assert_string_equal(err.what, "jlink: libusb does not start");
    assert_string_equal(err.hint, "mount it");
}

static void name__two_with_the_same_serial_number__their_places(void **state)
{
    struct adapter row[3] = { found[J1], found[J1], found[J2] };
    const struct adapter_list list = { .row = row, .n = 3, .cap = 3 };
    char name[100];
    (void)state;
    snprintf(row[1].bus_path, sizeof row[1].bus_path, "2-7");
    adapter_name(&list, 0, name, sizeof name);
    assert_string_equal(name, "jlink:@2-1");
    adapter_name(&list, 1, name, sizeof name);
    assert_string_equal(name, "jlink:@2-7");
    adapter_name(&list, 2, name, sizeof name);
    assert_string_equal(name, "jlink:000123456780");
    adapter_name(&(struct adapter_list){ .row = (struct adapter *)&found[TTY], .n = 1 }, 0, name,
                 sizeof name);
    assert_string_equal(name, "serial:/dev/ttyS0");
}

static void meant_by__a_number_or_a_place_alone__the_row(void **state)
{
    static const struct {
        const char *text;
        int row;
    } rows[] = {
        { "FT1ABC", 0 }, { "@2-1", 2 }, { "2-1", 2 }, { "123456789", 2 }, { "/dev/ttyS0", 3 },
        { "", -1 },      { "@", -1 },   { "0", -1 },  { "9-9", -1 },
    };
    struct adapter row[ALL];
    const struct adapter_list list = take_rows("abdg", row);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %s\n", rows[i].text);
        assert_int_equal(adapter_meant_by(&list, rows[i].text), rows[i].row);
    }
}

static void list_add__three_hundred__bounded(void **state)
{
    struct adapter_list list = { 0 };
    struct err err = { .code = ERR_OK };
    int n = 0;
    (void)state;
    while (n < 300 && adapter_list_add(&list, &found[J1], &err) == 0)
        n++;
    assert_int_equal(n, 256);
    assert_int_equal(err.code, ERR_NOMEM);
    adapter_list_free(&list);
    assert_null(list.row);
    adapter_list_free(NULL);
}

static void adapters_find__this_machine__every_row_can_be_named(void **state)
{
    struct adapter_list list;
    (void)state;
    int n = adapters_find(false, &list, NULL);
    assert_true(n >= 0);
    assert_int_equal(list.n, n);
    for (size_t i = 0; i < list.n; i++) {
        char name[200];
        adapter_name(&list, i, name, sizeof name);
        assert_int_equal(strncmp(name, list.row[i].driver->name, strlen(list.row[i].driver->name)),
                         0);
    }
    adapter_list_free(&list);
}

static void adapter_usb__not_there__says_what_was_looked_for(void **state)
{
    const struct adapter a = {
        .driver = &ftdi, .vid = 0xFFFE, .pid = 0xFFFD, .serial = "S1", .bus_path = "1-1"
    };
    struct usb_info dev = { .vid = 7 };
    struct err err = { .code = ERR_OK };
    (void)state;
    assert_int_equal(adapter_usb(&a, &dev, &err), -ERR_USB);
    assert_int_equal(dev.vid, 7);
    assert_non_null(strstr(err.what, "fffe:fffd"));
    assert_non_null(strstr(err.what, "S1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spec_parse__texts__parts),
        cmocka_unit_test(spec_parse__what_does_not_fit__usage_and_untouched),
        cmocka_unit_test(choose__what_is_there_and_what_is_meant__one_or_a_sentence),
        cmocka_unit_test(choose__what_the_part_needs__only_those_count_unless_named),
        cmocka_unit_test(choose__a_driver_that_failed__its_reason),
        cmocka_unit_test(name__two_with_the_same_serial_number__their_places),
        cmocka_unit_test(meant_by__a_number_or_a_place_alone__the_row),
        cmocka_unit_test(list_add__three_hundred__bounded),
        cmocka_unit_test(adapters_find__this_machine__every_row_can_be_named),
        cmocka_unit_test(adapter_usb__not_there__says_what_was_looked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
