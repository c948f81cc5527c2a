/* Nodes under /dev that the rig answers for: what a program does with one comes here, as to a
 * driver of the kernel.
 *
 * A library in the program (files_client.c) sends each call through a socket and waits; arguments
 * are fetched from the program's memory, and results put there, by process_vm_readv(2) and its
 * twin. (umockdev can forward such calls, too: through a main loop and four messages each, which
 * was most of the time that the tests took.) poll() is not forwarded: the node itself is a
 * terminal, which its owner makes ready. */
#ifndef TESTS_USB_FILES_H
#define TESTS_USB_FILES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/base/err.h"

/* One opening of a node; lives until closed() returns. */
struct file {
    struct file_node *node;
    struct files *files;
    int fd;
    pid_t pid;
    size_t at; /* where it reads: its owner's */
};

/* Called with the lock held, by a thread of the file. Each call but opened and closed is answered
 * once, by file_answer(), before it returns or later. */
struct file_ops {
    void (*opened)(void *ctx, struct file *f);
    void (*closed)(void *ctx, struct file *f); /* nothing may be answered any more */
    void (*ioctl)(void *ctx, struct file *f, unsigned long code, uint64_t arg);
    void (*read)(void *ctx, struct file *f, uint64_t to, size_t len);
    void (*write)(void *ctx, struct file *f, uint64_t from, size_t len);
};

struct file_node {
    struct file_node *next;
    const char *path;
    const struct file_ops *ops;
    void *ctx;
};

struct files {
    pthread_mutex_t *lock; /* borrowed */
    struct file_node *nodes;
    uint64_t calls; /* answered: programs are not idle while this moves */
    int listener;
    char path[108];
};

/* files_start - takes programs' calls from now on, at a socket in the folder, whose name files.path
 * is (for FILES_SOCKET of their environment). */
int files_start(struct files *s, const char *folder, pthread_mutex_t *lock, struct err *err);
void files_stop(struct files *s); /* no more openings; what is open ends with its program */

/* files_add - calls to n->path are n's from now on; with the lock held. n is borrowed for good: a
 * program may hold it open. */
void files_add(struct files *s, struct file_node *n);

/* The answer to the call that f's program waits in: result, or -1 and an errno. With the lock held.
 */
void file_answer(struct file *f, long result, int e);

/* n bytes of the program's memory, from or to its address `at`. Returns 0, or EFAULT (also when the
 * program has ended). */
int file_get(const struct file *f, uint64_t at, void *to, size_t n);
int file_put(const struct file *f, uint64_t at, const void *from, size_t n);

#endif
