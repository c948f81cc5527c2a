#!/bin/bash
# Rebuilds the agent from its source and compares with what is committed. usage: agent_blob.sh SOURCE_DIR
set -eu
for tool in sh4-linux-gnu-as sh4-linux-gnu-ld sh4-linux-gnu-nm sh4-linux-gnu-objcopy; do
    command -v $tool >/dev/null || { echo "SKIP: no $tool (Debian: binutils-sh4-linux-gnu)"; exit 77; }
done
new=$(mktemp)
trap 'rm -f "$new"' EXIT
"$1/targets/sh4/agent/build.sh" "$new"
diff -u "$1/targets/sh4/agent/agent_blob.c" "$new" || { echo "agent_blob.c is stale: run targets/sh4/agent/build.sh"; exit 1; }
echo "agent_blob.c is what kernel.S gives"
