// What has happened: gaps, marks, stops, resets, the adapter, GDB sessions, readers that were cut.
import { attr, el, onceAFrame, put } from './dom.js';
import { Grid, legend } from './grid.js';
import { clock, exact, num, plain } from './num.js';

/** @typedef {import('./app.js').Entry} Entry */

const SIGN = /** @type {Record<string, string>} */ ({ gap: '\u26A0 gap', mark: '\u2691 mark', note: 'note', stop: '\u25A0 stop', reset: '\u21BB reset', adapter: 'adapter', gdb: 'GDB', reader: 'reader' });

export class Log {
    /** @param {import('./app.js').App} app */
    constructor(app) {
        this.app = app;
        this.filter = '';
        /** @type {import('./grid.js').Column<Entry>[]} */
        const columns = [
            { id: 'text', title: 'What', help: 'In words; the newest stands first.', width: 300, text: (e) => e.text, paint: (e, cell) => {
                put(cell, e.text);
                attr(cell, 'title', e.text);
            } },
            { id: 'kind', title: 'Kind', help: 'gap: events were lost. mark: somebody has set one. stop, reset: the program. adapter, GDB, reader: who came and went.', width: 110, text: (e) => SIGN[e.kind] ?? e.kind },
            { id: 'cause', title: 'Cause', help: 'Of a gap: ring-full, link, damaged …', width: 130, text: (e) => e.cause },
            { id: 'amount', title: 'Lost', help: 'How many events; \u2264 where it is at most that many.', width: 110, n: true, text: (e) => (num(e.amount) ? (e.bound ? '\u2264' : '') + exact(e.amount) : ''), value: (e) => plain(e.amount) },
            { id: 'times', title: 'Times', help: 'The same thing, so often in a row.', width: 70, n: true, text: (e) => (e.times > 1 ? exact(e.times) : '') },
            { id: 'when', title: 'When', help: 'By this computer’s clock.', width: 100, text: (e) => clock(e.w) },
            { id: 'n', title: 'No.', help: 'Number of the entry.', width: 76, n: true, text: (e) => String(e.n) },
        ];
        this.grid = new Grid({ label: 'Log', columns, key: (/** @type {Entry} */ e) => e.n, fixed: true, dress: (e, x) => attr(x, 'data-kind', e.kind) });
        this.search = el('input', { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter the log', 'data-key-filter': true, oninput: () => this.show() });
        this.note = el('span.soft');
        this.box = el('section.view', { 'aria-label': 'Log' }, el('div.bar', {}, this.search, this.note), el('details.legend', {}, el('summary', { text: 'What the columns mean' }), legend(columns)), this.grid.box);
        this.update = onceAFrame(() => this.show());
    }

    show() {
        const m = this.app.store.model, want = /** @type {HTMLInputElement} */ (this.search).value.toLowerCase();
        // an entry that happened again comes again under its number: the later one counts
        const all = [...new Map(m.log.map((raw) => this.app.entry(raw)).map((e) => [e.n, e])).values()];
        const rows = all.filter((e) => !want || `${e.kind} ${e.cause} ${e.text}`.toLowerCase().includes(want)).reverse();
        this.grid.set(rows);
        put(this.note, `${rows.length} entr${rows.length === 1 ? 'y' : 'ies'}${m.logLost ? `, ${m.logLost} older ones are gone` : ''}`);
        attr(this.grid.box, 'data-frame', String(this.app.store.frames));
    }
}
