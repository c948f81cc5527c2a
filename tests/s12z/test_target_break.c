/* Breakpoints and watchpoints: BGND in RAM, comparators elsewhere, and how they are shared with a
 * profile. */
#include "targets/s12z/driver/driver.h"
#include "tests/s12z/target_rig.h"

/* 1100 ld d2,#0 | loop 1103 inc d2 | 1104 bsr sub | 1107 st d2,2000 | 110A ld d3,2010 | 110D bra
 * loop sub 1110 st d0,2005 (a byte) | 1113 rts | 1114 wai | 1116 nop | 1117 stop | 1119 nop | 111A
 * bgnd | 111B nop */
static const uint8_t program[] = {
    0x90, 0x00, 0x00, 0x30, 0x21, 0x80, 0x0C, 0xC0, 0x20, 0x00, 0xA1, 0x20, 0x10, 0x20,
    0xFF, 0xF6, 0xC4, 0x20, 0x05, 0x05, 0x1B, 0x06, 0x01, 0x1B, 0x05, 0x01, 0x00, 0x01,
};
enum {
    LOOP = 0x1103,
    CALL = 0x1104,
    AFTER = 0x1107,
    LOAD = 0x110A,
    SUB = 0x1110,
    RET = 0x1113,
    WAI = 0x1114,
    STOP_INSN = 0x1117,
    OWN_BGND = 0x111A
};

static struct board *start_board(void)
{
    return board_start("s12zvml128", program, sizeof program);
}

static int insert_breakpoint(struct board *b, enum bp_kind kind, uint32_t addr, unsigned len)
{
    return b->ops->insert_bp(b->t, kind, addr, len, &b->err);
}
static void set_breakpoint(struct board *b, enum bp_kind kind, uint32_t addr, unsigned len)
{
    MUST(b, insert_breakpoint(b, kind, addr, len));
}
static void remove_breakpoint(struct board *b, enum bp_kind kind, uint32_t addr, unsigned len)
{
    MUST(b, b->ops->remove_bp(b->t, kind, addr, len, &b->err));
}

static void expect_stop(struct board *b, enum stop_reason reason, uint32_t pc)
{
    struct target_stop stop = wait_stop(b);
    assert_int_equal(stop.reason, reason);
    assert_int_equal(stop.pc, pc);
    assert_int_equal(get_reg(b, R_P), pc);
}

static void bgnd__in_ram__stops_at_its_address_hidden_and_goes_on(void **state)
{
    (void)state;
    struct board *b = start_board();
    set_breakpoint(b, BP_SOFT, SUB, 1);
    assert_int_equal(read_byte(b, SUB), program[SUB - CODE]);
    for (unsigned round = 1; round <= 3; round++) {
        continue_board(b);
        expect_stop(b, STOP_SWBREAK, SUB);
        assert_int_equal(get_reg(b, R_D2), round);
    }
    set_mem(b, SUB - 1, (uint8_t[]){ 0xF6, 0xC4, 0x20 }, 3); /* writing over it keeps it */
    continue_board(b);
    expect_stop(b, STOP_SWBREAK, SUB);
    remove_breakpoint(b, BP_SOFT, SUB, 1);
    continue_board(b);
    keeps_running(b);
    board_close(b);
}

static void bgnd__set_and_removed_while_running__works(void **state)
{
    (void)state;
    struct board *b = start_board();
    continue_board(b);
    set_breakpoint(b, BP_SOFT, AFTER, 1);
    expect_stop(b, STOP_SWBREAK, AFTER);
    continue_board(b);
    expect_stop(b, STOP_SWBREAK, AFTER);
    board_close(b);
}

static void bgnd__stepped_off__runs_the_instruction_below(void **state)
{
    (void)state;
    struct board *b = start_board();
    set_breakpoint(b, BP_SOFT, SUB, 1);
    set_reg(b, R_D0, 0x77);
    continue_board(b);
    expect_stop(b, STOP_SWBREAK, SUB);
    assert_int_equal(step_board(b).pc, RET);
    assert_int_equal(read_byte(b, 0x2005), 0x77);
    assert_int_equal(read_byte(b, SUB), 0xC4);
    continue_board(b);
    expect_stop(b, STOP_SWBREAK, SUB); /* and it is back */
    board_close(b);
}

static void bgnd__of_the_program__is_recognised(void **state)
{
    (void)state;
    struct board *b = start_board();
    set_reg(b, R_P, OWN_BGND);
    continue_board(b);
    struct target_stop stop = wait_stop(b);
    assert_int_equal(stop.reason, STOP_SIGNAL);
    /* or the program's: nobody named it */
    assert_non_null(strstr(stop.text, "left there by a session that was lost"));
    assert_int_equal(stop.pc, OWN_BGND + 1);
    struct image_section section = { ".text", CODE, sizeof program, program, true, false };
    struct image image = { .sections = &section, .nsections = 1 };
    MUST(b, b->ops->set_image(b->t, &image, &b->err));
    set_reg(b, R_P, OWN_BGND);
    continue_board(b);
    stop = wait_stop(b);
    assert_int_equal(stop.reason, STOP_SIGNAL);
    assert_string_equal(stop.text, "BGND compiled into the program");
    assert_int_equal(stop.pc, OWN_BGND + 1);
    board_close(b);
}

/* A session set a breakpoint and was never heard of again; the program is known, or there is
 * another one in that RAM. */
static void bgnd__left_by_a_lost_session__is_taken_away(void **state)
{
    (void)state;
    for (int same = 1; same >= 0; same--) {
        struct board *b = start_board();
        struct image_section section = { ".text", CODE, sizeof program, program, true, false };
        struct image image = { .sections = &section, .nsections = 1 };
        MUST(b, b->ops->set_image(b->t, &image, &b->err));
        set_mem(b, AFTER, "\0", 1);
        if (!same)
            set_mem(b, AFTER + 2, "\x55", 1);
        continue_board(b);
        struct target_stop stop = wait_stop(b);
        assert_int_equal(stop.reason, STOP_SIGNAL);
        assert_non_null(
            strstr(stop.text,
                   same ? "left at 001107 by a session that was lost; the program's byte is back"
                        : "then load again"));
        assert_int_equal(stop.pc, same ? AFTER : AFTER + 1);
        assert_int_equal(get_reg(b, R_P), same ? AFTER : AFTER + 1);
        assert_int_equal(read_byte(b, AFTER), same ? program[AFTER - CODE] : 0);
        if (same) {
            continue_board(b);
            keeps_running(b);
        }
        board_close(b);
    }
}

static void hardware__each_of_four_and_all_together__stop_before_the_instruction(void **state)
{
    static const uint32_t places[] = { LOOP, AFTER, SUB, RET };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(places); k++) {
        struct board *b = start_board();
        set_breakpoint(b, BP_HARD, places[k], 1);
        for (int round = 0; round < 2; round++) {
            continue_board(b);
            expect_stop(b, STOP_HWBREAK, places[k]);
        }
        board_close(b);
    }
    static const uint32_t order[] = { LOOP, SUB, RET, AFTER, LOOP };
    struct board *b = start_board();
    for (size_t k = 0; k < ARRAY_LEN(places); k++)
        set_breakpoint(b, BP_HARD, places[k], 1);
    expect_error(b, insert_breakpoint(b, BP_HARD, LOAD, 1), -ERR_RESOURCE, "A, B, C, D");
    for (size_t k = 0; k < ARRAY_LEN(order); k++) {
        continue_board(b);
        expect_stop(b, STOP_HWBREAK, order[k]);
    }
    remove_breakpoint(b, BP_HARD, SUB, 1);
    set_breakpoint(b, BP_HARD, LOAD, 1);
    remove_breakpoint(b, BP_HARD, LOOP, 1);
    for (int k = 0; k < 2; k++)
        continue_board(b), wait_stop(b);
    assert_int_equal(get_reg(b, R_P), AFTER);
    continue_board(b);
    expect_stop(b, STOP_HWBREAK, LOAD);
    board_close(b);
}

static void hardware__part_without_comparator_c__has_three(void **state)
{
    (void)state;
    struct board *b = board_start("s12zvl128", program, sizeof program);
    set_breakpoint(b, BP_HARD, SUB, 1);
    set_breakpoint(b, BP_HARD, RET, 1);
    set_breakpoint(b, BP_HARD, AFTER, 1);
    expect_error(b, insert_breakpoint(b, BP_HARD, LOOP, 1), -ERR_RESOURCE, "A, B, D");
    continue_board(b);
    expect_stop(b, STOP_HWBREAK, SUB);
    continue_board(b);
    expect_stop(b, STOP_HWBREAK, RET);
    board_close(b);
}

static void watch__kinds_and_sizes__stop_on_their_accesses_only(void **state)
{
    static const struct {
        enum bp_kind kind;
        uint32_t addr;
        unsigned len;
        uint32_t insn;
        const char *name;
    } rows[] = {
        { BP_WATCH_WRITE, 0x2005, 1, SUB, "write of a byte" },
        { BP_WATCH_WRITE, 0x2000, 2, AFTER, "write of a word" },
        { BP_WATCH_WRITE, 0x2001, 1, AFTER, "its low byte" },
        { BP_WATCH_READ, 0x2010, 2, LOAD, "read of a word" },
        { BP_WATCH_ACCESS, 0x2010, 2, LOAD, "access" },
        { BP_WATCH_WRITE, 0x2004, 4, SUB, "a byte inside four" },
        { BP_WATCH_ACCESS, 0x2008, 0x20, LOAD, "a range" },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct board *b = start_board();
        print_message("  %s\n", rows[k].name);
        set_breakpoint(b, rows[k].kind, rows[k].addr, rows[k].len);
        for (int round = 0; round < 2; round++) {
            continue_board(b);
            struct target_stop stop = wait_stop(b);
            assert_int_equal(stop.reason, STOP_WATCH);
            assert_int_equal(stop.watch_addr, rows[k].addr);
            assert_int_equal(stop.watch_kind, rows[k].kind);
            /* at most two instructions later */
            assert_in_range(stop.pc, rows[k].insn + 1, rows[k].insn + 6);
        }
        board_close(b);
    }
    static const struct {
        enum bp_kind kind;
        uint32_t addr;
        unsigned len;
    } quiet[] = {
        { BP_WATCH_READ, 0x2000, 2 },
        { BP_WATCH_WRITE, 0x2010, 2 },
        { BP_WATCH_ACCESS, 0x2006, 2 },
    };
    for (size_t k = 0; k < ARRAY_LEN(quiet); k++) {
        struct board *b = start_board();
        set_breakpoint(b, quiet[k].kind, quiet[k].addr, quiet[k].len);
        continue_board(b);
        keeps_running(b);
        board_close(b);
    }
}

static void watch__with_a_value__stops_at_that_value(void **state)
{
    (void)state;
    struct board *b = start_board();
    struct s12z_target *t = s12z_of(b->t);
    const struct s12z_hard *which;
    set_breakpoint(b, BP_WATCH_WRITE, 0x2000, 2);
    MUST(b, s12z_watch_data(t, true, 300, 0xFFFF, &which, &b->err));
    continue_board(b);
    assert_int_equal(wait_stop(b).reason, STOP_WATCH);
    assert_int_equal(get_reg(b, R_D2), 300);
    MUST(b, s12z_watch_data(t, true, 0x80, 0x80, &which, &b->err)); /* only a bit */
    continue_board(b);
    wait_stop(b);
    assert_int_equal(get_reg(b, R_D2), 384);
    MUST(b, s12z_watch_data(t, false, 0, 0, &which, &b->err));
    continue_board(b);
    wait_stop(b);
    assert_int_equal(get_reg(b, R_D2), 385);
    remove_breakpoint(b, BP_WATCH_WRITE, 0x2000, 2);
    MUST(b, s12z_watch_data(t, true, 400, 0xFFFF, &which, &b->err)); /* for one that is set later */
    assert_null(which);
    set_breakpoint(b, BP_WATCH_WRITE, 0x2000, 2);
    continue_board(b);
    wait_stop(b);
    assert_int_equal(get_reg(b, R_D2), 400);
    board_close(b);
}

static void watch__value_across_a_multiple_of_four__compares_its_low_bytes(void **state)
{
    static const struct {
        uint32_t value, mask, stops_at;
    } rows[] = { { 300, 0xFFFF, 300 & 0xFF }, { 300, 0xFF00, 256 } };
    uint8_t moved[sizeof program];
    (void)state;
    memcpy(moved, program, sizeof moved);
    moved[9] = 0x03; /* st d2,2003 */
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct board *b = board_start("s12zvml128", moved, sizeof moved);
        const struct s12z_hard *which;
        MUST(b, s12z_watch_data(s12z_of(b->t), true, rows[k].value, rows[k].mask, &which, &b->err));
        set_breakpoint(b, BP_WATCH_WRITE, 0x2003, 2);
        continue_board(b);
        assert_int_equal(wait_stop(b).reason, STOP_WATCH);
        assert_int_equal(get_reg(b, R_D2), rows[k].stops_at);
        board_close(b);
    }
}

static void comparators__pairs_and_singles__are_dealt_anew(void **state)
{
    (void)state;
    struct board *b = start_board();
    set_breakpoint(b, BP_HARD, SUB, 1);
    set_breakpoint(b, BP_WATCH_WRITE, 0x2000,
                   2); /* needs a pair: the breakpoint may stand anywhere */
    set_breakpoint(b, BP_HARD, RET, 1);
    expect_error(b, insert_breakpoint(b, BP_HARD, LOOP, 1), -ERR_RESOURCE, "A, B, C, D");
    expect_error(b, insert_breakpoint(b, BP_WATCH_WRITE, 0x2010, 2), -ERR_RESOURCE, "no pair");
    continue_board(b);
    expect_stop(b, STOP_HWBREAK, SUB);
    continue_board(b);
    expect_stop(b, STOP_HWBREAK, RET);
    continue_board(b);
    assert_int_equal(wait_stop(b).reason, STOP_WATCH);
    board_close(b);
}

static void breakpoint__where_no_code_is__is_refused(void **state)
{
    (void)state;
    struct board *b = start_board();
    expect_error(b, insert_breakpoint(b, BP_SOFT, 0x000100, 1), -ERR_FAULT, "no instruction");
    expect_error(b, insert_breakpoint(b, BP_HARD, 0x050000, 1), -ERR_FAULT, "no instruction");
    board_close(b);
}

static void range_step__over_a_call__ends_outside_and_at_breakpoints(void **state)
{
    (void)state;
    struct board *b = start_board();
    struct target_stop stop = step_range(b, CODE, AFTER);
    assert_int_equal(stop.reason, STOP_STEP);
    assert_int_equal(stop.pc, SUB); /* the call left the range */
    set_reg(b, R_P, AFTER);
    set_breakpoint(b, BP_SOFT, LOOP, 1);
    stop = step_range(b, CODE, SUB); /* the loop never leaves it, the breakpoint ends it */
    assert_int_equal(stop.reason, STOP_SWBREAK);
    assert_int_equal(stop.pc, LOOP);
    remove_breakpoint(b, BP_SOFT, LOOP, 1);
    MUST(b, b->ops->resume(b->t,
                           &(struct resume){
                               .kind = RESUME_RANGE, .range_lo = CODE, .range_hi = CODE + 0x100 },
                           &b->err));
    keeps_running(b);
    assert_int_equal(halt_board(b).reason, STOP_REQUEST);
    board_close(b);
}

static void step__onto_wai__ends_when_something_wakes_it(void **state)
{
    (void)state;
    struct board *b = start_board();
    set_reg(b, R_P, WAI);
    MUST(b, b->ops->resume(b->t, &(struct resume){ .kind = RESUME_STEP }, &b->err));
    keeps_running(b);
    MUST(b, b->ops->reset(b->t, RESET_HALT, &b->err)); /* nothing does here: the way out */
    assert_int_equal(wait_stop(b).reason, STOP_RESET);
    board_close(b);
}

static void halt__asleep__says_in_what(void **state)
{
    static const struct {
        uint32_t pc;
        const char *word;
    } rows[] = { { WAI, "WAI" }, { STOP_INSN, "STOP" } };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct board *b = start_board();
        struct target_stop stop;
        uint64_t pc;
        int ret = 0;
        set_reg(b, R_CCW, 0); /* STOP is a no-op with CCR.S set */
        set_reg(b, R_P, rows[k].pc);
        continue_board(b);
        keeps_running(b);
        assert_int_equal(b->ops->sample_pc(b->t, &pc, &b->err), 0);
        MUST(b, b->ops->halt(b->t, &b->err));
        for (int n = 0; n < 1000 && ret == 0; n++)
            ret = b->ops->poll(b->t, 2000000, &stop, &b->err);
        expect_error(b, ret, -ERR_TIMEOUT, rows[k].word);
        assert_int_equal(b->ops->state(b->t), TARGET_RUNNING);
        board_close(b);
    }
}

static void sample_pc__running__lies_in_the_loop_and_does_not_stop_it(void **state)
{
    (void)state;
    struct board *b = start_board();
    uint64_t pc = 0;
    expect_error(b, b->ops->sample_pc(b->t, &pc, &b->err), -ERR_STATE, "does not run");
    continue_board(b);
    for (int k = 0; k < 50; k++) {
        assert_int_equal(b->ops->sample_pc(b->t, &pc, &b->err), 1);
        assert_in_range(pc, LOOP, RET);
    }
    keeps_running(b);
    board_close(b);
}

/* ---- sharing with a profile ---- */

/* End, no points */
static const struct s12z_dbg_profile whole = { .tcrh = 0x40, .tcrl = 0x02 };
/* Begin at SUB by D */
static const struct s12z_dbg_profile from_start = {
    .tcrh = 0x41,
    .tcrl = 0x02,
    .comparators = 8,
    .comparator = { [3] = { .ctl = 0x21, .addr = SUB } },
    .scr = { 0xC0, 0, 0 },
};
/* End, stop point RET by D */
static const struct s12z_dbg_profile with_stop = {
    .tcrh = 0x40,
    .tcrl = 0x02,
    .comparators = 8,
    .comparator = { [3] = { .ctl = 0x21, .addr = RET } },
    .scr = { 0xC0, 0, 0 },
};

static void
profile__without_points__leaves_all_comparators_and_breakpoints_end_its_stretch(void **state)
{
    (void)state;
    struct board *b = start_board();
    struct s12z_target *t = s12z_of(b->t);
    uint8_t v;
    set_breakpoint(b, BP_HARD, SUB, 1);
    MUST(b, s12z_dbg_claim(t, &whole, &b->err));
    continue_board(b);
    expect_stop(b, STOP_HWBREAK, SUB);
    MUST(b, s12z_peek8(t, S12Z_DBGCNT, &v, &b->err));
    assert_int_equal(v, 4); /* PTS, and the final line */
    remove_breakpoint(b, BP_HARD, SUB, 1);
    continue_board(b); /* armed anew, now without a reason to break */
    MUST(b, s12z_peek8(t, S12Z_DBGC1, &v, &b->err));
    assert_int_equal(v & 0x18, 0);
    keeps_running(b);
    board_close(b);
}

static void profile__with_stop_point__debugger_gets_the_other_three(void **state)
{
    (void)state;
    struct board *b = start_board();
    struct s12z_target *t = s12z_of(b->t);
    uint8_t ctl;
    set_breakpoint(b, BP_HARD, SUB, 1);
    set_breakpoint(b, BP_HARD, AFTER, 1);
    set_breakpoint(b, BP_HARD, LOOP, 1);
    MUST(b, s12z_dbg_claim(t, &with_stop, &b->err)); /* moves whatever stood in D */
    expect_error(b, insert_breakpoint(b, BP_HARD, LOAD, 1), -ERR_RESOURCE, "the profile holds D");
    continue_board(b);
    expect_stop(b, STOP_HWBREAK, LOOP);
    MUST(b, s12z_peek8(t, 0x140, &ctl, &b->err));
    assert_int_equal(ctl, 0x21);
    MUST(b, s12z_dbg_claim(t, NULL, &b->err));
    set_breakpoint(b, BP_HARD, LOAD, 1);
    expect_error(b, s12z_dbg_claim(t, &with_stop, &b->err), -ERR_RESOURCE, "needs comparators D");
    board_close(b);
}

static void profile__with_start_point__and_breakpoints__exclude_each_other(void **state)
{
    (void)state;
    struct board *b = start_board();
    struct s12z_target *t = s12z_of(b->t);
    MUST(b, s12z_dbg_claim(t, &from_start, &b->err));
    expect_error(b, insert_breakpoint(b, BP_HARD, SUB, 1), -ERR_RESOURCE, "start point");
    set_breakpoint(b, BP_SOFT, AFTER, 1); /* BGND needs no comparator */
    continue_board(b);
    expect_stop(b, STOP_SWBREAK, AFTER);
    MUST(b, s12z_dbg_claim(t, NULL, &b->err));
    set_breakpoint(b, BP_HARD, SUB, 1);
    expect_error(b, s12z_dbg_claim(t, &from_start, &b->err), -ERR_RESOURCE, "start point");
    board_close(b);
}

static void profile__running__its_module_is_not_touched(void **state)
{
    (void)state;
    struct board *b = start_board();
    struct s12z_target *t = s12z_of(b->t);
    MUST(b, s12z_dbg_claim(t, &whole, &b->err));
    continue_board(b);
    expect_error(b, insert_breakpoint(b, BP_HARD, SUB, 1), -ERR_STATE, "locked");
    set_breakpoint(b, BP_SOFT, SUB, 1);
    board_close(b);
}

static void profile__on_a_part_without_trace__is_refused(void **state)
{
    (void)state;
    struct board *b = board_start("s12zvl128", program, sizeof program);
    expect_error(b, s12z_dbg_claim(s12z_of(b->t), &whole, &b->err), -ERR_UNSUPPORTED,
                 "no trace buffer");
    board_close(b);
}

/* Each code of settings.h has its words. */
static void monitor_dbg__each_code_of_a_field__in_words(void **state)
{
    static const struct {
        const char *says;
        uint8_t c1, c2, tcrh;
    } rows[] = {
        { "from arming (End)", 0, 0, 0x40 },
        { "from Final State on (Begin)", 0, 0, 0x41 },
        { "Mid", 0, 0, 0x42 },
        { "(Normal)", 0, 0, 0x40 },
        { "(Loop1)", 0, 0, 0x44 },
        { "traces accesses (Detail)", 0, 0, 0x48 },
        { "every PC", 0, 0, 0x4C },
        { "up to D", 0, 0, 0x58 },
        { "from C on", 0, 0, 0x68 },
        { "from C to D", 0, 0, 0x78 },
        { "A and B inside their range, C and D separate", 0, 0x01, 0 },
        { "A and B separate, C and D outside their range", 0, 0x08, 0 },
        { "pin forces trace entries", 0x01, 0, 0 },
        { "takes D's place", 0x02, 0, 0 },
        { "gates trace entries", 0x03, 0, 0 },
    };
    (void)state;
    struct board *b = start_board();
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        uint8_t regs[3] = { rows[k].c1, rows[k].c2, rows[k].tcrh };
        char *argv[] = { "dbg" };
        int ret = -1;
        set_mem(b, S12Z_DBGC1, regs, sizeof regs);
        char *text = monitor_text(b, 1, argv, &ret);
        assert_int_equal(ret, 0);
        if (!strstr(text, rows[k].says))
            fail_msg("no \"%s\" in: %s", rows[k].says, text);
    }
    board_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bgnd__in_ram__stops_at_its_address_hidden_and_goes_on),
        cmocka_unit_test(bgnd__set_and_removed_while_running__works),
        cmocka_unit_test(bgnd__stepped_off__runs_the_instruction_below),
        cmocka_unit_test(bgnd__of_the_program__is_recognised),
        cmocka_unit_test(bgnd__left_by_a_lost_session__is_taken_away),
        cmocka_unit_test(hardware__each_of_four_and_all_together__stop_before_the_instruction),
        cmocka_unit_test(hardware__part_without_comparator_c__has_three),
        cmocka_unit_test(watch__kinds_and_sizes__stop_on_their_accesses_only),
        cmocka_unit_test(watch__with_a_value__stops_at_that_value),
        cmocka_unit_test(watch__value_across_a_multiple_of_four__compares_its_low_bytes),
        cmocka_unit_test(comparators__pairs_and_singles__are_dealt_anew),
        cmocka_unit_test(breakpoint__where_no_code_is__is_refused),
        cmocka_unit_test(range_step__over_a_call__ends_outside_and_at_breakpoints),
        cmocka_unit_test(step__onto_wai__ends_when_something_wakes_it),
        cmocka_unit_test(halt__asleep__says_in_what),
        cmocka_unit_test(sample_pc__running__lies_in_the_loop_and_does_not_stop_it),
        cmocka_unit_test(
            profile__without_points__leaves_all_comparators_and_breakpoints_end_its_stretch),
        cmocka_unit_test(profile__with_stop_point__debugger_gets_the_other_three),
        cmocka_unit_test(profile__with_start_point__and_breakpoints__exclude_each_other),
        cmocka_unit_test(profile__running__its_module_is_not_touched),
        cmocka_unit_test(profile__on_a_part_without_trace__is_refused),
        cmocka_unit_test(monitor_dbg__each_code_of_a_field__in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
