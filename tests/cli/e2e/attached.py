#!/usr/bin/env python3
"""A profile that goes on for long, and what is asked of it meanwhile.

usage: attached.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import termios
import time

from common import EXAMPLES, Folder, IRQDEMO, MISSION, PROBEPROF, PROFEXAM, TIMEOUT, check_identities, hits, limit_files, main, run, start
from interrupts import patch_mode

# Folder of the program, adapter, and a function that it goes on calling. Each begins in `start`, once.
BOARDS = [(PROFEXAM, "sim:sh7750", "GetNewNode"), (os.path.join(EXAMPLES, "motor"), None, "transform")]


class Monitor:
    """As much of GDB as it takes to say `monitor ...` to a program that runs."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host or "localhost", int(port)), timeout=TIMEOUT)
        self.got = b""

    def packet(self, text):
        self.socket.sendall(b"$%s#%02x" % (text.encode(), sum(text.encode()) & 255))
        return self.receive()

    def receive(self):
        while True:
            m = re.match(rb"[+]*\$([^#]*)#..", self.got, re.S)
            if m:
                self.got = self.got[m.end():]
                self.socket.sendall(b"+")
                return m.group(1).decode()
            more = self.socket.recv(4096)
            if not more:
                raise AssertionError("the bridge is gone")
            self.got += more

    def say(self, words):
        reply, text = self.packet("qRcmd," + words.encode().hex()), ""
        while re.fullmatch("O([0-9a-f]{2})+", reply):  # of more than a line
            text += bytes.fromhex(reply[1:]).decode()
            reply = self.receive()
        if text:
            return text
        return bytes.fromhex(reply).decode() if re.fullmatch("([0-9a-f]{2})+", reply) else reply

    def detach(self):
        self.packet("D")
        self.socket.close()


class Attached(Folder):
    def bridge(self, args, cwd, probe):
        p = start(args + ["--gdb", "0"], cwd=cwd, probe=probe)
        for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        return p, re.search(r"target remote (\S+)", self.wait_for(p, "target remote")).group(1)

    def end(self, process):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 0, err)
        return out, err


class Clear(Attached):
    def test_what_was_counted_is_forgotten_also_by_the_recording(self):
        for folder, probe, function in BOARDS:
            with self.subTest(probe=probe):
                record = self.path(function + ".rec")
                p, address = self.bridge(["--json", "--record", record], folder, probe)
                self.wait_until(lambda: os.path.getsize(record + ".part") > 20000)
                monitor = Monitor(address)
                self.assertIn("forgotten", monitor.say("profile clear"))
                monitor.detach()
                size = os.path.getsize(record + ".part")
                self.wait_until(lambda: os.path.getsize(record + ".part") > size + 20000)
                document = json.loads(self.end(p)[0])
                check_identities(self, document)
                again = json.loads(run(["report", record, "--json"], cwd=folder).stdout)
                self.assertEqual(document, again)
                self.assertGreater(hits(document)[function], 0)
                self.assertEqual(hits(document).get("start", 0), 0, "nothing was cleared")


class Screen:
    """A program on a terminal whose size changes."""

    def __init__(self, case, args, columns):
        self.master, slave = os.openpty()
        self.resize(columns)
        env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "LANG", "LC_ALL", "LC_CTYPE")}
        self.process = subprocess.Popen([PROBEPROF] + args, cwd=PROFEXAM, env=dict(env, PROBEPROF_PROBE="sim:sh7750", TERM="xterm"),
                                        stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, preexec_fn=self.own_terminal(slave))
        os.close(slave)
        self.seen, self.case = b"", case
        case.addCleanup(self.close)

    @staticmethod
    def own_terminal(slave):
        def apply():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)  # so that SIGWINCH comes
        return apply

    def resize(self, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read(self):
        try:
            data = os.read(self.master, 65536)
        except OSError:  # nobody has the other end any more
            data = b""
        self.seen += data
        return data

    def until(self, text):
        """Until that has been written since the last time; returns it all."""
        begin = time.monotonic()
        while not re.search(text, self.seen):
            self.case.assertTrue(self.read(), f"ended before {text}: {self.seen}")
            self.case.assertLess(time.monotonic(), begin + TIMEOUT)
        seen, self.seen = self.seen.decode(), b""
        return seen

    def end(self):
        self.process.send_signal(signal.SIGINT)
        while self.read():
            pass
        self.case.assertEqual(self.process.wait(TIMEOUT), 0, self.seen)
        return self.seen.decode()

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def live_lines(text):
    """What was drawn over and over."""
    return re.findall(r"\r\x1b\[K([^\r\n\x1b]+)", text)


class Live(Attached):
    RUN = MISSION + ["--gdb", "off", "--conf", os.path.join(PROFEXAM, "probeprof.conf")]

    def test_it_fits_the_window_also_when_that_changes(self):
        screen = Screen(self, self.RUN + ["--policy", "live", "--for", "1h", "--passes", "100000"], 200)
        screen.until(rb"of 3600 s, \d+ of 100000 passes: .*slowed .*GetLastNode .* hits, .*\r")
        for columns in (30, 120, 50, 80):
            screen.resize(columns)
            screen.until(b"\r\x1b.*\r\x1b")  # one of before may be under way
            lines = live_lines(screen.until(b"(\r\x1b[^\r]*){6}"))
            self.assertTrue(lines)
            for line in lines:
                self.assertLess(len(line), columns, line)
                self.assertRegex(line, r"GetLa", columns)
        screen.end()

    def test_off_a_terminal_one_short_line_now_and_then_and_none_if_quiet(self):
        for quiet, lines in (([], 1), (["-q"], 0)):
            with self.subTest(quiet=quiet):
                record = self.path(f"{lines}.rec")
                p = start(self.RUN + quiet + ["--record", record], cwd=PROFEXAM)
                for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
                    self.addCleanup(f)
                seen = []
                while lines and not any("GetLastNode" in line for line in seen):
                    seen.append(p.stderr.readline())
                    self.assertTrue(seen[-1], "ended before it said anything")
                if not lines:
                    self.wait_until(lambda: os.path.exists(record + ".part") and os.path.getsize(record + ".part") > 20000)
                    time.sleep(6.5)  # longer than from one line to the next
                err = "".join(seen) + self.end(p)[1]
                live = [line for line in err.splitlines() if re.search(r"events, .*GetLastNode", line)]
                self.assertGreaterEqual(len(live), lines, err)
                self.assertLessEqual(len(live), 3 * lines, err)
                for line in live:
                    self.assertLessEqual(len(line), 100)
                self.assertNotIn("\x1b", err)

    def test_quiet_says_nothing_of_a_download_either(self):
        text = Screen(self, self.RUN + ["-q", "--passes", "1"], 80)
        text.until(b"coverage")
        self.assertEqual(live_lines(text.end()), [])

    def test_sigusr1_prints_the_table_so_far_and_the_profile_goes_on(self):
        for extra in ([], ["--json"]):
            with self.subTest(extra=extra):
                p = start(self.RUN + ["--passes", "100000"] + extra, cwd=PROFEXAM)
                for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
                    self.addCleanup(f)
                self.wait_for(p, "profiling,")
                out = p.stderr if extra else p.stdout
                totals = []
                while len(set(totals)) < 2:  # until it has gone on
                    time.sleep(1)
                    p.send_signal(signal.SIGUSR1)
                    for line in out:
                        if line.startswith("total "):
                            totals.append(int(line.split()[1].replace(",", "")))
                        if line.startswith("time "):
                            break
                    self.assertIsNone(p.poll())
                self.assertEqual(totals, sorted(totals))
                text = self.end(p)[0]
                if extra:
                    self.assertGreaterEqual(json.loads(text)["totals"]["hits"], totals[-1])
                else:
                    self.assertIn("\ntotal ", text)

    def test_sigusr1_without_a_profile_ends_nothing(self):
        p, _ = self.bridge(["--no-profile"], PROFEXAM, "sim:sh7750")
        self.wait_for(p, "halted at its entry")
        p.send_signal(signal.SIGUSR1)
        self.wait_for(p, "no profile is under way")
        self.end(p)


class Rotate(Attached):
    def report(self, *files, folder=PROFEXAM):
        return run(["report", *files, "--json"], cwd=folder)

    def numbers(self, record):
        return sorted(f for f in os.listdir(self.dir) if f.startswith(os.path.basename(record) + "."))

    def part(self, record):
        """The file that is being written, if it is the third or a later one and has something."""
        for f in self.numbers(record):
            try:
                if f.endswith(".part") and f[-8:-5] >= "003" and os.path.getsize(self.path(f)) > 1000:
                    return self.path(f)
            except FileNotFoundError:  # it has its last name now
                pass
        return None

    def read_within_a_later_file(self, p, record):
        """Reports of the recording and of the file that is being written, with the program stopped. None: that file is complete.

        It is for as long as the disk takes: its last name comes after its end block and an fsync.
        """
        if not self.part(record):
            return None
        p.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, p.pid, os.WSTOPPED)  # until then it goes on writing
        part = self.part(record)
        reports = (self.report(record), self.report(part)) if part else None
        p.send_signal(signal.SIGCONT)
        return reports if reports and "not finished" in reports[1].stderr else None

    def test_numbered_files_are_one_recording(self):
        for folder, probe, function in BOARDS:
            with self.subTest(probe=probe):
                record = self.path(function)
                p = run(["--json", "--gdb", "off", "--record", record, "--rotate", "10k", "--for", "1500ms"], folder, probe)
                self.assertEqual(p.returncode, 0, p.stderr)
                document = json.loads(p.stdout)
                check_identities(self, document)
                files = self.numbers(record)
                self.assertGreater(len(files), 2)
                self.assertEqual(files[1], function + ".002")
                paths = [self.path(f) for f in files]
                for f in paths[:-1]:
                    self.assertLess(os.path.getsize(f), 30000)
                self.assertEqual(json.loads(self.report(record, folder=folder).stdout), document)
                self.assertEqual(json.loads(self.report(*paths, folder=folder).stdout), document)
                self.assert_fails(self.report(paths[0], paths[2], folder=folder), 2, paths[2] + " is not what follows", "in their order")
                rest = self.report(*paths[1:], folder=folder)
                self.assertIn("begins within a run", rest.stderr)
                rest = json.loads(rest.stdout)
                check_identities(self, rest)
                self.assertLess(hits(rest)[function], hits(document)[function])
                first = json.loads(self.report(paths[0], folder=folder).stdout)
                self.assertEqual(hits(rest)[function] + hits(first)[function], hits(document)[function])
                if probe:  # what lies between two files is in neither
                    total = document["totals"]["c1"]
                    self.assertAlmostEqual(rest["totals"]["c1"] + first["totals"]["c1"], total, delta=total / 10000)

    def test_the_last_run_is_what_is_shown_and_older_files_stay(self):
        record = self.path("r")
        args = MISSION + ["--json", "--gdb", "off", "--record", record, "--rotate", "10k", "--passes"]
        first = run(args + ["6"], PROFEXAM)
        self.assertEqual(first.returncode, 0, first.stderr)
        old = {f: os.path.getmtime(self.path(f)) for f in self.numbers(record)}
        last = run(args + ["3"], PROFEXAM)
        self.assertGreater(len(self.numbers(record)), len(old))
        self.assertEqual({f: os.path.getmtime(self.path(f)) for f in old}, old)
        self.assertEqual(json.loads(self.report(record).stdout), json.loads(last.stdout))

    def test_while_it_runs_what_there_is_can_be_read(self):
        record = self.path("r")
        p = start(["--json", "--gdb", "off", "--record", record, "--rotate", "2s", "--save-every", "1s"], cwd=PROFEXAM)
        for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        so_far, part = self.wait_until(lambda: self.read_within_a_later_file(p, record))
        self.assertEqual(so_far.returncode, 0, so_far.stderr)
        self.assertGreater(hits(json.loads(part.stdout))["GetNewNode"], 0)
        end = json.loads(self.end(p)[0])
        self.assertGreater(hits(json.loads(so_far.stdout))["GetNewNode"], hits(json.loads(part.stdout))["GetNewNode"])
        self.assertGreaterEqual(hits(end)["GetNewNode"], hits(json.loads(so_far.stdout))["GetNewNode"])
        self.assertEqual(json.loads(self.report(record).stdout), end)

    def test_full_disk_ends_the_recording_and_not_the_profile(self):
        record = self.path("r")
        p = run(MISSION + ["--json", "--gdb", "off", "--record", record, "--rotate", "20k", "--passes", "8"], PROFEXAM, preexec_fn=limit_files(15000))
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertIn("recording ends here, the profile goes on", p.stderr)
        self.assertEqual(hits(json.loads(p.stdout))["GetNewNode"], 8000)
        so_far = self.report(record)
        self.assertIn("cut short", so_far.stderr)
        self.assertGreater(hits(json.loads(so_far.stdout))["GetNewNode"], 1000)

    def test_usage(self):
        for args, what, hint in ((["--rotate", "5"], "rotate: '5' is neither", "100M"), (["--rotate", "1M"], "--rotate cuts --record's", "--record F"),
                                 (["--save-every", "1m"], "--save-every saves", "--output"), (["--save-every", "10ms"], "too often", "once a second"),
                                 (["--slice-on", "stop"], "--slice-on says", "--slice F"), (["--slice", "x", "--slice-on", "never"], "'never'", "exception"),
                                 (["--slice", self.path("a"), "--record", self.path("a")], "both write", "two files")):
            with self.subTest(args=args):
                self.assert_fails(run(["--gdb", "off", *args], PROFEXAM), 2, what, hint)
        old = self.write("old", "")
        self.assert_fails(run(["--gdb", "off", "--record", old, "--rotate", "1M"], PROFEXAM), 2, "a recording in one file", "move it away")


class Save(Attached):
    def test_outputs_are_written_while_it_runs(self):
        for folder, probe, function in BOARDS:
            for suffix in (".json", ".prf"):
                with self.subTest(probe=probe, suffix=suffix):
                    output, record = self.path(function + suffix), self.path(function + suffix + ".rec")
                    p = start(["--json", "--gdb", "off", "-o", output, "--record", record, "--save-every", "1s"], cwd=folder, probe=probe)
                    for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
                        self.addCleanup(f)
                    self.wait_for_hits(record + ".part", function, 1, folder)
                    seen = []
                    for _ in range(2):  # the first may be of before
                        self.wait_until(lambda: os.path.exists(output) and os.path.getmtime(output) not in seen)
                        seen.append(os.path.getmtime(output))
                        with open(output, "rb") as f:
                            data = f.read()
                        if suffix == ".json":
                            check_identities(self, json.loads(data))
                    part = run(["report", record + ".part", "--json"], cwd=folder)
                    so_far = hits(json.loads(part.stdout))[function]
                    self.assertGreater(so_far, 0)
                    if suffix == ".json":
                        self.assertGreaterEqual(so_far, hits(json.loads(data))[function])
                    document = json.loads(self.end(p)[0])
                    self.assertGreaterEqual(hits(document)[function], so_far)
                    if suffix == ".json":
                        with open(output, encoding="utf-8") as f:
                            self.assertEqual(json.load(f), document)
                    self.assertEqual([f for f in os.listdir(self.dir) if "tmp" in f], [])

    @staticmethod
    def little_room():
        """As a full disk, on which there may be room again later."""
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    def test_full_disk_keeps_the_older_file_and_is_tried_again(self):
        output = self.write("o.json", "older")
        p = start(["--json", "--gdb", "off", "-o", output, "--save-every", "1s"], cwd=PROFEXAM, preexec_fn=self.little_room)
        for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        self.wait_for(p, "it is tried again")
        with open(output, encoding="utf-8") as f:
            self.assertEqual(f.read(), "older")
        resource.prlimit(p.pid, resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE))
        self.wait_for(p, "saved again")
        with open(output, encoding="utf-8") as f:
            check_identities(self, json.load(f))
        self.end(p)


class Slices(Attached):
    def slices(self):
        return sorted(f for f in os.listdir(self.dir) if f.startswith("s."))

    def test_on_a_save_the_last_events_are_a_recording(self):
        for folder, probe, function in BOARDS:
            with self.subTest(probe=probe):
                for f in self.slices():
                    os.unlink(self.path(f))
                record = self.path(function)
                p = start(["--json", "--gdb", "off", "--record", record, "--save-every", "2s", "--slice", self.path("s")], cwd=folder, probe=probe)
                for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
                    self.addCleanup(f)
                self.wait_for_hits(record + ".part", function, 1, folder)
                early = self.slices()
                self.wait_until(lambda: sum(f not in early and not f.endswith(".part") for f in self.slices()) > 1)
                document = json.loads(self.end(p)[0])
                self.assertEqual(self.slices()[0], "s.001")
                for name in self.slices():
                    r = run(["report", self.path(name), "--json"], cwd=folder)
                    self.assertEqual(r.returncode, 0, r.stderr)
                    slice_ = json.loads(r.stdout)
                    check_identities(self, slice_)
                    if name not in early:
                        self.assertGreater(hits(slice_)[function], 0)
                    self.assertLessEqual(hits(slice_).get(function, 0), hits(document)[function])
                    self.assertLessEqual(slice_["coverage"]["events"], 65536 + 1)

    def test_on_stop_points_and_losses(self):
        for args in (MISSION + ["--slice-on", "stop", "--passes", "3"], ["--policy", "live", "--for", "1s"]):
            with self.subTest(args=args):
                before = self.slices()
                r = run(args + ["--json", "--gdb", "off", "--slice", self.path("s")], PROFEXAM)
                self.assertEqual(r.returncode, 0, r.stderr)
                new = [f for f in self.slices() if f not in before]
                self.assertTrue(new, r.stderr)
                self.assertIn(f"the last events are in {self.path(new[0])}", r.stderr)
                self.assertEqual(run(["report", self.path(new[0])], PROFEXAM).returncode, 0)

    def test_on_a_crash_the_way_there_is_kept(self):
        elf = shutil.copy(os.path.join(IRQDEMO, "irqdemo.elf"), self.path("crash.elf"))
        patch_mode(elf, 8)
        r = run(["--elf", elf, "--load", "--start", "Round", "--for", "20ms", "--conf", "off", "--json", "--gdb", "off", "--slice", self.path("s"),
                 "--slice-on", "exception"])
        self.assertIn("the last events are in", r.stderr)
        slice_ = json.loads(run(["report", self.path("s.001"), "--json"]).stdout)
        self.assertIn("exception", {h["kind"] for h in slice_["handlers"]})

    def test_full_disk_is_told_and_the_profile_goes_on(self):
        r = run(MISSION + ["--json", "--gdb", "off", "--slice", self.path("s"), "--slice-on", "stop", "--passes", "2"], PROFEXAM,
                preexec_fn=limit_files(500))
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("no slice; the profile goes on", r.stderr)
        self.assertEqual(self.slices(), [])
        self.assertEqual(hits(json.loads(r.stdout))["GetNewNode"], 2000)


if __name__ == "__main__":
    main()
