/* What the drivers of BDM pods on USB share: listing, opening, losing and finding again one
 * interface with two bulk endpoints, totals. Used by usbdm.c and osbdm.c alone. */
#ifndef PROBE_POD_H
#define PROBE_POD_H

#include <stdint.h>

#include "probe/probe.h"
#include "probe/usb.h"

struct pod;

/* What a driver is to the functions here. */
struct pod_kind {
    const struct probe_driver *driver;
    size_t size; /* of its own struct, which begins with a struct pod */
    /* Drops what an earlier session left and asks what it is, into firmware; does nothing to the
     * target. -ERR_UNSUPPORTED: not for S12Z. */
    int (*identify)(struct pod *p, struct err *err);
    /* The same, and makes a pod that has just been found again ready for commands. */
    int (*start)(struct pod *p, struct err *err);
    /* SYNC: how long the part's answer takes, in ticks of POD_TICK_HZ. -ERR_NO_TARGET: no answer.
     */
    int (*measure)(struct pod *p, uint32_t *ticks, struct err *err);
    void (*leave)(struct pod *p); /* the last commands */
};

struct pod {
    struct probe probe;
    const struct pod_kind *kind;
    struct adapter adapter; /* how it is found again */
    char firmware[48];
    struct usb *usb; /* NULL: lost */
    uint8_t ep_in, ep_out;
    unsigned max_packet;
    unsigned timeout_ms;                 /* for an answer */
    uint32_t hz;                         /* BDC clock in use; 0: none yet */
    uint64_t cycles;                     /* of the BDC clock, by the commands' lengths */
    uint64_t past_transfers, past_bytes; /* of connections that were closed */
};

/* For the members of struct probe_driver. "timeout=MS" is the only option of a pod. */
int pod_list(const struct pod_kind *k, bool open, struct adapter_list *out, struct err *err);
int pod_open(const struct pod_kind *k, const struct probe_config *cfg, struct probe **out,
             struct err *err);
void pod_close(struct probe *p);
int pod_reopen(struct probe *p, struct err *err);

/* pod_send - one transfer out, wholly; pod_post - a read waits on the bus for the answer, at most
 * len bytes (a multiple of the packet); pod_ready - whether one has come already; pod_fetch - waits
 * for it: bytes. */
int pod_send(struct pod *p, uint8_t *data, size_t len, struct err *err);
int pod_post(struct pod *p, uint8_t *buf, size_t len, struct err *err);
bool pod_ready(struct pod *p);
int pod_fetch(struct pod *p, unsigned timeout_ms, struct err *err);

/* pod_recovered - after a failed transfer: transfers under way are cancelled and the pod is
 * restarted, so that answers belong to their questions again. Returns -ERR_TIMEOUT if that worked
 * (the failed command may be tried again), -ERR_USB if the pod is lost; -ERR_USAGE,
 * -ERR_UNSUPPORTED and -ERR_NO_TARGET pass unchanged. */
int pod_recovered(struct pod *p, int ret, struct err *err);
int pod_lost(struct pod *p, struct err *err); /* -ERR_USB; p->usb is NULL then */

/* pod_sync - member of struct bdc_ops: kind->measure() as a clock, which is in use then. */
int pod_sync(struct probe *p, uint32_t *hz, struct err *err);

/* Both firmwares tell a part's clock by the length of its answer to SYNC, in these ticks. */
enum { POD_TICK_HZ = 60000000 };
/* pod_ticks, pod_hz - a clock in ticks, and back. */
uint32_t pod_ticks(uint32_t hz);
uint32_t pod_hz(uint32_t ticks);

/* pod_pause - BDC_PAUSE: so many cycles of the clock in use. */
int pod_pause(struct pod *p, uint32_t cycles, struct err *err);

/* pod_stats - member of struct bdc_ops. */
void pod_stats(struct probe *p, uint64_t *cycles, uint64_t *transfers, uint64_t *bytes);

/* pod_command_cycles - BDC cycles of one command with turnarounds of 48 cycles. */
unsigned pod_command_cycles(const struct bdc_shape *shape);

/* pod_check_block - len and addr of BDC_READ and BDC_WRITE are multiples of their width. */
int pod_check_block(const struct bdc_op *op, struct err *err);

#endif
