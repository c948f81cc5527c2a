/* termios2 has rates as numbers (BOTHER) and comes from the kernel's header, which cannot be
 * combined with <termios.h>. Source: linux ioctl_tty(2), TCGETS2, TCSETS2, TIOCEXCL, TIOCOUTQ;
 * linux/tty_flags.h, ASYNC_LOW_LATENCY. */
#include "probe/tty.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/serial.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/holder.h"
#include "probe/host_time.h"
#include "probe/stream_fd.h"

enum {
    RATE_PERCENT = 3,
    DRAIN_NS = 1000 * 1000 * 1000,
    FIFO_BITS = 10 * 64,
    STEP_NS = 1000 * 1000
};

static int in_use(const char *node, struct err *err)
{
    char who[80];
    if (holder_find("/proc", node, who, sizeof who) <= 0)
        strcpy(who, "another program");
    return err_set(err, ERR_USB, "end that program, or name another port", "%s is in use by %s",
                   node, who);
}

static int no_permission(const char *node, struct err *err)
{
    return err_set(err, ERR_USB,
                   "join the group that owns it: sudo usermod -aG dialout $USER, then log in again",
                   "%s may not be opened: %s", node, strerror(EACCES));
}

int tty_problem(const char *node, struct err *err)
{
    char who[80];
    if (access(node, R_OK | W_OK) < 0 && (errno == EACCES || errno == EPERM))
        return no_permission(node, err);
    if (holder_find("/proc", node, who, sizeof who))
        return in_use(node, err);
    return 0;
}

static void sleep_ns(long ns) { nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL); }

/* What was written has left: the driver's buffer is empty, and the UART's FIFO has had its time. */
static void drain_output(int fd, uint32_t baud)
{
    uint64_t until = host_ns() + DRAIN_NS;
    int left = 0;
    while (ioctl(fd, TIOCOUTQ, &left) == 0 && left > 0 && host_ns() < until)
        sleep_ns(STEP_NS);
    if (!baud)
        return;
    const uint64_t fifo_ns = (uint64_t)FIFO_BITS * 1000000000u / baud;
    sleep_ns((long)MIN(fifo_ns, (uint64_t)DRAIN_NS - 1));
}

static bool near_enough(uint32_t wanted, uint32_t got)
{
    uint32_t off = MAX(wanted, got) - MIN(wanted, got);
    return (uint64_t)off * 100 <= (uint64_t)wanted * RATE_PERCENT;
}

static int tty_failed(const char *name, struct err *err)
{
    const char *why = strerror(errno);
    if (errno == ENOTTY)
        why = "this is not a serial port";
    return err_set(err, ERR_USB, "name a serial port, for example /dev/ttyUSB0", "%s: %s", name,
                   why);
}

static int lock_failed(const char *name, struct err *err)
{
    if (errno == EWOULDBLOCK)
        return in_use(name, err);
    return tty_failed(name, err);
}

static int apply_settings(int fd, const char *name, const struct termios2 *t, struct termios2 *now,
                          struct err *err)
{
    if (ioctl(fd, TCSETS2, t) < 0 || ioctl(fd, TCGETS2, now) < 0)
        return tty_failed(name, err);
    return 0;
}

int tty_set_baud(int fd, const char *name, uint32_t baud, uint32_t *got, struct err *err)
{
    struct termios2 t, now;
    if (ioctl(fd, TCGETS2, &t) < 0)
        return tty_failed(name, err);
    struct termios2 before = t;
    drain_output(fd, t.c_ospeed);
    t.c_cflag = (t.c_cflag & ~(tcflag_t)(CBAUD | CBAUD << IBSHIFT)) | BOTHER;
    t.c_ispeed = t.c_ospeed = baud;
    int ret = apply_settings(fd, name, &t, &now, err);
    if (ret == 0 && !near_enough(baud, now.c_ospeed)) {
        ret = err_set(err, ERR_UNSUPPORTED,
                      "name a rate that both ends can do: 57600, 115200, 1500000",
                      "%s cannot do %u baud (it would do %u)", name, baud, now.c_ospeed);
        ioctl(fd, TCSETS2, &before);
    }
    if (ret == 0 && got)
        *got = now.c_ospeed;
    return ret;
}

static int make_raw(int fd, const char *name, bool rtscts, struct err *err)
{
    struct termios2 t, now;
    if (ioctl(fd, TCGETS2, &t) < 0)
        return tty_failed(name, err);
    t.c_iflag = IGNBRK | IGNPAR;
    t.c_oflag = 0;
    t.c_lflag = 0;
    t.c_cflag = (t.c_cflag & ~(tcflag_t)(CSIZE | CSTOPB | PARENB | CRTSCTS | HUPCL)) | CS8 | CREAD |
                CLOCAL | bits_if(rtscts, CRTSCTS);
    t.c_cc[VMIN] = 1;
    t.c_cc[VTIME] = 0;
    return apply_settings(fd, name, &t, &now, err);
}

/* An FTDI chip keeps what is less than a packet for 16 ms, which every short exchange would wait
 * for: 1 ms with this. Drivers and pseudo terminals without this setting refuse it or ignore it. */
static void set_low_latency(int fd)
{
    struct serial_struct s;
    if (ioctl(fd, TIOCGSERIAL, &s) < 0 || s.flags & ASYNC_LOW_LATENCY)
        return;
    s.flags |= ASYNC_LOW_LATENCY;
    ioctl(fd, TIOCSSERIAL, &s);
}

static int open_failed(const char *node, struct err *err)
{
    switch (errno) {
    case EACCES:
    case EPERM: return no_permission(node, err);
    case EBUSY: return in_use(node, err);
    case ENOENT:
    case ENXIO:
    case ENODEV:
        return err_set(err, ERR_USB,
                       "is it plugged in? `probeprof list` shows the ports that are there",
                       "%s is not there", node);
    default: return tty_failed(node, err);
    }
}

int tty_open(const char *node, uint32_t baud, bool rtscts, struct err *err)
{
    int fd = open(node, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC), ret = 0;
    if (fd < 0)
        return open_failed(node, err);
    /* TIOCEXCL keeps everybody out but root; the lock keeps out those who ask for it, root's
     * programs too. */
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        ret = lock_failed(node, err);
    if (ret == 0)
        ret = make_raw(fd, node, rtscts, err);
    if (ret == 0)
        ret = tty_set_baud(fd, node, baud, NULL, err);
    if (ret == 0 && (ioctl(fd, TIOCEXCL) < 0 || ioctl(fd, TCFLSH, TCIOFLUSH) < 0))
        ret = tty_failed(node, err);
    if (ret == 0) {
        set_low_latency(fd);
        return fd;
    }
    close(fd);
    return ret;
}
