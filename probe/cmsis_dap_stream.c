/* Clocks through a CMSIS-DAP probe: as many requests in flight as it has buffers. */
#include "probe/cmsis_dap.h"

#include <string.h>

/* Sends a question whose answer is known behind the last clocks of a run: it shows whether a
 * repeated answer of the same length and id came before. */
static const uint8_t check[] = { DAP_INFO, DAP_INFO_COUNT };

static int judge_check(const struct dap *d, const uint8_t *answer, int n, struct err *err)
{
    if (n >= 3 && answer[0] == DAP_INFO && answer[1] == 1 && answer[2] == d->count)
        return 0;
    return err_set(err, ERR_PROTOCOL, "another USB port, newer firmware of the probe",
                   "CMSIS-DAP: an answer too many: results may be wrong");
}

static int receive_oldest(struct dap *d, struct err *err)
{
    unsigned slot = d->head;
    struct dap_packet *p = &d->packet[slot];
    const struct dap_request *r = &d->request[slot];
    int n = d->link->t->receive(d->link, slot, p, dap_deadline_ms(d, r->clocks), err);
    if (n < 0)
        return n;
    d->head = (slot + 1) % DAP_SLOTS;
    d->flying--;
    if (r->clocks)
        return dap_unpack(r, p->in, (size_t)n, d->link->exact, d->owner[slot]->tdo, err);
    return judge_check(d, p->in, n, err);
}

/* The slot for the next request, once there is one. */
static int free_slot(struct dap *d, struct jtag_chunk *c, unsigned *slot, struct err *err)
{
    int ret = 0;
    if (d->flying >= d->depth)
        ret = receive_oldest(d, err);
    *slot = (d->head + d->flying) % DAP_SLOTS;
    d->owner[*slot] = c;
    d->request[*slot].buf = d->packet[*slot].out + 1;
    return ret;
}

static int send_slot(struct dap *d, unsigned slot, struct err *err)
{
    struct dap_packet *p = &d->packet[slot];
    p->len = d->request[slot].len;
    p->want = d->request[slot].answer_len;
    int ret = d->link->t->send(d->link, slot, p, err);
    d->flying += ret == 0;
    return ret;
}

static int send_check(struct dap *d, struct jtag_chunk *c, struct err *err)
{
    unsigned slot;
    int ret = free_slot(d, c, &slot, err);
    if (ret < 0)
        return ret;
    struct dap_request *r = &d->request[slot];
    memcpy(r->buf, check, sizeof check);
    r->len = sizeof check;
    r->answer_len = 3;
    r->clocks = 0;
    return send_slot(d, slot, err);
}

static int stream_send(void *ctx, struct jtag_chunk *c, struct err *err)
{
    struct dap *d = ctx;
    uint32_t field = 0;
    int ret = 0;
    for (uint32_t at = 0; ret == 0 && at < c->nbits;) {
        unsigned slot;
        ret = free_slot(d, c, &slot, err);
        if (ret < 0)
            return ret;
        at += dap_pack(c, at, &field, d->odd, &d->lim, &d->request[slot]);
        d->odd = !d->odd;
        ret = send_slot(d, slot, err);
    }
    if (ret == 0 && c->last && d->lim.token == DAP_TOKEN_NONE)
        ret = send_check(d, c, err);
    return ret;
}

static int stream_receive(void *ctx, struct jtag_chunk *c, struct err *err)
{
    struct dap *d = ctx;
    int ret = 0;
    for (;;) {
        bool of_c = false;
        for (unsigned i = 0; i < d->flying; i++)
            of_c = of_c || d->owner[(d->head + i) % DAP_SLOTS] == c;
        if (!of_c || ret < 0)
            return ret;
        ret = receive_oldest(d, err);
    }
}

const struct jtag_stream_io *dap_stream_io(void)
{
    static const struct jtag_stream_io io = { .send = stream_send, .receive = stream_receive };
    return &io;
}
