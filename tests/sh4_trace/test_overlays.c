/* Overlays told apart while they are traced (docs/examples/overlays). The program counts in its own
 * memory what is counted here from events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/core/overlays.h"
#include "targets/overlay.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/trace/trace.h"
#include "tests/sh4_trace/board.h"

#define ELF SOURCE_DIR "/docs/examples/overlays/overlays.elf"
enum { REG_PC = 16, SLICE_NS = 5000000, SLICES = 40 };

struct fixture {
    struct board b;
    struct asm_prog dummy;
    struct symbols *symbols;
};

static uint32_t address_of(const struct fixture *fx, const char *name)
{
    uint64_t addr = 0;
    assert_true(symbols_lookup(fx->symbols, name, &addr));
    return (uint32_t)addr;
}

static uint32_t counter_value(struct fixture *fx, const char *name)
{
    return board_word(&fx->b, address_of(fx, name));
}

static void write_program(struct fixture *fx)
{
    struct err err = { .code = ERR_OK };
    const struct image *im = symbols_image(fx->symbols);
    struct target *t = fx->b.t;
    for (size_t i = 0; i < im->nsections; i++)
        if (im->sections[i].data)
            assert_int_equal(t->ops->write_mem(t, image_load_addr(im, i), 0, im->sections[i].data,
                                               im->sections[i].size, &err),
                             0);
    board_set_reg(&fx->b, REG_PC, (uint32_t)im->entry);
    assert_int_equal(t->ops->set_image(t, im, &err), 0);
    fx->b.im = *im;
}

static int open_board(void **state)
{
    struct fixture *fx = calloc(1, sizeof *fx);
    struct err err = { .code = ERR_OK };
    assert_non_null(fx);
    board_open(&fx->b, &fx->dummy, "", "main: bra main\n nop\n");
    assert_int_equal(symbols_open(ELF, &fx->symbols, &err), 0);
    assert_int_equal(symbols_set_canonical(fx->symbols, fx->b.t->ops->canonical, &err), 0);
    write_program(fx);
    *state = fx;
    return 0;
}

static int close_board(void **state)
{
    struct fixture *fx = *state;
    board_close(&fx->b);
    symbols_close(fx->symbols);
    free(fx);
    return 0;
}

/* Calls by what they enter: of a function in an overlay, or of what it is when nobody knows. */
struct calls {
    size_t scroll, row, punch, bruise, menu, unknown;
};

static void count_call(struct fixture *fx, uint64_t to, struct calls *c)
{
    const struct {
        const char *name;
        size_t *n;
    } rows[] = { { "Scroll", &c->scroll },     { "Row", &c->row },
                 { "Punch", &c->punch },       { "Bruise", &c->bruise },
                 { "Menu", &c->menu },         { "Scroll|Punch|Menu", &c->unknown },
                 { "Row|Bruise", &c->unknown } };
    long f = symbols_find(fx->symbols, to);
    for (size_t i = 0; f >= 0 && i < ARRAY_LEN(rows); i++)
        if (!strcmp(symbols_function(fx->symbols, (size_t)f)->name, rows[i].name))
            ++*rows[i].n;
}

static struct calls count_calls(struct fixture *fx)
{
    struct calls c = { 0 };
    struct overlays o = { .symbols = NULL };
    struct err err = { .code = ERR_OK };
    assert_int_equal(overlays_init(&o, fx->symbols, &err), 0);
    for (size_t i = 0; i < fx->b.nev; i++) {
        struct event e = fx->b.ev[i];
        if (overlays_take(&o, &e) && e.kind == EVENT_CALL)
            count_call(fx, e.target, &c);
    }
    overlays_fini(&o);
    return c;
}

/* Until so many overlays were loaded, then halted. */
static void run_until(struct fixture *fx, uint32_t loads)
{
    for (int i = 0; i < SLICES; i++) {
        board_resume(&fx->b);
        board_for(&fx->b, SLICE_NS);
        board_halt(&fx->b);
        if (counter_value(fx, "Loads") >= loads)
            return;
    }
    fail_msg("%u overlays loaded only", (unsigned)counter_value(fx, "Loads"));
}

static void overlays__taking_turns__each_call_is_of_the_one_that_is_there(void **state)
{
    struct fixture *fx = *state;
    board_arm(&fx->b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    run_until(fx, 40);
    struct calls c = count_calls(fx);
    print_message("  %zu Scroll, %zu Row, %zu Punch, %zu Bruise, %zu Menu\n", c.scroll, c.row,
                  c.punch, c.bruise, c.menu);
    /* halted anywhere: a function may have been called and not have counted yet */
    assert_in_range(c.scroll - counter_value(fx, "Scrolls"), 0, 1);
    assert_in_range(c.row - counter_value(fx, "Rows"), 0, 1);
    assert_in_range(c.punch - counter_value(fx, "Punches"), 0, 1);
    assert_in_range(c.bruise - counter_value(fx, "Bruises"), 0, 1);
    assert_in_range(c.menu - counter_value(fx, "Menus"), 0, 1);
    assert_int_equal(c.unknown, 0);
    assert_true(c.scroll && c.punch && c.menu);
    board_disarm(&fx->b);
}

/* The agent gives up at once, and the host is away for as long as some overlays take. */
static void overlays__nobody_answers__program_goes_on_and_nothing_has_a_wrong_name(void **state)
{
    struct fixture *fx = *state;
    struct sh4_target *t = sh4_of(fx->b.t);
    struct err err = { .code = ERR_OK };
    uint32_t loops = 10;
    board_arm(&fx->b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    run_until(fx, 5);
    assert_int_equal(
        sh4_trace_put(t->plug.trace, sh4_trace_blob.ext + 4 * SH4_TRACE_X_WAIT, &loops, 1, &err),
        0);
    uint32_t before = counter_value(fx, "Loads");
    board_resume(&fx->b);
    assert_true(sh4_link_wait(&t->link, 2000000, &err) >= 0);
    board_for(&fx->b, SLICE_NS);
    board_halt(&fx->b);
    uint32_t loads = counter_value(fx, "Loads");
    print_message("  %u overlays loaded meanwhile\n", (unsigned)(loads - before));
    assert_true(loads > before + 1);
    struct calls c = count_calls(fx);
    print_message("  %zu calls of nobody knows which\n", c.unknown);
    assert_true(c.unknown > 0);
    /* at most one under way of each; what is missing is under the names of all */
    assert_true(c.scroll <= counter_value(fx, "Scrolls") + 1 &&
                c.row <= counter_value(fx, "Rows") + 1);
    assert_true(c.punch <= counter_value(fx, "Punches") + 1 &&
                c.menu <= counter_value(fx, "Menus") + 1);
    assert_true(c.bruise <= counter_value(fx, "Bruises") + 1);
    board_disarm(&fx->b);
}

static void overlays__disarmed__memory_is_the_programs(void **state)
{
    struct fixture *fx = *state;
    const struct image *im = symbols_image(fx->symbols);
    board_arm(&fx->b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    run_until(fx, 20);
    board_disarm(&fx->b);
    uint32_t table = address_of(fx, "_ovly_table");
    for (size_t k = 0, row = 0; k < im->nsections; k++) {
        const struct image_section *s = &im->sections[k];
        if (!im->overlay[k] || !board_word(&fx->b, table + 16 * (uint32_t)row++ + 12))
            continue;
        for (uint32_t i = 0; i < s->size; i += 4)
            assert_int_equal(board_word(&fx->b, ((uint32_t)s->addr + i) | 0xA0000000),
                             s->data[i] | s->data[i + 1] << 8 | s->data[i + 2] << 16 |
                                 (uint32_t)s->data[i + 3] << 24);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            overlays__taking_turns__each_call_is_of_the_one_that_is_there, open_board, close_board),
        cmocka_unit_test_setup_teardown(
            overlays__nobody_answers__program_goes_on_and_nothing_has_a_wrong_name, open_board,
            close_board),
        cmocka_unit_test_setup_teardown(overlays__disarmed__memory_is_the_programs, open_board,
                                        close_board),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
