#!/usr/bin/env python3
"""A real gdb for s12z over probeprof's whole stack on the simulated boards.

usage: test_gdb_s12z.py PROBEPROF [CASE...]     exit 0 all passed, 1 a failure, 77 without a gdb that knows s12z
That gdb is built by ../build_s12z_gdb.sh; S12Z_GDB=FILE names another one.
"""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import gdb_session
from gdb_session import Board, check_resets, expect, interrupt_thrice, profiled, run_cases, scripted

HERE = os.path.dirname(os.path.abspath(__file__))
ELF = os.path.join(HERE, "../../../docs/examples/motor/motor.elf")
# A part with a program in it: blank flash is SWI without end, which runs the stack through RAM and the registers until somebody halts it, so that
# nothing is as after reset, and nothing twice the same.
SOMETHING = ",flash=" + os.path.join(HERE, "../../s12z/fixtures/flow.bin")
PART = "sim:s12zvml128" + SOMETHING

CASES = [
    ("architecture, registers", ["show architecture", "load", "info registers", "print/x $p", "set var $d6 = 0x12345678", "print/x $d6", "set var $x = 0x123456",
                                 "print/x $x", "set var $d0 = 0x5a", "info registers d0", "info registers s ccw"],
     [r"s12z", r"ccw", r"= 0xfe0000", r"= 0x12345678", r"= 0x123456", r"d0 +0x5a", r"s +0x"]),
    ("load to flash and compare", ["load", "compare-sections", "load", "compare-sections", "monitor flash", "x/2xb 0xfffe0e"],
     [r"Loading section \.text", r"Transfer rate", r'"?\.text"?, range .*matched', r"\.vectors.*matched", r"Transfer rate", r"\.text.*matched", r"refused",
      r"0xff\s+0xfe"]),
    ("memory map", ["info mem"], [r"0x00100000 +0x00100200 +flash blocksize 0x4", r"0x00fe0000 +0x01000000 +flash blocksize 0x200"]),
    ("breakpoints in flash are comparators", ["load", "break control_loop", "continue", "bt", "break clamp", "continue", "print/x $p == (long)&clamp", "monitor dbg",
                                              "delete", "monitor dbg"],
     [r"Breakpoint 1, control_loop", r"#0 +control_loop", r"Breakpoint 2, clamp", r"= 0x1", r"before the instruction at FE0", r"with trace", r"A: off"]),
    ("five breakpoints in flash are one too many",
     ["load", "hbreak tick", "hbreak clamp", "hbreak duty", "hbreak regulate", "hbreak transform", "continue", "delete 5", "continue"],
     [r"Remote failure reply: no comparator of the DBG module is left: breakpoints and watchpoints hold A, B, C, D", r"Breakpoint [1-4], "]),
    ("three watched variables are one too many",
     ["load", "break control_loop", "continue", "delete", "watch *(long*)&rounds", "watch *(short*)&angle", "watch *(short*)&burst", "continue", "monitor version", "delete 4",
      "continue"],
     [r"Could not insert hardware watchpoint [34]", r"The request for a breakpoint or watchpoint failed: no pair of comparators of the DBG module is left", r"monitor watchdata", r"probeprof",
      r"watchpoint [23]: "]),
    ("breakpoints in RAM are BGND", ["load", "set var *(char*)0x1800 = 1", "set var *(char*)0x1801 = 1", "set var *(char*)0x1802 = 0x20", "set var *(char*)0x1803 = 0x7e",
                                     "break *0x1801", "set var $p = 0x1800", "continue", "print/x $p", "x/4xb 0x1800", "continue", "print/x $p", "monitor dbg"],
     [r"Breakpoint 1 at 0x1801", r"= 0x1801", r"0x01\s+0x01\s+0x20\s+0x7e", r"= 0x1801", r"A: off"]),
    ("watch", ["load", "break control_loop", "continue", "delete", "watch *(long*)&rounds", "continue", "continue", "delete", "rwatch *(short*)&burst", "continue",
               "delete", "awatch *(short*)&angle", "continue"],
     [r"[Hh]ardware watchpoint 2", r"Old value = 0\s+New value = 1", r"Old value = 1\s+New value = 2", r"[Hh]ardware read watchpoint 3", r"Value = 0",
      r"access .*watchpoint 4", r"[Vv]alue"]),
    ("watch while stepping", ["load", "break motor.s:88", "continue", "delete", "rwatch *(short*)&burst", "stepi 5", "delete", "watch *(long*)&rounds", "stepi 20", "next 200"],
     [r"[Hh]ardware read watchpoint 2", r"Value = 0", r"watchpoint 3", r"Old value = 0\s+New value = 1", r"Old value = 1\s+New value = 2"]),
    ("a watchpoint's value", ["load", "break control_loop", "continue", "delete", "watch *(long*)&rounds", "monitor watchdata 5", "continue", "monitor watchdata off", "continue"],
     [r"next watchpoint .*whose value & FFFFFFFF is 5", r"New value = 5", r"any value", r"New value = 6"]),
    ("steps", ["load", "break pi_step", "continue", "delete", "stepi", "x/i $p", "next", "next", "step", "info line *$p", "finish", "up"],
     [r"Breakpoint 1, pi_step", r"=> 0x"]),
    ("interrupts", ["load", "break tick", "continue", "print *(long*)&ticks", "continue", "print *(long*)&ticks", "continue", "print *(long*)&ticks"],
     [r"Breakpoint 1, tick", r"= 0\b", r"Breakpoint 1, tick", r"= 1\b", r"Breakpoint 1, tick", r"= 2\b"]),
    ("maintenance info bdccsr", ["maintenance info bdccsr", "monitor bdc", "monitor reg DBGC1", "monitor reg"],
     [r"The current BDCCSR value is BDCCSR=c200 ENBDC BDMACT UNSEC", r"BDC clock 1000000 Hz", r"PARTID 00170000", r"DBGC1=", r"d0=.. .*ccw=...."]),
    ("fast clock", ["monitor bdc fast on", "load", "compare-sections", "monitor bdc fast off", "break clamp", "continue"],
     [r"BDCFCLK", r"\.text.*matched", r"BDCCLK", r"Breakpoint 1, clamp"]),
    ("reset", ["load", "monitor reset run", "monitor reset halt", "maintenance flush register-cache", "print/x $p == (long)&start", "break timer_start", "continue"],
     [r"runs", r"is halted", r"= 0x1", r"Breakpoint 1, timer_start"]),
    ("detach lets it run, reattach halts it", ["load", "break control_loop", "continue", "delete", "detach", "shell sleep 2", "target remote @", "print *(long*)&rounds > 100"],
     [r"detached", r"= 1\b"]),
    ("memory where nothing is", ["x/4xb 0x50000", "print *(char*)0x1000"], [r"Cannot access memory at address 0x50000", r"= "]),
]


class Gdb(gdb_session.Gdb):
    found = None  # the program

    def __init__(self):
        super().__init__(self.found, ELF)


def session(probeprof, *options, **more):
    return gdb_session.session(probeprof, *options, gdb=Gdb, **more)


def ctrl_c(probeprof):
    """A program that loops stops at Ctrl-C, where it is, and goes on."""
    with session(probeprof, "--probe", PART) as (board, gdb):
        for line in ("target remote " + board.socket, "load"):
            gdb.command(line)
        interrupt_thrice(gdb, "*(long*)&rounds")


def read_while_running(probeprof):
    """Memory of a program that runs on, and is not held for it."""
    with session(probeprof, "--probe", PART) as (board, gdb):
        gdb.command("set non-stop on")
        gdb.command("target remote " + board.socket)
        gdb.send("interrupt")
        gdb.wait("stopped")
        for line in ("load", "continue &"):
            gdb.command(line)
        counts = [int(re.search(r"= (\d+)", gdb.command("print *(long*)&rounds")).group(1)) for _ in range(5)]
        if not counts[0] < counts[2] < counts[4]:
            raise RuntimeError("the program does not run on: %r" % counts)
        text = gdb.command("info threads") + gdb.command("break clamp") + gdb.command("shell sleep 0.3") + gdb.command("info threads")
        expect(text, [r"running", r"Breakpoint 1 at", r"Breakpoint 1, clamp", r"clamp \(\)"])


def failed_downloads(probeprof):
    """What GDB's user sees of each way a download can fail: the sentence, with the next thing that GDB listens to."""
    folder = tempfile.mkdtemp()
    protected = os.path.join(folder, "protected.bin")
    with open(os.path.join(HERE, "../../s12z/fixtures/flow.bin"), "rb") as f, open(protected, "wb") as g:
        image = f.read()
        g.write(image[:-0x1F4] + b"\x00" + image[-0x1F3:])  # FPROT: nothing may be changed
    rows = [
        (PART + ",fault=flash@9", "monitor version", [r"The download failed: program FE0\w\w\w: the flash did not take it", r"worn out", r"probeprof"]),
        (PART + ",fault=flash-weak@9", "monitor version", [r"The download failed: verify: FE0\w\w\w reads \w\w, \w\w was programmed", r"load again", r"probeprof"]),
        ("sim:s12zvml128,flash=" + protected, "continue&", [r"The download failed: (erase|program) FE0000: the sector is protected", r"monitor reset halt"]),
    ]
    try:
        for probe, word, words in rows:
            with session(probeprof, "--probe", probe) as (board, gdb):
                gdb.command("target remote " + board.socket)
                text = gdb.command("load")
                expect(text, [r"Error (erasing|writing|finishing)"])
                gdb.send(word)
                expect(gdb.wait(words[-1]), words)
                expect(gdb.command("monitor flash") if word != "continue&" else "", [r"the last download failed", r"sectors were given up"] if word != "continue&" else [])
                until = time.time() + 600 # another thread writes it
                while "GDB's download failed: " not in board.text() and time.time() < until:
                    time.sleep(0.05)
                expect(board.text(), [r"GDB's download failed: "])
    finally:
        shutil.rmtree(folder)


def monitor_load(probeprof):
    """The bridge's own ELF, loaded with sentences."""
    with session(probeprof, "--probe", PART, "--elf", ELF) as (board, gdb):
        gdb.command("target remote " + board.socket)
        text = "".join(gdb.command(line) for line in ("monitor load", "maintenance flush register-cache", "print $p == (long)&start", "compare-sections",
                                                      "break control_loop", "continue", "monitor load what"))
        expect(text, [r"loaded and verified 1259 bytes of .*motor\.elf", r"= 1", r"\.text.*matched", r"Breakpoint 1, control_loop", r"takes no word"])
    with session(probeprof, "--probe", PART + ",fault=flash-weak@9", "--elf", ELF) as (board, gdb):
        gdb.command("target remote " + board.socket)
        expect(gdb.command("monitor load"), [r"load: verify: FE0\w\w\w reads", r"load again"])


def broken_download(probeprof):
    """A GDB that dies in its download; the next one is told, and loads."""
    board, gdb = Board(probeprof, "--probe", PART), Gdb()
    try:
        gdb.command("target remote " + board.socket)
        text = gdb.command("maintenance packet vFlashErase:fe0000,400") + gdb.command("maintenance packet vFlashWrite:fe0000:01010101010101010101")
        expect(text, [r'received: "OK"', r'received: "OK"'])
        gdb.process.kill()
        gdb = Gdb()
        gdb.command("target remote " + board.socket)
        text = "".join(gdb.command(line) for line in ("monitor flash", "load", "compare-sections", "monitor flash"))
        expect(text, [r"a download is under way", r"Transfer rate", r"\.text.*matched", r"refused"])
        if "failed" in text or "under way" in text[text.index("Transfer"):]:
            raise RuntimeError(text)
    finally:
        gdb.close()
        board.close()


def security_byte(probeprof):
    """A program that would lock the part is refused, and says so; the part stays open."""
    with session(probeprof, "--probe", PART) as (board, gdb):
        locking = os.path.join(board.dir, "lock.elf")
        with open(ELF, "rb") as f, open(locking, "wb") as g:
            g.write(f.read().replace(b"\xff\xff\xff\xfe", b"\xff\xff\xff\xff", 1)) # its section .security
        gdb.command("target remote " + board.socket)
        text = gdb.command("load")
        text += gdb.command("load " + locking) + gdb.command("monitor flash") + gdb.command("x/xb 0xfffe0f")
        expect(text, [r"Transfer rate", r"[Ee]rror", r"The download failed: .*would lock the part", r"the last download failed: .*would lock the part",
                      r"security byte and vectors are as before", r"0xfe"])
        expect(gdb.command("load") + gdb.command("compare-sections"), [r"Transfer rate", r"\.text.*matched"])


def secured(probeprof):
    """A secured part: GDB is told, in plain remote mode, too, and its monitor opens it."""
    with session(probeprof, "--probe", PART + ",secured") as (board, gdb):
        expect(gdb.command("target remote " + board.socket), [r"the part is secured .*it can only be erased; target extended-remote, then monitor unsecure"])
        text = gdb.command("target extended-remote " + board.socket)
        text += "".join(gdb.command(line) for line in ("monitor unsecure", "monitor unsecure ERASE-EVERYTHING", "attach 1", "load", "compare-sections",
                                                       "break control_loop", "continue"))
        expect(board.text() + text, [r"secured", r"ERASE-EVERYTHING", r"the part is open", r"\.text.*matched", r"Breakpoint 1, control_loop"])


def while_profiling(probeprof):
    """Breakpoints in comparators and a profile at the same time: it is armed again at each continue, and loses nothing."""
    with session(probeprof, "--probe", PART, "--elf", ELF, "--load", profile=True) as (board, gdb):
        time.sleep(0.5)
        text = "".join(gdb.command(line) for line in (
            "target remote " + board.socket, "break clamp", "continue", "monitor dbg", "continue", "continue", "monitor profile status", "delete", "detach"))
        expect(text, [r"Breakpoint 1, clamp", r"armed when the program goes on", r"before the instruction", r"profiles from arming", r"Breakpoint 1, clamp",
                      r"Breakpoint 1, clamp", r"profiling: [1-9]\d* events, 0 lost, 0 doubtful *\r?\n", r"detached"])


def resets_while_profiling(probeprof):
    """run, a reset, kill: each is a gap in the profile, which goes on behind it. How many a run is: check_resets()."""
    def opened(recording):
        return session(probeprof, "--probe", PART, "--elf", ELF, "--load", "--http", "off", "--record", recording, profile=True)
    document = profiled(probeprof, opened, [
        "target extended-remote @", "break clamp", "continue", "continue", "run", "continue", "continue", "monitor profile status",
        "monitor reset halt", "maintenance flush register-cache", "continue", "continue", "continue", "monitor profile status", "kill", "run", "continue",
        "monitor profile status", "monitor reset run", "kill"],
        [r"Breakpoint 1, clamp", r"reset (1 time|2 times) ", r"profiling: [1-9]\d* events, 0 lost", r"reset [23] times", r"profiling: [1-9]\d* events, 0 lost", r"killed",
         r"reset [345] times", r"profiling: [1-9]\d* events, 0 lost", r"reset and runs", r"killed"])
    check_resets(document, {"clamp": 6, "start": 2}, range(4, 8))


def other_parts(probeprof):
    """The part without trace, and the larger one."""
    for part, words in ("sim:s12zvl128", [r"without trace", r"0x00100000 +0x00100800"]), ("sim:s12zvmc256", [r"with trace", r"0x00fc0000 +0x01000000"]):
        with session(probeprof, "--probe", part + SOMETHING) as (board, gdb):
            text = "".join(gdb.command(line) for line in ("target remote " + board.socket, "monitor dbg", "info mem", "load", "compare-sections"))
            expect(text, words + [r"\.text.*matched"])


# The program has no types, and GDB compiles nothing with the name of something of none. Memory is big endian, registers have 8 to 24 bits.
EXPRESSIONS = [
    ("*(long *)@rounds", "%ld"), ("*(short *)@angle", "%ld"), ("*(unsigned short *)@angle", "%lu"), ("*(char *)@noise", "%ld"),
    ("*(long long *)@noise", "%llx"), ("*(unsigned char *)@noise + 1", "%lu"), ("$d0", "%ld"), ("$d2", "%ld"), ("$d6", "%lx"), ("$x", "%lx"), ("$y", "%lx"),
    ("$s", "%lx"), ("$p", "%lx"), ("$ccw", "%lx"), ("*(short *)@speed * -3 / 7", "%ld"), ("*(long *)@noise >> 5", "%ld"), ("*(long *)@noise % 1000", "%ld"),
    ("*(long *)@rounds == 0 && *(char *)@noise != 0", "%ld")]


def conditions(probeprof):
    """What the bridge evaluates has GDB's own values."""
    with contextlib.closing(Gdb()) as gdb:
        def address(name):
            return re.search(r"= (0x\w+)", gdb.command("print/x (long)&%s" % name.group(1))).group(1)
        expressions = [(re.sub(r"@(\w+)", address, text), conversion) for text, conversion in EXPRESSIONS]
    gdb_session.evaluated_alike(probeprof, Gdb, ["load", "break control_loop", "continue", "delete"], "*regulate", "*commutate", expressions, ("--probe", PART))


def peripherals(probeprof):
    """Registers of peripherals by an SVD file, in the part's byte order."""
    with session(probeprof, "--probe", PART, "--svd", os.path.join(HERE, "s12zvm.svd")) as (board, gdb):
        gdb.command("target remote " + board.socket)
        gdb.command("monitor reset halt")
        bytes_there = re.search(r":\s+0x(\w+)\s+0x(\w+)\s+0x(\w+)\s+0x(\w+)", gdb.command("x/4xb 0")).groups()
        expect(gdb.command("monitor reg ID.PARTID"), [r"ID\.PARTID=%s\n" % "".join(bytes_there)])
        expect(gdb.command("monitor reg CPMU.SYNR.SYNDIV 0x11"), [r"CPMU\.SYNR=[0-9a-f]1 \.SYNDIV=11\n"])
        expect(gdb.command("monitor reg CPMU.SYNR"), [r"VCOFRQ=\d SYNDIV=11\n"])
        expect(gdb.command("monitor reg ID.PARTID 1") + gdb.command("monitor reg d0"), [r"Error: ID\.PARTID is read-only", r"d0="])


def main():
    found = subprocess.run([os.path.join(HERE, "../build_s12z_gdb.sh"), "--find"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if found.returncode:
        print(found.stderr.strip())
        return 77
    Gdb.found = found.stdout.strip()
    probeprof = os.path.abspath(sys.argv[1])
    cases = [(name, lambda c=c, p=p: scripted(session(probeprof, "--probe", PART), c, p)) for name, c, p in CASES]
    cases += [("Ctrl-C", lambda: ctrl_c(probeprof)), ("reading while it runs", lambda: read_while_running(probeprof)),
              ("downloads that fail", lambda: failed_downloads(probeprof)), ("monitor load", lambda: monitor_load(probeprof)),
              ("a download broken off", lambda: broken_download(probeprof)),
              ("a program that would lock the part", lambda: security_byte(probeprof)), ("a secured part", lambda: secured(probeprof)),
              ("registers of peripherals", lambda: peripherals(probeprof)), ("breakpoints while profiling", lambda: while_profiling(probeprof)), ("other parts", lambda: other_parts(probeprof)),
              ("resets while profiling", lambda: resets_while_profiling(probeprof)),
              ("conditions: as GDB evaluates", lambda: conditions(probeprof)),
              ("breakpoints while it runs", lambda: gdb_session.set_while_running(
                  session(probeprof, "--probe", PART), ["load", "break control_loop", "continue"], "*regulate", "*timer_start")),
              ("600 breakpoints", lambda: gdb_session.many_breakpoints(
                  session(probeprof, "--probe", PART), ["load"], 0x1800, 1, 1, "$p"))]
    return run_cases(cases, sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
