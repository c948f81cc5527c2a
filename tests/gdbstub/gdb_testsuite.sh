#!/bin/bash
# Runs GDB's own suite (gdb.base) against probeprof's simulated board, or with --qemu against QEMU's stub, and compares both.
#
# usage: gdb_testsuite.sh [--qemu] [--dir DIR] [--limit SECONDS] [--again] [--hardware-watchpoints] [TEST...]
#                                                                                        TEST: "break", "step-test", ...;
#        gdb_testsuite.sh [--dir DIR] --table                                            default: every file of gdb.base
# Each test file gets a server of its own and at most SECONDS (90); what is done is kept in DIR and skipped the next time, so a run
# may be cut off and taken up again (--again: run anew). --table prints what both runs left, one row a test file.
# The suite takes SH for a part without hardware watchpoints; --hardware-watchpoints changes that line of its own copy (use another DIR).
# The board file is the same for both. QEMU's stub cannot tell of an exit, so tests stop at exit(); with PP_EXITS=1 in the environment
# they expect GDB to hear of it.
# needs: GDB's sources (package gdb-source, or GDB_TESTSUITE=.../gdb/testsuite), dejagnu, gdb-multiarch,
#        sh4-linux-gnu-gcc, and PROBEPROF=path of the program (default build/release). Exit 77: something is missing.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
probeprof=${PROBEPROF:-$top/build/release/profiler/cli/probeprof}
stub=probeprof
work=${TMPDIR:-/tmp}/probeprof-gdb-testsuite
limit=90
again=
table=
while [ $# -gt 0 ]; do
  case $1 in
    --qemu) stub=qemu; shift ;;
    --dir) work=$2; shift 2 ;;
    --limit) limit=$2; shift 2 ;;
    --again) again=1; shift ;;
    --hardware-watchpoints) export PP_HARDWARE_WATCHPOINTS=1; shift ;;
    --table) table=1; shift ;;
    -*) echo "unknown option $1" >&2; exit 2 ;;
    *) break ;;
  esac
done

# A result file holds "TEST PASSES FAILS how", how being "ended" or "cut" (by the limit).
print_table() {
  awk '
    { name = $1; split(FILENAME, part, "/"); who = part[length(part) - 2]; seen[name] = 1
      pass[who, name] = $2; fail[who, name] = $3; how[who, name] = $4
      # A file that checked nothing with either stub (no compiler for it, needs a host) does not count.
      if ($2 + $3 > 0) counts[name] = 1 }
    function cell(who, n) { return (who, n) in pass ? sprintf("%d/%d%s", pass[who, n], pass[who, n] + fail[who, n],
                                    how[who, n] == "cut" ? " cut" : "") : "-" }
    END { for (n in counts) { files++
            for (w = 1; w <= 2; w++) { who = w == 1 ? "probeprof" : "qemu"
                               if (!((who, n) in pass)) continue
                               p[w] += pass[who, n]; f[w] += fail[who, n]; cut[w] += how[who, n] == "cut"
                               clean[w] += fail[who, n] == 0 && how[who, n] != "cut" }
            printf "%-36s %14s %14s\n", n, cell("probeprof", n), cell("qemu", n) | "sort" }
          close("sort")
          for (n in seen) none += !(n in counts)
          for (w = 1; w <= 2; w++) printf "%s: %d of %d checks passed (%.1f %%), %d of %d files without a failure, %d cut off\n", w == 1 ? "probeprof" : "qemu",
            p[w], p[w] + f[w], p[w] + f[w] ? 100 * p[w] / (p[w] + f[w]) : 0, clean[w], files, cut[w]
          printf "%d more files check nothing here\n", none }' "$@"
}
if [ $table ]; then
  shopt -s nullglob
  results=("$work"/probeprof/results/* "$work"/qemu/results/*)
  [ ${#results[@]} -gt 0 ] || { echo "nothing has been run in $work" >&2; exit 1; }
  print_table "${results[@]}"
  exit 0
fi

missing() { echo "skipped: $1"; exit 77; }
for tool in runtest gdb-multiarch sh4-linux-gnu-gcc; do
  command -v $tool >/dev/null || missing "no $tool"
done
[ $stub = probeprof ] || command -v qemu-system-sh4 >/dev/null || missing "no qemu-system-sh4"
[ $stub = qemu ] || [ -x "$probeprof" ] || missing "no $probeprof"
run=$work/$stub
mkdir -p "$run/boards" "$run/results" "$run/logs"
suite=${GDB_TESTSUITE:-$work/gdb/gdb/testsuite}
if [ ! -d "$suite/gdb.base" ]; then
  [ -f /usr/src/gdb.tar.xz ] || missing "no GDB sources (package gdb-source)"
  tar xJf /usr/src/gdb.tar.xz -C "$work" --wildcards '*/gdb/testsuite/*' '*/gdb/contrib/*' || missing "cannot unpack the sources"
fi
if [ "${PP_HARDWARE_WATCHPOINTS-}" ] && ! grep -q PP_HARDWARE_WATCHPOINTS "$suite/lib/gdb.exp"; then
  sed -i 's/|| \[istarget "s390\*-\*-\*"\] } {$/|| [istarget "s390*-*-*"] || [info exists ::env(PP_HARDWARE_WATCHPOINTS)] } {/' "$suite/lib/gdb.exp"
fi

cp "$here/testsuite/board.exp" "$run/boards/pp.exp"
flags="-ml -m4 -ffreestanding -fno-pic -fno-stack-protector -g -O0 -fno-builtin"
sh4-linux-gnu-gcc $flags -c -o "$run/crt0.o" "$here/testsuite/crt0.S" || exit 1
sh4-linux-gnu-gcc $flags -w -c -o "$run/libc.o" "$here/testsuite/libc.c" || exit 1

export PP_DIR="$here/testsuite" PP_BUILD="$run" PP_PROTOCOL=remote PP_EXITS=${PP_EXITS:-0} HOME="$run"
export INTERNAL_GDBFLAGS='-nw -nx -q -iex "set height 0" -iex "set width 0"'

# A port that nobody listens on, in this run's own range.
port=$((20000 + $$ % 10000 * 2))
next_port() {
  while port=$((port >= 40000 ? 20000 : port + 1)); (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
}

# Starts the server again when it ends: QEMU does, when GDB says `kill`.
serve() {
  local child=
  trap 'kill "$child" 2>/dev/null; wait "$child"; exit' TERM
  while :; do
    if [ $stub = qemu ]; then
      qemu-system-sh4 -M r2d -display none -serial null -monitor none -S -gdb tcp:127.0.0.1:$port &
    else
      "$probeprof" --probe sim:sh7750 --no-profile --gdb 127.0.0.1:$port &
    fi
    child=$!
    wait "$child"
    sleep 0.1
  done
}

server=
start_server() {
  next_port
  serve >"$run/server.log" 2>&1 &
  server=$!
  # /proc tells of the listening socket without connecting: the first connection controls.
  for _ in $(seq 100); do
    grep -qi ":$(printf %04X $port) 00000000:0000 0A" /proc/net/tcp && return 0
    sleep 0.05
  done
  return 1
}
stop_server() {
  [ -z "$server" ] && return
  kill "$server" 2>/dev/null
  for _ in $(seq 40); do kill -0 "$server" 2>/dev/null || break; sleep 0.05; done
  kill -KILL "$server" 2>/dev/null
  wait "$server" 2>/dev/null
  server=
}
runner=
trap '[ -n "$runner" ] && kill "$runner"; stop_server; exit 130' INT TERM
trap stop_server EXIT

run_one() { # TEST
  local t=$1 how=ended objdir=$run/obj
  rm -rf "$objdir" && mkdir -p "$objdir/gdb.base" "$objdir/outputs" && cd "$objdir" || exit 1
  start_server || { echo "no server: $(cat "$run/server.log")" >&2; exit 1; }
  export PP_NETPORT="127.0.0.1:$port" DEJAGNU="$objdir/site.exp"
  cat >site.exp <<X
set host_triplet x86_64-pc-linux-gnu
set build_triplet x86_64-pc-linux-gnu
set target_triplet sh4-unknown-elf
set target_alias sh4-elf
set tool gdb
set srcdir $suite
set objdir $objdir
set GDB gdb-multiarch
set GDBFLAGS "-nx -data-directory /usr/share/gdb"
lappend boards_dir "$run/boards"
set target_list {pp}
X
  timeout -k 5 "$limit" runtest --tool gdb --target_board pp --srcdir "$suite" GDB=gdb-multiarch "gdb.base/$t.exp" >runtest.log 2>&1 </dev/null &
  runner=$!
  wait $runner
  [ $? -ge 124 ] && how=cut
  runner=
  stop_server
  for f in gdb.sum gdb.log runtest.log; do [ -f $f ] && cp $f "$run/logs/$t.${f#gdb.}"; done
  cp "$run/server.log" "$run/logs/$t.server"
  # The summary of a file that was cut off is lost in a buffer; its log has the verdicts, some behind a prompt.
  local verdict="^%s: " from=gdb.sum
  [ $how = cut ] && from=gdb.log && verdict="(^|[^XK])%s: gdb\\.base/"
  [ -f $from ] || from=/dev/null
  echo "$t $(grep -aEc "${verdict/\%s/PASS}" $from) $(grep -aEc "${verdict/\%s/FAIL}" $from) $how" >"$run/results/.new"
  mv "$run/results/.new" "$run/results/$t"
}

[ $# -gt 0 ] || set -- $(cd "$suite/gdb.base" && ls ./*.exp | sed 's,^\./,,; s,\.exp$,,')
for t; do
  [ -f "$suite/gdb.base/$t.exp" ] || { echo "no test gdb.base/$t.exp" >&2; continue; }
  [ -z "$again" ] && [ -f "$run/results/$t" ] && continue
  run_one "$t"
  cat "$run/results/$t"
done
shopt -s nullglob
cat "$run"/results/* | awk -v who=$stub '{ p += $2; f += $3; cut += $4 == "cut" }
  END { printf "%s: %d of %d checks passed (%.1f %%), %d files cut off\n", who, p, p + f, p + f ? 100 * p / (p + f) : 0, cut }'
