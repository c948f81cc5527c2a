/* Requests to an open CMSIS-DAP probe and their answers, one at a time; in step again after
 * anything went wrong, and its JTAG port, which has to be set up again then. */
#include "probe/cmsis_dap.h"

#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"

/* clang-format off */
enum {
    ANSWER_MS = 2000, /* the usual deadline; a command that may legally take longer adds to it */
    PROVE_MS = 500, PROVE_READS = 16, PROVE_TRIES = 3
};
/* clang-format on */

unsigned dap_usual_ms(const struct dap *d)
{
    unsigned its_own = EITHER(d->quirk->timeout_ms, (unsigned)ANSWER_MS);
    if (d->timeout_ms)
        return d->timeout_ms;
    return its_own;
}

unsigned dap_deadline_ms(const struct dap *d, uint64_t clocks)
{
    return dap_usual_ms(d) + (unsigned)(clocks * 2000 / MAX(d->hz, 1u));
}

static int refuse_closed(const struct dap *d, struct err *err)
{
    return err_set(err, ERR_USB, "plug it in again", "%s: not open", d->probe.name);
}

/* ---- one at a time ---- */

static int ask_once(struct dap *d, const uint8_t *req, size_t len, uint8_t *in, unsigned ms,
                    struct err *err)
{
    const struct dap_transport *t = d->link->t;
    memcpy(d->packet[0].out + 1, req, len);
    int ret = t->write(d->link, d->packet[0].out, len, ms, err);
    if (ret < 0)
        return ret;
    return t->read(d->link, in, ms, err);
}

void dap_set_token(struct dap *d)
{
    if (d->link->exact)
        d->lim.token = DAP_TOKEN_LENGTH;
    else if (d->can & DAP_CAN_ATOMIC)
        d->lim.token = DAP_TOKEN_WRAP;
    else
        d->lim.token = DAP_TOKEN_NONE;
}

/* Every other command is sent inside of DAP_ExecuteCommands where the probe has that, so that a
 * repeated answer is not mistaken for the next one. Returns the length of the answer without that;
 * 0: it belongs to something else. */
static int ask_marked(struct dap *d, const uint8_t *req, size_t len, uint8_t *answer, unsigned ms,
                      struct err *err)
{
    uint8_t wrapped[64] = { DAP_EXECUTE, 1 }, *in = d->packet[0].in;
    bool wrap = d->can & DAP_CAN_ATOMIC && d->odd && len + 2 <= sizeof wrapped;
    const uint8_t *sent = req;
    size_t head = 0;
    if (wrap) {
        head = 2;
        memcpy(wrapped + head, req, len);
        sent = wrapped;
    }
    int n = ask_once(d, sent, len + head, in, ms, err);
    d->odd = !d->odd;
    if (n < 0)
        return n;
    if (wrap && n >= 1 && in[0] == DAP_UNKNOWN) { /* it reported that it has the command */
        d->can &= ~(unsigned)DAP_CAN_ATOMIC;
        dap_set_token(d);
        return ask_marked(d, req, len, answer, ms, err);
    }
    if ((size_t)n <= head || (wrap && (in[0] != DAP_EXECUTE || in[1] != 1)))
        return 0;
    n = (int)MIN((size_t)n - head, (size_t)DAP_MAX_PACKET);
    memcpy(answer, in + head, (size_t)n);
    return n;
}

int dap_command(struct dap *d, const uint8_t *req, size_t len, uint8_t *answer, unsigned ms,
                struct err *err)
{
    if (!d->link)
        return refuse_closed(d, err);
    int n = ask_marked(d, req, len, answer, dap_deadline_ms(d, 0) + ms, err);
    d->broken = true; /* until the answer is seen to be one */
    if (n < 0)
        return n;
    bool unknown = n >= 1 && answer[0] == DAP_UNKNOWN;
    if (!unknown && (n < 2 || answer[0] != req[0]))
        return err_set(err, ERR_PROTOCOL,
                       "if this repeats: another USB port, newer firmware of the probe",
                       "%s: command %02x was answered by %02x (%d bytes)", d->probe.name, req[0],
                       n > 0 ? answer[0] : 0, n);
    d->broken = false;
    if (unknown)
        return err_set(err, ERR_UNSUPPORTED, "try newer firmware of the probe",
                       "%s: its firmware does not know command %02x", d->probe.name, req[0]);
    return n;
}

int dap_ask(struct dap *d, const uint8_t *req, size_t len, uint8_t *answer, unsigned ms,
            struct err *err)
{
    struct err why;
    int n = dap_command(d, req, len, answer, ms, &why);
    if (n >= 0 || !d->broken || d->recovering) {
        if (n < 0 && err)
            *err = why;
        return n;
    }
    log_msg(d->probe.log, LOG_USB, "%s: asked again after: %s", d->probe.name, why.what);
    int ret = dap_recover(d, err);
    if (ret == 0 && d->was_reset) {
        d->broken = true;
        return err_set(err, ERR_USB, "check the USB cable and hub", "%s: reset, after: %s",
                       d->probe.name, why.what);
    }
    if (ret < 0)
        return ret;
    return dap_command(d, req, len, answer, ms, err);
}

/* ---- in step ---- */

/* The bulk interface's messages end with their last byte (CMSIS-DAP, "USB packets"); some firmware
 * sends whole packets all the same, of the endpoint's or of the message's size, which the first
 * answer says. */
static bool is_padded(struct dap *d, const uint8_t *in, uint8_t id, int len)
{
    if (id != DAP_INFO_SIZE || (len != (int)d->link->endpoint && len != le16(in + 2)))
        return false;
    if (d->link->exact)
        log_msg(d->probe.log, LOG_USB, "%s: its answers are padded to %d bytes", d->probe.name,
                len);
    d->link->exact = false;
    d->link->pad = (size_t)len;
    return true;
}

int dap_prove_info(struct dap *d, uint8_t id, uint8_t n, unsigned reads, unsigned *value,
                   struct err *err)
{
    const uint8_t req[] = { DAP_INFO, id };
    uint8_t *in = d->packet[0].in;
    struct err why;
    unsigned ms = MIN(dap_usual_ms(d), (unsigned)PROVE_MS);
    int ret = ask_once(d, req, sizeof req, in, ms, &why);
    for (unsigned i = 0; ret >= 0; i++) {
        if (ret >= 2 + n && in[0] == DAP_INFO && in[1] == n &&
            (!d->link->exact || ret == 2 + n || is_padded(d, in, id, ret))) {
            if (n == 2)
                *value = le16(in + 2);
            else
                *value = in[2];
            return 0;
        }
        if (i == reads)
            return 1;
        log_msg(d->probe.log, LOG_USB, "%s: dropped a stale answer %02x (%d bytes)", d->probe.name,
                ret ? in[0] : 0, ret);
        ret = d->link->t->read(d->link, in, ms, &why);
    }
    if (ret != -ERR_USB)
        return 1;
    if (err)
        *err = why;
    return ret;
}

/* The probe answers in the order of the requests. So: drop what is there; ask something, which also
 * ends a queue of commands that a host left behind (DAP_QueueCommands); drop answers until one
 * fits; then the next must fit the next question, and none may follow. */
static int in_step(struct dap *d, struct err *err)
{
    unsigned size = 0, count = 0;
    for (unsigned i = 0; i < PROVE_TRIES; i++) {
        int ret = d->link->t->drain(d->link, err);
        if (ret == -ERR_USB)
            return ret;
        ret = dap_prove_info(d, DAP_INFO_SIZE, 2, PROVE_READS, &size, err);
        if (ret == 0)
            ret = dap_prove_info(d, DAP_INFO_COUNT, 1, 0, &count, err);
        if (ret < 0)
            return ret;
        if (ret > 0 || (d->size && (size != d->size || count != d->count)))
            continue;
        ret = d->link->t->drain(d->link, err);
        if (ret < 0)
            return ret;
        if (ret > 0)
            continue;
        d->size = size;
        d->count = count;
        d->broken = false;
        return 0;
    }
    return err_set(err, ERR_TIMEOUT, "unplug the adapter, plug it in again",
                   "%s: does not answer DAP_Info", d->probe.name);
}

/* Five clocks of TMS high, one low: Test-Logic-Reset from anywhere, then Run-Test/Idle. */
static int tap_to_idle(struct dap *d, struct err *err)
{
    static const uint8_t req[] = { DAP_JTAG_SEQUENCE, 2, 0x45, 0x00, 0x01, 0x00 };
    uint8_t answer[DAP_MAX_PACKET];
    int n = dap_command(d, req, sizeof req, answer, dap_deadline_ms(d, 6), err);
    d->tap_unknown = n < 0;
    return MIN(n, 0);
}

/* The last step: what the probe was set to is gone then. */
static int reset_port(struct dap *d, struct err *err)
{
    bool was_connected = d->connected;
    if (!d->link->t->reset)
        return -ERR_TIMEOUT;
    d->connected = false;
    d->was_reset = d->tap_unknown = was_connected;
    int ret = d->link->t->reset(d->link, err);
    if (ret == 0)
        ret = in_step(d, err);
    if (ret == 0 && was_connected)
        return dap_connect(d, err);
    return ret;
}

int dap_recover(struct dap *d, struct err *err)
{
    if (!d->link)
        return refuse_closed(d, err);
    d->link->t->cancel(d->link);
    d->flying = 0;
    d->broken = d->recovering = true;
    int ret = in_step(d, err);
    if (ret < 0)
        ret = reset_port(d, err);
    if (ret == 0 && d->connected && d->tap_unknown)
        ret = tap_to_idle(d, err);
    d->recovering = false;
    if (ret == 0)
        return 0;
    d->broken = true;
    if (err)
        err->code = ERR_USB;
    return -ERR_USB;
}

/* ---- JTAG port ---- */

static int swd_only(const struct dap *d, struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED,
                   "use an adapter with JTAG: many low-cost CMSIS-DAP probes have SWD alone",
                   "%s: this probe speaks SWD only, not JTAG", d->probe.name);
}

static int set_port(struct dap *d, struct err *err)
{
    static const uint8_t req[] = { DAP_CONNECT, DAP_PORT_JTAG };
    uint8_t answer[DAP_MAX_PACKET];
    int n = dap_ask(d, req, sizeof req, answer, 0, err);
    if (n < 0)
        return n;
    d->connected = answer[1] == DAP_PORT_JTAG;
    if (!d->connected)
        return err_set(err, ERR_UNSUPPORTED,
                       "is its JTAG connector free, and the target powered? plug it in again",
                       "%s: the probe refused to switch to JTAG (answered %u)", d->probe.name,
                       answer[1]);
    return 0;
}

int dap_set_clock(struct dap *d, uint32_t hz, struct err *err)
{
    uint8_t req[5] = { DAP_SWJ_CLOCK }, answer[DAP_MAX_PACKET];
    put_le32(req + 1, hz);
    int n = dap_ask(d, req, sizeof req, answer, 0, err);
    if (n < 0)
        return n;
    if (answer[1] != 0)
        return err_set(err, ERR_UNSUPPORTED, "try another --speed",
                       "%s: the probe refused a clock of %u Hz", d->probe.name, hz);
    d->hz = hz;
    return 0;
}

int dap_set_pins(struct dap *d, unsigned mask, unsigned value, unsigned *got, struct err *err)
{
    unsigned select = bits_if(mask & JTAG_PIN_NTRST, DAP_PIN_NTRST) |
                      bits_if(mask & JTAG_PIN_NRESET, DAP_PIN_NRESET);
    unsigned out = bits_if(value & JTAG_PIN_NTRST, DAP_PIN_NTRST) |
                   bits_if(value & JTAG_PIN_NRESET, DAP_PIN_NRESET);
    uint8_t req[7] = { DAP_SWJ_PINS, (uint8_t)(out & select), (uint8_t)select },
            answer[DAP_MAX_PACKET];
    int n = dap_ask(d, req, sizeof req, answer, 0, err);
    if (n < 0)
        return n;
    unsigned levels = bits_if(answer[1] & DAP_PIN_NTRST, JTAG_PIN_NTRST) |
                      bits_if(answer[1] & DAP_PIN_NRESET, JTAG_PIN_NRESET);
    d->pins = (d->pins & ~mask) | (value & mask);
    d->seen_high |= levels;
    if (got)
        *got = levels;
    return 0;
}

int dap_connect(struct dap *d, struct err *err)
{
    if (!(d->can & DAP_CAN_JTAG))
        return swd_only(d, err);
    int ret = set_port(d, err);
    if (ret == 0)
        ret = dap_set_clock(d, d->hz, err);
    if (ret == 0)
        ret = dap_set_pins(d, JTAG_PIN_NTRST | JTAG_PIN_NRESET, JTAG_PIN_NTRST | JTAG_PIN_NRESET,
                           NULL, err);
    return ret;
}
