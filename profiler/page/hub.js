// Where the one stream of this browser ends: keeps the state, and hands frames to every tab. It runs in a SharedWorker, or in the tab that leads.
import { Link } from './link.js';
import { Model } from './model.js';

const HIDDEN = 1000; // ms between frames for a tab that nobody sees

/**
 * @typedef {object} Client
 * @property {(message: any) => void} post
 * @property {boolean} hidden
 * @property {number} slow the least ms between frames that it wants
 * @property {number} known version of the hub's state that it has
 * @property {number} sent when
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

    /** @param {string} id @param {(message: any) => void} post */
    join(id, post) {
        if (this.clients.size === 0)
            this.link.open();
        this.clients.set(id, { post, hidden: false, slow: 0, known: 0, sent: 0 });
        const c = /** @type {Client} */ (this.clients.get(id));
        c.post({ link: this.state, tabs: this.clients.size });
        if (this.model.hello)
            c.post({ frame: this.model.hello });
        if (this.model.id)
            this.give(c);
        this.everybody({ tabs: this.clients.size });
        this.pace();
    }

    /** @param {string} id */
    leave(id) {
        if (!this.clients.delete(id))
            return;
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

    /** What a tab says of itself. @param {string} id @param {{hidden?: boolean, slow?: number, again?: boolean}} m */
    heard(id, m) {
        const c = this.clients.get(id);
        if (!c)
            return;
        c.hidden = m.hidden ?? c.hidden;
        c.slow = m.slow ?? c.slow;
        if (m.again)
            this.link.open();
        if (!c.hidden && this.model.id)
            this.give(c);
        this.pace();
    }

    /** A tab's message. @param {string} id @param {any} m @param {(x: any) => void} post how to answer that tab */
    serve(id, m, post) {
        if (m.lock)
            this.watch(id, m.lock);
        else if (m.bye)
            this.leave(id);
        else if (m.join)
            this.join(id, post);
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

    /** @param {any} message */
    everybody(message) {
        for (const c of this.clients.values())
            c.post(message);
    }

    /** @param {any} frame @param {string} text the same as it came: a text goes to a tab many times faster than thousands of rows */
    frame(frame, text) {
        const before = this.model.ver;
        this.model.apply(frame);
        if (frame.frame !== 'snap' && frame.frame !== 'delta') {
            this.everybody({ frame });
            return;
        }
        this.model.id = this.link.last;
        const now = Date.now();
        for (const c of this.clients.values()) {
            const least = c.hidden ? HIDDEN : c.slow;
            if (now - c.sent < least * 0.9)
                continue; // it gets what is new with a later frame
            if (c.known === before || frame.frame === 'snap') {
                c.post({ text, id: this.model.id });
                c.known = this.model.ver;
                c.sent = now;
            } else {
                this.give(c);
            }
        }
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.rest(), HIDDEN); // who waits gets the last frame also when no other follows
    }

    rest() {
        for (const c of this.clients.values())
            if (c.known < this.model.ver)
                this.give(c);
    }

    /** Everything that a client does not know. @param {Client} c */
    give(c) {
        if (c.known >= this.model.ver)
            return;
        c.post({ frame: this.model.encode(c.known) });
        c.known = this.model.ver;
        c.sent = Date.now();
    }
}
