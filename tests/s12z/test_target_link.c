/* What can go wrong on the wire while the driver works. */
#include "targets/s12z/driver/driver.h"
#include "tests/s12z/target_rig.h"

/* 1100 inc d2 | 1101 st d2,2000 | 1104 bra 1100 */
static const uint8_t program[] = { 0x30, 0xC0, 0x20, 0x00, 0x20, 0x7C };

static struct board *start_board(const char *spec)
{
    return board_start(spec, program, sizeof program);
}

/* The RESET pin pulsed by somebody else than the driver. */
static void press_reset(struct board *b)
{
    const struct bdc_ops *bdc = b->probe->driver->bdc;
    MUST(b, bdc->set_pins(b->probe, BDC_PIN_RESET, 0, &b->err));
    MUST(b, bdc->wait(b->probe, 1000000, &b->err));
    MUST(b, bdc->set_pins(b->probe, BDC_PIN_RESET, BDC_PIN_RESET, &b->err));
}

static void speed__adapter_and_part_disagree__is_measured_again(void **state)
{
    static const uint32_t wrong[] = { 250000, 500000, 900000, 1300000, 2000000, 4000000 };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(wrong); k++) {
        struct board *b = start_board("s12zvml128");
        set_mem(b, DATA, "as it was", 9);
        print_message("  %u Hz\n", wrong[k]);
        MUST(b, b->probe->driver->bdc->set_clock(b->probe, wrong[k], &b->err));
        struct target_stop stop;
        if (b->ops->poll(b->t, 0, &stop, &b->err) < 0) /* halted: nothing is asked */
            fail_msg("%s", b->err.what);
        uint8_t got[9];
        int ret = b->ops->read_mem(b->t, DATA, 0, got, 9, &b->err);
        if (ret < 0) { /* allowed once, with a sentence; then it is right */
            assert_string_not_equal(b->err.hint, "");
            MUST(b, b->ops->read_mem(b->t, DATA, 0, got, 9, &b->err));
        }
        assert_memory_equal(got, "as it was", 9);
        assert_int_equal(s12z_of(b->t)->link.hz, 1000000);
        board_close(b);
    }
}

static void attach__another_part_than_the_one_that_was_lost__is_refused(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128");
    struct s12z_target *t = s12z_of(b->t);
    MUST(b, b->ops->attach(b->t, &b->err)); /* the same one */
    t->part.id ^= 0x100;
    expect_error(b, b->ops->attach(b->t, &b->err), -ERR_NO_TARGET, "another part");
    t->part.id ^= 0x100;
    MUST(b, b->ops->attach(b->t, &b->err));
    t->part.full_dbg = false;
    expect_error(b, b->ops->attach(b->t, &b->err), -ERR_NO_TARGET, "another part");
    t->part.full_dbg = true;
    MUST(b, b->ops->attach(b->t, &b->err));
    t->part.id ^= 0x100;
    MUST(b, b->ops->detach(b->t, &b->err)); /* whoever lets go of it may connect another board */
    MUST(b, b->ops->attach(b->t, &b->err));
    board_close(b);
}

static struct {
    const struct bdc_ops *real;
    unsigned left; /* writes to DBGTCRL that do not reach the part, without a word */
} lossy;

static int execute_lossy(struct probe *p, struct bdc_op *ops, size_t n, bool stop_on_long,
                         struct err *err)
{
    if (n == 1 && ops->kind == BDC_WRITE && ops->addr == S12Z_DBGTCRL && lossy.left) {
        lossy.left--;
        ops->outcome = BDC_OK;
        return 1;
    }
    return lossy.real->execute(p, ops, n, stop_on_long, err);
}

static void attach__a_write_is_lost__the_trace_is_found_all_the_same(void **state)
{
    (void)state;
    struct board *b = board_open("s12zvml128");
    struct s12z_target *t = s12z_of(b->t);
    struct bdc_ops ops = *t->bdc;
    lossy.real = t->bdc;
    lossy.left = 1;
    ops.execute = execute_lossy;
    t->bdc = &ops;
    MUST(b, b->ops->attach(b->t, &b->err));
    assert_int_equal(lossy.left, 0);
    assert_true(t->part.full_dbg);
    t->bdc = lossy.real;
    board_close(b);
}

static void overrun__host_too_early__is_cleared_by_sync(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128");
    const struct bdc_ops *bdc = b->probe->driver->bdc;
    struct bdc_op ops[] = { { .kind = BDC_COMMAND, .opcode = BDC_NOP },
                            { .kind = BDC_COMMAND, .opcode = BDC_NOP } };
    uint64_t syncs = s12z_of(b->t)->link.syncs;
    /* the part still acknowledges, and the adapter does not wait */
    MUST(b, bdc->set_ack(b->probe, false, &b->err));
    MUST(b, bdc->execute(b->probe, ops, 2, false, &b->err));
    MUST(b, bdc->set_ack(b->probe, true, &b->err));
    set_mem(b, DATA, "x", 1);
    assert_int_equal(read_byte(b, DATA), 'x');
    assert_true(s12z_of(b->t)->link.syncs > syncs);
    board_close(b);
}

static void reset__of_a_running_part__is_reported_when_something_of_ours_is_in_it(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128");
    continue_board(b);
    press_reset(b);
    keeps_running(b); /* nothing of ours: BDC is on again, and it runs */
    assert_int_equal(s12z_of(b->t)->link.resets, 1);
    halt_board(b);
    set_reg(b, R_P, CODE);
    MUST(b, b->ops->insert_bp(b->t, BP_HARD, 0xFE0000, 1, &b->err));
    continue_board(b);
    keeps_running(b);
    press_reset(b);
    struct target_stop stop = wait_stop(b);
    assert_int_equal(stop.reason, STOP_RESET);
    assert_non_null(strstr(stop.text, "reset"));
    set_reg(b, R_P, CODE);
    MUST(b, b->ops->insert_bp(b->t, BP_HARD, CODE + 4, 1, &b->err));
    continue_board(b);
    stop = wait_stop(b); /* the comparators were written again */
    assert_int_equal(stop.reason, STOP_HWBREAK);
    assert_int_equal(stop.pc, CODE + 4);
    board_close(b);
}

static void reset__of_a_halted_part__is_noticed_and_halted_again(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128");
    uint8_t v[2];
    press_reset(b);
    expect_error(b, b->ops->read_reg(b->t, R_D2, v, &b->err), -ERR_STATE, "was reset");
    assert_int_equal(wait_stop(b).reason, STOP_RESET);
    get_reg(b, R_D2);
    board_close(b);
}

static void connection__lost_at_any_time__is_a_state_with_a_sentence(void **state)
{
    static const struct {
        const char *fault;
        int code;
        const char *word;
    } rows[] = {
        { "unplug", ERR_USB, "gone" },
        { "no-power", ERR_NO_TARGET, "no power" },
        { "bkgd-low", ERR_NO_TARGET, "stuck low" },
        { "silent", ERR_NO_TARGET, "SYNC" },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        for (unsigned long at = 500000; at < 2000000; at += 471111) {
            char spec[80];
            int ret = 0;
            uint8_t got[64];
            struct target_stop stop;
            snprintf(spec, sizeof spec, "s12zvml128,bus=4M,fault=%s@%lu", rows[k].fault, at);
            struct board *b = start_board(spec);
            continue_board(b);
            for (int n = 0; n < 2000 && ret >= 0; n++) {
                ret = n % 3 ? b->ops->poll(b->t, 2000000, &stop, &b->err)
                            : b->ops->read_mem(b->t, DATA, 0, got, 64, &b->err);
                if (ret >= 0 && n % 7 == 0)
                    ret = b->ops->halt(b->t, &b->err);
                if (ret >= 0 && b->ops->state(b->t) == TARGET_HALTED)
                    ret =
                        b->ops->resume(b->t, &(struct resume){ .kind = RESUME_CONTINUE }, &b->err);
            }
            expect_error(b, ret, -rows[k].code, rows[k].word);
            assert_int_equal(b->ops->state(b->t), TARGET_GONE);
            expect_error(b, b->ops->poll(b->t, 0, &stop, &b->err), -ERR_NO_TARGET, "gone");
            assert_true(b->ops->read_mem(b->t, DATA, 0, got, 1, &b->err) < 0);
            board_close(b);
        }
}

static void halted__nobody_asks_anything__its_loss_is_found_by_looking(void **state)
{
    static const struct {
        const char *fault;
        int code;
    } rows[] = { { "unplug", ERR_USB },
                 { "no-power", ERR_NO_TARGET },
                 { "silent", ERR_NO_TARGET } };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        char spec[80];
        struct target_stop stop;
        int ret = 0;
        snprintf(spec, sizeof spec, "s12zvml128,bus=4M,fault=%s@2000000", rows[k].fault);
        struct board *b = start_board(spec);
        assert_int_equal(b->ops->state(b->t), TARGET_HALTED);
        for (int n = 0; n < 100; n++)
            assert_int_equal(b->ops->poll(b->t, 0, &stop, &b->err), 0);
        for (int n = 0; n < 10000 && ret == 0; n++)
            ret = b->ops->poll(b->t, 2000000, &stop, &b->err);
        expect_error(b, ret, -rows[k].code, "still there");
        assert_int_equal(b->ops->state(b->t), TARGET_GONE);
        board_close(b);
    }
}

static void halted__reset_meanwhile__is_stopped_again_and_reported(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128");
    press_reset(b);
    assert_int_equal(wait_stop(b).reason, STOP_RESET);
    assert_int_equal(b->ops->state(b->t), TARGET_HALTED);
    board_close(b);
}

static void flash__unplugged_in_the_middle__ends_the_download(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128,bus=8M,fault=unplug@500000");
    uint8_t data[4096];
    int ret = 0;
    memset(data, 0x5A, sizeof data);
    for (uint32_t at = 0xFE0000; ret == 0 && at < 0xFFF000; at += sizeof data) {
        ret = b->ops->flash_erase(b->t, at, sizeof data, &b->err);
        if (ret == 0)
            ret = b->ops->flash_write(b->t, at, data, sizeof data, &b->err);
    }
    expect_error(b, ret, -ERR_USB, "gone");
    assert_int_equal(b->ops->state(b->t), TARGET_GONE);
    expect_error(b, b->ops->flash_write(b->t, 0xFE0000, data, 8, &b->err), -ERR_STATE,
                 "not erased");
    board_close(b);
}

/* One bit in thousands is wrong, and BDC has no checksum: what is read may be wrong, but every
 * failure has its sentence and nothing hangs. */
static void noise__on_the_wire__ends_every_call_with_a_result_or_a_sentence(void **state)
{
    (void)state;
    for (unsigned long every = 300; every < 30000; every *= 3) {
        char spec[80];
        snprintf(spec, sizeof spec, "s12zvml128,bus=8M,fault=noise@%lu", every);
        struct board *b = board_open(spec);
        unsigned failed = 0, ok = 0;
        for (int n = 0; n < 300; n++) {
            uint8_t v[16];
            struct target_stop stop;
            int ret;
            b->err = (struct err){ .code = ERR_OK };
            if (b->ops->state(b->t) != TARGET_RUNNING && b->ops->state(b->t) != TARGET_HALTED)
                ret = b->ops->attach(b->t, &b->err);
            else if (b->ops->state(b->t) == TARGET_RUNNING)
                ret = n % 2 ? b->ops->halt(b->t, &b->err)
                            : b->ops->poll(b->t, 3000000, &stop, &b->err);
            else if (n % 5 == 0)
                ret = b->ops->resume(
                    b->t, &(struct resume){ .kind = n % 2 ? RESUME_STEP : RESUME_CONTINUE },
                    &b->err);
            else
                ret = n % 3 ? b->ops->read_mem(b->t, DATA, 0, v, sizeof v, &b->err)
                            : b->ops->read_reg(b->t, R_D2, v, &b->err);
            failed += ret < 0;
            ok += ret >= 0;
            if (ret < 0 && (b->err.code == ERR_OK || !b->err.hint[0]))
                fail_msg("noise@%lu: a failure without a sentence: \"%s\"", every, b->err.what);
        }
        print_message("  one bit in %lu: %u calls failed, %u did not, %llu repeats\n", every,
                      failed, ok, (unsigned long long)s12z_of(b->t)->link.retries);
        assert_true(ok > failed);
        board_close(b);
    }
}

static void fast_clock__on_and_off__same_memory_fewer_ns(void **state)
{
    (void)state;
    struct board *b = start_board("s12zvml128");
    struct s12z_target *t = s12z_of(b->t);
    uint8_t data[256], got[256];
    for (size_t k = 0; k < sizeof data; k++)
        data[k] = (uint8_t)(k ^ 0x5A);
    set_mem(b, DATA, data, sizeof data);
    uint64_t at = b->ops->now_ns(b->t);
    MUST(b, b->ops->read_mem(b->t, DATA, 0, got, sizeof got, &b->err));
    uint64_t slow = b->ops->now_ns(b->t) - at;
    MUST(b, s12z_clock_source(t, true, &b->err));
    at = b->ops->now_ns(b->t);
    memset(got, 0, sizeof got);
    MUST(b, b->ops->read_mem(b->t, DATA, 0, got, sizeof got, &b->err));
    assert_memory_equal(got, data, sizeof got);
    /* of the board's own clock: the same every time */
    assert_true((b->ops->now_ns(b->t) - at) * 10 < slow);
    MUST(b, b->ops->detach(b->t, &b->err));
    MUST(b, b->ops->attach(b->t, &b->err)); /* left as it was found */
    assert_int_equal(t->link.hz, 1000000);
    board_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speed__adapter_and_part_disagree__is_measured_again),
        cmocka_unit_test(attach__another_part_than_the_one_that_was_lost__is_refused),
        cmocka_unit_test(attach__a_write_is_lost__the_trace_is_found_all_the_same),
        cmocka_unit_test(overrun__host_too_early__is_cleared_by_sync),
        cmocka_unit_test(reset__of_a_running_part__is_reported_when_something_of_ours_is_in_it),
        cmocka_unit_test(reset__of_a_halted_part__is_noticed_and_halted_again),
        cmocka_unit_test(connection__lost_at_any_time__is_a_state_with_a_sentence),
        cmocka_unit_test(halted__nobody_asks_anything__its_loss_is_found_by_looking),
        cmocka_unit_test(halted__reset_meanwhile__is_stopped_again_and_reported),
        cmocka_unit_test(flash__unplugged_in_the_middle__ends_the_download),
        cmocka_unit_test(noise__on_the_wire__ends_every_call_with_a_result_or_a_sentence),
        cmocka_unit_test(fast_clock__on_and_off__same_memory_fewer_ns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
