#!/usr/bin/env python3
"""Many Ctrl-C: a program is let go and interrupted N times at random moments, in GDB's protocol. Every one has to stop it with SIGINT; what a stop has cost the
program the bridge says, and it is counted here. irqdemo's own counters are compared at the end: a handler that was left without its SPC
and SSR, or entered twice, shows there.

usage: interrupts.py PROBEPROF SOURCE_DIR [N [EXAMPLE ADAPTER [BREAKPOINT [MODE]]]]
       default 2000 irqdemo sim:sh7750; BREAKPOINT: a hexadecimal address that is never reached, set for all of it, or "none"; MODE: what is
       written to irqdemo's Mode before it runs (3: both of its timers)
"""
import collections
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time


class Bridge:
    def __init__(self, probeprof, elf, probe, folder):
        where = os.path.join(folder, "gdb")
        self.process = subprocess.Popen([probeprof, "--no-profile", "--conf", "off", "--elf", elf, "--load", "--gdb", where, "--http", "off", "--probe", probe],
                                        stderr=subprocess.DEVNULL)
        self.socket, self.bytes, self.said = socket.socket(socket.AF_UNIX), b"", collections.Counter()
        while True:
            try:
                self.socket.connect(where)
                break
            except OSError:
                time.sleep(0.05)
        self.socket.settimeout(60)

    def send(self, text):
        self.socket.sendall(b"$" + text + b"#%02x" % (sum(text) % 256))

    def packet(self):
        while not (m := re.search(rb"\$([^#]*)#..", self.bytes)):
            got = self.socket.recv(65536)
            if not got:
                raise SystemExit("the bridge has ended")
            self.bytes += got
        self.bytes = self.bytes[m.end():]
        self.socket.sendall(b"+")
        return m.group(1).decode()

    def stop(self):
        while (p := self.packet())[0] == "O":
            self.said[bytes.fromhex(p[1:]).decode().strip()] += 1
        return p


def symbols(elf):
    """Addresses of variables, by name."""
    listing = subprocess.run(["readelf", "-sW", elf], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listing.splitlines()]
    return {row[7]: int(row[1], 16) for row in rows if len(row) == 8 and row[3] == "OBJECT"}


def check_counters(b, where):
    """irqdemo's counters, where it stands now: each may be one ahead of those that follow it."""
    def value(name):
        b.send(b"m%x,4" % where[name])
        return int.from_bytes(bytes.fromhex(b.packet()), "little")

    ticks, rounds = value("Ticks") + value("StormTicks"), value("Rounds")
    pairs = [("interrupts", value("BlockedTicks"), ticks)]
    pairs += [(name, value(name), rounds) for name in ("Caught", "Switches", "BlockedCalls")]
    wrong = [f"{name} {n}, expected {m} or {m + 1}" for name, n, m in pairs if n not in (m, m + 1)]
    print(f"{rounds} rounds, {ticks} interrupts: " + ("; ".join(wrong) if wrong else "its counters agree"))
    return bool(wrong) or not rounds or not ticks


def main():
    probeprof, source = map(os.path.abspath, sys.argv[1:3])
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
    example, probe = sys.argv[4:6] if len(sys.argv) > 5 else ("irqdemo", "sim:sh7750")
    elf = os.path.join(source, "docs/examples", example, example + ".elf")
    moments, stops = random.Random(1), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        b = Bridge(probeprof, elf, probe, folder)
        b.send(b"?")
        b.stop()
        if len(sys.argv) > 6 and sys.argv[6] != "none":
            b.send(b"Z0,%s,2" % sys.argv[6].encode())
            b.packet()
        if len(sys.argv) > 7:
            b.send(b"M%x,4:%s" % (symbols(elf)["Mode"], int(sys.argv[7]).to_bytes(4, "little").hex().encode()))
            b.packet()
        for _ in range(n):
            b.send(b"c")
            time.sleep(moments.random() * 0.004)
            b.socket.sendall(b"\x03")
            stops[b.stop()[:3]] += 1
        bad = example == "irqdemo" and check_counters(b, symbols(elf))
        b.process.terminate()
        b.process.wait()
    print(f"{n} Ctrl-C: " + ", ".join(f"{count} stops {kind}" for kind, count in stops.items()))
    for text, count in b.said.items():
        print(f"{count:6} times: {text}")
    sys.exit(1 if bad or b.said or set(stops) != {"T02"} else 0)


main()
