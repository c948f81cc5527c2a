#!/usr/bin/env python3
"""A real GDB and a profile while the adapter is pulled, the board loses its power, or the adapter hangs: all of them go on.

usage, in the rig with --control: recover.py PROBEPROF PROBE TARGET [OPTION...]      OPTIONs go to probeprof, too
The rig's numbers are printed: how long after the return the board was back. They are not judged.
"""
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from rig_program import lines_of, tell, wait_for

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "examples")
RUNS = { # folder, options, a function that is called all the time, its caller
    "sh7750": ("profexam", ["--private", "--start", "main+8"], "InsertNode", "BuildList"),
    "s12zvml128": ("motor", [], "pi_step", None),
}
PROMPT = "(gdb) "
DEADLINE_S = 600 # of a machine that does many things at once


class Gdb:
    """gdb-multiarch, a command at a time."""
    def __init__(self, folder, elf, address):
        env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        self.p = subprocess.Popen(["gdb-multiarch", "-q", "-nx", elf], cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, bufsize=0)
        self.chunks, self.text = queue.Queue(), ""
        threading.Thread(target=self.read, daemon=True).start()
        self.until_prompt()
        for c in ("set confirm off", "set pagination off", "set remotetimeout 300", "target remote " + address):
            self.ask(c)

    def read(self):
        while chunk := self.p.stdout.read(4096):
            self.chunks.put(chunk.decode(errors="replace"))
        self.chunks.put(None)

    def until(self, what):
        return self.until_first(what)[0]

    def until_first(self, *choice):
        """What it said before the first of these, and which that was."""
        end = time.monotonic() + DEADLINE_S
        while True:
            at, what = min(((self.text.find(w), w) for w in choice if w in self.text), default=(-1, ""))
            if at >= 0:
                said, self.text = self.text[:at], self.text[at + len(what):]
                sys.stderr.write("gdb: " + said.replace("\n", "\ngdb: ") + "\n")
                return said, what
            try:
                chunk = self.chunks.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                chunk = None
            if chunk is None:
                sys.exit(f"GDB did not say {' or '.join(map(repr, choice))}: {self.text}")
            self.text += chunk

    def until_prompt(self):
        return self.until(PROMPT)

    def send(self, command):
        self.p.stdin.write((command + "\n").encode())

    def ask(self, command):
        self.send(command)
        return self.until_prompt()


class Case:
    def __init__(self, arguments):
        program, self.probe, self.target, *more = arguments
        self.folder, options, self.function, self.caller = RUNS[self.target]
        self.folder = os.path.join(EXAMPLES, self.folder)
        self.p = subprocess.Popen([os.path.abspath(program), "--probe", self.probe, "--target", self.target, "--gdb", "0", "--json"] + options + more,
                                  cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.lines = lines_of(self.p.stderr)
        self.address = re.search(r"target remote (\S+)", self.said("target remote")).group(1)
        self.said("profiling,")
        self.gaps = 0

    def said(self, text):
        return wait_for(self.lines, text, DEADLINE_S)

    def right(self, ok, what):
        if not ok:
            sys.exit("wrong: " + what)

    def away_and_back(self, event):
        """An event that has an end. Returns what the program said when the board was back."""
        self.gaps += 1
        if event == "hang":
            tell("strike hang 1")
            began = time.monotonic()
        else:
            tell("unplug" if event == "pull" else "power off")
        self.said("does not answer")
        if event != "hang":
            time.sleep(0.3)
            tell("plug" if event == "pull" else "power on")
            began = time.monotonic()
        back = self.said("the board is back")
        print(f"{self.probe}, {event}: back {time.monotonic() - began:.2f} s after {'it began' if event == 'hang' else 'the return'}", flush=True)
        return back

    def where(self, text):
        self.right(self.function in text, f"not stopped in {self.function}: {text}")
        if self.caller:
            backtrace = self.gdb.ask("bt 2")
            self.right(re.search(rf"#1 .* in {self.caller} \(\)", backtrace), backtrace)

    def while_it_runs(self, event):
        """GDB waits for a program that runs on: it is told, may interrupt, and sets breakpoints as ever."""
        end = time.monotonic() + DEADLINE_S
        while not self.was_running(event):
            self.right(time.monotonic() < end, "it never ran when the board was lost")

    def was_running(self, event):
        """False where the loss came before GDB had let the program go (a busy machine): GDB was told that, and has its prompt."""
        self.gdb.send("continue")
        self.gdb.until("Continuing.")
        time.sleep(0.3)
        back = self.away_and_back(event)
        said, met = self.gdb.until_first("The connection to the target is lost", PROMPT)
        waited = met != PROMPT
        self.right(waited or "emote failure reply" in said, "a stop while the board was away: " + said)
        if waited:
            self.gdb.until("The target is back.")
            if "loaded again" not in back:
                time.sleep(0.3)
                self.gdb.p.send_signal(signal.SIGINT)
            self.gdb.until_prompt()
        self.gdb.ask(f"tbreak {self.function}")
        self.where(self.stop())
        return waited

    def stop(self):
        said = self.gdb.ask("continue")
        return said if "reakpoint " in said else said + self.gdb.until_prompt() # an interrupt may come with a prompt of its own

    def while_it_is_halted(self, event):
        """GDB's program is halted at a breakpoint, and memory is looked at: the breakpoint is there afterwards."""
        self.gdb.ask(f"break {self.function}")
        self.where(self.stop())
        self.away_and_back(event)
        self.gdb.ask("p 1") # what was told meanwhile
        self.where(self.stop())
        self.where(self.stop())
        self.gdb.ask("delete")

    def while_one_thing_follows_another(self):
        """The adapter is back, but its board has no power: that is told, too, once."""
        self.gaps += 1
        tell("unplug")
        self.said("does not answer")
        tell("power off")
        tell("plug")
        self.said("still looking for the board")
        tell("power on")
        self.said("the board is back")
        self.gdb.ask("p 1")

    def end(self):
        self.gdb.ask("detach")
        self.gdb.send("quit")
        self.gdb.p.wait(DEADLINE_S)
        time.sleep(0.5)
        self.p.send_signal(signal.SIGINT)
        d = json.loads(self.p.stdout.read())
        ended = self.p.wait(timeout=DEADLINE_S)
        self.right(ended in (0, -signal.SIGINT), f"exit code {ended}") # the latter: all was shown, and it was on its way out by itself
        hits = {f["name"]: f["hits"] for f in d["functions"]}
        self.right(hits.get(self.function, 0) > 0, f"{hits}")
        self.right(d["coverage"]["gaps"] >= self.gaps, f"{self.gaps} gaps, {d['coverage']}")

    def run(self):
        try:
            self.gdb = Gdb(self.folder, os.path.basename(self.folder) + ".elf", self.address)
            for event in ("pull", "power"):
                self.while_it_runs(event)
                self.while_it_is_halted(event)
            self.while_it_is_halted("hang") # a running one's words have numbers: they are sent again, and nobody notices
            self.while_one_thing_follows_another()
            self.end()
        finally:
            self.p.kill()


def need_gdb():
    if not shutil.which("gdb-multiarch"):
        print("skipped: no gdb-multiarch")
        sys.exit(77)


if __name__ == "__main__":
    need_gdb()
    Case(sys.argv[1:]).run()
