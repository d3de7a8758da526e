import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Semaphore } from '../../packages/cairn/src/api/semaphore.ts';

/** Works that end when the test decides. The first letter of a work is its tenant. */
function works(options: { readonly running: number; readonly waiting: number }) {
  const semaphore = new Semaphore({ of: 'works', ...options });
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const come = (name: string, signal = new AbortController().signal) =>
    semaphore.run({ tenantId: name.slice(0, 1), request: { signal } }, () => {
      begun.push(name);
      const end = Promise.withResolvers<string>();
      ends.set(name, end);
      return end.promise;
    });
  return {
    begun,
    come,
    end: (name: string) => ends.get(name)?.resolve(name),
    fail: (name: string) => ends.get(name)?.reject(new Error(name)),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a semaphore', () => {
  test('admits up to its limit, and the other requests of a tenant one by one in their order of arrival', async () => {
    const { begun, come, end } = works({ running: 3, waiting: 3 });
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => come(name));
    await turn();
    expect(begun).toEqual(['a1', 'a2']);
    end('a2');
    await turn();
    expect(begun).toEqual(['a1', 'a2', 'a3']);
    end('a1');
    await turn();
    end('a3');
    end('a4');
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4']);
  });

  test('has a place for a tenant while another one holds its full share', async () => {
    const { begun, come } = works({ running: 4, waiting: 8 });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1']) void come(name);
    await turn();
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1']);
  });

  test('lets waiting tenants take turns, whatever the number of their waiting requests', async () => {
    const { begun, come, end } = works({ running: 1, waiting: 20 });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2']) void come(name);
    for (let at = 0; at < 7; at += 1) {
      await turn();
      end(begun.at(-1) ?? '');
    }
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'c2', 'a4']);
  });

  test('refuses a tenant beyond its share of the queue, and the others when the queue is full', async () => {
    const { begun, come, end } = works({ running: 1, waiting: 3 });
    const all = ['a1', 'a2', 'a3'].map((name) => come(name));
    await expect(come('a4')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    all.push(come('b1'));
    await expect(come('c1')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    for (const name of ['a1', 'a2', 'b1', 'a3']) {
      await turn();
      end(name);
    }
    await Promise.all(all);
    const later = come('a5');
    await turn();
    end('a5');
    expect(await later).toBe('a5');
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a5']);
  });

  test('is released by failed work', async () => {
    const { come, end, fail } = works({ running: 1, waiting: 1 });
    const first = come('a1');
    const second = come('a2');
    fail('a1');
    await expect(first).rejects.toThrow('a1');
    await turn();
    end('a2');
    expect(await second).toBe('a2');
  });

  test('does no work for a caller that disconnected while it waited, and gives its place to another', async () => {
    const { begun, come, end } = works({ running: 1, waiting: 1 });
    const gone = new AbortController();
    void come('a1');
    const second = come('a2', gone.signal);
    gone.abort();
    await expect(second).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    const third = come('a3');
    await expect(come('b1', AbortSignal.abort())).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    end('a1');
    await turn();
    end('a3');
    expect(await third).toBe('a3');
    expect(begun).toEqual(['a1', 'a3']);
  });

  test('loses no place and no request, in whatever order requests come, end and disconnect', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('come' as const), tenant: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ kind: fc.constant('end' as const), at: fc.nat(20) }),
      fc.record({ kind: fc.constant('leave' as const), at: fc.nat(20) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(step, { maxLength: 60 }),
        async (running, steps) => {
          const { begun, come, end } = works({ running, waiting: 100 });
          const aborts: AbortController[] = [];
          const settled = new Set<string>();
          const under = () => begun.filter((name) => !settled.has(name));
          const arrive = (name: string) => {
            const abort = new AbortController();
            aborts.push(abort);
            const settle = () => settled.add(name);
            return come(name, abort.signal).then(settle, settle);
          };
          const all: Promise<unknown>[] = [];
          for (const [count, one] of steps.entries()) {
            if (one.kind === 'come') all.push(arrive(`${one.tenant}${count}`));
            else if (one.kind === 'end') end(under()[one.at % Math.max(1, under().length)] ?? '');
            else aborts[one.at % Math.max(1, aborts.length)]?.abort();
            await turn();
            expect(under().length).toBeLessThanOrEqual(running);
          }
          while (under().length > 0) {
            end(under()[0] ?? '');
            await turn();
          }
          await Promise.all(all);
          expect(settled.size).toBe(all.length);
        },
      ),
    );
  });
});
