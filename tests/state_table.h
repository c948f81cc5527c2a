/* For tests of a table of states and events: what an assertion refuses, and whether a page of docs/
 * shows the table as it is. For cmocka. */
#ifndef TESTS_STATE_TABLE_H
#define TESTS_STATE_TABLE_H

#include <stdbool.h>
#include <stdio.h>

/* A table as it is asked for. */
struct state_table {
    int first, nstates, nevents;       /* states are first..nstates-1 */
    int (*next)(int state, int event); /* anything else for what is refused */
    const char *(*state_name)(int state), *(*event_name)(int event);
    const char *const *state_texts, *const *event_texts;
};

/* state_table_met - a line of a log says that an event has changed a state: it holds "EVENT, FROM
 * -> TO" behind begin. Marks met[from * nevents + event]. */
void state_table_met(const struct state_table *t, const char *begin, const char *line, bool *met);

/* state_table_print - two Markdown tables: what may happen in each state, and what the events are.
 */
void state_table_print(const struct state_table *t, FILE *out);

/* state_table_refuses - whether take(ctx) ends its process by an assertion, as what cannot happen
 * does. It runs in a process of its own. With NDEBUG: whether it returns false. */
bool state_table_refuses(bool (*take)(void *ctx), void *ctx);

/* state_table_page - fails unless the page (a path below SOURCE_DIR) has, between the lines begin
 * and end, what print() writes. */
void state_table_page(const char *page, const char *begin, const char *end,
                      void (*print)(FILE *out));

#endif
