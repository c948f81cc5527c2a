#!/usr/bin/env bash
# What the compiler and the linker can do against exploits is in the release build's program, read from its bytes.
# usage: hardened.sh RELEASE_BUILD_DIR
set -euo pipefail
program=$1/profiler/cli/probeprof
[ -x "$program" ] || { echo "no $program" >&2; exit 1; }
missing=0
has() { # WHAT COMMAND...
    local what=$1
    shift
    if "$@"; then echo "has $what"; else echo "MISSING: $what" >&2; missing=1; fi
}
header=$(readelf -hW "$program") segments=$(readelf -lW "$program") dynamic=$(readelf -dW "$program")
symbols=$(nm -D --undefined-only "$program")
stack_not_executable() { grep 'GNU_STACK' <<<"$segments" | grep -v 'RWE' >/dev/null; }
none() { ! grep -E "$1" <<<"$2" >/dev/null; }
some() { grep -E "$1" <<<"$2" >/dev/null; }

has "PIE" some 'Type: +DYN \(Position-Independent' "$header"
has "RELRO" some 'GNU_RELRO' "$segments"
has "full RELRO: everything bound at start" some 'FLAGS.* (BIND_)?NOW' "$dynamic"
has "a stack that is not executable" stack_not_executable
has "no segment that is both writable and executable" none 'LOAD.* RWE ' "$segments"
has "no search path for libraries" none 'R(UN)?PATH' "$dynamic"
has "stack protector" some '__stack_chk_fail' "$symbols"
has "FORTIFY" some '__(memcpy|snprintf|vsnprintf|fprintf)_chk' "$symbols"

# Guarded is every function with an array or a variable whose address is taken.
code=$(objdump -d --no-show-raw-insn "$program")
calls=$(grep -c '__stack_chk_fail@plt>$' <<<"$code" || true)
functions=$(grep -c '^[0-9a-f]* <.*>:$' <<<"$code" || true)
has "stack protector in many functions: $calls of $functions" [ "$((calls * 5))" -gt "$functions" ]

# CET: the linker marks the program only if every object is marked, and Debian's crti.o is not; so each of ours is looked at, and main.
case $(uname -m) in
x86_64)
    archives=$(find "$1" -name '*.a')
    [ -n "$archives" ] || { echo "no archives in $1" >&2; exit 1; }
    for archive in $archives; do
        objects=$(ar t "$archive" | wc -l)
        marked=$(readelf -nW "$archive" | grep -c 'x86 feature: IBT, SHSTK' || true)
        has "CET in all $objects objects of ${archive##*/}" [ "$objects" = "$marked" ]
    done
    main_lands() { grep -A1 '<main>:$' <<<"$code" | grep endbr64 >/dev/null; }
    has "a landing pad at main" main_lands
    ;;
*) echo "CET is x86's" ;;
esac
exit $missing
