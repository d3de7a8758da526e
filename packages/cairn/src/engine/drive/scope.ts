/**
 * Shared state of the parts of a drive: the run, the values its steps see, and the only way to append events and to
 * count pending work. Owns no step.
 */

import type { EventDraft, StepExecution } from '../../core/run/events.ts';
import type { Decide } from '../../journal/batch.ts';
import type { Appended, RunJournal } from '../../journal/run-journal.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { Context, StepDefinition, Workflow } from '../define/steps.ts';
import type { EngineDeps } from '../deps.ts';
import { kept, type Output } from '../facts/output.ts';
import type { Beats } from './bodies/beats.ts';
import type { RunLog } from './bodies/run-log.ts';
import { StepOutputs } from './outputs.ts';
import { nextExecution, seenBy, type Unit } from './step-inputs.ts';

export interface ScopeParams {
  readonly deps: EngineDeps;
  readonly journal: RunJournal;
  readonly workflow: Workflow;
  /** The run's input, parsed and frozen. */
  readonly input: unknown;
  readonly beats: Beats;
  /** Error of background work: the drive cannot continue. */
  readonly onFailure: (error: unknown) => void;
}

export class Scope {
  readonly deps: EngineDeps;
  readonly journal: RunJournal;
  readonly workflow: Workflow;
  readonly outputs: StepOutputs;
  readonly log: RunLog;
  readonly #params: ScopeParams;
  readonly #owner: string | undefined;
  #onTheWay = 0;

  constructor(params: ScopeParams) {
    this.#params = params;
    this.deps = params.deps;
    this.journal = params.journal;
    this.workflow = params.workflow;
    this.log = params.beats.log;
    const { state } = params.journal;
    this.#owner = state.lease?.owner;
    const unsettled = params.workflow.graph.order.filter((id) => state.steps.get(id)?.phase !== 'done');
    this.outputs = new StepOutputs(params.workflow, unsettled);
    if (state.compensating) this.outputs.releaseResult();
  }

  get runId(): string {
    return this.journal.state.id;
  }

  /** Facts on their way into the journal, and news on its way out: what follows from them cannot start yet. */
  get onTheWay(): number {
    return this.#onTheWay;
  }

  /** False once the journal has shown that another process took the run over. */
  get isHeld(): boolean {
    return this.journal.state.lease?.owner === this.#owner;
  }

  step(id: string): StepDefinition {
    const step = this.workflow.steps.get(id);
    if (!step) throw new Error(`workflow '${this.workflow.type}' has no step '${id}'`);
    return step;
  }

  nextExecution(unit: Unit): StepExecution {
    const { input } = this.#params;
    const now = this.deps.clock.now();
    return nextExecution(this.journal.state, unit, { input, outputs: this.outputs, now });
  }

  seenBy(unit: Unit): Context {
    return seenBy(unit, this.#params.input, this.outputs);
  }

  /** A fact about an execution holds on every newer state, unless its step was sent back meanwhile. */
  append(facts: readonly EventDraft[] | Decide, { stepId, revision }: StepExecution): Promise<Appended> {
    return this.appendHeld((state) => {
      if ((state.steps.get(stepId)?.revision ?? revision) > revision) return [];
      return typeof facts === 'function' ? facts(state) : facts;
    });
  }

  /**
   * Appends while this drive holds the lease: later ends are left to the next drive. Facts that appear only during
   * compensation are dropped: nothing may follow what was compensated.
   */
  appendHeld(decide: Decide): Promise<Appended> {
    return this.journal.append((state) =>
      state.lease?.owner === this.#owner && !state.compensating ? decide(state) : [],
    );
  }

  /** Makes an output durable that no checkpoint can carry, before the commit that refers to it. */
  kept(output: Output): Promise<Output> {
    const { deps, runId } = this;
    return sendUntilKnown(deps, () => kept(deps.store, runId, output));
  }

  /** Counts the work, so that the drive does not conclude before it. */
  async counted<T>(work: () => Promise<T>): Promise<T> {
    this.#onTheWay += 1;
    try {
      return await work();
    } finally {
      this.#onTheWay -= 1;
    }
  }

  /** Runs work in the background. */
  guard(work: Promise<unknown>): void {
    work.catch(this.#params.onFailure);
  }
}
