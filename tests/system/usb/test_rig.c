/* The rig itself: real libusb on the loop model. Run inside usb_rig, whose model takes part in some
 * cases by its options. */
#include <fcntl.h>
#include <libusb.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { VID = 0x1209, PID = 1, IN = 0x81, OUT = 0x02, QUICK_MS = 100, LONG_MS = 5000 };

struct fixture {
    libusb_context *ctx;
    libusb_device_handle *h;
    int left, arrived;
};

static int open_it(void **state)
{
    struct fixture *fx = calloc(1, sizeof *fx);
    *state = fx;
    if (!fx || libusb_init(&fx->ctx) < 0)
        return -1;
    fx->h = libusb_open_device_with_vid_pid(fx->ctx, VID, PID);
    if (!fx->h)
        return -1;
    libusb_set_auto_detach_kernel_driver(fx->h, 1);
    return libusb_claim_interface(fx->h, 0);
}

static int close_it(void **state)
{
    struct fixture *fx = *state;
    libusb_close(fx->h);
    libusb_exit(fx->ctx);
    free(fx);
    return 0;
}

static void tell_rig(const char *command)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    char answer[64] = "";
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", getenv("USB_RIG_CONTROL"));
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_true(write(fd, command, strlen(command)) > 0);
    assert_true(read(fd, answer, sizeof answer - 1) > 0);
    assert_memory_equal(answer, "ok", 2);
    close(fd);
}

static int bulk_transfer(struct fixture *fx, uint8_t ep, void *data, int len, int *done,
                         unsigned ms)
{
    return libusb_bulk_transfer(fx->h, ep, data, len, done, ms);
}

/* ---- */

static void device__found__has_its_strings_and_speed(void **state)
{
    struct fixture *fx = *state;
    libusb_device *dev = libusb_get_device(fx->h);
    uint8_t path[8];
    char text[64];
    struct libusb_device_descriptor d;
    assert_int_equal(libusb_get_device_descriptor(dev, &d), 0);
    assert_int_equal(libusb_get_device_speed(dev), LIBUSB_SPEED_HIGH);
    assert_int_equal(libusb_get_port_numbers(dev, path, sizeof path), 2);
    assert_int_equal(path[0], 2);
    assert_int_equal(path[1], 3);
    assert_int_equal(
        libusb_get_string_descriptor_ascii(fx->h, d.iProduct, (uint8_t *)text, sizeof text), 4);
    assert_string_equal(text, "Loop");
    assert_int_equal(
        libusb_get_string_descriptor_ascii(fx->h, d.iSerialNumber, (uint8_t *)text, sizeof text),
        3);
    assert_string_equal(text, "S42");
}

static void control__requests__answered_or_stalled(void **state)
{
    struct fixture *fx = *state;
    uint8_t data[8] = { 0 };
    assert_int_equal(libusb_control_transfer(fx->h, 0xC0, 1, 0x1234, 0x5678, data, 8, LONG_MS), 4);
    assert_memory_equal(data, "\x34\x12\x78\x56", 4);
    assert_int_equal(libusb_control_transfer(fx->h, 0x40, 2, 0, 0, (uint8_t *)"hello", 5, LONG_MS),
                     5);
    assert_int_equal(libusb_control_transfer(fx->h, 0xC0, 3, 0, 0, data, 8, LONG_MS), 5);
    assert_memory_equal(data, "hello", 5);
    assert_int_equal(libusb_control_transfer(fx->h, 0xC0, 99, 0, 0, data, 8, LONG_MS),
                     LIBUSB_ERROR_PIPE);
    /* endpoint 0 does not stay halted */
    assert_int_equal(libusb_control_transfer(fx->h, 0xC0, 1, 1, 1, data, 8, LONG_MS), 4);
}

static void bulk__any_length__comes_back(void **state)
{
    struct fixture *fx = *state;
    static uint8_t out[40000], in[40000];
    static const int lengths[] = { 1, 511, 513, 1500, 39999 };
    int done;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int k = 0; k < lengths[i]; k++)
            out[k] = (uint8_t)(k * 7 + (int)i);
        assert_int_equal(bulk_transfer(fx, OUT, out, lengths[i], &done, LONG_MS), 0);
        assert_int_equal(done, lengths[i]);
        assert_int_equal(bulk_transfer(fx, IN, in, sizeof in, &done, LONG_MS), 0);
        assert_int_equal(done, lengths[i]);
        assert_memory_equal(in, out, (size_t)done);
    }
}

/* Full packets do not end a transfer: the host gets them when it gives up. */
static void bulk__full_packets_only__read_waits_for_a_short_one(void **state)
{
    struct fixture *fx = *state;
    uint8_t out[512] = { 1 }, in[1024];
    int done;
    assert_int_equal(bulk_transfer(fx, OUT, out, 512, &done, LONG_MS), 0);
    assert_int_equal(bulk_transfer(fx, IN, in, 1024, &done, QUICK_MS), LIBUSB_ERROR_TIMEOUT);
    assert_int_equal(done, 512);
    assert_int_equal(bulk_transfer(fx, OUT, out, 512, &done, LONG_MS), 0);
    assert_int_equal(bulk_transfer(fx, IN, in, 512, &done, LONG_MS), 0);
    assert_int_equal(done, 512);
}

static void bulk__nothing_there__times_out_without_spinning(void **state)
{
    struct fixture *fx = *state;
    struct rusage a, b;
    uint8_t in[64];
    int done;
    getrusage(RUSAGE_SELF, &a);
    assert_int_equal(bulk_transfer(fx, IN, in, sizeof in, &done, 300), LIBUSB_ERROR_TIMEOUT);
    getrusage(RUSAGE_SELF, &b);
    assert_int_equal(done, 0);
    /* Not a figure: spinning on REAP makes thousands of switches, waiting in poll() a few. */
    assert_in_range(b.ru_nvcsw + b.ru_nivcsw - a.ru_nvcsw - a.ru_nivcsw, 0, 200);
}

static void bulk__packet_larger_than_asked_for__overflows(void **state)
{
    struct fixture *fx = *state;
    uint8_t out[100] = { 0 }, in[64];
    int done;
    assert_int_equal(bulk_transfer(fx, OUT, out, sizeof out, &done, LONG_MS), 0);
    assert_int_equal(bulk_transfer(fx, IN, in, sizeof in, &done, LONG_MS), LIBUSB_ERROR_OVERFLOW);
}

/* A latency timer of the device: nothing asks for the answer, time does. */
static void bulk__device_answers_by_itself_later__read_ends(void **state)
{
    struct fixture *fx = *state;
    uint8_t in[64];
    int done;
    assert_int_equal(libusb_control_transfer(fx->h, 0x40, 4, 50, 0, NULL, 0, LONG_MS), 0);
    assert_int_equal(bulk_transfer(fx, OUT, (uint8_t *)"x", 1, &done, LONG_MS), 0);
    assert_int_equal(bulk_transfer(fx, IN, in, sizeof in, &done, LONG_MS), 0);
    assert_int_equal(done, 1);
}

static void claim__twice__second_is_busy(void **state)
{
    struct fixture *fx = *state;
    libusb_device_handle *other;
    libusb_set_auto_detach_kernel_driver(fx->h, 0); /* else the release attaches the driver again */
    assert_int_equal(libusb_open(libusb_get_device(fx->h), &other), 0);
    assert_int_equal(libusb_claim_interface(other, 0), LIBUSB_ERROR_BUSY);
    libusb_release_interface(fx->h, 0);
    assert_int_equal(libusb_claim_interface(other, 0), 0);
    libusb_close(other);
}

static void claim__driver_bound__detached_and_back(void **state)
{
    struct fixture *fx = *state;
    libusb_device_handle *other;
    libusb_release_interface(fx->h, 0);
    assert_int_equal(libusb_kernel_driver_active(fx->h, 0), 1);
    assert_int_equal(libusb_open(libusb_get_device(fx->h), &other), 0);
    assert_int_equal(libusb_claim_interface(other, 0), LIBUSB_ERROR_BUSY);
    libusb_set_auto_detach_kernel_driver(other, 1);
    assert_int_equal(libusb_claim_interface(other, 0), 0);
    libusb_release_interface(other, 0);
    assert_int_equal(libusb_kernel_driver_active(fx->h, 0), 1);
    libusb_close(other);
}

/* As libusb 0.1 does. */
static void node__read__is_the_descriptors(void **state)
{
    struct fixture *fx = *state;
    libusb_device *dev = libusb_get_device(fx->h);
    char path[64];
    uint8_t all[256];
    size_t n = 0;
    snprintf(path, sizeof path, "/dev/bus/usb/%03u/%03u", libusb_get_bus_number(dev),
             libusb_get_device_address(dev));
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    for (ssize_t got = 1; got > 0; n += (size_t)got)
        got = read(fd, all + n, n < 18 ? 7 : sizeof all - n);
    close(fd);
    assert_in_range(n, 18 + 9 + 9 + 2 * 7, sizeof all);
    assert_int_equal(all[0], 18);
    assert_int_equal(all[8] | all[9] << 8, VID);
    assert_int_equal(all[19], LIBUSB_DT_CONFIG);
    assert_int_equal(all[20] | all[21] << 8, n - 18);
}

/* Closing gives up what was claimed and asked for before it returns, as the kernel's does. */
static void node__closed__is_free_at_once(void **state)
{
    struct fixture *fx = *state;
    libusb_device *dev = libusb_ref_device(libusb_get_device(fx->h));
    libusb_set_auto_detach_kernel_driver(fx->h, 0); /* it stays detached */
    for (int i = 0; i < 100; i++) {
        libusb_close(fx->h); /* without releasing the interface */
        assert_int_equal(libusb_open(dev, &fx->h), 0);
        assert_int_equal(libusb_claim_interface(fx->h, 0), 0);
    }
    libusb_unref_device(dev);
}

/* ---- several in flight ---- */

struct flight {
    int completed, status[4], length[4];
    int order[4];
};
struct one {
    struct flight *f;
    int i;
};

static void LIBUSB_CALL note_landed(struct libusb_transfer *t)
{
    struct one *o = t->user_data;
    o->f->order[o->f->completed++] = o->i;
    o->f->status[o->i] = t->status;
    o->f->length[o->i] = t->actual_length;
}

static void run_until(struct fixture *fx, const int *count, int n)
{
    for (int i = 0; i < 50 && *count < n; i++) {
        struct timeval tv = { 0, 100000 };
        libusb_handle_events_timeout_completed(fx->ctx, &tv, NULL);
    }
    assert_int_equal(*count, n);
}

static void async__in_flight_together__complete_in_order_and_cancel(void **state)
{
    struct fixture *fx = *state;
    struct flight f = { 0 };
    struct one one[4];
    struct libusb_transfer *t[4];
    uint8_t in[3][512];
    for (int i = 0; i < 4; i++) {
        one[i] = (struct one){ &f, i };
        t[i] = libusb_alloc_transfer(0);
        if (i < 3)
            libusb_fill_bulk_transfer(t[i], fx->h, IN, in[i], 512, note_landed, &one[i], 0);
        else
            libusb_fill_bulk_transfer(t[i], fx->h, OUT, (uint8_t *)"abc", 3, note_landed, &one[i],
                                      0);
        assert_int_equal(libusb_submit_transfer(t[i]), 0);
    }
    run_until(fx, &f.completed, 2); /* the OUT, and the first IN by it */
    assert_int_equal(f.status[3], LIBUSB_TRANSFER_COMPLETED);
    assert_int_equal(f.status[0], LIBUSB_TRANSFER_COMPLETED);
    assert_int_equal(f.length[0], 3);
    libusb_cancel_transfer(t[2]);
    run_until(fx, &f.completed, 3);
    assert_int_equal(f.status[2], LIBUSB_TRANSFER_CANCELLED);
    libusb_cancel_transfer(t[1]);
    run_until(fx, &f.completed, 4);
    for (int i = 0; i < 4; i++)
        libusb_free_transfer(t[i]);
}

/* ---- coming and going ---- */

static int LIBUSB_CALL note_hotplug(libusb_context *ctx, libusb_device *dev, libusb_hotplug_event e,
                                    void *user)
{
    struct fixture *fx = user;
    (void)ctx;
    (void)dev;
    if (e == LIBUSB_HOTPLUG_EVENT_DEVICE_LEFT)
        fx->left++;
    else
        fx->arrived++;
    return 0;
}

static void unplug__read_pending__gone_at_once_and_back_when_plugged(void **state)
{
    struct fixture *fx = *state;
    struct flight f = { 0 };
    struct one one = { &f, 0 };
    struct libusb_transfer *t = libusb_alloc_transfer(0);
    uint8_t in[64];
    int done;
    libusb_hotplug_callback_handle cb;
    assert_int_equal(libusb_hotplug_register_callback(
                         fx->ctx,
                         LIBUSB_HOTPLUG_EVENT_DEVICE_LEFT | LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED, 0,
                         VID, PID, LIBUSB_HOTPLUG_MATCH_ANY, note_hotplug, fx, &cb),
                     0);
    libusb_fill_bulk_transfer(t, fx->h, IN, in, sizeof in, note_landed, &one, 0);
    assert_int_equal(libusb_submit_transfer(t), 0);
    tell_rig("unplug");
    run_until(fx, &f.completed, 1);
    assert_int_equal(f.status[0], LIBUSB_TRANSFER_NO_DEVICE);
    assert_int_equal(bulk_transfer(fx, IN, in, sizeof in, &done, QUICK_MS), LIBUSB_ERROR_NO_DEVICE);
    run_until(fx, &fx->left, 1);
    assert_null(libusb_open_device_with_vid_pid(fx->ctx, VID, PID));
    tell_rig("plug");
    run_until(fx, &fx->arrived, 1);
    libusb_free_transfer(t);
    libusb_close(fx->h);
    fx->h = libusb_open_device_with_vid_pid(fx->ctx, VID, PID);
    assert_non_null(fx->h);
    /* its kernel driver is bound again */
    assert_int_equal(libusb_claim_interface(fx->h, 0), LIBUSB_ERROR_BUSY);
    assert_int_equal(libusb_detach_kernel_driver(fx->h, 0), 0);
    assert_int_equal(libusb_claim_interface(fx->h, 0), 0);
    assert_int_equal(bulk_transfer(fx, OUT, (uint8_t *)"again", 5, &done, LONG_MS), 0);
    assert_int_equal(bulk_transfer(fx, IN, in, sizeof in, &done, LONG_MS), 0);
    assert_memory_equal(in, "again", 5);
}

/* A program that listens for devices and has other things to do: what it is told is dropped in the
 * end, as by the kernel. */
static void unplug__a_listener_does_not_listen__rig_goes_on(void **state)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    (void)state;
    snprintf(a.sun_path, sizeof a.sun_path, "%s/event99999", getenv("UMOCKDEV_DIR"));
    int fd = socket(AF_UNIX, SOCK_RAW, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    for (int i = 0; i < 50; i++) {
        tell_rig("unplug");
        tell_rig("plug");
    }
    close(fd);
    unlink(a.sun_path);
}

/* One that goes away while it is told: its socket is listed and leads nowhere. */
static void unplug__a_listener_goes_away__rig_goes_on(void **state)
{
    char name[128];
    (void)state;
    snprintf(name, sizeof name, "%s/event99998", getenv("UMOCKDEV_DIR"));
    assert_int_equal(symlink("nowhere", name), 0);
    tell_rig("unplug");
    tell_rig("plug");
    unlink(name);
}

/* ---- faults: the command line put one at the N-th transfer of a fresh device ---- */

static int echo_text(struct fixture *fx, const char *text, uint8_t *in, int cap, int *got)
{
    int done;
    int ret = bulk_transfer(fx, OUT, (uint8_t *)text, (int)strlen(text), &done, QUICK_MS);
    return ret ? ret : bulk_transfer(fx, IN, in, cap, got, QUICK_MS);
}

static void fault__armed__strikes_that_transfer_and_no_other(void **state)
{
    struct fixture *fx = *state;
    uint8_t in[512];
    int got = 0;
    static const struct {
        const char *fault;
        int ret, len;
        const char *now, *next;
    } rows[] = {
        { "stall", LIBUSB_ERROR_PIPE, 0, "", "two" },
        { "timeout", LIBUSB_ERROR_TIMEOUT, 0, "", "two" },
        { "short", 0, 1, "t", "next" },
        { "stale", 0, 3, "one", "two" },
        { "wrong-id", 0, 3, "\x21wo", "next" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[40];
        tell_rig("unplug"); /* counts begin anew with nothing: they go on */
        tell_rig("plug");
        libusb_close(fx->h);
        fx->h = libusb_open_device_with_vid_pid(fx->ctx, VID, PID);
        libusb_set_auto_detach_kernel_driver(fx->h, 1);
        assert_int_equal(libusb_claim_interface(fx->h, 0), 0);
        print_message("  %s\n", rows[i].fault);
        assert_int_equal(echo_text(fx, "one", in, 512, &got), 0);
        snprintf(line, sizeof line, "strike %s 2", rows[i].fault); /* the IN */
        tell_rig(line);
        memset(in, 0, sizeof in);
        assert_int_equal(echo_text(fx, "two", in, 512, &got), rows[i].ret);
        assert_int_equal(got, rows[i].len);
        assert_memory_equal(in, rows[i].now, (size_t)rows[i].len);
        libusb_clear_halt(fx->h, IN);
        assert_int_equal(echo_text(fx, "next", in, 512, &got), 0);
        assert_memory_equal(in, rows[i].next, strlen(rows[i].next));
    }
}

/* For --time virtual: n exchanges, one after another. */
static int run_exchanges(int n)
{
    void *state;
    if (open_it(&state) < 0)
        return 1;
    struct fixture *fx = state;
    for (int i = 0, done; i < n; i++) {
        uint8_t in[64];
        if (bulk_transfer(fx, OUT, (uint8_t *)"x", 1, &done, LONG_MS) < 0 ||
            bulk_transfer(fx, IN, in, sizeof in, &done, LONG_MS) < 0)
            return 1;
    }
    return close_it(&state);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return run_exchanges(atoi(argv[1]));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(device__found__has_its_strings_and_speed, open_it,
                                        close_it),
        cmocka_unit_test_setup_teardown(control__requests__answered_or_stalled, open_it, close_it),
        cmocka_unit_test_setup_teardown(bulk__any_length__comes_back, open_it, close_it),
        cmocka_unit_test_setup_teardown(bulk__full_packets_only__read_waits_for_a_short_one,
                                        open_it, close_it),
        cmocka_unit_test_setup_teardown(bulk__nothing_there__times_out_without_spinning, open_it,
                                        close_it),
        cmocka_unit_test_setup_teardown(bulk__packet_larger_than_asked_for__overflows, open_it,
                                        close_it),
        cmocka_unit_test_setup_teardown(bulk__device_answers_by_itself_later__read_ends, open_it,
                                        close_it),
        cmocka_unit_test_setup_teardown(claim__twice__second_is_busy, open_it, close_it),
        cmocka_unit_test_setup_teardown(claim__driver_bound__detached_and_back, open_it, close_it),
        cmocka_unit_test_setup_teardown(node__read__is_the_descriptors, open_it, close_it),
        cmocka_unit_test_setup_teardown(node__closed__is_free_at_once, open_it, close_it),
        cmocka_unit_test_setup_teardown(async__in_flight_together__complete_in_order_and_cancel,
                                        open_it, close_it),
        cmocka_unit_test_setup_teardown(unplug__read_pending__gone_at_once_and_back_when_plugged,
                                        open_it, close_it),
        cmocka_unit_test_setup_teardown(unplug__a_listener_does_not_listen__rig_goes_on, open_it,
                                        close_it),
        cmocka_unit_test_setup_teardown(unplug__a_listener_goes_away__rig_goes_on, open_it,
                                        close_it),
        cmocka_unit_test_setup_teardown(fault__armed__strikes_that_transfer_and_no_other, open_it,
                                        close_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
