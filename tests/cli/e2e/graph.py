#!/usr/bin/env python3
"""Basic blocks and where they go on: what follows from GNU objdump's text of the same ELFs. What goes through registers objdump does not
follow: there gcc's own tables of a switch are the judge.

usage: graph.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import glob
import json
import os
import random
import re
import shutil
import subprocess
import unittest

from common import EXAMPLES, Folder, PROFEXAM, SOURCE, main, run, s12z_tools

PROGRAMS = sorted(glob.glob(os.path.join(SOURCE, "tests", "programs", "*.elf")))
CONDITIONAL = r"b(?:ne|eq|cc|cs|pl|mi|vc|vs|ge|lt|gt|le|hi|ls|hs|lo)|br(?:set|clr)(?:\.[bwl])?|[dt]b(?:ne|eq|pl|mi|gt|le)(?:\.[bpwl])?"


def tool(*args, cwd=None):
    r = subprocess.run(args, capture_output=True, text=True, cwd=cwd, check=False)
    if r.returncode:
        raise AssertionError(f"{args}: {r.stderr}")
    return r.stdout


class Sh4:
    objdump = "sh4-linux-gnu-objdump"
    LINE = re.compile(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t?([a-z./]*)[\t ]*(.*)$", re.M)

    @staticmethod
    def way(_, op, operands, _symbols):
        """kind, target, whether there is a slot; None: goes on behind itself."""
        static = re.match(r"([0-9a-f]+)", operands)
        kinds = {"bt": "branch", "bf": "branch", "bt.s": "branch", "bf.s": "branch", "bra": "jump", "bsr": "call", "jsr": "call?",
                 "bsrf": "call?", "jmp": "jump?", "braf": "jump?", "rts": "return", "rte": "return", "trapa": "trap"}
        kind = kinds.get(op.replace("/", "."))
        target = int(static[1], 16) if kind in ("branch", "jump", "call") else None
        return kind and (kind, target, op not in ("bt", "bf", "trapa"))


class S12z:
    LINE = re.compile(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t([a-z0-9.]+) ?(.*)$", re.M)

    @staticmethod
    def place(pc, operands, symbols):
        text = operands.split(",")[-1].strip()
        if text.startswith("*"):
            return pc + int(text[1:])
        return symbols[text] if text in symbols else int(text, 0)

    @classmethod
    def way(cls, pc, op, operands, symbols):
        if op in ("rts", "rti"):
            return "return", None, False
        if op in ("swi", "sys", "trap", "spare"):
            return "trap", None, False
        if op in ("jmp", "jsr") and re.search(r"[\[(]|^[dxys]\w*$", operands):
            return {"jmp": "jump?", "jsr": "call?"}[op], None, False
        kind = {"bra": "jump", "jmp": "jump", "bsr": "call", "jsr": "call"}.get(op)
        if not kind and re.fullmatch(CONDITIONAL, op):
            kind = "branch"
        return kind and (kind, cls.place(pc, operands, symbols), False)


def disassemble(cpu, elf, symbols):
    code = {}
    for addr, raw, op, operands in cpu.LINE.findall(tool(cpu.objdump, "-d", "-z", "--insn-width=16", elf)):
        pc = int(addr, 16)
        operands = operands.split("!")[0].strip()
        code[pc] = (len(raw.split()), cpu.way(pc, op, operands, symbols), op, operands)
    return code


def literals_of(code, blocks):
    """Where the blocks' instructions read words of the code."""
    found = set()
    for b in blocks:
        for pc in range(b["low"], b["high"]):
            at = re.match(r"([0-9a-f]+) <.*>,r\d", code[pc][3]) if pc in code and code[pc][2].startswith("mov") else None
            if at:
                found.add(int(at[1], 16))
    return found


def runs_into_data(code, pc, literals):
    while pc in code and pc not in literals and code[pc][2] != ".word":
        if code[pc][1]:
            return False
        pc += code[pc][0]
    return True


def exits(code, pc, ways):
    """Edges, callees, and what is behind, of the instruction at pc that ends a block."""
    size, (kind, target, slot) = code[pc][:2]
    behind = pc + size + (code[pc + size][0] if slot else 0)
    known = ways.get(pc, [])
    edges = {"branch": [("fall", behind), ("taken", target)], "jump": [("taken", target)], "jump?": known, "return": []}
    edges = edges.get(kind, [("call-return", behind)])
    callees = [target] if kind == "call" else [t for _, t in known] if kind == "call?" else []
    return sorted(edges), callees, behind


def blocks_of(code, seeds, ways):
    """What a textbook makes of it: follow from the seeds, cut at leaders."""
    leaders, seen, work = set(), set(), list(seeds)
    while work:
        pc = work.pop()
        if pc in leaders or pc not in code:
            continue
        leaders.add(pc)
        while pc in code and pc not in seen:
            seen.add(pc)
            if code[pc][1]:
                edges, callees, _ = exits(code, pc, ways)
                work += [t for _, t in edges] + callees
                break
            pc += code[pc][0]
    found = {}
    for low in leaders:
        pc = low
        while not code[pc][1] and pc + code[pc][0] not in leaders and pc + code[pc][0] in code:
            pc += code[pc][0]
        if code[pc][1]:
            edges, _, high = exits(code, pc, ways)
        else:
            high = pc + code[pc][0]
            edges = [("fall", high)] if high in code else []
        found[low] = (pc, high, edges)
    return found


class Judged(Folder):
    def graph(self, elf, *args):
        r = run(["graph", elf, *args, "--json"], cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        return json.loads(r.stdout)["blocks"]

    def judge(self, cpu, elf, least):
        """Returns how many blocks, and how many that only this program's search of pointers and handlers shows to be code."""
        ours = {b["low"]: b for b in self.graph(elf)}
        header = tool(cpu.readelf, "-hsW", elf)
        rows = re.findall(r"^ *\d+: ([0-9a-f]+) +\S+ (\w+) +\w+ +\w+ +(\w+) (\S+)", header, re.M)
        symbols = {name: int(value, 16) for value, _, place, name in rows if place != "UND"}
        code = disassemble(cpu, elf, symbols)
        # a call that never returns has data behind it
        literals = literals_of(code, ours.values())
        for target in {e["target"] for b in ours.values() for e in b["edges"] if not e["known_code"]}:
            self.assertTrue(runs_into_data(code, target, literals), hex(target))
            code.pop(target, None)
        # what goes through registers is taken as given here: its kinds and its being there are not
        ways = {}
        for b in ours.values():
            way = code[b["last"]][1]
            if way and way[0] == "jump?":
                ways[b["last"]] = [(e["kind"], e["target"]) for e in b["edges"]]
                self.assertEqual(b["unknown"], not b["edges"], hex(b["low"]))
            elif way and way[0] == "call?" and b["callee"] is not None:
                ways[b["last"]] = [("callee", b["callee"])]
        seeds = {int(v, 16) for v, kind, place, _ in rows if kind == "FUNC" and place != "UND"}
        seeds |= {int(re.search(r"Entry point address: *(\w+)", header)[1], 16)}
        derived = blocks_of(code, seeds & ours.keys() if cpu is Sh4 else seeds, ways)
        extra = blocks_of(code, ours.keys() - derived.keys() | seeds & ours.keys(), ways)
        theirs = extra if cpu is Sh4 else derived
        mine = {low: (b["last"], b["high"], sorted((e["kind"], e["target"]) for e in b["edges"])) for low, b in ours.items()}
        self.assertEqual({hex(a): m for a, m in mine.items() if m != theirs.get(a)}, {}, elf)
        self.assertEqual(sorted(map(hex, theirs.keys() - mine.keys())), [], elf)
        self.assertGreater(len(ours), least, elf)
        return len(ours), len(ours.keys() - derived.keys())


@unittest.skipUnless(shutil.which(Sh4.objdump), "needs binutils-sh4-linux-gnu")
class GraphSh4(Judged):
    Sh4.readelf = "sh4-linux-gnu-readelf"

    def test_examples_and_programs(self):
        for elf in [os.path.join(EXAMPLES, n, n + ".elf") for n in ("profexam", "irqdemo", "cxx")] + PROGRAMS:
            n, extra = self.judge(Sh4, elf, 30)
            self.assertLess(extra, n // 3, elf)

    @unittest.skipUnless(shutil.which("sh4-linux-gnu-gcc"), "needs gcc-sh4-linux-gnu")
    def test_a_c_library(self):
        with open(os.path.join(self.dir, "big.c"), "w") as f:
            f.write('#include <stdio.h>\nint main(int n, char **v) { return printf("%f %s", (double)n, v[0]); }\n')
        tool("sh4-linux-gnu-gcc", "-O0", "-static", "-o", "big.elf", "big.c", cwd=self.dir)
        n, extra = self.judge(Sh4, os.path.join(self.dir, "big.elf"), 10000)
        self.assertLess(extra, n // 20)

    @unittest.skipUnless(shutil.which("sh4-linux-gnu-gcc"), "needs gcc-sh4-linux-gnu")
    def test_the_cases_of_a_switch_are_the_compilers(self):
        cases = "".join(f"case {k}: g += {k * k + 3}; break;\n" for k in range(40) if k % 7 != 5)
        with open(os.path.join(self.dir, "s.c"), "w") as f:
            f.write(f"volatile int g;\nint f(int x) {{ switch (x) {{\n{cases}default: g = 1; }} return g; }}\nint main(void) {{ return f(g); }}\n")
        tool("sh4-linux-gnu-gcc", "-O0", "-S", "s.c", cwd=self.dir)
        tool("sh4-linux-gnu-as", "-L", "-o", "s.o", "s.s", cwd=self.dir)
        tool("sh4-linux-gnu-ld", "--discard-none", "-e", "main", "-Ttext=0x0c010000", "-o", "labels.elf", "s.o", cwd=self.dir)
        tool("sh4-linux-gnu-objcopy", "--discard-locals", "labels.elf", "s.elf", cwd=self.dir)
        with open(os.path.join(self.dir, "s.s")) as f:
            named = set(re.findall(r"\.(?:word|short|long)\s+(\.L\d+)-\.L\d+", f.read()))
        labels = {name: int(v, 16) for v, name in re.findall(r"^([0-9a-f]+) \w (\S+)$", tool("sh4-linux-gnu-nm", "labels.elf", cwd=self.dir), re.M)}
        self.assertGreater(len(named), 30)
        edges = [e for b in self.graph("s.elf", "f") for e in b["edges"] if e["kind"] == "case"]
        self.assertEqual(sorted(e["target"] for e in edges), sorted(labels[n] for n in named))
        self.judge(Sh4, os.path.join(self.dir, "s.elf"), 40)

    def test_random_programs(self):
        rng = random.Random(4)
        slots = ["nop", "add #1,r1", "mov r2,r3", "mov.l r4,@r5"]
        for k in range(8):
            text = [".text", ".global _start"]
            for f in range(12):
                name = "_start" if f == 0 else f"f{f}"
                text += [f".type {name},@function", f"{name}:"]
                n = rng.randrange(4, 60)
                for i in range(n):
                    text.append(f"l{f}_{i}:")
                    to = f"l{f}_{min(n, max(0, i + rng.randrange(-15, 16)))}"
                    op = rng.choice(["plain"] * 6 + ["bt", "bf", "bt.s", "bf.s", "bra", "bsr", "jsr", "jmp", "braf", "rts", "trapa"])
                    text.append({"plain": rng.choice(slots), "bsr": f"bsr f{rng.randrange(1, 12)}", "jsr": "jsr @r8", "jmp": "jmp @r9", "braf": "braf r10",
                                 "rts": "rts", "trapa": "trapa #33"}.get(op, f"{op} {to}"))
                    if op not in ("plain", "bt", "bf", "trapa"):
                        text.append(rng.choice(slots))
                text += [f"l{f}_{n}:", "rts", "nop", f".size {name},.-{name}"]
            with open(os.path.join(self.dir, "r.s"), "w") as f:
                f.write("\n".join(text) + "\n")
            tool("sh4-linux-gnu-as", "-o", "r.o", "r.s", cwd=self.dir)
            tool("sh4-linux-gnu-ld", "-Ttext=0x0c010000", "-o", f"r{k}.elf", "r.o", cwd=self.dir)
            self.assertEqual(self.judge(Sh4, os.path.join(self.dir, f"r{k}.elf"), 20)[1], 0)


@unittest.skipUnless(s12z_tools(), "needs tests/s12z/build_binutils.sh")
class GraphS12z(Judged):
    @classmethod
    def setUpClass(cls):
        cls.bin = s12z_tools()
        S12z.objdump, S12z.readelf = (os.path.join(cls.bin, "s12z-elf-" + t) for t in ("objdump", "readelf"))

    def test_the_example(self):
        elf = os.path.join(EXAMPLES, "motor", "motor.elf")
        self.judge(S12z, elf, 70)
        commutate = self.graph(elf, "commutate")
        self.assertEqual([b["unknown"] for b in commutate], [False] * (len(commutate) - 1) + [True])

    def test_random_programs(self):
        rng = random.Random(12)
        plain = ["nop", "ld d2, #7", "add d2, #300", "tfr d2, d3", "st d2, 4096", "lea x, (5,x)", "mov.b #1, 4097", "clr.w (x+)"]
        for k in range(8):
            text = [".text", ".globl start"]
            for f in range(12):
                name = "start" if f == 0 else f"f{f}"
                text += [f".globl {name}", f".type {name},@function", f"{name}:"]
                n = rng.randrange(4, 60)
                for i in range(n):
                    text.append(f"l{f}_{i}:")
                    to = f"l{f}_{rng.randrange(0, n + 1)}"
                    text.append(rng.choice([rng.choice(plain)] * 6 + [
                        f"{op} {to}" for op in ("bne", "beq", "bhi", "ble", "bra", "dbne d3,", "tbpl d0,", "brset d2, #3,")] +
                        [f"{op} f{rng.randrange(1, 12)}" for op in ("bsr", "jsr", "jmp")] + ["jmp [d2,x]", "jsr (2,x)", "rts", "swi"]))
                text += [f"l{f}_{n}:", "rts", f".size {name},.-{name}"]
            with open(os.path.join(self.dir, "r.s"), "w") as f:
                f.write("\n".join(text) + "\n")
            tool(os.path.join(self.bin, "s12z-elf-as"), "-o", "r.o", "r.s", cwd=self.dir)
            tool(os.path.join(self.bin, "s12z-elf-ld"), "-e", "start", "-Ttext=0xfe0000", "--discard-all", "-o", "r.elf", "r.o", cwd=self.dir)
            # the linker's name for the end is none of a function
            tool(os.path.join(self.bin, "s12z-elf-objcopy"), "--strip-symbol=_etext", "r.elf", cwd=self.dir)
            self.assertEqual(self.judge(S12z, os.path.join(self.dir, "r.elf"), 20)[1], 0)


class GraphView(Folder):
    ELF = os.path.join(PROFEXAM, "profexam.elf")

    def test_text_shows_instructions_and_ways(self):
        text = run(["graph", self.ELF, "main"], cwd=self.dir).stdout
        self.assertIn("0c010024 <main+0x8>:\n    0c010024  mov.l   0x0c010034,r1\n    0c010026  jsr     @r1\n    0c010028  nop\n"
                      "    calls Initialise\n    -> call-return  0c01002a  main+0xe\n", text)
        self.assertTrue(text.endswith("4 blocks, 4 edges; 0 blocks go on where nothing is known\n"), text)
        self.assertEqual(run(["graph", self.ELF, "0x8c010026"], cwd=self.dir).stdout, text)

    @unittest.skipUnless(shutil.which("dot"), "needs graphviz")
    def test_graphviz_reads_dot(self):
        motor = os.path.join(EXAMPLES, "motor", "motor.elf")
        for elf in (self.ELF, os.path.join(EXAMPLES, "cxx", "cxx.elf"), motor):
            dot = run(["graph", elf, "--dot"], cwd=self.dir).stdout
            plain = subprocess.run(["dot", "-Tplain"], input=dot, capture_output=True, text=True, check=True).stdout
            ours = json.loads(run(["graph", elf, "--json"], cwd=self.dir).stdout)["blocks"]
            unknown = sum(b["unknown"] for b in ours)
            self.assertEqual(plain.count("\nedge "), sum(len(b["edges"]) for b in ours) + unknown)

    def test_what_cannot_be_shown_is_said(self):
        self.assert_fails(run(["graph"], cwd=self.dir), 2, "needs an ELF", "probeprof graph")
        self.assert_fails(run(["graph", self.ELF, "mian"], cwd=self.dir), 1, "mian", "main")
        self.assert_fails(run(["graph", self.ELF, "0x8"], cwd=self.dir), 1, "no function is there", "leave it out")
        self.assert_fails(run(["graph", self.ELF, "--dot", "--json"], cwd=self.dir), 2, "both --dot and --json", "leave one out")


if __name__ == "__main__":
    main()
