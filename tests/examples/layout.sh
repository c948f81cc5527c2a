#!/usr/bin/env bash
# The tutorial's addresses are part of the product: main+8 begins the endless loop, 0x0C010030 is its BRA.
# usage: layout.sh ELF                 exit 77 without binutils for SH-4
set -u
command -v sh4-linux-gnu-objdump >/dev/null || { echo "skipped: needs binutils-sh4-linux-gnu"; exit 77; }
text=$(sh4-linux-gnu-objdump -d --no-show-raw-insn "$1" --disassemble=main) || exit 1
fail() { echo "$1"; echo "$text"; exit 1; }
grep -q '^0c01001c <main>:' <<<"$text" || fail "main is not at 0x0C01001C"
grep -Eq '^ *c010024:.*! c[0-9a-f]+ <Initialise>' <<<"$text" || fail "main+8 does not begin the call of Initialise"
grep -Eq '^ *c010030:[[:space:]]*bra[[:space:]]*c010024 <main\+0x8>' <<<"$text" || fail "0x0C010030 is not the BRA to main+8"
