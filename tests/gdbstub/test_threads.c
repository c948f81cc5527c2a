/* Threads of the program's operating system, as GDB is told of them: FreeRTOS's lists in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/os/tasks.h"
#include "gdbstub/stub.h"
#include "tests/gdbstub/session_rig.h"

/* Lists of FreeRTOS, each 20 bytes or 28 (without configUSE_MINI_LIST_ITEM). */
enum {
    READY = 0x2000, /* of five priorities */
    DELAYED1 = 0x2200,
    DELAYED2 = 0x2240,
    PENDING = 0x2280,
    SUSPENDED = 0x22C0,
    DELETED = 0x2300,
    CURRENT = 0x2340,
    STARTED = 0x2344,
    COUNT = 0x2348,
    CREATED = 0x234C,
    BLOCKS = 0x3000,
    EACH = 0x80,
    STACKS = 0x8000,
    PRIORITIES = 5
};

static const uint32_t all_lists[] = { DELAYED1, DELAYED2, PENDING, SUSPENDED, DELETED };

static bool look_up_symbol(const struct image *im, const char *name, uint64_t *addr)
{
    static const struct {
        const char *name;
        uint32_t at;
    } symbols[] = { { "pxReadyTasksLists", READY },      { "xDelayedTaskList1", DELAYED1 },
                    { "xDelayedTaskList2", DELAYED2 },   { "xPendingReadyList", PENDING },
                    { "xSuspendedTaskList", SUSPENDED }, { "xTasksWaitingTermination", DELETED },
                    { "pxCurrentTCB", CURRENT },         { "xSchedulerRunning", STARTED },
                    { "uxCurrentNumberOfTasks", COUNT }, { "uxTaskNumber", CREATED } };
    (void)im;
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++)
        if (!strcmp(name, symbols[i].name)) {
            *addr = symbols[i].at;
            return true;
        }
    return false;
}

static const struct image image = { .lookup = look_up_symbol };

struct system {
    struct fixture *fx;
    struct tasks *tasks;
};

static void put_word(struct system *y, uint32_t at, uint32_t w)
{
    put_le32(y->fx->ram.mem + at, w);
}
static uint32_t get_word(struct system *y, uint32_t at) { return le32(y->fx->ram.mem + at); }

static void make_list(struct system *y, uint32_t l)
{
    put_word(y, l, 0);
    put_word(y, l + 4, l + 8);
    put_word(y, l + 8, 0xFFFFFFFF);
    put_word(y, l + 12, l + 8);
    put_word(y, l + 16, l + 8);
}

/* Task i goes to the end of list l, by the item at `item` of its block. */
static void insert_task(struct system *y, uint32_t l, int i, uint32_t item)
{
    uint32_t block = BLOCKS + (uint32_t)i * EACH, at = block + item, last = get_word(y, l + 16);
    put_word(y, at + 4, l + 8);
    put_word(y, at + 8, last);
    put_word(y, at + 12, block);
    put_word(y, at + 16, l);
    put_word(y, last + 4, at);
    put_word(y, l + 16, at);
    put_word(y, l, get_word(y, l) + 1);
}

static void make_task(struct system *y, int i, const char *name)
{
    uint32_t block = BLOCKS + (uint32_t)i * EACH;
    put_word(y, block + 48, STACKS + (uint32_t)i * 256);
    memset(y->fx->ram.mem + block + 52, 0, 16);
    memcpy(y->fx->ram.mem + block + 52, name, strlen(name));
}

/* IDLE is ready, "one" ready and running, "two" delayed, "three" suspended, "four" about to be
 * ready. */
static void make_system(struct system *y, uint32_t list_bytes)
{
    static const char *const names[] = { "IDLE", "one", "two <&>", "three", "four" };
    for (uint32_t i = 0; i < PRIORITIES; i++)
        make_list(y, READY + i * list_bytes);
    for (size_t i = 0; i < ARRAY_LEN(all_lists); i++)
        make_list(y, all_lists[i]);
    for (int i = 0; i < 5; i++)
        make_task(y, i, names[i]);
    insert_task(y, READY, 0, 4);
    insert_task(y, READY + 3 * list_bytes, 1, 4);
    insert_task(y, DELAYED2, 2, 4);
    insert_task(y, SUSPENDED, 3, 4);
    insert_task(y, SUSPENDED, 4, 4);
    insert_task(y, PENDING, 4, 24);
    put_word(y, CURRENT, BLOCKS + EACH);
    put_word(y, STARTED, 1);
    put_word(y, COUNT, 5);
    put_word(y, CREATED, 5);
}

static int set_up_system(void **state)
{
    static struct system y;
    y = (struct system){ 0 };
    if (rig_setup((void **)&y.fx) || tasks_new(&image, 1, &y.tasks, NULL))
        return -1;
    y.fx->stub->cfg.tasks = y.tasks;
    *state = &y;
    no_acks(y.fx);
    return 0;
}

static int tear_down_system(void **state)
{
    struct system *y = *state;
    rig_teardown((void **)&y->fx);
    tasks_free(y->tasks);
    return 0;
}

/* ---- what is listed ---- */

#define CPU_ALONE "l<?xml version=\"1.0\"?><threads><thread id=\"1\">ram, halted</thread></threads>"
#define UNKNOWN   ", registers: port not known"
static const char all_five[] =
    "l<?xml version=\"1.0\"?><threads><thread id=\"2\" name=\"IDLE\">ready" UNKNOWN "</thread>"
    "<thread id=\"1\" name=\"one\">running</thread>"
    "<thread id=\"3\" name=\"two &#60;&#38;&#62;\">delayed" UNKNOWN "</thread>"
    "<thread id=\"4\" name=\"four\">ready" UNKNOWN "</thread>"
    "<thread id=\"5\" name=\"three\">suspended" UNKNOWN "</thread></threads>";

static const char *list_threads(struct system *y)
{
    stub_forget_regs(y->fx->stub); /* as a stop does */
    const char *text = talk_first(y->fx, "qXfer:threads:read::0,4000");
    static char kept[2048];
    char *to = kept;
    for (; *text && to < kept + sizeof kept - 1; text++) /* without the packet's escapes */
        *to++ = *text == '}' ? (char)(*++text ^ 0x20) : *text;
    *to = 0;
    return kept;
}

static void threads__both_sizes_of_lists__are_listed_with_names_and_states(void **state)
{
    static const uint32_t sizes[] = { 20, 28 };
    struct system *y = *state;
    assert_non_null(strstr(talk_first(y->fx, "qSupported"), ";qXfer:threads:read+"));
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        tear_down_system(state);
        set_up_system(state);
        make_system(y, sizes[i]);
        assert_string_equal(list_threads(y), all_five);
    }
    assert_string_equal(talk_first(y->fx, "qfThreadInfo"), "m2,1,3,4,5");
    assert_string_equal(talk_first(y->fx, "qsThreadInfo"), "l");
    assert_string_equal(talk_first(y->fx, "qC"), "QC1");
    assert_string_equal(
        talk_first(y->fx, "qThreadExtraInfo,5"),
        "74687265652c2073757370656e6465642c207265676973746572733a20706f7274206e6f74206b6e6f776e");
    assert_string_equal(talk_first(y->fx, "qThreadExtraInfo,6"), "E16");
    assert_string_equal(talk_first(y->fx, "T5"), "OK");
    assert_string_equal(talk_first(y->fx, "T6"), "E16");
    assert_string_equal(talk_first(y->fx, "?"), STOP_AT("05", "00100000", ""));
}

static void threads__system_has_not_begun__there_is_the_cpu(void **state)
{
    struct system *y = *state;
    assert_string_equal(list_threads(y), CPU_ALONE); /* memory is 0 */
    make_system(y, 20);
    put_word(y, STARTED, 0);
    assert_string_equal(list_threads(y), CPU_ALONE);
    put_word(y, STARTED, 1);
    assert_string_equal(list_threads(y), all_five);
    y->fx->stub->last_stop.reason = STOP_RESET; /* memory still has them */
    assert_string_equal(list_threads(y), CPU_ALONE);
}

static void threads__another_runs__numbers_stay(void **state)
{
    struct system *y = *state;
    make_system(y, 20);
    list_threads(y);
    put_word(y, CURRENT, BLOCKS + 3 * EACH);
    assert_non_null(strstr(list_threads(y), "<thread id=\"5\" name=\"three\">running<"));
    assert_string_equal(talk_first(y->fx, "qC"), "QC5");
    assert_string_equal(talk_first(y->fx, "?"), "T0505:00100000;06:00800000;thread:5;");
}

/* Each is a moment in which the program may have been halted, or memory that is no such list. */
static void spoil_lists(struct system *y, int how)
{
    uint32_t item = BLOCKS + 2 * EACH + 4;
    switch (how) {
    case 0: put_word(y, COUNT, 6); break;              /* one is in no list at this moment */
    case 1: put_word(y, DELAYED2, 2); break;           /* counted, not linked yet */
    case 2: put_word(y, item + 16, 0); break;          /* taken out of its list by half */
    case 3: put_word(y, item + 4, item); break;        /* a circle */
    case 4: put_word(y, item + 4, 0xA05F8000); break;  /* an item among the registers */
    case 5: put_word(y, item + 12, 0x00100000); break; /* an owner where no memory is */
    case 6: put_word(y, BLOCKS + 2 * EACH + 52, 0x1B5B3131); break; /* a name for a terminal */
    default: put_word(y, SUSPENDED, 0x7FFFFFFF); break;
    }
}

static void threads__lists_make_no_sense__only_the_one_that_runs_is_shown(void **state)
{
    struct system *y = *state;
    for (int how = 0; how < 8; how++) {
        print_message("  %d\n", how);
        tear_down_system(state);
        set_up_system(state);
        make_system(y, 20);
        assert_string_equal(list_threads(y), all_five);
        put_word(y, CURRENT, BLOCKS + 3 * EACH);
        spoil_lists(y, how);
        assert_string_equal(list_threads(y), "l<?xml version=\"1.0\"?><threads><thread id=\"5\" "
                                             "name=\"three\">running</thread></threads>");
        put_word(y, CURRENT, 0);
        assert_string_equal(list_threads(y), CPU_ALONE);
    }
}

/* ---- registers ---- */

static void threads__one_that_does_not_run__has_no_registers_and_takes_none(void **state)
{
    struct system *y = *state;
    struct fixture *fx = y->fx;
    make_system(y, 20);
    const char absent[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    char own[80];
    snprintf(own, sizeof own, "%s", talk_first(fx, "g"));
    assert_string_equal(talk_first(fx, "Hg5"), "OK");
    assert_string_equal(talk_first(fx, "g"), absent);
    assert_string_equal(talk_first(fx, "p5"), "xxxxxxxx");
    assert_string_equal(talk_first(fx, "P0=01000000"), "E01");
    assert_string_equal(talk_first(fx, "G01000000"), "E01");
    assert_int_equal(fx->ram.reg_writes, 0);
    assert_string_equal(talk_first(fx, "Hg1"), "OK");
    assert_string_equal(talk_first(fx, "g"), own);
    assert_string_equal(talk_first(fx, "Hg5"), "OK");
    assert_string_equal(talk_first(fx, "Hg0"), "OK");
    assert_string_equal(talk_first(fx, "g"), own);
    assert_string_equal(talk_first(fx, "Hg6"), "E16");
    assert_string_equal(talk_first(fx, "Hg5"), "OK");
    put_word(y, CURRENT, BLOCKS + 3 * EACH); /* it runs by now */
    stub_forget_regs(fx->stub);
    assert_string_equal(talk_first(fx, "g"), own);
}

static void threads__a_stop__is_whose_registers_are_read_next(void **state)
{
    struct system *y = *state;
    make_system(y, 20);
    talk_first(y->fx, "Hg5");
    assert_string_equal(talk_first(y->fx, "vCont;s:1;c"), STOP_AT("05", "02100000", ""));
    assert_string_equal(talk_first(y->fx, "p5"), "02100000");
}

/* ---- stepping ---- */

static void threads__step_of_one_that_does_not_run__is_refused(void **state)
{
    struct system *y = *state;
    make_system(y, 20);
    const char *no = talk_first(y->fx, "vCont;s:5;c");
    assert_non_null(strstr(no, "E.the thread of number 5 does not run"));
    assert_non_null(strstr(no, "thread of number 1 runs"));
    assert_int_equal(y->fx->ram.resumes, 0);
    assert_string_equal(talk_first(y->fx, "vCont;s:1"), STOP_AT("05", "02100000", ""));
}

/* The word at PC stores r0 at r1: the step itself is what makes another task run. */
static void threads__a_step_that_switches__is_anothers_unless_one_was_let_go_alone(void **state)
{
    struct system *y = *state;
    struct fixture *fx = y->fx;
    make_system(y, 20);
    list_threads(y);
    ram_put_word(&fx->ram, 0x1000, RAM_STORE);
    fx->ram.reg[RAM_R0] = 0x80; /* low byte of the third block: BLOCKS + 3 * EACH is 0x3180 */
    fx->ram.reg[RAM_R1] = CURRENT;
    put_word(y, CURRENT, 0x3100);
    stub_forget_regs(fx->stub);
    assert_string_equal(talk_first(fx, "vCont;s:3;c"), "T0505:02100000;06:00800000;thread:5;");
    put_word(y, CURRENT, 0x3100);
    fx->ram.reg[RAM_PC] = 0x1000;
    stub_forget_regs(fx->stub);
    assert_string_equal(talk_first(fx, "vCont;s:3"),
                        "OThis stop is thread 5's (three), which ran while GDB let thread 3 go "
                        "alone.\n T0505:02100000;06:00800000;thread:3;");
}

/* Only the GDB that let one go alone is told that stop as that one's. */
static void threads__a_step_that_switches__is_told_right_to_others(void **state)
{
    struct system *y = *state;
    struct fixture *fx = y->fx;
    make_system(y, 20);
    list_threads(y);
    struct session *other = open_second(fx);
    ram_put_word(&fx->ram, 0x1000, RAM_STORE);
    fx->ram.reg[RAM_R0] = 0x80;
    fx->ram.reg[RAM_R1] = CURRENT;
    put_word(y, CURRENT, 0x3100);
    stub_forget_regs(fx->stub);
    assert_non_null(strstr(talk_first(fx, "vCont;s:3"), "thread:3;"));
    assert_string_equal(talk_first(fx, "qC"), "QC3");
    assert_string_equal(talk_to(fx, other, "?"), "T0505:02100000;06:00800000;thread:5;");
    assert_string_equal(talk_to(fx, other, "qC"), "QC5");
    session_close(fx->s);
    fx->s = other;
    assert_string_equal(talk_first(fx, "?"), "T0505:02100000;06:00800000;thread:5;");
    assert_string_equal(talk_first(fx, "vCont;s:5"), "T0505:04100000;06:00800000;thread:5;");
}

static void threads__non_stop__there_is_the_cpu(void **state)
{
    struct system *y = *state;
    make_system(y, 20);
    put_word(y, CURRENT, BLOCKS + 3 * EACH);
    talk_first(y->fx, "QNonStop:1");
    assert_string_equal(list_threads(y),
                        "l<?xml version=\"1.0\"?><threads><thread id=\"1\">ram, halted; its "
                        "threads are shown without non-stop mode only</thread></threads>");
    assert_string_equal(talk_first(y->fx, "?"), STOP_AT("05", "00100000", ""));
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up_system, tear_down_system)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(threads__both_sizes_of_lists__are_listed_with_names_and_states),
        TEST(threads__system_has_not_begun__there_is_the_cpu),
        TEST(threads__another_runs__numbers_stay),
        TEST(threads__lists_make_no_sense__only_the_one_that_runs_is_shown),
        TEST(threads__one_that_does_not_run__has_no_registers_and_takes_none),
        TEST(threads__a_stop__is_whose_registers_are_read_next),
        TEST(threads__step_of_one_that_does_not_run__is_refused),
        TEST(threads__a_step_that_switches__is_anothers_unless_one_was_let_go_alone),
        TEST(threads__a_step_that_switches__is_told_right_to_others),
        TEST(threads__non_stop__there_is_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
