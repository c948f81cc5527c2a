#!/usr/bin/env bash
# Runs the recorded single steps of folder NAME where they are: $PROBEPROF_TESTDATA, beside this source or the clone it is a worktree of, or the cache.
# usage: single_step.sh RUNNER NAME      exit 77: nowhere (said)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
clone=$(git -C "$top" rev-parse --path-format=absolute --git-common-dir 2>/dev/null) || clone=$top/.git
for data in ${PROBEPROF_TESTDATA:+"$PROBEPROF_TESTDATA"} "$top/../shared/testdata" "$clone/../../shared/testdata" "${XDG_CACHE_HOME:-$HOME/.cache}/probeprof/testdata"; do
    [ ! -d "$data/$2" ] || exec "$1" "$data/$2" --verbose
done
echo "skipped: no folder $2 (records of SingleStepTests/sh4; PROBEPROF_TESTDATA names the folder it is in)"
exit 77
