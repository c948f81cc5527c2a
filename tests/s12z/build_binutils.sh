#!/usr/bin/env bash
# Builds GNU as, ld and kin for s12z-elf from Debian's binutils-source into the user's cache, once (a minute or two), and prints the
# folder they are in. With --find nothing is built.
# usage: build_binutils.sh [--find]       exit 77: they are not there, and something to build them with is missing; 1: the build failed
# The cache: ${XDG_CACHE_HOME:-~/.cache}/probeprof. S12Z_BINUTILS=DIR names a folder with s12z-elf-as instead.
set -u
version=2.40
cache=${XDG_CACHE_HOME:-$HOME/.cache}/probeprof/binutils-s12z-$version
missing() { echo "skipped: $1" >&2; exit 77; }

if [ -n "${S12Z_BINUTILS-}" ]; then
  [ -x "$S12Z_BINUTILS/s12z-elf-as" ] || missing "no s12z-elf-as in $S12Z_BINUTILS"
  echo "$S12Z_BINUTILS"
  exit 0
fi
if [ -e "$cache/complete" ]; then
  echo "$cache/bin"
  exit 0
fi
[ "${1-}" != --find ] || missing "no s12z-elf-as: run tests/s12z/build_binutils.sh (package binutils-source)"
source=/usr/src/binutils/binutils-$version.tar.xz
[ -f $source ] || missing "no $source (package binutils-source)"
for tool in gcc make xz; do
  command -v $tool >/dev/null || missing "no $tool"
done

mkdir -p "$cache" || exit 1
exec 9>"$cache/lock"
flock 9 # two at once: the second finds it done
if [ ! -e "$cache/complete" ]; then
  work=$(mktemp -d "$cache/build.XXXXXX") || exit 1
  trap 'rm -rf "$work"' EXIT
  log=$cache/build.log
  {
    tar xJf $source -C "$work" && mkdir "$work/out" && cd "$work/out" &&
      "$work/binutils-$version/configure" --target=s12z-elf --prefix="$cache" --disable-nls --disable-werror --disable-gdb \
        --disable-gprof --disable-gprofng --disable-sim --without-zstd MAKEINFO=true &&
      make -j"$(nproc)" MAKEINFO=true && make install MAKEINFO=true
  } >"$log" 2>&1 </dev/null || { echo "the build failed, see $log" >&2; exit 1; }
  touch "$cache/complete"
fi
echo "$cache/bin"
