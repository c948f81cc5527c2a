#!/usr/bin/env python3
"""C that a newcomer can read: functions that say what they do on what, no conditional in a conditional, few conditionals at all,
files that end, and the field's words in names; of tests, that their static functions say what they do on what. Prints file:line
of each finding, then the figures by which density is compared (docs/design.md).

usage: check_style.py SOURCE_DIR [--worst N]
    --worst N   also the N files with the most tokens a line, and the N with the most ?: a function
exit 0 clean, 1 with findings
"""
import os
import re
import sys

FOLDERS = ("probe", "targets", "gdbstub", "profiler")
# ?: per 100 functions at most: a little above what was reached. A file counts for the longest of these names that it lies in.
CONDITIONALS = {
    "probe": 9, "gdbstub": 10, "targets": 8, "targets/sim": 9, "targets/sh4": 10, "targets/s12z": 10,
    "profiler": 12, "profiler/core": 10, "profiler/feed": 11,
}
FEW_FUNCTIONS = 5  # a file with fewer is not among the worst by its functions
LONGEST_FILE = 600
LONGEST_LINE = 100
# Programs for boards: their committed ELFs are what their sources give, names and all.
BOARD_PROGRAMS = ("tests/programs/", "tests/kos/threads.c", "tests/gdbstub/gdb/", "tests/profiler/data/src/")
# Functions of one word, where the word is the field's own: a number as the bytes of its order, from memory and back.
ONE_WORD = {"le16", "le32", "le64", "be16", "be32", "get16", "get32", "put16", "put32", "main"}
# Words that were coined here, and what the field says instead. They may be plain English in a sentence, but are no names.
COINED = {
    "leftover": "stale session", "leftovers": "stale session", "crawl": "single-stepping", "crawling": "single-stepping",
    "anew": "again, re-arm, restart", "unheard": "lost, not reported", "told": "reported, notified", "beacon": "heartbeat",
    "adopt": "attach, assign", "adopted": "attached, assigned", "recall": "read back, restore", "yielded": "stopped, returned",
    "accuse": "report", "accused": "reported",
}
TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|\d[\w.]*|"
                   r"->|\+\+|--|<<=|>>=|<<|>>|[<>=!&|+*/%^-]=|&&|\|\||\.\.\.|\S", re.S)
STATIC = re.compile(r"^(?:__attribute__\(\(.*?\)\)\s+)?static\s[^;{}()=]*?\b(\w+)\(", re.M)
FUNCTION = re.compile(r"^\{|^\w.*\) \{.*\}$", re.M)


def tokens(text):
    """(line, token) of everything but comments."""
    found, line, at = [], 1, 0
    for m in TOKEN.finditer(text):
        line += text.count("\n", at, m.start())
        at = m.start()
        if not m.group(0).startswith(("/*", "//")):
            found.append((line, m.group(0)))
    return found


def one_word(text):
    """(line, name) of each static function whose name is one word."""
    return [(text.count("\n", 0, m.start(1)) + 1, m.group(1)) for m in STATIC.finditer(text)
            if "_" not in m.group(1) and m.group(1) not in ONE_WORD]


def chains(code):
    """Lines with a second '?' in one expression: parentheses, commas and semicolons begin another."""
    found, open_ = [], [0]
    for line, token in code:
        if token in ("(", "[", "{"):
            open_.append(0)
        elif token in (")", "]", "}"):
            open_ = open_[:-1] or [0]
        elif token in (",", ";"):
            open_[-1] = 0
        elif token == "?":
            open_[-1] += 1
            if open_[-1] == 2:
                found.append(line)
    return found


def coined(code):
    """(line, name, word) of each identifier with a coined word in it, once a name."""
    found = {}
    for line, token in code:
        if token[0].isalpha() or token[0] == "_":
            for word in token.lower().split("_"):
                if word in COINED:
                    found.setdefault(token, (line, token, word))
    return list(found.values())


def self_test(findings):
    """The checker itself must be able to fail."""
    if one_word("static int run(int a)\n{\n}\nstatic bool is_in(int a);\nstatic const int x[] = { f(1) };\nstatic char *at\n(int b);\n"
                "static uint16_t\n*look(void)\n__attribute__((format(printf, 1, 2))) static void say(const char *f, ...);\n") != [
                    (1, "run"), (9, "look"), (10, "say")]:
        findings.append("self-test: one word")
    if chains(tokens("a = b ? c : d;\nx = a ? b\n : c ? d : e;\nf(a ? 1 : 2, b ? 3 : 4);\n/* a ? b ? */ y = a ? (b ? 1 : 2) : '?';\n")) != [3]:
        findings.append("self-test: chains")
    if coined(tokens('/* told */ int x_TOLD_by, stolen, told_x; f("told"); told_x++;')) != [(1, "x_TOLD_by", "told"), (1, "told_x", "told")]:
        findings.append("self-test: coined words")


def sources(root, folder):
    """(name, text) of each C file and header in a folder that was written by hand."""
    for here, _, files in os.walk(os.path.join(root, folder)):
        for file in sorted(files):
            if file.endswith((".c", ".h")) and not file.endswith("_blob.c"):
                path = os.path.join(here, file)
                with open(path, encoding="utf-8") as f:
                    yield os.path.relpath(path, root), f.read()


def one_word_findings(name, text):
    """What one_word() finds in a file, as findings."""
    return [f"{name}:{n}: {what}() is one word: it says what it does on what" for n, what in one_word(text)]


def part_of(name):
    """The folder of CONDITIONALS that a file counts for."""
    return max((part for part in CONDITIONALS if name.startswith(part + "/")), key=len)


class Figures:
    """Density, as it was compared with other projects' sources."""

    def __init__(self):
        self.lines = self.tokens = self.conditionals = self.branches = self.functions = self.longest = 0
        self.where = ""

    def add(self, name, text, code):
        words = [token for _, token in code]
        self.tokens += len(words)
        self.conditionals += words.count("?")
        self.branches += sum(map(words.count, ("if", "for", "while", "case", "&&", "||", "?")))
        self.lines += len({line for line, _ in code})
        self.functions += len(FUNCTION.findall(text))
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > self.longest:
                self.longest, self.where = len(line), f"{name}:{number}"

    def density(self):
        return self.tokens / max(self.lines, 1)

    def per_100(self):
        return 100 * self.conditionals / max(self.functions, 1)

    def text(self):
        return (f"{self.lines} lines of code: {self.density():.2f} tokens and {self.branches / self.lines:.3f} branches a line, "
                f"{self.per_100():.1f} ?: per 100 functions, longest line {self.longest} ({self.where})")


def show_worst(files, n):
    """The n files with the densest lines, and the n with the most conditionals a function."""
    dense = sorted(files.items(), key=lambda file: -file[1].density())
    for name, figures in dense[:n]:
        print(f"{figures.density():6.2f} tokens a line: {name}")
    choosing = [file for file in files.items() if file[1].functions >= FEW_FUNCTIONS]
    for name, figures in sorted(choosing, key=lambda file: -file[1].per_100())[:n]:
        print(f"{figures.per_100():6.1f} ?: per 100 functions: {name}")


def main():
    worst = 0
    if len(sys.argv) == 4 and sys.argv[2] == "--worst" and sys.argv[3].isdigit():
        worst = int(sys.argv[3])
    elif len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    findings = []
    self_test(findings)
    parts = {part: Figures() for part in CONDITIONALS}
    each = {}
    whole = Figures()
    for folder in FOLDERS:
        for name, text in sources(sys.argv[1], folder):
            code = tokens(text)
            each[name] = Figures()
            for figures in (each[name], parts[part_of(name)], whole):
                figures.add(name, text, code)
            findings += one_word_findings(name, text)
            findings += [f"{name}:{n}: a ?: in a ?: is an if, a table or a function" for n in chains(code)]
            findings += [f"{name}:{n}: {what}: the field says {COINED[word]}" for n, what, word in coined(code)]
            if text.count("\n") > LONGEST_FILE:
                findings.append(f"{name}: {text.count(chr(10))} lines, {LONGEST_FILE} are the most: cut it where a reader would")
    tests = 0
    for name, text in sources(sys.argv[1], "tests"):
        if not name.startswith(BOARD_PROGRAMS):
            tests += 1
            findings += one_word_findings(name, text)
    for part, most in CONDITIONALS.items():
        if parts[part].per_100() > most:
            findings.append(f"{part}: {parts[part].per_100():.1f} ?: per 100 functions, {most} are the most: an if, a small function "
                            f"of probe/base/choice.h, or a table ({sys.argv[0]} SOURCE_DIR --worst 10)")
    for finding in findings:
        print(finding)
    show_worst(each, worst)
    for part, figures in parts.items():
        print(f"{part}: {figures.text()}")
    print(f"all: {whole.text()}")
    if whole.longest > LONGEST_LINE and not whole.where.endswith(".def"):
        print(f"(lines beyond {LONGEST_LINE} columns are tables that clang-format leaves alone)")
    print(f"{len(findings)} findings")
    return 1 if findings or not whole.functions or not tests else 0


sys.exit(main())
