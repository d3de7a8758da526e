/** Host of this console: a local cloud, which provides its key, or Hosting, which provides its Firebase project. */
import { unreachable } from '../api/problem.ts';
import type { FirebaseUsers } from './firebase.ts';
import type { LocalSession } from './session.ts';

export interface Place {
  readonly local: LocalSession | undefined;
  /** Undefined where user sign-in is not configured. */
  readonly users: FirebaseUsers | undefined;
}

/** Reserved addresses of Firebase Hosting. */
const FIREBASE_CONFIG = '/__/firebase/init.json';

/** @throws ApiError if there is no answer */
export async function readPlace(): Promise<Place> {
  const configuration = await readJson('/console.json');
  if (configuration?.local === true && typeof configuration.apiKey === 'string') {
    const firstSteps = Array.isArray(configuration.firstSteps) ? configuration.firstSteps.map(String) : [];
    return { local: { apiKey: configuration.apiKey, firstSteps }, users: undefined };
  }
  const config = await readJson(FIREBASE_CONFIG);
  if (typeof config?.apiKey !== 'string') return { local: undefined, users: undefined };
  const { firebaseUsers } = await import('./firebase.ts');
  return { local: undefined, users: firebaseUsers(config) };
}

/** Undefined if the host has no such file, and answers 404 or with a page. */
async function readJson(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const answer = await fetch(path).catch((error: unknown) => {
    throw unreachable(error);
  });
  if (!answer.ok || !answer.headers.get('content-type')?.includes('json')) return undefined;
  return (await answer.json()) as Readonly<Record<string, unknown>>;
}
