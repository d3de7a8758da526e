import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { canonicalJson } from '../../packages/cairn/src/core/encoding/json.ts';
import {
  type CloudProcess,
  control,
  type Ready,
  startCloudProcess,
} from '../../packages/local/src/cloud-process.ts';
import { builtFunctions } from '../../scripts/test-functions/built.ts';
import { signalTo } from '../support/processes.ts';
import { differenceOfEnds, differenceOfRuns } from '../sweep/judge.ts';
import type { RunOutcome } from '../sweep/outcome.ts';
import type { Scenario } from '../sweep/scenario.ts';
import { rehearse } from '../sweep/sweep.ts';
import { ended, eventually, startRun } from './support.ts';
import { beginningsOf, type Note, notesIn, underWay } from './sweep/noting-stage.ts';
import { NOTES, sample } from './sweep/sample.ts';
import { ScenarioClient, type SeenDone } from './sweep/scenario-client.ts';

/** Signals (`KILLS` of them) to the worker with the most running bodies, one after the other. Each second one is SIGTERM. */
const SIGNALS = Array.from({ length: Number(process.env.KILLS ?? 3) }, (_, i) =>
  i % 2 === 0 ? ('SIGKILL' as const) : ('SIGTERM' as const),
);
/** Time for all scenarios to end. Each killed worker and each wait costs some seconds. */
const LIMIT_MS = 180_000 + 10_000 * (sample.length + SIGNALS.length);
/** Pause between two signals: long enough for some steps to end, and short enough for bodies to be running. */
const SIGNAL_EVERY_MS = 1_200;

let folder: string;
let notes: string;
let cloud: CloudProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-sweep-'));
  notes = join(folder, 'notes');
  cloud = await startCloudProcess({
    data: join(folder, 'data'),
    functionsModule: builtFunctions(join(import.meta.dirname, 'fixtures/sweep-functions.ts')),
    workers: 2,
    // A step that must not run twice waits for the end of the lease of a dead worker.
    env: { [NOTES]: notes, CAIRN_LEASE_MS: '30000', SWEEP_FLOWS: process.env.SWEEP_FLOWS ?? '' },
  });
});
afterAll(async () => {
  cloud.process.kill('SIGTERM');
  await cloud.ended;
  rmSync(folder, { recursive: true, force: true });
});

async function busiestWorker(ready: Ready): Promise<number | undefined> {
  const { workers } = await control<Ready['pids']>(ready, 'GET', '/pids');
  const seen = notesIn(notes);
  const [busiest] = [...workers].sort((a, b) => underWay(seen, b).length - underWay(seen, a).length);
  return busiest !== undefined && underWay(seen, busiest).length > 0 ? busiest : undefined;
}

/** Members that differ because another client sent the request, under another id. */
const OF_THE_SENDER: ReadonlySet<string> = new Set([
  'signalId',
  'received',
  'actor',
  'tenantId',
  'environment',
  'trigger',
  'idempotencyKey',
  // The module of this test has further workflows.
  'versions',
  // Runs in virtual time have no source locations.
  'location',
]);

/** Sorts members and removes those that the sender chose. Lines of a journal are JSON texts themselves. */
function anonymous(runs: readonly RunOutcome[]): RunOutcome[] {
  const seen = JSON.parse(JSON.stringify(runs), (name, value: unknown) => {
    if (OF_THE_SENDER.has(name)) return undefined;
    return typeof value === 'string' && value.startsWith('{') ? anonymousText(value) : value;
  });
  return JSON.parse(canonicalJson(seen)) as RunOutcome[];
}

function anonymousText(text: string): string {
  return canonicalJson(JSON.parse(text, (name, value) => (OF_THE_SENDER.has(name) ? undefined : value)));
}

/** Bodies that began after the test had read their success from the store. Does not compare clocks of different processes. */
function repeated(done: readonly SeenDone[], seen: readonly Note[]): string[] {
  return done.flatMap(({ runId, key, begun }) => {
    const after = beginningsOf(seen, runId, key);
    return after > begun ? [`${key} began ${after} times, and ${begun} times when it was done`] : [];
  });
}

/** Returns the difference from the undisturbed run, if any. A step that must not run twice may end as RUN_ORPHANED. */
async function differenceIn(
  scenario: Scenario,
  client: ScenarioClient,
  seen: readonly Note[],
): Promise<string | undefined> {
  const { expected } = await rehearse(scenario, { withoutPairs: true });
  const runs = await client.outcome(scenario.name);
  const again = repeated(client.done(scenario.name), seen);
  if (again.length > 0) return `${scenario.name}: ran again: ${again.join('; ')}`;
  const differenceOf = scenario.judgedByEnd ? differenceOfEnds : differenceOfRuns;
  const difference = differenceOf(anonymous(expected.runs), anonymous(runs));
  const orphaned = runs[0]?.final.error as { code?: string } | undefined;
  if (scenario.name === 'not-idempotent' && orphaned?.code === 'RUN_ORPHANED') return undefined;
  return difference && `${scenario.name}: ${difference}`;
}

test(
  'scenarios of the sweep end as without kills when workers are killed while bodies run',
  async () => {
    const client = new ScenarioClient(cloud.ready, notes, sample);
    try {
      await client.start();
      const signals = [...SIGNALS];
      let nextSignalAt = performance.now();
      await eventually(
        'all scenarios to end',
        async () => {
          const isDone = await client.poll();
          const [signal] = signals;
          if (signal !== undefined && performance.now() >= nextSignalAt) {
            const victim = await busiestWorker(cloud.ready);
            if (victim !== undefined) {
              signalTo(victim, signal);
              signals.shift();
              nextSignalAt = performance.now() + SIGNAL_EVERY_MS;
            }
          }
          return isDone ? true : undefined;
        },
        LIMIT_MS,
      ).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${client.unfinished}`);
      });
      // The number of hits during a body depends on the machine; the test needs one.
      expect(signals.length).toBeLessThan(SIGNALS.length);
      const seen = notesIn(notes);
      const differences = await Promise.all(sample.map((scenario) => differenceIn(scenario, client, seen)));
      expect(differences.filter((difference) => difference !== undefined)).toEqual([]);
    } finally {
      await client.close();
    }
  },
  2 * LIMIT_MS,
);

describe('a worker that gets SIGTERM while it runs two steps', () => {
  /** Sends SIGTERM while both steps run. Returns the end of the run, and how often each body began. */
  async function terminated(heeds: boolean) {
    const { ready } = cloud;
    const { runId } = (await (await startRun(ready, 'leaving', { heeds })).json()) as { runId: string };
    const own = () => notesIn(notes).filter((note) => note.runId === runId);
    const pid = await eventually('both steps to begin', () =>
      own().length === 2 ? own()[0]?.pid : undefined,
    );
    signalTo(pid, 'SIGTERM');
    const { status, error } = await ended(ready, runId);
    const begun = (key: string) => own().filter((note) => note.what === 'begin' && note.key === key).length;
    return { status, code: error?.code, again: begun('again@1'), once: begun('once@1') };
  }

  test('records the output of the step that must not run twice if it ends in time, and the other step runs again elsewhere', async () => {
    expect(await terminated(false)).toEqual({
      status: 'completed',
      code: undefined,
      again: 2,
      once: 1,
    });
  });

  test('leaves the step that must not run twice in doubt if it is aborted, and the run fails', async () => {
    expect(await terminated(true)).toEqual({
      status: 'failed',
      code: 'RUN_ORPHANED',
      again: 1,
      once: 1,
    });
  });
});
