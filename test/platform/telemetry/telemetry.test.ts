import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  countActive,
  MAX_TENANTS_COUNTED,
} from '../../../packages/cairn/src/platform/telemetry/active-runs.ts';
import {
  type MetricSink,
  type Sinks,
  SpansRefused,
  type TenantActivity,
} from '../../../packages/cairn/src/platform/telemetry/sink.ts';
import {
  MAX_SPANS_KEPT,
  MAX_SPANS_SENT,
} from '../../../packages/cairn/src/platform/telemetry/span-buffer.ts';
import type { EndedSpan } from '../../../packages/cairn/src/platform/telemetry/span-tracer.ts';
import { Telemetry } from '../../../packages/cairn/src/platform/telemetry/telemetry.ts';
import type { KeyedResponse } from '../../../packages/cairn/src/ports/metrics.ts';
import { CollectedLog } from '../../../packages/cairn/src/testing/world/collected-log.ts';
import { settle, VirtualClock } from '../../../packages/cairn/src/testing/world/virtual-clock.ts';

const EVERY_MS = 5_000;
const ANSWER: KeyedResponse = { tenantId: 'acme', source: 'api', result: 'miss' };

/** Sends when the test allows it. */
class Sink implements MetricSink {
  inconsistent(): void {}
  effect(): void {}
  conflict(): void {}
  dispatch(): void {}
  enqueue(): void {}
  scan(): void {}
  dropped = 0;
  spansDropped(count: number): void {
    this.dropped += count;
  }
  readonly spans: EndedSpan[] = [];
  /** Size of requests with permanently refused spans. */
  refused = 0;
  /** Sizes of attempted requests with spans. */
  readonly tried: number[] = [];
  counted = 0;
  activity: readonly TenantActivity[] = [];
  /** Counts at the end of each export. */
  readonly sent: number[] = [];
  hold: Promise<void> | undefined;
  fails = false;
  transition() {
    this.counted += 1;
  }
  ended() {
    this.counted += 1;
  }
  answered() {
    this.counted += 1;
  }
  active(activity: readonly TenantActivity[]) {
    this.activity = activity;
  }
  async take(spans: readonly EndedSpan[]) {
    this.tried.push(spans.length);
    if (this.fails) throw new Error('the collector is down');
    if (spans.length === this.refused) throw new SpansRefused('no');
    this.spans.push(...spans);
  }
  async send() {
    const counted = this.counted;
    await this.hold;
    if (this.fails) throw new Error('the collector is down');
    this.sent.push(counted);
  }
}

let clock: VirtualClock;
let log: CollectedLog;
let sink: Sink;
let shutdown: AbortController;
let loads: number;
let load: () => Promise<Sinks>;
/** One object serves as both sinks. */
const sinks = (): Sinks => ({ metrics: sink, spans: { send: (spans) => sink.take(spans) } });
let telemetry: Telemetry;
beforeEach(() => {
  clock = new VirtualClock();
  log = new CollectedLog(clock);
  sink = new Sink();
  shutdown = new AbortController();
  loads = 0;
  load = async () => sinks();
  telemetry = new Telemetry({
    load() {
      loads += 1;
      return load();
    },
    everyMs: EVERY_MS,
    clock,
    log,
    shutdown: shutdown.signal,
  });
});

/** Returns true if the promise settles without time passing. */
async function isSettled(work: Promise<void>): Promise<boolean> {
  let settled = false;
  work.then(() => {
    settled = true;
  });
  await settle();
  return settled;
}

test('nothing is loaded and nothing sent before anything is counted', async () => {
  await telemetry.workEnded();
  shutdown.abort();
  await settle();
  expect([loads, sink.sent]).toEqual([0, []]);
});

test('the counts of a request are sent at its end, and not again after a request that counts nothing', async () => {
  telemetry.answered(ANSWER);
  telemetry.transition({ tenantId: 'acme', from: 'pending', to: 'running' });
  telemetry.ended({ tenantId: 'acme', type: 't', status: 'failed', durationMs: 1 });
  await telemetry.workEnded();
  expect(sink.sent).toEqual([3]);
  clock.jump(EVERY_MS);
  await telemetry.workEnded();
  expect(sink.sent).toEqual([3]);
  expect(loads).toBe(1);
});

test('the last counts of an instance are sent before it ends, however soon after an export', async () => {
  telemetry.answered(ANSWER);
  await telemetry.workEnded();
  const before = sink.sent.length;
  telemetry.answered(ANSWER);
  await telemetry.lastWorkEnded();
  expect(sink.sent).toHaveLength(before + 1);
});

test('counts made soon after an export wait for the next one, with one timer for all', async () => {
  telemetry.answered(ANSWER);
  await telemetry.workEnded();
  for (let i = 0; i < 10; i += 1) {
    telemetry.answered(ANSWER);
    await telemetry.workEnded();
  }
  expect(sink.sent).toEqual([1]);
  expect(clock.fireNext(clock.now() + EVERY_MS)).toBe(true);
  await settle();
  expect(sink.sent).toEqual([1, 11]);
  expect(clock.nextAt).toBeUndefined();
});

test('a timer that was frozen is replaced by the next request', async () => {
  telemetry.answered(ANSWER);
  await telemetry.workEnded();
  telemetry.answered(ANSWER);
  await telemetry.workEnded();
  clock.jump(3_600_000);
  telemetry.answered(ANSWER);
  await telemetry.workEnded();
  expect(sink.sent).toEqual([1, 3]);
});

test('a collector that hangs delays a request by at most two seconds', async () => {
  sink.hold = new Promise(() => {});
  telemetry.answered(ANSWER);
  const begunAt = clock.now();
  const ended = telemetry.workEnded();
  expect(await isSettled(ended)).toBe(false);
  expect(clock.fireNext()).toBe(true);
  expect(await isSettled(ended)).toBe(true);
  expect(clock.now() - begunAt).toBe(2_000);
  // Later requests do not wait at all while no export is due.
  telemetry.answered(ANSWER);
  expect(await isSettled(telemetry.workEnded())).toBe(true);
});

test('counts made during an export go with the next one', async () => {
  const held = Promise.withResolvers<void>();
  sink.hold = held.promise;
  telemetry.answered(ANSWER);
  const first = telemetry.workEnded();
  await settle();
  telemetry.answered(ANSWER);
  await telemetry.workEnded();
  held.resolve();
  await first;
  clock.fireNext();
  await settle();
  expect(sink.sent).toEqual([1, 2]);
});

describe('a collector that is down', () => {
  test('delays nothing, is logged once a minute, and receives the totals when it is back', async () => {
    sink.fails = true;
    for (let i = 0; i < 30; i += 1) {
      telemetry.answered(ANSWER);
      await telemetry.workEnded();
      clock.jump(EVERY_MS);
    }
    const complaints = log.lines.filter(({ event }) => event === 'telemetry_not_sent');
    expect(complaints).toHaveLength(3);
    expect(complaints[0]).toMatchObject({
      level: 'warn',
      fields: { error: new Error('the collector is down') },
    });
    sink.fails = false;
    await telemetry.workEnded();
    expect(sink.sent).toEqual([30]);
  });

  test('is retried if the exporter itself could not be loaded', async () => {
    load = async () => {
      throw new Error('not found');
    };
    telemetry.answered(ANSWER);
    await telemetry.workEnded();
    load = async () => sinks();
    clock.jump(EVERY_MS);
    telemetry.answered(ANSWER);
    await telemetry.workEnded();
    expect(sink.sent).toEqual([2]);
  });
});

test('counts made while the exporter loads are kept up to a limit, and those beyond it are reported', async () => {
  const loaded = Promise.withResolvers<Sinks>();
  load = () => loaded.promise;
  for (let i = 0; i < 10_003; i += 1) telemetry.answered(ANSWER);
  loaded.resolve(sinks());
  await telemetry.workEnded();
  expect([loads, sink.sent]).toEqual([1, [10_000]]);
  expect(log.lines).toMatchObject([{ event: 'telemetry_counts_lost', fields: { counts: 3 } }]);
});

test('an instance that is asked to end exports what it has, whenever its last export was', async () => {
  telemetry.answered(ANSWER);
  await telemetry.workEnded();
  telemetry.answered(ANSWER);
  shutdown.abort();
  await settle();
  expect(sink.sent).toEqual([1, 2]);
});

test('active runs are exported at once, after an export that is under way', async () => {
  telemetry.answered(ANSWER);
  await telemetry.workEnded();
  const activity = [{ tenantId: 'acme', active: [{ status: 'running' as const, runs: 1 }] }];
  await telemetry.reportActive(activity);
  expect(sink.activity).toBe(activity);
  expect(sink.sent).toHaveLength(2);
});

const span = (name: string) => ({ name }) as EndedSpan;

describe('spans', () => {
  test('are exported at the end of a request, with its counts', async () => {
    telemetry.answered(ANSWER);
    telemetry.spanEnded(span('a'));
    await telemetry.workEnded();
    expect([sink.sent, sink.spans]).toEqual([[1], [span('a')]]);
  });

  test('are exported while work is under way, once in an interval', async () => {
    for (const name of ['a', 'b', 'c']) telemetry.spanEnded(span(name));
    expect(clock.fireNext(clock.now() + EVERY_MS)).toBe(true);
    await settle();
    expect(sink.tried).toEqual([3]);
    expect(clock.nextAt).toBeUndefined();
  });

  test('are exported at once where a request has many, in exports of limited size', async () => {
    for (let i = 0; i < MAX_SPANS_SENT + 1; i += 1) telemetry.spanEnded(span(`s${i}`));
    await settle();
    await telemetry.workEnded();
    clock.jump(EVERY_MS);
    await telemetry.workEnded();
    expect(Math.max(...sink.tried)).toBeLessThanOrEqual(MAX_SPANS_SENT);
    expect(sink.spans).toHaveLength(MAX_SPANS_SENT + 1);
  });

  test('wait for an unreachable collector up to a limit; those beyond it are counted and reported', async () => {
    sink.fails = true;
    for (let i = 0; i < MAX_SPANS_KEPT + 5; i += 1) {
      telemetry.spanEnded(span(`s${i}`));
      await settle();
    }
    // Not one for each span that was dropped.
    expect(sink.tried.length).toBeLessThanOrEqual(MAX_SPANS_KEPT / MAX_SPANS_SENT);
    sink.fails = false;
    clock.jump(EVERY_MS);
    await telemetry.workEnded();
    expect(sink.spans).toHaveLength(MAX_SPANS_KEPT);
    expect(sink.spans[0]).toEqual(span('s0'));
    expect(sink.dropped).toBe(5);
    expect(log.lines).toContainEqual(
      expect.objectContaining({ event: 'telemetry_spans_dropped', fields: { spans: 5 } }),
    );
  });

  test('that a collector refuses for good are dropped and counted, and do not keep the others', async () => {
    sink.refused = MAX_SPANS_SENT;
    for (let i = 0; i < MAX_SPANS_SENT + 2; i += 1) telemetry.spanEnded(span(`s${i}`));
    await settle();
    clock.jump(EVERY_MS);
    await telemetry.workEnded();
    clock.jump(EVERY_MS);
    await telemetry.workEnded();
    expect(sink.spans).toEqual([span(`s${MAX_SPANS_SENT}`), span(`s${MAX_SPANS_SENT + 1}`)]);
    expect(sink.dropped).toBe(MAX_SPANS_SENT);
    expect(log.lines.map(({ event }) => event)).toEqual(['telemetry_not_sent', 'telemetry_spans_dropped']);
  });

  test('that a collector accepted are not sent again, though the counts beside them were refused', async () => {
    telemetry.spanEnded(span('a'));
    const refused = jest.spyOn(sink, 'send').mockRejectedValueOnce(new Error('no'));
    await telemetry.workEnded();
    clock.jump(EVERY_MS);
    await telemetry.workEnded();
    expect(refused).toHaveBeenCalledTimes(2);
    expect(sink.spans).toEqual([span('a')]);
  });
});

describe('the count of active runs', () => {
  const statistics = (tenants: number) => ({
    tenants: async (limit: number) => Array.from({ length: Math.min(limit, tenants) }, (_, i) => `t${i}`),
    activeRuns: async (tenantId: string) => [{ status: 'running' as const, runs: Number(tenantId.slice(1)) }],
    liveVersions: async () => [],
    due: async () => [],
  });

  test('covers every tenant that has runs', async () => {
    const { activity, isCut } = await countActive(statistics(9));
    expect(isCut).toBe(false);
    expect(activity).toEqual(
      Array.from({ length: 9 }, (_, i) => ({ tenantId: `t${i}`, active: [{ status: 'running', runs: i }] })),
    );
  });

  test('is limited, and says so', async () => {
    const { activity, isCut } = await countActive(statistics(MAX_TENANTS_COUNTED + 1));
    expect([activity.length, isCut]).toEqual([MAX_TENANTS_COUNTED, true]);
  });
});
