#!/usr/bin/env python3
"""How fast recordings are read: events a second of one core, and memory, of each view and format, for a recording and for one four times as long: memory
follows the profile, not the recording's length.

usage: bench_report.py PROBEPROF BENCH_REPORT [MILLIONS]      both of a release build; default 8
"""
import os
import subprocess
import sys
import tempfile

WAYS = [["report"], ["report", "--tree"], ["report", "--json"], ["report", "--live"], ["report", "--callers", "0x8c010000"], ["convert", "--to", "folded"], ["convert", "--to", "pprof"],
        ["convert", "--to", "callgrind"], ["convert", "--to", "speedscope"], ["convert", "--to", "chrome"], ["convert", "--to", "perfetto"]]


def measure(args):
    """Seconds of processor time and MB."""
    out = os.open(os.devnull, os.O_WRONLY)
    pid = os.fork()
    if pid == 0:
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.execv(args[0], args)
    os.close(out)
    _, status, used = os.wait4(pid, 0)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def main():
    probeprof, writer = map(os.path.abspath, sys.argv[1:3])
    millions = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, n in (("one", millions), ("four", 4 * millions)):
            subprocess.run([writer, name, str(n)], check=True)
        print(f"{millions} and {4 * millions} M events, {os.path.getsize('one') / 1e6:.0f} and {os.path.getsize('four') / 1e6:.0f} MB")
        print(f"{'':28} {'M events/s':>10} {'a minute':>9} {'MB':>6} {'MB of four':>10}")
        for verb, *more in WAYS:
            rows = []
            for name in ("one", "four"):
                args = [probeprof, verb, name, *more]
                if verb == "convert":
                    args += ["-o", "out"]
                seconds, mb, status = measure(args)
                if status:
                    sys.exit(f"{args} ended with {status}")
                rows.append((seconds, mb))
            rate = 4 * millions / rows[1][0]
            print(f"{' '.join([verb, *more]):28} {rate:10.1f} {60 * rate:9.0f} {rows[0][1]:6.0f} {rows[1][1]:10.0f}", flush=True)


main()
