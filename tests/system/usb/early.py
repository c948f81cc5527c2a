#!/usr/bin/env python3
"""An adapter that is pulled while the run is only beginning: opening, loading, arming. It waits, begins anew, and the profile is whole.

usage, in the rig with --control: early.py PROBEPROF PROBE TARGET FIRST PHASE...
It is pulled at transfer FIRST, then later and later, until each PHASE has stood in the message: "load:", "arming".
"""
import json
import os
import subprocess
import sys
import time

from rig_program import lines_of, tell, wait_for

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "examples")
RUNS = {
    "sh7750": ("profexam", ["--private", "--start", "main+8", "--stop", "0x0C010030", "--passes", "1"],
               {"Initialise": 1, "BuildList": 1, "GetNewNode": 1000, "MallocNode": 1000, "GetLastNode": 999, "InsertNode": 1000}),
    "s12zvml128": ("motor", ["--for", "200ms"], {}),
}
GROWTH, MOST = 1.5, 8000
DEADLINE_S = 600 # of a machine that does many things at once


def profile(out, hits):
    d = json.loads(out)
    got = {f["name"]: f["hits"] for f in d["functions"]}
    if not got or any(got.get(n) != h for n, h in hits.items()):
        sys.exit(f"wrong: {got}")
    if d["coverage"]["gaps"] or d["coverage"]["lost"]:
        sys.exit(f"nothing was profiled before: {d['coverage']}")


def pulled_at(n, command, folder, hits, stay_s):
    """One run. Returns what was said of the loss, None if it came too late."""
    tell("plug")
    tell(f"strike unplug {n}")
    p = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    try:
        lines = lines_of(p.stderr)
        said = wait_for(lines, "", DEADLINE_S)
        while "trying again" not in said and "profiling," not in said:
            said = wait_for(lines, "", DEADLINE_S)
        if "profiling," in said:
            return None
        time.sleep(stay_s)
        if stay_s and not lines.empty():
            sys.exit(f"said while it waits: {lines.get()}")
        tell("plug")
        wait_for(lines, "profiling,", DEADLINE_S)
        out = p.stdout.read()
        if p.wait(timeout=DEADLINE_S) != 0:
            sys.exit(f"exit code {p.returncode}")
    finally:
        p.kill()
        p.wait()
    profile(out, hits)
    return said


def main():
    program, probe, target, at, *phases = sys.argv[1:]
    folder, more, hits = RUNS[target]
    command = [os.path.abspath(program), "--probe", probe, "--target", target, "--gdb", "off", "--json"] + more
    at, missing, said = int(at), set(phases), ""
    while said is not None and at < MOST:
        began = time.monotonic()
        said = pulled_at(at, command, os.path.join(EXAMPLES, folder), hits, 1 if "does not answer" in said else 0)
        print(f"at transfer {at}: {said and said.strip()} ({time.monotonic() - began:.1f} s)", flush=True)
        missing -= {phase for phase in missing if phase in (said or "")}
        at = int(at * GROWTH) + 1
        if not missing:
            return
    sys.exit(f"never pulled during {missing}")


main()
