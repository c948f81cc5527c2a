#!/usr/bin/env python3
"""The address of a bridge in place of a file: the same figures as the recording of the same run, and servers that are none.

usage: bridgeurl.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading

from common import EXAMPLES, Folder, IRQDEMO, PROFEXAM, TIMEOUT, main, run, start
from follower import ask, command, status_of, wait_until_paused

MOTOR = os.path.join(EXAMPLES, "motor")


class Bridgeurl(Folder):
    def viewed(self, *more):
        """A recording, and the address where `view` has it."""
        r = run(["--for", "20ms", "--gdb", "off", "--http", "off", "--record", self.path("run.rec")], cwd=IRQDEMO)
        self.assertEqual(r.returncode, 0, r.stderr)
        return self.view(self.path("run.rec"), *more)

    def view(self, *args):
        """The address where `view` has a file."""
        p = start(["view", "--http", "0", *args], cwd=IRQDEMO, stdout=subprocess.DEVNULL)
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

    def running(self, cwd, probe, *args, least=2000, clears=False):
        """A bridge that records, stopped when it has so many events (after it was cleared), or by its stop point; what ends it."""
        p = start(["--gdb", "off", "--http", "0", "--record", self.path("run.rec"), *args], cwd=cwd, probe=probe, stdout=subprocess.DEVNULL)
        for f in (p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        where = int(re.search(r"localhost:([0-9]+)/", self.wait_for(p, "feed: ")).group(1))
        self.wait_for(p, "profiling")
        events = lambda: status_of(where)["events"]
        self.wait_until(lambda: events() >= least)
        if clears:
            self.assertEqual(command(where, do="clear")[0], 200)
            least += events()
            self.wait_until(lambda: events() >= least)
        if "--stop" not in args:
            self.assertEqual(command(where, do="stop")[0], 200)
        wait_until_paused(where)

        def ended():
            p.send_signal(signal.SIGINT)
            p.stderr.read()
            self.assertEqual(p.wait(timeout=TIMEOUT), 0)
        return f"http://localhost:{where}/", ended

    def unwatched(self, text):
        """Without what a bridge does not tell unless it watches."""
        d = json.loads(text)
        for f in d["functions"]:
            f["stretches"] = None
            for i in f["instructions"]:
                for k in ("calls", "c1_children", "c2_children", "doubtful"):
                    i.pop(k, None)
        return d

    def test_annotate__of_a_run_that_goes_on__has_the_figures_of_its_recording(self):
        for cwd, probe, counts in ((MOTOR, None, True), (IRQDEMO, "sim:sh7750", False)):
            url, ended = self.running(cwd, probe)
            one = next(f["name"] for f in json.loads(run(["annotate", url, "--json"], cwd=cwd).stdout)["functions"])
            views = ([], [one], ["--limit", "2"])
            mine = [run(["annotate", url, *v, "--json"], cwd=cwd) for v in views]
            text = run(["annotate", url, one, "--asm"], cwd=cwd)
            self.assert_fails(run(["report", url, "--live"]), 1, "does not watch", "--watch")
            ended()
            for v, m in zip(views, mine):
                self.assertEqual(m.returncode, 0, m.stderr)
                self.assertIn("its start with --watch", m.stderr)
                self.assertEqual(json.loads(m.stdout), self.unwatched(run(["annotate", self.path("run.rec"), *v, "--json"], cwd=cwd).stdout), v)
            rows = [i for f in json.loads(mine[0].stdout)["functions"] for i in f["instructions"]]
            self.assertEqual((sum("count" in i for i in rows) > 50, sum("taken" in i for i in rows) > 5), (counts, counts))
            self.assertNotIn("calls", text.stdout)

    WATCHED = (["report", "--live"], ["report", "--live", "--json"], ["report", "--live", "--function", "^[a-m]", "--limit", "3"],
               ["annotate"], ["annotate", "--json"], ["annotate", "--source"], ["annotate", "--limit", "1", "--asm"])

    def watched(self, url, cwd):
        return [run([v[0], url, *v[1:]], cwd=cwd) for v in self.WATCHED]

    def check_watched(self, mine, cwd):
        for v, m in zip(self.WATCHED, mine):
            theirs = run([v[0], self.path("run.rec"), *v[1:]], cwd=cwd)
            self.assertEqual((m.returncode, theirs.returncode, m.stdout), (0, 0, theirs.stdout), (v, m.stderr))
        live, annotated = (json.loads(mine[k].stdout)["functions"] for k in (1, 4))
        return live, [i for f in annotated for i in f["instructions"]], [s for f in annotated for s in f["stretches"] or []]

    def test_a_watched_run__is_shown_as_its_recording(self):
        for cwd, probe in ((MOTOR, None), (IRQDEMO, "sim:sh7750"), (PROFEXAM, "sim:sh7750")):
            url, ended = self.running(cwd, probe, "--watch")
            mine = self.watched(url, cwd)
            self.assertEqual([m.stdout for m in self.watched(url, cwd)], [m.stdout for m in mine])  # to look changes nothing
            saved = ask(int(url.split(":")[2].strip("/")), "/profile.json")[2]
            with open(self.path("saved.json"), "wb") as f:
                f.write(saved)
            ended()
            live, insns, stretches = self.check_watched(mine, cwd)
            self.assertGreater(sum(f["calls"] for f in live), 500)
            self.assertGreater(sum(f["cut"] for f in live), 0)  # of what had not ended
            self.assertEqual((sum("calls" in i for i in insns) > 3, sum(i.get("c1_children", 0) for i in insns) > 0, len(stretches) > 5), (True, probe is not None, probe is not None))
            viewed = self.view(self.path("saved.json"))
            self.assertEqual(run(["report", viewed, "--live"], cwd=cwd).stdout, mine[0].stdout)
            self.assertEqual(json.loads(run(["report", viewed, "--json"], cwd=cwd).stdout), json.loads(saved))

    def test_a_watched_run_that_was_cleared__is_shown_as_its_recording(self):
        for cwd, probe in ((MOTOR, None), (PROFEXAM, "sim:sh7750")):
            url, ended = self.running(cwd, probe, "--watch", clears=True)
            mine = self.watched(url, cwd)
            ended()
            live, _, _ = self.check_watched(mine, cwd)
            self.assertGreater(sum(f["calls"] for f in live), 500)

    def test_a_watched_run__is_looked_at_while_it_runs(self):
        p = start(["--gdb", "off", "--http", "0", "-q", "--watch"], cwd=PROFEXAM, stdout=subprocess.DEVNULL)
        for f in (p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        url = f"http://localhost:{re.search(r'localhost:([0-9]+)/', self.wait_for(p, 'feed: ')).group(1)}/"
        self.wait_for(p, "profiling")
        seen = [json.loads(run(["report", url, "--live", "--json"]).stdout)["functions"] for _ in range(4)]
        for earlier, later in zip(seen, seen[1:]):
            calls = {f["low"]: f for f in later}
            for f in earlier:
                for k in ("calls", "live", "work", "most"):
                    self.assertGreaterEqual(calls[f["low"]][k] or 0, f[k] or 0, (f, calls[f["low"]]))
                self.assertEqual(sum(f["histogram"]), f["calls"])

    def test_watch__without_effect__is_refused(self):
        for args, words in ((["--http", "off"], "there is neither"), (["--http", "off", "-o", "x.prf"], "there is neither"), (["--sample"], "no use for --watch")):
            p = run(["--gdb", "off", "--for", "1ms", "--watch", *args], cwd=PROFEXAM)
            self.assertEqual((p.returncode, p.stdout), (2, ""), args)
            self.assertIn(words, p.stderr, args)
        p = run(["--gdb", "off", "--for", "5ms", "--http", "off", "--watch", "--json", "--record", self.path("run.rec")], cwd=PROFEXAM)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertEqual(json.loads(p.stdout)["activations"], json.loads(run(["report", self.path("run.rec"), "--live", "--json"]).stdout)["functions"])

    def test_annotate__of_an_address__names_what_is_missing(self):
        url = self.viewed()
        shutil.copy(os.path.join(PROFEXAM, "profexam.elf"), self.path("other.elf"))
        self.assert_fails(run(["annotate", url, "--elf", self.path("other.elf")], cwd=IRQDEMO), 1, "is of another build", "--elf E")
        self.assert_fails(run(["annotate", url, "--elf", self.path("none")], cwd=IRQDEMO), 1, "none", "")

    def test_annotate__of_samples_without_their_places__is_refused(self):
        url, _ = self.running(PROFEXAM, "sim:sh7750", "--sample", "--rate", "20k")
        self.assertEqual(run(["report", url, "-o", self.path("sums.prf")]).returncode, 0)
        self.assert_fails(run(["annotate", self.view(self.path("sums.prf"))], cwd=PROFEXAM), 1, "not where in them they were taken", "give a recording")

    def test_annotate__of_samples__has_where_the_recording_has_them(self):
        for cwd, probe in ((PROFEXAM, "sim:sh7750"), (MOTOR, None)):
            url, ended = self.running(cwd, probe, "--sample", "--rate", "20k")
            views = ([], ["--json"], ["--source"], ["--limit", "1", "--asm"])
            mine = [run(["annotate", url, *v], cwd=cwd) for v in views]
            shares = json.loads(run(["report", url, "--json", "--show", "all"], cwd=cwd).stdout)
            ended()
            for v, m in zip(views, mine):
                theirs = run(["annotate", self.path("run.rec"), *v], cwd=cwd)
                self.assertEqual((m.returncode, m.stdout), (0, theirs.stdout), (v, m.stderr))
            hits = [0] * len(shares["functions"])
            for a in shares["addresses"]:
                f = shares["functions"][a["function"]]
                self.assertTrue(f["low"] <= a["address"] < f["high"], (a, f))
                hits[a["function"]] += a["hits"]
            self.assertEqual((shares["addresses_dropped"], hits), (0, [f["hits"] for f in shares["functions"]]))
            self.assertGreater(len(shares["addresses"]), 20)
            heaviest = max(shares["functions"], key=lambda f: f["hits"])
            d = json.loads(run(["report", self.path("run.rec"), "--json", "--marks", self.path("marks"), "--tag", heaviest["name"], "--show", "tagged"], cwd=cwd).stdout)
            self.assertEqual([f["name"] for f in d["functions"]], [heaviest["name"]])
            self.assertEqual((sum(a["hits"] for a in d["addresses"]), {a["function"] for a in d["addresses"]}), (heaviest["hits"], {0}))
            os.remove(self.path("marks"))

    def test_annotate__of_a_run_between_points__marks_them(self):
        for cwd, probe, start_at, stop_at in ((PROFEXAM, "sim:sh7750", "main", "GetNewNode"), (MOTOR, None, "begin", "commutate")):
            url, ended = self.running(cwd, probe, "--start", start_at, "--stop", stop_at, least=5)
            mine = json.loads(run(["annotate", url, "--json"], cwd=cwd).stdout)
            ended()
            theirs = json.loads(run(["annotate", self.path("run.rec"), "--json"], cwd=cwd).stdout)
            points = lambda d: [(i["address"], i["point"]) for f in d["functions"] for i in f["instructions"] if "point" in i]
            self.assertEqual(points(mine), points(theirs))
            self.assertEqual({p for _, p in points(mine)}, {"start", "stop"})

    def test_what_has_no_effect__is_refused(self):
        url = self.viewed()
        for args, words in ((["report", url, "--elf", "x.elf"], "no use for --elf"), (["report", url, url], "no use for"),
                            (["convert", url, "--from", "folded", "--to", "json"], "no use for --from")):
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
