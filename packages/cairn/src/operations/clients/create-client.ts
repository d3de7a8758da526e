/** Makes an API client of the caller's own tenant. Must not: keep its secret, or log it. */
import { CairnError } from '../../core/errors.ts';
import { type SendDeps, sendUntilKnown } from '../../journal/send-until-known.ts';
import type { ApiClient, ClientRegistry, Role } from '../../ports/access/client-store.ts';
import { newSecret } from './secret.ts';

export interface ClientDeps extends SendDeps {
  readonly clientRegistry: ClientRegistry;
}

export interface ClientRequest {
  readonly tenantId: string;
  readonly name: string;
  readonly role: Role;
  readonly actor: string;
  /** Id of the request, the same for each attempt: the client's id is derived from it. */
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
  // Deleted by hand at this moment; a repetition creates it again.
  if (!stored) throw new CairnError('UNAVAILABLE', 'the client was deleted while it was created');
  // Ours by the hash: it was made by an earlier sending whose answer was lost.
  return stored.secretHash === secretHash ? { client, secret } : { client: stored };
}
