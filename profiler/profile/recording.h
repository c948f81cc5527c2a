/* Recordings: the raw events of a run in a file, from which every result can be computed again.
 *
 * Layout (all numbers little-endian): an 8-byte magic, a header block, event blocks, an end block.
 * Every block: type, flags, stored bytes, plain bytes, events, CRC-32 over those fields and the
 * stored bytes; then the stored bytes (zstd). A file cut short at any place can be read up to the
 * last whole block. */
#ifndef PROFILER_PROFILE_RECORDING_H
#define PROFILER_PROFILE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/core/symbols.h"
#include "profiler/profile/profile.h"
#include "targets/event.h"
#include "targets/image.h"
#include "targets/target.h"

enum {
    RECORDING_BLOCK_EVENTS = 4096,
    RECORDING_MAX_STOPS = TRACE_MAX_STOPS,
    RECORDING_MAX_REMARKS = 16
};

/* What the file says of the run. Strings: NULL if unknown; copied when written, owned by the reader
 * when read. */
struct recording_header {
    const char *program; /* "probeprof 0.1.0" */
    const char *target, *probe, *elf;
    uint8_t build_id[20];
    size_t build_id_len;
    uint64_t code_sum;                 /* as recording_code_sum() had it; 0 unknown */
    struct profile_counter counter[2]; /* names are read back, too */
    int64_t when;                      /* seconds since 1970 UTC */
    bool has_start;
    uint64_t start;
    uint64_t stops[RECORDING_MAX_STOPS];
    size_t nstops;
    enum irq_filter irq_filter; /* `auto` is applied by the host: on replay, too */
    uint64_t max_passes;        /* 0: no limit */
    bool address_cached;        /* as profile_info.cache_by_address */
    /* parts of functions that were measured by themselves; SYMBOL_BLOCKS_MOST at most */
    const struct symbol_block *blocks;
    size_t nblocks;
    /* address bits that tell addresses apart; 0: all (for information) */
    uint64_t canonical_mask;
    /* Of a run in several files: the run, and which of them this is, from 1. part 0: it is all */
    uint64_t run_id, part;
    bool resumed; /* profiling was active before the first event: there is no EVENT_START to come */
};

/* Known only at the end; zero if the recording was cut short. */
struct recording_end {
    uint64_t events;
    struct run_time time;
    uint64_t lost;         /* by the target driver's account */
    bool icache_enabled;   /* of the target, at the end: a program may enable it after the recording
                              began */
    char note[TRACE_NOTE]; /* as struct trace_status has it */
    struct profile_remark remark[RECORDING_MAX_REMARKS]; /* strings as the header's */
    size_t nremarks;
};

/* recording_code_sum - identifies a build that has no build id: bytes of code and a CRC-32 over
 * each code section's address, size and content. 0 if the image holds no code. */
uint64_t recording_code_sum(const struct image *im);

/* ---- writing ---- */
struct recording_writer;

/* recording_create - begin a recording
 * path   its final name. Blocks go to path.part, which becomes path when finished; after a crash
 * the .part file is a readable recording cut short. An older .part file with events is renamed:
 * recording_kept(). Returns 0, -ERR_IO, -ERR_NOMEM. */
int recording_create(const char *path, const struct recording_header *h,
                     struct recording_writer **out, struct err *err);

/* recording_kept - the new name of what an interrupted run had left as path.part; NULL: there was
 * nothing worth keeping. Lives as long as w. */
const char *recording_kept(const struct recording_writer *w);

/* recording_write - append n events; a block goes out when full. On failure (disk full) nothing
 * more can be written, what was is kept. Bounded memory: one block. */
int recording_write(struct recording_writer *w, const struct event *events, size_t n,
                    struct err *err);

/* recording_flush - write the begun block, so that a reader or a crash finds it. */
int recording_flush(struct recording_writer *w, struct err *err);

/* recording_part_path - where the blocks go until the end: path.part. As long as w. */
const char *recording_part_path(const struct recording_writer *w);

/* recording_bytes - size so far, for progress. */
uint64_t recording_bytes(const struct recording_writer *w);

/* recording_finish - end block, fsync, rename; frees w in every case. On failure the .part file
 * stays. A file that is replaced leaves its mode to the new one. 1: no event was recorded and there
 * is something at path: it stays as it is. */
int recording_finish(struct recording_writer *w, const struct recording_end *end, struct err *err);

/* recording_abandon - close and remove the .part file; NULL is fine. */
void recording_abandon(struct recording_writer *w);

/* ---- reading ---- */
struct recording;

/* recording_open - open a finished recording or a .part file
 * Returns 0; -ERR_NOT_FOUND, -ERR_IO, -ERR_NOMEM, -ERR_FORMAT if magic, version or header are bad.
 */
int recording_open(const char *path, struct recording **out, struct err *err);

/* recording_open_bytes - the same over bytes in memory, borrowed until closed. */
int recording_open_bytes(const uint8_t *data, size_t len, struct recording **out, struct err *err);

/* recording_header - borrowed until closed. */
const struct recording_header *recording_header(const struct recording *r);

/* recording_read - the next events
 * Returns how many (at most cap); 0 at the end, also at the end of what can be used of a damaged
 * file: ask recording_damage(). -ERR_IO, -ERR_NOMEM. */
int recording_read(struct recording *r, struct event *out, size_t cap, struct err *err);

/* recording_damage - after recording_read() gave 0: NULL if the file is whole, else what is wrong
 * and at which offset ("cut short at offset 18234: 4096 of 5120 bytes of a block; 81920 events
 * before it used"). */
const char *recording_damage(const struct recording *r);

/* recording_end_info - NULL before the end or if it is missing. */
const struct recording_end *recording_end_info(const struct recording *r);

/* recording_close - NULL is fine. */
void recording_close(struct recording *r);

/* recording_is - whether the first bytes of a file are a recording's; len may be short. */
bool recording_is(const uint8_t *data, size_t len);

#endif
