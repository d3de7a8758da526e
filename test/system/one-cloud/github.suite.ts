/** Recorded deliveries of GitHub to a cloud without reviews. */
import { describe, expect, test } from '@jest/globals';
import { REVIEWED } from '../../../functions/src/workflows/review-pull-request/event.ts';
import { getJson } from '../../../packages/local/src/cloud-process.ts';
import {
  type Answer,
  type Delivery,
  deliverUntilTaken,
  recordedDeliveries,
} from '../../../scripts/demo/delivery.ts';
import { type CloudStage, ended } from '../support.ts';

/** Concurrent deliveries: the rate of a busy organisation. */
const AT_ONCE = 20;

export function deliveriesOfGithub(stage: CloudStage): void {
  describe('every recorded GitHub delivery', () => {
    async function deliverAll(deliveries: readonly Delivery[]): Promise<Answer[]> {
      const answers: Answer[] = [];
      for (let i = 0; i < deliveries.length; i += AT_ONCE) {
        const some = deliveries.slice(i, i + AT_ONCE);
        answers.push(
          ...(await Promise.all(some.map((delivery) => deliverUntilTaken(stage.cloud.ready, delivery)))),
        );
      }
      return answers;
    }

    test('makes one run that completes, or none, and no second run when it is repeated', async () => {
      const deliveries = recordedDeliveries();
      const actions: readonly string[] = REVIEWED.actions;
      const reviewed = deliveries.map(
        ({ event, action }) => event === REVIEWED.event && actions.includes(action ?? ''),
      );
      expect(deliveries.length).toBeGreaterThan(150);
      const first = await deliverAll(deliveries);
      const again = await deliverAll(deliveries);

      deliveries.forEach(({ event }, i) => {
        const answers = [first[i], again[i]];
        if (event === 'ping')
          expect(answers).toEqual([
            { status: 200, pong: true },
            { status: 200, pong: true },
          ]);
        else if (!reviewed[i]) expect(answers).toEqual(Array(2).fill({ status: 202, ignored: true }));
        else expect(answers[1]).toEqual({ status: 200, duplicate: true, runId: answers[0]?.runId });
      });

      // Recordings of one content within five seconds are one event, so there may be fewer runs than deliveries.
      const runIds = new Set(first.flatMap(({ runId }) => (runId === undefined ? [] : [runId])));
      expect(runIds.size).toBeGreaterThan(3);
      for (const runId of runIds) expect((await ended(stage.cloud.ready, runId)).status).toBe('completed');
      const { items } = await getJson<{ items: unknown[] }>(
        stage.cloud.ready,
        '/v1/runs?type=review-pull-request&limit=100',
      );
      expect(items).toHaveLength(runIds.size);
    });
  });
}
