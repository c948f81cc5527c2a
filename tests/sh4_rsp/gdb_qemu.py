#!/usr/bin/env python3
"""gdb-multiarch through probeprof through qemu-system-sh4's stub; --sample of the tutorial program in QEMU, also over QEMU's
death and return; the sentence about function trace.

usage: gdb_qemu.py PROBEPROF     exit 0 passed, 1 a failure, 77 qemu-system-sh4 or gdb-multiarch is missing
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from gdb_batch import COMMON, DEADLINE, LOAD, PROFEXAM, in_order, run_gdb

LOOKS = 50 # that have to hit before a share says something
# Registers in QEMU are whatever reset left; load sets the PC.
GDB = [LOAD] + [(name, ["load", *commands], patterns) for name, commands, patterns in COMMON] + [
    ("code above 2 GB", ["load", "set $pc = 0x8c010000", "x/2i $pc"], [r"0x8c010000.*:\s+[a-z]", r"0x8c010002.*:\s+[a-z]"]),
    ("calling functions", ["load", "break main", "continue", "print add(20, 22)", "print factorial(6)", "print $r15 == $r15"], [r"= 42", r"= 720", r"= 1"]),
    ("watch", ["load", "break main", "continue", "watch counter", "continue"], [r"[Hh]ardware watchpoint 2: counter", r"New value = 1"]),
    ("monitor passes", ["monitor stub", "monitor stub info status", "monitor perf"], [r"59 registers in `g`", r"VM status: paused", r"QEMU has no performance counters"]),
]


def listens(path):
    """Some time after its file is there; the fourth word is the flags, of which one says so (proc(5), /proc/net/unix)."""
    with open("/proc/net/unix", encoding="ascii", errors="replace") as f:
        return any(line.rstrip().endswith(path) and line.split()[3] == "00010000" for line in f)


def start_qemu(path):
    p = subprocess.Popen(["qemu-system-sh4", "-M", "r2d", "-display", "none", "-monitor", "none", "-serial", "null", "-S", "-gdb", f"unix:{path},server=on,wait=off"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(20 * DEADLINE):
        if listens(path):
            return p
        time.sleep(0.05)
    raise SystemExit("qemu does not start")


def gdb_cases(probeprof, folder):
    failed = []
    for name, commands, patterns in GDB:
        stub, port = os.path.join(folder, "stub"), os.path.join(folder, "gdb")
        qemu = start_qemu(stub)
        bridge = subprocess.Popen([probeprof, "--no-profile", "--probe", f"rsp:{stub}", "--target", "sh7750", "--gdb", port], cwd=folder,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(20 * DEADLINE):
            if os.path.exists(port) or bridge.poll() is not None:
                break
            time.sleep(0.05)
        out = run_gdb(port, commands)
        bridge.send_signal(signal.SIGINT)
        try:
            said = bridge.communicate(timeout=DEADLINE)[0]
        except subprocess.TimeoutExpired:
            bridge.kill()
            said = bridge.communicate()[0] + "\nDOES NOT END"
        qemu.kill()
        qemu.wait()
        for f in (stub, port):
            if os.path.exists(f):
                os.unlink(f)
        missing = in_order(out, patterns)
        wrong = missing or "DOES NOT END" in said or bridge.returncode != 0
        print(f"{'FAILED' if wrong else 'ok'}: {name}" + (f": no {missing!r}\n{out}\n{said}" if wrong else ""), flush=True)
        if wrong:
            failed.append(name)
    return failed


def sample(probeprof, folder):
    stub = os.path.join(folder, "stub")
    qemu = start_qemu(stub)
    base = [probeprof, "--probe", f"rsp:{stub}", "--target", "sh7750", "--elf", PROFEXAM, "--load", "--gdb", os.path.join(folder, "gdb")]
    wrong = []
    r = subprocess.run(base, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=DEADLINE, cwd=folder)
    if r.returncode != 1 or "no function trace" not in r.stdout or "--sample" not in r.stdout:
        wrong.append("trace: " + r.stdout)
    for seconds in (2, 8, 32): # a busy machine looks less often
        r = subprocess.run(base + ["--sample", "--rate", "300", "--for", f"{seconds}s"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, timeout=DEADLINE, cwd=folder)
        m = re.search(r"^ +(\d+) +([\d.]+) .*GetLastNode$", r.stdout, re.M)
        if r.returncode != 0 or (m and int(m.group(1)) >= LOOKS):
            break
    if r.returncode != 0 or not m or int(m.group(1)) < LOOKS or float(m.group(2)) < 60: # 97 % by the model's cycles; QEMU has its own
        wrong.append("sample: " + r.stdout)
    qemu.kill()
    qemu.wait()
    os.unlink(stub)
    for w in wrong:
        print("FAILED:", w)
    if not wrong:
        print(f"ok: sampled, GetLastNode {m.group(2)} % of {m.group(1)} looks")
    return wrong


def restart(probeprof, folder):
    """QEMU is killed in mid-profile and started again: the program is loaded again, the gap is marked."""
    stub = os.path.join(folder, "stub")
    qemu = start_qemu(stub)
    args = [probeprof, "--probe", f"rsp:{stub}", "--target", "sh7750", "--elf", PROFEXAM, "--load", "--gdb", os.path.join(folder, "gdb"), "--sample",
            "--rate", "300"]
    bridge = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    said = ""
    for wanted in ("profiling", "does not answer", "is back"):
        while wanted not in said:
            line = bridge.stderr.readline()
            if not line:
                return [f"restart: it ended without '{wanted}': " + said]
            said += line
        if wanted == "profiling":
            time.sleep(0.5)
            qemu.kill()
            qemu.wait()
            os.unlink(stub)
        elif wanted == "does not answer":
            qemu = start_qemu(stub)
    time.sleep(0.5)
    bridge.send_signal(signal.SIGINT)
    out, err = bridge.communicate(timeout=DEADLINE)
    qemu.kill()
    qemu.wait()
    if bridge.returncode != 0 or "loaded again" not in said or "GetLastNode" not in out or "away once" not in out:
        return ["restart: " + said + err + out]
    print("ok: QEMU restarted in mid-profile")
    return []


def main():
    for tool in ("qemu-system-sh4", "gdb-multiarch"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            return 77
    with tempfile.TemporaryDirectory(prefix="pp-rsp-") as folder:
        return 1 if gdb_cases(sys.argv[1], folder) + sample(sys.argv[1], folder) + restart(sys.argv[1], folder) else 0


sys.exit(main())
