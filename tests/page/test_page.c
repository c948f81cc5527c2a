/* The page in the program is the page in the tree. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/page/page.h"

static void page__each_file__has_the_bytes_of_the_tree(void **state)
{
    (void)state;
    size_t n;
    const struct page_file *f = page_files(&n);
    assert_true(n > 3);
    for (size_t i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/profiler/page/%s", SOURCE_DIR, f[i].name);
        FILE *in = fopen(path, "rb");
        print_message("  %s\n", f[i].name);
        assert_non_null(in);
        unsigned char *bytes = malloc(f[i].size + 2);
        assert_int_equal(fread(bytes, 1, f[i].size + 2, in), f[i].size);
        assert_memory_equal(bytes, f[i].bytes, f[i].size);
        free(bytes);
        fclose(in);
        assert_true(i == 0 || strcmp(f[i - 1].name, f[i].name) < 0);
        assert_true(f[i].etag[0] == '"' && f[i].etag[strlen(f[i].etag) - 1] == '"');
        assert_ptr_equal(page_find(f[i].name), &f[i]);
    }
}

static void page__names_and_types__are_what_browsers_need(void **state)
{
    (void)state;
    static const struct {
        const char *name, *type;
    } rows[] = { { "index.html", "text/html; charset=utf-8" },
                 { "vendor/uPlot.esm.js", "text/javascript; charset=utf-8" },
                 { "vendor/uPlot.css", "text/css; charset=utf-8" },
                 { "vendor/LICENSE", "text/plain; charset=utf-8" } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct page_file *f = page_find(rows[i].name);
        assert_non_null(f);
        assert_string_equal(f->type, rows[i].type);
    }
    assert_null(page_find(""));
    assert_null(page_find("../page/index.html"));
    assert_null(page_find("vendor"));
    assert_null(page_find("embed.cmake"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page__each_file__has_the_bytes_of_the_tree),
        cmocka_unit_test(page__names_and_types__are_what_browsers_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
