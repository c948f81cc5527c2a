/* The firmware of a USBDM pod as far as S12Z goes: one command in, one answer out, BKGD and RESET of a board behind it. No USB here.
 * Written from reference/s12z.md 6.2 and its sources (podonoghue/usbdm-firmware, USBDM_JMxx_V4_12: CmdProcessing.c, CmdProcessingHCS.c,
 * CmdProcessingCFV1.c, BDM.c, Commands.h). */
#ifndef TESTS_USB_MODEL_USBDM_FW_H
#define TESTS_USB_MODEL_USBDM_FW_H

#include "tests/usb/model_bkgd.h"

enum { USBDM_FW_MAX = 254, USBDM_FW_OPTIONS = 12 };

struct usbdm_fw {
    struct bkgd_pod pod;
    bool no_s12z;          /* built without it */
    bool no_vdd_sense;     /* takes power for granted */
    bool bad_ack;          /* an old build: its ACK routine never sees one */
    uint16_t max_command;
    uint8_t version[3];    /* 4.12.1: major, minor, micro */
    uint8_t target, status, speed, options[USBDM_FW_OPTIONS];
    uint16_t sync_ticks;   /* of 60 MHz */
    bool ack, reset_seen;
    unsigned busy;         /* answers "busy" that came before the last one */
    uint64_t refused;      /* commands it does not have */
};

/* usbdm_fw_do - buf[0] size, [1] command without toggle or sequence, [2..] parameters; at least USBDM_FW_MAX bytes
 * Returns the answer's length, status first. */
size_t usbdm_fw_do(struct usbdm_fw *f, uint8_t *buf);

/* Sets a pod that has just got power. board and what it is stay. */
void usbdm_fw_reset(struct usbdm_fw *f);

#endif
