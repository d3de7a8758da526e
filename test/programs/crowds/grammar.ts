/**
 * Crowds of runs: innocent ones with random steps, map items, retries and waits, and one hostile run whose bodies harm their
 * process. Owns the drawing and the workflow; the stage defines the effect of a harm on a process.
 */
import { z } from 'zod';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import type { Handle, Seen, StepFactory } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Draw } from '../data/draw.ts';

/**
 * `timer` throws in a timer that outlives its body. `leave` asks its process to end and then continues as planned. The others
 * strike during the body, which never ends.
 */
export const HARMS = ['exit', 'spin', 'memory', 'sigterm', 'leave', 'timer'] as const;
export type HarmKind = (typeof HARMS)[number];

const HARM = z.object({ kind: z.enum(HARMS), afterMs: z.number() });
const BODY = z.object({
  ms: z.number(),
  /** Number of attempts that throw before one succeeds. */
  fails: z.number(),
  harm: HARM.optional(),
});
const PLAN = z.object({
  items: z.array(BODY),
  pauseMs: z.number(),
  /** The first steps of {@link CHAIN}; the others are skipped. */
  chain: z.array(BODY),
});
export type Harm = z.infer<typeof HARM>;
export type BodyPlan = z.infer<typeof BODY>;
export type RunPlan = z.infer<typeof PLAN>;

/** Ids of the steps after the map and the pause. */
export const CHAIN = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'] as const;
const MAX_FAILURES = 2;

/** Carries out one attempt of a body. `attempt` counts from 1. */
export type Act = (plan: BodyPlan, attempt: number) => Promise<string>;

/** Map, pause, chain. All runs of a crowd have this workflow; the input determines each body. */
export function crowd(act: Act): Workflow {
  const options = { timeout: '5m', retry: { maxAttempts: MAX_FAILURES + 1, initialMs: 100 } };
  return defineWorkflow({
    type: 'crowd',
    planVersion: 1,
    input: PLAN,
    steps(step: StepFactory<RunPlan>) {
      const all = step.map(
        'all',
        { ...options, over: ({ input }: Seen<RunPlan, Record<never, never>>) => input.items, concurrency: 3 },
        ({ item, attempt }) => act(item, attempt),
      );
      const pause = step.sleep('pause', { needs: { all }, for: ({ input }) => input.pauseMs });
      let last: Handle<unknown> = pause;
      for (const [i, id] of CHAIN.entries()) {
        const before = last;
        const when = ({ input }: Seen<RunPlan, { before: Handle<unknown> }>) => i < input.chain.length;
        last = step(id, { ...options, needs: { before }, when }, ({ input, attempt }) =>
          act(input.chain[i] as BodyPlan, attempt),
        );
      }
      return { last };
    },
  });
}

/** Longest delays, ms: of a body, of a timer, of a pause. A stage with real processes has shorter ones. */
export interface Scale {
  readonly bodyMs: number;
  readonly timerMs: number;
  readonly pauseMs: number;
}

export interface Crowd {
  readonly innocents: readonly RunPlan[];
  readonly hostile: RunPlan;
}

export function drawCrowd(draw: Draw, most: number, scale: Scale): Crowd {
  const innocents = Array.from({ length: draw.between(1, most) }, () => innocent(draw, scale));
  return { innocents, hostile: hostile(draw, scale) };
}

function innocent(draw: Draw, scale: Scale): RunPlan {
  return {
    items: several(draw, draw.below(5), scale),
    pauseMs: draw.chance(0.3) ? draw.between(1, scale.pauseMs) : 1,
    chain: several(draw, draw.between(1, CHAIN.length), scale),
  };
}

function several(draw: Draw, count: number, { bodyMs }: Scale): BodyPlan[] {
  return Array.from({ length: count }, () => ({
    ms: draw.between(1, bodyMs),
    fails: draw.chance(0.15) ? draw.between(1, MAX_FAILURES) : 0,
  }));
}

/**
 * Draws well-behaved bodies, and harms for some: one body, several items of the map, timers, requests to end, or some of each.
 */
function hostile(draw: Draw, scale: Scale): RunPlan {
  const plan = {
    items: several(draw, draw.below(6), scale),
    pauseMs: draw.chance(0.3) ? draw.between(1, scale.pauseMs) : 1,
    chain: several(draw, draw.between(1, CHAIN.length), scale),
  };
  const bodies = [...plan.items, ...plan.chain];
  const at = HARMS.filter((kind) => kind !== 'timer' && kind !== 'leave');
  const strike = (body: BodyPlan) => {
    body.harm = { kind: draw.pick(at), afterMs: draw.between(0, body.ms) };
  };
  const arm = (body: BodyPlan) => {
    body.harm = { kind: 'timer', afterMs: draw.between(0, scale.timerMs) };
  };
  const leave = (body: BodyPlan) => {
    body.harm = { kind: 'leave', afterMs: draw.between(0, body.ms) };
  };
  const shape = draw.pick(['one', 'items', 'timer', 'timers', 'both', 'leaves', 'all'] as const);
  if (shape === 'one') strike(draw.pick(bodies));
  if (shape === 'items') for (const body of plan.items) if (draw.chance(0.6)) strike(body);
  if (shape === 'timer') arm(draw.pick(bodies));
  if (shape === 'timers' || shape === 'both') for (const body of bodies) if (draw.chance(0.6)) arm(body);
  if (shape === 'leaves') for (const body of bodies) if (draw.chance(0.6)) leave(body);
  if (shape === 'all') for (const body of bodies) if (draw.chance(0.6)) draw.pick([arm, leave])(body);
  if (shape === 'both' || shape === 'all') strike(draw.pick(bodies));
  if (!bodies.some(({ harm }) => harm)) strike(draw.pick(bodies));
  return plan;
}

/** Keys of the bodies that harm their process while they run: the run must fail because of one of them. */
export function poisonous({ items, chain }: RunPlan): string[] {
  const harms = ({ harm }: BodyPlan) => harm !== undefined && !lets(harm);
  return [
    ...items.flatMap((body, i) => (harms(body) ? [`all[${i}]`] : [])),
    ...chain.flatMap((body, i) => (harms(body) ? [CHAIN[i] as string] : [])),
  ];
}

/** True if some bodies do harm and still succeed: then any step may be running when the process ends. */
export function progresses({ items, chain }: RunPlan): boolean {
  return [...items, ...chain].some(({ harm }) => harm && lets(harm));
}

/** True if the body of this harm ends. */
export function lets({ kind }: Harm): boolean {
  return kind === 'timer' || kind === 'leave';
}
