#!/usr/bin/env bash
# Rebuilds one example and compares it with the committed ELF, byte for byte.
# usage: rebuild.sh FOLDER NAME        exit 0 same, 1 different, 77 without the compiler it was built with
set -u
folder=$1 name=$2
version=$(sh4-linux-gnu-gcc -dumpfullversion 2>/dev/null)
[ "$version" = 12.2.0 ] || { echo "skipped: needs sh4-linux-gnu-gcc 12.2.0, found '${version:-none}'"; exit 77; }
if compgen -G "$folder/*.cc" >/dev/null; then
    version=$(sh4-linux-gnu-g++ -dumpfullversion 2>/dev/null)
    [ "$version" = 12.2.0 ] || { echo "skipped: needs sh4-linux-gnu-g++ 12.2.0, found '${version:-none}'"; exit 77; }
fi
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
make -s -C "$folder" OUT="$out" "$out/$name.elf" || exit 1
cmp "$out/$name.elf" "$folder/$name.elf" || { echo "the committed $name.elf is not what its source gives: run make in $folder"; exit 1; }
