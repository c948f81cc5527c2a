/* Faults done to the transfers of a device, whatever its model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "tests/system/usb/bus.h"

enum { NOTED = 8 };
static const char *const names[] = { "unplug", "stall",    "timeout", "short", "short-answer",
                                     "stale",  "wrong-id", "garbage", "hang",  NULL };
_Static_assert(ARRAY_LEN(names) == FAULT_NKINDS + 1, "a name per fault");

/* KIND@N, or KIND@N+ for every transfer from the N-th on. */
int fault_parse(struct fault *f, const char *text, struct err *err)
{
    static const char hint[] = "fault=unplug|stall|timeout|short|short-answer|stale|wrong-id|"
                               "garbage|hang@N, or @N+ from there on";
    const char *at = strchr(text, '@');
    char *end;
    if (!at)
        return err_set(err, ERR_USAGE, hint, "fault=%s: no transfer named", text);
    unsigned long long n = strtoull(at + 1, &end, 10);
    for (int k = 0; names[k]; k++) {
        if (strlen(names[k]) != (size_t)(at - text) ||
            strncmp(names[k], text, (size_t)(at - text)) != 0)
            continue;
        if (n == 0 || end == at + 1 || (*end && strcmp(end, "+") != 0))
            break;
        *f = (struct fault){ .kind = (enum fault_kind)k, .at = n, .on = *end == '+' };
        return 0;
    }
    return err_set(err, ERR_USAGE, hint, "fault=%s", text);
}

static bool of_answers(enum fault_kind kind)
{
    return kind == FAULT_SHORT_ANSWER || kind == FAULT_STALE || kind == FAULT_WRONG_ID ||
           kind == FAULT_GARBAGE;
}

/* "82 64 1d07": endpoint, length, how it begins. */
static void note_transfer(struct bus_dev *d, const struct bus_ep *ep, const uint8_t *data,
                          size_t len)
{
    if (!d->bus->notes)
        return;
    fprintf(d->bus->notes, "%02x %zu ", ep->address, len);
    for (size_t i = 0; i < MIN(len, (size_t)NOTED); i++)
        fprintf(d->bus->notes, "%02x", data[i]);
    fputc('\n', d->bus->notes);
}

const struct fault *fault_next(struct bus_dev *d, const struct bus_ep *ep, bool in,
                               const uint8_t *data, size_t len)
{
    const struct fault *hit = NULL;
    d->transfers++;
    note_transfer(d, ep, data, len);
    for (unsigned i = 0; i < d->nfaults; i++) {
        struct fault *f = &d->fault[i];
        if (f->at == d->transfers || (f->on && f->at < d->transfers))
            f->pending = true;
        if (!f->pending || (!in && of_answers(f->kind)))
            continue;
        f->pending = false;
        d->faults_fired++;
        hit = hit ? hit : f;
    }
    return hit;
}

static uint8_t next_noise(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (uint8_t)(*seed >> 24);
}

/* Faults that only change what an answer says. */
void fault_change(struct bus_dev *d, struct bus_ep *ep, const struct fault *f, uint8_t *data,
                  size_t *len)
{
    size_t id = d->type->id_offset;
    (void)ep;
    switch (f->kind) {
    case FAULT_SHORT:
    case FAULT_SHORT_ANSWER: *len /= 2; break;
    case FAULT_WRONG_ID:
        if (id < *len)
            data[id] ^= 0x55;
        break;
    case FAULT_GARBAGE:
        for (size_t i = 0; i < *len; i++)
            data[i] = next_noise(&d->seed);
        break;
    default: break;
    }
}

int bus_keep(struct bus_ep *ep, const uint8_t *data, size_t len)
{
    uint8_t *to = realloc(ep->kept, len ? len : 1);
    if (!to)
        return -ERR_NOMEM;
    ep->kept = to;
    memcpy(to, data, len);
    ep->kept_len = len;
    ep->has_kept = true;
    return 0;
}
