/** `explain`: the state of a run, its reason, and the commands that would move it on. */
import { explainRun, readActivity, readPlaces } from '@cairn/client';
import { explanationPage } from '../../views/explanation.ts';
import { runCommand } from './named.ts';

export const explain = runCommand({
  name: 'explain',
  summary: 'Explain what a run is doing, why and since when, where its code is, and what would move it on',
  examples: [
    ['explain last', 'the newest run'],
    ['explain run_mzx2qk', 'the first characters of an id are enough'],
  ],
  async run({ api, out }, id) {
    const run = await api.get('/v1/runs/{id}', { params: { id } });
    const explanation = explainRun(run, await readActivity(api, run));
    const { type, status, finding } = run;
    const code = await readPlaces(api, run);
    const answer = { id, type, status, ...explanation, code, finding };
    out.answer(answer, (shape) => explanationPage(run, { ...explanation, code }, api.now(), shape));
  },
});
