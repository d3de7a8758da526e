/**
 * Shared state of the parts of a dispatch: the run, the values its steps see, its message queue, and the count of its pending work.
 * Owns no step.
 */

import type { StepExecution } from '../../core/run/events.ts';
import type { RunState } from '../../core/run/state.ts';
import type { Decide } from '../../journal/batch.ts';
import type { Appended, RunJournal } from '../../journal/run-journal.ts';
import type { Context, StepDefinition, Workflow } from '../define/steps.ts';
import type { EngineDeps } from '../deps.ts';
import type { BodyReport } from './bodies/body-report.ts';
import type { RunLog } from './bodies/run-log.ts';
import type { Command, Message } from './messages.ts';
import { StepOutputs } from './outputs.ts';
import { nextExecution, seenBy, type Unit } from './step-inputs.ts';

export interface ScopeParams {
  readonly deps: EngineDeps;
  readonly journal: RunJournal;
  readonly workflow: Workflow;
  /** The run's input, parsed and frozen. */
  readonly input: unknown;
  readonly report: BodyReport;
  readonly post: (message: Message) => void;
  /** The message with which the command ends. */
  readonly carryOut: (command: Command) => Promise<Message>;
  /** Error of background work: the dispatch cannot continue. */
  readonly onFailure: (error: unknown) => void;
}

export class Scope {
  readonly deps: EngineDeps;
  readonly journal: RunJournal;
  readonly workflow: Workflow;
  readonly outputs: StepOutputs;
  readonly log: RunLog;
  /** Queues a message. */
  readonly post: (message: Message) => void;
  readonly #params: ScopeParams;
  readonly #owner: string | undefined;
  #onTheWay = 0;

  constructor(params: ScopeParams) {
    this.#params = params;
    this.deps = params.deps;
    this.journal = params.journal;
    this.workflow = params.workflow;
    this.log = params.report.log;
    this.post = params.post;
    const { state } = params.journal;
    this.#owner = state.lease?.owner;
    const unsettled = params.workflow.graph.order.filter((id) => state.steps.get(id)?.phase !== 'done');
    this.outputs = new StepOutputs(params.workflow, unsettled);
    if (state.compensating) this.outputs.releaseResult();
  }

  get runId(): string {
    return this.journal.state.id;
  }

  /** Epoch ms. */
  get now(): number {
    return this.deps.clock.now();
  }

  /** Number of uncommitted facts and unhandled reports, whose consequences cannot start yet. */
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
    return nextExecution(this.journal.state, unit, { input, outputs: this.outputs, now: this.now });
  }

  seenBy(unit: Unit): Context {
    return seenBy(unit, this.#params.input, this.outputs);
  }

  /**
   * True while this dispatch may record facts of the run. Later ends are left to the next dispatch. Facts that appear only
   * during compensation are dropped, because no event of a step may follow its compensation.
   */
  mayAppend(state: RunState): boolean {
    return state.lease?.owner === this.#owner && !state.compensating;
  }

  appendHeld(decide: Decide): Promise<Appended> {
    return this.journal.append((state) => (this.mayAppend(state) ? decide(state) : []));
  }

  do(command: Command): void {
    this.background(this.#params.carryOut(command));
  }

  /** Work that the dispatch does not conclude before. */
  background(work: Promise<Message>): void {
    this.#onTheWay += 1;
    work.then(
      (message) => {
        this.#onTheWay -= 1;
        this.post(message);
      },
      (error: unknown) => {
        this.#onTheWay -= 1;
        this.#params.onFailure(error);
      },
    );
  }

  /** Work that ends without a message. */
  guard(work: Promise<unknown>): void {
    work.catch(this.#params.onFailure);
  }
}
