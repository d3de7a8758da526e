import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { seqId } from '../../packages/cairn/src/core/encoding/ids.ts';
import { isBlocking } from '../../packages/cairn/src/core/integrity/problems.ts';
import { emptyChain, seal } from '../../packages/cairn/src/core/run/chain.ts';
import type { EventDraft } from '../../packages/cairn/src/core/run/events.ts';
import { eventCodec } from '../../packages/cairn/src/store/codec/journal.ts';
import type { Bench } from './support/bench.ts';
import { completed, waiting } from './support/runs.ts';

async function isFound(bench: Bench): Promise<boolean> {
  const before = bench.shelf.all();
  const problems = await bench.check();
  const { outcome } = await bench.repair();
  expect(bench.shelf.all()).toEqual(before);
  return problems.some(isBlocking) && outcome === 'refused';
}

describe('every change of the journal is detected, and repairs nothing', () => {
  test('a changed member of an event', async () => {
    const whole = await completed();
    for (const { id, members, folder } of whole.shelf.all()) {
      if (folder !== 'events') continue;
      for (const [name, member] of Object.entries(members)) {
        const bench = whole.copy();
        const other =
          typeof member === 'string' ? `${member}x` : typeof member === 'number' ? member + 1 : 'x';
        bench.shelf.change('events', id, { [name]: other });
        if (!(await isFound(bench))) throw new Error(`a change of '${name}' of event ${id} was not found`);
      }
    }
  });

  test('a lost event, and two swapped ones', async () => {
    const whole = await completed();
    const ids = [...whole.shelf.folders.events.keys()];
    for (const [i, id] of ids.entries()) {
      const lost = whole.copy();
      lost.shelf.delete('events', id);
      expect(await isFound(lost)).toBe(true);
      const next = ids[i + 1];
      if (next === undefined) continue;
      const swapped = whole.copy();
      swapped.shelf.put('events', id, whole.shelf.members('events', next));
      swapped.shelf.put('events', next, whole.shelf.members('events', id));
      expect(await isFound(swapped)).toBe(true);
    }
  });

  test.each([
    ['completed', completed],
    ['waiting', waiting],
  ])('a truncated tail of a run that is %s, however long, by the run document', async (_name, make) => {
    const whole = await make();
    const ids = [...whole.shelf.folders.events.keys()];
    const bench = whole.copy();
    for (const id of ids.reverse()) {
      bench.shelf.delete('events', id);
      expect(await isFound(bench)).toBe(true);
    }
  });

  test('a complete replacement that is sealed correctly from the first event on', async () => {
    const whole = await waiting();
    const journal = whole.shelf.journal();
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: journal.length - 1 }), fc.string(), async (at, actor) => {
        const bench = whole.copy();
        let chain = emptyChain(bench.runId);
        for (const [i, { type, data, initiator, id, writer, at: now }] of journal.entries()) {
          const draft = { type, data, initiator, ...(i === at ? { actor } : {}) } as EventDraft;
          const event = seal(draft, { chain, id, now, ...(writer ? { writer } : {}) });
          bench.shelf.put('events', seqId(event.seq), eventCodec.encode(event));
          chain = { head: event.seq, headHash: event.hash, updatedAt: event.at };
        }
        expect(await isFound(bench)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});
