/* For a program on a disk that takes long (LD_PRELOAD): SLOW_DISK_MS passes before each fsync comes
 * back. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int fsync(int fd)
{
    const char *text = getenv("SLOW_DISK_MS");
    long ms = text ? atol(text) : 0;
    struct timespec left = { ms / 1000, ms % 1000 * 1000000 };
    while (nanosleep(&left, &left) < 0) {
    }
    return (int)syscall(SYS_fsync, fd);
}
