/* The program's list of parts and the driver's are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/cli/boards.h"
#include "profiler/cli/parts.h"
#include "targets/s12z/s12z.h"

static void parts__of_the_driver__are_those_of_the_program(void **state)
{
    unsigned program = 0, driver = 0;
    (void)state;
    for (const struct part *p = parts(); p->name; p++)
        program += p->ops() == s12z_target_ops();
    for (const struct s12z_chip *c = s12z_chips(); c->name; c++, driver++) {
        const struct part *p = NULL;
        struct err err = { 0 };
        if (part_choose(c->name, "", &p, &err) < 0)
            fail_msg("%s: %s", c->name, err.what);
        assert_ptr_equal(p->ops(), s12z_target_ops());
        if (!strstr(p->help, c->help))
            fail_msg("%s: \"%s\" and \"%s\"", c->name, p->help, c->help);
    }
    assert_int_equal(program, driver);
}

static void boards__simulated__each_is_a_part(void **state)
{
    (void)state;
    for (const struct sim_board_type *const *b = boards(); *b; b++) {
        const struct part *p = NULL;
        struct err err = { 0 };
        char probe[64];
        snprintf(probe, sizeof probe, "sim:%s,option", (*b)->name);
        if (part_choose("", probe, &p, &err) < 0)
            fail_msg("%s: %s", probe, err.what);
        assert_string_equal(p->name, (*b)->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts__of_the_driver__are_those_of_the_program),
        cmocka_unit_test(boards__simulated__each_is_a_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
