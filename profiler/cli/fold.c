#include "profiler/cli/fold.h"

#include <string.h>

enum { COLUMNS = 79 };

void fold(FILE *out, int indent, const char *text)
{
    int at = 0;
    for (const char *p = text; *p;) {
        int len = (int)strcspn(p, " ");
        if (at && at + 1 + len > COLUMNS) {
            fputc('\n', out);
            at = 0;
        }
        fprintf(out, "%*s%.*s", at ? 1 : indent, "", len, p);
        at += (at ? 1 : indent) + len;
        p += len;
        p += strspn(p, " ");
    }
    if (at)
        fputc('\n', out);
}
