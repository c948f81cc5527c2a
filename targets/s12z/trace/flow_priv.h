/* Flow walker, private to its files: flow_image.c has the program's bytes, flow_nodes.c cuts them
 * into nodes, flow_walk.c follows ways that need more than a step, flow_counts.c gives what was
 * counted, flow.c takes lines and has the inner loop over branches. Each calls only those before it
 * in tests/lint/check_layers.py. */
#ifndef TARGETS_S12Z_TRACE_FLOW_PRIV_H
#define TARGETS_S12Z_TRACE_FLOW_PRIV_H

#include "probe/base/util.h"
#include "targets/s12z/isa/isa.h"
#include "targets/s12z/trace/flow.h"

/* clang-format off */
enum {
    PAGE_BITS = 12, PAGE = 1 << PAGE_BITS, PAGES = 1 << (24 - PAGE_BITS), ADDRESS = 0xFFFFFF,
    /* instructions of one node; more without a traced one is an endless loop */
    MAX_PATH = 4096,
    MAX_PENDING = 64,    /* nested interrupts */
    SHADOW = 256,        /* return addresses remembered */
    MAX_WATCHES = 256,
    FIRST_TRAP = 0xF6, LAST_TRAP = 0xFC, /* SYS, SWI, TRAP, SPARE */
    LAST_VECTOR = 0xF2   /* vector bytes below are interrupts'; above, exceptions and reset */
};
/* clang-format on */
/* Node numbers as stored. SLOW marks nodes that need more than a step: unknown yet, or with static
 * calls inside. */
enum { SLOW = 0x80000000u, UNKNOWN = 0xFFFFFFFFu };
enum { WAY_LOST = 1 }; /* no error, but the position is lost for the rest of the line's bits */

enum end {
    END_BRANCH,
    END_JUMP, /* indirect JMP */
    END_CALL, /* indirect JSR */
    END_RETURN,
    END_RTI,
    END_TRAP,   /* SWI, SYS, TRAP, SPARE */
    END_SPLIT,  /* goes on at a watched address, without a bit */
    END_LOOP,   /* never ends by itself: only an interrupt leaves it */
    END_SILENT, /* a branch that by a setting leaves no bit: its way is not known */
    END_OUTSIDE /* leaves the image: wrong ELF, or code made at run time */
};

/* By node, in two arrays. The inner loop waits for the way, and not for times and weights. */
struct way {
    uint32_t next[2];
};
struct times {
    uint32_t by[2]; /* not folded yet */
    /* of leaving it without taking its branch: core cycles in the low half, instructions in the
     * high one */
    uint64_t weight;
};

struct segment {
    uint32_t low, high;
};
/* What happens inside of a node without a line: calls, exceptions that a setting says are silent,
 * ways into another function. */
struct inner {
    uint32_t pc, target, back; /* back: of the call or exception */
    uint8_t kind;              /* EVENT_CALL, EVENT_EXCEPTION or EVENT_JUMP */
    uint8_t vector;
    uint64_t weight;   /* weight of the node up to it, itself included */
    uint32_t after;    /* calls: the node at back; UNKNOWN until something returned there */
    uint64_t returned; /* times it was returned to, which `entered` of the node does not have */
};

/* The first 64 bytes are what is used of nodes that need more than a step. */
struct node_info {
    uint32_t start, end_pc, fall; /* end_pc: of the ending instruction; fall: behind it */
    uint32_t target;              /* END_BRANCH; others where fixed */
    uint32_t call; /* index into calls[]; the call of END_CALL comes behind those inside */
    uint16_t ncalls;
    uint8_t end, op;
    bool watched; /* its start is watched */
    /* END_JUMP, END_CALL: the operand is the target, and it ends the node by a setting only */
    bool fixed;
    /* END_BRANCH: it goes to another function by falling through (bit 0), by the branch (bit 1) */
    uint8_t leaves;
    uint8_t waits;        /* WAIs and STOPs inside */
    uint64_t weight;      /* as in times */
    uint64_t count[2];    /* what was folded: [1] taken; ends that are no branch use [0] */
    uint64_t entered;     /* by other ways than a branch bit */
    uint64_t skipped[2];  /* as count, of times while counting was off */
    uint64_t reported[2]; /* what s12z_flow_changes() has given of count */
    /* times it was left in the middle: a session ended, or an RTI went elsewhere */
    uint64_t aborted;
    uint32_t segment, nsegments; /* into segments[] */
};

struct page {
    uint8_t bytes[PAGE];
    uint8_t present[PAGE / 8];
    /* number + 1 of the node that starts at each address, as the inner loop wants it; 0: none yet
     */
    uint32_t node[PAGE];
};

/* How far the run under way is known to have come since it entered its node. `to`: up to, but
 * without, this instruction. */
struct proof {
    uint32_t to; /* before this instruction; UNKNOWN: nothing is known */
    bool round;  /* END_LOOP: it went round at least once */
};

struct pending {
    uint32_t node; /* UNKNOWN: resume at pc */
    uint32_t pc;
    struct proof proof;
};

/* The beginning of a node as a node of its own, where the rest was not seen to run. */
struct prefix {
    uint32_t node, to, number;
};

struct s12z_flow {
    struct s12z_settings settings;
    s12z_flow_event *event;
    struct event *const *place; /* of the next event; NULL: none of the receiver's */
    void *ctx;
    uint16_t ivbr;
    struct page *page[PAGES];
    struct way *ways;
    struct times *times;
    struct node_info *info;
    struct segment *segments;
    struct inner *calls;
    size_t nnodes, cap_nodes, nsegments, cap_segments, ncalls, cap_calls;
    struct prefix *prefixes;
    size_t nprefixes, cap_prefixes;
    uint32_t at;        /* node under way; UNKNOWN: not synchronised */
    struct proof proof; /* of it */
    bool synced;
    bool session;        /* EVENT_START was given, EVENT_STOP not yet */
    bool seamless, held; /* seamless: the target stands still between sessions; held: it does now */
    bool skipping;       /* counting is off */
    uint32_t watch[MAX_WATCHES];
    size_t nwatches;
    uint64_t vectors_seen[4]; /* bit: the vector byte */
    struct pending pending[MAX_PENDING];
    unsigned npending;
    struct {
        uint32_t back, call;
    } shadow[SHADOW]; /* open calls: where they return to, and which of calls[] they are */
    uint64_t nshadow;
    unsigned kept; /* how many of the newest are still there */
    uint64_t since_fold;
    const struct image_function *functions; /* borrowed */
    size_t nfunctions;
    const struct image_block *blocks; /* borrowed */
    size_t nblocks;
    struct s12z_flow_totals totals;
};

/* What is known of a run that has just entered its node. */
static const struct proof NOTHING = { UNKNOWN, false };

/* ---- the program's bytes (flow_image.c) ---- */

/* Copies the image's bytes. False: no memory. */
bool flow_copy_image(struct s12z_flow *f, const struct image *im);
/* Gets up to n bytes at addr; returns how many the image has in a row. */
size_t flow_get_bytes(const struct s12z_flow *f, uint32_t addr, uint8_t *out, size_t n);
/* Whether the image has a byte at addr, of 24 bits. */
static inline bool flow_has_code(const struct s12z_flow *f, uint32_t addr)
{
    const struct page *p = f->page[addr >> PAGE_BITS];
    return p && p->present[addr % PAGE / 8] >> addr % 8 & 1;
}
/* Decodes the instruction at pc. False: the image has none there. */
bool flow_decode(const struct s12z_flow *f, uint32_t pc, struct s12z_insn *i);
/* Where the vector with this byte leads. *known false: the image has no vector table there. */
uint32_t flow_handler_of(const struct s12z_flow *f, unsigned byte, bool *known);
/* Whether both are in one function of the image, or in none. */
bool flow_same_function(const struct s12z_flow *f, uint32_t a, uint32_t b);
/* Whether `to` is in a function of the image, and `from` not in the same one; or in another block.
 */
bool flow_to_another_function(const struct s12z_flow *f, uint32_t from, uint32_t to);

/* ---- nodes (flow_nodes.c) ---- */

/* Makes room for one more element in a growing array. Returns 0 or -ERR_NOMEM. */
int flow_make_room(void **array, size_t *cap, size_t used, size_t size);
#define MAKE_ROOM(f, array, used, cap) \
    flow_make_room((void **)&(f)->array, &(f)->cap, (f)->used, sizeof *(f)->array)
/* As what an instruction ends a node, if it needs the trace to go on. END_LOOP stands for "goes on
 * by itself". */
enum end flow_end_of(const struct s12z_flow *f, const struct s12z_insn *i);
/* Whether each pass of pc is to be reported. */
bool flow_is_watched(const struct s12z_flow *f, uint32_t pc);
/* Whether pc lies in one of the node's segments. */
bool flow_in_path(const struct s12z_flow *f, const struct node_info *n, uint32_t pc);
/* The first segment of the node that holds pc; their number if none does. */
unsigned flow_segment_of(const struct s12z_flow *f, const struct node_info *n, uint32_t pc);
/* Vector bytes of the software exceptions (ZVM p.226); 0: none. */
unsigned flow_trap_byte(unsigned op);
/* If by the settings SWI and its like leave no line, turns the instruction into a jump to the
 * handler. The RTIs of these handlers must be told from others. Returns the vector's number, 0 for
 * everything else. */
unsigned flow_follow_silent_trap(const struct s12z_flow *f, struct s12z_insn *i);
/* The node at pc, numbered as the inner loop wants it: with SLOW where it holds calls or does not
 * end in a branch. If there is none yet it is made, which may move all nodes. Returns 0 or
 * -ERR_NOMEM. */
int flow_node_at(struct s12z_flow *f, uint32_t pc, uint32_t *out);
/* The number of the node that is the beginning of `node` up to `to`; UNKNOWN without memory. */
uint32_t flow_prefix_of(struct s12z_flow *f, uint32_t node, uint32_t to);

/* ---- walking (flow_walk.c) ---- */

/* The node under way; there is one. */
static inline struct node_info *flow_current(struct s12z_flow *f)
{
    return &f->info[f->at & ~SLOW];
}
/* Adds core cycles and instructions, packed as in struct times. */
static inline void flow_add_weight(struct s12z_flow *f, uint64_t weight)
{
    f->totals.core_cycles += weight & 0xFFFFFFFF;
    f->totals.instructions += weight >> 32;
}
/* Hands an event to the receiver. */
void flow_emit(struct s12z_flow *f, enum event_kind kind, uint32_t pc, bool has_pc, uint32_t target,
               bool has_target, unsigned vector);
/* Takes the outcome of a branch whose node needs more than a step: its successor is not known yet,
 * or something happens inside. Returns 0, WAY_LOST, or a failure. */
int flow_take_slow_bit(struct s12z_flow *f, unsigned bit, struct err *err);
/* Takes a line that gives the destination of the node under way. Returns as flow_take_slow_bit().
 */
int flow_take_address(struct s12z_flow *f, uint32_t dest, struct err *err);
/* Takes a line that gives a vector's byte. Returns 0 or a failure. */
int flow_take_vector(struct s12z_flow *f, unsigned byte, struct err *err);
/* Makes the node at pc the one under way. Returns 0, or a failure: there is no code. */
int flow_go_to(struct s12z_flow *f, uint32_t pc, struct err *err);
/* Whether dest lies in the node under way, or in one that follows it behind watched addresses. If
 * so, that node is under way then. */
bool flow_go_on_at(struct s12z_flow *f, uint32_t dest);
/* Takes an interrupt: the node under way waits for the RTI. Returns as flow_go_to(). */
int flow_enter_handler(struct s12z_flow *f, unsigned byte, uint32_t handler, struct err *err);
/* Which vector leads to pc; of several, one that was taken before. False: none does. */
bool flow_handler_vector(const struct s12z_flow *f, uint32_t pc, unsigned *byte);
/* Counts what is known to have run of nodes that were begun. */
void flow_count_proven(struct s12z_flow *f);
/* The session is over: the node under way was begun, and not seen to end. */
void flow_cut_session(struct s12z_flow *f);

#endif
