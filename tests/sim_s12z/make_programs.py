#!/usr/bin/env python3
"""Assembles programs/*.s with the GNU assembler for s12z-elf (binutils) and writes programs.h: their bytes, each line with
its source. The programs lie at address 0x1000 (RAM); symbols become NAME_SYMBOL. Needs s12z-elf-as and s12z-elf-ld, objcopy and nm
beside it: `make_programs.py DIRECTORY-OF-THE-TOOLS`. The result is committed; the suite runs without the tools."""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
ORIGIN = 0x1000


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


def program(tools, src, tmp):
    name = src.stem
    obj, elf, raw = (str(tmp / (name + end)) for end in (".o", ".elf", ".bin"))
    run(f"{tools}/s12z-elf-as", "-o", obj, str(src))
    script = tmp / "ram.ld"
    script.write_text("SECTIONS { . = %#x; .text : { *(.text) } }\n" % ORIGIN)
    run(f"{tools}/s12z-elf-ld", "-T", str(script), "-e", hex(ORIGIN), "-o", elf, obj)
    run(f"{tools}/s12z-elf-objcopy", "-O", "binary", "-j", ".text", elf, raw)
    code = pathlib.Path(raw).read_bytes()
    starts = {}
    lst = run(f"{tools}/s12z-elf-as", "-al", "-o", obj, str(src))
    texts = src.read_text().splitlines()
    for m in re.finditer(r"^\s*(\d+) ([0-9a-f]{4}) ", lst, re.M):  # listing: line number, offset, bytes
        starts.setdefault(int(m[2], 16), texts[int(m[1]) - 1].strip())
    out = [f"static const uint8_t {name}[] = {{"]
    offsets = sorted(starts) + [len(code)]
    for a, b in zip(offsets, offsets[1:]):
        data = ", ".join(f"0x{v:02X}" for v in code[a:b])
        out.append(f"    {data}, /* {starts[a]} */")
    out.append("};")
    symbols = sorted((int(l.split()[0], 16), l.split()[2]) for l in run(f"{tools}/s12z-elf-nm", elf).splitlines()
                     if len(l.split()) == 3 and l.split()[1] == "t")
    if symbols:
        out.append("enum { " + ", ".join(f"{name}_{s} = 0x{a:X}" for a, s in symbols) + " };")
    return "\n".join(out)


def main():
    with tempfile.TemporaryDirectory() as d:
        parts = [program(sys.argv[1], s, pathlib.Path(d)) for s in sorted((HERE / "programs").glob("*.s"))]
    head = "/* Made by make_programs.py from programs/ with GNU as for s12z-elf. Do not edit. */\n#include <stdint.h>\n\n"
    (HERE / "programs.h").write_text(head + "\n\n".join(parts) + "\n")


main()
