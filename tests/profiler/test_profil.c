/* profil: samples in buckets, with borders computed by hand; prof1: the file they are written to.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/views/export.h"
#include "profiler/views/exporters.h"
#include "profiler/views/notes.h"
#include "profiler/views/profil.h"
#include "tests/profiler/sink.h"

enum { LOW = 0x1000, MOST = 8 };

struct sample {
    uint64_t address, hits;
};

/* A statistical profile of one function, 0x1000 to 0x1010, and these samples; a row of 0 ends them.
 */
static struct profile *profile_of(const struct sample *samples)
{
    struct profile *p;
    assert_int_equal(profile_new(&p, NULL), 0);
    p->type = PROFILE_STATISTICAL;
    p->functions = arena_alloc(&p->arena, sizeof *p->functions);
    p->functions[0] = (struct profile_function){ .name = "f", .low = LOW, .high = LOW + 16 };
    p->nfunctions = 1;
    p->addresses = arena_alloc(&p->arena, MOST * sizeof *p->addresses);
    for (size_t i = 0; samples[i].hits; i++) {
        p->addresses[p->naddresses++] =
            (struct profile_address){ samples[i].address, samples[i].hits, 0 };
        p->total_hits += samples[i].hits;
    }
    p->functions[0].hits = p->total_hits;
    return p;
}

/* One sample at the first and the last byte of the range, and on either side of it; at 5 and 6. */
static const struct sample borders[] = { { 0xFFF, 1 },  { 0x1000, 2 },  { 0x1005, 4 },
                                         { 0x1006, 8 }, { 0x100F, 16 }, { 0x1010, 32 },
                                         { 0 } };

static void make__each_scale__has_each_sample_where_the_formula_puts_it(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct profil_request r;
        uint32_t scale;
        unsigned bytes;
        size_t n;
        uint64_t bucket[8];
    } rows[] = {
        { "nothing said: 2 for 2", { 0 }, 65536, 2, 8, { 2, 0, 4, 8, 0, 0, 0, 16 } },
        { "1.0", { .scale = 65536 }, 65536, 2, 8, { 2, 0, 4, 8, 0, 0, 0, 16 } },
        { "a half: 2 for 4", { .scale = 32768 }, 32768, 2, 4, { 2, 12, 0, 16 } },
        { "1.0, 4 bytes: 4 for 4",
          { .scale = 65536, .bucket_bytes = 4 },
          65536,
          4,
          4,
          { 2, 12, 0, 16 } },
        { "the coarsest: all in one", { .scale = 2 }, 2, 2, 1, { 30 } },
        /* 5 * 49152 / 65536 = 3.75: bucket 1; 6: 4.5, bucket 2; 15: 11.25, bucket 5 */
        { "three quarters", { .scale = 49152 }, 49152, 2, 6, { 2, 4, 8, 0, 0, 16 } },
        { "8 buckets", { .buckets = 8 }, 65536, 2, 8, { 2, 0, 4, 8, 0, 0, 0, 16 } },
        { "more than there is code for",
          { .buckets = 100 },
          65536,
          2,
          8,
          { 2, 0, 4, 8, 0, 0, 0, 16 } },
        /* 6 bytes for 16: 24576; 5: 1.875, 6: 2.25, 15: 5.6 */
        { "3 buckets", { .buckets = 3 }, 24576, 2, 3, { 6, 8, 16 } },
        { "7 bytes: 3 buckets, one byte left", { .buffer_bytes = 7 }, 24576, 2, 3, { 6, 8, 16 } },
        { "2 bytes", { .buffer_bytes = 2 }, 8192, 2, 1, { 30 } },
    };
    struct profile *p = profile_of(borders);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct profil b = { 0 };
        print_message("  %s\n", rows[i].name);
        assert_int_equal(profil_make(p, NULL, &rows[i].r, &b, NULL), 0);
        assert_int_equal(b.scale, rows[i].scale);
        assert_int_equal(b.bucket_bytes, rows[i].bytes);
        assert_int_equal(b.n, rows[i].n);
        assert_memory_equal(b.bucket, rows[i].bucket, b.n * sizeof *b.bucket);
        assert_int_equal(b.samples, 63);
        assert_int_equal(b.outside, 33);
        profil_fini(&b);
    }
    profile_free(p);
}

static void make__a_range__has_what_is_in_it(void **state)
{
    (void)state;
    static const uint64_t want[] = { 4, 8 };
    const struct profil_request r = { .has_range = true, .low = 0x1004, .high = 0x1007 };
    struct profile *p = profile_of(borders);
    struct profil b = { 0 };
    assert_int_equal(profil_make(p, NULL, &r, &b, NULL), 0);
    assert_int_equal(b.n, 2); /* an odd number of bytes: the last bucket is for one */
    assert_memory_equal(b.bucket, want, sizeof want);
    assert_int_equal(b.outside, 51);
    profil_fini(&b);
    profile_free(p);
}

static void make__a_file_without_addresses__has_functions_where_they_begin(void **state)
{
    (void)state;
    struct profile *p = profile_of(borders);
    struct profil b = { 0 };
    p->naddresses = 0;
    assert_int_equal(profil_make(p, NULL, NULL, &b, NULL), 0);
    assert_true(b.by_function);
    assert_int_equal(b.bucket[0], 63);
    assert_int_equal(b.nowhere, 0);
    profil_fini(&b);
    profile_free(p);
}

static void address__each_bucket__is_the_first_that_the_formula_puts_there(void **state)
{
    (void)state;
    static const uint32_t scales[] = { 2, 3, 1000, 24576, 32768, 49152, 65535, 65536 };
    for (size_t k = 0; k < ARRAY_LEN(scales); k++) {
        const struct profil b = { .low = LOW, .scale = scales[k], .bucket_bytes = 2 };
        for (uint64_t i = 1; i < 100; i++) {
            uint64_t at = profil_address(&b, i);
            assert_int_equal((at - LOW) * scales[k] / 65536 / 2, i);
            assert_int_equal((at - 1 - LOW) * scales[k] / 65536 / 2, i - 1);
        }
    }
}

static void make__a_full_bucket__is_widened_unless_2_bytes_were_asked_for(void **state)
{
    (void)state;
    static const struct {
        uint64_t hits;
        unsigned asked, bytes;
        uint64_t lost;
    } rows[] = {
        { 65535, 0, 2, 0 }, { 65536, 0, 4, 0 },      { 65535, 2, 2, 0 },
        { 65540, 2, 2, 5 }, { 0xFFFFFFFF, 4, 4, 0 }, { 0x100000001, 0, 4, 2 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct profile *p = profile_of((const struct sample[]){ { LOW, rows[i].hits }, { 0 } });
        const struct profil_request r = { .bucket_bytes = rows[i].asked };
        struct profil b = { 0 };
        size_t full;
        assert_int_equal(profil_make(p, NULL, &r, &b, NULL), 0);
        assert_int_equal(b.bucket_bytes, rows[i].bytes);
        assert_int_equal(profil_lost(&b, &full), rows[i].lost);
        assert_int_equal(full, rows[i].lost > 0);
        profil_fini(&b);
        profile_free(p);
    }
}

static void make__what_cannot_be__is_refused_with_a_hint(void **state)
{
    (void)state;
    static const struct {
        struct profil_request r;
        const char *what;
    } rows[] = {
        { { .buffer_bytes = 1 }, "switches profil off" },
        { { .has_range = true, .low = 0, .high = 0x100000, .buckets = 8 }, "switches profil off" },
        { { .has_range = true, .low = 8, .high = 8 }, "no code" },
        { { .has_range = true, .low = 8, .high = 4 }, "no code" },
        { { .has_range = true, .low = 0, .high = 0x1000002 }, "16 MB" },
        { { .has_range = true, .low = 0, .high = 0x100000001, .scale = 2 }, "4 GB" },
    };
    struct profile *p = profile_of(borders);
    struct profil b = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { .code = ERR_OK };
        assert_int_equal(profil_make(p, NULL, &rows[i].r, &b, &err), -ERR_USAGE);
        assert_non_null(strstr(err.what, rows[i].what));
        assert_string_not_equal(err.hint, "");
        assert_null(b.bucket);
    }
    p->type = PROFILE_TRACE;
    assert_int_equal(profil_make(p, NULL, &rows[0].r, &b, NULL), -ERR_USAGE);
    assert_int_equal(profil_make(p, NULL, NULL, &b, NULL), 0);
    assert_int_equal(b.n, 0);
    profile_free(p);
}

/* ---- the file ---- */

static void keep_notes(void *ctx, const char *text)
{
    char *all = ctx;
    assert_true(strlen(all) + strlen(text) + 2 < 1024);
    strcat(strcat(all, text), "\n");
}

static void check_file(const struct profile *p, const struct profil_request *r, const char *bytes,
                       size_t n, const char *said)
{
    char text[1024] = "";
    const struct note_taker notes = { keep_notes, text };
    const struct report_options o = { .buckets = r, .notes = &notes };
    const struct exporter *x;
    struct memory_sink m = { 0 };
    assert_int_equal(exporter_find("prof1", &x, NULL), 0);
    assert_int_equal(x->write(p, &o, sink_to(&m), NULL), 0);
    assert_int_equal(m.len, n);
    assert_memory_equal(m.text, bytes, n);
    assert_non_null(strstr(text, said));
    sink_free(&m);
}

static void prof1__samples__are_one_section(void **state)
{
    (void)state;
    static const char bytes[] = "<PROF1>\n"
                                "\0\0\0\0\0\0\0\1" /* samples */
                                "\0\0\0\0\0\0\0\x2e"
                                "\0\0\0\0\0\0\x10\0"
                                "\0\0\0\0\0\0\x10\x10"
                                "\0\0\x60\0"
                                "\0\0\0\2"
                                "\0\6\0\x8\xff\xff";
    static const struct sample samples[] = {
        { 0x1000, 6 }, { 0x1006, 8 }, { 0x100F, 70000 }, { 0x2000, 3 }, { 0 }
    };
    const struct profil_request r = { .buckets = 3, .bucket_bytes = 2 };
    struct profile *p = profile_of(samples);
    check_file(p, &r, bytes, sizeof bytes - 1, "1 bucket is full: 4465 more samples");
    check_file(p, &r, bytes, sizeof bytes - 1, "3 of 70017 samples are not in 0x00001000");
    check_file(p, &r, bytes, sizeof bytes - 1, "no field for the rate");
    profile_free(p);
}

static void prof1__a_trace__is_calls_and_arcs_and_says_so(void **state)
{
    (void)state;
    static const char bytes[] = "<PROF1>\n"
                                "\0\0\0\0\0\0\0\2" /* call counts */
                                "\0\0\0\0\0\0\0\x38"
                                "\0\0\0\2"
                                "\0\0\0\x8"
                                "\0\0\0\0\0\0\x10\0"
                                "\0\0\0\0\0\0\x20\0"
                                "\0\0\0\0\0\0\0\1"
                                "\0\0\0\1\0\0\0\5"
                                "\0\0\0\0\0\0\0\3" /* arcs */
                                "\0\0\0\0\0\0\0\x48"
                                "\0\0\0\2"
                                "\0\0\0\x8"
                                "\0\0\0\0\0\0\0\0"
                                "\0\0\0\0\0\0\x10\0"
                                "\0\0\0\0\0\0\x10\0"
                                "\0\0\0\0\0\0\x20\0"
                                "\0\0\0\0\0\0\0\1"
                                "\0\0\0\1\0\0\0\5";
    struct profile *p;
    assert_int_equal(profile_new(&p, NULL), 0);
    p->type = PROFILE_TRACE;
    p->functions = arena_alloc(&p->arena, 3 * sizeof *p->functions);
    p->functions[0] = (struct profile_function){ .low = 0, .high = 0, .hits = 4 }; /* no address */
    p->functions[1] = (struct profile_function){ .low = 0x1000, .high = 0x1010, .hits = 1 };
    p->functions[2] =
        (struct profile_function){ .low = 0x2000, .high = 0x2010, .hits = 0x100000005 };
    p->nfunctions = 3;
    p->nodes = arena_alloc(&p->arena, 4 * sizeof *p->nodes);
    p->nodes[0] = (struct profile_node){ .parent = PROFILE_NO_PARENT, .function = 0, .hits = 4 };
    p->nodes[1] = (struct profile_node){ .parent = 0, .function = 1, .hits = 1 };
    p->nodes[2] = (struct profile_node){ .parent = 1, .function = 2, .hits = 5 };
    p->nodes[3] = (struct profile_node){ .parent = 1, .function = 2, .hits = 0x100000000 };
    p->nnodes = 4;
    check_file(p, NULL, bytes, sizeof bytes - 1, "no samples");
    profile_free(p);
}

/* The second and the third of four have the most calls; of equal ones the lower address wins. */
static void prof1__fewer_counters__those_called_most_have_them_and_the_rest_is_told(void **state)
{
    (void)state;
    static const char bytes[] = "<PROF1>\n"
                                "\0\0\0\0\0\0\0\2" /* call counts */
                                "\0\0\0\0\0\0\0\x30"
                                "\0\0\0\2"
                                "\0\0\0\4"
                                "\0\0\0\0\0\0\x20\0"
                                "\0\0\0\0\0\0\x30\0"
                                "\0\0\0\7"
                                "\0\0\0\x9"
                                "\0\0\0\0\0\0\0\3" /* arcs */
                                "\0\0\0\0\0\0\0\x40"
                                "\0\0\0\2"
                                "\0\0\0\4"
                                "\0\0\0\0\0\0\x10\0"
                                "\0\0\0\0\0\0\x20\0"
                                "\0\0\0\0\0\0\x40\0"
                                "\0\0\0\0\0\0\x30\0"
                                "\0\0\0\7"
                                "\0\0\0\x9";
    static const uint64_t hits[] = { 1, 7, 9, 7 };
    char said[256] = "";
    const struct note_taker notes = { keep_notes, said };
    struct report_options o = { .counters = 2, .notes = &notes };
    struct memory_sink m = { 0 };
    struct err err = { .code = ERR_OK };
    struct profile *p;
    assert_int_equal(profile_new(&p, NULL), 0);
    p->type = PROFILE_TRACE;
    p->functions = arena_alloc(&p->arena, 4 * sizeof *p->functions);
    p->nodes = arena_alloc(&p->arena, 4 * sizeof *p->nodes);
    p->nfunctions = p->nnodes = 4;
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t low = (i + 1) * 0x1000;
        p->functions[i] =
            (struct profile_function){ .low = low, .high = low + 16, .hits = hits[i] };
        p->nodes[i] = (struct profile_node){ .function = i, .hits = hits[i] };
    }
    p->nodes[0].parent = PROFILE_NO_PARENT;
    p->nodes[1].parent = p->nodes[3].parent = 0;
    p->nodes[2].parent = 3;
    assert_int_equal(export_prof1(p, &o, sink_to(&m), NULL), 0);
    assert_int_equal(m.len, sizeof bytes - 1);
    assert_memory_equal(m.text, bytes, sizeof bytes - 1);
    assert_non_null(strstr(said, "2 of 4 functions have no counter (--nfunc): 8 of 24 calls"));
    sink_free(&m);
    o.counters = 4;
    said[0] = 0;
    assert_int_equal(export_prof1(p, &o, sink_to(&m), NULL), 0);
    assert_null(strstr(said, "nfunc"));
    sink_free(&m);
    p->info.unknown = PROFILE_HITS;
    assert_int_equal(export_prof1(p, &o, sink_to(&m), &err), -ERR_USAGE);
    assert_non_null(strstr(err.what, "how often"));
    assert_int_equal(m.len, 0);
    sink_free(&m);
    profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(make__each_scale__has_each_sample_where_the_formula_puts_it),
        cmocka_unit_test(make__a_range__has_what_is_in_it),
        cmocka_unit_test(make__a_file_without_addresses__has_functions_where_they_begin),
        cmocka_unit_test(address__each_bucket__is_the_first_that_the_formula_puts_there),
        cmocka_unit_test(make__a_full_bucket__is_widened_unless_2_bytes_were_asked_for),
        cmocka_unit_test(make__what_cannot_be__is_refused_with_a_hint),
        cmocka_unit_test(prof1__samples__are_one_section),
        cmocka_unit_test(prof1__a_trace__is_calls_and_arcs_and_says_so),
        cmocka_unit_test(prof1__fewer_counters__those_called_most_have_them_and_the_rest_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
