/* Any text as --columns and as --hot: what is refused says what to do, what is taken can be shown,
 * and its names mean the same again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/views/hot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_hold(bool ok)
{
    if (!ok)
        abort();
}

static void check_list(const char *text)
{
    struct cell_list l = { .n = 0 }, again = { .n = 0 };
    struct err err = { .code = ERR_OK };
    char names[200] = "";
    if (cell_list_parse(text, &l, &err) < 0) {
        must_hold(*err.hint && *err.what && l.n == 0);
        return;
    }
    must_hold(l.n > 0 && l.n <= CELL_NCOLUMNS);
    for (size_t i = 0; i < l.n; i++) {
        must_hold(cell_width(l.column[i]) > 0);
        strcat(names, i ? "," : "");
        strcat(names, cell_name(l.column[i]));
    }
    must_hold(cell_list_parse(names, &again, NULL) == 0 && again.n == l.n);
    must_hold(memcmp(again.column, l.column, l.n * sizeof l.column[0]) == 0);
}

static void check_threshold(const char *text)
{
    struct hot_list l = { .n = 0 };
    struct err err = { .code = ERR_OK };
    char shown[HOT_TEXT];
    struct profile_function f = { .name = "f", .hits = 3, .c1 = 10, .low = 2, .high = 4 };
    const struct profile p = { .type = PROFILE_TRACE, .total_hits = 7, .total_c1 = 20 };
    const struct cell_row row = cell_row_function(&p, &f);
    if (hot_add(&l, "--hot", text, false, &err) < 0) {
        must_hold(*err.hint && *err.what && l.n == 0);
        return;
    }
    must_hold(l.n == 1 && strcmp(hot_text(&l, false, shown, sizeof shown), text) == 0);
    must_hold(!hot_fails(&l, &row, NULL)); /* it marks */
    hot_met(&l, &row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);
    must_hold(text != NULL);
    check_list(text);
    check_threshold(text);
    free(text);
    return 0;
}
