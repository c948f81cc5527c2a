/* One function of the feed: recursion, handlers, what is not known, and what is too much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <jansson.h>

#include "probe/base/util.h"
#include "profiler/feed/function.h"
#include "profiler/feed/source_text.h"
#include "targets/sh4/sh4.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

struct fixture {
    struct feed *feed;
    struct calltree *tree;
    struct symbols *symbols;
    struct program_code code;
};

static int set_up_feed(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_int_equal(feed_new(0xAB, &f->feed, NULL), 0);
    *state = f;
    return 0;
}

static int tear_down_feed(void **state)
{
    struct fixture *f = *state;
    feed_free(f->feed);
    calltree_free(f->tree);
    symbols_close(f->symbols);
    free(f);
    return 0;
}

static void fold_events(struct fixture *f, const struct event *e, size_t n)
{
    struct calltree_config cfg = { .resolve = f->symbols ? symbols_range : NULL,
                                   .resolve_ctx = f->symbols };
    assert_int_equal(calltree_new(&cfg, &f->tree, NULL), 0);
    calltree_feed(f->tree, e, n);
    struct feed_source from = { .tree = f->tree, .symbols = f->symbols };
    struct feed_moment now = { .ns = 1, .wall_ms = 1 };
    assert_int_equal(feed_fold(f->feed, &from, &now, NULL), 1);
}

static void open_program(struct fixture *f, const char *path)
{
    assert_int_equal(symbols_open(path, &f->symbols, NULL), 0);
    f->code = (struct program_code){ .elf = path,
                                     .symbols = f->symbols,
                                     .insn = sh4_target_ops()->insn,
                                     .canonical = sh4_target_ops()->canonical };
}

static json_t *get_since(struct fixture *f, uint64_t id, const char *mark)
{
    struct memory_sink m = { 0 };
    assert_int_equal(function_write(f->feed, id, mark, &f->code, sink_to(&m), NULL), 0);
    json_t *root = json_loads(sink_text(&m), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    sink_free(&m);
    return root;
}

static json_t *get_function(struct fixture *f, uint64_t id) { return get_since(f, id, NULL); }

static long long number_at(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

/* The row of a caller or callee; by -1 the one without a function. */
static const json_t *kin_row(const json_t *root, const char *side, int function)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(root, side), i, row)
    {
        const json_t *id = json_object_get(row, "function");
        if (json_is_null(id) ? function < 0 : json_integer_value(id) == function)
            return row;
    }
    fail_msg("no %s with function %d", side, function);
    return NULL;
}

static void check_callers(const json_t *root)
{
    static const char *const keys[] = { "hits", "c1", "c1_children", "c2", "c2_children" };
    size_t i;
    json_t *row;
    for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
        long long sum = 0;
        json_array_foreach(json_object_get(root, "callers"), i, row) sum += number_at(row, keys[k]);
        assert_int_equal(sum, number_at(root, keys[k]));
    }
}

enum { HAS = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 };
enum { MAIN = 0x100, F = 0x200, G = 0x300, H = 0x400 };

static struct event call_event(uint64_t pc, uint64_t target, uint32_t c1)
{
    return (struct event){ .kind = EVENT_CALL, .flags = HAS, .pc = pc, .target = target, .c1 = c1 };
}

/* main calls f, which calls itself; that calls g; g calls f again, which calls h. Each has 10 of
 * its own before it calls on. */
static void recursion__counts_once(void **state)
{
    struct fixture *f = *state;
    const struct event e[] = { { .kind = EVENT_START, .flags = HAS, .pc = MAIN },
                               call_event(MAIN, F, 10),
                               call_event(F + 4, F, 20),
                               call_event(F + 4, G, 30),
                               call_event(G + 4, F, 40),
                               call_event(F + 4, H, 50),
                               { .kind = EVENT_STOP, .flags = HAS, .pc = H + 4, .c1 = 60 } };
    fold_events(f, e, ARRAY_LEN(e));
    json_t *root = get_function(f, 1);
    assert_int_equal(number_at(root, "low"), F);
    assert_int_equal(number_at(root, "hits"), 3);
    assert_int_equal(number_at(root, "c1"), 30);
    assert_int_equal(number_at(root, "c1_children"), 50);
    check_callers(root);
    assert_int_equal(number_at(kin_row(root, "callers", 0), "c1_children"), 50);
    assert_int_equal(number_at(kin_row(root, "callers", 1), "c1"), 10);
    assert_int_equal(number_at(kin_row(root, "callers", 1), "c1_children"), 0); /* in main's */
    assert_int_equal(number_at(kin_row(root, "callers", 2), "hits"), 1);
    assert_int_equal(number_at(kin_row(root, "callees", 1), "c1_children"), 0);
    assert_int_equal(number_at(kin_row(root, "callees", 2), "c1_children"), 30);
    assert_int_equal(number_at(kin_row(root, "callees", 3), "c1"), 10);
    assert_int_equal(number_at(kin_row(root, "callees", 3), "c1_children"), 0); /* in g's */
    assert_true(json_is_null(json_object_get(root, "source"))); /* no program is known */
    assert_int_equal(json_array_size(json_object_get(root, "instructions")), 0);
    json_decref(root);
    root = get_function(f, 0);
    check_callers(root);
    assert_int_equal(number_at(kin_row(root, "callers", -1), "c1_children"), 60);
    json_decref(root);
}

/* Behind the mark main calls g, and that h, for 10 and 15: what f did is no part of it. */
static void since_a_mark__callers_are_of_what_came_then(void **state)
{
    struct fixture *f = *state;
    struct memory_sink m = { 0 };
    struct err err = { .code = ERR_OK };
    const struct event before[] = { { .kind = EVENT_START, .flags = HAS, .pc = MAIN },
                                    call_event(MAIN, F, 10),
                                    call_event(F + 4, G, 30),
                                    call_event(G + 4, H, 50),
                                    { .kind = EVENT_STOP, .flags = HAS, .pc = H + 4, .c1 = 60 } };
    const struct event behind[] = { { .kind = EVENT_START, .flags = HAS, .pc = MAIN, .c1 = 100 },
                                    call_event(MAIN, G, 110),
                                    call_event(G + 4, H, 125),
                                    { .kind = EVENT_STOP, .flags = HAS, .pc = H + 4, .c1 = 130 } };
    struct feed_source from = { .symbols = NULL };
    struct feed_moment now = { .ns = 2, .wall_ms = 2 };
    fold_events(f, before, ARRAY_LEN(before));
    from.tree = f->tree;
    assert_int_equal(feed_mark(f->feed, "m", &from, &now, NULL), 0);
    calltree_feed(f->tree, behind, ARRAY_LEN(behind));
    assert_int_equal(feed_fold(f->feed, &from, &now, NULL), 1);
    enum { ID_F = 1, ID_G, ID_H };
    json_t *root = get_since(f, ID_G, "m");
    assert_string_equal(json_string_value(json_object_get(root, "since")), "m");
    assert_int_equal(number_at(root, "hits"), 2); /* its own figures are of all */
    assert_int_equal(json_array_size(json_object_get(root, "callers")), 1);
    assert_int_equal(number_at(kin_row(root, "callers", 0), "hits"), 1);
    assert_int_equal(number_at(kin_row(root, "callers", 0), "c1"), 15);
    assert_int_equal(number_at(kin_row(root, "callers", 0), "c1_children"), 20);
    assert_int_equal(number_at(kin_row(root, "callees", ID_H), "c1"), 5);
    json_decref(root);
    root = get_since(f, ID_F, "m");
    assert_int_equal(json_array_size(json_object_get(root, "callers")), 0);
    json_decref(root);
    root = get_since(f, ID_F, NULL);
    assert_int_equal(json_array_size(json_object_get(root, "callers")), 1);
    assert_null(json_object_get(root, "since"));
    json_decref(root);
    assert_int_equal(function_write(f->feed, 1, "other", &f->code, sink_to(&m), &err),
                     -ERR_NOT_FOUND);
    assert_int_equal(m.len, 0);
}

static void unknown_id__is_not_found(void **state)
{
    struct fixture *f = *state;
    struct memory_sink m = { 0 };
    struct err err = { .code = ERR_OK };
    assert_int_equal(function_write(f->feed, 0, NULL, &f->code, sink_to(&m), &err), -ERR_NOT_FOUND);
    assert_int_equal(m.len, 0);
    assert_true(*err.what && *err.hint);
    assert_int_equal(function_write(f->feed, UINT64_MAX, NULL, &f->code, sink_to(&m), NULL),
                     -ERR_NOT_FOUND);
    sink_free(&m);
}

static void program__has_its_instructions_at_any_alias(void **state)
{
    struct fixture *f = *state;
    size_t n, nevents, listed = 0;
    open_program(f, FIXTURES "small-le.elf");
    const struct event *e = sample_events(&nevents);
    fold_events(f, e, nevents);
    feed_functions(f->feed, &n);
    for (size_t id = 0; id < n; id++) {
        json_t *root = get_function(f, id);
        check_callers(root);
        listed += json_array_size(json_object_get(root, "instructions"));
        json_decref(root);
    }
    assert_true(listed > 20);
    const struct symbol_function *fn = symbols_function(f->symbols, 0);
    struct listing cached = { 0 }, uncached = { 0 };
    uint64_t p2 = 0x20000000;
    f->code.canonical = sh4_target_ops()->canonical;
    assert_int_equal(symbols_set_canonical(f->symbols, f->code.canonical, NULL), 0);
    assert_int_equal(listing_make(&f->code, fn->low, fn->high, &cached, NULL), 0);
    assert_int_equal(listing_make(&f->code, fn->low ^ p2, fn->high ^ p2, &uncached, NULL), 0);
    assert_true(cached.n > 0);
    assert_int_equal(cached.n, uncached.n);
    assert_int_equal(cached.row[0].address, uncached.row[0].address);
    assert_string_equal(cached.row[0].insn.text, uncached.row[0].insn.text);
    listing_fini(&cached);
    listing_fini(&uncached);
}

/* A CPU with instructions of one byte, so that a section has enough of them. */
static size_t one_byte(const uint8_t *code, size_t avail, uint64_t pc, bool big_endian,
                       struct insn *out)
{
    (void)code;
    (void)pc;
    (void)big_endian;
    *out = (struct insn){ .text = "nop", .bytes = 1 };
    return avail ? 1 : 0;
}

static void listing__counts_stay_where_they_were_measured(void **state)
{
    struct fixture *f = *state;
    struct blocks blocks = { 0 };
    struct address_counts samples = { .limit = 100 };
    struct listing l = { 0 };
    open_program(f, FIXTURES "small-le.elf");
    uint64_t low = symbols_function(f->symbols, 0)->low;
    const struct event e[] = {
        { .kind = EVENT_BLOCK, .pc = low + 2, .target = low + 4, .runs = 7 },
        { .kind = EVENT_BRANCH, .pc = low + 3, .taken = 5, .not_taken = 2 },
    };
    for (size_t i = 0; i < ARRAY_LEN(e); i++)
        assert_int_equal(blocks_add(&blocks, &e[i]), 0);
    address_counts_add(&samples, low + 1, 0);
    address_counts_add(&samples, low + 1, 0);
    address_counts_add(&samples, low + 100000, 0);
    f->code.insn = one_byte;
    f->code.blocks = &blocks;
    f->code.samples = &samples;
    assert_int_equal(listing_make(&f->code, low, low + 6, &l, NULL), 0);
    assert_int_equal(l.n, 6);
    for (size_t i = 0; i < l.n; i++) {
        assert_int_equal(l.row[i].hits, i == 1 ? 2 : 0);
        assert_int_equal(l.row[i].counted, i == 2 || i == 3);
        assert_int_equal(l.row[i].branched, i == 3);
    }
    listing_fini(&l);
    blocks_fini(&blocks);
    address_counts_fini(&samples);
}

/* A program without symbols, which is one section of NOPs. */
static void store_nops(const char *path, uint32_t addr, size_t n)
{
    static const char names[] = "\0.text\0.names";
    struct {
        Elf32_Ehdr head;
        Elf32_Shdr section[3];
        char names[16];
        uint16_t code[];
    } *elf = calloc(1, sizeof *elf + 2 * n);
    elf->head = (Elf32_Ehdr){ .e_ident = { 0x7F, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, 1 },
                              .e_type = ET_EXEC,
                              .e_machine = EM_SH,
                              .e_version = 1,
                              .e_ehsize = sizeof elf->head,
                              .e_shentsize = sizeof *elf->section,
                              .e_shoff = sizeof elf->head,
                              .e_shnum = 3,
                              .e_shstrndx = 2 };
    elf->section[1] = (Elf32_Shdr){ .sh_name = 1,
                                    .sh_type = SHT_PROGBITS,
                                    .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                    .sh_addr = addr,
                                    .sh_offset = sizeof *elf,
                                    .sh_size = (uint32_t)(2 * n) };
    elf->section[2] = (Elf32_Shdr){ .sh_name = 7,
                                    .sh_type = SHT_STRTAB,
                                    .sh_offset = sizeof elf->head + sizeof elf->section,
                                    .sh_size = sizeof names };
    memcpy(elf->names, names, sizeof names);
    for (size_t i = 0; i < n; i++)
        elf->code[i] = 0x0009;
    store_file(path, elf, sizeof *elf + 2 * n);
    free(elf);
}

static void listing__too_long__is_cut_and_says_so(void **state)
{
    struct fixture *f = *state;
    enum { ADDR = 0x0C010000 };
    char *folder = temp_folder(), *path = temp_path(folder, "nops.elf");
    store_nops(path, ADDR, LISTING_MOST + 10);
    open_program(f, path);
    for (uint64_t n = LISTING_MOST - 1; n <= LISTING_MOST + 1; n++) {
        struct listing l = { 0 };
        assert_int_equal(listing_make(&f->code, ADDR, ADDR + 2 * n, &l, NULL), 0);
        assert_int_equal(l.n, MIN(n, (uint64_t)LISTING_MOST));
        assert_int_equal(l.cut, n > LISTING_MOST);
        listing_fini(&l);
    }
    free(path);
    temp_remove(folder);
}

static void source__names_lead_nowhere_else(void **state)
{
    (void)state;
    char *folder = temp_folder(), *source = temp_path(folder, "a.c"),
         *elf = temp_path(folder, "a.elf"), *text = temp_path(folder, "a.txt");
    store_file(source, "one\r\ntwo\n", 9);
    store_file(text, "one\n", 4);
    store_file(elf, "", 0);
    const struct {
        const char *name, *directory, *elf;
        bool found;
    } tries[] = {
        { "a.c", folder, NULL, true },
        { "./a.c", NULL, elf, true },
        { "/somewhere/else/a.c", "/somewhere", elf, true },
        { source, folder, NULL, true },
        { source, NULL, NULL, false },
        { source, "/", NULL, false },
        { source + 1, "/", NULL, false },
        { "a.c", "relative", NULL, false },
        { "a.txt", folder, elf, false },
        { "../../../etc/passwd", folder, elf, false },
        { "/etc/passwd", "/etc", NULL, false },
        { "", folder, elf, false },
        { "b.c", folder, elf, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
        struct source_text t = { 0 };
        struct source_at at = { 0 };
        size_t len = 0;
        source_text_read(tries[i].name, tries[i].directory, tries[i].elf, &t);
        const char *line = source_text_line(&t, 1, &at, &len);
        if (tries[i].found != (line != NULL) || tries[i].found == (t.note != NULL))
            fail_msg("%s below %s", tries[i].name, tries[i].directory);
        if (line) {
            assert_int_equal(len, 3);
            assert_memory_equal(line, "one", 3);
            assert_memory_equal(source_text_line(&t, 2, &at, &len), "two", 3);
            assert_null(source_text_line(&t, 3, &at, &len));
            assert_memory_equal(source_text_line(&t, 1, &at, &len), "one", 3);
        }
        source_text_fini(&t);
    }
    free(source);
    free(elf);
    free(text);
    temp_remove(folder);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up_feed, tear_down_feed)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(recursion__counts_once),
        T(since_a_mark__callers_are_of_what_came_then),
        T(unknown_id__is_not_found),
        T(program__has_its_instructions_at_any_alias),
        T(listing__counts_stay_where_they_were_measured),
        T(listing__too_long__is_cut_and_says_so),
        T(source__names_lead_nowhere_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
