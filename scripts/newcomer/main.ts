/**
 * `npm run newcomer`: follows README.md and docs/first-workflow.md like a new user, in a clone of the checked-out commit: writes,
 * tests, serves and runs the workflow of the page, kills its worker while it sends a mail, and checks the recovery and that all
 * mails had one key. The last line is JSON. Exit code 0 only if everything, including reading time, took at most ten minutes.
 * Writing counts as copying, without time.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { control, getJson, type Ready } from '../../packages/local/src/cloud-process.ts';
import { waitFor } from '../demo/notes.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import {
  COMMANDS,
  FIRST_START_LIMIT_MS,
  filesIn,
  LIMIT_MS,
  MAIL_URL,
  PAGE_WITH_CODE,
  READ,
  readPart,
  WORDS_A_MINUTE,
  wordsIn,
} from './way.ts';

/** Limit of a command, generous for a busy machine; the total is checked at the end. */
const COMMAND_LIMIT_MS = 900_000;
const SAID_CHARS = 4_000;

interface Run {
  readonly status: string;
  readonly waits: readonly { readonly kind: string; readonly execution: { readonly stepId: string } }[];
}

const repository = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'cairn-newcomer-'));
const clone = join(folder, 'cairn');
const read = (page: string) => readFileSync(join(repository, page), 'utf8');
const words = READ.reduce((sum, part) => sum + wordsIn(readPart(read(part.page), part)), 0);
const readingMs = Math.round((words / WORDS_A_MINUTE) * 60_000);
/** Time of each part, ms. */
const times: Record<string, number> = {};
let mails: MailServer | undefined;
let stop: (() => Promise<void>) | undefined;
let fault: string | undefined;
/** Last lines of the log of the local cloud. */
let logged = '';
const begun = performance.now();

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void (stop?.() ?? Promise.resolve()).finally(() => process.exit(1)));
try {
  mails = await startMailServer();
  await walk(mails);
} catch (error) {
  fault = [(error as Error).message, logged].filter(Boolean).join('\n');
}
const machineMs = Math.round(performance.now() - begun);
await stop?.().catch((error: Error) => say(error.message));
mails?.close();
// Processes of the cloud may end a moment after npm does.
rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
const totalMs = machineMs + readingMs;
if (fault === undefined && totalMs > LIMIT_MS) fault = `it took ${totalMs} ms; the limit is ${LIMIT_MS}`;
if (fault !== undefined) process.stderr.write(`newcomer: ${fault}\n`);
const result = {
  ok: fault === undefined,
  totalMs,
  machineMs,
  readingMs,
  words,
  wordsPerMinute: WORDS_A_MINUTE,
};
process.stdout.write(`${JSON.stringify({ ...result, limitMs: LIMIT_MS, ...times })}\n`);
process.exitCode = fault === undefined ? 0 : 1;

async function walk(server: MailServer): Promise<void> {
  await part('cloneMs', () => run('git', ['clone', '--quiet', repository, clone], folder));
  await part('firstStartMs', () => start(`${COMMANDS.firstStart} -- --data memory`));
  await stop?.();
  const { firstStartMs = 0 } = times;
  expect(
    firstStartMs <= FIRST_START_LIMIT_MS,
    `the first start took ${firstStartMs} ms; the limit is ${FIRST_START_LIMIT_MS}`,
  );
  for (const [path, code] of filesIn(read(PAGE_WITH_CODE))) {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), code.replace(MAIL_URL, server.url));
  }
  await part('testMs', () => shell(COMMANDS.test));
  const ready = await part('startMs', () => start(COMMANDS.start));
  await part('runMs', () => answerAll(ready));
  await part('recoverMs', () => breakAndRecover(ready, server));
}

/** Starts a run and answers its waits until it sleeps. */
async function answerAll(ready: Ready): Promise<void> {
  const runId = shell(`${COMMANDS.run}; echo $RUN`).trim();
  expect(/^run_\w+$/.test(runId), `the run was not started: ${runId}`);
  process.env.RUN = runId;
  process.env.CONTROL = ready.control;
  await waiting(ready, 'agree');
  const inbox = shell(COMMANDS.inbox);
  expect(inbox.includes('Invite blue?'), `the inbox does not have the question: ${inbox}`);
  shell(COMMANDS.approve);
  await waiting(ready, 'paid');
  shell(COMMANDS.pay);
  await waiting(ready, 'pause');
  shell(COMMANDS.show);
}

/** Advances the clock to the mail, kills the worker that sends it, and checks the outcome by the commands of a user. */
async function breakAndRecover(ready: Ready, { keys }: MailServer): Promise<void> {
  shell(COMMANDS.clock);
  await waitFor('the mail to be sent', () => (keys.length > 0 ? true : undefined));
  const { roles } = await control<Ready['pids']>(ready, 'GET', '/pids');
  for (const pid of roles.tasks ?? []) process.kill(pid, 'SIGKILL');
  say('killed the worker in the middle of the mail');
  await waitFor('the end of the run', async () => {
    const { status } = await runOf(ready);
    expect(status !== 'failed' && status !== 'cancelled', `the run ${status}\n${shell(COMMANDS.show)}`);
    return status === 'completed' ? true : undefined;
  });
  const shown = shell(COMMANDS.show);
  expect(shown.includes('completed'), `the run is not shown as completed:\n${shown}`);
  const events = `/v1/runs/${process.env.RUN}/events?limit=100`;
  const { items } = await getJson<{ items: readonly { type: string }[] }>(ready, events);
  const orphans = items.filter(({ type }) => type === 'orphan_detected').length;
  expect(orphans === 1, `the journal has orphan_detected ${orphans} times`);
  expect(new Set(keys).size === 1, `mails were sent under ${new Set(keys).size} keys`);
  const page = await fetch(`${ready.gateway}/runs/${process.env.RUN}`);
  expect(page.ok && (await page.text()).includes('<script'), 'the console does not show the page of the run');
  say(`the run completed; the mail server got ${keys.length} requests of one key`);
}

function runOf(ready: Ready): Promise<Run> {
  return getJson<Run>(ready, `/v1/runs/${process.env.RUN}`);
}

async function waiting(ready: Ready, stepId: string): Promise<void> {
  await waitFor(`the run to wait at '${stepId}'`, async () => {
    const { waits } = await runOf(ready);
    return waits.some(({ execution }) => execution.stepId === stepId) ? true : undefined;
  });
}

/** Starts the local cloud of the page on free ports, with its ready line as JSON. */
async function start(command: string): Promise<Ready> {
  const child = spawn('sh', ['-c', `exec ${command} --json --port 0`], {
    cwd: clone,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  child.stderr.on('data', (chunk) => {
    logged = `${logged}${chunk}`.slice(-SAID_CHARS);
  });
  const ended = once(child, 'exit');
  stop = async () => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      process.kill(-child.pid, 'SIGTERM');
      await ended;
    }
  };
  for await (const line of createInterface({ input: child.stdout })) {
    // Earlier lines are for people.
    if (!line.startsWith('{')) continue;
    child.stdout.resume();
    return JSON.parse(line) as Ready;
  }
  throw new Error('npm start ended before it was ready');
}

async function part<T>(name: string, give: () => T | Promise<T>): Promise<T> {
  const from = performance.now();
  const given = await give();
  times[name] = Math.round(performance.now() - from);
  say(`${name.replace('Ms', '')}: ${times[name]} ms`);
  return given;
}

function shell(command: string): string {
  return run('sh', ['-c', command], clone);
}

/** @throws Error with the output of the command */
function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: COMMAND_LIMIT_MS,
  });
  if (error) throw error;
  if (status === 0) return stdout;
  throw new Error(`${args.at(-1)} ended with ${status}: ${`${stdout}${stderr}`.slice(-SAID_CHARS)}`);
}

function expect(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem);
}

function say(text: string): void {
  process.stderr.write(`newcomer: ${text}\n`);
}
