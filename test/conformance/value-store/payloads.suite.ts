/** Contract of run stores: large values outside the journal. */
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { MAX_PAYLOAD_BYTES } from '../../../packages/cairn/src/core/run/limits.ts';
import { PAYLOAD_CHUNK_BYTES } from '../../../packages/cairn/src/core/run/payload.ts';
import type { RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import { claimed } from '../run-store/runs.ts';
import type { Stores } from '../support/harness.ts';
import { move, succeeded } from '../support/run-fixture.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** JSON text of `bytes` bytes, mostly four-byte characters, shifted by one so that every cut is inside a character. */
function textOfBytes(bytes: number): string {
  const stones = Math.floor((bytes - 2) / 4);
  const text = `"${'a'.repeat(bytes - 2 - 4 * stones)}${'🪨'.repeat(stones)}"`;
  if (Buffer.byteLength(text) !== bytes) throw new Error(`${Buffer.byteLength(text)} bytes, not ${bytes}`);
  return text;
}

export function payloadClaims(stores: () => Stores): void {
  describe('a payload', () => {
    let runs: RunStore;
    beforeEach(() => {
      runs = stores().runs;
    });

    test.each([
      [1, 1],
      [PAYLOAD_CHUNK_BYTES, 1],
      [PAYLOAD_CHUNK_BYTES + 1, 2],
      [3 * PAYLOAD_CHUNK_BYTES - 1, 3],
    ])('of %i bytes is stored in %i chunks and reads back unchanged', async (bytes, chunks) => {
      const text = bytes === 1 ? '7' : textOfBytes(bytes);
      const ref = await runs.writePayload('run_1', text);
      expect(ref).toEqual({ sha256: sha256(text), bytes, chunks });
      expect((await runs.readPayload('run_1', ref)) === text).toBe(true);
    });

    test('of the maximum size is stored, and a larger one is refused with nothing written', async () => {
      const text = textOfBytes(MAX_PAYLOAD_BYTES);
      const ref = await runs.writePayload('run_1', text);
      expect(ref.chunks).toBe(Math.ceil(MAX_PAYLOAD_BYTES / PAYLOAD_CHUNK_BYTES));
      expect((await runs.readPayload('run_1', ref)) === text).toBe(true);

      const larger = `${text} `;
      await expect(runs.writePayload('run_2', larger)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
      const wouldBe = { ...ref, sha256: sha256(larger), bytes: ref.bytes + 1 };
      await expect(runs.readPayload('run_2', wouldBe)).rejects.toThrow(/chunk 0 of 37 is missing/);
    });

    test('written twice, even concurrently, is stored once and complete', async () => {
      const text = textOfBytes(PAYLOAD_CHUNK_BYTES + 100);
      const [one, other] = await Promise.all([
        runs.writePayload('run_1', text),
        runs.writePayload('run_1', text),
      ]);
      expect(other).toEqual(one);
      expect(await runs.writePayload('run_1', text)).toEqual(one);
      expect((await runs.readPayload('run_1', one)) === text).toBe(true);
    });

    test('is readable by its run only', async () => {
      const ref = await runs.writePayload('run_1', '"mine"');
      await runs.writePayload('run_2', '"mine"');
      await runs.deletePayload('run_2', ref);
      expect(await runs.readPayload('run_1', ref)).toBe('"mine"');
      await expect(runs.readPayload('run_2', ref)).rejects.toThrow(
        `payload ${ref.sha256} of run run_2: chunk 0 of 1 is missing`,
      );
    });

    test('can be removed repeatedly, and written again', async () => {
      const ref = await runs.writePayload('run_1', '"here"');
      await runs.deletePayload('run_1', ref);
      await runs.deletePayload('run_1', ref);
      await expect(runs.readPayload('run_1', ref)).rejects.toThrow(/is missing/);
      await runs.writePayload('run_1', '"here"');
      expect(await runs.readPayload('run_1', ref)).toBe('"here"');
    });

    test('whose length differs from its reference is not returned', async () => {
      const ref = await runs.writePayload('run_1', '"here"');
      await expect(runs.readPayload('run_1', { ...ref, bytes: 5 })).rejects.toThrow(
        /6 bytes are there; 5 were written/,
      );
    });

    test('is referred to by a checkpoint instead of an inline output', async () => {
      const state = await claimed(runs, 'run_1');
      const outputRef = await runs.writePayload('run_1', textOfBytes(300 * 1024));
      const { outputText: _, ...draft } = succeeded('size');
      const { after, commit } = move(state, [{ ...draft, outputRef }]);
      expect(await runs.commit(commit)).toMatchObject({ kind: 'committed' });
      const [checkpoint] = await runs.readCheckpoints('run_1', [after.head]);
      expect(checkpoint).toEqual(commit.checkpoints[0]);
      expect(checkpoint).toMatchObject({ outputRef });
      expect(checkpoint).not.toHaveProperty('outputText');
    });
  });
}
