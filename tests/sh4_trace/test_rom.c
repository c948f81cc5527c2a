/* Code in ROM, which takes no patch: stepped by channel A of the user break controller. What the
 * trace tells is compared with every call, return and jump of the same program, stepped one
 * instruction after the other. */
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
#include "tests/sh4_trace/board.h"

enum { ROM_AT = 0xA0001000, ROM_FILE = 0x2000, MAX_TRUTH = 20000 };

/* What a program in ROM may do: leaves, an empty function, calls of all kinds within ROM and out of
 * it, a slot that pushes, tail calls in and out, recursion, loops. r4, r5 are arguments, r6 a
 * function in RAM. */
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
    "rr_1: mov.l r4,@-r15\n bsr rrec\n add #-1,r4\n mov.l @r15+,r4\n lds.l @r15+,pr\n rts\n add "
    "r4,r0\n"
    "rrel: sts.l pr,@-r15\n mov #8,r1\n bsrf r1\n nop\n lds.l @r15+,pr\n rts\n nop\n nop\n"
    "rnear: rts\n mov #7,r0\n";

/* {name}: the address of a label in ROM. */
static const char in_ram[] =
    "main: mov #0,r8\n mov #3,r9\n"
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
    ".align 2\n l_e: .long {rempty}\n l_loop: .long {rloop}\n l_back: .long {rback}\n l_tail: "
    ".long {rtail}\n"
    "l_bra: .long {rbra}\n l_rec: .long {rrec}\n l_rel: .long {rrel}\n l_f: .long f\n"
    "f: mov r4,r0\n shll r0\n rts\n add #1,r0\n"
    "toram: mov.l t_e,r1\n jmp @r1\n nop\n .align 2\n t_e: .long {rempty}\n";

struct truth {
    uint8_t kind;
    uint32_t pc, target;
    /* run when the event is made: before the instruction in RAM, behind its slot in ROM */
    uint32_t insns;
};

struct rom_board {
    struct board b;
    struct asm_prog prog, rom;
    struct image_section sec[2];
    struct image_function fn[64];
    char path[32], src[4096];
};

static void add_functions(struct image_function *fn, size_t *n, const struct asm_prog *p,
                          uint32_t at)
{
    size_t first = *n;
    for (size_t i = 0; i < p->nlabels; i++)
        if (!strchr(p->labels[i].name, '_') && p->labels[i].value >= at)
            fn[(*n)++] =
                (struct image_function){ p->labels[i].name, p->labels[i].value, at + p->len };
    for (size_t i = first; i + 1 < *n; i++)
        fn[i].high = fn[i + 1].low;
}

static void fill_in(char *out, size_t cap, const char *text, struct asm_prog *rom)
{
    size_t n = 0;
    for (const char *end; *text; text++) {
        char name[32];
        assert_true(n + 12 < cap);
        if (*text != '{' || !(end = strchr(text, '}'))) {
            out[n++] = *text;
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(end - text - 1), text + 1);
        n += (size_t)snprintf(out + n, cap - n, "0x%08x", asm_label(rom, name));
        text = end;
    }
    out[n] = 0;
}

/* Opens a board whose ROM holds `rom` at `at` and whose RAM `ram`, with the image of both. options:
 * ",be" or "". */
static void rom_open(struct rom_board *r, const char *options, uint32_t at, const char *rom,
                     const char *ram)
{
    static uint8_t bytes[ROM_FILE];
    bool big = strstr(options, ",be") != NULL;
    char all[96];
    size_t n = 0;
    memset(r, 0, sizeof *r);
    r->rom.big = big;
    asm_text(&r->rom, at, rom);
    memset(bytes, 0, sizeof bytes);
    put16(bytes, 0xAFFE, big);
    assert_true((at & 0xFFFF) + r->rom.len <= sizeof bytes);
    memcpy(bytes + (at & 0xFFFF), r->rom.code, r->rom.len);
    strcpy(r->path, "/tmp/sh4romXXXXXX");
    int fd = mkstemp(r->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
    close(fd);
    fill_in(r->src, sizeof r->src, ram, &r->rom);
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

/* What the instruction at pc, after which the program stands at `next`, means; EVENT_TIMESTAMP:
 * nothing. */
static enum event_kind meaning_of(const struct rom_board *r, uint32_t pc, uint32_t next)
{
    uint16_t op = opcode_at(r, pc);
    if ((op & 0xF0FF) == 0x400B || op >> 12 == 0xB || (op & 0xF0FF) == 0x0003)
        return EVENT_CALL;
    if (op == 0x000B)
        return EVENT_RETURN;
    if ((op & 0xF0FF) == 0x402B || ((op >> 12 == 0xA || (op & 0xF0FF) == 0x0023) &&
                                    function_of(r, pc) != function_of(r, next)))
        return EVENT_JUMP;
    return EVENT_TIMESTAMP;
}

static bool in_rom_code(const struct rom_board *r, uint32_t pc)
{
    return pc - r->sec[1].addr < r->sec[1].size;
}

static bool has_slot(uint16_t op)
{
    bool bsr_bra = op >> 13 == 5, jump = (op & 0xF0DF) == 0x400B, rel = (op & 0xF0DF) == 0x0003,
         ret = op == 0x000B || op == 0x002B;
    bool cond = (op & 0xFD00) == 0x8D00; /* bt/s, bf/s: the slot runs either way */
    return bsr_bra || jump || rel || ret || cond;
}

/* The program stepped from its start to m_end. */
static size_t step_all(struct rom_board *r, struct truth *out, uint32_t *result)
{
    struct resume step = { .kind = RESUME_STEP };
    struct target_stop stop;
    struct err err = { .code = ERR_OK };
    uint32_t end = asm_label(&r->prog, "m_end"), pc = BOARD_TEXT, insns = 0;
    size_t n = 0;
    while (pc != end) {
        int ret = r->b.t->ops->resume(r->b.t, &step, &err);
        while (ret == 0)
            ret = r->b.t->ops->poll(r->b.t, 1000000, &stop, &err);
        assert_int_equal(ret, 1);
        enum event_kind kind = meaning_of(r, pc, (uint32_t)stop.pc);
        assert_true(n < MAX_TRUTH);
        if (kind != EVENT_TIMESTAMP)
            out[n++] = (struct truth){ (uint8_t)kind, pc, (uint32_t)stop.pc,
                                       insns + (in_rom_code(r, pc) ? 2 : 0) };
        insns += has_slot(opcode_at(r, pc)) ? 2 : 1;
        pc = (uint32_t)stop.pc;
    }
    *result = board_reg(&r->b, 8);
    return n;
}

static void expect_events(const struct rom_board *r, const struct truth *want, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < r->b.nev; i++) {
        const struct event *e = &r->b.ev[i];
        if (e->kind != EVENT_CALL && e->kind != EVENT_RETURN && e->kind != EVENT_JUMP)
            continue;
        if (k == n || e->kind != want[k].kind || e->pc != want[k].pc ||
            !(e->flags & EVENT_HAS_TARGET) || e->target != want[k].target)
            fail_msg("event %zu of %zu: kind %d %08x -> %08x, stepping says kind %d %08x -> %08x",
                     k, n, e->kind, (unsigned)e->pc, (unsigned)e->target, k < n ? want[k].kind : 0,
                     k < n ? want[k].pc : 0, k < n ? want[k].target : 0);
        k++;
    }
    assert_int_equal(k, n);
}

static void same_as_stepped(const char *options, uint32_t at)
{
    static struct rom_board r;
    static struct truth want[MAX_TRUTH];
    struct trace_status st;
    uint32_t plain;
    rom_open(&r, options, at, in_rom, in_ram);
    size_t n = step_all(&r, want, &plain), k = 0;
    board_close(&r.b);
    rom_open(&r, options, at, in_rom, in_ram);
    board_arm(&r.b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&r.b, "m_end", 2000000000);
    assert_int_equal(board_reg(&r.b, 8), plain);
    board_disarm(&r.b);
    assert_int_equal(r.b.t->ops->trace->status(r.b.t, &st, NULL), 0);
    expect_events(&r, want, n);
    assert_int_equal(st.untraced_sites, 0);
    assert_non_null(strstr(st.note, "16 in ROM by stepping"));
    for (size_t i = 0, before = 0; i < r.b.nev; i++) {
        const struct event *e = &r.b.ev[i];
        if (e->kind != EVENT_CALL && e->kind != EVENT_RETURN && e->kind != EVENT_JUMP)
            continue;
        if (!k) /* what ran before counting began, the same for all */
            before = want[0].insns - (uint32_t)e->c2;
        assert_int_equal(e->c2 + before, want[k++].insns);
    }
    board_close(&r.b);
}

static void rom__functions_called_from_ram__same_events_and_counts_as_stepped(void **state)
{
    (void)state;
    same_as_stepped("", ROM_AT);
}

static void rom__big_endian__same_events_and_counts_as_stepped(void **state)
{
    (void)state;
    same_as_stepped(",be", ROM_AT);
}

static void rom__cached_in_p1__same_events_and_counts_as_stepped(void **state)
{
    (void)state;
    same_as_stepped("", 0x80001000);
}

/* TMU0 interrupts, if the word at flag says so, while code in ROM runs. The handler, in ROM too,
 * calls with BL=1, then clears it and calls again. */
static const char irq_rom[] =
    "rspin: sts.l pr,@-r15\n mov.l r8,@-r15\n mov #100,r8\n mov #0,r0\n"
    "rs_1: bsr rinc\n nop\n mov r0,r1\n bsr rwait\n mov #9,r2\n dt r8\n bf/s rs_1\n mov r1,r0\n"
    "mov.l @r15+,r8\n lds.l @r15+,pr\n rts\n nop\n"
    "rinc: rts\n add #1,r0\n"
    "rwait: dt r2\n bf rwait\n rts\n nop\n"
    ".align 4\n rvec: .space 1536\n"
    "rhand: mov.l r0,@-r15\n mov.l r1,@-r15\n sts.l pr,@-r15\n stc.l ssr,@-r15\n stc.l spc,@-r15\n"
    "mov.l h_tcr,r0\n mov #32,r1\n mov.w r1,@r0\n"
    "bsr rblocked\n nop\n mov.l h_open,r0\n ldc r0,sr\n bsr ropen\n nop\n mov.l h_shut,r0\n ldc "
    "r0,sr\n"
    "ldc.l @r15+,spc\n ldc.l @r15+,ssr\n lds.l @r15+,pr\n mov.l @r15+,r1\n mov.l @r15+,r0\n rte\n "
    "nop\n"
    "rblocked: add #1,r10\n mov #20,r1\n cmp/hs r1,r10\n bf rb_1\n mov.l h_tstr,r0\n mov #0,r1\n "
    "mov.b r1,@r0\n"
    "rb_1: rts\n nop\n"
    "ropen: rts\n add #1,r11\n"
    ".align 2\n h_tcr: .long 0xFFD80010\n h_tstr: .long 0xFFD80004\n h_open: .long 0x600000F0\n "
    "h_shut: .long 0x700000F0\n";

static const char irq_ram[] =
    "main: mov.l l_vec,r0\n ldc r0,vbr\n mov #0,r8\n mov #0,r10\n mov #0,r11\n"
    "mov.l l_flag,r0\n mov.l @r0,r0\n tst r0,r0\n bt m_go\n"
    "mov.l l_ipra,r0\n mov.l l_lev,r1\n mov.w r1,@r0\n"
    "mov.l l_tcor,r0\n mov.l l_per,r1\n mov.l r1,@r0\n mov.l r1,@(4,r0)\n"
    "mov #32,r1\n mov.l l_tcr,r0\n mov.w r1,@r0\n"
    "mov.l l_tstr,r0\n mov #1,r1\n mov.b r1,@r0\n"
    "m_go: mov #8,r9\n"
    "m_loop: mov.l l_spin,r1\n jsr @r1\n nop\n add r0,r8\n dt r9\n bf m_loop\n nop\n"
    "m_end: bra m_end\n nop\n"
    ".align 2\n l_vec: .long {rvec}\n l_ipra: .long 0xFFD00004\n l_lev: .long 0x8000\n l_tcor: "
    ".long 0xFFD80008\n"
    "l_per: .long 500\n l_tcr: .long 0xFFD80010\n l_tstr: .long 0xFFD80004\n l_spin: .long "
    "{rspin}\n l_flag: .long 0xAC0E0000\n";

static void rom__interrupts_within__program_and_handler_are_kept_apart(void **state)
{
    (void)state;
    static struct rom_board r;
    static struct truth want[MAX_TRUTH];
    struct trace_status st;
    uint32_t plain;
    size_t opened = 0, irqs = 0, k = 0;
    rom_open(&r, "", ROM_AT, irq_rom, irq_ram);
    board_set_word(&r.b, 0xAC0E0000, 0);
    size_t n = step_all(&r, want, &plain);
    board_close(&r.b);
    rom_open(&r, "", ROM_AT, irq_rom, irq_ram);
    board_set_word(&r.b, 0xAC0E0000, 1);
    board_arm(&r.b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&r.b, "m_end", 2000000000);
    assert_int_equal(board_reg(&r.b, 8), plain);
    assert_int_equal(board_reg(&r.b, 10), 20);
    assert_int_equal(board_reg(&r.b, 11), 20);
    board_disarm(&r.b);
    assert_int_equal(r.b.t->ops->trace->status(r.b.t, &st, NULL), 0);
    print_message("  %s\n", st.note);
    assert_int_equal(st.untraced_sites, 2); /* the call of rblocked and its return */
    assert_int_equal(board_count(&r.b, EVENT_RTE), 20);
    for (size_t i = 0; i < r.b.nev; i++) {
        const struct event *e = &r.b.ev[i];
        irqs += e->kind == EVENT_INTERRUPT && e->target == asm_label(&r.rom, "rhand");
        if (e->kind != EVENT_CALL && e->kind != EVENT_RETURN)
            continue;
        assert_true(e->flags & EVENT_HAS_TARGET);
        if (function_of(&r, (uint32_t)e->pc) == function_of(&r, asm_label(&r.rom, "ropen")) ||
            e->target == asm_label(&r.rom, "ropen")) {
            opened++;
            continue;
        }
        assert_true(k < n);
        assert_int_equal(e->kind, want[k].kind);
        assert_int_equal(e->pc, want[k].pc);
        assert_int_equal(e->target, want[k].target);
        k++;
    }
    assert_int_equal(k, n);
    assert_int_equal(irqs, 20);
    assert_int_equal(opened, 2 * 20);
    board_close(&r.b);
}

/* A trap and an address error in ROM; the handler, in RAM, skips the faulting instruction. */
static const char fault_rom[] = "rfault: sts.l pr,@-r15\n bsr rthree\n nop\n trapa #5\n add "
                                "r0,r8\n mov #1,r1\n mov.l @r1,r2\n bsr rthree\n add #1,r8\n"
                                "lds.l @r15+,pr\n rts\n nop\n"
                                "rthree: rts\n mov #3,r0\n";

static const char fault_ram[] =
    "main: mov.l l_vec,r0\n ldc r0,vbr\n mov #0,r8\n mov #0,r10\n mov #10,r9\n"
    "m_loop: mov.l l_r,r1\n jsr @r1\n nop\n dt r9\n bf m_loop\n nop\n"
    "m_end: bra m_end\n nop\n .align 2\n l_vec: .long vec\n l_r: .long {rfault}\n"
    ".align 4\n vec: .space 256\n"
    "hand: mov.l h_exp,r1\n mov.l @r1,r1\n mov.l h_trapa,r2\n cmp/eq r1,r2\n bt h_trap\n"
    "stc spc,r1\n add #2,r1\n ldc r1,spc\n add #100,r10\n rte\n nop\n"
    "h_trap: mov.l h_tra,r1\n mov.l @r1,r1\n shlr2 r1\n add r1,r10\n rte\n nop\n"
    ".align 2\n h_exp: .long 0xFF000024\n h_trapa: .long 0x160\n h_tra: .long 0xFF000020\n";

static void rom__exceptions_within__are_passed_on_and_calls_stay_exact(void **state)
{
    (void)state;
    static struct rom_board r;
    rom_open(&r, "", ROM_AT, fault_rom, fault_ram);
    board_arm(&r.b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&r.b, "m_end", 2000000000);
    board_disarm(&r.b);
    assert_int_equal(board_reg(&r.b, 8), 10 * 4);
    assert_int_equal(board_reg(&r.b, 10), 10 * 105);
    assert_int_equal(board_count(&r.b, EVENT_EXCEPTION), 20);
    /* of the TRAPAs: the others return elsewhere */
    assert_int_equal(board_count(&r.b, EVENT_RTE), 10);
    assert_int_equal(board_count(&r.b, EVENT_CALL), 30);
    assert_int_equal(board_count(&r.b, EVENT_RETURN), 30);
    board_close(&r.b);
}

static size_t in_rom_events(const struct rom_board *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->b.nev; i++)
        n += r->b.ev[i].kind != EVENT_NOTE && r->b.ev[i].flags & EVENT_HAS_PC &&
             in_rom_code(r, (uint32_t)r->b.ev[i].pc);
    return n;
}

static void hold_both(struct rom_board *r, bool on)
{
    for (uint32_t at = 0x0C0E1000; at <= 0x0C0E1004; at += 4)
        assert_int_equal(on ? r->b.t->ops->insert_bp(r->b.t, BP_WATCH_WRITE, at, 4, NULL)
                            : r->b.t->ops->remove_bp(r->b.t, BP_WATCH_WRITE, at, 4, NULL),
                         0);
}

static void rom__debugger_holds_both_channels__untraced_and_said_so(void **state)
{
    (void)state;
    static struct rom_board r;
    struct trace_status st;
    rom_open(&r, "", ROM_AT, in_rom, in_ram);
    hold_both(&r, true);
    board_arm(&r.b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&r.b, "m_loop", 2000000000);
    assert_int_equal(r.b.t->ops->trace->status(r.b.t, &st, NULL), 0);
    assert_non_null(strstr(st.note, "16 in ROM: both break channels are GDB's"));
    assert_int_equal(st.untraced_sites, 16);
    assert_true(board_explains(
        &r.b, "in ROM, and both channels of the user break controller are the debugger's"));
    for (int i = 0; i < 2; i++) { /* two rounds so: with the channels held, and given back */
        size_t before = in_rom_events(&r), all = r.b.nev;
        board_run(&r.b, "m_loop", 2000000000);
        assert_true(r.b.nev > all);
        assert_int_equal(in_rom_events(&r) - before, i ? 35 : 0);
        if (!i)
            hold_both(&r, false);
    }
    assert_int_equal(r.b.t->ops->trace->status(r.b.t, &st, NULL), 0);
    assert_int_equal(st.untraced_sites, 0);
    board_disarm(&r.b);
    board_close(&r.b);
}

#define NOT_IN_ROM "is in ROM: no start or stop point and no block can be there"

static void rom__start_or_stop_point_there__is_refused(void **state)
{
    (void)state;
    static struct rom_board r;
    struct err err = { .code = ERR_OK };
    rom_open(&r, "", ROM_AT, in_rom, in_ram);
    struct trace_config cfg = { .image = &r.b.im,
                                .counter = { 0x23, 0x13 },
                                .has_start = true,
                                .start = asm_label(&r.rom, "radd") };
    assert_int_equal(r.b.t->ops->trace->arm(r.b.t, &cfg, &err), -ERR_USAGE);
    assert_non_null(strstr(err.what, NOT_IN_ROM));
    cfg.start = asm_label(&r.prog, "m_loop");
    cfg.stops[cfg.nstops++] = asm_label(&r.rom, "rloop");
    assert_int_equal(r.b.t->ops->trace->arm(r.b.t, &cfg, &err), -ERR_USAGE);
    cfg.nstops = 0;
    struct image_block block = { asm_label(&r.rom, "rloop") + 2, asm_label(&r.rom, "rloop") + 4 };
    r.b.im.blocks = &block;
    r.b.im.nblocks = 1;
    assert_int_equal(r.b.t->ops->trace->arm(r.b.t, &cfg, &err), -ERR_USAGE);
    assert_non_null(strstr(err.what, NOT_IN_ROM));
    r.b.im.nblocks = 0;
    assert_int_equal(r.b.t->ops->trace->arm(r.b.t, &cfg, &err), 0);
    board_disarm(&r.b);
    board_close(&r.b);
}

/* Stops at a hardware breakpoint in ROM, steps on from there into a call, goes on. */
static void rom__debugger_stops_and_steps_there__no_event_is_missed(void **state)
{
    (void)state;
    static struct rom_board r;
    static struct truth want[MAX_TRUTH];
    struct target_stop stop;
    struct resume step = { .kind = RESUME_STEP };
    struct err err = { .code = ERR_OK };
    uint32_t plain;
    rom_open(&r, "", ROM_AT, in_rom, in_ram);
    size_t n = step_all(&r, want, &plain);
    board_close(&r.b);
    rom_open(&r, "", ROM_AT, in_rom, in_ram);
    uint32_t at = asm_label(&r.rom, "rl_1");
    board_arm(&r.b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    assert_int_equal(r.b.t->ops->insert_bp(r.b.t, BP_HARD, at, 2, &err), 0);
    for (int i = 0; i < 3; i++) {
        board_resume(&r.b);
        while (r.b.t->ops->poll(r.b.t, 1000000, &stop, &err) == 0)
            ;
        assert_int_equal(stop.reason, STOP_HWBREAK);
        assert_int_equal(stop.pc, at);
        for (int k = 0; k < i; k++) {
            int ret = r.b.t->ops->resume(r.b.t, &step, &err);
            while (ret == 0)
                ret = r.b.t->ops->poll(r.b.t, 1000000, &stop, &err);
            assert_int_equal(ret, 1);
        }
    }
    assert_int_equal(r.b.t->ops->remove_bp(r.b.t, BP_HARD, at, 2, &err), 0);
    board_run(&r.b, "m_end", 2000000000);
    assert_int_equal(board_reg(&r.b, 8), plain);
    board_disarm(&r.b);
    expect_events(&r, want, n);
    board_close(&r.b);
}

static const char endless_ram[] = "main: mov #0,r8\n"
                                  "m_loop: mov.l l_loop,r1\n jsr @r1\n mov #2,r4\n mov.l l_v,r1\n "
                                  "add #1,r8\n bra m_loop\n mov.l r8,@r1\n"
                                  ".align 2\n l_loop: .long {rloop}\n l_v: .long 0xAC0E0000\n";

static void rom__detached_or_lost_within__channel_is_free_and_program_goes_on(void **state)
{
    (void)state;
    static struct rom_board r;
    struct sh4_options opt = { .allow_private = true };
    struct err err = { .code = ERR_OK };
    for (int lost = 0; lost < 2; lost++) {
        rom_open(&r, "", ROM_AT, in_rom, endless_ram);
        board_arm(&r.b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
        board_resume(&r.b);
        board_for(&r.b, 30000000); /* the ring is asked for every 20 ms */
        assert_true(in_rom_events(&r) > 20);
        if (lost) {
            r.b.t->ops->close(r.b.t); /* as if the bridge had died */
            assert_int_equal(sh4_open(r.b.probe, &opt, &r.b.t, &err), 0);
        } else {
            assert_int_equal(r.b.t->ops->detach(r.b.t, &err), 0);
        }
        assert_int_equal(r.b.t->ops->attach(r.b.t, &err), 0);
        board_halt(&r.b);
        uint32_t before = board_word(&r.b, 0xAC0E0000);
        assert_int_equal(board_word(&r.b, 0xFFD0000C) & 0xF, 0); /* IPRC, too */
        assert_int_equal(board_reg(&r.b, 19), 0);                /* VBR is the program's */
        board_resume(&r.b);
        board_for(&r.b, 3000000);
        board_halt(&r.b);
        uint32_t rounds = board_word(&r.b, 0xAC0E0000) - before;
        assert_true(rounds > 1000); /* at full speed: stepped it makes a tenth of that */
        board_close(&r.b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rom__functions_called_from_ram__same_events_and_counts_as_stepped),
        cmocka_unit_test(rom__big_endian__same_events_and_counts_as_stepped),
        cmocka_unit_test(rom__cached_in_p1__same_events_and_counts_as_stepped),
        cmocka_unit_test(rom__interrupts_within__program_and_handler_are_kept_apart),
        cmocka_unit_test(rom__exceptions_within__are_passed_on_and_calls_stay_exact),
        cmocka_unit_test(rom__debugger_holds_both_channels__untraced_and_said_so),
        cmocka_unit_test(rom__start_or_stop_point_there__is_refused),
        cmocka_unit_test(rom__debugger_stops_and_steps_there__no_event_is_missed),
        cmocka_unit_test(rom__detached_or_lost_within__channel_is_free_and_program_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
