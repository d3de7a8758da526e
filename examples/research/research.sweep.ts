/** Crashes the agent at every call: `npm run cairn -- sweep examples/research/research.sweep.ts`. The stand-in acts once per key. */
import { defineBinding } from 'cairn';
import { defineSweep } from 'cairn/testing';
import { publish, research } from './agent.ts';

export const approvedReport = defineSweep({
  name: 'a report that a person lets out',
  arrange: () => {
    const published = new Map<string, string>();
    return {
      workflows: [research],
      bindings: [
        defineBinding(publish, {
          id: 'research.recorded',
          call: async ({ title, text }, { idempotencyKey }) => {
            published.set(idempotencyKey, `${title}: ${text}`);
            return { url: 'https://reports.example/tides' };
          },
        }),
      ],
      perform: async (runtime) => {
        const run = await runtime.start('research', {});
        await runtime.runUntilBlocked(run);
        await runtime.decide(run, 'approve', { step: 'flow[approve-publish]' });
        await runtime.runToEnd(run);
      },
      actions: () => [...published.values()],
    };
  },
});
