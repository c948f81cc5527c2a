/* The flow walker: random programs against what their executor did, single situations by hand-made
 * lines, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/s12z/trace/flow.h"
#include "targets/s12z/trace/line.h"
#include "targets/s12z/trace/stream.h"
#include "tests/s12z/synth.h"
#include "tests/s12z/wire.h"

struct seen {
    unsigned kind[EVENT_NKINDS];
    struct event last[64]; /* the first ones */
    unsigned n;
};

static void note_event(void *ctx, const struct event *e)
{
    struct seen *s = ctx;
    s->kind[e->kind]++;
    if (s->n < ARRAY_LEN(s->last))
        s->last[s->n++] = *e;
}

static struct s12z_flow *open_flow_as(const struct image *im, struct seen *seen,
                                      const struct s12z_settings *set)
{
    struct s12z_flow *f = NULL;
    memset(seen, 0, sizeof *seen);
    assert_int_equal(s12z_flow_new(im, set, note_event, seen, &f, NULL), 0);
    return f;
}

static struct s12z_flow *open_flow(const struct image *im, struct seen *seen)
{
    struct s12z_settings set = s12z_settings_default();
    return open_flow_as(im, seen, &set);
}

static int feed_line(struct s12z_flow *f, uint64_t raw, struct err *err)
{
    struct s12z_settings set = s12z_settings_default();
    struct s12z_line l;
    int ret = s12z_line_decode(raw, &set, &l, err);
    return ret < 0 ? ret : s12z_flow_line(f, &l, err);
}

/* ---- random programs ---- */

struct counts {
    uint64_t *at;
    uint32_t base, size;
};
static int note_block(void *ctx, uint32_t low, uint32_t high, uint64_t count)
{
    struct counts *c = ctx;
    for (uint32_t a = low; a < high; a++)
        if (a - c->base < c->size)
            c->at[a - c->base] += count;
    return 0;
}

struct branches {
    const struct synth *p;
    unsigned checked;
};
static int check_branch(void *ctx, uint32_t pc, uint64_t taken, uint64_t not_taken)
{
    struct branches *b = ctx;
    for (uint32_t k = 0; k < b->p->nblocks; k++)
        if (b->p->b[k].end_pc == pc && b->p->b[k].kind == SYNTH_BRANCH) {
            assert_true(b->p->b[k].taken == taken && b->p->b[k].not_taken == not_taken);
            b->checked++;
            return 0;
        }
    fail_msg("no branch at %06X", pc);
    return 0;
}

/* Interrupts whose handler had not returned at the end: each left a node unfinished, and so did the
 * end itself. */
static unsigned open_interrupts(const struct synth *p)
{
    unsigned n = 0;
    for (unsigned k = 1; k < p->nlevels; k++)
        n += p->level[k].kind == SYNTH_RTI;
    return n;
}

static void compare_counts(const struct synth *p, struct s12z_flow *f, const struct seen *seen)
{
    const struct s12z_flow_totals *t = s12z_flow_totals(f);
    struct counts c = { calloc(p->size, sizeof *c.at), p->base, p->size };
    struct branches b = { .p = p };
    unsigned ran = 0;
    uint32_t pc = 0;
    assert_non_null(c.at);
    assert_true(t->branches == p->nbranches && t->taken == p->ntaken &&
                t->interrupts == p->ninterrupts);
    /* those of an unfinished run are not proven */
    assert_true(t->calls <= p->ncallsmade && t->calls + SYNTH_DEPTH >= p->ncallsmade);
    assert_true(t->instructions == p->ninstructions);
    assert_int_equal(t->resyncs, 0);
    assert_int_equal(t->returns_astray, 0);
    assert_int_equal(t->unpaired, 0);
    assert_int_equal(s12z_flow_check(f, &pc), 0);
    assert_int_equal(seen->kind[EVENT_CALL], t->calls);
    assert_int_equal(seen->kind[EVENT_INTERRUPT], t->interrupts);
    assert_int_equal(t->cut, 1 + open_interrupts(p));
    assert_true(seen->kind[EVENT_EXCEPTION] <= p->ntraps &&
                seen->kind[EVENT_EXCEPTION] + SYNTH_DEPTH >= p->ntraps);
    assert_int_equal(s12z_flow_branches(f, check_branch, &b), 0);
    for (uint32_t k = 0; k < p->nblocks; k++)
        ran += p->b[k].kind == SYNTH_BRANCH && p->b[k].taken + p->b[k].not_taken > 0;
    assert_int_equal(b.checked, ran);
    assert_int_equal(s12z_flow_blocks(f, note_block, &c), 0);
    for (uint32_t a = 0; a < p->size; a++)
        if (p->executed[a] && p->executed[a] != c.at[a])
            fail_msg("%06X: ran %llu times, traced %llu", p->base + a,
                     (unsigned long long)p->executed[a], (unsigned long long)c.at[a]);
    free(c.at);
}

static void random_programs__every_kind_of_flow__counts_equal_the_executor(void **state)
{
    static const struct synth_options rows[] = {
        { .blocks = 64, .per_function = 8, .call_percent = 20, .goto_percent = 10 },
        { .blocks = 64, .per_function = 16, .call_percent = 10, .goto_percent = 10, .loops = true },
        { .blocks = 256,
          .per_function = 8,
          .call_percent = 25,
          .indirect_percent = 30,
          .goto_percent = 10,
          .loops = true },
        { .blocks = 256,
          .per_function = 16,
          .call_percent = 15,
          .indirect_percent = 10,
          .trap_percent = 10,
          .goto_percent = 5 },
        { .blocks = 128,
          .per_function = 16,
          .call_percent = 15,
          .goto_percent = 10,
          .loops = true,
          .irq_permille = 20 },
        { .blocks = 512,
          .per_function = 16,
          .call_percent = 20,
          .indirect_percent = 20,
          .trap_percent = 8,
          .goto_percent = 20,
          .loops = true,
          .irq_permille = 5 },
        { .blocks = 64,
          .per_function = 8,
          .call_percent = 20,
          .trap_percent = 10,
          .goto_percent = 30,
          .irq_permille = 150 },
        { .blocks = 128,
          .per_function = 16,
          .call_percent = 10,
          .trap_percent = 30,
          .goto_percent = 10,
          .irq_permille = 40,
          .handler_traps = true },
        { .blocks = 256,
          .per_function = 16,
          .call_percent = 15,
          .trap_percent = 20,
          .goto_percent = 10,
          .silent_traps = true },
        { .blocks = 128,
          .per_function = 16,
          .call_percent = 10,
          .trap_percent = 30,
          .goto_percent = 10,
          .irq_permille = 40,
          .handler_traps = true,
          .silent_traps = true },
    };
    static struct synth p;
    (void)state;
    for (size_t r = 0; r < ARRAY_LEN(rows); r++)
        for (uint32_t seed = 1; seed <= 12; seed++) {
            struct synth_options o = rows[r];
            struct s12z_settings set = s12z_settings_default();
            struct seen seen;
            struct err err = { 0 };
            set.software_exceptions_traced = !o.silent_traps;
            o.seed = seed * 31 + (uint32_t)r;
            synth_new(&p, &o);
            synth_run_branches(&p, 20000);
            struct s12z_flow *f = open_flow_as(&p.image, &seen, &set);
            for (size_t k = 0; k < p.nlines; k++)
                if (feed_line(f, p.line[k], &err) < 0)
                    fail_msg("program %zu/%u, line %zu of %zu: %s", r, seed, k, p.nlines, err.what);
            compare_counts(&p, f, &seen);
            s12z_flow_free(f);
            synth_free(&p);
        }
}

/* Lines missing anywhere: noticed, and what is counted afterwards holds together. */
static void random_program__a_line_missing__noticed_or_harmless(void **state)
{
    static struct synth p;
    struct synth_options o = { .seed = 3,
                               .blocks = 128,
                               .per_function = 16,
                               .call_percent = 15,
                               .goto_percent = 10,
                               .loops = true,
                               .irq_permille = 5 };
    unsigned noticed = 0, tried = 0;
    (void)state;
    synth_new(&p, &o);
    synth_run_branches(&p, 6000);
    for (size_t gone = 1; gone + 20 < p.nlines; gone += 3) {
        struct seen seen;
        uint32_t pc = 0;
        struct s12z_flow *f = open_flow(&p.image, &seen);
        for (size_t k = 0; k < p.nlines; k++)
            if (k != gone)
                feed_line(f, p.line[k], NULL);
        const struct s12z_flow_totals *t = s12z_flow_totals(f);
        noticed += t->resyncs || t->unpaired;
        tried++;
        assert_int_equal(s12z_flow_check(f, &pc), 0);
        s12z_flow_free(f);
    }
    print_message("  %u of %u missing lines noticed\n", noticed, tried);
    assert_true(noticed * 100 >= tried * 90);
}

/* ---- every bit of a stream flipped ---- */

/* Which lines change the position they leave the walker at, against the undamaged stream. */
static size_t lines_diverging(const uint32_t *clean, const uint32_t *got, size_t n, size_t from)
{
    size_t last = from;
    for (size_t k = from; k < n; k++)
        if (clean[k] != got[k])
            last = k + 1;
    return last - from;
}

static void walk_lines(const struct synth *p, size_t flipped, uint64_t mask, uint32_t *position,
                       struct s12z_flow_totals *t, bool *refused)
{
    struct seen seen;
    struct s12z_flow *f = open_flow(&p->image, &seen);
    *refused = false;
    for (size_t k = 0; k < p->nlines; k++) {
        if (feed_line(f, p->line[k] ^ (k == flipped ? mask : 0), NULL) < 0) {
            *refused = true;
            if (k == flipped)
                s12z_flow_lost(f);
        }
        position[k] = s12z_flow_synchronised(f) ? s12z_flow_pc(f) : 0;
    }
    *t = *s12z_flow_totals(f);
    s12z_flow_free(f);
}

static void random_program__any_bit_flipped__detected_or_local(void **state)
{
    static struct synth p;
    struct synth_options o = { .seed = 9,
                               .blocks = 64,
                               .per_function = 16,
                               .call_percent = 20,
                               .goto_percent = 10,
                               .loops = true };
    struct s12z_flow_totals clean_totals, t;
    bool refused;
    unsigned detected = 0, unseen = 0, worst_unseen = 0;
    (void)state;
    synth_new(&p, &o);
    synth_run_branches(&p, 1500);
    uint32_t *clean = calloc(p.nlines, sizeof *clean), *got = calloc(p.nlines, sizeof *got);
    assert_true(clean && got);
    walk_lines(&p, p.nlines, 0, clean, &clean_totals, &refused);
    assert_false(refused);
    for (size_t k = 0; k < p.nlines; k++)
        for (unsigned bit = 0; bit < 64; bit++) {
            walk_lines(&p, k, 1ull << bit, got, &t, &refused);
            bool reported = refused || t.resyncs || t.unpaired;
            size_t lines = lines_diverging(clean, got, p.nlines, k);
            detected += reported;
            unseen += !reported;
            worst_unseen = !reported && lines > worst_unseen ? (unsigned)lines : worst_unseen;
        }
    print_message("  %zu lines: %u flips told, %u not; those change at most %u lines\n", p.nlines,
                  detected, unseen, worst_unseen);
    assert_true(worst_unseen <= 8);
    assert_true(detected > 3 * unseen);
    free(clean);
    free(got);
    synth_free(&p);
}

/* A wire's bytes to counts by address, and what a report would say is wrong. */
struct heard {
    struct s12z_flow *flow;
    unsigned bad;
};
static int hear_item(void *ctx, const struct s12z_item *i)
{
    struct heard *h = ctx;
    if (i->kind == S12Z_ITEM_LINE)
        return s12z_flow_line(h->flow, &i->line, NULL) == -ERR_NOMEM ? -ERR_NOMEM : 0;
    h->bad++;
    s12z_flow_lost(h->flow);
    return 0;
}

static bool reported_wrong(const struct synth *p, const uint8_t *bytes, size_t n, uint64_t *counts)
{
    struct s12z_settings set = s12z_settings_default();
    struct seen seen;
    struct heard h = { open_flow(&p->image, &seen), 0 };
    struct counts c = { counts, p->base, p->size };
    struct s12z_stream st;
    memset(counts, 0, p->size * sizeof *counts);
    s12z_stream_init(&st, S12Z_FORM_WIRE, &set, hear_item, &h);
    assert_int_equal(s12z_stream_feed(&st, bytes, n, 0) | s12z_stream_end(&st), 0);
    assert_int_equal(s12z_flow_blocks(h.flow, note_block, &c), 0);
    bool reported =
        h.bad || s12z_flow_totals(h.flow)->resyncs || s12z_flow_totals(h.flow)->unpaired;
    s12z_flow_free(h.flow);
    return reported;
}

/* Every single bit of a session as it is on the wire. What a report does not tell changes little:
 * it hides behind branches that meet again before the next address. */
static void wire__any_bit_flipped__reported_or_counts_almost_right(void **state)
{
    static struct synth p;
    struct synth_options o = { .seed = 11,
                               .blocks = 64,
                               .per_function = 16,
                               .call_percent = 20,
                               .goto_percent = 10,
                               .loops = true,
                               .irq_permille = 5 };
    unsigned reported = 0, same = 0, other = 0;
    uint64_t worst = 0, all = 0;
    size_t n = 0;
    (void)state;
    synth_new(&p, &o);
    synth_run_branches(&p, 1500);
    uint8_t *bytes = calloc(p.nlines, 8);
    uint64_t *clean = calloc(p.size, sizeof *clean), *got = calloc(p.size, sizeof *got);
    assert_true(bytes && clean && got);
    for (size_t k = 0; k < p.nlines; k++)
        n = wire_bytes(bytes, n, p.line[k], 6);
    assert_false(reported_wrong(&p, bytes, n, clean));
    for (uint32_t a = 0; a < p.size; a++)
        all += clean[a];
    for (size_t bit = 0; bit < 8 * n; bit++) {
        uint64_t off = 0;
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        bool said = reported_wrong(&p, bytes, n, got);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        for (uint32_t a = 0; a < p.size; a++)
            off += got[a] > clean[a] ? got[a] - clean[a] : clean[a] - got[a];
        reported += said;
        same += !said && !off;
        other += !said && off;
        worst = !said && off > worst ? off : worst;
    }
    print_message("  %zu bits: %u flips told, %u change no count, %u change some, by at most %llu "
                  "of %llu bytes run\n",
                  8 * n, reported, same, other, (unsigned long long)worst, (unsigned long long)all);
    assert_true(reported * 100 > 8 * n * 80 && other * 100 < 8 * n * 5 && worst * 100 < all);
    free(bytes);
    free(clean);
    free(got);
    synth_free(&p);
}

/* ---- single situations ---- */

enum {
    CODE = 0xFE0000,
    SUB = CODE + 0x20,
    HANDLER = CODE + 0x40,
    SOFT = CODE + 0x60,
    BYTES = 0x80
};
static const uint8_t code[BYTES] = {
    [0x00] = 0x01, [0x01] = 0x26, [0x02] = 0x80, [0x03] = 0x05, /* nop; bne +5 (to 06) */
    [0x04] = 0x01, [0x05] = 0x01,                               /* nop; nop */
    [0x06] = 0x21, [0x07] = 0x80, [0x08] = 0x1A,                /* bsr SUB */
    [0x09] = 0xFF,                                              /* swi */
    [0x0A] = 0x27, [0x0B] = 0x80, [0x0C] = 0x06,                /* beq +6 (to 10) */
    [0x0D] = 0x20, [0x0E] = 0xFF, [0x0F] = 0xF3,                /* bra start */
    [0x10] = 0x1B, [0x11] = 0x06,                               /* wai */
    [0x12] = 0x20, [0x13] = 0x7E,                               /* bra 10 */
    [0x14] = 0x01, [0x15] = 0x20, [0x16] = 0x00,                /* nop; bra 15 */
    [0x20] = 0x01, [0x21] = 0x05,                               /* SUB: nop; rts */
    [0x40] = 0x30, [0x41] = 0x1B, [0x42] = 0x90,                /* HANDLER: inc; rti */
    [0x60] = 0x1B, [0x61] = 0x90,                               /* SOFT: rti */
};
static uint8_t vectors[512];
static struct image make_program(void)
{
    static struct image_section s[2];
    const uint32_t irq = HANDLER, swi = SOFT;
    for (unsigned k = 0; k < 3; k++) {
        vectors[2 * 0xE8 + 1 + k] = (uint8_t)(irq >> (16 - 8 * k));
        vectors[2 * 0xF8 + 1 + k] = (uint8_t)(swi >> (16 - 8 * k));
    }
    s[0] = (struct image_section){ ".text", CODE, BYTES, code, true, false };
    s[1] = (struct image_section){ ".vectors", 0xFFFE00, sizeof vectors, vectors, false, false };
    return (struct image){ .sections = s, .nsections = 2, .big_endian = true };
}

/* Lines: bits as a string of T and N, oldest first. */
static uint64_t branch_bits(const char *tn)
{
    uint64_t d = 1;
    for (; *tn; tn++)
        d = d << 1 | (*tn == 'T');
    return d << 8;
}
static uint64_t pts_line(uint32_t pc) { return (uint64_t)pc << 8; }
static uint64_t ptib_line(const char *tn, uint32_t to)
{
    return (uint64_t)to << 40 | branch_bits(tn) | 1;
}
static uint64_t ptvb_line(const char *tn, unsigned byte, unsigned stamp)
{
    return (uint64_t)stamp << 48 | (uint64_t)byte << 40 | branch_bits(tn) | 3;
}
static uint64_t ptw_line(const char *tn, unsigned info) { return branch_bits(tn) | 7 | info; }
enum { TERM = 0x10, TBOVF = 0x20, TSOVF = 0x40 };

struct count_of {
    uint32_t pc;
    uint64_t count;
};
static int find_block(void *ctx, uint32_t low, uint32_t high, uint64_t count)
{
    struct count_of *c = ctx;
    if (c->pc >= low && c->pc < high)
        c->count = count;
    return 0;
}
static uint64_t times_ran(struct s12z_flow *f, uint32_t offset)
{
    struct count_of c = { CODE + offset, 0 };
    assert_int_equal(s12z_flow_blocks(f, find_block, &c), 0);
    return c.count;
}

struct row {
    const char *name;
    uint64_t line[12];
    int refused; /* 1 + the line that is, 0: none */
    unsigned calls, returns, interrupts, exceptions, rtes, starts, stops, astray, resyncs, cut;
    struct {
        uint32_t offset;
        uint64_t count;
    } ran[5];
};

static const struct row *make_rows(size_t *n)
{
    static struct row r[24];
    size_t k = 0;
    r[k++] =
        (struct row){ "one round, ended by TERM",
                      { pts_line(CODE), ptib_line("T", CODE + 9), ptvb_line("", 0xF8, 9),
                        ptib_line("", CODE + 0x0A), ptib_line("NN", CODE + 9), ptw_line("", TERM) },
                      .calls = 2,
                      .returns = 2,
                      .exceptions = 1,
                      .rtes = 1,
                      .starts = 1,
                      .stops = 1,
                      .cut = 1,
                      .ran = { { 0, 2 }, { 4, 1 }, { 0x20, 2 }, { 9, 1 } } };
    r[k++] = (struct row){ "TBOVF on the last line's own change of flow",
                           { pts_line(CODE), ptib_line("T", CODE + 9) | TBOVF },
                           .calls = 1,
                           .returns = 1,
                           .starts = 1,
                           .stops = 1,
                           .cut = 1,
                           .ran = { { 0, 1 }, { 0x20, 1 }, { 9, 0 } } };
    r[k++] = (struct row){ "interrupt inside a called function",
                           { pts_line(CODE), ptvb_line("T", 0xE8, 4), ptib_line("", SUB + 1),
                             ptib_line("", CODE + 9), ptw_line("", TERM) },
                           .calls = 1,
                           .returns = 1,
                           .interrupts = 1,
                           .rtes = 1,
                           .starts = 1,
                           .stops = 1,
                           .cut = 1,
                           .ran = { { 0x40, 1 }, { 0x20, 1 }, { 0, 1 } } };
    r[k++] = (struct row){ "nested interrupt",
                           { pts_line(CODE), ptvb_line("T", 0xE8, 4), ptvb_line("", 0xE8, 2),
                             ptib_line("", HANDLER + 1), ptib_line("", SUB),
                             ptib_line("", CODE + 9), ptw_line("", TERM) },
                           .calls = 1,
                           .returns = 1,
                           .interrupts = 2,
                           .rtes = 2,
                           .starts = 1,
                           .stops = 1,
                           .cut = 1,
                           .ran = { { 0x40, 2 }, { 0x20, 1 } } };
    r[k++] = (struct row){ "interrupts back to back",
                           { pts_line(CODE), ptvb_line("T", 0xE8, 4), ptib_line("", SUB),
                             ptvb_line("", 0xE8, 0), ptib_line("", SUB), ptib_line("", CODE + 9),
                             ptw_line("", TERM) },
                           .calls = 1,
                           .returns = 1,
                           .interrupts = 2,
                           .rtes = 2,
                           .starts = 1,
                           .stops = 1,
                           .cut = 1,
                           .ran = { { 0x40, 2 }, { 0x20, 1 } } };
    r[k++] = (struct row){ "interrupt before the first instruction",
                           { pts_line(CODE), ptvb_line("", 0xE8, 0), ptib_line("", CODE),
                             ptib_line("N", CODE + 9), ptw_line("", TERM) },
                           .calls = 1,
                           .returns = 1,
                           .interrupts = 1,
                           .rtes = 1,
                           .starts = 1,
                           .stops = 1,
                           .cut = 1,
                           .ran = { { 0, 1 }, { 4, 1 }, { 0x40, 1 } } };
    r[k++] = (struct row){ "RTI to elsewhere: a task switch",
                           { pts_line(CODE), ptvb_line("T", 0xE8, 4), ptib_line("", CODE + 0x0A),
                             ptib_line("NT", CODE + 9), ptw_line("", TERM) },
                           .calls = 1,
                           .returns = 1,
                           .interrupts = 1,
                           .rtes = 1,
                           .starts = 1,
                           .stops = 1,
                           .cut = 2,
                           .ran = { { 0x0A, 1 }, { 0x0D, 1 }, { 0, 2 } } };
    r[k++] = (struct row){ "return astray",
                           { pts_line(CODE), ptib_line("T", CODE + 0x0A), ptib_line("NT", CODE + 9),
                             ptw_line("", TERM) },
                           .calls = 2,
                           .returns = 2,
                           .starts = 1,
                           .stops = 1,
                           .astray = 1,
                           .cut = 1,
                           .ran = { { 0x20, 2 } } };
    r[k++] =
        (struct row){ "WAI loop left by interrupts",
                      { pts_line(CODE + 0x0A), ptvb_line("T", 0xE8, 90), ptib_line("", CODE + 0x12),
                        ptvb_line("", 0xE8, 80), ptib_line("", CODE + 0x12), ptw_line("", TERM) },
                      .interrupts = 2,
                      .rtes = 2,
                      .starts = 1,
                      .stops = 1,
                      .cut = 1,
                      .ran = { { 0x40, 2 }, { 0x0A, 1 }, { 0x10, 1 }, { 0x12, 0 } } };
    r[k++] =
        (struct row){ "WAI loop that has gone round",
                      { pts_line(CODE + 0x0A), ptvb_line("T", 0xE8, 90), ptib_line("", CODE + 0x12),
                        ptvb_line("", 0xE8, 80), ptib_line("", CODE + 0x10), ptw_line("", TERM) },
                      .interrupts = 2,
                      .rtes = 2,
                      .starts = 1,
                      .stops = 1,
                      .cut = 0,
                      .ran = { { 0x40, 2 }, { 0x0A, 1 }, { 0x10, 1 }, { 0x12, 1 } } };
    r[k++] = (struct row){ "an RTI proves what ran before the end",
                           { pts_line(CODE), ptvb_line("N", 0xE8, 4), ptib_line("", CODE + 6),
                             ptw_line("", TERM) },
                           .interrupts = 1,
                           .rtes = 1,
                           .starts = 1,
                           .stops = 1,
                           .cut = 1,
                           .ran = { { 0, 1 }, { 4, 1 }, { 6, 0 } } };
    r[k++] = (struct row){ "and the call in it",
                           { pts_line(CODE), ptvb_line("N", 0xE8, 4), ptib_line("", SUB + 1),
                             ptw_line("", TERM) },
                           .interrupts = 1,
                           .rtes = 1,
                           .calls = 1,
                           .starts = 1,
                           .stops = 1,
                           .cut = 1,
                           .ran = { { 0, 1 }, { 4, 1 }, { 6, 1 }, { 0x20, 1 }, { 0x21, 0 } } };
    r[k++] = (struct row){ "cut in a handler",
                           { pts_line(CODE), ptvb_line("N", 0xE8, 4), ptib_line("", CODE + 6),
                             ptvb_line("", 0xE8, 4), ptw_line("", TERM) },
                           .interrupts = 2,
                           .rtes = 1,
                           .starts = 1,
                           .stops = 1,
                           .cut = 2,
                           .ran = { { 0, 1 }, { 4, 1 }, { 6, 0 }, { 0x40, 1 } } };
    r[k++] = (struct row){ "a branch behind the RTI: nothing is known of what came then",
                           { pts_line(CODE), ptvb_line("", 0xE8, 4), ptib_line("", CODE + 1),
                             ptw_line("N", TERM) },
                           .interrupts = 1,
                           .rtes = 1,
                           .starts = 1,
                           .stops = 1,
                           .cut = 1,
                           .ran = { { 0, 1 }, { 4, 0 } } };
    r[k++] = (struct row){ "an endless loop, long since",
                           { pts_line(CODE + 0x14), ptw_line("", TSOVF), ptw_line("", TERM) },
                           .starts = 1,
                           .stops = 1,
                           .ran = { { 0x14, 1 }, { 0x15, 1 } } };
    r[k++] = (struct row){ "an endless loop, perhaps",
                           { pts_line(CODE + 0x14), ptw_line("", TERM) },
                           .starts = 1,
                           .stops = 1,
                           .cut = 1,
                           .ran = { { 0x14, 0 }, { 0x15, 0 } } };
    r[k++] = (struct row){ "lost in the middle",
                           { pts_line(CODE), ptvb_line("N", 0xE8, 4), ptib_line("", CODE + 6),
                             pts_line(CODE), ptib_line("N", CODE + 9), ptw_line("", TERM) },
                           .interrupts = 1,
                           .rtes = 1,
                           .calls = 1,
                           .returns = 1,
                           .starts = 2,
                           .stops = 1,
                           .cut = 2,
                           .ran = { { 0, 2 }, { 4, 2 }, { 6, 1 } } };
    r[k++] = (struct row){ "TSOVF in the middle",
                           { pts_line(CODE), ptw_line("T", TSOVF) | 0xFFFFull << 48,
                             ptib_line("", CODE + 9), ptw_line("", TERM) },
                           .calls = 1,
                           .returns = 1,
                           .starts = 1,
                           .stops = 1,
                           .cut = 1,
                           .ran = { { 0, 1 }, { 0x20, 1 } } };
    r[k++] = (struct row){ "PTS without an end before it",
                           { pts_line(CODE), ptib_line("T", CODE + 9), pts_line(CODE),
                             ptib_line("N", CODE + 9), ptw_line("", TERM) },
                           .calls = 2,
                           .returns = 2,
                           .starts = 2,
                           .stops = 1,
                           .cut = 2,
                           .ran = { { 0, 2 }, { 4, 1 } } };
    r[k++] =
        (struct row){ "a bit too many",
                      { pts_line(CODE), ptib_line("TN", CODE + 9), ptib_line("", SUB),
                        ptib_line("", CODE + 0x0A), ptib_line("NT", CODE + 9), ptw_line("", TERM) },
                      .refused = 2,
                      .calls = 1,
                      .returns = 2,
                      .stops = 1,
                      .starts = 1,
                      .astray = 1,
                      .resyncs = 1,
                      .cut = 2,
                      .ran = { { 0, 2 }, { 0x20, 2 } } };
    r[k++] = (struct row){ "begun in the middle",
                           { ptib_line("TNT", SUB), ptib_line("", CODE + 0x0A),
                             ptib_line("NT", CODE + 9), ptw_line("", TERM) },
                           .calls = 1,
                           .returns = 2,
                           .stops = 1,
                           .starts = 1,
                           .astray = 1,
                           .cut = 1,
                           .ran = { { 0, 1 }, { 0x20, 2 } } };
    r[k++] = (struct row){ "a destination where a branch is due",
                           { pts_line(CODE), ptib_line("", CODE + 9), ptw_line("", TERM) },
                           .refused = 2,
                           .starts = 1,
                           .stops = 1,
                           .resyncs = 1,
                           .cut = 1 };
    r[k++] = (struct row){ "PTS outside the program",
                           { pts_line(0x001000), ptib_line("", SUB), ptib_line("", CODE + 9),
                             ptw_line("", TERM) },
                           .refused = 1,
                           .starts = 1,
                           .stops = 1,
                           .returns = 1,
                           .astray = 1,
                           .resyncs = 1,
                           .cut = 1,
                           .ran = { { 0x20, 1 } } };
    r[k++] = (struct row){ "a return to nowhere",
                           { pts_line(CODE), ptib_line("T", 0x001000), ptw_line("", TERM) },
                           .refused = 2,
                           .calls = 1,
                           .returns = 1,
                           .starts = 1,
                           .stops = 1,
                           .astray = 1,
                           .resyncs = 1,
                           .ran = { { 0, 1 }, { 0x20, 1 } } };
    *n = k;
    return r;
}

static void line__each_situation__calls_counts_and_complaints(void **state)
{
    size_t n;
    const struct row *r = make_rows(&n);
    (void)state;
    for (size_t k = 0; k < n; k++) {
        struct image im = make_program();
        struct seen seen;
        struct s12z_flow *f = open_flow(&im, &seen);
        int refused = 0;
        uint32_t pc = 0;
        print_message("  %s\n", r[k].name);
        for (size_t i = 0; i < ARRAY_LEN(r[k].line) && r[k].line[i]; i++) {
            struct err err = { 0 };
            if (feed_line(f, r[k].line[i], &err) < 0) {
                refused = refused ? refused : (int)i + 1;
                assert_string_not_equal(err.hint, "");
            }
        }
        const struct s12z_flow_totals *t = s12z_flow_totals(f);
        assert_int_equal(refused, r[k].refused);
        assert_int_equal(seen.kind[EVENT_CALL], r[k].calls);
        assert_int_equal(seen.kind[EVENT_RETURN], r[k].returns);
        assert_int_equal(seen.kind[EVENT_INTERRUPT], r[k].interrupts);
        assert_int_equal(seen.kind[EVENT_EXCEPTION], r[k].exceptions);
        assert_int_equal(seen.kind[EVENT_RTE], r[k].rtes);
        assert_int_equal(seen.kind[EVENT_START], r[k].starts);
        assert_int_equal(seen.kind[EVENT_STOP], r[k].stops);
        assert_int_equal(t->returns_astray, r[k].astray);
        assert_int_equal(t->resyncs, r[k].resyncs);
        assert_int_equal(t->cut, r[k].cut);
        for (size_t i = 0; i < ARRAY_LEN(r[k].ran) && (i == 0 || r[k].ran[i].offset); i++)
            if (r[k].ran[i].offset || r[k].ran[i].count)
                assert_int_equal(times_ran(f, r[k].ran[i].offset), r[k].ran[i].count);
        assert_int_equal(s12z_flow_check(f, &pc), 0);
        s12z_flow_free(f);
    }
}

/* Lines that are missing where the rest fits all the same: what was called or interrupted does not
 * go back. */
static void gap__that_no_line_betrays__shows_in_returns(void **state)
{
    const struct {
        const char *name;
        uint64_t line[8];
        unsigned unpaired;
        uint32_t first;
    } rows[] = {
        { "nothing missing",
          { pts_line(CODE), ptib_line("T", CODE + 9), ptvb_line("", 0xF8, 9),
            ptib_line("", CODE + 0x0A), ptw_line("", TERM) },
          0,
          0 },
        { "a return behind another call",
          { pts_line(CODE), ptib_line("T", CODE + 0x0A), ptw_line("", TERM) },
          1,
          SUB + 1 },
        { "an RTI to elsewhere",
          { pts_line(CODE), ptvb_line("T", 0xE8, 4), ptib_line("", CODE + 0x0A),
            ptw_line("", TERM) },
          1,
          HANDLER + 1 },
        { "an RTI of SWI to elsewhere",
          { pts_line(CODE + 9), ptvb_line("", 0xF8, 4), ptib_line("", CODE), ptw_line("", TERM) },
          1,
          SOFT },
        { "a return of what was called before the trace",
          { pts_line(SUB), ptib_line("", CODE + 9), ptw_line("", TERM) },
          0,
          0 },
        { "an RTI of what was interrupted before",
          { pts_line(HANDLER), ptib_line("", CODE + 9), ptw_line("", TERM) },
          0,
          0 },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct image im = make_program();
        struct seen seen;
        struct s12z_flow *f = open_flow(&im, &seen);
        print_message("  %s\n", rows[k].name);
        for (size_t i = 0; i < ARRAY_LEN(rows[k].line) && rows[k].line[i]; i++)
            assert_int_equal(feed_line(f, rows[k].line[i], NULL), 0);
        assert_int_equal(s12z_flow_totals(f)->unpaired, rows[k].unpaired);
        assert_int_equal(s12z_flow_totals(f)->first_unpaired, rows[k].first);
        s12z_flow_free(f);
    }
}

/* Taken, fallen into and by a static jump inside of a node: no line tells these, and a call tree
 * needs them. */
static void jumps__from_function_to_function__each_reported_once(void **state)
{
    static const struct image_function functions[] = { { "a", CODE, CODE + 6 },
                                                       { "b", CODE + 6, CODE + 0x20 },
                                                       { "sub", SUB, SUB + 2 } };
    const struct {
        uint64_t line[6];
        struct {
            uint32_t pc, target;
        } jump[2];
    } rows[] = {
        { { pts_line(CODE), ptib_line("T", CODE + 9), ptw_line("", TERM) },
          { { CODE + 1, CODE + 6 } } },
        { { pts_line(CODE), ptib_line("N", CODE + 9), ptw_line("", TERM) },
          { { CODE + 5, CODE + 6 } } },
        { { pts_line(CODE + 0x0A), ptib_line("NT", CODE + 9), ptw_line("", TERM) },
          { { CODE + 0x0D, CODE }, { CODE + 1, CODE + 6 } } },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct image im = make_program();
        struct seen seen;
        im.functions = functions;
        im.nfunctions = ARRAY_LEN(functions);
        struct s12z_flow *f = open_flow(&im, &seen);
        for (size_t i = 0; i < ARRAY_LEN(rows[k].line) && rows[k].line[i]; i++)
            assert_int_equal(feed_line(f, rows[k].line[i], NULL), 0);
        unsigned n = 0, want = rows[k].jump[1].pc ? 2 : 1;
        for (unsigned i = 0; i < seen.n; i++)
            if (seen.last[i].kind == EVENT_JUMP) {
                assert_true(n < want && seen.last[i].pc == rows[k].jump[n].pc &&
                            seen.last[i].target == rows[k].jump[n].target);
                n++;
            }
        assert_int_equal(n, want);
        assert_int_equal(s12z_flow_totals(f)->calls, 1); /* jumps are none */
        s12z_flow_free(f);
    }
}

struct loops {
    unsigned n;
    uint32_t low, high;
    uint64_t entered;
};
static int note_loop(void *ctx, uint32_t low, uint32_t high, uint64_t entered)
{
    struct loops *l = ctx;
    *l = (struct loops){ l->n + 1, low, high, entered };
    return 0;
}

static void loops__a_wait_loop_left_by_interrupts__its_range_and_how_often_at_least(void **state)
{
    const uint64_t lines[] = { pts_line(CODE + 0x0A),      ptvb_line("T", 0xE8, 90),
                               ptib_line("", CODE + 0x12), ptvb_line("", 0xE8, 80),
                               ptib_line("", CODE + 0x10), ptw_line("", TERM) };
    struct image im = make_program();
    struct seen seen;
    struct loops l = { 0 };
    struct s12z_flow *f = open_flow(&im, &seen);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_int_equal(feed_line(f, lines[i], NULL), 0);
    assert_int_equal(s12z_flow_loops(f, note_loop, &l), 0);
    assert_int_equal(l.n, 1);
    assert_true(l.low == CODE + 0x10 && l.high == CODE + 0x14 && l.entered == 1);
    s12z_flow_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs__every_kind_of_flow__counts_equal_the_executor),
        cmocka_unit_test(random_program__a_line_missing__noticed_or_harmless),
        cmocka_unit_test(random_program__any_bit_flipped__detected_or_local),
        cmocka_unit_test(wire__any_bit_flipped__reported_or_counts_almost_right),
        cmocka_unit_test(line__each_situation__calls_counts_and_complaints),
        cmocka_unit_test(gap__that_no_line_betrays__shows_in_returns),
        cmocka_unit_test(jumps__from_function_to_function__each_reported_once),
        cmocka_unit_test(loops__a_wait_loop_left_by_interrupts__its_range_and_how_often_at_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
