#!/usr/bin/env python3
"""`convert --to prof1`, and the buckets of samples that gmon has, too. The file is read by prof1_reader.c: the structures of the document (PA-64,
section 6) compiled for a 64-bit big-endian machine and run by qemu-user, sharing nothing with the writer. Buckets are held against the samples
that `annotate` has of each instruction, and gmon's against what sh4-linux-gnu-gprof makes of them. Skipped, saying so, where a judge is missing.

usage: prof1.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import subprocess
import tempfile

from common import EXAMPLES, Folder, SOURCE, main, run

CALLERS = os.path.join(EXAMPLES, "callers")
ELF = os.path.join(CALLERS, "callers.elf")
PACKAGES = {"clang": "clang", "ld.lld": "lld", "qemu-mips64": "qemu-user", "sh4-linux-gnu-gprof": "binutils-sh4-linux-gnu"}
RATE_NOTE = r"probeprof: prof1 has no field for the rate of samples: these are \d+ a second, prof takes 100\n"


def judge(case, name):
    found = shutil.which(name)
    if not found:
        case.skipTest(f"no {name}: apt-get install {PACKAGES[name]}")
    return found


class Prof1(Folder):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.recordings = tempfile.mkdtemp(prefix="probeprof-prof1-")
        cls.addClassCleanup(shutil.rmtree, cls.recordings)
        cls.traced, cls.sampled = (os.path.join(cls.recordings, n) for n in ("trace", "samples"))
        for path, args in ((cls.traced, ["--start", "Round", "--stop", "RoundEnds", "--passes", "2"]), (cls.sampled, ["--sample", "--rate", "20k", "--for", "200ms"])):
            p = run(args + ["--gdb", "off", "--record", path], cwd=CALLERS)
            assert p.returncode == 0, p.stderr

    def reader(self):
        """The program that reads the file, compiled anew."""
        clang, lld, qemu = (judge(self, n) for n in ("clang", "ld.lld", "qemu-mips64"))
        source, there = os.path.join(SOURCE, "tests", "cli", "e2e", "prof1_reader.c"), self.path("reader")
        subprocess.run([clang, "--target=mips64-linux-gnuabi64", "-O1", "-G0", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fno-builtin",
                        "-fno-pic", "-mno-abicalls", "-c", source, "-o", there + ".o"], check=True)
        subprocess.run([lld, "-m", "elf64btsmip", "-e", "start_reader", "-o", there, there + ".o"], check=True)
        return [qemu, there]

    def convert(self, recording, *options, to="prof1"):
        out = self.path("out." + to)
        p = run(["convert", recording, "--to", to, "-o", out, *options])
        self.assertEqual(p.returncode, 0, p.stderr)
        return out, p.stderr

    def read(self, file):
        """{word: [numbers]} of each row that the reader prints."""
        with open(file, "rb") as f:
            p = subprocess.run(self.reader(), stdin=f, capture_output=True, text=True, check=False)
        self.assertEqual(p.returncode, 0, p.stdout)
        rows = {}
        for line in p.stdout.splitlines():
            word, *numbers = line.split()
            rows.setdefault(word, []).append(tuple(map(int, numbers)))
        return rows

    def samples(self):
        """{address: samples}, as `annotate` has them, and their number."""
        d = json.loads(run(["annotate", self.sampled, "--json"]).stdout)
        return {i["address"]: i["samples"] for f in d["functions"] for i in f["instructions"] if "samples" in i}, sum(f["hits"] for f in d["functions"])

    def document(self):
        return json.loads(run(["report", self.traced, "--json"]).stdout)

    def test_trace__a_reader_of_another_machine__has_every_call_and_arc(self):
        file, said = self.convert(self.traced)
        self.assertEqual(said, "probeprof: a trace has no samples: the file has no buckets\n")
        rows, d = self.read(file), self.document()
        self.assertEqual(set(rows), {"count", "arc"})
        self.assertEqual(sorted(rows["count"]), sorted((f["low"], f["hits"]) for f in d["functions"] if f["hits"]))
        arcs, function = {}, {n["id"]: d["functions"][n["function"]] for n in d["tree"]}
        for n in d["tree"]:
            key = (0 if n["parent"] is None else function[n["parent"]]["low"], function[n["id"]]["low"])
            arcs[key] = arcs.get(key, 0) + n["hits"]
        self.assertEqual(sorted(rows["arc"]), sorted((*k, n) for k, n in arcs.items() if n))
        self.assertGreater(len(arcs), 4)

    def test_trace__fewer_counters_than_functions__the_rest_is_lost_and_said(self):
        file, said = self.convert(self.traced, "--nfunc", "2")
        rows, d = self.read(file), self.document()
        called = sorted(((f["hits"], f["low"]) for f in d["functions"] if f["hits"]), key=lambda f: (-f[0], f[1]))
        kept = sorted((low, n) for n, low in called[:2])
        self.assertEqual(rows["count"], kept)
        arcs = {}
        for _, to, n in rows["arc"]:
            arcs[to] = arcs.get(to, 0) + n
        self.assertEqual(sorted(arcs.items()), kept)
        lost = sum(n for n, _ in called[2:])
        self.assertIn(f"probeprof: {len(called) - 2} of {len(called)} functions have no counter (--nfunc): {lost} of {d['totals']['hits']} calls are lost\n", said)
        every, said = self.convert(self.traced, "--nfunc", str(len(called)))
        self.assertNotIn("nfunc", said)
        self.assertEqual(len(self.read(every)["count"]), len(called))

    def test_samples__each_scale__are_in_the_buckets_of_the_formula(self):
        samples, all_ = self.samples()
        self.assertEqual(sum(samples.values()), all_)
        low, high = 0x0C010000, None
        for options, scale, size in (((), 65536, 2), (("--scale", "0.5"), 32768, 2), (("--scale", "2"), 2, 2), (("--scale", "0.3", "--bucket-bytes", "4"), 19661, 4)):
            file, said = self.convert(self.sampled, *options)
            self.assertRegex(said, "^" + RATE_NOTE + "$")
            rows = self.read(file)
            self.assertEqual((rows["samples"][0][0], rows["scale"]), (low, [(scale, size)]))
            high = high or rows["samples"][0][1]
            self.assertEqual(rows["buckets"], [(-(-(-(-(high - low) * scale // 65536)) // size), 0)])
            want = {}
            for pc, n in samples.items():
                first = low - (-(((pc - low) * scale // 65536 // size) * size * 65536) // scale)
                want[first] = want.get(first, 0) + n
            self.assertEqual(dict(rows["bucket"]), want, options)

    def test_range__by_names__has_the_samples_in_it_and_says_how_many_are_not(self):
        samples, all_ = self.samples()
        functions = {f["name"]: f for f in self.document()["functions"]}
        f = functions["Factorial"]
        file, said = self.convert(self.sampled, "--range", "Factorial..CallHard", "--buckets", "10")
        rows = self.read(file)
        self.assertEqual(rows["samples"], [(f["low"], functions["CallHard"]["low"])])
        self.assertEqual((rows["scale"], rows["buckets"]), ([(20 * 65536 // (functions["CallHard"]["low"] - f["low"]), 2)], [(10, 0)]))
        within = sum(n for pc, n in samples.items() if f["low"] <= pc < functions["CallHard"]["low"])
        self.assertEqual(sum(n for _, n in rows["bucket"]), within)
        self.assertIn(f"probeprof: {all_ - within} of {all_} samples are not in 0x{f['low']:08x}..", said)
        self.assertGreater(all_, within)

    def test_gmon__gprof__gives_each_function_the_samples_in_its_buckets(self):
        gprof = judge(self, "sh4-linux-gnu-gprof")
        samples, all_ = self.samples()
        rate = json.loads(run(["report", self.sampled, "--json"]).stdout)["sampling"]["rate"]
        want = {f["name"]: sum(n for pc, n in samples.items() if f["low"] <= pc < f["high"]) for f in self.document()["functions"]}
        for options in ((), ("--scale", "1.0"), ("--range", "entry..0x0C010200", "--buckets", "256")):
            file, said = self.convert(self.sampled, *options, to="gmon")
            self.assertEqual(said, "")
            text = subprocess.run([gprof, "-b", "-p", ELF, file], capture_output=True, text=True, check=True).stdout
            self.assertAlmostEqual(float(re.search(r"counts as (\S+) seconds", text).group(1)) * rate, 1, delta=1e-3)
            rows = {m[1]: float(m[0]) for m in re.findall(r"^\s*[\d.]+\s+[\d.]+\s+([\d.]+)\s+(\w+)$", text, re.M)}
            self.assertEqual(set(rows), {name for name, n in want.items() if n})
            for name, seconds in rows.items():
                self.assertAlmostEqual(seconds, want[name] / rate, delta=0.0051, msg=name)

    def test_prf__without_addresses__functions_have_their_samples(self):
        prf = self.path("s.prf")
        self.assertEqual(run(["convert", self.sampled, "--to", "prf", "-o", prf]).returncode, 0)
        was = {f["low"]: f["hits"] for f in json.loads(run(["report", prf, "--json"]).stdout)["functions"] if f["hits"]}
        file, said = self.convert(prf)
        self.assertIn("probeprof: the file has no addresses of samples: they are where their functions begin\n", said)
        self.assertEqual(dict(self.read(file)["bucket"]), was)

    def test_read_again__samples__are_those_of_the_functions(self):
        was = json.loads(run(["report", self.sampled, "--json"]).stdout)
        file, _ = self.convert(self.sampled)
        p = run(["report", file, "--elf", ELF, "--json"])
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        d = json.loads(p.stdout)
        self.assertEqual((d["type"], d["totals"]["hits"], d["elf"]), ("statistical", was["totals"]["hits"], ELF))
        figures = ("name", "linkage_name", "file", "line", "low", "high", "hits")
        self.assertEqual([{k: f[k] for k in figures} for f in d["functions"]], [{k: f[k] for k in figures} for f in was["functions"] if f["hits"]])
        self.assertIsNone(d["coverage"]["events"])
        again = self.path("again.prof1")
        self.assertEqual(run(["convert", file, "--elf", ELF, "--to", "prof1", "-o", again]).returncode, 0)
        with open(file, "rb") as one, open(again, "rb") as other:
            self.assertEqual(one.read(), other.read())
        nameless = json.loads(run(["report", file, "--json"]).stdout)
        self.assertEqual({f["low"]: f["hits"] for f in nameless["functions"]}, self.samples()[0])
        self.assertTrue(all(f["name"] == f"0x{f['low']:08x}" for f in nameless["functions"]))

    def test_read_again__a_trace__has_its_calls_and_nothing_else(self):
        was = {f["name"]: f["hits"] for f in self.document()["functions"] if f["hits"]}
        file, _ = self.convert(self.traced)
        p = run(["report", file, "--elf", ELF, "--json"])
        d = json.loads(p.stdout)
        self.assertEqual({f["name"]: f["hits"] for f in d["functions"] if "hits" in f}, was)
        self.assertEqual((d["type"], d["counters"], "tree" in d), ("trace", [None, None], False))
        text = run(["report", file, "--elf", ELF]).stdout
        self.assertNotIn("C1", text)
        self.assertRegex(text, r"\n +400 +98\.0 +- +Factorial\n")
        calls = run(["report", file, "--elf", ELF, "--callers", "Factorial", "--json"])
        self.assertEqual((calls.returncode, calls.stderr), (0, ""))
        self.assertEqual({r["function"]: r["hits"] for r in json.loads(calls.stdout)["callers"]["rows"]}, {"CallHard": 200, "CallEasy": 200})
        again = self.path("again.prof1")
        self.assertEqual(run(["convert", file, "--elf", ELF, "--to", "prof1", "-o", again]).returncode, 0)
        with open(file, "rb") as one, open(again, "rb") as other:
            self.assertEqual(one.read(), other.read())
        for option in ("--prof", "--gprof", "--hot"):
            self.assertNotEqual(run(["report", file, option] + (["c1>1"] if option == "--hot" else [])).returncode, 0, option)

    def test_damaged__files__are_refused_with_their_place(self):
        file, _ = self.convert(self.traced)
        with open(file, "rb") as f:
            data = f.read()
        for content, options, what in ((data[:-1], [], "offset"), (data[:20], [], "offset 8: cut short"), (b"<PROF1>\n", [], "offset 8"),
                                       (bytes.fromhex("00001000 00002000 0000080c") + bytes(64), [], "the 32-bit format of prof and gprof, which is not read"),
                                       (b"gmon\1\0\0\0" + bytes(12), ["--from", "prof1"], "offset 0: no <PROF1>")):
            bad = self.path("bad")
            with open(bad, "wb") as f:
                f.write(content)
            self.assert_fails(run(["report", bad, *options]), 1, what, "")

    def test_options__what_cannot_be__is_refused_in_words(self):
        for options, what, hint in ((("--scale", "0"), "0 or 1 switches profil off", "coarsest"), (("--scale", "1"), "0 or 1 switches profil off", "1.0"),
                                    (("--scale", "0.0"), "switches profil off", "coarsest"), (("--scale", "1.5"), "0.0 to 1.0", "0.5"),
                                    (("--scale", "x"), "0.0 to 1.0", "0.5"), (("--scale", "0.5", "--buckets", "3"), "say the same", "leave"),
                                    (("--buffer", "1"), "switches profil off", "more buckets"), (("--range", "main"), "no range", "LOW..HIGH"),
                                    (("--range", "main..entry"), "ends where it begins", "LOW..HIGH"), (("--range", "main..nowhere"), "nowhere", ""),
                                    (("--bucket-bytes", "8"), "bucket-bytes", "4")):
            self.assert_fails(run(["convert", self.sampled, "--to", "prof1", "-o", self.path("x"), *options]), 2 if options[-1] != "main..nowhere" else 1, what, hint)
        self.assert_fails(run(["convert", self.traced, "--to", "gmon", "-o", self.path("x"), "--scale", "0.5"]), 2, "no samples", "--sample")
        self.assert_fails(run(["convert", self.sampled, "--to", "gmon", "-o", self.path("x"), "--bucket-bytes", "4"]), 2, "2 bytes", "leave")
        self.assert_fails(run(["convert", self.sampled, "--to", "folded", "--buckets", "4"]), 2, "--buckets is for gmon and prof1", "leave")
        self.assert_fails(run(["convert", self.traced, "--to", "gmon", "-o", self.path("x"), "--nfunc", "4"]), 2, "--nfunc is for prof1", "leave")
        self.assert_fails(run(["convert", self.sampled, "--to", "prof1", "-o", self.path("x"), "--nfunc", "4"]), 2, "--nfunc: samples have no", "--sample")
        self.assert_fails(run(["convert", self.traced, "--to", "prof1", "-o", self.path("x"), "--nfunc", "0"]), 2, "nfunc", "")
        self.assertFalse(os.path.exists(self.path("x")))


if __name__ == "__main__":
    main()
