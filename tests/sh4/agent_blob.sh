#!/bin/bash
# Rebuilds the agent from its source and compares with what is committed. usage: agent_blob.sh SOURCE_DIR
set -eu
for tool in sh4-linux-gnu-as sh4-linux-gnu-ld sh4-linux-gnu-nm sh4-linux-gnu-objcopy; do
    command -v $tool >/dev/null || { echo "SKIP: no $tool (Debian: binutils-sh4-linux-gnu)"; exit 77; }
done
new=$(mktemp) obj=$(mktemp)
trap 'rm -f "$new" "$obj"' EXIT
"$1/targets/sh4/agent/build.sh" "$new"
diff -u "$1/targets/sh4/agent/agent_blob.c" "$new" || { echo "agent_blob.c is stale: run targets/sh4/agent/build.sh"; exit 1; }
# A PC-relative load in a delay slot raises slot-illegal on the target; the assembler does not say so.
for layout in "ASE=1 --defsym SCIF=0" "ASE=0 --defsym SCIF=0" "ASE=0 --defsym SCIF=1" "ASE=0 --defsym SCIF=2"; do
    sh4-linux-gnu-as -little -isa=sh4 --defsym $layout "$1/targets/sh4/agent/kernel.S" -o "$obj"
    bad=$(sh4-linux-gnu-objdump -d "$obj" | awk -F'\t' '
        delayed && ($3 ~ /^mova/ || $0 ~ /\tmov\.[lw]\t[0-9a-f]+ </) { print; n++ }
        { delayed = $3 ~ /^(bra|bsr|jmp|jsr|rts|rte|braf|bsrf|bt\.s|bf\.s)/ }')
    [ -z "$bad" ] || { echo "PC-relative instruction in a delay slot:"; echo "$bad"; exit 1; }
done
echo "agent_blob.c is what kernel.S gives"
