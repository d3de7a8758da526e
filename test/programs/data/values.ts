/**
 * Values computed by the bodies of a program: small numbers derived from all inputs of a body, so that a wrong value shows in
 * the result.
 */
import type { Behaviour, ChildPlan, MapPlan, Program, ProgramInput, StepPlan } from './program.ts';

/** A number below 2³² made of the values, whatever the order of their members. */
export function mix(...parts: readonly unknown[]): number {
  let hash = 0x811c9dc5;
  for (const char of JSON.stringify(parts, sorted)) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return hash;
}

/** The part of an output that others may depend on, without the actor of a decision and without which items were in time. */
export function seen(plan: StepPlan, output: unknown): unknown {
  if (output === undefined || output === null) return null;
  if (plan.kind === 'approval') return { ...(output as object), by: null };
  if (plan.kind !== 'map' && plan.kind !== 'child') return output;
  if (isEnough(plan) && Array.isArray(output)) {
    return { enough: output.filter((item) => item !== null).length >= plan.completion.atLeast };
  }
  if (plan.kind === 'map') return output;
  return Array.isArray(output)
    ? output.map((result) => seenResult(plan.program, result))
    : seenResult(plan.program, output);
}

/** The result of a run, as others may depend on it. A replacement of the result stays unchanged. */
export function seenResult({ steps, result }: Program, found: unknown): unknown {
  if (typeof found !== 'object' || found === null || 'instead' in found) return found;
  const outputs = found as Readonly<Record<string, unknown>>;
  const plans = steps.filter(({ id }) => result.includes(id));
  return Object.fromEntries(plans.map((plan) => [plan.id, seen(plan, outputs[plan.id])]));
}

/** Output of a body. */
export function bodyValue(
  plan: StepPlan,
  input: ProgramInput,
  given: {
    readonly needs: readonly unknown[];
    readonly feedback: string | undefined;
    readonly index?: number;
  },
): number {
  return mix(plan.id, input.salt, given.needs, given.feedback ?? null, given.index ?? null);
}

/** Returns the value in the form of the behaviour. */
export function returned(behaviour: Behaviour, value: number): unknown {
  if (behaviour === 'degraded') return { lesser: value };
  return behaviour === 'large' ? { value, filler: FILLER } : value;
}

/** More than fits into a checkpoint. */
const FILLER = 'x'.repeat(300_000);

export function replacement(plan: StepPlan): unknown {
  if (plan.kind === 'map' || (plan.kind === 'child' && plan.copies !== undefined)) return [`no ${plan.id}`];
  return { instead: plan.id };
}

export function isOdd(plan: StepPlan, needs: readonly unknown[]): boolean {
  return mix('when', plan.id, needs) % 2 === 1;
}

/** Data of a sent event. */
export function eventData(plan: StepPlan, input: ProgramInput): { readonly said: number } {
  return { said: mix('event', plan.id, input.path) };
}

/** Data of an approval. */
export function approvalData(plan: StepPlan, input: ProgramInput): { readonly said: number } {
  return { said: mix('data', plan.id, input.path) };
}

/** The member that the schema of the data adds. */
export const ADDED = { added: 'by default' };

export function eventKey(plan: StepPlan, input: ProgramInput): string {
  return `${input.path}/${plan.id}`;
}

export function childInput(
  plan: ChildPlan,
  input: ProgramInput,
  needs: readonly unknown[],
  index = 0,
): ProgramInput {
  return { path: `${input.path}/${plan.id}.${index}`, salt: mix(plan.id, input.salt, needs, index) };
}

function isEnough(plan: MapPlan | ChildPlan): plan is (MapPlan | ChildPlan) & {
  readonly completion: { readonly atLeast: number };
} {
  return plan.completion !== undefined && 'atLeast' in plan.completion;
}

function sorted(name: string, value: unknown): unknown {
  if (name === 'filler') return String(value).length;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
