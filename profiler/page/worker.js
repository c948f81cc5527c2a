// The SharedWorker: one stream for all tabs of this browser.
import { Hub } from './hub.js';

const hub = new Hub(new URL('..', self.location.href).href);

self.addEventListener('connect', (event) => {
    const port = /** @type {MessageEvent} */ (event).ports[0];
    const id = Math.random().toString(36).slice(2);
    port.onmessage = ({ data }) => {
        if (data.lock && navigator.locks) // held by the tab as long as it lives
            navigator.locks.request(data.lock, () => hub.leave(id));
        if (data.bye)
            hub.leave(id);
        else if (data.join)
            hub.join(id, (m) => port.postMessage(m));
        else
            hub.heard(id, data);
    };
});
