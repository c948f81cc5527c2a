#!/usr/bin/env python3
"""Other counters, and other start and stop points, while a profile goes on: by a reader of the feed and by GDB.

usage: change.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import glob
import json
import os
import re
import signal
import threading

from attached import BOARDS, Monitor
from common import MISSION, PROFEXAM, TIMEOUT, check_identities, hits, main, run, start
from feed import FeedFolder
from follower import CUTS, Follower, ask, command, status_of

# Per board: what is counted later, and points that a pass lies between, with functions of it and one that is outside.
COUNTERS = {"sim:sh7750": ("instructions", "elapsed-time"), None: ("taken-branches", "calls")}
POINTS = {"sim:sh7750": ("main+8", ["0x0C010030"]), None: ("control_loop", ["commutate"])}


class ChangeFolder(FeedFolder):
    def wait_for_status(self, where, holds):
        self.wait_until(lambda: holds(status_of(where)))

    def more(self, where, events=3000):
        """So many more events than now."""
        seen = status_of(where)["events"]
        self.wait_for_status(where, lambda s: s["events"] >= seen + events)

    def change(self, where, **body):
        code, answer = command(where, **body)
        self.assertEqual(code, 200, answer)
        return answer


class Counters(ChangeFolder):
    def test_other_counters_begin_a_new_epoch_on_both_boards(self):
        for folder, probe, function in BOARDS:
            with self.subTest(probe=probe):
                p, where, record = self.serve_running([], cwd=folder, probe=probe)
                r, resumes = Follower(where), Follower(where, interval=5, cut=3)
                r.started.wait(TIMEOUT)
                before = r.position[0]
                self.more(where)
                c1, c2 = COUNTERS[probe]
                answer = self.change(where, do="counters", c1=c1, c2=c2)
                self.assertNotEqual(answer["position"].split("-")[0], before)
                self.assertEqual((status_of(where)["c1"], status_of(where)["c2"]), (c1, c2))
                self.more(where)
                self.wait_until(lambda: resumes.resumed >= CUTS or resumes.failure)
                self.finish(p, interrupt=True)
                d = self.check(r, record, folder)
                self.check(resumes, record, folder)
                check_identities(self, d)
                self.assertEqual([c["name"] for c in d["counters"]], [c1, c2])
                self.assertEqual([c[0] for c in r.hello["counters"]], [c1, c2])
                self.assertEqual(len(r.epochs), 2)
                self.assertGreater(hits(d)[function], 0)
                self.assertEqual(hits(d).get("start", 0), 0, "what was counted before is in it")

    def test_sums_are_those_of_a_run_that_counted_so_from_the_beginning(self):
        p, where, record = self.serve_running([])
        self.more(where)
        self.change(where, do="counters", c1="instructions", c2="elapsed-time")
        self.more(where, 20000)
        self.finish(p, interrupt=True)
        d = json.loads(run(["report", record, "--json"], cwd=PROFEXAM).stdout)
        fresh = json.loads(run(MISSION + ["--passes", "1", "--gdb", "off", "--http", "off", "--c1", "instructions", "--c2", "elapsed-time", "--json"], cwd=PROFEXAM).stdout)
        # it has no loop: each call costs the same; one may have been under way at either end
        f, g = ([x for x in doc["functions"] if x["name"] == "MallocNode"][0] for doc in (d, fresh))
        each = g["c1"] // g["hits"]
        self.assertEqual(g["c1"], each * g["hits"])
        self.assertLessEqual(abs(f["c1"] - each * f["hits"]), each)
        # ... and where the program was is known still
        roots = {d["functions"][n["function"]]["name"] for n in d["tree"] if n["parent"] is None and n["c1_children"]}
        self.assertLessEqual(roots, {"main", "entry", "vectors"}, roots)

    def test_a_recording_in_numbered_files_goes_on_with_them(self):
        for folder, probe, function in BOARDS:
            with self.subTest(probe=probe):
                p, where, record = self.serve_running(["--rotate", "10k"], cwd=folder, probe=probe)
                r = Follower(where)
                r.started.wait(TIMEOUT)
                files = lambda: len(glob.glob(record + ".*"))
                self.wait_until(lambda: files() > 2)
                c1, c2 = COUNTERS[probe]
                self.change(where, do="counters", c1=c1, c2=c2)
                there = files()
                self.wait_until(lambda: files() > there + 1)
                self.finish(p, interrupt=True)
                d = self.check(r, record, folder)
                check_identities(self, d)
                self.assertEqual([c["name"] for c in d["counters"]], [c1, c2])
                self.assertGreater(hits(d)[function], 0)
                for f in glob.glob(record + ".*"):
                    os.unlink(f)

    def test_what_cannot_be_counted_is_said_and_all_goes_on(self):
        p, where, record = self.serve_running([])
        r = Follower(where)
        for body, what in (({"c1": "cache-mis"}, "counts no event 'cache-mis'"), ({}, "name an event"), ({"c1": "instructions", "c3": "x"}, "c3")):
            code, answer = command(where, do="counters", **body)
            self.assertEqual(code, 400, answer)
            self.assertIn(what, answer["error"]["what"])
        self.more(where)
        self.finish(p, interrupt=True)
        self.check(r, record)
        self.assertEqual(len(r.epochs), 1)

    def test_samples_have_none(self):
        p, where, _ = self.serve_running(["--sample"])
        for body in ({"do": "counters", "c1": "instructions"}, {"do": "points", "start": "main"}):
            code, answer = command(where, **body)
            self.assertEqual(code, 409, answer)
            self.assertIn("samples", answer["error"]["what"])
        self.finish(p, interrupt=True)


class Settled(ChangeFolder):
    def test_figures_stand_from_the_answer_to_a_stop_on(self):
        for folder, probe, _ in BOARDS:
            with self.subTest(probe=probe):
                p, where, record = self.serve_running([], cwd=folder, probe=probe)
                r = Follower(where)
                self.more(where, 20000)
                self.change(where, do="stop")
                totals = json.loads(ask(where, "/profile.json")[2])["totals"]
                board = status_of(where)["board_seconds"]
                self.wait_for_status(where, lambda s: s["board_seconds"] > board + 0.02)
                self.assertEqual(json.loads(ask(where, "/profile.json")[2])["totals"], totals)
                self.finish(p, interrupt=True)
                self.assertEqual(self.check(r, record, folder)["totals"], totals)

    def test_a_pause_stays_one(self):
        for folder, probe, function in BOARDS:
            with self.subTest(probe=probe):
                p, where, record = self.serve_running([], cwd=folder, probe=probe)
                self.more(where)
                self.change(where, do="stop")
                self.change(where, do="counters", c1=COUNTERS[probe][0])
                board = status_of(where)["board_seconds"]
                self.wait_for_status(where, lambda s: s["board_seconds"] > board + 0.02)
                self.assertEqual(json.loads(ask(where, "/profile.json")[2])["totals"], {"hits": 0, "c1": 0, "c2": 0})
                self.change(where, do="start")
                self.more(where)
                self.finish(p, interrupt=True)
                d = json.loads(run(["report", record, "--json"], cwd=folder).stdout)
                self.assertGreater(hits(d)[function], 0)


class Points(ChangeFolder):
    def test_points_are_set_and_taken_away_on_both_boards(self):
        for folder, probe, _ in BOARDS:
            with self.subTest(probe=probe):
                p, where, record = self.serve_running([], cwd=folder, probe=probe)
                r = Follower(where)
                self.more(where)
                begin, stops = POINTS[probe]
                self.change(where, do="points", start=begin, stop=stops)
                self.change(where, do="clear")
                self.wait_until(lambda: json.loads(ask(where, "/profile.json")[2])["passes"] > 1)
                run_object = json.loads(ask(where, "/api/1/snapshot")[2])["st"]["run"]
                self.assertEqual(run_object["stops"], 1)
                self.assertTrue(run_object["start"].startswith(begin.split("+")[0]))
                between = json.loads(ask(where, "/profile.json")[2])
                self.assertEqual(hits(between).get("duty", 0), 0, "what lies behind the stop point was counted")
                self.change(where, do="points", start="", stop=[])
                self.more(where, 6000)
                self.finish(p, interrupt=True)
                d = self.check(r, record, folder)
                self.assertEqual("duty" in hits(d), probe is None)

    def test_passes_of_new_points_cost_what_a_run_with_them_says(self):
        fresh = json.loads(run(MISSION + ["--passes", "2", "--gdb", "off", "--http", "off", "--c1", "instructions", "--json"], cwd=PROFEXAM).stdout)
        p, where, record = self.serve_running(["--c1", "instructions", "--start", "main+8", "--stop", "BuildList", "--passes", "100"])
        r = Follower(where)
        self.wait_for_status(where, lambda s: s["events"] > 10)
        self.change(where, do="points", stop=["0x0C010030"])
        self.change(where, do="clear")
        # the start point stays, and so does the pass that may be under way: from its end on they are whole
        self.more(where, 30000)
        self.finish(p, interrupt=True)
        d = self.check(r, record)
        each = {f["name"]: f["c1"] / f["hits"] for f in fresh["functions"] if f["hits"]}
        found = {f["name"]: f for f in d["functions"] if f["hits"]}
        self.assertLessEqual(set(found), set(each))
        self.assertLess(abs(found["MallocNode"]["c1"] - each["MallocNode"] * found["MallocNode"]["hits"]), each["MallocNode"])

    def test_names_and_places_are_refused_in_words(self):
        p, where, record = self.serve_running([])
        r = Follower(where)
        for body, codes, what in (({"start": "nowhere"}, (404,), "nowhere"), ({"stop": ["main", "nowhere"]}, (404,), "nowhere"), ({}, (400,), "name a start point"),
                                  ({"start": ["main", "BuildList"]}, (400,), "more than 1 point"), ({"start": "0x0C01002E"}, (400,), "delay slot"),
                                  ({"stop": "0x0D000000"}, (400,), "control flow")):
            code, answer = command(where, do="points", **body)
            self.assertIn(code, codes, answer)
            self.assertIn(what, answer["error"]["what"])
            self.assertTrue(answer["error"]["hint"])
        self.more(where)
        self.finish(p, interrupt=True)
        d = self.check(r, record)
        self.assertGreater(hits(d)["MallocNode"], 0)
        self.assertEqual(len(r.epochs), 1)


class Beside(ChangeFolder):
    """What else may happen at that moment."""

    def bridged(self, args, folder, probe):
        """With a GDB's port, too."""
        record = self.path("run.rec")
        p = start(args + ["--gdb", "0", "--http", "0", "--record", record, "--json"], cwd=folder, probe=probe)
        for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        gdb = re.search(r"target remote (\S+)", self.wait_for(p, "target remote")).group(1)
        where = int(re.search(r"localhost:(\d+)/", self.wait_for(p, "feed: ")).group(1))
        self.wait_for(p, "profiling")
        return p, gdb, where, record

    def test_gdb_says_it(self):
        for folder, probe, function in BOARDS:
            with self.subTest(probe=probe):
                p, gdb, where, record = self.bridged([], folder, probe)
                monitor = Monitor(gdb)
                begin, stops = POINTS[probe]
                c1, c2 = COUNTERS[probe]
                self.more(where)
                self.assertIn("all is profiled", monitor.say("profile points"))
                self.assertIn(f"counter 1 counts {c1}, counter 2 {c2}", monitor.say(f"profile counters {c1} {c2}"))
                text = monitor.say(f"profile points add start {begin}")
                self.assertRegex(text, r"start 0x[0-9a-f]{8} " + begin.split("+")[0])
                text = monitor.say(f"profile points add stop {stops[0]}")
                self.assertRegex(text, r"(?s)start 0x.*\nstop  0x[0-9a-f]{8} ")
                self.assertEqual(monitor.say("profile points list"), text)
                self.assertIn("nowhere", monitor.say("profile points add stop nowhere"))
                self.assertIn("no point at", monitor.say("profile points remove " + function))
                self.assertIn("cannot make sense", monitor.say("profile points frobnicate"))
                self.more(where)
                self.assertNotIn("stop ", monitor.say(f"profile points remove {stops[0]}"))
                self.assertIn("all is profiled", monitor.say("profile points clear"))
                self.more(where)
                monitor.detach()
                self.wait_for_status(where, lambda s: s["gdb_sessions"] == 0)  # or the bridge stays
                p.send_signal(signal.SIGINT)
                out, err = p.communicate(timeout=TIMEOUT)
                self.assertEqual(p.returncode, 0, err)
                d = json.loads(out)
                self.assertEqual(d, json.loads(run(["report", record, "--json"], cwd=folder).stdout))
                self.assertEqual([c["name"] for c in d["counters"]], [c1, c2])
                self.assertGreater(hits(d)[function], 0)

    def test_adapter_is_pulled_meanwhile(self):
        for at in (200, 237):
            p, where, record = self.serve_running(["--for", "500ms"], probe=f"sim:sh7750,fault=unplug@{at}ms+100ms")
            r = Follower(where)
            events, codes = ["instructions", "elapsed-time"], set()
            while p.poll() is None:
                try:
                    code, answer = command(where, do="counters", c1=events[0], c2=events[1])
                except OSError:
                    break  # it ends
                codes.add(code)
                self.assertIn(code, (200, 409), answer)
                events.reverse()
            self.finish(p)
            d = self.check(r, record)
            check_identities(self, d)
            self.assertIn(200, codes)
            self.assertEqual(r.state["adapter"]["gaps"], 1)

    def test_ctrl_c_meanwhile(self):
        for folder, probe, _ in BOARDS:
            p, where, record = self.serve_running([], cwd=folder, probe=probe)
            r = Follower(where)
            self.more(where)
            body = json.dumps({"do": "counters", "c1": COUNTERS[probe][0], "c2": COUNTERS[probe][1]})
            t = threading.Thread(target=lambda: self.quietly(where, body))
            t.start()
            self.finish(p, interrupt=True)
            t.join()
            d = json.loads(run(["report", record, "--json"], cwd=folder).stdout)
            self.assertEqual(len(d["counters"]), 2)

    @staticmethod
    def quietly(where, body):
        try:
            ask(where, "/api/1/control", "POST", body)
        except OSError:
            pass


if __name__ == "__main__":
    main()
