#!/usr/bin/env python3
"""The mission's line, typed in docs/examples/profexam.

usage: tutorial.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import prf_text
from common import EXAMPLES, Folder, IRQDEMO, MISSION, PASS_HITS, PROBEPROF, PROFEXAM, TIMEOUT, check_identities, check_prf, hits, main, run


class Tutorial(Folder):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.mkdtemp(prefix="probeprof-e2e-")
        cls.prf, cls.recording = os.path.join(cls.shared, "t.prf"), os.path.join(cls.shared, "t.rec")
        cls.result = run(MISSION + ["--passes", "2", "--gdb", "off", "--json", "--output", cls.prf, "--record", cls.recording],
                         cwd=PROFEXAM)
        cls.document = json.loads(cls.result.stdout) if cls.result.returncode == 0 else None

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.shared)

    def setUp(self):
        super().setUp()
        self.assertEqual(self.result.returncode, 0, self.result.stderr)

    def function(self, name):
        return next(f for f in self.document["functions"] if f["name"] == name)

    def test_hits_are_exact(self):
        self.assertEqual({n: h for n, h in hits(self.document).items() if n in PASS_HITS}, {n: 2 * h for n, h in PASS_HITS.items()})
        self.assertEqual(self.document["passes"], 2)
        self.assertEqual(self.document["coverage"]["lost"], 0)

    def test_get_last_node_takes_over_97_percent(self):
        total = sum(f["c1"] for f in self.document["functions"])
        self.assertGreater(self.function("GetLastNode")["c1"], 0.97 * total)

    def test_build_list_is_the_sum_of_its_children(self):
        for c in ("c1", "c2"):
            parts = [self.function(n)[c + "_children"] for n in ("GetNewNode", "GetLastNode", "InsertNode")]
            self.assertEqual(self.function("BuildList")[c + "_children"], self.function("BuildList")[c] + sum(parts))
            self.assertEqual(self.function("GetNewNode")[c + "_children"],
                             self.function("GetNewNode")[c] + self.function("MallocNode")[c])

    def test_identities_hold(self):
        check_identities(self, self.document)

    def test_document_says_what_it_is(self):
        d = self.document
        self.assertEqual(d["schema"], "probeprof.profile/1")
        self.assertEqual(d["target"], "sh7750")
        self.assertTrue(d["probe"].startswith("sim:sh7750"))
        self.assertTrue(d["elf"].endswith("profexam.elf"))
        self.assertRegex(d["build_id"], r"^[0-9a-f]{40}$")
        self.assertEqual([c["name"] for c in d["counters"]], ["elapsed-time", "icache-miss"])
        self.assertEqual([c["code"] for c in d["counters"]], [0x23, 0x08])
        f = self.function("GetLastNode")
        self.assertTrue(f["file"].endswith("profexam.c"))
        self.assertGreater(f["line"], 0)
        self.assertEqual(f["low"], 0x0C010000 + (f["low"] & 0xFFFF))

    def test_recording_gives_the_same_document(self):
        r = run(["report", self.recording, "--json"], cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(json.loads(r.stdout), self.document)

    def test_recording_is_not_counted_with_another_program(self):
        r = run(["report", self.recording, "--elf", os.path.join(IRQDEMO, "irqdemo.elf")], cwd=self.dir)
        self.assert_fails(r, 1, "is another build", "give --elf the build that ran")
        self.assertEqual(r.stdout, "")

    @unittest.skipUnless(shutil.which("sh4-linux-gnu-objcopy"), "needs binutils-sh4-linux-gnu")
    def test_without_build_ids_the_code_tells_builds_apart(self):
        elf, other, rec = self.path("plain.elf"), self.path("other.elf"), self.path("plain.rec")
        for source, copy in ((os.path.join(PROFEXAM, "profexam.elf"), elf), (os.path.join(IRQDEMO, "irqdemo.elf"), other)):
            subprocess.run(["sh4-linux-gnu-objcopy", "--remove-section=.note.gnu.build-id", source, copy], check=True)
        r = run(["--elf", elf, "--load", "--gdb", "off", "--for", "1ms", "--json", "--record", rec], cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIsNone(json.loads(r.stdout)["build_id"])
        same = run(["report", rec, "--elf", elf], cwd=self.dir)
        self.assertEqual((same.returncode, same.stderr), (0, ""))
        self.assert_fails(run(["report", rec, "--elf", other], cwd=self.dir), 1, "is another build (code ", "give --elf the build that ran")

    def test_prf_gives_the_same_tables(self):
        r = run(["report", self.prf, "--json"], cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        again = json.loads(r.stdout)
        self.assertEqual(set(again["coverage"]), set(self.document["coverage"]))
        self.assertEqual(set(again["coverage"].values()) | {again["passes"]}, {None}) # a .prf does not say
        for key in ("name", "hits", "c1", "c1_children", "c2", "c2_children", "doubtful", "low", "high", "cache_line"):
            self.assertEqual([f[key] for f in again["functions"]], [f[key] for f in self.document["functions"]], key)
        for key in ("id", "parent", "function", "hits", "c1", "c1_children", "c2", "c2_children", "doubtful"):
            self.assertEqual([n[key] for n in again["tree"]], [n[key] for n in self.document["tree"]], key)

    def test_prf_is_what_the_document_describes(self):
        with open(self.prf, "rb") as f:
            header, functions, calls = prf_text.read(f.read())
        check_prf(self, self.document, header, functions, calls)
        self.assertEqual((header["type"], header["icache"], header["counter1"], header["counter2"]), (2, 1, 0x23, 0x08))
        self.assertEqual({f["description"] for f in functions}, {1})

    def test_prf_written_from_a_recording_is_the_same_file(self):
        r = run(["report", self.recording, "--output", self.path("again.prf")], cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        with open(self.prf, "rb") as a, open(self.path("again.prf"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_views_of_the_recording(self):
        table = run(["report", self.recording, "--hits", ">=10%"], cwd=PROFEXAM).stdout
        self.assertIn("GetLastNode", table)
        self.assertNotIn("Initialise", "\n".join(line for line in table.splitlines() if re.match(r"^\s*\d", line)))
        tree = run(["report", self.recording, "--tree"], cwd=PROFEXAM).stdout
        at = [tree.index(n) for n in ("BuildList", "GetLastNode", "GetNewNode", "MallocNode")]
        self.assertLess(at[0], min(at[1:]))
        self.assertLess(at[2], at[3])

    def test_damaged_files_name_the_offset(self):
        for source in (self.prf, self.recording):
            with open(source, "rb") as f:
                data = f.read()
            short = self.path("short")
            with open(short, "wb") as f:
                f.write(data[:len(data) * 2 // 3])
            r = run(["report", short], cwd=PROFEXAM)
            self.assertIn("offset", r.stderr)
            self.assertIn(r.returncode, (0, 1))
        self.assert_fails(run(["report", self.write("text", "hello\n")], cwd=self.dir), 1, "neither", "help convert")
        self.assert_fails(run(["report", self.path("none")], cwd=self.dir), 1, "No such file", "path")

    def test_every_stop_point_ends_a_pass(self):
        r = run(["--start", "main+8", "--stop", "GetLastNode", "--stop", "0x0C010030", "--passes", "5", "--gdb", "off", "--json"],
                cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        document = json.loads(r.stdout)
        check_identities(self, document)
        self.assertEqual(document["passes"], 5)
        self.assertEqual({n: h for n, h in hits(document).items() if n in ("main", "BuildList", "MallocNode", "InsertNode")},
                         {"main": 5, "BuildList": 5, "MallocNode": 10, "InsertNode": 5})

    def test_names_from_a_hostile_elf_reach_no_terminal_and_break_no_json(self):
        with open(os.path.join(PROFEXAM, "profexam.elf"), "rb") as f:
            elf = f.read()
        name = b'G"\\\n\x1b[31m\xff<'
        with open(self.path("hostile.elf"), "wb") as f:
            f.write(elf.replace(b"\0GetLastNode\0", b"\0" + name + b"\0"))
        args = ["--elf", self.path("hostile.elf"), "--load", "--passes", "1", "--gdb", "off", "--record", self.path("h.rec")]
        r = run(MISSION + args + ["--json"], cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(hits(json.loads(r.stdout))[name.decode(errors="replace")], 999)
        for view in ([], ["--tree"]):
            table = run(["report", self.path("h.rec")] + view, cwd=self.dir)
            self.assertEqual(table.returncode, 0, table.stderr)
            self.assertIn('G"\\??[31m?<', table.stdout)
            self.assertNotIn("\x1b", table.stdout + table.stderr)

    def test_no_text_of_others_is_a_command_to_the_terminal(self):
        """Whatever it is that says it: an ELF, a recording, the conf file, a capture, the command line."""
        evil = "x\x1b]0;t\x07\x9b2J\u202e\r\ny"
        with open(os.path.join(PROFEXAM, "profexam.elf"), "rb") as f:
            elf = f.read()
        for name, data in (("e\x1b[2J.elf", elf.replace(b"\0GetLastNode\0", b"\0Get\x1b\x9b\nNodes\0")), ("short\x1b.elf", b"\x7fELF"), ("c\x1b.vcd", b"")):
            with open(self.path(name), "wb") as f:
                f.write(data)
        with open(self.path("c\x1b.vcd"), "w", encoding="utf-8") as f:
            f.write("$timescale 1ns $end\n$scope module m\x1b[1m $end\n$var wire 1 ! D\x1b[31m0 $end\n$upscope $end\n$enddefinitions $end\n#0\n0!\n")
        hostile, motor = self.path("e\x1b[2J.elf"), os.path.join(EXAMPLES, "motor", "motor.elf")
        record = MISSION + ["--elf", hostile, "--load", "--passes", "1", "--gdb", "off", "--record", self.path("r\x1b")]
        self.assertEqual(run(record, cwd=self.dir).returncode, 0)
        rows = [["--elf", hostile, "--start", "GetNode"], ["--elf", evil], ["--elf", self.path("short\x1b.elf")], ["--probe", evil], ["--target", evil],
                ["--start", evil], ["--c1", evil], ["--log", evil], ["--" + evil], [evil], ["--conf", evil], ["--gdb", evil + "/"], ["--output", evil + "/x"],
                ["report", self.path("r\x1b")], ["report", self.path("r\x1b"), "--tree"], ["report", self.path("r\x1b"), "--json"], ["report", evil],
                ["disasm", hostile], ["disasm", hostile, "--json"], ["disasm", hostile, evil], ["graph", hostile], ["graph", hostile, "--dot"], ["graph", hostile, evil],
                ["decode", self.path("c\x1b.vcd"), "--format", "vcd", "--elf", motor], ["--elf", hostile, "--pdo", "file:" + self.path("c\x1b.vcd")]]
        for conf in ("[x\x1b[1m]\na = b\n", "[probeprof]\n\x1b[1m = b\n", "[probeprof]\nelf = \x1b[1m\n", "\x9b1m\n"):
            rows.append(["--conf", self.write(f"conf\x1b{len(rows)}", conf)])
        said = 0
        for args in rows:
            with self.subTest(args=args):
                r = subprocess.run([PROBEPROF, *args], cwd=self.dir, env=dict(os.environ, PROBEPROF_PROBE="sim:sh7750"), capture_output=True,
                                   timeout=TIMEOUT, check=False)
                text = (r.stdout + r.stderr).decode() # valid UTF-8, too
                self.assertEqual([c for c in text if (c < " " and c not in "\n\t") or "\x7f" <= c < "\xa0" or c == "\u202e"], [], text)
                said += "?" in text
        self.assertGreater(said, len(rows) // 2)

    def test_same_run_same_numbers(self):
        r = run(MISSION + ["--passes", "2", "--gdb", "off", "--json"], cwd=PROFEXAM)
        again = json.loads(r.stdout)
        self.assertEqual(again["functions"], self.document["functions"])


if __name__ == "__main__":
    main()
