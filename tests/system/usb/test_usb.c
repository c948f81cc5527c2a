/* probe/usb on the loop model, through the real libusb. Run inside usb_rig with
 * loop,path=1-2.3,serial=S42,kernel-driver=cdc_acm and a control socket. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/adapter.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/usb.h"

enum { IN = 0x81, OUT = 0x02, QUICK_MS = 100, LONG_MS = 5000, SOON_MS = 2000 };
static const struct usb_id loop[] = { { 0x1209, 1 }, { 0, 0 } };

static void tell_rig(const char *command)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    char answer[64] = "";
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", getenv("USB_RIG_CONTROL"));
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_true(write(fd, command, strlen(command)) > 0);
    assert_true(read(fd, answer, sizeof answer - 1) > 0);
    assert_memory_equal(answer, "ok", 2);
    close(fd);
}

static void find_device(struct usb_info *dev) { assert_int_equal(usb_list(loop, dev, 1, NULL), 1); }

static int open_it(void **state)
{
    struct usb_info dev;
    struct err err = { .code = ERR_OK };
    find_device(&dev);
    int ret = usb_open(&dev, 0, NULL, (struct usb **)state, &err);
    if (ret < 0)
        print_message("%s (%s)\n", err.what, err.hint);
    return ret;
}
static int close_it(void **state)
{
    usb_close(*state);
    return 0;
}

static int echo_text(struct usb *u, const char *text, char *back, size_t cap, struct err *err)
{
    int ret = usb_bulk(u, OUT, (uint8_t *)text, strlen(text), QUICK_MS, err);
    memset(back, 0, cap);
    return ret < 0 ? ret : usb_bulk(u, IN, (uint8_t *)back, cap, QUICK_MS, err);
}

/* It works, and is in step. */
static void expect_works(struct usb *u)
{
    char back[512];
    struct err err = { .code = ERR_OK };
    if (echo_text(u, "works", back, sizeof back, &err) != 5 || strcmp(back, "works"))
        fail_msg("%s: '%s'", err.what, back);
}

static int count_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* ---- finding ---- */

static void list__device__all_that_the_descriptors_say(void **state)
{
    struct usb_info dev;
    (void)state;
    find_device(&dev);
    assert_string_equal(dev.bus_path, "1-2.3");
    assert_string_equal(dev.serial, "S42");
    assert_string_equal(dev.product, "Loop");
    assert_string_equal(dev.manufacturer, "probeprof");
    assert_int_equal(dev.speed, USB_HIGH);
    assert_int_equal(dev.bcd_device, 0x0123);
    assert_int_equal(dev.nitfs, 1);
    assert_int_equal(dev.itf[0].cls, 0xFF);
    assert_int_equal(dev.itf[0].neps, 2);
    assert_int_equal(dev.itf[0].ep[0].address, IN);
    assert_int_equal(dev.itf[0].ep[1].max_packet, 512);
    assert_int_equal(dev.itf[0].ep[1].type, 2);
}

static void check__free_then_held__says_by_whom(void **state)
{
    struct usb_info dev;
    struct usb *u, *second = NULL;
    struct err err = { .code = ERR_OK };
    (void)state;
    find_device(&dev);
    assert_int_equal(usb_check(&dev, 0, NULL), 0); /* though cdc_acm is bound to it */
    assert_int_equal(usb_open(&dev, 0, NULL, &u, NULL), 0);
    assert_int_equal(usb_check(&dev, 0, &err), -ERR_USB);
    assert_non_null(strstr(err.what, "interface 0 is held by"));
    assert_string_not_equal(err.hint, "");
    assert_int_equal(usb_open(&dev, 0, NULL, &second, &err), -ERR_USB);
    assert_null(second);
    expect_works(u);
    usb_close(u);
    assert_int_equal(usb_check(&dev, 0, NULL), 0);
    assert_int_equal(usb_open(&dev, 7, NULL, &u, &err), -ERR_USB);
    assert_non_null(strstr(err.what, "no interface 7"));
}

/* ---- one transfer ---- */

static void control__requests__answered_or_refused(void **state)
{
    struct usb *u = *state;
    uint8_t data[8] = { 0 };
    struct err err = { .code = ERR_OK };
    assert_int_equal(usb_control(u, 0xC0, 1, 0x1234, 0x5678, data, 8, LONG_MS, NULL), 4);
    assert_memory_equal(data, "\x34\x12\x78\x56", 4);
    assert_int_equal(usb_control(u, 0xC0, 99, 0, 0, data, 8, LONG_MS, &err), -ERR_PROTOCOL);
    assert_non_null(strstr(err.what, "refused"));
    assert_int_equal(usb_control(u, 0x40, 2, 0, 0, (uint8_t *)"hello", 5, LONG_MS, NULL), 5);
    assert_int_equal(usb_control(u, 0xC0, 3, 0, 0, data, 8, LONG_MS, NULL), 5);
    assert_memory_equal(data, "hello", 5);
}

static void string__by_index__text_cut_to_fit(void **state)
{
    struct usb *u = *state;
    char text[64];
    struct err err = { .code = ERR_OK };
    assert_int_equal(usb_string(u, 2, text, sizeof text, NULL), 4);
    assert_string_equal(text, "Loop");
    assert_true(usb_string(u, 2, text, 6, NULL) <= 5);
    assert_memory_equal(text, "Lo", 2);
    assert_int_equal(usb_string(u, 0, text, sizeof text, NULL), 0);
    assert_string_equal(text, "");
    assert_true(usb_string(u, 99, text, sizeof text, &err) < 0);
}

static void bulk__any_length__comes_back(void **state)
{
    struct usb *u = *state;
    static uint8_t out[40000], in[40000];
    static const int lengths[] = { 1, 511, 513, 1500, 39999 };
    uint64_t transfers, bytes;
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        for (int k = 0; k < lengths[i]; k++)
            out[k] = (uint8_t)(k * 7 + (int)i);
        assert_int_equal(usb_bulk(u, OUT, out, (size_t)lengths[i], LONG_MS, NULL), lengths[i]);
        assert_int_equal(usb_bulk(u, IN, in, sizeof in, LONG_MS, NULL), lengths[i]);
        assert_memory_equal(in, out, (size_t)lengths[i]);
    }
    usb_stats(u, &transfers, &bytes);
    assert_int_equal(transfers, 10);
    assert_int_equal(bytes, 2 * (1 + 511 + 513 + 1500 + 39999));
}

static void bulk__whole_packets_and_no_empty_one__read_has_them_at_its_deadline(void **state)
{
    struct usb *u = *state;
    uint8_t out[512] = { 1 }, in[1024];
    assert_int_equal(usb_bulk(u, OUT, out, 512, LONG_MS, NULL), 512);
    assert_int_equal(usb_bulk(u, IN, in, 1024, QUICK_MS, NULL), 512);
    expect_works(u);
}

static void bulk__nothing_comes__timeout_without_spinning_and_usable(void **state)
{
    struct usb *u = *state;
    struct rusage a, b;
    struct err err = { .code = ERR_OK };
    uint8_t in[64];
    getrusage(RUSAGE_SELF, &a);
    assert_int_equal(usb_bulk(u, IN, in, sizeof in, 300, &err), -ERR_TIMEOUT);
    getrusage(RUSAGE_SELF, &b);
    /* waiting, not asking again and again */
    assert_in_range(b.ru_nvcsw + b.ru_nivcsw - a.ru_nvcsw - a.ru_nivcsw, 0, 200);
    assert_non_null(strstr(err.what, "1-2.3"));
    expect_works(u);
}

static void bulk__more_than_asked_for__protocol_and_usable(void **state)
{
    struct usb *u = *state;
    uint8_t out[100] = { 0 }, in[64];
    assert_int_equal(usb_bulk(u, OUT, out, sizeof out, LONG_MS, NULL), 100);
    assert_int_equal(usb_bulk(u, IN, in, sizeof in, LONG_MS, NULL), -ERR_PROTOCOL);
    expect_works(u);
}

static void bulk__endpoint_it_lacks__unsupported(void **state)
{
    struct usb *u = *state;
    uint8_t in[64];
    assert_int_equal(usb_bulk(u, 0x83, in, sizeof in, QUICK_MS, NULL), -ERR_UNSUPPORTED);
    assert_int_equal(usb_submit(u, USB_SLOTS, IN, in, sizeof in, NULL), -ERR_USAGE);
    assert_int_equal(usb_wait(u, USB_SLOTS, 0, NULL), -ERR_USAGE);
    assert_int_equal(usb_wait(u, 3, 0, NULL), -ERR_STATE);
}

static void drain__what_was_left__gone(void **state)
{
    struct usb *u = *state;
    uint8_t out[700] = { 0 };
    for (int i = 0; i < 3; i++)
        assert_int_equal(usb_bulk(u, OUT, out, sizeof out, LONG_MS, NULL), 700);
    assert_int_equal(usb_drain(u, IN, 30, 50, NULL), 2100);
    assert_int_equal(usb_drain(u, IN, 30, 50, NULL), 0);
    expect_works(u);
}

static void reset__in_the_middle__usable(void **state)
{
    struct usb *u = *state;
    uint8_t in[64];
    assert_int_equal(usb_submit(u, 0, IN, in, sizeof in, NULL), 0);
    assert_int_equal(usb_reset(u, NULL), 0);
    assert_int_equal(usb_wait(u, 0, 0, NULL), -ERR_STATE); /* cancelled: the slot is free */
    expect_works(u);
}

/* ---- many ---- */

static void slots__all_in_flight__results_in_order(void **state)
{
    struct usb *u = *state;
    enum { PAIRS = USB_SLOTS / 2 };
    static uint8_t out[PAIRS][300], in[PAIRS][512];
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < PAIRS; i++)
            assert_int_equal(usb_submit(u, PAIRS + i, IN, in[i], 512, NULL), 0);
        assert_int_equal(usb_submit(u, PAIRS, IN, in[0], 512, NULL), -ERR_STATE);
        for (unsigned i = 0; i < PAIRS; i++) {
            memset(out[i], (int)(i + round), sizeof out[i]);
            assert_int_equal(usb_submit(u, i, OUT, out[i], 100 + i, NULL), 0);
            /* the model joins what waits in it */
            assert_int_equal(usb_wait(u, i, LONG_MS, NULL), 100 + i);
            assert_int_equal(usb_wait(u, PAIRS + i, LONG_MS, NULL), 100 + i);
            assert_memory_equal(in[i], out[i], 100 + i);
        }
    }
    expect_works(u);
}

static void wait__zero_ms__only_looks(void **state)
{
    struct usb *u = *state;
    uint8_t in[64];
    assert_int_equal(usb_submit(u, 5, IN, in, sizeof in, NULL), 0);
    assert_int_equal(usb_wait(u, 5, 0, NULL), -ERR_TIMEOUT);
    expect_works(u);
}

static void cancel_all__many_in_flight__every_slot_free(void **state)
{
    struct usb *u = *state;
    static uint8_t in[USB_SLOTS][64];
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < USB_SLOTS; i++)
            assert_int_equal(usb_submit(u, i, IN, in[i], 64, NULL), 0);
        usb_cancel_all(u);
        assert_int_equal(usb_wait(u, 0, 0, NULL), -ERR_STATE);
    }
    expect_works(u);
}

static void stall__others_behind_it__all_told_and_usable(void **state)
{
    struct usb *u = *state;
    static uint8_t in[4][512];
    struct err err = { .code = ERR_OK };
    tell_rig("strike stall 2"); /* the first IN after an OUT */
    assert_int_equal(usb_bulk(u, OUT, (uint8_t *)"abc", 3, LONG_MS, NULL), 3);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(usb_submit(u, i, IN, in[i], 512, NULL), 0);
    assert_int_equal(usb_wait(u, 0, LONG_MS, &err), -ERR_PROTOCOL);
    assert_non_null(strstr(err.what, "stalled"));
    for (unsigned i = 1; i < 4; i++)
        assert_int_equal(usb_wait(u, i, QUICK_MS, NULL), -ERR_PROTOCOL);
    usb_drain(u, IN, 30, 8, NULL);
    expect_works(u);
}

static void faults__one_transfer_each__told_and_usable(void **state)
{
    struct usb *u = *state;
    static const struct {
        const char *fault;
        int ret;
    } rows[] = {
        { "stall 1", -ERR_PROTOCOL },
        { "stall 2", -ERR_PROTOCOL },
        { "timeout 1", -ERR_TIMEOUT },
        { "timeout 2", -ERR_TIMEOUT },
        { "short 2", 4 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char line[40], back[512];
        print_message("  %s\n", rows[i].fault);
        snprintf(line, sizeof line, "strike %s", rows[i].fault);
        tell_rig(line);
        assert_int_equal(echo_text(u, "eightish", back, sizeof back, NULL), rows[i].ret);
        assert_true(usb_drain(u, IN, 50, 8, NULL) >= 0);
        expect_works(u);
    }
}

/* ---- coming and going ---- */

static void plug_again(struct usb_info *dev)
{
    tell_rig("plug");
    for (int i = 0; i < 30000 && usb_list(loop, dev, 1, NULL) != 1; i++)
        usleep(20000);
}

static void unplug__transfers_in_flight__all_end_and_nothing_is_tried_again(void **state)
{
    struct usb_info dev, again;
    struct usb *u;
    static uint8_t in[8][64];
    struct err err = { .code = ERR_OK };
    (void)state;
    find_device(&dev);
    assert_int_equal(usb_open(&dev, 0, NULL, &u, NULL), 0);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(usb_submit(u, i, IN, in[i], 64, NULL), 0);
    tell_rig("unplug");
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(usb_wait(u, i, 60000, &err), -ERR_USB); /* its minute over: -ERR_TIMEOUT */
    assert_non_null(strstr(err.what, "unplugged"));
    assert_int_equal(usb_submit(u, 0, IN, in[0], 64, &err), -ERR_USB);
    assert_int_equal(usb_control(u, 0xC0, 1, 0, 0, in[0], 4, LONG_MS, NULL), -ERR_USB);
    assert_int_equal(usb_reset(u, NULL), -ERR_USB);
    assert_int_equal(usb_list(loop, &again, 1, NULL), 0);
    assert_int_equal(usb_check(&dev, 0, NULL), -ERR_USB);
    usb_close(u);
    plug_again(&again);
    assert_int_equal(usb_open(&dev, 0, NULL, &u, &err), -ERR_USB); /* its address was another */
    assert_int_equal(usb_open(&again, 0, NULL, &u, &err), 0);
    expect_works(u);
    usb_close(u);
}

static void close__transfers_in_flight__nothing_left(void **state)
{
    struct usb_info dev;
    int before = 0;
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct usb *u;
        uint8_t *in = malloc(USB_SLOTS * 64);
        find_device(&dev);
        assert_int_equal(usb_open(&dev, 0, NULL, &u, NULL), 0);
        for (unsigned i = 0; i < USB_SLOTS; i++)
            assert_int_equal(usb_submit(u, i, IN, in + i * 64, 64, NULL), 0);
        usb_close(u);
        free(in); /* a transfer that still had it would be seen by ASan */
        if (round == 0)
            before = count_descriptors();
    }
    assert_int_equal(count_descriptors(), before);
}

static void unplug__twenty_times__no_descriptor_left(void **state)
{
    struct usb_info dev;
    int before = 0;
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct usb *u;
        uint8_t in[64];
        find_device(&dev);
        assert_int_equal(usb_open(&dev, 0, NULL, &u, NULL), 0);
        assert_int_equal(usb_submit(u, 0, IN, in, sizeof in, NULL), 0);
        tell_rig("unplug");
        assert_int_equal(usb_wait(u, 0, LONG_MS, NULL), -ERR_USB);
        usb_close(u);
        plug_again(&dev);
        if (round == 0)
            before = count_descriptors();
    }
    assert_int_equal(count_descriptors(), before);
}

static const struct probe_driver pretend = { .name = "loop", .ids = loop };
static int pick_interface(const struct usb_info *dev, struct adapter *row)
{
    row->can = ADAPTER_JTAG;
    return dev->itf[0].number;
}

static void adapter__listed__found_again_by_serial_or_place(void **state)
{
    struct adapter_list list = { 0 };
    struct usb_info dev;
    (void)state;
    assert_int_equal(adapter_list_usb(&pretend, loop, pick_interface, &list, NULL), 0);
    assert_int_equal(list.n, 1);
    assert_string_equal(list.row[0].serial, "S42");
    assert_string_equal(list.row[0].bus_path, "1-2.3");
    assert_int_equal(list.row[0].problem.code, ERR_OK);
    assert_int_equal(adapter_usb(&list.row[0], &dev, NULL), 0);
    strcpy(list.row[0].bus_path, "1-9"); /* it was plugged in elsewhere when it was listed */
    assert_int_equal(adapter_usb(&list.row[0], &dev, NULL), 0);
    assert_string_equal(dev.bus_path, "1-2.3");
    strcpy(list.row[0].serial, "S43"); /* another of the kind */
    assert_int_equal(adapter_usb(&list.row[0], &dev, NULL), -ERR_USB);
    list.row[0].serial[0] = 0;
    assert_int_equal(adapter_usb(&list.row[0], &dev, NULL), -ERR_USB);
    strcpy(list.row[0].bus_path, "1-2.3");
    assert_int_equal(adapter_usb(&list.row[0], &dev, NULL), 0);
    adapter_list_free(&list);
}

#define ON_OPEN(f) cmocka_unit_test_setup_teardown(f, open_it, close_it)
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list__device__all_that_the_descriptors_say),
        cmocka_unit_test(check__free_then_held__says_by_whom),
        ON_OPEN(control__requests__answered_or_refused),
        ON_OPEN(string__by_index__text_cut_to_fit),
        ON_OPEN(bulk__any_length__comes_back),
        ON_OPEN(bulk__whole_packets_and_no_empty_one__read_has_them_at_its_deadline),
        ON_OPEN(bulk__nothing_comes__timeout_without_spinning_and_usable),
        ON_OPEN(bulk__more_than_asked_for__protocol_and_usable),
        ON_OPEN(bulk__endpoint_it_lacks__unsupported),
        ON_OPEN(drain__what_was_left__gone),
        ON_OPEN(reset__in_the_middle__usable),
        ON_OPEN(slots__all_in_flight__results_in_order),
        ON_OPEN(wait__zero_ms__only_looks),
        ON_OPEN(cancel_all__many_in_flight__every_slot_free),
        ON_OPEN(stall__others_behind_it__all_told_and_usable),
        ON_OPEN(faults__one_transfer_each__told_and_usable),
        cmocka_unit_test(unplug__transfers_in_flight__all_end_and_nothing_is_tried_again),
        cmocka_unit_test(close__transfers_in_flight__nothing_left),
        cmocka_unit_test(unplug__twenty_times__no_descriptor_left),
        cmocka_unit_test(adapter__listed__found_again_by_serial_or_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
