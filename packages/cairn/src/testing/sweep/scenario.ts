/** Input and report of a sweep. */
import type { TestRuntime, TestRuntimeOptions } from '../test-runtime.ts';
import type { Moment } from '../world/crash-plan.ts';

/** One performance: workflows with fresh stand-ins, and the actions on their runs. */
export interface Arranged extends TestRuntimeOptions {
  /**
   * Starts runs, sends events and decides until all runs have ended. Wait with `runtime.runUntilBlocked` and `runtime.runToEnd`,
   * not with `settle` or `advance`, because a crash delays everything.
   */
  perform(runtime: TestRuntime): Promise<void>;
  /** Actions that the stand-ins received, one text each, in any order. */
  actions(): readonly string[];
}

export interface SweepOptions {
  readonly name: string;
  /** Called once for each performance. Must return fresh stand-ins each time. */
  arrange(): Arranged;
}

/** The point at which the process of a scenario died. */
export interface SweepPoint {
  /** Number of the call in the undisturbed performance, from 0. */
  readonly call: number;
  /** Name of the call: a port and its method, `call CAPABILITY`, `lookup CAPABILITY`, or `body STEP`. */
  readonly label: string;
  readonly moment: Moment;
}

/** A performance whose outcome differs from that of the undisturbed one. */
export interface SweepDifference extends SweepPoint {
  /** One sentence for each difference. */
  readonly differences: readonly string[];
}

export interface SweepReport {
  readonly name: string;
  /** Crash points tried: two for each call of the undisturbed performance. */
  readonly points: number;
  /** Points after which the outcome was the same as without a crash: no action was repeated or lost. */
  readonly recovered: number;
  readonly failures: readonly SweepDifference[];
  /**
   * Bodies that ran more often than without a crash, each with the number of such crash points. This is not a failure: a body
   * that was running when its process died runs again, unless its step is `idempotent: false`. Its actions must tolerate that.
   */
  readonly repeatedBodies: Readonly<Record<string, number>>;
}
