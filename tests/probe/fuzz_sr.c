/* Any sigrok session: its metadata, then pieces of samples, which libzip makes a file of, so that
 * its sums are right. The first byte says how: as it is, damaged at one place, or the rest of the
 * input is the file itself. What is not damaged gives just the edges of its samples, in order, or
 * an error. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zip.h>

#include "probe/base/util.h"
#include "probe/pdo_file.h"
#include "probe/pdo_samples.h"
#include "probe/pdo_sr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WHOLE, DAMAGED, RAW, HOWS, PIECES = 16, PIECE_MOST = 1 << 14 };

struct piece {
    char name[24];
    uint8_t *bytes;
    size_t n;
    bool packed;
};

struct session {
    char metadata[2048];
    size_t len;
    struct piece piece[PIECES];
    size_t n;
};

static void must_hold(bool holds)
{
    if (!holds)
        abort();
}

/* name, repetitions, length, bytes */
static const uint8_t *take_piece(const uint8_t *at, const uint8_t *end, struct piece *p)
{
    static const char *const others[] = { "logic-1", "logic-1-x", "analog-1-4-1", "version" };
    unsigned kind = at[0] & 0x1F, times = 1u << (at[1] & 15);
    size_t n = MIN((size_t)(at[2] | (at[1] & 0x30) << 4), (size_t)(end - at - 3)),
           all = MIN(n * times, (size_t)PIECE_MOST);
    if (kind < 28)
        snprintf(p->name, sizeof p->name, "logic-1-%u", kind + 1);
    else
        snprintf(p->name, sizeof p->name, "%s", others[kind - 28]);
    p->packed = at[0] & 0x80;
    p->n = all;
    p->bytes = malloc(all + 1); /* libzip wants a place even for nothing */
    for (size_t k = 0; k < all; k++)
        p->bytes[k] = at[3 + k % n];
    return at + 3 + n;
}

static void take_session(const uint8_t *at, const uint8_t *end, struct session *s)
{
    const uint8_t *zero = memchr(at, 0, (size_t)(end - at));
    s->len = MIN((size_t)((zero ? zero : end) - at), sizeof s->metadata);
    memcpy(s->metadata, at, s->len);
    s->n = 0;
    for (at = zero ? zero + 1 : end; end - at > 3 && s->n < PIECES;)
        at = take_piece(at, end, &s->piece[s->n++]);
}

static bool has_piece(const struct session *s, size_t n, const char *name)
{
    for (size_t k = 0; k < n; k++)
        if (!strcmp(s->piece[k].name, name))
            return true;
    return false;
}

/* A name that was there before is not taken again. */
static void add_all(zip_t *zip, struct session *s)
{
    zip_file_add(zip, "metadata", zip_source_buffer(zip, s->metadata, s->len, 0), 0);
    for (size_t k = 0; k < s->n; k++) {
        struct piece *p = &s->piece[k];
        if (has_piece(s, k, p->name)) {
            *p->name = 0;
            continue;
        }
        zip_int64_t at = zip_file_add(zip, p->name, zip_source_buffer(zip, p->bytes, p->n, 0), 0);
        must_hold(at >= 0 &&
                  zip_set_file_compression(zip, (zip_uint64_t)at,
                                           p->packed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 1) == 0);
    }
}

/* Its bytes, malloc()ed. */
static uint8_t *make_zip(struct session *s, size_t *len)
{
    zip_source_t *to = zip_source_buffer_create(NULL, 0, 0, NULL);
    zip_t *zip = zip_open_from_source(to, ZIP_TRUNCATE, NULL);
    zip_stat_t st;
    must_hold(zip != NULL);
    zip_source_keep(to);
    add_all(zip, s);
    must_hold(zip_close(zip) == 0 && zip_source_open(to) == 0 && zip_source_stat(to, &st) == 0);
    uint8_t *out = malloc(st.size);
    must_hold(zip_source_read(to, out, st.size) == (zip_int64_t)st.size);
    zip_source_close(to);
    zip_source_free(to);
    *len = st.size;
    return out;
}

/* All samples in order. A session that cannot be read as a whole has no truth: false. */
static bool join_samples(const struct session *s, const char *capture, uint8_t *out, size_t *len)
{
    char name[24];
    size_t of = 0, used = 0;
    bool alone = has_piece(s, s->n, capture);
    *len = 0;
    for (size_t k = 0; k < s->n; k++)
        of += !strncmp(s->piece[k].name, "logic-1", 7);
    for (unsigned n = alone ? 0 : 1; used < of; n++, used++) {
        snprintf(name, sizeof name, n ? "%.16s-%u" : "%.16s", capture, n);
        size_t k = 0;
        while (k < s->n && strcmp(s->piece[k].name, name))
            k++;
        if (k == s->n)
            return false;
        memcpy(out + *len, s->piece[k].bytes, s->piece[k].n);
        *len += s->piece[k].n;
    }
    return of > 0;
}

/* The edges of the samples, one sample after the other; what is read has to be these. */
static void compare_edges(struct pdo_file *f, const struct pdo_sr_meta *m, const uint8_t *p,
                          size_t len)
{
    unsigned clk = (unsigned)pdo_sr_signal(m, "clk", NULL),
             bit = (unsigned)pdo_sr_signal(m, "data", NULL), last = 4;
    pdo_edge out[300];
    size_t got = 0, at = 0;
    for (size_t k = 0; k < len / m->unit; k++, p += m->unit) {
        unsigned level = (p[clk / 8] >> clk % 8 & 1u) << 1 | (p[bit / 8] >> bit % 8 & 1u);
        if (level == last)
            continue;
        last = level;
        if (at == got) {
            int n = pdo_file_read(f, out, 64 + len % 236, NULL);
            must_hold(n > 0);
            got = (size_t)n;
            at = 0;
        }
        must_hold(out[at] == PDO_EDGE(k, level >> 1, level & 1));
        at++;
    }
    must_hold(at == got && pdo_file_read(f, out, 64, NULL) == 0 && pdo_file_seen(f) == UINT64_MAX);
}

static void just_read(struct pdo_file *f)
{
    pdo_edge out[64];
    struct err err = { .code = ERR_OK };
    int n;
    while ((n = pdo_file_read(f, out, ARRAY_LEN(out), &err)) > 0)
        ;
    must_hold(n == 0 ? pdo_file_seen(f) == UINT64_MAX : n == -ERR_FORMAT && *err.what);
}

/* s: what is in it, NULL: not known */
static void open_and_read(const char *path, const struct session *s)
{
    static uint8_t samples[PIECES * PIECE_MOST];
    const struct pdo_file_config cfg = {
        .path = path, .form = PDO_FORM_SR, .clk = "clk", .data = "data"
    };
    struct pdo_sr_meta m;
    struct pdo_file *f;
    struct err err = { .code = ERR_OK };
    size_t len;
    int ret = pdo_file_open(&cfg, &f, &err);
    if (ret < 0) {
        must_hold(*err.what && *err.hint);
        return;
    }
    if (s && pdo_sr_parse(s->metadata, s->len, &m, NULL) == 0 && !strcmp(m.capture, "logic-1") &&
        join_samples(s, m.capture, samples, &len))
        compare_edges(f, &m, samples, len);
    else
        just_read(f);
    pdo_file_close(f);
}

static void write_file(int fd, const uint8_t *bytes, size_t len)
{
    must_hold(ftruncate(fd, 0) == 0 && pwrite(fd, bytes, len, 0) == (ssize_t)len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct session s; /* to spare the stack: made anew each time */
    static int fd = -1;      /* a file without a name, written anew each time */
    char path[40];
    size_t len;
    if (fd < 0)
        fd = memfd_create("session", MFD_CLOEXEC);
    if (size < 3)
        return 0;
    unsigned how = data[0] % HOWS;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (how == RAW) {
        write_file(fd, data + 1, size - 1);
        open_and_read(path, NULL);
        return 0;
    }
    take_session(data + 3, data + size, &s);
    uint8_t *zip = make_zip(&s, &len);
    if (how == DAMAGED)
        zip[(size_t)(data[1] | data[2] << 8) % len] ^= data[1] ? data[1] : 1;
    write_file(fd, zip, len);
    open_and_read(path, how == WHOLE ? &s : NULL);
    free(zip);
    for (size_t k = 0; k < s.n; k++)
        free(s.piece[k].bytes);
    return 0;
}
