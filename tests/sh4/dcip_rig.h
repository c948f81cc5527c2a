/* A simulated board that runs by itself, with a loader that does what dcload-ip does, at the far
 * end of a network that can be bad. Connect with --probe dcload-ip:127.0.0.1:PORT. The loader is
 * SH-4 code of its own (dcip_rig.c), written after the firmware's source and without the
 * driver's. */
#ifndef TESTS_SH4_DCIP_RIG_H
#define TESTS_SH4_DCIP_RIG_H

#include <stdbool.h>
#include <stdint.h>

struct dcip_rig_options {
    unsigned lose;  /* about one datagram in so many is lost, both ways; 0: none */
    unsigned twice; /* one in so many comes twice */
    unsigned late;  /* one in so many comes up to 30 ms later, behind others */
    bool newer;     /* it says that it is 2.0.3, as that does */
    bool lan;       /* the adapter holds four frames, as the LAN adapter's chip; else 16 KB */
};

struct dcip_rig;

/* dcip_rig_start - board, loader, network; aborts with a text on failure. */
struct dcip_rig *dcip_rig_start(const struct dcip_rig_options *o);
unsigned dcip_rig_port(const struct dcip_rig *r);
/* dcip_rig_harm - from now on, as in the options. */
void dcip_rig_harm(struct dcip_rig *r, unsigned lose, unsigned twice, unsigned late);
/* dcip_rig_lose_next - the next so many datagrams from the board that begin with these bytes are
 * lost, too; counted down. */
void dcip_rig_lose_next(struct dcip_rig *r, const char *id, unsigned n);
/* dcip_rig_reset - presses the button: the loader begins anew. */
void dcip_rig_reset(struct dcip_rig *r);
struct dcip_rig_counts {
    uint64_t to, from;          /* datagrams that arrived */
    uint64_t lost, twice, late; /* of both ways */
    uint64_t deaf;              /* that came while the adapter takes nothing in */
    uint64_t executed;          /* EXEC that arrived at the adapter while it listens */
};
struct dcip_rig_counts dcip_rig_counts(const struct dcip_rig *r);
void dcip_rig_stop(struct dcip_rig *r);

#endif
