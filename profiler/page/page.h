/* The files of the page that a browser shows, which are part of the program. */
#ifndef PROFILER_PAGE_PAGE_H
#define PROFILER_PAGE_PAGE_H

#include <stddef.h>

struct page_file {
    const char
        *name; /* below /assets/, with '/' between folders; "index.html" is also what / has */
    const char *type; /* for Content-Type */
    const char *etag; /* in its quotes, of the contents alone */
    const unsigned char *bytes;
    size_t size;
};

/* page_find - the file of that name; NULL if there is none. Constant data, good for ever. */
const struct page_file *page_find(const char *name);

/* page_files - all of them, by name
 * n   how many. */
const struct page_file *page_files(size_t *n);

#endif
