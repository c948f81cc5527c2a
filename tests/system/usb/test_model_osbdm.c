/* The OSBDM model by itself: packets in, answers out, an S12Z board on its BKGD and RESET. */
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

extern const struct usb_model_type usb_model_osbdm;

enum { EP_OUT = 0x01, EP_IN = 0x82, PACKET = 64 };

struct rig {
    struct sim_board *board;
    struct usb_model *m;
    uint8_t reply[PACKET];
};

static struct rig make_model(const char *options, const char *board)
{
    struct rig r = { 0 };
    struct err err = { 0 };
    if (s12z_board_zvml128.create(board, NULL, &r.board, &err) < 0 ||
        usb_model_osbdm.create(options, r.board, &r.m, &err) < 0)
        fail_msg("%s: %s", options, err.what);
    return r;
}

static void unmake_rig(struct rig *r)
{
    r->m->type->destroy(r->m);
    r->board->type->destroy(r->board);
}

static int ask_model(struct rig *r, const uint8_t *packet, size_t len)
{
    assert_int_equal(r->m->type->out(r->m, EP_OUT, packet, len), len);
    return r->m->type->in(r->m, EP_IN, r->reply, PACKET);
}

static uint32_t ask_speed(struct rig *r)
{
    assert_int_equal(ask_model(r, (const uint8_t[]){ 0x26 }, 1), 6);
    return be32(r->reply + 2);
}

/* Bytes of BDC commands, by sub-command 1D or 2D; expect answers. */
static void run_bytes(struct rig *r, bool dummy, const uint8_t *send, size_t n, unsigned expect)
{
    uint8_t p[PACKET] = { 0x27, dummy ? 0x2D : 0x1D };
    size_t at = 4 + (dummy ? 1u : 0u);
    for (size_t k = 0; k < n; k++, at += 2)
        p[at + 1] = send[k];
    for (unsigned k = 0; k < expect; k++, at += 2)
        p[at] = dummy ? 0x01 : 0x07;
    put_be16(p + 2, (uint16_t)(at - 4));
    assert_int_equal(ask_model(r, p, PACKET), PACKET);
    assert_int_equal(r->reply[0], 0x27);
    assert_int_equal(be16(r->reply + 2), expect);
}
#define BYTES(r, dummy, expect, ...)                                                              \
    run_bytes(r, dummy, (const uint8_t[]){ __VA_ARGS__ }, sizeof(const uint8_t[]){ __VA_ARGS__ }, \
              expect)

static void command__fixed_answers__as_the_firmware_gives_them(void **state)
{
    static const struct {
        const char *name, *options;
        uint8_t command[4], reply[12];
        int len;
    } rows[] = {
        { "version", "", { 0x50 }, { 0x50, 12, 0x11, 0x10, 31, 9, 0, 26 }, 12 },
        { "of other firmware", "core=1", { 0x50 }, { 0x50, 12, 0x11, 0x10, 31, 1, 0, 26 }, 12 },
        { "status, no clock yet", "", { 0x10 }, { 0x10, 12, 0, 0, 0 }, 12 },
        { "memory is not this firmware's", "", { 0x30 }, { 1, 2 }, 2 },
        { "unknown", "", { 0x77 }, { 2, 2 }, 2 },
        { "run commands do nothing and say nothing", "", { 0x21 }, { 0x21, 2 }, 2 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r = make_model(rows[i].options, "");
        print_message("  %s\n", rows[i].name);
        assert_int_equal(ask_model(&r, rows[i].command, 4), rows[i].len);
        assert_memory_equal(r.reply, rows[i].reply, (size_t)rows[i].len);
        unmake_rig(&r);
    }
}

static void speed__measured_or_not__in_ticks_of_60_mhz(void **state)
{
    struct rig r = make_model("", ""), silent = make_model("", "fault=silent");
    (void)state;
    assert_in_range(ask_speed(&r), 7600, 7760);
    assert_int_equal(ask_model(&r, (const uint8_t[]){ 0x10 }, 1), 12);
    assert_int_equal(r.reply[4], 1);
    assert_int_equal(ask_speed(&silent), 0);
    assert_int_equal(ask_model(&silent, (const uint8_t[]){ 0x25, 0, 0, 0xFF, 0xFF }, 5), 2);
    /* the low byte comes first, and 16 bits count: that was "sync now" */
    assert_int_equal(ask_speed(&silent), 0);
    assert_int_equal(ask_model(&silent, (const uint8_t[]){ 0x25, 0xFF, 0xFF, 0, 0 }, 5), 2);
    assert_in_range(ask_speed(&silent), 65530, 65535); /* stays as it was set */
    unmake_rig(&r);
    unmake_rig(&silent);
}

static void pipe__bdc_commands__reach_the_part(void **state)
{
    (void)state;
    for (int dummy = 0; dummy < 2; dummy++) {
        struct rig r = make_model("", "");
        ask_speed(&r);
        BYTES(&r, dummy, 0, 0x03);             /* ACK_DISABLE */
        BYTES(&r, dummy, 0, 0x0D, 0x80, 0xFF); /* ENBDC */
        BYTES(&r, dummy, 2, 0x2D);
        assert_int_equal(be16(r.reply + 4), 0x8200);
        BYTES(&r, dummy, 0, 0x18, 0x00, 0x10, 0x00, 1, 2, 3, 4); /* WRITE_MEM.l */
        BYTES(&r, dummy, 4, 0x38, 0x00, 0x10, 0x00);
        assert_int_equal(be32(r.reply + 4), 0x01020304);
        BYTES(&r, dummy, 2, 0x36); /* DUMP_MEM.w goes on behind it */
        BYTES(&r, dummy, 2, 0x2D);
        assert_int_equal(be16(r.reply + 4), 0x8200);
        BYTES(&r, dummy, 0, 0x04);
        BYTES(&r, dummy, 2, 0x2D);
        assert_int_equal(be16(r.reply + 4), 0xC200);
        unmake_rig(&r);
    }
}

static void pins__low_and_released__special_mode(void **state)
{
    struct rig r = make_model("", "");
    (void)state;
    ask_model(&r, (const uint8_t[]){ 0x27, 0x07, 0, 1, 0x00 }, 5);
    ask_model(&r, (const uint8_t[]){ 0x27, 0x08, 0, 1, 0x00 }, 5);
    ask_model(&r, (const uint8_t[]){ 0x27, 0x08, 0, 1, 0xFF }, 5);
    ask_model(&r, (const uint8_t[]){ 0x27, 0x07, 0, 1, 0xFF }, 5);
    ask_speed(&r);
    BYTES(&r, false, 2, 0x2D);
    assert_int_equal(be16(r.reply + 4) & 0xC000, 0xC000);
    ask_model(&r, (const uint8_t[]){ 0x1B, 3 }, 2);
    BYTES(&r, false, 2, 0x2D);
    assert_int_equal(be16(r.reply + 4) & 0xC000, 0);
    ask_model(&r, (const uint8_t[]){ 0x1B, 2 }, 2);
    BYTES(&r, false, 2, 0x2D);
    assert_int_equal(be16(r.reply + 4) & 0xC000, 0xC000);
    unmake_rig(&r);
}

static void packets__two_in_one_transfer__both_answers_are_lost_and_no_more(void **state)
{
    uint8_t two[2 * PACKET] = { 0x50 };
    struct rig r = make_model("", "");
    (void)state;
    two[PACKET] = 0x10;
    assert_int_equal(r.m->type->out(r.m, EP_OUT, two, sizeof two), PACKET);
    assert_int_equal(r.m->type->out(r.m, EP_OUT, two + PACKET, PACKET), PACKET);
    /* the host takes it for one it has had */
    assert_int_equal(r.m->type->in(r.m, EP_IN, r.reply, PACKET), USB_NAK);
    assert_int_equal(ask_model(&r, (const uint8_t[]){ 0x10 }, 1), 12);
    assert_int_equal(r.reply[0], 0x10);
    unmake_rig(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command__fixed_answers__as_the_firmware_gives_them),
        cmocka_unit_test(speed__measured_or_not__in_ticks_of_60_mhz),
        cmocka_unit_test(pipe__bdc_commands__reach_the_part),
        cmocka_unit_test(pins__low_and_released__special_mode),
        cmocka_unit_test(packets__two_in_one_transfer__both_answers_are_lost_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
