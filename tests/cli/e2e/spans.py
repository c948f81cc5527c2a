#!/usr/bin/env python3
"""Formats of `probeprof convert` that have when what ran, made from recordings of every kind: each is read here, what it says adds up to `report --json` to
the last digit, and programs that nobody here wrote read it, too. Those are skipped, saying so, where they are missing.

usage: spans.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import ast
import json
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time

from common import EXAMPLES, Folder, IRQDEMO, MISSION, PROFEXAM, PROBEPROF, SOURCE, TerminalFolder, main, run

MOTOR, SH4, S12Z = os.path.join(EXAMPLES, "motor"), "sim:sh7750", "sim:s12zvml128,bdc=20M"
THREADS = os.path.join(SOURCE, "tests", "kos", "threads.elf")

# Folder, adapter, arguments, and what there must be in it for the row to mean anything.
RUNS = {
    "tutorial": (PROFEXAM, SH4, MISSION + ["--passes", "2"], []),
    "one counter": (PROFEXAM, SH4, MISSION + ["--passes", "1", "--c2", "none"], []),
    "no cycles": (PROFEXAM, SH4, MISSION + ["--passes", "1", "--c1", "icache-miss", "--c2", "none"], []),
    "interrupts": (IRQDEMO, SH4, ["--for", "20ms"], ["interrupts"]),
    "what a full ring drops": (IRQDEMO, SH4, ["--for", "20ms", "--policy", "live"], ["interrupts", "gaps"]),
    "power that was away": (PROFEXAM, SH4 + ",fault=no-power@500ms+300ms", MISSION + ["--for", "1500ms"], ["gaps"]),
    "threads": (os.path.dirname(THREADS), SH4, ["--elf", THREADS, "--load", "--for", "200ms"], ["tasks"]),
    "names of C++": (os.path.join(EXAMPLES, "cxx"), SH4, ["--for", "20ms"], []),
    "motor": (MOTOR, S12Z, ["--for", "10ms"], ["interrupts"]),
}
GAPS, MARKS, INTERRUPTS = "not seen", "marks", "interrupts"


def shown(f):
    return f["qualified_name"] or f["name"]


class Span:
    """One span: its track's name, where it stands in, begin and end in ns, and what is said of it."""

    def __init__(self, track, name, begin, inside):
        self.track, self.name, self.begin, self.inside, self.end, self.said = track, name, begin, inside, None, None


class Trace:
    """What a reader of a format makes of it: spans in the order of their ends, names of tracks, marks as (ns, name), and the head."""

    def __init__(self):
        self.spans, self.tracks, self.marks, self.open, self.now, self.head = [], {}, [], {}, 0, {}

    def at(self, ns):
        assert ns >= self.now, f"time goes back from {self.now} to {ns}"
        self.now = ns

    def begin(self, track, name, ns):
        self.at(ns)
        stack = self.open.setdefault(track, [])
        stack.append(Span(self.tracks[track], name, ns, stack[-1] if stack else None))

    def finish(self, track, name, ns, said):
        self.at(ns)
        span = self.open[track].pop()
        assert name in (None, span.name), f"{name} ends in {span.name}"
        span.end, span.said = ns, said
        self.spans.append(span)

    def mark(self, name, ns):
        self.at(ns)
        self.marks.append((ns, name))


class Spans:
    """What holds for each format."""
    maxDiff = None
    TO = ""

    @classmethod
    def setUpClass(cls):
        cls.recordings = tempfile.mkdtemp(prefix="probeprof-spans-")
        cls.addClassCleanup(shutil.rmtree, cls.recordings)

    def recording(self, name):
        path = os.path.join(self.recordings, name)
        if not os.path.exists(path):
            folder, probe, args, _ = RUNS[name]
            p = run(args + ["--gdb", "off", "--record", path], folder, probe)
            self.assertEqual(p.returncode, 0, p.stderr)
        return path

    def converted(self, recording, to=None):
        out = self.path("out." + (to or self.TO))
        shutil.rmtree(out, ignore_errors=True)
        p = run(["convert", recording, "--to", to or self.TO, "-o", out])
        self.assertEqual(p.returncode, 0, p.stderr)
        return out

    def report(self, recording):
        p = run(["report", recording, "--json"])
        self.assertEqual(p.returncode, 0, p.stderr)
        return json.loads(p.stdout)

    def read(self, path):
        """A Trace; each format has its own."""
        raise NotImplementedError

    def each(self):
        for name in RUNS:
            print(f"  {name}")
            recording = self.recording(name)
            yield name, self.report(recording), self.read(self.converted(recording))

    def sums(self, spans, key):
        out = {}
        for s in spans:
            out[s.name] = out.get(s.name, 0) + s.said.get(key, 0)
        return {k: v for k, v in out.items() if v}

    def check_functions(self, document, spans):
        functions = [f for f in document["functions"] if f["name"] != "(lost events)"]
        for i, key in enumerate(("c1", "c2")):
            if document["counters"][i] and not (i == 0 and "estimate" in document):  # which is corrected as a whole
                self.assertEqual(self.sums(spans, key), {shown(f): f[key] for f in functions if f[key]})
            if not document["counters"][i]:
                self.assertFalse(any(key in s.said for s in spans))
        entered = {}
        for s in spans:
            if not s.said.get("continued"):
                entered[s.name] = entered.get(s.name, 0) + 1
        sure = {shown(f): f["hits"] for f in functions if f["hits"] and not f["doubtful"]}
        self.assertEqual({k: v for k, v in entered.items() if k in sure}, sure)
        return sum(sure.values())

    def check_gaps(self, document, gaps):
        coverage = document["coverage"]
        self.assertEqual(sum(s.said["lost"] for s in gaps), coverage["lost"])
        self.assertEqual(any(s.said["at_most"] for s in gaps), coverage["lost_is_bound"])
        self.assertEqual(sum(s.name in ("link", "reset") for s in gaps), coverage["gaps"] + coverage["resets"])
        if document["counters"][0]:
            self.assertEqual(sum(s.said["c1"] for s in gaps), coverage["lost_c1"])

    def check_tracks(self, document, spans):
        """Of each task and of all handlers what the profile has of them."""
        c1 = {}
        for s in spans:
            c1[s.track] = c1.get(s.track, 0) + s.said.get("c1", 0)
        if document["counters"][0] and "estimate" not in document:
            tasks = {f["name"]: f["c1_children"] for f in document["functions"] if f["description"] == "thread" and f["c1_children"]}
            self.assertEqual({k: v for k, v in c1.items() if k in tasks}, tasks)
            self.assertEqual(c1.get(INTERRUPTS, 0), sum(h["c1"] for h in document.get("handlers", [])))

    def check_times(self, document, trace, spans):
        """What spans of a track last, without those in them, is what was counted in them: where that are cycles, by the clock that is stated."""
        m = re.match(r"cycles of counter 1, at (\d+) Hz", trace.head["clock"])
        if document["counters"][0]["name"] not in ("elapsed-time", "bus-cycles"):
            self.assertIn("each step between two events lasts 1 ns", trace.head["clock"])
            return
        hz = int(m.group(1)) if m else 1000000000
        own = sum(s.end - s.begin for s in spans if not s.inside)
        within = sum(h.end - h.begin for h in spans if h.track == INTERRUPTS and not h.inside
                     and any(s.begin <= h.begin and h.end <= s.end and not s.inside and s.track != INTERRUPTS for s in spans))
        counted = sum(s.said["c1"] for s in spans) * 1000000000 / hz
        self.assertLess(abs(own - within - counted), 2 * len(spans) + 2)

    def test_sums__each_recording__are_those_of_the_report(self):
        for name, document, trace in self.each():
            self.assertFalse(any(trace.open.values()))
            spans = [s for s in trace.spans if s.track not in (GAPS, MARKS)]
            gaps = [s for s in trace.spans if s.track == GAPS]
            sure = self.check_functions(document, spans)
            self.assertTrue(sure > 1000 or name not in ("tutorial", "motor"), name)
            self.check_gaps(document, gaps)
            self.check_tracks(document, spans)
            self.check_times(document, trace, spans)
            for need, found in (("interrupts", INTERRUPTS in trace.tracks.values()), ("gaps", gaps), ("tasks", len(trace.tracks) > 4)):
                if need in RUNS[name][3]:
                    self.assertTrue(found, need)
            self.assertEqual(sum(n == "start" for _, n in trace.marks) >= 1, True)

    def test_head__what_was_not_seen__is_said(self):
        for name in ("tutorial", "what a full ring drops", "motor"):
            recording = self.recording(name)
            self.check_head(self.report(recording), self.read(self.converted(recording)).head)

    def check_head(self, document, head):
        raise NotImplementedError

    def test_cut_short__what_is_there__adds_up(self):
        cut = self.path("cut")
        shutil.copy(self.recording("tutorial"), cut)
        os.truncate(cut, os.path.getsize(cut) // 2)
        document, trace = self.report(cut), self.read(self.converted(cut))
        self.check_functions(document, [s for s in trace.spans if s.track not in (GAPS, MARKS)])
        self.assertIn("how long one took is not known", trace.head["clock"])

    def test_refused__sums_and_samples__with_what_to_do(self):
        prf, samples = self.path("run.prf"), self.path("samples")
        run(["convert", self.recording("tutorial"), "--to", "prf", "-o", prf])
        run(["--sample", "--for", "20ms", "--gdb", "off", "--record", samples], PROFEXAM)
        self.assert_fails(run(["convert", prf, "--to", self.TO, "-o", self.path("x")]), 2, "sums only", "--record")
        self.assert_fails(run(["convert", samples, "--to", self.TO, "-o", self.path("x")]), 2, "samples", "without --sample")
        self.assertFalse(os.path.exists(self.path("x")))

    def test_disk_full__nothing_is_left(self):
        folder = self.path("folder")
        os.mkdir(folder)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        p = subprocess.run([PROBEPROF, "convert", self.recording("tutorial"), "--to", self.TO, "-o", os.path.join(folder, "x")], capture_output=True, text=True,
                           preexec_fn=limit)
        self.assertEqual((p.returncode, p.stdout), (1, ""), p.stderr)
        self.assertIn("File too large", p.stderr)
        self.assertEqual(os.listdir(folder), [])


class Chrome(Spans, TerminalFolder):
    TO = "chrome"

    def read(self, path):
        with open(path, encoding="utf-8") as f:
            document = json.loads(f.read(), parse_float=lambda text: int(text.replace(".", "")))  # us with three decimals: ns
        trace = Trace()
        trace.head = document["otherData"]
        for e in document["traceEvents"]:
            track = (e["pid"], e["tid"])
            if e["ph"] == "M":
                if e["name"] == "thread_name":
                    trace.tracks[track] = e["args"]["name"]
            elif e["ph"] == "B":
                trace.begin(track, e["name"], e["ts"])
            elif e["ph"] == "E":
                trace.finish(track, e["name"], e["ts"], e["args"])
            else:
                self.assertEqual(e["ph"], "i")
                trace.mark(e["name"], e["ts"])
        return trace

    def check_head(self, document, head):
        for key in ("target", "elf", "build_id", "started", "coverage", "counters", "note", "remarks", "totals"):
            self.assertEqual(head[key], document[key])

    def test_terminal__how_far_it_is__is_shown_and_wiped(self):
        args = ["convert", self.recording("tutorial"), "--to", "chrome"]
        self.assertRegex(self.on_terminal(args + ["-o", self.path("x")], TERM="xterm"), r"^(\r\x1b\[Kconverting: \d+ %)+\r\x1b\[K$")
        self.assertEqual(self.on_terminal(args + ["-o", self.path("x")], TERM="dumb"), "")
        self.assertNotIn("converting", self.on_terminal(args, TERM="xterm"))

    def test_output__standard_output__is_the_same(self):
        recording = self.recording("tutorial")
        with open(self.converted(recording), encoding="utf-8") as f:
            self.assertEqual(run(["convert", recording, "--to", "chrome"]).stdout, f.read())


class Said(Spans):
    """Formats that have a few words of what the run was, and the spans that chrome has."""

    def check_head(self, document, head):
        for key in ("target", "elf", "note", "build_id", "started"):
            self.assertEqual(head.get(key), document[key])
        self.assertEqual([head["events"], head["lost"], head["doubtful"]], [document["coverage"][k] for k in ("events", "lost", "doubtful")])
        self.assertEqual(head["counter_c1"], "{name} ({unit})".format(**document["counters"][0]))

    def test_spans__all__are_those_of_chrome(self):
        for name in ("interrupts", "what a full ring drops", "threads", "names of C++"):
            recording = self.recording(name)
            mine, chrome = self.read(self.converted(recording)), Chrome.read(self, self.converted(recording, "chrome"))
            key = lambda s: (s.track, s.name, s.begin, s.end, s.said)
            self.assertEqual([key(s) for s in mine.spans], [key(s) for s in chrome.spans])
            self.assertEqual(mine.marks, chrome.marks)
            self.assertEqual(list(mine.tracks.values()), list(chrome.tracks.values()))


class Perfetto(Said, Folder):
    TO = "perfetto"

    def messages(self, lines):
        """protoc's text: a dictionary of lists, by field."""
        out = {}
        for line in lines:
            line = line.strip()
            if line == "}":
                return out
            key, _, value = line.partition(" ")
            if value == "{":
                out.setdefault(key, []).append(self.messages(lines))
                continue
            self.assertRegex(key, r"^[a-z_]+:$")  # a field that the schema has not has a number for a name
            value = ast.literal_eval(value) if value[:1] == '"' else value
            out.setdefault(key[:-1], []).append(int(value) if value.isdigit() else {"true": True, "false": False}.get(value, value))
        return out

    def packets(self, path):
        protoc = shutil.which("protoc")
        if not protoc:
            self.skipTest("no protoc: apt-get install protobuf-compiler")
        folder = os.path.join(SOURCE, "tests", "cli")
        with open(path, "rb") as f:
            p = subprocess.run([protoc, "--decode=Trace", "-I" + folder, os.path.join(folder, "perfetto.proto")], stdin=f, capture_output=True, text=True)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        return self.messages(iter(p.stdout.splitlines()))["packet"]

    def annotations(self, event, names):
        """Only one value each."""
        out = {}
        for a in event.get("debug_annotations", []):
            name = names[a["name_iid"][0]] if "name_iid" in a else a["name"][0]
            (out[name],) = [v for k, (v,) in a.items() if k.endswith("_value")]
        return out

    def read(self, path):
        trace, names, annotations, self.lost, self.dropped = Trace(), {}, {}, [], []
        for packet in self.packets(path):
            self.assertEqual(packet["trusted_packet_sequence_id"], [1])
            if packet.get("sequence_flags", [0])[0] & 1:
                names, annotations = {}, {}
            self.dropped += packet.get("previous_packet_dropped", [])
            if "previous_packet_dropped" in packet:
                self.assertEqual(packet["sequence_flags"], [3])  # what was interned before is not known any more
            for interned in packet.get("interned_data", []):
                names.update({n["iid"][0]: n["name"][0] for n in interned.get("event_names", [])})
                annotations.update({n["iid"][0]: n["name"][0] for n in interned.get("debug_annotation_names", [])})
            for track in packet.get("track_descriptor", []):
                if "process" not in track and "counter" not in track:
                    trace.tracks[track["uuid"][0]] = track["name"][0]
            for event in packet.get("track_event", []):
                self.take(trace, packet["timestamp"][0], event, names, annotations)
        return trace

    def take(self, trace, at, event, names, annotations):
        (kind,), (track,), said = event["type"], event["track_uuid"], self.annotations(event, annotations)
        name = names[event["name_iid"][0]] if "name_iid" in event else event.get("name", [None])[0]
        if kind == "SLICE_BEGIN":
            trace.begin(track, name, at)
        elif kind == "SLICE_END":
            trace.finish(track, name, at, said)
        elif kind == "COUNTER":
            self.lost.append(event["counter_value"][0])
        elif name == "about":
            trace.head = said
        else:
            trace.mark(name, at)

    def check_head(self, document, head):
        super().check_head(document, head)
        self.assertEqual(self.lost[-1], document["coverage"]["lost"])

    def test_losses__packets_behind_them__say_why(self):
        self.read(self.converted(self.recording("what a full ring drops")))
        self.assertEqual(self.dropped, [257])  # lost, its source was full
        self.read(self.converted(self.recording("power that was away")))
        self.assertEqual(set(self.dropped), {1})

    def test_terminal__bytes_are_not_shown(self):
        leader, follower = os.openpty()
        p = subprocess.run([PROBEPROF, "convert", self.recording("tutorial"), "--to", "perfetto"], stdout=follower, stderr=subprocess.PIPE, text=True)
        os.close(follower)
        os.close(leader)
        self.assertEqual(p.returncode, 2)
        self.assertIn("perfetto is nothing for a terminal", p.stderr)


class Ctf(Said, Folder):
    TO = "ctf"
    EVENT = re.compile(r"\[(\d+)\.(\d{9})\] (\w+): \{ (.*) \}$")
    FIELD = re.compile(r'(\w+) = (?:\( ("(?:[^"\\]|\\.)*") : container = \d+ \)|("(?:[^"\\]|\\.)*")|(\d+))(?:, |$)')
    DISCARDED = re.compile(r"Tracer discarded (\d+) events? between \[(\S+)\] and \[(\S+)\]")

    def lines(self, path):
        """babeltrace2's, of events and of what it warns of."""
        reader = shutil.which("babeltrace2")
        if not reader:
            self.skipTest("no babeltrace2: apt-get install babeltrace2")
        p = subprocess.run([reader, "--clock-seconds", "--no-delta", path], capture_output=True, text=True)
        self.assertEqual(p.returncode, 0, p.stderr)
        return p.stdout.splitlines(), p.stderr.splitlines()

    def fields(self, text):
        out, at = {}, 0
        for m in self.FIELD.finditer(text):
            self.assertEqual(m.start(), at, text)
            out[m.group(1)], at = int(m.group(4)) if m.group(4) else ast.literal_eval(m.group(2) or m.group(3)), m.end()
        self.assertEqual(at, len(text))
        return out

    def head(self, path):
        with open(os.path.join(path, "metadata"), encoding="utf-8") as f:
            text = f.read()
        env = dict(re.findall(r"^    (\w+) = (.*);$", re.search(r"^env \{\n(.*?)^\};", text, re.M | re.S).group(1), re.M))
        tracks = re.findall(r'^    (".*") = \d+,$', re.search(r"^enum track .*?\n(.*?)^\};", text, re.M | re.S).group(1), re.M)
        return {k: ast.literal_eval(v) for k, v in env.items()}, [ast.literal_eval(t) for t in tracks][:-1], int(re.search(r"offset_s = (\d+)", text).group(1))

    def read(self, path):
        trace = Trace()
        events, warnings = self.lines(path)
        trace.head, tracks, self.offset = self.head(path)
        trace.tracks = {t: t for t in tracks}
        self.discarded = [self.DISCARDED.search(w).groups() for w in warnings]
        for line in events:
            seconds, ns, kind, fields = self.EVENT.match(line).groups()
            self.take(trace, kind, (int(seconds) - self.offset) * 1000000000 + int(ns), self.fields(fields))
        return trace

    def take(self, trace, kind, at, f):
        if kind == "begin":
            trace.begin(f["track"], f["function"], at)
        elif kind == "end":
            said = {k: f[k] for k in ("c1", "c2") if k in f} | {k: True for k in ("continued", "found", "doubtful") if f[k]}
            trace.finish(f["track"], f["function"], at, said | ({"end": f["ended"]} if f["ended"] != "return" else {}))
        elif kind == "lost":
            trace.at(at)
            span = Span(GAPS, f["cause"], at - f["lasted_ns"], None)
            span.end, span.said = at, {k: f[k] for k in ("c1", "c2") if k in f} | {"lost": f["events"], "at_most": bool(f["at_most"])} | ({"doubtful": True} if f["doubtful"] else {})
            trace.spans.append(span)
        else:
            trace.mark(f["what"], at)

    def test_losses__babeltrace__says_each_where_it_was(self):
        for name in ("what a full ring drops", "power that was away", "tutorial"):
            recording = self.recording(name)
            trace = self.read(self.converted(recording))
            self.assertEqual(sum(int(d[0]) for d in self.discarded), self.report(recording)["coverage"]["lost"])
            ns = lambda text: (int(text[:-10]) - self.offset) * 1000000000 + int(text[-9:])
            self.assertEqual([(int(n), ns(a), ns(b)) for n, a, b in self.discarded], [(s.said["lost"], s.begin, s.end) for s in trace.spans if s.track == GAPS and s.said["lost"]])

    def test_clock__dates__are_those_of_the_run(self):
        recording = self.recording("tutorial")
        self.read(self.converted(recording))
        started = self.report(recording)["started"]
        self.assertEqual(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.offset)), started)

    def test_folder__what_is_there__is_not_replaced(self):
        recording, there = self.recording("tutorial"), self.path("there")
        os.mkdir(there)
        self.assertEqual(run(["convert", recording, "--to", "ctf", "-o", there + "/"]).returncode, 0)  # it was empty
        self.assertEqual(sorted(os.listdir(there)), ["metadata", "stream"])
        self.assert_fails(run(["convert", recording, "--to", "ctf", "-o", there]), 1, "there is something", "not there yet")
        with open(self.path("file"), "w", encoding="utf-8"):
            pass
        self.assert_fails(run(["convert", recording, "--to", "ctf", "-o", self.path("file")]), 1, "there is something", "not there yet")
        self.assert_fails(run(["convert", recording, "--to", "ctf"]), 2, "a folder of files", "-o FOLDER")
        self.assert_fails(run(["convert", recording, "--to", "ctf", "-o", self.path("none/x")]), 1, "No such file", "the folder exists")
        self.assertEqual(sorted(os.listdir(self.dir)), ["file", "there"])


if __name__ == "__main__":
    main()
