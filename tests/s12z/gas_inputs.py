#!/usr/bin/env python3
"""The GNU assembler's own tests for s12z as input: each source is assembled, taken apart by objdump, and every instruction compared
with targets/s12z/isa/isa.c by the program isa_rows. usage: gas_inputs.py ISA_ROWS

Needs the tools of build_binutils.sh, beside which it leaves the assembler's tests; skips (77) without them."""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
from make_isa_fixture import known_fault  # noqa: E402



def skip(why):
    print("skipped:", why)
    sys.exit(77)


def rows_of(tools, raw):
    """As raw bytes, so that no symbol takes the place of a number."""
    out = subprocess.run([f"{tools}/s12z-elf-objdump", "-b", "binary", "-m", "s12z", "-D", "-z", raw], capture_output=True, text=True).stdout
    rows = []
    for line in out.splitlines():
        m = re.match(r"\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*(?:\t(.*))?$", line)
        if m and m[3] is None and rows:
            rows[-1][1] += bytes.fromhex(m[2])
        elif m and m[3] is not None and "out of bounds" not in m[3]:  # the last bytes are no whole instruction
            rows.append([int(m[1], 16), bytes.fromhex(m[2]), m[3].strip()])
    return rows


def main():
    find = subprocess.run([HERE / "build_binutils.sh", "--find"], capture_output=True, text=True)
    if find.returncode:
        skip("no s12z-elf tools")
    tools = find.stdout.strip()
    inputs = pathlib.Path(tools).parent / "gas-inputs"
    if not inputs.is_dir():
        skip(f"no {inputs}: these tools are not build_binutils.sh's")
    with tempfile.TemporaryDirectory() as d:
        lines, files, refused = [], 0, 0
        for src in sorted(inputs.glob("*.s")):
            obj = pathlib.Path(d) / (src.stem + ".o")
            if subprocess.run([f"{tools}/s12z-elf-as", "-o", obj, src], capture_output=True).returncode:
                refused += 1  # tests of error messages
                continue
            raw = obj.with_suffix(".bin")
            subprocess.run([f"{tools}/s12z-elf-objcopy", "-O", "binary", "-j", ".text", obj, raw], check=True)
            code = raw.read_bytes()
            files += 1
            for at, got, text in rows_of(tools, raw):
                if not known_fault(code[at:at + 11].ljust(11, b"\x01"), text):
                    lines.append(f"{at:x}\t{got.hex()}\t{text}\n")
    print(f"{files} sources, {refused} that gas refuses on purpose")
    sys.exit(subprocess.run([sys.argv[1]], input="".join(lines), text=True).returncode)


main()
