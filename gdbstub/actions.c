#include "gdbstub/actions.h"

#include <string.h>

#include "gdbstub/rsp.h"
#include "probe/base/bytes.h"
#include "probe/base/hex.h"

enum { LENGTH_BYTES = 2 };

static int refuse_packet_text(const char *what, struct err *err)
{
    return err_set(err, ERR_USAGE, "", "malformed packet: %s", what);
}

/* "X LEN,CODE" at *p, without the blank. */
static int take_expression(const char **p, struct actions *out, struct err *err)
{
    uint8_t code[LENGTH_BYTES + AGENT_MAX_BYTES];
    uint64_t len;
    ++*p;
    if (!rsp_number(p, &len) || *(*p)++ != ',')
        return refuse_packet_text("length of an agent expression expected", err);
    if (len > AGENT_MAX_BYTES)
        return err_set(err, ERR_RESOURCE, "make the condition shorter",
                       "an agent expression of %llu bytes; at most %u", (unsigned long long)len,
                       (unsigned)AGENT_MAX_BYTES);
    if (strnlen(*p, 2 * len) < 2 * len || !hex_decode(code + LENGTH_BYTES, *p, len))
        return refuse_packet_text("digits of an agent expression expected", err);
    *p += 2 * len;
    int ret = agent_check(code + LENGTH_BYTES, len, err);
    if (ret < 0)
        return ret;
    put_le16(code, (uint16_t)len);
    buffer_add(&out->code, code, LENGTH_BYTES + len);
    return 0;
}

/* All that stand one behind the other. Returns how many. */
static int take_expressions(const char **p, struct actions *out, struct err *err)
{
    int n = 0;
    while (**p == 'X') {
        int ret = take_expression(p, out, err);
        if (ret < 0)
            return ret;
        n++;
    }
    return n;
}

/* Whether commands outlive the connection makes no difference: no breakpoint does here. */
static bool skip_persist(const char **p)
{
    uint64_t persist;
    static const char word[] = "cmds:";
    if (strncmp(*p, word, sizeof word - 1) != 0)
        return false;
    *p += sizeof word - 1;
    return rsp_number(p, &persist) && *(*p)++ == ',' && **p == 'X';
}

/* Conditions stand before commands. */
int actions_parse(const char *p, struct actions *out, struct err *err)
{
    int ret = 0;
    out->code.most = ACTIONS_MAX_BYTES;
    while (*p == ';' && ret >= 0) {
        p++;
        if (*p == 'X' && !out->commands) {
            ret = take_expressions(&p, out, err);
            out->conditions += (unsigned)(ret > 0) * (unsigned)ret;
        } else if (skip_persist(&p)) {
            ret = take_expressions(&p, out, err);
            out->commands += (unsigned)(ret > 0) * (unsigned)ret;
        } else {
            return refuse_packet_text("conditions or commands of a breakpoint expected", err);
        }
    }
    if (ret < 0)
        return ret;
    if (*p)
        return refuse_packet_text("type,address,kind expected", err);
    if (out->code.failed)
        return err_set(err, ERR_RESOURCE, "make conditions and commands shorter",
                       "conditions and commands of a breakpoint have more than %u bytes",
                       (unsigned)ACTIONS_MAX_BYTES);
    return 0;
}

/* The expression at *p, which is moved behind it. */
static const uint8_t *next_expression(const uint8_t **p, size_t *len)
{
    const uint8_t *code = *p + LENGTH_BYTES;
    *len = le16(*p);
    *p = code + *len;
    return code;
}

/* Whether one of them holds, or there is none; *p is behind all of them then. */
static int is_wanted(const struct actions *a, const uint8_t **p, const struct agent_env *env,
                     struct err *err)
{
    bool wanted = a->conditions == 0;
    size_t len;
    for (unsigned i = 0; i < a->conditions; i++) {
        uint64_t value = 0;
        const uint8_t *code = next_expression(p, &len);
        if (wanted)
            continue;
        int ret = agent_run(code, len, env, &value, err);
        if (ret < 0)
            return ret;
        wanted = value != 0;
    }
    return wanted;
}

int actions_stop(const struct actions *a, const struct agent_env *env, struct err *err)
{
    const uint8_t *p = (const uint8_t *)a->code.data;
    size_t len;
    int wanted = is_wanted(a, &p, env, err);
    if (wanted <= 0 || a->commands == 0)
        return wanted;
    for (unsigned i = 0; i < a->commands; i++) {
        const uint8_t *code = next_expression(&p, &len);
        int ret = agent_run(code, len, env, NULL, err);
        if (ret < 0)
            return ret;
    }
    return 0;
}

void actions_fini(struct actions *a)
{
    buffer_fini(&a->code);
    *a = (struct actions){ .code = a->code };
}
