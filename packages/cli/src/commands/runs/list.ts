/** `runs list`. */
import { command } from '../../arguments/command.ts';
import { runTable } from '../../views/runs.ts';
import { nearType } from '../did-you-mean.ts';
import { noteUnreadable } from '../listed.ts';
import { FILTERS, MATCH, MAX_COSTLY_PAGES, queryOf } from './filters.ts';

const USUAL = 20;
/** Ten requests. For more, page through the API. */
const MOST = 1_000;

export const listRuns = command({
  name: 'runs list',
  summary: 'List runs, newest first',
  details:
    'Filters can be combined. Lists may be up to a second behind a running run. Child runs are left out, unless --children is given.',
  options: {
    ...FILTERS,
    match: MATCH,
    sort: {
      type: 'text',
      value: 'ORDER',
      help: 'newest (default), oldest, longest or updated (changed last first)',
    },
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
    ["runs list --match 'amount>100'", 'by a tag that is a number'],
    ['runs list --status running --sort longest', 'what takes longest'],
    ['runs list --type ship --children', 'also runs that other runs have started'],
    ['runs list --type deploy --status failed --json', 'for a script'],
  ],
  async run({ api, out, notes }, { options }) {
    const { limit = USUAL, match, sort } = options;
    const isSorted = sort !== undefined && sort !== 'newest';
    const filter = { ...(await queryOf(api, options)), match };
    const query = { ...filter, sort, topLevel: !options.children };
    const maxPages = match === undefined && !isSorted ? undefined : MAX_COSTLY_PAGES;
    const found = await api.list('/v1/runs', { query, limit, maxPages });
    out.answer(found, (shape) => runTable(found.items, api.now(), shape));
    if (out.json) return;
    noteUnreadable({ out, notes }, found.unreadable);
    if (found.items.length === 0) {
      const isFiltered = Object.values(filter).some((value) => value !== undefined);
      const leftOut = isFiltered && !options.children ? ' Child runs are left out: --children.' : '';
      const near = options.type === undefined ? undefined : await nearType(api, options.type);
      const suggestion = ` There is no workflow '${options.type}'. Did you mean '${near}'?`;
      notes.print(`No runs.${near === undefined ? leftOut : suggestion}\n`);
    }
    if (found.more && found.items.length < limit) {
      notes.print(
        notes.style.dim(
          `${isSorted ? 'Other' : 'Older'} runs were not checked; narrow them by --since, --until or a filter.\n`,
        ),
      );
      return;
    }
    if (found.more) notes.print(notes.style.dim(`More exist: --limit ${Math.min(MOST, limit * 5)}\n`));
  },
});
