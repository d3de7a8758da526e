/** Runs that are moved, event by event like by a dispatch, to a question for a person. */
import { z } from 'zod';
import { sha256Hex } from '../../../packages/cairn/src/core/encoding/hash.ts';
import type { EventDraft, StepExecution, StepQuestion } from '../../../packages/cairn/src/core/run/events.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import type { OnFailure } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import * as build from '../../../packages/cairn/src/engine/recording/event-builders.ts';
import { resumptionDrafts } from '../../../packages/cairn/src/engine/waits/end-of-wait.ts';
import { expiredWaitDrafts } from '../../../packages/cairn/src/engine/waits/expired-wait.ts';
import { openedDraft } from '../../../packages/cairn/src/engine/waits/new-wait.ts';
import { doubtOf } from '../../../packages/cairn/src/engine/waits/question.ts';
import { RunJournal } from '../../../packages/cairn/src/journal/run-journal.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import type {
  ApprovalDecided,
  DecideRequest,
} from '../../../packages/cairn/src/operations/approvals/request.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

export const HOUR_MS = 3_600_000;

export interface Release {
  /** The world of the run; absent: a new one. */
  readonly world?: World;
  readonly tenantId?: string;
  readonly seed?: number;
  readonly onFailure?: OnFailure<never>;
  /** `review` and each of the `files` have a compensation. */
  readonly undo?: boolean;
}

/** fetch → review → gate (asks) → ship, and in parallel `push`, which must not run twice, and a map of `files`. */
export function release({ onFailure = 'fail', undo = false }: Release = {}): Workflow {
  const undoing = undo ? { compensate: () => {} } : {};
  return defineWorkflow({
    type: 'release',
    planVersion: 1,
    input: z.unknown(),
    onDoubt: 'ask',
    steps(step) {
      const fetched = step('fetch', () => 1);
      const review = step('review', { needs: { fetched }, ...undoing }, () => 2);
      const gate = step.approval('gate', {
        needs: { review },
        timeout: '1h',
        onFailure,
        ask: () => 'Ship it?',
      });
      const lone = step.approval('lone', { ask: () => 'Begin?' });
      const ci = step.event('ci', { event: 'ci', key: () => 'k' });
      const push = step('push', { needs: { fetched }, idempotent: false, onFailure }, () => 3);
      const files = step.map('files', { over: () => [1, 2], idempotent: false, ...undoing }, () => 4);
      return { ship: step('ship', { needs: { gate, lone, ci, push, files } }, () => 5) };
    },
  });
}

export class Scene {
  readonly world: World;
  readonly workflow: Workflow;
  readonly runId: string;
  #journal: RunJournal;

  private constructor(world: World, workflow: Workflow, runId: string, journal: RunJournal) {
    this.world = world;
    this.workflow = workflow;
    this.runId = runId;
    this.#journal = journal;
  }

  /** A run whose first dispatch has just begun. */
  static async begun(options: Release = {}): Promise<Scene> {
    const workflow = release(options);
    const { tenantId = 't1', seed = 1 } = options;
    const world = options.world ?? new World({ workflows: [workflow], seed });
    const runId = await world.start('release', {}, { tenantId });
    world.queue.take();
    const scene = new Scene(world, workflow, runId, await journalOf(world.deps, runId));
    await scene.claim();
    await scene.append([{ type: 'run_started', initiator: 'system', data: {} }]);
    return scene;
  }

  /** Suspended at the gate, with two completed steps. */
  static async asking(options: Release = {}): Promise<Scene> {
    const scene = await Scene.begun(options);
    await scene.done('fetch');
    await scene.done('review');
    await scene.open('gate', { dueAt: scene.now + HOUR_MS });
    await scene.suspend();
    return scene;
  }

  /** Suspended because the outcome of an interrupted step is unknown. */
  static async inDoubt(
    of: Partial<StepExecution> = { stepId: 'push' },
    options: Release = {},
  ): Promise<Scene> {
    const scene = await Scene.begun(options);
    await scene.done('fetch');
    await scene.append([build.started(scene.execution(of))]);
    await scene.doubt(of);
    await scene.suspend();
    return scene;
  }

  get now(): number {
    return this.world.clock.now();
  }

  /** The stored state, checked against all invariants. */
  get state(): RunState {
    return assertStored(this.world.db, this.runId, Number.POSITIVE_INFINITY);
  }

  get wakeAt(): number | undefined {
    return this.world.db.runs.get(this.runId)?.wakeAt;
  }

  /** Takes the waiting tasks out of the queue. */
  tasks(): number {
    const { queue } = this.world;
    const { length } = queue.pending;
    for (const { id } of queue.pending) queue.take(id);
    return length;
  }

  /** A new dispatch claims the run. */
  async claim(): Promise<void> {
    const { deps } = this.world;
    const owner = `drive ${this.#journal.state.head}`;
    this.#journal = await journalOf(deps, this.runId, owner);
    await this.#journal.append((state) => {
      const lease = { owner, epoch: state.epoch + 1, expiresAt: this.now + deps.settings.leaseMs };
      return [...resumptionDrafts(state, 'test'), { type: 'run_claimed', initiator: 'system', data: lease }];
    });
  }

  append(facts: readonly EventDraft[]): Promise<unknown> {
    return this.#journal.append(() => facts);
  }

  async done(stepId: string, more: Partial<StepExecution> = {}): Promise<void> {
    const execution = this.execution({ ...more, stepId });
    const text = '1';
    const ending = { step: this.step(stepId), execution, now: this.now };
    await this.append([build.started(execution), build.succeeded(ending, { text, hash: sha256Hex(text) })]);
  }

  async open(stepId: string, more: Partial<StepQuestion> = {}): Promise<void> {
    const question = { kind: 'approval', detailText: '{"question":"Go on?"}' } as const;
    await this.append([openedDraft({ ...this.#openWait(stepId), ...question, ...more })]);
  }

  async openEvent(stepId: string, name: string, key: string): Promise<void> {
    await this.append([openedDraft({ ...this.#openWait(stepId), kind: 'event', name, key })]);
  }

  #openWait(stepId: string) {
    const { revision = 1 } = this.#journal.state.steps.get(stepId) ?? {};
    const execution = this.execution({ stepId, revision });
    return { id: `${stepId}.${revision}`, execution, openedAt: this.now };
  }

  async doubt(of: Partial<StepExecution>): Promise<void> {
    const execution = this.execution(of);
    await this.append([openedDraft(doubtOf(execution, this.now))]);
  }

  suspend(): Promise<unknown> {
    const data = { status: 'awaiting_approval' } as const;
    return this.append([{ type: 'run_suspended', initiator: 'system', data }]);
  }

  /** Appends the expiry, like a dispatch after the deadline. */
  async expire(stepId: string): Promise<void> {
    await this.claim();
    const wait = this.#journal.state.waits.find(({ execution }) => execution.stepId === stepId);
    if (!wait) throw new Error(`'${stepId}' asks nothing`);
    await this.append(expiredWaitDrafts({ step: this.step(stepId), wait, now: this.now }));
  }

  async interrupt(): Promise<void> {
    const { owner = '', epoch = 0 } = this.#journal.state.lease ?? {};
    const outsider = await journalOf(this.world.deps, this.runId);
    await outsider.append(() => [
      { type: 'orphan_detected', initiator: 'timeout', data: { owner, epoch, lastHeartbeatAt: this.now } },
    ]);
  }

  execution(of: Partial<StepExecution>): StepExecution {
    const { stepId = 'push' } = of;
    const inputsHash = 'c'.repeat(64);
    return {
      kind: this.step(stepId).kind,
      revision: 1,
      attempt: 1,
      inputsHash,
      startedAt: this.now,
      ...of,
      stepId,
    };
  }

  decide(
    decision: DecideRequest['decision'],
    more: Partial<DecideRequest> = {},
    deps: Partial<EngineDeps> = {},
  ): Promise<ApprovalDecided> {
    return decideApproval({ ...this.world.deps, ...deps }, this.request(decision, more));
  }

  request(decision: DecideRequest['decision'], more: Partial<DecideRequest> = {}): DecideRequest {
    const { runId } = this;
    return { runId, tenantId: 't1', stepId: 'gate', actor: 'c.ada', decision, ...more };
  }

  /** Output of the step for its dependents; undefined if there is none. */
  async outputOf(stepId: string): Promise<unknown> {
    const step = this.state.steps.get(stepId);
    if (step?.phase !== 'done' || step.outcome === 'failed') return undefined;
    const [checkpoint] = await this.world.store.readCheckpoints(this.runId, [step.seq]);
    return checkpoint?.outputText === undefined ? undefined : JSON.parse(checkpoint.outputText);
  }

  /** The newest events, oldest first. */
  async last(count: number) {
    return this.world.store.readEvents(this.runId, this.state.head - count, count);
  }

  step(stepId: string) {
    const step = this.workflow.steps.get(stepId);
    if (!step) throw new Error(`no step ${stepId}`);
    return step;
  }
}

async function journalOf(deps: EngineDeps, runId: string, owner?: string): Promise<RunJournal> {
  const loaded = await deps.store.load(runId);
  if (!loaded) throw new Error('no run');
  return new RunJournal(deps, loaded, { ...deps.settings, ...(owner === undefined ? {} : { owner }) });
}
