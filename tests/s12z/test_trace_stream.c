/* Streams of bytes and edges to lines: framing, PTHF length, splitting, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/s12z/trace/edges.h"
#include "targets/s12z/trace/stream.h"
#include "tests/s12z/wire.h"

enum { MAX = 4096 };
struct got {
    uint64_t raw[MAX], offset[MAX], tick[MAX];
    bool prompt[MAX];
    size_t lines, bad;
    uint64_t bad_bytes, first_bad;
};

static int note_item(void *ctx, const struct s12z_item *i)
{
    struct got *g = ctx;
    if (i->kind == S12Z_ITEM_BAD) {
        g->first_bad = g->bad++ ? g->first_bad : i->offset;
        g->bad_bytes += i->bytes;
        return 0;
    }
    assert_true(g->lines < MAX);
    g->raw[g->lines] = i->raw;
    g->offset[g->lines] = i->offset;
    g->prompt[g->lines] = i->prompt;
    g->tick[g->lines++] = i->tick;
    return 0;
}

static const uint64_t session[] = { 0xFE000000,         0x000000FFFFFFFF02, 0xFE12340000000D01,
                                    0x000000D5A5A5A502, 0x000000FFFFFFFF02, 0x1234E80000000103,
                                    0xFE00220000000101, 0x0010000000000117 };

/* `times` sessions in a row. */
static size_t make_bytes(uint8_t *out, unsigned times, unsigned pthf)
{
    size_t n = 0;
    for (unsigned k = 0; k < times * ARRAY_LEN(session); k++)
        n = wire_bytes(out, n, session[k % ARRAY_LEN(session)], pthf);
    return n;
}

static void run_stream(struct got *g, const uint8_t *bytes, size_t n, size_t step,
                       enum s12z_form form)
{
    struct s12z_settings set = s12z_settings_default();
    struct s12z_stream s;
    memset(g, 0, sizeof *g);
    s12z_stream_init(&s, form, &set, note_item, g);
    for (size_t k = 0; k < n; k += step)
        assert_int_equal(s12z_stream_feed(&s, bytes + k, n - k < step ? n - k : step, 0), 0);
    assert_int_equal(s12z_stream_end(&s), 0);
    assert_true(s.lines == g->lines && s.bad == g->bad);
}

static void wire__both_pthf_lengths__every_line_found_and_length_reported(void **state)
{
    static struct got g; /* large */
    uint8_t bytes[2048];
    (void)state;
    for (unsigned pthf = 5; pthf <= 6; pthf++)
        for (size_t step = 1; step < 70; step += 7) {
            size_t n = make_bytes(bytes, 3, pthf);
            run_stream(&g, bytes, n, step, S12Z_FORM_WIRE);
            assert_int_equal(g.bad, 0);
            assert_int_equal(g.lines, 3 * ARRAY_LEN(session));
            for (size_t k = 0; k < g.lines; k++)
                assert_true(g.raw[k] == session[k % ARRAY_LEN(session)]);
        }
}

/* The case that needs looking ahead: a PTHF that carries TERM, then the PTS of a re-arm. */
static void wire__five_byte_pthf_with_term_then_pts__both_lines(void **state)
{
    static struct got g;
    static const uint64_t lines[] = { 0xFE000000, 0x000000FFFFFFFF12, 0x00FE0500,
                                      0xFE12340000000D01, 0x0010000000000117 };
    uint8_t bytes[64];
    (void)state;
    for (unsigned pthf = 5; pthf <= 6; pthf++) {
        size_t n = 0;
        for (size_t k = 0; k < ARRAY_LEN(lines); k++)
            n = wire_bytes(bytes, n, lines[k], pthf);
        run_stream(&g, bytes, n, 3, S12Z_FORM_WIRE);
        assert_int_equal(g.bad, 0);
        assert_int_equal(g.lines, ARRAY_LEN(lines));
        for (size_t k = 0; k < g.lines; k++)
            assert_true(g.raw[k] == lines[k]);
    }
}

/* Cut at every length: what is whole comes out, the rest is one bad item. */
static void wire__cut_at_every_length__whole_lines_and_the_rest_counted(void **state)
{
    static struct got g;
    uint8_t bytes[2048];
    size_t n = make_bytes(bytes, 2, 6);
    (void)state;
    for (size_t cut = 0; cut <= n; cut++) {
        size_t whole = 0, used = 0;
        while (whole < 2 * ARRAY_LEN(session) &&
               used + wire_length(session[whole % ARRAY_LEN(session)], 6) <= cut)
            used += wire_length(session[whole++ % ARRAY_LEN(session)], 6);
        if (cut == 4 + 5)
            continue; /* a whole line, as far as anybody can tell */
        run_stream(&g, bytes, cut, 11, S12Z_FORM_WIRE);
        if (g.lines != whole)
            print_message("  cut at %zu\n", cut);
        assert_int_equal(g.lines, whole);
        assert_int_equal(g.bad_bytes, cut - used);
    }
}

/* Any bit flipped: lines far enough behind it are all there, at their places. */
static void wire__any_bit_flipped__damage_stays_local(void **state)
{
    static struct got g, clean;
    uint8_t bytes[2048];
    size_t n = make_bytes(bytes, 6, 6), worst = 0;
    (void)state;
    run_stream(&clean, bytes, n, n, S12Z_FORM_WIRE);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        run_stream(&g, bytes, n, n, S12Z_FORM_WIRE);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        size_t same = 0; /* from the end */
        while (same < g.lines && same < clean.lines &&
               g.raw[g.lines - 1 - same] == clean.raw[clean.lines - 1 - same] &&
               g.offset[g.lines - 1 - same] == clean.offset[clean.lines - 1 - same])
            same++;
        size_t at = bit / 8, resumed = same ? clean.offset[clean.lines - same] : n;
        worst = resumed > at && resumed - at > worst ? resumed - at : worst;
    }
    print_message("  worst: %zu bytes behind the flipped bit\n", worst);
    assert_true(worst <= 40);
}

/* Started anywhere in the middle: comes into step, and without a wrong line for long. */
static void wire__begun_in_the_middle__comes_into_step(void **state)
{
    static struct got g, clean;
    uint8_t bytes[2048];
    size_t n = make_bytes(bytes, 6, 6);
    (void)state;
    run_stream(&clean, bytes, n, n, S12Z_FORM_WIRE);
    for (size_t from = 0; from < n / 2; from++) {
        run_stream(&g, bytes + from, n - from, 13, S12Z_FORM_WIRE);
        size_t same = 0;
        while (same < g.lines && same < clean.lines &&
               g.raw[g.lines - 1 - same] == clean.raw[clean.lines - 1 - same])
            same++;
        assert_true(clean.offset[clean.lines - same] <= from + 48);
    }
}

static void fixed__three_byte_orders__same_lines(void **state)
{
    static struct got g;
    uint8_t bytes[3][8 * ARRAY_LEN(session)];
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(session); k++)
        for (unsigned b = 0; b < 8; b++) {
            uint8_t v = (uint8_t)(session[k] >> (8 * b));
            bytes[0][8 * k + b] = v;
            bytes[1][8 * k + (b ^ 1)] = v;
            bytes[2][8 * k + (b ^ 3)] = v;
        }
    static const enum s12z_form forms[] = { S12Z_FORM_LINES, S12Z_FORM_DBGTB, S12Z_FORM_COMMAND };
    for (unsigned f = 0; f < 3; f++) {
        bytes[f][8 * 2 + 4] = 0;
        run_stream(&g, bytes[f], sizeof bytes[f], 5, forms[f]);
        assert_int_equal(g.lines + g.bad, ARRAY_LEN(session));
        for (size_t k = 0; k < g.lines; k++)
            if (g.offset[k] != 16)
                assert_true(g.raw[k] == session[g.offset[k] / 8]);
    }
}

/* ---- edges ---- */

static void draw_wire(struct wire *w, unsigned times, unsigned idle)
{
    wire_idle(w, 10 * w->bit);
    for (unsigned k = 0; k < times * ARRAY_LEN(session); k++) {
        wire_line(w, session[k % ARRAY_LEN(session)], 6);
        if (idle && k % 3 == 1)
            wire_idle(w, (k * 7 % 5 + 4) * w->bit * idle);
    }
}

static struct s12z_edges sample_wire(struct got *g, const struct wire *w, size_t step,
                                     const struct s12z_settings *set)
{
    struct s12z_stream s;
    struct s12z_edges e;
    memset(g, 0, sizeof *g);
    s12z_stream_init(&s, S12Z_FORM_WIRE, set, note_item, g);
    s12z_edges_init(&e, set, &s);
    for (size_t k = 0; k < w->n; k += step)
        assert_int_equal(s12z_edges_feed(&e, w->edge + k, w->n - k < step ? w->n - k : step), 0);
    assert_int_equal(s12z_edges_end(&e), 0);
    e.out = NULL;
    return e;
}

static void edges__each_rule_and_rate_and_split__every_line(void **state)
{
    static struct got g;
    (void)state;
    for (unsigned rule = 0; rule < 3; rule++)
        for (int lead = 0; lead < 2; lead++)
            for (unsigned bit = 4; bit < 100; bit += 31) {
                struct wire w = { .rule = rule, .bit = bit, .lead = lead };
                struct s12z_settings set = s12z_settings_default();
                set.edge_rule = (uint8_t)rule;
                set.first_edge_is_clock = !lead;
                wire_idle(&w, 10 * bit);
                for (unsigned k = 0; k < 2 * ARRAY_LEN(session); k++) {
                    wire_line(&w, session[k % ARRAY_LEN(session)], 6);
                    if (lead || k % 3 == 1)
                        wire_idle(&w, (k % 5 + 5) * bit);
                }
                for (size_t step = 1; step <= w.n; step = 3 * step + 1) {
                    struct s12z_edges e = sample_wire(&g, &w, step, &set);
                    assert_int_equal(g.bad, 0);
                    assert_int_equal(e.cut_bits, 0);
                    assert_int_equal(g.lines, 2 * ARRAY_LEN(session));
                    for (size_t k = 0; k < g.lines; k++)
                        assert_true(g.raw[k] == session[k % ARRAY_LEN(session)]);
                }
                free(w.edge);
            }
}

/* A clock edge missing or one too many anywhere: lines behind the next gap are right again. */
static void edges__one_edge_lost_or_gained__lines_behind_the_gap_are_whole(void **state)
{
    static struct got g;
    struct s12z_settings set = s12z_settings_default();
    struct wire w = { .bit = 8 };
    (void)state;
    draw_wire(&w, 4, 1);
    struct wire v = { .edge = malloc((w.n + 2) * sizeof *w.edge) };
    assert_non_null(v.edge);
    for (size_t at = 1; at + 1 < w.n; at++)
        for (int gained = 0; gained < 2; gained++) {
            v.n = 0;
            for (size_t k = 0; k < w.n; k++) {
                if (k != at || gained)
                    v.edge[v.n++] = w.edge[k];
                if (k == at && gained) { /* a spike on the clock */
                    v.edge[v.n++] =
                        PDO_EDGE(PDO_TICK(w.edge[k]) + 1, !PDO_CLK(w.edge[k]), PDO_DATA(w.edge[k]));
                    v.edge[v.n++] =
                        PDO_EDGE(PDO_TICK(w.edge[k]) + 2, PDO_CLK(w.edge[k]), PDO_DATA(w.edge[k]));
                }
            }
            sample_wire(&g, &v, 64, &set);
            size_t right = 0;
            for (size_t k = 0; k < g.lines; k++)
                for (size_t s = 0; s < ARRAY_LEN(session); s++)
                    if (g.raw[k] == session[s]) {
                        right++;
                        break;
                    }
            assert_true(right + 9 >= 4 * ARRAY_LEN(session));
        }
    free(v.edge);
    free(w.edge);
}

static void edges__clock_changes__followed(void **state)
{
    static struct got g;
    struct s12z_settings set = s12z_settings_default();
    (void)state;
    for (unsigned other = 5; other <= 80; other += 25) {
        struct wire w = { .bit = 20 };
        draw_wire(&w, 3, 1);
        wire_idle(&w, 400);
        w.bit = other;
        for (unsigned k = 0; k < 5 * ARRAY_LEN(session); k++) {
            wire_line(&w, session[k % ARRAY_LEN(session)], 6);
            wire_idle(&w, 5 * w.bit);
        }
        sample_wire(&g, &w, 1000, &set);
        print_message("  bit time 20 to %u: %zu of %zu lines\n", other, g.lines,
                      8 * ARRAY_LEN(session));
        assert_true(g.lines >= 8 * ARRAY_LEN(session) - 4);
        for (size_t k = 0; k < 10; k++)
            assert_true(g.raw[g.lines - 1 - k] ==
                        session[(8 * ARRAY_LEN(session) - 1 - k) % ARRAY_LEN(session)]);
        free(w.edge);
    }
}

static void edges__capture_begun_inside_a_line__lines_from_the_first_gap_on(void **state)
{
    static struct got g;
    struct s12z_settings set = s12z_settings_default();
    struct wire w = { .bit = 8 };
    (void)state;
    draw_wire(&w, 4, 1);
    struct wire v = w;
    for (size_t from = 2; from < 150; from++) {
        v.edge = w.edge + from;
        v.n = w.n - from;
        struct s12z_edges e = sample_wire(&g, &v, 64, &set);
        assert_true(g.lines >= 4 * ARRAY_LEN(session) - 5);
        for (size_t k = 0; k < g.lines; k++)
            assert_true(g.raw[g.lines - 1 - k] ==
                        session[(4 * ARRAY_LEN(session) - 1 - k) % ARRAY_LEN(session)]);
        assert_true(e.cut_bits > 0 || PDO_TICK(v.edge[1]) - PDO_TICK(v.edge[0]) > 2 * w.bit);
    }
    free(w.edge);
}

static void edges__lines_behind_gaps__are_prompt_with_their_time(void **state)
{
    static struct got g;
    struct s12z_settings set = s12z_settings_default();
    struct wire w = { .bit = 8 };
    (void)state;
    draw_wire(&w, 2, 1);
    sample_wire(&g, &w, 64, &set);
    for (size_t k = 0; k < g.lines; k++)
        assert_int_equal(g.prompt[k], k == 0 || (k - 1) % 3 == 1);
    assert_int_equal(g.tick[0], 84);
    free(w.edge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wire__both_pthf_lengths__every_line_found_and_length_reported),
        cmocka_unit_test(wire__five_byte_pthf_with_term_then_pts__both_lines),
        cmocka_unit_test(wire__cut_at_every_length__whole_lines_and_the_rest_counted),
        cmocka_unit_test(wire__any_bit_flipped__damage_stays_local),
        cmocka_unit_test(wire__begun_in_the_middle__comes_into_step),
        cmocka_unit_test(fixed__three_byte_orders__same_lines),
        cmocka_unit_test(edges__each_rule_and_rate_and_split__every_line),
        cmocka_unit_test(edges__one_edge_lost_or_gained__lines_behind_the_gap_are_whole),
        cmocka_unit_test(edges__clock_changes__followed),
        cmocka_unit_test(edges__capture_begun_inside_a_line__lines_from_the_first_gap_on),
        cmocka_unit_test(edges__lines_behind_gaps__are_prompt_with_their_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
