#!/usr/bin/env python3
"""A report for others tells what went over the adapter, and neither its serial number nor who and where it was.

usage, in the rig: report.py PROBEPROF SERIAL PROBE
"""
import os
import re
import subprocess
import sys
import tempfile


def main():
    program, serial, probe = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="secretfolder") as folder:
        env = dict(os.environ, HOME=os.path.join(folder, "secrethome"))
        r = subprocess.run([program, "doctor", "--probe", probe, "--target", "sh7750", "--private", "--halt", "--report", "r.txt"], cwd=folder, env=env, timeout=600,
                           capture_output=True, text=True)
        print(r.stdout, r.stderr)
        with open(os.path.join(folder, "r.txt"), encoding="utf-8") as f:
            text = f.read()
    print(text[:4000])
    found = [what for what in (r" ms usb: .* [<>]", r" ms wire: ", r"(?m)^ok +cpu", r"\[serial\]", r"system: Linux") if not re.search(what, text)]
    number = int(serial).to_bytes(4, "little").hex(" ") if serial.isdigit() else serial
    private = [serial, serial.encode().hex(" "), serial.encode("utf-16le").hex(" "), number, "secretfolder", "secrethome", os.uname().nodename]
    found += [p for p in private if p in text]
    if r.returncode != 0 or found:
        sys.exit(f"exit code {r.returncode}; missing, or private: {found}")


main()
