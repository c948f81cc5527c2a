#!/usr/bin/env python3
"""Blocks of probeprof.marks: parts of functions measured by themselves, on both boards.

usage: blocks.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import struct

from common import EXAMPLES, Folder, check_identities, main, run

MOTOR = os.path.join(EXAMPLES, "motor", "motor.elf")


def functions(document):
    return {f["name"]: f for f in document["functions"]}


def own(function):
    return {c: function[c] for c in ("hits", "c1", "c2", "c1_children", "c2_children")}


class BlocksS12z(Folder):
    MARKS = """# parts of the loop
block mean = average+0x2c..average+0x3a
block samples = read_currents+7..read_currents+0x18
block every = control_loop..control_loop+0x1c
  block tail  =  control_loop+0x33 ..  control_loop+0x45
tag mean
"""
    INSIDE = {"mean": "average", "samples": "read_currents", "every": "control_loop", "tail": "control_loop"}

    def setUp(self):
        super().setUp()
        shutil.copy(MOTOR, self.dir)

    def profile(self, *args, status=0):
        r = run(["--elf", "motor.elf", "--load", "--gdb", "off", "--for", "20ms", *args], self.dir, "sim:s12zvml128")
        self.assertEqual(r.returncode, status, r.stderr)
        return r

    def json_of(self, *args):
        return json.loads(self.profile("--json", *args).stdout)

    def entries(self, whole, low, back):
        """How often code at low ran, by the exact counts of blocks, less what came back to it by the branch at back."""
        ran = sum(b["count"] for b in whole["blocks"] if b["low"] <= low < b["high"])
        return ran - sum(b["taken"] for b in whole["branches"] if b["pc"] == back)

    def test_a_block_and_the_rest_are_the_function(self):
        whole = self.json_of()
        self.write("probeprof.marks", self.MARKS)
        parts = self.json_of()
        check_identities(self, parts)
        before, after = functions(whole), functions(parts)
        self.assertEqual(set(after) - set(before), set(self.INSIDE))
        for name, f in before.items():
            blocks = [after[b] for b, inside in self.INSIDE.items() if inside == name]
            self.assertEqual([f["hits"], f["c1_children"], f["c2_children"]],
                             [after[name][c] for c in ("hits", "c1_children", "c2_children")], name)
            for c in ("c1", "c2"):
                self.assertEqual(f[c], after[name][c] + sum(b[c] for b in blocks), (name, c))
        for name in self.INSIDE:
            self.assertEqual(after[name]["description"], "user-block")
            self.assertGreater(after[name]["c1"], 0)
        at = {f: before[f]["low"] for f in before}
        self.assertEqual(after["mean"]["hits"], self.entries(whole, at["average"] + 0x2C, at["average"] + 0x36))
        self.assertEqual(after["samples"]["hits"], self.entries(whole, at["read_currents"] + 7, at["read_currents"] + 0x14))
        self.assertEqual(after["tail"]["hits"], self.entries(whole, at["control_loop"] + 0x33, 0))
        # what is called from within is below the block
        tree, f = parts["tree"], parts["functions"]
        name = {n["id"]: f[n["function"]]["name"] for n in tree}
        above = {name[n["id"]]: name.get(n["parent"]) for n in tree}
        self.assertEqual([above[n] for n in ("average", "samples", "read_currents", "regulate")],
                         ["samples", "read_currents", "every", "control_loop"])

    def test_recordings_and_files_have_it(self):
        self.write("probeprof.marks", self.MARKS)
        live = self.json_of("--record", "b.rec", "-o", "b.prf")
        self.assertIn("mean", self.profile("--record", "c.rec").stdout)
        os.rename(self.path("probeprof.marks"), self.path("mine"))
        replayed = json.loads(run(["report", "b.rec", "--marks", "mine", "--json"], self.dir).stdout)
        self.assertEqual([d["header"].pop("marks") for d in (live, replayed)], ["probeprof.marks", "mine"])
        self.assertEqual(replayed, live)
        r = run(["report", "b.rec", "--marks", "mine"], self.dir)  # the report knows them
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stdout, r"(?m) \*mean$")
        prf = json.loads(run(["report", "b.prf", "--json"], self.dir).stdout)
        for name in self.INSIDE:
            self.assertEqual(own(functions(prf)[name]), own(functions(live)[name]))
            self.assertEqual(functions(prf)[name]["description"], "user-block")
        with open(self.path("b.prf"), "rb") as f:
            data = f.read()
        at = data.index(struct.pack("<H", 4) + b"mean")  # bytes 77 and 78 of the record; byte 4 describes it
        self.assertEqual(data[at - 73], 7)
        r = run(["report", "b.rec", "--marks", self.write("other", "block none = idle..idle+4\n")], self.dir)
        self.assert_fails(r, 1, "other:1: block none was not measured", "profile again")

    def test_lines_decoded_later_give_the_same(self):
        lines = self.profile("--trace-lines").stdout
        with open(self.path("run.lines"), "wb") as f:
            f.writelines(int(line[:16], 16).to_bytes(8, "little") for line in lines.splitlines() if re.match("[0-9A-F]{16} ", line))
        decode = ["decode", "run.lines", "--format", "lines", "--elf", "motor.elf", "--json"]
        whole = run(decode, self.dir, None)
        self.write("probeprof.marks", self.MARKS)
        parts = run(decode, self.dir, None)
        self.assertEqual((whole.returncode, parts.returncode), (0, 0), parts.stderr)
        self.assertIn("blocks by themselves: 4", parts.stderr)
        before, after = (functions(json.loads(r.stdout)) for r in (whole, parts))
        for c in ("c1", "c2"):
            self.assertEqual(before["average"][c], after["average"][c] + after["mean"][c])
        self.assertEqual(before["average"]["hits"], after["mean"]["hits"])

    def test_mistakes_name_file_line_and_column(self):
        for text, what, hint in (
                ("block b = averag+1..average+4\n", "probeprof.marks:1:11: ", "average"),
                ("\nblock b =  average .. nowhere\n", "probeprof.marks:2:23: ", ""),
                ("block b = average+4..average+4\n", "probeprof.marks:1:11: block b has nothing in it", "first"),
                ("block b = average+4..average\n", "probeprof.marks:1:11: block b has nothing in it", "first"),
                ("block b = 0x10..0x20\n", "probeprof.marks:1:11: block b begins in no function", "part of a function"),
                ("block b = average+4..reading+4\n", "probeprof.marks:1:11: block b begins in average and ends elsewhere", "two blocks"),
                ("block a = average+4..average+20\n#\n block b = average+10..average+30\n",
                 "probeprof.marks:3:12: block b has addresses of block a in it", "side by side"),
                ("block a = average+4..average+40\nblock b = average+10..average+20\n",
                 "probeprof.marks:2:11: block b has addresses of block a in it", "side by side"),
                ("block b = average\n", "probeprof.marks:1: a block is NAME = LOW..HIGH", "block inner loop"),
                ("block = a..b\n", "probeprof.marks:1: ", "block inner loop")):
            self.write("probeprof.marks", text)
            self.assert_fails(self.profile(status=1), 1, what, hint)


class BlocksSh4(Folder):
    # GetLastNode walks the list: its condition stands at +0x22, the step to the next node above it
    MARKS = """block walk = GetLastNode+0x14..GetLastNode+0x2e
block links = GetNewNode+0x1a..GetNewNode+0x3e
block rounds = main+8..main+0x18
block first = InsertNode..InsertNode+0x14
"""
    INSIDE = {"walk": "GetLastNode", "links": "GetNewNode", "rounds": "main", "first": "InsertNode"}
    NODES, PASSES = 1000, 1  # as profexam.c has them; the last node is not looked for in an empty list

    def setUp(self):
        super().setUp()
        shutil.copy(os.path.join(EXAMPLES, "profexam", "profexam.elf"), self.dir)

    def profile(self, *args, status=0):
        r = run(["--elf", "profexam.elf", "--load", "--gdb", "off", "--start", "main+8", "--stop", "0x0C010030", "--passes",
                 str(self.PASSES), *args], self.dir)
        self.assertEqual(r.returncode, status, r.stderr)
        return r

    def json_of(self, *args):
        return json.loads(self.profile("--json", *args).stdout)

    def check_parts(self, before, after, counters):
        for name, f in before.items():
            blocks = [after[b] for b, inside in self.INSIDE.items() if inside == name]
            self.assertEqual(f["hits"], after[name]["hits"], name)
            for c in counters:
                self.assertEqual(f[c], after[name][c] + sum(b[c] for b in blocks), (name, c))
                self.assertEqual(f[c + "_children"], after[name][c + "_children"], (name, c))

    def test_a_block_and_the_rest_are_the_function(self):
        for c1, c2 in (("instructions", "calls"), ("branches", "branches-taken"), ("operand-access", "fetch")):
            with self.subTest(c1=c1, c2=c2):
                self.write("probeprof.marks", "# none\n")
                whole = self.json_of("--c1", c1, "--c2", c2)
                self.write("probeprof.marks", self.MARKS)
                parts = self.json_of("--c1", c1, "--c2", c2)
                check_identities(self, parts)
                self.check_parts(functions(whole), functions(parts), ("c1", "c2"))
                self.assertEqual(set(functions(parts)) - set(functions(whole)), set(self.INSIDE))

    def test_hits_are_how_often_the_program_gets_there(self):
        self.write("probeprof.marks", self.MARKS + "block next = GetLastNode+0x2e..GetLastNode+0x36\n")
        parts = functions(self.json_of("--c1", "instructions"))
        self.assertEqual(parts["walk"]["hits"], self.PASSES * (self.NODES - 1))
        self.assertEqual(parts["next"]["hits"], self.PASSES * (self.NODES - 1))
        self.assertEqual(parts["rounds"]["hits"], self.PASSES)
        self.assertEqual(parts["links"]["hits"], self.PASSES * self.NODES)
        self.write("probeprof.marks", "block step = GetLastNode+0x14..GetLastNode+0x22\n")
        step = functions(self.json_of("--c1", "instructions"))["step"]
        rounds = self.PASSES * sum(range(self.NODES - 1))  # the k-th search passes k - 1 nodes
        self.assertEqual(step["hits"], rounds)
        self.assertEqual(step["c1"], 7 * rounds)

    def test_recordings_have_it(self):
        self.write("probeprof.marks", self.MARKS)
        live = self.json_of("--record", "b.rec")
        os.rename(self.path("probeprof.marks"), self.path("mine"))
        self.assertEqual(json.loads(run(["report", "b.rec", "--json"], self.dir).stdout), live)

    def test_what_cannot_be_measured_is_refused_with_its_reason(self):
        for text, what, hint in (
                ("block b = main+0xc..main+0x12\n", "0x0c010028 is a delay slot", "use 0x0c010026"),
                ("block b = main+8..main+0xc\n", "0x0c010028 is a delay slot", "use 0x0c010026"),
                ("block b = main+0x18..main+0x1c\n", "there is data", "address of an instruction"),
                ("block b = main+9..main+0x10\n", "0x0c010025 is odd", "even addresses")):
            self.write("probeprof.marks", text)
            self.assert_fails(self.profile(status=2), 2, what, hint)
        self.write("probeprof.marks", "block b = GetLastNode+0x14..GetLastNode+0x2e\n")
        self.assert_fails(self.profile("--no-patch", "GetLastNode:GetLastNode+0x30", status=2), 2,
                          "a way into or out of a block, and in a --no-patch range", "smaller range")


if __name__ == "__main__":
    main()
