#!/usr/bin/env python3
"""probeprof.marks in reports: names, tags, groups and what is left out.

usage: marks.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import shutil

from common import Folder, MISSION, PROFEXAM, check_identities, hits, main, run


class Marks(Folder):
    MARKS = "tag GetLastNode\nrename MallocNode = node memory\ngroup list = BuildList\ngroup list = /^InsertNode$/\nexclude Initialise\n"

    @classmethod
    def recorded(cls, folder):
        shutil.copy(os.path.join(PROFEXAM, "profexam.elf"), folder)
        record = os.path.join(folder, "r.rec")
        p = run(MISSION + ["--elf", os.path.join(folder, "profexam.elf"), "--load", "--passes", "1", "--gdb", "off", "--record", record], cwd=folder)
        assert p.returncode == 0, p.stderr
        return record

    def report(self, *args):
        return run(["report", *args], cwd=self.dir)

    def test_beside_the_elf_and_by_name(self):
        record = self.recorded(self.dir)
        plain = json.loads(self.report(record, "--json").stdout)
        named = self.write("mine", self.MARKS)
        by_option = self.report(record, "--json", "--marks", named)
        self.assertEqual((by_option.returncode, by_option.stderr), (0, ""))
        self.write("probeprof.marks", self.MARKS)
        beside = self.report(record, "--json")
        self.assertIn("probeprof.marks (--marks off: none)", beside.stderr)
        self.assertEqual(beside.stdout, by_option.stdout)
        self.assertEqual(json.loads(self.report(record, "--json", "--marks", "off").stdout), plain)
        marked = json.loads(beside.stdout)
        check_identities(self, marked)
        self.assertEqual(marked["totals"], plain["totals"])
        before, after = hits(plain), hits(marked)
        self.assertEqual(after["node memory"], before["MallocNode"])
        self.assertEqual(after["list"], before["BuildList"] + before["InsertNode"])
        self.assertEqual(after["(excluded)"], before["Initialise"])
        self.assertFalse({"MallocNode", "BuildList", "InsertNode", "Initialise"} & set(after))
        f = {f["name"]: f for d in (plain, marked) for f in d["functions"]}
        self.assertEqual(f["list"]["c1_children"], f["BuildList"]["c1_children"])  # which called the other
        self.assertEqual(f["node memory"]["linkage_name"], f["MallocNode"]["linkage_name"])

    def test_a_tag_is_a_star_and_stays_in_a_prf(self):
        record, prf = self.recorded(self.dir), self.path("t.prf")
        marks = self.write("mine", "tag GetLastNode\n")
        first = self.report(record, "--marks", marks, "-o", prf)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertRegex(first.stdout, r"(?m) \*GetLastNode")
        self.assertNotIn("*MallocNode", first.stdout)
        self.assertRegex(self.report(prf).stdout, r"(?m) \*GetLastNode")

    def test_mistakes_name_file_and_line(self):
        record = self.recorded(self.dir)
        for text, status, what, hint in (("tag GetLastNod\n", 1, "mine:1: no function is \"GetLastNod\"", "GetLastNode"),
                                         ("# x\nnote main\n", 1, "mine:2: \"note\" is no mark", "tag, rename"),
                                         ("block b = main..main+8\n", 1, "mine:1: block b", "leave the line out"),
                                         ("exclude /./\n", 2, "mine:1: --all lists functions by themselves", "--marks off")):
            more = ["--all"] if status == 2 else []
            self.assert_fails(self.report(record, "--marks", self.write("mine", text), *more), status, what, hint)
        self.assert_fails(self.report(record, "--marks", self.path("none")), 1, "none", "")
        # a function of the program that did not run is no mistake
        self.assertEqual(self.report(record, "--marks", self.write("mine", "tag start\n")).returncode, 0)

    def test_a_name_cannot_speak_to_the_terminal(self):
        record = self.recorded(self.dir)
        r = self.report(record, "--marks", self.write("mine", "rename MallocNode = \x1b[31mred\n"))
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertNotIn("\x1b", r.stdout)


if __name__ == "__main__":
    main()
