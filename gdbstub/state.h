/* The structs behind gdbstub.h. Private to gdbstub/ and its tests. */
#ifndef GDBSTUB_STATE_H
#define GDBSTUB_STATE_H

#include "gdbstub/actions.h"
#include "gdbstub/gdbstub.h"
#include "gdbstub/rsp.h"
#include "gdbstub/session_state.h"
#include "probe/base/util.h"
#include "targets/os/tasks.h"

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
    KEPT_TEXT_BYTES = 8192,
    SILENCE_MS = 3000, /* a controller in the middle of something gives way after that */
};

/* ---- shared by all sessions ---- */

enum reg_state { REG_UNKNOWN, REG_VALID, REG_ABSENT };

struct breakpoint {
    enum bp_kind kind;
    uint64_t addr;
    unsigned len;
    bool leaving; /* GDB has removed it; the target has it until it goes on */
    struct actions actions;
};

/* The threads that GDB is shown (threads.c). With none known there is one, the CPU, with number 1.
 */
struct threads {
    /* as of now (stub_forget_regs() ends that); else they are looked for when GDB asks */
    bool fresh;
    bool all;         /* all of them, and not only which one runs */
    bool whole;       /* the list makes sense; else only the one that runs is shown */
    unsigned running; /* number of the one that runs */
    unsigned stepped; /* of the one that a step under way began in; 0: none is */
    size_t n;         /* 0: only the CPU is known */
    unsigned next;    /* the next number to give */
    struct {
        uint32_t context; /* task.context */
        unsigned number;
    } row[TASKS_MOST];
};

struct stub {
    struct stub_config cfg;
    struct target *t;
    const struct target_ops *ops;
    struct session *sessions;   /* oldest first */
    unsigned nsessions, opened; /* now, and since the stub was made */
    struct session *controller;

    size_t nregs; /* without hidden ones */
    size_t reg_offset[GDBSTUB_MAX_REGS];
    size_t reg_bytes;
    uint8_t regs[REG_FILE_BYTES];        /* as of the last halt */
    uint8_t reg_state[GDBSTUB_MAX_REGS]; /* enum reg_state */
    bool regs_complete;                  /* none is REG_UNKNOWN */

    struct threads threads;

    struct breakpoint bps[GDBSTUB_MAX_BREAKPOINTS];
    size_t nbps;
    uint64_t now_ns;      /* as of the last tick */
    bool withdraws;       /* some are of a GDB that has left, and could not be taken out yet */
    uint64_t withdrew_ns; /* when that was tried last */

    struct target_stop last_stop; /* reason STOP_NONE: not seen one */
    struct resume last_resume;
    enum halt_purpose purpose; /* halt_event() changes it */
    bool gone;
    /* why the target's state is not known although it is not gone; code ERR_OK: it is known */
    struct err trouble;
    /* the failure of something that GDB asked for, not on its console yet; code ERR_OK: none */
    struct err failure;
    const char *failed_request; /* "download": static */
    bool failure_passes;     /* GDB does not resume before what it asked for is granted or gone */
    struct buffer kept_text; /* what commands have printed and GDB cannot take yet */
    bool fileio;             /* host I/O requests go to GDB */
    bool semihosting;        /* exits are noticed */
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

struct session {
    struct stub *stub;
    struct session *next;
    unsigned number;          /* its number among the stub's sessions, for logs */
    enum session_state state; /* session_event() changes it */
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
    bool extended, non_stop;
    bool says_swbreak, says_hwbreak, error_text; /* what GDB announced */
    bool created;                                /* by vRun: quitting kills it */
    uint64_t interrupted_ns; /* SESSION_INTERRUPTED: the first tick of it; 0 = none yet */
    /* since when it has been in the middle of a packet, or has not taken what was sent to it, or
     * has not said anything yet, by ticks; 0: none of that, or not since a tick */
    uint64_t silent_ns;
    bool heard; /* a packet of it has come */
    struct walk walk;
    /* the only thread that this GDB let go, of which it takes the next stop to be; 0: all */
    unsigned alone;
    unsigned thread;      /* whose registers g and p are about; 0: the one that runs */
    bool monitor_running; /* O packets are allowed */
};

#endif
