/* What is known of operating systems' structures. Private to targets/os. */
#ifndef TARGETS_OS_SYSTEMS_H
#define TARGETS_OS_SYSTEMS_H

#include <stdbool.h>
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

/* Registers that a system saves, in runs: `count` of them from `at` on, in bytes from the start of
 * what is saved. With a count above 1 their names have a number: "r0". */
enum { SAVED_RUNS = 12, SAVED_WORDS = 64 };
struct tasks_saved {
    const char *name;   /* as GDB has it; NULL: there are no more */
    const char *member; /* in debug information */
    uint16_t count, at;
};

/* Where they are, in bytes from the block's start. */
struct tasks_layout {
    const char *version; /* "2.2" */
    uint16_t at[TASKS_MEMBERS];
    /* of the registers of a task that does not run; saved NULL: not known */
    uint16_t context;
    const struct tasks_saved *saved;
};

enum tasks_shape {
    /* one list, linked as BSD's LIST is: the next block, then the address of the word that points
     * to this one */
    TASKS_BSD_LIST,
    TASKS_FREERTOS, /* a list for each priority and for each state (freertos.c) */
};

/* Each symbol is looked up as it is named here, and with an underscore in front. */
struct tasks_os {
    const char *name;
    enum tasks_shape shape;
    const char *list;    /* the word that holds the first block, or the first list */
    const char *current; /* the word that holds the running task's */
    const char *started; /* a word that is not 0 while tasks run; NULL: no such word */
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
    /* the member of the block that has the registers, and its type, in debug information; NULL:
     * they are not known */
    const char *context, *context_type;
    /* Whether what was saved of register `name` is its value. saved() gives a register's word. */
    bool (*holds)(const char *name, uint32_t (*saved)(const void *ctx, const char *name),
                  const void *ctx);
};

/* The table; ends with a NULL name. */
extern const struct tasks_os tasks_systems[];

#endif
