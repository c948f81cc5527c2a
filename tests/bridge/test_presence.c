/* Is the board there: every pair of a state and an event is met here, or refused; and
 * docs/recovery.md shows the table as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/bridge/presence.h"
#include "tests/state_table.h"

/* What comes, and where it leads. */
struct step {
    enum presence_event event;
    enum presence to;
};

/* Courses that a board takes; each begins where the one before it ended, with a board that is here.
 */
static const struct step courses[] = {
    /* unplugged, looked for, back; two have found it at the same time, one finds it late */
    { PRESENCE_LOSS, PRESENCE_LOST },
    { PRESENCE_LOSS, PRESENCE_LOST },
    { PRESENCE_LOSS_REPORTED, PRESENCE_AWAY },
    { PRESENCE_LOSS, PRESENCE_AWAY },
    { PRESENCE_TRY_FAILED, PRESENCE_AWAY },
    { PRESENCE_TRY_WORKED, PRESENCE_BACK },
    { PRESENCE_RETURN_REPORTED, PRESENCE_HERE },
    /* lost again while the clients hear of its return */
    { PRESENCE_LOSS, PRESENCE_LOST },
    { PRESENCE_LOSS_REPORTED, PRESENCE_AWAY },
    { PRESENCE_TRY_WORKED, PRESENCE_BACK },
    { PRESENCE_LOSS, PRESENCE_LOST },
    { PRESENCE_RETURN_REPORTED, PRESENCE_LOST },
    { PRESENCE_LOSS_REPORTED, PRESENCE_AWAY },
    { PRESENCE_TRY_WORKED, PRESENCE_BACK },
    { PRESENCE_RETURN_REPORTED, PRESENCE_HERE },
};

struct pair {
    enum presence from;
    enum presence_event event;
};

static bool takes_event(void *ctx)
{
    struct pair *p = ctx;
    presence_take(&p->from, p->event);
    return p->from != PRESENCE_REFUSED;
}

static void presence__every_pair__is_met_or_refused(void **state)
{
    bool met[PRESENCE_STATES][PRESENCE_EVENTS] = { { false } };
    enum presence p = PRESENCE_HERE;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(courses); i++) {
        met[p][courses[i].event] = true;
        presence_take(&p, courses[i].event);
        assert_int_equal(p, courses[i].to);
    }
    assert_int_equal(p, PRESENCE_HERE);
    for (int s = 0; s < PRESENCE_STATES; s++)
        for (int e = 0; e < PRESENCE_EVENTS; e++) {
            bool refused =
                presence_next((enum presence)s, (enum presence_event)e) == PRESENCE_REFUSED;
            assert_int_equal(met[s][e], !refused);
            struct pair pair = { (enum presence)s, (enum presence_event)e };
            assert_int_equal(state_table_refuses(takes_event, &pair), refused);
        }
}

/* ---- the document ---- */

/* The table as Markdown. */
static void write_table(FILE *out)
{
    fprintf(out, "| |");
    for (int e = 0; e < PRESENCE_EVENTS; e++)
        fprintf(out, " %s |", presence_event_name((enum presence_event)e));
    fprintf(out, "\n|---|");
    for (int e = 0; e < PRESENCE_EVENTS; e++)
        fprintf(out, "---|");
    for (int s = 0; s < PRESENCE_STATES; s++) {
        fprintf(out, "\n| **%s** |", presence_name((enum presence)s));
        for (int e = 0; e < PRESENCE_EVENTS; e++) {
            enum presence to = presence_next((enum presence)s, (enum presence_event)e);
            const char *why = presence_why((enum presence)s, (enum presence_event)e);
            fprintf(out, " %s%s%s |", to == PRESENCE_REFUSED ? "-" : presence_name(to),
                    *why ? ": " : "", why);
        }
    }
    fprintf(out, "\n");
}

static void presence__document__shows_the_table(void **state)
{
    (void)state;
    state_table_page("docs/recovery.md", "<!-- test_presence: begin -->\n",
                     "<!-- test_presence: end -->", write_table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presence__every_pair__is_met_or_refused),
        cmocka_unit_test(presence__document__shows_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
