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

    /** A message of the hub, which sends others when this one has been taken. @param {import('./hub.js').Message} m @param {(answer: any) => void} answer */
    taken(m, answer) {
        try {
            this.take(m);
        } finally {
            answer({ took: true });
        }
    }

    /** @param {import('./hub.js').Message} m */
    take(m) {
        if (m.tabs !== undefined) {
            this.tabs = m.tabs;
            this.tell('tabs');
        }
        if (m.link) {
            this.link = m.link;
            this.tell('link');
        }
        if (m.hello)
            this.frame(m.hello);
        if (m.frame)
            this.frame(m.frame);
        if (m.text)
            this.frame({ ...JSON.parse(m.text), id: m.id });
        if (m.bye)
            this.frame(m.bye);
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
            const post = (/** @type {any} */ m) => worker.port.postMessage(m);
            worker.port.onmessage = ({ data }) => this.taken(data, post);
            worker.port.start();
            this.how = 'worker';
            if (navigator.locks)
                hold(lock, () => post({ lock }));
            return post;
        }
        if (navigator.locks && globalThis.BroadcastChannel)
            return this.elect(id, lock);
        this.how = 'alone'; // a plain-HTTP name beyond loopback has neither: each tab has its stream
        return this.own(new Hub(BASE), id);
    }

    /** What a saved page holds is all that there will be. */
    play() {
        this.take({ link: { state: 'live', what: '', hint: '', retry: 0, since: Date.now() } });
        for (const frame of saved?.frames ?? [])
            this.take({ frame });
    }

    /** How a hub in this tab is told of it. @param {Hub} hub @param {string} id @returns {(message: any) => void} */
    own(hub, id) {
        const post = (/** @type {any} */ m) => hub.serve(id, m, (x) => this.taken(structuredClone(x), post));
        return post;
    }

    /**
     * Without SharedWorker the tab that holds a lock has the stream, and hands it on: to each other tab on a channel of its own, so that none
     * hears what is for others.
     * @param {string} id @param {string} lock this tab's own
     */
    elect(id, lock) {
        const all = new BroadcastChannel('probeprof'), line = channelOf(id);
        /** @type {Hub|null} */
        let hub = null;
        /** @type {any} */
        let about = {};
        let held = false;
        let post = (/** @type {any} */ m) => (m.join ? all.postMessage({ join: id }) : line.postMessage(m));
        this.how = 'follower';
        all.onmessage = ({ data }) => {
            if (hub && data.join)
                follow(hub, data.join);
            else if (data.leader && !hub)
                post({ join: true });
        };
        line.onmessage = ({ data }) => {
            this.taken(data, post);
            if (data.joined) // before, the leader did not listen here
                for (const m of [about, ...(held ? [{ lock }] : [])])
                    post(m);
        };
        hold(lock, () => {
            held = true;
            if (!hub)
                post({ lock });
        });
        hold('probeprof-leader', () => {
            this.how = 'leader';
            hub = new Hub(BASE);
            post = this.own(hub, id);
            for (const m of [{ join: true }, about])
                post(m);
            all.postMessage({ leader: true });
        });
        return (/** @type {any} */ m) => {
            if (m.hidden !== undefined)
                about = m;
            post(m);
        };
    }
}

/** @param {string} id of the tab that the leader and nobody else talks to on it */
function channelOf(id) {
    return new BroadcastChannel(`probeprof-tab-${id}`);
}

/** Another tab, for the one that leads. @param {Hub} hub @param {string} id */
function follow(hub, id) {
    const line = channelOf(id);
    const serve = (/** @type {any} */ m) => hub.serve(id, m, (x) => line.postMessage(x), () => line.close());
    line.onmessage = ({ data }) => serve(data);
    serve({ join: true });
}

/** From when this tab has the lock until it ends. @param {string} lock @param {() => void} then called when it has it */
function hold(lock, then) {
    navigator.locks.request(lock, () => {
        then();
        return new Promise(() => {});
    });
}
