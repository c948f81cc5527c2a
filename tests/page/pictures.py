#!/usr/bin/env python3
"""Makes the pictures of docs/pictures again, after a change of the page's look: they are to be looked at, not compared.

usage: pictures.py PROBEPROF SOURCE_DIR [counted|sampled]      exit 0 made, 77 no browser
"""
import os
import sys
import time

import rig
from rig import until

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), sys.argv[2]
FOLDER = os.path.join(SOURCE, "docs/pictures")


def picture(d, name, height):
    rig.look(d, 1200, height)
    d.execute_script("for (const e of document.querySelectorAll('details')) e.open = false")
    time.sleep(1)  # charts draw again for the new size
    d.save_screenshot(os.path.join(FOLDER, f"page-{name}.png"))


def visit(d, b):
    d.get(f"http://localhost:{b.port}/")
    until("frames", lambda: d.execute_script("return probeprof.store.frames") > 2)


def counted(d):
    """Functions, call paths, history and a comparison, of a run that counts every call."""
    with rig.Bridge(PROGRAM, "--gdb", "off", source=SOURCE) as b:
        visit(d, b)
        time.sleep(8)
        rig.command(b.port, do="mark", name="after start")
        time.sleep(20)  # the history has a minute: half of one shows what a curve looks like
        for name, height in (("functions", 560), ("paths", 640), ("history", 640)):
            rig.open_view(d, name)
            picture(d, name, height)
        d.execute_script("probeprof.useMark('after start')")
        rig.open_view(d, "compare")
        until("differences", lambda: rig.rows(d, "Differences"))
        picture(d, "compare", 560)


def sampled(d):
    """Source and instructions beside samples."""
    with rig.Bridge(PROGRAM, "--gdb", "off", "--sample", "--rate", "5k", source=SOURCE) as b:
        visit(d, b)
        d.execute_script("probeprof.openFunction([...probeprof.store.model.fns.values()].find((f) => f.name === 'GetLastNode'))")
        until("rows", lambda: rig.rows(d, "Source and instructions"))
        time.sleep(8)
        d.execute_script("""document.querySelector('[aria-label="Source and instructions"]').scrollTop = 340""")  # the loop that takes the time
        picture(d, "code", 640)


def main():
    d = rig.browser()
    try:
        for part in (counted, sampled):
            if part.__name__ in sys.argv[3:] or not sys.argv[3:]:
                part(d)
    finally:
        d.quit()


main()
