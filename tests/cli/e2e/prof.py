#!/usr/bin/env python3
"""`report --prof` and `--gprof`. What the latter says gprof charges is compared, line by line, with what sh4-linux-gnu-gprof charges when it reads the
same recording's gmon.out; what was measured, with the JSON document's call tree. Two callers, recursion and handlers, a cycle of three functions.

usage: prof.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import subprocess
import tempfile

from common import EXAMPLES, Folder, IRQDEMO, PROFEXAM, SOURCE, main, run

CALLERS = os.path.join(EXAMPLES, "callers")
PROGRAMS = os.path.join(SOURCE, "tests", "programs")
RUNS = [("callers", CALLERS, "callers.elf", ["--start", "Round", "--stop", "RoundEnds", "--passes", "1"]),
        ("irqdemo", IRQDEMO, "irqdemo.elf", ["--for", "20ms"]),
        ("parser", PROGRAMS, "parser.elf", ["--elf", "parser.elf", "--load", "--stop", "done"])]


def gprof_graph(text):
    """{function: {"self", "below", "calls": (others, itself), "callers": {name: (self, below, calls)}, "callees": the same}}; cycles by their words."""
    graph = {}
    for block in re.split(r"\n-+\n", text):
        above, now = {}, None
        for line in block.splitlines():
            m = re.match(r"\[\d+\]\s+[\d.]+\s+([\d.]+)\s+([\d.]+)\s+(?:(\d+)(?:\+(\d+))?\s+)?(.+?) \[\d+\]$", line)
            if m:
                now = graph[m[5]] = {"self": float(m[1]), "below": float(m[2]), "calls": (int(m[3] or 0), int(m[4] or 0)), "callers": above, "callees": {}}
                continue
            m = re.match(r"\s+(?:([\d.]+)\s+([\d.]+)\s+)?(\d+)(?:/(\d+))?(?:\+\d+)?\s+(.+?) \[\d+\]$", line)
            if m:
                (now["callees"] if now else above)[m[5]] = (float(m[1] or 0), float(m[2] or 0), int(m[3])) if m[4] else (0, 0, int(m[3]))
    return graph


class Prof(Folder):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.recordings = tempfile.mkdtemp(prefix="probeprof-prof-")
        cls.addClassCleanup(shutil.rmtree, cls.recordings)
        for name, folder, _, args in RUNS:
            p = run(args + ["--gdb", "off", "--record", os.path.join(cls.recordings, name)], cwd=folder)
            assert p.returncode == 0, p.stderr
        p = run(["--sample", "--rate", "20k", "--for", "100ms", "--gdb", "off", "--record", os.path.join(cls.recordings, "samples")], cwd=PROFEXAM)
        assert p.returncode == 0, p.stderr

    def report(self, name, *args):
        p = run(["report", os.path.join(self.recordings, name), *args])
        self.assertEqual((p.returncode, p.stderr), (0, ""), args)
        return p.stdout

    def refused(self, name, *args):
        p = run(["report", os.path.join(self.recordings, name), *args])
        self.assertEqual((p.returncode, p.stdout), (2, ""), args)
        return p.stderr

    def assert_charged(self, theirs, a, what):
        self.assertEqual(theirs[2], a["calls"], what)
        for got, key in zip(theirs, ("charged_c1", "charged_below")):
            self.assertAlmostEqual(a.get(key, 0), got, delta=0.0051, msg=what)

    def test_charged__each_line__is_what_gprof_charges(self):
        gprof = shutil.which("sh4-linux-gnu-gprof")
        if not gprof:
            self.skipTest("no sh4-linux-gnu-gprof: apt-get install binutils-sh4-linux-gnu")
        for name, folder, elf, _ in RUNS:
            gmon = self.path("gmon.out")
            self.assertEqual(run(["convert", os.path.join(self.recordings, name), "--to", "gmon", "-o", gmon]).returncode, 0)
            text = subprocess.run([gprof, "-b", "-q", os.path.join(folder, elf), gmon], capture_output=True, text=True, check=True).stdout
            theirs = gprof_graph(text)
            d = json.loads(self.report(name, "--gprof", "--json"))
            self.assertEqual(d["schema"], "probeprof.gprof/1")
            cycle = {f["name"]: f["name"] + (f" <cycle {f['cycle']}>" if f["cycle"] else "") for f in d["functions"]}
            self.assertGreater(len(d["functions"]), 5)
            for f in d["functions"]:
                with self.subTest(recording=name, function=f["name"]):
                    t = theirs.pop(cycle[f["name"]])
                    self.assertAlmostEqual(t["self"], f["c1"], delta=0.0051)
                    self.assertAlmostEqual(t["below"], f["charged_below"], delta=0.0051)
                    for side in ("callers", "callees"):
                        ours = {cycle[a["function"]]: a for a in f[side] if a["function"] and a["calls"]}
                        self.assertEqual(set(t[side]), set(ours), side)
                        for other, row in t[side].items():
                            self.assert_charged(row, ours[other], (side, other))
            for c in d["cycles"]:
                t = theirs.pop(f"<cycle {c['cycle']} as a whole>")
                self.assertEqual((t["self"], t["calls"][0]), (c["c1"], c["calls"]))
                self.assertAlmostEqual(t["below"], c["charged_below"], delta=0.0051)
            self.assertEqual(theirs, {})
            self.assertEqual(len(d["cycles"]), int(name == "parser"))

    def test_measured__each_caller__is_the_sum_over_the_paths(self):
        for name, *_ in RUNS:
            d, whole = json.loads(self.report(name, "--gprof", "--json")), json.loads(self.report(name, "--json"))
            for f in d["functions"]:
                calls = json.loads(self.report(name, "--callers", f["name"], "--json"))["callers"]
                want = {r["function"]: (r["hits"], r["c1"], r["c1_children"]) for r in calls["rows"]}
                self.assertEqual({a["function"]: (a["calls"], a["c1"], a["c1_children"]) for a in f["callers"]}, want, (name, f["name"]))
            self.assertEqual({f["name"]: (f["c1"], f["c1_children"], f["calls"] + f["self_calls"]) for f in d["functions"]},
                             {f["name"]: (f["c1"], f["c1_children"], f["hits"]) for f in whole["functions"] if f["hits"] or f["c1_children"]})

    def test_far_off__two_callers__are_marked_and_equal_ones_not(self):
        d = {f["name"]: f for f in json.loads(self.report("callers", "--gprof", "--json"))["functions"]}
        self.assertEqual([(a["function"], a["far_off"]) for a in d["Factorial"]["callers"]], [("CallHard", True), ("CallEasy", True)])
        self.assertFalse(any(a["far_off"] for a in d["Round"]["callers"] + d["RoundEnds"]["callers"]))
        text = self.report("callers", "--gprof", "--function", "Factorial")
        self.assertRegex(text, r"\n +80243 +0 \* 148\.6k +0 +100/200 +CallHard \[\d\]\n +80243 +0 \* +11900 +0 +100/200 +CallEasy \[\d\]\n\[\d\] +96\.9")
        self.assertNotIn("\n[1]", text)
        self.assertIn("4 more not shown", self.report("callers", "--gprof", "--limit", "2"))
        self.assertIn("<1> as a whole", self.report("parser", "--gprof"))
        for name, *_ in RUNS:
            for option in ("--gprof", "--prof"):
                self.assertLessEqual(max(map(len, self.report(name, option).split("\n\ntotal")[0].splitlines())), 80)

    def test_prof__trace_and_samples__have_every_function_with_running_sums(self):
        for name, key in (("callers", "c1"), ("irqdemo", "c1"), ("samples", "hits")):
            d, whole = json.loads(self.report(name, "--prof", "--json")), json.loads(self.report(name, "--json"))
            self.assertEqual((d["schema"], d["of"]), ("probeprof.prof/1", "samples" if key == "hits" else "c1"))
            self.assertEqual(sorted((f["name"], f["value"]) for f in d["functions"]), sorted((f["name"], f[key]) for f in whole["functions"] if f[key] or f["hits"]))
            values = [f["value"] for f in d["functions"]]
            self.assertEqual(values, sorted(values, reverse=True))
            self.assertEqual([f["cumulative"] for f in d["functions"]], [sum(values[:i + 1]) for i in range(len(values))])
            if key == "hits":
                for f in d["functions"]:
                    self.assertAlmostEqual(f["seconds"] * whole["sampling"]["rate"], f["value"], delta=1e-6 * f["value"])
                    self.assertNotIn("calls", f)
            else:
                self.assertEqual({f["name"]: f["calls"] for f in d["functions"]}, {f["name"]: f["hits"] for f in whole["functions"] if f[key] or f["hits"]})
        self.assertRegex(self.report("callers", "--prof"), r"\n +C1% +cum +C1 +calls +C1/call +function\n +96\.9 +160\.5k +160\.5k +200 +802\.4 +Factorial\n")
        self.assertRegex(self.report("samples", "--prof"), r"hits% +cum +seconds +calls +ms/call +function\n +[\d.]+ +0\.\d{3} +0\.\d{3} +- +- +GetLastNode\n")
        self.assertIn("more not shown", self.report("callers", "--prof", "--limit", "1"))

    def test_folded__calls_are_not_known__they_are_absent(self):
        folded = self.write("x.folded", "main;f 30\nmain;g 10\nmain 2\n")
        p = run(["report", folded, "--prof", "--json"])
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        rows = json.loads(p.stdout)["functions"]
        self.assertEqual([(f["name"], f["value"], f["cumulative"]) for f in rows], [("f", 30, 30), ("g", 10, 40), ("main", 2, 42)])
        self.assertFalse([f for f in rows if "calls" in f])
        self.assertRegex(run(["report", folded, "--prof"]).stdout, r"\n +71\.4 +30 +30 +- +- +f\n")
        self.assert_fails(run(["report", folded, "--gprof"]), 1, "how often who called", "without --gprof")

    def test_what_has_no_effect_or_is_not_known__is_refused(self):
        self.assertIn("samples do not know who called", self.refused("samples", "--gprof"))
        for option in ("--prof", "--gprof"):
            for other in (["--tree"], ["--all"], ["--sort", "c1"], ["--hits", ">1"], ["--callers", "main"], ["--live"], ["--columns", "c1"], ["--hot", "c1>1"], ["--show", "tagged"]):
                self.assertIn(f"{option} has no use for {other[0]}", self.refused("callers", option, *other))
            self.assertIn("--json has all rows and columns", self.refused("callers", option, "--json", "--limit", "3"))
        self.assertIn("--prof has no use for --gprof", self.refused("callers", "--prof", "--gprof"))


if __name__ == "__main__":
    main()
