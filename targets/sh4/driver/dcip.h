/* A Dreamcast that runs dcload-ip: the loader's commands, and the agent's blocks in its
 * "gdbpacket" call. For sh4_dcip*.c and sh4/driver/stream.c.
 * The loader serves the network only while it is idle, or while a program is in one of its
 * calls; then every command works, reading memory too, and nothing of that changes anything. So
 * nothing that must not happen twice is sent again before a look at the agent's box (agent.h)
 * has told that it did not arrive. docs/sh4-agent.md, 10. */
#ifndef TARGETS_SH4_DRIVER_DCIP_H
#define TARGETS_SH4_DRIVER_DCIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/sh4/agent/agent.h"

struct sh4_link;
struct sh4_target;

enum {
    SH4_DCIP_HEAD = 12,
    SH4_DCIP_CHUNK = 1024,
    SH4_DCIP_DATAGRAM = 2048,
    SH4_DCIP_NUMBER = 4,
    SH4_DCIP_CALL = 32
};
/* Where the agent lies, with what it needs for a trace behind it, if the user does not say: a
 * KallistiOS heap grows up to it, and stacks down from 16 MB. */
#define SH4_DCIP_RAM       0x8CF00000u
#define SH4_DCIP_RAM_BYTES (64u * 1024u)

struct sh4_dcip {
    uint32_t base;    /* the agent's */
    char version[80]; /* the loader's own words */
    bool known;       /* number is that of a block that was taken */
    bool waits;       /* the agent has its block in the loader, and was not replied to */
    bool replied;     /* it was, and whether that arrived is not known yet */
    bool calling;     /* the same of a call of the program */
    /* the loader talks to the port of a session that is lost: only looks tell */
    bool deaf;
    bool halt_wanted; /* told when the agent looks next */
    bool leaving;     /* it is let go for good: nobody will be there for the program's calls */
    bool ended;       /* the program has told the loader that it ends */
    uint32_t number;
    uint8_t reply[SH4_DCIP_HEAD + SH4_DCIP_NUMBER + SH4_BOX_ROOM], call_reply[SH4_DCIP_HEAD];
    size_t reply_len;
    uint8_t call[SH4_DCIP_CALL]; /* the program's last, to tell a datagram that comes twice */
    size_t call_len;
    bool looking; /* a look is under way */
    /* looks since the reply; those that found the loader without the agent; unanswered running */
    unsigned tries, others, silent;
    uint64_t look_ns;              /* when the next is due */
    uint8_t out[4 * SH4_BOX_ROOM]; /* of blocks, for sh4/driver/stream.c */
    size_t out_len;
    /* replies sent again, blocks that came twice, calls of the program: all, refused, lost */
    uint64_t again, twice, calls, refused, lost_calls;
};

/* sh4_dcip_head - the loader's header: id, then two words, highest byte first. b: SH4_DCIP_HEAD
 * bytes */
void sh4_dcip_head(uint8_t *b, const char *id, uint32_t address, uint32_t size);
/* a command that is answered by one datagram with the same id */
struct sh4_dcip_command {
    const char *id;
    uint32_t address, size;
};
/* sh4_dcip_command - asks so many times. 1: d holds the answer, n bytes; 0: none came. */
int sh4_dcip_command(struct sh4_link *l, const struct sh4_dcip_command *c, unsigned tries,
                     uint8_t d[SH4_DCIP_DATAGRAM], size_t *n, struct err *err);
/* sh4_dcip_silent - the error that no answer came while `what` was done */
int sh4_dcip_silent(struct sh4_link *l, const char *what, struct err *err);
/* sh4_dcip_store - writes memory by the loader, until it says that nothing is missing */
int sh4_dcip_store(struct sh4_link *l, uint32_t to, const uint8_t *image, size_t n,
                   struct err *err);
/* sh4_dcip_fetch - reads memory by the loader, the CPU's way at addr. 1; 0: unanswered after so
 * many tries; < 0: the adapter's failure. */
int sh4_dcip_fetch(struct sh4_link *l, uint32_t addr, uint8_t *buf, size_t n, unsigned tries,
                   struct err *err);
/* sh4_dcip_patience - how long an answer may take, at the try of that number from 0 on */
uint64_t sh4_dcip_patience(const struct sh4_link *l, unsigned tries);
/* sh4_dcip_adopt - the agent may wait since a session that is lost, its block in box (up to
 * SH4_BOX_ANSWER): it is told to stay halted. */
int sh4_dcip_adopt(struct sh4_link *l, const uint8_t *box, struct err *err);
/* sh4_dcip_anew - forgets what was known of agent and program. */
void sh4_dcip_anew(struct sh4_link *l);

/* As the members of stream_ops, for sh4/driver/stream.c: the agent's words. What the program asks
 * its loader for is served meanwhile. */
int sh4_dcip_read(struct sh4_link *l, uint8_t *buf, size_t cap, uint64_t max_ns, struct err *err);
int sh4_dcip_write(struct sh4_link *l, const uint8_t *buf, size_t len, struct err *err);
int sh4_dcip_flush(struct sh4_link *l, struct err *err);
/* An agent that waits says "halted" again. */
int sh4_dcip_again(struct sh4_link *l, struct err *err);
/* Until a reply that is under way has arrived, or surely will not. */
int sh4_dcip_settle(struct sh4_link *l, struct err *err);

/* sh4_dcip_attach - finds the loader; the agent in it, or loads and starts it. 1: it waits,
 * halted. */
int sh4_dcip_attach(struct sh4_target *t, struct err *err);
/* sh4_dcip_restart - the loader anew (reboot: told so first, else it is by itself), and the
 * agent. As sh4_dcip_attach(). */
int sh4_dcip_restart(struct sh4_target *t, bool reboot, struct err *err);
/* sh4_dcip_calls_off - while the loader is in a call: from the next one on all fail at once, the
 * agent's too. */
int sh4_dcip_calls_off(struct sh4_link *l, struct err *err);
/* sh4_dcip_leave - halted, before the last resume: the agent asks nobody any more, and the
 * program's calls return at once. */
int sh4_dcip_leave(struct sh4_target *t, struct err *err);

#endif
