import { expect, test } from '@jest/globals';
import { runSummary, runView } from '../../../packages/cairn/src/api/views/run.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { listedWaits } from '../../../packages/cairn/src/core/search/listing.ts';
import { beginning } from '../../conformance/support/run-fixture.ts';

const text = JSON.stringify('x'.repeat(16_000));

/** As many signals and questions as a run can have. */
function full(): RunState {
  const { state } = beginning('run_full');
  const signal = { name: 'paid', payloadText: text, at: 1 };
  const execution = {
    stepId: 'ask',
    revision: 1,
    kind: 'approval' as const,
    attempt: 1,
    inputsHash: 'h',
    startedAt: 1,
  };
  return {
    ...state,
    unread: Array.from({ length: 100 }, (_, i) => ({ ...signal, signalId: `s${i}` })),
    waits: Array.from({ length: 30 }, (_, i) => ({
      id: `ask.${i}`,
      kind: 'approval' as const,
      execution,
      openedAt: 1,
      detailText: JSON.stringify({ question: 'x'.repeat(15_000) }),
    })),
  };
}

test('a run takes a few kilobytes of a list whatever it received and asks, and its own page shows everything', () => {
  const state = full();
  const listed = runSummary({ state, metadata: {}, waits: listedWaits(state.waits) }, 'cairn');
  expect(JSON.stringify(listed).length).toBeLessThan(8_000);
  expect(listed).toMatchObject({ waitCount: 30, waits: [{ id: 'ask.0' }, { id: 'ask.1' }, { id: 'ask.2' }] });
  expect(listed).not.toHaveProperty('inbox');
  const shown = runView({ state, metadata: {} }, { input: { text: '{}' }, result: undefined }, 'cairn');
  expect(shown.inbox).toHaveLength(100);
  expect(shown.waits).toHaveLength(30);
});
