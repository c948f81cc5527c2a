#!/usr/bin/env python3
"""Profiles one of the programs on the simulated board, as a user would, and compares each function's hits and instructions with what
QEMU's log of every executed instruction says.
usage: profile.py PROBEPROF ELF [--marked]        exit 0 agrees, 1 differs, 77 without QEMU
--marked: instructions of functions that the profile marks doubtful may differ; hits, the sum and the result never."""
import bisect
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

TIMEOUT = 600
STT_FUNC = 2


class Elf:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.sections = self.read_sections()
        self.functions = sorted(self.read_functions())
        self.starts = [f[0] for f in self.functions]

    def read_sections(self):
        offset, = struct.unpack_from("<I", self.data, 32)
        size, count = struct.unpack_from("<HH", self.data, 46)
        return [struct.unpack_from("<10I", self.data, offset + k * size) for k in range(count)]

    def read_functions(self):
        """(start, end, name) of each; a label without size that is no function is not in it."""
        for s in self.sections:
            if s[1] != 2:  # SHT_SYMTAB
                continue
            names = self.sections[s[6]][4]
            for k in range(s[5] // 16):
                name, value, size, info = struct.unpack_from("<IIIB", self.data, s[4] + 16 * k)
                if info & 15 == STT_FUNC:
                    end = self.data.index(b"\0", names + name)
                    yield value, value + size, self.data[names + name:end].decode()

    def flat(self):
        """The bytes of memory from the first section on."""
        loaded = [s for s in self.sections if s[1] == 1 and s[2] & 2]  # SHT_PROGBITS, SHF_ALLOC
        base = min(s[3] for s in loaded)
        out = bytearray(max(s[3] + s[5] for s in loaded) - base)
        for s in loaded:
            out[s[3] - base:s[3] - base + s[5]] = self.data[s[4]:s[4] + s[5]]
        return base, bytes(out)

    def named(self, pc):
        k = bisect.bisect_right(self.starts, pc) - 1
        if k < 0 or pc >= self.functions[k][1]:
            return None
        return self.functions[k][2]

    def address(self, name):
        return next(low for low, _, n in self.functions if n == name)


def executed(elf, folder):
    """Every pc, in order, from the program's start until `done`."""
    base, image = elf.flat()
    path, log = os.path.join(folder, "flat.bin"), os.path.join(folder, "log")
    with open(path, "wb") as f:
        f.write(image)
    subprocess.run(["qemu-system-sh4", "-M", "r2d", "-display", "none", "-serial", "null", "-monitor", "none", "-singlestep", "-d", "exec,nochain",
                    "-D", log, "-device", f"loader,file={path},addr={base:#x},force-raw=on", "-device", f"loader,addr={base:#x},cpu-num=0"],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT, check=False)
    with open(log, encoding="ascii") as f:
        pcs = [int(pc, 16) for pc in re.findall(r"\[[0-9a-f]+/([0-9a-f]+)/", f.read())]
    return pcs[:pcs.index(elf.address("done"))]


def changes_flow(op):
    """JSR, BSR, BSRF, JMP, BRA, BRAF, RTS: with a slot, and of those that leave a function the trace tells."""
    return op & 0xF0FF in (0x400B, 0x0003, 0x402B, 0x0023) or op & 0xF000 in (0xA000, 0xB000) or op == 0x000B


def truth(elf, pcs):
    """Hits and instructions of each function. A branch that leaves a function is counted, with its slot, where it leads."""
    base, image = elf.flat()
    hits, count = {}, {}
    hits["entry"] = 1
    k = 0
    while k < len(pcs):
        op = struct.unpack_from("<H", image, pcs[k] - base)[0]
        units, owner = 1, elf.named(pcs[k])
        if changes_flow(op) and k + 2 >= len(pcs):
            break  # to `done`, which has it
        if changes_flow(op):
            units, target = 2, pcs[k + 2]
            if target in elf.starts:  # by RTS, too: a task begins
                hits[elf.named(target)] = hits.get(elf.named(target), 0) + 1
            owner = elf.named(target)
        count[owner] = count.get(owner, 0) + units
        k += units
    return hits, count


def profiled(probeprof, path):
    run = subprocess.run([probeprof, "--probe", "sim:sh7750", "--elf", path, "--load", "--stop", "done",
                          "--c1", "instructions", "--gdb", "off", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         timeout=TIMEOUT, check=False)
    if run.returncode != 0:
        sys.exit(f"probeprof: {run.returncode}\n{run.stderr}")
    return json.loads(run.stdout)


def compare(hits, count, document, marked):
    """Each function's hits; its instructions, but where the profile begins and ends: in the middle of `entry` and `done`."""
    wrong = []
    got = {f["name"]: f for f in document["functions"]}
    for name in sorted(set(hits) | set(count) | set(got)):
        if name == "done":
            continue
        want, seen = (hits.get(name, 0), count.get(name, 0)), (got[name]["hits"], got[name]["c1"]) if name in got else (0, 0)
        doubtful = name in got and got[name]["doubtful"]
        if want[0] != seen[0] or (name != "entry" and want[1] != seen[1] and not (marked and doubtful)):
            wrong.append(f"{name}: hits {seen[0]} for {want[0]}, instructions {seen[1]} for {want[1]}{' (marked doubtful)' if doubtful else ''}")
    if "bad" in got or "good" not in got:
        wrong.append("the program's result is not what it is untraced")
    ends = got["entry"]["c1"] + got.get("done", {"c1": 0})["c1"]
    seen, want = document["totals"]["c1"] - ends, sum(n for name, n in count.items() if name != "entry")
    if seen != want:
        wrong.append(f"in all {seen} instructions for {want}")
    if document["coverage"]["lost"]:
        wrong.append("events were lost")
    return wrong


def main():
    probeprof, path = sys.argv[1:3]
    if not shutil.which("qemu-system-sh4"):
        print("skipped: needs qemu-system-sh4")
        return 77
    elf = Elf(path)
    with tempfile.TemporaryDirectory(prefix="programs-") as folder:
        pcs = executed(elf, folder)
    hits, count = truth(elf, pcs)
    document = profiled(probeprof, path)
    wrong = compare(hits, count, document, "--marked" in sys.argv[3:])
    for line in wrong:
        print(line)
    print(f"{os.path.basename(path)}: {len(pcs)} instructions, {len(hits)} functions entered {sum(hits.values())} times, {len(wrong)} differences; "
          f"{document['note']}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
