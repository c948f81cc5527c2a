/* The CMSIS-DAP model by itself: request bytes in, response bytes out, against the simulated
 * board's TAP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/jtag.h"
#include "tests/system/usb/model_test.h"

extern const struct usb_model_type usb_model_cmsis_dap;

enum { HID_OUT = 0x01, HID_IN = 0x81, BULK_OUT = 0x02, BULK_IN = 0x82 };

static struct rig make_model(const char *options)
{
    return make_rig(&usb_model_cmsis_dap, options);
}

static int send_out(struct rig *r, const void *data, size_t len)
{
    return r->m->type->out(r->m, BULK_OUT, data, len);
}
static int read_in(struct rig *r, uint8_t *buf, size_t cap)
{
    return r->m->type->in(r->m, BULK_IN, buf, cap);
}

/* One request over bulk and its answer's length. */
static int ask_model(struct rig *r, const void *req, size_t len, uint8_t *resp)
{
    assert_int_equal(send_out(r, req, len), len);
    return read_in(r, resp, 512);
}

static void connect_jtag(struct rig *r)
{
    uint8_t resp[512];
    assert_int_equal(ask_model(r, "\x02\x02", 2, resp), 2);
    assert_int_equal(resp[1], 2);
}

static void command__fixed_answers__as_the_document_has_them(void **state)
{
    static const struct {
        const char *name, *options;
        uint8_t req[16], len;
        uint8_t resp[16];
        int rlen;
    } rows[] = {
        { "capabilities", "", { 0x00, 0xF0 }, 2, { 0x00, 1, 0x13 }, 3 },
        { "capabilities, SWD only", "swd-only", { 0x00, 0xF0 }, 2, { 0x00, 1, 0x11 }, 3 },
        { "packet count", "count=5", { 0x00, 0xFE }, 2, { 0x00, 1, 5 }, 3 },
        { "packet size", "packet=64", { 0x00, 0xFF }, 2, { 0x00, 2, 64, 0 }, 4 },
        { "firmware", "firmware=2.0", { 0x00, 0x09 }, 2, { 0x00, 4, '2', '.', '0', 0 }, 6 },
        { "no serial", "no-serial", { 0x00, 0x03 }, 2, { 0x00, 0 }, 2 },
        { "unknown info", "", { 0x00, 0x55 }, 2, { 0x00, 0 }, 2 },
        { "host status", "", { 0x01, 1, 1 }, 3, { 0x01, 0 }, 2 },
        { "host status of unknown type", "", { 0x01, 2, 1 }, 3, { 0x01, 0xFF }, 2 },
        { "connect to the default", "", { 0x02, 0 }, 2, { 0x02, 1 }, 2 },
        { "connect to JTAG", "", { 0x02, 2 }, 2, { 0x02, 2 }, 2 },
        { "connect to JTAG, SWD only", "swd-only", { 0x02, 2 }, 2, { 0x02, 0 }, 2 },
        { "connect refused", "refuse-connect", { 0x02, 2 }, 2, { 0x02, 0 }, 2 },
        { "clock of 0", "", { 0x11, 0, 0, 0, 0 }, 5, { 0x11, 0xFF }, 2 },
        { "clock", "", { 0x11, 0x40, 0x42, 0x0F, 0 }, 5, { 0x11, 0 }, 2 },
        { "idcode unconnected", "", { 0x16, 0 }, 2, { 0x16, 0xFF }, 2 },
        { "nine devices", "", { 0x15, 9, 4, 4, 4, 4, 4, 4, 4, 4, 4 }, 11, { 0x15, 0xFF }, 2 },
        { "sequence, SWD only", "swd-only", { 0x14, 1, 1, 0 }, 4, { 0x14, 0xFF }, 2 },
        { "reset without a sequence", "", { 0x0A }, 1, { 0x0A, 0, 0 }, 3 },
        { "reset with one", "reset-sequence", { 0x0A }, 1, { 0x0A, 0, 1 }, 3 },
        { "delay", "", { 0x09, 100, 0 }, 3, { 0x09, 0 }, 2 },
        { "unknown", "", { 0x1D, 1, 2, 3 }, 4, { 0xFF }, 1 },
        { "vendor", "", { 0x80 }, 1, { 0xFF }, 1 },
        { "atomic, without", "no-atomic", { 0x7F, 1, 0x00, 0xFE }, 4, { 0xFF }, 1 },
        { "atomic",
          "",
          { 0x7F, 2, 0x00, 0xFE, 0x01, 0, 1 },
          7,
          { 0x7F, 2, 0x00, 1, 8, 0x01, 0 },
          7 },
        { "pins at rest", "", { 0x10, 0, 0, 0, 0, 0, 0 }, 7, { 0x10, 0xA0 }, 2 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t resp[512] = { 0 };
        struct rig r = make_model(rows[i].options);
        print_message("  %s\n", rows[i].name);
        assert_int_equal(ask_model(&r, rows[i].req, rows[i].len, resp), rows[i].rlen);
        assert_memory_equal(resp, rows[i].resp, (size_t)rows[i].rlen);
        unmake_rig(&r);
    }
}

/* xorshift: the same bits every time. */
static uint32_t next_random(uint32_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 17;
    return *s ^= *s << 5;
}

/* A request of random sequences; the clocks they mean, for a board of one's own. */
static size_t random_request(uint32_t *seed, uint8_t *req, size_t cap, uint8_t *tms, uint8_t *tdi,
                             uint8_t *cap_mask, size_t *clocks)
{
    size_t at = 2, n = 0, back = 2;
    req[0] = 0x14;
    req[1] = 0;
    for (;;) {
        unsigned c = next_random(seed) % 64 + 1, bytes = (c + 7) / 8;
        bool level = next_random(seed) % 3 == 0, want = next_random(seed) & 1;
        if (level)
            c = c % 4 + 1, bytes = 1;
        if (at + 1 + bytes > cap - 1 || back + bytes > cap - 1 || req[1] == 255)
            break;
        req[at++] = (uint8_t)((c & 0x3F) | level << 6 | want << 7);
        for (unsigned i = 0; i < bytes; i++)
            req[at++] = (uint8_t)next_random(seed);
        for (unsigned i = 0; i < c; i++, n++) {
            unsigned d = req[at - bytes + i / 8] >> i % 8 & 1;
            tms[n / 8] = (uint8_t)((tms[n / 8] & ~(1u << n % 8)) | (unsigned)level << n % 8);
            tdi[n / 8] = (uint8_t)((tdi[n / 8] & ~(1u << n % 8)) | d << n % 8);
            cap_mask[n] = (uint8_t)(want ? (i == 0 ? 2 : 1) : 0);
        }
        back += want ? bytes : 0;
        req[1]++;
    }
    *clocks = n;
    return at;
}

static void jtag_sequence__random_bits__same_tdo_as_the_bare_board(void **state)
{
    struct rig r = make_model("packet=512");
    struct sim_board *bare;
    uint32_t seed = 12345;
    (void)state;
    assert_int_equal(sh4_board_sh7750.create("", NULL, &bare, NULL), 0);
    bare->type->set_tck_hz(bare, 1000000);
    connect_jtag(&r);
    for (int round = 0; round < 200; round++) {
        uint8_t req[512], resp[512], tms[2048], tdi[2048], tdo[2048], want[512] = { 0x14, 0 },
                                                                      mask[16384];
        size_t n, len = random_request(&seed, req, sizeof req, tms, tdi, mask, &n), to = 1;
        assert_int_equal(bare->type->clock(bare, n, tms, tdi, tdo, NULL), 0);
        for (size_t i = 0, bit = 0; i < n; i++) {
            if (mask[i] == 2)
                bit = 0;
            if (mask[i] && bit % 8 == 0)
                want[++to] = 0;
            if (mask[i])
                want[to] |= (uint8_t)((tdo[i / 8] >> i % 8 & 1) << bit++ % 8);
        }
        int got = ask_model(&r, req, len, resp);
        assert_int_equal(got, to + 1);
        assert_memory_equal(resp, want, to + 1);
    }
    assert_int_equal(r.board->type->now_ns(r.board), bare->type->now_ns(bare));
    bare->type->destroy(bare);
    unmake_rig(&r);
}

static void jtag_sequence__not_connected__clocks_reach_nobody(void **state)
{
    struct rig r = make_model("");
    uint8_t resp[512];
    uint64_t before = r.board->type->now_ns(r.board);
    (void)state;
    assert_int_equal(ask_model(&r, "\x14\x01\x88\x00", 4, resp), 3);
    assert_int_equal(resp[2], 0xFF);
    assert_int_equal(r.board->type->now_ns(r.board), before);
    unmake_rig(&r);
}

/* H-UDI of the SH7750: Capture-IR gives ..01; read by sequences, by SWJ_Sequence walking, and bit
 * by bit over the pins. */
static void capture_ir__three_ways__end_in_01(void **state)
{
    static const uint8_t whole[] = { 0x14, 4, 0x45, 0x1F, 0x01, 0, 0x42, 0, 0x02, 0 },
                         shift[] = { 0x14, 1, 0x82, 0x00 };
    struct rig r = make_model("");
    uint8_t resp[512], last = 0;
    unsigned bits = 0;
    (void)state;
    connect_jtag(&r);
    assert_int_equal(ask_model(&r, whole, sizeof whole, resp), 2);
    assert_int_equal(ask_model(&r, shift, sizeof shift, resp), 3);
    assert_int_equal(resp[2], 1);
    assert_int_equal(ask_model(&r, "\x12\x0A\xDF\x00", 4, resp), 2); /* five ones, 0, 1 1 0 0 */
    assert_int_equal(ask_model(&r, shift, sizeof shift, resp), 3);
    assert_int_equal(resp[2], 1);
    for (unsigned i = 0; i < 12; i++) { /* as above, then two shifts */
        unsigned tms = i < 10 ? 0x00DFu >> i & 1 : 0;
        uint8_t low[7] = { 0x10, (uint8_t)(tms << 1), 0x03, 0 },
                high[7] = { 0x10, (uint8_t)(tms << 1 | 1), 0x03, 0 };
        ask_model(&r, low, 7, resp);
        ask_model(&r, high, 7, resp);
        last = resp[1] >> 3 & 1;
        bits = i < 10 ? 0 : bits | (unsigned)last << (i - 10);
    }
    assert_int_equal(bits, 1);
    unmake_rig(&r);
}

static void pins__resets__reach_the_board_and_are_read_back(void **state)
{
    struct rig r = make_model("");
    uint8_t resp[512];
    unsigned value, known;
    (void)state;
    assert_int_equal(ask_model(&r, "\x10\x00\xA0\x00\x00\x00\x00", 7, resp), 2);
    assert_int_equal(resp[1] & 0xA0, 0);
    r.board->type->get_pins(r.board, &value, &known, NULL);
    assert_int_equal(value & known & (JTAG_PIN_NRESET | JTAG_PIN_NTRST), 0);
    assert_int_equal(ask_model(&r, "\x10\xA0\xA0\x00\x00\x00\x00", 7, resp), 2);
    assert_int_equal(resp[1] & 0xA0, 0xA0);
    unmake_rig(&r);
}

static void pins__held_reset__waits_no_longer_than_asked(void **state)
{
    struct rig r = { 0 };
    uint8_t resp[512];
    (void)state;
    assert_int_equal(sh4_board_sh7750.create("fault=held", NULL, &r.board, NULL), 0);
    assert_int_equal(usb_model_cmsis_dap.create("", r.board, &r.m, NULL), 0);
    uint64_t before = r.board->type->now_ns(r.board);
    assert_int_equal(ask_model(&r, "\x10\x80\x80\x10\x27\x00\x00", 7, resp), 2); /* 10 ms */
    assert_int_equal(resp[1] & 0x80, 0);
    assert_int_equal(r.board->type->now_ns(r.board) - before, 10000000);
    unmake_rig(&r);
}

static void bulk__whole_packets__wait_for_more(void **state)
{
    struct rig r = make_model("packet=256");
    uint8_t req[512] = { 0x00, 0xFE }, resp[512];
    (void)state;
    /* high speed: packets of 512, so 256 is a short one */
    assert_int_equal(ask_model(&r, req, 256, resp), 3);
    unmake_rig(&r);
    r = make_model("packet=1024");
    assert_int_equal(send_out(&r, req, 512), 512);
    assert_int_equal(read_in(&r, resp, 512), USB_NAK);
    assert_int_equal(send_out(&r, "", 0), 0); /* the empty packet that was missing */
    assert_int_equal(read_in(&r, resp, 512), 3);
    unmake_rig(&r);
}

static void bulk__buffers_full__refused_until_one_is_read(void **state)
{
    struct rig r = make_model("count=3");
    uint8_t resp[512];
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(send_out(&r, "\x00\xFE", 2), 2);
    assert_int_equal(send_out(&r, "\x00\xFE", 2), USB_NAK);
    assert_int_equal(read_in(&r, resp, 512), 3);
    assert_int_equal(send_out(&r, "\x00\xFE", 2), 2);
    unmake_rig(&r);
}

static void bulk__answer_of_whole_packets__does_not_end_a_longer_read(void **state)
{
    static const struct {
        const char *options;
        size_t cap;
        int first, second;
    } rows[] = {
        { "packet=1024", 512, 512, USB_NAK },
        { "packet=1024", 1024, USB_NAK, USB_NAK },
        { "packet=1024,zlp", 512, 512, 0 },
        { "packet=1024,zlp", 1024, 512, USB_NAK },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r = make_model(rows[i].options);
        /* 63 captures of 64 bits and one of 48 */
        uint8_t req[2 + 63 * 9 + 7] = { 0x14, 64 }, resp[1024];
        for (int s = 0; s < 63; s++)
            req[2 + s * 9] = 0x80;
        req[2 + 63 * 9] = 0x80 | 48;
        assert_int_equal(send_out(&r, req, sizeof req), sizeof req);
        assert_int_equal(read_in(&r, resp, rows[i].cap), rows[i].first);
        assert_int_equal(read_in(&r, resp, rows[i].cap), rows[i].second);
        unmake_rig(&r);
    }
}

static void hid__report_with_all_buffers_full__is_lost_without_a_word(void **state)
{
    struct rig r = make_model("v1,count=2");
    uint8_t req[64] = { 0x00, 0xFE }, resp[64];
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(r.m->type->out(r.m, HID_OUT, req, 64), 64);
    for (int i = 0; i < 2; i++)
        assert_int_equal(r.m->type->in(r.m, HID_IN, resp, 64), 64);
    assert_int_equal(r.m->type->in(r.m, HID_IN, resp, 64), USB_NAK);
    unmake_rig(&r);
}

static void hid__short_report__is_lost_without_a_word(void **state)
{
    struct rig r = make_model("v1,report=512");
    uint8_t req[512] = { 0x00, 0xFF }, resp[512];
    (void)state;
    assert_int_equal(r.m->type->out(r.m, HID_OUT, req, 64), 64);
    assert_int_equal(r.m->type->in(r.m, HID_IN, resp, 512), USB_NAK);
    assert_int_equal(r.m->type->out(r.m, HID_OUT, req, 512), 512);
    assert_int_equal(r.m->type->in(r.m, HID_IN, resp, 512), 512);
    assert_int_equal(le16(resp + 2), 512);
    unmake_rig(&r);
}

static void queue_commands__run_when_another_comes__answer_as_execute(void **state)
{
    struct rig r = make_model("count=4");
    uint8_t resp[512];
    (void)state;
    assert_int_equal(send_out(&r, "\x7E\x01\x00\xFE", 4), 4);
    assert_int_equal(send_out(&r, "\x7E\x01\x01\x00\x01", 5), 5);
    assert_int_equal(read_in(&r, resp, 512), USB_NAK);
    assert_int_equal(send_out(&r, "\x00\xFE", 2), 2);
    assert_int_equal(read_in(&r, resp, 512), 5);
    assert_memory_equal(resp, "\x7F\x01\x00\x01\x04", 5);
    assert_int_equal(read_in(&r, resp, 512), 4);
    assert_memory_equal(resp, "\x7F\x01\x01\x00", 4);
    assert_int_equal(read_in(&r, resp, 512), 3);
    unmake_rig(&r);
}

static void stale_answers__of_an_earlier_session__come_first(void **state)
{
    struct rig r = make_model("keeps-stale=2,keeps-queue");
    uint8_t resp[512];
    (void)state;
    r.m->type->clear(r.m, 0);
    assert_int_equal(read_in(&r, resp, 512), 6);
    assert_int_equal(resp[0], 0x14);
    assert_int_equal(read_in(&r, resp, 512), 6);
    assert_int_equal(read_in(&r, resp, 512), USB_NAK);
    unmake_rig(&r);
    r = make_model("keeps-queue");
    assert_int_equal(ask_model(&r, "\x00\xFE", 2, resp), 5); /* the forgotten one first */
    assert_int_equal(resp[0], 0x7F);
    assert_int_equal(read_in(&r, resp, 512), 3);
    unmake_rig(&r);
}

static void disconnect__without_connect__hangs_where_told_to(void **state)
{
    struct rig r = make_model("disconnect-hangs");
    uint8_t resp[512];
    (void)state;
    connect_jtag(&r);
    assert_int_equal(ask_model(&r, "\x03", 1, resp), 2);
    assert_int_equal(ask_model(&r, "\x03", 1, resp), USB_NAK);
    assert_int_equal(ask_model(&r, "\x00\xFE", 2, resp), USB_NAK);
    unmake_rig(&r);
}

/* Walks a configuration by its own lengths. */
static void descriptors__every_variant__add_up(void **state)
{
    static const struct {
        const char *options;
        unsigned interfaces, endpoints;
        bool high, hid;
    } rows[] = {
        { "", 1, 2, true, false },    { "packet=64", 1, 2, false, false },
        { "v1", 1, 2, false, true },  { "v1,report=1024", 1, 2, true, true },
        { "both", 2, 4, true, true }, { "v2,swo,class0", 1, 3, true, false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r = make_model(rows[i].options);
        const struct usb_model_identity *id = &r.m->id;
        unsigned interfaces = 0, endpoints = 0;
        size_t at = 0;
        for (; at < id->config_len; at += id->config[at]) {
            assert_true(id->config[at] > 0);
            interfaces += id->config[at + 1] == 4;
            endpoints += id->config[at + 1] == 5;
        }
        print_message("  %s\n", rows[i].options);
        assert_int_equal(at, id->config_len);
        assert_int_equal(le16(id->config + 2), id->config_len);
        assert_int_equal(interfaces, rows[i].interfaces);
        assert_int_equal(endpoints, rows[i].endpoints);
        assert_int_equal(id->high_speed, rows[i].high);
        assert_int_equal(id->hid_report != NULL, rows[i].hid);
        unmake_rig(&r);
    }
}

static void options__unknown_or_out_of_range__are_refused(void **state)
{
    static const char *const rows[] = { "packet=0",  "packet=2000", "count=0",
                                        "count=256", "nonsense",    "keeps-stale=9" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct usb_model *m = NULL;
        assert_int_equal(usb_model_cmsis_dap.create(rows[i], NULL, &m, NULL), -ERR_USAGE);
        assert_null(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command__fixed_answers__as_the_document_has_them),
        cmocka_unit_test(jtag_sequence__random_bits__same_tdo_as_the_bare_board),
        cmocka_unit_test(jtag_sequence__not_connected__clocks_reach_nobody),
        cmocka_unit_test(capture_ir__three_ways__end_in_01),
        cmocka_unit_test(pins__resets__reach_the_board_and_are_read_back),
        cmocka_unit_test(pins__held_reset__waits_no_longer_than_asked),
        cmocka_unit_test(bulk__whole_packets__wait_for_more),
        cmocka_unit_test(bulk__buffers_full__refused_until_one_is_read),
        cmocka_unit_test(bulk__answer_of_whole_packets__does_not_end_a_longer_read),
        cmocka_unit_test(hid__report_with_all_buffers_full__is_lost_without_a_word),
        cmocka_unit_test(hid__short_report__is_lost_without_a_word),
        cmocka_unit_test(queue_commands__run_when_another_comes__answer_as_execute),
        cmocka_unit_test(stale_answers__of_an_earlier_session__come_first),
        cmocka_unit_test(disconnect__without_connect__hangs_where_told_to),
        cmocka_unit_test(descriptors__every_variant__add_up),
        cmocka_unit_test(options__unknown_or_out_of_range__are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
