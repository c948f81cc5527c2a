/* Intrusive lists, whose items are added and removed in any order. An item has two members,
 * `struct x *next, **at`: the item that follows, and the pointer that points to this one. */
#ifndef PROBE_BASE_LIST_H
#define PROBE_BASE_LIST_H

/* LIST_ADD - puts `one` in front; head is the address of the pointer to the first. */
#define LIST_ADD(head, one)                 \
    do {                                    \
        (one)->next = *(head);              \
        (one)->at = (head);                 \
        if ((one)->next)                    \
            (one)->next->at = &(one)->next; \
        *(head) = (one);                    \
    } while (0)

/* LIST_REMOVE - takes `one` out of the list it is in. */
#define LIST_REMOVE(one)                 \
    do {                                 \
        *(one)->at = (one)->next;        \
        if ((one)->next)                 \
            (one)->next->at = (one)->at; \
    } while (0)

#endif
