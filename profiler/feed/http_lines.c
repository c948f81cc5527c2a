#include "profiler/feed/http_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/list.h"

struct listener {
    struct listener *next, **at;
    struct lines *all;
    struct http_stream *stream;
    uint64_t next_line; /* number of the line it gets next */
};

struct lines {
    struct listener *first;
    uint64_t n; /* lines so far; the ring has the last LINES_KEPT of them */
    char ring[LINES_KEPT][LINES_TEXT];
};

void lines_add(struct lines *l, const char *text)
{
    snprintf(l->ring[l->n++ % LINES_KEPT], LINES_TEXT, "%s", text);
}

bool lines_wanted(const struct lines *l) { return l->first != NULL; }

static void serve_one(struct lines *l, struct listener *one)
{
    char lost[48];
    uint64_t oldest = EXCESS(l->n, LINES_KEPT);
    struct http_bytes *b = NULL;
    if (one->next_line < l->n)
        b = http_bytes_new();
    if (!b)
        return;
    if (one->next_line < oldest) {
        int n = snprintf(lost, sizeof lost, "# lost %llu\n",
                         (unsigned long long)(oldest - one->next_line));
        http_bytes_add(b, lost, (size_t)n);
        one->next_line = oldest;
    }
    for (; one->next_line < l->n; one->next_line++) {
        const char *text = l->ring[one->next_line % LINES_KEPT];
        http_bytes_add(b, text, strlen(text));
        http_bytes_add(b, "\n", 1);
    }
    http_stream_put(one->stream, "", b, "");
    http_bytes_release(b);
}

void lines_serve(struct lines *l)
{
    for (struct listener *one = l->first; one; one = one->next)
        if (http_stream_hungry(one->stream))
            serve_one(l, one);
}

void lines_end(struct lines *l)
{
    lines_serve(l);
    for (struct listener *one = l->first; one; one = one->next)
        http_stream_end(one->stream);
}

static void listener_ended(void *ctx, struct http_stream *s, bool cut)
{
    struct listener *one = ctx;
    (void)s;
    (void)cut;
    LIST_REMOVE(one);
    free(one);
}

static void listener_opened(void *ctx, struct http_stream *s)
{
    struct listener *one = ctx;
    struct lines *l = one->all;
    if (!s) {
        free(one);
        return;
    }
    one->stream = s;
    one->next_line = l->n;
    LIST_ADD(&l->first, one);
}

void lines_open(struct lines *l, struct http_answer *a)
{
    static const struct http_stream_ops ops = { listener_ended };
    struct listener *one = calloc(1, sizeof *one);
    if (!one) {
        http_fail(a, 503, "memory", "the feed is out of memory", "close other programs");
        return;
    }
    one->all = l;
    a->type = "text/plain; charset=utf-8";
    a->stream = &ops;
    a->stream_ctx = one;
    a->opened = listener_opened;
}

int lines_new(struct lines **out, struct err *err)
{
    *out = calloc(1, sizeof **out);
    if (*out)
        return 0;
    return err_set(err, ERR_NOMEM, "close other programs", "feed: out of memory");
}

void lines_free(struct lines *l) { free(l); }
