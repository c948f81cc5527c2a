"""gdb-multiarch in batch mode through a bridge to somebody else's stub: what gdb_qemu.py and gdb_emulators.py share."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = os.path.join(HERE, "../gdbstub/gdb/calls.elf")
PROFEXAM = os.path.join(HERE, "../../docs/examples/profexam/profexam.elf")
sys.path.insert(0, os.path.join(HERE, "../gdbstub/gdb"))
from gdb_session import DEADLINE, in_order # noqa: E402  (re-exported)

# Debugging that works through every stub: name, commands with calls.elf in memory, and what GDB says in this order.
COMMON = [
    ("break, arguments, backtrace, finish", ["break add", "continue", "info args", "bt", "finish"],
     [r"Breakpoint 1, add \(a=2, b=3\)", r"a = 2", r"#1 +.* main", r"Value returned is .* = 5"]),
    ("next and step", ["break main", "continue", "step", "step", "step", "finish", "next", "print first"],
     [r"Breakpoint 1, main", r"add \(a=2, b=3\)", r"= 5", r"= 5"]),
    ("delay slots", ["break *slots", "continue", "stepi", "stepi", "print (char*)$pc - (char*)slots", "print $r0"],
     [r"slots \(\)", r"= 8\b", r"= 3\b"]),
]
LOAD = ("load and compare", ["load", "compare-sections", "print/x $pc"], [r"Section \.text, .*: matched", r"= 0xc010000"])


def run_gdb(port, commands):
    """What a GDB says that connects to the bridge at port and does the commands."""
    args = ["gdb-multiarch", "-nx", "-batch", CALLS, "-ex", "set pagination off", "-ex", "set remotetimeout 300", "-ex", f"target remote {port}"]
    for c in commands:
        args += ["-ex", c]
    try:
        return subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=DEADLINE).stdout
    except subprocess.TimeoutExpired as x:
        return (x.stdout or b"").decode() + "\nTIMEOUT"
