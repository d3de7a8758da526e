/** Who looks: the API as somebody, what they may, and how they leave. */
import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Answer, Api } from '../api/client.ts';
import type { Reached } from '../api/reach.ts';

export type Me = Answer<'Me'>;
export type Role = Me['role'];

export interface Session {
  readonly api: Api;
  readonly me: Me;
  /** Of the local cloud, which opens without a key; then commands can be given to copy. */
  readonly local: LocalCloud | undefined;
  signOut(): void;
}

export interface LocalCloud {
  readonly apiKey: string;
  /** Shell commands that bring the first run. */
  readonly firstSteps: readonly string[];
}

const ROLES: readonly Role[] = ['viewer', 'submitter', 'operator', 'admin', 'installation'];

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('nobody is signed in');
  return session;
}

/** Whether the API answers, and how far this machine's clock is from its. */
export function useReached(): Reached {
  const { reach } = useSession().api;
  return useSyncExternalStore(reach.subscribe, reach.shown);
}

/** Whether whoever looks may do what takes this role. */
export function useMay(least: Role): boolean {
  const { me } = useSession();
  return ROLES.indexOf(me.role) >= ROLES.indexOf(least);
}
