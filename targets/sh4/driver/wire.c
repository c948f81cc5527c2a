/* What the agent is reached by: a const table for JTAG, for a serial line, and for a network
 * loader. */
#include <stdlib.h>
#include <string.h>

#include "targets/sh4/driver/dcip.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/isa/regs.h"

enum { STREAM_MIN_ASKS = 6 };

static const struct sh4_wire jtag = {
    .connect = sh4_jtag_connect,
    .command = sh4_jtag_command,
    .now = sh4_jtag_now,
    .wait = sh4_jtag_wait,
    .still_there = sh4_jtag_still_there,
    .halted = sh4_jtag_halted,
    .resync = sh4_jtag_resync,
    .run = sh4_jtag_run,
    .go = sh4_jtag_go,
    .fill_block = sh4_jtag_fill_block,
    .bring_agent = sh4_jtag_bring_agent,
    .leave_range = sh4_jtag_leave_range,
    .halt_limit_ns = sh4_jtag_halt_limit_ns,
    .halt_asks = SH4_BREAK_MIN_ASKS,
    .halt_failed = sh4_jtag_halt_failed,
    .reset = sh4_jtag_reset,
    .show = sh4_jtag_show,
    .agent_link = SH4_AGENT_HUDI,
    .ask_for_ring = sh4_jtag_ask_for_ring,
    .look = sh4_jtag_look,
    .moved_bits = sh4_jtag_moved_bits,
    .halt_intevt = SH4_INT_HUDI,
};

/* What serial lines and loaders have in common. */
#define STREAM                                                                                 \
    .connect = sh4_stream_connect, .command = sh4_stream_command, .now = sh4_stream_now,       \
    .wait = sh4_stream_wait, .still_there = sh4_stream_still_there,                            \
    .again_ns = sh4_stream_again_ns, .halted = sh4_stream_halted, .resync = sh4_stream_resync, \
    .run = sh4_stream_run, .go = sh4_stream_go, .mark_halts = sh4_stream_mark_halts,           \
    .halt_limit_ns = sh4_stream_halt_limit_ns, .halt_asks = STREAM_MIN_ASKS,                   \
    .look_again_ns = 5000000, .strays = true, .show = sh4_stream_show,                         \
    .ask_for_ring = sh4_stream_ask_for_ring, .look = sh4_stream_look,                          \
    .moved_bits = sh4_stream_moved_bits, .ring_pause = 4

static const struct sh4_wire serial = {
    STREAM,
    .agent_link = SH4_AGENT_SCIF,
    .bring_agent = sh4_serial_bring_agent,
    .after_leaving = sh4_serial_after_leaving,
    .halt_failed = sh4_serial_halt_failed,
    .reset = sh4_serial_reset,
};

static const struct sh4_wire loader = {
    STREAM,
    .agent_link = SH4_AGENT_LOADER,
    .bring_agent = sh4_dcip_attach,
    .look_for_end = sh4_loader_look_for_end,
    .before_leaving = sh4_dcip_leave,
    .after_leaving = sh4_loader_after_leaving,
    .halt_failed = sh4_loader_halt_failed,
    .reset = sh4_loader_reset,
};

int sh4_link_init(struct sh4_link *l, struct probe *p, struct err *err)
{
    memset(l, 0, sizeof *l);
    l->p = p;
    l->jtag = p->driver->jtag;
    l->ir = SH4_LINK_IR_UNKNOWN;
    l->block = 1024;
    l->wire = l->jtag ? &jtag : &serial;
    if (!l->jtag && p->driver->stream->traits(p) & STREAM_DATAGRAMS) {
        l->block = SH4_DCIP_CHUNK / 4;
        l->wire = &loader;
        l->ip = calloc(1, sizeof *l->ip);
        if (!l->ip)
            return err_set(err, ERR_NOMEM, "close other programs", "network link: no memory");
    }
    l->out = calloc(SH4_LINK_BATCH, sizeof *l->out);
    l->values = calloc(SH4_LINK_BATCH, sizeof *l->values);
    if (!l->out || !l->values) {
        sh4_link_fini(l);
        return err_set(err, ERR_NOMEM, "close other programs", "link to the agent: no memory");
    }
    if (!l->jtag) {
        sh4_stream_init(l);
        return 0;
    }
    l->back = calloc(SH4_LINK_BATCH, sizeof *l->back);
    l->ops = calloc(SH4_LINK_BATCH, sizeof *l->ops);
    l->tdi = calloc(SH4_LINK_BATCH, 4);
    l->tdo = calloc(SH4_LINK_BATCH, 4);
    if (!l->back || !l->ops || !l->tdi || !l->tdo) {
        sh4_link_fini(l);
        return err_set(err, ERR_NOMEM, "close other programs", "JTAG link: no memory");
    }
    return 0;
}

void sh4_link_fini(struct sh4_link *l)
{
    free(l->ops);
    free(l->tdi);
    free(l->tdo);
    free(l->out);
    free(l->back);
    free(l->values);
    free(l->ip);
    l->ip = NULL;
    l->ops = NULL;
    l->tdi = l->tdo = NULL;
    l->out = l->back = l->values = NULL;
}
