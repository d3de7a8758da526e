/** Everything of a new run that is decided before anything is written. Pure but for clock and chance. */

import { sha256Hex } from '../../core/encoding/hash.ts';
import { toJsonText } from '../../core/encoding/json.ts';
import { CairnError } from '../../core/errors.ts';
import { optional } from '../../core/optional.ts';
import { emptyChain, seal } from '../../core/run/chain.ts';
import type { PayloadRef, RunEvent } from '../../core/run/events.ts';
import { MAX_PAYLOAD_BYTES } from '../../core/run/limits.ts';
import { payloadRefOf } from '../../core/run/payload.ts';
import { type CarriedOutput, checkpointOf } from '../../core/run/records.ts';
import { initialState } from '../../core/run/reduce/index.ts';
import { assertFits, needsPayload, storedValue } from '../../core/run/values.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import type { StartCommit } from '../../ports/run-store.ts';
import type { StartDeps, StartRequest, StartResponse } from './request.ts';

/** A run that could be, with the answer its start would get. */
export interface Draft {
  readonly commit: Omit<StartCommit, 'records'>;
  readonly response: StartResponse;
  readonly now: number;
  /** The input, if no checkpoint can carry it: it must be durable before the commit, which refers to it. */
  readonly payload?: { readonly text: string; readonly ref: PayloadRef };
}

/** @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE */
export function draftRun({ clock, random }: StartDeps, request: StartRequest): Draft {
  const { workflow, trigger, tenantId, environment } = request;
  const text = toJsonText(validated(workflow, request.input), 'input');
  assertFits(text, 'input', MAX_PAYLOAD_BYTES);
  const runId = request.runId ?? random.runId();
  const now = clock.now();
  const threadId = request.threadId ?? runId;
  const input = storedValue(text, 1);
  const { type, planVersion } = workflow;
  const data = {
    tenantId,
    environment,
    type,
    planVersion,
    threadId,
    trigger,
    traceId: request.traceId ?? random.token(),
    inputHash: sha256Hex(text),
    input,
    rootRunId: runId,
    ...optional('repoId', request.repoId),
    ...optional('prId', request.prId),
    ...optional('prUrl', request.prUrl),
    ...optional('idempotencyKey', request.key),
    ...optional('a2aCorrelationId', request.a2aCorrelationId),
    ...optional('parent', request.parent),
  };
  const initiator = trigger.source === 'webhook' ? 'webhook' : trigger.userId ? 'user' : 'system';
  const event = seal(
    { type: 'run_created', initiator, data, ...optional('actor', trigger.userId) },
    { chain: emptyChain(runId), id: random.token(), now },
  ) as RunEvent<'run_created'>;
  const payload = needsPayload(text) ? { text, ref: payloadRefOf(text) } : undefined;
  const large: CarriedOutput = payload ? { outputRef: payload.ref } : { outputText: text };
  const checkpoint = checkpointOf(event, undefined, 'text' in input ? {} : large);
  const state = initialState(runId, event);
  const response: StartResponse = {
    runId,
    type,
    planVersion,
    status: 'pending',
    threadId,
    createdAt: new Date(event.at).toISOString(),
  };
  const commit = { state, events: [event], checkpoints: checkpoint ? [checkpoint] : [] };
  return { commit, response, now, ...optional('payload', payload) };
}

function validated(workflow: Workflow, input: unknown): unknown {
  const parsed = workflow.input.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = ['input', ...(issue?.path ?? [])].map(String).join('.');
  throw new CairnError('INVALID_INPUT', `${field}: ${issue?.message ?? 'not what the workflow takes'}`, {
    field,
  });
}
