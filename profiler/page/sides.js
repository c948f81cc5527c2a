// The two sides of a comparison: the profile of now, what came since a mark, a part of the history, a profile from a file. Functions meet by name and file, since ids are each epoch's own.
import { count, num, sub } from './num.js';
import { C1, C1CH, C2, C2CH, HITS } from './model.js';

/** @typedef {import('./num.js').Count} Count */
/** @typedef {import('./model.js').Fn} Fn */
/** @typedef {{name: string, file: string, v: Count[]}} Entry a function and its figures, as those of a call path */
/**
 * @typedef {object} Side
 * @property {string} label what it is, for people
 * @property {string} word in the titles of columns
 * @property {Count[]} tot hits, C1, C2
 * @property {Map<string, Entry>} of by name and file
 * @property {(string|null)[]|null} counters what they count; null: those of this page
 * @property {string} type trace or statistical; '': that of this page
 * @property {string} more what is to be known of it
 */
/** @typedef {{name: string, file: string, fn: Fn|null, a: Count[], b: Count[]}} Pair */

const FIGURES = [HITS, C1, C1CH, C2, C2CH];
const NONE = FIGURES.map(() => 0);
const MOST = 256 << 20; // bytes of a file

/** @param {string} name @param {string} file */
const keyOf = (name, file) => `${name}\n${file}`;

/** @param {Iterable<Entry>} entries @returns {Map<string, Entry>} */
const byKey = (entries) => new Map([...entries].map((e) => [keyOf(e.name, e.file), e]));

/** @param {import('./model.js').Model} m @param {string} word @returns {Side} */
export function sideOfNow(m, word) {
    return { label: 'all of the profile', word, tot: m.tot, of: byKey([...m.fns.values()].map((f) => ({ name: f.name, file: f.file, v: f.v }))), counters: null, type: '', more: '' };
}

/** Until a mark, and since it. @param {import('./model.js').Model} m @param {import('./lens.js').Mark} mark @returns {{until: Side, since: Side}} */
export function sidesOfMark(m, mark) {
    const fns = [...m.fns.values()], at = (/** @type {Fn} */ f) => mark.f.get(f.id) ?? NONE;
    const side = (/** @type {string} */ label, /** @type {string} */ word, /** @type {Count[]} */ tot, /** @type {(f: Fn) => Count[]} */ v) =>
        /** @type {Side} */ ({ label, word, tot, of: byKey(fns.map((f) => ({ name: f.name, file: f.file, v: v(f) }))), counters: null, type: '', more: '' });
    return { until: side(`before “${mark.name}”`, 'before', mark.tot, at), since: side(`since “${mark.name}”`, 'since', m.tot.map((x, i) => sub(x, mark.tot[i])), (f) => FIGURES.map((k) => sub(f.v[k], at(f)[k] ?? 0))) };
}

/** What /api/1/range answers. @param {any} r @param {string} label @param {import('./model.js').Model} m @returns {Side} */
export function sideOfRange(r, label, m) {
    const names = new Map((r.names ?? []).map((/** @type {any[]} */ n) => [n[0], n]));
    const entry = (/** @type {any[]} */ row) => {
        const n = names.get(row[0]), f = m.fns.get(row[0]);
        return { name: String(n?.[1] ?? f?.name ?? `#${row[0]}`), file: String(n?.[2] ?? f?.file ?? ''), v: row.slice(1, 6).map(count) };
    };
    const lost = num(count(r.lost ?? 0));
    return { label, word: 'in range', tot: (r.tot ?? []).map(count), of: byKey((r.f ?? []).map(entry)), counters: null, type: '', more: lost ? `${lost} events lost in it` : '' };
}

/** What `report --json` and /profile.json have. Throws what is wrong with it, in words. @param {any} d @param {string} label @returns {Side} */
export function sideOfProfile(d, label) {
    if (typeof d !== 'object' || d === null || !String(d.schema ?? '').startsWith('probeprof.profile/') || !Array.isArray(d.functions))
        throw new Error('it is no profile of probeprof: report FILE --json makes one');
    const list = /** @type {any[]} */ (d.functions).map((f) => ({ name: String(f?.name ?? ''), file: String(f?.file ?? ''), v: [f?.hits, f?.c1, f?.c1_children, f?.c2, f?.c2_children].map(count) }));
    const known = d.coverage?.lost !== null && d.coverage?.lost !== undefined, lost = num(count(d.coverage?.lost));
    return { label, word: 'there', tot: [d.totals?.hits, d.totals?.c1, d.totals?.c2].map(count), of: byKey(list), counters: [0, 1].map((k) => (d.counters?.[k]?.name ? String(d.counters[k].name) : null)), type: String(d.type ?? ''), more: !known ? 'how much was lost there is not known' : lost ? `${lost} events were lost there` : '' };
}

/** A file that a person has picked. Throws what is wrong with it, in words. @param {File} file */
export async function sideOfFile(file) {
    if (file.size > MOST)
        throw new Error('it has more than 256 MB');
    const text = await file.text();
    let d;
    try {
        d = JSON.parse(text);
    } catch {
        throw new Error('it is no JSON. Of a recording: probeprof report FILE --json, or probeprof view FILE FILE');
    }
    return sideOfProfile(d, file.name);
}

/** @param {Side} side @returns {Map<string, Entry|null>} by name; null: several have it */
function byName(side) {
    const out = new Map();
    for (const e of side.of.values())
        out.set(e.name, out.has(e.name) ? null : e);
    return out;
}

/** Functions of both, those of one alone, too. Another build may have other paths of files: names that are there once are the same. @param {Side} a @param {Side} b @param {import('./model.js').Model} m @returns {Pair[]} */
export function pairs(a, b, m) {
    const fns = new Map([...m.fns.values()].map((f) => [keyOf(f.name, f.file), f]));
    const left = new Map(a.of), names = byName(a), mine = byName(b);
    /** @type {Pair[]} */
    const out = [];
    for (const [key, e] of b.of) {
        const other = left.get(key) ?? (mine.get(e.name) ? names.get(e.name) : null) ?? null;
        if (other)
            left.delete(keyOf(other.name, other.file));
        out.push({ name: e.name, file: e.file, fn: fns.get(key) ?? null, a: other?.v ?? NONE, b: e.v });
    }
    for (const [key, e] of left)
        out.push({ name: e.name, file: e.file, fn: fns.get(key) ?? null, a: e.v, b: NONE });
    return out.filter((p) => [...p.a, ...p.b].some((x) => num(x)));
}

/** Why a counter of both sides is not the same thing, or ''. @param {Side} a @param {Side} b @param {number} k @param {(string|null)[]} here what the counters of this page count */
export function unlike(a, b, k, here) {
    const [x, y] = [a, b].map((s) => (s.counters ?? here)[k] ?? null);
    return x === y ? '' : `counter ${k + 1} counts ${x ?? 'nothing'} ${a.word}, ${y ?? 'nothing'} ${b.word}: only hits are compared`;
}
