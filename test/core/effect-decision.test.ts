import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type EffectRequest,
  effectDecision,
  inheritedEffectDecision,
} from '../../packages/cairn/src/core/effects/decision.ts';
import {
  type BlockedBy,
  type EffectRecord,
  type EffectStatus,
  effectIdOf,
  IDEMPOTENCY,
  isEffectId,
  REPLAY_POLICIES,
  RESOLUTIONS,
  type Resolution,
} from '../../packages/cairn/src/core/effects/effect.ts';
import { type EffectPlace, effectKey } from '../../packages/cairn/src/core/effects/keys.ts';

const KEY = 'a'.repeat(64);
const CALL: EffectRequest = {
  requestHash: 'same',
  idempotency: 'not_supported',
  replayPolicy: 'use_recorded_result',
  hasLookup: false,
};

interface Sketch {
  readonly status: EffectStatus;
  readonly blockedBy?: BlockedBy;
  readonly resolved?: Resolution;
  readonly requestHash?: string;
}

/** Oldest first. */
function rowsOf(...sketches: readonly Sketch[]): EffectRecord[] {
  return sketches
    .map(({ status, blockedBy, resolved, requestHash = 'same' }, i) => ({
      effectId: effectIdOf(KEY, i + 1),
      n: i + 1,
      status,
      requestHash,
      ...(blockedBy === undefined ? {} : { blockedBy }),
      ...(resolved === undefined ? {} : { resolution: { outcome: resolved, by: 'c.ann', at: 1 } }),
    }))
    .reverse() as unknown as EffectRecord[];
}

describe('the decision about the rows of the run itself', () => {
  test.each<[string, Sketch[], Partial<EffectRequest>, object]>([
    ['nothing was done', [], {}, { kind: 'act', n: 1 }],
    ['recorded', [{ status: 'recorded' }], {}, { kind: 'reuse' }],
    [
      'recorded and reused',
      [{ status: 'recorded' }, { status: 'reused' }],
      {},
      { kind: 'reuse', origin: { n: 1 } },
    ],
    [
      'recorded for another request',
      [{ status: 'recorded', requestHash: 'other' }],
      {},
      { kind: 'mismatch' },
    ],
    [
      'a mismatch before',
      [{ status: 'recorded' }, { status: 'blocked', blockedBy: 'mismatch' }],
      {},
      { kind: 'reuse' },
    ],
    ['failed', [{ status: 'failed' }], {}, { kind: 'act', n: 2 }],
    ['nothing was done, to be confirmed', [], { requiresConfirmation: true }, { kind: 'confirm', n: 1 }],
    [
      'a confirmation is asked for',
      [{ status: 'blocked', blockedBy: 'confirmation' }],
      { requiresConfirmation: true },
      { kind: 'confirm', openQuestion: { n: 1 } },
    ],
    [
      'a confirmation is asked for another request',
      [{ status: 'blocked', blockedBy: 'confirmation', requestHash: 'other' }],
      { requiresConfirmation: true },
      { kind: 'confirm', n: 2 },
    ],
    [
      'confirmed',
      [{ status: 'blocked', blockedBy: 'confirmation', resolved: 're-execute' }],
      { requiresConfirmation: true },
      { kind: 'act', n: 2 },
    ],
    [
      'confirmed, and not applied',
      [{ status: 'blocked', blockedBy: 'confirmation', resolved: 're-execute' }, { status: 'failed' }],
      { requiresConfirmation: true },
      { kind: 'act', n: 3 },
    ],
    [
      'confirmed for another request',
      [{ status: 'blocked', blockedBy: 'confirmation', resolved: 're-execute', requestHash: 'other' }],
      { requiresConfirmation: true },
      { kind: 'confirm', n: 2 },
    ],
    [
      'done by hand',
      [{ status: 'recorded', resolved: 'recorded' }],
      { requiresConfirmation: true },
      { kind: 'reuse' },
    ],
    ['failed for another request', [{ status: 'failed', requestHash: 'other' }], {}, { kind: 'act', n: 2 }],
    ['in doubt', [{ status: 'attempted' }], {}, { kind: 'doubt', remedy: 'ask' }],
    [
      'in doubt, with a look',
      [{ status: 'attempted' }],
      { hasLookup: true },
      { kind: 'doubt', remedy: 'lookup' },
    ],
    [
      'in doubt, deduped',
      [{ status: 'attempted' }],
      { idempotency: 'required' },
      { kind: 'doubt', remedy: 'call_again' },
    ],
    [
      'in doubt, a wish only',
      [{ status: 'attempted' }],
      { idempotency: 'optional' },
      { kind: 'doubt', remedy: 'ask' },
    ],
    [
      'in doubt for another request',
      [{ status: 'attempted', requestHash: 'other' }],
      { idempotency: 'required', hasLookup: true },
      { kind: 'doubt', remedy: 'ask' },
    ],
    [
      'asked about',
      [{ status: 'blocked', blockedBy: 'doubt' }],
      { hasLookup: true },
      { kind: 'doubt', remedy: 'ask' },
    ],
    [
      'allowed once more',
      [{ status: 'blocked', blockedBy: 'doubt', resolved: 're-execute' }],
      {},
      { kind: 'act', n: 2 },
    ],
    [
      'allowed once more, and in doubt again',
      [{ status: 'blocked', blockedBy: 'doubt', resolved: 're-execute' }, { status: 'attempted' }],
      {},
      { kind: 'doubt', row: { n: 2 }, remedy: 'ask' },
    ],
    [
      'a question about a repetition is no action',
      [{ status: 'blocked', blockedBy: 'policy', resolved: 're-execute' }],
      {},
      { kind: 'act', n: 2 },
    ],
  ])('%s', (_, sketches, caseOf, decision) => {
    expect(effectDecision(rowsOf(...sketches), { ...CALL, ...caseOf })).toMatchObject(decision);
  });

  const sketch: fc.Arbitrary<Sketch> = fc.oneof(
    fc.record({
      status: fc.constantFrom<EffectStatus>('attempted', 'recorded', 'reused', 'failed'),
      requestHash: fc.constantFrom('same', 'other'),
    }),
    fc.record({
      status: fc.constant<EffectStatus>('blocked'),
      blockedBy: fc.constantFrom<BlockedBy>('doubt', 'policy', 'mismatch', 'confirmation'),
      resolved: fc.constantFrom(...RESOLUTIONS),
    }),
  );
  const effectCall = fc.record({
    requestHash: fc.constant('same'),
    idempotency: fc.constantFrom(...IDEMPOTENCY),
    replayPolicy: fc.constantFrom(...REPLAY_POLICIES),
    hasLookup: fc.boolean(),
    requiresConfirmation: fc.boolean(),
  });

  test('calls only if no earlier row took or may have taken effect', () => {
    fc.assert(
      fc.property(fc.array(sketch, { maxLength: 6 }), effectCall, (sketches, asked) => {
        const rows = rowsOf(...sketches);
        const decision = effectDecision(rows, asked);
        if (decision.kind !== 'act') return;
        expect(decision.n).toBe(rows.length + 1);
        const decisive = rows.find(
          ({ status, blockedBy }) =>
            status !== 'reused' && (blockedBy === undefined || blockedBy === 'doubt'),
        );
        const isFree =
          decisive === undefined ||
          decisive.status === 'failed' ||
          decisive.resolution?.outcome === 're-execute';
        expect(isFree).toBe(true);
      }),
    );
  });

  test('calls a capability that requires confirmation only if a person allowed this request', () => {
    fc.assert(
      fc.property(fc.array(sketch, { maxLength: 6 }), effectCall, (sketches, asked) => {
        const rows = rowsOf(...sketches);
        const decision = effectDecision(rows, { ...asked, requiresConfirmation: true });
        const isAllowed = rows.some(
          ({ requestHash, resolution }) => requestHash === 'same' && resolution?.outcome === 're-execute',
        );
        if (decision.kind === 'act') expect(isAllowed).toBe(true);
        if (decision.kind === 'confirm') expect(isAllowed).toBe(false);
        // All other decisions are the same as without confirmation.
        const without = effectDecision(rows, { ...asked, requiresConfirmation: false });
        if (decision.kind === 'confirm') expect(without).toEqual({ kind: 'act', n: decision.n });
        else expect(decision).toEqual(without);
      }),
    );
  });

  test('repeats automatically only if the receiver is idempotent per key, and only the same request', () => {
    fc.assert(
      fc.property(fc.array(sketch, { maxLength: 6 }), effectCall, (sketches, asked) => {
        const decision = effectDecision(rowsOf(...sketches), asked);
        if (decision.kind !== 'doubt' || decision.remedy !== 'call_again') return;
        expect(asked.idempotency).toBe('required');
        expect(decision.row.requestHash).toBe(asked.requestHash);
      }),
    );
  });
});

describe('the decision of a successor about the rows of earlier runs', () => {
  const recorded = rowsOf({ status: 'recorded' });
  const other = rowsOf({ status: 'recorded', requestHash: 'other' });
  const replay = { runId: 'run_2', mode: 'replay' as const };
  const fork = { runId: 'run_2', mode: 'fork' as const };

  test.each([
    ['use_recorded_result', recorded, replay, undefined, 'reuse'],
    ['use_recorded_result', recorded, fork, undefined, 'reuse'],
    ['use_recorded_result', other, replay, undefined, 'mismatch'],
    ['use_recorded_result', other, fork, undefined, 'own'],
    ['reexecute', recorded, replay, undefined, 'own'],
    ['reexecute', other, replay, undefined, 'own'],
    ['require_human', recorded, replay, undefined, 'ask'],
    ['require_human', recorded, replay, 're-execute', 'own'],
    ['require_human', recorded, replay, 'recorded', 'reuse'],
    ['require_human', recorded, replay, 'failed', 'ask'],
    ['require_human', other, replay, 'recorded', 'ask'],
    ['use_recorded_result', rowsOf({ status: 'attempted' }), replay, undefined, 'doubt'],
    ['reexecute', rowsOf({ status: 'attempted' }), replay, undefined, 'doubt'],
    ['reexecute', rowsOf({ status: 'failed' }), replay, undefined, 'own'],
  ] as const)('%s %#', (replayPolicy, rows, scope, documented, kind) => {
    const [asked] =
      documented === undefined
        ? []
        : rowsOf({ status: 'blocked', blockedBy: 'policy', resolved: documented });
    expect(inheritedEffectDecision(rows, { ...CALL, replayPolicy }, scope, asked).kind).toBe(kind);
  });
});

describe('keys', () => {
  const place: EffectPlace = {
    rootRunId: 'run_1',
    stepId: 'send',
    revision: 1,
    capabilityId: 'mail.send',
    call: 1,
  };

  test('are the same for the same place, and 64 hex digits', () => {
    expect(effectKey(place)).toBe(effectKey({ ...place }));
    expect(effectKey(place)).toMatch(/^[0-9a-f]{64}$/);
    expect(isEffectId(effectIdOf(effectKey(place), 12))).toBe(true);
  });

  test.each<Partial<EffectPlace>>([
    { rootRunId: 'run_2' },
    { stepId: 'send2' },
    { itemKey: '0' },
    { revision: 2 },
    { capabilityId: 'mail.sent' },
    { call: 2 },
    { call: '1' },
    { undo: true },
    { scope: 'run_2' },
  ])('differ in %j', (change) => {
    expect(effectKey({ ...place, ...change })).not.toBe(effectKey(place));
  });
});
