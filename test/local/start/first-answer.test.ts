import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  assertPlansUnchangedAtStart,
  PlansChangedError,
  planFindings,
} from '../../../packages/local/src/changed-plans.ts';

const VERSION = { planVersion: 1, deployed: true, liveRuns: 0, changed: ['a step is gone'] };
const changed = [{ type: 'order', newest: 1, versions: [VERSION] }];

let server: Server;
let asked: number;
/** Lets the request time out. */
let timeOut: () => void;
/** Answers to the requests in order; later requests get none. */
let answers: readonly ((response: ServerResponse) => void)[];

beforeEach(async () => {
  asked = 0;
  server = createServer((_, response) => {
    (answers[asked] ?? silence)(response);
    asked += 1;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterEach(async () => {
  server.closeAllConnections();
  await once(server.close(), 'close');
});

const says = (items: unknown) => (response: ServerResponse) => void response.end(JSON.stringify({ items }));
const silence = () => timeOut();
/** Sends only a part of the answer. */
const half = (response: ServerResponse) => void response.write('{"items":', () => timeOut());

function compared(tries: number): Promise<unknown> {
  const { port } = server.address() as AddressInfo;
  return assertPlansUnchangedAtStart((path, signal) => fetch(`http://127.0.0.1:${port}${path}`, { signal }), {
    answerMs: 200,
    tries,
    timeout() {
      const controller = new AbortController();
      timeOut = () => controller.abort(new DOMException('time is up', 'TimeoutError'));
      return controller.signal;
    },
  });
}

describe('functions that were just started', () => {
  test.each([
    ['is silent', silence],
    ['stops half way', half],
  ])('are asked again where the first answer %s', async (_, first) => {
    answers = [first, silence, says([])];
    await compared(3);
    expect(asked).toBe(3);
  });

  test('that do not respond are named, with what to do', async () => {
    answers = [];
    const failure = compared(2);
    await expect(failure).rejects.toThrow(
      /^the function 'api' did not answer within 0.4 s, .* then start again/,
    );
    expect(asked).toBe(2);
  });

  test('are called once if they respond, whatever the response', async () => {
    answers = [says(changed)];
    await expect(compared(3)).rejects.toThrow(PlansChangedError);
    answers = [silence, (response) => void response.writeHead(500).end('broken')];
    await expect(compared(3)).rejects.toThrow('the API answers 500: broken');
    expect(asked).toBe(2);
  });

  test('that fail are reported with the position of the error and without frames of the local cloud', async () => {
    const failing = planFindings(async () => new Response('broken', { status: 500 }));
    await expect(failing).rejects.toMatchObject({
      name: 'ApiFailedError',
      message: expect.stringContaining(
        'among the lines of the functions above. Correct it, then start again.',
      ),
    });
  });
});
