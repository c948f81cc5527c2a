#!/usr/bin/env python3
"""Readers of the live feed while the adapter is pulled and plugged in again: what they have at the end is what the report says.

usage, in the rig with --control: feed.py PROBEPROF PROBE TARGET FOLDER
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(HERE, "..", "..", "cli", "e2e")]
from follower import CUTS, Follower, compare # noqa: E402: the folder is another test's
from rig_program import lines_of, tell, wait_for # noqa: E402

DEADLINE_S = 600


def main():
    program, probe, target, folder = os.path.abspath(sys.argv[1]), *sys.argv[2:]
    folder = os.path.join(HERE, "..", "..", "..", "docs", "examples", folder)
    with tempfile.TemporaryDirectory() as own:
        record = os.path.join(own, "run.rec")
        p = subprocess.Popen([program, "--probe", probe, "--target", target, "--gdb", "off", "--http", "0", "--record", record]
                             + (["--private"] if target.startswith("sh") else []),
                             cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        try:
            lines = lines_of(p.stderr)
            where = int(re.search(r":(\d+)/", wait_for(lines, "feed: ", DEADLINE_S)).group(1))
            wait_for(lines, "profiling,", DEADLINE_S)
            readers = [Follower(where), Follower(where, interval=5, cut=3)]
            time.sleep(0.5)
            tell("unplug")
            wait_for(lines, "does not answer", DEADLINE_S)
            states = [r.started.wait(DEADLINE_S) and r for r in readers]
            until = time.monotonic() + DEADLINE_S
            while readers[0].state["target"]["state"] != "away" and time.monotonic() < until:
                time.sleep(0.02)
            away = dict(states[0].state["target"])
            tell("plug")
            wait_for(lines, "is back", DEADLINE_S)
            while (readers[0].state["target"]["state"] == "away" or readers[1].resumed < CUTS) and not any(r.failure for r in readers) and time.monotonic() < until:
                time.sleep(0.02)
            time.sleep(0.5)
            p.send_signal(signal.SIGINT)
            code = p.wait(timeout=DEADLINE_S)
        finally:
            p.kill()
        again = subprocess.run([program, "report", record, "--json"], cwd=folder, capture_output=True, text=True, timeout=DEADLINE_S)
        document = json.loads(again.stdout)
    case = unittest.TestCase()
    case.assertEqual(code, 0)
    case.assertEqual((away["state"], bool(away["why"]), bool(away["away_since_ms"])), ("away", True, True))
    case.assertGreaterEqual(document["coverage"]["gaps"], 1)
    for r in readers:
        compare(case, r.end(), document)
        case.assertEqual(len(r.epochs), 1)


main()
