#include "profiler/feed/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "profiler/feed/follow_priv.h"

enum { FIRST_LINE = 4096 };

int follow_new(struct follow **out, struct err *err)
{
    struct follow *w = calloc(1, sizeof *w);
    if (!w)
        return err_set(err, ERR_NOMEM, "close other programs", "feed: out of memory");
    *out = w;
    return 0;
}

void follow_drop(struct follow *w)
{
    for (size_t i = 0; i < w->nfunctions; i++) {
        free(w->functions[i].name);
        free(w->functions[i].file);
        free(w->functions[i].qualified);
        free(w->functions[i].linkage);
    }
    w->nfunctions = w->nnodes = w->nhandlers = w->npoints = w->nlog = 0;
    w->next_log = 0;
    json_decref(w->state);
    w->state = NULL;
    w->totals = (struct follow_totals){ 0 };
    w->has_state = false;
}

void follow_free(struct follow *w)
{
    if (!w)
        return;
    follow_drop(w);
    free(w->functions);
    free(w->nodes);
    free(w->handlers);
    free(w->line);
    free(w);
}

void follow_tell(struct follow *w, void (*line)(void *ctx, const char *frame, size_t n), void *ctx)
{
    w->tell = line;
    w->tell_ctx = ctx;
}

void follow_reset_line(struct follow *w) { w->len = 0; }

void follow_restart(struct follow *w)
{
    follow_drop(w);
    w->len = 0;
    w->broken = w->has_hello = false;
    w->epoch = w->seq = 0;
    w->bye[0] = 0;
}

/* ---- lines ---- */

static int put_line(struct follow *w, const char *bytes, size_t n, struct err *err)
{
    if (w->len + n > FOLLOW_LINE)
        return err_set(err, ERR_PROTOCOL, "ask for fewer nodes, or another view",
                       "feed: line %" PRIu64 " has more than %d bytes", w->lines + 1, FOLLOW_LINE);
    size_t cap = EITHER(w->cap, FIRST_LINE);
    while (cap < w->len + n)
        cap *= 2;
    if (cap > w->cap) {
        char *line = realloc(w->line, cap);
        if (!line)
            return err_set(err, ERR_NOMEM, "close other programs", "feed: out of memory");
        w->line = line;
        w->cap = cap;
    }
    memcpy(w->line + w->len, bytes, n);
    w->len += n;
    return 0;
}

/* An empty line only says that the connection lives. 1: it was a frame. */
static int take_line(struct follow *w, struct err *err)
{
    json_error_t wrong;
    size_t n = w->len;
    w->lines++;
    w->len = 0;
    if (n && w->line[n - 1] == '\r')
        n--;
    if (!n)
        return 0;
    json_t *root = json_loadb(w->line, n, 0, &wrong);
    if (!root)
        return err_set(err, ERR_PROTOCOL, "is that probeprof's feed?",
                       "feed: line %" PRIu64 ", byte %d: %s", w->lines, wrong.position, wrong.text);
    int ret = follow_frame(w, root, err);
    json_decref(root);
    if (ret < 0) {
        char where[32];
        snprintf(where, sizeof where, "feed: line %" PRIu64, w->lines);
        return err_prefix(err, ret, where);
    }
    if (w->tell)
        w->tell(w->tell_ctx, w->line, n);
    return 1;
}

int follow_bytes(struct follow *w, const char *bytes, size_t n, struct err *err)
{
    int frames = 0;
    if (w->broken)
        return err_set(err, ERR_PROTOCOL, "connect again", "feed: broken before");
    while (n) {
        const char *end = memchr(bytes, '\n', n);
        size_t some = end ? (size_t)(end - bytes) : n;
        int ret = put_line(w, bytes, some, err);
        if (ret == 0 && end)
            ret = take_line(w, err);
        if (ret < 0) {
            w->broken = true;
            return ret;
        }
        frames += ret;
        bytes += some + (end != NULL);
        n -= some + (end != NULL);
    }
    return frames;
}

/* ---- what is known ---- */

bool follow_position(const struct follow *w, char *buf)
{
    if (!w->has_state || w->broken)
        return false;
    feed_position_text(w->epoch, w->seq, buf);
    return true;
}

uint64_t follow_seq(const struct follow *w) { return w->seq; }
uint64_t follow_frames(const struct follow *w) { return w->frames; }
bool follow_snapped(const struct follow *w) { return w->snapped; }
const struct follow_totals *follow_totals(const struct follow *w) { return &w->totals; }

const struct follow_hello *follow_hello(const struct follow *w)
{
    if (w->has_hello)
        return &w->hello;
    return NULL;
}

const char *follow_bye(const struct follow *w)
{
    if (*w->bye)
        return w->bye;
    return NULL;
}

const struct follow_function *follow_functions(const struct follow *w, size_t *n)
{
    *n = w->nfunctions;
    return w->functions;
}

const struct follow_node *follow_nodes(const struct follow *w, size_t *n)
{
    *n = w->nnodes;
    return w->nodes;
}

const struct follow_handler *follow_handlers(const struct follow *w, size_t *n)
{
    *n = w->nhandlers;
    return w->handlers;
}

const struct follow_entry *follow_log(const struct follow *w, size_t *n)
{
    *n = w->nlog;
    return w->log;
}

const struct follow_point *follow_points(const struct follow *w, size_t *n)
{
    *n = w->npoints;
    return w->points;
}

const struct follow_node *follow_node(const struct follow *w, uint32_t id)
{
    size_t at = PARTITION_POINT(w->nnodes, i, w->nodes[i].id < id);
    if (at < w->nnodes && w->nodes[at].id == id)
        return &w->nodes[at];
    return NULL;
}

static json_t *find_member(const struct follow *w, const char *object, const char *name)
{
    return json_object_get(json_object_get(w->state, object), name);
}

const char *follow_text(const struct follow *w, const char *object, const char *member)
{
    return json_string_value(find_member(w, object, member));
}

static bool parse_digits(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return *text >= '0' && *text <= '9' && !*end;
}

bool follow_number(const struct follow *w, const char *object, const char *member, double *out)
{
    json_t *v = find_member(w, object, member);
    if (json_is_boolean(v))
        *out = json_is_true(v);
    else if (json_is_number(v))
        *out = json_number_value(v);
    else if (json_is_string(v)) /* above 2^53 */
        return parse_digits(json_string_value(v), out);
    else
        return false;
    return true;
}

const char *follow_mark(const struct follow *w, size_t k)
{
    json_t *row = json_array_get(find_member(w, "marks", "marks"), k);
    return json_string_value(json_object_get(row, "name"));
}
