/* What files_client.c and files.c say to each other. */
#ifndef TESTS_USB_FILES_WIRE_H
#define TESTS_USB_FILES_WIRE_H

#include <stdint.h>

#define FILES_SOCKET  "USB_RIG_FILES" /* in the environment: where to connect */
#define FILES_LIBRARY "librig_files.so"

enum { FILES_OPEN, FILES_IOCTL, FILES_READ, FILES_WRITE, FILES_CLOSE, FILES_PATH = 64 };

struct files_call {
    uint32_t what;
    uint64_t code;         /* of ioctl */
    uint64_t address, len; /* in the caller: of ioctl the argument, of open this very struct */
    char path[FILES_PATH]; /* of open */
};
struct files_answer {
    int64_t result;
    int32_t error;
};

#endif
