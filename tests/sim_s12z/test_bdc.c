/* The background debug controller on its pin. */
#include "tests/sim_s12z/rig.h"

enum { CRN_D0, CRN_D2 = 2, CRN_X = 8, CRN_SP = 10, CRN_PC = 11, CRN_CCR = 12 };
enum {
    ENBDC = 0x8000,
    BDMACT = 0x4000,
    UNSEC = 0x0200,
    OVRUN = 0x10,
    ILLACC = 0x02,
    ILLCMD = 0x01
};

static void sync__any_clock__is_measured(void **state)
{
    static const struct {
        const char *board;
        uint32_t hz;
    } rows[] = {
        { "sim:s12zvml128", 1000000 },
        { "sim:s12zvml128,bdc=500k", 500000 },
        { "sim:s12zvml128,bdc=4M", 4000000 },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct rig r = rig_open(rows[k].board);
        uint32_t hz = 0;
        print_message("  %s\n", rows[k].board);
        assert_int_equal(r.bdc->sync(r.p, &hz, NULL), 0);
        assert_in_range(hz, rows[k].hz * 99 / 100, rows[k].hz * 101 / 100);
        rig_close(&r);
    }
}

static void csr__after_normal_reset__is_disabled_and_unsecured(void **state)
{
    (void)state;
    struct rig r = rig_open("sim:s12zvml128");
    uint32_t hz;
    assert_int_equal(r.bdc->sync(r.p, &hz, NULL), 0);
    assert_int_equal(rig_csr(&r), UNSEC);
    rig_set_csr(&r, 0x80FF);
    assert_int_equal(rig_csr(&r), ENBDC | UNSEC);
    rig_close(&r);
}

static void registers__written__read_back_in_their_width(void **state)
{
    static const uint32_t masks[] = {
        0xFF,       0xFF,       0xFFFF,   0xFFFF,   0xFFFF,   0xFFFF,
        0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF
    };
    (void)state;
    struct rig r = rig_open("sim:s12zvml128");
    rig_attach(&r);
    for (unsigned n = 0; n < ARRAY_LEN(masks); n++) {
        rig_set_reg(&r, n, 0x89ABCDEF + n);
        assert_int_equal(rig_reg(&r, n), (0x89ABCDEF + n) & masks[n]);
    }
    assert_int_equal(rig_reg(&r, 13), 0xEEEEEEEE);
    assert_true(rig_csr(&r) & ILLACC);
    rig_close(&r);
}

static void memory__every_width__round_trips_and_refuses_holes(void **state)
{
    (void)state;
    struct rig r = rig_open("sim:s12zvml128");
    uint8_t out[64], in[64];
    rig_attach(&r);
    for (unsigned width = 1; width <= 4; width *= 2) {
        for (size_t k = 0; k < sizeof out; k++)
            out[k] = (uint8_t)(k * 7 + width);
        assert_int_equal(rig_block(&r, BDC_WRITE, 0x1100, width, out, sizeof out), BDC_OK);
        memset(in, 0, sizeof in);
        assert_int_equal(rig_block(&r, BDC_READ, 0x1100, width, in, sizeof in), BDC_OK);
        assert_memory_equal(in, out, sizeof in);
    }
    assert_int_equal(rig_block(&r, BDC_READ, 0x300000, 4, in, 4), BDC_LONG_ACK);
    assert_memory_equal(in, "\xEE\xEE\xEE\xEE", 4);
    assert_true(rig_csr(&r) & ILLACC);
    rig_set_csr(&r, 0x80FF);
    assert_false(rig_csr(&r) & ILLACC);
    /* flash is not written like this */
    assert_int_equal(rig_block(&r, BDC_WRITE, 0xFE0000, 1, out, 1), BDC_LONG_ACK);
    assert_true(rig_csr(&r) & ILLACC);
    rig_close(&r);
}

/* Forms with status have no ACK: the driver waits long enough for the access in both settings. */
static void with_status__ack_on_and_off__status_then_data(void **state)
{
    (void)state;
    struct rig r = rig_open("sim:s12zvml128");
    rig_attach(&r);
    for (unsigned ack = 2; ack-- > 0;) {
        uint8_t rx[5] = { 0 };
        assert_int_equal(r.bdc->set_ack(r.p, ack, NULL), 0);
        assert_int_equal(rig_command(&r, ack ? BDC_ACK_ENABLE : BDC_ACK_DISABLE, 0, NULL, NULL),
                         BDC_OK);
        assert_int_equal(
            rig_command(&r, BDC_WRITE_MEM + 9, 0x1200, (const uint8_t[]){ 1, 2, 3, 4 }, rx),
            BDC_OK);
        assert_int_equal(rx[0], 0);
        assert_int_equal(rig_command(&r, BDC_READ_MEM + 9, 0x1200, NULL, rx), BDC_OK);
        assert_memory_equal(rx, "\0\1\2\3\4", 5);
        assert_int_equal(rig_command(&r, BDC_READ_SAME + 5, 0, NULL, rx), BDC_OK);
        assert_memory_equal(rx, "\0\1\2", 3);
        assert_int_equal(rig_command(&r, BDC_READ_MEM + 1, 0x300000, NULL, rx), BDC_OK);
        assert_memory_equal(rx, "\x02\xEE", 2);
        rig_set_csr(&r, 0x80FF);
    }
    rig_close(&r);
}

/* ld d2,#0; add d2,#1; bra back */
static const uint8_t counting[] = { 0x92 - 2, 0x00, 0x00, 0x50, 0x00, 0x01, 0x20, 0x7D };

static void run__go_and_background__the_program_ran(void **state)
{
    (void)state;
    struct rig r = rig_open("sim:s12zvml128");
    rig_attach(&r);
    assert_int_equal(rig_block(&r, BDC_WRITE, 0x1000, 1, (void *)counting, sizeof counting),
                     BDC_OK);
    rig_set_reg(&r, CRN_PC, 0x1000);
    assert_int_equal(rig_command(&r, BDC_STEP1, 0, NULL, NULL), BDC_OK);
    assert_int_equal(rig_reg(&r, CRN_PC), 0x1003);
    assert_int_equal(rig_command(&r, BDC_STEP1, 0, NULL, NULL), BDC_OK);
    assert_int_equal(rig_reg(&r, CRN_D2), 1);
    assert_int_equal(rig_command(&r, BDC_GO, 0, NULL, NULL), BDC_OK);
    assert_false(rig_csr(&r) & BDMACT);
    uint8_t pc[3];
    assert_int_equal(rig_command(&r, BDC_SYNC_PC, 0, NULL, pc), BDC_OK);
    assert_in_range((unsigned)pc[0] << 16 | (unsigned)pc[1] << 8 | pc[2], 0x1003, 0x1006);
    assert_int_equal(rig_command(&r, BDC_BACKGROUND, 0, NULL, NULL), BDC_OK);
    assert_true(rig_csr(&r) & BDMACT);
    assert_true(rig_reg(&r, CRN_D2) > 100);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sync__any_clock__is_measured),
        cmocka_unit_test(csr__after_normal_reset__is_disabled_and_unsecured),
        cmocka_unit_test(registers__written__read_back_in_their_width),
        cmocka_unit_test(memory__every_width__round_trips_and_refuses_holes),
        cmocka_unit_test(with_status__ack_on_and_off__status_then_data),
        cmocka_unit_test(run__go_and_background__the_program_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
