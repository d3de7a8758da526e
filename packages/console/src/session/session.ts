/** The session: the API as the signed-in person, their role, and signing out. */
import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Answer, Api } from '../api/client.ts';
import type { Reached } from '../api/reach.ts';
import type { ClosedForm, LateOutcomes, RefusedApproval } from './late-outcomes.ts';

export type Me = Answer<'Me'>;
export type CallerRole = Me['role'];

export interface Session {
  readonly api: Api;
  readonly me: Me;
  /** Set on a local cloud. */
  readonly local: LocalSession | undefined;
  readonly lateRefusals: LateOutcomes<RefusedApproval>;
  readonly closedForms: LateOutcomes<ClosedForm>;
  signOut(): void;
}

export interface LocalSession {
  readonly apiKey: string;
  /** Shell commands that start a first run. */
  readonly firstSteps: readonly string[];
}

const ROLES: readonly CallerRole[] = ['viewer', 'submitter', 'operator', 'admin', 'installation'];

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('nobody is signed in');
  return session;
}

/** Reachability of the API, and the offset of its clock. */
export function useReached(): Reached {
  const { reach } = useSession().api;
  return useSyncExternalStore(reach.subscribe, reach.shown);
}

/** True if the role of the signed-in person includes this one. */
export function useMay(least: CallerRole): boolean {
  return useMayEach()(least);
}

export function useMayEach(): (least: CallerRole) => boolean {
  const { me } = useSession();
  return (least) => includes(me.role, least);
}

/** True if data read for one person may be shown to the next. */
export function maySeeAllOf(before: Me, now: Me): boolean {
  return now.tenantId === before.tenantId && includes(now.role, before.role);
}

function includes(role: CallerRole, least: CallerRole): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}
