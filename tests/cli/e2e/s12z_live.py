#!/usr/bin/env python3
"""Live profiles of the S12Z example by the real program on the simulated board.

usage: s12z_live.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import tempfile
import unittest

from common import EXAMPLES, PROFEXAM, SOURCE, check_identities, hits, main, run

MOTOR = os.path.join(EXAMPLES, "motor")
BOARD = "sim:s12zvml128,bdc=20M"
ROUNDS = ["--start", "control_loop", "--stop", "commutate", "--gdb", "off"]
HANDLERS = {"tick", "count_tick"}


def s12z(args, probe=BOARD, **more):
    return run(args, cwd=more.pop("cwd", MOTOR), probe=probe, **more)


def profile(case, args, probe=BOARD, **more):
    r = s12z(args + ["--json"], probe, **more)
    case.assertEqual(r.returncode, 0, r.stderr)
    document = json.loads(r.stdout)
    check_identities(case, document)
    return document


def without_handlers(counts):
    return {name: n for name, n in counts.items() if name not in HANDLERS}


def overflowing(folder):
    """A copy of the example that begins with 500 calls of a leaf: more returns than the pins carry."""
    elf = os.path.join(folder, "overflow.elf")
    shutil.copy(os.path.join(MOTOR, "motor.elf"), elf)
    with open(elf, "r+b") as f:
        f.seek(0x18)
        f.write((0xFE0006).to_bytes(4, "big"))  # entry: start_burst
        f.seek(0x1E10 + 0x1EC)
        f.write((0xFE0006).to_bytes(4, "big"))  # and the reset vector
    return elf


class S12zLive(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def test_full_command_gives_what_sh4_gives(self):
        prf, rec = os.path.join(self.folder, "F.prf"), os.path.join(self.folder, "F")
        d = profile(self, ROUNDS + ["--passes", "3", "--output", prf, "--record", rec])
        self.assertEqual(d["passes"], 3)
        self.assertEqual(d["counters"][0]["name"], "bus-cycles")
        self.assertIn("C1 estimated", d["note"])
        self.assertEqual({k: v for k, v in hits(d).items() if k in ("pi_step", "average", "transform", "regulate")},
                         {"pi_step": 12, "average": 9, "transform": 3, "regulate": 3})
        again = run(["report", prf], probe=None).stdout # the codes mean the same in the format
        self.assertIn("C1 elapsed-time (cycles), C2 branches (count)", again)
        with open(prf, "rb") as f:
            self.assertGreater(len(f.read()), 200)
        r = run(["report", rec, "--json"], probe=None)
        self.assertEqual(r.returncode, 0, r.stderr)
        again = json.loads(r.stdout)
        for key in ("functions", "tree", "blocks", "branches", "totals", "counters"):
            self.assertEqual(again[key], d[key], key)

    def test_pins_and_bursts_agree_but_for_interrupts(self):
        both = [profile(self, ROUNDS + ["--passes", "4", "--irq-filter", "auto", "--capture", c]) for c in ("pdo", "bdc")]
        self.assertEqual(hits(both[0]), hits(both[1]))
        branches = [[b for b in d["branches"]] for d in both]
        self.assertEqual(branches[0], branches[1])
        self.assertIn("by PDO", both[0]["note"])
        self.assertIn("bursts", both[1]["note"])

    def test_blocks_and_branches_add_up(self):
        d = profile(self, ["--for", "2ms", "--gdb", "off"])
        taken = sum(b["taken"] + b["not_taken"] for b in d["branches"])
        self.assertEqual(d["counters"][1]["name"], "branches")
        self.assertLess(abs(taken - d["totals"]["c2"]), 40)  # those after the last call or return are in no step
        for low, high in zip(d["blocks"], d["blocks"][1:]):
            self.assertLessEqual(low["high"], high["low"])

    def test_handlers_are_roots_and_the_filter_leaves_them_out(self):
        with_them = profile(self, ["--for", "5ms", "--gdb", "off"])
        self.assertTrue(HANDLERS <= set(hits(with_them)))
        handler = with_them["handlers"][0]
        self.assertEqual(with_them["functions"][handler["function"]]["name"], "tick")
        self.assertEqual(handler["vector"], 12)
        self.assertLessEqual(handler["shortest_c1"], handler["longest_c1"])
        roots = [with_them["functions"][n["function"]]["name"] for n in with_them["tree"] if n["parent"] is None]
        self.assertEqual(sorted(roots), ["start", "tick"])
        self.assertEqual(with_them["coverage"]["doubtful"], 0)  # start goes on in begin by a BRA, of which no line tells
        self.assertEqual([f["hits"] for f in with_them["functions"] if f["name"] in ("start", "begin")], [1, 1])
        without = profile(self, ["--for", "5ms", "--gdb", "off", "--irq-filter", "auto"])
        self.assertFalse(HANDLERS & set(hits(without)))
        self.assertEqual(without_handlers(hits(with_them)), hits(without))

    def test_time_is_the_programs_from_where_it_runs(self):
        for probe in ("sim:s12zvml128", BOARD):  # a slow BDC takes 10 ms for the way into the program
            d = profile(self, ["--for", "50ms", "--gdb", "off"], probe)
            self.assertGreater(d["time"]["board_seconds"], 0.050)
            self.assertLess(d["time"]["board_seconds"], 0.055)
            self.assertIsNone(d["time"]["held_seconds"])
        r = s12z(["--for", "20ms", "--gdb", "off"])
        self.assertIn("0 doubtful", r.stdout)
        self.assertRegex(r.stdout, r"\nC1 +[0-9,]+ bus-cycles\n")
        self.assertRegex(r.stderr, r"2\d(\.\d)? ms of the board's time")

    def test_bursts_say_how_much_the_program_was_held(self):
        d = profile(self, ["--for", "50ms", "--gdb", "off", "--capture", "bdc"])
        own = d["time"]["board_seconds"] - d["time"]["held_seconds"]
        bus_hz = 50e6
        self.assertLess(abs(own - d["totals"]["c1"] / bus_hz), own / 5)
        self.assertGreater(d["time"]["slow_down"]["times"], 5)

    def test_overflow_lossless_misses_nothing(self):
        elf = overflowing(self.folder)
        d = profile(self, ["--elf", elf, "--for", "30ms", "--gdb", "off"])
        self.assertEqual(hits(d)["tiny"], 500)
        self.assertEqual(d["coverage"]["lost"], 0)
        self.assertIn("tiny", d["note"])
        points = re.search(r"--start (0x[0-9A-F]+) --stop (0x[0-9A-F]+)", d["note"])
        self.assertIsNotNone(points, d["note"])
        d = profile(self, ["--elf", elf, "--for", "30ms", "--gdb", "off", "--policy", "live", "--start", points.group(1), "--stop", points.group(2)])
        self.assertFalse({"tiny", "overflow"} & set(hits(d)))
        self.assertGreater(hits(d)["pi_step"], 100)
        self.assertEqual(d["coverage"]["lost"], 0)

    def test_overflow_live_is_counted_and_named(self):
        elf = overflowing(self.folder)
        d = profile(self, ["--elf", elf, "--for", "3ms", "--gdb", "off", "--policy", "live"])
        self.assertGreater(d["coverage"]["lost"], 0)
        self.assertGreater(d["coverage"]["lost_c1"], 0)
        self.assertTrue(d["coverage"]["lost_is_bound"])
        self.assertLess(hits(d).get("tiny", 0), 500)
        self.assertIn("tiny", d["note"])
        self.assertIn("% of bus cycles seen", d["note"])

    def test_lines_are_shown_as_they_come(self):
        r = s12z(["--for", "1ms", "--gdb", "off", "--trace-lines", "--capture", "bdc"])
        self.assertEqual(r.returncode, 0, r.stderr)
        lines = [line.split() for line in r.stdout.splitlines() if len(line) > 16 and line[:16].strip("0123456789ABCDEF") == ""]
        self.assertEqual(lines[0][1:], ["PTS", "->", "FE0000"])
        self.assertTrue({"PTS", "PTIB", "PTHF"} <= {line[1] for line in lines})
        self.assertIn("control_loop", r.stdout)

    def test_decoded_afterwards_the_lines_give_the_same_report(self):
        live = s12z(["--for", "5ms", "--gdb", "off", "--trace-lines", "--json"])
        self.assertEqual(live.returncode, 0, live.stderr)
        file = os.path.join(self.folder, "run.lines")
        with open(file, "wb") as f:
            for raw in re.findall(r"(?m)^([0-9A-F]{16}) PT", live.stderr):
                f.write(int(raw, 16).to_bytes(8, "little"))
        r = run(["decode", file, "--format", "lines", "--elf", os.path.join(MOTOR, "motor.elf"), "--json"], probe=None)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        a, b = json.loads(live.stdout), json.loads(r.stdout)
        self.assertTrue(a["estimate"]["by_arrivals"])  # which a file of lines does not have: C1 may differ a little
        self.assertFalse(b["estimate"]["by_arrivals"])
        self.assertAlmostEqual(a["totals"]["c1"], b["totals"]["c1"], delta=b["totals"]["c1"] / 50)
        for d in a, b:
            for key in ("functions", "tree", "handlers"):
                for row in d[key]:
                    for c1 in [k for k in row if "c1" in k]:
                        del row[c1]
            del d["totals"]["c1"]
        for key in ("functions", "tree", "handlers", "blocks", "branches", "totals", "counters", "coverage"):
            self.assertEqual(a[key], b[key], key)
        self.assertEqual(a["time"]["target_cycles"], b["time"]["target_cycles"])
        self.assertEqual(set(a["blocks"][0]), {"low", "high", "function", "count"})
        self.assertEqual(set(a["branches"][0]), {"pc", "taken", "not_taken"})

    def test_damaged_lines_are_told_with_the_first_place(self):
        d = profile(self, ["--for", "5ms", "--gdb", "off"], BOARD + ",fault=pdo-noise")
        self.assertRegex(d["note"], r"lines are damaged in \d+ places, the first [0-9.]+ ms from the start")
        self.assertGreater(d["coverage"]["lost"], 0)

    def test_counters_by_name(self):
        d = profile(self, ROUNDS + ["--passes", "2", "--c1", "calls", "--c2", "instructions", "--irq-filter", "auto"])
        self.assertEqual([c["name"] for c in d["counters"]], ["calls", "instructions"])
        r = s12z(ROUNDS + ["--passes", "2", "--c2", "icache-miss"])
        self.assertEqual(r.returncode, 2)
        self.assertIn("counts no event 'icache-miss'", r.stderr)
        r = run(["events", "--target", "s12zvml128"], probe=None)
        for name in ("bus-cycles", "branches", "taken-branches", "instructions", "calls", "interrupts"):
            self.assertIn(name, r.stdout)

    def test_what_cannot_be_profiled_is_said(self):
        rows = [
            ("sim:s12zvl128", [], "no function trace on this part", "--sample"),
            ("sim:s12zvml128,secured", [], "secured", "unsecure"),
            (BOARD + ",fault=bkgd-low", [], "BKGD is stuck low", "short of BKGD to ground"),
            (BOARD + ",fault=bkgd-high", [], "nothing answers a SYNC", "BKGD wire and its pull-up"),
            (BOARD + ",fault=no-power", [], "no power", "VDD"),
            (BOARD + ",fault=reset", [], "held in reset", "reset button"),
            (BOARD + ",fault=flash", [], "the flash did not take it", "supply voltage"),
            (BOARD, ["--no-load"], "does not run motor.elf", "--load"),
            (BOARD, ["--irq-filter", "shinobi"], "SH-4's", "--irq-filter auto"),
        ]
        for probe, more, what, hint in rows:
            with self.subTest(probe=probe, more=more):
                r = s12z(["--for", "1ms", "--gdb", "off"] + more, probe)
                self.assertNotEqual(r.returncode, 0)
                self.assertIn(what, r.stderr)
                self.assertIn(hint, r.stderr)

    def test_options_of_s12z_on_sh4_are_refused(self):
        for option, words in (("--trace-lines", "--trace-lines is for S12Z parts"), ("--bdc-fast", "bdc-fast is for S12Z parts"),
                              ("--allow-security", "allow-security is for S12Z parts")):
            with self.subTest(option=option):
                r = run(["--gdb", "off", "--for", "1ms", option], cwd=PROFEXAM)
                self.assertEqual(r.returncode, 2)
                self.assertIn(words, r.stderr)

    def test_fast_clock_is_set_at_attach_and_stays(self):
        for more, last in ([], "1000000"), (["--bdc-fast"], "50000000"):
            with self.subTest(more=more):
                r = s12z(["--for", "20ms", "--gdb", "off", "--json", "--log", "target", "--capture", "bdc"] + more, "sim:s12zvml128")
                self.assertEqual(r.returncode, 0, r.stderr)
                goes_on = r.stderr.index(": continue")
                self.assertEqual(re.findall(r"BDC clock is (\d+) Hz now", r.stderr[:goes_on])[-1], last, r.stderr)
                self.assertGreater(hits(json.loads(r.stdout))["pi_step"], 0)

    def test_program_that_locks_the_part_is_loaded_when_told_only(self):
        elf = os.path.join(self.folder, "lock.elf")
        with open(os.path.join(MOTOR, "motor.elf"), "rb") as f, open(elf, "wb") as g:
            g.write(f.read().replace(b"\xff\xff\xff\xfe", b"\xff\xff\xff\xff", 1))  # its section .security
        args = ["--elf", elf, "--for", "1ms", "--gdb", "off"]
        r = s12z(args)
        self.assertEqual(r.returncode, 1)
        self.assertIn("security byte at FFFE0F: it would lock the part", r.stderr)
        self.assertIn("--allow-security", r.stderr)
        r = s12z(args + ["--allow-security"])
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("loaded and verified", r.stderr)

    def test_initialised_data_go_where_the_program_copies_them_from(self):
        elf = os.path.join(SOURCE, "tests/profiler/data/copy-s12z.elf")
        args = ["--elf", elf, "--for", "30ms", "--gdb", "off", "--sample", "--rate", "2k", "--json"]
        r = s12z(args, "sim:s12zvml128,flash=" + os.path.join(SOURCE, "tests/s12z/fixtures/flow.bin"))
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(["copied"], [f["name"] for f in json.loads(r.stdout)["functions"]])  # else: missing

    def test_parts_are_attached_to_loaded_and_run(self):
        for part in ("s12zvml128", "s12zvmc256", "s12zvl128"):
            with self.subTest(part=part):
                r = s12z(["--for", "20ms", "--gdb", "off", "--sample", "--rate", "2k", "--json"], "sim:" + part)
                self.assertEqual(r.returncode, 0, r.stderr)
                d = json.loads(r.stdout)
                self.assertEqual(d["target"], part)
                self.assertIn("loaded and verified", r.stderr)
                self.assertIn("pi_step", [f["name"] for f in d["functions"]])


if __name__ == "__main__":
    main()
