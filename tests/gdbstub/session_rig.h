/* GDB sessions on a target made of RAM: packets in, text out, with the target running meanwhile as
 * the worker would have it. */
#ifndef TESTS_GDBSTUB_SESSION_RIG_H
#define TESTS_GDBSTUB_SESSION_RIG_H

#include "gdbstub/state.h"
#include "tests/gdbstub/ram_target.h"

struct fixture {
    struct ram_target ram;
    struct stub *stub;
    struct session *s;
    char *answer; /* what the last call of take_answer() returned */
    bool hold;    /* something else needs the target attached */
    struct log log;
};

/* A stop reply with PC, and SP as it begins. */
#define STOP_AT(sig, pc_le, more) "T" sig "05:" pc_le ";06:00800000;thread:1;" more

/* cmocka's setup and teardown: one session on a target that stands at 0x1000. */
int rig_setup(void **state);
int rig_teardown(void **state);

/* Lets the target run, for a bounded while, and tells the stub of a stop. */
void pump_target(struct fixture *fx);

/* What is pending, without framing: payloads of packets and notifications with a blank between;
 * acknowledgments stand for themselves. Console text becomes O<text>, a line that is itself the
 * reply =<text>. It is sent. Until the next call. */
const char *take_answer(struct fixture *fx, struct session *s);

/* Bytes as they are; all have to be taken. */
void feed_bytes(struct session *s, const void *p, size_t len);

/* One packet, framed. */
void send_packet(struct session *s, const char *payload, size_t len);

/* One packet in, everything that comes out, with the target running meanwhile. "^C" is 0x03. */
const char *talk_to(struct fixture *fx, struct session *s, const char *payload);
const char *talk_first(struct fixture *fx, const char *payload);

/* Acknowledgments off. */
void no_acks(struct fixture *fx);

/* One more session, without acknowledgments. */
struct session *open_second(struct fixture *fx);

/* A monitor command in clear text. */
const char *talk_monitor(struct fixture *fx, struct session *s, const char *line);

/* The word at PC asks for host I/O. */
void put_syscall(struct fixture *fx, uint32_t number, uint32_t a, uint32_t b, uint32_t c);

/* The target is gone, and the sessions are told; what they say of it is dropped. */
void lose_target(struct fixture *fx);

#endif
