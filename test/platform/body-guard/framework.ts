/**
 * A process that reads bodies as Google's functions framework does before it calls a function: inflated and parsed, up to
 * 1,024 MB. It serves one function that tells how many bytes it was given, and of which type.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import '../../../functions/src/index.ts';
import { contentTypeOf } from '../../../packages/cairn/src/platform/body-guard.ts';

const keep = (request: IncomingMessage, _response: ServerResponse, rawBody: Buffer) => {
  Object.assign(request, { rawBody });
};
const options = { limit: '1024mb', verify: keep };
const app = express();
// Otherwise Express writes each refused request to the log of the tests.
app.set('env', 'test');
app.use(
  express.json(options),
  express.text(options),
  express.urlencoded({ ...options, extended: true }),
  express.raw({ ...options, type: '*/*' }),
);
app.use((request, response) => {
  const { rawBody } = request as unknown as { rawBody?: Buffer };
  const isParsed = request.body !== undefined && !Buffer.isBuffer(request.body);
  response.json({ bytes: rawBody?.length ?? 0, type: contentTypeOf(request), isParsed });
});
const server = createServer(app);
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
