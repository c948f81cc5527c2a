#!/usr/bin/env python3
"""axe-core looks at every view and dialog of the page, light and dark, wide and narrow, on a live simulated board: no violations. Without axe-core (npm.sh
fetches it once) or a browser it is skipped. With --pictures DIR it leaves a picture of each, for eyes.

usage: axe.py PROBEPROF SOURCE_DIR [--pictures DIR]      exit 0 clean, 1 violations, 77 skipped
"""
import os
import subprocess
import sys
import time

import rig
from rig import By, until

PROGRAM, SOURCE = sys.argv[1], sys.argv[2]
PICTURES = sys.argv[sys.argv.index("--pictures") + 1] if "--pictures" in sys.argv else None
LOOKS = [(w, h, dark) for dark in (False, True) for w, h in ((1400, 900), (400, 860))]
RUN = """const done = arguments[0]; axe.run(document, { resultTypes: ['violations'] }).then((r) => done(r.violations.map((v) =>
    `${v.id} (${v.impact}): ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + ' ' + n.failureSummary).join(' | ')}`)));"""


def axe_core():
    got = subprocess.run([os.path.join(SOURCE, "tests/page/npm.sh"), SOURCE, "axe-path"], capture_output=True, text=True)
    if got.returncode == 77:
        print(got.stdout)
        sys.exit(77)
    assert got.returncode == 0, got
    with open(got.stdout.strip(), encoding="utf-8") as f:
        return f.read()


def views(d):
    """Brings up one after the other."""
    for name in ("functions", "paths", "function", "history", "compare", "board", "log", "timeline"):
        rig.open_view(d, name)
        if name == "function":
            d.execute_script("const m = probeprof.store.model; probeprof.openFunction([...m.fns.values()].sort((a, b) => Number(b.v[2]) - Number(a.v[2]))[2])")
        time.sleep(0.7)
        yield name
        if name in ("paths", "history", "timeline"):
            d.execute_script("const v = probeprof.view; (v.swap instanceof Function ? v.swap() : v.turn())")
            time.sleep(0.4)
            yield f"{name}-table"
            d.execute_script("const v = probeprof.view; (v.swap instanceof Function ? v.swap() : v.turn())")
    d.execute_script("for (const e of document.querySelectorAll('details')) e.open = true; probeprof.help()")
    yield "help"
    d.execute_script("document.querySelector('dialog').close(); probeprof.mark()")
    yield "mark"
    d.execute_script("document.querySelector('dialog').close(); probeprof.head.note('x', 'bad', 0, 'Something', 'is wrong'); probeprof.head.note('y', 'warn', 0, 'Something', 'is odd'); probeprof.head.note('z', 'note', 0, 'Something', 'is')")
    yield "notes"
    d.execute_script("for (const k of 'xyz') probeprof.head.unnote(k)")


def main():
    core, found, looked = axe_core(), 0, 0
    d = rig.browser()
    try:
        with rig.Bridge(PROGRAM, "--gdb", "off", source=SOURCE) as b:
            d.get(f"http://localhost:{b.port}/")
            until("frames", lambda: d.execute_script("return probeprof.store.frames") > 2)
            status, body = rig.command(b.port, do="mark", name="boot")
            assert status == 200, body
            d.execute_script(core)
            for w, h, dark in LOOKS:
                rig.look(d, w, h, dark)
                for view in views(d):
                    if PICTURES:
                        d.save_screenshot(os.path.join(PICTURES, f"{view}-{w}-{'dark' if dark else 'light'}.png"))
                    violations = d.execute_async_script(RUN)
                    looked += 1
                    found += len(violations)
                    for v in violations:
                        print(f"{view} {w} {'dark' if dark else 'light'}: {v}")
    finally:
        d.quit()
    print(f"{looked} looks, {found} violations")
    return 1 if found or looked < 40 else 0


sys.exit(main())
