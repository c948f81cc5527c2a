#!/usr/bin/env python3
"""A profile whose adapter is pulled and plugged in again, twice: it goes on, and every gap is marked.

usage, in the rig with --control: replug.py PROBEPROF USB_RIG PROBE [OPTION...]      OPTIONs go to probeprof, too
"""
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "..", "docs", "examples", "profexam")
PULLS = 2
DEADLINE_S = 90 # of a machine that does many things at once


def tell(rig, word):
    # not under the preload: it is no client of the rig
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    r = subprocess.run([rig, "--tell", os.environ["USB_RIG_CONTROL"], word], env=env, capture_output=True, text=True)
    if r.returncode != 0:
        sys.exit(f"rig: {word}: {r.stdout}{r.stderr}")


def lines_of(stream):
    q = queue.Queue()

    def read():
        for line in stream:
            sys.stderr.write(line)
            q.put(line)
        q.put(None)
    threading.Thread(target=read, daemon=True).start()
    return q


def wait_for(lines, text):
    end = time.monotonic() + DEADLINE_S
    while True:
        try:
            line = lines.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            sys.exit(f"\"{text}\" was not said in {DEADLINE_S} s")
        if line is None:
            sys.exit(f"ended before it said \"{text}\"")
        if text in line:
            return


def main():
    program, rig, probe, options = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3], sys.argv[4:]
    command = [program, "--probe", probe, "--target", "sh7750", "--private", "--start", "main+8", "--stop", "0x0C010030", "--gdb", "off",
               "--json"] + options
    p = subprocess.Popen(command, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    try:
        lines = lines_of(p.stderr)
        wait_for(lines, "profiling,")
        for _ in range(PULLS):
            time.sleep(0.5)
            tell(rig, "unplug")
            wait_for(lines, "does not answer")
            tell(rig, "plug")
            wait_for(lines, "is back")
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
