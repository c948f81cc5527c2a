// What has changed: the figures of one side against those of another, a function a row. Sides are marks, parts of the history, recordings, files.
import { attr, el, onceAFrame, put } from './dom.js';
import { Grid, legend } from './grid.js';
import { HITS } from './model.js';
import { clock, exact, num, percent, plain, shown } from './num.js';
import { nameCell } from './functions.js';
import { get } from './control.js';
import { pairs, sideOfFile, sideOfNow, sideOfProfile, sideOfRange, sidesOfMark, unlike } from './sides.js';

/** @typedef {import('./sides.js').Side} Side */
/** @typedef {import('./sides.js').Pair} Pair */
/** @typedef {{from: number, to: number}} Range wall ms */

const RANGES = 8;

export class Compare {
    /** @param {import('./app.js').App} app */
    constructor(app) {
        this.app = app;
        this.lens = app.lens;
        this.whole = { a: 1, b: 1 };
        this.inclusive = false;
        this.a = this.b = ''; // keys of what is chosen: before, and since
        /** @type {Map<string, Range>} */
        this.ranges = new Map();
        /** @type {Map<string, Side>} sides that do not change: ranges, files */
        this.loaded = new Map();
        /** @type {Set<string>} */
        this.asking = new Set();
        /** @type {Set<string>} recordings that could not be read */
        this.refused = new Set();
        this.words = { a: 'before', b: 'since' };
        this.odd = ''; // why the counter is not compared
        this.grid = new Grid({ label: 'Differences', columns: this.columns(), key: (/** @type {Pair} */ p) => `${p.name}\n${p.file}`, sort: 'dshare', onOpen: (p) => p.fn && app.openFunction(p.fn), onSelect: (p) => p.fn && app.select(p.fn) });
        this.marks = this.choice('Mark or recording to compare with', (key) => this.take('a', key));
        this.since = this.choice('What is compared', (key) => this.take('b', key));
        this.scope = el('button', { 'aria-pressed': 'false', text: 'With what was called', onclick: () => this.widen() });
        this.set = el('button', { text: 'Set a mark now', onclick: () => app.mark() });
        this.drop = el('button', { text: 'Forget this mark', onclick: () => app.unmark(this.a.slice('mark '.length)) });
        this.file = /** @type {HTMLInputElement} */ (el('input', { type: 'file', accept: '.json,application/json', hidden: true, 'aria-label': 'Profile to compare with', onchange: () => this.open() }));
        this.pick = el('button', { text: 'Open a file \u2026', title: 'A profile that report --json or /profile.json has made; it stays in this browser', onclick: () => this.file.click() });
        this.note = el('p.empty', { text: 'Set a mark first. From then on this view shows, for each function, its part before the mark beside its part since: what has grown, what has shrunk. Or open the profile of another run (report --json), choose a part of the time in History, or one of several recordings (probeprof view A B).' });
        this.said = el('span.soft');
        this.help = el('details.legend', {}, el('summary', { text: 'What the columns mean' }), legend(this.columns()));
        this.box = el('section.view', { 'aria-label': 'Compare' }, el('div.bar', {}, el('label', {}, 'Compare', this.since), el('label', {}, 'with', this.marks), this.set, this.drop, this.pick, this.file, app.counters(), this.scope, this.said), this.help, this.note, this.grid.box);
        this.update = onceAFrame(() => this.show(false));
        app.store.on('fresh', (other) => other && this.forget());
    }

    /** @param {string} label @param {(key: string) => void} chosen */
    choice(label, chosen) {
        const e = /** @type {HTMLSelectElement} */ (el('select', { 'aria-label': label }));
        e.addEventListener('change', () => chosen(e.value));
        return e;
    }

    /** Another epoch: parts of its history are of functions with other ids. */
    forget() {
        for (const key of this.ranges.keys())
            this.loaded.delete(key);
        this.ranges.clear();
    }

    widen() {
        this.inclusive = !this.inclusive;
        attr(this.scope, 'aria-pressed', String(this.inclusive));
        this.show(true);
    }

    // ---- sides ----

    /** Of the history: it is compared with all. @param {Range} r */
    range(r) {
        const key = `range ${clock(r.from)} \u2013 ${clock(r.to)}`;
        this.loaded.delete(key);
        this.ranges.delete(key);
        this.ranges.set(key, r);
        if (this.ranges.size > RANGES)
            this.ranges.delete([...this.ranges.keys()][0]);
        this.a = 'now';
        this.take('b', key);
    }

    async open() {
        const file = this.file.files?.[0];
        this.file.value = ''; // so that the same one may be opened again
        if (!file)
            return;
        try {
            this.loaded.set(`file ${file.name}`, await sideOfFile(file));
            this.b = 'now';
            this.take('a', `file ${file.name}`);
        } catch (e) {
            this.app.head.note('refused', 'bad', 12000, `${file.name} cannot be compared`, /** @type {Error} */ (e).message);
        }
    }

    /** @param {'a'|'b'} side @param {string} key */
    async take(side, key) {
        this[side] = key;
        if (key.startsWith('mark '))
            await this.app.useMark(key.slice('mark '.length));
        const r = this.ranges.get(key), file = key.startsWith('recording ') ? key.slice('recording '.length) : '';
        if (!this.loaded.has(key) && !this.asking.has(key) && (r || file)) {
            this.asking.add(key);
            const a = await get(r ? `api/1/range?from=${Math.round(r.from)}&to=${Math.round(r.to)}` : `profile.json?file=${encodeURIComponent(file)}`);
            this.asking.delete(key);
            if (a.ok) {
                this.loaded.set(key, r ? sideOfRange(a.body, key.replace('range ', ''), this.lens.model) : sideOfProfile(a.body, file));
            } else {
                this.app.refused(r ? 'That part of the history cannot be compared' : 'That recording cannot be compared', a);
                this.ranges.delete(key);
                this.refused.add(key);
                this[side] = '';
            }
        }
        this.show(true);
    }

    /** What may stand on either side. */
    keys() {
        const run = this.lens.model.st.run ?? {}, there = /** @type {string[]} */ (Array.isArray(run.files) ? run.files.map(String) : []);
        const marks = this.app.marks().map((m) => `mark ${m}`), ranges = [...this.ranges.keys()];
        const files = [...there.filter((f) => f !== String(run.record ?? '')).map((f) => `recording ${f}`).filter((k) => !this.refused.has(k)), ...[...this.loaded.keys()].filter((k) => k.startsWith('file '))];
        const b = ['now', ...ranges];
        this.b = b.includes(this.b) ? this.b : 'now';
        const a = [...(this.b === 'now' ? [] : ['now']), ...marks, ...ranges.filter((k) => k !== this.b), ...files];
        if (!a.includes(this.a))
            this.a = a.includes('now') ? 'now' : marks[marks.length - 1] ?? files[0] ?? '';
        return { a, b };
    }

    /** @returns {{a: Side, b: Side}|null} null: nothing is chosen, or it is on its way */
    sides() {
        const m = this.lens.model, mark = this.a.startsWith('mark ') ? this.lens.mark : null;
        if (this.a.startsWith('mark ') && (!mark || mark.name !== this.a.slice('mark '.length)))
            return null;
        const until = mark ? sidesOfMark(m, mark) : null;
        const a = until?.until ?? (this.a === 'now' ? sideOfNow(m, 'in all') : this.loaded.get(this.a)), b = this.b === 'now' ? until?.since ?? sideOfNow(m, 'here') : this.loaded.get(this.b);
        if (!a || !b)
            return null;
        return { a: a.word === b.word ? { ...a, word: 'before' } : a, b };
    }

    // ---- the table ----

    /** @param {Pair} p */
    shares(p) {
        const k = this.lens.column(this.inclusive);
        return this.odd ? { a: num(p.a[HITS]) / this.whole.a, b: num(p.b[HITS]) / this.whole.b } : { a: num(p.a[k]) / this.whole.a, b: num(p.b[k]) / this.whole.b };
    }

    /** @returns {import('./grid.js').Column<Pair>[]} */
    columns() {
        const k = () => this.lens.column(this.inclusive), { a: before, b: since } = this.words, unit = this.odd ? 'hits' : this.lens.counterName(this.lens.counter).name, of = this.odd ? 'Hits' : `C${this.lens.counter + 1}`;
        const figure = (/** @type {string} */ id, /** @type {string} */ title, /** @type {string} */ help, /** @type {(p: Pair) => import('./num.js').Count} */ of) => ({ id, title, help, n: true, width: 118, text: (/** @type {Pair} */ p) => shown(of(p)), sort: (/** @type {Pair} */ p) => num(of(p)), value: (/** @type {Pair} */ p) => plain(of(p)) });
        const d = (/** @type {Pair} */ p) => this.shares(p).b - this.shares(p).a;
        return [
            { id: 'name', title: 'Function', help: 'Enter shows it.', width: 190, cls: 'code', text: (p) => p.name, sort: (p) => p.name, paint: (p, cell) => (p.fn ? nameCell(p.fn, cell) : put(cell, p.name)) },
            { id: 'dshare', title: 'Change', help: `Its share of what was seen ${since}, less its share ${before}: in points of a per cent. \u25B2 more, \u25BC less.`, n: true, width: 104, sort: (p) => Math.abs(d(p)),
                text: () => '', paint: (p, cell) => {
                    const x = d(p);
                    put(cell, Math.abs(x) < 0.0005 ? '0.0' : `${x > 0 ? '\u25B2 +' : '\u25BC \u2212'}${(Math.abs(x) * 100).toFixed(1)}`);
                    cell.classList.toggle('more', x > 0.0005);
                    cell.classList.toggle('less', x < -0.0005);
                } },
            { id: 'after', title: `${of} % ${since}`, help: `Share of the ${unit}, ${since}.`, n: true, width: 120, text: (p) => percent(this.shares(p).b), sort: (p) => this.shares(p).b },
            { id: 'before', title: `${of} % ${before}`, help: `Share of the ${unit}, ${before}.`, n: true, width: 120, text: (p) => percent(this.shares(p).a), sort: (p) => this.shares(p).a },
            ...(this.odd ? [] : [figure('b', `${of} ${since}`, `${unit}, ${since}.`, (p) => p.b[k()]), figure('a', `${of} ${before}`, `${unit}, ${before}.`, (p) => p.a[k()])]),
            figure('hb', `Hits ${since}`, `Times entered, ${since}.`, (p) => p.b[HITS]), figure('ha', `Hits ${before}`, `Times entered, ${before}.`, (p) => p.a[HITS]),
            ...(this.odd ? [] : [{ id: 'each', title: 'A hit', help: `${unit} for each hit ${since}, against ${before}.`, n: true, width: 92, sort: (/** @type {Pair} */ p) => perHit(p, k()), text: (/** @type {Pair} */ p) => (Number.isFinite(perHit(p, k())) && perHit(p, k()) ? `\u00D7${perHit(p, k()).toFixed(2)}` : '') }]),
        ];
    }

    /** @param {boolean} now */
    show(now) {
        const keys = this.keys(), sides = this.sides();
        if (this.a.startsWith('mark ') && this.lens.mark?.name !== this.a.slice('mark '.length))
            this.app.useMark(this.a.slice('mark '.length), true);
        else if (this.a.startsWith('recording ') && !this.loaded.has(this.a) && !this.asking.has(this.a))
            this.take('a', this.a);
        fill(this.marks, keys.a, this.a, 'all of the profile');
        fill(this.since, keys.b, this.b, this.a.startsWith('mark ') ? 'what came since' : 'all of the profile');
        this.marks.disabled = !keys.a.length;
        /** @type {HTMLButtonElement} */ (this.scope).disabled = !sides;
        /** @type {HTMLButtonElement} */ (this.drop).disabled = !this.a.startsWith('mark ');
        this.note.hidden = keys.a.length > 0;
        this.grid.box.hidden = this.help.hidden = !sides;
        if (sides)
            this.put(sides, now);
        else
            put(this.said, '');
        attr(this.grid.box, 'data-frame', String(this.app.store.frames));
    }

    /** @param {{a: Side, b: Side}} s @param {boolean} now */
    put({ a, b }, now) {
        const m = this.lens.model, here = [0, 1].map((k) => (m.hello?.counters?.[k] ? String(m.hello.counters[k][0]) : null)), type = String(m.hello?.type ?? '');
        const samples = (a.type || type) === 'statistical' && (b.type || type) === 'statistical', mixed = (a.type || type) !== (b.type || type);
        const odd = samples ? 'samples are compared' : unlike(a, b, this.lens.counter, here);
        const stamp = `${a.word} ${b.word} ${odd}`;
        this.odd = odd;
        this.words = { a: a.word, b: b.word };
        const i = odd ? 0 : this.lens.counter + 1;
        this.whole = { a: num(a.tot[i]) || 1, b: num(b.tot[i]) || 1 };
        this.grid.setColumns(this.columns());
        if (this.help.dataset.stamp !== stamp) {
            this.help.dataset.stamp = stamp;
            this.help.lastElementChild?.replaceWith(legend(this.columns()));
        }
        this.grid.set(mixed ? [] : pairs(a, b, m), now);
        const unit = odd ? 'hits' : this.lens.counterName(this.lens.counter).name;
        put(this.said, mixed ? 'One side is of samples, the other of calls: they cannot be compared.' : [`${a.label}: ${exact(a.tot[i])}, ${b.label}: ${exact(b.tot[i])} ${unit}`, odd, a.more, b.more].filter(Boolean).join('; '));
    }
}

/** @param {HTMLSelectElement} e @param {string[]} keys @param {string} chosen @param {string} now what the profile of now is called there */
function fill(e, keys, chosen, now) {
    const stamp = [...keys, chosen, now].join('\n');
    if (e.dataset.stamp === stamp)
        return;
    e.dataset.stamp = stamp;
    e.replaceChildren(...keys.map((k) => el('option', { text: k === 'now' ? now : k, value: k, selected: k === chosen })));
}

/** @param {Pair} p @param {number} k */
function perHit(p, k) {
    const a = num(p.a[k]) / num(p.a[HITS]), b = num(p.b[k]) / num(p.b[HITS]);
    return a ? b / a : 0;
}
