#include "profiler/bridge/wire.h"

#include <inttypes.h>
#include <stdio.h>

#include "probe/link.h"

static bool look_at_wire(void *ctx, struct target *t)
{
    struct wire *w = ctx;
    if (!t->ops->wire)
        return false;
    struct target_wire now = { .hz = 0 };
    t->ops->wire(t, &now);
    if (now.from_hz)
        w->clock_hz = now.hz;
    pthread_mutex_lock(&w->lock);
    w->seen = now;
    pthread_mutex_unlock(&w->lock);
    return false;
}

void wire_init(struct wire *w, struct target *t, uint32_t clock_hz)
{
    *w = (struct wire){ .client = { .ctx = w, .slice = look_at_wire },
                        .clock_hz = clock_hz,
                        .made = true };
    pthread_mutex_init(&w->lock, NULL);
    if (t->ops->wire)
        t->ops->wire(t, &w->said);
    w->seen = w->said;
}

void wire_fini(struct wire *w)
{
    if (w->made)
        pthread_mutex_destroy(&w->lock);
    w->made = false;
}

uint32_t wire_clock(const struct wire *w) { return w->clock_hz; }

/* What the user can do about damage, or what was done already. */
static void describe_clock(const struct target_wire *now, const struct target_wire *said, char *buf,
                           size_t cap)
{
    char hz[24], from[24];
    buf[0] = 0;
    if (now->hz != said->hz)
        snprintf(buf, cap, "; TCK is %s now, it was %s", link_hz_text(now->hz, hz, sizeof hz),
                 link_hz_text(said->hz, from, sizeof from));
    else if (!now->hz)
        snprintf(buf, cap, " (lower --speed, or --speed auto; shorten the wires, check ground)");
}

/* Does `now` differ from `said`, which was reported, so that it has to be reported? */
static bool worth_telling(const struct target_wire *now, const struct target_wire *said, bool last)
{
    bool first = now->disturbed && !said->disturbed;
    return now->damaged != said->damaged && (first || (last && said->disturbed));
}

void wire_tell(struct wire *w, bool last, const struct say *to)
{
    char clock[80];
    pthread_mutex_lock(&w->lock);
    struct target_wire now = w->seen;
    pthread_mutex_unlock(&w->lock);
    if (!worth_telling(&now, &w->said, last))
        return;
    describe_clock(&now, &w->said, clock, sizeof clock);
    say_line(to, "the wire has damaged %" PRIu64 " exchanges, which were repeated%s", now.damaged,
             clock);
    w->said = now;
}
