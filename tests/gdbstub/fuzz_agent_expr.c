/* Any bytes as an agent expression: what is taken runs within its bounds, what is refused says why,
 * and the same bytes as a Z packet's conditions are read as they were written. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/actions.h"
#include "probe/base/bytes.h"
#include "probe/base/hex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_reg(void *ctx, unsigned n, uint64_t *value, struct err *err)
{
    (void)ctx;
    if (n > 70)
        return err_set(err, ERR_NOT_FOUND, "", "no register");
    *value = n;
    return 0;
}

static int read_mem(void *ctx, uint64_t addr, uint8_t *buf, size_t len, struct err *err)
{
    (void)ctx;
    if (len == 0 || len > 64)
        abort();
    if (addr % 5 == 4)
        return err_set(err, ERR_FAULT, "", "bus error");
    memset(buf, (int)(addr % 7), len);
    return 0;
}

static void count_printed(void *ctx, const char *text, size_t len)
{
    volatile char last = text[len - 1];
    (void)last;
    *(size_t *)ctx += len;
}

static void try_actions(const char *options)
{
    struct actions a = { 0 };
    struct err err = { .code = ERR_OK };
    if (actions_parse(options, &a, &err) < 0 && !err.what[0])
        abort();
    actions_fini(&a);
}

/* What agent_check() takes, a packet with it takes, and keeps as it is. */
static void try_packet(const uint8_t *code, size_t len)
{
    static char packet[2 * AGENT_MAX_BYTES + 64];
    struct actions a = { 0 };
    struct err err;
    int n = snprintf(packet, sizeof packet, ";X%zx,", len);
    hex_string(packet + n, code, len);
    if (actions_parse(packet, &a, &err) < 0 || a.conditions != 1 || a.commands != 0 ||
        a.code.size != len + 2 || le16((uint8_t *)a.code.data) != len ||
        memcmp(a.code.data + 2, code, len) != 0)
        abort();
    actions_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t printed = 0;
    struct agent_env env = {
        .read_reg = read_reg, .read_mem = read_mem, .print = count_printed, .ctx = &printed
    };
    struct err err = { .code = ERR_OK };
    uint64_t value;
    if (size == 0)
        return 0;
    env.big_endian = data[0] & 1;
    char *text = calloc(1, size + 1);
    uint8_t *code = malloc(size); /* its end is the end of what may be read */
    if (!text || !code)
        abort();
    memcpy(text, data + 1, size - 1);
    memcpy(code, data + 1, size - 1);
    try_actions(text);
    int checked = agent_check(code, size - 1, &err);
    if (checked < 0 && !err.what[0])
        abort();
    if (checked == 0)
        try_packet(code, size - 1);
    (void)agent_run(code, size - 1, &env, &value, &err); /* unchecked ones must not harm, either */
    (void)agent_run(code, size - 1, &env, NULL, &err);
    free(text);
    free(code);
    return 0;
}
