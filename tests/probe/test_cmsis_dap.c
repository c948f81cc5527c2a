/* Driver "cmsis-dap" without USB: what goes into packets and comes out of them, against the
 * firmware of the device model and the sim driver; which devices are probes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/cmsis_dap.h"
#include "targets/sim/sh4/board.h"
#include "tests/system/usb/model_cmsis_dap_fw.h"

static uint32_t next_random(uint32_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 17;
    return *s ^= *s << 5;
}

/* ---- golden bytes ---- */

/* A chunk made of text: "m" lines of TMS and TDI as '0' and '1'; one field of tdo over all bits
 * marked '^'. */
struct text_chunk {
    uint8_t tms[64], tdi[64], tdo[64], dst[64];
    struct jtag_field field[1];
    struct jtag_chunk c;
};

static void from_text(struct text_chunk *t, const char *tms, const char *tdi, const char *marks)
{
    memset(t, 0, sizeof *t);
    t->c = (struct jtag_chunk){ .tms = t->tms,
                                .tdi = t->tdi,
                                .tdo = t->tdo,
                                .cap_bits = 512,
                                .field = t->field,
                                .cap_fields = 1 };
    for (; tms[t->c.nbits]; t->c.nbits++) {
        uint32_t i = t->c.nbits;
        t->tms[i / 8] |= (uint8_t)((tms[i] == '1') << i % 8);
        t->tdi[i / 8] |= (uint8_t)((tdi[i] == '1') << i % 8);
    }
    const char *first = strchr(marks, '^');
    if (first) {
        t->field[0] = (struct jtag_field){ t->dst, 0, (uint32_t)(first - marks),
                                           (uint32_t)strspn(first, "^"), true };
        t->c.nfields = 1;
    }
}

static void pack__known_streams__golden_bytes(void **state)
{
    static const struct {
        const char *name, *tms, *tdi, *marks;
        struct dap_limits lim;
        bool odd;
        uint8_t want[32];
        size_t len, answer;
    } rows[] = {
        { "reset",
          "111110",
          "000000",
          "      ",
          { 64, 0, DAP_TOKEN_NONE },
          false,
          { 0x14, 2, 0x45, 0x00, 0x01, 0x00 },
          6,
          2 },
        /* Select, Capture, Shift; 32 bits of 0x80000001; Update, Idle */
        { "32 bits written and read",
          "1000000000000000000000000000000000110",
          "0001000000000000000000000000000000100",
          "   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
          { 64, 0, DAP_TOKEN_NONE },
          false,
          { 0x14, 4, 0x41, 0, 0xA1, 0x04, 0, 0, 0, 0, 0xC2, 0x01, 0x01, 0 },
          14,
          8 },
        { "the same, nothing read",
          "1000000000000000000000000000000000110",
          "0001000000000000000000000000000000100",
          "",
          { 64, 0, DAP_TOKEN_NONE },
          false,
          { 0x14, 4, 0x41, 0, 0x21, 0x04, 0, 0, 0, 0, 0x42, 0x01, 0x01, 0 },
          14,
          2 },
        { "64 clocks are coded as 0",
          "0000000000000000000000000000000000000000000000000000000000000000",
          "1000000000000000000000000000000000000000000000000000000000000001",
          "",
          { 64, 0, DAP_TOKEN_NONE },
          false,
          { 0x14, 1, 0x00, 1, 0, 0, 0, 0, 0, 0, 0x80 },
          11,
          2 },
        { "odd answer: a clock more is read",
          "111110",
          "000000",
          "",
          { 64, 64, DAP_TOKEN_LENGTH },
          true,
          { 0x14, 2, 0xC5, 0x00, 0x01, 0x00 },
          6,
          3 },
        { "odd, wrapped",
          "111110",
          "000000",
          "",
          { 64, 0, DAP_TOKEN_WRAP },
          true,
          { 0x7F, 1, 0x14, 2, 0x45, 0x00, 0x01, 0x00 },
          8,
          4 },
        { "even, not wrapped",
          "111110",
          "000000",
          "",
          { 64, 0, DAP_TOKEN_WRAP },
          false,
          { 0x14, 2, 0x45, 0x00, 0x01, 0x00 },
          6,
          2 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct text_chunk t;
        uint8_t buf[64];
        struct dap_request r = { .buf = buf };
        uint32_t field = 0;
        print_message("  %s\n", rows[i].name);
        from_text(&t, rows[i].tms, rows[i].tdi, rows[i].marks);
        assert_int_equal(dap_pack(&t.c, 0, &field, rows[i].odd, &rows[i].lim, &r), t.c.nbits);
        assert_int_equal(r.len, rows[i].len);
        assert_memory_equal(buf, rows[i].want, rows[i].len);
        assert_int_equal(r.answer_len, rows[i].answer);
    }
}

/* A scan of 32 bits is 12 bytes through Run-Test/Idle, 8 past it; a packet has at most 255
 * sequences. */
static void pack__scans_of_32_bits__as_many_as_a_packet_can_hold(void **state)
{
    static const struct {
        size_t packet, endpoint;
        unsigned direct, scans;
    } rows[] = {
        { 64, 0, 0, 5 },     { 64, 64, 0, 5 },    { 512, 0, 0, 42 }, { 512, 512, 0, 42 },
        { 1024, 0, 0, 63 },  { 64, 0, 1, 7 },     { 64, 64, 1, 7 },  { 512, 0, 1, 63 },
        { 512, 512, 1, 63 }, { 1024, 0, 1, 127 },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        enum { SCANS = 140, THROUGH_IDLE = 37 };
        uint8_t tms[SCANS * THROUGH_IDLE / 8 + 1] = { 0 }, tdi[sizeof tms] = { 0 }, dst[4 * SCANS],
                                               buf[1024];
        uint32_t clocks_each = THROUGH_IDLE - rows[k].direct;
        struct jtag_field f[SCANS];
        struct jtag_chunk c = { .tms = tms,
                                .tdi = tdi,
                                .field = f,
                                .cap_fields = SCANS,
                                .nbits = SCANS * clocks_each,
                                .nfields = SCANS };
        struct dap_request r = { .buf = buf };
        const struct dap_limits lim = { rows[k].packet, rows[k].endpoint, DAP_TOKEN_NONE };
        uint32_t field = 0;
        for (uint32_t s = 0, at = 0; s < SCANS; s++, at += clocks_each) {
            static const unsigned high[] = { 0, 34, 35 };
            for (size_t i = 0; i < ARRAY_LEN(high); i++)
                tms[(at + high[i]) / 8] |= (uint8_t)(1u << (at + high[i]) % 8);
            f[s] = (struct jtag_field){ dst + 4 * s, 0, at + 3, 32, true };
        }
        uint32_t clocks = dap_pack(&c, 0, &field, false, &lim, &r);
        assert_in_range(clocks, rows[k].scans * clocks_each,
                        rows[k].scans * clocks_each + clocks_each - 1);
        assert_true(field >= rows[k].scans);
    }
}

/* ---- against the model's firmware ---- */

/* Chunks go to the firmware packet by packet, under a driver's limits. */
struct loop {
    struct dap_firmware fw;
    struct dap_limits lim;
    bool odd;
    uint64_t packets;
    struct jtag_stream stream;
    struct jtag_chunk chunk;
    uint8_t tms[512], tdi[512], tdo[512];
    struct jtag_field field[64];
};

static int loop_send(void *ctx, struct jtag_chunk *c, struct err *err)
{
    struct loop *l = ctx;
    uint32_t field = 0;
    for (uint32_t at = 0; at < c->nbits;) {
        uint8_t req[FW_MAX_PACKET], answer[FW_MAX_PACKET];
        struct dap_request r = { .buf = req };
        uint32_t n = dap_pack(c, at, &field, l->odd, &l->lim, &r);
        assert_in_range(n, 1, c->nbits - at);
        assert_in_range(r.len, 4, l->lim.packet);
        assert_in_range(r.answer_len, 2, l->lim.packet);
        assert_true(!l->lim.endpoint || r.len % l->lim.endpoint);
        assert_true(!l->lim.endpoint || r.answer_len % l->lim.endpoint);
        size_t got = dap_firmware_run(&l->fw, req, r.len, answer);
        assert_int_equal(got, r.answer_len);
        int ret = dap_unpack(&r, answer, got, true, c->tdo, err);
        if (ret < 0)
            return ret;
        l->odd = !l->odd;
        l->packets++;
        at += n;
    }
    return 0;
}

static void loop_init(struct loop *l, const struct dap_limits *lim)
{
    static const struct jtag_stream_io io = { .send = loop_send };
    memset(l, 0, sizeof *l);
    l->lim = *lim;
    l->fw = (struct dap_firmware){ .can = FW_CAN_JTAG | FW_CAN_ATOMIC,
                                   .packet_size = (unsigned)lim->packet,
                                   .packet_count = 1,
                                   .port = 2 };
    assert_int_equal(sh4_board_sh7750.create("", NULL, &l->fw.board, NULL), 0);
    /* its program would write SDDR, too */
    l->fw.board->type->set_pins(l->fw.board, JTAG_PIN_NRESET, 0, NULL);
    l->chunk = (struct jtag_chunk){ .tms = l->tms,
                                    .tdi = l->tdi,
                                    .tdo = l->tdo,
                                    .cap_bits = 4096,
                                    .field = l->field,
                                    .cap_fields = 64 };
    jtag_stream_init(&l->stream, &io, l, &l->chunk, 1);
    l->stream.direct = lim->packet != 33; /* as the driver has it; once the other way */
}

enum { OPS = 40, MOST_BYTES = 64 };

/* Commands BYPASS and 60 (SDDR): what they show depends on the scans alone, not on how many clocks
 * the board has seen. */
static size_t random_ops(uint32_t *seed, struct jtag_op *ops, uint8_t tdi[OPS][MOST_BYTES],
                         uint8_t tdo[OPS][MOST_BYTES])
{
    size_t n = next_random(seed) % OPS + 1;
    for (size_t i = 0; i < n; i++) {
        unsigned kind = next_random(seed) % 10,
                 bits = next_random(seed) % 4 == 0 ? next_random(seed) % (8 * MOST_BYTES) + 1
                        : next_random(seed) % 2    ? 32
                                                   : 16;
        for (unsigned b = 0; b < MOST_BYTES; b++)
            tdi[i][b] = (uint8_t)next_random(seed);
        uint8_t *out = next_random(seed) % 3 ? tdo[i] : NULL,
                *in = next_random(seed) % 4 ? tdi[i] : NULL;
        if (kind > 1 && kind < 4) {
            in = memset(tdi[i], 0xFF, MOST_BYTES);
            if (bits == 16)
                put_le16(tdi[i], next_random(seed) % 2 ? 0x6000 : 0xFFFF);
        }
        ops[i] = kind == 0   ? jtag_reset()
                 : kind == 1 ? jtag_idle(next_random(seed) % 300)
                 : kind < 4  ? jtag_ir(bits, in, out)
                             : jtag_dr(bits, in, out);
        ops[i].idle_clocks = next_random(seed) % 5 == 0 ? next_random(seed) % 20 : 0;
    }
    return n;
}

static void pack__random_ops_at_every_packet_size__same_tdo_as_the_sim_driver(void **state)
{
    static const struct dap_limits rows[] = {
        { 16, 0, DAP_TOKEN_NONE },    { 16, 0, DAP_TOKEN_LENGTH },
        { 33, 0, DAP_TOKEN_LENGTH },  { 64, 0, DAP_TOKEN_NONE },
        { 64, 64, DAP_TOKEN_LENGTH }, { 64, 0, DAP_TOKEN_WRAP },
        { 65, 64, DAP_TOKEN_LENGTH }, { 512, 64, DAP_TOKEN_LENGTH },
        { 512, 512, DAP_TOKEN_NONE }, { 512, 512, DAP_TOKEN_LENGTH },
        { 512, 0, DAP_TOKEN_WRAP },   { 1024, 512, DAP_TOKEN_LENGTH },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        const struct sim_board_type *boards[] = { &sh4_board_sh7750, NULL };
        const struct probe_config cfg = { .boards = boards };
        struct probe *sim;
        struct loop *l = malloc(sizeof *l);
        uint32_t seed = 99 + (uint32_t)k;
        loop_init(l, &rows[k]);
        assert_int_equal(probe_open("sim:sh7750", &cfg, &sim, NULL), 0);
        assert_int_equal(sim->driver->jtag->set_pins(sim, JTAG_PIN_NRESET, 0, NULL), 0);
        const struct jtag_op reset = jtag_reset();
        assert_int_equal(sim->driver->jtag->execute(sim, &reset, 1, NULL), 0);
        assert_int_equal(jtag_stream_run(&l->stream, &reset, 1, NULL), 0);
        for (int round = 0; round < 60; round++) {
            struct jtag_op a[OPS], b[OPS];
            uint8_t tdi[OPS][MOST_BYTES], ta[OPS][MOST_BYTES] = { { 0 } },
                                          tb[OPS][MOST_BYTES] = { { 0 } };
            size_t n = random_ops(&seed, a, tdi, ta);
            memcpy(b, a, sizeof a);
            for (size_t i = 0; i < n; i++)
                b[i].tdo = a[i].tdo ? tb[i] : NULL;
            assert_int_equal(sim->driver->jtag->execute(sim, b, n, NULL), 0);
            assert_int_equal(jtag_stream_run(&l->stream, a, n, NULL), 0);
            for (size_t i = 0; i < n; i++)
                if (memcmp(ta[i], tb[i], MOST_BYTES) != 0)
                    fail_msg("round %d, op %zu of %zu (kind %d, %u bits, after kind %d): %08x, "
                             "wanted %08x",
                             round, i, n, (int)a[i].kind, a[i].bits, i ? (int)a[i - 1].kind : -1,
                             le32(ta[i]), le32(tb[i]));
        }
        assert_int_equal(l->fw.malformed, 0);
        print_message("  packets of %zu, endpoint %zu, token %d: %llu packets, %.1f clocks each\n",
                      rows[k].packet, rows[k].endpoint, (int)rows[k].token,
                      (unsigned long long)l->packets,
                      (double)l->stream.tck_clocks / (double)l->packets);
        l->fw.board->type->destroy(l->fw.board);
        probe_close(sim);
        free(l);
    }
}

/* Neighbours must not be mistaken for one another, whatever they carry. */
static void pack__tokens__alternate_in_every_packet(void **state)
{
    static const struct dap_limits rows[] = { { 64, 64, DAP_TOKEN_LENGTH },
                                              { 512, 512, DAP_TOKEN_LENGTH },
                                              { 64, 0, DAP_TOKEN_WRAP } };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        uint32_t seed = 7;
        for (int round = 0; round < 300; round++) {
            uint8_t tms[256], tdi[256], dst[512], buf[512];
            struct jtag_field f = { dst, 0, 0, 2048, true };
            struct jtag_chunk c = { .tms = tms,
                                    .tdi = tdi,
                                    .field = &f,
                                    .nfields = next_random(&seed) % 2,
                                    .nbits = next_random(&seed) % 2040 + 1 };
            struct dap_request r = { .buf = buf };
            uint32_t field = 0;
            unsigned density = next_random(&seed) % 3;
            bool odd = next_random(&seed) & 1;
            for (size_t i = 0; i < sizeof tms; i++)
                tms[i] = (uint8_t)(density == 0   ? 0
                                   : density == 1 ? next_random(&seed)
                                                  : next_random(&seed) & next_random(&seed) &
                                                        next_random(&seed) & next_random(&seed));
            for (uint32_t at = 0; at < c.nbits; odd = !odd) {
                at += dap_pack(&c, at, &field, odd, &rows[k], &r);
                if (rows[k].token == DAP_TOKEN_WRAP)
                    assert_int_equal(buf[0], odd ? DAP_EXECUTE : DAP_JTAG_SEQUENCE);
                else if (r.clocks > 8 ||
                         !c.nfields) /* one captured byte alone has no other length */
                    assert_int_equal(r.answer_len % 2, odd);
            }
        }
    }
}

/* ---- answers that are none ---- */

static void unpack__foreign_answers__are_refused_and_leave_tdo_alone(void **state)
{
    static const struct {
        const char *name;
        bool odd, exact;
        uint8_t answer[12];
        size_t len;
        int ret;
    } rows[] = {
        { "right", false, true, { 0x14, 0, 0x55, 1, 2, 3, 3, 3 }, 8, 0 },
        { "right and padded", false, false, { 0x14, 0, 0x55, 1, 2, 3, 3, 3, 9, 9 }, 10, 0 },
        { "right, wrapped", true, false, { 0x7F, 1, 0x14, 0, 0x55, 1, 2, 3, 3, 3 }, 10, 0 },
        { "one byte too many", false, true, { 0x14, 0, 0x55, 1, 2, 3, 3, 3, 9 }, 9, -ERR_PROTOCOL },
        { "one too few", false, true, { 0x14, 0, 0x55, 1, 2, 3, 3 }, 7, -ERR_PROTOCOL },
        { "one too few, padding allowed",
          false,
          false,
          { 0x14, 0, 0x55, 1, 2, 3, 3 },
          7,
          -ERR_PROTOCOL },
        { "another command", false, true, { 0x00, 0, 0x55, 1, 2, 3, 3, 3 }, 8, -ERR_PROTOCOL },
        { "the wrapped one before it",
          false,
          false,
          { 0x7F, 1, 0x14, 0, 0x55, 1, 2, 3, 3, 3 },
          10,
          -ERR_PROTOCOL },
        { "the bare one before it",
          true,
          false,
          { 0x14, 0, 0x55, 1, 2, 3, 3, 3, 0, 0 },
          10,
          -ERR_PROTOCOL },
        { "wrapped, two commands",
          true,
          false,
          { 0x7F, 2, 0x14, 0, 0x55, 1, 2, 3, 3, 3 },
          10,
          -ERR_PROTOCOL },
        { "wrapped, another inside",
          true,
          false,
          { 0x7F, 1, 0x00, 0, 0x55, 1, 2, 3, 3, 3 },
          10,
          -ERR_PROTOCOL },
        { "refused", false, true, { 0x14, 0xFF }, 2, -ERR_PROTOCOL },
        { "unknown command", false, true, { 0xFF }, 1, -ERR_PROTOCOL },
        { "nothing", false, true, { 0 }, 0, -ERR_PROTOCOL },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct text_chunk t;
        uint8_t buf[64], tdo[8] = { 0 };
        struct dap_request r = { .buf = buf };
        struct err err = { .code = ERR_OK };
        const struct dap_limits lim = { 64, 0, DAP_TOKEN_WRAP };
        uint32_t field = 0;
        print_message("  %s\n", rows[i].name);
        from_text(&t, "1000000000000000000000000000000000110",
                  "0000000000000000000000000000000000000", "   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^");
        dap_pack(&t.c, 0, &field, rows[i].odd, &lim, &r);
        assert_int_equal(dap_unpack(&r, rows[i].answer, rows[i].len, rows[i].exact, tdo, &err),
                         rows[i].ret);
        static const uint8_t got[8] = { 0xAA, 0x02, 0x04, 0x06, 0x0E }, none[8] = { 0 };
        assert_memory_equal(tdo, rows[i].ret == 0 ? got : none, 8);
        assert_true(rows[i].ret == 0 || err.hint[0]);
    }
}

static void report_bytes__descriptors__give_the_output_report(void **state)
{
    static const struct {
        const char *name;
        uint8_t d[40];
        size_t len, want;
    } rows[] = {
        { "64, count in a byte",
          { 0x06, 0x00, 0xFF, 0x09, 1,    0xA1, 1,    0x75, 8,    0x95, 0x40,
            0x09, 1,    0x81, 2,    0x95, 0x40, 0x09, 1,    0x91, 2,    0xC0 },
          22,
          64 },
        { "512, count in two",
          { 0x75, 8, 0x96, 0x00, 0x02, 0x81, 2, 0x96, 0x00, 0x02, 0x91, 2, 0xC0 },
          13,
          512 },
        { "output shorter than input", { 0x75, 8, 0x95, 32, 0x81, 2, 0x95, 16, 0x91, 2 }, 10, 16 },
        { "numbered", { 0x85, 1, 0x75, 8, 0x95, 63, 0x91, 2 }, 8, 0 },
        { "no output", { 0x75, 8, 0x95, 63, 0x81, 2 }, 6, 0 },
        { "cut in an item", { 0x75, 8, 0x96, 0x40 }, 4, 0 },
        { "absurd", { 0x75, 0xFF, 0x97, 0xFF, 0xFF, 0xFF, 0xFF, 0x91, 2 }, 9, 0 },
        { "nothing", { 0 }, 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %s\n", rows[i].name);
        assert_int_equal(dap_report_bytes(rows[i].d, rows[i].len), rows[i].want);
    }
}

/* ---- discovery ---- */

#define BULK2 { { 0x02, 2, 512 }, { 0x82, 2, 512 } }, 2
#define BULK3 { { 0x02, 2, 512 }, { 0x82, 2, 512 }, { 0x83, 2, 512 } }, 3
#define HID2  { { 0x81, 3, 64 }, { 0x01, 3, 64 } }, 2

static void find__descriptors_of_the_field__right_interface(void **state)
{
    static const struct {
        const char *name;
        struct usb_info dev;
        int only, transport, interface;
    } rows[] = {
        { "product says so, bulk",
          { .product = "X CMSIS-DAP", .itf = { { 0, 0xFF, 0, 0, 0, "", BULK2 } }, .nitfs = 1 },
          0,
          2,
          0 },
        { "three endpoints",
          { .product = "X CMSIS-DAP", .itf = { { 0, 0xFF, 0, 0, 0, "", BULK3 } }, .nitfs = 1 },
          0,
          2,
          0 },
        { "the other spelling",
          { .product = "X CMSIS_DAP", .itf = { { 0, 0xFF, 0, 0, 0, "", BULK2 } }, .nitfs = 1 },
          0,
          2,
          0 },
        { "lower case is another thing",
          { .product = "X cmsis-dap", .itf = { { 0, 0xFF, 0, 0, 0, "", BULK2 } }, .nitfs = 1 },
          0,
          0,
          0 },
        { "interface says so",
          { .product = "X",
            .itf = { { 0, 2, 2, 1, 0, "serial", BULK2 },
                     { 3, 0xFF, 0, 0, 5, "CMSIS-DAP v2", BULK2 } },
            .nitfs = 2 },
          0,
          2,
          3 },
        { "the one that says so is better",
          { .product = "X CMSIS-DAP",
            .itf = { { 0, 0xFF, 0, 0, 0, "", BULK2 }, { 1, 0xFF, 0, 0, 5, "CMSIS-DAP", BULK2 } },
            .nitfs = 2 },
          0,
          2,
          1 },
        { "unnamed before otherwise named",
          { .product = "X CMSIS-DAP",
            .itf = { { 0, 0xFF, 0, 0, 4, "WebUSB", BULK2 }, { 1, 0xFF, 0, 0, 0, "", BULK2 } },
            .nitfs = 2 },
          0,
          2,
          1 },
        { "class 0",
          { .product = "KitProg3 CMSIS-DAP", .itf = { { 0, 0, 0, 0, 0, "", BULK2 } }, .nitfs = 1 },
          0,
          2,
          0 },
        { "class of others",
          { .product = "X CMSIS-DAP", .itf = { { 0, 10, 0, 0, 0, "", BULK2 } }, .nitfs = 1 },
          0,
          0,
          0 },
        { "subclass of others",
          { .product = "X CMSIS-DAP", .itf = { { 0, 0xFF, 3, 0, 0, "", BULK2 } }, .nitfs = 1 },
          0,
          0,
          0 },
        { "IN first",
          { .product = "X CMSIS-DAP",
            .itf = { { 0, 0xFF, 0, 0, 0, "", { { 0x82, 2, 512 }, { 0x02, 2, 512 } }, 2 } },
            .nitfs = 1 },
          0,
          0,
          0 },
        { "HID",
          { .product = "X CMSIS-DAP", .itf = { { 2, 3, 0, 0, 0, "", HID2 } }, .nitfs = 1 },
          0,
          1,
          2 },
        { "both: bulk",
          { .product = "X CMSIS-DAP",
            .itf = { { 0, 3, 0, 0, 0, "", HID2 }, { 1, 0xFF, 0, 0, 0, "", BULK2 } },
            .nitfs = 2 },
          0,
          2,
          1 },
        { "both, v1 wanted",
          { .product = "X CMSIS-DAP",
            .itf = { { 0, 3, 0, 0, 0, "", HID2 }, { 1, 0xFF, 0, 0, 0, "", BULK2 } },
            .nitfs = 2 },
          1,
          1,
          0 },
        { "HID, v2 wanted",
          { .product = "X CMSIS-DAP", .itf = { { 0, 3, 0, 0, 0, "", HID2 } }, .nitfs = 1 },
          2,
          0,
          0 },
        { "LPC-Link2: the first HID",
          { .vid = 0x1fc9,
            .pid = 0x0090,
            .product = "LPC-LINK2 CMSIS-DAP",
            .itf = { { 4, 3, 0, 0, 0, "", HID2 }, { 0, 3, 0, 0, 0, "", HID2 } },
            .nitfs = 2 },
          0,
          1,
          0 },
        { "WCH-Link: by its ids",
          { .vid = 0x1a86,
            .pid = 0x8012,
            .product = "WCH-Link",
            .itf = { { 0, 0xFF, 0, 0, 0, "", BULK2 } },
            .nitfs = 1 },
          0,
          2,
          0 },
        { "a mouse",
          { .product = "Mouse", .itf = { { 0, 3, 1, 2, 0, "", HID2 } }, .nitfs = 1 },
          0,
          0,
          0 },
    };
    static const struct dap_transport *const t[] = { NULL, &dap_v1, &dap_v2 };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct dap_place place = { NULL, 99 };
        print_message("  %s\n", rows[i].name);
        assert_int_equal(dap_find(&rows[i].dev, t[rows[i].only], &place), rows[i].transport != 0);
        assert_ptr_equal(place.t, t[rows[i].transport]);
        assert_int_equal(place.interface, rows[i].transport ? rows[i].interface : 99);
    }
}

static void quirks__by_ids_and_product__first_that_fits(void **state)
{
    static const struct usb_info atmel = { .vid = 0x03eb, .pid = 0x2141 },
                                 daplink = { .vid = 0x0d28,
                                             .pid = 0x0204,
                                             .product = "DAPLink CMSIS-DAP" },
                                 particle = { .vid = 0x0d28,
                                              .pid = 0x0204,
                                              .product = "Particle Debugger CMSIS-DAP" },
                                 other = { .vid = 0x1234, .pid = 0x5678 };
    (void)state;
    assert_int_equal(dap_quirks(&atmel)->report, 512);
    assert_int_equal(dap_quirks(&daplink)->in_flight, 0);
    assert_int_equal(dap_quirks(&daplink)->timeout_ms, 6000);
    assert_int_equal(dap_quirks(&particle)->in_flight, 1);
    assert_null(dap_quirks(&other)->why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pack__known_streams__golden_bytes),
        cmocka_unit_test(pack__scans_of_32_bits__as_many_as_a_packet_can_hold),
        cmocka_unit_test(pack__random_ops_at_every_packet_size__same_tdo_as_the_sim_driver),
        cmocka_unit_test(pack__tokens__alternate_in_every_packet),
        cmocka_unit_test(unpack__foreign_answers__are_refused_and_leave_tdo_alone),
        cmocka_unit_test(report_bytes__descriptors__give_the_output_report),
        cmocka_unit_test(find__descriptors_of_the_field__right_interface),
        cmocka_unit_test(quirks__by_ids_and_product__first_that_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
