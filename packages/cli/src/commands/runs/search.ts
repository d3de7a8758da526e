/** `runs search`. */
import { command } from '../../arguments/command.ts';
import { foundTable } from '../../views/runs.ts';

export const searchRuns = command({
  name: 'runs search',
  summary:
    'Find runs by whatever is in hand: a delivery, an idempotency key, a thread, a trace, a pull request',
  details: 'The whole of it, exactly. At most 20 runs, the newest first.',
  args: {
    name: { help: 'GitHub delivery, idempotency key, thread, trace id, address of a pull request, or id' },
  },
  options: {},
  examples: [
    ['runs search https://github.com/acme/app/pull/7', 'what was done for a pull request'],
    ['runs search 5e6f1d50-0a4b-11f0-9d3a-1c2b3a4d5e6f', 'what a delivery of GitHub became'],
  ],
  async run({ api, out, notes }, { args: { name } }) {
    const found = await api.get('/v1/search', { query: { q: name } });
    out.answer(found, (shape) => foundTable(found.items, api.now(), shape));
    if (found.items.length === 0 && !out.json) notes.print('No run has that name.\n');
  },
});
