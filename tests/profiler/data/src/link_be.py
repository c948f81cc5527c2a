#!/usr/bin/env python3
"""Turns one big-endian SH object into a program in place, because the packaged sh4-linux-gnu-ld links little-endian
only: gives .text and .bss addresses, applies R_SH_DIR32 and R_SH_REL32, sets the type to executable.
usage: link_be.py OBJECT PROGRAM"""
import struct
import sys

data = bytearray(open(sys.argv[1], "rb").read())
shoff, = struct.unpack_from(">I", data, 32)
shnum, shstrndx = struct.unpack_from(">HH", data, 48)
sections = [list(struct.unpack_from(">10I", data, shoff + 40 * i)) for i in range(shnum)]
names = sections[shstrndx][4]
PLACES = {b".text": 0x8C010000, b".bss": 0x8C020000}
for i, s in enumerate(sections):
    name = bytes(data[names + s[0]:data.index(0, names + s[0])])
    s[3] = PLACES.get(name, 0)
    struct.pack_into(">I", data, shoff + 40 * i + 12, s[3])
symtab = next(s for s in sections if s[1] == 2)
values = []
for at in range(symtab[4], symtab[4] + symtab[5], 16):
    name, value, size, info, other, shndx = struct.unpack_from(">IIIBBH", data, at)
    value += sections[shndx][3] if 0 < shndx < 0xFF00 else 0
    values.append(value)
    struct.pack_into(">I", data, at + 4, value)
for s in sections:
    if s[1] != 4:  # SHT_RELA
        continue
    to = sections[s[7]]
    for at in range(s[4], s[4] + s[5], 12):
        offset, info, addend = struct.unpack_from(">IIi", data, at)
        kind, value = info & 0xFF, values[info >> 8] + addend
        if kind == 2:
            value -= to[3] + offset
        elif kind != 1:
            sys.exit(f"relocation type {kind} is not known here")
        old, = struct.unpack_from(">I", data, to[4] + offset)
        struct.pack_into(">I", data, to[4] + offset, (old + value) & 0xFFFFFFFF)
struct.pack_into(">HHII", data, 16, 2, 42, 1, PLACES[b".text"])
open(sys.argv[2], "wb").write(data)
