/* CodeScape's profile files, .prf: "ASE Mode Trace Profiler Guide", appendix B (Cross Products,
 * 2000).
 *
 * Two levels. struct prf_file holds every field of a file, so that reading and writing give the
 * same bytes; prf_to_profile() and prf_from_profile() connect it with the result model. All numbers
 * little-endian. "Accumulative total of counter 1" is with callees, "minus the functions it called"
 * without. */
#ifndef PROFILER_VIEWS_PRF_H
#define PROFILER_VIEWS_PRF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/profile/profile.h"

enum { PRF_ID_BYTES = 14, PRF_HEADER_BYTES = 89, PRF_FUNCTION_BYTES = 77, PRF_CALL_BYTES = 82 };
enum prf_attribute { PRF_ATTR_DOUBTFUL = 1 << 0, PRF_ATTR_TAGGED = 1 << 1 };
#define PRF_NO_ID 0xFFFFFFFFu

/* Bytes as they stand in the file; not terminated. */
struct prf_bytes {
    const uint8_t *data;
    uint32_t len;
};

struct prf_counts {
    uint64_t hits;
    uint64_t c1_children, c1; /* in the file's order: with callees, then without */
    uint64_t c2_children, c2;
};

/* Shared part of a function record and a call record. */
struct prf_function {
    uint8_t description;
    uint16_t attributes;
    uint16_t cache_line;
    /* "minimum" and "max program counter of function scope": high is the last byte */
    uint32_t low, high;
    uint32_t overlay_area, overlay, group;
    uint8_t spare[8];
    struct prf_counts counts;
    struct prf_bytes name, label, qualified;
    struct prf_bytes extra; /* bytes the record's size covers beyond what is documented */
};

struct prf_overlay {
    uint32_t area, start, end, current;
    struct prf_bytes extra;
};

/* A call or, with call == false, the return that closes it. */
struct prf_call {
    bool call;
    uint32_t number;
    struct prf_function f;  /* zero for a return */
    struct prf_bytes extra; /* of a return record */
};

struct prf_file {
    uint8_t version;
    uint8_t spare1[2];
    uint8_t icache_enabled;
    uint8_t day, month, year, hour, min, sec;
    uint8_t type; /* enum profile_type */
    struct prf_counts total;
    uint8_t counter[2]; /* counter description numbers */
    uint8_t spare2[8];
    struct prf_bytes header_extra;
    struct prf_overlay *overlays;
    uint32_t noverlays;
    struct prf_function *functions;
    uint32_t nfunctions;
    struct prf_call *calls; /* calls and returns, 2 * ncalls entries */
    uint32_t ncalls;
    uint32_t overlay_offset_if_none; /* what the field holds when there is no overlay */
    struct arena arena;              /* owns all of the above */
};

/* prf_decode - bytes to struct; strict
 * data, len   the whole file; not needed afterwards
 * out         set on success; prf_file_free()
 * Checked: id, every size against what it must hold and what is left, offsets, call/return pairing,
 * counts, kind of profile. Every error names the byte offset. Returns 0, -ERR_FORMAT or -ERR_NOMEM.
 */
int prf_decode(const uint8_t *data, size_t len, struct prf_file **out, struct err *err);

/* prf_encode - struct to bytes: sections in the order of the document. *out is malloc()ed, caller
 * frees. Returns 0; -ERR_FORMAT if a name is longer than 65535 bytes or a count does not fit;
 * -ERR_NOMEM. */
int prf_encode(const struct prf_file *f, uint8_t **out, size_t *len, struct err *err);

/* prf_file_free - NULL is fine. */
void prf_file_free(struct prf_file *f);

/* prf_to_profile - the model of a file; independent of f afterwards.
 * A call whose function is in no function record is -ERR_FORMAT. */
int prf_to_profile(const struct prf_file *f, struct profile **out, struct err *err);

/* prf_from_profile - a file of a profile; independent of p afterwards. */
int prf_from_profile(const struct profile *p, struct prf_file **out, struct err *err);

/* prf_read - file to profile; -ERR_NOT_FOUND, -ERR_IO, else as prf_decode(). */
int prf_read(const char *path, struct profile **out, struct err *err);

/* prf_is - whether the first bytes of a file are a .prf's; len may be short. */
bool prf_is(const uint8_t *data, size_t len);

/* prf_counter - name and unit of a counter description number; false if the table has none. */
bool prf_counter(uint16_t code, struct profile_counter *out);

#endif
