/** Contract of run stores: memos of step bodies. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  CHECKPOINT_VALUE_BYTES,
  MAX_MEMO_NAME_BYTES,
  MAX_MEMOS,
} from '../../../packages/cairn/src/core/run/limits.ts';
import type { RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import { memoId, type RecordedMemo } from '../../../packages/cairn/src/ports/value-store.ts';
import type { Stores } from '../support/harness.ts';

const AWKWARD = ['.', '..', '__x__', 'a/b', '-', '1-a', '%2F', 'ü 🪨', 'x'.repeat(MAX_MEMO_NAME_BYTES)];

export function memoClaims(stores: () => Stores): void {
  describe('a memo', () => {
    let runs: RunStore;
    beforeEach(() => {
      runs = stores().runs;
    });
    const create = (name: string, text: string, more: { step?: string; revision?: number } = {}) =>
      runs.createMemo('run_1', { step: 'crawl', revision: 1, name, text, ...more });
    const read = async (step = 'crawl', revision = 1) =>
      Object.fromEntries(await runs.readMemos('run_1', step, revision));

    const listedOf = async (revision: number, limit: number) => {
      const found: RecordedMemo[] = [];
      let cursor: string | undefined;
      do {
        const page = await runs.listMemos(
          'run_1',
          { step: 'crawl', revision },
          { limit, ...(cursor === undefined ? {} : { cursor }) },
        );
        found.push(...page.items);
        cursor = page.next;
      } while (cursor !== undefined);
      return found;
    };

    test('reads back as it was created, under any name', async () => {
      const expected = Object.fromEntries(AWKWARD.map((name, i) => [name, `[${i},"ü"]`]));
      for (const [name, text] of Object.entries(expected)) expect(await create(name, text)).toBe(text);
      expect(await read()).toEqual(expected);
    });

    test('has the text of its first writer, which later writers receive', async () => {
      expect(await create('page', '1')).toBe('1');
      expect(await create('page', '2')).toBe('1');
      expect(await read()).toEqual({ page: '1' });
    });

    test('of two concurrent writers has one text, which both receive', async () => {
      const texts = await Promise.all(['1', '2', '3', '4'].map((text) => create('page', text)));
      const { page } = await read();
      expect(['1', '2', '3', '4']).toContain(page);
      expect(texts).toEqual(Array(4).fill(page));
    });

    test('belongs to one step, one item and one revision', async () => {
      const places = [
        { step: 'crawl', revision: 1 },
        { step: 'crawl', revision: 2 },
        { step: 'crawl', revision: 10 },
        { step: 'crawl[a]', revision: 1 },
        { step: 'crawl[1-a]', revision: 1 },
      ];
      for (const [i, place] of places.entries())
        expect(await create('page', String(i), place)).toBe(String(i));
      for (const [i, { step, revision }] of places.entries()) {
        expect(await read(step, revision)).toEqual({ page: String(i) });
      }
      expect(await read('crawl', 3)).toEqual({});
      expect(await runs.readMemos('run_2', 'crawl', 1)).toEqual(new Map());
    });

    test('is listed with the others of its step and revision, page by page, by its encoded name', async () => {
      for (const name of AWKWARD) await create(name, JSON.stringify(name));
      await create('of-another', '1', { revision: 10 });
      await create('of-another', '1', { step: 'crawl[1]' });
      const listed = await listedOf(1, 2);
      const ids = listed.map(({ name }) => memoId(1, name));
      expect(ids).toEqual([...ids].sort());
      expect(listed.map(({ name }) => name).sort()).toEqual([...AWKWARD].sort());
      for (const { name, text, recordedAt, ...place } of listed) {
        expect({ text, place }).toEqual({
          text: JSON.stringify(name),
          place: { step: 'crawl', revision: 1 },
        });
        expect(Number.isSafeInteger(recordedAt) && recordedAt > 0).toBe(true);
      }
      expect(await listedOf(2, 2)).toEqual([]);
    });

    test('of another revision is not listed with a cursor of this one', async () => {
      for (const revision of [1, 2]) for (const name of ['a', 'b']) await create(name, '1', { revision });
      const { next = '' } = await runs.listMemos('run_1', { step: 'crawl', revision: 1 }, { limit: 1 });
      const page = await runs.listMemos('run_1', { step: 'crawl', revision: 2 }, { limit: 10, cursor: next });
      expect(page.items.map(({ revision, name }) => [revision, name])).toEqual([
        [2, 'a'],
        [2, 'b'],
      ]);
      const none = await runs.listMemos('run_1', { step: 'crawl', revision: 3 }, { limit: 10 });
      expect(none).toEqual({ items: [] });
    });

    test.each([
      ['no name', '', 'INVALID_INPUT'],
      ['a name that is too long', 'ü'.repeat(MAX_MEMO_NAME_BYTES / 2 + 1), 'INVALID_INPUT'],
      ['half a character for a name', '\ud83e', 'INVALID_INPUT'],
    ])('with %s is refused', async (_, name, code) => {
      await expect(create(name, '1')).rejects.toMatchObject({ code, stepId: 'crawl' });
      expect(await read()).toEqual({});
    });

    test('of 256 KiB is stored, and a larger one is refused with nothing written', async () => {
      const text = `"${'ü'.repeat(CHECKPOINT_VALUE_BYTES / 2 - 1)}"`;
      expect((await create('most', text)) === text).toBe(true);
      await expect(create('more', `${text} `)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
      expect(Object.keys(await read())).toEqual(['most']);
    });

    test('is one of at most a thousand of a revision', async () => {
      const names = Array.from({ length: MAX_MEMOS }, (_, i) => `page ${i}`);
      await Promise.all(names.map((name) => create(name, '1')));
      expect(Object.keys(await read()).sort()).toEqual([...names].sort());
      await create('one more', '1');
      await expect(read()).rejects.toThrow(/more than 1000 memos of step crawl of run run_1/);
    });
  });
}
