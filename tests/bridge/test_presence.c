/* Is the board there: every pair of a state and an event is met here, or refused; and
 * docs/recovery.md shows the table as it is. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/bridge/presence.h"

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
    { PRESENCE_TOLD_LOSS, PRESENCE_AWAY },
    { PRESENCE_LOSS, PRESENCE_AWAY },
    { PRESENCE_TRY_FAILED, PRESENCE_AWAY },
    { PRESENCE_TRY_WORKED, PRESENCE_BACK },
    { PRESENCE_TOLD_RETURN, PRESENCE_HERE },
    /* lost again while the clients hear of its return */
    { PRESENCE_LOSS, PRESENCE_LOST },
    { PRESENCE_TOLD_LOSS, PRESENCE_AWAY },
    { PRESENCE_TRY_WORKED, PRESENCE_BACK },
    { PRESENCE_LOSS, PRESENCE_LOST },
    { PRESENCE_TOLD_RETURN, PRESENCE_LOST },
    { PRESENCE_TOLD_LOSS, PRESENCE_AWAY },
    { PRESENCE_TRY_WORKED, PRESENCE_BACK },
    { PRESENCE_TOLD_RETURN, PRESENCE_HERE },
};

/* Whether a process that does this ends by the assertion. */
static bool is_refused(enum presence from, enum presence_event event)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        presence_take(&from, event);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
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
#ifndef NDEBUG
            assert_int_equal(is_refused((enum presence)s, (enum presence_event)e), refused);
#endif
        }
}

/* ---- the document ---- */

static const char begin_mark[] = "<!-- test_presence: begin -->\n",
                  end_mark[] = "<!-- test_presence: end -->";

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

static char *read_document(void)
{
    FILE *f = fopen(SOURCE_DIR "/docs/recovery.md", "rb");
    char *text = calloc(1, 1 << 16);
    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    return text;
}

static void presence__document__shows_the_table(void **state)
{
    char *want = NULL, *text = read_document();
    size_t len = 0;
    (void)state;
    FILE *out = open_memstream(&want, &len);
    assert_non_null(out);
    write_table(out);
    fclose(out);
    const char *begin = strstr(text, begin_mark), *end = strstr(text, end_mark);
    assert_true(begin && end && begin < end);
    begin += strlen(begin_mark);
    bool same = (size_t)(end - begin) == len && !memcmp(begin, want, len);
    if (!same)
        print_message("docs/recovery.md is to have between its marks:\n%s", want);
    assert_true(same);
    free(want);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presence__every_pair__is_met_or_refused),
        cmocka_unit_test(presence__document__shows_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
