/* What the debugger wrote since the halt: caches are to be made coherent, and it may be code. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/code/sites.h"

enum { WRITTEN_LEAST = 16, WRITTEN_MOST = 16 << 20 };

int sh4_sync_written(struct sh4_target *t, struct err *err)
{
    enum { FEW = 256 };
    if (t->span.lo >= t->span.hi)
        return 0;
    uint32_t lo = t->span.lo, len = t->span.hi - lo;
    t->span.lo = t->span.hi = 0;
    if (len > FEW)
        return sh4_agent_sync_caches(t, lo, len, err);
    struct sh4_request req[3 * (FEW / 32 + 2)];
    return sh4_agent_run(t, req, sh4_agent_coherent(t, lo, len, req), err);
}

/* What was written may be code: caches are made coherent before the program runs, one range at a
 * time. */
int sh4_note_written(struct sh4_target *t, uint32_t lo, uint32_t hi, struct err *err)
{
    enum { NEAR = 4096 };
    bool apart = t->span.hi && (lo > t->span.hi + NEAR || hi + NEAR < t->span.lo);
    int ret = 0;
    if (apart)
        ret = sh4_sync_written(t, err);
    if (!t->span.hi)
        t->span.lo = lo;
    t->span.lo = MIN(t->span.lo, lo);
    t->span.hi = MAX(t->span.hi, hi);
    return ret;
}

/* The piece that addr continues or lies in. */
struct sh4_written_piece *sh4_written_at(struct sh4_written *w, uint32_t addr)
{
    for (size_t i = 0; i < w->n; i++)
        if (addr >= w->piece[i].addr && addr - w->piece[i].addr <= w->piece[i].size)
            return &w->piece[i];
    return NULL;
}

static struct sh4_written_piece *new_piece(struct sh4_written *w, uint32_t addr, size_t len)
{
    if (len < WRITTEN_LEAST || w->n == ARRAY_LEN(w->piece))
        return NULL;
    w->piece[w->n] = (struct sh4_written_piece){ .addr = addr };
    return &w->piece[w->n++];
}

void sh4_image_note_written(struct sh4_target *t, uint32_t addr, const uint8_t *buf, size_t len)
{
    struct sh4_written *w = &t->code.written;
    if (t->code.image || addr >= 0xE0000000u)
        return;
    addr = sh4_canonical32(addr);
    struct sh4_written_piece *p = sh4_written_at(w, addr);
    p = EITHER(p, new_piece(w, addr, len));
    if (!p)
        return;
    size_t at = addr - p->addr, end = at + len;
    if (end > p->cap) {
        size_t cap = MAX(2 * p->cap, end), more = cap - p->cap;
        if (w->total + more > WRITTEN_MOST) /* too much to keep: it is not searched */
            return;
        uint8_t *data = realloc(p->data, cap);
        if (!data)
            return;
        w->total += more;
        p->data = data;
        p->cap = cap;
    }
    memcpy(p->data + at, buf, len);
    p->size = MAX(p->size, end);
    w->changed = true;
}

void sh4_image_forget_written(struct sh4_target *t)
{
    for (size_t i = 0; i < t->code.written.n; i++)
        free(t->code.written.piece[i].data);
    if (t->code.written.code)
        sh4_sites_fini(t->code.written.code);
    free(t->code.written.code);
    t->code.written = (struct sh4_written){ .n = 0 };
}
