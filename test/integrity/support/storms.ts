/** Runs as a storm leaves them: random programs driven by processes that die, watched at moments of their way. */
import { Draw } from '../../programs/data/draw.ts';
import { trial } from '../../programs/trial.ts';
import type { World } from '../../support/world.ts';
import { Bench } from './bench.ts';

const REPERTOIRE = {
  kinds: { step: 8, map: 2, sleep: 1, approval: 2, event: 2, child: 1 },
  maxSteps: 7,
  extras: true,
} as const;
/** Approximate share of the moments of one storm that are checked. */
const SHARE = 0.04;

/** Calls back with each run as it stands at some moments of the storm, and at its end. The storm waits meanwhile. */
export async function storm(seed: number, look: (bench: Bench, draw: Draw) => Promise<void>): Promise<void> {
  const draw = new Draw(seed * 104_729 + 7);
  let moments = 0;
  await trial({
    seed,
    repertoire: REPERTOIRE,
    watch: async (world: World) => {
      moments += 1;
      const isEnd = world.queue.pending.length === 0 && moments > 1 && draw.chance(0.3);
      if (!isEnd && !draw.chance(SHARE)) return;
      for (const runId of world.db.runs.keys()) await look(new Bench(world, runId), draw);
    },
  });
}
