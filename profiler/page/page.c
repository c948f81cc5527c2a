#include "profiler/page/page.h"

#include <string.h>

#include "profiler/page/table.h"

const struct page_file *page_files(size_t *n)
{
    *n = page_table_len;
    return page_table;
}

const struct page_file *page_find(const char *name)
{
    for (size_t i = 0; i < page_table_len; i++)
        if (strcmp(page_table[i].name, name) == 0)
            return &page_table[i];
    return NULL;
}
