#!/usr/bin/env python3
"""Runs every example of the help texts, the manual page, the README and docs/adapters.md: users type those first.

usage, in the rig with a J-Link and a USBDM pod: examples.py PROBEPROF SOURCE_DIR CAPTURE_EDGES
"""
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

PROGRAM, SOURCE, CAPTURE = (os.path.abspath(a) for a in sys.argv[1:4])
ENV = {k: v for k, v in os.environ.items() if k != "PROBEPROF_PROBE"}
ENV["PATH"] = os.path.dirname(PROGRAM) + ":" + ENV["PATH"]
ENV["PROBEPROF_HTTP"] = "0"  # a port that nobody has
UNDER_WAY = ("Ctrl-C ends it",)
BEGUN = ("GDB: target remote", "feed: http")  # a busy machine loads the board for long behind that


def text_of(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return f.read()


def examples():
    """{command line: where it stands}; comments behind it are cut off."""
    found = {}
    commands = re.findall(r"(?m)^  ([a-z]+) ", subprocess.run([PROGRAM, "help"], stdout=subprocess.PIPE, text=True, check=True).stdout.split("Commands:")[1].split("Example")[0])
    for c in ["", *commands]:
        said = subprocess.run([PROGRAM, "help", *c.split()], stdout=subprocess.PIPE, text=True, check=True).stdout.split("Example")[1]
        found.update({line: "help " + c for line in re.findall(r"(?m)^  ((?:\w+=\S+ )?probeprof.*)$", said)})
    for line in [line for line in found if line.startswith("probeprof top")]:
        print("   - left out, it needs a run under way (cli_Top*): " + line)
        del found[line]
    manual = text_of("docs/man/probeprof.1").split(".Sh EXAMPLES")[1]
    found.update({line: "manual" for line in re.findall(r"(?m)^((?:\w+=\S+ )?probeprof.*)$", manual)})
    for path in ("README.md", "docs/adapters.md"):
        for line in re.findall(r"(?m)^    (?:\$ )?((?:\w+=\S+ )?probeprof (?!: ).*)$", text_of(path)):
            if "dcload-ip:" in line:  # a Dreamcast on a network: tests/sh4 has one (dcip_tutorial, dcip_gdb)
                print("   - left out, it needs a Dreamcast: " + line)
            elif not line.startswith("probeprof:"):
                found[re.sub(r"\s+#.*", "", line).strip()] = path
    return found


def motor_vcd(path):
    edges = path + ".edges"
    subprocess.run([CAPTURE, "sim:s12zvml128", edges], check=True)
    with open(edges, "rb") as f, open(path, "w", encoding="ascii") as out:
        out.write("$timescale 1 ps $end\n$var wire 1 ! PDO $end\n$var wire 1 \" PDOCLK $end\n$enddefinitions $end\n")
        for (edge,) in struct.iter_unpack("<Q", f.read()):
            out.write("#%d\n%d!\n%d\"\n" % (edge >> 2, edge & 1, edge >> 1 & 1))


def prepare(folder):
    """The files that examples name; a project of the tutorial in one folder, none in the other."""
    project, bare = os.path.join(folder, "project"), os.path.join(folder, "bare")
    tutorial = os.path.join(SOURCE, "docs", "examples", "profexam")
    for d in (project, bare):
        os.mkdir(d)
        shutil.copy(os.path.join(tutorial, "profexam.elf"), os.path.join(d, "game.elf"))
    shutil.copy(os.path.join(tutorial, "profexam.elf"), project)
    shutil.copy(os.path.join(SOURCE, "tests", "cli", "e2e", "profexam.map"), os.path.join(project, "game.map"))
    shutil.copy(os.path.join(SOURCE, "docs", "examples", "motor", "motor.elf"), project)
    with open(os.path.join(project, "probeprof.conf"), "w", encoding="ascii") as f:
        f.write("[probeprof]\nprobe = sim:sh7750\nelf = profexam.elf\nload = yes\n")
    motor_vcd(os.path.join(project, "capture.vcd"))
    with open(os.path.join(project, "run.lines"), "wb") as f:
        f.write(struct.pack("<3Q", 0x00000000FE000000, 0xFE12340000000D01, 0x0010000000000117))  # a start, three branches and a jump, an end
    subprocess.run([PROGRAM, "--start", "main+8", "--stop", "0x0C010030", "--passes", "1", "--gdb", "off", "-o", "run.prf", "--record", "run.rec"], cwd=project, env=ENV, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([PROGRAM, "--sample", "--for", "50ms", "--gdb", "off", "--record", "samples.rec"], cwd=project, env=ENV, check=True, stdout=subprocess.DEVNULL)
    for other in ("before.rec", "after.rec"):
        shutil.copy(os.path.join(project, "run.rec"), os.path.join(project, other))
    return project, bare


def interrupt(p, seconds):
    end = time.monotonic() + seconds
    while p.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    if p.poll() is None:
        p.send_signal(signal.SIGINT)


def try_out(line, folder):
    """Until it ends by itself; what would go on until Ctrl-C gets that, a while after it has begun."""
    with tempfile.TemporaryFile("w+") as said:
        p = subprocess.Popen("exec " + line if not re.match(r"\w+=", line) else "export " + line.replace(" probeprof", "; exec probeprof", 1), shell=True, cwd=folder,
                             env=ENV, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        begun, asked, end = None, False, time.monotonic() + 600
        while p.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
            text = os.pread(said.fileno(), os.fstat(said.fileno()).st_size, 0).decode(errors="replace")  # a seek would move the place where it writes
            if begun is None and any(word in text for word in BEGUN):
                begun = time.monotonic()
            under_way = any(word in text for word in UNDER_WAY)
            if not asked and (under_way or (begun and (" view " in line or time.monotonic() > begun + 60))):
                interrupt(p, 3)
                asked = True
        if p.poll() is None:
            p.kill()
        said.seek(0)
        return p.wait(), said.read()


def loaded_by_somebody(folder):
    """The board behind the adapter has its program already, as examples without --load take for granted."""
    code, said = try_out("probeprof --target sh7750 --private --elf game.elf --load --no-profile", folder)
    if code:
        sys.exit(said)


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        project, bare = prepare(folder)
        loaded_by_somebody(bare)
        todo = examples()
        if len(todo) < 20:
            sys.exit(f"only {len(todo)} examples found")
        for line, where in todo.items():
            desk = re.search(r"probeprof (list|doctor)|--target", line)
            code, said = try_out(line, bare if desk else project)
            print(f"{code:4} {where}: {line}", flush=True)
            if code:
                wrong.append(line)
                print(said)
    if wrong:
        sys.exit("wrong: " + "; ".join(wrong))


main()
