/** Options that select runs, and the query parameters that they become. */
import type { CairnClient } from '@cairn/client';
import type { OptionsOf } from '../../arguments/command.ts';
import { isAgo, timeValue } from '../../arguments/values.ts';

export const FILTERS = {
  status: {
    type: 'list',
    help: 'only of this status, e.g. failed or awaiting_approval; give it several times for several',
  },
  since: {
    type: 'text',
    value: 'TIME',
    help: 'only created since then: a time, or how long ago like 3d, 12h or 30m',
  },
  until: { type: 'text', value: 'TIME', help: 'only created before then' },
  'waits-for': {
    type: 'text',
    help: 'only with an open wait of this kind, also while other branches run: awaiting_approval or waiting_external',
  },
  type: { type: 'text', help: 'only of this workflow' },
  repo: { type: 'text', help: 'only of this repository' },
  thread: { type: 'text', help: 'only of this thread; the id of a schedule is the thread of its runs' },
  tag: { type: 'text', value: 'NAME:VALUE', help: 'only with this tag, e.g. customer:42' },
} as const;

/** The option `--match`. */
export const MATCH = {
  type: 'text',
  value: 'TEXT',
  help: "only with a tag that compares so, e.g. 'amount>100', or with an id, key, thread or tag that begins so, e.g. 'customer:4*'",
} as const;

/** Maximum of requests for a list by `--match` or in another order; each reads 1,000 runs or more. */
export const MAX_COSTLY_PAGES = 10;

/** @throws UsageError for a wrong time */
export async function queryOf(api: CairnClient, options: OptionsOf<typeof FILTERS>) {
  const { status, type, repo, thread, tag, since, until } = options;
  return {
    status: status.length === 0 ? undefined : status.join(','),
    waitsFor: options['waits-for'],
    type,
    repoId: repo,
    threadId: thread,
    tag,
    ...(await createdIn(api, { since, until })),
  };
}

interface CreatedRange {
  readonly since: string | undefined;
  readonly until: string | undefined;
}

/** Resolves relative times such as `3d` against the clock of the installation, which its responses carry. */
async function createdIn(api: CairnClient, { since, until }: CreatedRange): Promise<CreatedRange> {
  const range = (now: number) => ({
    since: since === undefined ? undefined : timeValue('--since', since, now),
    until: until === undefined ? undefined : timeValue('--until', until, now),
  });
  // Refuses an invalid time before anything is sent.
  const sent = range(api.now());
  if (![since, until].some((text) => text !== undefined && isAgo(text))) return sent;
  await api.get('/v1/me', {});
  return range(api.now());
}
