/**
 * The GitHub webhook: one signed delivery becomes one run of every workflow that listens to it, however often it is delivered.
 * Responds when the runs are durable, before they are dispatched.
 */

import { requestHash } from '../../core/encoding/fingerprint.ts';
import { githubKey } from '../../core/encoding/idempotency-keys.ts';
import { CairnError, type ErrorCode } from '../../core/errors.ts';
import { firstIssue } from '../../core/first-issue.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import { isPlanMissing } from '../../engine/definition-of-run.ts';
import type { JsonObject } from '../../http/body.ts';
import { jsonResponse } from '../../http/buffered.ts';
import { contextOf, type RequestContext } from '../../http/caller-context.ts';
import { assertPostTo } from '../../http/post-only.ts';
import { problemResponse } from '../../http/problem.ts';
import { startedBefore } from '../../operations/start/known-start.ts';
import type { StartDeps, StartResult } from '../../operations/start/request.ts';
import { startRun } from '../../operations/start/start-run.ts';
import { type GithubDelivery, readDelivery } from './delivery.ts';
import { contentKey, subjectOf } from './subject.ts';
import { type GithubTenants, senderOf, tenantOf } from './tenants.ts';

export interface GithubDeps extends StartDeps {
  readonly environment: string;
  /** Secrets shared with GitHub. Read for each delivery, because reading one may wait for the platform. */
  secrets(): readonly string[];
  /** Tenant mapping. Read for each delivery, because the configuration may be invalid. */
  tenants(): GithubTenants;
}

/** Never rejects: every failure becomes a problem response. */
export async function githubWebhook(deps: GithubDeps, request: Request): Promise<Response> {
  try {
    assertPostTo('/webhooks/github', request);
    const delivery = await readDelivery(request, deps.secrets());
    return await answer(deps, delivery, contextOf(request.headers));
  } catch (error) {
    return problemResponse(error, deps.log);
  }
}

async function answer(
  deps: GithubDeps,
  delivery: GithubDelivery,
  context: RequestContext,
): Promise<Response> {
  const { event, action, payload } = delivery;
  if (event === 'ping') return json(200, { pong: true });
  const sender = senderOf(delivery);
  const tenantId = tenantOf(deps.tenants(), sender);
  if (tenantId === undefined) {
    const reason = 'this GitHub installation is not connected';
    deps.log.warn('github_installation_unknown', { deliveryId: delivery.id, event, ...sender });
    return json(202, { ignored: true, reason });
  }
  const listeners = deps.registry.githubListeners(event, action);
  if (listeners.length === 0) return json(202, { ignored: true });
  const received = { delivery, tenantId, context };
  const matching = listeners.filter((workflow) => listensTo(workflow, payload));
  if (matching.length > 0) return answerFor(await startAll(deps, received, matching));
  const reason = payloadProblems(listeners, payload);
  const before = await startsBefore(deps, received, { listeners, reason });
  if (before.length > 0) return answerFor(before);
  deps.log.warn('github_delivery_ignored', { deliveryId: delivery.id, event, action, reason });
  return json(202, { ignored: true, reason });
}

/** A schema that throws counts as listening: its start is then refused with that error, which is logged. */
function listensTo({ input }: Workflow, payload: JsonObject): boolean {
  try {
    return input.safeParse(payload).success;
  } catch {
    return true;
  }
}

interface Received {
  readonly delivery: GithubDelivery;
  readonly tenantId: string;
  readonly context: RequestContext;
}

/** Runs that the delivery started while another version was deployed, in case it is a redelivery. */
async function startsBefore(
  deps: GithubDeps,
  { delivery, tenantId }: Received,
  { listeners, reason }: { readonly listeners: readonly Workflow[]; readonly reason: string },
): Promise<readonly StartResult[]> {
  const refusal = new CairnError('INVALID_INPUT', reason);
  const results: StartResult[] = [];
  for (const suffix of ['', ...listeners.map(({ type }) => `:${type}`)]) {
    try {
      results.push(await startedBefore(deps, { tenantId, ...identityOf(delivery, suffix) }, refusal));
    } catch (error) {
      if (error !== refusal) throw error;
    }
  }
  return results;
}

/** Key and content that identify a repetition of a start. */
function identityOf({ id, event, payload }: GithubDelivery, suffix: string) {
  return { key: `${githubKey(id)}${suffix}`, requestHash: requestHash(`github:${event}`, payload) };
}

/**
 * Starts one run of each workflow. The first starts under the key of the delivery, the others under that key with their type. After a
 * deployment another workflow may be the first. Then a redelivery finds the run of the earlier first one under the key of the delivery,
 * and the workflow starts under the key with its type.
 *
 * @throws CairnError of the first start that was refused (PLAN_CHANGED, or INVALID_INPUT of its schema or tags), after all others
 * have their runs: GitHub's log of deliveries shows the failure, and a redelivery from there starts the missing run
 */
async function startAll(
  deps: GithubDeps,
  received: Received,
  workflows: readonly Workflow[],
): Promise<StartResult[]> {
  const results: StartResult[] = [];
  let refused: CairnError | undefined;
  for (const workflow of workflows) {
    if (results.some((outcome) => isRunOf(outcome, workflow))) continue;
    const { type } = workflow;
    const withType = { workflow, suffix: `:${type}` };
    try {
      const outcome = await start(deps, received, results.length === 0 ? { workflow, suffix: '' } : withType);
      results.push(outcome);
      if (outcome.kind === 'replayed' && !isRunOf(outcome, workflow))
        results.push(await start(deps, received, withType));
    } catch (error) {
      if (!(error instanceof CairnError) || !isOfWorkflow(error)) throw error;
      const { code, message: reason } = error;
      deps.log.error('github_start_refused', { deliveryId: received.delivery.id, type, code, reason });
      refused ??= error;
    }
  }
  if (refused) throw refused;
  return results;
}

const ABOUT_THE_INPUT: ReadonlySet<string> = new Set<ErrorCode>(['INVALID_INPUT', 'PAYLOAD_TOO_LARGE']);

/** True for a refusal that does not concern the other workflows of the delivery. */
function isOfWorkflow(error: CairnError): boolean {
  return isPlanMissing(error) || ABOUT_THE_INPUT.has(error.code);
}

function isRunOf(outcome: StartResult, { type }: Workflow): boolean {
  return outcome.kind !== 'in_flight' && outcome.response.type === type;
}

/** @param suffix added to the keys */
function start(
  deps: GithubDeps,
  { delivery, tenantId, context }: Received,
  { workflow, suffix }: { readonly workflow: Workflow; readonly suffix: string },
): Promise<StartResult> {
  const subject = subjectOf(delivery);
  return startRun(deps, {
    tenantId,
    environment: deps.environment,
    workflow,
    input: delivery.payload,
    trigger: { source: 'webhook', userId: userOf(delivery.payload), webhookEventId: delivery.id },
    source: 'github_webhook',
    ...identityOf(delivery, suffix),
    ...context,
    secondaryKey: `${contentKey(delivery, subject, tenantId)}${suffix}`,
    ...subject,
  });
}

/** GitHub login of the actor, including bots. */
const LOGIN = /^[\w.[\]-]{1,100}$/;

function userOf({ sender }: JsonObject): string | undefined {
  const login = (sender as { readonly login?: unknown } | null | undefined)?.login;
  return typeof login === 'string' && LOGIN.test(login) ? `g.${login}` : undefined;
}

/** Names the runs that a delivery started; several only if several workflows listen. */
function answerFor(results: readonly StartResult[]): Response {
  const runIds = results.flatMap((outcome) => (outcome.kind === 'in_flight' ? [] : [outcome.runId]));
  const ids = { runId: runIds[0], runIds: results.length > 1 ? runIds : undefined };
  if (results.some(({ kind }) => kind === 'created')) return json(202, ids);
  if (results.some(({ kind }) => kind === 'in_flight')) return json(202, { inFlight: true, ...ids });
  return json(200, { duplicate: true, ...ids });
}

/** The reasons why no listener accepts the payload, in one line for the sender's log of deliveries. */
function payloadProblems(listeners: readonly Workflow[], payload: unknown): string {
  const reasons = listeners.map(({ type, input }) => {
    const { field, why } = firstIssue(input.safeParse(payload).error?.issues ?? []);
    return `${type}: ${field}: ${why}`;
  });
  return `the payload is invalid: ${reasons.join('; ')}`;
}

function json(status: number, body: object): Response {
  return jsonResponse(body, { status });
}
