#!/usr/bin/env python3
"""Faults at the transfers of a standard run, for every driver: the program ends in a clear error or recovers, in time, leaks
nothing, and loses nothing without saying so.

usage: sweep.py BUILD [--all | --each | --sample N] [--kind KIND]... [--jobs N] [--seed N] [--at N] [--log FILE [--resume]] [-v] [DRIVER...]
  BUILD      a build's folder (build/release); DRIVER none: all of them
  --all      strikes every transfer by every kind: hours; --each: of those that look the same and follow one that looks the same (endpoint,
             length, how it begins) one, which is most there is to meet; --sample N: each kind strikes N, chosen by --seed
  --at N     strikes the N-th only, to look at it again; -v tells of every run
  --log      keeps a line for every run, as JSON; --resume: what stands in it counts, and is not run again
The standard run: open, attach, load a small program (few/), arm, profile it for a moment, disarm, detach. One without a fault counts its
transfers and says what is normal. exit 0 all well, 1 findings, 77 nothing could be run.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from sweep_run import SerialCable, TcpCable, run

HERE = os.path.dirname(os.path.abspath(__file__))
REPLUG_MS = 100
RUN_S = 300          # a run that is not over then hangs; it takes less than a second, with a fault some more
GONE_S = 1.5         # when one whose adapter never comes back is interrupted
OTHERS = re.compile(r" to | /usr/lib/") # sockets of the test bed to the rig (each belongs to a file, which has a line), tables of glibc
SETTING_UP = 6       # of the first transfers
NORMAL_TRIES = 5     # of a run without a fault on a busy machine
BUSY_S = 3           # of processor time beyond five runs without a fault

SH4 = ("few", ["--target", "sh7750", "--private", "--start", "main", "--stop", "again", "--passes", "1"])
SH4_SERIAL = ("few", ["--target", "sh7750", "--start", "main", "--stop", "again", "--passes", "1"])
SH4_STUB = ("few", ["--target", "sh7750", "--sample", "--rate", "200", "--for", "100ms"])
S12Z = ("few_s12z", ["--target", "s12zvml128", "--for", "20ms"])
SH4_BOARD, S12Z_BOARD = "sim:sh7750,cpu=50M", "sim:s12zvml128,bus=2M" # slow: less to simulate; few profiling lines are due

USB_KINDS = ["unplug", "stall", "timeout", "short", "stale", "wrong-id", "garbage", "hang", "gone"]
CABLE_KINDS = ["unplug", "stall", "timeout", "short", "stale", "garbage", "gone"]


def sh4_wrong(profile):
    """What a profile that knows of no loss has wrong, or None."""
    hits = {f["name"]: f["hits"] for f in profile["functions"]}
    want = {"setup": 1, "work": 6, "leaf": 12}
    passes = hits.get("setup", 0)
    return None if passes and all(hits.get(n) == passes * k for n, k in want.items()) else f"hits {hits}"


def s12z_wrong(profile):
    hits = {f["name"]: f["hits"] for f in profile["functions"]}
    passes, work, leaf = (hits.get(n, 0) for n in ("setup", "work", "leaf"))
    return None if passes and 3 * (passes - 1) <= work <= 3 * passes and 2 * work - 2 <= leaf <= 2 * work else f"hits {hits}"


def samples_wrong(profile):
    looks, missed, seconds = (profile["sampling"][k] for k in ("looks", "missed", "seconds"))
    hits = sum(f["hits"] for f in profile["functions"])
    known = looks + missed > 0 or "missed" in profile["note"] or seconds < 0.02 # four looks long
    return None if hits <= looks and known else f"{hits} hits, {looks} looks, {missed} missed"


class Driver:
    starved = None # what a run says whose far end was not served in time, since the machine was busy

    def __init__(self, standard, wrong, kinds, not_applicable=()):
        self.folder, self.arguments = os.path.join(HERE, standard[0]), standard[1]
        self.wrong, self.kinds, self.not_applicable = wrong, [k for k in kinds if k not in dict(not_applicable)], dict(not_applicable)

    def command(self, a, probe):
        return [a.program, "--probe", probe, "--gdb", "off", "--json"] + self.arguments

    def environment(self, a, tmp):
        env = dict(os.environ, LD_PRELOAD=a.census, CENSUS=os.path.join(tmp, "census"), TMPDIR=tmp)
        env["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        env.pop("PROBEPROF_PROBE", None)
        return env


class Usb(Driver):
    """Through libusb or hidapi to a model (usb_rig), which does the faults."""
    def __init__(self, probe, board, model, *more):
        super().__init__(*more)
        self.probe, self.rig = probe, ["--board", board, model]

    def look(self, endpoint, length, begins):
        """A pod's command begins with what it does; of JTAG's bits little can be told."""
        return endpoint, length, begins if self.folder.endswith("s12z") else begins[:4]

    def run(self, a, kind, at, tmp):
        stats, rig = os.path.join(tmp, "stats"), list(self.rig)
        if kind == "gone":
            rig[-1] += f",fault=unplug@{at}"
        elif kind:
            kind = "short-answer" if kind == "short" and self.folder.endswith("s12z") else kind # no bus halves a pod's command
            rig[-1] += f",fault={kind}@{at},replug={REPLUG_MS},seed={a.seed + at}"
        notes = os.path.join(tmp, "notes")
        command = [a.usb_rig, "--stats", stats, "--transfers", notes] + rig + ["--"] + self.command(a, self.probe)
        r = run(command, self.folder, self.environment(a, tmp), tmp, RUN_S, GONE_S if kind == "gone" else None)
        device = json.load(open(stats))["devices"][-1] if os.path.exists(stats) else {}
        r.transfers, r.faults = device.get("transfers", 0), device.get("faults", 0)
        r.notes = [self.look(*line.split(" ")) for line in open(notes)] if not kind else []
        return r


class Stream(Driver):
    """Bytes to a board or a stub that is a program of its own; the cable between them does the faults."""
    run_s = RUN_S

    def run(self, a, kind, at, tmp):
        far = self.start(a, tmp)
        try:
            cable, probe = self.cable(far, tmp, kind, at, None if kind == "gone" else REPLUG_MS / 1000, a.seed + at)
            cable.start()
            r = run(self.command(a, probe), self.folder, self.environment(a, tmp), tmp, self.run_s, GONE_S if kind == "gone" else None)
            cable.stop()
        finally:
            far.kill()
            far.wait()
        r.transfers, r.faults, r.notes = cable.transfers, cable.faults, cable.notes
        return r


class Serial(Stream):
    run_s = 3 * RUN_S # its board runs by the host's clock, and needs a processor of its own
    starved = "nobody had read its full trace ring for long"

    def start(self, a, tmp):
        return subprocess.Popen([a.serial_board, "--", "sh", "-c", "echo $0; exec sleep 1000", "@"], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, text=True)

    def cable(self, board, tmp, *how):
        port, rest = board.stdout.readline().strip().removeprefix("serial:").split(",", 1)
        return SerialCable(port, os.path.join(tmp, "port"), *how), f"serial:{os.path.join(tmp, 'port')},{rest}"


class Rsp(Stream):
    """The stub: this very program, in front of a simulated board."""
    def start(self, a, tmp):
        return subprocess.Popen([a.program, "--probe", SH4_BOARD, "--gdb", "127.0.0.1:0", "--no-profile"], cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def cable(self, stub, tmp, *how):
        said = ""
        while not (m := re.search(r"target remote \S*:(\d+)", said)):
            line = stub.stderr.readline()
            said += line or sys.exit("the stub: " + said)
        cable = TcpCable(int(m.group(1)), *how)
        return cable, f"rsp:127.0.0.1:{cable.port}"


NO_IDS = [("wrong-id", "no ids in the protocol")]
DRIVERS = {
    "ftdi": Usb("ftdi", SH4_BOARD, "ft2232h", SH4, sh4_wrong, USB_KINDS, NO_IDS),
    "cmsis-dap": Usb("cmsis-dap", SH4_BOARD, "cmsis-dap,packet=1024", SH4, sh4_wrong, USB_KINDS),
    "cmsis-dap-v1": Usb("cmsis-dap", SH4_BOARD, "cmsis-dap,v1,report=512,hid-limit=500", SH4, sh4_wrong, USB_KINDS),
    "jlink": Usb("jlink", SH4_BOARD, "jlink", SH4, sh4_wrong, USB_KINDS, NO_IDS),
    "usbdm": Usb("usbdm", S12Z_BOARD, "usbdm", S12Z, s12z_wrong, USB_KINDS),
    "usbdm-v5": Usb("usbdm", S12Z_BOARD, "usbdm,v5,cdc", S12Z, s12z_wrong, USB_KINDS),
    "osbdm": Usb("osbdm", S12Z_BOARD, "osbdm", S12Z, s12z_wrong, USB_KINDS),
    "serial": Serial(SH4_SERIAL, sh4_wrong, CABLE_KINDS, NO_IDS),
    "rsp": Rsp(SH4_STUB, samples_wrong, CABLE_KINDS, NO_IDS),
}


# ---- judging ----

def judge(driver, kind, r, normal):
    """(what became of it, a finding or None); normal: of runs without a fault"""
    if "Sanitizer" in r.err or "runtime error" in r.err:
        return "", "sanitizer: " + re.search(r".{0,20}(Sanitizer|runtime error)[^$]{0,400}", r.err).group(0)
    if r.how == "killed" or (r.how == "interrupted" and kind != "gone"):
        return "", f"{r.how} after {r.seconds:.0f} s"
    if normal and r.cpu > 5 * normal.cpu + BUSY_S:
        return "", f"busy: {r.cpu:.1f} s of processor time"
    if r.code not in ((0, 1, 130) if kind == "gone" and r.how == "interrupted" else (0, 1)):
        return "", f"exit code {r.code}"
    left = "did not return within" in r.err # on a second interrupt: nothing is closed then
    if normal and len(r.census) > len(normal.census) and not left:
        return "", f"descriptors left open: {r.census} (without a fault {normal.census})"
    if r.code == 130 and not r.err.strip():  # a busy machine: interrupted before an adapter was opened, it ends as any program
        return "ended", None
    if r.code:
        words = [line for line in r.err.splitlines() if line.startswith("probeprof: ")]
        return "ended", None if words and len(words[-1]) > 25 else f"exit code {r.code} and no clear word"
    try:
        profile = json.loads(r.out)
    except ValueError:
        return "", "exit code 0 and no profile"
    told = profile["coverage"]["gaps"] or profile["coverage"]["lost"]
    wrong = driver.wrong(profile)
    if wrong and not told and not (kind == "gone" and r.how == "interrupted"):
        return "", f"lost and not told: {wrong}, {profile['coverage']}"
    return "told" if told else "whole", None


def one(a, name, kind, at, normal=None):
    with tempfile.TemporaryDirectory(dir=a.tmp) as tmp:
        r = DRIVERS[name].run(a, kind, at, tmp)
        path = os.path.join(tmp, "census")
        r.census = sorted(line.split(" ", 1)[1] for line in open(path).read().splitlines() if not OTHERS.search(line)) if os.path.exists(path) else []
    r.name, r.kind, r.at = name, kind, at
    r.became, r.finding = judge(DRIVERS[name], kind, r, normal)
    return r


def unstruck(a, name):
    """A run without a fault. One whose far end was not served in time, and that says so, is none: it is made again."""
    words = DRIVERS[name].starved
    r = one(a, name, None, 0)
    for _ in range(NORMAL_TRIES - 1):
        if r.code == 0 or not words or words not in r.err:
            break
        print(f"{name}: the machine is busy, {words}; again", flush=True)
        r = one(a, name, None, 0)
    return r


def normal_run(a, name):
    """What a run without a fault takes; None: it cannot be made."""
    runs = [unstruck(a, name) for _ in range(2)]
    for r in runs:
        if r.finding or r.code != 0 or r.became != "whole":
            print(r.err)
            print(f"{name}: the run without a fault: {r.finding or r.became or r.code}")
            return None
    most = min(runs, key=lambda r: r.transfers)
    most.transfers, most.census = min(r.transfers for r in runs), max((r.census for r in runs), key=len)
    return most


def places(a, name, kind, normal):
    if a.at:
        return [a.at]
    if a.all:
        return list(range(1, normal.transfers + 1))
    if a.each:
        first = {}
        for n, pair in enumerate(zip([None] + normal.notes, normal.notes), 1):
            first.setdefault(pair, n)
        return sorted(first.values())
    total = normal.transfers
    rng = random.Random(f"{a.seed} {name} {kind}")
    early = [rng.randint(1, min(SETTING_UP, total))] if rng.random() < 0.25 else []
    return sorted(early + rng.sample(range(1, total + 1), min(total, a.sample - len(early))))


# ---- the table ----

class Row:
    def __init__(self):
        self.runs = self.struck = self.findings = 0
        self.became, self.longest = {}, 0.0

    def add(self, r):
        self.runs += 1
        self.struck += r.faults > 0
        self.findings += r.finding is not None
        self.became[r.became] = self.became.get(r.became, 0) + 1
        self.longest = max(self.longest, r.seconds)


def tell(r, a):
    if r.finding:
        print(f"{r.name} {r.kind}@{r.at}: {r.finding}\n{r.err}", flush=True)
    elif a.v:
        last = (r.err.strip().splitlines() or [""])[-1]
        print(f"{r.name} {r.kind}@{r.at}: {r.became}, {r.seconds:.1f} s, {last[:160]}", flush=True)
    if a.log:
        with open(a.log, "a") as f:
            keep = {k: getattr(r, k) for k in ("name", "kind", "at", "became", "finding", "code", "seconds", "cpu", "faults", "transfers", "err")}
            f.write(json.dumps(keep) + "\n")


def table(rows, a):
    print(f"{'driver':13} {'kind':9} {'runs':>5} {'struck':>6} {'whole':>6} {'told':>6} {'ended':>6} {'findings':>8} {'longest':>8}")
    for name in a.drivers:
        for kind in a.kind or USB_KINDS:
            row, no = rows.get((name, kind)), DRIVERS[name].not_applicable.get(kind)
            if (name, None) in rows:
                print(f"{name:13} {kind:9} not run: the run without a fault fails")
            elif row:
                b = row.became
                print(f"{name:13} {kind:9} {row.runs:5} {row.struck:6} {b.get('whole', 0):6} {b.get('told', 0):6} {b.get('ended', 0):6} {row.findings:8} "
                      f"{row.longest:6.1f} s")
            else:
                print(f"{name:13} {kind:9} not applicable: {no or 'a device of USB can hang, a cable cannot'}")


# ---- the program ----

def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("build", type=os.path.abspath)
    p.add_argument("drivers", nargs="*", metavar="DRIVER")
    p.add_argument("--all", action="store_true")
    p.add_argument("--each", action="store_true")
    p.add_argument("--sample", type=int, default=2)
    p.add_argument("--at", type=int)
    p.add_argument("--kind", action="append", choices=USB_KINDS)
    p.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1))
    p.add_argument("--seed", type=int, default=int(time.time()))
    p.add_argument("--log")
    p.add_argument("--resume", action="store_true")
    p.add_argument("-v", action="store_true")
    a = p.parse_intermixed_args()
    if not set(a.drivers) <= set(DRIVERS):
        p.error("drivers: " + " ".join(DRIVERS))
    a.drivers = a.drivers or list(DRIVERS)
    a.program = os.path.join(a.build, "profiler/cli/probeprof")
    a.usb_rig, a.census = (os.path.join(a.build, "tests/system/usb", n) for n in ("usb_rig", "libcensus.so"))
    a.serial_board = os.path.join(a.build, "tests/sh4/serial_board")
    return a


def pinned(name, cpus):
    """A worker's programs stay on one processor: rig and program wait for each other in turn, and waking across costs half again.
    Not those whose board runs by the host's clock beside them."""
    if isinstance(DRIVERS[name], Usb):
        os.sched_setaffinity(0, {next(cpus)})


def logged(a):
    """The runs that the log of an earlier sweep has."""
    lines = open(a.log) if a.resume and os.path.exists(a.log) else []
    return {(r.name, r.kind, r.at): r for r in (argparse.Namespace(**json.loads(line)) for line in lines)}


def sweep(a, rows):
    done = logged(a)
    for (name, kind, _), r in done.items():
        rows.setdefault((name, kind), Row()).add(r)
    for name in list(a.drivers):
        normal = normal_run(a, name)
        if not normal:
            rows[(name, None)] = None
            continue
        print(f"{name}: {normal.transfers} transfers, {len(set(zip([None] + normal.notes, normal.notes)))} of them differ, {normal.seconds:.1f} s, {normal.cpu:.2f} s of processor time", flush=True)
        kinds = [k for k in DRIVERS[name].kinds if not a.kind or k in a.kind]
        work = [(kind, at) for kind in kinds for at in places(a, name, kind, normal) if (name, kind, at) not in done]
        cpus = itertools.cycle(os.sched_getaffinity(0))
        with concurrent.futures.ThreadPoolExecutor(a.jobs, initializer=pinned, initargs=(name, cpus)) as pool:
            for r in pool.map(lambda w: one(a, name, *w, normal), work):
                rows.setdefault((name, r.kind), Row()).add(r)
                tell(r, a)


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler) # a shell's job in the background ignores it, and so would all it starts
    a, rows, began = arguments(), {}, time.monotonic()
    if not os.path.exists(a.usb_rig):
        print("skipped without umockdev:", *(n for n in a.drivers if isinstance(DRIVERS[n], Usb)))
        a.drivers = [n for n in a.drivers if not isinstance(DRIVERS[n], Usb)] or sys.exit(77)
    a.tmp = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        sweep(a, rows)
    finally:
        shutil.rmtree(a.tmp, ignore_errors=True)
    table(rows, a)
    real = [r for r in rows.values() if r]
    findings, broken = sum(r.findings for r in real), len(rows) - len(real)
    print(f"{sum(r.runs for r in real)} runs in {time.monotonic() - began:.0f} s, {sum(r.struck for r in real)} struck, {findings} findings; --seed {a.seed} repeats it")
    sys.exit(1 if findings or broken or not sum(r.struck for r in real) else 0)


main()
