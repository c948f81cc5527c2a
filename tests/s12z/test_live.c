/* Live profiles of random programs against the CPU model's own counts, by both ways for lines and
 * under both policies. */
#include "tests/s12z/live_rig.h"

enum { SLACK = 40 /* instructions of the straight run that the end of the profile cut */ };

struct totals {
    uint64_t branches, instructions, calls, interrupts, overflows;
};

static void add_totals(struct live_run *r, struct totals *sum)
{
    const struct s12z_flow_totals *f = s12z_flow_totals(s12z_trace_flow(live_trace(r)));
    sum->branches += f->branches;
    sum->instructions += f->instructions;
    sum->calls += f->calls;
    sum->interrupts += f->interrupts;
    sum->overflows += s12z_trace_totals(live_trace(r))->overflows;
}

static void print_totals(const struct totals *t)
{
    print_message(
        "  %llu branches, %llu instructions, %llu calls, %llu interrupts, %llu overflows\n",
        (unsigned long long)t->branches, (unsigned long long)t->instructions,
        (unsigned long long)t->calls, (unsigned long long)t->interrupts,
        (unsigned long long)t->overflows);
}

static const struct image_function *function_of(struct live_run *r, uint32_t pc)
{
    for (size_t k = 0; k < r->p->nfunctions; k++)
        if (pc >= r->functions[k].low && pc < r->functions[k].high)
            return &r->functions[k];
    return NULL;
}

/* Calls by all call instructions, hits of functions that only calls lead to. */
static void compare_calls(struct live_run *r)
{
    uint64_t calls = live_executed_ways(r, S12Z_FLOW_CALL, S12Z_FLOW_CALL_IND), taken;
    if (calls - r->kinds[EVENT_CALL] > 2)
        fail_msg("calls: model %llu, traced %llu", (unsigned long long)calls,
                 (unsigned long long)r->kinds[EVENT_CALL]);
    for (size_t k = 0; k < r->p->nfunctions; k++) {
        uint64_t entered = live_executed(r, r->functions[k].low, &taken),
                 hits = live_hits(r, (uint32_t)r->functions[k].low);
        if (entered - hits > 1 && !function_of(r, (uint32_t)r->functions[k].low - 1))
            fail_msg("function %06X: model %llu entries, %llu hits", (unsigned)r->functions[k].low,
                     (unsigned long long)entered, (unsigned long long)hits);
    }
}

/* Cycles of the table for what the model executed: all of C1 is charged, nothing twice. */
static void compare_cycles(struct live_run *r)
{
    const struct s12z_flow_totals *f = s12z_flow_totals(s12z_trace_flow(live_trace(r)));
    uint64_t core = S12Z_EXCEPTION_CYCLES * (r->kinds[EVENT_INTERRUPT] + r->kinds[EVENT_EXCEPTION]),
             taken;
    for (uint32_t k = 0; k < r->p->bytes; k++) {
        struct s12z_insn i;
        uint64_t n = live_executed(r, r->p->base + k, &taken);
        if (n && s12z_decode(r->p->image + k, r->p->bytes - k, r->p->base + k, &i) > 0)
            core +=
                n * s12z_cycles(&i) + (i.flow == S12Z_FLOW_BRANCH ? taken * S12Z_TAKEN_CYCLES : 0);
    }
    if (core - f->core_cycles > SLACK * 12)
        fail_msg("cycles: model's counts by the table %llu, traced %llu", (unsigned long long)core,
                 (unsigned long long)f->core_cycles);
}

static void expect_lossless(const char *spec, enum trace_capture capture,
                            const struct gen_options *o, unsigned slices, struct totals *sum)
{
    struct live_run *r = live_open(spec, o);
    uint64_t taken;
    live_go(r, &(struct trace_config){ .policy = TRACE_LOSSLESS, .capture = capture }, slices);
    live_compare(r, true, SLACK);
    compare_cycles(r);
    assert_true(o->astray || s12z_flow_totals(s12z_trace_flow(live_trace(r)))->unpaired == 0);
    assert_int_equal(r->kinds[EVENT_START], 1);
    assert_int_equal(r->kinds[EVENT_STOP], 1);
    assert_int_equal(r->kinds[EVENT_LOST], 0);
    assert_int_equal(r->status.lost, 0);
    if (!o->astray)
        compare_calls(r);
    if (o->timer_period && live_executed(r, r->p->timer, &taken) - r->kinds[EVENT_INTERRUPT] > 1)
        fail_msg("interrupts: model %llu, traced %llu (%llu exceptions)",
                 (unsigned long long)live_executed(r, r->p->timer, &taken),
                 (unsigned long long)r->kinds[EVENT_INTERRUPT],
                 (unsigned long long)r->kinds[EVENT_EXCEPTION]);
    add_totals(r, sum);
    live_close(r);
}

static void bursts__random_programs__counts_equal_the_models(void **state)
{
    struct totals sum = { 0 };
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct gen_options o = gen_options_random(seed);
        o.rounds = 2;
        expect_lossless(",bdc=20M", TRACE_CAPTURE_READOUT, &o, 0, &sum);
    }
    print_totals(&sum);
}

static void pins__random_programs__counts_equal_the_models(void **state)
{
    struct totals sum = { 0 };
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct gen_options o = gen_options_random(seed);
        o.rounds = 20;
        expect_lossless(",bdc=20M", TRACE_CAPTURE_AUTO, &o, 0, &sum);
    }
    print_totals(&sum);
    assert_true(sum.overflows > 100);
}

static void pins__interrupts_and_waits__counts_equal_the_models(void **state)
{
    struct totals sum = { 0 };
    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct gen_options o = gen_options_random(seed);
        o.timer_period = (uint16_t)(400 + 397 * seed % 3000);
        o.wait = seed % 3 == 0;
        o.rounds = 20;
        expect_lossless(",bdc=20M", seed % 4 ? TRACE_CAPTURE_AUTO : TRACE_CAPTURE_READOUT, &o, 0,
                        &sum);
    }
    print_totals(&sum);
    assert_true(sum.interrupts > 1000);
}

static void pins__millions_of_branches__counts_equal_the_models(void **state)
{
    struct totals sum = { 0 };
    (void)state;
    for (uint64_t seed = 100; sum.branches < 2000000; seed++) {
        struct gen_options o = { .seed = seed,
                                 .functions = 12,
                                 .rounds = 2000,
                                 .software_exceptions = seed & 1,
                                 .timer_period = seed & 2 ? 5000 : 0 };
        expect_lossless("", TRACE_CAPTURE_AUTO, &o, 0, &sum);
    }
    print_totals(&sum);
}

/* Its lines are still being sent when the module is disarmed. */
static void pins__host_without_a_turn__last_lines_are_waited_for(void **state)
{
    (void)state;
    struct gen_options o = gen_options_random(3);
    o.forever = true;
    struct live_run *r = live_open(",bdc=20M", &o);
    live_arm(r, &(struct trace_config){ .policy = TRACE_LOSSLESS });
    continue_board(r->b);
    for (unsigned k = 0; k < 30; k++)
        assert_false(live_slice(r));
    give_no_turn(r->b);
    live_disarm(r);
    assert_int_equal(r->status.lost, 0);
    live_close(r);
}

/* ---- an analyser beside the adapter, whose samples come in packets ---- */

enum { LATE_ROOM = 1 << 20 };
static struct late {
    struct probe probe;
    struct probe *pins; /* the board's own capture */
    pdo_edge *edge;
    size_t n;
    uint64_t tick_hz, seen; /* ticks are of the board's time */
    unsigned waits;         /* for samples that may still come */
    bool deaf;              /* no edges arrive any more */
} late;
#define LATE_PACKET_NS 3000000u
#define LATE_WAIT_NS   20000000u

static uint64_t late_now(void) { return late.pins->driver->bdc->now_ns(late.pins); }

static int late_start(struct probe *p, uint64_t *tick_hz, struct err *err)
{
    (void)p;
    late.n = 0;
    int ret = late.pins->driver->pdo->start(late.pins, tick_hz, err);
    late.tick_hz = *tick_hz;
    return ret;
}

static int late_read(struct probe *p, pdo_edge *out, size_t cap, uint64_t *lost, struct err *err)
{
    (void)p;
    int got =
        late.pins->driver->pdo->read(late.pins, late.edge + late.n, LATE_ROOM - late.n, lost, err);
    size_t k = 0;
    if (got < 0)
        return got;
    late.n += late.deaf ? 0 : (size_t)got;
    late.seen = late_now() / LATE_PACKET_NS * (late.tick_hz / 1000000000u * LATE_PACKET_NS);
    while (k < late.n && k < cap && PDO_TICK(late.edge[k]) <= late.seen)
        k++;
    memcpy(out, late.edge, k * sizeof *out);
    late.n -= k;
    memmove(late.edge, late.edge + k, late.n * sizeof *out);
    return (int)k;
}

static int late_stop(struct probe *p, struct err *err)
{
    (void)p;
    return late.pins->driver->pdo->stop(late.pins, err);
}
static uint64_t late_seen(struct probe *p)
{
    (void)p;
    return late.seen;
}
static int late_catch_up(struct probe *p, struct err *err)
{
    (void)p;
    late.waits++;
    return late.pins->driver->bdc->wait(late.pins, LATE_WAIT_NS, err);
}

static const struct pdo_ops late_ops = { .start = late_start,
                                         .read = late_read,
                                         .stop = late_stop,
                                         .seen = late_seen,
                                         .catch_up = late_catch_up };
static const struct probe_driver late_driver = { .name = "late", .pdo = &late_ops };

static struct live_run *late_open(const struct gen_options *o)
{
    struct live_run *r = live_open(",bdc=20M", o);
    late.probe = (struct probe){ .driver = &late_driver, .name = "late" };
    late.pins = r->b->probe;
    late.waits = 0;
    late.deaf = false;
    s12z_of(r->b->t)->opt.pdo = &late.probe;
    return r;
}

/* A disarmed module sends a last line: one that does not come was lost on the pin. */
static void pins__a_session_s_last_line_lost__is_reported(void **state)
{
    (void)state;
    late.edge = malloc(LATE_ROOM * sizeof *late.edge);
    for (int deaf = 0; deaf < 2; deaf++) {
        struct gen_options o = gen_options_random(3);
        o.forever = true;
        struct live_run *r = late_open(&o);
        live_arm(r, &(struct trace_config){ .policy = TRACE_LOSSLESS });
        continue_board(r->b);
        for (unsigned k = 0; k < 30; k++)
            assert_false(live_slice(r));
        late.deaf = deaf;
        live_disarm(r);
        print_message("  %s\n", r->status.note);
        assert_int_equal(strstr(r->status.note, "lines are damaged in 1 place,") != NULL, deaf);
        assert_int_equal(r->kinds[EVENT_LOST], deaf);
        assert_int_equal(r->status.lost, deaf);
        live_close(r);
    }
    free(late.edge);
}

/* The last line of a session ends the waiting for it. */
static void pins__samples_in_packets__are_waited_for_no_longer_than_they_take(void **state)
{
    (void)state;
    late.edge = malloc(LATE_ROOM * sizeof *late.edge);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct gen_options o = gen_options_random(seed);
        o.rounds = 4;
        struct live_run *r = late_open(&o);
        live_go(r, &(struct trace_config){ .policy = TRACE_LOSSLESS }, 0);
        live_compare(r, true, SLACK);
        assert_int_equal(r->status.lost, 0);
        uint64_t overflows = s12z_trace_totals(live_trace(r))->overflows;
        print_message("  %llu overflows, held %.1f ms, waited %u times for what might come\n",
                      (unsigned long long)overflows, (double)r->status.time.held_ns / 1e6,
                      late.waits);
        assert_true(late.waits <= 2);
        assert_true(r->status.time.held_ns <= (overflows + 1) * (LATE_PACKET_NS + 6000000u));
        live_close(r);
    }
    free(late.edge);
}

/* What the model counted of everything C1 and C2 may be. */
static uint64_t model_count(struct live_run *r, enum s12z_counter what)
{
    uint64_t sum = 0, taken;
    switch (what) {
    case S12Z_COUNT_CALLS: return live_executed_ways(r, S12Z_FLOW_CALL, S12Z_FLOW_CALL_IND);
    case S12Z_COUNT_BRANCHES: return live_executed_ways(r, S12Z_FLOW_BRANCH, S12Z_FLOW_BRANCH);
    case S12Z_COUNT_INTERRUPTS: return live_executed(r, r->p->timer, &taken);
    default: break;
    }
    for (uint32_t k = 0; k < r->p->bytes; k++) {
        uint64_t n = live_executed(r, r->p->base + k, &taken);
        sum += what == S12Z_COUNT_TAKEN ? taken : n;
    }
    return sum;
}

static void counters__each_that_can_be_chosen__equals_the_models(void **state)
{
    /* slack: in the straight run that the end cuts */
    static const struct {
        enum s12z_counter what;
        unsigned slack;
    } rows[] = {
        { S12Z_COUNT_BRANCHES, 1 },         { S12Z_COUNT_TAKEN, 1 },
        { S12Z_COUNT_INSTRUCTIONS, SLACK }, { S12Z_COUNT_CALLS, 2 },
        { S12Z_COUNT_INTERRUPTS, 1 },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        for (unsigned way = 0; way < 2; way++) {
            size_t other = (k + 1) % ARRAY_LEN(rows);
            struct gen_options o = {
                .seed = 300 + k, .functions = 12, .rounds = way ? 4 : 60, .timer_period = 1500
            };
            struct live_run *r = live_open(",bdc=20M", &o);
            live_go(
                r,
                &(struct trace_config){ .policy = TRACE_LOSSLESS,
                                        .capture = way ? TRACE_CAPTURE_READOUT : TRACE_CAPTURE_AUTO,
                                        .counter = { rows[k].what, rows[other].what } },
                0);
            uint64_t model[2] = { model_count(r, rows[k].what), model_count(r, rows[other].what) };
            print_message("  C1 %llu of %llu, C2 %llu of %llu\n", (unsigned long long)r->c1,
                          (unsigned long long)model[0], (unsigned long long)r->c2,
                          (unsigned long long)model[1]);
            assert_true(model[0] - r->c1 <= rows[k].slack && model[1] - r->c2 <= rows[other].slack);
            assert_true(model[0] > 3 && model[1] > 3);
            live_close(r);
        }
}

/* The program runs on when the buffer is full: less is seen, and what is seen with what is in gaps
 * is all the time there was. */
static void live__gaps__never_too_much_and_seen_plus_gaps_is_the_time(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 2; way++) {
        struct gen_options o = { .seed = 7, .functions = 12, .forever = true };
        struct live_run *r = live_open(",bdc=20M", &o);
        uint64_t from = live_board(r)->cpu.cycles;
        live_go(
            r,
            &(struct trace_config){ .policy = TRACE_LIVE,
                                    .capture = way ? TRACE_CAPTURE_READOUT : TRACE_CAPTURE_AUTO },
            60);
        uint64_t bus = (live_board(r)->cpu.cycles - from) / 2;
        const struct s12z_events_totals *t = s12z_trace_totals(live_trace(r));
        print_message("  %s: %llu overflows, %llu gaps, about %llu lines and %llu bus cycles lost; "
                      "%llu of %llu accounted for; %s\n",
                      way ? "bursts" : "pins", (unsigned long long)t->overflows,
                      (unsigned long long)t->gaps, (unsigned long long)t->gap_lines,
                      (unsigned long long)t->gap_cycles, (unsigned long long)r->c1,
                      (unsigned long long)bus, r->status.note);
        live_compare(r, false, 0);
        assert_true(t->overflows > 10 && t->gaps + 1 >= t->overflows);
        assert_int_equal(r->kinds[EVENT_LOST], t->gaps);
        assert_int_equal(r->lost, t->gap_lines);
        /* the time before the first and behind the last line is nobody's */
        assert_true(r->c1 < bus && r->c1 > bus - bus / 10);
        assert_true(calltree_stats(r->tree)->gap_c1 == t->gap_cycles);
        assert_int_equal(t->misfits, 0);
        live_close(r);
    }
}

/* Like a program behind a boot loader: it moves its vector table at its start, and the old one
 * leads nowhere. */
static void vectors__moved_by_the_program__interrupts_found(void **state)
{
    enum { TABLE = 0xFFFA00, STUB = 0xFFF9E0, OLD = 0xFFFE00 };
    /* MOV.W #.., IVBR; JMP */
    static const uint8_t stub[] = { 0x0D, TABLE >> 16, TABLE >> 8 & 0xFF, 0x00, 0x10, 0xBA };
    (void)state;
    for (unsigned way = 0; way < 2; way++) {
        struct gen_options o = { .seed = 81,
                                 .functions = 8,
                                 .rounds = way ? 4 : 40,
                                 .software_exceptions = true,
                                 .timer_period = 2500 };
        struct gen_program *p = gen_program_new(&o);
        assert_true(p && p->code_end <= STUB);
        uint8_t *old = p->image + (OLD - p->base), *at = p->image + (STUB - p->base);
        memcpy(p->image + (TABLE - p->base), old, 0x200);
        memset(old + 0x10, 0, 0x1E8);
        old[0x0F] = p->image[TABLE - p->base + 0x0F]; /* the security byte stays */
        memcpy(at, stub, sizeof stub);
        at[sizeof stub] = (uint8_t)(p->start >> 16);
        at[sizeof stub + 1] = (uint8_t)(p->start >> 8);
        at[sizeof stub + 2] = (uint8_t)p->start;
        p->start = STUB;
        struct live_run *r = live_open_program(",bdc=20M", p);
        live_go(
            r,
            &(struct trace_config){ .policy = TRACE_LOSSLESS,
                                    .capture = way ? TRACE_CAPTURE_READOUT : TRACE_CAPTURE_AUTO },
            0);
        assert_int_equal(s12z_trace_totals(live_trace(r))->misfits, 0);
        assert_true(r->kinds[EVENT_INTERRUPT] > 3);
        live_compare(r, true, SLACK);
        live_close(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts__random_programs__counts_equal_the_models),
        cmocka_unit_test(pins__random_programs__counts_equal_the_models),
        cmocka_unit_test(pins__interrupts_and_waits__counts_equal_the_models),
        cmocka_unit_test(pins__host_without_a_turn__last_lines_are_waited_for),
        cmocka_unit_test(pins__a_session_s_last_line_lost__is_reported),
        cmocka_unit_test(pins__samples_in_packets__are_waited_for_no_longer_than_they_take),
        cmocka_unit_test(pins__millions_of_branches__counts_equal_the_models),
        cmocka_unit_test(counters__each_that_can_be_chosen__equals_the_models),
        cmocka_unit_test(vectors__moved_by_the_program__interrupts_found),
        cmocka_unit_test(live__gaps__never_too_much_and_seen_plus_gaps_is_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
