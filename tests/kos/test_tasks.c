/* Finding tasks in memory: layouts told apart by what is there, lists that make no sense, names
 * that change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/core/symbols.h"
#include "targets/os/tasks.h"

enum {
    BASE = 0x8C000000,
    BYTES = 1 << 20,
    LIST = 0x8C000100,
    CURRENT = 0x8C000104,
    CREATED = 0x8C000108,
    TOP = 0x8C00010C,
    BLOCKS = 0x8C010000,
    EACH = 0x600,
    FIRST = 7
};

/* As struct kthread in the versions; kept apart from the table under test. */
static const struct layout {
    const char *version;
    unsigned list, tid, label, stack, size;
} layouts[] = { { "2.0.0", 0, 24, 60, 800, 804 },
                { "2.1.0", 228, 252, 304, 816, 820 },
                { "2.2.2", 228, 252, 308, 820, 824 },
                { "later", 256, 280, 336, 848, 852 } };

struct memory {
    uint8_t bytes[BYTES];
    unsigned reads;
    int fails; /* every read: with this */
};

static void put_word(struct memory *m, uint32_t at, uint32_t w)
{
    memcpy(m->bytes + (at - BASE), &w, 4);
}

static int read_words(void *ctx, uint32_t addr, uint32_t *w, size_t n, struct err *err)
{
    struct memory *m = ctx;
    m->reads++;
    if (m->fails)
        return m->fails;
    if (addr < BASE || addr - BASE > BYTES - 4 * n || addr % 4)
        return err_set(err, ERR_FAULT, "", "no memory at %08x", addr);
    memcpy(w, m->bytes + (addr - BASE), 4 * n);
    return 0;
}

static bool look_up_symbol(const struct image *im, const char *name, uint64_t *addr)
{
    (void)im;
    static const struct {
        const char *name;
        uint32_t at;
    } symbols[] = { { "_thd_list", LIST },
                    { "_thd_current", CURRENT },
                    { "_tid_highest", CREATED },
                    { "__arch_mem_top", TOP } };
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++)
        if (!strcmp(name, symbols[i].name)) {
            *addr = symbols[i].at;
            return true;
        }
    return false;
}

static const struct image kos = { .lookup = look_up_symbol };

/* Tasks number..1, the newest first, with stacks of 4 KB from 1 MB on. */
static void make_list(struct memory *m, const struct layout *l, int n)
{
    memset(m, 0, sizeof *m);
    uint32_t link = LIST;
    for (int i = n; i >= 1; i--) {
        uint32_t block = BLOCKS + (uint32_t)(i - 1) * EACH;
        char name[32];
        snprintf(name, sizeof name, "thread number %d", i);
        put_word(m, link, block);
        put_word(m, block + l->list + 4, link);
        put_word(m, block + l->tid, (uint32_t)i);
        memcpy(m->bytes + (block + l->label - BASE), name, strlen(name));
        put_word(m, block + l->stack, 0x8C200000 + (uint32_t)i * 4096);
        put_word(m, block + l->size, 4096);
        link = block + l->list;
    }
    put_word(m, CURRENT, n ? BLOCKS : 0);
    put_word(m, CREATED, (uint32_t)n + 1);
    put_word(m, TOP, 0x8D000000);
}

static struct memory memory;
static const struct tasks_memory reader = { read_words, &memory };

static struct tasks *new_finder(void)
{
    struct tasks *t = NULL;
    assert_int_equal(tasks_new(&kos, FIRST, &t, NULL), 0);
    assert_non_null(t);
    assert_string_equal(tasks_system(t), "KallistiOS");
    return t;
}

static void
tasks__every_layout_without_debug_information__is_recognised_by_what_is_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(layouts); i++) {
        size_t n;
        struct tasks *t = new_finder();
        make_list(&memory, &layouts[i], 3);
        assert_int_equal(tasks_look(t, &reader, true, NULL), 1);
        const struct task *k = tasks_list(t, &n);
        assert_int_equal(n, 3);
        assert_int_equal(k[0].number, 3);
        assert_string_equal(k[0].name, "thread number 3");
        assert_int_equal(k[0].low, 0x8C200000 + 3 * 4096);
        assert_int_equal(k[0].high, 0x8C200000 + 4 * 4096);
        assert_false(k[0].current);
        assert_true(k[2].current);
        /* The first runs where the program was started, on whatever it was given. */
        assert_int_equal(k[2].low, 0x8D000000 - 65536);
        assert_int_equal(k[2].high, 0x8D000000);
        tasks_free(t);
    }
}

static void tasks__nothing_created_since__costs_one_word(void **state)
{
    (void)state;
    size_t n;
    struct tasks *t = new_finder();
    make_list(&memory, &layouts[2], 4);
    assert_int_equal(tasks_look(t, &reader, false, NULL), 1);
    uint32_t context = tasks_list(t, &n)[0].context;
    for (size_t i = 0; i < n; i++)
        tasks_list(t, &n)[i].reported = true;
    memory.reads = 0;
    assert_int_equal(tasks_look(t, &reader, false, NULL), 0);
    assert_int_equal(memory.reads, 1);
    /* A name that has changed is seen when everything is looked at, and it is the same task. */
    memcpy(memory.bytes + (BLOCKS + 3 * EACH + layouts[2].label - BASE), "sound", 6);
    assert_int_equal(tasks_look(t, &reader, false, NULL), 0);
    assert_int_equal(tasks_look(t, &reader, true, NULL), 1);
    assert_string_equal(tasks_list(t, &n)[0].name, "sound");
    assert_int_equal(tasks_list(t, &n)[0].context, context);
    assert_false(tasks_list(t, &n)[0].reported);
    assert_true(tasks_list(t, &n)[1].reported);
    tasks_free(t);
}

static void tasks__another_in_the_same_block__is_another(void **state)
{
    (void)state;
    size_t n;
    struct tasks *t = new_finder();
    make_list(&memory, &layouts[3], 2);
    assert_int_equal(tasks_look(t, &reader, true, NULL), 1);
    uint32_t was = tasks_list(t, &n)[0].context;
    put_word(&memory, BLOCKS + EACH + layouts[3].tid, 3);
    put_word(&memory, CREATED, 4);
    assert_int_equal(tasks_look(t, &reader, false, NULL), 1);
    assert_int_equal(tasks_list(t, &n)[0].number, 3);
    assert_true(tasks_list(t, &n)[0].context > was);
    tasks_free(t);
}

/* Each spoils a list that was good: nothing is found, nothing that was known is lost, and no read
 * leaves memory. */
static void spoil_list(int how)
{
    const struct layout *l = &layouts[2];
    uint32_t second = BLOCKS + EACH, link = second + l->list;
    switch (how) {
    case 0: put_word(&memory, link, BLOCKS + 2 * EACH); break; /* a circle */
    case 1: put_word(&memory, link + 4, LIST); break;          /* a link that does not lead back */
    case 2: put_word(&memory, link, 0xA05F8000); break;        /* a block among the registers */
    case 3: put_word(&memory, link, BLOCKS + 2); break;        /* at no word */
    case 4: put_word(&memory, second + l->tid, 0x80000001); break; /* a number that is none */
    case 5:
        put_word(&memory, second + l->label, 0x1B5B3131);
        break; /* a name that would speak to a terminal */
    case 6: put_word(&memory, second + l->label, 0); break;         /* none at all */
    case 7: put_word(&memory, second + l->size, 0x7FFFFFFF); break; /* a stack larger than memory */
    case 8:
        put_word(&memory, second + l->stack, 0x00001000);
        break; /* ... or where there is none */
    case 9: put_word(&memory, LIST, 0xFFFFFFFC); break;
    default: put_word(&memory, LIST, 0); break; /* before the system has begun */
    }
}

static void tasks__list_makes_no_sense__is_not_believed(void **state)
{
    (void)state;
    for (int how = 0; how <= 10; how++) {
        size_t n;
        struct tasks *t = new_finder();
        make_list(&memory, &layouts[2], 3);
        assert_int_equal(tasks_look(t, &reader, true, NULL), 1);
        spoil_list(how);
        put_word(&memory, CREATED, 9);
        assert_int_equal(tasks_look(t, &reader, false, NULL), 0);
        tasks_list(t, &n);
        assert_int_equal(n, 3);
        /* And it is looked at again as soon as it can be read, though nothing more was created. */
        make_list(&memory, &layouts[2], 4);
        put_word(&memory, CREATED, 9);
        assert_int_equal(tasks_look(t, &reader, false, NULL), 1);
        tasks_list(t, &n);
        assert_int_equal(n, 4);
        tasks_free(t);
    }
}

static void tasks__more_than_there_is_room_for__are_reported_to_be_there(void **state)
{
    (void)state;
    size_t n;
    struct tasks *t = new_finder();
    make_list(&memory, &layouts[1], TASKS_MOST + 1);
    assert_int_equal(tasks_look(t, &reader, true, NULL), 1);
    tasks_list(t, &n);
    assert_int_equal(n, TASKS_MOST);
    assert_int_equal(tasks_unseen(t), 1);
    tasks_free(t);
}

static void tasks__wire_fails__is_reported_and_nothing_lost(void **state)
{
    (void)state;
    size_t n;
    struct tasks *t = new_finder();
    make_list(&memory, &layouts[1], 2);
    assert_int_equal(tasks_look(t, &reader, true, NULL), 1);
    memory.fails = -ERR_TIMEOUT;
    assert_int_equal(tasks_look(t, &reader, true, NULL), -ERR_TIMEOUT);
    memory.fails = -ERR_FAULT;
    assert_int_equal(tasks_look(t, &reader, true, NULL), 0);
    tasks_list(t, &n);
    assert_int_equal(n, 2);
    tasks_free(t);
}

/* ---- registers of threads that do not run ---- */

/* As struct irq_context: 2.1 and later, and 2.0; kept apart from the table under test. */
static const struct saved_layout {
    const char *version;
    unsigned layout, context, pc, pr, sr, fpul, fr, xf, r, fpscr;
} saved_layouts[] = { { "2.0.0", 0, 572, 64, 68, 88, 224, 156, 92, 0, 220 },
                      { "2.2.2", 2, 0, 0, 4, 24, 28, 32, 96, 160, 224 },
                      { "later", 3, 0, 0, 4, 24, 28, 32, 96, 160, 224 } };

/* Each word of what the second of three threads has saved is 0x1000 and its offset. */
static struct tasks *finder_of_saved(const struct saved_layout *l, uint32_t pc, uint32_t pr,
                                     uint32_t fpscr)
{
    struct tasks *t = new_finder();
    make_list(&memory, &layouts[l->layout], 3);
    uint32_t context = BLOCKS + EACH + l->context;
    for (uint32_t at = 0; at < 228; at += 4)
        put_word(&memory, context + at, 0x1000 + at);
    put_word(&memory, context + l->pc, pc);
    put_word(&memory, context + l->pr, pr);
    put_word(&memory, context + l->fpscr, fpscr);
    assert_int_equal(tasks_look(t, &reader, true, NULL), 1);
    return t;
}

static void saved_is(struct tasks *t, const char *name, int64_t wanted)
{
    size_t n;
    uint32_t value = 0xDEADBEEF;
    int ret = tasks_saved(t, &reader, &tasks_list(t, &n)[1], name, &value, NULL);
    print_message("    %s: %d, %x\n", name, ret, value);
    assert_int_equal(ret, wanted >= 0);
    assert_int_equal(value, wanted >= 0 ? (uint32_t)wanted : 0xDEADBEEF);
}

static void saved__interrupted_thread__has_all_of_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(saved_layouts); i++) {
        const struct saved_layout *l = &saved_layouts[i];
        print_message("  %s\n", l->version);
        struct tasks *t = finder_of_saved(l, 0x8C010000, 0x8C020000, 0x00040001);
        saved_is(t, "pc", 0x8C010000);
        saved_is(t, "pr", 0x8C020000);
        saved_is(t, "sr", 0x1000 + l->sr);
        saved_is(t, "fpul", 0x1000 + l->fpul);
        saved_is(t, "fpscr", 0x00040001);
        saved_is(t, "r0", 0x1000 + l->r);
        saved_is(t, "r7", 0x1000 + l->r + 28);
        saved_is(t, "r15", 0x1000 + l->r + 60);
        saved_is(t, "fr0", 0x1000 + l->fr);
        saved_is(t, "fr15", 0x1000 + l->fr + 60);
        saved_is(t, "xf1", 0x1000 + l->xf + 4);
        saved_is(t, "r16", -1);
        saved_is(t, "r0b0", -1);
        saved_is(t, "ssr", -1);
        saved_is(t, "", -1);
        tasks_free(t);
    }
}

static void saved__thread_that_gave_way__has_what_calls_keep(void **state)
{
    (void)state;
    const struct saved_layout *l = &saved_layouts[1];
    struct tasks *t = finder_of_saved(l, 0x8C010000, 0x8C010000, 0x00040001);
    saved_is(t, "pc", 0x8C010000);
    saved_is(t, "r0", -1);
    saved_is(t, "r7", -1);
    saved_is(t, "r8", 0x1000 + l->r + 32);
    saved_is(t, "r10", 0x1000 + l->r + 40);
    saved_is(t, "r15", 0x1000 + l->r + 60);
    saved_is(t, "fr12", -1);
    tasks_free(t);
}

/* With FPSCR.FR the names of the banks are exchanged. */
static void saved__other_bank_chosen__is_not_told(void **state)
{
    (void)state;
    struct tasks *t = finder_of_saved(&saved_layouts[1], 0x8C010000, 0x8C020000, 0x00240001);
    saved_is(t, "fr0", -1);
    saved_is(t, "xf0", -1);
    saved_is(t, "r0", 0x1000 + saved_layouts[1].r);
    tasks_free(t);
}

static void saved__thread_that_runs_or_wire_that_fails__gives_nothing(void **state)
{
    (void)state;
    size_t n;
    uint32_t value;
    struct tasks *t = finder_of_saved(&saved_layouts[1], 1, 2, 0);
    put_word(&memory, CURRENT, BLOCKS + EACH);
    assert_int_equal(tasks_now(t, &reader, NULL), 1);
    assert_true(tasks_list(t, &n)[1].current);
    assert_false(tasks_list(t, &n)[2].current);
    saved_is(t, "pc", -1);
    put_word(&memory, CURRENT, BLOCKS + 9 * EACH);
    assert_int_equal(tasks_now(t, &reader, NULL), 0);
    memory.fails = -ERR_TIMEOUT;
    assert_int_equal(tasks_now(t, &reader, NULL), -ERR_TIMEOUT);
    assert_int_equal(tasks_saved(t, &reader, &tasks_list(t, &n)[1], "pc", &value, NULL),
                     -ERR_TIMEOUT);
    memory.fails = 0;
    saved_is(t, "pc", 1);
    spoil_list(1); /* a list that is not believed: nor are its registers */
    assert_int_equal(tasks_look(t, &reader, true, NULL), 0);
    assert_false(tasks_known(t));
    saved_is(t, "pc", -1);
    tasks_free(t);
}

/* A thread that is in the code of a profile: outside of the program's. */
static void saved__pc_outside_of_the_program__is_not_told(void **state)
{
    static const struct image_section sections[] = {
        { .name = ".text", .addr = 0x0C010000, .size = 0x100, .code = true },
        { .name = ".data", .addr = 0x0C020000, .size = 0x100 },
    };
    static const struct {
        uint32_t pc;
        bool told;
    } rows[] = { { 0x8C010000, true },  { 0x0C0100FE, true },  { 0x8C010100, false },
                 { 0x8C00FFFE, false }, { 0x8C020000, false }, { 0x8C005A10, false } };
    const struct image with = { .lookup = look_up_symbol, .sections = sections, .nsections = 2 };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tasks *t = NULL;
        print_message("  %08x\n", rows[i].pc);
        tasks_free(finder_of_saved(&saved_layouts[1], rows[i].pc, 1, 0));
        assert_int_equal(tasks_new(&with, 1, &t, NULL), 0);
        assert_int_equal(tasks_look(t, &reader, true, NULL), 1);
        saved_is(t, "pc", rows[i].told ? (int64_t)rows[i].pc : -1);
        saved_is(t, "r15", rows[i].told ? 0x1000 + 220 : -1);
        tasks_free(t);
    }
}

static bool no_symbol(const struct image *im, const char *name, uint64_t *addr)
{
    (void)im, (void)name, (void)addr;
    return false;
}

static void tasks__program_of_no_known_system__has_no_finder(void **state)
{
    (void)state;
    struct tasks *t = (struct tasks *)&memory;
    assert_int_equal(tasks_new(&(struct image){ .lookup = no_symbol }, 1, &t, NULL), 0);
    assert_null(t);
}

/* A layout that no table has. */
static void members__of_debug_information__are_where_the_compiler_put_them(void **state)
{
    (void)state;
    struct symbols *s;
    uint64_t at = 0, bytes = 0;
    assert_int_equal(symbols_open(SOURCE_DIR "/tests/kos/threads_debug.elf", &s, NULL), 0);
    const struct image *im = symbols_image(s);
    assert_true(im->member(im, "kthread", "label", &at, &bytes));
    assert_int_equal(at, 328); /* as GDB has it */
    assert_int_equal(bytes, 256);
    assert_true(im->member(im, "kthread", "t_list", &at, &bytes));
    assert_int_equal(at, 248);
    assert_false(im->member(im, "kthread", "nothing", &at, &bytes));
    assert_false(im->member(im, "nothing", "label", &at, &bytes));
    symbols_close(s);
    assert_int_equal(symbols_open(SOURCE_DIR "/tests/kos/threads.elf", &s, NULL), 0);
    im = symbols_image(s);
    assert_false(im->member(im, "kthread", "label", &at, &bytes));
    symbols_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            tasks__every_layout_without_debug_information__is_recognised_by_what_is_there),
        cmocka_unit_test(tasks__nothing_created_since__costs_one_word),
        cmocka_unit_test(tasks__another_in_the_same_block__is_another),
        cmocka_unit_test(tasks__list_makes_no_sense__is_not_believed),
        cmocka_unit_test(tasks__more_than_there_is_room_for__are_reported_to_be_there),
        cmocka_unit_test(tasks__wire_fails__is_reported_and_nothing_lost),
        cmocka_unit_test(saved__interrupted_thread__has_all_of_them),
        cmocka_unit_test(saved__thread_that_gave_way__has_what_calls_keep),
        cmocka_unit_test(saved__other_bank_chosen__is_not_told),
        cmocka_unit_test(saved__thread_that_runs_or_wire_that_fails__gives_nothing),
        cmocka_unit_test(saved__pc_outside_of_the_program__is_not_told),
        cmocka_unit_test(tasks__program_of_no_known_system__has_no_finder),
        cmocka_unit_test(members__of_debug_information__are_where_the_compiler_put_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
