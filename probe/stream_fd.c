#include "probe/stream_fd.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/host_time.h"

enum { FLUSH_READS = 256, FLUSH_BYTES = 4096 };

void stream_fd_close(struct stream_fd *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

static int report_gone(struct stream_fd *s, const char *name, int error, struct err *err)
{
    const char *why = "the connection is lost";
    if (error)
        why = strerror(error);
    else if (s->fd >= 0)
        why = "the other end closed the connection";
    stream_fd_close(s);
    return err_set(err, ERR_USB,
                   "is it plugged in, and the other end alive? it is looked for again and again",
                   "%s: %s", name, why);
}

/* After a read() or write() that moved nothing; the end of a connection is no failure. */
static int report_end(struct stream_fd *s, const char *name, ssize_t n, struct err *err)
{
    if (n < 0)
        return report_gone(s, name, errno, err);
    return report_gone(s, name, 0, err);
}

/* Whether `events` came before the deadline: 1, 0, or a failure. */
static int wait_ready(struct stream_fd *s, const char *name, short events, uint64_t until,
                      struct err *err)
{
    struct pollfd p = { .fd = s->fd, .events = events };
    for (;;) {
        uint64_t now = host_ns(), left = EXCESS(until, now);
        const struct timespec t = { .tv_sec = (time_t)(left / 1000000000u),
                                    .tv_nsec = (long)(left % 1000000000u) };
        int n = ppoll(&p, 1, &t, NULL);
        if (n >= 0)
            return n;
        if (errno != EINTR)
            return report_gone(s, name, errno, err);
    }
}

/* A read that found nothing: a terminal that hung up gives 0, a socket gives 0 at its end. */
static bool is_nothing(ssize_t n)
{
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

static uint64_t deadline_of(uint64_t max_ns)
{
    uint64_t now = host_ns();
    if (max_ns > UINT64_MAX - now)
        return UINT64_MAX;
    return now + max_ns;
}

int stream_fd_read(struct stream_fd *s, const char *name, uint8_t *buf, size_t cap, uint64_t max_ns,
                   struct err *err)
{
    uint64_t until = deadline_of(max_ns);
    if (s->fd < 0)
        return report_gone(s, name, 0, err);
    for (;;) {
        ssize_t n = read(s->fd, buf, cap);
        if (n > 0) {
            s->received += (uint64_t)n;
            s->transfers++;
            return (int)n;
        }
        if (!is_nothing(n))
            return report_end(s, name, n, err);
        int ret = wait_ready(s, name, POLLIN, until, err);
        if (ret <= 0)
            return ret;
    }
}

int stream_fd_write(struct stream_fd *s, const char *name, const uint8_t *buf, size_t len,
                    uint64_t max_ns, struct err *err)
{
    uint64_t until = deadline_of(max_ns);
    if (s->fd < 0)
        return report_gone(s, name, 0, err);
    while (len) {
        ssize_t n = write(s->fd, buf, len);
        if (n > 0) {
            s->sent += (uint64_t)n;
            s->transfers++;
            buf += n;
            len -= (size_t)n;
            continue;
        }
        if (!is_nothing(n))
            return report_end(s, name, n, err);
        int ret = wait_ready(s, name, POLLOUT, until, err);
        if (ret < 0)
            return ret;
        if (ret == 0)
            return err_set(err, ERR_TIMEOUT,
                           "is flow control wanted that nobody answers? is the other end alive?",
                           "%s: %zu bytes could not be sent in time", name, len);
    }
    return 0;
}

int stream_fd_flush(struct stream_fd *s, const char *name, struct err *err)
{
    uint8_t scrap[FLUSH_BYTES];
    int ret = 1;
    for (int i = 0; ret > 0 && i < FLUSH_READS; i++)
        ret = stream_fd_read(s, name, scrap, sizeof scrap, 0, err);
    return MIN(ret, 0);
}
