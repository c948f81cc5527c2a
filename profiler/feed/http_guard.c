#include "profiler/feed/http_guard.h"

#include <string.h>
#include <strings.h>

#include "probe/base/util.h"

static const char cookie_name[] = "probeprof=";

/* ---- text ---- */

static bool is_word(struct guard_text t, const char *word)
{
    return t.n == strlen(word) && memcmp(t.at, word, t.n) == 0;
}

static bool is_in_any_case(struct guard_text t, const char *word)
{
    return t.n == strlen(word) && strncasecmp(t.at, word, t.n) == 0;
}

static bool begins_with(struct guard_text t, const char *word)
{
    return t.n >= strlen(word) && memcmp(t.at, word, strlen(word)) == 0;
}

static struct guard_text text_behind(struct guard_text t, size_t n)
{
    return (struct guard_text){ t.at + n, t.n - n };
}

/* What stands before a character; all of it if it is not there. */
static struct guard_text text_before(struct guard_text t, char end)
{
    const char *at = memchr(t.at, end, t.n);
    if (at)
        t.n = (size_t)(at - t.at);
    return t;
}

static struct guard_text trimmed_text(struct guard_text t)
{
    while (t.n && (t.at[0] == ' ' || t.at[0] == '\t'))
        t = text_behind(t, 1);
    while (t.n && (t.at[t.n - 1] == ' ' || t.at[t.n - 1] == '\t'))
        t.n--;
    return t;
}

bool guard_same(struct guard_text a, struct guard_text b)
{
    volatile unsigned char differs = a.n != b.n;
    for (size_t i = 0; i < a.n && i < b.n; i++)
        differs |= (unsigned char)(a.at[i] ^ b.at[i]);
    return !differs;
}

bool guard_first_byte(unsigned char byte)
{
    /* a method's; and the blank line that RFC 9112, 2.2 lets a client send before one */
    return (byte >= 'A' && byte <= 'Z') || byte == '\r' || byte == '\n';
}

/* ---- headers ---- */

/* How many lines of this name there are; *out is the last one's value. */
static unsigned find_header(const struct guard_request *r, const char *name, struct guard_text *out)
{
    unsigned n = 0;
    for (size_t i = 0; i < r->nheaders; i++) {
        if (!is_in_any_case(r->headers[i].name, name))
            continue;
        *out = trimmed_text(r->headers[i].value);
        n++;
    }
    return n;
}

static struct guard_verdict refuse_request(unsigned status, const char *code, const char *what,
                                           const char *hint)
{
    return (struct guard_verdict){ GUARD_REFUSED, status, code, what, hint, NULL, 0 };
}

static struct guard_verdict pass_request(void)
{
    return (struct guard_verdict){ .cause = GUARD_PASSES, .status = 200 };
}

static bool parse_decimal(struct guard_text t, uint64_t most, uint64_t *out)
{
    uint64_t v = 0;
    if (!t.n)
        return false;
    for (size_t i = 0; i < t.n; i++) {
        if (t.at[i] < '0' || t.at[i] > '9')
            return false;
        v = v * 10 + (uint64_t)(t.at[i] - '0');
        if (v > most)
            v = most; /* more is more */
    }
    *out = v;
    return true;
}

static struct guard_verdict judge_size(const struct guard_request *r)
{
    size_t bytes = 0;
    if (r->target.n > GUARD_MAX_TARGET)
        return refuse_request(414, "target", "the request's path is longer than 1,024 bytes",
                              "ask for less at a time");
    for (size_t i = 0; i < r->nheaders; i++) {
        bytes += r->headers[i].name.n + r->headers[i].value.n;
        /* 0, CR and LF inside of a value are an attempt to inject headers */
        for (size_t k = 0; k < r->headers[i].value.n; k++)
            if (memchr("\0\r\n", r->headers[i].value.at[k], 3))
                return refuse_request(400, "header", "a header's value holds a control character",
                                      "send none");
    }
    if (bytes > GUARD_MAX_HEADER_BYTES || r->nheaders > GUARD_MAX_HEADERS)
        return refuse_request(431, "headers", "more than 16 KB or 100 lines of headers",
                              "delete this address's cookies");
    return pass_request();
}

static struct guard_verdict judge_target(const struct guard_request *r)
{
    if (!r->target.n || r->target.at[0] != '/')
        return refuse_request(400, "target", "the request's target is no path",
                              "this is no proxy: send GET /path");
    for (size_t i = 0; i < r->target.n; i++)
        if ((unsigned char)r->target.at[i] <= ' ' || (unsigned char)r->target.at[i] >= 0x7F)
            return refuse_request(400, "target",
                                  "the request's path holds a blank or control character",
                                  "write it as %20");
    return pass_request();
}

/* ---- Host and Origin ---- */

/* "name:port" taken apart; a name in brackets keeps them. */
static bool split_host(struct guard_text t, struct guard_text *name, bool *has_port, uint64_t *port)
{
    const char *end;
    if (t.n && t.at[0] == '[')
        end = memchr(t.at, ']', t.n);
    else
        end = memchr(t.at, ':', t.n);
    size_t n = t.n;
    *has_port = false;
    if (t.n && t.at[0] == '[') {
        if (!end)
            return false;
        n = (size_t)(end - t.at) + 1;
    } else if (end) {
        n = (size_t)(end - t.at);
    }
    *name = (struct guard_text){ t.at, n };
    if (n == t.n)
        return n > 0;
    *has_port = true;
    return n > 0 && t.at[n] == ':' && t.n - n - 1 <= 5 &&
           parse_decimal(text_behind(t, n + 1), 65536, port) && *port <= 65535;
}

static bool is_one_of(struct guard_text name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_in_any_case(name, list[i]))
            return true;
    return false;
}

/* Is this one of our names? Where a Unix socket is forwarded (ssh -L) the user chose the port; a
 * proxy has its own. */
static bool is_our_host(struct guard_text t, const struct guard_request *r,
                        const struct guard_rules *rules)
{
    static const char *const loopback[] = { "localhost", "127.0.0.1", "[::1]" };
    struct guard_text name;
    bool has_port;
    uint64_t port = 80;
    if (!split_host(t, &name, &has_port, &port))
        return false;
    if (is_one_of(name, rules->proxied, rules->nproxied))
        return true;
    if (!is_one_of(name, loopback, ARRAY_LEN(loopback)) &&
        !is_one_of(name, rules->bound, rules->nbound))
        return false;
    return r->unix_socket || port == rules->port;
}

static bool is_our_origin(struct guard_text t, const struct guard_request *r,
                          const struct guard_rules *rules)
{
    struct guard_text name;
    bool has_port;
    uint64_t port;
    if (begins_with(t, "http://"))
        return is_our_host(text_behind(t, 7), r, rules);
    /* TLS is a proxy's, so the name is, too */
    return begins_with(t, "https://") && split_host(text_behind(t, 8), &name, &has_port, &port) &&
           is_one_of(name, rules->proxied, rules->nproxied);
}

static bool reads_only(const struct guard_request *r)
{
    return is_word(r->method, "GET") || is_word(r->method, "HEAD");
}

static struct guard_verdict judge_source(const struct guard_request *r,
                                         const struct guard_rules *rules)
{
    struct guard_text host = { "", 0 }, origin = { "", 0 }, site = { "", 0 };
    unsigned hosts = find_header(r, "Host", &host), origins = find_header(r, "Origin", &origin),
             sites = find_header(r, "Sec-Fetch-Site", &site);
    if (hosts != 1)
        return refuse_request(403, "host", "the request has no Host, or more than one", "send one");
    if (!is_our_host(host, r, rules))
        return refuse_request(
            403, "host", "the Host asked for is not this feed",
            "open http://localhost:PORT/; behind a proxy start with --http-host NAME");
    /* never compared with Host: a rebound page has the two the same */
    if (origins > 1 || (origins && !is_our_origin(origin, r, rules)))
        return refuse_request(403, "origin", "a page of another origin asked",
                              "open the feed's own page; programs send no Origin");
    if (sites > 1 ||
        (sites && !is_word(site, "same-origin") && !(is_word(site, "none") && reads_only(r))))
        return refuse_request(403, "fetch-site", "a page of another site asked",
                              "open the feed's own page");
    return pass_request();
}

/* ---- method and body ---- */

static struct guard_text path_of(const struct guard_request *r)
{
    return text_before(r->target, '?');
}

static bool takes_posts(const struct guard_request *r)
{
    return is_word(path_of(r), "/api/1/control") || is_word(path_of(r), "/api/1/login");
}

static struct guard_verdict judge_method(const struct guard_request *r)
{
    bool posts = takes_posts(r);
    if (is_word(r->method,
                "OPTIONS")) /* another site asks whether it may send requests: it may not */
        return refuse_request(403, "options", "other sites may send nothing here",
                              "open the feed's own page; programs need not ask");
    static const char what[] = "that is not how this path is asked";
    struct guard_verdict v;
    if (posts) {
        if (is_word(r->method, "POST"))
            return pass_request();
        v = refuse_request(405, "method", what, "POST JSON to it");
        v.allow = "POST";
        return v;
    }
    if (reads_only(r))
        return pass_request();
    v = refuse_request(405, "method", what, "GET it");
    v.allow = "GET, HEAD";
    return v;
}

/* "application/json", parameters or not. */
static bool is_json(struct guard_text t)
{
    const char *semicolon = memchr(t.at, ';', t.n);
    if (semicolon)
        t.n = (size_t)(semicolon - t.at);
    return is_in_any_case(trimmed_text(t), "application/json");
}

static struct guard_verdict judge_body(const struct guard_request *r)
{
    struct guard_text length = { "", 0 }, coding, type = { "", 0 }, own = { "", 0 };
    uint64_t bytes = 0;
    unsigned lengths = find_header(r, "Content-Length", &length);
    /* two ways to delimit a body allow request smuggling */
    if (find_header(r, "Transfer-Encoding", &coding))
        return refuse_request(400, "body", "the body comes with a Transfer-Encoding",
                              "send a Content-Length instead");
    if (lengths > 1 || (lengths && !parse_decimal(length, UINT32_MAX, &bytes)))
        return refuse_request(400, "body", "Content-Length is not one number", "send one");
    if (reads_only(r) && bytes)
        return refuse_request(400, "body", "a GET with a body", "send none");
    if (reads_only(r))
        return pass_request();
    if (bytes > GUARD_MAX_BODY)
        return refuse_request(413, "body", "more than 4 KB of body", "send less");
    if (find_header(r, "Content-Type", &type) != 1 || !is_json(type))
        return refuse_request(415, "content-type", "the body is not said to be JSON",
                              "send Content-Type: application/json");
    if (find_header(r, "X-Probeprof", &own) != 1 || !is_word(own, "1"))
        return refuse_request(403, "x-probeprof", "a command without the header X-Probeprof",
                              "send X-Probeprof: 1");
    struct guard_verdict v = pass_request();
    v.body_bytes = bytes;
    return v;
}

/* ---- the token ---- */

/* The page holds no secrets, and has to be loaded before it can send the token. */
static bool is_public(const struct guard_request *r)
{
    struct guard_text path = path_of(r);
    return is_word(path, "/") || begins_with(path, "/assets/") || is_word(path, "/api/1/login");
}

static bool cookie_holds(struct guard_text cookies, struct guard_text token)
{
    while (cookies.n) {
        const struct guard_text cookie = text_before(cookies, ';'), one = trimmed_text(cookie);
        if (begins_with(one, cookie_name) &&
            guard_same(text_behind(one, strlen(cookie_name)), token))
            return true;
        cookies = text_behind(cookies, MIN(cookie.n + 1, cookies.n));
    }
    return false;
}

static struct guard_verdict judge_token(const struct guard_request *r,
                                        const struct guard_rules *rules)
{
    struct guard_text auth = { "", 0 }, cookies = { "", 0 };
    if (!rules->token || is_public(r))
        return pass_request();
    struct guard_text token = { rules->token, strlen(rules->token) };
    unsigned auths = find_header(r, "Authorization", &auth),
             jars = find_header(r, "Cookie", &cookies);
    if (auths == 1 && begins_with(auth, "Bearer ") &&
        guard_same(trimmed_text(text_behind(auth, 7)), token))
        return pass_request();
    if (jars == 1 && cookie_holds(cookies, token))
        return pass_request();
    const char *what = "this feed asks for a token";
    if (auths)
        what = "the token is another one";
    struct guard_verdict v = refuse_request(
        401, "token", what, "send Authorization: Bearer TOKEN, or open /#t=TOKEN in a browser");
    v.cause = GUARD_NO_TOKEN;
    if (auths)
        v.cause = GUARD_BAD_TOKEN;
    return v;
}

struct guard_verdict guard_judge(const struct guard_request *r, const struct guard_rules *rules)
{
    struct guard_verdict v = judge_size(r);
    if (v.cause == GUARD_PASSES)
        v = judge_target(r);
    if (v.cause == GUARD_PASSES)
        v = judge_source(r, rules);
    if (v.cause == GUARD_PASSES)
        v = judge_method(r);
    if (v.cause == GUARD_PASSES)
        v = judge_token(r, rules);
    if (v.cause == GUARD_PASSES)
        return judge_body(r);
    return v;
}
