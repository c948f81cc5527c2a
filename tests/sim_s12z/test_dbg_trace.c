/* The trace buffer and the four ordinary trace modes, against ZVHL p.191-222. Expected lines are
 * written by hand from the tables there and the listings in dbg_rig.h. */
#include "tests/sim_s12z/dbg_rig.h"

enum { MAX_LINES = 64 };

static void set_up(struct wire *w, uint8_t tcrh, uint8_t tcrl)
{
    write_byte(w, R_TCRH, TSOURCE | tcrh);
    write_byte(w, R_TCRL, tcrl);
}

/* Runs until the comparator A stops the trace at `until`. */
static void run_to(struct wire *w, uint32_t until)
{
    compare_address(w, R_ACTL, INST, until);
    write_byte(w, R_SCR1, 3);
    write_byte(w, R_C1, ARM | TO_BDM);
    dbg_go(w, 100000);
    assert_int_equal(w->board->cpu.state, CPU_BDM);
    assert_int_equal(w->board->cpu.r[S12Z_P], until);
    assert_int_equal(read_byte(w, R_C1) & ARM, 0);
}

/* ---- Normal, Loop1 ---- */

static const uint32_t cofs[] = { 0x80001046, 0x80001046, 0xC0001080, 0xC000104C, 0xC000104F,
                                 0xC0001055, 0x80001055, 0xC0001055, 0x40001090, 0xC000105A };

static void normal__changes_of_flow__are_reported_two_a_line(void **state)
{
    (void)state;
    for (unsigned loop1 = 0; loop1 < 2; loop1++) {
        struct wire w = dbg_open(0x1040);
        uint64_t lines[MAX_LINES];
        unsigned n = ARRAY_LEN(cofs) - loop1;
        set_up(&w, loop1 ? DO_LOOP1 : DO_NORMAL, 0);
        run_to(&w, 0x105A);
        assert_int_equal(read_byte(&w, R_CNT), n);
        assert_int_equal(read_byte(&w, R_SR) & TBF, 0);
        dbg_lines(&w, lines, (n + 1) / 2);
        for (unsigned k = 0; k < n; k++) /* Loop1: the branch to itself once */
            assert_int_equal((uint32_t)(lines[k / 2] >> (32 * (k & 1))), cofs[k + loop1]);
        wire_close(&w);
    }
}

static void normal__with_stamp__counts_core_clocks_between_entries(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1040);
    uint64_t lines[MAX_LINES], from, sum = 0;
    set_up(&w, DO_NORMAL, STAMP);
    compare_address(&w, R_ACTL, INST, 0x105A);
    write_byte(&w, R_SCR1, 3);
    write_byte(&w, R_C1, ARM | TO_BDM);
    for (from = 0; !from;) { /* cycle of the first entry */
        dbg_go(&w, 1);
        from = read_byte(&w, R_CNT) ? w.board->cpu.cycles : 0;
    }
    uint64_t last = from;
    for (unsigned cnt = read_byte(&w, R_CNT); read_byte(&w, R_C1) & ARM;) {
        dbg_go(&w, 1);
        if (read_byte(&w, R_CNT) != cnt)
            last = w.board->cpu.cycles;
        cnt = read_byte(&w, R_CNT);
    }
    assert_int_equal(read_byte(&w, R_CNT), 2 * ARRAY_LEN(cofs));
    dbg_lines(&w, lines, ARRAY_LEN(cofs));
    for (unsigned k = 0; k < ARRAY_LEN(cofs); k++) {
        assert_int_equal((uint32_t)lines[k], cofs[k]);
        assert_int_equal(lines[k] >> 32 & 0xFFFF, 0);
        sum += k ? (lines[k] >> 48) + 1 : 0;
    }
    assert_int_equal(lines[0] >> 48, 0);
    assert_int_equal(sum, last - from);
    wire_close(&w);
}

static void stamp__no_entry_for_65536_clocks__overflows(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x14A0); /* jsr, rts, wai */
    uint64_t lines[MAX_LINES];
    set_up(&w, DO_NORMAL, STAMP);
    w.board->cpu.r[S12Z_P] = 0x14A0;
    memcpy(w.board->ram + SUB - RAM_START, "\x1B\x06", 2); /* wai in the subroutine */
    cpu_forget(&w.board->cpu, SUB, 2);
    write_byte(&w, R_C1, ARM);
    dbg_go(&w, 3 * 65536 + 1000);
    write_byte(&w, R_C1, 0);
    assert_int_equal(read_byte(&w, R_CNT), 2 * 4);
    dbg_lines(&w, lines, 4);
    assert_true(lines[0] == 0x00000000C0001080);
    for (unsigned k = 1; k < 4; k++)
        assert_true(lines[k] ==
                    0xFFFF000001001080); /* TOVF, no change of flow, the PC it stands at */
    wire_close(&w);
}

static void dstamp__comparator_d__forces_an_entry(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1000);
    uint64_t lines[MAX_LINES];
    set_up(&w, DO_NORMAL, STAMP | DSTAMP);
    compare_address(&w, R_DCTL, 4, 0x1101); /* write; no state uses it */
    write_byte(&w, R_C1, ARM);
    dbg_go(&w, 100);
    write_byte(&w, R_C1, 0);
    unsigned n = read_byte(&w, R_CNT) / 2;
    assert_in_range(n, 5, 40);
    dbg_lines(&w, lines, n);
    for (unsigned k = 0; k < n; k++)
        assert_int_equal((uint32_t)lines[k], 0x08001006);
    assert_int_equal(lines[1] >> 48, lines[2] >> 48); /* once a round */
    wire_close(&w);
    w = dbg_open(0x1000); /* D on an instruction: the PC of the one before */
    set_up(&w, DO_NORMAL, STAMP | DSTAMP);
    compare_address(&w, R_DCTL, INST, 0x1006);
    write_byte(&w, R_C1, ARM);
    dbg_go(&w, 10);
    write_byte(&w, R_C1, 0);
    dbg_lines(&w, lines, 1);
    assert_int_equal((uint32_t)lines[0], 0x08001003);
    wire_close(&w);
}

static void external_event__entry_and_gate__do_as_eeve_says(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1000);
    uint64_t lines[MAX_LINES];
    set_up(&w, DO_NORMAL, 0);
    write_byte(&w, R_C1, ARM | 1);
    dbg_go(&w, 10);
    dbg_eev_pin(w.board->dbg, true);
    dbg_eev_pin(w.board->dbg, false);
    assert_int_equal(read_byte(&w, R_EFR), EEVF);
    assert_int_equal(read_byte(&w, R_CNT), 1);
    write_byte(&w, R_C1, 0);
    dbg_lines(&w, lines, 1);
    assert_int_equal(lines[0] >> 24 & 0xFF, 0x04);
    assert_in_range(lines[0] & 0xFFFFFF, 0x1003, 0x1009);
    wire_close(&w);
    w = dbg_open(0x1440);
    set_up(&w, DO_NORMAL, 0);
    write_byte(&w, R_C1, ARM | 3);
    dbg_go(&w, 100);
    assert_int_equal(read_byte(&w, R_CNT), 0);
    dbg_eev_pin(w.board->dbg, true);
    dbg_go(&w, 100);
    assert_true(read_byte(&w, R_CNT) > 3);
    wire_close(&w);
}

/* ---- alignment ---- */

static void begin__64_lines_behind_the_trigger__then_breaks(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1040);
    uint64_t lines[MAX_LINES];
    set_up(&w, DO_NORMAL | 1, 0);
    compare_address(&w, R_ACTL, INST, 0x104A); /* jsr: its own destination is told */
    write_byte(&w, R_SCR1, 3);
    write_byte(&w, R_C1, ARM | TO_BDM);
    dbg_go(&w, 20);
    assert_int_equal(read_byte(&w, R_SR) & SSF, 4);
    dbg_go(&w, 100000);
    assert_int_equal(w.board->cpu.state, CPU_BDM);
    assert_int_equal(read_byte(&w, R_SR), TBF);
    assert_int_equal(read_byte(&w, R_CNT), 0);
    dbg_lines(&w, lines, 64);
    for (unsigned k = 0; k < 128; k++)
        assert_int_equal((uint32_t)(lines[k / 2] >> (32 * (k & 1))),
                         cofs[(k + 2) % ARRAY_LEN(cofs)]);
    wire_close(&w);
}

static void mid__32_lines_behind_the_trigger__whatever_was_before(void **state)
{
    (void)state;
    for (unsigned before = 10; before <= 4000; before += 3990) {
        struct wire w = dbg_open(0x1440);
        set_up(&w, DO_NORMAL | 2, 0);
        write_byte(&w, R_C1, ARM | TO_BDM);
        dbg_go(&w, before);
        uint64_t lines = w.board->dbg->written;
        write_byte(&w, R_C1, ARM | TRIG);
        assert_int_equal(read_byte(&w, R_SR) & SSF, 4);
        write_byte(&w, R_C1, ARM | TRIG); /* no effect any more */
        dbg_go(&w, 100000);
        assert_int_equal(w.board->cpu.state, CPU_BDM);
        assert_int_equal(w.board->dbg->written, lines + 32);
        assert_int_equal(read_byte(&w, R_CNT), 2 * (lines + 32) & 0x7F);
        assert_int_equal(read_byte(&w, R_SR) & TBF, lines + 32 >= 64 ? TBF : 0);
        wire_close(&w);
    }
}

static void end__buffer_wraps__oldest_lines_go(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1040);
    uint64_t lines[MAX_LINES];
    set_up(&w, DO_NORMAL, 0);
    write_byte(&w, R_C1, ARM | TO_BDM);
    dbg_go(&w, 5000);
    write_byte(&w, R_C1, 0);
    uint64_t halves = 2 * w.board->dbg->written + w.board->dbg->half;
    assert_true(halves > 200);
    assert_int_equal(read_byte(&w, R_CNT), halves & 0x7F);
    assert_int_equal(read_byte(&w, R_SR), TBF);
    dbg_lines(&w, lines, 64);
    for (uint64_t k = 0; k < 128 - (halves & 1); k++) {
        uint64_t nr = halves + (halves & 1) - 128 + k;
        assert_int_equal((uint32_t)(lines[k / 2] >> (32 * (k & 1))), cofs[nr % ARRAY_LEN(cofs)]);
    }
    wire_close(&w);
}

/* ---- Detail ---- */

/* st d0 at 0 and 1, st d2 at 2 and 3, st x at 1, st d6 at 0 and 1, ld d0 at 3: the lanes of table
 * 6-53. */
static const uint64_t accesses[] = { 0x1100000000001100, 0x0011000000001101, 0x0000223340001102,
                                     0x3300002240001103, 0x0000110080001101, 0x44556677C0001100,
                                     0x77445566C0001101, 0x0000006620001103 };

static void detail__every_access__has_data_on_its_lanes(void **state)
{
    (void)state;
    for (unsigned stamped = 0; stamped < 2; stamped++) {
        struct wire w = dbg_open(0x1400);
        uint64_t lines[MAX_LINES];
        unsigned step = 1 + stamped;
        set_up(&w, DO_DETAIL, stamped ? STAMP : 0);
        run_to(&w, 0x141E);
        assert_int_equal(read_byte(&w, R_CNT), 2 * step * ARRAY_LEN(accesses));
        dbg_lines(&w, lines, step * ARRAY_LEN(accesses));
        for (unsigned k = 0; k < ARRAY_LEN(accesses); k++) {
            if (lines[k * step] != accesses[k])
                fail_msg("access %u: %016llX", k, (unsigned long long)lines[k * step]);
            if (stamped) { /* the time, TSINF with a valid PC, the PC */
                assert_int_equal(lines[2 * k + 1] & 0xFFFFFFFFFFFF, 0x06000000 | (0x140E + 2 * k));
                assert_true((lines[2 * k + 1] >> 48 == 0) == (k == 0));
            }
        }
        wire_close(&w);
    }
}

static void detail__trange__bounds_the_addresses_with_c_and_d(void **state)
{
    /* C = 1101, D = 1102; which accesses are kept, by their place in the list */
    static const struct {
        unsigned range;
        const char *kept;
    } rows[] = { { 0, "01234567" }, { 1, "012456" }, { 2, "123467" }, { 3, "1246" } };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct wire w = dbg_open(0x1400);
        uint64_t lines[MAX_LINES];
        size_t n = strlen(rows[k].kept);
        set_up(&w, (uint8_t)(DO_DETAIL | rows[k].range << 4), 0);
        compare_address(&w, R_CCTL, 0, 0x1101);
        compare_address(&w, R_DCTL, 0, 0x1102);
        write_byte(&w, R_CCTL, 0); /* free for this: not enabled */
        write_byte(&w, R_DCTL, 0);
        run_to(&w, 0x141E);
        assert_int_equal(read_byte(&w, R_CNT), 2 * n);
        dbg_lines(&w, lines, n);
        for (size_t j = 0; j < n; j++)
            assert_true(lines[j] == accesses[rows[k].kept[j] - '0']);
        wire_close(&w);
    }
}

/* ---- Pure PC ---- */

/* Lines to PCs, by the text: NB3..NB0 mark bytes where a full address begins; the one that begins
 * at byte 4 has no mark; a compressed byte belongs to the 256 bytes of the full address behind it.
 * Returns how many. */
static unsigned decode_pure(const uint64_t *lines, unsigned n, uint32_t *pc)
{
    unsigned count = 0, open = 0;
    for (unsigned k = 0; k < n; k++) {
        unsigned payload = lines[k] >> 60 & 7;
        for (unsigned p = 0; p < payload;) {
            bool full = p == 4 || (p < 4 && lines[k] >> (56 + p) & 1);
            pc[count++] = lines[k] >> (8 * p) & (full ? 0xFFFFFF : 0xFF);
            p += full ? 3 : 1;
            for (; full && open < count - 1; open++)
                pc[open] |= pc[count - 1] & 0xFFFF00;
            if (full)
                open = count;
        }
        assert_int_equal(open, count); /* the last entry of a line is full */
    }
    return count;
}

static const uint32_t pcs[] = { 0x10A0, 0x10A1, 0x10A2, 0x10A3, 0x10A4,
                                0x10A5, 0x10A6, 0x1300, 0x1301, 0x1302 };

static void pure_pc__every_instruction__can_be_read_from_the_lines(void **state)
{
    (void)state;
    for (unsigned cycles = 1; cycles < 60; cycles++) {
        struct wire w = dbg_open(0x10A0);
        uint64_t lines[MAX_LINES];
        uint32_t pc[5 * MAX_LINES];
        set_up(&w, DO_PURE_PC, STAMP); /* STAMP means nothing here */
        write_byte(&w, R_C1, ARM);
        uint64_t before = w.board->cpu.instructions;
        dbg_go(&w, cycles);
        write_byte(&w, R_C1, 0);
        unsigned n = read_byte(&w, R_CNT) / 2;
        dbg_lines(&w, lines, n);
        assert_int_equal(decode_pure(lines, n, pc), w.board->cpu.instructions - before);
        for (unsigned k = 0; k < w.board->cpu.instructions - before; k++)
            assert_int_equal(pc[k], pcs[k % ARRAY_LEN(pcs)]);
        wire_close(&w);
    }
}

static void pure_pc__first_lines__are_packed_as_described(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x10A0);
    uint64_t lines[MAX_LINES];
    set_up(&w, DO_PURE_PC, 0);
    run_to(&w, 0x1302);
    assert_int_equal(read_byte(&w, R_CNT), 2 * 3);
    dbg_lines(&w, lines, 3);
    assert_true(lines[0] == 0x700010A4A3A2A1A0); /* four low bytes, then a full address at byte 4 */
    assert_true(lines[1] == 0x720013000010A6A5); /* A5; 10A6 in full at byte 1; 1300 at byte 4 */
    assert_true(lines[2] == 0x3100000000001301); /* what was left, in full at byte 0 */
    wire_close(&w);
}

static void pure_pc__mid_trigger__is_marked_at_the_last_pc_before_it(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x10A0);
    uint64_t lines[MAX_LINES];
    uint32_t pc[5 * MAX_LINES];
    set_up(&w, DO_PURE_PC | 2, 0);
    compare_address(&w, R_ACTL, INST, 0x1301);
    write_byte(&w, R_SCR1, 3);
    write_byte(&w, R_C1, ARM | TO_BDM);
    dbg_go(&w, 100000);
    assert_int_equal(w.board->cpu.state, CPU_BDM);
    unsigned n = read_byte(&w, R_CNT) / 2, at = 0;
    dbg_lines(&w, lines, n);
    while (at < n && !(lines[at] >> 63))
        at++;
    assert_int_equal(n, at + 1 + 32);
    unsigned before = decode_pure(lines, at + 1, pc);
    assert_int_equal(before, 8);
    assert_int_equal(pc[before - 1], 0x1300);
    decode_pure(lines + at + 1, 32, pc);
    assert_int_equal(pc[0], 0x1301);
    wire_close(&w);
}

/* ---- readout ---- */

static void readout__two_paths__give_the_same_lines(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1040);
    uint64_t lines[66];
    set_up(&w, DO_NORMAL, STAMP);
    write_byte(&w, R_C1, ARM);
    dbg_go(&w, 3000);
    write_byte(&w, R_C1, 0);
    dbg_halt(&w);
    dbg_lines(&w, lines, 66);
    assert_true(lines[64] == lines[0] && lines[65] == lines[1]); /* it wraps */
    assert_true(lines[0] != lines[1]);
    wire_acked(&w, BDC_ACK_ENABLE, 8);
    assert_int_equal(wire_acked(&w, (uint64_t)(BDC_WRITE_MEM + 4) << 40 | (uint64_t)R_TB << 16, 48),
                     BDC_ACK_CYCLES);
    for (unsigned k = 0; k < 65; k++) {
        wire_bits(&w, BDC_READ_DBGTB, 8);
        assert_int_equal(wire_pulse(&w).length, BDC_ACK_CYCLES);
        uint32_t low = (uint32_t)wire_receive(&w, 32);
        assert_int_equal(wire_pulse(&w).length, BDC_ACK_CYCLES);
        assert_true(((uint64_t)wire_receive(&w, 32) << 32 | low) == lines[k]);
    }
    assert_int_equal(wire_csr(&w) & 0xFF, 0);
    wire_close(&w);
}

static void readout__bytes_restart_armed_unlocked__behave(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1040);
    set_up(&w, DO_NORMAL, 0);
    write_byte(&w, R_C1, ARM);
    dbg_go(&w, 3000);
    assert_int_equal(bus_write(&w.board->bus, R_TB, 2, BUS_BDC, 0), BUS_OK);
    uint16_t armed = read_word(&w, R_TB);
    write_byte(&w, R_C1, 0);
    assert_int_equal(armed,
                     read_word(&w, R_TB)); /* still locked: writing while armed did not unlock */
    bus_write(&w.board->bus, R_TB, 2, BUS_BDC, 0);
    uint16_t first = read_word(&w, R_TB), second = read_word(&w, R_TB);
    assert_int_equal(
        first | (uint32_t)second << 16,
        (uint32_t)w.board->dbg->line[(w.board->dbg->written + w.board->dbg->half) % 64]);
    bus_write(&w.board->bus, R_TB, 2, BUS_BDC, 0xFFFF); /* any value starts anew */
    assert_int_equal(read_word(&w, R_TB), first);
    read_byte(&w, R_TB); /* bytes and misaligned words do not advance */
    read_byte(&w, R_TB + 1);
    uint32_t v;
    bus_read(&w.board->bus, R_TB + 1, 2, BUS_BDC, &v);
    bus_read(&w.board->bus, R_TB - 1, 2, BUS_BDC, &v);
    assert_int_equal(read_word(&w, R_TB), second);
    /* reading does not count */
    assert_int_equal(read_byte(&w, R_CNT), (2 * w.board->dbg->written + w.board->dbg->half) & 0x7F);
    wire_close(&w);
}

static void reset__while_tracing__keeps_lines_and_count(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1040);
    uint64_t lines[5];
    set_up(&w, DO_NORMAL, 0);
    write_byte(&w, R_C1, ARM);
    dbg_go(&w, 60);
    unsigned cnt = read_byte(&w, R_CNT);
    assert_in_range(cnt, 4, 60);
    board_reset(w.board, true);
    assert_int_equal(read_byte(&w, R_C1), 0);
    assert_int_equal(read_byte(&w, R_SR), 0);
    assert_int_equal(read_byte(&w, R_CNT), cnt);
    write_byte(&w, R_TCRH, TSOURCE);
    dbg_lines(&w, lines, 2);
    assert_int_equal((uint32_t)lines[0], cofs[0]);
    assert_int_equal((uint32_t)lines[1], cofs[2]);
    write_byte(&w, R_C1, ARM); /* arming clears the count */
    assert_int_equal(read_byte(&w, R_CNT), 0);
    wire_close(&w);
}

static void secured__tracing__is_inhibited(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1440);
    w.board->fsec = 0xFF;
    for (unsigned profile = 0; profile < 2; profile++) {
        set_up(&w, DO_NORMAL, profile ? PROFILE : 0);
        write_byte(&w, R_C1, ARM);
        dbg_go(&w, 500);
        write_byte(&w, R_C1, 0);
        assert_int_equal(read_byte(&w, R_CNT), 0);
    }
    wire_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal__changes_of_flow__are_reported_two_a_line),
        cmocka_unit_test(normal__with_stamp__counts_core_clocks_between_entries),
        cmocka_unit_test(stamp__no_entry_for_65536_clocks__overflows),
        cmocka_unit_test(dstamp__comparator_d__forces_an_entry),
        cmocka_unit_test(external_event__entry_and_gate__do_as_eeve_says),
        cmocka_unit_test(begin__64_lines_behind_the_trigger__then_breaks),
        cmocka_unit_test(mid__32_lines_behind_the_trigger__whatever_was_before),
        cmocka_unit_test(end__buffer_wraps__oldest_lines_go),
        cmocka_unit_test(detail__every_access__has_data_on_its_lanes),
        cmocka_unit_test(detail__trange__bounds_the_addresses_with_c_and_d),
        cmocka_unit_test(pure_pc__every_instruction__can_be_read_from_the_lines),
        cmocka_unit_test(pure_pc__first_lines__are_packed_as_described),
        cmocka_unit_test(pure_pc__mid_trigger__is_marked_at_the_last_pc_before_it),
        cmocka_unit_test(readout__two_paths__give_the_same_lines),
        cmocka_unit_test(readout__bytes_restart_armed_unlocked__behave),
        cmocka_unit_test(reset__while_tracing__keeps_lines_and_count),
        cmocka_unit_test(secured__tracing__is_inhibited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
