#!/usr/bin/env python3
"""`probeprof top` against a server that speaks as the feed does, and against others.

usage: top.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

from common import Folder, PROBEPROF, PROFEXAM, TIMEOUT, main, start

EPOCH = "00000000000000aa"
HEAD = b"HTTP/1.0 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n"


def frames(first=1, n=2):
    """A hello, and states: main, and one function whose name is an attack."""
    yield {"frame": "hello", "v": "probeprof.feed/1", "epoch": EPOCH, "seq": first, "target": "sh7750", "probe": "sim:sh7750", "elf": "/x/game.elf",
           "type": "trace", "cut": None}
    for k in range(first, first + n):
        body = {"s": k, "e": 100 * k, "t": k, "w": 1000000 + 1000 * k, "i": 1000, "tot": [10 * k, 1000 * k, 0],
                "f": [[0, k, 100 * k, 1000 * k, 0, 0, k, 0, 0, 0, 0], [1, 9 * k, 900 * k, 900 * k, 0, 0, k, 0, 0, 0, 0]]}
        if k == 1:
            names = [[0, "main", "main.c", 7, 4096, 4160, 1, None, "main", None, 0],
                     [1, "\x1b[31mevil\x07", None, 0, 4160, 4224, 1, None, "e", None, 0]]
            nodes = [[0, None, 0, 1, 100, 1000, 0, 0, 0], [1, 0, 1, 9, 900, 900, 0, 0, 0]]
            yield {"frame": "snap", "epoch": EPOCH, "log_lost": 0, "names": names, "n": nodes, "hid": 0,
                   "st": {"coverage": {"events": 100, "lost": 0, "ratio": 1}, "target": {"state": "running"}}, **body}
        else:
            yield {"frame": "delta", "from": k - 1, "merged": 0, **body}


def stream(*args):
    return b"".join(json.dumps(f, separators=(",", ":")).encode() + b"\n" for f in frames(*args))


class Server:
    """Answers each connection with the next of the given bytes, then closes it, or holds it open after the last."""

    def __init__(self, where, answers, hold=False):
        self.socket = socket.socket(socket.AF_UNIX if where else socket.AF_INET)
        self.socket.bind(where or ("127.0.0.1", 0))
        self.socket.listen()
        self.where = where or ":%d" % self.socket.getsockname()[1]
        self.answers, self.hold, self.requests, self.open = answers, hold, [], []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        for i, answer in enumerate(self.answers):
            c = self.socket.accept()[0]
            request = b""
            while b"\r\n\r\n" not in request and (more := c.recv(4096)):
                request += more
            self.requests.append(request.decode())
            for k in range(0, len(answer), 700):  # as packets fall
                c.sendall(answer[k:k + 700])
            if self.hold and i == len(self.answers) - 1:
                self.open.append(c)
            else:
                c.close()

    def close(self):
        for s in (self.socket, *self.open):
            s.close()


class Top(Folder):
    def serve(self, answers, where=None, hold=False):
        server = Server(where, answers, hold)
        self.addCleanup(server.close)
        return server

    def top(self, *args, status=0):
        p = subprocess.run([PROBEPROF, "top", *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT, cwd=self.dir)
        self.assertEqual(p.returncode, status, p.stdout + p.stderr)
        return p.stdout, p.stderr


class Lines(Top):
    def test_tables_where_there_is_no_terminal(self):
        server = self.serve([HEAD + stream(1, 2)], hold=True)
        out = self.top(server.where, "-n", "2", "--interval", "250ms")[0]
        first, second = out.split("\n\n")
        self.assertRegex(first, r"total, by C1 .*hits 10 +C1 1000")
        self.assertRegex(first, r" 9 +90\.0 +900 +90\.0 .*\?\[31mevil\?")
        self.assertRegex(second, r"per second, by C1")
        self.assertRegex(second, r" 9 +90\.0 +900 +90\.0 .*\?\[31mevil\?")
        self.assertNotIn("\x1b", out)
        self.assertRegex(server.requests[0], r"\AGET /api/1/feed\.ndjson\?view=functions,nodes,log&interval=250&nodes=1024&reader=[0-9a-f]{16} HTTP/1\.0\r\n"
                                             r"Host: 127\.0\.0\.1:\d+\r\n\r\n\Z")

    def test_a_socket_and_a_cut_in_the_middle_of_a_line(self):
        """What comes next is asked for from the last whole frame on."""
        path = os.path.join(self.dir, "feed.sock")
        rest = b"".join(json.dumps(f).encode() + b"\n" for f in list(frames(1, 4)) if f.get("s") != 1)
        server = self.serve([HEAD + stream(1, 2)[:-40], HEAD + rest], path, hold=True)
        out = self.top(path, "-n", "4", "--json")[0]
        self.assertEqual([json.loads(line).get("s") for line in out.splitlines()], [None, 1, None, 2, 3, 4])
        self.assertNotIn("since=", server.requests[0])
        self.assertIn("&since=%s-1 HTTP" % EPOCH, server.requests[1])
        self.assertIn("\r\nHost: localhost:", server.requests[0])

    def test_json_is_passed_on_as_it_came(self):
        server = self.serve([HEAD + stream(1, 3)], hold=True)
        self.assertEqual(self.top(server.where, "--json", "-n", "3")[0].encode(), stream(1, 3))

    def test_a_token_is_sent(self):
        with open(os.path.join(self.dir, "token"), "w", encoding="ascii") as f:
            f.write("c2VjcmV0\n")
        server = self.serve([HEAD + stream(1, 1)], hold=True)
        self.top(server.where, "-n", "1", "--token-file", "token")
        self.assertIn("\r\nAuthorization: Bearer c2VjcmV0\r\n", server.requests[0])

    def test_an_orderly_end(self):
        bye = json.dumps({"frame": "bye", "reason": "the run has ended", "hint": "", "seq": 2}).encode() + b"\n"
        server = self.serve([HEAD + stream(1, 2) + bye])
        self.assertIn("ended: the run has ended\n", self.top(server.where)[0])

    def test_what_is_no_feed_is_said(self):
        busy = json.dumps({"error": {"code": "busy", "what": "128 readers are there already", "hint": "close one"}}).encode()
        rows = [(b"HTTP/1.0 503 Service Unavailable\r\n\r\n" + busy, "128 readers are there already", "close one"),
                (HEAD + b'{"frame":"snap"}\n', "hello", None),
                (HEAD + b"{nonsense\n", "line 1, byte", None),
                (HEAD + json.dumps({"frame": "hello", "v": "probeprof.feed/9", "epoch": EPOCH}).encode() + b"\n", "probeprof.feed/9", "same version"),
                (b"+$OK#9a", "does not speak HTTP", None),
                (b"HTTP/1.0 404 Not Found\r\n\r\n<html>", "404", None)]
        for answer, what, hint in rows:
            with self.subTest(what):
                err = self.top(self.serve([answer]).where, status=1)[1]
                self.assertIn(what, err)
                self.assertIn(hint or "hint: ", err)

    def test_nobody_there(self):
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        where = ":%d" % s.getsockname()[1]
        self.assertIn("probeprof run", self.top(where, status=1)[1])
        s.close()
        self.assertIn("./no.sock: no connection: ", self.top("./no.sock", status=1)[1])
        for bad in ("ftp://x", ":0", ":99999"):
            self.assertIn("hint", self.top(bad, status=2)[1])


class Bridge(Top):
    def test_a_real_run(self):
        """By a socket: its table, its frames, its end; what was seen last is what the run says at its end."""
        path = os.path.join(self.dir, "feed.sock")
        p = start(["--load", "--gdb", "off", "--http", path, "--json"], cwd=PROFEXAM)
        for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        self.wait_for(p, "feed: socket")
        seen = subprocess.Popen([PROBEPROF, "top", path, "--json", "--interval", "50ms"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(seen.kill)
        lines = [seen.stdout.readline() for _ in range(4)]
        while not any(json.loads(lines[-1]).get("tot", [0])):
            lines.append(seen.stdout.readline())
        self.assertRegex(self.top(path, "-n", "1")[0], r"\Ash7750 +\w+, \w+")
        p.send_signal(signal.SIGINT)
        document = json.loads(p.communicate(timeout=TIMEOUT)[0])
        frames = [json.loads(line) for line in lines + seen.communicate(timeout=TIMEOUT)[0].splitlines()]
        self.assertEqual([f["frame"] for f in frames[:2]] + [frames[-1]["frame"]], ["hello", "snap", "bye"])
        names, rows, tot = {}, {}, None
        for f in frames[1:-1]:
            names.update((n[0], n[1]) for n in f.get("names", []))
            rows.update((r[0], r[1:6]) for r in f.get("f", []))
            tot = f.get("tot", tot)
        self.assertEqual({names[k]: v for k, v in rows.items()},
                         {f["name"]: [f[c] for c in ("hits", "c1", "c1_children", "c2", "c2_children")] for f in document["functions"]})
        self.assertEqual(tot, [document["totals"][c] for c in ("hits", "c1", "c2")])


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class Screen(Top):
    sessions = 0

    def tmux(self, *args):
        return subprocess.run(["tmux", "-f", "/dev/null", "-S", os.path.join(self.dir, "tmux%d" % self.sessions), *args], capture_output=True, text=True, timeout=TIMEOUT,
                              check=True, env=dict(os.environ, LC_ALL="C.UTF-8")).stdout

    def begin(self, where, columns=80, rows=24, **env):
        self.sessions += 1
        words = " ".join("%s=%s" % pair for pair in env.items())
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), "env %s %s top %s; echo left with $?; sleep 1000" % (words, PROBEPROF, where))
        self.addCleanup(subprocess.run, ["tmux", "-S", os.path.join(self.dir, "tmux%d" % self.sessions), "kill-server"], capture_output=True)

    def until(self, pattern, *args):
        end = time.monotonic() + 600
        while time.monotonic() < end:
            screen = self.tmux("capture-pane", "-p", *args)
            if re.search(pattern, screen, re.M):
                return screen
            time.sleep(0.05)
        self.fail("%s never came:\n%s" % (pattern, screen))

    def test_the_screen(self):
        server = self.serve([HEAD + stream(1, 3)], hold=True)
        self.begin(server.where)
        screen = self.until(r"per second, by C1")
        lines = screen.rstrip("\n").split("\n")
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertRegex(lines[0], r"^sh7750 +running +none lost +100 ev/s")
        self.assertRegex(lines[2], r"^F +hits/s +C1% +C1/s C1\+ch% +C2/s +\?% +function")
        self.assertRegex(lines[3], r" 90\.0 +900 +90\.0 .*\?\[31mevil\?")
        self.assertRegex(lines[23], r"^1help")
        self.tmux("send-keys", "t")
        self.assertRegex(self.until(r"call paths"), r"  - main *\n.*      \?\[31mevil")
        self.tmux("send-keys", "Left")
        self.assertNotIn("evil", self.until(r"  \+ main"))
        self.tmux("send-keys", "+")
        self.until(r"(?s)  - main.*evil")
        self.tmux("send-keys", "F2", "Down", "Space")
        self.until(r"^\[ \] \+ch%")
        self.tmux("send-keys", "Escape")
        self.until(r"^F +hits +C1% +C1 +C2 +\?% +function")
        self.tmux("send-keys", "t", "\\", "mai", "Enter")
        self.assertNotIn("evil", self.until(r'filter "mai"'))
        self.tmux("send-keys", "h")
        self.until(r"this help")
        self.tmux("send-keys", "q")
        self.until(r"left with 0")

    def test_another_size(self):
        server = self.serve([HEAD + stream(1, 3)], hold=True)
        self.begin(server.where, 120, 30)
        self.until(r"60 s +function")
        for columns, rows in ((60, 10), (44, 5), (132, 40)):
            self.tmux("resize-window", "-x", str(columns), "-y", str(rows))
            screen = self.until(r"\Ash7750[^\n]*\n(?:[^\n]*\n){%d}1help" % (rows - 2))
            self.assertRegex(screen, r"evil" if rows > 4 and columns >= 60 else r"sh7750")

    def test_colour_and_none(self):
        for env, colour in (({}, True), ({"NO_COLOR": "1"}, False)):
            with self.subTest(env):
                lost = stream(1, 3).replace(b'"lost":0', b'"lost":7')
                server = self.serve([HEAD + lost], hold=True)
                self.begin(server.where, **env)
                screen = self.until(r"LOST 7 events", "-e")
                self.assertEqual(bool(re.search(r"\x1b\[[0-9;]*3[0-7]m", screen)), colour)

    def test_ascii(self):
        server = self.serve([HEAD + stream(1, 3)], hold=True)
        self.begin(server.where, 120, 24, LC_ALL="C")
        self.assertTrue(self.until(r"60 s +function").isascii())

    def test_a_server_that_goes(self):
        server = self.serve([HEAD + stream(1, 2), HEAD + stream(1, 3)], hold=True)
        self.begin(server.where)
        self.until(r"no connection")
        self.until(r"per second")
        self.tmux("send-keys", "C-c")
        self.until(r"left with 0")

    def test_in_the_run_itself(self):
        """Its screen, then its result."""
        path = os.path.join(self.dir, "feed.sock")
        self.sessions += 1
        self.tmux("new-session", "-d", "-x", "100", "-y", "30", "cd %s; PROBEPROF_PROBE=sim:sh7750 %s --load --gdb off --http %s --top; echo left with $?; sleep 1000"
                  % (PROFEXAM, PROBEPROF, path))
        self.addCleanup(subprocess.run, ["tmux", "-S", os.path.join(self.dir, "tmux%d" % self.sessions), "kill-server"], capture_output=True)
        screen = self.until(r"(?s)per second, by C1.*GetLastNode")
        self.assertRegex(screen, r"\Ash7750 +running, profiling")
        self.tmux("send-keys", "q")
        self.assertRegex(self.until(r"left with 0"), r"(?s)GetLastNode.*events")

    def test_a_terminal_that_cannot(self):
        server = self.serve([HEAD + stream(1, 1)], hold=True)
        self.begin(server.where, TERM="dumb")
        self.until(r"cannot place text")


if __name__ == "__main__":
    main()
