/* C++ names for people. The library is stopped where a name gets too long to read: substitutions
 * repeat earlier parts, and a symbol of 260 bytes can stand for gigabytes. libstdc++'s
 * __cxa_demangle() cannot be stopped. */
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
