/* For a program in the rig (LD_PRELOAD, before umockdev's): what it does with nodes of USB devices
 * goes to the rig (files.h). */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/system/usb/files_wire.h"

enum { DESCRIPTORS = 4096 };

/* By descriptor of a node: its connection, and whose it is (a child of fork() has copies, and must
 * not speak on them). */
static struct {
    int to;
    pid_t pid;
} node[DESCRIPTORS];

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int real_close(int fd)
{
    static int (*next)(int);
    if (!next)
        next = NEXT(close);
    return next(fd);
}

static bool is_node(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS && node[fd].pid != 0 && node[fd].pid == getpid();
}

static int64_t ask_rig(int to, const struct files_call *c)
{
    struct files_answer a;
    ssize_t n = send(to, c, sizeof *c, MSG_NOSIGNAL);
    while (n > 0 && (n = recv(to, &a, sizeof a, 0)) < 0 && errno == EINTR)
        n = 1;
    if (n != sizeof a) { /* the rig has ended */
        errno = ENODEV;
        return -1;
    }
    if (a.error)
        errno = a.error;
    return a.result;
}

static int connect_node(const char *path)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    struct files_call c = { .what = FILES_OPEN };
    int to = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    strncpy(a.sun_path, getenv(FILES_SOCKET), sizeof a.sun_path - 1);
    strncpy(c.path, path, sizeof c.path - 1);
    c.address = (uintptr_t)&c;
    if (to >= 0 && connect(to, (struct sockaddr *)&a, sizeof a) == 0 && ask_rig(to, &c) == 0)
        return to;
    int e = errno;
    if (to >= 0)
        real_close(to);
    errno = e;
    return -1;
}

/* fd: of what was opened at path. Returns it, or -1. */
static int take_opened(int fd, const char *path)
{
    bool ours = strncmp(path, "/dev/bus/usb/", 13) == 0 || strncmp(path, "/dev/hidraw", 11) == 0;
    if (fd < 0 || fd >= DESCRIPTORS || !ours || !getenv(FILES_SOCKET))
        return fd;
    int to = connect_node(path);
    if (to < 0) {
        int e = errno;
        real_close(fd);
        errno = e;
        return -1;
    }
    node[fd].to = to;
    node[fd].pid = getpid();
    return fd;
}

static mode_t mode_of(int flags, va_list args)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

#define OPEN(name)                                               \
    int name(const char *path, int flags, ...)                   \
    {                                                            \
        va_list args;                                            \
        va_start(args, flags);                                   \
        mode_t mode = mode_of(flags, args);                      \
        va_end(args);                                            \
        return take_opened(NEXT(name)(path, flags, mode), path); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                  \
    int name(int dir, const char *path, int flags, ...)               \
    {                                                                 \
        va_list args;                                                 \
        va_start(args, flags);                                        \
        mode_t mode = mode_of(flags, args);                           \
        va_end(args);                                                 \
        return take_opened(NEXT(name)(dir, path, flags, mode), path); \
    }
OPENAT(openat)
OPENAT(openat64)

/* With _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
ssize_t __read_chk(int fd, void *to, size_t len, size_t size);
int __open_2(const char *path, int flags) { return take_opened(NEXT(__open_2)(path, flags), path); }
int __open64_2(const char *path, int flags)
{
    return take_opened(NEXT(__open64_2)(path, flags), path);
}

int close(int fd)
{
    if (is_node(fd)) {
        struct files_call c = { .what = FILES_CLOSE };
        int to = node[fd].to;
        node[fd].pid = 0;
        ask_rig(to, &c);
        real_close(to);
    }
    return real_close(fd);
}

int ioctl(int fd, unsigned long code, ...)
{
    static __typeof__(&ioctl) next;
    va_list args;
    va_start(args, code);
    void *arg = va_arg(args, void *);
    va_end(args);
    if (is_node(fd))
        return (int)ask_rig(
            node[fd].to,
            &(struct files_call){ .what = FILES_IOCTL, .code = code, .address = (uintptr_t)arg });
    if (!next)
        next = NEXT(ioctl);
    return next(fd, code, arg);
}

ssize_t read(int fd, void *to, size_t len)
{
    static __typeof__(&read) next;
    if (is_node(fd))
        return ask_rig(node[fd].to, &(struct files_call){
                                        .what = FILES_READ, .address = (uintptr_t)to, .len = len });
    if (!next)
        next = NEXT(read);
    return next(fd, to, len);
}

ssize_t __read_chk(int fd, void *to, size_t len, size_t size)
{
    return len <= size ? read(fd, to, len) : (errno = EINVAL, -1);
}

ssize_t write(int fd, const void *from, size_t len)
{
    static __typeof__(&write) next;
    if (is_node(fd))
        return ask_rig(
            node[fd].to,
            &(struct files_call){ .what = FILES_WRITE, .address = (uintptr_t)from, .len = len });
    if (!next)
        next = NEXT(write);
    return next(fd, from, len);
}
