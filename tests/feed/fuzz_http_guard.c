/* Any request to the guard: what passes satisfies each rule, looked at once more by other code;
 * what does not has a reason and a way out. Input: flags, the method and target, then lines of
 * headers. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "probe/base/util.h"
#include "profiler/feed/http_guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TOKEN "0123456789abcdef0123456789abcdef"

static const struct guard_rules rules[] = {
    { .port = 3334 },
    { .port = 3334, .bound = { "10.0.0.7" }, .nbound = 1, .token = TOKEN },
    { .port = 80, .proxied = { "prof.example" }, .nproxied = 1 },
};
enum { UNIX_SOCKET = 1 << 6 };

static void must_hold(bool what)
{
    if (!what)
        abort();
}

static struct guard_text cut_text(const char **at, const char *end, char mark)
{
    struct guard_text t = { *at, (size_t)(end - *at) };
    const char *m = memchr(*at, mark, t.n);
    if (m)
        t.n = (size_t)(m - *at);
    *at = m ? m + 1 : end;
    return t;
}

/* The value as a string without blanks around it, "" if it holds a 0; NULL if there is no such
 * line. */
static char *value_of(const struct guard_request *r, const char *name, unsigned *n)
{
    char *found = NULL;
    *n = 0;
    for (size_t i = 0; i < r->nheaders; i++) {
        struct guard_text v = r->headers[i].value;
        if (r->headers[i].name.n != strlen(name) ||
            strncasecmp(r->headers[i].name.at, name, strlen(name)))
            continue;
        free(found);
        ++*n;
        while (v.n && strchr(" \t", v.at[0]) && v.at[0])
            v.at++, v.n--;
        while (v.n && strchr(" \t", v.at[v.n - 1]) && v.at[v.n - 1])
            v.n--;
        found = strndup(v.at, v.n);
    }
    return found;
}

static bool good_host(const char *h, const struct guard_request *r, const struct guard_rules *u)
{
    const char *names[] = { "localhost", "127.0.0.1", "[::1]", u->nbound ? u->bound[0] : "[::1]" };
    size_t np = u->nproxied ? strlen(u->proxied[0]) : 0;
    if (np && !strncasecmp(h, u->proxied[0], np) && (!h[np] || h[np] == ':'))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t n = strlen(names[i]);
        if (strncasecmp(h, names[i], n) || (h[n] && h[n] != ':'))
            continue;
        return r->unix_socket || (h[n] ? strtoul(h + n + 1, NULL, 10) : 80) == u->port;
    }
    return false;
}

static void check_passed(const struct guard_request *r, const struct guard_rules *u)
{
    unsigned n;
    char *host = value_of(r, "host", &n);
    must_hold(n == 1 && good_host(host, r, u));
    char *origin = value_of(r, "origin", &n);
    must_hold(n == 0 || (n == 1 && !strncmp(origin, "http", 4) && strstr(origin, "://") &&
                         good_host(strstr(origin, "://") + 3, r, u)));
    bool get = r->method.n != 4 || memcmp(r->method.at, "POST", 4);
    char *site = value_of(r, "sec-fetch-site", &n);
    must_hold(n == 0 ||
              (n == 1 && (!strcmp(site, "same-origin") || (get && !strcmp(site, "none")))));
    char *type = value_of(r, "content-type", &n);
    must_hold(get || (n == 1 && !strncasecmp(type, "application/json", 16)));
    char *own = value_of(r, "x-probeprof", &n);
    must_hold(get || (n == 1 && !strcmp(own, "1")));
    char *auth = value_of(r, "authorization", &n), *jar = value_of(r, "cookie", &n);
    bool page = r->target.n == 1 || !strncmp(r->target.at, "/?", MIN(r->target.n, 2u)) ||
                !strncmp(r->target.at, "/assets/", MIN(r->target.n, 8u)) ||
                (r->target.n >= 12 && !memcmp(r->target.at, "/api/1/login", 12));
    must_hold(!u->token || page || (auth && strstr(auth, TOKEN)) || (jar && strstr(jar, TOKEN)));
    must_hold(memmem(r->target.at, r->target.n, "\0", 1) == NULL &&
              r->target.n <= GUARD_MAX_TARGET);
    free(host);
    free(origin);
    free(site);
    free(type);
    free(own);
    free(auth);
    free(jar);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct guard_header h[GUARD_MAX_HEADERS + 4];
    if (!size)
        return 0;
    char *copy = malloc(size); /* of exact size, so that a read beyond it is seen */
    memcpy(copy, data, size);
    const char *at = copy + 1, *end = copy + size;
    const struct guard_rules *u = &rules[(unsigned)(copy[0] & 3) % ARRAY_LEN(rules)];
    struct guard_request r = { .headers = h, .unix_socket = copy[0] & UNIX_SOCKET };
    r.method = cut_text(&at, end, ' ');
    r.target = cut_text(&at, end, '\n');
    while (at < end && r.nheaders < ARRAY_LEN(h)) {
        struct guard_text line = cut_text(&at, end, '\n');
        const char *a = line.at;
        h[r.nheaders].name = cut_text(&a, line.at + line.n, ':');
        h[r.nheaders++].value = (struct guard_text){ a, (size_t)(line.at + line.n - a) };
    }
    struct guard_verdict v = guard_judge(&r, u);
    must_hold((v.cause == GUARD_PASSES) == (v.status == 200));
    if (v.cause == GUARD_PASSES)
        check_passed(&r, u);
    else
        must_hold(v.status >= 400 && v.status < 432 && v.code && *v.what && *v.hint &&
                  !v.body_bytes);
    must_hold((v.status == 405) == (v.allow != NULL));
    must_hold(v.body_bytes <= GUARD_MAX_BODY);
    free(copy);
    return 0;
}
