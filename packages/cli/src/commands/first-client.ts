/**
 * `clients first`: the first key of a new installation. The API cannot create it, because its callers need a key. The
 * only command that bypasses the API: it creates the client's document through Firestore's REST API, as the owner of
 * the project. Every further key comes from `clients create`.
 *
 * Must not: store the key anywhere, or overwrite an existing client.
 */
import { createHash } from 'node:crypto';
import { Refusal, reasonOf, Unreachable } from '@cairn/client';
import { command } from '../arguments/command.ts';
import { Declined, UsageError } from '../exit.ts';
import type { World } from '../world.ts';

const FIRESTORE = 'https://firestore.googleapis.com';
const TIMEOUT_MS = 30_000;
const PROJECT = /^[a-z][a-z0-9-]{4,28}[a-z0-9]$/;
/** The form of names in keys and of tenants: see docs/access.md. */
const NAME = /^[A-Za-z0-9._-]{1,64}$/;
const CLIENT_ID = /^[A-Za-z0-9-]{1,64}$/;

export const firstClient = command({
  name: 'clients first',
  summary: 'Create the first key of an installation, as the owner of its project',
  details:
    'Reads an access token of Google Cloud from standard input and writes one document to Firestore: the client, with\nthe sha256 of its secret. The token needs the role roles/datastore.user. The key is printed once.',
  args: { project: { help: 'id of the Firebase project' }, tenant: { help: 'tenant of the key' } },
  options: {
    client: { type: 'text', value: 'ID', help: 'id of the client (default first-admin)' },
    prefix: { type: 'text', value: 'PREFIX', help: 'COLLECTION_PREFIX of the installation (default gwi_)' },
    database: { type: 'text', value: 'ID', help: 'of Firestore (default (default))' },
  },
  examples: [
    ['clients first my-project acme < token', 'token made by: gcloud auth print-access-token > token'],
  ],
  async run({ out, notes, world }, { args, options }) {
    const { client: id = 'first-admin', prefix = 'gwi_', database = '(default)' } = options;
    if (!PROJECT.test(args.project)) throw new UsageError(`'${args.project}' is not a project id`);
    if (!NAME.test(args.tenant))
      throw new UsageError('a tenant consists of letters, digits, points, underscores and hyphens');
    if (!CLIENT_ID.test(id)) throw new UsageError('a client id consists of letters, digits and hyphens');
    const token = (await world.readStdin()).trim();
    if (!/^\S+$/.test(token))
      throw new UsageError(
        'no access token on standard input',
        'gcloud auth print-access-token | cairn clients first …',
      );
    const secret = `${world.token()}${world.token()}`;
    const path = `/v1/projects/${args.project}/databases/${database}/documents/${encodeURIComponent(prefix)}clients`;
    const document = clientDocument({ id, tenantId: args.tenant, secret, now: world.now() });
    await create(`${FIRESTORE}${path}?documentId=${id}`, { token, document, world });
    const made = { id, tenantId: args.tenant, role: 'installation', secret: `cairn_${id}_${secret}` };
    out.answer(made, () => `${made.secret}\n`);
    if (!out.json) notes.print(notes.style.dim('Store it now: it is never shown again.\n'));
  },
});

interface NewClient {
  readonly id: string;
  readonly tenantId: string;
  readonly secret: string;
  /** Epoch ms. */
  readonly now: number;
}

/** A value in the form of Firestore's REST API; the members are those of the store's codec of clients. */
function clientDocument({ id, tenantId, secret, now }: NewClient): unknown {
  return {
    fields: {
      id: { stringValue: id },
      tenantId: { stringValue: tenantId },
      roles: { arrayValue: { values: [{ stringValue: 'installation' }] } },
      secretHash: { stringValue: createHash('sha256').update(secret).digest('hex') },
      disabled: { booleanValue: false },
      createdAt: { timestampValue: new Date(now).toISOString() },
      name: { stringValue: 'first admin' },
    },
  };
}

interface Creation {
  readonly token: string;
  readonly document: unknown;
  readonly world: World;
}

async function create(url: string, { token, document, world }: Creation): Promise<void> {
  const answer = await world
    .fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(document),
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), world.interrupted]),
    })
    .catch((error: unknown) => {
      throw new Unreachable(`${FIRESTORE} does not respond: ${reasonOf(error)}`, undefined, error);
    });
  if (answer.status === 200) return;
  if (answer.status === 409)
    throw new Declined(
      'this client already exists',
      'If its key is lost, choose another --client, then revoke the old one.',
    );
  throw new Refusal(googleProblem(answer.status, await answer.text()), undefined);
}

/** `{error: {status, message}}`, as Google's APIs refuse. */
function googleProblem(status: number, text: string): Refusal['problem'] {
  let problem: { error?: { status?: string; message?: string } } = {};
  try {
    problem = JSON.parse(text) as typeof problem;
  } catch {
    // Not JSON of Firestore, so the text itself is shown.
  }
  return {
    status,
    code: problem.error?.status ?? `HTTP_${status}`,
    title: 'Firestore refused',
    detail: problem.error?.message ?? text.slice(0, 300),
    help: 'Check the project, that it has a Firestore database, and the account that gcloud is signed in with.',
  };
}
