#!/usr/bin/env python3
"""One function, two callers with as many calls each and not as much work (docs/examples/callers): `report --callers` shows what was
measured, gprof what it makes of the calls in the same recording.

usage: callers.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import subprocess

from common import EXAMPLES, Folder, main, run

CALLERS = os.path.join(EXAMPLES, "callers")
ELF = os.path.join(CALLERS, "callers.elf")
CALLS, HARD_TURNS, EASY_TURNS = 100, 4851, 300  # of each; of Factorial's loop, as its source says


def tool(case, name):
    found = shutil.which("sh4-linux-gnu-" + name)
    if not found:
        case.skipTest(f"no sh4-linux-gnu-{name}: apt-get install binutils-sh4-linux-gnu")
    return found


class Callers(Folder):
    def recorded(self, *args):
        recording = self.path("run.rec")
        p = run(["--start", "Round", "--stop", "RoundEnds", "--passes", "1", "--gdb", "off", "--record", recording, *args], cwd=CALLERS)
        self.assertEqual(p.returncode, 0, p.stderr)
        return recording

    def measured(self, recording):
        """(hits, C1) of Factorial for each caller, and for all."""
        d = json.loads(run(["report", recording, "--callers", "Factorial", "--json"]).stdout)["callers"]
        return {r["function"]: (r["hits"], r["c1"]) for r in d["rows"]}, (d["hits"], d["c1"])

    def loop(self):
        """Instructions of one turn of Factorial's loop: from where its last branch leads to that branch."""
        p = subprocess.run([tool(self, "objdump"), "-d", "--no-show-raw-insn", "--disassemble=Factorial", ELF], capture_output=True, text=True, check=True)
        code = [(int(a, 16), op, rest) for a, op, rest in re.findall(r"^ *([0-9a-f]+):\s+(\S+)(.*)$", p.stdout, re.M)]
        at, _, target = [i for i in code if i[1] == "bt"][-1]
        begin = int(target.split()[0], 16)
        return len([a for a, _, _ in code if begin <= a <= at])

    def test_measured__instructions__are_those_of_the_loop_as_often_as_it_was_asked_for(self):
        rows, (hits, c1) = self.measured(self.recorded("--c1", "instructions"))
        self.assertEqual((rows["CallHard"][0], rows["CallEasy"][0], hits), (CALLS, CALLS, 2 * CALLS))
        self.assertEqual(rows["CallHard"][1] - rows["CallEasy"][1], (HARD_TURNS - EASY_TURNS) * self.loop())
        self.assertEqual(rows["CallHard"][1] + rows["CallEasy"][1], c1)

    def test_gprof__same_recording__gives_each_caller_half(self):
        recording, gmon = self.recorded(), self.path("gmon.out")
        rows, (_, c1) = self.measured(recording)
        self.assertEqual(run(["convert", recording, "--to", "gmon", "-o", gmon]).returncode, 0)
        graph = subprocess.run([tool(self, "gprof"), "-b", "-q", ELF, gmon], capture_output=True, text=True, check=True).stdout
        block = next(b for b in graph.split("-----") if re.search(r"^\[\d+\].* Factorial ", b, re.M))
        theirs = {name: (float(t), calls) for t, calls, name in re.findall(r"^\s+([\d.]+)\s+0\.00\s+(\d+/\d+)\s+(Call\w+)", block, re.M)}
        self.assertEqual(theirs, {c: (c1 / 2, "100/200") for c in rows})
        self.assertGreater(rows["CallHard"][1], 10 * rows["CallEasy"][1])

    def test_readme__figures__are_what_comes_out(self):
        recording = self.recorded()
        with open(os.path.join(CALLERS, "README.md"), encoding="utf-8") as f:
            readme = f.read()
        rows, (_, c1) = self.measured(recording)
        shown = run(["report", recording, "--callers", "Factorial"]).stdout.splitlines()
        begins = shown.index("Callers of Factorial") + 1
        table = shown[begins:begins + 3]
        self.assertIn("CallEasy", table[2])
        for line in table:
            self.assertIn(line, readme)
        for line in run(["report", recording, "--gprof"]).stdout.split("-\n")[2].splitlines()[:3]:
            self.assertIn("    " + line, readme)
        self.assertIn(f"{c1:,} cycles", readme)
        self.assertEqual(readme.count(f"{c1 / 2:.2f}"), 2)
        self.assertIn("twelve times", readme)
        self.assertEqual(rows["CallHard"][1] // rows["CallEasy"][1], 12)


if __name__ == "__main__":
    main()
