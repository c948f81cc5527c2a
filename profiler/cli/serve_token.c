#include "profiler/cli/serve_token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOKEN_BYTES = 16, OTHERS = 077 };

static const char what_hint[] =
    "head -c 16 /dev/urandom | base64 > FILE; chmod 600 FILE makes a good one";

static int check_mode(int fd, const char *path, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_USAGE, what_hint, "http-token-file %s is no file", path);
    if (st.st_mode & OTHERS)
        return err_set(err, ERR_USAGE, "chmod 600 it", "http-token-file %s: others may read it",
                       path);
    return 0;
}

static int check_text(const char *token, const char *path, struct err *err)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~+/=";
    size_t n = strlen(token);
    if (n < GUARD_LEAST_TOKEN || strspn(token, plain) != n)
        return err_set(err, ERR_USAGE, what_hint,
                       "http-token-file %s: its first line is no token of 22 characters or more",
                       path);
    return 0;
}

int token_read(const char *path, char *token, struct err *err)
{
    char text[HTTP_TOKEN_TEXT] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_set(err, ERR_NOT_FOUND, what_hint, "http-token-file %s: %s", path,
                       strerror(errno));
    int ret = check_mode(fd, path, err);
    if (ret == 0 && read(fd, text, sizeof text - 1) < 0)
        ret = err_set(err, ERR_IO, "look at it", "http-token-file %s: %s", path, strerror(errno));
    close(fd);
    text[strcspn(text, "\r\n")] = 0;
    if (ret == 0)
        ret = check_text(text, path, err);
    if (ret == 0)
        strcpy(token, text);
    return ret;
}

int token_make(char *token, struct err *err)
{
    uint8_t bits[TOKEN_BYTES];
    if (getrandom(bits, sizeof bits, 0) != sizeof bits)
        return err_set(err, ERR_IO, "give one by --http-token-file FILE",
                       "feed: the system has no random numbers for a token");
    for (size_t i = 0; i < sizeof bits; i++)
        snprintf(token + 2 * i, 3, "%02x", bits[i]);
    return 0;
}
