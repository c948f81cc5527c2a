"""What the end-to-end tests of the probeprof program have in common: it is started as users do, on simulated boards, with real files and sockets.

Each file beside this one is a program of its own: NAME.py PROBEPROF SOURCE_DIR [unittest arguments].
"""
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

PROBEPROF = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(sys.argv[2])
EXAMPLES = os.path.join(SOURCE, "docs", "examples")
PROFEXAM = os.path.join(EXAMPLES, "profexam")
IRQDEMO = os.path.join(EXAMPLES, "irqdemo")
MISSION = ["--start", "main+8", "--stop", "0x0C010030"]
PASS_HITS = {"Initialise": 1, "BuildList": 1, "GetNewNode": 1000, "MallocNode": 1000, "GetLastNode": 999, "InsertNode": 1000}
TIMEOUT = 600


looked_for_leaks = set()


def environment(looks_for_leaks=True):
    """A copy; without the look for leaks at the end of a program with sanitizers, which is a third of what a short one takes."""
    env = dict(os.environ)
    if not looks_for_leaks:
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    return env


def start(args, cwd=None, probe="sim:sh7750", stdout=subprocess.PIPE, looks_for_leaks=True, **more):
    env = environment(looks_for_leaks)
    env.pop("PROBEPROF_PROBE", None)
    if probe:
        env["PROBEPROF_PROBE"] = probe
    return subprocess.Popen([PROBEPROF] + args, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=stdout,
                            stderr=subprocess.PIPE, text=True, **more)


def run(args, cwd=None, probe="sim:sh7750", **more):
    """To its end. The first of each command looks for leaks, in each of these programs."""
    command = args[0] if args and not args[0].startswith("-") else ""
    p = start(args, cwd, probe, looks_for_leaks=command not in looked_for_leaks, **more)
    looked_for_leaks.add(command)
    try:
        out, err = p.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        p.kill()
        out, err = p.communicate()
        raise AssertionError(f"{args} did not end; stderr:\n{err}")
    return subprocess.CompletedProcess(args, p.returncode, out, err)


def hits(document):
    return {f["name"]: f["hits"] for f in document["functions"] if f["hits"]}


def check_identities(case, document):
    """C1+children = C1 + the children's, at every node and for both counters; totals agree. A counter that was not used is null in all rows."""
    tree = document["tree"]
    used = [c for c in ("c1", "c2") if document["totals"][c] is not None]
    for c in {"c1", "c2"} - set(used):
        case.assertEqual({row[k] for row in [*tree, *document["functions"]] for k in (c, c + "_children")}, {None}, c)
    children = {}
    for node in tree:
        children.setdefault(node["parent"], []).append(node)
    ids = [n["id"] for n in tree]
    case.assertEqual(len(ids), len(set(ids)))
    for node in tree:
        for c in used:
            below = sum(n[c + "_children"] for n in children.get(node["id"], []))
            case.assertEqual(node[c + "_children"], node[c] + below, f"node {node['id']} {c}")
        case.assertLess(node["function"], len(document["functions"]))
    for c in ("hits", *used):
        per_function = [0] * len(document["functions"])
        for node in tree:
            per_function[node["function"]] += node[c]
        case.assertEqual(per_function, [f[c] for f in document["functions"]], c)


COUNTS = ("hits", "c1", "c1_children", "c2", "c2_children")


def check_prf(case, document, header, functions, calls):
    """Another reader finds in the .prf what the JSON document says."""
    for key in ("hits", "c1", "c2"):
        case.assertEqual(header[key], document["totals"][key] or 0)  # it has no word for what is not known
    case.assertEqual(len(functions), len(document["functions"]))
    for f, g in zip(functions, document["functions"]):
        case.assertEqual([f[k] for k in COUNTS], [g[k] or 0 for k in COUNTS], g["name"])
        case.assertEqual((f["name"], f["label"], f["qualified"]), (g["name"], g["linkage_name"] or "", g["qualified_name"] or ""))
        case.assertEqual((f["low"], f["max"] + 1), (g["low"], g["high"]))
        case.assertEqual(f["cache_line"], 0xFFFF if g["cache_line"] is None else g["cache_line"])
        case.assertEqual(f["attributes"], int(g["doubtful"]))
        case.assertEqual((f["overlay_area"], f["overlay"], f["group"]), (0xFFFFFFFF,) * 3)
    for c, n in zip(calls, document["tree"], strict=True):
        g = document["functions"][n["function"]]
        case.assertEqual([c[k] for k in COUNTS], [n[k] for k in COUNTS], n)
        case.assertEqual((c["parent"], c["low"], c["name"], c["attributes"]), (n["parent"], g["low"], g["name"], int(n["doubtful"])))


def check_same_shares(case, sampled, exact, share_of):
    """Each true share lies in the interval, or at most half its width beside it; the large ones in it."""
    total = sum(share_of(f) for f in exact["functions"])
    true = {f["name"]: share_of(f) / total for f in exact["functions"]}
    found = {f["name"]: f for f in sampled["functions"]}
    for name, share in true.items():
        if name not in found:
            case.assertLess(share, 0.003, name)
            continue
        f = found[name]
        slack = 0 if share > 0.05 else (f["share_high"] - f["share_low"]) / 2
        case.assertLessEqual(f["share_low"] - slack, share, f)
        case.assertGreaterEqual(f["share_high"] + slack, share, f)


class Folder(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="probeprof-e2e-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def wait_until(self, holds, alive=None):
        """What holds() gives, once that is something. alive: a program that has to go on running until then."""
        until = time.monotonic() + TIMEOUT
        while not (held := holds()):
            self.assertLess(time.monotonic(), until)
            self.assertTrue(alive is None or alive.poll() is None, "it ended by itself")
            time.sleep(0.05)
        return held

    def wait_for_hits(self, part, function, more, folder=PROFEXAM):
        """Until what a running profile records has so many more hits of a function than at first."""
        until, first = time.monotonic() + TIMEOUT, None
        while True:
            r = run(["report", part, "--json"], cwd=folder)
            now = hits(json.loads(r.stdout)).get(function, 0) if r.returncode == 0 else 0
            first = now if first is None else first
            if now >= first + more:
                return
            self.assertLess(time.monotonic(), until, r.stderr)

    def wait_for_events(self, part):
        """Until what a running profile records can be read, and holds a function."""
        self.wait_for_hits(part, "GetNewNode", 1)

    def wait_for(self, process, text):
        line = ""
        late = threading.Timer(TIMEOUT, process.kill)
        late.start()
        try:
            while text not in line:
                line = process.stderr.readline()
                self.assertTrue(line, f"ended, or was ended, before saying {text!r}")
        finally:
            late.cancel()
        return line

    def assert_fails(self, result, status, what, hint):
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(what, result.stderr)
        self.assertIn("hint: ", result.stderr)
        self.assertIn(hint, result.stderr.split("hint: ", 1)[1])


def s12z_tools():
    """Where s12z-elf-as and its friends are; None: nobody has built them."""
    r = subprocess.run([os.path.join(SOURCE, "tests", "s12z", "build_binutils.sh"), "--find"], capture_output=True, text=True, check=False)
    return r.stdout.strip() if r.returncode == 0 else None


def limit_files(size):
    """As a full disk: writes behind that byte fail, and a program that does not look at that is killed."""
    def apply():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return apply


class TerminalFolder(Folder):
    def on_terminal(self, args, columns=80, folder=PROFEXAM, **env):
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM", "LANG", "LC_ALL", "LC_CTYPE")}
        p = subprocess.Popen([PROBEPROF] + args, cwd=folder, env=dict(clean, PROBEPROF_PROBE="sim:sh7750", **env),
                             stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
        os.close(slave)
        seen = b""
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:  # EIO: nobody has the other end any more
                break
            if not data:
                break
            seen += data
        os.close(master)
        self.assertEqual(p.wait(timeout=TIMEOUT), 0, seen)
        return seen.decode("utf-8")


class GdbFolder(Folder):
    """What tests with a GDB share."""

    def setUp(self):
        super().setUp()
        if not shutil.which("gdb-multiarch"):
            self.skipTest("needs gdb-multiarch")

    def bridge(self, args, cwd):
        p = start(args + ["--gdb", "0"], cwd=cwd)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        line = p.stderr.readline()
        return p, re.search(r"target remote (\S+)", line).group(1)

    def gdb(self, address, elf, commands):
        script = self.write("commands.gdb", "set confirm off\nset pagination off\nset remotetimeout 300\ntarget remote " + address + "\n" +
                            "\n".join(commands) + "\n")
        r = subprocess.run(["gdb-multiarch", "-q", "-nx", "-batch", "-x", script, elf], capture_output=True, text=True,
                           timeout=TIMEOUT, check=False)
        return r.stdout + r.stderr

    def end(self, process):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 0, err)
        return out


def main():
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:], verbosity=2)
