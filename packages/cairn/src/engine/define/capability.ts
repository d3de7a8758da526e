/**
 * Capabilities (external calls) and bindings (how they are made), as their authors define them. The ledger
 * (engine/effects) is between a step body and the binding.
 */
import type { ZodType } from 'zod';
import type { Spend } from '../../core/budget/budget.ts';
import { estimatedSpend, type GivenSpend } from '../../core/budget/given.ts';
import {
  IDEMPOTENCY,
  type Idempotency,
  REPLAY_POLICIES,
  type ReplayPolicy,
  SIDE_EFFECTS,
  type SideEffects,
} from '../../core/effects/effect.ts';
import { invalidInput } from '../../core/errors.ts';
import { schemaProblem } from './known-options.ts';

export interface CapabilityOptions<Request, Response> {
  /** Lower-case words joined by dots and dashes: 'github.create-comment'. */
  readonly id: string;
  readonly sideEffects: SideEffects;
  /** `required`: the receiver takes the key and answers a repetition without acting again. */
  readonly idempotency: Idempotency;
  /** Default `use_recorded_result`. */
  readonly replayPolicy?: ReplayPolicy;
  /** Default false. True: a person must allow each call before the receiver is called. */
  readonly requiresConfirmation?: boolean;
  /** Maximum cost of one call; reserved in the budget of the run before a step that uses the capability begins. */
  readonly estimate?: GivenSpend;
  readonly request: ZodType<Request>;
  readonly response: ZodType<Response>;
  /**
   * Dotted paths of fields hidden in the ledger. A secret of a request is sent and not stored. A secret of a response is
   * removed before the body sees it, so that the first call and a repetition return the same value.
   */
  readonly secrets?: { readonly request?: readonly string[]; readonly response?: readonly string[] };
}

export interface Capability<Request = unknown, Response = unknown> {
  readonly id: string;
  readonly sideEffects: SideEffects;
  readonly idempotency: Idempotency;
  readonly replayPolicy: ReplayPolicy;
  readonly requiresConfirmation?: true | undefined;
  readonly estimate?: Spend | undefined;
  readonly request: ZodType<Request>;
  readonly response: ZodType<Response>;
  readonly secrets: { readonly request: readonly string[]; readonly response: readonly string[] };
}

export interface CallOptions {
  /** 64 hex digits; the same for all attempts of this call. */
  readonly idempotencyKey: string;
  /** Aborts when nothing waits for the response any more. */
  readonly signal: AbortSignal;
  /** W3C trace context of the call, for the header of that name; absent: no collector is configured. */
  readonly traceparent?: string;
}

export interface LookupOptions extends CallOptions {
  /** Time of the call in doubt; epoch ms. */
  readonly attemptedAt: number;
}

/** Result of a lookup. A lookup that cannot find out must throw. */
export type Found<Response> =
  | { readonly found: true; readonly response: Response }
  | { readonly found: false };

export interface BindingOptions<Request, Response> {
  readonly id: string;
  /**
   * Makes the call. Throws `NotApplied` if the action certainly did not take place (with `retryAt` if the receiver named a
   * time); any other error leaves the effect in doubt.
   */
  call(request: Request, options: CallOptions): Promise<Response>;
  /** Asks the receiver whether the action with this key took place. */
  lookup?(request: Request, options: LookupOptions): Promise<Found<Response>>;
}

export interface Binding {
  readonly capability: Capability;
  readonly id: string;
  call(request: unknown, options: CallOptions): Promise<unknown>;
  lookup?(request: unknown, options: LookupOptions): Promise<Found<unknown>>;
}

const ID_PATTERN = /^[a-z][a-z0-9]*([.-][a-z0-9]+)*$/;
const MAX_ID_CHARS = 100;

/** @throws CairnError INVALID_INPUT */
export function defineCapability<Request, Response>(
  options: CapabilityOptions<Request, Response>,
): Capability<Request, Response> {
  const { id, sideEffects, idempotency, replayPolicy = 'use_recorded_result', secrets } = options;
  assertId('capability', id);
  assertOneOf(id, 'sideEffects', sideEffects, SIDE_EFFECTS);
  assertOneOf(id, 'idempotency', idempotency, IDEMPOTENCY);
  assertOneOf(id, 'replayPolicy', replayPolicy, REPLAY_POLICIES);
  const { request, response, estimate, requiresConfirmation = false } = options;
  for (const [name, schema] of Object.entries({ request, response })) {
    const problem = schemaProblem(schema, 'z.object({})');
    if (problem !== undefined) throw invalidInput(name, `capability '${id}': '${name}' is ${problem}`);
  }
  if (requiresConfirmation && !leavesRows({ sideEffects })) {
    const what = `capability '${id}' has the side effects '${sideEffects}', which need no confirmation`;
    throw invalidInput('requiresConfirmation', what);
  }
  return {
    id,
    sideEffects,
    idempotency,
    replayPolicy,
    requiresConfirmation: requiresConfirmation || undefined,
    estimate: estimate && estimatedSpend(estimate, 'estimate'),
    request,
    response,
    secrets: { request: secrets?.request ?? [], response: secrets?.response ?? [] },
  };
}

/** @throws CairnError INVALID_INPUT */
export function defineBinding<Request, Response>(
  capability: Capability<Request, Response>,
  binding: BindingOptions<Request, Response>,
): Binding {
  assertId('binding', binding.id);
  // The cast is safe, because the ledger passes only values that the schema of the capability returned.
  return { ...(binding as BindingOptions<unknown, unknown>), capability: capability as Capability };
}

/** Returns true if its calls have ledger rows. */
export function leavesRows({ sideEffects }: Pick<Capability, 'sideEffects'>): boolean {
  return sideEffects === 'write' || sideEffects === 'external_action';
}

function assertId(what: string, id: string): void {
  if (ID_PATTERN.test(id) && id.length <= MAX_ID_CHARS) return;
  throw invalidInput('id', `the ${what} '${id}' must be lower-case words joined by dots or hyphens`);
}

function assertOneOf(id: string, field: string, given: string, known: readonly string[]): void {
  if (known.includes(given)) return;
  throw invalidInput(field, `capability '${id}': '${field}' must be one of ${known.join(', ')}`);
}
