/** What a scenario of the sweep is made of: workflows, what the outside does to their runs, and how it must end. */
import type { EventType } from '../../packages/cairn/src/core/run/events.ts';
import type { RunState } from '../../packages/cairn/src/core/run/state.ts';
import type { StepDefinition, Workflow } from '../../packages/cairn/src/engine/define/steps.ts';
import type { EngineSettings } from '../../packages/cairn/src/engine/settings.ts';
import type { ProcessDeps } from './process.ts';
import type { Bound, Receiver } from './receiver.ts';

/** What every body is given, and the stage needs. */
export interface Acting {
  readonly runId: string;
  readonly stepId: string;
  readonly revision: number;
  readonly signal: AbortSignal;
  readonly index?: number;
}

/** What the bodies of a scenario act on: they say here that they ran, and take time here. */
export interface Stage {
  /** Every body calls it first. It is where the body takes its time, `ms` of it, in which the world may end. */
  acts(context: Acting, ms?: number): Promise<void>;
  /** More of the time of a body that has begun. */
  goesOn(context: Acting, ms: number): Promise<void>;
  /** A compensation calls it first. */
  undoes(context: Acting, ms?: number): Promise<void>;
  /** What a memo is made of. It must not be asked for once the memo is there. */
  memoises(context: Acting, name: string): string;
}

/** What somebody outside can see, from which he decides to act. */
export interface View {
  /** The run that the scenario is about; undefined before it was started. */
  readonly run: RunState | undefined;
  /** A run, this one or another, asks what became of an outside action, or whether one may be repeated. */
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

/** What an operation acts with. */
export interface Client {
  /** What became of outside actions, for a person who looks there. */
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

/** How the undisturbed performance must end, so that a scenario cannot come to nothing unnoticed. */
export interface Ending {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly errorCode?: string;
  /** How all the other runs end, as `type: status`, in alphabetical order; absent: there are none. */
  readonly others?: readonly string[];
  /** Types of events its journals must hold. */
  readonly shows?: readonly EventType[];
}

export interface Scenario {
  readonly name: string;
  readonly workflows: (stage: Stage) => readonly Workflow[];
  /** What the main run is made of: the newest version of this type. */
  readonly start: { readonly type: string; readonly input?: unknown };
  readonly operations?: readonly Operation[];
  readonly ends: Ending;
  /** How it ends when a step that must not run twice was caught in the middle; absent: it fails with RUN_ORPHANED. */
  readonly inDoubt?: Pick<Ending, 'status' | 'errorCode'>;
  readonly settings?: Partial<EngineSettings>;
  /**
   * Its bodies act outside: through these. The receiver's count is judged, and of the runs only how they end: which
   * attempts and questions that took depends on what went wrong.
   */
  readonly effects?: readonly Bound[];
  /** A crash makes further attempts of its steps: how its runs end is judged, not their journals, which number them. */
  readonly attemptsAnew?: true;
  /** What the receiver refuses the first time. */
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
