/** Various ended runs, drawn from a seed. */
import { seededRandomness } from '../../support/world.ts';
import { DAY, type Run, Shelf } from './shelf.ts';

/** Various lineages, parents before their children. */
export async function mixed(
  seed: number,
  runs: number,
): Promise<{ readonly shelf: Shelf; readonly all: readonly Run[] }> {
  const random = seededRandomness(seed);
  const one = new Shelf();
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.unit() * from.length)] as T;
  const chance = (share: number) => random.unit() < share;
  // Far from any limit, so that the duration of the ticks does not matter.
  const ages = [10, 100, 400, 400, 400].map((days) => one.now - days * DAY);
  const all: Run[] = [];
  while (all.length < runs) {
    const rootRunId = `run_${String(all.length).padStart(5, '0')}`;
    const parent = chance(0.1) && all.length > 0 ? pick(all) : undefined;
    const size = chance(0.8) ? 1 : 2 + Math.floor(random.unit() * 3);
    for (let n = 0; n < size; n += 1) {
      const runId = n === 0 ? rootRunId : `${rootRunId}-${n}`;
      const status = chance(0.03) ? 'running' : pick(['completed', 'failed', 'cancelled'] as const);
      const run: Run = {
        runId,
        rootRunId,
        status,
        type: pick(['review', 'review', 'deploy', 'deploy', 'deploy', 'audit']),
        at: pick(ages),
        isHeld: chance(0.03),
        steps: chance(0.1) ? 4 : 0,
        effects: chance(0.1) ? 2 : 0,
        hasMemo: chance(0.02),
        hasPayload: chance(0.02),
        ...(parent && n === 0 ? { parentRunId: parent.runId } : {}),
      };
      all.push(run);
      if (parent && n === 0 && chance(0.5)) {
        const at = all.indexOf(parent);
        const { childRunIds = [] } = all[at] as Run;
        all[at] = { ...(all[at] as Run), childRunIds: [...childRunIds, runId] };
      }
    }
  }
  for (const run of all) await one.put(run);
  return { shelf: one, all };
}
