// What is looked at: all of the profile, its last second, or what came since a mark; and by which counter.
import { C1, C1CH, C2, C2CH } from './model.js';
import { num, sub } from './num.js';

/** @typedef {import('./num.js').Count} Count */
/** @typedef {import('./model.js').Fn} Fn */
/** @typedef {import('./model.js').Path} Path */

/** @typedef {{name: string, tot: Count[], f: Map<number, Count[]>, n: Map<number, Count[]>}} Mark */

export class Lens {
    /** @param {import('./store.js').Store} store */
    constructor(store) {
        this.store = store;
        /** @type {'total'|'lately'|'mark'} */
        this.mode = 'total';
        /** @type {Mark|null} */
        this.mark = null;
        this.counter = 0;
    }

    get model() {
        return this.store.model;
    }

    /** @param {{v: Count[], lately: Count[], id: number}} row @param {Map<number, Count[]>|undefined} base @returns {Count[]} */
    values(row, base) {
        if (this.mode === 'lately')
            return row.lately;
        if (this.mode === 'mark' && this.mark)
            return less(row.v, base?.get(row.id));
        return row.v;
    }

    /** @param {Fn} f */
    fn(f) {
        return this.values(f, this.mark?.f);
    }

    /** @param {Path} p */
    path(p) {
        return this.values(p, this.mark?.n);
    }

    /** Hits, C1, C2 of everything. @returns {Count[]} */
    total() {
        const m = this.model;
        if (this.mode === 'mark' && this.mark)
            return less(m.tot, this.mark.tot);
        if (this.mode === 'total')
            return m.tot;
        const sum = [0, 0, 0]; // of a second: far below 2^53
        for (const f of m.fns.values())
            [0, C1, C2].forEach((k, i) => (sum[i] += num(f.lately[k])));
        return sum;
    }

    /** Column of the chosen counter: alone, or with what was called. @param {boolean} [inclusive] */
    column(inclusive = false) {
        return this.counter ? (inclusive ? C2CH : C2) : inclusive ? C1CH : C1;
    }

    /** Name and unit of a counter. @param {number} k 0 or 1 */
    counterName(k) {
        const c = this.model.hello?.counters?.[k];
        return c ? { name: String(c[0]), unit: String(c[1] ?? ''), there: true } : { name: k ? 'counter 2' : 'counter 1', unit: '', there: false };
    }

    words() {
        return this.mode === 'lately' ? 'the last second' : this.mode === 'mark' && this.mark ? `since “${this.mark.name}”` : 'all of the profile';
    }
}

/** @param {Count[]} v @param {Count[]|undefined} base @returns {Count[]} */
function less(v, base) {
    return base ? v.map((x, k) => (k < base.length ? sub(x, base[k]) : x)) : v;
}
