/**
 * Decides about an operation of a flow, given the journal's record under its name: the operation begins, is waited for, is
 * answered from the record, or shows that the code has diverged from its earlier run.
 *
 * Must not: know how an operation is carried out.
 */
import { sha256Hex } from '../encoding/hash.ts';
import { canonicalJson, type Json } from '../encoding/json.ts';
import { CairnError } from '../errors.ts';
import { MAX_STEPS } from '../graph/graph.ts';
import type { StepOutcome } from '../run/state.ts';
import { MAX_FLOW_OPERATIONS } from './names.ts';

type OperationKind = 'step' | 'perform' | 'sleep' | 'event' | 'approval' | 'child';

/** An operation requested by the code. */
interface RequestedOperation {
  /** Includes its number. */
  readonly name: string;
  /** See {@link operationRequest}. */
  readonly request: string;
}

/** The journal's record of an operation. `request` is absent if the journal does not have it. */
export type RecordedOperation =
  | { readonly at: 'nothing' }
  /** A crash interrupted it, or another dispatch released it. */
  | { readonly at: 'running' }
  | { readonly at: 'retrying' }
  | { readonly at: 'waiting'; readonly request?: string | undefined }
  | { readonly at: 'done'; readonly outcome: StepOutcome; readonly request?: string | undefined };

type OperationDecision =
  | { readonly kind: 'begin' }
  /** Between two attempts. */
  | { readonly kind: 'rest' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'answer' }
  /** Its failure is thrown into the code. */
  | { readonly kind: 'throw' }
  /** It was abandoned when the code ended, so its answer influenced nothing. The code gets no answer. */
  | { readonly kind: 'never' }
  | { readonly kind: 'diverged'; readonly message: string };

export function operationDecision(
  requested: RequestedOperation,
  known: RecordedOperation,
): OperationDecision {
  switch (known.at) {
    case 'nothing':
    case 'running':
      return { kind: 'begin' };
    case 'retrying':
      return { kind: 'rest' };
    case 'waiting':
      return isOther(requested, known) ? diverged(requested, known, 'is open as') : { kind: 'wait' };
    case 'done':
      if (isOther(requested, known)) return diverged(requested, known, 'ended as');
      if (known.outcome === 'skipped') return { kind: 'never' };
      return { kind: known.outcome === 'failed' ? 'throw' : 'answer' };
  }
}

type Comparable = Extract<RecordedOperation, { readonly at: 'waiting' | 'done' }>;

function isOther(requested: RequestedOperation, { request }: Comparable): boolean {
  return request !== undefined && request !== requested.request;
}

function diverged(
  requested: RequestedOperation,
  { request = '' }: Comparable,
  verb: string,
): OperationDecision {
  const [was, is] = [kindOf(request), kindOf(requested.request)];
  const what = was === is ? `${is} with another request` : `${is}; in the journal it ${verb} ${was}`;
  const message = `the code asks for '${requested.name}' as ${what}`;
  return { kind: 'diverged', message: was === is ? `${message} than the one in the journal` : message };
}

/** Short, because it is stored with each operation, but long enough to avoid accidental collisions. */
const HASH_CHARS = 16;

/** Kind and hash of the request of an operation. Stored with it, and compared when the code asks again. */
export function operationRequest(kind: OperationKind, request: Json): string {
  return `${kind}:${sha256Hex(canonicalJson(request)).slice(0, HASH_CHARS)}`;
}

function kindOf(request: string): string {
  const kind = request.slice(0, request.indexOf(':'));
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}

/**
 * Called for an operation that is new to both the code and the journal.
 *
 * @param size current number of operations of the flow, and of steps of the run
 * @throws CairnError RUN_TOO_LARGE
 */
export function assertRoom(
  stepId: string,
  { operations, steps }: { readonly operations: number; readonly steps: number },
): void {
  const help = 'Split the work over child runs (flow.child), or continue in another run.';
  if (operations >= MAX_FLOW_OPERATIONS) {
    const what = `the flow '${stepId}' has ${operations} operations; the maximum is ${MAX_FLOW_OPERATIONS}`;
    throw new CairnError('RUN_TOO_LARGE', what, { stepId, help });
  }
  if (steps < MAX_STEPS) return;
  const what = `the operations of the flow '${stepId}' bring the run to more than ${MAX_STEPS} steps`;
  throw new CairnError('RUN_TOO_LARGE', what, { stepId, help });
}

/** An operation that the journal had when the code began. */
export interface LeftOperation {
  readonly name: string;
  /** True if it was reused from another run; then the code may omit it. */
  readonly isReused: boolean;
}

/**
 * Describes an operation of the journal that the ended code did not request; undefined if there is none.
 *
 * @param left in the order of the journal
 * @param requested names of all requested operations, in order
 */
export function omitted(left: readonly LeftOperation[], requested: ReadonlySet<string>): string | undefined {
  const missing = left.find(({ name, isReused }) => !isReused && !requested.has(name));
  if (missing === undefined) return undefined;
  const known = new Set(left.map(({ name }) => name));
  const instead = [...requested].find((name) => !known.has(name));
  const what = instead === undefined ? '' : `; it asked for '${instead}', which the journal does not have`;
  return `the code ended without asking for '${missing.name}', which the journal has${what}`;
}
