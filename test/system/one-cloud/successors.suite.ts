/** Replays, forks and resumes over HTTP. */
import { describe, expect, test } from '@jest/globals';
import { getJson } from '../../../packages/local/src/cloud-process.ts';
import { inspectJournal } from '../../../scripts/demo/journal.ts';
import { type CloudStage, ended, eventually, type RunView, send, startRun, tryGet } from '../support.ts';

interface Successor extends RunView {
  readonly supersededBy?: string;
  readonly result?: unknown;
}

export function successors(stage: CloudStage): void {
  describe('on the local cloud, over HTTP,', () => {
    const post = (path: string, body: object = {}) => send(stage.cloud.ready, { path, body });

    async function made(answer: Response): Promise<string> {
      expect(answer.status).toBe(201);
      return ((await answer.json()) as { runId: string }).runId;
    }

    test('a fork reuses the completed steps of a run, and a replay runs them again', async () => {
      const runId = await made(await startRun(stage.cloud.ready, 'chain-10', {}));
      const source = (await ended(stage.cloud.ready, runId)) as Successor;
      expect(source.status).toBe('completed');
      const foretold = (await (await post(`/v1/runs/${runId}/preview`, { mode: 'fork' })).json()) as {
        steps: { action: string }[];
      };
      expect(foretold.steps.map(({ action }) => action)).toEqual(Array(10).fill('reused'));
      for (const [mode, reused] of [
        ['fork', 10],
        ['replay', 0],
      ] as const) {
        const successor = await made(await post(`/v1/runs/${runId}/${mode}`));
        const run = (await ended(stage.cloud.ready, successor)) as Successor;
        expect([run.status, run.result]).toEqual(['completed', source.result]);
        const { events, intact } = await inspectJournal(stage.cloud.ready, successor);
        expect([intact, events.filter(({ type }) => type === 'step_reused').length]).toEqual([true, reused]);
      }
    });

    test('two concurrent resumes of a cancelled run make one successor, which continues from there', async () => {
      const runId = await made(await startRun(stage.cloud.ready, 'awaiting', { key: 'k1' }));
      await eventually('the run to wait', async () => {
        const run = await tryGet<RunView>(stage.cloud.ready, `/v1/runs/${runId}`);
        return run?.status === 'waiting_external' ? run : undefined;
      });
      await post(`/v1/runs/${runId}/cancel`);
      expect((await ended(stage.cloud.ready, runId)).status).toBe('cancelled');
      const answers = await Promise.all([1, 2].map(() => post(`/v1/runs/${runId}/resume`)));
      expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409]);
      const run = await getJson<Successor>(stage.cloud.ready, `/v1/runs/${runId}`);
      await post('/v1/events', { event: 'sent', key: 'k1', data: 'four' });
      const resumed = (await ended(stage.cloud.ready, run.supersededBy ?? '')) as Successor;
      expect([resumed.status, resumed.result]).toEqual(['completed', { length: 4 }]);
      expect((await inspectJournal(stage.cloud.ready, runId)).intact).toBe(true);
    });
  });
}
