#!/usr/bin/env python3
"""A hostile page in a real browser, against the ports of a running bridge: of the feed and of GDB. It tries to read, and to change something: by a form,
fetch() with and without CORS, an image, a script, a frame, EventSource, WebSocket, a beacon, and from a name that has been turned round to this machine.
Nothing may be read, nothing may change.

usage: attack.py PROBEPROF SOURCE_DIR      exit 0 it holds, 1 it does not, 77 no browser
"""
import http.server
import json
import os
import socket
import sys
import threading

import rig

PROGRAM, SOURCE = sys.argv[1], sys.argv[2]
EVIL = "evil.example"
COMMANDS = [{"do": d, "name": "stolen", "file": "stolen"} for d in ("stop", "clear", "mark", "save")]

PAGE = """<!DOCTYPE html><meta charset=utf-8><title>kittens</title><body><script>
const feed = ADDRESSES.feed, gdb = ADDRESSES.gdb, commands = COMMANDS;
const read = [], tried = [];
const wait = (ms) => new Promise((r) => setTimeout(r, ms));
async function attempt(name, fn) { tried.push(name); try { const got = await Promise.race([fn(), wait(4000)]); if (got) read.push(name + ': ' + String(got).slice(0, 80)); } catch (e) {} }
function made(tag, attrs, into) { return new Promise((done) => { const e = Object.assign(document.createElement(tag), attrs); e.onload = () => done('load'); e.onerror = () => done(''); (into || document.body).append(e); setTimeout(() => done(''), 2500); }); }
async function text(url, init) { const r = await fetch(url, init); return r.type === 'opaque' ? '' : await r.text(); }
function form(url, type, body) { const f = document.createElement('form'); f.method = 'POST'; f.action = url; f.enctype = type; f.target = 'sink';
  const i = document.createElement('input'); i.name = body; i.value = ''; f.append(i); document.body.append(f); f.submit(); return wait(150).then(() => ''); }
async function go() {
  const sink = document.createElement('iframe'); sink.name = 'sink'; document.body.append(sink);
  for (const base of [feed, gdb]) {
    for (const path of ['', 'api/1/snapshot', 'profile.json', 'api/1/log', 'metrics', 'assets/app.js']) {
      await attempt('fetch ' + base + path, () => text(base + path));
      await attempt('fetch no-cors ' + base + path, () => text(base + path, { mode: 'no-cors', credentials: 'include' }));
    }
    await attempt('image ' + base, async () => { const i = new Image(); i.src = base + 'assets/icon.svg'; await wait(700); return i.naturalWidth ? 'an image' : ''; });
    await attempt('script ' + base, () => made('script', { src: base + 'assets/num.js', type: 'module' }));
    await attempt('plain script ' + base, () => made('script', { src: base + 'profile.json' }).then(() => ''));
    await attempt('style ' + base, () => made('link', { rel: 'stylesheet', href: base + 'assets/style.css' }, document.head).then(() => { const s = [...document.styleSheets].find((x) => x.href && x.href.startsWith(base)); let n = 0; try { n = s ? s.cssRules.length : 0; } catch (e) {} return n ? 'rules' : ''; }));
    await attempt('frame ' + base, async () => { const f = document.createElement('iframe'); f.src = base; document.body.append(f); await wait(900); let seen = ''; try { seen = f.contentDocument && f.contentDocument.title; } catch (e) {} return seen || (f.contentWindow.length ? 'frames in it' : ''); });
    await attempt('EventSource ' + base, () => new Promise((r) => { const e = new EventSource(base + 'api/1/events', { withCredentials: true }); e.onmessage = (m) => { e.close(); r(m.data); }; e.onerror = () => { e.close(); r(''); }; }));
    await attempt('WebSocket ' + base, () => new Promise((r) => { const w = new WebSocket(base.replace('http', 'ws') + 'api/1/events'); w.onopen = () => r('open'); w.onmessage = (m) => r(m.data); w.onerror = () => r(''); }));
    for (const c of commands) {
      const json = JSON.stringify(c), url = base + 'api/1/control';
      await attempt('form plain ' + base + c.do, () => form(url, 'text/plain', json));
      await attempt('form coded ' + base + c.do, () => form(url, 'application/x-www-form-urlencoded', json));
      await attempt('form parts ' + base + c.do, () => form(url, 'multipart/form-data', json));
      await attempt('post plain ' + base + c.do, () => text(url, { method: 'POST', mode: 'no-cors', body: json }));
      await attempt('post json ' + base + c.do, () => text(url, { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Probeprof': '1' }, body: json }));
      await attempt('put ' + base + c.do, () => text(url, { method: 'PUT', body: json }));
      await attempt('beacon ' + base + c.do, async () => { navigator.sendBeacon(url, new Blob([json], { type: 'text/plain' })); return ''; });
    }
    for (const packet of ['+$?#3f', '$c#63', '$k#6b', '$D#44', '$M' + 'c010000,4:deadbeef#PP', '$vKill;1#6e', '\\u0003']) {
      await attempt('form packet ' + base + packet, () => form(base, 'text/plain', '\\r\\n' + packet));
      await attempt('post packet ' + base + packet, () => text(base, { method: 'POST', mode: 'no-cors', body: packet }));
    }
  }
  await wait(1500);
  document.title = 'done';
}
addEventListener('load', go);
</script></body>"""


class Site(http.server.BaseHTTPRequestHandler):
    page = b""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self.page)))
        self.end_headers()
        self.wfile.write(self.page)

    def log_message(self, *_):
        pass


def rsp(port, packet):
    """One packet to the GDB server, and its answer."""
    with socket.create_connection(("127.0.0.1", port), rig.PATIENCE) as s:
        s.sendall(b"+$" + packet + b"#%02x" % (sum(packet) & 255))
        got = b""
        while got.count(b"#") < 1 or len(got) < got.rindex(b"#") + 3:
            piece = s.recv(4096)
            if not piece:
                raise AssertionError(f"GDB's port closed: {got!r}")
            got += piece
        s.sendall(b"+")
        return got[got.index(b"$") + 1:got.index(b"#")]


def state(bridge, gdb):
    p = rig.profile(bridge.port)
    snap = json.loads(rig.ask(bridge.port, "GET", "/api/1/snapshot?view=functions,log")[1])
    return {"epoch": snap["epoch"], "marks": snap["st"]["marks"], "phase": snap["st"]["run"]["phase"], "target": snap["st"]["target"]["state"], "files": sorted(os.listdir(bridge.folder)),
            "functions": sorted(f["name"] for f in p["functions"]), "memory": rsp(gdb, b"m8c010000,40")}, p["totals"]["hits"]


def refused(bridge):
    return json.loads(rig.ask(bridge.port, "GET", "/api/1/status")[1])["refused"]


def unchanged(before, after):
    assert after[1] > before[1], "the counts were cleared, or the program does not run any more"
    for key, value in before[0].items():
        assert after[0][key] == value, f"{key} has changed: {value} {after[0][key]}"


def attacked(d, site, addresses, bridge, gdb):
    Site.page = PAGE.replace("ADDRESSES", json.dumps(addresses)).replace("COMMANDS", json.dumps(COMMANDS)).encode()
    before, turned_away = state(bridge, gdb), refused(bridge)
    d.get(site)
    rig.until("the attack's end", lambda: d.title == "done")
    read, tried = d.execute_script("return [read, tried]")
    came = refused(bridge) - turned_away
    print(f"  {site}: {len(tried)} attempts, {came} refused by the feed, read {read}")
    assert len(tried) > 100 and came > 20, "the attack itself does not work"
    assert not read, read
    unchanged(before, state(bridge, gdb))


def rebound(d, bridge, gdb):
    """The name is the attacker's and its address is ours: for the browser all of it is one site."""
    before = state(bridge, gdb)
    for port in (bridge.port, gdb):
        d.get("about:blank")
        try:
            d.get(f"http://{EVIL}:{port}/")
        except rig.WebDriverException as e:  # GDB's port ends the connection
            assert port == gdb, e
            print(f"  {EVIL}:{port}: {e.msg.splitlines()[0]}")
            continue
        shown = d.find_element(rig.By.TAG_NAME, "body").text
        assert "GetLastNode" not in shown and not d.find_elements(rig.By.ID, "facts"), shown
        got = d.execute_async_script("""
            const done = arguments[0], out = [];
            (async () => {
                for (const path of ['/', '/api/1/snapshot', '/profile.json', '/api/1/log', '/metrics', '/assets/app.js'])
                    try { const r = await fetch(path); out.push([path, r.status, (await r.text()).slice(0, 200)]); } catch (e) { out.push([path, 0, '']); }
                for (const what of ['stop', 'clear', 'mark', 'save'])
                    try { const r = await fetch('/api/1/control', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Probeprof': '1' }, body: JSON.stringify({ do: what, name: 'stolen' }) }); out.push([what, r.status, (await r.text()).slice(0, 200)]); } catch (e) { out.push([what, 0, '']); }
                done(out);
            })();""")
        print(f"  rebound {port}: {[(g[0], g[1]) for g in got]}")
        assert all(status in (0, 403) for _, status, _ in got), got
        assert not any("probeprof.feed" in text or "functions" in text for _, _, text in got), got
    unchanged(before, state(bridge, gdb))


def main():
    gdb = rig.free_port()
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    # Chromium's own question before a page may reach loopback is taken away: it is welcome, and not relied upon
    d = rig.browser(more=(f"--host-resolver-rules=MAP {EVIL} 127.0.0.1", "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessRespectPreflightResults"))
    try:
        with rig.Bridge(PROGRAM, "--start", "main", "--gdb", f"127.0.0.1:{gdb}", source=SOURCE) as bridge:
            rig.until("counts", lambda: rig.profile(bridge.port)["totals"]["hits"] > 100)
            rig.until("the phase that goes with them", lambda: state(bridge, gdb)[0]["phase"] == "profiling")  # it is looked at less often
            port = site.server_address[1]
            for name in ("localhost", "127.0.0.1"):
                attacked(d, f"http://{EVIL}:{port}/", {"feed": f"http://{name}:{bridge.port}/", "gdb": f"http://{name}:{gdb}/"}, bridge, gdb)
            attacked(d, f"http://localhost:{port}/", {"feed": f"http://localhost:{bridge.port}/", "gdb": f"http://localhost:{gdb}/"}, bridge, gdb)
            rebound(d, bridge, gdb)
    finally:
        d.quit()
    print("nothing was read, nothing has changed")


main()
