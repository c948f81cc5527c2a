#!/usr/bin/env python3
"""Every room of tests has one that `./run-tests -L quick` runs, so that what one runs after each change looks into each.

usage: check_quick.py CTEST BUILD_DIR     exit 0 each has, 1 not
"""
import json
import os
import subprocess
import sys
import tempfile

WITHOUT = {"system/rig": "a virtual machine takes a minute"}


def rooms(tests, build):
    """{room: how many of its tests are quick}; a room is the folder of tests/ that made the test."""
    found = {}
    for test in tests:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        room = os.path.relpath(properties["WORKING_DIRECTORY"], os.path.join(build, "tests"))
        found[room] = found.get(room, 0) + ("quick" in properties.get("LABELS", []))
    return found


def listed(ctest, build):
    """The tests, as ctest lists them. From a folder of its own: where it lists tests it writes its log anew, and in `build` that is the one of the
    run which this test is part of."""
    with tempfile.TemporaryDirectory() as apart:
        with open(os.path.join(apart, "CTestTestfile.cmake"), "w", encoding="utf-8") as f:
            f.write(f'subdirs("{build}")\n')
        out = subprocess.run([ctest, "--test-dir", apart, "--show-only=json-v1"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return json.loads(out)["tests"]


def main():
    ctest, build = sys.argv[1], os.path.realpath(sys.argv[2])
    found = rooms(listed(ctest, build), build)
    wrong = [f"tests/{room}: none of its tests is quick: pp_quick(NAME) in its CMakeLists.txt" for room, n in sorted(found.items()) if not n and room not in WITHOUT]
    wrong += [f"tests/{room}: stands in check_quick.py for having no quick test, and has" for room in WITHOUT if found.get(room)]
    print("\n".join(wrong + [f"{len(found)} rooms, {sum(found.values())} quick tests, {len(wrong)} findings"]))
    return 1 if wrong else 0


sys.exit(main())
