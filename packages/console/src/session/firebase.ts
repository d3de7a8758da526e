/**
 * Sign-in of users of the Firebase project. Loaded only if Hosting names a project. Firebase's own library stores the sign-in
 * in the browser and renews its tokens. Only e-mail and password are offered, because other methods load scripts from other
 * origins, which the page's policy forbids.
 */
import { type FirebaseOptions, initializeApp } from '@firebase/app';
import {
  type Auth,
  browserSessionPersistence,
  indexedDBLocalPersistence,
  initializeAuth,
  signInWithEmailAndPassword,
  signOut,
  type User,
} from '@firebase/auth';
import type { Credential } from '../api/client.ts';
import { ApiError } from '../api/problem.ts';

export interface FirebaseUsers {
  /** The credential of an earlier sign-in, unless that was signed out. */
  current(): Promise<Credential | undefined>;
  /** @throws ApiError with what to do */
  signIn(email: string, password: string): Promise<Credential>;
  signOut(): Promise<void>;
}

export function firebaseUsers(config: FirebaseOptions): FirebaseUsers {
  const auth: Auth = initializeAuth(initializeApp(config), {
    persistence: [indexedDBLocalPersistence, browserSessionPersistence],
  });
  return {
    async current() {
      await auth.authStateReady();
      return auth.currentUser ? credentialOf(auth.currentUser) : undefined;
    },
    async signIn(email, password) {
      try {
        const { user } = await signInWithEmailAndPassword(auth, email, password);
        return credentialOf(user);
      } catch (error) {
        throw refusal(error);
      }
    },
    signOut: () => signOut(auth),
  };
}

const credentialOf =
  (user: User): Credential =>
  () =>
    user.getIdToken();

/** An error of Firebase as text. It deliberately does not reveal whether the e-mail or the password was wrong. */
function refusal(error: unknown): ApiError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  const isWrong = /invalid-credential|wrong-password|user-not-found|invalid-email/.test(code);
  return new ApiError({
    status: isWrong ? 401 : 503,
    code: code || 'SIGN_IN_FAILED',
    title: isWrong ? 'Not signed in' : 'Signing in failed',
    detail: isWrong ? 'The e-mail address or the password is wrong.' : String(error),
    help: isWrong
      ? undefined
      : 'Check the network, and that e-mail sign-in is enabled in the Firebase project.',
  });
}
