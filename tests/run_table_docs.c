#include "tests/run_table_docs.h"

#include <string.h>

void run_table_met(const struct run_table *t, const char *line, bool *met)
{
    char event[32], from[32], to[32];
    const char *at = strstr(line, "run control: ");
    if (!at || sscanf(at, "run control: %31[A-Z_], %31[A-Z_] -> %31[A-Z_]", event, from, to) != 3)
        return;
    for (unsigned s = 1; s < t->nstates; s++)
        for (unsigned e = 0; e < t->nevents; e++)
            if (!strcmp(from, t->states[s]) && !strcmp(event, t->events[e]))
                met[s * t->nevents + e] = true;
}

static void print_state(const struct run_table *t, unsigned state, FILE *out)
{
    static const char *const seen[] = { [TARGET_DETACHED] = "detached",
                                        [TARGET_RUNNING] = "running",
                                        [TARGET_HALTED] = "halted",
                                        [TARGET_GONE] = "gone" };
    const char *sep = "";
    fprintf(out, "| %s | %s | %s | ", t->states[state], seen[t->seen[state]],
            t->state_texts[state]);
    for (unsigned e = 0; e < t->nevents; e++) {
        unsigned to = run_table_next(t, state, e);
        if (!to)
            continue;
        fprintf(out, "%s%s: %s", sep, t->events[e], t->states[to]);
        sep = "; ";
    }
    fprintf(out, " |\n");
}

void run_table_print(const struct run_table *t, FILE *out)
{
    fprintf(out, "| state | seen as | what it means | what may happen, and the state that follows "
                 "|\n|---|---|---|---|\n");
    for (unsigned s = 1; s < t->nstates; s++)
        print_state(t, s, out);
    fprintf(out, "\n| event | what happens |\n|---|---|\n");
    for (unsigned e = 0; e < t->nevents; e++)
        fprintf(out, "| %s | %s |\n", t->events[e], t->event_texts[e]);
}
