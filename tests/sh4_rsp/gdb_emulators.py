#!/usr/bin/env python3
"""gdb-multiarch through probeprof through the models of Dreamcast emulators' stubs, and --sample of the
tutorial program in each; what cannot be is said.

usage: gdb_emulators.py PROBEPROF EMULATOR     exit 0 passed, 1 a failure, 77 gdb-multiarch is missing
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from gdb_batch import CALLS, COMMON, DEADLINE, LOAD, PROFEXAM, in_order, run_gdb

# (name, commands, what GDB says in this order, emulators that cannot)
GDB = [(*row, ()) for row in COMMON] + [
    (*LOAD, ("redream",)),
    ("calling functions", ["break main", "continue", "print add(20, 22)", "print factorial(6)"],
     [r"= 42", r"= 720"], ("redream",)),
    ("jump, then steps", ["break main", "continue", "set $pc = slots", "stepi", "stepi", "print (char*)$pc - (char*)slots"],
     [r"= 8\b"], ("redream",)),
    ("it says what it is", ["monitor stub", "monitor perf arm cycles"], [r"registers in `g`"], ()),
]


class Emulator:
    def __init__(self, program, name, elf, *more):
        self.p = subprocess.Popen([program, name, elf, *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.path = self.p.stdout.readline().strip()

    def end(self):
        """Whether it met nothing that the original would die of."""
        self.p.stdin.close()
        return self.p.wait(timeout=DEADLINE) == 0


def gdb_case(probeprof, emulator, name, folder, commands, patterns):
    e = Emulator(emulator, name, CALLS, "halted")
    port = os.path.join(folder, "gdb")
    bridge = subprocess.Popen([probeprof, "--no-profile", "--probe", f"rsp:{e.path}", "--target", "sh7091", "--gdb", port], cwd=folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = bridge.stderr.readline() # "GDB: target remote ..."
    out = run_gdb(port, commands)
    bridge.send_signal(signal.SIGINT)
    said += "".join(bridge.communicate(timeout=DEADLINE))
    missing = in_order(out, patterns)
    if missing or bridge.returncode != 0 or not e.end():
        return f"no {missing!r}, bridge {bridge.returncode}\n{out}\n{said}"
    return None


def sample_case(probeprof, emulator, name, folder):
    e = Emulator(emulator, name, PROFEXAM)
    base = [probeprof, "--probe", f"rsp:{e.path}", "--target", "sh7091", "--elf", PROFEXAM, "--gdb", os.path.join(folder, "gdb")]
    if name != "washingtondc": # it ends with the first that hangs up
        r = subprocess.run(base, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=DEADLINE, cwd=folder)
        if r.returncode != 1 or "no function trace" not in r.stdout or "--sample" not in r.stdout:
            return "trace: " + r.stdout
    r = subprocess.run(base + ["--sample", "--rate", "300", "--for", "2s"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       timeout=DEADLINE, cwd=folder)
    m = re.search(r"^ +(\d+) +([\d.]+) .*GetLastNode$", r.stdout, re.M)
    if r.returncode != 0 or not m or not e.end():
        return "sample: " + r.stdout
    return None


def main():
    if not shutil.which("gdb-multiarch"):
        print("skipped: no gdb-multiarch")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="pp-emu-") as folder:
        for name in ("flycast", "lxdream", "redream", "washingtondc"):
            rows = [(what, gdb_case(sys.argv[1], sys.argv[2], name, folder, commands, patterns))
                    for what, commands, patterns, cannot in GDB if name not in cannot]
            rows.append(("sampled", sample_case(sys.argv[1], sys.argv[2], name, folder)))
            for what, wrong in rows:
                print(f"{'FAILED' if wrong else 'ok'}: {name}: {what}" + (f": {wrong}" if wrong else ""), flush=True)
                failed += bool(wrong)
    return 1 if failed else 0


sys.exit(main())
