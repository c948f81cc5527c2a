/* Arrays that grow by one item at a time, and double their memory when they are full. */
#ifndef PROBE_BASE_ARRAY_H
#define PROBE_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* array_room - makes room for one more item
 * array   the address of the pointer to the items (NULL while there are none), which may move
 * n, cap  items there are, and items there is memory for
 * each    bytes of an item
 * Returns false if memory is out; nothing has changed then. */
bool array_room(void *array, size_t n, size_t *cap, size_t each);

#endif
