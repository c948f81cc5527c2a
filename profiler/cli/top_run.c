#include "profiler/cli/top_run.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/cli/top_screen.h"
#include "profiler/cli/top_view.h"

enum {
    TABLE_ROWS = 20,
    TABLE_COLUMNS = 100,
    LEAST_COLUMNS = 40,
    RETRY_MS = 1000,
    PLAIN_TRIES = 10
};

struct top {
    struct top_config cfg;
    struct follow *follow;
    struct top_view *view;
    struct top_screen *screen; /* NULL: tables or JSON */
    struct top_source source;
    uv_poll_t keys;
    uv_signal_t resize;
    bool plain, has_handles, has_keys;
    bool ended, met; /* met: a connection has been there */
    char reader[17];
    uint64_t seen; /* follow_frames() of the last one shown */
    unsigned long frames;
    unsigned tries;
    int ret;
    struct err err;
};

static void end_top(struct top *t, int ret)
{
    if (t->ended)
        return;
    t->ended = true;
    t->ret = ret;
    t->cfg.over(t->cfg.ctx);
}

/* ---- frames ---- */

static void print_line(void *ctx, size_t row, const struct top_line *l)
{
    const struct top *t = ctx;
    (void)row;
    text_print(t->cfg.out, "%s\n", l->text);
}

static size_t table_columns(void)
{
    const char *text = getenv("COLUMNS");
    long n = 0;
    if (text)
        n = strtol(text, NULL, 10);
    if (n >= LEAST_COLUMNS && n < TOP_LINE)
        return (size_t)n;
    return TABLE_COLUMNS;
}

static void print_table(struct top *t)
{
    const struct top_size size = { t->cfg.rows ? t->cfg.rows : TABLE_ROWS, table_columns(),
                                   top_screen_utf8() };
    if (t->frames > 1)
        text_print(t->cfg.out, "\n");
    top_view_table(t->view, t->follow, &size, print_line, t);
    fflush(t->cfg.out);
}

static void draw_screen(struct top *t)
{
    if (t->screen)
        top_screen_draw(t->screen, t->view, t->follow);
}

/* Each frame that was understood; hello and bye among them. */
static void on_frame(void *ctx, const char *frame, size_t n)
{
    struct top *t = ctx;
    t->met = true;
    t->tries = 0;
    if (t->ended)
        return;
    if (t->cfg.json) {
        text_print(t->cfg.out, "%.*s\n", (int)n, frame);
        fflush(t->cfg.out);
    }
    if (follow_bye(t->follow))
        top_view_tell(t->view, follow_bye(t->follow));
    if (follow_frames(t->follow) == t->seen)
        return;
    t->seen = follow_frames(t->follow);
    t->frames++;
    top_view_tell(t->view, "");
    if (top_view_frame(t->view, t->follow, &t->err) < 0)
        end_top(t, -ERR_NOMEM);
    else if (t->plain)
        print_table(t);
    draw_screen(t);
    if (ferror(t->cfg.out))
        end_top(t, err_set(&t->err, ERR_IO, "", "nobody reads the output any more"));
    if (t->cfg.frames && t->frames >= t->cfg.frames)
        end_top(t, 0);
}

/* ---- the connection ---- */

static void write_target(void *ctx, char *buf, size_t cap)
{
    struct top *t = ctx;
    char since[FEED_POSITION_TEXT];
    follow_reset_line(t->follow);
    int n = snprintf(buf, cap,
                     "/api/1/feed.ndjson?view=functions,nodes,log&interval=%u&nodes=%u&reader=%s",
                     top_view_interval(t->view), t->cfg.nodes, t->reader);
    if (follow_position(t->follow, since))
        snprintf(buf + n, cap - (size_t)n, "&since=%s", since);
}

static bool on_bytes(void *ctx, const char *at, size_t n)
{
    struct top *t = ctx;
    struct err err = { .code = ERR_OK };
    int ret = follow_bytes(t->follow, at, n, &err);
    if (ret < 0)
        end_top(t, err_set(&t->err, err.code, err.hint, "%s", err.what));
    return ret >= 0 && !t->ended;
}

/* A feed that was never there, or refuses, is an error at once; one that goes away may come back.
 */
static unsigned on_lost(void *ctx, const struct err *why)
{
    struct top *t = ctx;
    bool patient = t->screen || (t->tries++ < PLAIN_TRIES && !follow_bye(t->follow));
    if (t->ended)
        return 0;
    if (t->met && !t->screen && follow_bye(t->follow)) {
        if (!t->cfg.json)
            text_print(t->cfg.out, "ended: %s\n", follow_bye(t->follow));
        end_top(t, 0);
        return 0;
    }
    if (!t->met || !patient) {
        end_top(t, err_set(&t->err, why->code, why->hint, "%s", why->what));
        return 0;
    }
    top_view_tell(t->view, follow_bye(t->follow) ? follow_bye(t->follow) : "no connection");
    draw_screen(t);
    return RETRY_MS;
}

/* ---- keys ---- */

static void on_keys(uv_poll_t *p, int status, int events)
{
    struct top *t = p->data;
    unsigned key;
    (void)events;
    if (status < 0) {
        end_top(t, 0); /* the terminal is gone */
        return;
    }
    while (!t->ended && top_screen_key(t->screen, &key))
        switch (top_view_key(t->view, t->follow, key)) {
        case TOP_QUIT: end_top(t, 0); break;
        case TOP_INTERVAL: top_source_again(&t->source); break;
        default: break;
        }
    if (!t->ended)
        draw_screen(t);
}

static void on_resize(uv_signal_t *s, int number)
{
    struct top *t = s->data;
    (void)number;
    if (t->screen)
        top_screen_resize(t->screen);
    draw_screen(t);
}

/* ---- life ---- */

bool top_on_terminal(void) { return isatty(STDOUT_FILENO) && isatty(STDIN_FILENO); }

static int open_screen(struct top *t, struct err *err)
{
    t->plain = !t->cfg.json;
    if (t->cfg.json || !top_on_terminal())
        return 0;
    t->plain = false;
    return top_screen_open(&t->screen, err);
}

static int open_all(struct top *t, struct err *err)
{
    uint64_t id = 0;
    if (getrandom(&id, sizeof id, 0) != sizeof id)
        id = (uint64_t)getpid();
    snprintf(t->reader, sizeof t->reader, "%016" PRIx64, id);
    int ret = follow_new(&t->follow, err);
    if (ret == 0)
        ret = top_view_new(t->cfg.interval_ms, &t->view, err);
    if (ret < 0)
        return ret;
    follow_tell(t->follow, on_frame, t);
    top_view_entries(t->view, t->cfg.rows);
    return open_screen(t, err);
}

static void watch_terminal(struct top *t)
{
    t->has_handles = true;
    uv_signal_init(t->cfg.loop, &t->resize);
    t->resize.data = t;
    uv_signal_start(&t->resize, on_resize, SIGWINCH);
    if (!t->screen)
        return;
    t->has_keys = true;
    uv_poll_init(t->cfg.loop, &t->keys, STDIN_FILENO);
    t->keys.data = t;
    uv_poll_start(&t->keys, UV_READABLE, on_keys);
}

int top_start(const struct top_config *cfg, struct top **out, struct err *err)
{
    struct top *t = calloc(1, sizeof *t);
    if (!t)
        return err_set(err, ERR_NOMEM, "close other programs", "top: out of memory");
    t->cfg = *cfg;
    int ret = open_all(t, err);
    if (ret < 0) {
        top_free(t);
        return ret;
    }
    watch_terminal(t);
    t->source.loop = cfg->loop;
    t->source.to = cfg->to;
    snprintf(t->source.token, sizeof t->source.token, "%s", cfg->token);
    t->source.ctx = t;
    t->source.events = (struct top_source_events){ write_target, on_bytes, on_lost };
    draw_screen(t);
    top_source_start(&t->source);
    *out = t;
    return 0;
}

bool top_say(struct top *t, const char *text)
{
    if (!t || !t->screen)
        return false;
    top_view_tell(t->view, text);
    draw_screen(t);
    return true;
}

void top_stop(struct top *t)
{
    if (!t || !t->has_handles)
        return;
    t->ended = true;
    t->has_handles = false;
    top_screen_close(t->screen);
    t->screen = NULL;
    uv_close((uv_handle_t *)&t->resize, NULL);
    if (t->has_keys)
        uv_close((uv_handle_t *)&t->keys, NULL);
    top_source_stop(&t->source);
}

int top_end(const struct top *t, struct err *err)
{
    if (t->ret < 0)
        return err_set(err, t->err.code, t->err.hint, "%s", t->err.what);
    return 0;
}

void top_free(struct top *t)
{
    if (!t)
        return;
    top_view_free(t->view);
    follow_free(t->follow);
    free(t);
}
