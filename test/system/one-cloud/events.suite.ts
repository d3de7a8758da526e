/** Events and signals over HTTP. */
import { describe, expect, test } from '@jest/globals';
import { MAX_DELIVERED_BYTES } from '../../../packages/cairn/src/core/mailbox/limits.ts';
import { inspectJournal } from '../../../scripts/demo/journal.ts';
import { type CloudStage, ended, eventually, type RunView, send, startRun, tryGet } from '../support.ts';

/** The largest data of an event. Its checkpoint also holds the output of the same size. */
const DATA = 'x'.repeat(MAX_DELIVERED_BYTES - 2);

export function events(stage: CloudStage): void {
  describe('an event', () => {
    const post = (path: string, body: unknown, key?: string) => send(stage.cloud.ready, { path, body, key });

    async function started(key: string): Promise<string> {
      const answer = await startRun(stage.cloud.ready, 'awaiting', { key });
      return ((await answer.json()) as { runId: string }).runId;
    }

    async function waiting(key: string): Promise<string> {
      const runId = await started(key);
      await eventually('the run to wait', async () => {
        const run = await tryGet<RunView>(stage.cloud.ready, `/v1/runs/${runId}`);
        return run?.status === 'waiting_external' ? run : undefined;
      });
      return runId;
    }

    test('resumes the runs that wait for it, and a repetition gets the same bytes', async () => {
      const runs = await Promise.all(['now', 'now', 'now'].map(waiting));
      const event = { event: 'sent', key: 'now', data: DATA };
      const answer = await post('/v1/events', event, 'once');
      expect(answer.status).toBe(200);
      const text = await answer.text();
      const { delivered, kept } = JSON.parse(text) as { delivered: string[]; kept: boolean };
      expect([...delivered].sort()).toEqual([...runs].sort());
      expect(kept).toBe(false);
      for (const runId of runs) {
        expect(await ended(stage.cloud.ready, runId)).toMatchObject({
          status: 'completed',
          result: { length: DATA.length },
        });
        expect((await inspectJournal(stage.cloud.ready, runId)).intact).toBe(true);
      }
      expect(await (await post('/v1/events', event, 'once')).text()).toBe(text);
    });

    test('without a waiting run is buffered for the first run that waits for it', async () => {
      const event = { event: 'sent', key: 'early', data: DATA };
      expect(await (await post('/v1/events', event)).json()).toMatchObject({ delivered: [], kept: true });
      const runId = await started('early');
      expect(await ended(stage.cloud.ready, runId)).toMatchObject({ result: { length: DATA.length } });
      expect(await (await post('/v1/events', { ...event, data: 'another' })).json()).toMatchObject({
        kept: true,
      });
    });

    test('is delivered or buffered, as its response says, while runs begin to wait', async () => {
      const senders = Array.from({ length: 10 }, (_, i) => ({ event: 'sent', key: 'rush', data: `${i}` }));
      const [runs, answers] = await Promise.all([
        Promise.all(['rush', 'rush', 'rush'].map(started)),
        Promise.all(senders.map(async (event) => (await post('/v1/events', event)).json())),
      ]);
      for (const runId of runs)
        expect(await ended(stage.cloud.ready, runId)).toMatchObject({ status: 'completed' });
      const deliveries = answers as { eventId: string; delivered: string[]; kept: boolean }[];
      for (const { delivered, kept } of deliveries) expect(delivered.length > 0).toBe(!kept);
      const taken = await Promise.all(
        runs.map(async (runId) => {
          const { events } = await inspectJournal(stage.cloud.ready, runId);
          return events.flatMap(({ type, data }) =>
            type === 'wait_resolved' ? [(data as { signalId?: string }).signalId] : [],
          );
        }),
      );
      // Each run received one event, and each response names the runs that received its event.
      expect(taken.every((ids) => ids.length === 1)).toBe(true);
      for (const { eventId, delivered } of deliveries) {
        for (const runId of delivered) expect(taken[runs.indexOf(runId)]).toEqual([eventId]);
      }
    });

    test('sent as a signal reaches its run, also before it waits', async () => {
      const runId = await waiting('signalled');
      const answer = await post(`/v1/runs/${runId}/signals`, { name: 'sent', data: 'four' });
      expect(await answer.json()).toMatchObject({ runId, outcome: 'taken_in' });
      expect(await ended(stage.cloud.ready, runId)).toMatchObject({ result: { length: 4 } });
    });
  });
}
