/** Operations of people and programs on the runs of the scenarios; all can be repeated. */

import type { EffectRecord } from '../../../packages/cairn/src/core/effects/effect.ts';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import type { SuccessorMode } from '../../../packages/cairn/src/core/run/events.ts';
import { isOver, stepKey } from '../../../packages/cairn/src/core/run/state.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import type { DecideRequest } from '../../../packages/cairn/src/operations/approvals/request.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { resolveEffect } from '../../../packages/cairn/src/operations/effects/resolve-effect.ts';
import { deliverEvent } from '../../../packages/cairn/src/operations/events/deliver-event.ts';
import { failWait } from '../../../packages/cairn/src/operations/events/fail-wait.ts';
import { heartbeatWait } from '../../../packages/cairn/src/operations/events/heartbeat-wait.ts';
import { signalRun } from '../../../packages/cairn/src/operations/events/signal-run.ts';
import { setKillSwitch } from '../../../packages/cairn/src/operations/runtime/kill-switch.ts';
import {
  pauseWorkflow,
  unpauseWorkflow,
} from '../../../packages/cairn/src/operations/runtime/pause-workflow.ts';
import { startSuccessor } from '../../../packages/cairn/src/operations/successors/start-successor.ts';
import { continueRun, suspendRun } from '../../../packages/cairn/src/operations/suspend-run.ts';
import type { ProcessDeps } from '../process.ts';
import type { Client, Operation, View } from '../scenario.ts';

type When = (view: View) => boolean;

/**
 * The actor of all operations: the client that the local cloud creates for development, because a journal may name the actor.
 */
const ACTOR = 'c.dev';
const REASON = 'no longer wanted';

export function cancels(when: When, more: Partial<Operation> = {}): Operation {
  return {
    name: 'cancel',
    when,
    act: async ({ deps, runId, tenantId }) => {
      const { status } = await cancelRun(deps, {
        runId,
        tenantId,
        actor: ACTOR,
        reason: REASON,
        stopKind: 'user',
      });
      // It may have ended already.
      return status.startsWith('cancel');
    },
    request: (runId) => ({ path: `/v1/runs/${runId}/cancel`, body: { reason: REASON } }),
    ...more,
  };
}

type Said = Pick<DecideRequest, 'decision' | 'note' | 'feedback' | 'steps' | 'waitId' | 'raise'>;

/** Decides as soon as the step asks, unless `more` says otherwise. */
export function decides(stepId: string, said: Said, more: Partial<Operation> = {}): Operation {
  return {
    name: `decide ${stepId}`,
    when: (view) => view.waitsAt(stepId),
    act: async ({ deps, runId, tenantId }) => {
      const { decidedAt: _, ...decided } = await decideApproval(deps, {
        runId,
        tenantId,
        stepId,
        actor: ACTOR,
        ...said,
      });
      return decided;
    },
    request: (runId) => ({ path: `/v1/runs/${runId}/approvals/${stepId}`, body: said }),
    ...more,
  };
}

/** Raises the budget for whichever step asks, because a crash can change it. */
export function raisesBudget(raise: NonNullable<DecideRequest['raise']>): Operation {
  return {
    name: 'raise the budget',
    when: ({ run }) => run?.waits.some(({ purpose }) => purpose === 'budget') ?? false,
    act: async ({ deps, runId, tenantId }) => {
      const waits = (await deps.store.load(runId))?.state.waits ?? [];
      const wait = waits.find(({ purpose }) => purpose === 'budget');
      // It was answered before, by the same request.
      if (!wait) return true;
      const stepId = stepKey(wait.execution);
      await decideApproval(deps, {
        runId,
        tenantId,
        stepId,
        waitId: wait.id,
        decision: 'approve',
        raise,
        actor: ACTOR,
        mayRaiseDay: true,
      });
      return true;
    },
  };
}

/** Sends an event. Its receivers, refusals or buffering may differ when it is sent again. */
export function delivers(
  event: string,
  key: string,
  data: unknown,
  more: Partial<Operation> = {},
): Operation {
  return {
    name: `deliver ${event}`,
    when: () => true,
    act: async ({ deps, tenantId }) => {
      const sent = { tenantId, event, key, data, eventId: `e-${event}-${more.name ?? ''}`, actor: ACTOR };
      const { delivered, kept } = await deliverEvent(deps, sent);
      return { isSomewhere: delivered.length > 0 || kept };
    },
    request: () => ({ path: '/v1/events', body: { event, key, data } }),
    ...more,
  };
}

export function signals(name: string, data: unknown, more: Partial<Operation> = {}): Operation {
  return {
    name: `signal ${name}`,
    when: () => true,
    act: async ({ deps, runId, tenantId }) => {
      const { signalId } = await signalRun(deps, {
        runId,
        tenantId,
        name,
        data,
        signalId: `s-${name}`,
        actor: ACTOR,
      });
      return signalId;
    },
    request: (runId) => ({ path: `/v1/runs/${runId}/signals`, body: { name, data } }),
    ...more,
  };
}

/** The sender reports that the event will not come. */
export function failsWait(stepId: string, more: Partial<Operation> = {}): Operation {
  return {
    name: `fail ${stepId}`,
    when: (view) => view.waitsAt(stepId),
    act: async ({ deps, runId, tenantId }) => {
      const request = { stepId, reason: 'lost', requestId: `f-${stepId}`, actor: ACTOR };
      await failWait(deps, { runId, tenantId, ...request });
      return 'failed';
    },
    ...more,
  };
}

/** The sender sends a heartbeat at this time after the beginning, ms. */
export function beats(stepId: string, atMs: number): Operation {
  return {
    name: `beat ${stepId}`,
    atMs,
    when: (view) => view.waitsAt(stepId),
    act: async ({ deps, runId, tenantId }) => {
      await heartbeatWait(deps, { runId, tenantId, stepId, actor: ACTOR });
      return 'beaten';
    },
  };
}

/** Operators pause all runs of a type, or all runs, and release them at this time after the beginning, ms. */
export function holds(
  what: { readonly type: string } | 'everything',
  when: When,
  untilMs: number,
): Operation[] {
  const act = async ({ deps, tenantId }: Client, on: boolean) => {
    if (what === 'everything') await setKillSwitch(deps, { on, actor: ACTOR, tenantId });
    else if (on) await pauseWorkflow(deps, { ...what, actor: ACTOR, tenantId });
    else await unpauseWorkflow(deps, { ...what, actor: ACTOR, tenantId });
  };
  return [
    { name: 'hold', when, act: (client) => act(client, true) },
    {
      name: 'let go on',
      atMs: untilMs,
      when: (view) => view.wasAnswered('hold'),
      act: (client) => act(client, false),
    },
  ];
}

/** An operator suspends the run, and resumes it at this time after the beginning, ms. */
export function suspends(when: When, untilMs: number): Operation[] {
  const reason = 'to look first';
  const who = { actor: ACTOR };
  return [
    {
      name: 'suspend',
      when,
      act: async ({ deps, runId, tenantId }) => {
        await suspendRun(deps, { runId, tenantId, ...who, reason });
        return 'suspended';
      },
    },
    {
      name: 'continue',
      atMs: untilMs,
      when: (view) => view.wasAnswered('suspend'),
      act: async ({ deps, runId, tenantId }) => {
        await continueRun(deps, { runId, tenantId, ...who });
        return 'continued';
      },
    },
  ];
}

const TIMES = ['first', 'second', 'third', 'fourth'] as const;

/** Resolves effects as often as runs may ask; `certain` of the times also in the undisturbed performance. */
export function person(certain = 0): readonly Operation[] {
  const nameOf = (time: string) => `clear up, the ${time} time`;
  return TIMES.map((time, i) =>
    resolvingOperation({
      name: nameOf(time),
      when: (view) =>
        view.asksAboutEffect && TIMES.slice(0, i).every((before) => view.wasAnswered(nameOf(before))),
      ...(i < certain ? {} : { onlyDisturbed: true }),
    }),
  );
}

/** Resolves an effect truthfully after a check with the receiver, and permits the repetition of earlier effects. */
function resolvingOperation(more: Omit<Operation, 'act'>): Operation {
  return {
    ...more,
    act: async ({ deps, tenantId, receiver }) => {
      const row = await questionOf(deps, tenantId);
      if (!row) return 'nobody asks';
      const { effectId, runId, idempotencyKey, blockedBy, resolution, requestText } = row;
      const isDone = blockedBy !== 'policy' && receiver.hasActed(idempotencyKey);
      const wasSaid = resolution?.outcome ?? (isDone ? 'recorded' : 're-execute');
      const result = wasSaid === 'recorded' ? { result: { id: requestOf(requestText) } } : {};
      await resolveEffect(deps, { runId, tenantId, effectId, actor: ACTOR, outcome: wasSaid, ...result });
      return 'cleared up';
    },
  };
}

/** The open question, or the one that this person answered last. */
async function questionOf(deps: ProcessDeps, tenantId: string): Promise<EffectRecord | undefined> {
  const { items: runs } = await deps.store.listRuns({ tenantId }, { limit: 10 });
  let latest: EffectRecord | undefined;
  for (const { state, waits } of runs) {
    const { items } = await deps.effects.listOfRun(state.id, { limit: 100 });
    const question = items.find(({ effectId }) => waits.first.some((wait) => wait.effectId === effectId));
    if (question) return question;
    latest ??= items.findLast(({ resolution }) => resolution?.by === ACTOR);
  }
  return latest;
}

/** Creates a successor of the run as soon as it has ended. */
export function succeeds(mode: SuccessorMode, more: Partial<Operation> = {}): Operation {
  return {
    name: mode,
    when: ({ run }) => run !== undefined && isOver(run),
    act: async ({ deps, runId, tenantId }) => {
      const outcome = await startSuccessor(deps, {
        runId,
        tenantId,
        mode,
        actor: ACTOR,
        key: `api:${ACTOR}:${mode}`,
        requestHash: mode,
        force: false,
      });
      if (outcome.kind === 'in_flight') throw new CairnError('UNAVAILABLE', 'in flight');
      return mode;
    },
    ...more,
  };
}

function requestOf(text = '{}'): unknown {
  return (JSON.parse(text) as { readonly what?: unknown }).what;
}
