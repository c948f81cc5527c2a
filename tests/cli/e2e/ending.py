#!/usr/bin/env python3
"""SIGTERM ends the program within its deadline, whatever it is doing: each case brings it into one kind of long call and strikes.

usage: ending.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import tty
import unittest

PROBEPROF = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(sys.argv[2])
EXAMPLES = os.path.join(SOURCE, "docs", "examples")
ELF = os.path.join(EXAMPLES, "profexam", "profexam.elf")
MOTOR = os.path.join(EXAMPLES, "motor", "motor.elf")
DEADLINE_S = 45  # profiler/cli/ending.h, probeprof(1)
BEYOND_S = 120   # for a machine that has much else to do


def big_elf(path, megabytes):
    """An SH-4 program whose one section takes long to load: it branches to itself."""
    data = struct.pack("<HH", 0xAFFE, 0x0009) * (megabytes << 18)
    offset, base = 0x1000, 0x8C010000
    header = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\x01\x01\x01", 2, 42, 1, base, 52, offset + len(data), 0x9, 52, 32, 1, 40, 3, 2)
    program = struct.pack("<8I", 1, offset, base, base, len(data), len(data), 5, 4)
    names = b"\0.text\0.shstrtab\0".ljust(20, b"\0")
    at = offset + len(data) + 120
    sections = bytes(40) + struct.pack("<10I", 1, 1, 6, base, offset, len(data), 0, 0, 4, 0) + struct.pack("<10I", 7, 3, 0, 0, at, len(names), 0, 0, 1, 0)
    with open(path, "wb") as f:
        f.write((header + program).ljust(offset, b"\0") + data + sections + names)
    return path


class Run:
    """One probeprof, and how it ended: code, out, err, seconds from the signal on."""
    def __init__(self, args, probe, cwd, stdout=subprocess.PIPE, stderr=None):
        env = dict(os.environ, PROBEPROF_PROBE=probe)
        # What would be read from a pipe only when it has ended goes into a file.
        self.said = tempfile.TemporaryFile("w+") if stderr is None else None
        self.process = subprocess.Popen([PROBEPROF, *args], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=stdout,
                                        stderr=self.said or stderr, text=True)

    @property
    def err(self):
        if not self.said:
            return ""
        fd = self.said.fileno()  # a seek would move the place where the program writes, too
        return os.pread(fd, os.fstat(fd).st_size, 0).decode(errors="replace")

    def wait_for(self, text):
        until = time.monotonic() + 600
        while text not in self.err:
            assert self.process.poll() is None and time.monotonic() < until, f"ended before it said {text!r}: {self.err}"
            time.sleep(0.01)

    def has_open(self, path):
        fds = f"/proc/{self.process.pid}/fd"
        for fd in os.listdir(fds):
            try:
                if os.readlink(os.path.join(fds, fd)) == path:
                    return True
            except FileNotFoundError:  # closed meanwhile
                pass
        return False

    def wait_until_it_has_open(self, path):
        """From there on a signal is an orderly end: before, when nothing is touched yet, it dies of it. On a busy machine that may be seconds."""
        until = time.monotonic() + 600
        while not self.has_open(path):
            assert self.process.poll() is None and time.monotonic() < until, f"ended before it opened {path}: {self.err}"
            time.sleep(0.01)

    def end(self, signum=signal.SIGTERM):
        began = time.monotonic()
        self.process.send_signal(signum)
        out, drained = [], None
        if self.process.stdout:
            drained = threading.Thread(target=lambda: out.append(self.process.stdout.read()))
            drained.start()
        try:
            self.process.wait(DEADLINE_S + BEYOND_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"it did not end; it said: {self.err}") from None
        self.seconds = time.monotonic() - began
        if drained:
            drained.join()
            self.process.stdout.close()
        self.code, self.out = self.process.returncode, "".join(out)


def packet(text):
    return f"${text}#{sum(text.encode()) & 255:02x}".encode()


def full_pipe():
    """A pipe that holds as much as it can, which nobody reads."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, bytes(4096))
    except BlockingIOError:
        os.set_blocking(writer, True)
    return reader, writer


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="probeprof-ending-")
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def path(self, name):
        return os.path.join(self.dir, name)

    def go(self, args, probe="sim:sh7750", wait_for=None, **more):
        r = Run(args, probe, self.dir, **more)
        self.addCleanup(lambda: r.process.poll() is None and r.process.kill())
        if wait_for:
            r.wait_for(wait_for)
        return r

    def end(self, r, codes=(0,), signum=signal.SIGTERM):
        r.end(signum)
        print(f"    {self.id().split('.')[-1]}: ended after {r.seconds:.1f} s, status {r.code}", file=sys.stderr)
        self.assertIn(r.code, codes, r.err)
        if r.code == 1 and r.said:
            self.assertIn("probeprof: ", r.err)
            self.assertIn("hint: ", r.err)

    def wait_for_events(self, r):
        """Until what it records to the file r holds a function."""
        until = time.monotonic() + 600
        while True:
            seen = subprocess.run([PROBEPROF, "report", "r.part", "--json"], cwd=self.dir, capture_output=True, text=True, check=False)
            if seen.returncode == 0 and json.loads(seen.stdout)["functions"]:
                return
            self.assertIsNone(r.process.poll(), r.err)
            self.assertLess(time.monotonic(), until, seen.stderr)
            time.sleep(0.1)

    def debugger(self, r):
        r.wait_for("target remote")
        port = int(re.search(r"target remote :(\d+)", r.err).group(1))
        s = socket.create_connection(("127.0.0.1", port))
        self.addCleanup(s.close)
        s.sendall(b"+" + packet("?"))
        s.recv(100)
        s.sendall(b"+")
        return s


class Ending(Folder):
    # ---- before the worker is there ----

    def test_stub_that_does_not_answer(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            r = self.go(["--target", "sh7750", "--no-profile", "--gdb", ":0"], f"rsp:127.0.0.1:{s.getsockname()[1]},timeout=30000")
            c, _ = s.accept()
            c.recv(1)
            self.end(r, (1,))
            c.close()

    def test_serial_line_that_nobody_reads(self):
        for full in (False, True):
            master, slave = os.openpty()
            tty.setraw(slave)
            if full:
                os.set_blocking(slave, False)
                try:
                    while True:
                        os.write(slave, bytes(4096))
                except BlockingIOError:
                    pass
            r = self.go(["--target", "sh7750", "--no-profile", "--gdb", ":0"], f"serial:{os.ttyname(slave)}")
            r.wait_until_it_has_open(os.ttyname(slave))
            time.sleep(1)
            self.end(r, (0, 1))
            os.close(master)
            os.close(slave)

    def test_files_that_are_pipes(self):
        os.mkfifo(self.path("fifo"))
        for args in (["--conf", "fifo"], ["--elf", "fifo"], ["--elf", ELF, "--load", "--output", "fifo", "--for", "1ms", "--gdb", "off"],
                     ["--elf", ELF, "--load", "--record", "fifo", "--for", "1ms", "--gdb", "off"]):
            r = self.go(args)
            time.sleep(2)
            if r.process.poll() is None:
                self.end(r, (1, -signal.SIGTERM))
            else:
                self.assertIn(r.process.poll(), (0, 1, 2), r.err)

    # ---- on the worker ----

    def test_at_any_moment_of_the_beginning(self):
        for i in range(16):
            r = self.go(["--elf", ELF, "--load", "--start", "main+8", "--stop", "0x0C010030", "--gdb", ":0", "--json"])
            time.sleep(0.02 * i)
            self.end(r, (0, 1, -signal.SIGTERM))
            if r.code == 0:
                json.loads(r.out)

    def test_load_of_much(self):
        r = self.go(["--elf", big_elf(self.path("big.elf"), 12), "--load", "--no-profile", "--gdb", ":0", "--agent-ram", "0x8CF00000:64k"])
        r.wait_for("target remote")
        time.sleep(0.5)
        self.end(r, (0, 1))

    def test_profile_with_a_debugger(self):
        r = self.go(["--elf", ELF, "--load", "--gdb", ":0", "--json", "--record", "r"], wait_for="profiling")
        self.wait_for_events(r)
        self.debugger(r)
        self.end(r)
        self.assertTrue(json.loads(r.out)["functions"])

    def test_long_packets(self):
        for text in ("qCRC:0,ffffffffffffffff", "qSearch:memory:0;ffffffffffffffff;never there", "m8c010000,fffff"):
            r = self.go(["--no-profile", "--gdb", ":0"])
            s = self.debugger(r)
            s.sendall(packet(text))
            time.sleep(0.5)
            self.end(r)

    def test_flash_erase(self):
        r = self.go(["--no-profile", "--gdb", ":0"], "sim:s12zvml128")
        s = self.debugger(r)
        s.sendall(packet("vFlashErase:fe0000,20000"))
        time.sleep(0.2)
        self.end(r, (0, 1))

    def test_board_that_is_away(self):
        r = self.go(["--elf", ELF, "--load", "--gdb", ":0", "--json"], "sim:sh7750,fault=unplug@3000000", wait_for="does not answer")
        self.end(r, (1,))
        self.assertTrue(json.loads(r.out)["functions"])


class Outputs(Folder):
    def test_standard_output_that_nobody_reads(self):
        reader, writer = full_pipe()
        # A board that is away by then: one that runs on while nobody reads would be simulated meanwhile.
        r = self.go(["--elf", ELF, "--load", "--gdb", "off", "--json"], "sim:sh7750,fault=unplug@3000000", stdout=writer, wait_for="does not answer")
        self.end(r, (1,))
        self.assertIn("while the result was written", r.err)
        os.close(reader)
        os.close(writer)

    def test_messages_that_nobody_reads(self):
        reader, writer = full_pipe()
        for args in (["--elf", ELF, "--load", "--gdb", "off", "--json"], ["--gdb", "off", "--load"]): # the last fails before anything is begun
            r = self.go(args, stderr=writer)
            time.sleep(2)
            self.end(r, (1, -signal.SIGTERM))
        os.close(reader)
        os.close(writer)


class Frozen(Folder):
    """An adapter whose driver in the kernel does not come back: the rig this runs in is stopped. argv: PROBEPROF SOURCE_DIR Frozen."""
    def freeze(self):
        os.kill(os.getppid(), signal.SIGSTOP)
        self.addCleanup(os.kill, os.getppid(), signal.SIGCONT)
        time.sleep(0.5)

    def test_while_profiling(self):
        r = self.go(["--target", "sh7750", "--private", "--elf", ELF, "--load", "--gdb", "off", "--json", "--record", "r"], "jlink", wait_for="profiling")
        self.wait_for_events(r)
        self.freeze()
        self.end(r, (1,))
        self.assertIn("the last events did not come", r.err)
        self.assertIn("the board was not left", r.err)
        self.assertTrue(json.loads(r.out)["functions"])

    def test_while_it_is_opened(self):
        r = self.go(["--target", "sh7750", "--private", "--no-profile", "--gdb", ":0"], "jlink")
        time.sleep(0.15)
        self.freeze()
        self.end(r, (0, 1, -signal.SIGTERM)) # it may not have come so far


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:], verbosity=2)
