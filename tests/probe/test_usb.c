/* USB without a device: what every machine of the suite can show. With devices: tests/system/usb.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "probe/holder.h"
#include "probe/probe.h"
#include "probe/usb.h"

/* An id that nobody has been given. */
static const struct usb_id nobody[] = { { 0xFFFE, 0xFFFD }, { 0, 0 } };
static const struct usb_info absent = {
    .vid = 0xFFFE, .pid = 0xFFFD, .bus = 255, .address = 127, .bus_path = "255-7"
};

static void usb_list__ids_nobody_has__zero_and_no_failure(void **state)
{
    struct usb_info info = { .vid = 1 };
    struct err err = { .code = ERR_OK };
    (void)state;
    assert_int_equal(usb_list(nobody, &info, 1, &err), 0);
    assert_int_equal(info.vid, 1);
    assert_int_equal(err.code, ERR_OK);
}

static void usb_list__whatever_is_there__is_described(void **state)
{
    struct usb_info info[16];
    (void)state;
    int n = usb_list(NULL, info, ARRAY_LEN(info), NULL);
    assert_true(n >= 0);
    assert_int_equal(usb_list(NULL, NULL, 0, NULL), n);
    for (int i = 0; i < n && i < (int)ARRAY_LEN(info); i++)
        assert_string_not_equal(info[i].bus_path, "");
}

static void usb_open__device_that_has_gone__says_unplugged(void **state)
{
    struct err err = { .code = ERR_OK }, check = { .code = ERR_OK };
    struct usb *u = (struct usb *)&err; /* must stay as it is */
    (void)state;
    assert_int_equal(usb_open(&absent, 0, NULL, &u, &err), -ERR_USB);
    assert_ptr_equal(u, (struct usb *)&err);
    assert_non_null(strstr(err.what, "255-7"));
    assert_string_not_equal(err.hint, "");
    assert_int_equal(usb_check(&absent, 0, &check), -ERR_USB);
    assert_string_equal(check.what, err.what);
    usb_close(NULL);
}

static int count_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void usb__a_hundred_looks__leave_no_descriptor(void **state)
{
    (void)state;
    usb_list(NULL, NULL, 0, NULL);
    int before = count_descriptors();
    for (int i = 0; i < 50; i++) {
        struct usb *u;
        assert_int_equal(usb_list(nobody, NULL, 0, NULL), 0);
        assert_int_equal(usb_open(&absent, 0, NULL, &u, NULL), -ERR_USB);
    }
    assert_int_equal(count_descriptors(), before);
}

static void holder_find__file_open_elsewhere__names_the_process(void **state)
{
    char path[] = "/tmp/probeprof-holder-XXXXXX", text[100], wanted[40];
    int fd = mkstemp(path), ready[2];
    char byte;
    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(holder_find("/proc", path, text, sizeof text), 0); /* oneself does not count */
    assert_string_equal(text, "");
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) { /* has inherited fd */
        if (write(ready[1], "r", 1) == 1)
            pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(holder_find("/proc", path, text, sizeof text), child);
    snprintf(wanted, sizeof wanted, "(process %d)", child);
    assert_non_null(strstr(text, wanted));
    assert_non_null(strstr(text, "test_probe_usb"));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(holder_find("/proc", path, text, sizeof text), 0);
    close(fd);
    close(ready[0]);
    close(ready[1]);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usb_list__ids_nobody_has__zero_and_no_failure),
        cmocka_unit_test(usb_list__whatever_is_there__is_described),
        cmocka_unit_test(usb_open__device_that_has_gone__says_unplugged),
        cmocka_unit_test(usb__a_hundred_looks__leave_no_descriptor),
        cmocka_unit_test(holder_find__file_open_elsewhere__names_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
