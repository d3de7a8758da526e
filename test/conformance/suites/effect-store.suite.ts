/** Contract of effect stores, together with the run store whose commits create the rows. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type EffectRecord, effectIdOf } from '../../../packages/cairn/src/core/effects/effect.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import type { JournalCommit } from '../../../packages/cairn/src/ports/run-store.ts';
import { claimed } from '../run-store/runs.ts';
import type { Harness, Stores } from '../support/harness.ts';
import { move, succeeded, T0 } from '../support/run-fixture.ts';
import { KEY, row } from './rows.ts';

const ANY = {
  itemKey: '0',
  call: 'of the author',
  requestText: '{"nested":[[1]],"text":"Überprüfung 🪨"}',
  askedBy: 'run_2',
  policyReason: 'more than 5 euros',
  error: 'no answer',
  presumedAt: T0 - 1,
  askingSince: T0 + 3,
  calledAt: T0 + 4,
  lateAnswer: { at: T0 + 2, responseHash: 'e'.repeat(64), error: 'late' },
};
const resolution = { outcome: 'recorded', by: 'c.ann', at: T0 + 1, note: 'I looked' } as const;
const responseHash = 'c'.repeat(64);
const originEffectId = effectIdOf(KEY, 2);
const recordedResultRef = { runId: 'run_0', sha256: 'd'.repeat(64), bytes: 900_000, chunks: 1 };
const ASKING = row({ ...ANY, status: 'blocked', blockedBy: 'doubt', resolution });

export function effectStoreConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let stores: Stores;
    let state: RunState;
    beforeEach(async () => {
      stores = await harness.make();
      state = await claimed(stores.runs, 'run_1');
    });
    afterAll(() => harness.close());

    function commitOf(step: string, effects: NonNullable<JournalCommit['effects']>) {
      return { ...move(state, [succeeded(step)], { by: step }).commit, effects };
    }

    /** Creates the row by a commit of the run. */
    async function created(record: EffectRecord): Promise<string> {
      const { after, commit } = move(state, [succeeded(`s${state.head}`)]);
      const result = await stores.runs.commit({ ...commit, effects: [{ kind: 'create', record }] });
      state = after;
      if (result.kind !== 'committed' || result.effectsVersion === undefined) throw new Error(result.kind);
      return result.effectsVersion;
    }

    test.each([
      ['bare', row()],
      ['attempted', row(ANY)],
      ['recorded', row({ ...ANY, status: 'recorded', responseHash, resultText: '{"id":[[7]]}', resolution })],
      [
        'recorded elsewhere',
        row({ ...ANY, status: 'recorded', responseHash, recordedResultRef, resolution }),
      ],
      ['reused', row({ ...ANY, status: 'reused', responseHash, originEffectId })],
      ['failed', row({ ...ANY, status: 'failed', resolution })],
      ['in doubt', ASKING],
      ['to be confirmed', row({ ...ANY, status: 'blocked', blockedBy: 'confirmation', resolution })],
      ['to be repeated', row({ ...ANY, status: 'blocked', blockedBy: 'policy', originEffectId, resolution })],
      ['refused', row({ ...ANY, status: 'blocked', blockedBy: 'mismatch', originEffectId })],
    ])(
      'a row that is %s reads back unchanged, in the version that its commit returned',
      async (_, record) => {
        const version = await created(record);
        expect(await stores.effects.read(record.effectId)).toEqual({ record, version });
        expect(await stores.effects.rowsOf(KEY)).toEqual([{ record, version }]);
      },
    );

    test('a row without a run is created once, and read with the time of the store', async () => {
      const record = row({ runId: 'external:t1:order-7', askingSince: T0 + 5 });
      const first = await stores.effects.create(record);
      expect(first).toMatchObject({ kind: 'created' });
      expect(await stores.effects.create(row({ bindingCallId: 'other' }))).toEqual({ kind: 'exists' });
      const { rows, readAt } = await stores.effects.rowsNow(KEY);
      expect(rows).toEqual([{ record, version: first.kind === 'created' ? first.version : '' }]);
      expect(readAt).toBeGreaterThan(0);
      expect((await stores.effects.listOfRun('external:t1:order-7', { limit: 5 })).items).toEqual([record]);
    });

    test('rows that wait for a person are found by tenant and time, the longest-waiting first, until they are answered', async () => {
      const asking = [30, 10, 20].map((at, i) => row({ n: i + 1, tenantId: 'asking', askingSince: T0 + at }));
      for (const record of [...asking, row({ n: 4, tenantId: 'asking' }), row({ n: 5, askingSince: T0 })])
        await stores.effects.create(record);
      const found = async (until: number, limit = 10) =>
        (await stores.effects.asking('asking', T0 + until, limit)).items.map(({ n }) => n);
      expect([await found(9), await found(20), await found(99), await found(99, 1)]).toEqual([
        [],
        [2, 3],
        [2, 3, 1],
        [2],
      ]);
      const first = await stores.effects.read(effectIdOf(KEY, 2));
      const change = { askingSince: undefined, updatedAt: T0 };
      await stores.effects.change(effectIdOf(KEY, 2), first?.version ?? '', change);
      expect(await found(99)).toEqual([3, 1]);
      expect((await stores.effects.read(effectIdOf(KEY, 2)))?.record).toEqual(
        row({ n: 2, tenantId: 'asking', updatedAt: T0 }),
      );
    });

    test('a missing row is not found', async () => {
      expect(await stores.effects.read(effectIdOf(KEY, 1))).toBeUndefined();
      expect(await stores.effects.rowsOf(KEY)).toEqual([]);
    });

    test('the rows of a key are listed newest first, without others', async () => {
      for (const n of [1, 2, 10, 100, 9_999]) await created(row({ n }));
      await created(row({ idempotencyKey: `${'a'.repeat(63)}b` }));
      const rows = await stores.effects.rowsOf(KEY);
      expect(rows.map(({ record }) => record.n)).toEqual([9_999, 100, 10, 2, 1]);
    });

    test('an existing row is not created again, and the commit changes nothing', async () => {
      await created(row());
      const commit = commitOf('late', [{ kind: 'create', record: row({ bindingCallId: 'other' }) }]);
      const { kind } = await stores.runs.commit(commit);
      expect(['exists', 'effect_moved']).toContain(kind);
      expect(await stores.runs.readEvents('run_1', state.head, 10)).toEqual([]);
      expect((await stores.effects.read(effectIdOf(KEY, 1)))?.record.bindingCallId).toBe('call-1');
    });

    test('a commit changes a row once, in the version that was seen', async () => {
      const seen = await created(row());
      const change = { status: 'blocked', blockedBy: 'doubt', updatedAt: T0 + 5 } as const;
      const write = { kind: 'change', effectId: effectIdOf(KEY, 1), seen, change } as const;
      expect(await stores.runs.commit(commitOf('one', [write]))).toMatchObject({ kind: 'committed' });
      state = move(state, [succeeded('one')], { by: 'one' }).after;
      expect(await stores.runs.commit(commitOf('two', [write]))).toEqual({ kind: 'effect_moved' });
      expect(await stores.runs.readEvents('run_1', state.head, 10)).toEqual([]);
      expect((await stores.effects.read(write.effectId))?.record).toEqual(row({ ...change }));
    });

    test('a repeated call changes a row', async () => {
      const seen = await created(row());
      const mark = { attempt: 2, epoch: 3, bindingCallId: 'call-2', calledAt: T0 + 7 };
      const change = { status: 'attempted', ...mark, updatedAt: T0 + 7 } as const;
      const { effectId } = row();
      await stores.runs.commit(commitOf('again', [{ kind: 'change', effectId, seen, change }]));
      expect((await stores.effects.read(effectId))?.record).toEqual(row(change));
    });

    test('an answer changes a row in the version that was seen, and removes members', async () => {
      const { effectId } = ASKING;
      const seen = await created(ASKING);
      const change = {
        status: 'recorded',
        blockedBy: undefined,
        error: undefined,
        responseHash,
        resultText: '7',
        updatedAt: T0 + 9,
      } as const;
      const changed = await stores.effects.change(effectId, seen, change);
      if (changed.kind !== 'changed') throw new Error(changed.kind);
      const { blockedBy: _, error: __, ...rest } = ASKING;
      const record = { ...rest, status: 'recorded', responseHash, resultText: '7', updatedAt: T0 + 9 };
      expect(await stores.effects.read(effectId)).toEqual({ record, version: changed.version });
      expect(await stores.effects.change(effectId, seen, { updatedAt: T0 + 10 })).toEqual({ kind: 'stale' });
    });

    test('a missing row is not changed', async () => {
      expect(
        await stores.effects.change(effectIdOf(KEY, 1), await created(row({ n: 2 })), { updatedAt: 1 }),
      ).toEqual({
        kind: 'stale',
      });
    });

    test('the rows of a run are listed in the order of their creation, page by page', async () => {
      const keys = ['f', '0', '9'].map((digit) => digit.repeat(64));
      for (const [i, idempotencyKey] of keys.entries())
        await created(row({ idempotencyKey, createdAt: T0 + i }));
      await created(row({ runId: 'run_2' }));
      const first = await stores.effects.listOfRun('run_1', { limit: 2 });
      expect(first.items.map(({ idempotencyKey }) => idempotencyKey)).toEqual(keys.slice(0, 2));
      const rest = await stores.effects.listOfRun('run_1', { limit: 2, cursor: first.next ?? '' });
      expect(rest.items.map(({ idempotencyKey }) => idempotencyKey)).toEqual(keys.slice(2));
      expect(rest.next).toBeUndefined();
    });
  });
}
