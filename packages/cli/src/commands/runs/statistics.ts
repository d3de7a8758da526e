/** `runs statistics`. */
import { command } from '../../arguments/command.ts';
import { statisticsText } from '../../views/statistics.ts';
import { nearType } from '../did-you-mean.ts';
import { FILTERS, queryOf } from './filters.ts';

const { type, repo, thread, tag, since, until } = FILTERS;

export const runStatistics = command({
  name: 'runs statistics',
  summary: 'How many runs there were, how they ended, how long they took, why they failed',
  details:
    'Of the runs created in a time, by default the last 24 hours; at most the newest 1,000 of them. Durations include waits.',
  options: {
    since: { ...since, help: 'created since then: a time, or how long ago (default 24h before --until)' },
    until: { ...until, help: 'created before then (default now)' },
    type,
    repo,
    thread,
    tag,
  },
  examples: [
    ['runs statistics', 'all workflows, the last day'],
    ['runs statistics --type order --since 7d', 'one workflow, by version, the last week'],
    ['runs statistics --since 1h --json | jq .total.failureShare', 'for a script'],
  ],
  async run({ api, out, notes }, { options }) {
    const {
      status: _,
      waitsFor: __,
      ...query
    } = await queryOf(api, {
      ...options,
      status: [],
      'waits-for': undefined,
    });
    const found = await api.get('/v1/runs/statistics', { query });
    out.answer(found, (shape) => statisticsText(found, api.now(), shape));
    if (found.total.runs > 0 || out.json) return;
    const near = options.type === undefined ? undefined : await nearType(api, options.type);
    notes.print(
      near === undefined
        ? 'No runs.\n'
        : `No runs. There is no workflow '${options.type}'. Did you mean '${near}'?\n`,
    );
  },
});
