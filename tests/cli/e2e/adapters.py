#!/usr/bin/env python3
"""Adapters as users meet them: listing, clock, voltage and reset, by the real program on the simulated boards.

usage: adapters.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os

from common import EXAMPLES, Folder, PROFEXAM, hits, main, run

PROFILE = ["--start", "main+8", "--stop", "0x0C010030", "--passes", "1", "--gdb", "off", "--json"]


class Wire(Folder):
    """What happens on the wire before the part is spoken to."""

    def test_speed_auto_profiles_as_any_clock(self):
        r = run(["--speed", "auto", "--reset"] + PROFILE, cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stderr, r"TCK 20000 kHz, the most of adapter and part")
        usual = run(PROFILE, cwd=PROFEXAM)
        self.assertEqual(hits(json.loads(r.stdout)), hits(json.loads(usual.stdout)))

    def test_speed_that_is_rounded_is_shown(self):
        r = run(["--speed", "100M"] + PROFILE, cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("TCK 50000 kHz, what this adapter makes of 100000 kHz", r.stderr)
        r = run(["--speed", "5M"] + PROFILE, cwd=PROFEXAM)
        self.assertEqual((r.returncode, "TCK" in r.stderr), (0, False))

    def test_speed_auto_on_long_wires_finds_what_works(self):
        r = run(["--speed", "auto"] + PROFILE, cwd=PROFEXAM, probe="sim:sh7750,wires=7M")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("TCK 4500 kHz; bits are lost at 8000 kHz", r.stderr)
        usual = run(PROFILE, cwd=PROFEXAM)
        self.assertEqual(hits(json.loads(r.stdout)), hits(json.loads(usual.stdout)))

    def test_speed_auto_is_proved_with_the_parts_own_registers(self):
        r = run(["--speed", "auto"] + PROFILE, cwd=PROFEXAM, probe="sim:sh7750,sddr=3M")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stderr, r"TCK \d+ (k|)Hz: the part's own registers lose bits at 20000 kHz")
        usual = run(PROFILE, cwd=PROFEXAM)
        self.assertEqual(hits(json.loads(r.stdout)), hits(json.loads(usual.stdout)))

    def test_speed_auto_goes_down_when_the_wires_get_worse(self):
        usual = run(PROFILE + ["--passes", "6"], cwd=PROFEXAM)
        r = run(["--speed", "auto"] + PROFILE + ["--passes", "6"], cwd=PROFEXAM, probe="sim:sh7750,wires=2M@400000")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(hits(json.loads(r.stdout)), hits(json.loads(usual.stdout)))
        self.assertLessEqual(r.stderr.count("the wire has damaged"), 2, r.stderr) # when it began, and what came of it
        self.assertRegex(r.stderr, r"the wire has damaged \d+ exchanges, which were repeated; TCK is \d+ k?Hz now, it was 20000 kHz")

    def test_a_clock_that_was_lowered_stays_low_after_an_unplug(self):
        r = run(["--speed", "auto", "--for", "2500ms", "--start", "main+8", "--stop", "0x0C010030", "--gdb", "off"], cwd=PROFEXAM,
                probe="sim:sh7750,wires=2M@400000,fault=unplug@1200ms+300ms")
        self.assertEqual(r.returncode, 0, r.stderr[-2000:])
        before, after = r.stderr.split("the board is back")
        self.assertEqual((before.count("TCK is"), after.count("TCK is")), (1, 0), r.stderr)
        self.assertIn(" 0 lost", r.stdout)

    def test_a_clock_the_user_chose_stays_and_is_told(self):
        r = run(["--speed", "5M"] + PROFILE + ["--passes", "3"], cwd=PROFEXAM, probe="sim:sh7750,fault=noise@150000")
        self.assertIn("the wire has damaged", r.stderr)
        self.assertIn("lower --speed, or --speed auto", r.stderr)
        self.assertNotIn("TCK is", r.stderr)

    def test_speed_auto_on_noisy_wires_says_so(self):
        r = run(["--speed", "auto"] + PROFILE, cwd=PROFEXAM, probe="sim:sh7750,fault=noise@50")
        self.assert_fails(r, 1, "bits sent through the chain come back changed even at 100 kHz", "shorten the wires")

    def test_speed_auto_means_nothing_to_bdc(self):
        r = run(["--speed", "auto"] + ["--start", "control_loop", "--stop", "commutate", "--passes", "1", "--gdb", "off"],
                cwd=os.path.join(EXAMPLES, "motor"), probe="sim:s12zvml128,bdc=20M")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertNotIn("TCK", r.stderr)

    def test_speed_means_nothing_to_a_serial_port(self):
        master, slave = os.openpty()
        r = run(["--probe", "serial:" + os.ttyname(slave), "--target", "sh7750", "--speed", "2M", "--chain", "16", "--no-profile"], cwd=self.dir)
        self.assert_fails(r, 2, "baud= in --probe", "leave it out")
        os.close(master)
        os.close(slave)

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


class Doctor(Folder):
    """The first thing that is wrong, and what to do."""

    STEPS = ["adapter", "access", "firmware", "power", "pins", "clock", "wire", "part", "cpu", "pdo"]

    def doctor(self, *args, probe=None):
        r = run(["doctor", "--json", *args], cwd=self.dir, probe=probe)
        d = json.loads(r.stdout)
        self.assertEqual(r.stderr, "")
        self.assertEqual(r.returncode, 0 if d["ok"] else 1)
        self.assertEqual([s["name"] for s in d["steps"]], self.STEPS)
        text = run(["doctor", *args], cwd=self.dir, probe=probe)
        self.assertEqual(text.returncode, r.returncode)
        for line in text.stdout.splitlines():
            self.assertLess(len(line), 80)
        wrong = [s for s in d["steps"] if s["ok"] is False]
        self.assertEqual(len(wrong), 0 if d["ok"] else 1)
        for s in wrong:
            self.assertIn(" ".join(s["hint"].split()), " ".join(text.stdout.split()))
        return d, wrong[0] if wrong else None

    def test_boards_that_are_well(self):
        for board in ("sim:sh7750", "sim:sh7091", "sim:s12zvml128", "sim:s12zvl128"):
            with self.subTest(board=board):
                d, wrong = self.doctor("--halt", probe=board)
                self.assertIsNone(wrong)
                self.assertEqual(d["probe"], board)
                cpu = d["steps"][self.STEPS.index("cpu")]
                self.assertEqual((cpu["ok"], "goes on" in cpu["detail"]), (True, True))

    def test_big_endian_board(self):
        _, wrong = self.doctor("--halt", probe="sim:sh7750,be")
        self.assertEqual((wrong["name"], "--elf" in wrong["hint"]), ("cpu", True))
        _, wrong = self.doctor("--halt", "--no-private", probe="sim:sh7750")
        self.assertEqual((wrong["name"], "--private" in wrong["hint"]), ("cpu", True))

    def test_first_fault_is_named(self):
        for board, step, what in (
                ("sim:sh7750,fault=no-power", "power", "no target power"), ("sim:sh7750,fault=trst", "pins", "nTRST is low"),
                ("sim:sh7750,fault=held", "pins", "nRESET is low"), ("sim:sh7750,fault=stuck-tdo", "wire", "TDO stays 1"),
                ("sim:sh7750,fault=noise@50", "wire", "come back changed"), ("sim:sh7750,fault=wrong-ir", "part", "IR is 5 bits"),
                ("sim:sh7750,fault=silent", "cpu", "does not answer"), ("sim:sh7750,fault=no-clock", "cpu", "does not answer"),
                ("sim:sh7750,fault=unplug@1", "wire", "gone"),
                ("sim:s12zvml128,fault=no-power", "power", "no target power"), ("sim:s12zvml128,fault=bkgd-low", "pins", "BKGD is low"),
                ("sim:s12zvml128,fault=bkgd-high", "wire", "no answer"), ("sim:s12zvml128,fault=silent", "wire", "no answer"),
                ("sim:s12zvml128,fault=reset", "pins", "held in reset"), ("sim:s12zvml128,secured", "part", "secured"),
                ("sim:s12zvml128,fault=unplug", "wire", "gone")):
            with self.subTest(board=board):
                d, wrong = self.doctor("--halt", probe=board)
                self.assertEqual(wrong["name"], step)
                self.assertIn(what, wrong["what"])
                self.assertTrue(wrong["hint"])
                after = d["steps"][self.STEPS.index(step) + 1:]
                self.assertTrue(all(s["ok"] is None and s["detail"] is None for s in after))

    def test_program_is_left_alone_unless_asked(self):
        d, wrong = self.doctor(probe="sim:sh7750,fault=silent")
        self.assertIsNone(wrong)
        self.assertIn("--halt", d["steps"][self.STEPS.index("cpu")]["detail"])

    def test_capture_beside_the_adapter(self):
        edges = os.path.join(self.dir, "some.edges")
        with open(edges, "wb") as f:
            f.write(b"".join((t << 2 | t & 3).to_bytes(8, "little") for t in range(50)))
        for pdo, ok, what in (
                (None, None, ""), (f"file:{edges},rate=24M", True, "PDO and PDOCLK move"), ("sim:s12zvml128", True, "stand still"),
                ("file:missing.sr", False, "No such file"), (f"file:{edges}", False, "how fast"), ("sim:sh7750", False, "cannot capture")):
            with self.subTest(pdo=pdo):
                d, wrong = self.doctor(*(["--pdo", pdo] if pdo else []), probe="sim:s12zvml128")
                step = d["steps"][self.STEPS.index("pdo")]
                self.assertEqual(step["ok"], ok)
                self.assertIn(what, (wrong["what"] if wrong else step["detail"]) or "")

    def test_clock_that_works(self):
        d, _ = self.doctor("--speed", "auto", probe="sim:sh7750")
        self.assertRegex(d["steps"][5]["detail"], r"^20000 kHz")
        d, _ = self.doctor("--speed", "2M", probe="sim:sh7750")
        self.assertEqual(d["steps"][5]["detail"], "2000 kHz")

    def test_silence_on_a_serial_line_proves_nothing(self):
        master, slave = os.openpty()
        port = "serial:" + os.ttyname(slave)
        d, wrong = self.doctor("--probe", port, "--target", "sh7750")
        self.assertIsNone(wrong)
        part = d["steps"][self.STEPS.index("part")]
        self.assertEqual((part["ok"], "nothing is heard" in part["detail"]), (None, True))
        _, wrong = self.doctor("--probe", port, "--target", "sh7750", "--halt")
        self.assertEqual((wrong["name"], "RX and TX" in wrong["hint"]), ("cpu", True))
        os.close(master)
        os.close(slave)

    def test_secured_part_is_told_how_to_open_it(self):
        _, wrong = self.doctor(probe="sim:s12zvml128,secured")
        self.assertIn("target extended-remote", wrong["hint"])

    def test_clocks_that_cannot_be_meant(self):
        for text, hint in (("10000", "10000k"), ("100", "100Hz"), ("10m", "10M"), ("fast", "auto"), ("4G", "hertz"), ("0", "10M")):
            with self.subTest(text=text):
                r = run(["doctor", "--speed", text], cwd=self.dir)
                self.assert_fails(r, 2, "speed: ", hint)
        d, _ = self.doctor("--speed", "10kHz", probe="sim:sh7750")
        self.assertEqual(d["steps"][5]["detail"], "10 kHz")
        d, _ = self.doctor("--speed", "90M", probe="sim:sh7750")
        self.assertEqual(d["steps"][5]["detail"], "50000 kHz, what this adapter makes of 90000 kHz")

    def test_a_run_that_does_not_get_to_the_board_points_here(self):
        r = run(["--no-profile"], cwd=self.dir, probe="sim:sh7750,fault=stuck-tdo")
        self.assert_fails(r, 1, "TDO stays 1", "probeprof doctor")

    def test_conf_of_the_folder_holds(self):
        self.write("probeprof.conf", "[probeprof]\nprobe = sim:sh7750,fault=no-power\nelf = none.elf\n")
        _, wrong = self.doctor()
        self.assertEqual(wrong["name"], "power")

    def test_name_of_no_driver(self):
        for form in ([], ["--json"]):  # nothing to look at: as every command says it
            r = run(["doctor", *form, "--probe", "fdti"], cwd=self.dir, probe=None)
            self.assert_fails(r, 2, 'no adapter driver "fdti"', "did you mean ftdi?")


if __name__ == "__main__":
    main()
