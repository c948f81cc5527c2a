#!/usr/bin/env python3
"""Faults at the transfers of a standard run: the program ends in a clear error or recovers, in time, and loses nothing silently.

usage: sweep.py USB_RIG PROBEPROF --probe PROBE --rig "ARGUMENTS OF usb_rig" [--run tutorial|motor] [--all | --sample N] [--kind KIND]...
                [--jobs N] [--seed N] [-v]
One run without a fault counts its transfers. Then each kind of fault strikes N of them (--all: every one), the first and those of setting
up always among them. A fault is an option of the model, which stands last in --rig. exit 0 all well, 1 findings.
"""
import argparse
import concurrent.futures
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
KINDS = ["unplug", "stall", "timeout", "short", "stale", "wrong-id", "garbage", "hang"]
REPLUG_MS = 300
RUN_S = 120          # a run that is not over then hangs; it takes about a second, with a fault some more
END_S = 20           # and this long after an interrupt
SETTING_UP = 6       # of the first transfers

HITS = {"Initialise": 1, "BuildList": 1, "GetNewNode": 1000, "MallocNode": 1000, "GetLastNode": 999, "InsertNode": 1000}


def tutorial_wrong(profile):
    """What a profile of the tutorial that knows of no loss has wrong, or None."""
    hits = {f["name"]: f["hits"] for f in profile["functions"]}
    passes = hits.get("Initialise", 0)
    if passes == 0:
        return "no pass"
    bad = {n: hits.get(n) for n, h in HITS.items() if hits.get(n) != passes * h}
    return f"{passes} passes: {bad}" if bad else None


def motor_wrong(profile):
    names = [f["name"] for f in profile["functions"]]
    return None if names else "no function"


RUNS = {
    "tutorial": ("docs/examples/profexam", ["--target", "sh7750", "--private", "--start", "main+8", "--stop", "0x0C010030", "--passes", "1"],
                 tutorial_wrong),
    "motor": ("docs/examples/motor", ["--target", "s12zvml128", "--for", "2s"], motor_wrong),
}


def end(process):
    """Interrupts, as a user would; then kills. Returns whether the interrupt was enough."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(END_S)
        return True
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False


def run(a, options=""):
    """One run; returns (exit code, stdout, stderr, stats, seconds, how it ended)."""
    folder, arguments, _ = RUNS[a.run]
    with tempfile.TemporaryDirectory() as tmp:
        stats = os.path.join(tmp, "stats.json")
        rig = shlex.split(a.rig)
        rig[-1] += options
        command = [a.usb_rig, "--stats", stats] + rig + ["--", a.probeprof, "--probe", a.probe, "--gdb", "off", "--json"] + arguments
        began = time.monotonic()
        with open(os.path.join(tmp, "out"), "w+") as out, open(os.path.join(tmp, "err"), "w+") as err:
            process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=os.path.join(ROOT, folder))
            ended = "by itself"
            try:
                process.wait(RUN_S)
            except subprocess.TimeoutExpired:
                ended = "interrupted" if end(process) else "killed"
            for f in (out, err):
                f.seek(0)
            out, err = out.read(), err.read()
        device = json.load(open(stats))["devices"][-1] if os.path.exists(stats) else {}
    return process.returncode, out, err, device, time.monotonic() - began, ended


def judge(a, result):
    """A finding, or None."""
    code, out, err, _, seconds, ended = result
    if "Sanitizer" in err or "runtime error" in err:
        return "sanitizer: " + err[err.find("Sanitizer") - 20:][:400]
    if ended != "by itself":
        return f"{ended} after {seconds:.0f} s"
    if code == 1:
        return None if "probeprof: " in err else "exit code 1 and no word"
    if code != 0:
        return f"exit code {code}"
    try:
        profile = json.loads(out)
    except ValueError:
        return "exit code 0 and no profile"
    told = profile["coverage"]["gaps"] or profile["coverage"]["lost"]
    wrong = RUNS[a.run][2](profile)
    return f"lost and not told: {wrong}" if wrong and not told else None


def one(a, kind, n):
    result = run(a, f",fault={kind}@{n},replug={REPLUG_MS}")
    return kind, n, result, judge(a, result)


def places(a, total):
    if a.all:
        return list(range(1, total + 1))
    rng = random.Random(a.seed)
    first = list(range(1, min(SETTING_UP, total) + 1))
    early = rng.sample(first, min(2, len(first)))
    rest = range(len(first) + 1, total)
    return sorted(early + rng.sample(rest, min(len(rest), max(a.sample - len(early), 0))))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("usb_rig", type=os.path.abspath)
    p.add_argument("probeprof", type=os.path.abspath)
    p.add_argument("--probe", required=True)
    p.add_argument("--rig", required=True)
    p.add_argument("--run", choices=RUNS, default="tutorial")
    p.add_argument("--all", action="store_true")
    p.add_argument("--sample", type=int, default=4)
    p.add_argument("--kind", action="append", choices=KINDS)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("-v", action="store_true")
    a = p.parse_args()

    clean = run(a)
    finding = judge(a, clean)
    if finding or clean[0] != 0:
        print(clean[2])
        sys.exit(f"the run without a fault: {finding or clean[0]}")
    total = clean[3]["transfers"]
    work = [(kind, n) for kind in a.kind or KINDS for n in places(a, total)]
    findings, struck, recovered, longest = 0, 0, 0, 0.0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for kind, n, result, finding in pool.map(lambda w: one(a, *w), work):
            struck += result[3].get("faults", 0) > 0
            recovered += result[0] == 0
            longest = max(longest, result[4])
            if finding:
                findings += 1
                print(f"{kind}@{n}: {finding}\n{result[2]}")
            elif a.v:
                last = (result[2].strip().splitlines() or [""])[-1]
                print(f"{kind}@{n}: exit code {result[0]}, {result[4]:.1f} s, {last[:140]}")
    print(f"{len(work)} runs of {total} transfers, {struck} struck, {recovered} recovered or unharmed, the rest said why not; "
          f"longest {longest:.0f} s; {findings} findings")
    sys.exit(1 if findings or not struck else 0)


main()
