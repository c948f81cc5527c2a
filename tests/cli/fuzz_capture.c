/* Any recording whose sums are right: header lines up to a zero byte, then blocks, which are packed
 * and summed here as the format wants it, so that what reads their contents is reached.
 * fuzz_recording has any bytes.
 *
 * A block: how it is (enum), how many events, ten bytes each. A whole recording gives just its
 * events; a damaged one those before the damage, and says so. Every counter step of them is charged
 * to one node of the call tree, and to one function of the profile that the reports show. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zstd.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "profiler/cli/replay.h"
#include "profiler/profile/recording_format.h"
#include "profiler/views/report.h"
#include "profiler/views/report_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BLOCKS = 8, EVENTS = 64, EVENT_BYTES = 10, FILE_MOST = 1 << 17 };
enum how {
    GOOD,
    GOOD_TOO,
    GOOD_AS_WELL,
    CHANGED,
    SHORT_OF_ONE,
    UNKNOWN,
    ENDS,
    ENDS_WITH_TEXT,
    HOWS
};

struct file {
    uint8_t bytes[FILE_MOST];
    size_t len;
    uint64_t events; /* up to the first block that may be damaged */
    bool doubtful;   /* there is such a one */
    bool ended;
    struct event last; /* counters and time go on from block to block */
};

static void must_hold(bool holds)
{
    if (!holds)
        abort();
}

/* ---- making it ---- */

static void put_block(struct file *f, uint32_t type, uint32_t flags, uint32_t events,
                      const uint8_t *plain, size_t len)
{
    uint8_t *h = f->bytes + f->len;
    size_t stored = ZSTD_compress(h + RECORDING_BLOCK_HEADER,
                                  sizeof f->bytes - f->len - RECORDING_BLOCK_HEADER, plain, len, 1);
    must_hold(!ZSTD_isError(stored));
    const uint32_t words[] = { type, flags, (uint32_t)stored, (uint32_t)len, events };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        put_le32(h + 4 * i, words[i]);
    put_le32(h + 20, recording_crc(recording_crc(0, h, 20), h + RECORDING_BLOCK_HEADER, stored));
    f->len += RECORDING_BLOCK_HEADER + stored;
}

/* Few addresses and stacks, so that calls and returns meet; now and then anything. */
static uint64_t address_of(uint8_t b)
{
    return b >= 0xF0 ? (uint64_t)b << (b & 15) * 4 : 0x8C010000u + (b & 15) * 0x40u + (b >> 4) * 2u;
}

static struct event make_event(struct event *last, const uint8_t *p)
{
    struct event e = { .kind = p[0] % EVENT_NKINDS,
                       .flags = (p[1] | p[2] << 8) & 0x7FF,
                       .pc = address_of(p[3]),
                       .target = address_of(p[4]) };
    /* as most have */
    e.flags |= p[2] & 0x80
                   ? 0
                   : EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2 | EVENT_HAS_SP;
    e.c1 = last->c1 + (p[5] == 255 ? UINT64_MAX - 20 : p[5]);
    e.c2 = last->c2 + (p[6] & 15);
    e.time_cycles = last->time_cycles + 2u * p[5];
    e.host_ns = last->host_ns + 1000;
    e.sp = 0x8C100000u + (p[7] >> 6) * 0x10000u - 4u * (p[7] & 63);
    e.vector = (uint16_t)(p[8] * 0x20);
    e.cause = p[8] % EVENT_NCAUSES;
    e.amount = p[9] == 255 ? UINT64_MAX : p[9];
    e.context = p[6] >> 6;
    *last = e;
    return e;
}

static const uint8_t *put_events(struct file *f, enum how how, const uint8_t *at,
                                 const uint8_t *end)
{
    struct event e[EVENTS];
    uint8_t plain[EVENTS * RECORDING_EVENT_MAX + 1];
    size_t n = MIN((size_t)(*at++ % EVENTS), (size_t)(end - at) / EVENT_BYTES);
    for (size_t i = 0; i < n; i++, at += EVENT_BYTES)
        e[i] = make_event(&f->last, at);
    size_t len = recording_encode(e, n, plain);
    if (how == CHANGED && len && at < end) {
        plain[*at % len] ^= *at;
        f->doubtful = true;
    }
    f->doubtful = f->doubtful || (how == SHORT_OF_ONE && n);
    if (!f->doubtful && how != UNKNOWN)
        f->events += n;
    put_block(f, how == UNKNOWN ? 0x58585858 : RECORDING_EVENTS, 0,
              (uint32_t)(how == SHORT_OF_ONE && n ? n - 1 : n), plain, len);
    return at;
}

static const uint8_t *put_end(struct file *f, enum how how, const uint8_t *at, const uint8_t *end)
{
    char text[160];
    int n = snprintf(
        text, sizeof text, "events=%llu\ntarget_cycles=%u\nagent_cycles=%u\nicache_enabled=1\n",
        (unsigned long long)f->events, at < end ? *at * 1000u : 0, at < end ? *at * 3u : 0);
    if (how == ENDS)
        put_block(f, RECORDING_END, 0, 0, (const uint8_t *)text, (size_t)n);
    else
        put_block(f, RECORDING_END, 0, 0, at, MIN((size_t)(end - at), (size_t)2000));
    f->doubtful = f->doubtful || how != ENDS;
    f->ended = true;
    return end;
}

/* False: it names an ELF, which has a fuzzer of its own. */
static bool make_file(struct file *f, const uint8_t *at, const uint8_t *end)
{
    char header[1200] = "target=sh7750\n";
    const uint8_t *zero = memchr(at, 0, (size_t)(end - at));
    snprintf(header + strlen(header), 1000, "%.*s", (int)((zero ? zero : end) - at),
             (const char *)at);
    f->len = f->events = 0;
    f->doubtful = f->ended = false;
    f->last = (struct event){ .kind = EVENT_NONE };
    memcpy(f->bytes, RECORDING_MAGIC, RECORDING_MAGIC_BYTES);
    f->len = RECORDING_MAGIC_BYTES;
    put_block(f, RECORDING_HEADER, RECORDING_VERSION, 0, (const uint8_t *)header, strlen(header));
    at = zero ? zero + 1 : end;
    for (int i = 0; i < BLOCKS && end - at >= 2 && !f->ended; i++) {
        enum how how = (enum how)(*at++ % HOWS);
        at = how >= ENDS ? put_end(f, how, at, end) : put_events(f, how, at, end);
    }
    return !strstr(header, "elf=");
}

/* ---- reading it ---- */

static void count_nodes(const struct calltree *t)
{
    const struct calltree_stats *s = calltree_stats(t);
    uint64_t c1 = 0, c2 = 0;
    size_t n;
    const struct calltree_node *node = calltree_nodes(t, &n);
    for (size_t i = 0; i < n; i++) {
        must_hold(node[i].parent == CALLTREE_NONE || node[i].parent < i);
        c1 += node[i].c1;
        c2 += node[i].c2;
    }
    must_hold(c1 == s->total_c1 && c2 == s->total_c2);
}

static void events_of(const struct file *f)
{
    struct recording *r;
    struct capture c = { .tree = NULL };
    struct event e[50];
    struct err err = { .code = ERR_OK };
    uint64_t got = 0;
    int n, ret = recording_open_bytes(f->bytes, f->len, &r, &err);
    if (ret < 0) {
        must_hold(ret == -ERR_FORMAT && *err.what && *err.hint);
        return;
    }
    ret = capture_open(&c, NULL, recording_header(r), NULL, &err);
    must_hold(ret == 0);
    while ((n = recording_read(r, e, ARRAY_LEN(e), &err)) > 0) {
        got += (uint64_t)n;
        must_hold(capture_feed(&c, e, (size_t)n, &err) == 0);
    }
    must_hold(n == 0 && (f->doubtful ? got >= f->events : got == f->events));
    must_hold(f->doubtful || (recording_damage(r) == NULL) == f->ended);
    count_nodes(c.tree);
    capture_close(&c);
    recording_close(r);
}

static void check_text(void *ctx, const char *text, size_t len)
{
    must_hold(!memchr(text, 0, len) && !memchr(text, 27, len));
    *(size_t *)ctx += len;
}

static void show_reports(const struct profile *p)
{
    size_t shown = 0;
    const struct text_sink out = { check_text, &shown };
    const struct report_options o = { .ascii = true };
    uint64_t c1 = 0, hits = 0;
    for (size_t i = 0; i < p->nfunctions; i++) {
        c1 += p->functions[i].c1;
        hits += p->functions[i].hits;
    }
    must_hold(hits == p->total_hits && (p->info.estimate.is || c1 == p->total_c1));
    must_hold(report_functions(p, &o, &out) == 0 && report_tree(p, &o, &out) == 0);
    report_summary(p, &o, &out);
    report_json(p, &out);
    must_hold(shown);
}

static void profile_of(const struct file *f)
{
    static int fd = -1; /* a file without a name, written anew each time */
    char path[40];
    struct profile *p;
    struct symbols *syms;
    if (fd < 0)
        fd = memfd_create("recording", MFD_CLOEXEC);
    must_hold(ftruncate(fd, 0) == 0 && pwrite(fd, f->bytes, f->len, 0) == (ssize_t)f->len);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (replay_file(path, NULL, &p, &syms, NULL) < 0)
        return;
    show_reports(p);
    profile_free(p);
    symbols_close(syms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct file f; /* to spare the stack: made anew each time */
    if (!make_file(&f, data, data + size))
        return 0;
    events_of(&f);
    profile_of(&f);
    return 0;
}
