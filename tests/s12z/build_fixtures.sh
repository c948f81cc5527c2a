#!/bin/sh
# Assembles fixtures/*.s into flat images that end at 0xFFFFFF with vectors: fixtures/*.bin. The results are committed.
# usage: build_fixtures.sh [BINDIR [OUT]]   BINDIR: where s12z-elf-as, -ld, -objcopy are (default: what build_binutils.sh builds)
#        build_fixtures.sh --check          compares with the committed ones; exit 77 where the tools have not been built
set -e
tests=$(cd "$(dirname "$0")" && pwd)
if [ "${1-}" = --check ]; then
  bin=$("$tests/build_binutils.sh" --find) || exit $?
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
  "$0" "$bin" "$out"
  for f in "$out"/*.bin; do
    cmp "$f" "$tests/fixtures/$(basename "$f")" || { echo "not what its source gives: run tests/s12z/build_fixtures.sh"; exit 1; }
  done
  exit 0
fi
bin=${1:-$("$tests/build_binutils.sh")}
here=$tests/fixtures
out=${2:-$here}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for s in "$here"/*.s; do
  n=$(basename "$s" .s)
  "$bin/s12z-elf-as" -o "$tmp/$n.o" "$s"
  "$bin/s12z-elf-ld" -Ttext 0xFFE000 -e start -o "$tmp/$n.elf" "$tmp/$n.o"
  "$bin/s12z-elf-objcopy" -O binary -j .text "$tmp/$n.elf" "$tmp/$n.raw"
  python3 - "$tmp/$n.raw" "$tmp/$n.elf" "$out/$n.bin" "$bin/s12z-elf-nm" <<'PY'
import subprocess, sys
raw, elf, out, nm = sys.argv[1:]
sym = {p[2]: int(p[0], 16) for p in (l.split() for l in subprocess.run([nm, elf], capture_output=True, text=True).stdout.splitlines()) if len(p) == 3}
image = bytearray(b"\xff" * 0x2000)
code = open(raw, "rb").read()
image[:len(code)] = code
vec = lambda at, name: image.__setitem__(slice(at - 0xFFE000, at - 0xFFE000 + 4), sym[name].to_bytes(4, "big"))
vec(0xFFFFFC, "start")
if "trap" in sym:
    for at in (0xFFFFF0, 0xFFFFEC, 0xFFFFF4, 0xFFFFF8):
        vec(at, "trap")
image[0xFFFE0F - 0xFFE000] = 0xFE
open(out, "wb").write(image)
PY
done
