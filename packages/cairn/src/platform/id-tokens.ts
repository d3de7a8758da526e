/**
 * Verifies Firebase ID tokens with the admin library: signature, issuer, audience and time. Loaded with the first token, because
 * callers with API keys do not need it. Accounts disabled after the token was issued are not detected; a token is valid for an hour.
 */
import type { App, AppOptions } from 'firebase-admin/app';
import type { Auth } from 'firebase-admin/auth';
import { CairnError } from '../core/errors.ts';
import type { TokenVerifier, VerifiedToken } from '../ports/access/token-verifier.ts';

/** Error codes of the library for an invalid token. Other errors do not prove that the token is invalid. */
const NOT_VALID: ReadonlySet<unknown> = new Set(['auth/argument-error', 'auth/id-token-expired']);
/** Messages for failures to read the provider's keys, for which the library uses one of these codes. */
const NO_KEYS = /^Error (?:fetching|parsing|while making) /;

interface IdTokenOptions {
  readonly project: string;
  /** HTTP agent for the provider's keys. */
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
 * Accepts no token. For an installation that trusts the Auth emulator, whose tokens are unsigned, although it is not the local
 * cloud.
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
