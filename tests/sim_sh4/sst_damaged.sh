#!/bin/sh
# sst_damaged.sh RUNNER: folders the single-step runner must refuse, each with exit 1 or 2 and a word why.
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
refused() { # name, expected exit
    out=$("$runner" "$dir/in" 2>&1)
    status=$?
    [ $status -eq "$2" ] && echo "$out" | grep -q "$3" && return
    echo "$1: exit $status, output: $out"
    exit 1
}
runner=$1
refused "no folder" 2 "No such file"
mkdir "$dir/in"
refused "no files" 2 "no .bin files"
head -c 1000 /dev/zero >"$dir/in/a.bin"
refused "cut record" 1 "no whole number"
head -c 756 /dev/zero >"$dir/in/a.bin"
refused "not a record" 1 "no record at offset 0"
: >"$dir/in/a.bin"
refused "empty file" 1 "no whole number"
