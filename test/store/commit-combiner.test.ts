import { describe, expect, test } from '@jest/globals';
import { GRPC_STATUS } from '../../packages/cairn/src/ports/grpc-outcome.ts';
import { CommitCombiner, type WriteResult } from '../../packages/cairn/src/store/commits/commit-combiner.ts';
import type { StoreBatch } from '../../packages/cairn/src/store/commits/store-batch.ts';

type Answer = 'ok' | number;

/** A fake Firestore that holds requests, each a list of texts, until the test answers them. */
class Held {
  readonly requests: { readonly texts: string[]; answer(how: Answer): void }[] = [];

  combiner(): CommitCombiner {
    return new CommitCombiner(() => this.#batch() as StoreBatch);
  }

  #batch(): unknown {
    const texts: string[] = [];
    return {
      write: (text: string) => texts.push(text),
      commit: () => {
        const result = Promise.withResolvers<WriteResult[]>();
        this.requests.push({
          texts,
          answer: (how) => {
            if (how === 'ok') result.resolve(texts.map((text) => ({ text }) as unknown as WriteResult));
            else result.reject(Object.assign(new Error(`status ${how}`), { code: how }));
          },
        });
        return result.promise;
      },
    };
  }
}

function part(name: string, writes = 2, bytes = 100) {
  const texts = Array.from({ length: writes }, (_, i) => `${name}${i}`);
  const fill = (batch: StoreBatch) => {
    for (const text of texts) (batch as unknown as { write(text: string): void }).write(text);
  };
  return { writes, bytes, fill };
}

async function turn(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}

/** The first eight commits are sent at once; later ones wait. */
async function busy(held: Held): Promise<CommitCombiner> {
  const combiner = held.combiner();
  for (let i = 0; i < 8; i += 1) void combiner.commit(part(`busy-${i}-`));
  await turn();
  expect(held.requests).toHaveLength(8);
  return combiner;
}

describe('commits of several runs', () => {
  test('are sent separately and at once while few are in flight', async () => {
    const held = new Held();
    const combiner = held.combiner();
    const [a, b] = [combiner.commit(part('a')), combiner.commit(part('b'))];
    await turn();
    expect(held.requests.map(({ texts }) => texts)).toEqual([
      ['a0', 'a1'],
      ['b0', 'b1'],
    ]);
    for (const request of held.requests) request.answer('ok');
    expect(await a).toEqual([{ text: 'a0' }, { text: 'a1' }]);
    expect(await b).toHaveLength(2);
  });

  test('share a request when many are in flight, and each gets the results of its own writes', async () => {
    const held = new Held();
    const combiner = await busy(held);
    const [a, b] = [combiner.commit(part('a', 3)), combiner.commit(part('b', 1))];
    held.requests[0]?.answer('ok');
    await turn();
    expect(held.requests[8]?.texts).toEqual(['a0', 'a1', 'a2', 'b0']);
    held.requests[8]?.answer('ok');
    expect(await a).toEqual([{ text: 'a0' }, { text: 'a1' }, { text: 'a2' }]);
    expect(await b).toEqual([{ text: 'b0' }]);
  });

  test('are repeated alone when the shared request was refused, so that a conflict affects one run', async () => {
    const held = new Held();
    const combiner = await busy(held);
    const [a, b] = [combiner.commit(part('a')), combiner.commit(part('b'))];
    held.requests[0]?.answer('ok');
    await turn();
    held.requests[8]?.answer(GRPC_STATUS.ALREADY_EXISTS);
    await turn();
    expect(held.requests.slice(9).map(({ texts }) => texts)).toEqual([
      ['a0', 'a1'],
      ['b0', 'b1'],
    ]);
    held.requests[9]?.answer(GRPC_STATUS.ALREADY_EXISTS);
    held.requests[10]?.answer('ok');
    await expect(a).rejects.toMatchObject({ code: GRPC_STATUS.ALREADY_EXISTS });
    expect(await b).toHaveLength(2);
  });

  test('are not repeated when the outcome is unknown, because each run can determine it', async () => {
    const held = new Held();
    const combiner = await busy(held);
    const [a, b] = [combiner.commit(part('a')), combiner.commit(part('b'))];
    held.requests[0]?.answer('ok');
    await turn();
    held.requests[8]?.answer(GRPC_STATUS.UNAVAILABLE);
    await expect(a).rejects.toMatchObject({ code: GRPC_STATUS.UNAVAILABLE });
    await expect(b).rejects.toMatchObject({ code: GRPC_STATUS.UNAVAILABLE });
    expect(held.requests).toHaveLength(9);
  });

  test.each([
    { limit: 'ten parts', parts: Array.from({ length: 12 }, () => [1, 1] as const), first: 10 },
    {
      limit: '400 writes',
      parts: [
        [300, 1],
        [100, 1],
        [1, 1],
      ] as const,
      first: 2,
    },
    {
      limit: '8 MiB',
      parts: [
        [1, 6_000_000],
        [1, 2_000_000],
        [1, 2_000_000],
      ] as const,
      first: 2,
    },
  ])('fill a request up to $limit', async ({ parts, first }) => {
    const held = new Held();
    const combiner = await busy(held);
    for (const [i, [writes, bytes]] of parts.entries()) void combiner.commit(part(`p${i}-`, writes, bytes));
    held.requests[0]?.answer('ok');
    await turn();
    const names = new Set(held.requests[8]?.texts.map((text) => text.split('-')[0]));
    expect(names.size).toBe(first);
  });
});
