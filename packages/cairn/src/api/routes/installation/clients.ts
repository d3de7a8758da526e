/**
 * `/v1/clients`: API clients of the caller's tenant. Requires an admin. A secret is only in the first response to the
 * request that created it: the record kept for repetitions omits it, so that nothing stored can authenticate.
 */
import { apiKeyText, isClientId } from '../../../core/encoding/api-key.ts';
import { CairnError } from '../../../core/errors.ts';
import { iso } from '../../../core/run/readable.ts';
import { createClient, type Issued, revokeClient, rotateClient } from '../../../operations/clients.ts';
import type { ApiClient, Role } from '../../../ports/access/client-store.ts';
import { type Caller, mayActAs, ROLES } from '../../auth.ts';
import { answerOnce, type RequestByKey } from '../../mutation.ts';
import type { ChangeHandler, DirectChangeHandler, MutationCall, ReadHandler } from '../../route.ts';

export const MAX_CLIENTS_LISTED = 500;

/** `GET /v1/clients`, by id. `more: true` if there are more than are shown; no pages. */
export const listClients: ReadHandler<'GET /v1/clients'> = async ({ deps, caller }) => {
  const { items: found, unreadable } = await deps.clientRegistry.list(
    caller.tenantId,
    MAX_CLIENTS_LISTED + 1,
  );
  const now = deps.clock.now();
  const items = found.slice(0, MAX_CLIENTS_LISTED).map((client) => clientView(client, now));
  return {
    items,
    more: found.length + unreadable.length > MAX_CLIENTS_LISTED ? true : undefined,
    unreadable: unreadable.length > 0 ? unreadable : undefined,
  };
};

export const create: DirectChangeHandler<'POST /v1/clients'> = {
  answer(call) {
    const { deps, caller, body } = call;
    const { tenantId, principal: actor } = caller;
    assertOutranks(caller, body.role);
    return answerWithKey(call, 201, (requestId) =>
      createClient(deps, { ...body, tenantId, actor, requestId }),
    );
  },
};

export const rotate: DirectChangeHandler<'POST /v1/clients/{id}/rotate'> = {
  async answer(call) {
    const graceMs = call.body.graceSeconds * 1_000;
    await assertOwn(call);
    return answerWithKey(call, 200, (requestId) =>
      rotateClient(call.deps, { ...clientOf(call), graceMs, requestId }),
    );
  },
};

/** A client cannot revoke itself: a tenant must not lock itself out by mistake. */
export const revoke: ChangeHandler<'POST /v1/clients/{id}/revoke'> = {
  async before(call) {
    await assertOwn(call);
    if (call.caller.principal === `c.${call.params.id}`)
      throw new CairnError('FORBIDDEN', 'a client cannot revoke itself; use another admin client');
  },
  async work(call, requestId) {
    const { deps } = call;
    const client = await revokeClient(deps, { ...clientOf(call), requestId });
    return { status: 200, body: clientView(client, deps.clock.now()) };
  },
};

type OfClient = Pick<MutationCall<'POST /v1/clients/{id}/revoke'>, 'deps' | 'caller' | 'params'>;

function clientOf({ params, caller }: OfClient) {
  return { clientId: params.id, tenantId: caller.tenantId };
}

/** `secret` is only in the response to the first request; a repetition has `secretShown: true` instead. */
async function answerWithKey(
  call: RequestByKey,
  status: number,
  issue: (requestId: string) => Promise<Issued>,
) {
  let key: string | undefined;
  const keptResponse = await answerOnce(call, async (requestId) => {
    const { client, secret } = await issue(requestId);
    if (secret !== undefined) key = apiKeyText({ clientId: client.id, secret });
    return { status, body: { ...clientView(client, call.deps.clock.now()), secretShown: true } };
  });
  if (key === undefined || keptResponse.status !== status || keptResponse.headers.has('idempotency-replayed'))
    return keptResponse;
  const { secretShown: _, ...body } = (await keptResponse.json()) as Record<string, unknown>;
  return Response.json({ ...body, secret: key }, { status });
}

/** Runs before anything is recorded: a request about an unknown client leaves no record. */
async function assertOwn({ deps: { clientRegistry }, caller, params: { id } }: OfClient): Promise<void> {
  const client = isClientId(id) ? await clientRegistry.read(id) : undefined;
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
