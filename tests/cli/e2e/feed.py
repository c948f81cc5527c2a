#!/usr/bin/env python3
"""The live feed of the whole program: what a reader has at the end is what `report --json` says of the recording of the same run.

usage: feed.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from common import EXAMPLES, Folder, IRQDEMO, MISSION, PROBEPROF, PROFEXAM, TIMEOUT, hits, main, run, start
from follower import CUTS, Follower, ask, command, compare, connect

MOTOR = os.path.join(EXAMPLES, "motor")


class FeedFolder(Folder):
    def serve(self, args, cwd=PROFEXAM, probe="sim:sh7750", http="0"):
        """The program, where its feed is, and the recording it makes."""
        record = self.path("run.rec")
        p = start(args + ["--gdb", "off", "--http", http, "--record", record], cwd=cwd, probe=probe, stdout=subprocess.DEVNULL)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        where = re.search(r"feed: (?:http://localhost:(\d+)/|socket (.+))", self.wait_for(p, "feed: "))
        return p, int(where.group(1)) if where.group(1) else where.group(2), record

    def serve_running(self, *args, **more):
        """The same, once it profiles: Ctrl-C ends it in good order then."""
        p, where, record = self.serve(*args, **more)
        self.wait_for(p, "profiling")
        return p, where, record

    def finish(self, p, interrupt=False):
        if interrupt:
            p.send_signal(signal.SIGINT)
        err = p.stderr.read()
        self.assertEqual(p.wait(timeout=TIMEOUT), 0, err)
        return err

    def check(self, reader, record, cwd=PROFEXAM):
        d = json.loads(run(["report", record, "--json"], cwd=cwd).stdout)
        compare(self, reader.end(), d)
        self.assertGreater(d["totals"]["hits"], 0)
        return d


class Live(FeedFolder):
    def test_tutorial(self):
        p, where, record = self.serve(MISSION + ["--passes", "3"])
        readers = [Follower(where), Follower(where, interval=5, cut=2), Follower(where, interval=500)]
        self.finish(p)
        for r in readers:
            d = self.check(r, record)
        self.assertEqual(hits(d)["GetNewNode"], 3000)
        self.assertEqual(readers[0].state["run"]["phase"], "done")
        self.assertEqual(readers[0].state["profile"]["passes"], 3)
        self.assertGreater(readers[1].resumed, 0)
        self.assertEqual(len(readers[0].epochs), 1)

    def test_interrupts_and_tasks(self):
        p, where, record = self.serve(["--for", "60ms"], cwd=IRQDEMO)
        r = Follower(where)
        self.finish(p)
        d = self.check(r, record, IRQDEMO)
        self.assertGreater(len(d.get("handlers", [])), 0)

    def test_motor_with_corrected_estimates(self):
        p, where, record = self.serve(["--for", "150ms"], cwd=MOTOR, probe=None)
        r = Follower(where)
        self.finish(p)
        d = self.check(r, record, MOTOR)
        self.assertGreater(d["estimate"]["measurements"], 0)
        self.assertTrue(r.state["rates"]["estimated"])

    def test_samples(self):
        p, where, record = self.serve(["--sample", "--rate", "20k", "--for", "300ms"], http=self.path("feed.sock"))
        r = Follower(where)
        self.finish(p)
        d = self.check(r, record)
        self.assertEqual(d["type"], "statistical")

    def test_cleared(self):
        p, where, record = self.serve_running([])
        r, resumes = Follower(where), Follower(where, interval=5, cut=3)
        r.started.wait(TIMEOUT)
        before = r.position[0]
        self.wait_until(where, 2000)
        status, answer = command(where, do="clear")
        self.assertEqual(status, 200, answer)
        self.assertNotEqual(answer["position"].split("-")[0], before)
        self.wait_until(where, 6000)
        while resumes.resumed < CUTS and not resumes.failure:
            time.sleep(0.02)
        self.finish(p, interrupt=True)
        d = self.check(r, record)
        self.check(resumes, record)
        self.assertEqual(hits(d).get("start", 0), 0, "nothing was cleared")
        self.assertEqual(len(r.epochs), 2)

    def test_gap(self):
        p, where, record = self.serve(["--for", "1500ms"], probe="sim:sh7750,fault=unplug@600ms+200ms")
        r = Follower(where)
        self.finish(p)
        d = self.check(r, record)
        self.assertEqual(d["coverage"]["gaps"], 1)
        self.assertEqual(r.state["adapter"]["gaps"], 1)
        self.assertTrue(any(e[2] == "gap" for e in r.log.values()), r.log)

    def wait_until(self, where, events):
        end = time.monotonic() + TIMEOUT
        while json.loads(ask(where, "/api/1/status")[2])["events"] < events:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)


class View(FeedFolder):
    def test_recordings_are_served_as_a_run_is(self):
        records = [self.path("a.rec"), self.path("b.rec")]
        for record, passes in zip(records, ("1", "2")):
            r = run(MISSION + ["--passes", passes, "--gdb", "off", "--record", record], cwd=PROFEXAM)
            self.assertEqual(r.returncode, 0, r.stderr)
        documents = [run(["report", record, "--json"], cwd=PROFEXAM).stdout for record in records]
        p = start(["view", "--http", "0"] + records, cwd=PROFEXAM, stdout=subprocess.DEVNULL)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        where = int(re.search(r"localhost:(\d+)/", self.wait_for(p, "feed: ")).group(1))
        r = Follower(where)
        r.started.wait(TIMEOUT)
        self.assertEqual(ask(where, "/profile.json")[2].decode(), documents[0])
        self.assertEqual(r.state["run"]["files"], records)
        self.assertEqual(command(where, do="start")[0], 409)
        self.assertEqual(command(where, do="show", name="c.rec")[0], 404)
        byname = {n[1]: i for i, n in r.names.items()}
        got = json.loads(ask(where, f"/api/1/function/{byname['GetNewNode']}")[2])
        self.assertEqual([(e["name"], e["hits"]) for e in got["callers"]], [("BuildList", 1000)])
        self.assertEqual([(e["name"], e["hits"]) for e in got["callees"]], [("MallocNode", 1000)])
        status, answer = command(where, do="show", name=records[1])
        self.assertEqual(status, 200, answer)
        self.assertEqual(ask(where, "/profile.json")[2].decode(), documents[1])
        self.finish(p, interrupt=True)
        compare(self, r.end(), json.loads(documents[1]))
        self.assertEqual(len(r.epochs), 2)

    def test_other_files_are_refused(self):
        prf = self.path("a.prf")
        run(MISSION + ["--passes", "1", "--gdb", "off", "--output", prf], cwd=PROFEXAM)
        self.assert_fails(run(["view", "--http", "0", prf]), 1, "view: ", "--record")
        self.assert_fails(run(["view", "--http", "0"]), 2, "needs a recording", "run.rec")


class Document(FeedFolder):
    """docs/feed.md, as it stands there."""

    def test_python_reader(self):
        text = open(os.path.join(EXAMPLES, "..", "feed.md"), encoding="utf-8").read()
        script = self.write("reader.py", re.search(r"```python\n(.*?)```", text, re.S).group(1))
        self.assertLessEqual(len(open(script, encoding="utf-8").read().strip().split("\n")), 20)
        p, where, record = self.serve(MISSION + ["--passes", "2"])
        r = subprocess.Popen([sys.executable, script, f"http://localhost:{where}"], stdout=subprocess.PIPE, text=True)
        self.finish(p)
        out = r.communicate(timeout=TIMEOUT)[0]
        d = json.loads(run(["report", record, "--json"], cwd=PROFEXAM).stdout)
        heaviest = sorted(d["functions"], key=lambda f: -f["c1"])[:5]
        self.assertEqual(out.splitlines(), [f"{f['hits']} {f['c1']} {f['name']}" for f in heaviest] + ["lost 0"])

    @unittest.skipUnless(shutil.which("curl"), "needs curl")
    def test_curl(self):
        text = open(os.path.join(EXAMPLES, "..", "feed.md"), encoding="utf-8").read()
        commands = re.findall(r"(?m)^    (curl .*)$", text)
        self.assertEqual(len(commands), 4)
        p, where, _ = self.serve_running([])
        for c in commands:
            c = c.replace("localhost:3334", f"localhost:{where}")
            follows = "feed.ndjson" in c
            r = subprocess.run(["sh", "-c", ("timeout 3 " if follows else "") + c], cwd=self.dir, capture_output=True, text=True, timeout=TIMEOUT)
            self.assertEqual(r.returncode, 124 if follows else 0, c + r.stderr)
            self.assertNotIn('"error"', r.stdout)
            for line in r.stdout.splitlines() if follows else []:
                json.loads(line)
        with open(self.path("profile.json"), encoding="utf-8") as f:
            self.assertEqual(json.load(f)["schema"], "probeprof.profile/1")
        self.assertEqual(json.loads(r.stdout)["seq"] > 0, True)
        self.finish(p, interrupt=True)


class Port(FeedFolder):
    def test_taken_port_ends_nothing(self):
        p, where, _ = self.serve_running([])
        r = run(MISSION + ["--passes", "1", "--gdb", "off", "--http", str(where)], cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stderr, r"feed: listen on .*: port \d+ is taken by probeprof \(process \d+\); the run goes on without")
        self.finish(p, interrupt=True)

    def test_a_bridge_without_a_program_has_an_empty_profile(self):
        for args in ([], ["--no-profile"]):
            p = start(args + ["--gdb", "0", "--conf", "off", "--http", "0"], cwd=self.dir, stdout=subprocess.DEVNULL)
            for f in (p.stderr.close, p.wait, p.kill):
                self.addCleanup(f)
            where = int(re.search(r":(\d+)/", self.wait_for(p, "feed: http")).group(1))
            snap = json.loads(ask(where, "/api/1/snapshot")[2])
            self.assertEqual((snap["tot"], snap.get("f", []), snap.get("n", [])), ([0, 0, 0], [], []))
            for path in ("/", "/api/1/series", "/api/1/log", "/api/1/status", "/metrics", "/healthz"):
                self.assertEqual(ask(where, path)[0], 200, path)
            for path in ("/profile.json", "/profile.prf", "/api/1/raw", "/api/1/function/0", "/api/1/timeline"):
                self.assertIn(ask(where, path)[0], (200, 404, 409), path)
            for do in ("start", "stop", "clear", "mark", "save"):
                self.assertIn(command(where, do=do, **({"name": "m"} if do == "mark" else {}))[0], (200, 409), do)
            p.send_signal(signal.SIGINT)
            self.assertEqual(p.wait(TIMEOUT), 0)

    def test_addresses(self):
        self.assert_fails(run(["--gdb", "off", "--http", "nonsense"], cwd=PROFEXAM), 2, "feed: ", "HOST:PORT")

    def test_beyond_this_machine_a_token_is_asked_for(self):
        token = "abcdefghijklmnopqrstuv"
        path = self.write("token", token + "\n")
        args = ["--gdb", "off", "--http", "0.0.0.0:0", "--http-token-file", path]
        os.chmod(path, 0o640)
        self.assert_fails(run(args, cwd=PROFEXAM), 2, "others may read it", "chmod 600")
        os.chmod(path, 0o600)
        for more, bearer in ((["--http-token-file", path], token), ([], None)):
            p = start(["--gdb", "off", "--http", "0.0.0.0:0"] + more, cwd=PROFEXAM, stdout=subprocess.DEVNULL)
            self.addCleanup(p.stderr.close)
            self.addCleanup(p.wait)
            self.addCleanup(p.kill)
            where = int(re.search(r":(\d+)/", self.wait_for(p, "feed: http")).group(1))
            bearer = bearer or re.search(r"this token: (\w{32}) \(", self.wait_for(p, "token")).group(1)
            self.assertEqual(ask(where, "/")[0], 200)
            self.assertEqual(ask(where, "/profile.json")[0], 401)
            self.assertEqual(ask(where, "/api/1/log", headers=["Authorization: Bearer " + bearer[1:]])[0], 401)
            status, _, log = ask(where, "/api/1/log", headers=["Authorization: Bearer " + bearer])
            self.assertEqual(status, 200)
            self.assertNotIn(bearer.encode(), log)
            self.wait_for(p, "profiling")
            self.finish(p, interrupt=True)

    def test_environment_and_off(self):
        env = dict(os.environ, PROBEPROF_HTTP="0", PROBEPROF_PROBE="sim:sh7750")
        args = MISSION + ["--passes", "1", "--gdb", "off"]
        for more, served in (([], True), (["--http", "off"], False)):
            r = subprocess.run([PROBEPROF] + args + more, cwd=PROFEXAM, env=env, capture_output=True, text=True, timeout=TIMEOUT)
            self.assertEqual("feed: http://localhost:" in r.stderr, served, r.stderr)

    def test_a_debugger_at_this_port_hears_so_at_once(self):
        p, where, _ = self.serve_running([])
        with connect(where) as s:
            s.sendall(b"+$qSupported#37")
            began = time.monotonic()
            try:
                self.assertEqual(s.recv(10), b"")
            except ConnectionResetError:
                pass
            self.assertLess(time.monotonic() - began, 5)
        self.finish(p, interrupt=True)

    @unittest.skipUnless(shutil.which("promtool"), "needs promtool (package prometheus)")
    def test_metrics_are_prometheus(self):
        p, where, _ = self.serve_running([])
        for accept in ((), ("Accept: application/openmetrics-text",)):
            status, _, text = ask(where, "/metrics", headers=accept)
            self.assertEqual(status, 200)
            if not accept:
                r = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, timeout=TIMEOUT)
                self.assertEqual((r.returncode, r.stdout, r.stderr), (0, b"", b""))
            else:
                self.assertTrue(text.endswith(b"# EOF\n"))
        self.finish(p, interrupt=True)

    def test_everything_as_it_is_recorded(self):
        p, where, record = self.serve(["--for", "500ms"])
        with connect(where) as s:
            s.sendall(b"GET /api/1/raw HTTP/1.0\r\nHost: localhost:%d\r\n\r\n" % where)
            self.finish(p)
            got = b""
            while True:
                more = s.recv(65536)
                if not more:
                    break
                got += more
        with open(record, "rb") as f:
            self.assertEqual(got.partition(b"\r\n\r\n")[2], f.read())

    def test_lines_of_an_s12z(self):
        p, where, _ = self.serve_running(["--trace-lines"], cwd=MOTOR, probe=None)
        with connect(where) as s:
            s.sendall(b"GET /api/1/lines HTTP/1.0\r\nHost: localhost:%d\r\n\r\n" % where)
            stream = s.makefile("r")
            while stream.readline().strip():
                pass
            lines = [stream.readline() for _ in range(200)]
        self.assertTrue(all(re.match(r"# lost \d+$|.*PT(S|IB|HF|VB|W)", line) for line in lines), lines[:5])
        self.finish(p, interrupt=True)

    def test_commands_that_are_not_possible_say_why(self):
        p, where, _ = self.serve_running([])
        self.assertEqual(ask(where, "/api/1/lines")[0], 409)
        self.assertEqual(command(where, do="save")[0], 200) # it is recorded
        for what in ("counters", "points", "show"):
            status, answer = command(where, do=what)
            self.assertEqual(status, 409, answer)
            self.assertTrue(answer["error"]["hint"])
        r = Follower(where)
        r.started.wait(TIMEOUT)
        for what, phase in (("stop", "paused"), ("start", "profiling")):
            status, answer = command(where, do=what)
            self.assertEqual(status, 200, answer)
            end = time.monotonic() + TIMEOUT
            while r.state["run"]["phase"] != phase:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
        self.assertEqual(command(where, do="mark", name="here")[0], 200)
        self.assertEqual(command(where, do="unmark", name="there")[0], 404)
        self.finish(p, interrupt=True)
        self.assertEqual([m["name"] for m in r.end().state["marks"]["marks"]], ["here"])


if __name__ == "__main__":
    main()
