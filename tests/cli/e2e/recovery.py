#!/usr/bin/env python3
"""The board loses its power, or the adapter is unplugged, and comes back: in virtual time, while something runs.

usage: recovery.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import signal
import subprocess
import threading
import time

from common import GdbFolder, MISSION, PROFEXAM, TIMEOUT, check_identities, hits, main, run, start


class Recovery(GdbFolder):
    LOSSES = [("no-power@500ms+300ms", "sees no target power", "loaded again"),
              ("unplug@500ms+300ms", "the adapter is gone", "its program untouched")]

    def start_bridge(self, fault, args, cwd=PROFEXAM):
        p = start(args + ["--gdb", "0"], cwd=cwd, probe="sim:sh7750,fault=" + fault)
        for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        return p, re.search(r"target remote (\S+)", p.stderr.readline()).group(1)

    def test_during_a_plain_run(self):
        for fault, why, _ in self.LOSSES:
            with self.subTest(fault=fault):
                p = start(["--gdb", "off"], cwd=self.dir, probe="sim:sh7750,fault=" + fault)
                self.assertIn("bridge only", p.stderr.readline())
                line = p.stderr.readline()
                self.assertIn("does not answer", line)
                self.assertIn(why, line)
                self.assertRegex(p.stderr.readline(), r"the board is back after \d+\.\d s$")
                p.send_signal(signal.SIGINT)
                out, err = p.communicate(timeout=TIMEOUT)
                self.assertEqual((p.returncode, out, err), (0, "", ""))

    def test_during_a_profile(self):
        whole = run(MISSION + ["--gdb", "off", "--json", "--passes", "2"], cwd=PROFEXAM)
        paths = self.call_paths(json.loads(whole.stdout))
        for fault, why, how in self.LOSSES:
            with self.subTest(fault=fault):
                recording = self.path("r")
                r = run(MISSION + ["--gdb", "off", "--json", "--for", "1500ms", "--record", recording], cwd=PROFEXAM,
                        probe="sim:sh7750,fault=" + fault)
                self.assertEqual(r.returncode, 0, r.stderr)
                self.assertEqual(r.stderr.count("does not answer"), 1, r.stderr)
                self.assertIn(why, r.stderr)
                self.assertEqual(r.stderr.count("the board is back"), 1, r.stderr)
                self.assertIn(how, r.stderr)
                self.assertIn("the gap is marked", r.stderr)
                document = json.loads(r.stdout)
                check_identities(self, document)
                self.assertEqual(document["coverage"]["gaps"], 1)
                self.assertLessEqual(self.call_paths(document), paths | {("(lost events)",)})
                counts = hits(document)
                self.assertGreater(counts["GetLastNode"], 8 * 999)  # both sides of the gap
                for name in ("MallocNode", "GetLastNode", "InsertNode"):
                    self.assertAlmostEqual(counts[name], counts["GetNewNode"], delta=0.01 * counts["GetNewNode"])
                again = run(["report", recording, "--json"], cwd=PROFEXAM)
                self.assertEqual(json.loads(again.stdout), document)
                self.assertIn("the board was away once", run(["report", recording], cwd=PROFEXAM).stdout)

    @staticmethod
    def call_paths(document):
        names, paths = document["functions"], {}
        for n in document["tree"]:  # parents come first
            paths[n["id"]] = paths.get(n["parent"], ()) + (names[n["function"]]["name"],)
        return set(paths.values())

    def gdb_through_a_loss(self, bridge, address, elf, before, after, interrupt):
        """GDB does `before`, which ends with a continue, until the board is back; then `after`. interrupt: its program has run on, so GDB
        has to halt it. The text is None where the board was lost before GDB had come."""
        script = self.write("commands.gdb", "\n".join(["set confirm off", "set pagination off", "target remote " + address] + before +
                                                      ["echo stopped\\n"] + after) + "\n")
        gdb = subprocess.Popen(["gdb-multiarch", "-q", "-nx", "-batch", "-x", script, elf], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for f in (gdb.stdout.close, gdb.wait, gdb.kill):
            self.addCleanup(f)
        back = self.wait_for(bridge, "the board is back")
        text = ""
        for line in gdb.stdout:
            text += line
            if "The target is back." in line:
                break
        if interrupt:
            time.sleep(1)  # while it prints, GDB takes it for the end of its script
            gdb.send_signal(signal.SIGINT)
        late = threading.Timer(TIMEOUT, gdb.kill)
        late.start()
        text += gdb.stdout.read()
        late.cancel()
        if "Could not read registers" in text:
            return None, back
        self.assertIn("The connection to the target is lost", text)
        self.assertIn("The target is back.", text)
        self.assertIn("stopped", text)
        return text, back

    def test_during_continue_of_gdb(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        with self.subTest("unplugged: the program has run on"):
            p, address = self.start_bridge("unplug@600ms+300ms", ["--no-profile", "--load"])
            text, back = self.gdb_through_a_loss(p, address, elf, ["break *main", "continue", "continue"],
                                                 ["print Passes > 20", "tbreak InsertNode", "continue", "bt", "detach"], True)
            self.assertIn("its program untouched", back)
            self.assertIn("SIGINT", text)
            self.assertIn("$1 = 1", text)
            self.assertRegex(text, r"#1 .* in BuildList \(\)")
            self.end(p)
        with self.subTest("power lost: a stop at the entry, breakpoints are set again"):
            p, address = self.start_bridge("no-power@600ms+300ms", ["--no-profile", "--load"])
            text, back = self.gdb_through_a_loss(p, address, elf, ["break *main", "continue", "continue"],
                                                 ["info symbol $pc", "continue", "print Passes", "delete", "detach"], False)
            self.assertIn("loaded again, halted", back)
            self.assertIn("SIGTRAP", text)
            self.assertIn("entry in section", text)
            self.assertEqual(len(re.findall(r"Breakpoint 1, .*main", text)), 2)
            self.assertIn("$1 = 0", text)
            self.end(p)

    def test_during_continue_of_gdb_and_a_profile(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        for fault, _, how in self.LOSSES:
            with self.subTest(fault=fault):
                for at in ("500ms", "5s", "50s"):  # of the board's time, which goes on while a busy machine starts GDB
                    p, address = self.start_bridge(fault.replace("500ms", at, 1), ["--start", "main+8", "--json"])
                    text, back = self.gdb_through_a_loss(p, address, elf, ["continue"],
                                                         ["tbreak InsertNode", "continue", "bt", "tbreak Initialise", "continue",
                                                          "tbreak InsertNode", "continue", "monitor profile status", "detach"],
                                                         fault.startswith("unplug"))
                    if text is not None:
                        break
                    p.kill()
                self.assertIn(how, back)
                self.assertRegex(text, r"#1 .* in BuildList \(\)")
                self.assertRegex(text, r"profiling: \d+ events, 0 lost")
                p.send_signal(signal.SIGINT)
                out, err = p.communicate(timeout=TIMEOUT)
                self.assertEqual(p.returncode, 0, err)
                document = json.loads(out)
                check_identities(self, document)
                self.assertEqual(document["coverage"]["gaps"], 1)

    def test_that_never_comes_back_ends_with_what_was_seen(self):
        r = run(MISSION + ["--gdb", "off", "--json", "--for", "900ms"], cwd=PROFEXAM, probe="sim:sh7750,fault=unplug@500ms+1000s")
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("adapter", r.stderr)
        document = json.loads(r.stdout)
        check_identities(self, document)
        self.assertGreater(hits(document)["GetLastNode"], 999)


if __name__ == "__main__":
    main()
