/* The events of a recording as they stand in it, a line each: kind, flags, pc, target, counter 1.
 * For programs that compute again what the profiler does.
 *
 * usage: events_of RECORDING */
#include <inttypes.h>
#include <stdio.h>

#include "profiler/profile/recording.h"

int main(int argc, char **argv)
{
    struct recording *r;
    struct event e[256];
    struct err err = { .code = ERR_OK };
    int n = argc == 2 ? recording_open(argv[1], &r, &err) : -ERR_USAGE;
    if (n < 0) {
        fprintf(stderr, "events_of: %s\n", err.what);
        return 2;
    }
    while ((n = recording_read(r, e, sizeof e / sizeof *e, &err)) > 0)
        for (int i = 0; i < n; i++)
            printf("%u %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", e[i].kind, e[i].flags,
                   e[i].pc, e[i].target, e[i].c1);
    recording_close(r);
    return n < 0;
}
