/**
 * Authentication with an ID token: the claims `tenant` and `role`, which an administrator sets on the account, make the
 * user a caller.
 */
import { CairnError } from '../core/errors.ts';
import type { Role } from '../ports/access/client-store.ts';
import type { TokenVerifier, VerifiedToken } from '../ports/access/token-verifier.ts';

/**
 * Three parts in base64url; a header may carry at most 8 KiB (http/head-limits.ts), and tokens are much shorter. The third is
 * empty in tokens of Firebase's emulator, which the verifier accepts only on the local cloud.
 */
const TOKEN = /^[\w-]{1,4096}\.[\w-]{1,8192}\.[\w-]{0,4096}$/;
/** Characters allowed in journals, queries and document names. */
const TENANT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
/** Short enough to be part of an idempotency key. */
const MAX_PRINCIPAL_CHARS = 255;

export interface User {
  readonly principal: string;
  readonly tenantId: string;
  readonly role: Role;
}

/**
 * The user of a token; undefined if the token is malformed or invalid.
 *
 * @throws CairnError FORBIDDEN for a valid token whose account has no tenant or no role; UNAVAILABLE
 */
export async function userOf(
  tokens: TokenVerifier,
  token: string,
  roles: readonly Role[],
): Promise<User | undefined> {
  const verified = TOKEN.test(token) ? await tokens.verify(token) : undefined;
  const principal = verified && principalOf(verified);
  if (!verified || principal === undefined) return undefined;
  const { tenant, role } = verified.claims;
  const known = roles.find((one) => one === role);
  if (typeof tenant !== 'string' || !TENANT.test(tenant) || known === undefined)
    throw new CairnError('FORBIDDEN', 'the account has no tenant or no role', {
      help: 'Ask an administrator to set the claims `tenant` and `role` on the account, and sign in again.',
    });
  return { principal, tenantId: tenant, role: known };
}

/** Imported user ids may contain any character. Percent-encoding removes colons and keeps ids distinct. */
function principalOf({ uid }: VerifiedToken): string | undefined {
  if (uid === '' || !uid.isWellFormed()) return undefined;
  const principal = `u.${encodeURIComponent(uid)}`;
  return principal.length <= MAX_PRINCIPAL_CHARS ? principal : undefined;
}
