#include "profiler/cli/fold.h"

#include <string.h>

#include "probe/base/text.h"

enum { COLUMNS = 79 };

void fold(FILE *out, const char *head, const char *text)
{
    int width = (int)strlen(head), at = 0;
    for (const char *p = text + strspn(text, " "); *p; p += strspn(p, " ")) {
        int len = (int)strcspn(p, " ");
        if (at && at + 1 + len > COLUMNS) {
            fputc('\n', out);
            head = "";
            at = 0;
        }
        if (at)
            text_print(out, " %.*s", len, p);
        else
            text_print(out, "%-*s%.*s", width, head, len, p);
        at += (at ? 1 : width) + len;
        p += len;
    }
    if (at)
        fputc('\n', out);
}
