#!/usr/bin/env bash
# Builds a gdb that knows s12z from Debian's gdb-source into the user's cache, once (about ten CPU minutes), and prints the program's path.
# With --find nothing is built.
# usage: build_s12z_gdb.sh [--find]       exit 77: it is not there, and something to build it with is missing; 1: the build failed
# The cache: ${XDG_CACHE_HOME:-~/.cache}/probeprof. S12Z_GDB=FILE names a gdb to use instead.
set -u
version=13.1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/probeprof/gdb-s12z-$version
missing() { echo "skipped: $1" >&2; exit 77; }

if [ -n "${S12Z_GDB-}" ]; then
  [ -x "$S12Z_GDB" ] || missing "no program $S12Z_GDB"
  echo "$S12Z_GDB"
  exit 0
fi
if [ -e "$cache/complete" ]; then
  echo "$cache/bin/sh-elf-gdb"
  exit 0
fi
[ "${1-}" != --find ] || missing "no gdb for s12z: run tests/gdbstub/build_s12z_gdb.sh (package gdb-source)"
source=$(ls /usr/src/gdb.tar.* 2>/dev/null | head -n 1)
[ -n "$source" ] || missing "no /usr/src/gdb.tar.* (package gdb-source)"
for tool in gcc g++ make xz; do
  command -v $tool >/dev/null || missing "no $tool"
done
for header in gmp.h expat.h; do
  echo "#include <$header>" | gcc -E - >/dev/null 2>&1 || missing "no $header (packages libgmp-dev, libexpat1-dev)"
done

mkdir -p "$cache" || exit 1
exec 9>"$cache/lock"
flock 9 # two at once: the second finds it done
if [ ! -e "$cache/complete" ]; then
  work=$(mktemp -d "$cache/build.XXXXXX") || exit 1
  trap 'rm -rf "$work"' EXIT
  log=$cache/build.log
  # The first target is another one because s12z-elf alone configures no gdb; a Linux target beside it must not be.
  {
    tar xf "$source" -C "$work" --strip-components=1 && mkdir "$work/out" && cd "$work/out" &&
      "$work/configure" --target=sh-elf --enable-targets=s12z-elf --prefix="$cache" --disable-nls --disable-werror --disable-binutils \
        --disable-gas --disable-ld --disable-gprof --disable-gprofng --disable-sim --disable-gdbserver --without-guile --without-python \
        --with-expat --without-debuginfod MAKEINFO=true &&
      make -j"$(nproc)" MAKEINFO=true all-gdb && make MAKEINFO=true install-gdb
  } >"$log" 2>&1 </dev/null || { echo "the build failed, see $log" >&2; exit 1; }
  touch "$cache/complete"
fi
echo "$cache/bin/sh-elf-gdb"
