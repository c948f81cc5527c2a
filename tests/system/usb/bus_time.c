/* Virtual time: what a transfer costs on the bus, without waiting for it.
 *
 * What is sent starts with the next frame and arrives at the end of the frame its last byte goes
 * in; an answer goes in the frame in which it is ready and asked for, and is seen at the end of
 * that. So an exchange costs two frames (1 ms, at high speed microframes of 125 us) besides what
 * the device needs. Frames are shared by all that is in flight. A device works on what it got in
 * the order of arrival, for as long as its board's clocks take. Source for the bytes of a frame:
 * USB 2.0 specification 5.8.4 (bulk), 5.7.4 (interrupt). */
#include <time.h>

#include "probe/base/util.h"
#include "tests/system/usb/bus.h"

enum {
    FULL_FRAME_NS = 1000000,
    HIGH_FRAME_NS = 125000,
    FULL_BYTES = 19 * 64,
    HIGH_BYTES = 13 * 512,
    LEAST_BYTES = 64
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t bus_host_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
uint64_t bus_work_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

uint64_t bus_frame_ns(const struct bus_dev *d)
{
    return d->model->id.high_speed ? HIGH_FRAME_NS : FULL_FRAME_NS;
}

uint64_t bus_schedule(struct bus_dev *d, struct bus_ep *ep, uint64_t from_ns, size_t bytes)
{
    uint64_t ns = bus_frame_ns(d),
             frame = ep->address & 0x80 ? from_ns / ns : (from_ns + ns - 1) / ns;
    uint32_t budget = d->model->id.high_speed ? HIGH_BYTES : FULL_BYTES;
    size_t left = MAX(bytes, LEAST_BYTES); /* an empty packet takes its share, too */
    if (ep->type == 3)
        frame = MAX(frame, ep->next_frame);
    for (;; frame++) {
        uint32_t *used = &d->bus->frames[frame % BUS_FRAMES].used;
        if (d->bus->frames[frame % BUS_FRAMES].frame != frame)
            *used = 0;
        d->bus->frames[frame % BUS_FRAMES].frame = frame;
        uint32_t most = ep->type == 3 ? MIN(ep->mps, budget - *used) : budget - *used,
                 n = (uint32_t)MIN(left, most);
        *used += n;
        left -= n;
        if (left == 0)
            break;
    }
    ep->next_frame = frame + 1;
    ep->done_ns = MAX(ep->done_ns, (frame + 1) * ns);
    return ep->done_ns;
}

static uint64_t board_now(const struct bus_dev *d)
{
    return d->board ? d->board->type->now_ns(d->board) : 0;
}

void bus_device_works(struct bus_dev *d, uint64_t arrives_ns)
{
    uint64_t start = MAX(arrives_ns, d->busy_ns);
    if (!d->bus->virtual_time)
        return;
    if (start > d->device_ns) {
        if (d->board)
            d->board->type->advance(d->board, start - d->device_ns, NULL);
        if (d->type->advance)
            d->type->advance(d->model, start - d->device_ns);
        d->device_ns = start;
    }
    d->board_ns = board_now(d);
}

void bus_device_worked(struct bus_dev *d)
{
    if (!d->bus->virtual_time)
        return;
    uint64_t took = board_now(d) - d->board_ns;
    if (took && d->type->advance && d->model)
        d->type->advance(d->model, took);
    d->device_ns += took;
    d->board_ns += took;
    if (took)
        d->busy_ns = d->device_ns;
}
