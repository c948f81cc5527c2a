/* Patches: TRAPA in the place of one of the program's instructions. */
#include "targets/sh4/driver/driver.h"
#include "probe/base/choice.h"

struct sh4_patch *sh4_patch_at(struct sh4_target *t, uint32_t addr)
{
    for (size_t i = 0; i < t->breaks.npatches; i++)
        if (sh4_canonical32(t->breaks.patch[i].addr) == sh4_canonical32(addr))
            return &t->breaks.patch[i];
    return NULL;
}

int sh4_patch_set(struct sh4_target *t, struct sh4_patch *p, bool in_memory, struct err *err)
{
    if (p->in_memory == in_memory)
        return 0;
    uint16_t insn = in_memory ? SH4_BREAK_INSN : p->orig;
    int ret = sh4_agent_write_code(t, p->addr, &insn, 1, err);
    if (ret == 0)
        p->in_memory = in_memory;
    return ret;
}

int sh4_patches_remove_all(struct sh4_target *t, struct err *err)
{
    int first = 0;
    for (size_t i = 0; i < t->breaks.npatches; i++) {
        int ret = sh4_patch_set(t, &t->breaks.patch[i], false, err_unless(first, err));
        if (ret < 0 && first == 0)
            first = ret;
    }
    t->breaks.npatches = 0;
    return first;
}
