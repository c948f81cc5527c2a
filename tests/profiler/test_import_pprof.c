/* pprof's files, Go's and our own, become call paths with their columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/views/export.h"
#include "profiler/views/import.h"
#include "tests/profiler/import_check.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

static uint8_t *load_corpus(const char *name, size_t *n)
{
    char path[400];
    snprintf(path, sizeof path, SOURCE_DIR "/tests/fuzz/corpus/fuzz_pprof/%s", name);
    return load_file(path, n);
}

static struct profile *read_bytes(const uint8_t *data, size_t n)
{
    struct profile *p = NULL;
    struct err err = { .code = ERR_OK };
    assert_true(import_pprof_is(data, n));
    int ret = import_pprof(data, n, &p, &err);
    if (ret < 0)
        fail_msg("%s", err.what);
    import_check_profile(p);
    return p;
}

static struct profile *read_corpus(const char *name)
{
    size_t n;
    uint8_t *data = load_corpus(name, &n);
    struct profile *p = read_bytes(data, n);
    free(data);
    return p;
}

static const struct profile_function *function_named(const struct profile *p, const char *name)
{
    for (size_t i = 0; i < p->nfunctions; i++)
        if (!strcmp(profile_shown_name(&p->functions[i]), name))
            return &p->functions[i];
    fail_msg("no function %s", name);
    return NULL;
}

static void import_pprof__gos_file__compressed_or_not__has_its_sums(void **state)
{
    (void)state;
    static const char *const names[] = { "go.pb", "go.pb.gz" };
    for (size_t i = 0; i < 2; i++) {
        struct profile *p = read_corpus(names[i]);
        assert_string_equal(p->info.counter[0].name, "cpu"); /* the last is what pprof shows */
        assert_string_equal(p->info.counter[0].unit, "nanoseconds");
        assert_string_equal(p->info.counter[1].name, "samples");
        assert_false(profile_knows(p, PROFILE_HITS));
        assert_true(profile_knows(p, PROFILE_PATHS));
        assert_int_equal(p->total_c1, 90);
        assert_int_equal(p->total_c2, 9);
        assert_int_equal(function_named(p, "main")->c1_children, 70);
        assert_int_equal(function_named(p, "g")->c1, 50); /* inlined into f, the innermost */
        assert_int_equal(function_named(p, "f")->c1, 20);
        assert_int_equal(function_named(p, "f")->c1_children, 70);
        assert_int_equal(function_named(p, "0x8c010120")->c1, 10);
        assert_int_equal(function_named(p, "[no call path]")->c1, 10);
        assert_true(function_named(p, "g")->doubtful);
        assert_string_equal(function_named(p, "g")->file, "t.c");
        assert_int_equal(function_named(p, "g")->line, 12);
        assert_string_equal(p->info.elf, "/home/t");
        assert_int_equal(p->info.build_id_len, 4);
        assert_int_equal(p->info.build_id[3], 0xBB);
        assert_int_equal(p->info.when, 1700000000);
        assert_int_equal(p->info.nremarks, 0);
        profile_free(p);
    }
}

static void import_pprof__hits_and_a_default__are_found(void **state)
{
    (void)state;
    struct profile *p = read_corpus("ours.pb");
    assert_true(profile_knows(p, PROFILE_HITS));
    assert_string_equal(p->info.counter[0].name, "cpu");
    assert_string_equal(p->info.counter[1].name, "samples");
    assert_int_equal(function_named(p, "f")->hits, 2);
    assert_int_equal(function_named(p, "main")->hits, 1);
    assert_int_equal(function_named(p, "main")->c1_children, 50);
    assert_string_equal(p->info.note, "7 events, 1 lost");
    profile_free(p);
}

static void export_pprof__what_we_write__has_the_same_paths(void **state)
{
    (void)state;
    struct profile *from = sample_profile(), *p;
    struct memory_sink m = { 0 };
    assert_int_equal(export_pprof(from, &(struct report_options){ 0 }, sink_to(&m), NULL), 0);
    p = read_bytes((const uint8_t *)m.text, m.len);
    assert_int_equal(p->total_hits, from->total_hits);
    for (size_t i = 0; i < from->nfunctions; i++) {
        const struct profile_function *f = &from->functions[i], *g;
        if (!f->hits && !f->c1)
            continue;
        g = function_named(p, profile_shown_name(f));
        assert_int_equal(g->hits, f->hits);
        assert_int_equal(g->c1, f->c1);
        assert_int_equal(g->c1_children, f->c1_children);
        assert_int_equal(g->c2, f->c2);
        assert_int_equal(g->c2_children, f->c2_children);
    }
    sink_free(&m);
    profile_free(p);
    profile_free(from);
}

static void refuse_bytes(const uint8_t *data, size_t n, const char *what)
{
    struct profile *p = NULL;
    struct err err = { .code = ERR_OK };
    print_message("  %s\n", what);
    assert_int_equal(import_pprof(data, n, &p, &err), -ERR_FORMAT);
    assert_null(p);
    if (!strstr(err.what, what))
        fail_msg("%s", err.what);
    import_check_refusal(-ERR_FORMAT, &err);
}

static void import_pprof__what_is_wrong__is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *what;
    } rows[] = {
#define ROW(s, w) { s, sizeof s - 1, w }
        ROW("", "offset 0: the file ends before its kinds"),
        ROW("\x0A\x09\x08\x01", "offset 0: no field of a message, or one that is cut short"),
        ROW("\x0A\x02\x08\x01\x32\x00", "offset 0: a kind of values without a name"),
        ROW("\x0A\x02\x08\x00\x32\x00\x12\x03\x0A\x01\x07", "offset 6: a sample of a location"),
        ROW("\x0A\x02\x08\x00\x32\x00\x12\x02\x10\x01\x12\x00", "offset 10: a sample with fewer"),
        ROW("\x0A\x02\x08\x00\x32\x00\x12\x04\x10\x01\x10\x01", "offset 6: a sample with more"),
        ROW("\x0A\x02\x08\x00\x32\x00\x12\x0B\x10\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",
            "offset 6: a sample with a negative value"),
        ROW("\x0A\x02\x08\x00\x32\x00\x2A\x02\x10\x05", "offset 6: the number of a text"),
        ROW("\x0A\x02\x08\x00\x32\x00\x22\x04\x22\x02\x08\x05", "is of function 5, which is not"),
        ROW("\x0A\x02\x08\x00\x32\x00\x12\x03\x12\x01\x80", "offset 8: numbers that are cut short"),
        ROW("\x1F\x8B\x08\x00", "gzip, offset 4: cut short"),
#undef ROW
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refuse_bytes((const uint8_t *)rows[i].bytes, rows[i].n, rows[i].what);
}

static void import_pprof__gzip_cut_anywhere__is_refused(void **state)
{
    (void)state;
    size_t n;
    uint8_t *data = load_corpus("go.pb.gz", &n);
    for (size_t cut = 3; cut < n; cut++)
        refuse_bytes(data, cut, "gzip, offset");
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(import_pprof__gos_file__compressed_or_not__has_its_sums),
        cmocka_unit_test(import_pprof__hits_and_a_default__are_found),
        cmocka_unit_test(export_pprof__what_we_write__has_the_same_paths),
        cmocka_unit_test(import_pprof__what_is_wrong__is_refused_with_its_place),
        cmocka_unit_test(import_pprof__gzip_cut_anywhere__is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
