// One stream of frames from the server, begun again as often as needed.
// By fetch() and not by EventSource: that hides the status and the reason of a refusal, and the comments that show that a silent server lives.

const SILENT = 16000; // ms: the server says something each 5 s
const SOONEST = 500, LATEST = 8000; // ms until the next attempt

/**
 * @typedef {{state: 'connecting'|'live'|'waiting'|'refused', what: string, hint: string, retry: number, since: number}} LinkState
 * state   waiting: for the next attempt, at time `retry`; refused: the same, but the server lives and said no
 */

export class Link {
    /**
     * @param {string} base of the server's addresses
     * @param {(frame: any, text: string) => void} onFrame
     * @param {(s: LinkState) => void} onState
     */
    constructor(base, onFrame, onState) {
        this.base = base;
        this.onFrame = onFrame;
        this.onState = onState;
        this.reader = Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, '0')).join('');
        this.last = ''; // id of the last frame: where to go on
        this.interval = 100;
        this.nodes = 4096;
        this.failures = 0;
        this.timer = 0;
        this.turn = 0; // of the stream that counts; earlier ones are to be silent
        /** @type {AbortController|null} */
        this.abort = null;
        /** @type {{reason: string, hint: string}|null} */
        this.bye = null;
    }

    /** @param {Partial<LinkState>} s */
    say(s) {
        this.onState({ state: 'connecting', what: '', hint: '', retry: 0, since: Date.now(), ...s });
    }

    /** @param {number} interval ms between frames */
    want(interval) {
        if (interval === this.interval)
            return;
        this.interval = interval;
        if (this.abort)
            this.open(true);
    }

    /** @param {boolean} [quietly] nothing is wrong: only with another interval */
    open(quietly = false) {
        this.close();
        const turn = ++this.turn;
        this.abort = new AbortController();
        if (!quietly)
            this.say({ state: 'connecting' });
        this.run(turn, this.abort).then(
            () => this.again(turn, 'waiting', this.bye?.reason ?? 'the server has ended the stream', this.bye?.hint ?? ''),
            (e) => this.again(turn, e.state ?? 'waiting', e.what ?? 'the server does not answer', e.hint ?? 'start probeprof again: this page goes on by itself'));
    }

    close() {
        clearTimeout(this.timer);
        this.abort?.abort();
        this.abort = null;
        this.turn++;
    }

    /** @param {number} turn @param {LinkState['state']} state @param {string} what @param {string} hint */
    again(turn, state, what, hint) {
        if (turn !== this.turn)
            return;
        this.abort = null;
        const wait = Math.min(LATEST, SOONEST * 2 ** this.failures++);
        this.say({ state, what, hint, retry: Date.now() + wait });
        this.timer = setTimeout(() => this.open(), wait);
    }

    address() {
        const q = new URLSearchParams({ interval: String(this.interval), view: 'functions,nodes,log,series', nodes: String(this.nodes), reader: this.reader });
        if (this.last)
            q.set('since', this.last);
        return `${this.base}api/1/events?${q}`;
    }

    /** @param {number} turn @param {AbortController} abort */
    async run(turn, abort) {
        this.bye = null;
        const silence = { timer: 0 };
        const heard = () => {
            clearTimeout(silence.timer);
            silence.timer = setTimeout(() => abort.abort(), SILENT);
        };
        heard();
        try {
            const answer = await fetch(this.address(), { signal: abort.signal, headers: { Accept: 'text/event-stream' }, cache: 'no-store' });
            if (!answer.ok || !answer.body)
                throw await this.refusal(answer);
            const take = lines((event) => {
                if (turn !== this.turn)
                    return;
                if (event.id)
                    this.last = event.id;
                this.take(event.data);
            });
            const text = new TextDecoder();
            const from = answer.body.getReader();
            for (;;) {
                const { done, value } = await from.read();
                if (done || turn !== this.turn)
                    return;
                heard();
                take(text.decode(value, { stream: true }));
            }
        } finally {
            clearTimeout(silence.timer);
        }
    }

    /** @param {string} data */
    take(data) {
        const frame = JSON.parse(data);
        if (frame.frame === 'bye')
            this.bye = { reason: String(frame.reason ?? ''), hint: String(frame.hint ?? '') };
        if (frame.frame === 'hello') {
            this.failures = 0;
            this.say({ state: 'live' });
        }
        this.onFrame(frame, data);
    }

    /** What a status other than 200 means to a person. @param {Response} answer */
    async refusal(answer) {
        let error = { what: `the server answers ${answer.status}`, hint: '' };
        try {
            error = { ...error, ...(await answer.json()).error };
        } catch {
            // no JSON: the status says it
        }
        if (answer.status === 410 || answer.status === 400)
            this.last = ''; // starts over, with all of it
        return { state: 'refused', what: error.what, hint: error.hint };
    }
}

/**
 * Server-sent events out of a stream of text.
 * @param {(event: {id: string, data: string}) => void} give
 */
export function lines(give) {
    let rest = '', id = '';
    /** @type {string[]} */
    let data = [];
    return (/** @type {string} */ text) => {
        const all = (rest + text).split('\n');
        rest = all.pop() ?? '';
        for (const raw of all) {
            const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
            if (line.startsWith('data:'))
                data.push(line.slice(line[5] === ' ' ? 6 : 5));
            else if (line.startsWith('id:'))
                id = line.slice(3).trim();
            else if (line === '' && data.length) {
                give({ id, data: data.join('\n') });
                data = [];
            }
        }
    };
}
