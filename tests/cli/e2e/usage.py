#!/usr/bin/env python3
"""Command lines, files and settings that are wrong, each refused with what to do next; help, lists and the manual.

usage: usage.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import subprocess
import unittest

import prf_text
from common import EXAMPLES, Folder, IRQDEMO, MISSION, PROBEPROF, PROFEXAM, SOURCE, TIMEOUT, hits, main, run


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
            "unknown option": (2, [[c, "--nonsense"] for c in ("run", "report", "decode", "disasm", "graph", "dump", "events", "list", "doctor", "trust", "top", "view", "version", "optimize")]),
            "no symbol": (1, [["--elf", elf, "--start", "nosuch"], ["--elf", elf, "--no-patch", "nosuch"], ["disasm", elf, "nosuch"], ["graph", elf, "nosuch"], [*decode, motor, "--start", "nosuch"]]),
            "No such file": (1, [["--elf", "x"], ["doctor", "--elf", "x"], ["disasm", "x"], ["graph", "x"], [*decode, "x"], ["report", "x"], ["dump", "lines", "x"], ["trust", "x"],
                                 ["--conf", "x"], ["doctor", "--conf", "x"], ["--elf", elf, "--output", "x/y"], ["doctor", "--report", "x/y"]]),
            "a program for x86-64": (1, [["--elf", "/bin/true"], ["doctor", "--elf", "/bin/true"], ["disasm", "/bin/true"], ["graph", "/bin/true"], [*decode, "/bin/true"]]),
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
        self.assert_fails(run(["report", self.path("folder")], cwd=self.dir), 1, "folder", "a recording")

    def test_no_elf_file(self):
        self.assert_fails(run(["--elf", "nowhere.elf"], cwd=self.dir), 1, "nowhere.elf", "")

    def test_elf_of_another_machine(self):
        r = run(["--elf", "/bin/true"], cwd=self.dir)
        self.assertNotEqual(r.returncode, 0)
        self.assertIn("/bin/true", r.stderr)

    def test_each_gets_a_plain_sentence(self):
        elf = os.path.join(PROFEXAM, "profexam.elf")
        rows = [(["--elf", "/bin/true"], 1, "a program for ", "SH or S12Z"), (["--svd", "none.svd"], 1, "no such file", "check the name"), (["--svd", "/bin/true"], 1, "line 1", "CMSIS-SVD"), (["none.elf"], 1, "No such file", ""), (["no/where"], 1, "No such file", ""),
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
        """{(letter, name, takes a value)} of a command's --help; one that may have a value, --name[=word], takes none."""
        rows = re.findall(r"(?m)^  (?:-(\w), |    )--([a-z0-9-]+)(?:\[=\w+\])?( \S+)? ", text)
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
                  for c in ("run", "report", "decode", "disasm", "graph", "dump", "events", "list", "doctor", "top", "view", "version", "help")}
        for command in listed:
            lines = re.findall(r"(?m)^  (?:\w+=\S+ )?probeprof(.*)$", run(["help", command]).stdout.split("Example")[1])
            self.assertTrue(lines, command)
            for line in lines:
                word = line.split()[0] if line.split() else "run"
                used = set(re.findall(r"--([a-z0-9-]+)", line.split("|")[0]))
                self.assertLessEqual(used, listed[word if word in listed else "run"], line)

    def test_full_standard_output_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            r = subprocess.run([PROBEPROF, "events"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(r.returncode, 1)
        self.assertIn("standard output", r.stderr)


if __name__ == "__main__":
    main()
