/* Lists of adapters: for the drivers that fill them, and for whoever picks one. */
#include <stdlib.h>

#include "probe/adapter.h"

int adapter_list_add(struct adapter_list *list, const struct adapter *a, struct err *err)
{
    if (list->n == list->cap) {
        size_t cap = list->cap ? 2 * list->cap : 8;
        struct adapter *row =
            cap <= ADAPTER_LIST_MAX ? realloc(list->row, cap * sizeof *row) : NULL;
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
