/* Questions and answers over a byte stream with a GDB remote stub at its far end: acknowledgement,
 * repetition, deadlines. */
#ifndef TARGETS_SH4_RSP_CLIENT_H
#define TARGETS_SH4_RSP_CLIENT_H

#include "probe/base/err.h"
#include "probe/probe.h"
#include "targets/sh4/rsp/packet.h"

enum { RSP_CONSOLE_BYTES = 2048, RSP_PACKET_DEFAULT = 400 };

struct rsp_client {
    struct probe *probe; /* borrowed */
    struct rsp_parser in;
    uint8_t raw[4096]; /* received, not yet parsed */
    size_t raw_len, raw_at;
    bool lossless;    /* the stream's trait */
    bool no_ack;      /* QStartNoAckMode was accepted */
    bool doubtful;    /* a packet was repeated: its second answer may still come */
    bool never_acks;  /* it does not acknowledge: an answer alone is enough */
    bool want_output; /* 'O' packets are answers, not the program's console */
    /* a stop reply answers this question; to any other question it is old */
    bool want_stop;
    size_t packet_size;  /* of the stub, characters between '$' and '#' */
    uint64_t heard_ns;   /* when the last answer came */
    uint64_t timeout_ns; /* how long an answer may take, as --probe says; 0: it does not say */
    char line[160];      /* of the program's console, for the log */
    size_t line_len;
    uint32_t last_hash; /* hash of the last answer: a repetition of it is not the answer to the next
                           question */
    char console[RSP_CONSOLE_BYTES]; /* the last of what the program printed through the stub */
    size_t console_len;
    uint64_t asked, repeated, damaged, stale, console_lost;
};

/* rsp_client_init - forgets everything, also what was received; the stream is that of p. */
int rsp_client_init(struct rsp_client *c, struct probe *p, struct err *err);

/* rsp_send - sends a packet, and waits for nothing. Continue and step are never repeated on
 * silence: a stub that got them would find the repetition at its next stop. */
int rsp_send(struct rsp_client *c, const char *body, size_t n, struct err *err);

/* rsp_receive - the next packet, in c->in.body until the next call: 1; 0: none within max_ns; < 0:
 * the stream, or (without acknowledgement) a damaged packet. *nak: set when the stub wants the last
 * packet again; may be NULL. */
int rsp_receive(struct rsp_client *c, uint64_t max_ns, bool *nak, struct err *err);

/* rsp_ask - sends a packet and waits for its answer, repeating it where the link may have lost it
 * body, n   may be binary
 * Returns 0 with the answer in c->in.body; -ERR_TIMEOUT after all attempts; -ERR_USB. */
int rsp_ask(struct rsp_client *c, const char *body, size_t n, struct err *err);

/* rsp_patience - how long to wait for an answer: what --probe says, else usual_ns. */
uint64_t rsp_patience(const struct rsp_client *c, uint64_t usual_ns);

/* rsp_try - asks once, with a deadline of its own: for questions that a stub may never answer. 1:
 * answered; 0: silence. */
int rsp_try(struct rsp_client *c, const char *body, uint64_t max_ns, struct err *err);

/* rsp_try_in_turn - the same on a lossless stream, where a "?" behind the question separates a late
 * stub from a silent one. A stub answers in turn, so a stop that comes first means that it was
 * silent.
 * usual_ns   until "?" is sent; its answer is waited for as long as --probe says */
int rsp_try_in_turn(struct rsp_client *c, const char *body, uint64_t usual_ns, struct err *err);

/* rsp_repeats - whether c->in.body is the last answer once more.
 * rsp_remember - it is an answer, to be recognised if it comes again. */
bool rsp_repeats(const struct rsp_client *c);
void rsp_remember(struct rsp_client *c);

/* rsp_greet - acknowledges what the stub sent before anybody listened. Some repeat their stop until
 * then, once for each byte that is no '+' (KallistiOS and GDB's sh-stub.c, putpacket). */
int rsp_greet(struct rsp_client *c, struct err *err);

/* rsp_acknowledged - waits for '+', '-' or a packet, max_ns at most. 1: a packet, in c->in.body; 0:
 * one of the others (*nak says which) or nothing. */
int rsp_acknowledged(struct rsp_client *c, uint64_t max_ns, bool *nak, struct err *err);

/* rsp_interrupt - the byte 0x03, outside of any packet. */
int rsp_interrupt(struct rsp_client *c, struct err *err);

/* rsp_console - keeps what an 'O' packet (in c->in.body) says. False if the packet is no such. */
bool rsp_console(struct rsp_client *c);

#endif
