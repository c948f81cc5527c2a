// The table of functions.
import { C1, C1CH, C2, C2CH, DOUBTS, FLAG, HITS, SPARKS, SPREAD, STEPS } from './model.js';
import { attr, el, kept, onceAFrame, put } from './dom.js';
import { Grid, legend } from './grid.js';
import { count, exact, num, percent, plain, shown } from './num.js';

/** @typedef {import('./model.js').Fn} Fn */

/** What is no function but stands among them. @param {Fn} f */
export const odd = (f) => Boolean(f.flags & (FLAG.lost | FLAG.other | FLAG.task));
/** @param {Fn} f */
export const doubtShare = (f) => (num(f.v[STEPS]) > 0 ? Math.min(1, num(f.v[DOUBTS]) / num(f.v[STEPS])) : num(f.v[DOUBTS]) > 0 ? 1 : doubtful(f) ? NaN : 0);

/** @param {Fn} f which is doubtful */
export const doubtText = (f) => (Number.isNaN(doubtShare(f)) ? '? Some of its counts may belong to a neighbour; how many is not known' : `? Up to ${percent(doubtShare(f))} % of its counts may belong to a neighbour`);
/** @param {Fn} f */
export const doubtful = (f) => Boolean(f.flags & FLAG.doubtful);
/** @param {Fn} f */
export const where = (f) => (f.file ? `${f.file}${f.line ? ':' + f.line : ''}` : '');
/** @param {import('./num.js').Count} a */
export const hex = (a) => '0x' + BigInt(a).toString(16).toUpperCase().padStart(8, '0');

export class Functions {
    /** @param {import('./app.js').App} app */
    constructor(app) {
        this.app = app;
        this.lens = app.lens;
        this.filter = '';
        this.titles = '';
        /** @type {{hits: number, c: number[]}} */
        this.whole = { hits: 0, c: [0, 0] };
        this.grid = new Grid({
            label: 'Functions', columns: this.columns(), key: (/** @type {Fn} */ f) => f.id, sort: 'c1', onOpen: (f) => app.openFunction(f),
            onSelect: (f) => app.select(f), onSort: () => this.app.remember(), dress: (f, e) => attr(e, 'data-flags', String(f.flags)),
        });
        this.search = el('input', { type: 'search', placeholder: 'Filter by name or file', 'aria-label': 'Filter functions', 'data-key-filter': true, oninput: () => this.refilter() });
        this.note = el('span.soft', { 'aria-live': 'off' });
        this.help = el('details.legend', {}, el('summary', { text: 'What the columns mean' }));
        if (kept.get('legend', 'open') === 'open' && innerWidth > 640)
            this.help.setAttribute('open', '');
        this.help.addEventListener('toggle', () => kept.set('legend', this.help.hasAttribute('open') ? 'open' : 'closed'));
        this.box = el('section.view', { 'aria-label': 'Functions' },
            el('div.bar', {}, this.search, app.modes(), this.note), this.help, this.grid.box);
        this.update = onceAFrame(() => this.show(false));
    }

    refilter() {
        this.filter = /** @type {HTMLInputElement} */ (this.search).value.trim().toLowerCase();
        this.app.remember();
        this.show(true);
    }

    /** @returns {import('./grid.js').Column<Fn>[]} */
    columns() {
        const lens = this.lens, u = [lens.counterName(0), lens.counterName(1)];
        const v = (/** @type {Fn} */ f, /** @type {number} */ k) => lens.fn(f)[k];
        const known = (/** @type {Fn} */ f, /** @type {number} */ k) => k !== HITS || !f.uncalled;
        const figure = (/** @type {string} */ id, /** @type {string} */ title, /** @type {string} */ help, /** @type {number} */ k) => ({
            id, title, help, n: true, width: 118, text: (/** @type {Fn} */ f) => (known(f, k) ? shown(v(f, k)) : ''), sort: (/** @type {Fn} */ f) => num(v(f, k)), value: (/** @type {Fn} */ f) => (known(f, k) ? plain(v(f, k)) : ''),
            paint: (/** @type {Fn} */ f, /** @type {HTMLElement} */ cell) => {
                put(cell, known(f, k) ? shown(v(f, k)) : '');
                attr(cell, 'title', known(f, k) ? exact(v(f, k)) : 'not known');
            },
        });
        const share = (/** @type {number} */ which, /** @type {number} */ k) => ({
            id: `share${which + 1}`, title: `C${which + 1} %`, n: true, width: 84, cls: which ? 'share.two' : 'share',
            help: `The function's own part of all ${u[which].name}, without what it called. Bar and number are the same.`,
            text: (/** @type {Fn} */ f) => percent(num(v(f, k)) / this.whole.c[which]), sort: (/** @type {Fn} */ f) => num(v(f, k)),
            paint: (/** @type {Fn} */ f, /** @type {HTMLElement} */ cell) => {
                const part = num(v(f, k)) / this.whole.c[which];
                put(cell, percent(part));
                const width = `${Math.min(100, Math.max(0, part * 100 || 0)).toFixed(1)}%`;
                if (cell.style.getPropertyValue('--part') !== width)
                    cell.style.setProperty('--part', width);
            },
        });
        const samples = lens.model.hello?.type === 'statistical', hits = lens.model.knows('hits'), children = lens.model.knows('children');
        const columns = [
            { id: 'name', title: 'Function', width: 200, cls: 'code', help: 'Its name in the ELF. ? in front: some of its counts may belong to a neighbour. H: a handler of interrupts or exceptions, with time of its own. *: tagged in probeprof.marks, which also renames functions and makes one row of several. Enter opens its callers and callees.',
                text: (/** @type {Fn} */ f) => mark(f) + f.name, sort: (/** @type {Fn} */ f) => f.name,
                paint: (/** @type {Fn} */ f, /** @type {HTMLElement} */ cell) => nameCell(f, cell) },
            share(0, C1),
            figure('c1', `C1 ${u[0].unit}`, `${u[0].name}: what counter 1 counted in the function itself, without what it called.`, C1),
            ...(children ? [figure('c1ch', 'C1 + called', `${u[0].name} in the function and in all that it called.`, C1CH)] : []),
            ...(hits ? [figure('hits', samples ? 'Samples' : 'Hits', samples ? 'How often it was found running.' : 'How often it was entered: calls, tail calls, interrupts. Being returned to is none.', HITS)] : []),
            { id: 'spark', title: 'Last 60 s', width: 126, cls: 'spark', help: 'C1 of each of the last 60 seconds, the newest on the right; its highest point fills the row. Where the line is missing, nobody looked.',
                text: () => '', paint: (/** @type {Fn} */ f, /** @type {HTMLElement} */ cell) => spark(f, cell, lens.model.sparkAt) },
            ...(u[1].there ? [share(1, C2), figure('c2', `C2 ${u[1].unit === 'count' ? '' : u[1].unit}`.trim(), `${u[1].name}: what counter 2 counted in the function itself.`, C2), ...(children ? [figure('c2ch', 'C2 + called', `${u[1].name} in the function and in all that it called.`, C2CH)] : [])] : []),
            ...(hits ? [{ id: 'each', title: 'C1 a hit', n: true, width: 92, help: `${u[0].name} of the function itself for each time it was entered.`, text: (/** @type {Fn} */ f) => each(lens.fn(f)), sort: (/** @type {Fn} */ f) => ratio(lens.fn(f)) }] : []),
            { id: 'doubt', title: '? %', n: true, width: 66, help: 'How much of the function at most is in doubt: steps with an end that may belong to a neighbour (after losses, or next to code that is not traced).',
                text: (/** @type {Fn} */ f) => (doubtShare(f) ? percent(doubtShare(f)) : ''), sort: (/** @type {Fn} */ f) => doubtShare(f) || 0, value: (/** @type {Fn} */ f) => (Number.isNaN(doubtShare(f)) ? '' : String(doubtShare(f))) },
            ...(lens.model.st.rates?.estimated || [...lens.model.fns.values()].some((f) => num(f.v[SPREAD]) > 0) ? [{ id: 'spread', title: '\u00B1 C1', n: true, width: 90, help: 'C1 is an estimate on this board: it lies within this of the truth.',
                text: (/** @type {Fn} */ f) => (num(f.v[SPREAD]) ? '\u00B1' + shown(f.v[SPREAD]) : ''), sort: (/** @type {Fn} */ f) => num(f.v[SPREAD]) }] : []),
            ...(lens.mode === 'total' && [...lens.model.fns.values()].some((f) => f.half !== null) ? [{ id: 'seen', title: 'Seen %', n: true, width: 104, help: 'Where events were lost: its part of what was seen of C1, and within how many points the part of the whole run lies with 95 % probability, if what was lost is like what was seen.',
                text: (/** @type {Fn} */ f) => (f.half === null ? '' : `${(100 * this.seen(f)).toFixed(1)} \u00B1${(100 * f.half).toPrecision(2)}`), sort: (/** @type {Fn} */ f) => (f.half === null ? 0 : this.seen(f)), value: (/** @type {Fn} */ f) => (f.half === null ? '' : `${this.seen(f)} ${f.half}`) }] : []),
            { id: 'file', title: 'File', width: 210, cls: 'code', help: 'File and line where it begins, as the ELF has it.', text: where, sort: where },
        ];
        return /** @type {any} */ (columns);
    }

    /** Its part of what was seen of C1: without what was counted while events were lost. @param {Fn} f */
    seen(f) {
        const all = num(this.lens.model.tot[1]) - num(count(this.lens.model.st.coverage?.lost_c1 ?? 0));
        return all > 0 ? num(f.v[C1]) / all : 0;
    }

    /** @param {boolean} now sort at once */
    show(now) {
        const lens = this.lens, t = lens.total();
        this.whole = { hits: num(t[0]), c: [num(t[1]), num(t[2])] };
        const columns = this.columns();
        this.grid.setColumns(columns);
        const titles = columns.map((c) => c.title + c.help).join();
        if (titles !== this.titles) {
            this.titles = titles;
            this.help.lastElementChild?.tagName === 'DL' && this.help.lastElementChild.remove();
            this.help.append(legend(columns));
        }
        const want = this.filter;
        const rows = [...lens.model.fns.values()].filter((f) => (lens.mode === 'total' || num(lens.fn(f)[HITS]) || num(lens.fn(f)[C1]) || num(lens.fn(f)[C1CH])) &&
            (!want || f.name.toLowerCase().includes(want) || f.file.toLowerCase().includes(want)));
        this.grid.set(rows, now);
        const all = lens.model.fns.size;
        put(this.note, `${rows.length === all ? all : `${rows.length} of ${all}`} function${all === 1 ? '' : 's'}, ${lens.words()}${this.grid.held && rows.length > 1 ? ' \u00B7 order held while you point' : ''}`);
        attr(this.grid.box, 'data-frame', String(this.app.store.frames));
    }
}

/** Before a name: what is to be known of it without colour. @param {Fn} f */
export function mark(f) {
    return (doubtful(f) ? '?' : '') + (f.flags & (FLAG.interrupt | FLAG.exception) ? 'H ' : '') + (f.flags & FLAG.tagged ? '*' : '');
}

/** @param {Fn} f @param {HTMLElement} cell */
export function nameCell(f, cell) {
    put(cell, mark(f) + f.name);
    cell.classList.toggle('doubt', doubtful(f));
    cell.classList.toggle('odd', odd(f));
    attr(cell, 'title', [f.full || f.name, where(f), doubtful(f) ? doubtText(f) : ''].filter(Boolean).join('\n'));
}

/** @param {import('./num.js').Count[]} v */
const ratio = (v) => (num(v[HITS]) ? num(v[C1]) / num(v[HITS]) : 0);
/** @param {import('./num.js').Count[]} v */
const each = (v) => (num(v[HITS]) ? shown(Math.round(ratio(v) * 10) / 10) : '');

/** A curve of the last seconds. @param {Fn} f @param {HTMLElement} cell @param {number} end where the ring begins */
function spark(f, cell, end) {
    let c = /** @type {HTMLCanvasElement|null} */ (cell.firstElementChild);
    if (!c) {
        c = /** @type {HTMLCanvasElement} */ (el('canvas', { width: '220', height: '40', 'aria-hidden': 'true' }));
        cell.append(c);
    }
    const stamp = `${f.id} ${end} ${document.documentElement.dataset.shade}`;
    if (c.dataset.stamp === stamp)
        return; // a second has not passed, and it is the same function still
    c.dataset.stamp = stamp;
    const g = c.getContext('2d');
    if (!g)
        return;
    g.clearRect(0, 0, 220, 40);
    if (!f.spark)
        return;
    const most = f.spark.reduce((a, b) => (b > a ? b : a), 0);
    const css = getComputedStyle(cell);
    g.fillStyle = css.getPropertyValue('--bar');
    const w = 220 / SPARKS;
    for (let s = 0; s < SPARKS; s++) {
        const y = f.spark[(end + s) % SPARKS];
        if (!(y >= 0))
            continue;
        const h = most > 0 ? Math.max(2, (y / most) * 38) : 2;
        g.fillRect(s * w, 40 - h, w - 0.6, h);
    }
}
