/* Who may ask the feed's port for what: every method with every Host, Origin and Sec-Fetch-Site,
 * and the edges of each rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/feed/http_guard.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static const struct guard_rules plain = { .port = 3334 };
static const struct guard_rules wide = { .port = 3334,
                                         .bound = { "192.168.1.5" },
                                         .nbound = 1,
                                         .proxied = { "prof.example" },
                                         .nproxied = 1,
                                         .token = TOKEN };

static struct guard_text guard_text_of(const char *s)
{
    return (struct guard_text){ s, strlen(s) };
}

/* lines: "Name: value" each, ends with NULL. */
struct asked {
    const char *method, *target;
    const char *line[8];
    bool unix_socket;
};

static struct guard_verdict judge_request(const struct asked *a, const struct guard_rules *rules)
{
    struct guard_header h[ARRAY_LEN(a->line)];
    struct guard_request r = { .method = guard_text_of(a->method),
                               .target = guard_text_of(a->target),
                               .headers = h,
                               .unix_socket = a->unix_socket };
    for (size_t i = 0; i < ARRAY_LEN(a->line) && a->line[i]; i++) {
        const char *colon = strstr(a->line[i], ": ");
        h[r.nheaders].name = (struct guard_text){ a->line[i], (size_t)(colon - a->line[i]) };
        h[r.nheaders++].value = guard_text_of(colon + 2);
    }
    return guard_judge(&r, rules);
}

/* ---- the matrix ---- */

struct choice {
    const char *line; /* NULL: no such line */
    bool good;        /* for GET */
    bool good_post;
};

static const char *const methods[] = { "GET",   "HEAD",    "POST",    "PUT",   "DELETE",
                                       "PATCH", "OPTIONS", "CONNECT", "TRACE", "get" };
static const struct choice hosts[] = {
    { "Host: localhost:3334", true, true },
    { "Host: 127.0.0.1:3334", true, true },
    { "Host: [::1]:3334", true, true },
    { "Host: LOCALHOST:3334", true, true },
    { NULL, false, false },
    { "Host: ", false, false },
    { "Host: localhost", false, false }, /* port 80 is another server's */
    { "Host: localhost:80", false, false },
    { "Host: localhost:33340", false, false },
    { "Host: localhost:68870", false, false }, /* 3334 in 16 bits */
    { "Host: localhost:", false, false },
    { "Host: localhost:+3334", false, false },
    { "Host: localhost:3334 evil", false, false },
    { "Host: localhost.:3334", false, false },
    { "Host: evil.example:3334", false, false },
    { "Host: localhost.evil.example:3334", false, false },
    { "Host: localhost@evil.example:3334", false, false },
    { "Host: 127.0.0.2:3334", false, false },
    { "Host: 0.0.0.0:3334", false, false },
    { "Host: [::]:3334", false, false },
    { "Host: [::1:3334", false, false },
    { "Host: [::1]3334", false, false },
    { "Host: ::1:3334", false, false },
    { "Host: 192.168.1.5:3334", false, false },
    { "Host: 2130706433:3334", false, false },
    { "Host: localhost:3334, evil.example:3334", false, false },
};
static const struct choice origins[] = {
    { NULL, true, true },
    { "Origin: http://localhost:3334", true, true },
    { "Origin: http://127.0.0.1:3334", true, true },
    { "Origin: http://[::1]:3334", true, true },
    { "Origin: null", false, false },
    { "Origin: ", false, false },
    { "Origin: http://localhost", false, false },
    { "Origin: http://localhost:3333", false, false },
    { "Origin: https://localhost:3334", false, false },
    { "Origin: http://evil.example:3334", false, false },
    { "Origin: http://evil.example", false, false },
    { "Origin: http://localhost:3334.evil.example", false, false },
    { "Origin: file://", false, false },
    { "Origin: chrome-extension://abc", false, false },
    { "Origin: http://localhost:3334 http://evil.example", false, false },
};
static const struct choice sites[] = {
    { NULL, true, true },
    { "Sec-Fetch-Site: same-origin", true, true },
    { "Sec-Fetch-Site: none", true, false },
    { "Sec-Fetch-Site: same-site", false, false },
    { "Sec-Fetch-Site: cross-site", false, false },
    { "Sec-Fetch-Site: ", false, false },
    { "Sec-Fetch-Site: same-origin, none", false, false },
    { "Sec-Fetch-Site: Same-Origin", false, false },
};

/* What has to come out, said another way than in the guard: which rule is the first to object. */
static unsigned expected_status(const char *method, const struct choice *host,
                                const struct choice *origin, const struct choice *site)
{
    bool reads = !strcmp(method, "GET") || !strcmp(method, "HEAD"), posts = !strcmp(method, "POST");
    if (!host->good || !origin->good || !(reads ? site->good : site->good_post))
        return 403;
    if (!strcmp(method, "OPTIONS"))
        return 403;
    return reads || posts ? 200 : 405;
}

static void guard__every_method_host_origin_site__passes_where_all_are_good(void **state)
{
    unsigned passed = 0, all = 0;
    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(methods); m++)
        for (size_t h = 0; h < ARRAY_LEN(hosts); h++)
            for (size_t o = 0; o < ARRAY_LEN(origins); o++)
                for (size_t s = 0; s < ARRAY_LEN(sites); s++) {
                    bool posts = !strcmp(methods[m], "POST");
                    struct asked a = { methods[m], posts ? "/api/1/control" : "/", { 0 }, false };
                    size_t n = 0;
                    const char *lines[] = { hosts[h].line, origins[o].line, sites[s].line,
                                            posts ? "Content-Type: application/json" : NULL,
                                            posts ? "X-Probeprof: 1" : NULL };
                    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
                        if (lines[i])
                            a.line[n++] = lines[i];
                    struct guard_verdict v = judge_request(&a, &plain);
                    unsigned want = expected_status(methods[m], &hosts[h], &origins[o], &sites[s]);
                    if (v.status != want)
                        print_message("%s %s / %s / %s: %u (%s)\n", methods[m], hosts[h].line,
                                      origins[o].line, sites[s].line, v.status, v.code);
                    assert_int_equal(v.status, want);
                    assert_int_equal(v.cause == GUARD_PASSES, want == 200);
                    assert_true(want == 200 || (v.code && *v.what && *v.hint));
                    passed += want == 200;
                    all++;
                }
    print_message("%u requests, %u of them answered\n", all, passed);
    assert_int_equal(all, 31200);
    assert_int_equal(passed, 2 * 4 * 4 * 3 + 4 * 4 * 2);
}

/* ---- the edges ---- */

#define US   "Host: localhost:3334"
#define JSON "Content-Type: application/json"
#define OWN  "X-Probeprof: 1"

static const struct {
    const char *name;
    struct asked a;
    unsigned status;
    const char *code;
} rows[] = {
    { "two Hosts, both ours", { "GET", "/", { US, US }, false }, 403, "host" },
    { "two Hosts", { "GET", "/", { US, "hOST: evil.example" }, false }, 403, "host" },
    { "two Origins",
      { "GET", "/", { US, "Origin: http://localhost:3334", "Origin: null" }, false },
      403,
      "origin" },
    { "two sites",
      { "GET", "/", { US, "Sec-Fetch-Site: none", "Sec-Fetch-Site: none" }, false },
      403,
      "fetch-site" },
    { "rebound: Host and Origin the same",
      { "GET", "/", { "Host: evil.example:3334", "Origin: http://evil.example:3334" }, false },
      403,
      "host" },
    { "socket, port of ssh -L", { "GET", "/", { "Host: localhost:9999" }, true }, 200, NULL },
    { "socket, no port", { "GET", "/", { "Host: localhost" }, true }, 200, NULL },
    { "socket, another name", { "GET", "/", { "Host: evil.example" }, true }, 403, "host" },
    { "no path", { "GET", "api", { US }, false }, 400, "target" },
    { "absolute URI", { "GET", "http://localhost:3334/", { US }, false }, 400, "target" },
    { "a blank in the path", { "GET", "/a b", { US }, false }, 400, "target" },
    { "a command",
      { "POST", "/api/1/control", { US, JSON, OWN, "Content-Length: 20" }, false },
      200,
      NULL },
    { "with charset",
      { "POST",
        "/api/1/control",
        { US, "Content-Type: Application/JSON; charset=utf-8", OWN },
        false },
      200,
      NULL },
    { "a form",
      { "POST", "/api/1/control", { US, "Content-Type: text/plain", OWN }, false },
      415,
      "content-type" },
    { "a form that tries",
      { "POST",
        "/api/1/control",
        { US, "Content-Type: text/plain; application/json", OWN },
        false },
      415,
      "content-type" },
    { "no type", { "POST", "/api/1/control", { US, OWN }, false }, 415, "content-type" },
    { "two types",
      { "POST", "/api/1/control", { US, JSON, JSON, OWN }, false },
      415,
      "content-type" },
    { "no own header", { "POST", "/api/1/control", { US, JSON }, false }, 403, "x-probeprof" },
    { "another own header",
      { "POST", "/api/1/control", { US, JSON, "X-Probeprof: 10" }, false },
      403,
      "x-probeprof" },
    { "the largest body",
      { "POST", "/api/1/control", { US, JSON, OWN, "Content-Length: 4096" }, false },
      200,
      NULL },
    { "a larger body",
      { "POST", "/api/1/control", { US, JSON, OWN, "Content-Length: 4097" }, false },
      413,
      "body" },
    { "one of 2^64",
      { "POST",
        "/api/1/control",
        { US, JSON, OWN, "Content-Length: 18446744073709551617" },
        false },
      413,
      "body" },
    { "a length that is none",
      { "POST", "/api/1/control", { US, JSON, OWN, "Content-Length: -1" }, false },
      400,
      "body" },
    { "two lengths",
      { "POST",
        "/api/1/control",
        { US, JSON, OWN, "Content-Length: 2", "Content-Length: 2" },
        false },
      400,
      "body" },
    { "chunks",
      { "POST", "/api/1/control", { US, JSON, OWN, "Transfer-Encoding: chunked" }, false },
      400,
      "body" },
    { "a GET with a body", { "GET", "/", { US, "Content-Length: 1" }, false }, 400, "body" },
    { "a GET with an empty one", { "GET", "/", { US, "Content-Length: 0" }, false }, 200, NULL },
    { "POST to a page", { "POST", "/", { US, JSON, OWN }, false }, 405, "method" },
    { "GET of control", { "GET", "/api/1/control?x", { US }, false }, 405, "method" },
    { "a value with a line in it",
      { "GET", "/", { US, "X-A: b\r\nHost: evil.example" }, false },
      400,
      "header" },
};

static void guard__edges_of_each_rule__have_their_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct guard_verdict v = judge_request(&rows[i].a, &plain);
        print_message("  %s: %u %s\n", rows[i].name, v.status, v.code ? v.code : "");
        assert_int_equal(v.status, rows[i].status);
        if (rows[i].code)
            assert_string_equal(v.code, rows[i].code);
        assert_int_equal(v.status == 405, v.allow != NULL);
    }
}

static void guard__length_of_a_body__is_told(void **state)
{
    (void)state;
    struct asked a = { "POST", "/api/1/control", { US, JSON, OWN, "Content-Length: 77" }, false };
    assert_int_equal(judge_request(&a, &plain).body_bytes, 77);
}

static void guard__too_much__is_refused_before_it_is_looked_at(void **state)
{
    static char path[GUARD_MAX_TARGET + 2] = "/", value[GUARD_MAX_HEADER_BYTES + 8] = "X-A: ";
    (void)state;
    memset(path + 1, 'a', sizeof path - 2);
    memset(value + 5, 'b', sizeof value - 6);
    struct asked a = { "GET", path, { US }, false };
    assert_int_equal(judge_request(&a, &plain).status, 414);
    path[GUARD_MAX_TARGET] = 0;
    assert_int_equal(judge_request(&a, &plain).status, 200);
    struct asked b = { "GET", "/", { US, value }, false };
    assert_int_equal(judge_request(&b, &plain).status, 431);
    value[GUARD_MAX_HEADER_BYTES - 40] = 0;
    assert_int_equal(judge_request(&b, &plain).status, 200);
    struct guard_header many[GUARD_MAX_HEADERS + 1];
    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        many[i] = (struct guard_header){ guard_text_of("X"), guard_text_of("") };
    many[0] = (struct guard_header){ guard_text_of("Host"), guard_text_of("localhost:3334") };
    struct guard_request r = { guard_text_of("GET"), guard_text_of("/"), many, ARRAY_LEN(many),
                               false };
    assert_int_equal(guard_judge(&r, &plain).status, 431);
    r.nheaders--;
    assert_int_equal(guard_judge(&r, &plain).status, 200);
}

/* ---- beyond loopback ---- */

#define THERE "Host: 192.168.1.5:3334"
#define AUTH  "Authorization: Bearer " TOKEN

static const struct {
    const char *name;
    struct asked a;
    unsigned status;
    enum guard_cause cause;
} wide_rows[] = {
    { "the page", { "GET", "/", { THERE }, false }, 200, GUARD_PASSES },
    { "its parts", { "GET", "/assets/a.js?x", { THERE }, false }, 200, GUARD_PASSES },
    { "no more than them", { "GET", "/assets", { THERE }, false }, 401, GUARD_NO_TOKEN },
    { "login", { "POST", "/api/1/login", { THERE, JSON, OWN }, false }, 200, GUARD_PASSES },
    { "the profile", { "GET", "/profile.json", { THERE }, false }, 401, GUARD_NO_TOKEN },
    { "by token", { "GET", "/profile.json", { THERE, AUTH }, false }, 200, GUARD_PASSES },
    { "by another", { "GET", "/profile.json", { THERE, AUTH "0" }, false }, 401, GUARD_BAD_TOKEN },
    { "by a part",
      { "GET", "/profile.json", { THERE, "Authorization: Bearer 0123" }, false },
      401,
      GUARD_BAD_TOKEN },
    { "by none",
      { "GET", "/profile.json", { THERE, "Authorization: Bearer " }, false },
      401,
      GUARD_BAD_TOKEN },
    { "by two", { "GET", "/profile.json", { THERE, AUTH, AUTH }, false }, 401, GUARD_BAD_TOKEN },
    { "by cookie",
      { "GET", "/profile.json", { THERE, "Cookie: a=b; probeprof=" TOKEN }, false },
      200,
      GUARD_PASSES },
    { "by another cookie",
      { "GET", "/profile.json", { THERE, "Cookie: xprobeprof=" TOKEN }, false },
      401,
      GUARD_NO_TOKEN },
    { "cookie from elsewhere",
      { "GET",
        "/profile.json",
        { THERE, "Origin: http://evil.example", "Cookie: probeprof=" TOKEN },
        false },
      403,
      GUARD_REFUSED },
    { "command without a token",
      { "POST", "/api/1/control", { THERE, JSON, OWN }, false },
      401,
      GUARD_NO_TOKEN },
    { "command with it",
      { "POST", "/api/1/control", { THERE, JSON, OWN, AUTH }, false },
      200,
      GUARD_PASSES },
    { "also on loopback", { "GET", "/profile.json", { US }, false }, 401, GUARD_NO_TOKEN },
    { "a proxy's name",
      { "GET", "/", { "Host: prof.example", "Origin: https://prof.example" }, false },
      200,
      GUARD_PASSES },
    { "TLS is the proxy's alone",
      { "GET", "/", { THERE, "Origin: https://192.168.1.5:3334" }, false },
      403,
      GUARD_REFUSED },
};

static void guard__with_a_token__all_but_the_page_asks_for_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wide_rows); i++) {
        struct guard_verdict v = judge_request(&wide_rows[i].a, &wide);
        print_message("  %s: %u\n", wide_rows[i].name, v.status);
        assert_int_equal(v.status, wide_rows[i].status);
        assert_int_equal(v.cause, wide_rows[i].cause);
    }
}

static void guard__secrets__are_the_same_or_not(void **state)
{
    (void)state;
    assert_true(guard_same(guard_text_of(TOKEN), guard_text_of(TOKEN)));
    assert_true(guard_same(guard_text_of(""), guard_text_of("")));
    assert_false(guard_same(guard_text_of(TOKEN), guard_text_of("")));
    assert_false(guard_same(guard_text_of("abc"), guard_text_of("abd")));
    assert_false(guard_same(guard_text_of("abc"), guard_text_of("abcd")));
    assert_false(guard_same(guard_text_of("abcd"), guard_text_of("abc")));
}

static void guard__first_byte__tells_a_debugger(void **state)
{
    (void)state;
    for (const char *c = "$+-\x03%#\x16z 1"; *c; c++)
        assert_false(guard_first_byte((unsigned char)*c));
    assert_false(guard_first_byte(0));
    for (size_t i = 0; i + 1 < ARRAY_LEN(methods); i++)
        assert_true(guard_first_byte((unsigned char)methods[i][0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guard__every_method_host_origin_site__passes_where_all_are_good),
        cmocka_unit_test(guard__edges_of_each_rule__have_their_status),
        cmocka_unit_test(guard__length_of_a_body__is_told),
        cmocka_unit_test(guard__too_much__is_refused_before_it_is_looked_at),
        cmocka_unit_test(guard__with_a_token__all_but_the_page_asks_for_it),
        cmocka_unit_test(guard__secrets__are_the_same_or_not),
        cmocka_unit_test(guard__first_byte__tells_a_debugger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
