import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { control } from '../../packages/local/src/cloud-process.ts';
import {
  type Answer,
  type Delivery,
  deliverUntilTaken,
  openedPullRequest,
  recordedDeliveries,
} from '../../scripts/demo/delivery.ts';
import { inspectJournal } from '../../scripts/demo/journal.ts';
import { linesIn } from '../../scripts/demo/notes.ts';
import { signalTo } from '../support/processes.ts';
import { ended, eventually, startRun, startTestCloud, type TestCloud, tryGet } from './support.ts';

/** One call in eight fails, more than during an outage of a cloud. */
const RULES = [
  { probability: 0.05, fault: { kind: 'aborted' } },
  { probability: 0.05, fault: { kind: 'unavailable' } },
  { probability: 0.02, fault: { kind: 'lost-answer' } },
];

/** Concurrent deliveries. */
const AT_ONCE = 20;

describe('with one Firestore call in eight going wrong', () => {
  let cloud: TestCloud;
  beforeAll(async () => {
    cloud = await startTestCloud('sqlite', { isDisturbed: true });
    await control(cloud.ready, 'PUT', '/faults', { seed: 20_261_121, rules: RULES });
  });
  const tests = { defined: 0, passed: 0 };
  afterAll(async () => {
    try {
      // The tests prove nothing without faults, but a single test may make too few calls.
      if (tests.passed < tests.defined) return;
      const { injected } = await control<{ injected: Record<string, number> }>(cloud.ready, 'GET', '/faults');
      const kinds = RULES.map(({ fault }) => fault.kind);
      expect(kinds.filter((kind) => (injected[kind] ?? 0) === 0)).toEqual([]);
    } finally {
      await cloud?.stop();
    }
  });

  function testWithFaults(name: string, body: () => Promise<void>): void {
    tests.defined += 1;
    test(name, async () => {
      await body();
      tests.passed += 1;
    });
  }

  async function deliverAll(deliveries: readonly Delivery[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (let i = 0; i < deliveries.length; i += AT_ONCE) {
      const some = deliveries.slice(i, i + AT_ONCE);
      answers.push(...(await Promise.all(some.map((one) => deliverUntilTaken(cloud.ready, one)))));
    }
    return answers;
  }

  async function intact(runId: string): Promise<boolean> {
    return eventually('the journal', async () => {
      try {
        return (await inspectJournal(cloud.ready, runId)).intact;
      } catch {
        return undefined;
      }
    });
  }

  testWithFaults('many concurrent copies of one delivery make one run', async () => {
    const delivery = openedPullRequest();
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => deliverUntilTaken(cloud.ready, delivery)),
    );
    // A delivery is accepted without a run while the outcome of another start is unknown, for example after a lost answer.
    const decided = answers.filter(({ inFlight }) => !inFlight);
    const runIds = new Set(decided.map(({ runId }) => runId));
    expect([...runIds]).toEqual([expect.any(String)]);
    const [runId = ''] = runIds;
    expect((await ended(cloud.ready, runId)).status).toBe('completed');
    expect(await intact(runId)).toBe(true);
  });

  testWithFaults(
    'each recorded delivery makes one completed run or none, also when it is repeated',
    async () => {
      const { ready } = cloud;
      const deliveries = recordedDeliveries();
      const first = await deliverAll(deliveries);
      const again = await deliverAll(deliveries);
      expect(again.map(({ runId }) => runId)).toEqual(first.map(({ runId }) => runId));
      expect(first.filter(({ ignored }) => ignored).length).toBeGreaterThan(100);
      const runIds = [...new Set(first.flatMap(({ runId }) => (runId === undefined ? [] : [runId])))];
      expect(runIds.length).toBeGreaterThan(2);
      for (const runId of runIds) {
        expect((await ended(ready, runId)).status).toBe('completed');
        expect(await intact(runId)).toBe(true);
      }
    },
  );

  testWithFaults('a start that is repeated under one key makes one run', async () => {
    const { ready } = cloud;
    const start = async () =>
      (await (await startRun(ready, 'chain-10', {}, 'faulty')).json()) as { runId: string };
    const starts = await Promise.all(Array.from({ length: 50 }, start));
    expect(new Set(starts.map(({ runId }) => runId)).size).toBe(1);
    expect((await ended(ready, starts[0]?.runId ?? '')).status).toBe('completed');
    const runs = await eventually('the list', () =>
      tryGet<{ items: unknown[] }>(ready, '/v1/runs?type=chain-10'),
    );
    expect(runs.items).toHaveLength(1);
  });

  testWithFaults('a killed worker is replaced and its run completes', async () => {
    const { ready, folder } = cloud;
    const notes = join(folder, 'notes');
    const { runId } = (await (await startRun(ready, 'slow', { ms: 1_000, notes })).json()) as {
      runId: string;
    };
    const [, pid] = (await eventually('the step to begin', () => linesIn(notes)[0])).split(' ');
    signalTo(Number(pid), 'SIGKILL');
    expect(await ended(ready, runId)).toMatchObject({ status: 'completed' });
    expect(await intact(runId)).toBe(true);
  });
});
