/* Framing and numbers: gdbstub/rsp.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gdbstub/rsp.h"
#include "probe/base/hex.h"
#include "probe/base/util.h"

enum { CAP = 64 };

/* What a stream decodes to, as text: items in order, payloads in hex-free form. */
static void decode_to_text(const uint8_t *in, size_t len, size_t split, char *text, size_t cap)
{
    static const char *const names[] = {
        "", "packet", "bad", "overlong", "ack", "nak", "interrupt"
    };
    uint8_t buf[CAP + 1];
    struct rsp_decoder d = { .buf = buf, .cap = CAP };
    size_t pos = 0, n = 0;
    text[0] = 0;
    while (pos < len) {
        size_t end = pos < split ? split : len;
        enum rsp_item item;
        size_t used = rsp_decode(&d, in + pos, end - pos, &item);
        assert_true(used > 0 && used <= end - pos);
        pos += used;
        if (item == RSP_PACKET)
            n += (size_t)snprintf(text + n, cap - n, "packet<%.*s> ", (int)d.len, buf);
        else if (item != RSP_MORE)
            n += (size_t)snprintf(text + n, cap - n, "%s ", names[item]);
        assert_true(n < cap);
    }
}

static void decode__stream_split_anywhere__same_items(void **state)
{
    static const struct {
        const char *name, *in, *out;
    } rows[] = {
        { "one packet", "$g#67", "packet<g> " },
        { "acks around", "+$g#67+-", "ack packet<g> ack nak " },
        { "interrupt between packets", "\003$g#67\003", "interrupt packet<g> interrupt " },
        { "interrupt inside is data", "$a\003#64", "packet<a\003> " },
        { "empty", "$#00", "packet<> " },
        { "upper-case sum", "$m4#A1", "packet<m4> " },
        { "wrong sum", "$g#68", "bad " },
        { "sum is no hex", "$g#zz$g#67", "bad packet<g> " },
        { "escapes", "$}\003}\004}]}\n#62", "packet<#$}*> " },
        { "escape at the end", "$a}#de", "packet<a> " },
        { "cut off by a new one", "$m12$g#67", "packet<g> " },
        { "junk before", "GET / HTTP/1.0\r\n\r\n$g#67", "packet<g> " },
        { "longest", "$0123456789012345678901234567890123456789012345678901234567890123#14",
          "packet<0123456789012345678901234567890123456789012345678901234567890123> " },
        { "one too long",
          "$01234567890123456789012345678901234567890123456789012345678901234#48+$g#67",
          "overlong ack packet<g> " },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t len = strlen(rows[i].in);
        print_message("  %s\n", rows[i].name);
        for (size_t split = 0; split <= len; split++) {
            char text[512];
            decode_to_text((const uint8_t *)rows[i].in, len, split, text, sizeof text);
            assert_string_equal(text, rows[i].out);
        }
    }
}

static void encode__every_byte__decodes_to_itself(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 256; first++) {
        uint8_t raw[2] = { (uint8_t)first, (uint8_t)(255 - first) }, frame[16], buf[CAP + 1];
        struct rsp_decoder d = { .buf = buf, .cap = CAP };
        enum rsp_item item;
        char sum[3];
        size_t n = rsp_binary_encode(frame + 1, raw, 2);
        frame[0] = '$';
        snprintf(sum, sizeof sum, "%02x", rsp_checksum(frame + 1, n));
        frame[n + 1] = '#';
        memcpy(frame + n + 2, sum, 2);
        assert_int_equal(rsp_decode(&d, frame, n + 4, &item), n + 4);
        assert_int_equal(item, RSP_PACKET);
        assert_int_equal(d.len, 2);
        assert_memory_equal(buf, raw, 2);
    }
}

static void hex__all_bytes__round_trip(void **state)
{
    uint8_t in[256], out[256];
    char text[513];
    (void)state;
    for (unsigned i = 0; i < 256; i++)
        in[i] = (uint8_t)i;
    hex_encode(text, in, 256);
    text[512] = 0;
    for (unsigned i = 0; i < 256; i++) {
        char want[3];
        snprintf(want, sizeof want, "%02x", i);
        assert_memory_equal(text + 2 * i, want, 2);
    }
    assert_true(hex_decode(out, text, 256));
    assert_memory_equal(in, out, 256);
    for (char *p = text; *p; p++)
        if (*p >= 'a')
            *p = (char)(*p - 32);
    assert_true(hex_decode(out, text, 256));
    assert_memory_equal(in, out, 256);
}

static void hex__any_other_character__refused(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        char text[3] = { '1', (char)c, 0 };
        uint8_t out;
        bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        assert_int_equal(hex_decode(&out, text, 1), digit);
        text[1] = '1';
        text[0] = (char)c;
        assert_int_equal(hex_decode(&out, text, 1), digit);
    }
}

static void number__texts__value_and_rest(void **state)
{
    static const struct {
        const char *in;
        bool ok;
        uint64_t value;
        const char *rest;
    } rows[] = {
        { "0", true, 0, "" },
        { "c010000,4", true, 0xc010000, ",4" },
        { "FFFFFFFFFFFFFFFF;", true, UINT64_MAX, ";" },
        { "10000000000000000", false, 0, "10000000000000000" },
        { "", false, 0, "" },
        { ",1", false, 0, ",1" },
        { "-1", false, 0, "-1" },
        { "00000000000000000000001", true, 1, "" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *p = rows[i].in;
        uint64_t v = 0;
        assert_int_equal(rsp_number(&p, &v), rows[i].ok);
        assert_int_equal(v, rows[i].value);
        assert_string_equal(p, rows[i].rest);
    }
}

/* 0x376E6E7 is the check value of CRC-32/MPEG-2, which has these parameters. */
static void crc32__check_string__known_value(void **state)
{
    (void)state;
    assert_int_equal(rsp_crc32(0xFFFFFFFFu, (const uint8_t *)"123456789", 9), 0x0376E6E7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode__stream_split_anywhere__same_items),
        cmocka_unit_test(encode__every_byte__decodes_to_itself),
        cmocka_unit_test(hex__all_bytes__round_trip),
        cmocka_unit_test(hex__any_other_character__refused),
        cmocka_unit_test(number__texts__value_and_rest),
        cmocka_unit_test(crc32__check_string__known_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
