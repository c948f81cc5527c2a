/* Adapter, wire and part: opened and attached for the first time. A missing part is an error that
 * ends the run. One that is there but fails at first is tried again a few times. */
#include <string.h>
#include <time.h>

#include "probe/base/util.h"
#include "probe/host_time.h"
#include "profiler/cli/ending.h"
#include "profiler/cli/run.h"

enum { TRIES = 8, SLOW_TRIES = 2, PAUSE_FIRST_MS = 100, PAUSE_MAX_MS = 500 };
/* an adapter that fails so slowly waits inside of each try: further tries would take too long */
#define SLOW_NS 5000000000u

static void tell_found(struct run *r)
{
    for (char *line = r->found, *end; (end = strchr(line, '\n')); line = end + 1)
        run_note(r, "%.*s", (int)(end - line), line);
    r->found[0] = 0;
}

static bool is_simulated(const struct run *r) { return !strncmp(r->set.probe, "sim:", 4); }

/* A secured part is bridged all the same, detached: GDB's monitor can open it. A profile needs it
 * open. */
static int attach_target(struct run *r, struct err *err)
{
    struct err why = { .code = ERR_OK };
    int ret = r->target->ops->attach(r->target, &why);
    if (ret == -ERR_SECURED && !r->profile && !r->set.load) {
        run_found(r, "%s; %s", why.what, why.hint);
        return 0;
    }
    if (ret < 0 && err)
        *err = why;
    const char *remark = NULL;
    if (ret == 0 && r->target->ops->remark)
        remark = r->target->ops->remark(r->target);
    if (remark)
        run_found(r, "%s", remark);
    return ret;
}

/* The second adapter, on the profiling pins. */
static int open_pdo(struct run *r, struct err *err)
{
    const struct probe_config cfg = { .spec = "", .boards = r->cli->boards, .log = &r->log };
    if (!*r->set.pdo)
        return 0;
    int ret = err_prefix(err, probe_open(r->set.pdo, &cfg, &r->pdo, err), "--pdo");
    if (ret == 0 && !r->pdo->driver->pdo)
        return err_set(err, ERR_USAGE, "--pdo sigrok:DRIVER,... or file:PATH,...",
                       "--pdo %s: it cannot capture PDO and PDOCLK", r->pdo->name);
    return ret;
}

static int open_all(struct run *r, struct err *err)
{
    struct part_options opt = {
        .big_endian = r->symbols && symbols_image(r->symbols)->big_endian,
        .allow_private =
            r->set.origin[SET_PRIVATE] != ORIGIN_NONE ? r->set.allow_private : is_simulated(r),
        .bdc_fast = r->set.bdc_fast,
        .allow_security = r->set.allow_security,
    };
    struct probe_config cfg = {
        .spec = "", .speed_hz = r->set.speed_hz, .boards = r->cli->boards, .log = &r->log
    };
    int ret = open_pdo(r, err);
    if (ret == 0)
        ret = probe_open(r->set.probe, &cfg, &r->probe, err);
    if (ret == 0)
        ret = run_link(r, err);
    opt.pdo = r->pdo;
    opt.found_hz = r->found_hz;
    if (ret == 0)
        ret = r->part->open(r->part, r->probe, &opt, &r->target, err);
    if (ret == 0)
        ret = attach_target(r, err);
    if (ret >= 0)
        run_link_after(r);
    return MIN(ret, 0);
}

static void close_all(struct run *r)
{
    if (r->target)
        r->target->ops->close(r->target);
    probe_close(r->probe);
    probe_close(r->pdo);
    r->target = NULL;
    r->probe = r->pdo = NULL;
    r->found_hz = 0;
    r->unpowered = false;
}

/* A device on a bus that is found by looking: not a tty, a host or a simulated board. */
static bool on_usb(const char *probe)
{
    size_t len = strcspn(probe, ":,");
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++)
        if (strlen((*d)->name) == len && !strncmp((*d)->name, probe, len))
            return (*d)->list && !(*d)->own_spec;
    return false;
}

/* The first failure decides whether it may pass; later ones may be those of an adapter that is
 * coming back. */
static bool may_pass(const struct run *r, unsigned tried, uint64_t since, int ret)
{
    bool wire = ret == -ERR_USB || ret == -ERR_TIMEOUT || ret == -ERR_PROTOCOL;
    unsigned most = TRIES;
    if (host_ns() - since > SLOW_NS)
        most = SLOW_TRIES;
    if (!on_usb(r->set.probe) || tried + 1 >= most)
        return false;
    if (tried == 0)
        return wire ||
               ret == -ERR_NO_TARGET; /* without check sums, noise can look like a missing part */
    return wire || (!r->probe && (ret == -ERR_NOT_FOUND || ret == -ERR_STATE));
}

static void pause_before(unsigned tried)
{
    unsigned ms = MIN((unsigned)PAUSE_FIRST_MS << tried, (unsigned)PAUSE_MAX_MS);
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000l }, NULL);
}

static bool asked_to_end(const struct run *r) { return ending_look(r->cli->ending).asked > 0; }

int run_open(struct run *r, struct err *err)
{
    struct err why = { .code = ERR_OK };
    uint64_t since = host_ns();
    ending_stage(r->cli->ending, "while the adapter was opened");
    int ret = open_all(r, &why);
    for (unsigned tried = 0; ret < 0 && !asked_to_end(r) && may_pass(r, tried, since, ret);
         tried++) {
        if (tried == 0 && ret != -ERR_NO_TARGET)
            run_note(r, "%s; trying again", why.what);
        r->found[0] = 0;
        close_all(r);
        pause_before(tried);
        ret = open_all(r, &why);
    }
    tell_found(r);
    if (asked_to_end(r))
        ret = err_set(&why, ERR_CANCELLED, "the board goes on as it did",
                      "ended on request, before anything was begun");
    if (ret < 0 && err)
        *err = why;
    return ret;
}
