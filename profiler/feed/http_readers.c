#include "profiler/feed/http_readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/list.h"
#include "probe/base/util.h"

enum { CUTS_KEPT = 32, FRAMES_KEPT = 16 };
static const uint64_t ms_ns = 1000000, comment_every_ns = 5000000000, empty_ns = 30000000000;

struct reader {
    struct reader *next, **at;
    struct readers *all;
    struct http_stream *stream;
    struct reader_wish wish;
    bool greeted;        /* with a hello of this epoch */
    bool has_state;      /* wish.seq is what it knows of wish.epoch */
    bool leaving;        /* it has its bye, or is about to */
    uint64_t missed_seq; /* the state when it was due but had not taken its last frame; 0: it had */
    uint64_t merged, merged_all, frames;
    uint64_t begun_ns, due_ns, sent_ns, comment_ns;
};

/* A frame that readers in step share: as long as the state is the same. */
struct frame {
    struct feed_view view;
    bool snap;
    uint64_t since, merged;
    struct http_bytes *bytes;
};

/* One that was cut, for when it comes back. */
struct cut {
    char id[READER_ID];
    char why[96];
};

struct readers {
    struct feed *feed;
    struct reader *first;
    unsigned n;
    struct frame frames[FRAMES_KEPT];
    size_t nframes;
    uint64_t frames_epoch, frames_seq;
    struct cut cuts[CUTS_KEPT];
    size_t ncuts;
};

/* ---- who was cut ---- */

static void remember_cut(struct readers *r, const struct reader *one)
{
    struct cut *c = &r->cuts[r->ncuts++ % CUTS_KEPT];
    char text[READER_ID + 160];
    snprintf(c->id, sizeof c->id, "%s", one->wish.id);
    snprintf(c->why, sizeof c->why, "nothing was taken for %d s", HTTP_STREAM_S);
    snprintf(text, sizeof text, "reader %s of %s was cut: %s",
             text_or(text_given(one->wish.id), "-"), one->wish.peer, c->why);
    feed_log(r->feed, &(struct feed_log_entry){ .kind = "reader",
                                                .cause = "cut",
                                                .text = text,
                                                .wall_ms = feed_moment(r->feed)->wall_ms });
}

static const char *find_cut(const struct readers *r, const char *id)
{
    for (size_t i = 0; *id && i < MIN(r->ncuts, (size_t)CUTS_KEPT); i++)
        if (strcmp(r->cuts[i].id, id) == 0)
            return r->cuts[i].why;
    return NULL;
}

/* The reader has been notified. */
static void forget_cut(struct readers *r, const char *id)
{
    for (size_t i = 0; *id && i < CUTS_KEPT; i++)
        if (strcmp(r->cuts[i].id, id) == 0)
            r->cuts[i].id[0] = 0;
}

/* ---- frames ---- */

static void forget_frames(struct readers *r)
{
    while (r->nframes)
        http_bytes_release(r->frames[--r->nframes].bytes);
}

static int encode_frame(struct readers *r, const struct frame *f, const struct text_sink *out)
{
    if (f->snap)
        return feed_write_snap(r->feed, &f->view, out);
    return feed_write_delta(r->feed, &f->view, f->since, f->merged, out);
}

static bool is_same(const struct frame *a, const struct frame *b)
{
    return a->view.parts == b->view.parts && a->view.nodes == b->view.nodes && a->snap == b->snap &&
           a->since == b->since && a->merged == b->merged;
}

/* The bytes of a frame, which are borrowed until the next state. NULL: the changes are not known
 * any more, or there is no memory. */
static struct http_bytes *frame_of(struct readers *r, struct frame want)
{
    if (r->frames_epoch != feed_epoch(r->feed) || r->frames_seq != feed_seq(r->feed))
        forget_frames(r);
    r->frames_epoch = feed_epoch(r->feed);
    r->frames_seq = feed_seq(r->feed);
    for (size_t i = 0; i < r->nframes; i++)
        if (is_same(&r->frames[i], &want))
            return r->frames[i].bytes;
    want.bytes = http_bytes_new();
    if (!want.bytes)
        return NULL;
    struct text_sink out = http_bytes_sink(want.bytes);
    int ret = encode_frame(r, &want, &out);
    http_bytes_add(want.bytes, "\n", 1);
    if (ret < 0 || want.bytes->bytes.failed) {
        http_bytes_release(want.bytes);
        return NULL;
    }
    if (r->nframes == FRAMES_KEPT)
        forget_frames(r);
    r->frames[r->nframes++] = want;
    return want.bytes;
}

/* ---- one reader ---- */

static void put_frame(struct reader *one, struct http_bytes *bytes, bool with_id, uint64_t now_ns)
{
    char id[FEED_POSITION_TEXT], head[FEED_POSITION_TEXT + 16] = "";
    if (one->wish.sse && with_id)
        snprintf(head, sizeof head,
                 "id: %s\ndata: ", feed_position_text(one->wish.epoch, one->wish.seq, id));
    else if (one->wish.sse)
        snprintf(head, sizeof head, "data: ");
    http_stream_put(one->stream, head, bytes, text_if(one->wish.sse, "\n"));
    one->sent_ns = now_ns;
    one->frames++;
}

static void send_hello(struct reader *one, uint64_t now_ns)
{
    struct readers *r = one->all;
    struct http_bytes *bytes = http_bytes_new();
    if (!bytes)
        return; /* with the next turn */
    struct text_sink out = http_bytes_sink(bytes);
    feed_write_hello(r->feed,
                     &(struct feed_hello){ .view = one->wish.view,
                                           .interval_ms = one->wish.interval_ms,
                                           .cut = find_cut(r, one->wish.id) },
                     &out);
    http_bytes_add(bytes, "\n", 1);
    put_frame(one, bytes, false, now_ns);
    http_bytes_release(bytes);
    forget_cut(r, one->wish.id);
    one->greeted = true;
    one->has_state = one->wish.knows && one->wish.epoch == feed_epoch(r->feed);
    one->wish.epoch = feed_epoch(r->feed);
    one->due_ns = now_ns; /* a state follows at once */
}

static bool give_state(struct reader *one, bool snap, uint64_t now_ns)
{
    struct readers *r = one->all;
    struct frame frame = { .view = one->wish.view, .snap = snap };
    if (!snap) {
        frame.since = one->wish.seq;
        frame.merged = one->merged;
    }
    struct http_bytes *bytes = frame_of(r, frame);
    if (!bytes)
        return false;
    one->wish.seq = feed_seq(r->feed);
    one->has_state = true;
    one->merged = 0;
    put_frame(one, bytes, true, now_ns);
    return true;
}

/* Nothing is new: sends what keeps the connection open and its resume point current. */
static void keep_awake(struct reader *one, uint64_t now_ns)
{
    if (now_ns - one->sent_ns >= empty_ns) {
        give_state(one, false, now_ns);
    } else if (one->wish.sse && now_ns - MAX(one->sent_ns, one->comment_ns) >= comment_every_ns) {
        http_stream_put(one->stream, ":\n\n", NULL, "");
        one->comment_ns = now_ns;
    }
}

/* It has all there is: with the next state it gets that at once, if it is due then. */
static bool is_idle(const struct reader *one)
{
    const struct readers *r = one->all;
    return one->greeted && one->has_state && one->wish.epoch == feed_epoch(r->feed) &&
           one->wish.seq == feed_seq(r->feed);
}

static void serve_one(struct reader *one, uint64_t now_ns)
{
    struct readers *r = one->all;
    uint64_t seq = feed_seq(r->feed), interval = one->wish.interval_ms * ms_ns;
    if (one->leaving)
        return;
    if (!http_stream_hungry(one->stream)) {
        if (one->greeted && one->missed_seq != seq && one->has_state && one->wish.seq != seq) {
            one->missed_seq = seq;
            one->merged++;
            one->merged_all++;
        }
        one->due_ns = (now_ns / interval + 1) * interval;
        return;
    }
    if (!one->greeted || one->wish.epoch != feed_epoch(r->feed)) {
        send_hello(one, now_ns);
        return;
    }
    if (is_idle(one)) {
        keep_awake(one, now_ns);
        return;
    }
    one->due_ns = (now_ns / interval + 1) * interval; /* readers of one interval are in step */
    if (!one->has_state)
        give_state(one, true, now_ns);
    else if (!give_state(one, false, now_ns))
        give_state(one, true, now_ns); /* it was away for too long */
}

void readers_serve(struct readers *r, uint64_t now_ns)
{
    for (struct reader *one = r->first; one; one = one->next)
        if (now_ns >= one->due_ns)
            serve_one(one, now_ns);
}

/* ---- coming and going ---- */

static void reader_ended(void *ctx, struct http_stream *s, bool cut)
{
    struct reader *one = ctx;
    (void)s;
    if (cut)
        remember_cut(one->all, one);
    LIST_REMOVE(one);
    one->all->n--;
    free(one);
}

static void reader_opened(void *ctx, struct http_stream *s)
{
    struct reader *one = ctx;
    struct readers *r = one->all;
    if (!s) {
        free(one);
        return;
    }
    one->stream = s;
    LIST_ADD(&r->first, one);
    r->n++;
}

void readers_open(struct readers *r, const struct reader_wish *wish, uint64_t now_ns,
                  struct http_answer *a)
{
    static const struct http_stream_ops ops = { reader_ended };
    struct reader *one = calloc(1, sizeof *one);
    if (!one) {
        http_fail(a, 503, "memory", "the feed is out of memory", "close other programs");
        return;
    }
    *one = (struct reader){ .all = r, .wish = *wish, .begun_ns = now_ns, .sent_ns = now_ns };
    a->type = "application/x-ndjson";
    if (wish->sse)
        a->type = "text/event-stream";
    a->stream = &ops;
    a->stream_ctx = one;
    a->opened = reader_opened;
}

uint64_t readers_interval_ns(const struct readers *r)
{
    uint64_t least = UINT64_MAX;
    for (const struct reader *one = r->first; one; one = one->next)
        least = MIN(least, one->wish.interval_ms * ms_ns);
    return least;
}

/* When something is to be sent to it: a frame, or a comment so that it knows that we are there. */
static uint64_t due_of(const struct reader *one)
{
    if (is_idle(one))
        return MAX(one->sent_ns, one->comment_ns) + comment_every_ns;
    return one->due_ns;
}

uint64_t readers_wait_ns(const struct readers *r, uint64_t now_ns)
{
    uint64_t due = UINT64_MAX;
    for (const struct reader *one = r->first; one; one = one->next)
        due = MIN(due, due_of(one));
    if (due == UINT64_MAX)
        return due;
    return EXCESS(due, now_ns);
}

unsigned readers_lag(struct readers *r)
{
    unsigned n = 0;
    for (struct reader *one = r->first; one; one = one->next) {
        bool has = one->greeted && one->has_state && one->wish.epoch == feed_epoch(r->feed) &&
                   one->wish.seq == feed_seq(r->feed) && http_stream_hungry(one->stream);
        n += !has;
        if (!has)
            one->due_ns = 0;
    }
    return n;
}

void readers_end(struct readers *r, const char *reason, const char *hint)
{
    struct http_bytes *bytes = http_bytes_new();
    if (bytes) {
        struct text_sink out = http_bytes_sink(bytes);
        feed_write_bye(r->feed, reason, hint, &out);
        http_bytes_add(bytes, "\n", 1);
    }
    for (struct reader *one = r->first; one; one = one->next) {
        if (bytes && http_stream_hungry(one->stream))
            put_frame(one, bytes, false, one->sent_ns);
        one->leaving = true;
        http_stream_end(one->stream);
    }
    http_bytes_release(bytes);
}

unsigned readers_count(const struct readers *r) { return r->n; }

static void write_text(struct json_writer *j, const char *key, const char *text)
{
    json_member_string(j, key, text);
}

static void write_number(struct json_writer *j, const char *key, uint64_t value)
{
    json_member_uint(j, key, value);
}

void readers_write(const struct readers *r, uint64_t now_ns, struct json_writer *j)
{
    json_write_array(j, false);
    for (const struct reader *one = r->first; one; one = one->next) {
        const char *format = "ndjson";
        if (one->wish.sse)
            format = "sse";
        json_write_object(j, true);
        write_text(j, "id", text_given(one->wish.id));
        write_text(j, "peer", one->wish.peer);
        write_text(j, "format", format);
        write_number(j, "interval_ms", one->wish.interval_ms);
        write_number(j, "nodes",
                     number_if(one->wish.view.parts & FEED_NODES, one->wish.view.nodes));
        write_number(j, "seq", number_if(one->has_state, one->wish.seq));
        write_number(j, "frames", one->frames);
        write_number(j, "merged", one->merged_all);
        write_number(j, "bytes", http_stream_sent(one->stream));
        write_number(j, "seconds", (now_ns - one->begun_ns) / 1000000000);
        json_write_end(j);
    }
    json_write_end(j);
}

int readers_new(struct feed *feed, struct readers **out, struct err *err)
{
    struct readers *r = calloc(1, sizeof *r);
    if (!r)
        return err_set(err, ERR_NOMEM, "close other programs", "feed: out of memory");
    r->feed = feed;
    *out = r;
    return 0;
}

void readers_free(struct readers *r)
{
    if (!r)
        return;
    forget_frames(r);
    free(r);
}
