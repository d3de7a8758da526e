/**
 * Owns which of several queues a task is put into. Every tenant has a few queues of its own choice by hash (shuffle sharding), and
 * each of its runs one of these, so that a tenant that floods its queues leaves those of most others free. No state and no
 * reads: all processes agree by the same numbers.
 *
 * Must not: be relied on to find a task again. When the numbers change, tasks stay where they are and are delivered from there.
 */
import { sha256Hex } from './hash.ts';

const { imul } = Math;

export interface QueueSpread {
  /** Queues that there are, from 1 to {@link MAX_QUEUES}. */
  readonly queues: number;
  /** Number of queues used by the tasks of one tenant; 0: all. */
  readonly perTenant: number;
}

/** Cloud Tasks gives a project 1,000 in a region. */
export const MAX_QUEUES = 400;

interface Placed {
  readonly runId: string;
  /** Undefined: the caller does not know the tenant, and any queue may be used. */
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
 * Rendezvous hashing: each place has a weight for the key, independent of the number of places. One more queue takes
 * its part from the others, and nothing else moves.
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
