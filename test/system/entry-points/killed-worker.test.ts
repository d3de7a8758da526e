/**
 * Kills a worker in a step, and one that starts a run, after its commit is durable and before it creates the task. Uses real
 * processes, real clients and the local cloud.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { control, getJson, type Ready } from '../../../packages/local/src/cloud-process.ts';
import { inspectJournal } from '../../../scripts/demo/journal.ts';
import { linesIn } from '../../../scripts/demo/notes.ts';
import { signalTo } from '../../support/processes.ts';
import {
  ended,
  eventually,
  type RunView,
  startRun,
  startTestCloud,
  type TestCloud,
  tryGet,
} from '../support.ts';
import { type Answered, SOURCES, type Source } from './sources.ts';

/** The longest possible latency of a fault, which is longer than any request may take. */
const HELD_MS = 60_000;
/** More than a request repeats a commit. */
const HELD_TIMES = 1_000;
/** Longer than a first request may take to enqueue its run. */
const TASK_LOST_MS = 3_000;
/** Statuses of the gateway for a worker that died, or did not answer in time. */
const NO_ANSWER = [503, 504];

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await startTestCloud('sqlite', { keepsSpare: true, isDisturbed: true });
});
afterAll(() => cloud.stop());

async function runsOf(ready: Ready, { query }: Source): Promise<readonly RunView[]> {
  return (await getJson<{ items: RunView[] }>(ready, `/v1/runs?${query}`)).items;
}

/** Undefined if the connection was cut, which may happen when the worker is killed. @throws any other error */
async function unlessCut(answer: Promise<Answered>): Promise<Answered | undefined> {
  try {
    return await answer;
  } catch (error) {
    // Compares messages, because errors of fetch come from another realm.
    if (/^(?:fetch failed|terminated)$/.test((error as Error).message)) return undefined;
    throw error;
  }
}

/** Sends the request until its answer names the run, because a slow machine may first report a delay. */
function named(ready: Ready, source: Source, key: string): Promise<Answered> {
  return eventually('an answer', async () => {
    const answer = await unlessCut(source.send(ready, key));
    if (answer?.runId !== undefined) return answer;
    expect([undefined, ...NO_ANSWER, source.early]).toContain(answer?.status);
    return undefined;
  });
}

function rested({ rest }: Source, runId: string | undefined): Promise<RunView> {
  return eventually(`run ${runId} to rest`, async () => {
    const run = await tryGet<RunView>(cloud.ready, `/v1/runs/${runId}`);
    return run?.status === rest ? run : undefined;
  });
}

test('a run whose worker is killed in a step is resumed by another and completes once', async () => {
  const { ready, folder } = cloud;
  const file = join(folder, 'notes');
  const notes = () => linesIn(file);
  const until = join(folder, 'killed');
  const started = await startRun(ready, 'slow', { ms: 0, until, notes: file });
  const { runId } = (await started.json()) as { runId: string };
  const begun = await eventually('the step to begin', () => notes()[0]);
  const pid = Number(begun.split(' ')[1]);
  signalTo(pid, 'SIGKILL');
  writeFileSync(until, '');
  expect(await ended(ready, runId)).toMatchObject({ status: 'completed', resumeCount: 1 });
  expect(notes().map((line) => line.split(' ')[0])).toEqual(['begin', 'begin', 'end']);
  const { workers } = await control<Ready['pids']>(ready, 'GET', '/pids');
  expect(workers).not.toContain(pid);
});

describe('a worker killed between the record and the task', () => {
  test.each(SOURCES)('of a request by $name leaves one run, which the next request names', async (source) => {
    const { ready } = cloud;
    // Requests share a worker with tasks until one of them has died.
    const workers = async () => {
      const { roles } = await control<Ready['pids']>(ready, 'GET', '/pids');
      return [...(roles.requests ?? []), ...(roles.tasks ?? [])];
    };
    // The first request warms the worker, so that only the next one is held and counted.
    const warm = await named(ready, source, 'warm');
    await rested(source, warm.runId);
    const before = await runsOf(ready, source);
    // The commit succeeds, but its response is lost, and the response to its repetition is held back.
    const ofSource = { call: 'Commit', path: source.records, probability: 1, times: 1 };
    const rules = [
      { ...ofSource, fault: { kind: 'lost-answer' } },
      { ...ofSource, times: HELD_TIMES, fault: { kind: 'latency', ms: HELD_MS } },
    ];
    await control(ready, 'PUT', '/faults', { seed: 1, rules });
    const unanswered = unlessCut(source.send(ready, 'once'));
    await eventually('the answer to be held', async () => {
      const { injected } = await control<{ injected: Record<string, number> }>(ready, 'GET', '/faults');
      return (injected.latency ?? 0) > 0 ? true : undefined;
    });
    const victim = await eventually('the worker that is held', async () => (await workers())[0]);
    signalTo(victim, 'SIGKILL');
    // The gateway may answer in its place, but cannot name the run.
    expect((await unanswered)?.runId).toBeUndefined();
    await control(ready, 'DELETE', '/faults');
    await eventually('another worker', async () => {
      const [first] = await workers();
      return first === undefined || first === victim ? undefined : first;
    });

    await control(ready, 'POST', '/clock/advance', { ms: TASK_LOST_MS });
    const again = await named(ready, source, 'once');
    expect(again.status).toBe(source.again);
    const runs = await runsOf(ready, source);
    expect(runs.map(({ id }) => id)).toEqual([again.runId, ...before.map(({ id }) => id)]);
    // There was no task before. The repetition enqueues the run; the scan would wait for a minute.
    const { id, resumeCount } = await rested(source, again.runId);
    expect(resumeCount).toBe(0);
    const { events, intact } = await inspectJournal(ready, id);
    expect(intact).toBe(true);
    expect(events.filter(({ type }) => type === 'run_claimed')).toHaveLength(1);
  });
});
