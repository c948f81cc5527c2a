/* Files that are either whole or not there: written under another name, synced, then renamed. */
#ifndef PROFILER_CORE_FILE_ATOMIC_H
#define PROFILER_CORE_FILE_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/base/sink.h"

/* file_write_atomic - replace path by these bytes If path is a symbolic link, the file behind it is
 * replaced, or made, and the link stays. On failure (disk full, no permission) path is as it was
 * and nothing else stays. The file's directory is synced, too, so that the rename survives a power
 * cut. Returns 0 or -ERR_IO, -ERR_NOMEM. */
int file_write_atomic(const char *path, const uint8_t *data, size_t len, struct err *err);

/* The same for what is made piece by piece, in bounded memory. */
struct file_atomic;

/* file_atomic_open - nothing is at path until file_atomic_close(). Returns 0 or -ERR_IO,
 * -ERR_NOMEM. */
int file_atomic_open(const char *path, struct file_atomic **out, struct err *err);

/* file_atomic_add - n more bytes. A failure is kept for the end. */
void file_atomic_add(struct file_atomic *f, const void *data, size_t n);

/* file_atomic_sink - whatever writes text adds it; f is borrowed. */
struct text_sink file_atomic_sink(struct file_atomic *f);

/* file_atomic_close - frees f. keep: path is replaced, as by file_write_atomic(), unless something
 * has failed; else, and on failure, nothing stays. NULL is fine. Returns 0 or -ERR_IO. */
int file_atomic_close(struct file_atomic *f, bool keep, struct err *err);

/* file_replaceable - is path a file, or nothing yet? A rename would put a file where a device, a
 * pipe or a folder was, /dev/null for example. Returns 0 or -ERR_IO. */
int file_replaceable(const char *path, struct err *err);

/* file_writable - would file_write_atomic() get as far as writing? Makes its temporary file and
 * removes it. Returns 0 or what file_write_atomic() would. */
int file_writable(const char *path, struct err *err);

/* file_behind - where the symbolic links at path end; that file need not exist.
 * out   malloc()ed, caller frees; path itself if it is no link
 * Returns 0; -ERR_IO if they end nowhere, -ERR_NOMEM. */
int file_behind(const char *path, char **out, struct err *err);

/* file_same - do both names mean one file, there or not? */
bool file_same(const char *a, const char *b);

/* file_write_all - write() until done; 0 or -errno. */
int file_write_all(int fd, const uint8_t *data, size_t len);

/* file_keep_mode - fd, which is to replace path, gets the permissions of what is there; nothing
 * there: stays as it is. */
void file_keep_mode(int fd, const char *path);

/* file_sync_folder - the folder that path is in, so that a rename survives a power cut. Best
 * effort. */
void file_sync_folder(const char *path);

/* file_commit - fsync fd, rename temp to path, close fd (in every case) and sync the directory.
 * On failure temp stays. Returns 0 or -ERR_IO. */
int file_commit(int fd, const char *temp, const char *path, struct err *err);

/* file_read_all - a whole file into memory
 * limit   bytes; a larger file is -ERR_FORMAT
 * out     malloc()ed, caller frees
 * Returns 0; -ERR_NOT_FOUND, -ERR_IO, -ERR_NOMEM, -ERR_FORMAT. */
int file_read_all(const char *path, size_t limit, uint8_t **out, size_t *len, struct err *err);

#endif
