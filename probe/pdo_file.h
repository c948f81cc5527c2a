/* Captures of PDO and PDOCLK in files, as edges: sigrok sessions, VCD, raw samples, and edges
 * themselves. Behind --pdo file:PATH and `probeprof decode`. A named pipe is a file, too: whatever
 * can write samples into one is a capture. */
#ifndef PROBE_PDO_FILE_H
#define PROBE_PDO_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/pdo.h"

enum pdo_form {
    PDO_FORM_AUTO, /* by the end of its name, .sr .vcd .raw .bin .edges, else by its first bytes */
    PDO_FORM_SR,   /* sigrok session */
    PDO_FORM_VCD,
    PDO_FORM_RAW,  /* samples of `unit` bytes */
    PDO_FORM_EDGES /* 8 bytes an edge, little-endian: pdo_edge */
};

struct pdo_file_config {
    const char *path;
    enum pdo_form form;
    /* signals; of raw samples bit numbers ("3" or "D3"). NULL: "PDOCLK" and "PDO", and bits 1 and 0
     */
    const char *clk, *data;
    /* of raw samples, of edges the clock; 0 unknown. What a .sr or VCD says of itself counts */
    uint64_t rate_hz;
    unsigned unit; /* bytes a raw sample, 0: one */
    bool wait;     /* read() blocks for a pipe's writer */
};

struct pdo_file;

/* pdo_file_open - everything that can be wrong with the file's head is found here
 * Returns 0; -ERR_NOT_FOUND: no such file or signal (those it has are listed); -ERR_FORMAT;
 * -ERR_USAGE. */
int pdo_file_open(const struct pdo_file_config *cfg, struct pdo_file **out, struct err *err);
void pdo_file_close(struct pdo_file *f); /* NULL is fine */

/* pdo_file_read - up to cap edges, cap >= 64. 0: that was all, or (without `wait`) a pipe has
 * nothing now. */
int pdo_file_read(struct pdo_file *f, pdo_edge *out, size_t cap, struct err *err);

uint64_t pdo_file_seen(const struct pdo_file *f);  /* tick that was read up to */
uint64_t pdo_file_bytes(const struct pdo_file *f); /* of samples or text read so far */

/* pdo_form_parse - "sr", "vcd", "raw", "edges"; -ERR_USAGE. */
int pdo_form_parse(const char *text, enum pdo_form *out, struct err *err);

#endif
