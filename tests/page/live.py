#!/usr/bin/env python3
"""The page on the real program with a simulated board, in Chromium: what it shows is what /profile.json has, to the last digit, in every view; its commands;
a bridge that ends and another that begins; eight tabs on one stream; what it weighs.

usage: live.py PROBEPROF SOURCE_DIR [CASE...]      exit 0 all hold, 77 no browser
"""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import live_rig
import rig
from live_rig import FIGURES, PROGRAM, SOURCE, bridge, d, hold, phase, press, record, same_figures, visit
from rig import By, until


def views_have_the_figures_of_the_profile():
    with bridge() as b:
        visit(b)
        until("hits", lambda: rig.profile(b.port)["totals"]["hits"] > 5000)
        p = hold(b)
        expected = {f["name"]: f for f in p["functions"] if f["hits"]}
        functions(expected)
        paths(p)
        kin(p)
        board(p)
        log()
        history()
        rig.no_errors(d)


def an_s12z_has_them_too():
    with bridge("--gdb", "off", probe="sim:s12zvml128", example="motor") as b:
        visit(b)
        until("hits", lambda: rig.profile(b.port)["totals"]["hits"] > 5000)
        hold(b)

        def same():  # what estimates rest on goes on coming for some seconds: of one moment are figures with the same profile before and after
            p, rows = rig.profile(b.port), {rig.name_of(r): r for r in rig.rows(d, "Functions")}
            assert p["functions"] == rig.profile(b.port)["functions"]
            expected = {f["name"]: f for f in p["functions"] if f["hits"]}
            assert rows and rows.keys() <= expected.keys(), rows
            same_figures(rows, expected)
            return True
        until("the figures of the profile", same)
        assert any(r.get("spread", "").startswith("\u00b1") for r in rig.rows(d, "Functions")), "counter 1 is an estimate there"


def functions(expected):
    rig.open_view(d, "functions")
    until("all of them", lambda: len(rig.rows(d, "Functions")) == len(expected))

    def same():  # a busy machine draws late
        rows = {rig.name_of(r): r for r in rig.rows(d, "Functions")}
        assert rows.keys() == expected.keys(), (sorted(rows), sorted(expected))
        same_figures(rows, expected)
        return rows
    rows = until("the figures of the profile", same)
    for name, row in rows.items():
        assert row["name"].startswith("?") == expected[name]["doubtful"], row
        assert row["file"] == (f"{expected[name]['file']}:{expected[name]['line']}" if expected[name]["file"] else ""), row
        assert abs(float(row["doubt"] or 0) - (expected[name]["doubt_share"] or 0)) < 1e-9, (row, expected[name])


def paths(p):
    rig.open_view(d, "paths")
    d.execute_script("probeprof.view.grid.box.hidden && probeprof.view.swap(); for (const x of probeprof.store.model.paths.values()) probeprof.view.open.add(probeprof.view.grid && (() => { const n = []; for (let a = x; a; a = a.parent) n.unshift(a.fn.name); return n.join('\\n'); })()); probeprof.view.show()")

    def same():  # a busy machine draws late, and may still show the file before
        rows = {name_in_tree(r): r for r in rig.rows(d, "Call paths")}
        assert len(rows) == len(p["tree"]), (len(rows), len(p["tree"]))
        for node in p["tree"]:
            row = rows[p["functions"][node["function"]]["name"]]  # in this program a function is on one path
            assert (row["hits"], row["self"], row["incl"]) == tuple(str(node[k]) for k in ("hits", "c1", "c1_children")), (row, node)
        return rows
    until("the figures of all paths", same)
    d.execute_script("probeprof.view.swap()")
    canvas = d.find_element(By.CSS_SELECTOR, ".canvas canvas")
    until("boxes", lambda: d.execute_script("return probeprof.view.boxes.drawn.length") > 5)
    wide = d.execute_script("const b = probeprof.view.boxes; return Object.fromEntries(b.drawn.map((x) => [x.box.name, x.w / b.box.clientWidth]))")
    whole = p["totals"]["c1"]
    for node in p["tree"]:
        name = p["functions"][node["function"]]["name"]
        share = node["c1_children"] / whole
        if share * 1400 > 2:
            assert abs(wide[name] - share) < 0.002, (name, wide[name], share)
    colours = d.execute_script("const c = arguments[0], g = c.getContext('2d'), s = new Set(g.getImageData(0, 0, c.width, Math.min(160, c.height)).data); return s.size", canvas)
    assert colours > 8, "nothing is drawn"


def name_in_tree(row):
    return re.sub(r"^[\u25be\u25b8]?\??", "", row["name"])


def kin(p):
    name = "GetNewNode"
    d.execute_script("probeprof.openFunction([...probeprof.store.model.fns.values()].find((f) => f.name === arguments[0]))", name)
    until("its callers", lambda: rig.rows(d, "Callers"))
    by, to = [{rig.name_of(r): r for r in rig.rows(d, label)} for label in ("Callers", "Called functions")]
    of = {f["name"]: f for f in p["functions"]}
    assert by.keys() == {"BuildList"} and to.keys() == {"MallocNode"}, (by, to)
    same_figures({"GetNewNode": by["BuildList"]}, of)
    same_figures({"MallocNode": to["MallocNode"]}, of)


def board(p):
    rig.open_view(d, "board")
    until("places", lambda: rig.rows(d, "Places not traced"))
    got = {int(r["address"], 16) for r in rig.rows(d, "Places not traced")}
    assert got == {u["address"] for u in p["coverage"]["untraced"]}, got
    text = d.find_element(By.ID, "view").text
    assert "elapsed-time (cycles)" in text and "sim:sh7750" in text and p["build_id"] in text, text


def log():
    rig.open_view(d, "log")
    until("entries", lambda: any("profiling" in r["text"] for r in rig.rows(d, "Log")))


def history():
    rig.open_view(d, "history")
    until("curves", lambda: len(d.find_elements(By.CSS_SELECTOR, ".chart canvas")) >= 3)
    d.find_element(By.XPATH, "//section[@aria-label='History']//button[.='As a table']").click()
    until("the same as a table", lambda: len(rig.rows(d, "History")) > 1)
    d.find_element(By.XPATH, "//section[@aria-label='History']//button[.='As a table']").click()


def commands():
    with bridge() as b:
        visit(b)
        until("hits", lambda: rig.profile(b.port)["totals"]["hits"] > 1000)
        press("Mark")
        until("the dialog", lambda: d.find_elements(By.CSS_SELECTOR, "dialog[open] input"))
        box = d.find_element(By.CSS_SELECTOR, "dialog input")
        box.clear()
        box.send_keys("<b>boot</b>\n")
        until("the mark", lambda: "<b>boot</b>" in json.dumps(json.loads(rig.ask(b.port, "GET", "/api/1/snapshot?view=log")[1])["st"]["marks"]))
        before = rig.profile(b.port)["totals"]["hits"]
        until("hits after it", lambda: rig.profile(b.port)["totals"]["hits"] > before + 2000)
        p = hold(b)
        status, mark = rig.ask(b.port, "GET", "/api/1/snapshot?mark=%3Cb%3Eboot%3C/b%3E&view=functions,nodes")
        assert status == 200, mark
        at_mark = {r[0]: r for r in json.loads(mark)["f"]}
        rig.open_view(d, "functions")
        d.find_element(By.XPATH, "//section[@aria-label='Functions']//button[.='Since mark']").click()
        until("since the mark", lambda: d.execute_script("return probeprof.lens.mode") == "mark")
        ids = {f["name"]: i for i, f in enumerate(p["functions"])}
        by_id = d.execute_script("return Object.fromEntries([...probeprof.store.model.fns.values()].map((f) => [f.name, f.id]))")
        until("differences", lambda: all(int(r["hits"]) == p["functions"][ids[rig.name_of(r)]]["hits"] - int(at_mark.get(by_id[rig.name_of(r)], [0, 0])[1]) for r in rig.rows(d, "Functions")) and rig.rows(d, "Functions"))
        rig.open_view(d, "compare")
        until("the comparison", lambda: rig.rows(d, "Differences"))
        for r in rig.rows(d, "Differences"):
            f = p["functions"][ids[rig.name_of(r)]]
            assert int(r["hb"]) + int(r["ha"]) == f["hits"] and int(r["a"]) + int(r["b"]) == f["c1"], (r, f)
        press("Save")
        until("why nothing is saved", lambda: rig.told(d, "refused", "Nothing was saved", "--output"))
        press("Start")
        until("it to go on", lambda: "profiling" in phase() or "waits" in phase())
        press("Clear")
        until("the question", lambda: d.find_elements(By.CSS_SELECTOR, "dialog[open]"))
        d.find_element(By.CSS_SELECTOR, "dialog button[type=submit]").click()
        until("to begin anew", lambda: rig.told(d, "epoch", "Counting starts over"))


def another_bridge_at_the_same_port():
    with bridge("--start", "main+8", "--gdb", "off") as b:
        visit(b, "#view=paths&path=main&path=BuildList")
        until("hits", lambda: rig.profile(b.port)["totals"]["hits"] > 1000)
        b.stop()
        until("to say so", lambda: rig.told(d, "link", "Not connected"))
        with bridge("--start", "main+8", "--gdb", "off", port=b.port):
            until("to go on", lambda: d.find_element(By.TAG_NAME, "body").get_attribute("data-link") == "live")
            until("the same zoom", lambda: [x.text for x in d.find_elements(By.CSS_SELECTOR, ".crumbs button")] == ["all", "main", "BuildList"] and d.execute_script("return probeprof.view.boxes.trunk.length") == 2)


def eight_tabs_one_reader():
    with bridge() as b:
        visit(b)
        first = d.current_window_handle
        for _ in range(7):
            d.switch_to.new_window("tab")
            d.get(f"http://localhost:{b.port}/")
            until("frames", lambda: d.execute_script("return probeprof.store.frames") > 1)
        until("one reader", lambda: json.loads(rig.ask(b.port, "GET", "/api/1/status")[1])["readers"] == 1)
        for handle in [h for h in d.window_handles if h != first]:
            d.switch_to.window(handle)
            d.close()
        d.switch_to.window(first)


def recordings_have_the_figures_of_the_report():
    folder = tempfile.mkdtemp(prefix="page-")
    files = [os.path.join(folder, name) for name in ("three.rec", "five.rec")]
    here = os.path.join(SOURCE, "docs/examples/profexam")
    reports = []
    for file, passes in zip(files, ("3", "5")):
        subprocess.run([PROGRAM, "--start", "main+8", "--stop", "0x0C010030", "--passes", passes, "--gdb", "off", "--http", "off", "--record", file], cwd=here,
                       env={**os.environ, "PROBEPROF_PROBE": "sim:sh7750"}, check=True, capture_output=True)
        reports.append(json.loads(subprocess.run([PROGRAM, "report", "--json", file], check=True, capture_output=True).stdout))
    with bridge("view", *files) as b:
        visit(b)
        for p in reports:
            until("the file's hits", lambda: d.find_element(By.CSS_SELECTOR, "[data-fact=hits] b").text.replace(",", "") == str(p["totals"]["hits"]))
            expected = {f["name"]: f for f in p["functions"] if f["hits"]}
            functions(expected)
            paths(p)
            kin(p)
            board(p)
            rig.open_view(d, "timeline")
            t = json.loads(rig.ask(b.port, "GET", "/api/1/timeline?px=4096&levels=64")[1])
            assert len(t["calls"]) > 10, t
            until("its timeline", lambda: same_spans(t))
            picture(t)
            choice = d.find_element(By.CSS_SELECTOR, "[aria-label=Recording]")
            assert not d.find_element(By.XPATH, "//button[.='Clear']").is_enabled()
            if p is reports[0]:
                choice.find_elements(By.TAG_NAME, "option")[1].click()
        # the answer takes its time, and the view is drawn meanwhile
        d.execute_script("const ask = window.fetch; window.fetch = async (...of) => { if (String(of[0]).includes('file=')) await new Promise((done) => setTimeout(done, 1500)); return ask(...of); };")
        rig.open_view(d, "compare")
        until("the other one", lambda: len(rig.rows(d, "Differences")) == len(expected))
        for r in rig.rows(d, "Differences"):
            there, now = [next(f for f in p["functions"] if f["name"] == rig.name_of(r)) for p in reports]
            assert (r["ha"], r["hb"], r["a"], r["b"]) == tuple(str(x) for x in (there["hits"], now["hits"], there["c1"], now["c1"])), r
        rig.no_errors(d)
    shutil.rmtree(folder)


def a_saved_page_has_the_figures_of_the_report():
    folder = tempfile.mkdtemp(prefix="page-")
    try:
        file, p = record(folder, "a<script>&'\".rec", "profexam", "--start", "main+8", "--stop", "0x0C010030", "--passes", "2")
        page = os.path.join(folder, "saved.html")
        subprocess.run([PROGRAM, "report", file, "--html", page], check=True, capture_output=True)
        with bridge("view", file, example=None) as b:
            timeline = json.loads(rig.ask(b.port, "GET", "/api/1/timeline?px=4096&levels=64")[1])
            names = json.loads(rig.ask(b.port, "GET", "/api/1/snapshot?view=functions")[1])["names"]
            code = {n[1]: json.loads(rig.ask(b.port, "GET", f"/api/1/function/{n[0]}")[1]) for n in names}
        d.get("about:blank")
        d.get(f"file://{page}")
        until("its figures", lambda: d.execute_script("return probeprof.store.frames") == 1)
        assert d.title == file, d.title
        functions({f["name"]: f for f in p["functions"] if f["hits"]})
        paths(p)
        kin(p)
        board(p)
        rig.open_view(d, "timeline")
        until("its timeline", lambda: same_spans(timeline))
        answers = d.execute_script("return Object.values(JSON.parse(document.getElementById('saved').textContent).answers)")
        seen = [a for a in answers if "instructions" in a]
        assert len(seen) == len(code) and any(a["instructions"] for a in seen), len(seen)
        for a in seen:
            for what in ("instructions", "source", "callers", "callees"):
                assert a.get(what) == code[a["name"]].get(what), (a["name"], what)
        rig.open_view(d, "compare")  # what only a server has is refused in words
        assert d.execute_script("return performance.getEntriesByType('resource').filter((r) => !r.name.startsWith('data:')).length") == 0
        for button in ("Stop", "Mark", "Clear", "Save"):
            assert not d.find_element(By.XPATH, f"//div[@id='actions']/button[.='{button}']").is_enabled(), button
        rig.no_errors(d)
    finally:
        shutil.rmtree(folder)


def marks_hold_on_the_page():
    folder = tempfile.mkdtemp(prefix="page-")
    try:
        file, _ = record(folder, "m.rec", "profexam", "--start", "main+8", "--stop", "0x0C010030", "--passes", "2")
        marks = os.path.join(folder, "mine")
        with open(marks, "w", encoding="utf-8") as f:
            f.write("tag GetLastNode\nrename MallocNode = node memory\ngroup list = /^(BuildList|InsertNode)$/\nexclude Initialise\n")
        page = os.path.join(folder, "saved.html")
        subprocess.run([PROGRAM, "report", file, "--marks", marks, "--html", page], check=True, capture_output=True)
        p = json.loads(subprocess.run([PROGRAM, "report", file, "--marks", marks, "--json"], check=True, capture_output=True).stdout)
        assert {"list", "node memory", "(excluded)"} <= {f["name"] for f in p["functions"]}
        with bridge("view", file, "--marks", marks, example=None) as b:
            for url in (f"http://localhost:{b.port}/", f"file://{page}"):
                d.get("about:blank")
                d.get(url)
                until("its figures", lambda: d.execute_script("return probeprof.store.frames") >= 1)
                functions({("*" if f["tagged"] else "") + f["name"]: f for f in p["functions"] if f["hits"]})
                d.execute_script("probeprof.openFunction([...probeprof.store.model.fns.values()].find((f) => f.name === 'list'))")
                until("why it has no code", lambda: "a group of functions" in d.find_element(By.CSS_SELECTOR, ".code-part").text)
                rig.no_errors(d)
    finally:
        shutil.rmtree(folder)


def losses_give_shares_with_intervals():
    folder = tempfile.mkdtemp(prefix="page-")
    try:
        file, p = record(folder, "l.rec", "profexam", "--start", "main+8", "--stop", "0x0C010030", "--passes", "6", "--policy", "live")
        assert p["losses"]["stretches"] > 2, p["losses"]
        with bridge("view", file, example=None) as b:
            visit(b)
            rig.open_view(d, "functions")
            for f in p["functions"]:
                row = until(f["name"], lambda: next(r for r in rig.rows(d, "Functions") if rig.name_of(r) == f["name"]))
                if f["c1_share_half"] is None:
                    assert row["seen"] == "", row
                else:
                    share, half = map(float, row["seen"].split())
                    assert abs(share - f["c1_share"]) < 1e-9 and abs(half - f["c1_share_half"]) < 1e-9, (row, f)
            rig.no_errors(d)
    finally:
        shutil.rmtree(folder)


def a_prf_is_shown_with_what_it_does_not_tell():
    folder = tempfile.mkdtemp(prefix="page-")
    rec, doc = record(folder, "two.rec", "profexam", "--start", "main+8", "--stop", "0x0C010030", "--passes", "2", "--output", os.path.join(folder, "two.prf"))
    prf = os.path.join(folder, "two.prf")
    sums = json.loads(subprocess.run([PROGRAM, "report", "--json", prf], check=True, capture_output=True).stdout)
    with bridge("view", prf, rec) as b:
        visit(b)
        until("the file's hits", lambda: d.find_element(By.CSS_SELECTOR, "[data-fact=hits] b").text.replace(",", "") == str(sums["totals"]["hits"]))
        functions({f["name"]: f for f in sums["functions"] if f["hits"]})
        paths(sums)
        kin(sums)
        until("no loss that nobody knows of", lambda: d.find_element(By.CSS_SELECTOR, "[data-fact=lost] b").text == "not known" and "not known" in d.find_element(By.CSS_SELECTOR, ".cover").text)
        for hidden in ("[data-fact=events]", ".cover .rail"):  # an empty one would say that all was lost
            assert not d.find_element(By.CSS_SELECTOR, hidden).is_displayed(), hidden
        rig.open_view(d, "board")
        until("that nobody knows", lambda: "Which places are not traced is not known" in d.find_element(By.ID, "view").text)
        rig.open_view(d, "compare")
        until("both", lambda: len(rig.rows(d, "Differences")) == len(sums["functions"]))
        for r in rig.rows(d, "Differences"):
            assert (r["ha"], r["a"]) == (r["hb"], r["b"]), r
        d.find_element(By.CSS_SELECTOR, "[aria-label=Recording]").find_elements(By.TAG_NAME, "option")[1].click()
        until("the recording, which knows", lambda: d.find_element(By.CSS_SELECTOR, "[data-fact=lost] b").text == "0")
        assert d.find_element(By.CSS_SELECTOR, ".cover .rail").is_displayed()
        assert doc["coverage"]["lost"] == 0
        rig.no_errors(d)
    shutil.rmtree(folder)


def folded_paths_are_shown_without_hits():
    folder = tempfile.mkdtemp(prefix="page-")
    with open(os.path.join(folder, "x.folded"), "w", encoding="utf-8") as f:
        f.write("main;read file 3\nmain;read file;copy 4\nmain 1\n")
    with bridge("view", f.name) as b:
        visit(b)
        until("the functions", lambda: {r["name"]: (r["c1"], r["c1ch"]) for r in rig.rows(d, "Functions")} == {"main": ("1", "8"), "read file": ("3", "7"), "copy": ("4", "4")})
        assert not [r for r in rig.rows(d, "Functions") if "hits" in r or "each" in r]
        assert not d.find_element(By.CSS_SELECTOR, "[data-fact=hits]").is_displayed()
        rig.open_view(d, "paths")
        d.execute_script("probeprof.view.grid.box.hidden && probeprof.view.swap()")
        until("the paths", lambda: rig.rows(d, "Call paths"))
        assert not [r for r in rig.rows(d, "Call paths") if "hits" in r]
        d.execute_script("probeprof.openFunction([...probeprof.store.model.fns.values()].find((f) => f.name === 'read file'))")
        until("its callers", lambda: [(rig.name_of(r), r["c1"], "hits" in r) for r in rig.rows(d, "Callers")] == [("main", "3", False)])
        text = d.find_element(By.ID, "view").text
        assert "hit" not in text.split("Called by")[0] and "0x0" not in text, text
        rig.no_errors(d)
    shutil.rmtree(folder)


def a_token_lets_in():
    token = "qJ8Zr0V1yTn3w5xKdE7uGA"
    file = tempfile.NamedTemporaryFile("w", suffix=".token", delete=False)
    file.write(token + "\n")
    file.close()
    try:
        with bridge("--gdb", "off", "--http-token-file", file.name) as b:
            url = f"http://localhost:{b.port}/"
            d.delete_all_cookies()
            d.get(url)
            until("to be refused", lambda: rig.told(d, "link", "Refused"))
            d.get("about:blank")
            d.get(f"{url}#t={token[:-1]}B")
            until("a wrong token to be refused", lambda: rig.told(d, "login", "Not let in"))
            assert token[:-1] not in d.current_url
            d.get("about:blank")
            d.get(f"{url}#t={token}")
            until("frames", lambda: d.execute_script("return probeprof.store.frames") > 2)
            assert token not in d.current_url, d.current_url
            d.refresh()
            until("frames by the cookie alone", lambda: d.execute_script("return probeprof.store.frames") > 2)
            assert token not in d.execute_script("return document.cookie"), "scripts can read the token"
    finally:
        os.unlink(file.name)
        d.delete_all_cookies()


def timeline_has_what_the_service_tells():
    with bridge(example="irqdemo") as b:  # it has handlers
        visit(b, "#view=timeline")
        until("to follow by itself", lambda: int(d.find_element(By.CSS_SELECTOR, "[aria-label=Timeline]").get_attribute("data-loads") or 0) > 2)
        until("handlers", lambda: d.execute_script("return probeprof.view.handlers.length") > 3)
        hold(b)
        d.execute_script("probeprof.view.refresh()")
        status, text = rig.ask(b.port, "GET", "/api/1/timeline?px=4096&levels=64")
        assert status == 200, text[:300]
        t = json.loads(text)
        until("the last events", lambda: same_spans(t))
        picture(t)
        timeline_as_a_table(t)
        timeline_by_keys(t)
        rig.no_errors(d)


def same_spans(t):
    calls, handlers, gaps, points = d.execute_script("""const v = probeprof.view, n = Number;
        return [v.calls.map((s) => [s.level, n(s.from), n(s.to), n(s.busy), s.times, s.fn ?? s.name, s.flags]), v.handlers.map((s) => [n(s.from), n(s.to), n(s.busy), s.times, s.fn ?? s.name, s.level, s.flags]),
            v.gaps.map((s) => [n(s.from), n(s.to), s.times]), v.points.map((s) => [n(s.from), s.times])];""")
    return calls == t["calls"] and handlers == [h[:5] + h[6:] for h in t["handlers"]] and gaps == [g[:3] for g in t["gaps"]] and points == [p[:2] for p in t["points"]]


def picture(t):
    calls = [c for c in t["calls"] if c[2] > c[1]]  # one that the last event began has no width yet
    until("boxes", lambda: d.execute_script("return probeprof.view.drawn.length") == len(calls) + len(t["handlers"]) + len(t["gaps"]) + len(t["points"]))
    drawn = d.execute_script("const v = probeprof.view; return v.drawn.filter((x) => x.span.what === 'call').map((x) => [x.span.level, Number(x.span.from), x.x / v.wide, x.w / v.wide])")
    for (level, start, x, w), call in zip(sorted(drawn), sorted(calls)):
        all = t["to"] - t["from"]
        assert (level, start) == tuple(call[:2]) and abs(x - (call[1] - t["from"]) / all) < 1e-6 and abs(w - (call[2] - call[1]) / all) < 1e-6, (level, start, x, w, call)
    colours = d.execute_script("const c = document.querySelector('#view canvas'), g = c.getContext('2d'); return new Set(g.getImageData(0, 0, c.width, 160).data).size")
    assert colours > 8, "nothing is drawn"


def timeline_as_a_table(t):
    names = d.execute_script("return Object.fromEntries([...probeprof.store.model.fns.values()].map((f) => [f.id, f.name]))")
    d.find_element(By.XPATH, "//section[@aria-label='Timeline']//button[.='As a table']").click()
    until("the table", lambda: len(rig.rows(d, "Timeline")) > 5)
    first = [*[[p[0], p[0], 0, p[1]] for p in t["points"]], *[[g[0], g[1], g[1] - g[0], g[2]] for g in t["gaps"]], *[h[:4] for h in t["handlers"]]]
    for row, want in zip(rig.rows(d, "Timeline"), first):
        assert [row[k] for k in ("from", "to", "busy", "times")] == [str(x) for x in want], (row, want)
    d.find_element(By.CSS_SELECTOR, ".grid[aria-label=Timeline]").send_keys(rig.Keys.END)
    until("its end", lambda: rig.rows(d, "Timeline") and any(r["from"] == str(t["calls"][-1][1]) for r in rig.rows(d, "Timeline")))
    last = t["calls"][-1]
    row = [r for r in rig.rows(d, "Timeline") if r["from"] == str(last[1])][-1]
    assert [row[k] for k in ("level", "from", "to", "busy", "times")] == [str(last[k]) for k in (0, 1, 2, 3, 4)], (row, last)
    assert row["name"].lstrip("?") == names.get(str(last[5]), last[5]), (row, last)
    rows = int(d.find_element(By.CSS_SELECTOR, ".grid[aria-label=Timeline]").get_attribute("aria-rowcount"))
    assert rows == len(t["calls"]) + len(first) + 1, rows
    d.find_element(By.XPATH, "//section[@aria-label='Timeline']//button[.='As a table']").click()


def timeline_by_keys(t):
    def press_key(*keys):
        rig.webdriver.ActionChains(d).send_keys(*keys).perform()
    view = d.find_element(By.CSS_SELECTOR, "section[aria-label=Timeline]")
    d.execute_script("probeprof.view.refresh()")
    rig.open_view(d, "log")
    press_key("8")
    until("the picture to have the keyboard", lambda: d.execute_script("return document.activeElement.tagName") == "CANVAS")
    press_key(rig.Keys.ARROW_DOWN)
    until("a box", lambda: d.execute_script("return probeprof.view.picked") != "")
    chosen = d.execute_script("const s = probeprof.view.chosen().span; return [s.name, s.level]")
    said = d.find_element(By.CSS_SELECTOR, "section[aria-label=Timeline] .facts").text
    assert chosen[0] in said and f"level {chosen[1]}" in said, (chosen, said)
    assert chosen[0] in d.find_element(By.CSS_SELECTOR, "#view canvas").get_attribute("aria-label")
    loads = int(view.get_attribute("data-loads"))
    press_key("+", "+")
    until("a closer look", lambda: int(view.get_attribute("data-loads")) > loads and d.execute_script("const v = probeprof.view; return Number(v.told.to) - Number(v.told.from)") < (t["to"] - t["from"]) * 0.26)
    assert view.get_attribute("data-stands") == "true"
    press_key(rig.Keys.BACKSPACE, rig.Keys.BACKSPACE)
    until("all of it again", lambda: d.execute_script("const v = probeprof.view; return v.zoomed === null && Number(v.told.from)") == t["from"])
    press_key("+", "0")
    until("all of it at once", lambda: d.execute_script("return probeprof.view.zoomed === null"))
    press_key("r")
    until("to follow again", lambda: view.get_attribute("data-stands") == "false")


def it_is_light():
    with bridge() as b:
        visit(b)
        for view in ("functions", "paths", "function", "history", "compare", "board", "log", "timeline"):
            rig.open_view(d, view)
        got = d.execute_script("return performance.getEntriesByType('resource').map((r) => new URL(r.name).pathname).filter((p) => p.startsWith('/assets/'))")
        files = sorted({"/", "/assets/worker.js", "/assets/hub.js", "/assets/link.js", *got})
        size = sum(len(gzip.compress(rig.ask(b.port, "GET", f)[1], 9)) for f in files)
        paint = d.execute_script("return performance.getEntriesByType('paint').map((p) => Math.round(p.startTime))")
        print(f"  {len(files)} files, {size} bytes gzipped; first paint after {paint} ms on this machine now")
        assert size < 150 * 1024, size
        assert all(f.startswith(("/assets/", "/")) for f in files)
        hosts = d.execute_script("return [...new Set(performance.getEntriesByType('resource').map((r) => new URL(r.name).host))]")
        assert hosts == [f"localhost:{b.port}"], hosts


live_rig.main(views_have_the_figures_of_the_profile, an_s12z_has_them_too, commands, another_bridge_at_the_same_port, eight_tabs_one_reader, recordings_have_the_figures_of_the_report,
              a_prf_is_shown_with_what_it_does_not_tell, marks_hold_on_the_page, losses_give_shares_with_intervals, a_saved_page_has_the_figures_of_the_report, folded_paths_are_shown_without_hits, a_token_lets_in,
              timeline_has_what_the_service_tells, it_is_light)
