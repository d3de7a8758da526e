/**
 * `/v1/clients`: who has keys of the caller's tenant. It takes an admin. A secret stands in one answer, the first to the
 * request that made it: what is kept for repetitions is without it, so that nothing stored can sign in.
 */
import { z } from 'zod';
import { CairnError } from '../../../core/errors.ts';
import { revokeClient, rotateClient } from '../../../operations/clients/change-client.ts';
import { createClient, type Issued } from '../../../operations/clients/create-client.ts';
import { keyOf } from '../../../operations/clients/secret.ts';
import type { ApiClient, Role } from '../../../ports/access/client-store.ts';
import { assertRole, type Caller, mayActAs, ROLES } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { answerOnce, type Mutation, principalOf, readMutation } from '../../mutation.ts';
import { readQuery } from '../../query.ts';
import { iso } from '../../views/values.ts';

/** What a list shows; a tenant with more keys than this has long lost sight of them. */
export const MAX_CLIENTS_LISTED = 500;
const MAX_NAME_CHARS = 100;
/** A deployment of everything that uses a key takes hours, not weeks. */
const MAX_GRACE_S = 7 * 24 * 3_600;
const DEFAULT_GRACE_S = 24 * 3_600;
/** What `Authenticator` reads as an id of a client; anything else is none. */
const CLIENT_ID = /^[A-Za-z0-9-]{1,64}$/;

export const CreateClientBody = z.strictObject({
  name: z.string().min(1).max(MAX_NAME_CHARS),
  role: z.enum(ROLES),
});
export const RotateClientBody = z.strictObject({
  graceSeconds: z.int().min(0).max(MAX_GRACE_S).default(DEFAULT_GRACE_S),
});
export const RevokeClientBody = z.strictObject({});

/** `GET /v1/clients`, by id. `more: true` if there are more than are shown; no pages. */
export async function listClients(deps: ApiDeps, caller: Caller, url: string): Promise<Response> {
  assertRole(caller, 'admin');
  readQuery(url, []);
  const found = await deps.clientRegistry.list(caller.tenantId, MAX_CLIENTS_LISTED + 1);
  const now = deps.start.clock.now();
  const items = found.slice(0, MAX_CLIENTS_LISTED).map((client) => clientView(client, now));
  return Response.json({ items, ...(found.length > items.length ? { more: true } : {}) });
}

/** `POST /v1/clients`. */
export async function createClientFromApi(
  deps: ApiDeps,
  caller: Caller,
  request: Request,
): Promise<Response> {
  assertRole(caller, 'admin');
  const mutation = await readMutation(request, CreateClientBody);
  assertOutranks(caller, mutation.body.role);
  return answerWithKey(deps, caller, {
    mutation,
    status: 201,
    issue: (requestId) =>
      createClient(operationDeps(deps), {
        ...mutation.body,
        tenantId: caller.tenantId,
        actor: principalOf(caller),
        requestId,
      }),
  });
}

export interface ClientAddress {
  readonly clientId: string;
  readonly request: Request;
}

/** `POST /v1/clients/{id}/rotate`. */
export async function rotateFromApi(deps: ApiDeps, caller: Caller, at: ClientAddress): Promise<Response> {
  assertRole(caller, 'admin');
  const mutation = await readMutation(at.request, RotateClientBody);
  await assertOwn(deps, caller, at.clientId);
  return answerWithKey(deps, caller, {
    mutation,
    status: 200,
    issue: (requestId) =>
      rotateClient(operationDeps(deps), {
        clientId: at.clientId,
        tenantId: caller.tenantId,
        graceMs: mutation.body.graceSeconds * 1_000,
        requestId,
      }),
  });
}

/** `POST /v1/clients/{id}/revoke`. Not one's own: a tenant must not lock itself out by one slip. */
export async function revokeFromApi(deps: ApiDeps, caller: Caller, at: ClientAddress): Promise<Response> {
  assertRole(caller, 'admin');
  const mutation = await readMutation(at.request, RevokeClientBody);
  await assertOwn(deps, caller, at.clientId);
  if (principalOf(caller) === `c.${at.clientId}`)
    throw new CairnError('FORBIDDEN', 'a client cannot revoke itself; use another admin client');
  return answerOnce(deps, caller, mutation, async (requestId) => {
    const { tenantId } = caller;
    const client = await revokeClient(operationDeps(deps), { clientId: at.clientId, tenantId, requestId });
    return { status: 200, body: clientView(client, deps.start.clock.now()) };
  });
}

interface Issue {
  readonly mutation: Mutation<unknown>;
  readonly status: number;
  readonly issue: (requestId: string) => Promise<Issued>;
}

/** `secret` stands in the answer to the first request only; a repetition says `secretShown: true` in its place. */
async function answerWithKey(deps: ApiDeps, caller: Caller, { mutation, status, issue }: Issue) {
  let key: string | undefined;
  const kept = await answerOnce(deps, caller, mutation, async (requestId) => {
    const { client, secret } = await issue(requestId);
    if (secret !== undefined) key = keyOf(client.id, secret);
    return { status, body: { ...clientView(client, deps.start.clock.now()), secretShown: true } };
  });
  if (key === undefined || kept.status !== status || kept.headers.has('idempotency-replayed')) return kept;
  const { secretShown: _, ...body } = (await kept.json()) as Record<string, unknown>;
  return Response.json({ ...body, secret: key }, { status });
}

/** Before anything is kept: a request about a client that is not there leaves nothing behind. */
async function assertOwn({ clientRegistry }: ApiDeps, caller: Caller, clientId: string): Promise<void> {
  const client = CLIENT_ID.test(clientId) ? await clientRegistry.read(clientId) : undefined;
  if (client?.tenantId !== caller.tenantId) throw new CairnError('NOT_FOUND', 'no such client');
  const held = roleOf(client);
  if (held !== null) assertOutranks(caller, held);
}

/** Nobody issues, renews or revokes a key that may do more than their own. @throws CairnError FORBIDDEN */
function assertOutranks({ role }: Caller, wanted: Role): void {
  if (mayActAs(role, wanted)) return;
  throw new CairnError(
    'FORBIDDEN',
    `only a caller with the role ${wanted} can grant it; the caller has ${role}`,
    {
      field: 'role',
    },
  );
}

function roleOf({ roles }: ApiClient): Role | null {
  return ROLES.findLast((one) => roles.includes(one)) ?? null;
}

function operationDeps({ start, clientRegistry }: ApiDeps) {
  return { ...start, clientRegistry };
}

/** Nothing of a secret, not even its hash. */
function clientView(client: ApiClient, now: number) {
  const { id, name, createdBy, disabled, createdAt } = client;
  const ends = (client.retired ?? []).filter(({ until }) => now < until).map(({ until }) => iso(until));
  return {
    id,
    ...(name === undefined ? {} : { name }),
    role: roleOf(client),
    revoked: disabled,
    createdAt: iso(createdAt),
    ...(createdBy === undefined ? {} : { createdBy }),
    oldSecretsEndAt: ends,
  };
}
