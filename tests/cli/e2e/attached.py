#!/usr/bin/env python3
"""A profile that goes on for long, and what is asked of it meanwhile.

usage: attached.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import signal
import socket
import time

from common import EXAMPLES, Folder, PROFEXAM, TIMEOUT, check_identities, hits, main, run, start

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


if __name__ == "__main__":
    main()
