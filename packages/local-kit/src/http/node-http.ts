/**
 * The values of `node:http`. To import that module reads all that it exports, and for `WebSocket` among them Node loads the whole of its
 * `fetch`: 40 to 70 ms of CPU in every process of a local cloud, most of which never call it. Types are imported as usual.
 */
export const { Agent, createServer, request, STATUS_CODES, validateHeaderName, validateHeaderValue } =
  process.getBuiltinModule('node:http');
