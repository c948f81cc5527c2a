/* Any text as a link map: what is refused names the file and says what to do; what is taken has its
 * sections by address, each with bytes, a name, an object and an alignment,
 * and they are found by their addresses. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/analyses/link_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_section(const struct link_map *m, size_t i)
{
    const struct link_section *s = &m->section[i];
    if (!s->size || !*s->name || !*s->object || !s->output || s->addr + (s->size - 1) < s->addr)
        abort();
    if (i && s[-1].addr > s->addr)
        abort();
    if (s->align < 2 || (s->align & (s->align - 1)))
        abort();
}

/* Where none lies over another, each address finds its own. */
static void check_finding(const struct link_map *m)
{
    for (size_t i = 1; i < m->nsections; i++)
        if (m->section[i - 1].addr + (m->section[i - 1].size - 1) >= m->section[i].addr)
            return;
    for (size_t i = 0; i < m->nsections; i++) {
        const struct link_section *s = &m->section[i];
        if (link_map_at(m, s->addr) != s || link_map_at(m, s->addr + (s->size - 1)) != s)
            abort();
        if (s->addr && link_map_at(m, s->addr - 1) == s)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct link_map m;
    struct err err = { .code = ERR_OK };
    int ret = link_map_parse((const char *)data, size, "f.map", &m, &err);
    if (ret < 0) {
        if (ret != -ERR_FORMAT || !*err.hint || strncmp(err.what, "f.map", 5) || m.nsections)
            abort();
        return 0;
    }
    for (size_t i = 0; i < m.nsections; i++)
        check_section(&m, i);
    for (size_t i = 0; i < m.nsymbols; i++)
        if (!*m.symbol[i].name)
            abort();
    check_finding(&m);
    link_map_fini(&m);
    return 0;
}
