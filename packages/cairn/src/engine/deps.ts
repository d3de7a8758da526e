/** Dependencies of the engine. Only `platform/` creates them. */

import type { LimitsOf } from '../core/budget/day-limits.ts';
import type { ChildWait } from '../core/run/events.ts';
import type { RunState } from '../core/run/state.ts';
import type { Mask } from '../core/secrets/mask.ts';
import type { JournalDeps } from '../journal/run-journal.ts';
import type { FindingStore } from '../ports/diagnosis/findings.ts';
import type { MailboxStore } from '../ports/mailbox-store.ts';
import type { DayBudgetStore } from '../ports/runs/day-budget-store.ts';
import type { EffectStore } from '../ports/runs/effect-store.ts';
import type { RuntimeConfigReader } from '../ports/runtime-config.ts';
import type { SourceLocations } from '../ports/source-locations.ts';
import type { Tracer } from '../ports/tracing.ts';
import type { Bindings } from './define/bindings.ts';
import type { CallPolicy } from './define/call-policy.ts';
import type { WorkflowRegistry } from './define/registry.ts';
import type { DriveAfterDeps } from './drive-after.ts';
import type { KnownPlans } from './plans/known-plans.ts';
import type { EngineSettings } from './settings.ts';

/** A child for which its parent has a wait. */
export interface ChildToStart {
  readonly parent: RunState;
  readonly wait: ChildWait;
  readonly type: string;
  readonly input: unknown;
  /** Cancels the child of the parent's source, which must have ended before its work is continued. */
  readonly cancelFormer: (runId: string) => Promise<void>;
}

/** Operations on other runs, implemented in `operations/`. All are idempotent. */
export interface OtherRuns {
  /** @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE: it cannot be started; UNAVAILABLE: not now; what `cancelFormer` throws */
  startChild(child: ChildToStart): Promise<void>;
  cancelChild(parent: RunState, runId: string): Promise<void>;
  /** Does nothing for a run without a parent. */
  notifyParent(state: RunState): Promise<void>;
}

/** Dependencies of everything that starts, drives or changes runs: the journal, the queue, and the deployed definitions. */
export interface RunDeps extends JournalDeps, DriveAfterDeps {
  readonly registry: WorkflowRegistry;
  readonly bindings: Bindings;
  /** Compares definitions with the stored plans of their versions. */
  readonly plans: KnownPlans;
  /** Absent: no collector is configured. */
  readonly tracer?: Tracer | undefined;
}

export interface EngineDeps extends RunDeps {
  readonly otherRuns: OtherRuns;
  readonly mailboxes: MailboxStore;
  readonly runtime: RuntimeConfigReader;
  /** Removes the secret members of the input from recorded text; absent: there are none. Set in a dispatch only. */
  readonly mask?: Mask | undefined;
  /** Absent: the location of a flow's code is not recorded. */
  readonly sources?: SourceLocations | undefined;
  readonly effects: EffectStore;
  /** Keeps the runs that the store refuses to write. */
  readonly findings: FindingStore;
  /** Evaluated for each call with side effects, except those of compensations; absent: all are allowed. */
  readonly callPolicy?: CallPolicy | undefined;
  /** Daily limits of tenants, and their store; absent: no limits. */
  readonly dayLimits?: LimitsOf;
  readonly dayBudgets?: DayBudgetStore;
  /**
   * Called with a name of the body before each attempt, which begins when the returned promise resolves. Absent: bodies begin
   * at once.
   */
  readonly admitBody?: ((body: string) => Promise<unknown> | undefined) | undefined;
  readonly settings: EngineSettings;
  /** Aborts when this process is asked to end (SIGTERM). */
  readonly shutdown: AbortSignal;
}
