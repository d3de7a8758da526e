/** The pretended Google as a server on this machine, for programs that `preload.mjs` is loaded into. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { answer } from './answer.ts';
import type { Google, Json } from './model.ts';

export interface GoogleServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function serveGoogle(google: Google): Promise<GoogleServer> {
  const server = createServer((request, response) => {
    void (async () => {
      const bytes = await buffer(request);
      const { 'x-meant-for': meant, 'x-meant-method': method } = request.headers;
      const { status, headers, body } = await answer(google, {
        method: String(method),
        url: new URL(String(meant)),
        body: parsed(bytes),
      });
      if (status === undefined) return void request.socket.destroy();
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    })().catch((error: unknown) => {
      google.unanswered.push(String(error));
      response.writeHead(500).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Undefined for what is not JSON, such as an archive of sources. */
function parsed(bytes: Buffer): Json | undefined {
  if (bytes[0] !== 0x7b && bytes[0] !== 0x5b) return undefined;
  return JSON.parse(bytes.toString()) as Json;
}
