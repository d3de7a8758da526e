/** How a run is named on the command line. */
import type { Context } from '../../context.ts';
import { Declined, EXIT } from '../../exit.ts';

export const RUN = { help: "id of the run, or 'last' for the newest" } as const;

/** @throws Declined for `last` where there is none */
export async function runIdOf({ api }: Context, word: string): Promise<string> {
  if (word !== 'last') return word;
  const { items } = await api.list('/v1/runs', { limit: 1 });
  const [newest] = items;
  if (newest) return newest.id;
  throw new Declined('there are no runs yet', 'Start one: cairn runs start --help.', EXIT.notFound);
}
