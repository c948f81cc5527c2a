#!/usr/bin/env python3
"""What tests cost: processor time, user and system, of all that a test starts. One after another, by themselves.

usage: test_costs.py BUILD_DIR [ctest's arguments that choose tests]
"""
import ctypes
import json
import os
import signal
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36


def chosen(build, arguments):
    """ctest's own list; fixtures that others need come first."""
    said = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", *arguments], stdout=subprocess.PIPE, check=True, text=True).stdout
    tests = [t | {"properties": {p["name"]: p["value"] for p in t.get("properties", [])}} for t in json.loads(said)["tests"]]
    return sorted(tests, key=lambda t: "FIXTURES_SETUP" not in t["properties"])


def run(test):
    """(exit status, user, system, passed seconds) of a test and whatever it leaves behind, which is ended."""
    begin = time.monotonic()
    environment = dict(os.environ, PROBEPROF_HTTP="off") # as tests/no_feed.cmake
    environment |= dict(e.split("=", 1) for e in test["properties"].get("ENVIRONMENT", []))
    child = subprocess.Popen(test["command"], cwd=test["properties"].get("WORKING_DIRECTORY"), env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    status, user, system = None, 0, 0
    while True:
        try:
            pid, ended, used = os.wait4(-1, 0)
        except ChildProcessError:
            return status, user, system, time.monotonic() - begin
        user, system = user + used.ru_utime, system + used.ru_stime
        if pid == child.pid:
            status = child.returncode = os.waitstatus_to_exitcode(ended)
            try:
                os.killpg(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    sums = [0, 0, 0]
    for test in chosen(sys.argv[1], sys.argv[2:]):
        if "command" not in test:
            print("       -        -        -  %s: its program is not built" % test["name"])
            continue
        status, *used = run(test)
        sums = [a + b for a, b in zip(sums, used)]
        outcome = {0: "", 77: "skipped"}.get(status, f"exit {status}")
        print("%8.2f %8.2f %8.2f  %s %s" % (*used, test["name"], outcome), flush=True)
    print("%8.2f %8.2f %8.2f  user, system, passed: all" % tuple(sums))


if __name__ == "__main__":
    main()
