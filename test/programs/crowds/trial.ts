/** One crowd in memory, from its seed. */
import { assertStored } from '../../support/soundness.ts';
import { Draw } from '../data/draw.ts';
import { drawCrowd } from './grammar.ts';
import { judge, type Outcome } from './judge.ts';
import { Processes } from './processes.ts';

const SCALE = { bodyMs: 400, timerMs: 2_000, pauseMs: 5_000 };
const MAX_INNOCENTS = 8;

/** @throws Error that names the seed, if a rule is broken */
export async function trial(seed: number): Promise<Outcome> {
  const draw = new Draw(seed);
  const crowd = drawCrowd(draw, MAX_INNOCENTS, SCALE);
  const processes = new Processes(draw);
  const { world, deaths } = processes;
  const innocents: string[] = [];
  for (const plan of crowd.innocents) innocents.push(await world.start('crowd', plan));
  const hostile = await world.start('crowd', crowd.hostile);
  await processes.run();
  return judge(seed, crowd, {
    innocents: innocents.map((runId) => assertStored(world.db, runId)),
    hostile: assertStored(world.db, hostile),
    deaths,
  });
}
