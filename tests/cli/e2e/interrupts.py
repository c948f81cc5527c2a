#!/usr/bin/env python3
"""docs/examples/irqdemo: what its first lines promise, with the paths Mode adds.

usage: interrupts.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import subprocess
import unittest

import prf_text
from common import Folder, IRQDEMO, check_identities, check_prf, hits, main, run


class Interrupts(Folder):
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

    def test_an_interrupt_lock_is_said_once_and_only_where_there_is_one(self):
        # The storm alone locks the program; the timer is far from it; the filter is the way out.
        for mode, more, times in ((2, (), 1), (1, (), 0), (2, ("--irq-filter", "auto"), 0)):
            elf = shutil.copy(os.path.join(IRQDEMO, "irqdemo.elf"), self.path(f"mode{mode}.elf"))
            patch_mode(elf, mode)
            r = run(["--elf", elf, "--load", "--gdb", "off", "--for", "1200ms", "--json", *more], cwd=self.dir)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertEqual(len(re.findall(r"interrupt lock: .*vector 0x420.* use --irq-filter auto", r.stderr)), times, (mode, more, r.stderr))
            document = json.loads(r.stdout)
            handlers = [h for h in document.get("handlers", []) if h["vector"] == 0x420]
            self.assertEqual(bool(handlers) and handlers[0]["c1"] > 0.95 * document["totals"]["c1"], times == 1)

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
    main()
