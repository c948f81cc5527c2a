/* `probeprof top`: a running bridge's profile in a terminal, as plain tables, or as its frames. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/cli/command.h"
#include "profiler/cli/top_screen.h"
#include "profiler/cli/top_source.h"
#include "profiler/cli/top_view.h"

enum {
    DEFAULT_MS = 1000,
    LEAST_MS = 50,
    MOST_MS = 10000,
    DEFAULT_NODES = 1024,
    TABLE_ROWS = 20,
    TABLE_COLUMNS = 100,
    LEAST_COLUMNS = 40,
    RETRY_MS = 1000,
    PLAIN_TRIES = 10
};

enum { OPT_INTERVAL, OPT_FRAMES, OPT_ROWS, OPT_NODES, OPT_TOKEN, OPT_JSON, OPT_HELP };

static const struct opt top_opts[] = {
    { "interval", 'd', "TIME", "between frames; default 1s, at least 50ms", OPT_INTERVAL },
    { "frames", 'n', "N", "end after so many", OPT_FRAMES },
    { "rows", 'e', "N", "functions shown at most; default: what fits, 20 in a table", OPT_ROWS },
    { "nodes", 0, "N", "call paths that are followed; default 1024, at most 65536", OPT_NODES },
    { "token-file", 0, "FILE", "has the token that a bridge beyond this machine asks for",
      OPT_TOKEN },
    { "json", 0, NULL, "pass the frames on as they come, one a line", OPT_JSON },
    { "help", 'h', NULL, "this text", OPT_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

struct top {
    struct cli *cli;
    unsigned long long interval_ns;
    unsigned long limit, rows, nodes;
    bool json, plain;
    const char *token_file;

    struct follow *follow;
    struct top_view *view;
    struct top_screen *screen; /* NULL: tables or JSON */
    struct top_source source;
    uv_loop_t loop;
    uv_poll_t keys;
    uv_signal_t signal[3];
    bool has_loop, ended, met; /* met: a connection has been there */
    char reader[17];
    uint64_t seen; /* follow_frames() of the last one shown */
    unsigned long frames;
    unsigned tries;
    int ret;
    struct err *err;
};

static int take(void *ctx, int id, const char *value, struct err *err)
{
    struct top *t = ctx;
    switch (id) {
    case OPT_INTERVAL: return opt_ns("interval", value, &t->interval_ns, err);
    case OPT_FRAMES: return opt_count("frames", value, 1, 1000000000, &t->limit, err);
    case OPT_ROWS: return opt_count("rows", value, 1, 1000000, &t->rows, err);
    case OPT_NODES: return opt_count("nodes", value, 1, FEED_NODES_MOST, &t->nodes, err);
    case OPT_TOKEN: t->token_file = value; return 0;
    case OPT_JSON: t->json = true; return 0;
    default: return 0;
    }
}

static void end(struct top *t, int ret)
{
    if (t->ended)
        return;
    t->ended = true;
    t->ret = ret;
    uv_stop(&t->loop);
}

/* ---- frames ---- */

static void print_line(void *ctx, size_t row, const struct top_line *l)
{
    const struct top *t = ctx;
    (void)row;
    text_print(t->cli->out, "%s\n", l->text);
}

static size_t table_columns(void)
{
    const char *text = getenv("COLUMNS");
    long n = text ? strtol(text, NULL, 10) : 0;
    return n >= LEAST_COLUMNS && n < TOP_LINE ? (size_t)n : TABLE_COLUMNS;
}

static void print_table(struct top *t)
{
    const struct top_size size = { t->rows ? t->rows : TABLE_ROWS, table_columns(),
                                   top_screen_utf8() };
    if (t->frames > 1)
        text_print(t->cli->out, "\n");
    top_view_table(t->view, t->follow, &size, print_line, t);
    fflush(t->cli->out);
}

static void draw(struct top *t)
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
    if (t->json) {
        text_print(t->cli->out, "%.*s\n", (int)n, frame);
        fflush(t->cli->out);
    }
    if (follow_bye(t->follow))
        top_view_tell(t->view, follow_bye(t->follow));
    if (follow_frames(t->follow) == t->seen)
        return;
    t->seen = follow_frames(t->follow);
    t->frames++;
    top_view_tell(t->view, "");
    if (top_view_frame(t->view, t->follow, t->err) < 0)
        end(t, -ERR_NOMEM);
    else if (t->plain)
        print_table(t);
    draw(t);
    if (ferror(t->cli->out))
        end(t, err_set(t->err, ERR_IO, "", "nobody reads the output any more"));
    if (t->limit && t->frames >= t->limit)
        end(t, 0);
}

/* ---- the connection ---- */

static void ask(void *ctx, char *buf, size_t cap)
{
    struct top *t = ctx;
    char since[FEED_POSITION_TEXT];
    follow_reset_line(t->follow);
    int n = snprintf(buf, cap,
                     "/api/1/feed.ndjson?view=functions,nodes,log&interval=%u&nodes=%lu&reader=%s",
                     top_view_interval(t->view), t->nodes, t->reader);
    if (follow_position(t->follow, since))
        snprintf(buf + n, cap - (size_t)n, "&since=%s", since);
}

static bool bytes(void *ctx, const char *at, size_t n)
{
    struct top *t = ctx;
    struct err err = { .code = ERR_OK };
    int ret = follow_bytes(t->follow, at, n, &err);
    if (ret < 0)
        end(t, err_set(t->err, err.code, err.hint, "%s", err.what));
    return ret >= 0 && !t->ended;
}

/* Who was never there, or refuses, is told at once; who goes away may come back. */
static unsigned lost(void *ctx, const struct err *why)
{
    struct top *t = ctx;
    bool patient = t->screen || (t->tries++ < PLAIN_TRIES && !follow_bye(t->follow));
    if (t->ended)
        return 0;
    if (t->met && !t->screen && follow_bye(t->follow)) {
        if (!t->json)
            text_print(t->cli->out, "ended: %s\n", follow_bye(t->follow));
        end(t, 0);
        return 0;
    }
    if (!t->met || !patient) {
        end(t, err_set(t->err, why->code, why->hint, "%s", why->what));
        return 0;
    }
    top_view_tell(t->view, follow_bye(t->follow) ? follow_bye(t->follow) : "no connection");
    draw(t);
    return RETRY_MS;
}

/* ---- keys and signals ---- */

static void on_keys(uv_poll_t *p, int status, int events)
{
    struct top *t = p->data;
    unsigned key;
    (void)events;
    if (status < 0) {
        end(t, 0); /* the terminal is gone */
        return;
    }
    while (!t->ended && top_screen_key(t->screen, &key))
        switch (top_view_key(t->view, t->follow, key)) {
        case TOP_QUIT: end(t, 0); break;
        case TOP_INTERVAL: top_source_again(&t->source); break;
        default: break;
        }
    if (!t->ended)
        draw(t);
}

static void on_signal(uv_signal_t *s, int number)
{
    struct top *t = s->data;
    if (number != SIGWINCH) {
        end(t, 0);
        return;
    }
    if (t->screen)
        top_screen_resize(t->screen);
    draw(t);
}

static void watch_signals(struct top *t)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGWINCH };
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        uv_signal_init(&t->loop, &t->signal[i]);
        t->signal[i].data = t;
        uv_signal_start(&t->signal[i], on_signal, numbers[i]);
    }
}

/* ---- life ---- */

static int read_token(struct top *t, struct err *err)
{
    if (!t->token_file)
        return 0;
    FILE *f = fopen(t->token_file, "re");
    bool ok = f && fgets(t->source.token, sizeof t->source.token, f);
    if (f)
        fclose(f);
    t->source.token[strcspn(t->source.token, "\r\n")] = 0;
    for (const char *p = t->source.token; ok && *p; p++)
        ok = *p > ' ' && *p < 0x7F;
    return ok && *t->source.token
               ? 0
               : err_set(err, ERR_IO, "the bridge's --http-token-file, or a copy of it",
                         "%s: no token can be read from it", t->token_file);
}

static int parse(struct top *t, int argc, char **argv, struct err *err)
{
    const char *args[1] = { NULL };
    int ret = opts_parse(top_opts, argc, argv, take, t, args, ARRAY_LEN(args), err);
    if (ret < 0)
        return ret;
    if (t->interval_ns < LEAST_MS * 1000000ULL || t->interval_ns > MOST_MS * 1000000ULL)
        return err_set(err, ERR_USAGE, "from 50ms to 10s", "--interval: that is no interval");
    ret = top_address_parse(ret ? args[0] : NULL, &t->source.to, err);
    return ret < 0 ? ret : read_token(t, err);
}

static int open_all(struct top *t, struct err *err)
{
    uint64_t id = 0;
    if (getrandom(&id, sizeof id, 0) != sizeof id)
        id = (uint64_t)getpid();
    snprintf(t->reader, sizeof t->reader, "%016" PRIx64, id);
    int ret = follow_new(&t->follow, err);
    if (ret == 0)
        ret = top_view_new((unsigned)(t->interval_ns / 1000000), &t->view, err);
    if (ret < 0)
        return ret;
    if (uv_loop_init(&t->loop) < 0)
        return err_set(err, ERR_NOMEM, "close other programs", "top: no event loop");
    t->has_loop = true;
    follow_tell(t->follow, on_frame, t);
    top_view_entries(t->view, (unsigned)t->rows);
    t->plain = !t->json;
    if (t->json || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
        return 0;
    ret = top_screen_open(&t->screen, err);
    t->plain = false;
    if (ret < 0)
        return ret;
    uv_poll_init(&t->loop, &t->keys, STDIN_FILENO);
    t->keys.data = t;
    uv_poll_start(&t->keys, UV_READABLE, on_keys);
    return 0;
}

static void close_handle(uv_handle_t *h, void *ctx)
{
    (void)ctx;
    if (!uv_is_closing(h))
        uv_close(h, NULL);
}

static void close_all(struct top *t)
{
    top_screen_close(t->screen);
    if (t->has_loop) {
        top_source_stop(&t->source);
        uv_walk(&t->loop, close_handle, NULL);
        uv_run(&t->loop, UV_RUN_DEFAULT);
        uv_loop_close(&t->loop);
    }
    top_view_free(t->view);
    follow_free(t->follow);
}

static int run_top(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct top *t = calloc(1, sizeof *t);
    if (!t)
        return err_set(err, ERR_NOMEM, "close other programs", "top: out of memory");
    t->cli = cli;
    t->err = err;
    t->interval_ns = DEFAULT_MS * 1000000ULL;
    t->nodes = DEFAULT_NODES;
    int ret = parse(t, argc, argv, err);
    if (ret == 0)
        ret = open_all(t, err);
    if (ret == 0) {
        t->source.loop = &t->loop;
        t->source.ctx = t;
        t->source.events = (struct top_source_events){ ask, bytes, lost };
        watch_signals(t);
        draw(t);
        top_source_start(&t->source);
        if (!t->ended)
            uv_run(&t->loop, UV_RUN_DEFAULT);
        ret = t->ret;
    }
    close_all(t);
    free(t);
    return ret;
}

const struct command command_top = {
    "top",
    "top [URL|SOCKET] [OPTIONS]",
    "follow a running bridge's profile in this terminal",
    top_opts,
    "URL is the address that a run says it serves its profile at, by default\n"
    "http://127.0.0.1:3334; SOCKET the path of a Unix socket. Any number may look,\n"
    "and none slows the board. h shows the keys. Off a terminal a table comes each\n"
    "interval: first what was counted so far, then what each second brought.\n"
    "\n"
    "Example, while a run goes on in another window:\n"
    "  probeprof top\n"
    "  probeprof top --json -n 2 | jq .tot\n",
    run_top,
};
