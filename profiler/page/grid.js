// A table of any length of which only the rows in sight exist. Rows stay where they are while a pointer or a key is at work; values change in place.
import { attr, el, onceAFrame, put } from './dom.js';

const OVER = 6; // rows beyond the edges
const RESORT = 1000, KEYED = 2500; // ms

/**
 * @template R
 * @typedef {object} Column
 * @property {string} id
 * @property {string} title
 * @property {string} help what it means, for whoever sees it the first time
 * @property {number} width px; the first column grows
 * @property {number} [most] px up to which the first column grows; without: as far as there is room
 * @property {boolean} [n] numbers stand right
 * @property {string} [cls]
 * @property {(row: R) => string} text
 * @property {(row: R) => number|string} [sort]
 * @property {(row: R) => string} [value] the exact value, for title and data-value
 * @property {(row: R, cell: HTMLElement) => void} [paint] what is more than text
 */

/** @template R */
export class Grid {
    /**
     * @param {{label: string, columns: Column<R>[], key: (row: R) => string|number, onOpen?: (row: R) => void, onSelect?: (row: R) => void, sort?: string, onSort?: (id: string) => void,
     *   down?: boolean, fixed?: boolean, level?: (row: R) => number, dress?: (row: R, e: HTMLElement) => void, keys?: (key: string, row: R) => boolean}} o
     */
    constructor(o) {
        this.o = o;
        /** @type {Column<R>[]} */
        this.columns = [];
        /** @type {R[]} */
        this.rows = [];
        this.sort = { id: o.sort ?? '', down: o.down ?? true };
        /** @type {string|number|null} */
        this.selected = null;
        this.pointer = false;
        this.keyed = 0;
        this.sorted = 0;
        this.tag = 'g' + Math.random().toString(36).slice(2, 8);
        this.head = el('div.tops', { role: 'row', 'aria-rowindex': '1' });
        this.tall = el('div.tall', { 'aria-hidden': 'true' });
        this.box = el('div.grid', { role: o.level ? 'treegrid' : 'grid', tabindex: '0', 'aria-label': o.label }, this.head, this.tall);
        /** @type {HTMLElement[]} */
        this.pool = [];
        this.draw = onceAFrame(() => this.paint());
        this.box.addEventListener('scroll', () => this.draw(), { passive: true });
        this.box.addEventListener('pointermove', () => (this.pointer = true));
        this.box.addEventListener('pointerleave', () => (this.pointer = false));
        this.box.addEventListener('keydown', (e) => this.key(e));
        this.box.addEventListener('click', (e) => this.click(e));
        this.box.addEventListener('dblclick', (e) => this.click(e, true));
        new ResizeObserver(() => this.draw()).observe(this.box);
        this.setColumns(o.columns);
    }

    /** @param {Column<R>[]} columns */
    setColumns(columns) {
        const same = columns.length === this.columns.length && columns.every((c, i) => c.id === this.columns[i].id && c.title === this.columns[i].title);
        this.columns = columns;
        if (same)
            return;
        this.head.replaceChildren(...columns.map((c) => el('div' + (c.n ? '.n' : '') + (c === columns[0] ? '.pin' : ''), { role: 'columnheader', 'data-id': c.id },
            c.sort ? el('button', { text: c.title, title: c.help, tabindex: '-1', onclick: () => this.sortBy(c.id) }) : el('span', { text: c.title, title: c.help }))));
        for (const e of this.pool)
            e.remove();
        this.pool = [];
        attr(this.box, 'aria-colcount', String(columns.length));
        const narrow = columns.slice(1).reduce((w, c) => w + c.width, 0);
        this.box.style.setProperty('--columns', `minmax(${columns[0].width}px, ${columns[0].most ? columns[0].most + 'px' : '1fr'}) ${columns.slice(1).map((c) => c.width + 'px').join(' ')}`);
        this.box.style.setProperty('--wide', `max(100%, ${narrow + columns[0].width}px)`);
        this.heads();
    }

    heads() {
        this.columns.forEach((c, i) => attr(this.head.children[i], 'aria-sort', c.id === this.sort.id ? (this.sort.down ? 'descending' : 'ascending') : null));
    }

    /** @param {string} id */
    sortBy(id) {
        const c = this.columns.find((x) => x.id === id);
        if (!c?.sort)
            return;
        this.sort = { id, down: id === this.sort.id ? !this.sort.down : Boolean(c.n) };
        this.heads();
        this.order(true);
        this.o.onSort?.(id);
    }

    /** The next column in turn: the key `s`. */
    sortNext() {
        const can = this.columns.filter((c) => c.sort);
        const at = can.findIndex((c) => c.id === this.sort.id);
        this.sort.id = '';
        this.sortBy(can[(at + 1) % can.length].id);
        return can[(at + 1) % can.length].title;
    }

    /** @param {R[]} rows all there are @param {boolean} [now] a person asked: sort at once */
    set(rows, now = false) {
        if (this.o.fixed) {
            this.rows = rows;
        } else {
            const there = new Map(rows.map((r) => [this.o.key(r), r]));
            /** @type {R[]} */
            const kept = [];
            for (const r of this.rows) {
                const fresh = there.get(this.o.key(r));
                if (fresh !== undefined) {
                    kept.push(fresh);
                    there.delete(this.o.key(r));
                }
            }
            this.rows = [...kept, ...there.values()]; // new ones come last until it is sorted again
            this.order(now);
        }
        this.draw();
    }

    /** @param {boolean} now */
    order(now) {
        const t = performance.now();
        this.held = this.pointer || t - this.keyed < KEYED;
        if (!now && (this.held || t - this.sorted < RESORT))
            return;
        this.sorted = t;
        const c = this.columns.find((x) => x.id === this.sort.id);
        const by = c?.sort;
        if (!by || this.o.fixed)
            return;
        const sign = this.sort.down ? -1 : 1;
        const rank = this.rows.map((r, i) => ({ r, i, v: by(r) }));
        rank.sort((a, b) => (a.v < b.v ? -sign : a.v > b.v ? sign : a.i - b.i));
        this.rows = rank.map((x) => x.r);
        this.draw();
    }

    height() {
        return parseFloat(getComputedStyle(this.box).getPropertyValue('--row')) || 26;
    }

    paint() {
        if (!this.box.isConnected || this.box.clientHeight === 0)
            return;
        const h = this.height(), top = this.head.offsetHeight;
        const from = Math.max(0, Math.floor(this.box.scrollTop / h) - OVER);
        const to = Math.min(this.rows.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / h) + OVER);
        this.tall.style.height = `${this.rows.length * h + top}px`;
        attr(this.box, 'aria-rowcount', String(this.rows.length + 1));
        while (this.pool.length < to - from)
            this.pool.push(this.fresh());
        let chosen = null;
        for (const e of this.pool)
            e.hidden = true;
        for (let at = from; at < to; at++) {
            const e = this.pool[at % this.pool.length]; // a row keeps its element while it is in sight
            this.fill(e, this.rows[at], at, top + at * h);
            if (this.o.key(this.rows[at]) === this.selected)
                chosen = e.id;
        }
        attr(this.box, 'aria-activedescendant', chosen);
    }

    fresh() {
        const e = el('div', { role: 'row', id: `${this.tag}-${this.pool.length}` }, ...this.columns.map((c, i) =>
            el('div' + (c.n ? '.n' : '') + (c.cls ? '.' + c.cls : '') + (i === 0 ? '.pin' : ''), { role: 'gridcell', 'data-id': c.id })));
        this.box.append(e);
        return e;
    }

    /** @param {HTMLElement} e @param {R} row @param {number} at @param {number} y */
    fill(e, row, at, y) {
        e.hidden = false;
        e.style.top = `${y}px`;
        const key = this.o.key(row);
        attr(e, 'aria-rowindex', String(at + 2));
        attr(e, 'data-key', String(key));
        attr(e, 'aria-selected', String(key === this.selected));
        if (this.o.level)
            attr(e, 'aria-level', String(this.o.level(row)));
        this.columns.forEach((c, i) => {
            const cell = /** @type {HTMLElement} */ (e.children[i]);
            if (c.paint)
                c.paint(row, cell);
            else
                put(cell, c.text(row));
            const value = c.value?.(row) ?? null;
            if (value !== null)
                attr(cell, 'data-value', value);
        });
        this.o.dress?.(row, e);
    }

    /** @param {Event} e @returns {R|undefined} */
    rowAt(e) {
        const key = /** @type {Element} */ (e.target).closest?.('[data-key]')?.getAttribute('data-key');
        return key === null || key === undefined ? undefined : this.rows.find((r) => String(this.o.key(r)) === key);
    }

    /** @param {MouseEvent} e @param {boolean} [twice] */
    click(e, twice = false) {
        const row = this.rowAt(e);
        if (!row)
            return;
        this.choose(row);
        if (twice)
            this.o.onOpen?.(row);
    }

    /** @param {R} row */
    choose(row) {
        this.selected = this.o.key(row);
        this.o.onSelect?.(row);
        this.draw();
    }

    /** @param {number} at */
    go(at) {
        if (!this.rows.length)
            return;
        const i = Math.max(0, Math.min(this.rows.length - 1, at));
        const h = this.height(), top = this.head.offsetHeight, y = i * h;
        if (y < this.box.scrollTop)
            this.box.scrollTop = y;
        else if (y + h + top > this.box.scrollTop + this.box.clientHeight)
            this.box.scrollTop = y + h + top - this.box.clientHeight;
        this.choose(this.rows[i]);
    }

    /** @param {KeyboardEvent} e */
    key(e) {
        if (e.ctrlKey || e.altKey || e.metaKey || e.target !== this.box)
            return;
        const at = this.rows.findIndex((r) => this.o.key(r) === this.selected);
        const page = Math.max(1, Math.floor(this.box.clientHeight / this.height()) - 2);
        const to = /** @type {Record<string, number>} */ ({ ArrowDown: at + 1, j: at + 1, ArrowUp: Math.max(0, at - 1), k: Math.max(0, at - 1), PageDown: at + page, PageUp: at - page, Home: 0, End: this.rows.length })[e.key];
        if (to !== undefined)
            this.go(to);
        else if (at >= 0 && this.o.keys?.(e.key, this.rows[at]))
            this.draw();
        else if (e.key === 'Enter' && at >= 0)
            this.o.onOpen?.(this.rows[at]);
        else
            return;
        this.keyed = performance.now();
        e.preventDefault();
        e.stopPropagation();
    }
}

/** The meaning of columns, on the page itself; open until somebody has closed it. @param {Column<any>[]} columns @param {[string, string][]} [more] */
export function legend(columns, more = []) {
    const rows = [...columns.map((c) => /** @type {[string, string]} */ ([c.title, c.help])), ...more].filter(([t]) => t);
    return el('dl', { tabindex: '0' }, ...rows.map(([t, h]) => el('div', {}, el('dt', { text: t }), el('dd', { text: h }))));
}
