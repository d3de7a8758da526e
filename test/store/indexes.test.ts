import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { firestoreIndexes } from '../../packages/cairn/src/indexes.ts';
import { clientCodec, recordCodec } from '../../packages/cairn/src/store/codec/access.ts';
import {
  erasureCodec,
  findingCodec,
  heartbeatsCodec,
  mailboxCodec,
  runtimeConfigCodec,
  scheduleCodec,
} from '../../packages/cairn/src/store/codec/documents.ts';
import { effectCodec } from '../../packages/cairn/src/store/codec/effect.ts';
import { checkpointCodec, eventCodec, stepCodec } from '../../packages/cairn/src/store/codec/journal.ts';
import { progressCodec } from '../../packages/cairn/src/store/codec/retention.ts';
import { SNAPSHOT_NAMES } from '../../packages/cairn/src/store/codec/snapshot.ts';
import {
  chunkCodec,
  memoCodec,
  pageCodec,
  segmentCodec,
} from '../../packages/cairn/src/store/codec/values.ts';
import { dayBudgetCodec, planCodec } from '../../packages/cairn/src/store/firestore-documents.ts';
import { collectionNames } from '../../packages/cairn/src/store/layout/collections.ts';

interface IndexFile {
  readonly indexes: readonly {
    readonly collectionGroup: string;
    readonly queryScope: string;
    readonly fields: readonly { readonly fieldPath: string; readonly order: string }[];
  }[];
  readonly fieldOverrides: readonly {
    readonly collectionGroup: string;
    readonly fieldPath: string;
    readonly ttl?: boolean;
    readonly indexes: readonly { readonly order: string; readonly queryScope: string }[];
  }[];
}

const file: IndexFile = JSON.parse(
  readFileSync(new URL('../../firestore.indexes.json', import.meta.url), 'utf8'),
);

const COLLECTIONS: { readonly [group: string]: readonly string[] } = {
  gwi_runs: SNAPSHOT_NAMES,
  events: eventCodec.names,
  checkpoints: checkpointCodec.names,
  steps: stepCodec.names,
  payloads: chunkCodec.names,
  pages: pageCodec.names,
  logs: segmentCodec.names,
  memos: memoCodec.names,
  gwi_idempotency: recordCodec.names,
  gwi_clients: clientCodec.names,
  gwi_waits: mailboxCodec.names,
  gwi_config: [...runtimeConfigCodec.names, ...progressCodec.names, ...heartbeatsCodec.names],
  gwi_schedules: scheduleCodec.names,
  gwi_effects: effectCodec.names,
  gwi_plans: planCodec.names,
  gwi_findings: findingCodec.names,
  gwi_erasures: erasureCodec.names,
  gwi_budgets: dayBudgetCodec.names,
};

describe('firestore.indexes.json', () => {
  test('equals what is generated for the prefix of this repository', () => {
    expect(file).toEqual(firestoreIndexes('gwi_'));
  });

  test.each(Object.entries(COLLECTIONS))(
    'states for every member of %s what is indexed, and nothing else',
    (group, names) => {
      const overridden = file.fieldOverrides.filter(({ collectionGroup }) => collectionGroup === group);
      expect(overridden.map(({ fieldPath }) => fieldPath).sort()).toEqual([...names].sort());
    },
  );

  test('has no collection that no codec writes', () => {
    const groups = [...file.indexes, ...file.fieldOverrides].map(({ collectionGroup }) => collectionGroup);
    expect(groups.filter((group) => !(group in COLLECTIONS))).toEqual([]);
  });

  test('indexes only what lists of a lineage, a tenant and erasures need; lists under a run need none', () => {
    const alone = file.fieldOverrides.filter(({ indexes }) => indexes.length > 0);
    for (const { indexes } of alone)
      expect(indexes).toEqual([{ order: 'ASCENDING', queryScope: 'COLLECTION' }]);
    expect(alone.map(({ collectionGroup, fieldPath }) => `${collectionGroup}.${fieldPath}`)).toEqual([
      'gwi_runs.rootRunId',
      'gwi_idempotency.tenantId',
      'gwi_idempotency.runId',
      'gwi_waits.tenantId',
      'gwi_clients.tenantId',
      'gwi_erasures.state',
      'gwi_findings.tenantId',
    ]);
  });

  test('lets Firestore delete only idempotency records, unused mailboxes, expiring effects without a run and old daily budgets', () => {
    const deleted = file.fieldOverrides.filter(({ ttl }) => ttl);
    expect(deleted).toEqual([
      { collectionGroup: 'gwi_idempotency', fieldPath: 'expiresAt', ttl: true, indexes: [] },
      { collectionGroup: 'gwi_waits', fieldPath: 'expiresAt', ttl: true, indexes: [] },
      { collectionGroup: 'gwi_budgets', fieldPath: 'expiresAt', ttl: true, indexes: [] },
      { collectionGroup: 'gwi_effects', fieldPath: 'expiresAt', ttl: true, indexes: [] },
    ]);
  });

  test('has the four indexes that the data model requires, with a growing value behind a shard', () => {
    const written = file.indexes.map(
      ({ collectionGroup, fields }) =>
        `${collectionGroup}: ${fields.map(({ fieldPath, order }) => (order === 'DESCENDING' ? `-${fieldPath}` : fieldPath)).join(' ')}`,
    );
    expect(written).toEqual(
      expect.arrayContaining([
        'gwi_runs: tenantId status -createdAt',
        'gwi_runs: tenantId repoId -createdAt',
        'gwi_runs: shard status lastHeartbeatAt',
        'gwi_idempotency: shard status expiresAt',
      ]),
    );
    expect(new Set(written).size).toBe(written.length);
  });
});

describe('the prefix', () => {
  const OWN = 'shop_cairn_';

  test('covers every collection with indexes and exemptions, including those below a run', () => {
    const { indexes, fieldOverrides } = firestoreIndexes(OWN);
    for (const { collectionGroup } of [...indexes, ...fieldOverrides])
      expect(collectionGroup).toMatch(/^shop_cairn_[a-z]+$/);
    expect([indexes.length, fieldOverrides.length]).toEqual([
      file.indexes.length,
      file.fieldOverrides.length,
    ]);
  });

  test('gwi_ keeps the names of the data model below a run, so that existing runs are found', () => {
    const { events, checkpoints, steps, memos, payloads, pages, runs } = collectionNames('gwi_');
    expect([events, checkpoints, steps, memos, payloads, pages, runs]).toEqual([
      'events',
      'checkpoints',
      'steps',
      'memos',
      'payloads',
      'pages',
      'gwi_runs',
    ]);
  });

  test('two prefixes never share a collection', () => {
    const names = ['gwi_', 'cairn_', OWN].flatMap((prefix) => Object.values(collectionNames(prefix)));
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(['', 'Cairn_', '1_', 'a/b', `a${'b'.repeat(32)}`])('%j is refused', (prefix) => {
    expect(() => firestoreIndexes(prefix)).toThrow(`'${prefix}' is not a collection prefix`);
  });
});
