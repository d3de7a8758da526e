/**
 * Runs that wait for an event, built by hand, and the participants of a race for the event: joiners, senders, and others that end a
 * wait.
 */
import { z } from 'zod';
import type { Mailbox } from '../../packages/cairn/src/core/mailbox/mailbox.ts';
import type { EventDraft, Wait } from '../../packages/cairn/src/core/run/events.ts';
import { isOver, type RunState } from '../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../packages/cairn/src/engine/deps.ts';
import { answersOn, eventOutput } from '../../packages/cairn/src/engine/mailbox/event-answers.ts';
import { joinMailbox } from '../../packages/cairn/src/engine/mailbox/join.ts';
import { leaveMailbox } from '../../packages/cairn/src/engine/mailbox/leave.ts';
import { resumptionDrafts } from '../../packages/cairn/src/engine/waits/end-of-wait.ts';
import { expiredWaitDrafts } from '../../packages/cairn/src/engine/waits/expired-wait.ts';
import { RunJournal } from '../../packages/cairn/src/journal/run-journal.ts';
import { appendToRun } from '../../packages/cairn/src/operations/append-to-run.ts';
import { World } from './world.ts';

export const PLACE = { tenantId: 't1', event: 'built', key: 'main' };

/** Two steps may wait for the event; with `strict` its data must be a number. */
export const waits = defineWorkflow({
  type: 'waits',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const wait = { event: PLACE.event, key: () => PLACE.key };
    return {
      any: step.event('any', { ...wait, timeout: '1h' }),
      strict: step.event('strict', { ...wait, output: z.object({ build: z.number() }) }),
    };
  },
});

export function world(seed = 1): World {
  return new World({ workflows: [waits], seed });
}

function waitOn(runId: string, stepId: string, now: number): Wait {
  return {
    id: `${stepId}.1`,
    kind: 'event',
    name: PLACE.event,
    key: PLACE.key,
    openedAt: now,
    dueAt: now + 3_600_000,
    heartbeat: { withinMs: 3_600_000 },
    execution: { stepId, revision: 1, kind: 'event', attempt: 1, inputsHash: runId, startedAt: now },
  };
}

/** A run whose journal has waits of these steps. It has no lease, and the mailbox does not know it yet. */
export async function waitingRun(world: World, steps: readonly string[] = ['any']): Promise<string> {
  const { clock, deps } = world;
  const runId = await world.start('waits');
  world.queue.take();
  const loaded = await deps.store.load(runId);
  if (!loaded) throw new Error('the run is gone');
  const owner = 'hand';
  const journal = new RunJournal(deps, loaded, { ...deps.settings, owner });
  const now = clock.now();
  const system = { initiator: 'system' } as const;
  const drafts: EventDraft[] = [
    { ...system, type: 'run_claimed', data: { owner, epoch: 1, expiresAt: now + 1_000 } },
    { ...system, type: 'run_started', data: {} },
    ...steps.map(
      (id): EventDraft => ({ ...system, type: 'wait_opened', data: { wait: waitOn(runId, id, now) } }),
    ),
    { ...system, type: 'run_released', data: { reason: 'budget', inFlight: [] } },
  ];
  await journal.append(() => drafts);
  return runId;
}

/** Registers an open wait like an attempt: announces it, receives buffered events, and lets the run wait. */
export async function announce(deps: EngineDeps, runId: string, stepId = 'any'): Promise<void> {
  const waitId = `${stepId}.1`;
  const step = waits.steps.get(stepId);
  if (!step) throw new Error(`no step '${stepId}'`);
  const event = await joinMailbox(deps, {
    ...PLACE,
    runId,
    waitId,
    accepts: ({ dataText }) => 'text' in eventOutput(step, dataText),
  });
  if (event) {
    const { state } = await append(deps, runId, (current) => {
      const brought = { id: event.eventId, dataText: event.dataText, initiator: 'system' } as const;
      const open = isOver(current) ? [] : current.waits.filter(({ id }) => id === waitId);
      return answersOn(current, {
        registry: deps.registry,
        data: brought,
        waits: open,
        now: deps.clock.now(),
      }).drafts;
    });
    await leave(deps, state, waitId);
  }
  await append(deps, runId, (state) =>
    state.status === 'running' && state.waits.length > 0
      ? [
          {
            type: 'run_suspended',
            initiator: 'system',
            data: { status: 'waiting_external', announced: true },
          },
        ]
      : [],
  );
}

/** Lets the wait expire, like an attempt. */
export async function expire(deps: EngineDeps, runId: string, stepId = 'any'): Promise<void> {
  const { state } = await append(deps, runId, (current) => {
    const wait = isOver(current) ? undefined : current.waits.find(({ id }) => id === `${stepId}.1`);
    const step = waits.steps.get(stepId);
    if (!wait || !step) return [];
    return [
      ...expiredWaitDrafts({ step, wait, now: deps.clock.now() }),
      ...resumptionDrafts(current, 'its time has come'),
    ];
  });
  await leave(deps, state, `${stepId}.1`);
}

/** Ends the run and performs its completion duties. */
export async function end(deps: EngineDeps, runId: string): Promise<void> {
  const { state } = await append(deps, runId, (current) =>
    isOver(current) ? [] : [{ type: 'run_cancelled', initiator: 'user', data: { stopKind: 'user' } }],
  );
  await leave(deps, state);
}

export async function leave(deps: EngineDeps, state: RunState, waitId?: string): Promise<void> {
  const { id: runId, received } = state;
  const which = waitId === undefined ? {} : { waitId };
  await leaveMailbox(deps, { ...PLACE, ...which, runId }, (eventId) => received.includes(eventId));
}

function append(deps: EngineDeps, runId: string, decide: (state: RunState) => readonly EventDraft[]) {
  return appendToRun(deps, { runId, tenantId: PLACE.tenantId, decide });
}

/** Content of the event mailbox; undefined if empty. */
export async function place({ mailboxes }: World): Promise<Mailbox | undefined> {
  return (await mailboxes.read(PLACE))?.mailbox;
}
