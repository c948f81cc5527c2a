#!/usr/bin/env python3
"""Code as instructions: what GNU objdump makes of the same ELFs.

usage: disasm.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import subprocess
import unittest

from common import EXAMPLES, Folder, PROFEXAM, main, run


class Disasm(Folder):
    def instructions(self, *args):
        r = run(["disasm", *args, "--json"], cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        return json.loads(r.stdout)["instructions"]

    @staticmethod
    def normal(text):
        """One form for both: blanks, "0x" and leading zeros of addresses."""
        text = re.sub(r" *<[^>]*>", "", text.split("!")[0])
        return re.sub(r"\b(?:0x)?0*([0-9a-f]{6,})\b", r"\1", " ".join(text.split()))

    @unittest.skipUnless(shutil.which("sh4-linux-gnu-objdump"), "needs binutils-sh4-linux-gnu")
    def test_sh4_is_what_objdump_says(self):
        for name in ("profexam", "irqdemo", "cxx"):
            elf = os.path.join(EXAMPLES, name, name + ".elf")
            text = subprocess.run(["sh4-linux-gnu-objdump", "-d", "-z", elf], capture_output=True, text=True, check=True).stdout
            theirs = {int(a, 16): self.normal(t) for a, t in re.findall(r"^ *([0-9a-f]+):\t(?:[0-9a-f]{2} )+ *\t(.*)$", text, re.M)}
            ours = {i["address"]: i for i in self.instructions(elf)}
            code = {a: i for a, i in ours.items() if not i["text"].startswith(".")}
            self.assertGreater(len(code), 200, name)
            self.assertEqual({a: self.normal(i["text"]) for a, i in code.items()}, {a: theirs.get(a) for a in code}, name)
            data = sum(len(i["bytes"]) // 2 for i in ours.values() if i["text"].startswith("."))
            self.assertEqual(2 * len(code) + data, 2 * len(theirs), name)

    def test_a_function_an_address_a_line_and_a_range(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        main = self.instructions(elf, "main")
        self.assertEqual((main[0]["address"], main[0]["symbol"]), (0x0C01001C, "main"))
        bra = next(i for i in main if i["address"] == 0x0C010030)
        self.assertEqual((bra["flow"], bra["target"], bra["remark"]), ("jump", 0x0C010024, "main+0x8"))
        load = next(i for i in main if i["address"] == 0x0C010024)
        self.assertEqual(load["remark"], "0x0c01003c Initialise")
        self.assertEqual([i["text"] for i in main[-2:]], [".long\t0x0c01003c", ".long\t0x0c01014c"])
        self.assertEqual(self.instructions(elf, "main+8"), main[4:])
        self.assertEqual(self.instructions(elf, "0x0c01001c:main+8"), main[:4])
        self.assertEqual(self.instructions(elf, "profexam.c:30")[0]["text"].split("\t")[0], "mov.l")
        text = run(["disasm", elf, "main"], cwd=self.dir).stdout
        self.assertTrue(text.startswith("0c01001c <main>:\n0c01001c  e62f        mov.l   r14,@-r15\n"), text)

    def test_s12z_flows_are_told(self):
        code = self.instructions(os.path.join(EXAMPLES, "motor", "motor.elf"), "pi_step")
        self.assertEqual([i["flow"] for i in code if i["flow"] != "next"], ["branch", "call", "return"])
        self.assertEqual(next(i for i in code if i["flow"] == "call")["remark"], "clamp")

    def test_what_cannot_be_shown_is_said(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        self.assert_fails(run(["disasm"], cwd=self.dir), 2, "needs an ELF", "probeprof disasm")
        self.assert_fails(run(["disasm", elf, "mian"], cwd=self.dir), 1, "mian", "main")
        self.assert_fails(run(["disasm", elf, "0x8"], cwd=self.dir), 1, "no code there", "code section")
        self.assert_fails(run(["disasm", elf, "main+8:main"], cwd=self.dir), 1, "main+8:main", "")


if __name__ == "__main__":
    main()
