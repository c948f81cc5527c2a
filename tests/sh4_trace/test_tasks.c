/* Programs with several stacks, interrupts at every moment and calls of unusual kinds, on the
 * simulated board: the call tree must be the one they were made to have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/core/calltree.h"
#include "tests/sh4_trace/board.h"

enum { ANY = -1 };

/* A path, handlers with '!', and how often it was entered. */
struct want {
    const char *path;
    int hits;
};

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    const struct board *b = ctx;
    for (size_t i = 0; i < b->im.nfunctions; i++)
        if (addr >= b->fn[i].low && addr < b->fn[i].high) {
            *out = (struct calltree_range){ b->fn[i].low, b->fn[i].low, b->fn[i].high };
            return true;
        }
    return false;
}

static void path_of(const struct board *b, const struct calltree_node *nodes, uint32_t i, char *buf,
                    size_t cap)
{
    char front[200] = "";
    const char *name = nodes[i].kind == CALLTREE_LOST ? "LOST" : "?";
    if (nodes[i].parent != CALLTREE_NONE) {
        path_of(b, nodes, nodes[i].parent, front, sizeof front - 1);
        strcat(front, ">");
    }
    for (size_t k = 0; k < b->im.nfunctions; k++)
        if (b->fn[k].low == nodes[i].addr)
            name = b->fn[k].name;
    snprintf(buf, cap, "%s%s%s", front, nodes[i].kind == CALLTREE_INTERRUPT ? "!" : "", name);
}

static int index_of_wanted(const struct want *w, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(w[i].path, path))
            return (int)i;
    return -1;
}

/* Every node is wanted and has its hits, and every path that is wanted is there. */
static unsigned count_differences(const struct board *b, const struct calltree *t,
                                  const struct want *w, size_t n)
{
    size_t nnodes, found = 0;
    unsigned bad = 0;
    const struct calltree_node *nodes = calltree_nodes(t, &nnodes);
    for (uint32_t i = 0; i < nnodes; i++) {
        char path[300];
        path_of(b, nodes, i, path, sizeof path);
        int k = index_of_wanted(w, n, path);
        found += k >= 0;
        if (k >= 0 && (w[k].hits == ANY || w[k].hits == (int)nodes[i].hits))
            continue;
        print_message("    %s: %d hits, %d wanted, %u and %u counts%s\n", path, (int)nodes[i].hits,
                      k < 0 ? 0 : w[k].hits, (unsigned)nodes[i].c1, (unsigned)nodes[i].c2,
                      nodes[i].doubtful ? "?" : "");
        bad++;
    }
    return bad + (unsigned)(n - found);
}

static struct calltree *tree_of(struct board *b)
{
    struct calltree *t;
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = resolve_function, .resolve_ctx = b }, &t,
                     NULL),
        0);
    calltree_feed(t, b->ev, b->nev);
    return t;
}

static const struct calltree_node *node_at(const struct board *b, const struct calltree *t,
                                           const char *path)
{
    size_t n;
    const struct calltree_node *nodes = calltree_nodes(t, &n);
    for (uint32_t i = 0; i < n; i++) {
        char text[300];
        path_of(b, nodes, i, text, sizeof text);
        if (!strcmp(text, path))
            return &nodes[i];
    }
    fail_msg("no path %s", path);
    return NULL;
}

static void run_with(struct board *b, struct asm_prog *prog, const char *src,
                     const struct trace_config *cfg)
{
    board_open(b, prog, "", src);
    board_arm(b, cfg);
    board_run(b, "m_end", 8000000000);
    board_disarm(b);
}

static void run_filtered(struct board *b, struct asm_prog *prog, const char *src,
                         enum irq_filter filter)
{
    run_with(b, prog, src,
             &(struct trace_config){ .counter = { 0x23, 0x13 }, .irq_filter = filter });
}

/* n stacks of `bytes` below top, named in any order. */
static struct trace_config naming_stacks(unsigned top, unsigned bytes, size_t n)
{
    struct trace_config cfg = { .counter = { 0x23, 0x13 }, .nstacks = n };
    for (size_t i = 0; i < n; i++)
        cfg.stack[i] = (struct trace_range){ 0x80000000 | (top - (i + 1) * bytes),
                                             0x80000000 | (top - i * bytes) };
    return cfg;
}

/* ---- cooperative tasks ---- */

/* main and three tasks with stacks of the same size, one behind the other; all do the same at the
 * same places, and each call of work leaves for the next task. */
static const char cooperative[] =
    "main: mov.l l_s1,r2\n mov.l l_e1,r3\n mov.l l_b1,r1\n mov.l r3,@-r2\n add #-8,r2\n mov.l "
    "r2,@r1\n"
    "mov.l l_s2,r2\n mov.l l_e2,r3\n mov.l l_b2,r1\n mov.l r3,@-r2\n add #-8,r2\n mov.l r2,@r1\n"
    "mov.l l_s3,r2\n mov.l l_e3,r3\n mov.l l_b3,r1\n mov.l r3,@-r2\n add #-8,r2\n mov.l r2,@r1\n"
    "mov.l l_s0,r15\n mov #30,r9\n"
    "m_loop: bsr work\n mov #2,r4\n dt r9\n bf m_loop\n mov #4,r9\n"
    "m_more: bsr yield\n nop\n dt r9\n bf m_more\n nop\n"
    "m_end: bra m_end\n nop\n .align 2\n"
    "l_s0: .long 0x%08x\n l_s1: .long 0x%08x\n l_s2: .long 0x%08x\n l_s3: .long 0x%08x\n"
    "l_e1: .long ta\n l_e2: .long tb\n l_e3: .long tc\n l_b1: .long b_1\n l_b2: .long b_2\n l_b3: "
    ".long b_3\n"
    "b_0: .long 0\n .long b_1\n b_1: .long 0\n .long b_2\n b_2: .long 0\n .long b_3\n b_3: .long "
    "0\n .long b_0\n"
    "ta: mov #30,r9\n a_loop: bsr work\n mov #2,r4\n dt r9\n bf a_loop\n nop\n a_done: bsr yield\n "
    "nop\n bra a_done\n nop\n"
    "tb: mov #30,r9\n e_loop: bsr work\n mov #2,r4\n dt r9\n bf e_loop\n nop\n e_done: bsr yield\n "
    "nop\n bra e_done\n nop\n"
    "tc: mov #30,r9\n c_loop: bsr work\n mov #2,r4\n dt r9\n bf c_loop\n nop\n c_done: bsr yield\n "
    "nop\n bra c_done\n nop\n"
    "work: sts.l pr,@-r15\n mov.l r4,@-r15\n bsr yield\n nop\n bsr leaf\n nop\n mov.l @r15,r4\n "
    "tst r4,r4\n bt w_out\n"
    "bsr work\n add #-1,r4\n w_out: add #4,r15\n lds.l @r15+,pr\n rts\n nop\n"
    "leaf: rts\n nop\n"
    "yield: %s sts.l pr,@-r15\n mov.l r8,@-r15\n mov.l r9,@-r15\n mov.l y_cur,r0\n mov.l @r0,r1\n "
    "mov.l r15,@r1\n mov.l @(4,r1),r1\n"
    "mov.l r1,@r0\n mov.l @r1,r15\n mov.l @r15+,r9\n mov.l @r15+,r8\n lds.l @r15+,pr\n rts\n %s\n "
    ".align 2\n"
    "y_cur: .long y_tcb\n y_tcb: .long b_0\n";

#define TASK(t, more)                                                                      \
    { t, 1 }, { t ">work", 30 }, { t ">work>yield", 30 }, { t ">work>leaf", 30 },          \
        { t ">work>work", 30 }, { t ">work>work>yield", 30 }, { t ">work>work>leaf", 30 }, \
        { t ">work>work>work", 30 }, { t ">work>work>work>yield", 30 },                    \
        { t ">work>work>work>leaf", 30 },                                                  \
    {                                                                                      \
        t ">yield", more                                                                   \
    }

static void tasks__cooperative_on_stacks_of_any_size__tree_is_exact(void **state)
{
    static const struct want tree[] = { TASK("main", 4), TASK("ta", 4), TASK("tb", 4),
                                        TASK("tc", 4) };
    static const unsigned sizes[] = { 128, 256, 512, 1024, 2048, 4096, 16384 };
    static struct board b;
    static struct asm_prog prog;
    char src[sizeof cooperative + 200];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        unsigned top = 0x0C0C0000, s = sizes[i];
        snprintf(src, sizeof src, cooperative, top, top - 2 * s, top - s, top - 3 * s, "", "nop");
        run_filtered(&b, &prog, src, IRQ_FILTER_OFF);
        struct calltree *t = tree_of(&b);
        const struct calltree_stats *st = calltree_stats(t);
        print_message("  stacks of %u: %u switches, %u inferred\n", s, (unsigned)st->switches,
                      (unsigned)st->inferred);
        assert_int_equal(count_differences(&b, t, tree, ARRAY_LEN(tree)), 0);
        assert_int_equal(st->inferred, 0);
        calltree_free(t);
        board_close(&b);
    }
}

/* The same, but a branch leads to the slot of the switch's return, so that this takes no patch and
 * gives no event. */
static void tasks__switched_by_an_untraced_return__tree_is_exact(void **state)
{
    static const struct want tree[] = { TASK("main", 4), TASK("ta", 4), TASK("tb", 4),
                                        TASK("tc", 4) };
    static const unsigned sizes[] = { 512, 1024, 4096, 16384 };
    static struct board b;
    static struct asm_prog prog;
    char src[sizeof cooperative + 200];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        unsigned top = 0x0C0C0000, s = sizes[i];
        snprintf(src, sizeof src, cooperative, top, top - 2 * s, top - s, top - 3 * s,
                 "tst r15,r15\n bt y_slot\n", "y_slot: nop\n rts\n nop");
        run_filtered(&b, &prog, src, IRQ_FILTER_OFF);
        struct calltree *t = tree_of(&b);
        print_message("  stacks of %u: %u inferred\n", s, (unsigned)calltree_stats(t)->inferred);
        assert_int_equal(count_differences(&b, t, tree, ARRAY_LEN(tree)), 0);
        calltree_free(t);
        board_close(&b);
    }
}

/* ---- stacks that have been named ---- */

static void tasks__stacks_named__tree_is_exact_however_small(void **state)
{
    static const struct want tree[] = { TASK("main", 4), TASK("ta", 4), TASK("tb", 4),
                                        TASK("tc", 4) };
    static const unsigned sizes[] = { 48, 64, 4096 };
    static struct board b;
    static struct asm_prog prog;
    char src[sizeof cooperative + 200];
    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(sizes); i++) {
        unsigned top = 0x0C0C0000, s = sizes[i / 2];
        struct trace_config cfg = naming_stacks(top, s, 4);
        bool untraced = i % 2; /* the switch's return gives no event */
        snprintf(src, sizeof src, cooperative, top, top - 2 * s, top - s, top - 3 * s,
                 untraced ? "tst r15,r15\n bt y_slot\n" : "",
                 untraced ? "y_slot: nop\n rts\n nop" : "nop");
        run_with(&b, &prog, src, &cfg);
        struct calltree *t = tree_of(&b);
        print_message("  stacks of %u: %u switches, %u inferred\n", s,
                      (unsigned)calltree_stats(t)->switches, (unsigned)calltree_stats(t)->inferred);
        assert_int_equal(count_differences(&b, t, tree, ARRAY_LEN(tree)), 0);
        calltree_free(t);
        board_close(&b);
    }
}

/* ---- preemptive tasks ---- */

/* main and two tasks that a timer's handler switches: it saves what they use on their stacks and
 * leaves by RTE. */
#define TIMER(per)                                                                           \
    "mov.l l_vec,r0\n ldc r0,vbr\n mov.l l_ipra,r0\n mov.l l_lev,r1\n mov.w r1,@r0\n mov.l " \
    "l_tcor,r0\n mov.l l_per,r1\n mov.l r1,@r0\n"                                            \
    "mov.l r1,@(4,r0)\n mov #32,r1\n mov.l l_tcr,r0\n mov.w r1,@r0\n mov.l l_tstr,r0\n mov " \
    "#1,r1\n mov.b r1,@r0\n mov.l l_sr,r0\n ldc r0,sr\n"
#define TIMER_WORDS(per)                                                                       \
    ".align 2\n l_vec: .long v_ec\n l_ipra: .long 0xFFD00004\n l_lev: .long 0x8000\n l_tcor: " \
    ".long 0xFFD80008\n l_per: .long " per "\n"                                                \
    "l_tcr: .long 0xFFD80010\n l_tstr: .long 0xFFD80004\n l_sr: .long 0x40000000\n"
static const char preemptive[] =
    "main: mov.l l_s1,r2\n mov.l l_e1,r3\n mov.l l_b1,r4\n bsr prep\n nop\n mov.l l_s2,r2\n mov.l "
    "l_e2,r3\n mov.l l_b2,r4\n bsr prep\n nop\n"
    "mov.l l_s0,r15\n mov #0,r8\n mov.l l_done,r9\n" TIMER(
        "") "m_wait: bsr pause\n nop\n mov.l @r9,r0\n cmp/eq #2,r0\n bf m_wait\n mov.l l_tstr,r0\n "
            "mov #0,r1\n mov.b r1,@r0\n"
            "m_end: bra m_end\n nop\n" TIMER_WORDS(
                "3000") "l_s0: .long 0x%08x\n l_s1: .long 0x%08x\n l_s2: .long 0x%08x\n l_e1: "
                        ".long ta\n l_e2: .long tb\n l_b1: .long b_1\n l_b2: .long b_2\n"
                        "l_done: .long d_one\n d_one: .long 0\n b_0: .long 0\n .long b_1\n b_1: "
                        ".long 0\n .long b_2\n b_2: .long 0\n .long b_0\n"
                        "pause: mov #50,r0\n p_1: dt r0\n bf p_1\n rts\n nop\n"
                        "prep: mov #0,r0\n mov.l r0,@-r2\n mov.l r0,@-r2\n mov.l r0,@-r2\n mov.l "
                        "r0,@-r2\n mov.l r0,@-r2\n mov.l r0,@-r2\n"
                        "mov.l p_sr,r0\n mov.l r0,@-r2\n mov.l r3,@-r2\n mov.l r2,@r4\n rts\n "
                        "nop\n .align 2\n p_sr: .long 0x40000000\n"
                        "ta: mov.w a_n,r9\n a_l: bsr wa\n nop\n dt r9\n bf a_l\n nop\n mov.l "
                        "a_d,r0\n mov.l @r0,r1\n add #1,r1\n mov.l r1,@r0\n a_i: bra a_i\n nop\n"
                        "a_n: .word 400\n .align 2\n a_d: .long d_one\n"
                        "tb: mov.w e_n,r9\n e_l: bsr wb\n nop\n dt r9\n bf e_l\n nop\n mov.l "
                        "e_d,r0\n mov.l @r0,r1\n add #1,r1\n mov.l r1,@r0\n e_i: bra e_i\n nop\n"
                        "e_n: .word 300\n .align 2\n e_d: .long d_one\n"
                        "wa: sts.l pr,@-r15\n bsr spin\n mov #100,r1\n lds.l @r15+,pr\n rts\n nop\n"
                        "wb: sts.l pr,@-r15\n bsr spin\n mov #100,r1\n lds.l @r15+,pr\n rts\n nop\n"
                        "spin: dt r1\n bf spin\n rts\n nop\n"
                        ".align 4\n v_ec: .space 1536\n"
                        "hand: mov.l r8,@-r15\n mov.l r9,@-r15\n stc.l r0_bank,@-r15\n stc.l "
                        "r1_bank,@-r15\n stc.l r4_bank,@-r15\n sts.l pr,@-r15\n"
                        "stc.l ssr,@-r15\n stc.l spc,@-r15\n mov.l h_tcr,r0\n mov #32,r1\n mov.w "
                        "r1,@r0\n"
                        "mov.l h_cur,r0\n mov.l @r0,r1\n mov.l r15,@r1\n mov.l @(4,r1),r1\n mov.l "
                        "r1,@r0\n mov.l @r1,r15\n"
                        "ldc.l @r15+,spc\n ldc.l @r15+,ssr\n lds.l @r15+,pr\n ldc.l "
                        "@r15+,r4_bank\n ldc.l @r15+,r1_bank\n ldc.l @r15+,r0_bank\n"
                        "mov.l @r15+,r9\n mov.l @r15+,r8\n rte\n nop\n"
                        ".align 2\n h_tcr: .long 0xFFD80010\n h_cur: .long h_tcb\n h_tcb: .long "
                        "b_0\n";

static void expect_preempted(bool named, const unsigned *sizes, size_t nsizes)
{
    static const struct want tree[] = {
        { "main", 1 },    { "main>prep", 2 },    { "main>pause", ANY }, { "!hand", ANY },
        { "ta", ANY },    { "tb", ANY },         { "ta>wa", 400 },      { "ta>wa>spin", 400 },
        { "tb>wb", 300 }, { "tb>wb>spin", 300 },
    };
    static struct board b;
    static struct asm_prog prog;
    char src[sizeof preemptive + 200];
    for (size_t i = 0; i < nsizes; i++)
        for (int up = 0; up < 2; up++) {
            unsigned top = 0x0C0C0000, s = sizes[i];
            snprintf(src, sizeof src, preemptive, top - s, up ? top : top - 2 * s,
                     up ? top - 2 * s : top);
            struct trace_config cfg = naming_stacks(top, s, named ? 3 : 0);
            run_with(&b, &prog, src, &cfg);
            struct calltree *t = tree_of(&b);
            print_message("  stacks of %u: %u switches, %u inferred\n", s,
                          (unsigned)calltree_stats(t)->switches,
                          (unsigned)calltree_stats(t)->inferred);
            assert_int_equal(count_differences(&b, t, tree, ARRAY_LEN(tree)), 0);
            /* 200 instructions, RTS and its slot; the few around an interrupt may count on either
             * side of it. */
            uint64_t wa = node_at(&b, t, "ta>wa>spin")->c2, wb = node_at(&b, t, "tb>wb>spin")->c2,
                     n = 2 * board_count(&b, EVENT_INTERRUPT);
            assert_in_range(wa, 400 * 202 - n, 400 * 202 + n);
            assert_in_range(wb, 300 * 202 - n, 300 * 202 + n);
            calltree_free(t);
            board_close(&b);
        }
}

static void tasks__preempted_in_a_timer_handler__each_has_its_own_work(void **state)
{
    static const unsigned sizes[] = { 512, 1024, 2048, 16384 };
    (void)state;
    expect_preempted(false, sizes, ARRAY_LEN(sizes));
}

static void
tasks__preempted_on_named_stacks__each_has_its_own_work_however_small_they_are(void **state)
{
    static const unsigned sizes[] = { 64, 128, 1024 };
    (void)state;
    expect_preempted(true, sizes, ARRAY_LEN(sizes));
}

/* Tasks begin inside a handler that is filtered: until they are interrupted themselves they are not
 * seen, and that is said. */
static void tasks__preempted_in_a_filtered_handler__are_followed_and_noted(void **state)
{
    static struct board b;
    static struct asm_prog prog;
    struct trace_status st;
    char src[sizeof preemptive + 200];
    (void)state;
    snprintf(src, sizeof src, preemptive, 0x0C0C0000, 0x0C0C0000 - 1024, 0x0C0C0000 - 2048);
    run_filtered(&b, &prog, src, IRQ_FILTER_AUTO);
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    print_message("  %s\n", st.note);
    assert_non_null(strstr(st.note, "2 tasks begun in filtered interrupts"));
    struct calltree *t = tree_of(&b);
    size_t n;
    const struct calltree_node *nodes = calltree_nodes(t, &n);
    uint64_t seen[2] = { 0, 0 };
    for (uint32_t i = 0; i < n; i++) {
        char path[300];
        path_of(&b, nodes, i, path, sizeof path);
        print_message("    %s: %d hits, %u and %u counts%s\n", path, (int)nodes[i].hits,
                      (unsigned)nodes[i].c1, (unsigned)nodes[i].c2, nodes[i].doubtful ? "?" : "");
        /* Where the first interruption strikes decides whether the task's own function has a name.
         */
        seen[0] += !strcmp(path, "ta>wa") || !strcmp(path, "?>wa") ? nodes[i].hits : 0;
        seen[1] += !strcmp(path, "tb>wb") || !strcmp(path, "?>wb") ? nodes[i].hits : 0;
    }
    assert_true(seen[0] > 0 && seen[1] > 0);
    calltree_free(t);
    board_close(&b);
}

/* The words that the program keeps among its code are data. */
static void name_data(struct board *b)
{
    static struct image_section part[4];
    uint32_t at[5] = { BOARD_TEXT, asm_label(b->prog, "d_one"), asm_label(b->prog, "pause"),
                       asm_label(b->prog, "h_tcb"), 0 };
    at[4] = BOARD_TEXT + (uint32_t)b->sec.size;
    for (size_t i = 0; i < ARRAY_LEN(part); i++) {
        part[i] = b->sec;
        part[i].addr = at[i];
        part[i].size = at[i + 1] - at[i];
        part[i].data = b->sec.data + (at[i] - BOARD_TEXT);
        part[i].code = !(part[i].writable = i % 2);
    }
    b->im.sections = part;
    b->im.nsections = ARRAY_LEN(part);
}

/* Tasks whose saved SPC is the agent's. */
static unsigned waiting_in_agent(struct board *b)
{
    static const char *const tasks[] = { "b_0", "b_1", "b_2" };
    unsigned n = 0;
    for (size_t i = 0; i < ARRAY_LEN(tasks); i++)
        n += (board_word(b, board_word(b, asm_label(b->prog, tasks[i]))) & 0x1FFFFFFF) < BOARD_TEXT;
    return n;
}

/* One run of the program, which is over after a few sessions: number k of them is ended, or lost,
 * at moments of its own. Returns how often a task waited there behind a session. */
static unsigned preempted_in_sessions(bool lost, unsigned k)
{
    enum { ARMED = 3, EACH_NS = 30000, MORE_NS = 13000 };
    static struct board b;
    static struct asm_prog prog;
    char src[sizeof preemptive + 200];
    struct trace_config cfg = { .counter = { 0x23, 0x13 } };
    unsigned waiting = 0;
    snprintf(src, sizeof src, preemptive, 0x0C0C0000, 0x0C0C0000 - 1024, 0x0C0C0000 - 2048);
    board_open(&b, &prog, "", src);
    name_data(&b);
    for (unsigned i = 0; i < ARMED; i++) {
        /* Other places are patched, so that other stubs stand where the tasks wait. */
        cfg.no_patch[0] = (struct trace_range){ asm_label(b.prog, "pause"),
                                                asm_label(b.prog, i % 4 < 2 ? "wa" : "ta") };
        cfg.nno_patch = i % 2;
        board_arm(&b, &cfg);
        board_resume(&b);
        board_for(&b, EACH_NS + (uint64_t)k * MORE_NS);
        if (lost)
            assert_int_equal(b.t->ops->attach(b.t, NULL), 0);
        else
            board_disarm(&b);
        board_halt(&b);
        waiting += waiting_in_agent(&b);
    }
    board_arm(&b, &cfg);
    board_run(&b, "m_end", 8000000000);
    board_disarm(&b);
    board_close(&b);
    return waiting;
}

/* Tasks that were interrupted under an earlier trace have its slots in their saved SPC: they go on
 * from there whatever was armed since, also if the earlier session never ended its trace. */
static void tasks__preempted_under_an_earlier_trace__go_on_under_the_next(void **state)
{
    enum { RUNS = 8, LEAST = 3 };
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        unsigned waiting = 0;
        for (unsigned k = 0; k < RUNS; k++)
            waiting += preempted_in_sessions(lost, k);
        print_message("  %s: %u times a task waited there\n", lost ? "sessions lost" : "ended",
                      waiting);
        assert_true(waiting >= LEAST);
    }
}

/* ---- interrupts at every moment ---- */

/* Two timers, one of higher priority; the lower one's handler opens interrupts again and calls.
 * They come so fast that many strike right behind an RTE, in the stub it led to. */
static const char nested[] = "main: mov.w l_n,r9\n" TIMER(
    "") "mov.l l_tcor1,r0\n mov.l l_per1,r1\n mov.l r1,@r0\n mov.l r1,@(4,r0)\n mov #32,r1\n mov.l "
        "l_tcr1,r0\n mov.w r1,@r0\n"
        "mov.l l_tstr,r0\n mov #3,r1\n mov.b r1,@r0\n"
        "m_loop: mov.l l_f,r1\n jsr @r1\n nop\n bsr h\n nop\n dt r9\n bf m_loop\n mov.l "
        "l_tstr,r0\n mov #0,r1\n mov.b r1,@r0\n"
        "m_end: bra m_end\n nop\n l_n: .word 2000\n" TIMER_WORDS(
            "61") "l_f: .long f\n l_tcor1: .long 0xFFD80014\n l_per1: .long 47\n l_tcr1: .long "
                  "0xFFD8001C\n"
                  "f: sts.l pr,@-r15\n mov.l f_g,r1\n jsr @r1\n nop\n lds.l @r15+,pr\n rts\n nop\n "
                  ".align 2\n f_g: .long g\n"
                  "g: rts\n nop\n"
                  "h: mov.l h_g,r1\n jmp @r1\n nop\n .align 2\n h_g: .long g\n"
                  "sub: rts\n nop\n"
                  ".align 4\n v_ec: .space 1536\n"
                  "hand: mov.l h_ev,r0\n mov.l @r0,r0\n mov.l h_400,r1\n cmp/eq r0,r1\n bt h_low\n "
                  "mov.l h_tcr1,r0\n mov #32,r1\n mov.w r1,@r0\n rte\n nop\n"
                  "h_low: stc.l r0_bank,@-r15\n stc.l r1_bank,@-r15\n sts.l pr,@-r15\n stc.l "
                  "ssr,@-r15\n stc.l spc,@-r15\n"
                  "mov.l h_tcr,r0\n mov #32,r1\n mov.w r1,@r0\n mov.l h_open,r0\n ldc r0,sr\n bsr "
                  "sub\n nop\n mov.l h_shut,r0\n ldc r0,sr\n"
                  "ldc.l @r15+,spc\n ldc.l @r15+,ssr\n lds.l @r15+,pr\n ldc.l @r15+,r1_bank\n "
                  "ldc.l @r15+,r0_bank\n rte\n nop\n"
                  ".align 2\n h_ev: .long 0xFF000028\n h_400: .long 0x400\n h_tcr: .long "
                  "0xFFD80010\n h_tcr1: .long 0xFFD8001C\n h_open: .long 0x40000080\n"
                  "h_shut: .long 0x70000080\n";

static void interrupts__nested_at_every_moment__calls_stay_where_they_belong(void **state)
{
    static const struct want tree[] = { { "main", 1 },        { "main>f", 2000 },
                                        { "main>f>g", 2000 }, { "main>h", 2000 },
                                        { "main>h>g", 2000 }, { "!hand", ANY },
                                        { "!hand>sub", ANY } };
    static struct board b;
    static struct asm_prog prog;
    (void)state;
    run_filtered(&b, &prog, nested, IRQ_FILTER_OFF);
    struct calltree *t = tree_of(&b);
    print_message("  %zu interrupts\n", board_count(&b, EVENT_INTERRUPT));
    assert_true(board_count(&b, EVENT_INTERRUPT) > 2000);
    assert_int_equal(count_differences(&b, t, tree, ARRAY_LEN(tree)), 0);
    calltree_free(t);
    board_close(&b);
}

/* ---- unusual calls ---- */

/* learn: calls its next instruction to know where it is. blocked: its return runs with SR.BL=1 and
 * is not traced. */
static const char unusual[] =
    "main: mov #50,r9\n"
    "m_loop: bsr outer\n nop\n bsr blocking\n nop\n bsr twice\n nop\n dt r9\n bf m_loop\n nop\n"
    "m_end: bra m_end\n nop\n"
    "outer: sts.l pr,@-r15\n bsr learn\n nop\n bsr leaf\n nop\n bsr hasty\n nop\n lds.l @r15+,pr\n "
    "rts\n nop\n"
    "learn: sts.l pr,@-r15\n bsr l_here\n nop\n l_here: sts pr,r0\n bsr leaf\n nop\n lds.l "
    "@r15+,pr\n rts\n nop\n"
    "hasty: sts pr,r1\n bsr h_here\n nop\n h_here: sts pr,r0\n lds r1,pr\n rts\n nop\n"
    "leaf: rts\n nop\n"
    "blocking: sts.l pr,@-r15\n mov.l b_f,r1\n jsr @r1\n nop\n mov.l b_s,r0\n ldc r0,sr\n bsr "
    "leaf\n nop\n lds.l @r15+,pr\n rts\n nop\n"
    ".align 2\n b_f: .long blocked\n b_s: .long 0x40000000\n"
    "blocked: mov.l k_s,r0\n ldc r0,sr\n rts\n nop\n .align 2\n k_s: .long 0x50000000\n"
    /* The untraced return is the last thing it called. */
    "twice: sts.l pr,@-r15\n bsr blocking\n nop\n mov.l t_f,r1\n jsr @r1\n nop\n mov.l t_s,r0\n "
    "ldc r0,sr\n lds.l @r15+,pr\n rts\n nop\n"
    ".align 2\n t_f: .long blocked\n t_s: .long 0x40000000\n";

static void calls__learning_pc_and_untraced_returns__no_hit_is_made_up(void **state)
{
    static const struct want tree[] = {
        { "main", 1 },
        { "main>outer", 50 },
        { "main>outer>learn", 50 },
        { "main>outer>learn>leaf", 50 },
        { "main>outer>leaf", 50 },
        { "main>outer>hasty", 50 },
        { "main>blocking", 50 },
        { "main>blocking>blocked", 50 },
        { "main>blocking>leaf", 50 },
        { "main>twice", 50 },
        { "main>twice>blocking", 50 },
        { "main>twice>blocking>blocked", 50 },
        { "main>twice>blocking>leaf", 50 },
        { "main>twice>blocked", 50 },
    };
    static struct board b;
    static struct asm_prog prog;
    (void)state;
    run_filtered(&b, &prog, unusual, IRQ_FILTER_OFF);
    struct trace_status st;
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    print_message("  %s\n", st.note);
    struct calltree *t = tree_of(&b);
    assert_int_equal(count_differences(&b, t, tree, ARRAY_LEN(tree)), 0);
    calltree_free(t);
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks__cooperative_on_stacks_of_any_size__tree_is_exact),
        cmocka_unit_test(tasks__switched_by_an_untraced_return__tree_is_exact),
        cmocka_unit_test(tasks__preempted_in_a_timer_handler__each_has_its_own_work),
        cmocka_unit_test(
            tasks__preempted_on_named_stacks__each_has_its_own_work_however_small_they_are),
        cmocka_unit_test(tasks__stacks_named__tree_is_exact_however_small),
        cmocka_unit_test(tasks__preempted_in_a_filtered_handler__are_followed_and_noted),
        cmocka_unit_test(tasks__preempted_under_an_earlier_trace__go_on_under_the_next),
        cmocka_unit_test(interrupts__nested_at_every_moment__calls_stay_where_they_belong),
        cmocka_unit_test(calls__learning_pc_and_untraced_returns__no_hit_is_made_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
