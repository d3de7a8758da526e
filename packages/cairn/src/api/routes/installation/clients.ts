/**
 * `/v1/clients`: API clients of the caller's tenant. Requires an admin. A secret is only in the first response to the
 * request that created it: the record kept for repetitions omits it, so that nothing stored can authenticate.
 */
import { CairnError } from '../../../core/errors.ts';
import { revokeClient, rotateClient } from '../../../operations/clients/change-client.ts';
import { createClient, type Issued } from '../../../operations/clients/create-client.ts';
import { keyOf } from '../../../operations/clients/secret.ts';
import type { ApiClient, Role } from '../../../ports/access/client-store.ts';
import { type Caller, mayActAs, ROLES } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { answerOnce, type RequestByKey } from '../../mutation.ts';
import type { Carried, ChangeHandler, ReadHandler, Sent } from '../../route.ts';
import { iso } from '../../views/values.ts';

export const MAX_CLIENTS_LISTED = 500;
/** Form of a client id, as `Authenticator` parses it. */
const CLIENT_ID = /^[A-Za-z0-9-]{1,64}$/;

/** `GET /v1/clients`, by id. `more: true` if there are more than are shown; no pages. */
export const listClients: ReadHandler<'GET /v1/clients'> = async ({ deps, caller }) => {
  const found = await deps.clientRegistry.list(caller.tenantId, MAX_CLIENTS_LISTED + 1);
  const now = deps.start.clock.now();
  const items = found.slice(0, MAX_CLIENTS_LISTED).map((client) => clientView(client, now));
  return { items, more: found.length > items.length ? true : undefined };
};

export const create: Carried<'POST /v1/clients'> = {
  answer(sent) {
    const { deps, caller, body } = sent;
    const { tenantId, principal: actor } = caller;
    assertOutranks(caller, body.role);
    return answerWithKey(sent, 201, (requestId) =>
      createClient(operationDeps(deps), { ...body, tenantId, actor, requestId }),
    );
  },
};

export const rotate: Carried<'POST /v1/clients/{id}/rotate'> = {
  async answer(sent) {
    const graceMs = sent.body.graceSeconds * 1_000;
    await assertOwn(sent);
    return answerWithKey(sent, 200, (requestId) =>
      rotateClient(operationDeps(sent.deps), { ...clientOf(sent), graceMs, requestId }),
    );
  },
};

/** A client cannot revoke itself: a tenant must not lock itself out by mistake. */
export const revoke: ChangeHandler<'POST /v1/clients/{id}/revoke'> = {
  async before(sent) {
    await assertOwn(sent);
    if (sent.caller.principal === `c.${sent.params.id}`)
      throw new CairnError('FORBIDDEN', 'a client cannot revoke itself; use another admin client');
  },
  async work(sent, requestId) {
    const { deps } = sent;
    const client = await revokeClient(operationDeps(deps), { ...clientOf(sent), requestId });
    return { status: 200, body: clientView(client, deps.start.clock.now()) };
  },
};

type OfClient = Pick<Sent<'POST /v1/clients/{id}/revoke'>, 'deps' | 'caller' | 'params'>;

function clientOf({ params, caller }: OfClient) {
  return { clientId: params.id, tenantId: caller.tenantId };
}

/** `secret` is only in the response to the first request; a repetition has `secretShown: true` instead. */
async function answerWithKey(
  sent: RequestByKey,
  status: number,
  issue: (requestId: string) => Promise<Issued>,
) {
  let key: string | undefined;
  const kept = await answerOnce(sent, async (requestId) => {
    const { client, secret } = await issue(requestId);
    if (secret !== undefined) key = keyOf(client.id, secret);
    return { status, body: { ...clientView(client, sent.deps.start.clock.now()), secretShown: true } };
  });
  if (key === undefined || kept.status !== status || kept.headers.has('idempotency-replayed')) return kept;
  const { secretShown: _, ...body } = (await kept.json()) as Record<string, unknown>;
  return Response.json({ ...body, secret: key }, { status });
}

/** Checked before anything is kept: a request about an unknown client leaves no record. */
async function assertOwn({ deps: { clientRegistry }, caller, params: { id } }: OfClient): Promise<void> {
  const client = CLIENT_ID.test(id) ? await clientRegistry.read(id) : undefined;
  if (client?.tenantId !== caller.tenantId) throw new CairnError('NOT_FOUND', 'no such client');
  const held = roleOf(client);
  if (held !== null) assertOutranks(caller, held);
}

/** A caller cannot issue, rotate or revoke a key with a higher role than its own. @throws CairnError FORBIDDEN */
function assertOutranks({ role }: Caller, wanted: Role): void {
  if (mayActAs(role, wanted)) return;
  throw new CairnError(
    'FORBIDDEN',
    `only a caller with the role ${wanted} can grant it; the caller has ${role}`,
    { field: 'role' },
  );
}

function roleOf({ roles }: ApiClient): Role | null {
  return ROLES.findLast((one) => roles.includes(one)) ?? null;
}

function operationDeps({ start, clientRegistry }: ApiDeps) {
  return { ...start, clientRegistry };
}

/** Without secrets and their hashes. */
function clientView(client: ApiClient, now: number) {
  const { id, name, createdBy, disabled, createdAt } = client;
  const ends = (client.retired ?? []).filter(({ until }) => now < until).map(({ until }) => iso(until));
  return {
    id,
    name,
    role: roleOf(client),
    revoked: disabled,
    createdAt: iso(createdAt),
    createdBy,
    oldSecretsEndAt: ends,
  };
}
