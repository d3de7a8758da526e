/** Parts of a sweep scenario: workflows, external actions on their runs, and the required end. */

import type { BudgetOptions } from '../../packages/cairn/src/core/budget/day-limits.ts';
import type { EventType } from '../../packages/cairn/src/core/run/events.ts';
import type { RunState } from '../../packages/cairn/src/core/run/state.ts';
import type { StepDefinition, Workflow } from '../../packages/cairn/src/engine/define/steps.ts';
import type { EngineSettings } from '../../packages/cairn/src/engine/settings.ts';
import type { ProcessDeps } from './process.ts';
import type { Bound, Receiver } from './receiver.ts';

/** Context of every body, as the stage needs it. */
export interface Acting {
  readonly runId: string;
  readonly stepId: string;
  readonly revision: number;
  readonly signal: AbortSignal;
  readonly index?: number;
  /** Name of an operation of a flow. */
  readonly operation?: string;
}

/** Stage on which the bodies of a scenario run: they report their runs, and take time. */
export interface Stage {
  /** Every body calls this first. The body takes its time here, `ms` of it, during which the world may end. */
  acts(context: Acting, ms?: number): Promise<void>;
  /** Takes more time in a body that has begun. */
  goesOn(context: Acting, ms: number): Promise<void>;
  /** A compensation calls it first. */
  undoes(context: Acting, ms?: number): Promise<void>;
  /** Value of a memo. It must not be requested again once the memo exists. */
  memoises(context: Acting, name: string): string;
}

/** State visible to an external actor, on which it decides. */
export interface View {
  /** The main run of the scenario; undefined before its start. */
  readonly run: RunState | undefined;
  /** True if any run asks about the outcome of a side effect, or whether one may be repeated. */
  readonly asksAboutEffect: boolean;
  /** True if the run waits at this step, and the outside knows. */
  waitsAt(stepId: string): boolean;
  /** This step has ended. */
  hasDone(stepId: string): boolean;
  /** True if a body of this step is running. */
  isRunning(stepId: string): boolean;
  /** True if the operation of this name was answered. */
  wasAnswered(operation: string): boolean;
}

/** Means of an operation. */
export interface Client {
  /** Stage of the bodies, for a deployment that changes the code. */
  readonly stage: Stage;
  /** Outcomes of effects, for an operator who checks them. */
  readonly receiver: Receiver;
  readonly deps: ProcessDeps;
  readonly tenantId: string;
  /** The main run of the scenario. */
  readonly runId: string;
}

/** A request to the API. */
export interface ApiRequest {
  readonly path: string;
  readonly body: { readonly [name: string]: unknown };
}

/**
 * An action of a person or a program. If the process that serves it dies, the same action is repeated, as by a client with an
 * idempotency key. So `act` must contain everything that identifies it.
 */
export interface Operation {
  readonly name: string;
  /** Earliest time after the beginning, ms. */
  readonly atMs?: number;
  readonly when: (view: View) => boolean;
  /** True if only a failure makes it necessary: the undisturbed performance does not contain it. */
  readonly onlyDisturbed?: true;
  /** Resolves with the recorded part of the answer. Any error other than "try again" is an answer too. */
  readonly act: (client: Client) => Promise<unknown>;
  /** The same operation as a request to real processes; absent: it is carried out in virtual time only. */
  readonly request?: (runId: string) => ApiRequest;
}

/** Required end of the performance without faults, so that a scenario cannot become empty unnoticed. */
export interface Ending {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly errorCode?: string;
  /** Ends of all other runs, as `type: status`, in alphabetical order; absent: none. */
  readonly others?: readonly string[];
  /** Types of events that its journals must contain. */
  readonly shows?: readonly EventType[];
}

export interface Scenario {
  readonly name: string;
  readonly workflows: (stage: Stage) => readonly Workflow[];
  /** Start of the main run: the newest version of this type. */
  readonly start: { readonly type: string; readonly input?: unknown };
  readonly operations?: readonly Operation[];
  readonly ends: Ending;
  /** End if a step that must not run twice was interrupted; absent: it fails with RUN_ORPHANED. */
  readonly inDoubt?: Pick<Ending, 'status' | 'errorCode'>;
  readonly settings?: Partial<EngineSettings>;
  readonly budgets?: BudgetOptions;
  /** Time at which it begins, epoch ms; absent: the beginning of 2026. */
  readonly startAt?: number;
  /**
   * Bindings for external actions of its bodies. The receiver's count is judged; of the runs only their ends are, because
   * attempts and questions depend on the failure.
   */
  readonly effects?: readonly Bound[];
  /** True if a crash changes its journals, such as attempts or times: then only the ends of its runs are judged. */
  readonly judgedByEnd?: true;
  /** Requests the receiver refuses the first time. */
  readonly refusesOnce?: readonly string[];
  /** The events of its runs are published; each must arrive, and first arrivals in order. */
  readonly publishes?: true;
  /** True if it is short enough for pairs of crashes. */
  readonly pairs?: true;
}

/** True if no attempt follows a crash during the step without a person's decision. */
export function mustNotRunTwice(step: StepDefinition | undefined): boolean {
  return step?.idempotent === false && !('newAttempt' in step);
}
