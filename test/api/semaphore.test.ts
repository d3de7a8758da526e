import { describe, expect, test } from '@jest/globals';
import { Semaphore } from '../../packages/cairn/src/api/semaphore.ts';

/** Works whose ends the test decides. */
function works(semaphore: Semaphore) {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const come = (name: string) =>
    semaphore.run(() => {
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
  test('admits its limit, and the others one by one in their order of arrival', async () => {
    const { begun, come, end } = works(new Semaphore({ running: 2, waiting: 2 }));
    const all = ['a', 'b', 'c', 'd'].map(come);
    await turn();
    expect(begun).toEqual(['a', 'b']);
    end('b');
    await turn();
    expect(begun).toEqual(['a', 'b', 'c']);
    end('a');
    await turn();
    end('c');
    end('d');
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('refuses at once while it is full, and admits again afterwards', async () => {
    const { begun, come, end } = works(new Semaphore({ running: 1, waiting: 1 }));
    const first = come('a');
    const second = come('b');
    await expect(come('c')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    end('a');
    await first;
    await turn();
    end('b');
    await second;
    const later = come('d');
    await turn();
    end('d');
    expect(await later).toBe('d');
    expect(begun).toEqual(['a', 'b', 'd']);
  });

  test('is released by failed work', async () => {
    const { come, end, fail } = works(new Semaphore({ running: 1, waiting: 1 }));
    const first = come('a');
    const second = come('b');
    fail('a');
    await expect(first).rejects.toThrow('a');
    await turn();
    end('b');
    expect(await second).toBe('b');
  });
});
