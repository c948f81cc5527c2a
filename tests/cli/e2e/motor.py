#!/usr/bin/env python3
"""docs/examples/motor through its code-profiling trace: what its README says, to the branch.

usage: motor.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import socket

from common import EXAMPLES, Folder, TIMEOUT, check_same_shares, hits, main, run, start


class Motor(Folder):
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
        check_same_shares(self, sampled, exact, lambda f: f["c1"])


if __name__ == "__main__":
    main()
