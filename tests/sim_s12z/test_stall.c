/* No state of the simulated boards holds up who waits for them: their time goes on while it is
 * asked for, even if nothing else is done. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "probe/base/util.h"
#include "probe/bdc.h"
#include "targets/sim/s12z/board.h"

enum { SLICE_NS = 20000000, MOST_QUESTIONS = 400000 };

static void goes_on(struct sim_board *b)
{
    unsigned asked = 0;
    uint64_t end = b->type->now_ns(b) + SLICE_NS;
    while (b->type->now_ns(b) < end && asked < MOST_QUESTIONS)
        asked++;
    assert_in_range(asked, 1, MOST_QUESTIONS - 1);
}

static void time__only_asked_for__goes_on_whatever_the_board_does(void **state)
{
    static const char *const options[] = {
        "",
        "secured",
        "fault=no-power",
        "fault=bkgd-low",
        "fault=bkgd-high",
        "fault=silent",
        "fault=reset",
        "fault=unplug",
        "fault=reset@1ms+50ms",
        "eev=1000000",
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(options); k++) {
        struct err err = { .code = ERR_OK };
        struct sim_board *b = NULL;
        print_message("  %s\n", options[k]);
        if (s12z_board_zvml128.create(options[k], NULL, &b, &err) < 0)
            fail_msg("%s: %s", options[k], err.what);
        goes_on(b);
        assert_int_equal(b->type->set_pins(b, BDC_PIN_RESET, 0, &err), 0); /* held in reset */
        goes_on(b);
        b->type->destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time__only_asked_for__goes_on_whatever_the_board_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
