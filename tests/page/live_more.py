#!/usr/bin/env python3
"""The page on the real program, in Chromium: source and instructions are those of /api/1/function/ID, callers and callees too; a part of the history is that of
/api/1/range, a file that is picked is beside the profile as it was made.

usage: live_more.py PROBEPROF SOURCE_DIR [CASE...]      exit 0 all hold, 77 no browser
"""
import json
import os
import shutil
import tempfile

import live_rig
import rig
from live_rig import FIGURES, SOURCE, bridge, d, hold, record, visit
from rig import By, until


def every_row(label):
    """All rows of a grid, in order, by scrolling through it."""
    grid = f"document.querySelector('.grid[aria-label=\"{label}\"]')"
    got, at = {}, 0
    d.execute_script(f"{grid}.scrollTop = 0")
    while True:
        place = d.execute_async_script(f"""const done = arguments[0], g = {grid}; requestAnimationFrame(() => requestAnimationFrame(() => done([
            [...g.querySelectorAll('[role=row][data-key]:not([hidden])')].map((r) => [Number(r.ariaRowIndex), r.dataset.key, Number(r.ariaLevel), r.ariaExpanded, Object.fromEntries([...r.children].map((c) => [c.dataset.id, c.dataset.value ?? c.textContent])), r.textContent]),
            Number(g.getAttribute('aria-rowcount')) - 1, g.clientHeight])))""")
        got.update({r[0]: r[1:] for r in place[0]})
        if len(got) >= place[1] or at > 200:
            assert len(got) == place[1], (len(got), place[1])
            return [got[k] for k in sorted(got)]
        at += 1
        d.execute_script(f"{grid}.scrollTop += {place[2] // 2}")


def show_function(name):
    rig.open_view(d, "function")
    d.execute_script("probeprof.openFunction([...probeprof.store.model.fns.values()].find((f) => f.name === arguments[0]))", name)
    until(f"what is known of {name}", lambda: d.execute_script("const c = probeprof.view.code; return c.told?.name === arguments[0] && probeprof.view.title.textContent.endsWith(arguments[0])", name))


def shown_way(way):
    d.find_element(By.CSS_SELECTOR, f".code-part [data-way={way}]").click()
    until(way, lambda: d.find_element(By.CSS_SELECTOR, f".code-part [data-way={way}]").get_attribute("aria-checked") == "true")


def same_code(t, untraced):
    """The grid has what the endpoint tells, row by row: nothing more, and no figure that was not measured there."""
    figures = lambda x: {k: str(x[k]) for k in ("hits", "count", "taken", "not_taken") if k in x}
    shown = lambda row: {k: row[k] for k in ("hits", "count", "taken", "not_taken") if row.get(k)}
    shown_way("asm")
    rows = until("all instructions", lambda: (r := every_row("Source and instructions")) and len(r) == len(t["instructions"]) and r)
    for (key, _, _, row, text), i in zip(rows, t["instructions"]):
        assert (key, row["code"], shown(row)) == (str(i["address"]), i["text"], figures(i)), (row, i)
        assert i["text"].expandtabs() in text and f"0x{i['address']:08X}" in text, (text, i)
        assert ("\u2298 not traced" in text) == (i["address"] in untraced), (text, i)
    shown_way("source")
    lines = t["source"]["lines"] if t["source"] else []
    rows = until("all lines", lambda: (r := every_row("Source and instructions")) and len([x for x in r if x[0].startswith(":")]) == len(lines) and r)
    for (key, _, _, row, text), line in zip(rows, lines):
        assert (key, row["code"], shown(row)) == (f":{line['line']}", line.get("text", "(no text)" if line["code"] else ""), figures(line)), (row, line)
        assert line.get("text", "").expandtabs() in text and str(line["line"]) in text, (text, line)
    shown_way("both")
    rows = until("both", lambda: (r := every_row("Source and instructions")) and len(r) >= len(lines) + len(t["instructions"]) and r)
    under = None
    by_address = {str(i["address"]): i for i in t["instructions"]}
    for key, level, _, row, _ in rows:
        if level == 1:
            under = key
        else:
            i = by_address.pop(key)
            assert shown(row) == figures(i) and under == (f"{i.get('file', '')}:{i['line']}" if "line" in i else ""), (under, row, i)
    assert not by_address, by_address
    return len([r for r in rows if shown(r[3])])


def code_has_what_the_service_tells():
    folder = tempfile.mkdtemp(prefix="page-")
    runs = (("trace.rec", "irqdemo", ("--for", "60ms"), "sim:sh7750"), ("counts.rec", "motor", ("--for", "150ms"), "sim:s12zvml128"), ("samples.rec", "profexam", ("--sample", "--rate", "20k", "--for", "300ms"), "sim:sh7750"))
    for name, example, args, probe in runs:
        file, p = record(folder, name, example, *args, probe=probe)
        with bridge("view", file, probe=None, example=example) as b:
            visit(b)
            until("the file's hits", lambda: d.find_element(By.CSS_SELECTOR, "[data-fact=hits] b").text.replace(",", "") == str(p["totals"]["hits"]))
            ids = d.execute_script("return Object.fromEntries([...probeprof.store.model.fns.values()].map((f) => [f.name, f.id]))")
            measured = samples = kin_rows = 0
            for f in [f for f in p["functions"] if f["hits"] and f["low"]][:12]:
                t = json.loads(rig.ask(b.port, "GET", f"/api/1/function/{ids[f['name']]}")[1])
                show_function(f["name"])
                if t["instructions"]:
                    measured += same_code(t, {u["address"] for u in p["coverage"].get("untraced", [])})
                samples += sum(int(i.get("hits", 0)) for i in t["instructions"])
                if t["callers"] is not None:
                    kin_rows += same_kin(t)
            said = d.find_element(By.CSS_SELECTOR, ".code-part .notes").text
            if example == "irqdemo":
                assert measured == 0 and "Nothing was measured on single instructions" in said and kin_rows > 10, (measured, said, kin_rows)
            elif example == "motor":
                assert measured > 50, measured
            else:
                assert samples and samples == sum(f["hits"] for f in p["functions"] if f["hits"] and f["low"]), samples
            rig.no_errors(d)
    shutil.rmtree(folder)


def code_follows_a_run_to_its_last_figure():
    with bridge("--gdb", "off", "--sample", "--rate", "5k") as b:
        visit(b, "#view=function&fn=GetLastNode")
        until("samples on instructions", lambda: any(r[3].get("hits") for r in every_row("Source and instructions")))
        live_rig.press("Stop")
        until("paused", lambda: "paused" in live_rig.phase())
        id = d.execute_script("return probeprof.chosen().id")
        look = lambda: json.loads(rig.ask(b.port, "GET", f"/api/1/function/{id}")[1])

        def same():
            t, rows = look(), every_row("Source and instructions")
            shown = {r[0]: r[3]["hits"] for r in rows if r[1] == 2 and r[3]["hits"]}
            assert shown == {str(i["address"]): str(i["hits"]) for i in t["instructions"] if "hits" in i}, (shown, t["hits"])
            return sum(map(int, shown.values())) == int(t["hits"])
        until("the last figures", same)


def counters_and_points_are_chosen_while_it_runs():
    with bridge("--start", "main+8", "--gdb", "off") as b:
        visit(b)
        until("hits", lambda: rig.profile(b.port)["totals"]["hits"] > 1000)
        dialog("e", c1="instructions", c2="elapsed-time")
        until("another epoch", lambda: rig.told(d, "epoch", "Counting starts over"))
        until("their names", lambda: d.execute_script("return probeprof.store.model.hello.counters.map((c) => c[0])") == ["instructions", "elapsed-time"])
        rig.open_view(d, "functions")
        until("them in the titles", lambda: "C2 cycles" in d.find_element(By.CSS_SELECTOR, ".grid[aria-label=Functions] .tops").text)
        until("hits of the new epoch", lambda: any(int(r["hits"]) > 100 for r in rig.rows(d, "Functions")))
        dialog("o", start="BuildList", stop="GetLastNode\nMallocNode")
        until("them in the head", lambda: d.find_element(By.CSS_SELECTOR, "[data-fact=points] dd").text == "\u25b6 BuildList \u25a0 GetLastNode \u25a0 MallocNode")
        show_function("GetLastNode")
        until("the stop point in the code", lambda: [r[0] for r in every_row("Source and instructions") if "\u25a0 stop" in r[4] and r[1] == 2])
        dialog("o", start="no_such_function", stop="")
        until("why not", lambda: rig.told(d, "refused", "The points stay", "no_such_function"))
        assert "BuildList" in d.find_element(By.CSS_SELECTOR, "[data-fact=points] dd").text
        rig.no_errors(d)


def dialog(key, **fields):
    """Opens it by its key, fills it in, and says yes."""
    d.find_element(By.TAG_NAME, "body").send_keys(key)
    until("the dialog", lambda: d.find_elements(By.CSS_SELECTOR, "dialog[open] form"))
    d.execute_script("for (const [name, value] of Object.entries(arguments[0])) document.querySelector(`dialog [name=${name}]`).value = value", fields)
    d.find_element(By.CSS_SELECTOR, "dialog button[type=submit]").click()


def code_by_keys_and_its_points():
    with bridge("--start", "main+8", "--gdb", "off") as b:
        visit(b, "#view=function&fn=main")
        until("its code", lambda: d.execute_script("return probeprof.view.code?.grid.rows.length") > 5)
        main = next(f for f in rig.profile(b.port)["functions"] if f["name"] == "main")
        row = until("the start point", lambda: [r for r in every_row("Source and instructions") if "\u25b6 start" in r[4]])
        assert str(main["low"] + 8) in [r[0] for r in row] and len(row) == 2, row  # the instruction, and its line
        grid = d.find_element(By.CSS_SELECTOR, ".grid[aria-label='Source and instructions']")
        rows = every_row("Source and instructions")
        line = next(r[0] for r in rows if r[1] == 1 and r[2] == "true")
        below = [r[1] for r in rows][[r[0] for r in rows].index(line) + 1:].index(1)
        d.execute_script("const g = probeprof.view.code.grid; g.go(g.rows.findIndex((r) => r.key === arguments[0]))", line)
        grid.send_keys(rig.Keys.ARROW_LEFT)
        until("fewer rows", lambda: int(grid.get_attribute("aria-rowcount")) - 1 == len(rows) - below)
        until("folded", lambda: d.find_element(By.CSS_SELECTOR, f".grid [data-key='{line}']").get_attribute("aria-expanded") == "false")
        grid.send_keys(rig.Keys.ARROW_RIGHT)
        until("all rows", lambda: int(grid.get_attribute("aria-rowcount")) - 1 == len(rows))
        grid.send_keys("t", "t")
        until("instructions alone", lambda: d.execute_script("return probeprof.view.code.way") == "asm" and all(r[1] == 1 for r in every_row("Source and instructions")))
        show_function("GetLastNode")
        to = until("a jump", lambda: d.execute_script("const g = probeprof.view.code.grid; g.go(g.rows.findIndex((r) => r.to.startsWith('GetLastNode+'))); return g.rows.find((r) => r.key === g.selected).to"))
        grid.send_keys(rig.Keys.ENTER)
        until("where it leads", lambda: d.execute_script("const c = probeprof.view.code; return Number(c.grid.selected) === c.told.low + Number(arguments[0].split('+')[1])", to))
        rig.no_errors(d)


def same_kin(t):
    """Callers and callees as the service has them: of recursion the outermost call counts."""
    want = [{k["name"] or "(begins)": [str(k[c]) for c in FIGURES.values()] for k in t[side]} for side in ("callers", "callees")]

    def same():
        got = [{rig.name_of(r): [r.get(c, "0") for c in FIGURES] for r in rig.rows(d, label)} for label in ("Callers", "Called functions")]
        assert got == want, (t["name"], got, want)
        return True
    until("callers and callees", same)
    return sum(map(len, want))


def differences(expected):
    """Rows of Compare: (hits before, since, C1 before, since) by name."""
    def same():
        got = {rig.name_of(r): tuple(int(r[k]) for k in ("ha", "hb", "a", "b")) for r in rig.rows(d, "Differences")}
        assert got == expected, (got, expected)
        return True
    until("the differences", same)


def a_part_of_the_history_beside_all():
    with bridge() as b:
        visit(b, "#view=history")
        until("some seconds", lambda: d.execute_script("return probeprof.store.model.series[1].length") > 4)
        p = hold(b)
        plot = until("a curve", lambda: d.find_element(By.CSS_SELECTOR, ".chart[data-chart=rate] .u-over"))
        until("it to rest", lambda: d.execute_script("const n = probeprof.store.model.series[1]; return n[n.length - 1][3]") == 0)
        d.execute_script("probeprof.view.show(true)")
        at = d.execute_script("const u = probeprof.view.charts.get('rate').u, n = probeprof.store.model.series[1].filter((x) => x[3] > 0); return [n[1][1] - 100, n[2][1] + 100].map((w) => u.valToPos(w / 1000, 'x'))")
        wide = plot.size["width"] / 2
        rig.webdriver.ActionChains(d).move_to_element_with_offset(plot, int(at[0] - wide), 0).click_and_hold().move_by_offset(max(4, int(at[1] - at[0])), 5).release().perform()
        r = until("a part", lambda: d.execute_script("return probeprof.view.range"))
        status, text = rig.ask(b.port, "GET", f"/api/1/range?from={round(r['from'])}&to={round(r['to'])}")
        assert status == 200, text
        d.find_element(By.XPATH, "//button[.='Compare with all']").click()
        until("the comparison", lambda: d.execute_script("return probeprof.now") == "compare")
        part = {row[0]: row for row in json.loads(text)["f"]}
        names = d.execute_script("return [...probeprof.store.model.fns.values()].map((f) => [f.name, f.id])")
        of = {f["name"]: f for f in p["functions"] if f["hits"] or f["c1_children"]}
        value = lambda id, k: int(part.get(id, [0] * 6)[k])
        assert part and sum(value(id, 1) for _, id in names) > 0
        differences({name: (of[name]["hits"], value(id, 1), of[name]["c1"], value(id, 2)) for name, id in names if name in of})
        d.find_element(By.ID, "tab-history").click()
        for label in ("from", "to"):  # by keys: a second in which nothing has ended
            d.execute_script("const e = document.querySelector(`[aria-label='A part of the time, ${arguments[0]}']`); e.value = arguments[1]; e.dispatchEvent(new Event('change'))", label, "00:00:01" if label == "from" else "00:00:02")
        d.find_element(By.XPATH, "//button[.='Compare with all']").click()
        until("the reason", lambda: rig.told(d, "refused", "That part of the history cannot be compared"))
        rig.no_errors(d)


def a_file_beside_the_profile():
    folder = tempfile.mkdtemp(prefix="page-")
    file, there = record(folder, "run.rec", "profexam", "--start", "main+8", "--stop", "0x0C010030", "--passes", "1")
    there["functions"].append({**there["functions"][0], "name": "<img src=x onerror=hacked()>", "hits": 7, "c1": 11})
    paths = {name: os.path.join(folder, name) for name in ("profile.json", "other.json", "no.json", "samples.json")}
    for name, what in (("profile.json", there), ("other.json", {**there, "counters": [{"name": "dcache-miss"}, None]}), ("no.json", {"schema": "something"}), ("samples.json", {**there, "type": "statistical"})):
        with open(paths[name], "w", encoding="utf-8") as f:
            json.dump(what, f)
    with bridge() as b:
        visit(b)
        until("hits", lambda: rig.profile(b.port)["totals"]["hits"] > 1000)
        here = {f["name"]: f for f in hold(b)["functions"]}
        rig.open_view(d, "compare")
        pick = d.find_element(By.CSS_SELECTOR, "input[type=file]")
        said = lambda: d.find_element(By.CSS_SELECTOR, "section[aria-label=Compare] .bar .soft").text
        pick.send_keys(paths["profile.json"])
        both = [{f["name"]: f for f in there["functions"]}, here]
        figures = lambda name: tuple(x[name][k] if name in x else 0 for k in ("hits", "c1") for x in both)
        differences({name: figures(name) for name in {**both[0], **both[1]} if any(x.get(name, {}).get(k) for x in both for k in ("hits", "c1", "c1_children"))})
        assert d.execute_script("return document.images.length") == 0
        pick.send_keys(paths["other.json"])
        until("why only hits are compared", lambda: "counter 1 counts dcache-miss there, elapsed-time here" in said())
        until("hits alone", lambda: all("a" not in r and "hb" in r for r in rig.rows(d, "Differences")) and rig.rows(d, "Differences"))
        pick.send_keys(paths["samples.json"])
        until("that they are not alike", lambda: "of samples, the other of calls" in said() and not rig.rows(d, "Differences"))
        for path, why in ((file, "it is no JSON"), (paths["no.json"], "no profile of probeprof")):
            pick.send_keys(path)
            until(why, lambda: rig.told(d, "refused", why))
        rig.no_errors(d)
    shutil.rmtree(folder)


live_rig.main(code_has_what_the_service_tells, code_follows_a_run_to_its_last_figure, code_by_keys_and_its_points, a_part_of_the_history_beside_all, a_file_beside_the_profile, counters_and_points_are_chosen_while_it_runs)
