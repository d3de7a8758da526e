/**
 * Model of a plan without its bodies: the steps of one version of a workflow with everything that gives them their
 * meaning, as data; its fingerprint; and its stored form for comparison.
 *
 * Omitted on purpose: bodies and other functions (they may be corrected within a version), timeouts, retries and
 * concurrency (they change when something happens, not what), display texts, triggers and retention.
 */
import { sha256Hex } from '../encoding/hash.ts';
import { canonicalJson, type Json } from '../encoding/json.ts';
import type { StepKind } from '../run/events.ts';

/** The members a schema has and their kinds, without checks, descriptions and defaults. */
export type Shape = string | readonly Shape[] | { readonly [member: string]: Shape };

/** An absent member means that the step does not have the feature. */
export interface StepPlan {
  readonly kind: StepKind;
  /** Ids, sorted. The names under which the body receives them are not part of the plan. */
  readonly needs: readonly string[];
  readonly when?: true;
  readonly ifSkipped?: 'run' | undefined;
  readonly reads?: readonly string[] | undefined;
  readonly idempotent?: false | undefined;
  readonly newAttempt?: true;
  readonly resumable?: false | undefined;
  readonly onFailure?: 'skip' | 'degrade' | undefined;
  readonly policy?: true;
  /** Ids of capabilities, sorted. */
  readonly uses?: readonly string[] | undefined;
  readonly compensate?: true | undefined;
  readonly output?: Shape | undefined;
  /** Data that a person fills in to approve. */
  readonly data?: Shape | undefined;
  /** The step has several executions. */
  readonly over?: true;
  readonly completion?: string | undefined;
  readonly onExpiry?: 'approve' | 'halt' | undefined;
  readonly event?: string;
  /** Type of the child workflow. */
  readonly workflow?: string;
  readonly onParentEnd?: 'abandon' | 'wait' | undefined;
  readonly loop?: true;
}

export interface Plan {
  readonly input: Shape;
  readonly onDoubt?: 'ask' | undefined;
  readonly policy?: true;
  /** Name in the result of the run → id of the step. */
  readonly result: Readonly<Record<string, string>>;
  readonly steps: Readonly<Record<string, StepPlan>>;
}

/** A plan in its stored form: steps in full, or by hash where there was no room. */
export interface KnownPlan extends Omit<Plan, 'steps'> {
  readonly steps: Readonly<Record<string, StepPlan | string>>;
}

/**
 * Prefix of each fingerprint, raised when the same definition would get another fingerprint. Fingerprints of different
 * formats are not compared, so that an upgrade of Cairn does not report every plan as changed.
 */
const FORMAT = 1;
/** A plan whose text is longer is kept by the hashes of its steps: about 100 bytes each. */
export const MAX_PLAN_BYTES = 256 * 1024;
/** Unique within one plan only. */
const STEP_HASH_CHARS = 16;

export function planFingerprint(plan: Plan): string {
  return `${FORMAT}:${sha256Hex(canonicalJson(plan as unknown as Json))}`;
}

/** True if these are known to be fingerprints of different plans. */
export function differ(a: string, b: string): boolean {
  return a !== b && formatOf(a) === formatOf(b);
}

function formatOf(fingerprint: string): string {
  return fingerprint.slice(0, fingerprint.indexOf(':'));
}

/** The text under which a plan is kept; undefined: not even the hashes of its steps fit. */
export function planText(plan: Plan): string | undefined {
  const steps = Object.entries(plan.steps).map(([id, step]) => [id, stepHash(step)] as const);
  const hashed: KnownPlan = { ...plan, input: '', steps: Object.fromEntries(steps) };
  return [plan, hashed]
    .map((form) => canonicalJson(form as unknown as Json))
    .find((text) => Buffer.byteLength(text) <= MAX_PLAN_BYTES);
}

/** Written by {@link planText}. */
export function planFrom(text: string): KnownPlan {
  return JSON.parse(text) as KnownPlan;
}

export function stepHash(step: StepPlan): string {
  return sha256Hex(canonicalJson(step as unknown as Json)).slice(0, STEP_HASH_CHARS);
}
