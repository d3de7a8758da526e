import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { EventDraft } from '../../packages/cairn/src/core/run/events.ts';
import { isOver } from '../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { MAX_COMMIT_WRITES } from '../../packages/cairn/src/journal/batch.ts';
import { RunJournal } from '../../packages/cairn/src/journal/run-journal.ts';
import type { JournalCommit } from '../../packages/cairn/src/ports/run-store.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { bySystem, settledStep } from '../core/run/journal-drafts.ts';
import { intercept } from '../support/intercept.ts';
import { assertStored } from '../support/soundness.ts';
import { settle } from '../support/virtual-clock.ts';
import { seededRandomness, World } from '../support/world.ts';

const workflow = defineWorkflow({
  type: 'only',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ only: step('only', () => 1) }),
});

function signal(signalId: string): EventDraft {
  return { type: 'signal_received', initiator: 'user', data: { signalId, name: 'n', payloadText: '1' } };
}

async function begin() {
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('only');
  const commits: JournalCommit[] = [];
  let seed = 10;
  const store = intercept(world.store, ({ method, args }, proceed) => {
    if (method === 'commit') commits.push(args[0] as JournalCommit);
    return proceed();
  });
  const open = async (owner?: string) => {
    const loaded = await world.store.load(runId);
    if (!loaded) throw new Error('no run');
    seed += 1;
    const deps = { ...world.deps, store, random: seededRandomness(seed) };
    return new RunJournal(deps, loaded, {
      ...world.deps.settings,
      ...(owner === undefined ? {} : { owner }),
    });
  };
  const hold = async () => {
    const journal = await open('holder');
    const expiresAt = world.clock.now() + world.deps.settings.leaseMs;
    await journal.append((state) => [
      bySystem('run_claimed', { owner: 'holder', epoch: state.epoch + 1, expiresAt }),
      bySystem('run_started', {}),
    ]);
    return journal;
  };
  return { world, runId, commits, open, hold };
}

describe('appends of one writer', () => {
  test('during a commit share the next one, in their order (J1)', async () => {
    const { world, runId, commits, open } = await begin();
    const journal = await open();
    const appended = Array.from({ length: 20 }, (_, i) => journal.append(() => [signal(`s${i}`)]));
    await Promise.all(appended);
    expect(commits).toHaveLength(1);
    expect((await world.folded(runId)).unread.map(({ signalId }) => signalId)).toEqual(
      Array.from({ length: 20 }, (_, i) => `s${i}`),
    );
  });

  test('receive their own events', async () => {
    const { open } = await begin();
    const journal = await open();
    const [one, none, two] = await Promise.all([
      journal.append(() => [signal('a'), signal('b')]),
      journal.append(() => []),
      journal.append(() => [signal('c')]),
    ]);
    expect(one?.events.map(({ seq }) => seq)).toEqual([2, 3]);
    expect(none?.events).toEqual([]);
    expect(two?.events.map(({ seq }) => seq)).toEqual([4]);
  });

  test('that together exceed a commit are split between two of them', async () => {
    const { world, runId, commits, hold } = await begin();
    const journal = await hold();
    commits.length = 0;
    const results = Array.from({ length: 250 }, (_, i) =>
      journal.append(() => [
        { type: 'step_succeeded', initiator: 'system', data: settledStep(`s${i}`), outputText: '1' },
      ]),
    );
    await Promise.all(results);
    expect(commits.length).toBe(3);
    for (const { events, checkpoints, steps } of commits) {
      expect(events.length + checkpoints.length + steps.length).toBeLessThanOrEqual(MAX_COMMIT_WRITES);
    }
    expect((await world.folded(runId)).steps.size).toBe(250);
  });

  test('of which one is refused do not affect the others', async () => {
    const { world, runId, open } = await begin();
    const journal = await open();
    const results = await Promise.allSettled([
      journal.append(() => [signal('a')]),
      journal.append(() => {
        throw new Error('not like this');
      }),
      journal.append(() => [signal('b')]),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await world.folded(runId)).unread).toHaveLength(2);
    await journal.append(() => [signal('c')]);
    assertStored(world.db, runId);
  });
});

describe('an append that conflicts with events of others (J2)', () => {
  test('is decided again on the new head, while recorded facts are kept', async () => {
    const { world, runId, open } = await begin();
    const [early, late] = [await open(), await open()];
    await early.append(() => [signal('a')]);
    const heads: number[] = [];
    const { events } = await late.append((state) => {
      heads.push(state.head);
      return [signal('b')];
    });
    expect(heads).toEqual([1, 2]);
    expect(events).toMatchObject([{ seq: 3 }]);
    expect((await world.folded(runId)).unread.map(({ signalId }) => signalId)).toEqual(['a', 'b']);
  });

  test('may find that nothing is left to append', async () => {
    const { runId, world, open } = await begin();
    const [early, late] = [await open(), await open()];
    await early.append(() => [signal('a')]);
    const appended = await late.append((state) => (state.unread.length > 0 ? [] : [signal('b')]));
    expect(appended.events).toEqual([]);
    expect((await world.folded(runId)).head).toBe(2);
  });

  test('may be refused because of them, and adds nothing to a run that has ended (J6)', async () => {
    const { world, runId, open } = await begin();
    const journal = await open();
    await world.run();
    expect((await world.folded(runId)).status).toBe('completed');
    const append = journal.append((state) => {
      if (isOver(state)) throw new Error('too late');
      return [signal('a')];
    });
    await expect(append).rejects.toThrow('too late');
    expect(assertStored(world.db, runId).unread).toEqual([]);
  });

  test('succeeds for many outside callers of a driven run, and the driver continues', async () => {
    const { world, runId, open, hold } = await begin();
    const holder = await hold();
    const callers = await Promise.all(Array.from({ length: 30 }, () => open()));
    const done = Promise.all([
      ...callers.map((journal, i) => journal.append(() => [signal(`s${i}`)])),
      holder.append(() => [
        { type: 'step_succeeded', initiator: 'system', data: settledStep('only'), outputText: '1' },
      ]),
    ]);
    let settled = false;
    void done.then(() => {
      settled = true;
    });
    while (!settled) {
      await settle();
      world.clock.fireNext();
    }
    const state = assertStored(world.db, runId);
    expect(new Set(state.unread.map(({ signalId }) => signalId)).size).toBe(30);
    expect(state.unread).toHaveLength(30);
    expect(state.steps.get('only')?.phase).toBe('done');
  });

  test('gives up when its patience ends, with an unknown outcome', async () => {
    const { world, open } = await begin();
    const journal = await open();
    const silent = intercept(world.store, async ({ method }, proceed) => {
      if (method === 'commit') throw new OutcomeUnknown('commit', 'gone');
      return proceed();
    });
    const loaded = await world.store.load(journal.state.id);
    if (!loaded) throw new Error('no run');
    const patient = new RunJournal({ ...world.deps, store: silent }, loaded, { ...world.deps.settings });
    const from = world.clock.now();
    let failure: unknown;
    const append = patient
      .append(() => [signal('a')])
      .catch((error: unknown) => {
        failure = error;
      });
    while (failure === undefined) {
      await settle();
      world.clock.fireNext();
    }
    await append;
    expect(failure).toBeInstanceOf(OutcomeUnknown);
    expect(world.clock.now() - from).toBeGreaterThanOrEqual(world.deps.settings.patienceMs);
    expect(world.clock.now() - from).toBeLessThan(world.deps.settings.patienceMs + 2_000);
  });
});
