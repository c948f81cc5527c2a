#!/usr/bin/env python3
"""/api/1/function/ID: each function of a profile, with its callers, callees, instructions and lines, against `report --json` of the same run.

usage: feed_function.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from common import EXAMPLES, Folder, IRQDEMO, MISSION, PROFEXAM, TIMEOUT, main, run, start
from follower import ask, command, status_of, wait_until_paused

MOTOR = os.path.join(EXAMPLES, "motor")
FIGURES = ("hits", "c1", "c1_children", "c2", "c2_children")


def number(v):
    return int(v) if isinstance(v, str) else v


def figures(x):
    """What is not known is absent in the feed's answer, where a report has null."""
    return [number(x.get(k)) for k in FIGURES]


def kin(tree, function):
    """Callers and callees by function, out of the whole tree: what is below the function itself counts once."""
    up, down = {}, {}
    for node in tree:
        parent = None if node["parent"] is None else tree[node["parent"]]
        chain, at = [], parent
        while at:
            chain.append(at["function"])
            at = None if at["parent"] is None else tree[at["parent"]]
        if node["function"] == function:
            add(up, parent and parent["function"], node, function not in chain)
        if parent and parent["function"] == function:
            own = next((i for i, f in enumerate(chain) if f != function), len(chain))  # its frames right above
            add(down, node["function"], node, node["function"] != function and function not in chain[own:])
    return [{k: v for k, v in x.items() if any(v)} for x in (up, down)]


def add(into, key, node, with_children):
    sums = into.setdefault(key, [0] * 5)
    for i, k in enumerate(FIGURES):
        sums[i] += node[k] if with_children or "children" not in k else 0


class FunctionFolder(Folder):
    def view(self, record, cwd, *more):
        p = start(["view", "--http", "0", record, *more], cwd=cwd, stdout=subprocess.DEVNULL)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        self.where = int(re.search(r"localhost:(\d+)/", self.wait_for(p, "feed: ")).group(1))
        return p

    def record(self, args, cwd, probe="sim:sh7750"):
        record = self.path("run.rec")
        r = run(args + ["--gdb", "off", "--http", "off", "--record", record], cwd=cwd, probe=probe)
        self.assertEqual(r.returncode, 0, r.stderr)
        return record, json.loads(run(["report", record, "--json"], cwd=cwd).stdout)

    def get(self, id):
        status, _, text = ask(self.where, f"/api/1/function/{id}")
        self.assertEqual(status, 200, text)
        self.assertEqual(text.count(b"\n"), 1)
        return json.loads(text)

    def names(self):
        return {n[0]: n for n in json.loads(ask(self.where, "/api/1/snapshot?view=functions")[2]).get("names", [])}

    def all(self):
        return {id: self.get(id) for id in self.names()}

    def check_figures(self, got, d):
        """Each function of the report is there once, with its figures."""
        key = lambda f: (f["name"], f["low"], f["high"], f["file"], f["line"])
        report = {key(f): (i, f) for i, f in enumerate(d["functions"]) if any(f[k] for k in FIGURES)}
        of = {}
        for id, f in got.items():
            if any(figures(f)):
                i, r = report.pop(key(f))
                of[id] = i
                self.assertEqual(figures(f), figures(r), f["name"])
                self.assertEqual(bool(f["flags"] & 1), r["doubtful"], f["name"])
        self.assertEqual(report, {})
        return of

    def check_kin(self, got, d):
        of = self.check_figures(got, d)
        for id, i in of.items():
            f = got[id]
            up, down = kin(d["tree"], i)
            number_of = lambda k: None if k["function"] is None else of[k["function"]]
            self.assertEqual({number_of(k): figures(k) for k in f["callers"]}, up, f["name"])
            self.assertEqual({number_of(k): figures(k) for k in f["callees"]}, down, f["name"])
            self.assertEqual([sum(number(k[c]) for k in f["callers"]) for c in FIGURES], figures(f), f["name"])


class Function(FunctionFolder):
    def test_tutorial(self):
        record, d = self.record(MISSION + ["--passes", "3"], PROFEXAM)
        self.view(record, PROFEXAM)
        got = self.all()
        self.check_kin(got, d)
        self.assertEqual(got[0]["type"], "trace")
        for f in got.values():
            for i in f["instructions"]:  # nothing is measured on single instructions of this board
                self.assertFalse(i.keys() & {"hits", "count", "taken", "not_taken"}, i)
        self.assertEqual(ask(self.where, "/api/1/function/" + str(len(got)))[0], 404)
        for bad in ("", "x", "1x", "-1", "01234567890", "1/2", "../../etc/passwd"):
            self.assertEqual(ask(self.where, "/api/1/function/" + bad)[0], 404, bad)
        self.assertEqual(ask(self.where, "/api/1/function/1?path=/etc/passwd")[0], 400)

    def test_interrupts(self):
        record, d = self.record(["--for", "60ms"], IRQDEMO)
        self.view(record, IRQDEMO)
        self.check_kin(self.all(), d)
        self.assertGreater(len(d["handlers"]), 0)

    def test_a_run_that_goes_on(self):
        p = start(["--gdb", "off", "--http", "0", "--record", self.path("run.rec")], cwd=PROFEXAM, probe="sim:sh7750", stdout=subprocess.DEVNULL)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        self.where = int(re.search(r"localhost:(\d+)/", self.wait_for(p, "feed: ")).group(1))
        self.wait_for(p, "profiling")
        events = lambda: status_of(self.where)["events"]
        end = time.monotonic() + TIMEOUT
        while events() < 2000:
            self.assertLess(time.monotonic(), end)
            if self.names():
                self.assertEqual(self.get(0)["id"], 0)  # while it changes
        self.assertEqual(command(self.where, do="stop")[0], 200)
        wait_until_paused(self.where)
        got = self.all()
        p.send_signal(signal.SIGINT)
        p.stderr.read()
        self.assertEqual(p.wait(timeout=TIMEOUT), 0)
        self.check_kin(got, json.loads(run(["report", self.path("run.rec"), "--json"], cwd=PROFEXAM).stdout))

    def test_motor_has_exact_counts(self):
        record, d = self.record(["--for", "150ms"], MOTOR, None)
        self.view(record, MOTOR)
        got = self.all()
        self.check_kin(got, d)
        branches = {b["pc"]: (b["taken"], b["not_taken"]) for b in d["branches"]}
        rows = {i["address"]: i for f in got.values() for i in f["instructions"]}
        for a, i in rows.items():
            count = next((b["count"] for b in d["blocks"] if b["low"] <= a < b["high"]), None)
            self.assertEqual(i.get("count"), count, i)
            self.assertEqual((i["taken"], i["not_taken"]) if "taken" in i else None, branches.get(a), i)
        self.assertGreater(sum("count" in i for i in rows.values()), 50)
        self.assertGreater(sum("taken" in i for i in rows.values()), 5)
        loop = next(f for f in got.values() if f["name"] == "control_loop")
        by_line = {line["line"]: line for line in loop["source"]["lines"]}
        with open(os.path.join(MOTOR, "motor.s"), encoding="utf-8") as source:
            text = source.read().split("\n")
        for i in loop["instructions"]:
            self.assertEqual(by_line[i["line"]]["text"], text[i["line"] - 1])
            self.assertEqual(by_line[i["line"]].get("count", 0), max(k.get("count", 0) for k in loop["instructions"] if k["line"] == i["line"]))

    def check_samples(self, args, cwd, probe):
        record, d = self.record(["--sample", *args], cwd, probe)
        self.view(record, cwd)
        got = self.all()
        self.check_figures(got, d)
        self.assertEqual(d["type"], "statistical")
        for f in got.values():
            self.assertEqual((f["type"], f["callers"], f["callees"]), ("statistical", None, None))
            if f["instructions"]:
                self.assertEqual(sum(i.get("hits", 0) for i in f["instructions"]), number(f["hits"]), f["name"])
            if f["source"] and not any("file" in i or "line" not in i for i in f["instructions"]):
                self.assertEqual(sum(line.get("hits", 0) for line in f["source"]["lines"]), number(f["hits"]), f["name"])
        self.assertGreater(sum("hits" in i for f in got.values() for i in f["instructions"]), 10)

    def test_samples(self):
        self.check_samples(["--rate", "20k", "--for", "300ms"], PROFEXAM, "sim:sh7750")

    def test_samples_of_the_motor(self):
        self.check_samples(["--rate", "10k", "--for", "300ms"], MOTOR, None)


class Code(FunctionFolder):
    @staticmethod
    def normal(text):
        text = re.sub(r" *<[^>]*>", "", text.split("!")[0])
        return re.sub(r"\b(?:0x)?0*([0-9a-f]{6,})\b", r"\1", " ".join(text.split()))

    @unittest.skipUnless(shutil.which("sh4-linux-gnu-objdump"), "needs binutils-sh4-linux-gnu")
    def test_instructions_are_what_objdump_says(self):
        record, _ = self.record(MISSION + ["--passes", "1"], PROFEXAM)
        self.view(record, PROFEXAM)
        text = subprocess.run(["sh4-linux-gnu-objdump", "-d", "-z", os.path.join(PROFEXAM, "profexam.elf")], capture_output=True, text=True, check=True).stdout
        theirs = {int(a, 16): self.normal(t) for a, t in re.findall(r"^ *([0-9a-f]+):\t(?:[0-9a-f]{2} )+ *\t(.*)$", text, re.M)}
        seen = 0
        for f in self.all().values():
            code = {i["address"]: self.normal(i["text"]) for i in f["instructions"] if not i["text"].startswith(".")}
            self.assertEqual(code, {a: theirs.get(a) for a in code}, f["name"])
            data = sum(4 if i["text"].startswith(".long") else 2 for i in f["instructions"] if i["text"].startswith("."))
            self.assertEqual(2 * len(code) + data, f["high"] - f["low"], f["name"])
            seen += len(code)
        self.assertGreater(seen, 150)

    def test_source_is_text_and_its_state_is_said(self):
        record, _ = self.record(MISSION + ["--passes", "1"], PROFEXAM)
        elf, source, secret = self.path("profexam.elf"), self.path("profexam.c"), self.path("secret.txt")
        shutil.copy(os.path.join(PROFEXAM, "profexam.elf"), elf)
        os.utime(elf, (10**9, 10**9))
        hostile = ['"</script>\\ \x1b[2J\x07', "\u202e\u00e9" * 300, "<img src=x onerror=alert(1)>"]
        lines = [f"line {n}" for n in range(1, 29)] + hostile + ["", "", "last"]

        def source_of_main():
            return next(f for f in self.all().values() if f["name"] == "main")["source"]

        self.write("profexam.c", "\n".join(lines))
        os.utime(source, (10**9, 10**9))
        self.view(record, self.dir, "--elf", elf)
        got = source_of_main()
        self.assertIsNone(got["note"])
        text = {line["line"]: line["text"] for line in got["lines"]}
        self.assertEqual((text[29], text[31], text[34]), (hostile[0], hostile[2], "last"))
        self.assertTrue(hostile[1].startswith(text[30]) and 390 <= len(text[30].encode()) <= 400, text[30])
        os.utime(source, (10**9 + 5, 10**9 + 5))
        got = source_of_main()
        self.assertIn("newer", got["note"])
        self.assertEqual(got["lines"][0]["text"], hostile[0])
        for spoil in (lambda: None,  # it is not there
                      lambda: os.symlink("/etc/hostname", source), lambda: os.mkdir(source), lambda: os.mkfifo(source)):
            os.rmdir(source) if os.path.isdir(source) else os.remove(source) if os.path.lexists(source) else None
            spoil()
            got = source_of_main()
            self.assertIn("source file", got["note"])
            self.assertTrue(got["lines"])
            self.assertFalse(any("text" in line for line in got["lines"]), got)
        os.remove(source)
        with open(secret, "w", encoding="utf-8") as f:
            f.write("secret\n" * 60)
        os.symlink(secret, source)  # beside the ELF, but nothing that is called as a source is
        self.assertFalse(any("text" in line for line in source_of_main()["lines"]))


if __name__ == "__main__":
    main()
