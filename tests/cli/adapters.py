#!/usr/bin/env python3
"""Adapters as users meet them: listing, clock, voltage and reset, by the real program on the simulated boards.

usage: adapters.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import sys
import unittest

import e2e
from e2e import Folder, PROFEXAM, run

PROFILE = ["--start", "main+8", "--stop", "0x0C010030", "--passes", "1", "--gdb", "off", "--json"]


class Wire(Folder):
    """What happens on the wire before the part is spoken to."""

    def test_speed_auto_profiles_as_any_clock(self):
        r = run(["--speed", "auto", "--reset"] + PROFILE, cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stderr, r"TCK \d+ kHz, the most this adapter can do")
        usual = run(PROFILE, cwd=PROFEXAM)
        self.assertEqual(e2e.hits(json.loads(r.stdout)), e2e.hits(json.loads(usual.stdout)))

    def test_speed_auto_on_noisy_wires_says_so(self):
        r = run(["--speed", "auto"] + PROFILE, cwd=PROFEXAM, probe="sim:sh7750,fault=noise@50")
        self.assert_fails(r, 1, "bits sent through the chain come back changed", "lower --speed")

    def test_speed_auto_means_nothing_to_bdc(self):
        r = run(["--speed", "auto"] + ["--start", "control_loop", "--stop", "commutate", "--passes", "1", "--gdb", "off"],
                cwd=e2e.os.path.join(e2e.EXAMPLES, "motor"), probe="sim:s12zvml128,bdc=20M")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertNotIn("TCK", r.stderr)

    def test_voltage_is_checked_where_it_is_known(self):
        r = run(["--voltage", "3.3", "--no-profile"], cwd=self.dir, probe="sim:sh7750,fault=no-power")
        self.assert_fails(r, 1, "sees no target power", "switch the board on")
        r = run(["--voltage", "3.3"] + PROFILE, cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("does not measure the target's voltage", r.stderr)

    def test_reset_button_that_is_stuck(self):
        r = run(["--reset", "--no-profile"], cwd=self.dir, probe="sim:sh7750,fault=held")
        self.assert_fails(r, 1, "held in reset", "reset button")

    def test_speed_auto_survives_an_unplug(self):
        r = run(["--speed", "auto", "--for", "1500ms", "--start", "main+8", "--stop", "0x0C010030", "--gdb", "off"],
                cwd=PROFEXAM, probe="sim:sh7750,fault=unplug@600ms+200ms")
        self.assertEqual(r.returncode, 0, r.stderr[-2000:])
        self.assertIn("the board is back", r.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:], verbosity=2)
