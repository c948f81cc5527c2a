#include "probe/base/buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

enum { FIRST_CAPACITY = 256 };

static bool make_room(struct buffer *b, size_t n)
{
    size_t most = EITHER(b->most, SIZE_MAX / 2);
    if (n > most || b->size > most - n)
        return false;
    if (b->size + n <= b->capacity)
        return true;
    size_t capacity = MAX(2 * (b->size + n), (size_t)FIRST_CAPACITY);
    char *data = realloc(b->data, capacity);
    if (!data)
        return false;
    b->data = data;
    b->capacity = capacity;
    return true;
}

void buffer_add(struct buffer *b, const void *data, size_t n)
{
    if (b->failed || !n)
        return;
    if (!make_room(b, n)) {
        b->failed = true;
        return;
    }
    memcpy(b->data + b->size, data, n);
    b->size += n;
}

static void add_text(void *ctx, const char *text, size_t len) { buffer_add(ctx, text, len); }

struct text_sink buffer_sink(struct buffer *b) { return (struct text_sink){ add_text, b }; }

void buffer_fini(struct buffer *b)
{
    free(b->data);
    *b = (struct buffer){ .most = b->most };
}
