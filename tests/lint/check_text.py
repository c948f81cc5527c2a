#!/usr/bin/env python3
"""Text that may hold foreign text (names in files, USB strings, what a program prints) leaves by the functions that clean it: text_print, text_line,
err_set, log_msg, sink_printf, json_write_string (probe/base/text.h). Prints file:line of what goes past them.

usage: check_text.py SOURCE_DIR      exit 0 clean, 1 with findings
"""
import os
import re
import sys

FOLDERS = ("probe", "gdbstub", "targets", "profiler")
# What prints its own words only, or writes a file's contents.
OWN = {
    "profiler/cli/main.c": r"stdout|stderr",           # hands them to the commands
    "profiler/cli/top_screen.c": r"stdout",            # curses has it; the lines are clean
    "profiler/cli/view.c": r"\\033|fwrite",            # the one command; a sink's text, cleaned or JSON
    "profiler/cli/completion_bash.c": r"printf|fputs", "profiler/cli/completion_zsh.c": r"printf|fputs", "profiler/cli/completion_fish.c": r"printf|fputs",
    "profiler/cli/project.c": r"fputs",                # the list of trusted folders
    "profiler/cli/cmd_doctor.c": r"log to stderr", # help texts
    "profiler/cli/cmd_stat.c": r"log to stderr", # help texts
    "probe/base/text.c": r"printf|fwrite",
    "profiler/cli/doctor_file.c": r"printf|fputs|fwrite", # a file, of lines that are clean
    "profiler/views/report_priv.h": r"REPORT_RED|REPORT_HOT|REPORT_PLAIN", # colours
    "targets/sh4/isa/gen/isa_gen.c": r".",                 # runs when the program is built
}
RULES = [
    (r"\b(v?fprintf|printf|vprintf)\s*\([^;]*%[-.*0-9]*s", "printf"),
    (r"\bv(f)?printf\s*\(", "printf"),
    (r"\b(fputs|puts)\s*\(\s*(?!\")", "fputs"),
    (r"\bfwrite\s*\(", "fwrite"),
    (r"\\0?33|\\x1[bB]|\\e\[", "\\033"),
    (r"\b(stdout|stderr)\b", "stdout"),
]


def findings(root):
    for folder in FOLDERS:
        for where, _, files in os.walk(os.path.join(root, folder)):
            for name in sorted(files):
                if name.endswith((".c", ".h")):
                    yield from in_file(os.path.join(where, name), os.path.relpath(os.path.join(where, name), root))


def in_file(path, name):
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), f.read(), flags=re.S)
    to_memory = re.search(r"open_memstream|FILE \*f\b", text) and not name.startswith("profiler/cli/")
    for number, line in enumerate(text.split("\n"), 1):
        for rule, kind in RULES:
            if not re.search(rule, line) or re.search(OWN.get(name, "$^"), kind) or re.search(OWN.get(name, "$^"), line):
                continue
            if to_memory and kind in ("printf", "fputs", "fwrite"):
                continue # a text in memory, printed by others
            yield f"{name}:{number}: {line.strip()}"


def main():
    found = list(findings(sys.argv[1]))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
