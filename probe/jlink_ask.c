/* Requests to a J-Link and their replies, one after the other. */
#include <stdio.h>
#include <string.h>

#include "probe/jlink.h"

int jlink_need(struct jlink *j, size_t n, unsigned timeout_ms, struct err *err)
{
    for (unsigned empty = 0; j->nrest < n;) {
        int got = usb_bulk(j->usb, j->ep_in, j->rest + j->nrest,
                           jlink_read_bytes(n - j->nrest, j->max_packet), timeout_ms, err);
        if (got < 0)
            return got;
        empty = got == 0 ? empty + 1 : 0; /* an empty packet may end a transfer */
        if (empty > JLINK_MAX_EMPTY)
            return err_set(err, ERR_TIMEOUT, "unplug the probe if this stays",
                           "the reply ends early: %zu bytes of %zu", j->nrest, n);
        j->nrest += (size_t)got;
    }
    return 0;
}

void jlink_take(struct jlink *j, uint8_t *reply, size_t n)
{
    memcpy(reply, j->rest, n);
    memmove(j->rest, j->rest + n, j->nrest -= n);
}

int jlink_ask_within(struct jlink *j, const uint8_t *request, size_t len, uint8_t *reply, size_t n,
                     unsigned timeout_ms, struct err *err)
{
    uint8_t buf[16];
    memcpy(buf, request, len);
    j->nrest = 0;
    int ret = usb_bulk(j->usb, j->ep_out, buf, len, timeout_ms, err);
    if (ret >= 0 && (size_t)ret < len)
        ret = err_set(err, ERR_TIMEOUT, "unplug the probe if this stays", "took %d bytes of %zu",
                      ret, len);
    if (ret >= 0)
        ret = jlink_need(j, n, timeout_ms, err);
    if (ret < 0)
        return ret;
    if (n > 0)
        jlink_take(j, reply, n);
    return 0;
}

int jlink_ask(struct jlink *j, enum jlink_command command, uint8_t *reply, size_t n,
              struct err *err)
{
    const uint8_t request = (uint8_t)command;
    int ret = jlink_ask_within(j, &request, 1, reply, n, j->reply_ms, err);
    char doing[32];
    snprintf(doing, sizeof doing, "request %02x", request);
    if (ret < 0)
        return err_prefix(err, ret, doing);
    return 0;
}
