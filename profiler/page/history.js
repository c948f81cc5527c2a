// Curves over time, from the server's series: also of the time before this page was opened. Unseen time is a hatched band, marks are lines.
import uPlot from './vendor/uPlot.esm.js';
import { attr, el, onceAFrame, put } from './dom.js';
import { colours } from './boxes.js';
import { Grid, legend } from './grid.js';
import { brief, clock, exact, num, percent } from './num.js';
import { points } from './series.js';

/** @typedef {import('./series.js').Point} Point */
/** @typedef {{id: string, title: string, help: string, of: ((p: Point) => number|null)[], names: string[], share?: boolean}} Curve */

const SPANS = /** @type {[string, number][]} */ ([['1 min', 60], ['10 min', 600], ['1 h', 3600], ['24 h', 86400]]);

export class History {
    /** @param {import('./app.js').App} app */
    constructor(app) {
        this.app = app;
        this.span = 600;
        /** @type {Map<string, {u: any, box: HTMLElement, stamp: string}>} */
        this.charts = new Map();
        this.plots = el('div.charts');
        this.spans = el('span.choice', { role: 'radiogroup', 'aria-label': 'Time shown' }, ...SPANS.map(([text, s]) => el('button', { role: 'radio', text, 'aria-checked': String(s === this.span), 'data-span': s, onclick: () => this.setSpan(s) })));
        this.swap = el('button', { 'aria-pressed': 'false', text: 'As a table', onclick: () => this.turn() });
        this.note = el('span.soft');
        /** @type {import('./compare.js').Range|null} wall ms */
        this.range = null;
        const time = (/** @type {string} */ label) => /** @type {HTMLInputElement} */ (el('input', { type: 'time', step: '1', 'aria-label': label, onchange: () => this.typed() }));
        this.from = time('A part of the time, from');
        this.to = time('A part of the time, to');
        this.compare = /** @type {HTMLButtonElement} */ (el('button', { text: 'Compare with all', title: 'What each function did in that part of the time, beside all of it', disabled: true, onclick: () => this.range && this.app.compareRange(this.range) }));
        this.part = el('span.part', { role: 'group', 'aria-label': 'A part of the time' }, el('label', {}, 'From', this.from), el('label', {}, 'to', this.to), this.compare);
        this.grid = new Grid({ label: 'History', columns: this.columns(), key: (/** @type {Point} */ p) => p.w, fixed: true });
        this.grid.box.hidden = true;
        this.help = el('details.legend', {}, el('summary', { text: 'What the curves mean' }), legend([], [...curves(app.lens).map((c) => /** @type {[string, string]} */ ([c.title, c.help])),
            ['Hatched', 'Nobody saw that time: events were lost, or the board was away.'], ['Upright line', 'A mark.'], ['A part of the time', 'Drag over a curve, or set From and to: Compare shows what each function did then, beside all of the profile.']]));
        this.box = el('section.view', { 'aria-label': 'History' }, el('div.bar', {}, this.spans, this.swap, this.part, this.note), this.help, this.plots, this.grid.box);
        this.update = onceAFrame(() => this.show());
        this.drawn = 0;
        this.dragging = false; // new points would end it
        this.plots.addEventListener('pointerdown', () => (this.dragging = true));
        for (const end of ['pointerup', 'pointercancel'])
            addEventListener(end, () => (this.dragging = false));
    }

    /** @param {number} s */
    setSpan(s) {
        this.span = s;
        for (const b of this.spans.children)
            attr(b, 'aria-checked', String(Number(b.getAttribute('data-span')) === s));
        this.show(true);
    }

    /** The two times, each the latest one that has that time of day. */
    typed() {
        const ms = (/** @type {HTMLInputElement} */ e) => {
            const [h, m, s] = e.value.split(':').map(Number), now = new Date(this.app.store.model.meta.w || Date.now()), at = new Date(now).setHours(h, m, s || 0, 0);
            return at > now.getTime() ? at - 86400000 : at;
        };
        this.choose(this.from.value && this.to.value ? { from: ms(this.from), to: ms(this.to) } : null);
    }

    /** @param {import('./compare.js').Range|null} r */
    choose(r) {
        this.range = r && r.to > r.from ? r : null;
        this.compare.disabled = !this.range;
        for (const it of this.charts.values())
            it.u.redraw(false);
    }

    /** @param {any} u what was dragged over */
    dragged(u) {
        const { left, width } = u.select;
        if (width < 2)
            return;
        const [from, to] = [left, left + width].map((x) => Math.round(u.posToVal(x, 'x') * 1000));
        this.from.value = clock(from);
        this.to.value = clock(to);
        u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        this.choose({ from, to });
    }

    turn() {
        this.grid.box.hidden = !this.grid.box.hidden;
        this.plots.hidden = !this.grid.box.hidden;
        attr(this.swap, 'aria-pressed', String(this.plots.hidden));
        this.show(true);
    }

    /** @returns {import('./grid.js').Column<Point>[]} */
    columns() {
        return [{ id: 'when', title: 'When', help: 'The end of the time a row is about.', width: 120, text: (/** @type {Point} */ p) => clock(p.w) },
            ...curves(this.app.lens).flatMap((c) => c.of.map((of, i) => ({ id: `${c.id}${i}`, title: c.names[i], help: c.help, n: true, width: 116, text: (/** @type {Point} */ p) => {
                const x = of(p);
                return x === null ? '\u2013' : c.share ? percent(x) : brief(Math.round(x * 100) / 100);
            } })))];
    }

    show(now = false) {
        const all = points(this.app.store.model.series, this.span);
        attr(this.box, 'data-frame', String(this.app.store.frames));
        put(this.note, all.length ? `${exact(all.length)} points` : 'No second has passed yet');
        if (!this.plots.hidden && !this.dragging && (now || performance.now() - this.drawn > 900)) {
            this.drawn = performance.now();
            for (const c of curves(this.app.lens))
                this.chart(c, all);
        }
        if (!this.grid.box.hidden) {
            this.grid.setColumns(this.columns());
            this.grid.set([...all].reverse());
        }
    }

    /** @param {Curve} c @param {Point[]} all */
    chart(c, all) {
        const look = colours(this.box), stamp = `${look.dark} ${c.names.join()} ${c.title}`;
        let it = this.charts.get(c.id);
        const data = [all.map((p) => p.w / 1000), ...c.of.map((of) => all.map(of))];
        const some = data.slice(1).some((ys) => ys.some((y) => y !== null && y !== 0)) || c.id === 'rate';
        if (!some && !it)
            return;
        if (it && it.stamp !== stamp) {
            it.u.destroy();
            it.box.remove();
            it = undefined;
        }
        if (!it) {
            const plot = el('div.plot'), box = el('section.chart', { 'data-chart': c.id }, el('h2', { text: c.title }), plot);
            this.plots.append(box);
            const ids = curves(this.app.lens).map((x) => x.id);
            [...this.plots.children].sort((a, b) => ids.indexOf(a.getAttribute('data-chart') ?? '') - ids.indexOf(b.getAttribute('data-chart') ?? '')).forEach((e) => this.plots.append(e));
            const u = new (/** @type {any} */ (uPlot))(this.options(c, look, plot.clientWidth || 400), data, plot);
            new ResizeObserver(() => plot.clientWidth && u.setSize({ width: plot.clientWidth, height: 180 })).observe(plot);
            it = { u, box, stamp };
            this.charts.set(c.id, it);
        } else {
            it.u.setData(data);
        }
    }

    /** @param {Curve} c @param {ReturnType<typeof colours>} look @param {number} width */
    options(c, look, width) {
        const axis = { stroke: look.soft, grid: { stroke: look.line, width: 1 }, ticks: { stroke: look.line, width: 1 }, font: `12px ${look.font}` };
        const strokes = [look.accent, look.warn];
        return {
            width, height: 180, cursor: { drag: { x: true, y: false, setScale: false } }, legend: { live: true },
            scales: { x: { time: true }, y: { range: (/** @type {any} */ _, /** @type {number} */ low, /** @type {number} */ high) => (c.share ? [Math.min(low ?? 0, 0.9), 1.001] : [0, high > 0 ? high * 1.08 : 1]) } },
            axes: [{ ...axis, values: (/** @type {any} */ _, /** @type {number[]} */ at) => at.map((s) => clock(s * 1000)), space: 80 }, { ...axis, size: 62, values: (/** @type {any} */ _, /** @type {number[]} */ at) => at.map((y) => (c.share ? percent(y) + ' %' : brief(y))) }],
            series: [{ label: 'time', value: (/** @type {any} */ _, /** @type {number} */ s) => (s ? clock(s * 1000) : '\u2013') },
                ...c.names.map((label, i) => ({ label, stroke: strokes[i], width: 1.6, dash: i ? [5, 3] : undefined, spanGaps: false, points: { show: false }, value: (/** @type {any} */ _, /** @type {number} */ y) => (y === null || y === undefined ? '\u2013' : c.share ? percent(y) + ' %' : brief(Math.round(y * 100) / 100)) }))],
            hooks: { drawClear: [(/** @type {any} */ u) => this.unseen(u, look)], draw: [(/** @type {any} */ u) => this.marks(u, look), (/** @type {any} */ u) => this.band(u, look)], setSelect: [(/** @type {any} */ u) => this.dragged(u)] },
        };
    }

    /** @param {any} u @param {ReturnType<typeof colours>} look */
    unseen(u, look) {
        const g = u.ctx, { left, top, width, height } = u.bbox;
        g.save();
        g.beginPath();
        g.rect(left, top, width, height);
        g.clip();
        g.strokeStyle = look.unseen;
        g.lineWidth = 1;
        for (const p of points(this.app.store.model.series, this.span)) {
            if (!p.lost && p.seen)
                continue;
            const from = u.valToPos((p.w - p.i) / 1000, 'x', true), to = u.valToPos(p.w / 1000, 'x', true);
            g.beginPath();
            for (let x = Math.floor((from - height) / 8) * 8; x < to; x += 8)
                if (x + height > from) {
                    // each line is cut to the band
                    const a = Math.max(x, from), b = Math.min(x + height, to);
                    g.moveTo(a, top + height - (a - x));
                    g.lineTo(b, top + height - (b - x));
                }
            g.stroke();
        }
        g.restore();
    }

    /** The chosen part. @param {any} u @param {ReturnType<typeof colours>} look */
    band(u, look) {
        if (!this.range)
            return;
        const g = u.ctx, { left, top, width, height } = u.bbox, inside = (/** @type {number} */ x) => Math.max(left, Math.min(left + width, x));
        const from = inside(u.valToPos(this.range.from / 1000, 'x', true)), to = inside(u.valToPos(this.range.to / 1000, 'x', true));
        g.save();
        g.globalAlpha = 0.14;
        g.fillStyle = look.accent;
        g.fillRect(from, top, to - from, height);
        g.globalAlpha = 1;
        g.strokeStyle = look.accent;
        g.lineWidth = 2;
        g.strokeRect(from, top, to - from, height);
        g.restore();
    }

    /** @param {any} u @param {ReturnType<typeof colours>} look */
    marks(u, look) {
        const g = u.ctx, { left, top, width, height } = u.bbox;
        g.save();
        g.strokeStyle = g.fillStyle = look.ink;
        g.setLineDash([3, 3]);
        g.font = `${11 * devicePixelRatio}px ${look.font}`;
        for (const e of this.app.store.model.log.map((x) => this.app.entry(x))) {
            if (e.kind !== 'mark')
                continue;
            const x = u.valToPos(e.w / 1000, 'x', true);
            if (!(x >= left && x <= left + width))
                continue;
            g.beginPath();
            g.moveTo(x, top);
            g.lineTo(x, top + height);
            g.stroke();
            g.fillText('\u2691', x + 3, top + 11 * devicePixelRatio);
        }
        g.restore();
    }
}

/** @param {import('./lens.js').Lens} lens @returns {Curve[]} */
function curves(lens) {
    const u = [lens.counterName(0), lens.counterName(1)];
    const name = (/** @type {number} */ k) => `${u[k].name || `counter ${k + 1}`} a second`;
    return [
        { id: 'rate', title: 'Events a second', help: 'Calls, returns, interrupts that the board told of, and those lost.', names: ['events/s', 'lost/s'], of: [(p) => p.events, (p) => (num(p.lost) ? p.lost : null)] },
        { id: 'c1', title: `C1: ${name(0)}`, help: 'What counter 1 counted each second.', names: ['C1/s'], of: [(p) => p.c1] },
        ...(u[1].there ? [{ id: 'c2', title: `C2: ${name(1)}`, help: 'What counter 2 counted each second.', names: ['C2/s'], of: [(/** @type {Point} */ p) => p.c2] }] : []),
        { id: 'cover', title: 'Seen', help: 'Events seen of those that happened.', names: ['seen'], share: true, of: [(p) => p.coverage] },
        { id: 'slow', title: 'Slowed down', help: 'How many times slower the program runs while it is traced.', names: ['times'], of: [(p) => p.slow] },
        { id: 'fill', title: 'Fill of ring and queue', help: 'The ring is in the board’s RAM, the queue in this computer: full means losses, or a program that waits. 1 is full.', names: ['ring', 'queue'], of: [(p) => p.ring, (p) => p.queue] },
        { id: 'wire', title: 'Bits a second on the wire', help: 'To and from the board.', names: ['bits/s'], of: [(p) => p.wire] },
    ];
}
