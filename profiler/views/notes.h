/* What a format cannot hold of a profile, told to whoever can tell people. */
#ifndef PROFILER_VIEWS_NOTES_H
#define PROFILER_VIEWS_NOTES_H

struct note_taker {
    void (*take)(void *ctx, const char *text); /* one sentence, without an end of line */
    void *ctx;
};

/* note_take - printf() to it; to may be NULL: nobody wants to know. */
void note_take(const struct note_taker *to, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
