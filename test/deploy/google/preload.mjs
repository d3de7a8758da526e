/**
 * Loaded into firebase-tools before itself (`NODE_OPTIONS=--import`): each `fetch` goes to the pretended Google at
 * PRETENDED_GOOGLE with the address that was meant in a header, and to nobody else.
 */
const google = process.env.PRETENDED_GOOGLE;
const LOCAL = ['127.0.0.1', 'localhost'];
const real = globalThis.fetch;

/** Waits of firebase-tools between two attempts, in milliseconds. */
const WAITS = [20_000, 40_000, 80_000, 100_000];
const wait = globalThis.setTimeout;
if (google)
  globalThis.setTimeout = Object.assign(
    (then, ms, ...given) => wait(then, WAITS.includes(ms) ? 1 : ms, ...given),
    wait,
  );

if (google) {
  globalThis.fetch = async (resource, options = {}) => {
    const meant = new URL(resource instanceof Request ? resource.url : String(resource));
    if (LOCAL.includes(meant.hostname)) return real(resource, options);
    const headers = new Headers(options.headers);
    // `Connection` and the like are what fetch itself says.
    headers.delete('connection');
    headers.set('x-meant-for', meant.href);
    return real(google, { ...options, headers, method: 'POST', ...bodyOf(options, headers) });
  };
}

function bodyOf(options, headers) {
  headers.set('x-meant-method', options.method ?? 'GET');
  return options.body === undefined || options.body === null ? { body: '' } : { body: options.body };
}
