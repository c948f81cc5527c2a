#include "profiler/page/saved.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "profiler/page/page.h"

/* Modules import each other by relative names, which a module that is a data: URL cannot: here
 * they have bare names, and an import map says where those are (HTML Standard, "Import maps"). */
static const char relative[] = " from './", bare[] = " from 'probeprof/";

/* ---- base64 (RFC 4648, section 4), as it comes ---- */

struct base64 {
    const struct text_sink *out;
    uint32_t bits;
    unsigned n; /* bytes in bits */
};

static void base64_flush(struct base64 *b)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[4];
    uint32_t v = b->bits << 8 * (3 - b->n);
    for (unsigned i = 0; i < 4; i++)
        text[i] = i <= b->n ? digits[v >> (18 - 6 * i) & 63] : '=';
    if (b->n)
        b->out->write(b->out->ctx, text, sizeof text);
    b->bits = b->n = 0;
}

static void base64_bytes(struct base64 *b, const unsigned char *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        b->bits = b->bits << 8 | at[i];
        if (++b->n == 3)
            base64_flush(b);
    }
}

/* ---- the parts of the page ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static void write_module(const struct page_file *f, const struct text_sink *out)
{
    struct base64 b = { .out = out };
    const char *at = (const char *)f->bytes, *end = at + f->size, *next;
    for (; (next = memmem(at, (size_t)(end - at), relative, strlen(relative)));
         at = next + strlen(relative)) {
        base64_bytes(&b, (const unsigned char *)at, (size_t)(next - at));
        base64_bytes(&b, (const unsigned char *)bare, strlen(bare));
    }
    base64_bytes(&b, (const unsigned char *)at, (size_t)(end - at));
    base64_flush(&b);
}

static void write_modules(const struct text_sink *out)
{
    size_t n;
    const struct page_file *all = page_files(&n);
    const char *comma = "";
    sink_string(out, "<script type=\"importmap\">{\"imports\":{");
    for (size_t i = 0; i < n; i++) {
        if (!ends_with(all[i].name, ".js"))
            continue;
        sink_printf(out, "%s\n\"probeprof/%s\":\"data:text/javascript;base64,", comma, all[i].name);
        write_module(&all[i], out);
        sink_string(out, "\"");
        comma = ",";
    }
    sink_string(out, "}}</script>\n");
}

static void write_styles(const struct text_sink *out)
{
    size_t n;
    const struct page_file *all = page_files(&n);
    for (size_t i = 0; i < n; i++) {
        if (!ends_with(all[i].name, ".css"))
            continue;
        sink_string(out, "<style>");
        out->write(out->ctx, (const char *)all[i].bytes, all[i].size);
        sink_string(out, "</style>\n");
    }
}

/* JSON within HTML: no tag begins in it. '<' stands in strings only. */
static void write_harmless(void *ctx, const char *text, size_t len)
{
    const struct text_sink *out = ctx;
    while (len) {
        const char *tag = memchr(text, '<', len);
        size_t n = tag ? (size_t)(tag - text) : len;
        out->write(out->ctx, text, n);
        if (tag)
            sink_string(out, "\\u003c");
        n += tag != NULL;
        text += n;
        len -= n;
    }
}

static void write_title(const char *name, const struct text_sink *out)
{
    for (; *name; name++)
        if (strchr("<>&\"'", *name) || (unsigned char)*name < ' ')
            sink_printf(out, "&#%u;", (unsigned char)*name);
        else
            out->write(out->ctx, name, 1);
}

static void write_head(const char *name, const struct text_sink *out)
{
    sink_string(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data:; "
                     "base-uri 'none'; form-action 'none'\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    write_title(name, out);
    sink_string(out, "</title>\n");
}

/* What the page's body is, without the end of the document. */
static void write_body(const struct text_sink *out)
{
    const struct page_file *index = page_find("index.html");
    const char *text = "";
    if (index)
        text = (const char *)index->bytes;
    const char *from = NULL;
    if (index)
        from = memmem(text, index->size, "<body>", 6);
    const char *to = NULL;
    if (index)
        to = memmem(text, index->size, "</body>", 7);
    if (from && to)
        out->write(out->ctx, from, (size_t)(to - from));
}

void page_write_saved(const char *name, void (*content)(void *ctx, const struct text_sink *out),
                      void *ctx, const struct text_sink *out)
{
    const struct text_sink harmless = { write_harmless, (void *)(uintptr_t)out };
    write_head(name, out);
    write_styles(out);
    write_modules(out);
    sink_string(out, "</head>\n");
    write_body(out);
    sink_string(out, "<script type=\"application/json\" id=\"saved\">");
    content(ctx, &harmless);
    sink_string(out, "</script>\n<script type=\"module\">import 'probeprof/app.js';</script>\n"
                     "</body>\n</html>\n");
}
