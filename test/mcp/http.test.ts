import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Role } from '../../packages/cairn/src/ports/access/client-store.ts';
import { mcpFunction, mcpHandler } from '../../packages/mcp/src/index.ts';
import { Stage } from '../cli/support/stage.ts';
import { clientOf } from './agent.ts';

const stage = new Stage();
let server: Server;
let url: URL;
const requests: string[] = [];

beforeAll(async () => {
  const { url: api, fetch } = await clientOf(stage, { before: (target) => requests.push(target) });
  const functionOf = mcpFunction({ url: () => api, fetch });
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url: path = '', headers } = request;
    // As the platform hands a request over.
    await functionOf({ method, url: path, headers, rawBody: Buffer.concat(chunks) }, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

async function agentOf(credential: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${credential}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}

async function keyOf(role: Role, tenantId = 't1'): Promise<string> {
  return stage.installation.key(`http-${role}-${tenantId}`, { tenantId, roles: [role] });
}

async function call(client: Client, name: string, args: Record<string, unknown>) {
  const { structuredContent, isError = false } = await client.callTool({ name, arguments: args });
  // biome-ignore lint/suspicious/noExplicitAny: the data of any tool
  return { isError, data: structuredContent as any };
}

test('each request is served as its caller: previews, acts, and nothing of another tenant', async () => {
  const agent = await agentOf(await keyOf('submitter'));
  const start = { type: 'echo', input: { text: 'hello' } };
  const preview = await call(agent, 'preview_start_run', start);
  const started = await call(agent, 'start_run', { ...start, token: preview.data.token });
  expect(started).toMatchObject({ isError: false, data: { type: 'echo', status: 'pending' } });
  const other = await agentOf(await keyOf('operator', 't2'));
  const unseen = await call(other, 'get_run', { runId: started.data.runId });
  expect(unseen.data.error.code).toBe('RUN_NOT_FOUND');
  const stolen = await call(other, 'start_run', { ...start, token: preview.data.token });
  expect(stolen.data.error.code).toBe('TOKEN_MISMATCH');
  await Promise.all([agent.close(), other.close()]);
});

test('without a valid credential nothing is answered, not even the list of tools', async () => {
  const post = (headers: Record<string, string>) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
  const before = requests.length;
  const none = await post({});
  expect([none.status, none.headers.get('www-authenticate'), requests.length]).toEqual([
    401,
    'Bearer',
    before,
  ]);
  expect(await none.json()).toMatchObject({ code: 'UNAUTHENTICATED', help: expect.any(String) });
  const wrong = await post({ authorization: 'Bearer cairn_nobody_abcdefghijklmnopqrstuvwxyz012345' });
  expect([wrong.status, (await wrong.json()) as unknown]).toEqual([
    401,
    expect.objectContaining({ code: 'UNAUTHENTICATED' }),
  ]);
  await expect(agentOf('cairn_nobody_abcdefghijklmnopqrstuvwxyz012345')).rejects.toThrow();
});

test('an API that does not respond is a refusal, and the error goes to the log', async () => {
  const errors: string[] = [];
  const handle = mcpHandler({
    url: 'https://runs.test',
    fetch: async () => {
      throw new TypeError('connection refused');
    },
    onError: ({ message }) => errors.push(message),
  });
  const headers = { authorization: 'Bearer key' };
  const answer = await handle(new Request('https://mcp.test/mcp', { method: 'POST', headers, body: '{}' }));
  expect([answer.status, await answer.json()]).toEqual([
    503,
    expect.objectContaining({ code: 'UNAVAILABLE', help: expect.any(String) }),
  ]);
  expect(errors).toEqual([expect.stringContaining('connection refused')]);
});

test('a method that no web-standard request has is refused', async () => {
  const statuses: number[] = [];
  await mcpFunction({ url: 'https://runs.test' })(
    { method: 'TRACE', url: '/mcp', headers: {} },
    { writeHead: (status) => statuses.push(status), end: () => {} },
  );
  expect(statuses).toEqual([405]);
});
