/* Every opcode of the BDC command set (ZVHL p.155-173, ZVM p.163-166): what follows it, and that
 * nothing else is a command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/bdc_commands.h"

static const struct {
    const char *name;
    uint8_t opcode;
    struct bdc_shape shape;
} rows[] = {
    /* class, address, sent, received, ACKs, status */
    { "NOP", 0x00, { BDC_HALTED, 0, 0, 0, 1, false } },
    { "SYNC_PC", 0x01, { BDC_NONINTRUSIVE, 0, 0, 3, 1, false } },
    { "ACK_ENABLE", 0x02, { BDC_ALWAYS, 0, 0, 0, 1, false } },
    { "ACK_DISABLE", 0x03, { BDC_ALWAYS, 0, 0, 0, 0, false } },
    { "BACKGROUND", 0x04, { BDC_NONINTRUSIVE, 0, 0, 0, 1, false } },
    { "READ_DBGTB", 0x07, { BDC_NONINTRUSIVE, 0, 0, 8, 2, false } },
    { "GO", 0x08, { BDC_HALTED, 0, 0, 0, 1, false } },
    { "STEP1", 0x09, { BDC_HALTED, 0, 0, 0, 1, false } },
    { "GO_UNTIL", 0x0C, { BDC_HALTED, 0, 0, 0, 1, false } },
    { "WRITE_BDCCSR", 0x0D, { BDC_ALWAYS, 0, 2, 0, 0, false } },
    { "READ_BDCCSR", 0x2D, { BDC_ALWAYS, 0, 0, 2, 0, false } },
    { "ERASE_FLASH", 0x95, { BDC_ALWAYS, 0, 0, 0, 0, false } },
    { "WRITE_MEM.b", 0x10, { BDC_NONINTRUSIVE, 3, 1, 0, 1, false } },
    { "WRITE_MEM.w", 0x14, { BDC_NONINTRUSIVE, 3, 2, 0, 1, false } },
    { "WRITE_MEM.l", 0x18, { BDC_NONINTRUSIVE, 3, 4, 0, 1, false } },
    { "WRITE_MEM.b_WS", 0x11, { BDC_NONINTRUSIVE, 3, 1, 0, 0, true } },
    { "WRITE_MEM.w_WS", 0x15, { BDC_NONINTRUSIVE, 3, 2, 0, 0, true } },
    { "WRITE_MEM.l_WS", 0x19, { BDC_NONINTRUSIVE, 3, 4, 0, 0, true } },
    { "FILL_MEM.b", 0x12, { BDC_NONINTRUSIVE, 0, 1, 0, 1, false } },
    { "FILL_MEM.w", 0x16, { BDC_NONINTRUSIVE, 0, 2, 0, 1, false } },
    { "FILL_MEM.l", 0x1A, { BDC_NONINTRUSIVE, 0, 4, 0, 1, false } },
    { "FILL_MEM.b_WS", 0x13, { BDC_NONINTRUSIVE, 0, 1, 0, 0, true } },
    { "FILL_MEM.w_WS", 0x17, { BDC_NONINTRUSIVE, 0, 2, 0, 0, true } },
    { "FILL_MEM.l_WS", 0x1B, { BDC_NONINTRUSIVE, 0, 4, 0, 0, true } },
    { "READ_MEM.b", 0x30, { BDC_NONINTRUSIVE, 3, 0, 1, 1, false } },
    { "READ_MEM.w", 0x34, { BDC_NONINTRUSIVE, 3, 0, 2, 1, false } },
    { "READ_MEM.l", 0x38, { BDC_NONINTRUSIVE, 3, 0, 4, 1, false } },
    { "READ_MEM.b_WS", 0x31, { BDC_NONINTRUSIVE, 3, 0, 1, 0, true } },
    { "READ_MEM.w_WS", 0x35, { BDC_NONINTRUSIVE, 3, 0, 2, 0, true } },
    { "READ_MEM.l_WS", 0x39, { BDC_NONINTRUSIVE, 3, 0, 4, 0, true } },
    { "DUMP_MEM.b", 0x32, { BDC_NONINTRUSIVE, 0, 0, 1, 1, false } },
    { "DUMP_MEM.w", 0x36, { BDC_NONINTRUSIVE, 0, 0, 2, 1, false } },
    { "DUMP_MEM.l", 0x3A, { BDC_NONINTRUSIVE, 0, 0, 4, 1, false } },
    { "DUMP_MEM.b_WS", 0x33, { BDC_NONINTRUSIVE, 0, 0, 1, 0, true } },
    { "DUMP_MEM.w_WS", 0x37, { BDC_NONINTRUSIVE, 0, 0, 2, 0, true } },
    { "DUMP_MEM.l_WS", 0x3B, { BDC_NONINTRUSIVE, 0, 0, 4, 0, true } },
    { "READ_SAME.b", 0x50, { BDC_NONINTRUSIVE, 0, 0, 1, 1, false } },
    { "READ_SAME.w", 0x54, { BDC_NONINTRUSIVE, 0, 0, 2, 1, false } },
    { "READ_SAME.l", 0x58, { BDC_NONINTRUSIVE, 0, 0, 4, 1, false } },
    { "READ_SAME.b_WS", 0x51, { BDC_NONINTRUSIVE, 0, 0, 1, 0, true } },
    { "READ_SAME.w_WS", 0x55, { BDC_NONINTRUSIVE, 0, 0, 2, 0, true } },
    { "READ_SAME.l_WS", 0x59, { BDC_NONINTRUSIVE, 0, 0, 4, 0, true } },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void bdc_shape__every_command__is_as_in_the_table(void **state)
{
    (void)state;
    for (size_t k = 0; k < ROWS; k++) {
        const struct bdc_shape *e = &rows[k].shape;
        struct bdc_shape s;
        assert_string_equal(bdc_name(rows[k].opcode), rows[k].name);
        assert_int_equal(bdc_shape(rows[k].opcode, &s), 0);
        assert_true(s.cls == e->cls && s.address_bytes == e->address_bytes &&
                    s.tx_bytes == e->tx_bytes && s.rx_bytes == e->rx_bytes && s.acks == e->acks &&
                    s.status == e->status);
    }
    for (unsigned n = 0; n < 16; n++) { /* registers: always 32 bits */
        struct bdc_shape w, r;
        assert_int_equal(bdc_shape((uint8_t)(BDC_WRITE_REG + n), &w), 0);
        assert_int_equal(bdc_shape((uint8_t)(BDC_READ_REG + n), &r), 0);
        assert_true(w.cls == BDC_HALTED && w.tx_bytes == 4 && w.rx_bytes == 0 && w.acks == 1);
        assert_true(r.cls == BDC_HALTED && r.rx_bytes == 4 && r.tx_bytes == 0 && r.acks == 1);
    }
}

static void bdc_shape__any_other_opcode__is_no_command(void **state)
{
    (void)state;
    for (unsigned op = 0; op < 256; op++) {
        struct bdc_shape s = { .rx_bytes = 77 };
        bool known = (op & 0xF0) == BDC_WRITE_REG || (op & 0xF0) == BDC_READ_REG;
        for (size_t k = 0; k < ROWS; k++)
            known |= rows[k].opcode == op;
        assert_int_equal(bdc_shape((uint8_t)op, &s), known ? 0 : -1);
        if (!known) {
            assert_int_equal(s.rx_bytes, 77);
            assert_string_equal(bdc_name((uint8_t)op), "?");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bdc_shape__every_command__is_as_in_the_table),
        cmocka_unit_test(bdc_shape__any_other_opcode__is_no_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
