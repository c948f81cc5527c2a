/* Flow walker: follows the program's image along profiling lines, and turns branch bits into
 * counts, calls and returns.
 *
 * As execution reaches it, the image is cut into nodes. A node has the instructions from an entry
 * up to the first one whose way only the trace knows; static jumps and calls are followed. So a
 * branch bit costs one step from node to node. Calls, lookups and decoding happen only where a node
 * is met for the first time, holds a static call, or ends in an indirect jump or return.
 *
 * An interrupt comes somewhere in the node under way. The RTI's destination shows where, and the
 * node goes on from there.
 *
 * Not thread safe. Allocates only when new code is met. */
#ifndef TARGETS_S12Z_TRACE_FLOW_H
#define TARGETS_S12Z_TRACE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/event.h"
#include "targets/image.h"
#include "targets/s12z/settings.h"
#include "targets/s12z/trace/line.h"

struct s12z_flow;

/* Totals since s12z_flow_new(). Cycles and instructions are of completed nodes. */
struct s12z_flow_totals {
    uint64_t core_cycles; /* by the table of isa.h: an estimate */
    uint64_t instructions, branches, taken, calls, interrupts, lines;
    uint64_t
        returns_astray; /* RTS to another place than behind its call: task switches, long jumps */
    uint64_t unpaired;  /* returns and RTIs to another place than they belong to, where that was
                           seen. Task switches and long jumps do that; otherwise lines are missing,
                           or are wrong and fit all the same */
    uint32_t first_unpaired; /* address of the first such instruction */
    uint64_t resyncs;        /* lines that did not fit the image: something was lost before them */
    /* times the position was lost, up to the next address, at a branch that by a setting leaves no
     * bit */
    uint64_t adrift;
    uint64_t waits; /* WAI and STOP: time passed there without instructions */
    /* nodes that were not finished when a session ended: each of their counts may be wrong by one
     */
    uint64_t cut;
};

/* Called for calls, jumps through registers, any way from one function of the image into another
 * or of one block into or out of it (by a branch or by falling through), returns, interrupts,
 * exceptions and their ends. Counters and time of the event are not set: the receiver takes them
 * from s12z_flow_totals(). The event is borrowed for the call. */
typedef void s12z_flow_event(void *ctx, const struct event *e);

/* s12z_flow_new
 * image     sections with data are copied, functions borrowed until s12z_flow_free()
 * settings  copied
 * event     may be NULL
 * Returns 0 or -ERR_NOMEM. s12z_flow_free(NULL) is fine. */
int s12z_flow_new(const struct image *image, const struct s12z_settings *settings,
                  s12z_flow_event *event, void *ctx, struct s12z_flow **out, struct err *err);
void s12z_flow_free(struct s12z_flow *f);

/* s12z_flow_set_place - spares receivers that keep events a copy of each
 * place   borrowed; *place is where the walker writes the next event before it calls
 *         s12z_flow_event(), which may change *place. NULL: it writes into an event of its own */
void s12z_flow_set_place(struct s12z_flow *f, struct event *const *place);

/* s12z_flow_set_vectors - IVBR of the target, for the addresses of handlers; 0xFFFE before the
 * first call. */
void s12z_flow_set_vectors(struct s12z_flow *f, uint16_t ivbr);

/* s12z_flow_watch - reports each time that execution passes pc: by an EVENT_TIMESTAMP with it,
 * before what the instruction there does, in order with calls and returns. A handler that
 * interrupts the straight run beginning there comes first. At most 256, and before the first line
 * only, else -ERR_RESOURCE. Returns 0. */
int s12z_flow_watch(struct s12z_flow *f, uint32_t pc);

/* s12z_flow_counting - whether blocks and branches are counted from here on; at first they are.
 * Totals and events go on. May be called in the callback; costs a walk over all nodes. */
void s12z_flow_counting(struct s12z_flow *f, bool on);

/* s12z_flow_seamless - on: the target stands still from the end of a session to the start of the
 * next (the overflow halts it, and it goes on after the readout), so sessions are one. Then no
 * EVENT_STOP and EVENT_START come between them, calls and interrupts stay open, and counts are
 * those of one session. A start at another place than the end is noticed, and taken as a new
 * session. */
void s12z_flow_seamless(struct s12z_flow *f, bool on);

/* s12z_flow_reached - the session that has ended did so before the instruction at pc, by a
 * comparator's match: what leads straight there was executed. pc must be watched. Without effect
 * unless sessions are seamless and the way leads there. */
void s12z_flow_reached(struct s12z_flow *f, uint32_t pc);

/* s12z_flow_line - one line, in order
 * Returns 0; -ERR_FORMAT when the line does not fit the program: err says where and how it was
 * noticed, and the walker waits for the next line that gives an address. */
int s12z_flow_line(struct s12z_flow *f, const struct s12z_line *l, struct err *err);

/* s12z_flow_lost - lines are missing here: forgets the position, keeps the counts. */
void s12z_flow_lost(struct s12z_flow *f);

/* These are current at any time between lines. */
const struct s12z_flow_totals *s12z_flow_totals(const struct s12z_flow *f);
bool s12z_flow_synchronised(const struct s12z_flow *f);
uint32_t s12z_flow_pc(const struct s12z_flow *f); /* entry of the node under way; 24 bits */

/* s12z_flow_blocks, s12z_flow_branches - exact counts so far, ascending addresses; a callback that
 * returns non-zero ends it. A block is a run of instructions entered at its first and left after
 * its last only. Returns 0, the callback's value, or -ERR_NOMEM. */
int s12z_flow_blocks(struct s12z_flow *f,
                     int (*cb)(void *ctx, uint32_t low, uint32_t high, uint64_t count), void *ctx);
int s12z_flow_branches(struct s12z_flow *f,
                       int (*cb)(void *ctx, uint32_t pc, uint64_t taken, uint64_t not_taken),
                       void *ctx);

/* s12z_flow_loops - straight code that goes round without a traced instruction (wait loops); a
 * trace cannot show how often. For each that was entered: the address range from where it closes
 * on, and how many times it was entered. It ran at least that often, and what blocks have of it is
 * too little by the time the program waited. A loop with two ways in gives two calls. Returns as
 * s12z_flow_blocks(). */
int s12z_flow_loops(const struct s12z_flow *f,
                    int (*cb)(void *ctx, uint32_t low, uint32_t high, uint64_t entered), void *ctx);

/* s12z_flow_part - what was executed of the straight run from `from` to `to`
 * from   entry of a node
 * to     where an interrupt came
 * out    pieces in order, with core cycles by the table; a new one begins where another function
 *        may
 * Returns how many pieces; -1 if that is not known, because the run leads elsewhere, waits (WAI,
 * STOP), goes round without a traced instruction, or has more than cap pieces. It decodes: not for
 * each line. */
struct s12z_flow_piece {
    uint32_t pc;
    uint32_t core_cycles;
};
int s12z_flow_part(const struct s12z_flow *f, uint32_t from, uint32_t to,
                   struct s12z_flow_piece *out, unsigned cap);

/* s12z_flow_cycles - core cycles by the table of all that was completed, also while counting was
 * off, in no order. pc: where the piece begins, at a node's entry or where another function may
 * begin inside. The cycles of exceptions themselves are not included. Costs a walk over the nodes.
 */
void s12z_flow_cycles(const struct s12z_flow *f,
                      void (*cb)(void *ctx, uint32_t pc, uint64_t core_cycles), void *ctx);

/* s12z_flow_changes - what was counted since its last call, in no order. Blocks may overlap here
 * and come more than once: the counts of an address add up, and every low and high is the beginning
 * of a block. Costs a walk over the nodes. Returns 0, or the callback's value, which ends it; what
 * the callback was given then counts as reported. */
int s12z_flow_changes(struct s12z_flow *f,
                      int (*block)(void *ctx, uint32_t low, uint32_t high, uint64_t count),
                      int (*branch)(void *ctx, uint32_t pc, uint64_t taken, uint64_t not_taken),
                      void *ctx);

/* s12z_flow_check - flow conservation: what entered every node left it. Returns the number of nodes
 * where it does not hold (0 if the counts are whole), *pc the first of them. */
size_t s12z_flow_check(const struct s12z_flow *f, uint32_t *pc);

#endif
