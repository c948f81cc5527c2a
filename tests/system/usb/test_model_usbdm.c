/* The USBDM model by itself: packets in, answers out, an S12Z board on its BKGD and RESET. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sim/s12z/board.h"
#include "tests/system/usb/model.h"

extern const struct usb_model_type usb_model_usbdm;

enum { EP_OUT = 0x01, EP_IN = 0x82, CAP = 512, PACKET = 64, BUSY_BYTES = 4 };

struct rig {
    struct sim_board *board;
    struct usb_model *m;
};

static struct rig make_model(const char *options, const char *board)
{
    struct rig r = { 0 };
    struct err err = { 0 };
    if (s12z_board_zvml128.create(board, NULL, &r.board, &err) < 0 ||
        usb_model_usbdm.create(options, r.board, &r.m, &err) < 0)
        fail_msg("%s: %s", options, err.what);
    return r;
}

static void unmake_rig(struct rig *r)
{
    r->m->type->destroy(r->m);
    r->board->type->destroy(r->board);
}

static int send_out(struct rig *r, const void *data, size_t len)
{
    return r->m->type->out(r->m, EP_OUT, data, len);
}

/* A host's read: up to a short packet, or to where nothing comes any more. */
static int read_in(struct rig *r, uint8_t *buf)
{
    int all = 0;
    for (;;) {
        int n = r->m->type->in(r->m, EP_IN, buf + all, CAP - (size_t)all);
        if (n < 0)
            return all ? all : n;
        all += n;
        if (n % PACKET || n == 0)
            return all;
    }
}

/* One short command. Returns the answer's length. */
static int ask_model(struct rig *r, const uint8_t *command, uint8_t *reply)
{
    assert_int_equal(send_out(r, command, command[0]), command[0]);
    int n = read_in(r, reply), busy = 0;
    for (; n == BUSY_BYTES && reply[0] == 3 && busy < 10; busy++)
        n = read_in(r, reply);
    return n;
}

static void connect_model(struct rig *r, const char *options)
{
    uint8_t reply[CAP];
    assert_int_equal(ask_model(r, (const uint8_t[]){ 3, 1, 11 }, reply), 1);
    assert_int_equal(reply[0], 0);
    assert_int_equal(ask_model(r, (const uint8_t[]){ 2, 15 }, reply), 1);
    if (reply[0] != 0)
        fail_msg("%s: connect gives %u", options, reply[0]);
}

static void command__fixed_answers__as_the_firmware_gives_them(void **state)
{
    static const struct {
        const char *name, *options;
        uint8_t command[8], reply[9];
        int len;
    } rows[] = {
        { "capabilities", "", { 2, 5 }, { 0, 0x44, 0x09, 0, 254, 4, 12, 1 }, 8 },
        { "of firmware without S12Z",
          "no-s12z,buffer=145",
          { 2, 5 },
          { 0, 0x04, 0x09, 0, 145, 4, 12, 1 },
          8 },
        { "the toggle comes back", "", { 2, 5 | 0x80 }, { 0x80, 0x44, 0x09, 0, 254, 4, 12, 1 }, 8 },
        { "V5: the sequence comes back",
          "v5",
          { 2, 5 | 0xC0 },
          { 0xC0, 0x74, 0x05, 0, 254, 5, 7, 0 },
          8 },
        { "no S12Z, no target", "no-s12z", { 3, 1, 11 }, { 15 }, 1 },
        { "unknown target", "", { 3, 1, 3 }, { 15 }, 1 },
        { "debugging commands are left out", "", { 3, 3, 0 }, { 4 }, 1 },
        { "nothing before a target is set", "", { 2, 15 }, { 4 }, 1 },
        { "beyond the last command", "", { 2, 60 }, { 4 }, 1 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t reply[CAP] = { 0 };
        struct rig r = make_model(rows[i].options, "");
        print_message("  %s\n", rows[i].name);
        assert_int_equal(ask_model(&r, rows[i].command, reply), rows[i].len);
        assert_memory_equal(reply, rows[i].reply, (size_t)rows[i].len);
        unmake_rig(&r);
    }
}

static void version__on_endpoint_0__forgets_half_a_command_and_no_answer(void **state)
{
    static const uint8_t get[8] = { 0xC0, 12, 0, 1, 0, 0, 10, 0 },
                         other[8] = { 0xC0, 77, 0, 0, 0, 0, 1, 0 };
    static const uint8_t begun[64] = { 208, 32, 4, 200 }, caps[2] = { 2, 5 };
    (void)state;
    for (int v5 = 0; v5 < 2; v5++) {
        uint8_t v[10], reply[CAP];
        struct rig r = make_model(v5 ? "v5" : "", "");
        send_out(&r, caps, 2);
        assert_int_equal(r.m->type->control(r.m, get, v, sizeof v), 5);
        assert_int_equal(v[0], 0);
        assert_int_equal(v[1], v5 ? 0x57 : 0x4C);
        assert_int_equal(read_in(&r, reply), 8); /* it is still there */
        send_out(&r, begun, v5 ? 64 : 62);
        assert_int_equal(r.m->type->control(r.m, get, v, sizeof v), 5);
        /* V5: taken for the rest of the other */
        assert_int_equal(ask_model(&r, caps, reply), v5 ? 1 : 8);
        assert_int_equal(r.m->type->control(r.m, other, v, 1), USB_STALL);
        unmake_rig(&r);
    }
}

static void answer__not_fetched__the_next_command_is_done_and_its_answer_waits(void **state)
{
    (void)state;
    for (int v5 = 0; v5 < 2; v5++) {
        uint8_t reply[CAP];
        struct rig r = make_model(v5 ? "v5" : "", "");
        assert_int_equal(send_out(&r, (const uint8_t[]){ 2, 5 | 0x80 }, 2), 2);
        assert_int_equal(send_out(&r, (const uint8_t[]){ 2, 60 }, 2), 2);
        assert_int_equal(send_out(&r, (const uint8_t[]){ 2, 5 }, 2), USB_NAK);
        assert_int_equal(read_in(&r, reply), 8);
        assert_int_equal(reply[0], 0x80);
        assert_int_equal(read_in(&r, reply), 1);
        assert_int_equal(reply[0], 4);
        assert_int_equal(read_in(&r, reply), USB_NAK);
        unmake_rig(&r);
    }
}

static const struct {
    const char *options;
    bool late;
    unsigned user;
} firmware[] = {
    /* late: an ACK at 1 MHz; user: what it makes of a length of 960 */
    { "", false, 960 },
    { "v5", true, 768 },
    { "v5,version=5.8.1", false, 768 },
};

static void connect__board_answers__speed_and_status_are_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(firmware); i++) {
        uint8_t reply[CAP];
        struct rig r = make_model(firmware[i].options, "");
        connect_model(&r, firmware[i].options);
        assert_int_equal(ask_model(&r, (const uint8_t[]){ 2, 17 }, reply), 3);
        /* 128 cycles of 1 MHz in ticks of 60 MHz: 7680 */
        assert_in_range(be16(reply + 1), 7600, 7760);
        assert_int_equal(ask_model(&r, (const uint8_t[]){ 2, 4 }, reply), 3);
        /* ACK, RESET high, by SYNC, power */
        assert_int_equal(be16(reply + 1), (firmware[i].late ? 0 : 1) | 4 | 1 << 3 | 1 << 6);
        assert_int_equal(ask_model(&r, (const uint8_t[]){ 2, 20 }, reply), 5);
        assert_int_equal(be32(reply + 1) & 0x82, 0x82); /* ENBDC, not secured */
        unmake_rig(&r);
    }
}

static void speed__told_and_given_in_60_mhz__v5_takes_four_fifths(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(firmware); i++) {
        uint8_t reply[CAP];
        struct rig r = make_model(firmware[i].options, "bdc=8000000");
        connect_model(&r, "");
        ask_model(&r, (const uint8_t[]){ 2, 4 }, reply);
        assert_int_equal(reply[2] & 1, 1); /* all see an ACK at 8 MHz */
        assert_int_equal(ask_model(&r, (const uint8_t[]){ 4, 16, 960 >> 8, 960 & 255 }, reply), 1);
        assert_int_equal(reply[0], 0);
        assert_int_equal(ask_model(&r, (const uint8_t[]){ 2, 17 }, reply), 3);
        assert_int_equal(be16(reply + 1), firmware[i].user);
        unmake_rig(&r);
    }
}

/* At 50 MHz the pulse begins 640 ns after a command, less than V5 needs to begin a bit. */
static void connect__the_fastest_clock__its_pulse_is_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(firmware); i++) {
        uint8_t reply[CAP];
        struct rig r = make_model(firmware[i].options, "bdc=50000000");
        connect_model(&r, firmware[i].options);
        assert_int_equal(ask_model(&r, (const uint8_t[]){ 2, 4 }, reply), 3);
        assert_int_equal(reply[2] & 1, 1);
        unmake_rig(&r);
    }
}

static void connect__something_wrong__its_own_error(void **state)
{
    static const struct {
        const char *name, *board;
        uint8_t error;
    } rows[] = {
        { "no power", "fault=no-power", 26 },
        { "in reset", "fault=reset", 33 },
        { "no answer", "fault=silent", 21 },
        { "BKGD is stuck", "fault=bkgd-low", 20 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t reply[CAP];
        struct rig r = make_model("", rows[i].board);
        print_message("  %s\n", rows[i].name);
        ask_model(&r, (const uint8_t[]){ 3, 1, 11 }, reply);
        assert_int_equal(ask_model(&r, (const uint8_t[]){ 2, 15 }, reply), 1);
        assert_int_equal(reply[0], rows[i].error);
        unmake_rig(&r);
    }
}

static void memory__long_command_in_two_packets__reads_back(void **state)
{
    uint8_t command[2 + 254] = { 8 + 200, 32, 4, 200, 0, 0, 0x10, 0 }, second[256] = { 0 },
                        reply[CAP];
    struct rig r = make_model("", "");
    (void)state;
    connect_model(&r, "");
    for (unsigned k = 0; k < 200; k++)
        command[8 + k] = (uint8_t)(k * 7 + 1);
    assert_int_equal(send_out(&r, command, 62), 62);
    assert_int_equal(read_in(&r, reply), USB_NAK);
    memcpy(second + 1, command + 62, 208 - 62);
    assert_int_equal(send_out(&r, second, 1 + 208 - 62), 1 + 208 - 62);
    assert_int_equal(read_in(&r, reply), 1);
    assert_int_equal(reply[0], 0);
    assert_int_equal(ask_model(&r, (const uint8_t[]){ 8, 33, 4, 200, 0, 0, 0x10, 0 }, reply), 201);
    assert_memory_equal(reply + 1, command + 8, 200);
    /* whole packets */
    assert_int_equal(send_out(&r, (const uint8_t[]){ 8, 33, 1, 63, 0, 0, 0x10, 0 }, 8), 8);
    assert_int_equal(r.m->type->in(r.m, EP_IN, reply, CAP), 64);
    assert_int_equal(r.m->type->in(r.m, EP_IN, reply, CAP), 0);
    assert_int_equal(read_in(&r, reply), USB_NAK);
    assert_int_equal(ask_model(&r, (const uint8_t[]){ 8, 33, 4, 254, 0, 0, 0x10, 0 }, reply), 1);
    assert_int_equal(reply[0], 1); /* too long for its buffer */
    unmake_rig(&r);
}

static void memory__v5__one_transfer_and_an_empty_packet(void **state)
{
    uint8_t command[128] = { 128, 32, 4, 120, 0, 0, 0x10, 0 }, reply[CAP];
    struct rig r = make_model("v5", "");
    (void)state;
    connect_model(&r, "v5");
    assert_int_equal(send_out(&r, command, 128), 128);
    assert_int_equal(read_in(&r, reply), USB_NAK);
    assert_int_equal(send_out(&r, command, 0), 0);
    assert_int_equal(read_in(&r, reply), 1);
    assert_int_equal(reply[0], 0);
    assert_int_equal(ask_model(&r, (const uint8_t[]){ 8, 33, 1, 63, 0, 0, 0x10, 0 }, reply), 64);
    /* no empty packet behind a whole one */
    assert_int_equal(r.m->type->in(r.m, EP_IN, reply, CAP), USB_NAK);
    unmake_rig(&r);
}

static void registers__halted_and_stepped__change(void **state)
{
    uint8_t reply[CAP];
    struct rig r = make_model("", "");
    (void)state;
    connect_model(&r, "");
    assert_int_equal(ask_model(&r, (const uint8_t[]){ 2, 25 }, reply), 1);
    assert_int_equal(reply[0], 0);
    ask_model(&r, (const uint8_t[]){ 2, 20 }, reply);
    assert_int_equal(reply[4] & 0xC0, 0xC0);                                /* halted */
    ask_model(&r, (const uint8_t[]){ 8, 26, 0, 11, 0, 0, 0x10, 0 }, reply); /* PC = 001000 */
    ask_model(&r, (const uint8_t[]){ 12, 32, 4, 4, 0, 0, 0x10, 0, 1, 1, 1, 1 }, reply); /* NOPs */
    assert_int_equal(ask_model(&r, (const uint8_t[]){ 2, 23 }, reply), 1);
    assert_int_equal(ask_model(&r, (const uint8_t[]){ 4, 27, 0, 11 }, reply), 5);
    assert_int_equal(be32(reply + 1) & 0xFFFFFF, 0x1001);
    /* no such register: the part says so, the pod does not look */
    ask_model(&r, (const uint8_t[]){ 4, 27, 0, 13 }, reply);
    assert_int_equal(reply[0], 0);
    assert_int_equal(be32(reply + 1), 0xEEEEEEEE);
    for (uint8_t c = 28; c < 32; c++) {
        assert_int_equal(ask_model(&r, (const uint8_t[]){ 4, c, 0, 0 }, reply), 1);
        assert_int_equal(reply[0], 4);
    }
    ask_model(&r, (const uint8_t[]){ 3, 22, 2 << 2 }, reply);
    assert_int_equal(reply[0], 15); /* by command: not this target */
    unmake_rig(&r);
}

static void reset__by_its_pins__special_mode_and_busy_before(void **state)
{
    uint8_t reply[CAP];
    struct rig r = make_model("", "");
    (void)state;
    connect_model(&r, "");
    assert_int_equal(send_out(&r, (const uint8_t[]){ 3, 22, 1 << 2 }, 3), 3);
    assert_int_equal(read_in(&r, reply), BUSY_BYTES);
    while (reply[0] == 3)
        read_in(&r, reply);
    assert_int_equal(reply[0], 0);
    ask_model(&r, (const uint8_t[]){ 8, 33, 4, 4, 0, 0, 0x10, 0 }, reply);
    assert_int_equal(reply[0], 5); /* the connection is lost with a reset; of memory it says so */
    ask_model(&r, (const uint8_t[]){ 2, 20 }, reply);
    assert_int_equal(be32(reply + 1), 0);
    connect_model(&r, "");
    ask_model(&r, (const uint8_t[]){ 2, 20 }, reply);
    assert_int_equal(reply[4] & 0xC0, 0xC0);
    /* the same by hand */
    ask_model(&r, (const uint8_t[]){ 4, 8, 0, 2 | 2 << 2 }, reply);
    assert_int_equal(be16(reply + 1), 2 << 2);
    ask_model(&r, (const uint8_t[]){ 4, 8, 0, 1 << 2 }, reply);
    assert_int_equal(be16(reply + 1), 3 << 2);
    ask_model(&r, (const uint8_t[]){ 4, 8, 0, 1 }, reply);
    connect_model(&r, "");
    ask_model(&r, (const uint8_t[]){ 2, 20 }, reply);
    assert_int_equal(reply[4] & 0xC0, 0xC0);
    unmake_rig(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command__fixed_answers__as_the_firmware_gives_them),
        cmocka_unit_test(version__on_endpoint_0__forgets_half_a_command_and_no_answer),
        cmocka_unit_test(answer__not_fetched__the_next_command_is_done_and_its_answer_waits),
        cmocka_unit_test(speed__told_and_given_in_60_mhz__v5_takes_four_fifths),
        cmocka_unit_test(connect__board_answers__speed_and_status_are_known),
        cmocka_unit_test(connect__the_fastest_clock__its_pulse_is_seen),
        cmocka_unit_test(connect__something_wrong__its_own_error),
        cmocka_unit_test(memory__long_command_in_two_packets__reads_back),
        cmocka_unit_test(memory__v5__one_transfer_and_an_empty_packet),
        cmocka_unit_test(registers__halted_and_stepped__change),
        cmocka_unit_test(reset__by_its_pins__special_mode_and_busy_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
