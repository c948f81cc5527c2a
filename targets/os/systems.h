/* What is known of operating systems' structures. Private to targets/os. */
#ifndef TARGETS_OS_SYSTEMS_H
#define TARGETS_OS_SYSTEMS_H

#include <stdint.h>

/* Members of a control block. */
enum tasks_member {
    MEMBER_NEXT,
    MEMBER_NUMBER,
    MEMBER_NAME,
    MEMBER_STACK,
    MEMBER_STACK_BYTES,
    TASKS_MEMBERS
};

/* Where they are, in bytes from the block's start. */
struct tasks_layout {
    const char *version; /* "2.2" */
    uint16_t at[TASKS_MEMBERS];
};

/* A system whose tasks are in one list, linked as BSD's LIST is: the next block, then the address
 * of the word that points to this one. Each symbol is looked up as it is named here, and with an
 * underscore in front. */
struct tasks_os {
    const char *name;
    const char *list;    /* the word that holds the first block */
    const char *current; /* the word that holds the running task's */
    const char
        *created; /* a word that changes whenever a task is created; the symbol may be missing */
    const char *type;                  /* the block's type in debug information */
    const char *member[TASKS_MEMBERS]; /* there */
    uint16_t name_bytes;               /* of the name's array */
    uint32_t ram_low, ram_high;        /* physical: where blocks and stacks may be */
    /* a word with the end of memory. The first task's stack ends there, whatever its block says;
     * NULL: no such word */
    const char *ram_top;
    uint32_t ram_top_default; /* the end of memory without that word */
    /* the first task's number, and how large its stack is at least */
    uint32_t first_number, first_bytes;
    const struct tasks_layout *layout; /* newest first; ends with a NULL version */
};

/* The table; ends with a NULL name. */
extern const struct tasks_os tasks_systems[];

#endif
