#include "probe/base/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* bytes in whole pages, and the fences; 0: more than there can be. */
static size_t mapped_bytes(size_t bytes, size_t page)
{
    bool fits = bytes <= SIZE_MAX - 3 * page;
    if (fits)
        return (bytes + page - 1) / page * page + 2 * page;
    return 0;
}

void *pages_new(size_t bytes)
{
    size_t page = page_bytes(), all = mapped_bytes(bytes, page);
    if (!all)
        return NULL;
    uint8_t *fence = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fence == MAP_FAILED)
        return NULL;
    if (mprotect(fence + page, all - 2 * page, PROT_READ | PROT_WRITE) != 0) {
        munmap(fence, all);
        return NULL;
    }
    return fence + page;
}

void pages_free(void *at, size_t bytes)
{
    size_t page = page_bytes();
    if (at)
        munmap((uint8_t *)at - page, mapped_bytes(bytes, page));
}
