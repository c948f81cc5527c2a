#!/bin/sh
# sim_sh.sh RUNNER: runs the assembly tests of GDB's own simulator (sim/testsuite/sh) on the model.
# Sources: $SIM_SH_TESTS (a folder), or /usr/src/gdb.tar.xz (Debian package gdb-source). They are not part
# of this project. Assembled for SH-4, little-endian; those for SH-DSP and SH-2A do not assemble and are
# not counted. Skips (77) without sources or cross binutils.
runner=$1
as=sh4-linux-gnu-as ld=sh4-linux-gnu-ld objcopy=sh4-linux-gnu-objcopy
[ -x "$runner" ] || { echo "usage: $0 PATH/sh4-sim-run"; exit 2; }
for tool in $as $ld $objcopy; do
    command -v $tool >/dev/null || { echo "SKIPPED: $tool not found (package binutils-sh4-linux-gnu)"; exit 77; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
src=$SIM_SH_TESTS
if [ -z "$src" ]; then
    [ -f /usr/src/gdb.tar.xz ] || { echo "SKIPPED: no sim/testsuite/sh: install gdb-source or set SIM_SH_TESTS"; exit 77; }
    tar xf /usr/src/gdb.tar.xz -C "$work" --wildcards '*/sim/testsuite/sh/*' || exit 1
    src=$work/gdb/sim/testsuite/sh
fi

# Tests that do not print "pass" on a right SH-4:
#   fail    by design
#   fcnvds  loads a double from an address that is only 4-byte aligned: address error on the part
#   fipr    wants a signalling NaN above 7FC00000; the SH-4's one NaN result is 7FBFFFFF
total=0 passed=0 bad=0
for s in "$src"/*.s; do
    name=$(basename "$s" .s)
    (cd "$src" && $as -EL --isa=sh4 --defsym sim_cpu=0 --defsym LITTLE=1 -o "$work/t.o" "$s") 2>/dev/null || continue
    $ld -EL -Ttext=0x0C010000 -e start -o "$work/t.elf" "$work/t.o" 2>/dev/null &&
        $objcopy -O binary "$work/t.elf" "$work/t.bin" || { echo "$name: does not link"; bad=$((bad + 1)); continue; }
    total=$((total + 1))
    out=$(timeout 300 "$runner" "$work/t.bin" 2>&1)
    status=$?
    case $name:$status:$out in
    fail:1:fail | fipr:1:fail | fcnvds:125:'exception 0e0 '*)
        passed=$((passed + 1))
        echo "$name: not passed, as it must (see the list in this script)" ;;
    *:0:pass) passed=$((passed + 1)) ;;
    *) bad=$((bad + 1)); echo "$name: FAILED, exit $status, output '$out'" ;;
    esac
done
echo "$total programs, $passed as expected, $bad not"
[ $bad -eq 0 ] && [ $total -ge 30 ]
