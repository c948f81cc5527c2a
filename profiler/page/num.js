// Counts: numbers while they are exact, BigInt beyond 2^53 (the feed sends those as strings).

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** @typedef {number|bigint} Count */

/** What a frame has in place of a count. @param {unknown} x @returns {Count} */
export function count(x) {
    if (typeof x === 'number')
        return x;
    if (typeof x === 'string' && /^-?\d+$/.test(x))
        return narrow(BigInt(x));
    return 0;
}

/** @param {bigint} b @returns {Count} */
function narrow(b) {
    return b <= SAFE && b >= -SAFE ? Number(b) : b;
}

/** @param {Count} a @param {Count} b @returns {Count} */
export function sub(a, b) {
    if (typeof a === 'number' && typeof b === 'number')
        return a - b;
    return narrow(whole(a) - whole(b));
}

/** @param {Count} a @param {Count} b @returns {Count} */
export function add(a, b) {
    if (typeof a === 'number' && typeof b === 'number') {
        const s = a + b;
        if (Number.isSafeInteger(s) || !Number.isSafeInteger(a) || !Number.isSafeInteger(b))
            return s;
    }
    return narrow(whole(a) + whole(b));
}

/** @param {Count} a */
function whole(a) {
    return typeof a === 'bigint' ? a : BigInt(Math.round(a));
}

/** For shares, sorting and drawing, where a double is enough. @param {Count} a */
export const num = (a) => (typeof a === 'bigint' ? Number(a) : a);

const group = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** Every digit, in groups. @param {Count} a */
export const exact = (a) => group.format(a);

/** Every digit, without groups: what scripts and tests compare. @param {Count} a */
export const plain = (a) => (typeof a === 'bigint' ? a.toString() : String(a));

const STEPS = /** @type {[number, string][]} */ ([[1e18, 'E'], [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]);

/** Four digits and a letter, as the program's own tables have it: 22.53M. @param {Count} a */
export function brief(a) {
    const n = num(a);
    const m = Math.abs(n);
    if (m < 99999.5)
        return Number.isInteger(n) ? String(n) : m >= 100 ? n.toFixed(0) : m >= 1 ? n.toFixed(1) : n.toFixed(2);
    for (const [unit, letter] of STEPS)
        if (m >= unit * 0.99995) {
            const x = n / unit;
            const digits = Math.abs(x) >= 999.95 ? 0 : Math.abs(x) >= 99.995 ? 1 : 2;
            return x.toFixed(digits) + letter;
        }
    return String(n);
}

/** As much as ten digits in full, more of them briefly. @param {Count} a */
export const shown = (a) => (Math.abs(num(a)) < 1e9 ? exact(a) : brief(a));

/** With the sign in front, for differences. @param {Count} a */
export const signed = (a) => (num(a) > 0 ? '+' : num(a) < 0 ? '\u2212' : '') + exact(a < 0 ? sub(0, a) : a);

/** A share as per cent. @param {number} x between 0 and 1 */
export function percent(x) {
    if (!Number.isFinite(x))
        return '\u2013';
    const p = x * 100;
    if (p > 0 && p < 0.05)
        return '<0.1';
    if (p > 99.95 && p < 100)
        return '>99.9';
    return p.toFixed(1);
}

/** A time span in words short enough for a line. @param {number} ms */
export function span(ms) {
    const s = ms / 1000;
    if (s < 1)
        return `${Math.round(ms)} ms`;
    if (s < 10)
        return `${s.toFixed(1)} s`;
    if (s < 120)
        return `${Math.round(s)} s`;
    if (s < 7200)
        return `${Math.round(s / 60)} min`;
    return `${(s / 3600).toFixed(1)} h`;
}

/** The time of day. @param {number} ms since 1970 */
export const clock = (ms) => new Date(ms).toLocaleTimeString('en-GB');
