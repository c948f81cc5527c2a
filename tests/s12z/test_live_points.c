/* Start and stop points, by the module and by the host, against each other; streams begun in the
 * middle, the wrong program, resets, parts without trace: what is counted and what is said. */
#include "targets/s12z/driver/plan.h"
#include "tests/s12z/live_rig.h"

enum { MAX_LINES = 1 << 20 };

struct lines {
    uint64_t *raw;
    size_t n;
};

/* Every line of a run to the end. */
static struct lines record_lines(const struct gen_options *o)
{
    struct live_run *r = live_open(",bdc=20M", o);
    struct lines l = { calloc(MAX_LINES, sizeof *l.raw), 0 };
    struct event e[256];
    int n;
    live_arm(r, &(struct trace_config){ .policy = TRACE_LOSSLESS, .lines = true });
    continue_board(r->b);
    for (bool over = false; !over;) {
        int ret = r->b->ops->poll(r->b->t, 2000000, &r->stop, &r->b->err);
        MUST(r->b, ret);
        if ((over = ret > 0))
            MUST(r->b, r->b->ops->trace->disarm(r->b->t, &r->b->err));
        while ((n = r->b->ops->trace->poll(r->b->t, e, ARRAY_LEN(e), 0, &r->b->err)) > 0)
            for (int k = 0; k < n; k++)
                if (e[k].kind == EVENT_LINE && l.n < MAX_LINES)
                    l.raw[l.n++] = e[k].c1;
    }
    assert_true(l.n > 100 && l.n < MAX_LINES);
    live_close(r);
    return l;
}

static void take_all(struct live_run *r, struct s12z_events *e)
{
    struct event ev;
    while (s12z_events_take(e, &ev, 1))
        live_take(r, &ev);
}

/* The lines through the same events code as `probeprof decode` uses. r: holds program and result.
 */
static struct s12z_events_totals replay_lines(struct live_run *r, const struct lines *l,
                                              size_t from, struct s12z_events_config cfg)
{
    const struct s12z_settings settings = s12z_settings_default();
    struct s12z_events *e;
    cfg.settings = settings;
    cfg.counter[0] = S12Z_COUNT_BUS_CYCLES;
    cfg.counter[1] = S12Z_COUNT_INSTRUCTIONS;
    cfg.seamless = true;
    assert_int_equal(s12z_events_new(&cfg, &e, NULL), 0);
    for (size_t k = from; k < l->n; k++) {
        struct s12z_line line;
        assert_int_equal(s12z_line_decode(l->raw[k], &settings, &line, NULL), 0);
        assert_int_equal(s12z_events_line(e, l->raw[k], &line, NULL, 0, NULL), 0);
        take_all(r, e);
    }
    assert_int_equal(s12z_events_end(e, NULL), 0);
    take_all(r, e);
    struct s12z_events_totals t = *s12z_events_totals(e);
    s12z_events_free(e);
    return t;
}

/* Times each byte's instruction was counted. Caller frees. */
static uint64_t *byte_counts(const struct live_run *r)
{
    struct block_count *b;
    size_t n;
    uint64_t *sum = calloc(r->p->bytes, sizeof *sum);
    assert_int_equal(blocks_list(&r->blocks, &b, &n, NULL), 0);
    for (size_t k = 0; k < n; k++)
        for (uint64_t a = b[k].low; a < b[k].high; a++)
            sum[a - r->p->base] = b[k].count;
    free(b);
    return sum;
}

static void same_counts(const struct live_run *a, const struct live_run *b, const char *what)
{
    uint64_t *x = byte_counts(a), *y = byte_counts(b);
    for (uint32_t k = 0; k < a->p->bytes; k++)
        if (x[k] != y[k])
            fail_msg("%s: %06X: %llu and %llu", what, a->p->base + k, (unsigned long long)x[k],
                     (unsigned long long)y[k]);
    free(x);
    free(y);
}

/* ---- the plan ---- */

static void plan__points__go_to_comparators_as_far_as_they_go(void **state)
{
    static const struct {
        const char *name;
        bool start, inside;
        size_t stops;
        unsigned taken;
        bool begins;
        unsigned in_module, comparators;
        const char *says;
    } rows[] = {
        { "nothing", false, true, 0, 0, false, 0, 0x0, "" },
        { "start", true, false, 0, 0, true, 0, 0x8, "start point in a comparator" },
        { "start, inside a pass", true, true, 0, 0, false, 0, 0x0, "start point seen by the host" },
        { "start beside breakpoints", true, false, 0, 0x2, false, 0, 0x0,
          "start point seen by the host" },
        { "one stop", false, true, 1, 0, false, 1, 0x8, "1 of 1 stop points in comparators" },
        { "four stops", false, true, 4, 0, false, 4, 0xF, "4 of 4 stop points" },
        { "six stops", false, true, 6, 0, false, 4, 0xF,
          "2 stop points seen by the host: no comparator is left" },
        { "stops beside breakpoints", false, true, 2, 0xC, false, 2, 0x3, "2 of 2" },
        { "no comparator left", false, true, 2, 0xF, false, 0, 0x0,
          "2 stop points seen by the host: no comparator is left" },
        { "start and stops", true, false, 2, 0, true, 0, 0x8, "the module cannot do both" },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct trace_config cfg = { .has_start = rows[k].start,
                                    .start = 0xFE1234,
                                    .nstops = rows[k].stops };
        struct s12z_plan p;
        for (size_t n = 0; n < rows[k].stops; n++)
            cfg.stops[n] = 0xFE2000 + 4 * n;
        print_message("  %s\n", rows[k].name);
        s12z_plan_make(&cfg, rows[k].inside, false, rows[k].taken, &p);
        assert_int_equal(p.begins, rows[k].begins);
        assert_int_equal(p.stops, rows[k].in_module);
        assert_int_equal(p.dbg.comparators, rows[k].comparators);
        assert_int_equal(p.dbg.comparators & rows[k].taken, 0);
        assert_int_equal(p.host_points,
                         (rows[k].start && !rows[k].begins) + rows[k].stops - rows[k].in_module);
        if (!strstr(p.text, rows[k].says))
            fail_msg("says \"%s\"", p.text);
        for (unsigned n = 0; n < S12Z_COMPARATORS; n++)
            assert_int_equal(p.dbg.scr[0] >> (2 * n) & 3,
                             p.dbg.comparators >> n & 1 ? S12Z_SCR_FINAL : S12Z_SCR_NONE);
    }
}

/* ---- passes ---- */

static void points__by_module_or_host__same_counts(void **state)
{
    (void)state;
    for (uint64_t seed = 21; seed < 25; seed++) {
        struct gen_options o = {
            .seed = seed, .functions = 10, .rounds = 30, .software_exceptions = seed & 1
        };
        struct lines l = record_lines(&o);
        struct live_run *all = live_open(",bdc=20M", &o);
        uint32_t start = all->p->function[4].low, stop = all->p->function[6].low;
        uint64_t stops[] = { stop };
        replay_lines(all, &l, 0,
                     (struct s12z_events_config){ .image = &all->image,
                                                  .has_start = true,
                                                  .start = start,
                                                  .stops = stops,
                                                  .nstops = 1 });
        print_message("  seed %d: %d passes, %llu calls inside\n", (int)seed,
                      (int)all->kinds[EVENT_STOP], (unsigned long long)all->kinds[EVENT_CALL]);
        assert_true(all->kinds[EVENT_START] >= 2);
        for (unsigned way = 0; way < 2; way++) {
            struct live_run *r = live_open(",bdc=20M", &o);
            live_go(
                r,
                &(struct trace_config){ .policy = TRACE_LOSSLESS,
                                        .capture = way ? TRACE_CAPTURE_READOUT : TRACE_CAPTURE_AUTO,
                                        .has_start = true,
                                        .start = start,
                                        .stops = { stop },
                                        .nstops = 1 },
                0);
            assert_non_null(strstr(r->status.note, "C1 estimated"));
            assert_int_equal(r->kinds[EVENT_START], all->kinds[EVENT_START]);
            assert_int_equal(r->kinds[EVENT_STOP], all->kinds[EVENT_STOP]);
            assert_int_equal(r->kinds[EVENT_CALL], all->kinds[EVENT_CALL]);
            assert_int_equal(r->kinds[EVENT_LOST], 0);
            same_counts(all, r, way ? "bursts" : "pins");
            live_close(r);
        }
        live_close(all);
        free(l.raw);
    }
}

/* Without a start point it begins at once, and the first stop point met is the end: in a
 * comparator, or the fifth and later by the host. */
static void stops_alone__first_one_ends_it__same_counts(void **state)
{
    struct gen_options o = { .seed = 31, .functions = 12, .rounds = 30 };
    struct lines l = record_lines(&o);
    (void)state;
    for (unsigned way = 0; way < 4; way++) {
        struct live_run *all = live_open(",bdc=20M", &o), *r = live_open(",bdc=20M", &o);
        size_t n = way & 1 ? 7 : 1;
        uint64_t stops[7];
        struct trace_config cfg = { .policy = TRACE_LOSSLESS,
                                    .capture = way & 2 ? TRACE_CAPTURE_READOUT : TRACE_CAPTURE_AUTO,
                                    .nstops = n };
        for (size_t k = 0; k < n; k++) /* the one that is met comes last: only the host has it */
            cfg.stops[k] = stops[k] = k + 1 == n ? all->p->function[5].low : all->p->done + 1 + k;
        replay_lines(
            all, &l, 0,
            (struct s12z_events_config){ .image = &all->image, .stops = stops, .nstops = n });
        live_go(r, &cfg, 0);
        assert_int_equal(r->kinds[EVENT_START], 1);
        assert_int_equal(r->kinds[EVENT_STOP], 1);
        assert_int_equal(r->kinds[EVENT_CALL], all->kinds[EVENT_CALL]);
        same_counts(all, r, "stops");
        live_close(all);
        live_close(r);
    }
    free(l.raw);
}

/* ---- input that is not as it should be ---- */

static void stream__begun_in_the_middle__counts_from_the_first_address(void **state)
{
    struct gen_options o = { .seed = 41, .functions = 10, .rounds = 5 };
    struct lines l = record_lines(&o);
    struct live_run *whole = live_open(",bdc=20M", &o);
    (void)state;
    replay_lines(whole, &l, 0, (struct s12z_events_config){ .image = &whole->image });
    uint64_t *full = byte_counts(whole);
    for (size_t from = 1; from < l.n; from += l.n / 13) {
        struct live_run *r = live_open(",bdc=20M", &o);
        struct s12z_events_totals t =
            replay_lines(r, &l, from, (struct s12z_events_config){ .image = &r->image });
        uint64_t *part = byte_counts(r);
        assert_int_equal(t.misfits, 0);
        assert_int_equal(r->kinds[EVENT_START], 1);
        for (uint32_t k = 0; k < r->p->bytes; k++)
            assert_true(part[k] <= full[k]);
        assert_true(t.unplaced < 64);
        free(part);
        live_close(r);
    }
    free(full);
    free(l.raw);
    live_close(whole);
}

static void elf__of_another_program__is_said(void **state)
{
    struct gen_options o = { .seed = 51, .functions = 10, .forever = true },
                       other = { .seed = 52, .functions = 10, .forever = true };
    struct gen_program *wrong = gen_program_new(&other);
    struct live_run *r = live_open(",bdc=20M", &o);
    (void)state;
    assert_non_null(wrong);
    r->section =
        (struct image_section){ ".text", wrong->base, wrong->bytes, wrong->image, true, false };
    live_go(r, &(struct trace_config){ .policy = TRACE_LIVE }, 20);
    print_message("  %s\n", r->status.note);
    assert_non_null(strstr(r->status.note, "this ELF is not what was traced"));
    assert_non_null(strstr(r->status.note, "does not fit the program at"));
    assert_true(r->status.lost > 0);
    live_close(r);
    gen_program_free(wrong);
}

static void reset__while_profiled__reported_counted_and_traced_on(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 2; way++) {
        struct gen_options o = { .seed = 61, .functions = 10, .forever = true };
        struct live_run *r = live_open(",bdc=20M", &o);
        const struct bdc_ops *bdc = r->b->probe->driver->bdc;
        bool stopped = false;
        live_arm(r, &(struct trace_config){ .policy = way ? TRACE_LIVE : TRACE_LOSSLESS });
        continue_board(r->b);
        for (unsigned k = 0; k < 10; k++)
            assert_false(live_slice(r));
        assert_int_equal(bdc->set_pins(r->b->probe, BDC_PIN_RESET, 0, NULL), 0);
        assert_int_equal(bdc->wait(r->b->probe, 1000000, NULL), 0);
        assert_int_equal(bdc->set_pins(r->b->probe, BDC_PIN_RESET, BDC_PIN_RESET, NULL), 0);
        for (unsigned k = 0; k < 50 && !stopped; k++)
            stopped = live_slice(r);
        assert_true(stopped);
        assert_int_equal(r->stop.reason, STOP_RESET);
        assert_string_not_equal(r->stop.text, "");
        assert_true(r->kinds[EVENT_LOST] >= 1);
        uint64_t calls = r->kinds[EVENT_CALL];
        continue_board(r->b);
        for (unsigned k = 0; k < 10; k++)
            assert_false(live_slice(r));
        live_disarm(r);
        assert_true(r->kinds[EVENT_CALL] > calls);
        live_compare(r, false, 0);
        live_close(r);
    }
}

static void part__without_trace__refused_with_what_there_is(void **state)
{
    struct board *b = board_open("s12zvl128,bdc=20M");
    struct image im = { .big_endian = true };
    struct trace_config cfg = { .image = &im };
    (void)state;
    MUST(b, b->ops->attach(b->t, &b->err));
    assert_null(b->ops->trace); /* what run asks; the driver itself: */
    assert_int_equal(s12z_tracing.ops->arm(b->t, &cfg, &b->err), -ERR_UNSUPPORTED);
    assert_non_null(strstr(b->err.what, "no trace buffer"));
    assert_non_null(strstr(b->err.hint, "--sample"));
    board_close(b);
}

static void keep_text(void *ctx, const char *text, size_t len)
{
    char *buf = ctx;
    size_t have = strlen(buf);
    memcpy(buf + have, text, MIN(len, 4095 - have));
    buf[have + MIN(len, 4095 - have)] = 0;
}

static void explain__after_overflows__names_functions_and_gaps(void **state)
{
    struct gen_options o = { .seed = 91, .functions = 10, .forever = true };
    struct live_run *r = live_open(",bdc=20M", &o);
    static const char *const says[] = { "lines by PDO and PDOCLK; live policy",
                                        "start point in a comparator", "overflows; ",
                                        "passes cut by gaps",
                                        "of the lines that filled the buffer" };
    char text[4096] = "";
    struct text_sink sink = { keep_text, text };
    (void)state;
    live_go(r,
            &(struct trace_config){ .policy = TRACE_LIVE, .has_start = true, .start = r->p->main },
            40);
    MUST(r->b, r->b->ops->trace->explain(r->b->t, &sink, &r->b->err));
    for (size_t k = 0; k < ARRAY_LEN(says); k++)
        if (!strstr(text, says[k]))
            fail_msg("\"%s\" is missing in\n%s", says[k], text);
    assert_null(strstr(text, "unnoticed"));
    live_close(r);
}

/* An adapter whose firmware reads memory and knows no READ_DBGTB. */
static bool no_lines(struct probe *p, enum bdc_op_kind kind, uint8_t opcode)
{
    return kind != BDC_LINES && !(kind == BDC_COMMAND && opcode == BDC_READ_DBGTB) &&
           p->driver->bdc->can(p, kind, opcode);
}

static void bursts__adapter_without_read_dbgtb__words_do(void **state)
{
    struct gen_options o = {
        .seed = 95, .functions = 10, .rounds = 4, .software_exceptions = true
    };
    struct live_run *r = live_open(",bdc=20M", &o);
    struct bdc_ops limited = *r->b->probe->driver->bdc;
    (void)state;
    limited.can = no_lines;
    s12z_of(r->b->t)->bdc = &limited;
    live_go(r, &(struct trace_config){ .policy = TRACE_LOSSLESS, .capture = TRACE_CAPTURE_READOUT },
            0);
    assert_int_equal(s12z_trace_totals(live_trace(r))->misfits, 0);
    assert_true(s12z_trace_totals(live_trace(r))->overflows > 3);
    live_compare(r, true, 40);
    live_close(r);
}

/* A halt in the middle, single steps, and on: the profile goes on where the program does. */
static void halts_and_steps__in_between__nothing_counted_twice(void **state)
{
    struct gen_options o = { .seed = 71, .functions = 10, .forever = true };
    struct live_run *r = live_open(",bdc=20M", &o);
    (void)state;
    live_arm(r, &(struct trace_config){ .policy = TRACE_LOSSLESS });
    continue_board(r->b);
    for (unsigned round = 0; round < 10; round++) {
        for (unsigned k = 0; k < 5; k++)
            assert_false(live_slice(r));
        MUST(r->b, r->b->ops->halt(r->b->t, &r->b->err));
        while (!live_slice(r))
            ;
        assert_int_equal(r->stop.reason, STOP_REQUEST);
        for (unsigned k = 0; k < round; k++)
            assert_int_equal(step_board(r->b).reason, STOP_STEP);
        continue_board(r->b);
    }
    for (unsigned k = 0; k < 5; k++)
        assert_false(live_slice(r));
    struct trace_status status;
    MUST(r->b, r->b->ops->trace->status(r->b->t, &status, &r->b->err));
    assert_non_null(strstr(status.note, "; 45 instructions single-stepped by GDB are in no count"));
    live_disarm(r);
    live_compare(r, false, 0);
    assert_int_equal(s12z_trace_totals(live_trace(r))->misfits, 0);
    assert_true(r->c2 > 10000);
    live_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan__points__go_to_comparators_as_far_as_they_go),
        cmocka_unit_test(points__by_module_or_host__same_counts),
        cmocka_unit_test(stops_alone__first_one_ends_it__same_counts),
        cmocka_unit_test(stream__begun_in_the_middle__counts_from_the_first_address),
        cmocka_unit_test(elf__of_another_program__is_said),
        cmocka_unit_test(reset__while_profiled__reported_counted_and_traced_on),
        cmocka_unit_test(part__without_trace__refused_with_what_there_is),
        cmocka_unit_test(explain__after_overflows__names_functions_and_gaps),
        cmocka_unit_test(bursts__adapter_without_read_dbgtb__words_do),
        cmocka_unit_test(halts_and_steps__in_between__nothing_counted_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
