#!/usr/bin/env python3
"""Captures of PDO and PDOCLK by logic analysers: the simulated board's pins, sampled as an analyser would and written as it would, read by the real
program. The counts must be those of the exact edges.

usage: pdo_capture.py PROBEPROF SOURCE_DIR CAPTURE_EDGES [unittest arguments]
"""
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile

from common import EXAMPLES, PROFEXAM, TIMEOUT, hits, run

CAPTURE_EDGES = os.path.abspath(sys.argv[3])
MOTOR = os.path.join(EXAMPLES, "motor")
ELF = os.path.join(MOTOR, "motor.elf")
BOARD = "sim:s12zvml128,bdc=20M"
PS = 10 ** 12
SIGROK_CLI = shutil.which("sigrok-cli")


def read_edges(path):
    with open(path, "rb") as f:
        data = f.read()
    return [(e >> 2, e >> 1 & 1, e & 1) for (e,) in struct.iter_unpack("<Q", data)]


def sampled(edges, rate, clk=1, data=0, unit=1, seed=1):
    """What an analyser with a clock of its own sees: its phase is anything, and its samples jitter by a tenth of their distance."""
    chance, period = random.Random(seed), PS / rate
    phase, out, level, at = chance.random() * period, bytearray(), bytes(unit), 0
    for tick, c, d in edges:
        n = max(at, int((tick - edges[0][0] + phase + (chance.random() - 0.5) * period / 10) / period) + 1)
        out += level * (n - at)
        level, at = (c << clk | d << data).to_bytes(unit, "little"), n
    return bytes(out + level * 64)


def write_sr(path, samples, rate, names, unit=1, pieces=5, skip=None):
    text = "[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\ntotal probes=%d\nsamplerate=%g MHz\ntotal analog=0\n" % (
        len(names), rate / 1e6)
    text += "".join("probe%d=%s\n" % (n + 1, name) for n, name in enumerate(names)) + "unitsize=%d\n" % unit
    step = (len(samples) // pieces // unit + 1) * unit
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("version", "2")
        z.writestr("metadata", text)
        for n in range(pieces):
            if n != skip:
                z.writestr("logic-1-%d" % (n + 1), samples[n * step:(n + 1) * step])


def write_vcd(path, edges):
    with open(path, "w") as f:
        f.write("$timescale 1 ps $end\n$scope module pins $end\n$var wire 1 ! PDO $end\n$var wire 1 \" PDOCLK $end\n$upscope $end\n"
                "$enddefinitions $end\n")
        f.writelines("#%d\n%d!\n%d\"\n" % (tick, data, clk) for tick, clk, data in edges)


class Captured(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        subprocess.run([CAPTURE_EDGES, BOARD, cls.path("m.edges")], check=True, timeout=TIMEOUT)
        cls.edges = read_edges(cls.path("m.edges"))
        cls.exact = cls.counts(cls, cls.decode(cls, "m.edges", "edges"))

    @classmethod
    def path(cls, name):
        return os.path.join(cls.dir, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)

    def decode(self, name, form, *more):
        return run(["decode", self.path(name), "--format", form, "--elf", ELF, "--json", *more], probe=None)

    def counts(self, r):
        """Everything of a report that does not depend on when an edge was seen."""
        assert r.returncode == 0, r.stderr
        d = json.loads(r.stdout)
        return {"hits": hits(d), "blocks": d["blocks"], "branches": d["branches"], "lost": d["coverage"]["lost"],
                "tree": [(n["parent"], n["function"], n["hits"]) for n in d["tree"]]}

    def live(self, pdo, *more):
        return run(["--pdo", pdo, "--for", "20ms", "--gdb", "off", "--json", *more], cwd=MOTOR, probe=BOARD)


class Files(Captured):
    def test_sessions_sampled_fast_and_just_enough_give_the_exact_counts(self):
        for rate, seed in ((100e6, 1), (100e6, 2), (100e6, 3), (250e6, 4), (500e6, 5)):  # the bus is 50 MHz: a bit lasts 40 ns
            with self.subTest(rate=rate, seed=seed):
                write_sr(self.path("m.sr"), sampled(self.edges, rate, clk=3, data=6, seed=seed), rate, ["D%d" % n for n in range(8)])
                self.assertEqual(self.counts(self.decode("m.sr", "sr", "--signals", "D3,d6")), self.exact)

    def test_session_with_16_signals_gives_the_exact_counts(self):
        names = ["A%d" % n for n in range(14)] + ["PDOCLK", "PDO"]
        write_sr(self.path("w.sr"), sampled(self.edges, 120e6, 14, 15, 2), 120e6, names, unit=2, pieces=3)
        self.assertEqual(self.counts(self.decode("w.sr", "sr")), self.exact)

    def test_raw_samples_of_any_width_give_the_exact_counts(self):
        for unit in (1, 2, 3, 4, 8):
            with self.subTest(unit=unit):
                self.write("m.raw", sampled(self.edges, 100e6, 8 * unit - 1, 0, unit))
                r = self.decode("m.raw", "raw", "--signals", "%d,D0" % (8 * unit - 1), "--unit", str(unit))
                self.assertEqual(self.counts(r), self.exact)

    def test_a_live_run_reads_them_through_its_link(self):
        write_vcd(self.path("m.vcd"), self.edges)
        write_sr(self.path("m.sr"), sampled(self.edges, 100e6), 100e6, ["PDO", "PDOCLK"])
        self.write("m.raw", sampled(self.edges, 200e6, 2, 5))
        for pdo in ("m.vcd", "m.sr", "m.raw,pdo=5,pdoclk=2,rate=200M", "m.edges,rate=1000000M"):
            with self.subTest(pdo=pdo):
                self.assertEqual(self.counts(self.live("file:" + self.path(pdo))), self.exact)

    def test_a_pipe_that_samples_are_written_into_is_a_capture(self):
        samples = sampled(self.edges, 200e6)
        os.mkfifo(self.path("pipe"))

        def feed():
            with open(self.path("pipe"), "wb") as f:
                f.write(samples)
        writer = threading.Thread(target=feed, daemon=True)
        writer.start()
        got = self.counts(run(["--pdo", "file:" + self.path("pipe") + ",form=raw,rate=200M", "--for", "400ms", "--gdb", "off", "--json"],
                              cwd=MOTOR, probe=BOARD))
        writer.join(600)
        self.assertFalse(writer.is_alive())
        self.assertEqual(got, self.exact)

    def test_what_is_wrong_with_a_file_is_said(self):
        samples = sampled(self.edges, 100e6)
        names = ["D%d" % n for n in range(8)]
        write_sr(self.path("good.sr"), samples, 100e6, names)
        write_sr(self.path("hole.sr"), samples, 100e6, names, skip=2)
        with open(self.path("good.sr"), "rb") as f:
            whole = f.read()
        self.write("cut.sr", whole[:len(whole) // 2])
        middle = len(whole) // 2
        self.write("flip.sr", whole[:middle] + bytes([whole[middle] ^ 0x55]) + whole[middle + 1:])
        with zipfile.ZipFile(self.path("other.sr"), "w") as z:
            z.writestr("content.xml", "<text/>")
        write_vcd(self.path("m.vcd"), self.edges)
        signals = ["--signals", "D1,D0"]
        rows = [
            ("cut.sr", "sr", signals, "cut short", "save or copy it again"),
            ("hole.sr", "sr", signals, "logic-1-3 of the samples is missing", "save it again"),
            ("flip.sr", "sr", signals, "logic-1-", "save or copy it again"),
            ("other.sr", "sr", signals, "no sigrok session: no readable 'metadata'", "sigrok-cli"),
            ("good.sr", "sr", [], "no signal 'PDOCLK' in the capture; it has D0, D1, D2, D3, D4, D5, D6, D7", "--signals"),
            ("good.sr", "sr", ["--signals", "D1,D9"], "no signal 'D9' in the capture; it has D0, D1", "--signals"),
            ("m.vcd", "vcd", signals, "no signal 'D1'; it has PDO, PDOCLK", "--signals"),
            ("good.sr", "raw", ["--signals", "8,0"], "no signal '8' in raw samples of 8 bits", "unit="),
            ("good.sr", "raw", ["--unit", "17"], "unit", ""),
            ("none.sr", "sr", signals, "none.sr", "check the path"),
            ("good.sr", "vcd", signals, "line 1", "VCD"),
        ]
        for name, form, more, what, hint in rows:
            with self.subTest(name=name, form=form, more=more):
                r = self.decode(name, form, *more)
                self.assertNotEqual(r.returncode, 0)
                self.assertIn(what, r.stderr)
                self.assertIn(hint, r.stderr)

    def test_what_is_wrong_with_a_link_is_said(self):
        self.write("m.raw", sampled(self.edges, 100e6))
        self.write("m.dat", b"\0\0\0\0")
        raw = "file:" + self.path("m.raw")
        rows = [
            (raw, "does not say how fast its clock was", "rate=24M"),
            (raw + ",rate=100M,pdo=x", "no signal 'x'", "numbers of bits"),
            (raw + ",rate=100M,speed=1", "no option 'speed'", "pdoclk="),
            (raw + ",rate=40M", "samples a bit 1.6 times, 4 are needed: the bus clock is 50 MHz", "rate=100M or more"),
            ("file:" + self.path("m.dat") + ",rate=1M", "do not say what form it has", "form=sr"),
            ("file:", "no file named", "file:capture.sr"),
            ("file:/none.sr", "none.sr", "check the path"),
            ("sim:sh7750", "cannot capture PDO", "--pdo sigrok"),
            ("filed:x", "no adapter driver", "file"),
        ]
        for pdo, what, hint in rows:
            with self.subTest(pdo=pdo):
                r = self.live(pdo)
                self.assertNotEqual(r.returncode, 0)
                self.assertIn(what, r.stderr)
                self.assertIn(hint, r.stderr)
        r = run(["--pdo", raw + ",rate=100M", "--for", "1ms", "--gdb", "off"], cwd=PROFEXAM)
        self.assertIn("pdo is for S12Z parts", r.stderr)

    def test_too_few_samples_are_told_in_the_report(self):
        self.write("slow.raw", sampled(self.edges, 80e6))
        r = self.live("file:" + self.path("slow.raw") + ",rate=80M")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("file:slow.raw samples a bit 3.2 times, 4 are needed for a bus of 50 MHz", json.loads(r.stdout)["note"])


def demo_there():
    return "not in this build" not in run(["list"], probe=None).stdout


@unittest.skipUnless(demo_there(), "this build has no libsigrok")
class Analysers(Captured):
    def test_list_looks_for_analysers_when_asked_only(self):
        plain, asked = run(["list"], probe=None), run(["list", "--analysers"], probe=None)
        self.assertNotIn("sigrok:demo", plain.stdout)
        self.assertIn("sigrok:demo  Demo device", asked.stdout)
        self.assertIn("PDO capture; for --pdo", asked.stdout)
        rows = json.loads(run(["list", "--analysers", "--json"], probe=None).stdout)["adapters"]
        self.assertIn(("sigrok:demo", ["PDO capture"]), [(r["probe"], r["can"]) for r in rows])

    def test_lines_that_never_move_are_told(self):
        r = self.live("sigrok:demo,pdo=D0,pdoclk=D1,rate=100M,pattern=all-low")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(hits(json.loads(r.stdout)), {})
        self.assertIn("PDOCLK never moved: are both pins wired to sigrok:demo", json.loads(r.stdout)["note"])

    def test_a_clock_that_is_none_gives_no_line(self):
        r = self.live("sigrok:demo,pdo=D0,pdoclk=D1,rate=100M,pattern=graycode")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(hits(json.loads(r.stdout)), {})

    def test_a_capture_that_ends_is_begun_again_and_the_gap_told(self):
        r = self.live("sigrok:demo,pdo=D0,pdoclk=D1,rate=100M,pattern=all-low,limit_samples=3000000", "--for", "300ms")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("no capture: sigrok:demo: the capture ended by itself after 0.03 s", r.stderr)
        self.assertIn("the gap is marked in the profile", r.stderr)

    def test_what_is_wrong_is_said(self):
        for pdo, what in (("sigrok:demo,pdo=X,rate=100M", "no channel 'PDOCLK'; it has D0, D1"), ("sigrok:dmo", "no driver 'dmo'"),
                          ("sigrok:demo,pdo=D0,pdoclk=D1,rate=20M", "samples a bit 0.8 times, 4 are needed: the bus clock is 50 MHz")):
            with self.subTest(pdo=pdo):
                r = self.live(pdo)
                self.assertNotEqual(r.returncode, 0)
                self.assertIn(what, r.stderr)


@unittest.skipUnless(SIGROK_CLI, "sigrok-cli is not installed")
class SigrokCli(Captured):
    """Another program's word on our files, and ours on its."""

    def sigrok(self, *args):
        r = subprocess.run([SIGROK_CLI, *args], capture_output=True, timeout=TIMEOUT, cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout

    def test_it_reads_the_session_we_wrote(self):
        samples = sampled(self.edges, 100e6)
        write_sr(self.path("ours.sr"), samples, 100e6, ["PDO", "PDOCLK"])
        self.sigrok("-i", "ours.sr", "-O", "binary", "-o", "theirs.raw")
        with open(self.path("theirs.raw"), "rb") as f:
            self.assertEqual(f.read(), samples)

    def test_sessions_it_wrote_give_the_exact_counts(self):
        self.write("m.raw", sampled(self.edges, 100e6))
        self.sigrok("-I", "binary:numchannels=2:samplerate=100000000", "-i", "m.raw", "-o", "its.sr")
        self.assertEqual(self.counts(self.decode("its.sr", "sr", "--signals", "1,0")), self.exact)
        self.assertEqual(self.counts(self.live("file:" + self.path("its.sr") + ",pdo=0,pdoclk=1")), self.exact)

    def test_value_changes_it_wrote_give_the_exact_counts(self):
        self.write("m.raw", sampled(self.edges, 250e6))
        self.sigrok("-I", "binary:numchannels=8:samplerate=250000000", "-i", "m.raw", "-O", "vcd", "-o", "its.vcd")
        self.assertEqual(self.counts(self.decode("its.vcd", "vcd", "--signals", "1,0")), self.exact)
        self.assertEqual(self.counts(self.live("file:" + self.path("its.vcd") + ",pdo=0,pdoclk=1")), self.exact)

    def test_our_value_changes_by_way_of_its_session(self):
        end = (self.edges[-1][0] + 10 ** 6, self.edges[-1][1], 1 - self.edges[-1][2])  # sigrok keeps nothing behind the last change
        write_vcd(self.path("ns.vcd"), [(tick // 1000, clk, data) for tick, clk, data in self.edges + [end]])
        with open(self.path("ns.vcd")) as f:
            text = f.read().replace("$timescale 1 ps", "$timescale 1 ns")
        with open(self.path("ns.vcd"), "w") as f:
            f.write(text)
        self.sigrok("-I", "vcd", "-i", "ns.vcd", "-o", "via.sr")
        self.assertEqual(self.counts(self.decode("via.sr", "sr")), self.exact)

    def test_its_demonstration_device_recorded_into_a_session_is_read(self):
        self.sigrok("-d", "demo", "-g", "Logic", "--config", "pattern=incremental", "--channels", "D0,D1", "--samples", "5000", "-o", "demo.sr")
        r = self.decode("demo.sr", "sr", "--signals", "D1,D0")
        self.assertIn("holds no trace line", r.stderr)  # read to its end, and no line in it


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[4:], verbosity=2)
