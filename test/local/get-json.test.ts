import { createServer, type RequestListener } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { getJson, type Ready } from '../../packages/local/src/cloud-process.ts';

const LIMITS = { allMs: 700, oneMs: 200 };

let stop = () => {};
afterEach(() => stop());

async function cloud(answer: RequestListener): Promise<Ready> {
  const server = createServer(answer);
  stop = () => {
    server.close();
    server.closeAllConnections();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { gateway: `http://127.0.0.1:${port}`, apiKey: 'key' } as Ready;
}

test('a cloud that stays too busy is asked until the limit', async () => {
  let requests = 0;
  const ready = await cloud((_, response) => {
    requests += 1;
    response.writeHead(503).end('busy');
  });
  await expect(getJson(ready, '/v1/runs', LIMITS)).rejects.toThrow(
    /^GET \/v1\/runs: (?:503 busy|no answer)$/,
  );
  expect(requests).toBeGreaterThan(0);
  expect(requests).toBeLessThan(10);
});

test.each([
  ['a request', (_: unknown, _response: { write(text: string): void }) => {}],
  ['a body', (_: unknown, response: { write(text: string): void }) => response.write('{')],
])('%s that never ends is given up, and the next one answers', async (_, first) => {
  let requests = 0;
  const ready = await cloud((request, response) => {
    requests += 1;
    if (requests === 1) first(request, response);
    else response.end('{"is":"there"}');
  });
  expect(await getJson(ready, '/v1/runs', { allMs: 60_000, oneMs: 200 })).toEqual({ is: 'there' });
});

test('a cloud that never answers is given up at the limit', async () => {
  const ready = await cloud(() => {});
  await expect(getJson(ready, '/v1/runs', LIMITS)).rejects.toThrow('GET /v1/runs: no answer');
});

test('another status is an error at once', async () => {
  let requests = 0;
  const ready = await cloud((_, response) => {
    requests += 1;
    response.writeHead(404).end('none');
  });
  await expect(getJson(ready, '/v1/runs')).rejects.toThrow('GET /v1/runs: 404 none');
  expect(requests).toBe(1);
});
