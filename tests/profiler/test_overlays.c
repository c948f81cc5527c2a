/* Symbols of overlays, and events that are put into them (docs/examples/overlays). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/core/calltree.h"
#include "profiler/core/overlays.h"
#include "targets/overlay.h"

#define ELF SOURCE_DIR "/docs/examples/overlays/overlays.elf"
enum { AREA = 0x0C014000, LEVEL_AT = 0x0C018000, FIGHT_AT = 0x0C018078 };
enum { LEVEL = 2, FIGHT, MENU }; /* numbers: 1 + the section's index */

static uint64_t without_alias(uint64_t addr) { return addr & 0x1FFFFFFF; }

static int open_symbols(void **state)
{
    struct symbols *s;
    struct err err = { .code = ERR_OK };
    assert_int_equal(symbols_open(ELF, &s, &err), 0);
    assert_int_equal(symbols_set_canonical(s, without_alias, &err), 0);
    *state = s;
    return 0;
}

static int close_symbols(void **state)
{
    symbols_close(*state);
    return 0;
}

static const struct symbol_function *function_at(const struct symbols *s, uint64_t addr)
{
    long i = symbols_find(s, addr);
    assert_true(i >= 0);
    return symbols_function(s, (size_t)i);
}

static void symbols__overlay_given__its_own_function_and_lines(void **state)
{
    struct symbols *s = *state;
    const struct {
        size_t overlay;
        const char *name, *section;
    } rows[] = { { LEVEL, "Scroll", ".level" },
                 { FIGHT, "Punch", ".fight" },
                 { MENU, "Menu", ".menu" } };
    int lines[3];
    for (size_t i = 0; i < 3; i++) {
        const char *file = NULL;
        uint64_t at = overlay_address(AREA | 0xA0000000, rows[i].overlay); /* P2 */
        const struct symbol_function *f = function_at(s, at);
        assert_string_equal(f->name, rows[i].name);
        assert_string_equal(f->overlay, rows[i].section);
        assert_false(f->either);
        assert_int_equal(f->low, overlay_address(AREA, rows[i].overlay));
        assert_true(f->line > 0);
        assert_true(symbols_line(s, at, &file, &lines[i]));
        assert_in_range(lines[i], f->line, f->line + 1); /* of its name, or of its brace */
        assert_string_equal(symbols_overlay(s, at), rows[i].section);
        assert_int_equal(symbols_plain(s, at), AREA | 0xA0000000);
    }
    assert_int_equal(symbols_find(s, overlay_address(AREA, 1)), -1);   /* .text is none */
    assert_int_equal(symbols_find(s, overlay_address(AREA, 200)), -1); /* there is no such one */
}

/* objdump's table of lines has both in one unit, at one range of addresses. */
static void symbols__lines_of_two_overlays_at_one_address__each_has_its_own(void **state)
{
    struct symbols *s = *state;
    const char *file;
    int line;
    assert_true(symbols_line(s, overlay_address(AREA + 0x14, LEVEL), &file, &line));
    assert_int_equal(line, 67);
    assert_true(symbols_line(s, overlay_address(AREA + 0x14, FIGHT), &file, &line));
    assert_int_equal(line, 87);
    assert_true(symbols_line(s, overlay_address(AREA + 0x34, FIGHT), &file, &line));
    assert_int_equal(line, 90);
    assert_false(symbols_line(s, overlay_address(AREA + 0x20, MENU), &file, &line));
}

static void symbols__overlay_not_known__one_function_with_all_names(void **state)
{
    struct symbols *s = *state;
    const struct symbol_function *f = function_at(s, AREA + 2);
    const char *file;
    int line;
    uint64_t addr = 0;
    assert_string_equal(f->name, "Scroll|Punch|Menu");
    assert_true(f->either);
    assert_null(f->overlay);
    assert_string_equal(function_at(s, AREA + 0x58)->name, "Row|Bruise");
    assert_false(symbols_line(s, AREA, &file, &line));
    assert_true(symbols_lookup(s, "Punch", &addr)); /* what people write is plain */
    assert_int_equal(addr, AREA);
    assert_int_equal(symbols_parse(s, "Bruise+4", &addr, NULL), 0);
    assert_int_equal(addr, AREA + 0x5C);
}

static void image__overlays__functions_of_each_by_themselves(void **state)
{
    const struct image *im = symbols_image(*state);
    static const char *const names[] = { "Scroll", "Row", "Punch", "Bruise", "Menu" };
    assert_false(im->overlay[0]);
    assert_true(im->overlay[LEVEL - 1] && im->overlay[FIGHT - 1] && im->overlay[MENU - 1]);
    assert_int_equal(im->noverlay_functions, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(im->overlay_functions[i].is.name, names[i]);
        assert_int_equal(im->overlay_functions[i].overlay, LEVEL + i / 2);
        assert_int_equal(im->overlay_functions[i].is.low, AREA + (i % 2 ? 0x58 : 0));
    }
    for (size_t i = 1; i < im->nfunctions; i++)
        assert_true(im->functions[i - 1].high <= im->functions[i].low);
}

/* The overlay that an address in the area gets now. */
static size_t now_there(struct overlays *o)
{
    struct event e = { .kind = EVENT_CALL,
                       .pc = 0x0C010010,
                       .target = AREA + 4,
                       .flags = EVENT_HAS_PC | EVENT_HAS_TARGET };
    assert_true(overlays_take(o, &e));
    assert_int_equal(e.pc, 0x0C010010);
    assert_int_equal(overlay_plain(e.target), AREA + 4);
    return overlay_number(e.target);
}

static void report_loaded(struct overlays *o, uint32_t loaded)
{
    struct event e = { .kind = EVENT_OVERLAY, .pc = AREA, .target = loaded, .flags = EVENT_HAS_PC };
    if (loaded)
        e.flags |= EVENT_HAS_TARGET;
    assert_false(overlays_take(o, &e));
}

static void events__overlay_told__addresses_are_in_it_until_another_is(void **state)
{
    struct overlays o = { .symbols = NULL };
    assert_int_equal(overlays_init(&o, *state, NULL), 0);
    assert_int_equal(now_there(&o), 0);
    report_loaded(&o, LEVEL_AT);
    assert_int_equal(now_there(&o), LEVEL);
    report_loaded(&o, FIGHT_AT);
    assert_int_equal(now_there(&o), FIGHT);
    report_loaded(&o, 0x0C01F000); /* of another program */
    assert_int_equal(now_there(&o), 0);
    report_loaded(&o, LEVEL_AT);
    report_loaded(&o, 0);
    assert_int_equal(now_there(&o), 0);
    overlays_fini(&o);
}

static void events__lost__nothing_is_known_unless_the_ring_was_full(void **state)
{
    struct overlays o = { .symbols = NULL };
    assert_int_equal(overlays_init(&o, *state, NULL), 0);
    report_loaded(&o, LEVEL_AT);
    struct event e = { .kind = EVENT_LOST, .cause = EVENT_CAUSE_RING_FULL };
    assert_true(overlays_take(&o, &e));
    assert_int_equal(now_there(&o), LEVEL); /* overlays change between two drains only */
    e.cause = EVENT_CAUSE_LINK;
    assert_true(overlays_take(&o, &e));
    assert_int_equal(now_there(&o), 0);
    overlays_fini(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols__overlay_given__its_own_function_and_lines),
        cmocka_unit_test(symbols__lines_of_two_overlays_at_one_address__each_has_its_own),
        cmocka_unit_test(symbols__overlay_not_known__one_function_with_all_names),
        cmocka_unit_test(image__overlays__functions_of_each_by_themselves),
        cmocka_unit_test(events__overlay_told__addresses_are_in_it_until_another_is),
        cmocka_unit_test(events__lost__nothing_is_known_unless_the_ring_was_full),
    };
    return cmocka_run_group_tests(tests, open_symbols, close_symbols);
}
