#!/usr/bin/env python3
"""The tutorial over the serial agent by a host that falls silent for a while (it is stopped): the program, which waits for its full ring to be
read, runs on untraced in the end, and the host that is back tells what was lost and goes on.

usage: serial_lost_host.py PROBEPROF PROBE
"""
import json
import os
import queue
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "system", "usb"))
from rig_program import heard, lines_of, wait_for  # noqa: E402

BACK_S = 600
LET_GO = "let the program run on" # met only by the last requests: then the profile ends with this error
FOLDER = os.path.join(HERE, "../../docs/examples/profexam")
SILENT_S = (20, 100, 400)  # 512 looks of some 16 ms each on a board that has its time; on a loaded machine it may not


def is_told(lines, text, seconds):
    try:
        return heard(lines, text, seconds) is not None
    except queue.Empty:
        return False


def attempt(program, probe, silent):
    command = [program, "--probe", probe, "--target", "sh7750", "--start", "main+8", "--stop", "0x0C010030", "--gdb", "off", "--json"]
    p = subprocess.Popen(command, cwd=FOLDER, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = lines_of(p.stderr)
    wait_for(lines, "profiling", BACK_S)
    time.sleep(2)
    p.send_signal(signal.SIGSTOP)
    time.sleep(silent)
    p.send_signal(signal.SIGCONT)
    is_told(lines, "is back", 8)
    p.send_signal(signal.SIGINT)
    out = p.stdout.read()
    p.wait(timeout=BACK_S)
    told = is_told(lines, LET_GO, 10)
    if p.returncode != (1 if told else 0):
        sys.exit(f"exit code {p.returncode}")
    return json.loads(out)["coverage"], told


def main():
    program, probe = os.path.abspath(sys.argv[1]), sys.argv[2]
    for silent in SILENT_S:
        cover, told = attempt(program, probe, silent)
        print(f"silent for {silent} s: {cover['events']} events, {cover['lost']} lost, {cover['gaps']} gaps{', told as the profile ended' if told else ''}")
        if cover["lost"] or cover["gaps"] or told:
            return
    sys.exit("the program waited for ever")


main()
