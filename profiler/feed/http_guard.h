/* Which requests to the feed's port are allowed. A pure function over the request's lines, called
 * before anything is done for it: docs/feed.md, "Trust". The attacker is a page of another site in
 * a browser on this machine: it can send requests to loopback, and with a name of its own that it
 * points to 127.0.0.1 (DNS rebinding) it could read answers, too. */
#ifndef PROFILER_FEED_HTTP_GUARD_H
#define PROFILER_FEED_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GUARD_MAX_TARGET = 1024,        /* bytes of the request's target */
    GUARD_MAX_HEADERS = 100,        /* lines */
    GUARD_MAX_HEADER_BYTES = 16384, /* names and values together */
    GUARD_MAX_BODY = 4096,
    GUARD_MAX_HOSTS = 8,
    GUARD_LEAST_TOKEN = 22, /* characters: 128 bits in base64 */
};

/* Bytes of a request: not terminated, and a 0 may be among them. */
struct guard_text {
    const char *at;
    size_t n;
};

struct guard_header {
    struct guard_text name, value;
};

/* What a request says. All pointers are borrowed. */
struct guard_request {
    struct guard_text method;
    struct guard_text target;           /* as sent: path and query, nothing decoded */
    const struct guard_header *headers; /* every line, in order: two of a name are two here */
    size_t nheaders;
    bool unix_socket; /* it came over one */
};

/* Who we are. */
struct guard_rules {
    unsigned port; /* ours; a Host over TCP has to name it */
    /* names beside localhost, 127.0.0.1 and [::1]: the address that was bound ("192.168.1.5"),
     * which comes with our port, and those of --http-host, which come with any: a proxy stands
     * before us */
    const char *bound[GUARD_MAX_HOSTS], *proxied[GUARD_MAX_HOSTS];
    size_t nbound, nproxied;
    const char *token; /* NULL: none is asked for */
};

enum guard_cause { GUARD_PASSES, GUARD_REFUSED, GUARD_NO_TOKEN, GUARD_BAD_TOKEN };

/* What becomes of it. Texts are static. */
struct guard_verdict {
    enum guard_cause cause;
    unsigned status;         /* 200: let it pass */
    const char *code;        /* "host" */
    const char *what, *hint; /* for people */
    const char *allow;       /* of a 405: the methods there are; else NULL */
    uint64_t body_bytes;     /* of a request that passes: its Content-Length */
};

/* guard_judge - may this be answered?
 * r      the request
 * rules  this server's names and token
 * Returns the verdict: status 200; 400 malformed, 401 token, 403 Host, Origin, Sec-Fetch-Site,
 * X-Probeprof or OPTIONS, 405, 413, 414, 415, 431. No state, no I/O, no allocation. */
struct guard_verdict guard_judge(const struct guard_request *r, const struct guard_rules *rules);

/* guard_same - are two secrets the same? The time it takes depends on their lengths only. */
bool guard_same(struct guard_text a, struct guard_text b);

/* guard_first_byte - may a request begin with this byte? RSP's '$', '+', '-', 0x03 may not: a
 * debugger that was pointed to this port is disconnected at once. */
bool guard_first_byte(unsigned char byte);

#endif
