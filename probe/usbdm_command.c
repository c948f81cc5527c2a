/* One command to a USBDM pod and its answer.
 *
 * One at a time: the firmware takes command and answer in one buffer. The answer's read is on the
 * bus before it. V4 firmware marks an answer with its command's bit 7, which alternates; V5 with
 * two bits that count. Source: podonoghue/usbdm-firmware, USBDM_JMxx_V4_12; usbdm-kinetis; the
 * host's low_level_usb.cpp. */
#include "probe/usbdm.h"

#include <string.h>

#include "probe/base/log.h"
#include "probe/base/util.h"
#include "probe/host_time.h"

enum { FIRST_PART = 62, STALE_MS = 100 };
enum { BUSY_LIMIT_MS = 4000, BUSY_MOST_MS = 256 };

static int send_v4(struct usbdm *u, size_t len, struct err *err)
{
    uint8_t second[USBDM_MOST];
    int ret = pod_send(&u->pod, u->out, MIN(len, (size_t)FIRST_PART), err);
    if (ret < 0 || len <= FIRST_PART)
        return ret;
    second[0] = 0;
    memcpy(second + 1, u->out + FIRST_PART, len - FIRST_PART);
    return pod_send(&u->pod, second, 1 + len - FIRST_PART, err);
}

static int send_v5(struct usbdm *u, size_t len, struct err *err)
{
    int ret = pod_send(&u->pod, u->out, len, err);
    if (ret < 0 || len % u->pod.max_packet)
        return ret;
    return pod_send(&u->pod, u->out, 0, err);
}

/* An answer, those that say "busy" waited out; each time twice as long. */
static int wait_answer(struct usbdm *u, struct err *err)
{
    unsigned waited = 0, pause = 1;
    for (;;) {
        int n = pod_fetch(&u->pod, u->pod.timeout_ms, err);
        if (n < 0)
            return n;
        if (n < 1)
            return err_set(err, ERR_PROTOCOL, "unplug the pod and plug it in again",
                           "an empty answer");
        if (u->in[0] != USBDM_RC_BUSY)
            return n;
        if (waited > BUSY_LIMIT_MS)
            return err_set(err, ERR_TIMEOUT, "unplug the pod if this stays",
                           "the pod has been busy for %u ms", waited);
        host_wait(&u->pod.probe, pause * UINT64_C(1000000), err);
        waited += pause;
        pause = MIN(2 * pause, (unsigned)BUSY_MOST_MS);
        if ((n = pod_post(&u->pod, u->in, sizeof u->in, err)) < 0)
            return n;
    }
}

/* An answer to another command is dropped, once: it was left over. */
static int own_answer(struct usbdm *u, struct err *err)
{
    int n = wait_answer(u, err);
    if (n < 0 || (u->in[0] & USBDM_MARK) == u->mark)
        return n;
    log_msg(u->pod.probe.log, LOG_USB,
            "%s: an answer to another command (%02x, %02x is due): dropped", u->pod.probe.name,
            u->in[0], u->mark);
    n = pod_post(&u->pod, u->in, sizeof u->in, err);
    if (n == 0)
        n = pod_fetch(&u->pod, STALE_MS, err);
    if (n >= 1 && (u->in[0] & USBDM_MARK) != u->mark)
        n = err_set(err, ERR_PROTOCOL, "unplug the pod and plug it in again",
                    "answers to other commands");
    return n;
}

int usbdm_describe(unsigned rc, unsigned command, struct err *err)
{
    static const struct {
        unsigned rc;
        enum err_code code;
        const char *what, *hint;
    } rows[] = {
        { 1, ERR_PROTOCOL, "illegal parameters", "look for newer firmware" },
        { 2, ERR_PROTOCOL, "failed", "power-cycle board and pod" },
        { 4, ERR_UNSUPPORTED, "the firmware has no such command", "look for newer firmware" },
        { USBDM_RC_NO_CONNECTION, ERR_NO_TARGET, "no connection to the part",
          "check target power and the BKGD line" },
        { USBDM_RC_UNKNOWN_TARGET, ERR_UNSUPPORTED, "not with this kind of part",
          "look for newer firmware" },
        { USBDM_RC_NO_TX, ERR_UNSUPPORTED, "the BDC clock is too fast for this pod",
          "monitor bdc fast off" },
        { USBDM_RC_NO_RX, ERR_UNSUPPORTED, "the BDC clock is too fast for this pod",
          "monitor bdc fast off" },
        { USBDM_RC_ENABLE_FAILED, ERR_PROTOCOL, "BDC cannot be enabled", "monitor reset halt" },
        { USBDM_RC_RESET_FALL, ERR_NO_TARGET, "RESET does not fall",
          "look at what drives the RESET pin" },
        { USBDM_RC_BKGD, ERR_NO_TARGET, "BKGD stays low",
          "look for a short of BKGD to ground, or another pod on the line" },
        { USBDM_RC_SYNC, ERR_NO_TARGET, "SYNC: no answer",
          "check target power, the BKGD line and the RESET line" },
        { USBDM_RC_SPEED, ERR_NO_TARGET, "the BDC clock is not known",
          "check target power and the BKGD line" },
        { USBDM_RC_VDD_NOT_PRESENT, ERR_NO_TARGET, "the target has no power",
          "switch the board on; look at the VDD pin of the BDM connector" },
        { USBDM_RC_ACK, ERR_TIMEOUT, "no ACK", "try again" },
        { USBDM_RC_RESET_RISE, ERR_NO_TARGET, "RESET stays low",
          "let go of the reset button; look at what drives the RESET pin" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].rc == rc)
            return err_set(err, rows[i].code, rows[i].hint, "command %u: %s", command,
                           rows[i].what);
    return err_set(err, ERR_PROTOCOL, "power-cycle board and pod", "command %u: the pod's error %u",
                   command, rc);
}

int usbdm_ask(struct usbdm *u, enum usbdm_command command, size_t len, size_t want, struct err *err)
{
    u->mark = u->v5 ? (uint8_t)(u->mark + 0x40) : u->mark ^ 0x80;
    if (command == USBDM_GET_CAPABILITIES)
        u->mark = 0;
    u->out[0] = (uint8_t)len;
    u->out[1] = (uint8_t)command | u->mark;
    int ret = pod_post(&u->pod, u->in, sizeof u->in, err);
    if (ret == 0)
        ret = u->v5 ? send_v5(u, len, err) : send_v4(u, len, err);
    if (ret == 0)
        ret = own_answer(u, err);
    if (ret < 0)
        return ret;
    unsigned rc = u->in[0] & (uint8_t)~USBDM_MARK;
    if (rc == USBDM_RC_OK && (size_t)ret < want)
        return err_set(err, ERR_PROTOCOL, "look for newer firmware",
                       "command %u: %d bytes of answer, %zu are right", (unsigned)command, ret,
                       want);
    return (int)rc;
}

int usbdm_need(struct usbdm *u, enum usbdm_command command, size_t len, size_t want,
               struct err *err)
{
    int rc = usbdm_ask(u, command, len, want, err);
    if (rc <= 0)
        return rc;
    return usbdm_describe((unsigned)rc, command, err);
}
