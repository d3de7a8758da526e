/** `runs list`. */
import { command } from '../../arguments/command.ts';
import { runTable } from '../../views/runs.ts';
import { tellUnreadable } from '../listed.ts';

const USUAL = 20;
/** Ten requests. Who wants more goes through the API, page by page. */
const MOST = 1_000;

export const listRuns = command({
  name: 'runs list',
  summary: 'List runs, newest first',
  details: 'Filters can be combined. Lists lag up to a second behind a run under way.',
  args: {},
  options: {
    status: { type: 'text', help: 'only of this status, e.g. failed or awaiting_approval' },
    'waits-for': {
      type: 'text',
      help: 'only that wait so, whatever else is under way: awaiting_approval or waiting_external',
    },
    type: { type: 'text', help: 'only of this workflow' },
    repo: { type: 'text', help: 'only about this repository' },
    thread: { type: 'text', help: 'only of this thread; of a schedule that is its id' },
    limit: {
      type: 'number',
      value: 'N',
      range: [1, MOST],
      help: `how many (default ${USUAL}, at most ${MOST})`,
    },
  },
  examples: [
    ['runs list', 'the newest twenty'],
    ['runs list --status awaiting_approval', 'what waits for a person'],
    ['runs list --type deploy --status failed --json', 'for a script'],
  ],
  async run({ api, out, notes }, { options }) {
    const { status, type, repo, thread, limit = USUAL } = options;
    const query = { status, waitsFor: options['waits-for'], type, repoId: repo, threadId: thread };
    const found = await api.list('/v1/runs', { query, limit });
    out.answer(found, (shape) => runTable(found.items, api.now(), shape));
    if (out.json) return;
    tellUnreadable({ out, notes }, found.unreadable);
    if (found.items.length === 0) notes.print('No runs.\n');
    if (found.more) notes.print(notes.style.dim(`There are more: --limit ${Math.min(MOST, limit * 5)}\n`));
  },
});
