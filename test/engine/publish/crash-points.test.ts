import { describe, expect, test } from '@jest/globals';
import type { SnapshotTouch } from '../../../packages/cairn/src/ports/run-store.ts';
import type { BusMessage } from '../../../packages/cairn/src/ports/runs/event-bus.ts';
import { intercept } from '../../support/intercept.ts';
import { MemoryEventBus } from '../../support/memory/memory-event-bus.ts';
import type { ProcessDeps } from '../../sweep/process.ts';
import type { Scenario } from '../../sweep/scenario.ts';
import { scenarios } from '../../sweep/scenarios/index.ts';
import { rehearse, sweep } from '../../sweep/sweep.ts';
import { assertPublished } from '../../sweep/watch.ts';

function named(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (!found) throw new Error(`no scenario '${name}'`);
  return found;
}

/** Outcomes of a sabotaged scenario at a sample of its points, with the reason where it does not recover. */
async function outcomes(name: string, tamper: (deps: ProcessDeps) => ProcessDeps, every: number) {
  const { totals, findings } = await sweep([named(name)], { tamper, every, withoutPairs: true });
  const reasons = findings.map(({ verdict }) => (verdict.kind === 'recovered' ? '' : verdict.why));
  return { totals, reasons };
}

test('publishing is a crash point of the sweep', async () => {
  const { calls } = await rehearse(named('chain-published'), { withoutPairs: true });
  expect(calls).toContain('bus.publish');
  const { calls: quiet } = await rehearse(named('chain'), { withoutPairs: true });
  expect(quiet.some((label) => label.startsWith('bus.'))).toBe(false);
});

describe('the sweep detects', () => {
  test('a bus that acknowledges what it drops', async () => {
    let nth = 0;
    const { totals, reasons } = await outcomes(
      'approve-published',
      ({ bus, ...deps }) => ({
        ...deps,
        bus: { publish: async (messages) => (nth++ % 2 === 0 ? undefined : bus?.publish(messages)) },
      }),
      11,
    );
    expect(totals.recovered).toBeLessThan(totals.crashPoints);
    expect(reasons.join()).toMatch(/never published|published before/);
  });

  test('an engine that notes as published what it has not published', async () => {
    const { totals, reasons } = await outcomes(
      'chain-published',
      (deps) => ({
        ...deps,
        store: intercept(deps.store, ({ method, args }, proceed) => {
          const { snapshot, metadata } = (args[0] ?? {}) as SnapshotTouch;
          if (method !== 'commit' || !snapshot || metadata?.publishedSeq === undefined) return proceed();
          const ahead = { ...(args[0] as object), metadata: { ...metadata, publishedSeq: snapshot.head } };
          return deps.store.commit(ahead as Parameters<typeof deps.store.commit>[0]);
        }),
      }),
      1,
    );
    expect(totals.recovered).toBeLessThan(totals.crashPoints);
    expect(reasons.join()).toContain('never published');
  });
});

test.each([
  [[1, 2, 3], undefined],
  [[1, 2, 1, 2, 3, 2, 3], undefined],
  [[1, 3, 2, 3], 'was published before 2'],
  [[1, 2], 'events 3 to 3'],
  [[], 'events 1 to 3'],
])(
  'the arrivals %j are judged by completeness, and by the order of first arrivals',
  async (seqs, problem) => {
    const bus = new MemoryEventBus();
    const message = (seq: number): BusMessage => ({
      orderingKey: 'r',
      attributes: { seq: String(seq) },
      text: '{}',
    });
    for (const seq of seqs) await bus.publish([message(seq)]);
    const judge = () => assertPublished(bus, 'r', 3);
    if (problem === undefined) judge();
    else expect(judge).toThrow(problem);
  },
);
