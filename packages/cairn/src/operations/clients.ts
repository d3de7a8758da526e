/**
 * API clients of a tenant: creates a client, rotates its secret, or revokes it. A change reads, decides and writes on the condition that
 * the version is unchanged, and starts over otherwise. Must not: store or log a secret.
 */
import { secretHashOf } from '../core/encoding/api-key.ts';
import { CairnError } from '../core/errors.ts';
import { changeVersioned, OVERTAKEN } from '../journal/change-versioned.ts';
import { type SendDeps, sendUntilKnown } from '../journal/send-until-known.ts';
import type { ApiClient, ClientRegistry, RetiredSecret, Role } from '../ports/access/client-store.ts';
import type { Randomness } from '../ports/randomness.ts';

interface ClientDeps extends SendDeps {
  readonly clientRegistry: ClientRegistry;
}

export interface ClientRequest {
  readonly tenantId: string;
  readonly name: string;
  readonly role: Role;
  readonly actor: string;
  /** Id of the request, the same for every attempt. The client's id is derived from it. */
  readonly requestId: string;
}

export interface Issued {
  readonly client: ApiClient;
  /** Undefined if an earlier attempt of the same request created the client, whose secret is no longer known. */
  readonly secret?: string;
}

/** @throws CairnError UNAVAILABLE (send the same again) */
export async function createClient(deps: ClientDeps, request: ClientRequest): Promise<Issued> {
  const { requestId, tenantId, name, role, actor } = request;
  const { secret, secretHash } = newSecret(deps.random);
  const client: ApiClient = {
    id: requestId,
    tenantId,
    roles: [role],
    secretHash,
    disabled: false,
    createdAt: deps.clock.now(),
    name,
    createdBy: actor,
    secretOf: requestId,
  };
  const { kind } = await sendUntilKnown(deps, () => deps.clientRegistry.create(client));
  if (kind === 'created') return { client, secret };
  const stored = await sendUntilKnown(deps, () => deps.clientRegistry.read(client.id));
  // A person deleted the document at this moment. A repetition creates it again.
  if (!stored) throw new CairnError('UNAVAILABLE', 'the client was deleted while it was created');
  // The same hash means that an earlier attempt created the client, and its response was lost.
  return stored.secretHash === secretHash ? { client, secret } : { client: stored };
}

/** Secrets accepted besides the newest: a few repeated rotations whose responses were lost must not end the one in use. */
export const MAX_RETIRED = 4;

interface ClientChange {
  readonly tenantId: string;
  readonly clientId: string;
  /** Id of the request, the same for every attempt. */
  readonly requestId: string;
}

interface Rotation extends ClientChange {
  /** Time for which earlier secrets are still accepted. */
  readonly graceMs: number;
}

/**
 * Creates a new secret. Earlier secrets expire after the grace period, or at their earlier expiry.
 *
 * @throws CairnError NOT_FOUND, FORBIDDEN for a revoked client, UNAVAILABLE (send the same again)
 */
export async function rotateClient(deps: ClientDeps, rotation: Rotation): Promise<Issued> {
  const { secret, secretHash } = newSecret(deps.random);
  const client = await changeClient(deps, rotation, (current) => {
    if (current.disabled) throw new CairnError('FORBIDDEN', 'the client is revoked; create another');
    if (current.secretOf === rotation.requestId) return undefined;
    const now = deps.clock.now();
    const last: RetiredSecret = { secretHash: current.secretHash, until: now + rotation.graceMs };
    const retired = [last, ...(current.retired ?? [])]
      .map((one) => ({ ...one, until: Math.min(one.until, last.until) }))
      .filter(({ until }) => until > now)
      .slice(0, MAX_RETIRED);
    return { ...current, secretHash, retired, secretOf: rotation.requestId };
  });
  return client.secretHash === secretHash ? { client, secret } : { client };
}

/** Permanent and idempotent. @throws CairnError NOT_FOUND, UNAVAILABLE (send the same again) */
export function revokeClient(deps: ClientDeps, change: ClientChange): Promise<ApiClient> {
  return changeClient(deps, change, (current) =>
    current.disabled ? undefined : { ...current, disabled: true, retired: [] },
  );
}

/** Calls `decide` again for each newer state. It returns undefined if no change is needed. */
async function changeClient(
  deps: ClientDeps,
  { tenantId, clientId }: ClientChange,
  decide: (current: ApiClient) => ApiClient | undefined,
): Promise<ApiClient> {
  const { clientRegistry } = deps;
  return changeVersioned('changes of the client', async () => {
    const stored = await sendUntilKnown(deps, () => clientRegistry.find(clientId));
    // The same error as for a missing client, so that other tenants do not learn that it exists.
    if (stored?.client.tenantId !== tenantId) throw new CairnError('NOT_FOUND', 'no such client');
    const next = decide(stored.client);
    if (!next) return stored.client;
    const written = await sendUntilKnown(deps, () => clientRegistry.replace(next, stored.version));
    return written.kind === 'replaced' ? next : OVERTAKEN;
  });
}

interface NewSecret {
  /** Shown once and never stored. */
  readonly secret: string;
  readonly secretHash: string;
}

/** 256 random bits. */
function newSecret(random: Randomness): NewSecret {
  const secret = random.token() + random.token();
  return { secret, secretHash: secretHashOf(secret) };
}
