// Commands to the server, and the dialogs that ask for what they need.
import { BASE } from './store.js';
import { count } from './num.js';
import { el } from './dom.js';
import { saved, savedAnswer } from './saved.js';

/** @typedef {{ok: true, body: any} | {ok: false, status: number, what: string, hint: string}} Answer */

/** @param {string} path @param {any} body @returns {Promise<Answer>} */
export async function post(path, body) {
    if (saved)
        return savedAnswer(path);
    try {
        const r = await fetch(BASE + path, { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Probeprof': '1' }, body: JSON.stringify(body) });
        return await answer(r);
    } catch {
        return { ok: false, status: 0, what: 'the server does not answer', hint: 'is probeprof still running?' };
    }
}

/** @param {string} path @returns {Promise<Answer>} */
export async function get(path) {
    if (saved)
        return savedAnswer(path);
    try {
        return await answer(await fetch(BASE + path, { cache: 'no-store' }));
    } catch {
        return { ok: false, status: 0, what: 'the server does not answer', hint: 'is probeprof still running?' };
    }
}

/** @param {Response} r @returns {Promise<Answer>} */
async function answer(r) {
    const text = await r.text();
    let body = null;
    try {
        body = text ? JSON.parse(text) : null;
    } catch {
        body = text;
    }
    if (r.ok)
        return { ok: true, body };
    const e = body?.error ?? {};
    return { ok: false, status: r.status, what: String(e.what ?? `the server answers ${r.status}`), hint: String(e.hint ?? '') };
}

/** Rows of a `mark` frame as maps. @param {any} frame @param {string} name @returns {import('./lens.js').Mark} */
export function markOf(frame, name) {
    return {
        name, tot: (frame.tot ?? [0, 0, 0]).map(count),
        f: new Map((frame.f ?? []).map((/** @type {any[]} */ r) => [r[0], r.slice(1, 8).map(count)])),
        n: new Map((frame.n ?? []).map((/** @type {any[]} */ r) => [r[0], r.slice(3, 8).map(count)])),
    };
}

/**
 * Asks for something in a dialog. Resolves to the fields' values, or null.
 * @param {string} title @param {(HTMLElement|string)[]} body @param {string} yes
 * @returns {Promise<Record<string, string>|null>}
 */
export function ask(title, body, yes) {
    return new Promise((done) => {
        const form = /** @type {HTMLFormElement} */ (el('form', { method: 'dialog' }, el('h2', { text: title, id: 'ask-title' }), ...body,
            el('div.buttons', {}, el('button', { type: 'button', text: 'Cancel', onclick: () => d.close('no') }), el('button.main', { type: 'submit', text: yes, value: 'yes' }))));
        const d = /** @type {HTMLDialogElement} */ (el('dialog', { 'aria-labelledby': 'ask-title' }, form));
        form.addEventListener('submit', (e) => {
            e.preventDefault();
            d.close('yes');
        });
        d.addEventListener('close', () => {
            const fields = Object.fromEntries([...new FormData(form)].map(([k, v]) => [k, String(v)]));
            d.remove();
            done(d.returnValue === 'yes' ? fields : null);
        });
        document.body.append(d);
        d.showModal();
    });
}

/** @param {string} title @param {(HTMLElement|string)[]} body */
export function tell(title, ...body) {
    const d = /** @type {HTMLDialogElement} */ (el('dialog', { 'aria-labelledby': 'tell-title' }, el('h2', { text: title, id: 'tell-title', tabindex: '-1', autofocus: true }), ...body,
        el('div.buttons', {}, el('button.main', { text: 'Close', onclick: () => d.close() }))));
    d.addEventListener('close', () => d.remove());
    document.body.append(d);
    d.showModal();
}
