/* The J-Link model by itself: bytes of requests in, bytes of replies out, against the simulated
 * board's TAP. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bits.h"
#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/jtag.h"
#include "tests/system/usb/model_test.h"

extern const struct usb_model_type usb_model_jlink;

enum { EP_IN = 0x85, EP_OUT = 0x05, CAP = 2048 };

static struct rig make_model(const char *options) { return make_rig(&usb_model_jlink, options); }

static int send_out(struct rig *r, const void *data, size_t len)
{
    return r->m->type->out(r->m, EP_OUT, data, len);
}
static int read_in(struct rig *r, uint8_t *buf) { return r->m->type->in(r->m, EP_IN, buf, CAP); }

static int ask_model(struct rig *r, const void *request, size_t len, uint8_t *reply)
{
    assert_int_equal(send_out(r, request, len), len);
    return read_in(r, reply);
}

static void command__fixed_answers__as_the_documents_have_them(void **state)
{
    static const struct {
        const char *name, *options;
        uint8_t req[4], len, resp[8];
        int rlen;
    } rows[] = {
        { "caps", "", { 0xE8 }, 1, { 0x3B, 0x3A, 0x0A, 0x88 }, 4 },
        { "caps of an old one", "old,hw=3", { 0xE8 }, 1, { 0x3B, 0x02 }, 4 },
        { "hardware version is decimal", "hw=10", { 0xF0 }, 1, { 0xA0, 0x86, 0x01, 0 }, 4 },
        { "speeds", "", { 0xC0 }, 1, { 0x00, 0x87, 0x93, 0x03, 4, 0 }, 6 },
        { "memory", "mem=4096", { 0xD4 }, 1, { 0x00, 0x10, 0, 0 }, 4 },
        { "state", "", { 0x07 }, 1, { 0xE4, 0x0C, 0, 1, 1, 1, 1, 1 }, 8 },
        { "state without power", "mv=120", { 0x07 }, 1, { 120, 0, 0, 1, 1, 1, 1, 1 }, 8 },
        { "interfaces", "", { 0xC7, 0xFF }, 2, { 3, 0, 0, 0 }, 4 },
        { "interface now", "", { 0xC7, 0xFE }, 2, { 0, 0, 0, 0 }, 4 },
        { "result", "", { 0xD6 }, 1, { 0 }, 1 },
        { "unknown to this one: silence", "no-write", { 0xD6 }, 1, { 0 }, USB_NAK },
        { "no answer", "", { 0x05, 0xA0, 0x0F }, 3, { 0 }, USB_NAK },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r = make_model(rows[i].options);
        uint8_t reply[CAP];
        print_message("  %s\n", rows[i].name);
        assert_int_equal(ask_model(&r, rows[i].req, rows[i].len, reply), rows[i].rlen);
        if (rows[i].rlen > 0)
            assert_memory_equal(reply, rows[i].resp, (size_t)rows[i].rlen);
        assert_int_equal(read_in(&r, reply), USB_NAK);
        unmake_rig(&r);
    }
}

/* 6 clocks to Idle, IR scan of 16 bits: SH7750 captures 0bx...01. */
static size_t ir_scan(uint8_t *request, uint8_t command)
{
    enum { BITS = 6 + 4 + 16 + 2, N = (BITS + 7) / 8 };
    memset(request, 0, 4 + 2 * N);
    request[0] = command;
    put_le16(request + 2, BITS);
    bits_or(request + 4, 0, 0x1F, 6);
    bits_or(request + 4, 6, 0x3, 4);
    bits_or(request + 4, 6 + 4 + 15, 0x3, 2);
    bits_or(request + 4 + N, 6 + 4, 0xFFFF, 16);
    return 4 + 2 * N;
}

static void jtag__each_command__reaches_the_tap(void **state)
{
    (void)state;
    struct rig r = make_model("");
    uint8_t request[32], reply[CAP];
    size_t n = ir_scan(request, 0xCF);
    assert_int_equal(ask_model(&r, request, n, reply), 5);
    assert_int_equal(reply[4], 0);               /* status */
    assert_int_equal(bits_get(reply, 10, 2), 1); /* IEEE 1149.1: an IR captures ...01 */
    request[0] = 0xCE;
    assert_int_equal(ask_model(&r, request, n, reply), 4);
    assert_int_equal(bits_get(reply, 10, 2), 1);
    request[0] = 0xD5;
    assert_int_equal(ask_model(&r, request, n, reply), USB_NAK);
    assert_int_equal(ask_model(&r, "\xD6", 1, reply), 1);
    assert_int_equal(reply[0], 0);
    memmove(request + 1, request + 2, n - 2);
    request[0] = 0xCD;
    assert_int_equal(ask_model(&r, request, n - 1, reply), 4);
    assert_int_equal(bits_get(reply, 10, 2), 1);
    unmake_rig(&r);
}

static void jtag__batch_beyond_its_memory__status_6_and_sticky(void **state)
{
    (void)state;
    struct rig r = make_model("mem=128");
    uint8_t request[4 + 2 * 63] = { 0xCF, 0, 62 * 8 & 0xFF, 62 * 8 >> 8 }, reply[CAP];
    assert_int_equal(ask_model(&r, request, 4 + 2 * 62, reply), 63);
    assert_int_equal(reply[62], 0);
    put_le16(request + 2, 63 * 8);
    assert_int_equal(ask_model(&r, request, 4 + 2 * 63, reply), 64);
    assert_int_equal(reply[63], 6);
    request[0] = 0xD5;
    assert_int_equal(send_out(&r, request, 4 + 2 * 63), 4 + 2 * 63);
    assert_int_equal(ask_model(&r, "\xD6", 1, reply), 1);
    assert_int_equal(reply[0], 6);
    assert_int_equal(ask_model(&r, "\xD6", 1, reply), 1);
    assert_int_equal(reply[0], 0);
    unmake_rig(&r);
}

static void out__requests_in_any_pieces__are_one_stream(void **state)
{
    (void)state;
    struct rig r = make_model("");
    uint8_t request[64], reply[CAP];
    size_t n = 3 + ir_scan(request + 3, 0xCF);
    memcpy(request, "\x05\xE8\x03", 3); /* 1 MHz, then the scan */
    for (size_t cut = 1; cut < n; cut++) {
        assert_int_equal(send_out(&r, request, cut), cut);
        assert_int_equal(ask_model(&r, request + cut, n - cut, reply), 5);
        assert_int_equal(reply[4], 0);
    }
    unmake_rig(&r);
}

static void out__request_while_a_reply_waits__stays_on_the_bus(void **state)
{
    (void)state;
    struct rig r = make_model("");
    uint8_t reply[CAP];
    assert_int_equal(send_out(&r, "\xE8\xD4", 2), 1);
    assert_int_equal(send_out(&r, "\xD4", 1), USB_NAK);
    assert_int_equal(read_in(&r, reply), 4);
    assert_int_equal(ask_model(&r, "\xD4", 1, reply), 4);
    assert_int_equal(le32(reply), 16384);
    unmake_rig(&r);
}

/* Bytes of a reply to a scan of n bytes less one; the lengths of the transfers it comes in. */
static void in__lengths__transfers_end_as_the_vendor_says(void **state)
{
    static const struct {
        const char *name, *options;
        unsigned bytes;
        int transfer[4];
    } rows[] = {
        { "short", "", 100, { 100, USB_NAK } },
        { "one packet", "", 512, { 512, 0, USB_NAK } },
        { "one packet, and no end to it", "no-zlp", 512, { 512, USB_NAK } },
        { "full speed", "full", 64, { 64, 0, USB_NAK } },
        { "a whole transfer", "", 2048, { 2048, USB_NAK } },
        { "a whole transfer and a byte", "", 2049, { 2048, 1, USB_NAK } },
        { "two whole transfers", "", 4096, { 2048, 2048, USB_NAK } },
        { "pieces", "pieces", 100, { 99, 1, USB_NAK } },
        { "pieces, whole packet", "pieces", 513, { 512, 0, 1, USB_NAK } },
    };
    static uint8_t request[16384], reply[CAP];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r = make_model(rows[i].options);
        unsigned n = rows[i].bytes - 1;
        print_message("  %s\n", rows[i].name);
        request[0] = 0xCF;
        put_le16(request + 2, (uint16_t)(n * 8));
        assert_int_equal(send_out(&r, request, 4 + 2 * n), 4 + 2 * n);
        for (size_t k = 0; k == 0 || rows[i].transfer[k - 1] != USB_NAK; k++)
            assert_int_equal(read_in(&r, reply), rows[i].transfer[k]);
        unmake_rig(&r);
    }
}

static void register__handles__come_and_go(void **state)
{
    (void)state;
    struct rig r = make_model("others=2");
    uint8_t request[14] = { 0x09, 0x64 }, reply[CAP];
    assert_int_equal(ask_model(&r, request, 14, reply), 76);
    assert_int_equal(le16(reply), 3);
    assert_int_equal(le16(reply + 2), 3); /* entries */
    assert_int_equal(le16(reply + 4), 16);
    assert_int_equal(le16(reply + 8 + 2 * 16 + 10), 3);
    request[1] = 0x65;
    request[12] = 3;
    ask_model(&r, request, 14, reply);
    assert_int_equal(le16(reply + 2), 2);
    unmake_rig(&r);
    /* full: the new handle stands in no entry; the table takes several packets' worth */
    r = make_model("others=16");
    request[1] = 0x64;
    request[12] = 0;
    assert_int_equal(ask_model(&r, request, 14, reply), 8 + 16 * 16 + 4);
    for (unsigned i = 0; i < 16; i++)
        assert_int_not_equal(le16(reply + 8 + 16 * i + 10), le16(reply));
    unmake_rig(&r);
}

static void pins__reset_lines__reach_the_board(void **state)
{
    static const struct {
        uint8_t command;
        unsigned pin;
        bool high;
    } rows[] = {
        { 0xDC, JTAG_PIN_NRESET, false }, { 0xDD, JTAG_PIN_NRESET, true },
        { 0xDE, JTAG_PIN_NTRST, false },  { 0xDF, JTAG_PIN_NTRST, true },
        { 0x02, JTAG_PIN_NTRST, true },   { 0x03, JTAG_PIN_NRESET, true },
    };
    (void)state;
    struct rig r = make_model("");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        unsigned value, known;
        uint8_t reply[CAP];
        assert_int_equal(ask_model(&r, &rows[i].command, 1, reply), USB_NAK);
        assert_int_equal(r.board->type->get_pins(r.board, &value, &known, NULL), 0);
        assert_int_equal(!!(value & rows[i].pin), rows[i].high);
        assert_int_equal(ask_model(&r, "\x07", 1, reply), 8);
        assert_int_equal(reply[rows[i].pin == JTAG_PIN_NRESET ? 6 : 7], rows[i].high);
    }
    unmake_rig(&r);
}

static void speed__asked_for__is_a_divider_of_the_base(void **state)
{
    static const struct {
        unsigned khz, hz;
    } rows[] = { { 1000, 1000000 }, { 7000, 6666666 }, { 60000, 15000000 }, { 0xFFFF, 15000000 } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r = make_model("");
        uint8_t speed[3] = { 5, (uint8_t)rows[i].khz, (uint8_t)(rows[i].khz >> 8) },
                scan[4 + 2 * 1000] = { 0xCF, 0, 8000 & 0xFF, 8000 >> 8 }, reply[CAP];
        assert_int_equal(send_out(&r, speed, 3), 3);
        uint64_t before = r.board->type->now_ns(r.board);
        ask_model(&r, scan, sizeof scan, reply);
        uint64_t want = 8000 * UINT64_C(1000000000) / rows[i].hz;
        assert_in_range(r.board->type->now_ns(r.board) - before, want * 99 / 100, want * 101 / 100);
        unmake_rig(&r);
    }
}

static void descriptors__each_kind__one_vendor_interface_with_two_bulk_endpoints(void **state)
{
    static const struct {
        const char *options;
        unsigned interfaces, packet;
        const char *serial;
    } rows[] = {
        { "", 4, 512, "000123456789" },
        { "pid=1014,serial=1", 3, 512, "000000000001" },
        { "pid=0101,hw=5", 1, 64, "000123456789" },
        { "padding=9,serial=4000000000", 4, 512, "994000000000" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r = make_model(rows[i].options);
        const struct usb_model_identity *id = &r.m->id;
        unsigned vendor = 0, bulk = 0;
        bool ours = false;
        assert_int_equal(le16(id->config + 2), id->config_len);
        assert_int_equal(id->config[4], rows[i].interfaces);
        for (size_t at = 0; at < id->config_len; at += id->config[at]) {
            const uint8_t *d = id->config + at;
            if (d[1] == 4)
                vendor += ours = d[5] == 0xFF && d[6] == 0xFF;
            if (d[1] == 5 && ours)
                bulk += d[3] == 2 && le16(d + 4) == rows[i].packet;
        }
        assert_int_equal(vendor, 1);
        assert_int_equal(bulk, 2);
        assert_string_equal(id->strings[3], rows[i].serial);
        unmake_rig(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command__fixed_answers__as_the_documents_have_them),
        cmocka_unit_test(jtag__each_command__reaches_the_tap),
        cmocka_unit_test(jtag__batch_beyond_its_memory__status_6_and_sticky),
        cmocka_unit_test(out__requests_in_any_pieces__are_one_stream),
        cmocka_unit_test(out__request_while_a_reply_waits__stays_on_the_bus),
        cmocka_unit_test(in__lengths__transfers_end_as_the_vendor_says),
        cmocka_unit_test(register__handles__come_and_go),
        cmocka_unit_test(pins__reset_lines__reach_the_board),
        cmocka_unit_test(speed__asked_for__is_a_divider_of_the_base),
        cmocka_unit_test(descriptors__each_kind__one_vendor_interface_with_two_bulk_endpoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
