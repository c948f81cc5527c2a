/* The structs behind gdbstub.h. Private to gdbstub/ and its tests. */
#ifndef GDBSTUB_STATE_H
#define GDBSTUB_STATE_H

#include "gdbstub/gdbstub.h"
#include "gdbstub/rsp.h"
#include "probe/base/util.h"

enum {
    REG_FILE_BYTES = 4096, /* all registers of a target together */
    REG_MAX_BYTES = 32,
    OUT_FIRST = 2 * GDBSTUB_PACKET_SIZE + 4096,
    OUT_HIGH = GDBSTUB_PACKET_SIZE * 2, /* with more than this unsent, no further packet is taken */
    OUT_MAX = 1 << 20,                  /* no session holds more output than this */
    MEM_CHUNK = 4096,                   /* of a walk: what others wait for at most */
    MAX_RESENDS = 8,
    START_UP_NS = 20000000,  /* a board's own start-up gets this long before `run` halts it */
    HALT_PATIENCE_MS = 3000, /* until the user is told that a halt takes long */
};

/* ---- shared by all sessions ---- */

enum reg_state { REG_UNKNOWN, REG_VALID, REG_ABSENT };

struct breakpoint {
    enum bp_kind kind;
    uint64_t addr;
    unsigned len;
    bool leaving; /* GDB has removed it, the target has it until it goes on */
};

struct stub {
    struct stub_config cfg;
    struct target *t;
    const struct target_ops *ops;
    struct session *sessions; /* oldest first */
    unsigned nsessions;
    struct session *controller;

    size_t nregs; /* without hidden ones */
    size_t reg_offset[GDBSTUB_MAX_REGS];
    size_t reg_bytes;
    uint8_t regs[REG_FILE_BYTES];        /* as of the last halt */
    uint8_t reg_state[GDBSTUB_MAX_REGS]; /* enum reg_state */
    bool regs_complete;                  /* none is REG_UNKNOWN */

    struct breakpoint bps[GDBSTUB_MAX_BREAKPOINTS];
    size_t nbps;

    struct target_stop last_stop; /* reason STOP_NONE: not seen one */
    struct resume last_resume;
    bool halt_wanted;     /* by a user: the next STOP_REQUEST is theirs */
    bool snapshot_wanted; /* by an observer: look and let go on */
    bool starting;        /* the next stop is the start of a program: PC is to be set */
    bool gone;
    /* why the target's state is not known although it is not gone; code ERR_OK: it is */
    struct err trouble;
    /* of what GDB asked for, not told on its console yet; code ERR_OK: none */
    struct err unheard;
    const char *unheard_what; /* "download": static */
    bool fileio;              /* host I/O requests go to GDB */
    bool semihosting;         /* exits are noticed */
};

/* ---- one connection ---- */

/* qCRC or qSearch:memory on its way through memory; see session_work(). */
struct walk {
    enum walk_kind { WALK_NONE, WALK_CRC, WALK_SEARCH } kind;
    uint64_t addr, left;
    uint32_t crc;
    uint8_t *pattern; /* GDBSTUB_PACKET_SIZE / 2 bytes, from the first search on */
    size_t pattern_len;
};

struct out {
    uint8_t *buf;
    size_t cap, head, tail;
    size_t start;     /* of the packet being built */
    bool overflow;    /* the packet being built did not fit */
    uint64_t dropped; /* payload bytes of packets that did not fit */
};

enum fileio_state { FILEIO_IDLE, FILEIO_ASKED };

struct session {
    struct stub *stub;
    struct session *next;
    bool (*peek)(void *ctx);
    void *peek_ctx;

    struct rsp_decoder in;
    struct out out;
    uint8_t *scratch; /* GDBSTUB_PACKET_SIZE bytes for memory on its way */
    uint8_t *last;    /* last packet, for a '-'; used until acknowledgments are off */
    size_t last_len;
    unsigned resends;

    bool acks;
    bool acks_off_next; /* after the reply in hand */
    bool finished;
    bool extended, non_stop;
    bool says_swbreak, says_hwbreak, error_text; /* what GDB announced */
    bool waiting;                                /* the next stop answers a packet */
    /* and that packet takes one reply: GDB understands no console text before it */
    bool replies_once;
    bool stop_quietly; /* by vCont;t */
    bool notified;     /* non-stop: %Stop sent, vStopped awaited */
    bool no_process;   /* extended mode after an exit or a kill */
    bool created;      /* by vRun: quitting kills it */
    enum fileio_state fileio;
    uint64_t halt_asked_ns; /* a halt is taking its time; 0 = none asked */
    bool halt_asked;
    uint64_t now_ns; /* of the last tick */
    struct walk walk;
    bool monitor_running; /* O packets are allowed */
};

#endif
