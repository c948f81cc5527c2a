#include "targets/s12z/offline/trace_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/nearest.h"
#include "probe/base/util.h"
#include "probe/pdo_file.h"
#include "targets/s12z/trace/edges.h"

static const char *const format_names[] = {
    [TRACE_LINES] = "lines", [TRACE_PDO_BYTES] = "pdo-bytes",
    [TRACE_DBGTB] = "dbgtb", [TRACE_EDGES] = "edges",
    [TRACE_VCD] = "vcd",     [TRACE_SR] = "sr",
    [TRACE_RAW] = "raw"
};
enum { CHUNK = 1 << 16, BATCH = 1 << 14 };

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
    return err_set(
        err, ERR_USAGE,
        nearest_text(&near, "lines, pdo-bytes, dbgtb, edges, vcd, sr or raw", hint, sizeof hint),
        "--format %s: no such form", text);
}

int trace_signals_parse(const char *text, struct trace_input *in, struct err *err)
{
    const char *comma = strchr(text, ',');
    size_t clk = 0;
    if (comma)
        clk = (size_t)(comma - text);
    if (!clk || !comma[1] || clk >= sizeof in->names[0] || strlen(comma + 1) >= sizeof in->names[1])
        return err_set(err, ERR_USAGE, "--signals PDOCLK,PDO",
                       "--signals takes the names of clock and data");
    snprintf(in->names[0], sizeof in->names[0], "%.*s", (int)clk, text);
    snprintf(in->names[1], sizeof in->names[1], "%s", comma + 1);
    in->clk = in->names[0];
    in->data = in->names[1];
    return 0;
}

struct reader {
    struct s12z_stream stream;
    struct s12z_edges edges;
    uint64_t bytes;
    union {
        uint8_t chunk[CHUNK];
        pdo_edge edge[BATCH];
    };
};

static enum s12z_form form_of(enum trace_format f)
{
    if (f == TRACE_LINES)
        return S12Z_FORM_LINES;
    if (f == TRACE_DBGTB)
        return S12Z_FORM_DBGTB;
    return S12Z_FORM_WIRE;
}

static int read_bytes(struct reader *r, FILE *f, const char *path, struct err *err)
{
    int ret = 0;
    while (ret == 0) {
        size_t n = fread(r->chunk, 1, sizeof r->chunk, f);
        if (ferror(f))
            return err_set(err, ERR_IO, "give a file", "%s: %s", path, strerror(errno));
        if (!n)
            return s12z_stream_end(&r->stream);
        r->bytes += n;
        ret = s12z_stream_feed(&r->stream, r->chunk, n, 0);
    }
    return ret;
}

static int from_bytes(struct reader *r, const char *path, struct err *err)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return err_set(err, ERR_NOT_FOUND, "check the path", "%s: %s", path, strerror(errno));
    int ret = read_bytes(r, f, path, err);
    fclose(f);
    return ret;
}

static int from_capture(struct reader *r, const char *path, const struct trace_input *in,
                        enum pdo_form form, struct err *err)
{
    struct pdo_file *f;
    int n = 1, ret = pdo_file_open(&(struct pdo_file_config){ .path = path,
                                                              .form = form,
                                                              .clk = in->clk,
                                                              .data = in->data,
                                                              .unit = (unsigned)in->unit,
                                                              .wait = true },
                                   &f, err);
    if (ret < 0)
        return ret;
    while (ret == 0 && n > 0) {
        n = pdo_file_read(f, r->edge, BATCH, err);
        if (n < 0)
            ret = n;
        else
            ret = s12z_edges_feed(&r->edges, r->edge, (size_t)n);
    }
    r->bytes = pdo_file_bytes(f);
    pdo_file_close(f);
    if (ret < 0)
        return ret;
    return s12z_edges_end(&r->edges);
}

int trace_input_read(const char *path, const struct trace_input *in, s12z_item_sink *sink,
                     void *ctx, struct trace_input_stats *out, struct err *err)
{
    static const enum pdo_form capture[] = { [TRACE_EDGES] = PDO_FORM_EDGES,
                                             [TRACE_VCD] = PDO_FORM_VCD,
                                             [TRACE_SR] = PDO_FORM_SR,
                                             [TRACE_RAW] = PDO_FORM_RAW };
    struct reader *r = calloc(1, sizeof *r);
    if (!r)
        return err_set(err, ERR_NOMEM, "close other programs", "%s: out of memory", path);
    s12z_stream_init(&r->stream, form_of(in->format), &in->settings, sink, ctx);
    s12z_edges_init(&r->edges, &in->settings, &r->stream);
    int ret;
    if (capture[in->format])
        ret = from_capture(r, path, in, capture[in->format], err);
    else
        ret = from_bytes(r, path, err);
    *out = (struct trace_input_stats){ .bytes = r->bytes,
                                       .lines = r->stream.lines,
                                       .bad = r->stream.bad,
                                       .bad_bytes = r->stream.bad_bytes,
                                       .edges_cut_bits = r->edges.cut_bits,
                                       .bus_ticks = r->edges.bit_ticks / 2,
                                       .pthf_bytes = r->stream.pthf };
    free(r);
    return ret;
}
