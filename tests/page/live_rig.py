"""What the tests of the page on the real program share: a browser, and a bridge with a simulated board that it visits.

A script that imports this is called with PROBEPROF SOURCE_DIR [CASE...].
"""
import json
import os
import subprocess
import sys
import time

import rig
from rig import By, until

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), sys.argv[2]
RUN = ("--gdb", "off")  # with a start point the next pass would go on by itself
FIGURES = {"hits": "hits", "c1": "c1", "c1ch": "c1_children", "c2": "c2", "c2ch": "c2_children"}
d = rig.browser()


def bridge(*args, **more):
    return rig.Bridge(PROGRAM, *(args or RUN), source=SOURCE, **more)


def visit(b, hash=""):
    d.get("about:blank")
    d.get(f"http://localhost:{b.port}/{hash}")
    until("frames", lambda: d.execute_script("return probeprof.store.frames") > 2)


def phase():
    return d.find_element(By.CSS_SELECTOR, "[data-fact=phase] dd").text


def press(button):
    found = until(f"the button {button} ({phase()})", lambda: d.find_elements(By.XPATH, f"//div[@id='actions']/button[.='{button}']"))
    found[0].click()


def hold(b):
    """Stops counting by the page's own button, so that all that is compared is of one moment."""
    press("Stop")
    until("paused", lambda: "paused" in phase())

    def settled():  # the last events may come behind the answer, and a busy machine draws late
        p = rig.profile(b.port)
        assert d.execute_script("return probeprof.store.model.tot.map(String)") == [str(p["totals"][k]) for k in ("hits", "c1", "c2")]
        time.sleep(0.5)
        again = rig.profile(b.port)
        return p["functions"] == again["functions"] and again
    return until("a profile at rest, and the page to have it", settled)


def same_figures(rows, expected, columns=FIGURES):
    for name, row in rows.items():
        for mine, theirs in columns.items():
            if mine in row:
                assert row[mine] == str(expected[name][theirs]), f"{name} {mine}: {row[mine]} on the page, {expected[name][theirs]} in /profile.json"


def record(folder, name, example, *args, probe="sim:sh7750"):
    """A recording and its report."""
    file = os.path.join(folder, name)
    subprocess.run([PROGRAM, *args, "--gdb", "off", "--http", "off", "--record", file], cwd=os.path.join(SOURCE, "docs/examples", example), env={**os.environ, "PROBEPROF_PROBE": probe}, check=True, capture_output=True)
    return file, json.loads(subprocess.run([PROGRAM, "report", "--json", file], cwd=os.path.join(SOURCE, "docs/examples", example), check=True, capture_output=True).stdout)


def main(*cases):
    try:
        rig.main(cases)
    finally:
        d.quit()
