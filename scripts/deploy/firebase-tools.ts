/** The parts of firebase-tools that the checks before a deployment use: its account, and its client of Google's APIs. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The client of `apiv2.js`. Its errors have the status of the response. */
export interface Client {
  get(path: string): Promise<{ body: unknown }>;
  put(path: string, body: unknown): Promise<{ body: unknown }>;
  patch(
    path: string,
    body: unknown,
    options: { readonly queryParams: Readonly<Record<string, string>> },
  ): Promise<{ body: unknown }>;
}

export interface FirebaseTools {
  readonly client: (origin: string, version: string) => Client;
  readonly policyOf: (project: string) => Promise<Policy>;
  readonly setPolicy: (project: string, policy: Policy) => Promise<unknown>;
  /** @returns the permissions that the caller lacks */
  readonly missing: (project: string, permissions: readonly string[]) => Promise<readonly string[]>;
  readonly isEnabled: (project: string, api: string) => Promise<boolean>;
  readonly enable: (project: string, api: string) => Promise<void>;
}

export interface Policy {
  bindings?: { role: string; members: string[] }[];
}

export class NotLoggedIn extends Error {}

const LOGIN = `You are not logged in to Firebase. On your machine:
    npm run firebase -- login
On a build server, without a browser: GOOGLE_APPLICATION_CREDENTIALS=the file with the key, or the federated identity, of an account that may deploy.`;

/**
 * Loads the firebase-tools installed by `scripts/install-emulators.mjs`, with the account that it would deploy with.
 *
 * @throws NotLoggedIn
 */
export async function loadFirebaseTools(root: string, folder: string): Promise<FirebaseTools> {
  const main = join(root, 'emulators/package.json');
  if (!existsSync(join(root, 'emulators/node_modules/firebase-tools')))
    throw new Error('firebase-tools is not installed; npm run deploy installs it');
  const load = createRequire(main);
  const lib = (name: string) => load(`firebase-tools/lib/${name}`);
  await logIn(lib, folder);
  const { Client } = lib('apiv2');
  const resources = lib('gcp/resourceManager');
  const iam = lib('gcp/iam');
  const apis = lib('ensureApiEnabled');
  return {
    client: (urlPrefix, apiVersion) => new Client({ urlPrefix, apiVersion, auth: true }),
    policyOf: (project) => resources.getIamPolicy(project),
    setPolicy: (project, policy) => resources.setIamPolicy(project, policy, 'bindings'),
    missing: async (project, permissions) => (await iam.testIamPermissions(project, permissions)).missing,
    isEnabled: (project, api) => apis.check(project, api, 'cairn', true),
    enable: (project, api) => apis.ensure(project, api, 'cairn', true),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: modules of firebase-tools have no types
async function logIn(lib: (name: string) => any, folder: string): Promise<void> {
  const options: Record<string, unknown> = { cwd: folder };
  const account = lib('auth').getProjectDefaultAccount(folder);
  if (account) lib('auth').setActiveAccount(options, account);
  try {
    await lib('requireAuth').requireAuth(options);
  } catch (error) {
    throw new NotLoggedIn(LOGIN, { cause: error });
  }
}
