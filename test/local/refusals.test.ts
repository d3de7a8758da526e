import { expect, test } from '@jest/globals';
import { assertFewRefused, untilTaken } from '../../scripts/demo/refusals.ts';

const REQUESTS = 40;

/** Sends requests to a cloud that refuses each one a given number of times. */
async function requests(gateway: string, refusals: (request: number) => number): Promise<void> {
  const sent = Array.from({ length: REQUESTS }, async (_, i) => {
    let left = refusals(i);
    const answer = await untilTaken({ gateway }, 'an answer', async () => {
      left -= 1;
      return { status: left >= 0 ? 503 : 201 };
    });
    expect(answer.status).toBe(201);
  });
  await Promise.all(sent);
}

test('a cloud that refuses each request at first is distinguished from one that is busy for a while', async () => {
  await requests('always', () => 1);
  expect(() => assertFewRefused({ gateway: 'always' })).toThrow('40 of 40 requests were answered with 503');
  await requests('busy', (i) => (i < REQUESTS / 4 ? 5 : 0));
  expect(() => assertFewRefused({ gateway: 'busy' })).not.toThrow();
  expect(() => assertFewRefused({ gateway: 'unused' })).not.toThrow();
});
