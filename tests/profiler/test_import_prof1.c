/* HP's <PROF1>: what was written is read again; either byte order; what cannot be is refused, with
 * its place. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "profiler/views/exporters.h"
#include "profiler/views/import.h"
#include "profiler/views/prof1.h"
#include "profiler/views/profil.h"
#include "tests/profiler/import_check.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

/* A file that is put together. */
struct file {
    uint8_t data[512];
    size_t n;
    bool big;
};

static void put_number(struct file *f, uint64_t v, unsigned bytes)
{
    uint8_t at[8];
    put32(at, (uint32_t)(f->big ? v >> 32 : v), f->big);
    put32(at + 4, (uint32_t)(f->big ? v : v >> 32), f->big);
    memcpy(f->data + f->n, f->big ? at + 8 - bytes : at, bytes);
    f->n += bytes;
}

static struct file begin_file(bool big)
{
    struct file f = { .big = big, .n = PROF1_MAGIC_BYTES };
    memcpy(f.data, PROF1_MAGIC, PROF1_MAGIC_BYTES);
    return f;
}

static void put_samples(struct file *f, uint64_t low, uint64_t high, uint32_t scale, unsigned bytes,
                        const uint64_t *bucket, size_t n)
{
    put_number(f, PROF1_SAMPLES, 8);
    put_number(f, PROF1_SAMPLES_HEADER + n * bytes, 8);
    put_number(f, low, 8);
    put_number(f, high, 8);
    put_number(f, scale, 4);
    put_number(f, bytes, 4);
    for (size_t i = 0; i < n; i++)
        put_number(f, bucket[i], bytes);
}

static void put_counts(struct file *f, const struct pc_call *call, size_t n, unsigned bytes)
{
    put_number(f, PROF1_CALL_COUNTS, 8);
    put_number(f, PROF1_CALLS_HEADER + n * (8 + bytes), 8);
    put_number(f, n, 4);
    put_number(f, bytes, 4);
    for (size_t i = 0; i < n; i++)
        put_number(f, call[i].to, 8);
    for (size_t i = 0; i < n; i++)
        put_number(f, call[i].count, bytes);
}

static void put_arcs(struct file *f, const struct pc_call *call, size_t n)
{
    put_number(f, PROF1_CALL_ARCS, 8);
    put_number(f, PROF1_CALLS_HEADER + n * 20, 8);
    put_number(f, n, 4);
    put_number(f, 4, 4);
    for (size_t i = 0; i < n; i++) {
        put_number(f, call[i].from, 8);
        put_number(f, call[i].to, 8);
    }
    for (size_t i = 0; i < n; i++)
        put_number(f, call[i].count, 4);
}

static struct profile *read_file(const struct file *f, const struct symbols *syms)
{
    struct profile *p = NULL;
    struct err err = { .code = ERR_OK };
    if (import_prof1(f->data, f->n, syms, &p, &err) < 0)
        fail_msg("%s", err.what);
    import_check_profile(p);
    return p;
}

static bool has_remark(const struct profile *p, const char *kind, uint64_t count)
{
    for (size_t i = 0; i < p->info.nremarks; i++)
        if (!strcmp(p->info.remarks[i].kind, kind))
            return p->info.remarks[i].count == count;
    return false;
}

static void samples__each_byte_order_and_size__are_at_the_buckets_addresses(void **state)
{
    (void)state;
    static const uint64_t bucket[] = { 5, 0, 7 };
    static const struct {
        bool big;
        uint32_t scale;
        unsigned bytes;
        uint64_t third; /* where the third bucket begins */
    } rows[] = { { true, 65536, 2, 4 },  { false, 65536, 2, 4 },  { true, 32768, 2, 8 },
                 { true, 65536, 4, 8 },  { false, 2, 8, 524288 }, { true, 49152, 2, 6 },
                 { false, 24576, 2, 11 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct file f = begin_file(rows[i].big);
        put_samples(&f, 0x1000, 0x1000 + rows[i].third + 1, rows[i].scale, rows[i].bytes, bucket,
                    3);
        struct profile *p = read_file(&f, NULL);
        assert_int_equal(p->type, PROFILE_STATISTICAL);
        assert_int_equal(p->total_hits, 12);
        assert_int_equal(p->naddresses, 2);
        assert_int_equal(p->addresses[0].address, 0x1000);
        assert_int_equal(p->addresses[0].hits, 5);
        assert_int_equal(p->addresses[1].address, 0x1000 + rows[i].third);
        assert_int_equal(p->addresses[1].hits, 7);
        assert_string_equal(p->functions[0].name, "0x00001000");
        profile_free(p);
    }
}

static void calls__counts_or_arcs__are_hits_and_no_call_paths(void **state)
{
    (void)state;
    static const struct pc_call call[] = { { 0x10, 0x30, 3 }, { 0x20, 0x30, 4 }, { 0, 0x10, 1 } };
    static const struct pc_call count[] = { { 0, 0x30, 0x100000007 }, { 0, 0x10, 1 } };
    for (int with_counts = 0; with_counts < 2; with_counts++) {
        struct file f = begin_file(true);
        put_arcs(&f, call, 3);
        if (with_counts)
            put_counts(&f, count, 2, 8);
        struct profile *p = read_file(&f, NULL);
        assert_int_equal(p->type, PROFILE_TRACE);
        assert_false(profile_knows(p, PROFILE_PATHS));
        assert_true(profile_knows(p, PROFILE_HITS));
        assert_int_equal(p->nfunctions, 3);
        assert_int_equal(p->functions[2].low, 0x30);
        assert_int_equal(p->functions[2].hits, with_counts ? 0x100000007 : 7);
        assert_int_equal(p->functions[0].hits, 1);
        assert_int_equal(p->functions[1].hits, 0);
        assert_true(p->functions[1].hits_unknown);
        assert_int_equal(p->ncalls, 3);
        assert_int_equal(p->calls[0].caller, 0);
        assert_int_equal(p->calls[0].callee, 2);
        assert_int_equal(p->calls[0].hits, 3);
        assert_int_equal(p->calls[1].hits, 4);
        assert_int_equal(p->calls[2].caller, PROFILE_NO_PARENT);
        assert_null(p->info.counter[0].name);
        profile_free(p);
    }
}

/* The program names functions; buckets that are of two are doubtful. */
static void samples__with_the_program__are_of_its_functions(void **state)
{
    (void)state;
    struct symbols *syms;
    assert_int_equal(symbols_open(FIXTURES "small-le.elf", &syms, NULL), 0);
    size_t k = 0;
    while (symbols_function(syms, k)->high != symbols_function(syms, k + 1)->low)
        k++;
    const struct symbol_function *one = symbols_function(syms, k), *two = one + 1;
    struct file f = begin_file(true);
    const uint64_t whole[] = { 3, 4 }, shared[] = { 5 };
    put_samples(&f, one->high - 2, one->high + 2, 65536, 2, whole, 2);
    put_samples(&f, one->high - 2, one->high + 2, 32768, 2, shared, 1);
    struct profile *p = read_file(&f, syms);
    assert_int_equal(p->nfunctions, 2);
    assert_string_equal(p->functions[0].name, one->name);
    assert_string_equal(p->functions[1].name, two->name);
    assert_int_equal(p->functions[0].hits, 8);
    assert_int_equal(p->functions[1].hits, 4);
    assert_true(p->functions[0].doubtful);
    assert_false(p->functions[1].doubtful);
    assert_true(has_remark(p, "shared-buckets", 5));
    profile_free(p);
    symbols_close(syms);
}

static void what_the_file_leaves_open__is_said(void **state)
{
    (void)state;
    static const uint64_t bucket[] = { 65535, 65534 };
    static const struct pc_call call[] = { { 0, 0x1000, 1 } };
    struct file f = begin_file(false);
    put_samples(&f, 0x1000, 0x1004, 65536, 2, bucket, 2);
    put_number(&f, 77, 8); /* another type */
    put_number(&f, 17, 8);
    put_number(&f, 1, 1);
    put_counts(&f, call, 1, 4);
    struct profile *p = read_file(&f, NULL);
    assert_int_equal(p->type, PROFILE_TRACE);
    assert_int_equal(p->total_c1, 131069);
    assert_int_equal(p->total_hits, 1);
    assert_string_equal(p->info.counter[0].name, "samples");
    assert_false(profile_knows(p, PROFILE_CHILDREN));
    assert_true(has_remark(p, "full-buckets", 1));
    assert_true(has_remark(p, "skipped", 1));
    assert_true(p->info.sums_only);
    assert_int_equal(p->info.sampling.rate_asked, 0);
    profile_free(p);
}

/* Written, read, written: the same bytes. */
static void round_trip__of_samples__is_the_same_file(void **state)
{
    (void)state;
    static const uint64_t bucket[] = { 1, 2, 0, 70000 };
    const struct exporter *x;
    struct file f = begin_file(true);
    struct memory_sink m = { 0 };
    put_samples(&f, 0x1000, 0x1010, 65536, 4, bucket, 4);
    struct profile *p = read_file(&f, NULL);
    const struct profil_request r = {
        .has_range = true, .low = 0x1000, .high = 0x1010, .bucket_bytes = 4
    };
    const struct report_options o = { .buckets = &r };
    assert_int_equal(exporter_find("prof1", &x, NULL), 0);
    assert_int_equal(x->write(p, &o, sink_to(&m), NULL), 0);
    assert_int_equal(m.len, f.n);
    assert_memory_equal(m.text, f.data, f.n);
    sink_free(&m);
    profile_free(p);
}

static void round_trip__of_calls__is_the_same_file(void **state)
{
    (void)state;
    static const struct pc_call count[] = { { 0, 0x10, 1 }, { 0, 0x30, 7 } };
    static const struct pc_call call[] = { { 0, 0x10, 1 }, { 0x10, 0x30, 3 }, { 0x20, 0x30, 4 } };
    const struct exporter *x;
    struct file f = begin_file(true);
    struct memory_sink m = { 0 };
    put_counts(&f, count, 2, 4);
    put_arcs(&f, call, 3);
    struct profile *p = read_file(&f, NULL);
    assert_int_equal(exporter_find("prof1", &x, NULL), 0);
    assert_int_equal(x->write(p, &(struct report_options){ 0 }, sink_to(&m), NULL), 0);
    assert_int_equal(m.len, f.n);
    assert_memory_equal(m.text, f.data, f.n);
    sink_free(&m);
    profile_free(p);
}

static void round_trip__of_a_trace__has_its_calls(void **state)
{
    (void)state;
    const struct exporter *x;
    struct memory_sink m = { 0 };
    struct profile *from = sample_profile(), *p = NULL;
    uint64_t with_address = 0;
    assert_int_equal(exporter_find("prof1", &x, NULL), 0);
    assert_int_equal(x->write(from, &(struct report_options){ 0 }, sink_to(&m), NULL), 0);
    assert_int_equal(import_prof1((const uint8_t *)m.text, m.len, NULL, &p, NULL), 0);
    for (size_t i = 0; i < from->nfunctions; i++) {
        const struct profile_function *f = &from->functions[i];
        size_t k = profile_function_at(p, f->low);
        if (f->high <= f->low || !f->hits)
            continue;
        with_address += f->hits;
        assert_true(k < p->nfunctions);
        assert_int_equal(p->functions[k].low, f->low);
        assert_int_equal(p->functions[k].hits, f->hits);
    }
    assert_int_equal(p->total_hits, with_address);
    sink_free(&m);
    profile_free(from);
    profile_free(p);
}

/* ---- what is refused ---- */

static void assert_refused(const uint8_t *data, size_t n, const char *what)
{
    struct profile *p = NULL;
    struct err err = { .code = ERR_OK };
    assert_int_equal(import_prof1(data, n, NULL, &p, &err), -ERR_FORMAT);
    assert_null(p);
    if (!strstr(err.what, what))
        fail_msg("\"%s\" for \"%s\"", err.what, what);
    import_check_refusal(-ERR_FORMAT, &err);
}

/* Good but for one number: `bytes` of it at `at` become `value`. */
static void damaged__each_field__is_refused_with_its_offset(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint64_t value;
        unsigned bytes;
        const char *what;
    } rows[] = {
        { 16, 15, 8, "offset 16: a section shorter than its header: 15" },
        { 16, 39, 8, "offset 16: too short for a section of samples: 39" },
        { 16, 45, 8, "offset 16: a length that is not one of whole buckets: 45" },
        { 16, 1000, 8, "offset 16: cut short: a section of more bytes than there are: 1000" },
        { 16, UINT64_MAX, 8, "offset 16: cut short" },
        { 24, UINT64_MAX, 8, "offset 32: the code ends where it begins, or before" },
        { 32, 0x1000, 8, "offset 32: the code ends where it begins, or before: 4096" },
        { 40, 1, 4, "offset 40: a scale that is not from 2 to 65536: 1" },
        { 40, 65537, 4, "offset 40: a scale that is not from 2 to 65536: 65537" },
        { 44, 3, 4, "offset 44: buckets of so many bytes: 3" },
        { 62, 23, 8, "offset 62: too short for a section of calls: 23" },
        { 70, 2, 4, "offset 70: more counters than the section has room for: 2" },
        { 70, UINT32_MAX, 4, "offset 70: more counters" },
        { 74, 2, 4, "offset 74: counters of so many bytes: 2" },
    };
    static const uint64_t bucket[] = { 1, 2, 3 };
    static const struct pc_call call[] = { { 0, 0x1000, 1 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct file f = begin_file(true);
        put_samples(&f, 0x1000, 0x1006, 65536, 2, bucket, 3);
        put_counts(&f, call, 1, 4);
        size_t n = f.n;
        f.n = rows[i].at;
        put_number(&f, rows[i].value, rows[i].bytes);
        assert_refused(f.data, n, rows[i].what);
    }
}

static void cut__at_every_length__is_refused_unless_a_section_ends_there(void **state)
{
    (void)state;
    static const uint64_t bucket[] = { 1, 2, 3 };
    static const struct pc_call call[] = { { 0x10, 0x1000, 1 } };
    struct file f = begin_file(true);
    put_samples(&f, 0x1000, 0x1006, 65536, 2, bucket, 3);
    size_t first = f.n;
    put_arcs(&f, call, 1);
    for (size_t n = 0; n < f.n; n++) {
        uint8_t *exactly = malloc(n + 1);
        memcpy(exactly, f.data, n);
        if (n != first)
            assert_refused(exactly, n, n < PROF1_MAGIC_BYTES ? "no <PROF1>" : "cut short");
        free(exactly);
    }
}

static void old_format__is_known_by_its_looks_and_refused_by_name(void **state)
{
    (void)state;
    struct file hp = { .big = true }, bsd = { .big = false }, gnu = { .n = 20 };
    put_number(&hp, 0x1000, 4); /* low, high, bytes of buckets with this header */
    put_number(&hp, 0x2000, 4);
    put_number(&hp, 12 + 0x800, 4);
    put_number(&hp, 0, 8);
    put_number(&bsd, 0x1000, 4);
    put_number(&bsd, 0x2000, 4);
    put_number(&bsd, 24 + 0x800, 4);
    put_number(&bsd, 0x51879, 4);
    memcpy(gnu.data, "gmon\1\0\0\0", 8);
    assert_true(import_prof1_is(hp.data, hp.n));
    assert_true(import_prof1_is(bsd.data, bsd.n));
    assert_false(import_prof1_is(gnu.data, gnu.n));
    assert_false(import_prof1_is((const uint8_t *)"main;f 3\nmain 4\n", 16));
    assert_false(import_prof1_is((const uint8_t *)"", 0));
    assert_refused(hp.data, hp.n,
                   "offset 0: no <PROF1>: this looks like the 32-bit format of prof");
    assert_refused(bsd.data, bsd.n, "this looks like the 32-bit format");
    struct err err = { .code = ERR_OK };
    struct profile *p = NULL;
    assert_int_equal(import_prof1(gnu.data, gnu.n, NULL, &p, &err), -ERR_FORMAT);
    assert_null(strstr(err.what, "32-bit"));
}

static void counts__beyond_64_bits__are_refused(void **state)
{
    (void)state;
    static const uint64_t bucket[] = { UINT64_MAX, 1 };
    struct file f = begin_file(true);
    put_samples(&f, 0x1000, 0x1010, 65536, 8, bucket, 2);
    assert_refused(f.data, f.n, "all counts together have more than 64 bits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples__each_byte_order_and_size__are_at_the_buckets_addresses),
        cmocka_unit_test(calls__counts_or_arcs__are_hits_and_no_call_paths),
        cmocka_unit_test(samples__with_the_program__are_of_its_functions),
        cmocka_unit_test(what_the_file_leaves_open__is_said),
        cmocka_unit_test(round_trip__of_samples__is_the_same_file),
        cmocka_unit_test(round_trip__of_calls__is_the_same_file),
        cmocka_unit_test(round_trip__of_a_trace__has_its_calls),
        cmocka_unit_test(damaged__each_field__is_refused_with_its_offset),
        cmocka_unit_test(cut__at_every_length__is_refused_unless_a_section_ends_there),
        cmocka_unit_test(old_format__is_known_by_its_looks_and_refused_by_name),
        cmocka_unit_test(counts__beyond_64_bits__are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
