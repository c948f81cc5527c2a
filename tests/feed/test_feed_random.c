/* Random programs, folds and readers: see rig.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "profiler/core/symbols.h"
#include "tests/feed/rig.h"
#include "tests/profiler/sink.h"

enum { PROGRAMS = 32, FOLDS = 60, LEAST_CUTS = 1000 };

static uint32_t pick_below(void *ctx, uint32_t n) { return n ? random_below(ctx, n) : 0; }

/* Of functions without symbols, whose ends are known only when the next one has run; of those that
 * have some; and of what is no function. */
static const char marks[] = "tag /c0$/\n"
                            "tag /(a|e)/\n"
                            "rename 0x8c010040 = 0x8c0102c0\n"
                            "group eighties = /^0x.*80$/\n"
                            "group eighties = /^s/\n"
                            "group inner = 0x8c010244\n"
                            "group inner = 0x8c010344\n"
                            "group inner = 0x8c010444\n"
                            "group inner = 0x8c011244\n"
                            "exclude /^.task 1[12]/\n"
                            "exclude /^.lost/\n"
                            "exclude /^0x8c0101[04]/\n";

struct sums {
    unsigned cuts, frames, snaps;
};

static void run_rig(struct rig_config cfg, uint64_t seed, struct sums *sums)
{
    cfg.pick = pick_below;
    cfg.ctx = &seed;
    struct rig *r = rig_new(&cfg);
    for (unsigned k = 0; k < FOLDS; k++) {
        rig_run(r, random_below(&seed, 3) ? random_below(&seed, 300) : 0);
        rig_bustle(r);
        rig_fold(r);
        rig_read(r);
        if (k == FOLDS / 2)
            rig_check(r);
    }
    rig_check(r);
    sums->cuts += rig_cuts(r);
    sums->frames += rig_frames(r);
    sums->snaps += rig_snaps(r);
    rig_free(r);
}

static void test_random_readers(void **state)
{
    (void)state;
    struct symbols *syms;
    struct sums sums = { 0 };
    assert_int_equal(symbols_open(FIXTURES "small-le.elf", &syms, NULL), 0);
    for (unsigned k = 0; k < PROGRAMS; k++)
        run_rig((struct rig_config){ .symbols = k % 4 == 3 ? syms : NULL,
                                     .marks = k % 2 ? marks : NULL,
                                     .functions = k % 3 ? 12 : 300,
                                     .depth = k % 5 == 4 ? 50 : 8,
                                     .estimated = k % 3 == 1,
                                     .samples = k % 8 == 5,
                                     .clears = k % 2,
                                     .nodes = k % 4 == 0 ? 256 : 65536,
                                     .most_paths = k % 7 == 6 ? 100 : 0 },
                1000 + k, &sums);
    print_message("%u frames, %u readers cut, %u snapshots\n", sums.frames, sums.cuts, sums.snaps);
    assert_true(sums.cuts > LEAST_CUTS);
    symbols_close(syms);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_readers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
