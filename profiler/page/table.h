/* What embed.cmake makes when the program is built. */
#ifndef PROFILER_PAGE_TABLE_H
#define PROFILER_PAGE_TABLE_H

#include "profiler/page/page.h"

extern const struct page_file page_table[]; /* by name */
extern const size_t page_table_len;

#endif
