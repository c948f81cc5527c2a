// One function: its figures, who called it, what it called, and its source.
import { attr, el, onceAFrame, put } from './dom.js';
import { Code } from './code.js';
import { Grid, legend } from './grid.js';
import { add, count, exact, num, percent, plain, shown } from './num.js';
import { C1, C1CH, C2, C2CH, HITS } from './model.js';
import { doubtText, doubtful, hex, mark, where } from './functions.js';

/** @typedef {import('./model.js').Fn} Fn */
/** @typedef {import('./model.js').Path} Path */
/** @typedef {{key: string, fn: Fn|null, name: string, v: import('./num.js').Count[], within: boolean}} Kin within: none of its calls was the outermost */

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
        this.code = new Code(app);
        this.tables = el('div.split.kin', {}, el('section', {}, el('h2', { text: 'Called by' }), this.callers.box), el('section', {}, el('h2', { text: 'Calls' }), this.callees.box));
        this.help = el('details.legend', {}, el('summary', { text: 'What the tables mean' }), legend([], [
            ['Called by', 'Each function from which this one was called, with the figures of this function on the paths through it; they add up to the function’s own. “begins” is where no caller is known: profiling began here, or a handler.'],
            ['Calls', 'Each function that this one called, with the figures of the called one on these paths.'],
            ['Recursion', 'A function that calls itself stands on both sides. What it called counts once, at the outermost call: \u2013 is where it is part of that.']]));
        this.box = el('section.view', { 'aria-label': 'Function' }, el('div.bar', {}, this.pick, this.names, app.modes(), this.title), this.facts, this.help, this.tables, this.left, this.code.box);
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
            text: (/** @type {Kin} */ x) => ((k === C1CH || k === C2CH) && x.within ? '\u2013' : shown(x.v[k])), sort: (/** @type {Kin} */ x) => num(x.v[k]), value: (/** @type {Kin} */ x) => plain(x.v[k]) });
        return [
            { id: 'name', title: 'Function', help: 'Enter shows it.', width: 140, cls: 'code', text: (x) => (x.fn ? mark(x.fn) : '') + x.name, sort: (x) => x.name },
            ...(this.lens.model.knows('hits') ? [f('hits', 'Hits', 'Times it was entered on these paths.', HITS)] : []), f('c1ch', 'C1+called', `${u[0].name}, with what it called.`, C1CH), f('c1', 'C1', `${u[0].name}, itself.`, C1),
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
        this.tables.hidden = this.facts.hidden = this.help.hidden = this.code.box.hidden = !f;
        this.code.show(f);
        if (!f) {
            put(this.title, m.fns.size ? 'No function is chosen: press Enter on one of the table, or name it here' : 'No function was seen yet');
            return;
        }
        put(this.title, mark(f) + f.name);
        this.figures(f);
        const whole = this.fromService(), { up, down } = whole ?? this.kin(f);
        for (const [grid, rows] of /** @type {[Grid<Kin>, Kin[]][]} */ ([[this.callers, up], [this.callees, down]])) {
            grid.setColumns(this.columns());
            grid.set(rows);
            const section = /** @type {HTMLElement} */ (grid.box.parentElement);
            section.style.setProperty('--rows', String(Math.max(1, rows.length)));
        }
        const samples = m.hello?.type === 'statistical', none = samples || !m.knows('paths');
        this.tables.hidden = this.help.hidden = none;
        put(this.left, samples ? 'Samples do not know who called.' : none ? 'This file has no call paths: report --callers and --callees show its calls.' : m.meta.hid && !whole ? `${m.meta.hid} smaller call paths are not on this page, so callers may be missing${this.lens.mode === 'lately' ? ' from the last second' : ''}.` : '');
        this.left.hidden = !this.left.textContent;
        attr(this.box, 'data-frame', String(this.app.store.frames));
    }

    /** @param {KeyboardEvent} e */
    key(e) {
        if (e.key !== 't' || !this.app.chosen())
            return false;
        this.code.next();
        return true;
    }

    /** @param {Fn} f */
    figures(f) {
        const v = this.lens.fn(f), t = this.lens.total(), u = [this.lens.counterName(0), this.lens.counterName(1)], samples = this.lens.model.hello?.type === 'statistical';
        const hits = `${exact(v[HITS])} ${samples ? 'sample' : 'hit'}${num(v[HITS]) === 1 ? '' : 's'}`;
        const called = (/** @type {number} */ k) => (this.lens.model.knows('children') ? `, with called ${exact(v[k])}` : '');
        const counted = samples ? [`${hits} (${percent(num(v[HITS]) / num(t[0]))} %)`]
            : [this.lens.model.knows('hits') && !f.uncalled ? hits : '', `C1 ${exact(v[C1])} ${u[0].name} (${percent(num(v[C1]) / num(t[1]))} %)${called(C1CH)}`, u[1].there ? `C2 ${exact(v[C2])} ${u[1].name}${called(C2CH)}` : ''];
        const parts = [where(f), this.lens.model.knows('addresses') ? `${hex(f.low)}\u2013${hex(f.high)}` : '', ...counted, doubtful(f) ? doubtText(f) : '', this.lens.words()].filter(Boolean);
        while (this.facts.childElementCount < parts.length)
            this.facts.append(el('span'));
        [...this.facts.children].forEach((e, i) => put(e, parts[i] ?? ''));
    }

    /** Where small call paths are not on this page: those of all paths, as the service has counted them. @returns {{up: Kin[], down: Kin[]}|null} */
    fromService() {
        const m = this.lens.model, t = this.code.told;
        const since = this.lens.mode === 'mark' ? this.lens.mark?.name ?? null : null;
        if (!m.meta.hid || this.lens.mode === 'lately' || (t?.since ?? null) !== since || !t?.callers || this.code.toldOf !== this.code.wanted)
            return null;
        const kin = (/** @type {any} */ k) => {
            const fn = m.fns.get(k.function) ?? null, v = [k.hits, k.c1, k.c1_children, k.c2, k.c2_children].map(count);
            return { key: fn ? String(fn.id) : 'begin', fn, name: k.function === null ? '(begins)' : String(k.name), v, within: fn?.id === t.id && !num(v[C1CH]) };
        };
        return { up: t.callers.map(kin), down: t.callees.map(kin) };
    }

    /** Who called it and what it called, over the call paths of this page. @param {Fn} f */
    kin(f) {
        /** @type {Map<string, Kin>} */
        const up = new Map(), down = new Map();
        for (const p of this.lens.model.paths.values()) {
            if (p.fn !== f)
                continue;
            const v = this.lens.path(p), outermost = !inside(beyond(p, f), f); // called by itself at most
            sum(up, p.parent?.fn ?? null, p.parent ? p.parent.fn.name : '(begins)', v, !inside(p.parent, f));
            for (const kid of p.kids)
                sum(down, kid.fn, kid.fn.name, this.lens.path(kid), kid.fn !== f && outermost);
        }
        const some = (/** @type {Kin} */ k) => k.v.some((x) => num(x) !== 0);
        return { up: [...up.values()].filter(some), down: [...down.values()].filter(some) };
    }
}

/** Above p and the calls of f by itself that p ends. @param {Path} p @param {Fn} f */
function beyond(p, f) {
    let at = p.parent;
    while (at && at.fn === f)
        at = at.parent;
    return at;
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
        into.set(key, (k = { key, fn, name, v: [0, 0, 0, 0, 0], within: true }));
    k.within &&= !outer;
    for (const c of [HITS, C1, C2, ...(outer ? [C1CH, C2CH] : [])])
        k.v[c] = add(k.v[c], v[c]);
}
