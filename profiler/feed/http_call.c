#include "profiler/feed/http_call.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "profiler/feed/http_query.h"

void call_fail(struct http_answer *a, const struct err *err)
{
    switch (err->code) {
    case ERR_USAGE: http_fail(a, 400, "parameter", err->what, err->hint); break;
    case ERR_NOT_FOUND: http_fail(a, 404, "not-found", err->what, err->hint); break;
    case ERR_NOMEM: http_fail(a, 503, "memory", err->what, err->hint); break;
    case ERR_IO: http_fail(a, 500, "io", err->what, err->hint); break;
    default: http_fail(a, 409, "not-now", err->what, err->hint); break;
    }
}

bool call_body(struct http_answer *a, const char *type, struct text_sink *out)
{
    a->body = http_bytes_new();
    a->type = type;
    if (!a->body) {
        http_fail(a, 503, "memory", "the feed is out of memory", "close other programs");
        return false;
    }
    *out = http_bytes_sink(a->body);
    return true;
}

bool call_knows(const struct call *c, const char *names)
{
    struct err err = { .code = ERR_OK };
    if (http_query_known(c->r->query, names, &err) == 0)
        return true;
    call_fail(c->a, &err);
    return false;
}

/* One of If-None-Match's tags, n bytes; weak ones count (RFC 9110, 13.1.2). */
static bool is_tag(const char *one, size_t n, const char *tag)
{
    char gzipped[96];
    size_t len = strlen(tag);
    if (n > 2 && strncmp(one, "W/", 2) == 0) {
        one += 2;
        n -= 2;
    }
    snprintf(gzipped, sizeof gzipped, "%.*s" CALL_GZIP_TAG "\"", (int)len - 1, tag);
    return (n == len && memcmp(one, tag, n) == 0) ||
           (n == strlen(gzipped) && memcmp(one, gzipped, n) == 0);
}

bool call_knows_tag(const struct call *c)
{
    const char *at = text_or(c->r->if_none_match, "");
    while (*at) {
        at += strspn(at, ", \t");
        size_t n = strcspn(at, ", \t");
        if (n && is_tag(at, n, c->a->etag)) {
            bool weak = strncmp(at, "W/", 2) == 0;
            snprintf(c->a->etag, sizeof c->a->etag, "%.*s", (int)n - 2 * weak, at + 2 * weak);
            c->a->varies = true;
            c->a->status = 304;
            return true;
        }
        at += n;
    }
    return false;
}
