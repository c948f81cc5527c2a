#!/usr/bin/env python3
"""Profiles in other programs' formats, read again: what they tell is what was written, what they do not tell is absent in every view.

usage: imported.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import gzip
import json
import os
import random
import re
import shutil
import struct
import subprocess
import urllib.request

from common import Folder, MISSION, PASS_HITS, PROFEXAM, main, run, start


def shown(f):
    return f["qualified_name"] or f["name"]


class Imported(Folder):
    def document(self, *args):
        p = run(["report", *args, "--json"], cwd=self.dir)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        return json.loads(p.stdout)

    def record(self, *more):
        p = run(MISSION + ["--passes", "2", "--gdb", "off", "--record", self.path("run.rec"), *more], PROFEXAM)
        self.assertEqual(p.returncode, 0, p.stderr)
        return self.path("run.rec")

    def convert(self, file, to, name, *more):
        p = run(["convert", file, "--to", to, "-o", self.path(name), *more], cwd=self.dir)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        return self.path(name)

    def text(self, path):
        with open(path, encoding="utf-8") as f:
            return f.read()

    def functions(self, document, figures):
        return {shown(f): [f[k] for k in figures] for f in document["functions"] if any(f[k] for k in figures)}

    def view(self, *files):
        p = start(["view", "--http", "0", *files], cwd=self.dir, stdout=subprocess.DEVNULL)
        for f in (p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        return f"http://localhost:{re.search(r'localhost:([0-9]+)/', self.wait_for(p, 'feed: ')).group(1)}"

    def get(self, url):
        with urllib.request.urlopen(url) as r:
            return r.read().decode()


class ImportedFolded(Imported):
    def test_what_was_written_is_read_again(self):
        recording = self.record()
        was = self.document(recording)
        for value in ("c1", "c2"):
            again = self.document(self.convert(recording, "folded", value + ".folded", "--value", value))
            figures = [value, value + "_children"]
            self.assertEqual({k: v for k, v in self.functions(again, ("c1", "c1_children")).items() if v[1]},
                             {k: v for k, v in self.functions(was, figures).items() if v[1]})
            self.assertEqual(again["totals"]["c1"], was["totals"][value])

    def test_hits_are_absent_everywhere(self):
        file = self.write("x.folded", "main;read file 3\nmain;read file;copy 4\nmain 1\n")
        document = self.document(file)
        for row in [document["totals"], *document["functions"], *document["tree"]]:
            self.assertNotIn("hits", row)
        for row in document["functions"]:
            self.assertNotIn("low", row)
        for args in ((), ("--tree",), ("--tree=up",), ("--callers", "read file", "--callees", "read file")):
            p = run(["report", file, *args])
            self.assertEqual((p.returncode, p.stderr), (0, ""))
            self.assertNotIn("hits", p.stdout)
            self.assertIn("how often functions were called is not known", p.stdout)
            self.assertIn("read file", p.stdout)

        for args in (("--columns", "hits,c1"), ("--hits", "3"), ("--sort", "hits"), ("--tree", "--columns", "hits")):
            self.assert_fails(run(["report", file, *args]), 2, "how often functions were called is not known", "")
        self.assertIn("C1+ch%  function", run(["report", file, "--columns", "c1,c1+ch%"]).stdout)

    def test_conversions_keep_it_absent(self):
        file = self.write("x.folded", "main;read file 3\nmain;read file;copy 4\nmain 1\n")
        self.assertEqual(self.text(self.convert(file, "folded", "y")), "main 1\nmain;read file 3\nmain;read file;copy 4\n")
        speedscope = json.loads(self.text(self.convert(file, "speedscope", "y")))
        self.assertEqual([p["name"].split(";")[0] for p in speedscope["profiles"]], ["weight (count)"])
        callgrind = self.text(self.convert(file, "callgrind", "y"))
        self.assertIn("desc: Calls: their numbers are not known", callgrind)
        self.assertEqual(set(re.findall(r"calls=(\d+)", callgrind)), {"0"})
        for to, why in (("prf", "cannot say"), ("gmon", "addresses"), ("lcov", "lines")):
            self.assert_fails(run(["convert", file, "--to", to, "-o", self.path("z")]), 1 if to != "lcov" else 2, why, "")
            self.assertFalse(os.path.exists(self.path("z")))
        self.assert_fails(run(["convert", file, "--to", "folded", "--value", "hits"]), 2, "is not known", "--value")

    def test_two_of_them_are_compared_by_the_run(self):
        old, new = self.write("old", "main;f 30\nmain;g 5\n"), self.write("new", "main;f 45\nmain;h 5\n")
        d = json.loads(run(["diff", old, new, "--json"]).stdout)
        rows = {r["name"]: r for r in d["functions"]}
        self.assertEqual((d["mean_of"], rows["f"]["old"]["mean"], rows["f"]["new"]["mean"], rows["f"]["change"]), ("run", 30, 45, 0.5))
        self.assertEqual((rows["f"]["verdict"], rows["g"]["verdict"], rows["h"]["verdict"]), ("unclear", "gone", "new"))
        self.assertNotIn("hits", rows["f"]["old"])
        self.assertIn("sum of a run", run(["diff", old, new]).stdout)

    def test_the_feed_says_what_is_unknown(self):
        url = self.view(self.write("x.folded", "main;f 3\nmain 1\n"))
        with urllib.request.urlopen(url + "/api/1/feed.ndjson?view=functions,nodes") as r:
            hello, snap = [json.loads(r.readline()) for _ in range(2)]
        self.assertEqual((hello["unknown"], hello["counters"]), (["hits", "addresses", "c2"], [["weight", None], None]))
        names = {n[0]: n[1] for n in snap["names"]}
        self.assertEqual((snap["tot"], {names[f[0]]: f[1:4] for f in snap["f"]}), ([None, 4, None], {"main": [None, 1, 4], "f": [None, 3, 3]}))
        self.assertEqual([(names[n[2]], *n[3:6]) for n in snap["n"]], [("main", None, 1, 4), ("f", None, 3, 3)])
        for i, name in names.items():
            one = json.loads(self.get(f"{url}/api/1/function/{i}"))
            self.assertEqual((one["name"], "hits" in one, "low" in one), (name, False, False))
            self.assertFalse([k for k in one["callers"] + one["callees"] if "hits" in k])
        self.assertNotIn("hits", self.get(url + "/metrics"))
        p = run(["top", url.split("//")[1], "-n", "1"])
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertRegex(p.stdout, r"- +75\.0 .*  f\n")

    def test_from__every_view_takes_it_of_files_that_do_not_tell(self):
        text = "main;f 30\nmain;g 5\n"
        silent = [self.write(name, "\n" + more) for name, more in (("silent", text), ("silent2", "main;f 45\nmain;g 5\n"))]
        self.assert_fails(run(["diff", *silent]), 1, "neither a recording nor a profile that is read", "--from")
        self.assert_fails(run(["view", silent[0], "--http", "0"]), 1, "neither a recording nor a profile that is read", "--from")
        told = [self.write(name, more) for name, more in (("told", text), ("told2", "main;f 45\nmain;g 5\n"))]
        rows = lambda *args: json.loads(run(["diff", *args, "--json"], cwd=self.dir).stdout)["functions"]  # noqa: E731
        self.assertEqual(rows(*silent, "--from", "folded"), rows(*told))
        self.assertEqual(next(r for r in rows(*told) if r["name"] == "f")["change"], 0.5)
        self.assertEqual(rows(silent[0], told[1], "--from", "folded"), rows(*told))
        page = self.path("page.html")
        p = run(["report", silent[0], "--html", page, "--from", "folded"])
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        documents = [json.loads(self.get(self.view(*files) + "/profile.json")) for files in ((silent[0], "--from", "folded"), (told[0],))]
        self.assertEqual(documents[0]["functions"], documents[1]["functions"])
        self.assertEqual(documents[0]["totals"]["c1"], 35)

    def test_from__a_recording_beside_such_a_file_is_still_one(self):
        recording = self.record()
        silent = self.write("silent", "\n" + self.text(self.convert(recording, "folded", "x")))
        url = self.view(recording, silent, "--from", "folded")
        both = [json.loads(self.get(f"{url}/profile.json?file={f}")) for f in (recording, silent)]
        self.assertGreater(both[0]["totals"]["c1"], 0)
        self.assertEqual(both[0]["totals"]["c1"], both[1]["totals"]["c1"])
        self.assertEqual((both[0]["coverage"]["events"] > 0, "hits" in both[1]["totals"]), (True, False))

    def test_from__without_use_is_refused(self):
        recording, folded = self.record(), self.write("y", "a;b 1\n")
        self.assert_fails(run(["diff", recording, recording, "--from", "folded"]), 2, "all of these tell it themselves", "leave it out")
        self.assert_fails(run(["view", recording, "--from", "folded", "--http", "0"]), 2, "this one tells it itself", "leave it out")
        for verb in (["view", folded, "--http", "0"], ["diff", folded, folded]):
            self.assert_fails(run([*verb, "--from", "yaml"]), 2, "no format", "folded")
        self.assert_fails(run(["diff", folded, self.path("nowhere"), "--from", "folded"]), 1, "nowhere", "check the path")

    def test_what_cannot_be_read_says_where(self):
        for text, what in (("a;b 1\na;b 2.5\n", "line 2, offset 10: the count has decimals"), ("a;b 1\na;b\n", "line 2, offset 6: no count")):
            self.assert_fails(run(["report", self.write("x", text)]), 1, what, "whole number")
        file = self.write("x", "no count at all\n")
        self.assert_fails(run(["report", file]), 1, "neither a recording nor a profile that is read", "--from")
        self.assert_fails(run(["report", file, "--from", "folded"]), 1, "line 1, offset 12: no count", "whole number")
        self.assert_fails(run(["report", file, "--from", "yaml"]), 2, "no format", "folded")
        good = self.write("y", "a;b 1\n")
        self.assert_fails(run(["report", good, "--elf", "x.elf"]), 2, "--elf names the functions of a recording", "leave it out")
        self.assert_fails(run(["report", good, good]), 2, "cannot be added", "one such file")


SOURCE_C = r"""
#include <stdio.h>
#include <stdlib.h>
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void) { int v[100]; for (int i = 0; i < 100; i++) v[i] = i * 7919 % 101; qsort(v, 100, sizeof *v, compare); printf("%d %d\\n", fib(12), v[3]); return 0; }
"""


class ImportedCallgrind(Imported):
    def test_valgrinds_file_has_the_sums_of_callgrind_annotate(self):
        for tool in ("valgrind", "callgrind_annotate", "gcc"):
            if not shutil.which(tool):
                self.skipTest(f"no {tool}")
        self.write("t.c", SOURCE_C)
        subprocess.run(["gcc", "-g", "-O1", "-o", self.path("t"), self.path("t.c")], check=True)
        for options in ((), ("--cache-sim=yes", "--dump-instr=yes", "--collect-jumps=yes"), ("--compress-strings=no", "--compress-pos=no", "--separate-recs=4")):
            out = self.path("out")
            subprocess.run(["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=" + out, *options, self.path("t")], check=True, capture_output=True)
            p = run(["report", out, "--json"])
            self.assertEqual(p.returncode, 0, p.stderr)
            document = json.loads(p.stdout)
            judged = self.annotated(out)
            whole = judged.pop("PROGRAM TOTALS")[0]  # the summary, which may have more than all functions
            more = sum(r["count"] for r in document["remarks"] if r["kind"] == "in-no-function")
            self.assertEqual(document["totals"]["c1"] + more, whole, options)
            self.assertLess(more, 10)
            mine = {}
            for f in document["functions"]:
                mine[f["name"]] = mine.get(f["name"], 0) + f["c1"]
            self.assertEqual({k: v for k, v in mine.items() if v}, {k: v[0] for k, v in judged.items() if v[0]}, options)
            self.assertEqual(document["counters"][0]["name"], "Ir")
            if "--cache-sim=yes" in options:
                self.assertEqual((document["counters"][1]["name"], document["totals"]["c2"]), ("Dr", sum(v[1] for v in judged.values())))
                self.assertIn("7 more events are not shown", p.stderr)

    def annotated(self, file):
        """name of a function, wherever its code stands: costs"""
        text = subprocess.run(["callgrind_annotate", "--auto=no", "--show-percs=no", "--threshold=100", file], check=True, capture_output=True, text=True).stdout
        rows = {}
        for numbers, name in re.findall(r"(?m)^ *((?:[\d,.]+ +)+)(\S.*)$", text):
            name = re.sub(r" \[\S+\]$", "", name)
            name = name if name == "PROGRAM TOTALS" else name.split(":", 1)[1]
            new = [0 if n == "." else int(n.replace(",", "")) for n in numbers.split()]
            rows[name] = [a + b for a, b in zip(rows.get(name, [0] * len(new)), new)]
        return rows

    def test_what_was_written_is_read_again(self):
        recording = self.record()
        was, again = self.document(recording), self.document(self.convert(recording, "callgrind", "x"))
        figures = ("hits", "c1", "c1_children", "c2", "c2_children", "doubtful")
        self.assertEqual(self.functions(again, figures), self.functions(was, figures))
        self.assertEqual((again["totals"], [c["name"] for c in again["counters"]]), (was["totals"], [c["name"] for c in was["counters"]]))
        self.assertIn(f"{was['coverage']['events']} events, {was['coverage']['lost']} lost", again["note"])
        d = json.loads(run(["diff", recording, self.path("x"), "--json"]).stdout)
        self.assertEqual((d["mean_of"], {r["verdict"] for r in d["functions"]}), ("call", {"unclear"}))

    def test_calls_take_the_place_of_paths(self):
        file = self.write("x", "events: Ir\nfn=main\n1 5\ncfn=f\ncalls=2 3\n1 7\nfn=f\n3 7\n")
        document = self.document(file)
        self.assertNotIn("tree", document)
        self.assertEqual([len(document["calls"]), document["calls"][0]["hits"]], [1, 2])
        self.assertEqual({f["name"]: f.get("hits", "absent") for f in document["functions"]}, {"f": 2, "main": "absent"})
        self.assertRegex(run(["report", file]).stdout, r"(?m)^ +- +- +5 +41\.7 +12  main$")
        self.assertIn("no call paths", run(["report", file, "--tree"]).stdout)
        self.assertRegex(run(["report", file, "--callers", "f"]).stdout, r"(?m)^ +2 +100 +- +7 +100  main$")
        self.assert_fails(run(["convert", file, "--to", "prf", "-o", self.path("y")]), 1, "call paths is not known", "")
        self.assertEqual(self.text(self.convert(file, "folded", "y")), "f 7\nmain 5\n")
        url = self.view(file)
        with urllib.request.urlopen(url + "/api/1/feed.ndjson?view=functions,nodes") as r:
            hello, snap = [json.loads(r.readline()) for _ in range(2)]
        self.assertEqual((hello["unknown"], snap["n"], sorted(f[1:4] for f in snap["f"] if f[1])), (["paths", "addresses", "c2"], [], [[2, 7, 7]]))
        self.assertIn([None, 5, 12], [f[1:4] for f in snap["f"]])

    def test_what_cannot_be_read_says_where(self):
        for text, what in (("events: Ir\nfn=f\n1 5\ntotals: 6\n", "line 4, offset 28"), ("# callgrind format\nevents: Ir\nsummary: 6\nfn=f\n1 5\n", "offset 50: the file ends before its costs add up")):
            self.assert_fails(run(["report", self.write("x", text)]), 1, what, "cut off or damaged")


SOURCE_GO = r"""
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"time"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

var keep [][]byte

func main() {
	cpu, _ := os.Create("cpu.pb.gz")
	pprof.StartCPUProfile(cpu)
	runtime.MemProfileRate = 1
	for start := time.Now(); time.Since(start) < 300*time.Millisecond; {
		fib(20)
		keep = append(keep, make([]byte, 100))
	}
	pprof.StopCPUProfile()
	heap, _ := os.Create("heap.pb.gz")
	pprof.WriteHeapProfile(heap)
}
"""


class ImportedPprof(Imported):
    def test_gos_file_has_the_sums_of_go_tool_pprof(self):
        go = shutil.which("go")
        if not go:
            self.skipTest("no go: apt-get install golang-go")
        self.write("t.go", SOURCE_GO)
        subprocess.run([go, "run", "t.go"], cwd=self.dir, check=True, capture_output=True, env=dict(os.environ, GO111MODULE="off"))
        for file, counters in (("cpu.pb.gz", ("cpu", "samples")), ("heap.pb.gz", ("inuse_space", "alloc_objects"))):
            p = run(["report", self.path(file), "--json"])
            self.assertEqual(p.returncode, 0, p.stderr)
            document = json.loads(p.stdout)
            self.assertEqual(tuple(c["name"] for c in document["counters"]), counters)
            self.assertNotIn("hits", document["totals"])
            self.assertEqual("2 more kinds of values are not shown" in p.stderr, file == "heap.pb.gz")
            column = counters[1]
            self.assertEqual(self.functions(document, ("c2", "c2_children")), self.judged(go, file, column), file)
            self.assertEqual(sum(f["c2"] for f in document["functions"]), document["totals"]["c2"])

    def judged(self, go, file, column):
        """function -> what it took itself, and with what it called, as pprof adds it up"""
        text = subprocess.run([go, "tool", "pprof", "-top", "-nodecount=1000000", "-nodefraction=0", "-sample_index=" + column, self.path(file)],
                              check=True, capture_output=True, text=True, cwd=self.dir).stdout
        rows = {}
        for flat, cum, name in re.findall(r"(?m)^ *(\d+) +[\d.e+-]+% +[\d.e+-]+% +(\d+) +[\d.e+-]+% +(.*?)(?: \((?:partial-)?inline\))?$", text):
            rows[name] = [int(flat), int(cum)]
        return {k: v for k, v in rows.items() if any(v)}

    def test_what_was_written_is_read_again(self):
        recording = self.record()
        was, again = self.document(recording), self.document(self.convert(recording, "pprof", "x"))
        figures = ("hits", "c1", "c1_children", "c2", "c2_children")
        self.assertEqual(self.functions(again, figures), self.functions(was, figures))
        self.assertEqual((again["totals"], [(c["name"], c["unit"]) for c in again["counters"]]), (was["totals"], [(c["name"], c["unit"]) for c in was["counters"]]))
        self.assertEqual((again["build_id"], again["elf"], again["started"]), (was["build_id"], was["elf"], was["started"]))
        self.assertIn(f"{was['coverage']['events']} events, {was['coverage']['lost']} lost", again["note"])
        self.assertEqual(sum(n["hits"] for n in again["tree"] if n["doubtful"]), sum(n["hits"] for n in was["tree"] if n["doubtful"]))
        self.assertEqual(len(again["tree"]), len(was["tree"]))

    def test_what_cannot_be_read_says_where(self):
        file = self.convert(self.record(), "pprof", "x")
        with open(file, "rb") as f:
            data = f.read()
        for content, what in ((data[:-20], "gzip, offset"), (gzip.compress(gzip.decompress(data)[:-3]), "of what is unpacked: no field of a message, or one that is cut short")):
            with open(file, "wb") as f:
                f.write(content)
            self.assert_fails(run(["report", file]), 1, what, "cut off or damaged")


class ImportedGmon(Imported):
    ELF = os.path.join(PROFEXAM, "profexam.elf")
    DIMENSION = "samples"

    def gprof(self, *args):
        judge = shutil.which("sh4-linux-gnu-gprof")
        if not judge:
            self.skipTest("no sh4-linux-gnu-gprof: apt-get install binutils-sh4-linux-gnu")
        p = subprocess.run([judge, *args], cwd=self.dir, capture_output=True, text=True, check=False)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        return p.stdout

    def functions_of(self):
        """{linkage name: (low, high)} of the program's own section."""
        found = {f["linkage_name"]: (f["low"], f["high"]) for f in self.document(self.record())["functions"]}
        return {k: found[k] for k in ("main", *PASS_HITS) if k != "MallocNode"}  # in a section of its own, which gprof leaves out

    def made_up(self, seed, functions):
        """A gmon.out of random samples and calls: several histograms over one range, the same call more than once, circles."""
        rnd = random.Random(seed)
        out = b"gmon" + struct.pack("<I", 1) + bytes(12)
        for low, high in functions.values():
            for _ in range(2):
                bins = [rnd.choice((0, 0, 1, rnd.randrange(900))) for _ in range((high - low) // 2)]
                out += b"\0" + struct.pack("<4I", low, high, len(bins), 1) + self.DIMENSION.encode().ljust(15, b"\0") + b"1" + struct.pack(f"<{len(bins)}H", *bins)
        ranges = list(functions.values())
        for _ in range(25):
            low, high = rnd.choice(ranges)
            out += b"\1" + struct.pack("<3I", rnd.choice((0, *[rnd.randrange(low, high, 2)] * 9)), rnd.choice(ranges)[0], rnd.randrange(1, 1000))
        with open(self.path("made.gmon"), "wb") as f:
            f.write(out)
        return self.path("made.gmon")

    def flat(self, text):
        """{name: (self, calls)}, as gprof prints it."""
        rows = {}
        for line in text.split("\n"):
            m = re.match(r"\s*[\d.]+\s+[\d.]+\s+([\d.]+)(?:\s+(\d+)\s+[\d.]+\s+[\d.]+)?\s+(\S+)$", line)
            if m:
                rows[m.group(3)] = (float(m.group(1)), int(m.group(2) or 0))
        return rows

    def primaries(self, text):
        """{name: (self, children, calls, calls by itself, cycle)} of the call graph's primary lines."""
        rows = {}
        for line in text.split("\n"):
            m = re.match(r"\[\d+\]\s+[\d.]+\s+([\d.]+)\s+([\d.]+)(?:\s+(\d+)(?:\+(\d+))?)?\s+(\w+)(?: <cycle (\d+)>)? \[\d+\]$", line)
            if m:
                rows[m.group(5)] = (float(m.group(1)), float(m.group(2)), int(m.group(3) or 0), int(m.group(4) or 0), bool(m.group(6)))
        return rows

    def test_gprofs_own_file_has_gprofs_figures(self):
        """What `gprof -s` has summed up is read as gprof reads it: flat profile and call graph."""
        functions = self.functions_of()
        self.assertEqual(len(functions), 6)
        circles = 0
        for seed in range(12):
            self.gprof("-s", self.ELF, self.made_up(seed, functions))
            sums = self.path("gmon.sum")
            document = self.document(sums, "--elf", self.ELF)
            flat = self.flat(self.gprof("-b", "-p", self.ELF, sums))
            self.assertEqual({f["name"]: f["c1"] for f in document["functions"]}, {k: v[0] for k, v in flat.items()})
            graph = json.loads(run(["report", sums, "--elf", self.ELF, "--gprof", "--json"]).stdout)
            want = self.primaries(self.gprof("-b", "-q", self.ELF, sums))
            self.assertEqual({f["name"] for f in graph["functions"]}, set(want))
            for f in graph["functions"]:
                own, children, calls, itself, cycle = want[f["name"]]
                self.assertEqual((f["c1"], f["self_calls"], f["cycle"] is not None), (own, itself, cycle), f["name"])
                self.assertAlmostEqual(f["charged_below"], children, delta=0.011, msg=f["name"])
                self.assertIsNone(f["c1_children"])
                if not cycle:  # gprof counts calls from outside of a circle there
                    called = sum(c["calls"] for c in f["callers"] if c["function"] not in (None, f["name"]))
                    self.assertEqual(called, calls, f["name"])
                circles += cycle
        self.assertGreater(circles, 0)

    def test_what_was_written_is_read_again(self):
        recording = self.record()
        was = self.document(recording)
        again = self.document(self.convert(recording, "gmon", "c1.gmon"), "--elf", self.ELF)
        with_address = {f["name"] for f in was["functions"] if f["high"] > f["low"]}
        self.assertEqual({k: v for k, v in self.functions(again, ["c1"]).items() if k in with_address}, {k: v for k, v in self.functions(was, ["c1"]).items() if k in with_address})
        self.assertEqual({f["name"]: f["hits"] for f in again["functions"] if "hits" in f}, {f["name"]: f["hits"] for f in was["functions"] if f["hits"] and f["name"] in with_address})
        names = [f["name"] for f in again["functions"]]
        calls = {}
        for n in was["tree"]:
            pair = (was["functions"][was["tree"][n["parent"]]["function"]]["name"] if n["parent"] is not None else None, was["functions"][n["function"]]["name"])
            calls[pair] = calls.get(pair, 0) + n["hits"]
        self.assertEqual({(names[c["caller"]] if c["caller"] is not None else None, names[c["callee"]]): c["hits"] for c in again["calls"]}, {k: v for k, v in calls.items() if v})
        self.assertEqual(again["counters"][0]["name"], "elapsed-time")

    def test_what_is_with_children_is_absent_everywhere(self):
        file = self.convert(self.record(), "gmon", "c1.gmon")
        document = self.document(file, "--elf", self.ELF)
        for row in document["functions"] + document["calls"]:
            self.assertNotIn("c1_children", row)
        copy = self.write("copy.json", json.dumps(document))
        for args in ((file, "--elf", self.ELF), (copy,)):
            for more in ((), ("--callers", "GetNewNode", "--callees", "BuildList")):
                p = run(["report", *args, *more])
                self.assertEqual((p.returncode, p.stderr), (0, ""))
                self.assertNotIn("+ch", p.stdout)
                self.assertIn("GetNewNode", p.stdout)
            for more in (("--columns", "c1+ch"), ("--sort", "c1+children")):
                self.assert_fails(run(["report", *args, *more]), 2, "with all they called is not known", "")
            for to, why in (("callgrind", "does not tell"), ("prf", "cannot say")):
                self.assert_fails(run(["convert", *args, "--to", to, "-o", self.path("z")]), 1, why, "")
                self.assertFalse(os.path.exists(self.path("z")))
        again = self.document(self.convert(file, "gmon", "again.gmon", "--elf", self.ELF), "--elf", self.ELF)
        self.assertEqual((again["functions"], again["calls"]), (document["functions"], document["calls"]))

    def test_the_feed_says_what_is_unknown(self):
        url = self.view(self.write("copy.json", json.dumps(self.document(self.convert(self.record(), "gmon", "c1.gmon"), "--elf", self.ELF))))
        with urllib.request.urlopen(url + "/api/1/feed.ndjson?view=functions,nodes") as r:
            hello, snap = [json.loads(r.readline()) for _ in range(2)]
        self.assertEqual(hello["unknown"], ["paths", "children", "c2"])
        self.assertEqual({f[3] for f in snap["f"]} | {f[5] for f in snap["f"]}, {None})
        one = json.loads(self.get(f"{url}/api/1/function/0"))
        self.assertNotIn("c1_children", one)
        p = run(["top", url.split("//")[1], "-n", "1"])
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertRegex(p.stdout, r" - .*  GetLastNode\n")

    def test_what_cannot_be_read_says_where(self):
        with open(self.convert(self.record(), "gmon", "good.gmon"), "rb") as f:
            good = f.read()
        for data, what in ((good[:30], "offset 20: cut short in the header of a histogram"), (good[:-1], "cut short in a call"), (good[:12], "offset 0: cut short in the header"),
                           (good[:4] + b"\7\0\0\0" + good[8:], "offset 4: a version that is not known: 7"), (good + b"\5", f"offset {len(good)}: a record of a kind that is not known: 5")):
            with open(self.path("bad"), "wb") as f:
                f.write(data)
            self.assert_fails(run(["report", self.path("bad"), "--elf", self.ELF]), 1, what, "")
        p = run(["report", self.path("good.gmon")])
        self.assertEqual(p.returncode, 0)
        self.assertIn("calls have no caller: name the program, by --elf", p.stderr)


if __name__ == "__main__":
    main()
