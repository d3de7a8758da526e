/**
 * The part of GitHub's REST API that the shipped capabilities use, on a loopback port. Owns permissions and routes; state and
 * faults are those of `packages/local/src/stand-in`.
 */

import type { StorageChoice } from '@cairn/local-kit/sqlite/grouped-database';
import type { ServerClock } from '@cairn/local-kit/time/clock';
import type { StandInReply, StandInRoute } from '../stand-in/route.ts';
import { type StandInServer, startStandInServer } from '../stand-in/server.ts';
import { checkRunRoutes } from './routes/check-runs.ts';
import { commentRoutes } from './routes/comments.ts';
import { labelRoutes } from './routes/labels.ts';
import { statusRoutes } from './routes/statuses.ts';

interface GithubServerOptions {
  readonly storage: StorageChoice;
  readonly clock: ServerClock;
  /** Token that writers must send. */
  readonly token: string;
  readonly port?: number;
}

/** Hourly limit in the headers. Requests are not counted, because rate limits are an injected fault. */
const LIMIT = 5_000;
const HOUR_S = 60 * 60;

const limits = (now: number) => ({ limit: LIMIT, remaining: LIMIT, reset: resetAfter(now), used: 0 });
const resetAfter = (now: number) => Math.ceil(now / 1000) + HOUR_S;

const rateLimitRoute: StandInRoute = {
  name: 'GET /rate_limit',
  changes: false,
  answer: ({ now }) => ({ status: 200, body: { resources: { core: limits(now) }, rate: limits(now) } }),
};

const ROUTES: readonly StandInRoute[] = [
  ...commentRoutes,
  ...statusRoutes,
  ...labelRoutes,
  ...checkRunRoutes,
  rateLimitRoute,
];

const UNKNOWN: StandInReply = {
  status: 501,
  body: {
    message:
      'This stand-in for GitHub does not support the request (packages/local/FIDELITY.md lists what it supports)',
  },
};

export function startGithubServer({
  storage,
  clock,
  token,
  port,
}: GithubServerOptions): Promise<StandInServer> {
  return startStandInServer({
    storage,
    clock,
    routes: ROUTES,
    unknown: UNKNOWN,
    refusal({ route }, authorization) {
      const given = authorization?.replace(/^(?:Bearer|token) /i, '');
      if (given !== undefined && given !== token)
        return { status: 401, body: { message: 'Bad credentials' } };
      if (given === undefined && route.changes)
        return { status: 401, body: { message: 'Requires authentication' } };
      return undefined;
    },
    headers: (now) => ({
      'x-ratelimit-limit': String(LIMIT),
      'x-ratelimit-remaining': String(LIMIT),
      'x-ratelimit-reset': String(resetAfter(now)),
    }),
    ...(port === undefined ? {} : { port }),
  });
}
