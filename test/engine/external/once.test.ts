import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_RETRY } from '../../../packages/cairn/src/core/decisions/retry.ts';
import { NotApplied } from '../../../packages/cairn/src/core/errors.ts';
import { CrashPlan, type CrashPoint } from '../../../packages/cairn/src/testing/world/crash-plan.ts';
import { CALL_MS, KINDS, type Kind, Scene } from './scene.ts';

const PAID = { status: 'fulfilled', value: { id: 'pay_1' } };

/** Calls of one process that survives. */
async function callsOf(kind: Kind): Promise<readonly string[]> {
  const scene = new Scene(kind);
  const plan = new CrashPlan();
  expect(await scene.until(scene.once(scene.process(plan)))).toEqual(PAID);
  return plan.made;
}

describe.each(KINDS)('an effect without a run, of a receiver that is asked again by %s', (kind) => {
  test('is made once, and its repetition gets the recorded answer', async () => {
    const scene = new Scene(kind);
    for (let i = 0; i < 3; i += 1) expect(await scene.until(scene.once(scene.process()))).toEqual(PAID);
    expect(scene.done).toHaveLength(1);
    expect(await scene.openQuestions()).toEqual([]);
  });

  test('of a process that is killed before or after any call is made once, or asks a person', async () => {
    const calls = await callsOf(kind);
    expect(calls.length).toBeGreaterThanOrEqual(4);
    for (const call of calls.keys()) {
      for (const moment of ['before', 'after'] as const) {
        const scene = new Scene(kind);
        const plan = new CrashPlan({ call, moment });
        const dead = scene.once(scene.process(plan));
        expect(await scene.until(dead)).toBe('stuck');
        expect(plan.made).toEqual(calls.slice(0, call + 1));
        const end = await scene.until(scene.once(scene.process()));
        const questions = await scene.openQuestions();
        if (end !== 'stuck' && end.status === 'fulfilled') {
          expect([call, moment, end.value, scene.done.length]).toEqual([call, moment, { id: 'pay_1' }, 1]);
          expect(questions).toEqual([]);
        } else {
          // Only a receiver without a lookup leaves a question, and then it was called at most once.
          expect([call, moment, kind, end]).toMatchObject([
            call,
            moment,
            'ask',
            { reason: { code: 'EFFECT_PENDING' } },
          ]);
          expect(scene.done.length).toBeLessThanOrEqual(1);
          expect(questions).toMatchObject([{ status: 'blocked', blockedBy: 'doubt' }]);
        }
      }
    }
  });

  test('is made once by many concurrent processes, some of which die', async () => {
    const calls = await callsOf(kind);
    const deaths = fc.array(
      fc.option(
        fc.record<CrashPoint>({
          call: fc.nat(calls.length - 1),
          moment: fc.constantFrom('before', 'after'),
        }),
      ),
      { minLength: 2, maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(deaths, async (processes) => {
        const scene = new Scene(kind);
        for (const death of processes) void scene.once(scene.process(new CrashPlan(death ?? undefined)));
        const last = await scene.until(scene.once(scene.process()));
        expect(last).not.toBe('stuck');
        const isAnswered = last !== 'stuck' && last.status === 'fulfilled';
        expect(scene.done.length).toBeLessThanOrEqual(1);
        if (isAnswered) expect([last, scene.done.length]).toEqual([PAID, 1]);
        else expect(await scene.openQuestions()).toHaveLength(1);
      }),
      { numRuns: 40 },
    );
  });
});

describe('an effect without a run', () => {
  test('E9: whose process died becomes a question, without another process, once the call must have ended', async () => {
    const scene = new Scene('lookup');
    // Dies after the call, before its answer is recorded.
    const call = (await callsOf('lookup')).indexOf('call bank.pay');
    void scene.once(scene.process(new CrashPlan({ call, moment: 'after' })));
    await scene.until(Promise.withResolvers<never>().promise, 1_000);
    expect(await scene.openQuestions()).toEqual([]);
    scene.clock.jump(CALL_MS + 60_000);
    expect(await scene.openQuestions()).toMatchObject([
      { status: 'attempted', runId: 'external:t1:order-7', tenantId: 't1' },
    ]);
    expect(await scene.openQuestions('t2')).toEqual([]);
  });

  test("that did not take effect is repeated, and fails with the receiver's error", async () => {
    const scene = new Scene('ask');
    let refusals = 0;
    const pay = { id: 'pay_9' };
    scene.answer = async () => {
      refusals += 1;
      if (refusals < 3) throw new NotApplied('too busy');
      return pay;
    };
    expect(await scene.until(scene.once(scene.process()))).toMatchObject({ value: pay });
    scene.answer = async () => {
      throw new NotApplied('no such account', { final: true });
    };
    const other = { key: 'order-8' };
    expect(await scene.until(scene.once(scene.process(), other))).toMatchObject({
      reason: { name: 'NotApplied', message: 'no such account' },
    });
    expect(await scene.openQuestions()).toEqual([]);
    // Nothing took effect, so the next call may act.
    scene.answer = undefined;
    expect(await scene.until(scene.once(scene.process(), other))).toEqual(PAID);
  });

  test.each([0, DEFAULT_RETRY.capMs])(
    "waits for the receiver's time in %i ms, the longest wait of a call",
    async (inMs) => {
      const scene = new Scene('ask');
      scene.answer = async () => {
        scene.answer = undefined;
        throw new NotApplied('too busy', { retryAt: new Date(scene.clock.now() + inMs) });
      };
      const from = scene.clock.now();
      expect(await scene.until(scene.once(scene.process()))).toEqual(PAID);
      expect(scene.clock.now() - from).toBe(inMs);
    },
  );

  test.each(KINDS)(
    'leaves a later time of a receiver that is asked by %s to the next call with its key',
    async (kind) => {
      const scene = new Scene(kind);
      const busy = new NotApplied('too busy', {
        retryAt: new Date(scene.clock.now() + DEFAULT_RETRY.capMs + 1),
      });
      scene.answer = () => Promise.reject(busy);
      const from = scene.clock.now();
      expect(await scene.until(scene.once(scene.process()))).toEqual({ status: 'rejected', reason: busy });
      expect(scene.clock.now()).toBe(from);
      expect(await scene.openQuestions()).toEqual([]);
      scene.answer = undefined;
      expect(await scene.until(scene.once(scene.process()))).toEqual(PAID);
      expect(scene.done).toHaveLength(1);
    },
  );

  test('whose call ends without an answer asks a person at once if it cannot be looked up', async () => {
    const scene = new Scene('ask');
    scene.answer = async () => {
      throw new Error('socket hang up');
    };
    const end = await scene.until(scene.once(scene.process()), 1_000);
    expect(end).toMatchObject({
      reason: {
        code: 'EFFECT_PENDING',
        why: 'doubt',
        owner: 'external:t1:order-7',
        help: expect.stringContaining('cairn effects resolve'),
      },
    });
    expect(await scene.openQuestions()).toHaveLength(1);
    // Repetitions ask no second question and make no call.
    scene.answer = undefined;
    expect(await scene.until(scene.once(scene.process()))).toMatchObject({
      reason: { code: 'EFFECT_PENDING' },
    });
    expect([await scene.openQuestions(), scene.done]).toMatchObject([[{ n: 1 }], []]);
  });

  test('whose binding ignores its signal does not block its caller, and is not called again meanwhile', async () => {
    const scene = new Scene('ask');
    scene.answer = () => new Promise(() => {});
    const held = scene.process();
    const end = await scene.until(scene.once(held), 10 * CALL_MS);
    expect(end).toMatchObject({ reason: { code: 'EFFECT_PENDING' } });
    scene.answer = undefined;
    expect(await scene.until(scene.once(scene.process()))).toMatchObject({
      reason: { code: 'EFFECT_PENDING' },
    });
    expect(scene.done).toEqual([]);
  });

  test('that needs permission asks first, and is made when it is given', async () => {
    const scene = new Scene('ask', { requiresConfirmation: true });
    expect(await scene.until(scene.once(scene.process()))).toMatchObject({ reason: { why: 'confirmation' } });
    const [row] = await scene.openQuestions();
    expect([row?.blockedBy, scene.done]).toEqual(['confirmation', []]);
    const stored = await scene.effects.read(row?.effectId ?? '');
    const resolution = { outcome: 're-execute' as const, by: 'c.ann', at: scene.clock.now() };
    const change = { resolution, askingSince: undefined, updatedAt: scene.clock.now() };
    await scene.effects.change(row?.effectId ?? '', stored?.version ?? '', change);
    expect(await scene.until(scene.once(scene.process()))).toEqual(PAID);
    expect([scene.done.length, await scene.openQuestions()]).toEqual([1, []]);
  });

  test('is counted by the result of each call', async () => {
    const scene = new Scene('ask');
    scene.answer = async () => {
      throw new NotApplied('not now', { final: true });
    };
    await scene.until(scene.once(scene.process()));
    scene.answer = undefined;
    for (let i = 0; i < 2; i += 1) await scene.until(scene.once(scene.process()));
    await scene.until(scene.once(scene.process(), { request: { cents: 6 } }));
    expect(scene.outcomes).toEqual(['not_applied', 'executed', 'reused', 'blocked']);
  });

  test('has one request for each key; tenants and keys are separate', async () => {
    const scene = new Scene('ask');
    const effects = scene.process();
    await scene.until(scene.once(effects));
    expect(await scene.until(scene.once(effects, { request: { cents: 6 } }))).toMatchObject({
      reason: { code: 'EFFECT_REQUEST_MISMATCH', field: 'key' },
    });
    for (const more of [{ tenantId: 't2' }, { key: 'order-8' }, { tenantId: 't1:order', key: '7' }])
      expect(await scene.until(scene.once(effects, more))).toMatchObject({ status: 'fulfilled' });
    expect(new Set(scene.done).size).toBe(4);
  });

  test('with an invalid request or under the kill switch is refused before anything is written', async () => {
    const scene = new Scene('ask');
    const effects = scene.process();
    for (const [more, field] of [
      [{ key: '' }, 'key'],
      [{ key: 'a b' }, 'key'],
      [{ tenantId: '' }, 'tenantId'],
      [{ tenantId: 'a\ud800' }, 'tenantId'],
      [{ since: Number.NaN }, 'since'],
    ] as const)
      expect(await scene.until(scene.once(effects, more))).toMatchObject({
        reason: { code: 'INVALID_INPUT', field },
      });
    expect(await scene.until(scene.once(effects, { request: { cents: 'x' } }))).toMatchObject({
      reason: { name: 'Fatal' },
    });
    scene.restore = { at: scene.clock.now(), by: 'system', isPaused: true };
    expect(await scene.until(scene.once(effects))).toMatchObject({ reason: { code: 'UNAVAILABLE' } });
    expect(scene.world.db.effects.size).toBe(0);
  });

  test('may have been made before a restore of the database, unless it is newer', async () => {
    const restored = (kind: Kind) => {
      const scene = new Scene(kind);
      scene.restore = { at: scene.clock.now(), by: 'c.ann', isPaused: false };
      return scene;
    };
    const asking = restored('ask');
    expect(await promptly(asking)).toMatchObject({ reason: { code: 'EFFECT_PENDING', why: 'doubt' } });
    expect([asking.done, await asking.openQuestions()]).toMatchObject([
      [],
      [{ presumedAt: asking.restore?.at }],
    ]);
    const since = asking.clock.now() + 1;
    expect(await asking.until(asking.once(asking.process(), { key: 'younger', since }))).toEqual(PAID);
    // A receiver with a lookup answers that the action did not take place.
    expect(await promptly(restored('lookup'))).toEqual(PAID);
    expect(await promptly(restored('required'))).toEqual(PAID);
  });
});

/** Limits the wait to 10 s, so that a call which no process makes fails the test. */
function promptly(scene: Scene) {
  return scene.until(scene.once(scene.process()), 10_000);
}

describe('a key with a lifetime', () => {
  const DAY = 86_400_000;

  test('is answered from its row until it expires, and acts anew afterwards, whether the rows are deleted or not', async () => {
    const scene = new Scene('ask');
    scene.keepMs = DAY;
    for (const isDeleted of [false, true]) {
      scene.done.length = 0;
      await scene.until(scene.once(scene.process()));
      scene.clock.jump(DAY - 1);
      expect(await scene.until(scene.once(scene.process()))).toMatchObject({ status: 'fulfilled' });
      expect(scene.done).toHaveLength(1);
      scene.clock.jump(1);
      if (isDeleted) scene.world.db.effects.clear();
      expect(await scene.until(scene.once(scene.process(), { request: { cents: 9 } }))).toMatchObject({
        status: 'fulfilled',
      });
      expect(scene.done).toHaveLength(2);
      scene.clock.jump(2 * DAY);
    }
  });

  test('is kept while its outcome is unknown, and for its lifetime from the answer of a person on', async () => {
    const scene = new Scene('ask');
    scene.keepMs = DAY;
    scene.answer = async () => {
      throw new Error('socket hang up');
    };
    await scene.until(scene.once(scene.process()));
    scene.clock.jump(30 * DAY);
    const [row] = await scene.openQuestions();
    if (!row) throw new Error('nothing is asked');
    expect(row.expiresAt).toBeUndefined();
    const resolved = await scene.resolve(row, 'failed');
    expect(resolved).toMatchObject({ outcome: 'failed' });
    const kept = await scene.effects.read(row.effectId);
    expect(kept?.record.expiresAt).toBe(scene.clock.now() + DAY);
    scene.answer = undefined;
    expect(await scene.until(scene.once(scene.process()))).toMatchObject({
      reason: { code: 'EFFECT_FORBIDDEN' },
    });
    scene.clock.jump(DAY);
    expect(await scene.until(scene.once(scene.process()))).toMatchObject({ status: 'fulfilled' });
  });

  test('needs permission again once the last one has expired', async () => {
    const scene = new Scene('ask', { requiresConfirmation: true });
    scene.keepMs = DAY;
    for (let round = 0; round < 2; round += 1) {
      expect(await scene.until(scene.once(scene.process()))).toMatchObject({
        reason: { why: 'confirmation' },
      });
      const [row] = await scene.openQuestions();
      if (!row) throw new Error('nothing is asked');
      await scene.resolve(row, 're-execute');
      scene.clock.jump(60_000);
      expect(await scene.until(scene.once(scene.process()))).toMatchObject({ status: 'fulfilled' });
      scene.clock.jump(DAY);
    }
    expect(scene.done).toHaveLength(2);
  });

  test('is not deleted without a lifetime', async () => {
    const scene = new Scene('ask');
    await scene.until(scene.once(scene.process()));
    for (const { record } of scene.world.db.effects.values())
      expect([record.keepMs, record.expiresAt]).toEqual([undefined, undefined]);
  });
});
