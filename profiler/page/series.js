// The server's series as points.
import { count, num } from './num.js';

/**
 * @typedef {object} Point
 * @property {number} w end, wall ms
 * @property {number} i ms that it is about
 * @property {number|null} events a second
 * @property {number} lost a second
 * @property {boolean} seen false: the board was away
 * @property {number|null} coverage
 * @property {number|null} c1 a second
 * @property {number|null} c2
 * @property {number|null} slow
 * @property {number|null} ring
 * @property {number|null} queue
 * @property {number|null} wire
 */

/**
 * The finest points that reach back that far.
 * @param {Record<string, any[][]>} series @param {number} span s @returns {Point[]}
 */
export function points(series, span) {
    const rows = span > 600 ? series[10] : series[1];
    if (!rows?.length)
        return [];
    const from = Number(rows[rows.length - 1][1]) - span * 1000;
    /** @type {Point[]} */
    const out = [];
    for (const p of rows.filter((r) => Number(r[1]) > from).map(point)) {
        const before = out[out.length - 1], hole = before ? p.w - p.i - before.w : 0;
        if (hole > p.i / 2 + 500) // nobody counted: what was between is not known
            out.push({ ...p, w: p.w - p.i, i: hole, events: null, lost: 0, seen: false, coverage: null, c1: null, c2: null, slow: null, ring: null, queue: null, wire: null });
        out.push(p);
    }
    return out;
}

/** @param {any[]} r @returns {Point} */
function point(r) {
    const [, w, i, events, lost, c1, c2, wire, ring, queue, slow] = r;
    const s = Math.max(1, Number(i)) / 1000, e = num(count(events)), l = num(count(lost));
    return {
        w: Number(w), i: Number(i), events: e / s, lost: l / s, seen: true, coverage: e + l > 0 ? e / (e + l) : null, c1: num(count(c1)) / s, c2: num(count(c2)) / s,
        slow: slow > 0 ? Number(slow) : null, ring: Number(ring), queue: Number(queue), wire: num(count(wire)) / s,
    };
}
