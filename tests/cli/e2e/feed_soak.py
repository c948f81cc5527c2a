#!/usr/bin/env python3
"""A short soak of the live feed: readers of all kinds come and go, the adapter is pulled and comes back, a page is open.

usage: feed_soak.py PROBEPROF SOURCE_DIR [unittest arguments]

The board's own time says how long it takes: 12 s, about a minute of a busy machine's, or as many as SOAK_BOARD_S in the
environment says. Once its adapter is away, well before the end: a run that ends while it is away fails for that. Looked at
are memory and descriptors, that every reader who stayed has to the last digit what the recording's report says, and that
the history's points add up to what happened. Where Debian's Chromium is there the page is open in it, else a reader stands
in that asks for what the page does.
"""
import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "page"))
try:
    import rig  # begins anew with Debian's Python where selenium is its; exits where there is none
except SystemExit:
    rig = None
from common import Folder, PROFEXAM, TIMEOUT, hits, main, run, start
from follower import Follower, ask, command, compare, connect, status_of

BOARD_S = int(os.environ.get("SOAK_BOARD_S", "12"))
GROWTH_KB = 10 << 10  # from a third of the run on: what is filled once is filled by then
# a sanitizer keeps what was freed; kept short, so that what is not freed shows
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
CHURNERS = 4


class Churn(threading.Thread):
    """Readers, one after another: well-behaved ones, ones that never read, ones that go in the middle of a line."""

    def __init__(self, where, seed, over):
        super().__init__(daemon=True)
        self.where, self.over, self.rng = where, over, random.Random(seed)
        self.done, self.failure = {}, None
        self.start()

    def run(self):
        kinds = [self.follow, self.never_read, self.poll_document, self.ask_states, self.look_back, self.mark]
        try:
            while not self.over.is_set():
                kind = self.rng.choice(kinds)
                kind()
                self.done[kind.__name__] = self.done.get(kind.__name__, 0) + 1
                self.over.wait(self.rng.uniform(0.05, 0.4))
        except Exception as e:  # the test's thread shows it
            self.failure = e

    def stream(self, path):
        s = connect(self.where)
        s.sendall(f"GET {path} HTTP/1.0\r\nHost: localhost:{self.where}\r\n\r\n".encode())
        return s

    def follow(self):
        sse = self.rng.random() < 0.5
        view = self.rng.choice(["functions", "functions,nodes,log", "functions,nodes,log,series"])
        with self.stream(f"/api/1/{'events' if sse else 'feed.ndjson'}?interval={self.rng.choice([5, 20, 100])}&view={view}") as s:
            for _ in range(self.rng.randrange(1, 40)):
                if not s.recv(self.rng.choice([10, 1000, 65536])) or self.over.is_set():
                    break

    def never_read(self):
        with self.stream("/api/1/events?interval=5&nodes=65536"):
            self.over.wait(self.rng.uniform(0.1, 1))

    def get(self, path, headers=()):
        status, head, body = ask(self.where, path, headers=headers)
        assert status in (200, 409, 503), (path, status, body)
        assert status == 200 or json.loads(body)["error"]["hint"], body
        return status, gzip.decompress(body) if head.get("Content-Encoding") == "gzip" else body

    def poll_document(self):
        status, body = self.get("/profile.json", ["Accept-Encoding: gzip"] if self.rng.random() < 0.5 else [])
        assert status != 200 or json.loads(body)["schema"] == "probeprof.profile/1"

    def ask_states(self):
        for path in ("/api/1/snapshot?view=functions,nodes,log,series", "/api/1/status", "/api/1/readers", "/api/1/log", "/metrics"):
            self.get(path)

    def look_back(self):
        status, body = self.get("/api/1/range")
        for row in json.loads(body)["f"][:1] if status == 200 else []:
            self.get("/api/1/function/%d" % row[0])
        self.get("/api/1/timeline?px=200")

    def mark(self):
        name = f"m{self.rng.randrange(12)}"  # more than there may be
        assert command(self.where, do="mark", name=name)[0] in (200, 409)
        assert command(self.where, do="unmark", name=f"m{self.rng.randrange(12)}")[0] in (200, 404)


class Page:
    """Chromium with the page, whose figures are looked at."""

    def __init__(self, port):
        self.browser = rig.browser()
        self.browser.get(f"http://localhost:{port}/")
        rig.until("the page has rows", self.hits)

    @staticmethod
    def is_possible():
        return rig and shutil.which("chromium") and shutil.which("chromedriver")

    def hits(self):
        return {rig.name_of(r): int(r["hits"]) for r in rig.rows(self.browser, "Functions") if r.get("hits", "0") != "0"}

    def end(self, profile):
        rig.until("the page has the profile's figures", lambda: self.hits() == hits(profile()))
        failures = rig.severe(self.browser)
        self.browser.quit()
        return failures


class Process:
    """What the system says of one."""

    def __init__(self, pid):
        self.pid = pid

    def resident_kb(self):
        """Without mappings of 8 MB and more: boards' memories and rings, whose pages count when they are first touched."""
        total, size = 0, 0
        with open(f"/proc/{self.pid}/smaps", encoding="utf-8") as f:
            for line in f:
                m = re.match(r"([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ (\d+)", line)
                if m:
                    size = int(m.group(2), 16) - int(m.group(1), 16) if m.group(3) == "0" and "[heap]" not in line else 0
                elif line.startswith("Rss:"):
                    total += int(line.split()[1]) if size < 8 << 20 else 0
        return total

    def descriptors(self):
        """(sockets, others)"""
        sockets = others = 0
        for fd in os.listdir(f"/proc/{self.pid}/fd"):
            try:
                is_socket = os.readlink(f"/proc/{self.pid}/fd/{fd}").startswith("socket:")
            except FileNotFoundError:  # closed meanwhile
                continue
            sockets, others = sockets + is_socket, others + (not is_socket)
        return sockets, others


class Soak(Folder):
    def until(self, holds):
        self.wait_until(holds, self.process)

    def status(self):
        return status_of(self.where)

    def begin(self):
        self.record = self.path("soak.rec")
        self.process = start(["--gdb", "off", "--http", "0", "--record", self.record, "-q"], cwd=PROFEXAM,
                             probe="sim:sh7750,fault=unplug@5s+300ms", stdout=subprocess.DEVNULL)
        for f in (self.process.stderr.close, self.process.wait, self.process.kill):
            self.addCleanup(f)
        self.where = int(re.search(r"localhost:(\d+)/", self.wait_for(self.process, "feed: ")).group(1))
        self.system = Process(self.process.pid)
        self.listening = self.system.descriptors()[0]
        self.said = []
        threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True).start()  # so that it never waits for us
        self.until(lambda: self.status()["events"] > 1000)

    def board_seconds(self):
        return self.status()["board_seconds"]

    def check_history(self):
        """Points and ranges are of the same moments, and none is missing."""
        points = json.loads(ask(self.where, "/api/1/series")[2])["series"]["1"]
        middle, last = points[len(points) // 2][1], points[-1][1]  # more points come meanwhile
        parts = [json.loads(ask(self.where, "/api/1/range?" + p)[2]) for p in (f"to={middle}", f"from={middle}&to={last}", f"to={last}")]
        self.assertEqual(parts[0]["e"] + parts[1]["e"], parts[2]["e"])
        for k in range(3):
            self.assertEqual(int(parts[0]["tot"][k]) + int(parts[1]["tot"][k]), int(parts[2]["tot"][k]))
        self.assertEqual(int(parts[2]["tot"][1]), sum(int(p[5]) for p in points[parts[2]["first"] - points[0][0]:]))
        self.assertEqual([p[0] for p in points], list(range(points[0][0], points[0][0] + len(points))))

    def test_readers_come_and_go_and_the_adapter_too(self):
        self.begin()
        before, over = self.system.descriptors()[1], threading.Event()
        stay = [Follower(self.where, interval=100), Follower(self.where, interval=20, cut=40),
                Follower(self.where, interval=100, view="functions,nodes,log,series")]
        page = Page(self.where) if Page.is_possible() else None
        churn = [Churn(self.where, seed, over) for seed in range(CHURNERS)]
        self.until(lambda: self.board_seconds() > BOARD_S / 3)
        resident = self.system.resident_kb()
        self.until(lambda: self.board_seconds() > BOARD_S and self.status()["gaps"] == 1)
        growth = self.system.resident_kb() - resident
        over.set()
        for c in churn:
            c.join(TIMEOUT)
            self.assertIsNone(c.failure, c.failure)
        print("readers:", {k: sum(c.done.get(k, 0) for c in churn) for k in churn[0].done}, f"growth {growth} KB", flush=True)
        self.assertLess(growth, GROWTH_KB)
        status, answer = command(self.where, do="stop")
        self.assertEqual(status, 200, answer)
        self.check_history()
        if page:
            self.assertEqual(page.end(lambda: json.loads(ask(self.where, "/profile.json")[2])), [])
        self.until(lambda: self.system.descriptors() == (self.listening + len(stay), before))
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(TIMEOUT), 0, "".join(self.said[-8:]))
        document = json.loads(run(["report", self.record, "--json"], cwd=PROFEXAM).stdout)
        for r in stay:
            compare(self, r.end(), document)
            self.assertEqual(len(r.epochs), 1)
        self.assertEqual(document["coverage"]["gaps"], 1)


if __name__ == "__main__":
    main()
