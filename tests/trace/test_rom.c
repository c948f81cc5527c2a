/* Code in ROM, which takes no patch: stepped by channel A of the user break controller. What the trace tells is
 * compared with every call, return and jump of the same program, stepped one instruction after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "tests/trace/board.h"

enum { ROM_AT = 0xA0001000, ROM_FILE = 0x2000, MAX_TRUTH = 20000 };

/* What a program in ROM may do: leaves, an empty function, calls of all kinds within ROM and out of it, a slot that
 * pushes, tail calls in and out, recursion, loops. r4, r5 are arguments, r6 a function in RAM. */
static const char in_rom[] =
    "rempty: rts\n nop\n"
    "radd: add r5,r4\n mov r4,r0\n rts\n add #1,r0\n"
    "rloop: sts.l pr,@-r15\n mov.l r8,@-r15\n mov #3,r8\n"
    "rl_1: bsr radd\n mov r8,r5\n mov r0,r4\n mov.l rl_e,r1\n jsr @r1\n dt r8\n bf rl_1\n"
    "mov.l @r15+,r8\n lds.l @r15+,pr\n rts\n nop\n .align 2\n rl_e: .long rempty\n"
    "rback: sts.l pr,@-r15\n jsr @r6\n mov.l r4,@-r15\n mov.l @r15+,r4\n add r4,r0\n"
    "jsr @r6\n nop\n lds.l @r15+,pr\n rts\n nop\n"
    "rtail: jmp @r6\n add #1,r4\n"
    "rbra: mov r5,r4\n bra radd\n nop\n"
    "rrec: tst r4,r4\n bf/s rr_1\n sts.l pr,@-r15\n lds.l @r15+,pr\n rts\n mov #1,r0\n"
    "rr_1: mov.l r4,@-r15\n bsr rrec\n add #-1,r4\n mov.l @r15+,r4\n lds.l @r15+,pr\n rts\n add r4,r0\n"
    "rrel: sts.l pr,@-r15\n mov #8,r1\n bsrf r1\n nop\n lds.l @r15+,pr\n rts\n nop\n nop\n"
    "rnear: rts\n mov #7,r0\n";

static const char in_ram[] =
    "main: mov #0,r8\n mov #%d,r9\n"
    "m_loop: mov.l l_e,r1\n jsr @r1\n nop\n"
    "mov.l l_loop,r1\n jsr @r1\n mov #2,r4\n add r0,r8\n"
    "mov.l l_back,r1\n mov.l l_f,r6\n jsr @r1\n mov #5,r4\n add r0,r8\n"
    "mov.l l_tail,r1\n mov.l l_f,r6\n jsr @r1\n mov #1,r4\n add r0,r8\n"
    "mov.l l_tail,r1\n mov.l l_e,r6\n jsr @r1\n mov #1,r4\n"
    "mov.l l_bra,r1\n jsr @r1\n mov #4,r5\n add r0,r8\n"
    "mov.l l_rec,r1\n jsr @r1\n mov #4,r4\n add r0,r8\n"
    "mov.l l_rel,r1\n jsr @r1\n nop\n add r0,r8\n"
    "bsr toram\n nop\n"
    "dt r9\n bf m_loop\n nop\n"
    "m_end: bra m_end\n nop\n"
    ".align 2\n l_e: .long 0x%08x\n l_loop: .long 0x%08x\n l_back: .long 0x%08x\n l_tail: .long 0x%08x\n l_bra: .long 0x%08x\n"
    "l_rec: .long 0x%08x\n l_rel: .long 0x%08x\n l_f: .long f\n"
    "f: mov r4,r0\n shll r0\n rts\n add #1,r0\n"
    "toram: mov.l t_e,r1\n jmp @r1\n nop\n .align 2\n t_e: .long 0x%08x\n";

struct truth {
    uint8_t kind;
    uint32_t pc, target;
};

struct rom_board {
    struct board b;
    struct asm_prog prog, rom;
    struct image_section sec[2];
    struct image_function fn[64];
    char path[32], src[4096];
};

static void add_functions(struct image_function *fn, size_t *n, const struct asm_prog *p, uint32_t at)
{
    size_t first = *n;
    for (size_t i = 0; i < p->nlabels; i++)
        if (!strchr(p->labels[i].name, '_') && p->labels[i].value >= at)
            fn[(*n)++] = (struct image_function){ p->labels[i].name, p->labels[i].value, at + p->len };
    for (size_t i = first; i + 1 < *n; i++)
        fn[i].high = fn[i + 1].low;
}

/* Opens a board whose ROM holds in_rom at `at`, with the image of both parts. options: ",be" or "". */
static void rom_open(struct rom_board *r, const char *options, uint32_t at, int rounds)
{
    static uint8_t bytes[ROM_FILE];
    bool big = strstr(options, ",be") != NULL;
    char all[96];
    size_t n = 0;
    memset(r, 0, sizeof *r);
    r->rom.big = big;
    asm_text(&r->rom, at, in_rom);
    memset(bytes, 0, sizeof bytes);
    put16(bytes, 0xAFFE, big);
    memcpy(bytes + (at & 0xFFFF), r->rom.code, r->rom.len);
    strcpy(r->path, "/tmp/sh4romXXXXXX");
    int fd = mkstemp(r->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
    close(fd);
    static const char *const names[] = { "rempty", "rloop", "rback", "rtail", "rbra", "rrec", "rrel" };
    uint32_t a[ARRAY_LEN(names)];
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        a[i] = asm_label(&r->rom, names[i]);
    snprintf(r->src, sizeof r->src, in_ram, rounds, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[0]);
    snprintf(all, sizeof all, "%s,rom=%s", options, r->path);
    board_open(&r->b, &r->prog, all, r->src);
    unlink(r->path);
    r->sec[0] = r->b.sec;
    r->sec[1] = (struct image_section){ ".rom", at, r->rom.len, r->rom.code, true, false };
    add_functions(r->fn, &n, &r->prog, BOARD_TEXT);
    add_functions(r->fn, &n, &r->rom, at);
    r->b.im.sections = r->sec;
    r->b.im.nsections = 2;
    r->b.im.functions = r->fn;
    r->b.im.nfunctions = n;
    assert_int_equal(r->b.t->ops->set_image(r->b.t, &r->b.im, NULL), 0);
}

static size_t function_of(const struct rom_board *r, uint32_t pc)
{
    for (size_t i = 0; i < r->b.im.nfunctions; i++)
        if (pc >= r->fn[i].low && pc < r->fn[i].high)
            return i + 1;
    return 0;
}

static uint16_t opcode_at(const struct rom_board *r, uint32_t pc)
{
    for (size_t i = 0; i < 2; i++)
        if (pc - r->sec[i].addr < r->sec[i].size)
            return get16(r->sec[i].data + (pc - r->sec[i].addr), r->b.im.big_endian);
    return 0;
}

/* What the instruction at pc, after which the program stands at `next`, means; EVENT_TIMESTAMP: nothing. */
static enum event_kind meaning(const struct rom_board *r, uint32_t pc, uint32_t next)
{
    uint16_t op = opcode_at(r, pc);
    if ((op & 0xF0FF) == 0x400B || op >> 12 == 0xB || (op & 0xF0FF) == 0x0003)
        return EVENT_CALL;
    if (op == 0x000B)
        return EVENT_RETURN;
    if ((op & 0xF0FF) == 0x402B || ((op >> 12 == 0xA || (op & 0xF0FF) == 0x0023) && function_of(r, pc) != function_of(r, next)))
        return EVENT_JUMP;
    return EVENT_TIMESTAMP;
}

/* The program stepped from its start to m_end. */
static size_t step_all(struct rom_board *r, struct truth *out, uint32_t *result)
{
    struct resume step = { .kind = RESUME_STEP };
    struct target_stop stop;
    struct err err = { .code = ERR_OK };
    uint32_t end = asm_label(&r->prog, "m_end"), pc = BOARD_TEXT;
    size_t n = 0;
    while (pc != end) {
        int ret = r->b.t->ops->resume(r->b.t, &step, &err);
        while (ret == 0)
            ret = r->b.t->ops->poll(r->b.t, 1000000, &stop, &err);
        assert_int_equal(ret, 1);
        enum event_kind kind = meaning(r, pc, (uint32_t)stop.pc);
        assert_true(n < MAX_TRUTH);
        if (kind != EVENT_TIMESTAMP)
            out[n++] = (struct truth){ (uint8_t)kind, pc, (uint32_t)stop.pc };
        pc = (uint32_t)stop.pc;
    }
    *result = board_reg(&r->b, 8);
    return n;
}

static void expect(const struct rom_board *r, const struct truth *want, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < r->b.nev; i++) {
        const struct event *e = &r->b.ev[i];
        if (e->kind != EVENT_CALL && e->kind != EVENT_RETURN && e->kind != EVENT_JUMP)
            continue;
        if (k == n || e->kind != want[k].kind || e->pc != want[k].pc || !(e->flags & EVENT_HAS_TARGET) || e->target != want[k].target)
            fail_msg("event %zu of %zu: kind %d %08x -> %08x, stepping says kind %d %08x -> %08x", k, n, e->kind, (unsigned)e->pc,
                     (unsigned)e->target, k < n ? want[k].kind : 0, k < n ? want[k].pc : 0, k < n ? want[k].target : 0);
        k++;
    }
    assert_int_equal(k, n);
}

static void same_as_stepped(const char *options, uint32_t at, uint16_t c1, uint16_t c2)
{
    static struct rom_board r;
    static struct truth want[MAX_TRUTH];
    struct trace_status st;
    uint32_t plain;
    enum { ROUNDS = 3 };
    rom_open(&r, options, at, ROUNDS);
    size_t n = step_all(&r, want, &plain);
    board_close(&r.b);
    rom_open(&r, options, at, ROUNDS);
    board_arm(&r.b, &(struct trace_config){ .counter = { c1, c2 } });
    board_run(&r.b, "m_end", 2000000000);
    assert_int_equal(board_reg(&r.b, 8), plain);
    board_disarm(&r.b);
    assert_int_equal(r.b.t->ops->trace->status(r.b.t, &st, NULL), 0);
    print_message("  %zu events, %s\n", n, st.note);
    expect(&r, want, n);
    assert_int_equal(st.untraced_sites, 0);
    assert_non_null(strstr(st.note, "in ROM by stepping"));
    board_close(&r.b);
}

static void rom__functions_called_from_ram__same_events_as_stepped(void **state)
{
    (void)state;
    same_as_stepped("", ROM_AT, 0x23, 0x13);
}

static void rom__big_endian__same_events_as_stepped(void **state)
{
    (void)state;
    same_as_stepped(",be", ROM_AT, 0x23, 0x13);
}

static void rom__cached_in_p1__same_events_as_stepped(void **state)
{
    (void)state;
    same_as_stepped("", 0x80001000, 0x23, 0x13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rom__functions_called_from_ram__same_events_as_stepped),
        cmocka_unit_test(rom__big_endian__same_events_as_stepped),
        cmocka_unit_test(rom__cached_in_p1__same_events_as_stepped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
