/* Any bytes as a recording, in three ways: as they are; as a file whose block checksums are right;
 * and as the plain contents of a block. Whatever comes out goes through filter and call tree. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "profiler/core/calltree.h"
#include "profiler/core/filter.h"
#include "profiler/profile/recording_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay_recording(struct recording *r)
{
    struct event events[64];
    struct filter filter;
    struct calltree *t;
    struct err err;
    int n;
    filter_init(&filter, &(struct filter_config){ .max_passes = 3, .exclude_interrupts = true });
    if (calltree_new(&(struct calltree_config){ .max_nodes = 50, .max_depth = 8, .max_stacks = 3 },
                     &t, &err) < 0)
        return;
    while ((n = recording_read(r, events, 64, &err)) > 0)
        calltree_feed(t, events, filter_events(&filter, events, (size_t)n));
    calltree_free(t);
}

static void as_file(const uint8_t *data, size_t size)
{
    struct recording *r;
    struct err err;
    if (recording_open_bytes(data, size, &r, &err) < 0)
        return;
    replay_recording(r);
    recording_close(r);
}

/* A changed byte would otherwise never get past the checksum. */
static void mend_checksums(uint8_t *data, size_t size)
{
    size_t at = RECORDING_MAGIC_BYTES;
    while (size >= RECORDING_BLOCK_HEADER && at <= size - RECORDING_BLOCK_HEADER) {
        uint8_t *b = data + at;
        size_t stored = le32(b + 8);
        if (stored > size - at - RECORDING_BLOCK_HEADER)
            return;
        put_le32(b + 20,
                 recording_crc(recording_crc(0, b, 20), b + RECORDING_BLOCK_HEADER, stored));
        at += RECORDING_BLOCK_HEADER + stored;
    }
}

static void as_contents(const uint8_t *data, size_t size)
{
    static const size_t counts[] = { 1, 3, 20 };
    struct event events[20];
    uint8_t again[20 * RECORDING_EVENT_MAX];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (recording_decode(data, size, events, counts[i]) < 0)
            continue;
        size_t len = recording_encode(events, counts[i], again);
        struct event back[20];
        if (len > sizeof again || recording_decode(again, len, back, counts[i]) < 0 ||
            memcmp(back, events, counts[i] * sizeof *back) != 0)
            abort();
    }
    struct recording_header h = { 0 };
    struct arena arena = { 0 };
    struct err err;
    char *text = arena_strn(&arena, (const char *)data, size);
    if (text)
        recording_parse_header(text, &arena, &h, &err);
    arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    as_file(data, size);
    as_contents(data, size);
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    mend_checksums(copy, size);
    as_file(copy, size);
    free(copy);
    return 0;
}
