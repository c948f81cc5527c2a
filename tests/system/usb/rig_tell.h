/* For programs that run in the rig: its commands (usb_rig --tell) while they run. */
#ifndef TESTS_USB_RIG_TELL_H
#define TESTS_USB_RIG_TELL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* rig_tell - "unplug", "strike stall 2", ...; answer: what follows "ok", may be NULL. Returns 0, -1
 * refused. Needs usb_rig --control. */
static inline int rig_tell(const char *command, char *answer, size_t cap)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    char text[128] = "";
    const char *path = getenv("USB_RIG_CONTROL");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path ? path : "");
    ssize_t n = -1;
    if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0 &&
        write(fd, command, strlen(command)) > 0)
        n = read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n < 2 || strncmp(text, "ok", 2) != 0)
        return -1;
    if (answer)
        snprintf(answer, cap, "%s", text + 2 + strspn(text + 2, " "));
    return 0;
}

#endif
