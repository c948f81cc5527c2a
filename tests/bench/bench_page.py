#!/usr/bin/env python3
"""What the page costs a browser: frames drawn while ten updates a second come with 3,000 functions and 4,096 call paths, script time of each update, the heap
after so many updates, and the first paint. Debian's Chromium, software drawing.

usage: bench_page.py SOURCE_DIR [SECONDS] [VIEW...]      default: 10 s each of functions, paths, history
       bench_page.py SOURCE_DIR --day                    a day of frames, ten a second, as fast as the page takes them: the heap at each hour
"""
import os
import sys
import time

SOURCE = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(SOURCE, "tests/page"))
import rig  # noqa: E402
from feed_server import Feed, serve  # noqa: E402

SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 10
VIEWS = sys.argv[3:] or ["functions", "paths", "history"]
MEASURE = """
const [ms, done] = arguments, p = probeprof, cost = [], gaps = [], take = p.store.frame.bind(p.store);
p.store.frame = (f) => { const t = performance.now(); take(f); cost.push(performance.now() - t); };
let last = performance.now(), end = last + ms;
const at = (a, q) => { a.sort((x, y) => x - y); return a.length ? a[Math.min(a.length - 1, Math.floor(a.length * q))] : 0; };
requestAnimationFrame(function step(now) {
    gaps.push(now - last); last = now;
    if (now < end) requestAnimationFrame(step);
    else { p.store.frame = take; done({ drawn: gaps.length * 1000 / ms, p50: at(gaps, .5), p95: at(gaps, .95), updates: cost.length * 1000 / ms, script: at(cost, .5), script95: at(cost, .95) }); }
});"""


DAY = """
const [hour, done] = arguments, s = probeprof.store, m = s.model, start = m.meta.w, fns = [...m.fns.keys()].slice(0, 60), paths = [...m.paths.keys()].slice(0, 60);
for (let k = 0; k < 36000; k++) {
    const n = hour * 36000 + k, w = start + n * 100, row = (id) => [id, n, n * 1000 + id, n * 5000 + id, n, n, n, 0];
    const frame = { frame: 'delta', s: n, e: n * 120, t: n * 1e8, w, i: 100, merged: 0, tot: [n, n * 1000, n], st: { coverage: { events: n * 120, lost: n >> 8, gaps: n >> 10, doubtful: 0, ratio: 1 } },
        f: fns.map((id) => [...row(id), 0, 0, 0]), n: paths.map((id) => [...row(id).slice(0, 6), 0]), log: n % 50 ? [] : [[100 + n / 50, w, 'note', null, 'something has happened ' + n, 0, 0, 1, 0, 0]],
        series: n % 10 ? {} : { 1: [[1e6 + n / 10, w, 1000, 1200, 0, 1e6, 70, 1e6, .4, 0, 2.8, []]], ...(n % 100 ? {} : { 10: [[1e6 + n / 100, w, 10000, 12000, 0, 1e7, 700, 1e7, .4, 0, 2.8, []]] }) } };
    s.frame(frame);
}
setTimeout(() => done(m.log.length), 100);"""


def heap_of(d):
    d.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    d.execute_cdp_cmd("Performance.enable", {})
    return next(m["value"] for m in d.execute_cdp_cmd("Performance.getMetrics", {})["metrics"] if m["name"] == "JSHeapUsedSize") / 1e6


def day():
    feed, port = Feed(3000, 4096), rig.free_port()
    server = serve(port, os.path.join(SOURCE, "profiler/page"), feed)
    d = rig.browser()
    try:
        d.get(f"http://127.0.0.1:{port}/?noworker")
        rig.until("frames", lambda: d.execute_script("return probeprof.store.frames") > 3)
        feed.drop = True
        server.shutdown()
        print(f"begin {heap_of(d):.1f} MB", flush=True)
        for hour in range(24):
            start, entries = time.monotonic(), d.execute_async_script(DAY, hour)
            print(f"hour {hour + 1:2d}: {heap_of(d):.1f} MB, {entries} log entries, {time.monotonic() - start:.1f} s", flush=True)
    finally:
        d.quit()


def main():
    feed = Feed(3000, 4096)
    port = rig.free_port()
    serve(port, os.path.join(SOURCE, "profiler/page"), feed)
    d = rig.browser()
    try:
        print(f"{'view':<12}{'drawn/s':>9}{'gap p50':>9}{'p95 ms':>8}{'updates/s':>11}{'script p50':>12}{'p95 ms':>8}{'heap MB':>9}{'paint ms':>10}")
        for view in VIEWS:
            d.get("about:blank")
            d.get(f"http://127.0.0.1:{port}/#view={view}")
            rig.until("frames", lambda: d.execute_script("return probeprof.store.frames") > 3)
            time.sleep(2)
            r = d.execute_async_script(MEASURE, SECONDS * 1000)
            heap = heap_of(d)
            paint = d.execute_script("return performance.getEntriesByType('paint')[0]?.startTime ?? 0")
            print(f"{view:<12}{r['drawn']:>9.1f}{r['p50']:>9.1f}{r['p95']:>8.1f}{r['updates']:>11.1f}{r['script']:>12.1f}{r['script95']:>8.1f}{heap:>9.1f}{paint:>10.0f}")
    finally:
        d.quit()


day() if "--day" in sys.argv else main()
