/**
 * Lets nobody in who is not known. On the local cloud the development key opens the console at once; elsewhere whoever looks
 * gives an API key or signs in as a Firebase user.
 */
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { Api } from '../api/client.ts';
import { ApiError, unreachable } from '../api/problem.ts';
import { Failure, Loading } from '../parts/states.tsx';
import { type Credential, forgetKey, keepKey, keptKey } from './credential.ts';
import { type LocalCloud, type Session, SessionContext } from './session.ts';
import { SignIn } from './sign-in.tsx';

type State =
  | { readonly at: 'beginning' }
  | { readonly at: 'door'; readonly refused?: ApiError | undefined }
  | { readonly at: 'inside'; readonly session: Session }
  | { readonly at: 'unreachable'; readonly error: unknown };

export function SessionGate({ children }: { readonly children: ReactNode }) {
  const [state, setState] = useState<State>({ at: 'beginning' });
  const [local, setLocal] = useState<LocalCloud>();

  const enter = useCallback(async (credential: Credential, cloud: LocalCloud | undefined) => {
    const leave = (refused?: ApiError) => {
      forgetKey();
      setState({ at: 'door', refused });
    };
    const api = new Api(credential, () => leave(EXPIRED));
    try {
      const me = await api.get('/v1/me');
      setState({ at: 'inside', session: { api, me, local: cloud, signOut: () => leave() } });
    } catch (error) {
      if (error instanceof ApiError && (error.problem.status === 401 || error.problem.status === 403))
        leave(error);
      else setState({ at: 'unreachable', error });
    }
  }, []);

  const begin = useCallback(async () => {
    setState({ at: 'beginning' });
    const cloud = await readLocalCloud().catch((error: unknown) => {
      setState({ at: 'unreachable', error });
      return null;
    });
    if (cloud === null) return;
    setLocal(cloud);
    const key = keptKey() ?? cloud?.apiKey;
    if (key === undefined) setState({ at: 'door' });
    else await enter(async () => key, cloud);
  }, [enter]);
  useEffect(() => void begin(), [begin]);

  switch (state.at) {
    case 'beginning':
      return <Loading what="the console" />;
    case 'unreachable':
      return <Failure error={state.error} again={begin} />;
    case 'door':
      return (
        <SignIn
          refused={state.refused}
          local={local}
          onKey={(key) => {
            keepKey(key);
            return enter(async () => key, local);
          }}
          onUser={(credential) => enter(credential, local)}
        />
      );
    case 'inside':
      return <SessionContext.Provider value={state.session}>{children}</SessionContext.Provider>;
  }
}

const EXPIRED = new ApiError({
  status: 401,
  code: 'UNAUTHENTICATED',
  title: 'Signed out',
  detail: 'The key or sign-in is not accepted any more.',
});

/** Undefined where this is no local cloud. @throws ApiError if nobody answers */
async function readLocalCloud(): Promise<LocalCloud | undefined> {
  const answer = await fetch('/console.json').catch((error: unknown) => {
    throw unreachable(error);
  });
  if (!answer.ok || !answer.headers.get('content-type')?.includes('json')) return undefined;
  const said = (await answer.json()) as { local: boolean } & Partial<LocalCloud>;
  return said.local && said.apiKey !== undefined
    ? { apiKey: said.apiKey, firstSteps: said.firstSteps ?? [] }
    : undefined;
}
