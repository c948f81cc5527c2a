/* Inside of the driver "cmsis-dap": the protocol's messages, its two transports, what single probes
 * need. Source for everything here: CMSIS-DAP ref_dap.txt, dap_firmware.md, DAP.c. */
#ifndef PROBE_CMSIS_DAP_H
#define PROBE_CMSIS_DAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/base/log.h"
#include "probe/jtag_stream.h"
#include "probe/probe.h"
#include "probe/usb.h"

/* clang-format off */
enum {
    DAP_INFO = 0x00, DAP_HOST_STATUS = 0x01, DAP_CONNECT = 0x02, DAP_DISCONNECT = 0x03,
    DAP_SWJ_PINS = 0x10, DAP_SWJ_CLOCK = 0x11, DAP_JTAG_SEQUENCE = 0x14, DAP_EXECUTE = 0x7F,
    DAP_UNKNOWN = 0xFF
};
/* clang-format on */
enum {
    DAP_INFO_SERIAL = 0x03,
    DAP_INFO_PROTOCOL = 0x04,
    DAP_INFO_FIRMWARE = 0x09,
    DAP_INFO_CAPABILITIES = 0xF0,
    DAP_INFO_COUNT = 0xFE,
    DAP_INFO_SIZE = 0xFF
};
enum { DAP_CAN_SWD = 1 << 0, DAP_CAN_JTAG = 1 << 1, DAP_CAN_ATOMIC = 1 << 4 };
enum { DAP_PORT_JTAG = 2 };
enum { DAP_PIN_NTRST = 1 << 5, DAP_PIN_NRESET = 1 << 7 };
enum {
    DAP_MAX_PACKET = 1024,     /* larger ones are not used */
    DAP_MIN_PACKET = 64,       /* before DAP_Info was asked */
    DAP_SLOTS = USB_SLOTS / 2, /* requests in flight: each is two transfers */
    DAP_IN_CAP = DAP_MAX_PACKET + 512
};

/* ---- JTAG in packets (cmsis_dap_jtag.c; pure) ---- */

/* What distinguishes an answer from the one before it. Ids and lengths alone do not show that an
 * answer of the same kind was repeated. */
enum dap_token {
    DAP_TOKEN_NONE,
    DAP_TOKEN_LENGTH, /* answers of even and odd length in turn: costs an answer byte */
    DAP_TOKEN_WRAP /* every other request inside of DAP_ExecuteCommands: for HID, where all reports
                      have one length */
};

struct dap_limits {
    size_t packet; /* most bytes of a request, and of its answer */
    /* neither may be a multiple of this: a message of whole packets has no end on the wire. 0: none
     */
    size_t endpoint;
    enum dap_token token;
};

/* One DAP_JTAG_Sequence request: which clocks of a chunk it carries. */
struct dap_request {
    uint8_t *buf;           /* the caller's, lim->packet bytes; good until dap_unpack() */
    size_t len, answer_len; /* answer: exact, with id and status */
    uint32_t first, clocks;
};

/* dap_pack - as many clocks of c from `first` on as one request takes: sequences of equal TMS, TDO
 * captured where a field wants it field  in/out: the first of c's fields that may still matter; 0
 * at first, then as left by the last call odd    the token's value for this request: alternate it
 * Returns the clocks packed (r->clocks), at least 1; first must be below c->nbits. */
uint32_t dap_pack(const struct jtag_chunk *c, uint32_t first, uint32_t *field, bool odd,
                  const struct dap_limits *lim, struct dap_request *r);

/* dap_unpack - the answer to r: its captured bits, to tdo at bit r->first and on (bits not captured
 * stay as they were) exact  len is the message's length (bulk); else it may be padded (HID) Returns
 * 0; -ERR_PROTOCOL: another command's answer, one of another length, or a refusal. Then tdo is
 * untouched. */
int dap_unpack(const struct dap_request *r, const uint8_t *answer, size_t len, bool exact,
               uint8_t *tdo, struct err *err);

/* dap_report_bytes - size of the one output report of a HID report descriptor, 0 if it has none or
 * reports are numbered. Pure. */
size_t dap_report_bytes(const uint8_t *descriptor, size_t len);

/* ---- transports ---- */

/* One request in flight. The buffers belong to the transport from send() to receive() or cancel().
 */
struct dap_packet {
    uint8_t out[1 + DAP_MAX_PACKET]; /* a HID's report number, then the request */
    size_t len;                      /* of the request */
    uint8_t in[DAP_IN_CAP];
    size_t want; /* length of the answer */
};

struct dap_link {
    const struct dap_transport *t;
    /* packet: report size of HID; bulk: until DAP_Info is asked, DAP_MIN_PACKET. endpoint: 0 of HID
     */
    size_t packet, endpoint;
    /* answers come with their length; not where firmware pads them, which a HID always does */
    bool exact;
    size_t pad; /* bulk, not exact: to multiples of that many bytes */
};

/* An interface of a probe. All functions fail as usb.h says. */
struct dap_transport {
    const char *name; /* "bulk", "HID" */
    bool reports;     /* messages have one length, the packet's */
    /* What would be in the way of open(), besides what usb_check() finds; NULL: nothing. */
    int (*check)(const struct usb_info *dev, uint8_t interface, struct err *err);
    int (*open)(const struct usb_info *dev, uint8_t interface, const struct log *log,
                struct dap_link **out, struct err *err);
    void (*close)(struct dap_link *l);
    /* One message, waited for, with nothing in flight. data: a HID's report number, which write()
     * fills in, then the request; room for 1 + DAP_MAX_PACKET. buf: DAP_IN_CAP bytes. */
    int (*write)(struct dap_link *l, uint8_t *data, size_t len, unsigned timeout_ms,
                 struct err *err);
    int (*read)(struct dap_link *l, uint8_t *buf, unsigned timeout_ms, struct err *err); /* bytes */
    /* Many in flight. slot: 0..DAP_SLOTS-1, free; answers come in the order of the requests. */
    int (*send)(struct dap_link *l, unsigned slot, struct dap_packet *p, struct err *err);
    /* bytes */
    int (*receive)(struct dap_link *l, unsigned slot, struct dap_packet *p, unsigned timeout_ms,
                   struct err *err);
    /* nothing is in flight afterwards, what comes late is for drain() */
    void (*cancel)(struct dap_link *l);
    int (*drain)(struct dap_link *l, struct err *err); /* bytes dropped */
    /* Resets the port, the last step of recovery; NULL: only without a link, by revive(), after
     * which the interface may need a moment. */
    int (*reset)(struct dap_link *l, struct err *err);
    int (*revive)(const struct usb_info *dev, uint8_t interface, struct err *err);
    void (*stats)(const struct dap_link *l, uint64_t *transfers, uint64_t *bytes);
};
extern const struct dap_transport dap_v1, dap_v2;

/* ---- which devices, which interface, what is odd about them (cmsis_dap_quirks.c; pure) ---- */

struct dap_quirk {
    uint16_t vid, pid;    /* pid 0: all of the vendor's */
    const char *product;  /* part of the product string; NULL any */
    bool only_by_id;      /* its strings do not say CMSIS-DAP */
    uint16_t report;      /* HID report size, if the descriptor cannot be read */
    int8_t hid_interface; /* 1 + the interface that answers; 0: any */
    bool usage_ff00;      /* of several HID interfaces the one with usage page 0xFF00 */
    uint8_t in_flight;    /* most requests at a time; 0: as many as it says */
    uint16_t timeout_ms;  /* 0: the usual */
    const char *why;
};
/* dap_quirks - the row for this device; never NULL. Static lifetime. */
const struct dap_quirk *dap_quirks(const struct usb_info *dev);

struct dap_place {
    const struct dap_transport *t;
    uint8_t interface;
};
/* dap_find - whether this is a CMSIS-DAP probe, and its interface: bulk before HID
 * only  NULL either; else only that transport */
bool dap_find(const struct usb_info *dev, const struct dap_transport *only, struct dap_place *out);

/* ---- an open probe ---- */

enum { DAP_CHUNKS = 2 };

struct dap {
    struct probe probe;
    struct adapter row;               /* how to find it again */
    const struct dap_transport *only; /* asked for; NULL: the better one */
    unsigned most_in_flight;          /* asked for; 0: as many as it takes */
    unsigned timeout_ms;              /* asked for; 0: the usual */
    struct dap_link *link;            /* NULL: not open now */
    const struct dap_quirk *quirk;
    unsigned can, count, size; /* DAP_Info */
    char firmware[64];
    struct dap_limits lim;
    unsigned depth; /* requests in flight at most */
    bool connected;
    bool broken;      /* out of step: dap_recover() before anything else */
    bool recovering;  /* nothing is asked twice meanwhile */
    bool tap_unknown; /* clocks were under way when it broke */
    /* by its port, since it was connected: what the caller had set is gone */
    bool was_reset;
    bool odd;      /* next token */
    uint32_t hz;   /* clock as asked for */
    unsigned pins; /* output levels, enum jtag_pin */
    /* reset pins that were read high once: much firmware reads 0 where it has no input */
    unsigned seen_high;
    struct dap_packet *packet; /* DAP_SLOTS of them; those in flight from `head` on */
    struct dap_request request[DAP_SLOTS];
    struct jtag_chunk *owner[DAP_SLOTS];
    unsigned head, flying;
    struct jtag_stream stream;
    struct jtag_chunk chunk[DAP_CHUNKS];
    uint64_t old_transfers, old_bytes; /* of links closed before */
    /* clocks a second of the fastest large batch: what the clock, the firmware and USB come to */
    uint64_t best_hz;
};

/* ---- cmsis_dap_command.c: one request at a time ---- */

/* dap_usual_ms - the deadline of an answer; dap_deadline_ms - of one behind so many clocks: twice
 * what they should take is added, since probes round the clock down. */
unsigned dap_usual_ms(const struct dap *d);
unsigned dap_deadline_ms(const struct dap *d, uint64_t clocks);

/* dap_set_token - sets d->lim.token, which distinguishes answers in flight, to what the probe
 * supports. */
void dap_set_token(struct dap *d);

/* dap_prove_info - asks DAP_Info `id`, and reads until its answer of n bytes comes; at most `reads`
 * other answers are dropped. 0 with *value, 1 for none, or failure. */
int dap_prove_info(struct dap *d, uint8_t id, uint8_t n, unsigned reads, unsigned *value,
                   struct err *err);

/* dap_command - one request and its answer, with nothing else in flight
 * answer  room for DAP_MAX_PACKET bytes
 * ms      added to the usual deadline
 * Returns the answer's length, at least 2, its id checked. What fails leaves d->broken, but
 * -ERR_UNSUPPORTED: the probe does not know the command. */
int dap_command(struct dap *d, const uint8_t *req, size_t len, uint8_t *answer, unsigned ms,
                struct err *err);
/* dap_ask - the same for what may be asked twice: out of step, it is put in step and asked again.
 * The TAP stays as it is, or the result is -ERR_USB. */
int dap_ask(struct dap *d, const uint8_t *req, size_t len, uint8_t *answer, unsigned ms,
            struct err *err);

/* dap_recover - after something failed: drops what is in flight, proves that answers belong to
 * requests again, as last step by resetting the port (was_reset); a TAP that was under way is put
 * into Run-Test/Idle through Test-Logic-Reset. -ERR_USB: it did not help. */
int dap_recover(struct dap *d, struct err *err);

/* dap_connect - JTAG port, clock, released pins. -ERR_UNSUPPORTED: SWD only, or refused. */
int dap_connect(struct dap *d, struct err *err);
int dap_set_clock(struct dap *d, uint32_t hz, struct err *err);
/* mask, value, *got: enum jtag_pin; *got is what the reset pins read afterwards, NULL is fine. mask
 * 0 only reads. Believe only those of d->seen_high. */
int dap_set_pins(struct dap *d, unsigned mask, unsigned value, unsigned *got, struct err *err);

/* ---- cmsis_dap_session.c: opening and closing ---- */

/* dap_start - opens the link to dev and asks what the probe is: d->link, can, count, size,
 * firmware, lim, depth -ERR_UNSUPPORTED: not a probe that can be used. On failure there is no link.
 */
int dap_start(struct dap *d, const struct usb_info *dev, struct err *err);
/* dap_stop - disconnects if that can be answered, closes the link; without one it does nothing. */
void dap_stop(struct dap *d);

/* ---- cmsis_dap_stream.c: many requests in flight ---- */

/* dap_stream_io - the stream's transfers; ctx is the struct dap. */
const struct jtag_stream_io *dap_stream_io(void);

#endif
