#!/usr/bin/env python3
"""An adapter that is pulled again while it is got back, or while the trace is armed anew: GDB's program, which ran, runs on all the same.

usage, in the rig with --control: recover_again.py PROBEPROF PROBE TARGET [OPTION...]      OPTIONs go to probeprof, too
The second pull is at the first transfer after the return, then later and later until the return is over before.
"""
import os
import queue
import signal
import sys
import time

import motor
from recover import Case, DEADLINE_S, Gdb, PROMPT, need_gdb
from rig_program import tell

GROWTH, SETTLED_S = 1.6, 0.4


class Again(Case):
    def transfers(self):
        return int(tell("transfers").split()[-1])

    def until_settled(self, done):
        """Until the last that was said is that it is back, and nothing has been said since for a while; or done()."""
        back, since, end = False, time.monotonic(), time.monotonic() + DEADLINE_S
        while not done() and not (back and time.monotonic() > since + SETTLED_S):
            self.right(time.monotonic() < end, "not back for good")
            try:
                line = self.lines.get(timeout=0.02)
            except queue.Empty:
                continue
            self.right(line is not None, "it ended")
            back = "does not answer" not in line and (back or "the board is back" in line)
            since = time.monotonic()

    def pull_twice(self, n):
        tell("unplug")
        self.said("does not answer")
        at = self.transfers() + n
        tell(f"strike unplug {n}")
        tell("plug")
        self.until_settled(lambda: self.transfers() >= at)
        struck = int(tell("calm").split()[-1]) > 0 # on a busy machine it may come when all seemed settled
        if struck:
            time.sleep(0.3)
            tell("plug")
            self.until_settled(lambda: False)
        return struck

    def still_runs(self):
        """GDB, which waited all the time, was told of no stop until it asks for one. Where the pull came before its last resume (a busy machine), it was
        told that."""
        stop, said = self.gdb.interrupt()
        crossed = "resume: " in said and "unplugged" in said
        self.right(crossed or ("The target is back." in said and stop), said)
        self.gdb.go()
        if crossed:
            self.gdb.forget_interrupt()

    def run(self):
        try:
            self.gdb = self.connect()
            self.gdb.go()
            n, struck = 1, True
            while struck:
                time.sleep(0.2)
                struck = self.pull_twice(n)
                print(f"pulled again at transfer {n} of the return: {struck}", flush=True)
                self.still_runs()
                n = int(n * GROWTH) + 1
        finally:
            self.p.kill()

    def connect(self):
        if self.target == "sh7750":
            return WaitingGdb(self.folder, os.path.basename(self.folder) + ".elf", self.address)
        return WaitingClient(int(self.address.rpartition(":")[2]))


class WaitingGdb(Gdb):
    def __init__(self, folder, elf, address):
        super().__init__(folder, elf, address)
        self.ask("set debug remote 1")

    def go(self):
        """Until GDB has let the program go: before, while it still reads registers, a pull ends its command, and a Ctrl-C means what it does then; with the
        next it gives its target up. Where the board is away once more (a busy machine) it has its prompt instead, and is asked again."""
        end = time.monotonic() + DEADLINE_S
        self.send("continue")
        while True:
            said, met = self.until_first("Sending packet: $vCont;c", PROMPT)
            if met != PROMPT:
                return
            if "Quit" in said: # of a Ctrl-C before, which found GDB with its prompt
                continue
            if time.monotonic() > end:
                sys.exit("the program cannot be continued")
            time.sleep(0.2)
            self.send("continue")

    def interrupt(self):
        """Was the stop the interrupt's; and what was said before. None where its command has ended already."""
        while not self.chunks.empty():
            chunk = self.chunks.get()
            if chunk is None:
                sys.exit(f"GDB has ended: {self.text}")
            self.text += chunk
        if PROMPT not in self.text:
            self.p.send_signal(signal.SIGINT)
        said = self.until_prompt()
        return "SIGINT" in said and "SIGTRAP" not in said, said

    def forget_interrupt(self):
        """GDB itself took it: the program was halted."""


class WaitingClient(motor.Gdb): # Debian's GDB has no S12Z
    def __init__(self, port):
        super().__init__(port)
        self.ask("?")

    def go(self):
        self.send("vCont;c")

    def forget_interrupt(self):
        """One that met a halted program ends its next resume."""
        self.s.settimeout(2)
        try:
            motor.stop_of(self)
            self.go()
        except TimeoutError:
            pass
        self.s.settimeout(DEADLINE_S)

    def interrupt(self):
        self.s.sendall(b"\x03")
        stop, said = motor.stop_of(self)
        return stop.startswith("T02"), said + stop


if __name__ == "__main__":
    if sys.argv[3] == "sh7750":
        need_gdb()
    Again(sys.argv[1:]).run()
