#!/usr/bin/env python3
"""What run-tests says around ctest: before it how many tests there are and about how long they take, after it what was skipped and why.

usage: tests.py before BUILD_DIR AT_ONCE [ctest's arguments]
       tests.py few JUNIT_FILE       exits 0 if so few tests failed that to run them again alone tells something
       tests.py after JUNIT_FILE [JUNIT_FILE of those that ran again alone]
"""
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as xml

MOST_ALONE = 10


def known_seconds(build):
    """{test: seconds} of those that have run in this build folder: ctest keeps them."""
    known = {}
    try:
        with open(os.path.join(build, "Testing/Temporary/CTestCostData.txt"), encoding="utf-8") as f:
            for line in f:
                if line.startswith("---"):
                    break
                name, runs, seconds = line.split()
                if int(runs) > 0:
                    known[name] = float(seconds)
    except (OSError, ValueError):
        pass
    return known


def duration(seconds):
    return f"{max(round(seconds), 1)} s" if seconds < 100 else f"{round(seconds / 60)} minutes"


def before(build, at_once, arguments):
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        names = [t["name"] for t in json.loads(listed.stdout)["tests"]]
    except ValueError: # ctest says itself what is wrong with its arguments
        return
    known = known_seconds(build)
    seconds = [known[n] for n in names if n in known]
    if not seconds or len(seconds) < len(names) * 3 / 4:
        takes = "how long they take is known once they have run here; the whole suite takes some 20 minutes on two processors"
    else: # those that are new take what the others do
        most = max(max(seconds), sum(seconds) / len(seconds) * len(names) / at_once)
        takes = f"about {duration(most)}, by what they took here before"
    if names:
        print(f"{len(names)} tests, {at_once} at a time: {takes}", flush=True)


def reason(case):
    """The last line that a skipped test said, without its "skipped:"; unittest has it in quotes behind the test's name."""
    message = case.find("skipped").get("message", "") if case.find("skipped") is not None else ""
    if not message.startswith("SKIP"): # ctest's own words: a program or a fixture is missing
        return message
    lines = [line for line in (case.findtext("system-out") or "").splitlines() if "skipped" in line]
    if not lines:
        return "it does not say why"
    return lines[0].split("skipped", 1)[1].strip(" :'\"")


def cases_of(junit):
    """The test cases of a result file; none where ctest wrote no file."""
    try:
        return list(xml.parse(junit).getroot().iter("testcase"))
    except (OSError, xml.ParseError):
        return []


def failed(junit):
    return [case.get("name") for case in cases_of(junit) if case.get("status") == "fail"]


def few(junit):
    """More than ten are no accident, and would take long one by one."""
    names = failed(junit)
    if 0 < len(names) <= MOST_ALONE:
        print(f"\n{len(names)} failed; once more, with nothing beside: {', '.join(names)}", flush=True)
        return True
    return False


def after(junit, junit_alone):
    why = {}
    for case in cases_of(junit):
        if case.find("skipped") is not None or case.get("status") == "notrun":
            why.setdefault(reason(case), []).append(case.get("name"))
    if why:
        print("\nSkipped, and why:")
    for text, names in sorted(why.items()):
        print(f"  {text}: {', '.join(names)}")
    still = failed(junit_alone)
    ran = {case.get("name") for case in cases_of(junit_alone)}
    for text, names in (("Failed beside others, passed alone; to be mended", [n for n in failed(junit) if n in ran and n not in still]),
                        ("Failed", [n for n in failed(junit) if n in still or n not in ran])):
        if names:
            print(f"\n{text}: {', '.join(names)}")


if __name__ == "__main__":
    if sys.argv[1] == "before":
        before(sys.argv[2], int(sys.argv[3]), sys.argv[4:])
    elif sys.argv[1] == "few":
        sys.exit(not few(sys.argv[2]))
    else:
        after(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "")
