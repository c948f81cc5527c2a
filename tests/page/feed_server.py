#!/usr/bin/env python3
"""A feed that does what a test wants: frames of docs/feed.md with thousands of rows, with hostile names, with figures beyond 2^53; that ends, refuses, cuts,
clears, loses. For what the real one does only when something is wrong, and for measuring the page. Everything else is tested on probeprof itself.

usage: feed_server.py PORT PAGE_DIR [FUNCTIONS PATHS]     serves until it is ended
"""
import http.server
import json
import os
import random
import socketserver
import sys
import threading
import time
import urllib.parse

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
CSP = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; "
       "form-action 'none'; frame-ancestors 'none'")
HOSTILE = ['<img src=x onerror="window.hacked=1">', "</script><script>window.hacked=2</script>", "a\x1b[31mred\u202eevil\u200b", "javascript:alert(1)",
           "{{7*7}}${7*7}", "std::map<std::string, std::vector<std::pair<int, char const*>>>::_M_insert_" + "x" * 300]


def text(x):
    return x if abs(x) < 2 ** 53 else str(x)


class Feed:
    """The state, and what is to happen to readers."""

    def __init__(self, functions=40, paths=160, seed=4):
        rnd = self.rnd = random.Random(seed)
        self.lock = threading.Lock()
        self.names = (["main", "BuildList", "GetLastNode", "GetNewNode", "MallocNode", "InsertNode", "Initialise"] + HOSTILE)[:functions]
        self.names += [f"{rnd.choice(['draw', 'parse', 'audio', 'net', 'gfx', 'math'])}_{i}" for i in range(functions - len(self.names))]
        self.parent = [None, 0, 1, 1, 3] + [None if i in (60, 61) else rnd.randrange(0, i) for i in range(5, paths)]
        self.fn = [0, 1, 2, 3, 4] + [i % functions if i < functions else rnd.randrange(functions) for i in range(5, paths)]
        self.flags = [{60: 8, 61: 2}.get(i, 1 if i % 7 == 3 else 0) for i in range(paths)]
        self.values = [[0, 0, 0] for _ in range(paths)]
        self.new_epoch()
        self.log, self.marks, self.points = [], {}, []
        self.lost, self.events, self.big = 0, 0, 0
        self.away = ""           # why the board is
        self.refuse = None       # (status, error) for streams
        self.end = None          # (reason, hint): bye
        self.drop = False        # streams are ended without a word
        self.cut = None          # why earlier ones were, in each hello
        self.readers = 0
        self.streams = 0         # opened so far
        self.asked = []          # queries of streams
        self.commands = []       # bodies of POST
        self.function = None     # what is told of each function; else there is none
        self.hold = threading.Event()  # cleared: a mark is not set, nor read, before it is set again
        self.hold.set()
        self.callers_since = []  # of it, where a request names a mark
        self.note("note", "", "profiling, 17 places traced, 4 not")

    def new_epoch(self):
        self.epoch, self.seq = f"{self.rnd.getrandbits(64):016x}", 1
        for v in self.values:
            v[:] = [0, 0, 0]

    def note(self, kind, cause, what, amount=0):
        self.log.append([len(self.log), int(time.time() * 1000), kind, cause or None, what, amount, 0, 1, 0, 0])

    def hits(self):
        with self.lock:
            return sum(v[0] for v in self.values)

    def lose(self, n):
        with self.lock:
            self.lost += n
            self.note("gap", "ring-full", f"{n} events lost: the ring in the board was full", n)

    def clear(self):
        with self.lock:
            self.new_epoch()
            self.marks.clear()

    def tick(self):
        with self.lock:
            self.seq += 1
            for i, v in enumerate(self.values):
                hits = 1 + int(self.rnd.expovariate(1 / (1 + 400 / (i + 10))))
                v[0] += hits
                v[1] += hits * (100 + (i * 37) % 900) + self.big
                v[2] += hits % 3
                self.events += 2 * hits
            if self.seq % 10 == 0:
                self.points.append([len(self.points), int(time.time() * 1000), 1000, 9000 + self.seq % 700, 37 if self.lost and len(self.points) % 5 == 0 else 0, 10 ** 6, 70, 8 * 10 ** 6, 0.4, 0.01, 2.8, []])

    def rows(self):
        incl = [[v[1], v[2]] for v in self.values]
        for i in range(len(incl) - 1, -1, -1):
            if self.parent[i] is not None:
                incl[self.parent[i]][0] += incl[i][0]
                incl[self.parent[i]][1] += incl[i][1]
        f = {}
        for i, v in enumerate(self.values):
            row = f.setdefault(self.fn[i], [0] * 10)
            row[0], row[1], row[3], row[5] = row[0] + v[0], row[1] + v[1], row[3] + v[2], row[5] + 10
            row[6] += 2 if self.flags[i] & 1 else 0
            row[9] |= self.flags[i]
            at = self.parent[i]
            while at is not None and self.fn[at] != self.fn[i]:
                at = self.parent[at]
            if at is None:
                row[2], row[4] = row[2] + incl[i][0], row[4] + incl[i][1]
        n = [[v[0], text(v[1]), text(incl[i][0]), v[2], incl[i][1], self.flags[i]] for i, v in enumerate(self.values)]
        return [[k, *map(text, v)] for k, v in sorted(f.items())], n

    def frame(self, kind):
        with self.lock:
            f, n = self.rows()
            out = {"frame": kind, "s": self.seq, "e": self.events, "t": self.seq * 10 ** 8, "w": int(time.time() * 1000), "i": 100, "tot": [text(sum(v[k] for v in self.values)) for k in range(3)],
                   "f": f, "st": {"coverage": {"events": self.events, "lost": self.lost, "lost_is_bound": False, "gaps": 1 if self.lost else 0, "doubtful": 12, "ratio": self.events / max(1, self.events + self.lost)},
                                  "profile": {"type": "trace", "active": True, "passes": 3}, "marks": {"marks": [{"name": m} for m in self.marks]},
                                  "target": {"name": "sh7750", "state": "away" if self.away else "running", **({"why": self.away} if self.away else {})}, "adapter": {"name": "sim:sh7750"}, "gdb": {"sessions": 0}, "run": {"slow_down": 2.8, "start": "main+0x8", "stop": ["BuildList", "GetLastNode+0x4"], "stops": 2}},
                   "log": self.log, "series": {"1": self.points[-600:], "10": []}, "hid": 12, "merged": 0}
            if kind == "delta":
                out["n"] = [[i, *v] for i, v in enumerate(n)]
                out["log"] = self.log[-20:]
                out["series"]["1"] = self.points[-3:]
            else:
                out["epoch"], out["log_lost"] = self.epoch, 0
                out["names"] = [[i, name, f"src/{i}.c", i * 3, 0x0C010000 + i * 64, 0x0C010040 + i * 64, 0, None, None, i, 0] for i, name in enumerate(self.names)]
                out["n"] = [[i, self.parent[i], self.fn[i], *v] for i, v in enumerate(n)]
            return out

    def hello(self):
        return {"frame": "hello", "v": "probeprof.feed/1", "epoch": self.epoch, "seq": self.seq, "version": "test", "target": "sh7750", "probe": "sim:sh7750", "elf": "profexam.elf", "build_id": "2d40",
                "counters": [["elapsed-time", "cycles"], ["icache-miss", "count"]], "type": "trace", "interval_ms": 100, "cut": self.cut}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    feed, page = None, ""

    def log_message(self, *_):
        pass

    def head(self, status, kind, size=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Security-Policy", CSP)
        if size is None:
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(size))
        self.end_headers()

    def answer(self, status, what):
        data = json.dumps(what).encode()
        self.head(status, "application/json", len(data))
        self.wfile.write(data)

    def event(self, what):
        self.wfile.write(f"id: {self.feed.epoch}-{self.feed.seq:x}\ndata: {json.dumps(what)}\n\n".encode())
        self.wfile.flush()

    def do_GET(self):
        path, _, query = self.path.partition("?")
        file = os.path.join(self.page, "index.html" if path == "/" else path.removeprefix("/assets/"))
        if path == "/api/1/events":
            self.stream(query)
        elif path == "/api/1/snapshot":
            self.answer(200, self.feed.marks[urllib.parse.unquote(query.split("mark=")[1])] if "mark=" in query else self.feed.frame("snap"))
        elif path.startswith("/api/1/function/") and self.feed.function:
            since = urllib.parse.unquote(query.removeprefix("mark=")) or None
            self.answer(200, {**self.feed.function, "since": since, "callers": self.feed.callers_since} if since else self.feed.function)
        elif path == "/profile.json":
            self.answer(200, {"coverage": {"untraced": [{"address": 201392130, "kind": "jump", "cause": "blocked", "function": "entry", "by": None, "bytes": None}], "untraced_hits": 0}, "totals": {"hits": 1}})
        elif os.path.isfile(file):
            with open(file, "rb") as f:
                data = f.read()
            self.head(200, TYPES.get(os.path.splitext(file)[1], "text/plain"), len(data))
            self.wfile.write(data)
        else:
            self.answer(404, {"error": {"code": "not-found", "what": "there is no such page", "hint": "/ is the page"}})

    def stream(self, query):
        feed = self.feed
        feed.streams += 1
        feed.asked.append(query)
        if feed.refuse:
            status, error = feed.refuse
            self.answer(status, {"error": error})
            return
        if feed.drop:  # a server that is going still accepts for a while: who comes then is not to be connected for a moment
            self.close_connection = True
            return
        self.head(200, "text/event-stream")
        feed.readers += 1
        try:
            epoch = feed.epoch
            self.event(feed.hello())
            self.event(feed.frame("snap"))
            wait = 1.0 if "interval=1000" in query else 0.1
            while not feed.drop and not feed.end:
                time.sleep(wait)
                if feed.epoch != epoch:
                    epoch = feed.epoch
                    self.event(feed.hello())
                    self.event(feed.frame("snap"))
                self.event(feed.frame("delta"))
            if feed.end:
                self.event({"frame": "bye", "reason": feed.end[0], "hint": feed.end[1], "seq": feed.seq})
        except OSError:
            pass
        finally:
            feed.readers -= 1

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.feed.commands.append(body)
        if self.headers["X-Probeprof"] != "1" or self.headers["Content-Type"] != "application/json":
            self.answer(403, {"error": {"code": "header", "what": "no", "hint": ""}})
        elif body["do"] == "mark":
            self.feed.hold.wait()
            mark = self.feed.frame("snap")
            with self.feed.lock:
                self.feed.marks[body["name"]] = mark
                self.feed.note("mark", "", f"mark {body['name']}")
            self.answer(200, {"seq": self.feed.seq})
        elif body["do"] == "clear":
            self.feed.clear()
            self.answer(200, {"seq": 1})
        else:
            self.answer(409, {"error": {"code": "conflict", "what": f"{body['do']} is not possible now", "hint": "end the recording first"}})


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads, allow_reuse_address, request_queue_size = True, True, 64


def serve(port, page, feed):
    """The server, running in a thread; its feed goes on ten times a second."""
    handler = type("FeedHandler", (Handler,), {"feed": feed, "page": page})
    server = Server(("127.0.0.1", port), handler)

    def go_on():
        while not server.stopped:
            feed.tick()
            time.sleep(0.1)
    server.stopped = False
    feed.tick()
    for run in (server.serve_forever, go_on):
        threading.Thread(target=run, daemon=True).start()
    return server


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2], Feed(*map(int, sys.argv[3:5])))
    while True:
        time.sleep(1000)
