/**
 * Changes an API client: gives it a new secret, or takes all of them away. Both read, decide and write under the version
 * that was read, again if another was faster.
 */
import { CairnError } from '../../core/errors.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { ApiClient, RetiredSecret } from '../../ports/access/client-store.ts';
import type { ClientDeps, Issued } from './create-client.ts';
import { newSecret } from './secret.ts';

/** Changes by others, one after the other, that a caller sits out. People make them: more than this is no accident. */
const MAX_TRIES = 8;
/** Secrets accepted beside the newest: a few rotations in a row, whose answers were lost, must not end the one in use. */
export const MAX_RETIRED = 4;

interface ClientChange {
  readonly tenantId: string;
  readonly clientId: string;
  /** Names the request, the same for each attempt at it. */
  readonly requestId: string;
}

interface Rotation extends ClientChange {
  /** Time for which earlier secrets are still accepted. */
  readonly graceMs: number;
}

/**
 * A new secret; those before it end after the grace period (an earlier end stays).
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

/** For good. Doing it twice is harmless. @throws CairnError NOT_FOUND, UNAVAILABLE (send the same again) */
export function revokeClient(deps: ClientDeps, change: ClientChange): Promise<ApiClient> {
  return changeClient(deps, change, (current) =>
    current.disabled ? undefined : { ...current, disabled: true, retired: [] },
  );
}

/** `decide` is called again on each newer state, and returns undefined if no change is needed. */
async function changeClient(
  deps: ClientDeps,
  { tenantId, clientId }: ClientChange,
  decide: (current: ApiClient) => ApiClient | undefined,
): Promise<ApiClient> {
  const { clientRegistry } = deps;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const stored = await sendUntilKnown(deps, () => clientRegistry.find(clientId));
    // The same words as for a missing client, so that no other tenant learns that it exists.
    if (stored?.client.tenantId !== tenantId) throw new CairnError('NOT_FOUND', 'no such client');
    const next = decide(stored.client);
    if (!next) return stored.client;
    const written = await sendUntilKnown(deps, () => clientRegistry.replace(next, stored.version));
    if (written.kind === 'replaced') return next;
  }
  throw new CairnError('UNAVAILABLE', 'too many concurrent changes of the client');
}
