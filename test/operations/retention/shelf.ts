/** Ended runs with all their documents, in memory, and ticks of retention over them. */

import type { RetentionOf } from '../../../packages/cairn/src/core/retention/policy.ts';
import type { EventDraft } from '../../../packages/cairn/src/core/run/events.ts';
import type { RunStatus } from '../../../packages/cairn/src/core/run/status.ts';
import { freeze, MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import { MemoryMailboxStore } from '../../../packages/cairn/src/memory/memory-documents.ts';
import { MemoryRunStore } from '../../../packages/cairn/src/memory/memory-run-store.ts';
import {
  deleteExpiredRuns,
  type RetentionReport,
} from '../../../packages/cairn/src/operations/retention/delete-expired.ts';
import type { DeletionDeps } from '../../../packages/cairn/src/operations/retention/deps.ts';
import type { TickBounds } from '../../../packages/cairn/src/operations/retention/tick-budget.ts';
import type { RetentionStore } from '../../../packages/cairn/src/ports/runs/retention-store.ts';
import { NOTHING_SET } from '../../../packages/cairn/src/ports/runtime-config.ts';
import { row } from '../../conformance/suites/rows.ts';
import { beginning, claim, move, succeeded, T0 } from '../../conformance/support/run-fixture.ts';
import { intercept } from '../../support/intercept.ts';
import { MemoryErasureStore } from '../../support/memory/memory-erasure-store.ts';
import { MemoryRetentionStore } from '../../support/memory/memory-retention-store.ts';
import { SILENT, seededRandomness } from '../../support/world.ts';

export const DAY = 86_400_000;
export const TICK_MS = 30 * 60_000;
/** Completed and cancelled runs are deleted after 90 days, failed ones after a year; those of `audit` are kept. */
export const KEPT: RetentionOf = (type, status) =>
  type === 'audit' ? undefined : status === 'failed' ? 365 * DAY : 90 * DAY;
export const WIDE: TickBounds = { documents: 1e6, runs: 1e6, owners: 1e6, forMs: 1e9 };

export interface Run {
  readonly runId: string;
  readonly rootRunId?: string;
  /** Absent: acme. */
  readonly tenantId?: string;
  readonly type?: string;
  readonly status?: Extract<RunStatus, 'completed' | 'failed' | 'cancelled' | 'running'>;
  /** End of the run, epoch ms. */
  readonly at?: number;
  readonly parentRunId?: string;
  readonly childRunIds?: readonly string[];
  readonly isHeld?: boolean;
  readonly steps?: number;
  readonly effects?: number;
  readonly hasMemo?: boolean;
  readonly hasPayload?: boolean;
}

/** A store with some replaced methods. */
export function around(store: RetentionStore, changed: Partial<RetentionStore>): RetentionStore {
  return intercept(store, ({ method, args }, proceed) => {
    const own = changed[method as keyof RetentionStore] as
      | ((...given: unknown[]) => Promise<unknown>)
      | undefined;
    return own ? own(...args) : proceed();
  });
}

const ENDS: { readonly [S in NonNullable<Run['status']>]: EventDraft | undefined } = {
  running: undefined,
  completed: { type: 'run_completed', data: { result: { text: '{}' } }, initiator: 'system' },
  failed: {
    type: 'run_failed',
    data: { error: { code: 'X', message: 'x', retryable: false } },
    initiator: 'system',
  },
  cancelled: { type: 'run_cancelled', data: { stopKind: 'user' }, initiator: 'user' },
};

export class Shelf {
  now = T0 + 1_000 * DAY;
  readonly db = new MemoryDatabase({ now: () => this.now });
  readonly runs = new MemoryRunStore(this.db);
  readonly store = new MemoryRetentionStore(this.db);
  readonly erasures = new MemoryErasureStore(this.db);
  killSwitch = false;

  async put(run: Run): Promise<void> {
    const { runId, rootRunId = runId, type = 'review', status = 'completed', at = T0, parentRunId } = run;
    const { childRunIds = [], isHeld = false, steps = 1, effects = 0 } = run;
    const parent = parentRunId === undefined ? {} : { parent: { runId: parentRunId, stepId: 'w' } };
    const tenant = run.tenantId === undefined ? {} : { tenantId: run.tenantId };
    const start = beginning(runId, { at, identity: { rootRunId, type, ...tenant, ...parent } });
    await this.runs.start(start);
    const end = ENDS[status];
    const drafts = [
      ...claim(start.state, at + 60_000),
      ...Array.from({ length: steps }, (_, n) => succeeded(`step-${n}`)),
      ...(end ? [end] : []),
    ];
    const metadata = { heartbeat: false, ...(end ? { dutiesMet: true as const } : {}) };
    const { commit } = move(start.state, drafts, { at, snapshot: true, metadata });
    const key = runId.padEnd(64, '0');
    const records = Array.from({ length: effects }, (_, n) => ({
      kind: 'create' as const,
      record: { ...row({ idempotencyKey: key, n: n + 1 }), runId, rootRunId },
    }));
    await this.runs.commit({ ...commit, effects: records });
    const stored = this.db.runs.get(runId);
    if (!stored) throw new Error(`${runId} was not stored`);
    if (childRunIds.length > 0)
      stored.snapshot = freeze({
        ...stored.snapshot,
        ties: childRunIds.map((child) => ({
          kind: 'child' as const,
          waitId: `w-${child}`,
          runId: child,
          onParentEnd: 'abandon' as const,
        })),
      });
    if (isHeld) await this.store.hold(runId, stored.version, { by: 'c.ops', at, reason: 'a dispute' });
    if (run.hasMemo) await this.runs.createMemo(runId, { step: 'step-0', revision: 1, name: 'm', text: '1' });
    if (run.hasPayload) await this.runs.writePayload(runId, JSON.stringify(runId));
  }

  deps(retention: RetentionStore = this.store, retentionOf: RetentionOf = KEPT): DeletionDeps {
    return {
      retention,
      erasures: this.erasures,
      mailboxes: new MemoryMailboxStore(this.db),
      random: seededRandomness(1),
      store: this.runs,
      retentionOf,
      clock: { now: () => this.now, timer: () => () => {} },
      runtime: { current: async () => ({ ...NOTHING_SET, killSwitch: this.killSwitch }) },
      log: SILENT,
    };
  }

  /** One tick. The next one follows half an hour later. */
  async tick(bounds: TickBounds = WIDE, deps = this.deps()): Promise<RetentionReport> {
    const report = await deleteExpiredRuns(deps, bounds);
    this.now += TICK_MS;
    return report;
  }

  /** Ticks until one changes nothing. */
  async settle(bounds?: TickBounds, deps = this.deps()): Promise<RetentionReport[]> {
    const reports: RetentionReport[] = [];
    for (let idle = 0; idle < 2; ) {
      const report = await this.tick(bounds, deps);
      reports.push(report);
      const { waiting, marked, deleted, unfinished, orphans } = report;
      const rests = waiting + marked + deleted + unfinished + orphans === 0;
      // An interrupted tick has not inspected everything.
      idle = rests && this.db.retention.runs === undefined ? idle + 1 : 0;
      if (reports.length > 2_000) throw new Error('retention does not come to an end');
    }
    return reports;
  }

  /** Number of documents of each run: those under it, its rows of the ledger, and the run document. */
  documents(): Map<string, string> {
    const count = new Map<string, { own: number; under: number; rows: number }>();
    const of = (runId: string) => {
      const found = count.get(runId) ?? { own: 0, under: 0, rows: 0 };
      count.set(runId, found);
      return found;
    };
    for (const [runId, run] of [...this.db.runs, ...this.db.orphans]) {
      of(runId).own += this.db.runs.has(runId) ? 1 : 0;
      of(runId).under += run.events.length + run.checkpoints.size + run.steps.size;
    }
    for (const key of [...this.db.memos.keys(), ...this.db.payloads.keys()])
      of((JSON.parse(key) as string[])[0] ?? '').under += 1;
    for (const { record } of this.db.effects.values()) of(record.runId).rows += 1;
    const text = ({ own, under, rows }: { own: number; under: number; rows: number }) =>
      `${own}/${under}/${rows}`;
    return new Map([...count].map(([runId, documents]): [string, string] => [runId, text(documents)]).sort());
  }

  marked(): string[] {
    return [...this.db.runs]
      .filter(([, { metadata }]) => metadata.deletionMarkedAt !== undefined)
      .map(([runId]) => runId);
  }
}
