/* Session files of sigrok (.sr): a zip of `metadata` and the samples in pieces, logic-1-1,
 * logic-1-2, ... Source: sigrok wiki, File format:Sigrok/v2; files that sigrok-cli 0.7 wrote. */
#ifndef PROBE_PDO_SR_H
#define PROBE_PDO_SR_H

#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

enum { PDO_SR_SIGNALS = 128, PDO_SR_NAME = 32 };

/* What `metadata` says of the first device with samples. */
struct pdo_sr_meta {
    char capture[64]; /* "logic-1" */
    uint64_t rate_hz; /* 0: it does not say */
    unsigned unit;    /* bytes a sample, 1..PDO_UNIT_MAX */
    unsigned nsignals;
    struct {
        char name[PDO_SR_NAME];
        unsigned bit;
    } signal[PDO_SR_SIGNALS];
};

/* pdo_sr_parse - the text of `metadata`. Pure. Returns 0; -ERR_FORMAT: no device with samples, or
 * sizes that cannot be. */
int pdo_sr_parse(const char *text, size_t len, struct pdo_sr_meta *out, struct err *err);

/* pdo_sr_signal - the bit of a signal, its case being no matter. -ERR_NOT_FOUND lists those there
 * are. */
int pdo_sr_signal(const struct pdo_sr_meta *m, const char *name, struct err *err);

struct pdo_sr;

/* pdo_sr_open - a file; *meta is what it says of itself. -ERR_FORMAT also for one that was cut
 * short: a zip's directory is its end. */
int pdo_sr_open(const char *path, struct pdo_sr **out, struct pdo_sr_meta *meta, struct err *err);

/* pdo_sr_read - the next samples, in order, up to cap bytes. 0: that was all. -ERR_FORMAT: a piece
 * is damaged, or missing between others. */
int pdo_sr_read(struct pdo_sr *sr, uint8_t *buf, size_t cap, struct err *err);

void pdo_sr_close(struct pdo_sr *sr); /* NULL is fine */

#endif
