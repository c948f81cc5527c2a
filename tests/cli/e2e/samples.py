#!/usr/bin/env python3
"""--sample by line and instruction: `annotate` of a recording against the samples that stand in it, one by one, and what GNU objdump -dl says of each address.

usage: samples.py PROBEPROF SOURCE_DIR EVENTS_OF [unittest arguments]
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

EVENTS_OF = os.path.abspath(sys.argv.pop(3))

from common import EXAMPLES, Folder, main, run, s12z_tools  # noqa: E402

HAS_PC = 1  # targets/event.h


def sample_kind():
    """The number of EVENT_SAMPLE, from the header that has it."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "targets", "event.h")
    with open(path, encoding="utf-8") as f:
        body = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S).split("enum event_kind {")[1].split("}")[0]
    return [name.strip() for name in body.split(",")].index("EVENT_SAMPLE")


class Board:
    """What both boards have to show; OBJDUMP, ELF, PROBE and ARGS are of each."""

    def objdump(self):
        """Of each instruction: its line. Of each function: [first address, one past the last instruction's first byte]."""
        out = subprocess.run([self.OBJDUMP, "-dl", self.ELF], capture_output=True, text=True, check=True).stdout
        lines, of, line, name = {}, {}, None, None
        for text in out.splitlines():
            if m := re.match(r"[0-9a-f]+ <(.+)>:$", text):
                name, line = m.group(1), None
            elif m := re.match(r"\S+:(\d+)(?: \(discriminator \d+\))?$", text):
                line = int(m.group(1))
            elif (m := re.match(r" *([0-9a-f]+):\t(?:[0-9a-f]{2} )+ *\t", text)):
                lines[int(m.group(1), 16)], of[int(m.group(1), 16)] = line, name
        return lines, of

    def setUp(self):
        super().setUp()
        self.recording = self.path("s.rec")
        p = run([*self.ARGS, "--gdb", "off", "--http", "off", "--record", self.recording], os.path.dirname(self.ELF), self.PROBE)
        self.assertEqual(p.returncode, 0, p.stderr)
        out = subprocess.run([EVENTS_OF, self.recording], capture_output=True, text=True, check=True).stdout
        rows = [tuple(map(int, line.split())) for line in out.splitlines()]
        looks = [r for r in rows if r[0] == sample_kind()]
        self.raw = collections.Counter(pc for _, flags, pc, _, _ in looks if flags & HAS_PC)
        self.assertGreater(sum(self.raw.values()), 200)
        self.lines, self.of = self.objdump()

    def annotate(self, *args):
        p = run(["annotate", self.recording, *args], os.path.dirname(self.ELF))
        self.assertEqual(p.returncode, 0, p.stderr)
        return p.stdout

    def test_instructions__each__has_the_samples_that_were_taken_there(self):
        d = json.loads(self.annotate("--json"))
        shown = collections.Counter()
        for f in d["functions"]:
            for i in f["instructions"]:
                if "samples" in i:
                    self.assertGreater(i["samples"], 0)  # none is absent, not 0
                    self.assertEqual(i["line"], self.lines[i["address"]], hex(i["address"]))
                    shown[i["address"]] += i["samples"]
        self.assertEqual(shown, self.raw)

    def test_asm__each_row__has_count_and_share_of_its_address(self):
        seen = collections.Counter()
        for part in re.split(r"\n(?=\S)", self.annotate("--asm")):
            if not (total := re.search(r", ([\d,]+) samples?$", part, re.M)):
                continue
            rows = re.findall(r"(?m)^ +(\d+) +([\d.]+) +([0-9a-f]{8})  ", part)
            for n, percent, address in rows:
                seen[int(address, 16)] += int(n)
                self.assertAlmostEqual(float(percent), 100 * int(n) / int(total.group(1).replace(",", "")), delta=0.051)
        self.assertEqual(seen, self.raw)

    def test_source__each_line__has_the_sum_of_its_instructions(self):
        want = collections.Counter()
        for pc, n in self.raw.items():
            want[self.of[pc], self.lines[pc]] += n
        got = collections.Counter()
        text = self.annotate("--source")
        name = None
        for row in text.splitlines():
            if re.match(r"\S", row) and not row.startswith("0x"):
                name = row.split()[0]
            elif m := re.match(r" +(\d+) +[\d.]+ +(?:\S+:)?(\d+)  ", row):
                got[name, int(m.group(2))] += int(m.group(1))
        self.assertEqual(got, want)


@unittest.skipUnless(shutil.which("sh4-linux-gnu-objdump"), "needs binutils-sh4-linux-gnu")
class Sh4(Board, Folder):
    OBJDUMP, PROBE = "sh4-linux-gnu-objdump", "sim:sh7750"
    ELF = os.path.join(EXAMPLES, "callers", "callers.elf")
    ARGS = ["--sample", "--rate", "20k", "--for", "200ms"]


@unittest.skipUnless(s12z_tools(), "needs tests/s12z/build_binutils.sh")
class S12z(Board, Folder):
    OBJDUMP, PROBE = os.path.join(s12z_tools() or "", "s12z-elf-objdump"), "sim:s12zvml128"
    ELF = os.path.join(EXAMPLES, "motor", "motor.elf")
    ARGS = ["--sample", "--rate", "10k", "--for", "500ms"]


if __name__ == "__main__":
    main()
