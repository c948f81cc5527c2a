#!/usr/bin/env python3
"""The motor example (docs/examples/motor) on an S12Z board through a pod that stands behind a model: what its README says.

usage, in the rig: motor.py PROBEPROF PROBE trace|sample|gdb|breaks|unsecure|replug|recover      PROBE as after --probe
"""
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

from rig_program import lines_of, tell, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "..", "..", "docs", "examples", "motor")
CALLS = {"read_currents": 1, "transform": 1, "regulate": 1, "commutate": 1, "average": 3, "reading": 3, "pi_step": 4, "clamp": 4, "magnitude": 4,
         "duty": 1}
BRANCHES = {"average": 16, "transform": 48, "pi_step": 40} # of its own, in a call
DEADLINE_S = 600 # of a machine that does many things at once


def command(program, probe, *more):
    return [os.path.abspath(program), "--probe", probe, "--target", "s12zvml128", *more]


def profile(program, probe, *more):
    r = subprocess.run(command(program, probe, "--gdb", "off", "--json", *more), cwd=FOLDER, capture_output=True, text=True, timeout=DEADLINE_S,
                       stdin=subprocess.DEVNULL)
    sys.stderr.write(r.stderr)
    if r.returncode != 0:
        sys.exit(f"exit code {r.returncode}")
    return json.loads(r.stdout), r.stderr


def right(ok, what):
    if not ok:
        sys.exit(what)


def check_trace(d):
    hits, c2 = ({f["name"]: f[k] for f in d["functions"]} for k in ("hits", "c2"))
    rounds = hits["transform"]
    right(rounds > 2, f"{rounds} rounds")
    for name, n in CALLS.items():
        right(n * (rounds - 1) <= hits[name] <= n * (rounds + 1), f"{name}: {hits[name]} calls in {rounds} rounds")
    for name, n in BRANCHES.items(): # the last call may have been cut off
        right(n * (hits[name] - 1) <= c2[name] <= n * hits[name], f"{name}: {c2[name]} branches in {hits[name]} calls")
    right(abs(hits["tick"] - hits["count_tick"]) <= 1, "tick and count_tick")
    right(d["coverage"]["lost"] == 0 and d["coverage"]["doubtful"] == 0, f"{d['coverage']}")


def trace(program, probe):
    d, said = profile(program, probe, "--for", "3s")
    check_trace(d)
    right("this adapter" in said and said.count("this adapter") == 1, "what the adapter lacks is told once")


def sample(program, probe):
    total = 0
    for seconds in (4, 16, 64): # a machine that does many things at once looks seldom
        if total < 40:
            d, _ = profile(program, probe, "--for", f"{seconds}s", "--sample", "--rate", "200")
            hits = {f["name"]: f["hits"] for f in d["functions"]}
            total = sum(hits.values())
    right(total >= 40, f"{total} looks")
    most = sum(hits.get(f, 0) for f in ("pi_step", "duty", "average", "transform"))
    right(most > 0.7 * total, f"{most} of {total} looks in the functions that take 90 % of the time: {hits}")
    halts = "halts the program" in d["note"]
    right(halts == probe.startswith("usbdm"), d["note"])


def symbols(path):
    """Names to values, of an ELF32."""
    with open(path, "rb") as f:
        data = f.read()
    order = "<" if data[5] == 1 else ">"
    shoff, shentsize, shnum = struct.unpack_from(order + "I", data, 32)[0], *struct.unpack_from(order + "HH", data, 46)
    found = {}
    for i in range(shnum):
        kind, off, size, link = (struct.unpack_from(order + "I", data, shoff + i * shentsize + at)[0] for at in (4, 16, 20, 24))
        if kind != 2:
            continue
        names = struct.unpack_from(order + "I", data, shoff + link * shentsize + 16)[0]
        for at in range(off, off + size, 16):
            name, value = struct.unpack_from(order + "II", data, at)
            found[data[names + name:data.index(b"\0", names + name)].decode()] = value
    return found


class Gdb:
    """As much of GDB's protocol as a look at a program needs."""
    def __init__(self, port):
        self.s = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S)
        self.data = b""

    def answer(self):
        while not (m := re.match(rb"\+*\$([^#]*)#..", self.data, re.S)):
            piece = self.s.recv(4096)
            right(piece, "the bridge closed the connection")
            self.data += piece
        self.data = self.data[m.end():]
        self.s.sendall(b"+")
        return m.group(1).decode()

    def monitor(self, text):
        answer, said = self.ask("qRcmd," + text.encode().hex()), ""
        while answer.startswith("O") and answer != "OK":
            said += bytes.fromhex(answer[1:]).decode()
            answer = self.answer()
        return said + (bytes.fromhex(answer).decode() if re.fullmatch("([0-9a-f]{2})+", answer) else answer)

    def send(self, text):
        self.s.sendall(f"${text}#{sum(text.encode()) & 255:02x}".encode())

    def ask(self, text):
        self.send(text)
        return self.answer()


def start(program, probe, *more):
    p = subprocess.Popen(command(program, probe, *more), cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         stdin=subprocess.DEVNULL)
    return p, lines_of(p.stderr)


def gdb(program, probe, mode="--no-profile"):
    at = symbols(os.path.join(FOLDER, "motor.elf"))
    p, lines = start(program, probe, "--gdb", "0", mode)
    try:
        g = Gdb(int(re.search(r":(\d+)", wait_for(lines, "target remote", DEADLINE_S)).group(1)))
        g.ask("?")
        for function in ("pi_step", "commutate"):
            right(g.ask(f"Z1,{at[function]:x},1") == "OK", f"no breakpoint at {function}")
            stop = g.ask("vCont;c")
            right(f"{at[function]:06x}" in stop, f"stopped by {stop}, not at {function} ({at[function]:06x})")
            right(g.ask(f"z1,{at[function]:x},1") == "OK", "the breakpoint stays")
        before = g.ask("g")[54:60]
        g.ask("vCont;s")
        right(g.ask("g")[54:60] != before, "a step does not move P")
        right(g.ask(f"M{at['burst']:x},2:1234") == "OK" and g.ask(f"m{at['burst']:x},2") == "1234", "memory does not come back")
        right(g.ask("m400000,4").startswith("E"), "memory that is not there is read")
        g.ask("D")
        p.send_signal(signal.SIGINT)
        right(p.wait(timeout=DEADLINE_S) == 0, f"exit code {p.returncode}")
    finally:
        p.kill()


def breaks(program, probe):
    """Breakpoints while looks at the PC halt the program, too: none is taken for the other."""
    gdb(program, probe, "--sample")


def unsecure(program, probe):
    p, lines = start(program, probe, "--gdb", "0", "--no-profile", "--conf", "off")
    try:
        g = Gdb(int(re.search(r":(\d+)", wait_for(lines, "target remote", DEADLINE_S)).group(1)))
        g.ask("!")
        said = g.monitor("unsecure ERASE-EVERYTHING")
        right("open and halted" in said, said)
        right(g.ask("vAttach;1").startswith("T"), "it does not attach")
        right(g.ask("mff8000,4") == "ffffffff", "flash is not erased")
        p.send_signal(signal.SIGINT)
        right(p.wait(timeout=DEADLINE_S) == 0, f"exit code {p.returncode}")
    finally:
        p.kill()


def stop_of(g, until=None):
    """What GDB's program stopped with, and what was said on the console before. None for the first where `until` was said: its wait goes on."""
    said = ""
    while until is None or until not in said:
        answer = g.answer()
        if not answer.startswith("O") or answer == "OK":
            return answer, said
        said += bytes.fromhex(answer[1:]).decode()
    return None, said


def lose(lines, probe, away, there):
    """Takes the pod or the power away, and gives it back. Returns what the program said then."""
    time.sleep(1)
    tell(away)
    if not there: # a pod that hangs is reset by its driver, and what it was doing then is done again: nobody may notice
        return ""
    wait_for(lines, "does not answer", DEADLINE_S)
    tell(there)
    began = time.monotonic()
    back = wait_for(lines, "is back", DEADLINE_S)
    print(f"{probe}, {away}: back after {time.monotonic() - began:.2f} s", flush=True)
    return back


def was_running(g, lines, probe, event):
    """Loses the target of a GDB that waits. False where it was lost before the program ran (a busy machine): GDB was told that."""
    g.send("vCont;c")
    back = lose(lines, probe, *event)
    ended, said = stop_of(g, until="target is back")
    if ended and ended.startswith("E"):
        right("resume: " in ended or "does not answer" in ended, ended)
        return False
    right(not ended and "connection to the target is lost" in said, said + (ended or ""))
    if "halted" not in back:
        g.s.sendall(b"\x03")
    stop = stop_of(g)[0]
    right(stop.startswith("T"), stop)
    return True


def recover(program, probe):
    """A GDB that waits, and one whose program is halted at a breakpoint, while the pod is pulled or hangs and the board loses its power."""
    at = symbols(os.path.join(FOLDER, "motor.elf"))["pi_step"]
    p, lines = start(program, probe, "--gdb", "0", "--json")
    events = [("unplug", "plug"), ("power off", "power on"), ("strike hang 1", None)]
    try:
        port = int(re.search(r":(\d+)", wait_for(lines, "target remote", DEADLINE_S)).group(1))
        wait_for(lines, "profiling,", DEADLINE_S)
        g = Gdb(port) # which asks at once: who asks nothing for 10 s is closed
        g.ask("?")
        for event in events[:2]:
            end = time.monotonic() + DEADLINE_S
            while not was_running(g, lines, probe, event):
                right(time.monotonic() < end, "it never ran when the target was lost")
        right(g.ask(f"Z1,{at:x},1") == "OK" and f"{at:06x}" in g.ask("vCont;c"), "no breakpoint")
        for event in events:
            lose(lines, probe, *event)
            g.send("vCont;c")
            stop = stop_of(g)[0]
            right(stop.startswith("T") and f"{at:06x}" in stop, f"not at the breakpoint: {stop}")
        answer = g.ask("D")
        right(answer == "OK", answer)
        time.sleep(0.5)
        p.send_signal(signal.SIGINT)
        d = json.loads(p.stdout.read())
        right(p.wait(timeout=DEADLINE_S) == 0, f"exit code {p.returncode}")
    finally:
        p.kill()
        p.wait()
        print("exit code", p.returncode)
    right(d["coverage"]["gaps"] >= 4 and d["coverage"]["events"], f"{d['coverage']}")


def replug(program, probe):
    p, lines = start(program, probe, "--gdb", "off", "--json")
    try:
        wait_for(lines, "profiling,", DEADLINE_S)
        for away, there in (("unplug", "plug"), ("power off", "power on")):
            time.sleep(0.5)
            tell(away)
            wait_for(lines, "does not answer", DEADLINE_S)
            tell(there)
            wait_for(lines, "is back", DEADLINE_S)
        time.sleep(0.5)
        p.send_signal(signal.SIGINT)
        d = json.loads(p.stdout.read())
        right(p.wait(timeout=DEADLINE_S) == 0, f"exit code {p.returncode}")
    finally:
        p.kill()
    right(d["coverage"]["gaps"] >= 2 and d["coverage"]["events"], f"{d['coverage']}")


def main():
    what = {"trace": trace, "sample": sample, "gdb": gdb, "breaks": breaks, "unsecure": unsecure, "replug": replug, "recover": recover}[sys.argv[3]]
    what(sys.argv[1], sys.argv[2])


if __name__ == "__main__":
    main()
