/* A J-Link that is open: setting it up, getting it back. */
#include <stdio.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/jlink.h"

enum { PROVE_MS = 300, DRAIN_MS = 20, DRAIN_READS = 64 };

static unsigned prove_ms(const struct jlink *j) { return MIN(j->reply_ms, (unsigned)PROVE_MS); }

/* ---- opening ---- */

static int get_version(struct jlink *j, unsigned timeout_ms, struct err *err)
{
    const uint8_t request = JLINK_VERSION;
    uint8_t head[2];
    int ret = jlink_ask_within(j, &request, 1, head, 2, timeout_ms, err);
    if (ret < 0)
        return err_prefix(err, ret, "firmware version");
    size_t n = le16(head);
    if (n > JLINK_TRANSFER)
        return err_set(err, ERR_PROTOCOL, "unplug the probe and plug it in again",
                       "firmware version of %zu bytes", n);
    ret = jlink_need(j, n, timeout_ms, err);
    if (ret < 0)
        return err_prefix(err, ret, "firmware version");
    snprintf(j->firmware, sizeof j->firmware, "%.*s", (int)n, (const char *)j->rest);
    return 0;
}

/* The capability of each command is checked before it is used. The order is OpenOCD's, whose
 * comments say that some probes depend on it. */
static int get_caps(struct jlink *j, struct err *err)
{
    uint8_t word[4];
    memset(j->caps, 0, sizeof j->caps);
    j->hw_major = 0;
    j->memory = 0;
    int ret = jlink_ask(j, JLINK_GET_CAPS, j->caps, 4, err);
    if (ret == 0 && jlink_can(j->caps, JLINK_CAP_EXTENDED))
        ret = jlink_ask(j, JLINK_GET_CAPS_EX, j->caps, JLINK_CAPS_BYTES, err);
    if (ret == 0 && jlink_can(j->caps, JLINK_CAP_HW_VERSION) &&
        (ret = jlink_ask(j, JLINK_GET_HW_VERSION, word, 4, err)) == 0)
        j->hw_major = le32(word) / 10000 % 100;
    if (ret == 0 && jlink_can(j->caps, JLINK_CAP_MEMORY) &&
        (ret = jlink_ask(j, JLINK_GET_MAX_MEM_BLOCK, word, 4, err)) == 0)
        j->memory = le32(word);
    return ret;
}

int jlink_get_state(struct jlink *j, struct jlink_state *state, struct err *err)
{
    uint8_t reply[8];
    int ret = jlink_ask(j, JLINK_GET_STATE, reply, sizeof reply, err);
    if (ret < 0)
        return ret;
    jlink_parse_state(reply, state);
    j->millivolts = state->millivolts;
    return 0;
}

static int set_registration(struct jlink *j, bool on, struct err *err)
{
    uint8_t request[14], reply[JLINK_REGISTRATION_MAX];
    if (!jlink_can(j->caps, JLINK_CAP_REGISTER))
        return 0;
    unsigned patience_ms = j->reply_ms;
    uint16_t handle = 0; /* the probe gives one */
    if (!on) {
        patience_ms = prove_ms(j);
        handle = j->handle;
    }
    jlink_registration(request, on, handle);
    int ret = jlink_ask_within(j, request, sizeof request, reply, JLINK_REGISTRATION_MIN,
                               patience_ms, err);
    if (ret == 0 && (ret = jlink_registration_bytes(reply, err)) > JLINK_REGISTRATION_MIN) {
        size_t more = (size_t)ret - JLINK_REGISTRATION_MIN;
        ret = jlink_need(j, more, j->reply_ms, err);
        if (ret == 0)
            jlink_take(j, reply + JLINK_REGISTRATION_MIN, more);
    }
    if (ret >= 0)
        j->handle = 0;
    if (ret >= 0 && on && (ret = jlink_registered(reply, sizeof reply, err)) > 0)
        j->handle = (uint16_t)ret;
    if (ret < 0)
        return err_prefix(err, ret, "registering");
    return 0;
}

static int ask_interfaces(struct jlink *j, uint8_t which, uint32_t *out, struct err *err)
{
    const uint8_t request[2] = { JLINK_SELECT_IF, which };
    uint8_t reply[4];
    int ret = jlink_ask_within(j, request, sizeof request, reply, sizeof reply, j->reply_ms, err);
    if (ret < 0)
        return err_prefix(err, ret, "choosing JTAG");
    *out = le32(reply);
    return 0;
}

/* A probe without that command has JTAG only. */
static int select_jtag(struct jlink *j, bool *can, struct err *err)
{
    uint32_t mask = 1u << JLINK_IF_JTAG;
    int ret = 0;
    if (jlink_can(j->caps, JLINK_CAP_SELECT_IF))
        ret = ask_interfaces(j, JLINK_IF_AVAILABLE, &mask, err);
    *can = mask >> JLINK_IF_JTAG & 1;
    return ret;
}

int jlink_drive(struct jlink *j, unsigned mask, struct err *err)
{
    static const struct {
        unsigned pin;
        uint8_t low, high; /* commands */
    } rows[] = { { JTAG_PIN_NRESET, JLINK_HW_RESET0, JLINK_HW_RESET1 },
                 { JTAG_PIN_NTRST, JLINK_HW_TRST0, JLINK_HW_TRST1 } };
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < ARRAY_LEN(rows); i++) {
        if (!(mask & rows[i].pin))
            continue;
        uint8_t command = rows[i].low;
        if (j->pins & rows[i].pin)
            command = rows[i].high;
        ret = jlink_ask(j, command, NULL, 0, err);
    }
    return ret;
}

int jlink_set_speed(struct jlink *j, uint32_t hz, struct err *err)
{
    uint16_t khz;
    uint32_t got = jlink_speed(j->base_hz, j->min_div, hz, &khz);
    const uint8_t request[3] = { JLINK_SET_SPEED, (uint8_t)khz, (uint8_t)(khz >> 8) };
    int ret = jlink_ask_within(j, request, sizeof request, NULL, 0, j->reply_ms, err);
    if (ret < 0)
        return err_prefix(err, ret, "setting TCK");
    j->wanted_hz = hz;
    j->tck_hz = got;
    jlink_set_batch(j, jlink_batch_bits(j->memory, j->max_packet, got));
    return 0;
}

static int get_speeds(struct jlink *j, struct err *err)
{
    uint8_t reply[6];
    j->base_hz = 0;
    j->min_div = 1;
    int ret = 0;
    if (jlink_can(j->caps, JLINK_CAP_SPEEDS))
        ret = jlink_ask(j, JLINK_GET_SPEEDS, reply, sizeof reply, err);
    if (ret == 0 && jlink_can(j->caps, JLINK_CAP_SPEEDS)) {
        j->base_hz = le32(reply);
        j->min_div = le16(reply + 4);
    }
    return ret;
}

/* A failure of an earlier session's writes is not ours. */
static int forget_writes(struct jlink *j, struct err *err)
{
    uint8_t status;
    if (jlink_can(j->caps, JLINK_CAP_JTAG_WRITE))
        return jlink_ask(j, JLINK_HW_JTAG_GET_RESULT, &status, 1, err);
    return 0;
}

static int start_probe(struct jlink *j, struct err *err)
{
    struct jlink_state state;
    uint32_t before;
    bool can;
    int ret = get_caps(j, err);
    if (ret == 0)
        ret = jlink_get_state(j, &state, err);
    if (ret == 0 &&
        j->handle) /* of this session, before the probe was opened again: the table is small */
        ret = set_registration(j, false, err);
    if (ret == 0)
        ret = set_registration(j, true, err);
    if (ret == 0)
        ret = select_jtag(j, &can, err);
    if (ret == 0 && !can)
        ret = err_set(err, ERR_UNSUPPORTED, "use a probe with a JTAG connector",
                      "this probe has no JTAG, only SWD or others");
    if (ret == 0 && jlink_can(j->caps, JLINK_CAP_SELECT_IF))
        ret = ask_interfaces(j, JLINK_IF_JTAG, &before, err);
    if (ret == 0)
        ret = jlink_drive(j, JTAG_PIN_NRESET | JTAG_PIN_NTRST, err);
    if (ret == 0)
        ret = forget_writes(j, err);
    if (ret == 0)
        ret = get_speeds(j, err);
    if (ret == 0)
        ret = jlink_set_speed(j, j->wanted_hz, err);
    if (ret != 0)
        return ret;
    return jlink_try_batches(j, err);
}

/* ---- connecting, and again ---- */

void jlink_disconnect(struct jlink *j)
{
    uint64_t transfers, bytes;
    if (!j->usb)
        return;
    usb_stats(j->usb, &transfers, &bytes);
    j->past_transfers += transfers;
    j->past_bytes += bytes;
    usb_close(j->usb);
    j->usb = NULL;
    for (size_t i = 0; i < JLINK_CHUNKS; i++)
        j->batch[i].flying = false;
    j->awaited = NULL;
    j->wrote = false;
}

const struct usb_interface *jlink_interface(const struct usb_info *dev, uint8_t *in, uint8_t *out,
                                            unsigned *max_packet)
{
    for (size_t i = 0; i < dev->nitfs; i++) {
        const struct usb_interface *itf = &dev->itf[i];
        *in = *out = 0;
        for (size_t e = 0; e < itf->neps; e++)
            if (itf->ep[e].type == 2 && itf->ep[e].address & 0x80)
                *in = itf->ep[e].address, *max_packet = itf->ep[e].max_packet;
            else if (itf->ep[e].type == 2)
                *out = itf->ep[e].address;
        if (itf->cls == 0xFF && itf->subclass == 0xFF && *in && *out && *max_packet)
            return itf;
    }
    return NULL;
}

static int attach_usb(struct jlink *j, struct err *err)
{
    struct usb_info dev;
    int ret = adapter_usb(&j->adapter, &dev, err);
    if (ret < 0)
        return ret;
    const struct usb_interface *itf = jlink_interface(&dev, &j->ep_in, &j->ep_out, &j->max_packet);
    if (!itf)
        return err_set(err, ERR_UNSUPPORTED, "", "the debug interface is missing");
    return usb_open(&dev, itf->number, j->probe.log, &j->usb, err);
}

/* Drops what an earlier session left in the probe, then sends a question with a known answer. The
 * port of a probe that waits for the rest of a batch is reset. */
static int prove_in_step(struct jlink *j, struct err *err)
{
    int ret = usb_drain(j->usb, j->ep_in, DRAIN_MS, DRAIN_READS, err);
    if (ret >= 0 && (ret = get_version(j, prove_ms(j), err)) == 0)
        return 0;
    if (ret == -ERR_USB)
        return ret;
    log_msg(j->probe.log, LOG_USB, "%s: silent: port reset", j->probe.name);
    ret = usb_reset(j->usb, err);
    if (ret < 0) {
        jlink_disconnect(j);
        ret = attach_usb(j, err);
    }
    if (ret >= 0)
        ret = usb_drain(j->usb, j->ep_in, DRAIN_MS, DRAIN_READS, err);
    if (ret < 0)
        return ret;
    return get_version(j, j->reply_ms, err);
}

int jlink_connect(struct jlink *j, struct err *err)
{
    jlink_disconnect(j);
    int ret = attach_usb(j, err);
    if (ret == 0)
        ret = prove_in_step(j, err);
    if (ret == 0)
        ret = start_probe(j, err);
    if (ret < 0)
        jlink_disconnect(j);
    return ret;
}

/* After a failure: back in step, or lost. Returns ret as jtag.h has it. */
int jlink_recovered(struct jlink *j, int ret, struct err *err)
{
    struct err why = { .code = ERR_OK };
    if (ret == -ERR_USAGE)
        return ret;
    if (ret == -ERR_USB) {
        jlink_disconnect(j);
        return err_prefix(err, ret, j->probe.name);
    }
    usb_cancel_all(j->usb);
    log_msg(j->probe.log, LOG_USB, "%s: %s: opening it again", j->probe.name,
            err ? err->what : "failed");
    if (jlink_connect(j, &why) < 0)
        return err_set(err, ERR_USB, why.hint, "%s: %s", j->probe.name, why.what);
    err_prefix(err, ret, j->probe.name);
    if (err)
        err->code = ERR_TIMEOUT;
    return -ERR_TIMEOUT;
}

int jlink_look(struct jlink *j, bool *can_jtag, struct err *err)
{
    int ret = attach_usb(j, err);
    if (ret == 0)
        ret = prove_in_step(j, err);
    if (ret == 0)
        ret = get_caps(j, err);
    if (ret == 0)
        ret = select_jtag(j, can_jtag, err);
    jlink_disconnect(j);
    return ret;
}

void jlink_unregister(struct jlink *j)
{
    if (j->usb && j->handle)
        set_registration(j, false, NULL);
}
