// What has changed: the figures since a mark against those until it, a function a row.
import { attr, el, onceAFrame, put } from './dom.js';
import { Grid, legend } from './grid.js';
import { C1, C1CH, C2, C2CH, HITS } from './model.js';
import { exact, num, percent, plain, shown, signed, sub } from './num.js';
import { nameCell } from './functions.js';

/** @typedef {import('./model.js').Fn} Fn */
/** @typedef {{fn: Fn, a: import('./num.js').Count[], b: import('./num.js').Count[]}} Pair before and after */

export class Compare {
    /** @param {import('./app.js').App} app */
    constructor(app) {
        this.app = app;
        this.lens = app.lens;
        this.whole = { a: 1, b: 1 };
        this.inclusive = false;
        this.file = ''; // a recording that was shown before, in place of a mark
        this.grid = new Grid({ label: 'Differences', columns: this.columns(), key: (/** @type {Pair} */ p) => p.fn.id, sort: 'dshare', onOpen: (p) => app.openFunction(p.fn), onSelect: (p) => app.select(p.fn) });
        this.marks = el('select', { 'aria-label': 'Mark or recording to compare with', onchange: () => this.choose() });
        this.scope = el('button', { 'aria-pressed': 'false', text: 'With what was called', onclick: () => this.widen() });
        this.set = el('button', { text: 'Set a mark now', onclick: () => app.mark() });
        this.drop = el('button', { text: 'Forget this mark', onclick: () => app.unmark(this.marked()) });
        this.note = el('p.empty', { text: 'Set a mark first. From then on this view shows, for each function, its part before the mark beside its part since: what has grown, what has shrunk. Of several recordings (probeprof view A B) choose another one above: this view compares with the one shown before.' });
        this.words = el('span.soft');
        this.help = el('details.legend', {}, el('summary', { text: 'What the columns mean' }), legend(this.columns()));
        this.box = el('section.view', { 'aria-label': 'Compare' }, el('div.bar', {}, el('label', {}, 'With', this.marks), this.set, this.drop, app.counters(), this.scope, this.words), this.help, this.note, this.grid.box);
        this.update = onceAFrame(() => this.show(false));
    }

    marked() {
        return /** @type {HTMLSelectElement} */ (this.marks).value;
    }

    widen() {
        this.inclusive = !this.inclusive;
        attr(this.scope, 'aria-pressed', String(this.inclusive));
        this.show(true);
    }

    choose() {
        this.file = this.app.kept.has(this.marked()) ? this.marked() : '';
        if (this.file)
            this.show(true);
        else
            this.app.useMark(this.marked());
    }

    /** Rows against a recording that was shown before: its figures are before, those of now since. @param {string} file @returns {Pair[]} */
    against(file) {
        const m = this.lens.model, there = this.app.kept.get(file);
        if (!there)
            return [];
        const i = this.lens.counter + 1, none = [0, 0, 0, 0, 0, 0, 0];
        this.whole = { a: num(there.tot[i]) || 1, b: num(m.tot[i]) || 1 };
        const here = new Map([...m.fns.values()].map((f) => [f.name, f]));
        put(this.words, `${file}: ${exact(there.tot[i])}, now: ${exact(m.tot[i])} ${this.lens.counterName(this.lens.counter).name}`);
        return [...new Map([...there.fns, ...here])].map(([name, fn]) => ({ fn, a: there.fns.get(name)?.v ?? none, b: here.get(name)?.v ?? none })).filter((p) => [...p.a, ...p.b].some((x) => num(x)));
    }

    /** @param {Pair} p */
    shares(p) {
        const k = this.lens.column(this.inclusive);
        return { a: num(p.a[k]) / this.whole.a, b: num(p.b[k]) / this.whole.b };
    }

    /** @returns {import('./grid.js').Column<Pair>[]} */
    columns() {
        const k = () => this.lens.column(this.inclusive), c = this.lens.counter + 1, since = this.file ? 'here' : 'since', before = this.file ? 'there' : 'before', unit = this.lens.counterName(this.lens.counter).name;
        const figure = (/** @type {string} */ id, /** @type {string} */ title, /** @type {string} */ help, /** @type {(p: Pair) => import('./num.js').Count} */ of) => ({ id, title, help, n: true, width: 118, text: (/** @type {Pair} */ p) => shown(of(p)), sort: (/** @type {Pair} */ p) => num(of(p)), value: (/** @type {Pair} */ p) => plain(of(p)) });
        const d = (/** @type {Pair} */ p) => this.shares(p).b - this.shares(p).a;
        return [
            { id: 'name', title: 'Function', help: 'Enter shows it.', width: 190, cls: 'code', text: (p) => p.fn.name, sort: (p) => p.fn.name, paint: (p, cell) => nameCell(p.fn, cell) },
            { id: 'dshare', title: 'Change', help: 'Its share of what was seen since the mark, less its share before: in points of a per cent. \u25B2 more, \u25BC less.', n: true, width: 104, sort: (p) => Math.abs(d(p)),
                text: () => '', paint: (p, cell) => {
                    const x = d(p);
                    put(cell, Math.abs(x) < 0.0005 ? '0.0' : `${x > 0 ? '\u25B2 +' : '\u25BC \u2212'}${(Math.abs(x) * 100).toFixed(1)}`);
                    cell.classList.toggle('more', x > 0.0005);
                    cell.classList.toggle('less', x < -0.0005);
                } },
            { id: 'after', title: `C${c} % ${since}`, help: `Share of the ${unit} since the mark.`, n: true, width: 112, text: (p) => percent(this.shares(p).b), sort: (p) => this.shares(p).b },
            { id: 'before', title: `C${c} % ${before}`, help: `Share of the ${unit} before the mark.`, n: true, width: 118, text: (p) => percent(this.shares(p).a), sort: (p) => this.shares(p).a },
            figure('b', `C${c} ${since}`, `${unit} since the mark.`, (p) => p.b[k()]), figure('a', `C${c} ${before}`, `${unit} before the mark.`, (p) => p.a[k()]),
            figure('hb', `Hits ${since}`, 'Times entered since the mark.', (p) => p.b[HITS]), figure('ha', `Hits ${before}`, 'Times entered before the mark.', (p) => p.a[HITS]),
            { id: 'each', title: 'A hit', help: `${unit} for each hit since the mark, against before.`, n: true, width: 92, sort: (p) => perHit(p, k()), text: (p) => (Number.isFinite(perHit(p, k())) && perHit(p, k()) ? `\u00D7${perHit(p, k()).toFixed(2)}` : '') },
        ];
    }

    /** @param {boolean} now */
    show(now) {
        const lens = this.lens, shown = String(lens.model.st.run?.record ?? '');
        const marks = this.app.marks(), files = [...this.app.kept.keys()].filter((f) => f !== shown), names = [...marks, ...files];
        if (!files.includes(this.file))
            this.file = marks.length || !files.length ? '' : files[files.length - 1];
        if (!lens.mark && marks.length && !this.file)
            this.app.useMark(marks[marks.length - 1], true);
        const mark = lens.mark, chosen = this.file || mark?.name;
        const stamp = names.join('\n') + chosen;
        if (this.marks.dataset.stamp !== stamp) {
            this.marks.dataset.stamp = stamp;
            this.marks.replaceChildren(...names.map((n) => el('option', { text: n, value: n, selected: n === chosen })));
        }
        const none = !mark && !this.file;
        this.note.hidden = !none;
        this.grid.box.hidden = this.help.hidden = none;
        for (const e of [this.marks, this.scope])
            /** @type {HTMLButtonElement} */ (e).disabled = !names.length;
        /** @type {HTMLButtonElement} */ (this.drop).disabled = !marks.length || Boolean(this.file);
        this.grid.setColumns(this.columns());
        attr(this.grid.box, 'data-frame', String(this.app.store.frames));
        if (this.file)
            this.grid.set(this.against(this.file), now);
        else if (mark)
            this.sinceMark(mark, now);
    }

    /** @param {import('./lens.js').Mark} mark @param {boolean} now */
    sinceMark(mark, now) {
        const lens = this.lens;
        const tot = lens.model.tot, i = lens.counter + 1;
        this.whole = { a: num(mark.tot[i]) || 1, b: num(sub(tot[i], mark.tot[i])) || 1 };
        /** @type {Pair[]} */
        const rows = [];
        for (const fn of lens.model.fns.values()) {
            const a = mark.f.get(fn.id) ?? [0, 0, 0, 0, 0, 0, 0];
            const b = [HITS, C1, C1CH, C2, C2CH].map((c) => sub(fn.v[c], a[c] ?? 0));
            if (a.some((x) => num(x)) || b.some((x) => num(x)))
                rows.push({ fn, a, b });
        }
        this.grid.set(rows, now);
        put(this.words, `before: ${exact(mark.tot[i])}, since: ${exact(sub(tot[i], mark.tot[i]))} ${lens.counterName(lens.counter).name}; hits ${signed(sub(tot[0], mark.tot[0]))}`);
    }
}

/** @param {Pair} p @param {number} k */
function perHit(p, k) {
    const a = num(p.a[k]) / num(p.a[HITS]), b = num(p.b[k]) / num(p.b[HITS]);
    return a ? b / a : 0;
}
