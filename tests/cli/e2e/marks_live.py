#!/usr/bin/env python3
"""probeprof.marks where a profile is taken and watched: the run's own table and files, its feed, `top`, `view`, and the page as one file. The oracle is
`report` of the recording of the same run, whose marks tests/cli/e2e/marks.py looks at.

usage: marks_live.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import signal
import subprocess

from common import COUNTS, EXAMPLES, Folder, MISSION, PROFEXAM, TIMEOUT, main, run, start
from follower import ask, command, status_of, wait_until_paused

SH4 = ("profexam", "sim:sh7750", ["--passes", "1"] + MISSION, "tag GetLastNode\nrename MallocNode = node memory\ngroup list = BuildList\ngroup list = /^InsertNode$/\nexclude Initialise\n")
S12Z = ("motor", "sim:s12zvml128", ["--for", "300ms"], "tag /^phase_/\nrename control_loop = the loop\ngroup currents = /^(read_currents|average|reading)$/\nexclude /^(clamp|duty)$/\n")


class MarksLive(Folder):
    BOARD = SH4

    def setUp(self):
        super().setUp()
        name, self.probe, self.mission, self.marks = self.BOARD
        self.elf = shutil.copy(os.path.join(EXAMPLES, name, name + ".elf"), self.dir)
        self.write("mine", self.marks)

    def profiled(self, *args):
        return run([*self.mission, "--elf", self.elf, "--load", "--conf", "off", "--gdb", "off", "--http", "off", "--record", self.path("r.rec"), *args], cwd=self.dir, probe=self.probe)

    def report(self, *args):
        return run(["report", *args], cwd=self.dir)

    @staticmethod
    def rows(document):
        """What a reader sees of functions and paths."""
        f = document["functions"]
        return (sorted([x["name"], x["qualified_name"], x["linkage_name"], x["low"], x["tagged"], x.get("group", False), x.get("c1_spread"), *(x[k] for k in COUNTS)] for x in f),
                sorted([f[n["function"]]["name"], f[document["tree"][n["parent"]]["function"]]["name"] if n["parent"] is not None else None, *(n[k] for k in COUNTS)] for n in document["tree"]))

    @staticmethod
    def table(text):
        """Rows of the table of functions."""
        return re.search(r"(?ms)^ +hits.*?\n\n", text).group(0)

    def feed_rows(self, frame):
        """The same of a snapshot."""
        name = {n[0]: n for n in frame["names"]}
        numbers = lambda row, at: [int(x) for x in row[at:at + 5]]
        f = sorted([name[r[0]][1], name[r[0]][7], name[r[0]][8], name[r[0]][4], bool(r[10] & 128), bool(r[10] & 256), int(r[8]), *numbers(r, 1)] for r in frame["f"])
        function = {n[0]: n[2] for n in frame["n"]}
        return f, sorted([name[n[2]][1], name[function[n[1]]][1] if n[1] is not None else None, *numbers(n, 3)] for n in frame["n"])

    def assert_feed_is(self, where, document):
        functions, paths = self.rows(document)
        got_functions, got_paths = self.feed_rows(json.loads(ask(where, "/api/1/snapshot?view=functions,nodes&nodes=65536")[2]))
        for row in functions:
            row[6] = row[6] or 0  # a spread that is not known
        self.assertEqual(got_functions, functions)
        self.assertEqual(got_paths, paths)

    def test_a_run__shows_and_writes_what_report_shows(self):
        r = self.profiled("--marks", "mine", "-o", self.path("run.prf"), "--json")
        self.assertEqual(r.returncode, 0, r.stderr)
        mine, theirs = json.loads(r.stdout), json.loads(self.report("r.rec", "--marks", "mine", "--json").stdout)
        self.assertEqual(self.rows(mine), self.rows(theirs))
        self.assertEqual(mine["totals"], theirs["totals"])
        self.assertEqual(mine["header"]["marks"], "mine")
        self.assertEqual(self.report("r.rec", "--marks", "mine", "-o", self.path("report.prf")).returncode, 0)
        tables = [self.table(self.report(prf).stdout) for prf in ("run.prf", "report.prf")]
        self.assertEqual(*tables)
        self.assertIn("(excluded)", tables[0])
        plain = json.loads(self.report("r.rec", "--json").stdout)
        self.assertNotEqual(self.rows(mine), self.rows(plain))
        self.assertIsNone(plain["header"]["marks"])

    def test_beside_the_elf__they_hold_unless_told_otherwise(self):
        shutil.copy(self.path("mine"), self.path("probeprof.marks"))
        r = self.profiled()
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("probeprof.marks (--marks off: none)", r.stderr)
        self.assertEqual(self.table(r.stdout), self.table(self.report("r.rec").stdout))
        self.assertIn("(excluded)", r.stdout)
        r = self.profiled("--marks", "off", "-o", self.path("x.json"))
        self.assertNotIn("probeprof.marks", r.stderr)
        self.assertEqual(self.table(r.stdout), self.table(self.report("r.rec", "--marks", "off").stdout))
        self.assertNotIn("(excluded)", r.stdout)
        # a document that has marks is not given them again
        self.assertEqual(self.profiled("-o", self.path("x.json")).returncode, 0)
        again = self.report("x.json")
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        self.assertEqual(self.table(again.stdout), self.table(self.report("r.rec").stdout))

    def test_conf__names_a_file_in_its_folder_or_none(self):
        shutil.copy(self.path("mine"), self.path("probeprof.marks"))
        for value, held in (("mine", True), ("off", False)):
            self.write("probeprof.conf", f"[profile]\nmarks = {value}\n")
            below = self.path("below")
            os.makedirs(below, exist_ok=True)
            r = run([*self.mission, "--elf", self.elf, "--load", "--gdb", "off", "--http", "off"], cwd=below, probe=self.probe)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertEqual("(excluded)" in r.stdout, held, r.stderr)

    def test_mistakes__are_told_before_the_board_is_touched(self):
        known = self.marks.split("\n")[1].split()[1]
        for text, status, what, hint in ((f"tag {known}x\n", 1, f"mine:1: no function of the program is \"{known}x\"", known), ("# x\nnote main\n", 1, "mine:2: \"note\" is no mark", "tag, rename"),
                                         (f"group a = {known}\ngroup b = /./\n", 2, "is in line 1 already", "leave it out")):
            self.write("mine", text)
            r = self.profiled("--marks", "mine")
            self.assert_fails(r, status, what, hint)
            self.assertNotIn("loaded", r.stderr)
            self.assertFalse(os.path.exists(self.path("r.rec.part")))
        self.write("mine", self.marks)
        self.assert_fails(self.profiled("--marks", "mine", "--all"), 2, "--all lists functions by themselves", "--marks off")
        self.assert_fails(self.profiled("--marks", "none"), 1, "none", "")

    def test_samples__are_grouped_too(self):
        args = ["--sample", "--rate", "2k", "--for", "300ms", "--elf", self.elf, "--load", "--conf", "off", "--gdb", "off", "--http", "off", "--record", self.path("s.rec"), "--marks", "mine"]
        r = run([*args, "--json"], cwd=self.dir, probe=self.probe)
        self.assertEqual(r.returncode, 0, r.stderr)
        mine, theirs = json.loads(r.stdout), json.loads(self.report("s.rec", "--marks", "mine", "--json").stdout)
        shown = lambda d: [(f["name"], f["hits"], f["share_low"], f["tagged"]) for f in d["functions"]]
        self.assertEqual(shown(mine), shown(theirs))

    def port_of(self, process):
        for f in (process.stderr.close, process.wait, process.kill):
            self.addCleanup(f)
        return int(re.search(r"localhost:([0-9]+)/", self.wait_for(process, "feed: ")).group(1))

    def test_a_running_bridge__feed_documents_top_and_table_agree(self):
        out = open(self.path("table"), "w+", encoding="utf-8")
        self.addCleanup(out.close)
        p = start(["--elf", self.elf, "--load", "--conf", "off", "--gdb", "off", "--http", "0", "-q", "--marks", "mine", "--record", self.path("r.rec")], cwd=self.dir, probe=self.probe, stdout=out)
        where = self.port_of(p)
        self.wait_for(p, "profiling")
        self.wait_until(lambda: status_of(where)["events"] >= 2000)
        self.assertEqual(command(where, do="stop")[0], 200)
        wait_until_paused(where)
        document = json.loads(ask(where, "/profile.json")[2])
        self.assert_feed_is(where, document)
        url = f"http://localhost:{where}/"
        plain = json.loads(ask(where, "/profile.json?marks=off")[2])
        self.assertNotEqual(self.rows(document), self.rows(plain))
        self.assertEqual(self.rows(json.loads(run(["report", url, "--marks", "off", "--json"]).stdout)), self.rows(plain))
        self.assertEqual(self.rows(json.loads(run(["report", url, "--marks", self.path("mine"), "--json"]).stdout)), self.rows(document))
        self.assertEqual(ask(where, "/profile.json?marks=mine")[0], 400)
        top = run(["top", url, "--frames", "1"]).stdout
        want = [f for f in document["functions"] if f["c1"]]
        for f in want:
            self.assertRegex(top, rf"(?m)^{'T' if f['tagged'] else ' '}.* {re.escape(f['name'])}( |$)")
        for f in plain["functions"]:
            if f["name"] not in [g["name"] for g in document["functions"]]:
                self.assertNotRegex(top, rf"(?m) {re.escape(f['name'])}( |$)")
        group = {n[1]: n[0] for n in json.loads(ask(where, "/api/1/snapshot")[2])["names"]}["(excluded)"]
        one = json.loads(ask(where, f"/api/1/function/{group}")[2])
        self.assertEqual((one["instructions"], one["source"]), ([], None))
        p.send_signal(signal.SIGINT)
        p.stderr.read()
        self.assertEqual(p.wait(timeout=TIMEOUT), 0)
        theirs = self.report("r.rec", "--marks", "mine")
        out.seek(0)
        self.assertEqual(self.table(out.read()), self.table(theirs.stdout))
        self.assertEqual(self.rows(json.loads(self.report("r.rec", "--marks", "mine", "--json").stdout)), self.rows(document))

    def test_view__of_a_recording_and_of_a_prf(self):
        self.assertEqual(self.profiled("--marks", "off", "-o", self.path("x.prf")).returncode, 0)
        files = [self.path("r.rec"), self.path("x.prf")]
        p = start(["view", "--http", "0", "--marks", self.path("mine"), *files], cwd=self.dir, stdout=subprocess.DEVNULL)
        where = self.port_of(p)
        for file in files:
            self.assertEqual(command(where, do="show", name=file)[0], 200)
            text = self.report(file, "--marks", self.path("mine"), "--json").stdout
            self.assertEqual(ask(where, "/profile.json")[2].decode(), text)
            self.assert_feed_is(where, json.loads(text))
            self.assertEqual(ask(where, "/profile.json?marks=off")[2].decode(), self.report(file, "--json").stdout)
        self.assertEqual(command(where, do="show", name=files[0])[0], 200)
        frame = json.loads(ask(where, "/api/1/snapshot")[2])
        names = {n[0]: n[1] for n in frame["names"]}
        calls = [c[5] for c in json.loads(ask(where, "/api/1/timeline?px=4096&levels=64")[2])["calls"]]
        self.assertTrue(calls)
        self.assertEqual([c for c in calls if c not in names], [])  # each has its row, be it a group's
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(timeout=TIMEOUT), 0)
        self.write("mine", "tag GetLastNod\n")
        self.assert_fails(run(["view", "--http", "0", "--marks", self.path("mine"), files[0]], cwd=self.dir), 1, "mine:1: no function is \"GetLastNod\"", "")

    def test_html__has_the_rows_of_the_report(self):
        self.assertEqual(self.profiled("--marks", "off").returncode, 0)
        for args in (["--marks", "mine"], ["--marks", "off"]):
            r = self.report("r.rec", "--html", self.path("x.html"), *args)
            self.assertEqual(r.returncode, 0, r.stderr)
            with open(self.path("x.html"), encoding="utf-8") as f:
                frames = re.search(r'"frames":\[(\{.*?\}),\n?(\{"frame":"snap".*\})\],\n"answers"', f.read(), re.S).group(2)
            functions, paths = self.rows(json.loads(self.report("r.rec", *args, "--json").stdout))
            for row in functions:
                row[6] = row[6] or 0
            self.assertEqual(self.feed_rows(json.loads(frames.replace("\\u003c", "<"))), (functions, paths))


class MarksLiveS12Z(MarksLive):
    BOARD = S12Z


if __name__ == "__main__":
    main()
