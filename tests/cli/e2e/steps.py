#!/usr/bin/env python3
"""Steps and activations of the call tree (profiler/core/calltree_watch.h), over recordings of every kind and both boards: their sums are the tree's.

usage: steps.py PROBEPROF SOURCE_DIR STEPS_OF [unittest arguments]
"""
import json
import os
import shutil
import subprocess
import sys

STEPS_OF = os.path.abspath(sys.argv.pop(3))

from attached import Attached, Monitor  # noqa: E402
from common import EXAMPLES, IRQDEMO, MISSION, PROFEXAM, SOURCE, check_identities, main, run  # noqa: E402
from s12z_live import ROUNDS, overflowing  # noqa: E402

MOTOR, SH4, S12Z = os.path.join(EXAMPLES, "motor"), "sim:sh7750", "sim:s12zvml128,bdc=20M"
THREADS = os.path.join(SOURCE, "tests", "kos", "threads.elf")

# Folder, adapter, arguments, and what there must be in it for the row to mean anything.
RUNS = {
    "tutorial": (PROFEXAM, SH4, MISSION + ["--passes", "2"], ["c1", "c2", "whole"]),
    "one counter": (PROFEXAM, SH4, MISSION + ["--passes", "1", "--c2", "none"], ["c1", "whole"]),
    "interrupts": (IRQDEMO, SH4, ["--for", "20ms"], ["handler", "doubtful", "whole"]),
    "interrupts left out": (IRQDEMO, SH4, ["--for", "20ms", "--irq-filter", "auto"], ["whole"]),
    "what a full ring drops": (IRQDEMO, SH4, ["--for", "20ms", "--policy", "live"], ["gap"]),
    "power that was away": (PROFEXAM, SH4 + ",fault=no-power@500ms+300ms", MISSION + ["--for", "1500ms"], ["gap", "whole"]),
    "threads": (os.path.dirname(THREADS), SH4, ["--elf", THREADS, "--load", "--for", "200ms"], ["whole"]),
    "motor": (MOTOR, S12Z, ["--for", "10ms"], ["handler", "c2", "whole"]),
    "motor, passes": (MOTOR, S12Z, ROUNDS + ["--passes", "3"], ["whole"]),
    "motor by bursts": (MOTOR, S12Z, ["--for", "20ms", "--capture", "bdc"], ["handler", "whole"]),
}


class Steps(Attached):
    maxDiff = None

    def steps(self, *files):
        p = subprocess.run([STEPS_OF, *files], capture_output=True, text=True)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        return json.loads(p.stdout)

    def check(self, document, *files):
        """The sums are the tree's (the program has compared) and, where counter 1 is no estimate, the document's."""
        steps = self.steps(*files)
        check_identities(self, document)
        self.assertEqual(steps["cycles"], steps["active"])
        self.assertEqual(steps["c2"], document["totals"]["c2"] or 0)
        if document["target"].startswith("sh"):
            self.assertEqual(steps["c1"], document["totals"]["c1"])
        return steps

    def test_sums_are_the_trees(self):
        for name, (folder, probe, args, needs) in RUNS.items():
            with self.subTest(name):
                record = self.path("r")
                p = run(args + ["--gdb", "off", "--json", "--record", record], folder, probe)
                self.assertEqual(p.returncode, 0, p.stderr)
                steps = self.check(json.loads(p.stdout), record)
                for what in needs:
                    self.assertGreater(steps[what], 0, (what, steps))

    def test_lines_that_overflow(self):
        record = self.path("r")
        p = run(["--elf", overflowing(self.dir), "--for", "3ms", "--policy", "live", "--gdb", "off", "--json", "--record", record], MOTOR, S12Z)
        self.assertEqual(p.returncode, 0, p.stderr)
        steps = self.check(json.loads(p.stdout), record)
        self.assertGreater(steps["gap"], 0)

    def test_samples_are_steps_of_nothing(self):
        record = self.path("r")
        p = run(["--sample", "--for", "50ms", "--gdb", "off", "--json", "--record", record], PROFEXAM)
        self.assertEqual(p.returncode, 0, p.stderr)
        steps = self.steps(record)
        self.assertEqual((steps["c1"], steps["c2"]), (0, 0))

    def test_numbered_files(self):
        record = self.path("r")
        p = run(["--json", "--gdb", "off", "--record", record, "--rotate", "10k", "--for", "1500ms"], PROFEXAM, SH4)
        self.assertEqual(p.returncode, 0, p.stderr)
        files = sorted(os.path.join(self.dir, f) for f in os.listdir(self.dir) if f.startswith("r."))
        self.assertGreater(len(files), 2)
        self.check(json.loads(p.stdout), *files)
        self.check(json.loads(run(["report", *files[1:], "--json"], PROFEXAM).stdout), *files[1:])

    def test_cleared_meanwhile(self):
        for folder, probe in ((PROFEXAM, SH4), (MOTOR, S12Z)):
            with self.subTest(probe):
                record = self.path("r")
                p, address = self.bridge(["--json", "--record", record], folder, probe)
                self.wait_until(lambda: os.path.getsize(record + ".part") > 20000)
                monitor = Monitor(address)
                self.assertIn("forgotten", monitor.say("profile clear"))
                monitor.detach()
                size = os.path.getsize(record + ".part")
                self.wait_until(lambda: os.path.getsize(record + ".part") > size + 20000)
                steps = self.check(json.loads(self.end(p)[0]), record)
                self.assertGreater(steps["whole"], 0)

    def test_a_recording_that_is_cut_short(self):
        whole, cut = self.path("r"), self.path("cut")
        self.assertEqual(run(MISSION + ["--passes", "1", "--gdb", "off", "--record", whole], PROFEXAM).returncode, 0)
        shutil.copy(whole, cut)
        os.truncate(cut, os.path.getsize(whole) // 2)
        self.assertGreater(self.steps(cut)["whole"], 0)


if __name__ == "__main__":
    main()
