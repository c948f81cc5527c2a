#!/usr/bin/env python3
"""What comments and documents point to is there. Prints file:line of each path of the tree that does not exist, and of each source that is cited by
a key which docs/sources.md does not have.

usage: check_refs.py SOURCE_DIR      exit 0 clean, 1 with findings
"""
import os
import re
import sys

TOP = ("probe", "targets", "gdbstub", "profiler", "tests", "docs", "udev", ".ci")
TEXT = (".c", ".h", ".S", ".py", ".sh", ".md", ".cmake", ".txt", ".def", ".inc", ".1", ".mk", ".rules", ".service")
PATH = re.compile(r"(?<![\w./@$}{*-])((?:" + "|".join(map(re.escape, TOP)) + r")/[\w./-]*\w\.(?:c|h|S|md|py|sh|cmake|def|inc|elf|1|mk|rules|service|txt|exp))\b(?![\w*{])")
PAPER = re.compile(r"\breference/[\w-]+\.md|\b(?:STYLE|DESIGN)\.md")
KEY = re.compile(r"\b(ZV[A-Z]+) p\.\d|\b(HDR|USBDM-FW|SEED)\b")
MADE = re.compile(r"/(?:x|NAME)\.\w+$")  # names that stand for any: "docs/x.md"
SKIP = ("tests/fuzz/corpus", "tests/lint/check_", "build", ".git")


def keys_of(sources):
    return {m.group(1) for m in re.finditer(r"^\| ([\w-]+) \|", sources, re.M)}


def findings_in(name, text, exists, keys):
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        for m in PATH.finditer(line if "#include" not in line else ""):  # the compiler sees to those
            if not MADE.search(m.group(1)) and not exists(m.group(1)):
                found.append(f"{name}:{number}: {m.group(1)} is not there")
        for m in PAPER.finditer(line):
            found.append(f"{name}:{number}: {m.group(0)} is not in the tree: cite what it stands on (docs/sources.md)")
        for m in KEY.finditer(line):
            key = m.group(1) or m.group(2)
            if key not in keys:
                found.append(f"{name}:{number}: {key} is no source of docs/sources.md")
    return found


def self_test(findings):
    """The checker itself must be able to fail."""
    text = "see docs/a.md and probe/gone.c\nreference/s12z.md 1\nZVQ p.3, ZVM p.4, tests/x.c, a/docs/b.md"
    got = findings_in("f", text, lambda p: p == "docs/a.md", {"ZVM"})
    if len(got) != 3 or [g.split(":")[1] for g in got] != ["1", "2", "3"]:
        findings.append(f"self-test: read as {got}")


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    top, findings, files = sys.argv[1], [], 0
    self_test(findings)
    with open(os.path.join(top, "docs/sources.md"), encoding="utf-8") as f:
        keys = keys_of(f.read())
    for here, folders, names in os.walk(top):
        folders[:] = [d for d in folders if os.path.relpath(os.path.join(here, d), top).split(os.sep)[0] in TOP]
        for file in names:
            name = os.path.relpath(os.path.join(here, file), top)
            if not name.endswith(TEXT) or name.startswith(SKIP):
                continue
            with open(os.path.join(top, name), encoding="utf-8", errors="replace") as f:
                text = f.read()
            files += 1
            findings += findings_in(name, text, lambda p: os.path.exists(os.path.join(top, p)), keys)
    for finding in findings:
        print(finding)
    print(f"{files} files read, {len(findings)} findings")
    return 1 if findings else 0


sys.exit(main())
