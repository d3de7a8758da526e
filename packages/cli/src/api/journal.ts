/** The newest events of a run. The list of the API begins with the oldest; its stream begins wherever one likes. */
import type { World } from '../world.ts';
import type { Api } from './client.ts';
import { type Event, follow } from './follow.ts';

/** @returns the newest `count` of those up to `head`, the oldest of them first */
export async function newestEvents(
  api: Api,
  run: { readonly id: string; readonly head: number },
  { count, world }: { readonly count: number; readonly world: World },
): Promise<Event[]> {
  const { id, head } = run;
  if (count === 0) return [];
  if (head <= count) return (await api.list('/v1/runs/{id}/events', { params: { id }, limit: head })).items;
  const events: Event[] = [];
  for await (const followed of follow(api, { runId: id, after: head - count, world })) {
    if (followed.kind === 'event') events.push(followed.event);
    if (followed.kind === 'end' || events.length === count) break;
  }
  return events;
}
