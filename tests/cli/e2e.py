#!/usr/bin/env python3
"""End-to-end tests of the probeprof program: the real binary, the simulated board, real files and sockets.

usage: e2e.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

import prf_text

PROBEPROF = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(sys.argv[2])
EXAMPLES = os.path.join(SOURCE, "docs", "examples")
PROFEXAM = os.path.join(EXAMPLES, "profexam")
IRQDEMO = os.path.join(EXAMPLES, "irqdemo")
CXX = os.path.join(EXAMPLES, "cxx")
MISSION = ["--start", "main+8", "--stop", "0x0C010030"]
PASS_HITS = {"Initialise": 1, "BuildList": 1, "GetNewNode": 1000, "MallocNode": 1000, "GetLastNode": 999, "InsertNode": 1000}
TIMEOUT = 600


def start(args, cwd=None, probe="sim:sh7750", stdout=subprocess.PIPE, **more):
    env = dict(os.environ)
    env.pop("PROBEPROF_PROBE", None)
    if probe:
        env["PROBEPROF_PROBE"] = probe
    return subprocess.Popen([PROBEPROF] + args, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=stdout,
                            stderr=subprocess.PIPE, text=True, **more)


def run(args, cwd=None, probe="sim:sh7750", **more):
    p = start(args, cwd, probe, **more)
    try:
        out, err = p.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        p.kill()
        out, err = p.communicate()
        raise AssertionError(f"{args} did not end; stderr:\n{err}")
    return subprocess.CompletedProcess(args, p.returncode, out, err)


def hits(document):
    return {f["name"]: f["hits"] for f in document["functions"] if f["hits"]}


def check_identities(case, document):
    """C1+children = C1 + the children's, at every node and for both counters; totals agree."""
    tree = document["tree"]
    children = {}
    for node in tree:
        children.setdefault(node["parent"], []).append(node)
    ids = [n["id"] for n in tree]
    case.assertEqual(len(ids), len(set(ids)))
    for node in tree:
        for c in ("c1", "c2"):
            below = sum(n[c + "_children"] for n in children.get(node["id"], []))
            case.assertEqual(node[c + "_children"], node[c] + below, f"node {node['id']} {c}")
        case.assertLess(node["function"], len(document["functions"]))
    for c in ("hits", "c1", "c2"):
        per_function = [0] * len(document["functions"])
        for node in tree:
            per_function[node["function"]] += node[c]
        case.assertEqual(per_function, [f[c] for f in document["functions"]], c)


COUNTS = ("hits", "c1", "c1_children", "c2", "c2_children")


def check_prf(case, document, header, functions, calls):
    """Another reader finds in the .prf what the JSON document says."""
    for key in ("hits", "c1", "c2"):
        case.assertEqual(header[key], document["totals"][key])
    case.assertEqual(len(functions), len(document["functions"]))
    for f, g in zip(functions, document["functions"]):
        case.assertEqual([f[k] for k in COUNTS], [g[k] for k in COUNTS], g["name"])
        case.assertEqual((f["name"], f["label"], f["qualified"]), (g["name"], g["linkage_name"] or "", g["qualified_name"] or ""))
        case.assertEqual((f["low"], f["max"] + 1), (g["low"], g["high"]))
        case.assertEqual(f["cache_line"], 0xFFFF if g["cache_line"] is None else g["cache_line"])
        case.assertEqual(f["attributes"], int(g["doubtful"]))
        case.assertEqual((f["overlay_area"], f["overlay"], f["group"]), (0xFFFFFFFF,) * 3)
    for c, n in zip(calls, document["tree"], strict=True):
        g = document["functions"][n["function"]]
        case.assertEqual([c[k] for k in COUNTS], [n[k] for k in COUNTS], n)
        case.assertEqual((c["parent"], c["low"], c["name"], c["attributes"]), (n["parent"], g["low"], g["name"], int(n["doubtful"])))


class Folder(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="probeprof-e2e-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def wait_for_hits(self, part, function, more):
        """Until what a running profile records has so many more hits of a function than at first."""
        until, first = time.monotonic() + TIMEOUT, None
        while True:
            r = run(["report", part, "--json"], cwd=PROFEXAM)
            now = hits(json.loads(r.stdout)).get(function, 0) if r.returncode == 0 else 0
            first = now if first is None else first
            if now >= first + more:
                return
            self.assertLess(time.monotonic(), until, r.stderr)

    def wait_for_events(self, part):
        """Until what a running profile records can be read, and holds a function."""
        self.wait_for_hits(part, "GetNewNode", 1)

    def wait_for(self, process, text):
        line = ""
        late = threading.Timer(TIMEOUT, process.kill)
        late.start()
        try:
            while text not in line:
                line = process.stderr.readline()
                self.assertTrue(line, f"ended, or was ended, before saying {text!r}")
        finally:
            late.cancel()
        return line

    def assert_fails(self, result, status, what, hint):
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(what, result.stderr)
        self.assertIn("hint: ", result.stderr)
        self.assertIn(hint, result.stderr.split("hint: ", 1)[1])


class Usage(Folder):
    def test_bad_lines(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        rows = [
            (["rum"], "there is no command 'rum'", "did you mean run or dump?"),
            (["--prob", "x"], "unknown option --prob", "--probe"),
            (["--device", "SH7750"], "unknown option --device", "here it is --target T"),
            (["doctor", "--interface", "x"], "unknown option --interface", "here it is --probe P"),
            (["list", "--device", "x"], "unknown option --device", "--help"),
            (["devices"], "there is no command 'devices'", "here it is `probeprof list`"),
            (["flash", "x.elf"], "there is no command 'flash'", "--load --elf FILE"),
            (["run", "p.elf", "surplus"], "unexpected argument 'surplus'", "--help"),
            ([elf, "--elf", elf], "and --elf", "one program"),
            (["--elf", elf, "--start", "main", "--start", "entry"], "given twice, main and entry", "one start point"),
            (["--gdb", "off", "--no-profile"], "nothing to do", "leave one of them out"),
            (["--elf", elf, "--load", "--no-load"], "contradict each other", "leave one of them out"),
            (["--no-private", "--private"], "contradict each other", "leave one of them out"),
            (["--rate", "0", "--sample"], "that would never look", "1 to 1M"),
            (["--elf", os.path.join(EXAMPLES, "cxx", "cxx.elf"), "--start", "scale"], "2 functions are called", "left.cc:scale or right.cc:scale"),
            (["--elf", os.path.join(EXAMPLES, "cxx", "cxx.elf"), "--stop", "scale+2"], "2 functions are called", "left.cc:scale or right.cc:scale"),
            (["--start"], "--start needs a value", "profile from here"),
            (["--passes", "0"], "passes: '0'", "whole number"),
            (["report"], "report needs", "probeprof report"),
            (["help", "repotr"], "no command 'repotr'", "report"),
            (["--start", "main"], "--start needs the program", "--elf"),
            (["--json"], "--json needs the program", "--elf"),
            (["--load"], "--load needs the program", "--elf"),
            (["--elf", elf, "--passes", "2"], "--passes counts rounds", "--start A and --stop B"),
            (["--elf", elf, "--c1", "icache-mis"], "counts no event 'icache-mis'", "icache-miss"),
            (["--elf", elf, "--c2", "0x3f"], "counts no event '0x3f'", "probeprof events"),
            (["--elf", elf, "--target", "sh7750x"], "unknown part 'sh7750x'", "sh7750"),
            (["--target", "sh7091", "--probe", "smi:sh7750"], "smi", "sim"),
            (["--probe", "sim:sh7705"], "sh7705", "sh7750"),
            (["--passes", "-1"], "passes: '-1'", "whole number"),
            (["--passes", "99999999999999999999"], "passes: ", "whole number"),
            (["--for", "10"], "for: '10' is not a time", "30s"),
            (["--for", "1e999s"], "is not a time", "30s"),
            (["--speed", "0"], "speed: '0'", "10M"),
            (["--hits", "many"], "hits: ", ">=10%"),
            (["--sort", "size"], "sort: ", "c1+children"),
            (["--log", "usb,wires"], "log: 'wires'", "wire"),
            (["--policy", "lossy"], "policy: 'lossy'", "lossless"),
            (["--irq-filter", "shinobi:"], "shinobi: empty", "value"),
            (["--agent-ram", "0x8CF00000"], "agent-ram: ", "0x8CF00000:64k"),
            (["--agent-ram", "0x8FFFFFFF00000000:64k"], "agent-ram: ", "0x8CF00000:64k"),
            (["--agent-ram", "0xFFFFFFFF:64k"], "agent-ram: ", "0x8CF00000:64k"),
            (["--elf", elf, "--stack", "0x8C020000"], "stack: 0x8C020000 is no range", "LOW:HIGH"),
            (["--elf", elf, "--stack", "0x8C020400:0x8C020000"], "is an empty range", "the lower address first"),
            (["--conf", ""], "conf: empty", "value"),
            (["--json=yes"], "--json takes no value", "JSON"),
        ]
        for args, what, hint in rows:
            with self.subTest(args=args):
                self.assert_fails(run(args, cwd=self.dir), 2, what, hint)

    def test_what_only_sh4_has_is_refused_for_s12z(self):
        r = run(["--elf", os.path.join(EXAMPLES, "motor", "motor.elf"), "--probe", "sim:s12zvml128", "--stack", "0x1000:0x1100"], cwd=self.dir, probe=None)
        self.assert_fails(r, 2, "--stack is for SH-4 parts", "leave it out")

    def test_options_that_can_have_no_effect_are_refused(self):
        elf, motor, s12z = os.path.join(PROFEXAM, "profexam.elf"), os.path.join(EXAMPLES, "motor", "motor.elf"), ["--probe", "sim:s12zvml128"]
        self.assertEqual(run(MISSION + ["--elf", elf, "--load", "--passes", "1", "--gdb", "off", "--record", "r", "--output", "o.prf"], cwd=self.dir).returncode, 0)
        self.write("x.lines", "")
        lines = ["decode", "x.lines", "--format", "lines", "--elf", motor]
        rows = [([option, *value], f"{option} needs the program") for option, *value in (
                    ("--start", "main"), ("--stop", "main"), ("--for", "1s"), ("--output", "o"), ("--record", "r"), ("--c1", "none"), ("--c2", "none"), ("--ratio",),
                    ("--sample",), ("--irq-filter", "auto"), ("--policy", "live"), ("--agent-ram", "0x8CF00000:64k"), ("--no-patch", "1:2"),
                    ("--stack", "1:2"), ("--json",), ("--tree",), ("--hits", "3"), ("--all",), ("--sort", "c2"))]
        rows += [(["--no-profile", *args], what) for args, what in rows]
        rows += [(["--elf", elf, *args], what) for args, what in (
                    (["--no-profile", "--passes", "3"], "--passes counts rounds"), (["--capture", "pdo"], "--capture is for S12Z parts"),
                    (["--trace-lines"], "--trace-lines is for S12Z parts"), (["--pdo", "file:x.sr"], "--pdo is for S12Z parts"),
                    (["--bdc-fast"], "--bdc-fast is for S12Z parts"), (["--allow-security"], "--allow-security is for S12Z parts"),
                    (["--ratio", "--c1", "icache-miss", "--c2", "none"], "neither counter counts cycles"),
                    (["--sample", "--agent-ram", "0x8CF00000:64k"], "no use for --agent-ram"), (["--sample", "--policy", "live"], "no use for --policy"),
                    (["--json", "--tree"], "no use for --tree"), (["--tree", "--all"], "no use for --all"))]
        rows += [([*s12z, "--elf", motor, *args], what) for args, what in (
                    (["--private"], "for SH-4 parts"), (["--no-private"], "for SH-4 parts"), (["--ratio"], "for SH-4 parts"), (["--no-patch", "1:2"], "for SH-4 parts"),
                    (["--agent-ram", "0x1000:4k"], "for SH-4 parts"), (["--capture", "bdc", "--pdo", "file:x.sr"], "--capture bdc does without"))]
        rows += [(["report", "r", "--json", option, *value], f"no use for {option}") for option, *value in (("--tree",), ("--all",), ("--hits", "3"), ("--sort", "c2"))]
        rows += [(["report", "r", "--tree", "--sort", "c2"], "no use for --sort"), (["report", "r", "--tree", "--all"], "no use for --all"),
                 (["report", "o.prf", "--elf", elf], "--elf names the functions of a recording"),
                 ([*lines, "--json", "--tree"], "no use for --tree"), ([*lines, "--tree", "--all"], "no use for --all"), ([*lines, "--passes", "2"], "--passes counts rounds"),
                 (["doctor", "--log", "prof"], "nothing to log of that"), (["doctor", "--target", "s12zvml128", "--private"], "for SH-4 parts"),
                 (["help", "run", "surplus"], "unexpected argument 'surplus'"), (["completion", "bash", "surplus"], "unexpected argument 'surplus'")]
        for args, what in rows:
            with self.subTest(args=args):
                self.assert_fails(run(args, cwd=self.dir), 2, what, "")

    def test_one_kind_of_error_has_one_status(self):
        elf, motor = os.path.join(PROFEXAM, "profexam.elf"), os.path.join(EXAMPLES, "motor", "motor.elf")
        decode = ["decode", "x", "--format", "lines", "--elf"]
        kinds = {
            "unknown part": (2, [["--target", "x"], ["doctor", "--target", "x"], ["events", "--target", "x"]]),
            "no adapter driver": (2, [["--probe", "foo"], ["doctor", "--probe", "foo"]]),
            "unknown option": (2, [[c, "--nonsense"] for c in ("run", "report", "decode", "disasm", "dump", "events", "list", "doctor", "trust", "version")]),
            "no symbol": (1, [["--elf", elf, "--start", "nosuch"], ["--elf", elf, "--no-patch", "nosuch"], ["disasm", elf, "nosuch"], [*decode, motor, "--start", "nosuch"]]),
            "No such file": (1, [["--elf", "x"], ["doctor", "--elf", "x"], ["disasm", "x"], [*decode, "x"], ["report", "x"], ["dump", "lines", "x"], ["trust", "x"],
                                 ["--conf", "x"], ["doctor", "--conf", "x"], ["--elf", elf, "--output", "x/y"], ["doctor", "--report", "x/y"]]),
            "a program for x86-64": (1, [["--elf", "/bin/true"], ["doctor", "--elf", "/bin/true"], ["disasm", "/bin/true"], [*decode, "/bin/true"]]),
            "is not a frequency": (2, [["--speed", "x"], ["doctor", "--speed", "x"]]),
        }
        for what, (status, lines) in kinds.items():
            for args in lines:
                with self.subTest(args=args):
                    r = run(args, cwd=self.dir)
                    self.assertEqual(r.returncode, status, r.stderr)
                    self.assertIn(what, r.stderr)

    def test_doctor_s_report_replaces_reports_only(self):
        old = self.write("notes", "mine\n")
        self.assert_fails(run(["doctor", "--report", old], cwd=self.dir), 2, "would replace what is no such report", "another file")
        with open(old, encoding="utf-8") as f:
            self.assertEqual(f.read(), "mine\n")
        for _ in range(2):
            self.assertEqual(run(["doctor", "--report", "new"], cwd=self.dir).returncode, 0)

    def test_unknown_symbol_offers_near_ones(self):
        r = run(["--start", "GetLastNod"], cwd=PROFEXAM)
        self.assertIn(r.returncode, (1, 2))
        self.assertIn("GetLastNod", r.stderr)
        self.assertIn("GetLastNode", r.stderr.split("hint: ", 1)[1])

    def test_no_adapter_says_what_was_looked_at(self):
        self.assert_fails(run([], cwd=self.dir, probe=None), 2, "PROBEPROF_PROBE", "--probe sim:sh7750")

    def test_agent_is_not_put_over_the_program(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        for ram, what in (("0x8C010000:64k", "the program's .text"), ("0xAC010000:64k", "the program's .text"), ("0x8C012000:32k", "the program's .text.far"),
                          ("0x8CFE0000:64k", "the program's stack (symbol stack_top)"), ("0x8CFF0000:64k", "the program's stack")):
            with self.subTest(ram=ram):
                r = run(["--elf", elf, "--load", "--gdb", "off", "--for", "1ms", "--agent-ram", ram], cwd=self.dir)
                self.assert_fails(r, 2, what, "nothing of the program is known to be in --agent-ram 0x")
        free = re.search(r"--agent-ram (0x\w+:\w+)", r.stderr).group(1)
        self.assertEqual(run(["--elf", elf, "--load", "--gdb", "off", "--for", "1ms", "--agent-ram", free], cwd=self.dir).returncode, 0)

    @unittest.skipUnless(shutil.which("sh4-linux-gnu-objcopy"), "needs binutils-sh4-linux-gnu")
    def test_agent_is_not_put_over_the_heap(self):
        elf = self.path("heap.elf")
        for symbols in (("__heap_start=0x0C400000", "__heap_end=0x0C500000"), ("end=0x0C400000", "_sbrk=0x0C010000")):
            add = [f"--add-symbol={s},global" for s in symbols]
            subprocess.run(["sh4-linux-gnu-objcopy", *add, os.path.join(PROFEXAM, "profexam.elf"), elf], check=True)
            args = ["--elf", elf, "--load", "--gdb", "off", "--for", "1ms", "--agent-ram"]
            self.assert_fails(run([*args, "0x8C408000:64k"], cwd=self.dir), 2, "the program's heap", "nothing of the program is known to be in --agent-ram 0x")
            self.assertEqual(run([*args, "0x8C600000:64k"], cwd=self.dir).returncode, 0)

    def test_unknown_interrupt_routine_offers_near_ones(self):
        r = run(["--elf", os.path.join(IRQDEMO, "irqdemo.elf"), "--load", "--gdb", "off", "--irq-filter", "shinobi:CuontTick"], cwd=self.dir)
        self.assert_fails(r, 1, "shinobi: no symbol", "CountTick")
        self.assertNotIn("loaded", r.stderr)

    def test_files_that_are_no_programs(self):
        with open(os.path.join(PROFEXAM, "profexam.elf"), "rb") as f:
            elf = f.read()
        os.mkdir(self.path("folder"))
        for name, content in (("empty", b""), ("head", elf[:4]), ("cut", elf[:3000])):
            with open(self.path(name), "wb") as f:
                f.write(content)
        for name, what in (("folder", "not a regular file"), ("empty", "not an ELF"), ("head", "cut short"), ("cut", "cut short")):
            with self.subTest(name=name):
                self.assert_fails(run(["--elf", self.path(name), "--gdb", "off"], cwd=self.dir), 1, what, "")
        self.assert_fails(run(["--conf", self.path("folder")], cwd=self.dir), 1, "folder", "file")
        self.assert_fails(run(["report", self.path("folder")], cwd=self.dir), 1, "folder", ".prf")

    def test_no_elf_file(self):
        self.assert_fails(run(["--elf", "nowhere.elf"], cwd=self.dir), 1, "nowhere.elf", "")

    def test_elf_of_another_machine(self):
        r = run(["--elf", "/bin/true"], cwd=self.dir)
        self.assertNotEqual(r.returncode, 0)
        self.assertIn("/bin/true", r.stderr)

    def test_each_gets_a_plain_sentence(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        rows = [(["--elf", "/bin/true"], 1, "a program for ", "SH or S12Z"), (["none.elf"], 1, "No such file", ""), (["no/where"], 1, "No such file", ""),
                (["events", "--target", "s12zvl128"], 1, "no trace", "--sample"),
                (["--elf", os.path.join(EXAMPLES, "motor", "motor.elf"), "--probe", "sim:s12zvml128", "--ratio", "--gdb", "off"], 2, "--ratio is for SH-4 parts", "leave it out")]
        # what the program does not have is the same failure wherever it is asked for
        rows += [(["--elf", elf, *asked], 1, 'no symbol "nobody"', "") for asked in
                 (["--start", "nobody"], ["--stop", "nobody"], ["--stop", "nobody+4"], ["--no-patch", "nobody"], ["--no-patch", "nobody:main"],
                  ["--stack", "nobody:0x8c020000"], ["--irq-filter", "shinobi:nobody"])]
        rows += [(["disasm", elf, "nobody"], 1, 'no symbol "nobody"', "")]
        for args, status, what, hint in rows:
            with self.subTest(args=args):
                self.assert_fails(run(args, cwd=self.dir), status, what, hint)

    def test_a_program_alone_is_loaded_and_profiled(self):
        elf = shutil.copy(os.path.join(PROFEXAM, "profexam.elf"), self.path("firmware"))
        for args in (["firmware"], [elf], ["run", "firmware"]):
            with self.subTest(args=args):
                r = run([*args, "--for", "1ms", "--gdb", "off"], cwd=self.dir)
                self.assertEqual(r.returncode, 0, r.stderr)
                self.assertIn("loaded and verified", r.stderr)
        r = run(["--for", "1ms", "--gdb", "off", "firmware", "--no-load"], cwd=self.dir)
        self.assert_fails(r, 1, "does not run firmware", "--load")

    def test_conf_errors_name_the_line(self):
        self.write("probeprof.conf", "[probeprof]\n\nelff = x\n")
        self.assert_fails(run([], cwd=self.dir), 2, "probeprof.conf:3: unknown setting 'elff'", "elf")

    def test_conf_is_overridden_by_environment_and_flags(self):
        self.write("probeprof.conf", "[probeprof]\nprobe = conf-probe\n")
        self.assertIn("conf-probe", run([], cwd=self.dir, probe=None).stderr)
        self.assertIn("env-probe", run([], cwd=self.dir, probe="env-probe").stderr)
        self.assertIn("flag-probe", run(["--probe", "flag-probe"], cwd=self.dir, probe="env-probe").stderr)

    def test_help_everywhere(self):
        for args in (["--help"], ["help"], ["run", "--help"], ["report", "-h"], ["events", "--help"], ["list", "--help"],
                     ["version", "--help"], ["help", "help"], ["--start", "x", "--help"]):
            with self.subTest(args=args):
                r = run(args, cwd=self.dir, probe=None)
                self.assertEqual((r.returncode, r.stderr), (0, ""))
                self.assertIn("Example", r.stdout)

    def test_statistical_prf_is_read(self):
        with open(self.path("s.prf"), "wb") as f:
            f.write(prf_text.statistical([("Idle", 0x8C010020, 0x8C01003F, 30), ("Draw", 0x8C010040, 0x8C0100FF, 10)]))
        r = run(["report", "s.prf"], cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stdout, r"(?m)^ +30  75\.0  13\.0 +1 +Idle$")
        self.assertRegex(r.stdout, r"(?m)^ +10  25\.0  13\.0 +2 +Draw$")
        document = json.loads(run(["report", "s.prf", "--json"], cwd=self.dir).stdout)
        self.assertEqual((document["type"], hits(document), document["tree"]), ("statistical", {"Idle": 30, "Draw": 10}, []))

    def test_lists(self):
        events = json.loads(run(["events", "--json"], cwd=self.dir).stdout)
        self.assertEqual(len(events["events"]), 34)
        self.assertEqual(len({e["name"] for e in events["events"]}), 34)
        self.assertEqual({e["unit"] for e in events["events"]}, {"count", "cycles"})
        for name in ("elapsed-time", "icache-miss"):
            self.assertIn(name, run(["events"], cwd=self.dir).stdout)
        self.assertIn("version", json.loads(run(["version", "--json"], cwd=self.dir).stdout))
        self.assertEqual([line for line in run(["list"], cwd=self.dir).stdout.splitlines() if len(line) > 80], [])
        things = json.loads(run(["list", "--json"], cwd=self.dir).stdout)
        self.assertIn("sim", [d["name"] for d in things["drivers"]])
        self.assertLessEqual({"sh7750", "sh7091"}, {b["name"] for b in things["boards"]})
        for adapter in things["adapters"]: # those of the machine that tests, if any
            self.assertIn(adapter["driver"], [d["name"] for d in things["drivers"]])
            self.assertTrue(adapter["probe"] is None or adapter["probe"].startswith(adapter["driver"]))

    @staticmethod
    def options_of_help(text):
        """{(letter, name, takes a value)} of a command's --help."""
        rows = re.findall(r"(?m)^  (?:-(\w), |    )--([a-z0-9-]+)( \S+)? ", text)
        return {(letter, name, bool(value)) for letter, name, value in rows}

    @staticmethod
    def options_of_manual(section):
        found = set()
        for item in re.findall(r"(?m)^\.It (Fl .*)$", section):
            value, letter = bool(re.search(r"\bAr\b", item)), ""
            for flag in re.findall(r"Fl (\S+)", item):
                if flag.startswith("-"):
                    found.add((letter, flag[1:], value))
                letter = flag if len(flag) == 1 else ""
        return found

    def test_manual_and_help_have_the_same_commands_and_options(self):
        path = os.path.join(SOURCE, "docs", "man", "probeprof.1")
        with open(path, encoding="utf-8") as f:
            manual = f.read()
        commands = re.findall(r"(?m)^  ([a-z]+) ", run(["help"]).stdout.split("Commands:")[1].split("Example")[0])
        sections = dict(re.findall(r"(?ms)^\.Ss (\w+)\n(.*?)(?=^\.S[sh] )", manual.split("\n.Sh ADAPTERS")[0]))  # there they are adapters
        self.assertGreater(len(commands), 5)
        self.assertEqual(sorted(sections), sorted(commands))
        synopsis = re.search(r"(?ms)^\.Sh SYNOPSIS\n(.*?)^\.Sh", manual).group(1)
        self.assertEqual(sorted(re.findall(r"\bCm (\w+)", synopsis)), sorted(commands))
        for command in commands:
            with self.subTest(command=command):
                self.assertEqual(self.options_of_manual(sections[command]), self.options_of_help(run(["help", command]).stdout))
        adapters = set(re.findall(r"[\w-]+", " ".join(re.findall(r"(?m)^\.Ss (.*)$", manual.split("\n.Sh ADAPTERS")[1]))))
        drivers = {d["name"] for d in json.loads(run(["list", "--json"]).stdout)["drivers"]}
        self.assertEqual(adapters, drivers - {"sim", "file", "sigrok"})  # a simulated board says its own, --pdo the others'
        if shutil.which("mandoc"):
            r = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", path], capture_output=True, text=True, check=False)
            self.assertEqual((r.returncode, r.stdout), (0, ""))

    def test_help_fits_into_80_columns(self):
        commands = re.findall(r"(?m)^  ([a-z]+) ", run(["help"]).stdout.split("Commands:")[1].split("Example")[0])
        for args in [["help"], ["list"], ["events"], ["events", "--target", "s12zvml128"]] + [["help", c] for c in commands]:
            wide = [line for line in run(args).stdout.splitlines() if len(line) > 80]
            self.assertEqual(wide, [], args)

    def test_examples_of_help_use_options_that_exist(self):
        """Every line of an example that calls the program; run's own options are known without a command, too."""
        listed = {c: {name for _, name, _ in self.options_of_help(run(["help", c]).stdout)} | {"help"}
                  for c in ("run", "report", "decode", "disasm", "dump", "events", "list", "doctor", "version", "help")}
        for command in listed:
            lines = re.findall(r"(?m)^  (?:\w+=\S+ )?probeprof(.*)$", run(["help", command]).stdout.split("Example")[1])
            self.assertTrue(lines, command)
            for line in lines:
                word = line.split()[0] if line.split() else "run"
                used = set(re.findall(r"--([a-z0-9-]+)", line))
                self.assertLessEqual(used, listed[word if word in listed else "run"], line)

    def test_full_standard_output_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            r = subprocess.run([PROBEPROF, "events"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(r.returncode, 1)
        self.assertIn("standard output", r.stderr)


class Tutorial(Folder):
    """The mission's line, typed in docs/examples/profexam."""

    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.mkdtemp(prefix="probeprof-e2e-")
        cls.prf, cls.recording = os.path.join(cls.shared, "t.prf"), os.path.join(cls.shared, "t.rec")
        cls.result = run(MISSION + ["--passes", "2", "--gdb", "off", "--json", "--output", cls.prf, "--record", cls.recording],
                         cwd=PROFEXAM)
        cls.document = json.loads(cls.result.stdout) if cls.result.returncode == 0 else None

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.shared)

    def setUp(self):
        super().setUp()
        self.assertEqual(self.result.returncode, 0, self.result.stderr)

    def function(self, name):
        return next(f for f in self.document["functions"] if f["name"] == name)

    def test_hits_are_exact(self):
        self.assertEqual({n: h for n, h in hits(self.document).items() if n in PASS_HITS}, {n: 2 * h for n, h in PASS_HITS.items()})
        self.assertEqual(self.document["passes"], 2)
        self.assertEqual(self.document["coverage"]["lost"], 0)

    def test_get_last_node_takes_over_97_percent(self):
        total = sum(f["c1"] for f in self.document["functions"])
        self.assertGreater(self.function("GetLastNode")["c1"], 0.97 * total)

    def test_build_list_is_the_sum_of_its_children(self):
        for c in ("c1", "c2"):
            parts = [self.function(n)[c + "_children"] for n in ("GetNewNode", "GetLastNode", "InsertNode")]
            self.assertEqual(self.function("BuildList")[c + "_children"], self.function("BuildList")[c] + sum(parts))
            self.assertEqual(self.function("GetNewNode")[c + "_children"],
                             self.function("GetNewNode")[c] + self.function("MallocNode")[c])

    def test_identities_hold(self):
        check_identities(self, self.document)

    def test_document_says_what_it_is(self):
        d = self.document
        self.assertEqual(d["schema"], "probeprof.profile/1")
        self.assertEqual(d["target"], "sh7750")
        self.assertTrue(d["probe"].startswith("sim:sh7750"))
        self.assertTrue(d["elf"].endswith("profexam.elf"))
        self.assertRegex(d["build_id"], r"^[0-9a-f]{40}$")
        self.assertEqual([c["name"] for c in d["counters"]], ["elapsed-time", "icache-miss"])
        self.assertEqual([c["code"] for c in d["counters"]], [0x23, 0x08])
        f = self.function("GetLastNode")
        self.assertTrue(f["file"].endswith("profexam.c"))
        self.assertGreater(f["line"], 0)
        self.assertEqual(f["low"], 0x0C010000 + (f["low"] & 0xFFFF))

    def test_recording_gives_the_same_document(self):
        r = run(["report", self.recording, "--json"], cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(json.loads(r.stdout), self.document)

    def test_recording_is_not_counted_with_another_program(self):
        r = run(["report", self.recording, "--elf", os.path.join(IRQDEMO, "irqdemo.elf")], cwd=self.dir)
        self.assert_fails(r, 1, "is another build", "give --elf the build that ran")
        self.assertEqual(r.stdout, "")

    @unittest.skipUnless(shutil.which("sh4-linux-gnu-objcopy"), "needs binutils-sh4-linux-gnu")
    def test_without_build_ids_the_code_tells_builds_apart(self):
        elf, other, rec = self.path("plain.elf"), self.path("other.elf"), self.path("plain.rec")
        for source, copy in ((os.path.join(PROFEXAM, "profexam.elf"), elf), (os.path.join(IRQDEMO, "irqdemo.elf"), other)):
            subprocess.run(["sh4-linux-gnu-objcopy", "--remove-section=.note.gnu.build-id", source, copy], check=True)
        r = run(["--elf", elf, "--load", "--gdb", "off", "--for", "1ms", "--json", "--record", rec], cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIsNone(json.loads(r.stdout)["build_id"])
        same = run(["report", rec, "--elf", elf], cwd=self.dir)
        self.assertEqual((same.returncode, same.stderr), (0, ""))
        self.assert_fails(run(["report", rec, "--elf", other], cwd=self.dir), 1, "is another build (code ", "give --elf the build that ran")

    def test_prf_gives_the_same_tables(self):
        r = run(["report", self.prf, "--json"], cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        again = json.loads(r.stdout)
        self.assertEqual(set(again["coverage"]), set(self.document["coverage"]))
        self.assertEqual(set(again["coverage"].values()) | {again["passes"]}, {None}) # a .prf does not say
        for key in ("name", "hits", "c1", "c1_children", "c2", "c2_children", "doubtful", "low", "high", "cache_line"):
            self.assertEqual([f[key] for f in again["functions"]], [f[key] for f in self.document["functions"]], key)
        for key in ("id", "parent", "function", "hits", "c1", "c1_children", "c2", "c2_children", "doubtful"):
            self.assertEqual([n[key] for n in again["tree"]], [n[key] for n in self.document["tree"]], key)

    def test_prf_is_what_the_document_describes(self):
        with open(self.prf, "rb") as f:
            header, functions, calls = prf_text.read(f.read())
        check_prf(self, self.document, header, functions, calls)
        self.assertEqual((header["type"], header["icache"], header["counter1"], header["counter2"]), (2, 1, 0x23, 0x08))
        self.assertEqual({f["description"] for f in functions}, {1})

    def test_prf_written_from_a_recording_is_the_same_file(self):
        r = run(["report", self.recording, "--output", self.path("again.prf")], cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        with open(self.prf, "rb") as a, open(self.path("again.prf"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_views_of_the_recording(self):
        table = run(["report", self.recording, "--hits", ">=10%"], cwd=PROFEXAM).stdout
        self.assertIn("GetLastNode", table)
        self.assertNotIn("Initialise", "\n".join(line for line in table.splitlines() if re.match(r"^\s*\d", line)))
        tree = run(["report", self.recording, "--tree"], cwd=PROFEXAM).stdout
        at = [tree.index(n) for n in ("BuildList", "GetLastNode", "GetNewNode", "MallocNode")]
        self.assertLess(at[0], min(at[1:]))
        self.assertLess(at[2], at[3])

    def test_damaged_files_name_the_offset(self):
        for source in (self.prf, self.recording):
            with open(source, "rb") as f:
                data = f.read()
            short = self.path("short")
            with open(short, "wb") as f:
                f.write(data[:len(data) * 2 // 3])
            r = run(["report", short], cwd=PROFEXAM)
            self.assertIn("offset", r.stderr)
            self.assertIn(r.returncode, (0, 1))
        self.assert_fails(run(["report", self.write("text", "hello\n")], cwd=self.dir), 1, "neither", "--output")
        self.assert_fails(run(["report", self.path("none")], cwd=self.dir), 1, "No such file", "path")

    def test_every_stop_point_ends_a_pass(self):
        r = run(["--start", "main+8", "--stop", "GetLastNode", "--stop", "0x0C010030", "--passes", "5", "--gdb", "off", "--json"],
                cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        document = json.loads(r.stdout)
        check_identities(self, document)
        self.assertEqual(document["passes"], 5)
        self.assertEqual({n: h for n, h in hits(document).items() if n in ("main", "BuildList", "MallocNode", "InsertNode")},
                         {"main": 5, "BuildList": 5, "MallocNode": 10, "InsertNode": 5})

    def test_names_from_a_hostile_elf_reach_no_terminal_and_break_no_json(self):
        with open(os.path.join(PROFEXAM, "profexam.elf"), "rb") as f:
            elf = f.read()
        name = b'G"\\\n\x1b[31m\xff<'
        with open(self.path("hostile.elf"), "wb") as f:
            f.write(elf.replace(b"\0GetLastNode\0", b"\0" + name + b"\0"))
        args = ["--elf", self.path("hostile.elf"), "--load", "--passes", "1", "--gdb", "off", "--record", self.path("h.rec")]
        r = run(MISSION + args + ["--json"], cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(hits(json.loads(r.stdout))[name.decode(errors="replace")], 999)
        for view in ([], ["--tree"]):
            table = run(["report", self.path("h.rec")] + view, cwd=self.dir)
            self.assertEqual(table.returncode, 0, table.stderr)
            self.assertIn('G"\\??[31m?<', table.stdout)
            self.assertNotIn("\x1b", table.stdout + table.stderr)

    def test_no_text_of_others_is_a_command_to_the_terminal(self):
        """Whatever it is that says it: an ELF, a recording, the conf file, a capture, the command line."""
        evil = "x\x1b]0;t\x07\x9b2J\u202e\r\ny"
        with open(os.path.join(PROFEXAM, "profexam.elf"), "rb") as f:
            elf = f.read()
        for name, data in (("e\x1b[2J.elf", elf.replace(b"\0GetLastNode\0", b"\0Get\x1b\x9b\nNodes\0")), ("short\x1b.elf", b"\x7fELF"), ("c\x1b.vcd", b"")):
            with open(self.path(name), "wb") as f:
                f.write(data)
        with open(self.path("c\x1b.vcd"), "w", encoding="utf-8") as f:
            f.write("$timescale 1ns $end\n$scope module m\x1b[1m $end\n$var wire 1 ! D\x1b[31m0 $end\n$upscope $end\n$enddefinitions $end\n#0\n0!\n")
        hostile, motor = self.path("e\x1b[2J.elf"), os.path.join(EXAMPLES, "motor", "motor.elf")
        record = MISSION + ["--elf", hostile, "--load", "--passes", "1", "--gdb", "off", "--record", self.path("r\x1b")]
        self.assertEqual(run(record, cwd=self.dir).returncode, 0)
        rows = [["--elf", hostile, "--start", "GetNode"], ["--elf", evil], ["--elf", self.path("short\x1b.elf")], ["--probe", evil], ["--target", evil],
                ["--start", evil], ["--c1", evil], ["--log", evil], ["--" + evil], [evil], ["--conf", evil], ["--gdb", evil + "/"], ["--output", evil + "/x"],
                ["report", self.path("r\x1b")], ["report", self.path("r\x1b"), "--tree"], ["report", self.path("r\x1b"), "--json"], ["report", evil],
                ["disasm", hostile], ["disasm", hostile, "--json"], ["disasm", hostile, evil],
                ["decode", self.path("c\x1b.vcd"), "--format", "vcd", "--elf", motor], ["--elf", hostile, "--pdo", "file:" + self.path("c\x1b.vcd")]]
        for conf in ("[x\x1b[1m]\na = b\n", "[probeprof]\n\x1b[1m = b\n", "[probeprof]\nelf = \x1b[1m\n", "\x9b1m\n"):
            rows.append(["--conf", self.write(f"conf\x1b{len(rows)}", conf)])
        said = 0
        for args in rows:
            with self.subTest(args=args):
                r = subprocess.run([PROBEPROF, *args], cwd=self.dir, env=dict(os.environ, PROBEPROF_PROBE="sim:sh7750"), capture_output=True,
                                   timeout=TIMEOUT, check=False)
                text = (r.stdout + r.stderr).decode() # valid UTF-8, too
                self.assertEqual([c for c in text if (c < " " and c not in "\n\t") or "\x7f" <= c < "\xa0" or c == "\u202e"], [], text)
                said += "?" in text
        self.assertGreater(said, len(rows) // 2)

    def test_same_run_same_numbers(self):
        r = run(MISSION + ["--passes", "2", "--gdb", "off", "--json"], cwd=PROFEXAM)
        again = json.loads(r.stdout)
        self.assertEqual(again["functions"], self.document["functions"])


def limit_files(size):
    """As a full disk: writes behind that byte fail, and a program that does not look at that is killed."""
    def apply():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return apply


class Project(Folder):
    """What a probeprof.conf may do to the user who starts the program in its folder, or below it."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("home"))
        os.makedirs(self.path("project/sub/deep"))
        shutil.copy(os.path.join(PROFEXAM, "profexam.elf"), self.path("project/p.elf"))
        self.env = dict(os.environ, HOME=self.path("home"))
        self.env.pop("XDG_CONFIG_HOME", None)
        self.env.pop("PROBEPROF_PROBE", None)

    def conf(self, *lines):
        self.write(self.path("project/probeprof.conf"), "\n".join(("[probeprof]", "elf = p.elf", "load = yes", "gdb = off", "for = 1ms") + lines) + "\n")

    def go(self, args=(), below="", **more):
        return subprocess.run([PROBEPROF, *args], cwd=os.path.join(self.path("project"), below), env=self.env, capture_output=True, text=True,
                              timeout=TIMEOUT, check=False, **more)

    def trust(self, *args):
        r = self.go(["trust", *args])
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout

    RISKS = ["output = x.prf", "record = x.rec", "gdb = 0.0.0.0:4444", "gdb = ./sock", "pdo = sigrok:fx2lafw", "pdo = file:x", "probe = serial:/dev/null",
             "probe = rsp:localhost:1", "probe = sim:sh7750,serial=file:x", "probe = sim:sh7750,serial=pty:x", "probe = sim:sh7750,rom=x",
             "allow-security = yes", "probe = cmsis-dap:/dev/x"]

    def test_what_could_harm_the_user_does_not_count_in_a_folder_that_is_not_trusted(self):
        for line in self.RISKS:
            with self.subTest(line=line):
                self.conf(*(["probe = sim:sh7750"] if "probe" not in line else []), line)
                self.assert_fails(self.go(), 2, f"probeprof.conf:{6 + ('probe' not in line)}: this setting", "probeprof trust")
                self.assertEqual(sorted(os.listdir(self.path("project"))), ["p.elf", "probeprof.conf", "sub"])
        self.assertEqual(os.listdir(self.path("home")), [])

    def test_what_cannot_counts_in_any_folder_and_below(self):
        self.conf("probe = sim:sh7750,tck=5M", "gdb = off", "stop = main", "sort = hits")
        for below in ("", "sub", "sub/deep"):
            with self.subTest(below=below):
                r = self.go(below=below)
                self.assertEqual(r.returncode, 0, r.stderr)
                self.assertIn("entry", r.stdout)

    def test_a_flag_that_overrides_it_needs_no_trust(self):
        self.conf("output = /nowhere/x", "probe = serial:/dev/null")
        r = self.go(["--output", self.path("mine.prf"), "--probe", "sim:sh7750"])
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertTrue(os.path.exists(self.path("mine.prf")))

    def test_trusted_folders_write_into_themselves_only(self):
        self.conf("probe = sim:sh7750,serial=file:said", "output = x.prf", "record = sub/x.rec")
        self.trust()
        self.assertEqual(self.trust("--list"), os.path.realpath(self.path("project")) + "\n")
        self.assertEqual(json.loads(self.trust("--list", "--json")), {"schema": "probeprof.trust/1", "folders": [os.path.realpath(self.path("project"))]})
        for below in ("", "sub/deep"):
            r = self.go(below=below)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertEqual(sorted(os.listdir(self.path("project"))), ["p.elf", "probeprof.conf", "said", "sub", "x.prf"])
            os.remove(self.path("project/x.prf"))
        self.assertEqual(sorted(os.listdir(self.path("project/sub"))), ["deep", "x.rec"])
        os.symlink(self.path("home"), self.path("project/link"))
        os.symlink("../home/f", self.path("project/file"))
        for name in ("../home/x", self.path("home/x"), "link/x", "file", "sub/../../home/x"):
            for key in ("output", "record"):
                with self.subTest(name=name, key=key):
                    self.conf("probe = sim:sh7750", f"{key} = {name}")
                    self.assert_fails(self.go(), 2, "is not in", "command line")
        self.conf("probe = sim:sh7750,serial=file:../home/x")
        self.assert_fails(self.go(), 2, "is not in", "command line")
        self.assertEqual(sorted(os.listdir(self.path("home"))), [".config"])
        self.trust("--remove")
        self.assertEqual(self.trust("--list"), "")
        self.conf("probe = sim:sh7750", "output = x.prf")
        self.assert_fails(self.go(), 2, "counts only from a folder that you trust", "probeprof trust")

    def test_the_one_that_is_named_is_trusted(self):
        self.conf("probe = sim:sh7750", "output = x.prf")
        r = self.go(["--conf", "../probeprof.conf"], below="sub")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertTrue(os.path.exists(self.path("project/x.prf")))

    def test_errors_name_file_and_line(self):
        for line, what in (("elf = none.elf", "none.elf"), ("start = nobody", "nobody"), ("stop = nobody", "nobody"), ("c1 = nothing", "nothing"),
                           ("rate = x", "rate"), ("target = pdp11", "pdp11"), ("probe = nothing", "nothing")):
            for below in ("", "sub"):
                with self.subTest(line=line, below=below):
                    self.conf(*(["probe = sim:sh7750"] if "probe" not in line else []), line)
                    r = self.go(below=below)
                    number = 6 + ("probe" not in line)
                    self.assertIn(f"{os.path.realpath(self.path('project')) + '/' if below else ''}probeprof.conf:{number}: ", r.stderr)
                    self.assertIn(what, r.stderr)

    def test_one_that_is_no_file_is_refused_rather_than_waited_for(self):
        path = self.path("probeprof.conf")
        for make in (os.mkfifo, os.mkdir, lambda p: os.symlink("/dev/zero", p)):
            if os.path.lexists(path):
                (os.rmdir if os.path.isdir(path) else os.unlink)(path)
            make(path)
            with self.subTest(make=make):
                self.assert_fails(run(["--gdb", "off", "--for", "1ms"], cwd=self.dir, probe=None), 1, "probeprof.conf: not a regular file", "--conf off")

    def test_one_above_that_somebody_else_has_left_is_refused(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a file another user's")
        self.conf("probe = sim:sh7750")
        os.chown(self.path("project/probeprof.conf"), 12345, 12345)
        self.assert_fails(self.go(below="sub"), 2, "another user", "probeprof trust")
        self.trust()
        self.assertEqual(self.go(below="sub").returncode, 0)

    def test_simulated_serial_ports_remove_and_truncate_nothing(self):
        self.conf()
        self.write(self.path("precious"), "text\n")
        for kind in ("pty", "file"):
            self.go(["--probe", f"sim:sh7750,serial={kind}:{self.path('precious')}"])
            with open(self.path("precious"), encoding="utf-8") as f:
                self.assertTrue(f.read().startswith("text\n"))
            self.assertFalse(os.path.islink(self.path("precious")))


class Running(Folder):
    def test_ctrl_c_ends_the_profile_and_shows_it(self):
        p = start(MISSION + ["--gdb", "off", "--json"], cwd=PROFEXAM)
        self.wait_for(p, "profiling")
        time.sleep(3)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=TIMEOUT)
        self.assertEqual(p.returncode, 0, err)
        document = json.loads(out)
        check_identities(self, document)

    def test_ctrl_c_ends_a_bridge(self):
        p = start(["--gdb", "off"], cwd=self.dir)
        self.wait_for(p, "bridge only")
        time.sleep(0.3)
        p.send_signal(signal.SIGTERM)
        out, err = p.communicate(timeout=TIMEOUT)
        self.assertEqual((p.returncode, out), (0, ""), err)

    def test_for_counts_the_board_s_time(self):
        """Time the board is held to move events counts, too, so the program gets less than that: but it gets
        the same on every machine, far more time gives more, and it is said."""
        cycles = []
        for ms in (10, 10, 200):
            r = run(["--for", f"{ms}ms", "--gdb", "off", "--json"], cwd=PROFEXAM)
            self.assertEqual(r.returncode, 0, r.stderr)
            cycles.append(json.loads(r.stdout)["totals"]["c1"])
            self.assertLess(cycles[-1], 1.01 * ms * 1e-3 * 200e6)
        self.assertEqual(cycles[0], cycles[1])
        self.assertGreater(cycles[2], cycles[1])

    def test_for_ends_in_time_whatever_moving_events_takes(self):
        for elf in (os.path.join(PROFEXAM, "profexam.elf"), os.path.join(IRQDEMO, "irqdemo.elf")):
            r = run(["--elf", elf, "--load", "--for", "20ms", "--gdb", "off"], cwd=self.dir)
            self.assertRegex(r.stderr, r"20 ms of the board's time, and [\d.]+ ms to move the last events, slowed down")

    def test_stop_alone_says_that_it_ends_there(self):
        r = run(["--stop", "GetLastNode", "--gdb", "off", "--json", "--for", "2s"], cwd=PROFEXAM)
        self.assertIn("it ends at the first stop point: without --start nothing would resume it", r.stderr)
        document = json.loads(r.stdout)
        self.assertEqual(document["passes"], 1)
        self.assertLess(document["time"]["board_seconds"], 0.1)
        slow = document["time"]["slow_down"]
        self.assertTrue(slow is None or slow["agent"] < 5, slow)

    def test_start_point_that_is_never_met_is_said(self):
        r = run(["--elf", os.path.join(IRQDEMO, "irqdemo.elf"), "--load", "--start", "Crash", "--for", "20ms", "--gdb", "off", "--json"],
                cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("never came to the start point Crash", r.stderr)
        self.assertEqual(hits(json.loads(r.stdout)), {})

    def test_wrong_elf_is_noticed(self):
        r = run(["--no-load", "--gdb", "off"], cwd=PROFEXAM)
        self.assert_fails(r, 1, "does not run", "--load")

    def test_log_shows_the_subjects_asked_for(self):
        args = MISSION + ["--passes", "1", "--gdb", "off"]
        wire = run(args + ["--log", "wire"], cwd=PROFEXAM).stderr
        self.assertRegex(wire, r"(?m)^wire: sim:sh7750: IR > ASE boot \[80\] < \[")
        self.assertRegex(wire, r"(?m)^wire: sim:sh7750: DR \d+ x 32 > [0-9a-f]{8}.* < [0-9a-f]{8}")
        self.assertNotRegex(wire, r"(?m)^target: ")
        target = run(args + ["--log", "target"], cwd=PROFEXAM).stderr
        self.assertRegex(target, r"(?m)^target: sim:sh7750: reset halt$")
        self.assertRegex(target, r"(?m)^target: sim:sh7750: detach$")
        self.assertNotRegex(target, r"(?m)^wire: ")

    def test_log_prof_tells_of_arming_drains_and_disarming_on_both_boards(self):
        prof = run(MISSION + ["--passes", "1", "--gdb", "off", "--log", "prof"], cwd=PROFEXAM).stderr
        self.assertRegex(prof, r"(?m)^prof: profile: armed, the program halted: 17 places traced")
        self.assertRegex(prof, r"(?m)^prof: sim:sh7750: armed in [\d.]+ ms, \d+ wire clocks: 17 places traced.*lossless")
        self.assertRegex(prof, r"(?m)^prof: sim:sh7750: an event costs the agent \d+ cycles without caches")
        drained = [int(n) for n in re.findall(r"(?m)^prof: sim:sh7750: drain \d+: (\d+) events in \d+ bytes \(ring \d+ % full\)", prof)]
        told = re.search(r"(?m)^prof: sim:sh7750: disarmed in [\d.]+ ms: (\d+) events, 0 lost", prof)
        self.assertTrue(drained and told, prof)
        self.assertLessEqual(sum(drained), int(told.group(1)))
        self.assertRegex(prof, r"(?m)^prof: profile: \d+ events reached the call tree$")
        live = run(MISSION + ["--passes", "1", "--gdb", "off", "--policy", "live", "--log", "prof"], cwd=PROFEXAM).stderr
        self.assertRegex(live, r"(?m)^prof: sim:sh7750: lost: \d+ events that found the ring full")
        motor = run(["--elf", os.path.join(EXAMPLES, "motor", "motor.elf"), "--for", "5ms", "--gdb", "off", "--log", "prof", "--load"], cwd=self.dir, probe="sim:s12zvml128").stderr
        self.assertRegex(motor, r"(?m)^prof: profile: armed, ")
        self.assertRegex(motor, r"(?m)^prof: sim:s12zvml128: capture: \d+ lines, \d+ wire clocks")
        self.assertRegex(motor, r"(?m)^prof: sim:s12zvml128: disarmed: \d+ lines")
        samples = run(["--elf", os.path.join(PROFEXAM, "profexam.elf"), "--load", "--sample", "--for", "20ms", "--gdb", "off", "--log", "prof"], cwd=self.dir).stderr
        self.assertRegex(samples, r"(?m)^prof: profile: disarmed: \d+ events, 0 lost so far; looking at the PC")

    def test_places_that_cannot_be_traced_are_refused(self):
        rows = [("0x0C010025", "start point: 0x0c010025 is odd", "even"), ("0x0C010034", "holds data", "instruction"),
                ("0x0C01002E", "is a delay slot", "0x0c01002c"), ("0x0D000000", "no control flow", "first instruction")]
        for place, what, hint in rows:
            with self.subTest(place=place):
                self.assert_fails(run(["--start", place, "--gdb", "off", "--for", "1ms"], cwd=PROFEXAM), 2, what, hint)
        self.assert_fails(run(["--start", "main+8", "--stop", "0x0C010031", "--gdb", "off", "--for", "1ms"], cwd=PROFEXAM), 2,
                          "stop point: 0x0c010031 is odd", "even")

    def test_port_taken(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            port = s.getsockname()[1]
            self.assert_fails(run(["--gdb", f"127.0.0.1:{port}"], cwd=self.dir), 1, str(port), "")

    def test_full_disk_keeps_the_old_file(self):
        old = self.write("old.prf", "old contents")
        r = run(MISSION + ["--passes", "1", "--gdb", "off", "--output", old], cwd=PROFEXAM, preexec_fn=limit_files(64))
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("old.prf", r.stderr)
        with open(old, encoding="utf-8") as f:
            self.assertEqual(f.read(), "old contents")
        self.assertEqual(os.listdir(self.dir), ["old.prf"])

    def test_full_disk_while_recording_keeps_the_profile(self):
        r = run(MISSION + ["--passes", "1", "--gdb", "off", "--json", "--record", self.path("r")], cwd=PROFEXAM,
                preexec_fn=limit_files(700))
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertEqual({n: h for n, h in hits(json.loads(r.stdout)).items() if n in PASS_HITS}, PASS_HITS)

    def test_board_unplugged_is_told_and_the_profile_so_far_shown(self):
        p = start(MISSION + ["--gdb", "off", "--json"], cwd=PROFEXAM, probe="sim:sh7750,fault=unplug@3000000")
        self.assertIn("adapter", self.wait_for(p, "does not answer"))
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=TIMEOUT)
        self.assertEqual(p.returncode, 1, err)
        self.assertIn("hint: ", err)
        document = json.loads(out)
        check_identities(self, document)
        self.assertGreater(hits(document)["GetLastNode"], 0)

    def test_signals_that_come_twice_end_the_profile_orderly(self):
        for first, second, pause in ((signal.SIGTERM, signal.SIGTERM, 0.7), (signal.SIGHUP, signal.SIGTERM, 0), (signal.SIGINT, signal.SIGINT, 0)):
            p = start(MISSION + ["--gdb", "off", "--json", "--record", self.path("r")], cwd=PROFEXAM)
            self.wait_for(p, "profiling")
            self.wait_for_events(self.path("r.part"))
            p.send_signal(first)
            time.sleep(pause)
            try:
                p.send_signal(second)
            except ProcessLookupError:
                pass
            out, err = p.communicate(timeout=TIMEOUT)
            self.assertEqual(p.returncode, 0, (first, err))
            self.assertTrue(json.loads(out)["functions"], first)

    def test_timeout_ends_the_profile_with_its_result(self):
        for seconds in ("1", "8", "64"): # until it has begun to profile by then, on a busy machine
            r = subprocess.run(["timeout", seconds, PROBEPROF, *MISSION, "--gdb", "off", "--json"], cwd=PROFEXAM, capture_output=True, text=True, timeout=TIMEOUT,
                               env=os.environ | {"PROBEPROF_PROBE": "sim:sh7750"}, stdin=subprocess.DEVNULL, check=False)
            if "ending the profile" in r.stderr:
                break
        self.assertEqual(r.returncode, 124, r.stderr) # timeout's own
        self.assertTrue(json.loads(r.stdout)["functions"])

    def test_second_ctrl_c_quits_at_once(self):
        p = start(MISSION + ["--gdb", "off"], cwd=PROFEXAM)
        self.wait_for(p, "profiling")
        time.sleep(1)
        began = time.monotonic()
        while p.poll() is None and time.monotonic() - began < 30:
            p.send_signal(signal.SIGINT)
            time.sleep(0.005)
        out, err = p.communicate(timeout=TIMEOUT)
        self.assertIn(p.returncode, (0, 1, -signal.SIGINT), err)
        self.assertIn("Ctrl-C again", err)

    def test_live_policy_says_what_was_not_seen(self):
        r = run(MISSION + ["--gdb", "off", "--passes", "2", "--policy", "live", "--json"], cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        document = json.loads(r.stdout)
        check_identities(self, document)
        self.assertGreater(document["coverage"]["lost"], 0)
        self.assertGreater(document["coverage"]["lost_c1"], 0)
        calls = sum(h for n, h in hits(document).items() if n in PASS_HITS)
        self.assertLess(calls, 2 * sum(PASS_HITS.values()))

    def test_few_descriptors_are_told_and_nothing_aborts(self):
        for n in range(4, 20): # 4: standard ones and one more
            r = run(MISSION + ["--passes", "1", "--gdb", ":0"], cwd=PROFEXAM, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
            with self.subTest(n=n):
                self.assertIn(r.returncode, (0, 1), r.stderr)
                if r.returncode == 1:
                    self.assertIn("hint: ", r.stderr)
                    self.assertRegex(r.stderr, "ulimit -n|no adapter|libusb|trust|not start|check the path")

    def test_unwritable_output(self):
        r = run(MISSION + ["--passes", "1", "--gdb", "off", "--record", "/nowhere/r"], cwd=PROFEXAM)
        self.assertEqual(r.returncode, 1)
        self.assertIn("/nowhere/r", r.stderr)

    def test_board_faults_say_what_to_check(self):
        rows = [("fault=no-power", "power"), ("fault=no-clock", "clock"), ("fault=wrong-ir", "IR"),
                ("fault=stuck-tdo", "TDO"), ("fault=silent", "")]
        for fault, word in rows:
            with self.subTest(fault=fault):
                r = run(["--gdb", "off", "--for", "1ms"], cwd=PROFEXAM, probe=f"sim:sh7750,{fault}")
                self.assertEqual(r.returncode, 1, r.stderr)
                self.assertIn("hint: ", r.stderr)
                self.assertIn(word.lower(), r.stderr.lower())


class Files(Folder):
    """What is written where, and what is refused before the board is touched."""
    RUN = MISSION + ["--passes", "1", "--gdb", "off"]

    def assert_refused_early(self, args, status, what, hint, **more):
        r = run(args, cwd=PROFEXAM, **more)
        self.assert_fails(r, status, what, hint)
        self.assertEqual(r.stdout, "")
        self.assertNotIn("loaded", r.stderr)

    def test_places_that_cannot_be_written_are_refused_before_the_run(self):
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("pipe"))
        file = self.write("file", "x")
        os.symlink(self.path("b"), self.path("a"))
        os.symlink(self.path("a"), self.path("b"))
        os.symlink(self.path("none/x"), self.path("dangling"))
        os.symlink(self.path("pipe"), self.path("to-pipe"))
        before = sorted(os.listdir(self.dir))
        rows = [(self.path("folder"), "it is a folder", "name a file"), (self.path("pipe"), "device or pipe", "name a file"),
                (self.path("to-pipe"), "device or pipe", "name a file"), (file + "/x", "Not a directory", "folder exists"),
                (self.path("none/x"), "No such file", "folder exists"), (self.path("a"), "symbolic links", "name a file"),
                (self.path("dangling"), "No such file", "folder exists"), (self.path("n" * 255), "name too long", "shorter")]
        for option in ("--output", "--record"):
            for path, what, hint in rows:
                with self.subTest(option=option, path=path):
                    self.assert_refused_early(self.RUN + [option, path], 1, option, hint)
                    self.assertIn(what, run(self.RUN + [option, path], cwd=PROFEXAM).stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), before)

    def test_folder_without_permission_is_refused_before_the_run(self):
        if os.geteuid() == 0:
            self.skipTest("root may write anywhere")
        os.mkdir(self.path("locked"), 0o500)
        self.assert_refused_early(self.RUN + ["--output", self.path("locked/x")], 1, "Permission denied", "permissions")

    def test_what_is_read_is_not_written_over(self):
        elf = shutil.copy(os.path.join(PROFEXAM, "profexam.elf"), self.path("p.elf"))
        os.symlink("p.elf", self.path("link"))
        same = self.RUN + ["--elf", elf]
        self.assert_refused_early(same + ["--output", elf], 2, "would replace the program", "another file")
        self.assert_refused_early(same + ["--record", self.path("link")], 2, "would replace the program", "another file")
        self.assert_refused_early(self.RUN + ["--record", self.path("x"), "--output", self.path("x")], 2, "both write", "two files")
        os.mkdir(self.path("sub"))
        os.symlink(self.dir, self.path("here"))
        for other in (self.dir + "/./x", self.path("sub/../x"), self.path("here/x")): # of a file that is not there yet
            self.assert_refused_early(self.RUN + ["--record", self.path("x"), "--output", other], 2, "both write", "two files")
        with open(self.path("printed"), "w", encoding="utf-8") as printed:
            for name in (self.path("printed"), "/dev/stdout"):
                r = run(self.RUN + ["--output", name], cwd=PROFEXAM, stdout=printed)
                self.assert_fails(r, 2, "would replace the file that standard output goes to", "another file")
        self.assertEqual(run(self.RUN + ["--record", self.path("r")], cwd=PROFEXAM).returncode, 0)
        self.assert_fails(run(["report", self.path("r"), "--output", self.path("r")], cwd=self.dir), 2, "would replace", "another file")
        self.assert_fails(run(["report", self.path("r"), "--output", "none/x"], cwd=self.dir), 1, "none/x", "folder exists")
        self.assertEqual(run(["report", self.path("r")], cwd=self.dir).returncode, 0)

    def test_links_stay_and_the_files_behind_them_are_written(self):
        os.mkdir(self.path("disk"))
        for name, target, old in (("out", "disk/out.prf", "old"), ("rec", self.path("disk/rec"), None)):
            os.symlink(target, self.path(name))
            if old:
                self.write(target, old)
        os.chmod(self.path("disk/out.prf"), 0o600)
        r = run(self.RUN + ["--output", self.path("out"), "--record", self.path("rec"), "--json"], cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        for name in ("out", "rec"):
            self.assertTrue(os.path.islink(self.path(name)))
            again = run(["report", self.path(name), "--json"], cwd=PROFEXAM)
            self.assertEqual(hits(json.loads(again.stdout)), hits(json.loads(r.stdout)))
        self.assertEqual(os.stat(self.path("disk/out.prf")).st_mode & 0o777, 0o600)
        self.assertEqual((sorted(os.listdir(self.dir)), sorted(os.listdir(self.path("disk")))),
                         (["disk", "out", "rec"], ["out.prf", "rec"]))

    def test_full_disk_behind_a_link_keeps_both(self):
        self.write("old.prf", "old contents")
        os.symlink("old.prf", self.path("link"))
        r = run(self.RUN + ["--output", self.path("link")], cwd=PROFEXAM, preexec_fn=limit_files(64))
        self.assert_fails(r, 1, "link: File too large", "")
        with open(self.path("link"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "old contents")
        self.assertEqual(sorted(os.listdir(self.dir)), ["link", "old.prf"])

    def test_full_disk(self):
        """A real one: a file system of 64 KB, mounted where only the program sees it."""
        script = ('mount -t tmpfs -o size=64k none "$1" && cd "$2" && echo old >"$1/x.prf" && head -c 1M /dev/zero >"$1/full" 2>/dev/null; '
                  'shift 2; "$@"; echo "status $?"; cat "$DISK/x.prf"; ls "$DISK"')
        os.mkdir(self.path("disk"))
        env = dict(os.environ, DISK=self.path("disk"), PROBEPROF_PROBE="sim:sh7750")
        check = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", self.path("disk")], capture_output=True, check=False)
        if check.returncode != 0:
            self.skipTest("needs user and mount namespaces")
        for option, file in (("--output", "x.prf"), ("--record", "x.rec")):
            with self.subTest(option=option):
                r = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", self.path("disk"), PROFEXAM, PROBEPROF] + self.RUN +
                                   ["--json", option, os.path.join(self.path("disk"), file)], env=env, capture_output=True, text=True,
                                   timeout=TIMEOUT, check=False)
                self.assertIn("No space left", r.stderr)
                self.assertIn("free some space", r.stderr)
                out, tail = r.stdout.rsplit("status 1\n", 1)
                self.assertEqual(tail.split(), ["old", "full", "x.prf"])

    def test_two_runs_do_not_record_to_one_file(self):
        p = start(MISSION + ["--gdb", "off", "--json", "--record", self.path("r")], cwd=PROFEXAM)
        self.addCleanup(p.kill)
        self.wait_for(p, "profiling")
        self.assert_fails(run(self.RUN + ["--record", self.path("r")], cwd=PROFEXAM), 1, "another program is recording", "another name")
        time.sleep(0.5)
        p.send_signal(signal.SIGTERM)
        out, err = p.communicate(timeout=TIMEOUT)
        self.assertEqual(p.returncode, 0, err)
        self.assertEqual(json.loads(run(["report", self.path("r"), "--json"], cwd=PROFEXAM).stdout), json.loads(out))

    def test_part_of_a_run_that_was_killed_is_readable_and_used_again(self):
        p = start(MISSION + ["--gdb", "off", "--record", self.path("r")], cwd=PROFEXAM)
        self.wait_for(p, "profiling")
        self.wait_for_events(self.path("r.part"))
        p.kill()
        p.communicate()
        r = run(["report", self.path("r.part")], cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0)
        self.assertIn("r.part: not finished", r.stderr)
        before = json.loads(run(["report", self.path("r.part"), "--json"], cwd=PROFEXAM).stdout)
        r = run(self.RUN + ["--record", self.path("r")], cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0)
        self.assertIn("is kept as " + self.path("r.part.1"), r.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), ["r", "r.part.1"])
        after = json.loads(run(["report", self.path("r.part.1"), "--json"], cwd=PROFEXAM).stdout)
        self.assertEqual((after["functions"], after["tree"]), (before["functions"], before["tree"]))

    def test_a_run_without_an_event_replaces_nothing(self):
        args = self.RUN + ["--output", self.path("p"), "--record", self.path("r")]
        self.assertEqual(run(args, cwd=PROFEXAM).returncode, 0)
        before = [run(["report", self.path(f), "--json"], cwd=PROFEXAM).stdout for f in "pr"]
        for wrong in (["--probe", "sim:sh7750,fault=silent"], ["--c1", "no-such-event"], ["--start", "crashed", "--for", "1ms"]):
            with self.subTest(wrong=wrong):
                r = run(args + wrong, cwd=PROFEXAM)
                self.assertEqual([run(["report", self.path(f), "--json"], cwd=PROFEXAM).stdout for f in "pr"], before, r.stderr)
                self.assertEqual(sorted(os.listdir(self.dir)), ["p", "r"])

    def test_decode_does_not_write_over_what_it_reads(self):
        lines = shutil.copy(os.path.join(PROFEXAM, "README.md"), self.path("run.lines"))
        elf = shutil.copy(os.path.join(EXAMPLES, "motor", "motor.elf"), self.path("m.elf"))
        args = ["decode", lines, "--format", "lines", "--elf", elf]
        for option in ("--output", "--record"):
            for name in (lines, elf):
                self.assert_fails(run(args + [option, name], cwd=self.dir), 2, "would replace", "another file")

    def test_closed_standard_descriptors_do_not_end_up_in_files(self):
        whole = run(self.RUN + ["--json"], cwd=PROFEXAM)
        for closed, status in (((0,), 0), ((1,), 1), ((2,), 0), ((0, 1, 2), 1)):
            with self.subTest(closed=closed):
                def close(closed=closed):
                    for fd in closed:
                        os.close(fd)
                r = run(self.RUN + ["--record", self.path("r")], cwd=PROFEXAM, preexec_fn=close)
                self.assertEqual(r.returncode, status)
                again = run(["report", self.path("r"), "--json"], cwd=PROFEXAM)
                self.assertEqual((again.returncode, again.stderr), (0, ""))
                self.assertEqual(hits(json.loads(again.stdout)), hits(json.loads(whole.stdout)))

    def test_reader_that_leaves_early(self):
        here = self.RUN + ["--conf", os.path.join(PROFEXAM, "probeprof.conf"), "--output", self.path("o")]
        for args in (here, here + ["--json"], ["events"], ["help"], ["list", "--json"]):
            with self.subTest(args=args):
                reader, writer = os.pipe()
                os.close(reader) # before the program starts: a short output would else be in the pipe already
                r = run(args, cwd=self.dir, stdout=writer) # where the result is put instead
                os.close(writer)
                self.assertEqual(r.returncode, 1, r.stderr)
                self.assertIn("writing standard output failed", r.stderr)
        self.assertEqual(run(["report", self.path("o")], cwd=PROFEXAM).returncode, 0)

    def test_messages_nobody_reads_do_not_matter(self):
        p = start(self.RUN + ["--json"], cwd=PROFEXAM)
        p.stderr.close()
        p.stderr = None
        out = p.communicate(timeout=TIMEOUT)[0]
        self.assertEqual(p.returncode, 0)
        json.loads(out)


class Ports(Folder):
    """Where GDB may connect."""

    def bridge(self, address, *prefix):
        env = dict(os.environ, PROBEPROF_PROBE="sim:sh7750")
        p = subprocess.Popen(list(prefix) + [PROBEPROF, "--gdb", address], cwd=self.dir, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        return p, self.wait_for(p, "target remote").split()[-1]

    def test_second_bridge_on_a_port_is_told_who_has_it(self):
        p, address = self.bridge(":0")
        port = address.split(":")[-1]
        for text in (port, ":" + port, "127.0.0.1:" + port, "*:" + port):
            with self.subTest(address=text):
                self.assert_fails(run(["--gdb", text], cwd=self.dir), 1, f"port {port} is taken by probeprof (process {p.pid})",
                                  "another port")
        self.assertIsNone(p.poll())

    def test_socket_of_a_bridge_that_runs_is_refused_and_one_left_over_is_used(self):
        path = self.path("s")
        p, address = self.bridge(path)
        self.assertEqual(address, path)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assert_fails(run(["--gdb", path], cwd=self.dir), 1, f"probeprof (process {p.pid}) listens there", "another path")
        self.assert_fails(run(["--gdb", "./s"], cwd=self.dir), 1, f"probeprof (process {p.pid}) listens there", "another path")
        p.kill()
        p.wait()
        self.assertTrue(os.path.exists(path))
        q, _ = self.bridge(path)
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
        q.send_signal(signal.SIGTERM)
        self.assertEqual(q.wait(timeout=TIMEOUT), 0)
        self.assertFalse(os.path.exists(path))

    def test_what_is_no_socket_stays(self):
        self.write("file", "precious")
        os.mkdir(self.path("folder"))
        for name in ("file", "folder"):
            self.assert_fails(run(["--gdb", self.path(name)], cwd=self.dir), 1, "what is there is no socket", "another path")
        with open(self.path("file"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "precious")
        self.assert_fails(run(["--gdb", self.path("none/s")], cwd=self.dir), 1, "No such file", "folder")
        self.assert_fails(run(["--gdb", "/" + "x" * 120], cwd=self.dir), 2, "longer than a socket's name", "shorter")

    def test_bad_addresses(self):
        rows = [("99999", 2, "not a port", "HOST:PORT"), ("a:b:c", 2, "not a port", "HOST:PORT"), (":", 2, "not a port", "HOST:PORT"),
                ("::1:3333", 2, "brackets", "[V6ADDRESS]"), ("gdb", 2, "no port", "HOST:PORT"), ("192.0.2.1:3333", 1, "assign", "address")]
        for text, status, what, hint in rows:
            with self.subTest(address=text):
                self.assert_fails(run(["--gdb", text], cwd=self.dir), status, what, hint)

    def test_machine_with_one_family_of_loopback(self):
        for family, remove in (("::1", "addr del 127.0.0.1/8"), ("127.0.0.1", "-6 addr del ::1/128")):
            with self.subTest(left=family):
                inside = ("ip link set lo up && ip " + remove + ' dev lo || exit 77; "$0" --gdb 7070 2>&1 & sleep 1; '
                          f"python3 -c 'import socket; socket.create_connection((\"{family}\", 7070)).close(); print(\"connected\")'; kill $!; wait $!")
                r = subprocess.run(["unshare", "-rn", "bash", "-c", inside, PROBEPROF], cwd=self.dir, capture_output=True, text=True,
                                   timeout=TIMEOUT, check=False, env=dict(os.environ, PROBEPROF_PROBE="sim:sh7750"))
                if r.returncode == 77 or "unshare" in r.stderr:
                    self.skipTest("needs a network namespace and iproute2")
                self.assertIn("connected", r.stdout, r.stderr)
                self.assertIn("target remote :7070", r.stdout)


class TerminalFolder(Folder):
    def on_terminal(self, args, columns=80, folder=PROFEXAM, **env):
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM", "LANG", "LC_ALL", "LC_CTYPE")}
        p = subprocess.Popen([PROBEPROF] + args, cwd=folder, env=dict(clean, PROBEPROF_PROBE="sim:sh7750", **env),
                             stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
        os.close(slave)
        seen = b""
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:  # EIO: nobody has the other end any more
                break
            if not data:
                break
            seen += data
        os.close(master)
        self.assertEqual(p.wait(timeout=TIMEOUT), 0, seen)
        return seen.decode("utf-8")


class Terminal(TerminalFolder):
    """What people see: on terminals of all sorts."""

    RUN = MISSION + ["--for", "300ms", "--gdb", "off"]

    def test_escapes_only_where_they_are_understood(self):
        rows = [({"TERM": "xterm"}, True, True), ({"TERM": "xterm", "NO_COLOR": "1"}, True, False), ({"TERM": "dumb"}, False, False),
                ({}, False, False)]
        for env, live, color in rows:
            with self.subTest(env=env):
                text = self.on_terminal(self.RUN, **env)
                self.assertEqual("\x1b[K" in text, live)
                self.assertEqual("\x1b[31m" in text, color)
                if not live:
                    self.assertNotIn("\x1b", text)

    def test_a_reader_that_is_gone_does_not_take_the_result_with_it(self):
        """`probeprof | tee log` and Ctrl-C, which ends tee first."""
        for json_too, terminal in ((False, False), (True, False), (False, True)):
            with self.subTest(json=json_too, terminal=terminal):
                out, reader = os.pipe()[::-1]
                master, slave = os.openpty()
                p = subprocess.Popen([PROBEPROF, *MISSION, "--elf", os.path.join(PROFEXAM, "profexam.elf"), "--load", "--gdb", "off", *(["--json"] if json_too else [])],
                                     cwd=self.dir, env=dict(os.environ, PROBEPROF_PROBE="sim:sh7750", TERM="dumb"), stdout=out,
                                     stderr=slave if terminal else subprocess.PIPE, text=True)
                self.addCleanup(p.kill)
                os.close(out)
                os.close(slave)
                begun = b""
                while terminal and b"profiling" not in begun:
                    begun += os.read(master, 4096)
                if not terminal:
                    self.wait_for(p, "profiling")
                time.sleep(0.5)
                os.close(reader)
                p.send_signal(signal.SIGINT)
                said = ""
                if terminal:
                    try:
                        while chunk := os.read(master, 4096):
                            said += chunk.decode()
                    except OSError:
                        pass # EIO: it has ended
                    p.wait(timeout=TIMEOUT)
                else:
                    said = p.communicate(timeout=TIMEOUT)[1]
                os.close(master)
                self.assertEqual(p.returncode, 1, said) # standard output was written by nobody
                self.assertIn("who was to read the result is gone", said)
                files = [f for f in os.listdir(self.dir) if f.startswith("probeprof-result")]
                self.assertEqual(len(files), not terminal)
                text = said
                if files:
                    self.assertIn(files[0], said)
                    with open(self.path(files[0]), encoding="utf-8") as f:
                        text = f.read()
                    os.remove(self.path(files[0]))
                if json_too:
                    self.assertGreater(hits(json.loads(text))["GetNewNode"], 0)
                else:
                    self.assertRegex(text, r"\d+\.\d .*GetNewNode")

    def test_doctor_says_what_it_looks_at_while_it_looks(self):
        text = self.on_terminal(["doctor", "--conf", "off"], TERM="xterm")
        self.assertIn("looking at: wire", text)
        shown = re.sub(r"\r\x1b\[K[^\r]*(?=\r\x1b)", "", text)  # what stays
        self.assertNotIn("looking", shown)
        self.assertNotIn("looking", self.on_terminal(["doctor", "--conf", "off"], TERM="dumb"))

    def test_lines_are_drawn_where_the_locale_has_them(self):
        for env, plain in (({"LANG": "C"}, True), ({"LANG": "de_DE.UTF-8"}, False), ({"LANG": "en_US.utf8", "LC_ALL": "C"}, True), ({}, True)):
            with self.subTest(env=env):
                self.assertEqual(self.on_terminal(self.RUN + ["--tree"], TERM="xterm", **env).isascii(), plain)

    def test_narrow_terminal_keeps_names_and_one_live_line(self):
        text = self.on_terminal(self.RUN, columns=40, TERM="xterm", NO_COLOR="1")
        for name in ("GetLastNode", "GetNewNode", "MallocNode", "InsertNode"):
            self.assertRegex(text, rf" [ ?]{name}\r?\n")
        for line in re.findall(r"\x1b\[K([^\r\n]*)\r\x1b", text):
            self.assertLess(len(line), 40)


class Disasm(Folder):
    """Code as instructions: what GNU objdump makes of the same ELFs."""

    def instructions(self, *args):
        r = run(["disasm", *args, "--json"], cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        return json.loads(r.stdout)["instructions"]

    @staticmethod
    def normal(text):
        """One form for both: blanks, "0x" and leading zeros of addresses."""
        text = re.sub(r" *<[^>]*>", "", text.split("!")[0])
        return re.sub(r"\b(?:0x)?0*([0-9a-f]{6,})\b", r"\1", " ".join(text.split()))

    @unittest.skipUnless(shutil.which("sh4-linux-gnu-objdump"), "needs binutils-sh4-linux-gnu")
    def test_sh4_is_what_objdump_says(self):
        for name in ("profexam", "irqdemo", "cxx"):
            elf = os.path.join(EXAMPLES, name, name + ".elf")
            text = subprocess.run(["sh4-linux-gnu-objdump", "-d", "-z", elf], capture_output=True, text=True, check=True).stdout
            theirs = {int(a, 16): self.normal(t) for a, t in re.findall(r"^ *([0-9a-f]+):\t(?:[0-9a-f]{2} )+ *\t(.*)$", text, re.M)}
            ours = {i["address"]: i for i in self.instructions(elf)}
            code = {a: i for a, i in ours.items() if not i["text"].startswith(".")}
            self.assertGreater(len(code), 200, name)
            self.assertEqual({a: self.normal(i["text"]) for a, i in code.items()}, {a: theirs.get(a) for a in code}, name)
            data = sum(len(i["bytes"]) // 2 for i in ours.values() if i["text"].startswith("."))
            self.assertEqual(2 * len(code) + data, 2 * len(theirs), name)

    def test_a_function_an_address_a_line_and_a_range(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        main = self.instructions(elf, "main")
        self.assertEqual((main[0]["address"], main[0]["symbol"]), (0x0C01001C, "main"))
        bra = next(i for i in main if i["address"] == 0x0C010030)
        self.assertEqual((bra["flow"], bra["target"], bra["remark"]), ("jump", 0x0C010024, "main+0x8"))
        load = next(i for i in main if i["address"] == 0x0C010024)
        self.assertEqual(load["remark"], "0x0c01003c Initialise")
        self.assertEqual([i["text"] for i in main[-2:]], [".long\t0x0c01003c", ".long\t0x0c01014c"])
        self.assertEqual(self.instructions(elf, "main+8"), main[4:])
        self.assertEqual(self.instructions(elf, "0x0c01001c:main+8"), main[:4])
        self.assertEqual(self.instructions(elf, "profexam.c:30")[0]["text"].split("\t")[0], "mov.l")
        text = run(["disasm", elf, "main"], cwd=self.dir).stdout
        self.assertTrue(text.startswith("0c01001c <main>:\n0c01001c  e62f        mov.l   r14,@-r15\n"), text)

    def test_s12z_flows_are_told(self):
        code = self.instructions(os.path.join(EXAMPLES, "motor", "motor.elf"), "pi_step")
        self.assertEqual([i["flow"] for i in code if i["flow"] != "next"], ["branch", "call", "return"])
        self.assertEqual(next(i for i in code if i["flow"] == "call")["remark"], "clamp")

    def test_what_cannot_be_shown_is_said(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        self.assert_fails(run(["disasm"], cwd=self.dir), 2, "needs an ELF", "probeprof disasm")
        self.assert_fails(run(["disasm", elf, "mian"], cwd=self.dir), 1, "mian", "main")
        self.assert_fails(run(["disasm", elf, "0x8"], cwd=self.dir), 1, "no code there", "code section")
        self.assert_fails(run(["disasm", elf, "main+8:main"], cwd=self.dir), 1, "main+8:main", "")


class Cxx(TerminalFolder):
    """docs/examples/cxx: what its README says of each round, and names."""

    ROUNDS = 3
    RUN = ["--start", "Round", "--stop", "RoundEnds", "--passes", str(ROUNDS), "--gdb", "off"]
    EACH = {"Round": 1, "RoundEnds": 1, "mix(int, int)": 20, "left::sample(int)": 20, "left.cc:scale(int)": 20, "Filter<int, 8>::run(int)": 20,
            "Filter<int, 8>::next(int)": 20, "mix(float, float)": 12, "right::sample(int)": 12, "right.cc:scale(int)": 12,
            "Filter<float, 4>::run(float)": 12, "Filter<float, 4>::next(int)": 12, "operator+(Point const&, Point const&)": 10,
            "run(Stage*, int)": 10, "Gain::step(int)": 20, "Pair::step(int)": 10, "Offset::step(int)": 10,
            "int sum_of<Round::{lambda(int)#1}>(int, Round::{lambda(int)#1})": 1, "Round::{lambda(int)#1}::operator()(int) const": 5}
    ONCE = ("Filter<int, 8>::Filter()", "Filter<float, 4>::Filter()")

    def test_every_function_has_its_hits_and_its_place_in_the_tree(self):
        r = run(self.RUN + ["--json"], cwd=CXX)
        self.assertEqual(r.returncode, 0, r.stderr)
        document = json.loads(r.stdout)
        shown = [f["qualified_name"] or f["name"] for f in document["functions"]]
        expected = {name: n * self.ROUNDS for name, n in self.EACH.items()} | dict.fromkeys(self.ONCE, 1)
        self.assertEqual({name: f["hits"] for name, f in zip(shown, document["functions"])}, expected)
        check_identities(self, document)
        paths = {}
        for n in document["tree"]:
            above = paths.get(n["parent"], (0, ()))[1]
            paths[n["id"]] = (n["hits"], above + (shown[n["function"]].split("(")[0],))
        hits_of = {" ".join(path): n for n, path in paths.values()}
        self.assertEqual(hits_of["Round run Gain::step"], 10 * self.ROUNDS)
        self.assertEqual(hits_of["Round run Pair::step Gain::step"], 10 * self.ROUNDS)
        self.assertEqual(hits_of["Round right::sample Filter<float, 4>::run Filter<float, 4>::next"], 12 * self.ROUNDS)

    @unittest.skipUnless(shutil.which("sh4-linux-gnu-strip"), "needs binutils-sh4-linux-gnu")
    def test_stripped_it_has_the_same_tree_by_address(self):
        """Virtual functions are found through their tables; nothing in a call names them."""
        elf = os.path.join(CXX, "cxx.elf")
        subprocess.run(["sh4-linux-gnu-strip", "-o", self.path("stripped.elf"), elf], check=True)
        at = {name: json.loads(run(["disasm", elf, name, "--json"]).stdout)["instructions"][0]["address"] for name in ("Round", "RoundEnds")}
        points = ["--start", hex(at["Round"]), "--stop", hex(at["RoundEnds"]), "--passes", str(self.ROUNDS), "--gdb", "off", "--json", "--load",
                  "--c1", "instructions", "--c2", "none"]
        trees = []
        for file in (elf, self.path("stripped.elf")):
            r = run(["--elf", file] + points, cwd=self.dir)
            self.assertEqual(r.returncode, 0, r.stderr)
            document = json.loads(r.stdout)
            paths = {}
            for n in document["tree"]:
                above = paths.get(n["parent"], ((), 0, 0))[0]
                paths[n["id"]] = (above + (document["functions"][n["function"]]["low"],), n["hits"], n["c1"])
            trees.append({path: (h, c) for path, h, c in paths.values()})
            self.assertEqual(document["coverage"]["blind_events"], 0)
        self.assertEqual(trees[0], trees[1])
        self.assertIs(document["coverage"]["names"], False)
        r = run(["--elf", self.path("stripped.elf")] + [p for p in points if p != "--json"], cwd=self.dir)
        self.assertRegex(r.stdout, r"(?m)^names +the ELF names no functions")

    def test_no_two_functions_look_alike_in_any_width(self):
        for columns in (76, 80, 90, 120):
            with self.subTest(columns=columns):
                text = self.on_terminal(self.RUN, columns=columns, folder=CXX, TERM="dumb")
                names = re.findall(r"^ +\d+ +[\d.]+ .{3,}?  +\??(\S.*?)\r$", text[text.index("  function"):], re.M)
                self.assertEqual(len(names), len(self.EACH) + len(self.ONCE), text)
                self.assertEqual(len(set(names)), len(names), names)
                for line in text.splitlines():
                    if re.match(r" +\d+ ", line):
                        self.assertLessEqual(len(line), columns)


SECRET = """
        .globl  main, f
        .type   main, @function
        .type   f, @function
main:   mov.l   2f, r0
        ldc     r0, sr
        mov.l   3f, r9
        mov.l   4f, r12
1:      mov.l   5f, r1
        mov.l   @r1, r1
        xor     r12, r1
        jsr     @r1                     ! of it nothing in the image tells where it leads
        nop
        dt      r9
        bf      1b
done:   bra     done
        nop
        .align  2
2:      .long   0x40000000
3:      .long   20000
4:      .long   0x5A5A5A5A
5:      .long   secret
        .size   main, . - main
f:      rts
        add     #1, r8
        .size   f, . - f
.Lhidden: sts.l pr, @-r15
        bsr     f
        nop
        bsr     f
        nop
        lds.l   @r15+, pr
        rts
        nop
        .data
        .align  2
secret: .long   0
"""


@unittest.skipUnless(shutil.which("sh4-linux-gnu-as"), "needs binutils-sh4-linux-gnu")
class Secret(Folder):
    """A function without a name, behind a pointer that the program decodes: found by its running."""

    BASE, HIDDEN = 0x0C010000, 0x0C010030

    def build(self):
        source = self.write("secret.S", SECRET.replace("secret: .long   0", f"secret: .long   {self.HIDDEN ^ 0x5A5A5A5A:#x}"))
        subprocess.run(["sh4-linux-gnu-as", "-little", "-o", self.path("secret.o"), source], check=True)
        subprocess.run(["sh4-linux-gnu-ld", "-EL", "-Ttext", hex(self.BASE), "-Tdata", "0x0c018000", "-e", "main", "-o", self.path("secret.elf"), "--no-warn-rwx-segments",
                        self.path("secret.o")], check=True)
        return self.path("secret.elf")

    def test_the_summary_says_how_many_functions_running_has_shown(self):
        args = ["--elf", self.build(), "--load", "--gdb", "off", "--start", "main+4", "--stop", "done", "--passes", "1", "--c1", "instructions", "--c2", "none"]
        r = run(args + ["--json"], cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        document = json.loads(r.stdout)
        hits = {f["low"]: f["hits"] for f in document["functions"]}
        self.assertEqual(document["coverage"]["names"], True)
        self.assertGreater(hits[self.HIDDEN - 4], 30000)  # f, which it calls twice: not all were seen before it was found
        self.assertLessEqual(hits[self.HIDDEN - 4], 40000)
        self.assertEqual(hits[self.HIDDEN], 20000)
        self.assertLess(document["coverage"]["blind_events"], 10000)
        self.assertRegex(run(args, cwd=self.dir).stdout, r"1 function\(s\) found by their running")


class Sampling(Folder):
    """--sample: shares of time by looking at the PC, against what counting every call says."""
    ARGS = ["--sample", "--gdb", "off"]

    def profile(self, args, cwd=PROFEXAM, probe="sim:sh7750"):
        r = run(args + ["--gdb", "off", "--json"], cwd, probe)
        self.assertEqual(r.returncode, 0, r.stderr)
        return json.loads(r.stdout)

    def assert_same_shares(self, sampled, exact, share_of):
        """Each true share lies in the interval, or at most half its width beside it; the large ones in it."""
        total = sum(share_of(f) for f in exact["functions"])
        true = {f["name"]: share_of(f) / total for f in exact["functions"]}
        found = {f["name"]: f for f in sampled["functions"]}
        for name, share in true.items():
            if name not in found:
                self.assertLess(share, 0.003, name)
                continue
            f = found[name]
            slack = 0 if share > 0.05 else (f["share_high"] - f["share_low"]) / 2
            self.assertLessEqual(f["share_low"] - slack, share, f)
            self.assertGreaterEqual(f["share_high"] + slack, share, f)

    def test_shares_agree_with_the_exact_profile_and_their_confidence(self):
        sampled = self.profile(["--sample", "--rate", "20k", "--for", "300ms"])
        exact = self.profile(["--start", "main+8", "--stop", "0x0C010030", "--passes", "2"])
        self.assertEqual(sampled["type"], "statistical")
        self.assertEqual(sampled["tree"], [])
        s = sampled["sampling"]
        self.assertEqual((s["rate_asked"], s["asleep"], s["confidence"]), (20000, 0, 0.95))
        self.assertEqual(s["looks"], sampled["totals"]["hits"])
        self.assertAlmostEqual(s["looks"] / s["seconds"], s["rate"], delta=1)
        self.assertAlmostEqual((s["looks"] + s["missed"]) / s["seconds"], 20000, delta=400)
        self.assertAlmostEqual(s["seconds"], 0.3, delta=0.01)
        self.assert_same_shares(sampled, exact, lambda f: f["c1"])

    def test_recording_and_prf_say_the_same(self):
        rec, prf = self.path("s.rec"), self.path("s.prf")
        r = run(self.ARGS + ["--for", "100ms", "--record", rec, "--output", prf, "--json"], PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        live, again = json.loads(r.stdout), json.loads(run(["report", rec, "--json"]).stdout)
        self.assertEqual(live, again)
        old = json.loads(run(["report", prf, "--json"]).stdout)
        self.assertEqual((old["type"], old["totals"]), ("statistical", live["totals"]))
        self.assertEqual(hits(old), hits(live))

    def test_the_same_run_twice_gives_the_same_samples(self):
        a, b = (self.profile(["--sample", "--for", "50ms"]) for _ in range(2))
        self.assertEqual(a["functions"], b["functions"])

    def test_table_shows_rate_misses_and_confidence(self):
        r = run(self.ARGS + ["--for", "50ms", "--rate", "100k"], PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stdout.splitlines()[0], r"^ +hits hits% +\+- cache  function$")
        self.assertRegex(r.stdout, r"sampling  [0-9.]+ looks a second of 100,000 asked for, [0-9,]+ missed\n")
        self.assertIn("95 % probability", r.stdout)

    def test_s12z_shares_agree_with_the_number_of_calls(self):
        # clamp and magnitude run equally often, duty and pi_step have most of the work; the simulated board has no exact times to
        # compare with but the program's own structure: what each call costs by its instructions.
        doc = self.profile(["--sample", "--rate", "10k", "--for", "1s"], os.path.join(EXAMPLES, "motor"), None)
        share = {f["name"]: f["share"] for f in doc["functions"]}
        self.assertEqual(doc["target"], "s12zvml128")
        self.assertGreater(doc["sampling"]["missed"], 0)  # a look takes half a millisecond at 1 MHz
        self.assertLess(doc["sampling"]["rate"], 2000)
        self.assertEqual(sorted(share, key=share.get, reverse=True)[:4], ["pi_step", "duty", "average", "transform"])
        self.assertGreater(share["pi_step"], 0.4)

    def test_usage(self):
        for args, what in ((["--rate", "100"], "--rate says how often"), (["--sample", "--tree"], "no use for --tree"),
                           (["--sample", "--start", "main"], "no use for --start"), (["--sample", "--rate", "2M"], "more than any wire"),
                           (["--sample", "--rate", "often"], "not a frequency")):
            self.assert_fails(run(args + ["--gdb", "off"], PROFEXAM), 2, what, "")
        self.assert_fails(run(["--sample", "--conf", "off"], self.dir), 2, "--sample needs the program", "--elf")


class Motor(Folder):
    """docs/examples/motor through its code-profiling trace: what its README says, to the branch."""
    CALLS = {"read_currents": 1, "transform": 1, "regulate": 1, "commutate": 1, "average": 3, "reading": 3, "pi_step": 4, "clamp": 4,
             "magnitude": 4, "duty": 1}
    BRANCHES = {"average": 16, "transform": 48, "pi_step": 40}  # of its own, in a call

    def profile(self, args):
        r = run(args + ["--gdb", "off", "--json"], os.path.join(EXAMPLES, "motor"), None)
        self.assertEqual(r.returncode, 0, r.stderr)
        return json.loads(r.stdout)

    def check(self, d):
        count = hits(d)
        c2 = {f["name"]: f["c2"] for f in d["functions"]}
        rounds = count["read_currents"]  # the first of a round; the last round may have been cut off
        for name, a_round in self.CALLS.items():
            self.assertIn(count[name], range(a_round * (rounds - 1), a_round * rounds + 1), name)
        for name, a_call in self.BRANCHES.items():  # the last call may have been cut off
            self.assertIn(c2[name], range(a_call * (count[name] - 1), a_call * count[name] + 1), name)
        phases = {"phase_a": 60, "phase_b": 80, "phase_c": 100}
        self.assertIn(sum(n * count[p] for p, n in phases.items()) - c2["duty"], range(0, 100))
        self.assertEqual(count["tick"], count["count_tick"])
        self.assertIn(sum(count.get(s, 0) for s in ("idle", "ramp", "run", "brake")), (rounds - 1, rounds))
        return count

    def test_calls_and_branches_are_those_of_the_program(self):
        d = self.profile(["--for", "100ms"])
        count = self.check(d)
        self.assertEqual(d["coverage"]["lost"], 0)
        self.assertAlmostEqual(count["tick"], d["totals"]["c1"] / 10000, delta=2)
        share = {f["name"]: f["c1"] / d["totals"]["c1"] for f in d["functions"]}
        self.assertGreater(share["pi_step"] + share["duty"] + share["average"] + share["transform"], 0.9)

    @staticmethod
    def packet(text):
        return f"${text}#{sum(text.encode()) & 255:02x}".encode()

    def write_burst(self, port):
        """What (gdb) set var *(short*)&burst = 500 and a detach would send."""
        with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as s:
            stream = s.makefile("rb")
            for text in ("?", "M1000,2:01f4", "D"):
                s.sendall(self.packet(text))
                while stream.read(1) != b"$":
                    pass
                answer = b""
                while not answer.endswith(b"#"):
                    answer += stream.read(1)
                stream.read(2)
                s.sendall(b"+")
                self.assertTrue(answer.startswith((b"T", b"OK")), answer)

    def test_overflow_on_demand_loses_no_call_and_names_who_did_it(self):
        p = start(["--gdb", "0", "--json", "--for", "1s"], os.path.join(EXAMPLES, "motor"), None)
        port = int(re.search(r":(\d+)", self.wait_for(p, "target remote")).group(1))
        self.wait_for(p, "profiling")
        self.write_burst(port)
        out, err = p.communicate(timeout=TIMEOUT)
        self.assertEqual(p.returncode, 0, err)
        d = json.loads(out)
        count = self.check(d)
        self.assertEqual((count["overflow"], count["tiny"], d["coverage"]["lost"]), (1, 500, 0))
        self.assertRegex(d["note"], r"tiny.* filled the buffer \d+ times")

    def test_start_and_stop_points_give_whole_rounds(self):
        d = self.profile(["--start", "regulate", "--stop", "commutate", "--passes", "20"])
        self.assertEqual((d["passes"], hits(d)["pi_step"], hits(d)["magnitude"]), (20, 80, 80))
        self.assertNotIn("duty", hits(d))

    def test_samples_agree_with_the_estimated_times(self):
        exact = self.profile(["--for", "200ms"])
        sampled = self.profile(["--sample", "--rate", "1k", "--for", "2s"])
        Sampling.assert_same_shares(self, sampled, exact, lambda f: f["c1"])


class Interrupts(Folder):
    """docs/examples/irqdemo: what its first lines promise, with the paths Mode adds."""

    def test_prf_has_handlers_as_roots(self):
        document = self.profile(1, "--for", "20ms", "--output", self.path("irq.prf"))
        with open(self.path("irq.prf"), "rb") as f:
            header, functions, calls = prf_text.read(f.read())
        check_prf(self, document, header, functions, calls)
        roots = {(c["name"], c["description"]) for c in calls if c["parent"] is None}
        self.assertIn(("vectors", 5), roots)  # interrupt, VBR + 0x600
        self.assertTrue(any(c["attributes"] & 1 for c in calls))

    def profile(self, mode, *args):
        elf = shutil.copy(os.path.join(IRQDEMO, "irqdemo.elf"), self.path(f"mode{mode}.elf"))
        patch_mode(elf, mode)
        r = run(["--elf", elf, "--load", "--start", "Round", "--gdb", "off", "--json"] + list(args), cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        document = json.loads(r.stdout)
        check_identities(self, document)
        self.assertEqual(document["coverage"]["lost"], 0)
        return document

    def test_rounds_without_interrupts_are_exact(self):
        counts = hits(self.profile(0, "--stop", "CallBlocked", "--passes", "3"))
        self.assertEqual({n: counts.get(n, 0) for n in ("Fibonacci", "TailCaller", "TailTarget", "Catch", "Deep", "Throw", "LongJump",
                                                       "SetJump", "WorkB", "Yield")},
                         {"Fibonacci": 3 * 177, "TailCaller": 3, "TailTarget": 3, "Catch": 3, "Deep": 12, "Throw": 3,
                          "LongJump": 3, "SetJump": 3, "WorkB": 3, "Yield": 6})

    def test_untraced_places_are_told_in_table_json_and_recording(self):
        elf, rec = os.path.join(IRQDEMO, "irqdemo.elf"), self.path("r.rec")
        args = ["--elf", elf, "--load", "--start", "Round", "--stop", "CallBlocked", "--passes", "2", "--gdb", "off", "--record", rec]
        live = run(args, cwd=self.dir).stdout
        self.assertRegex(live, r"(?m)^untraced +\d+ places; [\d.]+ % of the hits are of functions that hold some$")
        self.assertRegex(live, r"places: may run with SR.BL=1, .*\n? .*BlockedTick")
        again = run(["report", rec], cwd=self.dir).stdout
        self.assertEqual(again[again.index("total"):], live[live.index("total"):])
        document = json.loads(run(["report", rec, "--json"], cwd=self.dir).stdout)
        rows = {(u["function"], u["kind"], u["cause"]): u["by"] for u in document["coverage"]["untraced"]}
        self.assertEqual(rows["BlockedTick", "return", "blocked"], "interrupt_entry")
        self.assertEqual(f"untraced  {len(document['coverage']['untraced'])} places", re.search(r"untraced  \d+ places", live).group())

    def test_crash_is_an_exception_of_its_own(self):
        document = self.profile(8, "--for", "20ms")
        counts = hits(document)
        self.assertEqual((counts["Round"], counts["Crash"], counts["Fibonacci"]), (3, 1, 3 * 177))
        roots = [document["functions"][n["function"]]["name"] for n in document["tree"] if n["parent"] is None]
        self.assertTrue({"vectors", "unexpected"} & set(roots), roots)
        crash = document["crash"]
        self.assertEqual((crash["vector"], crash["exception"]), (0x0E0, "address error on read"))
        self.assertRegex(crash["at"], r"^Crash\+0x")
        self.assertGreater(crash["c1_since"], 0.9 * (document["totals"]["c1"] - crash["c1_since"]))
        self.assertLess(document["time"]["board_seconds"], 0.06)
        self.assertIsNone(self.profile(0, "--stop", "CallBlocked", "--passes", "1")["crash"])

    def test_storm_eats_the_profile_without_the_filter_and_not_with_it(self):
        without = hits(self.profile(1 | 2, "--for", "10ms"))
        filtered = hits(self.profile(1 | 2, "--for", "40ms", "--irq-filter", "auto"))
        # A traced tick takes about as long as they are apart: between most of them the program does not get to its next call.
        self.assertLess(without.get("Fibonacci", 0), without["Tick"] / 2, without)
        self.assertGreater(without["Tick"], 50)
        self.assertGreater(filtered["Fibonacci"], 177)
        self.assertNotIn("Tick", filtered)

    def test_shinobi_patches_the_named_routine_and_says_whether_that_worked(self):
        without = self.profile(1, "--for", "20ms")
        document = self.profile(1, "--for", "20ms", "--irq-filter", "shinobi:Tick")
        self.assertIn("shinobi filter enabled at Tick", document["note"])
        self.assertGreater(hits(without)["CountTick"], 0)
        self.assertNotIn("CountTick", hits(document))
        self.assertGreater(hits(document)["Fibonacci"], 177)
        for routine, why in (("", "_sbInterrupt: no such symbol"), (":interrupt_entry", "SR.BL=1")):
            document = self.profile(1, "--for", "20ms", "--irq-filter", "shinobi" + routine)
            self.assertRegex(document["note"], "shinobi filter NOT enabled at .*" + why)
            self.assertGreater(hits(document)["CountTick"], 0)

    def test_calls_of_the_program_keep_its_handler_out(self):
        counts = hits(self.profile(1 | 4, "--for", "100ms", "--irq-filter", "calls"))
        self.assertGreater(counts["Fibonacci"], 177)
        self.assertNotIn("Tick", counts)
        self.assertIn("Tick", hits(self.profile(1 | 4, "--for", "100ms")))

    def test_code_under_bl_is_counted_but_in_handlers(self):
        counts = hits(self.profile(1, "--stop", "CallBlocked", "--passes", "3"))
        self.assertNotIn("Blocked", counts)
        counts = hits(self.profile(1, "--for", "10ms"))
        self.assertGreater(counts["CallBlocked"], 0)
        self.assertLessEqual(counts["CallBlocked"] - counts["Blocked"], 1)
        self.assertNotIn("BlockedTick", counts)


class GdbFolder(Folder):
    """What tests with a GDB share."""

    def setUp(self):
        super().setUp()
        if not shutil.which("gdb-multiarch"):
            self.skipTest("needs gdb-multiarch")

    def bridge(self, args, cwd):
        p = start(args + ["--gdb", "0"], cwd=cwd)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        line = p.stderr.readline()
        return p, re.search(r"target remote (\S+)", line).group(1)

    def gdb(self, address, elf, commands):
        script = self.write("commands.gdb", "set confirm off\nset pagination off\ntarget remote " + address + "\n" +
                            "\n".join(commands) + "\n")
        r = subprocess.run(["gdb-multiarch", "-q", "-nx", "-batch", "-x", script, elf], capture_output=True, text=True,
                           timeout=TIMEOUT, check=False)
        return r.stdout + r.stderr

    def end(self, process):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 0, err)
        return out


class Gdb(GdbFolder):
    """GDB and a profile at the same time."""

    def test_breakpoints_work_while_profiling(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        p, address = self.bridge(["--start", "main+8", "--json"], PROFEXAM)
        text = self.gdb(address, elf, [
            "break InsertNode if node->number == 3 && Passes >= 2", "continue", "bt", "print node->number",
            "x/i GetLastNode", "x/4i main", "finish", "monitor profile status", "delete", "detach"])
        self.assertIn("$1 = 3", text)
        self.assertRegex(text, r"#1 .* in BuildList \(\)")
        self.assertRegex(text, r"#2 .* in main \(\)")
        self.assertNotIn("trapa", text)  # the patches do not show
        self.assertRegex(text, r"profiling: \d+ events, 0 lost")
        document = json.loads(self.end(p))
        check_identities(self, document)
        self.assertGreaterEqual(hits(document)["GetNewNode"], 1003)

    def test_gdb_that_is_killed_at_a_breakpoint_leaves_the_profile_going(self):
        p, address = self.bridge(MISSION + ["--json", "--record", self.path("r")], PROFEXAM)
        gdb = subprocess.Popen(["gdb-multiarch", "-q", "-nx", "-ex", "target remote " + address, "-ex", "break InsertNode", "-ex", "continue",
                                "-ex", "echo here\\n", os.path.join(PROFEXAM, "profexam.elf")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        for line in gdb.stdout:
            if line.startswith("here"):
                break
        gdb.kill()
        gdb.communicate()
        self.wait_for_hits(self.path("r.part"), "InsertNode", 3000)
        document = json.loads(self.end(p))
        check_identities(self, document)
        counts = hits(document)
        passes = counts["Initialise"]
        self.assertGreaterEqual(passes, 3)
        for name, each in PASS_HITS.items(): # the end cuts the last pass
            self.assertLessEqual((passes - 1) * each, counts[name], name)
            self.assertLessEqual(counts[name], passes * each, name)

    def test_ctrl_c_leaves_no_patch_and_a_program_that_runs(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        p, address = self.bridge(["--start", "main+8", "--json"], PROFEXAM)
        text = self.gdb(address, elf, [
            "break InsertNode if Passes >= 1", "continue", "monitor profile status",
            f"shell kill -INT {p.pid}",
            "python import time", "python", "while 'not profiling' not in gdb.execute('monitor profile status', to_string=True): time.sleep(0.05)", "end",
            "monitor profile status", "compare-sections -r", "delete", "break Initialise", "continue", "continue",
            "print Passes >= 2", "delete", "detach"])
        self.assertRegex(text, r"profiling: \d+ events, 0 lost")
        self.assertIn("not profiling", text)
        self.assertIn("matched", text)  # what the memory holds: nothing is hidden any more
        self.assertNotIn("MIS-MATCHED", text)
        self.assertIn("$1 = 1", text)
        self.end(p)

    def test_breakpoint_commands_start_and_stop_the_profile(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        p, address = self.bridge(["--no-profile", "--json"], PROFEXAM)
        text = self.gdb(address, elf, [
            "break BuildList", "continue", "monitor profile start", "delete",
            "break Initialise", "continue", "monitor profile stop", "delete", "detach"])
        self.assertIn("profiling", text)
        document = json.loads(self.end(p))
        check_identities(self, document)
        counts = hits(document)
        self.assertEqual([counts.get(n) for n in ("GetNewNode", "MallocNode", "GetLastNode", "InsertNode")], [1000, 1000, 999, 1000])


class Recovery(GdbFolder):
    """The board loses its power, or the adapter is unplugged, and comes back: in virtual time, while something runs."""
    LOSSES = [("no-power@500ms+300ms", "sees no target power", "loaded again"),
              ("unplug@500ms+300ms", "the adapter is gone", "its program untouched")]

    def start_bridge(self, fault, args, cwd=PROFEXAM):
        p = start(args + ["--gdb", "0"], cwd=cwd, probe="sim:sh7750,fault=" + fault)
        for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        return p, re.search(r"target remote (\S+)", p.stderr.readline()).group(1)

    def test_during_a_plain_run(self):
        for fault, why, _ in self.LOSSES:
            with self.subTest(fault=fault):
                p = start(["--gdb", "off"], cwd=self.dir, probe="sim:sh7750,fault=" + fault)
                self.assertIn("bridge only", p.stderr.readline())
                line = p.stderr.readline()
                self.assertIn("does not answer", line)
                self.assertIn(why, line)
                self.assertRegex(p.stderr.readline(), r"the board is back after \d+\.\d s$")
                p.send_signal(signal.SIGINT)
                out, err = p.communicate(timeout=TIMEOUT)
                self.assertEqual((p.returncode, out, err), (0, "", ""))

    def test_during_a_profile(self):
        whole = run(MISSION + ["--gdb", "off", "--json", "--passes", "2"], cwd=PROFEXAM)
        paths = self.call_paths(json.loads(whole.stdout))
        for fault, why, how in self.LOSSES:
            with self.subTest(fault=fault):
                recording = self.path("r")
                r = run(MISSION + ["--gdb", "off", "--json", "--for", "1500ms", "--record", recording], cwd=PROFEXAM,
                        probe="sim:sh7750,fault=" + fault)
                self.assertEqual(r.returncode, 0, r.stderr)
                self.assertEqual(r.stderr.count("does not answer"), 1, r.stderr)
                self.assertIn(why, r.stderr)
                self.assertEqual(r.stderr.count("the board is back"), 1, r.stderr)
                self.assertIn(how, r.stderr)
                self.assertIn("the gap is marked", r.stderr)
                document = json.loads(r.stdout)
                check_identities(self, document)
                self.assertEqual(document["coverage"]["gaps"], 1)
                self.assertLessEqual(self.call_paths(document), paths | {("(lost events)",)})
                counts = hits(document)
                self.assertGreater(counts["GetLastNode"], 8 * 999)  # both sides of the gap
                for name in ("MallocNode", "GetLastNode", "InsertNode"):
                    self.assertAlmostEqual(counts[name], counts["GetNewNode"], delta=0.01 * counts["GetNewNode"])
                again = run(["report", recording, "--json"], cwd=PROFEXAM)
                self.assertEqual(json.loads(again.stdout), document)
                self.assertIn("the board was away once", run(["report", recording], cwd=PROFEXAM).stdout)

    @staticmethod
    def call_paths(document):
        names, paths = document["functions"], {}
        for n in document["tree"]:  # parents come first
            paths[n["id"]] = paths.get(n["parent"], ()) + (names[n["function"]]["name"],)
        return set(paths.values())

    def gdb_through_a_loss(self, bridge, address, elf, before, after, interrupt):
        """GDB does `before`, which ends with a continue, until the board is back; then `after`. interrupt: its program has run on, so GDB
        has to halt it."""
        script = self.write("commands.gdb", "\n".join(["set confirm off", "set pagination off", "target remote " + address] + before +
                                                      ["echo stopped\\n"] + after) + "\n")
        gdb = subprocess.Popen(["gdb-multiarch", "-q", "-nx", "-batch", "-x", script, elf], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for f in (gdb.stdout.close, gdb.wait, gdb.kill):
            self.addCleanup(f)
        back = self.wait_for(bridge, "the board is back")
        text = ""
        for line in gdb.stdout:
            text += line
            if "The target is back." in line:
                break
        if interrupt:
            time.sleep(1)  # while it prints, GDB takes it for the end of its script
            gdb.send_signal(signal.SIGINT)
        late = threading.Timer(TIMEOUT, gdb.kill)
        late.start()
        text += gdb.stdout.read()
        late.cancel()
        self.assertIn("The connection to the target is lost", text)
        self.assertIn("The target is back.", text)
        self.assertIn("stopped", text)
        return text, back

    def test_during_continue_of_gdb(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        with self.subTest("unplugged: the program has run on"):
            p, address = self.start_bridge("unplug@600ms+300ms", ["--no-profile", "--load"])
            text, back = self.gdb_through_a_loss(p, address, elf, ["break *main", "continue", "continue"],
                                                 ["print Passes > 20", "tbreak InsertNode", "continue", "bt", "detach"], True)
            self.assertIn("its program untouched", back)
            self.assertIn("SIGINT", text)
            self.assertIn("$1 = 1", text)
            self.assertRegex(text, r"#1 .* in BuildList \(\)")
            self.end(p)
        with self.subTest("power lost: a stop at the entry, breakpoints are set again"):
            p, address = self.start_bridge("no-power@600ms+300ms", ["--no-profile", "--load"])
            text, back = self.gdb_through_a_loss(p, address, elf, ["break *main", "continue", "continue"],
                                                 ["info symbol $pc", "continue", "print Passes", "delete", "detach"], False)
            self.assertIn("loaded again, halted", back)
            self.assertIn("SIGTRAP", text)
            self.assertIn("entry in section", text)
            self.assertEqual(len(re.findall(r"Breakpoint 1, .*main", text)), 2)
            self.assertIn("$1 = 0", text)
            self.end(p)

    def test_during_continue_of_gdb_and_a_profile(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        for fault, _, how in self.LOSSES:
            with self.subTest(fault=fault):
                p, address = self.start_bridge(fault, ["--start", "main+8", "--json"])
                text, back = self.gdb_through_a_loss(p, address, elf, ["continue"],
                                                     ["tbreak InsertNode", "continue", "bt", "tbreak Initialise", "continue",
                                                      "tbreak InsertNode", "continue", "monitor profile status", "detach"],
                                                     fault.startswith("unplug"))
                self.assertIn(how, back)
                self.assertRegex(text, r"#1 .* in BuildList \(\)")
                self.assertRegex(text, r"profiling: \d+ events, 0 lost")
                p.send_signal(signal.SIGINT)
                out, err = p.communicate(timeout=TIMEOUT)
                self.assertEqual(p.returncode, 0, err)
                document = json.loads(out)
                check_identities(self, document)
                self.assertEqual(document["coverage"]["gaps"], 1)

    def test_that_never_comes_back_ends_with_what_was_seen(self):
        r = run(MISSION + ["--gdb", "off", "--json", "--for", "900ms"], cwd=PROFEXAM, probe="sim:sh7750,fault=unplug@500ms+1000s")
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("adapter", r.stderr)
        document = json.loads(r.stdout)
        check_identities(self, document)
        self.assertGreater(hits(document)["GetLastNode"], 999)


def patch_mode(elf, mode):
    """Changes the initial value of Mode in a copy of irqdemo.elf."""
    nm = subprocess.run(["sh4-linux-gnu-readelf", "-sW", elf], capture_output=True, text=True, check=False)
    if nm.returncode != 0:
        raise unittest.SkipTest("needs binutils-sh4-linux-gnu")
    addr = int(re.search(r"([0-9a-f]{8})\s+4 OBJECT\s+GLOBAL\s+DEFAULT\s+\d+ Mode", nm.stdout).group(1), 16)
    with open(elf, "r+b") as f:
        f.seek(0x100 + addr - 0x0C010000)
        old = int.from_bytes(f.read(4), "little")
        if old != 1:
            raise AssertionError(f"Mode is {old:#x} in the file, expected 1")
        f.seek(-4, os.SEEK_CUR)
        f.write(mode.to_bytes(4, "little"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:], verbosity=2)
