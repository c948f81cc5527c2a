/* `probeprof top`: a running bridge's profile in a terminal, as plain tables, or as its frames. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/command.h"
#include "profiler/cli/top_run.h"
#include "profiler/feed/feed.h"

enum { DEFAULT_MS = 1000, LEAST_MS = 50, MOST_MS = 10000, DEFAULT_NODES = 1024 };

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

struct job {
    struct top_config cfg;
    unsigned long long interval_ns;
    unsigned long rows, nodes;
    const char *token_file;
    char token[128];
    uv_loop_t loop;
    uv_signal_t signal[2];
};

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    struct job *j = ctx;
    switch (id) {
    case OPT_INTERVAL: return opt_ns("interval", value, &j->interval_ns, err);
    case OPT_FRAMES: return opt_count("frames", value, 1, 1000000000, &j->cfg.frames, err);
    case OPT_ROWS: return opt_count("rows", value, 1, 1000000, &j->rows, err);
    case OPT_NODES: return opt_count("nodes", value, 1, FEED_NODES_MOST, &j->nodes, err);
    case OPT_TOKEN: j->token_file = value; return 0;
    case OPT_JSON: j->cfg.json = true; return 0;
    default: return 0;
    }
}

static int read_token(struct job *j, struct err *err)
{
    if (!j->token_file)
        return 0;
    FILE *f = fopen(j->token_file, "re");
    bool ok = f && fgets(j->token, sizeof j->token, f);
    if (f)
        fclose(f);
    j->token[strcspn(j->token, "\r\n")] = 0;
    for (const char *p = j->token; ok && *p; p++)
        ok = *p > ' ' && *p < 0x7F;
    if (!ok || !*j->token)
        return err_set(err, ERR_IO, "the bridge's --http-token-file, or a copy of it",
                       "%s: no token can be read from it", j->token_file);
    return 0;
}

/* What is given and has no effect. */
static int refuse_useless(const struct job *j, struct err *err)
{
    if (j->cfg.json && j->rows)
        return err_set(err, ERR_USAGE, "leave one of them out",
                       "--json passes on what comes: it has no use for --rows");
    if (!j->cfg.json && j->nodes && !top_on_terminal())
        return err_set(err, ERR_USAGE, "leave it out, or --json",
                       "a table has no call paths, and this is no terminal: it has no use for "
                       "--nodes");
    return 0;
}

static int parse_command(struct job *j, int argc, char **argv, struct err *err)
{
    const char *args[1] = { NULL };
    int ret = opts_parse(top_opts, argc, argv, take_option, j, args, ARRAY_LEN(args), err);
    if (ret < 0)
        return ret;
    if (refuse_useless(j, err) < 0)
        return -ERR_USAGE;
    if (j->interval_ns < LEAST_MS * 1000000ULL || j->interval_ns > MOST_MS * 1000000ULL)
        return err_set(err, ERR_USAGE, "from 50ms to 10s", "--interval: that is no interval");
    j->cfg.interval_ms = (unsigned)(j->interval_ns / 1000000);
    j->cfg.rows = (unsigned)j->rows;
    j->cfg.nodes = (unsigned)EITHER(j->nodes, (unsigned long)DEFAULT_NODES);
    j->cfg.token = j->token;
    ret = top_address_parse(ret ? args[0] : NULL, &j->cfg.to, err);
    if (ret < 0)
        return ret;
    return read_token(j, err);
}

static void on_signal(uv_signal_t *s, int number)
{
    (void)number;
    uv_stop(s->loop);
}

static void on_top_ended(void *ctx) { uv_stop(ctx); }

static void watch_signals(struct job *j)
{
    static const int numbers[] = { SIGINT, SIGTERM };
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        uv_signal_init(&j->loop, &j->signal[i]);
        uv_signal_start(&j->signal[i], on_signal, numbers[i]);
    }
}

static void close_handle(uv_handle_t *h, void *ctx)
{
    (void)ctx;
    if (!uv_is_closing(h))
        uv_close(h, NULL);
}

static int run_top(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct job j = {
        .cfg = { .out = cli->out, .over = on_top_ended, .loop = &j.loop, .ctx = &j.loop },
        .interval_ns = DEFAULT_MS * 1000000ULL
    };
    struct top *top = NULL;
    int ret = parse_command(&j, argc, argv, err);
    if (ret < 0)
        return ret;
    if (uv_loop_init(&j.loop) < 0)
        return err_set(err, ERR_NOMEM, "close other programs", "top: no event loop");
    ret = top_start(&j.cfg, &top, err);
    if (ret == 0) {
        watch_signals(&j);
        uv_run(&j.loop, UV_RUN_DEFAULT);
        ret = top_end(top, err);
    }
    top_stop(top);
    uv_walk(&j.loop, close_handle, NULL);
    uv_run(&j.loop, UV_RUN_DEFAULT);
    uv_loop_close(&j.loop);
    top_free(top);
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
