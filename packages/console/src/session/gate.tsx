/**
 * Requires a sign-in. On the local cloud the development key signs in automatically; elsewhere with an API key
 * or as a Firebase user.
 */
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { Api } from '../api/client.ts';
import { ApiError } from '../api/problem.ts';
import { Failure, Loading } from '../parts/states.tsx';
import { type Credential, forgetKey, keepKey, keptKey } from './credential.ts';
import { type ClosedForm, LateOutcomes, type RefusedApproval } from './late-outcomes.ts';
import { type Place, readPlace } from './place.ts';
import { type Session, SessionContext } from './session.ts';
import { SignIn } from './sign-in.tsx';

type GateState =
  | { readonly at: 'starting' }
  | { readonly at: 'signed_out'; readonly place: Place; readonly refused?: ApiError | undefined }
  | { readonly at: 'signed_in'; readonly session: Session }
  | { readonly at: 'unreachable'; readonly error: unknown };

interface SessionGateProps {
  readonly children: ReactNode;
  /** Called with each session, while the API is asked who it is; nothing is drawn for it until this has ended. Never rejects. */
  readonly onEnter: (api: Api) => Promise<void>;
}

export function SessionGate({ children, onEnter }: SessionGateProps) {
  const [state, setState] = useState<GateState>({ at: 'starting' });
  const queries = useQueryClient();

  const enter = useCallback(
    async (credential: Credential, place: Place) => {
      const leave = async (refused?: ApiError) => {
        forgetKey();
        // Data of one person must not be shown to the next.
        queries.clear();
        await place.users?.signOut();
        setState({ at: 'signed_out', place, refused });
      };
      // A credential that is refused at once has not expired: the answer says why.
      let isInside = false;
      const api = new Api(credential, () => isInside && void leave(EXPIRED));
      try {
        const [me] = await Promise.all([api.get('/v1/me'), onEnter(api)]);
        isInside = true;
        const session = {
          api,
          me,
          local: place.local,
          lateRefusals: new LateOutcomes<RefusedApproval>(),
          closedForms: new LateOutcomes<ClosedForm>(),
          signOut: () => void leave(),
        };
        setState({ at: 'signed_in', session });
      } catch (error) {
        const status = error instanceof ApiError ? error.problem.status : 0;
        if (error instanceof ApiError && status === 401) await leave(UNKNOWN);
        else if (error instanceof ApiError && status === 403) await leave(error);
        else setState({ at: 'unreachable', error });
      }
    },
    [queries, onEnter],
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
      return <SessionContext.Provider value={state.session}>{children}</SessionContext.Provider>;
  }
}

/** Written for a person who signs in: the API's own text names the header. */
const UNKNOWN = new ApiError({
  status: 401,
  code: 'UNAUTHENTICATED',
  title: 'This key or sign-in is not valid',
  detail: 'Check that the key was copied completely, has not been revoked, and belongs to this installation.',
});
const EXPIRED = new ApiError({
  status: 401,
  code: 'UNAUTHENTICATED',
  title: 'Signed out',
  detail: 'The key or sign-in is no longer accepted.',
});
