#!/usr/bin/env python3
"""`probeprof annotate`: what stands beside lines and instructions adds up to what the report says, and lines are objdump's.

usage: annotate.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import subprocess
import unittest

from common import EXAMPLES, Folder, IRQDEMO, MISSION, PROFEXAM, main, run

MOTOR = os.path.join(EXAMPLES, "motor")
OBJDUMP = "sh4-linux-gnu-objdump"


class Annotate(Folder):
    maxDiff = None

    def record(self, args, cwd=PROFEXAM, probe="sim:sh7750"):
        """A recording, its report, and all of it annotated."""
        path = self.path("r")
        p = run([*args, "--gdb", "off", "--http", "off", "--record", path], cwd, probe)
        self.assertEqual(p.returncode, 0, p.stderr)
        report, notes = [run([verb, path, "--json"], cwd) for verb in ("report", "annotate")]
        self.assertEqual((report.returncode, notes.returncode), (0, 0), notes.stderr)
        return path, json.loads(report.stdout), json.loads(notes.stdout)

    def rows(self, function, key):
        return [i for i in function["instructions"] if key in i]

    def check_functions(self, report, notes):
        """The functions that ran and have code, the heaviest first, with the report's figures."""
        key = "hits" if notes["type"] == "statistical" else "c1"
        want = {f["low"]: f for f in report["functions"] if f["hits"] and f["high"] > f["low"]}
        self.assertEqual({f["low"] for f in notes["functions"]}, set(want))
        weights = [f[key] for f in notes["functions"]]
        self.assertEqual(weights, sorted(weights, reverse=True))
        for f in notes["functions"]:
            for k in ("name", "hits", "c1", "c1_children", "c2", "c2_children", "doubtful"):
                self.assertEqual(f[k], want[f["low"]][k], k)

    def check_costs(self, report, notes):
        """Stretches are all of a function's own counts; call sites have what the paths below it took (these programs do not recurse)."""
        index = {f["low"]: i for i, f in enumerate(report["functions"])}
        tree = report["tree"]
        for f in notes["functions"]:
            for k in ("c1", "c2"):
                self.assertEqual(sum(s[k] for s in f["stretches"]), f[k], (f["name"], k))
            mine = [n["id"] for n in tree if n["function"] == index[f["low"]]]
            below = [n for n in tree if n["parent"] in mine]
            sites = self.rows(f, "calls")
            if f["doubtful"]:  # calls of frames that were found running have no site
                self.assertLessEqual(sum(i["calls"] for i in sites), sum(n["hits"] for n in below), f["name"])
                continue
            self.assertEqual(sum(i["calls"] for i in sites), sum(n["hits"] for n in below), f["name"])
            self.assertEqual(sum(i["c1_children"] for i in sites), sum(n["c1_children"] for n in below), f["name"])
            self.assertEqual(sum(i["c2_children"] for i in sites), sum(n["c2_children"] for n in below), f["name"])

    def test_calls_of_the_tutorial(self):
        path, report, notes = self.record(MISSION + ["--passes", "3"])
        self.check_functions(report, notes)
        self.check_costs(report, notes)
        build = next(f for f in notes["functions"] if f["name"] == "BuildList")
        of = {f["name"]: f for f in report["functions"]}
        got = {re.search(r"(\w+)\(", i["source"].split("=", 1)[-1]).group(1) if i["line"] != 85 else "GetLastNode": i for i in self.rows(build, "calls")}
        for name in ("GetNewNode", "InsertNode", "GetLastNode"):
            self.assertEqual([got[name][k] for k in ("calls", "c1_children", "c2_children")], [of[name][k] for k in ("hits", "c1_children", "c2_children")], name)
        main_ = next(f for f in notes["functions"] if f["name"] == "main")
        self.assertEqual([(i["address"] - main_["low"], i["point"]) for i in self.rows(main_, "point")], [(8, "start"), (20, "stop")])
        text = run(["annotate", path, "BuildList"], PROFEXAM).stdout
        self.assertRegex(text, r"(?m)^ +3000 +\d+\.\dk +\d+ +0c01\w{4}  jsr +@r1$")
        self.assertRegex(text, r"(?m)^ +84 +struct node \*node = GetNewNode\(number\);$")
        lines = run(["annotate", path, "profexam.c", "--source", "--limit", "3"], PROFEXAM).stdout
        self.assertRegex(lines, r"(?m)^ +3000 +\d+\.\dk +\d+ +55 +struct node \*node = MallocNode\(\);$")
        self.assertEqual(lines.count("stretches between"), 3)
        self.assertNotIn("jsr", lines)
        bare = run(["annotate", path, "main+4", "--asm"], PROFEXAM).stdout
        self.assertRegex(bare, r"(?m)^ +> +0c01\w{4}  ")
        self.assertEqual(len(re.findall(r"(?m)^\S+ .*profexam\.c:", bare)), 1)

    def test_interrupts(self):
        _, report, notes = self.record(["--for", "20ms"], IRQDEMO)
        self.check_functions(report, notes)
        for f in notes["functions"]:
            self.assertEqual(sum(s["c1"] for s in f["stretches"]), f["c1"], f["name"])

    def test_samples_are_where_they_were_taken(self):
        _, report, notes = self.record(["--sample", "--rate", "20k", "--for", "200ms"])
        self.check_functions(report, notes)
        for f in notes["functions"]:
            self.assertEqual(sum(i["samples"] for i in self.rows(f, "samples")), f["hits"], f["name"])
            self.assertIsNone(f["stretches"])

    def test_an_s12z_counts_each_instruction(self):
        _, report, notes = self.record(["--for", "40ms"], MOTOR, None)
        self.check_functions(report, notes)
        branches = 0
        for f in notes["functions"]:
            counted = self.rows(f, "count")
            self.assertTrue(counted, f["name"])
            for i in self.rows(f, "taken"):
                branches += 1
                self.assertLessEqual(abs(i["taken"] + i["not_taken"] - i["count"]), 1, i)  # one may be under way at the end
            self.assertNotIn("c1_children", str(f["instructions"]))  # counter 1 is an estimate there
            self.assertIsNone(f["stretches"])
        self.assertGreater(branches, 3)

    @unittest.skipUnless(shutil.which(OBJDUMP), "needs " + OBJDUMP)
    def test_lines_are_objdumps(self):
        _, _, notes = self.record(MISSION + ["--passes", "1"])
        out = subprocess.run([OBJDUMP, "-dl", os.path.join(PROFEXAM, "profexam.elf")], capture_output=True, text=True, check=True).stdout
        want, line, compared = {}, None, 0
        for text in out.splitlines():
            if m := re.match(r"\S+:(\d+)( \(discriminator \d+\))?$", text):
                line = int(m.group(1))
            elif m := re.match(r" *([0-9a-f]+):\t", text):
                want[int(m.group(1), 16)] = line
        for f in notes["functions"]:
            for i in f["instructions"]:
                if i["line"] and not i["text"].startswith("."):
                    self.assertEqual(i["line"], want[i["address"]], hex(i["address"]))
                    compared += 1
        self.assertGreater(compared, 100)

    def test_sources_that_are_elsewhere(self):
        path, _, _ = self.record(MISSION + ["--passes", "1"])
        elf, moved = self.path("profexam.elf"), self.path("moved")
        os.mkdir(moved)
        shutil.copy(os.path.join(PROFEXAM, "profexam.elf"), elf)
        shutil.copy(os.path.join(PROFEXAM, "profexam.c"), moved)
        r = run(["annotate", path, "--elf", elf], self.dir)
        self.assertEqual((r.returncode, r.stderr.count("the source file is not where")), (0, 1), r.stderr)  # of six functions
        self.assertNotIn("GetNewNode(number)", r.stdout)
        self.assertIn("jsr", r.stdout)
        r = run(["annotate", path, "--elf", elf, "--source-dir", "./=moved"], self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertNotIn("the source file is not where", r.stderr)
        self.assertIn("GetNewNode(number)", r.stdout)

    def test_usage(self):
        path, _, _ = self.record(MISSION + ["--passes", "1"])
        for args, status, says, hint in (([], 2, "needs a recording", "run.rec"), ([path, "nosuch"], 1, "nosuch", "nm"), ([path, "0x10"], 1, "no function is there", "name a function"),
                                         ([path, "--source-dir", "x"], 2, "OLD=NEW", "--source-dir /build"), ([path, "--source-dir", "x=/nowhere"], 2, "/nowhere", "give the folder"), ([path, "--limit", "0"], 2, "--limit", ""), ([__file__], 1, "recording", "--record")):
            self.assert_fails(run(["annotate", *args], PROFEXAM), status, says, hint)


if __name__ == "__main__":
    main()
