// A tab's side: the state as this tab has it, and who wants to hear of it.
import { Model } from './model.js';
import { Hub } from './hub.js';
import { saved } from './saved.js';

/** Relative to the page, so that a proxy may put it below a folder. */
export const BASE = new URL('./', document.baseURI).href;

/** @typedef {'hello'|'frame'|'fresh'|'link'|'bye'|'tabs'} Happening */

export class Store {
    constructor() {
        this.model = new Model();
        /** @type {import('./link.js').LinkState} */
        this.link = { state: 'connecting', what: '', hint: '', retry: 0, since: Date.now() };
        this.tabs = 1;
        this.frames = 0;
        this.heard = 0; // when the last frame came
        this.how = '';
        /** @type {Map<Happening, ((x?: any) => void)[]>} */
        this.listeners = new Map();
        this.epochs = 0;
    }

    /** @param {Happening} what @param {(x?: any) => void} fn */
    on(what, fn) {
        this.listeners.set(what, [...(this.listeners.get(what) ?? []), fn]);
    }

    /** @param {Happening} what @param {any} [x] */
    tell(what, x) {
        for (const fn of this.listeners.get(what) ?? [])
            fn(x);
    }

    /** @param {any} m */
    take(m) {
        if (m.tabs !== undefined) {
            this.tabs = m.tabs;
            this.tell('tabs');
        }
        if (m.link) {
            this.link = m.link;
            this.tell('link');
        }
        if (m.frame)
            this.frame(m.frame);
        if (m.text)
            this.frame({ ...JSON.parse(m.text), id: m.id });
    }

    /** @param {any} frame */
    frame(frame) {
        const had = this.model.hello?.epoch;
        const fresh = this.model.apply(frame);
        if (frame.frame === 'snap' || frame.frame === 'delta') {
            this.frames++;
            this.heard = Date.now();
        }
        if (fresh)
            this.tell('fresh', had !== undefined && had !== this.model.hello?.epoch);
        if (frame.frame === 'hello')
            this.tell('hello', frame);
        else if (frame.frame === 'bye')
            this.tell('bye', frame);
        else
            this.tell('frame');
    }

    start() {
        const slow = matchMedia('(prefers-reduced-motion: reduce)');
        const about = () => ({ hidden: document.hidden, slow: slow.matches ? 1000 : 0 });
        const post = this.connect();
        post({ join: true });
        post(about());
        document.addEventListener('visibilitychange', () => post(about()));
        slow.addEventListener('change', () => post(about()));
        addEventListener('pagehide', () => post({ bye: true }));
        addEventListener('pageshow', (e) => {
            if (e.persisted) {
                post({ join: true });
                post(about());
            }
        });
        this.again = () => post({ again: true });
    }

    again() {}

    /** @returns {(message: any) => void} */
    connect() {
        if (saved) {
            this.how = 'saved';
            return (m) => m.join && this.play();
        }
        const id = Math.random().toString(36).slice(2);
        const lock = `probeprof-tab-${id}`;
        if (globalThis.SharedWorker && !new URLSearchParams(location.search).has('noworker')) {
            const worker = new SharedWorker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'probeprof' });
            worker.port.onmessage = ({ data }) => this.take(data);
            worker.port.start();
            this.how = 'worker';
            if (navigator.locks)
                hold(lock, () => worker.port.postMessage({ lock }));
            return (m) => worker.port.postMessage(m);
        }
        if (navigator.locks && globalThis.BroadcastChannel)
            return this.elect(id, lock);
        this.how = 'alone'; // a plain-HTTP name beyond loopback has neither: each tab has its stream
        const hub = new Hub(BASE);
        return (m) => hub.serve(id, m, (x) => this.take(x));
    }

    /** What a saved page holds is all that there will be. */
    play() {
        this.take({ link: { state: 'live', what: '', hint: '', retry: 0, since: Date.now() } });
        for (const frame of saved?.frames ?? [])
            this.take({ frame });
    }

    /** Without SharedWorker the tab that holds a lock has the stream, and hands it on. @param {string} id @param {string} lock this tab's own */
    elect(id, lock) {
        const channel = new BroadcastChannel('probeprof');
        /** @type {Hub|null} */
        let hub = null;
        /** @type {any} */
        let about = {};
        let held = false;
        this.how = 'follower';
        channel.onmessage = ({ data }) => {
            if (hub && data.from)
                hub.serve(data.from, data.m, (x) => channel.postMessage({ to: data.from, m: x }));
            else if (data.to === id)
                this.take(data.m);
            else if (data.leader && !hub)
                for (const m of [{ join: true }, about, ...(held ? [{ lock }] : [])])
                    channel.postMessage({ from: id, m });
        };
        hold(lock, () => {
            held = true;
            if (!hub)
                channel.postMessage({ from: id, m: { lock } });
        });
        hold('probeprof-leader', () => {
            this.how = 'leader';
            hub = new Hub(BASE);
            for (const m of [{ join: true }, about])
                hub.serve(id, m, (x) => this.take(structuredClone(x)));
            channel.postMessage({ leader: true });
        });
        return (/** @type {any} */ m) => {
            if (!m.join && !m.bye)
                about = m;
            if (hub)
                hub.serve(id, m, (x) => this.take(structuredClone(x)));
            else
                channel.postMessage({ from: id, m });
        };
    }
}

/** From when this tab has the lock until it ends. @param {string} lock @param {() => void} then called when it has it */
function hold(lock, then) {
    navigator.locks.request(lock, () => {
        then();
        return new Promise(() => {});
    });
}
