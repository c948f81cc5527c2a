/* The driver's run control, registers and memory on simulated boards. */
#include "tests/s12z/target_rig.h"

/* CODE:   ld d2,#0 ; loop: inc d2 ; st d2,DATA ; bra loop      (inc and st so that every round is
 * seen in memory) */
static const uint8_t counting[] = { 0x90 + 0, 0x00, 0x00, 0x30, 0xC0, 0x20, 0x00, 0x20, 0x7C };
enum { LOOP = CODE + 3 };

static void attach__running_part__leaves_it_running(void **state)
{
    (void)state;
    struct board *b = board_open("s12zvml128");
    assert_int_equal(b->ops->state(b->t), TARGET_DETACHED);
    MUST(b, b->ops->attach(b->t, &b->err));
    assert_int_equal(b->ops->state(b->t), TARGET_RUNNING);
    keeps_running(b);
    board_close(b);
}

static void halt__running_program__stops_where_it_is_and_goes_on(void **state)
{
    (void)state;
    struct board *b = board_start("s12zvml128", counting, sizeof counting);
    uint8_t raw[2];
    continue_board(b);
    keeps_running(b);
    struct target_stop stop = halt_board(b);
    assert_int_equal(stop.reason, STOP_REQUEST);
    assert_int_equal(stop.signal, 2);
    assert_in_range(get_reg(b, R_P), LOOP, CODE + sizeof counting - 1);
    uint32_t before = get_reg(b, R_D2);
    continue_board(b);
    keeps_running(b);
    MUST(b, b->ops->read_mem(b->t, DATA, 2, raw, 2, &b->err)); /* while it runs */
    halt_board(b);
    assert_int_not_equal(before, get_reg(b, R_D2));
    board_close(b);
}

static void step__each_instruction__moves_pc_and_effects(void **state)
{
    (void)state;
    static const uint32_t pcs[] = { LOOP, LOOP + 1, LOOP + 4, LOOP, LOOP + 1 };
    struct board *b = board_start("s12zvml128", counting, sizeof counting);
    for (size_t k = 0; k < ARRAY_LEN(pcs); k++) {
        struct target_stop stop = step_board(b);
        assert_int_equal(stop.reason, STOP_STEP);
        assert_int_equal(stop.pc, pcs[k]);
        assert_int_equal(get_reg(b, R_P), pcs[k]);
    }
    assert_int_equal(get_reg(b, R_D2), 2);
    assert_int_equal(read_byte(b, DATA + 1), 1);
    board_close(b);
}

static void registers__all_thirteen__make_32_bytes_and_keep_what_is_written(void **state)
{
    (void)state;
    static const uint32_t value[] = { 0x12,     0x34,       0x5678,     0x9ABC,   0xDEF0,
                                      0x1357,   0x2468ACE0, 0xFEDCBA98, 0x123456, 0x654321,
                                      0x002FF0, 0x001234,   0x00D3 };
    struct board *b = board_start("s12zvml128", NULL, 0);
    unsigned bytes = 0;
    for (unsigned n = 0; n < b->ops->nregs; n++) {
        bytes += b->ops->regs[n].bytes;
        set_reg(b, n, value[n]);
    }
    assert_int_equal(b->ops->nregs, ARRAY_LEN(value));
    assert_int_equal(bytes, 32);
    for (unsigned n = 0; n < b->ops->nregs; n++)
        assert_int_equal(get_reg(b, n), value[n]);
    board_close(b);
}

static void memory__any_alignment_and_length__is_what_was_written(void **state)
{
    (void)state;
    struct board *b = board_start("s12zvml128", NULL, 0);
    uint8_t want[600], got[600];
    for (size_t k = 0; k < sizeof want; k++)
        want[k] = (uint8_t)(k * 7 + 1);
    for (unsigned at = 0; at < 4; at++)
        for (unsigned len = 0; len < 13; len++) {
            memset(got, 0, sizeof got);
            set_mem(b, DATA + at, want + len, len);
            MUST(b, b->ops->read_mem(b->t, DATA + at, 0, got, len, &b->err));
            assert_memory_equal(got, want + len, len);
        }
    set_mem(b, DATA + 1, want, sizeof want);
    for (unsigned width = 1; width <= 4; width *= 2) {
        MUST(b, b->ops->read_mem(b->t, DATA + 4, width, got, 64, &b->err));
        assert_memory_equal(got, want + 3, 64);
    }
    board_close(b);
}

static void memory__where_nothing_is__fails_with_a_sentence(void **state)
{
    (void)state;
    static const struct {
        uint32_t addr;
        bool write;
        const char *word;
    } rows[] = {
        { 0x050000, false, "ILLACC" },  { 0x050000, true, "ILLACC" },
        { 0xFFF000, true, "is flash" }, { 0x100000, true, "is EEPROM" },
        { 0xFFFFFE, false, "ffffe" },
    };
    struct board *b = board_start("s12zvml128", NULL, 0);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        uint8_t v[4] = { 1, 2, 3, 4 };
        int ret = rows[k].write ? b->ops->write_mem(b->t, rows[k].addr, 0, v, 4, &b->err)
                                : b->ops->read_mem(b->t, rows[k].addr, 0, v, 4, &b->err);
        assert_int_equal(ret, -ERR_FAULT);
        if (!strstr(b->err.what, rows[k].word))
            fail_msg("\"%s\" does not say %s", b->err.what, rows[k].word);
        assert_string_not_equal(b->err.hint, "");
        assert_int_equal(read_byte(b, 0), 0); /* and the next access works */
    }
    board_close(b);
}

static void reset__run_and_halt__start_at_the_vector(void **state)
{
    (void)state;
    struct board *b = board_start("s12zvml128", counting, sizeof counting);
    MUST(b, b->ops->reset(b->t, RESET_RUN, &b->err));
    assert_int_equal(b->ops->state(b->t), TARGET_RUNNING);
    MUST(b, b->ops->reset(b->t, RESET_HALT, &b->err));
    assert_int_equal(wait_stop(b).reason, STOP_RESET);
    assert_int_equal(get_reg(b, R_P), 0xFFFFFF);    /* what erased flash holds at the vector */
    assert_int_equal(read_byte(b, 0x70) & 0x80, 0); /* MODC: special mode */
    board_close(b);
}

static void detach__halted_program__runs_on_and_bdc_is_off(void **state)
{
    (void)state;
    struct board *b = board_start("s12zvml128", counting, sizeof counting);
    MUST(b, b->ops->detach(b->t, &b->err));
    assert_int_equal(b->ops->state(b->t), TARGET_DETACHED);
    MUST(b, b->ops->attach(b->t, &b->err));
    assert_int_equal(b->ops->state(b->t), TARGET_RUNNING);
    halt_board(b);
    assert_in_range(get_reg(b, R_P), LOOP, CODE + sizeof counting - 1);
    board_close(b);
}

static void attach__bad_boards__each_has_its_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int ret;
        const char *word;
    } rows[] = {
        { "s12zvml128,secured", -ERR_SECURED, "secured" },
        { "s12zvml128,fault=no-power", -ERR_NO_TARGET, "no power" },
        { "s12zvml128,fault=reset", -ERR_NO_TARGET, "held in reset" },
        { "s12zvml128,fault=bkgd-low", -ERR_NO_TARGET, "stuck low" },
        { "s12zvml128,fault=bkgd-high", -ERR_NO_TARGET, "SYNC" },
        { "s12zvml128,fault=silent", -ERR_NO_TARGET, "SYNC" },
        { "s12zvml128,fault=unplug@1", -ERR_USB, "gone" },
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct board *b = board_open(rows[k].spec);
        print_message("  %s\n", rows[k].spec);
        assert_int_equal(b->ops->attach(b->t, &b->err), rows[k].ret);
        if (!strstr(b->err.what, rows[k].word))
            fail_msg("\"%s\" does not say %s", b->err.what, rows[k].word);
        assert_string_not_equal(b->err.hint, "");
        assert_int_equal(b->ops->state(b->t),
                         rows[k].ret == -ERR_SECURED ? TARGET_DETACHED : TARGET_GONE);
        board_close(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attach__running_part__leaves_it_running),
        cmocka_unit_test(halt__running_program__stops_where_it_is_and_goes_on),
        cmocka_unit_test(step__each_instruction__moves_pc_and_effects),
        cmocka_unit_test(registers__all_thirteen__make_32_bytes_and_keep_what_is_written),
        cmocka_unit_test(memory__any_alignment_and_length__is_what_was_written),
        cmocka_unit_test(memory__where_nothing_is__fails_with_a_sentence),
        cmocka_unit_test(reset__run_and_halt__start_at_the_vector),
        cmocka_unit_test(detach__halted_program__runs_on_and_bdc_is_off),
        cmocka_unit_test(attach__bad_boards__each_has_its_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
