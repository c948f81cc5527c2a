#include "profiler/cli/serve.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/serve_token.h"
#include "profiler/feed/timeline.h"

enum { LAST_FRAME_MS = 300, LAST_BLOCK_MS = 2000, STREAM_MS = 20 };
static const uint64_t second_ns = 1000000000, ms_ns = 1000000;

static uint64_t new_epoch(void)
{
    uint64_t epoch = 0;
    if (getrandom(&epoch, sizeof epoch, GRND_NONBLOCK) != sizeof epoch || !epoch)
        epoch = (uint64_t)time(NULL) << 24 ^ uv_hrtime(); /* another one than a moment ago */
    return epoch | 1;
}

int64_t serve_wall_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- folds ---- */

static void fold_feed(struct serve *s, uint64_t now_ns, bool settled)
{
    struct feed_source from = { 0 };
    struct feed_moment now = { .ns = now_ns, .wall_ms = serve_wall_ms() };
    s->folded_ns = now_ns;
    s->cfg.source.look(s->cfg.source.ctx, s->feed, &from, &now);
    from.settled = settled;
    feed_fold(s->feed, &from, &now, NULL); /* without memory the state is the last one still */
}

/* Until the next fold is due. */
static uint64_t fold_wait_ns(const struct serve *s, uint64_t now_ns)
{
    uint64_t keen = readers_interval_ns(http_api_readers(s->api));
    uint64_t interval = MIN(keen, second_ns);
    /* at multiples of the interval, where readers are due */
    uint64_t due =
        MAX((s->folded_ns / interval + 1) * interval, s->folded_ns + feed_pause_ns(s->feed));
    return EXCESS(due, now_ns);
}

static void schedule_turn(struct serve *s, uint64_t now_ns);

/* This thread's CPU time: other work of the machine is not the feed's cost. */
static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * second_ns + (uint64_t)t.tv_nsec;
}

static void fold_and_encode(struct serve *s, uint64_t now_ns)
{
    uint64_t began = cpu_ns();
    fold_feed(s, now_ns, false);
    readers_serve(http_api_readers(s->api), now_ns);
    feed_took(s->feed, cpu_ns() - began);
}

static void take_turn(struct serve *s)
{
    uint64_t now = uv_hrtime();
    if (fold_wait_ns(s, now) == 0)
        fold_and_encode(s, now);
    if (http_api_raws(s->api) && now - s->flushed_ns >= second_ns) {
        s->flushed_ns = now;
        s->cfg.source.flush(s->cfg.source.ctx);
    }
    http_api_serve(s->api);
    door_tick(s->door, now);
    schedule_turn(s, now);
}

static void on_due(uv_timer_t *timer) { take_turn(timer->data); }

static void on_work(uv_poll_t *poll, int status, int events)
{
    struct serve *s = poll->data;
    (void)status;
    (void)events;
    http_run(http_api_http(s->api), uv_hrtime());
    schedule_turn(s, uv_hrtime()); /* a new reader may be due at once */
}

static void schedule_turn(struct serve *s, uint64_t now_ns)
{
    uint64_t wait = fold_wait_ns(s, now_ns);
    wait = MIN(wait, readers_wait_ns(http_api_readers(s->api), now_ns));
    if (http_api_raws(s->api) || http_api_wants_lines(s->api))
        wait = MIN(wait, STREAM_MS * ms_ns);
    wait = MIN(wait, http_wait_ms(http_api_http(s->api)) * ms_ns);
    uv_update_time(s->cfg.loop);
    uv_timer_start(&s->due, on_due, (wait + ms_ns - 1) / ms_ns, 0);
}

void serve_now(struct serve *s)
{
    if (!s->started)
        return;
    fold_feed(s, uv_hrtime(), true);
    http_api_serve(s->api);
    schedule_turn(s, uv_hrtime());
}

void serve_restart(struct serve *s)
{
    if (!s->started)
        return;
    feed_restart(s->feed, new_epoch());
    serve_now(s);
}

/* ---- what the service asks its owner ---- */

static void fold_if_due(void *ctx)
{
    struct serve *s = ctx;
    uint64_t now = uv_hrtime();
    if (now - s->folded_ns < MAX(feed_pause_ns(s->feed), READER_LEAST_MS * ms_ns))
        return;
    uint64_t began = cpu_ns();
    fold_feed(s, now, false);
    feed_took(s->feed, cpu_ns() - began);
}

static void owner_facts(void *ctx, struct http_facts *out)
{
    struct serve *s = ctx;
    s->cfg.source.facts(s->cfg.source.ctx, out);
}

static int owner_snapshot(void *ctx, const char *file, bool marked, const struct snapshot **out,
                          struct err *err)
{
    struct serve *s = ctx;
    return s->cfg.source.snapshot(s->cfg.source.ctx, file, marked, out, err);
}

struct thread_work {
    uv_work_t request;
    struct http_work *work;
};

static void run_work(uv_work_t *request)
{
    struct thread_work *t = request->data;
    t->work->run(t->work);
}

static void end_work(uv_work_t *request, int status)
{
    struct thread_work *t = request->data;
    (void)status;
    t->work->end(t->work);
    free(t);
}

static int owner_work(void *ctx, struct http_work *w)
{
    struct serve *s = ctx;
    struct thread_work *t = calloc(1, sizeof *t);
    if (!t)
        return -ERR_NOMEM;
    t->work = w;
    t->request.data = t;
    if (uv_queue_work(s->cfg.loop, &t->request, run_work, end_work) == 0)
        return 0;
    free(t);
    return -ERR_NOMEM;
}

static int owner_control(void *ctx, const struct http_command *c, struct http_ticket *ticket,
                         struct err *err)
{
    struct serve *s = ctx;
    return s->cfg.source.control(s->cfg.source.ctx, c, ticket, err);
}

static int owner_recording(void *ctx, unsigned part, char *path, size_t cap, struct err *err)
{
    struct serve *s = ctx;
    return s->cfg.source.recording(s->cfg.source.ctx, part, path, cap, err);
}

static int owner_lines(void *ctx, struct err *err)
{
    struct serve *s = ctx;
    return s->cfg.source.lines(s->cfg.source.ctx, err);
}

static uint64_t monotonic_ns(void *ctx)
{
    (void)ctx;
    return uv_hrtime();
}

static void log_line(void *ctx, const char *line)
{
    struct serve *s = ctx;
    if (s->cfg.source.log)
        s->cfg.source.log(s->cfg.source.ctx, line);
}

static void owner_code(void *ctx, struct program_code *out)
{
    struct serve *s = ctx;
    s->cfg.source.code(s->cfg.source.ctx, out);
}

static void add_connection(void *ctx, int fd, const char *peer, bool unix_socket, bool loopback)
{
    struct serve *s = ctx;
    http_add(http_api_http(s->api), fd, peer, unix_socket, loopback, uv_hrtime());
    http_run(http_api_http(s->api), uv_hrtime());
    schedule_turn(s, uv_hrtime());
}

/* ---- coming and going ---- */

static int open_door(struct serve *s, struct err *err)
{
    size_t n;
    const struct door_config cfg = { s->cfg.loop, add_connection, s, log_line };
    int ret = door_open(&cfg, s->cfg.address, SERVE_PORT, &s->door, err);
    if (ret < 0)
        return err_prefix(err, ret, "feed");
    const struct net_listener *l = door_listeners(s->door, &n);
    if (*l[0].path)
        snprintf(s->where, sizeof s->where, "socket %s", l[0].path);
    else
        snprintf(s->where, sizeof s->where, "http://localhost:%u/", l[0].port);
    for (size_t i = 0; i < n; i++)
        if (!l[i].loopback)
            snprintf(s->where, sizeof s->where, "http://%s/", l[i].name);
    return 0;
}

static bool is_exposed(const struct serve *s)
{
    size_t n, i = 0;
    const struct net_listener *l = door_listeners(s->door, &n);
    while (i < n && l[i].loopback)
        i++;
    return i < n;
}

/* Beyond this machine nobody is let in who has none. */
static int get_token(struct serve *s, struct err *err)
{
    if (s->cfg.token_file && *s->cfg.token_file)
        return token_read(s->cfg.token_file, s->token, err);
    s->token_made = is_exposed(s);
    if (!s->token_made)
        return 0;
    return token_make(s->token, err);
}

/* The names of this server for the guard: the addresses that were bound, but for wildcards. */
static void fill_rules(struct serve *s, struct guard_rules *rules)
{
    size_t n;
    const struct net_listener *l = door_listeners(s->door, &n);
    *rules = (struct guard_rules){ .port = l[0].port, .token = text_given(s->token) };
    for (size_t i = 0; i < n && !*l[i].path; i++) {
        snprintf(s->bound[i], sizeof s->bound[i], "%.*s",
                 (int)(strrchr(l[i].name, ':') - l[i].name), l[i].name);
        if (strcmp(s->bound[i], "0.0.0.0") != 0 && strcmp(s->bound[i], "[::]") != 0)
            rules->bound[rules->nbound++] = s->bound[i];
    }
    if (s->cfg.host && *s->cfg.host)
        rules->proxied[rules->nproxied++] = s->cfg.host;
}

static int open_service(struct serve *s, struct err *err)
{
    struct guard_rules rules;
    int ret = get_token(s, err);
    if (ret < 0)
        return ret;
    fill_rules(s, &rules);
    return http_api_new(
        &(struct http_api_config){
            .feed = s->feed,
            .owner = { s, fold_if_due, owner_facts, owner_snapshot, owner_control, owner_recording,
                       owner_lines, monotonic_ns, owner_work, log_line, owner_code },
            .rules = rules,
            .version = s->cfg.version,
            .page = text_given(s->cfg.page),
        },
        &s->api, err);
}

static int watch_server(struct serve *s, struct err *err)
{
    if (uv_poll_init(s->cfg.loop, &s->work, http_fd(http_api_http(s->api))) < 0)
        return err_set(err, ERR_IO, "raise the limit on open files (ulimit -n)",
                       "feed: its server cannot be watched");
    uv_timer_init(s->cfg.loop, &s->due);
    s->has_handles = true;
    s->work.data = s->due.data = s;
    uv_poll_start(&s->work, UV_READABLE, on_work);
    return 0;
}

int serve_start(struct serve *s, const struct serve_config *cfg, struct err *err)
{
    *s = (struct serve){ .cfg = *cfg };
    int ret = open_door(s, err);
    if (ret == 0)
        ret = feed_new(new_epoch(), &s->feed, err);
    if (ret == 0)
        ret = open_service(s, err);
    if (ret == 0)
        ret = watch_server(s, err);
    if (ret < 0) {
        serve_stop(s);
        return ret;
    }
    s->started = true;
    take_turn(s);
    return 0;
}

/* Lets readers take the last state; those that do not read are waited for no longer than that. */
static void let_finish(struct serve *s)
{
    uint64_t began = uv_hrtime();
    serve_now(s);
    http_api_finish(s->api);
    while ((readers_lag(http_api_readers(s->api)) && uv_hrtime() - began < LAST_FRAME_MS * ms_ns) ||
           (http_api_raws(s->api) && uv_hrtime() - began < LAST_BLOCK_MS * ms_ns)) {
        poll(&(struct pollfd){ http_fd(http_api_http(s->api)), POLLIN, 0 }, 1, 2);
        http_api_serve(s->api);
    }
}

void serve_stop(struct serve *s)
{
    if (s->started)
        let_finish(s);
    if (s->has_handles) {
        uv_close((uv_handle_t *)&s->work, NULL);
        uv_close((uv_handle_t *)&s->due, NULL);
    }
    door_close(s->door);
    http_api_free(s->api);
    feed_free(s->feed);
    s->has_handles = s->started = false;
    s->door = NULL;
    s->api = NULL;
    s->feed = NULL;
}

const char *serve_secret(const struct serve *s)
{
    if (s->token_made)
        return s->token;
    return NULL;
}

const char *serve_where(const struct serve *s)
{
    if (s->started)
        return s->where;
    return "";
}

struct feed *serve_feed(const struct serve *s)
{
    if (s->started)
        return s->feed;
    return NULL;
}

void serve_events(struct serve *s, const struct event *events, size_t n)
{
    uint64_t first, end;
    if (!s->started)
        return;
    if (!readers_count(http_api_readers(s->api))) {
        s->unkept += n;
        return;
    }
    feed_events_kept(s->feed, &first, &end);
    if (s->unkept && first != end)
        feed_events(s->feed,
                    &(struct event){ .kind = EVENT_LOST,
                                     .cause = TIMELINE_UNKEPT,
                                     .flags = EVENT_AMOUNT_BOUND,
                                     .lost_events = s->unkept },
                    1);
    s->unkept = 0;
    feed_events(s->feed, events, n); /* without memory there is no timeline */
}

bool serve_wants_lines(const struct serve *s) { return s->started && http_api_wants_lines(s->api); }

void serve_line(struct serve *s, const char *text) { http_api_line(s->api, text); }

void serve_note(struct serve *s, const char *kind, const char *text)
{
    if (s->started)
        feed_log(s->feed, &(struct feed_log_entry){
                              .kind = kind, .text = text, .wall_ms = serve_wall_ms() });
}

void serve_done(struct serve *s, struct http_ticket *ticket, int ret, const struct err *err)
{
    if (s->started)
        http_api_done(s->api, ticket, ret, err);
}
