#include "probe/base/reg.h"

#include <stdio.h>

char *reg_text(const struct reg_field *fields, size_t nfields, uint32_t value, int digits,
               char *buf, size_t cap)
{
    int used = snprintf(buf, cap, "%0*x", digits, (unsigned)value);
    for (size_t i = 0; i < nfields && used >= 0 && (size_t)used < cap; i++) {
        const struct reg_field *f = &fields[i];
        const uint32_t v = (value & REG_BITS(f->msb, f->lsb)) >> f->lsb;
        char *at = buf + used;
        const size_t room = cap - (size_t)used;
        if (!v)
            continue;
        if (f->msb == f->lsb)
            used += snprintf(at, room, " %s", f->name);
        else
            used += snprintf(at, room, " %s=%x", f->name, (unsigned)v);
    }
    return buf;
}
