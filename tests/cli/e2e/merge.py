#!/usr/bin/env python3
"""Several recordings in one report: sums of what each reports alone, or a refusal that says why.

usage: merge.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
from statistics import NormalDist

from common import EXAMPLES, Folder, IRQDEMO, MISSION, PROFEXAM, check_identities, hits, main, run

MOTOR = os.path.join(EXAMPLES, "motor")
COUNTS = ("hits", "c1", "c1_children", "c2", "c2_children")


class Merge(Folder):
    def record(self, name, args, folder=PROFEXAM, probe="sim:sh7750"):
        p = run(args + ["--gdb", "off", "--record", self.path(name)], folder, probe)
        self.assertEqual(p.returncode, 0, p.stderr)
        return self.path(name)

    def document(self, *files):
        p = run(["report", *files, "--json"], cwd=self.dir)
        self.assertEqual(p.returncode, 0, p.stderr)
        document = json.loads(p.stdout)
        if document["tree"]:
            check_identities(self, document)
        return document

    def functions(self, document):
        return {(f["name"], f["low"]): [f[c] or 0 for c in COUNTS] for f in document["functions"]}

    def paths(self, document):
        way, out = {}, {}
        for n in document["tree"]:
            way[n["id"]] = way.get(n["parent"], ()) + (document["functions"][n["function"]]["name"],)
            row = out.setdefault(way[n["id"]], [0] * len(COUNTS))
            out[way[n["id"]]] = [a + n[c] for a, c in zip(row, COUNTS)]
        return out

    def add(self, tables):
        out = {}
        for table in tables:
            for key, row in table.items():
                out[key] = [a + b for a, b in zip(out.get(key, [0] * len(row)), row)]
        return out

    def check(self, files):
        alone, all_of_it = [self.document(f) for f in files], self.document(*files)
        self.assertEqual(self.functions(all_of_it), self.add(self.functions(d) for d in alone))
        self.assertEqual(self.paths(all_of_it), self.add(self.paths(d) for d in alone))
        for key in ("hits", "c1", "c2"):
            self.assertEqual(all_of_it["totals"][key] or 0, sum(d["totals"][key] or 0 for d in alone))
        for key in ("events", "lost", "gaps"):
            self.assertEqual(all_of_it["coverage"][key], sum(d["coverage"][key] for d in alone), key)
        self.assertEqual(all_of_it["passes"], sum(d["passes"] for d in alone))
        return all_of_it, alone

    def test_passes_of_two_runs(self):
        both, _ = self.check([self.record(f"{n}.rec", MISSION + ["--passes", str(n)]) for n in (1, 2)])
        self.assertEqual(hits(both)["GetNewNode"], 3000)
        self.assertEqual(both["passes"], 3)

    def test_interrupts_and_places_that_gave_no_events(self):
        both, alone = self.check([self.record(f"{n}.rec", ["--for", f"{n}ms"], IRQDEMO) for n in (10, 15)])
        self.assertEqual(both["coverage"]["untraced"], alone[0]["coverage"]["untraced"])
        self.assertEqual(sum(h["count"] for h in both["handlers"]), sum(h["count"] for d in alone for h in d["handlers"]))

    def test_estimates_and_exact_counts(self):
        both, alone = self.check([self.record(f"{n}.rec", ["--for", f"{n}ms"], MOTOR, "sim:s12zvml128") for n in (5, 8)])
        ran = [0, 0]
        for i, d in enumerate((both, *alone)):
            ran[i > 0] += sum(b["count"] * (b["high"] - b["low"]) for b in d["blocks"])
        self.assertEqual(*ran)
        self.assertEqual(sum(b["taken"] for b in both["branches"]), sum(b["taken"] for d in alone for b in d["branches"]))

    def test_samples(self):
        both, alone = self.check([self.record(f"{n}.rec", ["--sample", "--for", f"{n}ms"]) for n in (20, 30)])
        for f in both["functions"]:  # not known, which is not 0
            self.assertEqual([f[c] for c in COUNTS[1:]], [None] * 4)
        self.assertEqual((both["totals"]["c1"], both["totals"]["c2"]), (None, None))
        self.assertEqual(both["sampling"]["looks"], sum(d["sampling"]["looks"] for d in alone))

    def wilson(self, hits, total):
        """E. B. Wilson, JASA 22 (1927): the score interval, at 95 %."""
        z2, p = NormalDist().inv_cdf(0.975) ** 2, hits / total
        middle, half = (p + z2 / 2 / total) / (1 + z2 / total), (z2 * (p * (1 - p) / total + z2 / 4 / total ** 2)) ** 0.5 / (1 + z2 / total)
        return max(middle - half, 0), min(middle + half, 1)

    def beside(self, trace, samples):
        """The shares of both as they follow from the report of each alone. Returns how many functions fit, of how many with samples."""
        both, trace_alone, samples_alone = self.document(trace, samples), self.document(trace), self.document(samples)
        self.assertEqual(both, dict(self.document(samples, trace)))
        sampled = {f["low"]: f["hits"] for f in samples_alone["functions"]}
        known = {f["low"] for f in trace_alone["functions"]}
        total = sum(n for low, n in sampled.items() if low in known)
        self.assertEqual(both["sampled_beside"]["samples"], total)
        self.assertEqual(both["sampled_beside"]["elsewhere"], sum(sampled.values()) - total)
        self.assertEqual(self.functions(both), self.functions(trace_alone))
        fits = []
        for f in both["functions"]:
            n = sampled.get(f["low"], 0)
            self.assertEqual(f["samples"], n, f["name"])
            low, high = self.wilson(n, total)
            self.assertAlmostEqual(f["sampled_share"], n / total, 9)
            self.assertAlmostEqual(f["sampled_low"], low, 6)
            self.assertAlmostEqual(f["sampled_high"], high, 6)
            self.assertEqual(f["sampled_fits"], f["sampled_low"] <= f["c1"] / trace_alone["totals"]["c1"] <= f["sampled_high"])
            if n:
                fits.append(f["sampled_fits"])
        return sum(fits), len(fits)

    def test_samples_beside_a_trace(self):
        trace = self.record("trace.rec", MISSION + ["--passes", "2"])
        fit, n = self.beside(trace, self.record("samples.rec", ["--sample", "--rate", "20k", "--for", "900ms"]))
        self.assertGreaterEqual(n, 5)
        table = run(["report", trace, self.path("samples.rec")], cwd=self.dir)
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertRegex(table.stdout, r"C1% +smp% smp\+- ")
        self.assertLessEqual(max(map(len, re.findall(r"^ +\d.*", table.stdout.split("total")[0], re.M))), 80)
        self.assertEqual(len(re.findall(r"[<>]\d+\.\d +\d+\.\d+ ", table.stdout)), sum(not f["sampled_fits"] for f in self.document(trace, self.path("samples.rec"))["functions"]))
        for option, word in (("--tree", "tree"), ("--prof", "prof"), ("--gprof", "gprof"), ("--callers=main", "callers")):
            self.assert_fails(run(["report", trace, self.path("samples.rec"), *option.split("=")], cwd=self.dir), 2, "samples beside a trace", "leave")
        self.assert_fails(run(["report", trace, "--columns", "smp%"], cwd=self.dir), 2, "--sample of the same build", "here are")
        not_time = self.record("reads.rec", MISSION + ["--passes", "1", "--c1", "operand-access"])
        self.assert_fails(run(["report", not_time, self.path("samples.rec")], cwd=self.dir), 2, "has not counted time", "--c1 elapsed-time")
        other = self.record("other.rec", ["--for", "5ms"], IRQDEMO)
        self.assert_fails(run(["report", other, self.path("samples.rec")], cwd=self.dir), 2, "different builds", "one build")

    def test_samples_beside_a_trace__same_work__most_functions_fit(self):
        trace = self.record("trace.rec", ["--for", "300ms"], MOTOR, "sim:s12zvml128")
        fit, n = self.beside(trace, self.record("samples.rec", ["--sample", "--for", "300ms"], MOTOR, "sim:s12zvml128"))
        self.assertGreaterEqual(n, 8)
        self.assertGreaterEqual(fit, 0.7 * n)

    def test_a_run_in_parts_beside_another(self):
        self.record("parts", MISSION + ["--passes", "6", "--rotate", "10k"])
        parts = sorted(os.path.join(self.dir, f) for f in os.listdir(self.dir) if f.startswith("parts."))
        self.assertGreater(len(parts), 1)
        both = self.document(self.record("one.rec", MISSION + ["--passes", "1"]), *parts)
        self.assertEqual(hits(both)["GetNewNode"], 7000)

    def test_what_does_not_belong_together_is_refused(self):
        one = self.record("one.rec", MISSION + ["--passes", "1", "-o", self.path("one.prf")])
        report = lambda *files: run(["report", *files], cwd=self.dir)  # noqa: E731
        other = self.record("other.rec", ["--for", "5ms"], IRQDEMO)
        self.assert_fails(report(one, other), 2, "different builds", "one build")
        other = self.record("counter.rec", MISSION + ["--passes", "1", "--c2", "none"])
        self.assert_fails(report(one, other), 2, "counted different things", "--c1 and --c2")
        self.assert_fails(report(one, self.path("one.prf")), 2, "one.prf (prf) does not say of which build", "recordings only")
        self.assert_fails(report(self.path("one.prf"), one), 2, "one.prf (prf) does not say of which build", "or recordings")
        shutil.copy(one, self.path("copy.rec"))
        self.assertEqual(hits(self.document(one, self.path("copy.rec")))["GetNewNode"], 2000)


if __name__ == "__main__":
    main()
