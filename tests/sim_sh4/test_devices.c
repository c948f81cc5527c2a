/* INTC, TMU, WDT, RTC and SCIF of the board model, by themselves: expectations from the manual's
 * text. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/sim/sh4/intc.h"
#include "targets/sim/sh4/rtc.h"
#include "targets/sim/sh4/scif.h"
#include "targets/sim/sh4/tmu.h"
#include "targets/sim/sh4/wdt.h"
#include "targets/sh4/isa/regs.h"

enum { PCLK = 50000000 };

static void intc_pick__priorities__most_urgent_source_wins(void **state)
{
    static const struct {
        const char *name;
        uint16_t ipra, iprb, iprc;
        enum sh4_irq_source a, b;
        unsigned level;
        uint16_t intevt;
    } rows[] = {
        { "priority 0 never interrupts", 0, 0, 0, SH4_SRC_TMU0, SH4_SRC_SCIF_RXI, 0, 0 },
        { "higher level wins", 0x3000, 0, 0x0070, SH4_SRC_TMU0, SH4_SRC_SCIF_RXI, 7,
          SH4_INT_SCIF_RXI },
        { "equal level: default order", 0x5000, 0, 0x0050, SH4_SRC_TMU0, SH4_SRC_SCIF_RXI, 5,
          SH4_INT_TMU0 },
        { "one register, two channels", 0x0790, 0, 0, SH4_SRC_TMU1, SH4_SRC_TMU2, 9, SH4_INT_TMU2 },
        { "H-UDI before all at its level", 0xF000, 0, 0x000F, SH4_SRC_TMU0, SH4_SRC_HUDI, 15,
          SH4_INT_HUDI },
        { "NMI has no register", 0xF000, 0, 0, SH4_SRC_TMU0, SH4_SRC_NMI, 16, SH4_INT_NMI },
        { "watchdog by IPRB", 0, 0xA000, 0, SH4_SRC_WDT, SH4_SRC_WDT, 10, SH4_INT_WDT },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sh4_intc c;
        uint16_t code = 0;
        print_message("  %s\n", rows[i].name);
        sh4_intc_reset(&c);
        assert_true(sh4_intc_write(&c, SH4_IPRA, rows[i].ipra));
        assert_true(sh4_intc_write(&c, SH4_IPRB, rows[i].iprb));
        assert_true(sh4_intc_write(&c, SH4_IPRC, rows[i].iprc));
        sh4_intc_request(&c, rows[i].a, true);
        sh4_intc_request(&c, rows[i].b, true);
        assert_int_equal(sh4_intc_pick(&c, &code), rows[i].level);
        assert_int_equal(code, rows[i].intevt);
    }
}

static void intc_accepted__one_shot_and_level__only_one_shot_ends(void **state)
{
    (void)state;
    struct sh4_intc c;
    uint16_t code;
    sh4_intc_reset(&c);
    sh4_intc_write(&c, SH4_IPRC, 0x001F);
    sh4_intc_write(&c, SH4_IPRA, 0x2000);
    sh4_intc_request(&c, SH4_SRC_HUDI, true);
    sh4_intc_request(&c, SH4_SRC_TMU0, true);
    sh4_intc_accepted(&c, SH4_INT_HUDI);
    assert_int_equal(sh4_intc_pick(&c, &code), 2);
    sh4_intc_accepted(&c, SH4_INT_TMU0);
    assert_int_equal(sh4_intc_pick(&c, &code), 2); /* the line is still active */
}

static void intc_irl__encoded_and_independent__levels_and_codes(void **state)
{
    (void)state;
    struct sh4_intc c;
    uint16_t code;
    sh4_intc_reset(&c);
    sh4_intc_set_irl(&c, 15);
    assert_int_equal(sh4_intc_pick(&c, &code), 15);
    assert_int_equal(code, 0x200);
    sh4_intc_set_irl(&c, 1);
    assert_int_equal(sh4_intc_pick(&c, &code), 1);
    assert_int_equal(code, 0x3C0);
    sh4_intc_write(&c, SH4_ICR, REG_MASK(SH4_ICR_IRLM));
    sh4_intc_set_irl(&c, 1 << 2);
    assert_int_equal(sh4_intc_pick(&c, &code), 7);
    assert_int_equal(code, 0x300);
}

static void intc_nmi__edges__only_the_chosen_one_requests(void **state)
{
    (void)state;
    struct sh4_intc c;
    uint16_t code;
    uint32_t icr;
    sh4_intc_reset(&c);
    sh4_intc_set_nmi(&c, false); /* NMIE=0: falling */
    assert_int_equal(sh4_intc_pick(&c, &code), 16);
    sh4_intc_accepted(&c, SH4_INT_NMI);
    sh4_intc_set_nmi(&c, true);
    assert_int_equal(sh4_intc_pick(&c, &code), 0);
    sh4_intc_write(&c, SH4_ICR, REG_MASK(SH4_ICR_NMIE));
    sh4_intc_set_nmi(&c, false);
    assert_int_equal(sh4_intc_pick(&c, &code), 0);
    sh4_intc_set_nmi(&c, true);
    assert_int_equal(sh4_intc_pick(&c, &code), 16);
    sh4_intc_read(&c, SH4_ICR, &icr);
    assert_true(REG_GET(icr, SH4_ICR_NMIL));
}

static uint32_t tmu_get(struct sh4_tmu *t, uint32_t addr)
{
    uint32_t v = 0;
    assert_true(sh4_tmu_read(t, addr, &v));
    return v;
}

static void tmu_advance__any_step_size__same_counts(void **state)
{
    static const unsigned codes[] = { 0, 1, 2, 3, 4, 6 };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        struct sh4_tmu fine, coarse;
        sh4_tmu_reset(&fine, 3, PCLK);
        sh4_tmu_reset(&coarse, 3, PCLK);
        for (int k = 0; k < 2; k++) {
            struct sh4_tmu *t = k ? &coarse : &fine;
            sh4_tmu_write(t, SH4_TCOR1, 6);
            sh4_tmu_write(t, SH4_TCNT1, 2);
            sh4_tmu_write(t, SH4_TCR1, codes[i]);
            sh4_tmu_write(t, SH4_TSTR, 2);
        }
        for (uint64_t now = 3; now < 60000; now += 7)
            sh4_tmu_advance(&fine, now);
        sh4_tmu_advance(&fine, 60000);
        sh4_tmu_advance(&coarse, 60000);
        assert_int_equal(tmu_get(&fine, SH4_TCNT1), tmu_get(&coarse, SH4_TCNT1));
        assert_int_equal(tmu_get(&fine, SH4_TCR1), tmu_get(&coarse, SH4_TCR1));
        assert_int_equal(tmu_get(&fine, SH4_TCNT0), UINT32_MAX); /* not started */
    }
}

static void tmu_next__underflow__interrupt_exactly_then_period_is_tcor_plus_1(void **state)
{
    (void)state;
    struct sh4_tmu t;
    sh4_tmu_reset(&t, 0, PCLK);
    sh4_tmu_write(&t, SH4_TCOR0, 9);
    sh4_tmu_write(&t, SH4_TCNT0, 9);
    sh4_tmu_write(&t, SH4_TCR0, REG_MASK(SH4_TCR_UNIE));
    assert_true(sh4_tmu_next(&t) == SH4_NEVER);
    sh4_tmu_write(&t, SH4_TSTR, 1);
    assert_int_equal(sh4_tmu_next(&t), 40);
    sh4_tmu_advance(&t, 39);
    assert_false(sh4_tmu_irq(&t, 0));
    sh4_tmu_advance(&t, 40);
    assert_true(sh4_tmu_irq(&t, 0));
    assert_int_equal(tmu_get(&t, SH4_TCNT0), 9);
    sh4_tmu_write(&t, SH4_TCR0, REG_MASK(SH4_TCR_UNIE)); /* UNF := 0 */
    assert_false(sh4_tmu_irq(&t, 0));
    assert_int_equal(sh4_tmu_next(&t), 80);
}

static void tmu_write__unf__cannot_be_set_by_software(void **state)
{
    (void)state;
    struct sh4_tmu t;
    sh4_tmu_reset(&t, 0, PCLK);
    sh4_tmu_write(&t, SH4_TCR0, REG_MASK(SH4_TCR_UNF) | REG_MASK(SH4_TCR_UNIE));
    assert_false(sh4_tmu_irq(&t, 0));
}

/* ---- TMU against arithmetic of its own: reload by reload, at any time, in any order ---- */

struct tmu_ref {
    uint32_t tcor[3], tcnt[3];
    bool unf[3], unie[3], on[3];
    unsigned tpsc[3];
    uint64_t now;
};

static uint64_t next_random(uint64_t *s)
{
    uint64_t z = *s += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static uint64_t ref_divider(unsigned tpsc)
{
    static const unsigned clocks[8] = { 4, 16, 64, 256, 1024, 0, PCLK / 16384, 0 };
    return clocks[tpsc];
}

static void ref_advance(struct tmu_ref *t, uint64_t now)
{
    for (unsigned n = 0; n < 3; n++) {
        uint64_t d = ref_divider(t->tpsc[n]);
        if (!t->on[n] || !d)
            continue;
        uint64_t ticks = now / d - t->now / d;
        while (ticks > t->tcnt[n]) { /* down to 0, and one more reloads */
            ticks -= (uint64_t)t->tcnt[n] + 1;
            t->tcnt[n] = t->tcor[n];
            t->unf[n] = true;
        }
        t->tcnt[n] -= (uint32_t)ticks;
    }
    t->now = now;
}

/* Values short and wide; never so short that the reference needs millions of reloads for a step. */
static uint32_t draw_count(uint64_t *s)
{
    switch (next_random(s) % 4) {
    case 0: return 0x100 + (uint32_t)(next_random(s) % 1000);
    case 1: return UINT32_MAX - (uint32_t)(next_random(s) % 3);
    case 2: return (uint32_t)next_random(s) | 0x40000000;
    default: return 0x10000 + (uint32_t)(next_random(s) % 100000);
    }
}

static uint64_t draw_step(uint64_t *s)
{
    uint64_t v = next_random(s);
    return v % 5 == 0 ? v % 7 : v % 5 == 1 ? v % 100000000 : v % 50000;
}

static void ref_write(struct tmu_ref *ref, struct sh4_tmu *t, uint64_t *s)
{
    unsigned n = (unsigned)(next_random(s) % 3), base = 12 * n;
    uint32_t v = draw_count(s);
    switch (next_random(s) % 4) {
    case 0: sh4_tmu_write(t, SH4_TCOR0 + base, ref->tcor[n] = v); break;
    case 1: sh4_tmu_write(t, SH4_TCNT0 + base, ref->tcnt[n] = v); break;
    case 2:
        ref->tpsc[n] = v & 7;
        ref->unie[n] = v >> 3 & 1;
        ref->unf[n] &= v >> 4 & 1;
        sh4_tmu_write(t, SH4_TCR0 + base, ref->tpsc[n] | (v >> 3 & 1) << 5 | (v >> 4 & 1) << 8);
        break;
    default:
        for (unsigned i = 0; i < 3; i++)
            ref->on[i] = v >> i & 1;
        sh4_tmu_write(t, SH4_TSTR, v & 7);
    }
}

static void tmu__random_writes_and_times__as_counted_reload_by_reload(void **state)
{
    (void)state;
    uint64_t s = 1;
    struct tmu_ref ref = { .tcor = { UINT32_MAX, UINT32_MAX, UINT32_MAX },
                           .tcnt = { UINT32_MAX, UINT32_MAX, UINT32_MAX } };
    struct sh4_tmu t;
    unsigned underflows = 0, announced = 0;
    sh4_tmu_reset(&t, 0, PCLK);
    for (unsigned step = 0; step < 20000; step++) {
        uint64_t next = sh4_tmu_next(&t), now = ref.now + draw_step(&s);
        bool were[3];
        for (unsigned n = 0; n < 3; n++)
            were[n] = ref.unf[n] && ref.unie[n];
        if (next != SH4_NEVER && next - ref.now < 100000000 && next_random(&s) % 2)
            now = next - next_random(&s) % 2;
        ref_advance(&ref, now);
        sh4_tmu_advance(&t, now);
        for (unsigned n = 0; n < 3; n++) {
            bool irq = ref.unf[n] && ref.unie[n];
            assert_int_equal(tmu_get(&t, SH4_TCNT0 + 12 * n), ref.tcnt[n]);
            assert_int_equal(tmu_get(&t, SH4_TCOR0 + 12 * n), ref.tcor[n]);
            assert_int_equal(REG_GET(tmu_get(&t, SH4_TCR0 + 12 * n), SH4_TCR_UNF), ref.unf[n]);
            assert_int_equal(sh4_tmu_irq(&t, n), irq);
            assert_true(!irq || were[n] || next <= now); /* none that was not announced */
            underflows += ref.unf[n];
            announced += irq && !were[n] && next == now;
        }
        if (next_random(&s) % 3 == 0)
            ref_write(&ref, &t, &s);
    }
    assert_true(underflows > 100 && announced > 20); /* the walk met what it is about */
}

static void wdt_advance__modes__interrupt_or_reset(void **state)
{
    static const struct {
        const char *name;
        uint8_t wtcsr;
        enum sh4_wdt_action action;
        bool irq;
    } rows[] = {
        { "interval", 0x80, SH4_WDT_INTERVAL, true },
        { "watchdog, power-on", 0xC0, SH4_WDT_RESET_POWER_ON, false },
        { "watchdog, manual", 0xE0, SH4_WDT_RESET_MANUAL, false },
        { "not counting", 0x40, SH4_WDT_NOTHING, false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sh4_wdt w;
        print_message("  %s\n", rows[i].name);
        sh4_wdt_reset(&w, 0);
        sh4_wdt_write(&w, SH4_WTCNT, 2, SH4_WTCNT_KEY | 0xFE);
        sh4_wdt_write(&w, SH4_WTCSR, 2, SH4_WTCSR_KEY | rows[i].wtcsr);
        assert_int_equal(sh4_wdt_advance(&w, 63), SH4_WDT_NOTHING);
        assert_int_equal(sh4_wdt_advance(&w, 64), rows[i].action);
        assert_int_equal(sh4_wdt_irq(&w), rows[i].irq);
    }
}

static void wdt_write__wrong_key_or_size__ignored(void **state)
{
    (void)state;
    struct sh4_wdt w;
    uint32_t v;
    sh4_wdt_reset(&w, 0);
    assert_true(sh4_wdt_write(&w, SH4_WTCNT, 2, 0xA500 | 0x33));
    assert_true(sh4_wdt_write(&w, SH4_WTCSR, 1, 0x80));
    sh4_wdt_read(&w, SH4_WTCNT, &v);
    assert_int_equal(v, 0);
    sh4_wdt_read(&w, SH4_WTCSR, &v);
    assert_int_equal(v, 0);
}

static void wdt_freeze__ase_mode__no_time_passes(void **state)
{
    (void)state;
    struct sh4_wdt w;
    sh4_wdt_reset(&w, 0);
    sh4_wdt_write(&w, SH4_WTCSR, 2, SH4_WTCSR_KEY | 0xC0);
    sh4_wdt_advance(&w, 320);
    sh4_wdt_freeze(&w, 320, true);
    assert_true(sh4_wdt_next(&w) == UINT64_MAX);
    assert_int_equal(sh4_wdt_advance(&w, 1000000), SH4_WDT_NOTHING);
    sh4_wdt_freeze(&w, 1000000, false);
    assert_int_equal(sh4_wdt_next(&w), 1000000 / 32 * 32 + (256 - 10) * 32);
}

static uint32_t rtc_get(struct sh4_rtc *r, uint32_t addr)
{
    uint32_t v = 0;
    assert_true(sh4_rtc_read(r, addr, &v));
    return v;
}

static void rtc_advance__end_of_a_leap_february__calendar_carries(void **state)
{
    (void)state;
    struct sh4_rtc r;
    sh4_rtc_init(&r, PCLK);
    static const struct {
        uint32_t addr, value;
    } set[] = {
        { SH4_RYRCNT, 0x2000 }, { SH4_RMONCNT, 0x02 }, { SH4_RDAYCNT, 0x28 }, { SH4_RHRCNT, 0x23 },
        { SH4_RMINCNT, 0x59 },  { SH4_RSECCNT, 0x58 }, { SH4_RWKCNT, 6 },
    };
    for (size_t i = 0; i < ARRAY_LEN(set); i++)
        assert_true(sh4_rtc_write(&r, set[i].addr, set[i].value));
    sh4_rtc_advance(&r, 2ull * PCLK);
    assert_int_equal(rtc_get(&r, SH4_RDAYCNT), 0x29);
    assert_int_equal(rtc_get(&r, SH4_RWKCNT), 0);
    sh4_rtc_advance(&r, (2ull + 86400) * PCLK);
    assert_int_equal(rtc_get(&r, SH4_RMONCNT), 0x03);
    assert_int_equal(rtc_get(&r, SH4_RDAYCNT), 0x01);
    assert_int_equal(rtc_get(&r, SH4_RSECCNT), 0x00);
}

static void rtc_next__periodic_and_carry__interrupts_on_time(void **state)
{
    (void)state;
    struct sh4_rtc r;
    sh4_rtc_init(&r, PCLK);
    assert_true(sh4_rtc_next(&r) == UINT64_MAX);
    sh4_rtc_write(&r, SH4_RCR2, 0x09 | 3u << SH4_RCR2_PES_LSB); /* every 1/16 s */
    uint64_t at = sh4_rtc_next(&r);
    assert_int_equal(at, PCLK / 16);
    sh4_rtc_advance(&r, at - 1);
    assert_false(sh4_rtc_irq_periodic(&r));
    sh4_rtc_advance(&r, at);
    assert_true(sh4_rtc_irq_periodic(&r));
    assert_int_equal(rtc_get(&r, SH4_R64CNT), 8);
    sh4_rtc_write(&r, SH4_RCR2, 0x09);
    sh4_rtc_write(&r, SH4_RCR1, REG_MASK(SH4_RCR1_CIE));
    sh4_rtc_advance(&r, sh4_rtc_next(&r));
    assert_true(sh4_rtc_irq_carry(&r));
    assert_int_equal(rtc_get(&r, SH4_RSECCNT), 1);
}

static void rtc_next__each_period__comes_so_many_times_in_eight_seconds(void **state)
{
    static const struct {
        unsigned pes, times;
    } rows[] = {
        { 0, 0 }, { 1, 2048 }, { 2, 512 }, { 3, 128 }, { 4, 32 }, { 5, 16 }, { 6, 8 }, { 7, 4 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sh4_rtc r;
        uint8_t rcr2 = (uint8_t)(0x09 | rows[i].pes << SH4_RCR2_PES_LSB);
        unsigned times = 0;
        sh4_rtc_init(&r, PCLK);
        sh4_rtc_write(&r, SH4_RCR2, rcr2);
        for (uint64_t at; (at = sh4_rtc_next(&r)) <= 8ull * PCLK; times++) {
            sh4_rtc_advance(&r, at - 1);
            assert_false(sh4_rtc_irq_periodic(&r));
            sh4_rtc_advance(&r, at);
            assert_true(sh4_rtc_irq_periodic(&r));
            sh4_rtc_write(&r, SH4_RCR2, rcr2); /* PEF := 0 */
        }
        assert_int_equal(times, rows[i].times);
    }
}

static void rtc_reset__manual_and_power_on__interrupts_off_time_goes_on(void **state)
{
    (void)state;
    for (int power_on = 0; power_on < 2; power_on++) {
        struct sh4_rtc r;
        sh4_rtc_init(&r, PCLK);
        sh4_rtc_write(&r, SH4_RSECAR, 0x80 | 0x02);
        sh4_rtc_write(&r, SH4_RCR1, REG_MASK(SH4_RCR1_CIE) | REG_MASK(SH4_RCR1_AIE));
        sh4_rtc_write(&r, SH4_RCR2, 0x09 | 1u << SH4_RCR2_PES_LSB);
        sh4_rtc_advance(&r, 2ull * PCLK);
        assert_true(sh4_rtc_irq_alarm(&r) && sh4_rtc_irq_carry(&r) && sh4_rtc_irq_periodic(&r));
        sh4_rtc_reset(&r, power_on);
        assert_false(sh4_rtc_irq_alarm(&r) || sh4_rtc_irq_carry(&r) || sh4_rtc_irq_periodic(&r));
        assert_true(sh4_rtc_next(&r) == UINT64_MAX);
        assert_int_equal(rtc_get(&r, SH4_RCR2), 0x09);
        assert_int_equal(rtc_get(&r, SH4_RSECAR), power_on ? 0x02 : 0x82);
        sh4_rtc_advance(&r, 3ull * PCLK);
        assert_int_equal(rtc_get(&r, SH4_RSECCNT), 0x03);
    }
}

static void rtc_alarm__seconds_enabled__flag_at_that_second(void **state)
{
    (void)state;
    struct sh4_rtc r;
    sh4_rtc_init(&r, PCLK);
    sh4_rtc_write(&r, SH4_RSECAR, 0x80 | 0x12);
    sh4_rtc_write(&r, SH4_RCR1, REG_MASK(SH4_RCR1_AIE));
    sh4_rtc_advance(&r, 11ull * PCLK);
    assert_false(sh4_rtc_irq_alarm(&r));
    sh4_rtc_advance(&r, 12ull * PCLK);
    assert_true(sh4_rtc_irq_alarm(&r));
}

struct line {
    int in[2], out[2]; /* host -> target, target -> host */
    struct sh4_scif s;
};

static void line_open(struct line *l)
{
    assert_int_equal(pipe2(l->in, O_NONBLOCK), 0);
    assert_int_equal(pipe2(l->out, O_NONBLOCK), 0);
    sh4_scif_init(&l->s, l->in[0], l->out[1]);
    sh4_scif_write(&l->s, SH4_SCBRR2, 0); /* 32 clocks a bit, 320 a character of 10 bits */
    sh4_scif_write(&l->s, SH4_SCSCR2,
                   REG_MASK(SH4_SCSCR2_TE) | REG_MASK(SH4_SCSCR2_RE) | REG_MASK(SH4_SCSCR2_TIE) |
                       REG_MASK(SH4_SCSCR2_RIE));
}

static void line_close(struct line *l)
{
    for (int i = 0; i < 2; i++) {
        close(l->in[i]);
        close(l->out[i]);
    }
}

static void scif_transmit__a_word__takes_its_time_and_arrives(void **state)
{
    (void)state;
    struct line l;
    uint32_t v;
    char got[8] = "";
    line_open(&l);
    for (const char *p = "hello"; *p; p++)
        sh4_scif_write(&l.s, SH4_SCFTDR2, (uint8_t)*p);
    sh4_scif_read(&l.s, SH4_SCFSR2, &v);
    assert_false(REG_GET(v, SH4_SCFSR2_TEND));
    sh4_scif_advance(&l.s, 5 * 320 - 1);
    assert_int_equal(l.s.sent, 4);
    sh4_scif_advance(&l.s, 5 * 320);
    assert_int_equal(read(l.out[0], got, sizeof got - 1), 5);
    assert_string_equal(got, "hello");
    sh4_scif_read(&l.s, SH4_SCFSR2, &v);
    assert_true(REG_GET(v, SH4_SCFSR2_TEND));
    line_close(&l);
}

static void scif_fifo__more_than_16__excess_ignored_and_trigger_flags(void **state)
{
    (void)state;
    struct line l;
    uint32_t v;
    line_open(&l);
    for (int i = 0; i < 30; i++)
        sh4_scif_write(&l.s, SH4_SCFTDR2, (uint32_t)i);
    sh4_scif_read(&l.s, SH4_SCFDR2, &v);
    assert_int_equal(REG_GET(v, SH4_SCFDR2_T), 16);
    assert_false(sh4_scif_irq_txi(&l.s));
    sh4_scif_advance(&l.s, 320 * 8); /* 8 left to send: the reset trigger */
    assert_true(sh4_scif_irq_txi(&l.s));
    sh4_scif_advance(&l.s, 320 * 40);
    assert_int_equal(l.s.sent, 17);
    line_close(&l);
}

static void scif_receive__below_trigger__dr_after_15_bits(void **state)
{
    (void)state;
    struct line l;
    uint32_t v;
    line_open(&l);
    sh4_scif_write(&l.s, SH4_SCFCR2, REG_PUT(1, SH4_SCFCR2_RTRG)); /* 4 bytes */
    assert_int_equal(write(l.in[1], "ab", 2), 2);
    sh4_scif_advance(&l.s, 320);
    sh4_scif_advance(&l.s, 640);
    assert_int_equal(l.s.received, 2);
    assert_false(sh4_scif_irq_rxi(&l.s));
    sh4_scif_advance(&l.s, 640 + 15 * 32);
    assert_true(sh4_scif_irq_rxi(&l.s));
    sh4_scif_read(&l.s, SH4_SCFRDR2, &v);
    assert_int_equal(v, 'a');
    sh4_scif_read(&l.s, SH4_SCFRDR2, &v);
    assert_int_equal(v, 'b');
    sh4_scif_read(&l.s, SH4_SCFSR2, &v);
    sh4_scif_write(&l.s, SH4_SCFSR2, v & ~REG_MASK(SH4_SCFSR2_DR));
    assert_false(sh4_scif_irq_rxi(&l.s));
    line_close(&l);
}

static void scif_receive__host_silent_for_long__heard_soon_and_at_the_line_s_rate(void **state)
{
    (void)state;
    struct line l;
    uint64_t now = 0;
    line_open(&l);
    while (now < PCLK / 100)
        sh4_scif_advance(&l.s, now = sh4_scif_next(&l.s));
    assert_int_equal(write(l.in[1], "abcd", 4), 4);
    uint64_t reported = now;
    while (!l.s.received)
        sh4_scif_advance(&l.s, now = sh4_scif_next(&l.s));
    assert_in_range(now, reported + 1, reported + PCLK / 20000); /* 50 us */
    for (uint64_t n = 2; n <= 4; n++) {
        sh4_scif_advance(&l.s, now + 319);
        assert_int_equal(l.s.received, n - 1);
        sh4_scif_advance(&l.s, now += 320);
        assert_int_equal(l.s.received, n);
    }
    line_close(&l);
}

static void scif_receive__host_silent__asked_every_50_us_or_character(void **state)
{
    static const uint32_t brr[] = { 0, 26 };
    static const uint64_t apart[] = { PCLK / 20000, 320 * 27 };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(brr); i++) {
        struct line l;
        line_open(&l);
        sh4_scif_write(&l.s, SH4_SCBRR2, brr[i]);
        for (int n = 0; n < 10; n++)
            sh4_scif_advance(&l.s, sh4_scif_next(&l.s));
        assert_int_equal(sh4_scif_next(&l.s) - l.s.seen, apart[i]);
        line_close(&l);
    }
}

static void scif_host_gone__output__bounded_and_counted(void **state)
{
    (void)state;
    struct sh4_scif s;
    sh4_scif_init(&s, -1, -1);
    sh4_scif_write(&s, SH4_SCBRR2, 0);
    sh4_scif_write(&s, SH4_SCSCR2, REG_MASK(SH4_SCSCR2_TE));
    uint64_t now = 0;
    for (int i = 0; i < SH4_SCIF_HOST_BUF + 100; i++) {
        sh4_scif_write(&s, SH4_SCFTDR2, 'x');
        sh4_scif_advance(&s, now += 320);
    }
    assert_int_equal(s.sent, SH4_SCIF_HOST_BUF + 100);
    assert_int_equal(s.dropped, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intc_pick__priorities__most_urgent_source_wins),
        cmocka_unit_test(intc_accepted__one_shot_and_level__only_one_shot_ends),
        cmocka_unit_test(intc_irl__encoded_and_independent__levels_and_codes),
        cmocka_unit_test(intc_nmi__edges__only_the_chosen_one_requests),
        cmocka_unit_test(tmu_advance__any_step_size__same_counts),
        cmocka_unit_test(tmu_next__underflow__interrupt_exactly_then_period_is_tcor_plus_1),
        cmocka_unit_test(tmu_write__unf__cannot_be_set_by_software),
        cmocka_unit_test(tmu__random_writes_and_times__as_counted_reload_by_reload),
        cmocka_unit_test(wdt_advance__modes__interrupt_or_reset),
        cmocka_unit_test(wdt_write__wrong_key_or_size__ignored),
        cmocka_unit_test(wdt_freeze__ase_mode__no_time_passes),
        cmocka_unit_test(rtc_advance__end_of_a_leap_february__calendar_carries),
        cmocka_unit_test(rtc_next__periodic_and_carry__interrupts_on_time),
        cmocka_unit_test(rtc_next__each_period__comes_so_many_times_in_eight_seconds),
        cmocka_unit_test(rtc_reset__manual_and_power_on__interrupts_off_time_goes_on),
        cmocka_unit_test(rtc_alarm__seconds_enabled__flag_at_that_second),
        cmocka_unit_test(scif_transmit__a_word__takes_its_time_and_arrives),
        cmocka_unit_test(scif_fifo__more_than_16__excess_ignored_and_trigger_flags),
        cmocka_unit_test(scif_receive__below_trigger__dr_after_15_bits),
        cmocka_unit_test(scif_receive__host_silent_for_long__heard_soon_and_at_the_line_s_rate),
        cmocka_unit_test(scif_receive__host_silent__asked_every_50_us_or_character),
        cmocka_unit_test(scif_host_gone__output__bounded_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
