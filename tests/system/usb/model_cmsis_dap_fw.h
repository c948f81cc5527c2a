/* The firmware of a CMSIS-DAP probe: one request in, one response out, pins of a board behind it.
 * No USB here. Written from CMSIS-DAP ref_dap.txt, DAP.c. Transfers to Arm debug ports (0x05, 0x06)
 * are not part of it: no board here has such a port. */
#ifndef TESTS_USB_MODEL_CMSIS_DAP_FW_H
#define TESTS_USB_MODEL_CMSIS_DAP_FW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/sim.h"

/* clang-format off */
enum {
    FW_MAX_PACKET = 1024, FW_CAN_SWD = 1 << 0, FW_CAN_JTAG = 1 << 1, FW_CAN_ATOMIC = 1 << 4,
    FW_CAN_TIMER = 1 << 5, FW_MAX_DEVICES = 8
};
/* clang-format on */

struct dap_firmware {
    /* What it is; set before the first request. */
    struct sim_board *board; /* NULL: nothing at the pins, TDO reads high */
    unsigned can;            /* FW_CAN_* */
    unsigned packet_count;   /* as told by DAP_Info */
    unsigned packet_size;    /* of the transport the request came by */
    const char *vendor, *product, *serial, *firmware, *protocol; /* "": answered with len 0 */
    uint32_t clock_max, clock_fixed; /* Hz; fixed: takes any setting and ignores it. 0: none */
    bool refuses_connect;            /* answers 0 to every DAP_Connect */
    /* DAP_Disconnect without a connection is never answered, nor is anything afterwards */
    bool disconnect_hangs;
    bool has_reset_sequence; /* DAP_ResetTarget pulses nRESET by itself */
    /* nTRST and nRESET read 0, as where there is no input (template of DAP_config.h) */
    bool blind;
    bool boasts; /* says it has atomic commands, which it does not know */
    /* State. */
    unsigned port; /* 0 not connected, 1 SWD, 2 JTAG */
    bool hung, tms, tdi, tck, tdo;
    uint8_t ndev, ir_bits[FW_MAX_DEVICES];
    /* malformed: cut short, too long an answer, more devices than fit */
    uint64_t requests, clocks, malformed;
    int board_error; /* the board failed (unplugged): stays */
};

/* dap_firmware_run - one request of len bytes
 * resp   room for packet_size bytes
 * Returns the response's length; 0: there is none (DAP_TransferAbort, or the firmware hangs). */
size_t dap_firmware_run(struct dap_firmware *f, const uint8_t *req, size_t len, uint8_t *resp);

#endif
