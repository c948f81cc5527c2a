#!/usr/bin/env python3
"""The live feed of the whole program: what a reader has at the end is what `report --json` says of the recording of the same run.

usage: feed.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import gzip
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import unittest

from common import EXAMPLES, Folder, IRQDEMO, MISSION, PROBEPROF, PROFEXAM, TIMEOUT, hits, main, run, start
from follower import CUTS, Follower, ask, command, compare, connect, status_of

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
        self.wait_for_count(where, 2000)
        status, answer = command(where, do="clear")
        self.assertEqual(status, 200, answer)
        self.assertNotEqual(answer["position"].split("-")[0], before)
        self.wait_for_count(where, 6000)
        self.wait_until(lambda: resumes.resumed >= CUTS or resumes.failure)
        self.finish(p, interrupt=True)
        d = self.check(r, record)
        self.check(resumes, record)
        self.assertEqual(hits(d).get("start", 0), 0, "nothing was cleared")
        self.assertEqual(len(r.epochs), 2)

    def test_a_save_that_is_asked_for_keeps_the_last_events(self):
        p, where, record = self.serve_running(["--slice", self.path("s"), "--output", self.path("o.json")])
        self.wait_for_count(where, 2000)
        self.assertEqual(command(where, do="save")[0], 200)
        self.wait_for(p, "the last events are in")
        with open(self.path("o.json"), encoding="utf-8") as f:
            saved = json.load(f)
        self.finish(p, interrupt=True)
        slice_ = json.loads(run(["report", self.path("s.001"), "--json"], cwd=PROFEXAM).stdout)
        self.assertGreater(hits(slice_)["GetNewNode"], 0)
        self.assertGreaterEqual(saved["coverage"]["events"] + 1, slice_["coverage"]["events"])

    def test_gap(self):
        p, where, record = self.serve(["--for", "1500ms"], probe="sim:sh7750,fault=unplug@600ms+200ms")
        r = Follower(where)
        self.finish(p)
        d = self.check(r, record)
        self.assertEqual(d["coverage"]["gaps"], 1)
        self.assertEqual(r.state["adapter"]["gaps"], 1)
        self.assertTrue(any(e[2] == "gap" for e in r.log.values()), r.log)

    def wait_for_count(self, where, events):
        self.wait_until(lambda: status_of(where)["events"] >= events)


class Board(FeedFolder):
    """The board's own time and counts, to the same point of the program: no reader costs it a cycle, whatever it does or does not."""

    STUCK = ["events?interval=5&view=functions,nodes,log,series&nodes=65536", "feed.ndjson?interval=5&nodes=65536", "raw"]

    def counts(self, output):
        d = json.loads(output)
        time_ = {k: v for k, v in d["time"].items() if k != "host_seconds"}
        return [time_, d["totals"], d["coverage"], [[f["name"], f["hits"], f["c1"], f["c2"]] for f in d["functions"]]]

    def never_read(self, where, path):
        s = connect(where)
        self.addCleanup(s.close)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.sendall(f"GET /api/1/{path} HTTP/1.0\r\nHost: localhost:{where}\r\n\r\n".encode())

    def check_board(self, args, cwd, probe, stuck):
        args = args + ["--json", "--gdb", "off"]
        alone = run(args + ["--http", "off", "--record", self.path("alone.rec")], cwd=cwd, probe=probe)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        with open(self.path("read.json"), "w", encoding="utf-8") as out:  # not a pipe, at which it would wait for us
            p = start(args + ["--http", "0", "--record", self.path("read.rec")], cwd=cwd, probe=probe, stdout=out)
        for f in (p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        where = int(re.search(r"localhost:(\d+)/", self.wait_for(p, "feed: ")).group(1))
        for path in 4 * stuck:
            self.never_read(where, path)
        readers = []
        while p.poll() is None:  # what the kernel takes for them is little: then nothing goes out any more
            try:
                readers = json.loads(ask(where, "/api/1/readers")[2])["readers"]
            except (OSError, ValueError, IndexError):
                break  # it ends
            if readers and all(r["merged"] for r in readers):
                break
        self.finish(p)
        self.assertEqual(len(readers), 4 * len([s for s in stuck if s != "raw"]))
        self.assertTrue(all(r["frames"] > 1 for r in readers), f"they got nothing: {readers}")
        with open(self.path("read.json"), encoding="utf-8") as out:
            self.assertEqual(self.counts(out.read()), self.counts(alone.stdout))

    def test_sh4(self):
        self.check_board(MISSION + ["--passes", "8"], PROFEXAM, "sim:sh7750", self.STUCK)

    def test_s12z(self):
        self.check_board(["--for", "300ms"], MOTOR, None, self.STUCK)


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
        for file, document in zip(records, documents):
            self.assertEqual(ask(where, "/profile.json?file=" + file)[2].decode(), document)
        self.assertEqual(ask(where, "/profile.json?file=c.rec")[0], 404)
        status, headers, body = ask(where, "/profile.json", headers=["Accept-Encoding: gzip"])
        self.assertEqual((status, headers["Content-Encoding"], gzip.decompress(body).decode()), (200, "gzip", documents[0]))
        self.assertEqual(command(where, do="start")[0], 409)
        self.assertEqual(command(where, do="show", name="c.rec")[0], 404)
        byname = {n[1]: i for i, n in r.names.items()}
        got = json.loads(ask(where, f"/api/1/function/{byname['GetNewNode']}")[2])
        self.assertEqual([(e["name"], e["hits"]) for e in got["callers"]], [("BuildList", 1000)])
        self.assertEqual([(e["name"], e["hits"]) for e in got["callees"]], [("MallocNode", 1000)])
        for k, record in ((0, records[0]), (1, records[1])):
            if k:
                self.assertEqual(command(where, do="show", name=record)[0], 200)
                self.wait_for_epochs(r, 2)
            t = json.loads(ask(where, "/api/1/timeline?px=4096")[2])
            events = status_of(where)["events"]
            self.assertEqual((t["first_event"], t["end_event"], t["gaps"]), (0, events, []))
            self.assertIn("start", [p[2] for p in t["points"]])
            names = {n[0]: n[1] for n in json.loads(ask(where, "/api/1/snapshot")[2])["names"]}
            self.assertLessEqual({"main", "BuildList", "GetLastNode"}, {names.get(c[5]) for c in t["calls"]})
        status, answer = command(where, do="show", name=records[1])
        self.assertEqual(status, 200, answer)
        self.assertEqual(ask(where, "/profile.json")[2].decode(), documents[1])
        self.finish(p, interrupt=True)
        compare(self, r.end(), json.loads(documents[1]))
        self.assertEqual(len(r.epochs), 3)

    def test_prf_files(self):
        """They have sums only; what they do not tell is unknown: absent or null, never zero."""
        made = [self.path(name) for name in ("trace.prf", "samples.prf", "motor.prf", "trace.rec")]
        for args, cwd, probe in ((MISSION + ["--passes", "2", "--record", made[3], "--output", made[0]], PROFEXAM, "sim:sh7750"),
                                 (["--sample", "--rate", "20k", "--for", "100ms", "--output", made[1]], PROFEXAM, "sim:sh7750"),
                                 (["--for", "60ms", "--output", made[2]], MOTOR, None)):
            r = run(args + ["--gdb", "off", "--http", "off"], cwd=cwd, probe=probe)
            self.assertEqual(r.returncode, 0, r.stderr)
        foreign = os.path.join(EXAMPLES, "../../tests/fuzz/corpus/fuzz_prf/trace.prf")
        for path in made[:3] + [foreign]:
            p, where, _ = self.view([path])
            r = Follower(where)
            r.started.wait(TIMEOUT)
            document = run(["report", path, "--json"]).stdout
            self.assertEqual(ask(where, "/profile.json")[2].decode(), document)
            status = status_of(where)
            self.assertEqual([status[k] for k in ("events", "lost", "lost_is_bound", "gaps", "slow_down", "board_seconds")], 6 * [None])
            self.assertNotIn(b"lost_events", ask(where, "/metrics")[2])
            code, _, body = ask(where, "/api/1/raw")
            self.assertEqual((code, json.loads(body)["error"]["hint"]), (409, "/profile.json has all that is known"))
            self.assertEqual(command(where, do="mark", name="here")[0], 409)
            self.finish(p, interrupt=True)
            compare(self, r.end(), json.loads(document))
            self.assertEqual(r.state["coverage"], {})
            self.assertNotIn("passes", r.state["profile"])
        p, where, _ = self.view([made[0], made[3]])  # beside the recording of the same run
        r = Follower(where)
        r.started.wait(TIMEOUT)
        for n, name in ((2, made[3]), (3, made[0])):
            self.assertEqual(command(where, do="show", name=name)[0], 200)
            self.wait_for_epochs(r, n)
        self.finish(p, interrupt=True)
        compare(self, r.end(), json.loads(run(["report", made[0], "--json"]).stdout))
        self.assertEqual(len(r.epochs), 3)

    def wait_for_epochs(self, reader, n):
        """Of two that follow at once, a reader may see the last only."""
        self.wait_until(lambda: len(reader.epochs) >= n)

    def view(self, files):
        p = start(["view", "--http", "0"] + files, cwd=PROFEXAM, stdout=subprocess.DEVNULL)
        for f in (p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        return p, int(re.search(r"localhost:(\d+)/", self.wait_for(p, "feed: ")).group(1)), None

    def test_other_files_are_refused(self):
        self.assert_fails(run(["view", "--http", "0", __file__]), 1, "neither a recording nor a profile that is read", "convert")
        prf = os.path.join(EXAMPLES, "../../tests/fuzz/corpus/fuzz_prf/trace.prf")
        self.assert_fails(run(["view", "--http", "0", "--elf", "x.elf", prf]), 2, "--elf", "leave --elf out")
        with open(prf, "rb") as f, open(self.path("cut.prf"), "wb") as out:
            out.write(f.read()[:-5])
        self.assert_fails(run(["view", "--http", "0", self.path("cut.prf")]), 1, "offset", "")
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
        self.assertEqual(len(commands), 5)
        p, where, _ = self.serve_running([])
        for c in commands:
            c = c.replace("localhost:3334", f"localhost:{where}")
            follows = "feed.ndjson" in c
            r = subprocess.run(["sh", "-c", ("timeout 3 " if follows else "") + c], cwd=self.dir, capture_output=True, text=True, timeout=TIMEOUT)
            self.assertEqual(r.returncode, 124 if follows else 0, c + r.stderr)
            self.assertNotIn('"error"', r.stdout)
            for line in r.stdout.split("\n")[:-1] if follows else []: # the last one may be cut
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
            self.assertEqual((snap["tot"], snap.get("f", []), snap.get("n", [])), ([0, None, None], [], []))
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
        with connect(where) as idle, connect(where) as s:
            s.sendall(b"+$qSupported#37")
            try:
                self.assertEqual(s.recv(10), b"")
            except ConnectionResetError:
                pass
            self.assertFalse(select.select([idle], [], [], 0)[0], "it was let go with those that say nothing for long")
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

    def test_everything_also_across_files(self):
        record = self.path("run.rec")
        p = start(["--for", "900ms", "--gdb", "off", "--http", "0", "--record", record, "--rotate", "10k"], cwd=PROFEXAM, stdout=subprocess.DEVNULL)
        for f in (p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        where = int(re.search(r":(\d+)/", self.wait_for(p, "feed: http")).group(1))
        streams = []
        for wait in (record + ".001", record + ".003"):  # one from the beginning, one that comes late
            self.wait_until(lambda: os.path.exists(wait + ".part") or os.path.exists(wait), p)
            streams.append(connect(where))
            self.addCleanup(streams[-1].close)
            streams[-1].sendall(b"GET /api/1/raw HTTP/1.0\r\nHost: localhost:%d\r\n\r\n" % where)
        self.finish(p)
        files = sorted(f for f in os.listdir(self.dir) if f.startswith("run.rec."))
        self.assertGreater(len(files), 2)
        written = b""
        for f in files:
            with open(self.path(f), "rb") as part:
                written += part.read()
        for s in streams:
            with s.makefile("rb") as stream:
                self.assertEqual(stream.read().partition(b"\r\n\r\n")[2], written)

    def test_a_hundred_and_twenty_come_at_once(self):
        p, where, _ = self.serve_running([])
        p.send_signal(signal.SIGSTOP)  # nobody is let in: the kernel has to keep them all
        try:
            all_ = []
            for _ in range(120):
                s = socket.create_connection(("127.0.0.1", where), timeout=TIMEOUT)
                self.addCleanup(s.close)
                s.sendall(b"GET /healthz HTTP/1.0\r\nHost: localhost:%d\r\n\r\n" % where)
                all_.append(s)
        finally:
            p.send_signal(signal.SIGCONT)
        for s in all_:
            s.settimeout(TIMEOUT)
            with s.makefile("rb") as stream:
                self.assertIn(b" 200 ", stream.readline())
        self.finish(p, interrupt=True)

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
        for what, expected in (("counters", 400), ("points", 400), ("show", 409)):
            status, answer = command(where, do=what)
            self.assertEqual(status, expected, answer)
            self.assertTrue(answer["error"]["hint"])
        r = Follower(where)
        r.started.wait(TIMEOUT)
        for what, phase in (("stop", "paused"), ("start", "profiling")):
            status, answer = command(where, do=what)
            self.assertEqual(status, 200, answer)
            self.wait_until(lambda: r.state["run"]["phase"] == phase)
        self.assertEqual(command(where, do="mark", name="here")[0], 200)
        self.assertEqual(command(where, do="unmark", name="there")[0], 404)
        self.finish(p, interrupt=True)
        self.assertEqual([m["name"] for m in r.end().state["marks"]["marks"]], ["here"])


if __name__ == "__main__":
    main()
