#!/usr/bin/env python3
"""A profile or a debugger that is killed at any moment leaves nothing behind that the next attach does not find and undo: code, vectors and break
conditions are those of a program never traced, and it can be profiled again, without being loaded again.

usage, in the rig: killed_traced.py PROBEPROF PROBE [SEED]
"""
import json
import os
import queue
import random
import re
import signal
import struct
import subprocess
import sys
import time

from motor import Gdb, symbols
from rig_program import lines_of, wait_for

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "examples", "irqdemo")
ELF = "irqdemo.elf"
KILLS, DEADLINE_S = 8, 600
# A halt that meets the handler where SR.BL is 1 costs it SPC and SSR, and the program with it (docs/open.md): about one in two hundred.
LOST, LOOK_S = 3, 30
POINTS = ["--start", "Round", "--stop", "CallBlocked"]
RUNS = [[], POINTS, ["--start", "Blocked"], ["--irq-filter", "calls"]] # the third is watched by a break channel
# Of the user break controller BBRA, BBRB, BRCR; IPRC. Source: SH7750 hardware manual, appendix A.
REGISTERS = [(0xFF200008, 2), (0xFF200014, 2), (0xFF200020, 2), (0xFFD0000C, 2)]


def constant_sections():
    """What no program writes: (address, bytes) of each loaded section that is not writable."""
    with open(os.path.join(FOLDER, ELF), "rb") as f:
        data = f.read()
    offset, = struct.unpack_from("<I", data, 32)
    size, count = struct.unpack_from("<HH", data, 46)
    for k in range(count):
        _, kind, flags, addr, at, length = struct.unpack_from("<6I", data, offset + k * size)
        if kind == 1 and flags & 3 == 2: # SHT_PROGBITS; SHF_ALLOC without SHF_WRITE
            yield addr, data[at:at + length]


class Case:
    def __init__(self, program, probe, seed):
        self.command = [os.path.abspath(program), "--probe", probe, "--target", "sh7750", "--private"]
        self.rng = random.Random(seed)
        self.sections = list(constant_sections())
        at = symbols(os.path.join(FOLDER, ELF))
        self.plain = at["Fibonacci"], at["Fibonacci"] + 92 # its literal follows
        self.want = None
        self.lost_times = 0

    def start(self, *more, folder=FOLDER):
        p = subprocess.Popen(self.command + list(more), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return p, lines_of(p.stderr)

    def kill(self, how):
        """One that is killed, some time after it has begun or while it begins."""
        p, lines = self.start(*how)
        if self.rng.random() < 0.7:
            wait_for(lines, "profiling", DEADLINE_S)
            time.sleep(self.rng.uniform(0, 0.4))
        else:
            time.sleep(self.rng.uniform(0, 0.6))
        p.kill()
        p.wait()

    def kill_debugger(self):
        """Killed with breakpoints in the program, which runs."""
        p, lines = self.start("--no-load", "--no-profile", "--gdb", "0")
        g = Gdb(int(re.search(r":(\d+)", wait_for(lines, "target remote", DEADLINE_S)).group(1)))
        g.ask("?")
        for _ in range(4):
            g.ask(f"Z0,{self.rng.randrange(*self.plain, 2):x},2")
        g.send("vCont;c")
        time.sleep(self.rng.uniform(0, 0.1))
        p.kill()
        p.wait()

    def seen(self, *more, folder=FOLDER):
        """What the next attach finds: registers, and where code differs from the ELF's."""
        p, lines = self.start("--no-profile", "--gdb", "0", *more, folder=folder)
        try:
            g = Gdb(int(re.search(r":(\d+)", wait_for(lines, "target remote", DEADLINE_S)).group(1)))
            g.ask("qSupported:error-message+") # why, not only that
            g.ask("?")
            if (why := g.ask("g")).startswith("E"): # that it does not stand is told only there
                sys.exit(f"not halted: {why}")
            if self.want and self.lost(g):
                return None
            wrong = []
            for addr, want in self.sections:
                for o in range(0, len(want), 4096):
                    there = self.memory(g, addr + o, min(4096, len(want) - o))
                    wrong += [f"{addr + o + k:08x}: {there[k]:02x} instead of {want[o + k]:02x}" for k in range(len(there)) if there[k] != want[o + k]]
            regs = [g.ask(f"m{at:x},{n}") for at, n in REGISTERS] + [g.monitor("reg vbr")]
            g.ask("D")
            p.send_signal(signal.SIGINT)
            if p.wait(timeout=DEADLINE_S) != 0:
                sys.exit(f"the next attach ended with {p.returncode}")
        finally:
            p.kill()
            p.wait()
        return wrong, regs

    @staticmethod
    def memory(g, addr, length):
        answer = g.ask(f"m{addr:x},{length:x}")
        if answer.startswith("E"):
            sys.exit(f"{length} bytes at {addr:08x} are not read: {answer}")
        return bytes.fromhex(answer)

    @staticmethod
    def lost(g):
        """Halted in a handler, or reset since by an exception there."""
        return " BL" in g.monitor("reg sr") or "expevt=00000020" in g.monitor("reg expevt") or "=00000000" in g.monitor("reg vbr")

    def load_again(self, what):
        self.lost_times += 1
        if self.lost_times > LOST:
            sys.exit(f"a handler was halted {self.lost_times} times, now {what}")
        print(f"a handler was halted: {what}; loaded again", flush=True)
        self.want, want = None, self.want
        self.seen("--load")
        self.want = want

    def judge(self, what, *more, folder=FOLDER):
        found = self.seen(*more, folder=folder)
        if found is None:
            return self.load_again(what)
        wrong, regs = found
        if wrong or regs != self.want:
            sys.exit(f"wrong after {what}: {wrong[:10]}; {regs} instead of {self.want}")
        print(f"{what}: nothing is left", flush=True)

    def profile(self):
        if not self.profiled():
            self.load_again("while it was profiled")

    def profiled(self):
        p, lines = self.start("--no-load", "--gdb", "0", "--json", "--passes", "2", *POINTS)
        port, end = None, time.monotonic() + DEADLINE_S
        try:
            while p.poll() is None:
                try:
                    line = lines.get(timeout=LOOK_S)
                except queue.Empty:
                    if time.monotonic() > end:
                        sys.exit("no end of a profile")
                    g = Gdb(port)
                    g.ask("?")
                    if self.lost(g):
                        return False
                    g.ask("D")
                    continue
                if line is None:
                    p.wait(timeout=DEADLINE_S)
                elif m := re.search(r"remote :(\d+)", line):
                    port = int(m.group(1))
                elif "CPU was reset" in line:
                    return False
            if p.returncode or not json.load(p.stdout)["functions"]:
                sys.exit("not profiled again")
            return True
        finally:
            p.kill()
            p.wait()

    def run(self):
        self.seen("--load") # halted at its entry, then let go
        _, self.want = self.seen("--no-load")
        print("never traced:", self.want, flush=True)
        self.judge("nothing", "--no-load")
        for k in range(KILLS):
            how = RUNS[k % len(RUNS)]
            self.kill(["--no-load", "--gdb", "off"] + how)
            if k % 2:
                self.judge(f"killed with {how}, without an ELF", folder="/")
            else:
                self.judge(f"killed with {how}", "--no-load")
            self.profile()
        self.kill_debugger()
        self.judge("killed with breakpoints", "--no-load")
        self.profile()


def main():
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    print("seed", seed, flush=True)
    Case(sys.argv[1], sys.argv[2], seed).run()


main()
