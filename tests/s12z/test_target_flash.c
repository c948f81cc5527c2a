/* Flash and EEPROM through the driver and the part's own controller. */
#include "targets/sim/s12z/board_priv.h"
#include "targets/s12z/driver/driver.h"
#include "tests/s12z/target_rig.h"

enum { FLASH = 0xFE0000, LAST_SECTOR = 0xFFFE00, SECURITY = 0xFFFE0F, EEPROM = 0x100000 };

static struct board *start_board(const char *spec) { return board_start(spec, NULL, 0); }
static int erase_flash(struct board *b, uint32_t addr, uint32_t len)
{
    return b->ops->flash_erase(b->t, addr, len, &b->err);
}
static int write_flash(struct board *b, uint32_t addr, const void *data, size_t len)
{
    return b->ops->flash_write(b->t, addr, data, len, &b->err);
}
static int flash_done_on(struct board *b) { return b->ops->flash_done(b->t, &b->err); }

static struct s12z_board *board_model(const struct board *b)
{
    struct view {
        struct probe probe;
        struct sim_board *board;
    };
    return (struct s12z_board *)((struct view *)b->probe)->board;
}

static void fill_random(uint8_t *data, size_t n, unsigned seed)
{
    for (size_t k = 0; k < n; k++)
        data[k] = (uint8_t)(seed = seed * 1103515245u + 12345u, seed >> 16);
}

static void expect_bytes(struct board *b, uint32_t addr, const uint8_t *want, size_t n)
{
    uint8_t got[4096];
    MUST(b, b->ops->read_mem(b->t, addr, 0, got, n, &b->err));
    assert_memory_equal(got, want, n);
}

/* ---- downloads ---- */

static void flash__pieces_of_any_size__are_what_was_written(void **state)
{
    static const size_t sizes[] = { 1, 7, 8, 9, 100, 3, 511, 1024 };
    (void)state;
    struct board *b = start_board("s12zvml128");
    uint8_t data[2048];
    size_t at = 5, n = 0;
    fill_random(data, sizeof data, 1);
    MUST(b, erase_flash(b, FLASH, 4096));
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++, at += n) {
        n = sizes[k];
        MUST(b, write_flash(b, FLASH + (uint32_t)at, data + at, n));
    }
    MUST(b, flash_done_on(b));
    expect_bytes(b, FLASH + 5, data + 5, at - 5);
    assert_int_equal(read_byte(b, FLASH + 4), 0xFF);
    assert_int_equal(read_byte(b, FLASH + (uint32_t)at), 0xFF);
    MUST(b, erase_flash(b, FLASH, 512)); /* once more, the rest stays */
    MUST(b, write_flash(b, FLASH, data + 600, 512));
    MUST(b, flash_done_on(b));
    expect_bytes(b, FLASH, data + 600, 512);
    expect_bytes(b, FLASH + 512, data + 512, 1000);
    board_close(b);
}

static void eeprom__single_sectors__change_alone(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128");
    uint8_t data[64];
    fill_random(data, sizeof data, 2);
    MUST(b, erase_flash(b, EEPROM, 64));
    MUST(b, write_flash(b, EEPROM, data, 64));
    MUST(b, flash_done_on(b));
    expect_bytes(b, EEPROM, data, 64);
    MUST(b, erase_flash(b, EEPROM + 8, 4));
    MUST(b, write_flash(b, EEPROM + 9, "\x11", 1));
    MUST(b, flash_done_on(b));
    memcpy(data + 8, "\xFF\x11\xFF\xFF", 4);
    expect_bytes(b, EEPROM, data, 64);
    board_close(b);
}

static void vectors__erased_with_the_security_byte__leave_the_part_open(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128");
    uint8_t vectors[0x1F0];
    fill_random(vectors, sizeof vectors, 3);
    MUST(b, erase_flash(b, LAST_SECTOR, 512));
    MUST(b, write_flash(b, LAST_SECTOR + 0x10, vectors, sizeof vectors));
    MUST(b, flash_done_on(b));
    expect_bytes(b, LAST_SECTOR + 0x10, vectors, sizeof vectors);
    assert_int_equal(read_byte(b, SECURITY), 0xFE);
    MUST(b, b->ops->reset(b->t, RESET_HALT, &b->err));
    assert_int_equal(wait_stop(b).reason, STOP_RESET);
    assert_int_equal(get_reg(b, R_P), (uint32_t)vectors[0x1ED] << 16 |
                                          (uint32_t)vectors[0x1EE] << 8 | vectors[0x1EF]);
    board_close(b);
}

static int load_vectors(struct board *b, const uint8_t vectors[0x1F0])
{
    int ret = erase_flash(b, LAST_SECTOR, 512);
    if (ret == 0)
        ret = write_flash(b, LAST_SECTOR + 0x10, vectors, 0x1F0);
    if (ret == 0)
        ret = flash_done_on(b);
    return ret;
}

static void vectors__loaded_again__are_not_erased(void **state)
{
    (void)state;
    /* one erases, 62 program vectors and one the security byte: there is none more to be had */
    struct board *b = start_board("s12zvml128,fault=flash@65");
    uint8_t vectors[0x1F0];
    fill_random(vectors, sizeof vectors, 4);
    MUST(b, load_vectors(b, vectors));
    MUST(b, load_vectors(b, vectors));
    assert_int_equal(read_byte(b, SECURITY), 0xFE);
    vectors[9] ^= 1;
    expect_error(b, load_vectors(b, vectors), -ERR_FAULT, "FFFE00");
    board_close(b);
}

static int run_on(struct board *b)
{
    set_mem(b, CODE, "\x20\x00", 2); /* BRA to itself */
    set_reg(b, R_P, CODE);
    return b->ops->resume(b->t, &(struct resume){ .kind = RESUME_CONTINUE }, &b->err);
}
static int reset_it(struct board *b) { return b->ops->reset(b->t, RESET_HALT, &b->err); }
static int leave_it(struct board *b) { return b->ops->detach(b->t, &b->err); }
static int attach_again(struct board *b) { return b->ops->attach(b->t, &b->err); }

/* The sector is erased, and then its security byte is not taken. */
static void security_byte__not_taken_once__is_programmed_all_the_same(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128,fault=flash-once@2");
    uint8_t vectors[0x1F0];
    int ret = 1;
    fill_random(vectors, sizeof vectors, 4);
    expect_error(b, load_vectors(b, vectors), -ERR_FAULT, "FFFE08: the flash did not take it");
    assert_non_null(
        strstr(monitor_text(b, 1, (char *[]){ "flash" }, &ret), "security byte is programmed"));
    MUST(b, reset_it(b));
    assert_int_equal(read_byte(b, SECURITY), 0xFE);
    MUST(b, load_vectors(b, vectors));
    board_close(b);
}

static int detach_and_attach(struct board *b)
{
    int ret = leave_it(b);
    if (ret == 0)
        ret = attach_again(b);
    return ret;
}

static void security_byte__not_taken__is_programmed_before_a_reset(void **state)
{
    static int (*const ways[])(struct board * b) = { reset_it, run_on, detach_and_attach,
                                                     attach_again };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
        struct board *b = start_board("s12zvml128,fault=flash@2");
        uint8_t vectors[0x1F0];
        int ret = 1;
        fill_random(vectors, sizeof vectors, 4);
        expect_error(b, load_vectors(b, vectors), -ERR_FAULT, "FFFE08: the flash did not take it");
        assert_non_null(strstr(monitor_text(b, 1, (char *[]){ "flash" }, &ret),
                               "security byte IS ERASED: the part is secured at its next reset"));
        board_model(b)->opt.fault_at = 1000000;
        MUST(b, ways[k](b));
        MUST(b, reset_it(b));
        assert_int_equal(read_byte(b, SECURITY), 0xFE);
        board_close(b);
    }
}

static void security_byte__locking__is_refused_unless_allowed(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128");
    uint8_t sector[512];
    memset(sector, 0xFF, sizeof sector);
    MUST(b, erase_flash(b, LAST_SECTOR, 512));
    expect_error(b, write_flash(b, LAST_SECTOR, sector, 512), -ERR_SECURED, "lock the part");
    assert_int_equal(read_byte(b, SECURITY), 0xFE); /* nothing was erased */
    sector[0x0F] = 0xBE;                            /* low bits 10: open, whatever the others are */
    MUST(b, erase_flash(b, LAST_SECTOR, 512));
    MUST(b, write_flash(b, LAST_SECTOR, sector, 512));
    MUST(b, flash_done_on(b));
    assert_int_equal(read_byte(b, SECURITY), 0xBE);
    s12z_of(b->t)->opt.allow_security_byte = true;
    sector[0x0F] = 0xFF;
    MUST(b, erase_flash(b, LAST_SECTOR, 512));
    MUST(b, write_flash(b, LAST_SECTOR, sector, 512));
    MUST(b, flash_done_on(b));
    assert_int_equal(read_byte(b, SECURITY), 0xFF);
    expect_error(b, b->ops->reset(b->t, RESET_HALT, &b->err), -ERR_SECURED, "secured");
    board_close(b);
}

/* GDB erases up to FE0200 only when a section's last byte lies there. */
static void write__one_byte_into_the_next_sector__erases_it(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128");
    uint8_t data[513], old[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    fill_random(data, sizeof data, 8);
    MUST(b, erase_flash(b, FLASH + 512, 512));
    MUST(b, write_flash(b, FLASH + 512, old, sizeof old));
    MUST(b, flash_done_on(b));
    MUST(b, erase_flash(b, FLASH, 512));
    MUST(b, write_flash(b, FLASH, data, sizeof data));
    MUST(b, flash_done_on(b));
    expect_bytes(b, FLASH, data, sizeof data);
    assert_int_equal(read_byte(b, FLASH + 513), 0xFF);
    MUST(b, erase_flash(b, EEPROM, 12));
    MUST(b, write_flash(b, EEPROM + 3, data, 10));
    MUST(b, flash_done_on(b));
    expect_bytes(b, EEPROM + 3, data, 10);
    board_close(b);
}

static void requests__that_make_no_sense__are_refused(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128");
    expect_error(b, write_flash(b, FLASH, "x", 1), -ERR_STATE, "not erased");
    expect_error(b, erase_flash(b, FLASH + 8, 512), -ERR_USAGE, "whole sectors");
    expect_error(b, erase_flash(b, 0x1000, 512), -ERR_FAULT, "not flash");
    MUST(b, erase_flash(b, FLASH, 512));
    expect_error(b, write_flash(b, FLASH + 510, "four", 4), -ERR_STATE, "FE0200 is not erased");
    expect_error(b, flash_done_on(b), -ERR_STATE,
                 "not erased"); /* the download is over, and says why */
    MUST(b, erase_flash(b, FLASH, 512));
    MUST(b, flash_done_on(b));
    continue_board(b);
    expect_error(b, erase_flash(b, FLASH, 512), -ERR_STATE, "running");
    board_close(b);
}

static void flash__that_does_not_take_it__says_where(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128,fault=flash@3");
    uint8_t data[64];
    fill_random(data, sizeof data, 4);
    MUST(b, erase_flash(b, FLASH, 512));
    int ret = write_flash(b, FLASH, data, 64);
    if (ret == 0)
        ret = flash_done_on(b);
    expect_error(b, ret, -ERR_FAULT, "FE00");
    assert_int_equal(b->ops->state(b->t), TARGET_HALTED);
    assert_int_equal(get_reg(b, R_P) & 0xFF000000, 0); /* the link works on, in its old clock */
    board_close(b);
}

/* A cell that takes a phrase and loses a bit of it: the controller is content, reading back is not.
 */
static void flash__that_reads_otherwise__says_where_and_what(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128");
    struct s12z_board *model = board_model(b);
    uint8_t data[64];
    char says_it[80];
    fill_random(data, sizeof data, 4);
    MUST(b, erase_flash(b, FLASH, 512));
    MUST(b, write_flash(b, FLASH, data, 64));
    model->flash[FLASH - model->part->flash_start + 17] ^= 4;
    snprintf(says_it, sizeof says_it, "verify: FE0011 reads %02X, %02X was programmed",
             data[17] ^ 4, data[17]);
    expect_error(b, flash_done_on(b), -ERR_FAULT, says_it);
    assert_non_null(strstr(b->err.hint, "load again"));
    board_close(b);
}

static void clock__after_a_download__is_what_it_was(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128,bus=32M");
    uint32_t before = s12z_of(b->t)->link.hz;
    MUST(b, erase_flash(b, FLASH, 512));
    assert_int_not_equal(s12z_of(b->t)->link.hz, before);
    MUST(b, write_flash(b, FLASH, "text", 4));
    MUST(b, flash_done_on(b));
    assert_int_equal(s12z_of(b->t)->link.hz, before);
    expect_bytes(b, FLASH, (const uint8_t *)"text", 4);
    board_close(b);
}

/* ---- the loader in RAM ---- */

enum { LOAD = 8192, RAM = 0x1000, RAM_BYTES = 2048, COP = 0x6CC };

static void loader__holes_in_the_program__stay_erased_and_ram_is_as_it_was(void **state)
{
    static uint8_t data[LOAD], ram[RAM_BYTES];
    (void)state;
    struct board *b = start_board("s12zvml128");
    struct s12z_board *model = board_model(b);
    uint32_t reg[S12Z_NREGS];
    fill_random(data, sizeof data, 11);
    fill_random(ram, sizeof ram, 12);
    for (size_t k = 0; k < LOAD; k++)
        data[k] = k / 8 % 7 == 3 || k / 1024 == 4 ? 0xFF : data[k];
    set_mem(b, RAM, ram, sizeof ram);
    for (unsigned r = 0; r < S12Z_NREGS; r++) {
        set_reg(b, r, 0x01020300 * (r + 1) + r);
        reg[r] = get_reg(b, r);
    }
    MUST(b, erase_flash(b, 0xFEF000, LOAD)); /* across a multiple of 64 KB */
    MUST(b, write_flash(b, 0xFEF000, data, 5000));
    assert_non_null(s12z_of(b->t)->download.loader);
    assert_memory_not_equal(model->ram, ram, 64);
    expect_bytes(b, RAM, ram, sizeof ram); /* looked at, it goes */
    assert_null(s12z_of(b->t)->download.loader);
    MUST(b, write_flash(b, 0xFEF000 + 5000, data + 5000, LOAD - 5000));
    assert_non_null(s12z_of(b->t)->download.loader);
    MUST(b, flash_done_on(b));
    assert_null(s12z_of(b->t)->download.loader);
    assert_false(s12z_of(b->t)->download.no_loader);
    assert_int_equal(s12z_of(b->t)->link.control & 0x1000, 0); /* STEAL */
    expect_bytes(b, 0xFEF000, data, 4096);
    expect_bytes(b, 0xFF0000, data + 4096, 4096);
    expect_bytes(b, RAM, ram, sizeof ram);
    for (unsigned r = 0; r < S12Z_NREGS; r++)
        assert_int_equal(get_reg(b, r), reg[r]);
    board_close(b);
}

static void loader__host_without_a_turn__is_waited_for(void **state)
{
    static uint8_t data[2048];
    (void)state;
    struct board *b = start_board("s12zvml128");
    fill_random(data, sizeof data, 13);
    give_no_turn(b);
    MUST(b, erase_flash(b, FLASH, sizeof data));
    MUST(b, write_flash(b, FLASH, data, sizeof data));
    assert_non_null(s12z_of(b->t)->download.loader);
    MUST(b, flash_done_on(b));
    expect_bytes(b, FLASH, data, sizeof data);
    board_close(b);
}

static void loader__flash_that_does_not_take_it__says_where(void **state)
{
    static uint8_t data[2048];
    (void)state;
    char what[sizeof((struct err *)0)->what] = "";
    fill_random(data, sizeof data, 13);
    for (int with = 0; with < 2; with++) {
        struct board *b = start_board("s12zvml128,fault=flash@100");
        s12z_of(b->t)->download.no_loader = !with;
        MUST(b, erase_flash(b, FLASH, sizeof data));
        int ret = write_flash(b, FLASH, data, sizeof data);
        expect_error(b, ret == 0 ? flash_done_on(b) : ret, -ERR_FAULT, with ? what : "program FE0");
        strcpy(what, b->err.what);
        assert_null(s12z_of(b->t)->download.loader);
        assert_int_equal(b->ops->state(b->t), TARGET_HALTED);
        board_close(b);
    }
}

/* The program's watchdog would run with the loader. */
static void loader__watchdog_on__phrase_by_phrase(void **state)
{
    static uint8_t data[1024];
    (void)state;
    struct board *b = start_board("s12zvml128");
    fill_random(data, sizeof data, 14);
    set_mem(b, COP, "\x07", 1);
    MUST(b, erase_flash(b, FLASH, sizeof data));
    MUST(b, write_flash(b, FLASH, data, sizeof data));
    assert_null(s12z_of(b->t)->download.loader);
    MUST(b, flash_done_on(b));
    expect_bytes(b, FLASH, data, sizeof data);
    board_close(b);
}

/* ---- downloads that do not end ---- */

/* A debugger that was interrupted in its download begins again: nothing of the first one is in the
 * way. */
static void download__begun_again__is_the_second_one_only(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128");
    uint8_t first[1024], second[1024];
    fill_random(first, sizeof first, 5);
    fill_random(second, sizeof second, 6);
    for (int same = 0; same < 2; same++) {
        MUST(b, erase_flash(b, FLASH, 1024));
        MUST(b, write_flash(b, FLASH, first, 1021));
        MUST(b, erase_flash(b, FLASH, 1024));
        MUST(b, write_flash(b, FLASH, same ? first : second, 900));
        MUST(b, flash_done_on(b));
        expect_bytes(b, FLASH, same ? first : second, 900);
        for (uint32_t at = 900; at < 1024; at++)
            assert_int_equal(read_byte(b, FLASH + at), 0xFF);
    }
    board_close(b);
}

static void download__broken_off__is_over_and_reported(void **state)
{
    static const struct {
        const char *by;
        int (*run)(struct board *b);
    } rows[] = { { "letting the program run", run_on },
                 { "a reset", reset_it },
                 { "detaching", leave_it },
                 { "the loss of the board", attach_again } };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct board *b = start_board("s12zvml128");
        uint8_t data[1024];
        int ret = 1;
        fill_random(data, sizeof data, 7);
        print_message("  %s\n", rows[k].by);
        uint32_t slow = s12z_of(b->t)->link.hz;
        MUST(b, erase_flash(b, FLASH, 1024));
        MUST(b, erase_flash(b, LAST_SECTOR, 512));
        MUST(b, write_flash(b, FLASH, data, 700));
        assert_non_null(strstr(monitor_text(b, 1, (char *[]){ "flash" }, &ret), "under way"));
        MUST(b, rows[k].run(b));
        const char *text = monitor_text(b, 1, (char *[]){ "flash" }, &ret);
        assert_non_null(strstr(text, rows[k].by));
        assert_non_null(strstr(text,
                               "3 sectors were given up for it, 696 bytes of them are programmed, "
                               "nothing is verified; security byte and vectors are as before"));
        if (b->ops->state(b->t) == TARGET_DETACHED)
            MUST(b, b->ops->attach(b->t, &b->err));
        assert_int_equal(s12z_of(b->t)->link.hz, slow);
        if (b->ops->state(b->t) == TARGET_RUNNING)
            halt_board(b);
        assert_int_equal(read_byte(b, SECURITY), 0xFE);
        expect_bytes(b, FLASH, data, 696);
        expect_error(b, write_flash(b, FLASH, data, 8), -ERR_STATE, "not erased");
        MUST(b, erase_flash(b, FLASH, 1024));
        MUST(b, write_flash(b, FLASH, data, 1024));
        MUST(b, flash_done_on(b));
        expect_bytes(b, FLASH, data, 1024);
        assert_null(strstr(monitor_text(b, 1, (char *[]){ "flash" }, &ret), "failed"));
        board_close(b);
    }
}

/* ---- secured parts ---- */

static void unsecure__confirmed__erases_and_opens(void **state)
{
    (void)state;
    struct board *b = board_open("s12zvml128,secured");
    int ret = 1;
    expect_error(b, b->ops->attach(b->t, &b->err), -ERR_SECURED, "secured");
    expect_error(b, b->ops->halt(b->t, &b->err), -ERR_SECURED, "secured");
    assert_non_null(strstr(monitor_text(b, 1, (char *[]){ "unsecure" }, &ret), "ERASE-EVERYTHING"));
    assert_int_equal(ret, 0);
    expect_error(b, b->ops->attach(b->t, &b->err), -ERR_SECURED,
                 "secured"); /* asking did nothing */
    monitor_text(b, 2, (char *[]){ "unsecure", "yes" }, &ret);
    assert_int_equal(ret, -ERR_USAGE);
    assert_non_null(
        strstr(monitor_text(b, 2, (char *[]){ "unsecure", "ERASE-EVERYTHING" }, &ret), "open"));
    MUST(b, ret);
    assert_int_equal(b->ops->state(b->t), TARGET_HALTED);
    assert_int_equal(read_byte(b, SECURITY), 0xFE);
    assert_int_equal(read_byte(b, FLASH), 0xFF);
    set_mem(b, DATA, "works", 5);
    board_close(b);
}

static void unsecure__host_without_a_turn__is_waited_for(void **state)
{
    (void)state;
    struct board *b = board_open("s12zvml128,secured");
    int ret = 1;
    expect_error(b, b->ops->attach(b->t, &b->err), -ERR_SECURED, "secured");
    give_no_turn(b);
    monitor_text(b, 2, (char *[]){ "unsecure", "ERASE-EVERYTHING" }, &ret);
    MUST(b, ret);
    assert_int_equal(read_byte(b, SECURITY), 0xFE);
    board_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flash__pieces_of_any_size__are_what_was_written),
        cmocka_unit_test(eeprom__single_sectors__change_alone),
        cmocka_unit_test(vectors__erased_with_the_security_byte__leave_the_part_open),
        cmocka_unit_test(vectors__loaded_again__are_not_erased),
        cmocka_unit_test(security_byte__not_taken_once__is_programmed_all_the_same),
        cmocka_unit_test(security_byte__not_taken__is_programmed_before_a_reset),
        cmocka_unit_test(security_byte__locking__is_refused_unless_allowed),
        cmocka_unit_test(write__one_byte_into_the_next_sector__erases_it),
        cmocka_unit_test(requests__that_make_no_sense__are_refused),
        cmocka_unit_test(flash__that_does_not_take_it__says_where),
        cmocka_unit_test(flash__that_reads_otherwise__says_where_and_what),
        cmocka_unit_test(clock__after_a_download__is_what_it_was),
        cmocka_unit_test(loader__holes_in_the_program__stay_erased_and_ram_is_as_it_was),
        cmocka_unit_test(loader__host_without_a_turn__is_waited_for),
        cmocka_unit_test(loader__flash_that_does_not_take_it__says_where),
        cmocka_unit_test(loader__watchdog_on__phrase_by_phrase),
        cmocka_unit_test(download__begun_again__is_the_second_one_only),
        cmocka_unit_test(download__broken_off__is_over_and_reported),
        cmocka_unit_test(unsecure__confirmed__erases_and_opens),
        cmocka_unit_test(unsecure__host_without_a_turn__is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
