/* Any query, and any body of a command: taken with all its parts in bounds, or refused with a hint.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/feed/http_api.h"
#include "profiler/feed/http_query.h"
#include "profiler/feed/http_timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_hold(bool what)
{
    if (!what)
        abort();
}

static void try_query(const char *text)
{
    char got[40];
    uint64_t number = 7;
    struct err err = { .code = ERR_OK };
    int ret = http_query_known(text, "view nodes since", &err);
    must_hold(ret == 0 || (ret == -ERR_USAGE && *err.what && *err.hint));
    bool has = http_query_text(text, "view", got, sizeof got);
    must_hold(memchr(got, 0, sizeof got) && (has || !*got));
    for (const char *c = got; *c; c++)
        must_hold((unsigned char)*c >= ' ' && *c != 0x7F);
    err.code = ERR_OK;
    ret = http_query_number(text, "nodes", 5, 1000, &number, &err);
    must_hold(ret < 0 ? number == 7 && *err.what : number == 7 || (number >= 5 && number <= 1000));
}

static void try_timeline(const char *text)
{
    struct timeline_ask ask;
    struct err err = { .code = ERR_OK };
    if (http_query_known(text, HTTP_TIMELINE_NAMES, &err) < 0)
        return;
    if (http_timeline_ask(text, &ask, &err) < 0) {
        must_hold(*err.what && *err.hint);
        return;
    }
    must_hold(ask.px > 0 && ask.px <= TIMELINE_PX_MOST && ask.to > ask.from);
    must_hold(ask.levels > 0 && ask.levels <= TIMELINE_LEVELS_MOST);
}

static void try_command(const char *text, size_t n)
{
    struct http_command c = { .what = HTTP_NDO };
    struct err err = { .code = ERR_OK };
    int ret = http_command_parse(text, n, &c, &err);
    if (ret < 0) {
        must_hold(ret == -ERR_USAGE && *err.what && *err.hint && c.what == HTTP_NDO);
        return;
    }
    must_hold(c.what < HTTP_NDO && c.nstops <= HTTP_COMMAND_STOPS);
    must_hold(memchr(c.name, 0, sizeof c.name) && memchr(c.start, 0, sizeof c.start));
    for (int i = 0; i < 2; i++)
        must_hold(memchr(c.counter[i], 0, sizeof c.counter[i]) != NULL);
    for (size_t i = 0; i < c.nstops; i++)
        must_hold(memchr(c.stop[i], 0, sizeof c.stop[i]) != NULL);
    must_hold(!*c.name || c.what == HTTP_MARK || c.what == HTTP_UNMARK || c.what == HTTP_SHOW);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size); /* of exact size, as below */
    char *body = malloc(MAX(size, 1u));
    memcpy(body, data, size);
    try_query(text);
    try_timeline(text);
    try_command(body, size);
    free(text);
    free(body);
    return 0;
}
