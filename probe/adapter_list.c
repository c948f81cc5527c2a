/* Lists of adapters, which drivers fill. */
#include <stdlib.h>

#include "probe/adapter.h"
#include "probe/base/choice.h"

int adapter_list_add(struct adapter_list *list, const struct adapter *a, struct err *err)
{
    if (list->n == list->cap) {
        size_t cap = EITHER(2 * list->cap, 8);
        struct adapter *row = NULL;
        if (cap <= ADAPTER_LIST_MAX)
            row = realloc(list->row, cap * sizeof *row);
        if (!row)
            return err_set(err, ERR_NOMEM, "", "more than %zu adapters", list->n);
        list->row = row;
        list->cap = cap;
    }
    list->row[list->n++] = *a;
    return 0;
}

void adapter_list_free(struct adapter_list *list)
{
    if (!list)
        return;
    free(list->row);
    *list = (struct adapter_list){ 0 };
}
