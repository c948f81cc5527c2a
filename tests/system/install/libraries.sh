#!/usr/bin/env bash
# The program loads what it needs to run; libsigrok, which brings twenty libraries, only when a logic analyser is wanted.
# usage: libraries.sh PROBEPROF
set -euo pipefail
probeprof=$(realpath "$1") elf=$(realpath "$(dirname "$0")/../../../docs/examples/motor/motor.elf")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
fail() { echo "libraries: $1" >&2; exit 1; }

needed=$(readelf -dW "$probeprof" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE 'lib(a|ub)san\.so')
printf 'needs %s\n' $needed
for name in libsigrok libglib libgio libudev libserialport; do
    ! grep "^$name" <<<"$needed" || fail "it is linked with $name"
done
[ "$(wc -l <<<"$needed")" -le 16 ] || fail "it is linked with more than 16 libraries"
loaded=$(ldd "$probeprof")
echo "$(wc -l <<<"$loaded") libraries in all"
! grep -E 'libsigrok|libglib' <<<"$loaded" || fail "a library of its loads libsigrok"

# One that cannot be loaded, in front of the system's.
if ! "$probeprof" list 2>/dev/null | grep 'not in this build' >/dev/null; then
    mkdir "$tree/lib"
    for n in 3 4 5 6; do echo 'no library' >"$tree/lib/libsigrok.so.$n"; done
    cd "$tree"
    status=0
    LD_LIBRARY_PATH=$tree/lib "$probeprof" --probe sim:s12zvml128 --pdo sigrok:demo,pdo=D0,pdoclk=D1,rate=24M --elf "$elf" --gdb off --for 1ms >"$tree/out" 2>&1 || status=$?
    cat "$tree/out"
    [ $status = 1 ] || fail "without libsigrok a capture ends with $status instead of 1"
    grep -q 'sigrok: libsigrok cannot be loaded: .*libsigrok.so' "$tree/out" || fail "it does not say that libsigrok is missing"
    grep -q 'hint: .*package libsigrok4' "$tree/out" || fail "it does not name the package"
    LD_LIBRARY_PATH=$tree/lib "$probeprof" version >/dev/null || fail "without libsigrok nothing works"
    # The rest of the list is not lost with it.
    LD_LIBRARY_PATH=$tree/lib "$probeprof" list --analysers >"$tree/out" 2>&1 || true
    grep -q 'sim:sh7750' "$tree/out" || fail "no list without libsigrok"
    grep -q 'package libsigrok4' "$tree/out" || fail "the list does not name the package"
fi
