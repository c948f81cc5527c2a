// Where the one stream of this browser ends: keeps the state, and hands frames to every tab. It runs in a SharedWorker, or in the tab that leads.
import { Link } from './link.js';
import { Model } from './model.js';

const HIDDEN = 1000; // ms between frames for a tab that nobody sees
const MOST = 2; // messages under way to a tab: one that it works on, one that waits. A tab that is slow, or frozen, gets what is new in one piece later

/** @typedef {{joined?: boolean, tabs?: number, link?: any, hello?: any, frame?: any, text?: string, id?: string, bye?: any}} Message in the order in which a tab takes its parts */
/**
 * @typedef {object} Client
 * @property {(message: Message) => void} post
 * @property {() => void} gone
 * @property {boolean} hidden
 * @property {number} slow the least ms between frames that it wants
 * @property {number} known version of the hub's state that it has
 * @property {number} sent when it got a frame; 0: what is new is for it at once
 * @property {number} underWay messages that it has not said to have taken
 * @property {Message} owed what else the next one is to say
 */

export class Hub {
    /** @param {string} base */
    constructor(base) {
        this.model = new Model();
        /** @type {Map<string, Client>} */
        this.clients = new Map();
        /** @type {any} */
        this.state = { state: 'connecting', what: '', hint: '', retry: 0, since: Date.now() };
        this.link = new Link(base, (f, text) => this.frame(f, text), (s) => this.say(s));
        this.timer = 0;
    }

    /** @param {string} id @param {(message: Message) => void} post @param {() => void} gone called when it leaves, or joins again */
    join(id, post, gone) {
        if (this.clients.size === 0)
            this.link.open();
        this.clients.get(id)?.gone();
        /** @type {Message} */
        const owed = { joined: true, link: this.state };
        if (this.model.hello)
            owed.hello = this.model.hello;
        this.clients.set(id, { post, gone, hidden: false, slow: 0, known: 0, sent: 0, underWay: 0, owed });
        this.everybody({ tabs: this.clients.size });
        this.pace();
    }

    /** @param {string} id */
    leave(id) {
        const c = this.clients.get(id);
        if (!c)
            return;
        this.clients.delete(id);
        c.gone();
        this.everybody({ tabs: this.clients.size });
        if (this.clients.size === 0)
            this.link.close();
        else
            this.pace();
    }

    /** A tab holds its lock as long as it lives: it may end without a word. @param {string} id @param {string} lock */
    watch(id, lock) {
        if (navigator.locks)
            navigator.locks.request(lock, () => this.leave(id));
    }

    /** What a tab says of itself. @param {string} id @param {{hidden?: boolean, slow?: number, again?: boolean, took?: boolean}} m */
    heard(id, m) {
        const c = this.clients.get(id);
        if (!c)
            return;
        if (m.took) {
            c.underWay = Math.max(0, c.underWay - 1);
            this.send(c);
            return;
        }
        c.hidden = m.hidden ?? c.hidden;
        c.slow = m.slow ?? c.slow;
        if (m.again)
            this.link.open();
        if (!c.hidden)
            c.sent = 0;
        this.send(c);
        this.pace();
    }

    /** A tab's message. @param {string} id @param {any} m @param {(x: Message) => void} post how to answer that tab when it joins @param {() => void} [gone] */
    serve(id, m, post, gone = () => {}) {
        if (m.lock)
            this.watch(id, m.lock);
        else if (m.bye)
            this.leave(id);
        else if (m.join)
            this.join(id, post, gone);
        else
            this.heard(id, m);
    }

    pace() {
        const least = Math.min(...[...this.clients.values()].map((c) => (c.hidden ? HIDDEN : c.slow || 100)));
        this.link.want(least);
    }

    /** @param {any} s */
    say(s) {
        this.state = s;
        this.everybody({ link: s });
    }

    /** @param {Message} what */
    everybody(what) {
        for (const c of this.clients.values()) {
            Object.assign(c.owed, what);
            this.send(c);
        }
    }

    /** @param {any} frame @param {string} text the same as it came: a text goes to a tab many times faster than thousands of rows */
    frame(frame, text) {
        const before = this.model.ver;
        this.model.apply(frame);
        if (frame.frame !== 'snap' && frame.frame !== 'delta') {
            this.word(frame, before);
            return;
        }
        this.model.id = this.link.last;
        for (const c of this.clients.values())
            this.send(c, c.known === before || frame.frame === 'snap' ? text : '');
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.rest(), HIDDEN); // who waits gets the last frame also when no other follows
    }

    /** A frame without figures. @param {any} frame @param {number} before */
    word(frame, before) {
        for (const c of this.clients.values()) {
            if (c.known === before)
                c.known = this.model.ver;
            if (frame.frame === 'hello')
                delete c.owed.bye;
        }
        if (frame.frame === 'hello' || frame.frame === 'bye')
            this.everybody({ [frame.frame]: frame });
    }

    rest() {
        for (const c of this.clients.values()) {
            c.sent = 0;
            this.send(c);
        }
    }

    /** What a client is owed, unless enough is under way to it: then that goes on when it has taken some. @param {Client} c @param {string} [text] of what is new */
    send(c, text) {
        if (c.underWay >= MOST)
            return;
        const now = Date.now(), least = c.hidden ? HIDDEN : c.slow;
        if (this.model.id && c.known < this.model.ver && now - c.sent >= least * 0.9) {
            Object.assign(c.owed, text ? { text, id: this.model.id } : { frame: this.model.encode(c.known) });
            c.known = this.model.ver;
            c.sent = now;
        }
        const message = c.owed;
        if (Object.keys(message).length === 0)
            return;
        c.owed = {};
        c.underWay++;
        c.post(message);
    }
}
