#!/bin/bash
# The committed trace_blob.c must be what build_trace.sh makes of trace.S. Skipped (77) without cross binutils.
# usage: trace_blob.sh SOURCE_DIR
set -eu
agent=$1/targets/sh4/agent
command -v "${AS:-sh4-linux-gnu-as}" > /dev/null || { echo "no SH-4 cross assembler: skipped"; exit 77; }
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$agent/build_trace.sh" "$out"
diff -u "$agent/trace_blob.c" "$out"
# A PC-relative load in a delay slot raises slot-illegal on the target; the assembler does not say so.
obj=$(mktemp)
trap 'rm -f "$out" "$obj"' EXIT
for scif in 0 1; do
    "${AS:-sh4-linux-gnu-as}" -little -isa=sh4 --defsym SCIF=$scif -I"$agent" "$agent/trace.S" -o "$obj"
    bad=$("${OBJDUMP:-sh4-linux-gnu-objdump}" -d "$obj" | awk -F'\t' '
        delayed && ($3 ~ /^mova/ || $0 ~ /\tmov\.[lw]\t[0-9a-f]+ </) { print; n++ }
        { delayed = $3 ~ /^(bra|bsr|jmp|jsr|rts|rte|braf|bsrf|bt\.s|bf\.s)/ }')
    [ -z "$bad" ] || { echo "PC-relative instruction in a delay slot:"; echo "$bad"; exit 1; }
done
