/**
 * The part of Slack that takes messages through `response_url`, on a loopback port: a path is an address, messages sent
 * there can be read back. Owns how long an address lives.
 */

import type { StorageChoice } from '@cairn/local-kit/sqlite/grouped-database';
import type { ServerClock } from '@cairn/local-kit/time/clock';
import type { StandInRoute } from '../stand-in/route.ts';
import { type StandInServer, startStandInServer } from '../stand-in/server.ts';

interface SlackServerOptions {
  readonly storage: StorageChoice;
  readonly clock: ServerClock;
  readonly port?: number;
}

const KIND = 'message';
const ADDRESS = '/commands/{team}/{id}/{secret}';
/** Most messages through one URL. The 30 minutes of Slack are not simulated. */
const MAX_MESSAGES = 5;

interface Params {
  readonly params: Readonly<Record<string, string>>;
}

const placeOf = ({ params: { team, id, secret } }: Params) => `${team}/${id}/${secret}`;

const routes: readonly StandInRoute[] = [
  {
    name: `POST ${ADDRESS}`,
    changes: true,
    answer(request, store) {
      const { body } = request;
      if (typeof body !== 'object' || body === null || !('text' in body || 'blocks' in body))
        return { status: 400, body: { ok: false, error: 'no_text' } };
      if (store.count(KIND, placeOf(request)) >= MAX_MESSAGES)
        return { status: 404, body: { ok: false, error: 'used_url' } };
      store.add(KIND, placeOf(request), body);
      return { status: 200, body: 'ok' };
    },
  },
  {
    // Slack has no such call.
    name: `GET ${ADDRESS}`,
    changes: false,
    answer(request, store) {
      const messages = store.list<object>(KIND, placeOf(request), { skip: 0, take: MAX_MESSAGES });
      return { status: 200, body: messages.map(({ value }) => value) };
    },
  },
];

export function startSlackServer({ storage, clock, port }: SlackServerOptions): Promise<StandInServer> {
  return startStandInServer({
    storage,
    clock,
    routes,
    unknown: { status: 404, body: { ok: false, error: 'no_service' } },
    ...(port === undefined ? {} : { port }),
  });
}
