/* Messages to the user, a line at a time. The lowest file of the program's layers. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/text.h"
#include "profiler/cli/command.h"
#include "profiler/cli/run.h"
#include "profiler/cli/top_run.h"

void cli_warn(struct cli *cli, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    text_line(cli->err_out, "probeprof: ", fmt, ap);
    va_end(ap);
}

void run_note(struct run *r, const char *fmt, ...)
{
    char line[FEED_LOG_TEXT];
    va_list ap;
    live_clear(&r->live);
    progress_clear(&r->progress);
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (!top_say(r->top, line)) {
        va_start(ap, fmt);
        text_line(r->cli->err_out, "probeprof: ", fmt, ap);
        va_end(ap);
    }
    serve_note(&r->serve, "note", line);
}

void run_found(struct run *r, const char *fmt, ...)
{
    size_t used = strlen(r->found);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->found + used, sizeof r->found - used, fmt, ap);
    va_end(ap);
    used = strlen(r->found);
    snprintf(r->found + used, sizeof r->found - used, "\n");
}

static void note_line(void *ctx, const char *text) { run_note(ctx, "%s", text); }

struct say run_say(struct run *r) { return (struct say){ .line = note_line, .ctx = r }; }

void run_tell_progress(void *ctx, const struct load_progress *now)
{
    progress_tell(&((struct run *)ctx)->progress, now);
}

void run_wake(void *ctx) { uv_async_send(&((struct run *)ctx)->wake); }
