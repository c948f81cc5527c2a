/* One figure for how much slower a program is while profiled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/profile/slowdown.h"

static void slowdown_of__accounts__parts_add_up(void **state)
{
    static const struct {
        const char *name;
        struct run_time time;
        const char *text;
    } rows[] = {
        { "both", { 1000, 500, 200, 100, 0 }, "4.0x (agent +1.0, moving events +2.0)" },
        { "agent alone", { 1000, 0, 1000, 750, 0 }, "4.0x (agent +3.0, moving events +0.0)" },
        { "no agent", { 1000, 750, 5, 0, 0 }, "4.0x (agent +0.0, moving events +3.0)" },
        { "undisturbed", { 1000, 0, 5, 0, 0 }, "1.0x (agent +0.0, moving events +0.0)" },
        { "long",
          { 4000000000000000000, 3000000000000000000, 1, 0, 0 },
          "4.0x (agent +0.0, moving events +3.0)" },
        { "cycles unknown", { 1000, 10, 0, 0, 0 }, "" },
        { "time unknown", { 0, 0, 1000, 10, 0 }, "" },
        { "nothing left", { 1000, 1000, 10, 1, 0 }, "" },
        { "all agent", { 1000, 10, 10, 10, 0 }, "" },
    };
    char text[80];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct slowdown s = slowdown_of(&rows[i].time);
        print_message("  %s\n", rows[i].name);
        assert_string_equal(slowdown_text(&s, text, sizeof text), rows[i].text);
        assert_true(s.times == 0 || (s.times - 1 - s.agent - s.moving < 1e-9 &&
                                     s.times - 1 - s.agent - s.moving > -1e-9));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(slowdown_of__accounts__parts_add_up) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
