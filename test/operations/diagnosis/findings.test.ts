import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as deployment from '../../../packages/cairn/src/operations/diagnosis/deployment-findings.ts';
import { type DiagnosisFinding, span } from '../../../packages/cairn/src/operations/diagnosis/finding.ts';
import * as store from '../../../packages/cairn/src/operations/diagnosis/store-findings.ts';
import * as work from '../../../packages/cairn/src/operations/diagnosis/work-findings.ts';
import type { Heartbeat, StoredHeartbeats } from '../../../packages/cairn/src/ports/diagnosis/heartbeats.ts';
import type { SeenQueue } from '../../../packages/cairn/src/ports/diagnosis/queue-probe.ts';
import type { SeenIndex } from '../../../packages/cairn/src/ports/diagnosis/store-probe.ts';

const NOW = Date.UTC(2026, 0, 31, 8, 30);
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const seen = (found: readonly DiagnosisFinding[]) => found.map(({ code, state }) => `${state} ${code}`);
const index = (state: SeenIndex['state']): SeenIndex => ({
  collection: 'gwi_runs',
  fields: ['shard', 'wakeAt'],
  serves: 'the scan',
  state,
});
const beat = (agoMs: number, more: Partial<Heartbeat> = {}): Heartbeat => ({
  at: NOW - agoMs,
  tookMs: 5,
  outcome: 'done',
  ...more,
});
const heartbeats = (
  latest: StoredHeartbeats['latest'],
  since: number | undefined = NOW - DAY_MS,
): StoredHeartbeats => ({
  latest,
  readAt: NOW,
  ...(since === undefined ? {} : { since }),
});
const WELL = {
  recoverRuns: beat(MINUTE_MS),
  fireSchedules: beat(MINUTE_MS),
  checkRuns: beat(HOUR_MS),
  deleteExpired: beat(30 * MINUTE_MS),
};

test('two installations on the same collections are a named problem while both run; one that was renamed is not', () => {
  const [old, cairn, shop] = ['us-central1/drive', 'us-central1/cairn-drive', 'us-central1/shop-drive'];
  const of = (installations: Record<string, number>) => work.ofInstallations(heartbeats({ installations }));
  expect(work.ofInstallations(heartbeats({}))).toEqual([]);
  expect(of({ [cairn]: NOW - MINUTE_MS })).toEqual([]);
  expect(of({ [old]: NOW - 16 * MINUTE_MS, [cairn]: NOW - MINUTE_MS })).toEqual([]);
  const [found] = of({ [shop]: NOW - MINUTE_MS, [old]: NOW - HOUR_MS, [cairn]: NOW });
  expect(found).toMatchObject({
    code: 'STORE_SHARED',
    state: 'wrong',
    evidence: { installations: [cairn, shop] },
  });
  expect(found?.what).toContain(`${cairn}, ${shop}`);
});

test('an installation that was moved to another region, and still runs in the former one, is not told to separate its runs', () => {
  const installations = { 'us-central1/cairn-drive': NOW - MINUTE_MS, 'europe-west1/cairn-drive': NOW };
  const [found] = work.ofInstallations(heartbeats({ installations }));
  expect(found).toMatchObject({ code: 'STORE_SHARED', state: 'wrong' });
  expect(found?.what).toBe('the functions run in 2 regions: europe-west1, us-central1');
  expect(found?.help).toContain('firebase functions:delete, with --region');
  expect(found?.help).toContain('Do not change collectionPrefix');
});

test('an installation that was renamed, and still runs under the former name, is told to delete those functions first', () => {
  const installations = { 'us-central1/cairn-drive': NOW - MINUTE_MS, 'us-central1/shop-drive': NOW };
  const [found] = work.ofInstallations(heartbeats({ installations }));
  expect(found).toMatchObject({ code: 'STORE_SHARED', state: 'wrong' });
  expect(found?.help).toMatch(
    /renamed .*Delete them: firebase functions:delete.*do not change collectionPrefix/,
  );
  expect(found?.help).toMatch(/separate installations, .*its own collectionPrefix/);
});

test('a move beside another installation is reported by itself, and first', () => {
  const names = ['eu/cairn-drive', 'us/cairn-drive', 'eu/shop-drive'];
  const installations = Object.fromEntries(names.map((name) => [name, NOW]));
  const found = work.ofInstallations(heartbeats({ installations }));
  expect(found.map(({ what }) => what)).toEqual([
    'the functions run in 2 regions: eu, us',
    '2 installations share the same collections: eu/cairn-drive, eu/shop-drive, us/cairn-drive',
  ]);
});

const DRIVE = { name: 'drive', isAlone: false };
const ALONE = { name: 'driveAlone', isAlone: true };

describe('the store', () => {
  test.each([
    [['ready', 'ready'], ['well INDEXES']],
    [
      ['ready', 'missing', 'building'],
      ['wrong INDEX_MISSING', 'note INDEX_BUILDING'],
    ],
    [['unknown'], ['note INDEX_UNKNOWN']],
    [[], []],
  ] as const)('indexes that are %j', (states, expected) => {
    expect(seen(store.ofIndexes(states.map(index)))).toEqual(expected);
  });

  test('a missing index is named with its fields and the queries it serves', () => {
    const [found] = store.ofIndexes([index('missing')]);
    expect(found?.what).toBe('the index gwi_runs (shard, wakeAt) is missing; used for the scan');
    expect(found?.evidence).toEqual({ collection: 'gwi_runs', fields: ['shard', 'wakeAt'] });
  });

  test('an expired document that still exists is a finding; without one, the age of the installation decides', () => {
    const late = [{ collection: 'gwi_waits', expiredAt: NOW - 4 * DAY_MS }];
    expect(seen(store.ofExpiry(late, heartbeats({})))).toEqual(['wrong TTL_LATE']);
    expect(store.ofExpiry(late, heartbeats({}))[0]?.what).toContain('expired 4 days ago');
    expect(seen(store.ofExpiry([], heartbeats({}, NOW - 6 * DAY_MS)))).toEqual(['well TTL']);
    expect(seen(store.ofExpiry([], heartbeats({}, NOW - 4 * DAY_MS)))).toEqual(['note TTL_UNKNOWN']);
    expect(seen(store.ofExpiry([], { latest: {}, readAt: NOW }))).toEqual(['note TTL_UNKNOWN']);
    // Without it gcloud uses '(default)', which is not the database of `cairn init`.
    for (const { help } of [
      ...store.ofExpiry(late, heartbeats({})),
      ...store.ofExpiry([], { latest: {}, readAt: NOW }),
    ])
      expect(help).toContain('ttls list --database=DATABASE');
  });

  test.each([
    [0, 'well INSTANCE_CLOCK'],
    [30_000, 'well INSTANCE_CLOCK'],
    [-30_000, 'well INSTANCE_CLOCK'],
    [30_001, 'wrong INSTANCE_CLOCK_SKEW'],
    [-HOUR_MS, 'wrong INSTANCE_CLOCK_SKEW'],
  ])('a clock that is %i ms ahead', (skewMs, expected) => {
    expect(seen([store.ofClock(skewMs)])).toEqual([expected]);
  });
});

describe('the scheduled functions', () => {
  test.each([
    ['all in time', WELL, ['well FUNCTIONS']],
    ['the scan late', { ...WELL, recoverRuns: beat(3 * MINUTE_MS + 1) }, ['wrong SCAN_LATE']],
    ['the scan just in time', { ...WELL, recoverRuns: beat(3 * MINUTE_MS) }, ['well FUNCTIONS']],
    [
      'the scan stopped on purpose',
      { ...WELL, recoverRuns: beat(0, { outcome: 'off' }) },
      ['well FUNCTIONS'],
    ],
    [
      'the scan failing',
      { ...WELL, recoverRuns: beat(0, { outcome: 'failed', error: 'no' }) },
      ['wrong SCAN_FAILED'],
    ],
    [
      'late, and it had failed',
      { ...WELL, recoverRuns: beat(HOUR_MS, { outcome: 'failed' }) },
      ['wrong SCAN_LATE'],
    ],
    [
      'others late or failing',
      { ...WELL, fireSchedules: beat(4 * MINUTE_MS), deleteExpired: beat(0, { outcome: 'failed' }) },
      ['wrong FUNCTION_LATE', 'wrong FUNCTION_FAILED'],
    ],
    ['one that never ran in a day', { ...WELL, checkRuns: undefined }, ['wrong FUNCTION_LATE']],
  ] as const)('%s', (_, latest, expected) => {
    const given = Object.fromEntries(Object.entries(latest).filter(([, one]) => one !== undefined));
    expect(seen(work.ofFunctions(heartbeats(given)))).toEqual(expected);
  });

  test('functions that have not run yet are only noted just after a deployment', () => {
    const fresh = heartbeats({ recoverRuns: beat(0), fireSchedules: beat(0) }, NOW - MINUTE_MS);
    expect(seen(work.ofFunctions(fresh))).toEqual(['note FUNCTION_NEVER']);
    expect(seen(work.ofFunctions({ latest: {}, readAt: NOW }))).toEqual(['note FUNCTION_NEVER']);
  });
});

describe('runs, schedules, the hourly check', () => {
  const calm: work.Waking = { lagMs: 0, due: 0, held: 3, stale: 0, behind: 0, isCut: false };
  test.each([
    ['nothing due', calm, undefined, ['well RUNS_IN_TIME']],
    ['some due', { ...calm, due: 3, lagMs: 90_000 }, undefined, ['well RUNS_IN_TIME']],
    ['overdue', { ...calm, due: 3, lagMs: 5 * MINUTE_MS + 1 }, undefined, ['wrong RUNS_OVERDUE']],
    [
      'overdue while all is stopped',
      { ...calm, due: 3, lagMs: HOUR_MS, stale: 2 },
      'kill_switch',
      ['note RUNS_HELD'],
    ],
    ['dead workers', { ...calm, stale: 1 }, undefined, ['wrong LEASES_STALE']],
    ['events unpublished', { ...calm, behind: 2 }, undefined, ['well RUNS_IN_TIME', 'note EVENTS_BEHIND']],
  ] as const)('runs: %s', (_, waking, stop, expected) => {
    expect(seen(work.ofRuns(waking, stop))).toEqual(expected);
  });

  test.each([
    ['kill_switch', 'the kill switch is on'],
    ['restored', 'the installation is paused after a restore'],
  ] as const)('runs held by %s are said to be held by it', (stop, why) => {
    const [finding] = work.ofRuns({ ...calm, due: 3, lagMs: HOUR_MS }, stop);
    expect(finding?.what).toMatch(new RegExp(`: ${why}$`));
  });

  test('runs: a truncated count is marked as such', () => {
    const [found] = work.ofRuns({ ...calm, due: 200, lagMs: HOUR_MS, isCut: true }, undefined);
    expect(found?.what).toBe('at least 200 runs are overdue, the first by 60 min');
  });

  test('late schedules are counted', () => {
    expect(seen([work.ofSchedules(0, false), work.ofSchedules(100, true)])).toEqual([
      'well SCHEDULES_IN_TIME',
      'wrong SCHEDULES_LATE',
    ]);
  });

  test('problems of the hourly check are listed by code', () => {
    const found = (problems: Record<string, number>) =>
      heartbeats({ found: { at: NOW - HOUR_MS, checked: 50, problems } });
    expect(work.ofSample(heartbeats({}))).toEqual([]);
    expect(seen(work.ofSample(found({})))).toEqual(['well SAMPLE']);
    const [wrong] = work.ofSample(found({ STEP_MISSING: 2, JOURNAL_GAP: 1 }));
    expect(wrong).toMatchObject({ code: 'PROBLEMS_FOUND', state: 'wrong' });
    expect(wrong?.what).toContain('JOURNAL_GAP (1), STEP_MISSING (2)');
  });
});

describe('the queue', () => {
  const queue = (state: 'running' | 'paused' | 'disabled' | 'unknown', oldestMs?: number): SeenQueue => ({
    kind: 'seen',
    state,
    tasks: {
      kind: 'counted',
      depth: 7,
      isCut: false,
      ...(oldestMs === undefined ? {} : { oldestDueAt: NOW - oldestMs }),
    },
  });
  test.each([
    ['runs', queue('running', 1_000), 'well QUEUE'],
    ['does not keep up', queue('running', 5 * MINUTE_MS + 1), 'wrong QUEUE_BEHIND'],
    ['is paused', queue('paused', HOUR_MS), 'wrong QUEUE_STOPPED'],
    ['is disabled', queue('disabled'), 'wrong QUEUE_STOPPED'],
    ['does not exist', { kind: 'missing' }, 'wrong QUEUE_MISSING'],
    ['cannot be read', { kind: 'denied' }, 'note QUEUE_DENIED'],
    ['cannot be counted', { kind: 'seen', state: 'running', tasks: { kind: 'denied' } }, 'note QUEUE_DENIED'],
    [
      'is paused and cannot be counted',
      { kind: 'seen', state: 'paused', tasks: { kind: 'denied' } },
      'wrong QUEUE_STOPPED',
    ],
  ] as const)('that %s', (_, seenQueue, expected) => {
    expect(seen([work.ofQueue(seenQueue, NOW, DRIVE)])).toEqual([expected]);
    const ofAlone = work.ofQueue(seenQueue, NOW, ALONE);
    expect(seen([ofAlone])).toEqual([expected.replace(' ', ' ALONE_')]);
    expect(ofAlone.what).toContain('driveAlone');
    if (ofAlone.state !== 'well') expect(ofAlone.help).toContain('driveAlone');
  });

  test('that is one of several is named with its workflow if it has a problem', () => {
    const nth = (at: number, seenQueue: SeenQueue) => ({
      name: `drive-${at}`,
      isAlone: false,
      of: 'drive',
      seen: seenQueue,
    });
    const findings = work.ofQueues(
      [
        { ...DRIVE, seen: queue('running') },
        nth(2, queue('running')),
        nth(3, queue('paused')),
        nth(4, { kind: 'denied' }),
        nth(5, { kind: 'missing' }),
        nth(6, queue('running', 5 * MINUTE_MS + 1)),
      ],
      NOW,
    );
    expect(seen(findings)).toEqual([
      'well QUEUE',
      'wrong QUEUE_STOPPED',
      'wrong QUEUE_MISSING',
      'wrong QUEUE_BEHIND',
    ]);
    expect(findings[0]?.what).toBe(
      'the queue drive is running with 7 tasks, and 21 tasks in 3 of its 5 further queues; 2 could not be read',
    );
    expect(findings[2]?.what).toBe('there is no queue drive-5: its tasks go into drive meanwhile');
    expect(findings[3]?.help).toContain('Check the responses of drive');
  });

  test.each([
    ['without further queues', [], ''],
    ['with one', [queue('running')], ', and 7 tasks in its 1 further queue'],
    [
      'with one that cannot be read',
      [queue('running'), { kind: 'denied' }],
      ', and 7 tasks in 1 of its 2 further queues; 1 could not be read',
    ],
    ['with none that was counted', [{ kind: 'denied' }, { kind: 'missing' }], ''],
  ] as const)('%s, the tasks of those that were counted are named', (_, further, expected) => {
    const others = further.map((seenQueue, at) => ({
      name: `drive-${at + 2}`,
      isAlone: false,
      of: DRIVE.name,
      seen: seenQueue,
    }));
    const [own] = work.ofQueues([{ ...DRIVE, seen: queue('running') }, ...others], NOW);
    expect(own?.what).toBe(`the queue drive is running with 7 tasks${expected}`);
  });

  test('a caller without the role is shown which role is needed', () => {
    expect(work.ofQueue({ kind: 'denied' }, NOW, DRIVE).help).toContain('roles/cloudtasks.viewer');
  });
});

describe('the deployment and its settings', () => {
  test('secrets are listed as far as they are visible to this function', () => {
    const secret = (name: string, state: 'set' | 'empty' | 'none' | 'elsewhere') => ({
      name,
      functions: ['drive'],
      state,
    });
    const all = [secret('A', 'set'), secret('B', 'empty'), secret('C', 'none'), secret('D', 'elsewhere')];
    expect(seen(deployment.ofSecrets(all))).toEqual([
      'wrong SECRET_EMPTY',
      'note SECRET_NONE',
      'well SECRETS',
      'note SECRETS_ELSEWHERE',
    ]);
    expect(deployment.ofSecrets(all)[0]?.what).toBe('the secret B is empty: drive cannot work');
    expect(seen(deployment.ofSecrets([secret('A', 'set')]))).toEqual(['well SECRETS']);
  });

  test('parameters, switches and pauses', () => {
    expect(deployment.ofParameters([])).toEqual([]);
    expect(seen(deployment.ofParameters([{ name: 'SLACK_TENANTS', why: 'no pair' }]))).toEqual([
      'wrong PARAMETER_INVALID',
    ]);
    expect(seen(deployment.ofSwitches({ killSwitch: false, paused: new Map() }, NOW))).toEqual([
      'well RUNNING',
    ]);
    const restore = { at: NOW - HOUR_MS, by: 'system', isPaused: true };
    expect(seen(deployment.ofSwitches({ killSwitch: false, paused: new Map(), restore }, NOW))).toEqual([
      'wrong RESTORE_HELD',
    ]);
    const paused = new Map([['echo', { since: NOW - HOUR_MS, by: 'c.ops', reason: 'labels' }]]);
    const found = deployment.ofSwitches({ killSwitch: true, paused }, NOW);
    expect(seen(found)).toEqual(['wrong KILL_SWITCH', 'note PAUSED']);
    expect(found[1]).toMatchObject({ what: 'echo is paused for 60 min: labels', help: 'cairn unpause echo' });
    expect(JSON.stringify(found)).not.toContain('c.ops');
  });

  test('missing versions are problems, old ones are notes', () => {
    const version = (planVersion: number, isDeployed: boolean, isNewest: boolean) => ({
      type: 'echo',
      planVersion,
      runs: 2,
      isDeployed,
      isNewest,
    });
    expect(seen(deployment.ofVersions([], false))).toEqual(['well VERSIONS']);
    expect(seen(deployment.ofVersions([version(2, true, true), version(1, true, false)], true))).toEqual([
      'well VERSIONS',
      'note OLD_VERSION_IN_USE',
      'note COUNT_CUT',
    ]);
    const gone = deployment.ofVersions([version(2, true, true), version(1, false, false)], false);
    expect(seen(gone)).toEqual(['wrong PLAN_VERSION_UNAVAILABLE']);
    expect(gone[0]?.what).toBe('2 live runs are on echo v1, which is not deployed');
  });
});

test('every problem has advice', () => {
  const wrongs = [
    ...store.ofIndexes([index('missing')]),
    ...work.ofFunctions(heartbeats({})),
    work.ofQueue({ kind: 'missing' }, NOW, DRIVE),
    work.ofQueue({ kind: 'missing' }, NOW, ALONE),
    ...deployment.ofParameters([{ name: 'X', why: 'y' }]),
  ].filter(({ state }) => state === 'wrong');
  expect(wrongs.length).toBeGreaterThan(4);
  for (const { help } of wrongs) expect(help?.length ?? 0).toBeGreaterThan(10);
});

test('a longer time is never shown as a shorter one', () => {
  const inMs = (text: string) => {
    const [count = '', unit = ''] = text.split(' ');
    return Number(count) * ({ s: 1_000, min: MINUTE_MS, h: HOUR_MS, days: DAY_MS }[unit] ?? Number.NaN);
  };
  fc.assert(
    fc.property(fc.nat(100 * DAY_MS), fc.nat(DAY_MS), (ms, more) => {
      expect(inMs(span(ms + more))).toBeGreaterThanOrEqual(inMs(span(ms)));
      expect(Math.abs(inMs(span(ms)) - ms)).toBeLessThanOrEqual(Math.max(500, ms / 3));
    }),
  );
});
