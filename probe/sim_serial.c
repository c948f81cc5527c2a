#include "probe/sim_serial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

void sim_serial_init(struct sim_serial *s) { *s = (struct sim_serial){ .fd = -1, .peer = -1 }; }

/* What is there is such a link as this makes: nothing else is ever removed. */
static bool is_pty_link(const char *link)
{
    char to[64] = "";
    return readlink(link, to, sizeof to - 1) > 0 && !strncmp(to, "/dev/pts/", 9);
}

static int open_pty(struct sim_serial *s, const char *link, const struct log *log, struct err *err)
{
    char name[64];
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || grantpt(fd) || unlockpt(fd) || ptsname_r(fd, name, sizeof name)) {
        int e = errno;
        if (fd >= 0)
            close(fd);
        return err_set(err, ERR_IO, "is /dev/pts mounted?", "serial=pty: %s", strerror(e));
    }
    s->fd = fd;
    s->peer = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct termios t;
    if (s->peer >= 0 && !tcgetattr(s->peer, &t)) {
        cfmakeraw(&t);
        tcsetattr(s->peer, TCSANOW, &t);
    }
    log_msg(log, LOG_WIRE, "serial port at %s", name);
    if (!*link)
        return 0;
    if (is_pty_link(link)) /* of a board that was killed */
        unlink(link);
    if (strlen(link) >= sizeof s->link || symlink(name, link))
        return err_set(err, ERR_IO, "choose a short path you may write to", "serial=pty:%s: %s",
                       link, strerror(errno));
    strcpy(s->link, link);
    return 0;
}

int sim_serial_open(struct sim_serial *s, const char *how, const struct log *log, struct err *err)
{
    sim_serial_init(s);
    if (!*how || !strcmp(how, "none"))
        return 0;
    if (!strncmp(how, "pty", 3) && (!how[3] || how[3] == ':'))
        return open_pty(s, how[3] ? how + 4 : "", log, err);
    if (strncmp(how, "file:", 5) != 0 || !how[5])
        return err_set(err, ERR_USAGE, "serial=none, serial=pty[:LINK] or serial=file:PATH",
                       "serial=%s?", how);
    /* what is there stays */
    s->fd = open(how + 5, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (s->fd < 0)
        return err_set(err, ERR_IO, "choose a path you may write to", "%s: %s", how,
                       strerror(errno));
    return 0;
}

static void flush_output(struct sim_serial *s)
{
    ssize_t n = 0;
    if (s->out_len)
        n = write(s->fd, s->out, s->out_len);
    if (n <= 0)
        return; /* full for now; an error shows in `dropped` when the buffer runs over */
    memmove(s->out, s->out + n, s->out_len - (size_t)n);
    s->out_len -= (size_t)n;
}

void sim_serial_close(struct sim_serial *s)
{
    if (s->fd >= 0) {
        flush_output(s);
        close(s->fd);
    }
    if (s->peer >= 0)
        close(s->peer);
    if (s->link[0] && is_pty_link(s->link))
        unlink(s->link);
    sim_serial_init(s);
}

void sim_serial_put(struct sim_serial *s, uint8_t byte)
{
    if (s->fd < 0)
        return;
    if (s->out_len == sizeof s->out)
        s->dropped++;
    else
        s->out[s->out_len++] = byte;
    flush_output(s);
}

bool sim_serial_get(struct sim_serial *s, uint8_t *byte)
{
    return s->peer >= 0 && read(s->fd, byte, 1) == 1;
}

bool sim_serial_can_receive(const struct sim_serial *s) { return s->peer >= 0; }
