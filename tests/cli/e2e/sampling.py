#!/usr/bin/env python3
"""--sample: shares of time by looking at the PC, against what counting every call says.

usage: sampling.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os

from common import EXAMPLES, Folder, PROFEXAM, check_same_shares, hits, main, run


class Sampling(Folder):
    ARGS = ["--sample", "--gdb", "off"]

    def profile(self, args, cwd=PROFEXAM, probe="sim:sh7750"):
        r = run(args + ["--gdb", "off", "--json"], cwd, probe)
        self.assertEqual(r.returncode, 0, r.stderr)
        return json.loads(r.stdout)

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
        check_same_shares(self, sampled, exact, lambda f: f["c1"])

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


if __name__ == "__main__":
    main()
