/* exporters: one table of formats, each writes the whole profile, to any sink and to files. */
#include <stdlib.h>
#include <string.h>

#include "profiler/views/exporters.h"
#include "profiler/views/report_json.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

static const struct report_options options = { .width = 80, .ascii = true };

static void exporter_find__each_name__is_that_row(void **state)
{
    (void)state;
    size_t n;
    const struct exporter *all = exporters(&n), *x;
    assert_true(n >= 4);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(exporter_find(all[i].name, &x, NULL), 0);
        assert_ptr_equal(x, &all[i]);
        assert_true(*all[i].suffix && *all[i].suffix != '.');
    }
}

static void exporter_find__unknown_name__lists_the_table(void **state)
{
    (void)state;
    size_t n;
    const struct exporter *all = exporters(&n), *x = NULL;
    struct err err = { .code = ERR_OK };
    assert_int_equal(exporter_find("yaml", &x, &err), -ERR_USAGE);
    assert_null(x);
    assert_string_equal(err.what, "no format \"yaml\"");
    for (size_t i = 0; i < n; i++)
        assert_non_null(strstr(err.hint, all[i].name));
}

/* The sample has no program and is of no recording: what needs one says so. */
static bool refused_without(const struct exporter *x, const struct profile *p)
{
    struct memory_sink m = { 0 };
    struct err err = { .code = ERR_OK };
    if (!(x->needs & (EXPORT_NEEDS_SYMBOLS | EXPORT_NEEDS_RECORDING)))
        return false;
    assert_int_equal(x->write(p, &options, sink_to(&m), &err), -ERR_USAGE);
    assert_non_null(strstr(err.hint, x->needs & EXPORT_NEEDS_SYMBOLS ? "ELF" : "recording"));
    assert_int_equal(m.len, 0);
    sink_free(&m);
    return true;
}

static void write__each_format__text_unless_it_needs_a_file(void **state)
{
    (void)state;
    size_t n;
    const struct exporter *all = exporters(&n);
    struct profile *p = sample_profile();
    for (size_t i = 0; i < n; i++) {
        struct memory_sink m = { 0 };
        if (refused_without(&all[i], p))
            continue;
        assert_int_equal(all[i].write(p, &options, sink_to(&m), NULL), 0);
        assert_true(m.len > 100);
        bool bytes = memchr(m.text, 0, m.len) != NULL;
        assert_int_equal(bytes, (all[i].needs & EXPORT_NEEDS_FILE) != 0);
        sink_free(&m);
    }
    profile_free(p);
}

static void write__json__is_the_document(void **state)
{
    (void)state;
    const struct exporter *x;
    struct profile *p = sample_profile();
    struct memory_sink one = { 0 }, other = { 0 };
    assert_int_equal(exporter_find("json", &x, NULL), 0);
    assert_int_equal(x->write(p, &options, sink_to(&one), NULL), 0);
    report_json(p, sink_to(&other));
    assert_string_equal(sink_text(&one), sink_text(&other));
    sink_free(&one);
    sink_free(&other);
    profile_free(p);
}

static void exporter_save__each_format__the_file_has_what_was_written(void **state)
{
    (void)state;
    size_t n, len;
    const struct exporter *all = exporters(&n);
    struct profile *p = sample_profile();
    char *folder = temp_folder(), *path = temp_path(folder, "out");
    for (size_t i = 0; i < n; i++) {
        struct memory_sink m = { 0 };
        if (refused_without(&all[i], p))
            continue;
        assert_int_equal(all[i].write(p, &options, sink_to(&m), NULL), 0);
        assert_int_equal(exporter_save(&all[i], p, &options, path, NULL), 0);
        uint8_t *data = load_file(path, &len);
        assert_int_equal(len, m.len);
        assert_memory_equal(data, m.text, len);
        free(data);
        sink_free(&m);
    }
    free(path);
    temp_remove(folder);
    profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exporter_find__each_name__is_that_row),
        cmocka_unit_test(exporter_find__unknown_name__lists_the_table),
        cmocka_unit_test(write__each_format__text_unless_it_needs_a_file),
        cmocka_unit_test(write__json__is_the_document),
        cmocka_unit_test(exporter_save__each_format__the_file_has_what_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
