/* Z z */
#include <stdio.h>

#include "gdbstub/commands.h"
#include "gdbstub/moment.h"
#include "gdbstub/reply.h"
#include "gdbstub/stub.h"
#include "targets/gdb_kinds.h"

/* "TYPE,ADDR,KIND"; *rest is what follows. False after a reply. */
static bool parse_bp(struct session *s, const char *p, struct breakpoint *bp, const char **rest)
{
    uint64_t type, len;
    if (!rsp_number(&p, &type) || *p++ != ',' || !rsp_number(&p, &bp->addr) || *p++ != ',' ||
        !rsp_number(&p, &len) || (*p && *p != ';')) {
        reply_usage(s, "type,address,kind expected");
        return false;
    }
    if (!gdb_kind_of_z(type, &bp->kind)) {
        reply_empty(s);
        return false;
    }
    bp->len = (unsigned)len;
    *rest = p;
    struct err err;
    if (bp->kind <= BP_HARD && len != s->stub->ops->bp_size)
        err_set(&err, ERR_USAGE, "", "breakpoints here have kind %u, not %llu",
                s->stub->ops->bp_size, (unsigned long long)len);
    else if (bp->kind > BP_HARD && (len == 0 || len > 0xFFFFFFFFu))
        err_set(&err, ERR_USAGE, "", "a watchpoint of %llu bytes", (unsigned long long)len);
    else
        return true;
    reply_err(s, &err, true);
    return false;
}

static const char refused[] = "request for a breakpoint or watchpoint";

/* Of Z1 GDB shows what stands behind a second point, "E.word.text"; of the others nothing. */
static void refuse_bp(struct session *s, enum bp_kind kind, const struct err *err)
{
    struct err named = *err;
    if (kind == BP_HARD)
        snprintf(named.what, sizeof named.what, "%s.%.160s", err_code_name(err->code), err->what);
    reply_err(s, &named, true);
}

/* Conditions and commands. Only breakpoints have them; GDB looks at watched values itself. */
static int parse_actions(const struct session *s, const char *p, struct breakpoint *bp,
                         struct err *err)
{
    if (*p && bp->kind > BP_HARD)
        return err_set(err, ERR_USAGE, "", "conditions of a watchpoint are GDB's");
    int ret = actions_parse(p, &bp->actions, err);
    if (ret >= 0 && bp->actions.commands && s->non_stop)
        return err_set(err, ERR_STATE, "set dprintf-style gdb",
                       "in non-stop mode GDB takes no text while the program runs");
    return ret;
}

void cmd_insert_bp(struct session *s, char *args, size_t len)
{
    struct breakpoint bp = { 0 };
    const char *rest;
    struct err err;
    (void)len;
    if (!parse_bp(s, args, &bp, &rest))
        return;
    int ret = parse_actions(s, rest, &bp, &err);
    if (ret >= 0)
        ret = moment_insert(s->stub, &bp, &err);
    if (ret >= 0) {
        if (s->stub->failed_request == refused)
            s->stub->failure.code = ERR_OK; /* what prevented it does not any more */
        reply_ok(s);
        return;
    }
    actions_fini(&bp.actions);
    if (bp.kind != BP_HARD) {
        session_keep_failure(s, refused, &err);
        s->stub->failure_passes = true;
    }
    refuse_bp(s, bp.kind, &err);
}

void cmd_remove_bp(struct session *s, char *args, size_t len)
{
    struct breakpoint bp = { 0 };
    const char *rest;
    struct err err;
    (void)len;
    if (!parse_bp(s, args, &bp, &rest))
        return;
    if (*rest)
        reply_usage(s, "type,address,kind expected");
    else if (moment_remove(s->stub, &bp, &err) < 0)
        reply_err(s, &err, true);
    else
        reply_ok(s);
}
