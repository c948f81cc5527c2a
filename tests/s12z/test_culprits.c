/* Which functions fill the buffer: those whose returns made the lines before an overflow, and no
 * others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/s12z/trace/events.h"

enum { CODE = 0xFE0000, INNER = CODE + 0x40, OUTER = CODE + 0x60, BYTES = 0x80 };
static const uint8_t code[BYTES] = {
    [0x00] = 1,    0x21, 0x80, 0x5F, /* main: nop; bsr OUTER */
    [0x04] = 0x20, 0xFF, 0xFC,       /* bra main */
    [0x40] = 1,    0x05,             /* INNER: nop; rts */
    [0x60] = 1,    0x21, 0xFF, 0xDF, /* OUTER: nop; bsr INNER */
    [0x64] = 0x26, 0xFF, 0xFC,       /* bne OUTER */
    [0x67] = 0x05,                   /* rts */
};
static const struct image_function functions[] = { { "main", CODE, CODE + 7 },
                                                   { "inner", INNER, INNER + 2 },
                                                   { "outer", OUTER, OUTER + 8 } };
static const struct image_section sections[] = { { ".text", CODE, BYTES, code, true, false } };

static void give_line(struct s12z_events *e, struct s12z_line l)
{
    assert_int_equal(s12z_events_line(e, 0, &l, NULL, 0, NULL), 0);
}

/* One round of main: OUTER calls INNER n times. Each return makes a line with where it goes. */
static void run_round(struct s12z_events *e, unsigned n, bool overflow)
{
    for (unsigned k = 0; k < n; k++) {
        struct s12z_line l = { .format = S12Z_PTIB, .address = OUTER + 4 };
        if (k) {
            l.branches = 1; /* back to OUTER */
            l.nbranches = 1;
        }
        give_line(e, l);
    }
    give_line(e,
              (struct s12z_line){
                  .format = S12Z_PTIB, .nbranches = 1, .address = CODE + 4, .overflow = overflow });
}

static struct s12z_events *open_events(void)
{
    const struct image im = { .sections = sections,
                              .nsections = ARRAY_LEN(sections),
                              .big_endian = true,
                              .functions = functions,
                              .nfunctions = ARRAY_LEN(functions) };
    const struct s12z_events_config cfg = { .image = &im,
                                            .settings = s12z_settings_default(),
                                            .counter = { S12Z_COUNT_BUS_CYCLES,
                                                         S12Z_COUNT_BRANCHES } };
    struct s12z_events *e;
    assert_int_equal(s12z_events_new(&cfg, &e, NULL), 0);
    return e;
}

static void culprits__before_an_overflow__are_none(void **state)
{
    struct s12z_events *e = open_events();
    struct s12z_culprit c[4];
    uint32_t start, stop;
    (void)state;
    give_line(e, (struct s12z_line){ .format = S12Z_PTS, .address = CODE });
    for (unsigned k = 0; k < 8; k++)
        run_round(e, 5, false);
    assert_int_equal(s12z_events_totals(e)->misfits, 0);
    assert_int_equal(s12z_events_culprits(e, c, ARRAY_LEN(c)), 0);
    assert_false(s12z_events_range(e, &start, &stop));
    s12z_events_free(e);
}

/* Ten whole rounds are 60 of the 64 lines, each with five returns of INNER; four are of the round
 * before. Lines of the next session blame nobody. */
static void culprits__at_an_overflow__have_the_last_64_lines_by_function(void **state)
{
    struct s12z_events *e = open_events();
    struct s12z_culprit c[4];
    uint32_t start, stop;
    (void)state;
    give_line(e, (struct s12z_line){ .format = S12Z_PTS, .address = CODE });
    for (unsigned k = 0; k < 30; k++)
        run_round(e, 5, k == 29);
    assert_int_equal(s12z_events_totals(e)->misfits, 0);
    assert_int_equal(s12z_events_totals(e)->overflows, 1);
    assert_int_equal(s12z_events_culprits(e, c, ARRAY_LEN(c)), 2);
    assert_string_equal(c[0].name, "inner");
    assert_int_equal(c[0].low, INNER);
    assert_int_equal(c[0].lines, 53); /* 10 * 5 of whole rounds, and 3 of the one before */
    assert_string_equal(c[1].name, "outer");
    assert_int_equal(c[1].lines, 11);
    /* The next session shows where functions return to. INNER is called five times in one call of
     * OUTER, which takes its place: the range is main without OUTER. */
    assert_false(s12z_events_range(e, &start, &stop));
    give_line(e, (struct s12z_line){ .format = S12Z_PTS, .address = CODE });
    run_round(e, 5, false);
    assert_int_equal(s12z_events_culprits(e, c, 1), 1);
    assert_int_equal(c[0].lines, 53);
    assert_true(s12z_events_range(e, &start, &stop));
    assert_int_equal(start, CODE + 4);
    assert_int_equal(stop, CODE + 1);
    s12z_events_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(culprits__before_an_overflow__are_none),
        cmocka_unit_test(culprits__at_an_overflow__have_the_last_64_lines_by_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
