import { Timestamp } from '@google-cloud/firestore';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NewerSchemaError } from '../../packages/cairn/src/core/run/events.ts';
import { withAllMembers } from '../../packages/cairn/src/core/run/state-shape.ts';
import { UndecodableDocument } from '../../packages/cairn/src/ports/store-errors.ts';
import { clientCodec, recordCodec } from '../../packages/cairn/src/store/codec/access.ts';
import { effectCodec } from '../../packages/cairn/src/store/codec/effect.ts';
import { checkpointCodec, eventCodec, stepCodec } from '../../packages/cairn/src/store/codec/journal.ts';
import type { Members } from '../../packages/cairn/src/store/codec/kinds.ts';
import {
  decodeSnapshot,
  encodeNewSnapshot,
  encodeSnapshotUpdate,
  SNAPSHOT_NAMES,
} from '../../packages/cairn/src/store/codec/snapshot.ts';
import { decodeMetadata } from '../../packages/cairn/src/store/codec/volatile-metadata.ts';
import { row } from '../conformance/suites/rows.ts';
import { beginning, idempotencyRecord, T0 } from '../conformance/support/run-fixture.ts';
import { journals } from '../core/run/random-journal.ts';
import * as any from './arbitraries.ts';
import { event as anyEvent, EVENT_TYPES } from './arbitrary-events.ts';

describe('a document decodes to exactly what was encoded', () => {
  const table: [
    string,
    fc.Arbitrary<unknown>,
    { encode(value: never): Members; decode(document: Members, what: string): unknown },
  ][] = [
    ['snapshot', any.runState.map(withAllMembers), { encode: encodeNewSnapshot, decode: decodeSnapshot }],
    ['event', anyEvent, eventCodec],
    ['checkpoint', any.checkpoint, checkpointCodec],
    ['step record', any.stepRecord, stepCodec],
    ['idempotency record', any.idempotencyRecord, recordCodec],
    ['API client', any.apiClient, clientCodec],
  ];
  test.each(table)('%s', (_name, values, codec) => {
    fc.assert(
      fc.property(values, (value) => {
        const decoded = codec.decode(codec.encode(value as never), 'it');
        expect(decoded).toStrictEqual(value);
      }),
    );
  });
});

test.each([
  ['an attempted row with an answer', { responseHash: 'a', resultText: '1' }],
  ['a recorded row without a result', { status: 'recorded', responseHash: 'a' }],
  ['a failed row that is blocked', { status: 'failed', blockedBy: 'doubt' }],
  ['a reused row without its origin', { status: 'reused', responseHash: 'a' }],
  ['a question about a repetition without its origin', { status: 'blocked', blockedBy: 'policy' }],
  ['a blocked row without a reason', { status: 'blocked' }],
  ['an unknown status', { status: 'done' }],
])('%s of the ledger is not read as a row', (_name, members) => {
  const document = { ...effectCodec.encode(row()), ...members };
  expect(() => effectCodec.decode(document, 'it')).toThrow(UndecodableDocument);
});

test.each([
  [
    "'bank.pay' requires confirmation by an operator: finance: more\nthan 5 euros",
    'finance: more\nthan 5 euros',
  ],
  ["'bank.pay' requires confirmation by an operator", undefined],
])('a question of an earlier version, %j, has the reason of its policy', (error, reason) => {
  const document = effectCodec.encode(row({ status: 'blocked', blockedBy: 'confirmation', error }));
  expect(effectCodec.decode(document, 'it').policyReason).toBe(reason);
});

test('every state that results from a journal is decoded to itself', () => {
  fc.assert(
    fc.property(journals(), ({ events, states }) => {
      for (const state of states) {
        expect(decodeSnapshot(encodeNewSnapshot(state), 'it')).toStrictEqual(state);
      }
      for (const event of events)
        expect(eventCodec.decode(eventCodec.encode(event), 'it')).toStrictEqual(event);
    }),
    { numRuns: 30 },
  );
});

test('the properties cover every member of a run document, and every type of event', () => {
  const samples = fc.sample(any.runState, { numRuns: 100, seed: 1 });
  const members = new Set(samples.flatMap((state) => Object.keys(encodeNewSnapshot(state))));
  const derived = [
    'pages',
    'wakeAt',
    'askingSince',
    'waitsFor',
    'foundBy',
    'listed',
    'soft',
    'lastHeartbeatAt',
  ];
  expect(SNAPSHOT_NAMES.filter((name) => !members.has(name) && !derived.includes(name))).toEqual([]);
  const types = new Set(fc.sample(anyEvent, { numRuns: 600, seed: 1 }).map(({ type }) => type));
  expect([...types].sort()).toEqual([...EVENT_TYPES].sort());
});

describe('the volatile metadata', () => {
  test('decodes to what was encoded', () => {
    fc.assert(
      fc.property(any.metadataState, ({ leaseExtendedTo, inFlight, running, dutiesMet }) => {
        const told = {
          ...(leaseExtendedTo === undefined ? {} : { leaseExtendedTo }),
          ...(inFlight === undefined ? {} : { inFlight }),
          ...(running === undefined ? {} : { running }),
          ...(dutiesMet ? { dutiesMet } : {}),
        };
        const update = encodeSnapshotUpdate({ metadata: { heartbeat: false, ...told } });
        const entries = Object.entries(update).filter(([name]) => name.startsWith('soft.'));
        const metadata = Object.fromEntries(
          entries.map(([name, value]) => [name.slice('soft.'.length), value]),
        );
        expect(decodeMetadata({ soft: metadata }, 'it')).toEqual(told);
      }),
    );
    expect(decodeMetadata({}, 'it')).toEqual({});
  });

  test('with met completion duties clears wakeAt', () => {
    expect(isDeletion(encodeSnapshotUpdate({ metadata: { heartbeat: false, dutiesMet: true } }).wakeAt)).toBe(
      true,
    );
  });
});

describe('a masked update', () => {
  test('applied to any earlier document gives the document of the later state', () => {
    fc.assert(
      fc.property(any.runState, any.runState, (before, { parent: _, ...later }) => {
        // Members that determine `wakeAt` and are fixed at creation.
        const after = { ...later, ...(before.parent ? { parent: before.parent } : {}) };
        const stored = apply(encodeNewSnapshot(before), encodeSnapshotUpdate({ snapshot: after }));
        const decoded = decodeSnapshot(stored, 'it');
        const { id, input, createdAt, traceId } = before;
        expect(decoded).toMatchObject({ id, input, createdAt, traceId });
        expect(encodeSnapshotUpdate({ snapshot: decoded })).toEqual(
          encodeSnapshotUpdate({ snapshot: after }),
        );
        expect(stored.wakeAt).toEqual(encodeNewSnapshot(after).wakeAt);
      }),
    );
  });

  test('contains nothing that is fixed at creation, and no volatile metadata', () => {
    const { state } = beginning('run_1');
    const names = Object.keys(encodeSnapshotUpdate({ snapshot: state }));
    const fixed = [
      'id',
      'input',
      'inputHash',
      'tenantId',
      'type',
      'createdAt',
      'rootRunId',
      'trigger',
      'shard',
    ];
    expect(
      names.filter((name) => fixed.includes(name) || name.startsWith('soft') || name === 'lastHeartbeatAt'),
    ).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(['status', 'head', 'steps', 'lease', 'wakeAt']));
  });

  test('without a snapshot contains only the given members', () => {
    expect(Object.keys(encodeSnapshotUpdate({ wakeAt: T0 }))).toEqual(['wakeAt']);
    expect(Object.keys(encodeSnapshotUpdate({ metadata: { heartbeat: true } }))).toEqual([
      'lastHeartbeatAt',
      'soft.lastHeartbeatAt',
    ]);
  });
});

describe('in a document', () => {
  test('scalars are native, times are Timestamps, compound values are canonical JSON text', () => {
    const document = encodeNewSnapshot(beginning('run_1').state);
    expect(document).toMatchObject({
      id: 'run_1',
      head: 1,
      status: 'pending',
      createdAt: Timestamp.fromMillis(T0),
      updatedAt: Timestamp.fromMillis(T0),
      wakeAt: Timestamp.fromMillis(T0 + 60_000),
      trigger: { source: 'webhook', webhookEventId: 'delivery-1' },
      input: '{"nested":[[1,2],[3]],"title":"Überprüfung 🪨"}',
      steps: '',
      waits: '[]',
    });
    expect(recordCodec.encode(idempotencyRecord('k'))).toMatchObject({
      expiresAt: Timestamp.fromMillis(T0 + 86_400_000),
      response: '{"list":[[1],[2,null]],"runId":"run_1"}',
    });
  });

  test('every member is declared by the codec', () => {
    fc.assert(
      fc.property(any.runState, (state) => {
        expect(
          Object.keys(encodeNewSnapshot(state)).filter((name) => !SNAPSHOT_NAMES.includes(name)),
        ).toEqual([]);
      }),
    );
  });
});

test('a step record of an earlier version has no location, and is read', () => {
  const stored = {
    id: 'flow[ask]',
    kind: 'step',
    status: 'succeeded',
    planVersion: 1,
    inputsHash: 'h',
    attempts: 1,
    startedAtMs: T0,
    updatedAtMs: T0,
    revision: 1,
  };
  expect(stepCodec.decode(stored, 'it')).toEqual(stored);
});

describe('a document that cannot be read', () => {
  const document = encodeNewSnapshot(beginning('run_1').state);

  test('because it is newer is reported as newer, whatever else it contains', () => {
    const newer = { schemaVersion: 99, steps: { another: 'form' } };
    expect(() => decodeSnapshot(newer, 'run run_1')).toThrow(NewerSchemaError);
    for (const codec of [eventCodec, checkpointCodec, stepCodec, recordCodec, clientCodec]) {
      expect(() => codec.decode(newer, 'it')).toThrow(NewerSchemaError);
    }
  });

  test.each<[string, Members, RegExp]>([
    ['lacks a member', { head: undefined }, /run_1: member 'head' is missing/],
    ['holds a number as text', { head: '1' }, /member 'head': expected a whole number, found string/],
    ['holds a time as text', { updatedAt: '2026' }, /member 'updatedAt': expected a time/],
    ['holds a time as null', { startedAt: null }, /member 'startedAt': expected a time, found null/],
    ['holds an unknown status', { status: 'flying' }, /member 'status': expected a known word/],
    ['holds a status as a number', { status: 7 }, /member 'status': expected text, found number/],
    ['holds an unknown kind of stop', { stopKind: 'storm' }, /member 'stopKind': expected a known word/],
    ['holds damaged JSON', { waits: '[' }, /member 'waits'/],
    ['holds a damaged list of steps', { steps: 'a:1 b' }, /member 'steps': 'b' is not the entry of a step/],
    ['holds a list as a map', { lease: ['a'] }, /member 'lease': expected a map/],
    [
      'lacks a member of a map',
      { lease: { owner: 'o', epoch: 1 } },
      /member 'lease': member 'expiresAt' is missing/,
    ],
  ])('because it %s is reported with document and member', (_why, damage, message) => {
    const read = () => decodeSnapshot({ ...document, ...damage }, 'run run_1');
    expect(read).toThrow(UndecodableDocument);
    expect(read).toThrow(message);
  });
});

/** A list or an object, stored as text. */
function isStoredAsText(decoded: unknown, stored: unknown): boolean {
  return (
    typeof stored === 'string' && typeof decoded === 'object' && decoded !== null && /^[[{]/.test(stored)
  );
}

test.each<
  [
    string,
    fc.Arbitrary<object>,
    { encode(value: never): Members; decode(document: Members, what: string): unknown },
  ]
>([
  ['snapshot', any.runState, { encode: encodeNewSnapshot, decode: decodeSnapshot }],
  ['event', anyEvent, eventCodec],
  ['API client', any.apiClient, clientCodec],
])('text of another JSON value in a member of a %s is reported', (_name, values, codec) => {
  fc.assert(
    fc.property(values, fc.constantFrom('"x"', '1', 'null', 'true', '{}', '[]'), (value, damage) => {
      const document = codec.encode(value as never);
      for (const [name, stored] of Object.entries(document)) {
        const decoded = (value as Members)[name];
        // Inputs and results may be any value.
        if (!isStoredAsText(decoded, stored) || Object.hasOwn(decoded as object, 'text')) continue;
        if (damage === (Array.isArray(decoded) ? '[]' : '{}')) continue;
        expect(() => codec.decode({ ...document, [name]: damage }, 'it')).toThrow(UndecodableDocument);
      }
    }),
  );
});

test('a value that could not be decoded is not stored', () => {
  const { state } = beginning('run_1');
  expect(() => encodeNewSnapshot({ ...state, head: 1.5 })).toThrow(
    /'head' cannot be stored: 1.5 is not a whole number/,
  );
  expect(() => encodeNewSnapshot({ ...state, updatedAt: Number.NaN })).toThrow(
    /'updatedAt' cannot be stored/,
  );
});

/** Applies a masked update as Firestore does: deletions remove, everything else replaces. */
function apply(document: Members, update: Members): Members {
  const merged = { ...document, ...update };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => !isDeletion(value)));
}

function isDeletion(value: unknown): boolean {
  return String((value as object)?.constructor?.name) === 'DeleteTransform';
}
