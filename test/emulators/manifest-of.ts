/** The manifest by which `firebase deploy` knows the functions of a module: it has their own SDK write this, offline, and goes by it. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const ROOT = join(import.meta.dirname, '../..');

/** Roles of the account that runs the functions of an installation. */
export const ROLES = [
  'roles/cloudtasks.enqueuer',
  'roles/cloudtasks.viewer',
  'roles/datastore.user',
  'roles/iam.serviceAccountUser',
  'roles/logging.logWriter',
  'roles/monitoring.metricWriter',
  'roles/run.invoker',
];

export interface Endpoint {
  readonly region?: unknown;
  readonly secretEnvironmentVariables?: readonly { readonly key: string }[];
}

export interface Manifest {
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  readonly params: readonly { readonly name: string; readonly type: string; readonly default?: unknown }[];
  readonly requiredAPIs: readonly { readonly api: string }[];
  readonly requiredRoles?: readonly string[];
}

/**
 * @param source a module, from the root of the repository
 * @returns `stderr`: what the SDK complained of; `manifest` undefined: it could not load the module
 */
export function manifestOf(source: string, env: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-manifest-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module","main":"index.js"}');
    const module = pathToFileURL(join(ROOT, source)).href;
    writeFileSync(join(folder, 'index.js'), `export * from '${module}';\n`);
    const sdk = join(ROOT, 'node_modules/firebase-functions');
    const { bin } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8')) as {
      bin: Record<string, string>;
    };
    const output = join(folder, 'functions.yaml');
    const { stderr, status } = spawnSync(
      process.execPath,
      [join(sdk, bin['firebase-functions'] ?? ''), folder],
      {
        cwd: folder,
        encoding: 'utf8',
        env: {
          GCLOUD_PROJECT: 'demo-cairn',
          FIREBASE_CONFIG: '{"projectId":"demo-cairn"}',
          FUNCTIONS_CONTROL_API: 'true',
          FUNCTIONS_MANIFEST_OUTPUT_PATH: output,
          NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
          ...env,
        },
      },
    );
    const manifest = status === 0 ? (JSON.parse(readFileSync(output, 'utf8')) as Manifest) : undefined;
    return { stderr, manifest };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Each function with its trigger and its secrets. */
export function functionsIn({ endpoints }: Manifest): string[] {
  return Object.entries(endpoints)
    .map(([name, endpoint]) => {
      const trigger = Object.keys(endpoint).find((key) => key.endsWith('Trigger'));
      const secrets = endpoint.secretEnvironmentVariables?.map(({ key }) => key) ?? [];
      return [name, trigger, ...secrets].join(' ');
    })
    .sort();
}
