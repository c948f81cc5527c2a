/* Writes a recording of many events of a program that calls as real ones do, for bench_report.py.
 * Its functions have no names: there is no ELF.
 *
 * usage: bench_report FILE MILLIONS */
#include <stdio.h>
#include <stdlib.h>

#include "profiler/profile/recording.h"
#include "tests/bench/calls.h"

enum { BATCH = 1 << 16, BATCHES = 16 };

int main(int argc, char **argv)
{
    struct calls p = { .seed = 1, .sp = { 0x8CFF0000 } };
    struct event *events = malloc(BATCH * sizeof *events);
    struct recording_writer *w;
    struct err err = { .code = ERR_OK };
    const struct recording_header h = { .program = "bench_report",
                                        .target = "sh7750",
                                        .probe = "none",
                                        .counter = { { 0x23, "elapsed-time", "cycles" },
                                                     { 0x08, "icache-miss", "count" } } };
    if (argc != 3 || !events || recording_create(argv[1], &h, &w, &err) < 0) {
        fprintf(stderr, "usage: bench_report FILE MILLIONS   %s\n", err.what);
        return 1;
    }
    uint64_t batches = (uint64_t)atoi(argv[2]) * BATCHES;
    for (uint64_t k = 0; k < batches; k++) {
        for (size_t i = 0; i < BATCH; i++)
            events[i] = k + i ? calls_next(&p)
                              : (struct event){ .kind = EVENT_START,
                                                .pc = CALLS_CODE,
                                                .flags = EVENT_HAS_PC };
        if (recording_write(w, events, BATCH, &err) < 0) {
            fprintf(stderr, "%s\n", err.what);
            return 1;
        }
    }
    free(events);
    return recording_finish(w, &(struct recording_end){ .events = batches * BATCH }, &err) < 0;
}
