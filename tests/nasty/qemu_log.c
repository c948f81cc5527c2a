#include "tests/nasty/qemu_log.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

bool qemu_log_present(void)
{
    return system("command -v qemu-system-sh4 >/dev/null 2>&1 && command -v qemu-system-sh4eb "
                  ">/dev/null 2>&1") == 0;
}

/* program, flash: files that hold code and rom. */
static void exec_qemu(const char *program, const struct asm_prog *code, const char *flash,
                      const struct asm_prog *rom, int log, int registers)
{
    const char *qemu = code->big ? "qemu-system-sh4eb" : "qemu-system-sh4";
    char load[128], load_rom[128], start[64];
    int null = open("/dev/null", O_RDWR);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("LD_PRELOAD", QEMU_BUFFERED, 1);
    dup2(null, 0);
    dup2(registers, 1);
    dup2(log, 2); /* where the log goes without -D: a pipe, so nothing is written to a disk */
    snprintf(load, sizeof load, "loader,file=%s,addr=0x%x,force-raw=on", program,
             (unsigned)code->origin);
    snprintf(load_rom, sizeof load_rom, "loader,file=%s,addr=0x%x,force-raw=on", flash,
             (unsigned)rom->origin & 0x1FFFFFFF);
    snprintf(start, sizeof start, "loader,addr=0x%x,cpu-num=0", (unsigned)code->origin);
    execlp(qemu, qemu, "-M", "r2d", "-display", "none", "-monitor", "none", "-serial", "null",
           "-singlestep", "-d", "exec,cpu,nochain", "-device", load, "-device", start,
           rom->len ? "-device" : (char *)NULL, load_rom, (char *)NULL);
    _exit(127);
}

static bool write_program(char *path, const uint8_t *code, size_t bytes)
{
    int fd = mkstemp(path);
    bool ok = fd >= 0 && write(fd, code, bytes) == (ssize_t)bytes;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Its log says the instructions; qemu 7.2 prints R0-R15 of the same dump to its standard output
 * instead. So two streams, in step by number. */
struct stream {
    int fd;
    char buf[16384];
    size_t len, n; /* n: steps told so far */
};

static void take_line(struct qemu_log *log, struct stream *st, const char *line)
{
    unsigned a, b;
    /* before the instruction that was told last: an interrupt is asked for; it is told again */
    if (st->n && !strncmp(line, "Stopped execution", 17))
        log->stopped[st->n - 1] = true;
    if (st->n == QEMU_LOG_MAX_STEPS)
        return;
    if (sscanf(line, "pc=%x", &a) == 1) {
        log->steps[st->n++].pc = a;
    } else if (sscanf(line, "r8=%x", &a) == 1) {
        log->steps[st->n].r8 = a;
    } else if (sscanf(line, "r12=%*x r13=%*x r14=%*x r15=%x", &b) == 1) {
        log->steps[st->n++].sp = b;
    }
}

/* False at the stream's end. */
static bool take_some(struct qemu_log *log, struct stream *st)
{
    ssize_t n = read(st->fd, st->buf + st->len, sizeof st->buf - 1 - st->len);
    if (n <= 0)
        return false;
    st->len += (size_t)n;
    st->buf[st->len] = 0;
    char *line = st->buf, *end;
    while ((end = strchr(line, '\n'))) {
        *end = 0;
        take_line(log, st, line);
        line = end + 1;
    }
    st->len = (size_t)(st->buf + st->len - line);
    memmove(st->buf, line, st->len);
    return true;
}

static void read_both(struct qemu_log *log, struct stream *says, struct stream *registers)
{
    bool open[2] = { true, true };
    while ((open[0] || open[1]) && says->n < QEMU_LOG_MAX_STEPS) {
        struct pollfd p[2] = { { open[0] ? says->fd : -1, POLLIN, 0 },
                               { open[1] ? registers->fd : -1, POLLIN, 0 } };
        if (poll(p, 2, 300000) <= 0)
            return;
        if (p[0].revents)
            open[0] = take_some(log, says);
        if (p[1].revents)
            open[1] = take_some(log, registers);
    }
}

/* Returns how many are left. */
static size_t drop_stopped(struct qemu_log *log, size_t known)
{
    size_t n = 0;
    for (size_t i = 0; i < known; i++)
        if (!log->stopped[i])
            log->steps[n++] = log->steps[i];
    return n;
}

static bool find_end(struct qemu_log *log, size_t known, uint32_t end)
{
    for (size_t i = 0; i < known; i++)
        if (log->steps[i].pc == end) {
            log->n = i;
            log->result = log->steps[i].r8;
            return true;
        }
    return false;
}

bool qemu_log_run(struct qemu_log *log, const struct asm_prog *code, const struct asm_prog *rom,
                  uint32_t end)
{
    char path[] = "/tmp/nastyXXXXXX", flash[] = "/tmp/nastyXXXXXX";
    int says[2], registers[2];
    memset(log, 0, sizeof *log);
    log->steps = calloc(QEMU_LOG_MAX_STEPS, sizeof *log->steps);
    log->stopped = calloc(QEMU_LOG_MAX_STEPS, sizeof *log->stopped);
    if (!log->steps || !log->stopped || !write_program(path, code->code, code->len) ||
        !write_program(flash, rom->code, rom->len) || pipe(says) < 0 || pipe(registers) < 0) {
        snprintf(log->why, sizeof log->why, "no memory, file or pipe");
        return false;
    }
    pid_t pid = fork();
    if (pid == 0)
        exec_qemu(path, code, flash, rom, says[1], registers[1]);
    close(says[1]);
    close(registers[1]);
    struct stream s = { .fd = says[0] }, r = { .fd = registers[0] };
    read_both(log, &s, &r);
    close(says[0]);
    close(registers[0]);
    s.n = drop_stopped(log, s.n < r.n ? s.n : r.n);
    bool ok = find_end(log, s.n, end);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    unlink(path);
    unlink(flash);
    size_t k = 0;
    while (k + 1 < s.n && log->steps[k + 1].pc - code->origin < code->len)
        k++;
    if (!ok)
        snprintf(log->why, sizeof log->why,
                 "qemu: the program did not reach its end in %u instructions; within it until "
                 "number %u at %08x",
                 (unsigned)s.n, (unsigned)k, (unsigned)log->steps[k].pc);
    return ok;
}

void qemu_log_free(struct qemu_log *log)
{
    free(log->steps);
    free(log->stopped);
    log->steps = NULL;
    log->stopped = NULL;
}
