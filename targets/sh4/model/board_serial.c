/* The host end of the SCIF's line: nothing, a pseudo terminal, or a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "targets/sh4/model/board_priv.h"

static int open_pty(struct board *b, const char *link, struct err *err)
{
    char name[64];
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || grantpt(fd) || unlockpt(fd) || ptsname_r(fd, name, sizeof name)) {
        int e = errno;
        if (fd >= 0)
            close(fd);
        return err_set(err, ERR_IO, "is /dev/pts mounted?", "serial=pty: %s", strerror(e));
    }
    b->serial_fd = fd;
    /* Kept open, so that the line survives a terminal program that comes and goes. */
    b->serial_peer = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct termios t;
    if (b->serial_peer >= 0 && !tcgetattr(b->serial_peer, &t)) {
        cfmakeraw(&t);
        tcsetattr(b->serial_peer, TCSANOW, &t);
    }
    log_msg(b->log, LOG_WIRE, "serial port at %s", name);
    if (!*link)
        return 0;
    unlink(link);
    if (symlink(name, link))
        return err_set(err, ERR_IO, "choose a path you may write to", "serial=pty:%s: %s", link, strerror(errno));
    snprintf(b->serial_link, sizeof b->serial_link, "%s", link);
    return 0;
}

int board_serial_open(struct board *b, struct err *err)
{
    const char *how = b->opt.serial;
    if (!*how || !strcmp(how, "none"))
        return 0;
    if (!strncmp(how, "pty", 3) && (!how[3] || how[3] == ':'))
        return open_pty(b, how[3] ? how + 4 : "", err);
    if (strncmp(how, "file:", 5) || !how[5])
        return err_set(err, ERR_USAGE, "serial=none, serial=pty[:LINK] or serial=file:PATH", "serial=%s?", how);
    b->serial_fd = open(how + 5, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (b->serial_fd < 0)
        return err_set(err, ERR_IO, "choose a path you may write to", "%s: %s", how, strerror(errno));
    return 0;
}

void board_serial_close(struct board *b)
{
    if (b->serial_fd >= 0)
        close(b->serial_fd);
    if (b->serial_peer >= 0)
        close(b->serial_peer);
    if (b->serial_link[0])
        unlink(b->serial_link);
}
