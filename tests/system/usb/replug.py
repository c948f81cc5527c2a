#!/usr/bin/env python3
"""A profile whose adapter is pulled and plugged in again, twice: it goes on, and every gap is marked.

usage, in the rig with --control: replug.py PROBEPROF PROBE [OPTION...]      OPTIONs go to probeprof, too
"""
import json
import os
import signal
import subprocess
import sys
import time

from rig_program import lines_of, tell, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "..", "..", "docs", "examples", "profexam")
PULLS = 2
DEADLINE_S = 600 # of a machine that does many things at once


def main():
    program, probe, options = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    command = [program, "--probe", probe, "--target", "sh7750", "--private", "--start", "main+8", "--stop", "0x0C010030", "--gdb", "off",
               "--json"] + options
    p = subprocess.Popen(command, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    try:
        lines = lines_of(p.stderr)
        wait_for(lines, "profiling,", DEADLINE_S)
        for _ in range(PULLS):
            time.sleep(0.5)
            tell("unplug")
            wait_for(lines, "does not answer", DEADLINE_S)
            tell("plug")
            wait_for(lines, "is back", DEADLINE_S)
        time.sleep(0.5)
        p.send_signal(signal.SIGINT)
        out = p.stdout.read()
        code = p.wait(timeout=DEADLINE_S)
    finally:
        p.kill()
    profile = json.loads(out)
    coverage = profile["coverage"]
    if code != 0 or coverage["gaps"] != PULLS or coverage["lost"] != 0 or not coverage["events"]:
        sys.exit(f"exit code {code}, {coverage}")


main()
