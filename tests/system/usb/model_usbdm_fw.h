/* The firmware of a USBDM pod as far as S12Z goes: one command in, one answer out, BKGD and RESET
 * of a board behind it. No USB here. Written from podonoghue/usbdm-firmware, USBDM_JMxx_V4_12
 * (CmdProcessing.c, CmdProcessingHCS.c, CmdProcessingCFV1.c, BDM.c, BDMCommon.c) and for V5 from
 * podonoghue/usbdm-kinetis: 5.2 to 5.7 (bdm_kinetis_mk22f at 660dc77, bdm_kinetis_mk22f_V5_7)
 * and 5.8 (bdm_kinetis_mk22f at 76433e9): cmdProcessing.cpp, cmdProcessingHCS.cpp, bdm.cpp,
 * mcg.cpp, and system_bus_clock of Configure.usbdmProject.
 *
 * V5 is the same command set with other habits: its timer counts 60 MHz, in 5.8 30 MHz and tells
 * twice that, so lengths are of 60 MHz as in V4; of those it is given (SET_SPEED) it takes four
 * fifths; an ACK must be over 2520 ticks after its command's last bit began, so at 1 MHz it sees
 * none; nothing is ever "busy"; RESET cannot be had by TARGET_RESET; supply sensing is there and
 * not among the capabilities. */
#ifndef TESTS_USB_MODEL_USBDM_FW_H
#define TESTS_USB_MODEL_USBDM_FW_H

#include "tests/system/usb/model_bkgd.h"

enum { USBDM_FW_MAX = 254, USBDM_FW_OPTIONS = 9 };

struct usbdm_fw {
    struct bkgd_pod pod;
    bool v5;
    bool no_s12z;      /* built without it */
    bool no_vdd_sense; /* takes power for granted */
    bool bad_ack;      /* an old build: its ACK routine never sees one */
    uint16_t max_command;
    uint8_t version[3]; /* 4.12.1: major, minor, micro */
    uint8_t target, status, speed, options[USBDM_FW_OPTIONS];
    uint16_t sync_ticks; /* of 60 MHz */
    bool ack, reset_seen;
    unsigned busy;    /* answers "busy" that came before the last one */
    uint64_t refused; /* commands it does not have */
};

/* usbdm_fw_do - buf[0] size, [1] command without toggle or sequence, [2..] parameters; USBDM_FW_MAX
 * bytes Returns the answer's length, status first. */
size_t usbdm_fw_do(struct usbdm_fw *f, uint8_t *buf);

/* Sets a pod that has just got power. board and what it is stay. */
void usbdm_fw_reset(struct usbdm_fw *f);

#endif
