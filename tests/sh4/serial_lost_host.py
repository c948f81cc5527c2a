#!/usr/bin/env python3
"""The tutorial over the serial agent by a host that falls silent for a while (it is stopped): the program, which waits for its full ring to be
read, runs on untraced in the end, and the host that is back tells what was lost and goes on.

usage: serial_lost_host.py PROBEPROF PROBE
"""
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "../../docs/examples/profexam")
SILENT_S = (20, 150)  # 512 looks of some 16 ms each on a board that has its time; on a loaded machine it may not


def attempt(program, probe, silent):
    command = [program, "--probe", probe, "--target", "sh7750", "--start", "main+8", "--stop", "0x0C010030", "--gdb", "off", "--json"]
    p = subprocess.Popen(command, cwd=FOLDER, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = ""
    while "profiling" not in said:
        line = p.stderr.readline()
        if not line:
            sys.exit("no profile began: " + said)
        said += line
    time.sleep(2)
    p.send_signal(signal.SIGSTOP)
    time.sleep(silent)
    p.send_signal(signal.SIGCONT)
    time.sleep(8)
    p.send_signal(signal.SIGINT)
    out, rest = p.communicate(timeout=120)
    sys.stderr.write(said + rest)
    if p.returncode != 0:
        sys.exit(f"exit code {p.returncode}")
    return json.loads(out)


def main():
    program, probe = os.path.abspath(sys.argv[1]), sys.argv[2]
    for silent in SILENT_S:
        profile = attempt(program, probe, silent)
        cover = profile["coverage"]
        print(f"silent for {silent} s: {cover['events']} events, {cover['lost']} lost, {cover['gaps']} gaps")
        if cover["lost"] or cover["gaps"]:
            return
    sys.exit("the program waited for ever")


main()
