/* S12Z trace files to lines, whatever form they are in. */
#ifndef TARGETS_S12Z_OFFLINE_TRACE_INPUT_H
#define TARGETS_S12Z_OFFLINE_TRACE_INPUT_H

#include "probe/base/err.h"
#include "targets/s12z/settings.h"
#include "targets/s12z/trace/stream.h"

enum trace_format {
    TRACE_LINES,     /* 8 bytes a line, byte 0 first */
    TRACE_PDO_BYTES, /* as the pin sends them */
    TRACE_DBGTB,     /* 8 bytes a line, as word reads of DBGTB give them */
    TRACE_EDGES,     /* 8 bytes an edge, little-endian: time << 2 | PDOCLK << 1 | PDO */
    TRACE_VCD,
    TRACE_SR, /* sigrok session */
    TRACE_RAW /* samples of a logic analyser */
};

struct trace_input {
    enum trace_format format;
    struct s12z_settings settings;
    /* of VCD and sr: signal names, NULL for PDOCLK and PDO; of raw: bit numbers, NULL for 1 and 0
     */
    const char *clk, *data;
    char names[2][64];  /* where trace_signals_parse() keeps them */
    unsigned long unit; /* TRACE_RAW: bytes a sample, 0: one */
};

/* Totals of a file read through. */
struct trace_input_stats {
    uint64_t bytes, lines, bad, bad_bytes;
    uint64_t edges_cut_bits; /* bits that made no whole byte */
    double bus_ticks;        /* ticks of the capture's clock in a bus clock; 0: no edges */
    unsigned pthf_bytes;     /* as the stream showed; 0: it did not */
};

#define TRACE_FORMATS                                                                       \
    "lines (8 bytes each, byte 0 first), pdo-bytes, dbgtb, edges, vcd, sr (sigrok) or raw " \
    "(samples)"

/* trace_format_parse - one of TRACE_FORMATS; -ERR_USAGE with the nearest. */
int trace_format_parse(const char *text, enum trace_format *out, struct err *err);

/* trace_signals_parse - "CLOCK,DATA" into in->clk and in->data; -ERR_USAGE. in must stay where it
 * is, or be copied before this. */
int trace_signals_parse(const char *text, struct trace_input *in, struct err *err);

/* trace_input_read - reads the whole file, in bounded memory
 * sink    receives lines and bad stretches in order. Ticks are those of the edges, 0 for other
 *         forms.
 * Returns 0; -ERR_NOT_FOUND (also of signals), -ERR_IO, -ERR_FORMAT (captures), or what the sink
 * returned. *out has what was read until then, except with -ERR_NOT_FOUND. */
int trace_input_read(const char *path, const struct trace_input *in, s12z_item_sink *sink,
                     void *ctx, struct trace_input_stats *out, struct err *err);

#endif
