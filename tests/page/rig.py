"""What the page's tests share: Debian's Chromium driven by python3-selenium, probeprof beside it, and a look at both.

Without chromium, chromium-driver or python3-selenium a test is skipped and says so (77).
"""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    if os.path.exists("/usr/bin/python3") and os.path.realpath(sys.executable) != os.path.realpath("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])  # Debian's packages are Debian's Python's
    print("skipped: no python3-selenium")
    sys.exit(77)

PATIENCE = int(os.environ.get("PAGE_PATIENCE", "600"))  # s: a busy machine is slow, and fails nothing


# In each page before its own scripts: what its notes say, by their keys.
KEEP_NOTES = """
addEventListener('DOMContentLoaded', () => {
    const place = document.querySelector('#trouble');
    if (!place)
        return;
    window.notesTold = {};
    const keep = () => {
        for (const note of place.querySelectorAll('[data-note]'))
            (notesTold[note.dataset.note] ??= new Set()).add(note.innerText);
    };
    keep();
    new MutationObserver(keep).observe(place, {childList: true, subtree: true});
});"""


def browser(width=1400, height=900, dark=False, motion=True, more=()):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        print("skipped: no chromium, or no chromium-driver")
        sys.exit(77)
    o = Options()
    o.binary_location = chromium
    for flag in ("--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--force-device-scale-factor=1", *more):
        o.add_argument(flag)
    if os.getuid() == 0:
        o.add_argument("--no-sandbox")
    o.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    d = webdriver.Chrome(service=Service(driver), options=o)
    d.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": KEEP_NOTES})
    d.set_script_timeout(PATIENCE)
    d.set_page_load_timeout(PATIENCE)
    look(d, width, height, dark, motion)
    return d


def look(d, width=1400, height=900, dark=False, motion=True):
    d.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
    d.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
        {"name": "prefers-reduced-motion", "value": "no-preference" if motion else "reduce"}]})


def until(what, test, patience=PATIENCE):
    """Waits until test() gives something; fails saying what was waited for."""
    end, last = time.monotonic() + patience, None
    while time.monotonic() < end:
        try:
            last = test()
        except Exception as e:  # what is not there yet
            last, error = None, e
        else:
            error = None
        if last:
            return last
        time.sleep(0.05)
    raise AssertionError(f"waited {patience} s for: {what}; {error or last!r}")


def told(d, key, *words):
    """Has that note said all of them at once since the page was opened? Many go after some seconds, and a busy machine may take longer from one look to the next."""
    said = d.execute_script("return [...(notesTold[arguments[0]] ?? [])]", key)
    return any(all(w in text for w in words) for text in said)


def severe(d):
    """Errors of the page: scripts, and what its security policy refused. Answers of the server that a test asked for are none."""
    return [m for m in d.get_log("browser") if m["level"] == "SEVERE" and "Failed to load resource" not in m["message"] and "net::ERR" not in m["message"]]


def no_errors(d):
    errors = severe(d)  # reading the log empties it
    assert not errors, errors


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(port, method, path, body=None, headers=None):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    c.request(method, path, body, headers or {})
    r = c.getresponse()
    text = r.read()
    c.close()
    return r.status, text


def profile(port):
    status, text = ask(port, "GET", "/profile.json")
    assert status == 200, (status, text[:200])
    return json.loads(text)


def command(port, **what):
    return ask(port, "POST", "/api/1/control", json.dumps(what), {"Content-Type": "application/json", "X-Probeprof": "1"})


class Bridge:
    """probeprof with its feed on a port of its own, in a folder of its own."""

    def __init__(self, program, *args, probe="sim:sh7750", example="profexam", source=None, port=None):
        self.port = port or free_port()
        self.folder = tempfile.mkdtemp(prefix="page-")
        if example:
            here = os.path.join(source, "docs/examples", example)
            for name in os.listdir(here):
                shutil.copy(os.path.join(here, name), self.folder)
        self.log = open(os.path.join(self.folder, "log"), "w+b")
        self.process = subprocess.Popen([os.path.abspath(program), *args, "--http", str(self.port)], cwd=self.folder, stdout=self.log, stderr=subprocess.STDOUT,
                                        stdin=subprocess.DEVNULL, env={**os.environ, **({"PROBEPROF_PROBE": probe} if probe else {})})
        until("the feed's port", self.up)

    def up(self):
        if self.process.poll() is not None:
            self.log.seek(0)
            raise SystemExit(f"probeprof ended with {self.process.returncode}:\n{self.log.read().decode(errors='replace')}")
        return ask(self.port, "GET", "/healthz")[0] in (200, 401, 503)  # 401: with a token

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(600)
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def open_view(d, name):
    tab = d.find_element(By.ID, f"tab-{name}")
    tab.click()
    try:
        until(f"view {name}", lambda: tab.get_attribute("aria-selected") == "true")
    except AssertionError as e:  # says where the click went
        under = d.execute_script("const r = arguments[0].getBoundingClientRect(), e = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2); return [r.x, r.y, e?.outerHTML.slice(0, 200), probeprof.now, document.hidden]", tab)
        raise AssertionError(f"{e}; the tab and what is there: {under}; {severe(d)}") from None


def rows(d, label):
    """The rows that a grid has in the document: {column: exact value, or text}."""
    return d.execute_script("""
        const grid = document.querySelector(`[aria-label="${arguments[0]}"]`);
        return [...grid.querySelectorAll('[role=row][data-key]:not([hidden])')].map((r) =>
            Object.fromEntries([...r.children].map((c) => [c.dataset.id, c.dataset.value ?? c.textContent])));""", label)


def name_of(row):
    return re.sub(r"^\??(H )?", "", row["name"])


def main(cases):
    """Runs cases by name, or all."""
    wanted = [a for a in sys.argv[3:] if not a.startswith("-")]
    for case in cases:
        if wanted and case.__name__ not in wanted:
            continue
        start = time.monotonic()
        case()
        print(f"{case.__name__}: ok, {time.monotonic() - start:.1f} s", flush=True)
