/* How far a download is: the worker reports it, the loop shows it. On a terminal one line is
 * rewritten; elsewhere a plain line is printed now and then. */
#ifndef PROFILER_CLI_PROGRESS_H
#define PROFILER_CLI_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profiler/bridge/board_io.h"

/* Zero-initialise, then progress_init(). */
struct progress {
    pthread_mutex_t lock;
    struct load_progress now; /* under lock */
    FILE *out;
    const char *name; /* of what is loaded */
    unsigned columns; /* 0: not a terminal */
    /* shown: a line is on the terminal and must be cleared before other output */
    bool made, shown;
    struct load_progress last; /* as of the last tick */
    /* host clock: of the first tick, of the stage, when the next plain line is due */
    uint64_t begun_ns, stage_ns, next_ns;
};

/* progress_init - out: stderr; name is borrowed; columns: view_columns(out). */
void progress_init(struct progress *p, FILE *out, const char *name, unsigned columns);
void progress_fini(struct progress *p); /* a zeroed one, too */

/* progress_tell - from any thread. */
void progress_tell(struct progress *p, const struct load_progress *now);

/* progress_tick - show what there is to show; a few times a second, on the loop
 * host_ns   monotonic clock */
void progress_tick(struct progress *p, uint64_t host_ns);

/* progress_clear - wipe the line, before anything else is written to the terminal; zeroed is fine.
 */
void progress_clear(struct progress *p);

/* progress_text - "writing 12.5 of 126.0 KB, 54.2 KB/s"; the rate only after a quarter of a second
 * of this stage. Returns buf. */
char *progress_text(const struct load_progress *now, uint64_t stage_ns, char *buf, size_t cap);

/* progress_rate - ", 3.2 s, 39.4 KB/s" for a download that took a second or more, else "". Returns
 * buf. */
char *progress_rate(uint64_t bytes, uint64_t ns, char *buf, size_t cap);

#endif
