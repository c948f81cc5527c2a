#include "tests/nasty/gen.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/nasty/gen_priv.h"

#define NASTY_ROW(name, text) { #name, text },
const struct nasty_feature_row nasty_features[NASTY_NFEATURES] = { NASTY_FEATURES(NASTY_ROW) };

enum { MAX_FUNCTIONS = 14, MAX_COST = 900, NEAR = 5 };

/* What one function is. It calls only functions with a higher number, so everything ends. */
enum kind {
    LEAF,
    NODE,
    RECURSIVE,
    SWITCH,
    TAIL,
    COND_TAIL,
    SHARED,
    SECOND_ENTRY,
    FALL,
    GETPC,
    TRAP,
    FPU,
    NKINDS
};
struct function {
    enum kind kind;
    int callee[2]; /* -1: none */
    unsigned loops, variant, cost;
};
struct plan {
    struct function f[MAX_FUNCTIONS];
    int n;
    uint32_t features;
};

unsigned pick_below(struct nasty_program *p, unsigned n)
{
    p->random ^= p->random << 13; /* xorshift64 */
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return (unsigned)((p->random >> 16) % n);
}

void put_lines(struct nasty_program *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(p->text + p->len, sizeof p->text - p->len, fmt, ap);
    va_end(ap);
    assert(n >= 0 && p->len + (size_t)n + 1 < sizeof p->text);
    p->len += (size_t)n;
    p->text[p->len++] = '\n';
    p->text[p->len] = 0;
}

void emit_work(struct nasty_program *p, unsigned n)
{
    static const char *const some[] = { "add r4,r8", "xor r8,r4",    "rotl r8",   "add #7,r8",
                                        "mov r8,r2", "shll r2",      "xor r2,r8", "swap.w r8,r8",
                                        "not r8,r8", "extu.w r8,r2", "add r2,r4", "sub r4,r8",
                                        "add #-3,r4" };
    while (n--)
        put_lines(p, "%s", some[pick_below(p, sizeof some / sizeof some[0])]);
}

static const char *pick_slot(struct nasty_program *p)
{
    static const char *const some[] = { "nop", "nop", "mov r8,r4", "add #1,r8", "mov #5,r4" };
    return some[pick_below(p, sizeof some / sizeof some[0])];
}

/* A literal behind the next instructions, jumped over, so that no pool is ever out of reach. */
void emit_load(struct nasty_program *p, const char *reg, const char *expression)
{
    unsigned k = p->nlit++;
    put_lines(p, "mov.l l_%u,%s\n bra l_%u+4\n nop\n .align 2\n l_%u: .long %s", k, reg, k, k,
              expression);
}

void emit_call(struct nasty_program *p, const char *callee, bool near)
{
    char lit[64];
    unsigned k;
    switch (pick_below(p, near ? 4 : 3)) {
    case 0:
        emit_load(p, "r1", callee);
        put_lines(p, "jsr @r1\n %s", pick_slot(p));
        break;
    case 1:
        k = p->nlabel++;
        snprintf(lit, sizeof lit, "%s-b_%u", callee, k);
        emit_load(p, "r1", lit);
        put_lines(p, "bsrf r1\n %s\n b_%u:", pick_slot(p), k);
        break;
    case 2: /* through a pointer in memory */
        emit_load(p, "r0", callee);
        put_lines(p, "mov.l r0,@-r15\n mov.l @r15+,r3\n jsr @r3\n %s", pick_slot(p));
        break;
    default: put_lines(p, "bsr %s\n %s", callee, pick_slot(p));
    }
}

static void name_of(char name[16], int i) { snprintf(name, 16, "f%d", i); }

static void call_number(struct nasty_program *p, int from, int to)
{
    char name[16];
    if (to < 0)
        return;
    name_of(name, to);
    emit_call(p, name, to - from <= NEAR);
}

/* ---- bodies ---- */

void emit_enter(struct nasty_program *p) { put_lines(p, "mov.l r9,@-r15\n sts.l pr,@-r15"); }

void emit_leave(struct nasty_program *p) { put_lines(p, "lds.l @r15+,pr\n rts\n mov.l @r15+,r9"); }

static void put_body(struct nasty_program *p, const struct function *f, int i)
{
    unsigned k = p->nlabel++;
    put_lines(p, "mov #%u,r9\n b_%u:", f->loops, k);
    emit_work(p, 1 + pick_below(p, 3));
    call_number(p, i, f->callee[0]);
    emit_work(p, pick_below(p, 3));
    call_number(p, i, f->callee[1]);
    put_lines(p, "dt r9\n bf b_%u", k);
}

static void emit_leaf(struct nasty_program *p, const struct function *f)
{
    emit_work(p, 1 + pick_below(p, 6));
    switch (f->variant % 3) {
    case 0: put_lines(p, "rts\n nop"); break;
    case 1: put_lines(p, "rts\n add #1,r8"); break;
    default:
        put_lines(p, "add #-8,r15\n mov.l r8,@r15");
        emit_work(p, 2);
        put_lines(p, "rts\n add #8,r15");
    }
}

/* r%d recurses; f%d begins the recursion with a depth. */
static void emit_recursion(struct nasty_program *p, const struct function *f, int i)
{
    unsigned k = p->nlabel++;
    emit_enter(p);
    call_number(p, i, f->callee[0]);
    put_lines(p, "bsr r%d\n mov #%u,r5", i, f->loops);
    emit_leave(p);
    put_lines(p, "r%d: mov.l r9,@-r15\n sts.l pr,@-r15\n tst r5,r5\n bt b_%u", i, k);
    emit_work(p, 1 + pick_below(p, 3));
    put_lines(p, "bsr r%d\n add #-1,r5\n b_%u:", i, k);
    emit_work(p, pick_below(p, 3));
    emit_leave(p);
}

static void emit_switch(struct nasty_program *p, const struct function *f, int i)
{
    unsigned k = p->nlabel++, ways = 2 + f->variant % 3;
    emit_enter(p);
    put_lines(p, "mov #%u,r9\n s_%u:", ways, k);
    put_lines(p, "mov r9,r0\n add #-1,r0");
    if (f->variant & 4) {
        put_lines(p, "shll2 r0\n mov r0,r2\n mova t_%u,r0\n mov.l @(r0,r2),r1\n jmp @r1\n nop", k);
        put_lines(p, ".align 2\n t_%u:", k);
        for (unsigned w = 0; w < ways; w++)
            put_lines(p, ".long w%u_%u", w, k);
    } else {
        put_lines(
            p, "shll r0\n mov r0,r2\n mova t_%u,r0\n mov.w @(r0,r2),r1\n braf r1\n nop\n v_%u:", k,
            k);
        put_lines(p, ".align 2\n t_%u:", k);
        for (unsigned w = 0; w < ways; w++)
            put_lines(p, ".word w%u_%u-v_%u", w, k, k);
        put_lines(p, ".align 2");
    }
    for (unsigned w = 0; w < ways; w++) {
        put_lines(p, "w%u_%u:", w, k);
        emit_work(p, 1 + pick_below(p, 2));
        if (w < 2)
            call_number(p, i, f->callee[w]);
        put_lines(p, "bra x_%u\n %s", k, pick_slot(p));
    }
    put_lines(p, "x_%u: dt r9\n bf s_%u", k, k);
    emit_leave(p);
}

static void emit_tail(struct nasty_program *p, const struct function *f, int i)
{
    char name[16];
    int to = f->callee[1] >= 0 ? f->callee[1] : f->callee[0];
    name_of(name, to);
    if (f->variant & 1) {
        emit_enter(p);
        put_body(p, &(struct function){ .callee = { f->callee[0], -1 }, .loops = 1 }, i);
        put_lines(p, "lds.l @r15+,pr\n mov.l @r15+,r9");
    } else {
        emit_work(p, 1 + pick_below(p, 4));
    }
    if (f->variant & 2 && to - i <= NEAR) {
        put_lines(p, "bra %s\n %s", name, pick_slot(p));
        return;
    }
    emit_load(p, "r1", name);
    put_lines(p, "jmp @r1\n %s", pick_slot(p));
}

/* The branch goes to the function right behind; taken or not. */
static void emit_cond_tail(struct nasty_program *p, const struct function *f, int i)
{
    static const char *const forms[] = { "bt", "bf", "bt/s", "bf/s" };
    unsigned form = f->variant % 4;
    emit_work(p, 1 + pick_below(p, 3));
    put_lines(p, "mov r8,r0\n tst #1,r0");
    put_lines(p, "%s f%d", forms[form], i + 1);
    put_lines(p, "add #1,r8");
    emit_work(p, 1 + pick_below(p, 2));
    put_lines(p, "rts\n nop");
}

static void emit_kind(struct nasty_program *p, const struct plan *plan, int i)
{
    const struct function *f = &plan->f[i];
    switch (f->kind) {
    case RECURSIVE: emit_recursion(p, f, i); break;
    case SWITCH: emit_switch(p, f, i); break;
    case TAIL: emit_tail(p, f, i); break;
    case COND_TAIL: emit_cond_tail(p, f, i); break;
    case SHARED: /* the epilogue is another's: see emit_functions() */
        emit_enter(p);
        put_body(p, f, i);
        put_lines(p, "bra epilogue_\n %s", pick_slot(p));
        break;
    case SECOND_ENTRY:
        emit_work(p, 2);
        put_lines(p, "e_f%d:", i);
        emit_work(p, 2 + pick_below(p, 3));
        put_lines(p, "rts\n nop");
        break;
    case FALL: emit_work(p, 1 + pick_below(p, 4)); break;
    case GETPC: emit_getpc(p); break;
    case TRAP:
        emit_work(p, 1 + pick_below(p, 2));
        put_lines(p, "trapa #%u", f->variant);
        emit_leaf(p, f);
        break;
    case FPU: emit_fpu(p, f->variant, f->callee[0]); break;
    case NODE:
        emit_enter(p);
        put_body(p, f, i);
        emit_leave(p);
        break;
    default: emit_leaf(p, f);
    }
}

/* ---- the plan ---- */

static bool is_on(const struct plan *plan, enum nasty_feature f) { return plan->features >> f & 1; }

static enum kind choose_kind(struct nasty_program *p, const struct plan *plan, int i)
{
    static const struct {
        enum kind kind;
        int feature;
    } special[] = {
        { SWITCH, NASTY_tables },
        { TAIL, NASTY_tails },
        { COND_TAIL, NASTY_condtails },
        { SHARED, NASTY_shared },
        { SECOND_ENTRY, NASTY_entries },
        { FALL, NASTY_fall },
        { GETPC, NASTY_getpc },
        { TRAP, NASTY_trapa },
        { FPU, NASTY_fpu },
        { TRAP, NASTY_nested },
        { TRAP, NASTY_vbr },
        { TRAP, NASTY_preempt },
    };
    if (i == plan->n - 1)
        return LEAF;
    if (pick_below(p, 2) == 0) {
        unsigned k = pick_below(p, sizeof special / sizeof special[0]);
        for (unsigned n = 0; n < sizeof special / sizeof special[0];
             n++, k = (k + 1) % (sizeof special / sizeof special[0]))
            if (is_on(plan, special[k].feature))
                return special[k].kind;
    }
    static const enum kind plain[] = { NODE, NODE, NODE, LEAF, RECURSIVE };
    return plain[pick_below(p, sizeof plain / sizeof plain[0])];
}

static int choose_callee(struct nasty_program *p, const struct plan *plan, int i, unsigned budget)
{
    int to = i + 1 + (int)pick_below(p, (unsigned)(plan->n - i - 1));
    return plan->f[to].cost <= budget ? to : -1;
}

static void plan_function(struct nasty_program *p, struct plan *plan, int i)
{
    struct function *f = &plan->f[i];
    *f = (struct function){ .kind = choose_kind(p, plan, i),
                            .callee = { -1, -1 },
                            .loops = 1 + pick_below(p, 3),
                            .variant = pick_below(p, 8),
                            .cost = 30 };
    bool last = i == plan->n - 1;
    unsigned times = f->kind == NODE || f->kind == SHARED ? f->loops : 1;
    for (unsigned c = 0; c < 2 && !last; c++) {
        f->callee[c] = choose_callee(p, plan, i, MAX_COST / (2 * times));
        f->cost += f->callee[c] >= 0 ? times * (plan->f[f->callee[c]].cost + 8) : 0;
    }
    if (f->kind == TAIL && f->callee[0] < 0 && f->callee[1] < 0)
        f->kind = LEAF;
    if (f->kind == RECURSIVE)
        f->cost += f->loops * 12;
    if (f->kind == COND_TAIL || f->kind == FALL)
        f->cost += plan->f[i + 1].cost;
}

static void emit_functions(struct nasty_program *p, const struct plan *plan)
{
    for (int i = 0; i < plan->n; i++) {
        put_lines(p, ".align 2\n f%d:", i);
        emit_kind(p, plan, i);
    }
    if (is_on(plan, NASTY_shared)) {
        put_lines(p, "owner: mov.l r9,@-r15\n sts.l pr,@-r15\n mov r8,r4\n epilogue_:");
        emit_leave(p);
    }
}

static void main_block(struct nasty_program *p, const struct plan *plan, unsigned k)
{
    char name[24];
    int to = (int)(k % (unsigned)plan->n);
    name_of(name, to);
    emit_work(p, 1 + pick_below(p, 3));
    if (plan->f[to].kind == SECOND_ENTRY && pick_below(p, 2))
        snprintf(name, sizeof name, "e_f%d", to);
    emit_call(p, name, false);
}

static void main_blocks(struct nasty_program *p, const struct plan *plan, uint32_t dropped)
{
    unsigned blocks = 3 + pick_below(p, 4);
    for (unsigned k = 0; k < blocks; k++) {
        uint64_t before = p->random;
        size_t len = p->len;
        main_block(p, plan, k == 0 ? 0 : pick_below(p, (unsigned)plan->n));
        if (dropped >> k & 1) {
            p->len = len;
            p->text[len] = 0;
        }
        /* dropping one block changes no other */
        p->random = before * 6364136223846793005u + 1442695040888963407u;
    }
}

static void emit_main(struct nasty_program *p, const struct plan *plan, uint32_t dropped,
                      unsigned rounds)
{
    put_lines(
        p, "main: mov.l m_sp,r15\n mov.l m_sr,r0\n ldc r0,sr\n bra m_go\n mov #1,r8\n .align 2\n "
           "m_sp: .long 0x0C0F0000\n m_sr: .long 0x40000000\n m_go:");
    if (has_handler(plan->features)) {
        emit_load(p, "r0", "vec_0");
        put_lines(p, "ldc r0,vbr");
        clear_data(p);
    }
    if (is_on(plan, NASTY_copied))
        copy_section(p);
    put_lines(p, "mov #0,r4");
    if (rounds > 1)
        put_lines(p, "mov #%u,r10\n m_round:", rounds); /* no function uses R10 */
    main_blocks(p, plan, dropped);
    if (rounds > 1)
        put_lines(p, "dt r10\n bt m_out\n bra m_round\n nop\n m_out:");
    uint64_t before = p->random;
    main_pieces(p, plan->features & ~(dropped >> 8));
    p->random = before;
    put_lines(p,
              "m_end: mov.l m_off,r0\n mov #1,r1\n mov.w r1,@r0\n m_x: bra m_x\n nop\n .align 2\n "
              "m_off: .long 0xA4000030");
}

void nasty_generate(struct nasty_program *p, uint64_t seed, uint32_t features, uint32_t dropped,
                    unsigned rounds)
{
    struct plan plan = { .features = features };
    memset(p, 0, sizeof *p);
    p->random = (seed + 1) * 0x9E3779B97F4A7C15u;
    plan.n = 6 + (int)pick_below(p, MAX_FUNCTIONS - 6 + 1);
    for (int i = plan.n; i-- > 0;)
        plan_function(p, &plan, i);
    emit_main(p, &plan, dropped, rounds);
    emit_functions(p, &plan);
    emit_pieces(p, features);
}
