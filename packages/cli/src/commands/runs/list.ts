/** `runs list`. */
import type { CairnClient } from '@cairn/client';
import { command } from '../../arguments/command.ts';
import { isAgo, timeValue } from '../../arguments/values.ts';
import { runTable } from '../../views/runs.ts';
import { tellUnreadable } from '../listed.ts';

const USUAL = 20;
/** Ten requests. Who wants more goes through the API, page by page. */
const MOST = 1_000;

export const listRuns = command({
  name: 'runs list',
  summary: 'List runs, newest first',
  details: 'Filters can be combined. Lists may be up to a second behind a running run.',
  args: {},
  options: {
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
    limit: {
      type: 'number',
      value: 'N',
      range: [1, MOST],
      help: `how many (default ${USUAL}, at most ${MOST})`,
    },
  },
  examples: [
    ['runs list', 'the newest twenty'],
    ['runs list --status awaiting_approval', 'runs that wait for a person'],
    ['runs list --status failed --status cancelled --since 24h', 'what ended badly in the last day'],
    ['runs list --type deploy --status failed --json', 'for a script'],
  ],
  async run({ api, out, notes }, { options }) {
    const { status, type, repo, thread, since, until, limit = USUAL } = options;
    const query = {
      status: status.length === 0 ? undefined : status.join(','),
      waitsFor: options['waits-for'],
      type,
      repoId: repo,
      threadId: thread,
      ...(await createdIn(api, { since, until })),
    };
    const found = await api.list('/v1/runs', { query, limit });
    out.answer(found, (shape) => runTable(found.items, api.now(), shape));
    if (out.json) return;
    tellUnreadable({ out, notes }, found.unreadable);
    if (found.items.length === 0) notes.print('No runs.\n');
    if (found.more) notes.print(notes.style.dim(`More exist: --limit ${Math.min(MOST, limit * 5)}\n`));
  },
});

interface Range {
  readonly since: string | undefined;
  readonly until: string | undefined;
}

/** "How long ago" counts from the time of the installation, which its answers tell. */
async function createdIn(api: CairnClient, { since, until }: Range): Promise<Range> {
  const range = (now: number) => ({
    since: since === undefined ? undefined : timeValue('--since', since, now),
    until: until === undefined ? undefined : timeValue('--until', until, now),
  });
  // A wrong time is refused before anything is sent.
  const sent = range(api.now());
  if (![since, until].some((text) => text !== undefined && isAgo(text))) return sent;
  await api.get('/v1/me', {});
  return range(api.now());
}
