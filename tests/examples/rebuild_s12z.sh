#!/usr/bin/env bash
# Rebuilds an S12Z example and compares it with the committed ELF, byte for byte.
# usage: rebuild_s12z.sh FOLDER NAME    exit 0 same, 1 different, 77 without the binutils it was built with
set -u
folder=$1 name=$2
bin=$("$(dirname "$0")/../s12z/build_binutils.sh" --find) || exit 77
case $("$bin/s12z-elf-as" --version) in *' 2.40'*) ;; *) echo "skipped: needs s12z-elf-as 2.40"; exit 77 ;; esac
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
make -s -C "$folder" BINUTILS="$bin" OUT="$out" "$out/$name.elf" || exit 1
cmp "$out/$name.elf" "$folder/$name.elf" || { echo "the committed $name.elf is not what its source gives: run make in $folder"; exit 1; }
