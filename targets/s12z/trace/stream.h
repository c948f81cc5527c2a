/* Bytes of a profiling stream to lines: framing, the length of PTHF, resynchronising after damage.
 *
 * On the wire a line has no start mark and no checksum. Its first byte says how long it is, and the
 * next line begins where it ends. Bytes that do not decode are skipped and reported, up to the next
 * place from which several lines in a row decode, or up to a gap where one is known. Decisions
 * depend on the bytes only, never on how they were cut into calls. No allocation. */
#ifndef TARGETS_S12Z_TRACE_STREAM_H
#define TARGETS_S12Z_TRACE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/s12z/settings.h"
#include "targets/s12z/trace/line.h"

/* What the bytes are. */
enum s12z_form {
    S12Z_FORM_WIRE,   /* as PDO sends them: 4 to 8 bytes a line, byte 0 first */
    S12Z_FORM_LINES,  /* 8 bytes a line, byte 0 first */
    S12Z_FORM_DBGTB,  /* 8 bytes a line as four word reads of DBGTB give them */
    S12Z_FORM_COMMAND /* 8 bytes a line as READ_DBGTB gives them */
};

enum s12z_item_kind {
    S12Z_ITEM_LINE, /* raw and line */
    S12Z_ITEM_BAD   /* `bytes` bytes at `offset` are no lines, and why says why. What was going on
                       before is lost */
};

struct s12z_item {
    uint8_t kind;    /* enum s12z_item_kind */
    bool prompt;     /* sending began after an idle time, so tick is when the line was made */
    uint64_t offset; /* of the first byte, since s12z_stream_init() */
    uint64_t tick;   /* given with that byte */
    /* ticks in a bus clock, as the stream knows it when it gives the item; 0: not known */
    double bus_ticks;
    uint32_t bytes;
    uint64_t raw;          /* as s12z_line_decode() takes it */
    struct s12z_line line; /* decoded with the settings */
    const char *why;       /* static */
};

/* Receives items in order; each is borrowed for the call. A negative result ends the feeding call,
 * which returns it. */
typedef int s12z_item_sink(void *ctx, const struct s12z_item *item);

enum { S12Z_STREAM_ROOM = 128 };
/* Initialise with s12z_stream_init(). Fields are for reading. */
struct s12z_stream {
    struct s12z_settings settings;
    enum s12z_form form;
    s12z_item_sink *sink;
    void *ctx;
    uint8_t pthf; /* 5 or 6 once the stream has shown it, else 0 */
    bool searching, after_gap;
    bool fresh; /* searching, and the first place is as good as any other */
    bool ended; /* the last line ended its session: a PTS is due */
    const char *why;
    uint32_t skipped; /* while searching */
    unsigned used;
    uint8_t buf[S12Z_STREAM_ROOM];
    uint64_t tick[S12Z_STREAM_ROOM];
    double bus_ticks;               /* set by who feeds ticks; 0 unknown */
    uint64_t offset;                /* of buf[0] */
    uint64_t lines, bad, bad_bytes; /* items given */
};

/* s12z_stream_init - an empty stream; the first byte begins a line
 * form      what the bytes are
 * settings  copied. pthf_bytes is used only where the stream itself leaves it open. */
void s12z_stream_init(struct s12z_stream *s, enum s12z_form form,
                      const struct s12z_settings *settings, s12z_item_sink *sink, void *ctx);

/* s12z_stream_feed - n bytes, split anywhere
 * tick   when they came, in a unit of the caller's; 0 if unknown
 * Returns 0 or what the sink returned. Up to S12Z_STREAM_ROOM bytes are kept until the next call.
 */
int s12z_stream_feed(struct s12z_stream *s, const uint8_t *bytes, size_t n, uint64_t tick);

/* s12z_stream_gap - the wire was idle here, or so many bits do not make a byte: what comes next
 * begins a line. Bytes that wait for more of their line are bad. Returns as feed. */
int s12z_stream_gap(struct s12z_stream *s);

/* s12z_stream_end - nothing more comes: gives what was kept back; a line cut short is an item of
 * kind BAD. */
int s12z_stream_end(struct s12z_stream *s);

#endif
