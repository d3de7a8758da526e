/** The API's operations without HTTP, for one tenant and one caller. */
import type { Resolution } from '../core/effects/effect.ts';
import { requestHash } from '../core/encoding/fingerprint.ts';
import { apiKey } from '../core/encoding/idempotency-keys.ts';
import type { Json } from '../core/encoding/json.ts';
import type { Decision, StopKind } from '../core/run/events.ts';
import type { Budget } from '../engine/define/spending.ts';
import { MemoryRunFinder } from '../memory/memory-run-finder.ts';
import { decideApproval } from '../operations/approvals/decide-approval.ts';
import type { ApprovalDecided } from '../operations/approvals/request.ts';
import { type Cancellation, cancelRun } from '../operations/cancel-run.ts';
import type { EffectResolved } from '../operations/effects/resolution.ts';
import { resolveEffect } from '../operations/effects/resolve-effect.ts';
import { deliverEvent, type EventDelivered } from '../operations/events/deliver-event.ts';
import { type Signalled, signalRun } from '../operations/events/signal-run.ts';
import { startRun } from '../operations/start/start-run.ts';
import type { TestRun } from './test-run.ts';
import type { Installation } from './world/installation.ts';

const TENANT = 'test';
const ACTOR = 'c.test';

export interface StartOptions {
  /** Idempotency key: the same key and input give the same run. */
  readonly key?: string;
}

export interface DecideOptions {
  /** Id of the step that asks. Default: the step of the only open question. */
  readonly step?: string;
  /** Reason of the decision; a waiver needs one. */
  readonly note?: string;
  /** With `retry_with_feedback`: feedback for the steps that run again. */
  readonly feedback?: string;
  /** With `retry_with_feedback`: steps that run again, with all that follow. Default: the dependencies of the approval. */
  readonly steps?: readonly string[];
  /**
   * With `approve` of a budget: amounts by which limits are raised. Default: the limits reached, by what the workflow declares.
   */
  readonly raise?: Budget;
  /** With `approve`: data for the schema of the approval. */
  readonly data?: unknown;
  /** Actor of the decision. */
  readonly by?: string;
}

export interface SentEvent {
  readonly event: string;
  /** Correlation key of the event. */
  readonly key: string;
  readonly data?: unknown;
  /** Identifies repeated sends of one event. Default: each call sends a new event. */
  readonly eventId?: string;
}

export interface SentSignal {
  readonly event: string;
  /** Default: matches any key. */
  readonly key?: string;
  readonly data?: unknown;
  /** Identifies repeated sends of one signal. Default: each call sends a new signal. */
  readonly signalId?: string;
}

export interface CancelOptions {
  readonly reason?: string;
  /** Default `user`. */
  readonly stopKind?: StopKind;
}

export async function start(
  { deps, records }: Installation,
  { type, input, key }: StartOptions & { readonly type: string; readonly input: unknown },
): Promise<string> {
  const workflow = deps.registry.newest(type);
  if (!workflow) throw new Error(`no workflow '${type}'; workflows: ${deps.registry.types().join(', ')}`);
  const outcome = await startRun(
    { ...deps, records },
    {
      tenantId: TENANT,
      environment: 'test',
      workflow,
      input,
      trigger: { source: 'api' },
      source: 'api',
      key: key === undefined ? undefined : apiKey(ACTOR, key),
      requestHash: key === undefined ? '' : requestHash('POST /v1/runs', { type, input: input as Json }),
    },
  );
  // The record of a start is always `completed`, so no other request can be in progress.
  if (outcome.kind === 'in_flight') throw new Error(`another start with the key '${key}' is in progress`);
  return outcome.runId;
}

export function decide(
  { deps, db }: Installation,
  run: TestRun,
  options: DecideOptions & { readonly decision: Decision },
): Promise<ApprovalDecided> {
  const { decision, step, note, feedback, steps, raise, data, by } = options;
  return decideApproval(
    { ...deps, finder: new MemoryRunFinder(db) },
    {
      runId: run.id,
      tenantId: TENANT,
      stepId: step ?? onlyQuestion(run),
      decision,
      note,
      feedback,
      steps,
      raise,
      data,
      actor: by ?? ACTOR,
      mayRaiseDay: true,
    },
  );
}

export interface ResolveOptions {
  /** Default: the effect that the run asks about. */
  readonly effect?: string;
  /** Response of the receiver, if the action took place. */
  readonly result?: unknown;
  readonly note?: string;
  readonly by?: string;
}

export function resolve(
  { deps }: Installation,
  run: TestRun,
  { outcome, effect, by, ...rest }: ResolveOptions & { readonly outcome: Resolution },
): Promise<EffectResolved> {
  const effectId = effect ?? run.waits().find((wait) => wait.effect !== undefined)?.effect;
  if (effectId === undefined) throw new Error(`run ${run.id} asks about no effect\n\n${run.timeline()}`);
  return resolveEffect(deps, {
    runId: run.id,
    tenantId: TENANT,
    effectId,
    outcome,
    actor: by ?? ACTOR,
    ...rest,
  });
}

export function deliver({ deps }: Installation, sent: SentEvent): Promise<EventDelivered> {
  const { event, key, data = null, eventId = deps.random.token() } = sent;
  return deliverEvent(deps, { tenantId: TENANT, event, key, data, eventId, actor: ACTOR });
}

export function signal({ deps }: Installation, run: TestRun, sent: SentSignal): Promise<Signalled> {
  const { event, key, data = null, signalId = deps.random.token() } = sent;
  return signalRun(deps, { runId: run.id, tenantId: TENANT, name: event, key, data, signalId, actor: ACTOR });
}

export function cancel(
  { deps }: Installation,
  run: TestRun,
  { reason, stopKind = 'user' }: CancelOptions,
): Promise<Cancellation> {
  return cancelRun(deps, { runId: run.id, tenantId: TENANT, actor: ACTOR, reason, stopKind });
}

function onlyQuestion(run: TestRun): string {
  const waits = run.waits();
  const [question, ...others] = waits.filter(
    ({ kind, effect }) => kind === 'approval' && effect === undefined,
  );
  if (question && others.length === 0) return question.step;
  const open = waits.map(({ step, kind }) => `${kind} '${step}'`).join(', ') || 'nothing';
  throw new Error(
    `${question ? 'name the step to decide on' : 'there is nothing to decide'}; run ${run.id} is ${run.status()} and waits for: ${open}`,
  );
}
