/* C++ names for people. The library is told to stop where a name is longer than anybody reads:
 * substitutions repeat what stands before them, and a symbol of 260 bytes can mean gigabytes.
 * libstdc++'s __cxa_demangle() has no such way out. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "profiler/core/symbols.h"

enum { NAME_MOST = 4096 };

struct name {
    char text[NAME_MOST];
    size_t len;
    jmp_buf enough; /* the library keeps what it needs on the stack: it can be left from here */
};

static void take_text(const char *text, size_t len, void *ctx)
{
    struct name *n = ctx;
    if (len >= sizeof n->text - n->len)
        longjmp(n->enough, 1);
    memcpy(n->text + n->len, text, len);
    n->len += len;
}

char *symbol_demangle(const char *name)
{
    struct name n;
    if (name[0] != '_' || name[1] != 'Z')
        return NULL; /* it would take "i" for a type */
    n.len = 0;
    if (setjmp(n.enough) ||
        !cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_TYPES, take_text, &n))
        return NULL;
    return strndup(n.text, n.len);
}
