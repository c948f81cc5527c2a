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

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../..")
CALLS = os.path.join(HERE, "../gdbstub/gdb/calls.elf")
PROFEXAM = os.path.join(TOP, "docs/examples/profexam/profexam.elf")
DEADLINE = 600

GDB = [
    # registers in QEMU are whatever reset left; load sets the PC
    ("load and compare", ["load", "compare-sections", "print/x $pc"], [r"Section \.text, .*: matched", r"= 0xc010000"]),
    ("break, arguments, backtrace, finish", ["load", "break add", "continue", "info args", "bt", "finish"],
     [r"Breakpoint 1, add \(a=2, b=3\)", r"a = 2", r"#1 +.* main", r"Value returned is .* = 5"]),
    ("next and step", ["load", "break main", "continue", "step", "step", "step", "finish", "next", "print first"],
     [r"Breakpoint 1, main", r"add \(a=2, b=3\)", r"= 5", r"= 5"]),
    ("delay slots", ["load", "break *slots", "continue", "stepi", "stepi", "print (char*)$pc - (char*)slots", "print $r0"], [r"slots \(\)", r"= 8\b", r"= 3\b"]),
    ("code above 2 GB", ["load", "set $pc = 0x8c010000", "x/2i $pc"], [r"0x8c010000.*:\s+[a-z]", r"0x8c010002.*:\s+[a-z]"]),
    ("calling functions", ["load", "break main", "continue", "print add(20, 22)", "print factorial(6)", "print $r15 == $r15"], [r"= 42", r"= 720", r"= 1"]),
    ("watch", ["load", "break main", "continue", "watch counter", "continue"], [r"[Hh]ardware watchpoint 2: counter", r"New value = 1"]),
    ("monitor passes", ["monitor stub", "monitor stub info status", "monitor perf"], [r"59 registers in `g`", r"VM status: paused", r"QEMU has no performance counters"]),
]


def start_qemu(path):
    p = subprocess.Popen(["qemu-system-sh4", "-M", "r2d", "-display", "none", "-monitor", "none", "-serial", "null", "-S", "-gdb", f"unix:{path},server=on,wait=off"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        if os.path.exists(path):
            return p
        time.sleep(0.05)
    raise SystemExit("qemu does not start")


def matches(text, patterns):
    at = 0
    for p in patterns:
        m = re.compile(p).search(text, at)
        if not m:
            return p
        at = m.end()
    return None


def gdb_cases(probeprof, folder):
    failed = []
    for name, commands, patterns in GDB:
        stub, port = os.path.join(folder, "stub"), os.path.join(folder, "gdb")
        qemu = start_qemu(stub)
        bridge = subprocess.Popen([probeprof, "--no-profile", "--probe", f"rsp:{stub}", "--target", "sh7750", "--gdb", port], cwd=folder,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(200):
            if os.path.exists(port) or bridge.poll() is not None:
                break
            time.sleep(0.05)
        args = ["gdb-multiarch", "-nx", "-batch", CALLS, "-ex", "set pagination off", "-ex", "set remotetimeout 300", "-ex", f"target remote {port}"]
        for c in commands:
            args += ["-ex", c]
        try:
            out = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=DEADLINE).stdout
        except subprocess.TimeoutExpired as e:
            out = (e.stdout or b"").decode() + "\nTIMEOUT"
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
        missing = matches(out, patterns)
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
    r = subprocess.run(base + ["--sample", "--rate", "300", "--for", "2s"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       timeout=DEADLINE, cwd=folder)
    m = re.search(r"^ +(\d+) +([\d.]+) .*GetLastNode$", r.stdout, re.M)
    if r.returncode != 0 or not m or int(m.group(1)) < 50 or float(m.group(2)) < 60: # 97 % by the model's cycles; QEMU has its own
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
    """QEMU is killed in mid-profile and started anew: the program is loaded again, the gap is marked."""
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
