/* Any bytes as a stream, in each of its forms: what decodes encodes to itself, every byte is in
 * exactly one item, and cutting the input elsewhere changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "targets/s12z/trace/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    struct s12z_settings set;
    uint64_t next, hash, items;
};

static int note_item(void *ctx, const struct s12z_item *i)
{
    struct seen *s = ctx;
    if (i->offset != s->next || !i->bytes)
        abort();
    s->next += i->bytes;
    s->items++;
    s->hash = (s->hash ^ i->raw ^ i->offset * 31 ^ i->kind) * 0x100000001B3u;
    if (i->kind == S12Z_ITEM_LINE && s12z_line_encode(&i->line, &s->set) != i->raw)
        abort();
    return 0;
}

static struct seen decode_bytes(enum s12z_form form, const struct s12z_settings *set,
                                const uint8_t *data, size_t size, size_t step)
{
    struct seen s = { .set = *set };
    struct s12z_stream st;
    s12z_stream_init(&st, form, set, note_item, &s);
    for (size_t k = 0; k < size; k += step)
        s12z_stream_feed(&st, data + k, size - k < step ? size - k : step, 0);
    s12z_stream_end(&st);
    if (s.next != size || st.lines + st.bad != s.items)
        abort();
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct s12z_settings set = s12z_settings_default();
    if (!size)
        return 0;
    enum s12z_form form = data[0] & 3;
    set.low_byte_first = data[0] & 4;
    set.pthf_bytes = data[0] & 8 ? 5 : 6;
    struct seen whole = decode_bytes(form, &set, data + 1, size - 1, size),
                cut = decode_bytes(form, &set, data + 1, size - 1, 1 + data[0] / 16);
    if (whole.hash != cut.hash || whole.items != cut.items)
        abort();
    return 0;
}
