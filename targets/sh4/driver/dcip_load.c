/* dcload-ip brings the agent: finds, loads, compares, executes, reboots. docs/sh4-agent.md, 10.
 * VERS with address 0, the number of a tool, has every version do as the oldest: chunks of 1024
 * bytes, port 31313 (2.0 and later have others for tools that say 2). LBIN (address, size) comes
 * back; PBIN is a chunk, unanswered; DBIN tells the first chunk that has not come, or size 0.
 * EXEC (address, 1: calls are told) comes back, and is ignored while a program runs. RBOT is
 * unanswered. Source: as sh4/driver/dcip.c, and host-src/tool/dc-tool.c. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "probe/base/bytes.h"
#include "probe/base/log.h"
#include "probe/base/text.h"
#include "probe/base/util.h"
#include "targets/sh4/driver/dcip.h"
#include "targets/sh4/driver/driver.h"

/* clang-format off */
enum {
    HELLOS = 6, REBOOT_HELLOS = 24, TRIES = 6, LOADS = 3, ROUNDS = 3,
        ENTRY = 16 /* of the agent: what a loader jumps to */,
    BOX_BYTES = 4 * SH4_BOX_ANSWER, NEVER = 0x7FFFFFFF
};
/* clang-format on */
static const struct stream_ops *stream_of(const struct sh4_link *l) { return l->p->driver->stream; }
static uint64_t link_time(const struct sh4_link *l) { return stream_of(l)->now_ns(l->p); }

static int ask_version(struct sh4_link *l, unsigned tries, struct err *err)
{
    static const struct sh4_dcip_command version = { "VERS", 0, 0 };
    uint8_t d[SH4_DCIP_DATAGRAM];
    size_t n = 0;
    l->ip->looking = false;
    int ret = sh4_dcip_command(l, &version, tries, d, &n, err);
    if (ret <= 0)
        return ret;
    size_t len = MIN(n - SH4_DCIP_HEAD, sizeof l->ip->version - 1);
    memcpy(l->ip->version, d + SH4_DCIP_HEAD, len);
    l->ip->version[len] = 0;
    log_msg(l->p->log, LOG_WIRE, "%s: it says: %s", l->p->name, l->ip->version);
    if (strncasecmp(l->ip->version, "dcload-ip", 9))
        return err_set(err, ERR_PROTOCOL, "is it the Dreamcast's address?",
                       "%s: answers, but not as dcload-ip", l->p->name);
    return 1;
}

/* ---- loading ---- */

/* Whatever chunks were on their way before, only what is in memory counts. */
static int load_agent(struct sh4_link *l, uint32_t to, const uint8_t *image, size_t n,
                      struct err *err)
{
    uint8_t *back = malloc(n);
    int ret = 0;
    if (!back)
        ret = err_set(err, ERR_NOMEM, "", "dcload-ip: no memory");
    bool same = false;
    for (int i = 0; ret >= 0 && !same && i < LOADS; i++) {
        ret = sh4_dcip_store(l, to, image, n, err);
        if (ret == 0)
            ret = sh4_dcip_fetch(l, to, back, n, TRIES + (unsigned)(n / SH4_DCIP_CHUNK), err);
        if (ret == 0)
            ret = sh4_dcip_silent(l, "reading back", err);
        same = ret > 0 && !memcmp(back, image, n);
    }
    free(back);
    if (ret >= 0 && !same)
        return err_set(err, ERR_PROTOCOL,
                       "is there RAM that nothing else uses? --agent-ram names another place",
                       "%s: what dcload-ip has is not what was sent, %d times running", l->p->name,
                       LOADS);
    return MIN(ret, 0);
}

/* ---- starting ---- */

/* Waits until the agent has said that it waits, or until the time of this try is over. */
static int hear_agent(struct sh4_link *l, unsigned try, struct err *err)
{
    uint64_t end = link_time(l) + sh4_dcip_patience(l, try);
    while (!l->halted && link_time(l) < end) {
        int ret = sh4_stream_wait(l, sh4_dcip_patience(l, 0) / 8, err);
        if (ret < 0)
            return ret;
    }
    return l->halted;
}

/* Sends EXEC again only if the box shows that the agent has not begun. 1: the agent waits; 0: the
 * loader does not start it. */
static int execute_agent(struct sh4_link *l, struct err *err)
{
    uint8_t d[SH4_DCIP_HEAD], box[BOX_BYTES];
    int ret = 0;
    for (unsigned i = 0; ret == 0 && i < TRIES; i++) {
        sh4_dcip_head(d, "EXEC", l->ip->base + ENTRY, 1);
        ret = stream_of(l)->write(l->p, d, sizeof d, 0, err);
        if (ret == 0)
            ret = hear_agent(l, i, err);
        if (ret)
            break;
        ret = sh4_dcip_fetch(l, l->ip->base + sh4_agent_dcip.box, box, sizeof box, TRIES, err);
        if (ret > 0) {
            ret = 0;
            if (le32(box)) /* a look takes it */
                ret = hear_agent(l, TRIES, err);
        }
    }
    return ret;
}

static uint8_t *make_image(uint32_t base, size_t *n)
{
    *n = sh4_agent_dcip.size;
    uint8_t *image = malloc(*n);
    if (image)
        sh4_agent_place(&sh4_agent_dcip, base, false, image);
    return image;
}

static int bring_agent_up(struct sh4_link *l, struct err *err)
{
    size_t n;
    uint8_t *image = make_image(l->ip->base, &n);
    if (!image)
        return err_set(err, ERR_NOMEM, "", "dcload-ip: no memory");
    sh4_dcip_forget(l);
    l->halted = l->left = false;
    l->in_len = 0;
    int ret = load_agent(l, l->ip->base, image, n, err);
    if (ret == 0)
        ret = execute_agent(l, err);
    free(image);
    if (ret > 0)
        log_msg(l->p->log, LOG_TARGET, "%s: agent loaded by %s, %zu bytes", l->p->name,
                l->ip->version, n);
    if (ret < 0)
        return err_prefix(err, ret, "loading the agent");
    return ret;
}

/* An agent may wait since a session that was lost. A box that says so may be older than the loader,
 * and then nobody takes the reply. */
static int found_waiting(struct sh4_link *l, struct err *err)
{
    uint8_t id[8], box[BOX_BYTES];
    int ret = sh4_dcip_fetch(l, l->ip->base + 4, id, sizeof id, TRIES, err);
    if (ret > 0 && (le32(id) != SH4_AGENT_ID || le32(id + 4) != SH4_AGENT_VERSION))
        return 0;
    if (ret > 0)
        ret = sh4_dcip_fetch(l, l->ip->base + sh4_agent_dcip.box, box, sizeof box, TRIES, err);
    if (ret > 0)
        ret = sh4_dcip_reattach(l, box, err);
    if (ret <= 0)
        return ret;
    return hear_agent(l, TRIES, err);
}

static int nobody_answers(struct sh4_link *l, struct err *err)
{
    return err_set(err, ERR_NO_TARGET,
                   "is dcload-ip's screen there, and is this its address? a program that runs, or "
                   "has taken the network adapter over, cannot be "
                   "reached: reset the Dreamcast",
                   "%s: no answer from dcload-ip", l->p->name);
}

static int loader_is_busy(struct sh4_link *l, struct err *err)
{
    return err_set(err, ERR_STATE, "reset the Dreamcast, or end dc-tool and run `dc-tool -r`",
                   "%s: dcload-ip runs a program that waits for another tool", l->p->name);
}

int sh4_dcip_attach(struct sh4_target *t, struct err *err)
{
    struct sh4_link *l = &t->link;
    if (t->base.big_endian)
        return err_set(err, ERR_USAGE, "leave the byte order out",
                       "dcload-ip runs on little-endian boards only");
    l->ip->base = (t->opt.agent_ram & 0x1FFFFC00) | 0x80000000;
    int ret = ask_version(l, HELLOS, err);
    if (ret == 0)
        return nobody_answers(l, err);
    if (ret < 0)
        return ret;
    ret = found_waiting(l, err);
    if (ret == 0)
        ret = bring_agent_up(l, err);
    if (ret == 0)
        ret = loader_is_busy(l, err);
    if (ret < 0)
        return ret;
    return sh4_stream_halted(t, err);
}

int sh4_dcip_restart(struct sh4_target *t, bool reboot, struct err *err)
{
    struct sh4_link *l = &t->link;
    uint8_t d[SH4_DCIP_HEAD];
    int ret = 0;
    sh4_dcip_head(d, "RBOT", 0, 0);
    for (int i = 0; ret == 0 && i < ROUNDS; i++) {
        if (reboot)
            ret = stream_of(l)->ask(l->p, d, sizeof d, true, err);
        else
            ret = 0;
        if (ret == 0)
            /* an adapter that is set up again takes seconds to find its network */
            ret = ask_version(l, REBOOT_HELLOS, err);
        if (ret == 0)
            return nobody_answers(l, err);
        if (ret < 0)
            return ret;
        ret = bring_agent_up(l, err);
    }
    if (ret == 0)
        ret = loader_is_busy(l, err);
    if (ret < 0)
        return ret;
    return sh4_stream_halted(t, err);
}

int sh4_dcip_leave(struct sh4_target *t, struct err *err)
{
    const uint32_t never[] = { NEVER, NEVER };
    t->link.ip->leaving = true;
    return sh4_agent_write(t, t->agent.base + t->agent.layout->polls, 4, never, 2, err);
}
