/** One event of a run's journal, by its number. */
import type { CairnClient } from '../client.ts';
import type { RunEventView } from '../follow.ts';

export async function eventAt(
  client: CairnClient,
  id: string,
  seq: number,
): Promise<RunEventView | undefined> {
  for await (const followed of client.follow(id, { after: seq - 1 }))
    if (followed.kind === 'event') return followed.event;
  return undefined;
}
