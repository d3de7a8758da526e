/**
 * Requires a sign-in. On the local cloud the development key signs in automatically; elsewhere a person signs in with an API
 * key or as a Firebase user.
 */
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { Api, type Credential } from '../api/client.ts';
import { ApiError, isSignedOut } from '../api/problem.ts';
import { Failure, Loading } from '../parts/states.tsx';
import { type ClosedForm, LateOutcomes, type RefusedApproval } from './late-outcomes.ts';
import { type Place, readPlace } from './place.ts';
import { maySeeAllOf, type Session, SessionContext } from './session.ts';
import { SignIn, SignInAgain } from './sign-in.tsx';

/** The API key in the session storage of this tab. A Firebase user is kept by Firebase's own library. */
const KEPT = 'cairn.api-key';

type GateState =
  | { readonly at: 'starting' }
  | { readonly at: 'signed_out'; readonly place: Place; readonly refused?: ApiError | undefined }
  | ({ readonly at: 'signed_in' } & Visit)
  /** The credential of an open page was refused: the page stays. */
  | ({ readonly at: 'expired'; readonly refused?: unknown } & Visit)
  | { readonly at: 'unreachable'; readonly error: unknown };

/** A session, and how it was begun. */
interface Visit {
  readonly place: Place;
  readonly session: Session;
  /** With the development key of the local cloud. */
  readonly isDevelopment: boolean;
}

/** A sign-in. */
interface Attempt {
  readonly credential: Credential;
  /** The API key; undefined for a user. */
  readonly key?: string;
}

const withKey = (key: string): Attempt => ({ key, credential: async () => key });

/** Keeps a typed key over a reload, but not the development key, because the next local cloud has another one. */
function keep({ key }: Attempt, { local }: Place): void {
  if (key !== undefined && key !== local?.apiKey) sessionStorage.setItem(KEPT, key);
}

const isDevelopmentKey = ({ key }: Attempt, { local }: Place): boolean =>
  key !== undefined && key === local?.apiKey;

interface SessionGateProps {
  readonly children: ReactNode;
  /** Called for each session while its key is checked. The pages are drawn after it resolves. Never rejects. */
  readonly onEnter: (api: Api) => Promise<void>;
}

export function SessionGate({ children, onEnter }: SessionGateProps) {
  const { state, begin, enter, enterAgain } = useGate(onEnter);
  switch (state.at) {
    case 'starting':
      return <Loading what="the console" />;
    case 'unreachable':
      return <Failure isPage error={state.error} again={begin} />;
    case 'signed_out':
      return (
        <SignIn
          refused={state.refused}
          place={state.place}
          onKey={(key) => {
            const attempt = withKey(key);
            keep(attempt, state.place);
            return enter(attempt, state.place);
          }}
          onUser={(credential) => enter({ credential }, state.place)}
        />
      );
    case 'signed_in':
    case 'expired':
      return (
        <SessionContext.Provider value={state.session}>
          {children}
          {state.at === 'expired' && <Expired visit={state} refused={state.refused} onAttempt={enterAgain} />}
        </SessionContext.Provider>
      );
  }
}

/** The state of the gate, and the sign-ins that change it. */
function useGate(onEnter: SessionGateProps['onEnter']) {
  const [state, setState] = useState<GateState>({ at: 'starting' });
  const queries = useQueryClient();
  /** The API of the current session. A late answer to a session before it must not end this one. */
  const current = useRef<Api>(undefined);

  const leave = useCallback(
    async (place: Place, refused?: ApiError) => {
      current.current = undefined;
      forgetKey();
      // Data of one person must not be shown to the next.
      queries.clear();
      await place.users?.signOut();
      setState({ at: 'signed_out', place, refused });
    },
    [queries],
  );

  const enter = useCallback(
    async (attempt: Attempt, place: Place) => {
      const onRefused = () => {
        // A credential that is refused at its first use has not expired; the answer states the reason.
        if (current.current !== api) return false;
        forgetKey();
        setState((now) => (now.at === 'signed_in' ? { ...now, at: 'expired' } : now));
        return true;
      };
      const api: Api = new Api(attempt.credential, onRefused);
      try {
        const [me] = await Promise.all([api.get('/v1/me'), onEnter(api)]);
        current.current = api;
        const session = {
          api,
          me,
          local: place.local,
          lateRefusals: new LateOutcomes<RefusedApproval>(),
          closedForms: new LateOutcomes<ClosedForm>(),
          signOut: () => void leave(place),
        };
        setState({ at: 'signed_in', place, session, isDevelopment: isDevelopmentKey(attempt, place) });
      } catch (error) {
        const status = error instanceof ApiError ? error.problem.status : 0;
        if (isSignedOut(error)) await leave(place, UNKNOWN);
        else if (error instanceof ApiError && status === 403) await leave(place, error);
        else setState({ at: 'unreachable', error });
      }
    },
    [leave, onEnter],
  );

  const enterAgain = useCallback(
    async (attempt: Attempt, visit: Visit) => {
      const { place, session } = visit;
      try {
        const me = await new Api(attempt.credential, () => false).get('/v1/me');
        if (current.current !== session.api) return;
        // The key is kept only now, because a late refusal of the old key clears the kept one.
        keep(attempt, place);
        if (maySeeAllOf(session.me, me)) {
          session.api.signInAgain(attempt.credential);
          const isDevelopment = isDevelopmentKey(attempt, place);
          setState({ at: 'signed_in', place, session: { ...session, me }, isDevelopment });
          return await queries.invalidateQueries();
        }
      } catch (error) {
        const refused = isSignedOut(error) ? UNKNOWN : error;
        return setState({ ...visit, at: 'expired', refused });
      }
      current.current = undefined;
      setState({ at: 'starting' });
      queries.clear();
      await enter(attempt, place);
    },
    [queries, enter],
  );

  const begin = useCallback(async () => {
    setState({ at: 'starting' });
    try {
      const place = await readPlace();
      const key = sessionStorage.getItem(KEPT) ?? place.local?.apiKey;
      const user = key === undefined ? await place.users?.current() : undefined;
      if (key !== undefined) await enter(withKey(key), place);
      else if (user) await enter({ credential: user }, place);
      else setState({ at: 'signed_out', place });
    } catch (error) {
      setState({ at: 'unreachable', error });
    }
  }, [enter]);
  useEffect(() => void begin(), [begin]);
  return { state, begin, enter, enterAgain };
}

interface ExpiredProps {
  readonly visit: Visit;
  readonly refused: unknown;
  onAttempt(attempt: Attempt, visit: Visit): Promise<void>;
}

/**
 * Asks for a credential over the open page. If the page signed in with the development key of a local cloud that has restarted
 * with another key, it takes that key without asking.
 */
function Expired({ visit, refused, onAttempt }: ExpiredProps) {
  const [place, setPlace] = useState<Place>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, after the expiry
  useEffect(() => {
    const ask = async () => {
      const now = visit.place.local ? await readPlace().catch(() => visit.place) : visit.place;
      const key = now.local?.apiKey;
      if (visit.isDevelopment && key !== undefined && key !== visit.place.local?.apiKey)
        await onAttempt(withKey(key), { ...visit, place: now });
      setPlace(now);
    };
    void ask();
  }, []);
  if (!place) return null;
  return (
    <SignInAgain
      refused={refused}
      place={place}
      onKey={(key) => onAttempt(withKey(key), { ...visit, place })}
      onUser={(credential) => onAttempt({ credential }, { ...visit, place })}
      onSignOut={visit.session.signOut}
    />
  );
}

/** Replaces the API's own text, which names the header, for a person who signs in. */
const UNKNOWN = new ApiError({
  status: 401,
  code: 'UNAUTHENTICATED',
  title: 'This key or sign-in is not valid',
  detail: 'Check that the key was copied completely, has not been revoked, and belongs to this installation.',
});

function forgetKey(): void {
  sessionStorage.removeItem(KEPT);
}
