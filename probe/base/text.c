#include "probe/base/choice.h"
#include "probe/base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool continues_utf8(unsigned char c) { return (c & 0xC0) == 0x80; }

/* What the first byte says; 0: none begins so. */
static size_t length_by_lead(unsigned char c)
{
    if (c < 0x80)
        return 1;
    if (c >= 0xC2 && c < 0xE0)
        return 2;
    if (c >= 0xE0 && c < 0xF0)
        return 3;
    if (c >= 0xF0 && c <= 0xF4)
        return 4;
    return 0;
}

/* Length of the UTF-8 sequence that begins with s, 0 if it is none (also overlong forms and
 * surrogates). */
static size_t utf8_length(const unsigned char *s, size_t n)
{
    size_t len = length_by_lead(s[0]);
    if (len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if (!continues_utf8(s[i]))
            return 0;
    bool wrong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
                 (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F);
    if (wrong)
        return 0;
    return len;
}

/* C0 and DEL; C1: U+0080 to U+009F. Source: ECMA-48. U+200E, U+200F, U+202A to U+202E, U+2066 to
 * U+2069: Unicode Standard Annex 9. U+2028, U+2029 end lines. */
static bool is_command(const unsigned char *s, size_t len)
{
    if (len == 1)
        return s[0] < ' ' || s[0] == 0x7F;
    if (len == 2)
        return s[0] == 0xC2 && s[1] < 0xA0;
    return len == 3 && s[0] == 0xE2 &&
           ((s[1] == 0x80 && (s[2] == 0x8E || s[2] == 0x8F || (s[2] >= 0xA8 && s[2] <= 0xAE))) ||
            (s[1] == 0x81 && s[2] >= 0xA6 && s[2] <= 0xA9));
}

size_t text_character(const char *s)
{
    size_t len = utf8_length((const unsigned char *)s, strnlen(s, 4));
    if (len && !is_command((const unsigned char *)s, len))
        return len;
    return 0;
}

size_t text_code(const char *s, uint32_t *code)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t len = utf8_length(u, strnlen(s, 4));
    *code = len < 2 ? u[0] : u[0] & (0xFFu >> (len + 1));
    for (size_t i = 1; i < len; i++)
        *code = *code << 6 | (u[i] & 0x3F);
    return len;
}

static void clean_text(char *text, size_t n, bool lines)
{
    for (size_t i = 0; i < n;) {
        unsigned char *s = (unsigned char *)text + i;
        size_t len = utf8_length(s, n - i), all = EITHER(len, 1);
        bool kept = lines && (*s == '\n' || *s == '\t');
        if (!kept && (!len || is_command(s, len)))
            memset(s, '?', all);
        i += all;
    }
}

char *text_clean(char *text)
{
    clean_text(text, strlen(text), false);
    return text;
}

void text_clean_lines(char *text, size_t n) { clean_text(text, n, true); }

void text_line(FILE *out, const char *head, const char *fmt, va_list ap)
{
    char *text = NULL;
    if (vasprintf(&text, fmt, ap) < 0)
        return;
    fprintf(out, "%s%s\n", head, text_clean(text));
    free(text);
}

void text_print(FILE *out, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    text_clean_lines(text, (size_t)n);
    fwrite(text, 1, (size_t)n, out);
    free(text);
}
