/* Set pieces of nasty programs: longjmp, coroutines, tasks, exception handlers, BL sections, FPU
 * modes. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "tests/nasty/gen_priv.h"

/* Data of the pieces, and the stacks of tasks, upwards. */
#define DATA       0x0C080000u
#define STACKS     0x0C0A0000u
#define ABOVE_MAIN 0x0C110000u
#define BELOW_DATA 0x0C030000u
enum {
    JUMP_BUFFER = 0x000,
    SWAP_MAIN = 0x100,
    SWAP_OTHER = 0x104,
    TASK_NOW = 0x200,
    TASK_SP = 0x204,
    HANDLER_DEPTH = 0x300,
    NOW = 0x500,
    COUNT = 0x504,
    SAVED = 0x508,
    PAIR_END = 0x408
};
enum { TASK_ENTRIES = 3, VECTOR_SETS = 2 };

static bool has_feature(uint32_t features, enum nasty_feature f) { return features >> f & 1; }

static void load_number(struct nasty_program *p, const char *reg, uint32_t v)
{
    char text[16];
    snprintf(text, sizeof text, "0x%08X", (unsigned)v);
    emit_load(p, reg, text);
}

bool has_handler(uint32_t features)
{
    return has_feature(features, NASTY_trapa) || has_feature(features, NASTY_nested) ||
           has_feature(features, NASTY_vbr) || has_feature(features, NASTY_preempt) ||
           has_feature(features, NASTY_irq);
}

void clear_data(struct nasty_program *p)
{
    load_number(p, "r1", DATA + NOW);
    put_lines(p, "mov #0,r2\n mov.l r2,@r1\n mov #1,r2\n mov.l r2,@(4,r1)"); /* one task: main */
    load_number(p, "r1", DATA + HANDLER_DEPTH);
    put_lines(p, "mov #0,r2\n mov.l r2,@r1");
}

void emit_getpc(struct nasty_program *p)
{
    unsigned k = p->nlabel++;
    put_lines(p, "sts pr,r3\n bsr g_%u\n nop\n g_%u: sts pr,r2\n lds r3,pr\n add r2,r8", k, k);
    emit_work(p, 1);
    put_lines(p, "rts\n nop");
}

/* The mode is changed, something is called under it, the mode comes back. FR12-FR15 hold the sum.
 */
void emit_fpu(struct nasty_program *p, unsigned variant, int callee)
{
    char name[16];
    snprintf(name, sizeof name, "f%d", callee);
    emit_enter(p);
    put_lines(p, "sts fpscr,r9");
    load_number(p, "r0", 0x00040001);
    put_lines(p,
              "lds r0,fpscr\n mov #3,r0\n lds r0,fpul\n float fpul,fr2\n fldi1 fr3\n fadd fr2,fr3");
    if (variant & 1)
        put_lines(p, "frchg");
    if (variant & 2) { /* pairs want 8-byte boundaries, which R15 does not keep */
        load_number(p, "r1", DATA + PAIR_END);
        put_lines(p, "fschg\n fmov.d dr2,@-r1\n fmov.d @r1+,dr4\n fschg");
    }
    if (variant & 4) {
        load_number(p, "r0", 0x000C0001); /* PR: double precision */
        put_lines(p,
                  "lds r0,fpscr\n mov #5,r0\n lds r0,fpul\n float fpul,dr6\n fadd dr6,dr6\n ftrc "
                  "dr6,fpul\n sts fpul,r0\n add r0,r8");
    }
    if (callee >= 0)
        emit_call(p, name, false);
    load_number(p, "r0", 0x00040001);
    put_lines(p, "lds r0,fpscr\n ftrc fr3,fpul\n sts fpul,r0\n add r0,r8\n lds r9,fpscr");
    emit_leave(p);
}

/* ---- longjmp ---- */

static void emit_longjmp(struct nasty_program *p)
{
    unsigned by_jmp = pick_below(p, 2), rounds = 1 + pick_below(p, 3), depth = 1 + pick_below(p, 5);
    put_lines(p, ".align 2\n jtry:");
    emit_enter(p);
    put_lines(p, "mov #%u,r9\n jt_a:", rounds);
    load_number(p, "r4", DATA + JUMP_BUFFER);
    put_lines(p, "bsr jset\n nop\n tst r0,r0\n bf jt_b\n bsr jdeep\n mov #%u,r5", depth);
    put_lines(p, "jt_b: add r0,r8\n dt r9\n bf jt_a");
    emit_leave(p);
    put_lines(
        p,
        "jset: sts pr,r1\n mov.l r1,@r4\n mov.l r15,@(4,r4)\n mov.l r9,@(8,r4)\n rts\n mov #0,r0");
    put_lines(p, "jdeep: sts.l pr,@-r15\n tst r5,r5\n bf jd_c\n bsr jlong\n mov #1,r0\n"
                 "jd_c: bsr jdeep\n add #-1,r5\n lds.l @r15+,pr\n rts\n nop");
    put_lines(p, "jlong: mov.l @r4,r1\n mov.l @(4,r4),r15\n mov.l @(8,r4),r9");
    put_lines(p, by_jmp ? "jmp @r1\n nop" : "lds r1,pr\n rts\n nop");
}

/* ---- two stacks ---- */

static void new_stack(struct nasty_program *p, uint32_t low, uint32_t bytes)
{
    p->stacks[p->nstacks++] = (struct nasty_stack){ low + 4, low + bytes };
}

static void emit_coroutines(struct nasty_program *p)
{
    unsigned rounds = 2 + pick_below(p, 4);
    uint32_t bytes = 512u << pick_below(p, 5), low = STACKS - 0x10000, top = low + bytes;
    new_stack(p, low, bytes);
    put_lines(p, ".align 2\n corun:");
    emit_enter(p);
    load_number(p, "r0", top);
    emit_load(p, "r1", "cobody");
    put_lines(p, "mov.l r1,@-r0\n mov #9,r1\n mov.l r1,@-r0");
    load_number(p, "r1", DATA + SWAP_OTHER);
    put_lines(p, "mov.l r0,@r1\n mov #%u,r9\n co_a:", rounds);
    load_number(p, "r4", DATA + SWAP_MAIN);
    load_number(p, "r5", DATA + SWAP_OTHER);
    put_lines(p, "bsr coswap\n add #1,r8\n dt r9\n bf co_a");
    emit_leave(p);
    put_lines(p, "coswap: sts.l pr,@-r15\n mov.l r9,@-r15\n mov.l r15,@r4\n mov.l @r5,r15\n mov.l "
                 "@r15+,r9\n lds.l @r15+,pr\n rts\n nop");
    put_lines(p, "cobody: add #3,r8\n cb_a:");
    put_lines(p, "bsr cohelp\n nop");
    load_number(p, "r4", DATA + SWAP_OTHER);
    load_number(p, "r5", DATA + SWAP_MAIN);
    put_lines(p, "bsr coswap\n nop\n bra cb_a\n add #1,r9");
    put_lines(p, "cohelp: sts.l pr,@-r15");
    if (pick_below(p, 2)) { /* swaps below a frame, too */
        load_number(p, "r4", DATA + SWAP_OTHER);
        load_number(p, "r5", DATA + SWAP_MAIN);
        put_lines(p, "bsr coswap\n nop");
    }
    emit_work(p, 2);
    put_lines(p, "lds.l @r15+,pr\n rts\n nop");
}

/* Tasks take turns; each is made with a frame that `yield` pops. All run the same functions. */
static void emit_tasks(struct nasty_program *p)
{
    unsigned n = 1 + pick_below(p, 3), rounds = 2 + pick_below(p, 4);
    uint32_t bytes = 512u << pick_below(p, 8), low = STACKS;
    put_lines(p, ".align 2\n trun:");
    emit_enter(p);
    load_number(p, "r3", DATA + TASK_NOW);
    put_lines(p, "mov #0,r0\n mov.l r0,@r3");
    for (unsigned k = 0; k < n; k++, low += bytes) {
        char entry[16];
        snprintf(entry, sizeof entry, "tbody%u", pick_below(p, TASK_ENTRIES));
        new_stack(p, low, bytes);
        load_number(p, "r2", low + bytes);
        emit_load(p, "r1", entry);
        put_lines(p, "mov.l r1,@-r2\n mov.l r1,@-r2\n mov.l r2,@(%u,r3)", 4 * (k + 2));
    }
    put_lines(p, "mov #%u,r9\n tr_a: bsr yield\n add #1,r8\n dt r9\n bf tr_a", rounds);
    emit_leave(p);
    put_lines(p, "yield: sts.l pr,@-r15\n mov.l r9,@-r15");
    load_number(p, "r3", DATA + TASK_NOW);
    put_lines(p,
              "mov.l @r3,r0\n mov r0,r1\n shll2 r1\n add r3,r1\n mov.l r15,@(4,r1)\n"
              "add #1,r0\n mov #%u,r2\n cmp/gt r2,r0\n bf ty_a\n mov #0,r0\n ty_a: mov.l r0,@r3",
              n);
    put_lines(p, "mov r0,r1\n shll2 r1\n add r3,r1\n mov.l @(4,r1),r15\n mov.l @r15+,r9\n lds.l "
                 "@r15+,pr\n rts\n nop");
    for (unsigned k = 0; k < TASK_ENTRIES; k++) {
        put_lines(p, ".align 2\n tbody%u: add #%u,r8\n tb%u_a:", k, 3 * k + 1, k);
        emit_work(p, 1 + pick_below(p, 3));
        put_lines(p, "%s\n nop\n bra tb%u_a\n nop", pick_below(p, 2) ? "bsr yield" : "bsr tdeep",
                  k);
    }
    put_lines(p,
              "tdeep: sts.l pr,@-r15\n mov.l r9,@-r15\n bsr tdeep2\n mov #2,r9\n mov.l @r15+,r9\n "
              "lds.l @r15+,pr\n rts\n nop");
    put_lines(p, "tdeep2: sts.l pr,@-r15\n bsr yield\n add #1,r8\n lds.l @r15+,pr\n rts\n nop");
}

/* ---- exceptions ---- */

/* What the handler pops is SPC, SSR, PR, R9, R10 and bank 0; R8 is everybody's. */
static void new_task(struct nasty_program *p, const char *entry, uint32_t top, unsigned number)
{
    load_number(p, "r2", top);
    emit_load(p, "r1", entry);
    load_number(p, "r0", 0x40000000);
    put_lines(p, "mov.l r1,@-r2\n mov.l r0,@-r2\n add #-44,r2");
    load_number(p, "r3", DATA + SAVED + 4 * number);
    put_lines(p, "mov.l r2,@r3");
}

static void set_count(struct nasty_program *p, unsigned n)
{
    load_number(p, "r3", DATA + COUNT);
    put_lines(p, "mov #%u,r2\n mov.l r2,@r3", n);
}

static void emit_preempt(struct nasty_program *p)
{
    unsigned n = 1 + pick_below(p, 3), rounds = 2 + pick_below(p, 5);
    uint32_t bytes = 512u << pick_below(p, 8), low = pick_below(p, 2) ? ABOVE_MAIN : BELOW_DATA;
    put_lines(p, ".align 2\n prun:");
    emit_enter(p);
    for (unsigned k = 0; k < n; k++, low += bytes) {
        char entry[16];
        snprintf(entry, sizeof entry, "pbody%u", pick_below(p, TASK_ENTRIES));
        new_stack(p, low, bytes);
        new_task(p, entry, low + bytes, k + 1);
    }
    set_count(p, n + 1);
    put_lines(p, "mov #%u,r9\n pr_a: bsr pcount\n add #1,r8\n trapa #1\n dt r9\n bf pr_a", rounds);
    set_count(p, 1);
    emit_leave(p);
    for (unsigned k = 0; k < TASK_ENTRIES; k++) {
        put_lines(p, ".align 2\n pbody%u: add #%u,r8\n pb%u_a:", k, 3 * k + 1, k);
        emit_work(p, 1 + pick_below(p, 3));
        put_lines(p, "%s\n nop\n bra pb%u_a\n nop", pick_below(p, 2) ? "bsr pcount" : "bsr pdeep",
                  k);
    }
    put_lines(p, "pcount: add #2,r8\n trapa #2\n rts\n add #1,r8");
    put_lines(p,
              "pdeep: sts.l pr,@-r15\n mov.l r9,@-r15\n bsr pcount\n mov #2,r9\n trapa #3\n mov.l "
              "@r15+,r9\n lds.l @r15+,pr\n rts\n nop");
}

/* On bank 1; the task that comes next goes on. */
static void emit_switcher(struct nasty_program *p, unsigned set)
{
    put_lines(
        p, "stc.l spc,@-r15\n stc.l ssr,@-r15\n sts.l pr,@-r15\n mov.l r9,@-r15\n mov.l r10,@-r15");
    for (int r = 0; r < 8; r++)
        put_lines(p, "stc.l r%d_bank,@-r15", r);
    load_number(p, "r3", DATA + NOW);
    put_lines(
        p,
        "mov.l @r3,r0\n mov r0,r1\n shll2 r1\n add r3,r1\n mov.l r15,@(8,r1)\n add #1,r0\n mov.l "
        "@(4,r3),r2\n cmp/ge r2,r0\n"
        "bf sw%u_a\n mov #0,r0\n sw%u_a: mov.l r0,@r3",
        set, set);
    put_lines(p, "shll2 r0\n add r3,r0\n mov.l @(8,r0),r15");
    for (int r = 7; r >= 0; r--)
        put_lines(p, "ldc.l @r15+,r%d_bank", r);
    put_lines(p, "mov.l @r15+,r10\n mov.l @r15+,r9\n lds.l @r15+,pr\n ldc.l @r15+,ssr\n ldc.l "
                 "@r15+,spc\n rte\n nop");
}

static void emit_nested_handler(struct nasty_program *p, unsigned set)
{
    put_lines(
        p, "stc.l spc,@-r15\n stc.l ssr,@-r15\n sts.l pr,@-r15\n mov.l r9,@-r15\n mov.l r8,@-r15");
    /* BL=0, bank 0: what interrupted code holds in R0-R7 is saved next */
    load_number(p, "r0", 0x40000000);
    put_lines(
        p, "ldc r0,sr\n mov.l r0,@-r15\n mov.l r1,@-r15\n mov.l r2,@-r15\n mov.l r3,@-r15\n mov.l "
           "r4,@-r15\n mov.l r5,@-r15");
    put_lines(p, "bsr hleaf%u\n nop", set);
    load_number(p, "r1", DATA + HANDLER_DEPTH);
    put_lines(
        p,
        "mov.l @r1,r2\n mov #%u,r3\n cmp/ge r3,r2\n bt hn%u_a\n add #1,r2\n mov.l r2,@r1\n trapa "
        "#9",
        1 + pick_below(p, 6), set);
    load_number(p, "r1", DATA + HANDLER_DEPTH);
    put_lines(p, "mov.l @r1,r2\n add #-1,r2\n mov.l r2,@r1\n hn%u_a:", set);
    put_lines(
        p, "mov.l @r15+,r5\n mov.l @r15+,r4\n mov.l @r15+,r3\n mov.l @r15+,r2\n mov.l @r15+,r1\n "
           "mov.l @r15+,r0");
    put_lines(p, "stc sr,r7\n mov r7,r6");
    load_number(p, "r7", 0x70000000);
    put_lines(
        p, "ldc r7,sr\n mov.l @r15+,r8\n mov.l @r15+,r9\n lds.l @r15+,pr\n ldc.l @r15+,ssr\n ldc.l "
           "@r15+,spc\n rte\n nop");
    put_lines(p, ".align 2\n hleaf%u: mov r8,r0\n rotl r0\n rts\n nop", set);
}

/* What a TRAPA leads to. */
static void emit_trap_handler(struct nasty_program *p, unsigned set, uint32_t features)
{
    if (has_feature(features, NASTY_preempt)) {
        emit_switcher(p, set);
        return;
    }
    if (has_feature(features, NASTY_nested)) {
        emit_nested_handler(p, set);
        return;
    }
    put_lines(p, "mov #%u,r0\n add r0,r0\n add r0,r8", set + 1);
    put_lines(p, "rte\n nop");
}

/* The serial port's transmitter has room: that asks for an interrupt as long as SCSCR2.TIE is set.
 */
#define SCSCR2 0xFFE80008u
#define IPRC   0xFFD0000Cu

static void emit_interrupt_handler(struct nasty_program *p, unsigned set)
{
    bool opens = pick_below(p, 2);
    load_number(p, "r1", SCSCR2);
    put_lines(p, "mov #0,r0\n mov.w r0,@r1\n mov.w @r1,r0\n add #%u,r8", 3 + set);
    if (!opens) {
        put_lines(p, "rte\n nop");
        return;
    }
    put_lines(p, "stc.l spc,@-r15\n stc.l ssr,@-r15\n sts.l pr,@-r15");
    load_number(p, "r0", 0x600000F0); /* bank 1 still, BL=0, IMASK 15 */
    put_lines(p, "ldc r0,sr\n bsr ileaf%u\n nop", set);
    load_number(p, "r0", 0x700000F0);
    put_lines(p, "ldc r0,sr\n lds.l @r15+,pr\n ldc.l @r15+,ssr\n ldc.l @r15+,spc\n rte\n nop");
    put_lines(p, ".align 2\n ileaf%u: rotl r8\n rts\n add #1,r8", set);
}

/* The handlers at vector set k + 0x100, + 0x600. */
static void emit_vectors(struct nasty_program *p, unsigned set, uint32_t features)
{
    put_lines(p, ".align 8\n vec_%u: .space 256\n hexc%u:", set, set);
    emit_trap_handler(p, set, features);
    if (!has_feature(features, NASTY_irq))
        return;
    put_lines(p, ".org vec_%u+0x600\n hint%u:", set, set);
    emit_interrupt_handler(p, set);
}

/* It is asked for while IMASK keeps it away, and comes behind the load of SR that lets it in,
 * sooner or later in a function that is called. */
static void emit_irq(struct nasty_program *p)
{
    unsigned rounds = 1 + pick_below(p, 3);
    put_lines(p, ".align 2\n irun:");
    emit_enter(p);
    load_number(p, "r1", IPRC);
    put_lines(p, "mov.w @r1,r0\n mov #15,r2\n and r2,r0");
    load_number(p, "r2", 0x00000080);
    put_lines(p, "or r2,r0\n mov.w r0,@r1\n mov #%u,r9", rounds);
    put_lines(p, "ir_a: bsr iraise\n nop\n bsr iopen\n add #1,r8");
    put_lines(p, "bsr iraise\n nop");
    load_number(p, "r3", 0x40000000);
    put_lines(p, "ldc r3,sr\n add #1,r8\n add #1,r8\n dt r9\n bt ir_b\n bra ir_a\n nop\n ir_b:");
    emit_leave(p);
    put_lines(p, "iraise:");
    load_number(p, "r3", 0x400000F0);
    put_lines(p, "ldc r3,sr");
    load_number(p, "r1", SCSCR2);
    load_number(p, "r2", 0x000000A0);
    put_lines(p, "mov.w r2,@r1\n mov.w @r1,r0\n nop\n nop\n nop\n nop\n rts\n nop\n iopen:");
    load_number(p, "r3", 0x40000000);
    put_lines(p, "ldc r3,sr\n add #1,r8\n rts\n add #2,r8");
}

static void emit_vbr(struct nasty_program *p)
{
    put_lines(p, ".align 2\n vmove:");
    emit_enter(p);
    for (unsigned k = 0; k < 3; k++) {
        emit_load(p, "r0", k & 1 ? "vec_0" : "vec_1");
        put_lines(p, "ldc r0,vbr\n trapa #%u", k);
        emit_work(p, 1);
        put_lines(p, "bsr vleaf\n nop");
    }
    emit_leave(p);
    put_lines(p, "vleaf: add #2,r8\n trapa #7\n rts\n nop");
}

/* ---- BL ---- */

static void emit_bl(struct nasty_program *p)
{
    put_lines(p, ".align 2\n blrun:");
    emit_enter(p);
    put_lines(p, "bsr blleaf\n nop\n stc sr,r9\n mov r9,r0");
    load_number(p, "r1", 0x10000000);
    put_lines(p, "or r1,r0\n ldc r0,sr");
    emit_work(p, 2);
    put_lines(p, "bsr blinner\n nop\n ldc r9,sr\n bsr blleaf\n nop");
    emit_leave(p);
    put_lines(
        p, "blinner: sts.l pr,@-r15\n add #1,r8\n bsr blleaf2\n nop\n lds.l @r15+,pr\n rts\n nop");
    put_lines(p, "blleaf: add #3,r8\n rts\n nop\n blleaf2: add #5,r8\n rts\n nop");
}

/* ---- ROM, and what is copied to where it runs ---- */

/* Function `name` + k calls those behind it; R6 is a function of the program, which each of them
 * may call, too. */
static void apart_calls(struct nasty_program *p, const char *name, unsigned k, unsigned n)
{
    char callee[16];
    emit_enter(p);
    put_lines(p, "mov.l r6,@-r15\n mov #%u,r9\n ro_%u:", 1 + pick_below(p, 3), k);
    for (unsigned times = 1 + pick_below(p, 2); times; times--) {
        snprintf(callee, sizeof callee, "%s%u", name, k + 1 + pick_below(p, n - k - 1));
        emit_call(p, callee, true);
        emit_work(p, pick_below(p, 3));
        put_lines(p, "mov.l @r15,r6");
    }
    if (pick_below(p, 2))
        put_lines(p, "jsr @r6\n add #1,r8\n mov.l @r15,r6");
    put_lines(p, "dt r9\n bf ro_%u\n add #4,r15", k);
    emit_leave(p);
}

static void apart_function(struct nasty_program *p, const char *name, unsigned k, unsigned n)
{
    put_lines(p, ".align 2\n %s%u:", name, k);
    if (k + 1 < n && (k == 0 || pick_below(p, 2))) {
        apart_calls(p, name, k, n);
        return;
    }
    emit_work(p, 1 + pick_below(p, 4));
    switch (pick_below(p, 4)) {
    case 0: /* back into the program, and from there to the caller */
        put_lines(p, "jmp @r6\n add #1,r8");
        break;
    case 1:
        put_lines(
            p,
            "sts.l pr,@-r15\n jsr @r6\n mov.l r8,@-r15\n add #4,r15\n lds.l @r15+,pr\n rts\n nop");
        break;
    case 2:
        put_lines(p, "mov #%u,r5\n rr_%u: add r5,r8\n dt r5\n bf rr_%u", 2 + pick_below(p, 9), k,
                  k);
        /* fall through */
    default: put_lines(p, "rts\n add #1,r8");
    }
}

/* Functions that lie apart, as text of their own, and `run`, which calls them. */
static void emit_apart(struct nasty_program *p, const char *name, const char *run,
                       char text[NASTY_MAX_ROM])
{
    unsigned n = 2 + pick_below(p, 5), rounds = 1 + pick_below(p, 3);
    size_t before = p->len;
    for (unsigned k = 0; k < n; k++)
        apart_function(p, name, k, n);
    assert(p->len - before < NASTY_MAX_ROM);
    memcpy(text, p->text + before, p->len - before);
    p->len = before;
    p->text[before] = 0;
    put_lines(p, ".align 2\n %s:", run);
    emit_enter(p);
    put_lines(p, "mov #%u,r9\n rr_%s:", rounds, name);
    for (unsigned k = 0; k < n; k += 1 + pick_below(p, 2)) {
        char callee[24], back[16];
        snprintf(callee, sizeof callee, "x_%s%u", name, k);
        snprintf(back, sizeof back, "%s%s", name, pick_below(p, 2) ? "back" : "deep");
        emit_load(p, "r6", back);
        emit_call(p, callee, false);
    }
    put_lines(p, "dt r9\n bt re_%s\n bra rr_%s\n nop\n re_%s:", name, name, name);
    emit_leave(p);
    put_lines(p, "%sback: add #3,r8\n rts\n xor r8,r4", name);
    put_lines(p, "%sdeep: sts.l pr,@-r15\n bsr %sback\n nop\n lds.l @r15+,pr\n rts\n add #2,r8",
              name, name);
}

static void emit_rom(struct nasty_program *p) { emit_apart(p, "rom", "romrun", p->rom); }

static void emit_copied(struct nasty_program *p) { emit_apart(p, "cop", "coprun", p->copied); }

/* Past the caches: nothing of it has been fetched yet. */
void copy_section(struct nasty_program *p)
{
    emit_load(p, "r1", "cp_src+0xA0000000");
    load_number(p, "r2", NASTY_COPIED | 0xA0000000u);
    load_number(p, "r3", NASTY_COPIED_BYTES / 4);
    put_lines(p, "m_cp: mov.l @r1+,r0\n mov.l r0,@r2\n add #4,r2\n dt r3\n bf m_cp");
}

/* ---- overlays ---- */

/* Nothing in it looks like a function's begin: code that a pointer leads to would be patched, and
 * the patch copied (docs/open.md). */
static void overlay_body(struct nasty_program *p, unsigned k, const char *label)
{
    put_lines(p, ".align 5\n %s:", label);
    put_lines(p, "add #%u,r8\n xor r8,r4\n add r4,r8", 3 * k + 1);
    if (k & 1)
        put_lines(p, "mov.l l_ov%s,r1\n jmp @r1\n add #1,r8\n .align 2\n l_ov%s: .long oleaf",
                  label, label);
    else
        put_lines(p, "rts\n add #2,r8");
    put_lines(p, ".org %s+%u", label, NASTY_OVERLAY_BYTES);
}

static void emit_overlays(struct nasty_program *p)
{
    unsigned rounds = 1 + pick_below(p, 3);
    put_lines(p, ".align 2\n orun:");
    emit_enter(p);
    put_lines(p, "mov #%u,r9\n or_a:", rounds);
    for (unsigned k = 0; k < NASTY_OVERLAYS; k++) {
        unsigned times = 1 + pick_below(p, 3);
        char source[32];
        snprintf(source, sizeof source, "ovs%u_+0xA0000000", (k + 1) % NASTY_OVERLAYS);
        emit_load(p, "r1", source);
        put_lines(p, "ovc%u_:", (k + 1) % NASTY_OVERLAYS);
        emit_load(p, "r2", "ovl+0xA0000000");
        put_lines(p, "bsr ocopy\n mov #%u,r3", NASTY_OVERLAY_BYTES / 4);
        for (unsigned n = 0; n < times; n++) {
            emit_load(p, "r1", "ovl+0xA0000000");
            put_lines(p, "jsr @r1\n nop");
        }
    }
    put_lines(p, "dt r9\n bt or_b\n bra or_a\n nop\n or_b:");
    emit_leave(p);
    put_lines(p, "ocopy: mov.l @r1+,r0\n mov.l r0,@r2\n add #4,r2\n dt r3\n bf ocopy\n rts\n nop");
    put_lines(p, "oleaf: rts\n add #1,r8");
    overlay_body(p, 0, "ovl");
    put_lines(p, "oend: rts\n nop"); /* what follows is no part of it */
    for (unsigned k = 0; k < NASTY_OVERLAYS; k++) {
        char source[16];
        snprintf(source, sizeof source, "ovs%u_", k);
        overlay_body(p, k, source);
    }
}

/* ---- all ---- */

struct piece {
    enum nasty_feature feature;
    const char *entry;
    void (*emit)(struct nasty_program *p);
};
static const struct piece pieces[] = {
    { NASTY_longjmp, "jtry", emit_longjmp },
    { NASTY_coroutines, "corun", emit_coroutines },
    { NASTY_tasks, "trun", emit_tasks },
    { NASTY_vbr, "vmove", emit_vbr },
    { NASTY_bl, "blrun", emit_bl },
    { NASTY_preempt, "prun", emit_preempt },
    { NASTY_overlays, "orun", emit_overlays },
    { NASTY_rom, "romrun", emit_rom },
    { NASTY_copied, "coprun", emit_copied },
    { NASTY_irq, "irun", emit_irq },
};

void main_pieces(struct nasty_program *p, uint32_t features)
{
    for (unsigned k = 0; k < sizeof pieces / sizeof pieces[0]; k++)
        for (unsigned n = 0; has_feature(features, pieces[k].feature) && n < 2; n++) {
            /* their stacks are left as they are */
            bool once = pieces[k].feature == NASTY_coroutines || pieces[k].feature == NASTY_tasks ||
                        pieces[k].feature == NASTY_preempt;
            if (!once || n == 0)
                emit_call(p, pieces[k].entry, false);
        }
    if (has_feature(features, NASTY_trapa) || has_feature(features, NASTY_nested))
        put_lines(p, "trapa #3\n add #1,r8\n trapa #4");
}

void emit_pieces(struct nasty_program *p, uint32_t features)
{
    for (unsigned k = 0; k < sizeof pieces / sizeof pieces[0]; k++)
        if (has_feature(features, pieces[k].feature))
            pieces[k].emit(p);
    for (unsigned k = 0; k < VECTOR_SETS; k++)
        if (has_handler(features))
            emit_vectors(p, k, features);
}
