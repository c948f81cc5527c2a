#!/usr/bin/env bash
# The C sources are as .clang-format has them. Not code for boards, whose committed ELFs are what their
# sources give to the line, nor what is generated.
# usage: check_format.sh SOURCE_DIR      exit 0 clean, 1 with findings (file:line of each), 77 without clang-format
#        to mend: clang-format -i FILE
set -u
cd "$1" || exit 1
command -v clang-format >/dev/null || { echo "skipped: clang-format is not installed"; exit 77; }
mapfile -d '' files < <(find probe targets gdbstub profiler tests \( -path tests/programs -o -path tests/kos/threads.c -o -path tests/gdbstub/gdb -o -name 'probeprof_*.h' -o -name '*_blob.c' \) -prune \
                             -o -name '*.[ch]' -print0)
[ ${#files[@]} -gt 300 ] || { echo "only ${#files[@]} files found"; exit 1; }
# it must be able to fail
printf 'int  f( void ){return 0;}\n' | clang-format --dry-run -Werror --assume-filename=probe/x.c 2>/dev/null && { echo "self-test: anything passes"; exit 1; }
printf '%s\0' "${files[@]}" | xargs -0 -n 60 clang-format --dry-run -Werror 2>&1 | grep 'clang-formatted' | sed 's/ error: code should be.*/ is not as .clang-format has it/'
findings=${PIPESTATUS[2]}
echo "${#files[@]} files read"
[ "$findings" != 0 ]
