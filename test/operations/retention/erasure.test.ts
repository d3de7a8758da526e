/** An erasure deletes data before its retention period ends, and leaves a record without personal data. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Mailbox } from '../../../packages/cairn/src/core/mailbox/mailbox.ts';
import { erasureId } from '../../../packages/cairn/src/core/retention/erasure.ts';
import { DELETION_GRACE_MS } from '../../../packages/cairn/src/core/retention/lineage.ts';
import {
  MemoryIdempotencyStore,
  MemoryMailboxStore,
  MemoryScheduleStore,
} from '../../../packages/cairn/src/memory/memory-documents.ts';
import {
  type EraseDeps,
  eraseRun,
  eraseTenant,
  readErasure,
} from '../../../packages/cairn/src/operations/retention/erasure/request.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { idempotencyRecord } from '../../conformance/support/run-fixture.ts';
import { intercept } from '../../support/intercept.ts';
import { stored as schedule } from '../schedules/scene.ts';
import { DAY, type Run, Shelf, WIDE } from './shelf.ts';

/** The tenant of the runs, and the text in their input. */
const TENANT = 'acme';
const PERSONAL = 'Überprüfung';
const ADMIN = { tenantId: TENANT, actor: 'u.ada' };

const named = (letter: string) => `run_${letter.repeat(25)}a`;
const [A, B, CHILD, PARENT] = [named('a'), named('b'), named('c'), named('p')];
const [RESUMED, OTHER, HELD, NEW] = [named('r'), named('o'), named('h'), named('n')];

let shelf: Shelf;
beforeEach(() => {
  shelf = new Shelf();
});

function deps(): EraseDeps {
  return {
    ...shelf.deps(),
    store: shelf.runs,
    metrics: { answered() {}, transition() {} } as never,
  } as EraseDeps;
}

const erase = (runId: string, own = deps()) => eraseRun(own, { ...ADMIN, runId });
/** Ended a day ago. Retention would keep it for 90 days. */
const put = (run: Partial<Run> & { readonly runId: string }) => shelf.put({ at: shelf.now - DAY, ...run });

async function ticks(): Promise<void> {
  for (let i = 0; i < 4; i += 1) await shelf.tick();
}

/** All documents, as text. */
function everything(): string {
  const { runs, orphans, records, mailboxes, schedules, effects, payloads, memos, erasures, findings } =
    shelf.db;
  const maps = { runs, orphans, records, mailboxes, schedules, effects, payloads, memos, erasures, findings };
  return JSON.stringify(
    Object.entries(maps).map(([name, map]) => [name, [...(map as Map<string, unknown>)]]),
  );
}

describe('a run that is erased', () => {
  test('is hidden at once and deleted after the grace period, with all its documents and names', async () => {
    await put({ runId: A, steps: 3, effects: 2, hasMemo: true, hasPayload: true });
    await put({ runId: B });
    const records = new MemoryIdempotencyStore(shelf.db);
    await records.create(idempotencyRecord('api:c.ci:1', { runId: A, tenantId: TENANT }));
    await records.create(idempotencyRecord('api:c.ci:2', { runId: B, tenantId: TENANT }));
    const erasure = await erase(A);
    expect(erasure).toMatchObject({ state: 'open', roots: [A] });
    expect(await shelf.runs.load(A, TENANT)).toBeUndefined();
    await ticks();
    const done = await readErasure(deps(), erasure.id, TENANT);
    expect(done).toMatchObject({ state: 'done', roots: [], gone: { runs: 1, effects: 2, records: 1 } });
    // Journal, checkpoints, steps, a memo and a payload.
    expect(done.gone.documents).toBeGreaterThan(10);
    expect(everything().replaceAll(erasure.id, '')).not.toContain(A);
    expect(await shelf.runs.load(B, TENANT)).toBeDefined();
    expect(await records.read('api:c.ci:2')).toBeDefined();
  });

  test('includes its lineage and its children', async () => {
    await put({ runId: A, status: 'failed' });
    await put({ runId: RESUMED, rootRunId: A });
    await put({ runId: CHILD, parentRunId: RESUMED });
    await put({ runId: OTHER });
    const { events } = shelf.db.runs.get(RESUMED) ?? { events: [] };
    // As recorded in the journal of its parent.
    const [first] = events;
    if (!first) throw new Error('no journal');
    const wait = { id: 'w', kind: 'child', child: { runId: CHILD, onParentEnd: 'cancel' } };
    events.push({ ...first, seq: events.length + 1, type: 'wait_opened', data: { wait } } as never);
    const erasure = await erase(RESUMED);
    expect([...erasure.roots].sort()).toEqual([A, CHILD]);
    await ticks();
    expect([...shelf.db.runs.keys()]).toEqual([OTHER]);
    expect((await readErasure(deps(), erasure.id)).gone.runs).toBe(3);
  });

  test.each<[string, Partial<Run>, string]>([
    ['has not ended', { status: 'running' }, 'live'],
    ['is held', { isHeld: true }, 'held'],
  ])('is refused if it %s, and nothing is written', async (_, run, why) => {
    await put({ runId: A, ...run });
    const before = everything();
    await expect(erase(A)).rejects.toMatchObject({
      code: 'RUN_INVALID_TRANSITION',
      details: { why, runId: A },
    });
    expect(everything()).toBe(before);
  });

  test('is refused if it is the child of a run that is kept, which is named', async () => {
    await put({ runId: PARENT });
    await put({ runId: CHILD, parentRunId: PARENT });
    await expect(erase(CHILD)).rejects.toMatchObject({
      details: { why: 'parent', relatedRunId: PARENT },
    });
  });

  test('is answered like a missing one to another tenant', async () => {
    await put({ runId: A });
    const foreign = eraseRun(deps(), { runId: A, tenantId: 'rival', actor: 'u.bob' });
    await expect(foreign).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    const erasure = await erase(A);
    await expect(readErasure(deps(), erasure.id, 'rival')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('requested again is the same erasure, before and after it is done', async () => {
    await put({ runId: A });
    const first = await erase(A);
    expect((await erase(A)).id).toBe(first.id);
    await ticks();
    expect(await erase(A)).toMatchObject({ id: first.id, state: 'done' });
    expect(shelf.db.erasures.size).toBe(1);
  });

  test('is completed by the next ticks wherever the process dies, and nothing else is deleted', async () => {
    let survived = 0;
    for (let dies = 1; ; dies += 1) {
      shelf = new Shelf();
      await put({ runId: A, effects: 2, hasMemo: true, hasPayload: true });
      await put({ runId: B, effects: 1 });
      let calls = 0;
      const mortal = <T extends object>(port: T): T =>
        intercept(port, (_, proceed) => {
          calls += 1;
          if (calls > dies) throw new Error('dead');
          return proceed();
        });
      const own = { ...deps(), retention: mortal(shelf.store), erasures: mortal(shelf.erasures) };
      await erase(A, own).catch(() => undefined);
      shelf.now += DELETION_GRACE_MS;
      await shelf
        .tick(WIDE, { ...shelf.deps(mortal(shelf.store)), erasures: mortal(shelf.erasures) })
        .catch(() => undefined);
      const hasRecord = shelf.db.erasures.size > 0;
      await ticks();
      expect(shelf.db.runs.has(B)).toBe(true);
      if (hasRecord) {
        survived += 1;
        expect(everything()).not.toContain(A);
        expect([...shelf.db.erasures.values()][0]?.erasure.state).toBe('done');
      }
      if (calls <= dies) break;
      expect(dies).toBeLessThan(200);
    }
    expect(survived).toBeGreaterThan(15);
  });

  test('continues in the next tick where one has reached its limit', async () => {
    await put({ runId: A, steps: 40 });
    const erasure = await erase(A);
    shelf.now += DELETION_GRACE_MS;
    let tickings = 0;
    const small = { ...WIDE, documents: 20 };
    while ((await readErasure(deps(), erasure.id)).state === 'open' && tickings < 50) {
      await shelf.tick(small);
      tickings += 1;
    }
    expect(tickings).toBeGreaterThan(2);
    expect(shelf.db.runs.size).toBe(0);
  });

  test('leaves a record without personal data', async () => {
    await put({ runId: A });
    expect(everything()).toContain(PERSONAL);
    await erase(A);
    await ticks();
    const text = everything();
    for (const personal of [PERSONAL, ADMIN.actor, TENANT]) expect(text).not.toContain(personal);
  });

  test('waits for the store, and is kept if the response of the store is lost', async () => {
    await put({ runId: A });
    let isLost = false;
    const erasures = intercept(shelf.erasures, async ({ method }, proceed) => {
      const answer = await proceed();
      if (method !== 'create' || isLost) return answer;
      isLost = true;
      throw new OutcomeUnknown('creation of an erasure', new Error('lost'));
    });
    const clock = {
      now: () => shelf.now,
      timer: (_: number, fire: () => void) => {
        queueMicrotask(fire);
        return () => {};
      },
    };
    const erasure = await erase(A, { ...deps(), clock, erasures });
    expect(erasure.roots).toEqual([A]);
    expect(isLost).toBe(true);
  });
});

describe('a tenant that is erased', () => {
  test('loses its runs, schedules, records and events, except for newer runs', async () => {
    await put({ runId: A, effects: 1 });
    await put({ runId: PARENT });
    await put({ runId: CHILD, parentRunId: PARENT });
    const records = new MemoryIdempotencyStore(shelf.db);
    await records.create(idempotencyRecord('api:c.ci:1', { tenantId: TENANT }));
    await records.create(idempotencyRecord('api:c.ci:2', { tenantId: 'rival' }));
    const schedules = new MemoryScheduleStore(shelf.db);
    await schedules.create(schedule({ id: 'sch_1', tenantId: TENANT }));
    await schedules.create(schedule({ id: 'sch_2', tenantId: 'rival' }));
    const mailbox = new MemoryMailboxStore(shelf.db);
    const address = { tenantId: TENANT, event: 'built', key: PERSONAL };
    await mailbox.write(address, { ...address, waiting: [], buffered: [], delivered: [] }, undefined);
    const erasure = await eraseTenant(deps(), { erased: TENANT, actor: 'u.ada' });
    expect(erasure.id).toBe(erasureId(TENANT));
    shelf.now += 1;
    await shelf.put({ runId: NEW, at: shelf.now });
    await ticks();
    const done = await readErasure(deps(), erasure.id);
    expect(done).toMatchObject({
      state: 'done',
      gone: { runs: 3, effects: 1, records: 1, waits: 1, schedules: 1 },
    });
    expect(done.tenantId).toBeUndefined();
    expect([...shelf.db.runs.keys()]).toEqual([NEW]);
    expect([...shelf.db.schedules.keys()]).toEqual(['sch_2']);
    expect([...shelf.db.records.keys()]).toEqual(['api:c.ci:2']);
    expect(shelf.db.mailboxes.size).toBe(0);
  });

  test('keeps what it did after the request: its newer runs need it', async () => {
    await put({ runId: A });
    const records = new MemoryIdempotencyStore(shelf.db);
    const schedules = new MemoryScheduleStore(shelf.db);
    const mailboxes = new MemoryMailboxStore(shelf.db);
    const event = (eventId: string, at: number) => ({
      eventId,
      at,
      dataText: JSON.stringify(PERSONAL),
      expiresAt: at + DAY,
      deliveredTo: [],
    });
    await eraseTenant(deps(), { erased: TENANT, actor: 'u.ada' });
    const before = shelf.now;
    shelf.now += 1;
    const after = shelf.now;
    await shelf.put({ runId: NEW, at: after });
    for (const [key, createdAt] of [
      ['api:c.ci:1', before],
      ['api:c.ci:2', after],
      ['api:c.ci:3', before],
    ] as const)
      await records.create(idempotencyRecord(key, { tenantId: TENANT, createdAt }));
    await schedules.create(schedule({ id: 'sch_old', tenantId: TENANT, createdAt: before }));
    await schedules.create(schedule({ id: 'sch_new', tenantId: TENANT, createdAt: after }));
    const none = { waiting: [], buffered: [], delivered: [] };
    const wait = { runId: NEW, waitId: 'w.1' };
    const fill = (key: string, members: Partial<Mailbox>) => {
      const address = { tenantId: TENANT, event: 'built', key };
      return mailboxes.write(address, { ...address, ...none, ...members }, undefined);
    };
    await fill('old', {
      buffered: [event('e1', before)],
      delivered: [{ eventId: 'd1', at: before, deliveredTo: [A] }],
    });
    await fill('both', { buffered: [event('e2', before), event('e3', after)] });
    await fill('waiting', { waiting: [wait], delivered: [{ eventId: 'd2', at: before, deliveredTo: [A] }] });
    await fill('held', { buffered: [{ ...event('e4', before), takenBy: wait }] });
    await fill('new', { delivered: [{ eventId: 'd3', at: after, deliveredTo: [NEW] }] });
    await ticks();
    expect(await readErasure(deps(), erasureId(TENANT))).toMatchObject({
      state: 'done',
      gone: { runs: 1, records: 2, schedules: 1, waits: 3 },
    });
    expect([...shelf.db.runs.keys()]).toEqual([NEW]);
    expect([...shelf.db.records.keys()]).toEqual(['api:c.ci:2']);
    expect([...shelf.db.schedules.keys()]).toEqual(['sch_new']);
    const left = [...shelf.db.mailboxes.values()].map(({ mailbox }) => [
      mailbox.key,
      [
        ...mailbox.waiting.map(({ waitId }) => waitId),
        ...mailbox.buffered.map(({ eventId }) => eventId),
        ...mailbox.delivered.map(({ eventId }) => eventId),
      ],
    ]);
    expect(Object.fromEntries(left)).toEqual({ both: ['e3'], waiting: ['w.1'], held: ['e4'], new: ['d3'] });
  });

  test('is erased tick by tick although it has more newer data than a tick looks at', async () => {
    const records = new MemoryIdempotencyStore(shelf.db);
    const mailboxes = new MemoryMailboxStore(shelf.db);
    await put({ runId: A });
    const { id } = await eraseTenant(deps(), { erased: TENANT, actor: 'u.ada' });
    const [old, newer] = [shelf.now, shelf.now + 1];
    for (let n = 10; n < 60; n += 1) {
      const at = n < 59 ? newer : old;
      await records.create(idempotencyRecord(`api:c.ci:${n}`, { tenantId: TENANT, createdAt: at }));
      const address = { tenantId: TENANT, event: 'built', key: `${n}` };
      const delivered = [{ eventId: `d${n}`, at, deliveredTo: [NEW] }];
      await mailboxes.write(address, { ...address, waiting: [], buffered: [], delivered }, undefined);
    }
    shelf.now = newer;
    let tickCount = 0;
    for (; (await readErasure(deps(), id)).state === 'open' && tickCount < 20; tickCount += 1)
      await shelf.tick({ ...WIDE, documents: 20 });
    expect(tickCount).toBeGreaterThan(2);
    expect(await readErasure(deps(), id)).toMatchObject({ state: 'done', gone: { records: 1, waits: 1 } });
    expect([shelf.db.records.size, shelf.db.mailboxes.size]).toEqual([49, 49]);
    expect(JSON.stringify([...shelf.db.erasures.values()])).not.toContain('built');
  });

  test.each([
    ['whole passes', WIDE],
    // With this limit, a share of the budget is one document.
    ['pieces', { ...WIDE, documents: 3 }],
  ])(
    'loses all other data although one mailbox cannot be read; it stays open until that can be (%s)',
    async (_, bounds) => {
      const address = (key: string) => ({ tenantId: TENANT, event: 'built', key });
      const mailboxes = new MemoryMailboxStore(shelf.db);
      for (const key of ['a', 'b', 'c'])
        await mailboxes.write(
          address(key),
          { ...address(key), waiting: [], buffered: [], delivered: [] },
          undefined,
        );
      await new MemoryIdempotencyStore(shelf.db).create(
        idempotencyRecord('api:c.ci:1', { tenantId: TENANT }),
      );
      const whole = shelf.deps.bind(shelf);
      const broken = intercept(mailboxes, async ({ method, args }, proceed) => {
        if (method === 'read' && (args[0] as { key: string }).key === 'b')
          throw new Error('of a newer version');
        return proceed();
      });
      shelf.deps = (...given) => ({ ...whole(...given), mailboxes: broken });
      const { id } = await eraseTenant(deps(), { erased: TENANT, actor: 'u.ada' });
      for (let i = 0; i < 10; i += 1) await shelf.tick(bounds);
      expect(await readErasure(deps(), id)).toMatchObject({ state: 'open', gone: { records: 1, waits: 2 } });
      shelf.deps = whole;
      await ticks();
      expect(await readErasure(deps(), id)).toMatchObject({ state: 'done', gone: { waits: 3 } });
    },
  );

  test('waits for live or held runs, names them, and continues by itself', async () => {
    await put({ runId: HELD, isHeld: true });
    await put({ runId: A });
    const { id } = await eraseTenant(deps(), { erased: TENANT, actor: 'u.ada' });
    await ticks();
    expect(await readErasure(deps(), id)).toMatchObject({
      state: 'open',
      keptBy: { why: 'held', runId: HELD },
      gone: { runs: 1 },
    });
    const held = shelf.db.runs.get(HELD);
    await shelf.store.hold(HELD, held?.version ?? '', undefined);
    await ticks();
    expect(await readErasure(deps(), id)).toMatchObject({ state: 'done', gone: { runs: 2 } });
  });

  test('is erased again on a request after it was done', async () => {
    await put({ runId: A });
    const { id } = await eraseTenant(deps(), { erased: TENANT, actor: 'u.ada' });
    await ticks();
    shelf.now += DAY;
    await put({ runId: B });
    expect(await eraseTenant(deps(), { erased: TENANT, actor: 'u.ada' })).toMatchObject({
      id,
      state: 'open',
    });
    await ticks();
    expect(shelf.db.runs.size).toBe(0);
  });
});
