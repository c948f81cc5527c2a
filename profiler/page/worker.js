// The SharedWorker: one stream for all tabs of this browser.
import { Hub } from './hub.js';

const hub = new Hub(new URL('..', self.location.href).href);

self.addEventListener('connect', (event) => {
    const port = /** @type {MessageEvent} */ (event).ports[0];
    const id = Math.random().toString(36).slice(2);
    port.onmessage = ({ data }) => {
        hub.serve(id, data, (m) => port.postMessage(m));
    };
});
