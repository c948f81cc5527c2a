#include "profiler/core/arena.h"
#include "probe/base/util.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK_BYTES = 64 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    max_align_t data[];
};

static struct arena_block *block_new(size_t n)
{
    size_t size = MAX(n, ARENA_BLOCK_BYTES);
    if (size > SIZE_MAX - sizeof(struct arena_block))
        return NULL;
    struct arena_block *b = calloc(1, sizeof *b + size);
    if (b)
        b->size = size;
    return b;
}

void *arena_alloc(struct arena *a, size_t n)
{
    size_t align = _Alignof(max_align_t);
    if (n > SIZE_MAX - align)
        return NULL;
    n = (n + align - 1) / align * align;
    struct arena_block *b = a->head;
    if (!b || b->size - b->used < n) {
        b = block_new(n);
        if (!b)
            return NULL;
        /* A big block goes behind the head, so that the head's free rest is not given up for it. */
        if (a->head && n > ARENA_BLOCK_BYTES / 2) {
            b->next = a->head->next;
            a->head->next = b;
        } else {
            b->next = a->head;
            a->head = b;
        }
    }
    void *p = (char *)b->data + b->used;
    b->used += n;
    a->used += n;
    return p;
}

char *arena_strn(struct arena *a, const char *s, size_t n)
{
    char *copy = NULL;
    if (n < SIZE_MAX)
        copy = arena_alloc(a, n + 1);
    if (copy && n)
        memcpy(copy, s, n);
    return copy;
}

char *arena_str(struct arena *a, const char *s)
{
    if (s)
        return arena_strn(a, s, strlen(s));
    return NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *text = NULL;
    if (n >= 0)
        text = arena_alloc(a, (size_t)n + 1);
    if (!text)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(text, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return text;
}

void arena_fini(struct arena *a)
{
    while (a->head) {
        struct arena_block *next = a->head->next;
        free(a->head);
        a->head = next;
    }
    a->used = 0;
}
