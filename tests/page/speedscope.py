#!/usr/bin/env python3
"""speedscope reads what `convert` wrote: its page imports each file and exports it again in its own format. Of `--to chrome` every function of every track has
the time there that it has in the file; of the other formats every function has its own part of hits and counters as the report has it. Without speedscope (npm.sh fetches it once) or a browser it is skipped.

usage: speedscope.py PROBEPROF SOURCE_DIR      exit 0 clean, 1 something differs, 77 skipped
"""
import base64
import json
import os
import subprocess
import sys
import tempfile

import rig
from rig import until

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
EXAMPLES = os.path.join(SOURCE, "docs", "examples")
# Folder, adapter, arguments; what must be seen there.
RUNS = [("profexam", "sim:sh7750", ["--start", "main+8", "--stop", "0x0C010030", "--passes", "2"], {"program": "MallocNode"}),
        ("irqdemo", "sim:sh7750", ["--for", "20ms"], {"program": "Fibonacci", "interrupts": "interrupt_entry"}),
        ("motor", "sim:s12zvml128", ["--for", "10ms"], {"program": "pi_step", "interrupts": "tick"})]
# The page makes a file of its bytes and clicks on it: kept here instead.
HOOK = """URL.createObjectURL = (blob) => { blob.text().then((text) => { window.exported = text; }); return 'about:blank#'; };
HTMLAnchorElement.prototype.click = () => {};
[...document.querySelectorAll('div')].filter((e) => e.childElementCount === 1 && e.textContent.endsWith('Export')).at(-1).click();"""


def page():
    got = subprocess.run([os.path.join(SOURCE, "tests/page/npm.sh"), SOURCE, "speedscope-path"], capture_output=True, text=True)
    if got.returncode == 77:
        print(got.stdout)
        sys.exit(77)
    assert got.returncode == 0, got
    return got.stdout.strip()


def add(sums, track, name, ns):
    if ns:
        sums[track, name] = sums.get((track, name), 0) + ns


def own_times(events):
    """ns of each function's own, from (opens, function, ns) of one track; what is open twice at a time counts once."""
    stack, last, out = [], 0, []
    for opens, name, at in events:
        if stack:
            out.append((stack[-1], at - last))
        last = at
        if opens:
            stack.append(name)
        else:
            assert stack.pop() == name, (name, at)
    assert not stack
    return out


def of_the_file(path):
    with open(path, encoding="utf-8") as f:
        events = json.loads(f.read(), parse_float=lambda text: int(text.replace(".", "")))["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name" and e["ph"] == "M"}
    sums = {}
    for tid, track in names.items():
        for name, ns in own_times([(e["ph"] == "B", e["name"], e["ts"]) for e in events if e["tid"] == tid and e["ph"] in "BE"]):
            add(sums, track, name, ns)
    return sums


def of_speedscope(text):
    document, sums = json.loads(text), {}
    frames = [f["name"] for f in document["shared"]["frames"]]
    for p in document["profiles"]:
        track = p["name"].rsplit(", ", 1)[1].rsplit(" (tid", 1)[0]
        assert (p["type"], p["unit"]) == ("evented", "microseconds"), p["name"]
        for name, ns in own_times([(e["type"] == "O", frames[e["frame"]], round(e["at"] * 1000)) for e in p["events"]]):
            add(sums, track, name, ns)
    return sums


# Format, and what of the report its profiles there are, in their order.
FORMATS = [("speedscope", ["hits", "c1", "c2"]), ("folded", ["c1"]), ("callgrind", ["c1", "c2"]), ("pprof", ["c2"])]  # of pprof it has one column; the file asks for C1, it takes the last


def self_sums(text):
    """Of each profile: what each function has of its own."""
    document = json.loads(text)
    frames = [f["name"].removesuffix(" ?") for f in document["shared"]["frames"]]
    for p in document["profiles"]:
        sums = {}
        if p["type"] == "sampled":
            own = [(frames[stack[-1]], w) for stack, w in zip(p["samples"], p["weights"]) if stack]
        else:
            own = own_times([(e["type"] == "O", frames[e["frame"]], e["at"]) for e in p["events"]])
        for name, n in own:
            sums[name] = sums.get(name, 0) + n
        yield sums


def same_sums(d, index, recording, folder):
    report = json.loads(subprocess.run([PROGRAM, "report", recording, "--json"], capture_output=True, check=True).stdout)
    for name, figures in FORMATS:
        path = os.path.join(folder, "out." + {"pprof": "pb.gz"}.get(name, name))
        subprocess.run([PROGRAM, "convert", recording, "--to", name, "-o", path], check=True)
        profiles = list(self_sums(exported(d, index, path, folder)))
        assert len(profiles) == len(figures), (name, len(profiles))
        for sums, figure in zip(profiles, figures):
            sums.pop("[program]", None)  # callgrind's root, which has nothing of its own
            want = {}
            for f in report["functions"]:
                want[f["qualified_name"] or f["name"]] = want.get(f["qualified_name"] or f["name"], 0) + f[figure]
            # of a graph it makes a tree, with parts of calls, and what is below a ten thousandth of all stays with its caller
            near = 1e-3 * sum(want.values()) if name == "callgrind" else 0
            for f in want.keys() | sums.keys():
                assert abs(sums.get(f, 0) - want.get(f, 0)) <= near, (name, figure, f, sums.get(f), want.get(f))
        print(f"{os.path.basename(recording)}, {name}: {', '.join(figures)} of {len(want)} functions")


def exported(d, index, path, folder):
    script = os.path.join(folder, "load.js")
    with open(path, "rb") as f, open(script, "w", encoding="utf-8") as out:
        out.write(f"speedscope.loadFileFromBase64('{os.path.basename(path)}', '{base64.b64encode(f.read()).decode()}')")
    d.get("about:blank")
    d.get(f"file://{index}#localProfilePath={script}")
    until("the profile", lambda: "Export" in d.execute_script("return document.body.textContent"))
    d.execute_script(HOOK)
    return until("the export", lambda: d.execute_script("return window.exported"))


def main():
    index, d = page(), rig.browser(more=("--allow-file-access-from-files",))
    try:
        with tempfile.TemporaryDirectory(prefix="probeprof-speedscope-") as folder:
            for name, probe, args, needs in RUNS:
                recording, path = os.path.join(folder, name), os.path.join(folder, name + ".trace.json")
                env = {**os.environ, "PROBEPROF_PROBE": probe}
                subprocess.run([PROGRAM, *args, "--gdb", "off", "--record", recording], cwd=os.path.join(EXAMPLES, name), env=env, check=True,
                               capture_output=True)
                subprocess.run([PROGRAM, "convert", recording, "--to", "chrome", "-o", path], check=True)
                want, got = of_the_file(path), of_speedscope(exported(d, index, path, folder))
                assert set(needs.items()) <= set(want), sorted(want)
                assert got == want, f"{name}: {sorted(set(got.items()) ^ set(want.items()))}"
                same_sums(d, index, recording, folder)
                print(f"{name}: {len(want)} functions on their tracks, {sum(want.values())} ns")
    finally:
        d.quit()


main()
