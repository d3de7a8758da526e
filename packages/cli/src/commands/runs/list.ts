/** `runs list`. */
import { command } from '../../arguments/command.ts';
import { runTable } from '../../views/runs.ts';
import { tellUnreadable } from '../listed.ts';
import { FILTERS, queryOf } from './filters.ts';

const USUAL = 20;
/** Ten requests. Who wants more goes through the API, page by page. */
const MOST = 1_000;

export const listRuns = command({
  name: 'runs list',
  summary: 'List runs, newest first',
  details:
    'Filters can be combined. Lists may be up to a second behind a running run. Child runs are left out, unless --children is given.',
  args: {},
  options: {
    ...FILTERS,
    children: { type: 'flag', help: 'also runs that other runs have started' },
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
    ['runs list --tag customer:42', 'runs about one customer'],
    ['runs list --type ship --children', 'also runs that other runs have started'],
    ['runs list --type deploy --status failed --json', 'for a script'],
  ],
  async run({ api, out, notes }, { options }) {
    const { limit = USUAL } = options;
    const filter = await queryOf(api, options);
    const query = { ...filter, topLevel: options.children ? undefined : 'true' };
    const found = await api.list('/v1/runs', { query, limit });
    out.answer(found, (shape) => runTable(found.items, api.now(), shape));
    if (out.json) return;
    tellUnreadable({ out, notes }, found.unreadable);
    if (found.items.length === 0) {
      const isFiltered = Object.values(filter).some((value) => value !== undefined);
      const leftOut = isFiltered && !options.children ? ' Child runs are left out: --children.' : '';
      notes.print(`No runs.${leftOut}\n`);
    }
    if (found.more) notes.print(notes.style.dim(`More exist: --limit ${Math.min(MOST, limit * 5)}\n`));
  },
});
