/** Scenarios whose runs publish their events: a short one for each way in which a drive releases a run. */
import type { Scenario } from '../scenario.ts';

/** The end, a hand-over, waits that end by a person, by time and by a child, and an end from outside. */
const NAMES: ReadonlySet<string> = new Set([
  'chain',
  'hand-over',
  'approve',
  'sleep',
  'child',
  'cancel-asking',
]);

export function publishedOf(scenarios: readonly Scenario[]): Scenario[] {
  const chosen = scenarios.filter(({ name }) => NAMES.has(name));
  if (chosen.length < NAMES.size) throw new Error('a scenario that is to be published is gone');
  // Publishing adds the same few calls to each scenario, so pairs of deaths are tried only for the shortest.
  return chosen.map(({ pairs, ...scenario }) => ({
    ...scenario,
    name: `${scenario.name}-published`,
    publishes: true,
    ...(pairs && scenario.name === 'chain' ? { pairs } : {}),
  }));
}
