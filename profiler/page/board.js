// The board: what it is, what its counters count, what the trace costs, and which places of the program are not traced.
import { attr, el, onceAFrame, put } from './dom.js';
import { clock, exact, num, percent } from './num.js';
import { get } from './control.js';
import { Grid } from './grid.js';
import { hex } from './functions.js';

const NAMES = /** @type {Record<string, string>} */ ({ target: 'Target', adapter: 'Adapter', gdb: 'GDB', run: 'Run', profile: 'Profile', coverage: 'Coverage', rates: 'Estimate of C1', marks: 'Marks' });

const WORDS = /** @type {Record<string, string>} */ ({
    for_ns: 'to run for', passes_wanted: 'passes wanted', sites: 'places traced', untraced_sites: 'places not traced', slow_down: 'slowed down', slow_down_agent: 'by the agent', slow_down_moving: 'by moving events',
    stops: 'stop points, how many', stop: 'stop points', start: 'start point', clock_hz: 'wire clock', damaged: 'exchanges repeated', gaps: 'gaps', lost_is_bound: 'lost is an upper bound', lost_c1: 'C1 in gaps', gap_c1: 'C1 in gaps',
    blind_events: 'calls into untraced code', blind_c1: 'C1 in untraced code', ratio: 'seen', nodes: 'call paths', nesting: 'deepest handler', active: 'counting now', target_cycles: 'cycles of the board',
    agent_cycles: 'of them the agent', host_seconds: 'seconds here', board_seconds: 'seconds of the board', held_seconds: 'of them held', away_since_ms: 'away since',
});
const HIDE_ZERO = new Set(['for_ns', 'passes_wanted', 'clock_hz', 'record', 'output', 'note', 'nesting']);

export class Board {
    /** @param {import('./app.js').App} app */
    constructor(app) {
        this.app = app;
        this.cards = el('div.cards');
        /** @type {Map<string, HTMLElement>} */
        this.lists = new Map();
        this.fetched = -1e9;
        /** @type {any} */
        this.profile = null;
        this.places = new Grid({
            label: 'Places not traced', key: (/** @type {any} */ u) => `${u.address} ${u.kind}`, fixed: true, columns: [
                { id: 'function', title: 'Function', help: 'In which it lies.', width: 170, cls: 'code', text: (/** @type {any} */ u) => String(u.function ?? '') },
                { id: 'address', title: 'Address', help: 'Of the instruction.', width: 120, cls: 'code', text: (/** @type {any} */ u) => hex(u.address) },
                { id: 'kind', title: 'Instruction', help: 'What it does there.', width: 120, text: (/** @type {any} */ u) => String(u.kind ?? '') },
                { id: 'cause', title: 'Why not', help: 'What kept it from being traced.', width: 140, text: (/** @type {any} */ u) => String(u.cause ?? '') },
                { id: 'by', title: 'Because of', help: 'What stood in the way.', width: 150, cls: 'code', text: (/** @type {any} */ u) => String(u.by ?? '') },
                { id: 'bytes', title: 'Bytes', help: 'How many it would have needed.', width: 80, n: true, text: (/** @type {any} */ u) => (u.bytes ? String(u.bytes) : '') }],
        });
        this.untraced = el('h2.bar', { text: 'Places that are not traced' });
        this.box = el('section.view', { 'aria-label': 'Board' }, this.cards, this.untraced, this.places.box);
        this.update = onceAFrame(() => this.show());
    }

    show() {
        const m = this.app.store.model, h = m.hello ?? {};
        this.card('about', 'About', [['Program', h.elf], ['Build', h.build_id], ['Target', h.target], ['Adapter', h.probe], ['probeprof', h.version], ['Feed', h.v],
            ...[0, 1].map((k) => /** @type {[string, any]} */ ([`Counter ${k + 1}`, h.counters?.[k] ? `${h.counters[k][0]} (${h.counters[k][1]})` : 'does not count'])),
            ['Functions seen', exact(m.fns.size)], ['Call paths here', `${exact(m.paths.size)}${m.meta.hid ? `, ${exact(m.meta.hid)} smaller ones in (other)` : ''}`]]);
        for (const [key, o] of Object.entries(m.st))
            this.card(key, NAMES[key] ?? key, rowsOf(o));
        if (this.profile)
            this.card('time', 'Time', rowsOf(this.profile.time ?? {}));
        this.ask();
        attr(this.box, 'data-frame', String(this.app.store.frames));
    }

    /** Places that are not traced are known to the profile, not to each frame. */
    async ask() {
        if (performance.now() - this.fetched < 3000 || this.app.store.link.state !== 'live')
            return;
        this.fetched = performance.now();
        const a = await get('profile.json');
        if (!a.ok || typeof a.body !== 'object')
            return;
        this.profile = a.body;
        const list = a.body.coverage?.untraced ?? [], known = a.body.coverage?.untraced !== null;
        put(this.untraced, list.length ? `Places that are not traced: ${list.length}; ${percent(num(a.body.coverage.untraced_hits ?? 0) / Math.max(1, num(a.body.totals?.hits ?? 0)))} % of the hits are of functions that hold some` : known ? 'Every place that can be traced is' : 'Which places are not traced is not known: the file does not say');
        this.places.box.hidden = !list.length;
        this.places.set(list);
        this.update();
    }

    /** @param {string} key @param {string} title @param {[string, any][]} rows */
    card(key, title, rows) {
        let dl = this.lists.get(key);
        if (!dl) {
            dl = el('dl');
            this.lists.set(key, dl);
            this.cards.append(el('section.card', { 'data-card': key }, el('h2', { text: title }), dl));
        }
        const known = rows.filter(([, v]) => v !== null && v !== undefined && v !== '');
        const some = known.length ? known : /** @type {[string, any][]} */ ([['not known', 'nothing tells of it']]);
        while (dl.children.length > some.length * 2)
            dl.lastElementChild?.remove();
        while (dl.children.length < some.length * 2)
            dl.append(el('dt'), el('dd'));
        some.forEach(([k, v], i) => {
            put(/** @type {HTMLElement} */ (dl).children[2 * i], k);
            put(/** @type {HTMLElement} */ (dl).children[2 * i + 1], say(v));
        });
    }
}

/** An object's members as rows, in words. @param {any} o @param {string} [before] @returns {[string, any][]} */
function rowsOf(o, before = '') {
    return Object.entries(o ?? {}).flatMap(([k, v]) => {
        if (HIDE_ZERO.has(k) && !v)
            return [];
        if (k === 'marks' && Array.isArray(v))
            return v.length ? v.map((m) => /** @type {[string, any]} */ ([String(m.name), `set at ${clock(Number(m.wall_ms))}`])) : [/** @type {[string, any]} */ (['none', 'the key m sets one'])];
        if (k === 'ratio')
            return [/** @type {[string, any]} */ (['seen', `${percent(Number(v))} %`])];
        if (k === 'away_since_ms' && v)
            return [/** @type {[string, any]} */ (['away since', clock(Number(v))])];
        if (v && typeof v === 'object' && !Array.isArray(v))
            return rowsOf(v, `${before}${WORDS[k] ?? k.replaceAll('_', ' ')} `);
        return [/** @type {[string, any]} */ ([before + (WORDS[k] ?? k.replaceAll('_', ' ')), v])];
    });
}

/** @param {any} v @returns {string} */
function say(v) {
    if (typeof v === 'number')
        return Number.isInteger(v) ? exact(v) : String(+v.toPrecision(5));
    if (typeof v === 'boolean')
        return v ? 'yes' : 'no';
    if (Array.isArray(v))
        return v.length ? v.map((x) => (x && typeof x === 'object' ? Object.values(x).map(say).join(' ') : say(x))).join('; ') : 'none';
    return String(v);
}
