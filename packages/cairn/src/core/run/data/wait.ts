/** Open waits of a run, as stored in its journal and snapshot. Import them through `events.ts`. */
import type { Without } from '../../optional.ts';
import type { StepExecution } from '../events.ts';

/**
 * Handling of a running child when its parent is cancelled or fails: cancelled after its parent, abandoned, or
 * cancelled and awaited, so that the parent is compensated and ends after it.
 */
export const ON_PARENT_END = ['cancel', 'abandon', 'wait'] as const;
export type OnParentEnd = (typeof ON_PARENT_END)[number];

/** The sender must send a heartbeat every `withinMs`. */
export interface WaitHeartbeat {
  readonly withinMs: number;
  /** Time of the last recorded heartbeat; absent: none was recorded. */
  readonly lastAt?: number;
  /** Time at which the wait fails despite heartbeats; absent: never. */
  readonly timeoutAt?: number | undefined;
}

interface AnyWait {
  readonly id: string;
  readonly execution: StepExecution;
  readonly openedAt: number;
  /** Absent: no time limit. */
  readonly dueAt?: number;
  /** True once the wait is announced: its mailbox entry exists, its child is started. Set when the run is suspended. */
  readonly announced?: true;
}

type ApprovalMember = 'purpose' | 'effectId' | 'detailText' | 'day';
type EventMember = 'name' | 'key' | 'expectedAt' | 'heartbeat';

interface WithDataSchema {
  /**
   * JSON Schema of the data when the wait was opened, as canonical JSON; absent: the definition had none. The deployed definition checks
   * the data, and its schema is shown (engine/waits/current-schemas.ts).
   */
  readonly dataSchemaText?: string | undefined;
}

export interface TimerWait
  extends AnyWait,
    Without<ApprovalMember | EventMember | 'child' | 'dataSchemaText'> {
  readonly kind: 'timer';
  /** End of the sleep. */
  readonly dueAt: number;
}

export interface EventWait extends AnyWait, WithDataSchema, Without<ApprovalMember | 'child'> {
  readonly kind: 'event';
  /** Name of the event, and its correlation key. */
  readonly name: string;
  readonly key: string;
  /** Expected time of the answer, if the step declares one. Nothing happens then. */
  readonly expectedAt?: number;
  /** Set if the sender of the event sends heartbeats: each one that is recorded moves `dueAt`. */
  readonly heartbeat?: WaitHeartbeat;
}

export interface ChildWait extends AnyWait, Without<ApprovalMember | EventMember | 'dataSchemaText'> {
  readonly kind: 'child';
  readonly child: { readonly runId: string; readonly onParentEnd: OnParentEnd };
}

interface QuestionBase extends AnyWait, WithDataSchema, Without<EventMember | 'child'> {
  readonly kind: 'approval';
  /** The question, as canonical JSON. */
  readonly detailText: string;
}

/** A question of the step itself, or about the handling of its interrupted attempt (`doubt`). */
export interface StepQuestion extends QuestionBase, Without<'effectId' | 'day'> {
  readonly purpose?: 'doubt';
}

/** A question about what the run may spend. */
export interface BudgetQuestion extends QuestionBase, Without<'effectId'> {
  readonly purpose: 'budget';
  /**
   * UTC day, such as `2026-11-23`, whose budget the tenant has reached. It continues at `dueAt`, when the day is over. Absent: the run has
   * reached its own.
   */
  readonly day?: string;
}

/** A question about the budget of the tenant's day. */
export type DayQuestion = BudgetQuestion & { readonly day: string };

/** A question about the outcome of an effect in doubt, or for permission to call or repeat one (E5, E6). */
export interface EffectQuestion extends QuestionBase, Without<'day'> {
  readonly purpose: 'effect';
  readonly effectId: string;
}

/**
 * An open wait of a step (or of an item of a set of children). Has everything needed to record the outcome of the step,
 * so that the process that delivers the answer records it.
 */
export type Wait = TimerWait | EventWait | ChildWait | StepQuestion | BudgetQuestion | EffectQuestion;
