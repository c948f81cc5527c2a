"""Drives a real GDB against a probeprof: what the tests of every GDB share.

A case is a list of GDB commands and of regular expressions that its output must match one after the other.
"""
import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DEADLINE = 600
PROBE = ["--probe", "sim:sh7750"]  # what every board is reached by, unless its options say otherwise


class Board:
    """One probeprof and its socket."""

    def __init__(self, probeprof, *options, profile=False, cwd=None):
        self.dir = tempfile.mkdtemp(prefix="gdbtest")
        self.socket = os.path.join(self.dir, "gdb")
        self.log = open(os.path.join(self.dir, "log"), "w")
        self.process = subprocess.Popen([probeprof, *PROBE, *(() if profile else ("--no-profile",)), "--gdb", self.socket, *options],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, cwd=cwd or self.dir)
        until = time.time() + DEADLINE
        while time.time() < until and self.process.poll() is None:
            if os.path.exists(self.socket):
                return
            time.sleep(0.05)
        raise RuntimeError("probeprof does not listen: " + self.text())

    def text(self):
        with open(self.log.name) as log: # of its own: a seek would move the place where probeprof writes
            return log.read()

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise RuntimeError("probeprof does not end on SIGTERM")
        finally:
            self.log.close()
            shutil.rmtree(self.dir)


class Gdb:
    """An interactive gdb on pipes."""

    def __init__(self, program, elf):
        self.start([program, "-q", "-nx", *([elf] if elf else [])])

    def start(self, words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0,
                                        preexec_fn=os.setpgrp)
        self.output = ""
        for line in ("set pagination off", "set confirm off", "set width 0", "set remotetimeout 300", "directory " + HERE):
            self.command(line)

    def send(self, line):
        self.process.stdin.write(line.encode() + b"\n")

    def wait(self, pattern, deadline=DEADLINE):
        """Reads until pattern appears in what came since the last wait; returns the text up to its end."""
        until = time.time() + deadline
        while True:
            match = re.search(pattern, self.output)
            if match:
                text, self.output = self.output[:match.end()], self.output[match.end():]
                return text
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, until - time.time()))
            data = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not data:
                raise RuntimeError("no %r in: %s" % (pattern, self.output[-2000:]))
            self.output += data.decode(errors="replace")

    def command(self, line):
        """Its whole output; a marker that GDB echoes tells the end."""
        self.send(line)
        self.send("echo \\n<<done>>\\n")
        return self.wait(r"\n<<done>>\n")

    def interrupt(self):
        os.kill(self.process.pid, signal.SIGINT)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


@contextlib.contextmanager
def session(probeprof, *options, gdb, profile=False, cwd=None):
    """A probeprof and a GDB that gdb() starts, not connected yet."""
    with contextlib.closing(Board(probeprof, *options, profile=profile, cwd=cwd)) as board, contextlib.closing(gdb()) as one:
        yield board, one


def in_order(text, patterns):
    at = 0
    for pattern in patterns:
        match = re.compile(pattern).search(text, at)
        if not match:
            return pattern
        at = match.end()
    return None


def scripted(opened, commands, patterns):
    with opened as (board, gdb):
        text = gdb.command("target remote " + board.socket)
        for line in commands:
            text += "(gdb) %s\n" % line + gdb.command(line.replace("@", board.socket))
        missing = in_order(text, patterns)
        if missing:
            raise RuntimeError("no %r, in this order, in:\n%s\n%s" % (missing, text, board.text()))


def evaluated_alike(probeprof, gdb, begin, place, end, expressions, options=()):
    """Each expression has the same value in a dprintf of the bridge's and in one of GDB's, and as a condition; GDB hears of no stop for the former.

    begin: commands that bring the program before `place`; it comes to `end` behind it
    """
    def values(style):
        with session(probeprof, *options, gdb=gdb) as (board, one):
            for line in ["target remote " + board.socket, *begin, "set dprintf-style " + style]:
                one.command(line)
            for i, (text, conversion) in enumerate(expressions):
                answer = one.command('dprintf %s,"<%d:%s>\\n",%s' % (place, i, conversion, text))
                if "Dprintf" not in answer:
                    raise RuntimeError("%s: %s" % (text, answer))
            one.command("break " + end)
            one.command("set debug remote 1")
            out = one.command("continue")
            sent = len(re.findall(r"Sending packet: \$(?:vCont;c|c#)", out))
            found = dict(re.findall(r"<(\d+):(.*?)>\n", re.sub(r"\[remote\].*\n", "", out)))
            return [found.get(str(i)) for i in range(len(expressions))], sent, out

    (ours, resumes, log), (theirs, _, _) = values("agent"), values("gdb")
    for (text, _), a, b in zip(expressions, ours, theirs):
        if a is None or a != b:
            raise RuntimeError("%s is %s here, %s in GDB\n%s" % (text, a, b, log))
    if resumes != 1:
        raise RuntimeError("GDB resumed %d times:\n%s" % (resumes, log))
    with session(probeprof, *options, gdb=gdb) as (board, one):
        for line in ["target remote " + board.socket, *begin, "break " + end]:
            one.command(line)
        wanted = []
        for (text, conversion), value in zip(expressions, theirs):
            if conversion == "%ld":
                one.command("break %s if (%s) != %s" % (place, text, value))  # never
                wanted.append("(%s) == %s" % (text, value))
        out = one.command("continue")
        if "Breakpoint" not in out or place.lstrip("*") in out.splitlines()[-3:]:
            raise RuntimeError("a condition is true: " + out)


def set_while_running(opened, begin, place, elsewhere):
    """A breakpoint that is set while the program runs is met; one where it does not come can be set and deleted, and it runs on."""
    with opened as (board, gdb):
        for line in ["set non-stop on", "target remote " + board.socket]:
            gdb.command(line)
        gdb.send("interrupt")
        gdb.wait("stopped|SIGINT|signal 0")
        for line in [*begin, "delete", "continue &"]:
            gdb.command(line)
        for _ in range(2):
            gdb.send("break " + place)
            text = gdb.wait(r"hit Breakpoint \d+|Breakpoint \d+, |rror|annot|failed")
            if ", " not in text and "hit" not in text:
                raise RuntimeError(text)
            for line in "delete", "continue &", "break " + elsewhere, "delete":
                gdb.command(line)
            if "(running)" not in gdb.command("info threads"):
                raise RuntimeError("it does not run on: " + gdb.command("info threads"))


def many_breakpoints(opened, begin, first, size, nop, pc):
    """600 instructions that do nothing, each with a breakpoint: every one of those looked at is met, and memory does not show them."""
    with opened as (board, gdb):
        for line in ["target remote " + board.socket, *begin, "delete", "set $i = 0", "set var %s = %#x" % (pc, first)]:
            gdb.command(line)
        for line in ("while $i < 600", "set var *(%s)(%#x + %d * $i) = %d" % ({1: "char *", 2: "short *"}[size], first, size, nop), "set $i = $i + 1", "end",
                     "set $i = 1", "while $i < 600", "break *(%#x + %d * $i)" % (first, size), "set $i = $i + 1", "end"):
            gdb.send(line)
        text = gdb.command("continue") + gdb.command("continue") + gdb.command("set var %s = %#x" % (pc, first + 598 * size)) + gdb.command("continue")
        for i in (1, 2, 598):
            if not re.search(r"Breakpoint \d+, 0x0*%x " % (first + i * size), text):
                raise RuntimeError("not met: %d\n%s" % (i, text[-2000:]))
        shown = gdb.command("x/1%sx %#x" % ({1: "b", 2: "h"}[size], first + 300 * size))
        if not re.search(r":\s+0x0*%x\b" % nop, shown):
            raise RuntimeError(shown)


def interrupt_thrice(gdb, counter):
    """Continues and stops by Ctrl-C three times; the program's counter, an expression, grows between.

    On a busy machine a short run may not come round once: it is then given twice the time."""
    before = -1
    for _ in range(3):
        run_seconds, until = 0.3, time.time() + DEADLINE
        while True:
            gdb.send("continue")
            gdb.wait("Continuing")
            time.sleep(run_seconds)
            gdb.interrupt()
            gdb.wait("SIGINT")
            now = int(re.search(r"= (\d+)", gdb.command("print " + counter)).group(1))
            if now > before:
                break
            if now < before or time.time() > until:
                raise RuntimeError("the program does not go on: %d, then %d" % (before, now))
            run_seconds *= 2
        before = now


def expect(text, patterns):
    missing = in_order(text, patterns)
    if missing:
        raise RuntimeError("no %r, in this order, in:\n%s" % (missing, text))


def profiled(probeprof, opened, commands, patterns):
    """As scripted(), of a probeprof that records to `recording` in its folder; returns the finished profile, as JSON has it."""
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "recording")
        with opened(recording) as (board, gdb):
            text = ""
            for line in commands:
                text += "(gdb) %s\n" % line + gdb.command(line.replace("@", board.socket))
            missing = in_order(text, patterns)
            if missing:
                raise RuntimeError("no %r, in this order, in:\n%s\n%s" % (missing, text, board.text()))
        r = subprocess.run([probeprof, "report", recording, "--json"], stdout=subprocess.PIPE, check=True)
        return json.loads(r.stdout)


def check_resets(document, calls, resets):
    """A profile of a board that was reset so often (a range): counts are of the program's, and not of the counters' range.

    GDB's run is a kill and a start: two resets where the trace was armed again between them, as it is after a tenth of a second, else one.
    """
    hits = {f["name"]: f["hits"] for f in document["functions"]}
    for name, least in calls.items():
        if hits.get(name, 0) < least:
            raise RuntimeError("%s was called %d times, and at least %d" % (name, hits.get(name, 0), least))
    if document["totals"]["c1"] > 1 << 40:
        raise RuntimeError("C1 has %d in all" % document["totals"]["c1"])
    cover = document["coverage"]
    if cover["lost"] or cover["gaps"] or cover["resets"] not in resets:
        raise RuntimeError("coverage: %r" % cover)


def run_cases(cases, wanted):
    """Rows of name and function; wanted: names, all if empty. Returns the exit code."""
    failed = 0
    for name, run in cases:
        if wanted and name not in wanted:
            continue
        start = time.time()
        try:
            run()
            print("ok   %s (%.1f s)" % (name, time.time() - start))
        except RuntimeError as why:
            failed += 1
            print("FAIL %s: %s" % (name, why))
        sys.stdout.flush()
    return 1 if failed else 0
