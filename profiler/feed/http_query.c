#include "profiler/feed/http_query.h"

#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* n bytes at `from` decoded; -1: a '%' without two digits, a control character, or more than cap.
 */
static int decode_text(const char *from, size_t n, char *to, size_t cap)
{
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        int c = (unsigned char)from[i];
        if (c == '+') {
            c = ' ';
        } else if (c == '%') {
            int high = -1;
            if (i + 2 < n)
                high = hex_digit(from[i + 1]);
            int low = -1;
            if (high >= 0)
                low = hex_digit(from[i + 2]);
            if (low < 0)
                return -1;
            c = high * 16 + low;
            i += 2;
        }
        if (c < ' ' || c == 0x7F || len + 1 >= cap)
            return -1;
        to[len++] = (char)c;
    }
    to[len] = 0;
    return (int)len;
}

/* One "name=value" at *at; false: there is none left. */
struct pair {
    const char *name, *value;
    size_t name_n, value_n;
};

static bool next_pair(const char **at, struct pair *p)
{
    const char *s = *at;
    if (!*s)
        return false;
    size_t n = strcspn(s, "&"), eq = strcspn(s, "=");
    if (eq > n)
        eq = n;
    *p = (struct pair){ s, s + eq + (eq < n), eq, n - eq - (eq < n) };
    *at = s + n + (s[n] == '&');
    return true;
}

static bool is_known(const struct pair *p, const char *names)
{
    for (const char *s = names; *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        if (n == p->name_n && memcmp(s, p->name, n) == 0)
            return true;
        s += n;
    }
    return false;
}

static unsigned times_given(const char *query, const struct pair *p)
{
    struct pair other;
    unsigned n = 0;
    while (next_pair(&query, &other))
        n += other.name_n == p->name_n && memcmp(other.name, p->name, p->name_n) == 0;
    return n;
}

int http_query_known(const char *query, const char *names, struct err *err)
{
    struct pair p;
    char text[512];
    for (const char *at = query; next_pair(&at, &p);) {
        if (!is_known(&p, names))
            return err_set(err, ERR_USAGE, *names ? names : "leave it out",
                           "unknown parameter '%.*s'", (int)p.name_n, p.name);
        if (times_given(query, &p) > 1)
            return err_set(err, ERR_USAGE, "say it once", "parameter %.*s comes twice",
                           (int)p.name_n, p.name);
        if (decode_text(p.value, p.value_n, text, sizeof text) < 0)
            return err_set(err, ERR_USAGE, "%XX for what is not plain text",
                           "parameter %.*s cannot be read", (int)p.name_n, p.name);
    }
    return 0;
}

bool http_query_text(const char *query, const char *name, char *buf, size_t cap)
{
    struct pair p;
    buf[0] = 0;
    for (const char *at = query; next_pair(&at, &p);)
        if (p.name_n == strlen(name) && memcmp(p.name, name, p.name_n) == 0) {
            if (decode_text(p.value, p.value_n, buf, cap) < 0)
                buf[0] = 0;
            return true;
        }
    return false;
}

int http_query_number(const char *query, const char *name, uint64_t least, uint64_t most,
                      uint64_t *value, struct err *err)
{
    char text[24];
    uint64_t v = 0;
    if (!http_query_text(query, name, text, sizeof text))
        return 0;
    bool is = *text && strspn(text, "0123456789") == strlen(text) && strlen(text) <= 19;
    for (const char *c = text; is && *c; c++)
        v = v * 10 + (uint64_t)(*c - '0');
    if (!is || v < least || v > most)
        return err_set(err, ERR_USAGE, "give a number of that range",
                       "parameter %s is not a number from %llu to %llu", name,
                       (unsigned long long)least, (unsigned long long)most);
    *value = v;
    return 0;
}
