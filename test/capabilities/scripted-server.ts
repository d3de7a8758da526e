/** An HTTP server that answers what a test has written down, and notes what it was asked. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** `cut`: the connection breaks after the request was read. `hang`: nothing is answered. */
export type Scripted =
  | 'cut'
  | 'hang'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown };

export interface ScriptedServer {
  readonly url: string;
  readonly asked: Asked[];
  /** Taken one after the other; the last one stays. */
  answers: Scripted[];
  stop(): Promise<void>;
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  const state: Pick<ScriptedServer, 'asked' | 'answers'> = { asked: [], answers: [] };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { method = '', url: path = '', headers } = request;
    state.asked.push({ method, path, headers, body: text === '' ? undefined : JSON.parse(text) });
    const answer = state.answers.length > 1 ? state.answers.shift() : state.answers[0];
    if (answer === 'hang') return;
    if (answer === undefined || answer === 'cut') return void request.socket.destroy();
    const { status, headers: more = {}, body = {} } = answer;
    const type = typeof body === 'string' ? 'text/plain' : 'application/json';
    response.writeHead(status, { 'content-type': type, ...more });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  });
}

/** A port without a listener: it was free a moment ago. */
export async function deadUrl(): Promise<string> {
  const server = await startScriptedServer();
  await server.stop();
  return server.url;
}

/** Error of a call that must fail. */
export async function thrownBy(call: Promise<unknown>): Promise<Error> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('the call did not throw an error');
}
