#!/usr/bin/env python3
"""`probeprof report`'s rows: callers and callees, expressions, limits. The figures are compared with sums that are made here from the tree of the
JSON document, path by path, and the calls with the call graph of sh4-linux-gnu-gprof.

usage: report.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import subprocess
import tempfile

from common import EXAMPLES, Folder, IRQDEMO, MISSION, PROFEXAM, main, run

# Recursion and a chain of calls; handlers; a counter that is estimated.
RUNS = [("tutorial", PROFEXAM, "sim:sh7750", MISSION + ["--passes", "1"]),
        ("interrupts", IRQDEMO, "sim:sh7750", ["--for", "20ms"]),
        ("estimated", os.path.join(EXAMPLES, "motor"), "sim:s12zvml128", ["--for", "10ms"])]
FIGURES = ("hits", "c1", "c1_children", "c2", "c2_children")


def shown(f):
    return f["qualified_name"] or f["name"]


def paths(document):
    """Each call path: the names from the root, and its node."""
    names, way = [shown(f) for f in document["functions"]], {}
    for n in document["tree"]:
        way[n["id"]] = way.get(n["parent"], ()) + (names[n["function"]],)
        yield way[n["id"]], n


def add(rows, name, node, with_children):
    row = rows.setdefault(name, dict.fromkeys(FIGURES, 0) | {"within": True})
    for k in FIGURES:
        if with_children or "children" not in k:
            row[k] += node[k]
    row["within"] &= not with_children


def callers_of(document, f):
    """What each caller is to have: the figures of f on paths through it, C1+children where f stands once."""
    rows = {}
    for way, n in paths(document):
        if way[-1] == f:
            add(rows, way[-2] if len(way) > 1 else None, n, f not in way[:-1])
    return rows


def callees_of(document, f):
    """The same of what f called. f called by itself is one call: its lower ones are no other."""
    rows = {}
    for way, n in paths(document):
        if way[-1] == f:
            add(rows, None, n | {"c1_children": n["c1"], "c2_children": n["c2"]}, True)
        if len(way) > 1 and way[-2] == f:
            above = list(way[:-1])
            while above and above[-1] == f:
                above.pop()
            add(rows, way[-1], n, way[-1] != f and f not in above)
    return rows


class Report(Folder):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.recordings = tempfile.mkdtemp(prefix="probeprof-report-")
        cls.addClassCleanup(shutil.rmtree, cls.recordings)
        for name, folder, probe, args in RUNS:
            p = run(args + ["--gdb", "off", "--record", os.path.join(cls.recordings, name)], cwd=folder, probe=probe)
            assert p.returncode == 0, p.stderr

    def report(self, name, *args):
        p = run(["report", os.path.join(self.recordings, name), *args])
        self.assertEqual((p.returncode, p.stderr), (0, ""), args)
        return p.stdout

    def table(self, name, *args):
        """The text without what stands above it."""
        head, _, text = self.report(name, *args).partition("\n\n")
        self.assertTrue(head.startswith("profile   "), head)
        return text

    def refused(self, *args, recording="tutorial"):
        p = run(["report", os.path.join(self.recordings, recording), *args])
        self.assertEqual((p.returncode, p.stdout), (2, ""), args)
        return p.stderr

    def test_header__of_each_kind_of_file__is_what_it_says_of_itself(self):
        views = {"tutorial": ([], ["--tree"], ["--callers", "MallocNode"], ["--live"]), "interrupts": ([],), "estimated": ([],)}
        for name, folder, probe, _ in RUNS:
            d = json.loads(self.report(name, "--json"))
            h = d["header"]
            self.assertEqual([h[k] for k in ("program", "build_id", "target", "probe", "started", "passes")], [d[k] for k in ("elf", "build_id", "target", "probe", "started", "passes")])
            self.assertEqual(h["c1_seen"], 1)  # nothing is lost there
            self.assertTrue(h["program"].startswith(folder))
            self.assertEqual(h["probe"], probe)
            for view in views[name]:
                lines = self.report(name, *view).split("\n\n")[0].splitlines()
                self.assertEqual(len(lines), 2)
                said = [x.strip() for x in " ".join(lines).removeprefix("profile ").split(",")]
                build = [f"build {h['build_id'][:12]}.."] if h["build_id"] else []
                passes = [f"{h['passes']} pass"] if h["passes"] else []
                at = h["started"].replace("T", " ")[:16] + " UTC"
                self.assertEqual(", ".join(said), ", ".join([os.path.basename(h["program"]), *build, h["target"], f"{h['probe']}           {at}", *passes, "nothing lost"]))
        # a .prf knows the time alone
        self.assertEqual(run(["report", os.path.join(self.recordings, "tutorial"), "-o", self.path("t.prf")]).returncode, 0)
        p = run(["report", self.path("t.prf")])
        self.assertRegex(p.stdout, r"^profile   20\d\d-\d\d-\d\d \d\d:\d\d UTC\n\n")
        h = json.loads(run(["report", self.path("t.prf"), "--json"]).stdout)["header"]
        self.assertEqual({k for k, v in h.items() if v is not None}, {"started"})

    def test_a_counter_that_is_not_used__is_null_in_every_document(self):
        recording = self.path("one")
        p = run(MISSION + ["--passes", "1", "--c2", "none", "--gdb", "off", "--record", recording], cwd=PROFEXAM)
        self.assertEqual(p.returncode, 0, p.stderr)
        got = lambda *args: json.loads(run([*args, "--json"]).stdout)  # noqa: E731
        d, calls, code = got("report", recording), got("report", recording, "--callers", "MallocNode"), got("annotate", recording, "MallocNode")
        self.assertEqual(d["counters"][1], None)
        self.assertGreater(min(row["c1_children"] for row in d["functions"] + d["tree"]), 0)
        rows = {"functions": d["functions"], "tree": d["tree"], "totals": [d["totals"] | {"c2_children": None}],
                "callers": [calls["callers"], *calls["callers"]["rows"]], "annotate": code["functions"]}
        for name, list_ in rows.items():
            self.assertEqual({row.get(k, "absent") for row in list_ for k in ("c2", "c2_children")}, {None}, name)
        with open(self.path("one.json"), "w", encoding="utf-8") as f:
            json.dump(d, f)
        self.assertEqual(got("report", self.path("one.json"))["functions"], d["functions"])
        self.assertIn("the counter was not counted", run(["report", recording, "--columns", "c2"]).stderr)

    def test_calls__every_function__are_the_sums_over_the_paths(self):
        for name, *_ in RUNS:
            document = json.loads(self.report(name, "--json"))
            for f in document["functions"]:
                if not f["hits"]:
                    continue
                with self.subTest(recording=name, function=shown(f)):
                    self.compare(name, document, shown(f), f)

    def compare(self, name, document, function, figures):
        d = json.loads(self.report(name, "--json", "--callers", function, "--callees", function))
        self.assertEqual(d["schema"], "probeprof.calls/1")
        for side, expected in (("callers", callers_of(document, function)), ("callees", callees_of(document, function))):
            self.assertEqual({k: d[side][k] for k in FIGURES}, {k: figures[k] for k in FIGURES})
            got = {r["function"]: r for r in d[side]["rows"]}
            self.assertEqual(len(got), len(d[side]["rows"]))
            self.assertEqual(set(got), set(expected))
            for other, row in expected.items():
                for k in FIGURES:
                    inner = "children" in k and row["within"]
                    self.assertEqual(got[other][k], None if inner else row[k], (side, other, k))
        for k in FIGURES: # nothing is lost between the callers
            self.assertEqual(sum(r[k] or 0 for r in d["callers"]["rows"]), figures[k])

    def test_calls__beside_gprof__are_its_call_graph(self):
        if not shutil.which("sh4-linux-gnu-gprof"):
            self.skipTest("no sh4-linux-gnu-gprof: apt-get install binutils-sh4-linux-gnu")
        gmon = self.path("gmon.out")
        p = run(["convert", os.path.join(self.recordings, "tutorial"), "--to", "gmon", "-o", gmon])
        self.assertEqual(p.returncode, 0, p.stderr)
        graph = subprocess.run(["sh4-linux-gnu-gprof", "-b", "-q", os.path.join(PROFEXAM, "profexam.elf"), gmon], capture_output=True, text=True, check=True).stdout
        theirs = {}
        for block in graph.split("-----")[:-1]:
            main_line = re.search(r"^\[\d+\].*$", block, re.M)
            if not main_line:
                continue
            f = re.search(r"(\S+) \[\d+\]$", main_line.group()).group(1)
            for line in block[:main_line.start()].splitlines(): # "  0.00  0.00  1000/1000  GetNewNode [3]"
                m = re.search(r"(\d+)/\d+\s+(\S+) \[\d+\]$", line)
                if m:
                    theirs[m.group(2), f] = int(m.group(1))
        self.assertGreater(len(theirs), 4, graph)
        for (caller, f), calls in theirs.items():
            rows = json.loads(self.report("tutorial", "--json", "--callers", f))["callers"]["rows"]
            self.assertEqual({r["function"]: r["hits"] for r in rows}[caller], calls, (caller, f))

    def test_calls__as_a_table__rows_and_figures_of_the_document(self):
        text = self.report("tutorial", "--callees", "BuildList")
        self.assertIn("Called by BuildList", text)
        self.assertLess(text.index("GetLastNode"), text.index("GetNewNode")) # by what they took with what they called
        self.assertRegex(text, r"(?m)^ +1000 .* GetNewNode$")
        self.assertRegex(text, r"(?m)\(itself\)$")
        self.assertNotIn("Callers of", text)
        by_name = self.report("tutorial", "--callees", "BuildList", "--sort", "name", "--limit", "2")
        self.assertLess(by_name.index("(itself)"), by_name.index("GetLastNode"))
        self.assertIn("2 more not shown", by_name)
        few = self.report("tutorial", "--callers", "MallocNode", "--hits", ">5000")
        self.assertIn("1 outside of the hits threshold not shown", few)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_function__an_expression__only_functions_that_match(self):
        text = self.table("tutorial", "--function", "^(Get|Malloc)")
        shown_ones = set(re.findall(r"(\w+)$", text.split("\n\n")[0], re.M)) - {"function", "count"}
        self.assertEqual({x for x in shown_ones if x[0].isupper()}, {"GetLastNode", "GetNewNode", "MallocNode"})
        tree = self.table("tutorial", "--function", "^Malloc", "--tree").split("\n\n")[0]
        self.assertEqual([re.search(r"(\w+)$", x).group(1) for x in tree.splitlines()[2:]], ["main", "BuildList", "GetNewNode", "MallocNode"])

    def test_tree_up__every_function__below_it_are_its_callers(self):
        rows = self.table("tutorial", "--tree=up").split("\n\n")[0].splitlines()[1:]
        self.assertTrue(rows[0].endswith("  function, called from"))
        self.assertNotIn("C1+ch", rows[0])
        names = [re.search(r"([|`+ -]*)(\w+)$", x).groups() for x in rows[1:]]
        at = [n for _, n in names].index("MallocNode")
        self.assertEqual([n for _, n in names[at:at + 4]], ["MallocNode", "GetNewNode", "BuildList", "main"])
        document = json.loads(self.report("tutorial", "--json"))
        roots = [n for lines, n in names if not re.search(r"[|`]", lines)]
        self.assertEqual(roots, [shown(f) for f in sorted(document["functions"], key=lambda f: -f["c1"]) if f["hits"]])

    def test_limit__of_rows__and_what_is_left_out_is_said(self):
        text = self.table("tutorial", "--limit", "2")
        self.assertRegex(text, r"(?m)^\d+ more functions not shown$")
        self.assertEqual(len(text.split("\n\n")[0].splitlines()), 2 + 2 + 1)
        self.assertIn("more call paths not shown", self.report("tutorial", "--tree", "--limit", "1"))

    @staticmethod
    def cell(column, f, d):
        """What is to stand there, from the document."""
        key, share = column.lower().removesuffix("%").replace("+ch", "_children"), column.endswith("%")
        if column == "cache":
            return "-" if f["cache_line"] is None else str(f["cache_line"])
        if not share:
            return str(f[key])
        total = d["totals"][key.removesuffix("_children")]
        percent = 100 * f[key] / total if total else None
        return "-" if percent is None else f"{percent:.0f}" if percent > 99.95 else f"{percent:.1f}"

    def test_columns__each_one_and_all_orders__have_the_figures_of_the_document(self):
        every = ["hits", "hits%", "C1", "C1%", "C1+ch", "C1+ch%", "C2", "C2%", "C2+ch", "C2+ch%", "cache"]
        for name, *_ in RUNS:
            d = json.loads(self.report(name, "--json"))
            rows = {shown(f): f for f in d["functions"]}
            for columns in [[c] for c in every] + [["C2", "hits%", "C1+ch"], ["cache", "C1%", "C1", "hits"]]:
                lines = self.table(name, "--columns", ",".join(columns)).split("\n\n")[0].splitlines()
                head = next(i for i, line in enumerate(lines) if line.endswith("  function"))
                self.assertEqual(lines[head].split(), columns + ["function"])
                self.assertEqual(len(lines) - head - 1, sum(1 for f in d["functions"] if f["hits"] or f["c1"] or f["c2"]))
                for line in lines[head + 1:]:
                    cells = line.split()[:len(columns)]
                    f = rows[line.split(None, len(columns))[-1].lstrip("?*")]
                    for c, text in zip(columns, cells):
                        if not text.endswith(tuple("kMG")):  # shortened ones are tested where they are made
                            self.assertEqual(text, self.cell(c, f, d), (name, c, line))
                        else:
                            self.assertAlmostEqual(float(text[:-1]) * {"k": 1e3, "M": 1e6, "G": 1e9}[text[-1]] / int(self.cell(c, f, d)), 1, 2)
        d = json.loads(self.report("tutorial", "--json"))  # of a call path its own
        nodes = {way: n for way, n in paths(d)}
        tree = self.table("tutorial", "--tree", "--columns", "c1%,hits").split("\n\n")[0].splitlines()
        self.assertEqual(tree[1].split(), ["C1%", "hits", "call", "path"])
        malloc = next(line for line in tree if line.endswith("MallocNode"))
        way = next(w for w in nodes if w[-1] == "MallocNode")
        self.assertEqual(malloc.split()[:2], [self.cell("C1%", nodes[way], d), str(nodes[way]["hits"])])
        self.assertEqual(self.table("tutorial", "--tree=up", "--columns", "hits,c2%,function").splitlines()[1].split(), ["hits", "C2%", "function,", "called", "from"])

    HOT = {"c1>=4%": lambda r, d: r["c1"] >= 0.04 * d["totals"]["c1"], "hits>100": lambda r, d: r["hits"] > 100,
           "c1+ch%<50": lambda r, d: r["c1_children"] < 0.5 * d["totals"]["c1"], "c2+ch>=90%": lambda r, d: r["c2_children"] >= 0.9 * d["totals"]["c2"],
           "?%>0": lambda r, d: r.get("doubt_share", 0) > 0, "hits==1": lambda r, d: r["hits"] == 1}

    def test_hot__each_threshold__flags_the_same_rows_in_table_tree_and_json(self):
        for name, *_ in RUNS:
            plain = json.loads(self.report(name, "--json"))
            self.assertNotIn("hot", plain["functions"][0])
            some_doubt = any(f["doubtful"] for f in plain["functions"])
            for text, meets in self.HOT.items():
                if text.startswith("?") and not some_doubt:
                    self.assertIn("nothing is doubtful", self.refused("--hot", text, recording=name))
                    continue
                d = json.loads(self.report(name, "--json", "--hot", text))
                self.assertEqual(d["thresholds"], [text])
                for rows in (d["functions"], d["tree"]):
                    self.assertEqual([r["hot"] for r in rows], [meets(r, d) for r in rows], (name, text))
                hot = sorted(shown(f) for f in d["functions"] if f["hot"] and (f["hits"] or f["c1"] or f["c2"]))
                table = self.table(name, "--hot", text).split("\n\n")[0]
                self.assertEqual(sorted(re.findall(r"(?m)^[^!\n]*!\??(.*)$", table.split("\n", 1)[1].split(" marked !")[0].rsplit("\n", 1)[0])), hot, (name, text))
                self.assertIn(f"{len(hot)} function{'s' * (len(hot) != 1)} marked !: {text}" if hot else f"no function meets {text}", table)
                if not text.startswith("?"):
                    paths_hot = sum(n["hot"] for n in d["tree"])
                    tree = self.table(name, "--tree", "--hot", text).split("\n\n")[0]
                    self.assertIn(f"{paths_hot} call path{'s' * (paths_hot != 1)} marked !" if paths_hot else "no call path meets", tree)

    def failing(self, *args):
        p = run(["report", os.path.join(self.recordings, "tutorial"), *args])
        self.assertIn(p.returncode, (0, 1), p.stderr)
        return p

    def test_fail_if_any__a_row_meets_it__is_named_and_the_report_is_there(self):
        p = self.failing("--fail-if-any", "c1>=30%")
        self.assertEqual(p.returncode, 1)
        self.assertIn("1 function fails by c1>=30%: GetLastNode\n", p.stderr)
        self.assertIn("1 function marked !: c1>=30%", p.stdout)
        self.assertIn("total     ", p.stdout)
        self.assertEqual(self.failing("--fail-if-any", "c1>=99%").returncode, 0)
        self.assertEqual(self.failing("--hot", "c1>=30%").returncode, 0)  # is no failure
        # beyond the rows that are shown; of those that were chosen
        p = self.failing("--fail-if-any", "hits>=1000", "--hot", "c1>1%", "--limit", "1")
        self.assertIn("3 functions fail by hits>=1000: GetNewNode, MallocNode, InsertNode\n", p.stderr)
        self.assertEqual(self.failing("--fail-if-any", "c1>=30%", "--function", "^Malloc").returncode, 0)
        p = self.failing("--tree", "--fail-if-any", "c1+ch>=50%", "--fail-if-any", "hits>=1")
        self.assertIn("7 call paths fail by c1+ch>=50%, hits>=1: main, Initialise, BuildList, GetNewNode, ...\n", p.stderr)
        p = self.failing("--json", "--fail-if-any", "c1>=30%", "-o", self.path("x.json"))
        self.assertEqual((p.returncode, [f["name"] for f in json.loads(p.stdout)["functions"] if f["hot"]]), (1, ["GetLastNode"]))
        with open(self.path("x.json"), encoding="utf-8") as f:  # the file is the profile, whole
            self.assertNotIn("hot", json.load(f)["functions"][0])
        for args in (["--live"], ["--callers", "main"]):
            self.assertIn("no use for --fail-if-any", self.refused("--fail-if-any", "c1>1", *args))
            self.assertIn("no use for --hot", self.refused("--hot", "c1>1", *args))

    def test_columns__that_are_not_there_or_do_not_fit__are_refused(self):
        every = "c1,c1%,c1+ch,c1+ch%,c2,c2%,c2+ch,c2+ch%,hits,hits%,cache,?%,"
        for args, words in ((["c9"], "C2+ch%, cache, ?%"), (["+-"], "hits were counted"), (["hits,hits"], "twice"), (["c1", "--json"], "no use for --columns"),
                            (["c1", "--live"], "no use for --columns"), (["c1", "--callers", "main"], "no use for --columns"), (["?%", "--tree"], "not of call paths")):
            self.assertIn(words, self.refused("--columns", *args), args)
        wide = self.table("tutorial", "--columns", every + "function").splitlines()
        self.assertLessEqual(max(map(len, wide)), 100)  # not a terminal

    def test_what_is_wrong_or_has_no_effect__is_refused_with_the_way_out(self):
        for args, words in ([(["--callers", "GetNewNod"], "did you mean GetNewNode?"), (["--callees", "nothing_like_it"], "no function"),
                             (["--callers", "main", "--callers", "main"], "given twice"), (["--callers", "main", "--tree"], "--tree"),
                             (["--callers", "main", "--all"], "--all"), (["--callers", "main", "--function", "m"], "--function"),
                             (["--callers", "main", "--sort", "line"], "cache lines"), (["--function", "("], "regular expression"),
                             (["--function", "no_such_name"], "no function of this profile"), (["--function", "a", "--function", "b"], "twice"),
                             (["--tree=down"], "one of no, yes"), (["--limit", "0"], "limit"), (["--json", "--limit", "2"], "--limit"), (["--json", "--function", "m"], "--function"),
                            (["--html", "x.html", "--json"], "--html has no use for --json"), (["--html", "x.html", "--sort", "c2"], "no use for --sort")]):
            self.assertIn(words, self.refused(*args), args)

    def test_json__of_each_recording__is_read_and_written_the_same(self):
        for name, *_ in RUNS:
            document = self.report(name, "--json")
            with open(self.path("again.json"), "w", encoding="utf-8") as f:
                f.write(document)
            again = run(["report", self.path("again.json"), "--json"])
            self.assertEqual((again.returncode, again.stdout), (0, document), name)
            for view in ([], ["--tree"]):  # and shows the same but for how the function's places were found
                shown = run(["report", self.path("again.json"), *view]).stdout
                self.assertEqual(shown, self.report(name, *view), (name, view))
            d = run(["diff", self.path("again.json"), os.path.join(self.recordings, name), "--json"])
            self.assertEqual(d.returncode, 0, d.stderr)
            for row in json.loads(d.stdout)["functions"]:
                self.assertEqual(row["old"]["c1"], row["new"]["c1"], row)

    def test_html__where_no_file_can_be__is_said_before_anything_is_read(self):
        p = run(["report", os.path.join(self.recordings, "tutorial"), "--html", "/no/such/folder/x.html"])
        self.assert_fails(p, 1, "--html: write /no/such/folder/x.html", "folder exists")

    def live(self, name):
        """Its rows by function, and those of the document."""
        d = json.loads(self.report(name, "--live", "--json"))
        for f in d["functions"]:
            self.assertEqual(sum(f["histogram"]), f["calls"], f)
            if not f["calls"]:
                continue
            self.assertLessEqual(f["work"], f["c1_children"], f)
            self.assertTrue(f["least"] * f["calls"] <= f["live"] <= f["most"] * f["calls"], f)
            for end in ("least", "most"):  # stand in the outermost buckets
                there = [k for k, n in enumerate(f["histogram"]) if n]
                self.assertEqual(f[end].bit_length(), there[0 if end == "least" else -1], f)
        self.assertEqual([f["live"] for f in d["functions"]], sorted((f["live"] for f in d["functions"]), reverse=True))
        return {f["low"]: f for f in d["functions"]}, {f["low"]: f for f in json.loads(self.report(name, "--json"))["functions"] if f["hits"]}, d

    def test_live__where_nothing_interrupts__is_the_time_with_callees(self):
        live, functions, _ = self.live("tutorial")
        self.assertEqual(live.keys(), functions.keys())
        exact = [low for low, f in functions.items() if not f["doubtful"]]
        self.assertGreater(len(exact), 3)
        for low in exact:
            f, row = functions[low], live[low]
            self.assertEqual([row[k] for k in ("calls", "cut", "live", "work", "c1_children")], [f["hits"], 0, f["c1_children"], f["c1"], f["c1_children"]], f["name"])
        text = self.table("tutorial", "--live", "--function", "^Get", "--limit", "1").splitlines()
        self.assertRegex(text[1], r"^ +999 +0 +\S+ +\S+ +\S+ +\d+ +\d+ +\d+ .{8} GetLastNode$")
        self.assertTrue(text[2].startswith("C1 elapsed-time"), text)

    def test_live__beside_handlers__has_their_time_too(self):
        for name, estimate in (("interrupts", False), ("estimated", True)):
            live, functions, d = self.live(name)
            self.assertEqual(d["estimate"], estimate)
            for low, row in live.items():
                self.assertGreaterEqual(row["live"], row["c1_children"], row)
                self.assertLessEqual(row["calls"], functions[low]["hits"], row)
            if estimate:  # the timer's handler comes within the loop's functions
                self.assertGreater(sum(r["live"] for r in live.values()), sum(r["c1_children"] for r in live.values()))

    def test_live__with_what_has_no_effect__is_refused(self):
        for args in (["--tree"], ["--all"], ["--hits", ">1"], ["--sort", "hits"], ["--callers", "main"], ["--output", self.path("x.prf")], ["--marks", "x"]):
            self.refused("--live", *args)

    def test_help_columns__has_every_column_of_every_table(self):
        p = run(["help", "columns"])
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        known = set(re.findall(r"(?m)^  (\S+) ", p.stdout))
        self.assertEqual([line for line in p.stdout.splitlines() if len(line) > 80], [])
        samples = self.path("s")
        self.assertEqual(run(["--sample", "--for", "20ms", "--gdb", "off", "--record", samples], cwd=PROFEXAM).returncode, 0)
        seen = set()
        for args in ([self.path_of("tutorial")], [self.path_of("estimated")], [samples], [self.path_of("tutorial"), "--callers", "MallocNode", "--callees", "main"],
                     [self.path_of("tutorial"), "--live"]):
            text = run(["report", *args]).stdout
            for line in text.splitlines():
                if re.match(r" +(hits|calls) ", line):
                    seen |= set(line.split())
        for args in ([self.path_of("tutorial"), "main"], [self.path_of("estimated"), "pi_step"], [samples, "GetLastNode"]):
            for line in run(["annotate", *args]).stdout.splitlines():
                if re.match(r" +(calls|count|samples|from) ", line):
                    seen |= set(line.split())
        self.assertEqual(seen - known, set())
        self.assertGreater(len(seen), 25)

    def path_of(self, name):
        return os.path.join(self.recordings, name)

    def test_callers__of_samples__there_are_none(self):
        p = run(MISSION[:0] + ["--sample", "--for", "20ms", "--gdb", "off", "--record", self.path("s")], cwd=PROFEXAM)
        self.assertEqual(p.returncode, 0, p.stderr)
        p = run(["report", self.path("s"), "--callers", "main"])
        self.assertEqual((p.returncode, p.stdout), (2, ""))
        self.assertIn("samples do not know who called", p.stderr)


if __name__ == "__main__":
    main()
