/* Flow walker: follows the program image along profiling lines and turns branch bits into counts,
 * calls and returns.
 *
 * The image is cut, as execution reaches it, into nodes: the instructions from an entry up to the
 * first one whose way only the trace knows, static jumps and calls followed. A branch bit then
 * costs one step from node to node; calls, lookups and decoding happen only where a node is met for
 * the first time, holds a static call, or ends in an indirect jump or return.
 *
 * An interrupt falls somewhere into the node under way. The RTI's destination tells where, and the
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
    uint64_t returns_astray; /* RTS to elsewhere than behind its call: task switches, long jumps */
    uint64_t unpaired; /* returns and RTIs to elsewhere than what they belong to, as far as that was
                        * seen: so do task switches and long jumps; otherwise lines are missing or
                        * wrong that fit all the same */
    uint32_t first_unpaired; /* address of the first such instruction */
    uint64_t resyncs;        /* lines that did not fit the image: something was lost before them */
    /* times the position was lost at a branch that by a setting leaves no bit, until the next
     * address */
    uint64_t adrift;
    uint64_t waits; /* WAI and STOP: time passed there that no instruction took */
    /* nodes left unfinished where a session ended: their counts are uncertain by one each */
    uint64_t cut;
};

/* Called for calls, jumps through registers, any way from one function of the image into another
 * (branching, falling through), returns, interrupts, exceptions and their ends. The event is filled
 * but for counters and time, which the receiver takes from s12z_flow_totals(); it is borrowed for
 * the call. */
typedef void s12z_flow_event(void *ctx, const struct event *e);

/* s12z_flow_new
 * image     sections with data are copied, functions borrowed until s12z_flow_free()
 * settings  copied
 * event     may be NULL
 * Returns 0 or -ERR_NOMEM. s12z_flow_free(NULL) is fine. */
int s12z_flow_new(const struct image *image, const struct s12z_settings *settings,
                  s12z_flow_event *event, void *ctx, struct s12z_flow **out, struct err *err);
void s12z_flow_free(struct s12z_flow *f);

/* s12z_flow_set_place - receivers that keep events are spared a copy of each
 * place   borrowed; *place is where the walker writes the next event before it calls
 *         s12z_flow_event(), which may move *place on. NULL: it writes into an event of its own */
void s12z_flow_set_place(struct s12z_flow *f, struct event *const *place);

/* s12z_flow_set_vectors - IVBR of the target, for handler addresses (0xFFFE until told). */
void s12z_flow_set_vectors(struct s12z_flow *f, uint16_t ivbr);

/* s12z_flow_watch - tell each time execution passes pc: an EVENT_TIMESTAMP with it, before what the
 * instruction there does, and in order with calls and returns; a handler that interrupts the
 * straight run that begins there comes first. At most 256, before the first line only: else
 * -ERR_RESOURCE. Returns 0. */
int s12z_flow_watch(struct s12z_flow *f, uint32_t pc);

/* s12z_flow_counting - whether blocks and branches are counted from here on (initially they are).
 * Totals and events go on. May be called in the callback; costs a walk over all nodes. */
void s12z_flow_counting(struct s12z_flow *f, bool on);

/* s12z_flow_seamless - on: the target stands still from the end of a session to the start of the
 * next (it is halted by the overflow and goes on after the readout), so sessions are one: no
 * EVENT_STOP and EVENT_START between, calls and interrupts stay open, and counts are as of one
 * session. A start elsewhere than at the end is noticed and taken as a new session. */
void s12z_flow_seamless(struct s12z_flow *f, bool on);

/* s12z_flow_reached - the session that has ended did so before the instruction at pc (a
 * comparator's match): what leads there straight was executed. pc must be watched; without effect
 * unless sessions are seamless and the way leads there. */
void s12z_flow_reached(struct s12z_flow *f, uint32_t pc);

/* s12z_flow_line - one line, in order
 * Returns 0; -ERR_FORMAT when the line does not fit the program: err says where and how it was
 * noticed, and the walker waits for the next line that gives an address. */
int s12z_flow_line(struct s12z_flow *f, const struct s12z_line *l, struct err *err);

/* s12z_flow_lost - lines are missing here: forget the position, keep the counts. */
void s12z_flow_lost(struct s12z_flow *f);

/* current at any time between lines */
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

/* s12z_flow_loops - straight code that goes round without a traced instruction (wait loops): a
 * trace cannot tell how often. For each that was entered, its address range from where it closes
 * on, and how many times it was entered: it ran that often at least, and what blocks say of it is
 * short by as much as the program waited. Two ways in give two calls. Returns as
 * s12z_flow_blocks(). */
int s12z_flow_loops(const struct s12z_flow *f,
                    int (*cb)(void *ctx, uint32_t low, uint32_t high, uint64_t entered), void *ctx);

/* s12z_flow_part - what was executed of the straight run from `from` to `to`
 * from   entry of a node
 * to     where an interrupt came
 * out    pieces in order; a new one begins where another function may. Core cycles by the table
 * Returns how many pieces; -1 if that cannot be told, because the run leads elsewhere, waits (WAI,
 * STOP), goes round without a traced instruction, or has more than cap pieces. It decodes: not for
 * each line. */
struct s12z_flow_piece {
    uint32_t pc;
    uint32_t core_cycles;
};
int s12z_flow_part(const struct s12z_flow *f, uint32_t from, uint32_t to,
                   struct s12z_flow_piece *out, unsigned cap);

/* s12z_flow_cycles - core cycles by the table of all that was completed, times without counting
 * too, in no order; pc: where the piece begins, at a node's entry or where another function may
 * begin inside. Exceptions' own are not in it. No more than a walk over the nodes. */
void s12z_flow_cycles(const struct s12z_flow *f,
                      void (*cb)(void *ctx, uint32_t pc, uint64_t core_cycles), void *ctx);

/* s12z_flow_changes - what was counted since the last call of it, in no order. Blocks may overlap
 * here and come more than once: the counts of an address add up, and every low and high is the
 * beginning of a block. Cheap: no more than a walk over the nodes. Returns 0 or the callback's
 * value, which ends it (what was given to it then counts as told). */
int s12z_flow_changes(struct s12z_flow *f,
                      int (*block)(void *ctx, uint32_t low, uint32_t high, uint64_t count),
                      int (*branch)(void *ctx, uint32_t pc, uint64_t taken, uint64_t not_taken),
                      void *ctx);

/* s12z_flow_check - flow conservation: what entered every node left it. Returns the number of nodes
 * where it does not hold (0 if the counts are whole), *pc the first of them. */
size_t s12z_flow_check(const struct s12z_flow *f, uint32_t *pc);

#endif
