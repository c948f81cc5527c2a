#include "tests/state_table.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

void state_table_met(const struct state_table *t, const char *begin, const char *line, bool *met)
{
    char event[32], from[32], to[32];
    const char *at = strstr(line, begin);
    if (!at || sscanf(at + strlen(begin), "%31[A-Z_0-9], %31[A-Z_0-9] -> %31[A-Z_0-9]", event, from,
                      to) != 3)
        return;
    for (int s = t->first; s < t->nstates; s++)
        for (int e = 0; e < t->nevents; e++)
            if (!strcmp(from, t->state_name(s)) && !strcmp(event, t->event_name(e)))
                met[s * t->nevents + e] = true;
}

static void print_changes(const struct state_table *t, int state, FILE *out)
{
    const char *next_state = "";
    for (int to = t->first; to < t->nstates; to++) {
        const char *next_event = "";
        for (int e = 0; e < t->nevents; e++)
            if (t->next(state, e) == to) {
                if (!*next_event)
                    fprintf(out, "%s%s by ", next_state, t->state_name(to));
                fprintf(out, "%s%s", next_event, t->event_name(e));
                next_event = ", ";
                next_state = "; ";
            }
    }
}

void state_table_print(const struct state_table *t, FILE *out)
{
    fprintf(out, "| state | what it means |\n|---|---|\n");
    for (int s = t->first; s < t->nstates; s++)
        fprintf(out, "| %s | %s |\n", t->state_name(s), t->state_texts[s]);
    fprintf(out, "\n| event | what happens |\n|---|---|\n");
    for (int e = 0; e < t->nevents; e++)
        fprintf(out, "| %s | %s |\n", t->event_name(e), t->event_texts[e]);
    fprintf(out, "\n| in | what may follow, and by which events |\n|---|---|\n");
    for (int s = t->first; s < t->nstates; s++) {
        fprintf(out, "| %s | ", t->state_name(s));
        print_changes(t, s, out);
        fprintf(out, " |\n");
    }
}

bool state_table_refuses(bool (*take)(void *ctx), void *ctx)
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
        _exit(take(ctx) ? 0 : 3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
#ifdef NDEBUG
    return WIFEXITED(status) && WEXITSTATUS(status) == 3;
#else
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
#endif
}

static char *read_page(const char *page)
{
    char path[512], *text = calloc(1, 1 << 16);
    snprintf(path, sizeof path, SOURCE_DIR "/%s", page);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    return text;
}

void state_table_page(const char *page, const char *begin, const char *end,
                      void (*print)(FILE *out))
{
    char *want = NULL, *text = read_page(page);
    size_t len = 0;
    FILE *out = open_memstream(&want, &len);
    assert_non_null(out);
    print(out);
    fclose(out);
    char *from = strstr(text, begin), *to = from ? strstr(from, end) : NULL;
    if (!to)
        fail_msg("%s has no block between \"%s\" and \"%s\"", page, begin, end);
    from = strchr(from, '\n') + 1;
    *to = 0;
    bool same = !strcmp(from, want);
    if (!same) /* whole, which is more than cmocka's own messages hold */
        fprintf(stderr, "%s is to have between its marks:\n%s", page, want);
    free(want);
    free(text);
    assert_true(same);
}
