#!/usr/bin/env python3
"""probeprof.marks in reports: names, tags, groups and what is left out.

usage: marks.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
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
        by_file, marked = json.loads(by_option.stdout), json.loads(beside.stdout)
        self.assertEqual([d["header"].pop("marks") for d in (by_file, marked, plain)], [named, self.path("probeprof.marks"), None])
        self.assertEqual(by_file, marked)
        off = json.loads(self.report(record, "--json", "--marks", "off").stdout)
        self.assertIsNone(off["header"].pop("marks"))
        self.assertEqual(off, plain)
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

    def test_a_name_with_its_file__is_known_without_a_namesake(self):
        record = self.recorded(self.dir)
        r = self.report(record, "--marks", self.write("mine", "rename profexam.c:MallocNode = node memory\ntag profexam.c:InsertNode\n"))
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stdout, r"(?m) node memory$")
        self.assertRegex(r.stdout, r"(?m) \*InsertNode$")
        self.assert_fails(self.report(record, "--marks", self.write("mine", "tag other.c:MallocNode\n")), 1, "no function is \"other.c:MallocNode\"", "")

    def weights(self, folded):
        """By the last function of each path, what folded stacks say of it."""
        out = {}
        for line in folded.splitlines():
            path, n = line.rsplit(" ", 1)
            leaf = path.split(";")[-1]
            out[leaf] = out.get(leaf, 0) + int(n)
        return out

    def test_other_verbs_have_the_same_names(self):
        record = self.recorded(self.dir)
        marks = self.write("mine", self.MARKS)
        convert = lambda to, *args: run(["convert", record, "--to", to, *args], cwd=self.dir)  # noqa: E731
        report = {f["name"]: f for f in json.loads(self.report(record, "--json", "--marks", marks).stdout)["functions"]}
        self.assertIn("(excluded)", report)
        own = {name: f["c1"] for name, f in report.items() if f["c1"]}
        self.assertEqual(self.weights(convert("folded", "--marks", marks).stdout), own)
        self.write("probeprof.marks", self.MARKS)
        beside = convert("folded")
        self.assertIn("probeprof.marks (--marks off: none)", beside.stderr)
        self.assertEqual(self.weights(beside.stdout), own)
        self.assertIn("MallocNode", self.weights(convert("folded", "--marks", "off").stdout))
        # when what ran: as many begin as were hit
        self.assertEqual(convert("chrome", "-o", self.path("c.json")).returncode, 0)
        with open(self.path("c.json"), encoding="utf-8") as f:
            begun = [e["name"] for e in json.load(f)["traceEvents"] if e["ph"] == "B"]
        for name in ("list", "node memory", "GetLastNode"):
            self.assertEqual(begun.count(name), report[name]["hits"], name)
        self.assertNotIn("MallocNode", begun)
        diff = run(["diff", record, record, "--json"], cwd=self.dir)
        self.assertEqual(diff.returncode, 0, diff.stderr)
        self.assertEqual({f["name"] for f in json.loads(diff.stdout)["functions"]} & {"list", "node memory", "MallocNode"}, {"list", "node memory"})
        mine = self.write("newer", "tag of_the_next_build\nrename MallocNode = node memory\n")
        self.assertEqual(run(["diff", record, record, "--marks", mine], cwd=self.dir).returncode, 0)
        self.assert_fails(self.report(record, "--marks", mine), 1, "of_the_next_build", "names are those")
        shown = run(["annotate", record, "node memory", "--asm"], cwd=self.dir)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"node memory +./profexam.c:")
        self.assert_fails(run(["annotate", record, "node memory", "--marks", "off"], cwd=self.dir), 1, "node memory", "nm")

    def test_a_group_where_only_calls_are_known(self):
        record = self.recorded(self.dir)
        marks = self.write("mine", "group nodes = /Node$/\n")
        known = {f["name"]: f for f in json.loads(self.report(record, "--json", "--marks", marks).stdout)["functions"]}
        p = run(["convert", record, "--to", "callgrind", "-o", self.path("cg.out"), "--marks", "off"], cwd=self.dir)
        self.assertEqual(p.returncode, 0, p.stderr)
        by_calls = json.loads(self.report(self.path("cg.out"), "--json", "--marks", marks).stdout)
        for f in by_calls["functions"]:
            self.assertEqual([f[c] for c in ("hits", "c1", "c1_children", "c2", "c2_children")],
                             [known[f["name"]][c] for c in ("hits", "c1", "c1_children", "c2", "c2_children")], f["name"])
        callers = json.loads(self.report(self.path("cg.out"), "--marks", marks, "--callers", "nodes", "--json").stdout)
        self.assertEqual(callers, json.loads(self.report(self.path("cg.out"), "--marks", marks, "--callers", "nodes", "--json").stdout))
        table = self.report(self.path("cg.out"), "--marks", marks, "--callers", "nodes").stdout
        self.assertRegex(table, r"BuildList")
        self.assertEqual(len(re.findall(r"(?m) nodes$", table)), 1 + 1)  # asked for, and itself among its callers

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def tagged(self, *args):
        return {f["name"] for f in json.loads(self.report(*args, "--json").stdout)["functions"] if f["tagged"]}

    def test_tag_and_untag__change_the_file_beside_the_elf_and_nothing_else_in_it(self):
        record = self.recorded(self.dir)
        r = self.report(record, "--tag", "GetLastNode")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("probeprof.marks: 1 tag added, 0 taken off", r.stderr)
        self.assertRegex(r.stdout, r"(?m) \*GetLastNode$")
        self.assertEqual(self.read("probeprof.marks"), "tag GetLastNode\n")
        kept = "# mine\n\nrename MallocNode = node memory  \n  # the end"
        self.write("probeprof.marks", kept)
        os.chmod(self.path("probeprof.marks"), 0o640)
        r = self.report(record, "--tag", "node memory", "--tag", "/^Get/", "--tag", "main", "--untag", "main", "--tree")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("3 tags added, 1 taken off", r.stderr)
        self.assertEqual(self.read("probeprof.marks"), kept + "\ntag MallocNode\ntag /^Get/\n")
        self.assertEqual(os.stat(self.path("probeprof.marks")).st_mode & 0o777, 0o640)
        self.assertEqual(set(re.findall(r"(?m)\*(.*)$", r.stdout)), {"node memory", "GetNewNode", "GetLastNode"})
        self.assertEqual(self.tagged(record), {"node memory", "GetNewNode", "GetLastNode"})
        self.assert_fails(self.report(record, "--untag", "GetNewNode"), 1, "no line tags \"GetNewNode\" by itself", "--untag '/^Get/'")
        self.assertEqual(self.report(record, "--untag-all").returncode, 0)
        self.assertEqual(self.read("probeprof.marks"), kept + "\n")
        self.assertEqual(self.tagged(record), set())
        self.assertEqual(sorted(os.listdir(self.dir)), ["probeprof.marks", "profexam.elf", "r.rec"])  # nothing beside it

    def test_a_tag_of_nothing_or_a_file_that_cannot_be_written__leaves_it_as_it_was(self):
        record = self.recorded(self.dir)
        self.write("probeprof.marks", "# mine\n")
        self.assert_fails(self.report(record, "--tag", "main", "--tag", "GetLastNod"), 1, "no function is \"GetLastNod\"", "GetLastNode")
        self.assert_fails(self.report(record, "--tag", "main", "--untag", "start"), 1, "no line tags", "--show tagged")
        self.assert_fails(self.report(record, "--tag", "/(/"), 2, "is no function to tag", "EXPRESSION")
        self.assertEqual(self.read("probeprof.marks"), "# mine\n")
        self.assert_fails(self.report(record, "--tag", "main", "--marks", "nowhere/marks"), 1, "nowhere/marks", "")
        for args, what in (([record, "--marks", "off", "--tag", "main"], "--marks off does without"), ([record, "--live", "--untag-all"], "no use for --tag, --untag, --untag-all"),
                           ([record, "--all", "--show", "untagged"], "no use for --show"), ([record, "--callers", "main", "--show", "tagged"], "no use for --show"),
                           ([record, "--live", "--show", "tagged"], "no use for --show"), ([record, "--show", "some"], "one of its values")):
            self.assert_fails(self.report(*args), 2, what, "")
        prf = self.path("x.prf")
        self.assertEqual(self.report(record, "-o", prf).returncode, 0)
        self.assert_fails(self.report(prf, "--tag", "main"), 2, "does not say of which program", "--marks F")

    def test_a_prf__is_tagged_and_untagged_by_what_is_written(self):
        record, prf, other = self.recorded(self.dir), self.path("t.prf"), self.path("u.prf")
        self.assertEqual(self.report(record, "--marks", "off", "-o", prf).returncode, 0)
        self.assertEqual(self.report(prf, "--marks", "mine", "--tag", "main", "--tag", "/Node$/", "-o", other).returncode, 0)
        self.assertEqual(self.read("mine"), "tag main\ntag /Node$/\n")
        nodes = {"GetNewNode", "GetLastNode", "InsertNode", "MallocNode"}
        self.assertEqual(self.tagged(other), nodes | {"main"})
        self.assertEqual(self.report(other, "--marks", "none", "--untag", "main", "-o", prf).returncode, 0)
        self.assertEqual(self.tagged(prf), nodes)
        self.assertEqual(self.report(prf, "--marks", "none", "--untag-all", "-o", other).returncode, 0)
        self.assertEqual(self.tagged(other), set())

    def test_show__tagged_and_untagged__in_table_tree_and_json(self):
        record = self.recorded(self.dir)
        plain = json.loads(self.report(record, "--json").stdout)
        self.assertEqual(self.report(record, "--tag", "MallocNode", "--tag", "Initialise").returncode, 0)
        rows = lambda *args: re.findall(r"(?m)^ +\d.* [|`+?*-]*(\w+)$", self.report(record, *args).stdout.split("\n\n")[1])  # noqa: E731
        self.assertEqual(rows("--show", "tagged"), ["MallocNode", "Initialise"])
        self.assertEqual(set(rows("--show", "untagged")), {"main", "BuildList", "GetNewNode", "GetLastNode", "InsertNode"})
        self.assertEqual(set(rows("--show", "all")), set(hits(plain)))
        self.assertEqual(rows("--show", "tagged", "--tree"), ["main", "BuildList", "GetNewNode", "MallocNode", "Initialise"])
        self.assertEqual(rows("--show", "tagged", "--function", "^Mal"), ["MallocNode"])
        d = json.loads(self.report(record, "--show", "tagged", "--json", "--hot", "hits>0").stdout)
        self.assertEqual(d["show"], "tagged")
        self.assertEqual(d["totals"], plain["totals"])
        self.assertEqual({f["name"]: f["shown"] for f in d["functions"]}, {"MallocNode": True, "Initialise": True, "main": False, "BuildList": False, "GetNewNode": False})
        figures = lambda x: {k: x[k] for k in ("hits", "c1", "c1_children", "c2", "c2_children")}  # noqa: E731
        ways = lambda d: {way: figures(n) for way, n in self.paths(d)}  # noqa: E731
        whole, part = ways(plain), ways(d)
        self.assertEqual(part, {w: n for w, n in whole.items() if any(o[:len(w)] == w and o[-1] in ("MallocNode", "Initialise") for o in whole)})
        self.assertEqual({f["name"]: figures(f) for f in d["functions"]}, {f["name"]: figures(f) for f in plain["functions"] if f["name"] in {w for way in part for w in way}})
        r = self.report(record, "--show", "tagged", "--json", "--fail-if-any", "c1+ch>=50%")  # of those that are shown
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(self.report(record, "--show", "untagged", "--json", "--fail-if-any", "c1+ch>=50%").returncode, 1)
        self.assertEqual(self.report(record, "--untag-all").returncode, 0)
        self.assert_fails(self.report(record, "--show", "tagged"), 1, "no function of this profile is tagged", "--tag NAME")

    @staticmethod
    def paths(document):
        way = {}
        for n in document["tree"]:
            way[n["id"]] = way.get(n["parent"], ()) + (document["functions"][n["function"]]["name"],)
            yield way[n["id"]], n

    def test_mistakes_name_file_and_line(self):
        record = self.recorded(self.dir)
        for text, status, what, hint in (("tag GetLastNod\n", 1, "mine:1: no function is \"GetLastNod\"", "GetLastNode"),
                                         ("# x\nnote main\n", 1, "mine:2: \"note\" is no mark", "tag, rename"),
                                         ("block b = main..main+8\n", 1, "mine:1: block b was not", "leave it out"),
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
