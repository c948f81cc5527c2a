/* S12Z instructions for listings. */
#include "targets/insn.h"

#include "targets/s12z/isa/isa.h"
#include "targets/s12z/s12z.h"

static const uint8_t flows[] = {
    [S12Z_FLOW_NEXT] = INSN_NEXT,
    [S12Z_FLOW_BRANCH] = INSN_BRANCH,
    [S12Z_FLOW_JUMP] = INSN_JUMP,
    [S12Z_FLOW_CALL] = INSN_CALL,
    [S12Z_FLOW_JUMP_IND] = INSN_JUMP_INDIRECT,
    [S12Z_FLOW_CALL_IND] = INSN_CALL_INDIRECT,
    [S12Z_FLOW_RETURN] = INSN_RETURN,
    [S12Z_FLOW_RTI] = INSN_HANDLER_RETURN,
    [S12Z_FLOW_TRAP] = INSN_TRAP,
};

size_t s12z_insn_text(const uint8_t *code, size_t avail, uint64_t pc, bool big_endian,
                      struct insn *out)
{
    struct s12z_insn i;
    (void)big_endian; /* there is no other S12Z */
    int n = s12z_decode(code, avail, (uint32_t)pc, &i);
    if (n <= 0)
        return 0;
    *out = (struct insn){ .bytes = (unsigned)n, .flow = (enum insn_flow)flows[i.flow] };
    out->has_target =
        i.flow == S12Z_FLOW_BRANCH || i.flow == S12Z_FLOW_JUMP || i.flow == S12Z_FLOW_CALL;
    out->target = 0;
    if (out->has_target)
        out->target = i.target;
    s12z_format(&i, (uint32_t)pc, out->text, sizeof out->text);
    return (size_t)n;
}
