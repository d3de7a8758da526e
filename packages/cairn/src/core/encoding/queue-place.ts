/**
 * Chooses the queue of a task. Each tenant has a few queues chosen by hash (shuffle sharding) and each of its runs uses one of
 * them, so that a tenant that floods its queues does not affect most others. Stateless: all processes compute the same queue.
 *
 * Must not: be used to find a task again. When the numbers change, existing tasks stay in their queues and are delivered from
 * there.
 */
import { sha256Hex } from './hash.ts';

const { imul } = Math;

export interface QueueSpread {
  /** Number of queues, from 1 to {@link MAX_QUEUES}. */
  readonly queues: number;
  /** Number of queues used by the tasks of one tenant; 0: all. */
  readonly perTenant: number;
}

/** Cloud Tasks allows 1,000 queues per project and region. */
export const MAX_QUEUES = 400;

interface Placed {
  readonly runId: string;
  /** Undefined if the caller does not know the tenant; then any queue may be used. */
  readonly tenantId?: string | undefined;
}

/** Place of the task of a run among the queues, from 0. */
export function queuePlace({ queues, perTenant }: QueueSpread, { runId, tenantId }: Placed): number {
  return queues <= 1 ? 0 : heaviest(ownPlaces({ queues, perTenant }, tenantId), seedOf(runId));
}

/** Places of the queues that runs of a tenant go into. */
export function ownPlaces({ queues, perTenant }: QueueSpread, tenantId: string | undefined): number[] {
  const left = Array.from({ length: queues }, (_, place) => place);
  if (tenantId === undefined || perTenant === 0 || perTenant >= queues) return left;
  const seed = seedOf(tenantId);
  return Array.from({ length: perTenant }, () => {
    const place = heaviest(left, seed);
    left.splice(left.indexOf(place), 1);
    return place;
  });
}

/** The first queue has the name of the function, which `firebase deploy` gives it; the others are numbered from 2. */
export function queueName(first: string, place: number): string {
  return place === 0 ? first : `${first}-${place + 1}`;
}

/** Names of the queues after the first, of `count` in all. */
export function furtherQueues(first: string, count: number): string[] {
  return Array.from({ length: count - 1 }, (_, at) => queueName(first, at + 1));
}

const seedOf = (key: string): number => Number.parseInt(sha256Hex(`queue:${key}`).slice(0, 8), 16);

/**
 * Rendezvous hashing: each place has a weight for the key, independent of the number of places. A new queue takes its share from
 * the others, and no other task moves.
 */
function heaviest(places: readonly number[], seed: number): number {
  let best = 0;
  let most = -1;
  for (const place of places) {
    const weight = mixed(seed ^ imul(place + 1, 0x9e3779b1));
    if (weight <= most) continue;
    best = place;
    most = weight;
  }
  return best;
}

/** The last step of MurmurHash3: spreads numbers that differ in few bits over 32 bits. */
function mixed(value: number): number {
  let bits = value;
  bits = imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
