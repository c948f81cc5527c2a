/* --top: the run's own feed on its own terminal, by a connection like any other reader's. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "profiler/cli/run.h"
#include "profiler/cli/top_run.h"
#include "profiler/feed/feed.h"

enum { TOP_MS = 1000 };

/* q: as Ctrl-C. A terminal or a feed that is gone: the run goes on without. */
static void on_top_ended(void *ctx)
{
    struct run *r = ctx;
    struct err err = { .code = ERR_OK };
    int ret = top_end(r->top, &err);
    run_top_end(r);
    if (ret < 0)
        run_note(r, "--top: %s", err.what);
    else
        kill(getpid(), SIGINT);
}

void run_top_begin(struct run *r)
{
    static const char socket[] = "socket ";
    const char *where = serve_where(&r->serve);
    struct err err = { .code = ERR_OK };
    if (!r->set.top)
        return;
    if (!*where || !top_on_terminal()) {
        run_note(r, "--top: there is no %s; the run goes on without",
                 *where ? "terminal" : "feed to show (--http)");
        return;
    }
    if (strncmp(where, socket, sizeof socket - 1) == 0)
        where += sizeof socket - 1;
    struct top_config cfg = { .loop = &r->loop,
                              .out = r->cli->out,
                              .token = r->serve.token,
                              .interval_ms = TOP_MS,
                              .nodes = FEED_NODES_DEFAULT,
                              .over = on_top_ended,
                              .ctx = r };
    int ret = top_address_parse(where, &cfg.to, &err);
    if (ret == 0)
        ret = top_start(&cfg, &r->top, &err);
    if (ret < 0)
        run_note(r, "--top: %s; the run goes on without", err.what);
    r->set.quiet |= ret == 0;
}

void run_top_end(struct run *r) { top_stop(r->top); }
