/* Private to the USBDM driver: the pod that is open, and one command to it. */
#ifndef PROBE_USBDM_H
#define PROBE_USBDM_H

#include "probe/pod.h"

enum {
    USBDM_MOST = 254, /* bytes of a command */
    USBDM_READ_BYTES = 320,
    USBDM_HEAD = 8,   /* of a command on memory, before its data */
    USBDM_MARK = 0xC0 /* of an answer, the command's; V4 has the higher bit alone */
};
enum usbdm_command {
    USBDM_SET_TARGET = 1,
    USBDM_GET_STATUS = 4,
    USBDM_GET_CAPABILITIES = 5,
    USBDM_SET_OPTIONS = 6,
    USBDM_CONTROL_PINS = 8,
    USBDM_GET_VER = 12,
    USBDM_CONNECT = 15,
    USBDM_SET_SPEED = 16,
    USBDM_GET_SPEED = 17,
    USBDM_CUSTOM = 18,
    USBDM_READ_STATUS = 20,
    USBDM_WRITE_CONTROL = 21,
    USBDM_STEP = 23,
    USBDM_GO = 24,
    USBDM_HALT = 25,
    USBDM_WRITE_REG = 26,
    USBDM_READ_REG = 27,
    USBDM_WRITE_MEM = 32,
    USBDM_READ_MEM = 33
};
enum usbdm_status {
    USBDM_RC_OK,
    USBDM_RC_BUSY = 3,
    USBDM_RC_NO_CONNECTION = 5,
    USBDM_RC_UNKNOWN_TARGET = 15,
    USBDM_RC_NO_TX = 16,
    USBDM_RC_NO_RX = 17,
    USBDM_RC_ENABLE_FAILED = 18,
    USBDM_RC_RESET_FALL = 19,
    USBDM_RC_BKGD = 20,
    USBDM_RC_SYNC = 21,
    USBDM_RC_SPEED = 22,
    USBDM_RC_VDD_NOT_PRESENT = 26,
    USBDM_RC_ACK = 30,
    USBDM_RC_RESET_RISE = 33
};

struct usbdm {
    struct pod pod;
    bool v5;
    uint8_t mark;        /* of the last command: its toggle or sequence, in place */
    uint16_t caps, most; /* bytes of a command */
    bool user_speed, bkgd_low;
    uint8_t out[USBDM_MOST + 2], in[USBDM_READ_BYTES];
};

/* usbdm_ask - one command and its answer
 * len    bytes of the command; u->out[2..len-1] are its parameters
 * want   bytes of the answer at least, its status among them
 * Returns the pod's status (enum usbdm_status), u->in[1..want-1] being the answer; < 0: the pod
 * failed. */
int usbdm_ask(struct usbdm *u, enum usbdm_command command, size_t len, size_t want,
              struct err *err);

/* usbdm_need - the same where only success will do: 0, or a failure with the pod's reason. */
int usbdm_need(struct usbdm *u, enum usbdm_command command, size_t len, size_t want,
               struct err *err);

/* usbdm_describe - the failure that a status of the pod's is. */
int usbdm_describe(unsigned rc, unsigned command, struct err *err);

#endif
