/**
 * The points at which the world stops: every call of the undisturbed performance, in every way; and at a drawn sample of pairs of
 * deaths where a scenario is small. A point's number is its address for replaying it.
 *
 * Must not: perform anything; how many calls a recovery makes is told by its caller.
 */
import { seededRandomness } from '../support/world.ts';
import { type Calls, type Disturbance, isOverlap, type Mode, TIMER } from './calls.ts';

export interface Point {
  readonly disturbances: readonly Disturbance[];
  /** Delay after a death until the queue redelivers the tasks of the dead process; infinite: they are lost. */
  readonly redeliveryMs: number;
}

/**
 * Before the scan has noticed anything, so that a drive finds the run; so late that the scan has to, and the task finds
 * it recovered; or never.
 */
export const REDELIVERY_MS = { soon: 1_000, late: 15 * 60_000, never: Number.POSITIVE_INFINITY } as const;

/** Faults during the recovery from another. */
const SECONDS: readonly Mode[] = ['before', 'after', 'unanswered', 'redelivered', 'stalled'];

/** Pairs tried of a small scenario. */
const PAIRS = 100;

/** One thing that goes wrong. Without a task under way there is none to be delivered again. */
export function singlesOf({ made, duringDispatch }: Pick<Calls, 'made' | 'duringDispatch'>): Point[] {
  const redeliveryMs = REDELIVERY_MS.soon;
  return made.flatMap((label, call) => [
    ...deaths({ call, mode: 'before' }),
    ...deaths({ call, mode: 'after' }),
    { disturbances: [{ call, mode: 'terminate' }], redeliveryMs },
    ...(label === TIMER ? [] : [{ disturbances: [{ call, mode: 'unanswered' } as const], redeliveryMs }]),
    ...(duringDispatch.has(call) ? overlaps(call) : []),
  ]);
}

/**
 * Two accidents, the second while the first is recovered from: a death, or a dispatch that lives on beside the second.
 *
 * @param callsAfter how many calls are made in all when this goes wrong
 */
export async function pairsOf(
  singles: readonly Point[],
  seed: number,
  callsAfter: (point: Point) => Promise<number>,
): Promise<Point[]> {
  const random = seededRandomness(seed);
  const upTo = (bound: number) => Math.floor(random.unit() * bound);
  const firsts = singles.filter(
    ({ disturbances: [first] }) =>
      first?.mode === 'before' || first?.mode === 'after' || isOverlap(first?.mode),
  );
  const points: Point[] = [];
  for (let i = 0; i < PAIRS; i += 1) {
    const first = firsts[upTo(firsts.length)] as Point;
    const [death] = first.disturbances as readonly [Disturbance];
    const left = (await callsAfter(first)) - death.call - 1;
    const mode = SECONDS[upTo(SECONDS.length)] as Mode;
    // The last call of all can be the one that went wrong.
    if (left < 1) continue;
    points.push({ ...first, disturbances: [death, { call: death.call + 1 + upTo(left), mode }] });
  }
  return points;
}

export function describePoint({ disturbances, redeliveryMs }: Point, calls: readonly string[]): string {
  const wrong = disturbances.map(
    ({ call, mode }) => `${mode} call ${call} (${calls[call] ?? 'of the recovery'})`,
  );
  const tasks = Number.isFinite(redeliveryMs)
    ? `tasks come again after ${redeliveryMs} ms`
    : 'tasks are lost';
  return `${wrong.join(', then ')}; ${tasks}`;
}

/** The task comes again at once. */
function overlaps(call: number): Point[] {
  return (['redelivered', 'stalled'] as const).map((mode) => ({
    disturbances: [{ call, mode }],
    redeliveryMs: REDELIVERY_MS.soon,
  }));
}

function deaths(death: Disturbance): Point[] {
  return Object.values(REDELIVERY_MS).map((redeliveryMs) => ({ disturbances: [death], redeliveryMs }));
}
