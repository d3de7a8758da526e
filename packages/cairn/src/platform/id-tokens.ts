/**
 * Firebase ID tokens, verified by the admin library: signature, issuer, audience and time. Loaded by the first token, because
 * callers with API keys do not need it. Accounts disabled after the token was issued are not detected: a token lives an hour.
 */
import type { App, AppOptions } from 'firebase-admin/app';
import type { Auth } from 'firebase-admin/auth';
import { CairnError } from '../core/errors.ts';
import type { TokenVerifier, VerifiedToken } from '../ports/access/token-verifier.ts';

/** Error codes of the library for an invalid token. Other errors say nothing about the token. */
const NOT_VALID: ReadonlySet<unknown> = new Set(['auth/argument-error', 'auth/id-token-expired']);
/** The library uses the same code when it could not read the provider's keys. */
const NO_KEYS = /^Error (?:fetching|parsing|while making) /;

interface IdTokenOptions {
  readonly project: string;
  /** HTTP agent for the provider's keys, if not the default. */
  readonly agent?: NonNullable<AppOptions['httpAgent']>;
}

let apps = 0;

export function firebaseIdTokens({ project, agent }: IdTokenOptions): TokenVerifier {
  let auth: Promise<Auth> | undefined;
  return {
    async verify(token) {
      auth ??= authOf({ project, ...(agent ? { agent } : {}) });
      return verified(await auth, token);
    },
  };
}

/**
 * For an installation configured to trust the emulator, which does not sign, although it is not the local cloud: no
 * token is accepted.
 */
export const noIdTokens: TokenVerifier = { verify: async () => undefined };

async function authOf({ project, agent }: IdTokenOptions): Promise<Auth> {
  const [{ initializeApp }, { getAuth }] = await Promise.all([
    import('firebase-admin/app'),
    import('firebase-admin/auth'),
  ]);
  apps += 1;
  const app: App = initializeApp(
    { projectId: project, ...(agent ? { httpAgent: agent } : {}) },
    `cairn-id-tokens-${apps}`,
  );
  return getAuth(app);
}

async function verified(auth: Auth, token: string): Promise<VerifiedToken | undefined> {
  try {
    const { uid, ...claims } = await auth.verifyIdToken(token);
    return { uid, claims };
  } catch (error) {
    if (
      !(error instanceof Error) ||
      !('code' in error) ||
      !NOT_VALID.has(error.code) ||
      NO_KEYS.test(error.message)
    )
      throw new CairnError('UNAVAILABLE', 'ID tokens cannot be verified now', { cause: error });
    return undefined;
  }
}
