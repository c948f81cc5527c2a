/* Programs with interrupts from the peripherals. 1 ms is 100,000 core cycles. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/sim_s12z/machine.h"
#include "tests/sim_s12z/programs.h"

enum { MS = 100000 };

static void tim__output_compare__interrupts_at_its_period(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    machine_load(&m, CODE, timer, sizeof timer);
    machine_vector(&m, VEC_TIM0_CH0, timer_handler);
    machine_run(&m, 16 * MS); /* 1000 ticks of 8 bus clocks are 16,000 core cycles */
    assert_in_range(machine_get(&m, 0x2002, 2), 99, 100);
    assert_in_range(machine_get(&m, 0x2000, 2), 98, 100); /* main woke each time */
    assert_int_equal(m.cpu->state, CPU_WAIT);
    machine_close(&m);
}

static void tim__overflow_and_flags__follow_the_counter(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    m.cpu->state = CPU_BDM;          /* the program is halted; the timer is not frozen */
    machine_put(&m, 0x5C0, 1, 0x02); /* channel 1 compares */
    machine_put(&m, 0x5D2, 2, 0x8000);
    machine_put(&m, 0x5C6, 1, 0x80);
    machine_run(&m, 2 * 0x7FFF);
    assert_int_equal(machine_get(&m, 0x5CE, 1), 0);
    assert_int_equal(machine_get(&m, 0x5C4, 2), 0x7FFF);
    machine_run(&m, 2);
    assert_int_equal(machine_get(&m, 0x5CE, 1), 0x02);
    assert_int_equal(machine_get(&m, 0x5CF, 1), 0);
    machine_run(&m, 2 * 0x8000);
    assert_int_equal(machine_get(&m, 0x5CF, 1), 0x80);
    machine_put(&m, 0x5CF, 1, 0x80);
    machine_put(&m, 0x5CE, 1, 0x02);
    assert_int_equal(machine_get(&m, 0x5CE, 2), 0);
    machine_put(&m, 0x5C6, 1, 0xA0); /* TSFRZ: stands still while halted */
    uint32_t before = machine_get(&m, 0x5C4, 2);
    machine_run(&m, 5000);
    assert_int_equal(machine_get(&m, 0x5C4, 2), before);
    machine_put(&m, 0x5C6, 1, 0x98); /* TFFCA and PRNT */
    machine_put(&m, 0x5EE, 1, 9);    /* / 10 */
    machine_run(&m, 20 * 100);
    assert_int_equal(machine_get(&m, 0x5C4, 2), (before + 100) & 0xFFFF);
    machine_close(&m);
}

/* The watchdog is not served any more after 20 interrupts and resets 16.384 ms later. */
static void cpmu__rti_and_cop__interrupt_then_reset(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    machine_load(&m, CODE, rti_timer, sizeof rti_timer);
    machine_vector(&m, VEC_RTI, rti_timer_handler);
    machine_run(&m, 20 * MS + MS / 2);
    assert_int_equal(machine_get(&m, 0x2000, 2), 20);
    machine_put(&m, 0x6C3, 1, 0xFF); /* CPMURFLG */
    machine_run(&m, 10 * MS);
    assert_int_equal(machine_get(&m, 0x6C3, 1), 0);
    assert_int_equal(machine_get(&m, 0x2000, 2), 30);
    machine_run(&m, 7 * MS);
    assert_int_equal(machine_get(&m, 0x6C3, 1) & 0x08, 0x08); /* COPRF */
    assert_int_equal(machine_get(&m, 0x6CC, 1), 0);
    assert_int_equal(machine_get(&m, 0x10, 2), 0xFFFE); /* IVBR: everything was reset */
    machine_close(&m);
}

static void cpmu__cop_sequence__wrong_order_or_too_early_resets(void **state)
{
    static const struct {
        const char *name;
        uint8_t cop, bytes[2];
        uint64_t wait;
        bool resets;
    } rows[] = {
        { "55 AA", 0x01, { 0x55, 0xAA }, MS, false },
        { "AA alone", 0x01, { 0xAA, 0xAA }, MS, false },
        { "another byte", 0x01, { 0x54, 0xAA }, MS, true },
        { "window, first quarter", 0x81, { 0x55, 0xAA }, 2 * MS, true },
        { "window, last quarter", 0x81, { 0x55, 0xAA }, 14 * MS, false },
        { "off", 0x00, { 0x12, 0x34 }, MS, false },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        print_message("  %s\n", rows[k].name);
        struct machine m = machine_open("");
        m.cpu->state = CPU_BDM;
        machine_put(&m, 0x6CC, 1, rows[k].cop);
        machine_run(&m, rows[k].wait);
        machine_put(&m, 0x6CF, 1, rows[k].bytes[0]);
        machine_put(&m, 0x6CF, 1, rows[k].bytes[1]);
        machine_run(&m, 10);
        assert_int_equal(!!(machine_get(&m, 0x6C3, 1) & 0x08), rows[k].resets);
        machine_close(&m);
    }
}

static void cpmu__cop_register__is_written_once(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    m.cpu->state = CPU_BDM;
    machine_put(&m, 0x6CC, 1, 0x07);
    machine_put(&m, 0x6CC, 1, 0x00);
    assert_int_equal(machine_get(&m, 0x6CC, 1), 0x07);
    machine_put(&m, 0x6CC, 1, 0x40); /* RSBCK always */
    assert_int_equal(machine_get(&m, 0x6CC, 1), 0x47);
    machine_run(&m, 20000ull * MS); /* halted in BDM: it stands still */
    assert_int_equal(machine_get(&m, 0x6C3, 1) & 0x08, 0);
    machine_close(&m);
}

/* 32 MHz: VCO 64 MHz of the 1 MHz reference, undivided. While the PLL locks, a quarter of the VCO.
 */
static void cpmu__pll__locks_and_changes_the_bus_clock(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    m.cpu->state = CPU_BDM;
    machine_put(&m, 0x6C8, 1, 0x10); /* LOCKIE */
    machine_put(&m, 0x6C6, 1, 0x00);
    assert_int_equal(m.b->bus_hz, 25000000);
    machine_put(&m, 0x6C4, 1, 0x40 | 31);
    assert_int_equal(m.b->bus_hz, 8000000);
    assert_int_equal(machine_get(&m, 0x6C7, 1), 0x10);
    machine_put(&m, 0x6C7, 1, 0x10);
    machine_run(&m, 16 * 190);
    assert_int_equal(machine_get(&m, 0x6C7, 1), 0);
    machine_run(&m, 16 * 20);
    assert_int_equal(machine_get(&m, 0x6C7, 1), 0x18); /* LOCK, LOCKIF */
    assert_int_equal(m.b->bus_hz, 32000000);
    machine_put(&m, 0x6DB, 1, 1); /* CPMUPROT */
    machine_put(&m, 0x6C6, 1, 3);
    assert_int_equal(machine_get(&m, 0x6C6, 1), 0);
    machine_put(&m, 0x6DB, 1, 0x26);
    machine_put(&m, 0x6C6, 1, 3);
    assert_int_equal(m.b->bus_hz, 8000000);
    board_reset(m.b, false);
    assert_int_equal(m.b->bus_hz, 50000000);
    machine_close(&m);
}

/* 50 MHz before the watchdog resets, 6.25 MHz behind it, in one stretch of the wire's time. */
static void clock__changed_by_a_reset__core_stays_with_the_wire(void **state)
{
    (void)state;
    struct machine m = machine_open("bus=6250k");
    board_set_bus_hz(m.b, 50000000);
    machine_load(&m, CODE, rti_timer, sizeof rti_timer);
    machine_vector(&m, VEC_RTI, rti_timer_handler);
    board_pass_ns(m.b, 100000000);
    assert_int_equal(m.b->bus_hz, 6250000);
    uint64_t core_ns = board_cycles_to_ps(m.b, m.cpu->cycles) / 1000;
    assert_in_range(core_ns, m.b->ns - 10000, m.b->ns + 10000); /* an exception takes 2 us */
    machine_close(&m);
}

static void pmf_adc__control_loop__counts_and_converts(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    machine_load(&m, CODE, motor, sizeof motor);
    machine_vector(&m, 75, motor_reload);
    machine_vector(&m, VEC_ADC0_DONE, motor_done);
    uint32_t seen[4] = { 0 };
    for (unsigned k = 0; k < 4; k++) {
        machine_run(&m, 100 * 5000);
        seen[k] = machine_get(&m, 0x2004, 2);
        assert_in_range(seen[k], 0, 4095);
        assert_in_range(machine_get(&m, 0x2006, 2), 0, 4095);
    }
    assert_in_range(machine_get(&m, 0x2000, 2), 398, 400); /* a reload every 5000 core cycles */
    assert_in_range(machine_get(&m, 0x2002, 2), 397, 400); /* each with its two conversions */
    assert_true(machine_get(&m, 0x2010, 4) > 100000);
    assert_int_equal(machine_get(&m, 0x608, 1), 0); /* no ADC error */
    machine_close(&m);
}

static void pmf__load_frequency_and_prescaler__stretch_the_reload(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    m.cpu->state = CPU_BDM;
    machine_put(&m, 0x500, 1, 0x48); /* MTG, A edge-aligned */
    machine_put(&m, 0x524, 2, 1000);
    machine_put(&m, 0x521, 1, 0x32); /* every fourth, / 2 */
    machine_put(&m, 0x520, 1, 0x82);
    machine_put(&m, 0x52C, 2, 1000); /* B centre-aligned, every time */
    machine_put(&m, 0x528, 1, 0x82);
    assert_int_equal(machine_get(&m, 0x520, 1), 0x80); /* LDOK falls with the load */
    machine_run(&m, 1999);
    assert_int_equal(machine_get(&m, 0x529, 1), 0);
    machine_run(&m, 1);
    assert_int_equal(machine_get(&m, 0x529, 1), 1);
    machine_run(&m, 5999);
    assert_int_equal(machine_get(&m, 0x521, 1), 0x32);
    machine_run(&m, 1);
    assert_int_equal(machine_get(&m, 0x521, 1), 0x33);
    machine_put(&m, 0x521, 1, 0x33);
    assert_int_equal(machine_get(&m, 0x521, 1), 0x32);
    machine_put(&m, 0x524, 2, 500); /* waits for LDOK and the next reload */
    machine_put(&m, 0x520, 1, 0x82);
    machine_run(&m, 8000);
    assert_int_equal(machine_get(&m, 0x521, 1) & 1, 1);
    machine_put(&m, 0x521, 1, 0x33);
    machine_run(&m, 4000);
    assert_int_equal(machine_get(&m, 0x521, 1) & 1, 1);
    machine_close(&m);
}

static void adc__bad_list_address__is_an_error_interrupt(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    m.cpu->state = CPU_BDM;
    machine_put(&m, 0x600, 1, 0x89);
    machine_put(&m, 0x61D, 3, 0x300000);
    machine_put(&m, 0x606, 1, 0x80);
    machine_put(&m, 0x605, 1, 0x40);
    unsigned level;
    assert_int_equal(machine_get(&m, 0x608, 1), 0x80);
    assert_int_equal(intc_pending(board_intc(m.b), 0, &level), 28);
    machine_put(&m, 0x608, 1, 0x80);
    assert_int_equal(intc_pending(board_intc(m.b), 0, &level), -1);
    machine_close(&m);
}

/* Raw access to the word at 0x2400: data and check bits, some of them flipped. */
static void spoil_word(struct machine *m, uint16_t data_flips, uint8_t check_flips)
{
    machine_put(m, 0x3C7, 3, 0x2400);
    machine_put(m, 0x3CF, 1, 1);
    machine_put(m, 0x3CC, 2, machine_get(m, 0x3CC, 2) ^ data_flips);
    machine_put(m, 0x3CE, 1, machine_get(m, 0x3CE, 1) ^ check_flips);
    machine_put(m, 0x3CF, 1, 2);
}

static void sram_ecc__one_wrong_bit__is_corrected_and_reported(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    machine_put(&m, 0x3C1, 1, 1);
    for (unsigned bit = 0; bit < 22; bit++) {
        unsigned level;
        machine_put(&m, 0x2400, 2, 0xC35A);
        spoil_word(&m, (uint16_t)(bit < 16 ? 1u << bit : 0),
                   (uint8_t)(bit < 16 ? 0 : 1u << (bit - 16)));
        assert_int_equal(machine_get(&m, 0x3C2, 1), 0);
        assert_int_equal(machine_get(&m, 0x2400, 2), 0xC35A);
        assert_int_equal(machine_get(&m, 0x3C2, 1), 1);
        assert_int_equal(intc_pending(board_intc(m.b), 0, &level), 35);
        machine_put(&m, 0x3C2, 1, 1);
        assert_int_equal(machine_get(&m, 0x2400, 2), 0xC35A);
        assert_int_equal(machine_get(&m, 0x3C2, 1), 0); /* repaired */
        assert_non_null(m.b->bus.read[2]);
    }
    machine_close(&m);
}

static void sram_ecc__two_wrong_bits__are_a_machine_exception_until_written_whole(void **state)
{
    static const struct {
        const char *name;
        uint8_t code[4];
        uint16_t mmcec;
    } rows[] = {
        { "load", { 0xB4, 0x00, 0x24, 0x01 }, 0x1232 },
        { "store of a byte", { 0xD4, 0x00, 0x24, 0x01 }, 0x1242 },
        { "store of the word", { 0xD0, 0x00, 0x24, 0x00 }, 0 },
        { "jump to it", { 0xBA, 0x00, 0x24, 0x00 }, 0x1212 },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        print_message("  %s\n", rows[k].name);
        struct machine m = machine_open("");
        uint32_t v;
        machine_load(&m, CODE, rows[k].code, 4);
        machine_load(&m, CODE + 4, (const uint8_t[]){ 0x20, 0x00 }, 2);
        machine_load(&m, 0x1800, (const uint8_t[]){ 0x20, 0x00 }, 2);
        machine_vector(&m, VEC_MACHINE, 0x1800);
        machine_put(&m, 0x80, 2, 0xFFFF);
        machine_put(&m, 0x2400, 2, 0x2000); /* bra to itself, if one jumps there */
        spoil_word(&m, 0x0110, 0);
        machine_run(&m, 40);
        assert_int_equal(machine_get(&m, 0x80, 2), rows[k].mmcec);
        assert_int_equal(bus_read(&m.b->bus, 0x2400, 2, BUS_BDC, &v),
                         rows[k].mmcec ? BUS_ECC : BUS_OK);
        assert_int_equal(machine_get(&m, 0x2402, 2), 0);
        machine_put(&m, 0x2400, 2, 0x1234);
        assert_int_equal(machine_get(&m, 0x2400, 2), 0x1234);
        machine_close(&m);
    }
}

static void pim__ports__show_driven_and_pulled_levels(void **state)
{
    static const struct {
        uint16_t data, input, direction, pull, select;
    } ports[] = {
        { 0x260, 0x262, 0x264, 0x266, 0x268 }, { 0x281, 0x283, 0x285, 0x287, 0x289 },
        { 0x2C0, 0x2C1, 0x2C2, 0x2C3, 0x2C4 }, { 0x2D0, 0x2D1, 0x2D2, 0x2D3, 0x2D4 },
        { 0x2F0, 0x2F1, 0x2F2, 0x2F3, 0x2F4 },
    };
    (void)state;
    struct machine m = machine_open("");
    for (size_t k = 0; k < ARRAY_LEN(ports); k++) {
        machine_put(&m, ports[k].data, 1, 0xA5);
        machine_put(&m, ports[k].direction, 1, 0x0F);
        machine_put(&m, ports[k].pull, 1, 0xF0);
        machine_put(&m, ports[k].select, 1, 0x30);
        assert_int_equal(machine_get(&m, ports[k].input, 1), 0xC5);
        machine_put(&m, ports[k].input, 1, 0xFF);
        assert_int_equal(machine_get(&m, ports[k].input, 1), 0xC5);
        assert_int_equal(machine_get(&m, ports[k].data, 1), 0xA5);
    }
    machine_close(&m);
}

/* The kernel hands over what was written in its own time. */
static size_t read_all(int fd, char *text, size_t want)
{
    size_t have = 0;
    for (struct pollfd p = { fd, POLLIN, 0 }; have < want && poll(&p, 1, 5000) == 1;) {
        ssize_t n = read(fd, text + have, want - have);
        if (n <= 0)
            break;
        have += (size_t)n;
    }
    return have;
}

static void sci__pty__sends_and_answers(void **state)
{
    (void)state;
    char link[64], options[96], text[16] = "";
    snprintf(link, sizeof link, "/tmp/pp_sci_%ld", (long)getpid());
    snprintf(options, sizeof options, "serial=pty:%s", link);
    struct machine m = machine_open(options);
    machine_load(&m, CODE, serial, sizeof serial);
    machine_vector(&m, VEC_SCI0, serial_handler);
    int fd = open(link, O_RDWR | O_NOCTTY | O_NONBLOCK);
    assert_true(fd >= 0);
    machine_run(&m, MS);
    assert_int_equal(read_all(fd, text, 6), 6);
    assert_string_equal(text, "ready\n");
    assert_int_equal(write(fd, "HAL", 3), 3);
    memset(text, 0, sizeof text);
    struct pollfd p = { fd, POLLIN, 0 };
    size_t have = 0;
    /* until it came through both pseudo terminal buffers */
    for (unsigned tries = 0; have < 3 && tries < 5000; tries++) {
        machine_run(&m, MS);
        if (poll(&p, 1, 1) == 1)
            have += read_all(fd, text + have, 1);
    }
    assert_int_equal(have, 3);
    assert_string_equal(text, "IBM");
    close(fd);
    machine_close(&m);
    assert_int_equal(access(link, F_OK), -1);
}

static void sci__file_and_loop__speed_and_flags(void **state)
{
    (void)state;
    char path[64], options[96], text[4] = "";
    snprintf(path, sizeof path, "/tmp/pp_sci_file_%ld", (long)getpid());
    snprintf(options, sizeof options, "serial1=file:%s", path);
    struct machine m = machine_open(options);
    m.cpu->state = CPU_BDM;
    machine_put(&m, 0x710, 2, 100); /* 10 bits of 100 bus clocks: 2000 core cycles */
    machine_put(&m, 0x713, 1, 0x08);
    assert_int_equal(machine_get(&m, 0x714, 1), 0xC0);
    machine_put(&m, 0x717, 1, 'x');
    /* already shifting: there is room, but it is not complete */
    assert_int_equal(machine_get(&m, 0x714, 1), 0x80);
    machine_put(&m, 0x717, 1, 'y');
    assert_int_equal(machine_get(&m, 0x714, 1), 0x00);
    machine_run(&m, 2000);
    assert_int_equal(machine_get(&m, 0x714, 1), 0x80);
    machine_run(&m, 2000);
    assert_int_equal(machine_get(&m, 0x714, 1), 0xC0);
    machine_put(&m, 0x712, 1, 0x80); /* LOOPS */
    machine_put(&m, 0x713, 1, 0x2C);
    machine_put(&m, 0x717, 1, 0x5A);
    machine_run(&m, 2000);
    unsigned level;
    assert_int_equal(machine_get(&m, 0x714, 1) & 0x20, 0x20);
    assert_int_equal(intc_pending(board_intc(m.b), 0, &level), VEC_SCI1);
    assert_int_equal(machine_get(&m, 0x717, 1), 0x5A);
    assert_int_equal(machine_get(&m, 0x714, 1) & 0x20, 0);
    assert_int_equal(intc_pending(board_intc(m.b), 0, &level), -1);
    machine_close(&m);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(text, 1, sizeof text, f), 2);
    assert_string_equal(text, "xy");
    fclose(f);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tim__output_compare__interrupts_at_its_period),
        cmocka_unit_test(tim__overflow_and_flags__follow_the_counter),
        cmocka_unit_test(cpmu__rti_and_cop__interrupt_then_reset),
        cmocka_unit_test(cpmu__cop_sequence__wrong_order_or_too_early_resets),
        cmocka_unit_test(cpmu__cop_register__is_written_once),
        cmocka_unit_test(cpmu__pll__locks_and_changes_the_bus_clock),
        cmocka_unit_test(clock__changed_by_a_reset__core_stays_with_the_wire),
        cmocka_unit_test(pmf_adc__control_loop__counts_and_converts),
        cmocka_unit_test(pmf__load_frequency_and_prescaler__stretch_the_reload),
        cmocka_unit_test(adc__bad_list_address__is_an_error_interrupt),
        cmocka_unit_test(sram_ecc__one_wrong_bit__is_corrected_and_reported),
        cmocka_unit_test(sram_ecc__two_wrong_bits__are_a_machine_exception_until_written_whole),
        cmocka_unit_test(pim__ports__show_driven_and_pulled_levels),
        cmocka_unit_test(sci__pty__sends_and_answers),
        cmocka_unit_test(sci__file_and_loop__speed_and_flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
