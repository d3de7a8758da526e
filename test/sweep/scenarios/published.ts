/** Scenarios whose runs publish their events: of each way in which a drive lets go of a run, a short one. */
import type { Scenario } from '../scenario.ts';

/** The end, a hand-over, waits that somebody answers, that time ends, and that a child ends; ends from outside. */
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
  // Pairs of deaths are tried of the shortest only: publishing adds the same few calls to each.
  return chosen.map(({ pairs, ...scenario }) => ({
    ...scenario,
    name: `${scenario.name}-published`,
    publishes: true,
    ...(pairs && scenario.name === 'chain' ? { pairs } : {}),
  }));
}
