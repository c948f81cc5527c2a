/* Private to gdbstub/ (and its tests): the structs behind gdbstub.h and the packet table. */
#ifndef GDBSTUB_INTERNAL_H
#define GDBSTUB_INTERNAL_H

#include "gdbstub/gdbstub.h"
#include "gdbstub/rsp.h"
#include "probe/base/util.h"

enum {
    REG_FILE_BYTES = 4096,   /* all registers of a target together */
    REG_MAX_BYTES = 32,
    OUT_FIRST = 2 * GDBSTUB_PACKET_SIZE + 4096,
    OUT_HIGH = GDBSTUB_PACKET_SIZE * 2, /* with more than this unsent, no further packet is taken */
    OUT_MAX = 1 << 20,       /* no session holds more output than this */
    MEM_CHUNK = 4096,        /* of a walk: what others wait for at most */
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

    size_t nregs;             /* without hidden ones */
    size_t reg_offset[GDBSTUB_MAX_REGS];
    size_t reg_bytes;
    uint8_t regs[REG_FILE_BYTES];          /* as of the last halt */
    uint8_t reg_state[GDBSTUB_MAX_REGS];   /* enum reg_state */
    bool regs_complete;                    /* none is REG_UNKNOWN */

    struct breakpoint bps[GDBSTUB_MAX_BREAKPOINTS];
    size_t nbps;

    struct target_stop last_stop; /* reason STOP_NONE: not seen one */
    struct resume last_resume;
    bool halt_wanted;             /* by a user: the next STOP_REQUEST is theirs */
    bool snapshot_wanted;         /* by an observer: look and let go on */
    bool starting;                /* the next stop is the start of a program: PC is to be set */
    bool gone;
    struct err trouble;           /* why the target's state is not known although it is not gone; code ERR_OK: it is */
    struct err unheard;           /* of what GDB asked for, not told on its console yet; code ERR_OK: none */
    const char *unheard_what;     /* "download": static */
    bool fileio;                  /* host I/O requests go to GDB */
    bool semihosting;             /* exits are noticed */
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
    uint8_t *scratch;         /* GDBSTUB_PACKET_SIZE bytes for memory on its way */
    uint8_t *last;            /* last packet, for a '-'; used until acknowledgments are off */
    size_t last_len;
    unsigned resends;

    bool acks;
    bool acks_off_next;       /* after the reply in hand */
    bool finished;
    bool extended, non_stop;
    bool says_swbreak, says_hwbreak, error_text; /* what GDB announced */
    bool waiting;             /* the next stop answers a packet */
    bool replies_once;        /* and that packet takes one reply: GDB understands no console text before it */
    bool stop_quietly;        /* by vCont;t */
    bool notified;            /* non-stop: %Stop sent, vStopped awaited */
    bool no_process;          /* extended mode after an exit or a kill */
    bool created;             /* by vRun: quitting kills it */
    enum fileio_state fileio;
    uint64_t halt_asked_ns;   /* a halt is taking its time; 0 = none asked */
    bool halt_asked;
    uint64_t now_ns;          /* of the last tick */
    struct walk walk;
    bool monitor_running;     /* O packets are allowed */
};

/* ---- the packet table ---- */

enum packet_flags {
    EXACT = 1 << 0,         /* the name is the whole packet */
    NEEDS_HALT = 1 << 1,    /* refused while the target runs */
    NEEDS_CONTROL = 1 << 2, /* refused to an observer */
    NEEDS_TARGET = 1 << 3,  /* refused while the target is gone */
    TEXT_ERRORS = 1 << 4,   /* every GDB takes E.text here */
};

struct packet_row {
    const char *name; /* packets that begin so */
    void (*run)(struct session *s, char *args, size_t len); /* args: behind the name, NUL-terminated */
    unsigned flags;
};

/* packet_rows - the table, first match wins; static. A row must not begin a later one unless EXACT. */
const struct packet_row *packet_rows(size_t *n);

/* packet_find - the row for a payload, NULL if the answer is the empty packet. */
const struct packet_row *packet_find(const char *payload);

/* ---- replies (session.c) ---- */
void reply_begin(struct session *s);
uint8_t *reply_room(struct session *s, size_t n); /* n bytes behind what was put; NULL if too much */
void reply_take(struct session *s, size_t n);     /* n of that room are used */
void reply_put(struct session *s, const void *p, size_t n);
void reply_printf(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void reply_hex(struct session *s, const uint8_t *p, size_t n);
void reply_end(struct session *s);
void reply_text(struct session *s, const char *text); /* a whole packet */
void reply_ok(struct session *s);
void reply_empty(struct session *s);
/* An error packet: E.text if this GDB takes it (always_text: if every GDB does here), else Enn. */
void reply_err(struct session *s, const struct err *err, bool always_text);
void reply_usage(struct session *s, const char *what);
void notify_begin(struct session *s); /* like reply_begin, for '%' */
/* Console text in O packets, cut to the packet size, as much as fits the bound. */
void console_write(struct session *s, const char *text, size_t len);
void console_print(struct session *s, const char *text);
bool session_interrupted(struct session *s);
/* GDB has no ear for why this failed: kept until session_tell_unheard(), and given to whoever runs the bridge. what: static. */
void session_unheard(struct session *s, const char *what, const struct err *why);
/* Tells it. Only where the protocol permits O packets. */
void session_tell_unheard(struct session *s);

/* ---- shared state (stub.c) ---- */
void stub_forget_regs(struct stub *stub);
int stub_read_reg(struct stub *stub, unsigned n, struct err *err); /* into regs[]; REG_ABSENT is 0 too */
int stub_write_reg(struct stub *stub, unsigned n, const uint8_t *value, struct err *err);
int stub_write_pc(struct stub *stub, uint64_t pc, struct err *err);
bool stub_running(const struct stub *stub);
/* True if the resume would begin at a breakpoint: the stop it makes is in last_stop, the target was not touched but for PC. */
bool stub_meets_breakpoint(struct stub *stub, const struct resume *how);
int stub_resume(struct stub *stub, const struct resume *how, struct err *err);
/* The last resume once more, after a stop that nobody was to see: 1 it runs, 0 it stays at a breakpoint (in last_stop). */
int stub_go_on(struct stub *stub, struct err *err);
int stub_halt(struct stub *stub, struct err *err); /* asks; completion comes through stub_stopped() */
int stub_reset(struct stub *stub, enum reset_mode mode, struct err *err);
int stub_insert(struct stub *stub, const struct breakpoint *bp, struct err *err);
int stub_remove(struct stub *stub, const struct breakpoint *bp, struct err *err);
void stub_remove_all(struct stub *stub);
int stub_settle_breakpoints(struct stub *stub, struct err *err); /* takes away those that are leaving */
int stub_attach(struct stub *stub, struct err *err);
int stub_release(struct stub *stub, struct err *err); /* as for D */
void stub_left(struct stub *stub); /* the last connection broke off */
void stub_set_semihosting(struct stub *stub, bool on);

/* ---- stop replies (cmd_run.c) ---- */
void session_on_stop(struct session *s);
/* Answers what waits for a stop that will not come: the session believes in one, but reads no registers. */
void session_give_up(struct session *s);

/* ---- host I/O (fileio.c) ---- */
/* STOP_SYSCALL: true if the session now waits for GDB's F packet, false if it was settled here and
 * *result, *error are what the program gets. */
bool fileio_request(struct session *s, const struct target_stop *stop, int64_t *result, int32_t *error);

/* Every command of the table. */
#define COMMAND(name) void name(struct session *s, char *args, size_t len)
COMMAND(cmd_read_regs); COMMAND(cmd_write_regs); COMMAND(cmd_read_reg); COMMAND(cmd_write_reg);
COMMAND(cmd_read_mem); COMMAND(cmd_read_mem_binary); COMMAND(cmd_write_mem); COMMAND(cmd_write_mem_binary);
COMMAND(cmd_crc); COMMAND(cmd_search); COMMAND(cmd_flash_erase); COMMAND(cmd_flash_write); COMMAND(cmd_flash_done);
COMMAND(cmd_why); COMMAND(cmd_continue); COMMAND(cmd_step); COMMAND(cmd_continue_signal);
COMMAND(cmd_step_signal); COMMAND(cmd_vcont); COMMAND(cmd_vcont_query); COMMAND(cmd_vctrlc);
COMMAND(cmd_vstopped); COMMAND(cmd_run_program); COMMAND(cmd_vattach); COMMAND(cmd_vkill); COMMAND(cmd_kill);
COMMAND(cmd_detach); COMMAND(cmd_restart); COMMAND(cmd_extended); COMMAND(cmd_insert_bp); COMMAND(cmd_remove_bp);
COMMAND(cmd_supported); COMMAND(cmd_no_ack); COMMAND(cmd_non_stop); COMMAND(cmd_attached); COMMAND(cmd_current_thread);
COMMAND(cmd_thread_info); COMMAND(cmd_thread_info_more); COMMAND(cmd_thread_extra); COMMAND(cmd_set_thread); COMMAND(cmd_thread_alive);
COMMAND(cmd_xfer_features); COMMAND(cmd_xfer_memory_map); COMMAND(cmd_monitor); COMMAND(cmd_fileio_reply);
COMMAND(cmd_empty);
#undef COMMAND

#endif
