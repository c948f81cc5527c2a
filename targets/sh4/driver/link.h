/* The link to the board: IR commands and SDDR words over JTAG, or a byte stream; and the tables of
 * what differs between them. */
#ifndef TARGETS_SH4_DRIVER_LINK_H
#define TARGETS_SH4_DRIVER_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/base/util.h"
#include "probe/jtag.h"
#include "probe/probe.h"
#include "probe/stream.h"
#include "targets/sh4/agent/agent.h"
#include "targets/target.h"

/* ---- link: IR commands and SDDR words (sh4/driver/link.c), or a byte stream (sh4/driver/stream.c)
 * ---- */

/* Most scans queued at once: seven requests of 1024 words. Between two batches an adapter waits for
 * a round trip. */
enum { SH4_LINK_BATCH = 8192, SH4_AGENT_DRAIN = 1100 /* POLLs that end any block under way */ };

/* How well the wire clock goes (sh4/driver/clock.c). */
struct sh4_clock {
    uint32_t hz;      /* as the driver has set it; 0: the driver may not change it */
    uint32_t from_hz; /* what it was before it was lowered; 0: never */
    uint64_t damaged; /* exchanges that the wire damaged */
    unsigned fresh, lowered;
    uint64_t fresh_scans; /* link.scans at the first of the fresh ones */
    bool disturbed;       /* many came close together, at least once */
};

/* What differs between JTAG, a serial line and a network loader (sh4/driver/wire.c has the three
 * tables). Members that may be NULL say so. */
struct sh4_link;
struct sh4_target;
struct sh4_request;
enum sh4_agent_link { SH4_AGENT_HUDI, SH4_AGENT_SCIF, SH4_AGENT_LOADER };
enum {
    SH4_BREAK_MIN_ASKS = 20
}; /* requests to halt before one is given up, even if its time is over: a slow adapter has hardly
      made any by then */
struct sh4_wire {
    /* the link: see sh4_link_connect() to sh4_link_wait() */
    int (*connect)(struct sh4_link *l, struct err *err);
    int (*command)(struct sh4_link *l, unsigned ti, struct err *err);
    uint64_t (*now)(const struct sh4_link *l);
    int (*wait)(struct sh4_link *l, uint64_t ns, struct err *err);
    int (*still_there)(struct sh4_link *l, struct err *err); /* the board, while nothing is asked */
    /* see sh4_link_again_ns(); NULL: as usual */
    uint64_t (*again_ns)(const struct sh4_link *l, unsigned asks, uint64_t usual_ns);
    /* requests: see sh4_agent_halted(), sh4_agent_resync(), sh4_agent_run(), sh4_agent_go() */
    int (*halted)(struct sh4_target *t, struct err *err);
    int (*resync)(struct sh4_target *t, struct err *err);
    int (*run)(struct sh4_target *t, struct sh4_request *req, size_t n, struct err *err);
    int (*go)(struct sh4_target *t, struct sh4_request *go, struct sh4_request *then, size_t n,
              bool *stopped, struct err *err);
    uint64_t look_again_ns; /* between looks for a stop that must come at once; 0: none */
    bool strays;            /* a damaged byte may be taken for a request to halt */
    /* For attach and detach. fill_block: an agent that waits in the middle of a block gets the rest
     * (may be NULL). bring_agent: the agent comes to the board; 1: it waits, 0: the program runs.
     * before_leaving, after_leaving: the agent is let go for good; the latter also where the
     * program runs already (NULL if nothing is to be done). */
    int (*fill_block)(struct sh4_target *t, struct err *err);
    int (*bring_agent)(struct sh4_target *t, struct err *err);
    int (*before_leaving)(struct sh4_target *t, struct err *err);
    int (*after_leaving)(struct sh4_target *t, struct err *err);
    /* gives a kernel that counts its halts a number that a restarted board does not reach (may be
     * NULL) */
    int (*mark_halts)(struct sh4_target *t, struct err *err);
    /* 1: the program has ended, and the agent was loaded again (may be NULL) */
    int (*look_for_end)(struct sh4_target *t, struct err *err);
    /* leaves a range step before a halt is asked; NULL: any request to halt does that */
    int (*leave_range)(struct sh4_target *t, struct err *err);
    /* when a halt is given up: after so long, and so many requests. Then the error */
    uint64_t (*halt_limit_ns)(const struct sh4_link *l);
    unsigned halt_asks;
    int (*halt_failed)(struct sh4_target *t, struct err *err);
    int (*reset)(struct sh4_target *t, enum reset_mode mode, struct err *err);
    int (*show)(struct sh4_target *t, const struct text_sink *out, struct err *err);
    /* for the trace: which of its agents talks over this wire; see sh4_link_ask_for_ring(),
     * sh4_link_look(), sh4_link_moved_bits() */
    enum sh4_agent_link agent_link;
    int (*ask_for_ring)(struct sh4_link *l, uint32_t word, uint32_t full, struct err *err);
    int (*look)(struct sh4_link *l, uint32_t word, uint32_t *seen, struct err *err);
    uint64_t (*moved_bits)(const struct sh4_link *l);
    /* a ring is asked for no sooner than after so many times what reading the last one took */
    unsigned ring_pause;
    /* INTEVT of the interrupt by which the host halts; 0: there is none, or calibration cannot
     * raise it without the host */
    uint16_t halt_intevt;
};

enum { SH4_LINK_IR_UNKNOWN = -1 };
struct sh4_dcip;
struct sh4_link {
    struct probe *p;
    const struct sh4_wire *wire;
    const struct jtag_ops *jtag; /* NULL: the agent is at the far end of a byte stream */
    unsigned ir_bits;            /* measured */
    int ir;                      /* TI loaded now, or SH4_LINK_IR_UNKNOWN */
    unsigned block;              /* most data words of one request; shrinks on a noisy wire */
    uint32_t idle_clocks;        /* after every scan of SDDR; grows when the target is late */
    bool alternates;             /* a scan of SDDR is followed by one of SDSR (sh4/driver/view.c) */
    uint32_t sdsr;               /* SDSR when that was found out */
    struct jtag_op *ops;         /* SH4_LINK_BATCH */
    uint8_t *tdi, *tdo;          /* 4 bytes per op */
    /* SH4_LINK_BATCH words each, so that a request needs no heap: the words of a batch in both
     * directions, and what memory holds on its way to the caller's bytes */
    uint32_t *out, *back, *values;
    struct sh4_clock clock;
    /* since open; scans of a stream are bytes */
    uint64_t scans, words_to_target, words_from_target, retries, resyncs;
    /* byte stream: */
    uint8_t in[8192]; /* received, not used yet */
    size_t in_len;
    /* what the kernel said last: its address, and how often it has stopped */
    uint32_t heard_base, halts;
    uint32_t mark; /* what sh4_stream_mark_halts() has it count on from; 0: nothing yet */
    bool halted;   /* the kernel waits for requests */
    bool left; /* it was let go with this number of halts: "halted" with the same number is old */
    bool go_again;  /* op_go was sent more than once: a copy may come yet, and halts the program */
    bool restarted; /* it has begun to count from 0: the board was reset */
    unsigned stale;
    uint64_t heard_ns;   /* when the last exchange ended */
    uint64_t silence_ns; /* SH4_STREAM_SILENCE_MS, or what --probe says */
    char text[120];      /* what the program prints, up to the end of its line */
    size_t text_len;
    uint64_t text_bytes;
    /* NULL: none of this goes by a loader's datagrams (sh4/driver/dcip.h) */
    struct sh4_dcip *ip;
};

/* sh4_link_init - over an adapter with JTAG, or a byte stream; the wire is not touched, p is
 * borrowed. Returns 0 or -ERR_NOMEM. */
int sh4_link_init(struct sh4_link *l, struct probe *p, struct err *err);
void sh4_link_fini(struct sh4_link *l);
/* Resets the TAP, measures the IR, checks BYPASS, and leaves reset-negate loaded. The errors for no
 * power, a stuck TDO and a wrong length differ. Does not disturb the program. */
static inline int sh4_link_connect(struct sh4_link *l, struct err *err)
{
    return l->wire->connect(l, err);
}
/* Executes n of l->ops; after a failure it is not known what is loaded. */
int sh4_link_execute(struct sh4_link *l, size_t n, struct err *err);
/* -ERR_NO_TARGET if the adapter sees no power. */
int sh4_link_check_power(struct sh4_link *l, struct err *err);
/* Returns ret, with what a pin says about it in err. For a scan that has failed. */
int sh4_link_blame_pins(struct sh4_link *l, int ret, struct err *err);
/* Whether nRESET is low, as far as the adapter can see; then nothing runs. */
bool sh4_link_reset_held(struct sh4_link *l);
/* Loads TI (enum sh4_hudi_ti). One-shot commands act at every call, even if already loaded. */
static inline int sh4_link_command(struct sh4_link *l, unsigned ti, struct err *err)
{
    return l->wire->command(l, ti, err);
}
/* Asks the running agent for its ring by `word`, unless what the agent shows is `full`: then it
 * waits with a full one already. Over a stream a byte is sent instead. */
static inline int sh4_link_ask_for_ring(struct sh4_link *l, uint32_t word, uint32_t full,
                                        struct err *err)
{
    return l->wire->ask_for_ring(l, word, full, err);
}
/* Shows the agent `word`, and reads what it had shown: returns 1. 0: this wire has nothing to read.
 */
static inline int sh4_link_look(struct sh4_link *l, uint32_t word, uint32_t *seen, struct err *err)
{
    return l->wire->look(l, word, seen, err);
}
/* What went over the wire since open, in bits of its clock. */
static inline uint64_t sh4_link_moved_bits(const struct sh4_link *l)
{
    return l->wire->moved_bits(l);
}
/* n scans of SDDR in as few batches as possible. out NULL: SH4_AGENT_POLL each; in may be NULL.
 * in[i] is what SDDR held before out[i] replaced it. Whatever command is loaded must select SDDR.
 */
int sh4_link_words(struct sh4_link *l, const uint32_t *out, uint32_t *in, size_t n,
                   struct err *err);
/* Private: internal status read, n selectors (enum sh4_status_sel) to n values; loads reset-negate
 * after. */
int sh4_link_status(struct sh4_link *l, const uint8_t *selectors, uint32_t *values, size_t n,
                    struct err *err);
/* Private: fills ASERAM from offset; words in host order. Loads reset-negate after. */
int sh4_link_aseram(struct sh4_link *l, uint32_t offset, const uint32_t *words, size_t n,
                    struct err *err);

/* Finds out whether data scans alternate between SDDR and SDSR (l->alternates), and loads
 * reset-negate. Resets the TAP. What it sends are POLLs, which neither a program nor an agent acts
 * on. Returns 0, or the adapter's failure. */
int sh4_view_find(struct sh4_link *l, struct err *err);
/* Puts the ops before a batch's first word that make its scan show SDDR, whatever happened to the
 * batch before. Returns how many, 0 to SH4_VIEW_OPS. */
enum { SH4_VIEW_OPS = 2 };
size_t sh4_view_begin(const struct sh4_link *l, struct jtag_op *ops);
/* How many scans a word takes: 1; 2 where SDSR comes between two scans of SDDR because the command
 * loaded does not hold SDDR. */
unsigned sh4_view_scans(const struct sh4_link *l);
/* The scan of SDSR behind a word's. */
struct jtag_op sh4_view_status(void);

/* ---- the wire's clock (sh4/driver/clock.c) ---- */

/* For attach: tests whether words go to SDDR and back unharmed. With sh4_options.tck_auto it lowers
 * the clock until they do. The program runs, and no agent listens. 1: the clock was lowered, attach
 * again; 0: it was not; < 0: the adapter's failure. A program that uses SDDR itself makes the test
 * meaningless: then the clock stays. */
int sh4_clock_prove(struct sh4_link *l, struct err *err);
/* An exchange was damaged. 1: the clock has been lowered because of it; 0: it was not; < 0: the
 * adapter's failure. */
int sh4_clock_damaged(struct sh4_link *l, struct err *err);

/* The link's clock, and waiting. Over a byte stream it waits only until bytes come. */
static inline uint64_t sh4_link_now(const struct sh4_link *l) { return l->wire->now(l); }
static inline int sh4_link_wait(struct sh4_link *l, uint64_t ns, struct err *err)
{
    return l->wire->wait(l, ns, err);
}

/* ---- the same over a byte stream (sh4/driver/stream.c) ---- */

/* a kernel that waits sends something more often than this, unless its memory is very slow */
#define SH4_STREAM_LISTEN_NS 400000000u
enum {
    SH4_STREAM_SILENCE_MS = 2000
}; /* a kernel that waits sends something at least this often, however slow its memory is;
      timeout=MS sets another time */
/* bytes that interrupt the program; the second is the trace agent's */
enum { SH4_STREAM_HALT = 3, SH4_STREAM_DRAIN = 2 };
struct sh4_target;
struct sh4_request;
/* How long to wait for what usually has come in usual_ns: as much longer as timeout=MS of --probe
 * is longer than SH4_STREAM_SILENCE_MS, never less. */
static inline uint64_t sh4_stream_given(const struct sh4_link *l, uint64_t usual_ns)
{
    return MAX(usual_ns, usual_ns / SH4_STREAM_SILENCE_MS * (l->silence_ns / 1000000));
}
void sh4_stream_init(struct sh4_link *l); /* of sh4_link_init */
/* The sum of requests and answers: c with one more word. */
uint32_t sh4_stream_sum(uint32_t c, uint32_t word);
/* What the program prints; it is logged line by line. */
void sh4_stream_text_byte(struct sh4_link *l, uint8_t c);
void sh4_stream_text(struct sh4_link *l, const uint8_t *text, size_t n);
/* How long to wait until a program that was asked `asks` times to stop is asked again. Over JTAG
 * that is usual_ns. Over a stream it is that the first few times, and then longer: a kernel that
 * waits, and whose message was lost, repeats it only when it has received nothing for a while. */
static inline uint64_t sh4_link_again_ns(const struct sh4_link *l, unsigned asks, uint64_t usual_ns)
{
    if (l->wire->again_ns)
        return l->wire->again_ns(l, asks, usual_ns);
    return usual_ns;
}
/* Listens for a while, to find out whether a kernel waits at the far end. */
int sh4_stream_connect(struct sh4_link *l, struct err *err);
int sh4_stream_interrupt(struct sh4_link *l, uint8_t why, struct err *err);
int sh4_stream_wait(struct sh4_link *l, uint64_t ns, struct err *err);
/* As the functions of requests.h. sh4_stream_run() does op_go too, and only once even if its answer
 * is lost. */
int sh4_stream_halted(struct sh4_target *t, struct err *err);
int sh4_stream_resync(struct sh4_target *t, struct err *err);
int sh4_stream_run(struct sh4_target *t, struct sh4_request *req, size_t n, struct err *err);

/* Has dcload-serial load and start the agent, unless the agent is there already and answers a halt
 * (sh4/driver/dcload.c). 1: it waits; 0: it was started, and nothing is heard from it. */
int sh4_dcload(struct sh4_target *t, struct err *err);

#endif
