/* What is asked of the debug kernel: accesses to memory, calls, and writes that wait for the next
 * request. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

/* ---- writes that wait ---- */

static bool is_write(const struct sh4_target *t, const struct sh4_request *r)
{
    const struct sh4_agent_layout *a = t->agent.layout;
    uint32_t from = 0;
    if (a)
        from = r->routine + a->ref_call;
    return a && !r->nin && !r->slack && (from == a->op_poke || from == a->op_write);
}

static int run_now(struct sh4_target *t, struct sh4_request *req, size_t n, struct err *err)
{
    if (!t->agent.layout)
        return err_set(err, ERR_STATE, "halt the target first", "no agent is known on the target");
    int ret = t->link.wire->run(t, req, n, err);
    for (size_t i = 0; ret == 0 && i < n; i++)
        t->regs.trap_lost = t->regs.trap_lost || req[i].status > 1;
    return ret;
}

/* All of them or none, as they would get out of order otherwise. */
static bool take_results(struct sh4_target *t, struct sh4_request *req, size_t n)
{
    struct sh4_held *h = t->agent.held;
    size_t words = h->words;
    for (size_t i = 0; i < n; i++) {
        words += req[i].nout;
        if (!is_write(t, &req[i]))
            return false;
    }
    if (h->n + n > SH4_HELD_REQUESTS || words > SH4_HELD_WORDS)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct sh4_request *r = &h->req[h->n++];
        *r = req[i];
        if (r->nout)
            r->out = memcpy(h->data + h->words, req[i].out, 4 * r->nout);
        else
            r->out = NULL;
        h->words += r->nout;
        req[i].status = 0;
    }
    return true;
}

static const char *exception_name(uint32_t expevt)
{
    switch (expevt) {
    case SH4_EXP_ADDR_READ:
    case SH4_EXP_ADDR_WRITE: return "address error";
    case SH4_EXP_TLB_MISS_READ:
    case SH4_EXP_TLB_MISS_WRITE: return "TLB miss";
    case SH4_EXP_TLB_PROT_READ:
    case SH4_EXP_TLB_PROT_WRITE: return "TLB protection";
    case SH4_EXP_INITIAL_WRITE: return "first write to a clean page";
    default: return "exception";
    }
}

int sh4_agent_fault(uint32_t status, const char *what, unsigned width, uint32_t addr,
                    struct err *err)
{
    return err_set(err, ERR_FAULT,
                   "check the address and, with the MMU on, that the page is mapped",
                   "%u-byte %s at or behind %08x: %s (EXPEVT %03x)", width, what, addr,
                   exception_name(status), status);
}

static int judge_held(const struct sh4_request *held, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (held[i].status)
            return sh4_agent_fault(held[i].status, "write", 4, held[i].arg[0], err);
    return 0;
}

/* What waits, then these. */
static int run_behind(struct sh4_target *t, struct sh4_request *req, size_t n, struct err *err)
{
    struct sh4_held *h = t->agent.held;
    struct sh4_request all[SH4_HELD_REQUESTS + SH4_SOON_REQUESTS];
    size_t nheld = h->n, with = n <= SH4_SOON_REQUESTS ? n : 0;
    memcpy(all, h->req, nheld * sizeof *all);
    if (with)
        memcpy(all + nheld, req, with * sizeof *all);
    h->n = h->words = 0;
    int ret = run_now(t, all, nheld + with, err);
    if (ret == 0)
        ret = judge_held(all, nheld, err);
    if (ret < 0) { /* what was noted for the save area may not have been written */
        sh4_regs_unseen(t);
        return ret;
    }
    if (with)
        memcpy(req, all + nheld, with * sizeof *all);
    if (with == n)
        return 0;
    return run_now(t, req, n, err);
}

int sh4_agent_run(struct sh4_target *t, struct sh4_request *req, size_t n, struct err *err)
{
    if (!t->agent.held)
        return run_now(t, req, n, err);
    if (take_results(t, req, n))
        return 0;
    if (t->agent.held->n)
        return run_behind(t, req, n, err);
    return run_now(t, req, n, err);
}

void sh4_agent_hold(struct sh4_target *t, struct sh4_held *h)
{
    h->n = h->words = 0;
    t->agent.held = h;
}

int sh4_agent_flush(struct sh4_target *t, struct err *err)
{
    if (t->agent.held && t->agent.held->n)
        return run_behind(t, NULL, 0, err);
    return 0;
}

int sh4_agent_release(struct sh4_target *t, struct err *err)
{
    int ret = sh4_agent_flush(t, err);
    t->agent.held = NULL;
    return ret;
}

/* ---- accesses ---- */

static uint32_t load_of(const struct sh4_agent_layout *a, unsigned width)
{
    switch (width) {
    case 1: return a->ld1 - (uint32_t)a->ref_read;
    case 2: return a->ld2 - (uint32_t)a->ref_read;
    default: return a->ld4 - (uint32_t)a->ref_read;
    }
}

static uint32_t store_of(const struct sh4_agent_layout *a, unsigned width, uint32_t ref)
{
    switch (width) {
    case 1: return a->st1 - ref;
    case 2: return a->st2 - ref;
    default: return a->st4 - ref;
    }
}

/* n accesses as requests of at most t->link.block words; smaller ones if the wire damages them. */
static int in_blocks(struct sh4_target *t, const struct sh4_request *like, unsigned width, size_t n,
                     const char *what, struct err *err)
{
    enum { FEW = 8 }; /* a packet of GDB's, on a quiet wire */
    size_t block = MIN(n, (size_t)t->link.block), nreq = (n + block - 1) / block;
    struct sh4_request few[FEW], *req = nreq <= FEW ? few : calloc(nreq, sizeof *req);
    if (!req)
        return err_set(err, ERR_NOMEM, "move less at a time", "memory %s: no memory", what);
    for (size_t i = 0; i < nreq; i++) {
        size_t part = MIN(n - i * block, block);
        req[i] = *like;
        req[i].arg[0] += (uint32_t)(i * block * width);
        req[i].arg[2] = (uint32_t)part;
        req[i].nin = 0;
        if (like->in)
            req[i].nin = part;
        req[i].nout = 0;
        if (like->out)
            req[i].nout = part;
        req[i].in = NULL;
        if (like->in)
            req[i].in = like->in + i * block;
        req[i].out = NULL;
        if (like->out)
            req[i].out = like->out + i * block;
    }
    int ret = sh4_agent_run(t, req, nreq, err);
    for (size_t i = 0; ret == 0 && i < nreq; i++)
        if (req[i].status)
            ret = sh4_agent_fault(req[i].status, what, width, req[i].arg[0], err);
    if (req != few)
        free(req);
    return ret;
}

bool sh4_agent_smaller_blocks(struct sh4_target *t, size_t n, int ret)
{
    size_t block = MIN(n, (size_t)t->link.block);
    if (ret != -ERR_PROTOCOL || block <= SH4_LEAST_WORDS)
        return false;
    t->link.block = (unsigned)MAX(block / 4, (size_t)SH4_LEAST_WORDS);
    return true;
}

static int move_block(struct sh4_target *t, const struct sh4_request *like, unsigned width,
                      size_t n, const char *what, struct err *err)
{
    if (!t->agent.layout)
        return err_set(err, ERR_STATE, "halt the target first", "no agent is known on the target");
    if (n == 0)
        return 0;
    int ret = in_blocks(t, like, width, n, what, err);
    while (sh4_agent_smaller_blocks(t, n, ret))
        ret = in_blocks(t, like, width, n, what, err);
    return ret;
}

int sh4_agent_read(struct sh4_target *t, uint32_t addr, unsigned width, uint32_t *values, size_t n,
                   struct err *err)
{
    const struct sh4_agent_layout *a = t->agent.layout;
    struct sh4_request like = { .in = values };
    if (a) {
        like.routine = a->op_read - (uint32_t)a->ref_call;
        like.arg[0] = addr;
        like.arg[1] = load_of(a, width);
    }
    return move_block(t, &like, width, n, "read", err);
}

int sh4_agent_try_read(struct sh4_target *t, uint32_t addr, unsigned width, uint32_t *values,
                       size_t n, struct err *err)
{
    struct err own = { .code = ERR_OK };
    int ret = sh4_agent_read(t, addr, width, values, n, &own);
    if (ret < 0 && ret != -ERR_FAULT && err)
        *err = own;
    if (ret == -ERR_FAULT)
        return 0;
    if (ret < 0)
        return ret;
    return 1;
}

int sh4_agent_write(struct sh4_target *t, uint32_t addr, unsigned width, const uint32_t *values,
                    size_t n, struct err *err)
{
    const struct sh4_agent_layout *a = t->agent.layout;
    struct sh4_request like = { .out = values };
    if (a) {
        like.routine = a->op_write - (uint32_t)a->ref_call;
        like.arg[0] = addr;
        like.arg[1] = store_of(a, width, a->ref_write);
    }
    return move_block(t, &like, width, n, "write", err);
}

struct sh4_request sh4_agent_poke_request(const struct sh4_agent_layout *a, uint32_t addr,
                                          uint32_t routine, uint32_t value)
{
    return (struct sh4_request){ .routine = a->op_poke - (uint32_t)a->ref_call,
                                 .arg = { addr, routine - a->ref_poke, value } };
}

int sh4_agent_poke(struct sh4_target *t, uint32_t addr, unsigned width, uint32_t value,
                   struct err *err)
{
    const struct sh4_agent_layout *a = t->agent.layout;
    if (!a)
        return err_set(err, ERR_STATE, "halt the target first", "no agent is known on the target");
    struct sh4_request req = sh4_agent_poke_request(a, addr, store_of(a, width, 0), value);
    int ret = sh4_agent_run(t, &req, 1, err);
    if (ret < 0 || !req.status)
        return ret;
    return sh4_agent_fault(req.status, "write", width, addr, err);
}

int sh4_agent_peek(struct sh4_target *t, uint32_t addr, unsigned width, uint32_t *value,
                   struct err *err)
{
    uint32_t v;
    int ret = sh4_agent_read(t, addr, width, &v, 1, err);
    if (ret == 0)
        *value = v;
    return ret;
}

int sh4_agent_call(struct sh4_target *t, uint32_t addr, const uint32_t arg[3], uint32_t *r0,
                   struct err *err)
{
    const struct sh4_agent_layout *a = t->agent.layout;
    if (!a)
        return err_set(err, ERR_STATE, "halt the target first", "no agent is known on the target");
    struct sh4_request req = { .routine = addr - t->agent.base - a->ref_call,
                               .arg = { arg[0], arg[1], arg[2] } };
    int ret = sh4_agent_run(t, &req, 1, err);
    if (ret == 0 && req.status)
        return err_set(err, ERR_FAULT, "is the code there, and is it right?",
                       "code at %08x called by the agent met exception %03x", addr, req.status);
    if (ret == 0 && r0)
        *r0 = req.r0;
    return ret;
}

void sh4_agent_place(const struct sh4_agent_layout *a, uint32_t base, int big, uint8_t *out)
{
    memcpy(out, a->code[big != 0], a->size);
    for (size_t i = 0; i < a->nrelocs; i++) {
        uint8_t *w = out + a->relocs[i];
        put32(w, get32(w, big) + base - a->base, big);
    }
}
