/* Blocks, parts of functions that are measured by themselves: where a program enters and leaves
 * them, and what they took, whatever stops the program on the way. Random programs with blocks are
 * in tests/nasty. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/core/calltree.h"
#include "targets/sh4/code/crossings.h"
#include "tests/sh4_trace/board.h"

enum { RUN_NS = 2000000000, ROUNDS = 20, MOST = 4 };

static struct board b;
static struct asm_prog prog;
static struct image_block blocks[MOST];

static uint32_t address_of(const char *label) { return asm_label(&prog, label); }

/* Pairs of labels, up to a NULL. */
static void give_blocks(const char *const *label)
{
    b.im.nblocks = 0;
    b.im.blocks = blocks;
    for (; *label; label += 2)
        blocks[b.im.nblocks++] = (struct image_block){ address_of(label[0]), address_of(label[1]) };
}

/* ---- where they are crossed ---- */

/* A loop with a condition in it, a switch by BRAF, a call, data. */
static const char various[] =
    "main: mov #20,r10\n mov.l m_lvec,r0\n ldc r0,vbr\n"
    "m_loop: mov r10,r0\n and #3,r0\n"
    "m_test: tst r0,r0\n bt/s m_skip\n add #1,r8\n"
    "m_then: add #2,r8\n"
    "m_skip: bsr f\n m_slot: nop\n"
    "m_back: dt r10\n bf m_loop\n bra m_out\n nop\n"
    "m_gap: .word 0\n"
    "m_out: nop\n m_end: bra m_end\n nop\n .align 2\n m_lvec: .long v_vec\n"
    "f: mov r10,r0\n and #1,r0\n mov r0,r1\n add r1,r1\n mova f_tab,r0\n mov.w @(r0,r1),r1\n"
    "f_sw: braf r1\n nop\n f_base: .align 2\n"
    "f_tab: .word f_a-f_base\n .word f_b-f_base\n"
    "f_a: bra f_done\n add #3,r8\n"
    "f_b: bra f_done\n add #4,r8\n"
    "f_done: add #5,r8\n f_rts: rts\n nop\n"
    ".align 4\n v_vec: .space 256\n hand: mov #0,r0\n h_in: rte\n nop\n";

static bool crosses_at(const struct sh4_crossings *c, const char *label)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->at[i] == address_of(label))
            return true;
    return false;
}

/* Each row: a block, and where its border is crossed. */
static void crossings__by_branch_and_fall_through__are_found_and_no_others(void **state)
{
    static const struct {
        const char *low, *high, *at[5];
    } rows[] = {
        { "m_then", "m_skip", { "m_then", "m_skip" } },
        { "m_test", "m_skip", { "m_test", "m_skip" } },
        { "m_loop", "m_gap", { "m_loop", "m_out" } },
        { "m_skip", "m_back", { "m_skip" } }, /* behind it the return says it */
        { "m_back", "m_gap", { "m_loop", "m_out" } },
        { "f", "f_rts", { "f_rts" } }, /* a call begins it */
        { "f_done", "hand", { "f_done" } },
    };
    struct sh4_sites sites;
    (void)state;
    board_open(&b, &prog, "", various);
    assert_int_equal(sh4_sites_find(&b.im, &(struct sh4_sites_config){ 0 }, &sites, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sh4_crossings c;
        size_t n = 0;
        give_blocks((const char *const[]){ rows[i].low, rows[i].high, NULL });
        assert_int_equal(sh4_crossings_find(&sites, &b.im, &c, NULL), 0);
        for (; n < ARRAY_LEN(rows[i].at) && rows[i].at[n]; n++)
            assert_true(crosses_at(&c, rows[i].at[n]));
        assert_int_equal(c.n, n);
        sh4_crossings_fini(&c);
    }
    sh4_sites_fini(&sites);
    board_close(&b);
}

/* ---- what is refused ---- */

static void expect_refusal(const char *low, const char *high, const char *text, const char *hint)
{
    struct err err = { .code = ERR_OK };
    struct trace_config cfg = { .image = &b.im, .counter = { 0x23, 0x13 } };
    cfg.no_patch[0] = (struct trace_range){ address_of("f_done"), address_of("f_rts") };
    cfg.nno_patch = 1;
    give_blocks((const char *const[]){ low, high, NULL });
    assert_int_equal(b.t->ops->trace->arm(b.t, &cfg, &err), -ERR_USAGE);
    if (!strstr(err.what, text) || !strstr(err.hint, hint))
        fail_msg("%s..%s: %s; %s", low, high, err.what, err.hint);
}

static void block__that_cannot_be_measured__is_refused_with_a_way_out(void **state)
{
    (void)state;
    board_open(&b, &prog, "", various);
    expect_refusal("m_slot", "m_gap", "is a delay slot", "the branch that it belongs to");
    expect_refusal("m_test", "m_slot", "is a delay slot", "the branch that it belongs to");
    expect_refusal("m_gap", "m_end", "no control flow found",
                   "where the program gets to by itself");
    expect_refusal("m_lvec", "f", "there is data", "address of an instruction");
    expect_refusal("f_a", "f_done", "--no-patch", "smaller range");
    expect_refusal("hand", "h_in", "SR.BL=1", "clears SR.BL");
    board_run(&b, "m_end", RUN_NS); /* nothing is left of these */
    board_close(&b);
}

/* ---- what they took ---- */

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    (void)ctx;
    for (size_t i = 0; i < b.im.nfunctions; i++)
        if (addr >= b.im.functions[i].low && addr < b.im.functions[i].high) {
            *out = (struct calltree_range){ i, b.im.functions[i].low, b.im.functions[i].high };
            return true;
        }
    return false;
}

static bool block_range(void *ctx, uint64_t addr, struct calltree_range *out)
{
    (void)ctx;
    for (size_t i = 0; i < b.im.nblocks; i++)
        if (addr >= blocks[i].low && addr < blocks[i].high) {
            *out = (struct calltree_range){ i, blocks[i].low, blocks[i].high };
            return true;
        }
    return false;
}

struct took {
    uint64_t hits, insns;
};

static struct took took_of(const struct calltree *t, const char *label)
{
    struct took sum = { 0 };
    size_t n;
    const struct calltree_node *node = calltree_nodes(t, &n);
    for (size_t i = 0; i < n; i++)
        if (node[i].block && node[i].addr == address_of(label)) {
            sum.hits += node[i].hits;
            sum.insns += node[i].c2;
        }
    return sum;
}

/* The condition is 3 instructions with its slot, then there is 1 more in three of four rounds. A
 * return and its slot count where they lead: in front of DT and BF. end: instructions behind. */
static void check_took(unsigned end)
{
    struct calltree_config cfg = { .resolve = resolve_function, .block = block_range };
    struct calltree *t;
    assert_int_equal(calltree_new(&cfg, &t, NULL), 0);
    calltree_feed(t, b.ev, b.nev);
    struct took test = took_of(t, "m_test"), then = took_of(t, "m_then"),
                back = took_of(t, "m_back"), done = took_of(t, "f_done");
    assert_int_equal(test.hits, ROUNDS);
    assert_int_equal(test.insns, 3 * ROUNDS);
    assert_int_equal(then.hits, ROUNDS * 3 / 4);
    assert_int_equal(then.insns, ROUNDS * 3 / 4);
    assert_int_equal(back.hits, ROUNDS);
    assert_int_equal(back.insns, 4 * ROUNDS + end);
    assert_int_equal(done.hits, ROUNDS);
    assert_int_equal(done.insns, ROUNDS);
    calltree_free(t);
}

static const char *const four[] = { "m_test", "m_then", "m_then", "m_skip", "m_back",
                                    "m_gap",  "f_done", "hand",   NULL };

static void arm_four(const char *options, bool caches)
{
    board_open(&b, &prog, options, various);
    if (!caches)
        board_set_word(&b, 0xFF00001C, 0);
    give_blocks(four);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
}

/* BRA and its slot are the end of the last block: two instructions more. */
static void blocks__in_a_run__hits_and_instructions_are_exact(void **state)
{
    (void)state;
    for (int caches = 0; caches < 2; caches++)
        for (int big = 0; big < 2; big++) {
            prog.big = big;
            arm_four(big ? ",be" : "", caches);
            board_run(&b, "m_end", RUN_NS);
            board_disarm(&b);
            check_took(2);
            board_close(&b);
        }
    prog.big = false;
}

/* The host does at a breakpoint what the agent does elsewhere. */
static void blocks__stopped_and_stepped_at_their_borders__are_the_same(void **state)
{
    static const char *const where[] = { "m_test", "m_then", "m_skip", "m_loop", "f_done" };
    struct resume step = { .kind = RESUME_STEP };
    struct target_stop stop;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(where); i++)
        for (int steps = 0; steps < 5; steps++) {
            arm_four("", true);
            for (int round = 0; round < 3; round++) {
                board_run(&b, where[i], RUN_NS);
                for (int k = 0; k < steps; k++) {
                    assert_int_equal(b.t->ops->resume(b.t, &step, NULL), 0);
                    while (b.t->ops->poll(b.t, 1000000, &stop, NULL) == 0)
                        ;
                }
            }
            board_run(&b, "m_end", RUN_NS);
            board_disarm(&b);
            check_took(2);
            board_close(&b);
        }
}

/* What is measured behind that is not the block: the list of what is not seen has its border. */
static void block__whose_border_is_overwritten__is_told_as_not_seen(void **state)
{
    static const uint8_t nop[] = { 0x09, 0x00 };
    (void)state;
    arm_four("", true);
    board_run(&b, "m_then", RUN_NS);
    assert_int_equal(b.t->ops->write_mem(b.t, address_of("m_test"), 2, nop, sizeof nop, NULL), 0);
    size_t before = board_count(&b, EVENT_UNTRACED);
    board_run(&b, "m_end", RUN_NS);
    board_disarm(&b);
    bool told = false;
    assert_true(board_count(&b, EVENT_UNTRACED) > before);
    for (size_t i = 0; i < b.nev; i++)
        told |= b.ev[i].kind == EVENT_UNTRACED && b.ev[i].pc == address_of("m_test");
    assert_true(told);
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crossings__by_branch_and_fall_through__are_found_and_no_others),
        cmocka_unit_test(block__that_cannot_be_measured__is_refused_with_a_way_out),
        cmocka_unit_test(blocks__in_a_run__hits_and_instructions_are_exact),
        cmocka_unit_test(blocks__stopped_and_stepped_at_their_borders__are_the_same),
        cmocka_unit_test(block__whose_border_is_overwritten__is_told_as_not_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
