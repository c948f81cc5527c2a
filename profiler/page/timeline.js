// Who ran when: calls by depth over time, handlers on a track of their own, gaps as hatched boxes; of the last 64 K events. It follows once a second, and stands still while it is looked at.
import { attr, el, harmless, onceAFrame, put } from './dom.js';
import { colours, fit } from './boxes.js';
import { Grid, legend } from './grid.js';
import { get } from './control.js';
import { add, count, exact, num, plain, shown, sub } from './num.js';

/** @typedef {import('./num.js').Count} Count */
/** @typedef {{key: string, what: 'call'|'handler'|'gap'|'point', name: string, fn: number|null, from: Count, to: Count, busy: Count, times: number, level: number, flags: number, more: string}} Span */
/** @typedef {{span: Span, x: number, w: number, y: number, h: number}} Drawn */
/** @typedef {{from: Count, to: Count}} Range */

const EVERY = 1000; // ms
const PX = 4096, LEVELS = 64; // asked for
const DOUBTFUL = 1, BEFORE = 2, OPEN = 4, HANDLER = 8, EXCEPTION = 16;
const LEAST = 8; // units of time that fill the width at most
const WHAT = { call: 'call', handler: 'handler', gap: 'not seen', point: 'point' };

export class Timeline {
    /** @param {import('./app.js').App} app */
    constructor(app) {
        this.app = app;
        /** @type {Span[]} calls by level, then time */
        this.calls = [];
        /** @type {Span[]} */
        this.handlers = [];
        /** @type {Span[]} */
        this.gaps = [];
        /** @type {Span[]} */
        this.points = [];
        /** @type {Range|null} what the server has told of */
        this.told = null;
        /** @type {Range|null} zoomed; null: all */
        this.zoomed = null;
        /** @type {(Range|null)[]} zooms before */
        this.back = [];
        this.levels = 0;
        this.clock = this.unit = ''; // what times are
        this.picked = '';
        /** @type {Span|null} */
        this.pointed = null;
        this.inside = false; // the pointer is on it
        this.asked = 0;
        this.loading = false;
        this.top = 0;
        this.trouble = '';
        /** @type {Range|null} what there was when it was zoomed */
        this.all = null;
        /** @type {ReturnType<typeof setTimeout>|undefined} */
        this.later = undefined;
        /** @type {CanvasRenderingContext2D|null} */
        this.g = null;
        this.wide = this.perUnit = 1;
        /** @type {ReturnType<typeof colours>|null} */
        this.colour = null;
        /** @type {Drawn[]} */
        this.drawn = [];
        /** @type {{x: number, range: Range, moved: boolean}|null} */
        this.drag = null;
        this.canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { tabindex: '0', role: 'img', 'aria-label': 'Calls over time; the table shows the same' }));
        this.picture = el('div.canvas', {}, this.canvas);
        this.fresh = el('button', { text: 'Refresh', title: 'The newest events (key r)', onclick: () => this.refresh() });
        this.table = el('button', { 'aria-pressed': 'false', text: 'As a table', onclick: () => this.swap() });
        const zoom = (/** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ onclick) => el('button', { text, title, 'aria-label': title, onclick });
        this.zooms = el('span.choice', { role: 'group', 'aria-label': 'Zoom' }, zoom('\u2212', 'Zoom out (key \u2212)', () => this.zoom(2)), zoom('+', 'Zoom in (key +)', () => this.zoom(0.5)), zoom('All', 'All of it (key 0)', () => this.whole()));
        this.note = el('span.soft');
        this.line = el('div.facts');
        this.grid = new Grid({ label: 'Timeline', columns: this.columns(), key: (/** @type {Span} */ s) => s.key, fixed: true, onOpen: (s) => this.enter(s), onSelect: (s) => this.pick(s) });
        this.grid.box.hidden = true;
        this.help = el('details.legend', {}, el('summary', { text: 'What the boxes mean' }), legend([], [
            ['Across', 'Time, by the clock that is named above the picture. Only the last 65,536 events are kept.'],
            ['Rows', 'Calls: what stands under a box was called by it. Of many short calls a pixel shows the function that took most of it.'],
            ['Handlers', 'Each interrupt and exception, also the shortest; they stand among the calls, too, under what they interrupted.'],
            ['Crossed', 'Events were lost, or nobody followed: what ran then is not known.'],
            ['? and hatching', 'An event of it is doubtful, or it was found running without one.'],
            ['\u25B6 \u25A0', 'Counting started, stopped.'],
            ['Standing still', 'It follows once a second, but not while the pointer is on it, it has a box chosen, or it is zoomed. Refresh shows the newest.'],
            ['Keys', 'Arrows choose, Enter zooms to a box, + and \u2212 zoom, a and d move, 0 shows all, Backspace goes back, r is Refresh, t the table. Wheel zooms, dragging moves.']]));
        this.box = el('section.view', { 'aria-label': 'Timeline' }, el('div.bar', {}, this.fresh, this.zooms, this.table, this.note), this.help, this.picture, this.grid.box, this.line);
        this.draw = onceAFrame(() => this.paint());
        this.update = () => this.follow();
        app.store.on('fresh', (other) => other && this.forget());
        this.listen();
    }

    listen() {
        const c = this.canvas;
        new ResizeObserver(() => this.draw()).observe(this.picture);
        c.addEventListener('pointerdown', (e) => this.grab(e));
        c.addEventListener('pointermove', (e) => this.move(e));
        c.addEventListener('pointerup', (e) => this.drop(e));
        for (const box of [c, this.grid.box]) {
            box.addEventListener('pointermove', () => (this.inside = true));
            box.addEventListener('pointerleave', () => {
                this.inside = false;
                this.drag = null;
                this.point(null);
            });
        }
        c.addEventListener('dblclick', (e) => this.enter(this.at(e)));
        c.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
        c.addEventListener('keydown', (e) => this.keyed(e));
    }

    // ---- what is known ----

    /** Not while somebody looks at something of it. */
    stands() {
        return this.inside || this.zoomed !== null || this.picked !== '';
    }

    /** Another epoch, or another recording: times and ids of before mean nothing. */
    forget() {
        this.told = this.all = null;
        this.calls = this.handlers = this.gaps = this.points = [];
        if (this.box.isConnected)
            this.refresh();
    }

    follow() {
        const over = this.told && this.app.store.model.st.run?.phase === 'file'; // a recording has all its events
        if (!over && !this.stands() && performance.now() - this.asked >= EVERY)
            this.load();
        else
            this.say();
    }

    refresh() {
        this.zoomed = null;
        this.back = [];
        this.picked = '';
        this.load();
    }

    /** @param {boolean} now */
    show(now) {
        if (now && !this.told)
            this.load();
        this.grid.setColumns(this.columns());
        this.draw();
    }

    /** What the picture shows, in more detail if it is zoomed. */
    async load() {
        if (this.loading)
            return;
        this.loading = true;
        this.asked = performance.now();
        const z = this.zoomed, epoch = this.app.store.model.hello?.epoch, range = z ? `&from=${plain(z.from)}&to=${plain(z.to)}` : '';
        const a = await get(`api/1/timeline?px=${PX}&levels=${LEVELS}${range}`);
        this.loading = false;
        if (this.app.store.model.hello?.epoch !== epoch) {
            this.load(); // it is of what there was before
            return;
        }
        if (a.ok)
            this.take(a.body);
        this.trouble = a.ok ? '' : z ? 'these events are not kept any more: no more detail than was there' : `${a.what}: ${a.hint}`;
        attr(this.box, 'data-loads', String(Number(this.box.getAttribute('data-loads') ?? 0) + 1));
        this.rows();
        this.draw();
        if (this.zoomed !== z)
            this.load();
    }

    /** @param {any} t */
    take(t) {
        const name = (/** @type {any} */ f) => (typeof f === 'number' ? (this.app.store.model.fns.get(f)?.name ?? `#${f}`) : String(f));
        const span = (/** @type {Span['what']} */ what, /** @type {any} */ from, /** @type {any} */ to, /** @type {any} */ f, /** @type {Partial<Span>} */ o) =>
            /** @type {Span} */ ({ key: `${what}/${o.level ?? 0}/${from}/${f}`, what, from: count(from), to: count(to), name: name(f), fn: typeof f === 'number' ? f : null, busy: sub(count(to), count(from)), times: 1, level: 0, flags: 0, more: '', ...o });
        this.told = { from: count(t.from), to: count(t.to) };
        this.levels = Number(t.levels);
        const c1 = this.app.lens.counterName(0);
        this.unit = t.clock === 'c1' ? c1.unit || c1.name : t.clock;
        this.clock = t.clock === 'c1' ? `${this.unit} of ${c1.name}` : t.clock === 'cycles' ? 'target cycles' : 'events';
        this.calls = t.calls.map((/** @type {any[]} */ c) => span('call', c[1], c[2], c[5], { level: c[0], busy: count(c[3]), times: c[4], flags: c[6] }));
        this.handlers = t.handlers.map((/** @type {any[]} */ h) => span('handler', h[0], h[1], h[4], { busy: count(h[2]), times: h[3], level: h[6], flags: h[7], more: `${h[7] & EXCEPTION ? 'exception' : 'interrupt'} 0x${Number(h[5]).toString(16)}` }));
        this.gaps = t.gaps.map((/** @type {any[]} */ g) => span('gap', g[0], g[1], '(not seen)', { times: g[2], more: `${g[3]}, ${g[5] ? '\u2264' : ''}${exact(count(g[4]))} events` }));
        this.points = t.points.map((/** @type {any[]} */ p) => span('point', p[0], p[0], p[3] ? `${p[2]}: ${p[3]}` : p[2], { times: p[1] }));
        attr(this.box, 'data-position', `${plain(this.told.from)}-${plain(this.told.to)}`);
    }

    rows() {
        if (!this.grid.box.hidden)
            this.grid.set([...this.points, ...this.gaps, ...this.handlers, ...this.calls]);
    }

    /** @returns {import('./grid.js').Column<Span>[]} */
    columns() {
        const n = (/** @type {string} */ id, /** @type {string} */ title, /** @type {string} */ help, /** @type {(s: Span) => Count} */ of) => ({ id, title, help, n: true, width: 120, text: (/** @type {Span} */ s) => exact(of(s)), value: (/** @type {Span} */ s) => plain(of(s)) });
        return [{ id: 'name', title: 'What', help: 'The function, the gap’s cause, the point.', width: 150, cls: 'code', text: (s) => label(s) },
            { id: 'what', title: 'Kind', help: 'call, handler, not seen, or point.', width: 90, text: (s) => WHAT[s.what] }, n('level', 'Level', '0 is the outermost function that was seen.', (s) => s.level),
            n('from', 'From', 'When it began.', (s) => s.from), n('to', 'To', 'When it ended.', (s) => s.to), n('busy', 'Took', 'It and what it called, without the pauses between its calls.', (s) => s.busy), n('times', 'Times', 'So many calls that are too short to be told apart.', (s) => s.times)];
    }

    swap() {
        this.grid.box.hidden = !this.grid.box.hidden;
        this.picture.hidden = !this.grid.box.hidden;
        attr(this.table, 'aria-pressed', String(this.picture.hidden));
        this.rows();
        this.draw();
    }

    // ---- where it looks ----

    /** @returns {Range} */
    range() {
        return this.zoomed ?? this.told ?? { from: 0, to: 1 };
    }

    /** @param {Range|null} r @param {boolean} [step] one that Backspace undoes */
    look(r, step = false) {
        if (step && this.back.push(this.zoomed) > 50)
            this.back.shift();
        this.zoomed = r;
        this.draw();
        clearTimeout(this.later);
        this.later = setTimeout(() => this.load(), 120);
    }

    whole() {
        this.look(null, true);
    }

    /** @param {number} factor @param {number} [at] 0 to 1: what stays where it is */
    zoom(factor, at = 0.5) {
        const r = this.range(), all = num(sub(r.to, r.from)), span = Math.max(Math.round(all * factor), LEAST);
        const from = add(r.from, Math.round((all - span) * at));
        this.keep({ from, to: add(from, span) }, factor < 1);
    }

    /** @param {number} part of the width */
    pan(part) {
        const r = this.range(), by = Math.round(num(sub(r.to, r.from)) * part);
        this.keep({ from: add(r.from, by), to: add(r.to, by) }, false);
    }

    /** Within what there is. @param {Range} r @param {boolean} step */
    keep(r, step) {
        this.all = this.zoomed ? this.all : this.told;
        const most = this.all ?? r, span = num(sub(r.to, r.from));
        if (span >= num(sub(most.to, most.from))) {
            this.look(null, step);
            return;
        }
        const from = num(sub(r.from, most.from)) < 0 ? most.from : num(sub(r.to, most.to)) > 0 ? sub(most.to, span) : r.from;
        this.look({ from, to: add(from, span) }, step);
    }

    /** @param {Span|null} s fills the width */
    enter(s) {
        if (!s)
            return;
        this.pick(s);
        if (num(s.busy) > 0)
            this.keep({ from: s.from, to: add(s.from, Math.max(num(sub(s.to, s.from)), LEAST)) }, true);
    }

    // ---- the picture ----

    rowHeight() {
        return innerWidth >= 2400 ? 26 : 20;
    }

    paint() {
        this.say();
        const c = this.canvas, w = this.picture.clientWidth, h = this.picture.clientHeight, scale = devicePixelRatio || 1;
        if (!this.told || w === 0 || h === 0)
            return;
        if (c.width !== Math.round(w * scale) || c.height !== Math.round(h * scale)) {
            c.width = Math.round(w * scale);
            c.height = Math.round(h * scale);
        }
        const g = /** @type {CanvasRenderingContext2D} */ (c.getContext('2d')), row = this.rowHeight(), r = this.range();
        this.g = g;
        this.wide = w;
        this.perUnit = w / Math.max(num(sub(r.to, r.from)), 1);
        this.colour = colours(this.picture);
        this.drawn = [];
        g.setTransform(scale, 0, 0, scale, 0, 0);
        g.clearRect(0, 0, w, h);
        g.font = `${row >= 26 ? 14 : 12}px ${this.colour.font}`;
        g.textBaseline = 'middle';
        const calls = row + 8, rows = Math.max(1, Math.floor((h - calls) / row));
        this.top = Math.max(0, Math.min(this.top, Math.min(this.levels, LEVELS) - rows));
        for (const s of this.calls)
            if (s.level >= this.top)
                this.put(s, calls + (s.level - this.top) * row, row - 1);
        g.fillStyle = this.colour.bar;
        g.fillRect(0, row + 3, w, 1);
        for (const s of this.handlers)
            this.put(s, 1, row - 1);
        for (const s of this.gaps)
            this.put(s, 0, h);
        for (const s of this.points)
            this.upright(s, h);
        if (!this.handlers.length) {
            g.fillStyle = this.colour.soft;
            g.fillText('Handlers: none', 6, row / 2 + 1);
        }
    }

    /** @param {Count} at */
    x(at) {
        return num(sub(at, this.range().from)) * this.perUnit;
    }

    /** @param {Span} s @param {number} y @param {number} h */
    put(s, y, h) {
        const g = /** @type {CanvasRenderingContext2D} */ (this.g), look = /** @type {ReturnType<typeof colours>} */ (this.colour), wide = this.wide;
        const from = this.x(s.from), to = this.x(s.to), always = s.what !== 'call';
        if (to < 0 || from > wide || (!always && to <= from))
            return;
        const x = Math.max(from, 0), w = Math.max(Math.min(to, wide) - x, always ? 2 : 0);
        this.drawn.push({ span: s, x, w, y, h });
        g.fillStyle = s.what === 'gap' ? look.paper : look.fill({ key: '', name: s.name, value: 0, doubtful: false, kind: s.what === 'handler' || s.flags & HANDLER ? 'handler' : 'fn', kids: () => [], ref: null });
        g.fillRect(x, y, w > 3 ? w - 1 : w, h);
        if (w > 3 && (s.what === 'gap' || s.flags & DOUBTFUL))
            this.hatch(x, y, w - 1, h, s.what === 'gap');
        if (s.key === this.picked || s === this.pointed) {
            const line = s.key === this.picked ? 3 : 1;
            g.strokeStyle = s.key === this.picked ? look.accent : look.ink;
            g.lineWidth = line;
            g.strokeRect(x + line / 2, y + line / 2, Math.max(w - line, 1), h - line);
        }
        const text = w > 26 && s.what !== 'gap' ? fit(g, harmless(label(s)), w - 8) : '';
        if (!text)
            return;
        if (s.flags & DOUBTFUL)
            g.fillRect(x + 2, y + 2, g.measureText(text).width + 4, h - 4); // letters do not stand on lines
        g.fillStyle = look.ink;
        g.fillText(text, x + 4, y + h / 2 + 0.5);
    }

    /** @param {number} x @param {number} y @param {number} w @param {number} h @param {boolean} crossed */
    hatch(x, y, w, h, crossed) {
        const g = /** @type {CanvasRenderingContext2D} */ (this.g), step = crossed ? 8 : 9;
        g.save();
        g.beginPath();
        g.rect(x, y, w, h);
        g.clip();
        g.strokeStyle = /** @type {ReturnType<typeof colours>} */ (this.colour).hatch;
        g.lineWidth = 1;
        g.beginPath();
        for (let i = -h; i < w; i += step) {
            g.moveTo(x + i, y + h);
            g.lineTo(x + i + h, y);
            if (crossed) {
                g.moveTo(x + i, y);
                g.lineTo(x + i + h, y + h);
            }
        }
        g.stroke();
        g.restore();
    }

    /** @param {Span} s @param {number} h */
    upright(s, h) {
        const g = /** @type {CanvasRenderingContext2D} */ (this.g), look = /** @type {ReturnType<typeof colours>} */ (this.colour), x = this.x(s.from);
        if (x < -1 || x > this.wide + 1) // one at the edge may be beyond it by rounding
            return;
        const at = Math.min(Math.max(x, 1), this.wide - 2), sign = s.name === 'start' ? '\u25B6' : s.name === 'stop' ? '\u25A0' : '\u2691';
        this.drawn.push({ span: s, x: at - 4, w: 9, y: 0, h });
        g.fillStyle = s.name === 'start' ? look.good : look.warn;
        g.fillRect(at, 0, 1, h);
        g.fillText(sign, Math.min(at + 2, this.wide - 14), h - 9);
    }

    say() {
        if (!this.told) {
            put(this.note, this.trouble || 'waiting for events');
            return;
        }
        const r = this.range(), kept = this.trouble ? ` \u00B7 ${this.trouble}` : '';
        const why = this.zoomed ? ', zoomed: stands still' : this.picked ? ', a box is chosen: stands still' : this.inside ? ', stands still' : '';
        put(this.note, `${shown(r.from)} to ${shown(r.to)} ${this.clock} (${shown(sub(r.to, r.from))})${this.levels > LEVELS ? `, ${LEVELS} of ${this.levels} levels` : ''}${why}${kept}`);
        attr(this.box, 'data-stands', String(this.stands()));
        const s = this.pointed ?? this.chosen()?.span ?? null;
        put(this.line, s ? this.words(s) : 'Point at a box, or choose one with the arrow keys.');
    }

    /** @param {Span} s */
    words(s) {
        const when = s.what === 'point' ? `at ${exact(s.from)}` : `${exact(s.from)} to ${exact(s.to)}`;
        const parts = [label(s), s.what === 'gap' ? '' : s.more, when, s.what === 'point' ? '' : `${exact(s.busy)} ${this.unit}`, s.times > 1 ? `${exact(s.times)} times` : '', s.what === 'call' ? `level ${s.level}` : '',
            s.flags & DOUBTFUL ? 'doubtful' : '', s.flags & BEFORE ? 'had begun before it was seen' : '', s.flags & OPEN ? 'goes on' : ''];
        return parts.filter(Boolean).join(' \u00B7 ');
    }

    // ---- hands ----

    /** @param {MouseEvent} e @returns {Span|null} */
    at(e) {
        for (let i = this.drawn.length - 1; i >= 0; i--) {
            const d = this.drawn[i];
            if (e.offsetX >= d.x && e.offsetX < d.x + Math.max(d.w, 1) && e.offsetY >= d.y && e.offsetY < d.y + d.h)
                return d.span;
        }
        return null;
    }

    /** @param {Span|null} s */
    point(s) {
        if (s !== this.pointed)
            this.draw();
        this.pointed = s;
    }

    /** @param {Span|null} s */
    pick(s) {
        this.picked = s?.key ?? '';
        attr(this.canvas, 'aria-label', s ? `Calls over time: ${harmless(this.words(s))}` : 'Calls over time; the table shows the same');
        this.draw();
    }

    /** @param {PointerEvent} e */
    grab(e) {
        this.drag = { x: e.offsetX, range: this.range(), moved: false };
    }

    /** @param {PointerEvent} e */
    move(e) {
        const d = this.drag;
        if (d && e.buttons === 1 && (d.moved || Math.abs(e.offsetX - d.x) > 4) && this.zoomed) {
            d.moved = true;
            const by = Math.round((d.x - e.offsetX) / this.perUnit);
            this.keep({ from: add(d.range.from, by), to: add(d.range.to, by) }, false);
            return;
        }
        this.point(this.at(e));
    }

    /** @param {PointerEvent} e */
    drop(e) {
        if (this.drag && !this.drag.moved)
            this.pick(this.at(e));
        this.drag = null;
    }

    /** @param {WheelEvent} e */
    wheel(e) {
        if (e.ctrlKey || !this.told)
            return;
        e.preventDefault();
        if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
            this.pan(Math.sign(e.deltaX || e.deltaY) * 0.1);
        else
            this.zoom(e.deltaY < 0 ? 0.8 : 1.25, e.offsetX / Math.max(this.picture.clientWidth, 1));
    }

    chosen() {
        return this.drawn.find((d) => d.span.key === this.picked) ?? null;
    }

    /** The box beside the chosen one. @param {string} key @returns {Span|null} */
    beside(key) {
        const now = this.chosen();
        if (!now)
            return this.drawn.find((d) => d.span.what === 'call')?.span ?? this.drawn[0]?.span ?? null;
        const along = key === 'ArrowLeft' || key === 'ArrowRight', middle = now.x + now.w / 2;
        if (along) {
            const row = this.drawn.filter((d) => d.span.what === now.span.what && d.span.level === now.span.level).sort((a, b) => a.x - b.x);
            return row[row.indexOf(now) + (key === 'ArrowLeft' ? -1 : 1)]?.span ?? null;
        }
        const down = key === 'ArrowDown', y = (/** @type {Drawn} */ d) => (d.h > this.rowHeight() ? -1 : d.y);
        const far = (/** @type {Drawn} */ d) => Math.max(d.x - middle, middle - d.x - d.w, 0);
        return this.drawn.filter((d) => (down ? y(d) > y(now) : y(d) < y(now))).sort((a, b) => (down ? y(a) - y(b) : y(b) - y(a)) || far(a) - far(b))[0]?.span ?? null;
    }

    /** @param {KeyboardEvent} e */
    keyed(e) {
        if (e.ctrlKey || e.altKey || e.metaKey)
            return;
        if (e.key.startsWith('Arrow')) {
            const to = this.beside(e.key), row = this.rowHeight(), rows = Math.max(1, Math.floor((this.picture.clientHeight - row - 8) / row));
            if (to?.what === 'call')
                this.top = to.level < this.top ? to.level : Math.max(this.top, to.level - rows + 1);
            else if (e.key === 'ArrowDown')
                this.top++;
            if (to)
                this.pick(to);
        } else if (!this.key(e)) {
            return;
        }
        e.preventDefault();
        e.stopPropagation();
    }

    /** @param {KeyboardEvent} e */
    key(e) {
        const act = /** @type {Record<string, () => void>} */ ({
            '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), w: () => this.zoom(0.5), '-': () => this.zoom(2), s: () => this.zoom(2), a: () => this.pan(-0.25), d: () => this.pan(0.25), '0': () => this.whole(),
            r: () => this.refresh(), t: () => this.swap(), Escape: () => this.pick(null) })[e.key];
        if (e.key === 'Backspace' && this.back.length) {
            this.look(this.back.pop() ?? null);
            return true;
        }
        if (e.key === 'Enter' && e.target === this.canvas) {
            this.enter(this.chosen()?.span ?? null);
            return true;
        }
        act?.();
        return act !== undefined;
    }
}

/** @param {Span} s */
function label(s) {
    return (s.flags & DOUBTFUL ? '?' : '') + (s.what === 'gap' ? `${s.name} ${s.more}` : s.name);
}
