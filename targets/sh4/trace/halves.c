/* Halfwords of the program, many at a time: one at a time would be a round trip of the adapter
 * each. */
#include <stdlib.h>

#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

enum { P2 = 0xA0000000 };
enum { PART = 2048 }; /* requests to a call: memory stays the same however large the program is */

int sh4_trace_read_halves(struct sh4_target *t, struct sh4_trace_half *half, size_t n,
                          struct err *err)
{
    const struct sh4_agent_layout *a = t->agent.layout;
    struct sh4_request *req = calloc(PART, sizeof *req);
    uint32_t *there = calloc(PART, sizeof *there);
    int ret = 0;
    if (!req || !there)
        ret = err_set(err, ERR_NOMEM, "close other programs", "patches: out of memory");
    for (size_t done = 0, k; ret == 0 && done < n; done += k) {
        k = MIN(n - done, (size_t)PART);
        for (size_t i = 0; i < k; i++)
            req[i] = (struct sh4_request){ .routine = a->op_read - (uint32_t)a->ref_call,
                                           .arg = { (half[done + i].addr & SH4_PHYS) | P2,
                                                    a->ld2 - (uint32_t)a->ref_read, 1 },
                                           .in = &there[i],
                                           .nin = 1 };
        ret = sh4_agent_run(t, req, k, err);
        for (size_t i = 0; ret == 0 && i < k; i++) {
            half[done + i].there = (uint16_t)there[i];
            half[done + i].readable = req[i].status == 0;
        }
    }
    free(there);
    free(req);
    return ret;
}

int sh4_trace_write_halves(struct sh4_target *t, const struct sh4_trace_half *half, size_t n,
                           struct err *err)
{
    const struct sh4_agent_layout *a = t->agent.layout;
    struct sh4_request *req = calloc(PART, sizeof *req);
    int ret = 0;
    if (!req)
        ret = err_set(err, ERR_NOMEM, "close other programs", "patches: out of memory");
    for (size_t done = 0, k; ret == 0 && done < n; done += k) {
        k = MIN(n - done, (size_t)PART);
        for (size_t i = 0; i < k; i++)
            req[i] =
                (struct sh4_request){ .routine = a->op_poke - (uint32_t)a->ref_call,
                                      .arg = { half[done + i].addr, a->st2 - (uint32_t)a->ref_poke,
                                               half[done + i].value } };
        ret = sh4_agent_run(t, req, k, err);
    }
    free(req);
    return ret;
}
