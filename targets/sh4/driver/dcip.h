/* A Dreamcast that runs dcload-ip: the loader's commands, and the agent's blocks in its "gdbpacket"
 * call. For driver/dcip*.c and sh4/driver/stream.c.
 * The loader listens to the network only while it is idle, or while a program is in one of its
 * calls. Then every command works, also reading memory, and none of that changes anything. So what
 * must not happen twice is sent again only after a look at the agent's box (agent.h) has shown that
 * it did not arrive. docs/sh4-agent.md, 10. */
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
/* Where the agent lies, with what it needs for a trace behind it, unless the user says otherwise: a
 * KallistiOS heap grows up to it, and stacks grow down from 16 MB. */
#define SH4_DCIP_RAM       0x8CF00000u
#define SH4_DCIP_RAM_BYTES (64u * 1024u)

struct sh4_dcip {
    uint32_t base;    /* the agent's */
    char version[80]; /* the loader's own words */
    bool known;       /* number is that of the block that was taken last */
    bool waits;       /* the agent's block is in the loader, and waits for our reply */
    bool replied;     /* it was replied to, and it is not known yet whether that has arrived */
    bool calling;     /* the same of our reply to a call of the program */
    /* the loader sends to the port of a session that is lost: only looks show what goes on */
    bool deaf;
    bool halt_wanted; /* goes with the next reply to the agent */
    bool leaving;     /* the agent is let go for good: nobody will answer the program's calls */
    bool ended;       /* the program has ended, as it told the loader */
    uint32_t number;
    uint8_t reply[SH4_DCIP_HEAD + SH4_DCIP_NUMBER + SH4_BOX_ROOM], call_reply[SH4_DCIP_HEAD];
    size_t reply_len;
    uint8_t
        call[SH4_DCIP_CALL]; /* the program's last call, to recognise a datagram that comes twice */
    size_t call_len;
    bool looking; /* a look is under way */
    /* looks since the reply; of them, those that found the loader without the agent; and unanswered
     * ones in a row */
    unsigned tries, others, silent;
    uint64_t look_ns;              /* when the next is due */
    uint8_t out[4 * SH4_BOX_ROOM]; /* bytes of blocks, for sh4/driver/stream.c */
    size_t out_len;
    /* replies sent again; blocks that came twice; calls of the program: all, refused, lost */
    uint64_t again, twice, calls, refused, lost_calls;
};

/* sh4_dcip_head - writes the loader's header to b (SH4_DCIP_HEAD bytes): id, then two words,
 * highest byte first */
void sh4_dcip_head(uint8_t *b, const char *id, uint32_t address, uint32_t size);
/* A command that is answered by one datagram with the same id. */
struct sh4_dcip_command {
    const char *id;
    uint32_t address, size;
};
/* sh4_dcip_command - sends a command, up to `tries` times. 1: d holds the answer of *n bytes; 0:
 * none came. */
int sh4_dcip_command(struct sh4_link *l, const struct sh4_dcip_command *c, unsigned tries,
                     uint8_t d[SH4_DCIP_DATAGRAM], size_t *n, struct err *err);
/* sh4_dcip_silent - the error that no answer came while `what` was done */
int sh4_dcip_silent(struct sh4_link *l, const char *what, struct err *err);
/* sh4_dcip_store - has the loader write memory, until it says that nothing is missing */
int sh4_dcip_store(struct sh4_link *l, uint32_t to, const uint8_t *image, size_t n,
                   struct err *err);
/* sh4_dcip_fetch - has the loader read memory, as the CPU sees it at addr. 1: read; 0: not answered
 * after so many tries; < 0: the adapter's failure. */
int sh4_dcip_fetch(struct sh4_link *l, uint32_t addr, uint8_t *buf, size_t n, unsigned tries,
                   struct err *err);
/* sh4_dcip_patience - how long to wait for an answer after so many tries before */
uint64_t sh4_dcip_patience(const struct sh4_link *l, unsigned tries);
/* sh4_dcip_reattach - the agent may have waited since a session that was lost, with its block in
 * box (up to SH4_BOX_ANSWER). It is told to stay halted. 1: it waits; 0: it does not; < 0: a
 * failure. */
int sh4_dcip_reattach(struct sh4_link *l, const uint8_t *box, struct err *err);
/* sh4_dcip_forget - forgets what was known of agent and program */
void sh4_dcip_forget(struct sh4_link *l);

/* As the members of stream_ops, for sh4/driver/stream.c: the agent's words. Meanwhile the program's
 * calls of its loader are answered. */
int sh4_dcip_read(struct sh4_link *l, uint8_t *buf, size_t cap, uint64_t max_ns, struct err *err);
int sh4_dcip_write(struct sh4_link *l, const uint8_t *buf, size_t len, struct err *err);
int sh4_dcip_flush(struct sh4_link *l, struct err *err);
/* An agent that waits says "halted" again. */
int sh4_dcip_again(struct sh4_link *l, struct err *err);
/* Waits until a reply that is under way has arrived, or surely will not. */
int sh4_dcip_settle(struct sh4_link *l, struct err *err);

/* sh4_dcip_attach - finds the loader, and the agent in it, or has it load and start the agent. 1:
 * the agent waits, halted. */
int sh4_dcip_attach(struct sh4_target *t, struct err *err);
/* sh4_dcip_restart - restarts the loader and the agent. reboot: the loader is told to restart;
 * otherwise it does so by itself. Returns as sh4_dcip_attach(). */
int sh4_dcip_restart(struct sh4_target *t, bool reboot, struct err *err);
/* sh4_dcip_calls_off - while the loader is in a call: from the next one on all fail at once, the
 * agent's too. */
int sh4_dcip_calls_off(struct sh4_link *l, struct err *err);
/* sh4_dcip_leave - halted, before the last resume: the agent asks nobody any more, and the
 * program's calls return at once. */
int sh4_dcip_leave(struct sh4_target *t, struct err *err);

#endif
