/** Statistics of runs by creation time: numbers, ends, durations and causes of failures. */
import { type Cost, type FullCost, fullCost, sum } from '../cost/cost.ts';
import { usdOf } from '../cost/prices.ts';
import type { RecordedError } from '../run/events.ts';
import { isTerminal, type RunStatus } from '../run/status.ts';

/** Number of equal parts of the covered time. */
export const PARTS = 24;
/** Causes of failures that are reported, the most frequent first. */
export const MAX_CAUSES = 20;

/** The members of a run that statistics use. Times are epoch ms. */
export interface RunOutline {
  readonly id: string;
  readonly type: string;
  readonly planVersion: number;
  readonly status: RunStatus;
  readonly createdAt: number;
  readonly durationMs?: number | undefined;
  readonly error?: Pick<RecordedError, 'code' | 'message' | 'stepId'> | undefined;
  readonly cost?: Cost | undefined;
  /** True if the run is a suspect and dispatched alone. */
  readonly isSuspect?: boolean | undefined;
}

interface RunFigures {
  readonly runs: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly live: number;
  /** Live runs whose worker died, and which are dispatched alone until they are cleared. */
  readonly suspects: number;
  /** Failed runs among those that completed or failed, from 0 to 1; absent if none did. */
  readonly failureShare?: number | undefined;
  /** Median duration of completed runs, from the first dispatch to the end, waits included; absent if none completed. */
  readonly p50Ms?: number | undefined;
  readonly p95Ms?: number | undefined;
  readonly cost: FullCost & { readonly usd: number };
}

interface VersionFigures extends RunFigures {
  readonly type: string;
  readonly planVersion: number;
}

interface PartFigures extends RunFigures {
  /** Epoch ms; until the next part begins. */
  readonly from: number;
  /** The newest first; versions without a run in the part are left out. Absent for runs of several workflows. */
  readonly versions?: readonly PartVersion[] | undefined;
}

type PartVersion = Pick<VersionFigures, 'planVersion'> & Omit<RunFigures, 'suspects' | 'cost'>;

/** Failed runs of one workflow with one error code at one step. */
interface FailureCause {
  readonly type: string;
  readonly code: string;
  readonly step?: string | undefined;
  readonly runs: number;
  /** The newest of them. */
  readonly last: { readonly runId: string; readonly at: number; readonly message: string };
}

export interface RunsSummary {
  readonly total: RunFigures;
  /** By type, the newest version first. */
  readonly versions: readonly VersionFigures[];
  /** {@link PARTS}, the oldest first. */
  readonly parts: readonly PartFigures[];
  readonly causes: readonly FailureCause[];
}

/** Epoch ms; `until` is exclusive. */
export interface Stretch {
  readonly from: number;
  readonly until: number;
}

interface SummaryOptions {
  /** True if all runs have one workflow; then each part lists its versions. */
  readonly isOfOneType?: boolean;
}

/** @param runs all created in the stretch */
export function summarizeRuns(
  runs: readonly RunOutline[],
  { from, until }: Stretch,
  { isOfOneType = false }: SummaryOptions = {},
): RunsSummary {
  const partMs = (until - from) / PARTS;
  const partOf = ({ createdAt }: RunOutline) => Math.floor((createdAt - from) / partMs);
  const inParts = Map.groupBy(runs, partOf);
  const byVersion = Map.groupBy(runs, ({ type, planVersion }) => JSON.stringify([type, planVersion]));
  return {
    total: figuresOf(runs),
    versions: [...byVersion.values()]
      .map((some) => ({ ...versionOf(some), ...figuresOf(some) }))
      .sort((a, b) => order(a.type, b.type) || b.planVersion - a.planVersion),
    parts: Array.from({ length: PARTS }, (_, part) => {
      const some = inParts.get(part) ?? [];
      return {
        from: Math.round(from + part * partMs),
        ...figuresOf(some),
        ...(isOfOneType && { versions: versionsIn(some) }),
      };
    }),
    causes: causesOf(runs),
  };
}

function versionsIn(runs: readonly RunOutline[]): PartVersion[] {
  return [...Map.groupBy(runs, ({ planVersion }) => planVersion)]
    .sort(([a], [b]) => b - a)
    .map(([planVersion, some]) => {
      const { suspects: _, cost: __, ...figures } = figuresOf(some);
      return { planVersion, ...figures };
    });
}

function versionOf([first]: readonly RunOutline[]): Pick<VersionFigures, 'type' | 'planVersion'> {
  return { type: first?.type ?? '', planVersion: first?.planVersion ?? 0 };
}

function figuresOf(runs: readonly RunOutline[]): RunFigures {
  const of = (status: RunStatus) => runs.filter((run) => run.status === status);
  const completed = of('completed');
  const failed = of('failed').length;
  const cancelled = of('cancelled').length;
  const times = completed.flatMap(({ durationMs }) => durationMs ?? []).sort((a, b) => a - b);
  const judged = completed.length + failed;
  const cost = fullCost(runs.reduce<Cost>((total, { cost: own = {} }) => sum(total, own), {}));
  return {
    runs: runs.length,
    completed: completed.length,
    failed,
    cancelled,
    live: runs.length - judged - cancelled,
    suspects: runs.filter(({ status, isSuspect }) => isSuspect && !isTerminal(status)).length,
    failureShare: judged === 0 ? undefined : failed / judged,
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    cost: { ...cost, usd: usdOf(cost) },
  };
}

/** The nearest rank. @param sorted ascending */
function percentile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

function causesOf(runs: readonly RunOutline[]): FailureCause[] {
  const failed = runs.filter(({ status }) => status === 'failed');
  const byCause = Map.groupBy(failed, ({ type, error }) =>
    JSON.stringify([type, error?.code ?? null, stepOf(error?.stepId) ?? null]),
  );
  return [...byCause.values()]
    .flatMap((some) => {
      const last = some.reduce((newest, run) => (run.createdAt > newest.createdAt ? run : newest));
      const { id: runId, type, createdAt: at, error: { code = 'UNKNOWN', message = '', stepId } = {} } = last;
      return { type, code, step: stepOf(stepId), runs: some.length, last: { runId, at, message } };
    })
    .sort((a, b) => b.runs - a.runs || b.last.at - a.last.at)
    .slice(0, MAX_CAUSES);
}

/** Items of a set fail for the same cause: the step without the item. */
function stepOf(key: string | undefined): string | undefined {
  return key?.replace(/\[.*$/, '');
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
