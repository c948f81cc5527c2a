#include "targets/s12z/trace/stream.h"

#include <string.h>

#include "probe/base/util.h"

enum {
    CHAIN = 8,        /* lines in a row that make a place believable */
    CHAIN_BYTES = 72, /* enough for a PTHF and CHAIN lines behind it */
    LINE = 8
};

void s12z_stream_init(struct s12z_stream *s, enum s12z_form form,
                      const struct s12z_settings *settings, s12z_item_sink *sink, void *ctx)
{
    memset(s, 0, sizeof *s);
    s->settings = *settings;
    s->form = form;
    s->sink = sink;
    s->ctx = ctx;
    s->after_gap = true;
    s->searching = s->fresh = form == S12Z_FORM_WIRE;
    s->why = "no line begins here";
}

static uint64_t raw_of(const uint8_t *p, unsigned n)
{
    uint64_t raw = 0;
    for (unsigned k = 0; k < n; k++)
        raw |= (uint64_t)p[k] << (8 * k);
    return raw;
}

/* How many lines in a row decode from p on, up to CHAIN; one more if they end where the bytes are
 * known to end. A PTS in the middle of a session is possible, but proves nothing. */
static unsigned count_chain(const struct s12z_settings *set, const uint8_t *p, size_t avail,
                            bool ended, bool final)
{
    unsigned good = 0;
    while (good < CHAIN && avail) {
        unsigned n = s12z_line_bytes(*p, set);
        struct s12z_line l;
        if (!n)
            return 0;
        if (n > avail)
            return good;
        if (s12z_line_decode(raw_of(p, n), set, &l, NULL) < 0 || (l.format == S12Z_PTS) != ended)
            return 0;
        ended = l.end || l.overflow;
        good++;
        p += n;
        avail -= n;
    }
    return good + (final && !avail);
}

/* The length of the PTHF at p: the one after which lines go on. Decided once; until then, line by
 * line. */
static unsigned pthf_length(struct s12z_stream *s, const uint8_t *p, size_t avail, bool final)
{
    struct s12z_settings five = s->settings, six = s->settings;
    bool ended = *p & 0x30;
    five.pthf_bytes = 5;
    six.pthf_bytes = 6;
    unsigned as5 = 0;
    if (avail >= 5)
        as5 = count_chain(&five, p + 5, avail - 5, ended, final);
    unsigned as6 = 0;
    if (avail >= 6 && !p[5])
        as6 = count_chain(&six, p + 6, avail - 6, ended, final);
    if (as5 == as6)
        return s->settings.pthf_bytes;
    unsigned length = 6;
    if (as5 > as6)
        length = 5;
    if (avail > length) /* else only its own end speaks for it */
        s->pthf = s->settings.pthf_bytes = (uint8_t)length;
    return length;
}

static int give_item(struct s12z_stream *s, const struct s12z_item *item)
{
    s->lines += item->kind == S12Z_ITEM_LINE;
    s->bad += item->kind == S12Z_ITEM_BAD;
    if (item->kind == S12Z_ITEM_BAD)
        s->bad_bytes += item->bytes;
    return s->sink(s->ctx, item);
}

/* The last of the bad bytes is the one before buf[at]; the first may be out of the buffer already.
 */
static int give_bad(struct s12z_stream *s, unsigned at, uint32_t bytes, const char *why)
{
    struct s12z_item item = { .kind = S12Z_ITEM_BAD,
                              .offset = s->offset + at - bytes,
                              .bytes = bytes,
                              .tick = s->tick[0],
                              .why = why };
    s->searching = false;
    s->skipped = 0;
    if (bytes)
        return give_item(s, &item);
    return 0;
}

static int give_line(struct s12z_stream *s, unsigned at, unsigned bytes, uint64_t raw,
                     const struct s12z_line *l)
{
    struct s12z_item item = { .kind = S12Z_ITEM_LINE,
                              .prompt = s->after_gap,
                              .offset = s->offset + at,
                              .tick = s->tick[at],
                              .bus_ticks = s->bus_ticks,
                              .bytes = bytes,
                              .raw = raw,
                              .line = *l };
    s->after_gap = false;
    return give_item(s, &item);
}

static void begin_search(struct s12z_stream *s, const char *why)
{
    s->searching = true;
    s->fresh = false;
    s->skipped = 0;
    s->why = why;
}

/* Whether buf[at] may be where lines begin again; s->ended as it must have been then. */
static bool line_begins_at(struct s12z_stream *s, unsigned at, bool final)
{
    if (!s->skipped && !s->fresh)
        return false;
    struct s12z_settings set = s->settings;
    for (unsigned k = 0; k < (s->pthf ? 2 : 4); k++) {
        /* 5 or 6, the other one */
        set.pthf_bytes = k < 2 ? s->settings.pthf_bytes : 11 - s->settings.pthf_bytes;
        if (count_chain(&set, s->buf + at, s->used - at, k & 1, final)) {
            s->ended = k & 1;
            return true;
        }
    }
    return false;
}

/* PTS comes first in a session and nowhere else. Without an end before it (a reset) several good
 * lines must follow. */
static const char *out_of_place(const struct s12z_stream *s, unsigned at, const struct s12z_line *l,
                                bool final)
{
    if (s->ended == (l->format == S12Z_PTS))
        return NULL;
    if (s->ended)
        return "a line behind the last one of its session";
    if (count_chain(&s->settings, s->buf + at, s->used - at, true, final))
        return NULL;
    return "a first line in the middle of a session";
}

/* One step at buf[*at]. Returns 0, the sink's failure, or 1 when more bytes are needed. */
static int step_wire(struct s12z_stream *s, unsigned *at, bool final)
{
    const uint8_t *p = s->buf + *at;
    size_t avail = s->used - *at;
    struct s12z_line l;
    bool open = avail && (s->searching || ((*p & 0x0F) == S12Z_PTHF && !s->pthf) ||
                          ((*p & 0x0F) == S12Z_PTS && !s->ended));
    if (!avail || (open && avail < CHAIN_BYTES && !final))
        return 1;
    if (s->searching && line_begins_at(s, *at, final))
        return give_bad(s, *at, s->skipped, s->why);
    if (s->searching) {
        s->skipped++;
        ++*at;
        return 0;
    }
    unsigned n = s12z_line_bytes(*p, &s->settings);
    if (n && (*p & 0x0F) == S12Z_PTHF && !s->pthf)
        n = pthf_length(s, p, avail, final);
    if (n > avail)
        return 1;
    uint64_t raw = raw_of(p, n);
    if (!n || s12z_line_decode(raw, &s->settings, &l, NULL) < 0) {
        const char *bad = "a line that breaks the rules of its format";
        if (!n)
            bad = "no line begins with this byte";
        begin_search(s, bad);
        return 0;
    }
    const char *why = out_of_place(s, *at, &l, final);
    if (why) {
        begin_search(s, why);
        return 0;
    }
    *at += n;
    s->ended = l.end || l.overflow;
    return give_line(s, *at - n, n, raw, &l);
}

/* The next line, of a form in which all are of one length. */
static uint64_t fixed_line(const struct s12z_stream *s, const uint8_t *p)
{
    if (s->form == S12Z_FORM_DBGTB)
        return s12z_line_from_dbgtb(p);
    if (s->form == S12Z_FORM_COMMAND)
        return s12z_line_from_command(p);
    return raw_of(p, LINE);
}

static int step_fixed(struct s12z_stream *s, unsigned *at)
{
    const uint8_t *p = s->buf + *at;
    struct s12z_line l;
    if (s->used - *at < LINE)
        return 1;
    uint64_t raw = fixed_line(s, p);
    *at += LINE;
    if (s12z_line_decode(raw, &s->settings, &l, NULL) < 0)
        return give_bad(s, *at, LINE, "a line that breaks the rules of its format");
    return give_line(s, *at - LINE, LINE, raw, &l);
}

/* The bytes being skipped stay counted, not kept. */
static void drop_front(struct s12z_stream *s, unsigned n)
{
    s->offset += n;
    s->used -= n;
    memmove(s->buf, s->buf + n, s->used);
    memmove(s->tick, s->tick + n, s->used * sizeof *s->tick);
}

static int parse_bytes(struct s12z_stream *s, bool final)
{
    unsigned at = 0;
    int ret = 0;
    while (ret == 0) {
        if (s->form == S12Z_FORM_WIRE)
            ret = step_wire(s, &at, final);
        else
            ret = step_fixed(s, &at);
    }
    drop_front(s, at);
    if (ret < 0)
        return ret;
    return 0;
}

int s12z_stream_feed(struct s12z_stream *s, const uint8_t *bytes, size_t n, uint64_t tick)
{
    int ret = 0;
    while (n && ret == 0) {
        unsigned k = (unsigned)MIN(n, (size_t)(S12Z_STREAM_ROOM - s->used));
        memcpy(s->buf + s->used, bytes, k);
        for (unsigned i = 0; i < k; i++)
            s->tick[s->used + i] = tick;
        s->used += k;
        bytes += k;
        n -= k;
        ret = parse_bytes(s, false);
    }
    return ret;
}

static int end_bytes(struct s12z_stream *s, const char *why)
{
    int ret = parse_bytes(s, true);
    if (s->searching)
        why = s->why;
    if (ret == 0)
        ret = give_bad(s, s->used, s->skipped + s->used, why);
    s->offset += s->used;
    s->used = 0;
    s->searching = s->fresh = s->form == S12Z_FORM_WIRE;
    s->why = "no line begins here";
    return ret;
}

int s12z_stream_gap(struct s12z_stream *s)
{
    if (s->form != S12Z_FORM_WIRE)
        return 0;
    int ret = end_bytes(s, "the wire went idle inside a line");
    s->after_gap = true;
    return ret;
}

int s12z_stream_end(struct s12z_stream *s) { return end_bytes(s, "the stream ends inside a line"); }
