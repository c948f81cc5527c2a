#!/usr/bin/env bash
# Builds a gdb that knows s12z from Debian's gdb-source into the user's cache, once (some five CPU minutes), and prints the program's path.
# With --find nothing is built.
# usage: build_s12z_gdb.sh [--find]       exit 77: it is not there, and something to build it with is missing; 1: the build failed
# S12Z_GDB=FILE names a gdb to use instead.
set -u
. "$(dirname "$0")/../build_cached.sh"

if [ -n "${S12Z_GDB-}" ]; then
  [ -x "$S12Z_GDB" ] || missing "no program $S12Z_GDB"
  echo "$S12Z_GDB"
  exit 0
fi
cache_of gdb-s12z-13.1 bin/sh-elf-gdb
[ "${1-}" != --find ] || missing "no gdb for s12z: run tests/gdbstub/build_s12z_gdb.sh (package gdb-source)"
need_tools gcc g++ make xz
for header in gmp.h expat.h; do
  echo "#include <$header>" | gcc -E - >/dev/null 2>&1 || missing "no $header (packages libgmp-dev, libexpat1-dev)"
done

# The first target is another one because s12z-elf alone configures no gdb; a Linux target beside it must not be. Not optimised: it is built
# more often than it works long. For the same reason by clang where it is, with the headers that nearly every file has read once: half the time.
compiler=(CXX=g++)
! command -v clang++ >/dev/null || compiler=(CXX=clang++)
build() {
  local source
  source=$(source_of gdb-source '/usr/src/gdb.tar.*') || missing "no gdb.tar (package gdb-source)"
  tar xf "$source" --strip-components=1 && mkdir out && cd out &&
    ../configure --target=sh-elf --enable-targets=s12z-elf --prefix="$cache" --disable-binutils --disable-gas --disable-ld --disable-gdbserver \
      --without-guile --without-python --with-expat --without-debuginfod --disable-tui --disable-source-highlight --without-lzma --without-xxhash \
      --without-mpfr --disable-unit-tests --disable-libctf --disable-build-warnings --disable-gdb-build-warnings "${gnu_without[@]}" \
      "${compiler[@]}" CFLAGS="-O0 -g0" CXXFLAGS="-O0 -g0" &&
    precompile_headers &&
    make_and_install all-gdb install-gdb
}
# gdb's own flags: what make would say of a file in its folder.
precompile_headers() {
  [ "${compiler[*]}" = CXX=clang++ ] || return 0
  make -j"$(nproc)" MAKEINFO=true configure-gdb all-bfd all-gnulib || return 1
  printf '#include %s\n' '"defs.h"' '<algorithm>' '<map>' '<unordered_map>' '<functional>' '"symtab.h"' '"gdbtypes.h"' '"value.h"' '"expression.h"' '"frame.h"' \
    '"gdbcore.h"' '"gdbcmd.h"' '"inferior.h"' '"target.h"' '"objfiles.h"' '"language.h"' '"gdbarch.h"' '"block.h"' '"source.h"' '"ui-out.h"' '"gdbthread.h"' \
    '"observable.h"' '"valprint.h"' >gdb/usual.h
  printf 'include Makefile\nusual.pch: ; $(CXX) -x c++-header $(INTERNAL_CFLAGS) $(CXXFLAGS) -o $@ usual.h\n' >gdb/usual.mk
  make -C gdb -f usual.mk usual.pch && sed -i "s|^CXX_DIALECT *=.*|& -include-pch $PWD/gdb/usual.pch|" gdb/Makefile
}
build_cached build bin/sh-elf-gdb
