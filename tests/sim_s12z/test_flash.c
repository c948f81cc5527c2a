/* The flash controller, driven over the wire as a debugger does. */
#include "tests/sim_s12z/rig.h"

enum {
    FCLKDIV = 0x380,
    FSEC,
    FCCOBIX,
    FPSTAT,
    FCNFG,
    FERCNFG,
    FSTAT,
    FERSTAT,
    FPROT,
    DFPROT,
    FOPT,
    FCCOB0 = 0x38C
};
enum {
    CCIF = 0x80,
    ACCERR = 0x20,
    FPVIOL = 0x10,
    MGSTAT = 3,
    DFDF = 2,
    UNSEC = 0x0200,
    RDINV = 0x04,
    ILLACC = 0x02
};
enum { FLASH = 0xFE0000, EEPROM = 0x100000 };

static uint8_t read_byte(struct rig *r, uint32_t addr)
{
    uint8_t v = 0;
    rig_block(r, BDC_READ, addr, 1, &v, 1);
    return v;
}
static void write_byte(struct rig *r, uint32_t addr, uint8_t v)
{
    rig_block(r, BDC_WRITE, addr, 1, &v, 1);
}
static void write_word(struct rig *r, uint32_t addr, uint16_t v)
{
    uint8_t b[2] = { (uint8_t)(v >> 8), (uint8_t)v };
    rig_block(r, BDC_WRITE, addr, 2, b, 2);
}

/* Launches a command whose first word is code:addr_high, then the other words; FSTAT when it is
 * done. */
static uint8_t run_command(struct rig *r, uint8_t code, uint32_t addr, unsigned ix,
                           const uint16_t *words)
{
    write_byte(r, FSTAT, ACCERR | FPVIOL);
    write_byte(r, FCCOBIX, (uint8_t)ix);
    write_word(r, FCCOB0, (uint16_t)(code << 8 | addr >> 16));
    write_word(r, FCCOB0 + 2, (uint16_t)addr);
    for (unsigned k = 2; k <= ix; k++)
        write_word(r, FCCOB0 + 2 * k, words[k - 2]);
    write_byte(r, FSTAT, CCIF);
    uint8_t s = 0;
    for (unsigned tries = 0; tries < 100000 && !((s = read_byte(r, FSTAT)) & CCIF); tries++)
        ;
    return s;
}

static struct rig flash_rig(const char *board)
{
    struct rig r = rig_open(board);
    rig_attach(&r);
    write_byte(&r, FCLKDIV, 49); /* 50 MHz bus to 1 MHz */
    return r;
}

static void fclkdiv__not_written__commands_are_refused(void **state)
{
    (void)state;
    struct rig r = rig_open("sim:s12zvml128");
    rig_attach(&r);
    assert_int_equal(read_byte(&r, FCLKDIV), 0);
    assert_int_equal(run_command(&r, 0x0A, FLASH, 1, NULL), CCIF | ACCERR);
    write_byte(&r, FCLKDIV, 49);
    assert_int_equal(read_byte(&r, FCLKDIV), 0x80 | 49);
    assert_int_equal(run_command(&r, 0x0A, FLASH, 1, NULL), CCIF);
    rig_close(&r);
}

static void program__phrase__is_there_and_survives_reset(void **state)
{
    static const uint16_t words[] = { 0x0123, 0x4567, 0x89AB, 0xCDEF };
    uint8_t in[8];
    (void)state;
    struct rig r = flash_rig("sim:s12zvml128");
    assert_int_equal(run_command(&r, 0x03, FLASH + 8, 2, (uint16_t[]){ 1 }), CCIF);
    assert_int_equal(run_command(&r, 0x06, FLASH + 8, 5, words), CCIF);
    assert_int_equal(run_command(&r, 0x03, FLASH + 8, 2, (uint16_t[]){ 1 }), CCIF | MGSTAT);
    rig_block(&r, BDC_READ, FLASH + 8, 4, in, sizeof in);
    assert_memory_equal(in, "\x01\x23\x45\x67\x89\xAB\xCD\xEF", 8);
    assert_int_equal(r.bdc->set_pins(r.p, BDC_PIN_RESET, 0, NULL), 0);
    assert_int_equal(r.bdc->set_pins(r.p, BDC_PIN_RESET, BDC_PIN_RESET, NULL), 0);
    rig_attach(&r);
    assert_int_equal(read_byte(&r, FCLKDIV), 0);
    rig_block(&r, BDC_READ, FLASH + 8, 4, in, sizeof in);
    assert_memory_equal(in, "\x01\x23\x45\x67\x89\xAB\xCD\xEF", 8);
    rig_close(&r);
}

static void command__wrong_words_or_place__is_refused(void **state)
{
    static const struct {
        const char *name;
        uint8_t code;
        uint32_t addr;
        unsigned ix;
        uint8_t expect;
    } rows[] = {
        { "no such command", 0x05, FLASH, 1, ACCERR },
        { "program: too few words", 0x06, FLASH, 4, ACCERR },
        { "program: odd place", 0x06, FLASH + 4, 5, ACCERR },
        { "program: below the flash", 0x06, FLASH - 8, 5, ACCERR },
        { "program: EEPROM is not flash", 0x06, EEPROM, 5, ACCERR },
        { "erase sector: too many words", 0x0A, FLASH, 2, ACCERR },
        { "EEPROM program: beyond the end", 0x11, 0x1001FE, 3, ACCERR },
        { "EEPROM program: odd", 0x11, EEPROM + 1, 2, ACCERR },
        { "EEPROM erase: in RAM", 0x12, 0x1000, 1, ACCERR },
        { "verify: no phrases", 0x03, FLASH, 2, ACCERR },
        { "backdoor key while KEYEN is off", 0x0C, 0, 4, ACCERR },
        { "margin: no such level", 0x0D, FLASH, 2, 0 },
        { "field margin in normal mode", 0x0E, FLASH, 2, ACCERR },
        { "override key is blank", 0x13, 0, 3, ACCERR },
    };
    static const uint16_t zeros[4];
    (void)state;
    struct rig r = flash_rig("sim:s12zvml128");
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        print_message("  %s\n", rows[k].name);
        assert_int_equal(run_command(&r, rows[k].code, rows[k].addr, rows[k].ix, zeros),
                         CCIF | rows[k].expect);
    }
    rig_close(&r);
}

static void erase__sector_block_all__are_what_their_names_say(void **state)
{
    static const uint16_t zeros[4];
    uint8_t in[8];
    (void)state;
    struct rig r = flash_rig("sim:s12zvml128");
    assert_int_equal(run_command(&r, 0x06, FLASH + 0x1F8, 5, zeros), CCIF);
    assert_int_equal(run_command(&r, 0x06, FLASH + 0x200, 5, zeros), CCIF);
    assert_int_equal(run_command(&r, 0x0A, FLASH + 8, 1, NULL),
                     CCIF); /* any phrase names its sector */
    rig_block(&r, BDC_READ, FLASH + 0x1F8, 4, in, 8);
    assert_memory_equal(in, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8);
    assert_int_equal(read_byte(&r, FLASH + 0x200), 0);
    assert_int_equal(run_command(&r, 0x01, 0, 0, NULL), CCIF | MGSTAT);
    assert_int_equal(run_command(&r, 0x11, EEPROM + 4, 2, zeros), CCIF);
    assert_int_equal(run_command(&r, 0x09, EEPROM, 1, NULL), CCIF);
    assert_int_equal(read_byte(&r, EEPROM + 4), 0xFF);
    assert_int_equal(read_byte(&r, FLASH + 0x200), 0);
    assert_int_equal(run_command(&r, 0x08, 0, 0, NULL), CCIF);
    assert_int_equal(run_command(&r, 0x01, 0, 0, NULL), CCIF);
    assert_true(rig_csr(&r) & UNSEC); /* released until a reset reads the erased security byte */
    rig_close(&r);
}

static void eeprom__one_to_four_words__and_sectors_of_four(void **state)
{
    static const uint16_t words[] = { 0x1122, 0x3344, 0x5566, 0x7788 };
    uint8_t in[8];
    (void)state;
    struct rig r = flash_rig("sim:s12zvmc256");
    for (unsigned n = 1; n <= 4; n++) {
        assert_int_equal(run_command(&r, 0x11, EEPROM + 0x100 + 16 * n, n + 1, words), CCIF);
        rig_block(&r, BDC_READ, EEPROM + 0x100 + 16 * n, 4, in, 8);
        for (unsigned k = 0; k < 8; k++)
            assert_int_equal(in[k], k < 2 * n ? 0x11 * (k + 1) : 0xFF);
    }
    assert_int_equal(run_command(&r, 0x12, EEPROM + 0x140, 1, NULL), CCIF);
    rig_block(&r, BDC_READ, EEPROM + 0x140, 4, in, 8);
    assert_memory_equal(in, "\xFF\xFF\xFF\xFF\x55\x66\x77\x88", 8);
    assert_int_equal(run_command(&r, 0x10, EEPROM + 0x140, 2, (uint16_t[]){ 2 }), CCIF);
    assert_int_equal(run_command(&r, 0x10, EEPROM + 0x140, 2, (uint16_t[]){ 3 }), CCIF | MGSTAT);
    rig_close(&r);
}

static void program__twice_without_erase__is_an_ecc_fault_until_erased(void **state)
{
    uint8_t in[4];
    (void)state;
    struct rig r = flash_rig("sim:s12zvml128");
    assert_int_equal(run_command(&r, 0x06, FLASH, 5, (uint16_t[]){ 0xF0F0, 0, 0, 0 }), CCIF);
    /* the same: nothing to change */
    assert_int_equal(run_command(&r, 0x06, FLASH, 5, (uint16_t[]){ 0xF0F0, 0, 0, 0 }), CCIF);
    assert_int_equal(run_command(&r, 0x06, FLASH, 5, (uint16_t[]){ 0x0F0F, 0, 0, 0 }),
                     CCIF | MGSTAT);
    assert_int_equal(read_byte(&r, FERSTAT), 0);
    assert_int_equal(rig_block(&r, BDC_READ, FLASH, 4, in, 4), BDC_LONG_ACK);
    assert_memory_equal(in, "\xEE\xEE\xEE\xEE", 4);
    assert_true(rig_csr(&r) & RDINV);
    rig_set_csr(&r, 0x80FF);
    assert_int_equal(read_byte(&r, FERSTAT), DFDF);
    write_byte(&r, FERSTAT, DFDF);
    assert_int_equal(read_byte(&r, FERSTAT), 0);
    assert_int_equal(run_command(&r, 0x0A, FLASH, 1, NULL), CCIF);
    assert_int_equal(rig_block(&r, BDC_READ, FLASH, 4, in, 4), BDC_OK);
    rig_close(&r);
}

static void protection__ranges__refuse_and_only_grow(void **state)
{
    static const uint16_t zeros[4];
    static const struct {
        const char *name;
        uint8_t fprot;
        uint32_t addr;
        uint8_t expect;
    } rows[] = {
        { "all open", 0xFF, 0xFFF800, 0 },
        { "low 1 KB", 0xE0 | 0x18, 0xFF8000, FPVIOL },
        { "low 1 KB, first beyond", 0xE0 | 0x18, 0xFF8400, 0 },
        { "high 16 KB", 0x80 | 0x18 | 0x04, 0xFFC000, FPVIOL },
        { "high 16 KB, last below", 0x80 | 0x18 | 0x04, 0xFFBFF8, 0 },
        { "all but high 2 KB", 0x04, 0xFFF7F8, FPVIOL },
        { "all", 0x24, 0xFFF800, FPVIOL },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        print_message("  %s\n", rows[k].name);
        struct rig r = flash_rig("sim:s12zvml128");
        write_byte(&r, FPROT, rows[k].fprot);
        assert_int_equal(read_byte(&r, FPROT) | 0x40, rows[k].fprot | 0x40);
        assert_int_equal(run_command(&r, 0x06, rows[k].addr, 5, zeros), CCIF | rows[k].expect);
        if (rows[k].fprot != 0xFF) {
            write_byte(&r, FPROT, 0xFF); /* less protection: not in normal mode */
            assert_int_equal(read_byte(&r, FPROT) | 0x40, rows[k].fprot | 0x40);
            assert_int_equal(run_command(&r, 0x08, 0, 0, NULL), CCIF | FPVIOL);
        }
        rig_close(&r);
    }
}

static void protection__eeprom__covers_its_size_from_the_start(void **state)
{
    static const uint16_t zeros[4];
    (void)state;
    struct rig r = flash_rig("sim:s12zvml128");
    write_byte(&r, DFPROT, 0x01); /* 64 bytes */
    assert_int_equal(run_command(&r, 0x11, EEPROM + 0x3E, 2, zeros), CCIF | FPVIOL);
    assert_int_equal(run_command(&r, 0x12, EEPROM + 0x3C, 1, NULL), CCIF | FPVIOL);
    assert_int_equal(run_command(&r, 0x11, EEPROM + 0x40, 2, zeros), CCIF);
    rig_close(&r);
}

static void program_once__field__is_written_once(void **state)
{
    static const uint16_t words[] = { 1, 2, 3, 4 };
    (void)state;
    struct rig r = flash_rig("sim:s12zvml128");
    assert_int_equal(run_command(&r, 0x07, 7, 5, words), CCIF);
    assert_int_equal(run_command(&r, 0x07, 7, 5, words), CCIF | ACCERR);
    assert_int_equal(run_command(&r, 0x07, 8, 5, words), CCIF | ACCERR);
    assert_int_equal(run_command(&r, 0x04, 7, 1, NULL), CCIF);
    for (unsigned k = 0; k < 4; k++)
        assert_int_equal(read_byte(&r, FCCOB0 + 5 + 2 * k), words[k]);
    rig_close(&r);
}

/* Security byte with KEYEN on, and a key; then a secured chip opened by code that has it - here: by
 * the same registers. */
static void security__byte_and_override_key__act_after_reset(void **state)
{
    (void)state;
    struct rig r = flash_rig("sim:s12zvml128");
    assert_int_equal(run_command(&r, 0x0A, 0xFFFE00, 1, NULL), CCIF);
    assert_int_equal(
        run_command(&r, 0x06, 0xFFFE08, 5, (uint16_t[]){ 0xA55A, 0xFFFF, 0xDFFF, 0xFFBE }), CCIF);
    assert_int_equal(read_byte(&r, FSEC), 0xFE); /* as it was at the last reset */
    assert_int_equal(r.bdc->set_pins(r.p, BDC_PIN_RESET, 0, NULL), 0);
    assert_int_equal(r.bdc->set_pins(r.p, BDC_PIN_RESET, BDC_PIN_RESET, NULL), 0);
    rig_attach(&r);
    assert_int_equal(read_byte(&r, FSEC), 0xBE);
    assert_int_equal(read_byte(&r, FPROT), 0xDF); /* high 16 KB protected, low open */
    write_byte(&r, FCLKDIV, 49);
    assert_int_equal(run_command(&r, 0x06, 0xFFFFF8, 5, (uint16_t[4]){ 0 }), CCIF | FPVIOL);
    /* wrong key */
    assert_int_equal(run_command(&r, 0x13, 0x015A5A, 3, (uint16_t[]){ 0xFF, 0xFF }), CCIF | ACCERR);
    assert_int_equal(run_command(&r, 0x13, 0x01A55A, 3, (uint16_t[]){ 0xFF, 0xFF }), CCIF);
    assert_int_equal(read_byte(&r, FPSTAT), 0x80);
    assert_int_equal(run_command(&r, 0x06, 0xFFFFF8, 5, (uint16_t[4]){ 0 }), CCIF);
    rig_close(&r);
}

static void security__backdoor_key__one_wrong_try_ends_it(void **state)
{
    static const uint16_t key[] = { 0x1111, 0x2222, 0x3333, 0x4444 };
    (void)state;
    struct rig r = flash_rig("sim:s12zvml128");
    assert_int_equal(run_command(&r, 0x0A, 0xFFFE00, 1, NULL), CCIF);
    assert_int_equal(run_command(&r, 0x06, 0xFFFE00, 5, key), CCIF);
    assert_int_equal(
        run_command(&r, 0x06, 0xFFFE08, 5, (uint16_t[]){ 0xFFFF, 0xFFFF, 0xFFFF, 0xFFBE }), CCIF);
    assert_int_equal(r.bdc->set_pins(r.p, BDC_PIN_RESET, 0, NULL), 0);
    assert_int_equal(r.bdc->set_pins(r.p, BDC_PIN_RESET, BDC_PIN_RESET, NULL), 0);
    rig_attach(&r);
    write_byte(&r, FCLKDIV, 49);
    static const struct {
        uint16_t last, expect;
    } rows[] = { { 0x4444, 0 }, { 0x4445, ACCERR }, { 0x4444, ACCERR } };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        assert_int_equal(
            run_command(&r, 0x0C, 0x1111, 4, (uint16_t[]){ 0x2222, 0x3333, rows[k].last }),
            CCIF | rows[k].expect);
    rig_close(&r);
}

static void security__erased_byte__locks_the_wire_until_mass_erase(void **state)
{
    (void)state;
    struct rig r = flash_rig("sim:s12zvml128");
    /* security byte FF: secured at the next reset */
    assert_int_equal(run_command(&r, 0x0A, 0xFFFE00, 1, NULL), CCIF);
    assert_true(rig_csr(&r) & UNSEC);
    assert_int_equal(r.bdc->set_pins(r.p, BDC_PIN_RESET, 0, NULL), 0);
    assert_int_equal(r.bdc->set_pins(r.p, BDC_PIN_RESET, BDC_PIN_RESET, NULL), 0);
    uint32_t hz;
    assert_int_equal(r.bdc->sync(r.p, &hz, NULL), 0);
    assert_false(rig_csr(&r) & UNSEC);
    rig_command(&r, BDC_ERASE_FLASH, 0, NULL, NULL);
    rig_command(&r, BDC_ERASE_FLASH, 0, NULL, NULL);
    for (unsigned k = 0; k < 1000 && !(rig_csr(&r) & UNSEC); k++)
        ;
    assert_true(rig_csr(&r) & UNSEC);
    rig_attach(&r);
    assert_int_equal(read_byte(&r, 0xFFFE0F), 0xFE);
    rig_close(&r);
}

static void fault__flash_option__programming_says_so(void **state)
{
    static const uint16_t zeros[4];
    (void)state;
    struct rig r = flash_rig("sim:s12zvml128,fault=flash@2");
    assert_int_equal(run_command(&r, 0x06, FLASH, 5, zeros), CCIF);
    static const uint16_t two_phrases[] = { 2 };
    /* to look, verify section, is not one of the N */
    assert_int_equal(run_command(&r, 0x03, FLASH + 8, 2, two_phrases), CCIF);
    assert_int_equal(run_command(&r, 0x06, FLASH + 8, 5, zeros), CCIF | MGSTAT);
    assert_int_equal(run_command(&r, 0x03, FLASH + 8, 2, two_phrases), CCIF);
    assert_int_equal(read_byte(&r, FLASH + 8), 0xFF);
    rig_close(&r);
}

static void fclk__too_fast__does_not_program(void **state)
{
    (void)state;
    struct rig r = rig_open("sim:s12zvml128");
    rig_attach(&r);
    write_byte(&r, FCLKDIV, 5); /* 8 MHz */
    assert_int_equal(run_command(&r, 0x0A, FLASH, 1, NULL), CCIF | MGSTAT);
    rig_close(&r);
}

/* While a command runs: flash is an illegal access, EEPROM goes on; a reset then leaves ECC faults.
 */
static void busy__flash_read_and_reset__are_reported(void **state)
{
    uint8_t v;
    (void)state;
    struct rig r = flash_rig("sim:s12zvml128,bdc=10M");
    write_byte(&r, FCCOBIX, 1);
    write_word(&r, FCCOB0, 0x0AFE);
    write_word(&r, FCCOB0 + 2, 0);
    write_byte(&r, FSTAT, CCIF);
    assert_int_equal(read_byte(&r, FSTAT), 0x08);
    assert_int_equal(read_byte(&r, EEPROM), 0xFF);
    assert_int_equal(rig_block(&r, BDC_READ, FLASH, 1, &v, 1), BDC_LONG_ACK);
    assert_true(rig_csr(&r) & ILLACC);
    assert_int_equal(r.bdc->set_pins(r.p, BDC_PIN_RESET, 0, NULL), 0);
    assert_int_equal(r.bdc->set_pins(r.p, BDC_PIN_RESET, BDC_PIN_RESET, NULL), 0);
    rig_attach(&r);
    assert_int_equal(rig_block(&r, BDC_READ, FLASH, 1, &v, 1), BDC_LONG_ACK);
    rig_set_csr(&r, 0x80FF);
    assert_int_equal(rig_block(&r, BDC_READ, FLASH + 512, 1, &v, 1), BDC_OK);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fclkdiv__not_written__commands_are_refused),
        cmocka_unit_test(program__phrase__is_there_and_survives_reset),
        cmocka_unit_test(command__wrong_words_or_place__is_refused),
        cmocka_unit_test(erase__sector_block_all__are_what_their_names_say),
        cmocka_unit_test(eeprom__one_to_four_words__and_sectors_of_four),
        cmocka_unit_test(program__twice_without_erase__is_an_ecc_fault_until_erased),
        cmocka_unit_test(protection__ranges__refuse_and_only_grow),
        cmocka_unit_test(protection__eeprom__covers_its_size_from_the_start),
        cmocka_unit_test(program_once__field__is_written_once),
        cmocka_unit_test(security__byte_and_override_key__act_after_reset),
        cmocka_unit_test(security__backdoor_key__one_wrong_try_ends_it),
        cmocka_unit_test(security__erased_byte__locks_the_wire_until_mass_erase),
        cmocka_unit_test(fault__flash_option__programming_says_so),
        cmocka_unit_test(fclk__too_fast__does_not_program),
        cmocka_unit_test(busy__flash_read_and_reset__are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
