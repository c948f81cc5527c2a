#!/usr/bin/env python3
"""A profile that goes on for long, and what is asked of it meanwhile.

usage: attached.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import termios
import time

from common import EXAMPLES, Folder, MISSION, PROBEPROF, PROFEXAM, TIMEOUT, check_identities, hits, main, run, start

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
        reply = self.packet("qRcmd," + words.encode().hex())
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

    def wait_until(self, holds):
        until = time.monotonic() + TIMEOUT
        while not holds():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)


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
                p = start(self.RUN + quiet, cwd=PROFEXAM)
                for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
                    self.addCleanup(f)
                time.sleep(6.5)
                err = self.end(p)[1]
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
                for _ in range(2):
                    time.sleep(1)
                    p.send_signal(signal.SIGUSR1)
                    for line in out:
                        if line.startswith("total "):
                            totals.append(int(line.split()[1].replace(",", "")))
                        if line.startswith("time "):
                            break
                self.assertLess(totals[0], totals[1])
                text = self.end(p)[0]
                if extra:
                    self.assertGreaterEqual(json.loads(text)["totals"]["hits"], totals[1])
                else:
                    self.assertIn("\ntotal ", text)

    def test_sigusr1_without_a_profile_ends_nothing(self):
        p, address = self.bridge(["--no-profile"], PROFEXAM, "sim:sh7750")
        p.send_signal(signal.SIGUSR1)
        self.wait_for(p, "no profile is under way")
        Monitor(address).detach()
        self.end(p)


if __name__ == "__main__":
    main()
