/**
 * Requires a sign-in. On the local cloud the development key signs in automatically; elsewhere with an API key
 * or as a Firebase user.
 */
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { Api, type Credential } from '../api/client.ts';
import { ApiError, isSignedOut } from '../api/problem.ts';
import { Failure, Loading } from '../parts/states.tsx';
import { forgetKey, keepKey, keptKey } from './kept-key.ts';
import { type ClosedForm, LateOutcomes, type RefusedApproval } from './late-outcomes.ts';
import { type Place, readPlace } from './place.ts';
import { maySeeAllOf, type Session, SessionContext } from './session.ts';
import { SignIn, SignInAgain } from './sign-in.tsx';

type GateState =
  | { readonly at: 'starting' }
  | { readonly at: 'signed_out'; readonly place: Place; readonly refused?: ApiError | undefined }
  | ({ readonly at: 'signed_in' } & Visit)
  /** The credential of an open page was refused: the page stays. */
  | ({ readonly at: 'expired'; readonly refused?: unknown } & Visit)
  | { readonly at: 'unreachable'; readonly error: unknown };

/** A session, and where it was begun. */
interface Visit {
  readonly place: Place;
  readonly session: Session;
}

interface SessionGateProps {
  readonly children: ReactNode;
  /** Called with each session, while the API is asked who it is; nothing is drawn for it until this has ended. Never rejects. */
  readonly onEnter: (api: Api) => Promise<void>;
}

export function SessionGate({ children, onEnter }: SessionGateProps) {
  const [state, setState] = useState<GateState>({ at: 'starting' });
  const queries = useQueryClient();

  const leave = useCallback(
    async (place: Place, refused?: ApiError) => {
      forgetKey();
      // Data of one person must not be shown to the next.
      queries.clear();
      await place.users?.signOut();
      setState({ at: 'signed_out', place, refused });
    },
    [queries],
  );

  const enter = useCallback(
    async (credential: Credential, place: Place) => {
      // A credential that is refused at once has not expired: the answer says why.
      let isInside = false;
      const onRefused = () => {
        if (isInside) forgetKey();
        setState((now) => (now.at === 'signed_in' ? { ...now, at: 'expired' } : now));
        return isInside;
      };
      const api = new Api(credential, onRefused);
      try {
        const [me] = await Promise.all([api.get('/v1/me'), onEnter(api)]);
        isInside = true;
        const session = {
          api,
          me,
          local: place.local,
          lateRefusals: new LateOutcomes<RefusedApproval>(),
          closedForms: new LateOutcomes<ClosedForm>(),
          signOut: () => void leave(place),
        };
        setState({ at: 'signed_in', place, session });
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
    async (credential: Credential, { place, session }: Visit) => {
      try {
        const me = await new Api(credential, () => false).get('/v1/me');
        if (maySeeAllOf(session.me, me)) {
          session.api.signInAgain(credential);
          setState({ at: 'signed_in', place, session: { ...session, me } });
          return await queries.invalidateQueries();
        }
      } catch (error) {
        forgetKey();
        const refused = isSignedOut(error) ? UNKNOWN : error;
        return setState({ at: 'expired', place, session, refused });
      }
      setState({ at: 'starting' });
      queries.clear();
      await enter(credential, place);
    },
    [queries, enter],
  );

  const begin = useCallback(async () => {
    setState({ at: 'starting' });
    try {
      const place = await readPlace();
      const key = keptKey() ?? place.local?.apiKey;
      const credential = key === undefined ? await place.users?.current() : async () => key;
      if (credential) await enter(credential, place);
      else setState({ at: 'signed_out', place });
    } catch (error) {
      setState({ at: 'unreachable', error });
    }
  }, [enter]);
  useEffect(() => void begin(), [begin]);

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
            keepKey(key);
            return enter(async () => key, state.place);
          }}
          onUser={(credential) => enter(credential, state.place)}
        />
      );
    case 'signed_in':
    case 'expired':
      return (
        <SessionContext.Provider value={state.session}>
          {children}
          {state.at === 'expired' && (
            <Expired visit={state} refused={state.refused} onCredential={enterAgain} />
          )}
        </SessionContext.Provider>
      );
  }
}

interface ExpiredProps {
  readonly visit: Visit;
  readonly refused: unknown;
  onCredential(credential: Credential, visit: Visit): Promise<void>;
}

/** Asks for a credential over the open page. A local cloud that has begun anew, and with it another key, is not asked about. */
function Expired({ visit, refused, onCredential }: ExpiredProps) {
  const { session } = visit;
  const [place, setPlace] = useState<Place>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it has expired
  useEffect(() => {
    const ask = async () => {
      const now = visit.place.local ? await readPlace().catch(() => visit.place) : visit.place;
      const key = now.local?.apiKey;
      if (key !== undefined && key !== visit.place.local?.apiKey)
        await onCredential(async () => key, { ...visit, place: now });
      setPlace(now);
    };
    void ask();
  }, []);
  if (!place) return null;
  return (
    <SignInAgain
      refused={refused}
      place={place}
      onKey={(key) => {
        keepKey(key);
        return onCredential(async () => key, { place, session });
      }}
      onUser={(credential) => onCredential(credential, { place, session })}
      onSignOut={session.signOut}
    />
  );
}

/** Written for a person who signs in: the API's own text names the header. */
const UNKNOWN = new ApiError({
  status: 401,
  code: 'UNAUTHENTICATED',
  title: 'This key or sign-in is not valid',
  detail: 'Check that the key was copied completely, has not been revoked, and belongs to this installation.',
});
