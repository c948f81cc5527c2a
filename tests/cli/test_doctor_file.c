/* The doctor's report for others: nothing private is in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/cli/doctor_file.h"

static void scrub__serials_and_names__in_every_form(void **state)
{
    static const char *const serials[] = { "DAP0123", "123456789", "ab", NULL }, *const names[] = {
        "/home/ann/boards", "/home/ann", "ann", NULL
    };
    static const struct {
        const char *text, *clean;
    } rows[] = {
        { "cmsis-dap:DAP0123, at 1-2", "cmsis-dap:[serial], at 1-2" },
        /* "DAP0123" */
        { "1-1 <82 9: 00 07 44 41 50 30 31 32 33 00", "1-1 <82 9: 00 07 [serial] 00" },
        /* UTF-16 */
        { "<81: 12 03 44 00 41 00 50 00 30 00 31 00 32 00 33 00", "<81: 12 03 [serial]" },
        /* cut off by the log */
        { "<81 24: 07 44 41 50 30 ...", "<81 24: 07 [serial] ..." },
        /* another one's first three */
        { "<81 2: 44 41 50 31", "<81 2: 44 41 50 31" },
        /* 0x075BCD15 */
        { "jlink 123456789: 15 cd 5b 07", "jlink [serial]: [serial]" },
        /* bytes have a space before them */
        { "07 5b cd 15 and 07 5B CD 15", "07 5b cd 15 and [serial]" },
        { "/home/ann/boards/x.elf of ann in /home/ann",
          "[private]/x.elf of [private] in [private]" },
        { "ab is too short to tell", "ab is too short to tell" },
        { "", "" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *clean = doctor_file_scrub(rows[i].text, serials, names);
        assert_string_equal(clean, rows[i].clean);
        free(clean);
    }
}

static char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    *len = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    return text;
}

static void log__longer_than_is_kept__beginning_and_end_are_there_and_it_says_so(void **state)
{
    (void)state;
    struct settings set = { .target = "sh7750" };
    struct doctor_report report = { .probe = "jlink:777888999",
                                    .serial = { "777888999" },
                                    .nserials = 1 };
    struct doctor_file *f = doctor_file_new();
    char path[] = "/tmp/doctor_file_XXXXXX", line[64];
    size_t len;
    close(mkstemp(path));
    for (int i = 0; i < 20000; i++) {
        snprintf(line, sizeof line, "line %d of 777888999", i);
        doctor_file_log(f, LOG_USB, line);
    }
    assert_int_equal(doctor_file_write(f, path, &set, &report, "ok     adapter\n", NULL), 0);
    char *text = read_file(path, &len);
    assert_in_range(len, 300000, 500000);
    assert_null(strstr(text, "777888999"));
    assert_non_null(strstr(text, "--probe jlink:[serial] --target sh7750"));
    assert_non_null(strstr(text, "ok     adapter\n"));
    assert_non_null(strstr(text, "usb: line 0 of [serial]\n"));
    assert_non_null(strstr(text, "usb: line 19999 of [serial]\n"));
    assert_non_null(strstr(text, "bytes of the log are left out"));
    free(text);
    doctor_file_free(f);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scrub__serials_and_names__in_every_form),
        cmocka_unit_test(log__longer_than_is_kept__beginning_and_end_are_there_and_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
