/* How the bridge reports to the user: a line at a time, on the loop. The program decides where it
 * is shown. */
#ifndef PROFILER_BRIDGE_SAY_H
#define PROFILER_BRIDGE_SAY_H

struct say {
    void (*line)(void *ctx, const char *text); /* text: without its end of line */
    void *ctx;
};

/* say_line - one line; longer than 1023 bytes it is cut. */
void say_line(const struct say *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
