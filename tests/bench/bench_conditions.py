#!/usr/bin/env python3
"""What a stop costs whose condition is false: evaluated by GDB, and by the bridge, over the simulated boards with a real GDB.

usage: bench_conditions.py PROBEPROF [STOPS]     PROBEPROF: a release build; without a GDB that knows the part it is left out, and said so
Each figure is the time from GDB's `continue` to its prompt, with STOPS stops that are not wanted between, the best and the median of five.
"""
import functools
import os
import shutil
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../gdbstub/gdb"))
import gdb_session  # noqa: E402

ROUNDS = 5
S12Z_GDB = os.path.expanduser("~/.cache/probeprof/gdb-s12z-13.1/bin/sh-elf-gdb")
MOTOR = os.path.join(HERE, "../../docs/examples/motor/motor.elf")
CALLS = os.path.join(HERE, "../gdbstub/gdb/calls.elf")
FLASH = ",flash=" + os.path.join(HERE, "../s12z/fixtures/flow.bin")
# part, GDB, ELF, what brings the program before its loop, place, what counts the rounds
BOARDS = [("sim:sh7750", "gdb-multiarch", CALLS, ["load", "break main", "continue", "set var asked = 1"], "bump", "counter"),
          ("sim:s12zvml128" + FLASH, os.environ.get("S12Z_GDB", S12Z_GDB), MOTOR, ["load", "break control_loop", "continue"], "*regulate", "*(long *)%s")]


def seconds(gdb, where, count, stops):
    """Continues over so many stops."""
    at = int(gdb.command("output/d %s" % count).split("(gdb) ")[-2].split()[0].strip() or 0)
    gdb.command("break %s if %s == %d" % (where, count, at + stops))
    start = time.monotonic()
    out = gdb.command("continue")
    took = time.monotonic() - start
    if "Breakpoint" not in out:
        raise RuntimeError(out)
    gdb.command("delete")
    return took


def measure(probeprof, board, program, elf, begin, where, count, stops):
    gdb = functools.partial(gdb_session.Gdb, program, elf)
    with gdb_session.session(probeprof, "--probe", board, gdb=gdb) as (server, one):
        for line in ["target remote " + server.socket, *begin, "delete"]:
            one.command(line)
        if "%s" in count:
            count %= one.command("output/x (long)&rounds").split("(gdb) ")[-2].split()[0]
        figures = {"host": [], "target": []}
        for _ in range(ROUNDS):
            for who in figures:  # in turns, so that what else the machine does meets both
                one.command("set breakpoint condition-evaluation " + who)
                figures[who].append(seconds(one, where, count, stops))
    return figures


def main():
    probeprof, stops = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    print("%d stops, seconds: best / median of %d" % (stops, ROUNDS))
    for board, program, *rest in BOARDS:
        name = board.split(",")[0]
        if not shutil.which(program):
            print("%-16s left out: no %s" % (name, program))
            continue
        figures = measure(probeprof, board, program, *rest, stops)
        print("%-16s" % name + "".join("  %s %.2f / %.2f" % ({"host": "GDB", "target": "bridge"}[who], min(took), statistics.median(took))
                                       for who, took in figures.items()))


if __name__ == "__main__":
    main()
