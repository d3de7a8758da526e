/** `runs search`. */
import { command } from '../../arguments/command.ts';
import { foundTable } from '../../views/runs.ts';

export const searchRuns = command({
  name: 'runs search',
  summary: 'Find runs by id, delivery, idempotency key, thread, trace or pull request',
  details: 'The beginning of an id is enough; everything else must be exact. At most 20 runs, newest first.',
  args: {
    name: { help: 'GitHub delivery, idempotency key, thread, trace id, address of a pull request, or id' },
  },
  examples: [
    ['runs search https://github.com/acme/app/pull/7', 'the runs of a pull request'],
    ['runs search 5e6f1d50-0a4b-11f0-9d3a-1c2b3a4d5e6f', 'the runs of a GitHub delivery'],
  ],
  async run({ api, out, notes }, { args: { name } }) {
    const found = await api.get('/v1/search', { query: { q: name } });
    out.answer(found, (shape) => foundTable(found.items, api.now(), shape));
    if (found.items.length === 0 && !out.json) notes.print('No run found.\n');
  },
});
