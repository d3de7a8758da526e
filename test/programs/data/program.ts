/**
 * A workflow as data. Both the real workflow (`workflow-of.ts`) and the prediction (`predict.ts`) are made from it, so it must
 * not refer to the engine.
 */

/**
 * Behaviour of one attempt of a body: returns, returns more than a checkpoint can store, returns a degraded value,
 * throws, throws a fatal error, or never ends.
 */
export type Behaviour = 'ok' | 'large' | 'degraded' | 'throw' | 'fatal' | 'hang';

/** The behaviour of each attempt; the last element applies to all further ones. */
export interface BodyPlan {
  readonly attempts: readonly Behaviour[];
  /** Applies to the items of a map and to compensations as well. */
  readonly maxAttempts: number;
}

export type OnFailure = 'fail' | 'skip' | 'degrade';

interface AnyPlan {
  readonly id: string;
  /** Ids of earlier steps. */
  readonly needs: readonly string[];
  /** `odd`: depends on the values of its needs. */
  readonly when: 'always' | 'never' | 'odd';
  readonly ifSkipped: 'skip' | 'run';
  readonly onFailure: OnFailure;
}

export interface PlainPlan extends AnyPlan {
  readonly kind: 'step';
  readonly body: BodyPlan;
  readonly idempotent: boolean;
  readonly memo: boolean;
  readonly policy: 'none' | 'allow' | 'deny';
  /** Number of polls whose condition does not hold yet; absent: it does not poll. */
  readonly polls?: number;
  /** It may perform an action, but none of these bodies does. */
  readonly uses?: true;
  readonly compensate?: BodyPlan;
}

export type Completion =
  | { readonly tolerate: number }
  | { readonly share: number }
  | { readonly atLeast: number };

interface FanOutPlan {
  readonly concurrency: number;
  /** Absent: none may fail. */
  readonly completion?: Completion;
}

export interface MapPlan extends AnyPlan, FanOutPlan {
  readonly kind: 'map';
  readonly items: readonly BodyPlan[];
  readonly maxAttempts: number;
  readonly compensate?: BodyPlan;
}

export interface SleepPlan extends AnyPlan {
  readonly kind: 'sleep';
  readonly ms: number;
}

export interface ApprovalPlan extends AnyPlan {
  readonly kind: 'approval';
  readonly answer: 'approve' | 'approve_with_waiver' | 'reject' | 'halt' | 'nobody';
  readonly onExpiry: 'fail' | 'approve' | 'halt';
  /** The approval needs data. The person first sends invalid data. */
  readonly data?: true;
  /** Steps that the person first sends back, once per run. */
  readonly sendsBack: readonly string[];
}

export interface EventPlan extends AnyPlan {
  readonly kind: 'event';
  /**
   * `early`: before the run can have asked. `late`: after the time-out. A signal goes to the run itself. `failed`: the sender
   * reports that it will not come.
   */
  readonly delivery: 'early' | 'on_time' | 'late' | 'never' | 'signal' | 'early_signal' | 'failed';
}

export interface ChildPlan extends AnyPlan, FanOutPlan {
  readonly kind: 'child';
  readonly program: Program;
  /** Absent: one child. */
  readonly copies?: number;
  readonly onParentEnd: 'cancel' | 'abandon' | 'wait';
}

export type StepPlan = PlainPlan | MapPlan | SleepPlan | ApprovalPlan | EventPlan | ChildPlan;
export type Kind = StepPlan['kind'];

export interface Program {
  /** Type of the workflow; children have their own. */
  readonly type: string;
  /** All steps, each after the steps that it needs. */
  readonly steps: readonly StepPlan[];
  /** Steps whose outputs make the result. */
  readonly result: readonly string[];
  readonly onDoubt: 'fail' | 'ask';
  readonly policy: 'none' | 'allow' | 'deny';
}

/** Input of a program's run. `path` differs for every run of a trial. */
export interface ProgramInput {
  readonly path: string;
  readonly salt: number;
}

export function* allPrograms(program: Program): Generator<Program> {
  yield program;
  for (const step of program.steps) if (step.kind === 'child') yield* allPrograms(step.program);
}

/** The named steps and all that depend on them. */
export function withFollowers({ steps }: Program, ids: readonly string[]): ReadonlySet<string> {
  const found = new Set(ids);
  for (const { id, needs } of steps) if (needs.some((need) => found.has(need))) found.add(id);
  return found;
}
