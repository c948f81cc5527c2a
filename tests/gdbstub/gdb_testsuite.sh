#!/bin/bash
# Runs tests of GDB's own suite (gdb.base) against probeprof's simulated board, or with --qemu against QEMU's stub.
#
# usage: gdb_testsuite.sh [--qemu] [--jobs-dir DIR] [TEST...]        (TEST: "break", "step-test", ...; default: a list)
# needs: GDB's sources (package gdb-source, or GDB_TESTSUITE=.../gdb/testsuite), dejagnu, gdb-multiarch,
#        sh4-linux-gnu-gcc, and PROBEPROF=path of the program (default build/release). Exit 77: something is missing.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
probeprof=${PROBEPROF:-$top/build/release/profiler/cli/probeprof}
stub=probeprof
work=${TMPDIR:-/tmp}/probeprof-gdb-testsuite
while [ $# -gt 0 ]; do
  case $1 in
    --qemu) stub=qemu; shift ;;
    --jobs-dir) work=$2; shift 2 ;;
    *) break ;;
  esac
done
default_tests="advance all-bin arithmet arrayidx assign bitfields bp-permanent break break-always break-caller-line
 call-ar-st call-rt-st call-strs callfuncs callfuncs2 charset chng-syms commands completion cond-expr condbreak consecutive
 consecutive-step-over dfp-exprs display dump ena-dis-br ending-run eval-skip exprs finish frame-args frame-selection
 funcargs func-ptr hashline1 hook-stop jump kill-after-signal langs list long_long miscexp moribund-step nodebug opaque
 pc-fp pointers pr10179 printcmds ptype recurse return return2 scope sect-cmd setshow setvar sizeof
 skip-solib stack-checking step-break step-line step-test store structs subst tbreak2 trace-commands until varargs
 volatile watch-cond watch-read watch_thread_num watchpoint watchpoint-cond-gone watchpoint-delete whatis whatis-exp"

missing() { echo "skipped: $1"; exit 77; }
for tool in runtest gdb-multiarch sh4-linux-gnu-gcc; do
  command -v $tool >/dev/null || missing "no $tool"
done
mkdir -p "$work"
suite=${GDB_TESTSUITE:-$work/gdb/gdb/testsuite}
if [ ! -d "$suite/gdb.base" ]; then
  [ -f /usr/src/gdb.tar.xz ] || missing "no GDB sources (package gdb-source)"
  tar xJf /usr/src/gdb.tar.xz -C "$work" --wildcards '*/gdb/testsuite/*' '*/gdb/contrib/*' || missing "cannot unpack the sources"
fi

run=$work/$stub
rm -rf "$run"; mkdir -p "$run/boards"
cp "$here/testsuite/board.exp" "$run/boards/pp.exp"
flags="-ml -m4 -ffreestanding -fno-pic -fno-stack-protector -g -O0 -fno-builtin"
sh4-linux-gnu-gcc $flags -c -o "$run/crt0.o" "$here/testsuite/crt0.S" || exit 1
sh4-linux-gnu-gcc $flags -w -c -o "$run/libc.o" "$here/testsuite/libc.c" || exit 1

port=$((20000 + $$ % 20000))
if [ $stub = qemu ]; then
  command -v qemu-system-sh4 >/dev/null || missing "no qemu-system-sh4"
  qemu-system-sh4 -M r2d -display none -serial null -monitor none -S -gdb tcp:127.0.0.1:$port >"$run/server.log" 2>&1 &
else
  [ -x "$probeprof" ] || missing "no $probeprof"
  "$probeprof" --probe sim:sh7750 --no-profile --gdb 127.0.0.1:$port >"$run/server.log" 2>&1 &
fi
server=$!
trap 'kill $server 2>/dev/null' EXIT
sleep 1

export PP_DIR="$here/testsuite" PP_BUILD="$run" PP_NETPORT="127.0.0.1:$port" PP_PROTOCOL=remote PP_EXITS=0 DEJAGNU="$run/site.exp"
[ $stub = probeprof ] && PP_EXITS=1
cat >"$run/site.exp" <<X
lappend boards_dir "$run/boards"
set target_list {pp}
X
cat >"$run/lib.exp" <<X
set host_triplet x86_64-pc-linux-gnu
set build_triplet x86_64-pc-linux-gnu
set target_triplet sh4-unknown-elf
set target_alias sh4-elf
set tool gdb
set srcdir $suite
set objdir $run
set GDB gdb-multiarch
set GDBFLAGS "-nx -data-directory /usr/share/gdb"
X
cd "$run" && cp lib.exp site.tmp && cat lib.exp site.exp >both && mv both site.exp
mkdir -p gdb.base outputs
[ $# -gt 0 ] || set -- $default_tests
tests=()
for t; do [ -f "$suite/gdb.base/$t.exp" ] && tests+=("gdb.base/$t.exp"); done
INTERNAL_GDBFLAGS="-nw -nx -q -iex \"set height 0\" -iex \"set width 0\"" \
  runtest --tool gdb --target_board pp --srcdir "$suite" GDB=gdb-multiarch "${tests[@]}" >runtest.log 2>&1
awk '/^# of/ { print }' gdb.sum
pass=$(grep -c '^PASS' gdb.sum); fail=$(grep -c '^FAIL' gdb.sum)
echo "$stub: $pass of $((pass + fail)) passed ($(awk -v p="$pass" -v f="$fail" 'BEGIN { printf "%.1f", p + f ? 100 * p / (p + f) : 0 }') %); details in $run/gdb.sum"
