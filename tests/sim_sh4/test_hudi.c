/* H-UDI by itself: the TAP state table against IEEE 1149.1, and shifting many bits at once against
 * one at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/sim/sh4/hudi.h"
#include "targets/sh4/isa/regs.h"

/* What the callbacks were asked, in order. */
struct journal {
    size_t n;
    char what[4096];
    uint32_t word[4096];
    uint64_t clock[4096];
    struct sh4_hudi *hudi;
};
static void note_word(void *ctx, char what, uint32_t word)
{
    struct journal *j = ctx;
    if (j->n < ARRAY_LEN(j->what)) {
        j->what[j->n] = what;
        j->word[j->n] = word;
        j->clock[j->n++] = j->hudi->clocks;
    }
}
static void on_sync(void *ctx) { note_word(ctx, 's', 0); }
static void on_assert(void *ctx) { note_word(ctx, 'a', 0); }
static void on_negate(void *ctx) { note_word(ctx, 'n', 0); }
static void on_interrupt(void *ctx) { note_word(ctx, 'i', 0); }
static void on_break(void *ctx) { note_word(ctx, 'b', 0); }
static void on_aseram(void *ctx, unsigned offset, uint32_t word)
{
    note_word(ctx, 'w', word ^ offset);
}
static uint32_t on_status(void *ctx, unsigned selector)
{
    note_word(ctx, 'r', selector);
    return 0x01010101u * selector;
}
static const struct sh4_hudi_ops ops = { on_sync,  on_assert, on_negate, on_interrupt,
                                         on_break, on_aseram, on_status, NULL };

static void tap_next__five_ones__reach_reset_from_every_state(void **state)
{
    (void)state;
    for (unsigned s = 0; s < TAP_NSTATES; s++) {
        enum tap_state t = (enum tap_state)s;
        for (int i = 0; i < 5; i++)
            t = tap_next(t, 1);
        assert_int_equal(t, TAP_RESET);
    }
}

static void tap_next__named_paths__as_drawn_in_the_standard(void **state)
{
    static const struct {
        const char *tms;
        enum tap_state end;
    } rows[] = {
        { "0", TAP_IDLE },
        { "0100", TAP_SHIFT_DR },
        { "01100", TAP_SHIFT_IR },
        { "010011", TAP_UPDATE_DR },
        { "0110011", TAP_UPDATE_IR },
        { "01010", TAP_PAUSE_DR },
        { "010101", TAP_EXIT2_DR },
        { "0101010", TAP_SHIFT_DR },
        { "01011", TAP_UPDATE_DR },
        { "010110", TAP_IDLE },
        { "010111", TAP_SELECT_DR },
        { "0111", TAP_RESET },
        { "01101010", TAP_SHIFT_IR },
        { "0110101", TAP_EXIT2_IR },
        { "01101011", TAP_UPDATE_IR },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum tap_state t = TAP_RESET;
        for (const char *c = rows[i].tms; *c; c++)
            t = tap_next(t, *c == '1');
        assert_int_equal(t, rows[i].end);
    }
}

static uint32_t next_random(uint32_t *s)
{
    *s = *s * 1664525 + 1013904223;
    return *s >> 8;
}

/* Streams that stay long in Shift and Idle states, as real ones do, with every kind of turn in
 * between. */
static void make_stream(uint32_t seed, uint8_t *tms, uint8_t *tdi, size_t bits)
{
    memset(tms, 0, bits / 8);
    for (size_t i = 0; i < bits / 8; i++)
        tdi[i] = (uint8_t)(next_random(&seed) >> 3);
    for (size_t i = 0; i < bits;) {
        unsigned ones = 1 + next_random(&seed) % (next_random(&seed) % 16 ? 2 : 5);
        for (unsigned k = 0; k < ones && i < bits; k++, i++)
            tms[i / 8] |= (uint8_t)(1u << i % 8);
        i += next_random(&seed) % (next_random(&seed) % 4 ? 5 : 60);
    }
}

static void clock__many_bits_at_once__same_as_one_by_one(void **state)
{
    (void)state;
    enum { BITS = 8192 };
    static uint8_t tms[BITS / 8], tdi[BITS / 8], fast[BITS / 8], slow[BITS / 8];
    static struct journal jf, js;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        struct sh4_hudi f, s;
        make_stream(seed, tms, tdi, BITS);
        jf = (struct journal){ .hudi = &f };
        js = (struct journal){ .hudi = &s };
        sh4_hudi_init(&f, &ops, &jf);
        sh4_hudi_init(&s, &ops, &js);
        memset(fast, 0x5A, sizeof fast);
        memset(slow, 0, sizeof slow);
        sh4_hudi_clock(&f, BITS, tms, tdi, fast);
        for (size_t i = 0; i < BITS; i++) {
            uint8_t m = tms[i / 8] >> (i % 8) & 1, d = tdi[i / 8] >> (i % 8) & 1, o = 0;
            sh4_hudi_clock(&s, 1, &m, &d, &o);
            slow[i / 8] |= (uint8_t)((o & 1) << i % 8);
        }
        assert_memory_equal(fast, slow, sizeof fast);
        assert_int_equal(f.state, s.state);
        assert_int_equal(f.sdir, s.sdir);
        assert_int_equal(f.sddr, s.sddr);
        assert_int_equal(f.clocks, BITS);
        assert_int_equal(jf.n, js.n);
        assert_memory_equal(jf.what, js.what, jf.n);
        assert_memory_equal(jf.word, js.word, jf.n * sizeof jf.word[0]);
        /* each at its own TCK clock */
        assert_memory_equal(jf.clock, js.clock, jf.n * sizeof jf.clock[0]);
        assert_true(jf.n > 20);
    }
}

static void clock__tdo_not_wanted__state_goes_on_all_the_same(void **state)
{
    (void)state;
    enum { BITS = 4096 };
    static uint8_t tms[BITS / 8], tdi[BITS / 8], tdo[BITS / 8];
    static struct journal ja, jb;
    struct sh4_hudi a, b;
    make_stream(4711, tms, tdi, BITS);
    ja = (struct journal){ .hudi = &a };
    jb = (struct journal){ .hudi = &b };
    sh4_hudi_init(&a, &ops, &ja);
    sh4_hudi_init(&b, &ops, &jb);
    sh4_hudi_clock(&a, BITS, tms, tdi, tdo);
    sh4_hudi_clock(&b, BITS, tms, tdi, NULL);
    assert_int_equal(a.sddr, b.sddr);
    assert_int_equal(ja.n, jb.n);
}

static void update_ir__low_nibble__is_dont_care_for_documented_commands(void **state)
{
    static const struct {
        uint16_t ir;
        char what;
    } rows[] = {
        { 0x6000, 'n' }, { 0x6FFF, 'n' }, { 0x70FF, 'a' }, { 0x7A00, 'a' }, { 0xA0FF, 'i' },
        { 0xAF00, 'i' }, { 0xB000, 'i' }, { 0xC0FF, 'b' }, { 0xC1FF, 0 },   { 0x8000, 0 },
        { 0xFFFF, 0 },   { 0xF000, 0 },   { 0x0000, 0 },   { 0x2000, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        static struct journal j;
        struct sh4_hudi h;
        uint8_t tms[4] = { 0 }, tdi[4] = { 0 };
        j = (struct journal){ .hudi = &h };
        sh4_hudi_init(&h, &ops, &j);
        /* idle, select DR, select IR, capture, shift: 5 clocks; 16 bits; update, idle */
        uint32_t t = 0x6 | 1u << 20 | 1u << 21, d = (uint32_t)rows[i].ir << 5;
        for (int k = 0; k < 4; k++) {
            tms[k] = (uint8_t)(t >> 8 * k);
            tdi[k] = (uint8_t)(d >> 8 * k);
        }
        sh4_hudi_clock(&h, 23, tms, tdi, NULL);
        print_message("  %04x\n", rows[i].ir);
        assert_int_equal(h.sdir, rows[i].ir);
        char last = 0;
        for (size_t k = 0; k < j.n; k++)
            last = j.what[k] == 's' ? last : j.what[k];
        assert_int_equal(last, rows[i].what);
    }
}

/* idle, select DR, select IR, capture, shift: 5 clocks; 16 bits; update, idle */
static void load_command(struct sh4_hudi *h, unsigned ti)
{
    uint8_t tms[3] = { 0x06, 0, 0x30 }, tdi[3];
    uint32_t d = (uint32_t)ti << 13;
    for (int k = 0; k < 3; k++)
        tdi[k] = (uint8_t)(d >> 8 * k);
    sh4_hudi_clock(h, 23, tms, tdi, NULL);
}

/* idle, select DR, capture, shift: 4 clocks; 32 bits; update, idle */
static uint32_t scan_word(struct sh4_hudi *h, uint32_t word)
{
    uint8_t tms[5] = { 0x02, 0, 0, 0, 0x18 }, tdi[5], tdo[5];
    uint64_t d = (uint64_t)word << 4, got = 0;
    for (int k = 0; k < 5; k++)
        tdi[k] = (uint8_t)(d >> 8 * k);
    sh4_hudi_clock(h, 38, tms, tdi, tdo);
    for (int k = 0; k < 5; k++)
        got |= (uint64_t)tdo[k] << 8 * k;
    return (uint32_t)(got >> 4);
}

/* Rows: one data scan each, behind the command if there is one; what it shows is the register of
 * that letter. Source: hudi_sdmode in the fork's hudi.c. */
static void scan__registers_alternate__as_the_public_source_keeps_book_of_them(void **state)
{
    enum { NONE = -1 };
    static const struct {
        int ti;
        uint32_t word;
        char shows;
    } rows[] = {
        { 0x60, 0x10, 'd' },           { NONE, 0x20, 's' },
        { NONE, 0x31, 's' },           { NONE, 0x40, 'd' },
        { NONE, 0x51, 's' },           { NONE, 0x61, 'd' },
        { NONE, 0x70, 's' },           { 0xA0, 0x80, 'd' },
        { NONE, 0x91, 'd' },           { 0x60, 0xA0, 'd' },
        { 0xC0, 0xB0, 's' },           { 0x80, 0xC1, 's' },
        { 0x50, (16 - 2) << 16, 'd' }, { NONE, 0xE1, 's' },
        { NONE, 0xF1, 'd' },           { 0xFF, 0, 'b' },
        { 0x60, 0x110, 'd' },          { 0x20, 0, 'r' },
        { 0x21, 0x121, 's' },          { NONE, 0x130, 'd' },
        { 0x70, 0x140, 's' },
    };
    (void)state;
    static struct journal j;
    struct sh4_hudi h;
    uint32_t sddr = 0;
    j = (struct journal){ .hudi = &h };
    sh4_hudi_init(&h, &ops, &j);
    h.alternates = true;
    bool filling = false;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].ti != NONE) {
            load_command(&h, (unsigned)rows[i].ti);
            assert_int_equal(h.sdir, (uint16_t)(rows[i].ti << 8));
            filling = rows[i].ti == 0x50;
        }
        uint32_t got = scan_word(&h, rows[i].word);
        print_message("  %zu: %08x, of %c\n", i, got, rows[i].shows);
        assert_int_equal(got == sddr, rows[i].shows == 'd');
        sddr = rows[i].shows == 'd' && !filling ? rows[i].word : sddr;
        assert_int_equal(h.sddr, sddr);
    }
    assert_non_null(memchr(j.what, 'w', j.n)); /* the word behind the header went into ASERAM */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tap_next__five_ones__reach_reset_from_every_state),
        cmocka_unit_test(tap_next__named_paths__as_drawn_in_the_standard),
        cmocka_unit_test(clock__many_bits_at_once__same_as_one_by_one),
        cmocka_unit_test(clock__tdo_not_wanted__state_goes_on_all_the_same),
        cmocka_unit_test(update_ir__low_nibble__is_dont_care_for_documented_commands),
        cmocka_unit_test(scan__registers_alternate__as_the_public_source_keeps_book_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
