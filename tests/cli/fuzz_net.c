/* Any text as the address GDB may connect at: refused with a hint, or what it means written out
 * means the same. Nothing is bound. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/bridge/net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse_written_again(const struct net_address *a)
{
    char text[300];
    struct net_address b;
    if (*a->path)
        snprintf(text, sizeof text, "%s", a->path);
    else
        snprintf(text, sizeof text, strchr(a->host, ':') ? "[%s]:%u" : "%s:%u", a->host, a->port);
    if (net_parse(text, 1, &b, NULL) != 0 || strcmp(a->host, b.host) || strcmp(a->path, b.path) ||
        (!*a->path && a->port != b.port))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* of exact size, so that a read beyond it is seen */
    char *text = strndup((const char *)data, size);
    struct net_address a = { .port = 99999 };
    struct err err = { .code = ERR_OK };
    int ret = net_parse(text, 3333, &a, &err);
    if (ret < 0 ? ret != -ERR_USAGE || !*err.what || !*err.hint || a.port != 99999
                : a.port > 65535 || !memchr(a.host, 0, sizeof a.host) ||
                      !memchr(a.path, 0, sizeof a.path) || (*a.path && *a.host))
        abort();
    if (ret == 0)
        parse_written_again(&a);
    free(text);
    return 0;
}
