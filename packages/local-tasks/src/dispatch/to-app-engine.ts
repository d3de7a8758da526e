/** Sends the tasks for App Engine, whose URL is a relative one, to the address of the app. */
import type { Dispatch } from './attempt.ts';

/**
 * @param app undefined: there is no app (any longer), and such an attempt fails
 */
export function toAppEngine(dispatch: Dispatch, app: string | undefined): Dispatch {
  return async (request) => {
    if (!request.url.startsWith('/')) return dispatch(request);
    if (app === undefined) return { kind: 'unreachable', reason: 'There is no App Engine app.' };
    // Dot segments end at the root of the app, also where the app is at a path of its host.
    const { pathname, search } = new URL(`http://app${request.url}`);
    return dispatch({ ...request, url: `${app.replace(/\/+$/, '')}${pathname}${search}` });
  };
}
