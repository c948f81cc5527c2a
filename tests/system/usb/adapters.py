#!/usr/bin/env python3
"""Adapters as users meet them: list, doctor and --probe with real USB libraries and modelled adapters.

usage, in the rig: adapters.py PROBEPROF TARGET CASE      CASE: a method of Cases without its "case_"
"""
import json
import os
import re
import signal
import subprocess
import sys
import time

from rig_program import tell

PROGRAM = os.path.abspath(sys.argv[1])
ENV = {k: v for k, v in os.environ.items() if k != "PROBEPROF_PROBE"}
FIELDS = {"probe", "driver", "serial", "location", "channel", "usb", "product", "firmware", "note", "doubtful", "can", "problem"}
SH4 = sys.argv[2].startswith("sh")
TARGET = ["--target", sys.argv[2]] + (["--private"] if SH4 else [])


def run(*args, wrap=()):
    return subprocess.run([*wrap, PROGRAM, *args], env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)


def check(condition, *what):
    if not condition:
        sys.exit("wrong: " + "\n".join(str(w) for w in what))


def adapters(wrap=()):
    r = run("list", "--json", wrap=wrap)
    check(r.returncode == 0, r.stderr)
    document = json.loads(r.stdout)
    check(document["schema"] == "probeprof.list/2" and set(document) == {"schema", "adapters", "drivers", "boards", "parts"}, document)
    for a in document["adapters"]: # as the manual has them
        check(set(a) == FIELDS and isinstance(a["can"], list) and isinstance(a["doubtful"], bool), a)
        check(a["problem"] is None or set(a["problem"]) == {"code", "what", "hint"}, a)
    found = [a for a in document["adapters"] if a["usb"]]
    text = run("list", wrap=wrap).stdout
    for line in text.split("simulated boards")[0].splitlines():
        check(len(line) < 80, line)
    for a in found: # the text says the same
        check(a["probe"] in text, a, text)
        if a["problem"]:
            check(" ".join(a["problem"]["what"].split()) in " ".join(text.split()), a, text)
    return found


def first_channel(rows):
    return [a for a in rows if a["channel"] in (None, "A")]


def doctor(*args, wrap=()):
    r = run("doctor", "--json", *args, wrap=wrap)
    d = json.loads(r.stdout)
    check(r.returncode == (0 if d["ok"] else 1), r.returncode, r.stdout)
    return d, next((s for s in d["steps"] if s["ok"] is False), None)


def wrong(step, what, hint, *args, wrap=()):
    d, w = doctor(*args, wrap=wrap)
    check(w and w["name"] == step and what in w["what"] and hint in w["hint"], json.dumps(d, indent=1))


def bridge(*args):
    """A run that only bridges, when it is up."""
    p = subprocess.Popen([PROGRAM, *args, *TARGET, "--no-profile", "--gdb", "0"], env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    said = ""
    for line in p.stderr:
        said += line
        if "target remote" in line:
            return p, said
    sys.exit("wrong: no bridge: " + said)


def end(p):
    p.send_signal(signal.SIGINT)
    check(p.wait(600) == 0, "the bridge ended with", p.returncode)


class Cases:
    def case_alone(self):
        """One adapter: found, described, used unasked; held by somebody while that runs; gone when it is pulled."""
        a, = first_channel(adapters())
        check(a["problem"] is None and a["can"] == ["JTAG" if SH4 else "BDC"] and a["location"] == "1-1" and a["firmware"], a)
        d, w = doctor(*TARGET, "--halt", "--speed", "auto")
        told = ("pdo", "power", "pins", "clock")[:3 if SH4 else 4] # not asked for, and those that not every adapter can tell
        check(w is None and d["probe"] == a["probe"] and all(s["ok"] for s in d["steps"] if s["name"] not in told), json.dumps(d, indent=1))
        p, said = bridge()
        check("using the adapter " + a["probe"] in said, said)
        held, = first_channel(adapters())
        what = held["problem"]["what"]
        check(re.search(r"is held by \S+ \(process \d+\)", what), what)
        wrong("access", "is held by", "end that program", *TARGET)
        r = run(*TARGET, "--no-profile", "--gdb", "0")
        check(r.returncode == 1 and "is held by" in r.stderr and "hint:" in r.stderr, r.stderr)
        end(p)
        a, = first_channel(adapters())
        check(a["problem"] is None, a)
        tell("unplug")
        check(adapters() == [], "still listed")
        wrong("adapter", "nothing at all is on the USB bus", "another cable")
        r = run(*TARGET, "--no-profile")
        check(r.returncode == 2 and "no debug adapter named" in r.stderr and "sim:sh7750" in r.stderr, r.returncode, r.stderr)
        tell("plug")
        for _ in range(6000):
            if adapters():
                break
            time.sleep(0.05)
        d, w = doctor(*TARGET)
        check(w is None, json.dumps(d, indent=1))

    def case_doubtful(self):
        """A bare FTDI chip may be a serial cable: not touched unasked, good when named."""
        a = first_channel(adapters())[0]
        check(a["doubtful"] and a["can"] == ["JTAG"], a)
        wrong("adapter", "may be something else", "--probe " + a["probe"], *TARGET)
        r = run(*TARGET, "--no-profile", "--gdb", "0")
        check(r.returncode == 1 and "may be something else" in r.stderr and "--probe " + a["probe"] in r.stderr, r.stderr)
        d, w = doctor("--probe", a["probe"], *TARGET)
        check(w is None, json.dumps(d, indent=1))

    def case_closed(self):
        """No permission: listed by name all the same, and told what to do."""
        bed, wrap = os.environ["UMOCKDEV_DIR"], ()
        if os.geteuid() == 0: # who passes everywhere
            wrap = ("setpriv", "--reuid=65534", "--clear-groups")
            os.chmod(bed, 0o777) # sockets of the test bed
        for folder, mode in (("/dev", 0), ("/ioctl", 0o777)):
            for here, _, files in os.walk(bed + folder):
                for f in files:
                    os.chmod(os.path.join(here, f), mode)
        a, = first_channel(adapters(wrap))
        check(a["serial"] and "no permission to open /dev/" in a["problem"]["what"] and "60-probeprof.rules" in a["problem"]["hint"], a)
        name = ["--probe", a["probe"]]
        wrong("access", "no permission", "60-probeprof.rules", *TARGET, *name, wrap=wrap)
        r = run(*TARGET, *name, "--no-profile", wrap=wrap)
        check(r.returncode == 1 and "no permission" in r.stderr and "60-probeprof.rules" in r.stderr, r.stderr)

    def case_two(self):
        """Several: one must be named, by serial number or place."""
        rows = adapters()
        check(len(rows) == 3, rows)
        r = run(*TARGET, "--no-profile", "--gdb", "0")
        check(r.returncode == 2 and "3 adapters fit" in r.stderr and "choose one: --probe " in r.stderr, r.returncode, r.stderr)
        wrong("adapter", "3 adapters fit", "choose one")
        for a in rows:
            for name in (a["probe"], a["driver"] + ":@" + a["location"]):
                d, w = doctor("--probe", name, *TARGET)
                check(w is None and a["location"] in d["steps"][0]["detail"], name, json.dumps(d, indent=1))
        one = next(a for a in rows if a["driver"] == "jlink")
        p, _ = bridge("--probe", one["probe"])
        d, w = doctor("--probe", next(a["probe"] for a in rows if a is not one), *TARGET) # the others stay free
        check(w is None, json.dumps(d, indent=1))
        end(p)
        wrong("adapter", "with serial number 999", "cmsis-dap:", "--probe", "jlink:999")
        wrong("adapter", "at 7-7", "jlink", "--probe", "jlink:@7-7")

    def case_nameless(self):
        """Two of a kind without serial numbers: told apart by their places, in the order of those."""
        rows = adapters()
        check([a["probe"] for a in rows] == ["jlink:@1-2", "jlink:@1-10"] and not any(a["serial"] for a in rows), rows)
        wrong("adapter", "2 adapters fit: jlink:@1-2, jlink:@1-10", "choose one: --probe jlink:@1-2", *TARGET)
        d, w = doctor(*TARGET, "--probe", "jlink:@1-2")
        check(w is None, json.dumps(d, indent=1))
        wrong("power", "no target power", "switch the board on", *TARGET, "--probe", "jlink:@1-10") # there is no board at that one

    def case_volts(self):
        """The supply is shown, and checked where it was said what it should be."""
        d, w = doctor(*TARGET)
        check(w is None and d["steps"][3]["detail"] == "1.80 V", json.dumps(d, indent=1))
        wrong("power", "1.80 V, not 3.30 V", "supply", *TARGET, "--voltage", "3.3")
        r = run(*TARGET, "--voltage", "3.3", "--no-profile", "--gdb", "0")
        check(r.returncode == 1 and "the target has 1.80 V, not 3.30 V" in r.stderr, r.stderr)
        p, said = bridge("--voltage", "1.8")
        check("target voltage 1.80 V" in said, said)
        end(p)

    def case_nothing(self):
        """Devices are there, none of them an adapter."""
        check(adapters() == [], "listed")
        wrong("adapter", "among 1 device on the USB bus", "probeprof list")

    def case_fault(self):
        """What doctor says of a board's fault: STEP and TEXT follow."""
        wrong(sys.argv[4], sys.argv[5], "", *TARGET, "--halt")


getattr(Cases(), "case_" + sys.argv[3])()
