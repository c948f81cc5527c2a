#include "tests/system/usb/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/system/usb/files_wire.h"

int file_get(const struct file *f, uint64_t at, void *to, size_t n)
{
    struct iovec here = { to, n }, there = { (void *)(uintptr_t)at, n };
    return process_vm_readv(f->pid, &here, 1, &there, 1, 0) == (ssize_t)n ? 0 : EFAULT;
}

int file_put(const struct file *f, uint64_t at, const void *from, size_t n)
{
    struct iovec here = { (void *)(uintptr_t)from, n }, there = { (void *)(uintptr_t)at, n };
    return process_vm_writev(f->pid, &here, 1, &there, 1, 0) == (ssize_t)n ? 0 : EFAULT;
}

void file_answer(struct file *f, long result, int e)
{
    struct files_answer a = { e ? -1 : result, e };
    f->files->calls++;
    if (send(f->fd, &a, sizeof a, MSG_NOSIGNAL) < 0)
        return; /* the program has ended: its thread here learns it next */
}

void files_add(struct files *s, struct file_node *n)
{
    n->next = s->nodes;
    s->nodes = n;
}

static struct file_node *find_node(const struct files *s, const char *path)
{
    for (struct file_node *n = s->nodes; n; n = n->next)
        if (strcmp(n->path, path) == 0)
            return n;
    return NULL;
}

static int open_node(struct file *f, const struct files_call *c)
{
    uint32_t first;
    if (file_get(f, c->address, &first, sizeof first)) {
        fprintf(stderr,
                "usb_rig: cannot read the memory of process %d: %s; sandboxes and ptrace_scope 2 "
                "forbid it\n",
                (int)f->pid, strerror(errno));
        return EPERM;
    }
    f->node = find_node(f->files, c->path);
    if (!f->node)
        return ENODEV;
    f->node->ops->opened(f->node->ctx, f);
    return 0;
}

/* Returns whether the file stays open. */
static bool do_call(struct file *f, const struct files_call *c)
{
    if (!f->node) {
        file_answer(f, 0, open_node(f, c));
        return f->node != NULL;
    }
    switch (c->what) {
    case FILES_IOCTL: f->node->ops->ioctl(f->node->ctx, f, c->code, c->address); return true;
    case FILES_READ: f->node->ops->read(f->node->ctx, f, c->address, c->len); return true;
    case FILES_WRITE: f->node->ops->write(f->node->ctx, f, c->address, c->len); return true;
    default: return false;
    }
}

static void *serve_file(void *ctx)
{
    struct file *f = ctx;
    struct files_call c;
    bool open = true, told = false;
    while (open && recv(f->fd, &c, sizeof c, 0) == sizeof c) {
        c.path[FILES_PATH - 1] = 0;
        pthread_mutex_lock(f->files->lock);
        open = do_call(f, &c);
        told = !open && f->node;
        pthread_mutex_unlock(f->files->lock);
    }
    pthread_mutex_lock(f->files->lock);
    if (f->node)
        f->node->ops->closed(f->node->ctx, f);
    if (told)
        file_answer(f, 0, 0); /* as the kernel's: closed when close() returns */
    pthread_mutex_unlock(f->files->lock);
    close(f->fd);
    free(f);
    return NULL;
}

static void *take_clients(void *ctx)
{
    struct files *s = ctx;
    for (;;) {
        struct ucred who;
        socklen_t size = sizeof who;
        pthread_t thread;
        int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
        struct file *f = fd < 0 ? NULL : calloc(1, sizeof *f);
        if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
            return NULL; /* files_stop() */
        if (!f || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0) {
            close(fd);
            free(f);
            continue;
        }
        *f = (struct file){ .files = s, .fd = fd, .pid = who.pid };
        if (pthread_create(&thread, NULL, serve_file, f) == 0) {
            pthread_detach(thread);
            continue;
        }
        close(fd);
        free(f);
    }
}

int files_start(struct files *s, const char *folder, pthread_mutex_t *lock, struct err *err)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    pthread_t thread;
    if (snprintf(s->path, sizeof s->path, "%s/files", folder) >= (int)sizeof s->path)
        return err_set(err, ERR_IO, "set TMPDIR to a shorter one",
                       "%s: too long a path for a socket", folder);
    strcpy(a.sun_path, s->path);
    s->lock = lock;
    s->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&a, sizeof a) < 0 ||
        listen(s->listener, 64) < 0 || pthread_create(&thread, NULL, take_clients, s) != 0)
        return err_set(err, ERR_IO, "", "%s: %s", s->path, strerror(errno));
    pthread_detach(thread);
    return 0;
}

void files_stop(struct files *s)
{
    shutdown(s->listener, SHUT_RDWR); /* wakes accept() */
    unlink(s->path);
}
