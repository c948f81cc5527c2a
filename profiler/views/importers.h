/* Every file with a profile that can be read besides recordings, one row each: what exporters.h
 * writes, and what other programs write. */
#ifndef PROFILER_VIEWS_IMPORTERS_H
#define PROFILER_VIEWS_IMPORTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/core/symbols.h"
#include "profiler/profile/profile.h"

enum { IMPORT_HEAD_BYTES = 4096 };

struct importer {
    const char *name; /* "folded": as the exporter of that format, if there is one */
    /* Whether a file that begins with these bytes is one; n < IMPORT_HEAD_BYTES: this is all. */
    bool (*is)(const uint8_t *head, size_t n);
    /* The profile of a whole file; data is not needed afterwards. out: profile_free(). What the
     * file does not tell is in its info.unknown. Returns 0; -ERR_FORMAT, with the offset, or the
     * line where it is text; -ERR_NOMEM. */
    int (*read)(const uint8_t *data, size_t len, struct profile **out, struct err *err);
    /* In place of read, of a file that has addresses and no names: syms are the program's, NULL if
     * it is not known. */
    int (*read_with)(const uint8_t *data, size_t len, const struct symbols *syms,
                     struct profile **out, struct err *err);
};

/* importers - the table, *n rows. */
const struct importer *importers(size_t *n);

/* importer_of - by how a file begins; NULL: none of them. */
const struct importer *importer_of(const uint8_t *head, size_t n);

/* importer_find - by name; -ERR_USAGE, with all names in the hint. */
int importer_find(const char *name, const struct importer **out, struct err *err);

/* importer_read - a file's profile
 * elf   the program, for what has addresses; NULL or "": it is not known
 * syms  its symbols, symbols_close(); untouched without
 * Returns 0; -ERR_NOT_FOUND, -ERR_IO, or what read() and symbols_open() do; -ERR_USAGE: elf is
 * given and the file has names. */
int importer_read(const struct importer *x, const char *path, const char *elf, struct profile **out,
                  struct symbols **syms, struct err *err);

#endif
