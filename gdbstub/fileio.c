/* Host I/O of the program: its calls become F packets that GDB carries out where GDB runs.
 * The numbers are those of newlib's simulator system calls; open flags, whence and errno values of
 * newlib and of the protocol are the same. Source: GDB manual, "File-I/O Remote Protocol
 * Extension". */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gdbstub/commands.h"
#include "gdbstub/fileio.h"
#include "gdbstub/hits.h"
#include "gdbstub/reply.h"
#include "gdbstub/stop_reply.h"
#include "gdbstub/stub.h"

enum {
    SYS_READ = 3,
    SYS_WRITE = 4,
    SYS_OPEN = 5,
    SYS_CLOSE = 6,
    SYS_UNLINK = 10,
    SYS_LSEEK = 19,
    SYS_ISATTY = 21,
    SYS_TIME = 23
};
enum {
    PATH_LIMIT = 1024,
    ERRNO_EINTR = 4,
    ERRNO_EFAULT = 14,
    ERRNO_ENOSYS = 88,
    CONSOLE_MAX = 16384
};

/* Length of the string at addr with its NUL, 0 if there is none within the limit. */
static size_t path_length(struct session *s, uint32_t addr)
{
    struct err err;
    for (size_t n = 0; n < PATH_LIMIT; n += 16) {
        if (s->stub->ops->read_mem(s->stub->t, addr + n, 1, s->scratch, 16, &err) < 0)
            return 0;
        const uint8_t *nul = memchr(s->scratch, 0, 16);
        if (nul)
            return n + (size_t)(nul - s->scratch) + 1;
    }
    return 0;
}

static bool put_path_call(struct session *s, const char *name, const uint32_t *arg, const char *fmt)
{
    size_t len = path_length(s, arg[0]);
    if (len == 0)
        return false;
    reply_begin(s);
    reply_printf(s, "%s,%x/%zx", name, arg[0], len);
    if (fmt)
        reply_printf(s, ",%x,%x", arg[1], arg[2]);
    reply_end(s);
    return true;
}

static bool put_call(struct session *s, const char *name, const uint32_t *arg, unsigned nargs)
{
    reply_begin(s);
    reply_printf(s, "%s", name);
    for (unsigned i = 0; i < nargs; i++)
        reply_printf(s, ",%x", arg[i]);
    reply_end(s);
    return true;
}

static bool ask_gdb(struct session *s, uint32_t number, const uint32_t *arg)
{
    switch (number) {
    case SYS_READ: return put_call(s, "Fread", arg, 3);
    case SYS_WRITE: return put_call(s, "Fwrite", arg, 3);
    case SYS_OPEN: return put_path_call(s, "Fopen", arg, "flags");
    case SYS_CLOSE: return put_call(s, "Fclose", arg, 1);
    case SYS_UNLINK: return put_path_call(s, "Funlink", arg, NULL);
    case SYS_LSEEK: return put_call(s, "Flseek", arg, 3);
    case SYS_ISATTY: return put_call(s, "Fisatty", arg, 1);
    default: return false;
    }
}

/* Does what needs no files: text for the console, the time. Returns whether it was done. */
static bool settle_here(struct session *s, uint32_t number, const uint32_t *arg, int64_t *result,
                        int32_t *error)
{
    struct err err;
    if (number == SYS_TIME) {
        *result = (int64_t)time(NULL);
        *error = 0;
        return true;
    }
    if (number != SYS_WRITE || arg[0] < 1 || arg[0] > 2)
        return false;
    size_t n = MIN(arg[2], CONSOLE_MAX);
    if (n > 0 && s->stub->ops->read_mem(s->stub->t, arg[1], 0, s->scratch, n, &err) < 0) {
        *result = -1;
        *error = ERRNO_EFAULT;
        return true;
    }
    if (session_hears(s))
        console_write(s, (const char *)s->scratch, n);
    *result = (int64_t)n;
    *error = 0;
    return true;
}

bool fileio_request(struct session *s, const struct target_stop *stop, int64_t *result,
                    int32_t *error)
{
    const uint32_t *arg = stop->syscall.arg;
    *result = -1;
    *error = ERRNO_ENOSYS;
    /* The F packet stands in for a stop reply, so it needs a GDB that waits for one, and has not
     * got a request yet. */
    bool may_ask = s->state == SESSION_RESUMED || s->state == SESSION_INTERRUPTED;
    if (s->stub->fileio && may_ask && ask_gdb(s, stop->syscall.number, arg)) {
        session_event(s, SESSION_ON_FILE_ASKED);
        return true;
    }
    settle_here(s, stop->syscall.number, arg, result, error);
    return false;
}

static bool parse_signed(const char **p, int64_t *out)
{
    uint64_t n;
    bool minus = **p == '-';
    *p += minus;
    if (!rsp_number(p, &n))
        return false;
    *out = minus ? -(int64_t)(n & INT64_MAX) : (int64_t)(n & INT64_MAX);
    return true;
}

static void finish_call(struct session *s, int64_t result, int32_t error, bool interrupted)
{
    struct stub *stub = s->stub;
    struct err err = { .code = ERR_OK };
    if (stub->ops->state(stub->t) != TARGET_HALTED) /* the call was lost; GDB waits for a stop */
        return;
    int ret = stub->ops->syscall_return(stub->t, result, error, &err);
    stub_forget_regs(stub);
    stub->last_stop.reason = STOP_NONE;
    interrupted = interrupted || s->state == SESSION_INTERRUPTED || stub->purpose == HALT_USER;
    if (ret >= 0 && !interrupted && stub->last_resume.kind != RESUME_STEP)
        ret = hits_go_on(stub, &err);
    else if (ret >= 0)
        ret = 0;
    if (ret > 0)
        return;
    if (ret < 0 && session_say(s, err.what))
        session_say(s, "\n");
    halt_event(stub, HALT_ON_OVER);
    if (stub->last_stop.reason == STOP_NONE) {
        stub->last_stop.reason = STOP_STEP;
        if (interrupted)
            stub->last_stop.reason = STOP_REQUEST;
        stub->last_stop.signal = 5;
        if (interrupted)
            stub->last_stop.signal = 2;
    }
    for (struct session *each = stub->sessions; each; each = each->next)
        stop_reply_tell(each);
}

/* "FRETCODE[,ERRNO[,C]]" */
void cmd_fileio_reply(struct session *s, char *args, size_t len)
{
    const char *p = args;
    int64_t result, error = 0;
    (void)len;
    if (s->state != SESSION_FILE_IO && s->state != SESSION_FILE_IO_INTERRUPTED) {
        /* A stop has crossed it. F has no reply: GDB would take one for that of its next packet. */
        log_msg(s->stub->cfg.log, LOG_RSP, "session %u: F comes too late", s->number);
        return;
    }
    if (!parse_signed(&p, &result) || (*p == ',' && (p++, !parse_signed(&p, &error)))) {
        reply_usage(s, "F without a result");
        return;
    }
    bool interrupted = strncmp(p, ",C", 2) == 0;
    session_event(s, SESSION_ON_FILE_ANSWERED);
    finish_call(s, result, (int32_t)error, interrupted);
}
