/* symbols: ELF and DWARF of the fixtures in data/ (see data/README.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probe/base/util.h"
#include "profiler/core/calltree.h"
#include "profiler/core/symbols.h"
#include "profiler/core/symbols_priv.h"
#include "tests/profiler/sink.h"

#define UNTOUCHED 0x5555555555555555u

static struct symbols *open_fixture(const char *name)
{
    char path[400];
    struct symbols *s;
    struct err err = { .code = ERR_OK };
    snprintf(path, sizeof path, FIXTURES "%s", name);
    if (symbols_open(path, &s, &err) < 0)
        fail_msg("%s (%s)", err.what, err.hint);
    assert_int_equal(err.code, ERR_OK);
    return s;
}

static void symbols__functions__sorted_sized_and_named(void **state)
{
    static const struct {
        const char *name, *linkage;
        uint64_t low, high;
        const char *file;
        int line;
    } rows[] = {
        { "start", "start", 0x8c010000, 0x8c010010, NULL, 0 }, /* no size: up to the next */
        /* also_plain, weak, gives way; loop is inside */
        { "plain", "plain", 0x8c010010, 0x8c01001a, NULL, 0 },
        { "list::walk(node*, int)", "_ZN4list4walkEP4nodei", 0x8c01001a, 0x8c01001e, NULL, 0 },
        { "walk", "walk", 0x8c010020, 0x8c010088, "/src/list.c", 10 },
        { "list_sum", "list_sum", 0x8c010088, 0x8c0100b0, "/src/list.c", 20 },
        { "walk", "walk", 0x8c0100b0, 0x8c0100f4, "/src/tree.c", 4 },
        { "tree_depth", "tree_depth", 0x8c0100f4, 0x8c010114, "/src/tree.c", 9 },
        { "main", "main", 0x8c010114, 0x8c010150, "/src/tree.c", 14 },
    };
    (void)state;
    struct symbols *s = open_fixture("small-le.elf");
    const struct image *im = symbols_image(s);
    assert_int_equal(symbols_nfunctions(s), ARRAY_LEN(rows));
    assert_int_equal(im->nfunctions, ARRAY_LEN(rows));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct symbol_function *f = symbols_function(s, i);
        print_message("  %s\n", rows[i].name);
        assert_string_equal(f->name, rows[i].name);
        assert_string_equal(f->linkage, rows[i].linkage);
        assert_string_equal(im->functions[i].name, rows[i].linkage);
        assert_int_equal(f->low, rows[i].low);
        assert_int_equal(f->high, rows[i].high);
        assert_int_equal(im->functions[i].low, rows[i].low);
        assert_int_equal(im->functions[i].high, rows[i].high);
        assert_int_equal(f->line, rows[i].line);
        if (rows[i].file)
            assert_string_equal(f->file, rows[i].file);
        else
            assert_null(f->file);
    }
    symbols_close(s);
}

static void symbols__image__has_sections_entry_and_build_id(void **state)
{
    (void)state;
    struct symbols *s = open_fixture("small-le.elf");
    const struct image *im = symbols_image(s);
    assert_int_equal(symbols_machine(s), 42);
    assert_false(im->big_endian);
    assert_int_equal(im->entry, 0x8c010000);
    assert_int_equal(im->build_id_len, 20);
    assert_int_equal(im->nsections, 3);
    assert_string_equal(im->sections[0].name, ".text");
    assert_true(im->sections[0].code);
    assert_false(im->sections[0].writable);
    assert_int_equal(im->sections[0].addr, 0x8c010000);
    /* mov.l @(8,pc),r0 */
    assert_int_equal(im->sections[0].data[0] | im->sections[0].data[1] << 8, 0xd002);
    const struct image_section *bss = &im->sections[1];
    assert_string_equal(bss->name, ".bss");
    assert_null(bss->data);
    assert_true(bss->writable);
    assert_int_equal(bss->size, 32);
    uint64_t addr = UNTOUCHED;
    assert_true(im->lookup(im, "pool", &addr));
    assert_int_equal(addr, 0x8c020000);
    assert_false(im->lookup(im, "nothing", &addr));
    assert_int_equal(addr, 0x8c020000);
    assert_int_equal(symbols_section_end(s, 0x8c010004), 0x8c010150);
    assert_int_equal(symbols_section_end(s, 0x8c020004), 0); /* no code */
    symbols_close(s);
}

static void symbols__big_endian__read_alike(void **state)
{
    const char *file = NULL;
    int line = 0;
    (void)state;
    struct symbols *s = open_fixture("small-be.elf");
    const struct image *im = symbols_image(s);
    assert_true(im->big_endian);
    assert_int_equal(symbols_nfunctions(s), 2);
    assert_string_equal(symbols_function(s, 0)->name, "walk");
    assert_int_equal(symbols_function(s, 0)->high, 0x8c010068);
    /* mov.l r14,@-r15 */
    assert_int_equal(im->sections[0].data[0] << 8 | im->sections[0].data[1], 0x2fe6);
    assert_true(symbols_line(s, 0x8c010000, &file, &line));
    assert_string_equal(file, "/src/list.c");
    assert_int_equal(line, 11);
    symbols_close(s);
}

static void symbols__stripped__sections_but_no_functions(void **state)
{
    (void)state;
    const char *file = "untouched";
    int line = 7;
    struct err err = { .code = ERR_OK };
    uint64_t addr = UNTOUCHED;
    char text[40];
    struct symbols *s = open_fixture("stripped-le.elf");
    assert_int_equal(symbols_nfunctions(s), 0);
    assert_int_equal(symbols_image(s)->nsections, 3);
    assert_int_equal(symbols_image(s)->build_id_len, 20);
    assert_int_equal(symbols_find(s, 0x8c010020), -1);
    assert_false(symbols_line(s, 0x8c010020, &file, &line));
    assert_int_equal(line, 7);
    assert_string_equal(symbols_describe(s, 0x8c010020, text, sizeof text), "0x8c010020");
    assert_int_equal(symbols_parse(s, "main", &addr, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.hint, "stripped"));
    assert_int_equal(addr, UNTOUCHED);
    symbols_close(s);
}

static void symbols__leading_underscores__names_found_without(void **state)
{
    (void)state;
    uint64_t addr = 0;
    struct symbols *s = open_fixture("underscore-le.elf");
    assert_int_equal(symbols_parse(s, "list_sum+4", &addr, NULL), 0);
    assert_int_equal(addr, 0x8c01006c);
    assert_int_equal(symbols_parse(s, "_list_sum", &addr, NULL), 0);
    assert_int_equal(addr, 0x8c010068);
    symbols_close(s);
}

static void symbols__find__by_any_address_of_a_function(void **state)
{
    static const struct {
        uint64_t addr;
        const char *text;
    } rows[] = {
        { 0x8c010000, "start" },      { 0x8c01000f, "start+0xf" },  { 0x8c010012, "plain+0x2" },
        { 0x8c01001e, "0x8c01001e" }, /* padding between functions */
        { 0x8c010114, "main" },       { 0x8c01011c, "main+0x8" },   { 0x8c01014f, "main+0x3b" },
        { 0x8c010150, "0x8c010150" }, { 0x8c00ffff, "0x8c00ffff" }, { 0, "0x00000000" },
    };
    (void)state;
    struct symbols *s = open_fixture("small-le.elf");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[60];
        assert_string_equal(symbols_describe(s, rows[i].addr, text, sizeof text), rows[i].text);
    }
    symbols_close(s);
}

static uint64_t without_area(uint64_t addr) { return addr & 0x1fffffff; }

static void symbols__canonical__aliases_are_one_address(void **state)
{
    (void)state;
    struct calltree_range r;
    const char *file;
    int line;
    char text[60];
    struct symbols *s = open_fixture("small-le.elf");
    assert_int_equal(symbols_find(s, 0x0c010114), -1);
    assert_int_equal(symbols_set_canonical(s, without_area, NULL), 0);
    assert_string_equal(symbols_describe(s, 0x0c01011c, text, sizeof text), "main+0x8");
    assert_true(symbols_range(s, 0xac01011c, &r)); /* P2 */
    assert_int_equal(r.id, 0x0c010114);
    assert_int_equal(r.low, 0xac010114);
    assert_int_equal(r.high, 0xac010150);
    assert_true(symbols_line(s, 0x0c010020, &file, &line));
    assert_int_equal(line, 11);
    assert_int_equal(symbols_section_end(s, 0xac010020), 0xac010150);
    symbols_close(s);
}

static void symbols__line__follows_the_line_table(void **state)
{
    static const struct {
        uint64_t addr;
        const char *file;
        int line;
    } rows[] = {
        { 0x8c010020, "/src/list.c", 11 },
        { 0x8c01002c, "/src/list.c", 12 },
        { 0x8c010114, "/src/tree.c", 15 },
        { 0x8c010000, NULL, 0 }, /* assembly without debug info */
        { 0x8c010150, NULL, 0 },
    };
    (void)state;
    struct symbols *s = open_fixture("small-le.elf");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *file = NULL;
        int line = 0;
        print_message("  %#llx\n", (unsigned long long)rows[i].addr);
        assert_int_equal(symbols_line(s, rows[i].addr, &file, &line), rows[i].file != NULL);
        assert_int_equal(line, rows[i].line);
        if (rows[i].file)
            assert_string_equal(file, rows[i].file);
    }
    symbols_close(s);
}

/* twice() is inlined into walk(): its lines are its own, its time is walk's. */
static void symbols__inlined_code__belongs_to_the_function_around_it(void **state)
{
    (void)state;
    struct symbols *s = open_fixture("small-le.elf");
    bool seen = false;
    for (uint64_t addr = 0x8c010020; addr < 0x8c010088; addr += 2) {
        const char *file;
        int line;
        assert_true(symbols_line(s, addr, &file, &line));
        seen |= line == 7; /* return x + x */
        assert_string_equal(symbols_function(s, (size_t)symbols_find(s, addr))->name, "walk");
    }
    assert_true(seen);
    symbols_close(s);
}

static void symbols__parse__addresses_as_people_write_them(void **state)
{
    static const struct {
        const char *text;
        int ret;
        uint64_t addr;
        const char *says;
    } rows[] = {
        { "0x8c010000", 0, 0x8c010000, NULL },
        { "0X0C010030", 0, 0x0c010030, NULL },
        { "4096", 0, 4096, NULL },
        { "main", 0, 0x8c010114, NULL },
        { "main+8", 0, 0x8c01011c, NULL },
        { "main+0x10", 0, 0x8c010124, NULL },
        { "main-4", 0, 0x8c010110, NULL },
        { "also_plain", 0, 0x8c010010, NULL },
        { "loop", 0, 0x8c010012, NULL },
        { "pool+4", 0, 0x8c020004, NULL },
        { "list::walk", 0, 0x8c01001a, NULL },
        { "list::walk(node*, int)", 0, 0x8c01001a, NULL },
        { "list::walk+2", 0, 0x8c01001c, NULL },
        { "_ZN4list4walkEP4nodei", 0, 0x8c01001a, NULL },
        { "list.c:12", 0, 0x8c01002c, NULL },
        { "/src/list.c:12", 0, 0x8c01002c, NULL },
        { "src/list.c:12", 0, 0x8c01002c, NULL },
        { "tree.c:walk", 0, 0x8c0100b0, NULL },
        { "list.c:walk", 0, 0x8c010020, NULL },
        { "mian", -ERR_NOT_FOUND, UNTOUCHED, "did you mean main" },
        { "main+", -ERR_NOT_FOUND, UNTOUCHED, "main" },
        { "mian+8", -ERR_NOT_FOUND, UNTOUCHED, "did you mean main" },
        { "main+zz", -ERR_NOT_FOUND, UNTOUCHED, "main" },
        { "tree_dept", -ERR_NOT_FOUND, UNTOUCHED, "tree_depth" },
        { "lits.c:12", -ERR_NOT_FOUND, UNTOUCHED, "list.c" },
        { "ist.c:12", -ERR_NOT_FOUND, UNTOUCHED, "list.c" }, /* no part of a name */
        { "list.c:9", -ERR_NOT_FOUND, UNTOUCHED, "7 and 11" },
        { "list.c:9999", -ERR_NOT_FOUND, UNTOUCHED, "no code nearby" },
        { "0x", -ERR_USAGE, UNTOUCHED, "0x" },
        { "0xzz", -ERR_USAGE, UNTOUCHED, "0x" },
        { "8c010000", -ERR_USAGE, UNTOUCHED, "0x" },
        { "", -ERR_USAGE, UNTOUCHED, "symbol" },
        { "99999999999999999999999", -ERR_USAGE, UNTOUCHED, "0x" },
    };
    (void)state;
    struct symbols *s = open_fixture("small-le.elf");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t addr = UNTOUCHED;
        struct err err = { .code = ERR_OK };
        print_message("  \"%s\"\n", rows[i].text);
        assert_int_equal(symbols_parse(s, rows[i].text, &addr, &err), rows[i].ret);
        assert_int_equal(addr, rows[i].addr);
        assert_int_equal(err.code, -rows[i].ret);
        if (rows[i].says && !strstr(err.hint, rows[i].says))
            fail_msg("hint is \"%s\"", err.hint);
    }
    symbols_close(s);
}

static void symbols__parse_without_elf__numbers_only(void **state)
{
    (void)state;
    uint64_t addr = UNTOUCHED;
    struct err err = { .code = ERR_OK };
    assert_int_equal(symbols_parse(NULL, "0x10", &addr, &err), 0);
    assert_int_equal(addr, 0x10);
    assert_int_equal(symbols_parse(NULL, "main", &addr, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.hint, "--elf"));
    char text[20];
    assert_string_equal(symbols_describe(NULL, 0x12, text, sizeof text), "0x00000012");
}

static void symbols__demangle__cxx_names_only(void **state)
{
    (void)state;
    char *name = symbol_demangle("_ZNSt6vectorIiSaIiEE9push_backEOi");
    assert_string_equal(name, "std::vector<int, std::allocator<int> >::push_back(int&&)");
    free(name);
    assert_null(symbol_demangle("main"));
    assert_null(symbol_demangle("i"));
    assert_null(symbol_demangle("_Z"));
    assert_null(symbol_demangle(""));
}

/* f(A<int, int>, A<X, X>, A<Y, Y> ...), each X the type before: 260 bytes that mean gigabytes. */
static void symbols__demangle__a_name_of_gigabytes_is_none(void **state)
{
    (void)state;
    char symbol[512] = "_Z1f1AIiiE";
    struct rlimit old, limit;
    for (unsigned k = 0; k < 20; k++) {
        static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        char last[8];
        unsigned id = 2 * k; /* of the type before among the substitutions, in base 36 */
        if (id < 36)
            snprintf(last, sizeof last, "S%c_", digits[id]);
        else
            snprintf(last, sizeof last, "S%c%c_", digits[id / 36], digits[id % 36]);
        snprintf(symbol + strlen(symbol), sizeof symbol - strlen(symbol), "1AI%s%s%sE", last, last,
                 last);
    }
    print_message("  %zu bytes\n", strlen(symbol));
    assert_in_range(strlen(symbol), 200, 330);
    getrlimit(RLIMIT_CPU, &old);
    /* SIGXCPU ends the test where it would run for minutes */
    limit = (struct rlimit){ 60, old.rlim_max };
    setrlimit(RLIMIT_CPU, &limit);
    assert_null(symbol_demangle(symbol));
    setrlimit(RLIMIT_CPU, &old);
    strcpy(symbol + 10, "1AIS0_S0_S0_E");
    char *name = symbol_demangle(symbol);
    assert_string_equal(name, "f(A<int, int>, A<A<int, int>, A<int, int>, A<int, int> >)");
    free(name);
}

static uint64_t low_bits(uint64_t addr) { return addr & 0xFFF; }

/* Sections that overlap, contain each other, wrap and are looked for at any address: as looking
 * through the table gives it. */
static void symbols__sections_of_any_kind__the_first_that_holds_it(void **state)
{
    enum { MOST = 24, ROUNDS = 2000 };
    (void)state;
    srand(4711);
    for (int round = 0; round < ROUNDS; round++) {
        struct image_section section[MOST];
        struct symbols s = { .sections = section, .canonical = round % 2 ? low_bits : NULL };
        s.image.nsections = (size_t)rand() % MOST;
        uint64_t base = round % 3 ? 0x100 : UINT64_MAX - 0x80;
        for (size_t i = 0; i < s.image.nsections; i++)
            section[i] = (struct image_section){ .addr = base + (uint64_t)rand() % 0x100,
                                                 .size = 1 + (uint64_t)rand() % 0x60 };
        assert_int_equal(symbols_index_sections(&s, NULL), 0);
        for (uint64_t addr = base - 0x20; addr != base + 0x180; addr++) {
            const struct image_section *expected = NULL;
            for (size_t i = 0; !expected && i < s.image.nsections; i++)
                if (sym_key(&s, addr) - sym_key(&s, section[i].addr) < section[i].size)
                    expected = &section[i];
            assert_ptr_equal(sym_section(&s, addr), expected);
        }
        free(s.spans);
    }
}

static void symbols__not_a_program__says_what_it_is(void **state)
{
    static const struct {
        const char *path;
        int ret;
        const char *says;
    } rows[] = {
        { FIXTURES "nothing.elf", -ERR_NOT_FOUND, "No such file" },
        { FIXTURES "README.md", -ERR_FORMAT, "not an ELF" },
        { FIXTURES "object-le.elf", -ERR_FORMAT, "object file" },
        { "/proc/self/exe", -ERR_FORMAT, "a program for " },
        { FIXTURES, -ERR_IO, "not a regular file" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct symbols *s = NULL;
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", rows[i].path);
        assert_int_equal(symbols_open(rows[i].path, &s, &err), rows[i].ret);
        assert_null(s);
        assert_non_null(strstr(err.what, rows[i].says));
        assert_string_not_equal(err.hint, "");
    }
}

/* Cut anywhere, a program is refused with an error that says so, or read as far as it is whole (its
 * tables stand at the end). */
static void symbols__cut_at_every_length__refused_with_an_error(void **state)
{
    (void)state;
    size_t len;
    uint8_t *data = load_file(FIXTURES "small-le.elf", &len);
    char *folder = temp_folder(), *path = temp_path(folder, "cut.elf");
    for (size_t n = 0; n < len; n += n < 300 ? 1 : 97) {
        struct symbols *s = NULL;
        struct err err = { .code = ERR_OK };
        store_file(path, data, n);
        assert_int_equal(symbols_open(path, &s, &err), -ERR_FORMAT);
        assert_non_null(strstr(err.what, n < 4 ? "not an ELF" : "cut short"));
        assert_null(s);
    }
    free(path);
    temp_remove(folder);
    free(data);
}

/* Nothing that stands in the file is believed. */
static void symbols__damaged_bytes__no_crash(void **state)
{
    (void)state;
    size_t len;
    uint64_t seed = 42;
    uint8_t *data = load_file(FIXTURES "small-le.elf", &len), *bad = malloc(len);
    char *folder = temp_folder(), *path = temp_path(folder, "bad.elf");
    for (int i = 0; i < 400; i++) {
        struct symbols *s = NULL;
        struct err err = { .code = ERR_OK };
        memcpy(bad, data, len);
        for (uint32_t k = 1 + random_below(&seed, 6); k; k--)
            bad[random_below(&seed, (uint32_t)len)] = (uint8_t)random_next(&seed);
        store_file(path, bad, len);
        int ret = symbols_open(path, &s, &err);
        if (ret == 0) {
            char text[200];
            uint64_t addr;
            symbols_describe(s, symbols_image(s)->entry, text, sizeof text);
            symbols_parse(s, "list.c:12", &addr, NULL);
            symbols_parse(s, "mian", &addr, NULL);
            for (size_t f = 1; f < symbols_nfunctions(s); f++)
                assert_true(symbols_function(s, f - 1)->high <= symbols_function(s, f)->low);
        } else {
            assert_int_equal(err.code, -ret);
        }
        symbols_close(s);
    }
    free(path);
    temp_remove(folder);
    free(data);
    free(bad);
}

/* GNU as and ld 2.40 write a machine number of their own, and debug info without functions: names
 * come from the symbol table. */
static void symbols__s12z_by_gnu__functions_and_lines(void **state)
{
    (void)state;
    struct symbols *s = NULL;
    struct err err = { .code = ERR_OK };
    const char *file = NULL;
    uint64_t tiny = 0, burst = 0;
    int line = 0;
    if (symbols_open(SOURCE_DIR "/docs/examples/motor/motor.elf", &s, &err) < 0)
        fail_msg("%s", err.what);
    assert_int_equal(symbols_machine(s), 249);
    assert_true(symbols_image(s)->big_endian);
    assert_true(symbols_lookup(s, "tiny", &tiny) && symbols_lookup(s, "burst", &burst));
    assert_int_equal(burst, 0x1000);
    long at = symbols_find(s, tiny + 1);
    assert_true(at >= 0);
    assert_string_equal(symbols_function(s, (size_t)at)->name, "tiny");
    assert_int_equal(symbols_function(s, (size_t)at)->high - tiny, 2);
    assert_true(symbols_line(s, tiny, &file, &line));
    assert_string_equal(strrchr(file, '/'), "/motor.s");
    assert_true(line > 100);
    symbols_close(s);
}

/* An ELF whose section table was removed still has its segments. */
static void symbols__loaded_elsewhere__says_where(void **state)
{
    struct symbols *s = NULL;
    (void)state;
    assert_int_equal(symbols_open(FIXTURES "copy-s12z.elf", &s, NULL), 0);
    const struct image *im = symbols_image(s);
    assert_int_equal(im->nsections, 2);
    assert_int_equal(im->sections[0].addr, 0xFE0000);
    assert_int_equal(image_load_addr(im, 0), 0xFE0000);
    assert_int_equal(im->sections[1].addr, 0x1000);
    assert_int_equal(image_load_addr(im, 1), 0xFE001C);
    symbols_close(s);
    assert_int_equal(symbols_open(FIXTURES "small-le.elf", &s, NULL), 0); /* and nowhere else */
    im = symbols_image(s);
    for (size_t k = 0; k < im->nsections; k++)
        assert_int_equal(image_load_addr(im, k), im->sections[k].addr);
    symbols_close(s);
}

static void symbols__no_section_table__segments_stand_in(void **state)
{
    (void)state;
    size_t len;
    struct symbols *s;
    uint8_t *data = load_file(FIXTURES "small-le.elf", &len);
    char *folder = temp_folder(), *path = temp_path(folder, "segments.elf");
    memset(data + 32, 0, 4); /* e_shoff */
    memset(data + 46, 0, 6); /* e_shentsize, e_shnum, e_shstrndx */
    store_file(path, data, len);
    assert_int_equal(symbols_open(path, &s, NULL), 0);
    const struct image *im = symbols_image(s);
    assert_true(im->nsections >= 2);
    assert_int_equal(symbols_nfunctions(s), 0);
    assert_true(symbols_section_end(s, 0x8c010000) >= 0x8c010150);
    assert_int_equal(im->build_id_len, 20);
    symbols_close(s);
    free(path);
    temp_remove(folder);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols__functions__sorted_sized_and_named),
        cmocka_unit_test(symbols__image__has_sections_entry_and_build_id),
        cmocka_unit_test(symbols__big_endian__read_alike),
        cmocka_unit_test(symbols__stripped__sections_but_no_functions),
        cmocka_unit_test(symbols__leading_underscores__names_found_without),
        cmocka_unit_test(symbols__find__by_any_address_of_a_function),
        cmocka_unit_test(symbols__canonical__aliases_are_one_address),
        cmocka_unit_test(symbols__line__follows_the_line_table),
        cmocka_unit_test(symbols__inlined_code__belongs_to_the_function_around_it),
        cmocka_unit_test(symbols__parse__addresses_as_people_write_them),
        cmocka_unit_test(symbols__parse_without_elf__numbers_only),
        cmocka_unit_test(symbols__demangle__cxx_names_only),
        cmocka_unit_test(symbols__sections_of_any_kind__the_first_that_holds_it),
        cmocka_unit_test(symbols__demangle__a_name_of_gigabytes_is_none),
        cmocka_unit_test(symbols__not_a_program__says_what_it_is),
        cmocka_unit_test(symbols__cut_at_every_length__refused_with_an_error),
        cmocka_unit_test(symbols__damaged_bytes__no_crash),
        cmocka_unit_test(symbols__s12z_by_gnu__functions_and_lines),
        cmocka_unit_test(symbols__loaded_elsewhere__says_where),
        cmocka_unit_test(symbols__no_section_table__segments_stand_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
