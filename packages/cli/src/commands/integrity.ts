/** `check` and `repair`: documents that do not match the journal of a run, and their repair. */
import { EXIT } from '../exit.ts';
import { consistencyText, repairText } from '../views/integrity.ts';
import { runCommand } from './runs/named.ts';

export const checkRun = runCommand({
  name: 'check',
  summary: 'Check the documents of a run against its journal; exit code 7 if they differ',
  details:
    'Writes nothing. docs/operations.md explains each problem. external:TENANT:KEY in place of a run: the rows of an effect without one.',
  examples: [
    ['check last', 'the newest run'],
    ['check last --json | jq .verdict', 'consistent, healable, needs_person or broken'],
  ],
  async run({ api, out }, id) {
    const params = { id };
    const found = await api.get('/v1/runs/{id}/consistency', { params });
    out.answer(found, (shape) => consistencyText(found, shape));
    return found.verdict === 'consistent' ? EXIT.ok : EXIT.found;
  },
});

export const repairRun = runCommand({
  name: 'repair',
  summary: 'Show what a repair of a run would change; --apply makes the changes',
  details:
    'Rewrites the documents beside the journal from the journal, and records the repair as an event. The journal itself and\nwhatever waits for a person are not repaired. May be repeated. Exit code 7 while anything is left to do.',
  options: { apply: { type: 'flag', help: 'make the changes; requires the role admin' } },
  mutates: true,
  examples: [
    ['repair last', 'a dry run'],
    ['repair last --apply', 'after a dry run'],
  ],
  async run({ api, out }, id, { options: { apply } }) {
    const params = { id };
    const query = { apply };
    const report = await api.change('POST', '/v1/runs/{id}/repair', { params, query });
    out.answer(report, (shape) => repairText(report, shape));
    const isDone = report.outcome === 'sound' || report.outcome === 'applied';
    return isDone && report.refused.length === 0 ? EXIT.ok : EXIT.found;
  },
});
