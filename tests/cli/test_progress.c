/* What people see of a download. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/cli/progress.h"

static const uint64_t S = 1000000000;

static void text__stages__say_how_far_and_how_fast(void **state)
{
    static const struct {
        struct load_progress now;
        uint64_t stage_ns;
        const char *want;
    } rows[] = {
        { { LOAD_ERASE, 0, 131072 }, 0, "erasing 128.0 KB" },
        { { LOAD_ERASE, 512, 131072 }, 100000000, "erasing 0.5 of 128.0 KB" },
        { { LOAD_WRITE, 65536, 131072 }, 2000000000, "writing 64.0 of 128.0 KB, 32.0 KB/s" },
        { { LOAD_VERIFY, 0, 131072 }, 2000000000, "verifying 128.0 KB" },
    };
    char buf[100];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(progress_text(&rows[i].now, rows[i].stage_ns, buf, sizeof buf),
                            rows[i].want);
    assert_string_equal(progress_rate(1024, S / 2, buf, sizeof buf), "");
    assert_string_equal(progress_rate(131072, 2 * S, buf, sizeof buf), ", 2.0 s, 64.0 KB/s");
}

/* A download of 100 KB, 10 a second, then two seconds of verifying; a tick every tenth of a second.
 * What was printed; caller frees. */
static char *show_download(unsigned columns)
{
    struct progress p;
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    progress_init(&p, out, "big.elf", columns);
    for (uint64_t at = 0; at <= 121; at++) {
        if (at == 1)
            progress_tell(&p, &(struct load_progress){ LOAD_ERASE, 0, 102400 });
        if (at > 1)
            progress_tell(&p, &(struct load_progress){ at < 102 ? LOAD_WRITE : LOAD_VERIFY,
                                                       at < 102 ? (at - 2) * 1024 : 0, 102400 });
        progress_tick(&p, S + at * S / 10);
    }
    progress_clear(&p);
    progress_clear(&p);
    progress_fini(&p);
    fclose(out);
    return text;
}

static void tick__no_terminal__gives_a_few_whole_lines(void **state)
{
    (void)state;
    char *text = show_download(0);
    assert_string_equal(text, "probeprof: loading big.elf: writing 19.0 of 100.0 KB, 10.0 KB/s\n"
                              "probeprof: loading big.elf: writing 39.0 of 100.0 KB, 10.0 KB/s\n"
                              "probeprof: loading big.elf: writing 59.0 of 100.0 KB, 10.0 KB/s\n"
                              "probeprof: loading big.elf: writing 79.0 of 100.0 KB, 10.0 KB/s\n"
                              "probeprof: loading big.elf: writing 99.0 of 100.0 KB, 10.0 KB/s\n"
                              "probeprof: loading big.elf: verifying 100.0 KB\n");
    free(text);
}

static void tick__terminal__rewrites_one_line_and_wipes_it(void **state)
{
    (void)state;
    char *text = show_download(30);
    assert_non_null(strstr(text, "\r\033[Kerasing 100.0 KB\r\033[K"));
    /* as wide as the terminal, less one */
    assert_non_null(strstr(text, "\r\033[Kwriting 50.0 of 100.0 KB, 10.\r\033[K"));
    assert_null(strchr(text, '\n'));
    const char *end = "verifying 100.0 KB\r\033[K";
    assert_string_equal(text + strlen(text) - strlen(end), end);
    free(text);
}

static void tick__nothing_told__shows_nothing(void **state)
{
    struct progress p = { 0 };
    (void)state;
    progress_tick(&p, S); /* not even made */
    progress_clear(&p);
    progress_fini(&p);
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    progress_init(&p, out, "x", 80);
    progress_tick(&p, S);
    progress_tick(&p, 9 * S);
    fclose(out);
    assert_int_equal(len, 0);
    progress_fini(&p);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text__stages__say_how_far_and_how_fast),
        cmocka_unit_test(tick__no_terminal__gives_a_few_whole_lines),
        cmocka_unit_test(tick__terminal__rewrites_one_line_and_wipes_it),
        cmocka_unit_test(tick__nothing_told__shows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
