#!/usr/bin/env python3
"""The tutorial over the serial agent by a cable that harms bytes all the time, also while the trace runs: the hits are exact, or the profile says
that something is missing. It may not come to its end: then it says why.

usage: serial_noisy.py PROBEPROF PROBE
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "../../docs/examples/profexam")
PASSES = 1
HITS = {"Initialise": 1, "BuildList": 1, "GetNewNode": 1000, "MallocNode": 1000, "GetLastNode": 999, "InsertNode": 1000}


def main():
    command = [os.path.abspath(sys.argv[1]), "--probe", sys.argv[2], "--target", "sh7750", "--start", "main+8", "--stop", "0x0C010030", "--passes", str(PASSES),
               "--gdb", "off", "--json"]
    r = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)
    sys.stderr.write(r.stderr)
    if r.returncode != 0:
        told = "probeprof: " in r.stderr and "hint:" in r.stderr
        print(f"no profile: exit code {r.returncode}")
        sys.exit(0 if told and r.returncode == 1 else "and no reason is told")
    profile = json.loads(r.stdout)
    cover = profile["coverage"]
    hits = {f["name"]: f["hits"] for f in profile["functions"]}
    print(f"{cover['events']} events, {cover['lost']} lost, {cover['gaps']} gaps")
    if cover["lost"] or cover["gaps"]:
        return
    for name, n in HITS.items():
        if hits.get(name) != PASSES * n:
            sys.exit(f"{name}: {hits.get(name)} hits, {PASSES * n} are right, and nothing is said to be lost")


main()
