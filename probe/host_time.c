#include "probe/host_time.h"

#include <time.h>

enum { NS_PER_S = 1000000000, NS_PER_MS = 1000000 };

uint64_t host_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t host_ms(void) { return host_ns() / NS_PER_MS; }

int host_wait(struct probe *p, uint64_t ns, struct err *err)
{
    struct timespec t = { .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };
    (void)p;
    (void)err;
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) != 0) /* interrupted: the rest of it */
        continue;
    return 0;
}

uint64_t host_now_ns(struct probe *p)
{
    (void)p;
    return host_ns();
}
