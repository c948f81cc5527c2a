#!/usr/bin/env python3
"""What the page does when something is wrong, and with what nobody would send on purpose: a server that goes and comes back, refuses, cuts, says good-bye,
begins a new epoch, a board that is away, losses; hostile names; figures beyond 2^53; ten tabs. Against feed_server.py, which does each when it is told to.

usage: states.py - SOURCE_DIR [CASE...]      exit 0 all hold, 77 no browser
"""
import os
import sys

import rig
from feed_server import HOSTILE, Feed, serve
from rig import By, Keys, until

PAGE = os.path.join(sys.argv[2], "profiler/page")
d = rig.browser()


class Site:
    def __init__(self, query="", **feed):
        self.port, self.feed = rig.free_port(), Feed(**feed)
        self.server = serve(self.port, PAGE, self.feed)
        self.url = f"http://127.0.0.1:{self.port}/{query}"

    def open(self, hash=""):
        d.get("about:blank")
        d.get(self.url + hash)
        until("frames", lambda: d.execute_script("return probeprof.store.frames") > 2)

    def down(self):
        self.feed.drop = True
        self.server.shutdown()
        self.server.server_close()

    def up(self):
        self.server.stopped = True
        self.feed.drop = False
        self.server = serve(self.port, PAGE, self.feed)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.down()
        self.server.stopped = True
        d.get("about:blank")


def text(css):
    """In one step: between two, the page may have made that element anew."""
    return d.execute_script("return document.querySelector(arguments[0])?.innerText ?? ''", css)


def note(key):
    return text(f"#trouble [data-note={key}]")


def told(key, *words):
    return rig.told(d, key, *words)


def crumbs():
    return d.execute_script("return [...document.querySelectorAll('.crumbs button')].map((b) => b.innerText)")


def hits():
    return int(text("[data-fact=hits] b").replace(",", ""))


def frames_go_on(before=None):
    before = before or d.execute_script("return probeprof.store.frames")
    until("more frames", lambda: d.execute_script("return probeprof.store.frames") > before + 2)


def hostile_names_stay_text():
    with Site() as s:
        s.open()
        for view in ("functions", "paths", "function", "compare", "board", "log", "history"):
            rig.open_view(d, view)
            if view == "paths":
                d.execute_script("probeprof.view.zoom(['main']); probeprof.view.swap(); probeprof.view.swap()")
            if view == "function":
                d.execute_script("probeprof.openFunction([...probeprof.store.model.fns.values()].find((f) => f.name.startsWith('<img')))")
                until("its title", lambda: HOSTILE[0] in d.find_element(By.CSS_SELECTOR, "h2.title").text)
            frames_go_on()
            assert d.execute_script("return [window.hacked ?? null, document.images.length, document.scripts.length]") == [None, 0, 1], view
        rig.open_view(d, "functions")
        for typed, want in (("hacked", {HOSTILE[0], HOSTILE[1]}), ("evil", {"a\ufffd[31mred\ufffdevil\ufffd"})):
            box = d.find_element(By.CSS_SELECTOR, "[aria-label='Filter functions']")
            box.clear()
            box.send_keys(typed)
            until(typed, lambda: {rig.name_of(r) for r in rig.rows(d, "Functions")} == want)
        rig.no_errors(d)


def figures_beyond_2_53_are_exact():
    with Site(functions=10, paths=6) as s:
        s.feed.big = 9007199254740993  # 2^53 + 1: no double is that
        for _ in range(3):
            s.feed.tick()
        s.feed.big = 0
        s.open()
        s.down()
        want = {s.feed.names[r[0]]: r for r in s.feed.frame("snap")["f"]}
        until("the last frame", lambda: d.execute_script("return probeprof.store.link.state") != "live")
        name = s.feed.names[0]

        def shown():  # a busy machine draws late
            d.execute_script("probeprof.view.show(true)")
            got = {rig.name_of(r): r for r in rig.rows(d, "Functions")}
            last = d.execute_script("return probeprof.store.model.fns.get(0).v.map(String)")
            assert want.keys() <= got.keys() and int(last[2]) > 2 ** 54, last
            assert got[name]["c1ch"] == last[2] and got[name]["c1"] == last[1], (got[name], last)
            return got
        got = until("all rows, to the last digit", shown)
        assert any(int(r["c1ch"]) % 2 for r in got.values()), "a double would have made all of them even"


def server_goes_and_comes_back():
    with Site() as s:
        s.open("#view=paths&path=main&path=BuildList")
        d.execute_script("probeprof.lives = 0; probeprof.store.on('link', () => probeprof.lives += probeprof.store.link.state === 'live')")
        s.feed.drop, asked = True, len(s.feed.asked)
        until("another attempt, which is accepted yet", lambda: len(s.feed.asked) > asked)
        s.down()
        until("the page to say so", lambda: told("link", "Not connected", "Figures are of"))
        assert d.execute_script("return probeprof.lives") == 0
        assert "stale" in d.find_element(By.TAG_NAME, "body").get_attribute("class")
        assert not d.find_element(By.XPATH, "//button[.='Mark']").is_enabled()
        s.up()
        until("the page to go on", lambda: note("link") == "")
        frames_go_on()
        assert "since=" in s.feed.asked[-1], s.feed.asked[-1]
        assert crumbs() == ["all", "main", "BuildList"], crumbs()


def refusals_are_told():
    with Site() as s:
        s.open()
        for status, what in ((503, "128 readers are connected already"), (401, "a token is needed"), (410, "that epoch is over")):
            s.feed.refuse, s.feed.drop = (status, {"code": "x", "what": what, "hint": f"hint {status}"}), True
            until(what, lambda: told("link", what, f"hint {status}"))
            asked = len(s.feed.asked)
            if status == 410:
                until("to begin anew", lambda: len(s.feed.asked) > asked and "since=" not in s.feed.asked[-1])
            s.feed.refuse, s.feed.drop = None, False
            d.execute_script("probeprof.store.again()")
            until("to go on", lambda: note("link") == "")


def cut_and_good_bye():
    with Site() as s:
        s.open()
        s.feed.cut = "nothing was taken for 30 s"  # of all that begin from here on
        s.feed.end = ("the run has ended", "see the table in its terminal")
        until("the good-bye", lambda: told("link", "the run has ended", "see the table"))
        until("other words beside the same button", lambda: d.execute_script("""
            const button = () => document.querySelector('[data-note=link] button'), before = button();
            probeprof.head.note('link', 'bad', 0, 'Not connected: in other words');
            return before && before === button();"""))
        s.feed.end = None
        until("it is pressed, or has gone on by itself", lambda: d.execute_script("document.querySelector('[data-note=link] button')?.click(); return true"))
        until("why it was cut", lambda: told("cut", "nothing was taken for 30 s"))
        s.feed.cut = None
        s.feed.clear()  # another hello
        until("that it was not", lambda: note("cut") == "")


def notes_go_when_their_own_time_is_over():
    with Site() as s:
        s.open()
        d.execute_async_script("""
            const head = probeprof.head, done = arguments[0];
            head.note('test', 'bad', 300, 'the first');
            setTimeout(() => head.note('test', 'bad', 0, 'one that stays'), 100);
            setTimeout(done, 600);""")
        assert note("test") == "one that stays", note("test")
        d.execute_script("probeprof.head.note('test', 'bad', 300, 'one that goes')")
        until("it to go", lambda: note("test") == "")


def new_epoch_keeps_zoom_and_selection():
    with Site() as s:
        s.open("#view=paths&path=main&path=BuildList")
        total = hits()
        until("many hits", lambda: hits() > total + 3000)
        s.feed.clear()
        until("to be told", lambda: told("epoch", "Counting starts over"))
        until("the other epoch", lambda: d.execute_script("return probeprof.store.model.hello.epoch") == s.feed.epoch)
        until("its hits, of which there may soon be more than before", lambda: hits() <= s.feed.hits())
        assert crumbs() == ["all", "main", "BuildList"]


def board_away_and_losses():
    with Site() as s:
        s.open()
        assert note("lost") == "" and note("away") == ""
        s.feed.lose(1234)
        until("the losses", lambda: "1,234 events lost" in note("lost") and "ring in the board was full" in note("lost"))
        assert text("[data-fact=lost] b") == "1,234"
        s.feed.away = "no answer on the wire"
        until("that it is away", lambda: "The board is away" in note("away") and "no answer on the wire" in note("away"))
        assert d.find_element(By.CSS_SELECTOR, "[data-fact=target] dd").get_attribute("data-is") == "away"
        s.feed.away = ""
        until("that it is back", lambda: note("away") == "")
        rig.open_view(d, "log")
        until("the gap in the log", lambda: any(r["kind"] == "\u26a0 gap" and r["amount"] == "1234" for r in rig.rows(d, "Log")))


def refused_command_shows_reason_and_hint():
    with Site() as s:
        s.open()
        d.find_element(By.XPATH, "//button[.='Save']").click()
        until("the reason", lambda: told("refused", "save is not possible now", "end the recording first"))
        body = d.find_element(By.TAG_NAME, "body")
        for key, typed, sent in (("e", {"c1": "instructions", "c2": ""}, {"do": "counters", "c1": "instructions"}),
                                 ("o", {"start": "main+8", "stop": "f(int, char)\n g.c:12 \n\n"}, {"do": "points", "start": "main+8", "stop": ["f(int, char)", "g.c:12"]})):
            body.send_keys(key)
            until("the dialog", lambda: d.find_elements(By.CSS_SELECTOR, "dialog[open]"))
            if key == "o":
                assert [d.find_element(By.CSS_SELECTOR, f"dialog [name={name}]").get_attribute("value") for name in typed] == ["main+0x8", "BuildList\nGetLastNode+0x4"]
                assert text("[data-fact=points] dd") == "\u25b6 main+0x8 \u25a0 BuildList \u25a0 GetLastNode+0x4"
            for name, value in typed.items():
                field = d.find_element(By.CSS_SELECTOR, f"dialog [name={name}]")
                field.clear()
                field.send_keys(value)
            d.find_element(By.CSS_SELECTOR, "dialog button[type=submit]").click()
            until("the reason", lambda: told("refused", f"{sent['do']} is not possible now"))
            assert s.feed.commands[-1] == sent, s.feed.commands[-1]


def callers_beyond_the_page_come_from_the_service():
    with Site() as s:
        s.open("#view=function&fn=GetNewNode")
        left = lambda: d.find_element(By.CSS_SELECTOR, "section[aria-label=Function] > .soft").text
        until("that some may be missing", lambda: "12 smaller call paths are not on this page" in left() and rig.rows(d, "Callers"))
        kin = lambda id, hits: {"function": id, "name": s.feed.names[id] if id is not None else None, "hits": hits, "c1": 5, "c1_children": "9007199254740993", "c2": 1, "c2_children": 2, "doubtful": False}
        s.feed.function = {"frame": "function", "id": 3, "name": "GetNewNode", "hits": 12, "type": "trace", "callers": [kin(1, 7), kin(None, 5)], "callees": [kin(4, 12)], "source": None, "instructions": [], "cut": False}
        until("all of them", lambda: {rig.name_of(r): (r["hits"], r["c1ch"]) for r in rig.rows(d, "Callers")} == {"BuildList": ("7", "9007199254740993"), "(begins)": ("5", "9007199254740993")} and left() == "")
        until("what it called", lambda: [rig.name_of(r) for r in rig.rows(d, "Called functions")] == ["MallocNode"])
        s.feed.callers_since = [kin(1, 3)]
        d.find_element(By.TAG_NAME, "body").send_keys("m")
        until("the dialog", lambda: d.find_elements(By.CSS_SELECTOR, "dialog[open] input"))
        d.find_element(By.CSS_SELECTOR, "dialog input").send_keys(Keys.ENTER)
        until("no dialog", lambda: not d.find_elements(By.CSS_SELECTOR, "dialog[open]"))
        d.find_element(By.TAG_NAME, "body").send_keys("z")
        until("callers since the mark", lambda: {rig.name_of(r): r["hits"] for r in rig.rows(d, "Callers")} == {"BuildList": "3"} and left() == "")
        rig.no_errors(d)


def many_tabs_one_stream():
    for query, how in (("", "worker"), ("?noworker", "leader")):
        with Site(query) as s:
            s.open()
            first = d.current_window_handle
            assert d.execute_script("return probeprof.store.how") == how
            for _ in range(9):
                d.switch_to.new_window("tab")
                d.get(s.url)
                until("frames in a tab", lambda: d.execute_script("return probeprof.store.frames") > 2)
            until("ten tabs", lambda: d.execute_script("return probeprof.store.tabs") == 10)
            until("one stream", lambda: s.feed.readers == 1)
            d.switch_to.window(first)
            if how == "leader":  # it goes: another takes the stream over
                others = [h for h in d.window_handles if h != first]
                d.close()
                d.switch_to.window(others[0])
                frames_go_on()
                until("one stream", lambda: s.feed.readers == 1)
                first = others[0]
            for handle in [h for h in d.window_handles if h != first]:
                d.switch_to.window(handle)
                d.execute_script("BroadcastChannel.prototype.postMessage = MessagePort.prototype.postMessage = () => {}")  # it ends without a word, as one that is killed
                d.close()
            d.switch_to.window(first)
            until("one tab", lambda: d.execute_script("return probeprof.store.tabs") == 1)
            frames_go_on()


# How many frames told of what was while this tab did not listen, and came all the same.
DEAF = """
    const [ms, done] = arguments, store = probeprof.store, take = store.take, began = Date.now();
    let came = 0;
    store.take = (m) => {
        const told = m.frame ?? (m.text ? JSON.parse(m.text) : { w: 0 });
        came += told.w >= began + 200 && told.w < began + ms;
        take.call(store, m);
        if (told.w < began + ms)
            return;
        store.take = take;
        done(came);
    };
    while (Date.now() < began + ms)
        ;"""


def slow_tab_gets_in_one_piece_what_it_missed():
    for query in ("", "?noworker"):
        with Site(query) as s:
            s.open()
            first = d.current_window_handle
            d.switch_to.new_window("tab")
            d.get(s.url)
            until("frames in a tab", lambda: d.execute_script("return probeprof.store.frames") > 2)
            came = d.execute_async_script(DEAF, 3000)
            assert came <= 2, came  # hub.js: MOST
            frames_go_on()
            s.server.stopped = True
            c1 = lambda: d.execute_script("return [...probeprof.store.model.paths.values()].sort((a, b) => a.id - b.id).map((p) => Number(p.v[1]))")
            until("the feed's last figures", lambda: c1() == [v[1] for v in s.feed.values])
            d.close()
            d.switch_to.window(first)


def rows_stay_under_the_pointer():
    with Site() as s:
        s.open()
        grid = d.find_element(By.CSS_SELECTOR, "[aria-label=Functions].grid")
        rig.webdriver.ActionChains(d).move_to_element_with_offset(grid, 0, 0).perform()
        order = "return probeprof.view.grid.rows.map((f) => f.id)"
        until("the order is held", lambda: d.execute_script("return probeprof.view.grid.held"))
        before, values = d.execute_script(order), rig.rows(d, "Functions")
        # weights turn round: without the pointer the order would follow
        d.execute_script("const t = probeprof.store.frame.bind(probeprof.store); probeprof.store.frame = (f) => { if (f.f) for (const r of f.f) r[2] = 1e9 / (1 + Number(r[2])); t(f); }")
        frames_go_on()
        until("figures to change in place", lambda: rig.rows(d, "Functions") != values)
        for _ in range(3):
            frames_go_on()
            assert d.execute_script(order) == before
        rig.webdriver.ActionChains(d).move_to_element(d.find_element(By.TAG_NAME, "h1")).perform()
        until("another order", lambda: d.execute_script(order) != before)


def notices_move_nothing_under_the_pointer():
    places = "return [...document.querySelectorAll('#tabs button, #view')].map((e) => { const r = e.getBoundingClientRect(); return [r.x, r.y]; })"
    with Site() as s:
        s.open()
        until("rows", lambda: rig.rows(d, "Functions"))
        before = d.execute_script(places)
        d.execute_script("probeprof.head.note('test', 'bad', 0, 'Something happened', 'which takes a line to tell')")
        assert note("test") and d.execute_script(places) == before
        # the head may need more lines for longer facts: the tabs are above it
        after = d.execute_script("document.querySelector('#facts dd').textContent = 'as long as it gets '.repeat(40); " + places)  # at once: the next frame undoes it
        assert after[:-1] == before[:-1] and after[-1] != before[-1], (before, after)


def every_view_fits_its_window():
    """From a telephone to 4K nothing but tables and tabs is wider than the window, and the view takes the height there is."""
    with Site() as s:
        s.open()
        for width, height in ((400, 860), (1024, 768), (3840, 2160)):
            rig.look(d, width, height)
            for view in ("functions", "paths", "function", "history", "compare", "board", "log", "timeline"):
                rig.open_view(d, view)
                frames_go_on()
                wide, tall = d.execute_script("const v = document.getElementById('view').getBoundingClientRect(); return [Math.max(...['html', '#view', '.view'].map((q) => document.querySelector(q).scrollWidth)), v.bottom]")
                assert wide <= width and tall > 0.8 * height, (view, width, height, wide, tall)
        rig.look(d)


def keyboard_only():
    with Site() as s:
        s.open()
        body = d.switch_to.active_element

        def press(*keys):
            for k in keys:
                d.switch_to.active_element.send_keys(k)
        del body
        press("2")
        until("call paths", lambda: d.execute_script("return probeprof.now") == "paths")
        press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        until("a box is chosen", lambda: d.execute_script("return probeprof.view.picked.length") > 0)
        press(Keys.ENTER)
        until("zoomed", lambda: d.execute_script("return probeprof.view.focus.length") > 0)
        press(Keys.BACKSPACE)
        press("0", "t")
        until("the table", lambda: d.execute_script("return !probeprof.view.grid.box.hidden"))
        press("t", "1")
        press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, "j", "k")
        until("a row is chosen", lambda: d.find_elements(By.CSS_SELECTOR, ".grid [aria-selected=true]"))
        active = d.switch_to.active_element
        assert active.get_attribute("aria-activedescendant") == d.find_element(By.CSS_SELECTOR, ".grid [aria-selected=true]").get_attribute("id")
        press(Keys.ENTER)
        until("the function", lambda: d.execute_script("return probeprof.now") == "function" and d.find_element(By.CSS_SELECTOR, "h2.title").text != "")
        d.find_element(By.TAG_NAME, "body").send_keys("1")
        press("/")
        until("the filter", lambda: d.switch_to.active_element.get_attribute("type") == "search")
        press("mal", "loc", Keys.ESCAPE)
        until("filtered", lambda: [rig.name_of(r) for r in rig.rows(d, "Functions")] == ["MallocNode"])
        press("s")
        press("m")
        until("the dialog", lambda: d.find_elements(By.CSS_SELECTOR, "dialog[open] input"))
        d.find_element(By.CSS_SELECTOR, "dialog input").send_keys(Keys.ENTER)
        until("the mark", lambda: "m" in "".join(s.feed.marks))
        until("no dialog", lambda: not d.find_elements(By.CSS_SELECTOR, "dialog[open]"))
        d.find_element(By.TAG_NAME, "body").send_keys("z")
        until("since the mark", lambda: d.execute_script("return probeprof.lens.mode") == "mark")
        press("?")
        until("help", lambda: "Keys and meanings" in d.find_element(By.CSS_SELECTOR, "dialog[open]").text)


def what_comes_while_a_mark_is_being_set_waits_for_it():
    with Site() as s:
        for late, want in (("z", "mark"), ("zi", "lately")):
            s.open()
            s.feed.clear()
            until("no mark", lambda: d.execute_script("return !probeprof.lens.mark && !probeprof.marks().length"))
            s.feed.hold.clear()
            d.find_element(By.TAG_NAME, "body").send_keys("m")
            until("the dialog", lambda: d.find_elements(By.CSS_SELECTOR, "dialog[open] input"))
            d.find_element(By.CSS_SELECTOR, "dialog input").send_keys(Keys.ENTER)
            until("no dialog", lambda: not d.find_elements(By.CSS_SELECTOR, "dialog[open]"))
            d.find_element(By.TAG_NAME, "body").send_keys(late)
            frames_go_on()
            assert not s.feed.marks and note("mark") == "", note("mark")
            s.feed.hold.set()
            until(want, lambda: d.execute_script("return probeprof.lens.mark && probeprof.lens.mode") == want)


def reduced_motion_and_hidden_tabs_ask_for_a_second():
    with Site() as s:
        rig.look(d, motion=False)
        s.open()
        # the stream that it had begun before may come to be served behind this one
        until("a slower stream", lambda: any("interval=1000" in a for a in s.feed.asked) and s.feed.readers == 1)
        rig.look(d)


def main():
    try:
        rig.main([hostile_names_stay_text, figures_beyond_2_53_are_exact, server_goes_and_comes_back, refusals_are_told, cut_and_good_bye, notes_go_when_their_own_time_is_over, new_epoch_keeps_zoom_and_selection, board_away_and_losses,
                  refused_command_shows_reason_and_hint, callers_beyond_the_page_come_from_the_service, many_tabs_one_stream, slow_tab_gets_in_one_piece_what_it_missed, rows_stay_under_the_pointer, notices_move_nothing_under_the_pointer, every_view_fits_its_window, keyboard_only, what_comes_while_a_mark_is_being_set_waits_for_it, reduced_motion_and_hidden_tabs_ask_for_a_second])
    finally:
        d.quit()


main()
