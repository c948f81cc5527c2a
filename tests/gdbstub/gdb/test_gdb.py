#!/usr/bin/env python3
"""Real gdb-multiarch over probeprof's whole stack on the simulated SH7750.

usage: test_gdb.py PROBEPROF [--by "OPTIONS OF THE PROBE"] [CASE...]     exit 0 all passed, 1 a failure, 77 gdb-multiarch is missing
"""
import functools
import os
import re
import shutil
import sys
import tempfile
import time

import gdb_session
from gdb_session import Board, check_resets, expect, profiled, in_order, interrupt_thrice, run_cases, scripted

HERE = os.path.dirname(os.path.abspath(__file__))
ELF = os.path.join(HERE, "calls.elf")
PROFEXAM = os.path.join(HERE, "../../../docs/examples/profexam/profexam.elf")
RTOS = os.path.join(HERE, "rtos.elf")
THREADS = os.path.join(HERE, "../../kos/threads_debug.elf")
IRQDEMO = os.path.join(HERE, "../../../docs/examples/irqdemo/irqdemo.elf")

CASES = [
    ("load and compare", ["info registers pc", "load", "compare-sections", "print/x $pc"],
     [r"pc +0x[0-9a-f]+", r"Section \.text, .*: matched", r"= 0xc010000"]),
    ("break, arguments, backtrace", ["load", "break add", "continue", "info args", "bt", "finish"],
     [r"Breakpoint 1, add \(a=2, b=3\)", r"a = 2", r"b = 3", r"#0 +add", r"#1 +.* main", r"Value returned is .* = 5"]),
    ("recursion", ["load", "break factorial if n == 1", "continue", "bt", "delete", "finish", "up", "info frame"],
     [r"factorial \(n=1\)", r"#4 .*factorial \(n=5\)", r"#5 .* main", r"Value returned is .* = 1"]),
    ("next steps over calls", ["load", "break main", "continue", "next", "next", "print first", "print second"],
     [r"Breakpoint 1, main", r"factorial", r"slots", r"= 5", r"= 120"]),
    ("step enters a call", ["load", "break main", "continue", "step", "step", "step"],
     [r"Breakpoint 1, main", r"add \(a=2, b=3\)", r"return sum"]),
    ("delay slots one by one",
     ["load", "break *slots", "continue", "stepi", "print (char*)$pc - (char*)slots", "stepi", "print (char*)$pc - (char*)slots",
      "print $r0", "stepi", "stepi", "print (char*)$pc - (char*)slots", "print $r0", "stepi", "print $r0", "info symbol $pc"],
     [r"slots \(\)", r"= 2\b", r"= 8\b", r"= 3\b", r"= 16\b", r"= 7\b", r"= 15\b", r"main \+"]),
    ("watch", ["load", "break main", "continue", "watch counter", "continue", "continue", "delete", "rwatch place", "info breakpoints"],
     [r"[Hh]ardware watchpoint 2: counter", r"Old value = 0\s+New value = 1", r"Old value = 1\s+New value = 2", r"bump"]),
    ("awatch and hbreak", ["load", "hbreak bump", "continue", "awatch counter", "continue", "print counter"],
     [r"[Hh]ardware assisted breakpoint 1", r"bump \(\)", r"Value = 0", r"= 0"]),
    ("watchpoints: their number told to GDB", ["set remote hardware-watchpoint-limit 2", "load", "break main", "continue", "watch counter", "watch asked", "watch place.x"],
     [r"Hardware watchpoint 2: counter", r"Hardware watchpoint 3: asked", r"\) Watchpoint 4: place\.x"]),
    ("watchpoints: kinds, conditions, more than channels",
     ["load", "break main", "continue", "set var first = 0", "watch counter if counter == 2", "watch place", "watch text", "watch first", "rwatch asked", "continue",
      "continue", "continue", "continue", "delete 2", "continue", "info breakpoints"],
     [r"watchpoint 5: first\s+Old value = 0\s+New value = 5", r"watchpoint 2: counter\s+Old value = 1\s+New value = 2\s+bump",
      r"read watchpoint 6: asked\s+Value = 0\s+main", r"read watchpoint 6: asked\s+Value = 0\s+main", r"watchpoint 3: place",
      r"Old value = \{x = 3, y = 4\}\s+New value = \{x = 1\d\d, y = 4\}", r"read watchpoint +keep y +asked\s+breakpoint already hit 2 times"]),
    ("a watched local goes out of scope", ["load", "break add", "continue", "watch sum", "continue", "continue", "info breakpoints"],
     [r"Hardware watchpoint 2: sum", r"New value = 5", r"Watchpoint 2 deleted because", r"main \(\)"]),
    ("watch while stepping", ["load", "break main", "continue", "set var first = 0", "watch counter", "watch first", "next", "next", "next", "next", "next", "next"],
     [r"watchpoint 3: first\s+Old value = 0\s+New value = 5", r"watchpoint 2: counter\s+Old value = 0\s+New value = 1", r"bump"]),
    ("a watchpoint too many, and why", ["load", "hbreak bump", "hbreak factorial", "watch counter", "continue", "monitor version", "delete 2", "continue", "continue",
                                        "continue"],
     [r"Could not insert hardware watchpoint 3", r"hardware breakpoints have both channels", r"delete a hardware breakpoint", r"probeprof",
      r"Breakpoint 1, bump", r"watchpoint 3: counter\s+Old value = 0\s+New value = 1", r"Breakpoint 1, bump"]),
    ("watchpoints across connections", ["load", "break main", "continue", "watch text", "watch counter", "continue", "disconnect", "target remote @", "continue",
                                        "delete"],
     [r"Old value = 0\s+New value = 1", r"Ending remote debugging", r"Old value = 1\s+New value = 2"]),
    ("words of other servers", ["monitor go", "monitor mdw 0", "monitor speed 4000", "monitor reset init"],
     [r"no monitor command go", r"continue", r"x/1xw ADDRESS", r"--speed", r"was reset and is halted"]),
    ("calling functions", ["load", "break main", "continue", "print add(20, 22)", "print factorial(6)", "print scale(3.0f)",
                           "print sum_point(place)", "print $r0", "next", "print first"],
     [r"= 42", r"= 720", r"= 1\.5", r"= 7\b", r"= 5\b"]),
    ("return", ["load", "break add", "continue", "set confirm off", "return 77", "next", "print first"],
     [r"add \(a=2, b=3\)", r"= 77"]),
    ("registers and memory", ["load", "break main", "continue", "set var $r8 = 0x12345678", "print/x $r8", "print $fr0", "set var $fr3 = 1.25",
                              "print $fr3", "print text", "set var text = \"changed by gdb!\"", "print text", "x/2i $pc", "print place",
                              "find /b &text, +16, 'g', 'd', 'b'"],
     [r"= 0x12345678", r"= ", r"= 1\.25", r"unchanged", r"changed by gdb!", r"=> 0x", r"\{x = 3, y = 4\}", r"1 pattern found"]),
    ("exit status", ["load", "break main", "continue", "set var asked = 2", "continue"], [r"exited with code 053"]),
    ("tbreak, until, advance", ["load", "tbreak main", "continue", "advance slots", "finish", "until", "until"],
     [r"Temporary breakpoint 1, main", r"slots \(\)", r"main \(\)", r"bump"]),
    ("monitor words that fail: the sentence and nothing else",
     ["echo one\\n", "monitor nosuch", "echo two\\n", "monitor reset sideways", "echo three\\n",
      "python print('caught ' + repr(gdb.execute('monitor reg nosuch', to_string=True)))", "monitor catch nothing", "echo four\\n"],
     [r"\(gdb\) Error: no monitor command nosuch\n  monitor help lists them\n\(gdb\) \n<<done>>",
      r"Error: reset: sideways is neither halt nor run\n  reset \[halt\|run\]\n", r"caught 'Error: no register \"nosuch\"\\n  reg without",
      r"Error: catch: no class \"nothing\"\n  none all"]),
    ("registers that GDB has no name for, and the other bank",
     ["load", "break main", "continue", "delete", "set var $at = 0x0c200000", "set {short[5]}$at = {0x01b2, 0x02c2, 9, 9, 9}", "set $pc = $at",
      "monitor reg dbr", "monitor reg dbr 0x8c001234", "print/x $sr >> 29 & 1", "monitor reg r3_bank 0x11223344", "monitor reg r4_bank 0x55667788",
      "maintenance flush register-cache", "print/x $r3b1", "set var $r4b1 = 0x99", "monitor reg r4_bank", "stepi", "stepi", "print/x $r1", "print/x $r2",
      "monitor reg sgr 1", "monitor help"],
     [r"dbr=0{8}", r"dbr=8c001234", r"= 0x0\n", r"r3_bank=11223344", r"= 0x11223344", r"r4_bank=00000099", r"= 0x11223344", r"= 0x99\n",
      r"Error: SGR cannot be written", r"reg \[NAME\.\.\.\|NAME VALUE\|PERIPHERAL"]),
    ("monitor", ["monitor version", "monitor help", "monitor reg SR", "monitor perf", "monitor nosuch"],
     [r"probeprof", r"reset \[halt\|run\]", r"SR", r"no monitor command"]),
    ("reset, load, run", ["monitor reset run", "monitor reset halt", "maintenance flush register-cache", "print/x $pc"], [r"= 0xa0000000"]),
    ("breakpoints while SR.BL is set",
     ["monitor reset halt", "maintenance flush register-cache", "load", "print/x $sr & 0x10000000", "break main", "continue", "print/x $sr & 0x10000000",
      "set var $sr = $sr | 0x10000000", "break add", "break bump", "continue", "bt", "print/x $sr & 0x10000000", "next", "finish", "continue", "bt",
      "delete", "set var asked = 2", "break _exit", "continue", "continue", "continue", "monitor reset halt", "maintenance flush register-cache", "load",
      "break main", "continue"],
     [r"= 0x10000000", r"Breakpoint 1, main", r"= 0x0", r"add \(a=2, b=3\)", r"#1 +.* main", r"= 0x10000000", r"return sum",
      r"Value returned is .* = 5", r"bump \(\)", r"main \(\)", r"_exit", r"resets the CPU", r"SIGILL", r"has reset itself", r"SIGTRAP", r"main \(\)"]),
    ("a program with vectors of its own, without --elf",
     ["file " + IRQDEMO, "load", "break main", "continue", "break Tick", "break Round", "continue", "continue", "continue", "bt", "print Ticks",
      "print/x $vbr", "print &vectors", "delete", "break BlockedTick", "continue", "print/x $pc >> 16"],
     [r"Breakpoint 1, .*main", r"Breakpoint [23], ", r"Breakpoint [23], ", r"Breakpoint [23], ", r"#0 ", r"= \d+", r"= 0x[8a]?c010", r"vectors",
      r"the CPU has reset itself", r"= 0x(ffff)?a000"]),
    ("range stepping", ["load", "break main", "continue", "set debug remote 1", "next", "set debug remote 0"], [r"vCont;r", r"factorial"]),
    ("crash", ["load", "monitor catch all", "break main", "continue", "set var $r15 = 1", "continue", "x/i $pc"],
     [r"address error on write", r"received signal SIGBUS", r"=> 0x"]),
    ("detach lets it run, reattach halts it",
     ["load", "break main", "continue", "delete", "set var asked = 1", "detach", "shell sleep 2", "target remote @", "bt", "print counter > 100"],
     [r"detached", r"spin|bump", r"= 1\b"]),
    ("attach to a handler that loops with BL=1",
     ["monitor reset halt", "maintenance flush register-cache", "set {short}0x8c020000 = 0xaffe", "set {short}0x8c020002 = 9",
      "set $pc = 0x8c020000", "set $sr = 0x700000f0", "detach", "target remote @", "print/x $pc", "print/x $sr"],
     [r"detached", r"0x8c020000 in", r"= 0x8c020000", r"= 0x700000f0"]),
    ("kill and again", ["load", "kill", "target remote @", "load", "break main", "continue"], [r"Breakpoint 1, main"]),
    ("memory map", ["info mem"], [r"Using memory regions provided by the target", r"0x00000000 0x00200000 ro", r"0x00200000 0x80000000 rw"]),
    ("find over more than a packet", ["load", "set var $at = 0x0c200000", "set {int}0x0c23fffe = 0x12345678", "find /w1 0x0c200002, +0x40000, 0x12345678",
                                      "find /w1 0x0c200002, +0x3fffc, 0x12345678"],
     [r"0xc23fffe", r"1 pattern found", r"Pattern not found"]),
    ("next, and who controls", ["set confirm off", "load", "break main", "continue", "next", "monitor sessions"], [r"Breakpoint 1, main", r"controls, this one"]),
]


Gdb = functools.partial(gdb_session.Gdb, "gdb-multiarch", ELF)


def session(probeprof, *options, **more):
    return gdb_session.session(probeprof, *options, gdb=Gdb, **more)


def ctrl_c(probeprof):
    """A program that loops stops at Ctrl-C, where it is, and goes on."""
    with session(probeprof) as (board, gdb):
        for line in ("target remote " + board.socket, "load", "break main", "continue", "set var asked = 1", "delete"):
            gdb.command(line)
        interrupt_thrice(gdb, "counter")


def read_while_running(probeprof):
    """Memory, counters and variables of a program that runs on."""
    with session(probeprof) as (board, gdb):
        gdb.command("set non-stop on")
        gdb.command("target remote " + board.socket)
        gdb.send("interrupt")
        gdb.wait("stopped")
        for line in ("load", "monitor perf arm elapsed-time", "break main", "continue", "set var asked = 1", "delete", "continue &"):
            gdb.command(line)
        counts = [int(re.search(r"= (\d+)", gdb.command("print counter")).group(1)) for _ in range(5)]
        perf = [int(re.search(r"program runs: (\d+)", gdb.command("monitor perf")).group(1)) for _ in range(2)]
        if not 0 < counts[1] < counts[3] < counts[4] or not perf[0] < perf[1]:
            raise RuntimeError("the program does not run on: %r %r" % (counts, perf))
        gdb.command("set var asked = 7")
        text = gdb.command("print asked") + gdb.command("monitor reg TCNT0") + gdb.command("info threads")
        missing = in_order(text, [r"= 7", r"TCNT0", r"running"])
        if missing:
            raise RuntimeError("no %r, in this order, in:\n%s" % (missing, text))
        gdb.send("interrupt")
        gdb.wait("stopped|SIGINT|signal 0")


def extended(probeprof):
    """run starts the program anew, as often as wanted."""
    with session(probeprof, "--elf", ELF) as (board, gdb):
        text = ""
        for line in ("target extended-remote " + board.socket, "load", "break main", "run", "next", "print first", "run", "kill", "info threads",
                     "run", "next", "print first", "set var asked = 2", "delete", "continue", "info threads", "break factorial", "run", "bt"):
            text += gdb.command(line)
        expect(text, [r"Breakpoint 1, main", r"= 5\b", r"Breakpoint 1, main", r"killed", r"No threads", r"Breakpoint 1, main", r"= 5\b",
                      r"exited with code 053", r"No threads", r"factorial \(n=5\)", r"main"])


def non_stop(probeprof):
    """GDB's non-stop mode: a program that runs in the background, is interrupted, stepped and let go again."""
    with session(probeprof) as (board, gdb):
        text = "".join(gdb.command(line) for line in ("set non-stop on", "target extended-remote " + board.socket, "info threads"))
        expect(text, [r"\(running\)"])  # it is not disturbed
        expect(gdb.command("load") + gdb.command("monitor version"), [r"Load failed|annot access memory", r"the program runs: \d+ bytes at once are a load"])
        gdb.send("interrupt")
        gdb.wait(r"stopped|SIGINT")
        text = "".join(gdb.command(line) for line in ("load", "break main", "continue", "set var asked = 1",
                                                       "delete", "continue &", "info threads"))
        expect(text, [r"Breakpoint 1, main", r"\(running\)"])
        gdb.send("interrupt")
        gdb.wait(r"Thread 1 stopped|stopped|SIGINT")
        until = time.time() + gdb_session.DEADLINE
        while "= 0" in gdb.command("print counter") and time.time() < until:  # a busy machine has not come round yet
            gdb.command("continue &")
            gdb.send("interrupt")
            gdb.wait(r"stopped|SIGINT")
        text = "".join(gdb.command(line) for line in (
            "info threads", "print counter > 0", "break bump", "continue", "stepi", "next", "delete", "continue &", "info threads"))
        expect(text, [r"\* 1 +Thread", r"= 1\b", r"Breakpoint 2, bump", r"\(running\)"])
        gdb.send("interrupt -a")
        gdb.wait(r"stopped|SIGINT")
        expect(gdb.command("bt") + gdb.command("detach"), [r"#0", r"detached"])


def file_io(probeprof):
    """The program's open, write and close are done by GDB when it is told to allow that, else refused."""
    board, gdb = Board(probeprof), Gdb()
    path = os.path.join(board.dir, "out.txt")
    code, name = 0x0C200000, 0x0C200100

    def call(number, *args):
        for i, value in enumerate((number,) + args):
            gdb.command("set var $r%d = %d" % (4 + i, value))
        gdb.command("set var $pc = %#x" % code)
        gdb.command("continue")
        return int(re.search(r"= (-?\d+)", gdb.command("print (int)$r0")).group(1))

    try:
        for line in ("target remote " + board.socket, "load", "break main", "continue", "delete",
                     "set {short[2]}%#x = {(short)0xc322, 9}" % code, "set {char[%d]}%#x = \"%s\"" % (len(path) + 1, name, path),
                     "break *%#x" % (code + 2)):
            gdb.command(line)
        if call(5, name, 0x601, 0o644) != -1 or os.path.exists(path):
            raise RuntimeError("files can be opened without having been allowed")
        gdb.command("monitor fileio on")
        fd = call(5, name, 0x601, 0o644)
        if fd < 3 or call(4, fd, name, len(path)) != len(path) or call(6, fd) != 0:
            raise RuntimeError("open, write, close failed (descriptor %d)" % fd)
        with open(path) as written:
            if written.read() != path:
                raise RuntimeError("the file holds something else")
        gdb.command("monitor fileio off")
        if call(10, name, 0) != -1 or not os.path.exists(path):
            raise RuntimeError("the file could be removed after `monitor fileio off`")
    finally:
        gdb.close()
        board.close()


def names_the_program(probeprof):
    """A GDB without a file finds the one of --elf, whatever folder either was started in; one that has a file keeps it."""
    alone = functools.partial(gdb_session.Gdb, "gdb-multiarch", None)
    with tempfile.TemporaryDirectory() as folder:
        other = os.path.join(folder, "an other.elf")
        shutil.copy(ELF, other)
        for sysroot in None, "set sysroot target:", "set sysroot":
            with gdb_session.session(probeprof, "--elf", os.path.relpath(other), gdb=alone, cwd=os.getcwd()) as (board, gdb):
                text = "".join(gdb.command(line) for line in ([sysroot] if sysroot else []) + [
                    "show sysroot", "target remote " + board.socket, "load", "break add", "continue", "info inferiors", "bt"])
                expect(text, [r"Loading section \.text", r"Breakpoint 1, add \(a=2, b=3\)", re.escape(os.path.realpath(other)), r"#1 +.* main"])
                text = text.replace("warning: remote target does not support file transfer", "", 0 if sysroot == "set sysroot" else 1)
                if re.search(r"warning|determining executable", text):
                    raise RuntimeError(text)
        with session(probeprof, "--elf", other) as (board, gdb):
            text = gdb.command("target remote " + board.socket) + gdb.command("info inferiors")
            if other in text or ELF not in text:
                raise RuntimeError(text)
    with gdb_session.session(probeprof, gdb=alone) as (board, gdb):
        expect(gdb.command("target remote " + board.socket), [r"No executable has been specified"])


def threads(probeprof):
    """Tasks as FreeRTOS has them: all are listed, the one that runs is current; of the others no register is known."""
    with gdb_session.session(probeprof, "--elf", RTOS, gdb=functools.partial(gdb_session.Gdb, "gdb-multiarch", RTOS)) as (board, gdb):
        text = "".join("(gdb) %s\n" % line + gdb.command(line) for line in (
            "target remote " + board.socket, "load", "break create", "continue", "info threads", "delete", "break take_out", "continue", "info threads",
            "delete", "break listen", "continue", "info threads", "next", "break blink thread 3", "tbreak blink", "continue", "info threads", "thread 4", "print $r8",
            "print $pc", "set var $r8 = 1", "thread 2", "print round", "monitor reset halt", "maintenance flush register-cache", "info threads"))
        expect(text, [r"\* 1 +Thread 1 \(sh7750, halted\) create", r"Thread 1 \"IDLE\" hit", r"\* 1 +Thread 1 \"IDLE\" \(running\) +take_out",
                      r"  2 +Thread 2 \"blink\" \(ready, registers: port not known\) +<unavailable>", r'  3 +Thread 3 "net <&> "x"" \(ready, registers: port not known\)', r"  4 +Thread 4 \(ready, registers: port not known\)",
                      r"Thread 3 .* hit Breakpoint 3, listen", r"  1 +Thread 1 \"IDLE\" \(ready, registers: port not known\)", r"\* 3 +Thread 3 .*\(running\) +listen",
                      r"  4 +Thread 4 \(suspended, registers: port not known\)", r"Thread 2 \"blink\" hit Temporary breakpoint 5, blink", r"\* 2 +Thread 2 \"blink\" \(running\) +blink",
                      r"  3 +Thread 3 .*\(delayed, registers: port not known\)", r"= <unavailable>", r"= <unavailable>", r"not available|could not be written|[Ee]rror|E01", r"Switching to thread 2", r"= 2\n",
                      r"1 +Thread 1 \(sh7750, halted\)"])


def saved_threads(probeprof):
    """Threads as KallistiOS has them, which a timer switches: each shows what it does, and registers only where they are known."""
    with gdb_session.session(probeprof, "--elf", THREADS, gdb=functools.partial(gdb_session.Gdb, "gdb-multiarch", THREADS)) as (board, gdb):
        for line in "target remote " + board.socket, "load", "tbreak step", "continue", "tbreak thd_pass", "continue":
            gdb.command(line)
        text = gdb.command("info threads")
        for name in r"\[kernel\]", r"\[idle\]", r"\[reaper\]", "worker 0", "sound", "worker 2":
            if not re.search('Thread \\d+ "%s" \\((not )?running\\)' % name, text):
                raise RuntimeError("no %s in\n%s" % (name, text))
        if len(re.findall(r"\(running\)", text)) != 1 or not re.search(r"\* \d+ +Thread \d+ \".*\" \(running\)", text):
            raise RuntimeError("not one that runs: " + text)
        waits = re.findall(r"\n[ *] (\d+) +Thread \d+ \"(?:worker \d|sound)\" \(not running\) +(?:0x\w+ in )?(\w+)", text)
        if not waits:
            raise RuntimeError("no worker waits: " + text)
        for number, function in waits:
            gdb.command("thread " + number)
            trace, r0, r15 = gdb.command("bt"), gdb.command("print $r0"), gdb.command("print $r15")
            if "thd_birth" not in trace or "unavailable" in r15 or ("unavailable" in r0) != (function in ("thd_pass", "thd_sleep", "thd_exit")):
                raise RuntimeError("%s: %s %s %s" % (function, trace, r0, r15))
        # Stepping goes on where another thread's breakpoint comes between, with a word of whose it is.
        gdb.command("delete")
        gdb.command("break thd_pass")
        for _ in range(6):
            text = gdb.command("continue")
            if "hit Breakpoint" not in text or "internal" in text:
                raise RuntimeError(text)
        gdb.command("delete")
        gdb.command("break good")
        expect(gdb.command("continue") + gdb.command("info threads"), [r"\[kernel\]\" hit Breakpoint \d+, good", r"\* 1|\* \d+"])


def peripherals(probeprof):
    """Registers of peripherals by an SVD file: fields, writes that leave the other fields alone, what reading would change."""
    def scripts():
        yield ("TMU", [r"TMU\.TSTR +ffd80004 +8 +Timers that count", r"TMU\.TCNT2 +ffd80024 32", r"TMU\.TCR1 +ffd8001c 16"])
        yield ("TMU.TCR1", [r"TMU\.TCR1=0000 UNF=0 UNIE=0 TPSC=0\(P4\)\n"])
        yield ("tmu.tcr0.tpsc P64", [r"TMU\.TCR0=0002 \.TPSC=2\(P64\)\n"])
        yield ("TMU.TCR0 0x21", [r"TMU\.TCR0=0021 UNF=0 UNIE=1 TPSC=1\(P16\)\n"])
        yield ("TMU.TCR0.UNIE 0", [r"TMU\.TCR0=0001 \.UNIE=0\n"])
        yield ("TMU.TCOR0 100", [r"TMU\.TCOR0=00000064\n"])
        yield ("TMU.TCNT0 1", [r"TMU\.TCNT0=00000001\n"])
        yield ("TMU.TCR0.TPSC 9", [r"Error: TMU\.TCR0\.TPSC has 3 bits: 9"])
        yield ("TMU.TCR0.TPSC P1", [r"Error: reg: P1 is no value"])
        yield ("TMU.TCR0.TPS", [r"Error: TMU\.TCR0 has no field TPS\n  did you mean TPSC\?"])
        yield ("TUM.TCR0", [r"has no peripheral TUM"])
        yield ("SCIF.SCFRDR2", [r"Error: SCIF\.SCFRDR2 changes when it is read\n  anyway"])
        yield ("SCIF.SCFRDR2 anyway", [r"SCIF\.SCFRDR2=00\n"])
        yield ("SCIF.SCFRDR2 1", [r"Error: SCIF\.SCFRDR2 is read-only"])
        yield ("SCIF.SCFTDR2", [r"Error: SCIF\.SCFTDR2 is write-only"])
        yield ("SCIF.SCFTDR2 0x41", [r"SCIF\.SCFTDR2 was written"])
        yield ("sr", [r"sr=[0-9a-f]{8} MD"])
        # The timer counts down from 1: UNF comes, and stays when another field is written; it is cleared by a 0.
        yield ("TMU.TSTR.STR0 1", [r"TMU\.TSTR=01 \.STR0=1"])
        yield ("TMU.TCR0", [r"TMU\.TCR0=0101 UNF=1"])
        yield ("TMU.TCR0.TPSC 0", [r"TMU\.TCR0=0100 \.TPSC=0\(P4\)"])
        yield ("TMU.TSTR 0", [r"TMU\.TSTR=00"])
        yield ("TMU.TCR0.UNF 0", [r"TMU\.TCR0=0000 \.UNF=0"])
    with session(probeprof, "--svd", os.path.join(HERE, "sh7750.svd")) as (board, gdb):
        for line in "target remote " + board.socket, "monitor reset halt", "load", "break main", "continue":
            gdb.command(line)
        for words, patterns in scripts():
            if "UNF=1" in patterns[0]:
                gdb.command("tbreak spin")
                gdb.command("continue")
            expect(gdb.command("monitor reg " + words), patterns)
        expect(gdb.command("x/1hx 0xffd80010"), [r"0x0000"])
    with session(probeprof) as (board, gdb):
        gdb.command("target remote " + board.socket)
        expect(gdb.command("monitor reg TMU.TCR0"), [r"Error: TMU\.TCR0: registers of peripherals are not known\n  start probeprof with --svd FILE"])


def start_and_kill(probeprof):
    """What an IDE types: start, kill, start, attach after detach."""
    with session(probeprof, "--elf", ELF) as (board, gdb):
        text = "".join(gdb.command(line) for line in (
            "target extended-remote " + board.socket, "load", "start", "next", "kill", "info threads", "start", "detach", "info threads",
            "attach 1", "info threads", "kill", "info threads"))
        expect(text, [r"Temporary breakpoint 1, main", r"killed", r"No threads", r"Temporary breakpoint 2, main", r"detached", r"No threads",
                      r"\* 1 +Thread", r"killed", r"No threads"])


def two_gdbs(probeprof):
    """The second one looks on, is told of stops, and takes over when the first leaves."""
    board, one, two = Board(probeprof), Gdb(), Gdb()
    try:
        for line in ("target remote " + board.socket, "load", "break add", "break factorial", "continue"):
            one.command(line)
        text = two.command("target remote " + board.socket)
        text += two.command("bt") + two.command("print a")
        if in_order(text, [r"add \(a=2, b=3\)", r"= 2"]):
            raise RuntimeError("the observer does not see the program: " + text)
        for line, want in (("set var counter = 9", "Cannot access|[Ee]rror|not"), ("stepi", "another GDB controls"),
                           ("monitor reset halt", "another GDB controls")):
            text = two.command(line)
            if not re.search(want, text):
                raise RuntimeError("observer: %s: %s" % (line, text))
        if "= 0" not in one.command("print counter"):
            raise RuntimeError("the observer has written")
        one.command("delete")
        one.command("set var asked = 1")
        one.close()
        time.sleep(0.3)
        two.command("disconnect")
        two.command("target remote " + board.socket)
        text = two.command("set var counter = 0") + two.command("break bump") + two.command("continue")
        if "Breakpoint 1, bump" not in text:
            raise RuntimeError("no take-over: " + text)
    finally:
        one.close()
        two.close()
        board.close()


def no_halt(probeprof):
    """A CPU that does not answer: GDB gives up with the reason, and does not wait for ever."""
    for fault in "no-clock", "silent":
        with session(probeprof, "--probe", "sim:sh7750,fault=" + fault) as (board, gdb):
            text = gdb.command("target remote " + board.socket)
            if in_order(text, [r"does not answer an ASE break", r"clocked"]):
                raise RuntimeError("%s: no reason in: %s" % (fault, text))


def resets_while_profiling(probeprof):
    """run, a reset, kill: each is a gap in the profile, which goes on behind it. How many a run is: check_resets()."""
    def opened(recording):
        return gdb_session.session(probeprof, "--elf", PROFEXAM, "--load", "--http", "off", "--start", "main+8", "--record", recording, profile=True,
                                   gdb=functools.partial(gdb_session.Gdb, "gdb-multiarch", PROFEXAM))
    document = profiled(probeprof, opened, [
        "target extended-remote @", "break BuildList", "continue", "continue", "run", "continue", "continue", "monitor profile status",
        "monitor reset halt", "maintenance flush register-cache", "set $pc = start", "continue", "continue", "monitor profile status",
        "kill", "monitor profile status", "run", "continue", "continue", "monitor profile status", "monitor reset run", "kill"],
        [r"reset (1 time|2 times) ", r"profiling: 16\d\d\d events", r"reset [23] times", r"profiling: 8\d\d\d events", r"killed", r"reset [34] times",
         r"reset [345] times", r"profiling: 16\d\d\d events, 0 lost", r"reset and runs", r"killed"])
    check_resets(document, {"GetNewNode": 4000, "MallocNode": 4000, "InsertNode": 3999, "BuildList": 8}, range(4, 8))
    mallocs = next(f for f in document["functions"] if f["name"] == "MallocNode")
    if mallocs["c1"] > 2000 * mallocs["hits"]:
        raise RuntimeError("MallocNode: %r" % mallocs)


def watched_while_profiling(probeprof):
    """Objects in a window that the program writes to all the time: its profile does not know of that."""
    def opened(recording):
        return gdb_session.session(probeprof, "--elf", PROFEXAM, "--load", "--http", "off", "--start", "main+8", "--record", recording, profile=True,
                                   gdb=functools.partial(gdb_session.Gdb, "gdb-multiarch", PROFEXAM))
    document = profiled(probeprof, opened, [
        "target remote @", "tbreak BuildList", "continue", "watch Pool[5]", "rwatch Pool[900].number", "continue", "continue", "delete",
        "tbreak Initialise", "continue", "continue &", "shell sleep 0.1"],
        [r"BuildList", r"watchpoint 2: Pool\[5\]", r"New value", r"Initialise"])
    hits = {f["name"]: f["hits"] for f in document["functions"]}
    if document["coverage"]["lost"] or not hits.get("MallocNode", 0) >= 1000:
        raise RuntimeError("%r, %r" % (hits, document["coverage"]))


# What GDB compiles for the bridge: values in all sizes, operators, memory, registers, locals, formats.
EXPRESSIONS = [
    ("counter", "%d"), ("a", "%ld"), ("b", "%ld"), ("sum", "%ld"), ("a - b", "%ld"), ("-7 / b", "%ld"), ("-7 % b", "%ld"), ("7u / b", "%lu"),
    ("(unsigned)-7 % 10", "%lu"), ("a << 5 | b", "%ld"), ("-256 >> 3", "%ld"), ("~a", "%ld"), ("!a", "%ld"), ("a && b", "%ld"),
    ("a == 3 || b == 3", "%ld"), ("a < b ? 11 : 12", "%ld"), ("(char)(a - 200)", "%ld"), ("(unsigned char)(a - 200)", "%lu"), ("(short)70000", "%ld"),
    ("place.x * place.y", "%ld"), ("text[3]", "%c"), ("&text[0]", "%s"), ("&text[2]", "%s"), ("&place", "%p"), ("*(unsigned short *)&place", "%lu"),
    ("*(long long *)&place", "%llx"), ("(long long)-1", "%lld"), ("(long long)a << 40", "%lld"), ("$pc", "%lx"), ("$r15", "%lx"), ("$r14", "%lu"),
    ("$r4", "%08x"), ("a ^ 0xff", "%#6x"), ("a", "%-8d"), ("sizeof(place)", "%lu"), ("&place.y - &place.x", "%ld"), ("a > -1", "%ld"),
    ("4294967295u > a", "%ld"), ("(unsigned)a < (unsigned)-1", "%ld")]


def conditions(probeprof):
    """What the bridge evaluates has GDB's own values; a Ctrl-C gets through stops that are not wanted."""
    gdb_session.evaluated_alike(probeprof, Gdb, ["load", "break main", "continue", "delete"], "calls.c:15", "factorial", EXPRESSIONS)
    with session(probeprof) as (board, gdb):
        for line in ("target remote " + board.socket, "load", "break main", "continue", "set var asked = 1", "delete", "break bump if counter < 0"):
            gdb.command(line)
        interrupt_thrice(gdb, "counter")
        gdb.command("delete")
        gdb.command("set dprintf-style agent")
        gdb.command("dprintf bump,\"counter %d\\n\", counter")
        gdb.command("break spin if counter > 0 && counter % 100 == 99")
        out = gdb.command("continue")
        if "counter " not in out:  # it was interrupted at the end of a hundred
            out = gdb.command("continue")
        counts = [int(n) for n in re.findall(r"counter (\d+)\n", out)]
        if "spin ()" not in out or not counts or counts != list(range(counts[0], counts[-1] + 1)) or counts[-1] % 100 != 98:
            raise RuntimeError("%r in %s" % (counts, out))


def main():
    if not shutil.which("gdb-multiarch"):
        print("skipped: no gdb-multiarch")
        return 77
    probeprof = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:]
    if wanted[:1] == ["--by"]:
        gdb_session.PROBE[:] = wanted[1].split()
        del wanted[:2]
    cases = [(name, lambda c=c, p=p: scripted(session(probeprof), c, p)) for name, c, p in CASES]
    cases += [("Ctrl-C", lambda: ctrl_c(probeprof)), ("a CPU that does not halt", lambda: no_halt(probeprof)), ("two GDBs", lambda: two_gdbs(probeprof)),
              ("extended-remote: run, kill, run", lambda: extended(probeprof)), ("the program's name", lambda: names_the_program(probeprof)),
              ("threads: FreeRTOS", lambda: threads(probeprof)), ("threads: KallistiOS, saved registers", lambda: saved_threads(probeprof)),
              ("registers of peripherals", lambda: peripherals(probeprof)),
              ("start, kill, attach", lambda: start_and_kill(probeprof)),
              ("resets while profiling", lambda: resets_while_profiling(probeprof)),
              ("watchpoints while profiling", lambda: watched_while_profiling(probeprof)),
              ("non-stop", lambda: non_stop(probeprof)), ("file I/O", lambda: file_io(probeprof)),
              ("reading while it runs", lambda: read_while_running(probeprof)),
              ("conditions: as GDB evaluates", lambda: conditions(probeprof)),
              ("breakpoints while it runs", lambda: gdb_session.set_while_running(
                  session(probeprof), ["load", "break main", "continue", "set var asked = 1"], "bump", "add")),
              ("600 breakpoints", lambda: gdb_session.many_breakpoints(session(probeprof), ["load", "break main", "continue"], 0x0C200000, 2, 9, "$pc"))]
    return run_cases(cases, wanted)


if __name__ == "__main__":
    sys.exit(main())
