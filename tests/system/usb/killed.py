#!/usr/bin/env python3
"""A program that is killed at any moment of opening, attaching and loading leaves adapter and board so that the next one works.

usage, in the rig: killed.py PROBEPROF PROBE TARGET
"""
import os
import random
import subprocess
import sys
import time

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "examples")
RUNS = {"sh7750": ("profexam", ["--private", "--load", "--start", "main"]), "s12zvml128": ("motor", ["--load"])}
KILLS, EARLIEST_S, LATEST_S = 20, 0.02, 0.3


def main():
    probeprof, probe, target = sys.argv[1:]
    folder, options = RUNS[target]
    folder = os.path.join(EXAMPLES, folder)
    rng = random.Random(7)
    for _ in range(KILLS):
        p = subprocess.Popen([probeprof, "--probe", probe, "--gdb", "off"] + options, cwd=folder, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(EARLIEST_S, LATEST_S))
        p.kill()
        p.wait()
    private = [o for o in options if o == "--private"]
    r = subprocess.run([probeprof, "doctor", "--probe", probe, "--target", target] + private, capture_output=True, text=True)
    print(r.stdout + r.stderr)
    sys.exit(r.returncode)


main()
