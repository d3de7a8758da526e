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
  /** Every body calls it first. It is where the body takes its time, `ms` of it, in which the world may end. */
  acts(context: Acting, ms?: number): Promise<void>;
  /** More of the time of a body that has begun. */
  goesOn(context: Acting, ms: number): Promise<void>;
  /** A compensation calls it first. */
  undoes(context: Acting, ms?: number): Promise<void>;
  /** Value of a memo. It must not be requested again once the memo exists. */
  memoises(context: Acting, name: string): string;
}

/** State visible to an external actor, on which it decides. */
export interface View {
  /** The run that the scenario is about; undefined before it was started. */
  readonly run: RunState | undefined;
  /** A run, this one or another, asks what became of a side effect, or whether one may be repeated. */
  readonly asksAboutEffect: boolean;
  /** It waits at this step, and the outside knows. */
  waitsAt(stepId: string): boolean;
  /** This step has ended. */
  hasDone(stepId: string): boolean;
  /** A body of this step is under way. */
  isRunning(stepId: string): boolean;
  /** The operation of this name was answered. */
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
  /** The run that the scenario is about. */
  readonly runId: string;
}

/** A request to the API. */
export interface ApiRequest {
  readonly path: string;
  readonly body: { readonly [name: string]: unknown };
}

/**
 * Something a person or a program does. When the process that serves it dies, it does the very same again, as a client
 * with an idempotency key would; so `act` must carry all that makes it the same.
 */
export interface Operation {
  readonly name: string;
  /** Not before so many ms after the beginning. */
  readonly atMs?: number;
  readonly when: (view: View) => boolean;
  /** Only needed when something goes wrong: nobody does it in the undisturbed performance. */
  readonly onlyDisturbed?: true;
  /** Resolves with what is kept of the answer; an error that is not "try again" is an answer too. */
  readonly act: (client: Client) => Promise<unknown>;
  /** The same as a request, for where processes are real ones; absent: it is done in virtual time only. */
  readonly request?: (runId: string) => ApiRequest;
}

/** Required end of the performance without faults, so that a scenario cannot become empty unnoticed. */
export interface Ending {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly errorCode?: string;
  /** Ends of all other runs, as `type: status`, in alphabetical order; absent: none. */
  readonly others?: readonly string[];
  /** Types of events its journals must hold. */
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
  /** When its time begins, epoch ms; absent: the beginning of 2026. */
  readonly startAt?: number;
  /**
   * Its bodies act outside: through these. The receiver's count is judged, and of the runs only how they end: which
   * attempts and questions that took depends on what went wrong.
   */
  readonly effects?: readonly Bound[];
  /** A crash changes what its journals tell, such as attempts or moments: how its runs end is judged. */
  readonly judgedByEnd?: true;
  /** Requests the receiver refuses the first time. */
  readonly refusesOnce?: readonly string[];
  /** The events of its runs are published; each must arrive, and first arrivals in order. */
  readonly publishes?: true;
  /** Short enough that crashes are tried in pairs as well. */
  readonly pairs?: true;
}

/** A crash over it is followed by no other attempt, unless a person says so. */
export function mustNotRunTwice(step: StepDefinition | undefined): boolean {
  return step?.idempotent === false && !('newAttempt' in step);
}
