#!/usr/bin/env python3
"""Every option of the verbs that show a profile or a program, beside each of their outputs: either it changes what comes, on standard output, in files or in the
exit status, or it is refused with exit status 2 and its name. An option that does neither is a promise that is not kept.

usage: no_effect.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

from common import Folder, MISSION, PROBEPROF, PROFEXAM, SOURCE, environment, main, run, start

MARKS = "# of this test\ntag GetNewNode\nrename MallocNode = node memory\n"
# What each option is given. A string is another file than the base's: one whose program is not where it was.
ORPHAN = "orphan.rec"
REPORT = {"elf": (["p.elf"], ORPHAN), "output": ["new.prf"], "json": [], "tree": [], "hits": [">=1000"], "all": [], "sort": ["name"], "callers": ["MallocNode"],
          "callees": ["GetNewNode"], "live": [], "prof": [], "gprof": [], "function": ["Node$"], "limit": ["2"], "columns": ["c1%,hits"], "hot": ["hits>=1000"],
          "fail-if-any": ["hits>=1000"], "marks": ["other.marks"], "tag": ["InsertNode"], "untag": ["GetNewNode"], "untag-all": [], "show": ["tagged"], "html": ["new.html"]}
ANNOTATE = {"both": [], "source": [], "asm": [], "limit": ["2"], "elf": (["p.elf"], ORPHAN), "source-dir": [".=sources"], "marks": ["other.marks"], "json": []}
CONVERT = {"output": ["new.file"], "value": ["hits"], "range": ["0x0C010000..0x0C010100"], "scale": ["4"], "buckets": ["7"], "buffer": ["500"], "bucket-bytes": ["4"],
           "nfunc": ["3"], "marks": ["other.marks"],
           "elf": (["p.elf"], ORPHAN)}
DIFF = {"fail-if": ["slower"], "marks": ["other.marks"], "limit": ["1"], "json": []}
OPTIMIZE = {"map": ["p.map"], "output": ["new.ld"], "format": ["lor"], "algorithm": ["c3"], "include": ["Node$"], "exclude": ["^main$"], "hits": [">=2"], "cache": ["512,32,1"],
            "marks": ["group.marks"], "elf": (["p.elf"], ORPHAN), "json": []}
GRAPH = {"dot": [], "json": []}
TOP = {"interval": ["300ms"], "frames": ["2"], "rows": ["1"], "nodes": ["1"], "json": []}
# Not asked for: --from repeats what the content says, or is refused; --to is in every base; --token-file is for another machine's bridge.
SAYS = {"help", "from", "to", "token-file"}
# What each base has anyway, and may be said.
DEFAULTS = {("annotate", "both"), ("optimize", "map")}


def options_of(verb):
    text = run(["help", verb]).stdout
    return set(re.findall(r"(?m)^  (?:-\w, |    )--([a-z0-9-]+)", text)) - SAYS


class NoEffect(Folder):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.mkdtemp(prefix="probeprof-no-effect-")
        cls.addClassCleanup(shutil.rmtree, cls.made)
        elf = shutil.copy(os.path.join(PROFEXAM, "profexam.elf"), os.path.join(cls.made, "p.elf"))
        short = os.path.join(cls.made, "short.elf")
        with open(elf, "rb") as f, open(short, "wb") as g:  # a list of 900 instead of 1000: what diff finds faster
            g.write(f.read().replace(bytes.fromhex("e8030900 7000010c"), bytes.fromhex("84030900 7000010c")))
        gone = shutil.copy(elf, os.path.join(cls.made, "gone.elf"))
        for name, program, args in (("r.rec", elf, MISSION + ["--passes", "1"]), ("samples.rec", elf, ["--sample", "--rate", "20k", "--for", "400ms"]), (ORPHAN, gone, MISSION + ["--passes", "1"]),
                                    ("slow.rec", elf, MISSION + ["--passes", "4"]), ("quick.rec", short, MISSION + ["--passes", "4"])):
            p = run([*args, "--elf", program, "--load", "--gdb", "off", "--http", "off", "--record", os.path.join(cls.made, name)], cwd=cls.made)
            assert p.returncode == 0, p.stderr
        os.remove(gone)
        assert run(["report", "r.rec", "-o", "r.prf"], cwd=cls.made).returncode == 0
        os.mkdir(os.path.join(cls.made, "sources"))
        shutil.copy(os.path.join(PROFEXAM, "profexam.c"), os.path.join(cls.made, "sources"))
        shutil.copy(os.path.join(SOURCE, "tests", "cli", "e2e", "profexam.map"), os.path.join(cls.made, "p.map"))
        for name, text in (("probeprof.marks", MARKS), ("group.marks", "group both = /^Ma?(in|lloc)/\nexclude main\n"), ("other.marks", "rename main = the other\nrename GetLastNode = last\ntag GetLastNode\ntag GetNewNode\n")):
            with open(os.path.join(cls.made, name), "w", encoding="utf-8") as f:
                f.write(text)

    def contents(self):
        files = {}
        for where, _, names in os.walk(self.made):
            for name in names:
                with open(os.path.join(where, name), "rb") as f:
                    files[os.path.join(where, name)] = f.read()
        return files

    def outcome(self, args):
        """Exit status, output, and what became of the files, which are put back; and what it said."""
        before = self.contents()
        p = subprocess.run([PROBEPROF, *args], cwd=self.made, env=environment(looks_for_leaks=False), capture_output=True, stdin=subprocess.DEVNULL)
        after = self.contents()
        for path in after.keys() - before.keys():
            os.remove(path)
        for path, data in before.items():
            if after.get(path) != data:
                with open(path, "wb") as f:
                    f.write(data)
        return (p.returncode, p.stdout, after), p.stderr.decode()

    def findings(self, verb, files, bases, values):
        self.assertEqual(set(values), options_of(verb), "each option of the help has a value here")

        found = []
        for base in bases:
            plain = {}
            for option, value in values.items():
                names = files
                if isinstance(value, tuple):
                    value, names = value[0], [value[1], *files[1:]]
                if {f"--{option}", f"--{option}=up"} & set(base) or (verb, option) in DEFAULTS:
                    continue
                if names[0] not in plain:
                    plain[names[0]] = self.outcome([verb, *names, *base])[0]
                got, said = self.outcome([verb, *names, *base, f"--{option}", *value])
                if plain[names[0]][0] == 2:
                    continue  # that is no base for this file
                if got[0] == 2 and f"--{option}" not in said:
                    found.append(f"{' '.join(base)} --{option}: refused without its name: {said}")
                elif got[0] != 2 and got == plain[names[0]]:
                    found.append(f"{' '.join(base)} --{option} changes nothing")
        return found

    def test_report__of_a_trace(self):
        bases = [[], ["--json"], ["--tree"], ["--tree=up"], ["--all"], ["--callees", "BuildList"], ["--callers", "MallocNode", "--json"], ["--live"], ["--live", "--json"],
                 ["--prof"], ["--gprof"], ["--prof", "--json"], ["--html", "new.html"]]
        self.assertEqual(self.findings("report", ["r.rec"], bases, REPORT), [])

    def test_report__of_samples_and_a_prf(self):
        for name in ("samples.rec", "r.prf"):
            values = REPORT | {"tag": ["InsertNode", "--marks", "new.marks"], "untag": ["GetNewNode", "--marks", "new.marks"]}
            self.assertEqual(self.findings("report", [name], [[], ["--json"]], values), [], name)

    def test_annotate(self):
        bases = [[], ["--json"], ["--source"], ["--asm"], ["--source", "--json"], ["--asm", "--json"]]
        self.assertEqual(self.findings("annotate", ["r.rec"], bases, ANNOTATE), [])

    def test_optimize(self):
        bases = [["--map", "p.map"], ["--map", "p.map", "--json"], ["--map", "p.map", "-o", "other.ld"], ["--map", "p.map", "--algorithm", "ph"]]
        self.assertEqual(self.findings("optimize", ["r.rec"], bases, OPTIMIZE), [])

    def test_convert(self):
        formats = re.findall(r"\w+", re.search(r"--to FORMAT((?:.*\n)+?) +(?:-\w, )?--", run(["help", "convert"]).stdout).group(1))
        self.assertGreater(len(formats), 7)
        self.assertEqual(self.findings("convert", ["r.rec"], [["--to", f] for f in formats], CONVERT), [])

    def test_diff(self):
        self.assertEqual(self.findings("diff", ["quick.rec", "slow.rec"], [[], ["--json"]], DIFF), [])

    def test_top(self):
        with tempfile.TemporaryDirectory() as folder:
            address = os.path.join(folder, "s")
            p = start(["view", os.path.join(self.made, "r.rec"), "--http", address])
            self.addCleanup(p.kill)
            self.wait_for(p, "Ctrl-C")
            # --interval is time, which is in no table; frames say when they were in `w`
            for base in (["-n", "1"], ["-n", "1", "--json"]):
                self.assertEqual(self.findings_of_top(address, base), [], base)
            p.send_signal(signal.SIGINT)
            p.communicate()

    def findings_of_top(self, address, base):
        self.assertEqual(set(TOP), options_of("top"))
        shape = lambda out: [json.loads(line) | {"w": 0} if line.startswith(b"{") else line for line in out.splitlines()]  # noqa: E731
        found, plain = [], self.outcome(["top", address, *base])[0]
        for option, value in TOP.items():
            got, said = self.outcome(["top", address, *base, f"--{option}", *value])
            if option == "interval" or f"--{option}" in base:
                self.assertEqual(got[0], 0)
            elif got[0] == 2 and f"--{option}" not in said:
                found.append(f"--{option}: refused without its name: {said}")
            elif got[0] != 2 and shape(got[1]) == shape(plain[1]):
                found.append(f"--{option} changes nothing: {got[1]}")
        return found

    def test_view__of_a_prf__has_no_use_for_elf(self):
        p = run(["view", "r.prf", "--elf", "p.elf", "--http", "off"], cwd=self.made)
        self.assertEqual(p.returncode, 2)
        self.assertIn("--elf", p.stderr)

    def test_graph(self):
        self.assertEqual(self.findings("graph", ["p.elf"], [[], ["--json"], ["--dot"]], GRAPH), [])


if __name__ == "__main__":
    main()
