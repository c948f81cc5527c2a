#!/usr/bin/env python3
"""GDB and a profile at the same time.

usage: gdb.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import subprocess

from common import GdbFolder, MISSION, PASS_HITS, PROFEXAM, check_identities, hits, main


class Gdb(GdbFolder):
    def test_breakpoints_work_while_profiling(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        p, address = self.bridge(["--start", "main+8", "--json"], PROFEXAM)
        text = self.gdb(address, elf, [
            "break InsertNode if node->number == 3 && Passes >= 2", "continue", "bt", "print node->number",
            "x/i GetLastNode", "x/4i main", "finish", "monitor profile status", "delete", "detach"])
        self.assertIn("$1 = 3", text)
        self.assertRegex(text, r"#1 .* in BuildList \(\)")
        self.assertRegex(text, r"#2 .* in main \(\)")
        self.assertNotIn("trapa", text)  # the patches do not show
        self.assertRegex(text, r"profiling: \d+ events, 0 lost")
        document = json.loads(self.end(p))
        check_identities(self, document)
        self.assertGreaterEqual(hits(document)["GetNewNode"], 1003)

    def test_gdb_that_is_killed_at_a_breakpoint_leaves_the_profile_going(self):
        p, address = self.bridge(MISSION + ["--json", "--record", self.path("r")], PROFEXAM)
        gdb = subprocess.Popen(["gdb-multiarch", "-q", "-nx", "-ex", "set remotetimeout 300", "-ex", "target remote " + address, "-ex", "break InsertNode", "-ex", "continue",
                                "-ex", "echo here\\n", os.path.join(PROFEXAM, "profexam.elf")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        for line in gdb.stdout:
            if line.startswith("here"):
                break
        gdb.kill()
        gdb.communicate()
        self.wait_for_hits(self.path("r.part"), "InsertNode", 3000)
        document = json.loads(self.end(p))
        check_identities(self, document)
        counts = hits(document)
        passes = counts["Initialise"]
        self.assertGreaterEqual(passes, 3)
        for name, each in PASS_HITS.items(): # the end cuts the last pass
            self.assertLessEqual((passes - 1) * each, counts[name], name)
            self.assertLessEqual(counts[name], passes * each, name)

    def test_gdb_that_is_killed_while_the_program_runs_leaves_the_profile_going(self):
        p, address = self.bridge(MISSION + ["--json", "--record", self.path("r")], PROFEXAM)
        gdb = subprocess.Popen(["gdb-multiarch", "-q", "-nx", "-ex", "set remotetimeout 300", "-ex", "target remote " + address, "-ex", "break Initialise", "-ex", "continue",
                                "-ex", "echo here\\n", "-ex", "continue", os.path.join(PROFEXAM, "profexam.elf")], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        heard = False
        for line in gdb.stdout:
            if line.startswith("Continuing") and heard: # a whole pass lies before the breakpoint
                break
            heard = line.startswith("here")
        gdb.kill()
        gdb.communicate()
        self.wait_for_hits(self.path("r.part"), "InsertNode", 5000)
        document = json.loads(self.end(p))
        check_identities(self, document)
        self.assertGreaterEqual(hits(document)["Initialise"], 5)

    def test_ctrl_c_leaves_no_patch_and_a_program_that_runs(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        p, address = self.bridge(["--start", "main+8", "--json"], PROFEXAM)
        text = self.gdb(address, elf, [
            "break InsertNode if Passes >= 1", "continue", "monitor profile status",
            f"shell kill -INT {p.pid}",
            "python import time", "python", "while 'not profiling' not in gdb.execute('monitor profile status', to_string=True): time.sleep(0.05)", "end",
            "monitor profile status", "compare-sections -r", "delete", "break Initialise", "continue", "continue",
            "print Passes >= 2", "delete", "detach"])
        self.assertRegex(text, r"profiling: \d+ events, 0 lost")
        self.assertIn("not profiling", text)
        self.assertIn("matched", text)  # what the memory holds: nothing is hidden any more
        self.assertNotIn("MIS-MATCHED", text)
        self.assertIn("$1 = 1", text)
        self.end(p)

    def test_breakpoint_commands_start_and_stop_the_profile(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        p, address = self.bridge(["--no-profile", "--json"], PROFEXAM)
        text = self.gdb(address, elf, [
            "break BuildList", "continue", "monitor profile start", "delete",
            "break Initialise", "continue", "monitor profile stop", "delete", "detach"])
        self.assertIn("profiling", text)
        document = json.loads(self.end(p))
        check_identities(self, document)
        counts = hits(document)
        self.assertEqual([counts.get(n) for n in ("GetNewNode", "MallocNode", "GetLastNode", "InsertNode")], [1000, 1000, 999, 1000])


if __name__ == "__main__":
    main()
