#!/usr/bin/env python3
"""Intervals of shares where events were lost: computed again here from the recording's events, one stretch left out at a time, with a call stack of this
file's own, which follows where the program goes and knows functions by their addresses alone.

usage: intervals.py PROBEPROF SOURCE_DIR EVENTS_OF [unittest arguments]
"""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

EVENTS_OF = os.path.abspath(sys.argv.pop(3))

from common import EXAMPLES, Folder, MISSION, PROFEXAM, main, run, start  # noqa: E402
from follower import ask  # noqa: E402

HAS_PC, HAS_TARGET, HAS_C1 = 1, 2, 4  # targets/event.h
RUNS = {"ring fills": (PROFEXAM, "sim:sh7750", MISSION + ["--passes", "6", "--policy", "live"]),
        "bursts": (os.path.join(EXAMPLES, "motor"), "sim:s12zvml128,bdc=20M", ["--for", "1s", "--policy", "live", "--capture", "bdc"]),
        "whole": (PROFEXAM, "sim:sh7750", MISSION + ["--passes", "2"])}
PASSES = {"ring fills": 6, "bursts": 0}


def kinds():
    """The numbers of the kinds, by name, from the header that has them."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "targets", "event.h")
    with open(path, encoding="utf-8") as f:
        body = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S).split("enum event_kind {")[1].split("}")[0]
    return {name.strip().removeprefix("EVENT_"): i for i, name in enumerate(body.split(",")) if name.strip()}


KIND = kinds()
PLACES = {KIND[k] for k in ("START", "STOP", "CALL", "JUMP", "RETURN", "INTERRUPT", "EXCEPTION", "RTE")}
ENTERS = {KIND[k] for k in ("CALL", "INTERRUPT", "EXCEPTION")}


def student_limit(df):
    """What chance exceeds, to either side, in 5 % of the cases: by the density itself, integrated by Simpson's rule."""
    front = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    density = lambda x: front * (1 + x * x / df) ** (-(df + 1) / 2)  # noqa: E731

    def inside(t, n=4000):
        h = t / n
        return 2 * h / 3 * sum(density(i * h) * (1 if i in (0, n) else 4 if i % 2 else 2) for i in range(n + 1))
    low, high = 0.0, 20.0
    for _ in range(50):
        mid = (low + high) / 2
        low, high = (mid, high) if inside(mid) < 0.95 else (low, mid)
    return low


def stretches_of(recording, functions, passes):
    """Of each stretch between losses: function -> [hits, counter 1]; what is behind the last pass (0: there is none) is not the profile's."""
    ranges = [(f["low"], f["high"], i) for i, f in enumerate(functions)]
    out, now, c1, running, gap, active, stops = [], {}, None, None, False, False, 0

    interrupted = []

    def at(address):
        return next((i for low, high, i in ranges if low <= address < high), None)
    for line in subprocess.run([EVENTS_OF, recording], capture_output=True, text=True, check=True).stdout.splitlines():
        kind, flags, pc, target, count = map(int, line.split())
        if passes and stops == passes:
            break
        stops += kind == KIND["STOP"]
        timed = kind in (KIND["TIMESTAMP"], KIND["LOST"])  # what has a counter and goes nowhere
        if (kind not in PLACES and not timed) or (kind != KIND["START"] and not active):
            continue
        place = kind in PLACES or (kind == KIND["TIMESTAMP"] and gap and flags & HAS_PC)
        if gap and place:
            out, now, gap, running = out + [now], {}, False, None
            interrupted.clear()
        elif not gap and c1 is not None and active and flags & HAS_C1:
            now.setdefault(running, [0, 0])[1] += count - c1
        c1 = count if flags & HAS_C1 else c1
        gap |= kind == KIND["LOST"]
        if kind == KIND["START"] and not active:
            gap = False
            now.setdefault(at(pc), [0, 0])[0] += 1
        active = kind != KIND["STOP"]
        if not place:
            continue
        before, running = running, at(target if flags & HAS_TARGET else pc)
        if kind in (KIND["INTERRUPT"], KIND["EXCEPTION"]):
            interrupted.append(at(pc))
        elif kind == KIND["RTE"] and not flags & HAS_TARGET:
            running = interrupted.pop() if interrupted else None
        tail_call = kind == KIND["JUMP"] and running != before and running is not None and functions[running]["low"] == target
        if kind in ENTERS or tail_call:
            now.setdefault(running, [0, 0])[0] += 1
    return [s for s in out + [now] if s]


def jackknife(stretches, function, which, factors, seen):
    """The ratio, and half of its interval."""
    total = [sum(v[which] * (factors[f] if which else 1) for f, v in s.items()) for s in stretches]
    own = [s.get(function, [0, 0])[which] * (factors[function] if which else 1) for s in stretches]
    used = [i for i, t in enumerate(total) if t > 0]
    n, c, t = len(used), sum(own), sum(total)
    left = [(c - own[i]) / (t - total[i]) for i in used]
    mean = sum(left) / n
    spread = math.sqrt((n - 1) / n * sum((x - mean) ** 2 for x in left) * (1 - seen))
    return c / t, student_limit(n - 1) * spread


class Intervals(Folder):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.recordings = tempfile.mkdtemp(prefix="probeprof-intervals-")
        cls.addClassCleanup(shutil.rmtree, cls.recordings)
        for name, (folder, probe, args) in RUNS.items():
            elf = os.path.join(folder, os.path.basename(folder) + ".elf")
            p = run([*args, "--elf", elf, "--load", "--gdb", "off", "--http", "off", "--record", cls.record(name)], cwd=folder, probe=probe)
            assert p.returncode == 0, p.stderr

    @classmethod
    def record(cls, name):
        return os.path.join(cls.recordings, name.replace(" ", "_"))

    def report(self, *args):
        p = run(["report", *args])
        self.assertEqual(p.returncode, 0, p.stderr)
        return p.stdout

    def test_shares__with_one_stretch_left_out_at_a_time__are_computed_here_again(self):
        for name in ("ring fills", "bursts"):
            with self.subTest(name):
                d = json.loads(self.report(self.record(name), "--json"))
                functions = d["functions"]
                stretches = stretches_of(self.record(name), functions, PASSES[name])
                sums = [[sum(s.get(i, [0, 0])[k] for s in stretches) for k in (0, 1)] for i in range(len(functions))]
                factors = {i: f["c1"] / sums[i][1] if sums[i][1] else 1 for i, f in enumerate(functions)}
                seen = d["header"]["c1_seen"]
                self.assertEqual([s[0] for s in sums], [f["hits"] for f in functions])
                self.assertGreater(len(stretches), 2)
                self.assertEqual(d["losses"]["stretches"], len(stretches))
                for i, f in enumerate(functions):
                    if f["name"] == "(lost events)":
                        self.assertEqual([f[k] for k in ("c1_share", "c1_share_low", "c1_share_high", "hits_share_low")], 4 * [None])
                        continue
                    for which, key in ((0, "hits"), (1, "c1")):
                        share, half = jackknife(stretches, i, which, factors, seen)
                        for end, value in (("", share), ("_low", max(share - half, 0)), ("_high", min(share + half, 1))):
                            self.assertAlmostEqual(f[key + "_share" + end], value, 9, (f["name"], key, end))

    def test_table__with_losses__has_the_same_and_says_what_it_rests_on(self):
        for name, columns in (("ring fills", "hits hits% C1 seen% C1+- C1+ch C2 C2+ch ?%"), ("bursts", "hits C1 seen% C1+- +-% C1+ch C2 C2+ch ?%")):
            d = json.loads(self.report(self.record(name), "--json"))
            text = self.report(self.record(name))
            self.assertRegex(text, rf"(?m)^ +{re.escape(columns).replace(chr(92) + ' ', ' +')}  function$")
            self.assertIn(f"if losses are like the {d['losses']['stretches']:,} stretches between them", text)
            rows = self.report(self.record(name), "--columns", "seen%,C1+-,hits+-").split("\n\n")[1].splitlines()
            shown = {line.split()[-1].lstrip("?"): line.split()[:3] for line in rows[2:]}
            self.assertEqual(shown["events)"], ["-", "-", "-"])
            half = lambda f, key: 100 * max(f[key + "_share_high"] - f[key + "_share"], f[key + "_share"] - f[key + "_share_low"])  # noqa: E731
            for f in d["functions"]:
                if f["name"] in shown:
                    for got, value in zip(shown[f["name"]], (100 * f["c1_share"], half(f, "c1"), half(f, "hits"))):
                        self.assertAlmostEqual(float(got), value, delta=0.051, msg=f["name"])
        hot = json.loads(self.report(self.record("ring fills"), "--json", "--hot", "seen%>=50"))
        self.assertEqual([f["name"] for f in hot["functions"] if f["hot"]], ["GetLastNode"])

    def test_a_run_itself__has_those_of_its_recording(self):
        for name in ("ring fills", "bursts"):
            folder, probe, args = RUNS[name]
            elf = os.path.join(folder, os.path.basename(folder) + ".elf")
            for more in ([], ["--json"]):
                p = run([*args, "--elf", elf, "--load", "--gdb", "off", "--http", "off", "--record", self.path("r"), *more], cwd=folder, probe=probe)
                self.assertEqual(p.returncode, 0, p.stderr)
                if more:
                    mine, theirs = json.loads(p.stdout), json.loads(self.report(self.path("r"), "--json"))
                    self.assertGreater(mine["losses"]["stretches"], 2)
                    self.assertEqual((mine["losses"], mine["functions"]), (theirs["losses"], theirs["functions"]))
                else:
                    table = lambda text: re.search(r"(?ms)^ +hits.*?\n\n", text).group(0)  # noqa: E731
                    self.assertEqual(table(p.stdout), table(self.report(self.path("r"))))
                    self.assertIn("seen%", p.stdout)

    def test_the_feed_and_top__have_those_of_the_report(self):
        marks = self.write("marks", "group nodes = /Node$/\n")
        for args in ([], ["--marks", marks]):
            d = json.loads(self.report(self.record("ring fills"), "--json", *args))
            p = start(["view", "--http", "0", self.record("ring fills"), *args], stdout=subprocess.DEVNULL)
            for f in (p.stderr.close, p.wait, p.kill):
                self.addCleanup(f)
            where = int(re.search(r"localhost:([0-9]+)/", self.wait_for(p, "feed: ")).group(1))
            frame = json.loads(ask(where, "/api/1/snapshot?view=functions")[2])
            names = {n[0]: n[1] for n in frame["names"]}
            rows = {names[r[0]]: r for r in frame["f"]}
            self.assertEqual(len(rows), len(d["functions"]))
            for f in d["functions"]:
                for got, want in zip(rows[f["name"]][11:13], (f["hits_share_half"], f["c1_share_half"])):
                    if want is None:
                        self.assertIsNone(got)
                    else:
                        self.assertAlmostEqual(got, want, 9, f["name"])
            p.kill()
        whole = json.loads(self.report(self.record("whole"), "--json"))
        p = start(["view", "--http", "0", self.record("whole")], stdout=subprocess.DEVNULL)
        for f in (p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        where = int(re.search(r"localhost:([0-9]+)/", self.wait_for(p, "feed: ")).group(1))
        self.assertEqual({len(r) for r in json.loads(ask(where, "/api/1/snapshot?view=functions")[2])["f"]}, {11})
        self.assertNotIn("losses", whole)

    def test_beside_samples__they_stay(self):
        folder, probe, _ = RUNS["ring fills"]
        elf = os.path.join(folder, "profexam.elf")
        p = run(["--sample", "--rate", "20k", "--for", "300ms", "--elf", elf, "--load", "--gdb", "off", "--http", "off", "--record", self.path("s")], cwd=folder, probe=probe)
        self.assertEqual(p.returncode, 0, p.stderr)
        alone, beside = json.loads(self.report(self.record("ring fills"), "--json")), json.loads(self.report(self.record("ring fills"), self.path("s"), "--json"))
        self.assertEqual(beside["losses"], alone["losses"])
        shares = lambda d: [{k: v for k, v in f.items() if k.startswith(("hits_share", "c1_share"))} for f in d["functions"]]  # noqa: E731
        self.assertEqual(shares(beside), shares(alone))
        table = self.report(self.record("ring fills"), self.path("s"))
        self.assertRegex(table, r"(?m)^ +hits .*smp% .*seen% ")
        # what was lost is like what was seen: the share of what was seen agrees with the samples, that of all C1 is half of it
        self.assertRegex(table, r"(?m)^ +[0-9.kM]+ +[0-9.kM]+ +9[0-9.]+ .*GetLastNode$")
        self.assertIn("seen% is below, above", table)

    def test_nothing_lost_or_several_runs__no_intervals(self):
        whole, lost = self.record("whole"), self.record("ring fills")
        shutil.copy(lost, self.path("copy"))
        for files in ([whole], [lost, self.path("copy")]):
            d = json.loads(self.report(*files, "--json"))
            self.assertNotIn("losses", d)
            self.assertNotIn("c1_share", d["functions"][0])
            p = run(["report", *files, "--columns", "c1+-"])
            self.assertEqual(p.returncode, 2)
            self.assertIn("that takes losses", p.stderr)
        self.assertIn("nothing of C1 was lost", run(["report", whole, "--columns", "seen%"]).stderr)
        self.assertIn("of functions, not of call paths", run(["report", lost, "--tree", "--columns", "c1+-"]).stderr)

    def test_json__of_losses_and_of_groups__is_read_back(self):
        marks = self.write("marks", "group nodes = /Node$/\n")
        for args in ([], ["--marks", marks]):
            document = self.report(self.record("ring fills"), "--json", *args)
            d, again = json.loads(document), json.loads(self.report(self.write("d.json", document), "--json"))
            self.assertIn(0, [f["high"] for f in d["functions"]])  # what stands at no address is behind the others
            self.assertEqual((again["functions"], again["losses"]), (d["functions"], d["losses"]))
            self.assertEqual((again["tree"], again["header"]), (d["tree"], d["header"]))

    def test_a_group__of_functions__has_their_sums_at_most(self):
        marks = self.write("marks", "group nodes = /Node$/\n")
        plain, grouped = [{f["name"]: f for f in json.loads(self.report(self.record("ring fills"), "--json", "--marks", m))["functions"]} for m in ("off", marks)]
        sums = sum(f["hits_share_high"] - f["hits_share"] for n, f in plain.items() if n.endswith("Node"))
        self.assertAlmostEqual(grouped["nodes"]["hits_share"] - grouped["nodes"]["hits_share_low"], sums, 9)


if __name__ == "__main__":
    main()
