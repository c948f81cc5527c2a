// Boxes on boxes: a tree drawn on a canvas, from the root down (icicle) or up (flame). What is too narrow to be seen is not drawn.
import { attr, el, harmless, onceAFrame } from './dom.js';

/**
 * @typedef {object} Box
 * @property {string} key    the same as long as it means the same
 * @property {string} name
 * @property {number} value  width: with all that stands on it
 * @property {boolean} doubtful
 * @property {'fn'|'handler'|'lost'|'other'|'task'|'root'} kind
 * @property {() => Box[]} kids in a stable order
 * @property {any} ref
 * @property {boolean} [little] only a small part of it is in doubt
 * @property {number} [tint] -1 to 1: less or more than what it is compared with
 */
/** @typedef {{box: Box, x: number, w: number, depth: number, up: Drawn|null}} Drawn */

const LEAST = 0.5; // px

export class Boxes {
    /** @param {{label: string, onPick: (box: Box|null) => void, onOpen: (box: Box) => void, onUp: () => void, onPoint: (box: Box|null) => void}} o */
    constructor(o) {
        this.o = o;
        this.up = false; // flame: the root is at the bottom
        this.picked = '';
        this.pointed = '';
        this.match = '';
        /** @type {Box|null} */
        this.root = null;
        /** @type {Box[]} boxes below (or above) it that lead to the root, drawn as wide as all */
        this.trunk = [];
        /** @type {Drawn[]} */
        this.drawn = [];
        this.top = 0; // rows scrolled away
        this.deep = 0;
        this.canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { tabindex: '0', role: 'img', 'aria-label': o.label }));
        this.box = el('div.canvas', {}, this.canvas);
        this.draw = onceAFrame(() => this.paint());
        new ResizeObserver(() => this.draw()).observe(this.box);
        const c = this.canvas;
        c.addEventListener('pointermove', (e) => this.point(this.at(e)));
        c.addEventListener('pointerleave', () => this.point(null));
        c.addEventListener('click', (e) => this.pick(this.at(e)));
        c.addEventListener('dblclick', (e) => this.open(this.at(e)));
        c.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
        c.addEventListener('keydown', (e) => this.key(e));
    }

    /** @param {Box} root @param {Box[]} trunk */
    set(root, trunk) {
        this.root = root;
        this.trunk = trunk;
        this.draw();
    }

    rowHeight() {
        return innerWidth >= 2400 ? 26 : 20;
    }

    paint() {
        const c = this.canvas, w = this.box.clientWidth, h = this.box.clientHeight, scale = devicePixelRatio || 1;
        if (!this.root || w === 0 || h === 0)
            return;
        if (c.width !== Math.round(w * scale) || c.height !== Math.round(h * scale)) {
            c.width = Math.round(w * scale);
            c.height = Math.round(h * scale);
        }
        const g = /** @type {CanvasRenderingContext2D} */ (c.getContext('2d'));
        g.setTransform(scale, 0, 0, scale, 0, 0);
        g.clearRect(0, 0, w, h);
        this.look = colours(this.box);
        g.font = `${this.rowHeight() >= 26 ? 14 : 12}px ${this.look.font}`;
        g.textBaseline = 'middle';
        this.drawn = [];
        this.deep = 0;
        /** @type {Drawn|null} */
        let under = null;
        for (const [i, b] of this.trunk.entries())
            under = this.put(g, b, 0, w, i, under);
        this.place(g, this.root, 0, w, this.trunk.length, under);
        this.clamp();
    }

    clamp() {
        const rows = Math.floor(this.box.clientHeight / this.rowHeight());
        const most = Math.max(0, this.deep + 1 - rows);
        if (this.top > most) {
            this.top = most;
            this.draw();
        }
    }

    /** @param {CanvasRenderingContext2D} g @param {Box} b @param {number} x @param {number} w @param {number} depth @param {Drawn|null} under */
    place(g, b, x, w, depth, under) {
        const mine = this.put(g, b, x, w, depth, under);
        if (b.value <= 0)
            return;
        let at = x;
        for (const kid of b.kids()) {
            const kw = (kid.value / b.value) * w;
            if (kw >= LEAST)
                this.place(g, kid, at, kw, depth + 1, mine);
            at += kw;
        }
    }

    /** @param {number} depth */
    y(depth) {
        const row = depth - this.top, h = this.rowHeight();
        return this.up ? this.box.clientHeight - (row + 1) * h : row * h;
    }

    /** @param {CanvasRenderingContext2D} g @param {Box} b @param {number} x @param {number} w @param {number} depth @param {Drawn|null} under @returns {Drawn} */
    put(g, b, x, w, depth, under) {
        const d = { box: b, x, w, depth, up: under };
        this.drawn.push(d);
        this.deep = Math.max(this.deep, depth);
        const y = this.y(depth), h = this.rowHeight(), look = /** @type {ReturnType<typeof colours>} */ (this.look);
        if (y < -h || y > this.box.clientHeight)
            return d;
        const bw = Math.max(w - (w > 3 ? 1 : 0), LEAST);
        g.fillStyle = look.fill(b);
        g.fillRect(x, y, bw, h - 1);
        if (w > 3)
            this.texture(g, b, x, y, bw, h - 1);
        const away = this.match && !b.name.toLowerCase().includes(this.match);
        if (this.match && w > 2) {
            g.fillStyle = away ? look.veil : 'transparent';
            g.fillRect(x, y, bw, h - 1);
            if (!away)
                frame(g, x, y, bw, h - 1, look.ink, 1.5);
        }
        if (b.key === this.picked)
            frame(g, x, y, bw, h - 1, look.accent, 3);
        else if (b.key === this.pointed)
            frame(g, x, y, bw, h - 1, look.ink, 1);
        if (w > 26)
            this.write(g, (b.doubtful ? '?' : '') + b.name, x, y, bw, h, b, away ? look.soft : look.ink);
        return d;
    }

    /** Doubt, losses and what is left out have a pattern: colour is never alone. @param {CanvasRenderingContext2D} g @param {Box} b @param {number} x @param {number} y @param {number} w @param {number} h */
    texture(g, b, x, y, w, h) {
        const look = /** @type {ReturnType<typeof colours>} */ (this.look);
        if (!b.doubtful && b.kind !== 'lost' && b.kind !== 'other')
            return;
        g.save();
        g.beginPath();
        g.rect(x, y, w, h);
        g.clip();
        g.strokeStyle = look.hatch;
        g.lineWidth = 1;
        g.beginPath();
        const step = b.kind === 'lost' ? 6 : b.little ? 30 : 9;
        if (b.kind === 'other')
            for (let i = 3; i < w; i += 6)
                for (let j = 4; j < h; j += 6)
                    g.rect(x + i, y + j, 1, 1);
        else
            for (let i = -h; i < w; i += step) {
                g.moveTo(x + i, y + h);
                g.lineTo(x + i + h, y);
                if (b.kind === 'lost') {
                    g.moveTo(x + i, y);
                    g.lineTo(x + i + h, y + h);
                }
            }
        g.stroke();
        g.restore();
    }

    /** @param {CanvasRenderingContext2D} g @param {string} name @param {number} x @param {number} y @param {number} w @param {number} h @param {Box} b @param {string} ink */
    write(g, name, x, y, w, h, b, ink) {
        const text = fit(g, harmless(name), w - 8);
        if (!text)
            return;
        if (b.doubtful || b.kind === 'lost' || b.kind === 'other') {
            g.fillStyle = /** @type {ReturnType<typeof colours>} */ (this.look).fill(b); // letters do not stand on lines
            g.fillRect(x + 2, y + 2, g.measureText(text).width + 4, h - 5);
        }
        g.fillStyle = ink;
        g.fillText(text, x + 4, y + h / 2);
    }

    /** @param {PointerEvent|MouseEvent} e @returns {Drawn|null} */
    at(e) {
        for (let i = this.drawn.length - 1; i >= 0; i--) {
            const d = this.drawn[i], y = this.y(d.depth);
            if (e.offsetX >= d.x && e.offsetX < d.x + d.w && e.offsetY >= y && e.offsetY < y + this.rowHeight())
                return d;
        }
        return null;
    }

    /** @param {Drawn|null} d */
    point(d) {
        const key = d?.box.key ?? '';
        if (key === this.pointed)
            return;
        this.pointed = key;
        this.o.onPoint(d?.box ?? null);
        this.draw();
    }

    /** @param {Drawn|null} d */
    pick(d) {
        this.picked = d?.box.key ?? '';
        this.o.onPick(d?.box ?? null);
        this.draw();
    }

    /** @param {Drawn|null} d */
    open(d) {
        if (d)
            this.o.onOpen(d.box);
    }

    /** @param {WheelEvent} e */
    wheel(e) {
        if (e.ctrlKey || this.deep * this.rowHeight() < this.box.clientHeight)
            return;
        this.top = Math.max(0, this.top + (this.up ? -1 : 1) * Math.sign(e.deltaY));
        e.preventDefault();
        this.draw();
    }

    chosen() {
        return this.drawn.find((d) => d.box.key === this.picked) ?? null;
    }

    /** @param {KeyboardEvent} e */
    key(e) {
        if (e.ctrlKey || e.altKey || e.metaKey)
            return;
        const d = this.chosen(), outward = this.up ? 'ArrowUp' : 'ArrowDown', inward = this.up ? 'ArrowDown' : 'ArrowUp';
        let to = d;
        if (!d)
            to = e.key.startsWith('Arrow') ? this.drawn[this.trunk.length] : null;
        else if (e.key === outward)
            to = this.widest(d);
        else if (e.key === inward)
            to = d.up;
        else if (e.key === 'ArrowLeft' || e.key === 'ArrowRight')
            to = this.beside(d, e.key === 'ArrowLeft' ? -1 : 1);
        if (e.key === 'Enter' || e.key === '+')
            this.open(d);
        else if (e.key === 'Backspace' || e.key === '-')
            this.o.onUp();
        else if (!e.key.startsWith('Arrow'))
            return;
        else if (to)
            this.reveal(to);
        e.preventDefault();
        e.stopPropagation();
    }

    /** @param {Drawn} d */
    widest(d) {
        return this.drawn.filter((x) => x.up === d).reduce((a, b) => (a && a.w >= b.w ? a : b), /** @type {Drawn|null} */ (null)) ?? d;
    }

    /** @param {Drawn} d @param {number} step */
    beside(d, step) {
        const row = this.drawn.filter((x) => x.depth === d.depth).sort((a, b) => a.x - b.x);
        return row[row.indexOf(d) + step] ?? d;
    }

    /** @param {Drawn} d */
    reveal(d) {
        const rows = Math.floor(this.box.clientHeight / this.rowHeight());
        if (d.depth < this.top)
            this.top = d.depth;
        else if (d.depth >= this.top + rows)
            this.top = d.depth - rows + 1;
        this.pick(d);
        attr(this.canvas, 'aria-label', `${this.o.label}: ${harmless(d.box.name)}`);
    }
}

/** @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h @param {string} colour @param {number} line */
function frame(g, x, y, w, h, colour, line) {
    g.strokeStyle = colour;
    g.lineWidth = line;
    g.strokeRect(x + line / 2, y + line / 2, Math.max(w - line, 0.5), h - line);
}

/** As much of a text as fits. @param {CanvasRenderingContext2D} g @param {string} s @param {number} w */
export function fit(g, s, w) {
    if (g.measureText(s).width <= w)
        return s;
    let low = 0, high = s.length;
    while (low < high) {
        const mid = (low + high + 1) >> 1;
        if (g.measureText(s.slice(0, mid) + '\u2026').width <= w)
            low = mid;
        else
            high = mid - 1;
    }
    return low > 1 ? s.slice(0, low) + '\u2026' : '';
}

/** @param {string} s */
export function hue(s) {
    let h = 2166136261;
    for (let i = 0; i < s.length; i++)
        h = Math.imul(h ^ s.charCodeAt(i), 16777619);
    return (h >>> 0) % 360;
}

/** Colours of the theme that is on. @param {Element} e */
export function colours(e) {
    const css = getComputedStyle(e), get = (/** @type {string} */ n) => css.getPropertyValue(n).trim();
    const dark = document.documentElement.dataset.shade === 'dark';
    const sat = dark ? 30 : 52, bright = dark ? 28 : 84;
    return {
        dark, ink: get('--ink'), soft: get('--soft'), line: get('--line'), accent: get('--accent'), paper: get('--paper'), unseen: get('--unseen'), bar: get('--bar'), bar2: get('--bar2'),
        warn: get('--warn'), bad: get('--bad'), good: get('--good'), font: css.fontFamily,
        hatch: dark ? 'rgb(255 255 255 / .38)' : 'rgb(0 0 0 / .34)', veil: dark ? 'rgb(21 23 26 / .72)' : 'rgb(251 251 249 / .78)',
        /** @param {Box} b */
        fill(b) {
            if (b.kind === 'lost' || b.kind === 'other' || b.kind === 'root')
                return get('--panel');
            if (b.tint !== undefined) {
                const much = Math.min(1, Math.abs(b.tint));
                return `hsl(${b.tint > 0 ? 4 : 212} ${Math.round(much * 70)}% ${dark ? 22 + Math.round(much * 12) : 94 - Math.round(much * 22)}%)`;
            }
            return `hsl(${b.kind === 'handler' ? 285 : hue(b.name)} ${sat}% ${bright}%)`;
        },
    };
}
