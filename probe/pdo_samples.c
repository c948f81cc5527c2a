#include "probe/pdo_samples.h"

#include <string.h>

#include "probe/base/bytes.h"

enum { WORD = 8, STRIDE = 4 * WORD };

void pdo_samples_init(struct pdo_samples *s, unsigned unit, unsigned clk, unsigned data)
{
    *s = (struct pdo_samples){ .unit = unit, .clk = clk, .data = data };
}

static unsigned bit_of(const uint8_t *sample, unsigned bit)
{
    return sample[bit / 8] >> bit % 8 & 1;
}

static bool lanes_alike(const struct pdo_samples *s, const uint8_t *a, const uint8_t *b)
{
    return bit_of(a, s->clk) == bit_of(b, s->clk) && bit_of(a, s->data) == bit_of(b, s->data);
}

/* One sample at a time: the first ever, odd sizes, and what is left over. */
static size_t one_by_one(struct pdo_samples *s, const uint8_t *p, size_t n, pdo_edge *out,
                         size_t cap, size_t *taken)
{
    size_t edges = 0, k = 0;
    for (; k < n && edges < cap; k++, p += s->unit) {
        if (!s->started || !lanes_alike(s, s->last, p)) {
            out[edges++] = PDO_EDGE(s->tick, bit_of(p, s->clk), bit_of(p, s->data));
            memcpy(s->last, p, s->unit);
        }
        s->started = true;
        s->tick++;
    }
    *taken = k;
    return edges;
}

/* A word holds 8, 4, 2 samples or one, in lanes. */
struct lanes {
    unsigned bits;       /* of a lane */
    uint64_t lane, mask; /* a lane of ones; the two signals in every lane */
    uint64_t clk, data;  /* in the lowest lane */
    uint64_t last;       /* the sample before, its two signals, in the lowest lane */
};

static struct lanes lanes_of(const struct pdo_samples *s)
{
    struct lanes l = { .bits = 8 * s->unit, .clk = 1ull << s->clk, .data = 1ull << s->data };
    l.lane = UINT64_MAX >> (64 - l.bits);
    for (unsigned at = 0; at < 64; at += l.bits)
        l.mask |= (l.clk | l.data) << at;
    for (unsigned b = 0; b < s->unit; b++)
        l.last |= (uint64_t)s->last[b] << 8 * b;
    l.last &= l.clk | l.data;
    return l;
}

/* In each lane, what differs from the sample before it. */
static uint64_t count_changes(const struct lanes *l, uint64_t word)
{
    return word ^ ((l->bits == 64 ? 0 : word << l->bits) | l->last);
}

static size_t word_edges(struct lanes *l, uint64_t word, uint64_t tick, pdo_edge *out)
{
    size_t n = 0;
    for (uint64_t x = count_changes(l, word); x;) {
        unsigned lane = (unsigned)__builtin_ctzll(x) / l->bits, at = lane * l->bits;
        out[n++] = PDO_EDGE(tick + lane, (word >> at & l->clk) != 0, (word >> at & l->data) != 0);
        x &= ~(l->lane << at);
    }
    l->last = word >> (64 - l->bits);
    return n;
}

static bool block_is_still(const struct lanes *l, const uint8_t *p)
{
    uint64_t same = 0;
    for (unsigned at = 0; at < 64; at += l->bits)
        same |= l->last << at;
    return !(
        ((le64(p) ^ same) | (le64(p + 8) ^ same) | (le64(p + 16) ^ same) | (le64(p + 24) ^ same)) &
        l->mask);
}

static size_t by_words(struct pdo_samples *s, const uint8_t *p, size_t n, pdo_edge *out, size_t cap,
                       size_t *taken)
{
    struct lanes l = lanes_of(s);
    size_t edges = 0, at = 0, bytes = n * s->unit;
    unsigned per_word = WORD / s->unit;
    while (bytes - at >= WORD && cap - edges >= per_word) {
        if (bytes - at >= STRIDE && block_is_still(&l, p + at)) {
            at += STRIDE;
            s->tick += 4 * per_word;
            continue;
        }
        edges += word_edges(&l, le64(p + at) & l.mask, s->tick, out + edges);
        at += WORD;
        s->tick += per_word;
    }
    if (at)
        memcpy(s->last, p + at - s->unit, s->unit);
    *taken = at / s->unit;
    return edges;
}

size_t pdo_samples_feed(struct pdo_samples *s, const uint8_t *samples, size_t n, pdo_edge *out,
                        size_t cap, size_t *taken)
{
    size_t first = 0, words = 0, rest = 0, edges = 0;
    if (!s->started)
        edges = one_by_one(s, samples, n ? 1 : 0, out, cap, &first);
    if (s->unit <= WORD && WORD % s->unit == 0)
        edges +=
            by_words(s, samples + first * s->unit, n - first, out + edges, cap - edges, &words);
    size_t at = first + words;
    if (n - at < WORD || WORD % s->unit || s->unit > WORD) /* else out is full */
        edges += one_by_one(s, samples + at * s->unit, n - at, out + edges, cap - edges, &rest);
    *taken = at + rest;
    return edges;
}
