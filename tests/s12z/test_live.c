/* Live profiles of random programs against the CPU model's own counts, by both ways for lines and under both policies. */
#include "tests/s12z/live_rig.h"

struct totals { uint64_t branches, instructions, calls, interrupts, overflows; };

static void lossless(const char *spec, enum trace_capture capture, const struct gen_options *o, struct totals *sum)
{
    struct live_run *r = live_open(spec, o);
    live_go(r, &(struct trace_config){ .policy = TRACE_LOSSLESS, .capture = capture }, 0);
    live_compare(r, true, 8);
    assert_int_equal(r->kinds[EVENT_START], 1);
    assert_int_equal(r->kinds[EVENT_STOP], 1);
    assert_int_equal(r->kinds[EVENT_LOST], 0);
    sum->instructions += r->c2;
    sum->calls += r->kinds[EVENT_CALL];
    sum->interrupts += r->kinds[EVENT_INTERRUPT];
    live_close(r);
}

static void bursts__random_programs__counts_equal_the_models(void **state)
{
    struct totals sum = { 0 };
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct gen_options o = gen_options_random(seed);
        o.rounds = 2;
        lossless(",bdc=20M", TRACE_CAPTURE_READOUT, &o, &sum);
    }
    print_message("  %llu instructions, %llu calls\n", (unsigned long long)sum.instructions, (unsigned long long)sum.calls);
}

static void pins__random_programs__counts_equal_the_models(void **state)
{
    struct totals sum = { 0 };
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct gen_options o = gen_options_random(seed);
        o.rounds = 20;
        lossless(",bdc=20M", TRACE_CAPTURE_AUTO, &o, &sum);
    }
    print_message("  %llu instructions, %llu calls\n", (unsigned long long)sum.instructions, (unsigned long long)sum.calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts__random_programs__counts_equal_the_models),
        cmocka_unit_test(pins__random_programs__counts_equal_the_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
