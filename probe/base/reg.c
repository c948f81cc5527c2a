#include "probe/base/reg.h"

#include <stdio.h>

char *reg_text(const struct reg_field *fields, size_t nfields, uint32_t value, int digits,
               char *buf, size_t cap)
{
    int used = snprintf(buf, cap, "%0*x", digits, (unsigned)value);
    for (size_t i = 0; i < nfields && used >= 0 && (size_t)used < cap; i++) {
        uint32_t v = (value & REG_BITS(fields[i].msb, fields[i].lsb)) >> fields[i].lsb;
        if (!v)
            continue;
        if (fields[i].msb == fields[i].lsb)
            used += snprintf(buf + used, cap - (size_t)used, " %s", fields[i].name);
        else
            used += snprintf(buf + used, cap - (size_t)used, " %s=%x", fields[i].name, (unsigned)v);
    }
    return buf;
}
