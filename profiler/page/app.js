// Puts the page together: views, keys, what the address remembers.
import { Store } from './store.js';
import { Lens } from './lens.js';
import { Head } from './head.js';
import { Functions } from './functions.js';
import { Tree } from './tree.js';
import { Callers } from './callers.js';
import { History } from './history.js';
import { Compare } from './compare.js';
import { Board } from './board.js';
import { Log } from './log.js';
import { Timeline } from './timeline.js';
import { attr, byId, el, harmless, kept, put } from './dom.js';
import { ask, get, markOf, post, tell } from './control.js';
import { count } from './num.js';
import { help } from './help.js';

/** @typedef {{n: number, w: number, kind: string, cause: string, text: string, amount: import('./num.js').Count, bound: boolean, from: import('./num.js').Count, to: import('./num.js').Count, times: number}} Entry */
/** @typedef {{box: HTMLElement, update: () => void, show: (now: boolean) => void, key?: (e: KeyboardEvent) => boolean, gone?: () => void}} View */

const MODES = /** @type {['total'|'lately'|'mark', string, string][]} */ ([['total', 'Total', 'Since counting began'], ['lately', 'Last second', 'What the last second added'], ['mark', 'Since mark', 'Since a mark (key z); the key m sets one']]);

export class App {
    constructor() {
        this.store = new Store();
        this.lens = new Lens(this.store);
        this.head = new Head(this);
        this.chosenName = '';
        this.frozen = false;
        /** The mark that is being read, and when it is there. @type {{name: string, read: Promise<void>}|null} */
        this.reading = null;
        /** A mark that is being set: until it is there, what is asked of marks waits. @type {Promise<void>} */
        this.setting = Promise.resolve();
        /** What was asked for last: a mark that comes late does not undo it. @type {'total'|'lately'|'mark'} */
        this.wanted = 'total';
        /** @type {ReturnType<typeof setTimeout>|undefined} */
        this.saying = undefined;
        this.said = 0;
        /** @type {HTMLElement[]} */
        this.modeBoxes = [];
        /** @type {HTMLElement[]} */
        this.counterBoxes = [];
        /** @type {Map<string, {title: string, view: View}>} */
        this.views = new Map(Object.entries({
            functions: { title: 'Functions', view: new Functions(this) }, paths: { title: 'Call paths', view: new Tree(this) }, function: { title: 'Function', view: new Callers(this) },
            history: { title: 'History', view: new History(this) }, compare: { title: 'Compare', view: new Compare(this) }, board: { title: 'Board', view: new Board(this) }, log: { title: 'Log', view: new Log(this) },
            timeline: { title: 'Timeline', view: new Timeline(this) } }));
        this.now = '';
        this.tabs();
        this.shade();
    }

    start() {
        this.token();
        this.recall();
        addEventListener('hashchange', () => this.recall());
        document.querySelector('.skip')?.addEventListener('click', (e) => {
            e.preventDefault(); // the address is ours
            (this.table() ?? byId('view')).focus();
        });
        document.addEventListener('keydown', (e) => this.key(e));
        document.addEventListener('visibilitychange', () => document.hidden || this.update());
        for (const what of /** @type {const} */ (['frame', 'hello', 'fresh']))
            this.store.on(what, () => this.update());
        this.store.on('fresh', () => this.renewMark());
        this.store.start();
    }

    /** A token comes in the address behind #, which no server sees and no log keeps. */
    async token() {
        const t = new URLSearchParams(location.hash.slice(1)).get('t');
        if (!t)
            return;
        history.replaceState(null, '', location.pathname + location.search);
        const a = await post('api/1/login', { token: t });
        if (a.ok)
            this.store.again();
        else
            this.head.note('login', 'bad', 0, `Not let in: ${a.what}`, a.hint);
    }

    // ---- views ----

    tabs() {
        let n = 0;
        byId('tabs').append(...[...this.views].map(([id, { title }]) => el('button', { role: 'tab', id: `tab-${id}`, 'aria-controls': 'view', 'aria-selected': 'false', tabindex: '-1', onclick: () => this.open(id) }, title, el('kbd', { text: String(++n), 'aria-hidden': 'true' }))));
        byId('tabs').addEventListener('keydown', (e) => {
            const ids = [...this.views.keys()], at = ids.indexOf(this.now);
            const to = /** @type {Record<string, number>} */ ({ ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: ids.length - 1 })[e.key];
            if (to === undefined)
                return;
            this.open(ids[(to + ids.length) % ids.length]);
            byId(`tab-${this.now}`).focus();
            e.preventDefault();
            e.stopPropagation();
        });
    }

    /** @param {string} id */
    open(id) {
        const v = this.views.get(id);
        if (!v)
            return;
        if (this.now !== id) {
            this.views.get(this.now)?.view.gone?.();
            this.now = id;
            byId('view').replaceChildren(v.view.box);
            for (const tab of byId('tabs').children) {
                const on = tab.id === `tab-${id}`;
                attr(tab, 'aria-selected', String(on));
                attr(tab, 'tabindex', on ? '0' : '-1');
                if (on) {
                    attr(byId('view'), 'aria-labelledby', tab.id);
                    tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
                }
            }
        }
        this.remember();
        v.view.show(true);
    }

    get view() {
        return this.views.get(this.now)?.view;
    }

    update() {
        if (document.hidden)
            return;
        this.head.update();
        if (!this.frozen)
            this.view?.update();
    }

    /** Buttons for what is looked at; each view has its own copy. */
    modes() {
        const box = el('span.choice', { role: 'radiogroup', 'aria-label': 'Figures of' }, ...MODES.map(([id, text, title]) =>
            el('button', { role: 'radio', 'data-mode': id, text, title, 'aria-checked': String(this.lens.mode === id), onclick: () => this.setMode(id) })));
        this.modeBoxes.push(box);
        return box;
    }

    counters() {
        const box = el('span.choice', { role: 'radiogroup', 'aria-label': 'Counter' }, ...[0, 1].map((k) =>
            el('button', { role: 'radio', 'data-counter': k, text: `C${k + 1}`, title: 'By this counter (key c)', 'aria-checked': String(this.lens.counter === k), onclick: () => this.setCounter(k) })));
        this.counterBoxes.push(box);
        return box;
    }

    /** @param {number} k */
    setCounter(k) {
        this.lens.counter = k;
        for (const box of this.counterBoxes)
            for (const b of box.children)
                attr(b, 'aria-checked', String(Number(b.getAttribute('data-counter')) === k));
        this.remember();
        this.view?.show(true);
    }

    /** @param {'total'|'lately'|'mark'} mode */
    async setMode(mode) {
        this.wanted = mode;
        if (mode === 'mark' && !this.lens.mark)
            await this.someMark();
        if (this.wanted !== mode || (mode === 'mark' && !this.lens.mark))
            return;
        this.lens.mode = mode;
        for (const box of this.modeBoxes)
            for (const b of box.children)
                attr(b, 'aria-checked', String(b.getAttribute('data-mode') === mode));
        this.remember();
        this.view?.show(true);
    }

    // ---- marks ----

    /** One to count from: that which is being set, or else the newest. */
    async someMark() {
        await this.setting;
        const names = this.marks();
        if (!this.lens.mark && names.length)
            await this.useMark(names[names.length - 1], true);
        else if (!this.lens.mark)
            this.head.note('mark', 'note', 6000, 'There is no mark yet', 'press m, or Mark above, to set one');
    }

    /** Names, the newest last. @returns {string[]} */
    marks() {
        const m = this.store.model.st.marks;
        const list = Array.isArray(m) ? m : m?.marks ?? [];
        return list.map((/** @type {any} */ x) => String(x?.name ?? x));
    }

    /** @param {string} name @param {boolean} [quietly] without another mode */
    async useMark(name, quietly = false) {
        if (this.reading?.name !== name)
            this.reading = { name, read: this.readMark(name) };
        await this.reading.read;
        if (!quietly)
            this.remember();
        this.view?.show(true);
    }

    /** @param {string} name */
    async readMark(name) {
        const a = await get(`api/1/snapshot?view=functions,nodes&nodes=${4096}&mark=${encodeURIComponent(name)}`);
        if (this.reading?.name === name)
            this.reading = null;
        if (!a.ok) {
            this.refused('The mark cannot be read', a);
            return;
        }
        this.lens.mark = markOf(a.body, name);
    }

    /** Ids are of an epoch: in another one the mark is gone, or has to be read again. */
    renewMark() {
        this.lens.mark = null;
        if (this.lens.mode === 'mark')
            this.setMode('total');
    }

    async mark() {
        const names = this.marks();
        const name = el('input', { type: 'text', name: 'name', value: `mark ${names.length + 1}`, maxlength: '60', required: true });
        const got = await ask('Set a mark', ['The figures of now are kept under this name; “Since mark” and “Compare” then show what came after.', el('label', {}, 'Name', name)], 'Set');
        if (!got?.name)
            return;
        this.setting = this.setMark(got.name);
        await this.setting;
    }

    /** @param {string} name */
    async setMark(name) {
        const a = await post('api/1/control', { do: 'mark', name });
        if (!a.ok)
            this.refused('No mark was set', a);
        else {
            this.head.note('done', 'note', 5000, `Mark “${name}” is set`);
            await this.useMark(name, true);
        }
    }

    /** Another recording of `probeprof view`. @param {string} name */
    async showFile(name) {
        await this.command(`Shown: ${name}`, 'It stays', { do: 'show', name });
    }

    /** @param {string} name */
    async unmark(name) {
        const a = await post('api/1/control', { do: 'unmark', name });
        if (!a.ok) {
            this.refused('The mark stays', a);
            return;
        }
        this.lens.mark = null;
        await this.setMode('total');
        this.view?.show(true);
    }

    /** A part of the history, beside all. @param {import('./compare.js').Range} r */
    compareRange(r) {
        this.open('compare');
        /** @type {Compare} */ (this.views.get('compare')?.view).range(r);
    }

    // ---- commands ----

    running() {
        return !/paused|done|bridging/.test(String(this.store.model.st.run?.phase ?? ''));
    }

    /** @param {string} what @param {{status: number, what: string, hint: string} & {ok: false}} a */
    refused(what, a) {
        this.head.note('refused', 'bad', 12000, `${what}: ${a.what}`, a.hint);
    }

    /** @param {string} did @param {string} not @param {any} body */
    async command(did, not, body) {
        const a = await post('api/1/control', body);
        if (!a.ok)
            this.refused(not, a);
        else
            this.head.note('done', 'note', 5000, a.body?.file ? `${did}: ${a.body.file}` : did);
    }

    runOrStop() {
        return this.running() ? this.command('Counting has stopped', 'It goes on', { do: 'stop' }) : this.command('Counting goes on', 'It stays stopped', { do: 'start' });
    }

    async clear() {
        const yes = await ask('Clear the profile?', ['All counts begin at 0 for everybody who looks, marks are forgotten. A recording keeps everything.'], 'Clear');
        if (yes)
            await this.command('Cleared', 'Nothing was cleared', { do: 'clear' });
    }

    save() {
        return this.command('Saved', 'Nothing was saved', { do: 'save' });
    }

    async chooseCounters() {
        const c = this.store.model.hello?.counters ?? [];
        const field = (/** @type {string} */ name, /** @type {string} */ title, /** @type {string} */ value) => el('label', {}, title, el('input', { type: 'text', name, value }));
        const got = await ask('What the counters count', ['Names are those of ', el('code', { text: 'probeprof events' }), '. The trace is armed again: counting starts over.', field('c1', 'Counter 1', c[0]?.[0] ?? ''), field('c2', 'Counter 2', c[1]?.[0] ?? '')], 'Count these');
        if (got)
            await this.command('The counters count something else now', 'The counters stay', { do: 'counters', ...(got.c1 ? { c1: got.c1 } : {}), ...(got.c2 ? { c2: got.c2 } : {}) });
    }

    /** Where counting starts and stops. @returns {{start: string, stop: string[]}} */
    points() {
        const run = this.store.model.st.run ?? {};
        return { start: String(run.start ?? ''), stop: Array.isArray(run.stop) ? run.stop.map(String) : [] };
    }

    async choosePoints() {
        const p = this.points(), stop = /** @type {HTMLTextAreaElement} */ (el('textarea', { name: 'stop', rows: '3' }));
        stop.value = p.stop.map(harmless).join('\n');
        const got = await ask('Where counting starts and stops', ['A function, a function and bytes (', el('code', { text: 'main+8' }), '), a line (', el('code', { text: 'file.c:12' }), ') or an address. Empty: none. The trace is armed again; what was counted stays.',
            el('label', {}, 'Start point', el('input', { type: 'text', name: 'start', value: p.start })), el('label', {}, 'Stop points, one a line', stop)], 'Use these');
        if (got)
            await this.command('Counting has other points now', 'The points stay', { do: 'points', start: got.start.trim(), stop: got.stop.split('\n').map((s) => s.trim()).filter(Boolean) });
    }

    theme() {
        const order = ['auto', 'light', 'dark'];
        kept.set('theme', order[(order.indexOf(kept.get('theme', 'auto')) + 1) % 3]);
        this.shade();
    }

    shade() {
        const want = kept.get('theme', 'auto'), dark = matchMedia('(prefers-color-scheme: dark)');
        const set = () => {
            document.documentElement.dataset.shade = want === 'auto' ? (dark.matches ? 'dark' : 'light') : want;
            this.view?.show(false);
        };
        attr(document.documentElement, 'data-theme', want === 'auto' ? null : want);
        put(/** @type {HTMLElement} */ (this.head.buttons.get('theme')), `Theme: ${want}`);
        dark.onchange = set;
        set();
    }

    help() {
        tell('Keys and meanings', ...help());
    }

    // ---- what is chosen ----

    /** @param {import('./model.js').Fn} f */
    select(f) {
        this.chosenName = f.name;
    }

    /** @returns {import('./model.js').Fn|null} */
    chosen() {
        for (const f of this.store.model.fns.values())
            if (f.name === this.chosenName)
                return f;
        return null;
    }

    /** @param {import('./model.js').Fn} f */
    openFunction(f) {
        this.chosenName = f.name;
        const again = this.now === 'function';
        this.open('function');
        if (again)
            this.remember(true);
    }

    // ---- the address ----

    /** @param {boolean} [step] one that Back undoes */
    remember(step = false) {
        if (!this.now)
            return;
        const tree = /** @type {Tree} */ (this.views.get('paths')?.view), fns = /** @type {Functions} */ (this.views.get('functions')?.view);
        const q = new URLSearchParams();
        q.set('view', this.now);
        if (this.chosenName && this.now === 'function')
            q.set('fn', this.chosenName);
        if (fns.filter)
            q.set('filter', fns.filter);
        for (const name of tree.focus)
            q.append('path', name);
        if (this.lens.counter)
            q.set('c', '2');
        if (this.lens.mode !== 'total')
            q.set('of', this.lens.mode);
        const hash = '#' + q;
        if (hash === location.hash)
            return;
        const other = new URLSearchParams(location.hash.slice(1)).get('view') !== this.now && location.hash !== '';
        if (step || other)
            history.pushState(null, '', hash);
        else
            history.replaceState(null, '', hash);
    }

    recall() {
        const q = new URLSearchParams(location.hash.slice(1));
        const tree = /** @type {Tree} */ (this.views.get('paths')?.view), fns = /** @type {Functions} */ (this.views.get('functions')?.view);
        tree.focus = q.getAll('path');
        fns.filter = q.get('filter') ?? '';
        /** @type {HTMLInputElement} */ (fns.search).value = fns.filter;
        this.chosenName = q.get('fn') ?? this.chosenName;
        this.lens.counter = q.get('c') === '2' ? 1 : 0;
        for (const box of this.counterBoxes)
            for (const b of box.children)
                attr(b, 'aria-checked', String(Number(b.getAttribute('data-counter')) === this.lens.counter));
        if (q.get('of') === 'lately')
            this.setMode('lately');
        const id = q.get('view') ?? 'functions';
        this.open(this.views.has(id) ? id : 'functions');
    }

    // ---- keys ----

    /** @param {KeyboardEvent} e */
    key(e) {
        if (e.ctrlKey && e.key === 's') {
            e.preventDefault();
            this.save();
            return;
        }
        const at = /** @type {HTMLElement} */ (e.target);
        if (document.querySelector('dialog[open]') || e.ctrlKey || e.altKey || e.metaKey)
            return;
        if (/^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName)) {
            if (e.key === 'Escape')
                at.blur();
            return;
        }
        if (this.view?.key?.(e) || this.common(e))
            e.preventDefault();
    }

    /** @param {KeyboardEvent} e */
    common(e) {
        const ids = [...this.views.keys()];
        if (/^[1-9]$/.test(e.key) && ids[Number(e.key) - 1]) {
            this.open(ids[Number(e.key) - 1]);
            this.table()?.focus();
            return true;
        }
        const act = /** @type {Record<string, () => void>} */ ({
            '/': () => /** @type {HTMLElement|null} */ (byId('view').querySelector('[data-key-filter]'))?.focus(), '?': () => this.help(), s: () => this.sortNext(), c: () => this.setCounter(1 - this.lens.counter),
            m: () => this.mark(), d: () => this.open('compare'), z: () => this.setMode(this.lens.mode === 'mark' ? 'total' : 'mark'), i: () => this.setMode(this.lens.mode === 'lately' ? 'total' : 'lately'),
            x: () => this.runOrStop(), e: () => this.chooseCounters(), o: () => this.choosePoints(), Delete: () => this.clear(), ' ': () => this.freeze(), Backspace: () => history.back(),
            j: () => this.table()?.focus(), ArrowDown: () => this.table()?.focus() })[e.key];
        if (!act || (e.key === ' ' && /^(BUTTON|SUMMARY)$/.test(/** @type {HTMLElement} */ (e.target).tagName)))
            return false;
        act();
        return true;
    }

    table() {
        return /** @type {HTMLElement|null} */ ([...byId('view').querySelectorAll('.grid, canvas[tabindex]')].find((x) => /** @type {HTMLElement} */ (x).offsetParent !== null) ?? null);
    }

    sortNext() {
        const grid = /** @type {any} */ (this.view)?.grid;
        if (grid?.sortNext)
            this.say(`Sorted by ${grid.sortNext()}`);
    }

    freeze() {
        this.frozen = !this.frozen;
        if (this.frozen)
            this.head.note('frozen', 'warn', 0, 'Frozen', 'figures of the view stay as they are, those of the header go on; Space goes on');
        else
            this.head.unnote('frozen');
        this.update();
    }

    /** For ears: at most one in 5 s, the newest wins. @param {string} text */
    say(text) {
        clearTimeout(this.saying);
        this.saying = setTimeout(() => {
            this.said = Date.now();
            put(byId('say'), text);
        }, Math.max(0, 5000 - (Date.now() - this.said)));
    }

    /** @param {any[]} raw @returns {Entry} */
    entry(raw) {
        const [n, w, kind, cause, text, amount, bound, times, from, to] = raw;
        return { n: Number(n), w: Number(w), kind: String(kind ?? ''), cause: String(cause ?? ''), text: String(text ?? ''), amount: count(amount), bound: Boolean(bound), from: count(from), to: count(to), times: Number(times ?? 1) };
    }
}

const app = new App();
// For tests and for whoever looks into the page: state, never secrets.
Object.assign(globalThis, { probeprof: app });
app.start();
