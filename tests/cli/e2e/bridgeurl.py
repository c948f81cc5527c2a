#!/usr/bin/env python3
"""The address of a bridge in place of a file: the same figures as the recording of the same run, and servers that are none.

usage: bridgeurl.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import re
import socket
import subprocess
import threading

from common import Folder, IRQDEMO, PROFEXAM, main, run, start


class Bridgeurl(Folder):
    def viewed(self, *more):
        """A recording, and the address where `view` has it."""
        r = run(["--for", "20ms", "--gdb", "off", "--http", "off", "--record", self.path("run.rec")], cwd=IRQDEMO)
        self.assertEqual(r.returncode, 0, r.stderr)
        p = start(["view", "--http", "0", self.path("run.rec"), *more], cwd=IRQDEMO, stdout=subprocess.DEVNULL)
        for f in (p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        return f"http://localhost:{re.search(r'localhost:([0-9]+)/', self.wait_for(p, 'feed: ')).group(1)}/"

    def test_views__of_an_address__are_those_of_the_recording(self):
        url = self.viewed()
        for view in (["report"], ["report", "--tree"], ["report", "--json"], ["report", "--callers", "Fibonacci"], ["convert", "--to", "folded"], ["convert", "--to", "callgrind"]):
            verb, *more = view
            mine, theirs = run([verb, url, *more]), run([verb, self.path("run.rec"), *more])
            self.assertEqual((mine.returncode, mine.stdout), (0, theirs.stdout), (view, mine.stderr))
        d = run(["diff", url, self.path("run.rec"), "--json"])
        self.assertEqual(d.returncode, 0, d.stderr)
        for row in json.loads(d.stdout)["functions"]:
            self.assertEqual((row["old"]["c1"], row["old"]["hits"]), (row["new"]["c1"], row["new"]["hits"]), row)
        p = run(["report", url, "--html", self.path("x.html")])
        self.assertEqual(p.returncode, 0, p.stderr)

    def test_a_running_profile__is_read_while_it_runs(self):
        p = start(["--gdb", "off", "--http", "0", "-q"], cwd=PROFEXAM, stdout=subprocess.DEVNULL)
        for f in (p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        url = f"http://localhost:{re.search(r'localhost:([0-9]+)/', self.wait_for(p, 'feed: ')).group(1)}/"
        self.wait_for(p, "profiling")
        seen = [json.loads(run(["report", url, "--json"]).stdout) for _ in range(3)]
        self.assertEqual([d["schema"] for d in seen], ["probeprof.profile/1"] * 3)
        events = [d["coverage"]["events"] for d in seen]
        self.assertEqual(events, sorted(events))

    def test_what_has_no_effect__is_refused(self):
        url = self.viewed()
        for args, words in ((["report", url, "--elf", "x.elf"], "no use for --elf"), (["report", url, url], "no use for"), (["report", url, "--live"], "not every event"),
                            (["annotate", url], "not every event"), (["convert", url, "--from", "folded", "--to", "json"], "no use for --from")):
            p = run(args)
            self.assertEqual((p.returncode, p.stdout), (2, ""), args)
            self.assertIn(words, p.stderr, args)

    def server(self, answer):
        """Gives that to who asks first."""
        s = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(s.close)

        def serve():
            c, _ = s.accept()
            with c:
                c.recv(4096)
                c.sendall(answer)
        threading.Thread(target=serve, daemon=True).start()
        return f"http://127.0.0.1:{s.getsockname()[1]}/"

    def test_other_servers__are_told_as_what_they_are(self):
        whole = b'{"schema": "probeprof.profile/1", "type": "trace"'
        for answer, words in ((b"", "the feed"), (b"SSH-2.0-x\r\n\r\n", "does not speak HTTP"), (b"HTTP/1.1 404 Not Found\r\n\r\n", "404"),
                              (b"HTTP/1.1 200 OK\r\n\r\n<html>", "line 1"), (b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + whole, "the feed"),
                              (b'HTTP/1.1 200 OK\r\n\r\n{"schema": "other/1"}', "its schema is other/1")):
            p = run(["report", self.server(answer)])
            self.assertEqual((p.returncode, p.stdout), (1, ""), (answer, p.stderr))
            self.assertIn(words, p.stderr, answer)
            self.assertIn("hint: ", p.stderr)
        self.assert_fails(run(["report", "http://localhost:1/"]), 1, "connection refused", "probeprof run")
        self.assert_fails(run(["report", "http://local host/"]), 2, "is no address", "http://127.0.0.1:3334")


if __name__ == "__main__":
    main()
