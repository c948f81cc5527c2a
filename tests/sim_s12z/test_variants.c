/* Streams of every kind that the unconfirmed encodings leave open: the model makes them of a random
 * program with none, one or two of its encodings other than usual, and the decoder, which knows the
 * program alone, has to find out which. */
#include "targets/sim/s12z/board_priv.h"
#include "targets/s12z/trace/edges.h"
#include "targets/s12z/offline/explain.h"
#include "targets/s12z/trace/flow.h"
#include "targets/s12z/trace/line.h"
#include "targets/s12z/trace/stream.h"
#include "tests/s12z/gen_program.h"
#include "tests/sim_s12z/rig.h"

enum {
    DBGC1 = 0x100,
    DBGTCRH = 0x102,
    DBGTCRL = 0x103,
    DBGTB = 0x104,
    DBGSR = 0x10B,
    PTACT = 0x10,
    LINES = 64,
    EDGES = 1 << 21
};

struct stream {
    struct rig r;
    struct s12z_board *b;
    struct gen_program *p;
    struct image_section section;
    struct image image;
    bool pins;
    uint64_t line[1 << 14];
    size_t nlines, nedges;
    pdo_edge *edge;
};

struct sim_bdc_view {
    struct probe probe;
    struct sim_board *board;
};

static void write_byte(struct stream *s, uint32_t addr, uint8_t v)
{
    assert_int_equal(bus_write(&s->b->bus, addr, 1, BUS_BDC, v), BUS_OK);
}
static bool is_sending(struct stream *s)
{
    uint32_t v = 0;
    assert_int_equal(bus_read(&s->b->bus, DBGSR, 1, BUS_BDC, &v), BUS_OK);
    return v & PTACT;
}

static void take_edges(struct stream *s)
{
    uint64_t lost = 0;
    if (s->pins)
        s->nedges += dbg_pdo_take(s->b->dbg, s->edge + s->nedges, EDGES - s->nedges, &lost);
    assert_true(lost == 0 && s->nedges < EDGES);
}

/* One session, which the full buffer ends; a breakpoint holds the program until the next. */
static void run_session(struct stream *s)
{
    write_byte(s, DBGTCRH, 0x40);
    write_byte(s, DBGTCRL, s->pins ? 0x06 : 0x02);
    write_byte(s, DBGC1, 0x80 | 0x18);
    s->b->cpu.state = CPU_RUN;
    for (unsigned k = 0; s->b->cpu.state != CPU_BDM && k < 200; k++) {
        board_run_to(s->b, s->b->cpu.cycles + 2000);
        take_edges(s);
    }
    write_byte(s, DBGC1, 0);
    for (unsigned k = 0; is_sending(s) && k < 1000; k++)
        board_run_to(s->b, s->b->cpu.cycles + 2000);
    take_edges(s);
    s->b->cpu.state = CPU_BDM;
    if (s->pins)
        return;
    assert_int_equal(bus_write(&s->b->bus, DBGTB, 2, BUS_BDC, 0), BUS_OK);
    for (unsigned k = 0; k < LINES; k++) {
        uint64_t low = dbg_readout_long(s->b->dbg), high = dbg_readout_long(s->b->dbg);
        s->line[s->nlines++] = high << 32 | low;
    }
}

static struct stream *record_stream(const char *options, const struct gen_options *o, bool pins,
                                    unsigned sessions)
{
    struct stream *s = calloc(1, sizeof *s);
    char name[200];
    assert_non_null(s);
    s->pins = pins;
    s->edge = pins ? malloc(EDGES * sizeof *s->edge) : NULL;
    s->p = gen_program_new(o);
    assert_true(s->p && (s->edge || !pins));
    snprintf(name, sizeof name, "sim:s12zvml128%s", options);
    s->r = rig_open(name);
    s->b = (struct s12z_board *)((struct sim_bdc_view *)s->r.p)->board;
    uint32_t size = part_flash_bytes(s->b->part);
    memset(s->b->flash, 0xFF, size);
    memcpy(s->b->flash + size - s->p->bytes, s->p->image, s->p->bytes);
    cpu_forget(&s->b->cpu, s->p->base, s->p->bytes);
    board_reset(s->b, true);
    s->b->cpu.enbdc = true;
    s->section =
        (struct image_section){ ".text", s->p->base, s->p->bytes, s->p->image, true, false };
    s->image = (struct image){ .sections = &s->section, .nsections = 1, .big_endian = true };
    if (pins)
        assert_int_equal(dbg_pdo_capture(s->b->dbg, true), 0);
    for (unsigned k = 0; k < sessions; k++)
        run_session(s);
    return s;
}

static void free_stream(struct stream *s)
{
    rig_close(&s->r);
    gen_program_free(s->p);
    free(s->edge);
    free(s);
}

/* ---- what the decoder makes of it ---- */

struct pass {
    struct stream *s;
    struct s12z_fitting fitting;
    struct s12z_flow_totals totals;
};

static int on_item(void *ctx, const struct s12z_item *i)
{
    struct pass *p = ctx;
    return s12z_fit_item(&p->fitting, i);
}

static int one_pass(void *ctx, const struct s12z_settings *set, uint64_t max_lines,
                    struct s12z_fit *out, struct err *err)
{
    static struct s12z_stream stream;
    static struct s12z_edges edges;
    struct pass *p = ctx;
    int ret = 0;
    p->fitting = (struct s12z_fitting){ .flow = NULL };
    assert_true(max_lines >= ARRAY_LEN(p->s->line));
    assert_int_equal(
        s12z_flow_new(&p->s->image, set, s12z_fit_event, &p->fitting, &p->fitting.flow, err), 0);
    s12z_stream_init(&stream, p->s->pins ? S12Z_FORM_WIRE : S12Z_FORM_LINES, set, on_item, p);
    s12z_edges_init(&edges, set, &stream);
    if (p->s->pins)
        ret = s12z_edges_feed(&edges, p->s->edge, p->s->nedges);
    for (size_t k = 0; !p->s->pins && k < p->s->nlines && ret == 0; k++) {
        uint8_t b[8];
        for (unsigned i = 0; i < 8; i++)
            b[i] = (uint8_t)(p->s->line[k] >> (8 * i));
        ret = s12z_stream_feed(&stream, b, sizeof b, 0);
    }
    ret = ret == 0 && p->s->pins ? s12z_edges_end(&edges)
          : ret == 0             ? s12z_stream_end(&stream)
                                 : ret;
    p->totals = *s12z_flow_totals(p->fitting.flow);
    s12z_flow_free(p->fitting.flow);
    p->fitting.fit.pthf = stream.pthf;
    *out = p->fitting.fit;
    return ret;
}

/* ---- what the model can do otherwise ---- */

static const struct encoding {
    const char *option, *setting;
    bool pins;
} encodings[] = {
    { ",static-operand=indirect", "static-operand=indirect", false },
    { ",software-exceptions=silent", "software-exceptions=silent", false },
    { ",bit-branches=silent", "bit-branches=silent", false },
    { ",loop-branches=silent", "loop-branches=silent", false },
    { ",byte-order=high-first", "byte-order=high-first", false },
    { ",stamp-from=flow", "stamp-from=flow", false },
    { ",pthf=5", "pthf=5", true },
    { ",pdoclk=full", "edges=rising", true },
    { ",pdoclk=full-inverted", "edges=falling", true },
    { ",first-edge=none", "first-edge=none", true },
};

/* The program does everything the encodings are about, in handlers too. */
static struct gen_options program_options(uint64_t seed)
{
    return (struct gen_options){ .seed = seed,
                                 .functions = 12,
                                 .forever = true,
                                 .software_exceptions = true,
                                 .general_static = true,
                                 .timer_period = 1200,
                                 .handler_exceptions = true };
}

static struct s12z_settings true_settings(const struct encoding *a, const struct encoding *b)
{
    struct s12z_settings s = s12z_settings_default();
    assert_true(!a || s12z_setting_parse(&s, a->setting, NULL) == 0);
    assert_true(!b || s12z_setting_parse(&s, b->setting, NULL) == 0);
    return s;
}

/* Silent branches leave the decoder without a position until the next address; all else is followed
 * without a break. */
static bool loses_its_way(const struct s12z_settings *s)
{
    return !s->bit_branches_traced || !s->loop_branches_traced;
}

/* Either full clock's edges see the same bits, as each bit lasts over both; the length of PTHF
 * lines the stream tells by itself. */
static bool open_by_nature(const struct s12z_setting *t, const struct s12z_settings *s)
{
    return (!strcmp(t->name, "edges") && s->edge_rule != S12Z_EDGES_BOTH) ||
           !strcmp(t->name, "pthf");
}

static void check_found(const struct s12z_explained *e, const struct s12z_settings *s, bool pins,
                        const char *what)
{
    const struct s12z_setting *list = s12z_setting_list();
    const struct s12z_variant *best = &e->row[e->best];
    if (!e->any_fits)
        fail_msg("%s: nothing fits of %zu; nearest: %llu bad, %llu misfits of %llu lines", what,
                 e->n, (unsigned long long)best->fit.bad, (unsigned long long)best->fit.misfits,
                 (unsigned long long)best->fit.lines);
    for (size_t t = 0; list[t].name; t++)
        if (!strcmp(list[t].name, "stamp-from") && e->undecided[t]) {
            assert_true(loses_its_way(s) || pins); /* without a place, or with few interrupts */
        } else if (!open_by_nature(&list[t], s)) {
            if (list[t].get(&best->settings) != list[t].get(s))
                fail_msg("%s: found %s=%s", what, list[t].name,
                         list[t].values[list[t].get(&best->settings)]);
            if (e->undecided[t])
                fail_msg("%s: %s is undecided", what, list[t].name);
        }
    if (!loses_its_way(s))
        assert_true(best->fit.walked == best->fit.lines);
    if (s12z_explained_other(e, 0) >= 0 && s->edge_rule == S12Z_EDGES_BOTH)
        fail_msg("%s: another explanation", what);
}

static void expect_explained(const struct encoding *a, const struct encoding *b, uint64_t seed)
{
    static struct s12z_explained e;
    struct gen_options o = program_options(seed);
    struct s12z_settings s = true_settings(a, b), given = s12z_settings_default();
    char options[120];
    bool pins = (a && a->pins) || (b && b->pins);
    snprintf(options, sizeof options, "%s%s", a ? a->option : "", b ? b->option : "");
    struct pass p = { .s = record_stream(options, &o, pins, pins ? 40 : 250) };
    assert_int_equal(s12z_explain(&given, pins, pins, one_pass, NULL, &p, &e, NULL), 0);
    print_message("  %-56s %5llu lines, %3zu tried, stamps %llu:%llu\n",
                  *options ? options + 1 : "as usual", (unsigned long long)e.row[e.best].fit.lines,
                  e.n, (unsigned long long)e.row[e.best].fit.from_line,
                  (unsigned long long)e.row[e.best].fit.from_flow);
    check_found(&e, &s, pins, options);
    if (s.pthf_bytes == 5) /* nothing tells where there are no 31 branches in a row */
        assert_true(e.row[e.best].fit.pthf == 5 ||
                    (!e.row[e.best].fit.pthf && e.undecided[2] && !s.loop_branches_traced));
    free_stream(p.s);
}

static void explain__nothing_unusual__says_so(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 5; seed++)
        expect_explained(NULL, NULL, seed);
}

static void explain__one_encoding_unusual__names_it(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(encodings); k++)
        expect_explained(&encodings[k], NULL, 1);
}

static void explain__two_encodings_unusual__names_both(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(encodings); k++)
        for (size_t i = k + 1; i < ARRAY_LEN(encodings); i++)
            if (strncmp(encodings[k].option, ",pdoclk", 7) ||
                strncmp(encodings[i].option, ",pdoclk", 7))
                expect_explained(&encodings[k], &encodings[i], 1);
}

/* With the right settings the counts are the CPU's own. */
static void walk__each_encoding__counts_equal_the_model(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(encodings); k++) {
        struct gen_options o = program_options(2);
        struct s12z_settings s = true_settings(&encodings[k], NULL);
        struct s12z_fit fit;
        struct pass p = { .s = record_stream(encodings[k].option, &o, encodings[k].pins, 60) };
        assert_int_equal(one_pass(&p, &s, UINT64_MAX, &fit, NULL), 0);
        assert_true(s12z_fit_is_clean(&fit));
        if (!loses_its_way(&s)) {
            uint64_t ran = p.s->b->cpu.instructions, n = p.totals.instructions;
            print_message("  %s: %llu of %llu instructions, %llu interrupts\n",
                          encodings[k].option + 1, (unsigned long long)n, (unsigned long long)ran,
                          (unsigned long long)p.totals.interrupts);
            assert_true(n <= ran && ran - n < 64 * 60); /* each session leaves a node unfinished */
            /* while lines are sent the timer goes on without the program */
            assert_true(p.totals.interrupts > (encodings[k].pins ? 2 : 10));
        }
        free_stream(p.s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explain__nothing_unusual__says_so),
        cmocka_unit_test(explain__one_encoding_unusual__names_it),
        cmocka_unit_test(explain__two_encodings_unusual__names_both),
        cmocka_unit_test(walk__each_encoding__counts_equal_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
