/* Opening and closing a CMSIS-DAP probe: what it is, what it reports, and which of that is used. */
#include "probe/cmsis_dap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

enum { IDENTIFY_TRIES = 3, REVIVE_US = 100000, REVIVE_TRIES = 10 };

static int refuse_damaged(struct dap *d, struct err *err)
{
    d->broken = true;
    return err_set(err, ERR_PROTOCOL, "another USB port, newer firmware of the probe",
                   "%s: what it says of itself is damaged", d->probe.name);
}

static int info_text(struct dap *d, uint8_t id, char *to, size_t cap, struct err *err)
{
    const uint8_t req[] = { DAP_INFO, id };
    uint8_t answer[DAP_MAX_PACKET];
    int n = dap_ask(d, req, sizeof req, answer, 0, err);
    if (n < 0)
        return n == -ERR_UNSUPPORTED ? 0 : n;
    if (answer[1] > n - 2)
        return refuse_damaged(d, err);
    snprintf(to, cap, "%.*s", (int)answer[1], (const char *)answer + 2);
    for (char *c = to; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return 0;
}

static int info_capabilities(struct dap *d, unsigned *can, struct err *err)
{
    static const uint8_t req[] = { DAP_INFO, DAP_INFO_CAPABILITIES };
    uint8_t answer[DAP_MAX_PACKET];
    int n = dap_ask(d, req, sizeof req, answer, 0, err);
    if (n < 0)
        return n;
    if (answer[1] < 1 || answer[1] > n - 2)
        return refuse_damaged(d, err);
    *can = answer[2];
    return 0;
}

/* Answers to DAP_Info look alike: an answer counts when the next question gets the answer that is
 * known already. */
static int identify_once(struct dap *d, struct err *err)
{
    unsigned count, can = 0;
    d->can = 0;
    int ret = info_capabilities(d, &can, err);
    if (ret == 0)
        ret = info_text(d, DAP_INFO_FIRMWARE, d->firmware, sizeof d->firmware, err);
    /* the product's own version; older firmware has that of the protocol's only */
    if (ret == 0 && !d->firmware[0])
        ret = info_text(d, DAP_INFO_PROTOCOL, d->firmware, sizeof d->firmware, err);
    if (ret < 0)
        return ret;
    ret = dap_prove_info(d, DAP_INFO_COUNT, 1, 0, &count, err);
    if (ret < 0)
        return ret;
    if (ret > 0 || count != d->count)
        return refuse_damaged(d, err);
    d->can = can;
    return 0;
}

static int identify_probe(struct dap *d, struct err *err)
{
    struct err why;
    int ret = -ERR_PROTOCOL;
    for (unsigned i = 0; i < IDENTIFY_TRIES && (ret == -ERR_PROTOCOL || ret == -ERR_TIMEOUT); i++) {
        if (d->broken && (ret = dap_recover(d, err)) < 0)
            return ret;
        ret = identify_once(d, &why);
    }
    if (ret < 0 && err)
        *err = why;
    return ret;
}

/* The limits that the firmware reports, as far as they are plausible: one buffer and 64 bytes are
 * always there. */
static void set_limits(struct dap *d)
{
    size_t most = DAP_MAX_PACKET;
    if (d->link->t->reports)
        most = d->link->packet;
    d->link->packet = d->size < 16 ? MIN(most, (size_t)DAP_MIN_PACKET) : MIN((size_t)d->size, most);
    if (d->link->t->reports)
        d->link->packet = most; /* reports have one length, whatever the firmware says */
    d->lim.packet = d->link->packet;
    if (d->link->t->reports && d->size >= 16)
        d->lim.packet = MIN(d->lim.packet, (size_t)d->size);
    d->lim.endpoint = d->link->endpoint;
    dap_set_token(d);
    d->depth = MIN(MAX(d->count, 1u), (unsigned)DAP_SLOTS);
    if (d->quirk->in_flight)
        d->depth = MIN(d->depth, (unsigned)d->quirk->in_flight);
    if (d->most_in_flight)
        d->depth = MIN(d->depth, d->most_in_flight);
}

/* Opens the interface and finds the probe in step; a HID that does not answer is opened once more
 * after a reset of its port. */
static int open_in_step(struct dap *d, const struct usb_info *dev, const struct dap_place *place,
                        struct err *err)
{
    int ret = place->t->open(dev, place->interface, d->probe.log, &d->link, err);
    if (ret < 0)
        return ret;
    ret = dap_recover(d, err);
    if (ret == 0 || !place->t->revive)
        return ret;
    dap_stop(d);
    if (place->t->revive(dev, place->interface, err) < 0)
        return -ERR_USB;
    for (unsigned i = 0; i < REVIVE_TRIES && !d->link; i++) {
        usleep(REVIVE_US);
        ret = place->t->open(dev, place->interface, d->probe.log, &d->link, err);
    }
    if (ret < 0)
        return ret;
    return dap_recover(d, err);
}

int dap_start(struct dap *d, const struct usb_info *dev, struct err *err)
{
    struct dap_place place;
    if (!dap_find(dev, d->only, &place))
        return err_set(err, ERR_UNSUPPORTED, "leave out v1 or v2",
                       "%s: no such interface of CMSIS-DAP", d->probe.name);
    d->quirk = dap_quirks(dev);
    d->can = d->count = d->size = 0;
    d->connected = d->broken = d->tap_unknown = d->was_reset = false;
    d->head = d->flying = 0;
    int ret = open_in_step(d, dev, &place, err);
    if (ret == 0)
        ret = identify_probe(d, err);
    if (ret < 0) {
        dap_stop(d);
        return ret;
    }
    set_limits(d);
    log_msg(d->probe.log, LOG_USB, "%s: %s, packets of %zu bytes, %u in flight, firmware %s%s%s",
            d->probe.name, place.t->name, d->lim.packet, d->depth,
            d->firmware[0] ? d->firmware : "?", text_if(d->quirk->why, "; "),
            text_or(d->quirk->why, ""));
    return 0;
}

void dap_stop(struct dap *d)
{
    static const uint8_t req[] = { DAP_DISCONNECT };
    uint8_t answer[DAP_MAX_PACKET];
    uint64_t transfers, bytes;
    if (!d->link)
        return;
    d->link->t->cancel(d->link);
    d->flying = 0;
    /* some firmware hangs if it comes without a DAP_Connect (probe-rs issue 2950) */
    if (d->connected && !d->broken)
        dap_command(d, req, sizeof req, answer, 0, NULL);
    if (d->best_hz)
        log_msg(d->probe.log, LOG_USB, "%s: clocks came at up to %llu kHz, %u kHz were asked for",
                d->probe.name, (unsigned long long)(d->best_hz / 1000), d->hz / 1000);
    d->link->t->stats(d->link, &transfers, &bytes);
    d->old_transfers += transfers;
    d->old_bytes += bytes;
    d->link->t->close(d->link);
    d->link = NULL;
    d->connected = false;
}
