/* calltree: one situation per test, each a short list of events and the tree it must give. Random
 * programs are in test_calltree_random.c. */
#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/core/calltree.h"
#include "tests/profiler/sink.h"

/* Rows end where the rest is zero: tables are easier to read that way. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Five functions of 0x100 bytes, two handlers; the board's stack at SP, another task's at SP2. */
/* clang-format off */
enum {
    MAIN = 0x8c010000, F = 0x8c010100, G = 0x8c010200, H = 0x8c010300, IRQ = 0x8c010600,
    EXC = 0x8c010700, UNKNOWN = 0x8c020000, SP = 0x8cff0000, SP2 = 0x8cf00000
};
/* clang-format on */

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    (void)ctx;
    if (addr < MAIN || addr >= 0x8c010800)
        return false;
    out->id = out->low = addr & ~0xFFull;
    out->high = out->low + 0x100;
    return true;
}

/* Rows of a scenario. Every event adds `cost` to C1 and one to C2 before it happens. */
struct row {
    enum event_kind kind;
    uint32_t pc, target, sp;
    int32_t cost;
    uint32_t flags;   /* beyond those that say what is there */
    uint32_t without; /* flags of what is missing */
    uint64_t amount;
    uint16_t vector;
    uint32_t context;
};

struct run {
    struct calltree *t;
    uint64_t c1, c2;
};

static void feed_rows(struct run *r, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct row *w = &rows[i];
        r->c1 += (uint64_t)(int64_t)w->cost;
        r->c2 += 1;
        struct event e = { .kind = (uint8_t)w->kind,
                           .pc = w->pc,
                           .target = w->target,
                           .sp = w->sp,
                           .c1 = r->c1,
                           .c2 = r->c2,
                           .amount = w->amount,
                           .vector = w->vector,
                           .context = w->context,
                           .time_cycles = 2 * r->c1 };
        e.flags = (EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2 | EVENT_HAS_SP |
                   EVENT_HAS_TIME | w->flags) &
                  ~w->without;
        calltree_feed(r->t, &e, 1);
    }
}

/* "MAIN>F>G hits c1" for every node that counted anything, in order of creation; '!' in front of a
 * handler,
 * '?' behind what is doubtful. */
static void name_of(const struct calltree_node *n, char *buf, size_t cap)
{
    static const struct {
        uint64_t addr;
        const char *name;
    } names[] = {
        { MAIN, "MAIN" },      { F, "F" }, { G, "G" }, { H, "H" }, { IRQ, "IRQ" }, { EXC, "EXC" },
        { UNKNOWN, "UNKNOWN" }
    };
    snprintf(buf, cap, "%s%llx", "", (unsigned long long)n->addr);
    if (n->kind == CALLTREE_LOST)
        snprintf(buf, cap, "LOST");
    if (n->kind == CALLTREE_OTHER)
        snprintf(buf, cap, "OTHER");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (n->addr == names[i].addr)
            snprintf(buf, cap, "%s%s",
                     n->kind == CALLTREE_FUNCTION ? ""
                     : n->kind == CALLTREE_SAMPLE ? "~"
                                                  : "!",
                     names[i].name);
}

static void path_of(const struct calltree_node *nodes, uint32_t i, char *buf, size_t cap)
{
    char front[300] = "", name[40];
    if (nodes[i].parent != CALLTREE_NONE) {
        path_of(nodes, nodes[i].parent, front, sizeof front - 1);
        strcat(front, ">");
    }
    name_of(&nodes[i], name, sizeof name);
    snprintf(buf, cap, "%s%s", front, name);
}

static const char *text_of(const struct calltree *t, char *buf, size_t cap)
{
    size_t n, at = 0;
    const struct calltree_node *nodes = calltree_nodes(t, &n);
    buf[0] = '\0';
    for (uint32_t i = 0; i < n; i++) {
        char path[400];
        path_of(nodes, i, path, sizeof path);
        if (nodes[i].hits || nodes[i].c1)
            at += (size_t)snprintf(buf + at, cap - at, "%s %llu %llu%s\n", path,
                                   (unsigned long long)nodes[i].hits,
                                   (unsigned long long)nodes[i].c1, nodes[i].doubtful ? "?" : "");
    }
    return buf;
}

/* clang-format off */
#define START_MAIN { EVENT_START, MAIN + 8, 0, SP, 0 }
/* clang-format on */
/* As S12Z has them: no stack pointer, and no place of the interrupted code. */
#define NO_SP    0, EVENT_HAS_SP
#define NO_PLACE 0, EVENT_HAS_SP | EVENT_HAS_PC
/* clang-format off */
#define STOP_AT(pc_, sp_) { EVENT_STOP, pc_, 0, sp_, 1 }
/* clang-format on */

struct scenario {
    const char *name;
    const char *tree;
    struct row rows[18];
};

static const struct scenario scenarios[] = {
    { "call and return",
      "MAIN 1 61\nMAIN>F 2 15\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 10 },
        { EVENT_RETURN, F + 8, MAIN + 20, SP, 5 },
        { EVENT_CALL, MAIN + 24, F, SP, 20 },
        { EVENT_RETURN, F + 8, MAIN + 28, SP - 4, 10 },
        { EVENT_STOP, MAIN + 40, 0, SP, 31 } } },
    { "each call path by itself",
      "MAIN 1 4\nMAIN>F 1 2\nMAIN>F>H 1 10\nMAIN>G 1 2\nMAIN>G>H 1 20\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_CALL, F + 8, H, SP - 8, 1 },
        { EVENT_RETURN, H + 8, F + 12, SP - 8, 10 },
        { EVENT_RETURN, F + 20, MAIN + 20, SP, 1 },
        { EVENT_CALL, MAIN + 24, G, SP, 2 },
        { EVENT_CALL, G + 8, H, SP - 8, 1 },
        { EVENT_RETURN, H + 8, G + 12, SP - 8, 20 },
        { EVENT_RETURN, G + 20, MAIN + 28, SP, 1 },
        STOP_AT(MAIN + 40, SP) } },
    { "recursion",
      "MAIN 1 2\nMAIN>F 1 3\nMAIN>F>F 1 3\nMAIN>F>F>F 1 7\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_CALL, F + 8, F, SP - 8, 1 },
        { EVENT_CALL, F + 8, F, SP - 16, 1 },
        { EVENT_RETURN, F + 20, F + 12, SP - 16, 7 },
        { EVENT_RETURN, F + 20, F + 12, SP - 8, 2 },
        { EVENT_RETURN, F + 20, MAIN + 20, SP, 2 },
        STOP_AT(MAIN + 24, SP) } },
    { "tail call",
      "MAIN 1 2\nMAIN>F 1 2\nMAIN>F>G 1 9\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_JUMP, F + 8, G, SP, 2 },
        { EVENT_RETURN, G + 8, MAIN + 20, SP, 9 },
        STOP_AT(MAIN + 24, SP) } },
    { "tail calls in a circle do not grow",
      "MAIN 1 2\nMAIN>F 2 5\nMAIN>F>G 2 14\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_JUMP, F + 8, G, SP, 2 },
        { EVENT_JUMP, G + 8, F, SP, 4 },
        { EVENT_JUMP, F + 8, G, SP, 3 },
        { EVENT_RETURN, G + 8, MAIN + 20, SP, 10 },
        STOP_AT(MAIN + 24, SP) } },
    { "a jump inside a function is none",
      "MAIN 1 2\nMAIN>F 1 6\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_JUMP, F + 8, F + 0x40, SP - 8, 2 },
        { EVENT_RETURN, F + 0x50, MAIN + 20, SP, 4 },
        STOP_AT(MAIN + 24, SP) } },
    { "a call into its own middle is none",
      "MAIN 1 2\nMAIN>F 1 7\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_CALL, F + 8, F + 0x40, SP - 8, 2 },
        { EVENT_RETURN, F + 0x50, F + 12, SP - 8, 1 },
        { EVENT_RETURN, F + 0x50, MAIN + 20, SP, 4 },
        STOP_AT(MAIN + 24, SP) } },
    { "longjmp over two frames",
      "MAIN 1 2\nMAIN>F 1 1\nMAIN>F>G 1 1\nMAIN>F>G>H 1 8\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_CALL, F + 8, G, SP - 8, 1 },
        { EVENT_CALL, G + 8, H, SP - 16, 1 },
        { EVENT_RETURN, H + 8, MAIN + 60, SP, 8 },
        STOP_AT(MAIN + 64, SP) } },
    { "returns without an event close as well",
      "MAIN 1 2\nMAIN>F 1 1\nMAIN>F>G 1 1\nMAIN>F>G>H 1 8\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_CALL, F + 8, G, SP - 8, 1 },
        { EVENT_CALL, G + 8, H, SP - 16, 1 },
        { EVENT_RETURN, F + 20, MAIN + 20, SP, 8, 0, EVENT_HAS_PC },
        STOP_AT(MAIN + 64, SP) } },
    { "began in a leaf: callers become roots",
      "G 1 3\nF 0 5\nMAIN 0 9\nMAIN>H 1 2\n",
      { { EVENT_START, G + 8, 0, SP - 16, 0 },
        { EVENT_RETURN, G + 12, F + 12, SP - 16, 3 },
        { EVENT_RETURN, F + 20, MAIN + 20, SP - 8, 5 },
        { EVENT_CALL, MAIN + 24, H, SP, 8 },
        { EVENT_RETURN, H + 8, MAIN + 28, SP, 2 },
        STOP_AT(MAIN + 64, SP) } },
    { "interrupt is a root over its victim",
      "MAIN 1 2\nMAIN>F 1 9\n!IRQ 1 4\n!IRQ>H 1 3\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_INTERRUPT, F + 2, IRQ, SP - 8, 4, 0, 0, 0, 0x400 },
        { EVENT_CALL, IRQ + 8, H, SP - 32, 1 },
        { EVENT_RETURN, H + 8, IRQ + 12, SP - 32, 3 },
        { EVENT_RTE, IRQ + 40, F + 2, SP - 8, 3 },
        { EVENT_RETURN, F + 8, MAIN + 20, SP, 5 },
        STOP_AT(MAIN + 24, SP) } },
    { "interrupt in an exception handler",
      "MAIN 2 5\n!EXC 1 5\n!IRQ 1 7\n",
      { START_MAIN,
        { EVENT_EXCEPTION, MAIN + 30, EXC, SP, 1, 0, 0, 0, 0x160 },
        { EVENT_INTERRUPT, EXC + 4, IRQ, SP - 8, 2 },
        { EVENT_RTE, IRQ + 8, EXC + 4, SP - 8, 7 },
        { EVENT_RTE, EXC + 8, MAIN + 32, SP, 3 },
        STOP_AT(MAIN + 24, SP),
        START_MAIN,
        { EVENT_STOP, MAIN + 40, 0, SP, 3 } } },
    { "handler with its own stack",
      "MAIN 1 3\n!IRQ 1 9\n",
      { START_MAIN,
        { EVENT_INTERRUPT, MAIN + 30, IRQ, SP, 2 },
        { EVENT_RTE, IRQ + 8, MAIN + 30, 0x8cc00100, 9 },
        STOP_AT(MAIN + 24, SP) } },
    { "an RTE nobody will report",
      "MAIN 1 9?\n!IRQ 1 6?\nMAIN>F 1 3\n",
      { START_MAIN,
        { EVENT_INTERRUPT, MAIN + 30, IRQ, SP, 2, EVENT_UNTRACED_RTE },
        { EVENT_CALL, MAIN + 40, F, SP, 6 },
        { EVENT_RETURN, F + 8, MAIN + 44, SP, 3 },
        { EVENT_STOP, MAIN + 50, 0, SP, 7 } } },
    { "tasks by stack pointer",
      "MAIN 2 4\nMAIN>H 2 6\nG 1 7\nG>H 1 2\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, H, SP, 1 }, /* H is the one that switches */
        { EVENT_RETURN, H + 8, G, SP2, 2 },  /* G begins on another stack */
        /* back in the first */
        { EVENT_CALL, G + 16, H, SP2 - 8, 3 },
        { EVENT_RETURN, H + 8, MAIN + 20, SP, 2 },
        { EVENT_CALL, MAIN + 16, H, SP, 2 },
        { EVENT_RETURN, H + 8, G + 20, SP2 - 8, 4 },
        { EVENT_STOP, G + 30, 0, SP2 - 8, 4 },
        START_MAIN,
        STOP_AT(MAIN + 20, SP) } },
    { "a task first seen by a return without a target",
      "MAIN 1 1\nMAIN>H 1 2\nG 1 7?\nG>H 1 2\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, H, SP, 1 },
        { EVENT_RETURN, H + 8, 0, SP2, 2, 0, EVENT_HAS_TARGET },
        { EVENT_CALL, G + 16, H, SP2 - 8, 3 },
        { EVENT_RETURN, H + 8, G + 20, SP2 - 8, 2 },
        { EVENT_STOP, G + 30, 0, SP2 - 8, 4 } } },
    /* No event told of either switch: what ran before an event in another context is that
       context's. */
    { "tasks by context",
      "MAIN 1 6?\nG 1 10?\nG>H 1 3\n",
      { START_MAIN,
        { EVENT_CALL, G + 16, H, SP, 10, 0, 0, 0, 0, 7 },
        { EVENT_RETURN, H + 8, G + 20, SP, 3, 0, 0, 0, 0, 7 },
        { EVENT_JUMP, MAIN + 20, MAIN + 30, SP, 5 },
        STOP_AT(MAIN + 40, SP) } },
    { "preempted by RTE to another task",
      "MAIN 1 8\n!IRQ 2 5\nG 1 4\n",
      { START_MAIN,
        { EVENT_INTERRUPT, MAIN + 30, IRQ, SP, 1 },
        { EVENT_RTE, IRQ + 20, G, SP2, 2 },
        { EVENT_INTERRUPT, G + 30, IRQ, SP2 - 8, 4 },
        { EVENT_RTE, IRQ + 20, MAIN + 30, SP, 3 },
        { EVENT_STOP, MAIN + 34, 0, SP, 7 } } },
    { "lost events",
      "MAIN 1 11?\nMAIN>F 1 2?\nLOST 0 50?\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_LOST, 0, 0, 0, 2, 0, 0, 30 },
        { EVENT_JUMP, MAIN + 60, MAIN + 64, SP, 50 },
        { EVENT_STOP, MAIN + 70, 0, SP, 10 } } },
    { "lost events, elsewhere afterwards",
      "MAIN 1 1\nMAIN>F 1 2?\nLOST 0 50?\nG 0 3?\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_LOST, 0, 0, 0, 2, 0, 0, 30 },
        { EVENT_JUMP, G + 60, G + 64, SP - 64, 50 },
        { EVENT_STOP, G + 70, 0, SP - 64, 3 } } },
    { "doubt marks both sides",
      "MAIN 1 2?\nMAIN>F 1 5?\nMAIN>F>G 1 1\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1, EVENT_DOUBTFUL },
        { EVENT_CALL, F + 8, G, SP - 8, 2 },
        { EVENT_RETURN, G + 8, F + 12, SP - 8, 1 },
        { EVENT_RETURN, F + 8, MAIN + 20, SP, 3 },
        STOP_AT(MAIN + 24, SP) } },
    { "entered without an event",
      "MAIN 1 1\nMAIN>F 1 7?\nMAIN>F>G 1 4?\nMAIN>F>G>H 1 2\n",
      /* F went to G by BRA */
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_CALL, G + 8, H, SP - 16, 7 },
        { EVENT_RETURN, H + 8, G + 12, SP - 16, 2 },
        { EVENT_RETURN, G + 20, MAIN + 20, SP, 4 },
        { EVENT_STOP, MAIN + 24, 0, SP, 0 } } },
    { "second start point hit while active",
      "MAIN 1 3\n",
      { START_MAIN, { EVENT_START, MAIN + 8, 0, SP, 2 }, STOP_AT(MAIN + 24, SP) } },
    { "nothing between stop and start",
      "MAIN 2 7\n",
      { START_MAIN,
        { EVENT_STOP, MAIN + 24, 0, SP, 3 },
        { EVENT_CALL, MAIN + 28, F, SP, 100 },
        { EVENT_START, MAIN + 8, 0, SP, 900 },
        { EVENT_STOP, MAIN + 24, 0, SP, 4 } } },
    { "start without a place",
      "F 1 9\nF>G 1 2\n",
      { { EVENT_START, 0, 0, SP, 0, 0, EVENT_HAS_PC },
        { EVENT_CALL, F + 8, G, SP, 7 },
        { EVENT_RETURN, G + 8, F + 12, SP, 2 },
        { EVENT_STOP, F + 24, 0, SP, 2 } } },
    { "no stack pointers",
      "MAIN 1 2\nMAIN>F 1 4\nMAIN>F>G 1 3\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, 0, 1, 0, EVENT_HAS_SP },
        { EVENT_CALL, F + 8, G, 0, 2, 0, EVENT_HAS_SP },
        { EVENT_RETURN, G + 8, F + 12, 0, 3, 0, EVENT_HAS_SP },
        { EVENT_RETURN, F + 8, MAIN + 20, 0, 2, 0, EVENT_HAS_SP },
        STOP_AT(MAIN + 24, SP) } },
    { "no targets of returns",
      "MAIN 1 2\nMAIN>F 1 4\nMAIN>F>G 1 3\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_CALL, F + 8, G, SP - 8, 2 },
        { EVENT_RETURN, G + 8, 0, SP - 8, 3, 0, EVENT_HAS_TARGET },
        { EVENT_RETURN, F + 8, 0, SP, 2, 0, EVENT_HAS_TARGET },
        STOP_AT(MAIN + 24, SP) } },
    { "began in a leaf, nobody knows where returns go",
      "G 1 3\nF 0 5\nMAIN 0 9\nMAIN>H 1 2\n",
      { { EVENT_START, G + 8, 0, SP - 16, 0 },
        { EVENT_RETURN, G + 12, 0, SP - 16, 3, 0, EVENT_HAS_TARGET },
        { EVENT_RETURN, F + 20, 0, SP - 8, 5, 0, EVENT_HAS_TARGET },
        { EVENT_TIMESTAMP, 0, 0, 0, 4 },
        { EVENT_CALL, MAIN + 24, H, SP, 4 },
        { EVENT_RETURN, H + 8, 0, SP, 2, 0, EVENT_HAS_TARGET },
        STOP_AT(MAIN + 64, SP) } },
    { "longjmp by stack pointer alone",
      "MAIN 1 2\nMAIN>F 1 1\nMAIN>F>G 1 1\nMAIN>F>G>H 1 8\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_CALL, F + 8, G, SP - 16, 1 },
        { EVENT_CALL, G + 8, H, SP - 32, 1 },
        { EVENT_RETURN, H + 8, 0, SP, 8, 0, EVENT_HAS_TARGET },
        STOP_AT(MAIN + 64, SP) } },
    { "an untraced call returns",
      "MAIN 1 2\nMAIN>F 1 5?\nMAIN>F>G 1 4?\nMAIN>F>H 1 1\n",
      /* F called G, unseen */
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_JUMP, G + 8, G + 16, SP - 400, 2 },
        { EVENT_RETURN, G + 20, 0, SP - 400, 4, 0, EVENT_HAS_TARGET },
        { EVENT_CALL, F + 30, H, SP - 404, 2 },
        { EVENT_RETURN, H + 8, F + 34, SP - 404, 1 },
        { EVENT_RETURN, F + 60, MAIN + 20, SP, 1 },
        STOP_AT(MAIN + 24, SP) } },
    { "tasks by interrupts, without stack pointers",
      "MAIN 1 9\nMAIN>F 1 9\n!IRQ 3 18\nH 1 5\nH>G 1 15\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, 0, 1, NO_SP },
        { EVENT_INTERRUPT, 0, IRQ, 0, 2, NO_PLACE },
        { EVENT_RTE, IRQ + 8, H, 0, 3, NO_SP },
        { EVENT_CALL, H + 8, G, 0, 4, NO_SP },
        { EVENT_INTERRUPT, 0, IRQ, 0, 5, NO_PLACE },
        { EVENT_RTE, IRQ + 8, F + 0x20, 0, 6, NO_SP },
        { EVENT_RETURN, F + 0x80, MAIN + 20, 0, 7, NO_SP },
        { EVENT_INTERRUPT, 0, IRQ, 0, 8, NO_PLACE },
        { EVENT_RTE, IRQ + 8, G + 0x40, 0, 9, NO_SP },
        { EVENT_RETURN, G + 0x50, H + 12, 0, 10, NO_SP },
        { EVENT_STOP, H + 16, 0, 0, 1, NO_SP } } },
    { "tasks that wait at the same place: the return tells which went on",
      "MAIN 1 2\nMAIN>G 1 1\n!EXC 4 4\nF 1 5\nF>G 2 3\nH 1 4\nH>G 1 17\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, G, 0, 1, NO_SP },
        { EVENT_EXCEPTION, G + 8, EXC, 0, 1, NO_SP },
        { EVENT_RTE, EXC + 8, F, 0, 1, NO_SP },
        { EVENT_CALL, F + 16, G, 0, 2, NO_SP },
        { EVENT_EXCEPTION, G + 8, EXC, 0, 1, NO_SP },
        { EVENT_RTE, EXC + 8, H, 0, 1, NO_SP },
        { EVENT_CALL, H + 16, G, 0, 4, NO_SP },
        { EVENT_EXCEPTION, G + 8, EXC, 0, 1, NO_SP },
        { EVENT_RTE, EXC + 8, G + 9, 0, 1, NO_SP },
        { EVENT_RETURN, G + 12, F + 20, 0, 16, NO_SP },
        { EVENT_CALL, F + 24, G, 0, 3, NO_SP },
        { EVENT_EXCEPTION, G + 8, EXC, 0, 1, NO_SP },
        { EVENT_RTE, EXC + 8, G + 9, 0, 1, NO_SP },
        { EVENT_RETURN, G + 12, MAIN + 20, 0, 1, NO_SP },
        { EVENT_STOP, MAIN + 24, 0, 0, 1, NO_SP } } },
    { "tasks by returns, without stack pointers",
      "MAIN 1 2\nMAIN>F 1 2\nH 1 1\nH>G 1 5\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, 0, 1, NO_SP },
        { EVENT_RETURN, F + 8, H, 0, 2, NO_SP },
        { EVENT_CALL, H + 8, G, 0, 1, NO_SP },
        { EVENT_RETURN, G + 8, MAIN + 20, 0, 5, NO_SP },
        { EVENT_STOP, MAIN + 24, 0, 0, 1, NO_SP } } },
    { "a software interrupt ends behind itself, without stack pointers",
      "MAIN 1 2\n!EXC 1 3\n",
      { START_MAIN,
        { EVENT_EXCEPTION, MAIN + 16, EXC, 0, 1, NO_SP },
        { EVENT_RTE, EXC + 8, MAIN + 17, 0, 3, NO_SP },
        { EVENT_STOP, MAIN + 24, 0, 0, 1, NO_SP } } },
    { "code without symbols",
      "MAIN 1 2\nMAIN>UNKNOWN 2 7\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, UNKNOWN, SP, 1 },
        { EVENT_JUMP, UNKNOWN + 4, UNKNOWN + 40, SP, 1 },
        { EVENT_RETURN, UNKNOWN + 48, MAIN + 20, SP, 4 },
        { EVENT_CALL, MAIN + 16, UNKNOWN, SP, 0 },
        { EVENT_RETURN, UNKNOWN + 48, MAIN + 20, SP, 2 },
        STOP_AT(MAIN + 24, SP) } },
    { "samples",
      "MAIN 1 7\n~G 2 0\n~F 1 0\n",
      { START_MAIN,
        { EVENT_SAMPLE, G + 8, 0, SP, 1 },
        { EVENT_SAMPLE, F + 8, 0, SP, 2 },
        { EVENT_SAMPLE, G + 20, 0, SP, 3 },
        STOP_AT(MAIN + 24, SP) } },
    { "a counter that goes back",
      "MAIN 1 1?\nMAIN>F 1 5\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1 },
        { EVENT_RETURN, F + 8, MAIN + 20, SP, 5 },
        { EVENT_TIMESTAMP, 0, 0, 0, -3 },
        { EVENT_STOP, MAIN + 24, 0, SP, 0 } } },
};

/* Nobody knows the functions. The root has the name of the place where the profile began, or a task
 * was found. */
#define EXACT EVENT_SP_EXACT
static const struct scenario nameless[] = {
    { "a call to the next instruction is none",
      "8c010008 1 2\n8c010008>F 1 8\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1, EXACT },
        { EVENT_CALL, F + 4, F + 8, SP, 3, EXACT },
        { EVENT_RETURN, F + 20, MAIN + 20, SP, 5, EXACT },
        STOP_AT(MAIN + 24, SP) } },
    { "a call where nothing was pushed is the caller's, if nearer to it",
      "8c010008 1 2?\n8c010008>F 1 4?\n8c010008>G 1 2\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1, EXACT },
        { EVENT_CALL, MAIN + 24, G, SP, 4, EXACT },
        { EVENT_RETURN, G + 8, MAIN + 28, SP, 2, EXACT },
        STOP_AT(MAIN + 32, SP) } },
    { "a call where nothing was pushed by what keeps its return address elsewhere is doubtful",
      "8c010008 1 2\n8c010008>F 1 6?\n8c010008>F>G 1 4\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1, EXACT },
        { EVENT_CALL, F + 16, G, SP, 3, EXACT },
        { EVENT_RETURN, G + 8, F + 20, SP, 4, EXACT },
        { EVENT_RETURN, F + 24, MAIN + 20, SP, 3, EXACT },
        STOP_AT(MAIN + 32, SP) } },
    { "a handler goes on with a task never seen, then with the first one",
      "8c010008 1 6?\n8c010008>F 2 4\n!EXC 2 16?\n8c010210 0 2?\n8c010210>H 1 3\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 12, F, SP, 2, EXACT },
        { EVENT_RETURN, F + 8, MAIN + 16, SP, 0, EXACT },
        { EVENT_EXCEPTION, MAIN + 20, EXC, SP, 3, EXACT },
        { EVENT_CALL, G + 16, H, SP2, 7, EXACT },
        { EVENT_RETURN, H + 8, G + 20, SP2, 3, EXACT },
        { EVENT_EXCEPTION, G + 24, EXC, SP2, 2, EXACT },
        { EVENT_CALL, MAIN + 40, F, SP, 9, EXACT },
        { EVENT_RETURN, F + 8, MAIN + 44, SP, 4, EXACT },
        STOP_AT(MAIN + 48, SP) } },
    { "another task is where a handler would go back to: its own has ended",
      "8c010008 1 7\n!EXC 2 10?\n8c010008>F 1 2\n",
      { START_MAIN,
        { EVENT_EXCEPTION, MAIN + 20, EXC, SP, 5, EXACT },
        { EVENT_EXCEPTION, MAIN + 20, EXC, SP2, 7, EXACT },
        { EVENT_TIMESTAMP, MAIN + 20, 0, SP, 3, EXACT, EVENT_HAS_TARGET },
        { EVENT_CALL, MAIN + 24, F, SP, 1, EXACT },
        { EVENT_RETURN, F + 8, MAIN + 28, SP, 2, EXACT },
        STOP_AT(MAIN + 32, SP) } },
    { "handlers within each other that ended unseen",
      "8c010008 1 6?\n!EXC 2 11?\n8c010008>F 1 4\n",
      { START_MAIN,
        { EVENT_EXCEPTION, MAIN + 20, EXC, SP, 5, EXACT },
        { EVENT_EXCEPTION, EXC + 20, EXC, SP - 40, 7, EXACT },
        { EVENT_CALL, MAIN + 40, F, SP, 4, EXACT },
        { EVENT_RETURN, F + 8, MAIN + 44, SP, 4, EXACT },
        STOP_AT(MAIN + 48, SP) } },
    { "a function that returns behind its handler's unseen end is doubtful",
      "8c010008 1 2\n8c010008>F 1 3?\n!EXC 1 7?\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1, EXACT },
        { EVENT_EXCEPTION, F + 8, EXC, SP, 3, EXACT },
        { EVENT_RETURN, F + 24, MAIN + 20, SP, 7, EXACT },
        STOP_AT(MAIN + 48, SP) } },
    { "a return to nobody known, among what stands on the stack",
      "8c010008 1 2?\n8c010008>G 1 4?\n8c010008>G>H 2 2?\n8c010008>G>H>G 1 3?\n8c01010c 1 4?\n",
      { START_MAIN,
        { EVENT_CALL, MAIN + 16, G, SP, 1, EXACT },
        { EVENT_CALL, G + 8, H, SP - 16, 2, EXACT },
        { EVENT_RETURN, H + 8, G + 12, SP - 16, 1, EXACT },
        { EVENT_CALL, G + 16, H, SP - 16, 2, EXACT },
        { EVENT_CALL, H + 16, G, SP - 24, 1, EXACT | EVENT_BLIND },
        { EVENT_RETURN, G + 40, F + 12, SP - 20, 3, EXACT },
        { EVENT_RETURN, F + 20, MAIN + 20, SP, 4, EXACT },
        STOP_AT(MAIN + 48, SP) } },
    { "a handler with a stack of its own",
      "8c010008 1 6\n!EXC 1 6?\n!EXC>H 1 3\n",
      { START_MAIN,
        { EVENT_EXCEPTION, MAIN + 20, EXC, SP, 5, EXACT },
        { EVENT_CALL, EXC + 16, H, SP2, 2, EXACT },
        { EVENT_RETURN, H + 8, EXC + 20, SP2, 3, EXACT },
        { EVENT_RTE, 0, MAIN + 20, SP, 4, EXACT, EVENT_HAS_PC },
        STOP_AT(MAIN + 48, SP) } },
    { "a handler that calls on the stack it came on",
      "8c010008 1 6\n!EXC 1 6\n!EXC>H 1 3\n",
      { START_MAIN,
        { EVENT_EXCEPTION, MAIN + 20, EXC, SP, 5, EXACT },
        { EVENT_CALL, EXC + 16, H, SP - 40, 2, EXACT },
        { EVENT_RETURN, H + 8, EXC + 20, SP - 40, 3, EXACT },
        { EVENT_RTE, 0, MAIN + 20, SP, 4, EXACT, EVENT_HAS_PC },
        STOP_AT(MAIN + 48, SP) } },
};

static void expect_trees(const struct scenario *s, size_t n, calltree_resolve *known)
{
    for (size_t i = 0; i < n; i++) {
        struct run r = { 0 };
        char text[2000];
        size_t rows = 0;
        print_message("  %s\n", s[i].name);
        while (rows < ARRAY_LEN(s[i].rows) && s[i].rows[rows].kind != EVENT_NONE)
            rows++;
        r.c1 = 1000; /* counters do not begin at zero */
        assert_int_equal(calltree_new(&(struct calltree_config){ .resolve = known }, &r.t, NULL),
                         0);
        feed_rows(&r, s[i].rows, rows);
        assert_string_equal(text_of(r.t, text, sizeof text), s[i].tree);
        assert_false(calltree_active(r.t));
        calltree_free(r.t);
    }
}

static void calltree__scenarios__give_their_trees(void **state)
{
    (void)state;
    expect_trees(scenarios, ARRAY_LEN(scenarios), resolve_function);
}

static void calltree__scenarios_without_symbols__give_their_trees(void **state)
{
    (void)state;
    expect_trees(nameless, ARRAY_LEN(nameless), NULL);
}

static void calltree__stats__count_what_was_met(void **state)
{
    static const struct row rows[] = { { EVENT_CALL, MAIN, F, SP, 1 }, /* before the start */
                                       START_MAIN,
                                       { EVENT_CALL, MAIN + 16, F, SP, 1 },
                                       { EVENT_JUMP, F + 8, G, SP, 2 },
                                       { EVENT_CALL, G + 8, H, SP - 8, 1 },
                                       { EVENT_RETURN, H + 8, MAIN + 60, SP - 4, 8 }, /* longjmp */
                                       { EVENT_LOST, 0, 0, 0, 0, EVENT_AMOUNT_BOUND, 0, 12 },
                                       { EVENT_CALL, MAIN + 64, F, SP, 40 },
                                       STOP_AT(F + 4, SP - 8) };
    struct run r = { 0 };
    (void)state;
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = resolve_function }, &r.t, NULL), 0);
    feed_rows(&r, rows, ARRAY_LEN(rows));
    const struct calltree_stats *s = calltree_stats(r.t);
    assert_int_equal(s->events, 9);
    assert_int_equal(s->inactive, 1);
    assert_int_equal(s->lost, 12);
    assert_true(s->lost_is_bound);
    assert_int_equal(s->gaps, 1);
    assert_int_equal(s->gap_c1, 40);
    assert_int_equal(s->starts, 1);
    assert_int_equal(s->stops, 1);
    assert_int_equal(s->tail_calls, 1);
    assert_int_equal(s->unwinds, 1);
    assert_int_equal(s->orphan_returns, 1);
    assert_int_equal(s->total_c1, 53);
    assert_int_equal(s->active_cycles, 106);
    calltree_free(r.t);
}

/* As an S12Z trace tells it: no stack pointers, the interrupted place unknown, an RTI that says
 * nothing where the code goes on. */
static void calltree__handlers_without_places__nest_and_have_longest_and_shortest(void **state)
{
    enum { BARE = EVENT_HAS_SP | EVENT_HAS_PC, IRQ2 = IRQ + 0x100 };
    static const struct row rows[] = {
        { EVENT_START, MAIN, 0, 0, 0, 0, EVENT_HAS_SP },
        { EVENT_CALL, MAIN + 16, F, 0, 5, 0, EVENT_HAS_SP },
        { EVENT_INTERRUPT, 0, IRQ, 0, 7, 0, BARE, 0, 12 },
        { EVENT_RTE, IRQ + 8, 0, 0, 30, 0, EVENT_HAS_SP | EVENT_HAS_TARGET },
        { EVENT_INTERRUPT, 0, IRQ, 0, 1, 0, BARE, 0, 12 },
        { EVENT_CALL, IRQ + 4, G, 0, 10, 0, EVENT_HAS_SP },
        { EVENT_INTERRUPT, 0, IRQ2, 0, 2, 0, BARE, 0, 13 },
        { EVENT_RTE, IRQ2 + 8, 0, 0, 100, 0, EVENT_HAS_SP | EVENT_HAS_TARGET },
        { EVENT_RETURN, G + 8, IRQ + 8, 0, 3, 0, EVENT_HAS_SP },
        { EVENT_RTE, IRQ + 8, 0, 0, 4, 0, EVENT_HAS_SP | EVENT_HAS_TARGET },
        { EVENT_RETURN, F + 8, MAIN + 20, 0, 6, 0, EVENT_HAS_SP },
        { EVENT_STOP, MAIN + 24, 0, 0, 2, 0, EVENT_HAS_SP }
    };
    struct run r = { 0 };
    size_t n, seen = 0;
    (void)state;
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = resolve_function }, &r.t, NULL), 0);
    feed_rows(&r, rows, ARRAY_LEN(rows));
    const struct calltree_node *nodes = calltree_nodes(r.t, &n);
    for (size_t i = 0; i < n; i++) {
        bool outer = nodes[i].kind == CALLTREE_INTERRUPT && nodes[i].addr == IRQ,
             inner = nodes[i].kind == CALLTREE_INTERRUPT && !outer;
        seen += outer || inner;
        if (!outer && !inner)
            continue;
        assert_int_equal(nodes[i].parent, CALLTREE_NONE);
        assert_int_equal(nodes[i].hits, outer ? 2 : 1);
        assert_int_equal(nodes[i].longest, outer ? 119 : 100);
        assert_int_equal(nodes[i].shortest, outer ? 30 : 100);
        assert_int_equal(nodes[i].c1, outer ? 44 : 100);
    }
    assert_int_equal(seen, 2);
    assert_int_equal(calltree_stats(r.t)->nesting, 2);
    assert_int_equal(calltree_stats(r.t)->orphan_returns, 0);
    calltree_free(r.t);
}

static void calltree__place_after_a_gap__time_goes_to_it_not_to_the_gap(void **state)
{
    static const struct row rows[] = { START_MAIN,
                                       { EVENT_CALL, MAIN + 16, F, SP, 1 },
                                       { EVENT_LOST, 0, 0, 0, 2, EVENT_AMOUNT_BOUND, 0, 12 },
                                       { EVENT_TIMESTAMP, G + 4, 0, 0, 50, 0, EVENT_HAS_SP },
                                       { EVENT_CALL, G + 8, H, SP, 7 },
                                       STOP_AT(H + 4, SP - 8) };
    struct run r = { 0 };
    char text[400];
    (void)state;
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = resolve_function }, &r.t, NULL), 0);
    feed_rows(&r, rows, ARRAY_LEN(rows));
    assert_int_equal(calltree_stats(r.t)->gap_c1, 50);
    text_of(r.t, text, sizeof text);
    assert_non_null(strstr(text, "LOST 0 50"));
    assert_non_null(strstr(text, "G 0 7"));
    calltree_free(r.t);
}

static void calltree__too_many_paths__go_to_one_node_and_are_counted(void **state)
{
    struct run r = { 0 };
    char text[400];
    (void)state;
    const struct row begin = START_MAIN;
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = NULL, .max_nodes = 3 }, &r.t, NULL), 0);
    feed_rows(&r, &begin, 1);
    for (uint32_t i = 0; i < 100; i++) {
        const struct row pair[] = { { EVENT_CALL, MAIN + 16, F + 0x100 * (i % 10), SP, 1 },
                                    { EVENT_RETURN, F + 8, MAIN + 20, SP, 2 } };
        feed_rows(&r, pair, 2);
    }
    assert_string_equal(text_of(r.t, text, sizeof text),
                        "8c010008 1 100\n8c010008>F 10 20\n8c010008>G 10 20\nOTHER 80 160?\n");
    assert_int_equal(calltree_stats(r.t)->node_overflow, 80);
    calltree_free(r.t);
}

static void calltree__too_deep__charged_to_the_deepest_and_found_back(void **state)
{
    struct run r = { 0 };
    (void)state;
    const struct row begin = START_MAIN;
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = resolve_function, .max_depth = 5 }, &r.t,
                     NULL),
        0);
    feed_rows(&r, &begin, 1);
    for (uint32_t i = 0; i < 20; i++) {
        const struct row call = { EVENT_CALL, i ? F + 8 : MAIN + 16, F, SP - 8 * i, 1 };
        feed_rows(&r, &call, 1);
    }
    for (uint32_t i = 20; i-- > 0;) {
        const struct row back = { EVENT_RETURN, F + 20, i ? F + 12 : MAIN + 20, SP - 8 * i, 1 };
        feed_rows(&r, &back, 1);
    }
    size_t n;
    const struct calltree_node *nodes = calltree_nodes(r.t, &n);
    assert_int_equal(calltree_stats(r.t)->depth_overflow, 16);
    assert_int_equal(calltree_current(r.t), 0); /* MAIN again */
    assert_int_equal(nodes[0].addr, MAIN);
    assert_int_equal(calltree_stats(r.t)->total_c1, 40);
    calltree_free(r.t);
}

static void calltree__clear__keeps_its_place(void **state)
{
    static const struct row first[] = { START_MAIN, { EVENT_CALL, MAIN + 16, F, SP, 1 } };
    static const struct row second[] = { { EVENT_RETURN, F + 8, MAIN + 20, SP, 5 },
                                         STOP_AT(MAIN + 24, SP) };
    struct run r = { 0 };
    char text[400];
    (void)state;
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = resolve_function }, &r.t, NULL), 0);
    feed_rows(&r, first, 2);
    calltree_clear(r.t);
    feed_rows(&r, second, 2);
    assert_string_equal(text_of(r.t, text, sizeof text), "MAIN 0 1\nMAIN>F 0 5\n");
    calltree_free(r.t);
}

/* A crash is an exception whose handler does not come back; what has come back before, after as
 * long, is under way. */
/* clang-format off */
#define EXCEPTION(cost) { EVENT_EXCEPTION, MAIN + 30, EXC, SP, cost, 0, 0, 0, 0x0E0 }
#define BACK(cost) { EVENT_RTE, EXC + 8, MAIN + 30, SP, cost }
/* clang-format on */
static void calltree__handler_still_open_at_the_end__a_crash_unless_it_uses_to_return(void **state)
{
    static const struct {
        const char *name;
        bool is, reset;
        uint64_t c1;
        struct row rows[8];
    } ends[] = {
        { "never returned",
          true,
          false,
          900,
          { START_MAIN, EXCEPTION(5), { EVENT_STOP, EXC + 4, 0, SP, 900 } } },
        { "returned",
          false,
          false,
          0,
          { START_MAIN, EXCEPTION(5), BACK(20), { EVENT_STOP, MAIN + 40, 0, SP, 900 } } },
        { "has before, is under way",
          false,
          false,
          0,
          { START_MAIN,
            EXCEPTION(5),
            BACK(20),
            EXCEPTION(5),
            { EVENT_STOP, EXC + 4, 0, SP, 15 } } },
        { "has before, not this time",
          true,
          false,
          900,
          { START_MAIN,
            EXCEPTION(5),
            BACK(20),
            EXCEPTION(5),
            { EVENT_STOP, EXC + 4, 0, SP, 900 } } },
        { "a tick strikes what is lost",
          true,
          false,
          907,
          { START_MAIN,
            EXCEPTION(5),
            { EVENT_INTERRUPT, EXC + 4, IRQ, SP - 8, 900, 0, 0, 0, 0x400 },
            { EVENT_STOP, IRQ + 4, 0, SP - 8, 7 } } },
        { "an interrupt is none",
          false,
          false,
          0,
          { START_MAIN,
            { EVENT_INTERRUPT, MAIN + 30, IRQ, SP, 5, 0, 0, 0, 0x400 },
            { EVENT_STOP, IRQ + 4, 0, SP, 900 } } },
        { "reset",
          true,
          true,
          3,
          { START_MAIN,
            EXCEPTION(5),
            { EVENT_LOST, 0, 0, 0, 3 },
            { EVENT_STOP, MAIN, 0, SP, 900 } } },
        { "reset without one",
          false,
          false,
          0,
          { START_MAIN, { EVENT_LOST, 0, 0, 0, 3 }, { EVENT_STOP, MAIN, 0, SP, 900 } } },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct run r = { 0 };
        print_message("  %s\n", ends[i].name);
        assert_int_equal(
            calltree_new(&(struct calltree_config){ .resolve = resolve_function }, &r.t, NULL), 0);
        for (size_t k = 0; ends[i].rows[k].kind; k++) {
            struct event reset = { .kind = EVENT_LOST,
                                   .cause = EVENT_CAUSE_RESET,
                                   .c1 = r.c1 + 3,
                                   .flags = EVENT_HAS_C1 };
            if (ends[i].rows[k].kind == EVENT_LOST)
                calltree_feed(r.t, &reset, 1);
            else
                feed_rows(&r, &ends[i].rows[k], 1);
        }
        const struct calltree_unfinished *u = &calltree_stats(r.t)->unfinished;
        assert_int_equal(u->is, ends[i].is);
        assert_int_equal(u->reset, ends[i].reset);
        if (u->is) {
            assert_int_equal(u->vector, 0x0E0);
            assert_int_equal(u->pc, MAIN + 30);
            assert_int_equal(u->c1, ends[i].c1);
        }
        calltree_free(r.t);
    }
}

/* F is not traced: returns lead into it behind calls that gave no event. */
static void
calltree__without_symbols__where_an_unknown_call_is_returned_to_is_doubtful(void **state)
{
    static const struct row rows[] = {
        START_MAIN,
        { EVENT_CALL, MAIN + 16, F, SP, 1, EVENT_SP_EXACT | EVENT_BLIND },
        { EVENT_RETURN, G + 8, F + 12, SP - 8, 3, EVENT_SP_EXACT },
        { EVENT_RETURN, H + 8, F + 24, SP - 16, 5, EVENT_SP_EXACT, 0, 8 },
        { EVENT_CALL, MAIN + 24, G, SP, 5, EVENT_SP_EXACT },
        { EVENT_RETURN, G + 32, MAIN + 28, SP - 4, 5, EVENT_SP_EXACT, 0, 4 },
        STOP_AT(MAIN + 32, SP)
    };
    struct run r = { 0 };
    size_t n;
    (void)state;
    assert_int_equal(calltree_new(NULL, &r.t, NULL), 0);
    feed_rows(&r, rows, ARRAY_LEN(rows));
    const struct calltree_node *nodes = calltree_nodes(r.t, &n);
    for (size_t i = 0; i < n; i++)
        assert_true(nodes[i].doubtful || i == 0 ||
                    nodes[i].parent != CALLTREE_NONE); /* the first is where the profile began */
    assert_true(n > 2);
    calltree_free(r.t);
}

/* The first call of F is not followed: what it called then is missing below it, at every depth,
 * however well the later ones are seen. */
static void
calltree__what_is_first_seen_below_code_that_ran_unseen__is_doubtful_at_every_depth(void **state)
{
    static const struct row rows[] = { START_MAIN,
                                       { EVENT_CALL, MAIN + 8, IRQ, SP, 1, EVENT_SP_EXACT },
                                       { EVENT_RETURN, IRQ + 8, MAIN + 12, SP, 1, EVENT_SP_EXACT },
                                       { EVENT_CALL, MAIN + 16, F, SP, 1,
                                         EVENT_SP_EXACT | EVENT_BLIND },
                                       { EVENT_RETURN, F + 20, MAIN + 20, SP, 9, EVENT_SP_EXACT },
                                       { EVENT_CALL, MAIN + 24, F, SP, 1, EVENT_SP_EXACT },
                                       { EVENT_CALL, F + 8, G, SP - 8, 1, EVENT_SP_EXACT },
                                       { EVENT_CALL, G + 8, H, SP - 16, 1, EVENT_SP_EXACT },
                                       { EVENT_RETURN, H + 8, G + 12, SP - 16, 1, EVENT_SP_EXACT },
                                       { EVENT_RETURN, G + 20, F + 12, SP - 8, 1, EVENT_SP_EXACT },
                                       { EVENT_RETURN, F + 20, MAIN + 28, SP, 1, EVENT_SP_EXACT },
                                       { EVENT_CALL, MAIN + 32, H, SP, 1, EVENT_SP_EXACT },
                                       { EVENT_RETURN, H + 8, MAIN + 36, SP, 1, EVENT_SP_EXACT },
                                       STOP_AT(MAIN + 40, SP) };
    struct run r = { 0 };
    size_t n;
    (void)state;
    assert_int_equal(calltree_new(NULL, &r.t, NULL), 0);
    feed_rows(&r, rows, ARRAY_LEN(rows));
    const struct calltree_node *nodes = calltree_nodes(r.t, &n);
    assert_int_equal(n, 6);
    for (size_t i = 1; i < n; i++) {
        bool below = nodes[i].addr == F || nodes[i].addr == G ||
                     (nodes[i].addr == H && nodes[i].parent != 0);
        assert_int_equal(nodes[i].doubtful, below);
    }
    calltree_clear(r.t);
    for (size_t i = 0; i < n; i++)
        assert_false(nodes[i].doubtful || nodes[i].lacking);
    calltree_free(r.t);
}

/* A longjmp by a jump tells nothing of where it goes without bounds; the stack pointer of the next
 * call does. */
static void calltree__without_symbols__a_longjmp_shows_in_the_stack_pointer(void **state)
{
    static const struct row rows[] = { START_MAIN,
                                       { EVENT_CALL, MAIN + 16, F, SP, 1, EVENT_SP_EXACT },
                                       { EVENT_CALL, F + 8, G, SP - 8, 1, EVENT_SP_EXACT },
                                       { EVENT_CALL, G + 8, H, SP - 16, 1, EVENT_SP_EXACT },
                                       { EVENT_JUMP, H + 8, MAIN + 40, SP, 1 },
                                       { EVENT_CALL, MAIN + 44, F, SP, 1, EVENT_SP_EXACT },
                                       { EVENT_RETURN, F + 20, MAIN + 48, SP, 5, EVENT_SP_EXACT },
                                       STOP_AT(MAIN + 52, SP) };
    struct run r = { 0 };
    size_t n, found = 0;
    (void)state;
    assert_int_equal(calltree_new(NULL, &r.t, NULL), 0);
    feed_rows(&r, rows, ARRAY_LEN(rows));
    const struct calltree_node *nodes = calltree_nodes(r.t, &n);
    for (size_t i = 0; i < n; i++) {
        if (nodes[i].addr != F)
            continue;
        found++;
        assert_int_equal(nodes[i].parent, 0);
        assert_int_equal(nodes[i].hits, 2);
    }
    assert_int_equal(found, 1);
    assert_true(nodes[0].doubtful);
    calltree_free(r.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            calltree__what_is_first_seen_below_code_that_ran_unseen__is_doubtful_at_every_depth),
        cmocka_unit_test(calltree__without_symbols__a_longjmp_shows_in_the_stack_pointer),
        cmocka_unit_test(calltree__handler_still_open_at_the_end__a_crash_unless_it_uses_to_return),
        cmocka_unit_test(calltree__scenarios__give_their_trees),
        cmocka_unit_test(calltree__scenarios_without_symbols__give_their_trees),
        cmocka_unit_test(calltree__stats__count_what_was_met),
        cmocka_unit_test(calltree__handlers_without_places__nest_and_have_longest_and_shortest),
        cmocka_unit_test(calltree__place_after_a_gap__time_goes_to_it_not_to_the_gap),
        cmocka_unit_test(calltree__too_many_paths__go_to_one_node_and_are_counted),
        cmocka_unit_test(calltree__too_deep__charged_to_the_deepest_and_found_back),
        cmocka_unit_test(calltree__clear__keeps_its_place),
        cmocka_unit_test(
            calltree__without_symbols__where_an_unknown_call_is_returned_to_is_doubtful),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
