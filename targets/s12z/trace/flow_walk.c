/* The flow walker where one step from node to node is not enough: something happens inside of the
 * node, or it ends in an indirect jump, a call, a return or an interrupt. */
#include <string.h>

#include "targets/s12z/trace/flow_priv.h"
#include "probe/base/choice.h"

void flow_emit(struct s12z_flow *f, enum event_kind kind, uint32_t pc, bool has_pc, uint32_t target,
               bool has_target, unsigned vector)
{
    struct event own, *e = f->place ? *f->place : &own;
    if (!f->event)
        return;
    *e = (struct event){ .kind = (uint8_t)kind,
                         .pc = pc,
                         .target = target,
                         .vector = (uint16_t)vector,
                         .flags = bits_if(has_pc, EVENT_HAS_PC) |
                                  bits_if(has_target, EVENT_HAS_TARGET) };
    f->event(f->ctx, e);
}

static void push_call(struct s12z_flow *f, uint32_t call)
{
    uint64_t k = f->nshadow++ % SHADOW;
    f->shadow[k].back = f->calls[call].back;
    f->shadow[k].call = call;
    f->kept = MIN(f->kept + 1, (unsigned)SHADOW);
    f->totals.calls++;
}

/* A call or an interrupt did not end where it began. Programs do that when they switch tasks.
 * Otherwise lines are missing here, and nothing else shows it. */
static void note_unpaired(struct s12z_flow *f, uint32_t pc)
{
    if (f->totals.unpaired++ == 0)
        f->totals.first_unpaired = pc;
}

/* The return does not lead behind the innermost call. If it leads behind an outer one, the calls
 * inside of that are over. If it leads behind none, all calls stay open: their task may go on. */
static void return_astray(struct s12z_flow *f, uint32_t pc, uint32_t to)
{
    f->totals.returns_astray++;
    if (f->kept)
        note_unpaired(f, pc);
    for (unsigned k = 1; k < f->kept; k++)
        if (f->shadow[(f->nshadow - 1 - k) % SHADOW].back == to) {
            f->nshadow -= k + 1;
            f->kept -= k + 1;
            return;
        }
}

static void push_pending(struct s12z_flow *f, uint32_t node, uint32_t pc);

/* The node is completed. Its calls and exceptions become events, each at its own time; then the
 * rest of its weight is added. */
static void run_through(struct s12z_flow *f, const struct node_info *n, uint64_t weight)
{
    uint64_t done = 0;
    if (n->watched)
        flow_emit(f, EVENT_TIMESTAMP, n->start, true, 0, false, 0);
    for (uint32_t k = 0; k < n->ncalls; k++) {
        const struct inner *c = &f->calls[n->call + k];
        flow_add_weight(f, c->weight - done);
        done = c->weight;
        if (c->kind == EVENT_EXCEPTION)
            push_pending(f, UNKNOWN, c->back);
        else if (c->kind == EVENT_CALL)
            push_call(f, n->call + k);
        flow_emit(f, c->kind, c->pc, true, c->target, true, c->vector);
    }
    flow_add_weight(f, weight - done);
    f->totals.waits += n->waits;
}

static int refuse_line(struct s12z_flow *f, const char *why, struct err *err)
{
    uint32_t pc = 0, end = 0;
    if (f->at != UNKNOWN) {
        pc = flow_current(f)->start;
        end = flow_current(f)->end_pc;
    }
    f->totals.resyncs++;
    s12z_flow_lost(f);
    return err_set(
        err, ERR_FORMAT,
        "check that this ELF is the program that was traced; lines may also be missing here",
        "trace does not fit the program at %06X..%06X: %s", pc, end, why);
}

/* Completes a node that ends otherwise than by a branch. */
static void complete_node(struct s12z_flow *f)
{
    struct node_info *n = flow_current(f);
    f->proof = NOTHING;
    run_through(f, n, n->weight); /* may turn counting on or off */
    if (f->skipping)
        n->skipped[0]++;
    else
        n->count[0]++;
}

/* A node may end at a watched address, without a line. It is completed as soon as something comes
 * that can only come from behind it. */
static int pass_splits(struct s12z_flow *f, struct err *err)
{
    for (unsigned k = 0; flow_current(f)->end == END_SPLIT && k <= MAX_WATCHES; k++) {
        uint32_t *next = &f->ways[f->at & ~SLOW].next[0];
        uint32_t to = *next;
        complete_node(f);
        if (to == UNKNOWN && flow_node_at(f, flow_current(f)->fall, &to) < 0)
            return err_set(err, ERR_NOMEM, "", "out of memory");
        f->ways[f->at & ~SLOW].next[0] = to; /* flow_node_at() may have moved the nodes */
        f->at = to;
    }
    return 0;
}

/* The line comes from behind a branch that by a setting leaves no bit. It is not known which way
 * the program went; the next line that gives an address shows it. */
static int lose_the_way(struct s12z_flow *f)
{
    complete_node(f);
    f->totals.adrift++;
    f->at = UNKNOWN;
    flow_cut_session(f);
    return WAY_LOST;
}

/* A node that needs more than a step: its successor is not known yet, or something happens inside.
 */
int flow_take_slow_bit(struct s12z_flow *f, unsigned bit, struct err *err)
{
    int ret = 0;
    if (flow_current(f)->end == END_SPLIT)
        ret = pass_splits(f, err);
    struct node_info *n = flow_current(f);
    uint32_t number = f->at & ~SLOW, next;
    if (ret < 0)
        return ret;
    if (__builtin_expect(n->end != END_BRANCH, 0)) {
        if (n->end == END_SILENT)
            return lose_the_way(f);
        return refuse_line(f, "a branch outcome where no branch is", err);
    }
    run_through(f, n, n->weight + bit * S12Z_TAKEN_CYCLES);
    n = flow_current(f);
    uint32_t to = bit ? n->target : n->fall;
    if (n->leaves >> bit & 1)
        flow_emit(f, EVENT_JUMP, n->end_pc, true, to, true, 0);
    if (f->ways[number].next[bit] == UNKNOWN) {
        if (flow_node_at(f, to, &next) < 0)
            return err_set(err, ERR_NOMEM, "", "out of memory");
        f->ways[number].next[bit] = next;
    }
    f->times[number].by[bit]++;
    f->at = f->ways[number].next[bit];
    return 0;
}

/* The image has no code at pc. The node under way, if any, is counted already. */
static int go_outside(struct s12z_flow *f, uint32_t pc, struct err *err)
{
    f->at = UNKNOWN;
    f->totals.resyncs++;
    s12z_flow_lost(f);
    return err_set(
        err, ERR_FORMAT,
        "check that this ELF is the program that was traced; lines may also be missing here",
        "trace goes to %06X, where the program has no code", pc & ADDRESS);
}

int flow_go_to(struct s12z_flow *f, uint32_t pc, struct err *err)
{
    if (!flow_has_code(f, pc & ADDRESS))
        return go_outside(f, pc, err);
    if (flow_node_at(f, pc, &f->at) < 0)
        return err_set(err, ERR_NOMEM, "", "out of memory");
    flow_current(f)->entered++;
    return 0;
}

/* ---- interrupts ---- */

static void push_pending(struct s12z_flow *f, uint32_t node, uint32_t pc)
{
    /* no room: the oldest is given up, and its RTI will be taken by its address */
    if (f->npending == MAX_PENDING) {
        if (f->pending[0].node != UNKNOWN) {
            f->info[f->pending[0].node & ~SLOW].aborted++;
            f->totals.cut++;
        }
        memmove(f->pending, f->pending + 1, sizeof f->pending - sizeof f->pending[0]);
        f->npending--;
    }
    f->pending[f->npending++] = (struct pending){ node, pc, f->proof };
}

/* The program may have passed watched addresses since the node under way began. Then the nodes up
 * to the one that holds dest are completed, and that one is under way. */
bool flow_go_on_at(struct s12z_flow *f, uint32_t dest)
{
    for (unsigned k = 0; k <= MAX_WATCHES; k++) {
        const struct node_info *n = flow_current(f);
        uint32_t before = f->at;
        if (flow_in_path(f, n, dest) || (n->end == END_LOOP && dest == n->end_pc))
            return true;
        if (n->end != END_SPLIT)
            return false;
        complete_node(f);
        uint32_t to = f->ways[f->at & ~SLOW].next[0];
        if (to == UNKNOWN && flow_node_at(f, flow_current(f)->fall, &to) < 0)
            return false;
        f->ways[before & ~SLOW].next[0] = f->at = to;
    }
    return false;
}

/* The node that p interrupted, or one behind it, has come to dest. If dest lies before the place
 * that it was known to have reached, its loop has gone round meanwhile. */
static void prove_way_to(struct s12z_flow *f, const struct pending *p, uint32_t dest)
{
    const struct node_info *n = flow_current(f);
    bool same_loop = f->at == p->node && n->end == END_LOOP && p->proof.to != UNKNOWN;
    f->proof = (struct proof){ .to = dest, .round = false };
    if (!same_loop)
        return;
    unsigned now = flow_segment_of(f, n, dest), then = flow_segment_of(f, n, p->proof.to);
    bool before = now < then || (now == then && dest < p->proof.to);
    f->proof.round = p->proof.round || before;
}

/* The line of the RTI gives the interrupted address, and the node goes on there. The event has that
 * address only if it lies outside of the node: else a call before it in the node would become an
 * event after this one. */
static int return_from_handler(struct s12z_flow *f, uint32_t pc, uint32_t dest, struct err *err)
{
    struct pending p = { UNKNOWN, 0, NOTHING };
    bool soft = true;
    if (f->npending) {
        p = f->pending[--f->npending];
        soft = p.node == UNKNOWN;
        if (soft && p.pc != dest)
            note_unpaired(f, pc);
    }
    if (soft) {
        flow_emit(f, EVENT_RTE, pc, true, dest, true, 0);
        return flow_go_to(f, dest, err);
    }
    f->at = p.node;
    const struct node_info *n = flow_current(f);
    bool here = flow_in_path(f, n, dest) || n->end == END_SPLIT || n->end == END_LOOP;
    flow_emit(f, EVENT_RTE, pc, true, dest, !here, 0);
    if (flow_go_on_at(f, dest)) {
        prove_way_to(f, &p, dest);
        return 0;
    }
    note_unpaired(f, pc);
    flow_current(f)->aborted++;
    f->totals.cut++;
    return flow_go_to(f, dest, err);
}

static bool is_own_trap(const struct node_info *n, unsigned byte)
{
    return n->end == END_TRAP && flow_trap_byte(n->op) == byte;
}

/* The node that ends in the instruction with this vector: the one under way, or one that follows it
 * behind watched addresses. NULL: none. */
static struct node_info *find_own_trap(struct s12z_flow *f, unsigned byte)
{
    uint32_t number = f->at & ~SLOW;
    for (unsigned k = 0; k < MAX_WATCHES && f->info[number].end == END_SPLIT; k++) {
        if (f->ways[number].next[0] == UNKNOWN) {
            uint32_t to;
            if (flow_node_at(f, f->info[number].fall, &to) < 0)
                return NULL;
            f->ways[number].next[0] = to;
        }
        number = f->ways[number].next[0] & ~SLOW;
    }
    if (f->info[number].end != END_SPLIT && is_own_trap(&f->info[number], byte))
        return &f->info[number];
    return NULL;
}

/* The node under way waits for the RTI. */
int flow_enter_handler(struct s12z_flow *f, unsigned byte, uint32_t handler, struct err *err)
{
    uint32_t start = flow_current(f)->start;
    push_pending(f, f->at, start);
    f->proof = NOTHING;
    f->totals.interrupts++;
    f->vectors_seen[byte / 64] |= 1ull << byte % 64;
    flow_emit(f, EVENT_INTERRUPT, start, false, handler, true, (0xFEu - byte) / 2);
    f->totals.core_cycles += S12Z_EXCEPTION_CYCLES; /* stacking: the handler's */
    return flow_go_to(f, handler, err);
}

/* Which vector leads to pc; of several one that was taken before. */
bool flow_handler_vector(const struct s12z_flow *f, uint32_t pc, unsigned *byte)
{
    bool found = false, known;
    for (unsigned b = 0; b < LAST_VECTOR; b += 2) {
        bool seen = f->vectors_seen[b / 64] >> b % 64 & 1;
        if (flow_handler_of(f, b, &known) != pc || !known || (found && !seen))
            continue;
        *byte = b;
        found = true;
        if (seen)
            break;
    }
    return found;
}

int flow_take_vector(struct s12z_flow *f, unsigned byte, struct err *err)
{
    struct node_info *n = find_own_trap(f, byte);
    bool known, soft = n != NULL;
    uint32_t handler = flow_handler_of(f, byte, &known);
    unsigned number = (0xFEu - byte) / 2;
    if (!known)
        return refuse_line(f, "the image has no vector table there (is IVBR right?)", err);
    if (byte >= FIRST_TRAP && byte <= LAST_TRAP && !f->settings.software_exceptions_traced)
        return refuse_line(
            f, "the vector of a software exception, which by the setting leaves no line", err);
    if (soft) {
        uint32_t pc = n->end_pc, fall = n->fall;
        int ret = pass_splits(f, err);
        if (ret < 0)
            return ret;
        complete_node(f);
        push_pending(f, UNKNOWN, fall);
        flow_emit(f, EVENT_EXCEPTION, pc, true, handler, true, number);
        f->totals.core_cycles += S12Z_EXCEPTION_CYCLES;
        return flow_go_to(f, handler, err);
    }
    return flow_enter_handler(f, byte, handler, err);
}

/* ---- calls and jumps ---- */

/* Behind the innermost call: its node is known from the second time on. */
static int return_from_call(struct s12z_flow *f, uint32_t pc, uint32_t dest, struct err *err)
{
    uint64_t top = (f->nshadow - 1) % SHADOW;
    if (!f->kept || f->shadow[top].back != dest) {
        return_astray(f, pc, dest);
        return flow_go_to(f, dest, err);
    }
    struct inner *c = &f->calls[f->shadow[top].call];
    f->nshadow--;
    f->kept--;
    if (__builtin_expect(c->after == UNKNOWN, 0)) {
        int ret = flow_go_to(f, dest, err); /* may move the calls */
        if (ret == 0)
            f->calls[f->shadow[top].call].after = f->at;
        return ret;
    }
    c->returned++;
    f->at = c->after;
    return 0;
}

int flow_take_address(struct s12z_flow *f, uint32_t dest, struct err *err)
{
    int ret = 0;
    if (flow_current(f)->end == END_SPLIT)
        ret = pass_splits(f, err);
    struct node_info *n = flow_current(f);
    uint32_t pc = n->end_pc, own_call = n->call + n->ncalls;
    enum end end = n->end;
    if (ret < 0)
        return ret;
    if (end == END_SILENT)
        return lose_the_way(f);
    if (end != END_JUMP && end != END_CALL && end != END_RETURN && end != END_RTI)
        return refuse_line(f, "a destination where no indirect jump or return is", err);
    if (n->fixed && dest != n->target)
        return refuse_line(f, "a jump to elsewhere than its operand says", err);
    complete_node(f);
    if (end == END_RTI)
        return return_from_handler(f, pc, dest, err);
    enum event_kind kind = end == END_RETURN ? EVENT_RETURN : EVENT_JUMP;
    if (end == END_CALL) {
        push_call(f, own_call);
        kind = EVENT_CALL;
    }
    flow_emit(f, kind, pc, true, dest, true, 0);
    if (end == END_RETURN)
        return return_from_call(f, pc, dest, err);
    return flow_go_to(f, dest, err);
}

/* ---- the end of a session ---- */

/* Whether something happens inside of the node that somebody is told. Which of a function's blocks
 * it was in does not matter by now. */
static bool has_news(const struct s12z_flow *f, const struct node_info *n)
{
    bool any = n->watched;
    for (uint32_t k = 0; k < n->ncalls; k++) {
        const struct inner *c = &f->calls[n->call + k];
        any |= c->kind != EVENT_JUMP || !flow_same_function(f, c->pc, c->target);
    }
    return any;
}

/* What is known to have run of a node that was begun counts, though its end was not seen. quiet:
 * events since then were given already, so only those are taken that give none. */
static void count_begun(struct s12z_flow *f, uint32_t node, uint32_t to, bool quiet)
{
    uint32_t number = UNKNOWN;
    if (to != f->info[node].start)
        number = flow_prefix_of(f, node, to);
    if (number == UNKNOWN)
        return;
    struct node_info *n = &f->info[number];
    if (quiet && has_news(f, n))
        return;
    n->entered++;
    if (quiet) {
        flow_add_weight(f, n->weight);
        f->totals.waits += n->waits;
    } else {
        run_through(f, n, n->weight); /* may turn counting on or off */
    }
    if (f->skipping)
        f->info[number].skipped[0]++;
    else
        f->info[number].count[0]++;
}

/* An RTI has shown a place in it, or it has gone round. */
void flow_count_proven(struct s12z_flow *f)
{
    for (unsigned k = 0; k < f->npending; k++) {
        if (f->pending[k].node != UNKNOWN && f->pending[k].proof.to != UNKNOWN)
            count_begun(f, f->pending[k].node & ~SLOW, f->pending[k].proof.to, true);
        f->pending[k].proof = NOTHING;
    }
    struct proof p = f->proof;
    f->proof = NOTHING;
    if (f->at != UNKNOWN && p.round && flow_current(f)->end == END_LOOP) {
        complete_node(f);
        f->at = UNKNOWN;
    } else if (f->at != UNKNOWN && p.to != UNKNOWN) {
        count_begun(f, f->at & ~SLOW, p.to, false);
    }
}

/* The session is over: the node under way was begun and not seen to end. */
void flow_cut_session(struct s12z_flow *f)
{
    flow_count_proven(f);
    if (f->at != UNKNOWN) {
        flow_current(f)->aborted++;
        f->totals.cut++;
    }
    for (unsigned k = 0; k < f->npending; k++)
        if (f->pending[k].node != UNKNOWN) {
            f->info[f->pending[k].node & ~SLOW].aborted++;
            f->totals.cut++;
        }
    f->npending = 0;
    f->nshadow = f->kept = 0;
    f->at = UNKNOWN;
    f->synced = f->held = false;
}

void s12z_flow_lost(struct s12z_flow *f)
{
    if (f->synced)
        flow_cut_session(f);
}
