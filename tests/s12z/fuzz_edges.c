/* Any edges, their intervals and levels taken from the input: bits are neither made up nor lost
 * uncounted, and cutting the input elsewhere changes nothing. The same bytes as a VCD: an error or
 * an end. */
#include <stdlib.h>
#include <string.h>

#include "probe/pdo_vcd.h"
#include "targets/s12z/trace/edges.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    uint64_t hash, bytes;
};

static int note_item(void *ctx, const struct s12z_item *i)
{
    struct seen *s = ctx;
    s->bytes += i->bytes;
    s->hash = (s->hash ^ i->raw ^ i->bytes * 31 ^ i->tick ^ i->kind) * 0x100000001B3u;
    return 0;
}

static struct seen decode_edges(const struct s12z_settings *set, const pdo_edge *e, size_t n,
                                size_t step)
{
    struct seen s = { 0, 0 };
    struct s12z_stream st;
    struct s12z_edges ed;
    s12z_stream_init(&st, S12Z_FORM_WIRE, set, note_item, &s);
    s12z_edges_init(&ed, set, &st);
    for (size_t k = 0; k < n; k += step)
        s12z_edges_feed(&ed, e + k, n - k < step ? n - k : step);
    s12z_edges_end(&ed);
    if (8 * s.bytes + ed.cut_bits != ed.bits)
        abort();
    return s;
}

static void try_vcd(const uint8_t *data, size_t size)
{
    struct pdo_vcd v;
    struct err err = { .code = ERR_OK };
    pdo_edge *out = malloc((size / 2 + 1) * sizeof *out), last = 0;
    if (!out)
        abort();
    pdo_vcd_init(&v, NULL, NULL);
    int n = pdo_vcd_feed(&v, (const char *)data, size, out, &err),
        end = n < 0 ? 0 : pdo_vcd_end(&v, &last, &err);
    if ((n < 0 || end < 0) != (err.code != ERR_OK) || n > (int)(size / 2 + 1) || end > 1)
        abort();
    for (int k = 1; k < n; k++)
        if (PDO_TICK(out[k]) < PDO_TICK(out[k - 1]))
            abort();
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MAX = 8192 };
    struct s12z_settings set = s12z_settings_default();
    static pdo_edge e[MAX]; /* only to spare the stack */
    uint64_t at = 0;
    size_t n = 0;
    try_vcd(data, size);
    if (size < 2)
        return 0;
    set.edge_rule = data[0] % 3;
    set.first_edge_is_clock = data[0] & 0x80;
    /* a byte: time since the last, in steps that make lines likely; levels */
    for (size_t k = 2; k < size && n < MAX; k++) {
        at += data[k] >> 2 == 63 ? 4000 : 1u << (data[k] >> 2 & 7);
        e[n++] = PDO_EDGE(at, data[k] >> 1 & 1, data[k] & 1);
    }
    struct seen a = decode_edges(&set, e, n, n + 1), b = decode_edges(&set, e, n, 1 + data[1]);
    if (a.hash != b.hash || a.bytes != b.bytes)
        abort();
    return 0;
}
