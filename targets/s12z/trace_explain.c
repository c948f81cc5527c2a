#include "targets/s12z/trace_explain.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/nearest.h"

static void set_rule(struct s12z_settings *s, unsigned v) { s->edge_rule = (uint8_t)v; }
static void set_first(struct s12z_settings *s, unsigned v) { s->first_edge_is_clock = v == 0; }
static void set_pthf(struct s12z_settings *s, unsigned v) { s->pthf_bytes = (uint8_t)(6 - v); }
static void set_static(struct s12z_settings *s, unsigned v) { s->static_operand_is_indirect = v == 1; }
static void set_soft(struct s12z_settings *s, unsigned v) { s->software_exceptions_traced = v == 0; }
static void set_bits(struct s12z_settings *s, unsigned v) { s->bit_branches_traced = v == 0; }
static void set_loops(struct s12z_settings *s, unsigned v) { s->loop_branches_traced = v == 0; }
static void set_stamp(struct s12z_settings *s, unsigned v) { s->stamp_from_line = v == 0; }
static void set_order(struct s12z_settings *s, unsigned v) { s->low_byte_first = v == 0; }

const struct s12z_setting *s12z_setting_list(void)
{
    static const struct s12z_setting all[] = {
        { "edges", { "both", "rising", "falling" }, "which PDOCLK edges carry a bit", set_rule, true, true },
        { "first-edge", { "bit", "none" }, "what the first PDOCLK edge after an idle time samples", set_first, true, true },
        { "pthf", { "6", "5" }, "bytes of a PTHF line where the stream itself leaves it open", set_pthf, false, true },
        { "static-operand", { "static", "indirect" }, "JMP and JSR with a static general operand (AA, AB)", set_static, false, false },
        { "software-exceptions", { "traced", "silent" }, "SWI, SYS, TRAP and SPARE make a PTVB", set_soft, false, false },
        { "bit-branches", { "traced", "silent" }, "BRSET and BRCLR make a bit", set_bits, false, false },
        { "loop-branches", { "traced", "silent" }, "DBcc and TBcc make a bit", set_loops, false, false },
        { "byte-order", { "low-first", "high-first" }, "of addresses and stamps", set_order, false, false },
        { "stamp-from", { "line", "flow" }, "what stamps count from", set_stamp, false, false },
        { NULL, { NULL }, NULL, NULL, false, false },
    };
    return all;
}

static unsigned nvalues(const struct s12z_setting *s)
{
    unsigned n = 0;
    while (n < 4 && s->values[n])
        n++;
    return n;
}

static int wrong_value(const struct s12z_setting *s, const char *value, struct err *err)
{
    char list[96] = "";
    for (unsigned k = 0; k < nvalues(s); k++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "one of ", s->values[k]);
    return err_set(err, ERR_USAGE, list, "setting %s: '%.40s' is no value of it", s->name, value);
}

int s12z_setting_parse(struct s12z_settings *out, const char *text, struct err *err)
{
    struct nearest near = { .wanted = text };
    char hint[NEAREST_TEXT];
    const char *eq = strchr(text, '=');
    for (const struct s12z_setting *s = s12z_setting_list(); s->name; s++) {
        nearest_offer(&near, s->name);
        if (!eq || strlen(s->name) != (size_t)(eq - text) || strncmp(s->name, text, (size_t)(eq - text)) != 0)
            continue;
        for (unsigned k = 0; k < nvalues(s); k++)
            if (!strcmp(eq + 1, s->values[k])) {
                s->set(out, k);
                return 0;
            }
        return wrong_value(s, eq + 1, err);
    }
    return err_set(err, ERR_USAGE, nearest_text(&near, "NAME=VALUE, as in pthf=5", hint, sizeof hint), "no setting '%.60s'", text);
}

bool s12z_fit_is_clean(const struct s12z_fit *f) { return f->lines && f->walked && !f->bad && !f->misfits; }

static int try_one(struct s12z_variant *v, const struct s12z_settings *s, s12z_try *pass, void *ctx, struct err *err)
{
    struct err why = { .code = ERR_OK };
    int ret = pass(ctx, s, &v->fit, &why);
    v->failed = ret < 0;
    if (ret == -ERR_NOMEM || ret == -ERR_NOT_FOUND || ret == -ERR_IO)
        return err_set(err, (enum err_code)-ret, why.hint, "%s", why.what);
    return 0;
}

int s12z_explain(const struct s12z_settings *given, bool edges, bool wire, s12z_try *pass, void *ctx, struct s12z_variant *out, size_t cap,
                 struct err *err)
{
    size_t n = 0;
    out[n] = (struct s12z_variant){ .setting = NULL };
    int ret = try_one(&out[n++], given, pass, ctx, err);
    for (const struct s12z_setting *s = s12z_setting_list(); s->name && ret == 0; s++)
        for (unsigned k = 0; k < nvalues(s) && ret == 0 && n < cap; k++) {
            struct s12z_settings other = *given;
            s->set(&other, k);
            if (!memcmp(&other, given, sizeof other) || (s->edges_only && !edges) || (s->wire_only && !wire) || s->set == set_stamp)
                continue;
            out[n] = (struct s12z_variant){ .setting = s, .value = k };
            ret = try_one(&out[n++], &other, pass, ctx, err);
        }
    return ret < 0 ? ret : (int)n;
}
