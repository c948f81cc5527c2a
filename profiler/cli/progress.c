#include "profiler/cli/progress.h"

#include "probe/base/text.h"
#include "profiler/cli/view.h"

static const uint64_t plain_ns = 2000000000, rate_after_ns = 250000000, second_ns = 1000000000;

void progress_init(struct progress *p, FILE *out, const char *name, unsigned columns)
{
    *p = (struct progress){ .out = out, .name = name, .columns = columns, .made = true };
    pthread_mutex_init(&p->lock, NULL);
}

void progress_fini(struct progress *p)
{
    if (p->made)
        pthread_mutex_destroy(&p->lock);
    p->made = false;
}

void progress_tell(struct progress *p, const struct load_progress *now)
{
    pthread_mutex_lock(&p->lock);
    p->now = *now;
    pthread_mutex_unlock(&p->lock);
}

char *progress_text(const struct load_progress *now, uint64_t stage_ns, char *buf, size_t cap)
{
    static const char *const words[] = { "waiting", "erasing", "writing", "verifying" };
    double done = (double)now->done / 1024, total = (double)now->total / 1024;
    if (now->done == 0)
        snprintf(buf, cap, "%s %.1f KB", words[now->stage], total);
    else if (stage_ns < rate_after_ns)
        snprintf(buf, cap, "%s %.1f of %.1f KB", words[now->stage], done, total);
    else
        snprintf(buf, cap, "%s %.1f of %.1f KB, %.1f KB/s", words[now->stage], done, total,
                 done / ((double)stage_ns / 1e9));
    return buf;
}

char *progress_rate(uint64_t bytes, uint64_t ns, char *buf, size_t cap)
{
    double s = (double)ns / 1e9;
    buf[0] = 0;
    if (ns >= second_ns)
        snprintf(buf, cap, ", %.1f s, %.1f KB/s", s, (double)bytes / 1024 / s);
    return buf;
}

void progress_tick(struct progress *p, uint64_t host_ns)
{
    char text[100];
    if (!p->made)
        return;
    pthread_mutex_lock(&p->lock);
    struct load_progress now = p->now;
    pthread_mutex_unlock(&p->lock);
    if (now.stage == LOAD_NONE) {
        p->begun_ns = 0;
        p->last = now;
        progress_clear(p);
        return;
    }
    if (p->begun_ns == 0) {
        p->begun_ns = p->stage_ns = host_ns;
        p->next_ns = host_ns + plain_ns;
    }
    if (now.stage != p->last.stage)
        p->stage_ns = host_ns;
    p->last = now;
    if (!p->columns && host_ns < p->next_ns)
        return;
    progress_text(&now, host_ns - p->stage_ns, text, sizeof text);
    p->next_ns = host_ns + plain_ns;
    if (!p->columns) {
        text_print(p->out, "probeprof: loading %s: %s\n", p->name, text);
        return;
    }
    view_clear_line(p->out);
    text_print(p->out, "%.*s", (int)p->columns - 1, text);
    fflush(p->out);
    p->shown = true;
}

void progress_clear(struct progress *p)
{
    if (!p->shown)
        return;
    view_clear_line(p->out);
    fflush(p->out);
    p->shown = false;
}
