"""A reader of the feed's frames, and a comparison of what it has with a report: to the last digit."""
import json
import socket
import threading
import time

DOUBTFUL = 1


def connect(where):
    """where: port, or path of a socket."""
    if isinstance(where, int):
        return socket.create_connection(("127.0.0.1", where), timeout=600)
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(600)
    s.connect(where)
    return s


def ask(where, path, method="GET", body=None, headers=()):
    """(status, headers, body as bytes) of one exchange."""
    with connect(where) as s:
        text = f"{method} {path} HTTP/1.1\r\nHost: localhost:{where if isinstance(where, int) else 1}\r\nConnection: close\r\n"
        if body is not None:
            text += f"Content-Type: application/json\r\nX-Probeprof: 1\r\nContent-Length: {len(body)}\r\n"
        s.sendall((text + "".join(h + "\r\n" for h in headers) + "\r\n" + (body or "")).encode())
        got = b""
        while True:
            more = s.recv(65536)
            if not more:
                break
            got += more
    head, _, rest = got.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    return int(lines[0].split()[1]), dict(line.split(": ", 1) for line in lines[1:]), rest


def command(where, **body):
    status, _, answer = ask(where, "/api/1/control", "POST", json.dumps(body))
    return status, json.loads(answer)


def status_of(where):
    return json.loads(ask(where, "/api/1/status")[2])


def wait_until_paused(where):
    """Until a `stop` is done, and what came behind its answer is counted."""
    before, until = None, time.monotonic() + 600
    while True:
        s = status_of(where)
        now = s["events"] if s["phase"] == "paused" and not s["queue_fill"] and not s["ring_fill"] else None
        if now is not None and now == before:
            return
        assert time.monotonic() < until, s
        before = now
        time.sleep(1)


CUTS = 8


class Follower:
    """Follows until the end; cut: it hangs up after each so many frames, CUTS times, and resumes."""

    def __init__(self, where, interval=20, view="functions,nodes,log", cut=0):
        self.where, self.query, self.cut = where, f"interval={interval}&view={view}&nodes=65536", cut
        self.names, self.functions, self.nodes, self.handlers, self.state = {}, {}, {}, {}, {}
        self.log, self.position, self.bye, self.frames, self.epochs, self.resumed = {}, None, None, 0, [], 0
        self.totals, self.failure, self.hello = None, None, None
        self.started = threading.Event()
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        try:
            while not self.bye:
                self.connection()
        except Exception as e:  # the test's thread shows it
            self.failure = e
        self.started.set()

    def connection(self):
        since = f"&since={self.position[0]}-{self.position[1]:x}" if self.position else ""
        with connect(self.where) as s:
            s.sendall(f"GET /api/1/feed.ndjson?{self.query}{since} HTTP/1.0\r\nHost: localhost:{self.where if isinstance(self.where, int) else 1}\r\n\r\n".encode())
            stream = s.makefile("rb")
            assert b" 200 " in stream.readline()
            while stream.readline().strip():
                pass
            here = 0
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                self.take(json.loads(line))
                here += 1
                if self.cut and here > self.cut and self.resumed < CUTS:
                    self.resumed += 1
                    return
            assert self.bye, "the stream ended without a goodbye"

    def take(self, f):
        kind = f["frame"]
        if kind == "bye":
            self.bye = f
        if kind == "hello":
            self.hello = f
        if kind not in ("snap", "delta"):
            return
        if kind == "snap":
            self.names, self.functions, self.nodes, self.handlers = {}, {}, {}, {}
            self.epochs.append(f["epoch"])
            self.position = (f["epoch"], f["s"])
        else:
            assert f["from"] <= self.position[1], "a hole"
            self.position = (self.position[0], f["s"])
        self.frames += 1
        self.rows(f)
        self.started.set()

    def rows(self, f):
        self.totals = f.get("tot", self.totals)
        for n in f.get("names", []):
            self.names[n[0]] = n
        for row in f.get("f", []):
            self.functions[row[0]] = [number(v) for v in row[:11]] + row[11:]
        for row in f.get("h", []):
            self.handlers[row[0]] = [int(v) for v in row]
        for i in f.get("gone", []):
            self.nodes.pop(i, None)
        for row in f.get("n", []):
            whole = len(row) > 7
            parent, function = (row[1], row[2]) if whole else self.nodes[row[0]][:2]
            self.nodes[row[0]] = [parent, function] + [number(v) for v in row[3 if whole else 1:]]
        self.state.update(f.get("st", {}))
        for entry in f.get("log", []):
            self.log[entry[0]] = entry

    def end(self):
        self.thread.join(600)
        if self.failure:
            raise self.failure
        assert self.bye
        return self

    # ---- the same as a report has it ----

    def function_key(self, i):
        n = self.names[i]
        return (n[1], int(n[4]), int(n[5]), n[2])

    def function_rows(self):
        return {self.function_key(i): [bool(r[10] & DOUBTFUL)] + r[1:6] for i, r in self.functions.items() if any(r[1:6])}

    def spreads(self):
        return {self.function_key(i): r[8:10] for i, r in self.functions.items() if any(r[1:6])}

    def halves(self):
        """Of the shares of hits and of counter 1, +- what losses may have changed; none where nothing was lost."""
        return {self.function_key(i): r[11:13] or [None, None] for i, r in self.functions.items() if any(r[1:6])}

    def path(self, i):
        parent, function = self.nodes[i][:2]
        return (() if parent is None else self.path(parent)) + (self.function_key(function),)

    def tree_rows(self):
        return summed((self.path(i), [bool(r[7] & DOUBTFUL)] + r[2:7]) for i, r in self.nodes.items())

    def handler_rows(self):
        return sorted((self.function_key(r[1]), r[2], bool(r[3]), r[4], r[5], r[6] or None, (r[7] if r[6] else None) or None)
                      for r in self.handlers.values() if r[4])


def number(v):
    """A count, which is text above 2^53; null is not known."""
    return v if v is None else int(v)


def summed(rows):
    """Paths of the same functions may be several nodes, as after an interrupt; their sums are compared."""
    out = {}
    for key, values in rows:
        if any(values[1:]):
            old = out.get(key)
            out[key] = values if old is None else [old[0] or values[0]] + [a if b is None else a + b for a, b in zip(old[1:], values[1:])]
    return out


COUNTS = ("hits", "c1", "c1_children", "c2", "c2_children")


def report_functions(d):
    return {(f["name"], f["low"], f["high"], f["file"]): [f["doubtful"]] + [f[k] for k in COUNTS]
            for f in d["functions"] if any(f[k] for k in COUNTS)}


def report_tree(d):
    key = [(f["name"], f["low"], f["high"], f["file"]) for f in d["functions"]]
    tree = {n["id"]: n for n in d["tree"]}

    def path(n):
        return (() if n["parent"] is None else path(tree[n["parent"]])) + (key[n["function"]],)
    return summed((path(n), [n["doubtful"]] + [n[k] for k in COUNTS]) for n in d["tree"])


def report_handlers(d):
    key = [(f["name"], f["low"], f["high"], f["file"]) for f in d["functions"]]
    return sorted((key[h["function"]], h["vector"], h["kind"] == "exception", h["count"], h["c1"], h["longest_c1"], h["shortest_c1"])
                  for h in d.get("handlers", []) if h["count"])


def compare(case, reader, d):
    """Everything that both have."""
    case.assertEqual(reader.function_rows(), report_functions(d))
    case.assertEqual(reader.tree_rows(), report_tree(d))
    case.assertEqual(reader.handler_rows(), report_handlers(d))
    case.assertEqual([number(v) for v in reader.totals], [d["totals"][k] for k in ("hits", "c1", "c2")])
    seen = reader.state["coverage"]
    for k in ("events", "lost", "lost_is_bound", "lost_c1", "gaps", "doubtful", "blind_events", "blind_c1"):
        case.assertEqual(seen.get(k), d["coverage"][k], k)  # what is not known is null there, and absent here
    for f in d["functions"]:
        if f.get("c1_spread") is not None and any(f[k] for k in COUNTS):
            spread = reader.spreads()[(f["name"], f["low"], f["high"], f["file"])]
            case.assertEqual(spread, [f["c1_spread"], f["c1_children_spread"]], f["name"])
    halves = reader.halves()
    for f in d["functions"]:
        if any(f[k] for k in COUNTS):
            for got, k in zip(halves[(f["name"], f["low"], f["high"], f["file"])], ("hits_share_half", "c1_share_half")):
                case.assertEqual(got is None, f.get(k) is None, (f["name"], k))
                case.assertAlmostEqual(got or 0, f.get(k) or 0, 9, (f["name"], k))
