#!/usr/bin/env python3
"""A bridge that runs for long: a profile going, GDBs coming and going, a board that drops out now and then.

usage: soak.py PROBEPROF [--minutes M] [--fault F] [--report-every S]

Runs the tutorial on the simulated board and prints every so often and at the end: events, resident memory, open
descriptors, what GDB did, and at the end what memory grew by per event, losses, and mismatches: code that GDB read
and that is not the ELF's, a C1+children that is not its parts, a call path the program does not have, a table that the
recording does not give again. Figures, not a test; exit 1 if there were mismatches or the bridge failed.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROFEXAM = os.path.normpath(os.path.join(HERE, "..", "..", "docs", "examples", "profexam"))
PATHS = {("main",), ("main", "Initialise"), ("main", "BuildList"), ("main", "BuildList", "GetNewNode"),
         ("main", "BuildList", "GetNewNode", "MallocNode"), ("main", "BuildList", "GetLastNode"),
         ("main", "BuildList", "InsertNode")}
GDB_SCRIPTS = {
    "break": ["break InsertNode", "continue", "bt 2", "compare-sections .text", "delete", "detach"],
    "finish": ["tbreak GetNewNode", "continue", "finish", "info registers", "compare-sections .text", "detach"],
    "step": ["tbreak BuildList", "continue", "next", "next", "stepi", "stepi", "compare-sections .text", "detach"],
    "watch": ["watch Passes", "continue", "delete", "monitor profile status", "detach"],
}
AWAY = ("lost", "not answer", "closed", "timed out", "gone", "away", "Cannot", "refused")


class Bridge:
    def __init__(self, program, fault, folder):
        probe = "sim:sh7750" + (",fault=" + fault if fault else "")
        self.record = os.path.join(folder, "soak.rec")
        self.process = subprocess.Popen(
            [program, "--probe", probe, "--start", "main+8", "--stop", "0x0C010030", "--gdb", "0", "--record", self.record],
            cwd=PROFEXAM, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = re.search(r"target remote (\S+)", self.process.stderr.readline()).group(1)
        self.lines, self.live, self.gone, self.back = [], "", 0, 0
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.gone += "does not answer" in line
            self.back += "the board is back" in line
            if " events, " in line:
                self.live = line.strip()
            else:
                self.lines = self.lines[-40:] + [line.strip()]

    def events(self):
        m = re.search(r"([\d.,]+)([kMG]?) events", self.live)
        return int(float(m.group(1).replace(",", "")) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[m.group(2)]) if m else 0

    def resident(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))

    def large(self):
        """Resident KB of mappings of 8 MB and more: the simulated board's memories and other blocks that are allocated once, and whose
        pages count from when they are first touched. The heap is none of them."""
        total, size = 0, 0
        with open(f"/proc/{self.process.pid}/smaps", encoding="utf-8") as f:
            for line in f:
                m = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ (\d+)", line)
                if m:
                    size = int(m.group(2), 16) - int(m.group(1), 16) if m.group(4) == "0" and "[heap]" not in line else 0
                elif line.startswith("Rss:") and size >= 8 << 20:
                    total += int(line.split()[1])
        return total

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self):
        while True:  # a GDB that is still seen as connected keeps the bridge
            self.process.send_signal(signal.SIGINT)
            try:
                return self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                pass


class Debuggers(threading.Thread):
    """GDB sessions, one after another: well-behaved ones, killed ones, and peers that are no GDB."""

    def __init__(self, bridge):
        super().__init__()
        self.bridge, self.over = bridge, threading.Event()
        self.done, self.away, self.mismatches = {}, 0, []
        self.rng = random.Random(1)

    def run(self):
        kinds = list(GDB_SCRIPTS) + ["killed", "cut"]
        while not self.over.wait(self.rng.uniform(0.2, 1.5)) and self.bridge.process.poll() is None:
            kind = self.rng.choice(kinds)
            try:
                if kind == "cut":
                    self.cut()
                elif kind == "killed":
                    self.gdb(["tbreak InsertNode", "continue", "continue"], kill_after=self.rng.uniform(0.3, 2))
                else:
                    self.gdb(GDB_SCRIPTS[kind])
            except OSError:
                kind = "no connection"
            self.done[kind] = self.done.get(kind, 0) + 1

    def cut(self):
        port = int(self.bridge.address.rsplit(":", 1)[1])
        with socket.create_connection(("localhost", port), timeout=5) as s:
            s.sendall(b"+$qSupported:swbreak+#"[:self.rng.randrange(1, 22)])

    def gdb(self, commands, kill_after=None):
        args = ["gdb-multiarch", "-q", "-nx", "-batch", "-ex", "set confirm off", "-ex", "set remotetimeout 5",
                "-ex", "target remote " + self.bridge.address]
        for c in commands:
            args += ["-ex", c]
        p = subprocess.Popen(args + ["profexam.elf"], cwd=PROFEXAM, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        try:
            text, _ = p.communicate(timeout=kill_after or 30)
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            return
        if "MIS-MATCHED" in text:
            self.mismatches.append(text)
        elif "compare-sections .text" in commands and "matched." not in text:
            self.away += 1
            if not any(word in text for word in AWAY):
                self.mismatches.append(text)


def check_document(document, found):
    names, paths, below = document["functions"], {}, {}
    for n in document["tree"]:
        paths[n["id"]] = paths.get(n["parent"], ()) + (names[n["function"]]["name"],)
        below.setdefault(n["parent"], []).append(n)
    for n in document["tree"]:
        for c in ("c1", "c2"):
            if n[c + "_children"] != n[c] + sum(b[c + "_children"] for b in below.get(n["id"], [])):
                found.append(f"{c} of node {n['id']} is not the sum of its parts")
    for path in set(paths.values()) - PATHS - {("(lost events)",)}:
        found.append("a call path the program does not have: " + " > ".join(path))
    counts = {f["name"]: f["hits"] for f in names}
    slack = 2 + document["coverage"]["gaps"] * 4
    for name in ("MallocNode", "InsertNode"):
        if abs(counts[name] - counts["GetNewNode"]) > slack:
            found.append(f"{name} {counts[name]} hits, GetNewNode {counts['GetNewNode']}, {document['coverage']['gaps']} gaps")


def sample(bridge, debuggers, began):
    large = bridge.large()
    row = time.monotonic() - began, bridge.events(), bridge.resident() - large, bridge.descriptors(), large
    print(f"{row[0]:6.0f} s  {row[1]:>13,} events  {row[2]:>8,} KB and {large:,} KB of large blocks  {row[3]:3} descriptors  {bridge.gone} losses  "
          f"{sum(debuggers.done.values())} sessions", flush=True)
    return row


def watch(bridge, debuggers, options):
    began, rows = time.monotonic(), []
    while time.monotonic() - began < options.minutes * 60 and bridge.process.poll() is None:
        time.sleep(min(options.report_every, options.minutes * 60))
        if bridge.process.poll() is None:
            rows.append(sample(bridge, debuggers, began))
    debuggers.over.set()
    debuggers.join()
    for _ in range(60):  # not while the board is away
        if bridge.gone == bridge.back:
            break
        time.sleep(0.5)
    time.sleep(1)
    if bridge.process.poll() is None:
        rows.append(sample(bridge, debuggers, began))
    return rows


def growth(rows):
    """From a quarter of the run on: what is filled once is filled by then."""
    late = [r for r in rows if r[0] >= rows[-1][0] / 4]
    first, last = late[0], late[-1]
    events = last[1] - first[1]
    print(f"resident without large blocks {rows[0][2]:,} KB at first, {first[2]:,} KB after {first[0]:.0f} s, {last[2]:,} KB at the end; "
          f"{(last[2] - first[2]) * 1024 / events if events else 0:.5f} bytes an event over {events:,} events; "
          f"large blocks {rows[0][4]:,}, {first[4]:,} and {last[4]:,} KB; descriptors {first[3]} and {last[3]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--fault", default="unplug@10s+500ms/30s", help="of the board, empty: none")
    parser.add_argument("--report-every", type=float, default=15)
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    folder = tempfile.mkdtemp(prefix="probeprof-soak-")
    bridge = Bridge(options.program, options.fault, folder)
    debuggers = Debuggers(bridge)
    debuggers.start()
    rows = watch(bridge, debuggers, options)
    found = debuggers.mismatches
    if bridge.process.poll() is not None:
        found.append("the bridge ended by itself")
    out = []
    collect = threading.Thread(target=lambda: out.append(bridge.process.stdout.read()))
    collect.start()
    status = bridge.end()
    collect.join()
    bridge.reader.join()
    replayed = [subprocess.run([options.program, "report", bridge.record] + view, cwd=PROFEXAM, capture_output=True, text=True, check=False)
                for view in ([], ["--json"])]
    if out[0] != replayed[0].stdout.partition("\n\n")[2]:  # a report has a header
        found.append("the recording gives another table:\n" + out[0] + "\n" + replayed[0].stdout)
    document = json.loads(replayed[1].stdout)
    check_document(document, found)
    if len(rows) > 1:
        growth(rows)
    print("sessions", ", ".join(f"{k} {n}" for k, n in sorted(debuggers.done.items())), f"({debuggers.away} met a board that was away)")
    print(f"coverage {json.dumps(document['coverage'])}, the board was lost {bridge.gone} times and back {bridge.back} times, "
          f"recording {os.path.getsize(bridge.record):,} bytes")
    print(f"{len(found)} mismatches, exit status {status}")
    for text in found + (bridge.lines if status or found else []):
        print(text)
    shutil.rmtree(folder)
    return 1 if found or status else 0


sys.exit(main())
