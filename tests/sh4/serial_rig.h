/* A simulated board that runs by itself, as fast as the host's clock says, with the serial agent in
 * its RAM; between its serial port and the port to connect to lies a cable that can be bad, or
 * pulled. Connect with --probe serial:PORT. */
#ifndef TESTS_SH4_SERIAL_RIG_H
#define TESTS_SH4_SERIAL_RIG_H

#include <stdbool.h>
#include <stdint.h>

enum { SERIAL_RIG_AGENT = 0x8C004000 };

struct serial_rig_options {
    bool big;
    unsigned brr;  /* SCBRR2: 0 is 1562500 bit/s, 26 is 57600 */
    bool no_agent; /* the boot ROM does not start it */
    /* the boot ROM does what dcload-serial does, at 57600 bit/s first; no agent */
    bool dcload;
    unsigned deaf;  /* with dcload: so many bytes of the first block are lost on the way */
    unsigned late;  /* so many ms late the board's first bytes come through */
    unsigned flip;  /* about one byte in so many has a bit flipped, both ways; 0: none */
    unsigned drop;  /* so many, a byte is lost */
    unsigned stale; /* so many, the 16 bytes before it come once more */
    unsigned mute;  /* every so many "halted", its end is lost; nothing else is */
    /* not NULL: the boot ROM's program prints this over and over, by polling the transmitter */
    const char *print;
};

struct serial_rig;

/* serial_rig_start - board and cable; aborts with a text on failure. */
struct serial_rig *serial_rig_start(const struct serial_rig_options *o);
/* serial_rig_port - the terminal to connect to. */
const char *serial_rig_port(const struct serial_rig *r);
/* serial_rig_damage - from now on; 0: none. */
void serial_rig_damage(struct serial_rig *r, unsigned flip, unsigned drop);
/* serial_rig_damage_long - from now on every so many bytes that come one way, with none the other
 * way in between, one has a bit flipped: what is as long never arrives whole. 0: none. */
void serial_rig_damage_long(struct serial_rig *r, unsigned bytes);
/* serial_rig_lose_mark - the answer to the next poke of the agent's count of halts is lost. */
void serial_rig_lose_mark(struct serial_rig *r);
/* serial_rig_hold_go - from now on every op_go, with what is sent behind it, is so long on its way;
 * what has gathered then comes a request without data at a time, with pauses. 0: no more. */
void serial_rig_hold_go(struct serial_rig *r, unsigned ms);
/* serial_rig_hold_one_go - the same with the next one only. */
void serial_rig_hold_one_go(struct serial_rig *r, unsigned ms);
/* serial_rig_stray - a byte that nobody has sent reaches the board. */
void serial_rig_stray(struct serial_rig *r, uint8_t byte);
/* serial_rig_stray_behind_go - the next op_go brings that byte with it, which nobody has sent: the
 * program is interrupted before its first instruction. */
void serial_rig_stray_behind_go(struct serial_rig *r, uint8_t byte);
/* serial_rig_reset - presses the board's reset button; returns when the boot ROM runs again. */
void serial_rig_reset(struct serial_rig *r);
/* serial_rig_pull - pulls the cable out of the host: the port is gone. */
void serial_rig_pull(struct serial_rig *r);
/* serial_rig_bytes - carried so far: to the board, from it. */
void serial_rig_bytes(const struct serial_rig *r, uint64_t *to, uint64_t *from);
void serial_rig_stop(struct serial_rig *r);

#endif
