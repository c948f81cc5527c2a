/* Which register a data scan shows.
 *
 * The manual has SDDR only. The one public source of the private commands keeps track of two
 * registers. Behind ASERAM write, reset, boot and break a scan of SDDR is followed by one of SDSR,
 * a status, and that by one of SDDR only if bit 0 of the status was 1. Interrupt, bypass, status
 * read and Test-Logic-Reset hold SDDR. It is found out at every attach which of the two kinds this
 * part is. Source: UrJTAG fork, urjtag/src/hudi/hudi.c (hudi_sdmode, hudi_sdmode_locked). That code
 * is unfinished, and does not follow its own rule when it fills ASERAM: docs/unverified.md. */
#include "probe/base/bytes.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

enum { LOOKS = 8 };

static int reset_tap(struct sh4_link *l, struct err *err)
{
    l->ops[0] = jtag_reset();
    l->ir = SH4_LINK_IR_UNKNOWN;
    int ret = l->jtag->execute(l->p, l->ops, 1, err);
    if (ret < 0)
        return err_prefix(err, ret, "JTAG");
    return sh4_link_command(l, SH4_TI_RESET_NEGATE, err);
}

/* One scan of SDDR, some whose bit 0 is 0, and again the first after a reset. If the scans between
 * show SDDR, they show a POLL of ours, or what the last scan shows; a status shows neither. (What
 * the first scan shows is undefined, and may equal a status.) */
static int look_at_scans(struct sh4_link *l, struct err *err)
{
    uint32_t seen[LOOKS], after;
    int ret = sh4_link_words(l, NULL, seen, LOOKS, err);
    if (ret == 0)
        ret = reset_tap(l, err);
    if (ret == 0)
        ret = sh4_link_words(l, NULL, &after, 1, err);
    if (ret == 0)
        ret = reset_tap(l, err);
    if (ret < 0)
        return ret;
    for (size_t i = 1; i < LOOKS; i++)
        if (seen[i] == SH4_AGENT_POLL || seen[i] == after)
            return 0;
    l->sdsr = seen[1];
    return 1;
}

int sh4_view_find(struct sh4_link *l, struct err *err)
{
    l->alternates = false;
    int ret = reset_tap(l, err);
    if (ret == 0)
        ret = look_at_scans(l, err);
    if (ret <= 0)
        return ret;
    /* An agent in the middle of an answer shows something else each time, too. So whatever it waits
     * for is completed first, and then the test is made again. */
    ret = sh4_link_words(l, NULL, NULL, SH4_AGENT_DRAIN, err);
    if (ret == 0)
        ret = reset_tap(l, err);
    if (ret == 0)
        ret = look_at_scans(l, err);
    l->alternates = ret > 0;
    if (l->alternates)
        log_msg(l->p->log, LOG_WIRE,
                "%s: data scans alternate between SDDR and SDSR, which reads %08x", l->p->name,
                l->sdsr);
    return MIN(ret, 0);
}
