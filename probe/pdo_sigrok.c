#include "probe/pdo_sigrok.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "probe/host_time.h"

#define NS 1000000000u
enum {
    START_S = 10,
    STOP_S = 5,
    CATCH_UP_S = 2
}; /* some devices are loaded with firmware as they start */
#define LEAST_WAIT_NS 20000000u
#define MOST_WAIT_NS  500000000u

static struct sigrok_probe *sigrok_of(struct probe *p) { return (struct sigrok_probe *)p; }

static struct timespec in_seconds(int clock, int s)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += s;
    return t;
}

/* ---- the session's thread ---- */

static void put_edges(struct sigrok_probe *p, size_t n)
{
    pthread_mutex_lock(&p->lock);
    pdo_queue_put(&p->queue, p->batch, n);
    pthread_mutex_unlock(&p->lock);
}

static void take_samples(struct sigrok_probe *p, const uint8_t *bytes, size_t n)
{
    while (n) {
        size_t taken,
            edges = pdo_samples_feed(&p->samples, bytes, n, p->batch, SIGROK_BATCH, &taken);
        bytes += taken * p->samples.unit;
        n -= taken;
        if (edges)
            put_edges(p, edges);
    }
    uint64_t now = host_ns();
    pthread_mutex_lock(&p->lock);
    p->tick = p->samples.tick;
    p->gap_ns = p->packet_ns ? MAX(p->gap_ns, now - p->packet_ns) : 0;
    p->packet_ns = now;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void on_packet(const struct sr_dev_inst *device, const struct sr_datafeed_packet *packet,
                      void *ctx)
{
    struct sigrok_probe *p = ctx;
    const struct sr_datafeed_logic *logic = packet->payload;
    (void)device;
    if (packet->type != SR_DF_LOGIC || !logic->unitsize)
        return;
    if (!p->samples.unit && logic->unitsize <= PDO_UNIT_MAX &&
        MAX(p->bit[0], p->bit[1]) < 8u * logic->unitsize)
        pdo_samples_init(&p->samples, logic->unitsize, p->bit[0], p->bit[1]);
    if (p->samples.unit == logic->unitsize) {
        take_samples(p, logic->data, logic->length / logic->unitsize);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->too_narrow = true;
    pthread_mutex_unlock(&p->lock);
    p->api.sr_session_stop(p->session);
}

static void set_phase(struct sigrok_probe *p, enum sigrok_phase phase, int result)
{
    pthread_mutex_lock(&p->lock);
    p->phase = phase;
    p->result = result;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

/* libsigrok waits in a GLib loop. It gets one of its own, so that no other program part runs in
 * it. */
static void *run_session(void *arg)
{
    struct sigrok_probe *p = arg;
    GMainContext *loop = p->api.g_main_context_new();
    p->api.g_main_context_push_thread_default(loop);
    int ret = p->api.sr_session_start(p->session);
    if (ret == SR_OK) {
        set_phase(p, SIGROK_STREAMING, SR_OK);
        ret = p->api.sr_session_run(p->session);
    }
    set_phase(p, SIGROK_ENDED, ret);
    p->api.g_main_context_pop_thread_default(loop);
    p->api.g_main_context_unref(loop);
    return NULL;
}

/* ---- the link ---- */

/* False: the thread does not end. Then it keeps what it has. */
static bool end_thread(struct sigrok_probe *p)
{
    struct timespec until = in_seconds(CLOCK_REALTIME, STOP_S);
    if (!p->has_thread)
        return true;
    if (p->session)
        p->api.sr_session_stop(p->session);
    p->hung = pthread_timedjoin_np(p->thread, NULL, &until) != 0;
    p->has_thread = p->hung;
    return !p->hung;
}

static int sigrok_stop(struct probe *probe, struct err *err)
{
    struct sigrok_probe *p = sigrok_of(probe);
    if (p->hung || !end_thread(p))
        return err_set(err, ERR_TIMEOUT, "unplug it", "%s: the capture does not end",
                       p->probe.name);
    if (p->session)
        p->api.sr_session_destroy(p->session);
    p->session = NULL;
    p->phase = SIGROK_IDLE;
    return 0;
}

static void forget_capture(struct sigrok_probe *p)
{
    p->samples = (struct pdo_samples){ 0 };
    p->queue = (struct pdo_queue){ .edge = p->queue.edge, .cap = SIGROK_QUEUE };
    p->tick = p->seen = p->packet_ns = p->gap_ns = 0;
    p->too_narrow = false;
    p->phase = SIGROK_STARTING;
    p->result = SR_OK;
}

static int new_session(struct sigrok_probe *p, struct err *err)
{
    int ret = p->api.sr_session_new(p->context, &p->session);
    if (ret == SR_OK)
        ret = p->api.sr_session_dev_add(p->session, p->device);
    if (ret == SR_OK)
        ret = p->api.sr_session_datafeed_callback_add(p->session, on_packet, p);
    if (ret == SR_OK)
        return 0;
    return err_set(err, ERR_USB, "unplug it and plug it in again", "%s: no capture: %s",
                   p->probe.name, p->api.sr_strerror(ret));
}

static int wait_begun(struct sigrok_probe *p, struct err *err)
{
    struct timespec until = in_seconds(CLOCK_MONOTONIC, START_S);
    int late = 0;
    pthread_mutex_lock(&p->lock);
    while (p->phase == SIGROK_STARTING && !late)
        late = pthread_cond_timedwait(&p->changed, &p->lock, &until);
    bool failed = p->phase == SIGROK_ENDED && p->result != SR_OK;
    int result = p->result;
    pthread_mutex_unlock(&p->lock);
    if (late)
        return err_set(err, ERR_TIMEOUT, "unplug it and plug it in again",
                       "%s: the capture does not begin", p->probe.name);
    if (failed)
        return err_set(
            err, ERR_USB, "unplug it and plug it in again; try sigrok-cli with the same device",
            "%s: the capture does not begin: %s", p->probe.name, p->api.sr_strerror(result));
    return 0;
}

static int sigrok_start(struct probe *probe, uint64_t *tick_hz, struct err *err)
{
    struct sigrok_probe *p = sigrok_of(probe);
    int ret = sigrok_stop(probe, err);
    if (ret == 0 && !p->device)
        ret = err_set(err, ERR_USB, "is it plugged in?", "%s: it is not open", p->probe.name);
    if (ret == 0)
        ret = new_session(p, err);
    if (ret < 0)
        return ret;
    forget_capture(p);
    p->has_thread = pthread_create(&p->thread, NULL, run_session, p) == 0;
    if (p->has_thread)
        ret = wait_begun(p, err);
    else
        ret = err_set(err, ERR_NOMEM, "close other programs", "%s: no thread", p->probe.name);
    if (ret < 0) {
        sigrok_stop(probe, NULL);
        return ret;
    }
    *tick_hz = p->rate_hz;
    return 0;
}

static int refuse_ended(struct sigrok_probe *p, struct err *err)
{
    if (p->too_narrow)
        return err_set(err, ERR_PROTOCOL, "wire the pins to lower channels",
                       "%s: its samples do not hold the channels asked for", p->probe.name);
    return err_set(
        err, ERR_USB,
        "look at its cable; if its buffer ran over, a lower rate= or another USB port helps",
        "%s: the capture ended by itself after %.3g s%s%s", p->probe.name,
        (double)p->tick / (double)p->rate_hz, text_if(p->result != SR_OK, ": "),
        p->result == SR_OK ? "" : p->api.sr_strerror(p->result));
}

static int sigrok_read(struct probe *probe, pdo_edge *out, size_t cap, uint64_t *lost,
                       struct err *err)
{
    struct sigrok_probe *p = sigrok_of(probe);
    pthread_mutex_lock(&p->lock);
    size_t n = pdo_queue_take(&p->queue, out, MIN(cap, (size_t)1 << 30), lost);
    p->seen = p->queue.n ? PDO_TICK(out[n - 1]) : p->tick;
    int ret = n || p->phase != SIGROK_ENDED ? (int)n : refuse_ended(p, err);
    pthread_mutex_unlock(&p->lock);
    return ret;
}

static uint64_t sample_hz(struct probe *probe) { return sigrok_of(probe)->rate_hz; }
static uint64_t sigrok_seen(struct probe *probe) { return sigrok_of(probe)->seen; }

/* No driver reports how late its samples are: we wait for the samples of twice the longest gap
 * between two packets. */
static int catch_up(struct probe *probe, struct err *err)
{
    struct sigrok_probe *p = sigrok_of(probe);
    struct timespec until = in_seconds(CLOCK_MONOTONIC, CATCH_UP_S);
    int late = 0;
    pthread_mutex_lock(&p->lock);
    uint64_t wait = MIN(MAX(2 * p->gap_ns, LEAST_WAIT_NS), MOST_WAIT_NS);
    uint64_t enough = p->tick + (uint64_t)((unsigned __int128)wait * p->rate_hz / NS);
    while (p->phase == SIGROK_STREAMING && p->tick < enough && !late)
        late = pthread_cond_timedwait(&p->changed, &p->lock, &until);
    pthread_mutex_unlock(&p->lock);
    if (late)
        return err_set(err, ERR_USB, "look at its cable", "%s: no more samples come",
                       p->probe.name);
    return 0;
}

const struct pdo_ops sigrok_pdo = { .start = sigrok_start,
                                    .read = sigrok_read,
                                    .stop = sigrok_stop,
                                    .sample_hz = sample_hz,
                                    .seen = sigrok_seen,
                                    .catch_up = catch_up };

/* ---- the driver ---- */

static void close_probe(struct probe *probe)
{
    struct sigrok_probe *p = sigrok_of(probe);
    if (!p || sigrok_stop(probe, NULL) < 0) /* a thread that does not end keeps all of it */
        return;
    sigrok_close_device(p);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p->queue.edge);
    free(p);
}

static struct sigrok_probe *new_probe(void)
{
    pthread_condattr_t attr;
    struct sigrok_probe *p = calloc(1, sizeof *p);
    pdo_edge *room = malloc(SIGROK_QUEUE * sizeof *room);
    if (!p || !room) {
        free(p);
        free(room);
        return NULL;
    }
    p->queue = (struct pdo_queue){ .edge = room, .cap = SIGROK_QUEUE };
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &attr);
    pthread_condattr_destroy(&attr);
    return p;
}

static int open_probe(const struct probe_config *cfg, struct probe **out, struct err *err)
{
    struct sigrok_spec spec;
    int ret = sigrok_spec_parse(cfg->spec, &spec, err);
    if (ret < 0)
        return ret;
    struct sigrok_probe *p = new_probe();
    if (!p)
        return err_set(err, ERR_NOMEM, "close other programs", "sigrok: out of memory");
    p->probe.driver = &sigrok_driver;
    p->probe.log = cfg->log;
    p->spec = spec;
    snprintf(p->probe.name, sizeof p->probe.name, "sigrok:%.24s%s%.30s", spec.driver,
             text_if(*spec.conn, ":"), spec.conn);
    ret = sigrok_load(&p->api, err);
    if (ret == 0)
        ret = sigrok_open_device(p, err);
    if (ret < 0) {
        close_probe(&p->probe);
        return ret;
    }
    *out = &p->probe;
    return 0;
}

static int sigrok_reopen(struct probe *probe, struct err *err)
{
    int ret = sigrok_stop(probe, err);
    if (ret < 0)
        return ret;
    return sigrok_open_device(sigrok_of(probe), err);
}

static int scan_analysers(struct adapter_list *out, struct err *err)
{
    return sigrok_scan(&sigrok_driver, out, err);
}

const struct probe_driver sigrok_driver = {
    .name = "sigrok",
    .help = "--pdo: a logic analyser on S12Z's PDO and PDOCLK: "
            "sigrok:fx2lafw,pdo=D0,pdoclk=D1,rate=24M; list --analysers",
    .own_spec = true,
    .scan = scan_analysers,
    .open = open_probe,
    .close = close_probe,
    .reopen = sigrok_reopen,
    .pdo = &sigrok_pdo,
};
