#include "probe/base/array.h"
#include "probe/base/choice.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ITEMS = 64 };

bool array_room(void *array, size_t n, size_t *cap, size_t each)
{
    void *items;
    if (n < *cap)
        return true;
    size_t more = EITHER(2 * *cap, FIRST_ITEMS);
    memcpy(&items, array, sizeof items); /* whatever its type, a pointer to an object looks so */
    items = reallocarray(items, more, each);
    if (!items)
        return false;
    memcpy(array, &items, sizeof items);
    *cap = more;
    return true;
}
