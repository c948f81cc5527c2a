#include "probe/jlink_protocol.h"

#include <ctype.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"

/* clang-format off */
enum {
    MEMORY_MARGIN = 16, /* OpenOCD's */
    MIN_BATCH_BYTES = 8,
    BATCHES_PER_SECOND = 20,
    UNKNOWN_MAX_HZ = 12000000,
    REGISTER = 0x64, UNREGISTER = 0x65, HEADER = 8, ENTRY = 16, MAX_ENTRIES = 16, ENTRY_HANDLE = 10,
    SERIAL_DIGITS = 10
};
/* clang-format on */

size_t jlink_jtag_request(uint8_t *out, enum jlink_command command, const uint8_t *tms,
                          const uint8_t *tdi, uint32_t bits)
{
    size_t n = (bits + 7) / 8;
    out[0] = (uint8_t)command;
    out[1] = 0;
    put_le16(out + 2, (uint16_t)bits);
    memcpy(out + 4, tms, n);
    memcpy(out + 4 + n, tdi, n);
    return 4 + 2 * n;
}

size_t jlink_reply_bytes(enum jlink_command command, uint32_t bits)
{
    size_t n = (bits + 7) / 8;
    switch (command) {
    case JLINK_HW_JTAG_WRITE: return 0;
    case JLINK_HW_JTAG2: return n;
    default: return n + 1;
    }
}

size_t jlink_read_bytes(size_t want, unsigned max_packet)
{
    if (want < JLINK_TRANSFER && want % max_packet == 0)
        return want;
    return JLINK_TRANSFER;
}

uint32_t jlink_batch_bits(uint32_t memory, unsigned max_packet, uint32_t tck_hz)
{
    uint32_t bytes = JLINK_USUAL_BITS / 8;
    if (memory)
        bytes = memory > MEMORY_MARGIN
                    ? MIN((memory - MEMORY_MARGIN) / 2, (uint32_t)JLINK_MAX_BITS / 8)
                    : 0;
    bytes = MIN(bytes, tck_hz / BATCHES_PER_SECOND / 8);
    if (bytes > MIN_BATCH_BYTES && (bytes + 1) % max_packet == 0) /* TDO and status */
        bytes--;
    return 8 * MAX(bytes, (uint32_t)MIN_BATCH_BYTES);
}

uint32_t jlink_speed(uint32_t base_hz, unsigned min_div, uint32_t hz, uint16_t *khz)
{
    uint32_t most = UNKNOWN_MAX_HZ;
    if (base_hz)
        most = base_hz / MAX(min_div, 1u);
    uint32_t asked = MAX(MIN(hz, most) / 1000, 1u);
    *khz = (uint16_t)MIN(asked, 0xFFFEu); /* 0xFFFF is adaptive */
    if (!base_hz)
        return *khz * 1000u;
    uint32_t div = MAX((base_hz + *khz * 1000u - 1) / (*khz * 1000u), min_div);
    return base_hz / MAX(div, 1u);
}

void jlink_parse_state(const uint8_t reply[8], struct jlink_state *out)
{
    out->millivolts = le16(reply);
    out->tck = reply[2] != 0;
    out->tdi = reply[3] != 0;
    out->tdo = reply[4] != 0;
    out->tms = reply[5] != 0;
    out->nreset = reply[6] != 0;
    out->ntrst = reply[7] != 0;
}

void jlink_registration(uint8_t out[14], bool on, uint16_t handle)
{
    memset(out, 0, 14); /* process, host, and kind of connection: nothing that a probe would need */
    out[0] = JLINK_REGISTER;
    out[1] = UNREGISTER;
    if (on)
        out[1] = REGISTER;
    put_le16(out + 12, handle);
}

int jlink_registration_bytes(const uint8_t *reply, struct err *err)
{
    unsigned entries = le16(reply + 2), size = le16(reply + 4),
             total = HEADER + entries * size + le16(reply + 6);
    if (entries > MAX_ENTRIES || size != ENTRY || total > JLINK_REGISTRATION_MAX)
        return err_set(err, ERR_PROTOCOL, "unplug the probe and plug it in again",
                       "list of connections makes no sense: %u of %u bytes", entries, size);
    return (int)MAX(total, (unsigned)JLINK_REGISTRATION_MIN);
}

int jlink_registered(const uint8_t *reply, size_t len, struct err *err)
{
    unsigned handle = le16(reply), entries = le16(reply + 2);
    for (unsigned i = 0; i < entries && HEADER + (size_t)ENTRY * (i + 1) <= len; i++)
        if (handle && le16(reply + HEADER + ENTRY * i + ENTRY_HANDLE) == handle)
            return (int)handle;
    return err_set(err, ERR_RESOURCE,
                   "end other programs that use it, or unplug it and plug it in again",
                   "no more connections: %u programs are registered", entries);
}

void jlink_serial(const char *usb, char out[11])
{
    size_t len = strlen(usb);
    const char *p = usb + EXCESS(len, SERIAL_DIGITS);
    while (*p == '0' && p[1])
        p++;
    memcpy(out, p, strlen(p) + 1);
    for (p = out; *p; p++)
        if (!isdigit((unsigned char)*p))
            out[0] = 0;
}
