/* probe_open: what a user is told. Origin: probe/probe.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/sim.h"

/* On a machine with adapters one of them would be opened. */
static bool adapters_here(void)
{
    struct adapter_list list = { 0 };
    bool any = false;
    adapters_find(false, &list, NULL);
    for (size_t i = 0; i < list.n; i++)
        any |= !list.row[i].driver->own_spec;
    adapter_list_free(&list);
    return any;
}

static void probe_open__bad_names__errors_say_what_to_do(void **state)
{
    static const struct {
        const char *label, *name, *what, *hint;
    } rows[] = {
        { "nothing named", "", "no debug adapter named", "--probe sim:sh7750" },
        { "NULL", NULL, "no debug adapter named", "--probe sim:sh7750" },
        { "near miss", "sum:sh7750", "\"sum\"", "did you mean sim?" },
        { "far off", "hovercraft", "\"hovercraft\"", "drivers: " },
        { "very long", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
          "no adapter driver", "drivers: " },
        { "board missing", "sim", "no board named", "sim:toy" },
        { "unknown board", "sim:tay,be", "no board \"tay\"", "sim:toy" },
    };
    static const struct sim_board_type toy = { .name = "toy" };
    static const struct sim_board_type *const boards[] = { &toy, NULL };
    const struct probe_config cfg = { .boards = boards };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { .code = ERR_OK };
        struct probe *p = (struct probe *)&err; /* must stay as it is */
        print_message("  %s\n", rows[i].label);
        if ((!rows[i].name || !*rows[i].name) && adapters_here())
            continue;
        assert_int_equal(probe_open(rows[i].name, &cfg, &p, &err), -ERR_USAGE);
        assert_ptr_equal(p, (struct probe *)&err);
        assert_non_null(strstr(err.what, rows[i].what));
        assert_non_null(strstr(err.hint, rows[i].hint));
    }
}

static void probe_drivers__table__names_unique_and_functions_present(void **state)
{
    (void)state;
    const struct probe_driver *const *all = probe_drivers();
    for (size_t i = 0; all[i]; i++) {
        assert_non_null(all[i]->open);
        assert_non_null(all[i]->close);
        assert_string_not_equal(all[i]->help, "");
        all[i]->close(NULL); /* NULL is fine */
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(all[i]->name, all[j]->name);
    }
    probe_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probe_open__bad_names__errors_say_what_to_do),
        cmocka_unit_test(probe_drivers__table__names_unique_and_functions_present),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
