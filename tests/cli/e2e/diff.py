#!/usr/bin/env python3
"""`probeprof diff`: what it says of two profiles, recomputed here from the numbers and by another way to Student's distribution.

usage: diff.py PROBEPROF SOURCE_DIR DIFF_OF [unittest arguments]
"""
import json
import math
import os
import random
import subprocess
import sys
import unittest

DIFF_OF = os.path.abspath(sys.argv.pop(3))

from common import EXAMPLES, Folder, MISSION, PROFEXAM, main, run  # noqa: E402

MOTOR = os.path.join(EXAMPLES, "motor")


def integral(f, low, high, n=600):
    """Simpson's rule."""
    step = (high - low) / n
    return step / 3 * sum((1 if i in (0, n) else 4 if i % 2 else 2) * f(low + i * step) for i in range(n + 1))


def tail(t, df):
    """Both tails of Student's t: with t = sqrt(df) tan(x) its density is a power of the cosine."""
    power = lambda x: math.cos(x) ** (df - 1) if x < math.pi / 2 else float(df == 1)
    return integral(power, math.atan(abs(t) / math.sqrt(df)), math.pi / 2) / integral(power, 0, math.pi / 2)


def moments(values):
    mean = math.fsum(values) / len(values)
    return mean, math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values)


def compare(old, new):
    """(change, error of the change, chance) by Welch."""
    (a, va), (b, vb) = moments(old), moments(new)
    df = (va + vb) ** 2 / (va ** 2 / (len(old) - 1) + vb ** 2 / (len(new) - 1))
    return (b - a) / a, math.sqrt(va + vb) / a, tail((b - a) / math.sqrt(va + vb), df), df


def holm(chances):
    corrected, most = [0.0] * len(chances), 0.0
    for rank, i in enumerate(sorted(range(len(chances)), key=lambda i: chances[i])):
        most = max(most, chances[i] * (len(chances) - rank))
        corrected[i] = min(most, 1.0)
    return corrected


class Statistics(unittest.TestCase):
    FUNCTIONS, PAIRS = 6, 1000

    def synthetic(self, random):
        """A pair of profiles: by function old and new values, and what was done to it; the last two are made slower and faster."""
        rows = []
        for i in range(self.FUNCTIONS):
            mean, spread = random.uniform(1e3, 1e6), random.uniform(0.002, 0.05)
            by = {self.FUNCTIONS - 2: 1.3, self.FUNCTIONS - 1: 0.7}.get(i, 1.0)
            draw = random.gauss if i % 2 else lambda m, s: m - s + random.expovariate(1 / s)  # costs are skewed more often than not
            rows.append(([round(draw(mean, mean * spread)) for _ in range(random.randint(3, 14))],
                         [round(by * draw(mean, mean * spread)) for _ in range(random.randint(3, 14))], by))
        return rows

    def test_a_thousand_pairs(self):
        generator = random.Random(17)
        pairs = [self.synthetic(generator) for _ in range(self.PAIRS)]
        text = "".join("".join(" ".join(map(str, old)) + " | " + " ".join(map(str, new)) + "\n" for old, new, _ in p) + "\n" for p in pairs)
        p = subprocess.run([DIFF_OF], input=text, capture_output=True, text=True)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        said = iter(line.split() for line in p.stdout.splitlines())
        alarms = found = 0
        for pair in pairs:
            mine = [compare(old, new) for old, new, _ in pair]
            false = False
            for (change, error, _, df), chance, (_, _, by) in zip(mine, holm([m[2] for m in mine]), pair):
                verdict, its, spread = next(said)
                self.assertAlmostEqual(float(its), chance, delta=1e-6 + 1e-4 * chance)
                self.assertAlmostEqual(tail(float(spread) / error, df), 0.05, delta=1e-5)
                same = abs(change) + float(spread) <= 0.01
                self.assertEqual(verdict, "same" if same else "unclear" if chance >= 0.05 else "slower" if change > 0 else "faster")
                false |= by == 1.0 and verdict in ("slower", "faster")
                found += by != 1.0 and verdict == ("slower" if by > 1 else "faster")
            alarms += false
        self.assertIsNone(next(said, None))
        self.assertLessEqual(alarms, self.PAIRS * 0.05)
        self.assertGreater(found, 0.95 * 2 * self.PAIRS)

    def test_values_that_do_not_differ(self):
        text = "5 5 5 | 5 5 5\n5 5 5 | 6 6 6\n7 | 8\n0 0 0 | 4 4 5\n"
        p = subprocess.run([DIFF_OF], input=text, capture_output=True, text=True)
        verdicts = [line.split()[0] for line in p.stdout.splitlines()]
        self.assertEqual(verdicts, ["same", "slower", "unclear", "slower"])


class Diff(Folder):
    def record(self, name, *args, elf=None, passes=4):
        path = self.path(name)
        more = ["--elf", elf] if elf else []
        p = run([*MISSION, "--passes", str(passes), *more, *args, "--gdb", "off", "--http", "off", "--record", path, "-o", path + ".prf"], PROFEXAM)
        self.assertEqual(p.returncode, 0, p.stderr)
        return path

    def shorter(self):
        """The tutorial with a list of 900 instead of 1000: the constant behind BuildList's end."""
        with open(os.path.join(PROFEXAM, "profexam.elf"), "rb") as f:
            elf = f.read()
        where = bytes.fromhex("e8030900 7000010c")
        self.assertEqual(elf.count(where), 1)
        with open(self.path("shorter.elf"), "wb") as f:
            f.write(elf.replace(where, bytes.fromhex("84030900 7000010c")))
        return self.path("shorter.elf")

    def diff(self, *args, status=0):
        p = run(["diff", *args, "--json"], PROFEXAM)
        self.assertEqual(p.returncode, status, p.stderr)
        d = json.loads(p.stdout)
        return d, {f["name"]: f for f in d["functions"]}

    def check_figures(self, d, rows, old, new):
        """Means are the report's sums, and changes the means'."""
        reports = [json.loads(run(["report", f, "--json"], PROFEXAM).stdout) for f in (old, new)]
        for side, report in zip(("old", "new"), reports):
            functions = {f["name"]: f for f in report["functions"]}
            total = report["totals"]["c1"]
            self.assertEqual(d[side]["passes"], report["passes"])
            for f in rows.values():
                is_ = functions[f["name"]]
                self.assertEqual((f[side]["hits"], f[side]["c1"]), (is_["hits"], is_["c1"]))
                if d["mean_of"] == "pass":
                    self.assertEqual(f[side]["n"], report["passes"])
                    self.assertAlmostEqual(f[side]["mean"] * f[side]["n"], is_["c1"], delta=1e-6 * is_["c1"] + 1e-6)
                f["share " + side] = is_["c1"] / total
        for f in rows.values():
            self.assertAlmostEqual(f["change"], f["new"]["mean"] / f["old"]["mean"] - 1, delta=1e-9)
            self.assertAlmostEqual(f["dcpi"], (f["share new"] - f["share old"]) / (f["share new"] + f["share old"]), delta=1e-9)

    def test_the_same_program(self):
        old, new = self.record("a"), self.record("b", passes=7)
        d, rows = self.diff(old, new, "--fail-if", "slower")
        self.check_figures(d, rows, old, new)
        self.assertEqual(d["mean_of"], "pass")
        self.assertLessEqual({f["verdict"] for f in rows.values()}, {"same", "unclear"})
        self.assertEqual(rows["GetLastNode"]["verdict"], "same")

    def test_a_longer_list(self):
        old, new = self.record("a", elf=self.shorter()), self.record("b")
        d, rows = self.diff(old, new)
        self.check_figures(d, rows, old, new)
        for name, calls in (("GetNewNode", 1 / 9), ("MallocNode", 1 / 9), ("GetLastNode", 1000 * 999 / (900 * 899) - 1)):
            self.assertEqual(rows[name]["verdict"], "slower")
            self.assertAlmostEqual(rows[name]["change"], calls, delta=0.02)  # caches, too
        self.assertLess(rows["GetNewNode"]["dcpi"], 0)  # its share is smaller
        self.assertEqual({f["verdict"] for f in self.diff(new, old)[1].values() if f["name"] == "GetLastNode"}, {"faster"})
        p = run(["diff", old, new, "--fail-if", "slower:5%"], PROFEXAM)
        self.assertEqual(p.returncode, 1)
        self.assertIn("functions are slower", p.stderr)
        self.assertRegex(p.stdout, r"\n +\S+ +\S+ +\+23\.\d% +0\.0%  slower  .* GetLastNode\n")
        self.assertLessEqual(max(map(len, p.stdout.splitlines()[2:])), 80)
        self.assertEqual(run(["diff", old, new, "--fail-if", "slower:30%"], PROFEXAM).returncode, 0)
        short = run(["diff", old, new, "--limit", "1"], PROFEXAM).stdout
        self.assertIn("GetLastNode\n(", short)

    def test_calls_where_there_are_no_passes(self):
        old, new = self.record("a", elf=self.shorter(), passes=1), self.record("b", passes=1)
        d, rows = self.diff(old, new)
        self.check_figures(d, rows, old, new)
        self.assertEqual(d["mean_of"], "call")
        self.assertEqual(rows["MallocNode"]["new"]["n"], 1000)
        self.assertEqual(rows["MallocNode"]["verdict"], "same")  # a call of it is not slower
        self.assertEqual(rows["GetLastNode"]["verdict"], "slower")

    def test_sums_alone(self):
        old, new = self.record("a", elf=self.shorter()), self.record("b")
        d, rows = self.diff(old + ".prf", new + ".prf")
        self.assertEqual((d["old"]["sums_only"], d["new"]["sums_only"], d["mean_of"]), (True, True, "call"))
        self.assertEqual({f["verdict"] for f in rows.values()}, {"unclear"})
        self.assertIsNone(rows["GetLastNode"]["spread"])
        self.assertGreater(rows["GetLastNode"]["change"], 0.1)

    def test_new_and_gone(self):
        old = self.record("a", passes=1)
        other = self.path("other")
        p = run(["--for", "20ms", "--gdb", "off", "--http", "off", "--record", other], os.path.join(EXAMPLES, "irqdemo"))
        self.assertEqual(p.returncode, 0, p.stderr)
        _, rows = self.diff(old, other)
        self.assertEqual({rows["GetLastNode"]["verdict"]}, {"gone"})
        self.assertIn("new", {f["verdict"] for f in rows.values()})
        self.assertEqual(rows["GetLastNode"]["dcpi"], -1)

    def test_what_cannot_be_compared(self):
        old = self.record("a", passes=1)
        other = self.record("b", "--c1", "icache-miss", passes=1)
        sampled = self.path("s")
        run(["--sample", "--for", "20ms", "--gdb", "off", "--http", "off", "--record", sampled], PROFEXAM)
        for args, status, what, hint in (
                ([old], 2, "diff needs two files", "probeprof diff"),
                ([old, other], 2, "counted other things", "--c1"),
                ([old, sampled], 2, "has samples", "--sample"),
                ([old, __file__], 1, "neither a recording nor a profile that is read", "convert"),
                ([old, old + "x"], 1, "No such file", "path"),
                ([old, old, "--fail-if", "slower:x"], 2, "is not slower:N%", "slower:5%"),
                ([old, old, "--json", "--limit", "3"], 2, "--limit", "leave")):
            self.assert_fails(run(["diff", *args], PROFEXAM), status, what, hint)


if __name__ == "__main__":
    main()
