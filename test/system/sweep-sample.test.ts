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
import { differenceOfEnds, differenceOfRuns } from '../sweep/judge.ts';
import type { RunOutcome } from '../sweep/outcome.ts';
import type { Scenario } from '../sweep/scenario.ts';
import { rehearse } from '../sweep/sweep.ts';
import { ended, eventually, startRun } from './support.ts';
import { Audience, type SeenDone } from './sweep/audience.ts';
import { beginningsOf, type Note, notesIn, underWay } from './sweep/noting-stage.ts';
import { NOTES, sample } from './sweep/sample.ts';

/** Signals sent one after the other to the worker with the most running bodies: so many (`KILLS`), every second one a request to end. */
const BLOWS = Array.from({ length: Number(process.env.KILLS ?? 3) }, (_, i) =>
  i % 2 === 0 ? ('SIGKILL' as const) : ('SIGTERM' as const),
);
/** Until all scenarios have ended; each death and each wait of a scenario costs some seconds. */
const LIMIT_MS = 60_000 + 10_000 * (sample.length + BLOWS.length);
/** Between two: long enough that something gets done, short enough that much is under way again. */
const BLOW_EVERY_MS = 1_200;

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
    // A step that must not run twice waits until the lease of a dead worker is over.
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

/** Members that differ because another sender sent it, under another id. */
const OF_THE_SENDER: ReadonlySet<string> = new Set([
  'signalId',
  'received',
  'actor',
  'tenantId',
  'environment',
  'trigger',
  'idempotencyKey',
  // The module of this test has other workflows beside those of the scenario.
  'versions',
  // Virtual time knows no source files.
  'location',
]);

/** Members in one order, and without what the sender made: the lines of a journal are such texts themselves. */
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

/** Bodies that began after the test had read their success from the store. No clock is asked: those of two processes differ. */
function repeated(done: readonly SeenDone[], seen: readonly Note[]): string[] {
  return done.flatMap(({ runId, key, begun }) => {
    const after = beginningsOf(seen, runId, key);
    return after > begun ? [`${key} began ${after} times, and ${begun} times when it was done`] : [];
  });
}

/** The same as undisturbed, or what the design prescribes for a step that must not run twice. */
async function verdictOn(
  scenario: Scenario,
  audience: Audience,
  seen: readonly Note[],
): Promise<string | undefined> {
  const { expected } = await rehearse(scenario, { withoutPairs: true });
  const runs = await audience.outcome(scenario.name);
  const again = repeated(audience.done(scenario.name), seen);
  if (again.length > 0) return `${scenario.name}: ran again: ${again.join('; ')}`;
  const differenceOf = scenario.judgedByEnd ? differenceOfEnds : differenceOfRuns;
  const difference = differenceOf(anonymous(expected.runs), anonymous(runs));
  const orphaned = runs[0]?.final.error as { code?: string } | undefined;
  if (scenario.name === 'not-idempotent' && orphaned?.code === 'RUN_ORPHANED') return undefined;
  return difference && `${scenario.name}: ${difference}`;
}

test(
  'scenarios of the sweep end as undisturbed when workers are killed in the middle of their bodies',
  async () => {
    const audience = new Audience(cloud.ready, notes, sample);
    try {
      await audience.start();
      const blows = [...BLOWS];
      let nextBlowAt = performance.now();
      await eventually(
        'all scenarios to end',
        async () => {
          const isDone = await audience.attend();
          if (blows.length > 0 && performance.now() >= nextBlowAt) {
            const victim = await busiestWorker(cloud.ready);
            if (victim !== undefined) {
              process.kill(victim, blows.shift());
              nextBlowAt = performance.now() + BLOW_EVERY_MS;
            }
          }
          return isDone ? true : undefined;
        },
        LIMIT_MS,
      ).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${audience.unfinished}`);
      });
      // The number of hits during a body depends on the machine; the test needs one.
      expect(blows.length).toBeLessThan(BLOWS.length);
      const seen = notesIn(notes);
      const verdicts = await Promise.all(sample.map((scenario) => verdictOn(scenario, audience, seen)));
      expect(verdicts.filter((verdict) => verdict !== undefined)).toEqual([]);
    } finally {
      await audience.leave();
    }
  },
  2 * LIMIT_MS,
);

describe('a worker that is asked to end in the middle of two steps', () => {
  /** Both are under way; asks their worker to end, and says how the run did and how often each body began. */
  async function terminated(input: { readonly ms: number; readonly heeds: boolean }) {
    const { ready } = cloud;
    const { runId } = (await (await startRun(ready, 'leaving', input)).json()) as { runId: string };
    const own = () => notesIn(notes).filter((note) => note.runId === runId);
    const pid = await eventually('both steps to begin', () =>
      own().length === 2 ? own()[0]?.pid : undefined,
    );
    process.kill(pid, 'SIGTERM');
    const { status, error } = await ended(ready, runId);
    const begun = (key: string) => own().filter((note) => note.what === 'begin' && note.key === key).length;
    return { status, code: error?.code, again: begun('again@1'), once: begun('once@1') };
  }

  test('keeps what the one that must not run twice returns in time, and the other runs elsewhere', async () => {
    expect(await terminated({ ms: 1_500, heeds: false })).toEqual({
      status: 'completed',
      code: undefined,
      again: 2,
      once: 1,
    });
  });

  test('leaves the one that must not run twice in doubt if it gives up, and the run fails for it', async () => {
    expect(await terminated({ ms: 60_000, heeds: true })).toEqual({
      status: 'failed',
      code: 'RUN_ORPHANED',
      again: 1,
      once: 1,
    });
  });
});
