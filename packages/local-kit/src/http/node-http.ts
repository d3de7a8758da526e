/**
 * The values of `node:http`. Importing that module as ESM evaluates all its exports, and `WebSocket` makes Node load its whole `fetch`. That
 * takes 40 to 70 ms of CPU in every process of a local cloud, most of which never use it. Types are imported as usual.
 */
export const { Agent, createServer, request, STATUS_CODES, validateHeaderName, validateHeaderValue } =
  process.getBuiltinModule('node:http');
