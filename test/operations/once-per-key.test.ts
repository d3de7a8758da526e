import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  EXHAUSTED_MS,
  MAX_ATTEMPTS,
  PROCESSING_LOCK_MS,
  RECORD_TTL_MS,
} from '../../packages/cairn/src/core/decisions/idempotency.ts';
import { canonicalJson } from '../../packages/cairn/src/core/encoding/json.ts';
import { CairnError } from '../../packages/cairn/src/core/errors.ts';
import { NewerSchemaError } from '../../packages/cairn/src/core/run/events.ts';
import { MemoryDatabase } from '../../packages/cairn/src/memory/memory-database.ts';
import { MemoryIdempotencyStore } from '../../packages/cairn/src/memory/memory-documents.ts';
import {
  type KeptResponse,
  type KeyedRequest,
  type OnceDeps,
  type OnceResult,
  oncePerKey,
  Unfinished,
} from '../../packages/cairn/src/operations/once-per-key.ts';
import type { IdempotencyStore } from '../../packages/cairn/src/ports/idempotency-store.ts';
import { UNMEASURED } from '../../packages/cairn/src/ports/metrics.ts';
import { OutcomeUnknown, StoreRefused } from '../../packages/cairn/src/ports/store-errors.ts';
import { intercept, never } from '../support/intercept.ts';
import { Shuffle } from '../support/shuffle.ts';
import { settle, VirtualClock } from '../support/virtual-clock.ts';
import { SILENT, seededRandomness } from '../support/world.ts';

const KEY = 'api:c.one:k1';

function request(changes: Partial<KeyedRequest> = {}): KeyedRequest {
  return { key: KEY, source: 'api', tenantId: 't1', requestHash: 'h1', ...changes };
}

/** A service with its records. Each execution of the work has a different response. */
class Desk {
  readonly clock = new VirtualClock();
  readonly db = new MemoryDatabase(this.clock);
  readonly records = new MemoryIdempotencyStore(this.db);
  done = 0;
  #callers = 0;

  deps(records: IdempotencyStore = this.records): OnceDeps {
    this.#callers += 1;
    const random = seededRandomness(this.#callers);
    return { records, clock: this.clock, random, log: SILENT, metrics: UNMEASURED };
  }

  readonly work = async (): Promise<KeptResponse> => {
    this.done += 1;
    return { status: 200, body: { z: this.done, a: ['x'] } };
  };

  ask(changes: Partial<KeyedRequest> = {}, work = this.work): Promise<OnceResult> {
    return oncePerKey(this.deps(), request(changes), work);
  }

  /** A worker that creates its record and dies before it has done its work. */
  async dieAtWork(): Promise<void> {
    void this.ask({}, never);
    await settle();
  }

  get record() {
    return this.db.records.get(KEY)?.record;
  }
}

const first: OnceResult = { kind: 'done', response: { status: 200, body: { z: 1, a: ['x'] } } };
const repeated = { ...first, kind: 'replayed' };

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof CairnError ? error.code : `not refused, but ${String(error)}`;
}

describe('a request with a key', () => {
  test('is done once, and every repetition within a day answers the same', async () => {
    const desk = new Desk();
    expect(await desk.ask()).toEqual(first);
    const { clock } = desk;
    expect(desk.record).toMatchObject({
      status: 'completed',
      attempts: 1,
      expiresAt: clock.now() + RECORD_TTL_MS,
    });
    expect(desk.record).not.toHaveProperty('lockExpiresAt');
    clock.jump(RECORD_TTL_MS - 1);
    expect(await desk.ask()).toEqual(repeated);
    expect(desk.done).toBe(1);
    clock.jump(1);
    expect(await desk.ask()).toMatchObject({ kind: 'done', response: { body: { z: 2 } } });
    expect(desk.record?.attempts).toBe(1);
  });

  test('with another content or tenant is refused with the same error until the record expires', async () => {
    const desk = new Desk();
    await desk.ask();
    expect(await codeOf(desk.ask({ requestHash: 'h2' }))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(await codeOf(desk.ask({ tenantId: 't2' }))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(await codeOf(desk.ask({ tenantId: 't2', requestHash: 'h2' }))).toBe('IDEMPOTENCY_KEY_REUSED');
    desk.clock.jump(RECORD_TTL_MS);
    expect(await codeOf(desk.ask({ tenantId: 't2' }))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(desk.done).toBe(1);
    expect(await desk.ask({ requestHash: 'h2' })).toMatchObject({ kind: 'done' });
  });

  test('that many send at once is carried out by one of them, and the others wait', async () => {
    const desk = new Desk();
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => desk.ask()));
    expect(desk.done).toBe(1);
    expect(outcomes.filter(({ kind }) => kind === 'done')).toEqual([first]);
    expect(await desk.ask()).toEqual(repeated);
  });

  test('that is refused is refused again with the same bytes', async () => {
    const desk = new Desk();
    let requestCount = 0;
    const refuse = async (): Promise<KeptResponse> => {
      requestCount += 1;
      throw new CairnError('RUN_TERMINAL_STATE', 'it is over', { details: { from: 'completed' } });
    };
    const refused = await desk.ask({}, refuse);
    expect(refused).toMatchObject({
      kind: 'done',
      response: { status: 409, body: { code: 'RUN_TERMINAL_STATE', detail: 'it is over' } },
    });
    expect(await desk.ask({}, refuse)).toEqual({ ...refused, kind: 'replayed' });
    expect(requestCount).toBe(1);
  });
});

describe('work that fails', () => {
  const broken = () => Promise.reject(new TypeError('password=hunter2'));

  test.each([
    ['an unexpected error', new TypeError('password=hunter2'), 1],
    ['a temporary refusal', new CairnError('RATE_LIMITED', 'slow down'), 0],
    ['a plan that is not deployed', new CairnError('PLAN_VERSION_UNAVAILABLE', 'not here'), 0],
    ['a plan that was changed', new CairnError('PLAN_CHANGED', 'not so'), 0],
    ['a busy run', new CairnError('UNAVAILABLE', 'busy'), 0],
    ['an unknown outcome', new OutcomeUnknown('commit', 'gone'), 0],
    ['a newer version', new NewerSchemaError('a run', 99), 0],
  ])('by %s is reported, and the next repetition does it', async (_what, error, counted) => {
    const desk = new Desk();
    await expect(desk.ask({}, () => Promise.reject(error))).rejects.toBe(error);
    expect(desk.record).toMatchObject({
      status: 'failed',
      attempts: counted,
      expiresAt: desk.clock.now() + RECORD_TTL_MS,
    });
    expect(desk.record?.error).not.toContain('hunter2');
    expect(await desk.ask()).toEqual(first);
    expect(desk.record).toMatchObject({ status: 'completed', attempts: counted + 1 });
    expect(await desk.ask()).toEqual(repeated);
  });

  test('because it must wait is tried as often as necessary', async () => {
    const desk = new Desk();
    const busy = () => Promise.reject(new CairnError('UNAVAILABLE', 'busy'));
    for (let attempt = 0; attempt < 2 * MAX_ATTEMPTS; attempt += 1)
      expect(await codeOf(desk.ask({}, busy))).toBe('UNAVAILABLE');
    expect(await desk.ask()).toEqual(first);
  });

  test(`is tried ${MAX_ATTEMPTS} times, then refused for an hour, then tried as often again`, async () => {
    const desk = new Desk();
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      await expect(desk.ask({}, broken)).rejects.toThrow('hunter2');
      expect(desk.record?.attempts).toBe(attempt);
    }
    expect(await codeOf(desk.ask())).toBe('IDEMPOTENCY_CONFLICT');
    desk.clock.jump(EXHAUSTED_MS - 1);
    expect(await codeOf(desk.ask())).toBe('IDEMPOTENCY_CONFLICT');
    expect(desk.done).toBe(0);
    desk.clock.jump(1);
    expect(await desk.ask()).toEqual(first);
    expect(desk.record?.attempts).toBe(1);
  });
});

/** Ends of an attempt, which may have done its work before. */
const ENDS: Readonly<Record<string, () => Promise<KeptResponse>>> = {
  answered: async () => ({ status: 200, body: 'done' }),
  refused: () => Promise.reject(new CairnError('RUN_TERMINAL_STATE', 'it is over')),
  broken: () => Promise.reject(new TypeError('a bug')),
  busy: () => Promise.reject(new CairnError('UNAVAILABLE', 'busy')),
  limited: () => Promise.reject(new CairnError('RATE_LIMITED', 'slow down')),
  unknown: () => Promise.reject(new OutcomeUnknown('commit', 'gone')),
  dies: never,
};
const MINUTE_MS = 60_000;

test('attempts with one key are one request, whatever their outcomes, until none was made for a day', async () => {
  const attempt = fc.record({
    end: fc.constantFrom(...Object.keys(ENDS)),
    waitMs: fc.oneof(
      fc.constantFrom(0, PROCESSING_LOCK_MS, EXHAUSTED_MS - 1, EXHAUSTED_MS, RECORD_TTL_MS - 1),
      fc.integer({ min: 0, max: 10 * MINUTE_MS }),
      fc.integer({ min: 0, max: RECORD_TTL_MS - 1 }),
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(attempt, { minLength: 2, maxLength: 8 }), async (attempts) => {
      const desk = new Desk();
      const identities = new Set<number>();
      for (const { end, waitMs } of attempts) {
        const work = ENDS[end] ?? never;
        const asked = oncePerKey(desk.deps(), request(), (begunAt) => {
          identities.add(begunAt);
          return work();
        });
        asked.catch(() => {});
        await settle();
        const changedAt = desk.record?.updatedAt ?? 0;
        desk.clock.jump(Math.max(0, Math.min(waitMs, changedAt + RECORD_TTL_MS - 1 - desk.clock.now())));
      }
      expect(identities.size).toBe(1);
    }),
    { numRuns: 200 },
  );
});

describe('a worker that never ends', () => {
  test('excludes others until its lock expires; then one of them takes over', async () => {
    const desk = new Desk();
    await desk.dieAtWork();
    desk.clock.jump(PROCESSING_LOCK_MS - 1);
    expect(await desk.ask()).toEqual({ kind: 'in_flight' });
    expect(await codeOf(desk.ask({ requestHash: 'h2' }))).toBe('IDEMPOTENCY_KEY_REUSED');
    desk.clock.jump(1);
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => desk.ask()));
    expect(outcomes.filter(({ kind }) => kind === 'done')).toEqual([first]);
    expect(desk.done).toBe(1);
    expect(desk.record).toMatchObject({ attempts: 2, status: 'completed' });
  });

  test('excludes others for the time that an installation sets', async () => {
    const desk = new Desk();
    const shortly = () => oncePerKey({ ...desk.deps(), processingLockMs: 20_000 }, request(), desk.work);
    void oncePerKey({ ...desk.deps(), processingLockMs: 20_000 }, request(), never);
    await settle();
    desk.clock.jump(19_999);
    expect(await shortly()).toEqual({ kind: 'in_flight' });
    desk.clock.jump(1);
    expect(await shortly()).toEqual(first);
  });

  test(`that ends this way ${MAX_ATTEMPTS} times has no further successor`, async () => {
    const desk = new Desk();
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      await desk.dieAtWork();
      expect(desk.record?.attempts).toBe(attempt);
      desk.clock.jump(PROCESSING_LOCK_MS);
    }
    expect(await codeOf(desk.ask())).toBe('IDEMPOTENCY_CONFLICT');
    expect(desk.done).toBe(0);
  });

  test('and ends late receives the response of its successor', async () => {
    const desk = new Desk();
    const late = Promise.withResolvers<KeptResponse>();
    const outlived = desk.ask({}, () => late.promise);
    await settle();
    desk.clock.jump(PROCESSING_LOCK_MS);
    expect(await desk.ask()).toEqual(first);
    late.resolve({ status: 200, body: 'too late' });
    expect(await outlived).toEqual(repeated);
    expect(await desk.ask()).toEqual(repeated);
  });

  test('and ends late while its successor works must send again', async () => {
    const desk = new Desk();
    const late = Promise.withResolvers<KeptResponse>();
    const outlived = desk.ask({}, () => late.promise);
    await settle();
    desk.clock.jump(PROCESSING_LOCK_MS);
    await desk.dieAtWork();
    late.resolve({ status: 200, body: 'too late' });
    expect(await outlived).toEqual({ kind: 'in_flight' });
    expect(desk.record).toMatchObject({ status: 'processing', attempts: 2 });
  });
});

/** The existing record when the request arrives. */
const BEFORE: Readonly<Record<string, (desk: Desk) => Promise<void>>> = {
  'no record': async () => {},
  'a failed one': async (desk) => {
    await desk.ask({}, () => Promise.reject(new Error('no'))).catch(() => undefined);
  },
  'one whose lock has passed': async (desk) => {
    await desk.dieAtWork();
    desk.clock.jump(PROCESSING_LOCK_MS);
  },
  'an expired one': async (desk) => {
    await desk.ask({}, async () => ({ status: 200, body: 'old' }));
    desk.clock.jump(RECORD_TTL_MS);
  },
};

/** Loses the responses to the calls in `lost` (counted from 0), each before or after the call was applied. */
function losing(records: IdempotencyStore, lost: readonly number[], applied: boolean) {
  const calls = { count: 0 };
  const store = intercept(records, async ({ method }, proceed) => {
    const isLost = lost.includes(calls.count);
    calls.count += 1;
    if (isLost && !applied) throw new OutcomeUnknown(method, 'never arrived');
    const answer = await proceed();
    if (isLost) throw new OutcomeUnknown(method, 'answer lost');
    return answer;
  });
  return { store, calls };
}

describe.each(Object.keys(BEFORE))('with %s there, and answers lost', (name) => {
  const before = BEFORE[name] ?? (() => Promise.reject(new Error(name)));

  async function withLosses(lost: readonly number[], applied: boolean) {
    const desk = new Desk();
    await before(desk);
    const { store, calls } = losing(desk.records, lost, applied);
    const response = oncePerKey(desk.deps(store), request(), desk.work);
    let ended = false;
    void response.finally(() => {
      ended = true;
    });
    for (let turn = 0; turn < 50 && !ended; turn += 1) {
      await settle();
      if (!ended) desk.clock.fireNext();
    }
    return { desk, outcome: await response, calls: calls.count };
  }

  test.each([true, false])(
    '(applied: %s) at any call, or two, the work is done once and gets one answer',
    async (applied) => {
      const { calls } = await withLosses([], applied);
      // Compared with an undisturbed request, losses add repeated calls and reads.
      const places = Array.from({ length: calls + 3 }, (_, i) => i);
      const losses = places.flatMap((one) => places.filter((two) => two >= one).map((two) => [one, two]));
      for (const lost of losses) {
        const { desk, outcome } = await withLosses(lost, applied);
        expect({ lost, outcome }).toEqual({ lost, outcome: first });
        expect(desk.done).toBe(1);
        expect(desk.record?.status).toBe('completed');
        expect(await desk.ask()).toEqual(repeated);
      }
    },
  );
});

describe('in every order of calls', () => {
  test('five senders with lost answers do the work once, and all answers have the same bytes', async () => {
    const kinds = new Map<string, number>();
    for (let seed = 1; seed <= 200; seed += 1) {
      const desk = new Desk();
      const shuffle = new Shuffle({ seed, clock: desk.clock, lossRate: 0.15 });
      const records = shuffle.gate(desk.records);
      const outcomes = await shuffle.run(
        Array.from({ length: 5 }, () => oncePerKey(desk.deps(records), request(), desk.work)),
      );
      expect(desk.done).toBe(1);
      const answers = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : undefined));
      const bytes = answers.flatMap((answer) =>
        answer && 'response' in answer ? [canonicalJson(answer.response)] : [],
      );
      expect(new Set([...bytes, canonicalJson(first.response)]).size).toBe(1);
      for (const answer of answers) {
        const kind = answer?.kind ?? 'refused';
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }
      expect(await desk.ask()).toEqual(repeated);
    }
    // Each outcome must occur, otherwise the orders were not different.
    expect([...kinds.keys()].sort()).toEqual(['done', 'in_flight', 'replayed']);
    expect(kinds.get('done')).toBe(200);
  });
});

test('progress that is too large for a document is left out, and each repetition continues the request', async () => {
  const desk = new Desk();
  const refusal = new StoreRefused('write', new Error('too large'), { code: 3, reason: 'request' });
  const records = intercept(desk.records, ({ args }, proceed) =>
    JSON.stringify(args).includes('a large report') ? Promise.reject(refusal) : proceed(),
  );
  const work = () => Promise.reject(new Unfinished('some are left', { report: 'a large report' }));
  for (let tries = 0; tries <= MAX_ATTEMPTS; tries += 1)
    await expect(oncePerKey(desk.deps(records), request(), work)).rejects.toBeInstanceOf(Unfinished);
  expect(await oncePerKey(desk.deps(records), request(), desk.work)).toMatchObject({ kind: 'done' });
});
