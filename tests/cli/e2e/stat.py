#!/usr/bin/env python3
"""`probeprof stat`: two counters of an untraced program on the simulated board.

usage: stat.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import signal
import statistics
import time
import unittest

from common import Folder, MISSION, PROFEXAM, TIMEOUT, main, run, start

ELF = os.path.join(PROFEXAM, "profexam.elf")
T_95 = {1: 12.706, 2: 4.303}  # Student's, from tables


class Stat(Folder):
    def do(self, *args, status=0, probe="sim:sh7750"):
        p = run([*args, "--conf", "off"], cwd=self.dir, probe=probe)
        self.assertEqual(p.returncode, status, p.stderr)
        return p

    def stat(self, *args, **more):
        return self.do("stat", *args, **more)

    def record(self, *args):
        self.do("run", ELF, *MISSION, *args, "--record", "run.rec", "--gdb", "off", "--http", "off", "-q")

    def test_between_points(self):
        p = json.loads(self.stat(ELF, *MISSION, "-n", "3", "--json").stdout)
        self.assertEqual((p["schema"], p["stretches"], p["start"], p["stops"]), ("probeprof.stat/1", 3, "main+8", ["0x0C010030"]))
        cycles, misses = p["events"]
        self.assertEqual((cycles["name"], misses["name"]), ("elapsed-time", "icache-miss"))
        self.assertLess(p["seconds_least"], cycles["mean"] / 200e6)  # the simulated CPU's clock
        self.assertGreater(p["seconds_most"], cycles["mean"] / 200e6)
        self.assertTrue(cycles["least"] <= cycles["mean"] <= cycles["most"])
        self.assertFalse(p["doubtful"])
        self.assertLess(cycles["debugger_at_most"], 500)

    def test_interval_is_students(self):
        p = json.loads(self.stat(ELF, *MISSION, "-n", "2", "--json").stdout)
        for e in p["events"]:
            values = [e["least"], e["most"]]  # two: these are all
            self.assertAlmostEqual(e["mean"], statistics.mean(values))
            half = T_95[1] * statistics.stdev(values) / 2 ** 0.5
            self.assertAlmostEqual(e["half_95"], half, delta=0.001 * half + 1e-9)

    def test_what_does_not_depend_on_caches_is_the_same_each_time_and_in_a_trace(self):
        """Calls and their loop run the same instructions in every pass; the trace's own are not counted."""
        events = ["--c1", "operand-access", "--c2", "none"]
        self.record(*events, "-n", "3")
        p = json.loads(self.stat(ELF, *MISSION, *events, "-n", "3", "--beside", "run.rec", "--json").stdout)
        (e,) = p["events"]
        self.assertEqual((e["least"], e["half_95"]), (e["most"], 0))
        self.assertEqual(p["traced_passes"], 3)
        report = json.loads(run(["report", "run.rec", "--json"], cwd=self.dir).stdout)
        self.assertAlmostEqual(e["traced"], sum(f["c1"] for f in report["functions"]) / 3)
        self.assertLess(abs(e["traced"] - e["mean"]), 0.001 * e["mean"])
        text = self.stat(ELF, *MISSION, *events, "-n", "3", "--beside", "run.rec").stdout
        self.assertIn("Traced, in the mean of the 3 passes of run.rec:", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_for_a_time(self):
        text = self.stat(ELF, "--for", "50ms").stdout
        self.assertRegex(text, r"count +a second  event\n +9,[0-9]{3},[0-9]{3} +(19[5-9]|200),[0-9]{3},[0-9]{3}  elapsed-time \(cycles\)")
        self.assertIn(": 1 stretch\n", text)

    def test_begun_with_bl_is_doubtful(self):
        p = json.loads(self.stat(ELF, "--stop", "main", "--json").stdout)
        self.assertTrue(p["doubtful"] and p["debugger_steps"] > 0)
        self.assertIn("\nDoubtful: it had to step ", self.stat(ELF, "--stop", "main").stdout)

    def test_ctrl_c_shows_what_there_is(self):
        p = start(["stat", "--conf", "off", "--log", "target", ELF], cwd=self.dir)
        self.wait_for(p, "GO, HALTED -> RUNS")
        time.sleep(0.5)
        p.send_signal(signal.SIGINT)
        out, _ = p.communicate(timeout=TIMEOUT)
        self.assertEqual(p.returncode, 0)
        self.assertRegex(out, r" elapsed-time \(cycles\)\n")

    def test_time_over_in_a_stretch(self):
        p = self.stat(ELF, *MISSION, "-n", "100", "--for", "200ms", status=1)
        self.assertRegex(p.stdout, r": [2345] stretches\n")
        self.assertIn("--for was over: that stretch is not counted", p.stderr)

    def test_refused(self):
        for args, status, words in (
                (["--stop", "main"], 2, "need the program"),
                (["-n", "3"], 2, "nothing ends one"),
                ([ELF, "--beside", "x"], 2, "compares with the passes"),
                ([ELF, *MISSION, "--beside", "missing.rec"], 1, "missing.rec"),
                ([ELF, "--start", "nowhere"], 1, 'no symbol "nowhere"'),
                ([ELF, "--c1", "nothing"], 2, "nothing"),
                ([ELF, "--trace-lines"], 2, "trace-lines"),
                ([ELF, "--start", "main+8", "--stop", "main", "--stop", "main+2", "--stop", "main+4"], 1, "fewer hardware breakpoints")):
            with self.subTest(args):
                self.assertIn(words, self.stat(*args, status=status).stderr)
        self.assertIn("no counters that count without a trace", self.stat(status=1, probe="sim:s12zvml128").stderr)

    def test_other_counters_than_the_recordings(self):
        self.record("-n", "1")
        p = self.stat(ELF, *MISSION, "--c1", "icache-miss", "--beside", "run.rec", status=2)
        self.assertIn("its counter 1 is elapsed-time", p.stderr)

    def test_another_program_on_the_board(self):
        p = self.stat("--elf", ELF, "--for", "1ms", status=1)  # nothing was loaded
        self.assertIn("--load", p.stderr)


if __name__ == "__main__":
    main()
