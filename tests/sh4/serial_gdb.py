#!/usr/bin/env python3
"""GDB through the program and a serial port: loads the tutorial, breaks, looks around, steps, reads both kinds of state, goes on.
With --damaged the cable harms bytes meanwhile (the rig's flip= and drop=): the same must come out.

usage, by serial_board: serial_gdb.py PROBEPROF PROBE [--damaged]      exit 77 without gdb-multiarch
"""
import os
import re
import shutil
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "..", "docs", "examples", "profexam")
COMMANDS = ["break MallocNode", "continue", "bt", "x/i GetLastNode", "stepi", "next", "delete", "tbreak InsertNode if node->number == 3",
            "continue", "print node->number", "set var node->number = 7", "print node->number", "info registers pc", "compare-sections",
            "monitor wire", "detach"]


def main():
    if not shutil.which("gdb-multiarch"):
        print("SKIP: no gdb-multiarch")
        sys.exit(77)
    program, probe = os.path.abspath(sys.argv[1]), sys.argv[2]
    bridge = subprocess.Popen([program, "--probe", probe, "--target", "sh7750", "--no-profile", "--gdb", "127.0.0.1:0"], cwd=FOLDER,
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said, address = [], None
    for line in bridge.stderr:
        said.append(line)
        m = re.search(r"(?:remote )(\S*:\d+)", line)
        if m:
            address = m.group(1)
            break
    if not address:
        sys.exit("".join(said) + "no address for GDB")
    threading.Thread(target=lambda: said.extend(bridge.stderr), daemon=True).start()
    arguments = ["gdb-multiarch", "-q", "-nx", "-batch", "-ex", "set remotetimeout 300", "-ex", "target remote " + address]
    for c in COMMANDS:
        arguments += ["-ex", c]
    try:
        r = subprocess.run(arguments + ["profexam.elf"], cwd=FOLDER, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)
    finally:
        bridge.terminate()
    text = r.stdout + r.stderr
    print(text, "".join(said), sep="\n")
    for want in (r"Breakpoint 1, .*MallocNode", r"#1 .*GetNewNode", r"\$1 = 3\n", r"\$2 = 7\n", r"matched", r"bytes sent"):
        if not re.search(want, text):
            sys.exit(f"not in GDB's output: {want}")
    if "MIS-MATCHED" in text:
        sys.exit("sections differ")
    if bridge.wait(600) not in (0, -15, 143):
        sys.exit(f"probeprof ended with {bridge.returncode}")
    damaged = re.search(r"damaged exchanges: (\d+) repeated", text)
    if "--damaged" in sys.argv and not int(damaged.group(1)):
        sys.exit("no exchange was damaged: the cable was good")


main()
