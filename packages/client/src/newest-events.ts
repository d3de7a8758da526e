/** Reads the newest events of a run by its stream, which can begin anywhere; the list begins with the oldest. */
import type { CairnClient } from './client.ts';
import type { RunEventView } from './follow.ts';

/** @returns the last `count` events up to `head`, oldest first */
export async function newestEvents(
  api: CairnClient,
  run: { readonly id: string; readonly head: number },
  count: number,
): Promise<RunEventView[]> {
  const { id, head } = run;
  if (count === 0) return [];
  if (head <= count) return (await api.list('/v1/runs/{id}/events', { params: { id }, limit: head })).items;
  const events: RunEventView[] = [];
  for await (const followed of api.follow(id, { after: head - count })) {
    if (followed.kind === 'event') events.push(followed.event);
    if (followed.kind === 'end' || events.length === count) break;
  }
  return events;
}
