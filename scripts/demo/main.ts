/**
 * `npm run demo`: delivers one pull request 21 times, kills the worker during a step, kills the whole cloud once, approves the
 * review, and kills the worker again after GitHub has accepted the comment without a response. Prints the trail and then one line
 * of JSON. Exit code 0 only if the run ended as if nothing had happened.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type CloudProcess,
  control,
  getJson,
  type Ready,
  startCloudProcess,
} from '../../packages/local/src/cloud-process.ts';
import { deliverUntilTaken, riskyPullRequest } from './delivery.ts';
import { keepBackTheAnswer, type Posted, posted, untilKeptBack } from './github.ts';
import { inspectJournal } from './journal.ts';
import { readNotes, underWay, waitFor } from './notes.ts';
import { decide, question } from './sign-off.ts';
import { steadyPort } from './steady-port.ts';
import { costOfSteps, type StepCost } from './step-cost.ts';
import { say, trail } from './trail.ts';

const DUPLICATES = 20;

interface RunView {
  readonly status: string;
  readonly resumeCount: number;
  readonly steps: { readonly begun: number };
}

const folder = mkdtempSync(join(tmpdir(), 'cairn-demo-'));
const notesFile = join(folder, 'notes');
/** While this file exists, the parallel steps do not end, so that each can be killed while it runs. */
const holdFile = join(folder, 'hold');
writeFileSync(holdFile, '');
const cloudOptions = {
  data: join(folder, 'data'),
  // The cloud is started twice at this port.
  port: await steadyPort(),
  // The test of the demo uses a bundle, which starts with less processor time.
  functionsModule:
    process.env.CAIRN_DEMO_FUNCTIONS ?? fileURLToPath(new URL('./functions.ts', import.meta.url)),
  env: { CAIRN_DEMO_NOTES: notesFile, CAIRN_DEMO_HOLD: holdFile, CAIRN_LEASE_MS: '5000' },
};
let cloud: CloudProcess | undefined;
try {
  process.exitCode = (await demo()) ? 0 : 1;
} finally {
  cloud?.process.kill('SIGTERM');
  await cloud?.ended;
  rmSync(folder, { recursive: true, force: true });
}

async function demo(): Promise<boolean> {
  cloud = await startCloudProcess(cloudOptions);
  let { ready } = cloud;
  say(`local cloud ready at ${ready.gateway}`);

  const delivery = riskyPullRequest();
  const first = await deliverUntilTaken(ready, delivery);
  const { runId } = first;
  if (runId === undefined) throw new Error(`the delivery started no run: ${JSON.stringify(first)}`);
  say(`GitHub delivers pull_request ${delivery.id}: ${first.status}, run ${runId}`);
  const repeated = await Promise.all(
    Array.from({ length: DUPLICATES }, () => deliverUntilTaken(ready, delivery)),
  );
  const duplicates = repeated.filter((answer) => answer.status === 200 && answer.runId === runId).length;
  say(`the same delivery ${DUPLICATES} more times at once: ${duplicates} answered 200 with the same run`);

  const atFirstKill = await inTheMiddleOfAStep(ready, 3);
  const cost = await costOfSteps(ready, runId);
  const worker = await workerOf(ready);
  process.kill(worker, 'SIGKILL');
  say(`SIGKILL to the worker (pid ${worker}), in the middle of ${atFirstKill.join(', ')}`);

  const atSecondKill = await inTheMiddleOfAStep(ready, 1, worker);
  cloud.process.kill('SIGKILL');
  await cloud.ended;
  say(`SIGKILL to the whole local cloud, in the middle of ${atSecondKill.join(', ')}`);
  rmSync(holdFile);
  cloud = await startCloudProcess(cloudOptions);
  ready = cloud.ready;
  say(`local cloud started again at ${ready.gateway}`);

  await keepBackTheAnswer(ready);
  const { stepId, text } = await question(ready, runId);
  say(`the run asks: ${text}`);
  const answers = [];
  for (const decision of ['approve', 'approve', 'reject'])
    answers.push(await decide(ready, { runId, stepId }, decision));
  say(`approved twice, then rejected: answered ${answers.join(', ')}`);

  await untilKeptBack(ready);
  const poster = await workerOf(ready);
  process.kill(poster, 'SIGKILL');
  say(`SIGKILL to the worker (pid ${poster}): GitHub has accepted the comment, but its response is lost`);
  await waitFor('another worker', async () => {
    const [worker] = await workersOf(ready);
    return worker === undefined || worker === poster ? undefined : worker;
  });
  const atThirdKill = await unrecorded(ready, runId);

  const run = await waitFor('the run to end', async () => {
    const view = await getJson<RunView>(ready, `/v1/runs/${runId}`);
    return ['completed', 'failed', 'cancelled'].includes(view.status) ? view : undefined;
  });
  return report(ready, {
    run,
    runId,
    duplicates,
    cost,
    answers,
    posted: await posted(ready, delivery),
    mayRepeat: [...atFirstKill, ...atSecondKill, ...atThirdKill],
  });
}

interface Outcome {
  readonly run: RunView;
  readonly runId: string;
  readonly duplicates: number;
  readonly cost: StepCost;
  /** Responses to the same decision twice, and to a different one. */
  readonly answers: readonly number[];
  readonly posted: Posted;
  /** Steps that were running at a kill. */
  readonly mayRepeat: readonly string[];
}

async function report(
  ready: Ready,
  { run, runId, duplicates, cost, answers, posted, mayRepeat }: Outcome,
): Promise<boolean> {
  const { items } = await getJson<{ items: unknown[] }>(ready, '/v1/runs?limit=100');
  const { events, intact } = await inspectJournal(ready, runId);
  trail(events);
  const begun = readNotes(notesFile).filter(({ what }) => what === 'begin');
  const steps = new Set(begun.map(({ stepId }) => stepId));
  const reExecuted = [...steps].filter((id) => begun.filter(({ stepId }) => stepId === id).length > 1);
  const ok =
    run.status === 'completed' &&
    items.length === 1 &&
    duplicates === DUPLICATES &&
    intact &&
    answers.join() === '200,200,409' &&
    run.resumeCount > 0 &&
    posted.comments === 1 &&
    posted.statuses === 1 &&
    posted.mostOften === 1 &&
    reExecuted.every((id) => mayRepeat.includes(id));
  const { resumeCount, status } = run;
  const { comments, statuses } = posted;
  const figures = { ok, runs: items.length, duplicates, status, resumeCount, steps: steps.size, reExecuted };
  console.log(JSON.stringify({ ...figures, comments, statuses, journalIntact: intact, answers, ...cost }));
  return ok;
}

/** Waits until `count` steps run in a worker other than `not`, and returns them. */
function inTheMiddleOfAStep(ready: Ready, count: number, not?: number): Promise<string[]> {
  return waitFor(`${count} steps under way`, async () => {
    // A run whose worker was killed continues alone, in a worker of another role.
    const { workers } = await control<Ready['pids']>(ready, 'GET', '/pids');
    const notes = readNotes(notesFile);
    const steps = workers.filter((worker) => worker !== not).flatMap((worker) => underWay(notes, worker));
    return steps.length >= count ? steps : undefined;
  });
}

/** Steps that have begun and whose end is not in the journal. */
async function unrecorded(ready: Ready, runId: string): Promise<string[]> {
  const { events } = await inspectJournal(ready, runId);
  const ended = new Set(events.flatMap(({ type, data }) => (type === 'step_succeeded' ? [data.stepId] : [])));
  return readNotes(notesFile).flatMap(({ stepId }) => (ended.has(stepId) ? [] : [stepId]));
}

/** Waits for the first of {@link workersOf}. Must not return 0, which would address the own process group. */
function workerOf(ready: Ready): Promise<number> {
  return waitFor('a worker', async () => (await workersOf(ready))[0]);
}

/** Workers that run steps; those with started steps come first. */
async function workersOf(ready: Ready): Promise<readonly number[]> {
  const { workers, roles } = await control<Ready['pids']>(ready, 'GET', '/pids');
  const notes = readNotes(notesFile);
  const busy = workers.filter((worker) => underWay(notes, worker).length > 0);
  return [...busy, ...(roles.tasks ?? [])];
}
