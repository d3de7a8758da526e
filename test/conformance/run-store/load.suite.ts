/** Contract of run stores: loads with snapshot, tail, and unknown versions. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { isImmutable } from 'immutable';
import { NewerSchemaError } from '../../../packages/cairn/src/core/run/events.ts';
import type { RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import { questionOf } from '../../core/run/journal-drafts.ts';
import type { Stores } from '../support/harness.ts';
import { beginning, claim, move, succeeded, T0 } from '../support/run-fixture.ts';
import { claimed, LEASE_MS, loaded } from './runs.ts';

export function loadClaims(current: () => Stores): void {
  let runs: RunStore;
  beforeEach(() => {
    runs = current().runs;
  });

  describe('load', () => {
    test('of a missing run is undefined', async () => {
      expect(await runs.load('run_none')).toBeUndefined();
      await claimed(runs, 'run_1');
      expect(await runs.load('run_1/events/0000000001')).toBeUndefined();
      expect(await runs.readEvents('run_1/events/0000000001', 0, 10)).toEqual([]);
      expect(await runs.readEvents('run_none', 0, 10)).toEqual([]);
    });

    test("for a tenant is undefined if the run is another tenant's, even in an unknown version", async () => {
      const { tenantId } = await claimed(runs, 'run_1');
      expect((await runs.load('run_1', tenantId))?.state.id).toBe('run_1');
      expect(await runs.load('run_1', `${tenantId}x`)).toBeUndefined();
      expect(await runs.load('run_none', tenantId)).toBeUndefined();
      const { state, ...more } = beginning('run_2');
      await runs.start({ ...more, state: { ...state, schemaVersion: 99 } });
      await expect(runs.load('run_2', tenantId)).rejects.toThrow(NewerSchemaError);
      expect(await runs.load('run_2', `${tenantId}x`)).toBeUndefined();
    });

    test('folds a tail of many pages', async () => {
      let state = await claimed(runs, 'run_1');
      for (let i = 0; i < 7; i += 1) {
        const drafts = Array.from({ length: 95 }, (_, j) => succeeded(`s${i}-${j}`));
        const { after, commit } = move(state, drafts);
        await runs.commit(commit);
        state = after;
      }
      expect((await loaded(runs, 'run_1')).state).toEqual(state);
      const page = await runs.readEvents('run_1', 100, 50);
      expect(page.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, i) => 101 + i));
    });

    test('returns waits, inbox, failures and everything else in the state', async () => {
      const start = beginning('run_1', {
        identity: {
          repoId: 'acme/app',
          prId: '7',
          prUrl: 'https://example.test/7',
          idempotencyKey: 'github:1',
          a2aCorrelationId: 'a2a',
          resumedFrom: 'run_0',
          source: { runId: 'run_0', checkpointId: '0000000003', mode: 'fork' },
          parent: { runId: 'run_p', stepId: 'child' },
          versions: { capabilities: 'v1', registryRef: 'r' },
          input: { checkpoint: 1 },
        },
      });
      await runs.start(start);
      const wait = questionOf('ask', { dueAt: T0 + 99 });
      const one = move(
        start.state,
        [
          ...claim(start.state, T0 + LEASE_MS),
          { type: 'wait_opened', data: { wait }, initiator: 'system' },
          {
            type: 'signal_received',
            data: { signalId: 's', name: 'n', payloadText: '[[1]]' },
            initiator: 'user',
            actor: 'u',
          },
          {
            type: 'cancel_requested',
            data: { stopKind: 'user', reason: 'enough' },
            initiator: 'user',
            actor: 'u',
          },
          { type: 'run_suspended', data: { status: 'awaiting_approval' }, initiator: 'system' },
        ],
        { snapshot: true },
      );
      await runs.commit(one.commit);
      expect((await loaded(runs, 'run_1')).state).toEqual(one.after);

      const error = { code: 'E', message: 'm', stepId: 'ask', retryable: false, trace: 't' };
      const two = move(
        one.after,
        [
          { type: 'compensation_failed', data: { stepId: 'ask', revision: 1, error }, initiator: 'system' },
          { type: 'run_failed', data: { error }, initiator: 'system' },
          { type: 'run_superseded', data: { by: 'run_2' }, initiator: 'user' },
        ],
        { snapshot: true },
      );
      await runs.commit(two.commit);
      expect((await loaded(runs, 'run_1')).state).toEqual(two.after);
      expect(await runs.readEvents('run_1', 0, 99)).toEqual([
        ...start.events,
        ...one.commit.events,
        ...two.commit.events,
      ]);
    });

    test('returns values that do not alias the store', async () => {
      const state = await claimed(runs, 'run_1');
      const { after, commit } = move(state, [succeeded('size')]);
      await runs.commit(commit);
      const expected = { ...after, waits: [...after.waits], trigger: { ...after.trigger } };
      const before = structuredClone(await runs.readEvents('run_1', 0, 9));
      for (const handed of [await runs.load('run_1'), await runs.readEvents('run_1', 0, 9), commit.events]) {
        spoil(handed);
      }
      expect(await runs.readEvents('run_1', 0, 9)).toEqual(before);
      expect((await loaded(runs, 'run_1')).state).toEqual(expected);
    });

    test('lists the other runs beside one that a newer version wrote, and names that run', async () => {
      const older = beginning('run_old');
      await runs.start(older);
      const newer = beginning('run_new');
      await runs.start({ ...newer, state: { ...newer.state, schemaVersion: 99 } });
      const { items, unreadable } = await runs.listRuns({ tenantId: 'acme' }, { limit: 5 });
      expect([items.map(({ state }) => state.id), unreadable]).toEqual([['run_old'], ['run_new']]);
    });

    test('does not change a run that a newer version wrote', async () => {
      const newer = beginning('run_new');
      await runs.start({ ...newer, state: { ...newer.state, schemaVersion: 99 } });
      await expect(runs.load('run_new')).rejects.toThrow(NewerSchemaError);

      const state = await claimed(runs, 'run_1');
      const { commit } = move(state, [succeeded('size')]);
      await runs.commit({
        ...commit,
        events: commit.events.map((event) => ({ ...event, schemaVersion: 99 })),
      });
      await expect(runs.load('run_1')).rejects.toThrow(NewerSchemaError);
      await expect(runs.readEvents('run_1', state.head, 5)).rejects.toThrow(NewerSchemaError);
      await expect(runs.listEvents('run_1', { limit: 5 })).rejects.toThrow(NewerSchemaError);
    });
  });
}

/** Overwrites every member of the value. Ignores errors of frozen objects, which do not change. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null || isImmutable(value)) return;
  for (const [name, member] of Object.entries(value)) {
    spoil(member);
    try {
      (value as Record<string, unknown>)[name] = 'spoilt';
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
    }
  }
}
