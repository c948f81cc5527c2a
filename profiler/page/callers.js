// One function: its figures, who called it, what it called, and its source.
import { attr, el, onceAFrame, put } from './dom.js';
import { Grid, legend } from './grid.js';
import { add, exact, num, percent, plain, shown } from './num.js';
import { C1, C1CH, C2, C2CH, HITS } from './model.js';
import { doubtShare, hex, mark, where } from './functions.js';

/** @typedef {import('./model.js').Fn} Fn */
/** @typedef {import('./model.js').Path} Path */
/** @typedef {{key: string, fn: Fn|null, name: string, v: import('./num.js').Count[]}} Kin */

export class Callers {
    /** @param {import('./app.js').App} app */
    constructor(app) {
        this.app = app;
        this.lens = app.lens;
        this.title = el('h2.code.title');
        this.facts = el('div.bar');
        this.callers = this.kinGrid('Callers');
        this.callees = this.kinGrid('Called functions');
        this.pick = /** @type {HTMLInputElement} */ (el('input', { type: 'search', list: 'all-functions', placeholder: 'Function', 'aria-label': 'Show function', 'data-key-filter': true, onchange: () => this.named(this.pick.value) }));
        this.names = el('datalist', { id: 'all-functions' });
        this.left = el('p.soft.bar');
        this.tables = el('div.split', {}, el('section', {}, el('h2', { text: 'Called by' }), this.callers.box), el('section', {}, el('h2', { text: 'Calls' }), this.callees.box));
        this.help = el('details.legend', {}, el('summary', { text: 'What the tables mean' }), legend([], [
            ['Called by', 'Each function from which this one was called, with the figures of this function on the paths through it; they add up to the function’s own. “begins” is where no caller is known: profiling began here, or a handler.'],
            ['Calls', 'Each function that this one called, with the figures of the called one on these paths.'],
            ['Recursion', 'A function that calls itself stands on both sides; the outermost call counts.']]));
        this.box = el('section.view', { 'aria-label': 'Function' }, el('div.bar', {}, this.pick, this.names, app.modes(), this.title), this.facts, this.help, this.tables, this.left);
        this.update = onceAFrame(() => this.show());
    }

    /** @param {string} label */
    kinGrid(label) {
        return new Grid({ label, columns: this.columns(), key: (/** @type {Kin} */ k) => k.key, sort: 'c1ch', onOpen: (k) => k.fn && this.app.openFunction(k.fn) });
    }

    /** @returns {import('./grid.js').Column<Kin>[]} */
    columns() {
        const u = [this.lens.counterName(0), this.lens.counterName(1)];
        const f = (/** @type {string} */ id, /** @type {string} */ title, /** @type {string} */ help, /** @type {number} */ k) => ({ id, title, help, n: true, width: k === HITS ? 84 : k === C1CH || k === C2CH ? 112 : 98,
            text: (/** @type {Kin} */ x) => shown(x.v[k]), sort: (/** @type {Kin} */ x) => num(x.v[k]), value: (/** @type {Kin} */ x) => plain(x.v[k]) });
        return [
            { id: 'name', title: 'Function', help: 'Enter shows it.', width: 140, cls: 'code', text: (x) => (x.fn ? mark(x.fn) : '') + x.name, sort: (x) => x.name },
            f('hits', 'Hits', 'Times it was entered on these paths.', HITS), f('c1ch', 'C1+called', `${u[0].name}, with what it called.`, C1CH), f('c1', 'C1', `${u[0].name}, itself.`, C1),
            ...(u[1].there ? [f('c2ch', 'C2+called', `${u[1].name}, with what it called.`, C2CH), f('c2', 'C2', `${u[1].name}, itself.`, C2)] : []),
        ];
    }

    /** @param {string} name */
    named(name) {
        const f = [...this.lens.model.fns.values()].find((x) => x.name === name);
        if (f)
            this.app.openFunction(f);
    }

    show() {
        const m = this.lens.model;
        if (this.names.childElementCount !== m.fns.size)
            this.names.replaceChildren(...[...m.fns.values()].map((f) => el('option', { value: f.name })));
        const f = this.app.chosen();
        this.tables.hidden = this.facts.hidden = this.help.hidden = !f;
        if (!f) {
            put(this.title, m.fns.size ? 'No function is chosen: press Enter on one of the table, or name it here' : 'No function was seen yet');
            return;
        }
        put(this.title, mark(f) + f.name);
        this.figures(f);
        const { up, down } = this.kin(f);
        for (const [grid, rows] of /** @type {[Grid<Kin>, Kin[]][]} */ ([[this.callers, up], [this.callees, down]])) {
            grid.setColumns(this.columns());
            grid.set(rows);
        }
        put(this.left, m.meta.hid ? `${m.meta.hid} smaller call paths are not on this page, so callers may be missing.` : '');
        attr(this.box, 'data-frame', String(this.app.store.frames));
    }

    /** @param {Fn} f */
    figures(f) {
        const v = this.lens.fn(f), t = this.lens.total(), u = [this.lens.counterName(0), this.lens.counterName(1)];
        const d = doubtShare(f);
        const parts = [where(f), `${hex(f.low)}\u2013${hex(f.high)}`, `${exact(v[HITS])} hits`, `C1 ${exact(v[C1])} ${u[0].name} (${percent(num(v[C1]) / num(t[1]))} %), with called ${exact(v[C1CH])}`,
            u[1].there ? `C2 ${exact(v[C2])} ${u[1].name}, with called ${exact(v[C2CH])}` : '', d ? `? up to ${percent(d)} % may belong to a neighbour` : '', this.lens.words()].filter(Boolean);
        while (this.facts.childElementCount < parts.length)
            this.facts.append(el('span'));
        [...this.facts.children].forEach((e, i) => put(e, parts[i] ?? ''));
    }

    /** Who called it and what it called, over all call paths. @param {Fn} f */
    kin(f) {
        /** @type {Map<string, Kin>} */
        const up = new Map(), down = new Map();
        for (const p of this.lens.model.paths.values()) {
            if (p.fn !== f)
                continue;
            const v = this.lens.path(p), outer = !inside(p.parent, f);
            sum(up, p.parent?.fn ?? null, p.parent ? p.parent.fn.name : '(begins)', v, outer);
            for (const kid of p.kids)
                sum(down, kid.fn, kid.fn.name, this.lens.path(kid), kid.fn !== f && outer);
        }
        const some = (/** @type {Kin} */ k) => k.v.some((x) => num(x) !== 0);
        return { up: [...up.values()].filter(some), down: [...down.values()].filter(some) };
    }
}

/** @param {Path|null} p @param {Fn} f */
function inside(p, f) {
    for (let at = p; at; at = at.parent)
        if (at.fn === f)
            return true;
    return false;
}

/** @param {Map<string, Kin>} into @param {Fn|null} fn @param {string} name @param {import('./num.js').Count[]} v @param {boolean} outer with what it called: only once on a path */
function sum(into, fn, name, v, outer) {
    const key = fn ? String(fn.id) : 'begin';
    let k = into.get(key);
    if (!k)
        into.set(key, (k = { key, fn, name, v: [0, 0, 0, 0, 0] }));
    for (const c of [HITS, C1, C2, ...(outer ? [C1CH, C2CH] : [])])
        k.v[c] = add(k.v[c], v[c]);
}
