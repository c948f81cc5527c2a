#!/usr/bin/env bash
# Builds GNU as, ld and kin for s12z-elf from Debian's binutils-source into the user's cache, once (a minute or two), and prints the
# folder they are in. With --find nothing is built.
# usage: build_binutils.sh [--find]       exit 77: they are not there, and something to build them with is missing; 1: the build failed
# S12Z_BINUTILS=DIR names a folder with s12z-elf-as instead.
set -u
. "$(dirname "$0")/../build_cached.sh"
version=2.40

if [ -n "${S12Z_BINUTILS-}" ]; then
  [ -x "$S12Z_BINUTILS/s12z-elf-as" ] || missing "no s12z-elf-as in $S12Z_BINUTILS"
  echo "$S12Z_BINUTILS"
  exit 0
fi
cache_of binutils-s12z-$version-1 bin # the last figure changes with what is kept
[ "${1-}" != --find ] || missing "no s12z-elf-as: run tests/s12z/build_binutils.sh (package binutils-source)"
need_tools gcc make xz flex bison

# The assembler's own tests stay beside the tools: gas_inputs.py reads them.
build() {
  local source
  source=$(source_of binutils-source /usr/src/binutils/binutils-$version.tar.xz) || missing "no binutils-$version.tar.xz (package binutils-source)"
  tar xJf "$source" --exclude="binutils-$version/"{gdb,sim,gprofng,gold} && mkdir out && cd out &&
    "../binutils-$version/configure" --target=s12z-elf --prefix="$cache" --disable-gdb --disable-libctf "${gnu_without[@]}" CFLAGS="-O1 -g0" &&
    make_and_install &&
    cp -r "../binutils-$version/gas/testsuite/gas/s12z" "$cache/gas-inputs"
}
build_cached build bin
