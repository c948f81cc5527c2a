/* What the profile counts between two events, against what the same program reads from its own
 * counters untraced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "tests/sh4_trace/board.h"

/* clang-format off */
enum {
    CCR = 0xFF00001C, CCR_OFF = 0x0808,
    ROUNDS = 4, /* the last one counts: what it needs is in the caches, if they are on */
    WITHIN = 2  /* cycles an event */
};
/* clang-format on */

struct counts {
    uint64_t c[2]; /* elapsed cycles, instructions */
    bool doubtful;
};

static uint64_t distance_between(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

static void open_board(struct board *b, struct asm_prog *prog, bool cached, const char *text)
{
    board_open(b, prog, "", text);
    if (!cached)
        board_set_word(b, CCR, CCR_OFF);
}

/* R8 and R9 before the window, R10 and R11 behind it, as the program reads them without a trace. */
static struct counts read_by_program(bool cached, const char *text)
{
    static struct board b;
    static struct asm_prog prog;
    static const uint16_t codes[2] = { 0x23, 0x13 };
    struct err err = { .code = ERR_OK };
    struct counts out = { .doubtful = false };
    open_board(&b, &prog, cached, text);
    if (b.t->ops->counters_arm(b.t, codes, &err) < 0)
        fail_msg("counters: %s", err.what);
    board_run(&b, "m_end", 1000000000);
    for (unsigned n = 0; n < 2; n++)
        out.c[n] = board_reg(&b, 10 + n) - board_reg(&b, 8 + n);
    board_close(&b);
    return out;
}

/* Between the last two of these events. */
static struct counts counts_between(const struct board *b, enum event_kind from, enum event_kind to)
{
    struct counts out = { .doubtful = false };
    const struct event *last = NULL, *first = NULL, *begun = NULL;
    for (size_t i = 0; i < b->nev; i++) {
        const struct event *e = &b->ev[i];
        if (e->kind == to && begun) {
            first = begun;
            last = e;
        }
        begun = e->kind == from ? e : e->kind == to ? NULL : begun;
    }
    assert_non_null(last);
    out.c[0] = last->c1 - first->c1;
    out.c[1] = last->c2 - first->c2;
    for (const struct event *e = first + 1; e <= last; e++)
        out.doubtful |= (e->flags & EVENT_DOUBTFUL) != 0;
    return out;
}

static void judge_window(const char *what, bool cached, const struct counts *is,
                         const struct counts *empty, const struct counts *reported)
{
    uint64_t truth[2] = { is->c[0] - empty->c[0], is->c[1] - empty->c[1] };
    print_message("  %s, caches %s: %u cycles, told %u; %u instructions, told %u%s\n", what,
                  cached ? "on" : "off", (unsigned)truth[0], (unsigned)reported->c[0],
                  (unsigned)truth[1], (unsigned)reported->c[1],
                  reported->doubtful ? ", doubtful" : "");
    if (reported->c[1] != truth[1])
        fail_msg("instructions are exact");
    if (reported->doubtful)
        return;
    uint64_t within = WITHIN * 2;
    if (cached) /* by the pipeline; of a condition it is the mean of both ways */
        within = 1;
    if (distance_between(reported->c[0], truth[0]) > within)
        fail_msg("cycles are right within %d or marked doubtful", (int)within);
}

/* n instructions: a loop of two, and what is left over. */
static char *window_of(char *out, size_t cap, unsigned n)
{
    if (n > 60) {
        snprintf(out, cap, "mov.l l_n,r2\n m_idle: dt r2\n bf m_idle\n%s",
                 n % 2 ? "" : "mov r3,r4\n");
        return out;
    }
    out[0] = 0;
    for (unsigned i = 0; i < n; i++)
        snprintf(out + strlen(out), cap - strlen(out), "%s", i % 2 ? "mov r4,r3\n" : "add #1,r2\n");
    return out;
}

static void program_of(char *out, size_t cap, const char *window, unsigned n)
{
    snprintf(out, cap,
             "main: mov.l l_pmc,r14\n mov #%d,r13\n"
             "m_round: mov.l @(8,r14),r8\n mov.l @(16,r14),r9\n"
             "m_a:\n %s"
             "m_b: mov.l @(8,r14),r10\n mov.l @(16,r14),r11\n"
             "dt r13\n bf m_round\n"
             "m_end: bra m_end\n nop\n"
             ".align 2\n l_pmc: .long 0xFF100000\n l_n: .long %u\n",
             ROUNDS, window, (n - 1) / 2);
}

/* From a start point at m_a to a stop point at m_b. */
static struct counts reported_of_window(bool cached, const char *text)
{
    static struct board b;
    static struct asm_prog prog;
    open_board(&b, &prog, cached, text);
    struct trace_config cfg = { .counter = { 0x23, 0x13 },
                                .has_start = true,
                                .start = asm_label(&prog, "m_a"),
                                .stops = { asm_label(&prog, "m_b") },
                                .nstops = 1 };
    board_arm(&b, &cfg);
    board_run(&b, "m_end", 1000000000);
    struct counts reported = counts_between(&b, EVENT_START, EVENT_STOP);
    board_close(&b);
    return reported;
}

static void window__between_start_and_stop_points__is_what_the_program_reads(void **state)
{
    static const unsigned sizes[] = { 10, 20, 40, 100, 1000, 10000 };
    char text[4096], body[2048], name[40];
    (void)state;
    for (int cached = 1; cached >= 0; cached--) {
        program_of(text, sizeof text, "", 1);
        struct counts empty = read_by_program(cached, text);
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
            snprintf(name, sizeof name, "%u instructions", sizes[i]);
            program_of(text, sizeof text, window_of(body, sizeof body, sizes[i]), sizes[i]);
            struct counts is = read_by_program(cached, text);
            struct counts reported = reported_of_window(cached, text);
            judge_window(name, cached, &is, &empty, &reported);
        }
    }
}

static void point_program(char *out, size_t cap, bool odd, const char *window)
{
    snprintf(out, cap,
             "main: mov.l l_pmc,r14\n mov #%d,r13\n mov.l l_sp,r15\n nop\n %s"
             "m_round: mov.l @(8,r14),r8\n mov.l @(16,r14),r9\n"
             "m_a:\n %s"
             "m_b: mov.l @(8,r14),r10\n mov.l @(16,r14),r11\n"
             "dt r13\n bf m_round\n .align 2\n"
             "m_end: bra m_end\n nop\n"
             ".align 2\n l_pmc: .long 0xFF100000\n l_sp: .long 0x0C0F0000\n l_n: .long 5\n l_w: "
             ".word 7\n .word 8\n",
             ROUNDS, odd ? "nop\n" : "", window);
}

/* A start point on one instruction of each kind that runs elsewhere in its own way, in either half
 * of a pair; 20 more behind it. */
static void window__from_a_start_point_on_any_instruction__is_what_the_program_reads(void **state)
{
    static const char *const first[] = {
        "add #1,r2\n",     "mov.l l_n,r2\n",         "mov.w l_w,r2\n",
        "mova l_pmc,r0\n", "mov.l @r15,r2\n",        "bt m_x\n m_x:\n",
        "bf m_x\n m_x:\n", "bra m_x\n nop\n m_x:\n", "bra m_x\n add #1,r3\n m_x:\n"
    };
    char text[4096], window[2048], body[1024], name[80];
    (void)state;
    window_of(body, sizeof body, 20);
    for (int way = 0; way < 4; way++)
        for (size_t i = 0; i < ARRAY_LEN(first); i++) {
            bool cached = way % 2, odd = way / 2;
            snprintf(window, sizeof window, "%s%s", first[i], body);
            point_program(text, sizeof text, odd, window);
            struct counts is = read_by_program(cached, text);
            point_program(text, sizeof text, odd, "");
            struct counts empty = read_by_program(cached, text);
            point_program(text, sizeof text, odd, window);
            struct counts reported = reported_of_window(cached, text);
            snprintf(name, sizeof name, "%sstart at %.*s", odd ? "odd " : "",
                     (int)strcspn(first[i], "\n"), first[i]);
            /* a condition */
            assert_int_equal(reported.doubtful,
                             !cached && odd && first[i][0] == 'b' && first[i][1] != 'r');
            judge_window(name, cached, &is, &empty, &reported);
        }
}

/* A handler that is the same code however it is entered: it begins with a read of the counters,
 * mends what the address error came from, quiets the timer and counts rounds. The other read is
 * where it returns to; what interrupts is asked of the program with the TRAPA. */
enum entry { BY_TRAPA, BY_ADDRESS_ERROR, BY_TIMER };

static void handler_program(char *out, size_t cap, enum entry by, const char *window, unsigned n)
{
    static const char *const round[] = {
        "trapa #5\n mov.l @(8,r14),r10\n mov.l @(16,r14),r11\n",
        "mov #1,r11\n m_bad: mov.l @(8,r11),r10\n mov.l @(16,r14),r11\n", "nop\n"
    };
    static const char timer[] = "mov.l l_ipra,r0\n mov.l l_lev,r1\n mov.w r1,@r0\n mov.l "
                                "l_tcor,r0\n mov.l l_per,r1\n mov.l r1,@r0\n"
                                "mov.l r1,@(4,r0)\n mov #32,r1\n mov.w r1,@r12\n mov.l l_tstr,r0\n "
                                "mov #1,r1\n mov.b r1,@r0\n";
    snprintf(
        out, cap,
        "main: mov.l l_vec,r0\n ldc r0,vbr\n mov.l l_pmc,r14\n mov.l l_tcr,r12\n mov #%d,r13\n %s"
        "m_round:\n %s tst r13,r13\n bf m_round\n"
        "m_end: bra m_end\n nop\n"
        ".align 2\n l_vec: .long vec\n l_pmc: .long 0xFF100000\n l_ipra: .long 0xFFD00004\n l_lev: "
        ".long 0x8000\n"
        "l_tcor: .long 0xFFD80008\n l_per: .long 100000\n l_tcr: .long 0xFFD80010\n l_tstr: .long "
        "0xFFD80004\n"
        ".align 5\n vec: .space %d\n"
        "hand: mov.l @(8,r14),r8\n mov.l @(16,r14),r9\n mov r14,r11\n mov #32,r3\n mov.w r3,@r12\n "
        "add #-1,r13\n"
        "%s rte\n nop\n .align 2\n l_n: .long %u\n",
        ROUNDS, by == BY_TIMER ? timer : "", round[by], by == BY_TIMER ? 0x600 : 0x100, window,
        (n - 1) / 2);
}

static struct counts reported_of_handler(bool cached, const char *text, enum event_kind entry)
{
    static struct board b;
    static struct asm_prog prog;
    open_board(&b, &prog, cached, text);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", 1000000000);
    struct counts reported = counts_between(&b, entry, EVENT_RTE);
    board_close(&b);
    return reported;
}

static void window__in_a_handler_of_the_program__is_what_the_program_reads(void **state)
{
    static const unsigned sizes[] = { 10, 20, 40, 100, 1000, 10000 };
    static const char *const names[] = { "TRAPA", "address error", "timer" };
    static const struct counts nothing = { .doubtful = false };
    char text[4096], body[2048], name[60];
    (void)state;
    for (int cached = 1; cached >= 0; cached--)
        for (unsigned by = BY_TRAPA; by <= BY_TIMER; by++)
            for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
                window_of(body, sizeof body, sizes[i]);
                handler_program(text, sizeof text, by == BY_TIMER ? BY_TRAPA : by, body, sizes[i]);
                struct counts is = read_by_program(cached, text);
                handler_program(text, sizeof text, by, body, sizes[i]);
                struct counts reported = reported_of_handler(
                    cached, text, by == BY_TIMER ? EVENT_INTERRUPT : EVENT_EXCEPTION);
                snprintf(name, sizeof name, "%s, %u instructions and what is round them", names[by],
                         sizes[i]);
                judge_window(name, cached, &is, &nothing, &reported);
            }
}

/* A window between two events of calls. The program reads the counters before what makes the first
 * and before what makes the second, each read two instructions, so that as many of them are in what
 * it sees as in what is told. */
static const struct form {
    const char *name;
    enum event_kind from, to;
    /* round: between reads of R8, R9 and of R10, R11 where it does not go on in f, which is the
     * window and reads them itself */
    const char *round, *functions;
} forms[] = {
#define READ_FIRST "mov.l @(8,r14),r8\n mov.l @(16,r14),r9\n"
#define READ_LAST  "mov.l @(8,r14),r10\n mov.l @(16,r14),r11\n"
#define F          "f: %s" READ_LAST "rts\n nop\n"
    { "JSR", EVENT_CALL, EVENT_RETURN, "mov.l l_f,r1\n" READ_FIRST "jsr @r1\n nop\n", F },
    { "BSR", EVENT_CALL, EVENT_RETURN, READ_FIRST "bsr f\n nop\n", F },
    { "BSR and a slot", EVENT_CALL, EVENT_RETURN, READ_FIRST "bsr f\n add #1,r3\n", F },
    { "BSRF", EVENT_CALL, EVENT_RETURN, "mov.l l_rel,r1\n" READ_FIRST "bsrf r1\n nop\n m_here:\n",
      F ".align 2\n l_rel: .long f-m_here\n" },
    { "tail by JMP", EVENT_JUMP, EVENT_RETURN, "mov.l l_f,r1\n bsr g\n nop\n",
      "g: " READ_FIRST "jmp @r1\n nop\n" F },
    { "tail by BRA", EVENT_JUMP, EVENT_RETURN, "bsr g\n nop\n",
      "g: " READ_FIRST "bra f\n nop\n nop\n" F },
    { "tail by BRAF", EVENT_JUMP, EVENT_RETURN, "mov.l l_rel,r1\n bsr g\n nop\n",
      "g: " READ_FIRST "braf r1\n nop\n g_here: nop\n" F ".align 2\n l_rel: .long f-g_here\n" },
    { "back by RTS", EVENT_RETURN, EVENT_CALL,
      "mov.l l_f,r1\n bsr g\n nop\n %s" READ_LAST "jsr @r1\n nop\n",
      "g: " READ_FIRST "rts\n nop\n f: rts\n nop\n" },
};

/* odd: the places of the form lie in the second halves of the pairs in which code is fetched. */
static void form_program(char *out, size_t cap, const struct form *f, bool odd, const char *window,
                         unsigned n)
{
    char round[3000], functions[3000];
    snprintf(round, sizeof round, f->round, window);
    snprintf(functions, sizeof functions, f->functions, window);
    snprintf(out, cap,
             "main: mov.l l_pmc,r14\n mov #%d,r13\n %s m_round:\n %s dt r13\n bf m_round\n .align "
             "2\n m_end: bra m_end\n nop\n %s %s"
             ".align 2\n l_pmc: .long 0xFF100000\n l_f: .long f\n l_n: .long %u\n",
             ROUNDS, odd ? "nop\n" : "", round, odd ? "nop\n" : "", functions, (n - 1) / 2);
}

static struct counts reported_of_form(bool cached, const char *text, const struct form *f)
{
    static struct board b;
    static struct asm_prog prog;
    open_board(&b, &prog, cached, text);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", 1000000000);
    struct counts reported = counts_between(&b, f->from, f->to);
    board_close(&b);
    return reported;
}

static void window__between_calls_and_returns_of_every_form__is_what_the_program_reads(void **state)
{
    static const unsigned sizes[] = { 10, 20, 40, 100, 1000, 10000 };
    static const struct counts nothing = { .doubtful = false };
    char text[8192], body[2048], name[60];
    (void)state;
    for (int way = 0; way < 4; way++)
        for (size_t k = 0; k < ARRAY_LEN(forms); k++)
            for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
                bool cached = way % 2, odd = way / 2;
                form_program(text, sizeof text, &forms[k], odd,
                             window_of(body, sizeof body, sizes[i]), sizes[i]);
                struct counts is = read_by_program(cached, text),
                              reported = reported_of_form(cached, text, &forms[k]);
                snprintf(name, sizeof name, "%s%s, %u instructions", odd ? "odd " : "",
                         forms[k].name, sizes[i]);
                assert_false(reported.doubtful);
                judge_window(name, cached, &is, &nothing, &reported);
            }
}

/* The program changes CCR between two rows of calls, in P2 as the hardware manual asks. f is the
 * window; its last call is the one before the change. */
static void switching_program(char *out, size_t cap, const char *window, unsigned ccr)
{
    snprintf(out, cap,
             "main: mov.l l_pmc,r14\n mov #%d,r13\n"
             "m_round: " READ_FIRST "bsr f\n nop\n dt r13\n bf m_round\n"
             "mov.l l_ccra,r1\n mov.l l_ccrv,r2\n mov.l l_p2,r3\n jsr @r3\n nop\n"
             "mov #%d,r13\n m_more: bsr g\n nop\n dt r13\n bf m_more\n"
             "m_end: bra m_end\n nop\n"
             "f: %s" READ_LAST "rts\n nop\n g: rts\n nop\n"
             "set: mov.l r2,@r1\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n rts\n nop\n"
             ".align 2\n l_pmc: .long 0xFF100000\n l_ccra: .long 0xFF00001C\n l_ccrv: .long %u\n"
             "l_p2: .long set-0x60000000\n",
             ROUNDS, ROUNDS, window, ccr);
}

/* Forgets the n-th call and what comes behind it. */
static void cut_at_call(struct board *b, size_t n)
{
    for (size_t i = 0, calls = 0; i < b->nev; i++)
        if (b->ev[i].kind == EVENT_CALL && ++calls == n) {
            b->nev = i;
            return;
        }
    fail_msg("there are not %u calls", (unsigned)n);
}

static void window__caches_switched_before_the_ring_is_read__is_right_or_marked(void **state)
{
    /* the operand cache stays on: what is in it only stays there */
    enum { CCR_ON = 0x090D, CCR_NO_ICACHE = 0x0005 };
    static const struct counts nothing = { .doubtful = false };
    static struct board b;
    static struct asm_prog prog;
    char text[4096], body[2048];
    (void)state;
    for (int cached = 0; cached < 2; cached++) {
        switching_program(text, sizeof text, window_of(body, sizeof body, 40),
                          cached ? CCR_NO_ICACHE : CCR_ON);
        struct counts is = read_by_program(cached, text);
        open_board(&b, &prog, cached, text);
        board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
        board_run(&b, "m_end", 1000000000);
        cut_at_call(&b, ROUNDS + 1);
        struct counts reported = counts_between(&b, EVENT_CALL, EVENT_RETURN);
        board_close(&b);
        judge_window("before CCR is changed", cached, &is, &nothing, &reported);
    }
}

/* Calls of g, then the caches are switched on, then calls of f, which is the window. */
static void switched_on_program(char *out, size_t cap, const char *window, unsigned n)
{
    snprintf(out, cap,
             "main: mov.l l_pmc,r14\n mov #%d,r13\n m_less: bsr g\n nop\n dt r13\n bf m_less\n"
             "mov.l l_ccra,r1\n mov.l l_ccrv,r2\n mov.l l_p2,r3\n jsr @r3\n nop\n"
             "mov #%d,r13\n m_round: " READ_FIRST "bsr f\n nop\n dt r13\n bf m_round\n"
             "m_end: bra m_end\n nop\n"
             "f: %s" READ_LAST "rts\n nop\n g: rts\n nop\n"
             "set: mov.l r2,@r1\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n rts\n nop\n"
             ".align 2\n l_pmc: .long 0xFF100000\n l_ccra: .long 0xFF00001C\n l_ccrv: .long 0x90D\n"
             "l_p2: .long set-0x60000000\n l_n: .long %u\n",
             ROUNDS, ROUNDS, window, (n - 1) / 2);
}

/* An event that took less than the agent alone takes without a cache shows that both are on: what
 * comes behind it, to the end of the ring, is not marked, and right. What lies before is marked. */
static void
window__caches_switched_on_before_the_ring_is_read__is_right_behind_a_short_event(void **state)
{
    static const unsigned sizes[] = { 10, 20, 40, 100, 1000, 10000 };
    static const struct counts nothing = { .doubtful = false };
    static struct board b;
    static struct asm_prog prog;
    char text[4096], body[2048], name[60];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        switched_on_program(text, sizeof text, window_of(body, sizeof body, sizes[i]), sizes[i]);
        struct counts is = read_by_program(false, text);
        open_board(&b, &prog, false, text);
        board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
        board_run(&b, "m_end", 1000000000);
        struct counts reported = counts_between(&b, EVENT_CALL, EVENT_RETURN);
        size_t calls = 0;
        for (size_t k = 0; k < b.nev && calls <= ROUNDS; k++) {
            calls += b.ev[k].kind == EVENT_CALL;
            if (b.ev[k].kind == EVENT_CALL || b.ev[k].kind == EVENT_RETURN)
                assert_true(b.ev[k].flags & EVENT_DOUBTFUL);
        }
        board_close(&b);
        snprintf(name, sizeof name, "behind the switch, %u instructions", sizes[i]);
        assert_false(reported.doubtful);
        judge_window(name, true, &is, &nothing, &reported);
    }
}

static void window__from_arming_to_the_first_event__has_its_instructions(void **state)
{
    static const unsigned sizes[] = { 1, 2, 5, 10, 41 };
    static struct board b;
    static struct asm_prog prog;
    char text[4096], body[2048];
    (void)state;
    for (int cached = 1; cached >= 0; cached--)
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
            snprintf(text, sizeof text,
                     "main: %s bsr f\n nop\n m_end: bra m_end\n nop\n f: rts\n nop\n",
                     window_of(body, sizeof body, sizes[i]));
            open_board(&b, &prog, cached, text);
            board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
            board_run(&b, "m_end", 1000000000);
            size_t k = 0;
            while (k < b.nev && b.ev[k].kind != EVENT_CALL)
                k++;
            assert_true(k < b.nev);
            assert_int_equal(b.ev[k].c2, sizes[i]);
            board_close(&b);
        }
}

/* From a start point in straight code, at a call and at a function's beginning: instructions at
 * each call and return, by hand. */
static void window__from_a_start_point_to_each_later_event__has_its_instructions(void **state)
{
    static const char text[] = "main: nop\n m_a: add #1,r0\n add #1,r0\n add #1,r0\n m_c: bsr f\n "
                               "nop\n add #1,r0\n bsr f\n nop\n bsr f\n nop\n"
                               "m_end: bra m_end\n nop\n f: add #1,r0\n rts\n nop\n";
    static const struct {
        const char *start;
        unsigned n, at[6];
    } row[] = { { "m_a", 6, { 3, 6, 9, 12, 14, 17 } },
                { "m_c", 6, { 0, 3, 6, 9, 11, 14 } },
                { "f", 5, { 1, 4, 7, 9, 12 } } };
    static struct board b;
    static struct asm_prog prog;
    (void)state;
    for (unsigned i = 0; i < 2 * ARRAY_LEN(row); i++) {
        unsigned r = i / 2, n = 0;
        open_board(&b, &prog, i % 2, text);
        board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 },
                                              .has_start = true,
                                              .start = asm_label(&prog, row[r].start) });
        board_run(&b, "m_end", 1000000000);
        for (size_t k = 0; k < b.nev; k++) {
            if (b.ev[k].kind != EVENT_CALL && b.ev[k].kind != EVENT_RETURN)
                continue;
            assert_true(n < row[r].n);
            assert_int_equal(b.ev[k].c2, row[r].at[n]);
            n++;
        }
        assert_int_equal(n, row[r].n);
        board_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window__between_start_and_stop_points__is_what_the_program_reads),
        cmocka_unit_test(window__from_a_start_point_on_any_instruction__is_what_the_program_reads),
        cmocka_unit_test(
            window__between_calls_and_returns_of_every_form__is_what_the_program_reads),
        cmocka_unit_test(window__in_a_handler_of_the_program__is_what_the_program_reads),
        cmocka_unit_test(window__caches_switched_before_the_ring_is_read__is_right_or_marked),
        cmocka_unit_test(
            window__caches_switched_on_before_the_ring_is_read__is_right_behind_a_short_event),
        cmocka_unit_test(window__from_arming_to_the_first_event__has_its_instructions),
        cmocka_unit_test(window__from_a_start_point_to_each_later_event__has_its_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
