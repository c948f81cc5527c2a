#include "profiler/cli/serve_state.h"

#include "probe/base/choice.h"
#include "profiler/cli/capture.h"
#include "profiler/cli/parts.h"
#include "profiler/feed/listing.h"

#include <string.h>

#include "probe/base/util.h"

static void add_text(void *ctx, const char *text, size_t len)
{
    struct state_object *o = ctx;
    len = MIN(len, sizeof o->text - 1 - o->len);
    memcpy(o->text + o->len, text, len);
    o->len += len;
}

struct json_writer *state_begin(struct state_object *o)
{
    o->len = 0;
    o->sink = (struct text_sink){ add_text, o };
    o->j = (struct json_writer){ .out = &o->sink, .compact = true };
    json_write_object(&o->j, true);
    return &o->j;
}

void state_end(struct state_object *o, struct feed *f, enum feed_object which)
{
    json_write_end(&o->j);
    o->text[o->len] = 0;
    feed_state(f, which, o->text, NULL); /* one that is too long is left out */
}

void state_text(struct json_writer *j, const char *key, const char *value)
{
    json_member_string(j, key, text_given(value));
}

void state_number(struct json_writer *j, const char *key, uint64_t value)
{
    json_member_uint(j, key, value);
}

void state_flag(struct json_writer *j, const char *key, bool value)
{
    json_member_bool(j, key, value);
}

/* Rounded, so that a state does not change with every look. */
void state_rounded(struct json_writer *j, const char *key, double value)
{
    json_write_key(j, key);
    if (value > 0)
        json_write_real(j, (double)(uint64_t)(value * 100 + 0.5) / 100);
    else
        json_write_null(j);
}

void state_code(const struct capture *c, struct program_code *out)
{
    const struct part *part = NULL;
    if (c->symbols)
        part = part_of_machine(symbols_machine(c->symbols));
    *out = (struct program_code){ 0 };
    if (!part || !c->tree)
        return;
    *out = (struct program_code){
        .elf = symbols_image(c->symbols)->path,
        .symbols = c->symbols,
        .insn = part->ops()->insn,
        .canonical = part->ops()->canonical,
        .samples = calltree_addresses(c->tree),
        .blocks = &c->blocks,
    };
}
