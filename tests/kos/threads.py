#!/usr/bin/env python3
"""Profiles a program with threads as KallistiOS has them, and holds each thread's calls and instructions against what the program is made to do,
whoever interrupts whom; then the same from the recording, and with a stack that is named by hand.
usage: threads.py PROBEPROF ELF        exit 0 agrees, 1 differs"""
import json
import os
import subprocess
import sys
import tempfile

TIMEOUT = 600
STEPS, BURSTS = 40, 6


def fail(text):
    print(text)
    sys.exit(1)


class Profile:
    def __init__(self, text):
        self.all = json.loads(text)
        self.functions = self.all["functions"]
        self.tree = self.all["tree"]
        self.threads = {t["number"]: t for t in self.all.get("threads", [])}
        self.paths = {}
        for n in self.tree:
            above = self.paths_of(n["parent"])
            self.paths[n["id"]] = above + (self.name(n["function"]),)

    def paths_of(self, parent):
        return () if parent is None else self.paths[parent]

    def name(self, function):
        """Without the underscore that the linker's names have where nothing tells the source's."""
        name = self.functions[function]["name"]
        return name[1:] if name.startswith("_") else name

    def node(self, *path):
        found = [n for n in self.tree if self.paths[n["id"]] == path]
        if len(found) != 1:
            fail(f"{len(found)} nodes at {' > '.join(path)}:\n" + "\n".join(" > ".join(p) for p in self.paths.values()))
        return found[0]

    def roots_of(self, function):
        return {self.paths[n["id"]][0] for n in self.tree if self.paths[n["id"]][-1] == function and n["hits"]}

    def hits(self, function):
        return sum(n["hits"] for n in self.tree if self.paths[n["id"]][-1] == function)


def run(probeprof, *args):
    done = subprocess.run([probeprof, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT, check=False)
    if done.returncode:
        fail(f"{args}: exit {done.returncode}\n{done.stderr.decode()}")
    return done.stdout.decode()


def profile(probeprof, elf, *more):
    entry = "_main" if "debug" not in elf else "main"
    last = "_done" if "debug" not in elf else "done"
    return Profile(run(probeprof, "run", elf, "--probe", "sim:sh7750", "--conf", "off", "-g", "off", "--start", entry, "--stop", last, "--passes", "1",
                       "--c1", "elapsed-time", "--c2", "instructions", "--json", *more))


def equal(what, is_now, should):
    if is_now != should:
        fail(f"{what}: {is_now} instead of {should}")


def check_worker(p, number, which, interrupts):
    thread = p.functions[p.threads[number]["function"]]["name"]
    for path, hits in ((("work",), 1), (("work", "step"), STEPS), (("work", "step", "spin"), 10 * STEPS), (("work", "thd_pass"), 10),
                       (("work", "thd_sleep"), 3), (("work", "thd_sleep", "thd_block_now"), 3), (("thd_exit",), 1)):
        equal(f"{thread} > {' > '.join(path)}", p.node(thread, "thd_birth", *path)["hits"], hits)
    spin = p.node(thread, "thd_birth", "work", "step", "spin")["c2"]
    exact = 10 * STEPS * (200 * (which + 1) + 2)
    if abs(spin - exact) > 2 * interrupts:  # the few around an interrupt may count on either side of it
        fail(f"{thread}: {spin} instructions in spin instead of {exact}, {interrupts} interrupts")


def check_all(p):
    names = ["[kernel]", "[idle]", "[reaper]", "worker 0", "sound", "worker 2"]
    for number, name in enumerate(names, 1):
        if number not in p.threads or p.threads[number]["name"] != name:
            fail(f"thread {number} is not {name}: {p.threads}")
    interrupts = sum(h["count"] for h in p.all["handlers"])
    if not interrupts:
        fail("nothing was interrupted")
    for which in range(3):
        check_worker(p, 4 + which, which, interrupts)
    roots = [f"{n} (thread {k})" for k, n in enumerate(names, 1)]
    for function, where in (("main", {roots[0]}), ("settle", {roots[0]}), ("good", {roots[0]}), ("thd_idle_task", {roots[1]}), ("thd_reaper", {roots[2]}),
                            ("work", set(roots[3:])), ("step", set(roots[3:]))):
        equal(f"{function} runs in", p.roots_of(function), where)
    for function, hits in (("main", 1), ("thd_create", 9), ("thd_join", 6), ("settle", BURSTS), ("burst", BURSTS * (BURSTS + 1) // 2),
                           ("short_lived", BURSTS), ("thd_exit", 3 + BURSTS), ("good", 1), ("bad", 0)):
        equal(f"calls of {function}", p.hits(function), hits)
    # Threads that came and went between two looks have no name; of those that have one each has its own calls, on the same stack.
    for number, thread in p.threads.items():
        if number > 6:
            root = p.functions[thread["function"]]["name"]
            equal(f"{root}: name", thread["name"], f"burst {number - 7}")
            equal(f"{root}: bursts", sum(n["hits"] for n in p.tree if p.paths[n["id"]][0] == root and p.paths[n["id"]][-1] == "burst"), number - 6)
    if len(p.roots_of("burst") & set(roots)):
        fail(f"bursts in {p.roots_of('burst')}")
    equal("the sum", sum(n["c2"] for n in p.tree), p.all["totals"]["c2"])
    for thread in p.threads.values():
        equal("a thread's sum", thread["c2"], p.functions[thread["function"]]["c2_children"])


def check_text(text):
    """The table names them, too."""
    if "thread\n" not in text or "sound (thread 5)" not in text:
        fail(f"no threads in\n{text}")


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    probeprof, elf = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "run.ppr")
        live = profile(probeprof, elf, "--record", recording)
        check_all(live)
        again = Profile(run(probeprof, "report", recording, "--json"))
        for part in ("functions", "tree", "threads", "totals", "coverage"):
            equal(f"{part} of the recording", again.all[part], live.all[part])
        check_text(run(probeprof, "report", recording))
    # What is named by hand is the user's: one stack without a thread, the others as before.
    stack = live.threads[5]
    named = profile(probeprof, elf, "--stack", f"{stack['stack_low']:#x}:{stack['stack_high']:#x}")
    equal("threads beside a named stack", 5 in named.threads, False)
    check_worker(named, 6, 2, sum(h["count"] for h in named.all["handlers"]))
    equal("work on the named stack", sum(n["hits"] for n in named.tree if named.paths[n["id"]][-1] == "work"), 3)
    print(f"{len(live.threads)} threads, {live.all['coverage']['events']} events, {sum(h['count'] for h in live.all['handlers'])} interrupts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
