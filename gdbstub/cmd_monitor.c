/* qRcmd: `monitor` commands from three tables, the stub's own, the caller's and the target's. */
#include <stdio.h>
#include <string.h>

#include "gdbstub/commands.h"
#include "gdbstub/leave.h"
#include "gdbstub/reply.h"
#include "gdbstub/stub.h"
#include "probe/base/choice.h"
#include "probe/base/hex.h"
#include "probe/base/nearest.h"

enum { MAX_ARGS = 32, MAX_LINE = 1024 };

/* ---- output ---- */

/* Commands write small pieces; GDB gets what fits the buffer. */
struct monitor_out {
    struct session *s;
    char text[2048];
    size_t len;
    bool flushed;
};

static void monitor_flush(struct monitor_out *m)
{
    console_write(m->s, m->text, m->len);
    m->flushed |= m->len > 0;
    m->len = 0;
}

/* One line is the reply itself: GDB's own commands that ask by qRcmd (maintenance info bdccsr) want
 * it there. */
static bool is_one_line(const struct monitor_out *m)
{
    return !m->flushed && m->len && memchr(m->text, '\n', m->len) == m->text + m->len - 1;
}
static void reply_line(struct monitor_out *m)
{
    reply_begin(m->s);
    reply_hex(m->s, (const uint8_t *)m->text, m->len);
    reply_end(m->s);
}

static void monitor_write(void *ctx, const char *text, size_t len)
{
    struct monitor_out *m = ctx;
    while (len > 0) {
        size_t n = MIN(len, sizeof m->text - m->len);
        memcpy(m->text + m->len, text, n);
        m->len += n;
        text += n;
        len -= n;
        if (m->len == sizeof m->text)
            monitor_flush(m);
    }
}

/* ---- the stub's own words ---- */

static const struct monitor_command own[];

static const struct monitor_command *find_word(const struct monitor_command *table,
                                               const char *word)
{
    for (; table && table->name; table++)
        if (strcmp(table->name, word) == 0)
            return table;
    return NULL;
}

/* A word that is in two tables is the first one's; the other is not shown. */
static int run_help(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    const struct session *s = ctx;
    const struct monitor_command *const tables[] = { own, s->stub->cfg.monitor,
                                                     s->stub->ops->monitor };
    (void)argc;
    (void)argv;
    (void)err;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const struct monitor_command *c = tables[i]; c && c->name; c++)
            if ((i < 1 || !find_word(tables[0], c->name)) &&
                (i < 2 || !find_word(tables[1], c->name)))
                sink_printf(out, "%-38s %s\n", c->usage, c->help);
    return 0;
}

static int run_version(void *ctx, int argc, char **argv, const struct text_sink *out,
                       struct err *err)
{
    const struct session *s = ctx;
    (void)argc;
    (void)argv;
    (void)err;
    sink_printf(out, "%s, target %s\n", text_or(s->stub->cfg.version, "gdbstub"),
                s->stub->ops->name);
    return 0;
}

static int run_reset(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    struct session *s = ctx;
    bool run = argc == 2 && strcmp(argv[1], "run") == 0;
    /* init: a halt and a script in OpenOCD, for which there is no need here */
    bool halts = argc < 2 || strcmp(argv[1], "halt") == 0 || strcmp(argv[1], "init") == 0;
    if (argc > 2 || !(run || halts))
        return err_set(err, ERR_USAGE, "reset [halt|run]", "reset: %s is neither halt nor run",
                       argv[1]);
    if (s->stub->gone)
        return err_set(err, ERR_NO_TARGET, "check adapter, cable and power",
                       "the target does not answer");
    const char *done = "The target was reset and is halted; `maintenance flush register-cache` "
                       "shows its registers.\n";
    enum reset_mode mode = RESET_HALT;
    if (run) {
        done = "The target was reset and runs; `continue` waits for its next stop.\n";
        mode = RESET_RUN;
    }
    int ret = stub_reset(s->stub, mode, err);
    if (ret < 0)
        return ret;
    sink_printf(out, "%s", done);
    return 0;
}

static int run_fileio(void *ctx, int argc, char **argv, const struct text_sink *out,
                      struct err *err)
{
    struct stub *stub = ((struct session *)ctx)->stub;
    if (argc == 2 && strcmp(argv[1], "on") == 0 && stub->ops->semihosting)
        stub->fileio = true;
    else if (argc == 2 && strcmp(argv[1], "off") == 0)
        stub->fileio = false;
    else if (argc != 1 && stub->ops->semihosting)
        return err_set(err, ERR_USAGE, "fileio [on|off]", "fileio: on or off expected");
    else if (argc != 1)
        return err_set(err, ERR_UNSUPPORTED, "fileio [on|off]", "fileio: %s has no host I/O",
                       stub->ops->name);
    if (stub->fileio && !stub->semihosting)
        stub_set_semihosting(stub, true);
    if (stub->fileio)
        sink_printf(out, "File-I/O is on: the program can use files where GDB runs.\n");
    else
        sink_printf(out, "File-I/O is off.\n");
    return 0;
}

static int run_semihosting(void *ctx, int argc, char **argv, const struct text_sink *out,
                           struct err *err)
{
    struct stub *stub = ((struct session *)ctx)->stub;
    if (!stub->ops->semihosting)
        return err_set(err, ERR_UNSUPPORTED, "", "semihosting: %s has none", stub->ops->name);
    bool on = argc == 2 && strcmp(argv[1], "on") == 0;
    if (argc > 2 || (argc == 2 && !on && strcmp(argv[1], "off") != 0))
        return err_set(err, ERR_USAGE, "semihosting [on|off]", "semihosting: on or off expected");
    if (argc == 2) {
        int ret = stub->ops->semihosting(stub->t, on, err);
        if (ret < 0)
            return ret;
        stub->semihosting = on;
    }
    if (stub->semihosting)
        sink_printf(out, "The program's exit and host calls are handled.\n");
    else
        sink_printf(out, "The program's exit and host calls are left to the program.\n");
    return 0;
}

static int run_sessions(void *ctx, int argc, char **argv, const struct text_sink *out,
                        struct err *err)
{
    const struct session *me = ctx;
    unsigned n = 0;
    (void)argc;
    (void)argv;
    (void)err;
    for (const struct session *s = me->stub->sessions; s; s = s->next) {
        const char *does = "observes";
        if (s == me->stub->controller)
            does = "controls";
        sink_printf(out, "%u: %s%s%s\n", ++n, does, text_if(s->non_stop, ", non-stop"),
                    text_if(s == me, ", this one"));
    }
    return 0;
}

static int run_control(void *ctx, int argc, char **argv, const struct text_sink *out,
                       struct err *err)
{
    struct session *s = ctx;
    struct stub *stub = s->stub;
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "take") != 0))
        return err_set(err, ERR_USAGE, "control [take]", "control: %s is not take", argv[1]);
    struct err why;
    if (argc == 2 && stub->controller != s && stub_hand_over(stub, s, &why) < 0)
        sink_printf(out, "The other one's breakpoints stay for now: %s\n", why.what);
    if (stub->controller == s)
        sink_printf(out, "This GDB controls the target.\n");
    else
        sink_printf(out, "This GDB observes; `monitor control take`.\n");
    return 0;
}

static const struct monitor_command own[] = {
    { "help", "help", "this list", run_help },
    { "version", "version", "program and target", run_version },
    { "sessions", "sessions", "connected debuggers, and which one controls", run_sessions },
    { "control", "control [take]", "who controls; take it from the GDB that does", run_control },
    { "reset", "reset [halt|run]", "reset the target; halted is the default", run_reset },
    { "semihosting", "semihosting [on|off]", "handle the program's exit and host calls (on)",
      run_semihosting },
    { "fileio", "fileio [on|off]", "let the program use files where GDB runs (off)", run_fileio },
    { NULL, NULL, NULL, NULL },
};

/* ---- dispatch ---- */

/* Splits at blanks, "..." keeps them. Returns the number of words, -1 if there are too many. */
static int split_words(char *line, char **argv)
{
    int argc = 0;
    char *p = line;
    for (;;) {
        while (*p == ' ' || *p == '\t' || *p == '\n')
            p++;
        if (!*p)
            break;
        if (argc == MAX_ARGS)
            return -1;
        const char *ends = " \t\n";
        if (*p == '"') {
            ends = "\"";
            p++;
        }
        argv[argc++] = p;
        p += strcspn(p, ends);
        if (*p)
            *p++ = 0;
    }
    argv[argc] = NULL;
    return argc;
}

/* Words of other debuggers' servers (OpenOCD's manual, "General Commands"; J-Link's GDB server),
 * and what does the same here. */
static const char *known_elsewhere(const char *word)
{
    static const struct {
        const char *word, *here;
    } rows[] = {
        { "halt", "Ctrl-C, or interrupt in non-stop mode" },
        { "go", "continue" },
        { "resume", "continue" },
        { "step", "stepi" },
        { "mdw", "x/1xw ADDRESS" },
        { "mdh", "x/1xh ADDRESS" },
        { "mdb", "x/1xb ADDRESS" },
        { "memU32", "x/1xw ADDRESS" },
        { "memU16", "x/1xh ADDRESS" },
        { "memU8", "x/1xb ADDRESS" },
        { "mww", "set {int}ADDRESS = VALUE" },
        { "mwh", "set {short}ADDRESS = VALUE" },
        { "mwb", "set {char}ADDRESS = VALUE" },
        { "regs", "info registers, or monitor reg" },
        { "bp", "break or hbreak" },
        { "wp", "watch, rwatch or awatch" },
        { "program", "load" },
        { "load_image", "restore FILE binary ADDRESS" },
        { "speed", "--speed where probeprof is started; monitor version" },
        { "adapter", "--speed where probeprof is started; monitor version" },
        { "shutdown", "Ctrl-C where probeprof runs" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].word, word) == 0)
            return rows[i].here;
    return NULL;
}

static int no_such(const struct stub *stub, const char *word, struct err *err)
{
    const char *here = known_elsewhere(word);
    if (here)
        return err_set(err, ERR_NOT_FOUND, here, "no monitor command %s; here it is", word);
    const struct monitor_command *const tables[] = { own, stub->cfg.monitor, stub->ops->monitor };
    struct nearest near = { .wanted = word };
    char hint[NEAREST_TEXT];
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const struct monitor_command *c = tables[i]; c && c->name; c++)
            nearest_offer(&near, c->name);
    return err_set(err, ERR_NOT_FOUND,
                   nearest_text(&near, "monitor help lists them", hint, sizeof hint),
                   "no monitor command %s", word);
}

/* Words that an observer may use: they change nothing in the target, or who observes. */
static bool is_for_observers(const struct monitor_command *c)
{
    return c->run == run_help || c->run == run_version || c->run == run_sessions ||
           c->run == run_control;
}

static int run_line(struct session *s, char *line, const struct text_sink *out, struct err *err)
{
    struct stub *stub = s->stub;
    char *argv[MAX_ARGS + 1];
    int argc = split_words(line, argv);
    if (argc < 0)
        return err_set(err, ERR_USAGE, "", "more than %d words", MAX_ARGS);
    if (argc == 0)
        return run_help(s, 0, NULL, out, err);
    void *ctx = s;
    const struct monitor_command *c = find_word(own, argv[0]);
    if (!c && (c = find_word(stub->cfg.monitor, argv[0])))
        ctx = stub->cfg.monitor_ctx;
    if (!c && (c = find_word(stub->ops->monitor, argv[0])))
        ctx = stub->t;
    if (!c)
        return no_such(stub, argv[0], err);
    if (stub->controller != s && !is_for_observers(c))
        return err_set(err, ERR_STATE,
                       "it takes over when the other one leaves, or by monitor control take",
                       "another GDB controls the target, this one observes");
    /* what GDB sees is what the command finds */
    int ret = 0;
    if (!stub->gone)
        ret = stub_settle_breakpoints(stub, err);
    if (ret < 0)
        return ret;
    return c->run(ctx, argc, argv, out, err);
}

/* What a GDB shows that does not announce error-message (all up to 15) was tried with 13.1: of
 * E.text "Invalid hex digit 46", of Enn "Protocol error with Rcmd", and in both cases a front end
 * that asks for the output (interpreter-exec, gdb.execute) does not get it. Console text and then
 * OK is the only answer of which the words arrive everywhere. */
static void monitor_failed(struct session *s, struct monitor_out *m, const struct err *err)
{
    if (s->error_text) {
        reply_err(s, err, true);
        return;
    }
    const char *what = err->what[0] ? err->what : err_code_name(err->code);
    sink_printf(&(struct text_sink){ monitor_write, m }, "Error: %s%s%s\n", what,
                text_if(err->hint[0], "\n  "), err->hint);
    monitor_flush(m);
    reply_said(s, err);
}

void cmd_monitor(struct session *s, char *args, size_t len)
{
    char line[MAX_LINE + 1];
    struct err err = { .code = ERR_OK };
    struct monitor_out m = { .s = s };
    const struct text_sink out = { monitor_write, &m };
    if (len % 2 || len / 2 > MAX_LINE || !hex_decode((uint8_t *)line, args, len / 2)) {
        reply_usage(s, "qRcmd expects digits, at most 1024 characters");
        return;
    }
    line[len / 2] = 0;
    uint64_t dropped = s->out.dropped;
    bool has_more = s->stub->failure.code != ERR_OK;
    s->monitor_running = true;
    session_say_failure(s);
    int ret = run_line(s, line, &out, &err);
    bool line_only = ret >= 0 && !has_more && is_one_line(&m);
    if (!line_only)
        monitor_flush(&m);
    s->monitor_running = false;
    stub_forget_regs(s->stub); /* the command may have changed any */
    if (s->out.dropped > dropped)
        log_msg(s->stub->cfg.log, LOG_RSP, "monitor: %llu bytes of output did not fit",
                (unsigned long long)(s->out.dropped - dropped));
    if (ret < 0)
        monitor_failed(s, &m, &err);
    else if (line_only)
        reply_line(&m);
    else
        reply_ok(s);
}
