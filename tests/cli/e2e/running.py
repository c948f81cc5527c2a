#!/usr/bin/env python3
"""How runs end: signals, times, full disks, boards that fail, ports that are taken.

usage: running.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import resource
import signal
import socket
import subprocess
import time

from common import (EXAMPLES, Folder, IRQDEMO, MISSION, PASS_HITS, PROBEPROF, PROFEXAM, TIMEOUT, check_identities, hits, limit_files,
                    main, run, start)


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
        for seconds in ("1", "8", "64", "512"): # until it has begun to profile by then, on a busy machine
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


if __name__ == "__main__":
    main()
