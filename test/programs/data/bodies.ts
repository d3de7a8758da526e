/** Behaviour of the bodies of a program: as planned, and with a duration. */
import { Fatal, RetryAt } from '../../../packages/cairn/src/core/errors.ts';
import { degraded } from '../../../packages/cairn/src/engine/define/body-result.ts';
import type { StepContext } from '../../../packages/cairn/src/engine/define/types.ts';
import type { Behaviour, BodyPlan, ProgramInput, StepPlan } from './program.ts';
import { bodyValue, returned } from './values.ts';

/** Executes the bodies. */
export interface Stage {
  /** Resolves after the duration of a body, or once the signal aborts. */
  spend(signal: AbortSignal): Promise<void>;
  /** A body begins. Throws if it must not. */
  began(body: Beginning): void;
  /** The next value of a memo's function, different each time. */
  fresh(): number;
  /** Reports the value that a body got from its memo. */
  recalled(body: Beginning, value: number): void;
  /** The time as a body knows it, epoch ms. */
  now(): number;
  /** True for half of the bodies that hang: these end when their signal aborts. */
  heedsSignal(): boolean;
}

export interface Beginning {
  readonly runId: string;
  readonly stepId: string;
  readonly index: number | undefined;
  readonly revision: number;
}

export type Context = StepContext<ProgramInput> & { readonly index?: number };

/** Longer than any body takes that does not hang, including stalls of all processes. */
export const BODY_TIMEOUT = '60s';

/** Delay between polls, which grows with their number. */
const POLL_MS = 20_000;

interface Sight {
  readonly plan: StepPlan;
  readonly context: Context;
  /** Values of its needs that others may depend on. */
  readonly needs: readonly unknown[];
}

/** One attempt. */
export async function perform(
  { plan, context, needs }: Sight,
  body: BodyPlan,
  stage: Stage,
): Promise<unknown> {
  const { input, runId, stepId, index, revision, attempt, feedback, signal } = context;
  const beginning = { runId, stepId, index, revision };
  stage.began(beginning);
  if (plan.kind === 'step' && plan.memo) {
    stage.recalled(beginning, await context.memo('fresh', () => stage.fresh()));
    context.heartbeat({ attempt });
  }
  await stage.spend(signal);
  signal.throwIfAborted();
  const polls = plan.kind === 'step' ? (plan.polls ?? 0) : 0;
  // The first of these times are in the past, so that the next poll is due at once.
  if (attempt <= polls) throw new RetryAt(stage.now() + POLL_MS * (attempt - 2));
  const behaviour = behaviourAt(body, attempt - polls);
  const value = bodyValue(plan, input, { needs, feedback, ...(index === undefined ? {} : { index }) });
  switch (behaviour) {
    case 'ok':
    case 'large':
      return returned(behaviour, value);
    case 'degraded':
      return degraded(returned(behaviour, value), 'as planned');
    case 'throw':
      throw new Error(`attempt ${attempt} fails, as planned`);
    case 'fatal':
      throw new Fatal(`attempt ${attempt} fails for good, as planned`);
    case 'hang':
      return hang(signal, stage);
  }
}

/** One attempt at undoing a step. */
export async function undo(plan: BodyPlan, { attempt, signal }: Context, stage: Stage): Promise<void> {
  await stage.spend(signal);
  signal.throwIfAborted();
  if (behaviourAt(plan, attempt) !== 'ok')
    throw new Error(`cannot be undone at attempt ${attempt}, as planned`);
}

function behaviourAt({ attempts }: BodyPlan, attempt: number): Behaviour {
  return attempts[Math.min(attempt, attempts.length) - 1] ?? 'ok';
}

function hang(signal: AbortSignal, stage: Stage): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (stage.heedsSignal()) signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
