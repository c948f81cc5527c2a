#include "profiler/cli/input_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/buffer.h"
#include "profiler/cli/top_source.h"
#include "profiler/views/json_read.h"

enum { BYTES_MOST = 1 << 30 };
static const char scheme[] = "http://", token_mark[] = "#t=";

struct fetch {
    struct top_source source;
    struct buffer body;
    struct err why; /* how the connection ended */
};

bool input_is_url(const char *name) { return strncmp(name, scheme, sizeof scheme - 1) == 0; }

/* ---- one request ---- */

static void ask_profile(void *ctx, char *buf, size_t cap)
{
    (void)ctx;
    snprintf(buf, cap, "/profile.json?marks=off");
}

static bool take_bytes(void *ctx, const char *at, size_t n)
{
    struct fetch *f = ctx;
    buffer_add(&f->body, at, n);
    return !f->body.failed;
}

static unsigned end_fetch(void *ctx, const struct err *why)
{
    struct fetch *f = ctx;
    f->why = *why;
    top_source_stop(&f->source);
    return 0;
}

/* The head says how long the answer is, so that one cut short is not taken for all of it. */
static bool is_whole(const struct fetch *f)
{
    const char *length = strcasestr(f->source.answer, "\r\nContent-Length:");
    return f->source.in_body &&
           (!length || strtoull(strchr(length, ':') + 1, NULL, 10) == f->body.size);
}

static int fetch_profile(struct fetch *f, struct err *err)
{
    uv_loop_t loop;
    if (uv_loop_init(&loop) < 0)
        return err_set(err, ERR_NOMEM, "raise the limit on open files (ulimit -n)",
                       "event loop: out of memory or descriptors");
    f->body.most = BYTES_MOST;
    f->source.loop = &loop;
    f->source.ctx = f;
    f->source.events =
        (struct top_source_events){ .ask = ask_profile, .bytes = take_bytes, .lost = end_fetch };
    top_source_start(&f->source);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    if (is_whole(f) && !f->body.failed)
        return 0;
    if (f->body.failed)
        return err_set(err, ERR_NOMEM, "close other programs", "the profile is too large");
    if (err)
        *err = f->why;
    return -(int)f->why.code;
}

int input_read_url(const char *url, struct profile **out, struct err *err)
{
    struct fetch f = { .why = { .code = ERR_OK } };
    const char *token = strstr(url, token_mark);
    char address[TOP_HOST + 32];
    snprintf(address, sizeof address, "%.*s", token ? (int)(token - url) : (int)strlen(url), url);
    if (token)
        snprintf(f.source.token, sizeof f.source.token, "%s", token + sizeof token_mark - 1);
    int ret = top_address_parse(address, &f.source.to, err);
    if (ret == 0)
        ret = fetch_profile(&f, err);
    if (ret == 0)
        ret = err_prefix(err, json_to_profile((const uint8_t *)f.body.data, f.body.size, out, err),
                         url);
    buffer_fini(&f.body);
    return ret;
}
