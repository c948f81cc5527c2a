#!/usr/bin/env python3
"""docs/examples/cxx: what its README says of each round, and names.

usage: cxx.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import subprocess
import unittest

from common import EXAMPLES, TerminalFolder, check_identities, main, run

CXX = os.path.join(EXAMPLES, "cxx")


class Cxx(TerminalFolder):
    ROUNDS = 3
    RUN = ["--start", "Round", "--stop", "RoundEnds", "--passes", str(ROUNDS), "--gdb", "off"]
    EACH = {"Round": 1, "RoundEnds": 1, "mix(int, int)": 20, "left::sample(int)": 20, "left.cc:scale(int)": 20, "Filter<int, 8>::run(int)": 20,
            "Filter<int, 8>::next(int)": 20, "mix(float, float)": 12, "right::sample(int)": 12, "right.cc:scale(int)": 12,
            "Filter<float, 4>::run(float)": 12, "Filter<float, 4>::next(int)": 12, "operator+(Point const&, Point const&)": 10,
            "run(Stage*, int)": 10, "Gain::step(int)": 20, "Pair::step(int)": 10, "Offset::step(int)": 10,
            "int sum_of<Round::{lambda(int)#1}>(int, Round::{lambda(int)#1})": 1, "Round::{lambda(int)#1}::operator()(int) const": 5}
    ONCE = ("Filter<int, 8>::Filter()", "Filter<float, 4>::Filter()")

    def test_every_function_has_its_hits_and_its_place_in_the_tree(self):
        r = run(self.RUN + ["--json"], cwd=CXX)
        self.assertEqual(r.returncode, 0, r.stderr)
        document = json.loads(r.stdout)
        shown = [f["qualified_name"] or f["name"] for f in document["functions"]]
        expected = {name: n * self.ROUNDS for name, n in self.EACH.items()} | dict.fromkeys(self.ONCE, 1)
        self.assertEqual({name: f["hits"] for name, f in zip(shown, document["functions"])}, expected)
        check_identities(self, document)
        paths = {}
        for n in document["tree"]:
            above = paths.get(n["parent"], (0, ()))[1]
            paths[n["id"]] = (n["hits"], above + (shown[n["function"]].split("(")[0],))
        hits_of = {" ".join(path): n for n, path in paths.values()}
        self.assertEqual(hits_of["Round run Gain::step"], 10 * self.ROUNDS)
        self.assertEqual(hits_of["Round run Pair::step Gain::step"], 10 * self.ROUNDS)
        self.assertEqual(hits_of["Round right::sample Filter<float, 4>::run Filter<float, 4>::next"], 12 * self.ROUNDS)

    @unittest.skipUnless(shutil.which("sh4-linux-gnu-strip"), "needs binutils-sh4-linux-gnu")
    def test_stripped_it_has_the_same_tree_by_address(self):
        """Virtual functions are found through their tables; nothing in a call names them."""
        elf = os.path.join(CXX, "cxx.elf")
        subprocess.run(["sh4-linux-gnu-strip", "-o", self.path("stripped.elf"), elf], check=True)
        at = {name: json.loads(run(["disasm", elf, name, "--json"]).stdout)["instructions"][0]["address"] for name in ("Round", "RoundEnds")}
        points = ["--start", hex(at["Round"]), "--stop", hex(at["RoundEnds"]), "--passes", str(self.ROUNDS), "--gdb", "off", "--json", "--load",
                  "--c1", "instructions", "--c2", "none"]
        trees = []
        for file in (elf, self.path("stripped.elf")):
            r = run(["--elf", file] + points, cwd=self.dir)
            self.assertEqual(r.returncode, 0, r.stderr)
            document = json.loads(r.stdout)
            paths = {}
            for n in document["tree"]:
                above = paths.get(n["parent"], ((), 0, 0))[0]
                paths[n["id"]] = (above + (document["functions"][n["function"]]["low"],), n["hits"], n["c1"])
            trees.append({path: (h, c) for path, h, c in paths.values()})
            self.assertEqual(document["coverage"]["blind_events"], 0)
        self.assertEqual(trees[0], trees[1])
        self.assertIs(document["coverage"]["names"], False)
        r = run(["--elf", self.path("stripped.elf")] + [p for p in points if p != "--json"], cwd=self.dir)
        self.assertRegex(r.stdout, r"(?m)^names +the ELF names no functions")

    def test_no_two_functions_look_alike_in_any_width(self):
        for columns in (76, 80, 90, 120):
            with self.subTest(columns=columns):
                text = self.on_terminal(self.RUN, columns=columns, folder=CXX, TERM="dumb")
                names = re.findall(r"^ +\d+ +[\d.]+ .{3,}?  +\??(\S.*?)\r$", text[text.index("  function"):], re.M)
                self.assertEqual(len(names), len(self.EACH) + len(self.ONCE), text)
                self.assertEqual(len(set(names)), len(names), names)
                for line in text.splitlines():
                    if re.match(r" +\d+ ", line):
                        self.assertLessEqual(len(line), columns)


if __name__ == "__main__":
    main()
