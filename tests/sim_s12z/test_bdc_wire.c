/* The debug controller against the rules of the manuals (ZVHL p.143-177), sentence by sentence, on
 * the bare pin. */
#include "tests/sim_s12z/wire.h"

enum {
    ENBDC = 0x8000,
    BDMACT = 0x4000,
    BDCCIS = 0x2000,
    STEAL = 0x0800,
    CLKSW = 0x0400,
    UNSEC = 0x0200,
    ERASE = 0x0100,
    WAIT = 0x80,
    STOP = 0x40,
    RAMWF = 0x20,
    OVRUN = 0x10,
    NORESP = 0x08,
    RDINV = 0x04,
    ILLACC = 0x02,
    ILLCMD = 0x01
};
enum {
    CRN_PC = 11,
    LONG = BDC_LONG_ACK_CYCLES,
    SHORT = BDC_ACK_CYCLES,
    HOLE = 0x300000,
    B = 0,
    W = 4,
    L = 8
};

static const uint8_t forever[] = { 0x01, 0x20, 0x7F };               /* nop; bra *-1 */
static const uint8_t wai[] = { 0x1B, 0x06, 0x01, 0x01, 0x20, 0x7F }; /* wai; nop; nop; bra *-1 */
/* andcc #7F (S=0); stop; nop; bra *-1 */
static const uint8_t stop[] = { 0xCE, 0x7F, 0x1B, 0x05, 0x01, 0x20, 0x7F };

static struct wire open_running(const char *options, const uint8_t *code, size_t n, uint16_t csr)
{
    struct wire w = wire_open(options);
    wire_attach(&w);
    wire_program(&w, 0x1000, code, n);
    wire_set_csr(&w, csr);
    assert_int_equal(wire_acked(&w, BDC_GO, 8), SHORT);
    wire_pause(&w, 20);
    return w;
}

/* ---- the wire ---- */

static void sync__request__is_answered_after_16_for_128_cycles(void **state)
{
    (void)state;
    struct wire w = wire_open("");
    struct pulse p = wire_sync(&w);
    assert_int_equal(p.after, 16);
    assert_int_equal(p.length, 128);
    wire_stretch(&w, BKGD_LOW, 127, BKGD_TIME); /* a little too short: a bit */
    assert_int_equal(wire_pulse(&w).length, 0);
    wire_stretch(&w, BKGD_LOW, 128, BKGD_TIME);
    assert_int_equal(wire_pulse(&w).length, 128);
    wire_close(&w);
}

static void sync__in_a_command__drops_it(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits < 24; bits++) {
        struct wire w = wire_open("");
        wire_bits(&w, ((uint64_t)BDC_WRITE_BDCCSR << 16 | 0x8000) >> (24 - bits), bits);
        assert_int_equal(wire_sync(&w).length, 128);
        wire_pause(&w, 2);
        assert_int_equal(wire_csr(&w), UNSEC);
        wire_close(&w);
    }
}

static void bits__by_a_host_a_few_percent_off__are_understood(void **state)
{
    static const unsigned rates[] = { 960, 980, 1000, 1020, 1040 };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rates); k++) {
        struct wire w = wire_open("");
        w.cycle_ns = rates[k];
        wire_set_csr(&w, 0x80FF);
        assert_int_equal(wire_csr(&w), ENBDC | UNSEC);
        wire_bits(&w, (uint64_t)BDC_WRITE_BDCCSR << 16 | 0xA0FF, 24);
        assert_int_equal(wire_csr(&w), ENBDC | BDCCIS | UNSEC); /* nothing between the commands */
        wire_close(&w);
    }
}

static void timeout__more_than_512_cycles_in_a_command__drops_it(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        struct wire w = wire_open("");
        wire_bits(&w, BDC_WRITE_BDCCSR, 8);
        wire_pause(&w, 512 - 16 + (late ? 4 : -4));
        wire_bits(&w, late ? (uint64_t)BDC_READ_BDCCSR : 0x80FF, late ? 8 : 16);
        wire_pause(&w, 16);
        assert_int_equal(late ? wire_receive(&w, 16) : wire_csr(&w), late ? UNSEC : ENBDC | UNSEC);
        wire_close(&w);
    }
    for (unsigned late = 0; late < 2; late++) { /* the answer is not fetched for ever either */
        struct wire w = wire_open("");
        wire_bits(&w, BDC_READ_BDCCSR, 8);
        wire_pause(&w, 512 - 16 + (late ? 4 : -4));
        if (late)
            wire_bits(&w, BDC_READ_BDCCSR, 8), wire_pause(&w, 16);
        assert_int_equal(wire_receive(&w, 16), UNSEC);
        wire_close(&w);
    }
}

/* ---- ACK ---- */

static void ack__after_a_command__comes_32_cycles_later_for_16(void **state)
{
    static const struct {
        uint64_t bits;
        unsigned n, rx;
    } rows[] = {
        { BDC_ACK_ENABLE, 8, 0 }, { BDC_NOP, 8, 0 },
        { BDC_BACKGROUND, 8, 0 }, { BDC_SYNC_PC, 8, 24 },
        { BDC_READ_REG, 8, 32 },  { 0x30001000, 32, 8 },
        { 0x32, 8, 8 },           { 0x34001000, 32, 16 },
        { 0x50, 8, 8 },           { 0x1800100011223344, 64, 0 },
        { 0x1A55667788, 40, 0 },  { 0x4012345678, 40, 0 },
        { BDC_STEP1, 8, 0 },      { BDC_GO, 8, 0 },
    };
    (void)state;
    struct wire w = wire_open("");
    wire_attach(&w);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        wire_bits(&w, rows[k].bits, rows[k].n);
        struct pulse p = wire_pulse(&w);
        print_message("  %s\n", bdc_name((uint8_t)(rows[k].bits >> (rows[k].n - 8))));
        assert_int_equal(p.after, 32);
        assert_int_equal(p.length, 16);
        wire_receive(&w, rows[k].rx);
    }
    assert_int_equal(wire_csr(&w) & 0xFF, 0);
    wire_close(&w);
}

static void ack__commands_that_never_have_one__have_none(void **state)
{
    static const struct {
        uint64_t bits;
        unsigned n;
    } rows[] = {
        { BDC_ACK_DISABLE, 8 }, { BDC_ERASE_FLASH, 8 }, { 0x0D80FF, 24 },
        { 0x31001000, 32 },     { 0x110010005A, 40 },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct wire w = wire_open("");
        wire_attach(&w);
        wire_bits(&w, rows[k].bits, rows[k].n);
        assert_int_equal(wire_pulse(&w).length, 0);
        wire_close(&w);
    }
    struct wire w = wire_open(""); /* and none at all before ACK_ENABLE */
    wire_set_csr(&w, 0x80FF);
    wire_bits(&w, BDC_BACKGROUND, 8);
    assert_int_equal(wire_pulse(&w).length, 0);
    assert_true(wire_csr(&w) & BDMACT);
    wire_close(&w);
}

static void long_ack__error_flag_set__until_it_is_cleared(void **state)
{
    unsigned ack;
    (void)state;
    struct wire w = wire_open("");
    wire_attach(&w);
    assert_int_equal(wire_read(&w, BDC_READ_MEM + L, HOLE, &ack), 0xEEEEEEEE);
    assert_int_equal(ack, LONG);
    assert_int_equal(wire_acked(&w, BDC_NOP, 8), LONG);
    assert_int_equal(wire_csr(&w) & 0xFF, ILLACC);
    wire_set_csr(&w, 0x8000); /* writing 0 clears nothing */
    assert_int_equal(wire_csr(&w) & 0xFF, ILLACC);
    wire_set_csr(&w, 0x8000 | ILLACC);
    assert_int_equal(wire_acked(&w, BDC_NOP, 8), SHORT);
    wire_close(&w);
}

static void overrun__host_does_not_wait_for_the_ack__only_sync_clears_it(void **state)
{
    unsigned ack;
    (void)state;
    struct wire w = wire_open("");
    wire_attach(&w);
    wire_write8(&w, 0x1100, 0x11);
    wire_bits(&w, (uint64_t)BDC_READ_MEM << 24 | 0x1100, 32);
    wire_bits(&w, (uint64_t)BDC_WRITE_MEM << 32 | 0x110022, 40); /* the ACK of the read was due */
    assert_int_equal(wire_pulse(&w).length, LONG);
    assert_true(wire_csr(&w) & OVRUN);
    wire_set_csr(&w, 0x80FF);
    assert_true(wire_csr(&w) & OVRUN);
    assert_int_equal(wire_acked(&w, BDC_READ_REG, 8), LONG); /* no access inside until SYNC */
    assert_int_equal(wire_receive(&w, 32), 0xEEEEEEEE);
    assert_int_equal(wire_sync(&w).length, 128);
    assert_false(wire_csr(&w) & OVRUN);
    /* the write was suppressed */
    assert_int_equal(wire_read(&w, BDC_READ_MEM, 0x1100, &ack), 0x11);
    assert_int_equal(ack, SHORT);
    wire_close(&w);
}

static void sync__ack_due__cancels_it_without_overrun(void **state)
{
    (void)state;
    struct wire w = wire_open("");
    wire_attach(&w);
    wire_bits(&w, (uint64_t)BDC_READ_MEM << 24 | 0x1100, 32);
    struct pulse p = wire_sync(&w);
    assert_int_equal(p.after, 16);
    assert_int_equal(p.length, 128);
    assert_int_equal(wire_pulse(&w).length, 0);
    assert_int_equal(wire_csr(&w) & 0xFF, 0);
    wire_close(&w);
}

static void ack_off__host_too_early__gets_fillers_and_noresp(void **state)
{
    (void)state;
    struct wire w = wire_open("");
    wire_set_csr(&w, 0x80FF);
    wire_bits(&w, 0x14001100ABCD, 48);
    wire_pause(&w, 16);
    wire_bits(&w, 0x34001100, 32);
    wire_pause(&w, 16);
    assert_int_equal(wire_receive(&w, 16), 0xABCD);
    wire_bits(&w, 0x34001100, 32);
    wire_pause(&w, 4);
    assert_int_equal(wire_receive(&w, 16), 0xEEEE);
    assert_int_equal(wire_csr(&w) & 0xFF, NORESP);
    wire_set_csr(&w, 0x80FF);
    wire_bits(&w, 0x3500110000 >> 8, 32); /* with status: the byte tells it */
    wire_pause(&w, 4);
    assert_int_equal(wire_receive(&w, 24), NORESP << 16 | 0xEEEE);
    wire_set_csr(&w, 0x80FF);
    wire_bits(&w, 0x14001100ABCD, 48); /* a write, and the next command at once */
    assert_int_equal(wire_csr(&w) & 0xFF, NORESP);
    wire_close(&w);
}

/* ---- memory commands ---- */

static void memory__with_status__tells_status_then_data(void **state)
{
    (void)state;
    for (unsigned ack = 0; ack < 2; ack++) {
        struct wire w = wire_open("");
        unsigned wait = ack ? BDC_WS_DELAY_CYCLES : 16;
        wire_set_csr(&w, 0x80FF);
        if (ack)
            wire_acked(&w, BDC_ACK_ENABLE, 8);
        wire_bits(&w, 0x1900110011223344, 64); /* WRITE_MEM.l_WS */
        wire_pause(&w, wait);
        assert_int_equal(wire_receive(&w, 8), 0);
        wire_bits(&w, 0x1755AA, 24); /* FILL_MEM.w_WS at 0x1104 */
        wire_pause(&w, wait);
        assert_int_equal(wire_receive(&w, 8), 0);
        wire_bits(&w, 0x31001100, 32);
        wire_pause(&w, wait);
        assert_int_equal(wire_receive(&w, 16), 0x0011);
        wire_bits(&w, 0x51, 8); /* READ_SAME.b_WS */
        wire_pause(&w, wait);
        assert_int_equal(wire_receive(&w, 16), 0x0011);
        wire_bits(&w, 0x31001103, 32);
        wire_pause(&w, wait);
        assert_int_equal(wire_receive(&w, 16), 0x0044);
        wire_bits(&w, 0x37, 8); /* DUMP_MEM.w_WS */
        wire_pause(&w, wait);
        assert_int_equal(wire_receive(&w, 24), 0x0055AA);
        wire_bits(&w, (uint64_t)0x39 << 24 | HOLE, 32);
        wire_pause(&w, wait);
        assert_int_equal(wire_receive(&w, 40), (uint64_t)ILLACC << 32 | 0xEEEEEEEE);
        wire_close(&w);
    }
}

static void memory__misaligned__is_forced_as_the_manual_says(void **state)
{
    static const struct {
        uint8_t size;
        uint32_t at, expect;
    } rows[] = {
        { L, 0x1100, 0x00010203 }, { L, 0x1101, 0x00010203 }, { L, 0x1103, 0x00010203 },
        { L, 0x1104, 0x04050607 }, { W, 0x1100, 0x0001 },     { W, 0x1101, 0x0102 },
        { W, 0x1102, 0x0203 },     { W, 0x1103, 0x0203 },     { B, 0x1103, 0x03 },
    };
    unsigned ack;
    (void)state;
    struct wire w = wire_open("");
    wire_attach(&w);
    for (unsigned k = 0; k < 8; k++)
        wire_write8(&w, 0x1100 + k, (uint8_t)k);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        assert_int_equal(wire_read(&w, (uint8_t)(BDC_READ_MEM + rows[k].size), rows[k].at, &ack),
                         rows[k].expect);
    wire_close(&w);
}

static void memory__rights__are_those_of_the_map(void **state)
{
    static const struct {
        const char *name;
        uint32_t at;
        bool read, write;
    } rows[] = {
        { "registers", 0x000070, true, true },       { "RAM", 0x002FFF, true, true },
        { "behind RAM", 0x003000, false, false },    { "EEPROM", 0x100000, true, false },
        { "behind EEPROM", 0x100200, false, false }, { "information row", 0x1F4000, false, false },
        { "below flash", 0xFDFFFF, false, false },   { "flash", 0xFE0000, true, false },
    };
    unsigned ack;
    (void)state;
    struct wire w = wire_open("");
    wire_attach(&w);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        print_message("  %s\n", rows[k].name);
        wire_set_csr(&w, 0x80FF);
        wire_read(&w, BDC_READ_MEM, rows[k].at, &ack);
        assert_int_equal(wire_csr(&w) & 0xFF, rows[k].read ? 0 : ILLACC);
        wire_set_csr(&w, 0x80FF);
        wire_acked(&w, (uint64_t)BDC_WRITE_MEM << 32 | (uint64_t)rows[k].at << 8, 40);
        assert_int_equal(wire_csr(&w) & 0xFF, rows[k].write ? 0 : ILLACC);
    }
    wire_close(&w);
}

/* Which command may follow which: first the commands, then whether the last one is illegal. */
static void sequence__of_memory_commands__is_checked(void **state)
{
    static const struct {
        const char *name;
        struct {
            uint64_t bits;
            unsigned n, rx;
        } c[4];
        bool illegal;
    } rows[] = {
        { "READ_SAME after READ_MEM", { { 0x30001100, 32, 8 }, { 0x50, 8, 8 } }, false },
        { "READ_SAME after READ_SAME",
          { { 0x30001100, 32, 8 }, { 0x50, 8, 8 }, { 0x54, 8, 16 } },
          false },
        { "READ_SAME after NOP", { { 0x30001100, 32, 8 }, { 0x00, 8, 0 }, { 0x50, 8, 8 } }, false },
        { "READ_SAME after DUMP_MEM",
          { { 0x30001100, 32, 8 }, { 0x32, 8, 8 }, { 0x50, 8, 8 } },
          true },
        { "READ_SAME after READ_D0",
          { { 0x30001100, 32, 8 }, { 0x60, 8, 32 }, { 0x50, 8, 8 } },
          true },
        { "READ_SAME after WRITE_MEM", { { 0x1000110000, 40, 0 }, { 0x50, 8, 8 } }, true },
        { "DUMP_MEM after READ_MEM", { { 0x30001100, 32, 8 }, { 0x32, 8, 8 } }, false },
        { "DUMP_MEM after NOP",
          { { 0x30001100, 32, 8 }, { 0x32, 8, 8 }, { 0x00, 8, 0 }, { 0x32, 8, 8 } },
          false },
        { "DUMP_MEM after WRITE_MEM", { { 0x1000110000, 40, 0 }, { 0x32, 8, 8 } }, true },
        { "DUMP_MEM after a failed one",
          { { 0x30002FFF, 32, 8 }, { 0x32, 8, 8 }, { 0x32, 8, 8 } },
          false },
        { "FILL_MEM after WRITE_MEM", { { 0x1000110000, 40, 0 }, { 0x1211, 16, 0 } }, false },
        { "FILL_MEM after READ_MEM", { { 0x30001100, 32, 8 }, { 0x1211, 16, 0 } }, true },
        { "FILL_MEM after a failed one",
          { { 0x10002FFF00, 40, 0 }, { 0x1211, 16, 0 }, { 0x1211, 16, 0 } },
          true },
        { "READ_SAME after a failed read", { { 0x30003000, 32, 8 }, { 0x50, 8, 8 } }, true },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct wire w = wire_open("");
        print_message("  %s\n", rows[k].name);
        wire_attach(&w);
        for (size_t j = 0; j < ARRAY_LEN(rows[k].c) && rows[k].c[j].n; j++) {
            wire_acked(&w, rows[k].c[j].bits, rows[k].c[j].n);
            wire_receive(&w, rows[k].c[j].rx);
        }
        assert_int_equal((wire_csr(&w) & ILLCMD) != 0, rows[k].illegal);
        wire_close(&w);
    }
}

static void sequence__mixed_sizes__go_on_behind_the_last_access(void **state)
{
    unsigned ack;
    (void)state;
    struct wire w = wire_open("");
    wire_attach(&w);
    for (unsigned k = 0; k < 12; k++)
        wire_write8(&w, 0x1100 + k, (uint8_t)k);
    assert_int_equal(wire_read(&w, BDC_READ_MEM + L, 0x1100, &ack), 0x00010203);
    wire_acked(&w, BDC_DUMP_MEM + B, 8);
    assert_int_equal(wire_receive(&w, 8), 4);
    wire_acked(&w, BDC_DUMP_MEM + B, 8);
    assert_int_equal(wire_receive(&w, 8), 5);
    wire_acked(&w, BDC_DUMP_MEM + W, 8);
    assert_int_equal(wire_receive(&w, 16), 0x0607);
    wire_acked(&w, BDC_DUMP_MEM + L, 8);
    assert_int_equal(wire_receive(&w, 32), 0x08090A0B);
    wire_close(&w);
}

static void read_same__after_sync__reads_the_same_again(void **state)
{
    unsigned ack;
    (void)state;
    struct wire w = wire_open("");
    wire_attach(&w);
    wire_write8(&w, 0x1234, 0x77);
    assert_int_equal(wire_read(&w, BDC_READ_MEM, 0x1234, &ack), 0x77);
    wire_sync(&w);
    assert_int_equal(wire_acked(&w, BDC_READ_SAME, 8), SHORT);
    assert_int_equal(wire_receive(&w, 8), 0x77);
    wire_close(&w);
}

static void unknown_opcode__sets_illcmd(void **state)
{
    static const uint8_t opcodes[] = { 0x05, 0x06, 0x0A, 0x0B, 0x0E, 0x1C,
                                       0x20, 0x3C, 0x70, 0x80, 0x94, 0xFF };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(opcodes); k++) {
        struct wire w = wire_open("");
        wire_attach(&w);
        wire_bits(&w, opcodes[k], 8);
        wire_pause(&w, 200);
        assert_int_equal(wire_csr(&w) & 0xFF, ILLCMD);
        wire_close(&w);
    }
}

/* ---- when a command may come ---- */

static void class__running_disabled_secured__refuses_what_it_must(void **state)
{
    /* flags after the command: running, BDC disabled, secured (ENBDC=1, running) */
    static const struct {
        uint64_t bits;
        unsigned n, rx;
        unsigned running, disabled, secured;
    } rows[] = {
        { BDC_ACK_ENABLE, 8, 0, 0, 0, 0 },
        { BDC_ACK_DISABLE, 8, 0, 0, 0, 0 },
        { BDC_READ_BDCCSR, 8, 16, 0, 0, 0 },
        { BDC_ERASE_FLASH, 8, 0, 0, 0, 0 },
        { BDC_NOP, 8, 0, 0, ILLCMD, ILLCMD },
        { BDC_SYNC_PC, 8, 24, 0, ILLCMD, ILLCMD },
        { BDC_BACKGROUND, 8, 0, 0, 0, ILLCMD },
        { BDC_READ_DBGTB, 8, 0, 0, ILLCMD, ILLCMD },
        { 0x30001000, 32, 8, 0, ILLCMD, ILLCMD },
        { 0x1000100000, 40, 0, 0, ILLCMD, ILLCMD },
        { BDC_GO, 8, 0, ILLCMD, ILLCMD, ILLCMD },
        { BDC_GO_UNTIL, 8, 0, ILLCMD, ILLCMD, ILLCMD },
        { BDC_STEP1, 8, 0, 0, ILLCMD, ILLCMD },
        { 0x60, 8, 32, ILLCMD, ILLCMD, ILLCMD },
        { 0x4000000000, 40, 0, ILLCMD, ILLCMD, ILLCMD },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        for (unsigned how = 0; how < 3; how++) {
            struct wire w = wire_open(how == 2 ? "secured" : "");
            uint8_t opcode = (uint8_t)(rows[k].bits >> (rows[k].n - 8));
            print_message("  %s %u\n", bdc_name(opcode), how);
            wire_program(&w, 0x1000, forever, sizeof forever);
            wire_set_csr(&w, how == 1 ? 0x00FF : 0x80FF);
            wire_bits(&w, rows[k].bits, rows[k].n);
            wire_pause(&w, 16);
            wire_receive(&w, rows[k].rx);
            if (opcode == BDC_READ_DBGTB)
                wire_receive(&w, 32), wire_pause(&w, 16), wire_receive(&w, 32);
            wire_pause(&w, 100);
            assert_int_equal(wire_csr(&w) & 0xFF, how == 0   ? rows[k].running
                                                  : how == 1 ? rows[k].disabled
                                                             : rows[k].secured);
            wire_close(&w);
        }
}

static void secured__erase_flash_twice__is_the_way_out(void **state)
{
    (void)state;
    struct wire w = wire_open("secured");
    wire_set_csr(&w, 0x80FF);
    assert_false(wire_csr(&w) & UNSEC);
    wire_bits(&w, BDC_ERASE_FLASH, 8);
    wire_pause(&w, 16);
    wire_csr(&w); /* any other command between starts the sequence anew */
    wire_bits(&w, BDC_ERASE_FLASH, 8);
    wire_pause(&w, 16);
    assert_false(wire_csr(&w) & ERASE);
    wire_bits(&w, BDC_ERASE_FLASH, 8);
    wire_pause(&w, 520); /* too long between */
    wire_bits(&w, BDC_ERASE_FLASH, 8);
    wire_pause(&w, 16);
    assert_false(wire_csr(&w) & ERASE);
    wire_bits(&w, (uint64_t)BDC_ERASE_FLASH << 8 | BDC_ERASE_FLASH, 16);
    wire_pause(&w, 16);
    assert_true(wire_csr(&w) & ERASE);
    wire_bits(&w, BDC_NOP, 8); /* only always-available commands meanwhile */
    wire_pause(&w, 60);
    assert_int_equal(wire_csr(&w) & (UNSEC | ILLCMD), ILLCMD);
    for (unsigned k = 0; wire_csr(&w) & ERASE; k++)
        assert_true(k < 10000);
    assert_true(wire_csr(&w) & UNSEC);
    wire_set_csr(&w, 0x80FF);
    wire_bits(&w, 0x30FE0000, 32);
    wire_pause(&w, 16);
    assert_int_equal(wire_receive(&w, 8), 0xFF);
    wire_close(&w);
}

static void secured__sync_during_erase__aborts_it(void **state)
{
    (void)state;
    struct wire w = wire_open("secured");
    wire_bits(&w, (uint64_t)BDC_ERASE_FLASH << 8 | BDC_ERASE_FLASH, 16);
    wire_pause(&w, 16);
    assert_true(wire_csr(&w) & ERASE);
    wire_sync(&w);
    assert_int_equal(wire_csr(&w) & (ERASE | UNSEC), 0);
    wire_advance(&w, 1000000000);
    assert_int_equal(wire_csr(&w) & (ERASE | UNSEC), 0);
    wire_close(&w);
}

static void erase_flash__bus_clock_changed__does_nothing(void **state)
{
    (void)state;
    struct wire w = wire_open("secured");
    board_set_bus_hz(w.board, 32000000);
    wire_bits(&w, (uint64_t)BDC_ERASE_FLASH << 8 | BDC_ERASE_FLASH, 16);
    wire_pause(&w, 16);
    assert_int_equal(wire_csr(&w) & (ERASE | UNSEC), 0);
    wire_close(&w);
}

/* ---- running, halting ---- */

static void go_until__returns_to_bdm__is_acknowledged_then(void **state)
{
    /* ld d0,#100; dbne d0,* ; bgnd */
    static const uint8_t code[] = { 0x94, 0x64, 0x0B, 0x84, 0x00, 0x00, 0x00 };
    (void)state;
    struct wire w = wire_open("bus=1M");
    wire_attach(&w);
    wire_program(&w, 0x1000, code, sizeof code);
    w.board->ram[5] = 0; /* relative 0 */
    wire_bits(&w, BDC_GO_UNTIL, 8);
    struct pulse p = wire_pulse(&w);
    assert_int_equal(p.length, 16);
    assert_true(p.after > 32);
    wire_pause(&w, 2);
    assert_true(wire_csr(&w) & BDMACT);
    wire_close(&w);
}

static void go_until__sync_cancels__touching_overruns__ack_off_is_go(void **state)
{
    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        struct wire w = wire_open("");
        wire_attach(&w);
        wire_program(&w, 0x1000, forever, sizeof forever);
        if (how == 2)
            wire_bits(&w, BDC_ACK_DISABLE, 8), wire_pause(&w, 16);
        wire_bits(&w, BDC_GO_UNTIL, 8);
        assert_int_equal(wire_pulse(&w).length, 0); /* 4000 cycles: no timeout */
        if (how == 0)
            wire_sync(&w);
        assert_int_equal(wire_csr(&w) & (BDMACT | 0xFF), how == 1 ? OVRUN : 0);
        if (how == 1)
            wire_sync(&w);
        wire_bits(&w, BDC_BACKGROUND, 8); /* the only pulse is that of BACKGROUND */
        assert_int_equal(wire_pulse(&w).length, how == 2 ? 0 : 16);
        assert_int_equal(wire_pulse(&w).length, 0);
        assert_true(wire_csr(&w) & BDMACT);
        wire_close(&w);
    }
}

static void step1__over_bgnd__goes_on_behind_it(void **state)
{
    static const uint8_t code[] = { 0x00, 0x01, 0x20, 0x7F }; /* bgnd; nop; bra *-1 */
    (void)state;
    struct wire w = wire_open("");
    wire_attach(&w);
    wire_program(&w, 0x1000, code, sizeof code);
    wire_acked(&w, BDC_STEP1, 8);
    assert_int_equal(w.board->cpu.r[S12Z_P], 0x1001);
    wire_acked(&w, BDC_GO, 8);
    wire_pause(&w, 20);
    assert_false(wire_csr(&w) & BDMACT);
    wire_close(&w);
}

static void sync_pc__samples__fall_on_instructions_as_often_as_they_last(void **state)
{
    static const uint8_t code[] = { 0x1B, 0x30, 0x01, 0x01, 0x20, 0x7C };
    unsigned seen[8] = { 0 }, total = 3000;
    (void)state;
    struct wire w = wire_open("bdc=20M");
    w.cycle_ns = 50;
    wire_attach(&w);
    wire_program(&w, 0x1000, code, sizeof code);
    w.board->cpu.r[S12Z_D3] = 3;
    wire_acked(&w, BDC_GO, 8);
    for (unsigned k = 0; k < total; k++) {
        wire_acked(&w, BDC_SYNC_PC, 8);
        uint32_t pc = (uint32_t)wire_receive(&w, 24);
        assert_in_range(pc, 0x1000, 0x1005);
        seen[pc - 0x1000]++;
        wire_pause(&w, k % 61);
    }
    print_message("  divu %u nop %u bra %u\n", seen[0], seen[3], seen[4]);
    assert_true(seen[0] > total * 3 / 4); /* 18 of 21 clocks */
    assert_true(seen[3] > 0 && seen[4] > 0);
    wire_close(&w);
}

/* ---- WAI and STOP ---- */

static void wai__commands__follow_the_rules_of_wait(void **state)
{
    unsigned ack;
    (void)state;
    struct wire w = open_running("", wai, sizeof wai, 0x80FF);
    assert_int_equal(wire_csr(&w) & (BDMACT | 0xFF), WAIT);
    assert_int_equal(wire_acked(&w, BDC_NOP, 8), LONG); /* the first ACK after WAI */
    assert_int_equal(wire_acked(&w, BDC_NOP, 8), SHORT);
    wire_set_csr(&w, 0x80FF);
    assert_int_equal(wire_csr(&w) & 0xFF, WAIT); /* stays while it is true */
    assert_int_equal(wire_read(&w, BDC_READ_MEM, 0x1000, &ack), 0x1B);
    assert_int_equal(ack, SHORT);
    wire_acked(&w, BDC_READ_REG, 8);
    wire_receive(&w, 32);
    assert_int_equal(wire_csr(&w) & 0xFF, WAIT | ILLCMD);
    wire_set_csr(&w, 0x80FF);
    assert_int_equal(wire_acked(&w, BDC_SYNC_PC, 8), LONG);
    assert_int_equal(wire_receive(&w, 24), 0xEEEEEE);
    assert_int_equal(wire_csr(&w) & 0xFF, WAIT | NORESP);
    wire_set_csr(&w, 0x80FF);
    assert_int_equal(wire_acked(&w, BDC_BACKGROUND, 8), LONG);
    assert_int_equal(wire_csr(&w) & (BDMACT | 0xFF), WAIT | NORESP);
    wire_set_csr(&w, 0x80FF);
    wire_acked(&w, BDC_READ_REG, 8); /* registers while BACKGROUND waits */
    wire_receive(&w, 32);
    assert_int_equal(wire_csr(&w) & 0xFF, WAIT | NORESP);
    /* an interrupt ends the wait: the request is still there */
    intc_line(w.board->intc, VEC_IRQ, true);
    w.board->cpu.irq = w.board->cpu.attention = true;
    wire_pause(&w, 50);
    assert_true(wire_csr(&w) & BDMACT);
    wire_set_csr(&w, 0x80FF);
    assert_int_equal(wire_csr(&w) & 0xFF, 0);
    wire_close(&w);
}

static void step1__over_wai__next_commands_get_no_response(void **state)
{
    unsigned ack;
    (void)state;
    struct wire w = wire_open("");
    wire_attach(&w);
    wire_program(&w, 0x1000, wai, sizeof wai);
    wire_acked(&w, BDC_STEP1, 8);
    wire_set_csr(&w, 0x80FF);
    assert_int_equal(wire_read(&w, BDC_READ_MEM, 0x1000, &ack), 0xEE);
    assert_int_equal(ack, LONG);
    assert_int_equal(wire_csr(&w) & (BDMACT | 0xFF), WAIT | NORESP);
    intc_line(w.board->intc, VEC_IRQ, true);
    w.board->cpu.irq = w.board->cpu.attention = true;
    wire_pause(&w, 50);
    wire_set_csr(&w, 0x80FF);
    assert_int_equal(wire_csr(&w) & (BDMACT | 0xFF), BDMACT);
    assert_int_equal(wire_read(&w, BDC_READ_MEM, 0x1000, &ack), 0x1B);
    wire_close(&w);
}

static void stop__bdccis_off__only_bdccsr_is_reachable(void **state)
{
    unsigned ack;
    (void)state;
    struct wire w = open_running("", stop, sizeof stop, 0x80FF);
    assert_int_equal(wire_csr(&w) & (BDMACT | 0xFF), STOP);
    assert_int_equal(wire_read(&w, BDC_READ_MEM, 0x1000, &ack), 0xEE);
    assert_int_equal(ack, LONG);
    assert_int_equal(wire_csr(&w) & 0xFF, STOP | NORESP);
    wire_set_csr(&w, 0x80FF);
    wire_acked(&w, BDC_SYNC_PC, 8);
    assert_int_equal(wire_receive(&w, 24), 0xEEEEEE);
    assert_int_equal(wire_csr(&w) & 0xFF, NORESP);
    wire_set_csr(&w, 0x80FF);
    wire_acked(&w, BDC_BACKGROUND, 8); /* pending, no flag */
    assert_int_equal(wire_csr(&w) & (BDMACT | 0xFF), 0);
    wire_acked(&w, BDC_READ_REG, 8);
    wire_receive(&w, 32);
    assert_int_equal(wire_csr(&w) & 0xFF, ILLCMD);
    wire_close(&w);
}

static void stop__bdccis_on__memory_stays_readable(void **state)
{
    unsigned ack;
    (void)state;
    struct wire w = open_running("", stop, sizeof stop, 0xA0FF);
    assert_int_equal(wire_csr(&w) & 0xFF, STOP);
    assert_int_equal(wire_acked(&w, BDC_NOP, 8), LONG);
    wire_set_csr(&w, 0xA0FF);
    assert_int_equal(wire_read(&w, BDC_READ_MEM, 0x1000, &ack), 0xCE);
    assert_int_equal(ack, SHORT);
    wire_acked(&w, BDC_SYNC_PC, 8);
    assert_int_equal(wire_receive(&w, 24), 0x1004); /* behind STOP */
    wire_acked(&w, BDC_READ_REG, 8);
    wire_receive(&w, 32);
    assert_int_equal(wire_csr(&w) & 0xFF, ILLCMD);
    wire_close(&w);
}

static void stop__bdc_disabled_or_fast_clock__is_deaf(void **state)
{
    (void)state;
    struct wire w = wire_open("");
    wire_program(&w, 0x1000, stop, sizeof stop);
    wire_advance(&w, 100000);
    assert_int_equal(w.board->cpu.state, CPU_STOP);
    assert_int_equal(wire_sync(&w).length, 0);
    wire_close(&w);
}

/* ---- clocks, bus ---- */

static void clksw__changed__other_clock_after_150_cycles(void **state)
{
    (void)state;
    struct wire w = wire_open("bus=8M");
    wire_attach(&w);
    wire_bits(&w, (uint64_t)BDC_WRITE_BDCCSR << 16 | 0x84FF, 24);
    wire_pause(&w, 150);
    w.cycle_ns = 125;
    assert_int_equal(wire_sync(&w).length, 128);
    assert_true(wire_csr(&w) & CLKSW);
    wire_close(&w);
    w = wire_open("bus=8M");
    wire_attach(&w);
    wire_bits(&w, (uint64_t)BDC_WRITE_BDCCSR << 16 | 0x84FF, 24);
    wire_pause(&w, 20);
    wire_bits(&w, BDC_BACKGROUND, 8); /* a host that does not wait is not understood */
    assert_int_equal(wire_pulse(&w).length, 0);
    wire_close(&w);
}

/* st d2,0x1100 in its four-byte form takes two clocks, one to fetch and one to store: nothing is
 * left for the BDC. */
static void free_cycles__none_for_512_clocks__noresp_unless_stolen(void **state)
{
    (void)state;
    for (unsigned stores = 100; stores <= 400; stores += 300)
        for (unsigned how = 0; how < 3; how++) { /* wait, STEAL, ACK off */
            uint8_t code[4 * 400 + 3];
            unsigned ack;
            for (unsigned k = 0; k < stores; k++)
                memcpy(code + 4 * k, (const uint8_t[]){ 0xC0, 0xF8, 0x11, 0x00 }, 4);
            memcpy(code + 4 * stores, (const uint8_t[]){ 0xAA, 0x12, 0x00 }, 3); /* jmp 0x1200 */
            struct wire w = wire_open("bus=8M");
            wire_attach(&w);
            wire_program(&w, 0x1200, code, 4 * stores + 3);
            wire_set_csr(&w, how == 1 ? 0x88FF : 0x80FF);
            wire_acked(&w, BDC_GO, 8);
            if (how == 2)
                wire_bits(&w, BDC_ACK_DISABLE, 8), wire_pause(&w, 16);
            unsigned failed = 0;
            for (unsigned k = 0; k < 40; k++) {
                wire_set_csr(&w, how == 1 ? 0x88FF : 0x80FF);
                if (how == 2) {
                    wire_bits(&w, 0x30001201, 32);
                    wire_pause(&w, 16);
                    assert_int_equal(wire_receive(&w, 8), 0xF8);
                    continue;
                }
                uint32_t v = wire_read(&w, BDC_READ_MEM, 0x1201, &ack);
                bool noresp = wire_csr(&w) & NORESP;
                assert_int_equal(ack, noresp ? LONG : SHORT);
                assert_int_equal(v, noresp ? 0xEE : 0xF8);
                failed += noresp;
                wire_pause(&w, k * 7);
            }
            assert_true(stores > 256 && how == 0 ? failed > 0 : failed == 0);
            wire_close(&w);
        }
}

/* ---- resets, faults ---- */

static void reset__special_and_normal__leave_what_they_should(void **state)
{
    (void)state;
    for (unsigned special = 0; special < 2; special++) {
        struct wire w = wire_open("");
        const struct sim_board_type *t = w.sim->type;
        wire_attach(&w);
        wire_set_csr(&w, 0xA8FF);
        assert_int_equal(
            t->set_pins(w.sim, BDC_PIN_RESET | BDC_PIN_BKGD, special ? 0 : BDC_PIN_BKGD, NULL), 0);
        wire_advance(&w, 1000000);
        wire_bits(&w, BDC_READ_BDCCSR, 8); /* nobody answers in reset */
        wire_pause(&w, 16);
        assert_int_equal(wire_sync(&w).length, 0);
        assert_int_equal(t->set_pins(w.sim, BDC_PIN_RESET, BDC_PIN_RESET, NULL), 0);
        assert_int_equal(t->set_pins(w.sim, BDC_PIN_BKGD, BDC_PIN_BKGD, NULL), 0);
        assert_int_equal(wire_csr(&w), special ? ENBDC | BDMACT | UNSEC : UNSEC);
        assert_int_equal(w.board->mode & 0x80, special ? 0 : 0x80);
        wire_set_csr(&w, 0x80FF);
        wire_bits(&w, BDC_NOP, 8);
        assert_int_equal(wire_pulse(&w).length, 0); /* ACK is off again */
        wire_close(&w);
    }
}

static void faults__of_the_line__look_as_they_are_called(void **state)
{
    static const struct {
        const char *option;
        bool level, answers;
        unsigned pins;
    } rows[] = {
        { "fault=none", true, true, BDC_PIN_BKGD | BDC_PIN_RESET | BDC_PIN_VTREF },
        { "fault=no-power", false, false, 0 },
        { "fault=bkgd-low", false, false, BDC_PIN_RESET | BDC_PIN_VTREF },
        { "fault=bkgd-high", true, false, BDC_PIN_BKGD | BDC_PIN_RESET | BDC_PIN_VTREF },
        { "fault=silent", true, false, BDC_PIN_BKGD | BDC_PIN_RESET | BDC_PIN_VTREF },
        { "fault=reset", true, false, BDC_PIN_BKGD | BDC_PIN_VTREF },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct wire w = wire_open(rows[k].option);
        unsigned pins = 0, known = 0;
        print_message("  %s\n", rows[k].option);
        assert_int_equal(wire_stretch(&w, BKGD_RELEASED, 20, BKGD_TIME).level, rows[k].level);
        assert_int_equal(w.sim->type->get_pins(w.sim, &pins, &known, NULL), 0);
        assert_int_equal(pins, rows[k].pins);
        assert_int_equal(wire_sync(&w).length, rows[k].answers ? 128 : 0);
        wire_close(&w);
    }
}

static void fault__after_n_cycles__begins_then(void **state)
{
    struct bkgd_stretch s = { .drive = BKGD_RELEASED, .ns = 1000 };
    struct err err = { 0 };
    (void)state;
    struct wire w = wire_open("fault=silent@20000");
    assert_int_equal(wire_sync(&w).length, 128);
    wire_pause(&w, 20000);
    assert_int_equal(wire_sync(&w).length, 0);
    wire_close(&w);
    w = wire_open("fault=unplug@20000");
    assert_int_equal(wire_sync(&w).length, 128);
    wire_pause(&w, 20000);
    assert_int_equal(w.sim->type->bkgd(w.sim, &s, 1, &err), -ERR_USB);
    assert_string_not_equal(err.hint, "");
    wire_close(&w);
}

static void fault__noise__damages_one_bit_in_n(void **state)
{
    unsigned damaged = 0;
    (void)state;
    struct wire w = wire_open("fault=noise@500");
    for (unsigned k = 0; k < 400; k++) {
        wire_bits(&w, BDC_READ_BDCCSR, 8);
        wire_pause(&w, 16);
        damaged += wire_receive(&w, 16) != UNSEC;
        wire_pause(&w, 600);
        /* undoes what damage may have set */
        assert_int_equal(w.sim->type->set_pins(w.sim, BDC_PIN_RESET, 0, NULL), 0);
        assert_int_equal(w.sim->type->set_pins(w.sim, BDC_PIN_RESET, BDC_PIN_RESET, NULL), 0);
    }
    print_message("  %u of 400 answers\n", damaged);
    assert_in_range(damaged, 4, 60); /* 24 bits each: about 19 expected */
    wire_close(&w);
}

/* Whatever the host did to the line, a SYNC brings it back: half of it whole bytes of any kind,
 * half of it edges anywhere. */
static void line__random_edges_and_bytes__sync_always_recovers(void **state)
{
    uint32_t x = 12345;
    unsigned commands = 0;
    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        struct wire w = wire_open("bus=1M"); /* CLKSW changes nothing then */
        wire_attach(&w);
        wire_program(&w, 0x1000, forever, sizeof forever);
        for (unsigned k = 0; k < 150; k++) {
            x = x * 1664525 + 1013904223;
            if (x >> 31) {
                wire_bits(&w, x >> 8 & 0xFF, 8);
                wire_pause(&w, x >> 16 & 63);
                commands++;
                continue;
            }
            wire_stretch(&w, BKGD_LOW, 1 + (x >> 8 & 255), BKGD_TIME);
            wire_stretch(&w, x >> 16 & 1 ? BKGD_HIGH : BKGD_RELEASED, 1 + (x >> 17 & 1023),
                         BKGD_TIME);
        }
        wire_pause(&w, 2000);
        if (w.board->cpu.state != CPU_STOP)
            assert_int_equal(wire_sync(&w).length, 128);
        assert_false(wire_csr(&w) & OVRUN);
        wire_close(&w);
    }
    assert_true(commands > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sync__request__is_answered_after_16_for_128_cycles),
        cmocka_unit_test(sync__in_a_command__drops_it),
        cmocka_unit_test(bits__by_a_host_a_few_percent_off__are_understood),
        cmocka_unit_test(timeout__more_than_512_cycles_in_a_command__drops_it),
        cmocka_unit_test(ack__after_a_command__comes_32_cycles_later_for_16),
        cmocka_unit_test(ack__commands_that_never_have_one__have_none),
        cmocka_unit_test(long_ack__error_flag_set__until_it_is_cleared),
        cmocka_unit_test(overrun__host_does_not_wait_for_the_ack__only_sync_clears_it),
        cmocka_unit_test(sync__ack_due__cancels_it_without_overrun),
        cmocka_unit_test(ack_off__host_too_early__gets_fillers_and_noresp),
        cmocka_unit_test(memory__with_status__tells_status_then_data),
        cmocka_unit_test(memory__misaligned__is_forced_as_the_manual_says),
        cmocka_unit_test(memory__rights__are_those_of_the_map),
        cmocka_unit_test(sequence__of_memory_commands__is_checked),
        cmocka_unit_test(sequence__mixed_sizes__go_on_behind_the_last_access),
        cmocka_unit_test(read_same__after_sync__reads_the_same_again),
        cmocka_unit_test(unknown_opcode__sets_illcmd),
        cmocka_unit_test(class__running_disabled_secured__refuses_what_it_must),
        cmocka_unit_test(secured__erase_flash_twice__is_the_way_out),
        cmocka_unit_test(secured__sync_during_erase__aborts_it),
        cmocka_unit_test(erase_flash__bus_clock_changed__does_nothing),
        cmocka_unit_test(go_until__returns_to_bdm__is_acknowledged_then),
        cmocka_unit_test(go_until__sync_cancels__touching_overruns__ack_off_is_go),
        cmocka_unit_test(step1__over_bgnd__goes_on_behind_it),
        cmocka_unit_test(sync_pc__samples__fall_on_instructions_as_often_as_they_last),
        cmocka_unit_test(wai__commands__follow_the_rules_of_wait),
        cmocka_unit_test(step1__over_wai__next_commands_get_no_response),
        cmocka_unit_test(stop__bdccis_off__only_bdccsr_is_reachable),
        cmocka_unit_test(stop__bdccis_on__memory_stays_readable),
        cmocka_unit_test(stop__bdc_disabled_or_fast_clock__is_deaf),
        cmocka_unit_test(clksw__changed__other_clock_after_150_cycles),
        cmocka_unit_test(free_cycles__none_for_512_clocks__noresp_unless_stolen),
        cmocka_unit_test(reset__special_and_normal__leave_what_they_should),
        cmocka_unit_test(faults__of_the_line__look_as_they_are_called),
        cmocka_unit_test(fault__after_n_cycles__begins_then),
        cmocka_unit_test(fault__noise__damages_one_bit_in_n),
        cmocka_unit_test(line__random_edges_and_bytes__sync_always_recovers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
