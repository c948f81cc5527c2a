/* Programs that check themselves, conditions, exceptions and the states a CPU can be in. */
#include "tests/sim_s12z/machine.h"
#include "tests/sim_s12z/programs.h"

enum { RESULTS = 0x2400 };

/* Until BGND. */
static void run_to_end(struct machine *m)
{
    m->cpu->enbdc = true;
    for (unsigned k = 0; k < 1000 && m->cpu->state != CPU_BDM; k++)
        machine_run(m, 100);
    assert_int_equal(m->cpu->state, CPU_BDM);
}

static void self_checking__programs__leave_what_they_expect(void **state)
{
    static const struct {
        const char *name;
        const uint8_t *code;
        size_t n;
        uint32_t expect, end;
    } rows[] = {
        { "moves and the stack", self_moves, sizeof self_moves, self_moves_expect, self_moves_end },
        { "jumps, calls, loops, bit branches", self_flow, sizeof self_flow, self_flow_expect,
          self_flow_end },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        print_message("  %s\n", rows[k].name);
        struct machine m = machine_open("");
        machine_load(&m, CODE, rows[k].code, rows[k].n);
        run_to_end(&m);
        for (uint32_t a = rows[k].expect; a < rows[k].end; a++)
            if (machine_get(&m, RESULTS + a - rows[k].expect, 1) != machine_get(&m, a, 1))
                fail_msg("result %u: %02x, expected %02x", a - rows[k].expect,
                         machine_get(&m, RESULTS + a - rows[k].expect, 1), machine_get(&m, a, 1));
        machine_close(&m);
    }
}

/* One instruction at CODE, by itself. */
static void step_code(struct machine *m, const uint8_t *code, size_t n)
{
    machine_load(m, CODE, code, n);
    m->cpu->state = CPU_BDM;
    m->cpu->r[S12Z_P] = CODE;
    cpu_step(m->cpu);
}
#define STEP(m, ...) \
    step_code(m, (const uint8_t[]){ __VA_ARGS__ }, sizeof(const uint8_t[]){ __VA_ARGS__ })

static void branches__all_flags__as_their_names_say(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    for (unsigned f = 0; f < 16; f++) {
        bool n = f & 8, z = f & 4, v = f & 2, c = f & 1, less = n != v;
        const bool taken[14] = { !c && !z, c || z, !c, c,     !z,   z,           !v,
                                 v,        !n,     n,  !less, less, !z && !less, z || less };
        for (unsigned k = 0; k < 14; k++) {
            cpu_set_ccw(m.cpu, (uint16_t)((cpu_ccw(m.cpu) & ~15u) | f));
            STEP(&m, (uint8_t)(0x22 + k), 0x70); /* -16 */
            assert_int_equal(m.cpu->r[S12Z_P], taken[k] ? CODE - 16 : CODE + 2);
            assert_int_equal(cpu_ccw(m.cpu) & 15, f);
        }
    }
    machine_close(&m);
}

/* lb: decrement, condition, register; a displacement of 15 bits. */
static void loops__conditions_and_registers__after_the_decrement(void **state)
{
    static const uint32_t values[] = {
        0, 1, 2, 0x7F, 0x80, 0x81, 0x8000, 0x8001, 0x800000, 0x80000000, 0x80000001, 0xFFFFFFFF
    };
    (void)state;
    struct machine m = machine_open("");
    for (unsigned lb = 0; lb < 256; lb++) {
        unsigned cond = lb >> 4 & 7, reg = lb & 8 ? (lb & 1 ? S12Z_Y : S12Z_X) : lb & 7,
                 bytes = s12z_reg_bytes((enum s12z_reg)reg);
        if ((lb & 0x0C) == 0x0C || (lb & 0x0A) == 0x0A || cond > 5)
            continue; /* memory; bit 1 counts for nothing there; no conditions */
        for (size_t k = 0; k < ARRAY_LEN(values); k++) {
            uint32_t mask = 0xFFFFFFFFu >> (32 - 8 * bytes), v = values[k] & mask,
                     w = lb & 0x80 ? (v - 1) & mask : v;
            bool neg = w > mask / 2, zero = w == 0;
            const bool taken[6] = { !zero, zero, !neg, neg, !neg && !zero, neg || zero };
            m.cpu->r[reg] = v;
            STEP(&m, 0x0B, (uint8_t)lb, 0x80 | 0x10, 0x00);
            assert_int_equal(m.cpu->r[reg], w);
            assert_int_equal(m.cpu->r[S12Z_P], taken[cond] ? CODE + 0x1000 : CODE + 4);
        }
    }
    machine_close(&m);
}

/* Every set of registers that a postbyte can name goes out and comes back; D0 of the mask's order
 * lies lowest. */
static void psh_pul__every_postbyte__round_trips_in_order(void **state)
{
    static const uint8_t low[] = { S12Z_Y, S12Z_X, S12Z_D7, S12Z_D6, S12Z_D5, S12Z_D4 },
                         high[] = { S12Z_D3, S12Z_D2, S12Z_D1, S12Z_D0 };
    (void)state;
    struct machine m = machine_open("");
    for (unsigned b = 1; b < 0x80; b++) {
        if ((b & 0x3F) == 0 || (!(b & 0x40) && b & 0x30))
            continue; /* all, D2-D5; CCL and CCH */
        uint32_t before[S12Z_CCH], top = STACK_TOP;
        for (unsigned k = 0; k < S12Z_S; k++)
            before[k] = m.cpu->r[k] = 0x9C4F2B17u * (k + 1) &
                                      (0xFFFFFFFFu >> (32 - 8 * s12z_reg_bytes((enum s12z_reg)k)));
        m.cpu->r[S12Z_S] = STACK_TOP;
        STEP(&m, 0x04, (uint8_t)b);
        for (unsigned k = 0; k < (b & 0x40 ? 6u : 4u); k++)
            if (b & 1u << k) { /* Y, the last of the order, lies highest */
                unsigned reg = b & 0x40 ? low[k] : high[k], n = s12z_reg_bytes((enum s12z_reg)reg);
                top -= n;
                assert_int_equal(machine_get(&m, top, n), before[reg]);
            }
        assert_int_equal(m.cpu->r[S12Z_S], top);
        for (unsigned k = 0; k < S12Z_S; k++)
            m.cpu->r[k] = 0;
        STEP(&m, 0x04, (uint8_t)(b | 0x80));
        assert_int_equal(m.cpu->r[S12Z_S], STACK_TOP);
        for (unsigned k = 0; k < (b & 0x40 ? 6u : 4u); k++)
            assert_int_equal(m.cpu->r[b & 0x40 ? low[k] : high[k]],
                             b & 1u << k ? before[b & 0x40 ? low[k] : high[k]] : 0);
    }
    machine_close(&m);
}

static void tfr_exg__every_pair__cut_zero_extended_or_sign_extended(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    for (unsigned from = 0; from < S12Z_S + 1; from++)
        for (unsigned to = 0; to < S12Z_S + 1; to++) {
            unsigned a = s12z_reg_bytes((enum s12z_reg)from), b = s12z_reg_bytes((enum s12z_reg)to);
            uint32_t va = 0x89ABCDEFu & (0xFFFFFFFFu >> (32 - 8 * a)),
                     vb = 0x76543210u & (0xFFFFFFFFu >> (32 - 8 * b));
            uint32_t mask = 0xFFFFFFFFu >> (32 - 8 * b);
            m.cpu->r[to] = vb;
            m.cpu->r[from] = va;
            STEP(&m, 0x9E, (uint8_t)(from << 4 | to));
            assert_int_equal(m.cpu->r[to], from == to ? va : va & mask);
            if (from == to)
                continue;
            m.cpu->r[to] = vb;
            m.cpu->r[from] = va;
            STEP(&m, 0xAE, (uint8_t)(from << 4 | to));
            if (a < b) { /* SEX */
                assert_int_equal(m.cpu->r[to],
                                 ((va >> (8 * a - 1) ? va | ~(0xFFFFFFFFu >> (32 - 8 * a)) : va)) &
                                     mask);
                assert_int_equal(m.cpu->r[from], va);
            } else if (a == b) {
                assert_int_equal(m.cpu->r[to], va);
                assert_int_equal(m.cpu->r[from], vb);
            }
        }
    machine_close(&m);
}

/* ---- exceptions ---- */

enum { HANDLER = 0x1800, NOP = 0x01, RTI0 = 0x1B, RTI1 = 0x90 };

static void put_all_registers(struct machine *m)
{
    static const struct {
        uint8_t reg;
        uint32_t v;
    } rows[] = {
        { S12Z_D0, 0x01 },       { S12Z_D1, 0x02 },       { S12Z_D2, 0x0304 },
        { S12Z_D3, 0x0506 },     { S12Z_D4, 0x0708 },     { S12Z_D5, 0x090A },
        { S12Z_D6, 0x0B0C0D0E }, { S12Z_D7, 0x0F101112 }, { S12Z_X, 0x131415 },
        { S12Z_Y, 0x161718 },
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        m->cpu->r[rows[k].reg] = rows[k].v;
}

/* CCH CCL D0 .. D7 X Y PC from the stack pointer up: 29 bytes. */
static void check_frame(struct machine *m, uint16_t ccw, uint32_t pc)
{
    uint32_t s = m->cpu->r[S12Z_S];
    assert_int_equal(s, STACK_TOP - 29);
    assert_int_equal(machine_get(m, s, 2), ccw);
    for (unsigned k = 1; k <= 0x18; k++)
        assert_int_equal(machine_get(m, s + 1 + k, 1), k);
    assert_int_equal(machine_get(m, s + 26, 3), pc);
}

static void interrupt__request__stacks_29_bytes_and_rti_brings_back(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    machine_load(&m, CODE, (const uint8_t[]){ NOP, NOP, NOP, NOP }, 4);
    /* nop; ld d2, #0; rti */
    machine_load(&m, HANDLER, (const uint8_t[]){ NOP, 0x90, 0, 0, RTI0, RTI1 }, 6);
    machine_vector(&m, VEC_IRQ, HANDLER);
    put_all_registers(&m);
    cpu_set_ccw(m.cpu, CCW_S | CCW_X | CCW_N | CCW_C);
    intc_line(board_intc(m.b), VEC_IRQ, true);
    machine_run(&m, 1); /* the entry and the handler's first instruction */
    assert_int_equal(m.cpu->r[S12Z_P], HANDLER + 1);
    check_frame(&m, CCW_S | CCW_X | CCW_N | CCW_C, CODE);
    assert_int_equal(cpu_ccw(m.cpu), CCW_S | CCW_X | CCW_I | 1 << CCW_IPL_SHIFT | CCW_N | CCW_C);
    intc_line(board_intc(m.b), VEC_IRQ, false);
    machine_run(&m, 1);
    assert_int_equal(m.cpu->r[S12Z_D2], 0);
    machine_run(&m, 1);
    assert_int_equal(m.cpu->r[S12Z_P], CODE);
    assert_int_equal(m.cpu->r[S12Z_D2], 0x0304);
    assert_int_equal(m.cpu->r[S12Z_S], STACK_TOP);
    assert_int_equal(cpu_ccw(m.cpu), CCW_S | CCW_X | CCW_N | CCW_C);
    machine_close(&m);
}

static void software_exceptions__each__through_its_vector_and_back_behind(void **state)
{
    static const struct {
        const char *name;
        uint8_t code[2];
        unsigned n, vector;
    } rows[] = {
        { "SWI", { 0xFF }, 1, VEC_SWI },
        { "SYS", { 0x1B, 0x07 }, 2, VEC_SYS },
        { "TRAP 92", { 0x1B, 0x92 }, 2, VEC_TRAP },
        { "TRAP FF", { 0x1B, 0xFF }, 2, VEC_TRAP },
        { "SPARE", { 0xEF }, 1, VEC_SPARE },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        print_message("  %s\n", rows[k].name);
        struct machine m = machine_open("");
        machine_vector(&m, rows[k].vector, HANDLER);
        machine_load(&m, HANDLER, (const uint8_t[]){ RTI0, RTI1 }, 2);
        put_all_registers(&m);
        cpu_set_ccw(m.cpu, CCW_S | CCW_X | CCW_Z);
        step_code(&m, rows[k].code, rows[k].n);
        assert_int_equal(m.cpu->r[S12Z_P], HANDLER);
        assert_int_equal(cpu_ccw(m.cpu), CCW_S | CCW_X | CCW_I | CCW_Z);
        check_frame(&m, CCW_S | CCW_X | CCW_Z, CODE + rows[k].n);
        cpu_step(m.cpu);
        assert_int_equal(m.cpu->r[S12Z_P], CODE + rows[k].n);
        assert_int_equal(cpu_ccw(m.cpu), CCW_S | CCW_X | CCW_Z);
        machine_close(&m);
    }
}

static void set_priority(struct machine *m, unsigned vector, unsigned level)
{
    machine_put(m, 0x17, 1, (127 - vector) & 0x78);
    machine_put(m, 0x18 + ((127 - vector) & 7), 1, level);
}

/* The handlers allow interrupts at once and then count in their own bytes; those of the same or a
 * lower level wait. */
static void interrupts__levels__nest_upwards_only(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    machine_load(&m, CODE, (const uint8_t[]){ 0xCE, 0xEF, 0x20, 0x00 }, 4); /* andcc #-17; bra * */
    machine_load(&m, HANDLER, (const uint8_t[]){ 0xCE, 0xEF, 0x20, 0x00 }, 4);
    machine_load(&m, HANDLER + 16, (const uint8_t[]){ 0xCE, 0xEF, 0x20, 0x00 }, 4);
    machine_vector(&m, VEC_SCI0, HANDLER);
    machine_vector(&m, VEC_SCI1, HANDLER + 16);
    set_priority(&m, VEC_SCI0, 3);
    set_priority(&m, VEC_SCI1, 5);
    set_priority(&m, VEC_RTI, 0); /* off */
    intc_line(board_intc(m.b), VEC_RTI, true);
    machine_run(&m, 20);
    assert_int_equal(m.cpu->r[S12Z_P], CODE + 2);
    intc_line(board_intc(m.b), VEC_SCI0, true);
    machine_run(&m, 30);
    assert_int_equal(m.cpu->r[S12Z_P], HANDLER + 2);
    assert_int_equal(cpu_ccw(m.cpu) & CCW_IPL, 3 << CCW_IPL_SHIFT);
    assert_int_equal(m.cpu->r[S12Z_S], STACK_TOP - 29); /* its own request does not come again */
    intc_line(board_intc(m.b), VEC_SCI1, true);
    machine_run(&m, 30);
    assert_int_equal(m.cpu->r[S12Z_P], HANDLER + 18);
    assert_int_equal(cpu_ccw(m.cpu) & CCW_IPL, 5 << CCW_IPL_SHIFT);
    assert_int_equal(m.cpu->r[S12Z_S], STACK_TOP - 58);
    intc_line(board_intc(m.b), VEC_SCI1, false);
    machine_load(&m, HANDLER + 18, (const uint8_t[]){ RTI0, RTI1 }, 2);
    machine_run(&m, 20);
    assert_int_equal(cpu_ccw(m.cpu) & CCW_IPL, 3 << CCW_IPL_SHIFT);
    assert_int_equal(m.cpu->r[S12Z_P], HANDLER + 2);
    machine_close(&m);
}

static void interrupts__same_level__higher_vector_address_first(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    unsigned level;
    intc_line(board_intc(m.b), VEC_SCI0, true);
    intc_line(board_intc(m.b), VEC_RTI, true);
    intc_line(board_intc(m.b), 75, true);
    assert_int_equal(intc_pending(board_intc(m.b), 0, &level), VEC_RTI);
    assert_int_equal(level, 1);
    set_priority(&m, 75, 2);
    assert_int_equal(intc_pending(board_intc(m.b), 0, &level), 75);
    assert_int_equal(intc_pending(board_intc(m.b), 2, &level), -1);
    machine_close(&m);
}

/* X is cleared once and set by the request only; I does not hold it off. */
static void xirq__after_x_is_cleared__passes_i_and_masks_itself(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    /* orcc #0x50: sets I, cannot set X; bra * */
    machine_load(&m, CODE, (const uint8_t[]){ 0xDE, 0x50, 0x20, 0x00 }, 4);
    machine_load(&m, HANDLER, (const uint8_t[]){ 0x20, 0x00 }, 2);
    machine_vector(&m, VEC_XIRQ, HANDLER);
    cpu_set_ccw(m.cpu, CCW_S);
    machine_run(&m, 5);
    assert_int_equal(cpu_ccw(m.cpu) & (CCW_X | CCW_I), CCW_I);
    intc_line(board_intc(m.b), VEC_XIRQ, true);
    machine_run(&m, 30);
    assert_int_equal(m.cpu->r[S12Z_P], HANDLER);
    assert_int_equal(cpu_ccw(m.cpu) & (CCW_X | CCW_I), CCW_X | CCW_I);
    assert_int_equal(m.cpu->r[S12Z_S], STACK_TOP - 29);
    machine_load(&m, HANDLER, (const uint8_t[]){ RTI0, RTI1 }, 2);
    intc_line(board_intc(m.b), VEC_XIRQ, false);
    machine_run(&m, 30);
    assert_int_equal(m.cpu->r[S12Z_P], CODE + 2);
    assert_int_equal(cpu_ccw(m.cpu) & (CCW_X | CCW_I), CCW_I);
    machine_close(&m);
}

static void wait_and_stop__requests__wake(void **state)
{
    static const struct {
        const char *name;
        uint8_t second;
        uint16_t ccw;
        enum cpu_state sleeps;
        uint32_t wakes_at;
    } rows[] = {
        { "WAI, interrupt taken", 0x06, CCW_S | CCW_X, CPU_WAIT, HANDLER },
        { "WAI, masked: goes on behind", 0x06, CCW_S | CCW_X | CCW_I, CPU_WAIT, CODE + 2 },
        { "STOP with S=1: nothing", 0x05, CCW_S | CCW_X | CCW_I, CPU_RUN, CODE + 2 },
        { "STOP, interrupt taken", 0x05, CCW_X, CPU_STOP, HANDLER },
        { "STOP, masked", 0x05, CCW_X | CCW_I, CPU_STOP, CODE + 2 },
        { "WAI in user state: nothing", 0x06, CCW_U | CCW_S | CCW_X | CCW_I, CPU_RUN, CODE + 2 },
        { "STOP in user state: nothing", 0x05, CCW_U | CCW_X | CCW_I, CPU_RUN, CODE + 2 },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        print_message("  %s\n", rows[k].name);
        struct machine m = machine_open("");
        machine_load(&m, CODE, (const uint8_t[]){ 0x1B, rows[k].second, 0x20, 0x00 }, 4);
        machine_load(&m, HANDLER, (const uint8_t[]){ 0x20, 0x00 }, 2);
        machine_vector(&m, VEC_IRQ, HANDLER);
        cpu_set_ccw(m.cpu, rows[k].ccw);
        machine_run(&m, 1000);
        assert_int_equal(m.cpu->state, rows[k].sleeps);
        assert_true(m.cpu->instructions < (rows[k].sleeps == CPU_RUN ? 1000 : 2));
        intc_line(board_intc(m.b), VEC_IRQ, true);
        machine_run(&m, 100);
        assert_int_equal(m.cpu->state, CPU_RUN);
        assert_int_equal(m.cpu->r[S12Z_P], rows[k].wakes_at);
        machine_close(&m);
    }
}

static void bgnd__enbdc__halts_behind_it_or_is_nothing(void **state)
{
    (void)state;
    for (int enabled = 0; enabled < 2; enabled++) {
        struct machine m = machine_open("");
        machine_load(&m, CODE, (const uint8_t[]){ 0x00, 0x20, 0x00 }, 3);
        m.cpu->enbdc = enabled;
        machine_run(&m, 50);
        assert_int_equal(m.cpu->state, enabled ? CPU_BDM : CPU_RUN);
        assert_int_equal(m.cpu->r[S12Z_P], CODE + 1);
        machine_close(&m);
    }
}

static void user_state__system_bits__are_out_of_reach(void **state)
{
    static const struct {
        const char *name;
        uint8_t code[2];
    } rows[] = {
        { "andcc #0", { 0xCE, 0x00 } },     { "orcc #255", { 0xDE, 0xFF } },
        { "tfr d2, ccw", { 0x9E, 0x0E } },  { "tfr d0, cch", { 0x9E, 0x4C } },
        { "pul cch, ccl", { 0x04, 0xB0 } }, { "rti", { 0x1B, 0x90 } },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        print_message("  %s\n", rows[k].name);
        struct machine m = machine_open("");
        uint16_t system = CCW_U | 2 << CCW_IPL_SHIFT | CCW_S | CCW_I;
        cpu_set_ccw(m.cpu, system);
        m.cpu->r[S12Z_S] = STACK_TOP - 29; /* zeros there: a frame that would give all rights */
        step_code(&m, rows[k].code, 2);
        assert_int_equal(cpu_ccw(m.cpu) & CCW_SYSTEM, system);
        machine_close(&m);
    }
}

static void interrupt__in_user_state__is_served_in_supervisor_state(void **state)
{
    (void)state;
    struct machine m = machine_open("");
    machine_load(&m, CODE, (const uint8_t[]){ 0x20, 0x00 }, 2);
    machine_load(&m, HANDLER, (const uint8_t[]){ NOP, RTI0, RTI1 }, 3);
    machine_vector(&m, VEC_IRQ, HANDLER);
    cpu_set_ccw(m.cpu, CCW_U | CCW_S | CCW_X);
    intc_line(board_intc(m.b), VEC_IRQ, true);
    machine_run(&m, 5);
    assert_int_equal(cpu_ccw(m.cpu) & CCW_U, 0);
    intc_line(board_intc(m.b), VEC_IRQ, false);
    machine_run(&m, 30);
    assert_int_equal(cpu_ccw(m.cpu), CCW_U | CCW_S | CCW_X);
    assert_int_equal(m.cpu->r[S12Z_P], CODE);
    machine_close(&m);
}

/* Nothing is stacked; MMCEC says initiator, target, access and error; the first one stays until it
 * is cleared. */
static void machine_exception__each_cause__is_captured(void **state)
{
    static const struct {
        const char *name;
        uint8_t code[8];
        unsigned n;
        uint32_t pc;
        uint16_t mmcec;
    } rows[] = {
        { "load from nothing", { 0xB4, 0x30, 0x00, 0x00 }, 4, CODE + 4, 0x1031 },
        { "store to flash", { 0xD4, 0xFE, 0x00, 0x00 }, 4, CODE + 4, 0x1441 },
        { "store to EEPROM", { 0xD4, 0x10, 0x00, 0x00 }, 4, CODE + 4, 0x1341 },
        { "fetch from registers", { 0xBA, 0x00, 0x03, 0x80 }, 4, 0x000380, 0x1111 },
        { "fetch from nothing", { 0xBA, 0x30, 0x00, 0x00 }, 4, 0x300000, 0x1011 },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        print_message("  %s\n", rows[k].name);
        struct machine m = machine_open("");
        machine_vector(&m, VEC_MACHINE, HANDLER);
        machine_load(&m, HANDLER, (const uint8_t[]){ 0x20, 0x00 }, 2);
        machine_load(&m, CODE, rows[k].code, rows[k].n);
        machine_load(&m, CODE + rows[k].n, (const uint8_t[]){ 0x20, 0x00 }, 2);
        machine_put(&m, 0x80, 2, 0xFFFF);
        cpu_set_ccw(m.cpu, CCW_U | CCW_S | CCW_N);
        machine_run(&m, 50);
        assert_int_equal(m.cpu->r[S12Z_P], HANDLER);
        assert_int_equal(m.cpu->r[S12Z_S], STACK_TOP);
        assert_int_equal(cpu_ccw(m.cpu) & (CCW_U | CCW_X | CCW_I), CCW_X | CCW_I);
        assert_int_equal(machine_get(&m, 0x80, 2), rows[k].mmcec);
        assert_int_equal(machine_get(&m, 0x82, 2), CCW_U);
        assert_int_equal(machine_get(&m, 0x85, 3), rows[k].pc);
        machine_load(&m, CODE, rows[0].code, rows[0].n); /* another one */
        m.cpu->r[S12Z_P] = CODE;
        machine_run(&m, 50);
        assert_int_equal(machine_get(&m, 0x80, 2), rows[k].mmcec);
        machine_put(&m, 0x80, 2, 0xFFFF);
        assert_int_equal(machine_get(&m, 0x80, 2), 0);
        m.cpu->r[S12Z_P] = CODE;
        machine_run(&m, 50);
        assert_int_equal(machine_get(&m, 0x80, 2), 0x1031);
        machine_close(&m);
    }
}

/* A program that erases the flash sector it runs from. */
static void
machine_exception__fetch_from_busy_flash__and_its_decoded_code_is_back_after(void **state)
{
    /* inc.w 0x2400; bra to it */
    static const uint8_t spin[] = { 0x9D, 0x24, 0x00, 0x20, 0xFF, 0xFD };
    (void)state;
    struct machine m = machine_open("");
    memcpy(m.b->flash, spin, sizeof spin);
    bus_flash_changed(&m.b->bus, 0xFE0000, sizeof spin);
    machine_vector(&m, VEC_MACHINE, HANDLER);
    machine_load(&m, HANDLER, (const uint8_t[]){ 0x20, 0x00 }, 2);
    machine_put(&m, 0x80, 2, 0xFFFF);
    m.cpu->r[S12Z_P] = 0xFE0000;
    machine_run(&m, 1000);
    uint64_t executed, taken;
    cpu_count(m.cpu, 0xFE0000, &executed, &taken);
    assert_true(executed > 100);
    bus_flash_busy(&m.b->bus, true);
    machine_run(&m, 1000);
    assert_int_equal(m.cpu->r[S12Z_P], HANDLER);
    assert_int_equal(machine_get(&m, 0x80, 2), 0x1412);
    bus_flash_busy(&m.b->bus, false);
    uint64_t again;
    cpu_count(m.cpu, 0xFE0000, &again, &taken);
    assert_int_equal(again, executed); /* counts are kept */
    m.cpu->r[S12Z_P] = 0xFE0000;
    machine_run(&m, 1000);
    cpu_count(m.cpu, 0xFE0000, &again, &taken);
    assert_true(again > executed + 100);
    machine_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_checking__programs__leave_what_they_expect),
        cmocka_unit_test(branches__all_flags__as_their_names_say),
        cmocka_unit_test(loops__conditions_and_registers__after_the_decrement),
        cmocka_unit_test(psh_pul__every_postbyte__round_trips_in_order),
        cmocka_unit_test(tfr_exg__every_pair__cut_zero_extended_or_sign_extended),
        cmocka_unit_test(interrupt__request__stacks_29_bytes_and_rti_brings_back),
        cmocka_unit_test(software_exceptions__each__through_its_vector_and_back_behind),
        cmocka_unit_test(interrupts__levels__nest_upwards_only),
        cmocka_unit_test(interrupts__same_level__higher_vector_address_first),
        cmocka_unit_test(xirq__after_x_is_cleared__passes_i_and_masks_itself),
        cmocka_unit_test(wait_and_stop__requests__wake),
        cmocka_unit_test(bgnd__enbdc__halts_behind_it_or_is_nothing),
        cmocka_unit_test(user_state__system_bits__are_out_of_reach),
        cmocka_unit_test(interrupt__in_user_state__is_served_in_supervisor_state),
        cmocka_unit_test(machine_exception__each_cause__is_captured),
        cmocka_unit_test(
            machine_exception__fetch_from_busy_flash__and_its_decoded_code_is_back_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
