#include "tests/system/usb/model_jlink_fw.h"

#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/jtag.h"

/* clang-format off */
enum {
    VERSION = 0x01, RESET_TRST = 0x02, RESET_TARGET = 0x03, SET_SPEED = 0x05, GET_STATE = 0x07,
    SET_KS_POWER = 0x08, REGISTER = 0x09, GET_SPEEDS = 0xC0, GET_HW_INFO = 0xC1,
    GET_COUNTERS = 0xC2, SELECT_IF = 0xC7, HW_CLOCK = 0xC8, HW_TMS0 = 0xC9, HW_TMS1 = 0xCA,
    HW_TDI0 = 0xCB, HW_TDI1 = 0xCC, HW_JTAG = 0xCD, HW_JTAG2 = 0xCE, HW_JTAG3 = 0xCF,
    GET_MAX_MEM_BLOCK = 0xD4, HW_JTAG_WRITE = 0xD5, HW_JTAG_GET_RESULT = 0xD6, HW_RESET0 = 0xDC,
    HW_RESET1 = 0xDD, HW_TRST0 = 0xDE, HW_TRST1 = 0xDF, GET_CAPS = 0xE8, GET_CAPS_EX = 0xED,
    GET_HW_VERSION = 0xF0, READ_CONFIG = 0xF2, WRITE_CONFIG = 0xF3
};
/* clang-format on */
enum {
    STATUS_MEMORY = 6,
    STATUS_FAILED = 1,
    IF_JTAG = 0,
    IF_SWD = 1,
    REG_MIN = 76,
    REG_ENTRY = 16,
    REG_HEAD = 8
};

bool jlink_fw_can(const struct jlink_fw *fw, unsigned cap)
{
    return fw->caps[cap / 8] >> cap % 8 & 1;
}

void jlink_fw_reset(struct jlink_fw *fw)
{
    fw->interface = fw->left_swd ? IF_SWD : IF_JTAG;
    fw->tms = fw->tdi = fw->tdo = true;
    fw->adaptive = fw->power = false;
    fw->sticky = 0;
    memset(fw->registered, 0, sizeof fw->registered);
    for (unsigned i = 0; i < MIN(fw->others, (unsigned)JLINK_FW_CONNECTIONS); i++)
        fw->registered[i] = true;
    memset(fw->config, 0xFF, sizeof fw->config);
    fw->config[0] = fw->usb_address;
}

static bool is_jtag(uint8_t command)
{
    return command == HW_JTAG || command == HW_JTAG2 || command == HW_JTAG3 ||
           command == HW_JTAG_WRITE;
}

size_t jlink_fw_request_len(const uint8_t *request, size_t len)
{
    if (len == 0)
        return 1;
    switch (request[0]) {
    case SET_SPEED: return 3;
    case SET_KS_POWER:
    case SELECT_IF: return 2;
    case REGISTER: return 14;
    case GET_HW_INFO:
    case GET_COUNTERS: return 5;
    case WRITE_CONFIG: return 257;
    case HW_JTAG: return len < 3 ? 3 : 3 + 2 * (((size_t)le16(request + 1) + 7) / 8);
    case HW_JTAG2:
    case HW_JTAG3:
    case HW_JTAG_WRITE: return len < 4 ? 4 : 4 + 2 * (((size_t)le16(request + 2) + 7) / 8);
    default: return 1;
    }
}

/* ---- pins ---- */

static void set_pin(struct jlink_fw *fw, unsigned mask, bool high)
{
    if (fw->board)
        fw->board->type->set_pins(fw->board, mask, high ? mask : 0, NULL);
}

static void pulse_pin(struct jlink_fw *fw, unsigned mask)
{
    set_pin(fw, mask, false);
    if (fw->board)
        fw->board->type->advance(fw->board, 2000000, NULL);
    set_pin(fw, mask, true);
}

static size_t give_state(struct jlink_fw *fw, uint8_t *reply)
{
    unsigned pins = 0, known = 0;
    if (fw->board)
        fw->board->type->get_pins(fw->board, &pins, &known, NULL);
    int mv = fw->millivolts >= 0 ? fw->millivolts : pins & JTAG_PIN_VTREF ? 3300 : 0;
    const uint8_t levels[6] = { 0,
                                fw->tdi,
                                fw->tdo,
                                fw->tms,
                                !!(pins & JTAG_PIN_NRESET),
                                pins & JTAG_PIN_NTRST && !fw->no_trst };
    put_le16(reply, (uint16_t)mv);
    memcpy(reply + 2, levels, sizeof levels);
    return 8;
}

static void set_speed(struct jlink_fw *fw, unsigned khz)
{
    fw->adaptive = khz == 0xFFFF && jlink_fw_can(fw, 3);
    uint32_t hz = khz == 0xFFFF || khz == 0 ? fw->base_hz : khz * 1000u;
    uint32_t div = MAX((fw->base_hz + hz - 1) / hz, (uint32_t)fw->min_div);
    fw->tck_hz = fw->base_hz / div;
    if (fw->board)
        fw->board->type->set_tck_hz(fw->board, fw->tck_hz);
}

/* ---- clocks ---- */

static int clock_bits(struct jlink_fw *fw, size_t n, const uint8_t *tms, const uint8_t *tdi,
                      uint8_t *tdo)
{
    memset(tdo, 0xFF, (n + 7) / 8); /* an open input is pulled up */
    fw->clocks += n;
    int ret = fw->board && fw->interface == IF_JTAG
                  ? fw->board->type->clock(fw->board, n, tms, tdi, tdo, NULL)
                  : 0;
    if (n > 0) {
        fw->tms = tms[(n - 1) / 8] >> (n - 1) % 8 & 1;
        fw->tdi = tdi[(n - 1) / 8] >> (n - 1) % 8 & 1;
        fw->tdo = tdo[(n - 1) / 8] >> (n - 1) % 8 & 1;
    }
    return ret;
}

static size_t do_jtag(struct jlink_fw *fw, const uint8_t *request, uint8_t *reply, size_t *first)
{
    /* the oldest has no byte before the count (UrJTAG's jlink.c) */
    const size_t head = request[0] == HW_JTAG ? 3 : 4;
    size_t bits = le16(request + head - 2), n = (bits + 7) / 8;
    uint8_t status = 0;
    if (head + 2 * n > fw->memory) {
        memset(reply, 0, n);
        status = STATUS_MEMORY;
        fw->refused++;
    } else if (clock_bits(fw, bits, request + head, request + head + n, reply) < 0) {
        status = STATUS_FAILED;
    }
    if (bits % 8)
        reply[n - 1] &= (uint8_t)((1u << bits % 8) - 1);
    if (request[0] == HW_JTAG_WRITE)
        return fw->sticky = fw->sticky ? fw->sticky : status, 0;
    if (request[0] != HW_JTAG3)
        return n;
    reply[n] = status;
    *first = n;
    return n + 1;
}

static size_t one_clock(struct jlink_fw *fw, uint8_t *reply)
{
    const uint8_t tms = fw->tms, tdi = fw->tdi;
    clock_bits(fw, 1, &tms, &tdi, reply);
    reply[0] &= 1;
    return 1;
}

/* ---- the rest ---- */

static size_t do_registration(struct jlink_fw *fw, const uint8_t *request, uint8_t *reply)
{
    unsigned handle = le16(request + 12), count = 0;
    memset(reply, 0, 512);
    if (request[1] == 0x64 && handle == 0) {
        while (handle < JLINK_FW_CONNECTIONS && fw->registered[handle])
            handle++;
        if (handle < JLINK_FW_CONNECTIONS) /* full: a handle that stands in no entry */
            fw->registered[handle] = true;
        handle++;
    } else if (request[1] == 0x65 && handle > 0 && handle <= JLINK_FW_CONNECTIONS) {
        fw->registered[handle - 1] = false;
    }
    for (unsigned i = 0; i < JLINK_FW_CONNECTIONS; i++)
        if (fw->registered[i]) {
            uint8_t *entry = reply + REG_HEAD + REG_ENTRY * count++;
            put_le32(entry, le32(request + 2));
            put_le16(entry + 10, (uint16_t)(i + 1));
        }
    put_le16(reply, (uint16_t)handle);
    put_le16(reply + 2, (uint16_t)count);
    put_le16(reply + 4, REG_ENTRY);
    put_le16(reply + 6, 4);
    return MAX((size_t)REG_MIN, REG_HEAD + REG_ENTRY * (size_t)count + 4);
}

static size_t select_if(struct jlink_fw *fw, unsigned which, uint8_t *reply)
{
    uint32_t answer = fw->interface;
    if (which == 0xFF)
        answer = (fw->swd_only ? 0 : 1u << IF_JTAG) | 1u << IF_SWD;
    else if (which != 0xFE)
        fw->interface = which;
    put_le32(reply, answer);
    return 4;
}

static size_t put_words(uint32_t mask, uint8_t *reply)
{
    size_t n = 0;
    for (unsigned bit = 0; bit < 32; bit++)
        if (mask >> bit & 1)
            put_le32(reply + 4 * n++, 100 + bit);
    return 4 * n;
}

static size_t give_version(const struct jlink_fw *fw, uint8_t *reply, size_t *first)
{
    put_le16(reply, sizeof fw->version);
    memcpy(reply + 2, fw->version, sizeof fw->version);
    *first = 2;
    return 2 + sizeof fw->version;
}

static size_t put_number(uint8_t *reply, uint32_t v)
{
    put_le32(reply, v);
    return 4;
}

/* Commands whose capability bit the firmware may lack; it does not know them then. */
static bool knows_command(const struct jlink_fw *fw, uint8_t command)
{
    static const struct {
        uint8_t command, cap;
    } needs[] = {
        { GET_HW_VERSION, 1 },      { READ_CONFIG, 4 },        { WRITE_CONFIG, 5 },
        { GET_SPEEDS, 9 },          { GET_MAX_MEM_BLOCK, 11 }, { GET_HW_INFO, 12 },
        { SET_KS_POWER, 13 },       { SELECT_IF, 17 },         { GET_COUNTERS, 19 },
        { REGISTER, 27 },           { GET_CAPS_EX, 31 },       { HW_JTAG_WRITE, 32 },
        { HW_JTAG_GET_RESULT, 32 },
    };
    for (size_t i = 0; i < ARRAY_LEN(needs); i++)
        if (needs[i].command == command)
            return jlink_fw_can(fw, needs[i].cap);
    return command != HW_JTAG3 || fw->hw_major >= 5;
}

static size_t answer_question(struct jlink_fw *fw, const uint8_t *request, uint8_t *reply,
                              size_t *first)
{
    switch (request[0]) {
    case VERSION: return give_version(fw, reply, first);
    case GET_STATE: return give_state(fw, reply);
    case REGISTER: return do_registration(fw, request, reply);
    case GET_SPEEDS:
        put_le16(reply + 4, fw->min_div);
        put_le32(reply, fw->base_hz);
        return 6;
    case GET_HW_INFO:
    case GET_COUNTERS: return put_words(le32(request + 1), reply);
    case SELECT_IF: return select_if(fw, request[1], reply);
    case HW_CLOCK: return one_clock(fw, reply);
    case GET_MAX_MEM_BLOCK: return put_number(reply, fw->brags ? fw->brags : fw->memory);
    case HW_JTAG_GET_RESULT:
        reply[0] = fw->sticky;
        fw->sticky = 0;
        return 1;
    case GET_CAPS: return memcpy(reply, fw->caps, 4), 4;
    case GET_CAPS_EX: return memcpy(reply, fw->caps, 32), 32;
    case GET_HW_VERSION: return put_number(reply, fw->hw_major * 10000);
    case READ_CONFIG: return memcpy(reply, fw->config, 256), 256;
    default: fw->unknown++; return 0;
    }
}

size_t jlink_fw_do(struct jlink_fw *fw, const uint8_t *request, size_t len, uint8_t *reply,
                   size_t *first)
{
    *first = 0;
    if (!knows_command(fw, request[0]))
        return fw->unknown++, 0;
    if (is_jtag(request[0]))
        return do_jtag(fw, request, reply, first);
    switch (request[0]) {
    case RESET_TRST: return pulse_pin(fw, JTAG_PIN_NTRST), 0;
    case RESET_TARGET: return pulse_pin(fw, JTAG_PIN_NRESET), 0;
    case SET_SPEED: return set_speed(fw, le16(request + 1)), 0;
    case SET_KS_POWER: return fw->power = request[1], 0;
    case HW_TMS0:
    case HW_TMS1: return fw->tms = request[0] == HW_TMS1, 0;
    case HW_TDI0:
    case HW_TDI1: return fw->tdi = request[0] == HW_TDI1, 0;
    case HW_RESET0:
    case HW_RESET1: return set_pin(fw, JTAG_PIN_NRESET, request[0] == HW_RESET1), 0;
    case HW_TRST0:
    case HW_TRST1: return set_pin(fw, JTAG_PIN_NTRST, request[0] == HW_TRST1), 0;
    case WRITE_CONFIG: return memcpy(fw->config, request + 1, len - 1), fw->config_writes++, 0;
    default: return answer_question(fw, request, reply, first);
    }
}
