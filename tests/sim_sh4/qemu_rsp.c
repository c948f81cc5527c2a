#include "tests/sim_sh4/qemu_rsp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"

enum { CHUNK_BYTES = 1984, TIMEOUT_MS = 20000 };

bool qemu_present(bool big)
{
    return system(big ? "command -v qemu-system-sh4eb >/dev/null 2>&1"
                      : "command -v qemu-system-sh4 >/dev/null 2>&1") == 0;
}

static int fail_with(struct qemu *q, const char *what)
{
    snprintf(q->error, sizeof q->error, "%s%s%s", what, errno ? ": " : "",
             errno ? strerror(errno) : "");
    return -1;
}

static void exec_qemu(const char *gdb_option, bool big)
{
    const char *name = big ? "qemu-system-sh4eb" : "qemu-system-sh4";
    int null = open("/dev/null", O_RDWR);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that is killed leaves no qemu behind */
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    execlp(name, name, "-M", "r2d", "-display", "none", "-monitor", "none", "-serial", "null", "-S",
           "-gdb", gdb_option, (char *)NULL);
    _exit(127);
}

static int connect_stub(struct qemu *q, const char *path)
{
    struct sockaddr_un sa = { .sun_family = AF_UNIX };
    snprintf(sa.sun_path, sizeof sa.sun_path, "%s", path);
    for (int i = 0; i < 6000; i++) {
        int status;
        if (waitpid(q->pid, &status, WNOHANG) == q->pid) {
            q->pid = 0;
            errno = 0;
            return fail_with(q, "qemu ended at once");
        }
        q->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(q->fd, (struct sockaddr *)&sa, sizeof sa) == 0)
            return 0;
        close(q->fd);
        q->fd = -1;
        nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    }
    return fail_with(q, "no connection to qemu's GDB stub");
}

static int read_packet(struct qemu *q, char *out, size_t cap, int timeout_ms)
{
    for (;;) {
        q->in[q->in_len] = 0;
        char *start = memchr(q->in, '$', q->in_len);
        char *end = start ? memchr(start, '#', q->in_len - (size_t)(start - q->in)) : NULL;
        if (end && (size_t)(end + 3 - q->in) <= q->in_len) {
            size_t len = MIN((size_t)(end - start - 1), cap - 1), used = (size_t)(end + 3 - q->in);
            memcpy(out, start + 1, len);
            out[len] = 0;
            memmove(q->in, q->in + used, q->in_len - used);
            q->in_len -= used;
            return write(q->fd, "+", 1) == 1 ? (int)len : fail_with(q, "write");
        }
        struct pollfd p = { .fd = q->fd, .events = POLLIN };
        errno = 0;
        if (poll(&p, 1, timeout_ms) <= 0)
            return fail_with(q, "qemu does not answer");
        ssize_t n = read(q->fd, q->in + q->in_len, sizeof q->in - 1 - q->in_len);
        if (n <= 0)
            return fail_with(q, "qemu closed the connection");
        q->in_len += (size_t)n;
    }
}

static int send_packet(struct qemu *q, const char *body)
{
    static const char hex[] = "0123456789abcdef";
    char buf[2 * CHUNK_BYTES + 64];
    uint8_t sum = 0;
    size_t n = strlen(body);
    if (n + 4 > sizeof buf)
        return fail_with(q, "packet too long");
    buf[0] = '$';
    for (size_t i = 0; i < n; i++) {
        buf[1 + i] = body[i];
        sum = (uint8_t)(sum + (uint8_t)body[i]);
    }
    buf[n + 1] = '#';
    buf[n + 2] = hex[sum >> 4];
    buf[n + 3] = hex[sum & 15];
    return write(q->fd, buf, n + 4) == (ssize_t)(n + 4) ? 0 : fail_with(q, "write");
}

static int ask_qemu(struct qemu *q, const char *body, char *out, size_t cap)
{
    return send_packet(q, body) ? -1 : read_packet(q, out, cap, TIMEOUT_MS);
}

static int ask_ok(struct qemu *q, const char *body)
{
    char out[16];
    if (ask_qemu(q, body, out, sizeof out) < 0)
        return -1;
    errno = 0;
    return strcmp(out, "OK") == 0 ? 0 : fail_with(q, "qemu refused a packet");
}

int qemu_start(struct qemu *q, bool big)
{
    char option[96], path[64], reply[256];
    memset(q, 0, sizeof *q);
    q->fd = -1;
    q->big = big;
    strcpy(q->dir, "/tmp/sh4-qemu-XXXXXX");
    if (!mkdtemp(q->dir))
        return fail_with(q, "mkdtemp");
    snprintf(path, sizeof path, "%s/gdb", q->dir);
    snprintf(option, sizeof option, "unix:%s,server=on,wait=off", path);
    q->pid = fork();
    if (q->pid < 0)
        return fail_with(q, "fork");
    if (q->pid == 0)
        exec_qemu(option, big);
    if (connect_stub(q, path) || ask_qemu(q, "qSupported:vContSupported+", reply, sizeof reply) < 0)
        return -1;
    errno = 0;
    return strstr(reply, "PacketSize=") ? 0 : fail_with(q, "qemu's stub gives no PacketSize");
}

void qemu_stop(struct qemu *q)
{
    char path[64];
    if (q->fd >= 0)
        close(q->fd);
    if (q->pid > 0) {
        kill(q->pid, SIGKILL);
        waitpid(q->pid, NULL, 0);
    }
    q->pid = 0;
    q->fd = -1;
    if (q->dir[0]) {
        snprintf(path, sizeof path, "%s/gdb", q->dir);
        unlink(path);
        rmdir(q->dir);
    }
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int from_hex(struct qemu *q, const char *text, uint8_t *out, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        int hi = hex_value(text[2 * i]), lo = hi < 0 ? -1 : hex_value(text[2 * i + 1]);
        errno = 0;
        if (lo < 0)
            return fail_with(q, "short or bad hex from qemu");
        out[i] = (uint8_t)(hi << 4 | lo);
    }
    return 0;
}

static void to_hex(const uint8_t *data, size_t len, char *out)
{
    for (size_t i = 0; i < len; i++)
        sprintf(out + 2 * i, "%02x", data[i]);
}

int qemu_write_mem(struct qemu *q, uint32_t addr, const uint8_t *data, size_t len)
{
    char buf[2 * CHUNK_BYTES + 40];
    while (len) {
        size_t n = MIN(len, (size_t)CHUNK_BYTES);
        int at = sprintf(buf, "M%x,%zx:", addr, n);
        to_hex(data, n, buf + at);
        if (ask_ok(q, buf))
            return -1;
        addr += (uint32_t)n;
        data += n;
        len -= n;
    }
    return 0;
}

int qemu_read_mem(struct qemu *q, uint32_t addr, uint8_t *data, size_t len)
{
    char cmd[40], buf[2 * CHUNK_BYTES + 8];
    while (len) {
        size_t n = MIN(len, (size_t)CHUNK_BYTES);
        sprintf(cmd, "m%x,%zx", addr, n);
        if (ask_qemu(q, cmd, buf, sizeof buf) < 0 || from_hex(q, buf, data, n))
            return -1;
        addr += (uint32_t)n;
        data += n;
        len -= n;
    }
    return 0;
}

int qemu_read_regs(struct qemu *q, uint32_t regs[QEMU_NREGS])
{
    char buf[1024];
    uint8_t raw[QEMU_NREGS * 4];
    if (ask_qemu(q, "g", buf, sizeof buf) < 0 || from_hex(q, buf, raw, sizeof raw))
        return -1;
    for (int i = 0; i < QEMU_NREGS; i++)
        regs[i] = get32(raw + 4 * i, q->big);
    return 0;
}

int qemu_write_regs(struct qemu *q, const uint32_t regs[QEMU_NREGS])
{
    char buf[1 + QEMU_NREGS * 8 + 1] = "G";
    uint8_t raw[QEMU_NREGS * 4];
    for (int i = 0; i < QEMU_NREGS; i++)
        put32(raw + 4 * i, regs[i], q->big);
    to_hex(raw, sizeof raw, buf + 1);
    return ask_ok(q, buf);
}

int qemu_break(struct qemu *q, uint32_t addr)
{
    char buf[40];
    sprintf(buf, "Z0,%x,2", addr);
    return ask_ok(q, buf);
}

static int stop_reply(struct qemu *q, int timeout_ms)
{
    char out[256];
    if (read_packet(q, out, sizeof out, timeout_ms) < 0)
        return -1;
    errno = 0;
    return out[0] == 'T' || out[0] == 'S' ? 0 : fail_with(q, "qemu gave no stop reply");
}

int qemu_continue(struct qemu *q, int timeout_ms)
{
    if (send_packet(q, "vCont;c"))
        return -1;
    if (stop_reply(q, timeout_ms) == 0)
        return 0;
    if (write(q->fd, "\003", 1) == 1)
        stop_reply(q, TIMEOUT_MS);
    errno = 0;
    return fail_with(q, "the program did not reach its end in qemu");
}

int qemu_step(struct qemu *q) { return send_packet(q, "vCont;s") ? -1 : stop_reply(q, TIMEOUT_MS); }
