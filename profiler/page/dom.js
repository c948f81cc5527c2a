// Elements by function. Text goes in by textContent only: names come from files that nobody vouches for.

/**
 * @param {string} tag with classes: 'div.a.b'
 * @param {Record<string, any>} [attrs] on* listen; `text` is the text; true is an empty attribute, false and null leave it out
 * @param {...(Node|string|null)} kids
 */
export function el(tag, attrs, ...kids) {
    const [name, ...classes] = tag.split('.');
    const e = document.createElement(name);
    if (classes.length)
        e.className = classes.join(' ');
    for (const [k, v] of Object.entries(attrs ?? {})) {
        if (v === false || v === null || v === undefined)
            continue;
        if (k === 'text')
            e.textContent = harmless(String(v));
        else if (k.startsWith('on'))
            e.addEventListener(k.slice(2), v);
        else
            e.setAttribute(k, v === true ? '' : String(v));
    }
    for (const kid of kids)
        if (kid !== null)
            e.append(typeof kid === 'string' ? harmless(kid) : kid);
    return e;
}

// Control characters, and those that turn the direction of text round, so that a name cannot look like another.
const ODD = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** @param {string} s */
export const harmless = (s) => s.replace(ODD, '\ufffd');

/** Writes only what is new: a text that stays costs no layout. @param {Element} e @param {string} s */
export function put(e, s) {
    const t = harmless(s);
    if (e.textContent !== t)
        e.textContent = t;
}

/** @param {Element} e @param {string} name @param {string|null} value */
export function attr(e, name, value) {
    if (value === null)
        e.removeAttribute(name);
    else if (e.getAttribute(name) !== value)
        e.setAttribute(name, value);
}

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
    const e = document.getElementById(id);
    if (!e)
        throw new Error(`no #${id}`);
    return e;
}

/** What a person has set stays for the next visit; a browser that keeps nothing is as good. */
export const kept = {
    /** @param {string} key @param {string} other */
    get(key, other) {
        try {
            return localStorage.getItem('probeprof.' + key) ?? other;
        } catch {
            return other;
        }
    },
    /** @param {string} key @param {string} value */
    set(key, value) {
        try {
            localStorage.setItem('probeprof.' + key, value);
        } catch {
            // private windows may refuse
        }
    },
};

/** Calls fn at most once a drawn frame, and not at all while the tab is hidden. @param {() => void} fn */
export function onceAFrame(fn) {
    let due = false;
    return () => {
        if (due)
            return;
        due = true;
        requestAnimationFrame(() => {
            due = false;
            fn();
        });
    };
}
