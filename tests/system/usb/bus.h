/* The host controller and bus of the rig: queues of transfers per endpoint, standard requests,
 * faults, time. Knows nothing of how the host's side is reached (user-space test bed: usbfs.c,
 * hidraw.c).
 *
 * Everything here is called with the rig's lock held. */
#ifndef TESTS_USB_BUS_H
#define TESTS_USB_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/system/usb/model.h"

enum {
    BUS_ENDPOINTS = 16, /* of one device, both directions together */
    BUS_INTERFACES = 8,
    BUS_FAULTS = 4, /* fault= options of one model */
    BUS_MAX_TRANSFER = 1 << 18,
    BUS_FRAMES = 4096 /* remembered for sharing in virtual time */
};

/* Faults done around a model. Their names in bus_faults.c. */
enum fault_kind {
    FAULT_UNPLUG,  /* the cable is pulled as the transfer begins */
    FAULT_STALL,   /* refused; halted until cleared (endpoint 0 is not) */
    FAULT_TIMEOUT, /* answers nothing until given up; an answer comes late, to the next transfer */
    FAULT_SHORT,   /* the second half is lost */
    /* the same of answers alone: no bus loses half a packet, but firmware may send too little */
    FAULT_SHORT_ANSWER,
    FAULT_STALE,    /* the previous answer once more; this one comes next */
    FAULT_WRONG_ID, /* the byte that names the request is another */
    FAULT_GARBAGE,  /* as long as expected, random */
    /* nothing at all from now on, until the port is reset or the device plugged anew */
    FAULT_HANG,
    FAULT_NKINDS
};
struct fault {
    enum fault_kind kind;
    uint64_t at;  /* transfer it strikes, from 1 */
    bool on;      /* and every one after that */
    bool pending; /* struck an OUT transfer but is one of answers: waits for the next IN */
};

/* One transfer the host wants done. Owned by whoever submits it. */
struct urb {
    struct urb *next;
    uint8_t ep; /* address; 0: control, buf starts with the 8 bytes of setup */
    uint8_t *buf;
    size_t len, done;   /* done: without the setup */
    int status;         /* 0 or -errno as Linux gives it */
    bool counted, dead; /* internal: a fault was looked for; it will never be answered */
    size_t limit;       /* internal: bytes the device gets of it */
    uint64_t at_ns;     /* virtual: when it was submitted, later when it completes */
    void (*complete)(struct urb *u); /* called once, still under the lock */
};

struct bus_ep {
    uint8_t address, type, interface; /* type: 0 control, 2 bulk, 3 interrupt */
    uint16_t mps;
    bool halted;
    struct urb *head, **tail;
    uint64_t done_ns, next_frame; /* virtual: last completion; interrupt: next frame it may use */
    uint8_t *last;                /* last answer, for stale ones */
    size_t last_len;
    uint8_t *kept; /* an answer that comes late */
    size_t kept_len;
    bool has_kept;
    bool ended; /* the last pull ended a transfer */
};

struct bus;
struct bus_dev {
    struct bus *bus;
    const struct usb_model_type *type;
    struct usb_model *model;
    struct sim_board *board;   /* of this device alone; NULL without */
    char options[256];         /* the model's */
    char path[32], serial[80]; /* "1-1.2"; "" the model's own */
    char kernel_driver[32];    /* bound to its interfaces at plugging; "" none */
    uint64_t replug_ns;        /* 0: only when told */
    /* a HID report not taken fails after this; 0: as the kernel has it, 5 s */
    uint64_t hid_limit_ns;
    struct fault fault[BUS_FAULTS];
    unsigned nfaults, seed;
    /* now */
    bool plugged, hung;
    uint8_t address, configuration;
    uint64_t unplugged_at_ns;
    struct bus_ep ep[BUS_ENDPOINTS];
    unsigned neps;
    struct {
        uint8_t number, cls, subclass, protocol, string, neps;
    } itf[BUS_INTERFACES];
    unsigned nitfs;
    /* virtual: done with what it got; how far it is; its board's clock then */
    uint64_t busy_ns, device_ns, board_ns;
    double board_cost;      /* real: CPU time the model takes for board time */
    uint64_t idle_since_ns; /* real: when the last request was done */
    bool running;           /* bus_work() is under way */
    uint8_t *bounce;        /* BUS_MAX_TRANSFER and a packet */
    /* totals */
    uint64_t transfers, ins, outs, controls, idles, bytes_in, bytes_out, faults_fired;
    /* transfers the host had begun and not seen the end of, or reports it had not read: at most,
     * since it was asked */
    unsigned most_ahead;
    void *host; /* of the transport: the node of this plugging */
};

struct bus {
    struct bus_dev *dev;
    unsigned ndevs;
    bool virtual_time;
    FILE *notes;                     /* a line for every transfer that is counted; NULL none */
    uint64_t now_ns;                 /* virtual */
    uint64_t host_ns, idle_since_ns; /* real: when time last passed; when the rig began */
    struct {
        uint64_t frame;
        uint32_t used;
    } frames[BUS_FRAMES];
    /* transport: the device goes away, or comes (called by bus_unplug, bus_plug) */
    void (*gone)(struct bus_dev *d);
    int (*came)(struct bus_dev *d, struct err *err);
    void (*work)(struct bus *b); /* something changed that the main loop's timer depends on */
    void *host;
};

/* bus_add - a device as the command line has it: "MODEL[,options]"; not yet plugged.
 * dev   zeroed; freed by bus_remove() */
int bus_add(struct bus_dev *dev, struct bus *bus, const char *text, struct sim_board *board,
            struct err *err);
void bus_remove(struct bus_dev *dev);

/* 0 if it was; -ERR_* as the model or the transport says */
int bus_plug(struct bus_dev *d, struct err *err);
void bus_unplug(struct bus_dev *d); /* everything pending ends with ESHUTDOWN */

/* Queues a transfer and lets the device work. It may complete before this returns. */
void bus_submit(struct bus_dev *d, struct urb *u);
void bus_cancel(struct bus_dev *d, struct urb *u); /* if still pending: completes with ENOENT */
bool bus_pending(const struct bus_dev *d, const struct urb *u);
void bus_clear_halt(struct bus_dev *d, uint8_t ep);
void bus_reset(struct bus_dev *d); /* the port's reset: not an unplugging */
struct bus_ep *bus_endpoint(struct bus_dev *d, uint8_t address); /* NULL: no such */

/* Lets time pass up to now for all devices, and lets them work. */
void bus_tick(struct bus *b);
/* Host ns until bus_tick() should be called at the latest; UINT64_MAX: not needed. */
uint64_t bus_due_ns(struct bus *b);
/* Time passes: the adapters', and before a request that of the board it is for, which is bounded;
 * NULL: no request. */
void bus_time(struct bus *b, struct bus_dev *asked);

/* Faults (bus_faults.c). */
int fault_parse(struct fault *f, const char *text, struct err *err);
/* The fault that strikes the transfer that begins now, NULL none; counts it. in: an answer, of
 * which data is known. */
const struct fault *fault_next(struct bus_dev *d, const struct bus_ep *ep, bool in,
                               const uint8_t *data, size_t len);
void fault_change(struct bus_dev *d, struct bus_ep *ep, const struct fault *f, uint8_t *data,
                  size_t *len);
/* Whether this data would go to the host later, or again: keeps it. */
int bus_keep(struct bus_ep *ep, const uint8_t *data, size_t len);

/* Virtual time (bus_time.c). */
uint64_t bus_frame_ns(const struct bus_dev *d);
uint64_t bus_schedule(struct bus_dev *d, struct bus_ep *ep, uint64_t from_ns, size_t bytes);
void bus_device_works(struct bus_dev *d, uint64_t arrives_ns); /* before a request */
void bus_device_worked(struct bus_dev *d);                     /* after it */
uint64_t bus_host_ns(void);                                    /* monotonic host clock */
uint64_t bus_work_ns(void);                                    /* CPU time of this thread */

/* Standard requests (bus_requests.c): as control() of a model. USB_STALL for those it does not
 * know. */
int bus_standard_request(struct bus_dev *d, const uint8_t *setup, uint8_t *data, size_t len);
int bus_parse_config(struct bus_dev *d, struct err *err);

#endif
