/**
 * The points at which the world stops: every call of the undisturbed performance, in every mode; for small scenarios also a
 * random sample of pairs of deaths. The number of a point is its address for a repetition.
 *
 * Must not: perform anything; its caller counts the calls of a recovery.
 */
import { seededRandomness } from '../support/world.ts';
import { type Calls, type Disturbance, isOverlap, type Mode, TIMER } from './calls.ts';

export interface Point {
  readonly disturbances: readonly Disturbance[];
  /** Delay after a death until the queue redelivers the tasks of the dead process; infinite if they are lost. */
  readonly redeliveryMs: number;
}

/**
 * `soon`: before a scan, so that a drive finds the run. `late`: after the scan, so that the task finds a recovered run.
 * `never`: the tasks are lost.
 */
export const REDELIVERY_MS = { soon: 1_000, late: 15 * 60_000, never: Number.POSITIVE_INFINITY } as const;

/** Modes of a failure during the recovery from another. */
const SECONDS: readonly Mode[] = ['before', 'after', 'unanswered', 'redelivered', 'stalled'];

/** Number of pairs tried of a small scenario. */
const PAIRS = 100;

/** Points with one failure. Without a running task there is none to deliver again. */
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
 * Points with two failures, the second during the recovery from the first: a death, or a dispatch that continues beside the
 * second.
 *
 * @param callsAfter number of all calls after this failure
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
    // The failure may be at the last call of all.
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

/** Points at which the queue delivers the task again at once. */
function overlaps(call: number): Point[] {
  return (['redelivered', 'stalled'] as const).map((mode) => ({
    disturbances: [{ call, mode }],
    redeliveryMs: REDELIVERY_MS.soon,
  }));
}

function deaths(death: Disturbance): Point[] {
  return Object.values(REDELIVERY_MS).map((redeliveryMs) => ({ disturbances: [death], redeliveryMs }));
}
