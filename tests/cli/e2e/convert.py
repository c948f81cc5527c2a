#!/usr/bin/env python3
"""`probeprof convert`, judged by programs that nobody here wrote: callgrind_annotate (valgrind), go tool pprof. Sums are those of the JSON document
to the last digit; coverage and doubt are found again. Skipped, saying so, where a judge is missing.

usage: convert.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile

from common import EXAMPLES, Folder, IRQDEMO, MISSION, PROFEXAM, SOURCE, main, run, s12z_tools

# What is converted: name, folder, adapter, arguments. Recursion and interrupts, an estimated counter, samples, one counter alone.
RUNS = [("tutorial", PROFEXAM, "sim:sh7750", MISSION + ["--passes", "1"]),
        ("interrupts", IRQDEMO, "sim:sh7750", ["--for", "20ms"]),
        ("estimated", os.path.join(EXAMPLES, "motor"), "sim:s12zvml128", ["--for", "10ms"]),
        ("one counter", PROFEXAM, "sim:sh7750", MISSION + ["--passes", "1", "--c2", "none"]),
        ("samples", PROFEXAM, "sim:sh7750", ["--sample", "--for", "50ms"])]


PACKAGES = {"gcc": "gcc", "lcov": "lcov", "callgrind_annotate": "valgrind", "go": "golang-go", "sh4-linux-gnu-gprof": "binutils-sh4-linux-gnu",
            "sh4-linux-gnu-readelf": "binutils-sh4-linux-gnu"}


def shown(f):
    return f["qualified_name"] or f["name"]


def judge(case, name):
    found = shutil.which(name)
    if not found:
        case.skipTest(f"no {name}: apt-get install {PACKAGES[name]}")
    return found


def paths(document):
    """(names from the root, hits, c1, c2) of each path that took something."""
    names = [shown(f) for f in document["functions"]]
    if document["type"] != "trace":
        return [((n,), f["hits"], f["c1"], f["c2"]) for n, f in zip(names, document["functions"]) if f["hits"]]
    way, out = {}, []
    for n in document["tree"]:
        way[n["id"]] = way.get(n["parent"], ()) + (names[n["function"]],)
        if n["hits"] or n["c1"] or n["c2"]:
            out.append((way[n["id"]], n["hits"], n["c1"], n["c2"]))
    return out


class Convert(Folder):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.recordings = tempfile.mkdtemp(prefix="probeprof-convert-")
        cls.addClassCleanup(shutil.rmtree, cls.recordings)
        for name, folder, probe, args in RUNS:
            p = run(args + ["--gdb", "off", "--record", os.path.join(cls.recordings, name)], cwd=folder, probe=probe)
            assert p.returncode == 0, p.stderr

    def profiles(self, to, *more):
        """All profiles: name, document, and the file in the format asked for."""
        for name in [r[0] for r in RUNS]:
            recording, out = os.path.join(self.recordings, name), self.path("run." + to)
            document = json.loads(run(["report", recording, "--json"]).stdout)
            p = run(["convert", recording, "--to", to, "-o", out, *more])
            self.assertEqual((p.returncode, p.stderr), (0, ""))
            yield name, document, out

    def counters(self, document):
        return [k for k, c in zip(("c1", "c2"), document["counters"]) if c]

    def lines(self, *command, cwd=None):
        p = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual((p.returncode, p.stderr), (0, ""), command)
        return p.stdout.split("\n")

    def tracefile(self, path):
        """{file: {"FN": {name: line}, "FNDA": {name: hits}, "DA": {line: count}, "BRDA": [(line, block, branch, taken)]}}"""
        files, now = {}, None
        with open(path, encoding="utf-8") as f:
            for line in f.read().splitlines():
                key, _, rest = line.partition(":")
                if key == "SF":
                    now = files.setdefault(rest, {"FN": {}, "FNDA": {}, "DA": {}, "BRDA": []})
                elif key in ("FN", "FNDA", "DA"):
                    a, b = rest.split(",", 1)
                    now[key][b if key != "DA" else int(a)] = int(a if key != "DA" else b)
                elif key == "BRDA":
                    now[key].append(tuple(map(int, rest.split(","))))
        return files


class ConvertCallgrind(Convert):
    def table(self, file, *options):
        """function -> numbers, as callgrind_annotate shows them; and all of its text."""
        lines, rows = self.lines("callgrind_annotate", "--auto=no", "--show-percs=no", "--threshold=100", *options, file), {}
        for line in lines:
            m = re.match(r"\s*((?:[\d,.]+\s+)+)(?:\S*:)?(.*)$", line)
            if m and "PROGRAM" not in line and not line.startswith("-"):
                numbers = [0 if t == "." else int(t.replace(",", "")) for t in m.group(1).split()]
                rows[m.group(2).strip()] = numbers
        return rows, "\n".join(lines)

    def test_functions__callgrind_annotate__has_every_sum(self):
        judge(self, "callgrind_annotate")
        for name, document, file in self.profiles("callgrind"):
            keys = self.counters(document) or ["hits"]
            for options, suffix in (((), ""), (("--inclusive=yes",), "_children")):
                rows, text = self.table(file, *options)
                if keys == ["hits"]:
                    suffix = ""
                want = {shown(f): [f[k + suffix] for k in keys] for f in document["functions"] if any(f[k + suffix] for k in keys)}
                self.assertEqual({k: v for k, v in rows.items() if k in want}, want, name)
                self.assertIn(f"{document['coverage']['events']} events, {document['coverage']['lost']} lost", text)
                for f in document["functions"]:
                    if f["doubtful"]:
                        self.assertIn(f"Doubtful: {shown(f)}, at most", text)

    def test_calls__counts__are_hits_of_the_paths(self):
        for name, document, file in self.profiles("callgrind"):
            if document["type"] != "trace":
                continue
            with open(file, encoding="utf-8") as f:
                calls = sum(int(m) for m in re.findall(r"^calls=(\d+)", f.read(), re.M))
            self.assertEqual(calls, sum(n["hits"] for n in document["tree"]), name)


class ConvertPprof(Convert):
    def test_traces__go_tool_pprof__has_every_path_and_sum(self):
        go = judge(self, "go")
        for name, document, file in self.profiles("pprof"):
            columns = [("hits" if document["type"] == "trace" else "samples", 1)]
            columns += [(c["name"], 2 + i) for i, c in enumerate(document["counters"]) if c]
            for column, index in columns:
                text = "\n".join(self.lines(go, "tool", "pprof", "-traces", "-sample_index=" + column, file))
                self.assertIn(f"{document['coverage']['events']} events, {document['coverage']['lost']} lost", text)
                self.assertEqual(self.stacks(text), sorted((p[0], p[index]) for p in paths(document)), name)

    def stacks(self, text):
        found = []
        for block in re.split(r"\n-+\+-+\n", text)[1:]:
            frames = [line for line in block.split("\n") if line.strip() and not re.match(r"\s+doubtful:", line)]
            if frames:
                value, leaf = frames[0].split(None, 1)
                found.append((tuple([f.strip() for f in frames[:0:-1]] + [leaf.strip()]), int(re.match(r"-?\d+", value).group(0))))
        return sorted(found)

    def test_doubt__label__is_on_the_paths_that_are_doubtful(self):
        go = judge(self, "go")
        for name, document, file in self.profiles("pprof"):
            doubtful = sum(n["hits"] for n in document["tree"] if n["doubtful"])
            if not doubtful:
                continue
            text = "\n".join(self.lines(go, "tool", "pprof", "-tags", "-sample_index=hits", file))
            self.assertIn(f"Total {doubtful}", re.sub(r"\.0\b", "", text), name)


class ConvertLcov(Convert):
    def figures(self, path):
        """(lines hit, lines, functions hit, functions, branches hit, branches), as lcov counts them."""
        text = "\n".join(self.lines("lcov", "--summary", path, "--rc", "lcov_branch_coverage=1"))
        found = [re.search(what + r"\.+: .*?(?:\((\d+) of (\d+) |no data found)", text) for what in ("lines", "functions", "branches")]
        return [int(n or 0) for m in found for n in m.groups()]

    def test_functions_and_lines__lcov_and_genhtml__read_them_all(self):
        judge(self, "lcov")
        for name, folder in [r[:2] for r in RUNS if r[0] != "samples"]:
            recording = os.path.join(self.recordings, name)
            out, document = self.path("run.info"), json.loads(run(["report", recording, "--json"]).stdout)
            p = run(["convert", recording, "--to", "lcov", "-o", out])
            self.assertEqual((p.returncode, p.stderr), (0, ""))
            files = self.tracefile(out)
            got = {k: v for f in files.values() for k, v in f["FNDA"].items()}
            hits = {f["name"]: f["hits"] for f in document["functions"]}
            self.assertEqual({k: v for k, v in got.items() if v}, {k: v for k, v in hits.items() if v and k in got}, name)
            self.assertLessEqual({f["name"] for f in document["functions"] if f["file"]}, set(got))
            all_ = [[n for f in files.values() for n in f[k].values()] for k in ("DA", "FNDA")] + [[b[3] for f in files.values() for b in f["BRDA"]]]
            self.assertEqual(self.figures(out), [n for counts in all_ for n in (sum(c > 0 for c in counts), len(counts))], name)
            self.assertGreater(min(map(len, all_[:2])), 4)
            page = self.path("html " + name)
            self.lines("genhtml", "--quiet", "--branch-coverage", "-o", page, out, cwd=folder)
            self.assertTrue(os.path.exists(os.path.join(page, "index.html")))

    def test_lines__exact_counts__are_those_of_annotate(self):
        recording, out = os.path.join(self.recordings, "estimated"), self.path("run.info")
        self.assertEqual(run(["convert", recording, "--to", "lcov", "-o", out]).returncode, 0)
        files = self.tracefile(out)
        lines, branches = {}, []
        for f in json.loads(run(["annotate", recording, "--json"]).stdout)["functions"]:
            for i in f["instructions"]:
                if i.get("file") and i.get("line"):
                    at = (i["file"], i["line"])
                    lines[at] = max(lines.get(at, 0), i.get("count", 0))
                    if "taken" in i:
                        branches.append((*at, i["taken"], i["not_taken"]))
        self.assertGreater(len(branches), 5)
        got = {(file, line): n for file, f in files.items() for line, n in f["DA"].items()}
        self.assertEqual({k: v for k, v in got.items() if v}, {k: v for k, v in lines.items() if v})
        self.assertGreater(len(got), len(lines))  # functions that did not run
        pairs = [(file, line, *(b[3] for b in f["BRDA"] if b[1] == block)) for file, f in files.items() for line, block in sorted({b[:2] for b in f["BRDA"]})]
        self.assertEqual(sorted(pairs), sorted(branches))

    def test_what_lcov_cannot_say__is_refused(self):
        prf = self.path("run.prf")
        run(["convert", os.path.join(self.recordings, "tutorial"), "--to", "prf", "-o", prf])
        for file, what in ((prf, "lines"), (os.path.join(self.recordings, "samples"), "samples")):
            self.assert_fails(run(["convert", file, "--to", "lcov"]), 2, what, "recording of a trace")


class ConvertGcov(Convert):
    """The same C, counted by gcov on the host and by the bridge on a board."""
    COVER = os.path.join(SOURCE, "tests", "cli", "e2e", "cover")

    def counted_by_gcov(self, *compile_):
        """gcov's files of what ran on the host."""
        self.lines(judge(self, "gcc"), "--coverage", "-O0", "-o", "host", *compile_, cwd=self.dir)
        self.lines(self.path("host"))
        data = [f for f in os.listdir(self.dir) if f.endswith(".gcda")]
        self.assertEqual(len(data), 1)
        text = "\n".join(self.lines("gcov", "--json-format", "--branch-probabilities", "--stdout", data[0], cwd=self.dir))
        return json.loads(text)["files"]

    def converted(self, recording, *more):
        out = self.path("run.info")
        p = run(["convert", recording, "--to", "lcov", "-o", out, *more])
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        return self.tracefile(out)

    def test_s12z__lines_and_branches__are_gcovs(self):
        tools = s12z_tools()
        if not tools:
            self.skipTest("needs tests/s12z/build_binutils.sh")
        shutil.copy(os.path.join(self.COVER, "cover.c"), self.dir)
        want, = self.counted_by_gcov("-Dcover=main", "cover.c")
        self.lines(os.path.join(tools, "s12z-elf-as"), "-g", "-o", "cover.o", os.path.join(self.COVER, "cover.s"), cwd=self.dir)
        self.lines(os.path.join(tools, "s12z-elf-ld"), "-T", os.path.join(self.COVER, "cover.ld"), "-o", "cover.elf", "cover.o", cwd=self.dir)
        p = run(["cover.elf", "--load", "--for", "20ms", "--gdb", "off", "--record", "run.rec"], cwd=self.dir, probe="sim:s12zvml128")
        self.assertEqual(p.returncode, 0, p.stderr)
        got = self.converted(self.path("run.rec"), "--elf", self.path("cover.elf"))
        self.assertEqual([os.path.basename(f) for f in got], ["cover.c"])
        got = next(iter(got.values()))
        self.assertEqual(got["DA"], {x["line_number"]: x["count"] for x in want["lines"]})
        self.assertEqual(got["FNDA"], {f["name"].replace("main", "cover"): f["execution_count"] for f in want["functions"]})
        branches = sorted((x["line_number"], b["count"]) for x in want["lines"] for b in x["branches"])
        self.assertEqual(sorted((line, taken) for line, _, _, taken in got["BRDA"]), branches)
        self.assertEqual(len(branches), 8)
        self.assertIn((22, 0), branches)  # one that is never taken

    def test_sh4__hits_of_functions__are_gcovs(self):
        with open(self.path("host.c"), "w", encoding="utf-8") as f:
            f.write('#define main never_ends\n#include "profexam.c"\n#undef main\nint main(void) { Initialise(); BuildList(); return 0; }\n')
        files = self.counted_by_gcov("-I", PROFEXAM, "host.c")
        want = {f["name"]: f["execution_count"] for file in files for f in file["functions"] if file["file"].endswith("profexam.c")}
        del want["never_ends"]
        got = {k: v for f in self.converted(os.path.join(self.recordings, "tutorial")).values() for k, v in f["FNDA"].items()}
        self.assertEqual({k: got.get(k) for k in want}, want)
        self.assertEqual(want["GetLastNode"], 999)


class ConvertGmon(Convert):
    ELFS = {"tutorial": "profexam/profexam.elf", "interrupts": "irqdemo/irqdemo.elf", "one counter": "profexam/profexam.elf"}

    def gprof(self, elf, file, option):
        return self.lines(judge(self, "sh4-linux-gnu-gprof"), "-b", option, os.path.join(EXAMPLES, elf), file)

    def in_text(self, elf, address):
        """Functions of other sections are none to gprof."""
        text = "\n".join(self.lines(judge(self, "sh4-linux-gnu-readelf"), "-SW", os.path.join(EXAMPLES, elf)))
        low, size = re.search(r" \.text +PROGBITS +(\w+) \w+ (\w+)", text).groups()
        return 0 <= (address & 0x1FFFFFFF) - (int(low, 16) & 0x1FFFFFFF) < int(size, 16)

    def test_flat_profile__gprof__has_every_sum_and_count(self):
        for which, key in (("c1", "c1"), ("hits", "hits")):
            for name, document, file in self.profiles("gmon", *(["--value", "hits"] if key == "hits" else [])):
                if name not in self.ELFS:
                    continue
                rows = {}
                for line in self.gprof(self.ELFS[name], file, "-p"):
                    m = re.match(r"\s*[\d.]+\s+[\d.]+\s+([\d.]+)(?:\s+(\d+)\s+[\d.]+\s+[\d.]+)?\s+(\S+)$", line)
                    if m:
                        rows[m.group(3)] = (float(m.group(1)), int(m.group(2) or 0))
                calls, function_of = {}, {n["id"]: n["function"] for n in document["tree"]}
                for n in document["tree"]:
                    calls[n["function"]] = calls.get(n["function"], 0) + (0 if n["parent"] is None or function_of[n["parent"]] == n["function"] else n["hits"])
                want = {f["linkage_name"]: (float(f[key]), calls[i]) for i, f in enumerate(document["functions"])
                        if f[key] and f["linkage_name"] and self.in_text(self.ELFS[name], f["low"])}
                self.assertGreater(len(want), 5)
                self.assertEqual({k: v for k, v in rows.items() if k in want}, want, name)

    def test_arcs__gprof_call_graph__are_the_calls_of_the_tree(self):
        for name, document, file in self.profiles("gmon"):
            if name != "tutorial":
                continue
            text = "\n".join(self.gprof(self.ELFS[name], file, "-q"))
            self.assertRegex(text, r"1000/1000\s+BuildList \[\d+\]\n\[\d+\]\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+1000\s+GetNewNode")
            self.assertRegex(text, r"999/999\s+GetLastNode")


class ConvertText(Convert):
    def test_folded__each_value__adds_up_to_the_paths(self):
        for which, index in (("hits", 1), ("c1", 2)):
            for name, document, file in self.profiles("folded", "--value", which) if which == "hits" else self.profiles("folded"):
                if which == "c1" and not self.counters(document):
                    index = 1
                with open(file, encoding="utf-8") as f:
                    rows = [line.rsplit(" ", 1) for line in f.read().splitlines()]
                want = [(";".join(p[0]), p[index]) for p in paths(document) if p[index]]
                self.assertEqual([(stack, int(n)) for stack, n in rows], want, name)

    def test_speedscope__each_profile__has_stacks_and_weights_of_the_paths(self):
        for name, document, file in self.profiles("speedscope"):
            with open(file, encoding="utf-8") as f:
                s = json.load(f)
            frames = [f["name"].removesuffix(" ?") for f in s["shared"]["frames"]]
            indices = [1] + [2 + i for i, c in enumerate(document["counters"]) if c]
            self.assertEqual(len(s["profiles"]), len(indices))
            for profile, index in zip(s["profiles"], indices):
                self.assertIn(f"{document['coverage']['events']} events", profile["name"])
                got = [(tuple(frames[k] for k in stack), w) for stack, w in zip(profile["samples"], profile["weights"], strict=True)]
                self.assertEqual(got, [(p[0], p[index]) for p in paths(document) if p[index]], name)
                self.assertEqual(profile["endValue"], sum(profile["weights"]))


class ConvertUsage(Convert):
    def test_usage__what_is_missing_or_useless__is_said(self):
        source = self.path("a.rec")
        p = run(MISSION + ["--passes", "1", "--gdb", "off", "--record", source], cwd=PROFEXAM)
        self.assertEqual(p.returncode, 0, p.stderr)
        for args, says in (([], "needs a recording, or another file"), ([source], "needs a format"), ([source, "--to", "xml"], "formats are"),
                           ([source, "--to", "json", "--value", "c1"], "--value is for folded and gmon"),
                           ([source, "--to", "folded", "-o", source], "is the file that is read"),
                           ([source, "--to", "folded", "--value", "c3"], "c3")):
            p = run(["convert", *args])
            self.assertEqual(p.returncode, 2, args)
            self.assertIn(says, p.stderr)
        one = run(MISSION + ["--passes", "1", "--gdb", "off", "--c2", "none", "--record", source], cwd=PROFEXAM)
        self.assertEqual(one.returncode, 0, one.stderr)
        p = run(["convert", source, "--to", "folded", "--value", "c2"])
        self.assertEqual((p.returncode, p.stdout), (2, ""))

    def test_pprof__twice__is_the_same_and_gzip(self):
        source = self.path("a.rec")
        run(MISSION + ["--passes", "1", "--gdb", "off", "--record", source], cwd=PROFEXAM)
        for name in ("a", "b"):
            run(["convert", source, "--to", "pprof", "-o", self.path(name)])
        with open(self.path("a"), "rb") as a, open(self.path("b"), "rb") as b:
            first = a.read()
            self.assertEqual(first, b.read())
        self.assertGreater(len(gzip.decompress(first)), 100)


if __name__ == "__main__":
    main()
