/* Every documented option and fault of the simulated boards does what it says, seen by the driver.
 */
#include "targets/s12z/driver/driver.h"
#include "tests/s12z/target_rig.h"

/* Opens, or gives the error. */
static int try_open(const char *spec, struct board *b)
{
    static const struct sim_board_type *const boards[] = { &s12z_board_zvml128, NULL };
    struct probe_config cfg = { .boards = boards };
    *b = (struct board){ .err = { .code = ERR_OK } };
    int ret = probe_open(spec, &cfg, &b->probe, &b->err);
    probe_close(b->probe);
    return ret;
}

/* Names of the options as the header of the boards lists them, each with one value that is right
 * and one that is not. */
static const struct {
    const char *name, *good, *bad;
} options[] = {
    { "bus", "bus=32M", "bus=0" },
    { "bdc", "bdc=1M", "bdc=fast" },
    { "serial", "serial=none", "serial=tape" },
    { "serial1", "serial1=none", "serial1=tape" },
    { "flash", "flash=" SOURCE_DIR "/tests/s12z/fixtures/flow.bin", "flash=/nowhere" },
    { "secured", "secured", "secured=maybe" },
    { "pdoclk", "pdoclk=full-inverted", "pdoclk=most" },
    { "eev", "eev=1000", "eev=0" },
    { "fault", "fault=none", "fault=fire" },
    { "first-edge", "first-edge=none", "first-edge=x" },
    { "pthf", "pthf=5", "pthf=7" },
    { "static-operand", "static-operand=indirect", "static-operand=x" },
    { "software-exceptions", "software-exceptions=silent", "software-exceptions=x" },
    { "bit-branches", "bit-branches=silent", "bit-branches=x" },
    { "loop-branches", "loop-branches=silent", "loop-branches=x" },
    { "byte-order", "byte-order=high-first", "byte-order=x" },
    { "stamp-from", "stamp-from=flow", "stamp-from=x" },
};

/* What a user can read: the comment of the header, from its options to its end. */
static char *documented_options(void)
{
    static char text[8192];
    FILE *f = fopen(SOURCE_DIR "/targets/sim/s12z/board.h", "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    char *end = strstr(text, "*/"), *begin = strstr(text, "options may follow the board's name");
    assert_non_null(begin);
    *end = 0;
    return begin;
}

static void options__each_documented__is_taken_and_checked(void **state)
{
    char spec[300], *doc = documented_options();
    struct board b;
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(options); k++) {
        print_message("  %s\n", options[k].name);
        assert_non_null(strstr(doc, options[k].name));
        snprintf(spec, sizeof spec, "sim:s12zvml128,%s", options[k].good);
        if (try_open(spec, &b) < 0)
            fail_msg("%s: %s", b.err.what, b.err.hint);
        snprintf(spec, sizeof spec, "sim:s12zvml128,%s", options[k].bad);
        assert_true(try_open(spec, &b) < 0);
        assert_string_not_equal(b.err.hint, "");
    }
    /* and nothing stands there that is not in the table: each NAME= of the comment */
    for (char *p = strchr(doc, '='); p; p = strchr(p + 1, '=')) {
        char *from = p;
        size_t known = 0;
        while (from[-1] != ' ' && from[-1] != '[')
            from--;
        for (size_t k = 0; k < ARRAY_LEN(options); k++)
            known += strlen(options[k].name) == (size_t)(p - from) &&
                     !strncmp(options[k].name, from, (size_t)(p - from));
        if (!known)
            fail_msg("documented, but not tested: %.30s", from);
    }
}

/* ---- faults: what a user sees of each ---- */

static int attach_only(struct board *b) { return b->ops->attach(b->t, &b->err); }

/* BDC has no checksum: a bit that was taken wrong is a repeat, or data that differ. */
static int reads_on(struct board *b)
{
    int ret = b->ops->attach(b->t, &b->err);
    uint8_t buf[128], zero[128] = { 0 };
    unsigned damaged = 0;
    for (int k = 0; ret == 0 && k < 40; k++) {
        ret = b->ops->read_mem(b->t, 0x1000, 0, buf, sizeof buf, &b->err);
        damaged += memcmp(buf, zero, sizeof buf) != 0;
    }
    print_message("  %u reads differ, %llu repeats\n", damaged,
                  (unsigned long long)s12z_of(b->t)->link.retries);
    assert_in_range(damaged + s12z_of(b->t)->link.retries, 1, 20);
    return ret;
}

static int load_bytes(struct board *b)
{
    static const uint8_t data[64] = { 1, 2, 3 };
    struct target_stop stop;
    int ret = b->ops->attach(b->t, &b->err);
    if (ret == 0)
        ret = b->ops->reset(b->t, RESET_HALT, &b->err);
    if (ret == 0)
        ret = MIN(b->ops->poll(b->t, 0, &stop, &b->err), 0);
    if (ret == 0)
        ret = b->ops->flash_erase(b->t, 0xFE0000, 512, &b->err);
    if (ret == 0)
        ret = b->ops->flash_write(b->t, 0xFE0000, data, sizeof data, &b->err);
    return ret < 0 ? ret : b->ops->flash_done(b->t, &b->err);
}

/* The levels of PDO at the edges of PDOCLK while a small loop is profiled; how many. */
static size_t pdo_bits(struct board *b, uint8_t *bits, size_t cap)
{
    enum { DBGC1 = 0x100, TCRH_TCRL = 0x102, ARM = 0x80 };
    static const uint8_t loop[] = { 0x00 /* BGND, not executed */, 0x20, 0x00 };
    static const uint8_t profile_to_pins[] = { 0x40, 0x06 };
    const struct pdo_ops *pdo = b->probe->driver->pdo;
    pdo_edge edges[512];
    uint64_t tick_hz, lost;
    uint8_t arm = ARM;
    struct target_stop stop;
    size_t n = 0;
    unsigned clk = 0;
    MUST(b, b->ops->attach(b->t, &b->err));
    MUST(b, b->ops->reset(b->t, RESET_HALT, &b->err));
    assert_int_equal(wait_stop(b).reason, STOP_RESET);
    set_mem(b, CODE, loop, sizeof loop);
    set_reg(b, R_P, CODE + 1);
    MUST(b, pdo->start(b->probe, &tick_hz, &b->err));
    MUST(b, b->ops->write_mem(b->t, TCRH_TCRL, 1, profile_to_pins, 2, &b->err));
    MUST(b, b->ops->write_mem(b->t, DBGC1, 1, &arm, 1, &b->err));
    continue_board(b);
    for (int k = 0; k < 50 && n < cap; k++) {
        MUST(b, b->ops->poll(b->t, 1000000, &stop, &b->err));
        for (int got;
             n < cap && (got = pdo->read(b->probe, edges, ARRAY_LEN(edges), &lost, &b->err)) > 0;)
            for (int i = 0; i < got && n < cap; i++) {
                if (PDO_CLK(edges[i]) != clk)
                    bits[n++] = (uint8_t)PDO_DATA(edges[i]);
                clk = PDO_CLK(edges[i]);
            }
    }
    return n;
}

static int pins_differ(struct board *b)
{
    uint8_t bits[2][2000];
    struct board *clean = board_open("s12zvml128");
    size_t n = pdo_bits(b, bits[0], sizeof bits[0]), m = pdo_bits(clean, bits[1], sizeof bits[1]),
           wrong = 0;
    board_close(clean);
    assert_int_equal(n, m);
    assert_true(n > 1000);
    for (size_t k = 0; k < n; k++)
        wrong += bits[0][k] != bits[1][k];
    print_message("  %zu of %zu bits\n", wrong, n);
    assert_in_range(wrong, n / 400, n / 25); /* one in 100 */
    return 0;
}

static const struct {
    const char *kind, *spec;
    int (*run)(struct board *b);
    int ret;
    const char *word;
} faults[] = {
    { "none", "fault=none", load_bytes, 0, "" },
    { "no-power", "fault=no-power", attach_only, -ERR_NO_TARGET, "no power" },
    { "bkgd-low", "fault=bkgd-low", attach_only, -ERR_NO_TARGET, "stuck low" },
    { "bkgd-high", "fault=bkgd-high", attach_only, -ERR_NO_TARGET, "SYNC" },
    { "silent", "fault=silent", attach_only, -ERR_NO_TARGET, "SYNC" },
    { "reset", "fault=reset", attach_only, -ERR_NO_TARGET, "held in reset" },
    { "unplug", "fault=unplug", attach_only, -ERR_USB, "gone" },
    { "noise", "bus=8M,fault=noise@20000", reads_on, 0, "" },
    { "flash", "fault=flash@1", load_bytes, -ERR_FAULT, "did not take it" },
    { "flash-once", "fault=flash-once@2", load_bytes, -ERR_FAULT, "did not take it" },
    { "flash-weak", "fault=flash-weak", load_bytes, -ERR_FAULT,
      "verify: FE0000 reads 03, 01 was programmed" },
    { "pdo-noise", "fault=pdo-noise@100", pins_differ, 0, "" },
};

static void faults__each_documented__shows(void **state)
{
    (void)state;
    for (size_t k = 0; s12z_board_faults[k].kind; k++) {
        char spec[100];
        const char *kind = s12z_board_faults[k].kind;
        size_t row = 0;
        while (row < ARRAY_LEN(faults) && strcmp(faults[row].kind, kind) != 0)
            row++;
        print_message("  %s: %s\n", kind, s12z_board_faults[k].what);
        assert_in_range(row, 0, ARRAY_LEN(faults) - 1);
        snprintf(spec, sizeof spec, "s12zvml128,%s", faults[row].spec);
        struct board *b = board_open(spec);
        int ret = faults[row].run(b);
        if (ret != faults[row].ret || !strstr(b->err.what, faults[row].word))
            fail_msg("%d: %s", ret, b->err.what);
        board_close(b);
        struct board other;
        snprintf(spec, sizeof spec, "sim:s12zvml128,fault=%s@2s+1ms/5s", kind);
        assert_int_equal(try_open(spec, &other) == 0, s12z_board_faults[k].comes_and_goes);
    }
}

/* ---- faults that come and go ---- */

/* Polls until the target is gone; then adapter and target as the program gets them back. */
static void lose_board(struct board *b)
{
    struct target_stop stop;
    int ret = 0;
    for (int k = 0; k < 400 && ret >= 0; k++)
        ret = b->ops->poll(b->t, 1000000, &stop, &b->err);
    assert_true(ret == -ERR_NO_TARGET || ret == -ERR_USB);
    assert_int_equal(b->ops->state(b->t), TARGET_GONE);
}

static int get_back(struct board *b)
{
    int ret = -ERR_USB;
    for (int k = 0; k < 20 && ret < 0; k++) {
        ret = probe_reopen(b->probe, &b->err);
        if (ret == 0)
            ret = b->ops->attach(b->t, &b->err);
        if (ret < 0)
            b->probe->driver->bdc->wait(b->probe, 100000000, NULL);
    }
    return ret;
}

static void faults__that_come_and_go__leave_the_board_as_they_say(void **state)
{
    static const struct {
        const char *kind;
        bool memory_kept, runs_on;
    } rows[] = { { "no-power", false, false },
                 { "bkgd-low", true, true },
                 { "bkgd-high", true, true },
                 { "silent", true, true },
                 { "unplug", true, true } };
    static const uint8_t loop[] = { 0x20, 0x00 }; /* BRA to itself */
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        char spec[100];
        print_message("  %s\n", rows[k].kind);
        snprintf(spec, sizeof spec,
                 "s12zvml128,flash=" SOURCE_DIR
                 "/tests/s12z/fixtures/flow.bin,fault=%s@200ms+500ms",
                 rows[k].kind);
        struct board *b = board_start(spec, loop, sizeof loop);
        uint32_t word = 0x600DF00D, back = 0;
        set_mem(b, DATA, &word, 4);
        continue_board(b);
        lose_board(b);
        MUST(b, get_back(b));
        MUST(b, b->ops->read_mem(b->t, DATA, 4, (uint8_t *)&back, 4, &b->err));
        assert_int_equal(back == word, rows[k].memory_kept);
        halt_board(b);
        assert_int_equal(get_reg(b, R_P) == CODE, rows[k].runs_on);
        board_close(b);
    }
}

/* Short, and again and again: seen as resets of a part that answers. */
static void fault__reset_every_so_often__is_a_reset_each_time(void **state)
{
    static const uint8_t loop[] = { 0x20, 0x00 };
    (void)state;
    struct board *b = board_start("s12zvml128,flash=" SOURCE_DIR
                                  "/tests/s12z/fixtures/flow.bin,fault=reset@250ms+50us/100ms",
                                  loop, sizeof loop);
    /* with anything of ours in it, a reset is a stop */
    MUST(b, b->ops->insert_bp(b->t, BP_HARD, 0xFE1000, 1, &b->err));
    for (int k = 0; k < 3; k++) {
        continue_board(b);
        assert_int_equal(wait_stop(b).reason, STOP_RESET);
    }
    board_close(b);
}

/* ---- DBGEEV ---- */

static void eev__wave__is_seen_by_the_module(void **state)
{
    enum { DBGC1 = 0x100, DBGEFR = 0x10A, ARM_EEVE_ENTRY = 0x81, EEVF = 0x10 };
    static const struct {
        const char *spec;
        bool seen;
    } rows[] = { { "s12zvml128", false }, { "s12zvml128,eev=1000", true } };
    static const uint8_t loop[] = { 0x20, 0x00 };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct board *b = board_start(rows[k].spec, loop, sizeof loop);
        continue_board(b);
        uint8_t arm = ARM_EEVE_ENTRY;
        MUST(b, b->ops->write_mem(b->t, DBGC1, 1, &arm, 1, &b->err));
        keeps_running(b);
        assert_int_equal((read_byte(b, DBGEFR) & EEVF) != 0, rows[k].seen);
        board_close(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options__each_documented__is_taken_and_checked),
        cmocka_unit_test(faults__each_documented__shows),
        cmocka_unit_test(faults__that_come_and_go__leave_the_board_as_they_say),
        cmocka_unit_test(fault__reset_every_so_often__is_a_reset_each_time),
        cmocka_unit_test(eev__wave__is_seen_by_the_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
