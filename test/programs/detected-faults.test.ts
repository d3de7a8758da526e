import { describe, expect, test } from '@jest/globals';
import type { StoredMailbox } from '../../packages/cairn/src/ports/mailbox-store.ts';
import type { CommitResult } from '../../packages/cairn/src/ports/run-store.ts';
import type { Memo } from '../../packages/cairn/src/ports/value-store.ts';
import { type InterceptedCall, intercept, type Proceed } from '../support/intercept.ts';
import type { Sabotage } from './chaos/worker.ts';
import type { Repertoire } from './data/generate.ts';
import { trial } from './trial.ts';

const REPERTOIRE: Repertoire = {
  kinds: { step: 8, map: 2, sleep: 1, approval: 2, event: 2, child: 2 },
  maxSteps: 10,
  extras: true,
};
/** Enough trials for faults that most programs notice; some have no child, or no early event. */
const TRIALS = 60;

/** The error of the first trial that detects the fault. */
async function noticed(sabotage: Sabotage): Promise<string> {
  for (let seed = 1; seed <= TRIALS; seed += 1) {
    try {
      await trial({ seed, repertoire: REPERTOIRE, sabotage });
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  return 'nothing';
}

type Around = (call: InterceptedCall, proceed: Proceed) => Promise<unknown>;
const onStore =
  (around: Around): Sabotage =>
  (deps) => ({ ...deps, store: intercept(deps.store, around) });

/** Checks the trials themselves, which must find each of these defects. */
describe('a trial detects', () => {
  test('a refused commit that is treated as accepted', async () => {
    const sabotage = onStore(async ({ method }, proceed) => {
      const answer = await proceed();
      const refused = method === 'commit' && (answer as CommitResult).kind === 'exists';
      return refused ? { kind: 'committed' } : answer;
    });
    expect(await noticed(sabotage)).not.toBe('nothing');
  });

  test('outputs that are treated as those of other steps', async () => {
    const sabotage = onStore(async ({ method }, proceed) => {
      const answer = await proceed();
      return method === 'readCheckpoints' ? (answer as unknown[]).toReversed() : answer;
    });
    expect(await noticed(sabotage)).not.toBe('nothing');
  });

  test('a lost memo', async () => {
    const sabotage = onStore(async ({ method, args }, proceed) => {
      const answer = await proceed();
      if (method === 'readMemos') return new Map();
      return method === 'createMemo' ? (args[1] as Memo).text : answer;
    });
    expect(await noticed(sabotage)).toMatch(/the memo of .* was \d+, and then \d+/);
  });

  test('an early event that is lost', async () => {
    const sabotage: Sabotage = (deps) => ({
      ...deps,
      mailboxes: intercept(deps.mailboxes, async ({ method }, proceed) => {
        const stored = (await proceed()) as StoredMailbox | undefined;
        if (method !== 'read' || !stored) return stored;
        return { ...stored, mailbox: { ...stored.mailbox, buffered: [] } };
      }),
    });
    expect(await noticed(sabotage)).toMatch(/not succeeded|the result is|the run ended as/);
  });

  test('a child that does not report its end, and prints where it is stuck and how to reproduce it', async () => {
    const sabotage: Sabotage = (deps) => ({
      ...deps,
      otherRuns: { ...deps.otherRuns, notifyParent: async () => {} },
    });
    const message = await noticed(sabotage);
    expect(message).toMatch(/stuck: it goes on and on/);
    expect(message).toMatch(/SEED=\d+/);
    expect(message).toMatch(/program: \{.*"kind":"child"/);
    expect(message).toMatch(/1 \+0 run_created/);
  });

  test('lost tasks of runs that no scan looks for', async () => {
    const sabotage = onStore(({ method }, proceed) =>
      method === 'dueRuns' || method === 'silentRuns' ? Promise.resolve([]) : proceed(),
    );
    expect(await noticed(sabotage)).toMatch(/stuck/);
  });
});
