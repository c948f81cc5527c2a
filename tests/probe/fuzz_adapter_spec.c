/* Any text after --probe DRIVER: taken apart, put together and taken apart again it means the same;
 * and a row with any serial number is found again by the name that is printed for it. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/adapter.h"
#include "probe/probe.h"

static void parse_written_again(const struct adapter_spec *s)
{
    char text[320];
    struct adapter_spec twice;
    snprintf(text, sizeof text, "%s%s%s%s%s%s", *s->bus_path ? "@" : "",
             *s->bus_path ? s->bus_path : s->serial, *s->channel ? ":" : "", s->channel,
             *s->options ? "," : "", s->options);
    if (adapter_spec_parse(text, &twice, NULL) != 0 || strcmp(twice.serial, s->serial) ||
        strcmp(twice.bus_path, s->bus_path) || strcmp(twice.channel, s->channel) ||
        strcmp(twice.options, s->options))
        abort();
}

static void found_by_its_name(const char *serial)
{
    static const struct probe_driver driver = { .name = "ftdi" };
    struct adapter rows[2] = {
        { .driver = &driver, .bus_path = "1-1", .serial = "other", .can = ADAPTER_JTAG },
        { .driver = &driver, .bus_path = "1-2", .can = ADAPTER_JTAG }
    };
    const struct adapter_list list = { .row = rows, .n = 2, .cap = 2 };
    struct adapter_spec spec;
    char name[200];
    snprintf(rows[1].serial, sizeof rows[1].serial, "%.79s", serial);
    adapter_name(&list, 1, name, sizeof name);
    if (strncmp(name, "ftdi:", 5) || adapter_spec_parse(name + 5, &spec, NULL) != 0 ||
        adapter_choose(&list, "ftdi", &spec, NULL) != 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[512];
    struct adapter_spec s;
    struct err err = { .code = ERR_OK };
    size_t n = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, data, n);
    text[n] = 0;
    int ret = adapter_spec_parse(text, &s, &err);
    if (ret == 0)
        parse_written_again(&s);
    else if (ret != -ERR_USAGE || !*err.hint)
        abort();
    found_by_its_name(text);
    return 0;
}
