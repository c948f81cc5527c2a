#include "targets/insn.h"

#include <stdio.h>
#include <string.h>

const char *insn_columns(const struct insn *i, char *buf, size_t cap)
{
    const char *tab = strchr(i->text, '\t');
    if (tab && tab[1])
        snprintf(buf, cap, "%-7.*s %s", (int)(tab - i->text), i->text, tab + 1);
    else
        snprintf(buf, cap, "%.*s", (int)strcspn(i->text, "\t"), i->text);
    return buf;
}
