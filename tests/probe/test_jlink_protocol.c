/* J-Link's requests and replies as bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/jlink_protocol.h"

static void jtag_request__golden_bytes(void **state)
{
    static const struct {
        enum jlink_command command;
        uint32_t bits;
        uint8_t tms[3], tdi[3];
        uint8_t want[16];
        size_t len, reply;
    } rows[] = {
        { JLINK_HW_JTAG3, 8, { 0xFF }, { 0 }, { 0xCF, 0, 8, 0, 0xFF, 0 }, 6, 2 },
        { JLINK_HW_JTAG3,
          17,
          { 1, 2, 1 },
          { 0x11, 0x22, 0 },
          { 0xCF, 0, 17, 0, 1, 2, 1, 0x11, 0x22, 0 },
          10,
          4 },
        { JLINK_HW_JTAG2, 1, { 1 }, { 1 }, { 0xCE, 0, 1, 0, 1, 1 }, 6, 1 },
        { JLINK_HW_JTAG_WRITE, 16, { 3, 3 }, { 0x50, 2 }, { 0xD5, 0, 16, 0, 3, 3, 0x50, 2 }, 8, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t out[16] = { 0 };
        assert_int_equal(
            jlink_jtag_request(out, rows[i].command, rows[i].tms, rows[i].tdi, rows[i].bits),
            rows[i].len);
        assert_memory_equal(out, rows[i].want, sizeof out);
        assert_int_equal(jlink_reply_bytes(rows[i].command, rows[i].bits), rows[i].reply);
    }
}

static void jtag_request__largest__fits_its_buffer(void **state)
{
    static uint8_t out[JLINK_MAX_REQUEST], bits[JLINK_MAX_BITS / 8];
    (void)state;
    assert_int_equal(jlink_jtag_request(out, JLINK_HW_JTAG3, bits, bits, JLINK_MAX_BITS),
                     sizeof out);
    assert_int_equal(le16(out + 2), JLINK_MAX_BITS);
}

static void read_bytes__whole_packets__are_asked_for_exactly(void **state)
{
    static const struct {
        size_t want;
        unsigned packet;
        size_t ask;
    } rows[] = {
        { 1, 64, 2048 },    { 64, 64, 64 },     { 65, 64, 2048 },
        { 512, 512, 512 },  { 64, 512, 2048 },  { 1984, 64, 1984 },
        { 2048, 64, 2048 }, { 4097, 64, 2048 }, { 2049, 512, 2048 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(jlink_read_bytes(rows[i].want, rows[i].packet), rows[i].ask);
}

static void batch_bits__memory_and_clock__bound_it(void **state)
{
    static const struct {
        const char *name;
        uint32_t memory;
        unsigned packet;
        uint32_t hz, bits;
    } rows[] = {
        { "memory unknown", 0, 512, 10000000, 16384 },
        { "much memory", 100000, 512, 10000000, 32768 },
        { "4 KB less the margin", 4096, 512, 10000000, 2040 * 8 },
        { "a reply of whole packets is avoided", 2 * 511 + 16, 512, 10000000, 510 * 8 },
        { "also at full speed", 2 * 63 + 16, 64, 10000000, 62 * 8 },
        { "hardly any", 20, 64, 10000000, 64 },
        { "slow wire", 100000, 512, 100000, 5000 / 8 * 8 },
        { "slower", 100000, 512, 1000, 64 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %s\n", rows[i].name);
        assert_int_equal(jlink_batch_bits(rows[i].memory, rows[i].packet, rows[i].hz),
                         rows[i].bits);
    }
}

static void speed__any__is_what_the_divider_gives(void **state)
{
    static const struct {
        uint32_t base;
        unsigned div;
        uint32_t hz;
        uint16_t khz;
        uint32_t got;
    } rows[] = {
        { 60000000, 4, 15000000, 15000, 15000000 }, { 60000000, 4, 50000000, 15000, 15000000 },
        { 60000000, 4, 7000000, 7000, 6666666 },    { 60000000, 4, 999, 1, 1000 },
        { 48000000, 4, 12000000, 12000, 12000000 }, { 0, 1, 20000000, 12000, 12000000 },
        { 0, 1, 4000000, 4000, 4000000 },           { 300000000, 3, 100000000, 65534, 60000000 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint16_t khz;
        assert_int_equal(jlink_speed(rows[i].base, rows[i].div, rows[i].hz, &khz), rows[i].got);
        assert_int_equal(khz, rows[i].khz);
    }
}

static void parse_state__golden_bytes(void **state)
{
    const uint8_t reply[8] = { 0xE4, 0x0C, 0, 1, 0, 1, 0, 1 };
    struct jlink_state s;
    (void)state;
    jlink_parse_state(reply, &s);
    assert_int_equal(s.millivolts, 3300);
    assert_false(s.tck || s.tdo || s.nreset);
    assert_true(s.tdi && s.tms && s.ntrst);
}

static void registration__golden_bytes(void **state)
{
    const uint8_t want[14] = { 9, 0x65, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x34, 0x12 };
    uint8_t out[14], reply[JLINK_REGISTRATION_MAX] = { 2, 0, 2, 0, 16, 0, 4, 0 };
    (void)state;
    jlink_registration(out, false, 0x1234);
    assert_memory_equal(out, want, 14);
    jlink_registration(out, true, 0);
    assert_int_equal(out[1], 0x64);
    reply[8 + 10] = 1;
    reply[8 + 16 + 10] = 2;
    assert_int_equal(jlink_registration_bytes(reply, NULL), 76);
    assert_int_equal(jlink_registered(reply, 76, NULL), 2);
    reply[0] = 3; /* a handle in no entry */
    assert_int_equal(jlink_registered(reply, 76, NULL), -ERR_RESOURCE);
    reply[2] = 16;
    assert_int_equal(jlink_registration_bytes(reply, NULL), 8 + 256 + 4);
    reply[2] = 17;
    assert_int_equal(jlink_registration_bytes(reply, NULL), -ERR_PROTOCOL);
    reply[2] = 1;
    reply[4] = 12;
    assert_int_equal(jlink_registration_bytes(reply, NULL), -ERR_PROTOCOL);
    reply[4] = 16;
    put_le16(reply + 6, 600);
    assert_int_equal(jlink_registration_bytes(reply, NULL), -ERR_PROTOCOL);
}

static void serial__any_padding__is_the_number(void **state)
{
    static const struct {
        const char *usb, *want;
    } rows[] = {
        { "000123456789", "123456789" },
        { "990123456789", "123456789" },
        { "004294967295", "4294967295" },
        { "000000000000", "0" },
        { "17", "17" },
        { "", "" },
        { "00000000ABCD", "" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char got[11];
        jlink_serial(rows[i].usb, got);
        assert_string_equal(got, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jtag_request__golden_bytes),
        cmocka_unit_test(jtag_request__largest__fits_its_buffer),
        cmocka_unit_test(read_bytes__whole_packets__are_asked_for_exactly),
        cmocka_unit_test(batch_bits__memory_and_clock__bound_it),
        cmocka_unit_test(speed__any__is_what_the_divider_gives),
        cmocka_unit_test(parse_state__golden_bytes),
        cmocka_unit_test(registration__golden_bytes),
        cmocka_unit_test(serial__any_padding__is_the_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
