#!/usr/bin/env python3
"""Headers say what their functions do, and functions fit a screen. Prints file:line of each declaration in a product header that has no
comment with it (above it in the same paragraph, which may speak for several, or behind it), and of each function that is too long.

usage: check_headers.py SOURCE_DIR      exit 0 clean, 1 with findings
"""
import os
import re
import sys

FOLDERS = ("probe", "targets", "gdbstub", "profiler")
SCREEN = 60  # lines, from the opening to the closing brace
# A declaration at the left margin; what it calls itself is the last name before the parenthesis.
FUNCTION = re.compile(r"^(?!(?:typedef|static|enum|union|extern|return|volatile|#)\b)[a-z][\w \*]*?\b(\w+)\(")


def undocumented(lines):
    """(line, name) of each declaration without a comment."""
    found = []
    comment = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            comment = False
            continue
        comment = comment or "/*" in line or "*/" in line
        m = FUNCTION.match(line)
        if m and not comment:
            found.append((number, m.group(1)))
    return found


def too_long(lines):
    """(line, length) of each function body that does not fit a screen: braces of functions stand at the left margin."""
    found = []
    start = None
    for number, line in enumerate(lines, 1):
        if line.rstrip() == "{":
            start = number
        elif line.startswith("}"):
            if start is not None and number - start + 1 > SCREEN:
                found.append((start, number - start + 1))
            start = None
    return found


def self_test(findings):
    """The checker itself must be able to fail."""
    header = ["/* a_new - makes one */", "int a_new(struct a **out);", "void a_free(struct a *a);", "", "int a_bare(struct a *a,",
              "           int b);", "const char *a_name(void); /* borrowed */", "", "static inline int a_in(void)", "{", "}", ""]
    if undocumented(header) != [(5, "a_bare")]:
        findings.append(f"self-test: read as {undocumented(header)}")
    body = ["int f(void)", "{"] + ["    x();"] * SCREEN + ["}"]
    if too_long(body) != [(2, SCREEN + 2)] or too_long(body[:10] + ["}"]):
        findings.append(f"self-test: lengths read as {too_long(body)}")


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    findings = []
    self_test(findings)
    headers = sources = 0
    for folder in FOLDERS:
        for here, _, files in os.walk(os.path.join(sys.argv[1], folder)):
            for file in sorted(files):
                if not file.endswith((".c", ".h")):
                    continue
                path = os.path.join(here, file)
                with open(path, encoding="utf-8") as f:
                    lines = f.read().split("\n")
                name = os.path.relpath(path, sys.argv[1])
                if file.endswith(".h"):
                    headers += 1
                    findings += [f"{name}:{n}: {what}() has no comment" for n, what in undocumented(lines)]
                sources += 1
                findings += [f"{name}:{n}: {length} lines, a screen has {SCREEN}" for n, length in too_long(lines)]
    for finding in findings:
        print(finding)
    print(f"{headers} headers and {sources} files read, {len(findings)} findings")
    return 1 if findings or headers == 0 else 0


sys.exit(main())
