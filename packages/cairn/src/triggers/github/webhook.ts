/**
 * The GitHub webhook: one signed delivery becomes one run of every workflow that listens to it, however often it is
 * delivered. Answers as soon as the runs are durable; what they do happens later.
 */

import { requestHash } from '../../core/encoding/fingerprint.ts';
import { githubKey } from '../../core/encoding/keys.ts';
import { firstIssue } from '../../core/first-issue.ts';
import type { TraceContext } from '../../core/trace.ts';
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import { assertPostTo } from '../../http/post-only.ts';
import { problemResponse } from '../../http/problem.ts';
import { traceOf } from '../../http/trace-context.ts';
import type { StartDeps, StartOutcome } from '../../operations/start/request.ts';
import { startRun } from '../../operations/start/start-run.ts';
import { type Delivery, readDelivery } from './delivery.ts';
import { contentKey, subjectOf } from './subject.ts';
import { type GithubTenants, senderOf, tenantOf } from './tenants.ts';

export interface GithubDeps {
  readonly start: StartDeps;
  readonly registry: WorkflowRegistry;
  readonly environment: string;
  /** Secrets shared with GitHub; asked on each delivery, since reading one may wait for the platform. */
  secrets(): readonly string[];
  /** Whose runs deliveries become; asked on each, since what an installation has configured may make no sense. */
  tenants(): GithubTenants;
}

/** Never rejects: every failure is a problem answer. */
export async function githubWebhook(deps: GithubDeps, request: Request): Promise<Response> {
  try {
    assertPostTo('/webhooks/github', request);
    const delivery = await readDelivery(request, deps.secrets());
    return await answer(deps, delivery, traceOf(request.headers));
  } catch (error) {
    return problemResponse(error, deps.start.log);
  }
}

async function answer(
  deps: GithubDeps,
  delivery: Delivery,
  trace: TraceContext | undefined,
): Promise<Response> {
  const { event, action, payload } = delivery;
  if (event === 'ping') return json(200, { pong: true });
  const sender = senderOf(delivery);
  const tenantId = tenantOf(deps.tenants(), sender);
  if (tenantId === undefined) {
    const reason = 'this GitHub installation is not connected';
    deps.start.log.warn('github_installation_unknown', { deliveryId: delivery.id, event, ...sender });
    return json(202, { ignored: true, reason });
  }
  const listeners = deps.registry.githubListeners(event, action);
  if (listeners.length === 0) return json(202, { ignored: true });
  const fitting = listeners.filter((workflow) => workflow.input.safeParse(payload).success);
  if (fitting.length === 0) {
    const reason = misfit(listeners, payload);
    deps.start.log.warn('github_delivery_ignored', { deliveryId: delivery.id, event, action, reason });
    return json(202, { ignored: true, reason });
  }
  return answerFor(await startAll(deps, delivery, { tenantId, workflows: fitting, trace }));
}

interface Listeners {
  readonly tenantId: string;
  readonly workflows: readonly Workflow[];
  readonly trace: TraceContext | undefined;
}

/**
 * One run of each. The first has the key of the source texts, further ones add their type. Which one is first may have
 * changed since the event was delivered before: then its key leads to the run of another, and it starts under its own.
 */
async function startAll(
  deps: GithubDeps,
  delivery: Delivery,
  { tenantId, workflows, trace }: Listeners,
): Promise<StartOutcome[]> {
  const outcomes: StartOutcome[] = [];
  for (const workflow of workflows) {
    if (outcomes.some((outcome) => isRunOf(outcome, workflow))) continue;
    const listener = {
      tenantId,
      workflow,
      trace,
      suffix: outcomes.length === 0 ? '' : `:${workflow.type}`,
    };
    const outcome = await start(deps, delivery, listener);
    outcomes.push(outcome);
    if (outcome.kind === 'replayed' && !isRunOf(outcome, workflow)) {
      outcomes.push(await start(deps, delivery, { ...listener, suffix: `:${workflow.type}` }));
    }
  }
  return outcomes;
}

function isRunOf(outcome: StartOutcome, { type }: Workflow): boolean {
  return outcome.kind !== 'in_flight' && outcome.response.type === type;
}

interface Listener {
  readonly tenantId: string;
  readonly workflow: Workflow;
  /** Added to the keys. */
  readonly suffix: string;
  readonly trace: TraceContext | undefined;
}

function start(
  deps: GithubDeps,
  delivery: Delivery,
  { tenantId, workflow, suffix, trace }: Listener,
): Promise<StartOutcome> {
  const subject = subjectOf(delivery);
  const content = contentKey(delivery, subject, tenantId);
  return startRun(deps.start, {
    tenantId,
    environment: deps.environment,
    workflow,
    input: delivery.payload,
    trigger: { source: 'webhook', webhookEventId: delivery.id },
    source: 'github_webhook',
    key: `${githubKey(delivery.id)}${suffix}`,
    requestHash: requestHash(`github:${delivery.event}`, delivery.payload),
    trace,
    ...(content === undefined ? {} : { secondaryKey: `${content}${suffix}` }),
    ...subject,
  });
}

/** Which run a delivery became; several only where several workflows listen. */
function answerFor(outcomes: readonly StartOutcome[]): Response {
  const runIds = outcomes.flatMap((outcome) => (outcome.kind === 'in_flight' ? [] : [outcome.runId]));
  const ids = { runId: runIds[0], ...(outcomes.length > 1 ? { runIds } : {}) };
  if (outcomes.some(({ kind }) => kind === 'created')) return json(202, ids);
  if (outcomes.some(({ kind }) => kind === 'in_flight')) return json(202, { inFlight: true, ...ids });
  return json(200, { duplicate: true, ...ids });
}

/** Why no listener could take the payload, in one line for the sender's log of deliveries. */
function misfit(listeners: readonly Workflow[], payload: unknown): string {
  const reasons = listeners.map(({ type, input }) => {
    const { field, why } = firstIssue(input.safeParse(payload).error?.issues ?? []);
    return `${type}: ${field}: ${why}`;
  });
  return `the payload does not fit: ${reasons.join('; ')}`;
}

function json(status: number, body: object): Response {
  return Response.json(body, { status });
}
