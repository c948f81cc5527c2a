// The state that frames describe: functions, call paths, totals, state objects, the log. No DOM, so that the worker has it, too.
import { count, sub } from './num.js';

/** @typedef {import('./num.js').Count} Count */

// Columns of a function, and of a call path (the first five).
export const HITS = 0, C1 = 1, C1CH = 2, C2 = 3, C2CH = 4, STEPS = 5, DOUBTS = 6, SPREAD = 7, SPREADCH = 8;
// Flags of both.
export const FLAG = { doubtful: 1, interrupt: 2, exception: 4, lost: 8, other: 16, sample: 32, task: 64, tagged: 128, group: 256 };
export const SPARKS = 60; // seconds of a function's small curve
const LOG = 4096, LEFT = 65536;

/**
 * @typedef {object} Fn
 * @property {number} id
 * @property {string} name
 * @property {string} file
 * @property {number} line
 * @property {Count} low
 * @property {Count} high
 * @property {number} flags
 * @property {boolean} uncalled nothing in the file calls it: its hits are not known
 * @property {string} full the qualified name, if it has another
 * @property {any[]} row as it came with its names
 * @property {Count[]} v      values so far
 * @property {Count[]} last   those of a second ago, or of the time before
 * @property {Count[]} lately what the last second added
 * @property {Float32Array|null} spark C1 of the last seconds
 * @property {number|null} half where events were lost: its share of what was seen of C1 is right within this
 * @property {number|null} hitsHalf the same of hits
 * @property {number} ver
 */
/**
 * @typedef {object} Path
 * @property {number} id
 * @property {Path|null} parent
 * @property {Fn} fn
 * @property {Count[]} v
 * @property {Count[]} last
 * @property {Count[]} lately
 * @property {number} flags
 * @property {Path[]} kids
 * @property {boolean} sorted
 * @property {number} ver
 */

const zeros = () => [0, 0, 0, 0, 0, 0, 0, 0, 0];
const POINTS = /** @type {Record<string, number>} */ ({ 1: 600, 10: 8640 });

export class Model {
    /** @type {any} */
    hello = null;
    ver = 0;
    all = 0; // version at which everything was new
    id = '';
    seq = 0;
    /** @type {Count[]} */
    tot = [0, 0, 0];
    /** @type {Map<number, Fn>} */
    fns = new Map();
    /** @type {Map<number, Path>} */
    paths = new Map();
    /** @type {Path[]} */
    roots = [];
    /** @type {Record<string, any>} */
    st = {};
    /** @type {any[]} */
    log = [];
    logLost = 0;
    /** @type {Record<string, any[][]>} points of one second and of ten */
    series = { 1: [], 10: [] };
    /** @type {{id: number, ver: number}[]} paths that are shown no more, for tabs that have them still */
    left = [];
    /** @type {Map<number, any[]>} rows of handlers, by call path */
    handlers = new Map();
    meta = { e: /** @type {Count} */ (0), t: /** @type {Count} */ (0), w: 0, i: 0, merged: 0, hid: 0 };
    second = 0; // wall ms at which `lately` was cut last
    sparkAt = 0;

    /** Another epoch, or all of it again. */
    forget() {
        const fresh = new Model();
        fresh.hello = this.hello;
        fresh.ver = fresh.all = this.ver + 1;
        Object.assign(this, fresh);
    }

    /** @param {any} frame @returns {boolean} whether what was known before has gone: another epoch */
    apply(frame) {
        this.ver++;
        if (frame.frame === 'hello')
            return this.greet(frame);
        if (frame.frame === 'snap')
            this.forget();
        else if (frame.frame !== 'delta')
            return false;
        this.names(frame.names ?? []);
        for (const row of frame.f ?? [])
            this.fnRow(row);
        for (const row of frame.h ?? [])
            this.handlers.set(row[0], row);
        for (const row of frame.n ?? [])
            this.pathRow(row);
        for (const id of frame.gone ?? [])
            this.drop(id);
        this.rest(frame);
        this.cut();
        return frame.frame === 'snap';
    }

    /** Whether the profile has it: a file may not tell. @param {'hits'|'paths'|'addresses'|'children'} part */
    knows(part) {
        return !(this.hello?.unknown ?? []).includes(part);
    }

    /** @param {any} hello */
    greet(hello) {
        const other = !this.hello || this.hello.epoch !== hello.epoch;
        this.hello = hello;
        if (other)
            this.forget();
        return other;
    }

    /** @param {any[]} rows */
    names(rows) {
        for (const row of rows) {
            const [id, name, file, line, low, high] = row;
            const f = this.fnOf(id);
            Object.assign(f, { name: String(name ?? ''), file: String(file ?? ''), line: Number(line ?? 0), low: count(low), high: count(high), full: String(row[7] ?? ''), row });
            f.ver = this.ver;
        }
    }

    /** @param {number} id @returns {Fn} */
    fnOf(id) {
        let f = this.fns.get(id);
        if (!f) {
            f = { id, name: `#${id}`, file: '', line: 0, low: 0, high: 0, flags: 0, uncalled: false, half: null, hitsHalf: null, full: '', row: [id, `#${id}`, null, 0, 0, 0, 0, null, null, null, 0], v: zeros(), last: zeros(), lately: zeros(), spark: null, ver: this.ver };
            this.fns.set(id, f);
        }
        return f;
    }

    /** @param {any[]} row */
    fnRow(row) {
        const f = this.fnOf(row[0]);
        for (let k = 0; k <= SPREADCH; k++)
            f.v[k] = count(row[k + 1]);
        f.flags = Number(row[10] ?? 0);
        f.uncalled = row[1] === null;
        f.hitsHalf = typeof row[11] === 'number' ? row[11] : null;
        f.half = typeof row[12] === 'number' ? row[12] : null;
        f.ver = this.ver;
    }

    /** @param {any[]} row */
    pathRow(row) {
        const whole = row.length >= 9; // parent and function come with the first row of a path only
        let p = this.paths.get(row[0]);
        if (!p) {
            if (!whole)
                return; // of a path that nobody has told of: the next snap has it
            const [id, parent, fn] = row;
            p = { id, parent: parent === null ? null : this.paths.get(parent) ?? null, fn: this.fnOf(fn), v: [0, 0, 0, 0, 0], last: [0, 0, 0, 0, 0], lately: [0, 0, 0, 0, 0], flags: 0, kids: [], sorted: true, ver: 0 };
            this.paths.set(id, p);
            const beside = p.parent ? p.parent.kids : this.roots;
            beside.push(p);
            if (p.parent)
                p.parent.sorted = false;
        }
        const from = whole ? 3 : 1;
        for (let k = 0; k < 5; k++)
            p.v[k] = count(row[k + from]);
        p.flags = Number(row[from + 5] ?? 0);
        p.ver = this.ver;
    }

    /** @param {number} id */
    drop(id) {
        const p = this.paths.get(id);
        if (!p)
            return;
        this.paths.delete(id);
        this.left.push({ id, ver: this.ver });
        const beside = p.parent ? p.parent.kids : this.roots;
        const at = beside.indexOf(p);
        if (at >= 0)
            beside.splice(at, 1);
    }

    /** @param {any} frame */
    rest(frame) {
        if (frame.tot)
            this.tot = frame.tot.map(count);
        for (const k of /** @type {const} */ (['e', 't']))
            if (frame[k] !== undefined)
                this.meta[k] = count(frame[k]);
        for (const k of /** @type {const} */ (['w', 'i', 'merged', 'hid']))
            if (frame[k] !== undefined && frame[k] !== null)
                this.meta[k] = Number(frame[k]);
        if (frame.s !== undefined)
            this.seq = frame.s;
        if (frame.id !== undefined)
            this.id = frame.id;
        for (const [k, v] of Object.entries(frame.st ?? {}))
            this.st[k] = v;
        this.logLost = Number(frame.log_lost ?? this.logLost);
        for (const [step, most] of Object.entries(POINTS)) {
            const kept = this.series[step], last = kept.length ? kept[kept.length - 1][0] : -1;
            kept.push(...(frame.series?.[step] ?? []).filter((/** @type {any[]} */ p) => p[0] > last));
            kept.splice(0, kept.length - most);
        }
        for (const entry of frame.log ?? [])
            this.log.push(entry);
        if (this.log.length > LOG * 2)
            this.log = [...new Map(this.log.map((e) => [e[0], e])).values()].slice(-LOG);
    }

    /** Once a second: what has been added since the last time. */
    cut() {
        const now = this.meta.w;
        if (now - this.second < 1000)
            return;
        const seconds = this.second ? Math.min(SPARKS, Math.round((now - this.second) / 1000)) : 0;
        this.second = now;
        const from = this.sparkAt;
        this.sparkAt = (from + Math.max(seconds, 1)) % SPARKS;
        for (const f of this.fns.values())
            this.cutRow(f, f.v.length, from, seconds);
        for (const p of this.paths.values())
            this.cutRow(p, 5, -1, seconds);
    }

    /** @param {Fn|Path} row @param {number} n @param {number} at @param {number} seconds since the last cut; 0 at the first */
    cutRow(row, n, at, seconds) {
        for (let k = 0; k < n; k++) {
            row.lately[k] = seconds ? sub(row.v[k], row.last[k]) : 0;
            row.last[k] = row.v[k];
        }
        if (at < 0 || !('spark' in row))
            return;
        row.spark ??= new Float32Array(SPARKS).fill(NaN);
        // what came in several seconds at once is spread over them: nobody saw when it came
        for (let s = 0; s < Math.max(seconds, 1); s++)
            row.spark[(at + s) % SPARKS] = seconds ? Number(row.lately[C1]) / seconds : NaN;
    }

    /** Everything that is newer than version `since` as a frame; 0 is all. What a tab gets that comes late or was hidden. @param {number} since */
    encode(since) {
        const all = since < this.all;
        if (this.left.length > LEFT)
            this.left.splice(0, this.left.length - LEFT);
        const text = (/** @type {Count} */ c) => (typeof c === 'bigint' ? c.toString() : c);
        const fresh = (/** @type {{ver: number}} */ row) => all || row.ver > since;
        const fns = [...this.fns.values()].filter(fresh), paths = [...this.paths.values()].filter(fresh);
        paths.sort((a, b) => a.id - b.id); // parents first
        return {
            frame: all ? 'snap' : 'delta', s: this.seq, id: this.id, ...this.meta, e: text(this.meta.e), t: text(this.meta.t), tot: this.tot.map(text),
            names: fns.map((f) => f.row), f: fns.map((f) => [f.id, ...f.v.map(text), f.flags, f.hitsHalf, f.half]), h: [...this.handlers.values()],
            n: paths.map((p) => [p.id, p.parent ? p.parent.id : null, p.fn.id, ...p.v.map(text), p.flags]), gone: all ? [] : this.left.filter((x) => x.ver > since).map((x) => x.id),
            st: this.st, log: this.log, series: this.series, log_lost: this.logLost,
        };
    }
}

/** Children in a stable order: by name, then by id. @param {Model} m @param {Path|null} p */
export function kidsOf(m, p) {
    const kids = p ? p.kids : m.roots;
    if (!p || !p.sorted) {
        kids.sort((a, b) => (a.fn.name < b.fn.name ? -1 : a.fn.name > b.fn.name ? 1 : a.id - b.id));
        if (p)
            p.sorted = true;
    }
    return kids;
}

/** Names from the root: the path's own name for all epochs. @param {Path|null} p @returns {string[]} */
export function nameOfPath(p) {
    const names = [];
    for (let at = p; at; at = at.parent)
        names.push(at.fn.name);
    return names.reverse();
}

/** The path of those names, or as much of it as is there. @param {Model} m @param {string[]} names */
export function findPath(m, names) {
    /** @type {Path|null} */
    let at = null;
    for (const name of names) {
        /** @type {Path|undefined} */
        const next = kidsOf(m, at).find((k) => k.fn.name === name);
        if (!next)
            break;
        at = next;
    }
    return at;
}
