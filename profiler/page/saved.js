// What is in a page that was saved as one file (profiler/page/saved.c): frames, and what a server would have answered.

/** @typedef {{file: string, frames: any[], answers: Record<string, any>}} Saved */

/** @returns {Saved|null} null: the page came from a server */
function read() {
    const e = document.getElementById('saved');
    return e ? JSON.parse(e.textContent ?? '') : null;
}

export const saved = read();

/** @typedef {{ok: true, body: any} | {ok: false, status: number, what: string, hint: string}} Answer */

/** @param {string} path @returns {Answer} */
export function savedAnswer(path) {
    if (saved && Object.hasOwn(saved.answers, path))
        return { ok: true, body: saved.answers[path] };
    return { ok: false, status: 404, what: 'This page was saved to a file, which does not hold that', hint: `probeprof view ${saved?.file ?? 'FILE'} shows all of it` };
}
