/** Requests of the codebase itself (`cairn.start` and so on): the HTTP API after authentication. */
import { correlationId } from '../core/encoding/correlation.ts';
import { requestHash } from '../core/encoding/fingerprint.ts';
import { apiKey, readApiIdempotencyHeader } from '../core/encoding/idempotency-keys.ts';
import { type Json, toJsonText } from '../core/encoding/json.ts';
import { threadIdOf } from '../core/encoding/thread-id.ts';
import { CairnError, invalidInput } from '../core/errors.ts';
import { messageOf } from '../core/thrown.ts';
import type { WorkflowRegistry } from '../engine/define/registry.ts';
import { storedText } from '../engine/stored-text.ts';
import { loadOwn } from '../operations/append-to-run.ts';
import { signalRun } from '../operations/events/signal-run.ts';
import { startedBefore } from '../operations/start/known-start.ts';
import type { StartDeps } from '../operations/start/request.ts';
import { startRun } from '../operations/start/start-run.ts';
import type { Asking, RunResult, Signal, StartAsking, StartedRun } from './installation/in-process.ts';

interface OwnDeps extends StartDeps {
  readonly environment: string;
}

const APP = 'app';

/** Keys of different tenants and users never collide, and never with those of API callers. */
const principalOf = ({ tenantId, actor = APP }: Asking) => `a.${requestHash(APP, { tenantId, actor })}`;

export async function startOwn(
  deps: OwnDeps,
  { type, input, ...asking }: StartAsking & { readonly type: string; readonly input: unknown },
): Promise<StartedRun> {
  const { tenantId, actor = APP } = asking;
  const threadId = threadIdOf(asking.threadId);
  const key = keyOf(asking);
  const keyed = {
    tenantId,
    key: key === undefined ? undefined : apiKey(principalOf(asking), key),
    requestHash: startHash({ type, input, threadId }),
  };
  const { registry, environment } = deps;
  const workflow = registry.newest(type);
  const outcome = workflow
    ? await startRun(deps, {
        ...keyed,
        environment,
        workflow,
        input,
        trigger: { source: 'api', userId: actor },
        source: 'api',
        threadId,
        a2aCorrelationId: correlationId(asking.a2aCorrelationId, 'a2aCorrelationId'),
      })
    : await startedBefore(deps, keyed, notDeployed(registry, type));
  if (outcome.kind === 'in_flight') throw new CairnError('UNAVAILABLE', 'the same request is in progress');
  return { runId: outcome.runId, replayed: outcome.kind === 'replayed' };
}

/** Takes instances such as `Date`, because the schema may still drop or transform them. @throws CairnError INVALID_INPUT */
function startHash(body: Pick<StartAsking, 'threadId'> & Record<'type' | 'input', unknown>): string {
  try {
    return requestHash('POST /v1/runs', withEntries(body) as Json);
  } catch (cause) {
    // Its error names the value.
    toJsonText(body.input, 'input');
    throw invalidInput('input', `the input could not be read as JSON: ${messageOf(cause)}`, { cause });
  }
}

/** Replaces each Map and Set by its entries, because JSON writes all of them as `{}`. Other values keep their JSON. */
function withEntries(value: unknown): unknown {
  if (value instanceof Map || value instanceof Set)
    return { [value instanceof Map ? 'Map' : 'Set']: [...value].map(withEntries) };
  if (Array.isArray(value)) return value.map(withEntries);
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withEntries(member)]));
}

function notDeployed(registry: WorkflowRegistry, type: string): CairnError {
  const known = registry.types().join(', ') || 'none';
  return invalidInput('type', `no workflow '${type}' is deployed; deployed workflows: ${known}`);
}

export async function signalOwn(
  deps: OwnDeps,
  { runId, signal, ...asking }: Asking & { readonly runId: string; readonly signal: Signal },
): Promise<{ readonly outcome: 'taken_in' | 'kept' }> {
  const { tenantId, actor = APP } = asking;
  const key = keyOf(asking);
  const sending =
    key === undefined
      ? deps.random.token()
      : requestHash(`signal ${runId}`, apiKey(principalOf(asking), key));
  const { outcome } = await signalRun(deps, { ...signal, runId, tenantId, signalId: `s.${sending}`, actor });
  return { outcome };
}

export async function resultOwn(
  deps: OwnDeps,
  { runId, tenantId }: { readonly runId: string; readonly tenantId: string },
): Promise<RunResult> {
  const { state } = await loadOwn(deps, { runId, tenantId });
  const { status, result, error } = state;
  const value = result && (JSON.parse(await storedText(deps.store, runId, result)) as unknown);
  return { runId, status, result: value, error };
}

/** Accepts the same keys as the header `Idempotency-Key`. */
function keyOf({ idempotencyKey }: Asking): string | undefined {
  return readApiIdempotencyHeader((name) => (name === 'Idempotency-Key' ? idempotencyKey : undefined));
}
