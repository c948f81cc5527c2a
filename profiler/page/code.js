// A function's source and instructions beside what was measured on each. What nobody measured there stays empty: nothing is spread over rows.
import { attr, el, onceAFrame, put } from './dom.js';
import { Grid, legend } from './grid.js';
import { get } from './control.js';
import { clock, count, exact, num, percent, plain, shown } from './num.js';
import { doubtText, doubtful, hex, odd } from './functions.js';
import { FLAG } from './model.js';

/** @typedef {import('./num.js').Count} Count */
/** @typedef {import('./model.js').Fn} Fn */
/** @typedef {'hits'|'count'|'taken'|'not_taken'} Figure */
/** @typedef {{key: string, kind: 'line'|'insn'|'head', where: string, text: string, to: string, address: Count|null, marks: string[], figures: Partial<Record<Figure, Count>>, under: string}} Row */
/** @typedef {'both'|'source'|'asm'} Way */

const EVERY = 1000, DEAR = 10; // ms between looks; a look that is dear comes less often
const FIGURES = /** @type {Figure[]} */ (['hits', 'count', 'taken', 'not_taken']);
const WAYS = /** @type {[Way, string, string][]} */ ([['both', 'Both', 'Source lines with their instructions below'], ['source', 'Source', 'Source lines alone'], ['asm', 'Instructions', 'Instructions alone, by address']]);
const HOT = 0.5, WARM = 0.1; // of the highest figure of a row

export class Code {
    /** @param {import('./app.js').App} app */
    constructor(app) {
        this.app = app;
        /** @type {Way} */
        this.way = 'both';
        /** @type {any} what the server told of the function */
        this.told = null;
        this.wanted = this.toldOf = ''; // function and epoch that are shown, that were told of
        this.asked = -1e9;
        this.cost = 0;
        this.loads = 0;
        this.of = -1; // the state that was shown when it was asked for
        /** @type {ReturnType<typeof setTimeout>|undefined} */
        this.later = undefined;
        this.when = el('span.soft');
        this.trouble = '';
        /** @type {Map<string, string>} address: why it is not traced */
        this.untraced = new Map();
        this.placesOf = ''; // epoch that they are of
        /** @type {Set<string>} lines whose instructions are folded away */
        this.folded = new Set();
        this.highest = 1;
        this.ways = el('span.choice', { role: 'radiogroup', 'aria-label': 'Source or instructions' }, ...WAYS.map(([id, text, title]) =>
            el('button', { role: 'radio', text, title: `${title} (key t: the next)`, 'data-way': id, 'aria-checked': String(id === this.way), onclick: () => this.turn(id) })));
        this.notes = el('div.soft.notes', { role: 'note', 'aria-label': 'About the source and the figures' });
        this.grid = new Grid({ label: 'Source and instructions', columns: this.columns(), key: (/** @type {Row} */ r) => r.key, fixed: true, level: (r) => (r.kind === 'insn' && this.way === 'both' ? 2 : 1),
            onOpen: (r) => this.follow(r), dress: (r, e) => this.dress(r, e), keys: (key, r) => this.fold(key, r) });
        this.help = el('details.legend', {}, el('summary', { text: 'What the rows mean' }), legend(this.columns(/** @type {any} */ ({ hits: true, count: true, taken: true, not_taken: true })), [
            ['An empty cell', 'Nothing was measured on that instruction. A trace of calls knows functions, not instructions; --sample and the trace of an S12Z know more.'],
            ['\u25C6 \u25C7', 'Hot: at least half, at least a tenth of the highest figure in a row here.'],
            ['\u25B6 \u25A0', 'Counting starts, stops when the program comes here.'],
            ['\u2298', 'A place that is not traced: what happens there is counted elsewhere. The cell says why.'],
            ['Line with instructions', 'Its samples are the sum of its instructions’ samples; its count is the highest of them. Instructions that the compiler moved stand below the line that they belong to.'],
            ['Keys', 'Enter follows a jump or a call, \u2190 and \u2192 fold a line and open it, t changes between source, instructions, and both.']]));
        this.box = el('section.code-part', { 'aria-label': 'Code' }, el('div.bar', {}, el('h2', { text: 'Source and instructions' }), this.ways, this.when), this.help, this.notes, this.grid.box);
        this.draw = onceAFrame(() => this.paint());
    }

    /** The mark since which callers and callees are wanted, or '': of all. */
    since() {
        const { mode, mark, model } = this.app.lens;
        return mode === 'mark' && mark && model.meta.hid ? mark.name : '';
    }

    /** @param {Fn|null} f the function that is looked at */
    show(f) {
        const epoch = String(this.app.store.model.hello?.epoch ?? ''), wanted = f ? `${epoch} ${f.id} ${this.since()}` : '';
        if (wanted !== this.wanted) {
            const other = this.told?.name !== f?.name;
            this.wanted = wanted;
            this.of = -1;
            if (other) {
                this.told = null;
                this.folded.clear();
                this.grid.box.scrollTop = 0;
            }
            this.asked = -1e9;
        }
        clearTimeout(this.later);
        const wait = Math.max(EVERY, this.cost * DEAR) - (performance.now() - this.asked), fresh = this.told && this.of === this.app.store.model.seq;
        if (f && !fresh && this.app.store.link.state === 'live') {
            if (wait <= 0)
                this.load(f);
            else // the last figures may come before a pause: they are asked for, too
                this.later = setTimeout(() => this.box.isConnected && this.show(this.app.chosen()), wait);
        }
        this.draw();
    }

    /** @param {Fn} f */
    async load(f) {
        const wanted = this.wanted, began = (this.asked = performance.now());
        this.of = this.app.store.model.seq;
        this.cost = EVERY; // until it is known
        const since = this.since(), a = await get(`api/1/function/${f.id}${since ? `?mark=${encodeURIComponent(since)}` : ''}`);
        this.cost = performance.now() - began;
        if (wanted !== this.wanted)
            return;
        this.trouble = a.ok ? '' : `${a.what}: ${a.hint}`;
        if (a.ok) {
            this.told = a.body;
            this.toldOf = wanted;
            put(this.when, Object.keys(this.measured()).length && this.app.store.model.st.run?.phase !== 'file' ? `figures of ${clock(Date.now())}` : '');
        }
        await this.places(f);
        if (wanted === this.wanted) {
            attr(this.box, 'data-loads', String(++this.loads));
            this.draw();
        }
    }

    /** Places that are not traced are known to the profile; they do not change within an epoch. @param {Fn} f */
    async places(f) {
        const m = this.app.store.model, epoch = String(m.hello?.epoch ?? '');
        if (this.placesOf === epoch || !num(count(m.st.run?.untraced_sites ?? 1)) || odd(f))
            return;
        this.placesOf = epoch;
        const a = await get('profile.json');
        this.untraced.clear();
        for (const u of (a.ok && a.body?.coverage?.untraced) || [])
            this.untraced.set(String(u.address), `not traced: ${[u.kind, u.cause, u.by].filter(Boolean).join(', ')}`);
    }

    /** @param {Way} way */
    turn(way) {
        this.way = way;
        for (const b of this.ways.children)
            attr(b, 'aria-checked', String(b.getAttribute('data-way') === way));
        this.draw();
    }

    next() {
        this.turn(WAYS[(WAYS.findIndex(([id]) => id === this.way) + 1) % WAYS.length][0]);
    }

    // ---- rows ----

    /** @param {Partial<Record<Figure, boolean>>} [there] @returns {import('./grid.js').Column<Row>[]} */
    columns(there = this.measured()) {
        const all = () => num(count(this.told?.hits ?? 0));
        const n = (/** @type {Figure} */ id, /** @type {string} */ title, /** @type {string} */ help) => ({ id, title, help, n: true, width: 96, cls: id === 'hits' || id === 'count' ? 'share' : undefined,
            text: (/** @type {Row} */ r) => say(r.figures[id]), value: (/** @type {Row} */ r) => (r.figures[id] === undefined ? '' : plain(/** @type {Count} */ (r.figures[id]))),
            paint: (/** @type {Row} */ r, /** @type {HTMLElement} */ cell) => {
                put(cell, say(r.figures[id]));
                cell.style.setProperty('--part', `${r.figures[id] === undefined || id === 'taken' || id === 'not_taken' ? 0 : (num(/** @type {Count} */ (r.figures[id])) / this.highest) * 100}%`);
            } });
        /** @type {import('./grid.js').Column<Row>[]} */
        const columns = [{ id: 'code', title: 'Code', help: 'Line and text of the source, or address and instruction. \u2192 is where a jump or a call leads; Enter goes there.', width: 230, most: 760, cls: 'code', text: (r) => r.text, value: (r) => r.text, paint: (r, cell) => this.text(r, cell) },
            { id: 'marks', title: 'Marks', help: 'What is to be known of the row: hot, a start or stop point, not traced.', width: 130, text: () => '', paint: (r, cell) => {
                put(cell, [this.hot(r), ...r.marks].filter(Boolean).join(' '));
                attr(cell, 'title', [HEAT[this.hot(r)] ?? '', ...r.marks].filter(Boolean).join('\n') || null);
            } }];
        if (there.hits)
            columns.push(n('hits', 'Samples', 'How often the program was found at this instruction.'), { id: 'share', title: 'Share', help: 'The samples’ part of all that were taken in this function.', n: true, width: 70, text: (r) => (r.figures.hits === undefined ? '' : percent(num(/** @type {Count} */ (r.figures.hits)) / all())) });
        if (there.count)
            columns.push(n('count', 'Executed', 'How often it was executed: counted, not estimated. 0: it never was.'));
        if (there.taken)
            columns.push(n('taken', 'Taken', 'How often the branch jumped.'), n('not_taken', 'Not taken', 'How often it did not.'));
        return columns;
    }

    /** Which figures there are at all. @returns {Partial<Record<Figure, boolean>>} */
    measured() {
        /** @type {Partial<Record<Figure, boolean>>} */
        const there = {};
        for (const i of this.told?.instructions ?? [])
            for (const k of FIGURES)
                if (i[k] !== undefined)
                    there[k] = true;
        return there;
    }

    /** @param {Row} r */
    hot(r) {
        const v = r.figures.hits ?? r.figures.count;
        if (v === undefined || num(v) === 0)
            return '';
        const part = num(v) / this.highest;
        return part >= HOT ? '\u25C6' : part >= WARM ? '\u25C7' : '';
    }

    /** @returns {Row[]} */
    rows() {
        const t = this.told;
        if (!t)
            return [];
        const points = this.points();
        const insns = /** @type {any[]} */ (t.instructions ?? []).map((i) => this.insn(i, points));
        if (this.way === 'asm')
            return insns;
        /** @type {Map<string, Row[]>} */
        const below = new Map();
        for (const r of insns)
            below.set(r.under, [...(below.get(r.under) ?? []), r]);
        /** @type {Row[]} */
        const rows = [];
        const group = (/** @type {Row} */ head) => {
            rows.push(head);
            const mine = below.get(head.key) ?? [];
            below.delete(head.key);
            head.marks = [...new Set(mine.flatMap((r) => r.marks))];
            if (this.way === 'both' && !this.folded.has(head.key))
                rows.push(...mine);
        };
        for (const l of t.source?.lines ?? [])
            group({ key: `:${l.line}`, kind: 'line', where: String(l.line), text: String(l.text ?? (l.code ? '(no text)' : '')), to: '', address: null, marks: [], figures: figuresOf(l), under: l.code ? 'code' : '' });
        for (const [key, mine] of [...below]) // of other files, or of no line that is known
            group({ key, kind: 'head', where: '', text: key.startsWith(':') ? `line ${key.slice(1)}` : key ? `from ${key}` : 'no line is known for these', to: '', address: null, marks: [], figures: sum(mine), under: '' });
        return rows;
    }

    /** @param {any} i @param {Map<string, string>} points @returns {Row} */
    insn(i, points) {
        const a = count(i.address), why = this.untraced.get(plain(a)), point = points.get(plain(a));
        return { key: plain(a), kind: 'insn', where: hex(a), text: String(i.text ?? ''), to: String(i.to ?? ''), address: a, figures: figuresOf(i),
            marks: [point ?? '', why ? `\u2298 ${why}` : ''].filter(Boolean), under: i.line === undefined ? '' : `${i.file ?? ''}:${i.line}` };
    }

    /** Start and stop points of the run, by address. @returns {Map<string, string>} */
    points() {
        const { start, stop } = this.app.points();
        /** @type {Map<string, string>} */
        const out = new Map();
        for (const [text, sign] of [...stop.map((x) => [x, '\u25A0 stop']), [start, '\u25B6 start']]) {
            const at = text ? this.place(text) : null;
            if (at !== null)
                out.set(plain(at), [sign, out.get(plain(at))].filter(Boolean).join(' '));
        }
        return out;
    }

    /** An address, or a function and what is added. @param {string} text @returns {Count|null} */
    place(text) {
        if (/^0x[0-9a-f]+$/i.test(text))
            return Number(text);
        const m = /^(.*?)(?:\+(0x[0-9a-f]+|\d+))?$/i.exec(text.replace(/[<>]/g, ''));
        const f = m && m[1] ? [...this.app.store.model.fns.values()].find((x) => x.name === m[1] || x.full === m[1]) : undefined;
        return f && m ? Number(f.low) + Number(m[2] ?? 0) : null;
    }

    // ---- what a person does ----

    /** @param {Row} r a jump is followed, within the function or to another */
    follow(r) {
        const at = r.to ? this.place(r.to) : null;
        if (at === null)
            return;
        const here = this.grid.rows.findIndex((x) => x.address !== null && num(x.address) === num(at));
        const f = [...this.app.store.model.fns.values()].find((x) => num(at) >= num(x.low) && num(at) < num(x.high));
        if (here >= 0)
            this.grid.go(here);
        else if (f)
            this.app.openFunction(f);
    }

    /** @param {string} key @param {Row} r */
    fold(key, r) {
        const line = r.kind === 'insn' ? r.under : r.key, has = this.way === 'both' && this.grid.rows.some((x) => x.key === line);
        if (!has || (key !== 'ArrowLeft' && key !== 'ArrowRight'))
            return false;
        if (key === 'ArrowRight')
            this.folded.delete(line);
        else if (r.kind === 'insn')
            this.grid.go(this.grid.rows.findIndex((x) => x.key === line));
        else
            this.folded.add(line);
        this.paint();
        return true;
    }

    // ---- drawing ----

    /** @param {Row} r @param {HTMLElement} cell */
    text(r, cell) {
        while (cell.childElementCount < 3)
            cell.append(el('span'));
        const [where, text, to] = cell.children;
        where.className = 'where';
        to.className = 'soft';
        put(where, r.where);
        put(text, flat(r.text));
        put(to, r.to ? ` \u2192 ${r.to}` : '');
        attr(cell, 'title', r.to ? `${r.text} \u2192 ${r.to}` : r.text || null);
    }

    /** @param {Row} r @param {HTMLElement} e */
    dress(r, e) {
        e.classList.toggle('insn', r.kind === 'insn');
        e.classList.toggle('quiet', r.kind === 'line' && !r.under);
        e.classList.toggle('hot', this.hot(r) === '\u25C6');
        const folds = this.way === 'both' && r.kind !== 'insn' && (r.kind === 'head' || r.under);
        attr(e, 'aria-expanded', folds ? String(!this.folded.has(r.key)) : null);
    }

    paint() {
        const f = this.app.chosen();
        const insns = /** @type {any[]} */ (this.told?.instructions ?? []);
        const of = insns.some((i) => i.hits !== undefined) ? 'hits' : 'count';
        this.highest = Math.max(1, ...insns.map((i) => num(count(i[of] ?? 0))));
        this.grid.setColumns(this.columns());
        const rows = this.rows();
        this.grid.set(rows);
        this.grid.box.hidden = !rows.length;
        const words = f ? this.words(f, insns) : [];
        while (this.notes.childElementCount > words.length)
            this.notes.lastElementChild?.remove();
        while (this.notes.childElementCount < words.length)
            this.notes.append(el('p'));
        words.forEach((w, i) => put(this.notes.children[i], w));
    }

    /** What is to be said of all of it, once. @param {Fn} f @param {any[]} insns */
    words(f, insns) {
        const t = this.told, c = this.app.store.model.st.coverage ?? {}, lost = num(count(c.lost)), gaps = num(count(c.gaps ?? 0));
        if (!t)
            return [this.trouble || 'Asking \u2026'];
        if (f.flags & FLAG.group)
            return ['This row is a group of functions, by probeprof.marks: it has no code of its own. Start with --marks off to see each of them.'];
        if (odd(f) || !insns.length)
            return [odd(f) ? 'This row is no function of the program: it has no code.' : 'The program’s file has no code at this address, or it is not known here.'];
        return [
            this.trouble,
            !t.source ? 'No source line is known for this function: the program’s file has no line numbers of it.' : t.source.note ? `${t.source.file}: ${t.source.note}.` : '',
            t.cut ? 'The function is longer: only its first 16,384 instructions are shown.' : '', t.source?.cut ? 'Only the first 8,192 of its lines are shown.' : '',
            Object.keys(this.measured()).length ? '' : t.type === 'trace' ? 'Nothing was measured on single instructions: a trace of an SH-4 counts calls, the counts of an S12Z come with the end of a pass, --sample looks at instructions. What was counted for the function as a whole stands above.' : 'No sample was taken in this function.',
            doubtful(f) ? `${doubtText(f)}.` : '',
            c.lost === undefined ? 'Whether events were lost is not known: the file does not say.' : lost || gaps ? `${exact(count(c.lost ?? 0))} events were lost in ${exact(gaps)} gap${gaps === 1 ? '' : 's'}: what ran then is in no row.` : '',
        ].filter(Boolean);
    }
}

const HEAT = /** @type {Record<string, string>} */ ({ '\u25C6': 'hot: at least half of the highest figure here', '\u25C7': 'warm: at least a tenth of the highest figure here' });

/** Tabs as blanks: of a source line each eighth column, of an instruction the operands' place. @param {string} text */
function flat(text) {
    let out = '';
    for (const c of text)
        out += c === '\t' ? ' '.repeat(8 - (out.length % 8)) : c;
    return out;
}

/** @param {Count|undefined} v */
const say = (v) => (v === undefined ? '' : shown(v));

/** @param {any} o @returns {Row['figures']} */
function figuresOf(o) {
    /** @type {Row['figures']} */
    const v = {};
    for (const k of FIGURES)
        if (o[k] !== undefined)
            v[k] = count(o[k]);
    return v;
}

/** As the server sums lines: samples and directions add up, of counts the highest. @param {Row[]} rows @returns {Row['figures']} */
function sum(rows) {
    /** @type {Row['figures']} */
    const v = {};
    for (const k of FIGURES) {
        const all = rows.map((r) => r.figures[k]).filter((x) => x !== undefined).map((x) => num(/** @type {Count} */ (x)));
        if (all.length)
            v[k] = k === 'count' ? Math.max(...all) : all.reduce((a, b) => a + b, 0);
    }
    return v;
}
