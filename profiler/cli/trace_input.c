#include "profiler/cli/trace_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/nearest.h"
#include "probe/base/util.h"
#include "targets/s12z/trace_edges.h"
#include "targets/s12z/trace_vcd.h"

static const char *const format_names[] = { [TRACE_LINES] = "lines", [TRACE_PDO_BYTES] = "pdo-bytes", [TRACE_DBGTB] = "dbgtb",
                                            [TRACE_EDGES] = "edges", [TRACE_VCD] = "vcd" };
enum { CHUNK = 1 << 16, EDGE_BYTES = 8 };

int trace_format_parse(const char *text, enum trace_format *out, struct err *err)
{
    struct nearest near = { .wanted = text };
    char hint[NEAREST_TEXT];
    for (unsigned k = 0; k < ARRAY_LEN(format_names); k++) {
        if (!strcmp(text, format_names[k])) {
            *out = (enum trace_format)k;
            return 0;
        }
        nearest_offer(&near, format_names[k]);
    }
    return err_set(err, ERR_USAGE, nearest_text(&near, "lines, pdo-bytes, dbgtb, edges or vcd", hint, sizeof hint), "--format %s: no such form", text);
}

struct reader {
    enum trace_format format;
    struct s12z_stream stream;
    struct s12z_edges edges;
    struct s12z_vcd vcd;
    uint8_t chunk[CHUNK];
    size_t kept; /* bytes of a begun edge */
};

static enum s12z_form form_of(enum trace_format f)
{
    return f == TRACE_LINES ? S12Z_FORM_LINES : f == TRACE_DBGTB ? S12Z_FORM_DBGTB : S12Z_FORM_WIRE;
}

static int feed_edges(struct reader *r, size_t n)
{
    size_t k = 0;
    int ret = 0;
    n += r->kept;
    for (; k + EDGE_BYTES <= n && ret == 0; k += EDGE_BYTES) {
        pdo_edge e = le64(r->chunk + k);
        ret = s12z_edges_feed(&r->edges, &e, 1);
    }
    r->kept = n - k;
    memmove(r->chunk, r->chunk + k, r->kept);
    return ret;
}

static int feed(struct reader *r, size_t n, struct err *err)
{
    switch (r->format) {
    case TRACE_EDGES: return feed_edges(r, n);
    case TRACE_VCD: return s12z_vcd_feed(&r->vcd, (const char *)r->chunk, n, err);
    default: return s12z_stream_feed(&r->stream, r->chunk, n, 0);
    }
}

static int end(struct reader *r, struct err *err)
{
    int ret = r->format == TRACE_VCD ? s12z_vcd_end(&r->vcd, err) : 0;
    if (ret < 0 || (r->format != TRACE_VCD && r->format != TRACE_EDGES))
        return ret < 0 ? ret : s12z_stream_end(&r->stream);
    return s12z_edges_end(&r->edges);
}

static int read_all(struct reader *r, FILE *f, const char *path, uint64_t *bytes, struct err *err)
{
    int ret = 0;
    while (ret == 0) {
        size_t n = fread(r->chunk + r->kept, 1, sizeof r->chunk - r->kept, f);
        if (ferror(f))
            return err_set(err, ERR_IO, "give a file", "%s: %s", path, strerror(errno));
        if (!n)
            return end(r, err);
        *bytes += n;
        ret = feed(r, n, err);
    }
    return ret;
}

int trace_input_read(const char *path, const struct trace_input *in, s12z_item_sink *sink, void *ctx, struct trace_input_stats *out,
                     struct err *err)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return err_set(err, ERR_NOT_FOUND, "check the path", "%s: %s", path, strerror(errno));
    struct reader *r = calloc(1, sizeof *r);
    int ret = r ? 0 : err_set(err, ERR_NOMEM, "close other programs", "%s: out of memory", path);
    uint64_t bytes = 0;
    if (ret == 0) {
        r->format = in->format;
        s12z_stream_init(&r->stream, form_of(in->format), &in->settings, sink, ctx);
        s12z_edges_init(&r->edges, &in->settings, &r->stream);
        s12z_vcd_init(&r->vcd, in->clk, in->data, &r->edges);
        ret = read_all(r, f, path, &bytes, err);
    }
    if (r)
        *out = (struct trace_input_stats){ .bytes = bytes, .lines = r->stream.lines, .bad = r->stream.bad, .bad_bytes = r->stream.bad_bytes,
                                           .edges_cut_bits = r->edges.cut_bits, .bus_ticks = r->edges.bit_ticks / 2, .pthf_bytes = r->stream.pthf };
    free(r);
    fclose(f);
    return ret;
}
