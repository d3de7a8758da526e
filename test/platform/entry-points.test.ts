import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Environment variables that each process keeps: paths of programs, and Node's compile cache. */
const KEPT = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };

/** Runs in a separate process, because the composition root, its signals and its environment belong to a whole process. */
function inProcess(script: string, env: Record<string, string> = {}) {
  const settings = {
    GCLOUD_PROJECT: 'demo-cairn',
    COLLECTION_PREFIX: 'gwi_',
    CAIRN_REGION: 'us-central1',
    ENVIRONMENT: 'test',
    GITHUB_TENANT: 'acme',
    GITHUB_API_URL: 'https://api.github.com',
    SLACK_HOOKS_URL: 'https://hooks.slack.com',
  };
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
    { cwd: ROOT, encoding: 'utf8', timeout: 200_000, env: { ...KEPT, ...settings, ...env } },
  );
  return { stdout, stderr, status };
}

/** Scripts end only when their output is written: with a slow reader a pipe is written later, and an exit would lose the rest. */
const OURS = `
    await import('./functions/src/index.ts');
    const { servedInstallations } = await import('./packages/cairn/src/platform/installation/installation.ts');
    const [ours] = servedInstallations();`;
const NAMES = { drive: 'drive', driveAlone: 'driveAlone' };
const deliveringTo = (url: string) => ({
  shared: { name: 'drive', targetUrl: `${url}/drive` },
  alone: { name: 'driveAlone', targetUrl: `${url}/driveAlone` },
});

test('a task without a valid run id is done, with an error in the log, and never repeated', () => {
  const script = `
    ${OURS}
    const { driveTask } = await import('./packages/cairn/src/platform/background-handlers.ts');
    const tasks = [undefined, null, 'x', {}, { runId: 7 }, { runId: '../x' }, { runId: 'run_short' }];
    for (const task of tasks) process.stdout.write('outcome ' + (await driveTask(ours, { data: task, id: '', queueName: 'drive', retryCount: 0 }, { alone: false })) + '\\n');
    process.stdout.write('', () => process.exit(0));`;
  const lines = inProcess(script).stdout.trim().split('\n');
  expect(lines.filter((line) => line === 'outcome done')).toHaveLength(7);
  const logged = lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { severity: string; event: string });
  expect(logged).toHaveLength(7);
  expect(logged.every(({ severity, event }) => severity === 'ERROR' && event === 'drive_task_invalid')).toBe(
    true,
  );
});

test('SIGTERM aborts the signal of the drives and does not end the process by itself', () => {
  const script = `
    const { shutdown } = await import('./packages/cairn/src/platform/instance/shutdown.ts');
    shutdown.addEventListener('abort', () => setTimeout(() => { process.stdout.write('released: ' + shutdown.reason.message); process.exit(0); }, 50));
    setInterval(() => {}, 1000);
    process.kill(process.pid, 'SIGTERM');`;
  const { stdout, status } = inProcess(script);
  expect(stdout).toBe('released: the instance is shutting down');
  expect(status).toBe(0);
});

const PLACES = [
  ['at home', {}, { drive: deliveringTo('https://us-central1-demo-cairn.cloudfunctions.net'), local: false }],
  [
    'in the local cloud',
    { CAIRN_LOCAL: '1', CAIRN_FUNCTIONS_URL: 'http://127.0.0.1:9', CAIRN_TASKS_HOST: '127.0.0.1:8' },
    { drive: deliveringTo('http://127.0.0.1:9'), local: true, tasksHost: '127.0.0.1:8' },
  ],
  [
    'in another region',
    { CAIRN_REGION: 'europe-west1' },
    { drive: deliveringTo('https://europe-west1-demo-cairn.cloudfunctions.net') },
  ],
] as const;
const QUEUES = [
  [{}, { spread: { queues: 1, perTenant: 2 } }],
  [{ DRIVE_QUEUES: '8', DRIVE_QUEUES_PER_TENANT: '0' }, { spread: { queues: 8, perTenant: 0 } }],
  [{ DRIVE_QUEUES: '0' }, 'DRIVE_QUEUES is 0; it is a whole number from 1 to 400'],
  [{ DRIVE_QUEUES: '401' }, 'DRIVE_QUEUES is 401; it is a whole number from 1 to 400'],
  [
    { DRIVE_QUEUES_PER_TENANT: '-1' },
    'DRIVE_QUEUES_PER_TENANT is -1; it is a whole number from 0 (all of them)',
  ],
] as const;
const SHARDS = [
  [{}, 16],
  [{ RUN_SHARDS: '64' }, 64],
  [{ RUN_SHARDS: '256' }, 256],
  [{ RUN_SHARDS: '8' }, 'RUN_SHARDS is 8; it is a whole number from 16 to 256'],
  [{ RUN_SHARDS: '257' }, 'RUN_SHARDS is 257; it is a whole number from 16 to 256'],
] as const;
const NO_PROJECT = { GCLOUD_PROJECT: '' };

/** Settings, or the error message, by the environment in which they are read. One process reads all, because each would take half a second to load. */
const settingsUnder = new Map<object, { drive: unknown; shards: unknown } | string>();
beforeAll(() => {
  const envs = [...PLACES.map(([, env]) => env), ...[...QUEUES, ...SHARDS].map(([env]) => env), NO_PROJECT];
  const script = `
    const { readSettings } = await import('./packages/cairn/src/platform/settings/settings.ts');
    const common = process.env;
    const read = ${JSON.stringify(envs)}.map((env) => {
      process.env = { ...common, ...env };
      try { return readSettings({}, ${JSON.stringify(NAMES)}); } catch (error) { return error.message; }
    });
    process.stdout.write(JSON.stringify(read));`;
  const { stdout, stderr } = inProcess(script);
  if (stdout === '') throw new Error(stderr);
  for (const [at, read] of JSON.parse(stdout).entries()) settingsUnder.set(envs[at] ?? {}, read);
});

test.each(PLACES)('the queue delivers to the drive function %s', (_where, env, expected) => {
  expect(settingsUnder.get(env)).toMatchObject(expected);
});

test.each(QUEUES)('the queues of drive are those of the parameters: %j', (env, expected) => {
  const read = settingsUnder.get(env);
  if (typeof expected === 'string') expect(read).toBe(expected);
  else expect(read).toMatchObject({ drive: expected });
});

test.each(SHARDS)('the shards are those of the parameter: %j', (env, expected) => {
  const read = settingsUnder.get(env);
  expect(typeof read === 'object' ? read.shards : read).toBe(expected);
});

test('a missing project id is an error', () => {
  expect(settingsUnder.get(NO_PROJECT)).toBe('GCLOUD_PROJECT is not set');
});

/** Prints each module that is loaded. */
const PRINTING_LOADS = `
    import { registerHooks } from 'node:module';
    registerHooks({ resolve(specifier, context, next) { const found = next(specifier, context); console.log('loaded ' + found.url); return found; } });`;

test('the document of the API and the schemas of responses are not loaded before they are requested', () => {
  const script = `${PRINTING_LOADS}
    await import('./packages/cairn/src/platform/http-handlers.ts');`;
  const { stdout, stderr, status } = inProcess(script);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^loaded .*openapi\/schemas\/bodies\.ts/m);
  expect(stdout).not.toMatch(/^loaded .*openapi\/(?:document|page|schemas\/(?!bodies\.)\w+)\.ts/m);
});

test('the OpenTelemetry SDK is not loaded without a collector, whatever is counted', () => {
  const script = `${PRINTING_LOADS}
    ${OURS}
    const { driveTask } = await import('./packages/cairn/src/platform/background-handlers.ts');
    const { compose } = await import('./packages/cairn/src/platform/root.ts');
    (await compose(ours)).engine.metrics.transition({ tenantId: 'acme', from: 'pending', to: 'running' });
    await driveTask(ours, { data: {}, id: '', queueName: 'drive', retryCount: 0 }, { alone: false });
    process.stdout.write('', () => process.exit(0));`;
  const { stdout, stderr, status } = inProcess(script);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('drive_task_invalid');
  expect(stdout).toMatch(/^loaded .*@google-cloud\/firestore\//m);
  expect(stdout).not.toMatch(/^loaded .*(?:@opentelemetry\/sdk|otlp)/m);
});

test('everything that appends to a journal checks the built-ins before each write', () => {
  const script = `${OURS}
    const { compose } = await import('./packages/cairn/src/platform/root.ts');
    const { engineOf, engine, api, github, slack, schedules, messages, sample, retention, restore } = await compose(ours);
    const writers = { engine, pool: engineOf('big'), api, github, slack, schedules, messages, sample, retention, restore };
    for (const deps of Object.values(writers)) deps.assertIntact();
    JSON.stringify = () => '{}';
    for (const [name, deps] of Object.entries(writers))
      try { deps.assertIntact(); process.stdout.write(name + ' wrote'); } catch {}
    process.stdout.write('', () => process.exit(0));`;
  const { stdout, stderr, status } = inProcess(script);
  expect({ status, stderr, stdout }).toEqual({ status: 0, stderr: '', stdout: '' });
});
