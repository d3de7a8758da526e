import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import * as functions from '../../functions/src/index.ts';
import { DELETION_GRACE_MS } from '../../packages/cairn/src/core/retention/lineage.ts';
import { TICK } from '../../packages/cairn/src/operations/retention/tick-budget.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EXPORTS = [
  'api',
  'checkRuns',
  'deleteExpired',
  'drive',
  'driveAlone',
  'fireSchedules',
  'githubWebhook',
  'recoverRuns',
  'slackWebhook',
];
/** Includes the group of functions that receive messages. */
const ALL = [...EXPORTS, 'pubsub'].sort();
const config = JSON.parse(readFileSync(`${ROOT}firebase.json`, 'utf8')) as {
  firestore: { rules: string; indexes: string };
  functions: { source: string; runtime: string; predeploy: string[] }[];
  hosting: {
    public: string;
    rewrites: { source: string; function?: { functionId: string }; destination?: string }[];
  };
};

interface Endpoint {
  readonly httpsTrigger?: { readonly invoker?: readonly string[] };
  readonly taskQueueTrigger?: Readonly<Record<string, unknown>>;
  readonly scheduleTrigger?: { readonly schedule: string };
  readonly secretEnvironmentVariables?: readonly { readonly key: string }[];
  readonly timeoutSeconds?: number;
  readonly concurrency?: number;
  readonly availableMemoryMb?: number;
  readonly minInstances?: number;
  readonly maxInstances?: number;
}

interface Parameter {
  readonly name: string;
  readonly type?: string;
  readonly default?: string | number;
}

const exported = { ...functions } as unknown as Readonly<Record<string, { readonly __endpoint: Endpoint }>>;

const values = new Map(
  [...readFileSync(`${ROOT}functions/.env`, 'utf8').matchAll(/^(\w+)=(.*)$/gm)].map(
    ([, name = '', value = '']): [string, string] => [name, value],
  ),
);

function declaredOf(name: string): Endpoint {
  const found = exported[name];
  if (!found) throw new Error(`no function is exported as ${name}`);
  return found.__endpoint;
}

/** The value in a deployment without a file for its own project. */
function endpoint(name: string): Endpoint {
  return JSON.parse(JSON.stringify(declaredOf(name)), (_key, value: unknown) => {
    const text = values.get(/^params\.(\w+)$/.exec(String(value))?.[1] ?? '');
    if (text === undefined) return value;
    return /^\d+$/.test(text) ? Number(text) : text;
  });
}

describe('the exported functions', () => {
  test('are exactly the documented ones', () => {
    expect(Object.keys(functions).sort()).toEqual(ALL);
    expect(Object.keys(functions.pubsub).sort()).toEqual(['cloudBuilds', 'deployRequests']);
  });

  test('a message whose handling failed is delivered again', () => {
    for (const each of Object.values(functions.pubsub)) {
      const { eventTrigger } = each.__endpoint;
      expect(eventTrigger).toMatchObject({
        eventType: 'google.cloud.pubsub.topic.v1.messagePublished',
        retry: true,
      });
    }
  });

  test('only the endpoints are public', () => {
    expect(endpoint('api').httpsTrigger?.invoker).toEqual(['public']);
    expect(endpoint('githubWebhook').httpsTrigger?.invoker).toEqual(['public']);
    expect(endpoint('slackWebhook').httpsTrigger?.invoker).toEqual(['public']);
    expect(EXPORTS.filter((name) => endpoint(name).httpsTrigger)).toEqual([
      'api',
      'githubWebhook',
      'slackWebhook',
    ]);
  });

  test('a later deployment keeps the permission to call drive as the operator granted it', () => {
    // firebase-tools replaces the binding with each invoker that the manifest names, or removes it for `private`.
    for (const name of ['drive', 'driveAlone'] as const) {
      const { taskQueueTrigger } = endpoint(name);
      expect(taskQueueTrigger).toBeDefined();
      expect(taskQueueTrigger).not.toHaveProperty('invoker');
    }
  });

  test('only a webhook gets its secret, and only functions that call GitHub get the token', () => {
    const withSecrets = EXPORTS.filter((name) => endpoint(name).secretEnvironmentVariables?.length);
    expect(withSecrets).toEqual(['drive', 'driveAlone', 'githubWebhook', 'slackWebhook']);
    for (const name of ['drive', 'driveAlone'] as const)
      expect(endpoint(name).secretEnvironmentVariables).toEqual([{ key: 'GITHUB_TOKEN' }]);
    expect(endpoint('slackWebhook').secretEnvironmentVariables).toEqual([{ key: 'SLACK_SIGNING_SECRET' }]);
    expect(endpoint('githubWebhook').secretEnvironmentVariables).toEqual([{ key: 'GITHUB_WEBHOOK_SECRET' }]);
  });

  test.each(['drive', 'driveAlone'] as const)(
    '%s is retried soon, then rarely, and has the timeout that the engine expects',
    (name) => {
      expect(endpoint(name)).toMatchObject({
        timeoutSeconds: 540,
        taskQueueTrigger: {
          retryConfig: { maxAttempts: 100, minBackoffSeconds: 0.1, maxBackoffSeconds: 60 },
        },
      });
    },
  );

  test('driveAlone serves one suspect per instance', () => {
    expect(endpoint('driveAlone').concurrency).toBe(1);
    expect(endpoint('drive').concurrency).toBeGreaterThan(1);
  });

  test("public functions cost no more than their instances, and Slack's endpoint has a warm instance only if configured", () => {
    for (const name of ['api', 'githubWebhook', 'slackWebhook'])
      expect([name, endpoint(name).maxInstances]).toEqual([name, 20]);
    expect(endpoint('slackWebhook').minInstances).toBe(0);
  });

  test('sizes are parameters, so they change without a code edit', () => {
    const sizes = (name: string) => {
      const { timeoutSeconds, concurrency, availableMemoryMb, minInstances, maxInstances } = declaredOf(name);
      return [timeoutSeconds, concurrency, availableMemoryMb, minInstances, maxInstances].map(String);
    };
    expect(sizes('drive')).toEqual([
      'params.DRIVE_TIMEOUT_SECONDS',
      'params.DRIVE_CONCURRENCY',
      'params.DRIVE_MEMORY_MB',
      'params.DRIVE_MIN_INSTANCES',
      'params.DRIVE_MAX_INSTANCES',
    ]);
    expect(sizes('driveAlone')).toEqual([
      'params.DRIVE_TIMEOUT_SECONDS',
      '1',
      'params.DRIVE_MEMORY_MB',
      expect.any(String),
      'params.DRIVE_MAX_INSTANCES',
    ]);
    expect(sizes('api')[2]).toBe('params.API_MEMORY_MB');
  });

  test('the scan and the tick of the schedules run every minute', () => {
    expect(endpoint('recoverRuns').scheduleTrigger?.schedule).toBe('every 1 minutes');
    expect(endpoint('fireSchedules').scheduleTrigger?.schedule).toBe('every 1 minutes');
  });

  test('runs past their retention period are deleted every half hour, by a function whose timeout exceeds a tick', () => {
    const { scheduleTrigger, timeoutSeconds = 0 } = endpoint('deleteExpired');
    expect(scheduleTrigger?.schedule).toBe('every 30 minutes');
    expect(timeoutSeconds * 1_000).toBeGreaterThan(TICK.forMs + 60_000);
    // A marked run is left alone for longer than any function runs.
    const timeouts = EXPORTS.map((name) => endpoint(name).timeoutSeconds);
    const given = timeouts.filter((timeout) => typeof timeout === 'number');
    expect(given.length).toBeGreaterThan(3);
    expect(Math.max(...given) * 1_000).toBeLessThan(DELETION_GRACE_MS);
  });
});

describe('firebase.json', () => {
  test('rewrites paths to functions that exist', () => {
    const targets = config.hosting.rewrites.flatMap(({ source, function: target }) =>
      target ? [[source, target.functionId]] : [],
    );
    expect(targets).toEqual([
      ['/v1/**', 'api'],
      ['/webhooks/github', 'githubWebhook'],
      ['/webhooks/slack', 'slackWebhook'],
    ]);
    for (const [, target] of targets) expect(EXPORTS).toContain(target);
  });

  test('rewrites each page of the console to its file', () => {
    const app = readFileSync(`${ROOT}packages/console/src/app.tsx`, 'utf8');
    const pages = [...app.matchAll(/<Route path="([^"]+)"/g)].map(([, path = '']) =>
      path.replace(/:\w+/, 'one'),
    );
    expect(pages.length).toBeGreaterThan(7);
    const led = config.hosting.rewrites.filter(({ destination }) => destination === '/index.html');
    for (const page of pages) {
      expect([page, led.some(({ source }) => posix.matchesGlob(page, source))]).toEqual([page, true]);
    }
  });

  test('names existing files', () => {
    const { firestore, hosting } = config;
    for (const path of [firestore.rules, firestore.indexes, `${hosting.public}/index.html`]) {
      expect(existsSync(`${ROOT}${path}`)).toBe(true);
    }
  });
});

function run(args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const env = { ...process.env, GCLOUD_PROJECT: 'demo-cairn', NODE_OPTIONS: '' };
  return spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  });
}

interface Declared {
  readonly name: string;
  readonly type?: string;
}

test('run events are off until a topic is configured, because no deployment creates it', () => {
  expect(values.get('RUN_EVENTS_TOPIC')).toBe('');
});

test('secret parameters are declared as secrets, and have no value in files', () => {
  const manifest = (globalThis as unknown as Record<symbol, { params: Declared[] }>)[
    Symbol.for('firebase-functions:manifest')
  ];
  const params = manifest?.params ?? [];
  const secrets = params.filter(({ type }) => type === 'secret').map(({ name }) => name);
  const secretLike = params
    .map(({ name }) => name)
    .filter((name) => /SECRET|TOKEN|PASSWORD|PASSPHRASE|CREDENTIAL|PRIVATE|(?:^|_)KEY/.test(name));
  expect(secretLike.length).toBeGreaterThan(1);
  expect(secretLike.filter((name) => !secrets.includes(name))).toEqual([]);
  const onFile = readFileSync(`${ROOT}functions/.env`, 'utf8').split('\n');
  for (const secret of secrets) expect(onFile.filter((line) => line.startsWith(`${secret}=`))).toEqual([]);
});

test('firestore.rules deny clients every read and write, and say why', () => {
  const rules = readFileSync(`${ROOT}firestore.rules`, 'utf8');
  const allowed = [...rules.matchAll(/^\s*(allow .*)$/gm)].map(([, rule]) => rule);
  expect(allowed).toEqual(['allow read, write: if false;']);
  expect(rules).toMatch(
    /match \/databases\/\{database\}\/documents \{\s*match \/\{document=\*\*\} \{\s*allow/,
  );
  expect(rules).toMatch(/^\/\/ .*browsers go through the API, which knows tenants and roles/m);
});

test('every parameter has its default in a file, so that a deployment asks for none', () => {
  const manifest = (globalThis as unknown as Record<symbol, { params: Parameter[] }>)[
    Symbol.for('firebase-functions:manifest')
  ];
  const declared = manifest?.params
    .filter(({ type }) => type !== 'secret')
    .map((param) => [param.name, String(param.default)]);
  const lines = readFileSync(`${ROOT}functions/.env`, 'utf8').split('\n');
  const onFile = lines.filter((line) => /^[A-Z]/.test(line)).map((line) => line.split('='));
  expect(onFile).toEqual(declared);
  expect(onFile.length).toBeGreaterThan(3);
  // Names that firebase-tools refuses in such files.
  for (const [name] of onFile)
    expect(name).not.toMatch(/^(?:FIREBASE_|X_GOOGLE_|EXT_|FUNCTION_|K_|GCLOUD_|GOOGLE_CLOUD_|GCP_)/);
});

test('the bundle for a deployment exports the functions that are tested', () => {
  const built = run(['scripts/build-functions.mjs']);
  expect(built.stdout + built.stderr).toBe('');
  const { stdout } = run([
    '-e',
    "import('./functions/lib/index.js').then((m) => console.log(Object.keys(m).sort().join()))",
  ]);
  expect(stdout.trim()).toBe(ALL.join());
  // Only the first request loads the HTTP handlers, so loading the index does not test them.
  const parts = readdirSync(`${ROOT}functions/lib/parts`).filter((name) => name.endsWith('.js'));
  expect(parts.some((name) => name.startsWith('http-handlers-'))).toBe(true);
  const load = parts.map((name) => `import('./functions/lib/parts/${name}')`).join();
  const loaded = run(['-e', `Promise.all([${load}]).then((parts) => console.log(parts.length))`]);
  expect(loaded.stdout.trim()).toBe(String(parts.length));
});

test('loading the functions loads no client library and no workflow, and only the collection names of the store', () => {
  const script = `
    const { registerHooks } = require('node:module');
    registerHooks({ resolve(specifier, context, next) { const found = next(specifier, context); console.log(found.url); return found; } });
    import('./functions/src/index.ts');`;
  const { stdout } = run(['-e', script]);
  expect(stdout).toContain('packages/cairn/src/platform/settings/parameters.ts');
  const heavy = stdout
    .split('\n')
    .filter((url) =>
      /@google-cloud|@grpc|@opentelemetry|\/hono\/|\/zod\/|src\/(?:workflows|engine|store(?!\/layout)|api)\//.test(
        url,
      ),
    );
  expect(heavy).toEqual([]);
});
