/* The decoded code, which is kept by address, and what becomes of it when memory changes. */
#include <stdlib.h>

#include "targets/sim/s12z/cpu.h"

enum { PAGE = 1 << BUS_PAGE_BITS, ADDRESS = 0xFFFFFF };

void cpu_forget(struct s12z_cpu *c, uint32_t addr, size_t n)
{
    uint32_t first = 0;
    if (addr >= S12Z_MAX_LENGTH - 1)
        first = addr - (S12Z_MAX_LENGTH - 1);
    for (uint32_t a = first; a < addr + n && a <= ADDRESS; a++) {
        struct cpu_page *p = c->page[a >> BUS_PAGE_BITS];
        if (p)
            p->insn[a & (PAGE - 1)].fn = NULL;
        else
            a |= PAGE - 1;
    }
}

void cpu_hide(struct s12z_cpu *c, uint32_t page, bool hide)
{
    if (hide && c->page[page]) {
        c->hidden[page] = c->page[page];
        c->page[page] = NULL;
    } else if (!hide && c->hidden[page]) {
        free(c->page[page]);
        c->page[page] = c->hidden[page];
        c->hidden[page] = NULL;
    }
}

void cpu_count(const struct s12z_cpu *c, uint32_t pc, uint64_t *executed, uint64_t *taken)
{
    const struct cpu_page *p = c->page[pc >> BUS_PAGE_BITS];
    const struct cpu_insn *u = NULL;
    if (p)
        u = &p->insn[pc & (PAGE - 1)];
    *executed = u ? u->executed : 0;
    *taken = u ? u->taken : 0;
}
