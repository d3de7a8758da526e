/** Decides everything about a new run before anything is written. Pure except for clock and randomness. */

import { sha256Hex } from '../../core/encoding/hash.ts';
import { shardOf } from '../../core/encoding/ids.ts';
import { toJsonText } from '../../core/encoding/json.ts';
import { invalidInput } from '../../core/errors.ts';
import { allIssues } from '../../core/first-issue.ts';
import { parsedData } from '../../core/parsed-data.ts';
import { emptyChain, seal } from '../../core/run/chain.ts';
import type { CheckpointRef, PayloadRef, RunEvent, RunIdentity, StoredValue } from '../../core/run/events.ts';
import { MAX_PAYLOAD_BYTES } from '../../core/run/limits.ts';
import { payloadRefOf } from '../../core/run/payload.ts';
import { type CarriedOutput, checkpointOf } from '../../core/run/records.ts';
import { initialState } from '../../core/run/reduce/index.ts';
import { assertFits, needsPayload, storedValueOf } from '../../core/run/values.ts';
import { type Tags, tagsOf } from '../../core/search/tags.ts';
import { maskPaths } from '../../core/secrets/mask.ts';
import { messageOf } from '../../core/thrown.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import { versionsOf } from '../../engine/environment-versions.ts';
import { planOf } from '../../engine/plans/plan-of.ts';
import { saltedText } from '../../engine/run-input.ts';
import type { StartCommit } from '../../ports/run-store.ts';
import type { Lineage, StartDeps, StartRequest, StartResponse } from './request.ts';

interface DraftPayload {
  readonly text: string;
  readonly ref: PayloadRef;
}

/** A run before it is written, with the response to its start. */
export interface Draft {
  readonly commit: Omit<StartCommit, 'records'>;
  readonly response: StartResponse;
  readonly now: number;
  /**
   * The input if no checkpoint can store it, and the input with its secret members. They are durable before the commit that refers to
   * them.
   */
  readonly payloads: readonly DraftPayload[];
}

/** A request with the run that it starts, unless a record shows that the run already exists. */
export interface DraftedStart {
  readonly deps: StartDeps;
  readonly request: StartRequest;
  readonly draft: Draft;
}

/** @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE */
export function draftRun(deps: StartDeps, request: StartRequest): Draft {
  const { clock, random, bus, shards } = deps;
  const { workflow, trigger, tenantId, environment, lineage } = request;
  const runId = request.runId ?? random.runId();
  const {
    hash: inputHash,
    input,
    inputFrom,
    secretInput,
    tags,
    carried,
    payloads,
  } = inputOf(request, { runId, salt: () => random.token() });
  const now = clock.now();
  const threadId = request.threadId ?? runId;
  const { type, planVersion } = workflow;
  const data = {
    tenantId,
    environment,
    type,
    planVersion,
    planFingerprint: planOf(workflow).fingerprint,
    threadId,
    trigger,
    traceId: request.trace?.traceId ?? random.token(),
    inputHash,
    input,
    rootRunId: lineage?.rootRunId ?? runId,
    ...namedShard(runId, shards),
    traceSampled: request.trace?.sampled,
    inputFrom,
    secretInput,
    repoId: request.repoId,
    prId: request.prId,
    prUrl: request.prUrl,
    tags: tags.length === 0 ? undefined : tags,
    idempotencyKey: request.key,
    a2aCorrelationId: request.a2aCorrelationId,
    parent: request.parent,
    versions: versionsOf(deps, workflow),
    ...(lineage && descent(runId, lineage)),
  };
  // A child has its parent's trigger, so the actor of the trigger did not start it.
  const actor = lineage?.actor ?? (request.parent ? undefined : trigger.userId);
  const initiator = request.parent
    ? 'system'
    : trigger.source === 'webhook'
      ? 'webhook'
      : actor
        ? 'user'
        : 'system';
  const event = seal(
    { type: 'run_created', initiator, data, actor },
    { chain: emptyChain(runId), id: random.token(), now },
  ) as RunEvent<'run_created'>;
  const checkpoint = checkpointOf(event, undefined, 'text' in input ? {} : carried);
  const state = initialState(runId, event);
  const response: StartResponse = {
    runId,
    type,
    planVersion,
    status: 'pending',
    threadId,
    createdAt: new Date(event.at).toISOString(),
  };
  const commit = {
    state,
    metadata: bus && { firstEventId: event.id },
    events: [event],
    checkpoints: checkpoint ? [checkpoint] : [],
  };
  return { commit, response, now, payloads };
}

interface DraftInput {
  readonly hash: string;
  readonly input: StoredValue;
  /** The value for the first checkpoint, if the snapshot does not contain it completely. */
  readonly carried: CarriedOutput;
  readonly inputFrom?: CheckpointRef;
  readonly secretInput?: RunIdentity['secretInput'] | undefined;
  readonly tags: readonly string[];
  readonly payloads: Draft['payloads'];
}

interface Keeping {
  readonly runId: string;
  readonly salt: () => string;
}

/** A successor without an input of its own reuses the validated input of its source without reading it. */
function inputOf({ workflow, input, lineage }: StartRequest, by: Keeping): DraftInput {
  const inherited = lineage?.input;
  if (!inherited) return draftInput(workflow, input, by);
  const { hash, value, secretInput, tags = [] } = inherited;
  const common = { hash, tags, carried: {}, payloads: [], secretInput };
  if ('text' in value) return { ...common, input: value };
  return { ...common, input: { checkpoint: 1 }, inputFrom: value };
}

function draftInput(workflow: Workflow, value: unknown, { runId, salt }: Keeping): DraftInput {
  const { text, whole } = checkedInput(workflow, value);
  const large = needsPayload(text) ? payloadOf(text) : undefined;
  const secret = whole === text ? undefined : payloadOf(saltedText(whole, salt()));
  const carried: CarriedOutput = large ? { outputRef: large.ref } : { outputText: text };
  return {
    hash: sha256Hex(text),
    input: storedValueOf(text, 1),
    tags: declaredTags(workflow, text),
    carried,
    payloads: [large, secret].filter((payload) => payload !== undefined),
    secretInput: secret && { runId, ...secret.ref },
  };
}

/** @throws CairnError INVALID_INPUT for invalid tags, and if the function throws */
function declaredTags({ type, tags }: Workflow, text: string): readonly string[] {
  if (!tags) return [];
  let given: Tags;
  try {
    given = tags(JSON.parse(text));
  } catch (error) {
    throw invalidInput('tags', `'tags' of '${type}' threw: ${messageOf(error)}`);
  }
  return tagsOf(type, given);
}

function payloadOf(text: string): DraftPayload {
  return { text, ref: payloadRefOf(text) };
}

/** Canonical JSON. The hash of an input is the hash of `text`. */
interface CheckedInput {
  /** For people: without its secret members. */
  readonly text: string;
  /** For step bodies: complete. */
  readonly whole: string;
}

/** @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE */
export function checkedInput(workflow: Workflow, input: unknown): CheckedInput {
  const whole = toJsonText(validated(workflow, input), 'input');
  assertFits(whole, 'input', MAX_PAYLOAD_BYTES);
  return { whole, text: maskPaths(whole, workflow.secretInput) };
}

/** A resume continues the same work. A replay or fork may repeat calls, so its own id distinguishes them (E4, E6). */
function descent(
  runId: string,
  lineage: Lineage,
): Pick<RunIdentity, 'source' | 'resumedFrom' | 'effectScopes'> {
  const { source, resumedFrom, effectScopes: before } = lineage;
  const { mode } = source;
  const effectScopes = mode === 'resume' ? before : [{ runId, mode }, ...before];
  return { source, resumedFrom, effectScopes: effectScopes.length === 0 ? undefined : effectScopes };
}

function validated(workflow: Workflow, input: unknown): unknown {
  const parsed = parsedData(workflow.input, input);
  if ('data' in parsed) return parsed.data;
  const { field, why } = allIssues(parsed.issues, 'input');
  throw invalidInput(field, why);
}

/** Stored only if it differs from the derived one. */
function namedShard(runId: string, shards: number | undefined): { shard?: number } {
  const shard = shardOf(runId, shards);
  return shard === shardOf(runId) ? {} : { shard };
}
