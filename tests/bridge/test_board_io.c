/* Loading and comparing, against a target that is a piece of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "profiler/bridge/board_io.h"

enum { BASE = 0x8c010000, SIZE = 3 << 20 };

struct memory_target {
    struct target base;
    uint8_t *ram;
    uint64_t stuck_at; /* a byte that does not take what is written; 0: none */
    uint32_t pc;
    unsigned resets;
    uint64_t read_bytes;
    const struct image *image;
};

static struct memory_target *memory_target_of(struct target *t)
{
    return CONTAINER_OF(t, struct memory_target, base);
}

static int in_ram(uint64_t addr, size_t len, struct err *err)
{
    if (addr < BASE || addr + len > BASE + SIZE)
        return err_set(err, ERR_FAULT, "check the address", "no memory at 0x%08llx",
                       (unsigned long long)addr);
    return 0;
}

static int read_mem(struct target *t, uint64_t addr, unsigned width, uint8_t *buf, size_t len,
                    struct err *err)
{
    assert_int_equal(width, 0);
    int ret = in_ram(addr, len, err);
    if (ret == 0)
        memcpy(buf, memory_target_of(t)->ram + (addr - BASE), len);
    memory_target_of(t)->read_bytes += len;
    return ret;
}

static int write_mem(struct target *t, uint64_t addr, unsigned width, const uint8_t *buf,
                     size_t len, struct err *err)
{
    struct memory_target *m = memory_target_of(t);
    assert_int_equal(width, 0);
    int ret = in_ram(addr, len, err);
    for (size_t i = 0; ret == 0 && i < len; i++)
        if (addr + i != m->stuck_at)
            m->ram[addr + i - BASE] = buf[i];
    return ret;
}

static int write_reg(struct target *t, unsigned n, const uint8_t *buf, struct err *err)
{
    (void)err;
    assert_int_equal(n, 16);
    memory_target_of(t)->pc = get32(buf, t->big_endian);
    return 0;
}

static int reset_target(struct target *t, enum reset_mode mode, struct err *err)
{
    (void)err;
    assert_int_equal(mode, RESET_HALT);
    memory_target_of(t)->resets++;
    return 0;
}

static int set_image(struct target *t, const struct image *im, struct err *err)
{
    (void)err;
    memory_target_of(t)->image = im;
    return 0;
}

static const struct target_reg regs[17] = { [16] = { "pc", 4, true, false } };
static const struct target_ops ops = {
    .regs = regs,
    .nregs = 17,
    .pc_reg = 16,
    .read_mem = read_mem,
    .write_mem = write_mem,
    .write_reg = write_reg,
    .reset = reset_target,
    .set_image = set_image,
};

struct fixture {
    struct memory_target target;
    uint8_t text[10000], big[2 << 20];
    struct image_section sections[4];
    struct image image;
    unsigned asked;
    struct load_progress now, seen;
};

static int set_up_board(void **state)
{
    struct fixture *fx = test_calloc(1, sizeof *fx);
    fx->target.base.ops = &ops;
    fx->target.ram = test_calloc(1, SIZE);
    for (size_t i = 0; i < sizeof fx->text; i++)
        fx->text[i] = (uint8_t)(i * 7 + 1);
    memset(fx->big, 0x5a, sizeof fx->big);
    fx->sections[0] =
        (struct image_section){ ".text", BASE, sizeof fx->text, fx->text, true, false };
    fx->sections[1] = (struct image_section){ ".data", BASE + 0x4000, 100, fx->text, false, true };
    fx->sections[2] = (struct image_section){ ".bss", BASE + 0x5000, 100, NULL, false, true };
    fx->image = (struct image){
        .path = "prog.elf", .entry = BASE + 4, .sections = fx->sections, .nsections = 3
    };
    *state = fx;
    return 0;
}

static int tear_down_board(void **state)
{
    struct fixture *fx = *state;
    test_free(fx->target.ram);
    test_free(fx);
    return 0;
}

static void board_load__elf__memory_pc_and_image_are_set(void **state)
{
    struct fixture *fx = *state;
    uint64_t loaded = 0;
    memset(fx->target.ram + 0x5000, 0xee, 100);
    assert_int_equal(board_load(&fx->target.base, &fx->image, NULL, &loaded, NULL), 0);
    assert_int_equal(loaded, sizeof fx->text + 100);
    assert_memory_equal(fx->target.ram, fx->text, sizeof fx->text);
    assert_memory_equal(fx->target.ram + 0x4000, fx->text, 100);
    assert_int_equal(fx->target.ram[0x5000], 0xee); /* .bss is the program's own business */
    assert_int_equal(fx->target.pc, BASE + 4);
    assert_int_equal(fx->target.resets, 1);
    assert_ptr_equal(fx->target.image, &fx->image);
    assert_int_equal(board_compare(&fx->target.base, &fx->image, NULL, 1 << 20, NULL), 0);
}

/* .data that the program copies itself is loaded, and compared, where it copies it from. */
static void board_load__loaded_elsewhere__lies_there(void **state)
{
    struct fixture *fx = *state;
    struct err err = { .code = ERR_OK };
    uint64_t loaded = 0;
    const uint64_t load[] = { BASE, BASE + 0x104000, 0 };
    fx->image.load_addr = load;
    assert_int_equal(board_load(&fx->target.base, &fx->image, NULL, &loaded, NULL), 0);
    assert_memory_equal(fx->target.ram + 0x104000, fx->text, 100);
    assert_int_equal(fx->target.ram[0x4000], 0);
    assert_int_equal(board_compare(&fx->target.base, &fx->image, NULL, 1 << 20, NULL), 0);
    fx->target.ram[0x104005] ^= 1;
    assert_int_equal(board_compare(&fx->target.base, &fx->image, NULL, 1 << 20, &err), -ERR_STATE);
    assert_non_null(strstr(err.what, "0x8c114005 in .data"));
}

static void note_progress(void *ctx, const struct load_progress *now)
{
    struct fixture *fx = ctx;
    fx->now = *now;
}

static bool see_progress(void *ctx)
{
    struct fixture *fx = ctx;
    fx->seen = fx->now;
    return false;
}

static void board_load__elf__tells_how_far_it_is(void **state)
{
    struct fixture *fx = *state;
    struct board_io io = { .cancelled = see_progress, .ctx = fx, .tell = note_progress };
    uint64_t loaded = 0;
    assert_int_equal(board_load(&fx->target.base, &fx->image, &io, &loaded, NULL), 0);
    assert_int_equal(fx->seen.stage, LOAD_WRITE); /* before the last block */
    assert_int_equal(fx->seen.done, 10000);
    assert_int_equal(fx->seen.total, 10100);
    assert_int_equal(fx->now.stage, LOAD_NONE); /* it is over */
}

static void board_load__memory_does_not_take_it__says_where(void **state)
{
    struct fixture *fx = *state;
    struct err err = { .code = ERR_OK };
    uint64_t loaded = 77;
    fx->target.stuck_at = BASE + 5000;
    assert_int_equal(board_load(&fx->target.base, &fx->image, NULL, &loaded, &err), -ERR_FAULT);
    assert_non_null(strstr(err.what, ".text: 0x8c011388 reads back 00"));
    assert_string_not_equal(err.hint, "");
    assert_int_equal(loaded, 77);
}

static void board_compare__other_program__says_how_much_and_where(void **state)
{
    struct fixture *fx = *state;
    struct err err = { .code = ERR_OK };
    memcpy(fx->target.ram, fx->text, sizeof fx->text);
    fx->target.ram[4097] ^= 1;
    fx->target.ram[9000] ^= 1;
    assert_int_equal(board_compare(&fx->target.base, &fx->image, NULL, 1 << 20, &err), -ERR_STATE);
    assert_non_null(
        strstr(err.what, "prog.elf: 2 of 10000 bytes differ, the first at 0x8c011001 in .text"));
    assert_non_null(strstr(err.hint, "--load"));
}

static void board_compare__data_changed_by_the_program__is_no_difference(void **state)
{
    struct fixture *fx = *state;
    memcpy(fx->target.ram, fx->text, sizeof fx->text);
    memset(fx->target.ram + 0x4000, 0xff, 100);
    assert_int_equal(board_compare(&fx->target.base, &fx->image, NULL, 1 << 20, NULL), 0);
}

static void board_compare__big_program__looks_at_a_megabyte_at_most(void **state)
{
    struct fixture *fx = *state;
    fx->sections[1] =
        (struct image_section){ ".rodata", BASE + 0x10000, sizeof fx->big, fx->big, false, false };
    memcpy(fx->target.ram, fx->text, sizeof fx->text);
    memcpy(fx->target.ram + 0x10000, fx->big, sizeof fx->big);
    assert_int_equal(board_compare(&fx->target.base, &fx->image, NULL, 1 << 20, NULL), 0);
    assert_in_range(fx->target.read_bytes, 500000, (1 << 20) + 8192);
}

static bool third_time(void *ctx) { return ++*(unsigned *)ctx == 3; }

static void board_io__cancelled__gives_up_between_blocks(void **state)
{
    struct fixture *fx = *state;
    struct board_io io = { .cancelled = third_time, .ctx = &fx->asked };
    struct err err = { .code = ERR_OK };
    uint64_t loaded;
    assert_int_equal(board_load(&fx->target.base, &fx->image, &io, &loaded, &err), -ERR_CANCELLED);
    fx->asked = 0;
    assert_int_equal(board_compare(&fx->target.base, &fx->image, &io, 1 << 20, &err),
                     -ERR_CANCELLED);
}

static void board_load__no_memory_there__the_target_s_error_with_the_section(void **state)
{
    struct fixture *fx = *state;
    struct err err = { .code = ERR_OK };
    uint64_t loaded;
    fx->sections[1].addr = 0x1000;
    assert_int_equal(board_load(&fx->target.base, &fx->image, NULL, &loaded, &err), -ERR_FAULT);
    assert_string_equal(err.what, "load: .data: no memory at 0x00001000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(board_load__elf__memory_pc_and_image_are_set, set_up_board,
                                        tear_down_board),
        cmocka_unit_test_setup_teardown(board_load__loaded_elsewhere__lies_there, set_up_board,
                                        tear_down_board),
        cmocka_unit_test_setup_teardown(board_load__elf__tells_how_far_it_is, set_up_board,
                                        tear_down_board),
        cmocka_unit_test_setup_teardown(board_load__memory_does_not_take_it__says_where,
                                        set_up_board, tear_down_board),
        cmocka_unit_test_setup_teardown(board_compare__other_program__says_how_much_and_where,
                                        set_up_board, tear_down_board),
        cmocka_unit_test_setup_teardown(
            board_compare__data_changed_by_the_program__is_no_difference, set_up_board,
            tear_down_board),
        cmocka_unit_test_setup_teardown(board_compare__big_program__looks_at_a_megabyte_at_most,
                                        set_up_board, tear_down_board),
        cmocka_unit_test_setup_teardown(board_io__cancelled__gives_up_between_blocks, set_up_board,
                                        tear_down_board),
        cmocka_unit_test_setup_teardown(
            board_load__no_memory_there__the_target_s_error_with_the_section, set_up_board,
            tear_down_board),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
