/* .prf: files put together here field by field from appendix B's offset tables, without the
 * encoder. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/base/util.h"
#include "profiler/views/exporters.h"
#include "profiler/views/prf.h"
#include "tests/profiler/sink.h"

static int save_prf(const char *path, const struct profile *p, struct err *err)
{
    const struct exporter *x;
    assert_int_equal(exporter_find("prf", &x, NULL), 0);
    return exporter_save(x, p, NULL, path, err);
}

/* ---- bytes by the book ---- */

struct bytes {
    uint8_t at[4096];
    size_t len;
};

/* Little-endian value of `size` bytes at an offset from `base`. */
static void set_value(struct bytes *b, size_t base, size_t offset, unsigned size, uint64_t value)
{
    for (unsigned i = 0; i < size; i++)
        b->at[base + offset + i] = (uint8_t)(value >> 8 * i);
}

static void add_string(struct bytes *b, const char *text)
{
    size_t n = strlen(text);
    set_value(b, b->len, 0, 2, n);
    memcpy(b->at + b->len + 2, text, n);
    b->len += 2 + n;
}

struct row {
    uint8_t description;
    uint16_t attributes, line;
    uint32_t low, high;
    uint64_t hits, c1c, c1, c2c, c2;
    const char *name, *label, *qualified;
};

static const struct row main_row = { 1,   0,  1, 0x8c010020, 0x8c01003f, 1, 1000,
                                     100, 50, 5, "main",     "_main",    "" };
static const struct row leaf_row = { 1,   3,  2,  0x8c010040, 0x8c01007f, 7,         900,
                                     900, 45, 45, "leaf",     "_leaf",    "a.c:leaf" };
static const struct row irq_row = {
    5, 0, 0xFFFF, 0xac000600, 0xac0006ff, 2, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFF, 1, 1, "irq", "", ""
};

/* Function Data Structure: offsets 4..76, then the names. */
static void add_function(struct bytes *b, const struct row *r)
{
    size_t at = b->len;
    set_value(b, at, 4, 1, r->description);
    set_value(b, at, 5, 2, r->attributes);
    set_value(b, at, 7, 2, r->line);
    set_value(b, at, 9, 4, r->low);
    set_value(b, at, 13, 4, r->high);
    set_value(b, at, 17, 4, 0xFFFFFFFF);
    set_value(b, at, 21, 4, 0xFFFFFFFF);
    set_value(b, at, 25, 4, 0xFFFFFFFF);
    set_value(b, at, 37, 8, r->hits);
    set_value(b, at, 45, 8, r->c1c);
    set_value(b, at, 53, 8, r->c1);
    set_value(b, at, 61, 8, r->c2c);
    set_value(b, at, 69, 8, r->c2);
    b->len = at + 77;
    add_string(b, r->name);
    add_string(b, r->label);
    add_string(b, r->qualified);
    set_value(b, at, 0, 4, b->len - at - 4);
}

/* Trace Function Call Structure: offsets 4..81, then the names. */
static void add_call(struct bytes *b, uint32_t number, const struct row *r, uint64_t hits)
{
    size_t at = b->len;
    set_value(b, at, 4, 1, 0xFF);
    set_value(b, at, 5, 4, number);
    set_value(b, at, 9, 1, r->description);
    set_value(b, at, 10, 2, r->attributes & 1);
    set_value(b, at, 12, 2, r->line);
    set_value(b, at, 14, 4, r->low);
    set_value(b, at, 18, 4, r->high);
    set_value(b, at, 22, 4, 0xFFFFFFFF);
    set_value(b, at, 26, 4, 0xFFFFFFFF);
    set_value(b, at, 30, 4, 0xFFFFFFFF);
    set_value(b, at, 42, 8, hits);
    set_value(b, at, 50, 8, r->c1c);
    set_value(b, at, 58, 8, r->c1);
    set_value(b, at, 66, 8, r->c2c);
    set_value(b, at, 74, 8, r->c2);
    b->len = at + 82;
    add_string(b, r->name);
    add_string(b, r->label);
    add_string(b, r->qualified);
    set_value(b, at, 0, 4, b->len - at - 4);
}

static void add_return(struct bytes *b, uint32_t number)
{
    set_value(b, b->len, 0, 4, 5);
    set_value(b, b->len, 4, 1, 0);
    set_value(b, b->len, 5, 4, number);
    b->len += 9;
}

enum { HEADER = 14, BASE = 14 + 89 };

/* File ID and File Header; counts and offsets are set as the sections come. */
static void begin_file(struct bytes *b, uint8_t type)
{
    memset(b, 0, sizeof *b);
    memcpy(b->at, "PROFILER FILE:", 14);
    set_value(b, HEADER, 0, 4, 0x55);
    set_value(b, HEADER, 4, 1, 1);
    set_value(b, HEADER, 7, 1, 1);  /* instruction cache */
    set_value(b, HEADER, 8, 1, 21); /* day */
    set_value(b, HEADER, 9, 1, 11);
    set_value(b, HEADER, 10, 1, 26);
    set_value(b, HEADER, 11, 1, 13);
    set_value(b, HEADER, 12, 1, 45);
    set_value(b, HEADER, 13, 1, 59);
    set_value(b, HEADER, 14, 1, type);
    set_value(b, HEADER, 15, 8, 10); /* hits */
    set_value(b, HEADER, 23, 8, 0x1000000000000 + 999);
    set_value(b, HEADER, 31, 8, 0x1000000000000 + 999);
    set_value(b, HEADER, 39, 8, 51);
    set_value(b, HEADER, 47, 8, 51);
    set_value(b, HEADER, 55, 1, 0x23);
    set_value(b, HEADER, 56, 1, 0x08);
    b->len = BASE;
}

static void build_trace(struct bytes *b)
{
    begin_file(b, 2);
    set_value(b, HEADER, 61, 4, 3);
    set_value(b, HEADER, 65, 4, 3);
    add_function(b, &main_row);
    add_function(b, &leaf_row);
    add_function(b, &irq_row);
    set_value(b, HEADER, 77, 4, b->len - BASE);
    add_call(b, 100, &main_row, 1);
    add_call(b, 101, &leaf_row, 7);
    add_return(b, 101);
    add_return(b, 100);
    add_call(b, 102, &irq_row, 2);
    add_return(b, 102);
}

static void build_statistical(struct bytes *b)
{
    begin_file(b, 1);
    memset(b->at + HEADER + 23, 0, 34); /* no counters */
    set_value(b, HEADER, 57, 4, 1);     /* an overlay */
    set_value(b, HEADER, 61, 4, 1);
    set_value(b, BASE, 0, 4, 16);
    set_value(b, BASE, 4, 4, 3);
    set_value(b, BASE, 8, 4, 0x8c100000);
    set_value(b, BASE, 12, 4, 0x8c10ffff);
    set_value(b, BASE, 16, 4, 9);
    b->len = BASE + 20;
    set_value(b, HEADER, 73, 4, b->len - BASE);
    struct row r = leaf_row;
    r.c1 = r.c1c = r.c2 = r.c2c = 0;
    add_function(b, &r);
}

/* ---- decoding ---- */

static void expect_bytes(const struct prf_bytes *b, const char *text)
{
    assert_int_equal(b->len, strlen(text));
    if (b->len)
        assert_memory_equal(b->data, text, b->len);
}

static void expect_row(const struct prf_function *f, const struct row *r, uint16_t attributes)
{
    assert_int_equal(f->description, r->description);
    assert_int_equal(f->attributes, attributes);
    assert_int_equal(f->cache_line, r->line);
    assert_int_equal(f->low, r->low);
    assert_int_equal(f->high, r->high);
    assert_int_equal(f->overlay_area, PRF_NO_ID);
    assert_int_equal(f->counts.hits, r->hits);
    assert_int_equal(f->counts.c1_children, r->c1c);
    assert_int_equal(f->counts.c1, r->c1);
    assert_int_equal(f->counts.c2_children, r->c2c);
    assert_int_equal(f->counts.c2, r->c2);
    expect_bytes(&f->name, r->name);
    expect_bytes(&f->label, r->label);
    expect_bytes(&f->qualified, r->qualified);
}

static struct prf_file *decode_file(const uint8_t *data, size_t len)
{
    struct prf_file *f;
    struct err err = { .code = ERR_OK };
    if (prf_decode(data, len, &f, &err) < 0)
        fail_msg("%s", err.what);
    return f;
}

static void prf__trace_file__every_field_read(void **state)
{
    struct bytes b;
    (void)state;
    build_trace(&b);
    struct prf_file *f = decode_file(b.at, b.len);
    assert_int_equal(f->version, 1);
    assert_int_equal(f->icache_enabled, 1);
    assert_int_equal(f->day, 21);
    assert_int_equal(f->month, 11);
    assert_int_equal(f->year, 26);
    assert_int_equal(f->hour, 13);
    assert_int_equal(f->min, 45);
    assert_int_equal(f->sec, 59);
    assert_int_equal(f->type, PROFILE_TRACE);
    assert_int_equal(f->total.hits, 10);
    assert_int_equal(f->total.c1_children, 0x1000000000000 + 999);
    assert_int_equal(f->counter[0], 0x23);
    assert_int_equal(f->counter[1], 0x08);
    assert_int_equal(f->nfunctions, 3);
    assert_int_equal(f->ncalls, 3);
    expect_row(&f->functions[0], &main_row, 0);
    expect_row(&f->functions[1], &leaf_row, 3);
    expect_row(&f->functions[2], &irq_row, 0);
    static const struct {
        bool call;
        uint32_t number;
        const struct row *row;
    } order[] = { { true, 100, &main_row }, { true, 101, &leaf_row }, { false, 101, NULL },
                  { false, 100, NULL },     { true, 102, &irq_row },  { false, 102, NULL } };
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        assert_int_equal(f->calls[i].call, order[i].call);
        assert_int_equal(f->calls[i].number, order[i].number);
        if (order[i].call)
            expect_row(&f->calls[i].f, order[i].row, order[i].row->attributes & 1);
    }
    prf_file_free(f);
}

static void prf__statistical_file__hits_and_overlays_read(void **state)
{
    struct bytes b;
    (void)state;
    build_statistical(&b);
    struct prf_file *f = decode_file(b.at, b.len);
    assert_int_equal(f->type, PROFILE_STATISTICAL);
    assert_int_equal(f->ncalls, 0);
    assert_int_equal(f->noverlays, 1);
    assert_int_equal(f->overlays[0].area, 3);
    assert_int_equal(f->overlays[0].start, 0x8c100000);
    assert_int_equal(f->overlays[0].end, 0x8c10ffff);
    assert_int_equal(f->overlays[0].current, 9);
    assert_int_equal(f->functions[0].counts.hits, 7);
    prf_file_free(f);
}

/* What decode has read, encode writes: the same bytes, also those nobody has named. */
static void expect_round_trip(const uint8_t *data, size_t len)
{
    struct prf_file *f = decode_file(data, len);
    uint8_t *again;
    size_t n;
    assert_int_equal(prf_encode(f, &again, &n, NULL), 0);
    assert_int_equal(n, len);
    assert_memory_equal(again, data, len);
    free(again);
    prf_file_free(f);
}

static void prf__round_trip__same_bytes(void **state)
{
    struct bytes b;
    (void)state;
    build_trace(&b);
    expect_round_trip(b.at, b.len);
    build_statistical(&b);
    expect_round_trip(b.at, b.len);
    begin_file(&b, 2); /* nothing in it */
    expect_round_trip(b.at, b.len);
}

static void prf__unknown_but_consistent_fields__kept(void **state)
{
    struct bytes b;
    (void)state;
    build_trace(&b);
    set_value(&b, HEADER, 5, 2, 0x1234);              /* spare */
    set_value(&b, HEADER, 81, 8, 0x1122334455667788); /* spare */
    set_value(&b, HEADER, 69, 4, 0);
    set_value(&b, BASE, 29, 8, 0xAABBCCDD); /* spare of the first function */
    set_value(&b, BASE, 25, 4, 17);         /* its group */
    set_value(&b, BASE, 5, 2, 0xFFF0);      /* attribute bits without a meaning */
    expect_round_trip(b.at, b.len);
    /* A longer return record: three bytes more than are documented. */
    set_value(&b, b.len - 9, 0, 4, 8);
    memcpy(b.at + b.len, "xyz", 3);
    b.len += 3;
    expect_round_trip(b.at, b.len);
}

/* ---- damage ---- */

static void expect_refused(const uint8_t *data, size_t len, const char *says)
{
    struct prf_file *f = NULL;
    struct err err = { .code = ERR_OK };
    uint8_t *exact = malloc(len ? len : 1); /* so that reading past the end is seen */
    memcpy(exact, data, len);
    assert_int_equal(prf_decode(exact, len, &f, &err), -ERR_FORMAT);
    assert_null(f);
    assert_non_null(strstr(err.what, "offset "));
    if (!strstr(err.what, says))
        fail_msg("\"%s\" does not say \"%s\"", err.what, says);
    assert_string_not_equal(err.hint, "");
    free(exact);
}

static void prf__cut_at_every_length__refused_with_the_offset(void **state)
{
    struct bytes b;
    (void)state;
    build_trace(&b);
    for (size_t n = 0; n < b.len; n++)
        expect_refused(b.at, n, n < 14 ? "no .prf" : "cut short");
}

static void prf__damaged__refused_with_the_offset(void **state)
{
    struct bytes trace;
    build_trace(&trace);
    (void)state;
    /* The first function's record begins at 103, the calls where the header says. */
    size_t calls = BASE + (size_t)(trace.at[HEADER + 77] | trace.at[HEADER + 78] << 8);
    size_t returns = calls;
    while (trace.at[returns + 4] != 0) /* the first return record */
        returns += 4 + trace.at[returns];
    const struct {
        const char *name;
        size_t offset;
        unsigned size;
        uint64_t value;
        const char *says;
    } rows[] = {
        { "id", 0, 1, 'X', "offset 0: no .prf" },
        { "header size too small", HEADER, 4, 0x54, "offset 14: size of the file header is 84" },
        { "header size beyond the end", HEADER, 4, 0x10000, "offset 14: cut short" },
        { "type", HEADER + 14, 1, 3, "offset 28: type of profile is 3" },
        { "statistical with calls", HEADER + 14, 1, 1, "offset 79: number of function calls" },
        { "function offset", HEADER + 73, 4, 1, "offset 87: section offset is 1, expected 0" },
        { "trace offset", HEADER + 77, 4, 5, "offset 91: section offset is 5" },
        { "too many functions", HEADER + 61, 4, 0x7FFFFFFF, "offset 103: cut short" },
        { "a function more", HEADER + 61, 4, 4, "offset" },
        { "a function fewer", HEADER + 61, 4, 2, "section offset" },
        { "too many calls", HEADER + 65, 4, 0x7FFFFFFF, "cut short" },
        { "a call fewer", HEADER + 65, 4, 2, "bytes behind the last record" },
        { "overlays that are not there", HEADER + 57, 4, 1, "offset" },
        { "function size too small", BASE, 4, 70, "offset 103: size of a function is 70" },
        { "function size into the next", BASE, 4, 95, "offset" },
        { "name longer than its record", BASE + 77, 2, 500,
          "offset 180: length of the function name is 500" },
        { "range backwards", BASE + 13, 4, 0x8c01001f, "offset 116: function range" },
        { "mark", calls + 4, 1, 0x7F, "mark of a call or return is 127" },
        { "return first", calls + 4, 1, 0, "a return without a call" },
        { "return of another call", returns + 5, 4, 77,
          "call number of a return is 77, expected 101" },
        { "call in place of a return", returns + 4, 1, 0xFF, "size of a call" },
        { "return too short", returns, 4, 4, "size of a call or return is 4" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct bytes b = trace;
        print_message("  %s\n", rows[i].name);
        set_value(&b, rows[i].offset, 0, rows[i].size, rows[i].value);
        expect_refused(b.at, b.len, rows[i].says);
    }
    memcpy(trace.at + trace.len, "more", 4);
    expect_refused(trace.at, trace.len + 4, "bytes behind the last record");
}

static void prf__call_of_unknown_function__refused(void **state)
{
    struct bytes b;
    struct profile *p = NULL;
    struct err err = { .code = ERR_OK };
    (void)state;
    build_trace(&b);
    size_t calls = BASE + (size_t)(b.at[HEADER + 77] | b.at[HEADER + 78] << 8);
    set_value(&b, calls, 14, 4, 0x8c010022);
    struct prf_file *f = decode_file(b.at, b.len);
    assert_int_equal(prf_to_profile(f, &p, &err), -ERR_FORMAT);
    assert_null(p);
    assert_non_null(strstr(err.what, "call 100"));
    prf_file_free(f);
}

/* ---- model ---- */

static void prf__to_profile__tree_and_counters(void **state)
{
    struct bytes b;
    struct profile *p;
    (void)state;
    build_trace(&b);
    struct prf_file *f = decode_file(b.at, b.len);
    assert_int_equal(prf_to_profile(f, &p, NULL), 0);
    prf_file_free(f);
    assert_int_equal(p->type, PROFILE_TRACE);
    assert_int_equal(p->info.counter[0].code, 0x23);
    assert_string_equal(p->info.counter[0].name, "elapsed-time");
    assert_string_equal(p->info.counter[0].unit, "cycles");
    assert_string_equal(p->info.counter[1].name, "icache-miss");
    assert_int_equal(p->nfunctions, 3);
    assert_string_equal(p->functions[1].name, "leaf");
    assert_string_equal(p->functions[1].qualified, "a.c:leaf");
    assert_int_equal(p->functions[1].high, 0x8c010080); /* behind the last byte */
    assert_true(p->functions[1].doubtful);
    assert_true(p->functions[1].tagged);
    assert_int_equal(p->functions[2].cache_line, PROFILE_NOT_CACHED);
    assert_int_equal(p->functions[2].description, PROFILE_INTERRUPT_600);
    assert_int_equal(p->nnodes, 3);
    assert_int_equal(p->nodes[0].parent, PROFILE_NO_PARENT);
    assert_int_equal(p->nodes[1].parent, 0);
    assert_int_equal(p->nodes[1].function, 1);
    assert_int_equal(p->nodes[1].hits, 7);
    assert_true(p->nodes[1].doubtful);
    assert_int_equal(p->nodes[2].parent, PROFILE_NO_PARENT);
    assert_int_equal(p->nodes[2].c1, 0xFFFFFFFFFFFF);
    profile_free(p);
}

static char *random_name(struct arena *a, uint64_t *seed, uint32_t i)
{
    return arena_printf(a, "function_%u_%0*d", i, (int)random_below(seed, 60), 0);
}

/* Any profile a call tree could have given, and then some. */
static struct profile *random_profile(uint64_t seed)
{
    struct profile *p;
    assert_int_equal(profile_new(&p, NULL), 0);
    p->nfunctions = 1 + random_below(&seed, 20);
    p->nnodes = random_below(&seed, 60);
    p->functions = arena_alloc(&p->arena, p->nfunctions * sizeof *p->functions);
    p->nodes = arena_alloc(&p->arena, (p->nnodes + 1) * sizeof *p->nodes);
    p->info.when = 1795268759 + random_below(&seed, 1000000);
    p->info.counter[0].code = 0x23;
    p->info.counter[1].code = (uint16_t)random_below(&seed, 0x30);
    for (uint32_t i = 0; i < p->nfunctions; i++) {
        struct profile_function *f = &p->functions[i];
        *f = (struct profile_function){ .low = 0x8c010000 + 0x100 * i,
                                        .hits = random_next(&seed),
                                        .c1 = random_next(&seed),
                                        .c1_children = random_next(&seed),
                                        .c2 = random_next(&seed),
                                        .c2_children = random_next(&seed),
                                        .cache_line = (uint16_t)random_next(&seed),
                                        .description = (uint8_t)random_below(&seed, 8),
                                        .doubtful = random_below(&seed, 2),
                                        .tagged = random_below(&seed, 2) };
        f->high = f->low + 1 + random_below(&seed, 255);
        f->name = random_name(&p->arena, &seed, i);
        f->linkage = random_below(&seed, 2) ? random_name(&p->arena, &seed, i) : "";
        f->qualified = random_below(&seed, 2) ? "x.c:y" : "";
    }
    uint32_t open[64], depth = 0;
    for (uint32_t i = 0; i < p->nnodes; i++) {
        depth -= random_below(&seed, depth + 1);
        p->nodes[i] =
            (struct profile_node){ .parent = depth ? open[depth - 1] : PROFILE_NO_PARENT,
                                   .function = random_below(&seed, (uint32_t)p->nfunctions),
                                   .hits = random_next(&seed),
                                   .c1 = random_next(&seed),
                                   .c1_children = random_next(&seed),
                                   .c2 = random_next(&seed),
                                   .c2_children = random_next(&seed),
                                   .doubtful = random_below(&seed, 2) };
        open[depth++] = i;
    }
    p->total_hits = random_next(&seed);
    p->total_c1 = random_next(&seed);
    p->total_c2 = random_next(&seed);
    return p;
}

static void expect_same_function(const struct profile_function *a, const struct profile_function *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->linkage, b->linkage);
    assert_string_equal(a->qualified, b->qualified);
    assert_int_equal(a->low, b->low);
    assert_int_equal(a->high, b->high);
    assert_int_equal(a->hits, b->hits);
    assert_int_equal(a->c1, b->c1);
    assert_int_equal(a->c1_children, b->c1_children);
    assert_int_equal(a->c2, b->c2);
    assert_int_equal(a->c2_children, b->c2_children);
    assert_int_equal(a->cache_line, b->cache_line);
    assert_int_equal(a->description, b->description);
    assert_int_equal(a->doubtful, b->doubtful);
    assert_int_equal(a->tagged, b->tagged);
}

static void expect_same_profile(const struct profile *a, const struct profile *b)
{
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->nfunctions, b->nfunctions);
    assert_int_equal(a->nnodes, b->nnodes);
    assert_int_equal(a->total_hits, b->total_hits);
    assert_int_equal(a->total_c1, b->total_c1);
    assert_int_equal(a->total_c2, b->total_c2);
    assert_int_equal(a->info.when, b->info.when);
    assert_int_equal(a->info.counter[1].code, b->info.counter[1].code);
    for (size_t i = 0; i < a->nfunctions; i++)
        expect_same_function(&a->functions[i], &b->functions[i]);
    for (size_t i = 0; i < a->nnodes; i++) {
        assert_int_equal(a->nodes[i].parent, b->nodes[i].parent);
        assert_int_equal(a->nodes[i].function, b->nodes[i].function);
        assert_int_equal(a->nodes[i].hits, b->nodes[i].hits);
        assert_int_equal(a->nodes[i].c1, b->nodes[i].c1);
        assert_int_equal(a->nodes[i].c1_children, b->nodes[i].c1_children);
        assert_int_equal(a->nodes[i].c2, b->nodes[i].c2);
        assert_int_equal(a->nodes[i].c2_children, b->nodes[i].c2_children);
        assert_int_equal(a->nodes[i].doubtful, b->nodes[i].doubtful);
    }
}

static void prf__write_and_read__same_profile(void **state)
{
    (void)state;
    char *folder = temp_folder(), *path = temp_path(folder, "x.prf");
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct profile *p = random_profile(seed), *q;
        struct err err = { .code = ERR_OK };
        assert_int_equal(save_prf(path, p, &err), 0);
        if (prf_read(path, &q, &err) < 0)
            fail_msg("%s", err.what);
        expect_same_profile(p, q);
        profile_free(p);
        profile_free(q);
    }
    free(path);
    temp_remove(folder);
}

/* ---- writing ---- */

static void prf__disk_full__old_file_stays(void **state)
{
    struct rlimit old, limit;
    struct err err = { .code = ERR_OK };
    struct profile *p = random_profile(7), *q;
    (void)state;
    char *folder = temp_folder(), *path = temp_path(folder, "x.prf");
    struct profile *first = random_profile(3);
    assert_int_equal(save_prf(path, first, NULL), 0);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 50; /* writes fail behind byte 50, as on a full disk */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int ret = save_prf(path, p, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(ret, -ERR_IO);
    assert_non_null(strstr(err.what, path));
    assert_int_equal(prf_read(path, &q, NULL), 0);
    expect_same_profile(first, q);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left in it */
    assert_int_equal(mkdir(folder, 0700), 0);
    profile_free(p);
    profile_free(q);
    profile_free(first);
    free(path);
    temp_remove(folder);
}

static void prf__not_a_file__left_alone(void **state)
{
    static const char *const paths[] = { "/dev/null", "/tmp" };
    (void)state;
    struct profile *p = random_profile(7);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct err err = { .code = ERR_OK };
        struct stat st;
        assert_int_equal(save_prf(paths[i], p, &err), -ERR_IO);
        assert_string_not_equal(err.hint, "");
        assert_int_equal(stat(paths[i], &st), 0);
        assert_false(S_ISREG(st.st_mode));
    }
    profile_free(p);
}

static void prf__no_such_folder__says_so(void **state)
{
    struct err err = { .code = ERR_OK };
    struct profile *p = random_profile(7), *q = NULL;
    (void)state;
    assert_int_equal(save_prf("/nonexistent/x.prf", p, &err), -ERR_IO);
    assert_non_null(strstr(err.hint, "folder"));
    assert_int_equal(prf_read("/nonexistent/x.prf", &q, &err), -ERR_NOT_FOUND);
    assert_null(q);
    profile_free(p);
}

static void prf__counter_table__all_codes_of_the_document(void **state)
{
    struct profile_counter c;
    int known = 0;
    (void)state;
    for (uint16_t code = 0; code < 0x100; code++) {
        if (!prf_counter(code, &c))
            continue;
        known++;
        assert_int_equal(c.code, code);
        assert_string_equal(c.unit, code >= 0x21 ? "cycles" : "count");
    }
    assert_int_equal(known, 34);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prf__trace_file__every_field_read),
        cmocka_unit_test(prf__statistical_file__hits_and_overlays_read),
        cmocka_unit_test(prf__round_trip__same_bytes),
        cmocka_unit_test(prf__unknown_but_consistent_fields__kept),
        cmocka_unit_test(prf__cut_at_every_length__refused_with_the_offset),
        cmocka_unit_test(prf__damaged__refused_with_the_offset),
        cmocka_unit_test(prf__call_of_unknown_function__refused),
        cmocka_unit_test(prf__to_profile__tree_and_counters),
        cmocka_unit_test(prf__write_and_read__same_profile),
        cmocka_unit_test(prf__disk_full__old_file_stays),
        cmocka_unit_test(prf__not_a_file__left_alone),
        cmocka_unit_test(prf__no_such_folder__says_so),
        cmocka_unit_test(prf__counter_table__all_codes_of_the_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
