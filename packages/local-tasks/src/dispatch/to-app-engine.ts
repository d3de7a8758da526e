/** Sends App Engine tasks, which have a relative URL, to the address of the app. */
import type { Dispatch } from './attempt.ts';

/**
 * @param app undefined if there is no app (any more); then attempts fail
 */
export function toAppEngine(dispatch: Dispatch, app: string | undefined): Dispatch {
  return async (request) => {
    if (!request.url.startsWith('/')) return dispatch(request);
    if (app === undefined) return { kind: 'unreachable', reason: 'There is no App Engine app.' };
    // Dot segments cannot leave the app, even if the app is below a path of its host.
    const { pathname, search } = new URL(`http://app${request.url}`);
    return dispatch({ ...request, url: `${app.replace(/\/+$/, '')}${pathname}${search}` });
  };
}
