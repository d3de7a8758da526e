import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { assertFree, portsFrom } from '../../../packages/local/src/dev/ports.ts';
import { installBuiltCairn } from '../../../scripts/test-functions/built.ts';
import { isAlive } from '../../support/processes.ts';
import { eventually } from '../../system/support.ts';

const ROOT = join(import.meta.dirname, '../../..');
const LIMIT_MS = 180_000;

type Told = Readonly<Record<string, unknown>> & { readonly event?: string; readonly message: string };

let folder: string;
let child: ChildProcess;
let ready: Told & {
  gateway: string;
  functionsUrl: string;
  apiKey: string;
  functions: string[];
  pids: { workers: number[] };
};
const received: Told[] = [];

const INDEX = (answer: string) => `
import { onDocumentCreated } from 'firebase-functions/firestore';
import * as v1 from 'firebase-functions/v1';
import { onRequest } from 'firebase-functions/https';
import { defineString, projectID } from 'firebase-functions/params';
import { cairnFunctions } from 'cairn/functions';
import { order } from './order.ts';
const HEADERS = { authorization: \`Bearer \${process.env.DECLARED}\` };
export const hello = onRequest((request, response) => { response.send(${JSON.stringify(answer)}); });
defineString('PARAMETER');
const bucket = defineString('BUCKET', { default: projectID });
const plan = defineString('PLAN');
export const values = onRequest({ secrets: ['DECLARED'] }, (request, response) => {
  const { DECLARED, UNDECLARED, PARAMETER } = process.env;
  response.json({ DECLARED, UNDECLARED, PARAMETER, bucket: bucket.value(), plan: plan.value(), ...HEADERS });
});
export const onOrder = onDocumentCreated('orders/{id}', () => {});
export const onFile = v1.storage.object().onFinalize(() => {});
export const onValue = v1.database.ref('/a').onWrite(() => {});
export const cairn = cairnFunctions({ workflows: [order] });
`;

/** Workflow whose first step ends when the file exists. */
const ORDER = (version: string) => `
import { existsSync } from 'node:fs';
import { defineWorkflow } from 'cairn';
import { z } from 'zod';
export const order = defineWorkflow({
  type: 'order', planVersion: 1, input: z.object({ until: z.string() }),
  steps(step) {
    const reserve = step('reserve', { timeout: '5m' }, async ({ input, log }) => {
      log('reserving');
      while (!existsSync(input.until)) await new Promise((resolve) => setTimeout(resolve, 20));
      return '${version}';
    });
    const ship = step('ship', { needs: { reserve } }, ({ reserve }) => [reserve, '${version}'].join(', '));
    return { ship };
  },
});
`;

/** The last one is also a parameter; no function declares it as a secret. */
const SECRETS = (value: string) => `DECLARED=${value}\nUNDECLARED=${value}\nPARAMETER=${value}\n`;

const write = (name: string, text: string) => writeFileSync(join(folder, 'functions/src', name), text);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-dev-'));
  mkdirSync(join(folder, 'functions/src'), { recursive: true });
  mkdirSync(join(folder, 'functions/node_modules'));
  for (const name of ['firebase-functions', 'zod'])
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'functions/node_modules', name));
  installBuiltCairn(join(folder, 'functions/node_modules'));
  writeFileSync(join(folder, 'firebase.json'), '{ "functions": { "source": "functions" } }');
  const manifest = { type: 'module', main: 'src/index.ts', dependencies: { cairn: '0.2.0' } };
  writeFileSync(join(folder, 'functions/package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'functions/.env'), 'PARAMETER=p');
  writeFileSync(join(folder, 'functions/.secret.local'), SECRETS('s'));
  write('index.ts', INDEX('one'));
  write('order.ts', ORDER('one'));
  const words = ['dev', '--json', '--port', '0', '--data', 'memory', '--no-types'];
  child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(ROOT, 'packages/cli/src/main.ts'), ...words],
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', (line) => received.push(JSON.parse(line) as Told));
  ready = (await said('ready')) as typeof ready;
}, LIMIT_MS);
afterAll(async () => {
  if (child.exitCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

/** The first line of the event after `from` lines. */
function said(event: string, from = 0): Promise<Told> {
  return eventually(event, async () => received.slice(from).find((line) => line.event === event), LIMIT_MS);
}

const hello = async () => (await fetch(`${ready.functionsUrl}/hello`)).text();

async function api<T>(path: string, body?: object): Promise<T> {
  const answer = await fetch(`${ready.gateway}/v1${path}`, {
    headers: {
      authorization: `Bearer ${ready.apiKey}`,
      ...(body && { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() }),
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  return (await answer.json()) as T;
}

test(
  'functions have exactly the secrets that they declare, while their module loads and after an edit, as in a deployment',
  async () => {
    const seen = async () => (await fetch(`${ready.functionsUrl}/values`)).json();
    const parameters = { PARAMETER: 'p', bucket: 'demo-cairn', plan: '' };
    expect(await seen()).toEqual({ ...parameters, DECLARED: 's', authorization: 'Bearer s' });
    const from = received.length;
    writeFileSync(join(folder, 'functions/.secret.local'), SECRETS('t'));
    await said('reloaded', from);
    expect(await seen()).toEqual({ ...parameters, DECLARED: 't', authorization: 'Bearer t' });
  },
  LIMIT_MS,
);

test('a function for events that nothing sends is reported once with their type, and not served', async () => {
  const reported = () => received.filter(({ message }) => message.startsWith('not served'));
  const message =
    'not served, because nothing here sends their events: onFile (google.storage.object.finalize), ' +
    'onOrder (google.cloud.firestore.document.v1.created), onValue (providers/google.firebase.database/eventTypes/ref.write)';
  expect(reported()).toEqual([expect.objectContaining({ message })]);
  expect(ready.functions).toContain('hello');
  for (const one of ['onOrder', 'onFile', 'onValue']) expect(ready.functions).not.toContain(one);
  expect((await fetch(`${ready.functionsUrl}/onOrder`, { method: 'POST', body: '{}' })).status).toBe(404);
});

test(
  'a parameter without a value is reported with its codebase and the files that could have it',
  async () => {
    const first = received.find(({ event }) => event === 'parameters_unset');
    expect(first).toMatchObject({ codebase: 'default', parameters: ['PLAN'] });
    expect(first?.message).toBe(
      "'default': PLAN has no value, so functions read an empty string. A deployment would ask for it. " +
        'Add to functions/.env, or for this machine only to functions/.env.local:\n  PLAN=…',
    );
    const from = received.length;
    writeFileSync(join(folder, 'functions/.env.local'), 'PLAN=gold');
    await said('reloaded', from);
    const values = await (await fetch(`${ready.functionsUrl}/values`)).json();
    expect(values).toMatchObject({ plan: 'gold' });
    const later = received.slice(from);
    expect(later.filter(({ event }) => event === 'parameters_unset')).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'an edit that removes the workflow of a live run is reported with the run, until it is undone',
  async () => {
    const before = received.length;
    const { runId } = await api<{ runId: string }>('/runs', {
      type: 'order',
      input: { until: join(folder, 'never') },
    });
    await said('step_log', before);
    let from = received.length;
    write(
      'index.ts',
      INDEX('one').replace('[order]', '[]').replace('export const hello', 'export const hallo'),
    );
    const { message } = await said('reloaded', from);
    expect(message).toMatch(/^reloaded in \d+ ms: functions\/src\/index.ts; no longer served: hello$/);
    const told = received.slice(from).find(({ event }) => event === 'version_missing');
    expect(told).toMatchObject({ type: 'order', planVersion: 1, liveRuns: 1, runs: [runId] });

    from = received.length;
    write('index.ts', INDEX('one'));
    await said('reloaded', from);
    expect(received.slice(from).filter(({ event }) => event === 'version_missing')).toEqual([]);
    await api(`/runs/${runId}/cancel`, { reason: 'the test is over' });
  },
  LIMIT_MS,
);

test(
  'an edit is served while a run goes on; one that does not load changes nothing; Ctrl-C ends every process',
  async () => {
    expect(await hello()).toBe('one');
    const until = join(folder, 'go');
    const before = received.length;
    const { runId } = await api<{ runId: string }>('/runs', { type: 'order', input: { until } });
    await said('step_log', before);

    let from = received.length;
    write('order.ts', ORDER('two'));
    write('index.ts', INDEX('two'));
    await said('reloaded', from);
    // Writes both files again, in case the first change was loaded before the second.
    await eventually('both edits to be served', async () => (await hello()) === 'two' || undefined, LIMIT_MS);

    from = received.length;
    write('order.ts', ORDER('three').replace('return { ship };', 'return { ship ;'));
    const { message } = await said('not_loaded', from);
    expect(message).toMatch(/'default' cannot be loaded: functions\/src\/order\.ts:\d+/);
    expect(message).toContain('The previous version continues to serve.');
    expect(await hello()).toBe('two');

    from = received.length;
    write('order.ts', ORDER('three').replace("'ship', { needs", "'reserve', { needs"));
    expect((await said('not_loaded', from)).message).toMatch(/order[\s\S]*reserve/);

    from = received.length;
    write('order.ts', ORDER('four'));
    await said('reloaded', from);
    writeFileSync(until, '');
    const run = await eventually(
      'the end of the run',
      async () => {
        const now = await api<{ status: string; result: unknown }>(`/runs/${runId}`);
        return now.status === 'completed' ? now : undefined;
      },
      LIMIT_MS,
    );
    // On a slow machine the body may exceed its grace period, so later workers start it again.
    expect(run.result).toEqual({ ship: expect.stringMatching(/^(?:one|two|four), four$/) });
    const { items } = await api<{ items: { type: string }[] }>(`/runs/${runId}/events`);
    expect(items.map(({ type }) => type)).not.toContain('orphan_detected');

    child.kill('SIGINT');
    await once(child, 'exit');
    expect(ready.pids.workers.filter(isAlive)).toEqual([]);
  },
  // The test waits seven times.
  7 * LIMIT_MS,
);

test('a used port is named, with the server that would use it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const taken = assertFree({ ...portsFrom(0), firestore: port });
  await expect(taken).rejects.toMatchObject({
    code: 'PORT_TAKEN',
    message: expect.stringContaining(`${port} (firestore)`),
  });
  await new Promise((resolve) => server.close(resolve));
});
