/* What the live feed costs and how soon it shows an event: a thread that makes a million events a
 * second, the queue, call tree and feed of the program, its HTTP service, and another process with
 * 100 readers, of which 20 read nothing. Beside it: no feed, no readers, and polling of the whole
 * document. usage: bench_feed [SECONDS] */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe/base/util.h"
#include "profiler/bridge/event_queue.h"
#include "profiler/cli/capture.h"
#include "profiler/cli/serve.h"

enum {
    DEPTH = 11, /* a binary tree of paths: 2,047 */
    FUNCTIONS = 300,
    WALK = 1 << 16, /* events, then it begins again */
    BATCH = 1000,   /* a millisecond's */
    MAX_BATCHES = 200000,
    READERS = 100,
    STUCK = 20,
    MAX_TIMES = 2000000,
};

/* Shared with the process that reads. */
struct shared {
    _Atomic uint64_t born_ns[MAX_BATCHES]; /* when event BATCH * i was made */
    uint32_t newest_us[MAX_TIMES], oldest_us[MAX_TIMES];
    _Atomic size_t times;
    _Atomic uint64_t frames, bytes;
    atomic_bool ready; /* all readers are connected */
};

struct bench {
    struct shared *shared;
    struct event_queue *queue;
    struct event walk[WALK];
    struct capture capture;
    struct serve serve;
    uv_loop_t loop;
    uv_timer_t take, end;
    atomic_bool stop;
    uint64_t made;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double rss_mb(void)
{
    unsigned long size = 0, rss = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%lu %lu", &size, &rss) != 2)
        rss = 0;
    if (f)
        fclose(f);
    return (double)rss * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

/* ---- the program ---- */

static uint64_t function_of(uint32_t path) { return 0x8c010000 + 0x100ull * (path % FUNCTIONS); }

/* Down and up in the tree of paths, at random. */
static void make_walk(struct bench *b)
{
    uint32_t path = 1, depth = 0, random = 1;
    for (size_t i = 0; i < WALK; i++) {
        random = random * 1664525 + 1013904223;
        bool last_ones = WALK - i <= depth;
        bool down = !last_ones && depth < DEPTH - 1 && (depth == 0 || random >> 31);
        struct event *e = &b->walk[i];
        *e = (struct event){ .flags = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2,
                             .kind = down ? EVENT_CALL : EVENT_RETURN,
                             .pc = function_of(path) + 8 };
        path = down ? 2 * path + (random >> 30 & 1) : path / 2;
        depth += down ? 1 : -1u;
        e->target = down ? function_of(path) : function_of(path) + 10;
    }
}

static void *produce_events(void *ctx)
{
    struct bench *b = ctx;
    uint64_t began = now_ns();
    while (!atomic_load(&b->stop) && b->made / BATCH < MAX_BATCHES) {
        uint64_t due = began + b->made * 1000;
        struct timespec until = { (time_t)(due / 1000000000), (long)(due % 1000000000) };
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        if (event_queue_room(b->queue) < BATCH)
            continue;
        atomic_store(&b->shared->born_ns[b->made / BATCH], now_ns());
        for (size_t left = BATCH; left;) {
            size_t n;
            struct event *space = event_queue_space(b->queue, &n);
            n = MIN(n, left);
            for (size_t i = 0; i < n; i++, b->made++) {
                space[i] = b->walk[b->made % WALK];
                space[i].c1 = b->made * 40;
                space[i].c2 = b->made / 7;
            }
            event_queue_commit(b->queue, n);
            left -= n;
        }
    }
    return NULL;
}

static void on_take(uv_timer_t *timer)
{
    struct bench *b = timer->data;
    struct event *e;
    size_t n;
    while (e = event_queue_front(b->queue, &n), n > 0) {
        n = MIN(n, 1024u);
        serve_events(&b->serve, e, n);
        capture_feed(&b->capture, e, n, NULL);
        event_queue_release(b->queue, n);
    }
}

/* ---- what the service asks ---- */

static void look_at_tree(void *ctx, struct feed *feed, struct feed_source *from,
                         struct feed_moment *now)
{
    struct bench *b = ctx;
    (void)feed;
    (void)now;
    *from = (struct feed_source){ .tree = b->capture.tree, .changes = b->capture.seen };
}

static void tell_facts(void *ctx, struct http_facts *out)
{
    (void)ctx;
    *out = (struct http_facts){ .phase = "profiling" };
}

static int snapshot_now(void *ctx, const char *file, bool marked, const struct snapshot **out,
                        struct err *err)
{
    struct bench *b = ctx;
    struct profile_info info = { .target = "bench" };
    (void)file;
    return capture_snapshot(&b->capture, &info, marked, out, err);
}

static int refuse_command(void *ctx, const struct http_command *c, struct http_ticket *t,
                          struct err *err)
{
    (void)ctx, (void)c, (void)t;
    return err_set(err, ERR_STATE, "", "no commands here");
}

static int refuse_recording(void *ctx, unsigned part, char *path, size_t cap, struct err *err)
{
    (void)ctx, (void)part, (void)path, (void)cap;
    return err_set(err, ERR_STATE, "", "not recorded");
}

static int refuse_lines(void *ctx, struct err *err)
{
    return refuse_recording(ctx, 0, NULL, 0, err);
}

static void flush_nothing(void *ctx) { (void)ctx; }

/* ---- the process that reads ---- */

struct reader {
    int fd;
    char *line; /* what is there of one */
    size_t n, cap;
    uint64_t seen; /* events of the last frame */
};

static int connect_to(unsigned port, const char *request)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0 ||
        send(fd, request, strlen(request), 0) < 0)
        _exit(3);
    return fd;
}

static uint32_t since_us(const struct shared *s, uint64_t event, uint64_t now)
{
    uint64_t born = atomic_load(&s->born_ns[event / BATCH]);
    return now > born && born ? (uint32_t)((now - born) / 1000) : 0;
}

/* A whole frame: how old are the last and the first of the events that it tells for the first time?
 */
static void take_line(struct shared *s, struct reader *r, uint64_t now)
{
    const char *e = memmem(r->line, MIN(r->n, (size_t)400), "\"e\":", 4);
    uint64_t events = e ? strtoull(e + 4, NULL, 10) : 0;
    size_t at = atomic_load(&s->times);
    atomic_fetch_add(&s->frames, 1);
    if (events > BATCH && r->seen && events > r->seen && at < MAX_TIMES) {
        s->newest_us[at] = since_us(s, events - BATCH, now);
        s->oldest_us[at] = since_us(s, r->seen, now);
        atomic_store(&s->times, at + 1);
    }
    r->seen = events ? events : r->seen;
    r->n = 0;
}

static void take_frames(struct shared *s, struct reader *r)
{
    static char buf[1 << 18];
    ssize_t n = recv(r->fd, buf, sizeof buf, MSG_DONTWAIT);
    uint64_t now = now_ns();
    if (n <= 0)
        return;
    atomic_fetch_add(&s->bytes, (uint64_t)n);
    for (char *at = buf, *end = buf + n; at < end;) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop ? stop + 1 : end) - at);
        if (r->n + len > r->cap && !(r->line = realloc(r->line, r->cap = 2 * (r->n + len))))
            _exit(4);
        memcpy(r->line + r->n, at, len);
        r->n += len;
        at += len;
        if (stop)
            take_line(s, r, now);
    }
}

static void read_all(struct shared *s, unsigned port, unsigned interval)
{
    static struct reader r[READERS];
    char request[200];
    struct epoll_event ev[READERS];
    int ep = epoll_create1(0);
    snprintf(request, sizeof request,
             "GET /api/1/feed.ndjson?view=functions&interval=%u HTTP/1.0\r\n"
             "Host: localhost:%u\r\n\r\n",
             interval, port);
    for (size_t i = 0; i < READERS; i++) {
        r[i].fd = connect_to(port, request);
        if (i >= STUCK)
            epoll_ctl(ep, EPOLL_CTL_ADD, r[i].fd,
                      &(struct epoll_event){ .events = EPOLLIN, .data.ptr = &r[i] });
    }
    atomic_store(&s->ready, true);
    for (;;) {
        int n = epoll_wait(ep, ev, READERS, 1000);
        for (int i = 0; i < n; i++)
            take_frames(s, ev[i].data.ptr);
    }
}

static void poll_document(struct shared *s, unsigned port)
{
    char request[100], buf[1 << 16];
    snprintf(request, sizeof request, "GET /profile.json HTTP/1.0\r\nHost: localhost:%u\r\n\r\n",
             port);
    atomic_store(&s->ready, true);
    for (;; usleep(100000)) {
        int fd = connect_to(port, request);
        for (ssize_t n; (n = recv(fd, buf, sizeof buf, 0)) > 0;)
            atomic_fetch_add(&s->bytes, (uint64_t)n);
        close(fd);
        atomic_fetch_add(&s->frames, 1);
    }
}

/* ---- one row ---- */

enum mode { NO_FEED, NO_READERS, AT_100_MS, AT_5_MS, POLLED };

static void on_end(uv_timer_t *timer) { uv_stop(timer->loop); }

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void show_figures(struct shared *s, const char *name, double seconds, double events,
                         double cpu, double mb)
{
    size_t n = atomic_load(&s->times);
    printf("%-34s %4.2f M events/s %6.1f %% of a core  %6.1f MB  %7.0f frames/s %7.1f MB/s", name,
           events / 1e6 / seconds, 100 * cpu / seconds, mb, (double)s->frames / seconds,
           (double)s->bytes / 1e6 / seconds);
    if (n) {
        qsort(s->newest_us, n, sizeof s->newest_us[0], by_number);
        qsort(s->oldest_us, n, sizeof s->oldest_us[0], by_number);
        printf("  newest event p50 %.1f p99 %.1f ms, oldest p50 %.1f p99 %.1f ms",
               s->newest_us[n / 2] / 1e3, s->newest_us[n * 99 / 100] / 1e3,
               s->oldest_us[n / 2] / 1e3, s->oldest_us[n * 99 / 100] / 1e3);
    }
    printf("\n");
    fflush(stdout);
}

static pid_t begin_readers(struct shared *s, enum mode mode, unsigned port)
{
    pid_t pid = mode >= AT_100_MS ? fork() : 0;
    if (mode < AT_100_MS || pid)
        return pid;
    if (mode == POLLED)
        poll_document(s, port);
    read_all(s, port, mode == AT_5_MS ? 5 : 100);
    _exit(0);
}

static void start_serving(struct bench *b, enum mode mode)
{
    struct err err = { .code = ERR_OK };
    struct serve_config cfg = {
        .loop = &b->loop,
        .source = { b, look_at_tree, tell_facts, snapshot_now, refuse_command, refuse_recording,
                    refuse_lines, NULL, flush_nothing, NULL },
        .address = "0",
        .version = "bench",
    };
    if (mode != NO_FEED && serve_start(&b->serve, &cfg, &err) < 0) {
        fprintf(stderr, "%s; %s\n", err.what, err.hint);
        exit(1);
    }
}

static void run_mode(enum mode mode, const char *name, double seconds)
{
    static struct bench b;
    pthread_t thread;
    unsigned port = 0;
    memset(&b, 0, sizeof b);
    b.shared =
        mmap(NULL, sizeof *b.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    b.queue = event_queue_new(1 << 16);
    make_walk(&b);
    uv_loop_init(&b.loop);
    if (b.shared == MAP_FAILED || !b.queue ||
        capture_open(&b.capture, NULL, &(struct recording_header){ .target = "bench" }, NULL, NULL))
        exit(1);
    capture_feed(&b.capture,
                 &(struct event){ .kind = EVENT_START,
                                  .pc = function_of(1),
                                  .flags = EVENT_HAS_PC | EVENT_HAS_C1 | EVENT_HAS_C2 },
                 1, NULL);
    start_serving(&b, mode);
    sscanf(serve_where(&b.serve), "http://localhost:%u/", &port);
    uv_timer_init(&b.loop, &b.take);
    uv_timer_init(&b.loop, &b.end);
    b.take.data = &b;
    uv_timer_start(&b.take, on_take, 1, 1);
    pid_t pid = begin_readers(b.shared, mode, port);
    pthread_create(&thread, NULL, produce_events, &b);
    do { /* until all have come, and every path is known */
        uv_timer_start(&b.end, on_end, 1000, 0);
        uv_run(&b.loop, UV_RUN_DEFAULT);
    } while (pid > 0 && !atomic_load(&b.shared->ready));
    uv_timer_start(&b.end, on_end, 1000, 0); /* what waited for them is gone */
    uv_run(&b.loop, UV_RUN_DEFAULT);
    b.shared->frames = b.shared->bytes = b.shared->times = 0;
    double cpu = cpu_s(), mb = rss_mb();
    uint64_t seen = b.capture.seen;
    uint64_t began = now_ns();
    uv_timer_start(&b.end, on_end, (uint64_t)(seconds * 1000), 0);
    uv_run(&b.loop, UV_RUN_DEFAULT);
    show_figures(b.shared, name, (double)(now_ns() - began) / 1e9, (double)(b.capture.seen - seen),
                 cpu_s() - cpu, MAX(mb, rss_mb()));
    atomic_store(&b.stop, true);
    pthread_join(thread, NULL);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    serve_stop(&b.serve);
    uv_close((uv_handle_t *)&b.take, NULL);
    uv_close((uv_handle_t *)&b.end, NULL);
    uv_run(&b.loop, UV_RUN_DEFAULT);
    uv_loop_close(&b.loop);
    capture_close(&b.capture);
    event_queue_free(b.queue);
    munmap(b.shared, sizeof *b.shared);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 10;
    printf("a million events a second, %d functions, %d paths; processor time of the main thread\n",
           FUNCTIONS, (1 << DEPTH) - 1);
    run_mode(NO_FEED, "no feed", seconds);
    run_mode(NO_READERS, "no readers", seconds);
    run_mode(AT_100_MS, "100 readers (20 stuck), 100 ms", seconds);
    run_mode(AT_5_MS, "100 readers (20 stuck), 5 ms", seconds);
    run_mode(POLLED, "/profile.json polled at 10 Hz", seconds);
    return 0;
}
