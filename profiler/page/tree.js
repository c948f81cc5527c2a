// Call paths as boxes, and the same as a table. Zoom and selection are kept by the names of the path, so that new data, a new epoch, and another visit find it again.
import { attr, el, kept, onceAFrame, put } from './dom.js';
import { Boxes } from './boxes.js';
import { Grid, legend } from './grid.js';
import { C1, C2, FLAG, HITS, findPath, kidsOf, nameOfPath } from './model.js';
import { doubtShare } from './functions.js';
import { exact, num, percent, plain, shown } from './num.js';

/** @typedef {import('./model.js').Path} Path */
/** @typedef {import('./boxes.js').Box} Box */

const { doubtful: DOUBTFUL, interrupt: INTERRUPT, exception: EXCEPTION, lost: LOST, other: OTHER, task: TASK } = FLAG;

/** @param {Path} p @returns {Box['kind']} */
function kindOf(p) {
    if (p.flags & LOST)
        return 'lost';
    if (p.flags & OTHER)
        return 'other';
    if (p.flags & TASK)
        return 'task';
    return p.flags & (INTERRUPT | EXCEPTION) ? 'handler' : 'fn';
}

export class Tree {
    /** @param {import('./app.js').App} app */
    constructor(app) {
        this.app = app;
        this.lens = app.lens;
        /** @type {string[]} names of the path that fills the width */
        this.focus = [];
        /** @type {string[]} */
        this.picked = [];
        /** @type {Box|null} */
        this.pointed = null;
        this.open = new Set(['']); // paths of the table that show what is below them
        this.boxes = new Boxes({
            label: 'Call paths as boxes; the table shows the same', onPick: (b) => this.pick(b), onOpen: (b) => this.zoom(b.ref ? nameOfPath(b.ref) : []), onUp: () => this.zoom(this.focus.slice(0, -1)),
            onPoint: (b) => {
                this.pointed = b;
                this.facts();
            },
        });
        this.boxes.up = kept.get('flame', 'icicle') === 'flame';
        this.grid = new Grid({
            label: 'Call paths', columns: this.columns(), key: (/** @type {Path} */ p) => p.id, fixed: true, level: (p) => depthOf(p) + 1, onOpen: (p) => this.zoom(nameOfPath(p)),
            onSelect: (p) => this.pickPath(p), keys: (key, p) => this.fold(key, p), dress: (p, e) => attr(e, 'aria-expanded', p.kids.length ? String(this.open.has(nameOfPath(p).join('\n'))) : null),
        });
        this.grid.box.addEventListener('click', (e) => {
            const row = /** @type {Element} */ (e.target).classList.contains('twist') ? this.grid.rowAt(e) : undefined;
            if (row)
                this.toggle(row);
        });
        this.crumbs = el('div.crumbs', { role: 'navigation', 'aria-label': 'Zoomed path' });
        this.line = el('div.facts', { id: 'path-facts' });
        this.search = el('input', { type: 'search', placeholder: 'Find a name', 'aria-label': 'Find in call paths', 'data-key-filter': true, oninput: () => this.find() });
        this.flip = el('button', { onclick: () => this.turn() });
        this.table = el('button', { 'aria-pressed': 'false', text: 'As a table', onclick: () => this.swap() });
        this.left = el('span.soft');
        this.help = el('details.legend', {}, el('summary', { text: 'What the boxes mean' }), legend([], [
            ['Width', 'How much of the chosen counter was counted in the function and in all it called, on this very path.'],
            ['What stands on a box', 'What it called. Siblings are in order of name, so boxes keep their places as figures change.'],
            ['The free part of a row', 'The function itself, without what it called.'],
            ['? and hatching', 'Some of its counts may belong to a neighbour; wide hatching: less than a twentieth.'],
            ['(not seen)', 'Counted while events were lost: whose it is nobody knows.'],
            ['(other)', 'Paths too small to be sent to this page; their sum is exact.'],
            ['Handlers', 'Interrupts and exceptions are roots of their own: their time is in no victim’s.'],
            ['Zoom', 'Double click or Enter fills the width with a box; Backspace goes back one step; 0 shows all.']]));
        this.box = el('section.view', { 'aria-label': 'Call paths' },
            el('div.bar', {}, this.search, app.modes(), app.counters(), this.flip, this.table, this.left), this.help, el('div.bar', {}, this.crumbs), this.boxes.box, this.grid.box, this.line);
        this.grid.box.hidden = kept.get('tree-table', 'no') !== 'yes';
        this.boxes.box.hidden = !this.grid.box.hidden;
        this.update = onceAFrame(() => this.show());
        this.labels();
    }

    labels() {
        put(this.flip, this.boxes.up ? 'Root on top' : 'Root at the bottom');
        this.flip.hidden = this.boxes.box.hidden;
        attr(this.table, 'aria-pressed', String(!this.grid.box.hidden));
    }

    turn() {
        this.boxes.up = !this.boxes.up;
        this.boxes.top = 0;
        kept.set('flame', this.boxes.up ? 'flame' : 'icicle');
        this.labels();
        this.boxes.draw();
    }

    swap() {
        this.grid.box.hidden = !this.grid.box.hidden;
        this.boxes.box.hidden = !this.grid.box.hidden;
        kept.set('tree-table', this.grid.box.hidden ? 'no' : 'yes');
        this.labels();
        this.show();
    }

    find() {
        this.boxes.match = /** @type {HTMLInputElement} */ (this.search).value.trim().toLowerCase();
        this.boxes.draw();
    }

    /** @param {string[]} names */
    zoom(names) {
        this.focus = names;
        this.boxes.top = 0;
        for (let i = 0; i <= names.length; i++)
            this.open.add(names.slice(0, i).join('\n'));
        this.app.remember();
        this.show();
    }

    /** @param {Box|null} b */
    pick(b) {
        this.picked = b?.ref ? nameOfPath(b.ref) : [];
        if (b?.ref)
            this.app.select(b.ref.fn);
        this.facts();
    }

    /** @param {Path} p */
    pickPath(p) {
        this.picked = nameOfPath(p);
        this.boxes.picked = String(p.id);
        this.app.select(p.fn);
        this.facts();
    }

    /** @param {Path} p @returns {Box} */
    boxOf(p) {
        const v = this.lens.path(p), k = this.lens.column(true);
        const kind = kindOf(p);
        return { key: String(p.id), name: kind === 'lost' ? '(not seen)' : p.fn.name, value: num(v[k]), doubtful: Boolean(p.flags & DOUBTFUL) && kind !== 'lost', little: doubtShare(p.fn) < 0.05, kind, ref: p, kids: () => this.kids(p, num(v[k]) - num(v[k - 1])) };
    }

    /** @param {Path|null} p @param {number} below what its children have together, also those that are not here @returns {Box[]} */
    kids(p, below) {
        const k = this.lens.column(true);
        /** @type {Box[]} */
        const out = [];
        let sum = 0;
        for (const kid of kidsOf(this.lens.model, p)) {
            const value = num(this.lens.path(kid)[k]);
            if (value <= 0)
                continue;
            sum += value;
            out.push(this.boxOf(kid));
        }
        if (below - sum > 0)
            out.push({ key: `o${p ? p.id : ''}`, name: '(other)', value: below - sum, doubtful: false, kind: 'other', ref: null, kids: () => [] });
        return out;
    }

    whole() {
        return num(this.lens.total()[this.lens.counter + 1]);
    }

    /** @returns {Box} */
    everything() {
        const all = this.whole();
        return { key: 'all', name: `all: ${this.lens.words()}`, value: all, doubtful: false, kind: 'root', ref: null, kids: () => this.kids(null, all) };
    }

    show() {
        const m = this.lens.model, at = findPath(m, this.focus);
        this.picture(at);
        if (!this.grid.box.hidden) {
            this.unfoldHeavy();
            this.grid.setColumns(this.columns());
            this.grid.set(this.unfolded());
        }
        this.crumb(at);
        this.facts();
        put(this.left, m.meta.hid ? `${m.meta.hid} smaller paths are in (other)` : '');
        attr(this.box, 'data-frame', String(this.app.store.frames));
    }

    /** @param {Path|null} at */
    picture(at) {
        if (this.boxes.box.hidden)
            return;
        /** @type {Box[]} */
        const trunk = [];
        for (let p = at?.parent ?? null; p; p = p.parent)
            trunk.unshift(this.boxOf(p));
        if (at)
            trunk.unshift(this.everything());
        const chosen = this.picked.length ? findPath(this.lens.model, this.picked) : null;
        this.boxes.picked = chosen && nameOfPath(chosen).length === this.picked.length ? String(chosen.id) : this.boxes.picked;
        this.boxes.set(at ? this.boxOf(at) : this.everything(), trunk);
    }

    /** @param {Path|null} at */
    crumb(at) {
        const names = nameOfPath(at);
        const stamp = names.join('\n');
        if (this.crumbs.dataset.stamp === stamp && this.crumbs.childElementCount)
            return;
        this.crumbs.dataset.stamp = stamp;
        const step = (/** @type {string} */ text, /** @type {string[]} */ to, /** @type {boolean} */ last) =>
            el('button', { text, 'aria-current': last ? 'true' : null, onclick: () => this.zoom(to) });
        const deep = names.length > 7;
        this.crumbs.replaceChildren(step('all', [], !names.length),
            ...names.flatMap((n, i) => (deep && i > 1 && i < names.length - 4 ? (i === 2 ? [document.createTextNode('\u203A \u2026')] : []) : [document.createTextNode('\u203A'), step(n, names.slice(0, i + 1), i === names.length - 1)])));
    }

    facts() {
        const p = this.pointed ? this.pointed.ref : findPath(this.lens.model, this.picked);
        const whole = this.whole();
        if (!p) {
            const b = this.pointed;
            this.line.replaceChildren(b && b.kind === 'other' ? `(other): ${exact(b.value)}, ${percent(b.value / whole)} % \u2013 paths too small to be sent to this page` :
                'Point at a box, or go there with the arrow keys. Enter or a double click zooms, Backspace goes back.');
            return;
        }
        const v = this.lens.path(p), k = this.lens.column(true), unit = this.lens.counterName(this.lens.counter);
        this.line.replaceChildren(el('b', { text: nameOfPath(p).join(' \u203A ') }), el('br'),
            `${exact(v[k])} ${unit.name} with what it called (${percent(num(v[k]) / whole)} %), ${exact(v[k - 1])} itself (${percent(num(v[k - 1]) / whole)} %)${this.lens.model.knows('hits') ? `, ${exact(v[HITS])} hits` : ''}` +
            (p.flags & LOST ? ' \u2013 counted while events were lost' : p.flags & DOUBTFUL ? ' \u2013 ? some of it may belong to a neighbour' : ''));
    }

    /** @returns {import('./grid.js').Column<Path>[]} */
    columns() {
        const lens = this.lens, u = lens.counterName(lens.counter), k = lens.column(true);
        const figure = (/** @type {string} */ id, /** @type {string} */ title, /** @type {string} */ help, /** @type {number} */ at) => ({
            id, title, help, n: true, width: 120, text: (/** @type {Path} */ p) => shown(lens.path(p)[at]), value: (/** @type {Path} */ p) => plain(lens.path(p)[at]) });
        return [
            { id: 'name', title: 'Call path', help: 'Indented below what called it.', width: 240, cls: 'code', text: (p) => p.fn.name, paint: (p, cell) => this.name(p, cell) },
            { id: 'share', title: `C${lens.counter + 1} %`, help: 'Of everything, with what it called.', width: 84, n: true, cls: lens.counter ? 'share.two' : 'share', text: () => '',
                paint: (p, cell) => {
                    const part = num(lens.path(p)[k]) / this.whole();
                    put(cell, percent(part));
                    cell.style.setProperty('--part', `${Math.min(100, part * 100 || 0).toFixed(1)}%`);
                } },
            figure('incl', `C${lens.counter + 1} + called`, `${u.name} on this path, with what it called.`, k),
            figure('self', `C${lens.counter + 1} itself`, `${u.name} on this path, without what it called.`, k - 1),
            ...(lens.model.knows('hits') ? [figure('hits', 'Hits', 'How often it was entered on this path.', HITS)] : []),
            figure('other', lens.counter ? 'C1 itself' : 'C2 itself', 'The other counter.', lens.counter ? C1 : C2),
        ];
    }

    /** @param {Path} p @param {HTMLElement} cell */
    name(p, cell) {
        if (!cell.firstElementChild)
            cell.append(el('span.twist', { 'aria-hidden': 'true' }), el('span'));
        const [twist, name] = /** @type {HTMLElement[]} */ ([...cell.children]);
        put(twist, p.kids.length ? (this.open.has(nameOfPath(p).join('\n')) ? '\u25BE' : '\u25B8') : '');
        put(name, (p.flags & DOUBTFUL && !(p.flags & LOST) ? '?' : '') + (p.flags & LOST ? '(not seen)' : p.fn.name));
        name.className = p.flags & DOUBTFUL ? 'doubt' : '';
        cell.style.paddingLeft = `${8 + depthOf(p) * 16}px`;
    }

    /** The first time: what has a twentieth of everything is open. */
    unfoldHeavy() {
        const least = this.whole() / 20;
        if (this.open.size > 1 || !least)
            return;
        for (const p of this.lens.model.paths.values())
            if (num(this.lens.path(p)[this.lens.column(true)]) >= least)
                this.open.add(nameOfPath(p).join('\n'));
    }

    unfolded() {
        /** @type {Path[]} */
        const out = [];
        const walk = (/** @type {Path|null} */ p) => {
            for (const kid of kidsOf(this.lens.model, p)) {
                out.push(kid);
                if (this.open.has(nameOfPath(kid).join('\n')))
                    walk(kid);
            }
        };
        walk(null);
        return out;
    }

    /** @param {Path} p */
    toggle(p) {
        const name = nameOfPath(p).join('\n');
        if (!this.open.delete(name))
            this.open.add(name);
        this.show();
    }

    /** @param {string} key @param {Path} p */
    fold(key, p) {
        const isOpen = this.open.has(nameOfPath(p).join('\n'));
        if ((key === 'ArrowRight' && !isOpen && p.kids.length) || (key === 'ArrowLeft' && isOpen && p.kids.length)) {
            this.toggle(p);
            return true;
        }
        if (key === 'ArrowLeft' && p.parent) {
            this.grid.go(this.grid.rows.indexOf(p.parent));
            return true;
        }
        if (key === 'Backspace') {
            this.zoom(this.focus.slice(0, -1));
            return true;
        }
        return false;
    }

    /** @param {KeyboardEvent} e */
    key(e) {
        if (e.key === '0')
            this.zoom([]);
        else if (e.key === 'Backspace' || e.key === '-')
            this.zoom(this.focus.slice(0, -1));
        else if (e.key === 't')
            this.swap();
        else
            return false;
        return true;
    }
}

/** @param {Path} p */
function depthOf(p) {
    let n = 0;
    for (let at = p.parent; at; at = at.parent)
        n++;
    return n;
}
