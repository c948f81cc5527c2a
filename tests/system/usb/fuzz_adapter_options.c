/* Any options behind an adapter's name (layout=, ntrst=!5, timeout=, inflight=...), for every
 * driver of USB devices; the first byte picks one. The device is not there, which is found out when
 * the options are understood: a refusal says what to write. And any text as HOST:PORT of a stub. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/probe.h"
#include "probe/tcp.h"

static void as_options(const struct probe_driver *d, const char *text)
{
    const struct adapter row = {
        .driver = d, .vid = d->ids[0].vid, .pid = d->ids[0].pid, .bus_path = "9-9"
    };
    const struct probe_config cfg = { .adapter = &row, .spec = text };
    struct probe *p;
    struct err err = { .code = ERR_OK };
    int ret = d->open(&cfg, &p, &err);
    if (ret != -ERR_USB && ret != -ERR_USAGE)
        abort();
    if (err.code != (enum err_code) - ret || !*err.what || !*err.hint)
        abort();
}

static void as_host(const char *text)
{
    char host[TCP_HOST_MAX] = "", port[TCP_PORT_MAX] = "";
    struct err err = { .code = ERR_OK };
    int ret = tcp_parse(text, host, port, &err);
    if (ret == 0
            ? !*host || !*port || !memchr(host, 0, sizeof host) || !memchr(port, 0, sizeof port)
            : ret != -ERR_USAGE || !*err.hint || *host || *port)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct probe_driver *usb[16];
    size_t n = 0;
    for (const struct probe_driver *const *d = probe_drivers(); *d && n < 16; d++)
        if ((*d)->ids && (*d)->list && !(*d)->own_spec)
            usb[n++] = *d;
    if (!size || !n)
        return 0;
    /* of exact size, so that a read beyond it is seen */
    char *text = strndup((const char *)data + 1, size - 1);
    as_options(usb[data[0] % n], text);
    as_host(text);
    free(text);
    return 0;
}
