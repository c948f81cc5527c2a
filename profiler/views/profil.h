/* Buckets of samples, as profil() of Unix has the kernel count them: bucket i of s bytes has the
 * samples at pc for which (pc - low) * scale / 65536 / s, rounded down, is i. Source: PA-64,
 * section 1 ("Program counter sampling"); section 3 for the scale that comes of a buffer. */
#ifndef PROFILER_VIEWS_PROFIL_H
#define PROFILER_VIEWS_PROFIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/profile/profile.h"
#include "profiler/views/notes.h"

enum {
    PROFIL_ONE = 65536,  /* scale 1.0: as many bytes of buckets as of code */
    PROFIL_SCALE_MIN = 2 /* 0 and 1 switch profil() off */
};

/* What is asked for. Zero: the program's code, a bucket of 2 bytes for each 2 bytes of it. At most
 * one of scale, buckets and buffer_bytes is set. */
struct profil_request {
    bool has_range;
    uint64_t low, high;    /* [low, high), addresses as the ELF has them */
    uint32_t scale;        /* PROFIL_SCALE_MIN..PROFIL_ONE */
    uint64_t buckets;      /* how many; or */
    uint64_t buffer_bytes; /* how many bytes they take together: the scale follows */
    unsigned bucket_bytes; /* 2 or 4; 0: 2, or 4 if a bucket would be full */
};

/* Zero-initialise, then profil_make(). */
struct profil {
    uint64_t low, high;
    uint32_t scale;
    unsigned bucket_bytes;
    uint64_t *bucket; /* counts, also such as are too large for bucket_bytes */
    size_t n;
    bool by_function; /* without addresses: each function's samples are where it begins */
    uint64_t samples; /* all there are */
    uint64_t outside; /* of them: not in [low, high) */
    bool widened;     /* to 4 bytes, since 2 would have been too few */
    uint64_t nowhere; /* of them: without an address, since the CPU slept or no room was left */
};

/* profil_make - the samples of a profile in buckets
 * s    the program, whose addresses buckets have and whose code is the range that is not asked for;
 *      NULL: from the first to the last function
 * r    NULL: as it comes
 * out  profil_fini() frees it; of a trace it has no buckets
 * Returns 0; -ERR_USAGE for what cannot be: a trace with r, an empty range, a buffer that is too
 * small for the scale to be at least 2, or for one bucket, or larger than 16 MB; -ERR_NOMEM. */
int profil_make(const struct profile *p, const struct symbols *s, const struct profil_request *r,
                struct profil *out, struct err *err);

/* profil_room - the highest count that a bucket's bytes have room for. */
uint64_t profil_room(const struct profil *b);

/* profil_lost - samples that find no room in buckets that are full; *full: how many of these. */
uint64_t profil_lost(const struct profil *b, size_t *full);

/* profil_tell - what the buckets do not hold, in words; clamped: nor what is beyond their room. */
void profil_tell(const struct profil *b, bool clamped, const struct note_taker *to);

/* profil_address - the first address of bucket i; of i = n the first behind all. */
uint64_t profil_address(const struct profil *b, size_t i);

/* profil_fini - frees; a zeroed struct is fine. */
void profil_fini(struct profil *b);

#endif
