// What is always in sight: who is there, how much is seen, what is wrong, and the commands.
import { attr, byId, el, onceAFrame, put } from './dom.js';
import { brief, clock, exact, num, percent, span } from './num.js';

/** @param {any} o @param {...string} keys @returns {string} */
const word = (o, ...keys) => {
    for (const k of keys)
        if (o?.[k] !== undefined && o[k] !== null && o[k] !== '')
            return String(o[k]);
    return '';
};

const PHASES = /** @type {Record<string, string>} */ ({ starting: '\u2026 starting', waiting: '\u29D6 waits for the start point', profiling: '\u25B6 profiling', paused: '\u23F8 paused', ending: '\u2026 ending', done: '\u25A0 done', file: '\u25A4 of a file', bridging: 'none: a bridge for GDB' });

export class Head {
    /** @param {import('./app.js').App} app */
    constructor(app) {
        this.app = app;
        this.store = app.store;
        this.facts = byId('facts');
        this.seen = byId('seen');
        this.trouble = byId('trouble');
        /** @type {Map<string, HTMLElement>} */
        this.slots = new Map();
        this.rail = el('span.fill');
        this.percent = el('b');
        this.cover = el('span.cover', { title: 'How many of the events that the board made were seen. Striped: lost.' }, el('span', { text: 'seen' }), el('span.rail', { 'aria-hidden': 'true' }, this.rail), this.percent);
        this.seen.append(this.cover);
        /** @type {Map<string, {cls: string, parts: string[]}>} */
        this.notes = new Map();
        /** @type {Map<string, HTMLElement>} what shows them */
        this.lines = new Map();
        this.buttons = this.commands();
        this.files = el('select', { 'aria-label': 'Recording', title: 'Which recording is shown; Compare has the others', hidden: true, onchange: () => this.app.showFile(/** @type {HTMLSelectElement} */ (this.files).value) });
        byId('actions').append(this.files, ...this.buttons.values());
        this.update = onceAFrame(() => this.show());
        this.store.on('link', () => this.linked());
        this.store.on('tabs', () => this.update());
        this.store.on('hello', () => this.update());
        this.store.on('fresh', (other) => {
            if (other)
                this.note('epoch', 'note', 8000, 'Counting starts over', 'the profile was cleared, its counters count something else, or another program was loaded: earlier figures are gone, zoom and selection stay');
        });
        this.store.on('bye', (f) => this.app.say(`The server ends the stream: ${f.reason ?? ''}`));
        setInterval(() => this.linked(), 1000);
    }

    commands() {
        const b = (/** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ fn) => el('button', { text, title, onclick: fn });
        const a = this.app;
        return new Map([
            ['run', b('Stop', 'Stop or start counting (key x)', () => a.runOrStop())],
            ['mark', b('Mark', 'Remember the figures of now under a name, to see what comes after (key m)', () => a.mark())],
            ['clear', b('Clear', 'Begin all counts at 0 (key Delete)', () => a.clear())],
            ['save', b('Save', 'Write the profile of now to a file beside the program (key Ctrl-S)', () => a.save())],
            ['counters', b('Counters', 'Which events counter 1 and counter 2 count (key e)', () => a.chooseCounters())],
            ['points', b('Points', 'Where counting starts and stops (key o)', () => a.choosePoints())],
            ['theme', b('Theme', 'Light, dark, or as the system has it', () => a.theme())],
            ['help', b('Help', 'Keys and meanings (key ?)', () => a.help())],
        ]);
    }

    /** @param {string} key @param {string} cls @param {number} ms until it goes; 0: until it is taken away @param {...string} parts */
    note(key, cls, ms, ...parts) {
        const same = this.notes.get(key)?.parts.join() === parts.join();
        const note = { cls, parts };
        this.notes.set(key, note);
        if (!same)
            this.app.say(parts.join('. '));
        if (ms)
            setTimeout(() => this.notes.get(key) === note && this.unnote(key), ms); // not one that came since
        this.tell();
    }

    /** @param {string} key */
    unnote(key) {
        if (this.notes.delete(key))
            this.tell();
    }

    /** A line stays the same element while its words change: a button in it that is being pressed is not taken away. */
    tell() {
        for (const [key, line] of this.lines)
            if (!this.notes.has(key)) {
                line.remove();
                this.lines.delete(key);
            }
        for (const [key, n] of this.notes) {
            const line = this.lines.get(key) ?? this.line(key), words = /** @type {HTMLElement} */ (line.firstElementChild);
            const stamp = JSON.stringify(n.parts);
            attr(line, 'class', n.cls);
            if (words.dataset.stamp === stamp)
                continue;
            words.dataset.stamp = stamp;
            words.replaceChildren(el('b', { text: n.parts[0] }), ...n.parts.slice(1).filter(Boolean).map((t) => el('span', { text: t })));
        }
    }

    /** @param {string} key */
    line(key) {
        const again = key === 'link' ? el('button', { text: 'Try now', onclick: () => this.store.again() }) : null;
        const line = el('p', { 'data-note': key }, el('span.words'), again);
        this.lines.set(key, line);
        this.trouble.append(line);
        return line;
    }

    /** The connection, in words. */
    linked() {
        const l = this.store.link;
        document.body.classList.toggle('stale', l.state !== 'live' && this.store.frames > 0);
        attr(document.body, 'data-link', l.state);
        const old = this.store.heard ? `Figures are of ${clock(this.store.heard)}.` : '';
        if (l.state === 'live')
            this.unnote('link');
        else if (l.state === 'connecting')
            this.store.frames === 0 ? this.note('link', 'note', 0, 'Connecting \u2026') : this.note('link', 'warn', 0, 'Connecting again \u2026', old);
        else
            this.note('link', 'bad', 0, l.state === 'refused' ? `Refused: ${l.what}` : `Not connected: ${l.what}`, l.hint, old);
        // a recording has happened: nothing of it can be stopped or cleared
        const live = l.state === 'live' && this.store.model.st.run?.phase !== 'file';
        for (const k of ['run', 'mark', 'clear', 'save', 'counters', 'points'])
            /** @type {HTMLButtonElement} */ (this.buttons.get(k)).disabled = !live;
    }

    /** @param {HTMLElement} into @param {string} key @param {string} name @param {string} value @param {string} [state] */
    slot(into, key, name, value, state) {
        let e = this.slots.get(key);
        if (!e) {
            e = into === this.facts ? el('div', { 'data-fact': key }, el('dt', { text: name }), el('dd')) : el('span.figure', { 'data-fact': key }, el('b'), document.createTextNode(' '), el('span', { text: name }));
            this.slots.set(key, e);
            into.append(e);
        }
        e.hidden = value === '';
        const v = /** @type {HTMLElement} */ (e.querySelector('dd, b'));
        put(v, value);
        if (state !== undefined) {
            v.className = 'state';
            attr(v, 'data-is', state);
        }
    }

    show() {
        const m = this.store.model, st = m.st, h = m.hello ?? {};
        const t = st.target ?? {}, state = word(t, 'state');
        this.slot(this.facts, 'target', 'target', `${word(t, 'name') || word(h, 'target') || (state === 'file' ? 'not known' : 'none')} ${state === 'file' ? '' : state}${t.why && state !== 'away' ? ` (${t.why}${t.where ? ` in ${t.where}` : ''})` : ''}`.trim(), kind(state));
        const a = st.adapter ?? {};
        this.slot(this.facts, 'adapter', 'adapter', word(a, 'name', 'probe') || word(h, 'probe'));
        const g = st.gdb ?? {};
        this.slot(this.facts, 'gdb', 'GDB', g.sessions === undefined ? '' : num(g.sessions) ? `${g.sessions} connected` : g.address ? `none, at ${g.address}` : 'none');
        const phase = word(st.run, 'phase');
        this.slot(this.facts, 'phase', 'profile', PHASES[phase] ?? phase);
        const p = this.app.points();
        this.slot(this.facts, 'points', 'points', [p.start && `\u25B6 ${p.start}`, ...p.stop.map((x) => `\u25A0 ${x}`)].filter(Boolean).join(' '));
        this.slot(this.facts, 'elf', 'program', word(h, 'elf').split('/').pop() ?? '');
        const slow = Number(st.run?.slow_down ?? NaN);
        this.slot(this.seen, 'slow', 'slowed down', slow > 0 ? `${slow.toFixed(slow < 10 ? 1 : 0)}\u00D7` : '');
        this.slot(this.seen, 'rate', 'events/s', this.rate());
        this.slot(this.seen, 'events', 'events', brief(m.meta.e));
        this.slot(this.seen, 'hits', 'hits', m.knows('hits') ? exact(m.tot[0]) : '');
        if (st.coverage)
            this.coverage(st.coverage);
        this.slot(this.seen, 'interval', 'between frames', m.meta.i ? span(m.meta.i) : '');
        this.slot(this.seen, 'merged', 'frames merged', m.meta.merged ? String(m.meta.merged) : '');
        this.slot(this.seen, 'tabs', 'tabs on one stream', this.store.tabs > 1 ? String(this.store.tabs) : '');
        this.recordings(st.run ?? {});
        const run = /** @type {HTMLButtonElement} */ (this.buttons.get('run'));
        put(run, this.app.running() ? 'Stop' : 'Start');
        if (state === 'away' || a.away)
            this.note('away', 'bad', 0, 'The board is away', String(t.why ?? a.why ?? 'no answer'), word(t, 'hint') || word(a, 'hint') || 'put it back: the bridge goes on by itself; the time between is drawn as not seen');
        else
            this.unnote('away');
        if (h.cut)
            this.note('cut', 'warn', 0, 'This page was cut off before', String(h.cut));
        else
            this.unnote('cut');
    }

    /** @param {any} run */
    recordings(run) {
        const files = Array.isArray(run.files) ? run.files.map(String) : [], stamp = files.join('\n') + run.record;
        this.files.hidden = files.length < 2;
        if (this.files.dataset.stamp === stamp)
            return;
        this.files.dataset.stamp = stamp;
        this.files.replaceChildren(...files.map((/** @type {string} */ f) => el('option', { text: f, value: f, selected: f === run.record })));
        this.linked();
    }

    rate() {
        const m = this.store.model, now = m.meta.w;
        const was = this.was;
        if (!was || now - was.w >= 900 || num(m.meta.e) < was.e) {
            this.last = was && now > was.w && num(m.meta.e) >= was.e ? ((num(m.meta.e) - was.e) * 1000) / (now - was.w) : this.last ?? 0;
            this.was = { w: now, e: num(m.meta.e) };
        }
        return brief(Math.round(this.last ?? 0));
    }

    /** @param {any} c */
    coverage(c) {
        const known = c.lost !== undefined; // a .prf does not tell
        /** @type {HTMLElement} */ (this.rail.parentElement).style.display = known ? '' : 'none'; // empty it would mean that all was lost
        if (!known) {
            put(this.percent, 'not known');
            this.slot(this.seen, 'lost', 'lost', 'not known');
            for (const key of ['gaps', 'doubtful', 'events', 'rate'])
                this.slot(this.seen, key, key, '');
            this.unnote('lost');
            return;
        }
        const lost = num(c.lost ?? 0), events = num(c.events ?? 0);
        const ratio = c.ratio !== undefined && c.ratio !== null ? Number(c.ratio) : events + lost > 0 ? events / (events + lost) : 1;
        this.rail.style.width = `${Math.max(0, Math.min(1, ratio)) * 100}%`;
        put(this.percent, `${percent(ratio)} %`);
        const bound = c.lost_is_bound ? 'at most ' : '';
        this.slot(this.seen, 'lost', 'lost', bound + exact(c.lost ?? 0));
        this.slot(this.seen, 'gaps', 'gaps', exact(c.gaps ?? 0));
        this.slot(this.seen, 'doubtful', 'doubtful', exact(c.doubtful ?? 0));
        if (lost > 0 || num(c.gaps ?? 0) > 0) {
            const last = [...this.store.model.log].reverse().map((e) => this.app.entry(e)).find((e) => e.kind === 'gap');
            this.note('lost', 'bad', 0, `${bound}${exact(c.lost ?? 0)} events lost in ${exact(c.gaps ?? 0)} gap${num(c.gaps) === 1 ? '' : 's'}`, last ? last.text : '',
                'shares are of what was seen; fewer traced functions or --policy lossless sees all (Log, Board)');
        } else {
            this.unnote('lost');
        }
    }
}

/** @param {string} state */
function kind(state) {
    if (/away|lost|gone/.test(state))
        return 'away';
    if (/halt|stop/.test(state))
        return 'halted';
    return /run/.test(state) ? 'running' : 'idle';
}
